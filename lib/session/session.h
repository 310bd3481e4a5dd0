/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* What the files of lib/session share. */
#ifndef NTRACE_SESSION_INTERNAL_H
#define NTRACE_SESSION_INTERNAL_H

#include <stdio.h>

#include <ntrace/recording.h>
#include <ntrace/session.h>

#include "recording/aux_import.h"
#include "recording/recording.h"
#include "sideband/machine.h"

struct ntrace_session {
	char *directory;
	char *sysroot;
	struct notes notes;
	int (*progress)(void *progress_data, unsigned int stream, uint64_t bytes);
	void *progress_data;
	struct ntrace_recording *recording;
	struct ntrace_stream *streams;	/* as in recording, but with paths */
	struct machine machine;
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
	struct aux_import import;	/* @single with trace: what a directory has in files */
};

/* A file of trace that is compressed. What is in it is counted when it is read. */
bool session_is_packed(const char *name);

#define session_note(session, ...) notes_add(&(session)->notes, __VA_ARGS__)

/* kernel_space.c: fills session->kernel and the watched addresses. Return: 0 or NTRACE_ERR_NOMEM. */
int session_load_kernel(struct ntrace_session *session, const char *firmware, uint64_t bias);

/* samples.c: session->directory is a file, whose sideband has been read. Return: as ntrace_session_open(). */
int session_load_samples(struct ntrace_session *session);

/* session.c: notes on what the sideband lacks. */
void session_tell_sideband(const struct ntrace_session *session);

/* Room for the path of a file of the recorded machine. */
#define SESSION_PATH_ROOM 4096

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
