/* SPDX-License-Identifier: GPL-2.0-only */
/* What decode, stat and check read, and what is said about it on the command line. */
#ifndef NTRACE_TOOL_STREAM_SOURCE_H
#define NTRACE_TOOL_STREAM_SOURCE_H

#include "common/input.h"
#include "program.h"
#include "trace.h"

/* Beyond the numbers of the options that a command has alone. */
enum {
	OPTION_PARAMS = 'p',
	OPTION_ELF = 'e',
	OPTION_RAW = 2 * OPTION_LONG,
	OPTION_IMAGES,
	OPTION_WORDS16,
	OPTION_FRAMING,
	OPTION_STREAM,
	OPTION_SYSROOT,
	OPTION_FIRMWARE,
};

/* Rows of a command's table. */
#define SOURCE_OPTIONS                                                                             \
	{ OPTION_ELF, "elf", "FILE[@ADDR]",                                                        \
	  "raw trace: program, loaded at ADDR; may be repeated" },                                 \
		{ OPTION_RAW, "raw", "FILE@ADDR",                                                  \
		  "raw trace: likewise, plain memory without a header" },                          \
		{ OPTION_IMAGES, "images", "DIR",                                                  \
		  "raw trace: likewise, files named by their address" },                           \
		{ OPTION_PARAMS, "params", "KEY=VALUE,...",                                        \
		  "raw trace, perf.data: stream parameters, e.g. srcbits=2" },                                \
		{ OPTION_WORDS16, "words16", NULL,                                                 \
		  "raw trace: 16-bit words with the later byte first" },                           \
		FRAMING_ROW(OPTION_FRAMING),                                                       \
		{ OPTION_STREAM, "stream", "N", "recording: only stream N (aux.N)" },              \
		{ OPTION_SYSROOT, "sysroot", "DIR",                                                \
		  "recording: files of the recorded machine are below DIR" },                      \
	{                                                                                          \
		OPTION_FIRMWARE, "firmware", "ELF[@ADDR]",                                         \
			"recording: firmware that runs in M-mode"                                  \
	}

/**
 * struct source - a raw trace, or a recording
 * @params: of a raw trace; a recording knows its own, a perf.data file some of them
 * @stream: of a recording: the one that is wanted, -1: all
 */
struct source {
	const struct command *command;
	struct ntrace_params params;
	bool params_given;
	bool xlen_given;
	struct trace_format format;
	struct programs programs;
	struct recording_options recording;
	int64_t stream;
};

void source_init(struct source *source, const struct command *command);

/** source_option - one of SOURCE_OPTIONS. Return: EXIT_OK, or EXIT_USAGE after a complaint */
int source_option(struct source *source, const struct options *options, int option);

/** source_is_raw - complains about options for recordings. Return: EXIT_OK or EXIT_USAGE */
int source_is_raw(const struct source *source);

/** source_map - programs_map() of what was named with --elf, --raw and --images; sets params */
int source_map(struct source *source, struct ntrace_space **space);

/**
 * source_open_recording - recording_open(), if the options are for recordings
 * @recording: if that succeeds, to be closed by the caller
 *
 * Return: EXIT_OK, EXIT_FAILED or EXIT_USAGE after a complaint, also if there is no such stream.
 */
int source_open_recording(const struct source *source, struct recording *recording,
			  const char *path);

/** source_wants - true for the streams of a recording that are wanted */
static inline bool source_wants(const struct source *source, unsigned int stream)
{
	return source->stream < 0 || source->stream == stream;
}

#endif /* NTRACE_TOOL_STREAM_SOURCE_H */
