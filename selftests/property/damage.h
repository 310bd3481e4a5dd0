/* SPDX-License-Identifier: GPL-2.0-only */
/* A damaged stream: the parts of its decoded output that must still be right. */
#ifndef SELFTESTS_PROPERTY_DAMAGE_H
#define SELFTESTS_PROPERTY_DAMAGE_H

#include "check.h"

struct ntrace_flow_event;

/**
 * struct damaged - a stream that was damaged
 * @bytes: what is left, @size of them
 * @origin: of each the place in the stream of the subject, -1: it was not there
 * @aligned: the reader is told that it begins with a message
 * @whole_start: it begins as the stream of the subject does
 */
struct damaged {
	uint8_t *bytes;
	int32_t *origin;
	size_t size;
	size_t room;
	bool aligned;
	bool whole_start;
};

/**
 * struct recovery - what came of damaged streams
 * @instructions: executed
 * @recovered: of these, decoded where the decoder must be right, and right
 * @losses: times that it was not certain, for as long as that lasted
 * @silent: losses without an error, gap or warning: what was left made sense
 * @events: of all kinds but blocks
 * @stopped: messages that spoke of more instructions than are waited for
 */
struct recovery {
	uint64_t streams;
	uint64_t instructions;
	uint64_t recovered;
	uint64_t losses;
	uint64_t silent;
	uint64_t events;
	uint64_t stopped;
};

struct reference;

/*
 * Decodes the whole stream. Return: NULL, with *fault set if the result differs from the executed
 * instructions.
 */
struct reference *reference_make(const struct subject *subject, const char **fault);
void reference_free(struct reference *reference);

/* Decodes in chunks of @chunk bytes. Return: NULL, or the difference, valid until the next call. */
const char *follow(const struct reference *reference, const struct damaged *damaged, size_t chunk,
		   struct recovery *recovery);

#endif /* SELFTESTS_PROPERTY_DAMAGE_H */
