// SPDX-License-Identifier: GPL-2.0-only
/* ntrace encode: encodes the execution of a program. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/command.h"
#include "common/ingress_file.h"
#include "common/input.h"
#include "common/output_file.h"
#include "common/ui.h"
#include "options.h"
#include "pc_blocks.h"
#include "pc_list.h"
#include "common/program.h"

enum {
	OPTION_MODE = 'm',
	OPTION_ELF = 'e',
	OPTION_OUTPUT = 'o',
	OPTION_PARAMS = OPTION_LONG,
	OPTION_PCS,
	OPTION_EXEC_LOG,
	OPTION_CPU,
	OPTION_INGRESS,
	OPTION_RECORD_INGRESS,
	OPTION_IMPLICIT_RETURN,
	OPTION_REPEATED_HISTORY,
	OPTION_ENCODER,
	OPTION_SRC,
};

static const struct option_spec options_table[] = {
	{ OPTION_PCS, "pcs", "FILE", "executed PCs, one a line: 0x and hex digits; - = stdin" },
	{ OPTION_EXEC_LOG, "exec-log", "FILE",
	  "log of qemu -d exec,nochain with one-insn-per-tb=on" },
	{ OPTION_INGRESS, "ingress", "FILE", "signals of a hart's trace ingress port" },
	{ OPTION_CPU, "cpu", "N", "log: the CPU to encode (default 0)" },
	{ OPTION_ELF, "elf", "FILE[@ADDR]", "program, loaded at ADDR; may be repeated" },
	{ OPTION_MODE, "mode", "MODE", "btm or htm" },
	{ OPTION_IMPLICIT_RETURN, "implicit-return", "DEPTH",
	  "no message for returns predicted by a stack of DEPTH" },
	{ OPTION_REPEATED_HISTORY, "repeated-history", NULL,
	  "htm: count repetitions of branch history" },
	{ OPTION_PARAMS, "params", "KEY=VALUE,...", "stream parameters, e.g. srcbits=2" },
	{ OPTION_SRC, "src", "N", "value of the SRC field (default 0)" },
	{ OPTION_ENCODER, "encoder", "KEY=VALUE,...", "limits and further options, see below" },
	{ OPTION_OUTPUT, "output", "TRACE", "file of the trace; - = stdout" },
	{ OPTION_RECORD_INGRESS, "record-ingress", "FILE",
	  "write the input of the encoder, for --ingress" },
	OPTION_HELP,
	OPTION_TABLE_END,
};

struct encode {
	const struct command *command;
	struct encode_options options;
	struct ntrace_encoder encoder;
	const char *pcs;
	const char *exec_log;
	const char *ingress;
	const char *trace_path;
	const char *record_path;
	struct programs programs;
	unsigned int cpu;
	bool mode_given;
	bool xlen_given;
	bool begun;
	struct pc_blocks blocks;
	struct ntrace_ingress_writer writer;
	struct output_file trace;
	struct output_file record;
};

/* Callback of the encoder: writes trace. */
static void take_message(void *data, const uint8_t *bytes, size_t size)
{
	struct encode *encode = data;

	output_bytes(encode->trace.output, (const char *)bytes, size);
}

static int take_mode(struct encode *encode, const char *text)
{
	encode->mode_given = true;
	if (!strcmp(text, "btm"))
		encode->options.params.mode = NTRACE_MODE_BRANCH;
	else if (!strcmp(text, "htm"))
		encode->options.params.mode = NTRACE_MODE_HISTORY;
	else
		return usage_error(encode->command, "option --mode: '%s' is neither btm nor htm",
				   text);
	return EXIT_OK;
}

static int take_params(struct encode *encode, const char *text)
{
	struct ntrace_params *params = &encode->options.params;

	encode->xlen_given |= strstr(text, "xlen=") != NULL;
	encode->mode_given |= strstr(text, "mode=") != NULL;
	return input_params(encode->command, params, text);
}

static int take_number(struct encode *encode, struct options *options, int option)
{
	struct ntrace_encoder_config *config = &encode->options.config;
	uint64_t number;

	switch (option) {
	case OPTION_IMPLICIT_RETURN:
		if (!option_number(options, "implicit-return", 1, NTRACE_RETURN_DEPTH_MAX, &number))
			return EXIT_USAGE;
		config->implicit_return_depth = (unsigned int)number;
		/* --params may choose a weaker comparison. */
		if (!encode->options.params.implicit_return)
			encode->options.params.implicit_return = 3;
		return EXIT_OK;
	case OPTION_CPU:
		if (!option_number(options, "cpu", 0, UINT16_MAX, &number))
			return EXIT_USAGE;
		encode->cpu = (unsigned int)number;
		return EXIT_OK;
	default:
		if (!option_number(options, "src", 0, (1u << NTRACE_SRC_BITS_MAX) - 1, &number))
			return EXIT_USAGE;
		config->src = (unsigned int)number;
		return EXIT_OK;
	}
}

static int take_option(struct encode *encode, struct options *options, int option)
{
	switch (option) {
	case OPTION_PCS:
		encode->pcs = options->value;
		return EXIT_OK;
	case OPTION_EXEC_LOG:
		encode->exec_log = options->value;
		return EXIT_OK;
	case OPTION_INGRESS:
		encode->ingress = options->value;
		return EXIT_OK;
	case OPTION_ELF:
		return programs_add(&encode->programs, options->value, PROGRAM_ELF);
	case OPTION_MODE:
		return take_mode(encode, options->value);
	case OPTION_REPEATED_HISTORY:
		encode->options.config.repeated_history = true;
		return EXIT_OK;
	case OPTION_PARAMS:
		return take_params(encode, options->value);
	case OPTION_ENCODER:
		return encode_options_parse(encode->command, &encode->options, options->value);
	case OPTION_OUTPUT:
		encode->trace_path = options->value;
		return EXIT_OK;
	case OPTION_RECORD_INGRESS:
		encode->record_path = options->value;
		return EXIT_OK;
	case OPTION_IMPLICIT_RETURN:
	case OPTION_CPU:
	case OPTION_SRC:
		return take_number(encode, options, option);
	default:
		return EXIT_USAGE;
	}
}

/* Rejects options that exclude each other. */
static int check_options(const struct encode *encode)
{
	const struct command *command = encode->command;
	int inputs = !!encode->pcs + !!encode->exec_log + !!encode->ingress;

	if (inputs != 1)
		return usage_error(command, "one of --pcs, --exec-log and --ingress is needed");
	if (!encode->trace_path)
		return usage_error(command, "option --output is needed: -o TRACE");
	if (encode->record_path && output_is_same(encode->trace_path, encode->record_path))
		return usage_error(command,
				   "the trace and --record-ingress are the same file: '%s'",
				   encode->record_path);
	if (!encode->mode_given)
		return usage_error(command, "--mode btm or --mode htm is needed");
	if (!encode->ingress && !encode->programs.count)
		return usage_error(command, "a list of PCs needs the program: --elf FILE");
	if (encode->ingress && encode->programs.count)
		return usage_error(command, "an ingress file needs no --elf");
	return EXIT_OK;
}

/* The first program determines the instruction set. */
static int map_programs(struct encode *encode)
{
	struct program_facts facts;
	int error = programs_map(&encode->programs, encode->command, &encode->blocks.space, &facts);

	if (error)
		return error;
	encode->blocks.isa = facts.isa;
	if (!encode->xlen_given)
		encode->options.params.xlen = facts.isa.xlen;
	return EXIT_OK;
}

static int start_encoder(struct encode *encode)
{
	struct ntrace_encoder_config *config = &encode->options.config;
	const char *reason;

	config->write = take_message;
	config->write_data = encode;
	reason = ntrace_encoder_refusal(config);
	if (reason)
		return usage_error(encode->command, "invalid encoder options: %s", reason);
	return ntrace_encoder_init(&encode->encoder, config) ? EXIT_FAILED : EXIT_OK;
}

/* Passes a record to the encoder, and writes it to the file of --record-ingress. */
static int play(struct encode *encode, const struct ntrace_ingress_record *record)
{
	char line[NTRACE_INGRESS_LINE_MAX];
	int length, error;

	error = ntrace_encoder_play(&encode->encoder, record);
	if (error < 0 || !encode->record.output)
		return error < 0 ? error : 0;
	length = ntrace_ingress_write(&encode->writer, record, line);
	if (length < 0)
		return length;
	output_bytes(encode->record.output, line, (size_t)length);
	return 0;
}

static int play_control(struct encode *encode, unsigned int type, unsigned int value)
{
	struct ntrace_ingress_record record = { .type = type, .value = value };

	return play(encode, &record);
}

/* A PC list has no clock: each block takes a cycle, and the time counts instructions. */
static int take_block(void *data, const struct ntrace_ingress *block)
{
	struct encode *encode = data;
	struct ntrace_ingress_record record;

	record.type = NTRACE_INGRESS_CYCLE;
	record.value = 0;
	memset(&record.cycle, 0, offsetof(struct ntrace_ingress_cycle, group));
	record.cycle.time = encode->blocks.instructions;
	record.cycle.priv = block->priv;
	record.cycle.groups = 1;
	record.cycle.group[0] = (struct ntrace_ingress_group){
		.iaddr = block->iaddr,
		.iretire = block->iretire,
		.itype = block->itype,
		.ilastsize = block->ilastsize,
		.sijump = block->sijump,
	};
	return play(encode, &record);
}

static int begin_record(struct encode *encode, const struct ntrace_ingress_port *port)
{
	char line[NTRACE_INGRESS_LINE_MAX];
	int length;

	if (!encode->record.output)
		return EXIT_OK;
	length = ntrace_ingress_writer_init(&encode->writer, port, line);
	if (length < 0)
		return fail("%s", ntrace_strerror(length));
	output_bytes(encode->record.output, line, (size_t)length);
	return EXIT_OK;
}

static void end_record(struct encode *encode)
{
	char line[NTRACE_INGRESS_LINE_MAX];
	int length;

	if (!encode->record.output)
		return;
	length = ntrace_ingress_write_end(&encode->writer, line);
	output_bytes(encode->record.output, line, (size_t)length);
}

static int encode_pcs(struct encode *encode, struct pc_list *list)
{
	uint64_t pc;
	int got, error = 0;

	while ((got = pc_list_next(list, &pc)) > 0) {
		error = pc_blocks_add(&encode->blocks, pc);
		if (error)
			return fail("%s: line %" PRIu64 ": 0x%" PRIx64 ": %s", list->path,
				    list->line, pc, ntrace_strerror(error));
		/* Stop at a write error, for instance on a full disk. */
		if (encode->trace.output->error)
			return EXIT_OK;
	}
	if (got < 0)
		return EXIT_FAILED;
	if (!encode->blocks.instructions)
		return fail("%s: contains no PC", list->path);
	error = pc_blocks_end(&encode->blocks);
	return error ? fail("%s: %s", list->path, ntrace_strerror(error)) : EXIT_OK;
}

static int encode_list(struct encode *encode)
{
	const char *path = encode->pcs ? encode->pcs : encode->exec_log;
	struct ntrace_ingress_port port = { .itype_bits = 4, .groups = 1 };
	const struct ntrace_params *params = &encode->options.params;
	struct pc_list list;
	int error = map_programs(encode);

	if (!error && params->isa && params->isa[0] &&
	    ntrace_isa_parse(&encode->blocks.isa, params->isa))
		error = usage_error(encode->command, "cannot use isa=%.*s",
				    (int)strcspn(params->isa, ","), params->isa);
	/* A list does not distinguish exceptions from interrupts (BTYPE). */
	encode->options.config.trap_btype = true;
	if (!error)
		error = start_encoder(encode);
	if (error)
		return error;
	encode->blocks.isa.xlen = (uint8_t)params->xlen;
	encode->blocks.take = take_block;
	encode->blocks.data = encode;
	port.xlen = params->xlen;
	error = begin_record(encode, &port);
	if (error)
		return error;
	if (pc_blocks_init(&encode->blocks))
		return fail("out of memory");
	error = pc_list_open(&list, path, encode->exec_log, encode->cpu);
	if (!error) {
		play_control(encode, NTRACE_INGRESS_START, encode->options.start);
		error = encode_pcs(encode, &list);
		play_control(encode, NTRACE_INGRESS_STOP, encode->options.stop);
		end_record(encode);
		if (list.other_lines)
			say("%s: %" PRIu64 " lines have no instruction of CPU %u", path,
			    list.other_lines, encode->cpu);
		pc_list_close(&list);
	}
	pc_blocks_free(&encode->blocks);
	return error;
}

/* The first line of the file describes the port. */
static int begin_ingress(struct encode *encode, const struct ntrace_ingress_reader *reader)
{
	struct encode_options *options = &encode->options;
	int error;

	if (encode->xlen_given && options->params.xlen != reader->port.xlen)
		return fail("%s: the port has xlen=%u", encode->ingress, reader->port.xlen);
	options->params.xlen = reader->port.xlen;
	options->config.itype_bits = reader->port.itype_bits;
	options->config.single_retire = reader->port.single;
	/* Such a port reports instructions with several accesses once for each access. */
	if (reader->port.data)
		options->config.zc_accesses = true;
	error = start_encoder(encode);
	return error ? error : begin_record(encode, &reader->port);
}

static int encode_record(void *data, const struct ntrace_ingress_reader *reader,
			 const struct ntrace_ingress_record *record)
{
	struct encode *encode = data;
	int error;

	if (!encode->begun) {
		error = begin_ingress(encode, reader);
		if (error)
			return error;
		encode->begun = true;
	}
	if (record->type == NTRACE_INGRESS_CYCLE)
		for (unsigned int i = 0; i < record->cycle.groups; i++)
			encode->blocks.instructions += record->cycle.group[i].iretire;
	error = play(encode, record);
	if (error)
		return fail("%s: line %" PRIu64 ": %s", encode->ingress, reader->line,
			    ntrace_strerror(error));
	return EXIT_OK;
}

static int encode_ingress(struct encode *encode)
{
	int error = ingress_file_read(encode->ingress, false, encode_record, encode);

	if (!error && !encode->begun)
		error = fail("%s: contains no record", encode->ingress);
	if (encode->begun)
		end_record(encode);
	return error;
}

/* Prints on stdout, or on stderr if an output goes to stdout. */
static void print_summary(const struct encode *encode)
{
	bool taken = output_is_standard(encode->trace_path) ||
		     (encode->record_path && output_is_standard(encode->record_path));
	FILE *file = taken ? stderr : stdout;
	const struct ntrace_encoder *encoder = &encode->encoder;
	const struct pc_blocks *blocks = &encode->blocks;
	const char *what = encode->ingress ? "parcels" : "instructions";

	if (encode->ingress && encode->options.config.single_retire)
		what = "instructions";
	fprintf(file, "bytes %" PRIu64 "\nmessages %" PRIu64 "\n%s %" PRIu64 "\n", encoder->bytes,
		encoder->messages, what, blocks->instructions);
	fprintf(file, "bits per %.*s %.4f\n", (int)strlen(what) - 1, what,
		blocks->instructions ? 8 * (double)encoder->bytes / (double)blocks->instructions :
				       0.0);
	if (blocks->traps)
		fprintf(file,
			"traps between the PCs %" PRIu64
			" (after branches of unknown direction %" PRIu64 ")\n",
			blocks->traps, blocks->unclear);
	if (encoder->dropped)
		fprintf(file, "messages lost %" PRIu64 "\n", encoder->dropped);
	if (encoder->stall_cycles)
		fprintf(file, "cycles stalled %" PRIu64 "\n", encoder->stall_cycles);
}

static int encode_all(struct encode *encode)
{
	int error = output_file_open(&encode->trace, encode->trace_path);

	if (!error && encode->record_path)
		error = output_file_open(&encode->record, encode->record_path);
	if (!error)
		error = encode->ingress ? encode_ingress(encode) : encode_list(encode);
	if (encode->blocks.space)
		ntrace_space_put(encode->blocks.space);
	/* The first file gets its name when both are written. */
	if (!error && encode->record.output) {
		errno = output_flush(encode->record.output);
		error = errno ? path_failed(encode->record.path, NTRACE_ERR_IO) : EXIT_OK;
	}
	error = output_file_close(&encode->trace, error);
	return output_file_close(&encode->record, error);
}

static int run(const struct command *command, int argc, char **argv)
{
	static struct encode encode;
	struct options options;
	int option, error;

	encode.command = command;
	encode_options_init(&encode.options);
	options_init(&options, command, argc, argv, true);
	while ((option = options_next(&options)) != OPTIONS_END) {
		if (option == OPTIONS_HELP)
			return EXIT_OK;
		error = take_option(&encode, &options, option);
		if (error)
			return error;
	}
	if (argc != options.index)
		return usage_error(command, "'%s' belongs to no option", argv[options.index]);
	error = check_options(&encode);
	if (!error)
		error = encode_all(&encode);
	if (error)
		return error;
	print_summary(&encode);
	return EXIT_OK;
}

const struct command command_encode = {
	.name = "encode",
	.summary = "make the trace of a run that is known otherwise",
	.usage = "[OPTIONS] --pcs FILE --elf FILE[@ADDR] --mode MODE -o TRACE\n"
		 "       ntrace encode [OPTIONS] --exec-log FILE --elf FILE[@ADDR] --mode MODE -o "
		 "TRACE\n"
		 "       ntrace encode [OPTIONS] --ingress FILE --mode MODE -o TRACE",
	.details =
		"Prints bytes, messages and bits per instruction. Every listed PC counts as "
		"retired.\n"
		"A PC that cannot follow the previous instruction was reached by a trap; its BTYPE "
		"is 1,\n"
		"since a list does not distinguish exceptions from interrupts.\n"
		"ADDR is the load address of the first segment.\n\n"
		"Keys of --encoder, with their defaults:\n"
		"  icntbits=22 icntfull=0 histbits=31 hrepeatbits=18 bcntbits=18   limits\n"
		"  repeatbranch=0 seqjumps=0 sync4=0 retbits=63 onebtype=0         compression\n"
		"  sync=off|messages|cycles|parcels syncmax=0   periodic sync every 2^(syncmax + "
		"4)\n"
		"  timestamps=none|sync|branch|all              with --params tsbits=N; the time "
		"of\n"
		"                                               a PC list counts instructions\n"
		"  context=0 hypervisor=0                       Ownership\n"
		"  privmask=0xff range=FIRST-LAST               filters; up to 4 ranges\n"
		"  fifo=BYTES drain=BYTES-PER-CYCLE stall=0     queue of messages\n"
		"  start=1 stop=0 idlecorr=0 zcaccesses=0       SYNC and EVCODE; see the manual\n"
		"  emptyfields=0                                fields of 0 have no bits\n"
		"  emptyhist=0 noecode=0                        empty HIST is sent; ECODE is 0\n\n"
		"examples:\n"
		"  ntrace encode --pcs prog.pcs --elf prog.elf --mode htm -o prog.nex\n"
		"  ntrace encode --pcs prog.pcs --elf prog.elf --mode htm --implicit-return 8 \\\n"
		"      --repeated-history --params srcbits=2 --src 1 -o prog.nex\n"
		"  ntrace encode --ingress hart0.ingress --mode btm --encoder sync=messages -o "
		"hart0.nex\n",
	.options = options_table,
	.run = run,
};
