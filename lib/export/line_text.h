/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Names in formats of lines. */
#ifndef NTRACE_EXPORT_LINE_TEXT_H
#define NTRACE_EXPORT_LINE_TEXT_H

#include <stdio.h>
#include <stdlib.h>

#include <ntrace/text.h>

/* Writes a name as UTF-8 in one line; @reserved, a character that the format cannot quote, becomes @other. */
static inline void put_line_text(FILE *file, const char *text, char reserved, char other)
{
	char *room;

	for (text = ntrace_text_clean(text, &room); *text; text++)
		putc(*text == reserved ? other : *text, file);
	free(room);
}

#endif
