/* SPDX-License-Identifier: GPL-2.0-only */
/* Streams whose bytes encode their position, and a reader that detects missing bytes by it. */
#ifndef HOST_READER_H
#define HOST_READER_H

#define RESERVED 0x02
#define READER_MAX (1 << 22)

/* Trace of one encoder: numbered units of four bytes, 6 bits of the number per byte. */
#define PLAIN_UNIT 4

static u8 plain_byte(u64 position)
{
	return (u8)((position / PLAIN_UNIT >> 6 * (position % PLAIN_UNIT) & 0x3f) << 2 | 1);
}

/* Trace of several encoders: messages of eight bytes, whose SRC alternates. */
#define MESSAGE 8
#define MESSAGE_HARTS 3
#define MESSAGE_SRC_BITS 2

static u8 message_byte(u64 position)
{
	u64 number = position / MESSAGE;
	unsigned int byte = position % MESSAGE;

	if (byte == 0)
		return 28 << 2;
	if (byte == 1)
		return (u8)(number % MESSAGE_HARTS) << 2;
	return (u8)((number >> 6 * (byte - 2) & 0x3f) << 2 | (byte == MESSAGE - 1 ? 3 : 0));
}

struct reader {
	u8 *out;
	size_t size;
};

static struct reader readers[MACHINE_HARTS];

static void reader_begin(void)
{
	for (int i = 0; i < MACHINE_HARTS; i++) {
		if (!readers[i].out)
			readers[i].out = malloc(READER_MAX);
		readers[i].size = 0;
	}
}

static void reader_end(void)
{
	for (int i = 0; i < MACHINE_HARTS; i++) {
		free(readers[i].out);
		readers[i].out = NULL;
	}
}

/* Reads like user space: takes at most @bytes from the data area and frees them. */
static void reader_read(struct machine *machine, unsigned int hart, u64 bytes)
{
	struct ntrace_feed *feed = &machine->capture[hart].feed;
	struct reader *reader = &readers[hart];
	u64 tail, mask = feed->size - 1;
	u64 readable = ntrace_feed_readable(feed, &tail);

	if (bytes > readable)
		bytes = readable;
	for (u64 i = 0; i < bytes; i++)
		reader->out[reader->size++] = machine->data[hart][(tail + i) & mask];
	ntrace_feed_consume(feed, tail + bytes);
}

/* Collects the pieces between gap marks, and counts the missing part of @total bytes. */
struct found {
	u64 missing;
	unsigned int marks;
	const char *wrong;
};

/* Returns the stream position of a piece other than the first. */
static u64 plain_find(const u8 *bytes)
{
	u64 unit = 0;

	for (int i = 0; i < PLAIN_UNIT; i++)
		unit |= (u64)(bytes[i] >> 2) << 6 * i;
	return unit * PLAIN_UNIT;
}

/* Pieces of a plain stream start with a unit; the reader only counts shorter pieces. */
static struct found reader_judge_plain(const struct reader *reader, u64 total)
{
	struct found found = { 0 };
	u64 position = 0, there = 0;
	size_t i = 0, k;

	while (i < reader->size) {
		for (k = i; k < reader->size && reader->out[k] != RESERVED;)
			k++;
		if (found.marks && k - i >= PLAIN_UNIT) {
			u64 at = plain_find(reader->out + i);

			if (at < position)
				found.wrong = "it goes back";
			position = at;
		}
		there += k - i;
		if (!found.marks || k - i >= PLAIN_UNIT) {
			for (; i < k; i++)
				if (reader->out[i] != plain_byte(position++))
					found.wrong = "a byte is not of the stream";
		}
		if (position > total)
			found.wrong = "it ends behind the end";
		found.marks += k < reader->size;
		i = k + 1;
	}
	found.missing = total - there;
	return found;
}

/*
 * Complete messages of @hart in order. Truncated ones occur only before marks and at the end; with
 * @begins_cut, if a full area has dropped some bytes, after marks as well.
 */
static struct found reader_judge_messages(const struct reader *reader, u64 total, unsigned int hart,
					  bool begins_cut)
{
	struct found found = { 0 };
	bool marked = false;
	u64 next = hart;
	size_t i, k;

	for (i = 0; i < reader->size; i = k) {
		u64 number = 0;

		k = i;
		if (reader->out[k] == RESERVED) {
			found.marks++;
			marked = true;
			k++;
			continue;
		}
		while (k < reader->size && reader->out[k] != RESERVED)
			if ((reader->out[k++] & 3) == 3)
				break;
		if (k - i < MESSAGE &&
		    (k == reader->size || reader->out[k] == RESERVED || (marked && begins_cut)))
			continue;
		if (k - i != MESSAGE) {
			found.wrong = "a message is cut, and there is no mark";
			break;
		}
		for (unsigned int b = 2; b < MESSAGE; b++)
			number |= (u64)(reader->out[i + b] >> 2) << 6 * (b - 2);
		if (marked ? number < next : number != next)
			found.wrong = "a message is missing, and there is no mark";
		if (number % MESSAGE_HARTS != hart)
			found.wrong = "a message of another one";
		for (unsigned int b = 0; b < MESSAGE; b++)
			if (reader->out[i + b] != message_byte(number * MESSAGE + b))
				found.wrong = "a byte is not of the message";
		next = number + MESSAGE_HARTS;
		marked = false;
	}
	if (!marked && (next + 1) * MESSAGE <= total)
		found.wrong = "the end is missing, and there is no mark";
	return found;
}

#endif /* HOST_READER_H */
