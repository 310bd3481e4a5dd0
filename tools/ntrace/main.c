// SPDX-License-Identifier: GPL-2.0-only
/* ntrace: finds the sub-command and runs it. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/command.h"
#include "common/output_file.h"
#include "common/ui.h"

static const struct command *const commands[] = {
	&command_record, &command_report,   &command_export, &command_decode, &command_dump,
	&command_encode, &command_assemble, &command_check,  &command_stat,   &command_split,
	&command_detect,  &command_archive,  &command_index,  &command_ctr,	&command_top,
	&command_trigger, &command_tandem,   &command_gdb,    &command_browse, &command_ingress,
	&command_count,   &command_collect,	  &command_merge,
};

#define COMMANDS (sizeof(commands) / sizeof(commands[0]))

static const struct command *find_command(const char *name)
{
	size_t i;

	for (i = 0; i < COMMANDS; i++)
		if (!strcmp(commands[i]->name, name))
			return commands[i];
	return NULL;
}

static void help(FILE *file)
{
	size_t i;

	fprintf(file,
		"usage: ntrace COMMAND [OPTIONS] ...\n\n"
		"Instruction traces of RISC-V CPUs (N-Trace): recorded by the trace hardware,\n"
		"decoded to what the programs and the kernel executed.\n\n"
		"commands:\n");
	for (i = 0; i < COMMANDS; i++)
		fprintf(file, "  %-8s %s\n", commands[i]->name, commands[i]->summary);
	fprintf(file, "\n"
		      "  ntrace COMMAND --help   options and examples of a command\n"
		      "  ntrace --version        version of this program\n\n"
		      "A first recording, on the machine that has the trace hardware:\n"
		      "  ntrace record -- gzip -k file\n"
		      "  ntrace report ntrace.data\n");
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
	int status;

	if (argc < 2) {
		help(stderr);
		return EXIT_USAGE;
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help")) {
		command = argc > 2 ? find_command(argv[2]) : NULL;
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
	command = find_command(argv[1]);
	if (!command) {
		fprintf(stderr, "ntrace: unknown %s %s (see 'ntrace --help')\n",
			argv[1][0] == '-' ? "option" : "command", argv[1]);
		return EXIT_USAGE;
	}
	output_words(argc - 2, argv + 2);
	status = command->run(command, argc - 1, argv + 1);
	return status == EXIT_SHOWN ? EXIT_OK : status;
}

int main(int argc, char **argv)
{
	int status;

	if (!open_standard_streams())
		return EXIT_FAILED;
	/*
	 * `ntrace decode ... | head`: SIGPIPE must not end the command; write
	 * errors are handled.
	 */
	signal(SIGPIPE, SIG_IGN);
	status = run(argc, argv);
	if (!fflush(stdout) && !ferror(stdout))
		return status;
	/* A closed pipe is the normal end of `... | head`: no message. */
	if (errno != EPIPE)
		fail("writing the output: %s", strerror(errno));
	return EXIT_FAILED;
}
