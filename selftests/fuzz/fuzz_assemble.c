// SPDX-License-Identifier: GPL-2.0-only
/*
 * Passes any text to ntrace assemble. Input: a byte that chooses the parameters, then lines. Checks
 * that the bytes of an accepted message are read as one message with the fields of the line, and
 * that a refusal has a reason.
 */
#include <stdlib.h>
#include <string.h>

#include "stream/assemble/assemble.h"

#define BYTES_MAX (1 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A message with its pieces, and the bytes that it was written as. */
struct written {
	uint8_t bytes[BYTES_MAX];
	size_t size;
	size_t total;
};

/* A line can stand for any number of idle bytes: limit them. */
static int take(void *data, const uint8_t *bytes, size_t size)
{
	struct written *written = data;

	written->total += size;
	if (written->total > BYTES_MAX)
		return 1;
	memcpy(written->bytes + written->size, bytes, size);
	written->size += size;
	return 0;
}

static bool is_address(unsigned int field)
{
	return field == NTRACE_FIELD_FADDR || field == NTRACE_FIELD_UADDR;
}

/* Upper bits of an address may be missing from the trace: compare the full addresses. */
static void check_field(const struct ntrace_message *given, const struct ntrace_message *read,
			const struct ntrace_params *params, unsigned int field)
{
	struct ntrace_message full = { .present = 1u << NTRACE_FIELD_FADDR };

	if (given->field[field] == read->field[field])
		return;
	if (!is_address(field) || !(params->extend_address || params->address_bits))
		abort();
	full.field[NTRACE_FIELD_FADDR] = given->field[field];
	if (ntrace_message_address(read, params, 0) != ntrace_message_address(&full, params, 0))
		abort();
}

static void check_message(const struct assemble *assemble, const struct written *written)
{
	const struct ntrace_message *given = &assemble->line.message;
	struct ntrace_message read;
	struct ntrace_reader reader;

	ntrace_reader_init(&reader, &assemble->params, true);
	ntrace_reader_feed(&reader, written->bytes, written->size);
	if (ntrace_reader_next(&reader, &read) != NTRACE_WIRE_MESSAGE || read.offset ||
	    read.length != written->size || read.tcode != given->tcode)
		abort();
	/* A line with bytes may have nothing else but a name. */
	if (!given->present && assemble_line_has(&assemble->line, ASSEMBLE_HAS_BYTES))
		return;
	if (read.present != given->present)
		abort();
	for (unsigned int i = 0; i < NTRACE_FIELD_COUNT; i++)
		check_field(given, &read, &assemble->params, i);
	if (assemble_line_has(&assemble->line, ASSEMBLE_HAS_TARGET) &&
	    ntrace_message_has(&read, NTRACE_FIELD_FADDR) &&
	    ntrace_message_address(&read, &assemble->params, 0) != assemble->line.target)
		abort();
}

/* Return: false if the line was refused, or enough was written. */
static bool take_line(struct assemble *assemble, struct written *written, const char *text,
		      size_t length)
{
	static char line[ASSEMBLE_LINE_MAX + 1];
	int error;

	if (length > sizeof(line))
		return false;
	memcpy(line, text, length);
	assemble->error[0] = '\0';
	error = assemble_text(assemble, line, length);
	if (error < 0 && !assemble->error[0])
		abort();
	if (error)
		return false;
	if (assemble->line.type == ASSEMBLE_MESSAGE)
		check_message(assemble, written);
	/* The pieces of a message may have blank lines and comments between them. */
	if (assemble->line.type != ASSEMBLE_PART && assemble->line.type != ASSEMBLE_NOTHING)
		written->size = 0;
	return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const params[] = {
		NULL,
		"srcbits=2",
		"extaddr=1",
		"xlen=32",
		"srcbits=12",
		"xlen=32,extaddr=1",
		"srcbits=3,extaddr=1",
		"dialect=sifive-v0,srcbits=2",
	};
	static struct assemble assemble;
	static struct written written;
	const char *text = (const char *)data + 1, *end = (const char *)data + size;

	if (!size)
		return 0;
	written.size = 0;
	written.total = 0;
	if (!assemble_init(&assemble, params[*data % 8], take, &written))
		abort();
	while (text < end) {
		const char *newline = memchr(text, '\n', (size_t)(end - text));
		size_t length = (size_t)((newline ? newline : end) - text);

		if (!take_line(&assemble, &written, text, length))
			return 0;
		text += length + 1;
	}
	if (assemble_end(&assemble) && !assemble.error[0])
		abort();
	return 0;
}
