// SPDX-License-Identifier: GPL-2.0-only
/* Messages, colours, progress and numbers. */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <ntrace/text.h>

#include "command.h"
#include "process_limits.h"
#include "ui.h"

/* Appends a line, of which only the last character may be a line feed. Return: the end */
static char *append_clean(char *to, char *line)
{
	char *room, *feed = strchr(line, '\n');

	if (feed)
		*feed = '\0';
	to = stpcpy(to, ntrace_text_clean(line, &room));
	free(room);
	return feed ? stpcpy(to, "\n") : to;
}

/* Line feeds of @format stay; if a name has more, none does. */
char *ui_clean(const char *format, char *text, char **room)
{
	size_t allowed = 0, found = 0;
	bool plain = true;
	char *at;

	for (; *format; format++)
		allowed += *format == '\n';
	for (at = text; *at; at++)
		found += *at == '\n';
	for (at = text; *at; at++) {
		bool ends = *at == '\n' && (found <= allowed || !at[1]);

		plain &= (unsigned char)*at < 0x80;
		if (((unsigned char)*at < 0x20 || *at == 0x7f) && !ends)
			*at = '?';
	}
	*room = plain ? NULL : malloc(2 * strlen(text) + 2);
	if (!*room)
		return text;
	for (char *to = *room, *next; *text; text = next) {
		next = strchrnul(text, '\n');
		next += *next != '\0';
		to = append_clean(to, text);
	}
	return *room;
}

void ui_vprintf(FILE *file, const char *format, va_list args)
{
	char *text, *room;

	if (vasprintf(&text, format, args) < 0)
		return;
	fputs(ui_clean(format, text, &room), file);
	free(room);
	free(text);
}

void ui_printf(FILE *file, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	ui_vprintf(file, format, args);
	va_end(args);
}

static char renamed[64];
static const char *shown;

void ui_rename(const char *path, const char *name)
{
	snprintf(renamed, sizeof(renamed), "%s", path);
	shown = name;
}

void ui_replace_path(char *text)
{
	size_t length = strlen(renamed), name = length ? strlen(shown) : 0;
	char *at = text;

	while (length && (at = strstr(at, renamed))) {
		char *end = at + length;

		if (!isdigit((unsigned char)*end)) {
			memmove(at + name, end, strlen(end) + 1);
			memcpy(at, shown, name);
		}
		at++;
	}
}

/* One write per message: several threads or processes may share stderr. */
static void message(const char *prefix, const char *format, va_list args)
{
	/* A message may name two paths, and the reason comes last. */
	char text[2 * PATH_MAX + 512];
	int length = snprintf(text, sizeof(text), "ntrace: %s", prefix);
	int more = vsnprintf(text + length, sizeof(text) - (size_t)length - 1, format, args);
	char *clean, *room;
	size_t size;

	if (more < 0)
		return;
	ui_replace_path(text);
	limit_add(text, sizeof(text) - 1);
	clean = ui_clean(format, text, &room);
	size = strlen(clean);
	clean[size++] = '\n';
	fwrite(clean, 1, size, stderr);
	free(room);
}

const char *error_text(int error)
{
	return error == NTRACE_ERR_IO && errno ? strerror(errno) : ntrace_strerror(error);
}

int path_failed(const char *path, int error)
{
	return error == NTRACE_ERR_IO && errno == EPIPE ? EXIT_FAILED :
							  fail("%s: %s", path, error_text(error));
}

int fail(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	message("error: ", format, args);
	va_end(args);
	return EXIT_FAILED;
}

void warn(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	message("warning: ", format, args);
	va_end(args);
}

void say(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	message("", format, args);
	va_end(args);
}

bool ui_colours(FILE *file)
{
	const char *term = getenv("TERM"), *no_colour = getenv("NO_COLOR");

	return isatty(fileno(file)) && term && strcmp(term, "dumb") && !(no_colour && *no_colour);
}

const char *ui_style_on(bool colours, enum ui_style style)
{
	static const char *const sequences[] = {
		[UI_PLAIN] = "",      [UI_HEADING] = "\033[1m", [UI_KERNEL] = "\033[36m",
		[UI_DIM] = "\033[2m", [UI_BAD] = "\033[31m",
	};

	return colours ? sequences[style] : "";
}

const char *ui_style_off(bool colours, enum ui_style style)
{
	return colours && style != UI_PLAIN ? "\033[0m" : "";
}

char *ui_number(char *text, uint64_t number)
{
	char digits[24];
	int length = snprintf(digits, sizeof(digits), "%" PRIu64, number), i;
	char *out = text;

	for (i = 0; i < length; i++) {
		if (i && (length - i) % 3 == 0)
			*out++ = ',';
		*out++ = digits[i];
	}
	*out = '\0';
	return text;
}

char *ui_ticks(char *text, uint64_t ticks, uint64_t hz)
{
	static const char *const units[] = { "s", "ms", "us", "ns" };
	double value = hz ? (double)ticks / (double)hz : 0;
	size_t unit = 0;

	if (!hz) {
		snprintf(text, UI_NUMBER_SIZE, "%" PRIu64 " ticks", ticks);
		return text;
	}
	for (; value < 1 && unit < 3 && ticks; unit++)
		value *= 1000;
	snprintf(text, UI_NUMBER_SIZE, "%.3f %s", value, units[unit]);
	return text;
}

char *ui_size(char *text, uint64_t bytes)
{
	static const char *const units[] = { "KiB", "MiB", "GiB", "TiB" };
	double value = (double)bytes / 1024;
	size_t unit = 0;

	if (bytes < 1024) {
		snprintf(text, UI_NUMBER_SIZE, "%" PRIu64 " bytes", bytes);
		return text;
	}
	for (; value >= 1024 && unit < 3; unit++)
		value /= 1024;
	snprintf(text, UI_NUMBER_SIZE, "%.1f %s", value, units[unit]);
	return text;
}

char *ui_word(const char *text)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				    "%+,-./:=@_";
	size_t length = strlen(text), used = 0;
	/* Each ' becomes '\'', and two are around. */
	char *word = malloc(4 * length + 3);

	if (!word)
		return NULL;
	if (length && strspn(text, plain) == length) {
		memcpy(word, text, length + 1);
		return word;
	}
	word[used++] = '\'';
	for (; *text; text++) {
		if (*text == '\'') {
			memcpy(word + used, "'\\'", 3);
			used += 3;
		}
		word[used++] = *text;
	}
	word[used++] = '\'';
	word[used] = '\0';
	return word;
}

uint64_t monotonic_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

double monotonic_seconds(void)
{
	return (double)monotonic_ns() * 1e-9;
}

void progress_begin(struct progress *progress, const char *what, uint64_t total)
{
	*progress = (struct progress){
		.what = what,
		.total = total,
		.start = monotonic_seconds(),
		.terminal = isatty(STDERR_FILENO),
	};
	progress->next = progress->start + (progress->terminal ? 0.5 : 5);
}

void progress_update(struct progress *progress, uint64_t done)
{
	double now = monotonic_seconds();
	char size[UI_NUMBER_SIZE];

	if (now < progress->next || progress->silent)
		return;
	progress->next = now + (progress->terminal ? 0.2 : 5);
	progress->shown = true;
	fprintf(stderr, "%sntrace: %s: ", progress->terminal ? "\r" : "", progress->what);
	/* The size of a pipe's data is unknown. */
	if (progress->total)
		fprintf(stderr, "%.0f %%", 100.0 * (double)done / (double)progress->total);
	if (!progress->steps)
		fprintf(stderr, "%s%s", progress->total ? " of " : "",
			ui_size(size, progress->total ? progress->total : done));
	fprintf(stderr, ", %.0f s%s", now - progress->start, progress->terminal ? "\033[K" : "\n");
	fflush(stderr);
}

void progress_end(struct progress *progress)
{
	if (progress->terminal && progress->shown)
		fprintf(stderr, "\r\033[K");
}
