// SPDX-License-Identifier: GPL-2.0-only
/* Fields and the bytes that they occupy. */
#include <string.h>

#include "layout.h"

#define MDO_BITS 6
/* TCODE, SRC and two fixed fields; four variable fields. */
#define FIXED_MAX 4
#define VARIABLE_MAX 4
/* Size for all field names of one byte. */
#define NAME_SIZE 40
/* "SRC+EVCODE+CDF" and a bit more */
#define NAMES_WIDTH 18

/*
 * The fields of one message. @message: the bytes begin like a message; otherwise the other members
 * are empty. @known: the TCODE is in the message table, so that the variable fields have names.
 * @fixed_bits: number of bits of TCODE, SRC and the fixed fields together. @fixed: these, with the
 *         bit after the
 * last one of each. @variable: enum ntrace_field of the variable fields before TSTAMP.
 */
struct layout {
	bool message;
	bool known;
	unsigned int fixed_bits;
	unsigned int fixed_count;
	struct {
		const char *name;
		unsigned int end;
	} fixed[FIXED_MAX];
	unsigned int variable_count;
	uint8_t variable[VARIABLE_MAX];
};

static unsigned int mseo(uint8_t byte)
{
	return byte & 3;
}

/* Returns @bits bits of the payload from bit @at on. */
static uint64_t payload(const uint8_t *bytes, size_t count, unsigned int at, unsigned int bits)
{
	uint64_t value = 0;
	unsigned int i;

	for (i = 0; i < bits; i++, at++)
		if (at / MDO_BITS < count)
			value |= (uint64_t)(bytes[at / MDO_BITS] >> (2 + at % MDO_BITS) & 1) << i;
	return value;
}

static void add_fixed(struct layout *layout, const char *name, unsigned int bits)
{
	layout->fixed_bits += bits;
	layout->fixed[layout->fixed_count].name = name;
	layout->fixed[layout->fixed_count++].end = layout->fixed_bits;
}

/*
 * RCODE and CDF decide which variable fields exist: read the fixed fields first, then the others.
 */
static void add_fields(struct layout *layout, const struct ntrace_params *params,
		       const uint8_t *bytes, size_t count, unsigned int tcode)
{
	struct ntrace_layout_field fields[NTRACE_LAYOUT_MAX];
	uint64_t values[NTRACE_FIELD_COUNT] = { 0 };
	int i, found = ntrace_message_layout(tcode, values, params, fields);

	for (i = 0; i < found && fields[i].bits; i++) {
		values[fields[i].field] = payload(bytes, count, layout->fixed_bits, fields[i].bits);
		add_fixed(layout, ntrace_field_name(fields[i].field), fields[i].bits);
	}
	found = ntrace_message_layout(tcode, values, params, fields);
	for (i = 0; i < found; i++)
		if (!fields[i].bits)
			layout->variable[layout->variable_count++] = fields[i].field;
	layout->known = found >= 0;
}

/* @bytes: first bytes of a message, complete or not; missing bits count as 0 */
static void layout_init(struct layout *layout, const struct ntrace_params *params,
			const uint8_t *bytes, size_t count)
{
	memset(layout, 0, sizeof(*layout));
	layout->message = count && mseo(bytes[0]) == 0;
	if (!layout->message)
		return;
	add_fixed(layout, "TCODE", MDO_BITS);
	add_fields(layout, params, bytes, count, bytes[0] >> 2);
	if (!layout->known && params->src_bits)
		add_fixed(layout, ntrace_field_name(NTRACE_FIELD_SRC), params->src_bits);
}

static const char *variable_name(const struct layout *layout, unsigned int part)
{
	if (!layout->known)
		return "data";
	if (part < layout->variable_count)
		return ntrace_field_name(layout->variable[part]);
	return part == layout->variable_count ? ntrace_field_name(NTRACE_FIELD_TSTAMP) : "extra";
}

static void append(char *text, const char *name)
{
	size_t used = strlen(text), length = strlen(name);

	if (used + length + 2 > NAME_SIZE)
		return;
	if (used)
		text[used++] = '+';
	memcpy(text + used, name, length + 1);
}

/*
 * Names the fields that have bits in a byte, as "SRC+SYNC". @index: index of the byte in the
 * message. @part: number of earlier bytes that ended a field.
 */
static const char *byte_name(const struct layout *layout, size_t index, unsigned int part,
			     char *text)
{
	unsigned int start = 0, i;

	*text = '\0';
	if (!layout->message) {
		append(text, "data");
		return text;
	}
	for (i = 0; !part && i < layout->fixed_count; start = layout->fixed[i++].end)
		if (start < (index + 1) * MDO_BITS && layout->fixed[i].end > index * MDO_BITS)
			append(text, layout->fixed[i].name);
	if (part || (index + 1) * MDO_BITS > layout->fixed_bits)
		append(text, variable_name(layout, part));
	return text;
}

/* Prints each byte as the specification draws it: MDO, MSEO, its fields, and what the byte ends. */
void layout_byte_lines(struct output *output, const struct ntrace_params *params, uint64_t offset,
		       const uint8_t *bytes, size_t count)
{
	static const char *const mseo[] = { "", "end of field", "reserved", "end of message" };
	char name[NAME_SIZE];
	struct layout layout;
	unsigned int bit, part = 0;
	size_t i;

	layout_init(&layout, params, bytes, count);
	for (i = 0; i < count; i++) {
		const char *ends = mseo[bytes[i] & 3];

		output_text(output, "  0x");
		output_hex(output, offset + i, 8);
		output_text(output, "  ");
		output_hex(output, bytes[i], 2);
		output_char(output, ' ');
		for (bit = 8; bit-- > 0;) {
			if (bit == 1)
				output_char(output, '_');
			output_char(output, bytes[i] >> bit & 1 ? '1' : '0');
		}
		output_char(output, ' ');
		byte_name(&layout, i, part, name);
		output_padded(output, name, *ends ? NAMES_WIDTH : 0);
		output_text(output, ends);
		output_char(output, '\n');
		part += (bytes[i] & 3) != 0;
	}
}

/* First byte of a variable field, and the byte after its last one. */
struct span {
	size_t start;
	size_t end;
};

/* Finds the bytes of the variable fields and TSTAMP, in order. Return: number of fields. */
static unsigned int find_spans(const struct layout *layout, const uint8_t *bytes, size_t count,
			       struct span spans[VARIABLE_MAX + 1])
{
	size_t start = layout->fixed_bits / MDO_BITS, i;
	unsigned int found = 0;

	for (i = 0; i < count && found <= layout->variable_count; i++) {
		if (!mseo(bytes[i]))
			continue;
		spans[found++] = (struct span){ start, i + 1 };
		start = i + 1;
	}
	return found;
}

static unsigned int field_of(const struct layout *layout, unsigned int part)
{
	return part < layout->variable_count ? layout->variable[part] : NTRACE_FIELD_TSTAMP;
}

void layout_sizes(const struct ntrace_params *params, const uint8_t *bytes, size_t count,
		  uint8_t sizes[NTRACE_FIELD_COUNT])
{
	struct span spans[VARIABLE_MAX + 1];
	struct layout layout;
	unsigned int found, i;

	layout_init(&layout, params, bytes, count);
	found = find_spans(&layout, bytes, count, spans);
	for (i = 0; i < found; i++) {
		size_t size = spans[i].end - spans[i].start;

		sizes[field_of(&layout, i)] = (uint8_t)(size < UINT8_MAX ? size : UINT8_MAX);
	}
}

void layout_json_sizes(struct output *output, const struct ntrace_message *message,
		       const struct ntrace_params *params, const uint8_t *bytes)
{
	struct span spans[VARIABLE_MAX + 1], usual[VARIABLE_MAX + 1];
	uint8_t written[NTRACE_MESSAGE_BYTES_MAX];
	struct ntrace_message shortest = *message;
	const char *separator = ",\"sizes\":{";
	struct layout layout;
	unsigned int found, i;
	size_t length;
	int size;

	if (message->flags || message->length > NTRACE_MESSAGE_BYTES_MAX)
		return;
	shortest.address_bytes = 0;
	size = ntrace_message_write(&shortest, params, written);
	if (size == (int)message->length && !memcmp(written, bytes, message->length))
		return;
	layout_init(&layout, params, bytes, message->length);
	found = find_spans(&layout, bytes, message->length, spans);
	if (size < 0 || find_spans(&layout, written, (size_t)size, usual) != found)
		return;
	for (i = 0; i < found; i++) {
		length = spans[i].end - spans[i].start;
		/* A field without bits cannot be written; "bytes" have it. */
		if (!length)
			continue;
		if (length == usual[i].end - usual[i].start &&
		    !memcmp(bytes + spans[i].start, written + usual[i].start, length))
			continue;
		output_printf(output, "%s\"%s\":%zu", separator,
			      ntrace_field_name(field_of(&layout, i)), length);
		separator = ",";
	}
	if (*separator == ',' && !separator[1])
		output_char(output, '}');
}
