/* SPDX-License-Identifier: GPL-2.0-only */
/* Programs with unknown or illegal parts. */
#ifndef SELFTESTS_PROPERTY_HOLES_H
#define SELFTESTS_PROPERTY_HOLES_H

#include <ntrace/flow.h>

#include "program.h"

/**
 * check_holes - decode a stream with holes in memory
 * @given: without callbacks; contexts are not used
 * @space: the whole program; the caller's only reference, since holes are made in it
 *
 * Reported instructions must have been executed in this order. Blocks one by one and in batches
 * must be equal, for the original and the damaged stream. The walk must stay within the limit for
 * the stream's bytes.
 * Return: NULL, or a description of the error, valid until the next call.
 */
const char *check_holes(const struct ntrace_flow_config *given, struct ntrace_space *space,
			const uint8_t *stream, size_t size, struct random *random);

#endif
