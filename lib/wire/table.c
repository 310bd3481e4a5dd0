// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* The message table as data, names, and functions that all users of messages share. */
#include "table.h"

/* clang-format off */
#define ROW(tcode, text, fixed_fields, variable_fields) \
	[NTRACE_TCODE_##tcode] = { text, { fixed_fields { 0, 0 } }, \
				   { variable_fields { 0, 0, 0 } } },
#define FIXED(name, width) { NTRACE_FIELD_##name, width },
#define VARIABLE(name) { NTRACE_FIELD_##name, NTRACE_FIELD_SRC, 0 },
#define VARIABLE_IF(name, selected_by, accepted) \
	{ NTRACE_FIELD_##name, NTRACE_FIELD_##selected_by, accepted },

const struct ntrace_wire_row ntrace_wire_rows[2][64] = {
	{ NTRACE_MESSAGE_TABLE(ROW, FIXED, VARIABLE, VARIABLE_IF)
	  NTRACE_DATA_TABLE(ROW, FIXED, VARIABLE) },
	{ NTRACE_MESSAGE_TABLE(ROW, FIXED, VARIABLE, VARIABLE_IF)
	  NTRACE_DATA_TABLE(ROW, FIXED, VARIABLE)
	  NTRACE_SIFIVE_TABLE(ROW, FIXED, VARIABLE, VARIABLE_IF) },
};
/* clang-format on */

const char *ntrace_tcode_dialect_name(unsigned int tcode, enum ntrace_dialect dialect)
{
	if (tcode < 64 && ntrace_wire_row(tcode, dialect)->name)
		return ntrace_wire_row(tcode, dialect)->name;
	return tcode >= 56 && tcode <= 62 ? "Vendor" : "Reserved";
}

const char *ntrace_tcode_name(unsigned int tcode)
{
	return ntrace_tcode_dialect_name(tcode, NTRACE_DIALECT_RATIFIED);
}

int ntrace_message_layout(unsigned int tcode, const uint64_t *field,
			  const struct ntrace_params *params, struct ntrace_layout_field *layout)
{
	const struct ntrace_wire_row *row;
	int count = 0;

	if (tcode >= 64 || params->src_bits > NTRACE_SRC_BITS_MAX)
		return NTRACE_ERR_INVALID;
	row = ntrace_wire_row(tcode, params->dialect);
	if (!row->name)
		return NTRACE_ERR_UNSUPPORTED;
	if (params->src_bits)
		layout[count++] =
			(struct ntrace_layout_field){ NTRACE_FIELD_SRC, (uint8_t)params->src_bits };
	for (unsigned int i = 0; row->fixed[i].bits; i++) {
		if (field[row->fixed[i].field] >> row->fixed[i].bits)
			return NTRACE_ERR_INVALID;
		layout[count++] =
			(struct ntrace_layout_field){ row->fixed[i].field, row->fixed[i].bits };
	}
	for (unsigned int i = 0; row->variable[i].field; i++) {
		if (!ntrace_wire_demands(row, i, field))
			continue;
		layout[count++] = (struct ntrace_layout_field){ row->variable[i].field, 0 };
	}
	return count;
}

const char *ntrace_field_name(enum ntrace_field field)
{
	/* clang-format off */
	static const char *const names[NTRACE_FIELD_COUNT] = {
		[NTRACE_FIELD_SRC] = "SRC",
		[NTRACE_FIELD_SYNC] = "SYNC",
		[NTRACE_FIELD_BTYPE] = "BTYPE",
		[NTRACE_FIELD_ETYPE] = "ETYPE",
		[NTRACE_FIELD_EVCODE] = "EVCODE",
		[NTRACE_FIELD_CDF] = "CDF",
		[NTRACE_FIELD_RCODE] = "RCODE",
		[NTRACE_FIELD_ICNT] = "ICNT",
		[NTRACE_FIELD_FADDR] = "FADDR",
		[NTRACE_FIELD_UADDR] = "UADDR",
		[NTRACE_FIELD_HIST] = "HIST",
		[NTRACE_FIELD_HREPEAT] = "HREPEAT",
		[NTRACE_FIELD_BCNT] = "BCNT",
		[NTRACE_FIELD_RDATA] = "RDATA",
		[NTRACE_FIELD_ECODE] = "ECODE",
		[NTRACE_FIELD_PROCESS] = "PROCESS",
		[NTRACE_FIELD_CKSRC] = "CKSRC",
		[NTRACE_FIELD_CKDF] = "CKDF",
		[NTRACE_FIELD_CKDATA0] = "CKDATA0",
		[NTRACE_FIELD_CKDATA1] = "CKDATA1",
		[NTRACE_FIELD_IDTAG] = "IDTAG",
		[NTRACE_FIELD_DQDATA] = "DQDATA",
		[NTRACE_FIELD_DSZ] = "DSZ",
		[NTRACE_FIELD_DADDR] = "DADDR",
		[NTRACE_FIELD_DATA] = "DATA",
		[NTRACE_FIELD_TSTAMP] = "TSTAMP",
	};
	/* clang-format on */

	return (unsigned int)field < NTRACE_FIELD_COUNT ? names[field] : "?";
}

/* Restores address bits that were not sent and clears bits that no hart has. */
static uint64_t whole_address(uint64_t address, const struct ntrace_params *params)
{
	if (params->address_bits && params->address_bits < 63) {
		unsigned int above = 63 - params->address_bits;

		address = (uint64_t)((int64_t)(address << above) >> above);
	}
	return params->xlen == 32 ? address & 0xffffffff : address;
}

uint64_t ntrace_message_address(const struct ntrace_message *message,
				const struct ntrace_params *params, uint64_t reference)
{
	bool full = ntrace_message_has(message, NTRACE_FIELD_FADDR);
	uint64_t address = message->field[full ? NTRACE_FIELD_FADDR : NTRACE_FIELD_UADDR] << 1;
	unsigned int sent = 1 + 6 * message->address_bytes;

	if (params->extend_address && message->address_msb && sent < 64)
		address |= ~UINT64_C(0) << sent;
	if (!full)
		address ^= reference;
	return whole_address(address, params);
}

static bool reports_address(const struct ntrace_message *message)
{
	uint64_t cksrc = message->field[NTRACE_FIELD_CKSRC];

	if (message->flags & NTRACE_MESSAGE_TRUNCATED ||
	    !ntrace_message_has(message, NTRACE_FIELD_CKDATA0))
		return false;
	return cksrc != NTRACE_CKSRC_COUNTERS &&
	       !(cksrc == NTRACE_CKSRC_CONTROL && !message->field[NTRACE_FIELD_CKDF]);
}

bool ntrace_message_circuit_address(const struct ntrace_message *message,
				    const struct ntrace_params *params, uint64_t reference,
				    uint64_t *address, uint64_t *next_reference)
{
	if (!reports_address(message))
		return false;
	*address = message->field[NTRACE_FIELD_CKDATA0] << 1;
	if (message->tcode != NTRACE_TCODE_SIFIVE_IN_CIRCUIT_TRACE_SYNC)
		*address ^= reference;
	*address = whole_address(*address, params);
	*next_reference = *address;
	if (message->field[NTRACE_FIELD_CKSRC] == NTRACE_CKSRC_CALL &&
	    ntrace_message_has(message, NTRACE_FIELD_CKDATA1))
		*next_reference =
			whole_address(message->field[NTRACE_FIELD_CKDATA1] << 1 ^ *address, params);
	return true;
}
