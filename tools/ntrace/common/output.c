// SPDX-License-Identifier: GPL-2.0-only
/* Buffered text output with its own number printers. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "command.h"
#include "output.h"
#include "ui.h"

void output_init(struct output *output, int fd)
{
	output->fd = fd;
	output->error = 0;
	output->used = 0;
}

int output_flush(struct output *output)
{
	size_t done = 0;
	ssize_t written;

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

/* Length of the UTF-8 sequence that starts here, 0 if it is invalid. */
static unsigned int utf8_length(const unsigned char *byte)
{
	unsigned int length, i;

	if (byte[0] < 0x80)
		return 1;
	if (byte[0] >= 0xc2 && byte[0] < 0xe0)
		length = 2;
	else if (byte[0] >= 0xe0 && byte[0] < 0xf0)
		length = 3;
	else if (byte[0] >= 0xf0 && byte[0] < 0xf5)
		length = 4;
	else
		return 0;
	for (i = 1; i < length; i++)
		if ((byte[i] & 0xc0) != 0x80)
			return 0;
	/* Overlong forms, surrogates and values above U+10FFFF. */
	if ((byte[0] == 0xe0 && byte[1] < 0xa0) || (byte[0] == 0xed && byte[1] >= 0xa0) ||
	    (byte[0] == 0xf0 && byte[1] < 0x90) || (byte[0] == 0xf4 && byte[1] >= 0x90))
		return 0;
	return length;
}

/* @escaped: one more character to write as a number. */
static void put_json(struct output *output, const char *text, unsigned char escaped)
{
	const unsigned char *byte = (const unsigned char *)text;
	unsigned int length;

	output_char(output, '"');
	for (; *byte; byte += length) {
		length = utf8_length(byte);
		if (*byte == '"' || *byte == '\\') {
			output_char(output, '\\');
			output_char(output, (char)*byte);
		} else if (*byte < 0x20 || *byte == 0x7f || *byte == escaped || !length) {
			output_text(output, "\\u");
			output_hex(output, *byte, 4);
			length = 1;
		} else {
			output_bytes(output, (const char *)byte, length);
		}
	}
	output_char(output, '"');
}

void output_json(struct output *output, const char *text)
{
	if (text)
		put_json(output, text, '\0');
	else
		output_text(output, "null");
}

void output_json_script(struct output *output, const char *text)
{
	put_json(output, text, '<');
}

void output_printf(struct output *output, const char *format, ...)
{
	char text[1000], *whole;
	va_list args;
	int length;

	va_start(args, format);
	length = vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (length < (int)sizeof(text)) {
		output_bytes(output, text, length > 0 ? (size_t)length : 0);
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
	output_bytes(output, whole, (size_t)length);
	free(whole);
}
