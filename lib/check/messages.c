// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* The rules on messages: each message by itself, then against the earlier messages. */
#include "check.h"
#include "wire/params.h"
#include "wire/stamp.h"

/* trTeInstSyncMax is 15 at most: 2^(15 + 4) messages. */
#define SYNC_INTERVAL_MAX (UINT64_C(1) << 19)

/* Values of a fixed field, bit n = value n. */
#define SYNC_KNOWN 0xc2ff
#define ETYPE_KNOWN 0xff01
#define RCODE_KNOWN 0xff07
#define EVCODE_KNOWN 0xff13
#define CDF_KNOWN 0x3
#define CKSRC_KNOWN 0xd301
#define ECODE_KNOWN 0xae

static unsigned int width(uint64_t value)
{
	return value ? 64 - (unsigned int)__builtin_clzll(value) : 0;
}

static bool is_sync(const struct ntrace_message *message)
{
	return ntrace_message_has(message, NTRACE_FIELD_SYNC);
}

void check_forget(struct src_check *source)
{
	source->state = STATE_RUNNING;
	source->previous = PREVIOUS_OTHER;
	source->unsure = true;
	source->reference = true;
	source->branch = true;
	source->time_known = false;
}

/* Reports values of @field outside @known. */
static void check_known(struct ntrace_check *check, const struct ntrace_message *message,
			unsigned int field, uint32_t known, enum check_rule rule)
{
	if (ntrace_message_has(message, field) && !(known >> message->field[field] & 1))
		check_report(check, rule, message, (int)field);
}

static void check_codes(struct ntrace_check *check, const struct ntrace_message *message)
{
	/* In the pre-ratification SiFive dialect, 11 is message contention. */
	uint32_t sync = check->params.dialect == NTRACE_DIALECT_SIFIVE_V0 ? SYNC_KNOWN | 1u << 11 :
									    SYNC_KNOWN;

	check_known(check, message, NTRACE_FIELD_SYNC, sync, RULE_SYNC_RESERVED);
	check_known(check, message, NTRACE_FIELD_ETYPE, ETYPE_KNOWN, RULE_ETYPE_RESERVED);
	check_known(check, message, NTRACE_FIELD_RCODE, RCODE_KNOWN, RULE_RCODE_RESERVED);
	check_known(check, message, NTRACE_FIELD_EVCODE, EVCODE_KNOWN, RULE_EVCODE_RESERVED);
	check_known(check, message, NTRACE_FIELD_CDF, CDF_KNOWN, RULE_CDF_RESERVED);
	check_known(check, message, NTRACE_FIELD_CKSRC, CKSRC_KNOWN, RULE_CKSRC_UNKNOWN);
	check_known(check, message, NTRACE_FIELD_CKDF, CDF_KNOWN, RULE_CKDF_RESERVED);
	if (message->field[NTRACE_FIELD_ECODE] & ~(uint64_t)ECODE_KNOWN)
		check_report(check, RULE_ECODE_RESERVED, message, NTRACE_FIELD_ECODE);
}

static void check_width(struct ntrace_check *check, const struct ntrace_message *message,
			unsigned int field, unsigned int bits, enum check_rule rule)
{
	if (width(message->field[field]) > bits)
		check_report(check, rule, message, (int)field);
}

/* Also finds addresses that take more bytes than their maximum width needs. */
static void check_address(struct ntrace_check *check, const struct ntrace_message *message)
{
	unsigned int field = ntrace_message_has(message, NTRACE_FIELD_FADDR) ? NTRACE_FIELD_FADDR :
									       NTRACE_FIELD_UADDR;
	const struct ntrace_params *params = &check->params;
	unsigned int bits = params->xlen - 1;

	if (params->address_bits && params->address_bits < bits)
		bits = params->address_bits;
	/* On RV32, bits copied upwards by trTeInstExtendAddrMSB carry no information. */
	if (message->address_bytes > (bits + 5) / 6 ||
	    (!params->extend_address && width(message->field[field]) > bits))
		check_report(check, RULE_ADDRESS_WIDTH, message, (int)field);
}

static void check_history(struct ntrace_check *check, const struct ntrace_message *message)
{
	uint64_t hist = message->field[NTRACE_FIELD_HIST];

	if (!ntrace_message_has(message, NTRACE_FIELD_HIST))
		return;
	if (!hist)
		check_report(check, RULE_HIST_STOP_BIT, message, NTRACE_FIELD_HIST);
	else if (hist == 1 && message->tcode == NTRACE_TCODE_RESOURCE_FULL)
		check_report(check, RULE_HIST_EMPTY, message, NTRACE_FIELD_HIST);
	check_width(check, message, NTRACE_FIELD_HIST, 32, RULE_HIST_WIDTH);
}

static void check_counts(struct ntrace_check *check, const struct ntrace_message *message)
{
	check_width(check, message, NTRACE_FIELD_ICNT, check->config.icnt_bits, RULE_ICNT_WIDTH);
	check_width(check, message, NTRACE_FIELD_HREPEAT, 18, RULE_HREPEAT_WIDTH);
	check_width(check, message, NTRACE_FIELD_BCNT, 18, RULE_BCNT_WIDTH);
	if (ntrace_message_has(message, NTRACE_FIELD_HREPEAT) &&
	    !message->field[NTRACE_FIELD_HREPEAT])
		check_report(check, RULE_HREPEAT_ZERO, message, NTRACE_FIELD_HREPEAT);
	if (ntrace_message_has(message, NTRACE_FIELD_BCNT) && !message->field[NTRACE_FIELD_BCNT])
		check_report(check, RULE_BCNT_ZERO, message, NTRACE_FIELD_BCNT);
}

/*
 * PROCESS, from the least significant bit: FORMAT[2], PRV[2], V[1], CONTEXT. In the
 * pre-ratification SiFive dialect it may be an id that software sends at any time.
 */
static void check_process(struct ntrace_check *check, const struct ntrace_message *message)
{
	uint64_t process = message->field[NTRACE_FIELD_PROCESS];
	unsigned int format = process & 3;
	unsigned int prv = process >> 2 & 3;
	bool v = process >> 4 & 1;

	if (message->tcode != NTRACE_TCODE_OWNERSHIP || !params_owner_is_context(&check->params))
		return;
	if (format == 1)
		check_report(check, RULE_PROCESS_FORMAT, message, NTRACE_FIELD_PROCESS);
	if (prv == 2 || (v && prv == 3))
		check_report(check, RULE_PROCESS_PRIVILEGE, message, NTRACE_FIELD_PROCESS);
	if (!format && process >> 5)
		check_report(check, RULE_PROCESS_CONTEXT, message, NTRACE_FIELD_PROCESS);
}

/* Fewest bytes of a variable field that starts with a byte. */
static unsigned int field_bytes(const struct ntrace_message *message, unsigned int field)
{
	if (field == NTRACE_FIELD_FADDR || field == NTRACE_FIELD_UADDR)
		return message->address_bytes;
	return message->field[field] ? (width(message->field[field]) + 5) / 6 : 1;
}

/* Whether the message is too short for a bit of its first variable field, which was read as 0. */
static bool has_empty_field(const struct ntrace_check *check, const struct ntrace_message *message)
{
	struct ntrace_layout_field layout[NTRACE_LAYOUT_MAX];
	int count = ntrace_message_layout(message->tcode, message->field, &check->params, layout);
	unsigned int bits = 6, bytes = 0;

	for (int i = 0; i < count; i++) {
		bits += layout[i].bits;
		bytes += layout[i].bits ? 0 : field_bytes(message, layout[i].field);
	}
	if (ntrace_message_has(message, NTRACE_FIELD_TSTAMP))
		bytes += field_bytes(message, NTRACE_FIELD_TSTAMP);
	return bits % 6 == 0 && message->length < bits / 6 + bytes;
}

/* An encoder that omits a field does so in every message: one finding for each TCODE. */
static void check_empty_field(struct ntrace_check *check, struct src_check *source,
			      const struct ntrace_message *message)
{
	uint64_t bit = UINT64_C(1) << message->tcode;

	if (source->empty & bit || !has_empty_field(check, message))
		return;
	source->empty |= bit;
	check_report(check, RULE_FIELD_EMPTY, message, -1);
}

/* Problems found by the reader. Return: false if the fields cannot be trusted. */
static bool check_layout(struct ntrace_check *check, struct src_check *source,
			 const struct ntrace_message *message)
{
	if (message->flags & NTRACE_MESSAGE_TRUNCATED) {
		check_report(check, RULE_FIELD_MISSING, message, -1);
		return false;
	}
	check_empty_field(check, source, message);
	if (message->flags & NTRACE_MESSAGE_EXTRA)
		check_report(check, RULE_FIELD_EXTRA, message, -1);
	/* A context may have 64 bits of its own, and the number of counters is unlimited. */
	if (message->flags & NTRACE_MESSAGE_OVERSIZE && message->tcode != NTRACE_TCODE_OWNERSHIP &&
	    message->field[NTRACE_FIELD_CKSRC] != NTRACE_CKSRC_COUNTERS) {
		check_report(check, RULE_FIELD_OVERSIZE, message, -1);
		return false;
	}
	return true;
}

/* Violations visible in a single message. */
static void check_fields(struct ntrace_check *check, const struct ntrace_message *message)
{
	check_codes(check, message);
	check_counts(check, message);
	check_history(check, message);
	check_address(check, message);
	check_process(check, message);
}

/* @traps: bit n: BTYPE n was seen. An encoder tells exceptions from interrupts, or it does not. */
static bool is_mixed(uint8_t traps)
{
	return traps & 1u << NTRACE_BTYPE_TRAP &&
	       traps & (1u << NTRACE_BTYPE_EXCEPTION | 1u << NTRACE_BTYPE_INTERRUPT);
}

static void check_btype(struct ntrace_check *check, struct src_check *source,
			const struct ntrace_message *message)
{
	uint64_t btype = message->field[NTRACE_FIELD_BTYPE];
	uint8_t before = source->traps;

	if (!btype)
		return;
	source->traps |= (uint8_t)(1u << btype);
	if (is_mixed(source->traps) && !is_mixed(before))
		check_report(check, RULE_BTYPE_MIXED, message, NTRACE_FIELD_BTYPE);
}

static void check_mode(struct ntrace_check *check, struct src_check *source,
		       const struct ntrace_message *message)
{
	enum ntrace_mode declared = check->params.mode;
	bool branch = message->tcode == NTRACE_TCODE_DIRECT_BRANCH ||
		      message->tcode == NTRACE_TCODE_DIRECT_BRANCH_SYNC;
	bool history = ntrace_message_has(message, NTRACE_FIELD_HIST);
	bool mixed = source->branch_mode && source->history_mode;

	source->branch_mode |= branch;
	source->history_mode |= history;
	if ((!mixed && source->branch_mode && source->history_mode) ||
	    (branch && declared == NTRACE_MODE_HISTORY) ||
	    (history && declared == NTRACE_MODE_BRANCH))
		check_report(check, RULE_MODE_MIXED, message, -1);
}

/* SYNC codes that start a trace; the other codes occur in a running trace. */
static bool is_start(uint64_t sync)
{
	return 1u << sync & (1u << NTRACE_SYNC_RESET_EXIT | 1u << NTRACE_SYNC_DEBUG_EXIT |
			     1u << NTRACE_SYNC_TRACE_ENABLE | 1u << NTRACE_SYNC_FIFO_OVERRUN |
			     1u << NTRACE_SYNC_POWER_DOWN_EXIT | 0xfd00);
}

static void check_sync(struct ntrace_check *check, const struct src_check *source,
		       const struct ntrace_message *message)
{
	uint64_t sync = message->field[NTRACE_FIELD_SYNC];

	if (source->state == STATE_LOST && !is_start(sync))
		check_report(check, RULE_ERROR_SYNC_CODE, message, NTRACE_FIELD_SYNC);
	if (sync == NTRACE_SYNC_FIFO_OVERRUN && source->state != STATE_LOST && !source->unsure)
		check_report(check, RULE_OVERRUN_WITHOUT_ERROR, message, NTRACE_FIELD_SYNC);
	if (sync == NTRACE_SYNC_DEBUG_EXIT && source->state == STATE_RUNNING && !source->unsure)
		check_report(check, RULE_DEBUG_ENTRY_MISSING, message, NTRACE_FIELD_SYNC);
	if ((sync == NTRACE_SYNC_DEBUG_EXIT || sync == NTRACE_SYNC_TRACE_ENABLE ||
	     sync == NTRACE_SYNC_FIFO_OVERRUN) &&
	    source->state != STATE_RUNNING && message->field[NTRACE_FIELD_ICNT])
		check_report(check, RULE_RESTART_ICNT, message, NTRACE_FIELD_ICNT);
	if (sync == NTRACE_SYNC_ICNT_FULL && check->params.dialect == NTRACE_DIALECT_RATIFIED &&
	    (source->history_mode || ntrace_message_has(message, NTRACE_FIELD_HIST) ||
	     check->params.mode == NTRACE_MODE_HISTORY))
		check_report(check, RULE_SYNC_ICNT_FULL, message, NTRACE_FIELD_SYNC);
}

/* Whether a message reports code but has no SYNC. */
static bool needs_sync(const struct ntrace_message *message)
{
	switch (message->tcode) {
	case NTRACE_TCODE_OWNERSHIP:
	case NTRACE_TCODE_ERROR:
		return false;
	case NTRACE_TCODE_PROG_TRACE_CORRELATION:
		/*
		 * A hart may stop, or trace may be disabled, while trace is off: then I-CNT is 0.
		 */
		return message->field[NTRACE_FIELD_ICNT] != 0;
	default:
		return !is_sync(message);
	}
}

/* Whether the encoder was in a state that allows this message. */
static void check_started(struct ntrace_check *check, struct src_check *source,
			  const struct ntrace_message *message)
{
	enum check_rule rule;

	/* Trace may end with Error: messages that may start a trace may also follow Error. */
	if (source->state == STATE_LOST &&
	    (needs_sync(message) || message->tcode == NTRACE_TCODE_OWNERSHIP)) {
		rule = RULE_SYNC_AFTER_ERROR;
	} else if (!needs_sync(message)) {
		return;
	} else if (ntrace_message_has(message, NTRACE_FIELD_UADDR) && !source->reference &&
		   source->state == STATE_BEGIN) {
		rule = RULE_UADDR_REFERENCE;
	} else if (source->state == STATE_BEGIN) {
		rule = RULE_START_WITHOUT_SYNC;
	} else if (source->state == STATE_OFF) {
		rule = RULE_SYNC_AFTER_OFF;
	} else {
		return;
	}
	check_report(check, rule, message, -1);
	check_forget(source);
}

static void check_ownership(struct ntrace_check *check, struct src_check *source,
			    const struct ntrace_message *message)
{
	unsigned int format = message->field[NTRACE_FIELD_PROCESS] & 3;
	uint8_t previous = source->previous;

	/* See check_process(). */
	if (!params_owner_is_context(&check->params))
		return;
	source->previous = is_sync(message) ? PREVIOUS_SYNC : PREVIOUS_OTHER;
	if (message->tcode != NTRACE_TCODE_OWNERSHIP) {
		/* An Error after the sync means that the Ownership message may have been lost. */
		if (previous == PREVIOUS_SYNC && source->context &&
		    message->tcode != NTRACE_TCODE_ERROR)
			check_report(check, RULE_OWNERSHIP_MISSING, message, -1);
		return;
	}
	if (previous == PREVIOUS_SYNC) {
		source->context |= format >= 2;
		if (format == 2)
			source->previous = PREVIOUS_SCONTEXT;
	} else if (previous == PREVIOUS_SCONTEXT && format == 3) {
		check_report(check, RULE_OWNERSHIP_ORDER, message, NTRACE_FIELD_PROCESS);
	}
}

static uint64_t history_bits(const struct ntrace_message *message)
{
	uint64_t bits, repeat = 1;

	if (message->field[NTRACE_FIELD_HIST] < 2)
		return 0;
	bits = width(message->field[NTRACE_FIELD_HIST]) - 1;
	if (ntrace_message_has(message, NTRACE_FIELD_HREPEAT))
		repeat = message->field[NTRACE_FIELD_HREPEAT];
	return repeat > UINT32_MAX ? UINT64_MAX : bits * repeat;
}

static uint64_t add(uint64_t a, uint64_t b)
{
	return a + b < a ? UINT64_MAX : a + b;
}

/* Compares the counts not yet reported with those of this message. */
static void check_sums(struct ntrace_check *check, struct src_check *source,
		       const struct ntrace_message *message)
{
	uint64_t icnt = message->field[NTRACE_FIELD_ICNT];
	bool transfer = message->tcode == NTRACE_TCODE_DIRECT_BRANCH ||
			(ntrace_message_has(message, NTRACE_FIELD_UADDR) &&
			 message->field[NTRACE_FIELD_BTYPE] == NTRACE_BTYPE_JUMP);
	bool full = message->tcode == NTRACE_TCODE_RESOURCE_FULL;

	source->bits = add(source->bits, history_bits(message));
	if (full) {
		source->pending = add(source->pending, icnt);
		return;
	}
	if (!ntrace_message_has(message, NTRACE_FIELD_ICNT))
		return;
	/* The first sync after a start may count code from before the start. */
	if (!source->unsure && source->state == STATE_RUNNING) {
		uint64_t total = add(source->pending, icnt);

		if (transfer && !total)
			check_report(check, RULE_TRANSFER_ICNT, message, NTRACE_FIELD_ICNT);
		else if (source->bits > total)
			check_report(check, RULE_HIST_EXCEEDS_ICNT, message, NTRACE_FIELD_ICNT);
	}
	source->pending = 0;
	source->bits = 0;
}

static void check_repeat(struct ntrace_check *check, struct src_check *source,
			 const struct ntrace_message *message)
{
	switch (message->tcode) {
	case NTRACE_TCODE_DIRECT_BRANCH:
	case NTRACE_TCODE_INDIRECT_BRANCH:
	case NTRACE_TCODE_INDIRECT_BRANCH_HIST:
		source->branch = true;
		break;
	case NTRACE_TCODE_REPEAT_BRANCH:
		if (!source->branch)
			check_report(check, RULE_REPEAT_WITHOUT_BRANCH, message, -1);
		source->branch = true;
		break;
	case NTRACE_TCODE_OWNERSHIP:
		break;
	default:
		source->branch = false;
	}
}

/*
 * The time of a sync must be later than the time before. A smaller one may have wrapped, if that is less than half a
 * round ago; a greater one is later, however long there was no message.
 */
static void check_absolute(struct ntrace_check *check, const struct src_check *source,
			   const struct ntrace_message *message, uint64_t mask)
{
	uint64_t sync = message->field[NTRACE_FIELD_SYNC];
	uint64_t stamp = message->field[NTRACE_FIELD_TSTAMP];
	bool earlier = stamp < (source->time & mask) && ((stamp - source->time) & mask) > mask >> 1;

	if (source->time_known && earlier && sync != NTRACE_SYNC_RESET_EXIT &&
	    sync != NTRACE_SYNC_POWER_DOWN_EXIT)
		check_report(check, RULE_TSTAMP_BACKWARDS, message, NTRACE_FIELD_TSTAMP);
}

static void check_time(struct ntrace_check *check, struct src_check *source,
		       const struct ntrace_message *message)
{
	const struct ntrace_params *params = &check->params;
	uint64_t value = message->field[NTRACE_FIELD_TSTAMP];
	uint64_t mask = params->timestamp_bits && params->timestamp_bits < 64 ?
				(UINT64_C(1) << params->timestamp_bits) - 1 :
				UINT64_MAX;

	/* An excess field has its own finding; it is not judged as a timestamp, too. */
	if (message->flags & NTRACE_MESSAGE_EXTRA)
		return;
	if (!ntrace_message_has(message, NTRACE_FIELD_TSTAMP)) {
		if (ntrace_message_time_is_absolute(message) &&
		    (source->timed || params->timestamp_bits)) {
			check_report(check, RULE_TSTAMP_SYNC_MISSING, message, -1);
			source->time_missing = true;
		}
		return;
	}
	source->timed = true;
	if (value & ~mask)
		check_report(check, RULE_TSTAMP_WIDTH, message, NTRACE_FIELD_TSTAMP);
	if (stamp_is_absolute(message, params)) {
		check_absolute(check, source, message, mask);
		source->time = value;
		source->time_known = true;
		source->time_missing = false;
	} else if (!source->time_known) {
		/*
		 * After a loss before any sync, the time of the loss and of its messages is
		 * unknown. A missing absolute one is reported once.
		 */
		if (message->tcode != NTRACE_TCODE_ERROR && !source->unsure &&
		    !source->time_missing)
			check_report(check, RULE_TSTAMP_REFERENCE, message, NTRACE_FIELD_TSTAMP);
		source->time_missing |= message->tcode != NTRACE_TCODE_ERROR;
	} else {
		source->time = stamp_delta(params) == NTRACE_TIME_DELTA_XOR ? source->time ^ value :
									      source->time + value;
	}
}

/* Follows the effect of the message on the encoder's state. */
static void follow(struct ntrace_check *check, struct src_check *source,
		   const struct ntrace_message *message)
{
	if (is_sync(message)) {
		source->state = STATE_RUNNING;
		source->unsure = false;
		source->reference = true;
		source->since_sync = 0;
		source->pending = 0;
		source->bits = 0;
		return;
	}
	if (++source->since_sync == SYNC_INTERVAL_MAX)
		check_report(check, RULE_PERIODIC_SYNC, message, -1);
	if (message->tcode == NTRACE_TCODE_ERROR) {
		source->state = STATE_LOST;
		source->reference = false;
	} else if (message->tcode == NTRACE_TCODE_PROG_TRACE_CORRELATION) {
		source->state = STATE_OFF;
		source->reference = false;
		source->branch_mode = false;
		source->history_mode = false;
	}
	if (source->state != STATE_RUNNING) {
		source->unsure = false;
		source->pending = 0;
		source->bits = 0;
	}
}

static bool declared(const struct ntrace_check *check, uint64_t src)
{
	uint64_t any = 0;

	for (unsigned int i = 0; i < SOURCES / 64; i++)
		any |= check->config.sources[i];
	return !any || check->config.sources[src / 64] >> src % 64 & 1;
}

/* Data trace. Stores to the stimulus registers of SiFive's encoders are their own feature. */
static bool is_data_trace(const struct ntrace_check *check, const struct ntrace_message *message)
{
	return ntrace_message_has(message, NTRACE_FIELD_DSZ) ||
	       (message->tcode == NTRACE_TCODE_DATA_ACQUISITION &&
		check->params.dialect != NTRACE_DIALECT_SIFIVE_V0);
}

void check_message(struct ntrace_check *check, struct src_check *source,
		   const struct ntrace_message *message)
{
	if (source->state == STATE_BEGIN && check->config.wrapped && !is_sync(message))
		return;
	if (ntrace_message_has(message, NTRACE_FIELD_SRC) &&
	    !declared(check, message->field[NTRACE_FIELD_SRC]))
		check_report(check, RULE_SRC_UNDECLARED, message, NTRACE_FIELD_SRC);
	if (message->flags & NTRACE_MESSAGE_UNKNOWN) {
		if (!stamp_of_vendor(message->tcode))
			check_report(check, RULE_TCODE_RESERVED, message, -1);
		return;
	}
	if (!check_layout(check, source, message)) {
		check_forget(source);
		return;
	}
	check_fields(check, message);
	if (ntrace_message_is_beside(message)) {
		if (is_data_trace(check, message))
			check_report(check, RULE_DATA_TRACE, message, -1);
		check_time(check, source, message);
		return;
	}
	check_started(check, source, message);
	if (is_sync(message))
		check_sync(check, source, message);
	check_ownership(check, source, message);
	check_btype(check, source, message);
	check_mode(check, source, message);
	check_sums(check, source, message);
	check_repeat(check, source, message);
	check_time(check, source, message);
	follow(check, source, message);
}
