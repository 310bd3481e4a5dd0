// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Parses lines of the form "ffffffff80002000 T name\t[module]". */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kallsyms.h"
#include "regular.h"

#define LINE_ROOM 2048
/* Some 10 MB are usual. A file of a recording may claim any size; /proc/kallsyms claims none. */
#define FILE_MAX (256u << 20)
/* The kernel returns a page at a time. Reads of a quarter page, as by stdio, take twice as long. */
#define FILE_BUFFER 4096

/* The kernel writes sixteen digits; strtoull() would be slow for hundreds of thousands of lines. */
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

/* Finds the end of a word. strcspn() is slower, since each call builds a table. */
static const char *end_of_word(const char *at, char closing)
{
	while (*at && *at != ' ' && *at != '\t' && *at != '\n' && *at != closing)
		at++;
	return at;
}

/* Stores a word at *@room. Return: the word. */
static const char *copy_word(char **room, const char *word, const char *end)
{
	char *copy = *room;

	memcpy(copy, word, (size_t)(end - word));
	copy[end - word] = 0;
	*room = copy + (end - word) + 1;
	return copy;
}

/* Splits @line and stores its words in @room. Return: false: not a symbol. */
static bool parse(const char *line, char *room, struct kallsym *symbol)
{
	const char *at = parse_address(line, &symbol->address), *end;

	if (at == line || at[0] != ' ' || !at[1] || at[2] != ' ' || !at[3])
		return false;
	symbol->type = at[1];
	if (!strchr("tTwW", symbol->type))
		return true;
	end = end_of_word(at + 3, 0);
	symbol->name = copy_word(&room, at + 3, end);
	symbol->module = "";
	while (*end == ' ' || *end == '\t')
		end++;
	if (*end == '[') {
		at = end + 1;
		end = end_of_word(at, ']');
		symbol->module = copy_word(&room, at, end);
	}
	symbol->line = line;
	symbol->length = (size_t)(end - line) + strlen(end);
	return true;
}

int kallsyms_read(const char *path, int (*callback)(void *data, const struct kallsym *symbol),
		  void *data)
{
	char line[LINE_ROOM], words[LINE_ROOM];
	FILE *file;
	bool any = false;
	struct stat status;
	int fd, result = open_regular(path, &fd, &status);

	if (result)
		return result;
	if ((uint64_t)status.st_size > FILE_MAX) {
		close(fd);
		errno = EFBIG;
		return NTRACE_ERR_IO;
	}
	file = fdopen(fd, "r");
	if (!file) {
		close(fd);
		return NTRACE_ERR_NOMEM;
	}
	setvbuf(file, NULL, _IOFBF, FILE_BUFFER);
	errno = 0;
	while (!result && fgets(line, sizeof(line), file)) {
		struct kallsym symbol;

		if (!parse(line, words, &symbol))
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

bool kallsyms_is_label(const struct kallsym *symbol)
{
	return symbol->name[0] == '$' || !strncmp(symbol->name, ".L", 2);
}
