// SPDX-License-Identifier: GPL-2.0-only
/* Output files that appear under their name only when complete, and never in place of an input. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "command.h"
#include "input.h"
#include "output_file.h"
#include "ui.h"

/* A recording names programs, and those name debug files; no output is an ELF file. */
static void refuse_elf_streams(void)
{
	static const char *const names[] = {
		[STDOUT_FILENO] = "/dev/stdout", [STDERR_FILENO] = "/dev/stderr"
	};
	char target[PATH_MAX], link[64];
	struct stat status;
	ssize_t length;

	for (int fd = STDOUT_FILENO; fd <= STDERR_FILENO; fd++) {
		if (fstat(fd, &status) || !output_stream_is(fd, &status) || !is_elf_file(names[fd]))
			continue;
		snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
		length = readlink(link, target, sizeof(target) - 1);
		target[length < 0 ? 0 : length] = '\0';
		output_end_before_writing(fd, target,
					  "the output would change a program (an ELF file)");
	}
}

/* ---- files that would be replaced ---- */

int output_refuse_input(const char *path)
{
	if (output_is_input(path))
		return fail("%s: the output is also an input", path);
	if (is_elf_file(path))
		return fail("%s: the output would replace a program (an ELF file): choose another "
			    "name",
			    path);
	return EXIT_OK;
}

/* ---- signals ---- */

/* Their default action does not end a process. */
static bool is_harmless(int number)
{
	return number == SIGCHLD || number == SIGCONT || number == SIGSTOP || number == SIGTSTP ||
	       number == SIGTTIN || number == SIGTTOU || number == SIGURG || number == SIGWINCH;
}

static void remove_and_end(int number)
{
	ntrace_output_abandon();
	signal(number, SIG_DFL);
	raise(number);
}

/* State while /proc/self/maps is read, byte by byte. */
struct mapping {
	uintptr_t numbers[2];	/* start and end */
	unsigned int field;	/* 0, 1: in these; 2: before the path; 3: in the path */
	size_t length;
	char path[PATH_MAX];
};

/* Return: whether @byte ends the line of @address. */
static bool read_mapping(struct mapping *mapping, char byte, uintptr_t address)
{
	if (byte == '\n') {
		mapping->path[mapping->length] = '\0';
		if (mapping->numbers[0] <= address && address < mapping->numbers[1])
			return true;
		mapping->numbers[0] = mapping->numbers[1] = mapping->field = 0;
		mapping->length = 0;
	} else if (mapping->field < 2 && (byte == '-' || byte == ' ')) {
		mapping->field++;
	} else if (mapping->field < 2) {
		mapping->numbers[mapping->field] =
			mapping->numbers[mapping->field] << 4 |
			(uintptr_t)(byte <= '9' ? byte - '0' : byte - 'a' + 10);
	} else if (mapping->field == 3 || byte == '/') {
		mapping->field = 3;
		if (mapping->length + 1 < sizeof(mapping->path))
			mapping->path[mapping->length++] = byte;
	}
	return false;
}

/* Finds the file that is mapped at @address. Calls only what a signal handler may call. */
static bool find_mapping(struct mapping *mapping, uintptr_t address)
{
	int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	bool found = false;
	char bytes[4096];
	ssize_t got;

	while (fd >= 0 && !found && (got = read(fd, bytes, sizeof(bytes))) > 0)
		for (ssize_t i = 0; i < got && !found; i++)
			found = read_mapping(mapping, bytes[i], address);
	if (fd >= 0)
		close(fd);
	return found && mapping->length;
}

static void write_text(const char *text)
{
	ssize_t written = write(STDERR_FILENO, text, strlen(text));

	(void)written;
}

/* A page of a mapped file cannot be read: another process has made the file shorter, or the disk fails. */
static void end_at_page(int number, siginfo_t *info, void *context)
{
	static struct mapping mapping;
	bool found = info->si_code == BUS_ADRERR &&
		     find_mapping(&mapping, (uintptr_t)info->si_addr);

	(void)context;
	ntrace_output_abandon();
	if (!found) {
		signal(number, SIG_DFL);
		raise(number);
		return;
	}
	write_text("ntrace: error: ");
	write_text(mapping.path);
	write_text(": a part of the file cannot be read: it became shorter meanwhile, or the disk "
		   "failed\n");
	_exit(EXIT_FAILED);
}

void output_guard(void)
{
	struct sigaction action = { .sa_handler = remove_and_end }, before;
	const struct sigaction page = { .sa_sigaction = end_at_page, .sa_flags = SA_SIGINFO };

	/* SIGKILL, and the signals that the C library keeps for itself, cannot be handled. */
	for (int number = 1; number <= SIGRTMAX; number++)
		if (!is_harmless(number) && !sigaction(number, NULL, &before) &&
		    before.sa_handler == SIG_DFL)
			sigaction(number, &action, NULL);
	sigaction(SIGBUS, &page, NULL);
	refuse_elf_streams();
}

/* ---- files ---- */

static int failed(const struct output_file *file, int error)
{
	errno = error;
	return path_failed(file->path, NTRACE_ERR_IO);
}

static int begin(struct output_file *file, const char *path, bool replace, int *fd)
{
	struct stat status;
	int error;

	memset(file, 0, sizeof(*file));
	if (path && !*path)
		return fail("the name of the file to write is empty");
	if (!path || output_is_standard(path)) {
		file->path = "standard output";
		file->name = "/dev/stdout";
		*fd = STDOUT_FILENO;
		/* main() opened it because it was closed; a writer that takes the name would succeed. */
		if ((fcntl(STDOUT_FILENO, F_GETFL) & O_ACCMODE) == O_RDONLY)
			return fail("%s: %s", file->path, strerror(EBADF));
		/* Output appended to an input would be read as input. */
		if (!fstat(STDOUT_FILENO, &status) && S_ISREG(status.st_mode) &&
		    output_is_input(file->name))
			return fail("%s: the output is also an input", file->path);
		return EXIT_OK;
	}
	file->path = path;
	if (output_refuse_input(path))
		return EXIT_FAILED;
	error = ntrace_output_open(&file->file, path, replace);
	if (error)
		return fail("%s: %s", path, error_text(error));
	*fd = ntrace_output_fd(file->file);
	file->name = ntrace_output_name(file->file);
	return EXIT_OK;
}

int output_file_open(struct output_file *file, const char *path)
{
	int fd = -1, error = begin(file, path, true, &fd);

	if (!error) {
		file->output = malloc(sizeof(*file->output));
		if (file->output)
			output_init(file->output, fd);
		else
			error = output_file_close(file, fail("out of memory"));
	}
	return error;
}

int output_file_stream(struct output_file *file, const char *path, bool replace)
{
	int fd = -1, error = begin(file, path, replace, &fd), copy;

	if (error)
		return error;
	/* Closing it must not close standard output. */
	copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	file->stream = copy < 0 ? NULL : fdopen(copy, "w");
	if (file->stream)
		return EXIT_OK;
	error = failed(file, errno);
	if (copy >= 0)
		close(copy);
	return output_file_close(file, error);
}

int output_file_named(struct output_file *file, const char *path)
{
	int fd;

	return begin(file, path, true, &fd);
}

int output_needs_file(const char *path, const char *format)
{
	return fail("%s: not the name of a regular file: %s is not written in order, and needs one",
		    path, format);
}

int output_file_close(struct output_file *file, int status)
{
	bool whole = status == EXIT_OK || status == EXIT_GAPS;
	int error = 0;

	if (!file->name)
		return status;
	if (file->output)
		error = output_flush(file->output);
	if (file->stream && ferror(file->stream))
		error = errno ? errno : EIO;
	if (file->stream && fclose(file->stream) && !error)
		error = errno;
	if (error && whole)
		status = failed(file, error);
	else if (whole && file->file && output_refuse_input(file->path))
		status = EXIT_FAILED;
	whole = status == EXIT_OK || status == EXIT_GAPS;
	if (ntrace_output_close(file->file, whole))
		status = failed(file, errno);
	free(file->output);
	memset(file, 0, sizeof(*file));
	return status;
}
