// SPDX-License-Identifier: GPL-2.0-only
/*
 * print_lines FILE [DIRECTORY...]: the lines and functions of a program, as the library reads them from its DWARF
 * with these directories of debug files, and why a part of it is missing.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <ntrace/error.h>
#include <ntrace/image.h>
#include <ntrace/lines.h>

static const char *last_part(const char *path)
{
	const char *slash = path ? strrchr(path, '/') : NULL;

	return slash ? slash + 1 : path ? path : "-";
}

static void print_scope(const struct ntrace_scope *scopes, uint32_t number)
{
	for (; number != NTRACE_NO_SCOPE; number = scopes[number].parent)
		printf(" %s %s:%u%s", scopes[number].name, last_part(scopes[number].file),
		       scopes[number].line, scopes[number].inlined ? " in" : "");
}

int main(int argc, char **argv)
{
	const struct ntrace_scope *scopes;
	const struct ntrace_line *all;
	struct ntrace_object *object = NULL;
	struct ntrace_lines *lines;
	size_t count, scope_count;
	int error = argc >= 2 ? ntrace_object_open_elf(&object, argv[1]) : NTRACE_ERR_INVALID;

	if (!error)
		error = ntrace_lines_open(&lines, object,
					  argc > 2 ? (const char *const *)argv + 2 : NULL);
	if (object && ntrace_object_missing_debug(object))
		printf("missing: %s\n", ntrace_object_missing_debug(object));
	if (error) {
		printf("%s\n", ntrace_strerror(error));
		return 1;
	}
	all = ntrace_lines_all(lines, &count);
	scopes = ntrace_lines_scopes(lines, &scope_count);
	for (size_t i = 0; i < count; i++) {
		printf("0x%" PRIx64 " %s:%u", all[i].start, last_part(all[i].file), all[i].line);
		print_scope(scopes, ntrace_lines_scope(lines, all[i].start));
		puts("");
	}
	ntrace_lines_close(lines);
	ntrace_object_put(object);
	return 0;
}
