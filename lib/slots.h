/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Hash tables over arrays, for the whole library: the caller has the items, their hash and their comparison. */
#ifndef NTRACE_SLOTS_H
#define NTRACE_SLOTS_H

#include <stdbool.h>
#include <stdint.h>

#include <ntrace/error.h>

#include "large.h"

#define SLOTS_FIRST 4096

/*
 * Open addressing: an item is in the first slot from slots_at() of its hash on that was free. Zeros are an empty table.
 * @numbers: index + 1 of the item, 0: free; to be freed with free()
 * @count: of the slots, a power of two; at most half are in use
 */
struct slots {
	uint32_t *numbers;
	size_t count;
};

/* The slot for @hash; the next one is that for @slot + 1. */
static inline size_t slots_at(const struct slots *slots, uint64_t hash)
{
	return hash & (slots->count - 1);
}

/* Adds the item @index, which is not there yet. */
static inline void slots_add(struct slots *slots, uint64_t hash, size_t index)
{
	size_t slot = slots_at(slots, hash);

	while (slots->numbers[slot])
		slot = slots_at(slots, slot + 1);
	slots->numbers[slot] = (uint32_t)index + 1;
}

static inline void slots_clear(struct slots *slots)
{
	if (slots->numbers)
		memset(slots->numbers, 0, slots->count * sizeof(*slots->numbers));
}

/*
 * Makes room for one more than @count items. @cleared: set if there are more slots now, which are free: the caller
 * adds its items again. Return: 0 or NTRACE_ERR_NOMEM.
 */
static inline int slots_grow(struct slots *slots, size_t count, bool *cleared)
{
	size_t more = slots->count ? 2 * slots->count : SLOTS_FIRST;
	uint32_t *numbers;

	*cleared = false;
	if (2 * count < slots->count)
		return 0;
	numbers = more < UINT32_MAX ? large_zalloc(more * sizeof(*numbers)) : NULL;
	if (!numbers)
		return NTRACE_ERR_NOMEM;
	free(slots->numbers);
	*slots = (struct slots){ numbers, more };
	*cleared = true;
	return 0;
}

#endif
