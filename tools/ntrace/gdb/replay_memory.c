// SPDX-License-Identifier: GPL-2.0-only
/* Memory over time, see replay_memory.h. */
#include <stdlib.h>

#include "history.h"
#include "replay_memory.h"

void replay_memory_free(struct replay_memory *memory)
{
	free(memory->value);
	free(memory->word);
	free(memory->forgotten);
	*memory = (struct replay_memory){ 0 };
}

/* The slot of 8 bytes, or the free one where they belong. */
static size_t slot_of(const struct replay_word *word, size_t room, uint64_t address)
{
	size_t slot = (size_t)((address >> 3) * UINT64_C(0x9e3779b97f4a7c15) >> 24) & (room - 1);

	while (word[slot].last && word[slot].address != address)
		slot = (slot + 1) & (room - 1);
	return slot;
}

static bool enlarge(struct replay_memory *memory)
{
	size_t room = memory->word_room ? 2 * memory->word_room : 1024;
	struct replay_word *larger = calloc(room, sizeof(*larger));

	if (!larger)
		return false;
	for (size_t i = 0; i < memory->word_room; i++)
		if (memory->word[i].last)
			larger[slot_of(larger, room, memory->word[i].address)] = memory->word[i];
	free(memory->word);
	memory->word = larger;
	memory->word_room = room;
	return true;
}

/* Groups up to which nothing is known at @group, plus one; 0 = none. */
static uint64_t forgotten_before(const struct replay_memory *memory, uint64_t group)
{
	size_t low = 0, high = memory->forgets;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (memory->forgotten[middle] <= group)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? memory->forgotten[low - 1] + 1 : 0;
}

static uint64_t mask_of(unsigned int known)
{
	uint64_t mask = 0;

	for (unsigned int i = 0; i < 8; i++)
		if (known >> i & 1)
			mask |= UINT64_C(0xff) << 8 * i;
	return mask;
}

/* The same for bytes of one word: byte n of the word is in bit n of @bytes. */
static bool write_word(struct replay_memory *memory, uint64_t group, uint64_t address,
		       unsigned int bytes, uint64_t bits, bool only_new)
{
	const struct replay_value *last = NULL;
	struct replay_value value = { .group = group };
	struct replay_word *word;
	uint64_t mask;

	if (2 * memory->words >= memory->word_room && !enlarge(memory))
		return false;
	word = &memory->word[slot_of(memory->word, memory->word_room, address)];
	if (word->last) {
		last = &memory->value[word->last - 1];
		value.previous = word->last;
		if (last->group + 1 > forgotten_before(memory, group)) {
			value.bits = last->bits;
			value.known = last->known;
		}
	}
	if (only_new)
		bytes &= ~(unsigned int)value.known;
	mask = mask_of(bytes);
	if ((value.known & bytes) == bytes && !((value.bits ^ bits) & mask))
		return true;
	value.bits = (value.bits & ~mask) | (bits & mask);
	value.known |= (uint8_t)bytes;
	if (memory->values == UINT32_MAX ||
	    !history_grow(&memory->value, memory->values, &memory->value_room, sizeof(value)))
		return false;
	memory->words += !word->last;
	memory->value[memory->values++] = value;
	*word = (struct replay_word){ address, (uint32_t)memory->values };
	return true;
}

bool replay_memory_write(struct replay_memory *memory, uint64_t group, uint64_t address,
			 unsigned int bytes, uint64_t bits, bool only_new)
{
	unsigned int at = address & 7, all = (1u << bytes) - 1;
	uint64_t word = address - at;

	if (!write_word(memory, group, word, all << at & 0xff, bits << 8 * at, only_new))
		return false;
	return at + bytes <= 8 ||
	       write_word(memory, group, word + 8, all >> (8 - at), bits >> 8 * (8 - at), only_new);
}

bool replay_memory_forget(struct replay_memory *memory, uint64_t group)
{
	if (!history_grow(&memory->forgotten, memory->forgets, &memory->forget_room,
			  sizeof(*memory->forgotten)))
		return false;
	memory->forgotten[memory->forgets++] = group;
	return true;
}

bool replay_memory_forgot(const struct replay_memory *memory, uint64_t group)
{
	return forgotten_before(memory, group) > 0;
}

unsigned int replay_memory_read(const struct replay_memory *memory, uint64_t group,
				uint64_t address, unsigned int bytes, uint64_t *bits)
{
	unsigned int at = address & 7, known;
	const struct replay_value *value;
	uint32_t index = 0;

	*bits = 0;
	if (memory->word_room)
		index = memory->word[slot_of(memory->word, memory->word_room, address - at)].last;
	while (index && memory->value[index - 1].group > group)
		index = memory->value[index - 1].previous;
	if (!index)
		return 0;
	value = &memory->value[index - 1];
	if (value->group + 1 <= forgotten_before(memory, group))
		return 0;
	known = value->known >> at & ((1u << bytes) - 1);
	*bits = value->bits >> 8 * at & mask_of(known);
	return known;
}
