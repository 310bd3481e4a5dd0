/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* What the files of lib/session share. */
#ifndef NTRACE_SESSION_INTERNAL_H
#define NTRACE_SESSION_INTERNAL_H

#include <stdio.h>

#include <ntrace/recording.h>
#include <ntrace/session.h>

#include "timeline.h"

/* Pieces with places in the file of a stream. */
struct piece_list {
	struct piece *items;
	size_t count;
};

struct ntrace_session {
	char *directory;
	char *sysroot;
	void (*note)(void *note_data, const char *text);
	void *note_data;
	struct ntrace_recording *recording;
	struct ntrace_stream *streams;	/* as in recording, but with paths */
	struct timeline timeline;
	struct ntrace_space *kernel;	/* kernel text and firmware; parent of all */
	uint64_t switch_address;	/* __switch_to; 0 = unknown */
	uint64_t exec_address;		/* begin_new_exec; 0 = unknown */
	uint64_t firmware_start;	/* first and last address; start > last: none */
	uint64_t firmware_last;
	uint64_t clock;			/* counts uses of programs' spaces */
	size_t spaces;			/* programs that have a space now */
	int error;			/* NTRACE_ERR_NOMEM: a file or mapping is missing for want of it */
	bool single;			/* a perf.data file, no directory: no images */
	bool samples;			/* @single with branch stacks: no streams */
	/* @single with trace: what the directory of a recording has in files. */
	FILE **files;
	size_t file_count;
	struct piece_list *pieces;	/* by stream */
	unsigned int piece_lists;
};

/* A file of trace that is compressed. What is in it is counted when it is read. */
bool session_is_packed(const char *name);

__attribute__((format(printf, 2, 3))) void session_note(const struct ntrace_session *session,
							const char *format, ...);

/* kernel_space.c: fills session->kernel and the watched addresses. Return: 0 or NTRACE_ERR_NOMEM. */
int session_load_kernel(struct ntrace_session *session, const char *firmware, uint64_t bias);

/* params_file.c: a recording that says nothing and has no streams; NULL without memory. */
struct ntrace_recording *recording_of_nothing(void);

/*
 * params_file.c: a recording with these streams, which the caller keeps as long; texts are those of
 * @file. NULL without memory.
 */
struct ntrace_recording *recording_of_streams(const struct ntrace_perf_file *file,
					      const struct ntrace_stream *streams,
					      unsigned int count);

/* samples.c: session->directory is a file, with its timeline. Return: as ntrace_session_open(). */
int session_load_samples(struct ntrace_session *session);

/* auxtrace.c: likewise; is there trace in it, and what is it? @params: changes to it, may be NULL. */
bool session_has_auxtrace(const struct ntrace_session *session);
int session_load_auxtrace(struct ntrace_session *session, const char *params);

/* session.c: notes on what the sideband lacks, and what a stream lost. */
void session_tell_sideband(const struct ntrace_session *session);
void session_tell_losses(const struct ntrace_session *session, const struct ntrace_stream *stream);

/* Room for the path of a file of the recorded machine. */
#define SESSION_PATH_ROOM 4096

/* Directory of a recording with copies of the files that were traced. */
#define SESSION_ARCHIVE "archive"

/* spaces.c */

/* Where @file is here; false: its path is too long. @path has SESSION_PATH_ROOM bytes. */
bool session_local_path(const struct ntrace_session *session, const struct mapped_file *file,
			char *path);

/*
 * The object of a file, opened once; NULL, after one note, if there is none, and with
 * session->error set if there was no memory.
 */
struct ntrace_object *session_object(struct ntrace_session *session, struct mapped_file *file);

/*
 * The space of @program with all changes before @time; borrowed, valid until
 * the next call for another program or time. NULL without memory, with session->error set.
 */
struct ntrace_space *session_space(struct ntrace_session *session, struct program *program,
				   uint64_t time);

/* Forgets all programs' spaces: the next stream starts at an earlier time. */
void session_drop_spaces(struct ntrace_session *session);

/* What @program has at @address before @time, without making a space; NULL if it is no code. */
const struct mapping_change *program_mapping(const struct program *program, uint64_t address,
					     uint64_t time);

#endif
