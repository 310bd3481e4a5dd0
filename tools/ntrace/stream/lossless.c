// SPDX-License-Identifier: GPL-2.0-only
/* Runs of bytes that are not messages, and parts of messages. */
#include <string.h>

#include "lossless.h"

void lossless_init(struct lossless *lossless,
		   void (*line)(void *data, enum lossless_kind kind, uint64_t offset,
				uint64_t length, const uint8_t *bytes),
		   void *data)
{
	memset(lossless, 0, sizeof(*lossless));
	lossless->line = line;
	lossless->data = data;
}

void lossless_flush(struct lossless *lossless)
{
	if (lossless->kind != LOSSLESS_NONE && lossless->length)
		lossless->line(lossless->data, lossless->kind, lossless->start, lossless->length,
			       lossless->kind == LOSSLESS_IDLE ? NULL : lossless->kept);
	lossless->kind = LOSSLESS_NONE;
	lossless->length = 0;
}

/* Continues a run, or starts a new one. */
static void add(struct lossless *lossless, enum lossless_kind kind, const uint8_t *bytes,
		size_t count)
{
	while (count) {
		size_t room = count;

		if (kind != lossless->kind ||
		    (kind != LOSSLESS_IDLE && lossless->length == LOSSLESS_PIECE)) {
			lossless_flush(lossless);
			lossless->kind = kind;
			lossless->start = lossless->covered;
		}
		if (kind != LOSSLESS_IDLE) {
			if (room > LOSSLESS_PIECE - lossless->length)
				room = LOSSLESS_PIECE - (size_t)lossless->length;
			memcpy(lossless->kept + lossless->length, bytes, room);
		}
		lossless->length += room;
		lossless->covered += room;
		bytes += room;
		count -= room;
	}
}

static bool is_end(uint8_t byte)
{
	return (byte & 3) == 3;
}

/* Skips like the reader: up to and including the next byte that ends a message. */
static size_t skip(struct lossless *lossless, const uint8_t *bytes, size_t count)
{
	size_t end = 0;

	if (!lossless->skipping)
		return 0;
	while (end < count && lossless->skipping)
		lossless->skipping = !is_end(bytes[end++]);
	add(lossless, LOSSLESS_SKIPPED, bytes, end);
	return end;
}

void lossless_between(struct lossless *lossless, const uint8_t *bytes, size_t count)
{
	size_t i = skip(lossless, bytes, count), end;

	for (; i < count; i = end) {
		bool usual = bytes[i] == 0xff;

		for (end = i + 1; end < count && (bytes[end] == 0xff) == usual;)
			end++;
		add(lossless, usual ? LOSSLESS_IDLE : LOSSLESS_OTHER_IDLE, bytes + i, end - i);
	}
}

void lossless_part(struct lossless *lossless, const uint8_t *bytes, size_t count)
{
	add(lossless, LOSSLESS_PART, bytes, count);
}

const uint8_t *lossless_rest(struct lossless *lossless, size_t *count)
{
	*count = lossless->kind == LOSSLESS_PART ? (size_t)lossless->length : 0;
	lossless->kind = LOSSLESS_NONE;
	lossless->length = 0;
	return lossless->kept;
}

void lossless_error(struct lossless *lossless)
{
	lossless->skipping = true;
}
