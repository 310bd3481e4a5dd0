// SPDX-License-Identifier: GPL-2.0-only
/* Reads waveform files. */
#include "wave_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "command.h"
#include "ui.h"

extern char **environ;

/* The header block: type 0, and its length of 329 as 8 bytes, the most significant one first. */
bool wave_is_fst(const unsigned char *bytes, size_t size)
{
	static const unsigned char header[9] = { 0, 0, 0, 0, 0, 0, 0, 1, 0x49 };

	return size >= sizeof(header) && !memcmp(bytes, header, sizeof(header));
}

static bool is_fst(const char *path)
{
	unsigned char bytes[16];
	int file = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t got = file < 0 ? 0 : read(file, bytes, sizeof(bytes));

	if (file >= 0)
		close(file);
	return got > 0 && wave_is_fst(bytes, (size_t)got);
}

/* Starts the converter. Return: the end of its output, or -1 after an error message */
static int start_converter(const char *path, pid_t *child)
{
	char *arguments[] = { (char *)"fst2vcd", (char *)"-f", (char *)(uintptr_t)path, NULL };
	posix_spawn_file_actions_t actions;
	int ends[2], error;

	if (pipe2(ends, O_CLOEXEC)) {
		fail("%s: %s", path, strerror(errno));
		return -1;
	}
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
	error = posix_spawnp(child, arguments[0], &actions, NULL, arguments, environ);
	posix_spawn_file_actions_destroy(&actions);
	close(ends[1]);
	if (!error)
		return ends[0];
	close(ends[0]);
	if (error == ENOENT)
		fail("%s: an FST waveform is read through fst2vcd, which is not installed: install "
		     "GTKWave (Debian: gtkwave), or convert it to VCD",
		     path);
	else
		fail("%s: fst2vcd: %s", path, strerror(error));
	return -1;
}

static int feed_failed(const struct vcd *vcd, const char *path, int result)
{
	if (result >= 0)
		return result;
	return fail("%s: line %" PRIu64 ": %s", path, vcd->line, vcd->error);
}

/* @error: of what was read. Return: that, or the converter's own failure */
static int end_converter(const char *path, pid_t child, int error)
{
	int status = 0;

	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	/* A reader that ends early leaves the converter with a closed pipe. */
	if (!error && (!WIFEXITED(status) || WEXITSTATUS(status)))
		return fail("%s: fst2vcd cannot read it", path);
	return error;
}

int wave_read(struct vcd *vcd, const char *path)
{
	static char chunk[1 << 16];
	bool standard = !strcmp(path, "-"), converted = !standard && is_fst(path);
	int file = STDIN_FILENO, error = EXIT_OK;
	pid_t child = 0;
	ssize_t got = 0;

	if (converted)
		file = start_converter(path, &child);
	else if (!standard)
		file = open(path, O_RDONLY | O_CLOEXEC);
	if (file < 0)
		return converted ? EXIT_FAILED : fail("%s: %s", path, strerror(errno));
	while (!error && (got = read(file, chunk, sizeof(chunk))) > 0)
		error = feed_failed(vcd, path, vcd_feed(vcd, chunk, (size_t)got));
	if (!error && got < 0)
		error = fail("%s: %s", path, strerror(errno));
	if (!standard)
		close(file);
	if (converted)
		error = end_converter(path, child, error);
	return error ? error : feed_failed(vcd, path, vcd_end(vcd));
}
