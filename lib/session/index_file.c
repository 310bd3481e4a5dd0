// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * The file of an index. All its content is derived from the recording, so that a file that is
 * damaged, of another version or of other inputs is made again instead of being an error.
 *
 *	magic, numbers and texts of bytes.h, fingerprint of all bytes before it (8 bytes)
 *
 * The first text describes the inputs: version of the library, options, and size and time of each
 * file that decides how the trace is decoded.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <ntrace/output.h>
#include <ntrace/version.h>

#include "fnv.h"
#include "image/object.h"
#include "index.h"
#include "regular.h"

static const char magic[8] = "ntrINDX";

/* Rises when the content of the file or its meaning changes. */
#define FILE_VERSION 5

/* Bytes at the begin and at the end of a trace file that identify it. */
#define SAMPLE 4096

/* No index is as large as this. */
#define FILE_MAX (UINT64_C(1) << 32)

static uint64_t mtime_of(const struct stat *status)
{
	return (uint64_t)status->st_mtim.tv_sec * UINT64_C(1000000000) +
	       (uint64_t)status->st_mtim.tv_nsec;
}

bool index_path(const struct ntrace_session *session, char *path)
{
	return snprintf(path, SESSION_PATH_ROOM, "%s%s", session->directory,
			session->single ? ".index" : "/index") < SESSION_PATH_ROOM;
}

/* Size and time of a file, or its absence. */
static void put_file(struct bytes *bytes, const char *path)
{
	struct stat status;

	put_data(bytes, path, strlen(path));
	if (stat(path, &status)) {
		put_number(bytes, 0);
		return;
	}
	put_number(bytes, (uint64_t)status.st_size + 1);
	put_number(bytes, mtime_of(&status));
}

/* The files of the recording that decide how its trace is decoded. */
static void put_recording(struct bytes *bytes, const struct ntrace_session *session)
{
	static const char *const names[] = {
		"params",
		"data",
		"images/kernel.start",
		"images/kernel.end",
		"images/kallsyms",
		"images/kallsyms.end",
		"images/vdso",
	};
	char path[SESSION_PATH_ROOM];

	if (session->single) {
		put_file(bytes, session->directory);
		for (size_t i = 0; session->raw && space_object(session->kernel, i); i++) {
			const struct ntrace_object *object = space_object(session->kernel, i);

			put_file(bytes, object->path ? object->path : object->name);
		}
		return;
	}
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (snprintf(path, sizeof(path), "%s/%s", session->directory, names[i]) <
		    (int)sizeof(path))
			put_file(bytes, path);
	}
}

/* The inputs that are known before decoding. */
static void put_inputs(struct bytes *bytes, const struct ntrace_session *session,
		       const struct session_index *index)
{
	put_number(bytes, FILE_VERSION);
	put_data(bytes, ntrace_version(), strlen(ntrace_version()));
	put_data(bytes, session->origin, strlen(session->origin));
	if (session->firmware_path)
		put_file(bytes, session->firmware_path);
	put_recording(bytes, session);
	put_number(bytes, index->distance);
	put_number(bytes, session->recording->stream_count);
}

/* The programs that were opened, or could not be: only decoding shows which are needed. */
static void put_programs(struct bytes *bytes, const struct ntrace_session *session)
{
	char path[SESSION_PATH_ROOM];
	uint64_t count = 0;

	for (size_t bucket = 0; bucket < MACHINE_BUCKETS; bucket++) {
		for (struct mapped_file *file = session->machine.files[bucket]; file;
		     file = file->next)
			count += file->opened && session_local_path(session, file, path);
	}
	put_number(bytes, count);
	for (size_t bucket = 0; bucket < MACHINE_BUCKETS; bucket++) {
		for (struct mapped_file *file = session->machine.files[bucket]; file;
		     file = file->next) {
			if (file->opened && session_local_path(session, file, path))
				put_file(bytes, path);
		}
	}
}

/* Whether the programs are those that put_programs() listed. */
static bool same_programs(struct bytes_reader *reader)
{
	uint64_t count = get_number(reader);
	bool same = true;

	for (; count && same && !reader->bad; count--) {
		char path[SESSION_PATH_ROOM];
		struct stat status;
		uint64_t known;
		size_t size;
		const uint8_t *text = get_data(reader, &size);

		if (size >= sizeof(path))
			return false;
		memcpy(path, text, size);
		path[size] = '\0';
		known = get_number(reader);
		if (stat(path, &status))
			same = !known;
		else
			same = known == (uint64_t)status.st_size + 1 &&
			       get_number(reader) == mtime_of(&status);
	}
	return same && !reader->bad;
}

/* Fingerprint of up to SAMPLE bytes of @fd before @end. */
static uint64_t sample(int fd, uint64_t end)
{
	uint64_t from = end < SAMPLE ? 0 : end - SAMPLE;
	uint8_t data[SAMPLE] = { 0 };
	size_t have = 0;

	while (have < end - from) {
		ssize_t got =
			pread(fd, data + have, (size_t)(end - from) - have, (off_t)(from + have));

		if (got <= 0)
			break;
		have += (size_t)got;
	}
	return fnv_add(FNV_START, data, have);
}

/* Whether offsets in the stream are those in its file, so that the file may grow. */
static bool is_plain(const struct ntrace_stream *stream)
{
	return !stream->params->atid && !session_is_packed(stream->file);
}

void index_identify(const struct ntrace_session *session, unsigned int number,
		    struct index_stream *stream)
{
	const struct ntrace_stream *info = &session->streams[number];
	struct stat status;
	uint64_t size;
	int fd;

	stream->mtime = 0;
	stream->head = 0;
	stream->tail = 0;
	if (open_regular(info->file, &fd, &status))
		return;
	size = is_plain(info) ? stream->bytes : (uint64_t)status.st_size;
	stream->mtime = session->single ? 0 : mtime_of(&status);
	stream->head = sample(fd, size < SAMPLE ? size : SAMPLE);
	stream->tail = sample(fd, size);
	close(fd);
}

/*
 * Compares the trace of a stream with the indexed one. Return: its points are valid. @stream.bytes
 * becomes 0 if it has more bytes than were indexed.
 */
static bool same_trace(const struct ntrace_session *session, unsigned int number,
		       struct index_stream *stream)
{
	const struct ntrace_stream *info = &session->streams[number];
	struct index_stream now = { .bytes = stream->bytes };
	struct stat status;

	if (stat(info->file, &status))
		return false;
	index_identify(session, number, &now);
	if (now.head != stream->head || now.tail != stream->tail)
		return false;
	if (now.mtime == stream->mtime)
		return true;
	/* It has changed: new bytes may follow the indexed ones. */
	if (!is_plain(info) || (uint64_t)status.st_size <= stream->bytes)
		return false;
	stream->bytes = 0;
	return true;
}

/* Return: 0, NTRACE_ERR_NOMEM, or NTRACE_ERR_FORMAT (damaged). */
static int code_points(struct codec *codec, struct index_stream *stream)
{
	uint64_t count = stream->count, offset = 0, length;
	size_t state = 0;

	CODE_NUMBER(codec, count);
	for (uint64_t i = 0; i < count && !codec_failed(codec); i++) {
		struct index_point *point;

		if (!codec->to) {
			if (grow((void **)&stream->points, stream->count, &stream->room,
				 sizeof(*stream->points)))
				return NTRACE_ERR_NOMEM;
			stream->points[stream->count++] = (struct index_point){ .state = state };
		}
		point = &stream->points[i];
		length = point->next - point->offset;
		point->offset = offset += code_number(codec, point->offset - offset, UINT64_MAX);
		point->next = offset + code_number(codec, length, UINT64_MAX);
		CODE_NUMBER(codec, point->address);
		CODE_NUMBER(codec, point->time);
		CODE_NUMBER(codec, point->time_max);
		CODE_NUMBER(codec, point->time_min);
		CODE_SIGNED(codec, point->pid);
		CODE_SIGNED(codec, point->tid);
		CODE_MAX(codec, point->time_known, 1);
		CODE_MAX(codec, point->state_size, FILE_MAX);
		state += point->state_size;
	}
	return codec_failed(codec) ? NTRACE_ERR_FORMAT : 0;
}

/* Return: as code_points(). */
static int code_stream(struct codec *codec, struct index_stream *stream)
{
	const struct index_point *last;
	const uint8_t *states;
	size_t size;
	int error;

	CODE_NUMBER(codec, stream->bytes);
	CODE_NUMBER(codec, stream->mtime);
	CODE_NUMBER(codec, stream->head);
	CODE_NUMBER(codec, stream->tail);
	error = code_points(codec, stream);
	if (codec->to)
		put_data(codec->to, stream->states.data, stream->states.size);
	if (error || codec->to)
		return error;
	states = get_data(codec->from, &size);
	last = index_last(stream);
	if (codec->from->bad || (last && last->state + last->state_size > size))
		return NTRACE_ERR_FORMAT;
	if (!size)
		return 0;
	stream->states.data = malloc(size);
	if (!stream->states.data)
		return NTRACE_ERR_NOMEM;
	memcpy(stream->states.data, states, size);
	stream->states.size = size;
	stream->states.room = size;
	return 0;
}

/* The whole file; false: there is none that can be used. */
static bool read_file(const char *path, struct bytes *bytes)
{
	struct stat status;
	ssize_t got = 1;
	int fd;

	if (open_regular(path, &fd, &status))
		return false;
	if ((uint64_t)status.st_size < FILE_MAX)
		bytes->data = malloc((size_t)status.st_size + 1);
	while (bytes->data && got > 0 && bytes->size < (size_t)status.st_size) {
		got = read(fd, bytes->data + bytes->size, (size_t)status.st_size - bytes->size);
		bytes->size += got > 0 ? (size_t)got : 0;
	}
	close(fd);
	return bytes->data && got > 0;
}

static uint64_t fixed_number(const uint8_t *data)
{
	uint64_t number = 0;

	for (unsigned int i = 0; i < 8; i++)
		number |= (uint64_t)data[i] << 8 * i;
	return number;
}

/* The part of the file that is covered by its fingerprint, after the magic. */
static bool open_content(const struct bytes *file, struct bytes_reader *reader)
{
	if (file->size < sizeof(magic) + 8 || memcmp(file->data, magic, sizeof(magic)) != 0 ||
	    fnv_add(FNV_START, file->data, file->size - 8) !=
		    fixed_number(file->data + file->size - 8))
		return false;
	*reader = (struct bytes_reader){ .next = file->data + sizeof(magic),
					 .end = file->data + file->size - 8 };
	return true;
}

/* Return: 0, NTRACE_ERR_FORMAT (made from other inputs, or damaged), NTRACE_ERR_NOMEM. */
static int load_content(struct ntrace_session *session, struct session_index *index,
			struct bytes_reader *reader)
{
	struct codec codec = { .from = reader };
	struct bytes inputs = { 0 };
	const uint8_t *stored;
	size_t size;
	bool same;
	int error;

	put_inputs(&inputs, session, index);
	stored = get_data(reader, &size);
	same = !inputs.error && size == inputs.size && !memcmp(stored, inputs.data, size);
	free(inputs.data);
	if (inputs.error)
		return inputs.error;
	if (!same || !same_programs(reader))
		return NTRACE_ERR_FORMAT;
	for (unsigned int i = 0; i < session->recording->stream_count; i++) {
		struct index_stream *stream = &index->streams[i];

		error = code_stream(&codec, stream);
		if (error)
			return error;
		if (!same_trace(session, i, stream))
			index_stream_free(stream);
	}
	return 0;
}

int index_load(struct ntrace_session *session, struct session_index *index)
{
	char path[SESSION_PATH_ROOM];
	struct bytes_reader reader;
	struct bytes file = { 0 };
	int error = 0;

	if (index_path(session, path) && read_file(path, &file) && open_content(&file, &reader))
		error = load_content(session, index, &reader);
	free(file.data);
	for (unsigned int i = 0; error && i < session->recording->stream_count; i++)
		index_stream_free(&index->streams[i]);
	return error == NTRACE_ERR_NOMEM ? error : 0;
}

/* Replaces the file at once, so that no reader sees a part of it. */
static int write_file(const char *path, const struct bytes *bytes)
{
	struct ntrace_output *output;
	struct stat status;
	size_t done = 0;
	int error;

	/* A FIFO would be written in place. */
	if (!stat(path, &status) && !S_ISREG(status.st_mode)) {
		errno = EEXIST;
		return NTRACE_ERR_IO;
	}
	error = ntrace_output_open(&output, path, true);
	if (error)
		return error;
	while (done < bytes->size) {
		ssize_t got =
			write(ntrace_output_fd(output), bytes->data + done, bytes->size - done);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			break;
		done += (size_t)got;
	}
	if (ntrace_output_close(output, done == bytes->size) || done < bytes->size)
		return NTRACE_ERR_IO;
	return 0;
}

/* Whether the file is not empty, and no index that may be made again. */
static bool is_other_file(const char *path)
{
	char start[sizeof(magic)];
	struct stat status;
	ssize_t got;
	int fd;

	if (open_regular(path, &fd, &status))
		return false;
	got = read(fd, start, sizeof(start));
	close(fd);
	return got > 0 && memcmp(start, magic, (size_t)got) != 0;
}

int index_store(const struct ntrace_session *session, const struct session_index *index)
{
	struct bytes inputs = { 0 }, bytes = { 0 };
	struct codec codec = { .to = &bytes };
	char path[SESSION_PATH_ROOM];
	uint64_t hash;
	int error;

	for (size_t i = 0; i < sizeof(magic); i++)
		put_byte(&bytes, (uint8_t)magic[i]);
	put_inputs(&inputs, session, index);
	put_data(&bytes, inputs.data, inputs.size);
	put_programs(&bytes, session);
	for (unsigned int i = 0; i < session->recording->stream_count; i++)
		code_stream(&codec, &index->streams[i]);
	error = inputs.error ? inputs.error : bytes.error;
	free(inputs.data);
	if (!error) {
		hash = fnv_add(FNV_START, bytes.data, bytes.size);
		for (unsigned int i = 0; i < 8; i++)
			put_byte(&bytes, (uint8_t)(hash >> 8 * i));
		error = bytes.error;
	}
	if (!error && !index_path(session, path)) {
		errno = ENAMETOOLONG;
		error = NTRACE_ERR_IO;
	}
	if (!error && is_link(path)) {
		errno = ELOOP;
		error = NTRACE_ERR_IO;
	}
	if (!error && is_other_file(path)) {
		errno = EEXIST;
		error = NTRACE_ERR_IO;
	}
	if (!error)
		error = write_file(path, &bytes);
	free(bytes.data);
	return error;
}
