// SPDX-License-Identifier: GPL-2.0-only
/*
 * Files in the format of `perf record -o -`, where events and features are records, at the limits
 * of such records. perf itself writes none of these; test_perf.c reads its files.
 */
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

#include <ntrace/perf.h>

#include "scratch.h"
#include "tap.h"

enum { HEADER_ATTR = 64, HEADER_FEATURE = 80 };

struct stream {
	uint8_t bytes[4096];
	size_t size;
};

static void put(struct stream *stream, const void *bytes, size_t size)
{
	memcpy(stream->bytes + stream->size, bytes, size);
	stream->size += size;
}

static void put_u32(struct stream *stream, uint32_t value)
{
	put(stream, &value, sizeof(value));
}

static void put_u64(struct stream *stream, uint64_t value)
{
	put(stream, &value, sizeof(value));
}

static void begin(struct stream *stream)
{
	stream->size = 0;
	put(stream, "PERFILE2", 8);
	put_u64(stream, 16);
}

static void put_header(struct stream *stream, uint32_t type, size_t body)
{
	struct perf_event_header header = { .type = type, .size = (uint16_t)(8 + body) };

	put(stream, &header, sizeof(header));
}

/* An event in the first layout of perf_event_attr that claims @size bytes, and its ids. */
static void put_attr(struct stream *stream, uint32_t size, uint64_t sample_type, size_t body,
		     const uint64_t *ids)
{
	struct perf_event_attr attr = { .size = size, .sample_type = sample_type };

	attr.sample_id_all = 1;
	put_header(stream, HEADER_ATTR, body);
	put(stream, &attr, body < PERF_ATTR_SIZE_VER0 ? body : PERF_ATTR_SIZE_VER0);
	if (body > PERF_ATTR_SIZE_VER0)
		put(stream, ids, body - PERF_ATTR_SIZE_VER0);
}

static void put_feature(struct stream *stream, uint64_t feature, const char *text, uint32_t length)
{
	put_header(stream, HEADER_FEATURE, 8 + 4 + strlen(text));
	put_u64(stream, feature);
	put_u32(stream, length);
	put(stream, text, strlen(text));
}

static struct ntrace_perf_file *opened(const struct stream *stream)
{
	struct ntrace_perf_file *perf = NULL;
	FILE *file = fopen(in("pipe"), "w");

	if (!file || fwrite(stream->bytes, 1, stream->size, file) != stream->size)
		exit(2);
	fclose(file);
	is_u64(ntrace_perf_file_open(&perf, in("pipe")), 0, "a pipe of %zu bytes opens",
	       stream->size);
	return perf;
}

static void test_attrs(void)
{
	static const uint64_t ids[2] = { 5, 6 };
	struct ntrace_perf_file *perf;
	struct stream stream;

	begin(&stream);
	put_attr(&stream, 63, PERF_SAMPLE_IP, 64, NULL);
	put_attr(&stream, 72, PERF_SAMPLE_IP, 64, NULL);
	put_attr(&stream, 64, PERF_SAMPLE_IP, 56, NULL);
	put_attr(&stream, 64, PERF_SAMPLE_TID, 64, NULL);
	put_attr(&stream, 64, PERF_SAMPLE_TIME, 80, ids);
	perf = opened(&stream);
	is_u64(ntrace_perf_file_events(perf), 2,
	       "an event of the smallest size, without ids and with two; none that is too small, "
	       "or larger than its record");
	is_u64(ntrace_perf_file_attr(perf, 0)->sample_type, PERF_SAMPLE_TID, "the first event");
	is_u64(ntrace_perf_file_attr(perf, 1)->sample_type, PERF_SAMPLE_TIME, "the second");
	ntrace_perf_file_close(perf);
}

static void test_features(void)
{
	struct ntrace_perf_file *perf;
	struct stream stream;

	begin(&stream);
	put_attr(&stream, 64, PERF_SAMPLE_TID, 64, NULL);
	/* Only the feature number. */
	put_header(&stream, HEADER_FEATURE, 8);
	put_u64(&stream, NTRACE_PERF_HOSTNAME);
	put_feature(&stream, NTRACE_PERF_HOSTNAME, "long", 5);
	put_feature(&stream, NTRACE_PERF_HOSTNAME, "board", 5);
	put_feature(&stream, NTRACE_PERF_HOSTNAME, "other", 5);
	put_feature(&stream, NTRACE_PERF_ARCH, "", 0);
	put_feature(&stream, NTRACE_PERF_HOSTNAME - 1, "below", 5);
	put_feature(&stream, NTRACE_PERF_ARCH + 1, "above", 5);
	perf = opened(&stream);
	is_str(ntrace_perf_file_feature(perf, NTRACE_PERF_HOSTNAME), "board",
	       "the first text that its record has room for");
	is_str(ntrace_perf_file_feature(perf, NTRACE_PERF_ARCH), "", "an empty text");
	ntrace_perf_file_close(perf);
}

struct times {
	uint64_t time[16];
	size_t count;
};

static int take_time(void *data, const struct ntrace_sideband *sideband)
{
	struct times *times = data;

	if (times->count < 16)
		times->time[times->count++] = sideband->time;
	return 0;
}

/* The last word of each record names its event, and so whether it has a time. */
static void test_ids(void)
{
	static const uint64_t timed[3] = { 90, 10, 50 }, plain[2] = { 70, 30 };
	static const uint64_t all[] = { 10, 30, 50, 70, 90, 60 };
	struct ntrace_perf_file *perf;
	struct times times = { .count = 0 };
	struct stream stream;
	bool right = true;

	begin(&stream);
	put_attr(&stream, 64, PERF_SAMPLE_TIME | PERF_SAMPLE_IDENTIFIER, 64 + sizeof(timed), timed);
	put_attr(&stream, 64, PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER, 64 + sizeof(plain), plain);
	for (unsigned int i = 0; i < sizeof(all) / sizeof(*all); i++) {
		put_header(&stream, PERF_RECORD_COMM, 4 + 4 + 8 + 8 + 8);
		put_u32(&stream, 100);
		put_u32(&stream, 100);
		put(&stream, "name\0\0\0", 8);
		put_u64(&stream, 1000 + i);
		put_u64(&stream, all[i]);
	}
	perf = opened(&stream);
	is_u64(ntrace_perf_file_sideband(perf, take_time, &times, NULL), 0, "six names");
	/* Sorted by time: records without a time come first. */
	for (size_t i = 0; i < times.count; i++)
		right &= times.time[i] == (i < 2  ? 0 :
					   i == 2 ? 1000 :
					   i == 3 ? 1002 :
					   i == 4 ? 1004 :
						    1005);
	ok(right && times.count == 6,
	   "each record has a time or not, by its id; an unknown id means the first event");
	ntrace_perf_file_close(perf);
}

int main(void)
{
	if (!scratch_make()) {
		ok(false, "temporary directory");
		return done_testing();
	}
	test_attrs();
	test_features();
	test_ids();
	scratch_remove();
	return done_testing();
}
