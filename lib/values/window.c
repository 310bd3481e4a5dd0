// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* The window before a core dump: the last instructions of the thread, whose values infer.c finds, and questions about it. */
#include <stdlib.h>
#include <string.h>

#include "bisect.h"
#include "grow.h"
#include "infer.h"
#include "values.h"

#define X0 NTRACE_EXEC_X
#define TP 4
#define A0 10
#define A7 17

/* Instructions of a window: the first one, and the largest. */
#define WINDOW (UINT64_C(1) << 17)
#define WINDOW_MAX (UINT64_C(1) << 21)
/* How far from tp struct rseq may be, and its size. */
#define RSEQ_NEAR UINT64_C(4096)
#define RSEQ_SIZE 32
/* Bytes whose changes can be sought. */
#define CHANGE_BYTES 4096

static uint32_t find_insn(struct infer *infer, uint32_t word)
{
	size_t at;

	if ((word & 3) != 3)
		word &= 0xffff;
	if (2 * infer->insns >= infer->slots) {
		size_t slots = infer->slots ? 2 * infer->slots : 4096;
		uint32_t *larger = calloc(slots, sizeof(*larger));

		if (!larger) {
			infer->error = NTRACE_ERR_NOMEM;
			return 0;
		}
		for (size_t i = 0; i < infer->insns; i++) {
			at = (infer->insn[i].word * 0x9e3779b1u >> 7) & (slots - 1);
			while (larger[at])
				at = (at + 1) & (slots - 1);
			larger[at] = (uint32_t)i + 1;
		}
		free(infer->slot);
		infer->slot = larger;
		infer->slots = slots;
	}
	at = (word * 0x9e3779b1u >> 7) & (infer->slots - 1);
	for (; infer->slot[at]; at = (at + 1) & (infer->slots - 1))
		if (infer->insn[infer->slot[at] - 1].word == word)
			return infer->slot[at] - 1;
	if (grow((void **)&infer->insn, infer->insns, &infer->insn_room, sizeof(*infer->insn))) {
		infer->error = NTRACE_ERR_NOMEM;
		return 0;
	}
	exec_decode(&infer->values->isa, 64, word, &infer->insn[infer->insns]);
	infer->insn[infer->insns].word = word;
	infer->slot[at] = (uint32_t)++infer->insns;
	return (uint32_t)infer->insns - 1;
}

/* Begins with an entry, of which nothing is known. */
static void clear_entries(struct infer *infer)
{
	infer->entries = infer->links = infer->blocks = 0;
	infer->remapped = 0;
	for (unsigned int i = 0; i < INFER_REGISTERS && !infer->error; i++) {
		infer->current[i] = 0;
		infer_add_value(infer, i);
	}
	infer->now = 0;
}

static struct infer_entry *add_entry(struct infer *infer)
{
	if (grow((void **)&infer->entry, infer->entries, &infer->entry_room, sizeof(*infer->entry)))
		infer->error = NTRACE_ERR_NOMEM;
	if (!(infer->entries % INFER_POST) &&
	    grow((void **)&infer->post, infer->entries / INFER_POST, &infer->post_room,
		 sizeof(*infer->post)))
		infer->error = NTRACE_ERR_NOMEM;
	if (infer->error)
		return NULL;
	infer->now = infer->entries++;
	infer->entry[infer->now] = (struct infer_entry){ .value = (uint32_t)infer->links };
	return &infer->entry[infer->now];
}

/* Whether a call with this number may change what can be written. */
static bool changes_mappings(struct ntrace_exec_value number)
{
	static const uint64_t numbers[] = { SYSCALL_MUNMAP,   SYSCALL_MREMAP, SYSCALL_MMAP,
					    SYSCALL_MPROTECT, 288 /* pkey_mprotect */ };
	bool found = number.known != UINT64_MAX;

	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
		found |= number.bits == numbers[i];
	return found;
}

/* A system call has a result. */
static void add_stop(struct infer *infer, uint64_t call, uint64_t address)
{
	struct infer_entry *entry = add_entry(infer);
	const struct ntrace_exec_value unknown = { 0, 0 };

	if (!entry)
		return;
	entry->pc = call;
	entry->flags = INFER_STOP;
	if (changes_mappings(infer->value[infer->current[A7]]))
		infer->remapped = infer->entries;
	infer_add_value(infer, A0);
	ntrace_exec_set(infer->exec, X0 + A0, &unknown);
	if (address != call || infer->error)
		return;
	/* restart_syscall() is made in its place. */
	infer->entry[infer->now].flags |= INFER_REMADE;
	infer_add_value(infer, A7);
	ntrace_exec_set(infer->exec, X0 + A7, &unknown);
}

static int add_instruction(void *data, uint64_t address, const uint8_t *bytes,
			   const struct ntrace_insn *insn)
{
	struct infer *infer = data;
	struct infer_entry *entry;
	uint32_t word = 0;

	memcpy(&word, bytes, insn->size < 4 ? 2 : 4);
	entry = add_entry(infer);
	if (!entry)
		return NTRACE_ERR_NOMEM;
	entry->pc = address;
	entry->insn = find_insn(infer, word);
	if (infer->error)
		return infer->error;
	/* csrrw and its kind, of frm or fcsr */
	if (infer->insn[entry->insn].kind == EXEC_CSR &&
	    (infer->insn[entry->insn].imm & 0xfff) > 1 &&
	    (infer->insn[entry->insn].imm & 0xfff) < 4)
		infer->changes_rounding = true;
	infer_execute(infer, false);
	return infer->error;
}

static int add_block(struct infer *infer, const struct ntrace_cursor_mark *mark, uint64_t number)
{
	const struct ntrace_cursor_place *at = ntrace_cursor_place(infer->values->cursor);
	const struct ntrace_flow_event *flow = at->flow;
	int error;

	if (grow((void **)&infer->block, infer->blocks, &infer->block_room, sizeof(*infer->block)))
		return NTRACE_ERR_NOMEM;
	infer->block[infer->blocks++] = (struct infer_block){ .mark = *mark,
							      .number = number,
							      .first = (uint32_t)infer->entries };
	values_note_module(infer->values, flow);
	error = ntrace_flow_instructions(flow, add_instruction, infer);
	if (error < 0 || infer->error)
		return infer->error ? infer->error : error;
	/* An instruction of a vendor: it may have done anything. */
	if (infer->contradicted) {
		infer->contradicted = false;
		clear_entries(infer);
		return infer->error;
	}
	if (!flow->interrupted && flow->next_known && flow->insn_class != NTRACE_INSN_PLAIN &&
	    infer->entries && !(infer->entry[infer->entries - 1].flags & INFER_LOADS)) {
		infer->entry[infer->entries - 1].flags |= INFER_ARRIVES;
		infer->entry[infer->entries - 1].address = flow->next;
	}
	return 0;
}

/* Whether only a system call has happened at a stop, whatever its number. */
static bool is_plain_call(const struct stop *stop)
{
	return stop->call && !stop->lost && !stop->merged &&
	       (stop->address == stop->call + 4 || stop->address == stop->call);
}

static bool is_same(const struct ntrace_cursor_mark *a, const struct ntrace_cursor_mark *b)
{
	return !ntrace_cursor_compare(a, b);
}

/* Goes back to the block where the window begins. @stop: set to the first stop in it; @count: its instructions */
static int find_begin(struct infer *infer, size_t *stop, uint64_t *count)
{
	const struct survey *survey = &infer->values->survey;
	struct ntrace_cursor *cursor = infer->values->cursor;
	struct ntrace_cursor_mark here, begin;
	int error = ntrace_cursor_last(cursor);

	*count = 0;
	*stop = survey->stops;
	for (; !error; error = ntrace_cursor_prev(cursor)) {
		const struct ntrace_cursor_place *at = ntrace_cursor_place(cursor);

		if (!values_is_user(at))
			continue;
		ntrace_cursor_save(cursor, &here);
		begin = here;
		*count += at->instructions;
		if (*stop && is_same(&survey->stop[*stop - 1].mark, &here)) {
			if (!is_plain_call(&survey->stop[*stop - 1]))
				break;
			--*stop;
		}
		if (*count >= infer->window)
			break;
	}
	if (error < 0)
		return error;
	return *count ? ntrace_cursor_restore(cursor, &begin) : 1;
}

/* Reads the window, and executes it once. */
static int read_window(struct infer *infer)
{
	const struct survey *survey = &infer->values->survey;
	struct ntrace_cursor *cursor = infer->values->cursor;
	uint64_t number, count;
	size_t stop;
	int error = find_begin(infer, &stop, &count);

	if (error)
		return error;
	infer->begin_number = survey->instructions - count;
	number = infer->begin_number;
	if (infer_new_log(&infer->forward, false))
		return NTRACE_ERR_NOMEM;
	clear_entries(infer);
	infer->changes_rounding = false;
	/* Not before all of it has been read. */
	infer->protected_since = SIZE_MAX;
	infer_begin(infer);
	for (bool first = true; !error; error = ntrace_cursor_next(cursor)) {
		const struct ntrace_cursor_place *at = ntrace_cursor_place(cursor);
		struct ntrace_cursor_mark here;

		if (!values_is_user(at))
			continue;
		ntrace_cursor_save(cursor, &here);
		if (stop < survey->stops && is_same(&survey->stop[stop].mark, &here)) {
			if (!first)
				add_stop(infer, survey->stop[stop].call,
					 survey->stop[stop].address);
			stop++;
		}
		first = false;
		if (!infer->error)
			infer->error = add_block(infer, &here, number);
		if (infer->error)
			return infer->error;
		number += at->instructions;
	}
	return error < 0 ? error : 0;
}

/* The kernel writes struct rseq of a thread whenever it runs elsewhere: near tp, twice the number of the CPU. */
static void distrust_rseq(struct infer *infer, uint32_t cpu)
{
	uint64_t pointer = infer->thread->x[TP] & ~(uint64_t)(RSEQ_SIZE - 1);

	for (uint64_t at = pointer - RSEQ_NEAR; at != pointer + RSEQ_NEAR; at += RSEQ_SIZE) {
		struct ntrace_exec_value word = core_memory(infer->core, at, 8);

		if (word.known == UINT64_MAX && word.bits == (cpu | (uint64_t)cpu << 32))
			anchors_share(&infer->distrusted, at, at + RSEQ_SIZE - 1);
	}
}

/* A mapping of a file may be shared, unless the file has code, as those of programs. */
static bool is_of_program(const struct infer *infer, const struct core_mapping *mapping)
{
	const struct anchors *anchors = &infer->values->anchors;

	for (size_t i = 0; i < anchors->mappings; i++)
		if (anchors->mapping[i].of.executable &&
		    !strcmp(anchors->mapping[i].of.name, mapping->name))
			return true;
	return false;
}

static int distrust_others(struct infer *infer)
{
	const struct anchors *anchors = &infer->values->anchors;
	int error = 0;

	infer->uncertain = anchors->uncertain || infer->core->threads > 1;
	for (size_t i = 0; !error && i < anchors->shares; i++)
		error = anchors_share(&infer->distrusted, anchors->shared[i].first,
				      anchors->shared[i].last);
	for (size_t i = 0; !error && i < infer->core->mappings; i++) {
		const struct core_mapping *mapping = &infer->core->mapping[i];

		infer->uncertain |= strstr(mapping->name, "[aio]") ||
				    strstr(mapping->name, "[io_uring]");
		if (!is_of_program(infer, mapping))
			error = anchors_share(&infer->distrusted, mapping->first, mapping->last);
	}
	distrust_rseq(infer, infer->values->survey.cpu);
	return error;
}

/* All that follows, in a window of at most infer->window instructions. */
static int infer_window(struct infer *infer)
{
	const struct survey *survey = &infer->values->survey;
	int error = read_window(infer);

	if (!error && infer->thread->x[0] != survey->next)
		add_stop(infer, survey->next, infer->thread->x[0]);
	if (error || infer->error)
		return error ? error : infer->error;
	infer->protected_since = infer->remapped;
	memcpy(infer->last, infer->current, sizeof(infer->last));
	infer->whole = false;
	error = infer_repeat(infer);
	infer->whole = true;
	if (!error && !infer->contradicted)
		error = infer_pass_backward(infer);
	if (!error && !infer->contradicted)
		error = infer_pass_forward(infer);
	infer->certain = infer->value;
	return error;
}

static void clear(struct infer *infer)
{
	if (infer->certain != infer->value)
		free(infer->certain);
	infer->certain = infer->value;
	infer->contradicted = false;
	infer->learned = 0;
}

/* Infers; after a contradiction with less of the thread. */
static int infer_all(struct infer *infer)
{
	int error;

	for (;;) {
		clear(infer);
		error = infer_window(infer);
		if (error || (!infer->contradicted && infer->entries))
			return error;
		if (infer->window < 64 || !infer->entries) {
			infer->entries = infer->blocks = 0;
			return 1;
		}
		infer->window /= 8;
		infer->shrunk = true;
	}
}

void infer_free(struct infer *infer)
{
	if (!infer)
		return;
	ntrace_exec_free(infer->exec);
	ntrace_value_log_free(infer->forward);
	ntrace_value_log_free(infer->backward);
	ntrace_value_log_free(infer->constants);
	anchors_free(&infer->distrusted);
	free(infer->entry);
	free(infer->stray);
	free(infer->block);
	free(infer->insn);
	free(infer->slot);
	if (infer->certain != infer->value)
		free(infer->certain);
	free(infer->value);
	free(infer->link);
	free(infer->post);
	free(infer);
}

int infer_new(struct infer **result, struct ntrace_values *values, const struct ntrace_core *core,
	      const struct core_thread *thread)
{
	struct infer *infer = calloc(1, sizeof(*infer));
	int error;

	if (!infer)
		return NTRACE_ERR_NOMEM;
	infer->values = values;
	infer->core = core;
	infer->thread = thread;
	infer->window = WINDOW;
	infer->constants = ntrace_value_log_new();
	error = infer->constants ? infer_new_exec(infer) : NTRACE_ERR_NOMEM;
	if (!error)
		error = distrust_others(infer);
	if (!error)
		error = infer_all(infer);
	if (error) {
		infer_free(infer);
		return error;
	}
	*result = infer;
	return 0;
}

/* ---- questions ---- */

static bool find_block(const struct infer *infer, const struct ntrace_cursor_mark *mark,
		       size_t *block)
{
	size_t low = 0;

	BISECT(low, infer->blocks, at, ntrace_cursor_compare(&infer->block[at].mark, mark) < 0);
	*block = low;
	return low < infer->blocks && is_same(&infer->block[low].mark, mark);
}

int infer_reach(struct infer *infer, uint64_t instructions)
{
	/* Less would contradict itself, or there is no more. */
	if (!infer->blocks || infer->shrunk || infer->window >= instructions ||
	    infer->window >= WINDOW_MAX || infer->block[0].number != infer->begin_number)
		return 1;
	infer->window = WINDOW_MAX;
	return infer_all(infer);
}

int infer_find(struct infer *infer, const struct ntrace_cursor_mark *mark, uint32_t index,
	       size_t *entry)
{
	size_t block;
	int error;

	while (!find_block(infer, mark, &block)) {
		/* There is no more, or less would contradict itself. */
		error = infer_reach(infer, WINDOW_MAX);
		if (error)
			return error;
	}
	*entry = infer->block[block].first + index;
	return *entry < infer->entries ? 0 : 1;
}

/* The value of a register before an entry. */
static uint32_t value_before(const struct infer *infer, size_t entry, unsigned int reg)
{
	uint32_t value = infer->post[entry / INFER_POST][reg];

	for (size_t i = entry / INFER_POST * INFER_POST; i < entry; i++)
		for (uint32_t k = infer->entry[i].value; k < infer_values_end(infer, i); k++)
			if (infer->link[k].reg == reg)
				value = k;
	return value;
}

struct ntrace_exec_value infer_register(const struct infer *infer, size_t entry, unsigned int reg,
					bool likely)
{
	uint32_t value = value_before(infer, entry, reg);

	return likely ? infer->value[value] : infer->certain[value];
}

struct ntrace_exec_value infer_memory(const struct infer *infer, size_t entry, uint64_t address,
				      unsigned int bytes)
{
	struct ntrace_exec_value value =
		infer_read_at(infer, false, infer_time(infer, entry, false), address, bytes);
	struct ntrace_exec_value later =
		infer_read_at(infer, true, infer_time(infer, entry, true), address, bytes);

	value.bits |= later.bits & ~value.known;
	value.known |= later.known;
	return value;
}

/* The instruction, or the stop, that has written a value. SIZE_MAX: it is from before the window */
static size_t writer_of(const struct infer *infer, uint32_t value)
{
	size_t after = 0;

	BISECT(after, infer->entries, at, infer->entry[at].value <= value);
	return value < INFER_REGISTERS ? SIZE_MAX : after - 1;
}

static size_t block_of(const struct infer *infer, size_t entry)
{
	size_t after = 1;

	BISECT(after, infer->blocks, at, infer->block[at].first <= entry);
	return after - 1;
}

bool infer_writer(const struct infer *infer, size_t entry, unsigned int reg, uint64_t *number,
		  uint64_t *pc)
{
	size_t writer = writer_of(infer, value_before(infer, entry, reg));
	const struct infer_block *block;

	if (writer == SIZE_MAX || infer->entry[writer].flags & INFER_STOP)
		return false;
	block = &infer->block[block_of(infer, writer)];
	*number = block->number + (writer - block->first);
	*pc = infer->entry[writer].pc;
	return true;
}

/* ---- changes of memory ---- */

enum change { CHANGE_NONE, CHANGE_FOUND, CHANGE_UNKNOWN };

/* What an entry has done to memory. */
static enum change find_change_at(const struct infer *infer, size_t at, uint64_t first,
				  uint64_t last)
{
	const struct infer_entry *entry = &infer->entry[at];
	bool certain = !(entry->flags & (INFER_STOP | INFER_SOMEWHERE | INFER_MAYBE));
	bool anywhere = entry->flags & INFER_STOP ||
			(entry->flags & INFER_SOMEWHERE && !entry->bytes);

	bool is_store = entry->flags & INFER_STORES && !(entry->flags & INFER_MAYBE);

	if (!(entry->flags & (INFER_STORES | INFER_STOP)) ||
	    (!anywhere &&
	     (entry->address > last || entry->address + entry->span + entry->bytes - 1 < first)))
		return CHANGE_NONE;
	for (uint64_t byte = first;; byte++) {
		struct ntrace_exec_value before = infer_memory(infer, at, byte, 1);
		struct ntrace_exec_value after = infer_memory(infer, at + 1, byte, 1);
		bool written = certain && byte >= entry->address &&
			       byte - entry->address < entry->bytes;

		if ((before.known & after.known & 0xff) == 0xff) {
			if (before.bits != after.bits)
				return CHANGE_FOUND;
		} else if (written || (is_store && (after.known & 0xff) == 0xff)) {
			/* One to an unknown address that would leave what is there is where the search ends. */
			return CHANGE_FOUND;
		} else if (!certain) {
			return CHANGE_UNKNOWN;
		}
		if (byte == last)
			return CHANGE_NONE;
	}
}

int infer_find_change(const struct infer *infer, size_t entry, bool back, bool here, uint64_t first,
		      uint64_t last, struct ntrace_cursor_mark *mark, uint32_t *index)
{
	size_t end = back ? 0 : infer->entries, at = entry;
	const struct infer_block *block;

	if (last - first >= CHANGE_BYTES)
		return 1;
	for (; at != end; at += back ? -1 : 1) {
		size_t passed = back ? at - 1 : at;
		bool stop = infer->entry[passed].flags & INFER_STOP;
		enum change change = find_change_at(infer, passed, first, last);

		if (change == CHANGE_UNKNOWN)
			return 1;
		if (change == CHANGE_FOUND) {
			/* Of a stop: between the instructions beside it. */
			at = back ? passed + 1 : passed - stop;
			break;
		}
		if (here && !stop)
			return 1;
	}
	if (at == end)
		return 1;
	while (infer->entry[at].flags & INFER_STOP)
		at++;
	block = &infer->block[block_of(infer, at)];
	*mark = block->mark;
	*index = (uint32_t)(at - block->first);
	return 0;
}

/* ---- counts ---- */

void infer_count(struct infer *infer, size_t entry, uint64_t reads,
		 const struct ntrace_exec *witness, struct infer_counts *counts)
{
	for (; infer->counted < entry; infer->counted++)
		for (uint32_t i = infer->entry[infer->counted].value;
		     i < infer_values_end(infer, infer->counted); i++)
			infer->current[infer->link[i].reg] = i;
	for (; reads; reads &= reads - 1) {
		unsigned int reg = (unsigned int)__builtin_ctzll(reads);
		struct ntrace_exec_value certain = infer->certain[infer->current[reg]];
		struct ntrace_exec_value likely = infer->value[infer->current[reg]];
		struct ntrace_exec_value truth = { 0, 0 };

		ntrace_exec_get(witness, infer_register_id(reg), &truth);
		counts->reads++;
		if (certain.known == UINT64_MAX)
			counts->known++;
		else if (likely.known == UINT64_MAX)
			counts->likely++;
		counts->wrong += ((certain.bits ^ truth.bits) & certain.known & truth.known) != 0;
		if (truth.known != UINT64_MAX || likely.known != UINT64_MAX)
			continue;
		counts->compared += certain.known == UINT64_MAX;
		counts->compared_likely += certain.known != UINT64_MAX;
		counts->wrong_likely += certain.known != UINT64_MAX && likely.bits != truth.bits;
	}
}

void infer_begin_count(struct infer *infer)
{
	infer->counted = 0;
	memcpy(infer->current, infer->post[0], sizeof(infer->current));
}
