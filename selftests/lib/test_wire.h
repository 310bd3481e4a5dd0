/* SPDX-License-Identifier: GPL-2.0-only */
/* For tests of wire and flow: messages as text, hex as bytes, and the shared test data. */
#ifndef SELFTESTS_TEST_WIRE_H
#define SELFTESTS_TEST_WIRE_H

#include <stdlib.h>
#include <sys/stat.h>

#include <ntrace/wire.h>

#include "tap.h"

/* Bytes of "70 D0 1D"; blanks are optional, "xN" after a byte repeats it. */
static inline size_t from_hex(const char *text, uint8_t *data, size_t room)
{
	size_t size = 0;

	while (*text) {
		unsigned long byte;
		char *end;

		if (*text == ' ') {
			text++;
			continue;
		}
		if (*text == 'x') {
			unsigned long count = strtoul(text + 1, &end, 10);

			while (--count && size && size < room) {
				data[size] = data[size - 1];
				size++;
			}
			text = end;
			continue;
		}
		byte = strtoul(text, &end, 16);
		if (end == text || size == room)
			break;
		data[size++] = (uint8_t)byte;
		text = end;
	}
	return size;
}

/* "ProgTraceSync SYNC=0x3 ICNT=0x0 FADDR=0x80", fields in the order of the message table. */
static inline const char *message_text(const struct ntrace_message *message)
{
	static char text[512];
	int at = snprintf(text, sizeof(text), "%s", ntrace_tcode_name(message->tcode));

	for (unsigned int i = 0; i < NTRACE_FIELD_COUNT; i++) {
		if (ntrace_message_has(message, (enum ntrace_field)i))
			at += snprintf(text + at, sizeof(text) - (size_t)at, " %s=0x%" PRIx64,
				       ntrace_field_name((enum ntrace_field)i), message->field[i]);
	}
	if (message->flags)
		snprintf(text + at, sizeof(text) - (size_t)at, " flags=%u", message->flags);
	return text;
}

/* Parameters from text over the defaults. */
static inline struct ntrace_params params_of(const char *text)
{
	struct ntrace_params params;

	ntrace_params_init(&params);
	if (ntrace_params_parse(&params, text, NULL))
		ok(false, "parameters of the test: %s", text);
	return params;
}

/* Like params_of(), for a configuration that points to them; valid for the next 16 calls. */
static inline const struct ntrace_params *params_at(const char *text)
{
	static struct ntrace_params params[16];
	static unsigned int next;

	next = (next + 1) % 16;
	params[next] = params_of(text);
	return &params[next];
}

/* Path of a file of the shared test data; NULL, after a skip line, if it is absent. */
static inline const char *shared_file(const char *name)
{
	static char paths[4][4096];
	static unsigned int next;
	const char *root = getenv("NTRACE_SHARED");
	char *path = paths[next++ % 4];
	struct stat status;

	snprintf(path, sizeof(paths[0]), "%s/data/refcode/%s", root ? root : "../shared", name);
	if (!stat(path, &status))
		return path;
	skip(name, "no shared test data: set NTRACE_SHARED to its directory");
	return NULL;
}

/* The whole file, malloc'ed; NULL if it cannot be read. */
static inline uint8_t *read_file(const char *path, size_t *size)
{
	FILE *file = fopen(path, "rb");
	uint8_t *data = NULL;

	*size = 0;
	if (!file)
		return NULL;
	for (size_t room = 65536, got = 1; got; room *= 2) {
		uint8_t *grown = realloc(data, room);

		if (!grown)
			break;
		data = grown;
		got = fread(data + *size, 1, room - *size, file);
		*size += got;
	}
	fclose(file);
	return data;
}

/* Reads a compressed text file line by line. */
static inline FILE *open_gz(const char *path)
{
	char command[4200];

	snprintf(command, sizeof(command), "gzip -dc '%s'", path);
	return popen(command, "r");
}

#endif
