/* SPDX-License-Identifier: GPL-2.0-only */
/* Parts of a stream, decoded each by a flow of its own, and joined. */
#ifndef SELFTESTS_PROPERTY_PARTS_H
#define SELFTESTS_PROPERTY_PARTS_H

#include <ntrace/flow.h>

#include "program.h"

/**
 * struct parts_tally - what happened to the parts of a stream that were decoded first
 * @joined: the guess was right
 * @again: decoded again from the state at the end of the part before
 */
struct parts_tally {
	uint64_t joined;
	uint64_t again;
};

/*
 * Decodes the stream at once and in 1, 2 and 7 parts. @given: spaces and parameters. Return: NULL, or a
 * text that says how the events differ; it is valid until the next call.
 */
const char *parts_mismatch(const struct ntrace_flow_config *given, const uint8_t *stream,
			   size_t size, struct parts_tally *tally);

#endif
