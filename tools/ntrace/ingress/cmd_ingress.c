// SPDX-License-Identifier: GPL-2.0-only
/* ntrace ingress: shows, checks, encodes and imports the signals of a trace ingress port. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/ui.h"
#include "ingress.h"

enum {
	OPTION_OUTPUT = 'o',
	OPTION_JSON = OPTION_LONG,
	OPTION_LIST,
	OPTION_MAP,
	OPTION_DATA,
	OPTION_DTYPE,
	OPTION_BYTES,
	OPTION_DADDR,
	OPTION_IADDR,
	OPTION_PRIVILEGE,
	OPTION_ELF,
	OPTION_ISA,
};

static const struct option_spec options_table[] = {
	{ OPTION_DATA, "data", NULL, "dump: data accesses only" },
	{ OPTION_DTYPE, "dtype", "LIST",
	  "dump: only these accesses: load, store, csr, atomic, swap, ..." },
	{ OPTION_BYTES, "bytes", "LIST", "dump: only accesses of 1, 2, 4, 8 or 16 bytes" },
	{ OPTION_DADDR, "daddr", "FIRST-LAST", "dump: only accesses to these addresses" },
	{ OPTION_IADDR, "iaddr", "FIRST-LAST", "dump: only accesses by these instructions" },
	{ OPTION_PRIVILEGE, "privilege", "LETTERS",
	  "dump: only accesses in these privileges: any of u, s, m, vu, vs" },
	{ OPTION_JSON, "json", NULL, "dump, check: a JSON object a line" },
	{ OPTION_LIST, "list", NULL, "check: show the table of rules" },
	{ OPTION_ELF, "elf", "FILE", "check: the program that the core executes" },
	{ OPTION_ISA, "isa", "STRING", "check: its instruction set (that of the program)" },
	{ OPTION_MAP, "map", "FILE", "import: the port, and its signals in the waveform" },
	{ OPTION_OUTPUT, "output", "FILE", "import: the ingress file; - = stdout" },
	OPTION_HELP,
	OPTION_TABLE_END,
};

/* Bit of an option in a set of options. */
static unsigned int bit_of(int option)
{
	return 1u << (option == OPTION_OUTPUT ? 31 : option - OPTION_LONG);
}

/* Options that select data accesses. */
#define SELECTION                                                                                  \
	(1u << (OPTION_DATA - OPTION_LONG) | 1u << (OPTION_DTYPE - OPTION_LONG) |                  \
	 1u << (OPTION_BYTES - OPTION_LONG) | 1u << (OPTION_DADDR - OPTION_LONG) |                 \
	 1u << (OPTION_IADDR - OPTION_LONG) | 1u << (OPTION_PRIVILEGE - OPTION_LONG))

/* The bits of a word of --dtype, 0 for an unknown one. */
static uint32_t dtype_bits(const char *word, size_t length)
{
	static const struct {
		const char *name;
		uint32_t bits;
	} sets[] = {
		{ "csr", NTRACE_DTYPES_CSRS },
		{ "atomic", NTRACE_DTYPES_ATOMICS },
	};

	for (size_t i = 0; i < sizeof(sets) / sizeof(sets[0]); i++)
		if (strlen(sets[i].name) == length && !strncmp(word, sets[i].name, length))
			return sets[i].bits;
	for (unsigned int i = 0; i < 16; i++) {
		const char *name = ntrace_dtype_name(i);

		if (name[0] != '?' && strlen(name) == length && !strncmp(word, name, length))
			return 1u << i;
	}
	return 0;
}

/* 1, 2, 4, 8 or 16 as a bit of dsizes, 0 for another word. */
static uint32_t dsize_bits(const char *word, size_t length)
{
	static const char *const sizes[] = { "1", "2", "4", "8", "16" };

	for (unsigned int i = 0; i < 5; i++)
		if (strlen(sizes[i]) == length && !strncmp(word, sizes[i], length))
			return 1u << i;
	return 0;
}

static int take_list(const struct ingress_command *ingress, const char *name, const char *text,
		     uint32_t (*bits)(const char *word, size_t length), uint32_t *set)
{
	*set = 0;
	for (;;) {
		size_t length = strcspn(text, ",");
		uint32_t more = bits(text, length);

		if (!more)
			return usage_error(ingress->command, "option --%s: '%.*s' is not one of %s",
					   name, (int)length, text,
					   bits == dsize_bits ?
						   "1, 2, 4, 8, 16" :
						   "load, store, csr, atomic, csr-write, "
						   "csr-set, csr-clear, swap, add, and, or, "
						   "xor, max, min, store-failure");
		*set |= more;
		if (!text[length])
			return EXIT_OK;
		text += length + 1;
	}
}

static int take_range(const struct ingress_command *ingress, const char *name, const char *text,
		      uint64_t *first, uint64_t *last)
{
	if (number_range(text, first, last))
		return EXIT_OK;
	return usage_error(ingress->command, "option --%s: '%s' is not a range FIRST-LAST", name,
			   text);
}

static int take_option(struct ingress_command *ingress, struct options *options, int option)
{
	struct ntrace_data_filter *filter = &ingress->filter;

	switch (option) {
	case OPTION_DTYPE:
		return take_list(ingress, "dtype", options->value, dtype_bits, &filter->dtypes);
	case OPTION_BYTES:
		return take_list(ingress, "bytes", options->value, dsize_bits, &filter->dsizes);
	case OPTION_DADDR:
		return take_range(ingress, "daddr", options->value, &filter->daddr_first,
				  &filter->daddr_last);
	case OPTION_IADDR:
		return take_range(ingress, "iaddr", options->value, &filter->iaddr_first,
				  &filter->iaddr_last);
	case OPTION_PRIVILEGE:
		return option_privileges(options, "privilege", &filter->privs) ? EXIT_OK :
										 EXIT_USAGE;
	case OPTION_JSON:
		ingress->json = true;
		return EXIT_OK;
	case OPTION_MAP:
		ingress->map = options->value;
		return EXIT_OK;
	case OPTION_ELF:
		ingress->elf = options->value;
		return EXIT_OK;
	case OPTION_ISA:
		ingress->isa = options->value;
		return EXIT_OK;
	case OPTION_OUTPUT:
		ingress->target = options->value;
		return EXIT_OK;
	case OPTION_DATA:
	case OPTION_LIST:
		return EXIT_OK;
	default:
		return EXIT_USAGE;
	}
}

/* @given: options given, see bit_of(). */
static int run_verb(struct ingress_command *ingress, unsigned int given, int count, char **words)
{
	const struct {
		const char *name;
		unsigned int options;
		int (*run)(struct ingress_command *ingress, const char *path);
	} verbs[] = {
		{ "dump", SELECTION | bit_of(OPTION_JSON), ingress_dump },
		{ "check",
		  bit_of(OPTION_JSON) | bit_of(OPTION_LIST) | bit_of(OPTION_ELF) |
			  bit_of(OPTION_ISA),
		  ingress_check },
		{ "import", bit_of(OPTION_MAP) | bit_of(OPTION_OUTPUT), ingress_import },
	};
	bool list = given & bit_of(OPTION_LIST);
	size_t i = 0;

	if (!count)
		return usage_error(ingress->command, "dump, check, encode or import is needed");
	while (i < 3 && strcmp(words[0], verbs[i].name))
		i++;
	if (i == 3)
		return usage_error(ingress->command,
				   "'%s' is not one of dump, check, encode, import", words[0]);
	for (const struct option_spec *spec = options_table; spec->name; spec++)
		if (spec->id != 'h' && given & bit_of(spec->id) & ~verbs[i].options)
			return usage_error(ingress->command, "--%s is not for %s", spec->name,
					   words[0]);
	if (list && count > 1)
		return usage_error(ingress->command, "--list takes no file");
	if (list)
		return ingress_list(ingress);
	if (count != 2)
		return usage_error(ingress->command, "%s needs one file", words[0]);
	if (ingress->isa && !ingress->elf)
		return usage_error(ingress->command, "--isa needs --elf");
	if (verbs[i].run == ingress_import && (!ingress->map || !ingress->target))
		return usage_error(ingress->command, "import needs --map FILE and --output FILE");
	ingress->filtered = given & SELECTION;
	return verbs[i].run(ingress, words[1]);
}

/* "ntrace ingress encode FILE ..." is "ntrace encode --ingress FILE ...". */
static int run_encode(const struct command *command, int argc, char **argv)
{
	char **words;
	int status;

	if (argc > 1 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")))
		return command_encode.run(&command_encode, argc, argv);
	if (argc < 2 || (argv[1][0] == '-' && argv[1][1]))
		return usage_error(command, "encode needs a file before its options");
	words = malloc(((size_t)argc + 2) * sizeof(*words));
	if (!words)
		return fail("out of memory");
	words[0] = argv[0];
	words[1] = "--ingress";
	memcpy(words + 2, argv + 1, (size_t)argc * sizeof(*words));
	status = command_encode.run(&command_encode, argc + 1, words);
	free(words);
	return status;
}

static int run(const struct command *command, int argc, char **argv)
{
	static struct output output;
	struct ingress_command ingress = { .command = command, .output = &output };
	struct options options;
	unsigned int given = 0;
	int option, error;

	/* encode parses its own options. */
	if (argc > 1 && !strcmp(argv[1], "encode"))
		return run_encode(command, argc - 1, argv + 1);
	output_init(&output, STDOUT_FILENO);
	ntrace_data_filter_init(&ingress.filter);
	options_init(&options, command, argc, argv, true);
	while ((option = options_next(&options)) != OPTIONS_END) {
		if (option == OPTIONS_HELP)
			return EXIT_OK;
		error = take_option(&ingress, &options, option);
		if (error)
			return error;
		given |= bit_of(option);
	}
	return output_finish(&output,
			     run_verb(&ingress, given, argc - options.index, argv + options.index));
}

const struct command command_ingress = {
	.name = "ingress",
	.summary = "show and check the trace ingress port of a core",
	.usage = "dump [OPTIONS] FILE | check [OPTIONS] FILE | encode FILE [OPTIONS] | "
		 "import --map MAP -o FILE WAVE",
	.details =
		"An ingress file has the signals of a core's trace ingress port, cycle by cycle.\n"
		"dump prints it. check compares it with the rules of the port (E-Trace, "
		"chapter 4),\n"
		"and with the program of --elf.\n"
		"encode makes its trace: see ntrace encode --help. import makes it from a "
		"waveform of\n"
		"a simulation, VCD or FST; MAP names the signals (ntrace-ingress(1) has an "
		"example). - is "
		"standard input.\n\n"
		"exit status: 0; check: 1 for a finding, 2 if the file cannot be read.\n\n"
		"examples:\n"
		"  ntrace ingress import --map core.map -o core.ingress sim.vcd\n"
		"  ntrace ingress check --elf program core.ingress\n"
		"  ntrace ingress encode core.ingress --mode htm -o core.nex\n"
		"  ntrace ingress dump --dtype store,atomic --daddr 0x80000000-0x80000fff "
		"core.ingress\n",
	.options = options_table,
	.run = run,
};
