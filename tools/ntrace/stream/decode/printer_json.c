// SPDX-License-Identifier: GPL-2.0-only
/* Decoded events as JSON lines. */
#include <inttypes.h>
#include <stdio.h>

#include "circuit.h"
#include "event_text.h"
#include "printer_json.h"

/* Addresses are strings: many JSON readers lose precision above 2^53. */
static void member_hex(struct output *output, const char *name, uint64_t value)
{
	output_text(output, ",\"");
	output_text(output, name);
	output_text(output, "\":\"0x");
	output_hex(output, value, 1);
	output_char(output, '"');
}

static void member_bool(struct output *output, const char *name, bool value)
{
	output_text(output, ",\"");
	output_text(output, name);
	output_text(output, value ? "\":true" : "\":false");
}

static void member_text(struct output *output, const char *name, const char *value)
{
	output_text(output, ",\"");
	output_text(output, name);
	output_text(output, "\":");
	output_json(output, value);
}

/* Type, owner and time. */
static void begin(const struct printer *printer, const char *type)
{
	const struct ntrace_session_event *event = &printer->current;
	struct output *output = printer->output;

	output_text(output, "{\"type\":");
	output_json(output, type);
	output_printf(output, ",\"offset\":%" PRIu64, event->flow->offset);
	if (printer->src >= 0)
		output_printf(output, ",\"src\":%d", printer->src);
	if (event->flow->time_known)
		member_hex(output, "time", event->flow->time);
	if (!printer->attributed)
		return;
	output_printf(output, ",\"stream\":%u,\"cpu\":%u", event->stream, event->cpu);
	if (event->pid >= 0)
		output_printf(output, ",\"pid\":%d,\"tid\":%d", event->pid, event->tid);
	member_text(output, "comm", event->comm);
	member_text(output, "privilege", ntrace_priv_name(event->privilege));
}

/* The place of @address: "symbol", "symbol_offset", "object", each with @prefix. */
static void member_place(const struct printer *printer, const char *prefix,
			 struct ntrace_space *space, uint64_t address)
{
	const struct ntrace_location *place = ntrace_locator_find(printer->places, space, address);
	struct output *output = printer->output;
	char name[40];

	if (!place->object)
		return;
	if (place->symbol) {
		snprintf(name, sizeof(name), "%ssymbol", prefix);
		member_text(output, name, place->symbol);
		output_printf(output, ",\"%ssymbol_offset\":%" PRIu64, prefix,
			      place->link_address - place->symbol_start);
	}
	snprintf(name, sizeof(name), "%sobject", prefix);
	member_text(output, name, ntrace_object_name(place->object));
}

/* Name and source line of the instruction, if requested and known. */
static void member_text_of(struct printer *printer, uint64_t address)
{
	const struct ntrace_location *place =
		ntrace_locator_find(printer->places, printer->current.flow->space, address);
	const struct ntrace_line *line;
	const char *name;

	name = instruction_text_name(&printer->text, place->object, place->link_address);
	if (name)
		member_text(printer->output, "text", name);
	line = instruction_text_line(&printer->text, place->object, place->link_address);
	if (!line || !line->line)
		return;
	member_text(printer->output, "file", line->file);
	output_printf(printer->output, ",\"line\":%" PRIu32, line->line);
}

static int instruction(void *data, uint64_t address, const uint8_t *bytes,
		       const struct ntrace_insn *insn)
{
	struct printer *printer = data;
	struct output *output = printer->output;
	unsigned int i;

	begin(printer, "instruction");
	member_hex(output, "address", address);
	output_text(output, ",\"insn\":\"0x");
	for (i = insn->size; i-- > 0;)
		output_hex(output, bytes[i], 2);
	output_char(output, '"');
	member_text(output, "class", ntrace_insn_class_name(insn->insn_class));
	if (printer->text.disassemble || printer->text.lines)
		member_text_of(printer, address);
	member_place(printer, "", printer->current.flow->space, address);
	output_text(output, "}\n");
	return 0;
}

static void block(const struct printer *printer, const struct ntrace_flow_event *event)
{
	struct output *output = printer->output;

	begin(printer, "block");
	member_hex(output, "address", event->address);
	member_hex(output, "last", event->last);
	output_printf(output, ",\"instructions\":%" PRIu32, event->instructions);
	member_text(output, "class", ntrace_insn_class_name(event->insn_class));
	/* Without the direction of a branch there is nothing to be true or false. */
	if (event->insn_class != NTRACE_INSN_BRANCH || event->next_known)
		member_bool(output, "taken", event->taken);
	member_bool(output, "interrupted", event->interrupted);
	member_bool(output, "provisional", event->provisional);
	if (event->next_known)
		member_hex(output, "next", event->next);
	member_place(printer, "", event->space, event->address);
	output_text(output, "}\n");
}

static void branch(const struct printer *printer, struct ntrace_space *space,
		   const struct ntrace_transfer *transfer, bool taken)
{
	struct output *output = printer->output;

	begin(printer, "branch");
	member_hex(output, "from", transfer->from);
	member_hex(output, "to", transfer->to);
	member_text(output, "class", ntrace_insn_class_name(transfer->insn_class));
	member_bool(output, "taken", taken);
	member_place(printer, "from_", space, transfer->from);
	member_place(printer, "to_", space, transfer->to);
	output_text(output, "}\n");
}

static void branches(struct printer *printer, const struct ntrace_flow_event *event)
{
	struct ntrace_transfer transfer;

	if (ntrace_transfer_resolve(printer->transfers, event, &transfer))
		branch(printer, event->space, &transfer, true);
	if (ntrace_transfer_start(printer->transfers, event, &transfer))
		branch(printer, event->space, &transfer, true);
	if (event->type != NTRACE_FLOW_BLOCK || event->insn_class != NTRACE_INSN_BRANCH ||
	    event->taken || !event->next_known)
		return;
	transfer = (struct ntrace_transfer){
		.from = event->last,
		.to = event->next,
		.insn_class = event->insn_class,
	};
	branch(printer, event->space, &transfer, false);
}

static void member_context(struct output *output, const struct ntrace_context *context)
{
	if (context->prv_known)
		member_text(output, "prv", ntrace_context_privilege(context));
	if (context->scontext_known)
		member_hex(output, "scontext", context->scontext);
	if (context->hcontext_known)
		member_hex(output, "hcontext", context->hcontext);
}

/* Details of an error or warning. */
static void member_value(struct output *output, const struct ntrace_flow_event *event)
{
	switch (event->code) {
	case NTRACE_FLOW_ERROR_LOST:
		output_printf(output, ",\"etype\":%u", event->etype);
		member_hex(output, "ecode", event->value);
		break;
	case NTRACE_FLOW_ERROR_UNKNOWN:
	case NTRACE_FLOW_ERROR_SOURCE:
	case NTRACE_FLOW_ERROR_ADDRESS:
	case NTRACE_FLOW_ERROR_TRANSFER:
	case NTRACE_FLOW_ERROR_EXCESS:
		member_hex(output, "value", event->value);
		break;
	case NTRACE_FLOW_ERROR_TAIL:
		output_printf(output, ",\"instructions_at_least\":%" PRIu64,
			      ntrace_flow_tail_instructions(event));
		break;
	}
}

static void other(const struct printer *printer, const struct ntrace_flow_event *event)
{
	const char *detail = event_detail(event);
	struct output *output = printer->output;

	begin(printer, ntrace_flow_type_name(event->type));
	if (event->type != NTRACE_FLOW_GAP && event->type != NTRACE_FLOW_OWNERSHIP &&
	    event->type != NTRACE_FLOW_DATA)
		output_printf(output, ",\"code\":%u", event->code);
	if (*detail)
		member_text(output, "detail", detail);
	if (event->type == NTRACE_FLOW_ERROR || event->type == NTRACE_FLOW_WARNING)
		member_value(output, event);
	if (event->type == NTRACE_FLOW_CIRCUIT || event->type == NTRACE_FLOW_DATA)
		circuit_json(output, event);
	if (event->type == NTRACE_FLOW_OWNERSHIP)
		member_hex(output, "process", event->value);
	/* NULL before the first message. */
	if (event->context)
		member_context(output, event->context);
	if (event->type == NTRACE_FLOW_TRAP && event->next_known)
		member_hex(output, "from", event->value);
	if (event_has_address(event)) {
		member_hex(output, "address", event->address);
		member_place(printer, "", event->space, event->address);
	}
	if (circuit_destination(event))
		member_place(printer, "destination_", event->space, event->value);
	output_text(output, "}\n");
}

void printer_json(struct printer *printer, const struct ntrace_flow_event *event)
{
	if (printer->level == LEVEL_BRANCH)
		branches(printer, event);
	if (event->type != NTRACE_FLOW_BLOCK)
		other(printer, event);
	else if (printer->level == LEVEL_BLOCK)
		block(printer, event);
	else if (printer->level == LEVEL_INSTRUCTION &&
		 ntrace_flow_instructions(event, instruction, printer))
		printer->errors++;
}
