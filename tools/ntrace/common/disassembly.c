// SPDX-License-Identifier: GPL-2.0-only
/*
 * The decoder decodes only the instructions that transfer control. objdump supports all extensions
 * and is a common tool; perf annotate uses it too. It disassembles sections. A file without them, such
 * as a copy of the kernel's code in a recording, is given to it segment by segment as raw bytes.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <ntrace/image.h>

#include "command.h"
#include "disassembly.h"
#include "ui.h"

extern char **environ;

/*
 * A part of a file. @machine: of raw bytes, whose address is @vma more than their offset in the
 * file; NULL = the sections of an ELF file
 */
struct part {
	const char *file;
	uint64_t start;
	uint64_t end;
	const char *machine;
	uint64_t vma;
};

/* Starts a program and returns its output as a stream, or NULL, with errno, if it cannot be run. */
static FILE *start(const char *const *arguments, pid_t *pid)
{
	posix_spawn_file_actions_t actions;
	FILE *stream = NULL;
	int ends[2], error;

	if (pipe2(ends, O_CLOEXEC))
		return NULL;
	error = posix_spawn_file_actions_init(&actions);
	if (!error) {
		posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
		posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
		error = posix_spawnp(pid, arguments[0], &actions, NULL,
				     (char *const *)(uintptr_t)arguments, environ);
		posix_spawn_file_actions_destroy(&actions);
	}
	close(ends[1]);
	if (!error)
		stream = fdopen(ends[0], "r");
	if (!stream)
		close(ends[0]);
	if (!stream && !error)
		waitpid(*pid, NULL, 0);
	if (error)
		errno = error;
	return stream;
}

/* Return: enum tool_exit, or -1 if the output of the program does not name RISC-V. */
static int check_output(const char *program, const char *option)
{
	const char *const arguments[] = { program, option, NULL };
	pid_t pid;
	FILE *stream = start(arguments, &pid);
	char *line = NULL;
	size_t size = 0;
	bool named = false;
	int status = -1;

	if (!stream)
		return fail("option --objdump: %s: %s", program, strerror(errno));
	while (getline(&line, &size, stream) >= 0)
		named |= strcasestr(line, "riscv") != NULL;
	free(line);
	fclose(stream);
	waitpid(pid, &status, 0);
	return !status && named ? EXIT_OK : -1;
}

int disassembler_check(const char *program)
{
	/* That of LLVM lists its targets with its version. */
	int error = check_output(program, "--info");

	if (error < 0)
		error = check_output(program, "--version");
	return error < 0 ? fail("option --objdump: %s is not an objdump for RISC-V", program) :
			   error;
}

/* As start(). */
static FILE *start_objdump(const char *program, const struct part *part, pid_t *pid)
{
	char from[64], to[64], vma[64];
	const char *arguments[] = { program,
				    "--no-show-raw-insn",
				    from,
				    to,
				    part->machine ? "-D" : "-d",
				    NULL,
				    NULL,
				    NULL,
				    NULL,
				    NULL,
				    NULL,
				    NULL,
				    NULL };
	size_t count = 5;

	snprintf(from, sizeof(from), "--start-address=0x%" PRIx64, part->start);
	snprintf(to, sizeof(to), "--stop-address=0x%" PRIx64, part->end);
	if (part->machine) {
		snprintf(vma, sizeof(vma), "--adjust-vma=0x%" PRIx64, part->vma);
		arguments[count++] = "-b";
		arguments[count++] = "binary";
		arguments[count++] = "-m";
		arguments[count++] = part->machine;
		arguments[count++] = vma;
	}
	arguments[count++] = "--";
	arguments[count] = part->file;
	return start(arguments, pid);
}

static void add_line(struct disassembly *disassembly, size_t *room, uint64_t address,
		     const char *text)
{
	struct disassembly_line *lines;
	size_t more = *room ? 2 * *room : 256;

	if (disassembly->count == *room) {
		lines = realloc(disassembly->lines, more * sizeof(*lines));
		if (!lines)
			return;
		disassembly->lines = lines;
		*room = more;
	}
	lines = &disassembly->lines[disassembly->count];
	lines->address = address;
	lines->text = strdup(text);
	if (lines->text)
		disassembly->count++;
}

/*
 * "     a82:	addi	sp,sp,-512": both objdumps print this form below the name of the section. An
 * address of eight or sixteen digits, as in a kernel, has no blanks before it.
 */
static void read_lines(struct disassembly *disassembly, FILE *stream)
{
	char *line = NULL, *rest, *c;
	size_t size = 0, room = disassembly->count;
	bool body = false;
	uint64_t address;

	while (getline(&line, &size, stream) >= 0) {
		/* The name of the file comes first, and may look like an address. */
		if (!strncmp(line, "Disassembly of ", 15))
			body = true;
		address = strtoull(line, &rest, 16);
		if (!body || rest == line || *rest != ':')
			continue;
		rest += 1 + strspn(rest + 1, " \t");
		rest[strcspn(rest, "\n")] = '\0';
		for (c = rest; *c; c++) {
			if (*c == '\t')
				*c = ' ';
		}
		/* objdump prints this for an instruction that it does not know, at the end of the code. */
		if (*rest && strncmp(rest, "Address 0x", 10))
			add_line(disassembly, &room, address, rest);
	}
	free(line);
}

static void run_objdump(struct disassembly *disassembly, const char *program,
			const struct part *part)
{
	pid_t pid;
	FILE *stream = start_objdump(program, part, &pid);

	if (!stream)
		return;
	read_lines(disassembly, stream);
	fclose(stream);
	waitpid(pid, NULL, 0);
}

static int compare_lines(const void *left, const void *right)
{
	const struct disassembly_line *a = left, *b = right;

	return a->address < b->address ? -1 : a->address > b->address;
}

/* Parts of @part in the segments of a file. */
static void run_segments(struct disassembly *disassembly, const char *program,
			 const struct part *part)
{
	uint64_t address, size, offset;
	struct ntrace_object *object;
	bool executable;

	if (ntrace_object_open_elf(&object, part->file))
		return;
	for (size_t i = 0; !ntrace_object_segment(object, i, &address, &size, &executable); i++) {
		struct part raw = *part;

		raw.machine = ntrace_object_isa(object)->xlen == 32 ? "riscv:rv32" : "riscv:rv64";
		raw.start = part->start > address ? part->start : address;
		raw.end = part->end - address < size ? part->end : address + size;
		if (!executable || raw.start - address >= size || part->end <= address ||
		    ntrace_object_file_offset(object, address, &offset))
			continue;
		raw.vma = address - offset;
		run_objdump(disassembly, program, &raw);
	}
	ntrace_object_put(object);
}

void disassemble(struct disassembly *disassembly, const char *file, uint64_t start, uint64_t end,
		 const char *program)
{
	static const char *const usual[] = { "riscv64-linux-gnu-objdump", "llvm-objdump",
					     "objdump" };
	const char *const *programs = program ? &program : usual;
	size_t count = program ? 1 : sizeof(usual) / sizeof(usual[0]), i;
	const struct part part = { .file = file, .start = start, .end = end };

	*disassembly = (struct disassembly){ 0 };
	/* Memory is no file. */
	for (i = 0; file && i < count && !disassembly->count; i++) {
		run_objdump(disassembly, programs[i], &part);
		if (!disassembly->count)
			run_segments(disassembly, programs[i], &part);
		if (disassembly->count)
			disassembly->program = programs[i];
	}
	/* Sections and segments may have any order. */
	if (disassembly->count)
		qsort(disassembly->lines, disassembly->count, sizeof(*disassembly->lines),
		      compare_lines);
}

void disassembly_free(struct disassembly *disassembly)
{
	while (disassembly->count)
		free(disassembly->lines[--disassembly->count].text);
	free(disassembly->lines);
	*disassembly = (struct disassembly){ 0 };
}

const char *disassembly_find(const struct disassembly *disassembly, uint64_t address)
{
	size_t low = 0, high = disassembly->count, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (disassembly->lines[middle].address < address)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == disassembly->count || disassembly->lines[low].address != address)
		return NULL;
	return disassembly->lines[low].text;
}
