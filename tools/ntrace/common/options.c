// SPDX-License-Identifier: GPL-2.0-only
/* Options of all sub-commands: parsing from tables, and the help made from them. */
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ntrace/isa.h>

#include "command.h"
#include "inputs.h"
#include "nearest.h"
#include "ui.h"

void options_init(struct options *options, const struct command *command, int argc, char **argv,
		  bool permute)
{
	*options = (struct options){
		.command = command,
		.argc = argc,
		.argv = argv,
		.index = 1,
		.permute = permute,
	};
}

static const struct option_spec *find_short(const struct command *command, char letter)
{
	const struct option_spec *spec;

	for (spec = command->options; spec->name; spec++)
		if (spec->id < OPTION_LONG && spec->id == letter)
			return spec;
	return NULL;
}

static const struct option_spec *find_long(const struct command *command, const char *name,
					   size_t length)
{
	const struct option_spec *spec;

	for (spec = command->options; spec->name; spec++)
		if (!strncmp(spec->name, name, length) && !spec->name[length])
			return spec;
	return NULL;
}

/* Names that users of other tools and of the specification try. */
static const struct {
	const char *name;
	const char *instead;
} misnomers[] = {
	{ "hart", "cpu" },
	{ "harts", "cpu" },
	{ "cpus", "cpu" },
};

static int unknown_long(const struct command *command, const char *name, int length)
{
	struct nearest nearest = nearest_to(name, (size_t)length);
	const struct option_spec *spec;
	size_t i;

	for (i = 0; i < sizeof(misnomers) / sizeof(misnomers[0]); i++) {
		const char *instead = misnomers[i].instead;

		if (!strncmp(misnomers[i].name, name, (size_t)length) &&
		    !misnomers[i].name[length] && find_long(command, instead, strlen(instead)))
			return usage_error(command, "unknown option --%.*s: the option is --%s",
					   length, name, instead);
	}
	for (spec = command->options; spec->name; spec++)
		nearest_offer(&nearest, spec->name);
	if (nearest.name)
		return usage_error(command, "unknown option --%.*s: did you mean --%s?", length,
				   name, nearest.name);
	return usage_error(command, "unknown option --%.*s", length, name);
}

/* Whether the argument of an option is a file or directory to read. */
static bool is_input(const struct option_spec *spec)
{
	return (!strncmp(spec->argument, "FILE", 4) || !strcmp(spec->argument, "DIR")) &&
	       strcmp(spec->name, "output") != 0 && !strstr(spec->help, "write");
}

static int found(struct options *options, const struct option_spec *spec)
{
	if (spec->id == 'h') {
		command_help(options->command);
		return OPTIONS_HELP;
	}
	if (spec->argument && is_input(spec))
		output_input_word(options->value);
	return spec->id;
}

static int next_long(struct options *options, const char *word)
{
	const char *equals = strchr(word, '=');
	size_t length = equals ? (size_t)(equals - word) : strlen(word);
	const struct option_spec *spec = find_long(options->command, word, length);

	if (!spec) {
		unknown_long(options->command, word, (int)length);
		return OPTIONS_BAD;
	}
	if (!spec->argument) {
		if (equals) {
			usage_error(options->command, "option --%s takes no argument", spec->name);
			return OPTIONS_BAD;
		}
		return found(options, spec);
	}
	if (equals) {
		options->value = equals + 1;
	} else if (options->index < options->argc) {
		options->value = options->argv[options->index++];
	} else {
		usage_error(options->command, "option --%s needs %s", spec->name, spec->argument);
		return OPTIONS_BAD;
	}
	return found(options, spec);
}

static int next_short(struct options *options)
{
	char letter = *options->cluster++;
	const struct option_spec *spec = find_short(options->command, letter);

	if (!spec) {
		/* -p is --pid where there is one, as in perf. */
		usage_error(options->command,
			    letter == 'p' && find_long(options->command, "params", 6) ?
				    "unknown option -%c: the option is --params" :
				    "unknown option -%c",
			    letter);
		return OPTIONS_BAD;
	}
	if (!spec->argument)
		return found(options, spec);
	if (*options->cluster) {
		options->value = options->cluster;
	} else if (options->index < options->argc) {
		options->value = options->argv[options->index++];
	} else {
		usage_error(options->command, "option -%c needs %s", letter, spec->argument);
		return OPTIONS_BAD;
	}
	options->cluster = NULL;
	return found(options, spec);
}

/* Moves the word at index to the end of the words not yet parsed. */
static void defer_operand(struct options *options)
{
	char *operand = options->argv[options->index];
	int last = options->argc - 1;

	memmove(&options->argv[options->index], &options->argv[options->index + 1],
		(size_t)(last - options->index) * sizeof(*options->argv));
	options->argv[last] = operand;
	options->operands++;
}

/* Where options end at the first operand, the operands are a command. */
static int end_options(const struct options *options)
{
	for (int i = options->index; options->permute && i < options->argc; i++)
		output_input_word(options->argv[i]);
	return OPTIONS_END;
}

int options_next(struct options *options)
{
	const char *word;

	options->value = NULL;
	if (options->cluster && *options->cluster)
		return next_short(options);
	options->cluster = NULL;
	while (options->index < options->argc - options->operands) {
		word = options->argv[options->index];
		if (!strcmp(word, "--")) {
			/* Operands before it were moved to the end: rotate them back into order. */
			int left = options->argc - options->operands - ++options->index;

			while (left-- > 0)
				defer_operand(options);
			return end_options(options);
		}
		if (word[0] == '-' && word[1]) {
			int argc = options->argc, result;

			options->index++;
			/* An argument is never taken from the operands moved to the end. */
			options->argc -= options->operands;
			if (word[1] == '-') {
				result = next_long(options, word + 2);
			} else {
				options->cluster = word + 1;
				result = next_short(options);
			}
			options->argc = argc;
			return result;
		}
		if (!options->permute)
			return OPTIONS_END;
		defer_operand(options);
	}
	return end_options(options);
}

bool number_parse(const char *text, const char **end, int base, uint64_t *number)
{
	char *rest;

	/* strtoull() would accept blanks and signs. */
	if (!(base == 16 ? isxdigit((unsigned char)*text) : isdigit((unsigned char)*text)))
		return false;
	errno = 0;
	*number = strtoull(text, &rest, base);
	*end = rest;
	return !errno;
}

bool real_parse(const char *text, const char **end, double *number)
{
	char *rest;

	/* strtod() would accept blanks, signs, hexadecimal digits, inf and nan. */
	if (!isdigit((unsigned char)*text) || (text[1] | 0x20) == 'x')
		return false;
	errno = 0;
	*number = strtod(text, &rest);
	*end = rest;
	return !errno;
}

bool number_range(const char *text, uint64_t *first, uint64_t *last)
{
	const char *end;

	return number_parse(text, &end, 0, first) && *end == '-' &&
	       number_parse(end + 1, &end, 0, last) && !*end && *first <= *last;
}

int option_directory(const struct options *options, const char *name, const char **directory)
{
	if (!*options->value)
		return usage_error(options->command, "option --%s: no name", name);
	if (output_is_standard(options->value))
		return usage_error(options->command,
				   "option --%s: a directory cannot go to standard output", name);
	*directory = options->value;
	return EXIT_OK;
}

/* @sizes: a suffix is allowed, and hexadecimal digits after 0x, as offsets are printed. */
static bool parse_option(const struct options *options, const char *name, bool sizes, uint64_t min,
			 uint64_t max, uint64_t *number)
{
	const char *text = options->value, *end = text;
	unsigned int shift = 0;
	uint64_t value = 0;
	bool good = number_parse(text, &end, sizes && !strncmp(text, "0x", 2) ? 16 : 10, &value);

	sizes &= end != text;
	if (sizes && (*end == 'K' || *end == 'k'))
		shift = 10;
	else if (sizes && *end == 'M')
		shift = 20;
	else if (sizes && *end == 'G')
		shift = 30;
	if (shift)
		end++;
	if (end == text || *end) {
		usage_error(options->command, "option --%s: '%s' is not a number", name, text);
		return false;
	}
	good &= value <= UINT64_MAX >> shift;
	value <<= shift;
	if (!good || value < min || value > max) {
		usage_error(options->command, "option --%s: %s is not between %llu and %llu", name,
			    text, (unsigned long long)min, (unsigned long long)max);
		return false;
	}
	*number = value;
	return true;
}

bool option_number(const struct options *options, const char *name, uint64_t min, uint64_t max,
		   uint64_t *number)
{
	return parse_option(options, name, false, min, max, number);
}

bool option_size(const struct options *options, const char *name, uint64_t min, uint64_t max,
		 uint64_t *size)
{
	return parse_option(options, name, true, min, max, size);
}

int option_real(const struct options *options, const char *name, double min, double max,
		double *number)
{
	const char *end;

	if (!real_parse(options->value, &end, number) || *end || *number < min || *number > max)
		return usage_error(options->command,
				   "option --%s: '%s' is not a number from %g to %g", name,
				   options->value, min, max);
	return EXIT_OK;
}

bool option_privileges(const struct options *options, const char *name, uint32_t *set)
{
	if (!ntrace_priv_parse(set, options->value))
		return true;
	usage_error(options->command, "option --%s: '%s' is not a set of u, s, m, vu, vs like us",
		    name, options->value);
	return false;
}

int option_select(const struct options *options, int option, uint32_t *set)
{
	uint32_t privileges = option == OPTION_USER ? 1u << NTRACE_PRIV_U : 1u << NTRACE_PRIV_S;

	if (option == OPTION_SELECT && !option_privileges(options, "privilege", &privileges))
		return EXIT_USAGE;
	if (*set && *set != privileges)
		return usage_error(options->command,
				   "--privilege, --user and --kernel exclude each other");
	*set = privileges;
	return EXIT_OK;
}

int option_threads(const struct options *options, int option, struct ntrace_thread_filter *filter)
{
	uint64_t number;

	if (option == OPTION_COMM) {
		filter->comm = options->value;
		return EXIT_OK;
	}
	if (!option_number(options, option == OPTION_ONE_TID ? "tid" : "pid", 0, INT32_MAX,
			   &number))
		return EXIT_USAGE;
	*(option == OPTION_ONE_TID ? &filter->tid : &filter->pid) = (int32_t)number;
	return EXIT_OK;
}

int usage_error(const struct command *command, const char *format, ...)
{
	va_list args;

	fprintf(stderr, "ntrace %s: ", command->name);
	va_start(args, format);
	ui_vprintf(stderr, format, args);
	va_end(args);
	fprintf(stderr, " (see 'ntrace %s --help')\n", command->name);
	return EXIT_USAGE;
}

void command_help(const struct command *command)
{
	const struct option_spec *spec;
	char left[64];
	int length;

	printf("usage: ntrace %s %s\n\n%s\n\noptions:\n", command->name, command->usage,
	       command->summary);
	for (spec = command->options; spec->name; spec++) {
		length = spec->id < OPTION_LONG ?
				 snprintf(left, sizeof(left), "  -%c, ", spec->id) :
				 snprintf(left, sizeof(left), "      ");
		snprintf(left + length, sizeof(left) - (size_t)length, "--%s%s%s", spec->name,
			 spec->argument ? " " : "", spec->argument ? spec->argument : "");
		if (strlen(left) > 30)
			printf("%s\n%31s%s\n", left, "", spec->help);
		else
			printf("%-30s %s\n", left, spec->help);
	}
	printf("\n%s", command->details);
}
