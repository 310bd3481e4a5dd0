// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Where a stack waits, and the stacks set aside that go on. */
#include "transfer.h"

bool layer_is_resumed(const struct layer *layer, uint64_t address)
{
	return layer->resumes && (address == layer->resume ||
				  (layer->skip && address == layer->resume + layer->skip));
}

uint32_t stack_find_resumed(const struct stack *stack, uint64_t address, unsigned int privilege)
{
	unsigned int i;

	for (i = stack->layer_count; i-- > 0;) {
		unsigned int below = i ? stack->layers[i - 1].privilege : PRIVILEGE_ANY;

		if (layer_is_resumed(&stack->layers[i], address) &&
		    (privilege == PRIVILEGE_ANY || below == PRIVILEGE_ANY || below == privilege))
			return i;
	}
	return NOWHERE;
}

uint32_t stack_find_return(const struct stack *stack, uint32_t low, uint64_t address)
{
	uint32_t i;

	for (i = stack->count; i-- > low;)
		if (stack->frames[i].returns && stack->frames[i].ret == address)
			return i;
	return NOWHERE;
}

int aside_return(struct ntrace_stacks *stacks, struct thread *thread, uint64_t address, bool *found)
{
	size_t i;

	*found = false;
	for (i = thread->aside_count; i-- > 0;) {
		uint32_t frame = stack_find_return(&thread->aside[i], 0, address);

		if (frame == NOWHERE || !frame)
			continue;
		*found = true;
		stacks->stats.switched++;
		return stack_restore(stacks, thread, i, frame);
	}
	return 0;
}

int aside_resume(struct ntrace_stacks *stacks, struct thread *thread, uint64_t address,
		 unsigned int privilege, bool *found)
{
	size_t i;
	uint32_t layer;

	*found = false;
	for (i = thread->aside_count; i-- > 0;) {
		const struct stack *stack = &thread->aside[i];

		if (stack->goes_on && stack->next == address && stack->count &&
		    (privilege == PRIVILEGE_ANY ||
		     privilege == stack->layers[stack->layer_count - 1].privilege)) {
			*found = true;
			stacks->stats.switched++;
			return stack_restore(stacks, thread, i, stack->count);
		}
		layer = stack_find_resumed(stack, address, privilege);
		if (layer == NOWHERE || !layer || !stack->layers[layer].base)
			continue;
		*found = true;
		stacks->stats.switched++;
		return stack_restore(stacks, thread, i, stack->layers[layer].base);
	}
	return 0;
}
