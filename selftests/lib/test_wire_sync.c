// SPDX-License-Identifier: GPL-2.0-only
/*
 * Messages at which decoding can start: those of the specification's examples from every byte of a
 * stream, and the same ones as the reader finds in any bytes.
 */
#include "test_wire.h"

#include "../property/program.h"

/* "SYNC 2 at 0x100 +5 src 1 time 7": length after the plus sign. */
static const char *sync_text(const struct ntrace_wire_sync *sync)
{
	static char text[160];
	int at = snprintf(text, sizeof(text),
			  "TCODE %u SYNC %u at 0x%" PRIx64 " +%" PRIu64 " SRC %u", sync->tcode,
			  sync->sync, sync->address, sync->length, sync->src);

	if (sync->time_known)
		snprintf(text + at, sizeof(text) - (size_t)at, " time 0x%" PRIx64, sync->time);
	return text;
}

/* The messages are those of N-Trace 1.0 and of captures, as in test_wire.c. */
static void test_examples(void)
{
	static const struct {
		const char *params;
		const char *bytes;
		const char *text;
	} cases[] = {
		{ "", "24 05 44 28 20 00 43", "TCODE 9 SYNC 1 at 0x20010522 +7 SRC 0" },
		{ "", "24 0D 00 0B", "TCODE 9 SYNC 3 at 0x100 +4 SRC 0" },
		{ "", "2C C9 00 13", "TCODE 11 SYNC 2 at 0x200 +4 SRC 0" },
		{ "", "30 08 15 00 13", "TCODE 12 SYNC 2 at 0x200 +5 SRC 0" },
		{ "", "74 10 21 20 09 0B", "TCODE 29 SYNC 4 at 0x110 +6 SRC 0" },
		{ "", "24 50 09 24 0B", "TCODE 9 SYNC 4 at 0x112 +5 SRC 0" },
		{ "srcbits=4", "24 68 05 00 09 24 78 58 44 8C 13",
		  "TCODE 9 SYNC 5 at 0x100 +11 SRC 10 time 0x123456789" },
		{ "srcbits=2", "74 24 41 2C A0 04 00 00 05 0D 3C 74 A0 A0 CC FC 13",
		  "TCODE 29 SYNC 2 at 0x80003416 +17 SRC 1 time 0x4ff3a2874f" },
		{ "extaddr=1", "24 05 FC FC FC FC 7C F3",
		  "TCODE 9 SYNC 1 at 0xfffffffe3ffffffe +8 SRC 0" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct ntrace_params params = params_of(cases[i].params);
		struct ntrace_wire_sync sync;
		unsigned int wrong = 0;
		uint8_t data[80];
		size_t size, start, end;

		/* After DirectBranch and two idle bytes, before another DirectBranch. */
		start = from_hex("0C 90 07 FF FF", data, sizeof(data));
		size = start + from_hex(cases[i].bytes, data + start, sizeof(data) - start);
		end = size;
		size += from_hex("0C 0F", data + size, sizeof(data) - size);
		ok(!ntrace_wire_sync_next(data, size, 0, true, &params, NTRACE_SRC_ANY, &sync),
		   "%s: found", cases[i].bytes);
		is_str(sync_text(&sync), cases[i].text, "%s", cases[i].bytes);
		for (size_t from = 0; from <= size; from++) {
			int got = ntrace_wire_sync_next(data, size, from, true, &params,
							NTRACE_SRC_ANY, &sync);

			wrong += from <= start ? got || sync.offset != start :
						 got != NTRACE_ERR_AGAIN || sync.offset != size;
		}
		is_u64(wrong, 0, "%s: found from each byte up to its first one", cases[i].bytes);
		for (size_t cut = start + 1; cut < end; cut++) {
			wrong += ntrace_wire_sync_next(data, cut, 0, true, &params, NTRACE_SRC_ANY,
						       &sync) != NTRACE_ERR_AGAIN;
			wrong += sync.offset != start;
		}
		is_u64(wrong, 0, "%s: where to continue if it is cut", cases[i].bytes);
	}
}

static void test_sources(void)
{
	struct ntrace_params params = params_of("srcbits=4");
	struct ntrace_wire_sync sync;
	uint8_t data[64];
	size_t size;

	/* SRC 10 at 0x100, then DirectBranch of SRC 3, then SRC 3 at 0x102. */
	size = from_hex("24 68 05 00 0B 0C 0C 03 24 4C 05 04 0B", data, sizeof(data));
	is_u64(ntrace_wire_sync_next(data, size, 0, true, &params, 10, &sync), 0, "one SRC");
	is_u64(sync.offset, 0, "one SRC: the first message");
	is_u64(ntrace_wire_sync_next(data, size, 0, true, &params, 3, &sync), 0, "another SRC");
	is_str(sync_text(&sync), "TCODE 9 SYNC 5 at 0x102 +5 SRC 3", "another SRC: its message");
	is_u64(sync.offset, 8, "another SRC: its place");
	is_u64(ntrace_wire_sync_next(data, size, 0, true, &params, 4, &sync), NTRACE_ERR_AGAIN,
	       "a SRC without messages");
	is_u64(ntrace_wire_sync_next(data, size, 0, true, &params, 16, &sync), NTRACE_ERR_INVALID,
	       "a SRC too wide for srcbits");
	is_u64(ntrace_wire_sync_next(data, size, size + 1, true, &params, 3, &sync),
	       NTRACE_ERR_INVALID, "a start after the end");
	is_u64(ntrace_wire_sync_next(data, size, 0, false, &params, NTRACE_SRC_ANY, &sync), 0,
	       "a stream that begins inside a message");
	is_u64(sync.offset, 8,
	       "a stream that begins inside a message: its first end is waited for");
	is_u64(ntrace_wire_sync_next(data, 0, 0, true, &params, 3, &sync), NTRACE_ERR_AGAIN,
	       "an empty stream");
	params.src_bits = 13;
	is_u64(ntrace_wire_sync_next(data, size, 0, true, &params, 3, &sync), NTRACE_ERR_INVALID,
	       "srcbits out of range");
}

static void test_damaged(void)
{
	struct ntrace_params params = params_of("");
	struct ntrace_wire_sync sync;
	uint8_t data[64];
	size_t size;

	size = from_hex("24 0D 02 0B 24 0F 24 0D 00 0F", data, sizeof(data));
	is_u64(ntrace_wire_sync_next(data, size, 0, true, &params, 0, &sync), 0,
	       "after a reserved code and a message without F-ADDR");
	is_u64(sync.offset, 6, "after a reserved code and a message without F-ADDR: place");
	/* F-ADDR of 72 bits. */
	size = from_hex("24 0D FCx12 FF 24 0D 00 0F", data, sizeof(data));
	is_u64(ntrace_wire_sync_next(data, size, 0, true, &params, 0, &sync), 0,
	       "after an F-ADDR that is too long");
	is_u64(sync.offset, 15, "after an F-ADDR that is too long: place");
}

/* The reader is the oracle: all its messages, from any byte of any bytes. */
static void test_any_bytes(void)
{
	static const uint8_t codes[] = { 0, 0, 0, 0, 1, 3, 3, 2 };
	struct random source = { .state = 7 };
	unsigned int wrong = 0, found = 0;
	uint8_t data[400];

	for (unsigned int round = 0; round < 3000; round++) {
		struct ntrace_params params = params_of(round & 1 ? "srcbits=3,xlen=32" : "");
		bool aligned = round & 2;
		struct ntrace_message message;
		struct ntrace_wire_sync sync;
		struct ntrace_reader reader;
		size_t from = random_below(&source, sizeof(data));
		int event;

		for (size_t i = 0; i < sizeof(data); i++) {
			static const uint8_t tcodes[] = { 9, 11, 12, 29, 3, 28 };
			uint32_t mdo = random_below(&source, 64);

			if (i && (data[i - 1] & 3) == 3 && random_below(&source, 2))
				mdo = tcodes[random_below(&source, sizeof(tcodes))];
			data[i] = (uint8_t)(mdo << 2 | codes[random_below(&source, 8)]);
		}
		ntrace_reader_init(&reader, &params, aligned);
		ntrace_reader_feed(&reader, data, sizeof(data));
		while ((event = ntrace_reader_next(&reader, &message)) >= 0) {
			if (event != NTRACE_WIRE_MESSAGE || message.offset < from ||
			    !ntrace_message_has(&message, NTRACE_FIELD_SYNC) ||
			    message.flags & (NTRACE_MESSAGE_TRUNCATED | NTRACE_MESSAGE_OVERSIZE))
				continue;
			wrong += ntrace_wire_sync_next(data, sizeof(data), from, aligned, &params,
						       NTRACE_SRC_ANY, &sync) != 0;
			wrong += sync.offset != message.offset || sync.length != message.length ||
				 sync.sync != message.field[NTRACE_FIELD_SYNC] ||
				 sync.src != message.field[NTRACE_FIELD_SRC] ||
				 sync.address != ntrace_message_address(&message, &params, 0);
			found++;
			from = (size_t)sync.offset + 1;
		}
		wrong += ntrace_wire_sync_next(data, sizeof(data), from, aligned, &params,
					       NTRACE_SRC_ANY, &sync) != NTRACE_ERR_AGAIN;
	}
	is_u64(wrong, 0, "any bytes: the messages of the reader, from any byte");
	ok(found > 2000, "any bytes: %u messages", found);
}

static void test_foreign(void)
{
	const char *path = shared_file("xrle.nex");
	struct ntrace_params params = params_of("xlen=32");
	struct ntrace_wire_sync sync;
	size_t size;
	uint8_t *data;

	if (!path)
		return;
	data = read_file(path, &size);
	is_u64(ntrace_wire_sync_next(data, size, 0, true, &params, NTRACE_SRC_ANY, &sync), 0,
	       "the reference encoder's stream: a synchronizing message");
	is_str(sync_text(&sync), "TCODE 9 SYNC 1 at 0x20010522 +7 SRC 0",
	       "the reference encoder's stream: the message of its dump");
	is_u64(ntrace_wire_sync_next(data, size, 1, true, &params, NTRACE_SRC_ANY, &sync),
	       NTRACE_ERR_AGAIN,
	       "the reference encoder's stream: it is the only one, as in its dump");
	free(data);
}

int main(void)
{
	test_examples();
	test_sources();
	test_damaged();
	test_any_bytes();
	test_foreign();
	return done_testing();
}
