/* SPDX-License-Identifier: GPL-2.0-only */
/* The encoder's configuration as text: KEY=VALUE,... */
#ifndef NTRACE_TOOL_STREAM_ENCODE_OPTIONS_H
#define NTRACE_TOOL_STREAM_ENCODE_OPTIONS_H

#include <ntrace/encode.h>

#include "common/command.h"

/** struct encode_options - configuration of the encoder, SYNC of the start and EVCODE of the stop */
struct encode_options {
	struct ntrace_encoder_config config;	/* params points to the next member */
	struct ntrace_params params;
	unsigned int start;	/* enum ntrace_sync */
	unsigned int stop;	/* enum ntrace_evcode */
};

/**
 * encode_options_init - set the defaults of `ntrace encode`
 *
 * No optional features, and an I-CNT of 32 bits, which never needs ResourceFull.
 */
void encode_options_init(struct encode_options *options);

/** encode_options_parse - parse the argument of --encoder. Return: EXIT_OK, or EXIT_USAGE after an error message */
int encode_options_parse(const struct command *command, struct encode_options *options,
			 const char *text);

#endif /* NTRACE_TOOL_STREAM_ENCODE_OPTIONS_H */
