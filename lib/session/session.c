// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Opening a recording. */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "session.h"

#define PATH_ROOM 4096

void session_note(const struct ntrace_session *session, const char *format, ...)
{
	char text[1024];
	va_list args;

	if (!session->note)
		return;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	session->note(session->note_data, text);
}

bool session_is_packed(const char *name)
{
	size_t length = strlen(name);

	return length > 4 && !strcmp(name + length - 4, ".zst");
}

void session_tell_losses(const struct ntrace_session *session, const struct ntrace_stream *stream)
{
	if (stream->lost || stream->gaps)
		session_note(session,
			     "cpu %u: %s%" PRIu64 " bytes of trace were lost "
			     "while recording, in %" PRIu64 " gaps",
			     stream->cpu, stream->lost_exact ? "" : "at least ", stream->lost,
			     stream->gaps);
}

/* Streams with the paths of their files, and what is to be said about them. */
static int take_streams(struct ntrace_session *session)
{
	const struct ntrace_recording *recording = session->recording;
	unsigned int i;

	session->streams = calloc(recording->stream_count + 1u, sizeof(*session->streams));
	if (!session->streams)
		return NTRACE_ERR_NOMEM;
	for (i = 0; i < recording->stream_count; i++) {
		struct ntrace_stream *stream = &session->streams[i];
		char path[PATH_ROOM];
		struct stat st;

		*stream = recording->streams[i];
		snprintf(path, sizeof(path), "%s/%s", session->directory, stream->file);
		stream->file = strdup(path);
		if (!stream->file)
			return NTRACE_ERR_NOMEM;
		if (stat(path, &st))
			session_note(session, "%s: %s", path, strerror(errno));
		else if (!session_is_packed(path) && (uint64_t)st.st_size != stream->bytes)
			session_note(session, "%s has %" PRIu64 " bytes, %" PRIu64 " were recorded",
				     path, (uint64_t)st.st_size, stream->bytes);
		session_tell_losses(session, stream);
	}
	return 0;
}

void session_tell_sideband(const struct ntrace_session *session)
{
	const struct timeline *timeline = &session->timeline;
	const char *name = session->directory, *data = session->single ? "" : "/data";

	if (timeline->counts.truncated)
		session_note(session, "%s%s is cut: what came later is missing", name, data);
	if (timeline->counts.damaged)
		session_note(session, "%s%s: %" PRIu64 " damaged records are left out", name, data,
			     timeline->counts.damaged);
	if (timeline->counts.compressed)
		session_note(session,
			     "%s%s: %" PRIu64
			     " compressed records are damaged, or hold too much: what "
			     "is in them is missing",
			     name, data, timeline->counts.compressed);
	if (timeline->lost)
		session_note(session,
			     "%" PRIu64 " sideband records were lost while recording: "
			     "tasks are unknown in places",
			     timeline->lost);
	if (timeline->no_cpu)
		session_note(session, "task switches do not tell their CPU and are not used");
	if (timeline->anonymous_code)
		session_note(session, "some programs have executable memory that no file backs: "
				      "code in it is not decoded");
	if (timeline->text_pokes)
		session_note(session,
			     "%" PRIu64 " changes of kernel text were recorded; the text "
			     "at the start is used",
			     timeline->text_pokes);
}

/* Sideband is worth much, but trace can be decoded without it. */
static int load_timeline(struct ntrace_session *session)
{
	int error = timeline_open(&session->timeline, session->directory);

	if (error == NTRACE_ERR_NOMEM)
		return error;
	if (error)
		session_note(session, "%s/data: %s; programs are unknown", session->directory,
			     error == NTRACE_ERR_IO ? strerror(errno) : ntrace_strerror(error));
	else
		session_tell_sideband(session);
	return 0;
}

/* A perf.data file: with trace, as other drivers have it recorded, or with branch stacks. */
static int load_file(struct ntrace_session *session, const struct ntrace_session_options *options)
{
	bool takes_params = options && options->size >= sizeof(*options);
	int error = timeline_open(&session->timeline, session->directory);

	if (error == NTRACE_ERR_FORMAT || error == NTRACE_ERR_UNSUPPORTED) {
		session_note(session, "%s is neither a recording nor a perf.data file%s",
			     session->directory,
			     error == NTRACE_ERR_UNSUPPORTED ? " of this byte order" : "");
		return NTRACE_ERR_FORMAT;
	}
	if (error)
		return error;
	session->single = true;
	if (!session_has_auxtrace(session))
		return session_load_samples(session);
	error = session_load_auxtrace(session, takes_params ? options->params : NULL);
	return error ? error :
		       session_load_kernel(session, options ? options->firmware : NULL,
					   options ? options->firmware_bias : 0);
}

static int load(struct ntrace_session *session, const struct ntrace_session_options *options)
{
	char reason[256];
	struct stat status;
	int error;

	if (!stat(session->directory, &status) && S_ISREG(status.st_mode))
		return load_file(session, options);
	error = ntrace_recording_read(&session->recording, session->directory, reason,
				      sizeof(reason));
	if (error == NTRACE_ERR_IO && (errno == ENOENT || errno == ENOTDIR)) {
		if (stat(session->directory, &status)) {
			session_note(session, "%s: %s", session->directory, strerror(errno));
			return NTRACE_ERR_IO;
		}
		session_note(session, "%s is no recording: it has no file params",
			     session->directory);
		return NTRACE_ERR_FORMAT;
	}
	if (error == NTRACE_ERR_IO)
		session_note(session, "%s/params: %s", session->directory, strerror(errno));
	else if (error == NTRACE_ERR_FORMAT || error == NTRACE_ERR_UNSUPPORTED)
		session_note(session, "%s is no recording that can be read: %s", session->directory,
			     reason);
	if (error)
		return error == NTRACE_ERR_UNSUPPORTED ? NTRACE_ERR_FORMAT : error;
	if (session->recording->clock[0] && strcmp(session->recording->clock, "monotonic"))
		session_note(session,
			     "the recording's clock is %s, not monotonic: "
			     "tasks may be wrong",
			     session->recording->clock);
	error = take_streams(session);
	if (!error)
		error = load_timeline(session);
	if (!error)
		error = session_load_kernel(session, options ? options->firmware : NULL,
					    options ? options->firmware_bias : 0);
	return error;
}

/* That which is given, else the archive of the recording, else this machine's files. */
static char *choose_sysroot(const char *directory, const char *sysroot)
{
	struct stat status;
	size_t length;
	char *archive;

	if (!sysroot) {
		if (asprintf(&archive, "%s/" SESSION_ARCHIVE, directory) < 0)
			return NULL;
		if (!stat(archive, &status) && S_ISDIR(status.st_mode))
			return archive;
		free(archive);
		return strdup("");
	}
	/* Paths of mappings start with a slash. */
	length = strlen(sysroot);
	while (length && sysroot[length - 1] == '/')
		length--;
	return strndup(sysroot, length);
}

int ntrace_session_open(struct ntrace_session **session, const char *directory,
			const struct ntrace_session_options *options)
{
	struct ntrace_session *made = calloc(1, sizeof(*made));
	int error;

	if (!made)
		return NTRACE_ERR_NOMEM;
	made->note = options ? options->note : NULL;
	made->note_data = options ? options->note_data : NULL;
	made->directory = strdup(directory);
	made->sysroot = choose_sysroot(directory, options ? options->sysroot : NULL);
	error = made->directory && made->sysroot ? 0 : NTRACE_ERR_NOMEM;
	if (!error && strlen(directory) > PATH_ROOM / 2) {
		errno = ENAMETOOLONG;
		error = NTRACE_ERR_IO;
	}
	if (!error)
		error = load(made, options);
	if (error) {
		int saved = errno;

		ntrace_session_close(made);
		errno = saved;
		return error;
	}
	*session = made;
	return 0;
}

void ntrace_session_close(struct ntrace_session *session)
{
	unsigned int i;

	if (!session)
		return;
	while (session->file_count)
		fclose(session->files[--session->file_count]);
	free(session->files);
	while (session->piece_lists)
		free(session->pieces[--session->piece_lists].items);
	free(session->pieces);
	timeline_close(&session->timeline);
	ntrace_space_put(session->kernel);
	for (i = 0; session->streams && i < session->recording->stream_count; i++)
		free((char *)(uintptr_t)session->streams[i].file);
	free(session->streams);
	ntrace_recording_free(session->recording);
	free(session->directory);
	free(session->sysroot);
	free(session);
}

unsigned int ntrace_session_streams(const struct ntrace_session *session)
{
	return session->recording->stream_count;
}

const struct ntrace_perf_file *ntrace_session_sideband(const struct ntrace_session *session)
{
	return session->timeline.sideband;
}

const struct ntrace_recording *ntrace_session_recording(const struct ntrace_session *session)
{
	return session->recording;
}

const struct ntrace_stream *ntrace_session_stream(const struct ntrace_session *session,
						  unsigned int index)
{
	return index < session->recording->stream_count ? &session->streams[index] : NULL;
}
