// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Trace files, plain and compressed. libzstd itself makes the compressed data. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <zstd.h>

#include <ntrace/error.h>
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

int main(void)
{
	struct outcome outcome;

	scratch_make();
	make_trace();
	pack_trace();
	test_whole();
	test_short();
	test_cut();
	test_damaged();
	test_pipe();
	outcome = read_all(open("/", O_RDONLY | O_CLOEXEC), NTRACE_TRACE_GUESS, 1);
	ok(outcome.opened == NTRACE_ERR_IO && errno == EISDIR, "an unreadable file");
	scratch_remove();
	return done_testing();
}
