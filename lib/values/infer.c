// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * What follows from a core dump: all registers and memory are known after the last instruction, and the path up to
 * it. The last instructions of the thread are a window, in which each write of a register is a value of its own:
 *
 *	          li a0, 8     add a1, a1, a0     sd a1, 0(sp)     core
 *	a0 ?      a0 = 8       ..............     ............     ? = a0 of the core
 *	a1 ?      ........     a1 = ? + 8         ............
 *
 * So a value that is known once is known for good, by whatever is found first: the operands (forwards, by the
 * executor), the result, if the operation can be inverted (backwards, invert.c), the way of a branch, or memory, which
 * is the same up to the next store to it, and since the last one. Rounds in both directions go on until nothing is
 * added. Each adds addresses of stores, beyond which memory was not known in the round before.
 *
 * A store to an unknown address ends what is known of all memory, in both directions, and so does what a system call
 * may have written. What is "likely" comes from more rounds, which take such a store for one elsewhere, as long as
 * there are few of them. A likely value that contradicts another one, or the way of a branch, is given up for good, and
 * with it in the next search what followed from it.
 */
#include <stdlib.h>
#include <string.h>

#include "bisect.h"
#include "exec/integer.h"
#include "grow.h"
#include "infer.h"
#include "log.h"
#include "values.h"

#define X0 NTRACE_EXEC_X
#define F0 NTRACE_EXEC_F

#define ROUNDS 24
/* Stray stores beyond which memory is not sought. */
#define STRAYS_MAX 2048
/* Stray stores after which memory is not even likely to be the same. */
#define STRAYS_LIKELY 1024
/* Searches for likely values; each one begins with the addresses of stores that the one before has found. */
#define GUESSES 4
/* To forget more bytes is to forget all of memory. */
#define FORGET_MAX (UINT64_C(1) << 20)
/* Of a store to an address that is not certain. */
#define SPAN UINT64_C(4000)

/* ---- values ---- */

void infer_learn(struct infer *infer, uint32_t number, struct ntrace_exec_value known)
{
	struct ntrace_exec_value *value = &infer->value[number];
	struct infer_link *link = &infer->link[number];

	if (infer->likely && link->contradicted)
		return;
	if ((value->bits ^ known.bits) & value->known & known.known) {
		if (!infer->likely) {
			infer->contradicted = true;
			return;
		}
		*value = infer->certain[number];
		link->contradicted = true;
		return;
	}
	if (!(known.known & ~value->known))
		return;
	value->bits |= known.bits & known.known;
	value->known |= known.known;
	infer->learned++;
}

uint32_t infer_add_value(struct infer *infer, unsigned int reg)
{
	if (grow((void **)&infer->link, infer->links, &infer->link_room, sizeof(*infer->link)) ||
	    grow((void **)&infer->value, infer->links, &infer->value_room, sizeof(*infer->value))) {
		infer->error = NTRACE_ERR_NOMEM;
		return 0;
	}
	infer->link[infer->links] =
		(struct infer_link){ .before = infer->current[reg], .reg = (uint8_t)reg };
	infer->value[infer->links] = (struct ntrace_exec_value){ 0, 0 };
	infer->current[reg] = (uint32_t)infer->links;
	return (uint32_t)infer->links++;
}

/* ---- memory ---- */

static struct ntrace_value_log *log_of(const struct infer *infer, bool backward)
{
	return backward ? infer->backward : infer->forward;
}

/* Of the state before the entry infer->now. */
uint64_t infer_time(const struct infer *infer, size_t entry, bool backward)
{
	return backward ? 2 * (infer->entries - entry) + 1 : 2 * entry + 1;
}

/* What passing infer->now changes. */
static uint64_t time_of_change(const struct infer *infer, bool backward)
{
	return backward ? 2 * (infer->entries - infer->now) : 2 * infer->now + 2;
}

static bool is_trusted(const struct infer *infer, uint64_t address)
{
	const struct shared_range *range = infer->distrusted.shared;
	size_t low = 0;

	if (infer->likely)
		return true;
	if (infer->uncertain)
		return false;
	BISECT(low, infer->distrusted.shares, at, range[at].last < address);
	return low == infer->distrusted.shares || range[low].first > address;
}

/* Constants of files, up to a multiple of 8. They are looked up once. */
static struct ntrace_exec_value read_constant(const struct infer *infer, uint64_t address,
					      unsigned int bytes)
{
	uint8_t told = 0;
	struct ntrace_exec_value value =
		ntrace_value_log_read(infer->constants, 1, address, bytes, &told);
	uint64_t word = address & ~UINT64_C(7);

	if (told)
		return value;
	value = (struct ntrace_exec_value){ 0, 0 };
	for (unsigned int i = 0; i < 8; i++) {
		uint8_t byte;

		if (!values_file_constant(infer->values, word + i, &byte))
			continue;
		value.bits |= (uint64_t)byte << 8 * i;
		value.known |= UINT64_C(0xff) << 8 * i;
	}
	/* Without memory it is looked up again. */
	ntrace_value_log_write(infer->constants, 1, word, 0xff, value);
	value.bits = value.bits >> 8 * (address & 7) & exec_low_bits(bytes);
	value.known = value.known >> 8 * (address & 7) & exec_low_bits(bytes);
	return value;
}

void infer_stray(struct infer *infer, bool backward, struct ntrace_exec_value value,
		 unsigned int bytes)
{
	if (grow((void **)&infer->stray, infer->strays, &infer->stray_room,
		 sizeof(*infer->stray))) {
		infer->error = NTRACE_ERR_NOMEM;
		return;
	}
	infer->stray[infer->strays++] = (struct infer_stray){
		.time = time_of_change(infer, backward), .value = value, .bytes = bytes
	};
}

/* Whether so many stray stores came between @told and @time that memory is no longer likely to be the same. */
static bool is_stale(const struct infer *infer, uint64_t told, uint64_t time)
{
	size_t at = 0;

	BISECT(at, infer->strays, middle, infer->stray[middle].time <= told);
	return at + STRAYS_LIKELY < infer->strays && infer->stray[at + STRAYS_LIKELY].time <= time;
}

/*
 * The bits of 8 bytes with this content that a stray store may have written: at each place where it would have left
 * this content.
 */
static uint64_t written_by(const struct infer_stray *stray, struct ntrace_exec_value content)
{
	uint64_t written = 0;

	for (int shift = 1 - (int)stray->bytes; shift < 8; shift++) {
		struct ntrace_exec_value value = stray->value;
		uint64_t bits = exec_low_bits(stray->bytes);

		if (shift < 0) {
			bits >>= -8 * shift;
			value.bits >>= -8 * shift;
			value.known >>= -8 * shift;
		} else {
			bits <<= 8 * shift;
			value.bits <<= 8 * shift;
			value.known <<= 8 * shift;
		}
		if (!((value.bits ^ content.bits) & bits & value.known & content.known))
			written |= bits;
	}
	return written;
}

/* Forgets the bytes of @content that stray stores from @told to @time may have changed. */
static void forget_strays(const struct infer *infer, uint64_t told, uint64_t time,
			  struct ntrace_exec_value *content)
{
	size_t at = 0;

	BISECT(at, infer->strays, middle, infer->stray[middle].time <= told);
	if (at + STRAYS_MAX < infer->strays && infer->stray[at + STRAYS_MAX].time <= time)
		content->known = 0;
	for (; at < infer->strays && infer->stray[at].time <= time && content->known; at++)
		content->known &= ~written_by(&infer->stray[at], *content);
	content->bits &= content->known;
}

/* Memory of a mapping that nobody could write since then. */
static bool is_protected(const struct infer *infer, bool backward, uint64_t time, uint64_t address)
{
	size_t entry = backward ? infer->entries - time / 2 : time / 2;

	return entry >= infer->protected_since && core_is_read_only(infer->core, address);
}

/* All 8 bytes of a word, as the log of what was later and the core have them. */
static struct ntrace_exec_value read_later(const struct infer *infer, uint64_t time, uint64_t word)
{
	const struct ntrace_value_log *log = infer->backward;
	uint8_t told = 0;
	struct ntrace_exec_value value = ntrace_value_log_read(log, time, word, 8, &told), other;

	if (told != 0xff && !ntrace_value_log_forgot(log, time)) {
		other = core_memory(infer->core, word, 8);
		other.known &= ~exec_bits_of(told);
		value.bits |= other.bits & other.known;
		value.known |= other.known;
	}
	if (value.known && !infer->likely && infer->strays)
		forget_strays(infer, log_told(log, time, word), time, &value);
	return value;
}

/* Up to a multiple of 8. */
static struct ntrace_exec_value read_word(const struct infer *infer, bool backward, uint64_t time,
					  uint64_t address, unsigned int bytes)
{
	const struct ntrace_value_log *log = log_of(infer, backward);
	const uint64_t all = exec_bits_of((uint8_t)((1u << bytes) - 1));
	struct ntrace_exec_value value, other;

	if (!log)
		return (struct ntrace_exec_value){ 0, 0 };
	if (is_protected(infer, backward, time, address)) {
		value = core_memory(infer->core, address, bytes);
	} else if (backward) {
		value = read_later(infer, time, address & ~UINT64_C(7));
		value.bits = value.bits >> 8 * (address & 7) & all;
		value.known = value.known >> 8 * (address & 7) & all;
	} else {
		value = ntrace_value_log_read(log, time, address, bytes, NULL);
	}
	if (infer->likely && value.known &&
	    is_stale(infer, log_told(log, time, address & ~UINT64_C(7)), time))
		value.known = 0;
	for (unsigned int i = 0; i < bytes && value.known; i++)
		if (!is_trusted(infer, address + i))
			value.known &= ~(UINT64_C(0xff) << 8 * i);
	if (value.known != all) {
		other = read_constant(infer, address, bytes);
		value.bits |= other.bits & ~value.known;
		value.known |= other.known;
	}
	value.bits &= value.known;
	return value;
}

struct ntrace_exec_value infer_read_at(const struct infer *infer, bool backward, uint64_t time,
				       uint64_t address, unsigned int bytes)
{
	unsigned int first = 8 - (address & 7);
	struct ntrace_exec_value value, high;

	if (first >= bytes)
		return read_word(infer, backward, time, address, bytes);
	value = read_word(infer, backward, time, address, first);
	high = read_word(infer, backward, time, address + first, bytes - first);
	value.bits |= high.bits << 8 * first;
	value.known |= high.known << 8 * first;
	return value;
}

struct ntrace_exec_value infer_read(struct infer *infer, bool backward, uint64_t address,
				    unsigned int bytes)
{
	/* Backwards, what passing the entry has changed so far counts. */
	uint64_t time = backward ? time_of_change(infer, true) :
				   infer_time(infer, infer->now, false);

	return infer_read_at(infer, backward, time, address, bytes);
}

/* All bytes of the word get this time, which counts for stray stores: the others as they are known now. */
static void write_word(struct infer *infer, bool backward, uint64_t address, unsigned int bytes,
		       struct ntrace_exec_value value)
{
	uint64_t time = time_of_change(infer, backward), word = address & ~UINT64_C(7);
	unsigned int at = address & 7;
	uint64_t bits = exec_bits_of((uint8_t)((1u << bytes) - 1));

	if (backward && !infer->likely && infer->strays && bytes < 8) {
		struct ntrace_exec_value whole = read_later(infer, time, word);

		value.bits = (whole.bits & ~(bits << 8 * at)) | (value.bits & bits) << 8 * at;
		value.known = (whole.known & ~(bits << 8 * at)) | (value.known & bits) << 8 * at;
		address = word;
		bytes = 8;
	}
	if (ntrace_value_log_write(log_of(infer, backward), time, address,
				   (uint8_t)((1u << bytes) - 1), value))
		infer->error = NTRACE_ERR_NOMEM;
}

void infer_write(struct infer *infer, bool backward, uint64_t address, unsigned int bytes,
		 struct ntrace_exec_value value)
{
	unsigned int first = 8 - (address & 7);

	if (first >= bytes) {
		write_word(infer, backward, address, bytes, value);
		return;
	}
	write_word(infer, backward, address, first, value);
	value.bits >>= 8 * first;
	value.known >>= 8 * first;
	write_word(infer, backward, address + first, bytes - first, value);
}

void infer_forget(struct infer *infer, bool backward, uint64_t first, uint64_t last)
{
	const struct ntrace_exec_value unknown = { 0, 0 };

	if (last < first || last - first >= FORGET_MAX) {
		if (ntrace_value_log_change(log_of(infer, backward),
					    time_of_change(infer, backward), 0, UINT64_MAX, false))
			infer->error = NTRACE_ERR_NOMEM;
		return;
	}
	for (uint64_t at = first;; at += 8) {
		unsigned int bytes = last - at < 7 ? (unsigned int)(last - at + 1) : 8;

		infer_write(infer, backward, at, bytes, unknown);
		if (last - at < 8)
			break;
	}
}

static int read_memory(void *user, uint64_t address, unsigned int bytes,
		       struct ntrace_exec_value *value)
{
	*value = infer_read(user, false, address, bytes);
	return 0;
}

static int write_memory(void *user, uint64_t address, unsigned int bytes,
			const struct ntrace_exec_value *value)
{
	infer_write(user, false, address, bytes, *value);
	return 0;
}

int infer_new_exec(struct infer *infer)
{
	const struct ntrace_exec_config config = {
		.size = sizeof(config),
		.isa = infer->values->isa,
		.flen = 64,
		.user = infer,
		.read = read_memory,
		.write = write_memory,
	};

	return ntrace_exec_new(&infer->exec, &config);
}

/* ---- rounds ---- */

int infer_new_log(struct ntrace_value_log **log, bool whole)
{
	ntrace_value_log_free(*log);
	*log = ntrace_value_log_new();
	if (!*log)
		return NTRACE_ERR_NOMEM;
	if (!whole)
		log_keep_last(*log);
	return 0;
}

/* Registers that have changed beside the entry's own: what a branch or a jump tells of its operands. */
static void learn_registers(struct infer *infer, const struct exec_insn *insn)
{
	const unsigned int reg[2] = { insn->rs1, insn->rs2 };

	for (unsigned int i = 0; i < (insn->kind == EXEC_BRANCH ? 2u : 1u); i++) {
		struct ntrace_exec_value value = { 0, 0 };

		ntrace_exec_get(infer->exec, X0 + reg[i], &value);
		infer_learn(infer, infer->current[reg[i]], value);
	}
}

/* Gives up likely operands of a branch or a jump that with them would have gone another way. */
static void doubt_registers(struct infer *infer, const struct exec_insn *insn)
{
	const unsigned int reg[2] = { insn->rs1, insn->rs2 };

	for (unsigned int i = 0; i < (insn->kind == EXEC_BRANCH ? 2u : 1u); i++) {
		uint32_t number = infer->current[reg[i]];

		infer->value[number] = infer->certain[number];
		infer->link[number].contradicted = true;
	}
}

/* Notes what an instruction accesses. */
static void note_access(const struct infer *infer, struct infer_entry *entry,
			const struct ntrace_exec_effects *effects)
{
	uint8_t flags = entry->flags & INFER_ARRIVES;
	uint64_t *guess = infer->guess ? &infer->guess[infer->now] : NULL;

	if (!(effects->flags & (NTRACE_EXEC_LOADS | NTRACE_EXEC_STORES | NTRACE_EXEC_STORES_MAYBE |
				NTRACE_EXEC_STORES_ANYWHERE)))
		return;
	flags &= (uint8_t)~INFER_ARRIVES;
	flags |= effects->flags & NTRACE_EXEC_LOADS ? INFER_LOADS : 0;
	if (effects->flags &
	    (NTRACE_EXEC_STORES | NTRACE_EXEC_STORES_MAYBE | NTRACE_EXEC_STORES_ANYWHERE))
		flags |= INFER_STORES;
	flags |= effects->flags & NTRACE_EXEC_STORES_MAYBE ? INFER_MAYBE : 0;
	entry->address = effects->address;
	entry->bytes = effects->bytes;
	entry->span = 0;
	if (!effects->address_known || effects->flags & NTRACE_EXEC_STORES_ANYWHERE) {
		flags |= INFER_SOMEWHERE;
		if (guess && *guess != UINT64_MAX)
			entry->address = *guess;
		else if (effects->span > SPAN ||
			 effects->address + effects->span + effects->bytes < effects->address)
			entry->bytes = 0;
		else
			entry->span = (uint32_t)effects->span;
	} else if (guess)
		*guess = effects->address;
	entry->flags = flags;
}

static void forget_stored(struct infer *infer, const struct infer_entry *entry)
{
	if (!(entry->flags & INFER_STORES) || !(entry->flags & (INFER_SOMEWHERE | INFER_MAYBE)))
		return;
	if (!entry->bytes && infer->likely)
		infer_stray(infer, false, (struct ntrace_exec_value){ 0, 0 }, 0);
	else if (!entry->bytes)
		infer_forget(infer, false, 0, UINT64_MAX);
	else if (entry->bytes)
		infer_forget(infer, false, entry->address,
			     entry->address + entry->span + entry->bytes - 1);
}

/* Memory has what a load is known to have got. */
static void note_loaded(struct infer *infer, const struct infer_entry *entry,
			const struct exec_insn *insn)
{
	struct ntrace_exec_value memory, value;
	uint64_t low;

	if (!(entry->flags & INFER_LOADS) || entry->flags & (INFER_SOMEWHERE | INFER_STORES) ||
	    entry->value == infer_values_end(infer, infer->now) || !insn->bytes ||
	    (insn->kind == EXEC_LOAD_FLOAT && insn->bytes != 8) ||
	    (insn->kind != EXEC_LOAD && insn->kind != EXEC_LOAD_FLOAT))
		return;
	low = exec_low_bits(insn->bytes);
	value = infer->value[entry->value];
	memory = infer_read(infer, false, entry->address, insn->bytes);
	if (!(value.known & low & ~memory.known))
		return;
	memory.bits |= value.bits & low & ~memory.known;
	memory.known |= value.known & low;
	infer_write(infer, false, entry->address, insn->bytes, memory);
}

/* Executes an instruction. @made: its values exist already. */
void infer_execute(struct infer *infer, bool made)
{
	struct infer_entry *entry = &infer->entry[infer->now];
	const struct exec_insn *insn = &infer->insn[entry->insn];
	uint64_t next = entry->address;
	struct ntrace_exec_effects effects;
	uint32_t number = entry->value;

	if (ntrace_exec_step(infer->exec, insn->word, entry->pc, &effects)) {
		infer->contradicted = true;
		return;
	}
	note_access(infer, entry, &effects);
	if (entry->flags & INFER_ARRIVES && !effects.next_known) {
		ntrace_exec_arrive(infer->exec, insn->word, entry->pc, next);
		learn_registers(infer, insn);
	} else if (entry->flags & INFER_ARRIVES && effects.next_pc != next) {
		if (infer->likely)
			doubt_registers(infer, insn);
		else
			infer->contradicted = true;
	}
	for (uint64_t written = effects.written; written; written &= written - 1, number++) {
		unsigned int reg = (unsigned int)__builtin_ctzll(written);
		struct ntrace_exec_value value = { 0, 0 };

		if (made) {
			infer->current[reg] = number;
		} else {
			infer_add_value(infer, reg);
			if (infer->error)
				return;
		}
		ntrace_exec_get(infer->exec, infer_register_id(reg), &value);
		infer_learn(infer, number, value);
		if (infer->value[number].known != value.known)
			ntrace_exec_set(infer->exec, infer_register_id(reg), &infer->value[number]);
	}
	forget_stored(infer, entry);
	note_loaded(infer, entry, insn);
}

static void execute_stop(struct infer *infer)
{
	const struct infer_entry *entry = &infer->entry[infer->now];

	infer_pass_stop(infer, false, entry->value);
	for (uint32_t i = entry->value; i < infer_values_end(infer, infer->now); i++) {
		infer->current[infer->link[i].reg] = i;
		ntrace_exec_set(infer->exec, infer_register_id(infer->link[i].reg),
				&infer->value[i]);
	}
}

void infer_begin(struct infer *infer)
{
	const struct ntrace_exec_value rounding = { infer->thread->fcsr >> 5 & 7, 0xff };
	const struct ntrace_exec_value unknown = { 0, 0 };

	infer->brk = 0;
	ntrace_exec_set(infer->exec, NTRACE_EXEC_FCSR, &unknown);
	if (infer->thread->floats && !infer->changes_rounding)
		ntrace_exec_set(infer->exec, NTRACE_EXEC_FRM, &rounding);
	for (uint32_t i = 0; i < INFER_REGISTERS; i++) {
		infer->current[i] = i;
		ntrace_exec_set(infer->exec, infer_register_id(i), &infer->value[i]);
	}
}

int infer_pass_forward(struct infer *infer)
{
	if (infer_new_log(&infer->forward, infer->whole))
		return NTRACE_ERR_NOMEM;
	infer_begin(infer);
	/* They were those of the pass backwards. Certain memory is read with them later, so they stay then. */
	if (infer->likely)
		infer->strays = 0;
	for (infer->now = 0; infer->now < infer->entries && !infer->error && !infer->contradicted;
	     infer->now++) {
		if (!(infer->now % INFER_POST))
			memcpy(infer->post[infer->now / INFER_POST], infer->current,
			       sizeof(infer->current));
		if (infer->entry[infer->now].flags & INFER_STOP)
			execute_stop(infer);
		else
			infer_execute(infer, true);
	}
	return infer->error;
}

int infer_pass_backward(struct infer *infer)
{
	if (infer_new_log(&infer->backward, infer->whole))
		return NTRACE_ERR_NOMEM;
	infer->strays = 0;
	memcpy(infer->current, infer->last, sizeof(infer->current));
	for (infer->now = infer->entries; infer->now-- && !infer->error && !infer->contradicted;) {
		uint32_t first = infer->entry[infer->now].value;
		uint32_t end = infer_values_end(infer, infer->now);

		for (uint32_t i = end; i-- > first;)
			infer->current[infer->link[i].reg] = infer->link[i].before;
		if (infer->entry[infer->now].flags & INFER_STOP)
			infer_pass_stop(infer, true, first);
		else
			infer_backward(infer, first, end);
	}
	return infer->error;
}

/* All registers after the last instruction. */
static void learn_core(struct infer *infer)
{
	infer_learn(infer, 0, (struct ntrace_exec_value){ 0, UINT64_MAX });
	for (unsigned int i = 1; i < 32; i++)
		infer_learn(infer, infer->last[i],
			    (struct ntrace_exec_value){ infer->thread->x[i], UINT64_MAX });
	for (unsigned int i = 0; infer->thread->floats && i < 32; i++)
		infer_learn(infer, infer->last[32 + i],
			    (struct ntrace_exec_value){ infer->thread->f[i], UINT64_MAX });
}

/* Rounds until nothing is added. */
int infer_repeat(struct infer *infer)
{
	for (unsigned int round = 0; round < ROUNDS; round++) {
		uint64_t before = infer->learned;
		int error;

		infer->distrusts = false;
		learn_core(infer);
		error = infer_pass_backward(infer);
		if (!error)
			error = infer_pass_forward(infer);
		if (error || infer->contradicted)
			return error;
		if (infer->distrusts) {
			memset(infer->value, 0, infer->links * sizeof(*infer->value));
			continue;
		}
		if (infer->learned - before <= infer->links >> 14)
			break;
	}
	/* Others write more memory than could be found out. */
	if (infer->distrusts) {
		memset(infer->value, 0, infer->links * sizeof(*infer->value));
		infer->uncertain = true;
		learn_core(infer);
	}
	return 0;
}

/* Searches again from the certain values, with the addresses of stores that the search before has found. */
static int repeat_likely(struct infer *infer)
{
	int error = 0;

	for (unsigned int i = 0; !error && i < GUESSES; i++) {
		memcpy(infer->value, infer->certain, infer->links * sizeof(*infer->value));
		error = infer_repeat(infer);
	}
	return error;
}

int infer_find_likely(struct infer *infer)
{
	struct ntrace_value_log *forward = infer->forward, *backward = infer->backward;
	struct infer_stray *stray = infer->stray;
	const size_t strays = infer->strays, stray_room = infer->stray_room;
	struct infer_entry *entry;
	int error;

	if (infer->value != infer->certain)
		return 0;
	infer->value = malloc(infer->value_room * sizeof(*infer->value));
	infer->guess = malloc(infer->entries * sizeof(*infer->guess));
	entry = malloc(infer->entries * sizeof(*entry));
	if (infer->value && infer->guess && entry) {
		memset(infer->guess, 0xff, infer->entries * sizeof(*infer->guess));
		memcpy(entry, infer->entry, infer->entries * sizeof(*entry));
		infer->forward = infer->backward = NULL;
		infer->stray = NULL;
		infer->strays = infer->stray_room = 0;
		infer->likely = true;
		infer->whole = false;
		error = repeat_likely(infer);
		ntrace_value_log_free(infer->forward);
		ntrace_value_log_free(infer->backward);
		free(infer->stray);
		infer->forward = forward;
		infer->backward = backward;
		infer->stray = stray;
		infer->strays = strays;
		infer->stray_room = stray_room;
		infer->likely = false;
		/* Of the accesses, what is certain. */
		memcpy(infer->entry, entry, infer->entries * sizeof(*entry));
	} else {
		free(infer->value);
		infer->value = infer->certain;
		error = NTRACE_ERR_NOMEM;
	}
	free(entry);
	free(infer->guess);
	infer->guess = NULL;
	return error;
}
