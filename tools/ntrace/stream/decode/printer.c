// SPDX-License-Identifier: GPL-2.0-only
/* Decoded events as text. */
#include <inttypes.h>
#include <stdio.h>

#include "circuit.h"
#include "common/ui.h"
#include "event_text.h"
#include "pc_text.h"
#include "printer.h"
#include "printer_json.h"

#define TIME_DIGITS 12

static void put_address(const struct printer *printer, uint64_t address)
{
	output_text(printer->output, "0x");
	output_hex(printer->output, address, printer->address_digits);
}

/* If the trace has timestamps, each line has a column for them. */
static void put_time(const struct printer *printer)
{
	if (!printer->timed)
		return;
	if (printer->current.flow->time_known)
		output_decimal(printer->output, printer->current.flow->time, TIME_DIGITS);
	else
		output_printf(printer->output, "%*s", TIME_DIGITS, "?");
	output_text(printer->output, ": ");
}

/* "[003]  1234 name             U " */
static void put_process(const struct printer *printer)
{
	const struct ntrace_session_event *event = &printer->current;
	struct output *output = printer->output;

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
	output_padded(output, ntrace_priv_name(event->privilege), 2);
	output_char(output, ' ');
}

/* Owner and time of a line. */
static void put_owner(const struct printer *printer)
{
	if (printer->src >= 0) {
		output_text(printer->output, "[src ");
		output_decimal(printer->output, (uint64_t)printer->src, 0);
		output_text(printer->output, "] ");
	}
	if (printer->attributed)
		put_process(printer);
	put_time(printer);
}

/* "function+0x1c [object]" */
static void put_place(const struct printer *printer, struct ntrace_space *space, uint64_t address)
{
	const struct ntrace_location *place = ntrace_locator_find(printer->places, space, address);
	struct output *output = printer->output;

	if (!place->object) {
		output_text(output, "[unknown]");
		return;
	}
	if (place->symbol) {
		output_name(output, place->symbol);
		if (place->link_address != place->symbol_start) {
			output_text(output, "+0x");
			output_hex(output, place->link_address - place->symbol_start, 1);
		}
		output_char(output, ' ');
	}
	output_char(output, '[');
	output_name(output, ntrace_object_short_name(place->object));
	output_char(output, ']');
}

/* Name or class of the instruction, and a blank. */
static void put_name(struct printer *printer, struct ntrace_object *object, uint64_t address,
		     const struct ntrace_insn *insn)
{
	const char *name = instruction_text_name(&printer->text, object, address);

	if (!name)
		name = insn->insn_class == NTRACE_INSN_PLAIN ?
			       "" :
			       ntrace_insn_class_name(insn->insn_class);
	output_padded(printer->output, name, printer->text.disassemble ? 32 : 20);
	output_char(printer->output, ' ');
}

static void put_line(struct printer *printer, struct ntrace_object *object, uint64_t address)
{
	const struct ntrace_line *line = instruction_text_line(&printer->text, object, address);

	if (!line || !line->line)
		return;
	output_char(printer->output, ' ');
	output_name(printer->output, line->file);
	output_char(printer->output, ':');
	output_decimal(printer->output, line->line, 0);
}

static int put_instruction(void *data, uint64_t address, const uint8_t *bytes,
			   const struct ntrace_insn *insn)
{
	struct printer *printer = data;
	struct output *output = printer->output;
	struct ntrace_location place = { 0 };
	unsigned int i;

	put_owner(printer);
	put_address(printer, address);
	output_text(output, "  ");
	/* Like disassemblers: the instruction as one number. */
	for (i = insn->size; i-- > 0;)
		output_hex(output, bytes[i], 2);
	for (i = insn->size; i < 4; i++)
		output_text(output, "  ");
	output_text(output, "  ");
	if (printer->text.disassemble || printer->text.lines)
		place = *ntrace_locator_find(printer->places, printer->current.flow->space,
					     address);
	put_name(printer, place.object, place.link_address, insn);
	put_place(printer, printer->current.flow->space, address);
	put_line(printer, place.object, place.link_address);
	output_char(output, '\n');
	return 0;
}

/* A trace may end, or lose messages, before it tells the direction of the last branch. */
static const char *branch_text(const struct ntrace_flow_event *event)
{
	if (!event->next_known)
		return "branch unknown";
	return event->taken ? "branch taken" : "branch not taken";
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
		output_padded(output, branch_text(event), 20);
	else
		output_padded(output, ntrace_insn_class_name(event->insn_class), 20);
	output_char(output, ' ');
	put_place(printer, event->space, event->address);
	output_char(output, '\n');
}

static void put_transfer(const struct printer *printer, const struct ntrace_flow_event *event,
			 const struct ntrace_transfer *transfer, bool taken)
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
	const struct ntrace_transfer transfer = {
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
		return ntrace_flow_instructions(event, pc_text_instruction, printer->output);
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

/* "U, scontext 0x1d": all that is known; some messages report only a part. */
static void put_context(struct output *output, const struct ntrace_context *context)
{
	if (context->prv_known)
		output_printf(output, ": privilege %s", ntrace_context_privilege(context));
	if (context->scontext_known)
		output_printf(output, ", scontext 0x%" PRIx64, context->scontext);
	if (context->hcontext_known)
		output_printf(output, ", hcontext 0x%" PRIx64, context->hcontext);
}

/* Numeric values of the texts. */
static void put_codes(struct output *output, const struct ntrace_flow_event *event)
{
	enum ntrace_field field = event_code_field(event);

	if (field != NTRACE_FIELD_COUNT) {
		output_printf(output, " (%s %u)", ntrace_field_name(field), event->code);
	} else if (event->type == NTRACE_FLOW_ERROR && event->code == NTRACE_FLOW_ERROR_LOST) {
		const char *name = ntrace_value_name(NTRACE_FIELD_ETYPE, event->etype,
						     (enum ntrace_dialect)event->dialect);

		output_printf(output, ", %s (ETYPE %u), ECODE 0x%" PRIx64, name, event->etype,
			      event->value);
	} else if (event->type == NTRACE_FLOW_WARNING &&
		   (event->code == NTRACE_FLOW_ERROR_UNKNOWN ||
		    event->code == NTRACE_FLOW_ERROR_SOURCE)) {
		output_printf(output, " (%" PRIu64 ")", event->value);
	} else if (event->type == NTRACE_FLOW_ERROR && event->code == NTRACE_FLOW_ERROR_EXCESS) {
		output_printf(output, " (%" PRIu64 ")", event->value);
	} else if (event->type == NTRACE_FLOW_ERROR && event->code == NTRACE_FLOW_ERROR_TAIL) {
		output_printf(output, "; at least %" PRIu64 " more instructions retired",
			      ntrace_flow_tail_instructions(event));
	}
}

/* An event other than execution, between the lines of execution. */
static void put_mark(const struct printer *printer, const struct ntrace_flow_event *event)
{
	const char *detail = event_detail(event);
	struct output *output = printer->output;

	put_owner(printer);
	output_text(output, "-- ");
	output_text(output, ntrace_flow_type_name(event->type));
	if (*detail) {
		output_text(output, ": ");
		output_text(output, detail);
	}
	put_codes(output, event);
	if (event->type == NTRACE_FLOW_CIRCUIT || event->type == NTRACE_FLOW_DATA)
		circuit_text(output, event);
	if (event->type == NTRACE_FLOW_OWNERSHIP) {
		put_context(output, event->context);
		output_text(output, ", PROCESS=0x");
		output_hex(output, event->value, 1);
	} else if (event_has_address(event)) {
		output_text(output, " at ");
		put_address(printer, event->address);
		output_char(output, ' ');
		put_place(printer, event->space, event->address);
	}
	if (event->type == NTRACE_FLOW_TRAP && event->next_known) {
		output_text(output, " from ");
		put_address(printer, event->value);
	}
	if (circuit_destination(event)) {
		output_text(output, " to ");
		put_address(printer, event->value);
		output_char(output, ' ');
		put_place(printer, event->space, event->value);
	}
	output_text(output, " (offset 0x");
	output_hex(output, event->offset, 1);
	output_text(output, ")\n");
}

/* The PC level keeps stdout for addresses alone. */
static void complain(const struct printer *printer, const struct ntrace_flow_event *event)
{
	char text[1024];

	ntrace_flow_describe(event, text, sizeof(text));
	ui_printf(stderr, "ntrace: %s: %s", printer->source, text);
	if (printer->attributed && printer->current.pid >= 0)
		ui_printf(stderr, ", process %d (%s)", printer->current.pid, printer->current.comm);
	putc('\n', stderr);
}

static void mark(struct printer *printer, const struct ntrace_flow_event *event)
{
	bool loss = event->type == NTRACE_FLOW_ERROR || event->type == NTRACE_FLOW_GAP;

	if (event->type == NTRACE_FLOW_WARNING)
		printer->warnings[event->code % WARNING_KINDS]++;
	printer->errors += event->type == NTRACE_FLOW_ERROR;
	printer->gaps += event->type == NTRACE_FLOW_GAP;
	if (printer->json)
		printer_json(printer, event);
	else if (printer->level != LEVEL_PC)
		put_mark(printer, event);
	else if (loss)
		complain(printer, event);
}

/* Errors in the program flow do not affect stores, which need no program. */
static bool concerns_itc(const struct ntrace_flow_event *event)
{
	switch (event->type) {
	case NTRACE_FLOW_CIRCUIT:
	case NTRACE_FLOW_DATA:
		return true;
	case NTRACE_FLOW_ERROR:
	case NTRACE_FLOW_WARNING:
		return event->code == NTRACE_FLOW_ERROR_WIRE ||
		       event->code == NTRACE_FLOW_ERROR_MESSAGE ||
		       event->code == NTRACE_FLOW_ERROR_LOST ||
		       event->code == NTRACE_FLOW_ERROR_UNKNOWN ||
		       event->code == NTRACE_FLOW_ERROR_SOURCE ||
		       event->code == NTRACE_FLOW_ERROR_CUT;
	default:
		return false;
	}
}

/* "[channel 3] text", with the owner and time of the last store in it. */
static void put_itc_line(void *data, const struct ntrace_session_event *event,
			 const struct itc_line *line)
{
	struct printer *printer = data;
	const struct ntrace_session_event current = printer->current;
	struct output *output = printer->output;
	int src = printer->src;

	printer->current = *event;
	if (src >= 0)
		printer->src = event->flow->src;
	put_owner(printer);
	output_printf(output, "[channel %" PRIu64 "]", line->channel);
	if (!line->text) {
		output_text(output, " 0x");
		output_hex(output, line->value, line->digits ? line->digits : 1);
	} else if (line->size) {
		output_char(output, ' ');
		output_bytes(output, line->text, line->size);
	}
	output_char(output, '\n');
	printer->current = current;
	printer->src = src;
}

static int itc_event(struct printer *printer, const struct ntrace_session_event *event)
{
	if (!concerns_itc(event->flow))
		return 0;
	printer->itc.show = put_itc_line;
	printer->itc.data = printer;
	if (event->flow->type == NTRACE_FLOW_DATA && !printer->json)
		return itc_store(&printer->itc, event) ? NTRACE_ERR_NOMEM :
							 printer->output->error != 0;
	/* Do not join the parts of a line around a loss. */
	if (event->flow->type == NTRACE_FLOW_ERROR)
		itc_flush(&printer->itc);
	mark(printer, event->flow);
	return printer->output->error != 0;
}

void printer_end(struct printer *printer)
{
	itc_flush(&printer->itc);
	itc_free(&printer->itc);
}

int printer_event(void *data, const struct ntrace_session_event *event)
{
	const struct ntrace_flow_event *flow = event->flow;
	struct printer *printer = data;
	struct ntrace_transfer transfer;

	printer->current = *event;
	printer->timed |= flow->time_known;
	if (printer->level == LEVEL_ITC)
		return itc_event(printer, event);
	if (printer->level == LEVEL_BRANCH && !printer->json) {
		if (ntrace_transfer_resolve(printer->transfers, flow, &transfer))
			put_transfer(printer, flow, &transfer, true);
		if (ntrace_transfer_start(printer->transfers, flow, &transfer))
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
