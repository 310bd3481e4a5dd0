/* SPDX-License-Identifier: GPL-2.0-only */
/* Output for users: messages, colours, progress, numbers. */
#ifndef NTRACE_TOOL_COMMON_UI_H
#define NTRACE_TOOL_COMMON_UI_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/** fail - "ntrace: error: ..." on stderr. Return: EXIT_FAILED */
int fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** warn - "ntrace: warning: ..." on stderr */
void warn(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** say - "ntrace: ..." on stderr */
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/**
 * error_text - the reason of a negative error code of the library; errno tells more of NTRACE_ERR_IO
 *
 * Return: a text that the next call of strerror() may overwrite
 */
const char *error_text(int error);

/**
 * path_failed - print that a file could not be read or written; uses errno
 * @error: NTRACE_ERR_...
 *
 * A reader that closed the pipe is the normal end of `... | head`: no message. Return: EXIT_FAILED.
 */
int path_failed(const char *path, int error);

/* Styles of table cells on a terminal. */
enum ui_style {
	UI_PLAIN,
	UI_HEADING,
	UI_KERNEL,
	UI_DIM,
	UI_BAD,
};

/** ui_colours - whether to use colours on @file (terminal, no NO_COLOR, TERM not dumb) */
bool ui_colours(FILE *file);

/** ui_style_on, ui_style_off - escape sequences, or "" without colours */
const char *ui_style_on(bool colours, enum ui_style style);
const char *ui_style_off(bool colours, enum ui_style style);

/* Size of a buffer for a number with separators, or a size with a unit. */
#define UI_NUMBER_SIZE 32

/** ui_number - 1234567 as "1,234,567"; @text has UI_NUMBER_SIZE bytes. Return: @text */
char *ui_number(char *text, uint64_t number);

/** ui_ticks - a time as "1.234 ms", or "1234 ticks" if @hz is 0 (unknown). Return: @text */
char *ui_ticks(char *text, uint64_t ticks, uint64_t hz);

/** ui_size - bytes as "1.2 MiB"; @text has UI_NUMBER_SIZE bytes. Return: @text */
char *ui_size(char *text, uint64_t bytes);

/**
 * ui_word - @text as one word of a shell's command line, quoted if it has to be
 *
 * Return: string to be freed, NULL without memory.
 */
char *ui_word(const char *text);

/**
 * struct progress - progress line of a long operation on stderr
 *
 * On a terminal the line is rewritten five times a second. Elsewhere a line is written every
 * five seconds, so that short operations leave no trace in a log.
 */
struct progress {
	const char *what;
	uint64_t total;
	double start;
	double next;
	bool terminal;
	bool shown;
	bool silent;
	bool steps;	/* counts steps, not bytes */
};

void progress_begin(struct progress *progress, const char *what, uint64_t total);
void progress_update(struct progress *progress, uint64_t done);
void progress_end(struct progress *progress);

/** monotonic_seconds - CLOCK_MONOTONIC */
double monotonic_seconds(void);
/** monotonic_ns - CLOCK_MONOTONIC in nanoseconds */
uint64_t monotonic_ns(void);

/**
 * ui_clean - names in text that was printed with @format as UTF-8 without control characters
 * @text: changed
 * @room: set to memory to be freed, with room for one more character, or NULL
 *
 * Return: @text or *@room.
 */
char *ui_clean(const char *format, char *text, char **room);

/**
 * ui_rename - from now on, messages have @name instead of @path
 * @path: of a file that is read instead of the one that the user named, a few bytes
 * @name: at most as long; stays valid
 */
void ui_rename(const char *path, const char *name);

/** ui_replace_path - replace the path in a text that is to be kept, as messages do */
void ui_replace_path(char *text);

/** ui_printf - print text with names, cleaned */
void ui_printf(FILE *file, const char *format, ...) __attribute__((format(printf, 2, 3)));
void ui_vprintf(FILE *file, const char *format, va_list args) __attribute__((format(printf, 2, 0)));

#endif /* NTRACE_TOOL_COMMON_UI_H */
