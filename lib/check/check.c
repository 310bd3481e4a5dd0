// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* The checker: reads messages from bytes, assigns them to their SRC, and judges flow events. */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "struct_size.h"
#include "wire/params.h"

static const struct ntrace_check_rule rules[RULE_COUNT] = {
#define RULE(name, id, section, severity, flow, text) \
	[RULE_##name] = { id, section, NTRACE_CHECK_##severity, flow, text },
	NTRACE_CHECK_RULES(RULE)
#undef RULE
};

const struct ntrace_check_rule *ntrace_check_rules(size_t *count)
{
	*count = RULE_COUNT;
	return rules;
}

const char *ntrace_check_severity_name(unsigned int severity)
{
	static const char *const names[] = { "info", "warning", "error" };

	return severity < sizeof(names) / sizeof(names[0]) ? names[severity] : "?";
}

void ntrace_check_config_init(struct ntrace_check_config *config)
{
	memset(config, 0, sizeof(*config));
	config->size = sizeof(*config);
	config->icnt_bits = 22;
}

/* Copies owned by the library. */
static bool valid(const struct ntrace_check_config *config, const struct ntrace_params *params)
{
	struct ntrace_isa isa;

	return config->finding && config->icnt_bits && config->icnt_bits <= 64 &&
	       (params->xlen == 32 || params->xlen == 64) &&
	       (!params_isa(params) || !ntrace_isa_parse(&isa, params->isa));
}

int ntrace_check_new(struct ntrace_check **check, const struct ntrace_check_config *config)
{
	struct ntrace_check_config full;
	struct ntrace_params params;
	struct ntrace_check *made;

	ntrace_check_config_init(&full);
	ntrace_params_init(&params);
	if (!check || !config || STRUCT_TAKE(&full, config) ||
	    (full.params && STRUCT_TAKE(&params, full.params)) || !valid(&full, &params))
		return NTRACE_ERR_INVALID;
	config = &full;
	*check = NULL;
	made = calloc(1, sizeof(*made));
	if (!made)
		return NTRACE_ERR_NOMEM;
	made->config = *config;
	made->config.params = NULL;
	if (params_copy(&made->params, &made->isa, &params)) {
		free(made);
		return NTRACE_ERR_NOMEM;
	}
	if (ntrace_reader_init(&made->reader, &made->params, !config->wrapped)) {
		free(made->isa);
		free(made);
		return NTRACE_ERR_INVALID;
	}
	if (config->space)
		ntrace_space_get(config->space);
	made->idle_known = !config->wrapped;
	*check = made;
	return NTRACE_OK;
}

void ntrace_check_free(struct ntrace_check *check)
{
	if (!check)
		return;
	for (unsigned int i = 0; i < SOURCES; i++) {
		if (check->sources[i])
			ntrace_flow_free(check->sources[i]->flow);
		free(check->sources[i]);
	}
	if (check->config.space)
		ntrace_space_put(check->config.space);
	free(check->isa);
	free(check);
}

uint64_t ntrace_check_messages(const struct ntrace_check *check)
{
	return check->messages;
}

static void give(struct ntrace_check *check, struct ntrace_check_finding *finding,
		 enum check_rule rule)
{
	finding->rule = &rules[rule];
	if (!check->stop)
		check->stop = check->config.finding(check->config.data, finding);
}

void check_report(struct ntrace_check *check, enum check_rule rule,
		  const struct ntrace_message *message, int field)
{
	struct ntrace_check_finding finding = {
		.offset = message->offset,
		.length = message->length,
		.tcode = message->tcode,
		.src = ntrace_message_has(message, NTRACE_FIELD_SRC) ?
			       (int)message->field[NTRACE_FIELD_SRC] :
			       -1,
		.field = field,
		.value = field < 0 ? 0 : message->field[field],
	};

	if (rules[rule].severity == NTRACE_CHECK_ERROR) {
		check->message_wrong = true;
		check->wrong_offset = message->offset;
	}
	give(check, &finding, rule);
}

/* Violations by bytes outside any message. */
static void report_bytes(struct ntrace_check *check, enum check_rule rule, uint64_t offset,
			 uint64_t length)
{
	struct ntrace_check_finding finding = {
		.offset = offset,
		.length = length,
		.tcode = -1,
		.src = -1,
		.field = -1,
	};

	give(check, &finding, rule);
}

/* Return: RULE_COUNT if the event is no violation, or if the message has already been judged. */
static enum check_rule flow_rule(const struct ntrace_flow_event *event)
{
	switch (event->code) {
	case NTRACE_FLOW_ERROR_NOMAP:
		return RULE_FLOW_NOMAP;
	case NTRACE_FLOW_ERROR_TABLE:
		return RULE_FLOW_TABLE;
	case NTRACE_FLOW_ERROR_BADINSN:
		return RULE_FLOW_BADINSN;
	case NTRACE_FLOW_ERROR_SPLIT:
		return RULE_FLOW_SPLIT;
	case NTRACE_FLOW_ERROR_INDIRECT:
		return RULE_FLOW_INDIRECT;
	case NTRACE_FLOW_ERROR_HISTORY:
		return RULE_FLOW_HISTORY;
	case NTRACE_FLOW_ERROR_NO_HISTORY:
		return RULE_FLOW_NO_HISTORY;
	case NTRACE_FLOW_ERROR_ICNT:
		return RULE_FLOW_ICNT;
	case NTRACE_FLOW_ERROR_ADDRESS:
		return RULE_FLOW_ADDRESS;
	case NTRACE_FLOW_ERROR_ENDLESS:
		return RULE_FLOW_ENDLESS;
	case NTRACE_FLOW_ERROR_TRANSFER:
		return event->type == NTRACE_FLOW_ERROR ? RULE_FLOW_TRANSFER : RULE_FLOW_CUSTOM;
	case NTRACE_FLOW_ERROR_SOURCE:
		return RULE_FLOW_SOURCE;
	case NTRACE_FLOW_ERROR_EXCESS:
		return RULE_FLOW_EXCESS;
	case NTRACE_FLOW_ERROR_TAIL:
		return RULE_FLOW_TAIL;
	case NTRACE_FLOW_ERROR_INFERRED:
		/* Legal: setting trTeInstImplicitReturnMode to 1 or 2 accepts wrong returns. */
		return RULE_COUNT;
	default:
		return RULE_COUNT;
	}
}

/* A program runs the same unknown code many times: report each page once. */
static bool told_of_page(struct ntrace_check *check, uint64_t address)
{
	uint64_t page = (address >> 12) + 1;
	uint64_t *slot = &check->unknown_pages[page % UNKNOWN_PAGES];
	bool told = *slot == page;

	*slot = page;
	return told;
}

/*
 * Each mistake yields one finding, also in the flow: a wrong address of a sync leads to others, and so does
 * an I-CNT that leaves out a call, where the call returns.
 */
static bool is_consequence(struct src_check *source, const struct ntrace_flow_event *event,
			   enum check_rule rule)
{
	if (!source)
		return false;
	if (source->doubted && source->doubted != event->offset + 1)
		return true;
	if (rule == RULE_FLOW_ADDRESS)
		source->doubted = event->offset + 1;
	source->call_missed |= rule == RULE_FLOW_CUSTOM;
	return rule == RULE_FLOW_INDIRECT && source->call_missed;
}

int ntrace_check_flow_event(struct ntrace_check *check, int src,
			    const struct ntrace_flow_event *event)
{
	struct src_check *source = check->sources[src < 0 ? 0 : (unsigned int)src % SOURCES];
	struct ntrace_check_finding finding = {
		.offset = event->offset,
		.tcode = -1,
		.src = src,
		.field = -1,
		.address = event->address,
	};
	enum check_rule rule;

	/* Its own event follows the error of the sync. */
	if (event->type == NTRACE_FLOW_SYNC && source && source->doubted != event->offset + 1)
		source->doubted = 0;
	if (event->type == NTRACE_FLOW_SYNC && source)
		source->call_missed = false;
	if (event->type != NTRACE_FLOW_ERROR && event->type != NTRACE_FLOW_WARNING)
		return 0;
	rule = flow_rule(event);
	if ((rule == RULE_FLOW_NOMAP || rule == RULE_FLOW_TABLE) &&
	    told_of_page(check, event->address))
		return check->stop;
	if (rule == RULE_COUNT || (check->message_wrong && check->wrong_offset == event->offset) ||
	    is_consequence(source, event, rule))
		return check->stop;
	if (event->type == NTRACE_FLOW_ERROR) {
		check->message_wrong = true;
		check->wrong_offset = event->offset;
	}
	give(check, &finding, rule);
	return check->stop;
}

static void get_on(struct ntrace_check *check, uint64_t offset)
{
	if (check->config.progress && !(++check->steps % STEPS))
		check->config.progress(check->config.data, offset);
}

static int take_flow_event(void *data, const struct ntrace_flow_event *event)
{
	const struct src_check *source = data;

	get_on(source->check, event->offset);
	return ntrace_check_flow_event(source->check, source->number, event);
}

static int add_flow(struct ntrace_check *check, struct src_check *source)
{
	struct ntrace_flow_config config = {
		.size = sizeof(config),
		.params = &check->params,
		.src = source->number < 0 ? 0 : (unsigned int)source->number,
		.event = take_flow_event,
		.space = check->config.space,
		.data = source,
	};

	check->flows++;
	return ntrace_flow_new(&source->flow, &config);
}

/* The state of a message's SRC; NULL, with check->stop set, on a failure. */
static struct src_check *source_of(struct ntrace_check *check, const struct ntrace_message *message)
{
	unsigned int number = message->field[NTRACE_FIELD_SRC] & (SOURCES - 1);
	struct src_check *source = check->sources[number];

	if (source)
		return source;
	source = calloc(1, sizeof(*source));
	if (!source) {
		check->stop = NTRACE_ERR_NOMEM;
		return NULL;
	}
	source->check = check;
	source->number = check->params.src_bits ? (int)number : -1;
	check->sources[number] = source;
	if (check->config.space && check->flows < FLOWS_MAX)
		check->stop = add_flow(check, source);
	else if (check->config.space)
		check_report(check, RULE_FLOW_SOURCE, message, -1);
	return check->stop ? NULL : source;
}

static void take_message(struct ntrace_check *check, const struct ntrace_message *message)
{
	struct src_check *source = source_of(check, message);

	if (!source)
		return;
	check->messages++;
	get_on(check, message->offset);
	check_message(check, source, message);
	if (source->flow && !check->stop)
		check->stop = ntrace_flow_message(source->flow, message);
}

/* Applies to every SRC, since the SRC of the lost message is unknown. @tell: a function of flows */
static void forget_all(struct ntrace_check *check, uint64_t offset,
		       int (*tell)(struct ntrace_flow *flow, uint64_t offset))
{
	for (unsigned int i = 0; i < SOURCES; i++) {
		if (!check->sources[i])
			continue;
		check_forget(check->sources[i]);
		if (check->sources[i]->flow && !check->stop)
			check->stop = tell(check->sources[i]->flow, offset);
	}
}

static void take_error(struct ntrace_check *check, const struct ntrace_message *error)
{
	/* A message begins with MSEO 00: a single byte is a stray byte between messages. */
	report_bytes(check, error->length == 1 ? RULE_MSEO_IDLE : RULE_MSEO_RESERVED, error->offset,
		     error->length);
	forget_all(check, error->offset, ntrace_flow_wire_error);
}

/* Checks the idle bytes before @end; @data is the byte at offset @base. One finding per run. */
static void check_idles(struct ntrace_check *check, const uint8_t *data, uint64_t base,
			uint64_t end)
{
	uint64_t from = check->idle_from < base ? base : check->idle_from;
	uint64_t count = 0;

	if (!check->idle_known)
		return;
	for (; from + count < end && data[from - base + count] == 0xff; count++)
		;
	if (from + count < end && !check->idle_wrong) {
		check->idle_wrong = true;
		report_bytes(check, RULE_IDLE_BYTE, from + count, 1);
	}
	check->idle_from = end;
}

int ntrace_check_feed(struct ntrace_check *check, const uint8_t *data, size_t size)
{
	uint64_t base = check->reader.offset;
	struct ntrace_message message;
	int event = 0;

	ntrace_reader_feed(&check->reader, data, size);
	while (!check->stop && (event = ntrace_reader_next(&check->reader, &message)) >= 0) {
		check_idles(check, data, base, message.offset);
		check->idle_wrong = false;
		check->idle_known = event == NTRACE_WIRE_MESSAGE;
		check->idle_from = message.offset + message.length;
		if (event == NTRACE_WIRE_MESSAGE)
			take_message(check, &message);
		else
			take_error(check, &message);
	}
	if (!check->stop)
		check_idles(check, data, base,
			    check->reader.offset - ntrace_reader_pending(&check->reader));
	return check->stop;
}

int ntrace_check_break(struct ntrace_check *check)
{
	ntrace_reader_break(&check->reader);
	check->idle_known = false;
	/* A SRC whose first message comes later may have begun in the missing part. */
	check->config.wrapped = true;
	if (!check->stop)
		forget_all(check, check->reader.offset, ntrace_flow_break);
	return check->stop;
}

int ntrace_check_end(struct ntrace_check *check)
{
	uint64_t pending = ntrace_reader_pending(&check->reader);

	if (pending)
		report_bytes(check, RULE_MESSAGE_CUT, check->reader.offset - pending, pending);
	for (unsigned int i = 0; i < SOURCES && !check->stop; i++) {
		if (check->sources[i] && check->sources[i]->flow)
			check->stop = ntrace_flow_end(check->sources[i]->flow, 0);
	}
	return check->stop;
}
