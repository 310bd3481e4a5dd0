/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Numbers for pairs of numbers, for the whole library. */
#ifndef NTRACE_PAIRS_H
#define NTRACE_PAIRS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include <ntrace/error.h>

struct pair {
	uint64_t a;
	uint64_t b;
	uint64_t number;
};

/* A hash table, at most half full; @room is a power of two. All zeros are an empty table. */
struct pairs {
	struct pair *slots;
	size_t count;
	size_t room;
};

static inline size_t pairs_slot(const struct pairs *pairs, uint64_t a, uint64_t b)
{
	uint64_t hash = (a * UINT64_C(0x9e3779b97f4a7c15) ^ b) * UINT64_C(0xc2b2ae3d27d4eb4f);

	return (hash ^ hash >> 31) & (pairs->room - 1);
}

static inline int pairs_grow(struct pairs *pairs)
{
	struct pairs bigger = { .count = pairs->count,
				.room = pairs->room ? 2 * pairs->room : 256 };
	size_t i, slot;

	if (2 * pairs->count < pairs->room)
		return 0;
	bigger.slots = calloc(bigger.room, sizeof(*bigger.slots));
	if (!bigger.slots)
		return NTRACE_ERR_NOMEM;
	for (i = 0; i < pairs->room; i++) {
		if (!pairs->slots[i].number)
			continue;
		slot = pairs_slot(&bigger, pairs->slots[i].a, pairs->slots[i].b);
		while (bigger.slots[slot].number)
			slot = (slot + 1) & (bigger.room - 1);
		bigger.slots[slot] = pairs->slots[i];
	}
	free(pairs->slots);
	*pairs = bigger;
	return 0;
}

/*
 * The number of a pair, from 1 on in the order of first use; @is_new: the number is new. 0: out of
 * memory.
 */
static inline uint64_t pairs_number(struct pairs *pairs, uint64_t a, uint64_t b, bool *is_new)
{
	size_t slot;

	*is_new = false;
	if (pairs_grow(pairs))
		return 0;
	for (slot = pairs_slot(pairs, a, b); pairs->slots[slot].number;
	     slot = (slot + 1) & (pairs->room - 1)) {
		if (pairs->slots[slot].a == a && pairs->slots[slot].b == b)
			return pairs->slots[slot].number;
	}
	*is_new = true;
	pairs->slots[slot] = (struct pair){ a, b, ++pairs->count };
	return pairs->count;
}

static inline void pairs_free(struct pairs *pairs)
{
	free(pairs->slots);
	*pairs = (struct pairs){ 0 };
}

#endif
