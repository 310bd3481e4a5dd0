// SPDX-License-Identifier: GPL-2.0-only
/*
 * CoreSight formatter frames (ARM IHI 0029): a worked example with two IDs, each rule of a frame
 * with hand-written bytes, random sources through writer and reader, and damage.
 */
#include <stdlib.h>

#include <ntrace/frames.h>
#include <ntrace/wire.h>

#include "tap.h"

#define TEXT 8192

/* What a reader reports, as text: "1:a1 22 cut=6 barrier ". */
struct log {
	char text[TEXT];
	size_t at;
	unsigned int source;
};

static void note(struct log *log, const char *text)
{
	log->at += (size_t)snprintf(log->text + log->at, TEXT - log->at, "%s", text);
	if (log->at >= TEXT)
		log->at = TEXT - 1;
	log->source = 0;
}

static void note_bytes(struct log *log, const char *kind, const struct ntrace_frames_piece *piece)
{
	char text[64];

	if (!log->source || log->source != piece->source || *kind) {
		snprintf(text, sizeof(text), "%s%x: ", kind, piece->source);
		note(log, text);
	}
	for (unsigned int i = 0; i < piece->size; i++) {
		snprintf(text, sizeof(text), "%02x ", piece->bytes[i]);
		note(log, text);
	}
	log->source = *kind ? 0 : piece->source;
}

static void note_event(struct log *log, int event, const struct ntrace_frames_piece *piece)
{
	char text[64];

	switch (event) {
	case NTRACE_FRAMES_BYTES:
		note_bytes(log, "", piece);
		break;
	case NTRACE_FRAMES_NAMELESS:
		note_bytes(log, "nameless ", piece);
		break;
	case NTRACE_FRAMES_RESERVED:
		note_bytes(log, "reserved ", piece);
		break;
	case NTRACE_FRAMES_CUT:
		snprintf(text, sizeof(text), "cut=%u@%u ", piece->size,
			 (unsigned int)piece->offset);
		note(log, text);
		break;
	case NTRACE_FRAMES_BARRIER:
		snprintf(text, sizeof(text), "barrier@%u ", (unsigned int)piece->offset);
		note(log, text);
		break;
	default:
		note(log, "? ");
	}
}

static void read_chunk(struct ntrace_frames *frames, struct log *log, const uint8_t *data,
		       size_t size)
{
	struct ntrace_frames_piece piece;
	uint8_t *copy = malloc(size + 1);
	int event;

	/*
	 * The copy ends at the end of its memory, so that the sanitizer detects a read beyond it.
	 */
	memcpy(copy + 1, data, size);
	ntrace_frames_feed(frames, copy + 1, size);
	while ((event = ntrace_frames_next(frames, &piece)) >= 0)
		note_event(log, event, &piece);
	if (event != NTRACE_ERR_AGAIN)
		note(log, "?? ");
	free(copy);
}

static size_t from_hex(const char *hex, uint8_t *data)
{
	size_t size = 0;
	char *end;

	for (; *hex; hex = end) {
		unsigned long byte = strtoul(hex, &end, 16);

		if (end == hex)
			break;
		data[size++] = (uint8_t)byte;
	}
	return size;
}

struct rule {
	const char *what;
	const char *input;
	const char *expected;
	unsigned int pending;
};

#define Z8 "00 00 00 00 00 00 00 00"
#define WORD "FF FF FF 7F "
#define BARRIER WORD WORD WORD WORD
/* ID 1, then bytes 02 03 ... 0f, all bits 0 in byte 15. */
#define ONE "03 02 02 04 04 06 06 08 08 0A 0A 0C 0C 0E 00 "
#define ONE_BYTES "02 02 04 04 06 06 08 08 0a 0a 0c 0c 0e 00 "

static const struct rule rules[] = {
	{ "IDs 1 and 3 in one frame", "03 A1 22 33 07 45 56 67 03 6B 98 78 01 00 00 30",
	  "1: a1 22 33 3: 45 56 67 6b 1: 99 78 ", 0 },
	{ "bit 0 of each even byte is in byte 15",
	  "03 11 00 11 00 11 00 11 00 11 00 11 00 11 00 AA",
	  "1: 11 01 11 00 11 01 11 00 11 01 11 00 11 01 ", 0 },
	{ "an ID holds across frames", ONE "00 00 05 " Z8 " 00 00 00 00 00 00 ",
	  "1: " ONE_BYTES "00 05 00 00 00 00 00 00 00 00 00 00 00 00 00 ", 0 },
	{ "an ID in byte 14 takes effect with the next frame, independent of its bit in byte 15",
	  "03 02 02 04 04 06 06 08 08 0A 0A 0C 0C 0E 05 80 10 11 " Z8 " 00 00 00 00 00 00",
	  "1: 02 02 04 04 06 06 08 08 0a 0a 0c 0c 0e "
	  "2: 10 11 00 00 00 00 00 00 00 00 00 00 00 00 00 ",
	  0 },
	{ "the current ID again, with and without its bit",
	  "03 A1 03 A2 03 A3 01 00 00 00 00 00 00 00 00 02", "1: a1 a2 a3 ", 0 },
	{ "ID 0 is padding, also the byte that still belongs to the previous source",
	  "03 A1 01 A2 10 10 01 00 00 00 00 00 00 00 00 02", "1: a1 a2 ", 0 },
	{ "bytes before the first ID", "10 11 13 12 05 22 01 " Z8 " 02",
	  "nameless 0: 10 11 12 2: 22 ", 0 },
	{ "the same with one more byte of an unknown source", "05 12 22 23 01 " Z8 " 00 00 01",
	  "nameless 0: 12 2: 22 23 ", 0 },
	{ "reserved IDs", "03 A1 E1 B1 FD B2 03 A2 01 00 00 00 00 00 00 00",
	  "1: a1 reserved 70: b1 reserved 7e: b2 1: a2 ", 0 },
	{ "the trigger's ID is no source, and nothing is lost",
	  "03 A1 FB B1 03 A2 01 00 00 00 00 00 00 00 00 00", "1: a1 a2 ", 0 },
	{ "the last source and the first", "DF A1 03 B1 01 00 00 00 00 00 00 00 00 00 00 00",
	  "6f: a1 1: b1 ", 0 },
	{ "a word between frames changes nothing",
	  WORD ONE "00 " WORD "02 02 " Z8 " 00 00 00 00 00 00",
	  "1: " ONE_BYTES "02 02 00 00 00 00 00 00 00 00 00 00 00 00 00 ", 0 },
	{ "half-words inside a frame, and before it",
	  "FF 7F 03 A1 FF 7F FF 7F 22 33 01 00 00 00 00 00 FF 7F 00 00 00 00 00 00", "1: a1 22 33 ",
	  0 },
	{ "FF as data, and FF 7F at an odd place",
	  "03 FF FE FF FE FF 7E FF 7E FF 01 7F 00 00 00 06", "1: ff ff ff ff ff 7e ff 7e ff ", 0 },
	{ "byte 15 is FF, then a word",
	  "02 03 02 03 02 03 02 03 02 03 02 03 02 03 02 FF " WORD ONE "00",
	  "nameless 0: 03 03 03 03 03 03 03 03 03 03 03 03 03 03 03 1: " ONE_BYTES, 0 },
	{ "a barrier resets IDs", ONE "00 " BARRIER "02 02 05 22 01 " Z8 " 00 00 00",
	  "1: " ONE_BYTES "barrier@32 nameless 0: 02 02 2: 22 ", 0 },
	{ "a barrier first", BARRIER ONE "00", "barrier@16 1: " ONE_BYTES, 0 },
	{ "three words are no barrier", ONE "00 " WORD WORD WORD "02 02 " Z8 " 00 00 00 00 00 00",
	  "1: " ONE_BYTES "02 02 00 00 00 00 00 00 00 00 00 00 00 00 00 ", 0 },
	{ "two words, a frame and two words are no barrier",
	  ONE "00 " WORD WORD "02 02 " Z8 " 00 00 00 00 00 00 " WORD WORD "01 00 " Z8
	      " 00 00 00 00 00 00",
	  "1: " ONE_BYTES "02 02 00 00 00 00 00 00 00 00 00 00 00 00 00 ", 0 },
	{ "eight words are one", ONE "00 " BARRIER BARRIER ONE "00",
	  "1: " ONE_BYTES "barrier@32 1: " ONE_BYTES, 0 },
	{ "the input ends inside a frame", ONE "00 03 02 04", "1: " ONE_BYTES, 3 },
	{ "nothing", "", "", 0 },
};

static void test_rules(void)
{
	uint8_t data[256];
	struct ntrace_frames frames;

	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
		size_t size = from_hex(rules[i].input, data);

		for (size_t chunk = 1; chunk <= 17; chunk += 16) {
			static struct log log;

			memset(&log, 0, sizeof(log));
			ntrace_frames_init(&frames);
			for (size_t at = 0; at < size; at += chunk)
				read_chunk(&frames, &log, data + at,
					   size - at < chunk ? size - at : chunk);
			is_str(log.text, rules[i].expected, "%s, %zu bytes at a time",
			       rules[i].what, chunk);
			is_u64(ntrace_frames_pending(&frames), rules[i].pending, "pending");
			is_u64(frames.offset, size, "all bytes are read");
		}
	}
}

/* A barrier after any number of bytes of a frame: they are dropped, and later frames are whole. */
static void test_cut(void)
{
	uint8_t frame[64], data[256];
	size_t whole = from_hex(ONE "00", frame);
	char expected[256];

	for (size_t kept = 0; kept <= 16; kept++) {
		static struct log log;
		struct ntrace_frames frames;
		size_t size = whole + kept;

		memset(&log, 0, sizeof(log));
		ntrace_frames_init(&frames);
		memcpy(data, frame, whole);
		memcpy(data + whole, frame, kept);
		size += from_hex(BARRIER, data + size);
		memcpy(data + size, frame, whole);
		read_chunk(&frames, &log, data, size + whole);
		if (!kept)
			snprintf(expected, sizeof(expected),
				 "1: " ONE_BYTES "barrier@32 1: " ONE_BYTES);
		else if (kept == 16)
			snprintf(expected, sizeof(expected),
				 "1: " ONE_BYTES ONE_BYTES "barrier@48 1: " ONE_BYTES);
		else
			/* For bytes 13 and 14 it is undecidable which holds the first FF. */
			snprintf(expected, sizeof(expected),
				 "1: " ONE_BYTES "cut=%zu@16 barrier@%zu 1: " ONE_BYTES,
				 kept == 13 ? 14 : kept, size);
		if (kept == 15) {
			/* Byte 15 is the start of the barrier: the data bytes have wrong bits 0. */
			ok(strstr(log.text, "cut=15@32 barrier@47 1: " ONE_BYTES) != NULL,
			   "truncated before byte 15: reported, although late");
			continue;
		}
		is_str(log.text, expected, "a frame truncated after %zu bytes", kept);
	}
}

static void test_many_words(void)
{
	struct ntrace_frames frames;
	static struct log log;
	uint8_t frame[16], barrier[16];
	size_t size = from_hex(ONE "00", frame);

	from_hex(BARRIER, barrier);
	ntrace_frames_init(&frames);
	read_chunk(&frames, &log, frame, size);
	for (int i = 0; i < 75; i++)
		read_chunk(&frames, &log, barrier, size);
	read_chunk(&frames, &log, frame, size);
	is_str(log.text, "1: " ONE_BYTES "barrier@32 1: " ONE_BYTES, "300 words are one barrier");
	is_u64(frames.barriers, 1, "and counted as one");
	is_u64(frames.bytes, 28, "bytes of sources are counted");
}

/* A lost byte shifts frames until the next word. */
static void test_lost_byte(void)
{
	uint8_t data[512];
	size_t size = 0;
	static struct log log;
	struct ntrace_frames frames;

	memset(&log, 0, sizeof(log));
	ntrace_frames_init(&frames);
	size += from_hex(ONE "00", data);
	size += from_hex(ONE, data + size);
	size += from_hex(WORD, data + size);
	size += from_hex(ONE "00", data + size);
	read_chunk(&frames, &log, data, size);
	ok(strstr(log.text, "cut=15@32 1: " ONE_BYTES) != NULL,
	   "a lost byte is detected at the next word");
	is_u64(frames.cut, 15, "and counted");
	ntrace_frames_init(&frames);
	memset(&log, 0, sizeof(log));
	size = from_hex(ONE "00 03 02 02 04", data);
	read_chunk(&frames, &log, data, size);
	ntrace_frames_break(&frames);
	is_u64(frames.cut, 4, "ntrace_frames_break(): bytes of the frame in progress");
	size = from_hex("02 02 03 22 01 " Z8 " 00 00 00", data);
	read_chunk(&frames, &log, data, size);
	is_str(log.text, "1: " ONE_BYTES "nameless 0: 02 02 1: 22 ",
	       "ntrace_frames_break(): a frame begins with an unknown source");
}

/* ---- writer and reader ---- */

static uint64_t seed = 20260723;

static unsigned int draw(unsigned int limit)
{
	seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (unsigned int)(seed >> 33) % limit;
}

#define SOURCES 112
#define BYTES_MAX 20000

/* The bytes of each source. */
struct streams {
	uint8_t bytes[SOURCES][BYTES_MAX];
	size_t size[SOURCES];
};

static void append(struct streams *streams, unsigned int source, const uint8_t *bytes, size_t size)
{
	if (streams->size[source] + size > BYTES_MAX)
		abort();
	memcpy(streams->bytes[source] + streams->size[source], bytes, size);
	streams->size[source] += size;
}

/* Copies frames and inserts words and half-words between and inside them. */
static size_t add_frames(uint8_t *out, const uint8_t *frames, size_t size, bool synchronization)
{
	static const uint8_t word[] = { 0xff, 0xff, 0xff, 0x7f };
	size_t written = 0;

	for (size_t at = 0; at < size; at += 2) {
		if (synchronization && !(at % 16) && !draw(4)) {
			memcpy(out + written, word, 4);
			written += 4;
		}
		if (synchronization && !draw(8)) {
			memcpy(out + written, word + 2, 2);
			written += 2;
		}
		memcpy(out + written, frames + at, 2);
		written += 2;
	}
	return written;
}

/* @runs: maximum number of consecutive bytes of a source */
static size_t write_random(struct streams *streams, uint8_t *out, unsigned int sources,
			   unsigned int runs, bool synchronization)
{
	struct ntrace_frames_writer writer;
	size_t total = 0, written;

	ntrace_frames_writer_init(&writer);
	for (unsigned int i = 0; i < 300; i++) {
		unsigned int source = 1 + draw(sources) * (110 / sources);
		uint8_t bytes[64], frames[NTRACE_FRAMES_ROOM(64)];
		size_t size = draw(runs + 1), room = NTRACE_FRAMES_ROOM(size);

		for (size_t j = 0; j < size; j++)
			bytes[j] = draw(3) ? (uint8_t)draw(256) : draw(2) ? 0xff : 0x7f;
		memset(frames, 0xa5, sizeof(frames));
		if (ntrace_frames_write(&writer, source, bytes, size, frames, &written) ||
		    written > room || written % 16)
			abort();
		append(streams, source, bytes, size);
		total += add_frames(out + total, frames, written, synchronization);
		if (!draw(40)) {
			written = ntrace_frames_flush(&writer, frames);
			total += add_frames(out + total, frames, written, synchronization);
		}
	}
	written = ntrace_frames_flush(&writer, out + total);
	return total + written;
}

static bool read_back(struct streams *streams, struct ntrace_frames *frames, const uint8_t *data,
		      size_t size)
{
	struct ntrace_frames_piece piece;

	ntrace_frames_init(frames);
	for (size_t at = 0, part; at < size; at += part) {
		int event;

		part = 1 + draw(40);
		if (part > size - at)
			part = size - at;
		ntrace_frames_feed(frames, data + at, part);
		while ((event = ntrace_frames_next(frames, &piece)) >= 0) {
			if (event != NTRACE_FRAMES_BYTES)
				return false;
			append(streams, piece.source, piece.bytes, piece.size);
		}
	}
	return !ntrace_frames_pending(frames);
}

static void test_round_trips(void)
{
	static const unsigned int sources[] = { 1, 2, 3, 10, 55, 110 };
	static const unsigned int runs[] = { 1, 2, 5, 60 };
	static struct streams written, back;
	static uint8_t data[300 * 200];
	struct ntrace_frames frames;

	diag("seed %" PRIu64, seed);
	for (unsigned int i = 0; i < 6 * 4 * 2; i++) {
		unsigned int count = sources[i % 6], run = runs[i / 6 % 4];
		bool synchronization = i >= 24;
		bool same = true;
		size_t size;

		memset(&written, 0, sizeof(written));
		memset(&back, 0, sizeof(back));
		size = write_random(&written, data, count, run, synchronization);
		same = read_back(&back, &frames, data, size);
		for (unsigned int source = 0; source < SOURCES; source++)
			same = same && written.size[source] == back.size[source] &&
			       !memcmp(written.bytes[source], back.bytes[source],
				       written.size[source]);
		ok(same, "%u sources, up to %u bytes at a time%s", count, run,
		   synchronization ? ", with words and half-words" : "");
	}
}

static void test_writer(void)
{
	struct ntrace_frames_writer writer;
	uint8_t out[64], expected[64],
		bytes[32] = { 0xa1, 0x22, 0x33, 0x45, 0x56, 0x67, 0x6b, 0x99, 0x78 };
	size_t written = 7, total = 0;

	ntrace_frames_writer_init(&writer);
	for (unsigned int source = 0; source < 256; source++) {
		bool valid = source >= 1 && source <= 0x6f;

		if ((ntrace_frames_write(&writer, source, bytes, 0, out, &written) == 0) != valid ||
		    written)
			ok(false, "source 0x%x", source);
	}
	is_u64(ntrace_frames_flush(&writer, out), 0, "nothing was written");
	ntrace_frames_write(&writer, 1, bytes, 3, out, &written);
	total += written;
	ntrace_frames_write(&writer, 3, bytes + 3, 4, out + total, &written);
	total += written;
	ntrace_frames_write(&writer, 1, bytes + 7, 2, out + total, &written);
	total += written;
	total += ntrace_frames_flush(&writer, out + total);
	from_hex("03 A1 22 33 07 45 56 67 03 6B 98 78 01 00 00 30", expected);
	ok(total == 16 && !memcmp(out, expected, 16),
	   "the writer makes the frame with IDs 1 and 3");
	is_u64(writer.frames, 1, "which is a frame");
	total = ntrace_frames_barrier(&writer, out);
	from_hex(BARRIER, expected);
	ok(total == 16 && !memcmp(out, expected, 16), "a barrier");
	/* 14 bytes and an ID fill a frame: the next byte has the same source, but needs an ID. */
	ntrace_frames_write(&writer, 1, bytes, 14, out, &written);
	is_u64(written, 16, "a full frame is written at once");
	is_u64(ntrace_frames_barrier(&writer, out), 16, "after it nothing is in progress");
	ntrace_frames_write(&writer, 1, bytes, 1, out, &written);
	is_u64(ntrace_frames_barrier(&writer, out), 32, "a barrier fills up the frame in progress");
	is_hex(out[0], 0x03, "and after a barrier comes an ID");
}

/* ---- ntrace_reader_break() ---- */

static void test_reader_break(void)
{
	static const uint8_t stream[] = { 0x24, 0x0d, 0x00, 0x0b, 0x24, 0x0d,
					  0x00, 0x0b, 0x0c, 0x0f, 0xff };
	struct ntrace_params params;
	struct ntrace_reader reader;
	struct ntrace_message message;

	ntrace_params_init(&params);
	ntrace_reader_init(&reader, &params, true);
	ntrace_reader_feed(&reader, stream, 6);
	is_u64(ntrace_reader_next(&reader, &message), NTRACE_WIRE_MESSAGE, "a message");
	ok(ntrace_reader_next(&reader, &message) == NTRACE_ERR_AGAIN, "and a part of the next");
	is_u64(ntrace_reader_break(&reader), 2, "a break drops it");
	is_u64(ntrace_reader_pending(&reader), 0, "nothing is in progress");
	ntrace_reader_feed(&reader, stream + 6, 5);
	is_u64(ntrace_reader_next(&reader, &message), NTRACE_WIRE_MESSAGE, "then a message");
	is_u64(message.offset, 8, "after the next boundary, with its offset");
	is_u64(message.tcode, NTRACE_TCODE_DIRECT_BRANCH, "the offset is right");
	ok(ntrace_reader_next(&reader, &message) == NTRACE_ERR_AGAIN && reader.idles == 1 &&
		   !reader.errors,
	   "no error is counted");
	is_u64(ntrace_reader_break(&reader), 0, "a break between messages drops no message");
}

/* Two bytes before the first ID, a reserved ID, one of a trigger, one of a source. */
static void test_counts(void)
{
	static const uint8_t stream[32] = {
		2,
		3,
		0x70 << 1 | 1,
		5,
		6,
		7,
		NTRACE_FRAMES_TRIGGER << 1 | 1,
		9,
		10,
		11,
		12,
		13,
		3 << 1 | 1,
		15,
		16,
		0,
		/* The source goes on in the next frame. */
		2,
		3,
		4,
		5,
		6,
		7,
		8,
		9,
		10,
		11,
		12,
		13,
		14,
		15,
		16,
		0,
	};
	struct ntrace_frames_piece piece;
	struct ntrace_frames frames;

	ntrace_frames_init(&frames);
	ntrace_frames_feed(&frames, stream, sizeof(stream));
	is_u64(ntrace_frames_next(&frames, &piece), NTRACE_FRAMES_NAMELESS, "bytes without a name");
	ok(!piece.source && piece.size == 2 && !piece.offset && piece.bytes[0] == 2, "two of them");
	is_u64(ntrace_frames_next(&frames, &piece), NTRACE_FRAMES_RESERVED, "a reserved ID");
	ok(piece.source == 0x70 && piece.size == 3 && piece.bytes[2] == 7, "with three bytes");
	is_u64(ntrace_frames_next(&frames, &piece), NTRACE_FRAMES_BYTES, "bytes of a source");
	ok(piece.source == 3 && piece.size == 2 && !piece.offset && piece.bytes[0] == 15,
	   "after those of the trigger, which are no trace");
	is_u64(ntrace_frames_next(&frames, &piece), NTRACE_FRAMES_BYTES, "the next frame");
	ok(piece.source == 3 && piece.size == 15 && piece.offset == 16 && piece.bytes[14] == 16,
	   "has the same source, and its own offset");
	ok(ntrace_frames_next(&frames, &piece) == NTRACE_ERR_AGAIN, "nothing else");
	ok(frames.nameless == 2 && frames.reserved == 3 && frames.triggers == 5 &&
		   frames.bytes == 17,
	   "bytes of each kind are counted");
}

int main(void)
{
	test_counts();
	test_rules();
	test_cut();
	test_many_words();
	test_lost_byte();
	test_writer();
	test_round_trips();
	test_reader_break();
	return done_testing();
}
