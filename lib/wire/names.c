// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Names of the values of fields (N-Trace 1.0, "messages"). */
#include <ntrace/wire.h>

/* Reserved and vendor values have no names of their own. */
static const char *const sync_names[16] = {
	[NTRACE_SYNC_EXTERNAL_TRIGGER] = "external trigger",
	[NTRACE_SYNC_RESET_EXIT] = "reset exit",
	[NTRACE_SYNC_PERIODIC] = "periodic",
	[NTRACE_SYNC_DEBUG_EXIT] = "debug exit",
	[NTRACE_SYNC_ICNT_FULL] = "I-CNT full",
	[NTRACE_SYNC_TRACE_ENABLE] = "trace enable",
	[NTRACE_SYNC_TRACE_EVENT] = "trace event",
	[NTRACE_SYNC_FIFO_OVERRUN] = "FIFO overrun",
	[NTRACE_SYNC_POWER_DOWN_EXIT] = "power-down exit",
};

static const char *const btype_names[4] = {
	[NTRACE_BTYPE_JUMP] = "jump",
	[NTRACE_BTYPE_TRAP] = "trap",
	[NTRACE_BTYPE_EXCEPTION] = "exception",
	[NTRACE_BTYPE_INTERRUPT] = "interrupt",
};

static const char *const etype_names[16] = {
	[NTRACE_ETYPE_OVERRUN] = "queue overrun",
};

static const char *const evcode_names[16] = {
	[NTRACE_EVCODE_DEBUG_ENTRY] = "debug entry",
	[NTRACE_EVCODE_LOW_POWER] = "low power",
	[NTRACE_EVCODE_TRACE_DISABLE] = "trace disable",
};

static const char *const rcode_names[16] = {
	[NTRACE_RCODE_ICNT] = "I-CNT",
	[NTRACE_RCODE_HIST] = "HIST",
	[NTRACE_RCODE_HIST_REPEAT] = "repeated HIST",
};

/* CKSRC; of 10, 11 and 13 only the meaning is known, not the layout of the fields. */
static const char *const cksrc_names[16] = {
	[NTRACE_CKSRC_CONTROL] = "control",
	[NTRACE_CKSRC_EXTERNAL_TRIGGER] = "external trigger",
	[NTRACE_CKSRC_CALL] = "call",
	[NTRACE_CKSRC_EXCEPTION] = "exception",
	[NTRACE_CKSRC_INTERRUPT] = "interrupt",
	[NTRACE_CKSRC_COUNTERS] = "compressed PC counters",
	[NTRACE_CKSRC_CONTEXT] = "context",
	[NTRACE_CKSRC_WATCHPOINT] = "watchpoint",
	[NTRACE_CKSRC_PC_SAMPLE] = "PC sample",
};

/* Names of pre-ratification SiFive encoders. Return: NULL if they use the standard name. */
static const char *sifive_value_name(enum ntrace_field field, uint64_t value)
{
	if (field == NTRACE_FIELD_SYNC)
		return value == 11 ? "message contention" : value == 15 ? "PC sample" : NULL;
	if (field == NTRACE_FIELD_BTYPE)
		return value == 2 ? "hardware" : NULL;
	if (field == NTRACE_FIELD_EVCODE)
		return value == 8 ? "reset entry" : NULL;
	if (field == NTRACE_FIELD_RCODE)
		return value == 8 ? "not taken" : value == 9 ? "taken" : NULL;
	return NULL;
}

const char *ntrace_value_name(enum ntrace_field field, uint64_t value, enum ntrace_dialect dialect)
{
	const char *const *names;
	const char *name = NULL;
	uint64_t vendor = 8;

	switch (field) {
	case NTRACE_FIELD_SYNC:
		names = sync_names;
		vendor = 14;
		break;
	case NTRACE_FIELD_BTYPE:
		names = btype_names;
		break;
	case NTRACE_FIELD_ETYPE:
		names = etype_names;
		break;
	case NTRACE_FIELD_EVCODE:
		names = evcode_names;
		break;
	case NTRACE_FIELD_RCODE:
		names = rcode_names;
		break;
	case NTRACE_FIELD_CKSRC:
		names = cksrc_names;
		break;
	default:
		return NULL;
	}
	if (value > 15 || (field == NTRACE_FIELD_BTYPE && value > 3))
		return NULL;
	if (dialect == NTRACE_DIALECT_SIFIVE_V0)
		name = sifive_value_name(field, value);
	if (!name)
		name = names[value];
	return name ? name : value >= vendor ? "vendor" : "reserved";
}
