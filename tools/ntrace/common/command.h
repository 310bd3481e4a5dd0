/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What all sub-commands share: entry points, exit codes, option parsing and help.
 */
#ifndef NTRACE_TOOL_COMMON_COMMAND_H
#define NTRACE_TOOL_COMMON_COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ntrace/session.h>
#include <ntrace/version.h>

#define NTRACE_TOOL_VERSION NTRACE_VERSION

/* Exit codes; `ntrace record` returns the exit code of its child. */
enum tool_exit {
	EXIT_OK = 0,
	EXIT_FAILED = 1,
	EXIT_USAGE = 2,
	EXIT_GAPS = 3,	/* decoded with gaps or errors in the trace */
	EXIT_SHOWN = 4,	/* internal only: help was printed, stop here */
};

/**
 * struct option_spec - one option of a sub-command
 * @id: return value of options_next(); a printable ASCII character is also the short option
 * @name: long option without the dashes
 * @argument: name of its argument in the help; NULL = no argument
 * @help: one line
 */
struct option_spec {
	int id;
	const char *name;
	const char *argument;
	const char *help;
};

/* First id of long options without a short form. */
#define OPTION_LONG 256

/* Ids of SELECT_OPTIONS and THREAD_OPTIONS. */
enum {
	OPTION_USER = 'u',
	OPTION_ONE_PID = 'p',
	OPTION_KERNEL = 'k',
	OPTION_SELECT = OPTION_LONG + 1000,
	OPTION_ONE_TID = OPTION_LONG + 2000,
	OPTION_COMM,
};

/* Every table contains OPTION_HELP and ends with OPTION_TABLE_END. */
#define OPTION_HELP                                                                                \
	{                                                                                          \
		'h', "help", NULL, "show this help"                                                \
	}
#define OPTION_TABLE_END                                                                           \
	{                                                                                          \
		0, NULL, NULL, NULL                                                                \
	}

/**
 * struct command - one sub-command
 * @name: name on the command line
 * @summary: one line for `ntrace --help`
 * @usage: text after "ntrace NAME "
 * @details: paragraphs below the options, with examples
 * @options: the table
 * @run: argv[0] is the name; returns enum tool_exit
 */
struct command {
	const char *name;
	const char *summary;
	const char *usage;
	const char *details;
	const struct option_spec *options;
	int (*run)(const struct command *command, int argc, char **argv);
};

extern const struct command command_record;
extern const struct command command_top;
extern const struct command command_trigger;
extern const struct command command_gdb;
extern const struct command command_browse;
extern const struct command command_dump;
extern const struct command command_decode;
extern const struct command command_encode;
extern const struct command command_assemble;
extern const struct command command_report;
extern const struct command command_export;
extern const struct command command_collect;
extern const struct command command_count;
extern const struct command command_merge;
extern const struct command command_archive;
extern const struct command command_index;
extern const struct command command_check;
extern const struct command command_split;
extern const struct command command_detect;
extern const struct command command_stat;
extern const struct command command_ctr;
extern const struct command command_ingress;
extern const struct command command_ctr_trace;
extern const struct command command_tandem;

enum options_result {
	OPTIONS_END = -1,	/* no more options; operands may follow */
	OPTIONS_BAD = -2,	/* an error message was printed: exit with EXIT_USAGE */
	OPTIONS_HELP = -3,	/* help was printed: exit with EXIT_OK */
};

/**
 * struct options - state of the parser
 * @index: the next word; after OPTIONS_END the first operand
 * @value: argument of the option just returned, or NULL
 */
struct options {
	const struct command *command;
	int argc;
	char **argv;
	int index;
	const char *value;
	const char *cluster;
	bool permute;
	int operands;
};

/**
 * options_init - start parsing
 * @permute: options may follow operands, which are moved after them; otherwise
 * the first operand ends the options, as for a command to run
 */
void options_init(struct options *options, const struct command *command, int argc, char **argv,
		  bool permute);

/** options_next - id of the next option or enum options_result */
int options_next(struct options *options);

/**
 * number_parse - an unsigned number at the beginning of a text
 * @base: as for strtoull()
 * @end: set to the character after it
 *
 * Return: false if no digit comes first, such as a sign or a blank, or if it is above 64 bits.
 */
bool number_parse(const char *text, const char **end, int base, uint64_t *number);

/** real_parse - the same for decimal fractions, such as 0.5 or 1e-3; they begin with a digit */
bool real_parse(const char *text, const char **end, double *number);

/**
 * number_range - "FIRST-LAST" and nothing else, with FIRST <= LAST
 */
bool number_range(const char *text, uint64_t *first, uint64_t *last);

/**
 * option_directory - the name of a directory to be made: not empty, and not "-"
 *
 * Return: EXIT_OK, or EXIT_USAGE after an error message about option @name.
 */
int option_directory(const struct options *options, const char *name, const char **directory);

/**
 * option_number - decimal digits
 *
 * Return: true, or false after an error message about option @name.
 */
bool option_number(const struct options *options, const char *name, uint64_t min, uint64_t max,
		   uint64_t *number);

/** option_size - the same with an optional suffix K, M or G; also hexadecimal digits after 0x */
bool option_size(const struct options *options, const char *name, uint64_t min, uint64_t max,
		 uint64_t *size);

/**
 * option_real - a decimal fraction
 *
 * Return: EXIT_OK, or EXIT_USAGE after an error message about option @name.
 */
int option_real(const struct options *options, const char *name, double min, double max,
		double *number);

/* Options of commands that select executed code, for option_select(). */
#define SELECT_OPTIONS                                                                             \
	{ OPTION_USER, "user", NULL, "only user space, as --privilege u" },                        \
		{ OPTION_KERNEL, "kernel", NULL, "only the kernel, as --privilege s" },            \
		{ OPTION_SELECT, "privilege", "LETTERS",                                           \
		  "only these privileges: any of u, s, m, vu, vs" }

/* Options of commands that select threads, for option_threads(). */
#define THREAD_OPTIONS                                                                             \
	{ OPTION_ONE_PID, "pid", "PID", "only this process" },                                     \
		{ OPTION_ONE_TID, "tid", "TID", "only this thread" },                                  \
		{ OPTION_COMM, "comm", "NAME", "only threads while they have this name" }

/* What selects executed code: for messages about empty results. */
#define SELECT_OPTION_NAMES "--user, --kernel, --privilege, --pid, --tid and --comm"

/* A filter that all threads pass. */
#define ALL_THREADS ((struct ntrace_thread_filter){ .pid = -1, .tid = -1 })

/**
 * option_privileges - a set of privileges, see ntrace_priv_parse()
 * @set: result, 1 << enum ntrace_priv for each
 *
 * Return: true, or false after an error message about option @name.
 */
bool option_privileges(const struct options *options, const char *name, uint32_t *set);

/**
 * option_select - one of SELECT_OPTIONS
 * @set: selected privileges, 0 before the first of these options
 *
 * Return: EXIT_OK, or EXIT_USAGE after an error message.
 */
int option_select(const struct options *options, int option, uint32_t *set);

/**
 * option_threads - one of THREAD_OPTIONS
 * @filter: ALL_THREADS before the first of these options
 *
 * Return: EXIT_OK, or EXIT_USAGE after an error message.
 */
int option_threads(const struct options *options, int option, struct ntrace_thread_filter *filter);

/** usage_error - print an error on stderr that refers to --help. Return: EXIT_USAGE */
int usage_error(const struct command *command, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/** command_help - print the help on stdout */
void command_help(const struct command *command);

#endif /* NTRACE_TOOL_COMMON_COMMAND_H */
