/* SPDX-License-Identifier: GPL-2.0-only */
/* ntrace record --trigger-in, --trigger-out, --debug-triggers and --armed. */
#ifndef NTRACE_TOOL_RECORD_TRIGGER_H
#define NTRACE_TOOL_RECORD_TRIGGER_H

#include <stdbool.h>
#include <stdint.h>

#include "options.h"

/** record_trigger_take_in - --trigger-in. Return: exit status */
int record_trigger_take_in(struct record_options *options, const char *text);

/** record_trigger_take_out - --trigger-out. Return: exit status */
int record_trigger_take_out(struct record_options *options, const char *text);

/** record_trigger_check - reject combinations that triggers exclude. Return: exit status */
int record_trigger_check(const struct record_options *options);

/**
 * record_trigger_fits - whether an encoder has the triggers that @wanted uses
 * @in, @out: inputs and outputs of the encoder, bit n = number n
 * @debug: the encoder has debug triggers
 */
bool record_trigger_fits(const struct ntrace_config *wanted, uint32_t in, uint32_t out, bool debug);

#endif /* NTRACE_TOOL_RECORD_TRIGGER_H */
