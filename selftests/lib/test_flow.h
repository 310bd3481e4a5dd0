/* SPDX-License-Identifier: GPL-2.0-only */
/* For the tests of flow: small programs, streams of messages, and flow as text. */
#ifndef SELFTESTS_TEST_FLOW_H
#define SELFTESTS_TEST_FLOW_H

#include <ntrace/flow.h>

#include "test_wire.h"

/* Instructions of the test programs. */
#define C_ADD 0x952e		/* c.add a0, a1 */
#define C_EBREAK 0x9002
#define C_RET 0x8082
#define C_JR_A0 0x8502
#define C_JALR_A0 0x9502
#define ADD 0x00b50533		/* add a0, a0, a1 */
#define JR_A0 0x00050067
#define CUSTOM 0x0000000b	/* custom-0 */
#define ECALL 0x00000073
#define SRET 0x10200073
#define LUI_A0(upper) (0x37u | 10 << 7 | (uint32_t)(upper) << 12)

static inline uint32_t branch_to(uint64_t from, uint64_t to)
{
	uint32_t o = (uint32_t)(to - from);

	return 0x00b50063 | (o >> 12 & 1) << 31 | (o >> 5 & 0x3f) << 25 | (o >> 1 & 0xf) << 8 |
	       (o >> 11 & 1) << 7;
}

static inline uint32_t jal_to(unsigned int rd, uint64_t from, uint64_t to)
{
	uint32_t o = (uint32_t)(to - from);

	return 0x6f | rd << 7 | (o >> 20 & 1) << 31 | (o >> 1 & 0x3ff) << 21 | (o >> 11 & 1) << 20 |
	       (o >> 12 & 0xff) << 12;
}

/* Code at one address. */
struct code {
	uint8_t bytes[4096];
	size_t size;
	uint64_t start;
};

static inline void put(struct code *code, uint32_t insn)
{
	for (unsigned int i = 0; i < ((insn & 3) == 3 ? 4 : 2); i++)
		code->bytes[code->size++] = (uint8_t)(insn >> 8 * i);
}

static inline void put_branch(struct code *code, uint64_t to)
{
	put(code, branch_to(code->start + code->size, to));
}

static inline void put_jal(struct code *code, unsigned int rd, uint64_t to)
{
	put(code, jal_to(rd, code->start + code->size, to));
}

static inline struct ntrace_space *new_space(const char *name)
{
	struct ntrace_space *space = NULL;

	if (ntrace_space_new(&space, name, NULL))
		ok(false, "space for the test");
	return space;
}

static inline struct ntrace_object *add_code(struct ntrace_space *space, const struct code *code)
{
	struct ntrace_object *object;

	if (ntrace_object_from_bytes(&object, "code", code->bytes, code->size, code->start) ||
	    ntrace_space_map_linked(space, object, 0))
		ok(false, "code for the test");
	ntrace_object_put(object);
	return object;
}

/*
 * Events as text: "102 106" are PCs, a block in "()" is provisional, "!" marks an interrupted one.
 */
struct flow_log {
	char text[8192];
	size_t at;
	unsigned int stop_after;
	const char *selected;
	struct ntrace_space *spaces[4];
};

__attribute__((format(printf, 2, 3))) static inline void log_add(struct flow_log *log,
								 const char *format, ...)
{
	va_list args;

	va_start(args, format);
	if (log->at < sizeof(log->text) - 100)
		log->at += (size_t)vsnprintf(log->text + log->at, sizeof(log->text) - log->at,
					     format, args);
	va_end(args);
}

static inline int log_instruction(void *data, uint64_t address, const uint8_t *bytes,
				  const struct ntrace_insn *insn)
{
	(void)bytes;
	(void)insn;
	log_add(data, "%" PRIx64 " ", address);
	return 0;
}

static inline void log_place(struct flow_log *log, bool known, uint64_t address)
{
	if (known)
		log_add(log, "%" PRIx64 " ", address);
	else
		log_add(log, "? ");
}

static inline int log_event(void *data, const struct ntrace_flow_event *event)
{
	struct flow_log *log = data;

	switch (event->type) {
	case NTRACE_FLOW_BLOCK:
		log_add(log, "%s", event->provisional ? "( " : "");
		ntrace_flow_instructions(event, log_instruction, log);
		log_add(log, "%s", event->provisional ? ") " : "");
		log_add(log, "%s", event->interrupted ? "! " : "");
		break;
	case NTRACE_FLOW_SYNC:
		log_add(log, "sync%u@%" PRIx64 " ", event->code, event->address);
		break;
	case NTRACE_FLOW_TRAP:
		log_add(log, "trap%u@%" PRIx64 "<", event->code, event->address);
		log_place(log, event->next_known, event->value);
		break;
	case NTRACE_FLOW_TRACE_OFF:
		log_add(log, "off%u@", event->code);
		log_place(log, event->next_known, event->address);
		break;
	case NTRACE_FLOW_OWNERSHIP:
		log_add(log, "own%" PRIx64 " ", event->value);
		break;
	case NTRACE_FLOW_ERROR:
		log_add(log, "E%u@%" PRIx64 " ", event->code, event->address);
		break;
	case NTRACE_FLOW_GAP:
		log_add(log, "gap ");
		break;
	case NTRACE_FLOW_WARNING:
		log_add(log, "W%u@%" PRIx64 " ", event->code, event->address);
		break;
	case NTRACE_FLOW_CIRCUIT:
		log_add(log, "circuit%u", event->code);
		if (event->next_known)
			log_add(log, "@%" PRIx64, event->address);
		if (ntrace_flow_circuit_value(event) != NTRACE_CIRCUIT_NONE)
			log_add(log, "=%" PRIx64, event->value);
		log_add(log, " ");
		break;
	case NTRACE_FLOW_DATA:
		log_add(log, "data%" PRIx64 "=%" PRIx64 " ", event->address, event->value);
		break;
	}
	return log->stop_after && !--log->stop_after ? 42 : 0;
}

/* Feeds bytes to a flow. Return: the first return value that is not 0. */
static inline int feed_flow(struct ntrace_flow *flow, const struct ntrace_params *params,
			    const uint8_t *data, size_t size, size_t chunk, bool end)
{
	struct ntrace_reader reader;
	int ret = 0;

	ntrace_reader_init(&reader, params, true);
	for (size_t done = 0; done < size && !ret; done += chunk) {
		struct ntrace_message message;
		int event;

		ntrace_reader_feed(&reader, data + done, size - done < chunk ? size - done : chunk);
		while (!ret && (event = ntrace_reader_next(&reader, &message)) >= 0) {
			if (event == NTRACE_WIRE_ERROR)
				ret = ntrace_flow_wire_error(flow, message.offset);
			else
				ret = ntrace_flow_message(flow, &message);
		}
	}
	if (end && !ret)
		ret = ntrace_flow_end(flow, ntrace_reader_pending(&reader));
	return ret;
}

/* The flow of a stream over @space as text. */
static inline const char *flow_bytes(struct flow_log *log, const struct ntrace_params *params,
				     const uint8_t *data, size_t size, struct ntrace_space *space)
{
	struct ntrace_flow_config config = { .size = sizeof(config), .params = params };
	struct ntrace_flow *flow;

	config.event = log_event;
	config.data = log;
	config.space = space;
	log->at = 0;
	log->text[0] = '\0';
	if (ntrace_flow_new(&flow, &config))
		return "no flow";
	feed_flow(flow, config.params, data, size, size, true);
	ntrace_flow_free(flow);
	while (log->at && log->text[log->at - 1] == ' ')
		log->text[--log->at] = '\0';
	return log->text;
}

/* Like flow_text(), for a stream in hex. */
static inline const char *flow_text(struct flow_log *log, const char *settings, const char *hex,
				    struct ntrace_space *space)
{
	struct ntrace_params params = params_of(settings);
	uint8_t data[1024];
	size_t size = from_hex(hex, data, sizeof(data));

	return flow_bytes(log, &params, data, size, space);
}

#endif
