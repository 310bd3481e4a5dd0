// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Opening a recording, a perf.data file, or a raw trace. */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "recording/recording.h"
#include "regular.h"
#include "session.h"
#include "struct_size.h"

bool session_is_packed(const char *name)
{
	size_t length = strlen(name);

	return length > 4 && !strcmp(name + length - 4, ".zst");
}

/* A block of zstd has at most 128 KiB, and takes at least four bytes. */
#define ZSTD_BLOCK (128u << 10)
#define ZSTD_BLOCK_LEAST 4
/* No encoder sends so many zeros, and no buffer of the recorder has so many. */
#define HOLE_MAX (1 << 20)

static int refuse_size(struct ntrace_session *session, const struct ntrace_stream *stream,
		       uint64_t size)
{
	session_note(session,
		     "%s has %" PRIu64 " bytes, which cannot be the %" PRIu64
		     " bytes of trace that params states: one of the two files is another "
		     "recording's",
		     stream->file, size, stream->bytes);
	return NTRACE_ERR_FORMAT;
}

static int refuse_hole(struct ntrace_session *session, const char *path)
{
	session_note(
		session,
		"%s has parts of a megabyte and more that were never written: this is no trace",
		path);
	return NTRACE_ERR_FORMAT;
}

/* Sets the paths of the streams' files and notes their problems. */
static int find_stream_files(struct ntrace_session *session)
{
	const struct ntrace_recording *recording = session->recording;
	unsigned int i;

	session->streams = calloc(recording->stream_count + 1u, sizeof(*session->streams));
	session->present = calloc(recording->stream_count + 1u, sizeof(*session->present));
	if (!session->streams || !session->present)
		return NTRACE_ERR_NOMEM;
	for (i = 0; i < recording->stream_count; i++) {
		struct ntrace_stream *stream = &session->streams[i];
		char path[SESSION_PATH_ROOM];
		struct stat st = { 0 };

		*stream = recording->streams[i];
		session->present[i] = stream->bytes;
		snprintf(path, sizeof(path), "%s/%s", session->directory, stream->file);
		stream->file = strdup(path);
		if (!stream->file)
			return NTRACE_ERR_NOMEM;
		if (session->live)
			continue;
		if (!stat(path, &st) && !S_ISREG(st.st_mode)) {
			session_note(session, "%s is not a regular file", path);
			return NTRACE_ERR_FORMAT;
		}
		if (stat(path, &st))
			session_note(session, "%s: %s", path, strerror(errno));
		else if (recording->unfinished)
			stream->bytes = (uint64_t)st.st_size;
		else if (stream->bytes / ZSTD_BLOCK > (uint64_t)st.st_size / ZSTD_BLOCK_LEAST + 1)
			return refuse_size(session, stream, (uint64_t)st.st_size);
		else if (!session_is_packed(path) && has_hole(path, HOLE_MAX))
			return refuse_hole(session, path);
		else if (!session_is_packed(path) && (uint64_t)st.st_size != stream->bytes)
			session_note(session,
				     "%s has %" PRIu64 " bytes, %" PRIu64 " were recorded%s", path,
				     (uint64_t)st.st_size, stream->bytes,
				     (uint64_t)st.st_size > stream->bytes ?
					     ": the rest is not decoded" :
					     "");
		if (recording->unfinished ||
		    (!session_is_packed(path) && (uint64_t)st.st_size < stream->bytes))
			session->present[i] = (uint64_t)st.st_size;
		stream_tell_losses(stream, &session->notes);
	}
	return 0;
}

void session_note_sideband(const struct ntrace_session *session)
{
	char name[SESSION_PATH_ROOM];

	snprintf(name, sizeof(name), "%s%s", session->directory, session->single ? "" : "/data");
	machine_tell(&session->machine, &session->notes, name);
}

/* Sideband is valuable, but trace can be decoded without it. */
static int load_sideband(struct ntrace_session *session)
{
	char path[SESSION_PATH_ROOM];
	struct stat status;
	int error;

	snprintf(path, sizeof(path), "%s/data", session->directory);
	if (!stat(path, &status) && !S_ISREG(status.st_mode)) {
		session_note(session, "%s is not a regular file", path);
		return NTRACE_ERR_FORMAT;
	}
	error = machine_open(&session->machine, session->directory);
	if (error == NTRACE_ERR_NOMEM)
		return error;
	if (error)
		session_note(session, "%s: %s; programs are unknown", path,
			     error == NTRACE_ERR_IO ? strerror(errno) : ntrace_strerror(error));
	else if (!session->live)
		session_note_sideband(session);
	return 0;
}

static int import_trace(struct ntrace_session *session, const char *params)
{
	int error;

	session->import = (struct aux_import){
		.name = session->directory,
		.machine = &session->machine,
		.params = params,
		.notes = &session->notes,
	};
	error = aux_import_read(&session->import);
	session->recording = recording_of_streams(session->machine.file, session->import.streams,
						  session->import.stream_count);
	if (!session->recording)
		return NTRACE_ERR_NOMEM;
	/* From here on the session frees them like those of a directory. */
	session->streams = session->import.streams;
	session->import.streams = NULL;
	session->import.stream_count = 0;
	return error;
}

/* Opens a perf.data file: with trace recorded by another driver, or with branch stacks. */
static int load_file(struct ntrace_session *session, const struct ntrace_session_options *options)
{
	int error = machine_open(&session->machine, session->directory);

	if (error == NTRACE_ERR_FORMAT || error == NTRACE_ERR_UNSUPPORTED) {
		session_note(session, "%s is neither a recording nor a perf.data file%s",
			     session->directory,
			     error == NTRACE_ERR_UNSUPPORTED ? " of this byte order" : "");
		return NTRACE_ERR_FORMAT;
	}
	if (error)
		return error;
	session->single = true;
	if (!aux_import_has_trace(&session->machine))
		return session_load_samples(session);
	error = import_trace(session, options->params);
	return error ? error :
		       session_load_kernel(session, options->firmware, options->firmware_bias);
}

/* perf record --kcore and --threads make a directory with a file "data", but without trace files or params. */
static bool is_perf_directory(const struct ntrace_session *session)
{
	char data[SESSION_PATH_ROOM], trace[SESSION_PATH_ROOM];

	snprintf(data, sizeof(data), "%s/data", session->directory);
	snprintf(trace, sizeof(trace), "%s/aux.0", session->directory);
	return !access(data, F_OK) && access(trace, F_OK);
}

static int load_perf_directory(struct ntrace_session *session,
			       const struct ntrace_session_options *options)
{
	char link[NAME_MAX + 1];

	if (!recording_find_link(session->directory, link, sizeof(link)))
		return load_file(session, options);
	session_note(session,
		     "%s: " RECORDING_LINK_OUT
		     ": put the file in its place, or link the whole directory",
		     link);
	return NTRACE_ERR_UNSUPPORTED;
}

/* Files of another machine cannot be told from those of this one: before Linux 5.6, and in some sandboxes. */
static bool cannot_open_below(const struct ntrace_session *session)
{
	char found[SESSION_PATH_ROOM];

	return *session->sysroot &&
	       ntrace_path_below(session->sysroot, "/", found, sizeof(found)) && errno == ENOSYS;
}

/* Links in the directory of a recording, or of perf record. Return: 0 or NTRACE_ERR_UNSUPPORTED after a note */
static int check_links(struct ntrace_session *session)
{
	if (!session->chosen && recording_leads_out(session->directory, RECORDING_ARCHIVE)) {
		session_note(session, RECORDING_ARCHIVE ": " RECORDING_LINK_OUT
							": name the directory with --sysroot");
		return NTRACE_ERR_UNSUPPORTED;
	}
	if (cannot_open_below(session)) {
		session_note(session,
			     "this kernel cannot open files below a directory (%s): it has no "
			     "openat2(), which is in Linux 5.6 and later",
			     session->sysroot);
		return NTRACE_ERR_UNSUPPORTED;
	}
	return 0;
}

/* Trace of another machine, or of other registers than it has, would be decoded as something else. */
static int check_machine(struct ntrace_session *session)
{
	const char *machine = session->recording->machine;
	unsigned int xlen = !strcmp(machine, "riscv64") ? 64 : !strcmp(machine, "riscv32") ? 32 : 0;

	if (*machine && strncmp(machine, "riscv", strlen("riscv"))) {
		session_note(session, "%s/params: machine %.40s: not a RISC-V machine",
			     session->directory, machine);
		return NTRACE_ERR_FORMAT;
	}
	for (unsigned int i = 0; xlen && i < session->recording->stream_count; i++) {
		if (session->recording->streams[i].params->xlen == xlen)
			continue;
		session_note(session, "%s/params: stream %u has xlen=%u, and the machine is %s",
			     session->directory, i,
			     (unsigned int)session->recording->streams[i].params->xlen, machine);
		return NTRACE_ERR_FORMAT;
	}
	return 0;
}

static int load(struct ntrace_session *session, const struct ntrace_session_options *options)
{
	char reason[256];
	struct stat status;
	int error;

	error = check_links(session);
	if (error)
		return error;
	if (options->code)
		return session_load_raw(session, options);
	if (!stat(session->directory, &status) && S_ISREG(status.st_mode))
		return load_file(session, options);
	error = ntrace_recording_read(&session->recording, session->directory, reason,
				      sizeof(reason));
	if (error == NTRACE_ERR_IO && (errno == ENOENT || errno == ENOTDIR)) {
		if (stat(session->directory, &status)) {
			session_note(session, "%s: %s", session->directory, strerror(errno));
			return NTRACE_ERR_IO;
		}
		if (is_perf_directory(session))
			return load_perf_directory(session, options);
		session_note(session, "%s is not a recording: no 'params' file",
			     session->directory);
		return NTRACE_ERR_FORMAT;
	}
	if (error == NTRACE_ERR_IO)
		session_note(session, "%s/params: %s", session->directory, strerror(errno));
	else if (error == NTRACE_ERR_UNSUPPORTED)
		session_note(session, "%s", reason);
	else if (error == NTRACE_ERR_FORMAT)
		session_note(session, "%s: cannot read the recording: %s", session->directory,
			     reason);
	if (error)
		return error;
	if (session->recording->clock[0] && strcmp(session->recording->clock, "monotonic"))
		session_note(session,
			     "the recording's clock is %s, not monotonic: "
			     "tasks may be wrong",
			     session->recording->clock);
	if (session->recording->unfinished && !session->live)
		session_note(session,
			     "%s is an unfinished recording: its recorder was killed or is still "
			     "running; the trace ends where it was last written",
			     session->directory);
	if (!session->recording->stream_count && !session->live) {
		session_note(session, "%s/params names no stream: the recording has no trace",
			     session->directory);
		return NTRACE_ERR_FORMAT;
	}
	error = check_machine(session);
	if (!error)
		error = find_stream_files(session);
	if (!error)
		error = load_sideband(session);
	if (!error)
		error = session_load_kernel(session, options->firmware, options->firmware_bias);
	return error;
}

/* The given sysroot, else the archive of the recording, else the files of this machine. */
static char *choose_sysroot(const char *directory, const char *sysroot)
{
	struct stat status;
	size_t length;
	char *archive;

	if (!sysroot) {
		if (asprintf(&archive, "%s/" RECORDING_ARCHIVE, directory) < 0)
			return NULL;
		if (!stat(archive, &status) && S_ISDIR(status.st_mode))
			return archive;
		free(archive);
		return strdup("");
	}
	/* Paths of mappings begin with a slash. */
	length = strlen(sysroot);
	while (length && sysroot[length - 1] == '/')
		length--;
	return strndup(sysroot, length);
}

struct ntrace_session *session_new(void)
{
	struct ntrace_session *made = calloc(1, sizeof(*made));

	if (!made)
		return NULL;
	pthread_mutex_init(&made->opening, NULL);
	pthread_mutex_init(&made->telling, NULL);
	return made;
}

int ntrace_session_open(struct ntrace_session **session, const char *directory,
			const struct ntrace_session_options *options)
{
	struct ntrace_session_options full = { 0 };
	struct ntrace_session *made;
	int error;

	if (options && STRUCT_TAKE(&full, options))
		return NTRACE_ERR_INVALID;
	made = session_new();
	if (!made)
		return NTRACE_ERR_NOMEM;
	made->notes = (struct notes){ full.note, full.note_data };
	made->live = full.live;
	made->progress = full.progress;
	made->progress_data = full.progress_data;
	made->directory = strdup(directory);
	made->sysroot = choose_sysroot(directory, full.sysroot);
	made->roots[0] = made->sysroot;
	/* A given sysroot may lack debug files; an archive is all that the recording may show. */
	made->roots[1] = full.sysroot && made->sysroot && *made->sysroot ? "" : NULL;
	made->chosen = full.sysroot != NULL;
	if (asprintf(&made->origin, "sysroot %s\nfirmware %s %" PRIx64 "\nparams %s\n",
		     made->sysroot ? made->sysroot : "", full.firmware ? full.firmware : "",
		     full.firmware_bias, full.params ? full.params : "") < 0)
		made->origin = NULL;
	if (full.firmware)
		made->firmware_path = strdup(full.firmware);
	error = made->directory && made->sysroot && made->origin &&
				(!full.firmware || made->firmware_path) ?
			0 :
			NTRACE_ERR_NOMEM;
	if (!error && strlen(directory) > SESSION_PATH_ROOM / 2) {
		errno = ENAMETOOLONG;
		error = NTRACE_ERR_IO;
	}
	if (!error)
		error = load(made, &full);
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
	if (session->detach)
		session->detach(session->attached);
	if (session->index)
		session_index_free(session->index, session->recording->stream_count);
	aux_import_free(&session->import);
	machine_close(&session->machine);
	ntrace_space_put(session->kernel);
	for (i = 0; session->streams && i < session->recording->stream_count; i++)
		free((char *)(uintptr_t)session->streams[i].file);
	free(session->streams);
	free(session->present);
	ntrace_recording_free(session->recording);
	free(session->directory);
	free(session->sysroot);
	free(session->origin);
	free(session->firmware_path);
	free(session->raw_text);
	pthread_mutex_destroy(&session->opening);
	pthread_mutex_destroy(&session->telling);
	free(session);
}

unsigned int ntrace_session_streams(const struct ntrace_session *session)
{
	return session->recording->stream_count;
}

uint64_t ntrace_session_bytes(const struct ntrace_session *session, unsigned int index)
{
	const struct ntrace_stream *stream = ntrace_session_stream(session, index);

	if (!stream)
		return 0;
	return session->present ? __atomic_load_n(&session->present[index], __ATOMIC_RELAXED) :
				  stream->bytes;
}

const char *const *ntrace_session_roots(const struct ntrace_session *session)
{
	return session->roots;
}

const struct ntrace_perf_file *ntrace_session_sideband(const struct ntrace_session *session)
{
	return session->machine.file;
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
