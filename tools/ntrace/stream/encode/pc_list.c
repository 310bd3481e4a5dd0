// SPDX-License-Identifier: GPL-2.0-only
/*
 * Lists of executed PCs. They have tens of millions of lines, so a line is
 * found with memchr() and its number read by hand.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/command.h"
#include "common/ui.h"
#include "pc_list.h"

#define BUFFER_SIZE (1 << 20)

int pc_list_open(struct pc_list *list, const char *path, bool log, unsigned int cpu)
{
	*list = (struct pc_list){ .path = path, .log = log, .cpu = cpu };
	list->file = strcmp(path, "-") ? open(path, O_RDONLY | O_CLOEXEC) : STDIN_FILENO;
	if (list->file < 0)
		return fail("%s: %s", path, strerror(errno));
	list->data = malloc(BUFFER_SIZE + 1);
	if (!list->data) {
		pc_list_close(list);
		return fail("out of memory");
	}
	list->next = list->data;
	list->end = list->data;
	return EXIT_OK;
}

void pc_list_close(struct pc_list *list)
{
	if (list->file != STDIN_FILENO)
		close(list->file);
	free(list->data);
	list->data = NULL;
}

static int complain(const struct pc_list *list, const char *what)
{
	fail("%s: line %" PRIu64 ": %s", list->path, list->line, what);
	return -1;
}

/* Moves the rest to the front of the buffer, and reads more. Return: -1 after an error message. */
static int refill(struct pc_list *list)
{
	size_t left = (size_t)(list->end - list->next);
	ssize_t got;

	memmove(list->data, list->next, left);
	list->next = list->data;
	list->end = list->data + left;
	do
		got = read(list->file, list->end, BUFFER_SIZE - left);
	while (got < 0 && errno == EINTR);
	if (got < 0) {
		fail("%s: %s", list->path, strerror(errno));
		return -1;
	}
	list->last = !got;
	list->end += got;
	return 0;
}

/* Next line, its newline replaced by 0. Return: as pc_list_next(). */
static int next_line(struct pc_list *list, char **line, char **line_end)
{
	char *end;

	while (!(end = memchr(list->next, '\n', (size_t)(list->end - list->next)))) {
		if (list->last && list->next == list->end)
			return 0;
		if (list->last) {
			end = list->end;
			break;
		}
		if (list->end - list->next > PC_LINE_MAX) {
			list->line++;
			return complain(list, "too long to be a PC");
		}
		if (refill(list))
			return -1;
	}
	*end = '\0';
	*line = list->next;
	*line_end = end;
	list->next = end == list->end ? end : end + 1;
	list->line++;
	return 1;
}

static const uint8_t digit_values[256] = {
	['0'] = 1,  ['1'] = 2,	['2'] = 3,  ['3'] = 4,	['4'] = 5,  ['5'] = 6,
	['6'] = 7,  ['7'] = 8,	['8'] = 9,  ['9'] = 10, ['a'] = 11, ['b'] = 12,
	['c'] = 13, ['d'] = 14, ['e'] = 15, ['f'] = 16, ['A'] = 11, ['B'] = 12,
	['C'] = 13, ['D'] = 14, ['E'] = 15, ['F'] = 16,
};

/* Parses 1 to 16 hex digits, more with leading zeros. Return: the text after them, or NULL. */
static char *hex_number(char *text, uint64_t *value)
{
	char *start = text;
	uint64_t result = 0;
	unsigned int digit;

	while ((digit = digit_values[(uint8_t)*text])) {
		if (result >> 60)
			return NULL;
		result = result << 4 | (digit - 1);
		text++;
	}
	*value = result;
	return text == start ? NULL : text;
}

static char *skip_blanks(char *text)
{
	return text + strspn(text, " \t\r");
}

/* An empty text, "# ..." or "// ...". */
static bool is_comment(const char *text)
{
	return !*text || *text == '#' || (text[0] == '/' && text[1] == '/');
}

/*
 * PC sequences of the reference tool have the kind of the instruction after the PC, as ",L4" or
 * ",BN2". It is ignored, since it follows from the program. Return: the text after it.
 */
static char *skip_kind(char *text)
{
	size_t letters, digits;

	if (*text != ',')
		return text;
	letters = strspn(text + 1, "LBNJCRDI");
	digits = strspn(text + 1 + letters, "248");
	return letters && digits <= 1 ? text + 1 + letters + digits : text;
}

static int next_plain(struct pc_list *list, uint64_t *pc)
{
	char *line, *line_end, *end;
	int result;

	while ((result = next_line(list, &line, &line_end)) > 0) {
		/* Fast path: nearly all lines begin with "0x". */
		if (line[0] != '0')
			line = skip_blanks(line);
		if (is_comment(line) && line + strlen(line) == line_end)
			continue;
		if (line[0] != '0' || (line[1] != 'x' && line[1] != 'X'))
			return complain(list, "not a PC: 0x and hex digits are expected");
		end = hex_number(line + 2, pc);
		if (!end)
			return complain(list, "not a PC: 0x and up to 16 hex digits are expected");
		if (end == line_end)
			return 1;
		end = skip_blanks(skip_kind(end));
		if (!is_comment(end) || end + strlen(end) != line_end)
			return complain(list, "unexpected text after the PC: neither a kind "
					      "of instruction (like ',L4') nor a comment");
		return 1;
	}
	return result;
}

static const char trace_start[] = "Trace ";
static const char stopped_start[] = "Stopped execution of TB chain before ";

/* "Trace CPU: HOST [CS_BASE/PC/FLAGS/CFLAGS] SYMBOL": false for another line. */
static bool parse_trace(struct pc_list *list, char *line, uint64_t *pc)
{
	char *end;
	unsigned long cpu = strtoul(line + sizeof(trace_start) - 1, &end, 10);

	if (*end != ':')
		return false;
	end = strchr(end, '[');
	end = end ? strchr(end, '/') : NULL;
	end = end ? hex_number(end + 1, pc) : NULL;
	list->ours = cpu == list->cpu;
	return end && *end == '/';
}

/* "... before HOST [PC] SYMBOL" */
static bool parse_stopped(char *line, uint64_t *pc)
{
	char *end = strchr(line, '[');

	end = end ? hex_number(end + 1, pc) : NULL;
	return end && *end == ']';
}

/*
 * A log names an instruction before it executes, and the next line tells if it was stopped:
 * the reader holds one instruction back.
 */
static int next_logged(struct pc_list *list, uint64_t *pc)
{
	char *line, *line_end;
	uint64_t address;
	int result;

	while ((result = next_line(list, &line, &line_end)) > 0) {
		if (!strncmp(line, trace_start, sizeof(trace_start) - 1)) {
			if (!parse_trace(list, line, &address))
				return complain(list, "damaged 'Trace' line");
			if (!list->ours) {
				list->other_lines++;
				continue;
			}
			*pc = list->held;
			list->held = address;
			if (list->held_known)
				return 1;
			list->held_known = true;
		} else if (!strncmp(line, stopped_start, sizeof(stopped_start) - 1)) {
			if (!parse_stopped(line, &address))
				return complain(list, "damaged 'Stopped' line");
			if (list->ours && address == list->held)
				list->held_known = false;
		} else {
			list->other_lines++;
		}
	}
	if (result < 0 || !list->held_known)
		return result;
	list->held_known = false;
	*pc = list->held;
	return 1;
}

int pc_list_next(struct pc_list *list, uint64_t *pc)
{
	return list->log ? next_logged(list, pc) : next_plain(list, pc);
}
