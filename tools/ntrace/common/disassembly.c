// SPDX-License-Identifier: GPL-2.0-only
/*
 * The decoder decodes only the instructions that transfer control. objdump supports all extensions
 * and is a common tool; perf annotate uses it too.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "disassembly.h"

extern char **environ;

/* Starts @program and returns its output as a stream, or NULL if it cannot be run. */
static FILE *start_objdump(const char *program, const char *file, uint64_t start, uint64_t end,
			   pid_t *pid)
{
	char from[64], to[64];
	const char *arguments[] = {
		program, "-d", "--no-show-raw-insn", from, to, "--", file, NULL
	};
	posix_spawn_file_actions_t actions;
	FILE *stream = NULL;
	int ends[2], error;

	snprintf(from, sizeof(from), "--start-address=0x%" PRIx64, start);
	snprintf(to, sizeof(to), "--stop-address=0x%" PRIx64, end);
	if (pipe2(ends, O_CLOEXEC))
		return NULL;
	error = posix_spawn_file_actions_init(&actions);
	if (!error) {
		posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
		posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
		error = posix_spawnp(pid, program, &actions, NULL,
				     (char *const *)(uintptr_t)arguments, environ);
		posix_spawn_file_actions_destroy(&actions);
	}
	close(ends[1]);
	if (!error)
		stream = fdopen(ends[0], "r");
	if (!stream)
		close(ends[0]);
	if (!stream && !error)
		waitpid(*pid, NULL, 0);
	return stream;
}

static void add_line(struct disassembly *disassembly, size_t *room, uint64_t address,
		     const char *text)
{
	struct disassembly_line *lines;
	size_t more = *room ? 2 * *room : 256;

	if (disassembly->count == *room) {
		lines = realloc(disassembly->lines, more * sizeof(*lines));
		if (!lines)
			return;
		disassembly->lines = lines;
		*room = more;
	}
	lines = &disassembly->lines[disassembly->count];
	lines->address = address;
	lines->text = strdup(text);
	if (lines->text)
		disassembly->count++;
}

/* "     a82:	addi	sp,sp,-512": both objdumps print this form. */
static void read_lines(struct disassembly *disassembly, FILE *stream)
{
	char *line = NULL, *rest, *c;
	size_t size = 0, room = 0;
	uint64_t address;

	while (getline(&line, &size, stream) >= 0) {
		address = strtoull(line, &rest, 16);
		if (rest == line || *rest != ':' || line[0] != ' ')
			continue;
		rest += 1 + strspn(rest + 1, " \t");
		rest[strcspn(rest, "\n")] = '\0';
		for (c = rest; *c; c++) {
			if (*c == '\t')
				*c = ' ';
		}
		if (*rest)
			add_line(disassembly, &room, address, rest);
	}
	free(line);
}

void disassemble(struct disassembly *disassembly, const char *file, uint64_t start, uint64_t end,
		 const char *program)
{
	static const char *const usual[] = { "riscv64-linux-gnu-objdump", "llvm-objdump",
					     "objdump" };
	const char *const *programs = program ? &program : usual;
	size_t count = program ? 1 : sizeof(usual) / sizeof(usual[0]), i;
	FILE *stream;
	pid_t pid;

	*disassembly = (struct disassembly){ 0 };
	for (i = 0; i < count && !disassembly->count; i++) {
		stream = start_objdump(programs[i], file, start, end, &pid);
		if (!stream)
			continue;
		read_lines(disassembly, stream);
		fclose(stream);
		waitpid(pid, NULL, 0);
		if (disassembly->count)
			disassembly->program = programs[i];
	}
}

void disassembly_free(struct disassembly *disassembly)
{
	while (disassembly->count)
		free(disassembly->lines[--disassembly->count].text);
	free(disassembly->lines);
	*disassembly = (struct disassembly){ 0 };
}

const char *disassembly_find(const struct disassembly *disassembly, uint64_t address)
{
	size_t low = 0, high = disassembly->count, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (disassembly->lines[middle].address < address)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == disassembly->count || disassembly->lines[low].address != address)
		return NULL;
	return disassembly->lines[low].text;
}
