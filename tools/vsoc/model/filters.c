// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <string.h>

#include "filters.h"

#define PRIVILEGES (1u << TR_PRIV_U | 1u << TR_PRIV_S | 1u << TR_PRIV_M | \
		    1u << TR_PRIV_VU | 1u << TR_PRIV_VS)
#define PLAIN (TR_TE_FILTER_CONTROL_ENABLE | TR_TE_FILTER_CONTROL_MATCH_PRIVILEGE)
#define TRAPS (TR_TE_FILTER_CONTROL_MATCH_ECAUSE | TR_TE_FILTER_CONTROL_MATCH_INTERRUPT)
#define DEPTH_MAX 255

void filters_reset(struct filters *filters)
{
	filters->selected = 0;
	memset(filters->filter, 0, sizeof(filters->filter));
	memset(filters->comparator, 0, sizeof(filters->comparator));
}

static void set_part(uint64_t *whole, bool high, uint32_t value)
{
	unsigned int shift = high ? 32 : 0;

	*whole = (*whole & ~((uint64_t)UINT32_MAX << shift)) | (uint64_t)value << shift;
}

/* A selector of a missing comparator becomes that of the last one (WARL). */
static uint32_t legal_filter(const struct filters *filters, uint32_t value)
{
	uint32_t control = value & (PLAIN | TRAPS);

	for (unsigned int i = 0; i < 3 && filters->comparators; i++) {
		uint32_t which = TR_TE_FILTER_COMP(value, i);

		if (which >= filters->comparators)
			which = filters->comparators - 1;
		control |= value & TR_TE_FILTER_CONTROL_MATCH_COMP(i);
		control |= which << TR_TE_FILTER_COMP_SHIFT(i);
	}
	return control;
}

/* A missing input becomes iaddr (WARL). */
static uint32_t legal_comparator(const struct filters *filters, uint32_t value)
{
	uint32_t control = value & TR_TE_COMP_CONTROL_MASK;

	if (TR_TE_COMP_P_INPUT(value) > filters->contexts)
		control &= ~TR_TE_COMP_P_INPUT_MASK;
	if (TR_TE_COMP_S_INPUT(value) > filters->contexts)
		control &= ~TR_TE_COMP_S_INPUT_MASK;
	return control;
}

static void write_filter(struct filters *filters, unsigned int i, uint32_t part, uint32_t value)
{
	if (i >= filters->count)
		return;
	switch (part) {
	case 0x00:
		filters->filter[i].control = legal_filter(filters, value);
		filters->filter[i].depth = 0;
		break;
	case 0x04:
		filters->filter[i].match_inst = value &
						(PRIVILEGES | TR_TE_FILTER_MATCH_INST_INTERRUPT);
		break;
	case 0x08:
	case 0x0c:
		set_part(&filters->filter[i].ecause, part == 0x0c, value);
		break;
	}
}

static void write_comparator(struct filters *filters, unsigned int i, uint32_t part, uint32_t value)
{
	if (i >= filters->comparators)
		return;
	switch (part) {
	case 0x00:
		filters->comparator[i].control = legal_comparator(filters, value);
		/* A P function that never matches primes the latch to 1. */
		filters->comparator[i].latch = TR_TE_COMP_P_FUNCTION(value) ==
					       TR_TE_COMP_FUNCTION_FALSE;
		filters->comparator[i].release = false;
		break;
	case 0x10:
	case 0x14:
		set_part(&filters->comparator[i].p, part == 0x14, value);
		break;
	case 0x18:
	case 0x1c:
		set_part(&filters->comparator[i].s, part == 0x1c, value);
		break;
	}
}

void filters_write(struct filters *filters, uint32_t offset, uint32_t value)
{
	if (offset == TR_TE_INST_FILTERS)
		filters->selected = value & ((1u << filters->count) - 1);
	else if (offset >= TR_TE_COMPARATOR_BASE)
		write_comparator(filters,
				 (offset - TR_TE_COMPARATOR_BASE) / TR_TE_COMPARATOR_STRIDE,
				 offset % TR_TE_COMPARATOR_STRIDE, value);
	else if (offset >= TR_TE_FILTER_BASE)
		write_filter(filters, (offset - TR_TE_FILTER_BASE) / TR_TE_FILTER_STRIDE,
			     offset % TR_TE_FILTER_STRIDE, value);
}

static uint32_t read_filter(const struct filters *filters, unsigned int i, uint32_t part)
{
	if (i >= filters->count)
		return 0;
	switch (part) {
	case 0x00:
		return filters->filter[i].control;
	case 0x04:
		return filters->filter[i].match_inst;
	case 0x08:
		return (uint32_t)filters->filter[i].ecause;
	case 0x0c:
		return filters->filter[i].ecause >> 32;
	default:
		return 0;
	}
}

static uint32_t read_comparator(const struct filters *filters, unsigned int i, uint32_t part)
{
	if (i >= filters->comparators)
		return 0;
	switch (part) {
	case 0x00:
		return filters->comparator[i].control;
	case 0x10:
		return (uint32_t)filters->comparator[i].p;
	case 0x14:
		return filters->comparator[i].p >> 32;
	case 0x18:
		return (uint32_t)filters->comparator[i].s;
	case 0x1c:
		return filters->comparator[i].s >> 32;
	default:
		return 0;
	}
}

uint32_t filters_read(const struct filters *filters, uint32_t offset)
{
	if (offset == TR_TE_INST_FILTERS)
		return filters->selected;
	if (offset >= TR_TE_COMPARATOR_BASE)
		return read_comparator(filters,
				       (offset - TR_TE_COMPARATOR_BASE) / TR_TE_COMPARATOR_STRIDE,
				       offset % TR_TE_COMPARATOR_STRIDE);
	if (offset >= TR_TE_FILTER_BASE)
		return read_filter(filters, (offset - TR_TE_FILTER_BASE) / TR_TE_FILTER_STRIDE,
				   offset % TR_TE_FILTER_STRIDE);
	return 0;
}

static bool notifies(const struct filters *filters)
{
	for (unsigned int i = 0; i < filters->comparators; i++)
		if (filters->comparator[i].control & TR_TE_COMP_NOTIFY_MASK)
			return true;
	return false;
}

bool filters_privileges(const struct filters *filters, uint32_t *mask)
{
	*mask = filters->selected ? 0 : ~0u;
	if (notifies(filters))
		return false;
	for (unsigned int i = 0; i < filters->count; i++) {
		uint32_t control = filters->filter[i].control;

		if (!(filters->selected >> i & 1) || !(control & TR_TE_FILTER_CONTROL_ENABLE))
			continue;
		if (control & (TRAPS | TR_TE_FILTER_CONTROL_MATCH_COMPS))
			return false;
		*mask |= control & TR_TE_FILTER_CONTROL_MATCH_PRIVILEGE ?
				 filters->filter[i].match_inst & TR_TE_FILTER_MATCH_INST_PRIV_MASK :
				 ~0u;
	}
	return true;
}

/* Functions 0 to 5 and 7, which both comparisons have. */
static bool compare(unsigned int function, uint64_t input, uint64_t match)
{
	switch (function) {
	case TR_TE_COMP_FUNCTION_EQ:
		return input == match;
	case TR_TE_COMP_FUNCTION_NE:
		return input != match;
	case TR_TE_COMP_FUNCTION_LT:
		return input < match;
	case TR_TE_COMP_FUNCTION_LE:
		return input <= match;
	case TR_TE_COMP_FUNCTION_GT:
		return input > match;
	case TR_TE_COMP_FUNCTION_GE:
		return input >= match;
	case TR_TE_COMP_FUNCTION_TRUE:
		return true;
	default:
		return false;
	}
}

/*
 * Return: 1 if the comparator matches, else 0, plus FILTERS_NOTIFY if it
 * notifies.
 */
static unsigned int compare_block(struct filters *filters, unsigned int i, uint64_t iaddr,
				  uint64_t context)
{
	uint32_t control = filters->comparator[i].control;
	uint64_t match = filters->comparator[i].p,
		 input = TR_TE_COMP_P_INPUT(control) ? context : iaddr;
	bool masked = TR_TE_COMP_S_FUNCTION(control) == TR_TE_COMP_FUNCTION_FALSE;
	bool p, s, result;

	/* S function 6: the S value masks the bits of P. */
	if (masked) {
		match &= filters->comparator[i].s;
		input &= filters->comparator[i].s;
	}
	p = compare(TR_TE_COMP_P_FUNCTION(control), input, match);
	s = masked ||
	    compare(TR_TE_COMP_S_FUNCTION(control), TR_TE_COMP_S_INPUT(control) ? context : iaddr,
		    filters->comparator[i].s);
	switch (TR_TE_COMP_MODE(control)) {
	case TR_TE_COMP_MODE_AND:
		result = p && s;
		break;
	case TR_TE_COMP_MODE_NAND:
		result = !(p && s);
		break;
	case TR_TE_COMP_MODE_LATCH:
		/*
		 * The latch holds until the instruction after the one that S
		 * matched.
		 */
		if (filters->comparator[i].release)
			filters->comparator[i].latch = false;
		filters->comparator[i].latch |= p;
		filters->comparator[i].release = s && filters->comparator[i].latch;
		result = filters->comparator[i].latch;
		break;
	default:
		result = p;
	}
	if ((p && (control & TR_TE_COMP_P_NOTIFY)) || (s && (control & TR_TE_COMP_S_NOTIFY)))
		return FILTERS_NOTIFY | result;
	return result;
}

static bool trap_matches(uint32_t control, uint32_t match_inst, uint64_t ecause,
			 const struct ntrace_ingress *block, uint64_t cause)
{
	bool interrupt = block->itype == NTRACE_ITYPE_INTERRUPT;

	if ((control & TR_TE_FILTER_CONTROL_MATCH_INTERRUPT) &&
	    interrupt != !!(match_inst & TR_TE_FILTER_MATCH_INST_INTERRUPT))
		return false;
	return !(control & TR_TE_FILTER_CONTROL_MATCH_ECAUSE) ||
	       (cause < 64 && ecause >> cause & 1);
}

/* A trap filter matches after the trap, up to its return. */
static void follow_traps(struct filters *filters, unsigned int i,
			 const struct ntrace_ingress *block, uint64_t cause)
{
	uint8_t *depth = &filters->filter[i].depth;

	if (block->itype == NTRACE_ITYPE_TRAP_RETURN && *depth)
		--*depth;
	if (block->itype != NTRACE_ITYPE_EXCEPTION && block->itype != NTRACE_ITYPE_INTERRUPT)
		return;
	if (*depth ? *depth < DEPTH_MAX :
		     trap_matches(filters->filter[i].control, filters->filter[i].match_inst,
				  filters->filter[i].ecause, block, cause))
		++*depth;
}

static bool filter_matches(const struct filters *filters, unsigned int i,
			   const struct ntrace_ingress *block, uint32_t compared)
{
	uint32_t control = filters->filter[i].control;

	if (!(control & TR_TE_FILTER_CONTROL_ENABLE))
		return false;
	if ((control & TR_TE_FILTER_CONTROL_MATCH_PRIVILEGE) &&
	    !(filters->filter[i].match_inst >> block->priv & 1))
		return false;
	if ((control & TRAPS) && !filters->filter[i].depth)
		return false;
	for (unsigned int c = 0; c < 3; c++)
		if ((control & TR_TE_FILTER_CONTROL_MATCH_COMP(c)) &&
		    !(compared >> TR_TE_FILTER_COMP(control, c) & 1))
			return false;
	return true;
}

unsigned int filters_match(struct filters *filters, const struct ntrace_ingress *block,
			   uint64_t cause, uint64_t context)
{
	unsigned int result = !filters->selected;
	uint32_t compared = 0;

	/*
	 * A block that only takes a trap retires no instruction that a
	 * comparator could match.
	 */
	for (unsigned int i = 0; i < filters->comparators && block->iretire; i++) {
		unsigned int one = compare_block(filters, i, block->iaddr, context);

		compared |= (one & 1) << i;
		result |= one & FILTERS_NOTIFY;
	}
	for (unsigned int i = 0; i < filters->count; i++) {
		if (filters->selected >> i & 1 && filter_matches(filters, i, block, compared))
			result |= 1;
		if (filters->filter[i].control & TRAPS)
			follow_traps(filters, i, block, cause);
	}
	return result;
}
