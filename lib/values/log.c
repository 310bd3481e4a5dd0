// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Memory over time: for each 8 bytes a chain of their values, the last one first.
 *
 *	word ---> value at 900 ---> value at 350 ---> value at 12
 *
 * A value has all that is told of its 8 bytes up to then. To forget all of memory is a time in a list;
 * values before it count for nothing.
 */
#include "bisect.h"
#include "exec/integer.h"
#include "grow.h"
#include "log.h"

/* From @time on; @previous is the index of the value before plus one, 0 = none. */
struct log_value {
	uint64_t time;
	uint64_t bits, known;
	uint32_t previous;
	uint8_t told; /* bit n: byte n */
};

/* The last value of 8 bytes, index plus one; 0: the slot is free. */
struct log_word {
	uint64_t address;
	uint32_t last;
};

struct ntrace_value_log {
	struct log_value *value;
	size_t values, value_room;
	struct log_word *word; /* open addressing; @word_room is 0 or a power of 2 */
	size_t words, word_room;
	uint64_t *forgotten; /* in order */
	size_t forgets, forget_room;
	bool flat;
};

struct ntrace_value_log *ntrace_value_log_new(void)
{
	return calloc(1, sizeof(struct ntrace_value_log));
}

void log_keep_last(struct ntrace_value_log *log)
{
	log->flat = true;
}

void ntrace_value_log_free(struct ntrace_value_log *log)
{
	if (!log)
		return;
	free(log->value);
	free(log->word);
	free(log->forgotten);
	free(log);
}

/* The slot of 8 bytes, or the free one where they belong. */
static size_t slot_of(const struct log_word *word, size_t room, uint64_t address)
{
	size_t slot = (size_t)((address >> 3) * UINT64_C(0x9e3779b97f4a7c15) >> 24) & (room - 1);

	while (word[slot].last && word[slot].address != address)
		slot = (slot + 1) & (room - 1);
	return slot;
}

static int enlarge(struct ntrace_value_log *log)
{
	size_t room = log->word_room ? 2 * log->word_room : 1024;
	struct log_word *larger = calloc(room, sizeof(*larger));

	if (!larger)
		return NTRACE_ERR_NOMEM;
	for (size_t i = 0; i < log->word_room; i++)
		if (log->word[i].last)
			larger[slot_of(larger, room, log->word[i].address)] = log->word[i];
	free(log->word);
	log->word = larger;
	log->word_room = room;
	return 0;
}

/* Times up to which nothing is known at @time, plus one; 0 = none. */
static uint64_t forgotten_before(const struct ntrace_value_log *log, uint64_t time)
{
	size_t low = 0;

	BISECT(low, log->forgets, at, log->forgotten[at] <= time);
	return low ? log->forgotten[low - 1] + 1 : 0;
}

/* The slot of a word to be written. NULL: out of memory. Slots of words that are in the log stay. */
static struct log_word *find_word(struct ntrace_value_log *log, uint64_t address)
{
	size_t slot = log->word_room ? slot_of(log->word, log->word_room, address) : 0;

	if (log->word_room && (log->word[slot].last || 2 * log->words < log->word_room))
		return &log->word[slot];
	return enlarge(log) ? NULL : &log->word[slot_of(log->word, log->word_room, address)];
}

static int write_word(struct ntrace_value_log *log, uint64_t time, uint64_t address, uint8_t mask,
		      struct ntrace_exec_value new)
{
	struct log_value value = { .time = time };
	struct log_word *word;
	uint64_t known, bits, change = exec_bits_of(mask);

	word = find_word(log, address);
	if (!word)
		return NTRACE_ERR_NOMEM;
	if (word->last) {
		const struct log_value *last = &log->value[word->last - 1];

		value.previous = word->last;
		if (last->time + 1 > forgotten_before(log, time)) {
			value.bits = last->bits;
			value.known = last->known;
			value.told = last->told;
		}
	}
	known = (value.known & ~change) | (new.known &change);
	bits = (value.bits & ~change) | (new.bits &new.known &change);
	if (known == value.known && bits == value.bits && (value.told & mask) == mask)
		return 0;
	value.known = known;
	value.bits = bits;
	value.told |= mask;
	if (log->flat && word->last) {
		value.previous = 0;
		log->value[word->last - 1] = value;
		return 0;
	}
	if (log->values == UINT32_MAX ||
	    grow((void **)&log->value, log->values, &log->value_room, sizeof(value)))
		return NTRACE_ERR_NOMEM;
	log->words += !word->last;
	log->value[log->values++] = value;
	*word = (struct log_word){ address, (uint32_t)log->values };
	return 0;
}

int ntrace_value_log_write(struct ntrace_value_log *log, uint64_t time, uint64_t address,
			   uint8_t mask, struct ntrace_exec_value value)
{
	unsigned int at = address & 7;
	uint64_t word = address - at;
	struct ntrace_exec_value low = { value.bits << 8 * at, value.known << 8 * at };
	struct ntrace_exec_value high;
	uint8_t low_mask = (uint8_t)(mask << at), high_mask = (uint8_t)(mask >> (8 - at));

	if (low_mask && write_word(log, time, word, low_mask, low))
		return NTRACE_ERR_NOMEM;
	if (!at || !high_mask)
		return 0;
	high = (struct ntrace_exec_value){ value.bits >> 8 * (8 - at),
					   value.known >> 8 * (8 - at) };
	return write_word(log, time, word + 8, high_mask, high);
}

/* Changes bytes of a word that is in the log. */
static int change_word(struct ntrace_value_log *log, uint64_t time, uint64_t word, uint64_t first,
		       uint64_t last, bool zero)
{
	unsigned int from = first > word ? (unsigned int)(first - word) : 0;
	unsigned int to = last - word < 7 ? (unsigned int)(last - word) : 7;
	const struct ntrace_exec_value value = { 0, zero ? UINT64_MAX : 0 };

	return write_word(log, time, word, (uint8_t)(0xff >> (7 - to) & 0xff << from), value);
}

int ntrace_value_log_change(struct ntrace_value_log *log, uint64_t time, uint64_t first,
			    uint64_t last, bool zero)
{
	uint64_t word = first & ~UINT64_C(7), count = (last - word) / 8 + 1;
	int error = 0;

	if (!first && last == UINT64_MAX) {
		if (log->flat)
			log->forgets = 0;
		if (grow((void **)&log->forgotten, log->forgets, &log->forget_room,
			 sizeof(*log->forgotten)))
			return NTRACE_ERR_NOMEM;
		log->forgotten[log->forgets++] = time;
		return 0;
	}
	if (count <= log->word_room) {
		for (; !error && count--; word += 8)
			if (log->word[slot_of(log->word, log->word_room, word)].last)
				error = change_word(log, time, word, first, last, zero);
		return error;
	}
	for (size_t i = 0; !error && i < log->word_room; i++)
		if (log->word[i].last && log->word[i].address >= word &&
		    log->word[i].address <= last)
			error = change_word(log, time, log->word[i].address, first, last, zero);
	return error;
}

bool ntrace_value_log_forgot(const struct ntrace_value_log *log, uint64_t time)
{
	return forgotten_before(log, time) > 0;
}

struct ntrace_exec_value ntrace_value_log_read(const struct ntrace_value_log *log, uint64_t time,
					       uint64_t address, unsigned int bytes, uint8_t *told)
{
	unsigned int at = address & 7;
	uint8_t mask = (uint8_t)((1u << bytes) - 1);
	struct ntrace_exec_value found = { 0, 0 };
	const struct log_value *value;
	uint32_t index = 0;

	if (told)
		*told = 0;
	if (log->word_room)
		index = log->word[slot_of(log->word, log->word_room, address - at)].last;
	while (index && log->value[index - 1].time > time)
		index = log->value[index - 1].previous;
	if (!index)
		return found;
	value = &log->value[index - 1];
	if (value->time + 1 <= forgotten_before(log, time))
		return found;
	found.known = value->known >> 8 * at & exec_low_bits(bytes);
	found.bits = value->bits >> 8 * at & found.known;
	if (told)
		*told = (uint8_t)(value->told >> at & mask);
	return found;
}

uint64_t log_told(const struct ntrace_value_log *log, uint64_t time, uint64_t address)
{
	uint64_t forgotten = forgotten_before(log, time);
	uint32_t index = 0;

	if (log->word_room)
		index = log->word[slot_of(log->word, log->word_room, address & ~UINT64_C(7))].last;
	while (index && log->value[index - 1].time > time)
		index = log->value[index - 1].previous;
	return index && log->value[index - 1].time + 1 > forgotten ? log->value[index - 1].time : 0;
}

/* Whether bytes of a word differ between a value and the one before it. */
static bool differs(const struct ntrace_value_log *log, const struct log_value *value, uint8_t mask)
{
	const struct log_value none = { 0 };
	const struct log_value *before = value->previous ? &log->value[value->previous - 1] : &none;

	return ((value->told ^ before->told) & mask) ||
	       (((value->known ^ before->known) | (value->bits ^ before->bits)) &
		exec_bits_of(mask));
}

/*
 * The change of a word that is the last one up to @until, or the first one of those after @after. Return:
 * its time, 0: none.
 */
static uint64_t change_of(const struct ntrace_value_log *log, uint64_t word, uint8_t mask,
			  uint64_t after, uint64_t until, bool earliest)
{
	uint32_t index = 0;
	uint64_t found = 0;

	if (log->word_room)
		index = log->word[slot_of(log->word, log->word_room, word)].last;
	for (; index; index = log->value[index - 1].previous) {
		const struct log_value *value = &log->value[index - 1];

		if (value->time <= after || (found && !earliest))
			break;
		if (value->time <= until && differs(log, value, mask))
			found = value->time;
	}
	return found;
}

static bool find_change(const struct ntrace_value_log *log, uint64_t first, uint64_t last,
			uint64_t after, uint64_t until, bool earliest, uint64_t *when)
{
	uint64_t word = first & ~UINT64_C(7), count = (last - word) / 8 + 1;
	/* Of a large range, the words that are in the log. */
	bool all = count > log->word_room;

	*when = 0;
	if (last < first)
		return false;
	for (uint64_t i = 0; i < (all ? log->word_room : count); i++) {
		uint64_t at = all ? log->word[i].address : word + 8 * i, time;
		unsigned int from, to;

		if (all && (!log->word[i].last || at < word || at > last))
			continue;
		from = first > at ? (unsigned int)(first - at) : 0;
		to = last - at < 7 ? (unsigned int)(last - at) : 7;
		time = change_of(log, at, (uint8_t)(0xff >> (7 - to) & 0xff << from), after, until,
				 earliest);
		if (time && (!*when || (earliest ? time < *when : time > *when)))
			*when = time;
	}
	return *when;
}

bool log_changed(const struct ntrace_value_log *log, uint64_t time, uint64_t first, uint64_t last,
		 uint64_t *when)
{
	uint64_t forgotten = forgotten_before(log, time);

	return find_change(log, first, last, forgotten ? forgotten - 1 : 0, time, false, when);
}

bool log_changes(const struct ntrace_value_log *log, uint64_t time, uint64_t until, uint64_t first,
		 uint64_t last, uint64_t *when)
{
	return find_change(log, first, last, time, until, true, when);
}
