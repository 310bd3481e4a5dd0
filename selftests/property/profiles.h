/* SPDX-License-Identifier: GPL-2.0-only */
/* Profiles and call stacks of a stream, in three ways. */
#ifndef SELFTESTS_PROPERTY_PROFILES_H
#define SELFTESTS_PROPERTY_PROFILES_H

#include <ntrace/flow.h>

#include "program.h"

/*
 * @random chooses what the consumers count. Adds to @counted_again the number of bytes that were
 * counted without a walk. Return: NULL, or a text that says how the results of batches
 * or of counted messages differ; it is valid until the next call.
 */
const char *profiles_mismatch(const struct ntrace_flow_config *given, const struct program *program,
			      struct random *random, const uint8_t *stream, size_t size,
			      uint64_t *counted_again);

#endif
