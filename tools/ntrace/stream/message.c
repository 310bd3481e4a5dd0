// SPDX-License-Identifier: GPL-2.0-only
/* Messages, field by field. */
#include <inttypes.h>

#include "message.h"

void address_tracker_init(struct address_tracker *tracker, const struct ntrace_params *params)
{
	memset(tracker, 0, sizeof(*tracker));
	tracker->params = *params;
}

/* Return: true if @message reports an address; also updates the reference of later addresses. */
static bool find_address(const struct address_tracker *tracker,
			 const struct ntrace_message *message, unsigned int src, uint64_t *address,
			 uint64_t *next)
{
	bool full = ntrace_message_has(message, NTRACE_FIELD_FADDR) ||
		    message->tcode == NTRACE_TCODE_SIFIVE_IN_CIRCUIT_TRACE_SYNC;

	if (!full && !tracker->known[src])
		return false;
	if (ntrace_message_is_circuit(message))
		return ntrace_message_circuit_address(message, &tracker->params,
						      tracker->references[src], address, next);
	if (!full && !ntrace_message_has(message, NTRACE_FIELD_UADDR))
		return false;
	*address = ntrace_message_address(message, &tracker->params, tracker->references[src]);
	*next = *address;
	return true;
}

bool address_tracker_message(struct address_tracker *tracker, const struct ntrace_message *message,
			     uint64_t *address)
{
	unsigned int src = message->field[NTRACE_FIELD_SRC] & ((1u << NTRACE_SRC_BITS_MAX) - 1);
	uint64_t next;

	if (message->tcode == NTRACE_TCODE_ERROR)
		tracker->known[src] = false;
	if (!find_address(tracker, message, src, address, &next))
		return false;
	tracker->known[src] = true;
	tracker->references[src] = next;
	return true;
}

void address_tracker_lost(struct address_tracker *tracker)
{
	memset(tracker->known, 0, sizeof(tracker->known));
}

/* Addresses, bit patterns and clocks read better in hexadecimal. */
static bool is_hexadecimal(unsigned int field)
{
	return field == NTRACE_FIELD_FADDR || field == NTRACE_FIELD_UADDR ||
	       field == NTRACE_FIELD_HIST || field == NTRACE_FIELD_RDATA ||
	       field == NTRACE_FIELD_ECODE || field == NTRACE_FIELD_PROCESS ||
	       field == NTRACE_FIELD_CKDATA0 || field == NTRACE_FIELD_CKDATA1 ||
	       field == NTRACE_FIELD_IDTAG || field == NTRACE_FIELD_DQDATA ||
	       field == NTRACE_FIELD_DADDR || field == NTRACE_FIELD_DATA ||
	       field == NTRACE_FIELD_TSTAMP;
}

static void put_value(struct output *output, unsigned int field, uint64_t value)
{
	if (is_hexadecimal(field)) {
		output_text(output, "0x");
		output_hex(output, value, 1);
	} else {
		output_decimal(output, value, 0);
	}
}

void message_bytes(struct output *output, const uint8_t *bytes, size_t count, const char *separator)
{
	size_t i;

	for (i = 0; i < count; i++) {
		if (i)
			output_text(output, separator);
		output_hex(output, bytes[i], 2);
	}
}

static void put_flags(struct output *output, unsigned int flags, const char *quote)
{
	static const char *const names[] = { "unknown", "truncated", "extra", "oversize" };
	const char *separator = "[";
	unsigned int i;

	for (i = 0; i < 4; i++) {
		if (!(flags >> i & 1))
			continue;
		output_printf(output, "%s%s%s%s", separator, quote, names[i], quote);
		separator = ",";
	}
	output_char(output, ']');
}

void message_text(struct output *output, const struct ntrace_message *message,
		  enum ntrace_dialect dialect, bool has_address, uint64_t address)
{
	const char *name;
	unsigned int i;

	output_text(output, "0x");
	output_hex(output, message->offset, 8);
	/* A blank stays before each number, also if numbers exceed their column. */
	output_char(output, ' ');
	output_decimal(output, message->length, 4);
	output_decimal(output, message->tcode, 4);
	output_char(output, ' ');
	output_padded(output, ntrace_tcode_dialect_name(message->tcode, dialect), 22);
	for (i = 0; i < NTRACE_FIELD_COUNT; i++) {
		if (!ntrace_message_has(message, i))
			continue;
		output_char(output, ' ');
		output_text(output, ntrace_field_name(i));
		output_char(output, '=');
		put_value(output, i, message->field[i]);
		name = ntrace_value_name(i, message->field[i], dialect);
		if (name) {
			output_char(output, '(');
			output_text(output, name);
			output_char(output, ')');
		}
	}
	if (has_address) {
		output_text(output, " -> 0x");
		output_hex(output, address, 1);
	}
	if (message->flags) {
		output_char(output, ' ');
		put_flags(output, message->flags, "");
	}
}

void message_json(struct output *output, const struct ntrace_message *message,
		  enum ntrace_dialect dialect, bool has_address, uint64_t address)
{
	const char *name, *separator = "{";
	bool first = true;
	unsigned int i;

	output_printf(output, ",\"tcode\":%u,\"name\":\"%s\",\"fields\":{", message->tcode,
		      ntrace_tcode_dialect_name(message->tcode, dialect));
	for (i = 0; i < NTRACE_FIELD_COUNT; i++) {
		if (!ntrace_message_has(message, i))
			continue;
		output_printf(output, "%s\"%s\":", first ? "" : ",", ntrace_field_name(i));
		/* Many JSON readers lose precision above 2^53. */
		if (is_hexadecimal(i))
			output_char(output, '"');
		put_value(output, i, message->field[i]);
		if (is_hexadecimal(i))
			output_char(output, '"');
		first = false;
	}
	output_text(output, "},\"names\":");
	for (i = 0; i < NTRACE_FIELD_COUNT; i++) {
		name = ntrace_message_has(message, i) ?
			       ntrace_value_name(i, message->field[i], dialect) :
			       NULL;
		if (!name)
			continue;
		output_printf(output, "%s\"%s\":\"%s\"", separator, ntrace_field_name(i), name);
		separator = ",";
	}
	output_text(output, *separator == '{' ? "{}" : "}");
	if (has_address) {
		output_text(output, ",\"address\":\"0x");
		output_hex(output, address, 1);
		output_char(output, '"');
	}
	if (message->flags) {
		output_text(output, ",\"flags\":");
		put_flags(output, message->flags, "\"");
	}
}
