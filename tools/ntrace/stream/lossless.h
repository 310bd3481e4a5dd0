/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Every byte of a trace in lines, for ntrace dump --lossless: idle bytes, bytes skipped after a
 * reserved code, and long messages in pieces. Memory does not grow with the trace, and the lines
 * do not depend on how the input is cut into chunks.
 */
#ifndef NTRACE_TOOL_STREAM_LOSSLESS_H
#define NTRACE_TOOL_STREAM_LOSSLESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A longer message is dumped in parts of this many bytes; the last part has at least 1. */
#define LOSSLESS_PIECE 4096

enum lossless_kind {
	LOSSLESS_NONE,
	LOSSLESS_IDLE,		/* 0xff between messages */
	LOSSLESS_OTHER_IDLE,	/* other idle bytes: their MSEO is 11 */
	LOSSLESS_SKIPPED,	/* after a reserved code, up to and including the next MSEO of 11 */
	LOSSLESS_PART,		/* a part of the message or error that follows */
};

/**
 * struct lossless - bytes not yet dumped
 * @line: called for each complete run; @bytes is NULL for LOSSLESS_IDLE
 * @data: argument of @line
 * @covered: readable: position of the first byte not taken yet
 *
 * Private: the run in progress, which began at @start.
 */
struct lossless {
	void (*line)(void *data, enum lossless_kind kind, uint64_t offset, uint64_t length,
		     const uint8_t *bytes);
	void *data;
	uint64_t covered;
	enum lossless_kind kind;
	uint64_t start;
	uint64_t length;
	bool skipping;
	uint8_t kept[LOSSLESS_PIECE];
};

void lossless_init(struct lossless *lossless,
		   void (*line)(void *data, enum lossless_kind kind, uint64_t offset,
				uint64_t length, const uint8_t *bytes),
		   void *data);

/** lossless_between - take bytes outside of messages */
void lossless_between(struct lossless *lossless, const uint8_t *bytes, size_t count);

/** lossless_part - take bytes of the message in progress */
void lossless_part(struct lossless *lossless, const uint8_t *bytes, size_t count);

/**
 * lossless_rest - the message in progress is complete
 * @count: set to the number of its last bytes, which no line contains yet
 *
 * Return: these bytes, valid until the next call.
 */
const uint8_t *lossless_rest(struct lossless *lossless, size_t *count);

/** lossless_error - the message in progress was an error: what follows it is skipped */
void lossless_error(struct lossless *lossless);

/** lossless_flush - dump the current run */
void lossless_flush(struct lossless *lossless);

#endif /* NTRACE_TOOL_STREAM_LOSSLESS_H */
