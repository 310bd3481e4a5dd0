// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Notes for the user. */
#include <stdarg.h>
#include <stdio.h>

#include "notes.h"

void notes_add(const struct notes *notes, const char *format, ...)
{
	char text[1024];
	va_list args;

	if (!notes->take)
		return;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	notes->take(notes->data, text);
}
