/* SPDX-License-Identifier: GPL-2.0-only */
/* Profiles and call stacks of a stream, in two ways. */
#ifndef SELFTESTS_PROPERTY_PROFILES_H
#define SELFTESTS_PROPERTY_PROFILES_H

#include <ntrace/flow.h>

#include "program.h"

/*
 * @random chooses what the consumers count. Return: NULL, or a text that says how the results of
 * batches differ; it is valid until the next call.
 */
const char *profiles_mismatch(const struct ntrace_flow_config *given, const struct program *program,
			      struct random *random, const uint8_t *stream, size_t size);

#endif
