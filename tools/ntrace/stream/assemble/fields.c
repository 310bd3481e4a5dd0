// SPDX-License-Identifier: GPL-2.0-only
/* Checks and encodes fields by the message table. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "fields.h"
#include "stream/layout.h"

/* Size of the text of a message. */
#define TEXT_SIZE 400

bool assemble_refuse(struct assemble *assemble, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(assemble->error, sizeof(assemble->error), format, args);
	va_end(args);
	return false;
}

static const char *name_of(const struct assemble *assemble, const struct ntrace_message *message)
{
	return ntrace_tcode_dialect_name(message->tcode, assemble->params.dialect);
}

/* Appends to @text; truncates if it does not fit. */
__attribute__((format(printf, 2, 3))) static void append(char *text, const char *format, ...)
{
	size_t used = strlen(text);
	va_list args;

	va_start(args, format);
	vsnprintf(text + used, TEXT_SIZE - used, format, args);
	va_end(args);
}

/* "IndirectBranch BTYPE=0x0 ICNT=0x7" */
static const char *describe(const struct assemble *assemble, const struct ntrace_message *message,
			    char *text)
{
	unsigned int i;

	*text = '\0';
	append(text, "%s", name_of(assemble, message));
	for (i = 0; i < NTRACE_FIELD_COUNT; i++)
		if (ntrace_message_has(message, (enum ntrace_field)i))
			append(text, " %s=0x%" PRIx64, ntrace_field_name((enum ntrace_field)i),
			       message->field[i]);
	if (message->flags & NTRACE_MESSAGE_UNKNOWN)
		append(text, " unknown");
	if (message->flags & NTRACE_MESSAGE_TRUNCATED)
		append(text, " truncated");
	if (message->flags & NTRACE_MESSAGE_EXTRA)
		append(text, " extra");
	if (message->flags & NTRACE_MESSAGE_OVERSIZE)
		append(text, " oversize");
	return text;
}

/* "SYNC (4 bits), ICNT, FADDR, and TSTAMP (optional)" */
static const char *describe_layout(const struct ntrace_layout_field *layout, int count, char *text)
{
	int i;

	*text = '\0';
	for (i = 0; i < count; i++) {
		const char *name = ntrace_field_name((enum ntrace_field)layout[i].field);

		append(text, "%s%s", i ? ", " : "", name);
		if (layout[i].bits)
			append(text, " (%u bits)", layout[i].bits);
	}
	append(text, ", and TSTAMP (optional)");
	return text;
}

/* The layout for the values of the fixed fields; missing fields count as 0. */
static int find_layout(const struct assemble *assemble, const struct ntrace_message *message,
		       struct ntrace_layout_field *layout)
{
	return ntrace_message_layout(message->tcode, message->field, &assemble->params, layout);
}

/* A layout that does not depend on values, which may be too wide: all fields are 0. */
static int any_layout(const struct assemble *assemble, const struct ntrace_message *message,
		      struct ntrace_layout_field *layout)
{
	const uint64_t none[NTRACE_FIELD_COUNT] = { 0 };

	return ntrace_message_layout(message->tcode, none, &assemble->params, layout);
}

static bool check_widths(struct assemble *assemble, const struct ntrace_message *message)
{
	struct ntrace_layout_field layout[NTRACE_LAYOUT_MAX];
	int count = any_layout(assemble, message, layout), i;

	for (i = 0; i < count; i++) {
		uint64_t value = message->field[layout[i].field];

		if (!layout[i].bits || !(value >> layout[i].bits))
			continue;
		return assemble_refuse(assemble, "%s is %" PRIu64 ", but has %u bits: at most %u",
				       ntrace_field_name((enum ntrace_field)layout[i].field), value,
				       layout[i].bits, (1u << layout[i].bits) - 1);
	}
	return true;
}

/* Rejects fields that the message does not have. */
static bool check_surplus(struct assemble *assemble, const struct ntrace_message *message,
			  const struct ntrace_layout_field *layout, int count)
{
	uint32_t allowed = 1u << NTRACE_FIELD_TSTAMP;
	uint32_t present = message->present;
	char text[TEXT_SIZE];
	unsigned int i;

	for (i = 0; i < (unsigned int)count; i++)
		allowed |= 1u << layout[i].field;
	if (present & ~allowed & 1u << NTRACE_FIELD_SRC)
		return assemble_refuse(assemble, "SRC is given, but the trace has no SRC field: "
						 "give --params srcbits=N");
	for (i = 0; i < NTRACE_FIELD_COUNT; i++) {
		const char *name = ntrace_field_name((enum ntrace_field)i);

		if (present & ~allowed & 1u << i)
			return assemble_refuse(assemble, "%s has no field %s; its fields are %s",
					       name_of(assemble, message), name,
					       describe_layout(layout, count, text));
		if (assemble->line.sizes[i] && !(present & 1u << i))
			return assemble_refuse(assemble,
					       "\"sizes\" has %s, but the message does not", name);
	}
	return true;
}

static bool check_missing(struct assemble *assemble, const struct ntrace_message *message,
			  const struct ntrace_layout_field *layout, int count)
{
	char text[TEXT_SIZE];
	int i;

	for (i = 0; i < count; i++) {
		unsigned int field = layout[i].field;

		if (ntrace_message_has(message, (enum ntrace_field)field))
			continue;
		return assemble_refuse(assemble, "%s lacks %s%s; its fields are %s",
				       name_of(assemble, message),
				       ntrace_field_name((enum ntrace_field)field),
				       field == NTRACE_FIELD_FADDR || field == NTRACE_FIELD_UADDR ||
						       field == NTRACE_FIELD_CKDATA0 ?
					       " (or ADDRESS)" :
					       "",
				       describe_layout(layout, count, text));
	}
	return true;
}

/* The address that a reader derives from F-ADDR: with addrbits, the upper bits are copies. */
static uint64_t address_of(uint64_t faddr, const struct ntrace_params *params)
{
	struct ntrace_message message = { .present = 1u << NTRACE_FIELD_FADDR };

	message.field[NTRACE_FIELD_FADDR] = faddr;
	return ntrace_message_address(&message, params, 0);
}

/* With a size, an address may have bits beyond XLEN, as in a damaged trace. */
static bool check_address(struct assemble *assemble, const struct ntrace_message *message,
			  unsigned int field)
{
	unsigned int bits = assemble->line.sizes[field] ? 63 : assemble->params.xlen - 1;

	uint64_t value = message->field[field];

	if (!ntrace_message_has(message, (enum ntrace_field)field))
		return true;
	if (value >> bits)
		return assemble_refuse(assemble,
				       "%s is 0x%" PRIx64 ", but has at most %u bits: the address "
				       "without bit 0",
				       ntrace_field_name((enum ntrace_field)field), value, bits);
	if (assemble->line.sizes[field] || !assemble->params.address_bits ||
	    !(value >> assemble->params.address_bits) ||
	    address_of(value, &assemble->params) == value << 1)
		return true;
	return assemble_refuse(assemble,
			       "%s is 0x%" PRIx64
			       ", but %u bits are sent (addrbits): the bits above "
			       "must be 0 or copies of the top one",
			       ntrace_field_name((enum ntrace_field)field), value,
			       assemble->params.address_bits);
}

/* With extaddr, a reader copies the top bit of a chosen size upwards: ADDRESS may not fit. */
static bool check_read_back(struct assemble *assemble, const uint8_t *bytes, size_t size)
{
	const struct assemble_line *line = &assemble->line;
	struct ntrace_message message;
	struct ntrace_reader reader;
	uint64_t address;

	if (!assemble_line_has(line, ASSEMBLE_HAS_TARGET) || !line->sizes[NTRACE_FIELD_FADDR])
		return true;
	ntrace_reader_init(&reader, &assemble->params, true);
	ntrace_reader_feed(&reader, bytes, size);
	if (ntrace_reader_next(&reader, &message) != NTRACE_WIRE_MESSAGE)
		return true;
	address = ntrace_message_address(&message, &assemble->params, 0);
	return address == line->target ||
	       assemble_refuse(assemble,
			       "ADDRESS 0x%" PRIx64 " would be read as 0x%" PRIx64
			       " with a FADDR of %u bytes: its top bit is copied upwards (extaddr)",
			       line->target, address, line->sizes[NTRACE_FIELD_FADDR]);
}

bool assemble_fields_write(struct assemble *assemble, uint8_t bytes[NTRACE_MESSAGE_BYTES_MAX],
			   size_t *size)
{
	const struct ntrace_message *message = &assemble->line.message;
	struct ntrace_layout_field layout[NTRACE_LAYOUT_MAX];
	int count = any_layout(assemble, message, layout), written;

	if (message->flags)
		return assemble_refuse(assemble, "a message with \"flags\" needs \"bytes\": its "
						 "fields are not all of it");
	if (count < 0)
		return assemble_refuse(assemble,
				       "TCODE %u (%s) has no known fields: give its bytes, as "
				       "\"bytes\" or {\"raw\":\"1c 3f ff\"}",
				       message->tcode, name_of(assemble, message));
	if (!check_widths(assemble, message))
		return false;
	count = find_layout(assemble, message, layout);
	if (!check_surplus(assemble, message, layout, count) ||
	    !check_missing(assemble, message, layout, count) ||
	    !check_address(assemble, message, NTRACE_FIELD_FADDR) ||
	    !check_address(assemble, message, NTRACE_FIELD_UADDR))
		return false;
	written =
		ntrace_message_write_sized(message, &assemble->params, assemble->line.sizes, bytes);
	if (written < 0)
		return assemble_refuse(
			assemble,
			"\"sizes\" is impossible: a value needs more bytes, a field is "
			"not variable, or the message has more than %d bytes",
			NTRACE_MESSAGE_BYTES_MAX);
	*size = (size_t)written;
	return check_read_back(assemble, bytes, *size);
}

static bool check_target(struct assemble *assemble)
{
	const struct assemble_line *line = &assemble->line;

	if (ntrace_message_has(&line->message, NTRACE_FIELD_FADDR) ||
	    ntrace_message_has(&line->message, NTRACE_FIELD_UADDR) ||
	    ntrace_message_has(&line->message, NTRACE_FIELD_CKDATA0))
		return assemble_refuse(assemble,
				       "ADDRESS replaces FADDR, UADDR or CKDATA0: give only one of "
				       "them");
	if (line->target & 1)
		return assemble_refuse(assemble, "ADDRESS is odd: 0x%" PRIx64, line->target);
	if (assemble->params.xlen == 32 && line->target >> 32)
		return assemble_refuse(assemble,
				       "ADDRESS is 0x%" PRIx64 ", but addresses have 32 "
				       "bits (xlen=32)",
				       line->target);
	if (address_of(line->target >> 1, &assemble->params) != line->target)
		return assemble_refuse(assemble,
				       "ADDRESS 0x%" PRIx64 " would be read as 0x%" PRIx64
				       ": %u bits are sent (addrbits), the top one is "
				       "copied upwards",
				       line->target,
				       address_of(line->target >> 1, &assemble->params),
				       assemble->params.address_bits);
	return true;
}

/* The field that ADDRESS replaces in this kind of message; NTRACE_FIELD_SRC: none. */
static unsigned int address_field(const struct assemble *assemble,
				  const struct ntrace_message *message)
{
	struct ntrace_layout_field layout[NTRACE_LAYOUT_MAX];
	int count = any_layout(assemble, message, layout), i;
	struct ntrace_message circuit = *message;
	uint64_t address, next;

	circuit.present |= 1u << NTRACE_FIELD_CKDATA0;
	for (i = 0; i < count; i++) {
		if (layout[i].field == NTRACE_FIELD_FADDR || layout[i].field == NTRACE_FIELD_UADDR)
			return layout[i].field;
		if (layout[i].field == NTRACE_FIELD_CKDATA0 &&
		    ntrace_message_circuit_address(&circuit, &assemble->params, 0, &address, &next))
			return NTRACE_FIELD_CKDATA0;
	}
	return NTRACE_FIELD_SRC;
}

bool assemble_target(struct assemble *assemble)
{
	struct ntrace_message *message = &assemble->line.message;
	unsigned int src = message->field[NTRACE_FIELD_SRC] & ((1u << NTRACE_SRC_BITS_MAX) - 1);
	unsigned int field = address_field(assemble, message);
	uint64_t address = assemble->line.target;

	if (!check_target(assemble))
		return false;
	if (field == NTRACE_FIELD_SRC)
		return assemble_refuse(assemble,
				       "%s has no address: ADDRESS replaces FADDR, UADDR or "
				       "CKDATA0",
				       name_of(assemble, message));
	if (field == NTRACE_FIELD_UADDR || message->tcode == NTRACE_TCODE_SIFIVE_IN_CIRCUIT_TRACE) {
		if (!assemble->addresses.known[src])
			return assemble_refuse(assemble,
					       "ADDRESS: %s is relative to the previous address, "
					       "which is unknown: begin with a message with FADDR",
					       ntrace_field_name((enum ntrace_field)field));
		address ^= assemble->addresses.references[src];
	}
	message->field[field] = address >> 1;
	message->present |= 1u << field;
	return true;
}

/* If the bytes have the address of ADDRESS, takes over the field of the bytes. */
static void settle_target(struct assemble *assemble, const struct ntrace_message *read)
{
	struct ntrace_message *message = &assemble->line.message;
	unsigned int field = ntrace_message_has(read, NTRACE_FIELD_FADDR) ? NTRACE_FIELD_FADDR :
			     ntrace_message_is_circuit(read)		  ? NTRACE_FIELD_CKDATA0 :
									    NTRACE_FIELD_UADDR;
	unsigned int src = read->field[NTRACE_FIELD_SRC] & ((1u << NTRACE_SRC_BITS_MAX) - 1);
	uint64_t reference = assemble->addresses.references[src], address, next;

	if (!assemble_line_has(&assemble->line, ASSEMBLE_HAS_TARGET))
		return;
	if (field != NTRACE_FIELD_CKDATA0)
		address = ntrace_message_address(read, &assemble->params, reference);
	else if (!ntrace_message_circuit_address(read, &assemble->params, reference, &address,
						 &next))
		return;
	if (address != assemble->line.target)
		return;
	message->field[field] = read->field[field];
}

static bool compare_sizes(struct assemble *assemble)
{
	const struct assemble_line *line = &assemble->line;
	uint8_t sizes[NTRACE_FIELD_COUNT] = { 0 };
	unsigned int i;

	if (!assemble_line_has(line, ASSEMBLE_HAS_SIZES) || assemble->piece_bytes)
		return true;
	layout_sizes(&assemble->params, line->bytes, line->count, sizes);
	for (i = 0; i < NTRACE_FIELD_COUNT; i++)
		if (line->sizes[i] && line->sizes[i] != sizes[i])
			return assemble_refuse(
				assemble,
				"\"sizes\" and \"bytes\" contradict each other: %s takes "
				"%u bytes, not %u: remove one of them",
				ntrace_field_name((enum ntrace_field)i), sizes[i], line->sizes[i]);
	return true;
}

/* A line without fields matches all bytes of its TCODE and flags. */
static bool is_match(const struct assemble_line *line, const struct ntrace_message *read)
{
	const struct ntrace_message *message = &line->message;

	if (message->tcode != read->tcode)
		return false;
	/* FIELDS has no name in a line. */
	if (assemble_line_has(line, ASSEMBLE_HAS_FLAGS) &&
	    (message->flags ^ read->flags) & ~NTRACE_MESSAGE_FIELDS)
		return false;
	if (!message->present)
		return true;
	return message->present == read->present &&
	       !memcmp(message->field, read->field, sizeof(read->field));
}

bool assemble_fields_compare(struct assemble *assemble, const struct ntrace_message *read)
{
	const struct ntrace_message *message = &assemble->line.message;
	char fields[TEXT_SIZE], bytes[TEXT_SIZE];

	settle_target(assemble, read);
	if (is_match(&assemble->line, read))
		return compare_sizes(assemble);
	return assemble_refuse(assemble,
			       "fields and \"bytes\" contradict each other: fields are %s; bytes "
			       "are %s: remove \"bytes\" to write the fields",
			       describe(assemble, message, fields),
			       describe(assemble, read, bytes));
}
