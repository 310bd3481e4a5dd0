/* SPDX-License-Identifier: GPL-2.0-only */
/* The encoder's configuration as text: KEY=VALUE,... */
#ifndef NTRACE_TOOL_STREAM_ENCODE_OPTIONS_H
#define NTRACE_TOOL_STREAM_ENCODE_OPTIONS_H

#include <ntrace/encode.h>

#include "common/command.h"

/** struct encode_options - the configuration, and how tracing is started and stopped */
struct encode_options {
	struct ntrace_encoder_config config;
	unsigned int start;	/* SYNC */
	unsigned int stop;	/* EVCODE */
};

/**
 * encode_options_init - defaults of `ntrace encode`
 *
 * No optional features, and an I-CNT of 32 bits, which never needs ResourceFull.
 */
void encode_options_init(struct encode_options *options);

/** encode_options_parse - --encoder of the command. Return: EXIT_OK, or EXIT_USAGE after an error message */
int encode_options_parse(const struct command *command, struct encode_options *options,
			 const char *text);

#endif /* NTRACE_TOOL_STREAM_ENCODE_OPTIONS_H */
