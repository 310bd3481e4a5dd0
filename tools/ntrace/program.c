// SPDX-License-Identifier: GPL-2.0-only
/* Programs of a raw trace. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "input.h"
#include "program.h"
#include "ui.h"

int programs_add(struct programs *programs, const struct command *command, const char *argument,
		 bool raw)
{
	if (programs->count == PROGRAMS_MAX)
		return usage_error(command, "more than %d options --elf and --raw", PROGRAMS_MAX);
	programs->argument[programs->count] = argument;
	programs->raw[programs->count++] = raw;
	return EXIT_OK;
}

int program_map_elf(const struct command *command, struct ntrace_space *space, const char *argument,
		    struct ntrace_isa *isa)
{
	struct ntrace_object *object = NULL;
	uint64_t bias;
	char *path;
	int error;

	error = elf_argument(command, "elf", argument, &path, &bias);
	if (error)
		return error;
	error = ntrace_object_open_elf(&object, path);
	if (!error) {
		*isa = *ntrace_object_isa(object);
		error = ntrace_space_map_linked(space, object, bias);
		ntrace_object_put(object);
	}
	if (error)
		fail("%s: %s", path,
		     error == NTRACE_ERR_IO ? strerror(errno) : ntrace_strerror(error));
	free(path);
	return error ? EXIT_FAILED : EXIT_OK;
}

static int map_elf(const struct command *command, struct ntrace_space *space, const char *argument,
		   struct ntrace_params *params, bool xlen_given)
{
	struct ntrace_isa isa;
	int error = program_map_elf(command, space, argument, &isa);

	/* The program knows its XLEN; who says another one means it. */
	if (!error && !xlen_given)
		params->xlen = isa.xlen;
	return error;
}

static int read_raw(const char *path, const char *name, uint64_t address,
		    struct ntrace_object **object)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), error;
	struct stat status;
	void *data;

	if (fd < 0 || fstat(fd, &status)) {
		error = errno;
		if (fd >= 0)
			close(fd);
		return fail("%s: %s", path, strerror(error));
	}
	if (!S_ISREG(status.st_mode) || !status.st_size) {
		close(fd);
		return fail("%s: there is no code in it: not a file, or empty", path);
	}
	data = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	error = errno;
	close(fd);
	if (data == MAP_FAILED)
		return fail("%s: %s", path, strerror(error));
	error = ntrace_object_from_bytes(object, name, data, (size_t)status.st_size, address);
	munmap(data, (size_t)status.st_size);
	return error ? fail("%s: %s", path, ntrace_strerror(error)) : EXIT_OK;
}

static int map_raw(const struct command *command, struct ntrace_space *space, const char *argument)
{
	const char *at = strrchr(argument, '@');
	struct ntrace_object *object = NULL;
	unsigned long long address;
	char *path, *end;
	int error;

	if (!at || at == argument || !at[1])
		return usage_error(command, "option --raw: '%s' lacks @ADDR: where it is loaded",
				   argument);
	errno = 0;
	address = strtoull(at + 1, &end, 0);
	if (errno || *end)
		return usage_error(command, "option --raw: '%s' is no address", at + 1);
	path = strndup(argument, (size_t)(at - argument));
	if (!path)
		return fail("out of memory");
	error = read_raw(path, path, address, &object);
	free(path);
	if (error)
		return error;
	error = ntrace_space_map_linked(space, object, 0);
	ntrace_object_put(object);
	return error ? fail("%s: %s", argument, ntrace_strerror(error)) : EXIT_OK;
}

int programs_map(const struct programs *programs, const struct command *command,
		 struct ntrace_space **space, struct ntrace_params *params, bool xlen_given)
{
	bool raw = false;
	unsigned int i;
	int error = EXIT_OK;

	if (ntrace_space_new(space, "programs", NULL))
		return fail("out of memory");
	for (i = 0; i < programs->count && !error; i++) {
		raw |= programs->raw[i];
		if (programs->raw[i])
			error = map_raw(command, *space, programs->argument[i]);
		else
			error = map_elf(command, *space, programs->argument[i], params, xlen_given);
	}
	/* Raw bytes do not say for which XLEN they are, and are taken for RV64. */
	if (raw && params->xlen == 32 && !params->isa[0])
		snprintf(params->isa, sizeof(params->isa), "rv32gc");
	if (error) {
		ntrace_space_put(*space);
		*space = NULL;
	}
	return error;
}
