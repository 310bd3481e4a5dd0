// SPDX-License-Identifier: GPL-2.0-only
/* Moves in a trace. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "walk.h"

/* Steps between two questions whether the user wants more: decoding asks, too. */
#define STOP_STEPS 65536
/* Steps back for the call stack: a fraction of a second. */
#define STACK_STEPS 200000
/* In a trail: the interrupted code is where control returns to. No instruction has this address. */
#define TRAIL_TRAP 1

static enum walk_result failed(struct walk *walk, int error)
{
	walk->error = error;
	return error == NTRACE_CURSOR_STOPPED ? WALK_STOPPED : WALK_FAILED;
}

const struct ntrace_cursor_place *walk_place(const struct walk *walk)
{
	return ntrace_cursor_place(walk->cursor);
}

static bool is_selected(const struct walk *walk)
{
	const struct ntrace_cursor_place *place = walk_place(walk);

	return !walk->config.privileges || !place ||
	       place->privilege == NTRACE_CURSOR_NO_PRIVILEGE ||
	       walk->config.privileges >> place->privilege & 1;
}

void walk_close(struct walk *walk)
{
	ntrace_values_free(walk->values);
	ntrace_cursor_free(walk->cursor);
	ntrace_cursor_free(walk->whole);
	walk->cursor = walk->whole = NULL;
	walk->values = NULL;
}

enum walk_result walk_open(struct walk *walk, const struct ntrace_cursor_config *config)
{
	struct ntrace_cursor_config all = *config;
	struct walk before = *walk;
	enum walk_result result;
	int error;

	walk->cursor = walk->whole = NULL;
	walk->values = NULL;
	walk->config = *config;
	all.privileges = 0;
	error = ntrace_cursor_new(&walk->cursor, config);
	if (!error && config->privileges)
		error = ntrace_cursor_new(&walk->whole, &all);
	result = error ? failed(walk, error) : walk_first(walk);
	if (result != WALK_STOPPED && result != WALK_FAILED) {
		walk_close(&before);
		return result;
	}
	error = walk->error;
	walk_close(walk);
	*walk = before;
	walk->error = error;
	return result;
}

/* ---- values ---- */

/* The process of the thread that is shown; -1: it is not certain which one. */
static int32_t process_of(const struct walk *walk)
{
	const struct ntrace_cursor_thread *threads;
	int32_t pid = -1;
	size_t count;

	if (walk->config.pid != NTRACE_CURSOR_ANY ||
	    ntrace_cursor_threads(walk->config.session, &threads, &count))
		return walk->config.pid;
	for (size_t i = 0; i < count; i++) {
		if (threads[i].tid != walk->config.tid)
			continue;
		if (pid >= 0)
			return -1;
		pid = threads[i].pid;
	}
	return pid;
}

struct ntrace_values *walk_values(struct walk *walk, const char **why)
{
	struct ntrace_values_config config = { .size = sizeof(config),
					       .session = walk->config.session,
					       .tid = walk->config.tid,
					       .core = walk->core };
	const struct ntrace_cursor_place *place = walk_place(walk);
	struct ntrace_cursor_mark mark;

	*why = "no values were recorded: ntrace record --values, or --core";
	if (!config.session || (!walk->core && !ntrace_values_recorded(config.session)))
		return NULL;
	*why = "not known of a CPU: T chooses a thread";
	if (config.tid == NTRACE_CURSOR_ANY)
		return NULL;
	*why = "not known here";
	config.pid = process_of(walk);
	if (!place || config.pid < 0 ||
	    (!walk->values && ntrace_values_new(&walk->values, &config)))
		return NULL;
	ntrace_cursor_save(walk->cursor, &mark);
	return ntrace_values_seek(walk->values, &mark, place->index) ? NULL : walk->values;
}

/* ---- instructions ---- */

/*
 * Notes why code is missing. Forwards, an error comes before its gap, backwards after it. Memory that
 * is not known, such as firmware, is no loss: the walk knows where it continues.
 */
static void note_event(struct walk *walk, const struct ntrace_flow_event *flow, bool back)
{
	switch (flow->type) {
	case NTRACE_FLOW_ERROR:
		ntrace_flow_describe(flow, walk->gap, sizeof(walk->gap));
		walk->unmapped = flow->code == NTRACE_FLOW_ERROR_NOMAP;
		if (back && walk->unmapped)
			walk->lost = false;
		break;
	case NTRACE_FLOW_GAP:
		if (!*walk->gap)
			ntrace_flow_describe(flow, walk->gap, sizeof(walk->gap));
		walk->gaps++;
		walk->lost = back || !walk->unmapped;
		walk->unmapped = false;
		break;
	case NTRACE_FLOW_TRAP:
		walk->trapped = true;
		break;
	default:
		break;
	}
}

/* To the next instruction, without going back at the end. */
static int step_on(struct walk *walk, bool back)
{
	const struct ntrace_cursor_place *place = walk_place(walk);
	int got;

	walk->trapped = walk->lost = false;
	for (;;) {
		if (!(++walk->steps % STOP_STEPS) && place &&
		    walk->config.stop(walk->config.stop_data, place->stream, place->offset))
			return NTRACE_CURSOR_STOPPED;
		got = back ? ntrace_cursor_prev(walk->cursor) : ntrace_cursor_next(walk->cursor);
		if (got)
			return got;
		place = walk_place(walk);
		if (place->type == NTRACE_FLOW_BLOCK)
			return 0;
		note_event(walk, place->flow, back);
	}
}

enum walk_result walk_step(struct walk *walk, bool back)
{
	struct ntrace_cursor_mark mark;
	int got;

	ntrace_cursor_save(walk->cursor, &mark);
	got = step_on(walk, back);
	if (!got)
		return WALK_OK;
	ntrace_cursor_restore(walk->cursor, &mark);
	return got == 1 ? WALK_END : failed(walk, got);
}

/* From a place that may be an event to an instruction, first in one direction, then in the other one. */
static enum walk_result settle(struct walk *walk, bool back)
{
	const struct ntrace_cursor_place *place = walk_place(walk);
	int got;

	if (place && place->type == NTRACE_FLOW_BLOCK)
		return WALK_OK;
	got = step_on(walk, back);
	if (got == 1)
		got = step_on(walk, !back);
	return !got ? WALK_OK : got == 1 ? WALK_END : failed(walk, got);
}

enum walk_result walk_first(struct walk *walk)
{
	int got = ntrace_cursor_first(walk->cursor);

	return got < 0 ? failed(walk, got) : got ? WALK_END : settle(walk, false);
}

enum walk_result walk_last(struct walk *walk)
{
	int got = ntrace_cursor_last(walk->cursor);

	return got < 0 ? failed(walk, got) : got ? WALK_END : settle(walk, true);
}

/* ---- calls ---- */

/*
 * Calls are followed through all privileges: of a system call, the selected ones may contain the
 * returns and not the calls.
 */
static enum walk_result swap(struct walk *walk)
{
	struct ntrace_cursor *other = walk->whole;
	struct ntrace_cursor_mark mark;
	int error;

	if (!other)
		return WALK_OK;
	ntrace_cursor_save(walk->cursor, &mark);
	error = ntrace_cursor_restore(other, &mark);
	walk->whole = walk->cursor;
	walk->cursor = other;
	return error ? failed(walk, error) : WALK_OK;
}

/** struct trail - addresses where calls return to, innermost last */
struct trail {
	uint64_t *address;
	size_t count;
	size_t room;
	bool full;	/* out of memory */
};

/** struct here - what matters of an instruction when the next one is known */
struct here {
	uint64_t address;
	uint64_t end;
	unsigned int insn_class;
	int32_t tid;
};

static struct here here(const struct walk *walk)
{
	const struct ntrace_cursor_place *place = walk_place(walk);
	bool last = place->index + 1 == place->instructions;

	return (struct here){
		.address = place->address,
		.end = place->address + place->size,
		/* A trap came before it was executed, or where the trace was off. */
		.insn_class = last && place->flow->interrupted ? NTRACE_INSN_PLAIN :
								 place->insn_class,
		.tid = place->tid,
	};
}

static void push(struct trail *trail, uint64_t address)
{
	size_t room = trail->room ? 2 * trail->room : 64;
	uint64_t *more;

	if (trail->count == trail->room) {
		more = reallocarray(trail->address, room, sizeof(*more));
		if (!more) {
			trail->full = true;
			return;
		}
		trail->address = more;
		trail->room = room;
	}
	trail->address[trail->count++] = address;
}

/* Ends the calls up to one. Return: true if it is not in the trail, and so an outer one. */
static bool pop(struct trail *trail, uint64_t address)
{
	for (size_t i = trail->count; i-- > 0;) {
		if (trail->address[i] == address) {
			trail->count = i;
			return false;
		}
	}
	if (address == TRAIL_TRAP)
		trail->count = 0;
	return !trail->count;
}

/*
 * What a step has passed between two instructions: first the transfer of the first one, then a trap.
 * Backwards, returns begin what calls end. Return: true if control left the code that the trail began
 * in.
 */
static bool pass(const struct walk *walk, struct trail *trail, const struct here *from,
		 const struct here *to, bool back)
{
	const struct here *first = back ? to : from, *second = back ? from : to;
	uint64_t called = ntrace_insn_is_call(first->insn_class) ? first->end : 0;
	uint64_t returned = first->insn_class == NTRACE_INSN_RETURN ? second->address :
			    first->insn_class == NTRACE_INSN_TRAP_RETURN ? TRAIL_TRAP :
									   0;
	bool left = false;

	if (back && walk->trapped)
		left = pop(trail, TRAIL_TRAP);
	if (called && back)
		left |= pop(trail, called);
	else if (called)
		push(trail, called);
	if (returned && back)
		push(trail, returned);
	else if (returned)
		left |= pop(trail, returned);
	if (!back && walk->trapped)
		push(trail, TRAIL_TRAP);
	return left;
}

/*
 * Steps once, and then until all calls have ended, or until an outer one ends. Other threads of a CPU
 * are passed. @limit: number of steps, 0 = any. *left: an outer call has ended.
 */
static enum walk_result step_calls(struct walk *walk, struct trail *trail, bool back, bool out,
				   uint64_t limit, bool *left)
{
	const struct ntrace_cursor_place *place = walk_place(walk);
	int32_t tid = place ? place->tid : -1;
	enum walk_result result;
	struct here from, to;

	*left = false;
	if (!place)
		return WALK_END;
	do {
		from = here(walk);
		result = walk_step(walk, back);
		if (result)
			return result;
		if (walk->lost)
			return WALK_LOST;
		to = here(walk);
		if ((back ? to : from).tid == tid || from.tid == tid)
			*left = pass(walk, trail, &from, &to, back);
		if (trail->full)
			return failed(walk, NTRACE_ERR_NOMEM);
		if (limit && !--limit)
			return WALK_NONE;
	} while (to.tid != tid || !(*left || (!out && !trail->count)));
	return WALK_OK;
}

static enum walk_result move_calls(struct walk *walk, bool back, bool out)
{
	enum walk_result result = swap(walk), end;
	struct trail trail = { 0 };
	bool left;

	if (!result)
		result = step_calls(walk, &trail, back, out, 0, &left);
	free(trail.address);
	end = swap(walk);
	if (end)
		return end;
	/* The call may have begun, or the trace may end, in a privilege that is not shown. */
	if (!is_selected(walk)) {
		end = walk_step(walk, result ? !back : back);
		if (end == WALK_END)
			end = walk_step(walk, result ? back : !back);
	}
	return end ? end : result;
}

enum walk_result walk_over(struct walk *walk, bool back)
{
	return move_calls(walk, back, false);
}

enum walk_result walk_out(struct walk *walk, bool back)
{
	return move_calls(walk, back, true);
}

static void frame_text(struct walk *walk, struct walk_frame *frame)
{
	const struct ntrace_cursor_place *place = walk_place(walk);
	const struct ntrace_line *line = code_line(walk->code, place);
	char name[300];
	const char *slash;

	frame->address = place->address;
	code_name(place, name, sizeof(name));
	if (!line || !line->line) {
		snprintf(frame->text, sizeof(frame->text), "%s", name);
		return;
	}
	slash = strrchr(line->file, '/');
	snprintf(frame->text, sizeof(frame->text), "%s %.80s:%u", name,
		 slash ? slash + 1 : line->file, line->line);
}

size_t walk_stack(struct walk *walk, struct walk_frame *frames, const char **why)
{
	uint64_t end = walk->steps + STACK_STEPS;
	enum walk_result result;
	struct ntrace_cursor_mark mark;
	struct walk saved = *walk;
	struct trail trail = { 0 };
	size_t count = 0;
	bool left;

	*why = "the trace is empty";
	if (!walk_place(walk))
		return 0;
	ntrace_cursor_save(walk->cursor, &mark);
	result = swap(walk);
	while (count < WALK_FRAMES && !result) {
		if (is_selected(walk))
			frame_text(walk, &frames[count++]);
		trail.count = 0;
		result = walk->steps < end ?
				 step_calls(walk, &trail, true, true, end - walk->steps, &left) :
				 WALK_NONE;
	}
	*why = result == WALK_END  ? "the trace begins here" :
	       result == WALK_LOST ? "trace was lost before" :
	       result == WALK_OK   ? "more frames" :
				     "earlier calls are too far away";
	free(trail.address);
	swap(walk);
	ntrace_cursor_restore(walk->cursor, &mark);
	saved.steps = walk->steps;
	*walk = saved;
	return count;
}

/* ---- lines ---- */

struct line_place {
	const char *file;
	uint32_t line;
};

/* Return: false if the instruction has no line. */
static bool at_line(const struct walk *walk, struct line_place *at)
{
	const struct ntrace_line *line = code_line(walk->code, walk_place(walk));

	*at = (struct line_place){ 0 };
	if (!line || !line->line)
		return false;
	*at = (struct line_place){ line->file, line->line };
	return true;
}

static bool same_line(const struct line_place *a, const struct line_place *b)
{
	return a->file && b->file && a->line == b->line && !strcmp(a->file, b->file);
}

static enum walk_result move(struct walk *walk, bool back, bool over)
{
	return over ? walk_over(walk, back) : walk_step(walk, back);
}

/* To the beginning of the line that the place is in. @moved: set if it was not there. */
static enum walk_result line_start(struct walk *walk, bool over, bool *moved)
{
	struct ntrace_cursor_mark mark;
	struct line_place line, now;
	enum walk_result result;
	int error;

	*moved = false;
	if (!at_line(walk, &line))
		return WALK_OK;
	for (;;) {
		ntrace_cursor_save(walk->cursor, &mark);
		result = move(walk, true, over);
		if (result == WALK_END)
			return WALK_OK;
		if (result == WALK_STOPPED || result == WALK_FAILED)
			return result;
		if (result || !at_line(walk, &now) || !same_line(&line, &now))
			break;
		*moved = true;
	}
	error = ntrace_cursor_restore(walk->cursor, &mark);
	return error ? failed(walk, error) : WALK_OK;
}

static enum walk_result line_back(struct walk *walk, bool over)
{
	enum walk_result result;
	struct line_place line;
	bool moved;

	result = line_start(walk, over, &moved);
	if (result || moved)
		return result;
	do
		result = move(walk, true, over);
	while (!result && !at_line(walk, &line));
	return result ? result : line_start(walk, over, &moved);
}

enum walk_result walk_line(struct walk *walk, bool back, bool over)
{
	struct line_place line, now;
	enum walk_result result;

	if (!walk_place(walk))
		return WALK_END;
	if (back)
		return line_back(walk, over);
	at_line(walk, &line);
	do
		result = move(walk, false, over);
	while (!result && (!at_line(walk, &now) || same_line(&line, &now)));
	return result;
}

/* ---- searches ---- */

/* "FILE:LINE": the length of FILE; 0 = it is something else, such as a::b. */
static size_t file_length(const char *what, unsigned long *line)
{
	const char *colon = strrchr(what, ':');
	char *end;

	if (!colon || colon == what || colon[-1] == ':' || !isdigit((unsigned char)colon[1]))
		return 0;
	*line = strtoul(colon + 1, &end, 10);
	return *end ? 0 : (size_t)(colon - what);
}

/* Whether a path ends with the name, at a directory. */
static bool names_file(const char *path, const char *name, size_t length)
{
	size_t size = strlen(path);

	return size >= length && !strncmp(path + size - length, name, length) &&
	       (size == length || name[0] == '/' || path[size - length - 1] == '/');
}

/* Where the line begins: the instruction before is of another line. Backwards, its last execution. */
static enum walk_result find_line(struct walk *walk, const char *file, size_t length,
				  unsigned long wanted, bool back)
{
	struct line_place now, before;
	struct ntrace_cursor_mark mark;
	enum walk_result result;
	bool moved;
	int error;

	ntrace_cursor_save(walk->cursor, &mark);
	at_line(walk, &before);
	while (!(result = walk_step(walk, back))) {
		if (at_line(walk, &now) && now.line == wanted && !same_line(&now, &before) &&
		    names_file(now.file, file, length))
			return back ? line_start(walk, false, &moved) : WALK_OK;
		before = now;
	}
	error = ntrace_cursor_restore(walk->cursor, &mark);
	if (error)
		return failed(walk, error);
	return result == WALK_END ? WALK_NONE : result;
}

enum walk_result walk_find(struct walk *walk, const char *what, bool back)
{
	unsigned long line = 0;
	uint64_t address;
	size_t length;
	char *end;
	int got;

	if (!walk_place(walk))
		return WALK_NONE;
	length = file_length(what, &line);
	if (length)
		return find_line(walk, what, length, line, back);
	if (!strncmp(what, "0x", 2)) {
		address = strtoull(what, &end, 16);
		if (*end || end == what + 2)
			return WALK_NONE;
		got = ntrace_cursor_seek_address(walk->cursor, address, back);
	} else {
		got = ntrace_cursor_seek_function(walk->cursor, what, back);
	}
	return got < 0 ? failed(walk, got) : got ? WALK_NONE : WALK_OK;
}

/* Notes the error that explains the gap here: it comes before. */
static void note_reason(struct walk *walk)
{
	struct ntrace_cursor_mark mark;

	ntrace_cursor_save(walk->cursor, &mark);
	if (!ntrace_cursor_prev(walk->cursor) && walk_place(walk)->type == NTRACE_FLOW_ERROR)
		note_event(walk, walk_place(walk)->flow, false);
	ntrace_cursor_restore(walk->cursor, &mark);
}

enum walk_result walk_gap(struct walk *walk, bool back)
{
	struct ntrace_cursor_mark mark;
	int got;

	if (!walk_place(walk))
		return WALK_NONE;
	ntrace_cursor_save(walk->cursor, &mark);
	got = ntrace_cursor_seek_type(walk->cursor, NTRACE_FLOW_GAP, back);
	if (!got) {
		note_reason(walk);
		note_event(walk, walk_place(walk)->flow, back);
		got = step_on(walk, back);
	}
	if (!got)
		return WALK_OK;
	ntrace_cursor_restore(walk->cursor, &mark);
	return got < 0 ? failed(walk, got) : WALK_NONE;
}

enum walk_result walk_time(struct walk *walk, uint64_t ticks)
{
	int got = ntrace_cursor_seek_time(walk->cursor, ticks);
	enum walk_result result;

	if (got <= 0)
		return got ? failed(walk, got) : settle(walk, false);
	result = walk_last(walk);
	return result == WALK_OK ? WALK_END : result;
}
