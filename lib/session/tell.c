// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * What a session tells its user: notes and progress. Streams may be decoded at the same time: then the order
 * in which notes arise, and how often, depends on chance. So they are held until the end.
 */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "grow.h"
#include "session.h"

/* Keeps a note. Return: false: out of memory. */
static bool hold(struct ntrace_session *session, const char *text)
{
	void *held = session->held;
	char *copy = strdup(text);

	if (!copy || grow(&held, session->held_count, &session->held_room, sizeof(char *))) {
		free(copy);
		return false;
	}
	session->held = held;
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
	else if (!hold(session, text))
		session->note_lost = true;
	pthread_mutex_unlock(&session->telling);
}

void session_hold_notes(struct ntrace_session *session)
{
	session->holds = true;
	session->note_lost = false;
}

static int compare(const void *left, const void *right)
{
	return strcmp(*(char *const *)left, *(char *const *)right);
}

int session_pass_notes(struct ntrace_session *session)
{
	char **held = session->held;

	session->holds = false;
	if (session->held_count)
		qsort(held, session->held_count, sizeof(*held), compare);
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

int session_tell_progress(struct ntrace_session *session, unsigned int stream, uint64_t bytes)
{
	int result;

	if (!session->progress)
		return 0;
	pthread_mutex_lock(&session->telling);
	result = session->progress(session->progress_data, stream, bytes);
	pthread_mutex_unlock(&session->telling);
	return result;
}
