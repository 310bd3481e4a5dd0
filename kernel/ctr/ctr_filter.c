// SPDX-License-Identifier: GPL-2.0-only
/*
 * Converts perf's branch filters to CTR, and CTR's records to perf's entries.
 *
 * perf names kinds of branches to keep, CTR has a bit for each type to leave out. What the
 * harts cannot leave out, the driver drops when it reads ("sieve"), by the recorded type.
 *
 *   perf_event_attr ------ ctr_filter_init() ---> ctr_filter.control    to sctrctl
 *                                                 ctr_filter.types...   what is kept
 *   filters of a hart ---- ctr_filter_merge() --> the filter of its ring
 *   ring ----------------- ctr_filter_entries() with the filter of an event --> its entries
 *
 * Invariants:
 *   - An event with user mode alone gets no address of the kernel, whatever the ring has.
 *   - The cycles of dropped records are added to the next newer entry, so that the sum over
 *     a stack is that of the ring; or they are 0, for unknown.
 *   - No register access and no allocation: the tests run on the host.
 */
#include "ctr_filter.h"

#define CTR_TYPES_ALL		0xffff

/*
 * Per record type (Smctr/Ssctr 1.0, "Control Transfer Records Data"): the bit that
 * inhibits it, and perf's type. A co-routine swap is a return and a call in one
 * instruction: it matches the filters of both, and its type is indirect call.
 * ctr_exception_type() corrects exceptions: only an ecall is a system call.
 */
static const struct {
	u64 inhibit;
	u8 perf;
} ctr_types[16] = {
	[CTR_TYPE_EXCEPTION] = { CTR_CTL_EXCINH, PERF_BR_SYSCALL },
	[CTR_TYPE_INTERRUPT] = { CTR_CTL_INTRINH, PERF_BR_IRQ },
	[CTR_TYPE_TRAP_RETURN] = { CTR_CTL_TRETINH, PERF_BR_ERET },
	[CTR_TYPE_NOT_TAKEN] = { 0, PERF_BR_COND },
	[CTR_TYPE_TAKEN] = { CTR_CTL_TKBRINH, PERF_BR_COND },
	[CTR_TYPE_INDIRECT_CALL] = { CTR_CTL_INDCALLINH, PERF_BR_IND_CALL },
	[CTR_TYPE_DIRECT_CALL] = { CTR_CTL_DIRCALLINH, PERF_BR_CALL },
	[CTR_TYPE_INDIRECT_JUMP] = { CTR_CTL_INDJMPINH, PERF_BR_IND },
	[CTR_TYPE_DIRECT_JUMP] = { CTR_CTL_DIRJMPINH, PERF_BR_UNCOND },
	[CTR_TYPE_SWAP] = { CTR_CTL_CORSWAPINH, PERF_BR_IND_CALL },
	[CTR_TYPE_RETURN] = { CTR_CTL_RETINH, PERF_BR_RET },
	[CTR_TYPE_OTHER_INDIRECT_JUMP] = { CTR_CTL_INDLJMPINH, PERF_BR_IND },
	[CTR_TYPE_OTHER_DIRECT_JUMP] = { CTR_CTL_DIRLJMPINH, PERF_BR_UNCOND },
};

/* Record types of each of perf's filters. */
static const struct {
	u64 perf;
	u16 types;
} ctr_filters[] = {
	{ PERF_SAMPLE_BRANCH_ANY, CTR_TYPES_ALL },
	/* Includes traps, as on x86. */
	{ PERF_SAMPLE_BRANCH_ANY_CALL, BIT(CTR_TYPE_DIRECT_CALL) | BIT(CTR_TYPE_INDIRECT_CALL) |
					       BIT(CTR_TYPE_SWAP) | BIT(CTR_TYPE_EXCEPTION) |
					       BIT(CTR_TYPE_INTERRUPT) },
	{ PERF_SAMPLE_BRANCH_ANY_RETURN,
	  BIT(CTR_TYPE_RETURN) | BIT(CTR_TYPE_SWAP) | BIT(CTR_TYPE_TRAP_RETURN) },
	{ PERF_SAMPLE_BRANCH_IND_CALL, BIT(CTR_TYPE_INDIRECT_CALL) | BIT(CTR_TYPE_SWAP) },
	{ PERF_SAMPLE_BRANCH_CALL, BIT(CTR_TYPE_DIRECT_CALL) },
	{ PERF_SAMPLE_BRANCH_COND, BIT(CTR_TYPE_TAKEN) },
	{ PERF_SAMPLE_BRANCH_IND_JUMP,
	  BIT(CTR_TYPE_INDIRECT_JUMP) | BIT(CTR_TYPE_OTHER_INDIRECT_JUMP) },
};

/* Further accepted bits, which affect the output only. */
#define CTR_PERF_REPORT                                                                            \
	(PERF_SAMPLE_BRANCH_PLM_ALL | PERF_SAMPLE_BRANCH_NO_FLAGS | PERF_SAMPLE_BRANCH_NO_CYCLES | \
	 PERF_SAMPLE_BRANCH_TYPE_SAVE | PERF_SAMPLE_BRANCH_HW_INDEX |                              \
	 PERF_SAMPLE_BRANCH_PRIV_SAVE)

/* Return: record types that @perf selects. Clears the known filters in @perf. */
static u16 ctr_filter_types(u64 *perf)
{
	unsigned int i;
	u16 types = 0;

	for (i = 0; i < ARRAY_SIZE(ctr_filters); i++) {
		if (*perf & ctr_filters[i].perf)
			types |= ctr_filters[i].types;
		*perf &= ~ctr_filters[i].perf;
	}
	return types;
}

/*
 * RASEMU emulates the return-address stack: calls push, returns pop, a swap replaces
 * the top.
 */
static const char *ctr_filter_stack(struct ctr_filter *filter, u16 types,
				    const struct ctr_caps *caps)
{
	if (types)
		return "a call stack has no other branch filter";
	if (filter->kernel)
		return "call stacks are of user mode alone";
	if (!(caps->control & CTR_CTL_RASEMU))
		return "the harts do not have call stacks (RASEMU)";
	filter->stack = true;
	filter->types = BIT(CTR_TYPE_NONE) | BIT(CTR_TYPE_DIRECT_CALL) |
			BIT(CTR_TYPE_INDIRECT_CALL) | BIT(CTR_TYPE_SWAP);
	filter->control = CTR_CTL_STACK;
	return NULL;
}

/**
 * ctr_filter_init() - convert the branch filter of an event
 * @filter: result; all zero if the event records nothing
 * @attr: of the event; perf has already added the privilege levels
 * @caps: of the harts
 *
 * An event without a period has no samples, but records: BPF programs read the ring. As on
 * x86, PERF_SAMPLE_READ is the exception: perf sets it for the members of a group whose
 * leader alone has samples, and gives them the leader's branch filter.
 *
 * Return: NULL, or the reason that there are no such branch stacks.
 */
const char *ctr_filter_init(struct ctr_filter *filter, const struct perf_event_attr *attr,
			    const struct ctr_caps *caps)
{
	u64 branch_sample_type = attr->branch_sample_type, unknown = branch_sample_type;
	unsigned int type;
	u16 types = ctr_filter_types(&unknown);
	bool stack = branch_sample_type & PERF_SAMPLE_BRANCH_CALL_STACK;

	memset(filter, 0, sizeof(*filter));
	if (!(attr->sample_type & PERF_SAMPLE_BRANCH_STACK) ||
	    (!attr->sample_period && attr->sample_type & PERF_SAMPLE_READ))
		return NULL;
	if (unknown & ~(u64)(CTR_PERF_REPORT | PERF_SAMPLE_BRANCH_CALL_STACK))
		return "CTR has no transactions, and no counters of branches";
	filter->user = branch_sample_type & PERF_SAMPLE_BRANCH_USER;
	/*
	 * Linux as hypervisor runs in HS-mode, which CTR treats as S-mode. perf adds HV for an
	 * event that excludes the kernel alone (perf record --all-user). cycles:h, which
	 * excludes user mode, too, is refused by ctr_event_filter().
	 */
	filter->kernel = branch_sample_type & PERF_SAMPLE_BRANCH_KERNEL ||
			 (branch_sample_type & PERF_SAMPLE_BRANCH_HV &&
			  !(filter->user && attr->exclude_kernel));
	filter->flags = caps->mispredict && !(branch_sample_type & PERF_SAMPLE_BRANCH_NO_FLAGS);
	filter->cycles = caps->cycles && !(branch_sample_type & PERF_SAMPLE_BRANCH_NO_CYCLES);
	filter->save_type = branch_sample_type & PERF_SAMPLE_BRANCH_TYPE_SAVE;
	filter->data = filter->cycles || (filter->save_type && caps->type);
	filter->save_privilege = branch_sample_type & PERF_SAMPLE_BRANCH_PRIV_SAVE;
	if (!filter->user && !filter->kernel)
		return "the branch filter selects neither user mode nor the kernel";
	if (stack)
		return ctr_filter_stack(filter, types, caps);
	if (!types)
		return "the branch filter selects no kind of branch";

	/* Records without a type cannot be distinguished, or need not be: keep them. */
	filter->types = types | BIT(CTR_TYPE_NONE);
	for (type = 0; type < ARRAY_SIZE(ctr_types); type++) {
		if (types & BIT(type) || !ctr_types[type].inhibit)
			continue;
		if (caps->control & ctr_types[type].inhibit) {
			filter->control |= ctr_types[type].inhibit;
			continue;
		}
		if (!caps->type)
			return "the harts neither filter nor record types of branches";
		filter->sieve = true;
	}
	if (filter->user)
		filter->control |= CTR_CTL_U;
	/*
	 * LCOFIFRZ keeps the transfers to the overflow handler out of the ring. If
	 * only user mode is recorded, they are not recorded anyway (a trap to a mode
	 * that is not enabled, without STE), and the handler need not thaw the ring.
	 */
	if (filter->kernel)
		filter->control |= CTR_CTL_S | (caps->control & CTR_CTL_LCOFIFRZ);
	return NULL;
}

/**
 * ctr_filter_shares() - tell whether a ring can record for two events at the same time
 * @one: filter of an event
 * @other: filter of the other event
 * @caps: of the harts
 *
 * A hart with RASEMU keeps no other records. All other filters can share: the ring records
 * what any of them wants, and ctr_filter_entries() drops the rest by address and type. If
 * the harts do not record types, both must want the same types.
 *
 * Return: whether it can.
 */
bool ctr_filter_shares(const struct ctr_filter *one, const struct ctr_filter *other,
		       const struct ctr_caps *caps)
{
	/* An event without branch stack needs no ring. */
	if (!one->control || !other->control)
		return true;
	if (one->stack != other->stack)
		return false;
	return caps->type || !((one->control ^ other->control) & CTR_CTL_INHIBIT);
}

/**
 * ctr_filter_merge() - extend a filter to the records that another one wants
 * @sum: result; all zero before the first filter
 * @other: filter that shares the ring with @sum, see ctr_filter_shares()
 * @caps: of the harts
 */
void ctr_filter_merge(struct ctr_filter *sum, const struct ctr_filter *other,
		      const struct ctr_caps *caps)
{
	u64 inhibit = sum->control & other->control & CTR_CTL_INHIBIT;

	if (!other->control)
		return;
	/*
	 * The cycles of a record are in one mode only if the transfers between the modes
	 * are recorded.
	 */
	if (caps->type && (sum->control ^ other->control) & (CTR_CTL_U | CTR_CTL_S))
		inhibit &= ~(CTR_CTL_EXCINH | CTR_CTL_INTRINH | CTR_CTL_TRETINH);
	/* A type is inhibited if no event wants it. */
	if (sum->control)
		sum->control = ((sum->control | other->control) & ~CTR_CTL_INHIBIT) | inhibit;
	else
		sum->control = other->control;
	sum->types |= other->types;
	sum->user |= other->user;
	sum->kernel |= other->kernel;
	sum->stack |= other->stack;
	sum->flags |= other->flags;
	sum->cycles |= other->cycles;
	sum->data |= other->data;
	sum->sieve |= other->sieve;
	sum->save_type |= other->save_type;
	sum->save_privilege |= other->save_privilege;
}

static bool ctr_is_kernel(u64 address)
{
	return (s64)address < 0;
}

/**
 * ctr_cycles() - cycles since the previous record
 * @data: ctrdata
 *
 * CC[11:0] is a mantissa, CC[15:12] an exponent. perf's field has 16 bits.
 *
 * Return: cycles, at most 65535; 0 if CCV is clear.
 */
unsigned int ctr_cycles(u64 data)
{
	unsigned int mantissa = data >> 16 & 0xfff;
	unsigned int exponent = data >> 28 & 0xf;
	unsigned int cycles;

	if (!(data & CTR_DATA_CCV))
		return 0;
	cycles = exponent ? (4096 + mantissa) << (exponent - 1) : mantissa;
	return min(cycles, 0xffffU);
}

/*
 * Whether the event wants this record: drops types that the hart has recorded for other
 * events, or because it lacks a filter. It also enforces the privilege: with user mode
 * alone, no record with a kernel address passes; with the kernel alone, no record that
 * stays in user mode passes. An address that the hart hides is 0.
 */
static bool ctr_filter_keeps(const struct ctr_filter *filter, const struct ctr_record *record)
{
	if (!(filter->types & BIT(record->data & CTR_DATA_TYPE)))
		return false;
	if (ctr_is_kernel(record->source) || ctr_is_kernel(record->target))
		return filter->kernel;
	return filter->user;
}

/*
 * The hart hides addresses in a mode that it does not record, as 0. With another event it
 * may record this mode.
 */
static u64 ctr_filter_address(const struct ctr_filter *filter, u64 address)
{
	return filter->user || ctr_is_kernel(address) ? address : 0;
}

/*
 * The hart counts cycles from one record to the next, in the modes that it records. Return:
 * those in modes that the event wants.
 */
static unsigned int ctr_filter_cycles(const struct ctr_filter *filter,
				      const struct ctr_record *record)
{
	u64 from = record->source & ~CTR_SOURCE_VALID;
	bool wanted = ctr_is_kernel(from) ? filter->kernel : filter->user || !from;

	return wanted ? ctr_cycles(record->data) : 0;
}

/* Converts @record to perf's format. Writes all of @entry, with few stores. */
static void ctr_filter_convert(const struct ctr_filter *filter, const struct ctr_caps *caps,
			       const struct ctr_record *record, struct perf_branch_entry *entry)
{
	bool mispredicted = record->target & CTR_TARGET_MISP;
	u64 to = ctr_filter_address(filter, record->target & ~CTR_TARGET_MISP);

	*entry = (struct perf_branch_entry){
		.from = ctr_filter_address(filter, record->source & ~CTR_SOURCE_VALID),
		.to = to,
	};
	if (filter->flags) {
		entry->mispred = mispredicted;
		entry->predicted = !mispredicted;
	}
	if (filter->cycles)
		entry->cycles = ctr_filter_cycles(filter, record);
	if (filter->save_type && caps->type)
		entry->type = ctr_types[record->data & CTR_DATA_TYPE].perf;
	/* CTR does not record the privilege. perf's is the privilege of the target. */
	if (filter->save_privilege && to)
		entry->priv = ctr_is_kernel(to) ? PERF_BR_PRIV_KERNEL : PERF_BR_PRIV_USER;
}

/* The cycles of a dropped record belong to the next newer entry. */
static void ctr_filter_drop(const struct ctr_filter *filter, const struct ctr_record *record,
			    struct ctr_entries *entries)
{
	struct perf_branch_entry *last = &entries->entry[entries->count - 1];

	if (!filter->cycles || !entries->count || !entries->timed)
		return;
	entries->timed = record->data & CTR_DATA_CCV;
	last->cycles =
		entries->timed ? min(last->cycles + ctr_filter_cycles(filter, record), 0xffffU) : 0;
}

/*
 * An interrupt that freezes the ring (LCOFIFRZ) is not recorded, so that the cycles of the next
 * record are of both modes. Those of one mode are not known then.
 */
static void ctr_filter_join(const struct ctr_filter *filter, const struct ctr_record *older,
			    struct ctr_entries *entries)
{
	u64 to = older->target & ~CTR_TARGET_MISP;

	if (!entries->timed || filter->user == filter->kernel || !to ||
	    ctr_is_kernel(to) == ctr_is_kernel(entries->source))
		return;
	entries->timed = false;
	entries->entry[entries->count - 1].cycles = 0;
}

/**
 * ctr_filter_entries() - convert the records that the event wants
 * @filter: of the event
 * @caps: of the harts
 * @records: valid records, older than those of earlier calls with the same @entries
 * @count: number of @records
 * @entries: result; further entries are added
 *
 * Runs in hard interrupt context for up to 256 records: one loop, without calls.
 */
void ctr_filter_entries(const struct ctr_filter *filter, const struct ctr_caps *caps,
			const struct ctr_record *records, unsigned int count,
			struct ctr_entries *entries)
{
	unsigned int i;

	for (i = 0; i < count; i++) {
		ctr_filter_join(filter, &records[i], entries);
		entries->source = records[i].source;
		if (!ctr_filter_keeps(filter, &records[i])) {
			ctr_filter_drop(filter, &records[i], entries);
			continue;
		}
		if (entries->count == entries->max) {
			entries->full = true;
			return;
		}
		ctr_filter_convert(filter, caps, &records[i], &entries->entry[entries->count++]);
		entries->timed = records[i].data & CTR_DATA_CCV;
	}
}
