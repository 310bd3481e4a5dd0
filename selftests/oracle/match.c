// SPDX-License-Identifier: GPL-2.0-only
#include <inttypes.h>
#include <string.h>

#include "match.h"

/* Reads the log's next instruction in the mask, before mutation. */
static int take(struct match *match, struct oracle_insn *insn)
{
	int result;

	while ((result = oracle_log_next(match->log, insn)) == 1) {
		if (match->priv_mask >> insn->priv & 1)
			return 1;
		if (!match->left_mask)
			match->excursions++;
		match->left_mask = true;
	}
	return result;
}

static int take_mutated(struct match *match, struct oracle_insn *insn)
{
	int result;

	if (match->has_again) {
		match->has_again = false;
		*insn = match->again;
		return 1;
	}
	result = take(match, insn);
	if (result != 1 || match->mutation == MATCH_INTACT || match->taken++ != match->mutate_at)
		return result;
	switch (match->mutation) {
	case MATCH_ALTER:
		insn->address ^= 2;
		break;
	case MATCH_DROP:
		return take(match, insn);
	case MATCH_ADD:
		match->again = *insn;
		match->has_again = true;
		break;
	default:
		break;
	}
	return 1;
}

static int next_logged(struct match *match, struct oracle_insn *insn)
{
	int result;

	if (match->queue_next < match->queue_count) {
		*insn = match->queue[match->queue_next++];
		return 1;
	}
	if (match->log_ended)
		return 0;
	result = take_mutated(match, insn);
	if (result == 0)
		match->log_ended = true;
	return result;
}

static int differ(struct match *match, const char *why, uint64_t address, unsigned int size)
{
	match->why = why;
	match->wrong[0] = (struct match_place){ address, (uint8_t)size };
	match->wrong_count = 1;
	return 0;
}

/*
 * Compares the log's trap mark with the trace's. After a privilege that is not traced, a handler
 * begins with a synchronization, so there is nothing to check.
 */
static const char *check_trap(struct match *match, const struct oracle_insn *logged)
{
	bool reported = match->trap_pending;
	bool first = !match->compared || logged->section != match->previous.section;

	match->trap_pending = false;
	if (match->left_mask)
		return NULL;
	if (reported) {
		/* A trap at the very start: the log has nothing before the handler. */
		if (!logged->trap)
			return first ? NULL : "the trace has a trap where the hart took none";
		if (!match->trap_any && match->trap_interrupt != logged->interrupt)
			return "interrupt and exception are mixed up";
		match->traps++;
		match->interrupts += logged->interrupt;
		match->causes[logged->interrupt][logged->cause % 32]++;
		return NULL;
	}
	if (logged->trap && match->compared)
		return "the hart took a trap that the trace does not have";
	return NULL;
}

/*
 * Reads the log's next instruction. Skips the store that stops tracing, at the end of a section, if
 * the trace does not have it.
 */
static int next_of_sections(struct match *match, struct oracle_insn *logged, uint64_t address)
{
	struct oracle_insn next;
	int result = next_logged(match, logged);

	if (!match->sections || result != 1 || logged->address == address)
		return result;
	result = next_logged(match, &next);
	if (result == 1 && next.section == logged->section) {
		match->queue[0] = next;
		match->queue_next = 0;
		match->queue_count = 1;
		return 1;
	}
	match->tail_log++;
	*logged = next;
	return result;
}

static int compare_one(struct match *match, uint64_t address, unsigned int size)
{
	struct oracle_insn logged;
	const char *why;
	int result = next_of_sections(match, &logged, address);

	if (result < 0)
		return differ(match, match->log->error, address, size);
	if (result == 0) {
		if (match->log->closed && match->log->remote_stop &&
		    match->tail_decoded < MATCH_END_MAX) {
			match->tail_decoded++;
			return 0;
		}
		return differ(match, "the trace goes on where the log ends", address, size);
	}
	why = check_trap(match, &logged);
	if (logged.address != address)
		why = "another instruction";
	else if (logged.size != size)
		why = "another size of the instruction";
	if (why) {
		match->wrong_log = logged;
		match->wrong_log_valid = true;
		return differ(match, why, address, size);
	}
	match->past[match->compared % MATCH_CONTEXT] =
		(struct match_place){ address, (uint8_t)size };
	match->compared++;
	match->previous = logged;
	match->left_mask = false;
	return 0;
}

/* Counts the decoded instructions from @i that agree with logged ones from @j. */
static unsigned int agreement(const struct match *match, unsigned int i, unsigned int j)
{
	unsigned int count = 0;

	while (i < match->head_count && j < match->queue_count &&
	       match->head[i].address == match->queue[j].address) {
		i++;
		j++;
		count++;
	}
	return i == match->head_count || j == match->queue_count ? count : 0;
}

/* Only one block may differ, so the skipped instructions must be sequential. */
static bool head_is_block(const struct match *match, unsigned int decoded, unsigned int logged)
{
	for (unsigned int i = 1; i < decoded; i++)
		if (match->head[i].address != match->head[i - 1].address + match->head[i - 1].size)
			return false;
	for (unsigned int i = 1; i < logged; i++)
		if (match->queue[i].address !=
		    match->queue[i - 1].address + match->queue[i - 1].size)
			return false;
	return true;
}

/* Another hart started tracing: finds where the two sequences meet, then compares. */
static int align(struct match *match)
{
	unsigned int best = UINT32_MAX, skip_decoded = 0, skip_logged = 0;

	match->aligned = true;
	while (match->queue_count < MATCH_END_MAX &&
	       take_mutated(match, &match->queue[match->queue_count]) == 1)
		match->queue_count++;
	for (unsigned int i = 0; i < match->head_count; i++) {
		for (unsigned int j = 0; j < match->queue_count && i + j < best; j++) {
			if (agreement(match, i, j) && head_is_block(match, i, j)) {
				best = i + j;
				skip_decoded = i;
				skip_logged = j;
			}
		}
	}
	match->head_decoded = skip_decoded;
	match->head_log = skip_logged;
	match->queue_next = skip_logged;
	match->trap_pending = false;
	for (unsigned int i = skip_decoded; i < match->head_count && !match->why; i++)
		compare_one(match, match->head[i].address, match->head[i].size);
	return 0;
}

void match_begin(struct match *match)
{
	match->aligned = !match->log->remote_start;
}

void match_trap(struct match *match, unsigned int btype)
{
	match->trap_pending = true;
	match->trap_interrupt = btype == 3;
	match->trap_any = btype == 1;
}

int match_insn(struct match *match, uint64_t address, unsigned int size)
{
	if (match->why) {
		if (match->wrong_count > MATCH_CONTEXT)
			return 1;
		match->wrong[match->wrong_count++] = (struct match_place){ address, (uint8_t)size };
		return 0;
	}
	if (match->aligned)
		return compare_one(match, address, size);
	/* Do not check traps this early: their place depends on the alignment. */
	match->trap_pending = false;
	match->head[match->head_count++] = (struct match_place){ address, (uint8_t)size };
	return match->head_count == MATCH_END_MAX ? align(match) : 0;
}

/* The rest may be the store that stops tracing; later sections belong to another recording. */
static int end_of_sections(struct match *match)
{
	const unsigned int section = match->previous.section;
	struct oracle_insn insn;
	unsigned int left = 0;

	while (next_logged(match, &insn) == 1 && (match->last || insn.section == section))
		left++;
	match->tail_log += left;
	if (left > 1)
		match->why = "the trace ends where the hart went on";
	else if (match->log->error)
		match->why = match->log->error;
	return match->why ? 1 : 0;
}

void match_settle(struct match *match)
{
	if (!match->why && !match->aligned)
		align(match);
}

int match_next(struct match *match, struct oracle_insn *insn)
{
	return next_logged(match, insn);
}

int match_end(struct match *match)
{
	struct oracle_insn insn, last = { 0 };
	unsigned int left = 0, jumps = 0;
	int result;

	match_settle(match);
	if (match->why)
		return 1;
	if (match->sections)
		return end_of_sections(match);
	while ((result = next_logged(match, &insn)) == 1) {
		if (!left++) {
			match->wrong_log = insn;
			match->wrong_log_valid = true;
		} else if (insn.address != last.address + last.size) {
			jumps++;
		}
		last = insn;
		if (left > MATCH_END_MAX)
			break;
	}
	match->tail_log = left;
	if (result < 0)
		match->why = match->log->error;
	else if (result == 0 && !match->log->closed)
		match->why = "the log ends before the encoder was stopped";
	else if (left > MATCH_END_MAX || (match->log->remote_stop ? jumps > 0 : left > 1))
		match->why = "the trace ends where the hart went on";
	return match->why ? 1 : 0;
}

static void print_place(const char *mark, uint64_t address, unsigned int size,
			const char *(*name)(void *data, uint64_t address), void *data)
{
	const char *text = name ? name(data, address) : NULL;

	printf("  %s %016" PRIx64 " %u %s\n", mark, address, size, text ? text : "");
}

void match_report(struct match *match, const char *(*name)(void *data, uint64_t address),
		  void *data)
{
	uint64_t from = match->compared > MATCH_CONTEXT ? match->compared - MATCH_CONTEXT : 0;
	struct oracle_insn insn = match->wrong_log;
	int result = match->wrong_log_valid;

	printf("DIFFERENCE after %" PRIu64 " instructions: %s\n", match->compared, match->why);
	for (uint64_t i = from; i < match->compared; i++)
		print_place(" both   ", match->past[i % MATCH_CONTEXT].address,
			    match->past[i % MATCH_CONTEXT].size, name, data);
	for (unsigned int i = 0; i < match->wrong_count; i++)
		print_place(" decoded", match->wrong[i].address, match->wrong[i].size, name, data);
	for (unsigned int i = 0; i <= MATCH_CONTEXT && result == 1; i++) {
		if (insn.trap)
			printf("   trap   %s %u\n", insn.interrupt ? "interrupt" : "exception",
			       insn.cause);
		print_place(insn.priv == 3 ? "M logged" :
			    insn.priv	   ? "S logged" :
					     "U logged",
			    insn.address, insn.size, name, data);
		result = next_logged(match, &insn);
	}
}
