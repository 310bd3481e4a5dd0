/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Inputs of commands: parameters, recordings, programs. A raw trace with its programs is opened as a recording
 * here; commands that read its messages one by one use stream/trace.h.
 */
#ifndef NTRACE_TOOL_COMMON_INPUT_H
#define NTRACE_TOOL_COMMON_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <ntrace/params.h>
#include <ntrace/recording.h>
#include <ntrace/session.h>
#include <ntrace/values.h>

#include "command.h"
#include "program.h"
#include "range.h"

struct progress;

/** is_directory - true for directories, which are taken as recordings */
bool is_directory(const char *path);

/** check_directory - Return: EXIT_OK, or EXIT_FAILED after a message: what --@option names is no directory */
int check_directory(const char *option, const char *path);

/**
 * add_params - add another --params option
 * @params: all settings so far, NULL at first; updated, never freed
 * @text: valid settings
 *
 * Return: EXIT_OK, EXIT_USAGE or EXIT_FAILED after an error message, EXIT_SHOWN after "help".
 */
int add_params(const struct command *command, const char **params, const char *text);

/** is_recording - true for directories and perf.data files: both may contain trace */
bool is_recording(const char *path);

/* Enough to recognize other formats. */
#define FORMAT_MAGIC_SIZE 8

/** other_format - recognize a file that is not a trace by its first bytes, e.g. "an ELF file"; or NULL */
const char *other_format(const uint8_t *data, size_t size);

/**
 * inputs_error - print that a command has @count inputs and not one, and where programs belong
 * @what: what a command reads
 *
 * Return: EXIT_USAGE.
 */
int inputs_error(const struct command *command, const char *what, char **inputs, int count);

/** is_counts_file - true for regular files that begin as counts files do */
bool is_counts_file(const char *path);

/** is_elf_file - true for regular files that begin as ELF files do: programs, libraries, debug files */
bool is_elf_file(const char *path);

/**
 * input_params - parse the --params option of a command
 *
 * Return: EXIT_OK, EXIT_USAGE after an error message, or EXIT_SHOWN after "help".
 */
int input_params(const struct command *command, struct ntrace_params *params, const char *text);

/* Ids of RECORDING_OPTIONS. */
enum {
	OPTION_INPUT_ELF = 'e',
	OPTION_INPUT_RAW = 2 * OPTION_LONG,
	OPTION_INPUT_IMAGES,
	OPTION_INPUT_PARAMS,
	OPTION_INPUT_SYSROOT,
	OPTION_INPUT_FIRMWARE,
	OPTION_INPUT_CORE,
};

/* Rows of a command's option table: the programs of a raw trace. */
#define PROGRAM_OPTIONS                                                                            \
	{ OPTION_INPUT_ELF, "elf", "FILE[@ADDR]",                                                  \
	  "raw trace: program, loaded at ADDR; may be repeated" },                                 \
		{ OPTION_INPUT_RAW, "raw", "FILE@ADDR",                                            \
		  "raw trace: the same for a memory image without header" },                       \
	{                                                                                          \
		OPTION_INPUT_IMAGES, "images", "DIR",                                              \
			"raw trace: the same for a directory of files named by address"            \
	}

/* Row of commands that show values. */
#define CORE_OPTION                                                                                \
	{                                                                                          \
		OPTION_INPUT_CORE, "core", "FILE",                                                 \
			"recording: core dump of its process, written at its end"                  \
	}

/* The same, with those of recordings. */
#define RECORDING_OPTIONS                                                                          \
	{ OPTION_INPUT_SYSROOT, "sysroot", "DIR",                                                  \
	  "directory with the files of the recorded machine" },                                    \
		{ OPTION_INPUT_FIRMWARE, "firmware", "ELF[@ADDR]",                                 \
		  "firmware that runs in M-mode, loaded at ADDR" },                                \
		PROGRAM_OPTIONS,                                                                   \
	{                                                                                          \
		OPTION_INPUT_PARAMS, "params", "KEY=VALUE,...",                                    \
			"raw trace, perf.data: stream parameters"                                  \
	}

/**
 * struct recording_options - options for opening a recording
 * @firmware: argument of --firmware, ELF[@ADDRESS]
 * @quiet: collect notes without printing them
 * @samples: also accept a perf.data file with branch stacks
 * @traces: also accept a perf.data file with trace
 * @params: additional parameters for a perf.data file, parameters of a raw trace, or NULL
 * @programs: if there are any, the file is a raw trace of them
 * @range: the part to decode
 * @live: the trace is about to be made; see struct ntrace_session_options
 */
struct recording_options {
	const char *sysroot;
	const char *firmware;
	bool quiet;
	bool samples;
	bool traces;
	const char *params;
	struct programs programs;
	struct range_options range;
	bool live;
};

/** recording_option - one of RECORDING_OPTIONS. Return: EXIT_OK, EXIT_USAGE or EXIT_FAILED after an error message */
int recording_option(struct recording_options *recording, const struct options *options,
		     int option);

/**
 * struct recording - an open recording and the library's notes about it
 * @notes: NULL-terminated once opened; owned
 * @note_tree: the same, in a tree of tsearch()
 * @file: name of the perf.data file or raw trace, NULL for a directory; borrowed
 * @raw: it is a raw trace
 * @doubled: a stream is a copy of another one, as a note says
 * @progress: shows how much of a stream is decoded; NULL = not shown; borrowed
 * @decoded: bytes of each stream that were decoded for @progress; owned
 * @range: the part to decode
 * @core: see recording_open_core(); owned
 * @copy: standard input, if that is the recording, and @copy_path, which leads to it; owned
 */
struct recording {
	struct ntrace_session *session;
	char **notes;
	size_t note_count;
	void *note_tree;
	uint64_t notes_dropped;
	FILE *copy;
	char *copy_path;
	bool quiet;
	const char *file;
	bool raw;
	bool doubled;
	struct progress *progress;
	uint64_t *decoded;
	struct range_options range;
	struct ntrace_core *core;
};

/**
 * recording_open - open a recording
 * @recording: must not move: the session keeps its address
 *
 * With a part, the index is loaded, or made if necessary.
 *
 * Notes of the library are printed on stderr unless @quiet; each text is kept once in
 * @recording->notes.
 * Return: EXIT_OK, EXIT_FAILED or EXIT_USAGE after an error message.
 */
int recording_open(struct recording *recording, const struct command *command, const char *path,
		   const struct recording_options *options);
void recording_close(struct recording *recording);

/**
 * recording_open_core - open the core dump that --core names, and check that it is of the end of the recording
 *
 * Return: EXIT_OK, or EXIT_FAILED after an error message.
 */
int recording_open_core(struct recording *recording, const char *path);

/**
 * around_parse - read "NAME" or "NAME:N", the argument of --around
 * @number: the N-th execution, 1 without N; 0: N is 0 or too large
 *
 * Return: the name, to be freed, or NULL: out of memory.
 */
char *around_parse(const char *text, uint64_t *number);
/* With the argument of the option, and UINT64_MAX. */
#define AROUND_NUMBER                                                                  \
	"option --around: '%s': the number of an execution is not between 1 and %" PRIu64

/**
 * recording_around - find the execution that --around names, and select the trace around it
 *
 * Return: EXIT_OK, or EXIT_FAILED after an error message.
 */
int recording_around(struct recording *recording, const char *path);

/**
 * recording_index - load the index of the recording, or make it and show progress
 * @path: for messages
 *
 * Return: EXIT_OK, or EXIT_FAILED after an error message. errno is that of ntrace_session_index().
 */
int recording_index(struct recording *recording, const char *path,
		    struct ntrace_index_counts *counts);

/** recording_note - add a note of the library to those of the recording */
void recording_note(struct recording *recording, const char *text);

/** recording_stream_name - file name of a stream, for messages */
const char *recording_stream_name(const struct recording *recording, unsigned int stream);

/**
 * struct recording_totals - totals of all streams
 * @bytes: bytes of trace that are there; a sink shared by several harts counts once
 * @recorded: bytes of trace that were recorded: more if files were cut
 * @losses: sum of what was lost while recording, see ntrace_stream_add_losses()
 * @gaps: gaps and errors found while decoding
 */
struct recording_totals {
	uint64_t bytes;
	uint64_t recorded;
	struct ntrace_stream losses;
	uint64_t gaps;
};

/** recording_is_whole - nothing was lost while recording, and decoding found no gap and no error */
bool recording_is_whole(const struct recording_totals *totals);

/** recording_say_losses - unless it is whole, print a warning. @effect: "code executed there ..." */
void recording_say_losses(const struct recording_totals *totals, const char *effect);

/** recording_sums - set the totals of the streams, with no gaps */
void recording_sums(const struct recording *recording, struct recording_totals *totals);

/**
 * recording_decode - decode the part that the options of the recording select
 * @what: text of the progress line; NULL: none
 * @options: needs and receiver; @stream and @range are set from the options of the recording, unless
 *           they are given; @stats is used
 * @totals: filled in; may be NULL
 *
 * Return: 0, the result of a callback if greater than 0, which has printed or stored the reason, or enum
 * ntrace_error.
 */
int recording_decode(struct recording *recording, const char *what,
		     const struct ntrace_decode_options *options, struct recording_totals *totals);

/** recording_shares_file - true if an earlier stream has the same file: the harts share a sink */
bool recording_shares_file(const struct ntrace_session *session, unsigned int stream);

/** recording_error - print why a recording cannot be used; uses errno. Return: EXIT_FAILED */
int recording_error(const char *path, int error, const char *reason);

/**
 * program_first_address - link address of the first loadable segment of an ELF file
 *
 * Return: EXIT_OK, or EXIT_FAILED after an error message.
 */
int program_first_address(const char *path, uint64_t *address);

/**
 * elf_argument - parse "FILE[@ADDRESS]"
 * @path: copy of FILE; the caller frees it
 * @bias: ADDRESS minus the link address of the first loadable segment; 0 without ADDRESS
 *
 * Return: EXIT_OK, EXIT_FAILED or EXIT_USAGE after an error message.
 */
int elf_argument(const struct command *command, const char *option, const char *text, char **path,
		 uint64_t *bias);

#endif /* NTRACE_TOOL_COMMON_INPUT_H */
