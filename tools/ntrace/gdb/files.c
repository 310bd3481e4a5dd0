// SPDX-License-Identifier: GPL-2.0-only
/*
 * Programs and libraries for the debugger ("GDB Remote Serial Protocol", Host I/O Packets).
 *
 * A debugger that is connected to another machine reads its files through the protocol. Here this
 * gives it the very files that the trace was decoded with. No other file can be read.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "remote_parts.h"

/* Error numbers of the protocol, which are those of no particular system. */
enum {
	FILE_EPERM = 1,
	FILE_ENOENT = 2,
	FILE_EBADF = 9,
	FILE_EINVAL = 22,
	FILE_EMFILE = 24,
	FILE_EUNKNOWN = 9999,
};

static void failed(struct remote *remote, unsigned int error)
{
	packet_begin(&remote->packets);
	packet_format(&remote->packets, "F-1,%x", error);
}

static void open_file(struct remote *remote, const char *text)
{
	const char *comma = strchr(text, ',');
	const char *file;
	uint64_t flags, i;
	char path[PATH_MAX + 32];

	if (!comma) {
		failed(remote, FILE_EINVAL);
		return;
	}
	remote_unhex(text, path, sizeof(path));
	comma++;
	if (!remote_hex(&comma, &flags) || flags) {
		failed(remote, FILE_EPERM);
		return;
	}
	file = target_file_path(remote->target, path);
	if (!file) {
		failed(remote, FILE_ENOENT);
		return;
	}
	for (i = 0; i < REMOTE_FILES_MAX && remote->file[i]; i++)
		;
	if (i == REMOTE_FILES_MAX) {
		failed(remote, FILE_EMFILE);
		return;
	}
	/* The name may be another file's since the program was opened: a FIFO must not block the server. */
	remote->file[i] = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK) + 1;
	if (!remote->file[i])
		failed(remote, FILE_ENOENT);
	else
		packet_format(&remote->packets, "F%" PRIx64, i);
}

/* The descriptor of a number in @text; *@text is moved behind it. Return: -1 after an error reply */
static int find_file(struct remote *remote, const char **text, uint64_t *number)
{
	if (remote_hex(text, number) && *number < REMOTE_FILES_MAX && remote->file[*number])
		return remote->file[*number] - 1;
	failed(remote, FILE_EBADF);
	return -1;
}

static void read_file(struct remote *remote, const char *text)
{
	static uint8_t data[PACKET_MAX / 2 - 32];
	uint64_t number, size, offset;
	int fd = find_file(remote, &text, &number);
	ssize_t got;

	if (fd < 0)
		return;
	if (*text++ != ',' || !remote_hex(&text, &size) || *text++ != ',' ||
	    !remote_hex(&text, &offset) || offset > INT64_MAX) {
		failed(remote, FILE_EINVAL);
		return;
	}
	got = pread(fd, data, size < sizeof(data) ? (size_t)size : sizeof(data), (off_t)offset);
	if (got < 0) {
		failed(remote, FILE_EUNKNOWN);
		return;
	}
	packet_format(&remote->packets, "F%zx;", (size_t)got);
	packet_binary(&remote->packets, data, (size_t)got);
}

static void put(uint8_t *at, uint64_t value, unsigned int size)
{
	while (size-- > 0) {
		at[size] = (uint8_t)value;
		value >>= 8;
	}
}

/* struct stat of the protocol: big-endian, 64 bytes. */
static void describe_file(struct remote *remote, const char *text)
{
	uint8_t data[64] = { 0 };
	struct stat status;
	uint64_t number;
	int fd = find_file(remote, &text, &number);

	if (fd < 0)
		return;
	if (fstat(fd, &status)) {
		failed(remote, FILE_EUNKNOWN);
		return;
	}
	put(data + 8, 0100444, 4);	/* st_mode: a regular file that can be read */
	put(data + 12, 1, 4);		/* st_nlink */
	put(data + 28, (uint64_t)status.st_size, 8);
	put(data + 36, 4096, 8);	/* st_blksize */
	put(data + 44, (uint64_t)status.st_blocks, 8);
	put(data + 60, (uint64_t)status.st_mtime, 4);
	packet_format(&remote->packets, "F%zx;", sizeof(data));
	packet_binary(&remote->packets, data, sizeof(data));
}

static void close_file(struct remote *remote, const char *text)
{
	uint64_t number;
	int fd = find_file(remote, &text, &number);

	if (fd < 0)
		return;
	close(fd);
	remote->file[number] = 0;
	packet_text(&remote->packets, "F0");
}

void remote_file(struct remote *remote, char *text)
{
	const char *operation = strsep(&text, ":");

	if (!text)
		packet_text(&remote->packets, "F-1,16");
	else if (!strcmp(operation, "setfs"))
		/* All processes have the same files. */
		packet_text(&remote->packets, "F0");
	else if (!strcmp(operation, "open"))
		open_file(remote, text);
	else if (!strcmp(operation, "pread"))
		read_file(remote, text);
	else if (!strcmp(operation, "fstat"))
		describe_file(remote, text);
	else if (!strcmp(operation, "close"))
		close_file(remote, text);
	else if (!strcmp(operation, "readlink"))
		/* All paths are those of files, not of links. */
		failed(remote, FILE_EINVAL);
	/* Others write: not supported. */
}

void remote_files_close(struct remote *remote)
{
	for (size_t i = 0; i < REMOTE_FILES_MAX; i++)
		if (remote->file[i])
			close(remote->file[i] - 1);
}
