/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The output file for tests of lib/export: memory with a limit. It is unbuffered, so that the
 * export itself reaches the end of the device.
 */
#ifndef SELFTESTS_EXPORT_FILE_H
#define SELFTESTS_EXPORT_FILE_H

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ntrace/error.h>

#include "tap.h"

/* Runs one export; @file is not flushed. Return: as the export. */
typedef int export_fn(FILE *file, const void *data);

/* @limit: the device is full after this many bytes */
struct written {
	char bytes[1 << 20];
	size_t size;
	size_t limit;
};

static inline ssize_t take_bytes(void *cookie, const char *bytes, size_t size)
{
	struct written *written = cookie;
	size_t room = written->limit - written->size;

	if (size > room) {
		/*
		 * The rest of a short write fails; with a real file the C library detects this
		 * itself.
		 */
		errno = ENOSPC;
		size = room;
	}
	memcpy(written->bytes + written->size, bytes, size);
	written->size += size;
	return (ssize_t)size;
}

static inline int write_limited(struct written *written, size_t limit, export_fn *put,
				const void *data)
{
	const cookie_io_functions_t functions = { .write = take_bytes };
	FILE *file = fopencookie(written, "w", functions);
	int error;

	memset(written, 0, sizeof(*written));
	written->limit = limit;
	setvbuf(file, NULL, _IONBF, 0);
	errno = 0;
	error = put(file, data);
	/* This value of errno is not the export's. */
	limit = (size_t)errno;
	fclose(file);
	errno = (int)limit;
	return error;
}

/* The written bytes, 0-terminated; valid until the next call. */
static inline const struct written *write_all(export_fn *put, const void *data, const char *name)
{
	static struct written written;
	int error = write_limited(&written, sizeof(written.bytes) - 1, put, data);

	is_u64(error, 0, "%s: written", name);
	return &written;
}

/*
 * A full device must cause an error at any position, and the bytes written before must be the
 * beginning of the whole output.
 */
static inline void check_full(export_fn *put, const void *data, const char *name)
{
	static struct written whole, part;
	size_t limit, step, wrong = 0, tried = 0;
	FILE *full;
	int error;

	if (write_limited(&whole, sizeof(whole.bytes) - 1, put, data))
		ok(false, "%s: written", name);
	step = whole.size / 200 + 1;
	for (limit = 0; limit < whole.size; limit += step, tried++) {
		error = write_limited(&part, limit, put, data);
		wrong += error != NTRACE_ERR_IO || errno != ENOSPC || part.size != limit ||
			 memcmp(part.bytes, whole.bytes, limit) != 0;
	}
	is_u64(wrong, 0, "%s: the device is full after 0 to %zu bytes, %zu times", name, whole.size,
	       tried);
	is_u64(write_limited(&part, whole.size, put, data), 0, "%s: just enough room", name);
	ok(part.size == whole.size && !memcmp(part.bytes, whole.bytes, whole.size),
	   "%s: the same counts give the same bytes", name);
	full = fopen("/dev/full", "w");
	setvbuf(full, NULL, _IONBF, 0);
	if (whole.size)
		is_u64(put(full, data), NTRACE_ERR_IO, "%s: /dev/full", name);
	fclose(full);
}

#endif
