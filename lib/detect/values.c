// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Values that no encoder sends (N-Trace 1.0, "message layout"). */
#include <string.h>

#include "detect.h"
#include "wire/params.h"

/* Values of a fixed field, bit n = value n: defined values, vendor values. */
struct values {
	uint8_t field;
	uint32_t known;
	uint32_t vendor;
	uint32_t sifive;	/* values defined by pre-ratification SiFive encoders */
};

static const struct values table[] = {
	{ NTRACE_FIELD_SYNC, 0x02ff, 0xc000, 1u << 11 | 1u << 15 },
	{ NTRACE_FIELD_ETYPE, 0x0001, 0xff00, 0 },
	{ NTRACE_FIELD_EVCODE, 0x0013, 0xff00, 1u << 8 },
	{ NTRACE_FIELD_RCODE, 0x0007, 0xff00, 1u << 8 | 1u << 9 },
	{ NTRACE_FIELD_CDF, 0x0003, 0, 0 },
};

#define TABLE_SIZE (sizeof(table) / sizeof(table[0]))

/* Greatest widths; for I-CNT some encoders exceed the 22 bits of the specification. */
#define ICNT_BITS 32
#define HIST_BITS 32
#define COUNT_BITS 18
#define ADDRESS_BYTES 11
#define ECODE_KNOWN 0xaeu

static bool wider(const struct ntrace_message *message, unsigned int field, unsigned int bits)
{
	return message->field[field] >> bits;
}

/* A count in a message is never 0 and has at most 18 bits. */
static bool bad_count(const struct ntrace_message *message, unsigned int field)
{
	return ntrace_message_has(message, field) &&
	       (!message->field[field] || wider(message, field, COUNT_BITS));
}

static bool bad_history(const struct ntrace_message *message)
{
	uint64_t hist = message->field[NTRACE_FIELD_HIST];

	if (!ntrace_message_has(message, NTRACE_FIELD_HIST))
		return false;
	return !hist || (hist == 1 && message->tcode == NTRACE_TCODE_RESOURCE_FULL) ||
	       hist >> (HIST_BITS - 1) > 1;
}

/* SiFive's encoders may send arbitrary numbers. */
static bool odd_process(const struct ntrace_message *message)
{
	return ntrace_message_has(message, NTRACE_FIELD_PROCESS) &&
	       params_owner_is_odd(message->field[NTRACE_FIELD_PROCESS]);
}

void detect_judge(const struct ntrace_message *message, struct detect_verdict *verdict)
{
	memset(verdict, 0, sizeof(*verdict));
	verdict->sifive = message->tcode == NTRACE_TCODE_SIFIVE_IN_CIRCUIT_TRACE ||
			  message->tcode == NTRACE_TCODE_SIFIVE_IN_CIRCUIT_TRACE_SYNC;
	for (unsigned int i = 0; i < TABLE_SIZE; i++) {
		uint32_t bit = 1u << message->field[table[i].field];

		if (!ntrace_message_has(message, table[i].field) || table[i].known & bit)
			continue;
		if (table[i].sifive & bit)
			verdict->sifive = true;
		if ((table[i].sifive | table[i].vendor) & bit)
			verdict->rare++;
		else
			verdict->illegal = true;
	}
	verdict->rare += odd_process(message);
	verdict->illegal |= wider(message, NTRACE_FIELD_ICNT, ICNT_BITS) ||
			    bad_count(message, NTRACE_FIELD_HREPEAT) ||
			    bad_count(message, NTRACE_FIELD_BCNT) || bad_history(message) ||
			    message->address_bytes > ADDRESS_BYTES ||
			    (message->field[NTRACE_FIELD_ECODE] & ~(uint64_t)ECODE_KNOWN) ||
			    (message->flags & NTRACE_MESSAGE_OVERSIZE &&
			     message->tcode != NTRACE_TCODE_OWNERSHIP);
}
