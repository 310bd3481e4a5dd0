/* SPDX-License-Identifier: GPL-2.0-only */
/* Features of the encoder: option --encoder. */
#ifndef NTRACE_TOOL_RECORD_FEATURES_H
#define NTRACE_TOOL_RECORD_FEATURES_H

#include <stdbool.h>
#include <stdint.h>

#include <linux/ntrace.h>

#include <ntrace/recording.h>

struct command;

/* ntrace_config.features until those of the hardware are known: what shortens the trace */
#define RECORD_FEATURES_BEST UINT32_MAX

/**
 * record_features_take - read the option --encoder
 * @text: names like "implicit-return,stall", or "best" or "none"
 * @wanted: gets features and flags
 *
 * Return: EXIT_OK, or EXIT_USAGE with a message.
 */
int record_features_take(const struct command *command, const char *text,
			 struct ntrace_config *wanted);

/**
 * record_features_choose - replace RECORD_FEATURES_BEST by what shortens the trace
 * @inst_features: bits of trTeInstFeatures that the hardware has
 *
 * Implicit return is chosen only if the encoder compares whole addresses: otherwise it may leave
 * out a return to another place.
 */
void record_features_choose(uint32_t inst_features, struct ntrace_config *config);

/** record_features_event - the bits of perf_event_attr.config, see the PMU's folder "format" */
uint64_t record_features_event(const struct ntrace_config *config);

/** record_features_missing - name of a feature that the hardware lacks, or NULL */
const char *record_features_missing(const struct ntrace_config *wanted, uint32_t inst_features,
				    bool stall);

/** record_features_describe - the stream parameters that the configuration implies */
void record_features_describe(struct ntrace_params *params, const struct ntrace_config *config,
			      uint32_t inst_features);

#endif /* NTRACE_TOOL_RECORD_FEATURES_H */
