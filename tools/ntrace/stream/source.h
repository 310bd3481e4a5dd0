/* SPDX-License-Identifier: GPL-2.0-only */
/* Inputs of decode, stat and check, and the options that describe them. */
#ifndef NTRACE_TOOL_STREAM_SOURCE_H
#define NTRACE_TOOL_STREAM_SOURCE_H

#include "common/input.h"
#include "trace.h"

/* Above the option ids of the commands. */
enum {
	OPTION_WORDS16 = 3 * OPTION_LONG,
	OPTION_FRAMING,
	OPTION_STREAM,
};

/* Rows of a command's option table. */
#define SOURCE_OPTIONS                                                                             \
	PROGRAM_OPTIONS,                                                                           \
		{ OPTION_INPUT_PARAMS, "params", "KEY=VALUE,...",                                        \
		  "raw trace, perf.data: stream parameters, e.g. srcbits=2" },                                \
		{ OPTION_WORDS16, "words16", NULL,                                                 \
		  "raw trace: swap the bytes of 16-bit words" },                           \
		FRAMING_ROW(OPTION_FRAMING),                                                       \
		{ OPTION_STREAM, "stream", "N", "recording: only stream N (aux.N)" },              \
		{ OPTION_INPUT_SYSROOT, "sysroot", "DIR",                                                \
		  "recording: files of the recorded machine are below DIR" },                      \
	{                                                                                          \
		OPTION_INPUT_FIRMWARE, "firmware", "ELF[@ADDR]",                                         \
			"recording: firmware that runs in M-mode"                                  \
	}

/**
 * struct source - a raw trace, or a recording
 * @params: parameters of a raw trace; a recording contains its own, a perf.data file some of them
 * @stream: requested stream of a recording, -1 = all
 */
struct source {
	const struct command *command;
	struct ntrace_params params;
	bool params_given;
	bool xlen_given;
	struct trace_format format;
	struct recording_options recording;
	int64_t stream;
};

void source_init(struct source *source, const struct command *command);

/** source_option - parse one of SOURCE_OPTIONS. Return: EXIT_OK, or EXIT_USAGE after an error message */
int source_option(struct source *source, const struct options *options, int option);

/** source_is_raw - reject options that apply to recordings only. Return: EXIT_OK or EXIT_USAGE */
int source_is_raw(const struct source *source);

/** source_map - programs_map() for the arguments of --elf, --raw and --images; sets params */
int source_map(struct source *source, struct ntrace_space **space);

/**
 * source_open_recording - recording_open(), if the options apply to recordings
 * @recording: on success the caller closes it
 *
 * Return: EXIT_OK, EXIT_FAILED or EXIT_USAGE after an error message, also if the stream does not exist.
 */
int source_open_recording(const struct source *source, struct recording *recording,
			  const char *path);

/** source_wants - true if a stream of a recording was requested */
static inline bool source_wants(const struct source *source, unsigned int stream)
{
	return source->stream < 0 || source->stream == stream;
}

#endif /* NTRACE_TOOL_STREAM_SOURCE_H */
