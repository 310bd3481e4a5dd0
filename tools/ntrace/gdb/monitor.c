// SPDX-License-Identifier: GPL-2.0-only
/* Monitor commands: what GDB itself has no command for. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/moment.h"
#include "common/place_name.h"
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

static struct history_place *current_place(struct context *context)
{
	return remote_place(context->remote, context->remote->current);
}

/* Number of the thread in the history. */
static uint32_t current_thread(const struct context *context)
{
	return context->remote->target->thread[context->remote->current];
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
	uint64_t number = history_number(&place);

	if (number < thread->low)
		place = history_seek(history, place.thread, thread->low);
	if (number > thread->high)
		place = history_seek(history, place.thread, thread->high);
	thread->place = place;
	thread->placed = true;
	/* The debugger must ask for all of the branch trace. */
	thread->sent = false;
	context->moved = true;
}

static void move_to_number(struct context *context, uint64_t number)
{
	move_to(context, context->remote->current,
		history_seek(context->remote->target->history, current_thread(context), number));
}

static bool command_goto(struct context *context, char *words)
{
	uint64_t here, number;
	char sign = words ? *words : '\0';

	if (!words || !parse_number(words + (sign == '-' || sign == '+'), &number))
		return say_failed(context, "goto: the number of an instruction is needed, or +N or "
					   "-N instructions from here");
	here = history_number(current_place(context));
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

/*
 * The @wanted-th time that one of the addresses is executed, from the start of the window.
 */
static bool find_execution(struct context *context, uint64_t *addresses, size_t count,
			   uint64_t wanted, struct history_place *place)
{
	struct history *history = context->remote->target->history;
	const struct remote_thread *thread = current(context);
	const struct history_search search = { .address = addresses,
					       .count = count,
					       .limit = thread->high };
	bool found;

	history_sort(addresses, count);
	*place = history_seek(history, current_thread(context), thread->low);
	found = history_has(&search, history_pc(history, place));
	if (!found || --wanted) {
		do
			found = history_find(history, place, false, &search);
		while (found && --wanted);
	}
	return found;
}

static bool command_around(struct context *context, char *words)
{
	char *name = strsep(&words, " ");
	struct history_place place;
	uint64_t wanted = 1, *address;
	bool found = false;
	size_t count;

	if (!name || !*name || (words && *words && (!parse_number(words, &wanted) || !wanted)))
		return say_failed(context, "around: a function is needed, and which of its calls: "
					   "around malloc 3");
	count = target_functions(context->remote->target, name, &address);
	found = count && find_execution(context, address, count, wanted, &place);
	free(address);
	if (found) {
		move_to(context, context->remote->current, place);
		return true;
	}
	if (count)
		packet_append_format(context->output,
				     "around: thread %" PRIu64
				     " executes '%.200s' less than %" PRIu64
				     " times in the window\n",
				     target_tid(context->remote->target, context->remote->current),
				     name, wanted);
	else
		packet_append_format(context->output,
				     "around: no file of the trace has a function '%.200s'\n",
				     name);
	return false;
}

static bool move_to_gap(struct context *context, bool back)
{
	struct history *history = context->remote->target->history;
	struct history_place place = *current_place(context);
	const char *gap;

	do
		if (!history_step_block(history, &place, back, &gap))
			return say_failed(context, "there is no gap");
	while (!gap);
	if (history_number(&place) < current(context)->low ||
	    history_number(&place) > current(context)->high)
		return say_failed(context, "there is no gap in the window");
	packet_append_format(context->output, "gap: %.400s\n", gap);
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

	struct history_place place = *remote_place(context->remote, index);

	thread->low = low;
	thread->high = high;
	move_to(context, index, place);
}

/* Whether the thread executed something from @from to @to. @last: raised to its last time */
static bool has_time(struct history *history, uint32_t thread, uint64_t from, uint64_t to,
		     uint64_t *last)
{
	struct history_place at = history_at_time(history, thread, from), end;
	const struct ntrace_cursor_place *place = history_at(history, &at);

	if (place->time_kind != NTRACE_CURSOR_TIME_NONE && place->time >= from && place->time <= to)
		return true;
	end = history_at_time(history, thread, to);
	if (history_number(&end) > history_number(&at))
		return true;
	end = history_seek(history, thread, UINT64_MAX);
	place = history_at(history, &end);
	if (place->time_kind != NTRACE_CURSOR_TIME_NONE && place->time > *last)
		*last = place->time;
	return false;
}

static bool say_nothing(struct context *context, uint64_t from, uint64_t to, uint64_t last)
{
	uint64_t first = context->remote->target->history->first_time;
	uint64_t hz = remote_thread_history(context->remote, context->remote->current)->hz;
	char text[UI_NUMBER_SIZE], until[32] = "on";

	if (to < UINT64_MAX)
		snprintf(until, sizeof(until), "to @%" PRIu64, to);
	packet_append_format(context->output, "time: nothing was executed from @%" PRIu64 " %s",
			     from, until);
	if (from > last || to < first)
		packet_append_format(context->output,
				     ": the trace goes from @%" PRIu64 " to @%" PRIu64 ", %s\n",
				     first, last, ui_ticks(text, last - first, hz));
	else
		packet_append_format(context->output, "; threads that changed between CPUs with "
						      "different clocks: use --cpu\n");
	return false;
}

static bool command_time(struct context *context, char *words)
{
	struct history *history = context->remote->target->history;
	char *first = strsep(&words, ",");
	uint64_t from, to = 0, last = 0;
	bool found = false;

	if (!first || !*first)
		return say_failed(context, "time: a time is needed, or two: time 1.25,1.5");
	if (!parse_time(context, first, &from) || (words && !parse_time(context, words, &to)))
		return false;
	if (words && to < from)
		return say_failed(context, "time: the second time is before the first one");
	for (size_t i = 0; i < context->remote->target->threads && !found; i++)
		found = has_time(history, context->remote->target->thread[i], from,
				 words ? to : UINT64_MAX, &last);
	if (!found)
		return say_nothing(context, from, words ? to : UINT64_MAX, last);
	for (size_t i = 0; i < context->remote->target->threads; i++) {
		uint32_t thread = context->remote->target->thread[i];
		struct history_place at = history_at_time(history, thread, from), end;

		if (words) {
			end = history_at_time(history, thread, to);
			set_window(context, i, history_number(&at), history_number(&end));
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

static void append_time(struct context *context, const struct ntrace_cursor_place *at, uint64_t hz)
{
	uint64_t first = context->remote->target->history->first_time;
	char text[UI_NUMBER_SIZE];

	if (at->time_kind != NTRACE_CURSOR_TIME_NONE)
		packet_append_format(context->output, ", time %s (@%" PRIu64 ")",
				     ui_ticks(text, at->time - first, hz), at->time);
}

static bool command_where(struct context *context, char *words)
{
	struct remote *remote = context->remote;
	const struct history *history = remote->target->history;
	const struct history_place *place = current_place(context);
	const struct remote_thread *thread = current(context);
	const struct history_thread *of = remote_thread_history(remote, remote->current);
	const struct ntrace_cursor_place *at = history_at(history, place);
	char name[1000];

	(void)words;
	packet_append_format(context->output, "0x%" PRIx64 " %.800s\n", history_pc(history, place),
			     target_place_name(remote->target, place, name, sizeof(name)));
	packet_append_format(context->output,
			     "instruction %" PRIu64 " of 0 to %" PRIu64 ", thread %" PRIu64
			     " (%s), CPU %u",
			     history_number(place), of->instructions - 1,
			     target_tid(remote->target, remote->current), of->name,
			     history->thread[place->thread].config.session ?
				     at->cpu :
				     history->thread[place->thread].config.src);
	append_time(context, at, of->hz);
	packet_append_format(context->output, "\n");
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

/* What follows from the core dump alone, near its end and further away. */
static void append_core_counts(struct context *context, struct ntrace_values *values)
{
	static const uint64_t within[] = { 100000, 1000000 };

	for (size_t i = 0; i < 2; i++) {
		struct ntrace_values_core_counts counts = { .size = sizeof(counts) };

		if (ntrace_values_count_core(values, within[i], &counts))
			return;
		packet_append_format(
			context->output,
			"the last %" PRIu64 " instructions read %" PRIu64
			" registers; from the core dump %" PRIu64 " of them are known, and %" PRIu64
			" likely\n"
			"%" PRIu64 " of these known and %" PRIu64
			" of the likely ones were compared with recorded values, %" PRIu64
			" and %" PRIu64 " are wrong\n",
			within[i], counts.reads, counts.known, counts.likely, counts.compared,
			counts.compared_likely, counts.wrong, counts.wrong_likely);
	}
}

static bool command_values(struct context *context, char *words)
{
	const struct remote *remote = context->remote;
	const struct history *history = remote->target->history;
	const struct remote_thread *thread = current(context);
	struct ntrace_values *values = history_values(history, &thread->place);
	struct ntrace_values_counts counts = { .size = sizeof(counts) };

	(void)words;
	if (!history->valued)
		return say_failed(context,
				  "no values were recorded: ntrace record --values, or --core");
	if (!values || ntrace_values_count(values, &counts))
		return say_failed(context, "no values of this thread are known here");
	packet_append_format(context->output,
			     "%" PRIu64 " instructions in user mode read %" PRIu64
			     " registers, %" PRIu64 " of them known\n"
			     "%" PRIu64 " system calls, %" PRIu64 " with registers; %" PRIu64
			     " registers and %" PRIu64 " jumps and branches were compared, %" PRIu64
			     " are wrong\n",
			     counts.instructions, counts.reads, counts.known, counts.calls,
			     counts.anchors, counts.compared, counts.decided, counts.wrong);
	if (history->core)
		append_core_counts(context, values);
	return true;
}

/* "system call 63", or what else was recorded. */
static void append_call(struct context *context, uint64_t call)
{
	if (call == NTRACE_VALUES_EXEC)
		packet_append_format(context->output, "exec()");
	else if (call == NTRACE_VALUES_CORE)
		packet_append_format(context->output, "the core dump");
	else if (call == NTRACE_VALUES_NO_CALL)
		packet_append_format(context->output, "a signal or another entry of the kernel");
	else
		packet_append_format(context->output, "system call %" PRIu64, call);
}

/* What an instruction has loaded. */
static void append_source(struct context *context, const struct ntrace_values_origin *origin)
{
	if (!origin->source)
		return;
	packet_append_format(context->output, "loaded from %u bytes at 0x%" PRIx64 ", ",
			     origin->bytes, origin->memory);
	if (origin->source == NTRACE_VALUES_STORED) {
		packet_append_format(context->output, "stored by instruction %" PRIu64 "\n",
				     origin->source_number);
	} else if (origin->source == NTRACE_VALUES_MAPPED) {
		packet_append_format(context->output, "which are as they were mapped\n");
	} else {
		packet_append_format(context->output, "recorded or written after ");
		append_call(context, origin->source_call);
		packet_append_format(context->output, ", before instruction %" PRIu64 "\n",
				     origin->source_number);
	}
}

static void append_origin(struct context *context, const struct ntrace_values_origin *origin,
			  const struct ntrace_space *space)
{
	struct ntrace_location at = { 0 };
	char name[1000];

	if (origin->kind == NTRACE_VALUES_EXECUTED) {
		if (space)
			ntrace_space_locate(space, origin->address, &at);
		packet_append_format(context->output,
				     "written by instruction %" PRIu64 " of user code, 0x%" PRIx64
				     " %.800s\n",
				     origin->number, origin->address,
				     place_name(name, sizeof(name), at.object,
						at.object ? at.link_address : origin->address));
		append_source(context, origin);
		packet_append_format(context->output,
				     origin->call == NTRACE_VALUES_CORE ?
					     "follows from what is known later, up to " :
					     "executed from the registers after ");
	} else {
		packet_append_format(context->output, origin->call == NTRACE_VALUES_CORE ?
							      "follows from " :
							      "recorded after ");
	}
	append_call(context, origin->call);
	packet_append_format(context->output, ", before instruction %" PRIu64 "\n", origin->anchor);
}

static bool command_why(struct context *context, char *words)
{
	const struct history *history = context->remote->target->history;
	const struct history_place *place = current_place(context);
	struct ntrace_values_origin origin = { .size = sizeof(origin) };
	struct ntrace_exec_value value = { 0, 0 };
	struct ntrace_values *values;
	int number = words && *words ? ntrace_tandem_register_number(words) : -1;

	if (number <= (int)NTRACE_TANDEM_GPR || number >= (int)NTRACE_TANDEM_FPR + 32)
		return say_failed(context, "why: a register is needed, such as why a0");
	if (!history->valued)
		return say_failed(context,
				  "no values were recorded: ntrace record --values, or --core");
	values = history_values(history, place);
	if (!values || ntrace_values_origin(values, (unsigned int)number, &origin)) {
		packet_append_format(context->output, "%s is not known here\n", words);
		if (values && !ntrace_values_likely(values, (unsigned int)number, &value) &&
		    value.known == UINT64_MAX)
			packet_append_format(context->output, "likely it is 0x%" PRIx64 "\n",
					     value.bits);
		return true;
	}
	ntrace_values_register(values, (unsigned int)number, &value);
	packet_append_format(context->output, "%s is 0x%" PRIx64 "\n", words, value.bits);
	append_origin(context, &origin, history_at(history, place)->flow->space);
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
	{ "window", command_window, "all | last N", "where to stay: everything, or the end" },
	{ "history", command_history, "N", "instructions that 'record btrace' shows" },
	{ "programs", command_programs, "", "files that the executed code comes from" },
	{ "values", command_values, "", "how many values of this thread are known" },
	{ "why", command_why, "REGISTER", "what has written a register, and from what it follows" },
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
