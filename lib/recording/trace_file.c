// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Bytes of a trace file, perhaps compressed by zstd. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <zstd.h>

#include <ntrace/error.h>
#include <ntrace/recording.h>

/* zstd's default window limit of 128 MiB covers all files that its command makes by default. */
#define INPUT_SIZE (128 * 1024)
#define MAGIC_SIZE 4

static const uint8_t zstd_magic[MAGIC_SIZE] = { 0x28, 0xb5, 0x2f, 0xfd };

/**
 * struct ntrace_trace_file
 * @input: bytes read from the file and not yet returned
 * @in_frame: the next bytes continue a frame; the file is truncated without them
 */
struct ntrace_trace_file {
	int fd;
	ZSTD_DStream *stream;
	ZSTD_inBuffer input;
	bool in_frame;
	bool ended;
	bool cut;
	uint8_t bytes[INPUT_SIZE];
};

static ssize_t read_some(int fd, void *buffer, size_t size)
{
	ssize_t got;

	do {
		got = read(fd, buffer, size);
	} while (got < 0 && errno == EINTR);
	return got;
}

/* Reads until @least bytes are available or the file ends. Return: 0 or NTRACE_ERR_IO */
static int look_ahead(struct ntrace_trace_file *file, size_t least)
{
	while (file->input.size < least && !file->ended) {
		ssize_t got = read_some(file->fd, file->bytes + file->input.size,
					sizeof(file->bytes) - file->input.size);

		if (got < 0)
			return NTRACE_ERR_IO;
		file->ended = !got;
		file->input.size += (size_t)got;
	}
	return 0;
}

static bool is_zstd(const struct ntrace_trace_file *file)
{
	return file->input.size >= MAGIC_SIZE && !memcmp(file->bytes, zstd_magic, MAGIC_SIZE);
}

int ntrace_trace_file_open(struct ntrace_trace_file **file, int fd,
			   enum ntrace_trace_packing packing)
{
	struct ntrace_trace_file *opened = calloc(1, sizeof(*opened));
	int error, saved;

	if (!opened)
		return NTRACE_ERR_NOMEM;
	opened->fd = fd;
	opened->input.src = opened->bytes;
	error = packing == NTRACE_TRACE_PLAIN ? 0 : look_ahead(opened, MAGIC_SIZE);
	/* An empty file is a recording that has not begun. */
	if (!error && packing == NTRACE_TRACE_ZSTD && opened->input.size && !is_zstd(opened))
		error = NTRACE_ERR_FORMAT;
	if (!error && packing != NTRACE_TRACE_PLAIN && is_zstd(opened)) {
		opened->stream = ZSTD_createDStream();
		error = opened->stream ? 0 : NTRACE_ERR_NOMEM;
	}
	if (error) {
		saved = errno;
		ntrace_trace_file_close(opened);
		errno = saved;
		return error;
	}
	*file = opened;
	return 0;
}

bool ntrace_trace_file_packed(const struct ntrace_trace_file *file)
{
	return file->stream;
}

bool ntrace_trace_file_cut(const struct ntrace_trace_file *file)
{
	return file->cut;
}

static ssize_t read_plain(struct ntrace_trace_file *file, void *buffer, size_t size)
{
	size_t left = file->input.size - file->input.pos;
	ssize_t got;

	if (left) {
		size = left < size ? left : size;
		memcpy(buffer, file->bytes + file->input.pos, size);
		file->input.pos += size;
		return (ssize_t)size;
	}
	if (file->ended)
		return 0;
	got = read_some(file->fd, buffer, size);
	return got < 0 ? NTRACE_ERR_IO : got;
}

static ssize_t read_packed(struct ntrace_trace_file *file, void *buffer, size_t size)
{
	ZSTD_outBuffer output = { .dst = buffer, .size = size };
	size_t left;

	for (;;) {
		if (file->input.pos == file->input.size && !file->ended) {
			file->input.pos = 0;
			file->input.size = 0;
			if (look_ahead(file, 1))
				return NTRACE_ERR_IO;
		}
		/* Also checked at the end: the decoder may still hold output. */
		if (file->ended && file->input.pos == file->input.size && !file->in_frame)
			return 0;
		left = ZSTD_decompressStream(file->stream, &output, &file->input);
		if (ZSTD_isError(left))
			return NTRACE_ERR_FORMAT;
		file->in_frame = left;
		if (output.pos)
			return (ssize_t)output.pos;
		if (file->ended && file->input.pos == file->input.size) {
			file->cut = file->in_frame;
			return 0;
		}
	}
}

ssize_t ntrace_trace_file_read(struct ntrace_trace_file *file, void *buffer, size_t size)
{
	return file->stream ? read_packed(file, buffer, size) : read_plain(file, buffer, size);
}

void ntrace_trace_file_close(struct ntrace_trace_file *file)
{
	if (file)
		ZSTD_freeDStream(file->stream);
	free(file);
}
