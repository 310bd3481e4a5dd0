/* SPDX-License-Identifier: GPL-2.0-only */
/* The terminal of `ntrace top`: taken over, drawn, asked for keys, given back. */
#ifndef NTRACE_TOOL_TOP_SCREEN_H
#define NTRACE_TOOL_TOP_SCREEN_H

#include <stdbool.h>
#include <termios.h>

#include "common/output.h"

/**
 * struct top_screen - where lines go: a terminal, or anything else
 * @output: what is written to
 * @active: the terminal is taken over
 * @keys: standard input is one that tells keys
 * @colours: so many styles as ui.h has
 * @rows: of the terminal, when drawing last began; without one 0, as is
 * @columns: lines are cut there
 * @complaints: what is written to standard error meanwhile, to be shown when the terminal is back
 */
struct top_screen {
	struct output *output;
	bool active;
	bool keys;
	bool colours;
	unsigned int rows;
	unsigned int columns;
	unsigned int row;
	struct termios before;
	int complaints;
	int errors;
};

/** top_screen_open - take the terminal over; where standard output is none, or @batch, do nothing */
void top_screen_open(struct top_screen *screen, struct output *output, bool batch);

/** top_screen_close - leave the terminal as it was found */
void top_screen_close(struct top_screen *screen);

/** top_screen_begin - the next line is the first one */
void top_screen_begin(struct top_screen *screen);

/**
 * top_screen_line - one line, cut to the terminal; none below its last row
 * @style: enum ui_style
 */
void top_screen_line(struct top_screen *screen, unsigned int style, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/** top_screen_end - all lines are there. Return: 0, or errno of the first failed write */
int top_screen_end(struct top_screen *screen);

/** top_screen_key - a key that was pressed, 0 = none; does not wait */
int top_screen_key(struct top_screen *screen);

#endif /* NTRACE_TOOL_TOP_SCREEN_H */
