// SPDX-License-Identifier: GPL-2.0-only
/* The packets of a debugger ("GDB Remote Serial Protocol", Packets). */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ntrace/text.h>

#include "common/ui.h"
#include "remote_parts.h"

/* Lines about gaps while the debugger waits for a stop. */
#define GAPS_SHOWN 3

struct history_place *remote_place(struct remote *remote, size_t index)
{
	struct remote_thread *thread = &remote->thread[index];

	if (!thread->placed)
		thread->place = history_seek(remote->target->history, remote->target->thread[index],
					     thread->high);
	thread->placed = true;
	return &thread->place;
}

struct remote *remote_new(struct target *target)
{
	struct remote *remote = calloc(1, sizeof(*remote));

	if (!remote)
		return NULL;
	remote->thread = calloc(target->threads, sizeof(*remote->thread));
	if (!remote->thread) {
		free(remote);
		return NULL;
	}
	remote->target = target;
	remote->current = remote->resumed = target->current;
	for (size_t i = 0; i < target->threads; i++)
		remote->thread[i].high = remote_thread_history(remote, i)->instructions - 1;
	packet_init(&remote->packets);
	remote->history = REMOTE_HISTORY;
	return remote;
}

void remote_free(struct remote *remote)
{
	if (!remote)
		return;
	remote_files_close(remote);
	packet_free(&remote->packets);
	free(remote->document.bytes);
	free(remote->thread);
	free(remote);
}

const struct history_thread *remote_thread_history(const struct remote *remote, size_t index)
{
	return &remote->target->history->thread[remote->target->thread[index]];
}

/* ---- text ---- */

bool remote_hex(const char **text, uint64_t *number)
{
	char *end;

	/* strtoull() would accept blanks, signs and 0x. */
	if (!**text || !strchr("0123456789abcdefABCDEF", **text))
		return false;
	*number = strtoull(*text, &end, 16);
	*text = end;
	return true;
}

size_t remote_unhex(const char *text, char *bytes, size_t size)
{
	size_t count = 0;
	unsigned int byte;

	while (count + 1 < size && sscanf(text, "%2x", &byte) == 1 && text[0] && text[1]) {
		bytes[count++] = (char)byte;
		text += 2;
	}
	bytes[count] = '\0';
	return count;
}

void remote_error(struct remote *remote, const char *text)
{
	packet_begin(&remote->packets);
	packet_format(&remote->packets, "E.%s", text);
}

static void reply(struct remote *remote, const char *text)
{
	packet_text(&remote->packets, text);
}

/* Text that the debugger prints while it waits for a stop. */
static void console(struct remote *remote, const char *text)
{
	packet_begin(&remote->packets);
	reply(remote, "O");
	/* Names in it may have control characters. */
	for (; *text; text++)
		packet_hex(&remote->packets,
			   strchr("\n\t", *text) || (unsigned char)*text >= ' ' ? text : "?", 1);
	packet_send(&remote->packets);
}

static void command_refuse(struct remote *remote, char *text)
{
	(void)text;
	remote_error(remote, "a trace cannot be changed: ntrace refuses writes");
}

/* ---- breakpoints ---- */

/* The search for any breakpoint or watchpoint. */
static struct history_search breakpoints(const struct remote *remote)
{
	return (struct history_search){
		.address = remote->address,
		.count = remote->breakpoints,
		.watch = remote->watch,
		.watches = remote->watches,
	};
}

static void sort_breakpoints(struct remote *remote)
{
	for (size_t i = 0; i < remote->breakpoints; i++)
		remote->address[i] = remote->breakpoint[i].address;
	history_sort(remote->address, remote->breakpoints);
}

/* Z2,ADDRESS,SIZE: only tandem traces and values tell stores. */
static void command_watchpoint(struct remote *remote, const char *at, bool insert)
{
	struct history_watch wanted;
	uint64_t size;
	size_t i;

	if (!remote_hex(&at, &wanted.first) || *at++ != ',' || !remote_hex(&at, &size) || !size) {
		reply(remote, "E01");
		return;
	}
	wanted.last = wanted.first + size - 1;
	for (i = 0; i < remote->watches; i++)
		if (remote->watch[i].first == wanted.first && remote->watch[i].last == wanted.last)
			break;
	if (insert && i == REMOTE_WATCHPOINTS_MAX) {
		remote_error(remote, "too many watchpoints");
		return;
	}
	if (insert && i == remote->watches)
		remote->watch[remote->watches++] = wanted;
	else if (!insert && i < remote->watches)
		remote->watch[i] = remote->watch[--remote->watches];
	reply(remote, "OK");
}

static void command_breakpoint(struct remote *remote, char *text, bool insert)
{
	const char *at = text + 2;
	struct remote_breakpoint wanted = { .hardware = text[0] == '1' };
	size_t i;

	if (text[0] == '2' && text[1] == ',' &&
	    (remote->target->history->replay || remote->target->history->valued)) {
		command_watchpoint(remote, text + 2, insert);
		return;
	}
	/* An empty reply: not supported. */
	if ((text[0] != '0' && text[0] != '1') || text[1] != ',')
		return;
	if (!remote_hex(&at, &wanted.address)) {
		reply(remote, "E01");
		return;
	}
	for (i = 0; i < remote->breakpoints; i++)
		if (remote->breakpoint[i].address == wanted.address &&
		    remote->breakpoint[i].hardware == wanted.hardware)
			break;
	if (insert && i == remote->breakpoints) {
		if (i == REMOTE_BREAKPOINTS_MAX) {
			remote_error(remote, "too many breakpoints");
			return;
		}
		remote->breakpoint[remote->breakpoints++] = wanted;
	} else if (!insert && i < remote->breakpoints) {
		remote->breakpoint[i] = remote->breakpoint[--remote->breakpoints];
	}
	sort_breakpoints(remote);
	reply(remote, "OK");
}

static void command_insert(struct remote *remote, char *text)
{
	command_breakpoint(remote, text, true);
}

static void command_remove(struct remote *remote, char *text)
{
	command_breakpoint(remote, text, false);
}

/* ---- steps ---- */

static void passed_gap(void *data, const char *gap)
{
	struct remote *remote = data;
	char text[500], *room;

	if (++remote->gaps_passed > GAPS_SHOWN)
		return;
	snprintf(text, sizeof(text), "ntrace: code is missing here: %.400s\n", gap);
	console(remote, ui_clean("\n", text, &room));
	free(room);
}

static void stop_reply(struct remote *remote, const char *why)
{
	uint64_t pc = history_pc(remote->target->history, remote_place(remote, remote->current));
	uint8_t bytes[8];
	size_t i;

	packet_format(&remote->packets, "T05%s", why);
	for (i = 0; !*why && i < remote->breakpoints; i++)
		if (remote->breakpoint[i].address == pc)
			break;
	if (!*why && i < remote->breakpoints) {
		if (remote->breakpoint[i].hardware && remote->hwbreak)
			reply(remote, "hwbreak:;");
		else if (!remote->breakpoint[i].hardware && remote->swbreak)
			reply(remote, "swbreak:;");
	}
	packet_format(&remote->packets,
		      "thread:%" PRIx64 ";%x:", target_tid(remote->target, remote->current),
		      REMOTE_PC);
	remote_pc_bytes(remote, bytes);
	packet_hex(&remote->packets, bytes, remote->target->xlen / 8);
	reply(remote, ";");
}

/*
 * Stops after a step or at what was found; @watched: before a store to this address, NULL = at none.
 * As triggers of RISC-V do: GDB then steps over the store, in its direction, and compares the value.
 */
static void found_reply(struct remote *remote, const uint64_t *watched)
{
	char why[40] = "";

	if (watched)
		snprintf(why, sizeof(why), "watch:%" PRIx64 ";", *watched);
	stop_reply(remote, why);
}

/* Number of instructions up to an end of the window. */
static uint64_t steps_left(const struct remote_thread *thread, bool back)
{
	uint64_t number = thread->placed ? history_number(&thread->place) : thread->high;

	if (back)
		return number > thread->low ? number - thread->low : 0;
	return number < thread->high ? thread->high - number : 0;
}

static void end_of_trace(struct remote *remote, bool back)
{
	const struct remote_thread *thread = &remote->thread[remote->current];
	const struct history_thread *whole = remote_thread_history(remote, remote->current);

	if (back ? thread->low > 0 : thread->high + 1 < whole->instructions)
		console(remote, "ntrace: end of the window: 'monitor window' moves it\n");
	stop_reply(remote, back ? "replaylog:begin;" : "replaylog:end;");
}

static void finish_move(struct remote *remote)
{
	char text[80];

	if (remote->gaps_passed > GAPS_SHOWN) {
		snprintf(text, sizeof(text), "ntrace: code is missing in %" PRIu64 " more places\n",
			 remote->gaps_passed - GAPS_SHOWN);
		console(remote, text);
	}
	remote->gaps_passed = 0;
}

/* Steps once, or, with a range, until the pc leaves it or meets a breakpoint. */
static void step(struct remote *remote, bool back, uint64_t start, uint64_t end)
{
	struct history_place *place = remote_place(remote, remote->current);
	uint64_t left = steps_left(&remote->thread[remote->current], back), pc;
	const struct history_search stops = breakpoints(remote);
	struct history *history = remote->target->history;
	bool ended, stored = false;
	uint64_t address;
	const char *gap;

	do {
		stored = left && history_stores(history, place, back, &stops, &address);
		ended = !stored && (!left-- || !history_step(history, place, back, &gap));
		if (ended || stored)
			break;
		if (gap)
			passed_gap(remote, gap);
		pc = history_pc(history, place);
	} while (!gap && pc >= start && pc < end && !history_has(&stops, pc));
	finish_move(remote);
	if (ended)
		end_of_trace(remote, back);
	else
		found_reply(remote, stored ? &address : NULL);
}

static void go(struct remote *remote, bool back)
{
	struct history_place *place = remote_place(remote, remote->current);
	const struct remote_thread *thread = &remote->thread[remote->current];
	struct history_search search = breakpoints(remote);
	struct history *history = remote->target->history;
	uint64_t address, from = steps_left(thread, back);
	bool found = false, stored;

	search.limit = back ? thread->low : thread->high;
	search.passed = passed_gap;
	search.data = remote;
	if (from)
		found = history_find(history, place, back, &search);
	finish_move(remote);
	/* A breakpoint at a store comes first. */
	stored = found && history_stores(history, place, back, &search, &address) &&
		 (steps_left(thread, back) == from ||
		  !history_has(&search, history_pc(history, place)));
	if (!found)
		end_of_trace(remote, back);
	else
		found_reply(remote, stored ? &address : NULL);
}

/**
 * struct turn - a thread that looks for a breakpoint, in turns with others
 * @order: of its place
 * @ended: it has found none
 */
struct turn {
	struct history_place place;
	uint64_t order;
	bool ended;
};

/* The thread that is next in the direction of time, but for @other. Return: their number if there is none */
static size_t next_turn(const struct turn *turns, size_t count, size_t other, bool back)
{
	size_t next = count;

	for (size_t i = 0; i < count; i++) {
		if (turns[i].ended || i == other)
			continue;
		if (next == count || (back ? turns[i].order > turns[next].order :
					     turns[i].order < turns[next].order))
			next = i;
	}
	return next;
}

/*
 * The thread that meets a breakpoint first, in the direction of time. The threads take turns, so that
 * they decode the same trace. Return: false if none does, or when out of memory
 */
static bool find_first(struct remote *remote, bool back, size_t *first)
{
	size_t count = remote->target->threads, at;
	struct history *history = remote->target->history;
	struct turn *turns = calloc(count, sizeof(*turns));
	struct history_search search = breakpoints(remote);
	bool found = false;

	for (size_t i = 0; turns && i < count; i++) {
		turns[i].ended = !search.count || !steps_left(&remote->thread[i], back);
		if (turns[i].ended)
			continue;
		turns[i].place = *remote_place(remote, i);
		turns[i].order = history_order(history, &turns[i].place);
	}
	while (turns && !found && (at = next_turn(turns, count, count, back)) < count) {
		const struct remote_thread *thread = &remote->thread[at];
		size_t other = next_turn(turns, count, at, back);
		uint64_t before = history_number(&turns[at].place);

		search.limit = back ? thread->low : thread->high;
		search.bounded = other < count;
		search.until = search.bounded ? turns[other].order : 0;
		found = history_find(history, &turns[at].place, back, &search);
		turns[at].order = history_order(history, &turns[at].place);
		/* At its limit, or where the trace ends. */
		turns[at].ended = !search.bounded ||
				  history_number(&turns[at].place) == search.limit ||
				  history_number(&turns[at].place) == before;
		*first = at;
	}
	free(turns);
	return found;
}

/* Moves the other threads to the same time. */
static void follow(struct remote *remote, bool back)
{
	struct history *history = remote->target->history;
	uint64_t order = history_order(history, remote_place(remote, remote->current));

	for (size_t i = 0; i < remote->target->threads; i++) {
		struct remote_thread *thread = &remote->thread[i];
		uint64_t own, number;

		if (i == remote->current)
			continue;
		own = history_order(history, remote_place(remote, i));
		if (back ? own <= order : own >= order)
			continue;
		history_at_order(history, &thread->place, order);
		number = history_number(&thread->place);
		if (number < thread->low || number > thread->high)
			thread->place =
				history_seek(history, thread->place.thread,
					     number < thread->low ? thread->low : thread->high);
		thread->sent = false;
	}
}

/* Continues the current thread, or all of them. */
static void proceed(struct remote *remote, bool back)
{
	if (!remote->all || remote->target->threads == 1) {
		go(remote, back);
		return;
	}
	find_first(remote, back, &remote->current);
	remote->resumed = remote->current;
	go(remote, back);
	follow(remote, back);
}

static void command_continue(struct remote *remote, char *text)
{
	(void)text;
	remote->current = remote->resumed;
	proceed(remote, false);
}

static void command_step(struct remote *remote, char *text)
{
	(void)text;
	remote->current = remote->resumed;
	step(remote, false, 0, 0);
}

static void command_back(struct remote *remote, char *text)
{
	remote->current = remote->resumed;
	if (!strcmp(text, "s"))
		step(remote, true, 0, 0);
	else if (!strcmp(text, "c"))
		proceed(remote, true);
}

/* ---- threads ---- */

/* An id like p1.2, 2, 0 or -1: the last two stand for the current thread. */
static bool find_thread(const struct remote *remote, const char *text, size_t *index)
{
	const char *at = text;
	uint64_t id;

	if (*at == 'p' && strchr(at, '.'))
		at = strchr(at, '.') + 1;
	*index = remote->current;
	if (!strncmp(at, "-1", 2))
		return true;
	if (!remote_hex(&at, &id))
		return false;
	for (size_t i = 0; id && i < remote->target->threads; i++) {
		if (target_tid(remote->target, i) == id) {
			*index = i;
			return true;
		}
	}
	return !id;
}

static void command_thread(struct remote *remote, char *text)
{
	size_t index;

	if ((*text != 'g' && *text != 'c') || !find_thread(remote, text + 1, &index)) {
		reply(remote, "E01");
		return;
	}
	if (*text == 'g')
		remote->current = index;
	else
		remote->all = text[1] == '0' || text[1] == '-';
	remote->resumed = index;
	reply(remote, "OK");
}

static void command_alive(struct remote *remote, char *text)
{
	size_t index;

	reply(remote, find_thread(remote, text, &index) ? "OK" : "E01");
}

static void command_stop_reason(struct remote *remote, char *text)
{
	(void)text;
	stop_reply(remote, "");
}

/* vCont;ACTION[:THREAD]...: the first action that names a thread moves it; other threads stand still. */
static void resume(struct remote *remote, const char *text)
{
	uint64_t start = 0, end = 0;
	size_t index = remote->current;
	const char *at = text + 1, *colon;
	char action = *text ? *at : '\0';

	if (*text != ';' || !strchr("cCsSr", action) || !action) {
		reply(remote, "E01");
		return;
	}
	at++;
	if (action == 'r' && (!remote_hex(&at, &start) || *at++ != ',' || !remote_hex(&at, &end))) {
		reply(remote, "E01");
		return;
	}
	colon = strpbrk(at, ":;");
	if (colon && *colon == ':' && !find_thread(remote, colon + 1, &index)) {
		reply(remote, "E01");
		return;
	}
	remote->current = remote->resumed = index;
	remote->all = !colon || *colon != ':';
	if (action == 'c' || action == 'C')
		proceed(remote, false);
	else
		step(remote, false, start, end);
}

static void command_multi(struct remote *remote, char *text)
{
	if (!strcmp(text, "Cont?")) {
		reply(remote, "vCont;c;C;s;S;r");
	} else if (!strncmp(text, "Cont", 4)) {
		resume(remote, text + 4);
	} else if (!strncmp(text, "File:", 5)) {
		remote_file(remote, text + 5);
	} else if (!strncmp(text, "Kill", 4)) {
		remote->ended = true;
		reply(remote, "OK");
	}
	/* Others, vMustReplyEmpty among them: not supported. */
}

/* ---- queries ---- */

static void supported(struct remote *remote, const char *text)
{
	remote->swbreak = strstr(text, "swbreak+");
	remote->hwbreak = strstr(text, "hwbreak+");
	packet_format(
		&remote->packets,
		"PacketSize=%x;QStartNoAckMode+;vContSupported+;ReverseStep+;ReverseContinue+;"
		"swbreak+;hwbreak+;qXfer:features:read+;qXfer:threads:read+;"
		"qXfer:exec-file:read+",
		PACKET_MAX);
	/* GDB knows no values in a branch trace. */
	if (!remote->target->history->replay)
		reply(remote,
		      ";qXfer:btrace:read+;qXfer:btrace-conf:read+;Qbtrace:bts+;Qbtrace:off+");
	if (remote->target->process)
		reply(remote, ";qXfer:libraries:read+;qXfer:libraries-svr4:read+;qXfer:auxv:read+");
}

static void thread_list(struct remote *remote)
{
	for (size_t i = 0; i < remote->target->threads; i++)
		packet_format(&remote->packets, "%c%" PRIx64, i ? ',' : 'm',
			      target_tid(remote->target, i));
}

static void thread_text(struct remote *remote, const char *id)
{
	size_t index;

	if (find_thread(remote, id, &index)) {
		char *room;
		const char *name =
			ntrace_text_clean(remote_thread_history(remote, index)->name, &room);

		packet_hex(&remote->packets, name, strlen(name));
		free(room);
	} else {
		reply(remote, "E01");
	}
}

/* Programs are at their addresses, or moved as a whole. GDB asks AT_ENTRY instead with GNU/Linux. */
static void offsets(struct remote *remote)
{
	const struct target *target = remote->target;

	if (target->exec >= 0 && target->module[target->exec].bias) {
		uint64_t bias = target->module[target->exec].bias;

		if (target->xlen == 32)
			bias &= UINT32_MAX;
		packet_format(&remote->packets, "Text=%" PRIx64 ";Data=%" PRIx64 ";Bss=%" PRIx64,
			      bias, bias, bias);
	}
}

static void monitor(struct remote *remote, const char *digits)
{
	struct packet_output output = { 0 };
	char command[1000];

	remote_unhex(digits, command, sizeof(command));
	remote_monitor(remote, command, &output);
	packet_hex(&remote->packets, output.bytes, output.size);
	free(output.bytes);
	if (!output.size)
		reply(remote, "OK");
}

static void command_query(struct remote *remote, char *text)
{
	if (!strncmp(text, "Supported", 9)) {
		supported(remote, text);
	} else if (!strncmp(text, "Xfer:", 5)) {
		remote_transfer(remote, text + 5);
	} else if (!strncmp(text, "Rcmd,", 5)) {
		monitor(remote, text + 5);
	} else if (!strcmp(text, "fThreadInfo")) {
		thread_list(remote);
	} else if (!strcmp(text, "sThreadInfo")) {
		reply(remote, "l");
	} else if (!strncmp(text, "ThreadExtraInfo,", 16)) {
		thread_text(remote, text + 16);
	} else if (!strcmp(text, "C")) {
		packet_format(&remote->packets, "QC%" PRIx64,
			      target_tid(remote->target, remote->current));
	} else if (!strncmp(text, "Attached", 8)) {
		/* Attached: the debugger detaches at its end, and does not kill. */
		reply(remote, "1");
	} else if (!strcmp(text, "Offsets")) {
		offsets(remote);
	} else if (!strncmp(text, "Symbol:", 7)) {
		reply(remote, "OK");
	}
}

static void command_set(struct remote *remote, char *text)
{
	struct remote_thread *thread = &remote->thread[remote->current];

	if (!strcmp(text, "StartNoAckMode")) {
		reply(remote, "OK");
		packet_send(&remote->packets);
		remote->packets.acknowledge = false;
	} else if (!strcmp(text, "btrace:bts")) {
		thread->branches = true;
		thread->sent = false;
		reply(remote, "OK");
	} else if (!strcmp(text, "btrace:off")) {
		if (!thread->branches)
			remote_error(remote, "branch trace is not enabled");
		else
			reply(remote, "OK");
		thread->branches = false;
	}
}

/* ---- the end ---- */

static void command_detach(struct remote *remote, char *text)
{
	(void)text;
	remote->ended = true;
	reply(remote, "OK");
}

static void command_kill(struct remote *remote, char *text)
{
	(void)text;
	remote->ended = true;
}

static const struct {
	char letter;
	bool silent;	/* no reply */
	void (*run)(struct remote *remote, char *text);
} commands[] = {
	{ '?', false, command_stop_reason }, { 'D', false, command_detach },
	{ 'G', false, command_refuse },	     { 'H', false, command_thread },
	{ 'M', false, command_refuse },	     { 'P', false, command_refuse },
	{ 'Q', false, command_set },	     { 'T', false, command_alive },
	{ 'X', false, command_refuse },	     { 'Z', false, command_insert },
	{ 'b', false, command_back },	     { 'c', false, command_continue },
	{ 'C', false, command_continue },    { 'g', false, remote_registers },
	{ 'k', true, command_kill },	     { 'm', false, remote_memory },
	{ 'p', false, remote_register },    { 'q', false, command_query },
	{ 's', false, command_step },	     { 'S', false, command_step },
	{ 'v', false, command_multi },	     { 'z', false, command_remove },
};

static void take_packet(struct remote *remote)
{
	char *text = remote->packets.data;
	bool acknowledge = remote->packets.acknowledge;
	size_t i;

	packet_begin(&remote->packets);
	for (i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		if (commands[i].letter == text[0])
			break;
	if (i == sizeof(commands) / sizeof(commands[0])) {
		/* The empty reply: not supported. */
		packet_send(&remote->packets);
		return;
	}
	commands[i].run(remote, text + 1);
	/* QStartNoAckMode has sent its reply. */
	if (!commands[i].silent && acknowledge == remote->packets.acknowledge)
		packet_send(&remote->packets);
}

bool remote_input(struct remote *remote, const void *bytes, size_t size)
{
	const uint8_t *at = bytes;

	for (size_t i = 0; i < size && !remote->ended; i++) {
		switch (packet_byte(&remote->packets, at[i])) {
		case PACKET_COMPLETE:
			take_packet(remote);
			break;
		case PACKET_TOO_LONG:
			remote_error(remote, "the packet is longer than PacketSize");
			packet_send(&remote->packets);
			break;
		case PACKET_REFUSED:
			return false;
		default:
			break;
		}
	}
	return !remote->packets.out.failed;
}

bool remote_start(struct remote *remote, const char *command, char **text)
{
	struct packet_output output = { 0 };
	bool done = remote_monitor(remote, command, &output);

	packet_append(&output, "", 1);
	*text = output.bytes;
	return done;
}
