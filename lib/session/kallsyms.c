// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* "ffffffff80002000 T name\t[module]" */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kallsyms.h"

#define LINE_ROOM 2048

/* The kernel writes sixteen digits; hundreds of thousands of lines make strtoull() felt. */
static const char *parse_address(const char *at, uint64_t *address)
{
	uint64_t value = 0;

	for (;; at++) {
		unsigned int digit = (unsigned char)*at - '0';

		if (digit > 9) {
			digit = ((unsigned char)*at | 0x20) - 'a';
			if (digit > 5)
				break;
			digit += 10;
		}
		value = value << 4 | digit;
	}
	*address = value;
	return at;
}

/* Splits @line, of which @copy has a copy. Return: false: no symbol. */
static bool parse(const char *line, char *copy, struct kallsym *symbol)
{
	const char *at = parse_address(line, &symbol->address);
	char *name, *module;

	if (at == line || at[0] != ' ' || !at[1] || at[2] != ' ' || !at[3])
		return false;
	symbol->type = at[1];
	symbol->module = "";
	if (!strchr("tTwW", symbol->type))
		return true;
	symbol->line = line;
	symbol->length = strlen(line);
	name = copy + (at + 3 - line);
	memcpy(name, at + 3, symbol->length - (size_t)(at + 3 - line) + 1);
	name[strcspn(name, "\n")] = 0;
	symbol->name = name;
	module = strpbrk(name, "\t ");
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
	char line[LINE_ROOM], copy[LINE_ROOM];
	FILE *file = fopen(path, "re");
	bool any = false;
	int result = 0;

	if (!file)
		return NTRACE_ERR_IO;
	errno = 0;
	while (!result && fgets(line, sizeof(line), file)) {
		struct kallsym symbol;

		if (!parse(line, copy, &symbol))
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
