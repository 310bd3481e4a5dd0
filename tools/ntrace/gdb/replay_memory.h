/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Memory over time: for each 8 bytes a chain of their values, the last one first. Values are added in
 * the order of their groups, and take 24 bytes each.
 */
#ifndef NTRACE_TOOL_GDB_REPLAY_MEMORY_H
#define NTRACE_TOOL_GDB_REPLAY_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* From group @group on; @previous is the index of the value before plus one, 0 = none. */
struct replay_value {
	uint64_t group;
	uint64_t bits;
	uint32_t previous;
	uint8_t known;	/* bit n: byte n */
};

/* The last value of 8 bytes, index plus one; 0: the slot is free. */
struct replay_word {
	uint64_t address;
	uint32_t last;
};

/* Initially all 0. @forgotten: groups after which nothing is known that was told before, in order */
struct replay_memory {
	struct replay_value *value;
	size_t values, value_room;
	struct replay_word *word;	/* open addressing; @word_room is 0 or a power of 2 */
	size_t words, word_room;
	uint64_t *forgotten;
	size_t forgets, forget_room;
};

void replay_memory_free(struct replay_memory *memory);

/**
 * replay_memory_write - bytes of group @group, which is not below those before
 * @bytes: 1 to 8
 * @only_new: leave bytes that are known as they are
 *
 * Return: false when out of memory.
 */
bool replay_memory_write(struct replay_memory *memory, uint64_t group, uint64_t address,
			 unsigned int bytes, uint64_t bits, bool only_new);

/** replay_memory_forget - nothing is known after group @group. Return: false when out of memory */
bool replay_memory_forget(struct replay_memory *memory, uint64_t group);

/**
 * replay_memory_read - bytes after group @group, none of them behind the next multiple of 8
 *
 * Return: bit n: byte n is known; the others are 0.
 */
unsigned int replay_memory_read(const struct replay_memory *memory, uint64_t group,
				uint64_t address, unsigned int bytes, uint64_t *bits);

/** replay_memory_forgot - whether something was forgotten up to a group */
bool replay_memory_forgot(const struct replay_memory *memory, uint64_t group);

#endif /* NTRACE_TOOL_GDB_REPLAY_MEMORY_H */
