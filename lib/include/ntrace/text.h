/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Names of functions, files and threads in text. They are bytes that strangers chose: not always UTF-8 (the
 * kernel cuts the name of a thread after 15 bytes), and maybe with control characters, which end lines and
 * command terminals, or format characters of Unicode, which are not seen and change what is: U+202E shows the rest
 * of the line backwards. Each output writes names as UTF-8 through these functions:
 *
 * | output | control characters | format characters |
 * |---|---|---|
 * | text on a terminal, messages, the page, GDB (which prints names as they come) | '?' | '?' |
 * | lines without quoting: csv, folded, callgrind, lcov | '?' | '?' |
 * | JSON: --json, json, chrome, speedscope | \\u001b | \\u202e |
 * | strings of the Python module | as they are | as they are |
 * | databases and protocol buffers: sqlite, pprof, perfetto | '?' | as they are |
 * | compared with the names of a program: gcov, autofdo, profgen, bolt, perf-data, perfscript | as they are | as they are |
 */
#ifndef NTRACE_TEXT_H
#define NTRACE_TEXT_H

#include <stdbool.h>
#include <stdint.h>

#include <ntrace/error.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * ntrace_text_next - the next character of a name
 * @text: position in a name, not at its end
 * @character: set to its Unicode code point; a byte that is not part of valid UTF-8 counts as Latin-1
 *
 * Return: position after the character.
 */
NTRACE_EXPERIMENTAL const char *ntrace_text_next(const char *text, uint32_t *character);

/**
 * ntrace_text_hidden - whether a character is not seen, or changes how others are seen
 * @character: Unicode code point
 *
 * Return: true for control characters, ends of lines and paragraphs, format characters, such as those of
 * direction, letters and marks without a shape, and numbers that are no character; false for blanks and joiners.
 */
NTRACE_EXPERIMENTAL bool ntrace_text_hidden(uint32_t character);

/**
 * ntrace_text_clean - a name as UTF-8 in one line
 * @name: any bytes that end with 0
 * @room: set to memory to be freed; NULL if the name is returned as it is
 *
 * Each character of ntrace_text_hidden() becomes '?', and each byte that is not part of valid UTF-8 the letter of Latin-1.
 *
 * Return: @name or *@room; "?" when out of memory.
 */
NTRACE_EXPERIMENTAL const char *ntrace_text_clean(const char *name, char **room);

#ifdef __cplusplus
}
#endif

#endif /* NTRACE_TEXT_H */
