/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Notes of a reader to the user about its input: one line of text each. */
#ifndef NTRACE_SIDEBAND_NOTES_H
#define NTRACE_SIDEBAND_NOTES_H

/* Destination of notes; @take NULL: notes are discarded. */
struct notes {
	void (*take)(void *data, const char *text);
	void *data;
};

__attribute__((format(printf, 2, 3))) void notes_add(const struct notes *notes, const char *format,
						     ...);

#endif
