/* SPDX-License-Identifier: GPL-2.0-only */
/* Programs with unknown or illegal parts. */
#ifndef SELFTESTS_PROPERTY_HOLES_H
#define SELFTESTS_PROPERTY_HOLES_H

#include <ntrace/flow.h>

#include "program.h"

/**
 * check_holes - decode a stream with holes in memory
 * @given: without callbacks; contexts are not used
 * @space: the whole program, the caller's only one: holes are made in it
 *
 * What is told must have been executed, in this order; blocks one by one and in batches are the
 * same, of the stream as it is and damaged; no more is walked than the bytes can stand for.
 * Return: NULL, or what is wrong, valid until the next call.
 */
const char *check_holes(const struct ntrace_flow_config *given, struct ntrace_space *space,
			const uint8_t *stream, size_t size, struct random *random);

#endif
