// SPDX-License-Identifier: GPL-2.0-only
/* ntrace tandem dump and stat: fields of a tandem trace as text, and their numbers. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "common/ui.h"
#include "tandem.h"

#define CHUNK 65536
#define FIELDS 512

/* ---- reading ---- */

static int read_chunk(struct ntrace_tandem_reader *reader,
		      int (*field)(void *data, const struct ntrace_tandem_field *field), void *data)
{
	static struct ntrace_tandem_field fields[FIELDS];
	int count, result = 0;

	while ((count = ntrace_tandem_read(reader, fields, FIELDS)) > 0)
		for (int i = 0; i < count; i++) {
			result = field(data, &fields[i]);
			if (result)
				return result;
		}
	return count;
}

static int report_end(const struct ntrace_tandem_reader *reader, const char *name)
{
	if (ntrace_tandem_reader_pending(reader)) {
		warn("%s: the trace ends in a field, at offset 0x%" PRIx64, name, reader->offset);
		return EXIT_GAPS;
	}
	if (reader->open) {
		warn("%s: the last group has no end: it is left out", name);
		return EXIT_GAPS;
	}
	return EXIT_OK;
}

/*
 * A program in user mode has the descriptors of the model's process. The lowest ones are left to it,
 * so that it gets the same ones as in other runs.
 */
static int move_up(int fd)
{
	int high = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 500);

	if (high < 0)
		return fd;
	close(fd);
	return high;
}

int tandem_read_file(const struct tandem_options *options,
		     int (*field)(void *data, const struct ntrace_tandem_field *field), void *data,
		     int *result)
{
	bool stdin_is_it = !strcmp(options->path, "-");
	const char *name = stdin_is_it ? "standard input" : options->path;
	int fd = stdin_is_it ? STDIN_FILENO : open(options->path, O_RDONLY | O_CLOEXEC);
	static struct ntrace_tandem_reader reader;
	static uint8_t bytes[CHUNK];
	ssize_t got = 0;

	*result = 0;
	if (fd < 0)
		return fail("%s: %s", name, strerror(errno));
	if (options->model && !stdin_is_it)
		fd = move_up(fd);
	ntrace_tandem_reader_init(&reader, &options->params);
	while (!*result && (got = read(fd, bytes, sizeof(bytes))) > 0) {
		ntrace_tandem_reader_feed(&reader, bytes, (size_t)got);
		*result = read_chunk(&reader, field, data);
	}
	if (got < 0)
		fail("%s: %s", name, strerror(errno));
	if (!stdin_is_it)
		close(fd);
	if (got < 0)
		return EXIT_FAILED;
	/* No opcode is a dollar sign, with which each VCD file begins. */
	if (*result == NTRACE_ERR_FORMAT && !reader.wrong && bytes[0] == '$') {
		*result = 0;
		return fail("%s: a waveform is not a tandem trace; 'ntrace tandem convert "
			    "--from rvfi' makes one of it",
			    name);
	}
	if (*result == NTRACE_ERR_FORMAT && reader.error) {
		warn("%s: offset 0x%" PRIx64 ": %s (byte at 0x%" PRIx64
		     "); the rest cannot be read: are xlen, mlen and flen right?",
		     name, reader.offset, reader.error, reader.wrong);
		*result = 0;
		return EXIT_GAPS;
	}
	if (*result == TANDEM_ENOUGH)
		*result = 0;
	else if (!*result)
		return report_end(&reader, name);
	return EXIT_OK;
}

/* ---- dump ---- */

static void put_value(struct output *output, uint64_t value)
{
	output_text(output, "0x");
	output_hex(output, value, 1);
}

static void put_access(struct output *output, const struct ntrace_tandem_field *field)
{
	output_printf(output, " %s %u bits at ", ntrace_tandem_op_name(field->op),
		      8u << (field->size & 3));
	put_value(output, field->address);
	output_text(output, ": ");
	put_value(output, field->value);
	if (field->size & NTRACE_TANDEM_FAILED)
		output_text(output, ", failed");
}

void tandem_put_field(struct output *output, const struct ntrace_tandem_params *params,
		      const struct ntrace_tandem_field *field)
{
	char name[NTRACE_TANDEM_NAME_MAX];
	const char *problem = ntrace_tandem_problem(field->flags);

	(void)params;
	output_text(output, ntrace_tandem_type_name(field->type));
	switch (field->type) {
	case NTRACE_TANDEM_REGISTER:
	case NTRACE_TANDEM_OR:
		output_printf(output, " %s %s ", ntrace_tandem_register_name(field->id, name),
			      field->type == NTRACE_TANDEM_OR ? "|=" : "=");
		put_value(output, field->value);
		break;
	case NTRACE_TANDEM_ADD:
		output_printf(output, " %s += %d", ntrace_tandem_register_name(field->id, name),
			      (int)(int64_t)field->value);
		break;
	case NTRACE_TANDEM_STATE:
		output_printf(output, " %s = ", ntrace_tandem_state_name(field->id));
		put_value(output, field->value);
		break;
	case NTRACE_TANDEM_REQUEST:
	case NTRACE_TANDEM_RESPONSE:
		put_access(output, field);
		break;
	case NTRACE_TANDEM_INSN16:
	case NTRACE_TANDEM_INSN32:
		output_char(output, ' ');
		output_hex(output, field->value, field->type == NTRACE_TANDEM_INSN16 ? 4 : 8);
		break;
	default:
		break;
	}
	if (field->flags & NTRACE_TANDEM_IMPLIED)
		output_text(output, " (implied)");
	if (problem)
		output_printf(output, "  ! %s", problem);
}

static void put_json_field(struct output *output, const struct ntrace_tandem_field *field)
{
	char name[NTRACE_TANDEM_NAME_MAX];
	const char *problem = ntrace_tandem_problem(field->flags);

	output_printf(output, "{\"offset\":%" PRIu64 ",\"type\":\"%s\"", field->offset,
		      ntrace_tandem_type_name(field->type));
	switch (field->type) {
	case NTRACE_TANDEM_REGISTER:
	case NTRACE_TANDEM_OR:
	case NTRACE_TANDEM_ADD:
		output_printf(output, ",\"register\":\"%s\"",
			      ntrace_tandem_register_name(field->id, name));
		break;
	case NTRACE_TANDEM_STATE:
		output_printf(output, ",\"state\":\"%s\"", ntrace_tandem_state_name(field->id));
		break;
	case NTRACE_TANDEM_REQUEST:
	case NTRACE_TANDEM_RESPONSE:
		output_printf(output,
			      ",\"op\":\"%s\",\"bits\":%u,\"address\":\"0x%" PRIx64
			      "\",\"failed\":%s",
			      ntrace_tandem_op_name(field->op), 8u << (field->size & 3),
			      field->address,
			      field->size & NTRACE_TANDEM_FAILED ? "true" : "false");
		break;
	default:
		break;
	}
	if (field->type == NTRACE_TANDEM_ADD)
		output_printf(output, ",\"value\":%d", (int)(int64_t)field->value);
	else if (field->type >= NTRACE_TANDEM_REGISTER && field->type != NTRACE_TANDEM_RESET &&
		 field->type != NTRACE_TANDEM_INIT)
		output_printf(output, ",\"value\":\"0x%" PRIx64 "\"", field->value);
	if (field->flags & NTRACE_TANDEM_IMPLIED)
		output_text(output, ",\"implied\":true");
	if (problem)
		output_printf(output, ",\"problem\":\"%s\"", problem);
	output_text(output, "}\n");
}

struct dump {
	const struct tandem_options *options;
	struct output output;
	uint64_t fields;
	bool problems;
};

static int dump_field(void *data, const struct ntrace_tandem_field *field)
{
	struct dump *dump = data;

	dump->problems |= !!(field->flags & NTRACE_TANDEM_PROBLEMS);
	if (dump->options->json) {
		put_json_field(&dump->output, field);
	} else {
		output_hex(&dump->output, field->offset, 8);
		output_char(&dump->output, ' ');
		tandem_put_field(&dump->output, &dump->options->params, field);
		output_char(&dump->output, '\n');
	}
	return ++dump->fields == dump->options->limit || dump->output.error ? TANDEM_ENOUGH : 0;
}

int tandem_dump(const struct tandem_options *options)
{
	static struct dump dump;
	int status, result;

	dump.options = options;
	output_init(&dump.output, STDOUT_FILENO);
	status = tandem_read_file(options, dump_field, &dump, &result);
	if (!status && dump.problems)
		status = EXIT_GAPS;
	return output_finish(&dump.output, status);
}

/* ---- stat ---- */

/* Kinds of instructions; the others have no row. */
enum kind { KIND_LOAD, KIND_STORE, KIND_ATOMIC, KIND_FLOAT, KIND_CSR, KIND_ECALL, KIND_OTHER };

static enum kind kind_of(uint64_t insn)
{
	unsigned int funct3 = insn >> 13 & 7;

	/* The loads and stores of quadrants 0 and 2; Zcb has more with funct3 4 of quadrant 0. */
	if ((insn & 3) == 1)
		return KIND_OTHER;
	if (!(insn & 3) && funct3 == 4)
		return insn >> 11 & 1 ? KIND_STORE : KIND_LOAD;
	if ((insn & 3) != 3)
		return funct3 & 3 ? (funct3 & 4 ? KIND_STORE : KIND_LOAD) : KIND_OTHER;
	switch (insn & 0x7f) {
	case 0x03:
	case 0x07:
		return KIND_LOAD;
	case 0x23:
	case 0x27:
		return KIND_STORE;
	case 0x2f:
		return KIND_ATOMIC;
	case 0x43:
	case 0x47:
	case 0x4b:
	case 0x4f:
	case 0x53:
		return KIND_FLOAT;
	case 0x73:
		if (insn >> 12 & 3)
			return KIND_CSR;
		return insn == 0x73 ? KIND_ECALL : KIND_OTHER;
	default:
		return KIND_OTHER;
	}
}

struct statistics {
	const struct tandem_options *options;
	struct ntrace_tandem_state state;
	uint64_t bytes, fields, groups, outside, insns16, insns32, exceptions, interrupts, inits,
		resets;
	uint64_t loads_or_stores, stores, problems, types[NTRACE_TANDEM_INSN32 + 1];
	uint64_t kinds[KIND_OTHER + 1];
	bool open;
};

static void count_group(struct statistics *stat)
{
	const struct ntrace_tandem_state *state = &stat->state;
	unsigned int cause = ntrace_tandem_bit(state->changed, 0x342) ? 0x342 : 0x142;
	bool trap = ntrace_tandem_bit(state->changed, cause) &&
		    ntrace_tandem_bit(state->changed, NTRACE_TANDEM_PRIV) &&
		    !(state->has & NTRACE_TANDEM_HAS_INIT);

	stat->groups++;
	if (trap && state->reg[cause] >> (stat->options->params.xlen - 1) & 1)
		stat->interrupts++;
	else if (trap)
		stat->exceptions++;
	stat->inits += !!(state->has & NTRACE_TANDEM_HAS_INIT);
	stat->resets += !!(state->has & NTRACE_TANDEM_HAS_RESET);
	stat->loads_or_stores +=
		!!(state->has & (NTRACE_TANDEM_HAS_EADDR | NTRACE_TANDEM_HAS_PADDR));
	stat->stores += !!(state->has & NTRACE_TANDEM_HAS_STORE);
	if (state->has & NTRACE_TANDEM_HAS_INSN)
		stat->kinds[kind_of(state->insn)]++;
}

static int stat_field(void *data, const struct ntrace_tandem_field *field)
{
	struct statistics *stat = data;

	stat->fields += !(field->flags & NTRACE_TANDEM_IMPLIED);
	stat->bytes += field->length;
	stat->types[field->type]++;
	stat->insns16 += field->type == NTRACE_TANDEM_INSN16;
	stat->insns32 += field->type == NTRACE_TANDEM_INSN32;
	stat->problems += !!(field->flags & NTRACE_TANDEM_PROBLEMS);
	if (field->type == NTRACE_TANDEM_BEGIN)
		stat->open = true;
	else if (field->type == NTRACE_TANDEM_END)
		stat->open = false;
	else
		stat->outside += !stat->open;
	if (ntrace_tandem_state_apply(&stat->state, field) && field->type == NTRACE_TANDEM_END)
		count_group(stat);
	return stat->groups && stat->groups == stat->options->limit ? TANDEM_ENOUGH : 0;
}

int tandem_stat(const struct tandem_options *options)
{
	static struct statistics stat;
	struct row {
		const char *key, *text;
		uint64_t value;
	};
	int status, result;

	stat.options = options;
	ntrace_tandem_state_init(&stat.state, &options->params);
	status = tandem_read_file(options, stat_field, &stat, &result);
	if (status == EXIT_FAILED)
		return status;
	const struct row rows[] = {
		{ "bytes", "bytes", stat.bytes },
		{ "fields", "fields", stat.fields },
		{ "groups", "groups", stat.groups },
		{ "outside", "fields outside groups", stat.outside },
		{ "instructions", "instructions", stat.insns16 + stat.insns32 },
		{ "instructions16", "  of 16 bits", stat.insns16 },
		{ "load_instructions", "  loads", stat.kinds[KIND_LOAD] },
		{ "store_instructions", "  stores", stat.kinds[KIND_STORE] },
		{ "atomic_instructions", "  atomics", stat.kinds[KIND_ATOMIC] },
		{ "float_instructions", "  floating-point operations", stat.kinds[KIND_FLOAT] },
		{ "csr_instructions", "  CSR accesses", stat.kinds[KIND_CSR] },
		{ "ecalls", "  ecall", stat.kinds[KIND_ECALL] },
		{ "exceptions", "exceptions", stat.exceptions },
		{ "interrupts", "interrupts", stat.interrupts },
		{ "accesses", "instructions with a data address", stat.loads_or_stores },
		{ "stores", "  with store data", stat.stores },
		{ "registers", "full registers", stat.types[NTRACE_TANDEM_REGISTER] },
		{ "incremental", "incremental registers",
		  stat.types[NTRACE_TANDEM_ADD] + stat.types[NTRACE_TANDEM_OR] },
		{ "requests", "memory requests", stat.types[NTRACE_TANDEM_REQUEST] },
		{ "initialisations", "state initialisations", stat.inits },
		{ "resets", "resets", stat.resets },
		{ "violations", "violations of the protocol", stat.problems },
	};
	if (options->json)
		putchar('{');
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char number[UI_NUMBER_SIZE];

		if (options->json)
			printf("%s\"%s\":%" PRIu64, i ? "," : "", rows[i].key, rows[i].value);
		else
			printf("%-34s %15s\n", rows[i].text, ui_number(number, rows[i].value));
	}
	if (options->json)
		printf("}\n");
	return !status && stat.problems ? EXIT_GAPS : status;
}
