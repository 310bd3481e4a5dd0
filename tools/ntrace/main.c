// SPDX-License-Identifier: GPL-2.0-only
/* ntrace: finds the sub-command and runs it. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/command.h"
#include "common/process_limits.h"
#include "common/nearest.h"
#include "common/output_file.h"
#include "common/ui.h"

/* In the order of the help; a group ends with NULL. */
static const struct {
	const char *purpose;
	const struct command *commands[8];
} groups[] = {
	{ "record", { &command_record, &command_top, &command_trigger, &command_collect } },
	{ "look", { &command_report, &command_browse, &command_gdb, &command_decode } },
	{ "keep and convert",
	  { &command_export, &command_count, &command_merge, &command_archive, &command_index } },
	{ "raw traces",
	  { &command_detect, &command_dump, &command_stat, &command_check, &command_split,
	    &command_assemble, &command_encode } },
	{ "cores and branch stacks", { &command_tandem, &command_ingress, &command_ctr } },
};

#define GROUPS (sizeof(groups) / sizeof(groups[0]))

/* Return: NULL: there is none; @nearest gets the nearest name. */
static const struct command *find_command(const char *name, struct nearest *nearest)
{
	*nearest = nearest_to(name, strlen(name));
	for (size_t i = 0; i < GROUPS; i++) {
		for (const struct command *const *at = groups[i].commands; *at; at++) {
			if (!strcmp((*at)->name, name))
				return *at;
			nearest_offer(nearest, (*at)->name);
		}
	}
	return NULL;
}

static void help(FILE *file)
{
	fprintf(file,
		"usage: ntrace COMMAND [OPTIONS] ...\n\n"
		"Instruction traces of RISC-V CPUs (N-Trace): recorded by the trace hardware,\n"
		"decoded to what the programs and the kernel executed.\n\n"
		"commands:\n");
	for (size_t i = 0; i < GROUPS; i++) {
		fprintf(file, " %s\n", groups[i].purpose);
		for (const struct command *const *at = groups[i].commands; *at; at++)
			fprintf(file, "  %-8s %s\n", (*at)->name, (*at)->summary);
	}
	fprintf(file, "\n"
		      "  ntrace COMMAND --help   options and examples of a command\n"
		      "  ntrace --version        version of this program\n\n"
		      "A first recording, on the machine that has the trace hardware:\n"
		      "  ntrace record -- gzip -k file\n"
		      "  ntrace report ntrace.data\n");
}

static int unknown_command(const char *name, const struct nearest *nearest)
{
	ui_printf(stderr, "ntrace: unknown %s %s", name[0] == '-' ? "option" : "command", name);
	if (nearest->name)
		fprintf(stderr, ": did you mean %s?", nearest->name);
	fprintf(stderr, " (see 'ntrace --help')\n");
	return EXIT_USAGE;
}

/*
 * Descriptors 0 to 2 that are closed would be given to files, which would then get messages. Opened the
 * wrong way round, they still fail when used, with EBADF.
 */
static bool open_standard_streams(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 &&
		    open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) != fd)
			return false;
	return true;
}

static int run(int argc, char **argv)
{
	const struct command *command;
	struct nearest nearest;
	int status;

	if (argc < 2) {
		help(stderr);
		return EXIT_USAGE;
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help")) {
		command = argc > 2 ? find_command(argv[2], &nearest) : NULL;
		if (argc > 2 && !command)
			return unknown_command(argv[2], &nearest);
		if (command)
			command_help(command);
		else
			help(stdout);
		return EXIT_OK;
	}
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V")) {
		printf("ntrace " NTRACE_TOOL_VERSION "\n");
		return EXIT_OK;
	}
	command = find_command(argv[1], &nearest);
	if (!command)
		return unknown_command(argv[1], &nearest);
	status = limits_check(0);
	if (status)
		return status;
	output_guard();
	status = command->run(command, argc - 1, argv + 1);
	return status == EXIT_SHOWN ? EXIT_OK : status;
}

int main(int argc, char **argv)
{
	int status;

	if (!open_standard_streams())
		return EXIT_FAILED;
	/*
	 * `ntrace decode ... | head` and a limit on the size of files: SIGPIPE and SIGXFSZ must not end the
	 * command; write errors are handled.
	 */
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	status = run(argc, argv);
	if (!fflush(stdout) && !ferror(stdout))
		return status;
	/* A closed pipe is the normal end of `... | head`: no message. */
	if (errno != EPIPE)
		fail("writing the output: %s", strerror(errno));
	return EXIT_FAILED;
}
