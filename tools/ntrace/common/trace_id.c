// SPDX-License-Identifier: GPL-2.0-only
/* What identifies the streams of recordings: see trace_id.h. */
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "input.h"
#include "trace_id.h"
#include "ui.h"

/* Bytes at the beginning and at the end of a file; all of most params files. */
#define SAMPLE 16384

typedef unsigned __int128 hash_t;

#define HASH_BEGIN ((hash_t)0x6c62272e07bb0142 << 64 | 0x62b821756295c58d)

/* A trace that is being read; @file is NULL if there is none; @failed: errno of a file that cannot be read */
struct trace {
	int fd;
	int failed;
	struct ntrace_trace_file *file;
};

/* What finds candidates among the streams of a recording. */
struct beginning {
	hash_t hash;
	size_t bytes;
	unsigned int stream;
};

/* FNV-1a of 128 bits, in steps of a word; the length keeps apart what the last step fills up with zeros. */
static void add_bytes(hash_t *hash, const void *bytes, size_t size)
{
	const hash_t prime = (hash_t)1 << 88 | 0x13b;
	const uint8_t *at = bytes;
	uint64_t word;

	*hash = (*hash ^ size) * prime;
	while (size) {
		size_t part = size < sizeof(word) ? size : sizeof(word);

		word = 0;
		memcpy(&word, at, part);
		*hash = (*hash ^ le64toh(word)) * prime;
		*hash ^= *hash >> 64;
		at += part;
		size -= part;
	}
}

static void add_number(hash_t *hash, uint64_t number)
{
	*hash ^= number;
	add_bytes(hash, NULL, 0);
}

/* Without a file there is nothing to count; one that cannot be read would have the id of another. */
static bool open_file(const char *path, int *fd)
{
	*fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	return *fd >= 0 || errno == ENOENT;
}

/* Return: whether the file could be read, or is not there */
static bool add_file(hash_t *hash, const char *path)
{
	struct stat status = { 0 };
	uint8_t bytes[SAMPLE];
	ssize_t got = 0;
	int fd;

	if (!open_file(path, &fd))
		return false;
	if (fd >= 0 && !fstat(fd, &status) && S_ISREG(status.st_mode)) {
		got = pread(fd, bytes, sizeof(bytes), 0);
		add_bytes(hash, bytes, got > 0 ? (size_t)got : 0);
		if (status.st_size > SAMPLE && got >= 0) {
			got = pread(fd, bytes, sizeof(bytes), status.st_size - SAMPLE);
			add_bytes(hash, bytes, got > 0 ? (size_t)got : 0);
		}
	}
	if (fd >= 0)
		close(fd);
	add_number(hash, (uint64_t)status.st_size);
	return got >= 0;
}

/* A file of the recording, or the whole recording if it is one file. Return: EXIT_OK or EXIT_FAILED after a message */
static int add_part(hash_t *hash, const char *recording, const char *name)
{
	bool whole = !is_directory(recording);
	int error = EXIT_OK;
	char *path;

	if (asprintf(&path, "%s%s%s", recording, whole ? "" : "/", whole ? "" : name) < 0)
		return fail("out of memory");
	if (!add_file(hash, path))
		error = fail("%s: %s", path, strerror(errno));
	free(path);
	return error;
}

static void close_trace(struct trace *trace)
{
	ntrace_trace_file_close(trace->file);
	if (trace->fd >= 0)
		close(trace->fd);
}

static void open_trace(struct trace *trace, const char *path)
{
	struct stat status;

	trace->file = NULL;
	trace->failed = open_file(path, &trace->fd) ? 0 : errno;
	if (trace->fd < 0 || fstat(trace->fd, &status) || !S_ISREG(status.st_mode) ||
	    ntrace_trace_file_open(&trace->file, trace->fd, NTRACE_TRACE_GUESS))
		trace->file = NULL;
}

/* Return: number of bytes: less than @size at the end of the trace, or where it is damaged */
static size_t read_trace(struct trace *trace, uint8_t *bytes, size_t size)
{
	size_t have = 0;
	ssize_t got = 1;

	while (have < size && got > 0 && trace->file) {
		got = ntrace_trace_file_read(trace->file, bytes + have, size - have);
		have += got > 0 ? (size_t)got : 0;
	}
	if (got == NTRACE_ERR_IO)
		trace->failed = errno;
	return have;
}

/*
 * @size: number of bytes that the hash is of; 0 also if all are idle, or memory that was never written
 * Return: 0, or errno of a file that cannot be read
 */
static int add_beginning(hash_t *hash, const char *path, size_t *size)
{
	uint8_t *bytes = malloc(TRACE_ID_BYTES);
	struct trace trace;
	size_t have;

	*size = 0;
	if (!bytes)
		return ENOMEM;
	open_trace(&trace, path);
	have = read_trace(&trace, bytes, TRACE_ID_BYTES);
	close_trace(&trace);
	if (have && !memcmp(bytes, bytes + 1, have - 1))
		have = 0;
	if (have)
		add_bytes(hash, bytes, have);
	free(bytes);
	*size = have;
	return trace.failed;
}

int trace_identify(const char *recording, const struct ntrace_stream *stream, const char *path,
		   unsigned int index, struct ntrace_counts_source *source)
{
	hash_t hash = HASH_BEGIN;
	size_t bytes = 0;
	int error = stream ? add_beginning(&hash, path, &bytes) : 0;

	if (error)
		return fail("%s: %s", path, strerror(error));
	if (!bytes) {
		error = add_part(&hash, recording, "params");
	} else {
		add_number(&hash, stream->src);
		add_number(&hash, stream->params->atid);
		add_number(&hash, bytes == TRACE_ID_BYTES ? stream->bytes : bytes);
		if (!stream->params->timestamp_bits)
			error = add_part(&hash, recording, "data");
	}
	if (!bytes || !stream->params->timestamp_bits)
		add_number(&hash, index);
	for (unsigned int i = 0; i < NTRACE_COUNTS_SOURCE_ID; i++)
		source->id[i] = (uint8_t)(hash >> 8 * i);
	return error;
}

static void warn_unread(const char *path, int reason)
{
	if (reason)
		warn("%s: %s: it may be a copy of another stream", path, strerror(reason));
}

static bool are_equal(const char *first, const char *second)
{
	uint8_t *bytes = malloc((size_t)2 * TRACE_ID_BYTES);
	struct trace a, b;
	size_t have, other;
	bool equal;

	/* Without memory they are not known to be equal. */
	if (!bytes)
		return false;
	open_trace(&a, first);
	open_trace(&b, second);
	do {
		have = read_trace(&a, bytes, TRACE_ID_BYTES);
		other = read_trace(&b, bytes + TRACE_ID_BYTES, TRACE_ID_BYTES);
		equal = have == other && !memcmp(bytes, bytes + TRACE_ID_BYTES, have);
	} while (equal && have);
	close_trace(&a);
	close_trace(&b);
	warn_unread(first, a.failed);
	warn_unread(second, b.failed);
	free(bytes);
	return equal;
}

static int compare_beginnings(const void *left, const void *right)
{
	const struct beginning *a = left, *b = right;

	if (a->hash != b->hash)
		return a->hash < b->hash ? -1 : 1;
	return a->stream < b->stream ? -1 : a->stream > b->stream;
}

static bool is_copy(const struct ntrace_stream *a, const struct ntrace_stream *b)
{
	return strcmp(a->file, b->file) && a->src == b->src && a->params->atid == b->params->atid &&
	       are_equal(a->file, b->file);
}

bool trace_find_copy(const struct ntrace_session *session, unsigned int *first,
		     unsigned int *second)
{
	unsigned int count = ntrace_session_streams(session), i;
	struct beginning *all = calloc(count + 1, sizeof(*all));
	bool found = false;

	for (i = 0; all && i < count && count > 1; i++) {
		const char *path = ntrace_session_stream(session, i)->file;

		all[i] = (struct beginning){ .hash = HASH_BEGIN, .stream = i };
		warn_unread(path, add_beginning(&all[i].hash, path, &all[i].bytes));
	}
	if (all && count > 1)
		qsort(all, count, sizeof(*all), compare_beginnings);
	for (i = 1; all && i < count && !found; i++) {
		*first = all[i - 1].stream;
		*second = all[i].stream;
		found = all[i].bytes && all[i].hash == all[i - 1].hash &&
			is_copy(ntrace_session_stream(session, *first),
				ntrace_session_stream(session, *second));
	}
	free(all);
	return found;
}
