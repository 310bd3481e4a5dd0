// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Bytes of a trace file, perhaps compressed by zstd, perhaps in frames. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <zstd.h>
#include <zstd_errors.h>

#include <ntrace/error.h>
#include <ntrace/frames.h>
#include <ntrace/recording.h>

#include "recording.h"

#define INPUT_SIZE (128 * 1024)

/* MSEO 2 is reserved: the mark of missing bytes. */
#define BREAK 0x02
#define FRAMES_SIZE (64 * 1024)

/**
 * struct unframer - the bytes of one source
 * @waiting: bytes of the source that have been extracted; @left of them are not returned yet
 * @missing: bytes are missing before those
 */
struct unframer {
	struct ntrace_frames frames;
	unsigned int source;
	const uint8_t *waiting;
	size_t left;
	bool missing;
	bool ended;
	uint8_t input[FRAMES_SIZE];
};

/**
 * struct ntrace_trace_file
 * @input: bytes read from the file and not yet returned
 * @in_frame: the next bytes continue a frame of zstd; the file is truncated without them
 * @offset: number of bytes read, uncompressed
 * @most: offset of the end; one byte more is read to know whether there is more
 * @unframer: NULL: the file has no CoreSight frames
 */
struct ntrace_trace_file {
	int fd;
	ZSTD_DStream *stream;
	ZSTD_inBuffer input;
	bool in_frame;
	bool ended;
	bool cut;
	uint64_t offset;
	uint64_t most;
	struct unframer *unframer;
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

/* Files of pzstd, and seekable ones, may begin with a frame that is skipped (RFC 8878, section 3.1.2). */
bool trace_file_is_zstd(const uint8_t *bytes, size_t size)
{
	static const uint8_t frame[] = { 0x28, 0xb5, 0x2f, 0xfd }, skipped[] = { 0x2a, 0x4d, 0x18 };

	return size >= TRACE_FILE_MAGIC &&
	       (!memcmp(bytes, frame, sizeof(frame)) ||
		((bytes[0] & 0xf0) == 0x50 && !memcmp(bytes + 1, skipped, sizeof(skipped))));
}

static bool is_zstd(const struct ntrace_trace_file *file)
{
	return trace_file_is_zstd(file->bytes, file->input.size);
}

/* The library accepts windows up to 128 MiB; "zstd --long=31" makes larger ones. Only the used part takes memory. */
static int open_zstd(struct ntrace_trace_file *file)
{
	file->stream = ZSTD_createDStream();
	if (!file->stream)
		return NTRACE_ERR_NOMEM;
	ZSTD_DCtx_setParameter(file->stream, ZSTD_d_windowLogMax,
			       ZSTD_dParam_getBounds(ZSTD_d_windowLogMax).upperBound);
	return 0;
}

int ntrace_trace_file_open(struct ntrace_trace_file **file, int fd,
			   enum ntrace_trace_packing packing)
{
	struct ntrace_trace_file *opened = calloc(1, sizeof(*opened));
	int error, saved;

	if (!opened)
		return NTRACE_ERR_NOMEM;
	opened->fd = fd;
	opened->most = UINT64_MAX;
	opened->input.src = opened->bytes;
	error = packing == NTRACE_TRACE_PLAIN ? 0 : look_ahead(opened, TRACE_FILE_MAGIC);
	/* An empty file is a recording that has not begun. */
	if (!error && packing == NTRACE_TRACE_ZSTD && opened->input.size && !is_zstd(opened))
		error = NTRACE_ERR_FORMAT;
	if (!error && packing != NTRACE_TRACE_PLAIN && is_zstd(opened))
		error = open_zstd(opened);
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
			return ZSTD_getErrorCode(left) == ZSTD_error_memory_allocation ?
				       NTRACE_ERR_NOMEM :
				       NTRACE_ERR_FORMAT;
		file->in_frame = left;
		if (output.pos)
			return (ssize_t)output.pos;
		if (file->ended && file->input.pos == file->input.size) {
			file->cut = file->in_frame;
			return 0;
		}
	}
}

static ssize_t read_file(struct ntrace_trace_file *file, void *buffer, size_t size)
{
	bool at_end = file->offset >= file->most;
	uint8_t more;
	ssize_t got;

	if (file->offset > file->most)
		return 0;
	if (at_end) {
		buffer = &more;
		size = sizeof(more);
	} else if (size > file->most - file->offset) {
		size = (size_t)(file->most - file->offset);
	}
	got = file->stream ? read_packed(file, buffer, size) : read_plain(file, buffer, size);
	file->offset += got > 0 ? (uint64_t)got : 0;
	return at_end && got > 0 ? 0 : got;
}

/*
 * Extracts the next bytes of the source, or finds that bytes are missing. @wait: more of the file
 * may be read for that, which may take time.
 *
 * Return: 1, 0 at the end or without @wait, or an error.
 */
static ssize_t find_bytes(struct ntrace_trace_file *file, bool wait)
{
	struct unframer *unframer = file->unframer;
	struct ntrace_frames_piece piece;
	ssize_t got;
	int event;

	for (;;) {
		event = ntrace_frames_next(&unframer->frames, &piece);
		if (event == NTRACE_FRAMES_BYTES && piece.source == unframer->source) {
			unframer->waiting = piece.bytes;
			unframer->left = piece.size;
			return 1;
		}
		if (event == NTRACE_FRAMES_BARRIER || event == NTRACE_FRAMES_CUT ||
		    event == NTRACE_FRAMES_NAMELESS) {
			unframer->missing = true;
			return 1;
		}
		if (event != NTRACE_ERR_AGAIN)
			continue;
		if (unframer->ended || !wait)
			return 0;
		got = read_file(file, unframer->input, sizeof(unframer->input));
		if (got < 0)
			return got;
		unframer->ended = !got;
		/* The file ends inside a frame. */
		if (!got && ntrace_frames_pending(&unframer->frames)) {
			unframer->missing = true;
			return 1;
		}
		ntrace_frames_feed(&unframer->frames, unframer->input, (size_t)got);
	}
}

/* Fills the buffer as far as the current input goes: the pieces of a frame are short. */
static ssize_t read_framed(struct ntrace_trace_file *file, uint8_t *buffer, size_t size)
{
	struct unframer *unframer = file->unframer;
	size_t have = 0, part;
	bool marked = false;
	ssize_t found;

	while (have < size) {
		if (unframer->left) {
			part = unframer->left < size - have ? unframer->left : size - have;
			memcpy(buffer + have, unframer->waiting, part);
			unframer->waiting += part;
			unframer->left -= part;
			have += part;
			marked = false;
			continue;
		}
		if (unframer->missing) {
			unframer->missing = false;
			/* Several reasons at one place are one mark. */
			if (!marked)
				buffer[have++] = BREAK;
			marked = true;
			continue;
		}
		found = find_bytes(file, !have);
		if (found < 0)
			return found;
		if (!found)
			break;
	}
	return (ssize_t)have;
}

ssize_t ntrace_trace_file_read(struct ntrace_trace_file *file, void *buffer, size_t size)
{
	return file->unframer ? read_framed(file, buffer, size) : read_file(file, buffer, size);
}

int ntrace_trace_file_unframe(struct ntrace_trace_file *file, unsigned int source)
{
	if (source < NTRACE_FRAMES_SOURCE_MIN || source > NTRACE_FRAMES_SOURCE_MAX)
		return NTRACE_ERR_INVALID;
	file->unframer = calloc(1, sizeof(*file->unframer));
	if (!file->unframer)
		return NTRACE_ERR_NOMEM;
	ntrace_frames_init(&file->unframer->frames);
	file->unframer->source = source;
	return NTRACE_OK;
}

void ntrace_trace_file_limit(struct ntrace_trace_file *file, uint64_t most)
{
	file->most = most;
}

uint64_t ntrace_trace_file_offset(const struct ntrace_trace_file *file)
{
	return file->offset;
}

void ntrace_trace_file_close(struct ntrace_trace_file *file)
{
	if (file) {
		ZSTD_freeDStream(file->stream);
		free(file->unframer);
	}
	free(file);
}
