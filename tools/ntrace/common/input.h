/* SPDX-License-Identifier: GPL-2.0-only */
/* What a command reads: parameters, recordings, programs; trace.h has raw traces. */
#ifndef NTRACE_TOOL_COMMON_INPUT_H
#define NTRACE_TOOL_COMMON_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ntrace/params.h>
#include <ntrace/recording.h>
#include <ntrace/session.h>

#include "command.h"

/** is_directory - true for recordings, which are directories */
bool is_directory(const char *path);

/**
 * add_params - a further --params
 * @params: those before, NULL or a text of this; becomes all of them, never freed
 * @text: valid settings
 *
 * Return: EXIT_OK, EXIT_USAGE or EXIT_FAILED after a complaint, EXIT_SHOWN after "help".
 */
int add_params(const struct command *command, const char **params, const char *text);

/** is_recording - true for directories, and for perf.data files, which may have trace in them */
bool is_recording(const char *path);

/**
 * input_params - --params of a command
 *
 * Return: EXIT_OK, EXIT_USAGE after a complaint, or EXIT_SHOWN after "help".
 */
int input_params(const struct command *command, struct ntrace_params *params, const char *text);

/**
 * struct recording_options - what --sysroot and --firmware say
 * @firmware: ELF[@ADDRESS] as typed
 * @quiet: notes are collected, not printed
 * @samples: a perf.data file with branch stacks is taken, too
 * @traces: a perf.data file with trace is taken, too
 * @params: of such a one, on top of what it says; NULL: none
 */
struct recording_options {
	const char *sysroot;
	const char *firmware;
	bool quiet;
	bool samples;
	bool traces;
	const char *params;
};

/**
 * struct recording - an open recording and what the library had to say about it
 * @notes: NULL-terminated once opened; owned
 * @file: the perf.data file that it is, NULL for a directory; borrowed
 */
struct recording {
	struct ntrace_session *session;
	char **notes;
	size_t note_count;
	uint64_t notes_dropped;
	bool quiet;
	const char *file;
};

/**
 * recording_open - open a recording
 * @recording: caller's, filled in place: the session keeps its address
 *
 * Notes that come up are printed on stderr as they come unless @quiet; each
 * text is kept once in @recording->notes.
 * Return: EXIT_OK, EXIT_FAILED or EXIT_USAGE after a complaint.
 */
int recording_open(struct recording *recording, const struct command *command, const char *path,
		   const struct recording_options *options);
void recording_close(struct recording *recording);

/** recording_stream_name - file of a stream, for people */
const char *recording_stream_name(const struct recording *recording, unsigned int stream);

/**
 * struct recording_totals - what was traced, of all streams together
 * @bytes: of trace; a sink that several harts share counts once
 * @lost: bytes lost while recording
 * @lost_exact: @lost is exact, else a lower bound
 * @gaps: and errors, that decoding met
 */
struct recording_totals {
	uint64_t bytes;
	uint64_t lost;
	bool lost_exact;
	uint64_t gaps;
};

/**
 * recording_decode - decode all streams, one after the other, with progress
 * @what: that is done with it, for the progress line
 * @event: gets every event; not 0 stops: it has complained, or keeps why
 * @end: called behind each stream; not 0 stops; may be NULL
 * @totals: filled in; may be NULL
 *
 * Return: 0, what a callback returned if that was above 0, or enum ntrace_error.
 */
int recording_decode(struct recording *recording, const char *what,
		     int (*event)(void *data, const struct ntrace_session_event *event),
		     int (*end)(void *data), void *data, struct recording_totals *totals);

/** recording_shares_file - an earlier stream has the same file: these harts share a sink */
bool recording_shares_file(const struct ntrace_session *session, unsigned int stream);

/** recording_error - say why a recording cannot be used; errno counts. Return: EXIT_FAILED */
int recording_error(const char *path, int error, const char *reason);

/**
 * program_first_address - the address that the first loadable segment of an ELF file is linked at
 *
 * Return: EXIT_OK, or EXIT_FAILED after a complaint.
 */
int program_first_address(const char *path, uint64_t *address);

/**
 * elf_argument - take "FILE[@ADDRESS]" apart
 * @path: copy of FILE; the caller frees it
 * @bias: ADDRESS minus the address that the first loadable segment is linked at; 0 without ADDRESS
 *
 * Return: EXIT_OK, EXIT_FAILED or EXIT_USAGE after a complaint.
 */
int elf_argument(const struct command *command, const char *option, const char *text, char **path,
		 uint64_t *bias);

#endif /* NTRACE_TOOL_COMMON_INPUT_H */
