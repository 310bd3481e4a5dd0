// SPDX-License-Identifier: GPL-2.0-only
/* Buffered text output with its own number printers. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <ntrace/text.h>

#include "command.h"
#include "output.h"
#include "ui.h"

void output_init(struct output *output, int fd)
{
	output->fd = fd;
	output->error = 0;
	output->used = 0;
	output->written = false;
}

int output_flush(struct output *output)
{
	size_t done = 0;
	ssize_t written;

	output->written |= output->used != 0;
	while (!output->error && done < output->used) {
		written = write(output->fd, output->buffer + done, output->used - done);
		if (written >= 0)
			done += (size_t)written;
		else if (errno != EINTR)
			output->error = errno;
	}
	output->used = 0;
	return output->error;
}

int output_finish(struct output *output, int status)
{
	if (!output_flush(output))
		return status;
	/* A closed pipe is the normal end of `... | head`: no message. */
	if (output->error != EPIPE)
		fail("writing the output: %s", strerror(output->error));
	return EXIT_FAILED;
}

void output_bytes(struct output *output, const char *text, size_t length)
{
	size_t part;

	while (length) {
		if (output->used == OUTPUT_SIZE)
			output_flush(output);
		part = OUTPUT_SIZE - output->used;
		if (part > length)
			part = length;
		memcpy(output->buffer + output->used, text, part);
		output->used += part;
		text += part;
		length -= part;
	}
}

static char *reserve(struct output *output)
{
	if (OUTPUT_SIZE - output->used < OUTPUT_RESERVE)
		output_flush(output);
	return output->buffer + output->used;
}

void output_hex(struct output *output, uint64_t value, unsigned int digits)
{
	unsigned int needed = value ? (unsigned int)(67 - __builtin_clzll(value)) / 4 : 1, i;
	char *out = reserve(output);

	if (digits > 16)
		digits = 16;
	if (needed < digits)
		needed = digits;
	for (i = needed; i-- > 0; value >>= 4)
		out[i] = "0123456789abcdef"[value & 15];
	output->used += needed;
}

void output_decimal(struct output *output, uint64_t value, unsigned int width)
{
	char digits[OUTPUT_RESERVE];
	unsigned int i = sizeof(digits);
	char *out = reserve(output);

	if (width > 32)
		width = 32;
	do {
		digits[--i] = (char)('0' + value % 10);
		value /= 10;
	} while (value);
	while (sizeof(digits) - i < width)
		digits[--i] = ' ';
	memcpy(out, digits + i, sizeof(digits) - i);
	output->used += sizeof(digits) - i;
}

/* What cannot be seen is a number; with @script it is '?' except blanks, because the page shows the text, and '<' is a number. */
static void put_json(struct output *output, const char *text, bool script)
{
	const char *next;

	output_char(output, '"');
	for (; *text; text = next) {
		uint32_t character;

		next = ntrace_text_next(text, &character);
		if (character == '"' || character == '\\') {
			output_char(output, '\\');
			output_char(output, *text);
		} else if (script && ntrace_text_hidden(character) && character != '\t' &&
			   character != '\n') {
			output_char(output, '?');
		} else if (character > 0xffff && ntrace_text_hidden(character)) {
			output_text(output, "\\u");
			output_hex(output, 0xd7c0 + (character >> 10), 4);
			output_text(output, "\\u");
			output_hex(output, 0xdc00 | (character & 0x3ff), 4);
		} else if (ntrace_text_hidden(character) || (script && character == '<') ||
			   (character >= 0x7f && next - text == 1)) {
			output_text(output, "\\u");
			output_hex(output, character, 4);
		} else {
			output_bytes(output, text, (size_t)(next - text));
		}
	}
	output_char(output, '"');
}

void output_name(struct output *output, const char *name)
{
	char *room;

	output_text(output, ntrace_text_clean(name, &room));
	free(room);
}

void output_padded(struct output *output, const char *text, size_t width)
{
	char *room;
	const char *clean = ntrace_text_clean(text, &room);
	size_t length = strlen(clean);

	output_bytes(output, clean, length);
	while (length++ < width)
		output_char(output, ' ');
	free(room);
}

void output_json(struct output *output, const char *text)
{
	if (text)
		put_json(output, text, false);
	else
		output_text(output, "null");
}

void output_json_script(struct output *output, const char *text)
{
	put_json(output, text, true);
}

void output_printf(struct output *output, const char *format, ...)
{
	char text[1000], *whole, *room;
	va_list args;
	int length;

	va_start(args, format);
	length = vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (length < (int)sizeof(text)) {
		if (length > 0) {
			output_text(output, ui_clean(format, text, &room));
			free(room);
		}
		return;
	}
	/* Names of files and functions may be long. */
	va_start(args, format);
	length = vasprintf(&whole, format, args);
	va_end(args);
	if (length < 0) {
		output->error = output->error ? output->error : ENOMEM;
		return;
	}
	output_text(output, ui_clean(format, whole, &room));
	free(room);
	free(whole);
}
