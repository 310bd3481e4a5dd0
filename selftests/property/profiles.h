/* SPDX-License-Identifier: GPL-2.0-only */
/* Profiles and call stacks of a stream, in two ways. */
#ifndef SELFTESTS_PROPERTY_PROFILES_H
#define SELFTESTS_PROPERTY_PROFILES_H

#include <ntrace/flow.h>

#include "program.h"

/* What is selected; @changes: call stacks report their changes. */
struct profiles_choice {
	int32_t pid;
	uint32_t privileges;
	bool by_process;
	bool changes;
};

/* Return: NULL, or how the results of batches differ, valid until the next call. */
const char *profiles_mismatch(const struct ntrace_flow_config *given, const struct program *program,
			      const struct profiles_choice *choice, const uint8_t *stream,
			      size_t size);

#endif
