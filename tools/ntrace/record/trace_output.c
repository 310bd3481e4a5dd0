// SPDX-License-Identifier: GPL-2.0-only
/* Writes a trace file, aux.N, plain or compressed with zstd (--compress). */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <zstd.h>

#include <ntrace/error.h>
#include <ntrace/recording.h>

#include "common/command.h"
#include "common/ui.h"
#include "trace_output.h"

/* Bytes of trace in a zstd frame. Each frame can be decompressed by itself. */
#define FRAME_SIZE (16u << 20)

/* Freed on a full disk for the files without which the trace cannot be decoded. */
#define ROOM_ON_FULL_DISK (8u << 20)

static int open_packer(struct trace_output *output, unsigned int level)
{
	output->room = ZSTD_CStreamOutSize();
	output->packed = malloc(output->room);
	output->context = ZSTD_createCCtx();
	if (output->packed && output->context &&
	    !ZSTD_isError(
		    ZSTD_CCtx_setParameter(output->context, ZSTD_c_compressionLevel, (int)level)) &&
	    !ZSTD_isError(ZSTD_CCtx_setParameter(output->context, ZSTD_c_checksumFlag, 1)))
		return EXIT_OK;
	trace_output_close(output);
	return fail("out of memory");
}

int trace_output_open(struct trace_output *output, const char *directory, unsigned int index,
		      unsigned int level)
{
	int error = EXIT_OK;
	char *path;

	*output = (struct trace_output){ .fd = -1 };
	snprintf(output->name, sizeof(output->name), "aux.%u%s", index, level ? ".zst" : "");
	if (asprintf(&path, "%s/%s", directory, output->name) < 0)
		return fail("out of memory");
	/* trace_output_make_room() reads the file. */
	output->fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (output->fd < 0)
		error = fail("%s: %s", path, strerror(errno));
	free(path);
	return error || !level ? error : open_packer(output, level);
}

static int write_whole(struct trace_output *output, const uint8_t *data, size_t size)
{
	ssize_t part;

	while (size) {
		part = write(output->fd, data, size);
		if (!part)
			return ENOSPC;
		if (part < 0 && errno != EINTR)
			return errno;
		if (part > 0) {
			output->written += (uint64_t)part;
			data += part;
			size -= (size_t)part;
		}
	}
	return 0;
}

/* Flushes the compressor, so that the file can be decompressed if nothing follows. */
static int pack(struct trace_output *output, const uint8_t *data, size_t size, bool end)
{
	ZSTD_inBuffer in = { .src = data, .size = size };
	size_t left;
	int error;

	do {
		ZSTD_outBuffer out = { .dst = output->packed, .size = output->room };

		left = ZSTD_compressStream2(output->context, &out, &in,
					    end ? ZSTD_e_end : ZSTD_e_flush);
		if (ZSTD_isError(left))
			return ENOMEM;
		error = write_whole(output, output->packed, out.pos);
	} while (!error && left);
	return error;
}

/* Return: 0 or errno; part of it may be in the file. */
static int write_trace(struct trace_output *output, const uint8_t *data, size_t size)
{
	uint64_t before = output->written;
	bool end;
	int error;

	if (!output->context) {
		error = write_whole(output, data, size);
		output->saved += output->written - before;
		return error;
	}
	output->frame += size;
	end = output->frame >= FRAME_SIZE;
	error = pack(output, data, size, end);
	if (!error)
		output->saved += size;
	if (end)
		output->frame = 0;
	return error;
}

int trace_output_write(struct trace_output *output, const uint8_t *data, size_t size)
{
	uint64_t before = output->saved;

	/* The file would have a gap. */
	if (!output->error)
		output->error = write_trace(output, data, size);
	output->lost += size - (output->saved - before);
	return output->error;
}

int trace_output_end(struct trace_output *output)
{
	int error = output->context && output->frame ? pack(output, NULL, 0, true) : 0;

	output->frame = 0;
	return error;
}

void trace_output_start_sync(const struct trace_output *output)
{
	if (output->fd >= 0)
		sync_file_range(output->fd, 0, 0, SYNC_FILE_RANGE_WRITE);
}

bool trace_output_is_full(int error)
{
	return error == ENOSPC || error == EDQUOT || error == EFBIG;
}

/* Bytes of trace in a compressed file whose end was cut off. */
static uint64_t bytes_left(int fd)
{
	uint8_t bytes[16 * 1024];
	struct ntrace_trace_file *file;
	uint64_t total = 0;
	ssize_t got;

	if (lseek(fd, 0, SEEK_SET) || ntrace_trace_file_open(&file, fd, NTRACE_TRACE_ZSTD))
		return 0;
	while ((got = ntrace_trace_file_read(file, bytes, sizeof(bytes))) > 0)
		total += (uint64_t)got;
	ntrace_trace_file_close(file);
	return total;
}

void trace_output_make_room(struct trace_output *output)
{
	uint64_t cut = output->written / 4;

	if (cut > ROOM_ON_FULL_DISK)
		cut = ROOM_ON_FULL_DISK;
	if (ftruncate(output->fd, (off_t)(output->written - cut)))
		return;
	output->written -= cut;
	output->lost += output->saved;
	output->saved = output->context ? bytes_left(output->fd) : output->written;
	output->lost -= output->saved;
}

int trace_output_close(struct trace_output *output)
{
	int fd = output->fd;

	ZSTD_freeCCtx(output->context);
	free(output->packed);
	output->context = NULL;
	output->packed = NULL;
	output->fd = -1;
	return fd >= 0 && close(fd) ? errno : 0;
}
