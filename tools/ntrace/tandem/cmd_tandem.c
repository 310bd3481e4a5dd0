// SPDX-License-Identifier: GPL-2.0-only
/* ntrace tandem: traces of tandem verification. */
#include <stdlib.h>
#include <string.h>

#include "common/ui.h"
#include "tandem.h"

enum {
	OPTION_OUTPUT = 'o',
	OPTION_XLEN = OPTION_LONG,
	OPTION_MLEN,
	OPTION_FLEN,
	OPTION_SC_DATA,
	OPTION_FAILED_NO_DATA,
	OPTION_JSON,
	OPTION_TAP,
	OPTION_LIMIT,
	OPTION_FROM,
	OPTION_SCOPE,
	OPTION_CLOCK,
	OPTION_GDB,
	OPTION_MODEL,
	OPTION_ISA,
	OPTION_ELF,
	OPTION_CHOSEN,
	OPTION_ABSENT,
	OPTION_DEVICE,
	OPTION_LINUX_USER,
	OPTION_FULL,
	OPTION_LAST,
	OPTION_MISMATCHES,
	OPTION_PENDING,
};

static const struct option_spec options_table[] = {
	{ OPTION_XLEN, "xlen", "BITS", "32 or 64 (default)" },
	{ OPTION_MLEN, "mlen", "BITS",
	  "bits of an address: 32, or 34 with Sv32, of RV32; 64 of RV64" },
	{ OPTION_FLEN, "flen", "BITS", "0, 32 or 64 (default)" },
	{ OPTION_SC_DATA, "sc-data", NULL, "responses to an sc carry data" },
	{ OPTION_FAILED_NO_DATA, "failed-no-data", NULL, "responses that failed carry no data" },
	{ OPTION_JSON, "json", NULL, "JSON: a line for each field, or one object" },
	{ OPTION_TAP, "tap", NULL, "verify: TAP, with a test for each rule" },
	{ OPTION_LIMIT, "limit", "N", "dump: N fields; others: N groups" },
	{ OPTION_FROM, "from", "SOURCE",
	  "convert: rvfi, rvvi, ibex, cva6, spike, qemu or ingress, see below" },
	{ OPTION_SCOPE, "scope", "PATH", "convert: scope of the RVFI signals in a waveform" },
	{ OPTION_CLOCK, "clock", "PATH", "convert: their clock, if it has another name than clk" },
	{ OPTION_OUTPUT, "output", "FILE", "convert: the trace to write" },
	{ OPTION_GDB, "gdb", "ADDRESS", "verify: HOST:PORT or socket of the model's GDB stub" },
	{ OPTION_MODEL, "model", "builtin",
	  "verify: the model of ntrace itself, which needs no simulator" },
	{ OPTION_ISA, "isa", "ISA", "verify: instruction set of this model, such as rv64gc_zcmp" },
	{ OPTION_ELF, "elf", "FILE",
	  "the program: verify: for its text; convert: code of an ingress port" },
	{ OPTION_CHOSEN, "chosen", "REGISTER[:MASK],...",
	  "verify: more state that the trace decides, such as mie:0x80" },
	{ OPTION_ABSENT, "absent", "REGISTER,...", "verify: registers that the trace leaves out" },
	{ OPTION_DEVICE, "device", "FIRST-LAST,...",
	  "verify: addresses whose loads the trace decides" },
	{ OPTION_LINUX_USER, "linux-user", NULL,
	  "verify: a program in user mode, whose system calls the trace decides" },
	{ OPTION_FULL, "full", "N", "verify: compare all registers every N instructions (1000)" },
	{ OPTION_LAST, "last", "N", "verify: show the N groups before a mismatch (5)" },
	{ OPTION_MISMATCHES, "mismatches", "N", "verify: end after N groups that differ (10)" },
	{ OPTION_PENDING, "pending", "N",
	  "verify: instructions that an enabled interrupt may wait (1000)" },
	OPTION_HELP,
	OPTION_TABLE_END,
};

static const struct {
	const char *name;
	int (*run)(const struct tandem_options *options);
} actions[] = {
	{ "dump", tandem_dump },
	{ "stat", tandem_stat },
	{ "convert", tandem_convert },
	{ "verify", tandem_verify },
};

/* Takes the next element of a list. Return: false at its end */
static bool next_element(const char **list, char *element, size_t size)
{
	size_t length = strcspn(*list, ",");

	if (!length || length >= size)
		return false;
	memcpy(element, *list, length);
	element[length] = 0;
	*list += length + ((*list)[length] == ',');
	return true;
}

static int take_register(const struct options *options, struct tandem_options *tandem,
			 char *element, bool chosen)
{
	char *colon = strchr(element, ':');
	const char *end;
	uint64_t mask = UINT64_MAX;
	int number;

	if (chosen && colon) {
		*colon = 0;
		if (!number_parse(colon + 1, &end, 0, &mask) || *end)
			return usage_error(options->command, "'%s' is not a mask", colon + 1);
	}
	number = ntrace_tandem_register_number(element);
	if (number < 0)
		return usage_error(options->command, "'%s' is not a register", element);
	if ((chosen ? tandem->chosen_count : tandem->absent_count) == TANDEM_LIST_MAX)
		return usage_error(options->command, "more than %d registers", TANDEM_LIST_MAX);
	if (chosen)
		tandem->chosen[tandem->chosen_count++] =
			(struct ntrace_tandem_mask){ (uint16_t)number, mask };
	else
		tandem->absent[tandem->absent_count++] = (uint16_t)number;
	return EXIT_OK;
}

static int take_device(const struct options *options, struct tandem_options *tandem, char *element)
{
	struct ntrace_tandem_range range = { 0, 0 };

	if (!number_range(element, &range.first, &range.last))
		return usage_error(options->command, "'%s' is not a range FIRST-LAST", element);
	if (tandem->device_count == TANDEM_LIST_MAX)
		return usage_error(options->command, "more than %d ranges", TANDEM_LIST_MAX);
	tandem->devices[tandem->device_count++] = range;
	return EXIT_OK;
}

static int take_list(const struct options *options, struct tandem_options *tandem, int option)
{
	const char *list = options->value;
	char element[64];
	int error = EXIT_OK;

	while (!error && next_element(&list, element, sizeof(element)))
		error = option == OPTION_DEVICE ?
				take_device(options, tandem, element) :
				take_register(options, tandem, element, option == OPTION_CHOSEN);
	if (!error && *list)
		return usage_error(options->command, "'%s' is not a list", options->value);
	return error;
}

static int take_number(const struct options *options, const char *name, uint64_t max,
		       uint64_t *number)
{
	return option_number(options, name, 0, max, number) ? EXIT_OK : EXIT_USAGE;
}

static int take_bits(const struct options *options, const char *name, unsigned int *bits)
{
	uint64_t number;
	int error = take_number(options, name, 128, &number);

	if (!error)
		*bits = (unsigned int)number;
	return error;
}

static int take_model(const struct options *options, struct tandem_options *tandem)
{
	tandem->builtin = !strcmp(options->value, "builtin");
	return tandem->builtin ? EXIT_OK :
				 usage_error(options->command,
					     "option --model: '%s' is not builtin", options->value);
}

static int take_isa(const struct options *options, struct tandem_options *tandem)
{
	const char *reason;

	if (!ntrace_isa_parse_reason(&tandem->isa, options->value, &reason))
		return EXIT_OK;
	return usage_error(options->command, "option --isa: '%s': %s", options->value, reason);
}

static int take_option(const struct options *options, struct tandem_options *tandem, int option)
{
	switch (option) {
	case OPTION_XLEN:
		return take_bits(options, "xlen", &tandem->params.xlen);
	case OPTION_MLEN:
		return take_bits(options, "mlen", &tandem->params.mlen);
	case OPTION_FLEN:
		return take_bits(options, "flen", &tandem->params.flen);
	case OPTION_SC_DATA:
		tandem->params.flags |= NTRACE_TANDEM_SC_DATA;
		return EXIT_OK;
	case OPTION_FAILED_NO_DATA:
		tandem->params.flags |= NTRACE_TANDEM_FAILED_NO_DATA;
		return EXIT_OK;
	case OPTION_JSON:
		tandem->json = true;
		return EXIT_OK;
	case OPTION_TAP:
		tandem->tap = true;
		return EXIT_OK;
	case OPTION_LIMIT:
		return take_number(options, "limit", UINT64_MAX, &tandem->limit);
	case OPTION_FROM:
		tandem->from = options->value;
		return EXIT_OK;
	case OPTION_SCOPE:
		tandem->scope = options->value;
		return EXIT_OK;
	case OPTION_CLOCK:
		tandem->clock = options->value;
		return EXIT_OK;
	case OPTION_OUTPUT:
		tandem->output = options->value;
		return EXIT_OK;
	case OPTION_GDB:
		tandem->gdb = options->value;
		return EXIT_OK;
	case OPTION_MODEL:
		return take_model(options, tandem);
	case OPTION_ISA:
		return take_isa(options, tandem);
	case OPTION_ELF:
		tandem->elf = options->value;
		return EXIT_OK;
	case OPTION_CHOSEN:
	case OPTION_ABSENT:
	case OPTION_DEVICE:
		return take_list(options, tandem, option);
	case OPTION_LINUX_USER:
		tandem->linux_user = true;
		return EXIT_OK;
	case OPTION_FULL:
		return take_number(options, "full", UINT64_MAX, &tandem->full);
	case OPTION_LAST:
		return take_number(options, "last", 1000, &tandem->last);
	case OPTION_MISMATCHES:
		return take_number(options, "mismatches", UINT64_MAX, &tandem->mismatches);
	case OPTION_PENDING:
		return take_number(options, "pending", UINT64_MAX, &tandem->pending);
	default:
		return EXIT_USAGE;
	}
}

static const struct ntrace_tandem_model *linked;

static int run(const struct command *command, int argc, char **argv)
{
	static struct tandem_options tandem = {
		.full = 1000, .last = 5, .mismatches = 10, .pending = 1000
	};
	struct options options;
	const char *refusal;
	int option, error;
	size_t i;

	tandem.model = linked;
	ntrace_tandem_params_init(&tandem.params);
	tandem.params.mlen = 0;
	options_init(&options, command, argc, argv, true);
	while ((option = options_next(&options)) != OPTIONS_END) {
		if (option == OPTIONS_HELP)
			return EXIT_OK;
		error = take_option(&options, &tandem, option);
		if (error)
			return error;
	}
	if (argc - options.index != 2)
		return usage_error(command,
				   "an action (dump, stat, convert, verify) and a file are needed");
	if (!tandem.params.mlen)
		tandem.params.mlen = tandem.params.xlen;
	if (tandem.tap && tandem.json)
		return usage_error(command, "--tap and --json exclude each other");
	refusal = ntrace_tandem_params_refusal(&tandem.params);
	if (refusal)
		return usage_error(command, "%s", refusal);
	tandem.path = argv[options.index + 1];
	for (i = 0; i < sizeof(actions) / sizeof(actions[0]); i++)
		if (!strcmp(argv[options.index], actions[i].name))
			break;
	if (i == sizeof(actions) / sizeof(actions[0]))
		return usage_error(command, "'%s' is not one of dump, stat, convert, verify",
				   argv[options.index]);
	if (actions[i].run == tandem_verify && !tandem.model && !tandem.gdb == !tandem.builtin)
		return usage_error(command, "verify needs --gdb or --model builtin");
	if (tandem.isa.xlen && tandem.isa.xlen != tandem.params.xlen)
		return usage_error(command, "--isa and --xlen contradict each other");
	if (actions[i].run == tandem_convert && (!tandem.from || !tandem.output))
		return usage_error(command, "convert needs --from and --output");
	if (tandem.from && !tandem_converts(tandem.from))
		return usage_error(command,
				   "option --from: '%s' is not one of rvfi, rvvi, ibex, cva6, "
				   "spike, qemu, ingress",
				   tandem.from);
	if (tandem.from && !strcmp(tandem.from, "ingress") && !tandem.elf)
		return usage_error(command, "convert --from ingress needs --elf");
	return actions[i].run(&tandem);
}

const struct command command_tandem = {
	.name = "tandem",
	.summary = "verify a hart against a model, instruction by instruction",
	.usage = "dump|stat [OPTIONS] TRACE\n"
		 "       ntrace tandem convert --from SOURCE -o TRACE LOG\n"
		 "       ntrace tandem verify --gdb ADDRESS|--model builtin [OPTIONS] TRACE",
	.details =
		"A tandem trace (Trace Protocol Specification) has every effect of each "
		"instruction.\n"
		"dump prints its fields, stat counts them, convert makes one,\n"
		"verify lets a model execute the same instructions and reports what differs.\n"
		"Sources of convert: rvfi: a waveform (VCD, FST) with rvfi_* signals, or lines of\n"
		"rvfi_NAME=VALUE; rvvi: RVVI-TEXT; ibex, cva6: logs of the tracers of these "
		"cores;\n"
		"spike: -l --log-commits; qemu: -d in_asm,cpu,fpu,nochain; ingress: a recording\n"
		"of a trace ingress port.\n"
		"A file of - is standard input. The parameters are not in the trace.\n\n"
		"exit status: 0, or 3 if the trace is damaged, or differs from the model.\n\n"
		"examples:\n"
		"  ntrace tandem dump hart.tandem\n"
		"  ntrace tandem convert --from rvfi --xlen 32 -o hart.tandem core.vcd\n"
		"  ntrace tandem verify --model builtin --device 0x2000000-0x200ffff "
		"hart.tandem\n"
		"  ntrace tandem verify --gdb localhost:1234 --device 0x2000000-0x200ffff "
		"hart.tandem\n",
	.options = options_table,
	.run = run,
};

int tandem_verify_linked(const struct ntrace_tandem_model *model, int argc, char **argv)
{
	linked = model;
	return run(&command_tandem, argc, argv);
}
