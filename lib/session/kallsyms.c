// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* "ffffffff80002000 T name\t[module]" */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kallsyms.h"

#define LINE_ROOM 2048

static bool parse(char *line, struct kallsym *symbol)
{
	char *end, *module;

	line[strcspn(line, "\n")] = 0;
	symbol->address = strtoull(line, &end, 16);
	if (end == line || end[0] != ' ' || !end[1] || end[2] != ' ' || !end[3])
		return false;
	symbol->type = end[1];
	symbol->name = end + 3;
	symbol->module = "";
	module = strpbrk(end + 3, "\t ");
	if (module) {
		*module++ = 0;
		module += strspn(module, "\t ");
		if (module[0] == '[') {
			module[strcspn(module, "]")] = 0;
			symbol->module = module + 1;
		}
	}
	return true;
}

int kallsyms_read(const char *path, int (*callback)(void *data, const struct kallsym *symbol),
		  void *data)
{
	char line[LINE_ROOM];
	FILE *file = fopen(path, "re");
	bool any = false;
	int result = 0;

	if (!file)
		return NTRACE_ERR_IO;
	errno = 0;
	while (!result && fgets(line, sizeof(line), file)) {
		struct kallsym symbol;

		if (!parse(line, &symbol))
			continue;
		any = true;
		if (strchr("tTwW", symbol.type))
			result = callback(data, &symbol);
	}
	if (!result && ferror(file))
		result = NTRACE_ERR_IO;
	fclose(file);
	if (!result && !any)
		result = NTRACE_ERR_FORMAT;
	return result;
}
