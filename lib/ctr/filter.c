// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Conversion between perf's branch stacks and CTR. The driver has the same tables in the kernel's
 * own terms; a test compares the two.
 */
#include <ntrace/ctr.h>

#define TYPE(name) (1u << NTRACE_CTR_TYPE_##name)

/* Per TYPE: the bit that inhibits it (for type 4: enables it), and perf's branch type. */
static const struct {
	uint64_t inhibit;
	uint8_t perf;
} types[16] = {
	[NTRACE_CTR_TYPE_EXCEPTION] = { NTRACE_CTR_CTL(EXCINH), NTRACE_PERF_BRANCH_SYSCALL },
	[NTRACE_CTR_TYPE_INTERRUPT] = { NTRACE_CTR_CTL(INTRINH), NTRACE_PERF_BRANCH_IRQ },
	[NTRACE_CTR_TYPE_TRAP_RETURN] = { NTRACE_CTR_CTL(TRETINH), NTRACE_PERF_BRANCH_ERET },
	[NTRACE_CTR_TYPE_BRANCH_NOT_TAKEN] = { 0, NTRACE_PERF_BRANCH_COND },
	[NTRACE_CTR_TYPE_BRANCH_TAKEN] = { NTRACE_CTR_CTL(TKBRINH), NTRACE_PERF_BRANCH_COND },
	[NTRACE_CTR_TYPE_INDIRECT_CALL] = { NTRACE_CTR_CTL(INDCALLINH),
					    NTRACE_PERF_BRANCH_IND_CALL },
	[NTRACE_CTR_TYPE_DIRECT_CALL] = { NTRACE_CTR_CTL(DIRCALLINH), NTRACE_PERF_BRANCH_CALL },
	[NTRACE_CTR_TYPE_INDIRECT_JUMP] = { NTRACE_CTR_CTL(INDJMPINH), NTRACE_PERF_BRANCH_IND },
	[NTRACE_CTR_TYPE_DIRECT_JUMP] = { NTRACE_CTR_CTL(DIRJMPINH), NTRACE_PERF_BRANCH_UNCOND },
	[NTRACE_CTR_TYPE_COROUTINE_SWAP] = { NTRACE_CTR_CTL(CORSWAPINH),
					     NTRACE_PERF_BRANCH_IND_CALL },
	[NTRACE_CTR_TYPE_RETURN] = { NTRACE_CTR_CTL(RETINH), NTRACE_PERF_BRANCH_RET },
	[NTRACE_CTR_TYPE_OTHER_INDIRECT_JUMP] = { NTRACE_CTR_CTL(INDLJMPINH),
						  NTRACE_PERF_BRANCH_IND },
	[NTRACE_CTR_TYPE_OTHER_DIRECT_JUMP] = { NTRACE_CTR_CTL(DIRLJMPINH),
						NTRACE_PERF_BRANCH_UNCOND },
};

/* perf's filters and the types that each selects. A swap counts as a call and as a return. */
static const struct {
	uint64_t sample;
	uint32_t types;
} filters[] = {
	{ NTRACE_PERF_SAMPLE_ANY, 0xffff },
	{ NTRACE_PERF_SAMPLE_ANY_CALL, TYPE(DIRECT_CALL) | TYPE(INDIRECT_CALL) |
					       TYPE(COROUTINE_SWAP) | TYPE(EXCEPTION) |
					       TYPE(INTERRUPT) },
	{ NTRACE_PERF_SAMPLE_ANY_RETURN, TYPE(RETURN) | TYPE(COROUTINE_SWAP) | TYPE(TRAP_RETURN) },
	{ NTRACE_PERF_SAMPLE_IND_CALL, TYPE(INDIRECT_CALL) | TYPE(COROUTINE_SWAP) },
	{ NTRACE_PERF_SAMPLE_CALL, TYPE(DIRECT_CALL) },
	{ NTRACE_PERF_SAMPLE_COND, TYPE(BRANCH_TAKEN) },
	{ NTRACE_PERF_SAMPLE_IND_JUMP, TYPE(INDIRECT_JUMP) | TYPE(OTHER_INDIRECT_JUMP) },
};

#define FILTERS (sizeof(filters) / sizeof(filters[0]))

unsigned int ntrace_ctr_perf_type(unsigned int type)
{
	return type < 16 ? types[type].perf : NTRACE_PERF_BRANCH_UNKNOWN;
}

unsigned int ntrace_ctr_perf_exception(uint32_t insn)
{
	return insn == 0x73 ? NTRACE_PERF_BRANCH_SYSCALL : NTRACE_PERF_BRANCH_UNKNOWN;
}

static int call_stack_filter(uint64_t implemented, bool supervisor, bool more,
			     struct ntrace_ctr_filter *filter)
{
	if (more)
		return NTRACE_ERR_INVALID;
	/* The kernel's calls would be pushed on the same stack. */
	if (supervisor || !(implemented & NTRACE_CTR_CTL(RASEMU)))
		return NTRACE_ERR_UNSUPPORTED;
	filter->control |= NTRACE_CTR_CTL(RASEMU);
	filter->types = TYPE(NONE) | TYPE(DIRECT_CALL) | TYPE(INDIRECT_CALL) | TYPE(COROUTINE_SWAP);
	return 0;
}

/*
 * Inhibits the types not asked for. For a type that the hart cannot inhibit, records must have
 * TYPE.
 */
static int inhibit_others(uint64_t implemented, unsigned int features,
			  struct ntrace_ctr_filter *filter)
{
	for (unsigned int type = 0; type < 16; type++) {
		if (filter->types >> type & 1 || !types[type].inhibit)
			continue;
		if (implemented & types[type].inhibit)
			filter->control |= types[type].inhibit;
		else if (!(features & NTRACE_CTR_HAS_TYPE))
			return NTRACE_ERR_UNSUPPORTED;
	}
	return 0;
}

int ntrace_ctr_filter_from_perf(uint64_t sample, uint64_t implemented, unsigned int features,
				struct ntrace_ctr_filter *filter)
{
	bool supervisor = sample & (NTRACE_PERF_SAMPLE_KERNEL | NTRACE_PERF_SAMPLE_HV);
	uint64_t unknown = sample & ~(NTRACE_PERF_SAMPLE_REPORT | NTRACE_PERF_SAMPLE_USER |
				      NTRACE_PERF_SAMPLE_KERNEL | NTRACE_PERF_SAMPLE_HV |
				      NTRACE_PERF_SAMPLE_CALL_STACK);
	struct ntrace_ctr_filter result = { .control = implemented & NTRACE_CTR_CTL(LCOFIFRZ) };
	int error;

	for (size_t i = 0; i < FILTERS; i++) {
		if (sample & filters[i].sample)
			result.types |= filters[i].types;
		unknown &= ~filters[i].sample;
	}
	if (unknown)
		return NTRACE_ERR_UNSUPPORTED;
	if (sample & NTRACE_PERF_SAMPLE_USER)
		result.control |= NTRACE_CTR_CTL(U);
	if (supervisor)
		result.control |= NTRACE_CTR_CTL(S);
	if (!(result.control & (NTRACE_CTR_CTL(U) | NTRACE_CTR_CTL(S))))
		return NTRACE_ERR_INVALID;
	if (sample & NTRACE_PERF_SAMPLE_CALL_STACK) {
		error = call_stack_filter(implemented, supervisor, result.types, &result);
	} else {
		if (!result.types)
			return NTRACE_ERR_INVALID;
		/* Records without TYPE are indistinguishable. */
		result.types |= TYPE(NONE);
		error = inhibit_others(implemented, features, &result);
	}
	if (!error)
		*filter = result;
	return error;
}

uint64_t ntrace_ctr_filter_to_perf(uint64_t control)
{
	uint64_t sample = (control & NTRACE_CTR_CTL(U) ? NTRACE_PERF_SAMPLE_USER : 0) |
			  (control & NTRACE_CTR_CTL(S) ? NTRACE_PERF_SAMPLE_KERNEL : 0);
	uint32_t recorded = 0xffff;

	if (control & NTRACE_CTR_CTL(RASEMU))
		return sample | NTRACE_PERF_SAMPLE_CALL_STACK;
	for (unsigned int type = 0; type < 16; type++)
		if (control & types[type].inhibit)
			recorded &= ~(1u << type);
	if (recorded == 0xffff)
		return sample | NTRACE_PERF_SAMPLE_ANY;
	for (size_t i = 0; i < FILTERS; i++)
		if (!(filters[i].types & ~recorded))
			sample |= filters[i].sample;
	return sample;
}
