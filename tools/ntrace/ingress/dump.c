// SPDX-License-Identifier: GPL-2.0-only
/* ntrace ingress dump: prints the records of an ingress file. */
#include <inttypes.h>
#include <stdio.h>

#include <ntrace/ctr.h>

#include "common/ingress_file.h"
#include "common/ui.h"
#include "ingress.h"

/* Size of a buffer for a value of 128 bits in hexadecimal digits. */
#define VALUE_SIZE 36

/**
 * struct dump - what is printed
 * @cycles: clock cycles before the current one, idle cycles included
 * @shown: split port: loads that the filter selects, by lrid
 */
struct dump {
	const struct ingress_command *ingress;
	struct output *output;
	const struct ntrace_ingress_port *port;
	uint64_t cycles;
	bool begun;
	bool shown[1 << NTRACE_INGRESS_LRID_BITS_MAX];
};

static const char *itype_name(unsigned int itype)
{
	if (itype == NTRACE_ITYPE_NONE)
		return "-";
	if (itype == NTRACE_ITYPE_INDIRECT_JUMP_3BIT)
		return "indirect jump";
	return ntrace_ctr_type_name(itype);
}

static const char *value_text(char *text, const uint64_t *value)
{
	if (value[1])
		snprintf(text, VALUE_SIZE, "0x%" PRIx64 "%016" PRIx64, value[1], value[0]);
	else
		snprintf(text, VALUE_SIZE, "0x%" PRIx64, value[0]);
	return text;
}

/* ---- text ---- */

static void print_width(struct dump *dump, const char *name, unsigned int bits)
{
	if (bits)
		output_printf(dump->output, "; %u bit%s of %s", bits, bits == 1 ? "" : "s", name);
}

static void print_port(struct dump *dump)
{
	const struct ntrace_ingress_port *port = dump->port;

	output_printf(dump->output, "# xlen %u, %u bits of itype, %u group%s of %s", port->xlen,
		      port->itype_bits, port->groups, port->groups == 1 ? "" : "s",
		      port->single ? "an instruction" : "a block");
	if (port->data)
		output_printf(dump->output,
			      "; %s data, %u access%s, %u bits of dtype, %u of iaddr_lsbs, "
			      "retires %u",
			      port->data == NTRACE_INGRESS_DATA_SPLIT ? "split" : "unified",
			      port->accesses, port->accesses == 1 ? "" : "es", port->dtype_bits,
			      port->iaddr_lsbs_bits, port->retires);
	else if (port->retires)
		output_printf(dump->output, "; retires %u", port->retires);
	if (port->hart)
		output_printf(dump->output, "; hart %" PRIu64, port->hart);
	print_width(dump, "priv", port->priv_bits);
	print_width(dump, "ctype", port->ctype_bits);
	print_width(dump, "cause", port->cause_bits);
	print_width(dump, "iaddr", port->iaddr_bits);
	print_width(dump, "scontext", port->scontext_bits);
	print_width(dump, "hcontext", port->hcontext_bits);
	print_width(dump, "impdef", port->impdef_bits);
	output_char(dump->output, '\n');
}

static void print_start(struct dump *dump, const struct ntrace_ingress_cycle *cycle)
{
	output_decimal(dump->output, dump->cycles, 10);
	output_char(dump->output, ' ');
	output_padded(dump->output, ntrace_priv_name(cycle->priv), 3);
}

static void print_signals(struct dump *dump, const struct ntrace_ingress_cycle *cycle)
{
	static const char *const ctypes[] = { "", " ctype imprecise", " ctype precise",
					      " ctype discontinuity" };
	struct output *output = dump->output;

	print_start(dump, cycle);
	output_printf(output, "time %" PRIu64, cycle->time);
	if (cycle->idle)
		output_printf(output, ", after %" PRIu32 " idle cycles", cycle->idle);
	if (cycle->scontext || cycle->hcontext)
		output_printf(output, " scontext 0x%" PRIx64 " hcontext 0x%" PRIx64,
			      cycle->scontext, cycle->hcontext);
	output_text(output, ctypes[cycle->ctype & 3]);
	output_text(output, cycle->halted ? " halted" : "");
	output_text(output, cycle->reset ? " reset" : "");
	output_text(output, cycle->trace_on ? " trace-on" : "");
	output_text(output, cycle->trace_off ? " trace-off" : "");
	output_text(output, cycle->external ? " external" : "");
	if (cycle->notify)
		output_printf(output, " notify 0x%" PRIx32, cycle->notify);
	if (cycle->impdef)
		output_printf(output, " impdef 0x%" PRIx64, cycle->impdef);
	output_char(output, '\n');
}

static void print_group(struct dump *dump, const struct ntrace_ingress_cycle *cycle, unsigned int i)
{
	const struct ntrace_ingress_group *group = &cycle->group[i];
	struct output *output = dump->output;

	print_start(dump, cycle);
	output_printf(output, "block    0x%016" PRIx64 " %u %s, last of %u bytes, %s%s",
		      group->iaddr, group->iretire,
		      dump->port->single ? "instruction" :
		      group->iretire == 1 ? "parcel" :
					    "parcels",
		      2u << (group->ilastsize & 3), itype_name(group->itype),
		      group->sijump ? ", sequentially inferable" : "");
	if (group->itype == NTRACE_ITYPE_EXCEPTION || group->itype == NTRACE_ITYPE_INTERRUPT)
		output_printf(output, ", cause %" PRIu64 ", tval 0x%" PRIx64, cycle->cause,
			      cycle->tval);
	output_char(output, '\n');
}

static void print_access(struct dump *dump, const struct ntrace_ingress_cycle *cycle,
			 unsigned int i)
{
	const struct ntrace_ingress_access *access = &cycle->access[i];
	struct output *output = dump->output;
	uint64_t first, last;
	char text[VALUE_SIZE];

	print_start(dump, cycle);
	output_printf(output, "%-13s 0x%016" PRIx64 " %u byte%s", ntrace_dtype_name(access->dtype),
		      access->daddr, 1u << (access->dsize & 7), access->dsize ? "s" : "");
	if (access->dtype != NTRACE_DTYPE_LOAD && access->dtype != NTRACE_DTYPE_STORE_FAILURE)
		output_printf(output, ", store %s", value_text(text, access->store));
	if (access->dtype != NTRACE_DTYPE_STORE && access->dtype != NTRACE_DTYPE_STORE_FAILURE &&
	    dump->port->data == NTRACE_INGRESS_DATA_UNIFIED)
		output_printf(output, ", load %s", value_text(text, access->load));
	if (access->request)
		output_printf(output, ", lrid %u", access->lrid);
	if (ntrace_ingress_access_iaddr(dump->port, cycle, i, &first, &last)) {
		output_printf(output, ", by 0x%" PRIx64, first);
		if (first != last)
			output_printf(output, " to 0x%" PRIx64, last);
	}
	output_char(output, '\n');
}

static void print_response(struct dump *dump, const struct ntrace_ingress_cycle *cycle,
			   unsigned int i)
{
	const struct ntrace_ingress_response *response = &cycle->response[i];
	char text[VALUE_SIZE];

	print_start(dump, cycle);
	output_printf(dump->output, "response      lid %u: %s\n", response->lid,
		      response->lresp == NTRACE_LRESP_OKAY  ? value_text(text, response->load) :
		      response->lresp == NTRACE_LRESP_ERROR ? "error" :
							      "reserved lresp");
}

/* ---- JSON ---- */

static void json_groups(struct dump *dump, const struct ntrace_ingress_cycle *cycle)
{
	struct output *output = dump->output;

	output_text(output, ",\"groups\":[");
	for (unsigned int i = 0; i < cycle->groups; i++) {
		const struct ntrace_ingress_group *group = &cycle->group[i];

		output_printf(output,
			      "%s{\"iaddr\":\"0x%" PRIx64
			      "\",\"iretire\":%u,\"itype\":%u,\"itype_name\":\"%s\","
			      "\"ilastsize\":%u,\"sijump\":%u}",
			      i ? "," : "", group->iaddr, group->iretire, group->itype,
			      itype_name(group->itype), group->ilastsize, group->sijump);
	}
	output_char(output, ']');
}

static void json_access(struct dump *dump, const struct ntrace_ingress_cycle *cycle, unsigned int i)
{
	const struct ntrace_ingress_access *access = &cycle->access[i];
	struct output *output = dump->output;
	uint64_t first, last;
	char text[VALUE_SIZE];

	output_printf(output,
		      "{\"dtype\":%u,\"dtype_name\":\"%s\",\"daddr\":\"0x%" PRIx64
		      "\",\"bytes\":%u",
		      access->dtype, ntrace_dtype_name(access->dtype), access->daddr,
		      1u << (access->dsize & 7));
	output_printf(output, ",\"store\":\"%s\"", value_text(text, access->store));
	output_printf(output, ",\"load\":\"%s\"", value_text(text, access->load));
	if (access->request)
		output_printf(output, ",\"lrid\":%u", access->lrid);
	output_printf(output, ",\"group\":%u", access->dblock);
	if (ntrace_ingress_access_iaddr(dump->port, cycle, i, &first, &last))
		output_printf(output,
			      ",\"iaddr_first\":\"0x%" PRIx64 "\",\"iaddr_last\":\"0x%" PRIx64 "\"",
			      first, last);
	output_char(output, '}');
}

static void json_response(struct dump *dump, const struct ntrace_ingress_cycle *cycle,
			  unsigned int i)
{
	const struct ntrace_ingress_response *response = &cycle->response[i];
	char text[VALUE_SIZE];

	output_printf(dump->output, "{\"lresp\":%u,\"lid\":%u,\"load\":\"%s\"}", response->lresp,
		      response->lid, value_text(text, response->load));
}

/* Accesses and responses that are shown. */
static void json_data(struct dump *dump, const struct ntrace_ingress_cycle *cycle,
		      uint32_t accesses, uint32_t responses)
{
	bool first = true;

	output_text(dump->output, ",\"accesses\":[");
	for (unsigned int i = 0; i < cycle->accesses; i++)
		if (accesses >> i & 1) {
			output_text(dump->output, first ? "" : ",");
			json_access(dump, cycle, i);
			first = false;
		}
	output_text(dump->output, "],\"responses\":[");
	first = true;
	for (unsigned int i = 0; i < cycle->responses; i++)
		if (responses >> i & 1) {
			output_text(dump->output, first ? "" : ",");
			json_response(dump, cycle, i);
			first = false;
		}
	output_char(dump->output, ']');
}

static void json_cycle(struct dump *dump, const struct ntrace_ingress_reader *reader,
		       const struct ntrace_ingress_cycle *cycle, uint32_t accesses,
		       uint32_t responses)
{
	struct output *output = dump->output;

	output_printf(output,
		      "{\"type\":\"cycle\",\"line\":%" PRIu64 ",\"cycle\":%" PRIu64
		      ",\"idle\":%" PRIu32 ",\"time\":%" PRIu64 ",\"priv\":\"%s\"",
		      reader->line, dump->cycles, cycle->idle, cycle->time,
		      ntrace_priv_name(cycle->priv));
	output_printf(output,
		      ",\"scontext\":\"0x%" PRIx64 "\",\"hcontext\":\"0x%" PRIx64 "\",\"ctype\":%u",
		      cycle->scontext, cycle->hcontext, cycle->ctype);
	output_printf(output, ",\"cause\":%" PRIu64 ",\"tval\":\"0x%" PRIx64 "\"", cycle->cause,
		      cycle->tval);
	output_printf(output,
		      ",\"halted\":%s,\"reset\":%s,\"trace_on\":%s,\"trace_off\":%s,"
		      "\"external\":%s,\"notify\":\"0x%" PRIx32 "\",\"impdef\":\"0x%" PRIx64 "\"",
		      cycle->halted ? "true" : "false", cycle->reset ? "true" : "false",
		      cycle->trace_on ? "true" : "false", cycle->trace_off ? "true" : "false",
		      cycle->external ? "true" : "false", cycle->notify, cycle->impdef);
	json_groups(dump, cycle);
	json_data(dump, cycle, accesses, responses);
	output_text(output, "}\n");
}

/* ---- records ---- */

/* Bits of the accesses that the filter selects. A response belongs to its load. */
static void select_data(struct dump *dump, const struct ntrace_ingress_cycle *cycle,
			uint32_t *accesses, uint32_t *responses)
{
	*accesses = 0;
	*responses = 0;
	for (unsigned int i = 0; i < cycle->accesses; i++) {
		bool shown = ntrace_data_filter_match(&dump->ingress->filter, dump->port, cycle, i);

		*accesses |= (uint32_t)shown << i;
		if (cycle->access[i].request)
			dump->shown[cycle->access[i].lrid] = shown;
	}
	for (unsigned int i = 0; i < cycle->responses; i++)
		*responses |= (uint32_t)dump->shown[cycle->response[i].lid] << i;
}

static void dump_cycle(struct dump *dump, const struct ntrace_ingress_reader *reader,
		       const struct ntrace_ingress_cycle *cycle)
{
	uint32_t accesses = UINT32_MAX, responses = UINT32_MAX;

	dump->cycles += cycle->idle;
	if (dump->ingress->filtered) {
		select_data(dump, cycle, &accesses, &responses);
		if (!accesses && !responses)
			return;
	}
	if (dump->ingress->json) {
		json_cycle(dump, reader, cycle, accesses, responses);
		return;
	}
	if (!dump->ingress->filtered) {
		print_signals(dump, cycle);
		for (unsigned int i = 0; i < cycle->groups; i++)
			print_group(dump, cycle, i);
	}
	for (unsigned int i = 0; i < cycle->accesses; i++)
		if (accesses >> i & 1)
			print_access(dump, cycle, i);
	for (unsigned int i = 0; i < cycle->responses; i++)
		if (responses >> i & 1)
			print_response(dump, cycle, i);
}

static void dump_control(struct dump *dump, const struct ntrace_ingress_reader *reader,
			 const struct ntrace_ingress_record *record)
{
	const char *name = record->type == NTRACE_INGRESS_START ? "start" :
			   record->type == NTRACE_INGRESS_STOP	? "stop" :
								  "overrun";

	if (dump->ingress->json)
		output_printf(dump->output,
			      "{\"type\":\"%s\",\"line\":%" PRIu64 ",\"cycle\":%" PRIu64
			      ",\"value\":%u}\n",
			      name, reader->line, dump->cycles, record->value);
	else if (record->type == NTRACE_INGRESS_OVERRUN)
		output_text(dump->output, "           overrun\n");
	else
		output_printf(dump->output, "           %s %u\n", name, record->value);
}

static int take_record(void *data, const struct ntrace_ingress_reader *reader,
		       const struct ntrace_ingress_record *record)
{
	struct dump *dump = data;

	dump->port = &reader->port;
	if (!dump->begun && !dump->ingress->json)
		print_port(dump);
	dump->begun = true;
	if (record->type != NTRACE_INGRESS_CYCLE) {
		if (!dump->ingress->filtered || record->type == NTRACE_INGRESS_OVERRUN)
			dump_control(dump, reader, record);
		return dump->output->error ? EXIT_FAILED : EXIT_OK;
	}
	dump_cycle(dump, reader, &record->cycle);
	dump->cycles++;
	return dump->output->error ? EXIT_FAILED : EXIT_OK;
}

int ingress_dump(struct ingress_command *ingress, const char *path)
{
	static struct dump dump;

	dump.ingress = ingress;
	dump.output = ingress->output;
	return ingress_file_read(path, true, take_record, &dump);
}
