// SPDX-License-Identifier: GPL-2.0-only
/* Decoded events as text. */
#include <inttypes.h>
#include <stdio.h>

#include <ntrace/encode.h>

#include "printer.h"
#include "ui.h"

char privilege_letter(unsigned int privilege)
{
	switch (privilege) {
	case NTRACE_PRIV_U:
	case NTRACE_PRIV_VU:
		return 'U';
	case NTRACE_PRIV_S:
	case NTRACE_PRIV_VS:
		return 'S';
	case NTRACE_PRIV_M:
		return 'M';
	default:
		return '?';
	}
}

static void put_address(const struct printer *printer, uint64_t address)
{
	output_text(printer->output, "0x");
	output_hex(printer->output, address, printer->address_digits);
}

/* "[003]  1234 name             U " */
static void put_owner(const struct printer *printer)
{
	const struct ntrace_session_event *event = &printer->current;
	struct output *output = printer->output;

	if (printer->src >= 0) {
		output_text(output, "[src ");
		output_decimal(output, (uint64_t)printer->src, 0);
		output_text(output, "] ");
	}
	if (!printer->attributed)
		return;
	output_char(output, '[');
	output_char(output, (char)('0' + event->cpu / 100 % 10));
	output_char(output, (char)('0' + event->cpu / 10 % 10));
	output_char(output, (char)('0' + event->cpu % 10));
	output_text(output, "] ");
	if (event->tid < 0)
		output_text(output, "     ?");
	else
		output_decimal(output, (uint64_t)event->tid, 6);
	output_char(output, ' ');
	output_padded(output, event->comm, 16);
	output_char(output, privilege_letter(event->privilege));
	output_char(output, ' ');
}

/* "function+0x1c [object]" */
static void put_place(const struct printer *printer, struct ntrace_space *space, uint64_t address)
{
	const struct ntrace_location *place = place_find(printer->places, space, address);
	struct output *output = printer->output;

	if (!place->object) {
		output_text(output, "[unknown]");
		return;
	}
	if (place->symbol) {
		output_text(output, place->symbol);
		if (place->link_address != place->symbol_start) {
			output_text(output, "+0x");
			output_hex(output, place->link_address - place->symbol_start, 1);
		}
		output_char(output, ' ');
	}
	output_char(output, '[');
	output_text(output, place_object_name(place->object));
	output_char(output, ']');
}

static int put_pc(void *data, uint64_t address, const uint8_t *bytes,
		  const struct ntrace_insn *insn)
{
	struct output *output = data;

	(void)bytes;
	(void)insn;
	output_bytes(output, "0x", 2);
	output_hex(output, address, 1);
	output_char(output, '\n');
	return 0;
}

static int put_instruction(void *data, uint64_t address, const uint8_t *bytes,
			   const struct ntrace_insn *insn)
{
	const struct printer *printer = data;
	struct output *output = printer->output;
	unsigned int i;

	put_owner(printer);
	put_address(printer, address);
	output_text(output, "  ");
	/* As disassemblers show it: the instruction as one number. */
	for (i = insn->size; i-- > 0;)
		output_hex(output, bytes[i], 2);
	for (i = insn->size; i < 4; i++)
		output_text(output, "  ");
	output_text(output, "  ");
	output_padded(output,
		      insn->class == NTRACE_INSN_PLAIN ? "" : ntrace_insn_class_name(insn->class),
		      20);
	output_char(output, ' ');
	put_place(printer, printer->current.flow->space, address);
	output_char(output, '\n');
	return 0;
}

static void put_block(const struct printer *printer, const struct ntrace_flow_event *event)
{
	struct output *output = printer->output;

	put_owner(printer);
	put_address(printer, event->address);
	output_char(output, '-');
	put_address(printer, event->last);
	output_decimal(output, event->instructions, 5);
	output_char(output, ' ');
	if (event->interrupted)
		output_padded(output, "interrupted", 20);
	else if (event->insn_class == NTRACE_INSN_BRANCH)
		output_padded(output, event->taken ? "branch taken" : "branch not taken", 20);
	else
		output_padded(output, ntrace_insn_class_name(event->insn_class), 20);
	output_char(output, ' ');
	put_place(printer, event->space, event->address);
	output_char(output, '\n');
}

static void put_transfer(const struct printer *printer, const struct ntrace_flow_event *event,
			 const struct transfer *transfer, bool taken)
{
	struct output *output = printer->output;

	put_owner(printer);
	put_address(printer, transfer->from);
	output_text(output, " -> ");
	put_address(printer, transfer->to);
	output_char(output, ' ');
	if (transfer->insn_class == NTRACE_INSN_BRANCH)
		output_padded(output, taken ? "branch taken" : "branch not taken", 20);
	else
		output_padded(output, ntrace_insn_class_name(transfer->insn_class), 20);
	output_char(output, ' ');
	put_place(printer, event->space, transfer->from);
	output_text(output, " -> ");
	put_place(printer, event->space, transfer->to);
	output_char(output, '\n');
}

static void put_not_taken(const struct printer *printer, const struct ntrace_flow_event *event)
{
	const struct transfer transfer = {
		.from = event->last,
		.to = event->next,
		.insn_class = event->insn_class,
	};

	if (event->insn_class == NTRACE_INSN_BRANCH && !event->taken && event->next_known)
		put_transfer(printer, event, &transfer, false);
}

static int block(struct printer *printer, const struct ntrace_flow_event *event)
{
	switch (printer->level) {
	case LEVEL_PC:
		return ntrace_flow_instructions(event, put_pc, printer->output);
	case LEVEL_INSTRUCTION:
		return ntrace_flow_instructions(event, put_instruction, printer);
	case LEVEL_BLOCK:
		put_block(printer, event);
		return 0;
	default:
		put_not_taken(printer, event);
		return 0;
	}
}

/* Something that is no execution, between the lines of what was executed. */
static void put_mark(const struct printer *printer, const struct ntrace_flow_event *event,
		     const char *name, const char *detail)
{
	struct output *output = printer->output;

	put_owner(printer);
	output_text(output, "-- ");
	output_text(output, name);
	if (*detail) {
		output_text(output, ": ");
		output_text(output, detail);
	}
	if (event->type == NTRACE_FLOW_OWNERSHIP) {
		output_text(output, " PROCESS=0x");
		output_hex(output, event->value, 1);
	} else if (event->address) {
		output_text(output, " at ");
		put_address(printer, event->address);
		output_char(output, ' ');
		put_place(printer, event->space, event->address);
	}
	if (event->type == NTRACE_FLOW_TRAP && event->next_known) {
		output_text(output, " from ");
		put_address(printer, event->value);
	}
	output_text(output, " (offset 0x");
	output_hex(output, event->offset, 1);
	output_text(output, ")\n");
}

/* The PC level keeps stdout for addresses alone. */
static void complain(const struct printer *printer, const struct ntrace_flow_event *event,
		     const char *name, const char *detail)
{
	const struct ntrace_location *place;

	place = place_find(printer->places, event->space, event->address);
	fprintf(stderr, "ntrace: %s: %s at offset 0x%" PRIx64 "%s%s", printer->source, name,
		event->offset, *detail ? ": " : "", detail);
	if (printer->src >= 0)
		fprintf(stderr, ", SRC %d", printer->src);
	if (event->address)
		fprintf(stderr, ", address 0x%" PRIx64, event->address);
	if (place->object)
		fprintf(stderr, " in %s", ntrace_object_name(place->object));
	if (printer->attributed && printer->current.pid >= 0)
		fprintf(stderr, ", process %d (%s)", printer->current.pid, printer->current.comm);
	putc('\n', stderr);
}

const char *printer_detail(const struct ntrace_flow_event *event)
{
	switch (event->type) {
	case NTRACE_FLOW_TRAP:
		return event->code == NTRACE_BTYPE_EXCEPTION ? "exception" :
		       event->code == NTRACE_BTYPE_INTERRUPT ? "interrupt" :
							       "";
	case NTRACE_FLOW_TRACE_OFF:
		return event->code == NTRACE_EVCODE_DEBUG_ENTRY ? "debug mode" :
		       event->code == NTRACE_EVCODE_LOW_POWER ? "low power" :
		       event->code == NTRACE_EVCODE_TRACE_DISABLE ? "disabled or filtered" :
								    "";
	case NTRACE_FLOW_ERROR:
	case NTRACE_FLOW_WARNING:
		return ntrace_flow_error_text(event->code);
	default:
		return "";
	}
}

static void mark(struct printer *printer, const struct ntrace_flow_event *event)
{
	const char *name = ntrace_flow_type_name(event->type), *detail = printer_detail(event);
	bool loss = event->type == NTRACE_FLOW_ERROR || event->type == NTRACE_FLOW_GAP;

	if (event->type == NTRACE_FLOW_WARNING)
		printer->warnings[event->code % WARNING_KINDS]++;
	printer->errors += event->type == NTRACE_FLOW_ERROR;
	printer->gaps += event->type == NTRACE_FLOW_GAP;
	if (printer->json)
		printer_json(printer, event);
	else if (printer->level != LEVEL_PC)
		put_mark(printer, event, name, detail);
	else if (loss)
		complain(printer, event, name, detail);
}

int printer_event(void *data, const struct ntrace_session_event *event)
{
	const struct ntrace_flow_event *flow = event->flow;
	struct printer *printer = data;
	struct transfer transfer;

	printer->current = *event;
	if (printer->level == LEVEL_BRANCH && !printer->json) {
		if (transfer_resolve(printer->transfers, flow, &transfer))
			put_transfer(printer, flow, &transfer, true);
		if (transfer_start(printer->transfers, flow, &transfer))
			put_transfer(printer, flow, &transfer, true);
	}
	if (flow->type == NTRACE_FLOW_BLOCK && printer->json) {
		printer_json(printer, flow);
	} else if (flow->type == NTRACE_FLOW_BLOCK) {
		if (block(printer, flow))
			printer->errors++;
	} else {
		mark(printer, flow);
	}
	return printer->output->error != 0;
}

void printer_warnings(const struct printer *printer)
{
	unsigned int i;

	for (i = 0; i < WARNING_KINDS; i++)
		if (printer->warnings[i])
			warn("%s: %" PRIu64 " times: %s", printer->source, printer->warnings[i],
			     ntrace_flow_error_text(i));
}
