/* SPDX-License-Identifier: GPL-2.0-only */
/* The terminal of `ntrace top`: setup, drawing, keys, restoring. */
#ifndef NTRACE_TOOL_TOP_SCREEN_H
#define NTRACE_TOOL_TOP_SCREEN_H

#include <stdbool.h>
#include <termios.h>

#include "common/output.h"

/**
 * struct top_screen - destination of lines: a terminal, or any other file
 * @output: destination
 * @active: the terminal is set up
 * @keys: standard input is a terminal that delivers keys
 * @colours: number of styles in ui.h
 * @rows: rows of the terminal at the last top_screen_begin(); 0 without a terminal
 * @columns: lines are cut to this width
 * @complaints: messages written to standard error meanwhile, shown after the terminal is restored
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

/** top_screen_open - set up the terminal; does nothing if @batch or standard output is not a terminal */
void top_screen_open(struct top_screen *screen, struct output *output, bool batch);

/** top_screen_close - restore the terminal */
void top_screen_close(struct top_screen *screen);

/** top_screen_begin - the next line is the first one */
void top_screen_begin(struct top_screen *screen);

/**
 * top_screen_line - one line, cut to the terminal; none below its last row
 * @style: enum ui_style
 */
void top_screen_line(struct top_screen *screen, unsigned int style, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/** top_screen_end - finish the screen. Return: 0, or errno of the first failed write */
int top_screen_end(struct top_screen *screen);

/** top_screen_key - the next key pressed, 0 = none; does not wait */
int top_screen_key(struct top_screen *screen);

#endif /* NTRACE_TOOL_TOP_SCREEN_H */
