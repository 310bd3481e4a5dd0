// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Text of flow events. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include <ntrace/flow.h>

const char *ntrace_flow_error_text(unsigned int error)
{
	static const char *const texts[] = {
		[NTRACE_FLOW_ERROR_NONE] = "no error",
		[NTRACE_FLOW_ERROR_WIRE] = "reserved MSEO code",
		[NTRACE_FLOW_ERROR_MESSAGE] = "malformed message",
		[NTRACE_FLOW_ERROR_LOST] = "the encoder lost trace",
		[NTRACE_FLOW_ERROR_NOMAP] = "no memory is known at this address",
		[NTRACE_FLOW_ERROR_BADINSN] = "no valid instruction at this address",
		[NTRACE_FLOW_ERROR_SPLIT] = "I-CNT ends inside an instruction",
		[NTRACE_FLOW_ERROR_INDIRECT] =
			"I-CNT continues after a transfer with unknown target",
		[NTRACE_FLOW_ERROR_HISTORY] = "HIST does not fit the code",
		[NTRACE_FLOW_ERROR_NO_HISTORY] = "no HIST bit says where this branch went",
		[NTRACE_FLOW_ERROR_ICNT] = "I-CNT is smaller than what HIST needed",
		[NTRACE_FLOW_ERROR_REPEAT] = "RepeatBranch without a branch to repeat",
		[NTRACE_FLOW_ERROR_ADDRESS] = "F-ADDR contradicts the flow",
		[NTRACE_FLOW_ERROR_UNCERTAIN] = "code that changed while it was traced",
		[NTRACE_FLOW_ERROR_UNKNOWN] = "unknown message",
		[NTRACE_FLOW_ERROR_CUT] = "the stream is cut off",
		[NTRACE_FLOW_ERROR_ENDLESS] = "endless loop without HIST or I-CNT",
		[NTRACE_FLOW_ERROR_TRANSFER] = "transfer reported where the code has none",
		[NTRACE_FLOW_ERROR_INFERRED] =
			"inferred returns may be wrong: the encoder compares no whole address",
		[NTRACE_FLOW_ERROR_SOURCE] = "a SRC that is not decoded",
		[NTRACE_FLOW_ERROR_EXCESS] = "more code than the stream can stand for",
		[NTRACE_FLOW_ERROR_TAIL] = "the stream ends before it tells where this branch went",
		[NTRACE_FLOW_ERROR_MISSING] = "bytes of the trace are missing",
		[NTRACE_FLOW_ERROR_TABLE] =
			"the jump table at jvt cannot be read (--params jvt=ADDRESS)",
	};

	return error < sizeof(texts) / sizeof(texts[0]) ? texts[error] : "unknown error";
}

const char *ntrace_flow_type_name(unsigned int type)
{
	static const char *const names[] = {
		[NTRACE_FLOW_BLOCK] = "block",
		[NTRACE_FLOW_SYNC] = "sync",
		[NTRACE_FLOW_TRAP] = "trap",
		[NTRACE_FLOW_TRACE_OFF] = "trace off",
		[NTRACE_FLOW_OWNERSHIP] = "ownership",
		[NTRACE_FLOW_ERROR] = "error",
		[NTRACE_FLOW_GAP] = "gap",
		[NTRACE_FLOW_WARNING] = "warning",
		[NTRACE_FLOW_CIRCUIT] = "circuit",
		[NTRACE_FLOW_DATA] = "data",
	};

	return type < sizeof(names) / sizeof(names[0]) ? names[type] : "?";
}

/* Text under construction; a full text still counts its length. */
struct line {
	char *text;
	size_t size;
	size_t at;
};

__attribute__((format(printf, 2, 3))) static void add(struct line *line, const char *format, ...)
{
	size_t room = line->at < line->size ? line->size - line->at : 0;
	va_list args;
	int length;

	va_start(args, format);
	length = vsnprintf(room ? line->text + line->at : NULL, room, format, args);
	va_end(args);
	if (length > 0)
		line->at += (size_t)length;
}

/* ": trace enable (5)" */
static void add_code(struct line *line, const struct ntrace_flow_event *event,
		     enum ntrace_field field, unsigned int code)
{
	const char *name = ntrace_value_name(field, code, (enum ntrace_dialect)event->dialect);

	add(line, ": %s (%s %u)", name ? name : "reserved", ntrace_field_name(field), code);
}

static void add_process(struct line *line, uint64_t process)
{
	static const char *const formats[] = { "privilege", "reserved", "scontext", "hcontext" };

	add(line, ": %s", formats[process & 3]);
	if ((process & 3) >= 2)
		add(line, " 0x%" PRIx64, process >> 5);
	add(line, " (PROCESS 0x%" PRIx64 ")", process);
}

/* ": PC sample (CKSRC 15)", and the values of the message. */
static void add_circuit(struct line *line, const struct ntrace_flow_event *event)
{
	add_code(line, event, NTRACE_FIELD_CKSRC, event->code);
	switch (ntrace_flow_circuit_value(event)) {
	case NTRACE_CIRCUIT_CONTROL:
		add(line, " 0x%" PRIx64, event->value);
		break;
	case NTRACE_CIRCUIT_COUNTERS:
		add(line, ", counters 0x%" PRIx64, event->value);
		break;
	case NTRACE_CIRCUIT_DESTINATION:
		if (event->next_known)
			add(line, ", to 0x%" PRIx64, event->value);
		break;
	case NTRACE_CIRCUIT_TRIGGER:
		add(line, ", trigger %" PRIu64, event->value);
		break;
	case NTRACE_CIRCUIT_DATA:
		add(line, ", data 0x%" PRIx64, event->value);
		break;
	}
}

static void add_reason(struct line *line, const struct ntrace_flow_event *event)
{
	switch (event->type) {
	case NTRACE_FLOW_BLOCK:
		add(line, ": %" PRIu32 " instructions to 0x%" PRIx64 ", %s%s%s",
		    event->instructions, event->last, ntrace_insn_class_name(event->insn_class),
		    event->taken ? ", taken" : "", event->provisional ? ", provisional" : "");
		break;
	case NTRACE_FLOW_SYNC:
		add_code(line, event, NTRACE_FIELD_SYNC, event->code);
		break;
	case NTRACE_FLOW_TRAP:
		add_code(line, event, NTRACE_FIELD_BTYPE, event->code);
		break;
	case NTRACE_FLOW_TRACE_OFF:
		add_code(line, event, NTRACE_FIELD_EVCODE, event->code);
		break;
	case NTRACE_FLOW_OWNERSHIP:
		add_process(line, event->value);
		break;
	case NTRACE_FLOW_CIRCUIT:
		add_circuit(line, event);
		break;
	case NTRACE_FLOW_DATA:
		add(line, ": channel %" PRIu64 ", 0x%" PRIx64 " (IDTAG 0x%" PRIx64 ")",
		    event->address / 4, event->value, event->address);
		break;
	case NTRACE_FLOW_ERROR:
	case NTRACE_FLOW_WARNING:
		add(line, ": %s", ntrace_flow_error_text(event->code));
		if (event->code == NTRACE_FLOW_ERROR_LOST) {
			add_code(line, event, NTRACE_FIELD_ETYPE, event->etype);
			add(line, " ECODE 0x%" PRIx64, event->value);
		} else if (event->code == NTRACE_FLOW_ERROR_UNKNOWN ||
			   event->code == NTRACE_FLOW_ERROR_SOURCE) {
			add(line, " (%" PRIu64 ")", event->value);
		} else if (event->code == NTRACE_FLOW_ERROR_ADDRESS ||
			   event->code == NTRACE_FLOW_ERROR_TRANSFER) {
			add(line, " (0x%" PRIx64 ")", event->value);
		} else if (event->code == NTRACE_FLOW_ERROR_EXCESS) {
			add(line, " (%" PRIu64 ")", event->value);
		} else if (event->code == NTRACE_FLOW_ERROR_TAIL) {
			add(line, "; at least %" PRIu64 " more instructions retired",
			    ntrace_flow_tail_instructions(event));
		}
		break;
	}
}

/* " in function+0x1c of object" */
static void add_image(struct line *line, const struct ntrace_flow_event *event)
{
	struct ntrace_location location = { 0 };

	if (!event->space)
		return;
	ntrace_space_locate(event->space, event->address, &location);
	if (location.symbol)
		add(line, " in %s+0x%" PRIx64, location.symbol,
		    location.link_address - location.symbol_start);
	if (location.object)
		add(line, " of %s", ntrace_object_name(location.object));
	add(line, ", space %s", ntrace_space_name(event->space));
}

const char *ntrace_context_privilege(const struct ntrace_context *context)
{
	static const char *const names[2][4] = { { "U", "S", "reserved", "M" },
						 { "VU", "VS", "reserved", "reserved" } };

	return names[context->v][context->prv & 3];
}

static void add_context(struct line *line, const struct ntrace_context *context)
{
	if (context->prv_known)
		add(line, ", privilege %s", ntrace_context_privilege(context));
	if (context->scontext_known)
		add(line, ", scontext 0x%" PRIx64, context->scontext);
	if (context->hcontext_known)
		add(line, ", hcontext 0x%" PRIx64, context->hcontext);
}

int ntrace_flow_describe(const struct ntrace_flow_event *event, char *text, size_t size)
{
	struct line line = { .text = text, .size = size };
	bool placed = event->next_known || event->type == NTRACE_FLOW_BLOCK ||
		      event->type == NTRACE_FLOW_SYNC || event->type == NTRACE_FLOW_TRAP;

	add(&line, "%s", ntrace_flow_type_name(event->type));
	add_reason(&line, event);
	add(&line, ", offset 0x%" PRIx64 ", SRC %u", event->offset, event->src);
	if (placed) {
		add(&line, ", PC 0x%" PRIx64, event->address);
		add_image(&line, event);
	}
	if (event->context)
		add_context(&line, event->context);
	if (event->time_known)
		add(&line, ", time %" PRIu64, event->time);
	return (int)line.at;
}
