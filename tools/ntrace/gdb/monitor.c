// SPDX-License-Identifier: GPL-2.0-only
/* Monitor commands: what GDB itself has no command for. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/moment.h"
#include "common/ui.h"
#include "remote_parts.h"

/* What a command works on; all threads have the window of the client. */
struct context {
	struct remote *remote;
	struct packet_output *output;
	bool moved;
};

static bool say_failed(struct context *context, const char *text)
{
	packet_append_format(context->output, "%s\n", text);
	return false;
}

static struct remote_thread *current(struct context *context)
{
	return &context->remote->thread[context->remote->current];
}

/* ---- numbers and times ---- */

static bool parse_number(const char *text, uint64_t *number)
{
	char *end;

	if (!text || *text < '0' || *text > '9')
		return false;
	errno = 0;
	*number = strtoull(text, &end, 10);
	return !errno && !*end;
}

/* See moment_parse(). */
static bool parse_time(struct context *context, const char *text, uint64_t *ticks)
{
	const struct history *history = context->remote->target->history;
	const struct moment_scale scale = {
		.known = history->time_known,
		.first = history->first_time,
		.hz = remote_thread_history(context->remote, context->remote->current)->hz,
	};
	const char *wrong = moment_parse(text, &scale, ticks);

	return !wrong || say_failed(context, wrong);
}

/* ---- moves ---- */

static void move_to(struct context *context, size_t index, struct history_place place)
{
	struct remote_thread *thread = &context->remote->thread[index];
	const struct history *history = context->remote->target->history;
	uint64_t number = history_number(history, &place);

	if (number < thread->low)
		place = history_seek(history, place.thread, thread->low);
	if (number > thread->high)
		place = history_seek(history, place.thread, thread->high);
	thread->place = place;
	/* The debugger must ask for all of the branch trace. */
	thread->sent = false;
	context->moved = true;
}

static void move_to_number(struct context *context, uint64_t number)
{
	move_to(context, context->remote->current,
		history_seek(context->remote->target->history, current(context)->place.thread,
			     number));
}

static bool command_goto(struct context *context, char *words)
{
	uint64_t here, number;
	char sign = words ? *words : '\0';

	if (!words || !parse_number(words + (sign == '-' || sign == '+'), &number))
		return say_failed(context, "goto: the number of an instruction is needed, or +N or "
					   "-N instructions from here");
	here = history_number(context->remote->target->history, &current(context)->place);
	if (sign == '-')
		number = number > here ? UINT64_MAX : here - number;
	else if (sign == '+')
		number += number > UINT64_MAX - here ? 0 : here;
	if (number < current(context)->low || number > current(context)->high)
		return say_failed(context, "goto: this instruction is not in the window");
	move_to_number(context, number);
	return true;
}

static bool command_start(struct context *context, char *words)
{
	(void)words;
	move_to_number(context, current(context)->low);
	return true;
}

static bool command_end(struct context *context, char *words)
{
	(void)words;
	move_to_number(context, current(context)->high);
	return true;
}

static bool is_address(void *data, uint64_t address)
{
	const uint64_t *const *set = data;

	for (const uint64_t *at = set[0]; at < set[1]; at++)
		if (*at == address)
			return true;
	return false;
}

static void ignore_gap(void *data, const struct history_run *gap)
{
	(void)data;
	(void)gap;
}

/*
 * The *@wanted-th time that one of the addresses is executed, from the start of the window; the
 * executions that were found are subtracted.
 */
static bool find_execution(struct context *context, const uint64_t *addresses, size_t count,
			   uint64_t *wanted, struct history_place *place)
{
	const struct history *history = context->remote->target->history;
	const struct remote_thread *thread = current(context);
	const uint64_t *set[2] = { addresses, addresses + count };
	uint8_t *marked = calloc(history->code_count + 1, 1);
	bool found;

	if (!marked)
		return false;
	for (size_t i = 0; i < history->code_count; i++)
		for (size_t k = 0; k < count; k++)
			marked[i] |= addresses[k] >= history->code[i].address &&
				     addresses[k] < history->code[i].end;
	*place = history_seek(history, thread->place.thread, thread->low);
	found = is_address(set, history_pc(history, place));
	if (!found || --*wanted) {
		do
			found = history_find(history, place, false, marked, is_address, ignore_gap,
					     set, thread->high);
		while (found && --*wanted);
	}
	free(marked);
	return found;
}

/* ---- parts of large recordings ---- */

/* Loads another part. Return: false if that is not possible, with everything as before. */
static bool load_part(struct context *context, size_t number)
{
	struct remote *remote = context->remote;
	struct target_parts *parts = remote->target->parts;
	struct target *target;

	if (!parts || number == remote->target->part)
		return true;
	target = parts->open(parts, number);
	return target && remote_use(remote, target);
}

/**
 * struct bookmark - where a client is, for a search in other parts that may fail
 * @thread: places and windows of its threads, or NULL: nothing to come back to
 */
struct bookmark {
	size_t part;
	size_t current;
	size_t resumed;
	struct remote_thread *thread;
};

static struct bookmark leave(const struct context *context)
{
	const struct remote *remote = context->remote;
	size_t size = remote->target->threads * sizeof(*remote->thread);
	struct bookmark mark = { remote->target->part, remote->current, remote->resumed,
				 malloc(size) };

	if (mark.thread)
		memcpy(mark.thread, remote->thread, size);
	return mark;
}

/* A part that is loaded again has the same threads and instructions. */
static void come_back(struct context *context, const struct bookmark *mark)
{
	struct remote *remote = context->remote;

	if (!load_part(context, mark->part) || !mark->thread)
		return;
	memcpy(remote->thread, mark->thread, remote->target->threads * sizeof(*remote->thread));
	remote->current = mark->current;
	remote->resumed = mark->resumed;
}

static bool use_part(struct context *context, uint64_t number)
{
	return load_part(context, (size_t)number) ||
	       say_failed(context, "this part has no instruction of the process, or cannot be "
				   "loaded");
}

/* Loads the next part in a direction that has the process. Return: false if there is none. */
static bool next_part(struct context *context, bool back)
{
	struct target_parts *parts = context->remote->target->parts;
	size_t number = context->remote->target->part;

	while (parts && (back ? number > 0 : number + 1 < parts->count))
		if (load_part(context, back ? --number : ++number))
			return true;
	return false;
}

static bool command_part(struct context *context, char *words)
{
	const struct target *target = context->remote->target;
	uint64_t number;

	if (!target->parts)
		return say_failed(context, "the trace is not divided: all of it is loaded");
	if (!words || !*words) {
		packet_append_format(context->output, "part %zu of 1 to %zu\n", target->part + 1,
				     target->parts->count);
		return true;
	}
	if (!strcmp(words, "next") || !strcmp(words, "previous")) {
		if (!next_part(context, *words == 'p'))
			return say_failed(context, "there is no such part");
		move_to_number(context, *words == 'p' ? UINT64_MAX : 0);
		return true;
	}
	if (!strcmp(words, "first"))
		number = 1;
	else if (!strcmp(words, "last"))
		number = target->parts->count;
	else if (!parse_number(words, &number) || !number || number > target->parts->count)
		return say_failed(context, "part: next, previous, first, last, or the number of a "
					   "part, counted from 1");
	if (!use_part(context, number - 1))
		return false;
	move_to_number(context, strcmp(words, "last") ? 0 : UINT64_MAX);
	return true;
}

/* Looks in a part of the trace, and in those that follow. Return: false if it is in none. */
static bool find_in_parts(struct context *context, const char *name, uint64_t *wanted,
			  struct history_place *place, bool *known)
{
	bool found = false;

	do {
		uint64_t *address;
		size_t count = target_functions(context->remote->target, name, &address);

		*known |= count > 0;
		found = count && find_execution(context, address, count, wanted, place);
		free(address);
	} while (!found && next_part(context, false));
	return found;
}

/* Without parts, the window is searched. */
static bool command_around(struct context *context, char *words)
{
	char *name = strsep(&words, " ");
	struct history_place place;
	uint64_t wanted = 1, left;
	struct bookmark mark;
	bool known = false;

	if (!name || !*name || (words && *words && (!parse_number(words, &wanted) || !wanted)))
		return say_failed(context, "around: a function is needed, and which of its calls: "
					   "around malloc 3");
	left = wanted;
	mark = leave(context);
	/* The first part may have other processes only. */
	for (size_t i = 0; i < mark.part && !load_part(context, i); i++)
		;
	if (find_in_parts(context, name, &left, &place, &known)) {
		move_to(context, context->remote->current, place);
		free(mark.thread);
		return true;
	}
	come_back(context, &mark);
	free(mark.thread);
	if (known)
		packet_append_format(context->output,
				     "around: thread %" PRIu64
				     " executes '%.200s' less than %" PRIu64 " times in the %s\n",
				     target_tid(context->remote->target, context->remote->current),
				     name, wanted,
				     context->remote->target->parts ? "trace" : "window");
	else
		packet_append_format(context->output,
				     "around: no file of the trace has a function '%.200s'\n",
				     name);
	return false;
}

/* Over whole runs, up to one next to a gap. Return: the gap, or NULL. */
static const struct history_run *find_gap(struct context *context, struct history_place *place,
					  bool back)
{
	const struct history *history = context->remote->target->history;
	const struct history_run *gap;

	for (;;) {
		const struct history_run *run = history_run_at(history, place);

		*place = history_seek(history, place->thread,
				      back ? run->number : run->number + run->instructions - 1);
		if (!history_step(history, place, back, &gap))
			return NULL;
		if (gap)
			return gap;
	}
}

static bool move_to_gap(struct context *context, bool back)
{
	struct history_place place = current(context)->place;
	const struct history_run *gap = find_gap(context, &place, back);
	struct bookmark mark = leave(context);
	const struct history *history;

	while (!gap && next_part(context, back)) {
		place = history_seek(context->remote->target->history,
				     current(context)->place.thread, back ? UINT64_MAX : 0);
		gap = find_gap(context, &place, back);
	}
	if (!gap)
		come_back(context, &mark);
	free(mark.thread);
	if (!gap)
		return say_failed(context, "there is no gap");
	history = context->remote->target->history;
	if (history_number(history, &place) < current(context)->low ||
	    history_number(history, &place) > current(context)->high)
		return say_failed(context, "there is no gap in the window");
	packet_append_format(context->output, "gap: %.400s\n", gap->gap);
	move_to(context, context->remote->current, place);
	return true;
}

static bool command_next_gap(struct context *context, char *words)
{
	(void)words;
	return move_to_gap(context, false);
}

static bool command_previous_gap(struct context *context, char *words)
{
	(void)words;
	return move_to_gap(context, true);
}

/* ---- windows ---- */

static void set_window(struct context *context, size_t index, uint64_t low, uint64_t high)
{
	struct remote_thread *thread = &context->remote->thread[index];

	thread->low = low;
	thread->high = high;
	move_to(context, index, thread->place);
}

static bool command_time(struct context *context, char *words)
{
	struct target_parts *parts = context->remote->target->parts;
	const struct history *history;
	char *first = strsep(&words, ",");
	uint64_t from, to = 0;

	if (!first || !*first)
		return say_failed(context, "time: a time is needed, or two: time 1.25,1.5");
	if (!parse_time(context, first, &from) || (words && !parse_time(context, words, &to)))
		return false;
	if (words && to < from)
		return say_failed(context, "time: the second time is before the first one");
	if (parts && !use_part(context, parts->at_time(parts, from)))
		return false;
	if (parts && words && parts->at_time(parts, to) != parts->at_time(parts, from))
		packet_append_format(context->output,
				     "the second time is in a later part, which is not loaded\n");
	history = context->remote->target->history;
	for (size_t i = 0; i < context->remote->target->threads; i++) {
		uint32_t thread = context->remote->target->thread[i];
		struct history_place at = history_at_time(history, thread, from), end;

		if (words) {
			end = history_at_time(history, thread, to);
			set_window(context, i, history_number(history, &at),
				   history_number(history, &end));
		}
		move_to(context, i, at);
	}
	return true;
}

static bool command_window(struct context *context, char *words)
{
	const struct remote *remote = context->remote;
	char *kind = strsep(&words, " ");
	uint64_t count = 0;

	if (!kind || (strcmp(kind, "all") &&
		      (strcmp(kind, "last") || !parse_number(words, &count) || !count)))
		return say_failed(context, "window: all, or last NUMBER; a window of time is time "
					   "A,B");
	for (size_t i = 0; i < remote->target->threads; i++) {
		uint64_t all = remote_thread_history(remote, i)->instructions;

		set_window(context, i, count && count < all ? all - count : 0, all - 1);
	}
	return true;
}

static bool command_history(struct context *context, char *words)
{
	uint64_t count;

	if (!parse_number(words, &count) || !count)
		return say_failed(context,
				  "history: the number of instructions that 'record btrace' "
				  "shows is needed");
	context->remote->history = count;
	for (size_t i = 0; i < context->remote->target->threads; i++)
		context->remote->thread[i].sent = false;
	return true;
}

/* ---- information ---- */

static void append_time(struct context *context, const struct history_run *run, uint64_t hz)
{
	uint64_t first = context->remote->target->history->first_time;
	char text[UI_NUMBER_SIZE];

	if (run->time_known)
		packet_append_format(context->output, ", time %s (@%" PRIu64 ")",
				     ui_ticks(text, run->time - first, hz), run->time);
}

static bool command_where(struct context *context, char *words)
{
	const struct remote *remote = context->remote;
	const struct history *history = remote->target->history;
	const struct remote_thread *thread = current(context);
	const struct history_thread *of = remote_thread_history(remote, remote->current);
	const struct history_run *run = history_run_at(history, &thread->place);
	char name[1000];

	(void)words;
	packet_append_format(context->output, "0x%" PRIx64 " %.800s\n",
			     history_pc(history, &thread->place),
			     target_place_name(remote->target, &thread->place, name, sizeof(name)));
	packet_append_format(context->output,
			     "instruction %" PRIu64 " of 0 to %" PRIu64 ", thread %" PRIu64
			     " (%s), CPU %u",
			     history_number(history, &thread->place), of->instructions - 1,
			     target_tid(remote->target, remote->current), of->name, run->cpu);
	append_time(context, run, of->hz);
	packet_append_format(context->output, "\n");
	if (remote->target->parts)
		packet_append_format(context->output, "part %zu of 1 to %zu\n",
				     remote->target->part + 1, remote->target->parts->count);
	if (thread->low || thread->high + 1 < of->instructions)
		packet_append_format(context->output,
				     "window: instructions %" PRIu64 " to %" PRIu64 "\n",
				     thread->low, thread->high);
	return true;
}

static bool command_programs(struct context *context, char *words)
{
	const struct target *target = context->remote->target;

	(void)words;
	for (size_t i = 0; i < target->modules; i++)
		packet_append_format(context->output,
				     "%.600s: moved by 0x%" PRIx64 ", %" PRIu64 " instructions%s\n",
				     target->file[target->module[i].file].path,
				     target->module[i].bias, target->module[i].instructions,
				     (int64_t)i == target->exec ? " (the program)" : "");
	return true;
}

static bool command_help(struct context *context, char *words);

static const struct {
	const char *name;
	bool (*run)(struct context *context, char *words);
	const char *arguments;
	const char *help;
} commands[] = {
	{ "help", command_help, "", "this list" },
	{ "where", command_where, "", "the instruction, its number and its time" },
	{ "start", command_start, "", "go to the first instruction" },
	{ "end", command_end, "", "go to the last instruction" },
	{ "goto", command_goto, "NUMBER",
	  "go to an instruction, counted from 0; +N, -N: from here" },
	{ "around", command_around, "FUNCTION [N]",
	  "go to where FUNCTION starts for the Nth time" },
	{ "time", command_time, "A[,B]",
	  "go to a time, all threads; with B: stay between the two" },
	{ "next-gap", command_next_gap, "", "go to the first instruction after the next gap" },
	{ "previous-gap", command_previous_gap, "",
	  "go to the last instruction before the previous gap" },
	{ "part", command_part, "[next | N | ...]",
	  "large recordings: load the next, previous, first, last or Nth part" },
	{ "window", command_window, "all | last N", "where to stay: everything, or the end" },
	{ "history", command_history, "N", "instructions that 'record btrace' shows" },
	{ "programs", command_programs, "", "files that the executed code comes from" },
};

#define COMMANDS (sizeof(commands) / sizeof(commands[0]))

static bool command_help(struct context *context, char *words)
{
	char usage[60];

	(void)words;
	for (size_t i = 0; i < COMMANDS; i++) {
		snprintf(usage, sizeof(usage), "%s %s", commands[i].name, commands[i].arguments);
		packet_append_format(context->output, "  monitor %-22s %s\n", usage,
				     commands[i].help);
	}
	packet_append_format(
		context->output,
		"A time is a number of seconds since the first timestamp, such as 1.25 "
		"or 3ms, or @TICKS.\n"
		"After a move, 'maintenance flush register-cache' makes GDB look "
		"again.\n");
	return true;
}

bool remote_monitor(struct remote *remote, const char *command, struct packet_output *output)
{
	struct context context = { remote, output, false };
	char *copy = strdup(command), *words = copy, *name;
	bool done = false;
	size_t i;

	if (!copy)
		return say_failed(&context, "out of memory");
	name = strsep(&words, " ");
	while (words && *words == ' ')
		words++;
	for (i = 0; i < COMMANDS; i++)
		if (!strcmp(commands[i].name, name))
			break;
	if (i < COMMANDS)
		done = commands[i].run(&context, words);
	else
		packet_append_format(
			output, "no monitor command '%.100s': monitor help lists them\n", name);
	if (done && context.moved)
		command_where(&context, NULL);
	free(copy);
	return done;
}
