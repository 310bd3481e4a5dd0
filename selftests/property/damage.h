/* SPDX-License-Identifier: GPL-2.0-only */
/* A damaged stream, and the parts of its decoded output that must still be right. */
#ifndef SELFTESTS_PROPERTY_DAMAGE_H
#define SELFTESTS_PROPERTY_DAMAGE_H

#include "check.h"

struct ntrace_flow_event;

/**
 * struct damaged - a damaged stream
 * @bytes: the remaining bytes, @size of them
 * @origin: for each byte its position in the subject's stream, -1: none
 * @aligned: the reader expects a message at the beginning
 * @whole_start: the beginning equals that of the subject's stream
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
 * struct recovery - statistics of damaged streams
 * @instructions: executed
 * @recovered: the part of these decoded correctly where the decoder must be right
 * @losses: stretches in which the output is uncertain
 * @silent: losses without an error, gap or warning: the remaining bytes formed a valid stream
 * @events: events of all kinds except blocks
 * @stopped: messages that reported more instructions than the limit
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
