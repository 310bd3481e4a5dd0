/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Fast text output: decoded traces have hundreds of millions of lines, for which printf() would
 * take longer than the decoder.
 */
#ifndef NTRACE_TOOL_COMMON_OUTPUT_H
#define NTRACE_TOOL_COMMON_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define OUTPUT_SIZE (256 * 1024)
/* Upper limit for a single number or fixed text. */
#define OUTPUT_RESERVE 64

/**
 * struct output - a file descriptor and its unwritten data
 * @error: errno of the first write that failed, 0 = none; all later output is dropped
 * @written: some of it was written
 */
struct output {
	int fd;
	int error;
	bool written;
	size_t used;
	char buffer[OUTPUT_SIZE];
};

void output_init(struct output *output, int fd);

/** output_is_empty - whether nothing was put out */
static inline bool output_is_empty(const struct output *output)
{
	return !output->used && !output->written;
}

/** output_flush - Return: 0, or the errno of the first failed write */
int output_flush(struct output *output);

/** output_finish - flush and report errors. Return: @status, or EXIT_FAILED after a failed write */
int output_finish(struct output *output, int status);

void output_bytes(struct output *output, const char *text, size_t length);

/** output_hex - lower case, no leading zeros and no 0x; @digits is the minimum number of digits */
void output_hex(struct output *output, uint64_t value, unsigned int digits);

/** output_decimal - padded with blanks on the left to @width */
void output_decimal(struct output *output, uint64_t value, unsigned int width);

/** output_json - a quoted JSON string; invalid UTF-8 is taken as Latin-1; NULL is written as null */
void output_json(struct output *output, const char *text);

/** output_json_script - the same with "<" escaped, so that no text can end an HTML script element */
void output_json_script(struct output *output, const char *text);

/** output_printf - formatted output where speed does not matter; without control characters of names */
void output_printf(struct output *output, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static inline void output_text(struct output *output, const char *text)
{
	output_bytes(output, text, strlen(text));
}

static inline void output_char(struct output *output, char c)
{
	if (output->used == OUTPUT_SIZE)
		output_flush(output);
	output->buffer[output->used++] = c;
}

/** output_name - a name in one line, without control characters: see ntrace/text.h */
void output_name(struct output *output, const char *name);

/** output_padded - a name as output_name(), and blanks up to @width */
void output_padded(struct output *output, const char *text, size_t width);

#endif /* NTRACE_TOOL_COMMON_OUTPUT_H */
