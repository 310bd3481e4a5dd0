// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * What a session reports to its user: notes and progress. Streams may be decoded at the same time: then the order
 * in which notes arise, and how often, depends on chance. So they are held until the end.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "grow.h"
#include "session.h"

/* The clocks of the kernel and of the trace may differ by less. */
#define SPAN_SLACK_MS 1000
#define NS_PER_S 1000000000u

/* Keeps a note. Return: false: out of memory. */
static bool hold_note(struct ntrace_session *session, const char *text)
{
	char *copy = strdup(text);

	if (!copy || grow((void **)&session->held, session->held_count, &session->held_room,
			  sizeof(char *))) {
		free(copy);
		return false;
	}
	session->held[session->held_count++] = copy;
	return true;
}

void session_note(struct ntrace_session *session, const char *format, ...)
{
	char text[1024];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	pthread_mutex_lock(&session->telling);
	if (!session->holds)
		notes_add(&session->notes, "%s", text);
	else if (!hold_note(session, text))
		session->note_lost = true;
	pthread_mutex_unlock(&session->telling);
}

void session_hold_notes(struct ntrace_session *session)
{
	session->holds = true;
	session->note_lost = false;
}

static int compare_texts(const void *left, const void *right)
{
	return strcmp(*(char *const *)left, *(char *const *)right);
}

int session_pass_notes(struct ntrace_session *session)
{
	char **held = session->held;

	session->holds = false;
	if (session->held_count)
		qsort(held, session->held_count, sizeof(*held), compare_texts);
	for (size_t i = 0; i < session->held_count; i++)
		if (!i || strcmp(held[i], held[i - 1]))
			notes_add(&session->notes, "%s", held[i]);
	for (size_t i = 0; i < session->held_count; i++)
		free(held[i]);
	free(held);
	session->held = NULL;
	session->held_count = session->held_room = 0;
	return session->note_lost ? NTRACE_ERR_NOMEM : 0;
}

/*
 * The driver reports the times of start and stop, so timestamps that span far more are misread: whole times
 * that are added, a width or a frequency that is too small.
 */
void session_note_times(struct ntrace_session *session, unsigned int stream, uint64_t first,
			uint64_t last)
{
	const struct ntrace_stream *info = &session->streams[stream];
	uint64_t hz = info->params->timestamp_hz, ms;
	unsigned __int128 span;

	if (hz && last / hz > UINT64_MAX / NS_PER_S)
		session_note(session,
			     "stream %u: its timestamps reach %" PRIu64
			     " s, but times end at 2^64 ns: times after that are wrong or missing: "
			     "tsbits or tshz (--params) does not fit the trace",
			     stream, last / hz);
	if (!hz || first >= last || !info->start_ns || info->stop_ns <= info->start_ns)
		return;
	ms = (info->stop_ns - info->start_ns) / 1000000;
	span = (unsigned __int128)(last - first) * 1000 / hz;
	if (span <= 2 * (unsigned __int128)ms + SPAN_SLACK_MS)
		return;
	session_note(
		session,
		"stream %u: recorded in %" PRIu64 ".%03u s, but its timestamps span %" PRIu64
		" s: unless the machine slept meanwhile, tsdelta, tsbits or tshz in 'params' is "
		"wrong (tsdelta=abs: every message has the whole time)",
		stream, ms / 1000, (unsigned int)(ms % 1000), (uint64_t)(span / 1000));
}

static void note_modules(struct ntrace_session *session)
{
	if (!__atomic_exchange_n(&session->modules_changed, true, __ATOMIC_RELAXED))
		session_note(session,
			     "kernel modules were loaded or unloaded during the recording: "
			     "names at their addresses are uncertain");
}

/* No record says so. Files whose mappings move are mostly data, so code of the program is decoded. */
static void note_moved_file(struct ntrace_session *session, struct program *program)
{
	const char *comm;

	if (!program || __atomic_exchange_n(&program->moved, true, __ATOMIC_RELAXED))
		return;
	comm = machine_thread_name(&session->machine, program->pid, program->start + 1);
	session_note(session,
		     "process %" PRId32 " (%s) moved a mapping of a file (mremap()), and no record "
		     "says which: if it is code, its old place and what was at its new one are "
		     "decoded as before",
		     program->pid, comm ? comm : "?");
}

void session_note_executed(struct ntrace_session *session, uint64_t address,
			   struct program *program, bool *moving)
{
	enum noted_function function = 0;

	while (function < NOTED_FUNCTIONS && session->noted_address[function] != address)
		function++;
	if (!address || function == NOTED_FUNCTIONS)
		return;
	if (function == NOTED_LOAD_MODULE || function == NOTED_UNLOAD_MODULE)
		note_modules(session);
	else if (function == NOTED_LINK_FILE && *moving)
		note_moved_file(session, program);
	else
		*moving = function == NOTED_COPY_MAPPING;
}

int session_report_progress(struct ntrace_session *session, unsigned int stream, uint64_t bytes)
{
	int result;

	if (!session->progress)
		return 0;
	pthread_mutex_lock(&session->telling);
	result = session->progress(session->progress_data, stream, bytes);
	pthread_mutex_unlock(&session->telling);
	return result;
}
