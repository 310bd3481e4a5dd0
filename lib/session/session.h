/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Session: which thread executed which code of a recording, and when. Shared by the files of lib/session.
 *
 * Opening joins the sideband into a machine (sideband/machine.h), which is constant from then on, unless the
 * recording grows (live.c). Each stream is decoded by a decoding of its own, which holds all that changes:
 *
 *	     data --> machine --- session.c, kernel_space.c (raw.c: without sideband)
 *	                |
 *	    +-----------+--+------------------+
 *	    | switches     | mappings         | times of switches
 *	    v              v                  v
 *	 follower -----> spaces             clock             decoding (decode.c)
 *	 who runs?      which code?         when?
 *	    ^              |                  |
 *	    | what ran     v                  v
 *	   flow of a stream's messages ---> segments and events with thread, privilege and time
 *	    ^                                 |
 *	 aux.N (walk.c)                     lane (lanes.c): passes them on at once, or in the order of turns
 *	 data area (live.c)                   |
 *	                                      v
 *	                                    receiver: profile, call stacks, coverage, export
 *
 * - A stream is the messages of one hart or, in trace from perf, of one thread. Each reads its file for itself,
 *   also if others have the same one: its flow skips their SRC. It is decoded in one piece, by one thread (lanes.h): only
 *   `ntrace stat` of a raw trace, which needs no session, decodes parts of it at once (flow/parts.c).
 * - A segment is code that one thread executed in one privilege: blocks, a run of effects, or a sum.
 * - Only the follower decides which thread runs: the flow knows no threads, and receivers are told.
 * - Lost flow makes the thread uncertain, never wrong: of several possible ones, only common code is decoded.
 * - index.c and range.c start a decoding at a message with SYNC in the middle, with the state saved there.
 */
#ifndef NTRACE_SESSION_INTERNAL_H
#define NTRACE_SESSION_INTERNAL_H

#include <pthread.h>
#include <stdio.h>

#include <ntrace/index.h>
#include <ntrace/recording.h>
#include <ntrace/session.h>

#include "recording/aux_import.h"
#include "recording/recording.h"
#include "sideband/machine.h"

/*
 * Functions of the kernel whose execution says that something is not recorded. A mapping is moved between copy_vma(),
 * which mremap() alone calls, and move_page_tables(); a mapping of a file is then put into the tree of the file.
 */
enum noted_function {
	NOTED_LOAD_MODULE,
	NOTED_UNLOAD_MODULE,
	NOTED_COPY_MAPPING,
	NOTED_LINK_FILE,
	NOTED_MOVE_PAGES,
	NOTED_FUNCTIONS,
};

/*
 * Streams may be decoded at the same time. All of a session but the files of programs (@opening) and the notes
 * is then constant; each decoding has its own spaces and its own position.
 */
struct ntrace_session {
	char *directory;
	char *sysroot;
	bool chosen;			/* @sysroot was given: the caller answers for its files */
	const char *roots[3];		/* ntrace_session_roots() */
	struct notes notes;
	pthread_mutex_t telling;	/* held for notes and progress */
	char **held;			/* notes, in @held_room places, if @holds; @note_lost: not all */
	size_t held_count, held_room;
	bool holds;
	bool note_lost;
	int (*progress)(void *progress_data, unsigned int stream, uint64_t bytes);
	void *progress_data;
	struct ntrace_recording *recording;
	struct ntrace_stream *streams;	/* streams of the recording, with paths */
	uint64_t *present;		/* ntrace_session_bytes(); NULL: all that was recorded */
	struct machine machine;
	pthread_mutex_t opening;	/* held to change files of @machine, and @hinted */
	bool hinted;			/* said where programs that are missing can come from */
	struct ntrace_space *kernel;	/* kernel text and firmware; parent of all */
	uint64_t switch_address;	/* __switch_to; 0 = unknown */
	uint64_t exec_address;		/* begin_new_exec; 0 = unknown */
	uint64_t noted_address[NOTED_FUNCTIONS];	/* 0 = unknown */
	bool modules_changed;		/* a module was loaded or unloaded */
	uint64_t firmware_start;	/* first and last address; start > last: none */
	uint64_t firmware_last;
	bool single;			/* a perf.data file instead of a directory: no images */
	bool live; /* the recording grows */
	bool samples;			/* @single with branch stacks: no streams */
	bool raw;			/* @single without sideband: a file of messages, and @kernel */
	struct ntrace_params raw_params; /* of its streams; @raw_text has their text */
	char *raw_text;
	void *attached;			/* of cursors; freed by @detach */
	void (*detach)(void *attached);
	struct aux_import import;	/* @single with trace: replaces the files of a directory */
	char *origin;			/* options that decide how the trace is decoded, as text */
	char *firmware_path;		/* NULL: no firmware */
	struct session_index *index;	/* NULL: not opened (index.c) */
};

/* Whether a trace file is compressed. Its content is counted while it is read. */
bool session_is_packed(const char *name);

/* notes.c: any thread may call these. */

__attribute__((format(printf, 2, 3))) void session_note(struct ntrace_session *session,
							const char *format, ...);

/*
 * Keeps notes from now on, until they are passed on: each text once, in alphabetical order. Return: 0 or
 * NTRACE_ERR_NOMEM.
 */
void session_hold_notes(struct ntrace_session *session);
int session_pass_notes(struct ntrace_session *session);

/* Notes that a stream's timestamps, @first to @last, contradict how long it was recorded. */
void session_note_times(struct ntrace_session *session, unsigned int stream, uint64_t first,
			uint64_t last);

/*
 * Notes once that the kernel loaded or unloaded a module while it was traced, and for each program that it moved a
 * mapping of a file. @address: of a block that @program, NULL: unknown, executed; @moving: whether its CPU moves one
 */
void session_note_executed(struct ntrace_session *session, uint64_t address,
			   struct program *program, bool *moving);

/* Return: the result of the progress function, or 0. */
int session_report_progress(struct ntrace_session *session, unsigned int stream, uint64_t bytes);

/* kernel_space.c: sets session->kernel and the watched addresses. Return: 0 or NTRACE_ERR_NOMEM. */
int session_load_kernel(struct ntrace_session *session, const char *firmware, uint64_t bias);

/* index.c */
void session_index_free(struct session_index *index, unsigned int streams);

/*
 * samples.c: the session is a file whose sideband has been read. Return: as ntrace_session_open().
 */
int session_load_samples(struct ntrace_session *session);

/* session.c: an empty session, to be freed with ntrace_session_close(). NULL: out of memory. */
struct ntrace_session *session_new(void);

/* session.c: notes about gaps in the sideband. */
void session_note_sideband(const struct ntrace_session *session);

/* raw.c: opens the file as a raw trace of options->code. Return: as ntrace_session_open(). */
int session_load_raw(struct ntrace_session *session, const struct ntrace_session_options *options);

/*
 * Opens a raw trace without its bytes: one stream with @src. @params: copied, NULL: defaults; @code: cloned, NULL:
 * none. Return: 0, NTRACE_ERR_INVALID (parameters), NTRACE_ERR_NOMEM.
 */
int session_of_code(struct ntrace_session **session, const struct ntrace_params *params,
		    unsigned int src, const struct ntrace_space *code);

/* Maximum length of the path of a file of the recorded machine. */
#define SESSION_PATH_ROOM 4096

/* files.c */

/* Path of the copy of @file that the recorder made; false: there is none. As session_local_path(). */
bool session_kept_path(const struct ntrace_session *session, const struct mapped_file *file,
		       char *path);

/* Length of the path of @file, without what the kernel adds if it was removed. */
size_t session_path_length(const struct ntrace_session *session, const struct mapped_file *file);

/* Whether the path of @file leads to another one by now, if to any, and nothing in the recording identifies @file. */
bool session_is_removed(const struct ntrace_session *session, const struct mapped_file *file);

/* Local path of @file; false: it is too long. @path has SESSION_PATH_ROOM bytes. */
bool session_local_path(const struct ntrace_session *session, const struct mapped_file *file,
			char *path);

/*
 * The object of a file, opened once. NULL, after one note, if it cannot be opened. @error: set to
 * NTRACE_ERR_NOMEM without memory, else unchanged.
 */
struct ntrace_object *session_object(struct ntrace_session *session, struct mapped_file *file,
				     int *error);

/*
 * The same for @size bytes of the file from @offset on: code in no segment of the file has an object of its own, which
 * knows none of the names, lines and link addresses of the file.
 */
struct ntrace_object *session_code(struct ntrace_session *session, struct mapped_file *file,
				   uint64_t offset, uint64_t size, int *error);

/* spaces.c */

/* The mapping of @program at @address before @time, found without a space; NULL for no code. */
const struct mapping_change *program_mapping(const struct program *program, uint64_t address,
					     uint64_t time);

/*
 * The file that process @pid has mapped as code at @address just before @time, and the offset of that
 * byte in it. NULL: none, or one that was not opened.
 */
struct ntrace_object *session_code_at(const struct ntrace_session *session, int32_t pid,
				      uint64_t time, uint64_t address, uint64_t *offset);

/*
 * Addresses from @first to @last, all of them code of @mapping. @other: and of this one, at another time; or NULL.
 * @shared: another process mapped @other: see part_share()
 */
struct code_part {
	const struct mapping_change *mapping;
	const struct mapping_change *other;
	bool shared;
	uint64_t first;
	uint64_t last;
};

/*
 * Restricts @part of @program, around @address, to what processes that may share its memory had not replaced at
 * @until: those that it forked, and the one that forked it, as long as neither called exec().
 */
void part_share(const struct program *program, uint64_t address, uint64_t until,
		struct code_part *part);

/* Restricts @part, around @address, to addresses that @change does not cover. */
void part_cut(struct code_part *part, const struct mapping_change *change, uint64_t address);

/*
 * program_mapping() before @until, and the part of the mapping around @address that is the same from @since on.
 * Return: false: no code there.
 */
bool program_part(const struct program *program, uint64_t address, uint64_t since, uint64_t until,
		  struct code_part *part);

/* Whether mappings from @since on, before @until, may replace code of @program. */
bool program_replaces(const struct program *program, uint64_t since, uint64_t until);

#endif
