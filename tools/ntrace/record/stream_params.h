/* SPDX-License-Identifier: GPL-2.0-only */
/* Stream parameters as the hardware and its configuration determine them. */
#ifndef NTRACE_TOOL_RECORD_STREAM_PARAMS_H
#define NTRACE_TOOL_RECORD_STREAM_PARAMS_H

#include <stdint.h>

#include <linux/ntrace.h>

#include <ntrace/recording.h>

/**
 * stream_params_timestamps - set the configured timestamps; @bits, @hz: width and rate of the
 * hardware's counter
 */
void stream_params_timestamps(struct ntrace_params *params, const struct ntrace_config *config,
			      uint32_t bits, uint64_t hz);

/**
 * stream_params_version - the dialect that the major version of an encoder (trTeImpl) implies
 *
 * Addresses get the width that this machine's MMU has.
 */
void stream_params_version(struct ntrace_params *params, uint32_t major);

/** stream_params_hart - the hart of a CPU, from the device tree; 0 if that does not tell */
uint64_t stream_params_hart(int cpu);

#endif /* NTRACE_TOOL_RECORD_STREAM_PARAMS_H */
