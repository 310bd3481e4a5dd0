// SPDX-License-Identifier: GPL-2.0-only
/*
 * Batches of messages, and messages read from words. The oracle is the reader itself, with chunks of
 * one byte: then it reads all messages byte by byte.
 */
#include <ntrace/messages.h>

#include "test_wire.h"
#include "../property/program.h"

#define SIZE 3000
#define POISON 0xa5

struct event {
	int result;
	struct ntrace_message message;
};

struct log {
	struct event events[SIZE + 1];
	size_t count;
	uint64_t idles, errors, pending;
	size_t in_batches;
};

static void add(struct log *log, int result, const struct ntrace_message *message)
{
	if (log->count <= SIZE)
		log->events[log->count++] = (struct event){ result, *message };
}

static void read_rest(struct ntrace_reader *reader, struct log *log, bool once)
{
	struct ntrace_message message;
	int result;

	do {
		memset(&message, POISON, sizeof(message));
		result = ntrace_reader_next(reader, &message);
		if (result >= 0)
			add(log, result, &message);
	} while (result >= 0 && !once);
}

static void finish(const struct ntrace_reader *reader, struct log *log)
{
	log->idles = reader->idles;
	log->errors = reader->errors;
	log->pending = ntrace_reader_pending(reader);
}

static void read_bytes(const struct ntrace_params *params, bool aligned, const uint8_t *data,
		       size_t size, struct log *log)
{
	struct ntrace_reader reader;

	*log = (struct log){ .count = 0 };
	ntrace_reader_init(&reader, params, aligned);
	for (size_t i = 0; i < size; i++) {
		ntrace_reader_feed(&reader, data + i, 1);
		read_rest(&reader, log, false);
	}
	finish(&reader, log);
}

/* In batches of @room and chunks of random sizes. @room 0: message by message. */
static void read_batches(const struct ntrace_params *params, bool aligned, const uint8_t *data,
			 size_t size, size_t room, struct random *source, struct log *log)
{
	static struct ntrace_message messages[64];
	struct ntrace_reader reader;
	size_t chunk;

	*log = (struct log){ .count = 0 };
	memset(messages, 0, sizeof(messages));
	ntrace_reader_init(&reader, params, aligned);
	for (size_t done = 0; done < size; done += chunk) {
		chunk = 1 + random_below(source, room & 1 ? 100 : SIZE);
		if (chunk > size - done)
			chunk = size - done;
		ntrace_reader_feed(&reader, data + done, chunk);
		while (room && reader.next < reader.end) {
			size_t number = ntrace_reader_batch(&reader, messages, room);

			for (size_t i = 0; i < number; i++)
				add(log, NTRACE_WIRE_MESSAGE, &messages[i]);
			log->in_batches += number;
			if (number < room)
				read_rest(&reader, log, true);
		}
		read_rest(&reader, log, false);
	}
	finish(&reader, log);
}

static bool same(const struct log *one, const struct log *other)
{
	if (one->count != other->count || one->idles != other->idles ||
	    one->errors != other->errors || one->pending != other->pending)
		return false;
	for (size_t i = 0; i < one->count; i++) {
		if (one->events[i].result != other->events[i].result ||
		    memcmp(&one->events[i].message, &other->events[i].message,
			   sizeof(struct ntrace_message)) != 0)
			return false;
	}
	return true;
}

static uint8_t any_code(struct random *source)
{
	static const uint8_t codes[] = { 0, 0, 0, 0, 0, 1, 1, 3, 3 };

	return codes[random_below(source, sizeof(codes))];
}

/* Messages of all TCODEs, half of them DirectBranch, with fields of any sizes; few damaged bytes. */
static void make_stream(struct random *source, uint8_t *data, unsigned int damage)
{
	static const uint8_t tcodes[] = { 2,  3,  4,  7,  8,  9,  11, 12, 27,
					  28, 29, 30, 33, 34, 35, 3,  3,  56 };
	bool begins = true, branch = false;

	for (size_t i = 0; i < SIZE; i++) {
		uint32_t mdo = random_below(source, 64);
		uint8_t code = branch ? (uint8_t)(3 * random_below(source, 2)) : any_code(source);

		if (begins) {
			branch = random_below(source, 2);
			mdo = branch ? NTRACE_TCODE_DIRECT_BRANCH :
				       tcodes[random_below(source, sizeof(tcodes))];
			code = 0;
		}
		if (damage && !random_below(source, damage))
			code = (uint8_t)random_below(source, 4);
		data[i] = (uint8_t)(mdo << 2 | code);
		begins = code == 3;
	}
}

static void test_any_streams(void)
{
	static const char *const texts[] = { "", "srcbits=3", "srcbits=12", "dialect=sifive-v0",
					     "srcbits=6,dialect=sifive-v0" };
	static struct log bytes, words, batches;
	struct random source = { .state = 5 };
	unsigned int wrong = 0, wrong_batches = 0;
	size_t in_batches = 0, all = 0;
	uint8_t data[SIZE];

	for (unsigned int round = 0; round < 400; round++) {
		struct ntrace_params params = params_of(texts[round % 5]);
		bool aligned = round & 1;

		make_stream(&source, data, (round & 6) * 40);
		read_bytes(&params, aligned, data, SIZE, &bytes);
		read_batches(&params, aligned, data, SIZE, 0, &source, &words);
		wrong += !same(&bytes, &words);
		read_batches(&params, aligned, data, SIZE, 1 + random_below(&source, 64), &source,
			     &batches);
		wrong_batches += !same(&bytes, &batches);
		in_batches += batches.in_batches;
		all += batches.count;
	}
	is_u64(wrong, 0, "400 streams: messages read from words");
	is_u64(wrong_batches, 0, "400 streams: messages read in batches");
	ok(all > 50000 && in_batches > all / 3, "%zu of %zu messages in batches", in_batches, all);
}

/* Each I-CNT, in each number of bytes. */
static void test_branches(void)
{
	static struct log bytes, batches;
	struct random source = { .state = 5 };
	struct ntrace_params params = params_of("");
	unsigned int wrong = 0;

	for (unsigned int size = 2; size <= 10; size++) {
		const struct ntrace_message *message;
		uint8_t data[32] = { 0 };

		for (unsigned int bit = 0; bit < 6 * (size - 1); bit++) {
			memset(data, 0, sizeof(data));
			data[0] = NTRACE_TCODE_DIRECT_BRANCH << 2;
			data[1 + bit / 6] = (uint8_t)(4u << bit % 6);
			data[size - 1] |= 3;
			memset(data + size, 0x0f, sizeof(data) - size);
			read_bytes(&params, true, data, sizeof(data), &bytes);
			read_batches(&params, true, data, sizeof(data), 2, &source, &batches);
			message = &bytes.events[0].message;
			wrong += !same(&bytes, &batches) || bytes.count != 1 ||
				 message->field[NTRACE_FIELD_ICNT] != UINT64_C(1) << bit;
		}
	}
	is_u64(wrong, 0, "each bit of I-CNT, in 1 to 9 bytes");
}

/* A batch ends where it is told to, and before what is no message. */
static void test_borders(void)
{
	struct ntrace_params params = params_of("");
	struct ntrace_message messages[4] = { { .tcode = 0 } };
	struct ntrace_reader reader;
	uint8_t data[32];
	size_t size = from_hex("0C 07 0C 0B 0C 0F 0E 0Fx20", data, sizeof(data));

	ntrace_reader_init(&reader, &params, true);
	is_u64(ntrace_reader_batch(&reader, messages, 4), 0, "no chunk");
	ntrace_reader_feed(&reader, data, size);
	is_u64(ntrace_reader_batch(&reader, messages, 0), 0, "no room");
	is_u64(ntrace_reader_batch(&reader, messages, 2), 2, "room for two");
	is_u64(reader.offset, 4, "position after two");
	is_u64(ntrace_reader_batch(&reader, messages, 4), 1, "one before a stray code");
	is_u64(reader.errors, 0, "the code is not reported yet");
	is_u64((uint64_t)ntrace_reader_next(&reader, messages), NTRACE_WIRE_ERROR, "the code");
	ntrace_reader_init(&reader, &params, false);
	ntrace_reader_feed(&reader, data, size);
	is_u64(ntrace_reader_batch(&reader, messages, 4), 0, "before the first boundary");
}

int main(void)
{
	test_any_streams();
	test_branches();
	test_borders();
	return done_testing();
}
