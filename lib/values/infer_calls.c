// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* System calls between two instructions, forwards and backwards: what they may have written, and which memory is not the thread's own. */
#include "infer.h"
#include "values.h"

#define A0 10
#define A7 17

#define CLONE_VM_FLAG	 0x100u
#define CLONE_VFORK_FLAG 0x4000u

/* Memory that others write, or may have written at some time. What was found so far may be wrong. */
static void distrust(struct infer *infer, uint64_t first, uint64_t last)
{
	if (infer->likely || infer->uncertain)
		return;
	if (anchors_shares(&infer->distrusted, first, last))
		return;
	infer->distrusts = true;
	if (infer->distrusted.shares > 4096 || anchors_share(&infer->distrusted, first, last))
		infer->uncertain = true;
}

static void doubt(struct infer *infer)
{
	infer->distrusts |= !infer->uncertain && !infer->likely;
	infer->uncertain |= !infer->likely;
}

struct passing {
	struct infer *infer;
	bool backward;
};

static int forget_output(void *user, uint64_t first, uint64_t last, enum syscall_content content)
{
	const struct passing *passing = user;

	if (content == SYSCALL_VOLATILE)
		distrust(passing->infer, first, last);
	infer_forget(passing->infer, passing->backward, first, last);
	return 0;
}

/* The heap ends at @end now. What is above the old end, or the new one, is new or gone. */
static void pass_brk(const struct passing *passing, const struct syscall *call, bool result_known)
{
	struct infer *infer = passing->infer;
	struct infer_entry *entry = &infer->entry[infer->now];
	uint64_t end = (uint64_t)call->result, before;

	if (call->known & 1 && !call->argument[0]) {
		infer->brk = result_known ? end : infer->brk;
		return;
	}
	/* Backwards, it is what the way forwards has found. */
	if (!passing->backward)
		entry->address = infer->brk;
	before = entry->address;
	if (!passing->backward)
		infer->brk = result_known ? end : 0;
	if (!before || !result_known)
		infer_forget(infer, passing->backward, 0, UINT64_MAX);
	else if (before != end)
		infer_forget(infer, passing->backward, before < end ? before : end,
			     (before < end ? end : before) - 1);
}

/* A child that shares the memory. */
static void pass_clone(const struct passing *passing, const struct syscall *call)
{
	uint64_t flags = call->argument[0];

	if (call->known & 1 && !(flags & CLONE_VM_FLAG)) {
		if (syscall_writes(call, forget_output, (void *)(uintptr_t)passing))
			infer_forget(passing->infer, passing->backward, 0, UINT64_MAX);
		return;
	}
	if (!(call->known & 1) || !(flags & CLONE_VFORK_FLAG))
		doubt(passing->infer);
	infer_forget(passing->infer, passing->backward, 0, UINT64_MAX);
}

void infer_pass_stop(struct infer *infer, bool backward, uint32_t result)
{
	struct passing passing = { infer, backward };
	const struct ntrace_exec_value *value = infer->value;
	struct ntrace_exec_value number = value[infer->current[A7]];
	bool result_known = value[result].known == UINT64_MAX;
	struct syscall call = { .number = number.bits, .result = (int64_t)value[result].bits };

	if (number.known != UINT64_MAX) {
		infer_forget(infer, backward, 0, UINT64_MAX);
		return;
	}
	for (unsigned int i = 0; i < 6; i++) {
		call.argument[i] = value[infer->current[A0 + i]].bits;
		if (value[infer->current[A0 + i]].known == UINT64_MAX)
			call.known |= 1u << i;
	}
	if (syscall_is_uncertain(call.number) || call.number == SYSCALL_CLONE3)
		doubt(infer);
	if (call.number == SYSCALL_BRK) {
		pass_brk(&passing, &call, result_known);
		return;
	}
	if (call.number == SYSCALL_CLONE) {
		pass_clone(&passing, &call);
		return;
	}
	if (call.number == SYSCALL_MUNMAP) {
		/* Whether it was shared, nobody tells any more. */
		if ((call.known & 3) == 3 && call.argument[1])
			distrust(infer, call.argument[0], call.argument[0] + call.argument[1] - 1);
		else
			infer_forget(infer, backward, 0, UINT64_MAX);
		return;
	}
	/* An error tells nothing of how much was written; without the place of a mapping it may be anywhere. */
	if (!result_known)
		call.result = -1;
	if ((call.number == SYSCALL_MMAP && !result_known) ||
	    syscall_writes(&call, forget_output, &passing))
		infer_forget(infer, backward, 0, UINT64_MAX);
}
