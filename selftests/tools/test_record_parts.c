// SPDX-License-Identifier: GPL-2.0-only
/*
 * Parts of `ntrace record` that need no trace hardware: sets of CPUs, the directory of a recording,
 * --filter and --traps, trace files, the memory in front of them, parameters by the hardware.
 * selftests/tools/guest/record.sh records with all of them.
 */
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include <ntrace/recording.h>

#include "common/command.h"
#include "record/cpus.h"
#include "record/directory.h"
#include "record/filter.h"
#include "record/options.h"
#include "record/params.h"
#include "record/spool.h"
#include "record/stream_params.h"
#include "record/trace_output.h"

#include "scratch.h"
#include "tap.h"

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

static const struct command command = { .name = "record" };

/* ---- what a function reports ---- */

static int stderr_before;

static void listen(void)
{
	int fd = open(in("stderr"), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	fflush(stderr);
	stderr_before = dup(STDERR_FILENO);
	dup2(fd, STDERR_FILENO);
	close(fd);
}

/* Return: what was written to stderr since listen(). */
static const char *heard(void)
{
	static char text[1024];
	FILE *file = fopen(in("stderr"), "re");
	size_t size = fread(text, 1, sizeof(text) - 1, file);

	text[size] = '\0';
	fclose(file);
	fflush(stderr);
	dup2(stderr_before, STDERR_FILENO);
	close(stderr_before);
	return text;
}

/* ---- CPUs ---- */

static void test_cpus(void)
{
	static const struct {
		const char *text;
		uint64_t bits[2];
	} good[] = {
		{ "", { 0 } },
		{ "0", { 1 } },
		{ "0-3", { 15 } },
		{ "1,3-4,70", { 0x1a, 1 << 6 } },
		{ "63-64", { UINT64_C(1) << 63, 1 } },
		{ "5-5,5", { 32 } },
	};
	static const char *const bad[] = { "-1",   "1-",  "3-1", "1,,2", "1,",
					   "1 ,2", "x",	  "1x", "0-x", "1--2" };
	struct cpu_mask set;
	char text[64];

	for (size_t i = 0; i < LENGTH(good); i++)
		ok(cpu_mask_parse(&set, good[i].text) && set.bits[0] == good[i].bits[0] &&
			   set.bits[1] == good[i].bits[1],
		   "CPUs: \"%s\"", good[i].text);
	for (size_t i = 0; i < LENGTH(bad); i++)
		ok(!cpu_mask_parse(&set, bad[i]), "no CPUs: \"%s\"", bad[i]);
	ok(cpu_mask_parse(&set, "2\n") && set.bits[0] == 4, "CPUs: a line of sysfs");
	snprintf(text, sizeof(text), "0-%u", CPUS_MAX - 1);
	ok(cpu_mask_parse(&set, text) && set.bits[CPUS_MAX / 64 - 1] == UINT64_MAX,
	   "CPUs: all of them");
	snprintf(text, sizeof(text), "%u", CPUS_MAX);
	ok(!cpu_mask_parse(&set, text), "no CPUs: one more");
	ok(cpu_mask_online(&set) && set.bits[0], "CPUs: those that are online");
}

/* ---- directory ---- */

static bool exists(const char *name)
{
	return !access(in(name), F_OK);
}

static void put_file(const char *name, const char *text)
{
	FILE *file = fopen(in(name), "we");

	fputs(text, file);
	fclose(file);
}

static void test_directory(void)
{
	bool kept;

	ok(!recording_make(in("rec"), &kept) && exists("rec") && !kept, "directory: a new one");
	put_file("rec/params", "1");
	put_file("rec/aux.0", "1");
	mkdir(in("rec/images"), 0700);
	put_file("rec/images/0-vmlinux", "1");
	ok(!recording_make(in("rec"), &kept) && exists("rec.old/params") && !exists("rec/params"),
	   "directory: an older recording gets another name");
	put_file("rec/data", "2");
	ok(!recording_make(in("rec"), &kept) && exists("rec.old/data") &&
		   !exists("rec.old/params") && !exists("rec.old/images/0-vmlinux"),
	   "directory: the one before it is removed");

	put_file("rec/data", "2");
	put_file("rec/index", "2");
	put_file("rec/params.unfinished-aB3dE6", "2");
	mkdir(in("rec/archive"), 0700);
	mkdir(in("rec/archive/usr"), 0700);
	put_file("rec/archive/usr/program", "2");
	ok(!recording_make(in("rec"), &kept) && exists("rec.old/archive/usr/program"),
	   "directory: one with an index and an archive");
	put_file("rec/data", "3");
	ok(!recording_make(in("rec"), &kept) && !exists("rec.old/archive") &&
		   !exists("rec.old/index"),
	   "directory: index and archive are removed with it");

	put_file("rec/data", "4");
	ok(!recording_make(in("rec/"), &kept) && exists("rec.old/data") && !exists("rec/.old"),
	   "directory: a slash behind the name");
	recording_discard(in("rec/"), kept);
	ok(kept && exists("rec/data") && !exists("rec.old"),
	   "directory: what fails gives an older recording its name back");
	recording_make(in("rec"), &kept);
	put_file("rec/notes", "mine");
	recording_discard(in("rec"), kept);
	ok(exists("rec/notes") && exists("rec.old/data"),
	   "directory: unless a foreign file has it now");
	unlink(in("rec/notes"));

	put_file("rec/data", "3");
	put_file("rec.old/data", "3");
	put_file("rec.old/notes", "mine");
	listen();
	is_u64(recording_make(in("rec"), &kept), EXIT_FAILED,
	       "directory: foreign files in the older one stay");
	ok(strstr(heard(), "rec: cannot become ") && exists("rec.old/notes") &&
		   exists("rec.old/data"),
	   "directory: and it says why");
	run("rm -r %s", in("rec.old"));

	put_file("rec/notes", "mine");
	listen();
	is_u64(recording_make(in("rec"), &kept), EXIT_FAILED, "directory: a foreign file");
	ok(strstr(heard(), "rec: exists and is not a recording"), "directory: not a recording");
	recording_discard(in("rec"), false);
	ok(exists("rec/notes") && !exists("rec/data"), "directory: a foreign file stays");
	unlink(in("rec/notes"));
	listen();
	is_u64(recording_make(in("rec"), &kept), EXIT_FAILED,
	       "directory: an empty one is no recording");
	ok(strstr(heard(), "rec: exists and is not a recording"), "directory: it says so");
	recording_discard(in("rec"), false);
	ok(!exists("rec"), "directory: removed");
	put_file("rec", "a file");
	listen();
	is_u64(recording_make(in("rec"), &kept), EXIT_FAILED, "directory: a file");
	ok(strstr(heard(), "rec: exists and is not a recording"), "directory: no directory");
	unlink(in("rec"));
	listen();
	is_u64(recording_make(in("no/rec"), &kept), EXIT_FAILED, "directory: nowhere");
	ok(strstr(heard(), "no/rec: No such file or directory"), "directory: says where");
}

static void test_reserve(void)
{
	struct stat status;
	bool kept;

	recording_make(in("rec"), &kept);
	ok(!recording_reserve(in("rec")) && !stat(in("rec/room"), &status) &&
		   status.st_blocks * 512 >= 256 << 10,
	   "directory: room for what is written last");
	recording_release(in("rec"));
	ok(!exists("rec/room"), "directory: the room is free again");
	listen();
	is_u64(recording_reserve(in("no")), EXIT_FAILED, "directory: no room");
	ok(strstr(heard(), "no/room: No such file or directory"), "directory: says where");
	recording_discard(in("rec"), false);
}

/* ---- filters ---- */

/* A function of this program, whose place in the file the loader knows. */
__attribute__((__noinline__)) void to_be_found(void);

__attribute__((__noinline__)) void to_be_found(void)
{
	__asm__ volatile("");
}

static int find_program(struct dl_phdr_info *info, size_t size, void *data)
{
	uintptr_t at = (uintptr_t)to_be_found - info->dlpi_addr;
	uint64_t *offset = data;

	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];

		if (segment->p_type == PT_LOAD && at >= segment->p_vaddr &&
		    at - segment->p_vaddr < segment->p_filesz) {
			*offset = segment->p_offset + (at - segment->p_vaddr);
			return 1;
		}
	}
	return 0;
}

/* The filter that an option makes; NULL if it is refused with @message. */
static void filtered(const char *value, const char *filter, const char *message)
{
	struct record_options options = { .command = &command };
	int error;

	listen();
	error = record_filter_take(&options, value);
	if (message)
		ok(error && !options.filter && strstr(heard(), message),
		   "--filter '%s' is refused: %s", value, message);
	else
		ok(!error && !*heard() && options.filter && !strcmp(options.filter, filter),
		   "--filter '%s': %s", value, options.filter ? options.filter : "none");
	free(options.filter);
}

static void test_filter_files(void)
{
	char path[512], value[1024], filter[1024];
	uint64_t offset = 0, found = 0;
	struct stat status;

	if (!realpath("/proc/self/exe", path) || stat(path, &status))
		ok(false, "filter: this program");
	dl_iterate_phdr(find_program, &offset);
	ok(!record_filter_find(path, "to_be_found", &found) && found == offset && offset,
	   "filter: the place of a function in a file");
	snprintf(value, sizeof(value), "*@%s", path);
	snprintf(filter, sizeof(filter), "filter 0x0/0x%llx@%s", (unsigned long long)status.st_size,
		 path);
	filtered(value, filter, NULL);
	snprintf(value, sizeof(value), " filter  0x10/0x20 @ %s ", path);
	snprintf(filter, sizeof(filter), "filter 0x10/0x20@%s", path);
	filtered(value, filter, NULL);
	snprintf(value, sizeof(value), "16/32@%s", path);
	filtered(value, filter, NULL);
	for (const char *const *bad =
		     (const char *const[]){ "0x10/0", "0x10", "0x10/x", "0x10/-1", "-1/5", "5:6",
					    "0xffffffffffffffff/2", "0x1ffffffffffffffff/2",
					    "missing", "dlopen", "LENGTH", NULL };
	     *bad; bad++) {
		snprintf(value, sizeof(value), "%s@%s", *bad, path);
		snprintf(filter, sizeof(filter), "no function '%s' with a size", *bad);
		filtered(value, NULL, filter);
	}
	filtered("", NULL, "is not one of FUNCTION@FILE");
	filtered("main@", NULL, "is not one of FUNCTION@FILE");
	filtered(" @/bin/sh", NULL, "is not one of FUNCTION@FILE");
	filtered("main@/no/file", NULL, "/no/file: No such file");
	filtered("main@/", NULL, "no file that perf can filter by");
	filtered("main@/dev/null", NULL, "no file that perf can filter by");
	put_file("empty", "");
	put_file("a,b", "1");
	put_file("text", "no program");
	snprintf(value, sizeof(value), "*@%s", in("empty"));
	filtered(value, NULL, "no file that perf can filter by");
	snprintf(value, sizeof(value), "*@%s", in("a,b"));
	filtered(value, NULL, "no file that perf can filter by");
	snprintf(value, sizeof(value), "main@%s", in("text"));
	filtered(value, NULL, "text: no function 'main' with a size");
}

static void test_filter_addresses(void)
{
	struct record_options options = { .command = &command };
	char text[256] = "";

	filtered("0x1000/0x200", "filter 0x1000/0x200", NULL);
	filtered("4096/1", "filter 0x1000/0x1", NULL);
	filtered("0xffffffffffffff00/0x100", "filter 0xffffffffffffff00/0x100", NULL);
	for (unsigned int i = 0; i < NTRACE_RANGES_MAX; i++) {
		snprintf(text, sizeof(text), "0x%x000/0x%x0", i + 1, i + 1);
		ok(!record_filter_take(&options, text), "--filter, number %u", i + 1);
		ok(options.wanted.range_count == i + 1 &&
			   options.wanted.ranges[i].start == 0x1000u * (i + 1) &&
			   options.wanted.ranges[i].end == 0x1010u * (i + 1) - 1,
		   "its range");
	}
	snprintf(text, sizeof(text), "filter 0x1000/0x10,filter 0x2000/0x20");
	ok(!strncmp(options.filter, text, strlen(text)) && !options.filter_files,
	   "filters follow each other");
	listen();
	ok(record_filter_take(&options, "0x1000/0x10"), "one --filter more");
	snprintf(text, sizeof(text), "option --filter: more than %u", NTRACE_RANGES_MAX);
	ok(strstr(heard(), text), "is refused");
	free(options.filter);
}

static void test_traps(void)
{
	static const struct {
		const char *text;
		uint32_t kind;
		uint64_t causes;
	} good[] = {
		{ "exceptions", NTRACE_TRAPS_EXCEPTIONS, 0 },
		{ "interrupts:5", NTRACE_TRAPS_INTERRUPTS, 32 },
		{ "exceptions:12,13,0xf", NTRACE_TRAPS_EXCEPTIONS, 0xb000 },
		{ "interrupts:0,63", NTRACE_TRAPS_INTERRUPTS, UINT64_C(1) << 63 | 1 },
	};
	static const char *const bad[] = { "exceptions:",    "exceptions:64", "exceptions:1,",
					   "exceptions:,1",  "exceptions:-1", "exceptions: 1",
					   "exceptions:1;2", "interrupts:x" };

	for (size_t i = 0; i < LENGTH(good); i++) {
		struct record_options options = { .command = &command };

		ok(!record_filter_take_traps(&options, good[i].text) &&
			   options.wanted.traps == good[i].kind &&
			   options.wanted.causes == good[i].causes,
		   "--traps %s", good[i].text);
	}
	for (size_t i = 0; i < LENGTH(bad) + 2; i++) {
		struct record_options options = { .command = &command };
		const char *text = i < LENGTH(bad) ? bad[i] : i == LENGTH(bad) ? "exception" : "";
		int error;

		listen();
		error = record_filter_take_traps(&options, text);
		ok(strstr(heard(), i < LENGTH(bad) ? "is not a list of causes up to 63" :
						     "is neither exceptions nor interrupts") &&
			   error,
		   "--traps '%s' is refused", text);
	}
}

/* ---- trace files ---- */

#define FRAME (16u << 20)
#define PIECE (3u << 20)

/* Bytes that the compressor can hardly shorten. */
static uint8_t *make_noise(size_t size)
{
	uint8_t *bytes = malloc(size);
	uint64_t state = 1;

	for (size_t i = 0; i < size; i++) {
		state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
		bytes[i] = (uint8_t)(state >> 56);
	}
	return bytes;
}

static size_t read_file(const char *path, uint8_t *bytes, size_t room)
{
	FILE *file = fopen(path, "re");
	size_t size = fread(bytes, 1, room, file);

	fclose(file);
	return size;
}

/* Decompresses what is there, also of an incomplete frame. Return: number of bytes. */
static size_t unpack(const uint8_t *bytes, size_t size, uint8_t *out, size_t room)
{
	ZSTD_inBuffer source = { .src = bytes, .size = size };
	ZSTD_outBuffer to = { .dst = out, .size = room };
	ZSTD_DCtx *context = ZSTD_createDCtx();
	size_t before;

	do {
		before = to.pos + source.pos;
		if (ZSTD_isError(ZSTD_decompressStream(context, &to, &source)))
			break;
	} while (before != to.pos + source.pos);
	ZSTD_freeDCtx(context);
	return to.pos;
}

static void test_plain_output(void)
{
	struct trace_output output;
	uint8_t bytes[4000], back[5000];

	memset(bytes, 7, sizeof(bytes));
	ok(!trace_output_open(&output, directory, 3, 0) && !strcmp(output.name, "aux.3"),
	   "output: a plain file");
	ok(!trace_output_write(&output, bytes, 4000) && output.saved == 4000 &&
		   output.written == 4000,
	   "output: written");
	ok(!trace_output_end(&output) && read_file(in("aux.3"), back, sizeof(back)) == 4000 &&
		   !memcmp(bytes, back, 4000),
	   "output: the same bytes");
	trace_output_make_room(&output);
	is_u64(output.saved, 3000, "output: a quarter makes room");
	is_u64(read_file(in("aux.3"), back, sizeof(back)), 3000, "output: and is cut off");
	ok(!trace_output_close(&output) && !trace_output_close(&output), "output: closed");
	listen();
	is_u64(trace_output_open(&output, in("no"), 0, 0), EXIT_FAILED, "output: nowhere");
	ok(strstr(heard(), "no/aux.0: No such file or directory"), "output: says where");
}

static void test_packed_output(void)
{
	size_t size = FRAME + FRAME / 2, whole, first;
	uint8_t *bytes = make_noise(size), *packed = malloc(2 * size), *back = malloc(2 * size);
	struct trace_output output;

	ok(!trace_output_open(&output, directory, 0, 1) && !strcmp(output.name, "aux.0.zst"),
	   "output: a packed file");
	ok(!trace_output_write(&output, bytes, 1000), "output: the first bytes");
	whole = read_file(in(output.name), packed, 2 * size);
	is_u64(unpack(packed, whole, back, 2 * size), 1000, "output: can be read at once");
	for (size_t at = 1000; at < size; at += PIECE)
		if (trace_output_write(&output, bytes + at, size - at < PIECE ? size - at : PIECE))
			ok(false, "output: more bytes");
	ok(!trace_output_end(&output) && output.saved == size, "output: all bytes");
	whole = read_file(in(output.name), packed, 2 * size);
	is_u64(whole, output.written, "output: the size of the file");
	first = ZSTD_findFrameCompressedSize(packed, whole);
	ok(!ZSTD_isError(first) && first > FRAME && first < whole &&
		   !ZSTD_isError(ZSTD_findFrameCompressedSize(packed + first, whole - first)) &&
		   first + ZSTD_findFrameCompressedSize(packed + first, whole - first) == whole,
	   "output: two whole frames");
	ok(ZSTD_decompress(back, 2 * size, packed, whole) == size && !memcmp(bytes, back, size),
	   "output: libzstd gets the same bytes");
	trace_output_make_room(&output);
	whole = read_file(in(output.name), packed, 2 * size);
	ok(output.saved == unpack(packed, whole, back, 2 * size) && output.saved < size &&
		   output.saved > size / 2 && whole == output.written,
	   "output: it knows what remains after a cut");
	trace_output_close(&output);
	free(bytes);
	free(packed);
	free(back);
}

/* ---- memory in front of the file ---- */

/* @size: at most; 0: as much as before */
static void limit_files(rlim_t size)
{
	struct rlimit limit;

	getrlimit(RLIMIT_FSIZE, &limit);
	limit.rlim_cur = size ? size : limit.rlim_max;
	setrlimit(RLIMIT_FSIZE, &limit);
}

/* Size of the address space in pages. */
static long pages(void)
{
	FILE *file = fopen("/proc/self/statm", "re");
	long size = 0;

	ok(fscanf(file, "%ld", &size) == 1, "spool: size of the address space");
	fclose(file);
	return size;
}

/* A disk that is full in the middle of the second piece. */
static void test_full_output(unsigned int level)
{
	uint8_t *bytes = make_noise(3 * PIECE);
	struct trace_output output;
	bool full;
	int error;

	ok(!trace_output_open(&output, directory, 2, level), "full: level %u", level);
	limit_files(PIECE + PIECE / 2);
	ok(!trace_output_write(&output, bytes, PIECE), "full: the first piece");
	error = trace_output_write(&output, bytes + PIECE, PIECE);
	full = trace_output_is_full(error) && !trace_output_is_full(EIO);
	limit_files(0);
	ok(full, "full: says so");
	is_u64((uint64_t)trace_output_write(&output, bytes, PIECE), (uint64_t)error,
	       "full: nothing after a gap, though there is room now");
	is_u64(output.saved + output.lost, 3 * PIECE, "full: what is not saved is lost");
	trace_output_make_room(&output);
	ok(output.saved && output.saved < PIECE + PIECE / 2, "full: the rest makes room");
	is_u64(output.saved + output.lost, 3 * PIECE, "full: and is lost");
	trace_output_close(&output);
	free(bytes);
}

#define SPOOL_NOISE ((size_t)20 << 20)
static uint8_t *spool_noise;

static void test_spool(void)
{
	size_t size = 20 << 20;
	uint8_t *bytes = make_noise(size), *back = malloc(size + 1);
	struct trace_output output;
	struct spool spool;
	uint64_t most = 0;
	long before = pages();

	ok(spool_memory() > 1 << 20, "spool: memory");
	trace_output_open(&output, directory, 1, 0);
	spool_init(&spool, &output, 9 << 20);
	for (size_t at = 0; at < size; at += PIECE) {
		if (spool_add(&spool, bytes + at, size - at < PIECE ? size - at : PIECE))
			ok(false, "spool: a piece");
		if (spool.held > most)
			most = spool.held;
	}
	ok(most == 8 << 20 && output.written == size - most, "spool: holds what it may");
	ok(!spool_flush(&spool) && !spool.held && output.saved == size, "spool: written");
	ok(read_file(in("aux.1"), back, size + 1) == size && !memcmp(bytes, back, size),
	   "spool: in order");
	trace_output_close(&output);
	ok((pages() - before) * sysconf(_SC_PAGESIZE) < 4 << 20, "spool: its memory is free again");

	/* One chunk is always there. */
	trace_output_open(&output, directory, 1, 0);
	spool_init(&spool, &output, 0);
	ok(!spool_add(&spool, bytes, 5 << 20) && output.written == 4 << 20,
	   "spool: without memory it keeps one chunk");
	ok(!spool_flush(&spool) && output.written == 5 << 20, "spool: and the rest");
	trace_output_close(&output);

	trace_output_open(&output, directory, 1, 0);
	limit_files(6 << 20);
	spool_init(&spool, &output, 4 << 20);
	is_u64(spool_add(&spool, bytes, size), EFBIG, "spool: an error of the file");
	limit_files(0);
	ok(output.written == 6 << 20 && output.saved == output.written,
	   "spool: what was written before");
	is_u64(spool_flush(&spool), EFBIG, "spool: the first error");
	is_u64(output.written, 6 << 20, "spool: nothing follows a gap");
	trace_output_close(&output);
	free(bytes);
	free(back);
}

/* Adds in pieces of changing sizes. */
static void *add_all(void *data)
{
	struct spool *spool = data;
	const uint8_t *bytes = spool_noise;
	size_t part;

	for (size_t at = 0, n = 1; at < SPOOL_NOISE; at += part, n = n * 5 + 3) {
		part = n % PIECE + 1;
		if (part > SPOOL_NOISE - at)
			part = SPOOL_NOISE - at;
		if (spool_add(spool, bytes + at, part))
			return spool;
	}
	return NULL;
}

static void test_spool_ahead(void)
{
	uint8_t *back = malloc(SPOOL_NOISE + 1);
	struct trace_output output;
	struct spool spool;
	uint64_t before;
	pthread_t adder;
	void *failed;

	spool_noise = make_noise(SPOOL_NOISE);
	trace_output_open(&output, directory, 1, 0);
	spool_init(&spool, &output, 64 << 20);
	ok(!spool_write_ahead(&spool, 100, 100) && !output.written, "ahead: nothing is there");
	spool_add(&spool, spool_noise, 9 << 20);
	is_u64(spool_added(&spool), 9 << 20, "ahead: bytes that were added");
	ok(!spool_write_ahead(&spool, 1000, 300) && output.written == 300,
	   "ahead: at most so much");
	ok(!spool_write_ahead(&spool, 1000, 5000) && output.written == 1000,
	   "ahead: no trace after the mark");
	ok(!spool_write_ahead(&spool, 500, 5000) && output.written == 1000,
	   "ahead: an earlier mark");
	ok(!spool_write_ahead(&spool, 9 << 20, 9 << 20) && output.written == 9 << 20,
	   "ahead: over chunks");
	ok(read_file(in("aux.1"), back, SPOOL_NOISE) == 9 << 20 &&
		   !memcmp(spool_noise, back, 9 << 20),
	   "ahead: in order, in the file at once");
	before = spool.held;
	spool_add(&spool, spool_noise + (9 << 20), 8 << 20);
	is_u64(spool.held, before, "ahead: memory of what was written is used again");
	ok(!spool_flush(&spool) && output.saved == 17 << 20, "ahead: the rest at the end");
	ok(read_file(in("aux.1"), back, SPOOL_NOISE) == 17 << 20 &&
		   !memcmp(spool_noise, back, 17 << 20),
	   "ahead: in order");
	trace_output_close(&output);

	/* The limit is too small for all: both threads write. */
	for (unsigned int limit = 0; limit <= 16; limit += 8) {
		trace_output_open(&output, directory, 1, 0);
		spool_init(&spool, &output, (uint64_t)limit << 20);
		pthread_create(&adder, NULL, add_all, &spool);
		while (spool_added(&spool) < SPOOL_NOISE) {
			before = spool_added(&spool);
			spool_write_ahead(&spool, before, 1 << 20);
		}
		pthread_join(adder, &failed);
		ok(!failed && spool.held <= (limit ? limit << 20 : 4 << 20) &&
			   !spool_flush(&spool) &&
			   read_file(in("aux.1"), back, SPOOL_NOISE + 1) == SPOOL_NOISE &&
			   !memcmp(spool_noise, back, SPOOL_NOISE),
		   "ahead: two threads, %u MiB of memory", limit);
		trace_output_close(&output);
	}

	trace_output_open(&output, directory, 1, 0);
	limit_files(1 << 20);
	spool_init(&spool, &output, 64 << 20);
	spool_add(&spool, spool_noise, 2 << 20);
	is_u64((uint64_t)spool_write_ahead(&spool, 2 << 20, 2 << 20), EFBIG,
	       "ahead: an error of the file");
	limit_files(0);
	is_u64((uint64_t)spool_add(&spool, spool_noise, 5 << 20), EFBIG,
	       "ahead: the other thread learns it");
	is_u64((uint64_t)spool_flush(&spool), EFBIG, "ahead: and the end");
	is_u64(output.written, 1 << 20, "ahead: nothing follows a gap");
	trace_output_close(&output);
	free(spool_noise);
	free(back);
}

/* ---- parameters ---- */

static void test_params(void)
{
	struct ntrace_config config = { .timestamps = 0, .timestamp_prescale = 2 };
	struct ntrace_params params;

	ntrace_params_init(&params);
	stream_params_timestamps(&params, &config, 40, 1600);
	ok(!params.timestamp_bits && !params.timestamp_hz, "parameters: no timestamps");
	config.timestamps = NTRACE_TIMESTAMPS_SYSTEM;
	stream_params_timestamps(&params, &config, 40, 1600);
	ok(params.timestamp_bits == 40 && params.timestamp_hz == 100,
	   "parameters: width and rate of the timestamps");
	stream_params_version(&params, 1);
	ok(!params.dialect && !params.timestamp_delta, "parameters: a ratified encoder");
	stream_params_version(&params, 0);
	ok(params.dialect == NTRACE_DIALECT_SIFIVE_V0 &&
		   params.timestamp_delta == NTRACE_TIME_DELTA_XOR,
	   "parameters: an encoder of SiFive");
}

/* The sources of --timestamps any, from the best to the worst, as in ntrace-record(1). */
static void test_timestamps_any(void)
{
	static const uint32_t order[] = { NTRACE_TIMESTAMPS_SHARED, NTRACE_TIMESTAMPS_EXTERNAL,
					  NTRACE_TIMESTAMPS_SYSTEM, NTRACE_TIMESTAMPS_CORE };
	struct ntrace_config config;
	uint32_t modes = 0;

	for (unsigned int i = 0; i < LENGTH(order); i++)
		modes |= 1u << order[i];
	for (unsigned int i = 0; i < LENGTH(order); i++) {
		config.timestamps = RECORD_TIMESTAMPS_ANY;
		record_options_timestamps(modes, &config);
		ok(config.timestamps == order[i], "--timestamps any: source %u of 0x%x", order[i],
		   modes);
		modes &= ~(1u << order[i]);
	}
	config.timestamps = RECORD_TIMESTAMPS_ANY;
	record_options_timestamps(0, &config);
	ok(config.timestamps == RECORD_TIMESTAMPS_ANY, "--timestamps any: no source");
	config.timestamps = NTRACE_TIMESTAMPS_CORE;
	record_options_timestamps(1u << NTRACE_TIMESTAMPS_SHARED, &config);
	ok(config.timestamps == NTRACE_TIMESTAMPS_CORE, "a source by name is kept");
}

/* ---- losses ---- */

/* Every kind of loss, of a CPU and of tasks: one sentence says it, and nothing is not lost. */
static void test_losses(void)
{
	static const struct {
		const char *what, *says;
		uint64_t lost;
		uint32_t loss, gaps;
	} table[] = {
		{ "nothing", "", 0, 0, 0 },
		{ "bytes", "CPU 3: 7 bytes of trace lost while recording\n", 7, 0, 0 },
		{ "a gap", "CPU 3: trace lost while recording, in 1 place\n", 0, 0, 1 },
		{ "lapped",
		  "CPU 3: at least 7 bytes of trace lost while recording, in 2 places: the sink "
		  "overwrote trace before the kernel copied it (larger: --sink-size)\n",
		  7, NTRACE_LOSS_LAPPED, 2 },
		{ "data area",
		  "CPU 3: 7 bytes of trace lost while recording, in 1 place: the recorder was too "
		  "slow, the data area was full (larger: --data-size)\n",
		  7, NTRACE_LOSS_DATA_FULL, 1 },
		{ "encoder", "CPU 3: trace lost while recording: the encoder overflowed\n", 0,
		  NTRACE_LOSS_ENCODER, 0 },
		{ "sink", "CPU 3: trace lost while recording: the sink was full\n", 0,
		  NTRACE_LOSS_SINK_FULL, 0 },
		{ "debugger", "CPU 3: trace lost while recording: a debugger took the encoder\n",
		  0, NTRACE_LOSS_DEBUGGER, 0 },
	}, of_tasks[] = {
		{ "nothing", "", 0, 0, 0 },
		{ "a gap", "CPU 3: trace lost while recording, in 1 place\n", 0, 0, 1 },
		{ "AUX area",
		  "CPU 3: trace lost while recording, in 2 places: the recorder was too slow, the "
		  "AUX area was full (larger: --aux-size)\n",
		  0, NTRACE_LOSS_DATA_FULL, 2 },
		{ "task switch",
		  "CPU 3: trace lost while recording, in 1 place: a task was switched out before "
		  "the kernel had copied its trace\n",
		  0, NTRACE_LOSS_SWITCH, 1 },
		{ "lapped and overflowed",
		  "CPU 3: trace lost while recording, in 1 place: the sink overwrote trace before "
		  "the kernel copied it; the encoder overflowed\n",
		  0, NTRACE_LOSS_LAPPED | NTRACE_LOSS_ENCODER, 1 },
		{ "shared sink",
		  "CPU 3: trace lost while recording, in 1 place: the end of a task's trace was "
		  "held back in a sink that CPUs share\n",
		  0, NTRACE_LOSS_SHARED, 1 },
	};
	struct device device = { .info = { .cpu = 3 } };
	struct device_list list = { &device, 1 }, none = { 0 };
	struct task_area area = { .cpu = 3, .id = 9 };
	struct task_file file = { 0 };
	const struct tasks no_tasks = { 0 }, tasks = {
		.areas = &area, .area_count = 1, .files = &file, .file_count = 1
	};
	const char *said;
	bool any;
	size_t i;

	for (i = 0; i < LENGTH(table); i++) {
		device.lost = table[i].lost;
		device.loss = table[i].loss;
		device.gaps = table[i].gaps;
		listen();
		any = record_params_losses(&list, &no_tasks);
		said = heard();
		ok(any == !!*table[i].says, "a CPU, %s: lossy or not", table[i].what);
		ok(!strcmp(*said ? strstr(said, "CPU") : "", table[i].says), "a CPU, %s: in words",
		   table[i].what);
	}
	for (i = 0; i < LENGTH(of_tasks); i++) {
		file.loss = of_tasks[i].loss;
		file.gaps = of_tasks[i].gaps;
		listen();
		any = record_params_losses(&none, &tasks);
		said = heard();
		ok(any == !!*of_tasks[i].says, "tasks, %s: lossy or not", of_tasks[i].what);
		ok(!strcmp(*said ? strstr(said, "CPU") : "", of_tasks[i].says),
		   "tasks, %s: in words", of_tasks[i].what);
	}
}

int main(void)
{
	if (!scratch_make())
		return 1;
	signal(SIGXFSZ, SIG_IGN);
	test_cpus();
	test_directory();
	test_reserve();
	test_filter_files();
	test_filter_addresses();
	test_traps();
	test_plain_output();
	test_packed_output();
	test_full_output(0);
	test_full_output(1);
	test_spool();
	test_spool_ahead();
	test_params();
	test_timestamps_any();
	test_losses();
	scratch_remove();
	return done_testing();
}
