/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* The directory of a recording: definitions shared by lib/recording and lib/session. */
#ifndef NTRACE_RECORDING_INTERNAL_H
#define NTRACE_RECORDING_INTERNAL_H

#include <stdbool.h>
#include <stdio.h>

#include <ntrace/perf.h>
#include <ntrace/recording.h>

#include "sideband/notes.h"

/* Directory of a recording with copies of the traced files. */
#define RECORDING_ARCHIVE "archive"

/* What is wrong with a link that leads out of a recording, after its name. */
#define RECORDING_LINK_OUT \
	"a link that leads out of the recording, which must not show other files of this machine"

/*
 * links.c: finds a link that leads out of the recording, among all its files but those of the archive. @found: its
 * path in the recording
 */
bool recording_find_link(const char *directory, char *found, size_t size);

/* links.c: whether @name is a link that leads out of the recording. */
bool recording_leads_out(const char *directory, const char *name);

/* params_file.c: a recording without data and streams; NULL when out of memory. */
struct ntrace_recording *recording_of_nothing(void);

/*
 * params_file.c: a recording with these streams, which the caller keeps valid; strings come from
 * @file. NULL when out of memory.
 */
struct ntrace_recording *recording_of_streams(const struct ntrace_perf_file *file,
					      const struct ntrace_stream *streams,
					      unsigned int count);

/* params_file.c: adds a note if part of the stream's trace was lost. */
void stream_tell_losses(const struct ntrace_stream *stream, const struct notes *notes);

/* trace_file.c: whether a file with these first bytes, of which it looks at the first TRACE_FILE_MAGIC, is zstd's. */
#define TRACE_FILE_MAGIC 4
bool trace_file_is_zstd(const uint8_t *bytes, size_t size);

/* aux_files.c: an empty file without a name, in $TMPDIR or /tmp; NULL with errno on failure. */
FILE *recording_open_nameless(void);

#endif
