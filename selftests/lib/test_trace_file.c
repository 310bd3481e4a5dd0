// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Trace files, plain and compressed. libzstd itself makes the compressed data. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <zstd.h>

#include <ntrace/error.h>
#include <ntrace/frames.h>
#include <ntrace/recording.h>

#include "scratch.h"
#include "tap.h"

#define SIZE 300000

static uint8_t trace[SIZE], packed[2 * SIZE], got[2 * SIZE];
static size_t packed_size, first_frame;

/* Compressible data, but not entirely. */
static void make_trace(void)
{
	uint32_t state = 1;
	size_t i;

	for (i = 0; i < SIZE; i++) {
		state = state * 1664525 + 1013904223;
		trace[i] = (uint8_t)(i % 3 ? i % 251 : state >> 24);
	}
}

/* Two frames, as written by `ntrace record` and `cat a.zst b.zst`. */
static void pack_trace(void)
{
	ZSTD_CCtx *context = ZSTD_createCCtx();

	ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
	first_frame = ZSTD_compress2(context, packed, sizeof(packed), trace, SIZE / 3);
	packed_size = first_frame + ZSTD_compress2(context, packed + first_frame,
						   sizeof(packed) - first_frame, trace + SIZE / 3,
						   SIZE - SIZE / 3);
	ZSTD_freeCCtx(context);
}

static int open_with(const void *data, size_t size)
{
	int fd = open(in("file"), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	if (fd < 0 || write(fd, data, size) != (ssize_t)size || lseek(fd, 0, SEEK_SET))
		exit(1);
	return fd;
}

struct outcome {
	int opened;
	ssize_t last;
	size_t size;
	bool packed;
	bool cut;
};

static struct outcome read_all(int fd, enum ntrace_trace_packing packing, size_t piece)
{
	struct outcome outcome = { 0 };
	struct ntrace_trace_file *file;

	outcome.opened = ntrace_trace_file_open(&file, fd, packing);
	if (outcome.opened)
		return outcome;
	outcome.packed = ntrace_trace_file_packed(file);
	do {
		if (piece > sizeof(got) - outcome.size)
			piece = sizeof(got) - outcome.size;
		outcome.last = ntrace_trace_file_read(file, got + outcome.size, piece);
		if (outcome.last > 0)
			outcome.size += (size_t)outcome.last;
	} while (outcome.last > 0);
	outcome.cut = ntrace_trace_file_cut(file);
	ntrace_trace_file_close(file);
	return outcome;
}

static struct outcome read_bytes(const void *data, size_t size, enum ntrace_trace_packing packing,
				 size_t piece)
{
	int fd = open_with(data, size);
	struct outcome outcome = read_all(fd, packing, piece);

	close(fd);
	return outcome;
}

static bool is_whole(const struct outcome *outcome)
{
	return !outcome->opened && !outcome->last && !outcome->cut && outcome->size == SIZE &&
	       !memcmp(got, trace, SIZE);
}

static void test_whole(void)
{
	static const size_t pieces[] = { 1, 2, 4096, 100000, SIZE };
	struct outcome outcome;
	size_t i;

	for (i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++) {
		outcome = read_bytes(trace, SIZE, NTRACE_TRACE_PLAIN, pieces[i]);
		ok(is_whole(&outcome) && !outcome.packed, "plain, pieces of %zu", pieces[i]);
		outcome = read_bytes(trace, SIZE, NTRACE_TRACE_GUESS, pieces[i]);
		ok(is_whole(&outcome) && !outcome.packed, "guessed plain, pieces of %zu",
		   pieces[i]);
		outcome = read_bytes(packed, packed_size, NTRACE_TRACE_ZSTD, pieces[i]);
		ok(is_whole(&outcome) && outcome.packed, "two frames, pieces of %zu", pieces[i]);
		outcome = read_bytes(packed, packed_size, NTRACE_TRACE_GUESS, pieces[i]);
		ok(is_whole(&outcome) && outcome.packed, "guessed frames, pieces of %zu",
		   pieces[i]);
	}
	outcome = read_bytes(packed, packed_size, NTRACE_TRACE_PLAIN, 4096);
	ok(outcome.size == packed_size && !memcmp(got, packed, packed_size),
	   "a plain trace may begin as a zstd file does");
}

/* Frames that are skipped, as in files of pzstd, and a window that zstd -d refuses without --long. */
static void test_kinds(void)
{
	static const uint8_t skipped[] = { 0x5e, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 'a', 'b', 'c' };
	static uint8_t all[sizeof(packed) + 2 * sizeof(skipped)];
	ZSTD_CCtx *context = ZSTD_createCCtx();
	ZSTD_inBuffer input = { trace, SIZE, 0 };
	ZSTD_outBuffer output = { all, sizeof(all), 0 };
	struct outcome outcome;

	memcpy(all, skipped, sizeof(skipped));
	memcpy(all + sizeof(skipped), packed, packed_size);
	memcpy(all + sizeof(skipped) + packed_size, skipped, sizeof(skipped));
	for (int guess = 0; guess < 2; guess++) {
		outcome = read_bytes(all, packed_size + 2 * sizeof(skipped),
				     guess ? NTRACE_TRACE_GUESS : NTRACE_TRACE_ZSTD, 4096);
		ok(is_whole(&outcome) && outcome.packed, "frames that are skipped%s",
		   guess ? ", guessed" : "");
	}
	/* Without the size of the contents, the window is as large as it says. */
	ZSTD_CCtx_setParameter(context, ZSTD_c_windowLog, 30);
	while (ZSTD_compressStream2(context, &output, &input,
				    input.pos == SIZE ? ZSTD_e_end : ZSTD_e_continue))
		;
	if (input.pos == SIZE)
		ZSTD_compressStream2(context, &output, &input, ZSTD_e_end);
	ZSTD_freeCCtx(context);
	outcome = read_bytes(all, output.pos, NTRACE_TRACE_ZSTD, 4096);
	ok(is_whole(&outcome), "a window of 1 GiB");
}

static void test_short(void)
{
	struct outcome outcome;
	size_t i;

	for (i = 0; i < 4; i++) {
		outcome = read_bytes(packed, i, NTRACE_TRACE_GUESS, 4096);
		ok(!outcome.opened && outcome.size == i && !memcmp(got, packed, i),
		   "%zu bytes are no zstd file", i);
	}
	outcome = read_bytes("", 0, NTRACE_TRACE_ZSTD, 4096);
	ok(!outcome.opened && !outcome.size && !outcome.last && !outcome.cut,
	   "an empty file has no trace");
	outcome = read_bytes(trace, SIZE, NTRACE_TRACE_ZSTD, 4096);
	is_u64((uint64_t)-outcome.opened, (uint64_t)-NTRACE_ERR_FORMAT, "it must be a zstd file");
}

/* Cut at many places: the data before the cut is valid, and the cut is detected. */
static void test_cut(void)
{
	size_t places = 0, good = 0, size;
	struct outcome outcome;

	for (size = 4; size < packed_size; size += packed_size / 97, places++) {
		outcome = read_bytes(packed, size, NTRACE_TRACE_ZSTD, 5000);
		good += !outcome.opened && !outcome.last && outcome.cut && outcome.size <= SIZE &&
			!memcmp(got, trace, outcome.size) &&
			(size < first_frame || outcome.size >= SIZE / 3);
	}
	is_u64(good, places, "cut files");
	outcome = read_bytes(packed, first_frame, NTRACE_TRACE_ZSTD, 5000);
	ok(!outcome.cut && outcome.size == SIZE / 3,
	   "a file that ends with a frame is not truncated");
}

static void test_damaged(void)
{
	size_t places = 0, told = 0, at;
	struct outcome outcome;

	for (at = 20; at + 8 < packed_size; at += packed_size / 89, places++) {
		packed[at] ^= 0x10;
		outcome = read_bytes(packed, packed_size, NTRACE_TRACE_ZSTD, 5000);
		told += outcome.last == NTRACE_ERR_FORMAT || outcome.cut;
		packed[at] ^= 0x10;
	}
	is_u64(told, places, "damage is reported");
	packed[packed_size] = 'x';
	outcome = read_bytes(packed, packed_size + 4, NTRACE_TRACE_ZSTD, 5000);
	ok(outcome.last == NTRACE_ERR_FORMAT && outcome.size == SIZE,
	   "other data after the frames: all frames are read, then an error is reported");
}

/* Bytes arrive one by one; none may wait for the next. */
static void test_pipe(void)
{
	struct ntrace_trace_file *file;
	uint8_t small[10000];
	struct outcome outcome;
	size_t i, small_size;
	int pipes[2];
	pid_t child;

	if (pipe(pipes))
		exit(1);
	child = fork();
	if (!child) {
		for (i = 0; i < packed_size; i++)
			if (write(pipes[1], packed + i, 1) != 1)
				_exit(1);
		_exit(0);
	}
	close(pipes[1]);
	outcome = read_all(pipes[0], NTRACE_TRACE_GUESS, 10000);
	ok(is_whole(&outcome), "through a pipe, byte by byte");
	waitpid(child, NULL, 0);
	close(pipes[0]);

	/* Less than the capacity of a pipe. */
	small_size = ZSTD_compress(small, sizeof(small), trace, 5000, 1);
	if (pipe(pipes) || write(pipes[1], small, small_size) != (ssize_t)small_size)
		exit(1);
	if (!ntrace_trace_file_open(&file, pipes[0], NTRACE_TRACE_ZSTD)) {
		size_t size = 0;

		alarm(20);
		while (size < 5000)
			size += (size_t)ntrace_trace_file_read(file, got + size,
							       sizeof(got) - size);
		alarm(0);
		ok(size == 5000, "available bytes are returned before more arrive");
		ntrace_trace_file_close(file);
	}
	close(pipes[0]);
	close(pipes[1]);
}

/* ---- frames ---- */

static uint8_t frames[2 * SIZE];
static size_t frames_size;

static void put(struct ntrace_frames_writer *writer, unsigned int source, const void *bytes,
		size_t size)
{
	size_t written;

	ntrace_frames_write(writer, source, bytes, size, frames + frames_size, &written);
	frames_size += written;
}

/* Reads @source of the frames, at most @piece bytes at a time. */
static struct outcome read_source(int fd, unsigned int source, size_t piece, uint64_t *offset)
{
	struct outcome outcome = { 0 };
	struct ntrace_trace_file *file;

	outcome.opened = ntrace_trace_file_open(&file, fd, NTRACE_TRACE_GUESS);
	if (!outcome.opened)
		outcome.opened = ntrace_trace_file_unframe(file, source);
	do {
		outcome.last = ntrace_trace_file_read(file, got + outcome.size, piece);
		if (outcome.last > 0)
			outcome.size += (size_t)outcome.last;
	} while (outcome.last > 0);
	*offset = ntrace_trace_file_offset(file);
	ntrace_trace_file_close(file);
	return outcome;
}

static void test_frames(void)
{
	static const size_t pieces[] = { 1, 7, 16384, SIZE };
	struct ntrace_frames_writer writer;
	struct ntrace_trace_file *file;
	uint64_t offset = 0;
	size_t i, part;
	int fd;

	/* Two sources take turns; the second one has each byte inverted. */
	ntrace_frames_writer_init(&writer);
	for (i = 0; i < SIZE / 2; i += part) {
		uint8_t inverted[100];
		size_t k;

		part = 1 + i * 31 % 97;
		if (part > SIZE / 2 - i)
			part = SIZE / 2 - i;
		for (k = 0; k < part; k++)
			inverted[k] = (uint8_t)~trace[i + k];
		put(&writer, 1, trace + i, part);
		put(&writer, 0x6f, inverted, part);
	}
	frames_size += ntrace_frames_flush(&writer, frames + frames_size);
	fd = open_with(frames, frames_size);
	for (i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++) {
		struct outcome outcome;
		bool good;

		lseek(fd, 0, SEEK_SET);
		outcome = read_source(fd, 1, pieces[i], &offset);
		good = outcome.size == SIZE / 2 && !memcmp(got, trace, SIZE / 2);
		lseek(fd, 0, SEEK_SET);
		outcome = read_source(fd, 0x6f, pieces[i], &offset);
		good &= outcome.size == SIZE / 2 && (got[0] ^ trace[0]) == 0xff &&
			(got[SIZE / 2 - 1] ^ trace[SIZE / 2 - 1]) == 0xff;
		ok(good, "frames of two sources, in pieces of %zu bytes: the bytes of each",
		   pieces[i]);
		is_u64(offset, frames_size, "the offset counts whole frames");
	}
	lseek(fd, 0, SEEK_SET);
	is_u64(read_source(fd, 2, 100, &offset).size, 0, "another source: no bytes");
	lseek(fd, 0, SEEK_SET);
	ok(!ntrace_trace_file_open(&file, fd, NTRACE_TRACE_PLAIN) &&
		   ntrace_trace_file_unframe(file, 0) == NTRACE_ERR_INVALID &&
		   ntrace_trace_file_unframe(file, 0x70) == NTRACE_ERR_INVALID,
	   "IDs of padding and reserved ones are refused");
	ntrace_trace_file_close(file);
	close(fd);
}

/* Missing trace is one byte that no message has. */
static void test_frame_gaps(void)
{
	static const uint8_t expected[] = { 'a', 'b', 0x02, 'c', 0x02 };
	struct ntrace_frames_writer writer;
	uint64_t offset;
	int fd;

	frames_size = 0;
	ntrace_frames_writer_init(&writer);
	put(&writer, 5, "ab", 2);
	frames_size += ntrace_frames_barrier(&writer, frames + frames_size);
	frames_size += ntrace_frames_barrier(&writer, frames + frames_size);
	put(&writer, 5, "c", 1);
	frames_size += ntrace_frames_flush(&writer, frames + frames_size);
	fd = open_with(frames, frames_size + 3);
	ok(read_source(fd, 5, 100, &offset).size == sizeof(expected) &&
		   !memcmp(got, expected, sizeof(expected)),
	   "a barrier, however long, and an incomplete frame at the end");
	close(fd);
	/* Frames from the middle of a trace: the first bytes have no ID. */
	fd = open_with("\x10\x11\x10\x11\x10\x11\x10\x11\x10\x11\x10\x11\x10\x11\x0b\x00"
		       "\x10\x15\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00",
		       32);
	ok(read_source(fd, 5, 100, &offset).size == 3 && !memcmp(got, "\x02\x10\x15", 3),
	   "bytes before the first ID are missing");
	close(fd);
}

int main(void)
{
	struct outcome outcome;

	scratch_make();
	make_trace();
	pack_trace();
	test_whole();
	test_kinds();
	test_short();
	test_cut();
	test_damaged();
	test_pipe();
	test_frames();
	test_frame_gaps();
	outcome = read_all(open("/", O_RDONLY | O_CLOEXEC), NTRACE_TRACE_GUESS, 1);
	ok(outcome.opened == NTRACE_ERR_IO && errno == EISDIR, "an unreadable file");
	scratch_remove();
	return done_testing();
}
