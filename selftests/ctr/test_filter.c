// SPDX-License-Identifier: GPL-2.0-only
/*
 * Conversion of perf's branch filters, and of the records of a ring, in riscv_ctr (Control Transfer
 * Records 1.0).
 */
#include <tap.h>

#include "../../kernel/ctr/ctr_filter.c"

#define U PERF_SAMPLE_BRANCH_USER
#define K PERF_SAMPLE_BRANCH_KERNEL
#define H PERF_SAMPLE_BRANCH_HV
/* The twelve inhibit bits of sctrctl: 33..35, 37, 40..47. */
#define ALL_INHIBIT UINT64_C(0xff2e00000000)
/* Exceptions, interrupts, trap returns. */
#define TRAPS UINT64_C(0xe00000000)

static const struct ctr_caps full = { 0xff3e00001980, 0x1f, true, true, true };
static const struct ctr_caps bare = { 0x1000, 0x1, false, true, false };
static const struct ctr_caps no_type = { 0x1000, 0x1, false, false, false };

static struct ctr_filter filter_of(u64 perf, const struct ctr_caps *caps)
{
	struct ctr_filter filter;
	const char *reason = ctr_filter_init(&filter, host_branches(perf), caps);

	ok(!reason, "branch_sample_type %#llx: %s", (unsigned long long)perf, reason ?: "accepted");
	return filter;
}

static void refused(u64 perf, const struct ctr_caps *caps, const char *expected)
{
	struct ctr_filter filter;
	const char *reason = ctr_filter_init(&filter, host_branches(perf), caps) ?: "accepted";

	ok(strstr(reason, expected), "branch_sample_type %#llx: %s", (unsigned long long)perf,
	   reason);
}

/* Only what records has a filter: samples, and events that BPF programs use without a period. */
static void test_recording(void)
{
	static const struct {
		const char *name;
		u64 sample_type, period;
		bool records;
	} table[] = {
		{ "samples", PERF_SAMPLE_BRANCH_STACK, 1000, true },
		{ "samples with the values of a group", PERF_SAMPLE_BRANCH_STACK | PERF_SAMPLE_READ,
		  1000, true },
		{ "no branch stack", PERF_SAMPLE_IP, 1000, false },
		{ "no period", PERF_SAMPLE_BRANCH_STACK, 0, true },
		{ "a member of a group", PERF_SAMPLE_BRANCH_STACK | PERF_SAMPLE_READ, 0, false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		const struct perf_event_attr attr = { .sample_type = table[i].sample_type,
						      .sample_period = table[i].period,
						      .branch_sample_type = PERF_SAMPLE_BRANCH_ANY |
									    K };
		struct ctr_filter filter, none = { 0 };

		ok(!ctr_filter_init(&filter, &attr, &full), "%s: accepted", table[i].name);
		ok(table[i].records ?
			   filter.control == (filter.control | CTR_CTL_S) && filter.kernel :
			   !memcmp(&filter, &none, sizeof(none)),
		   table[i].records ? "%s: records" : "%s: records nothing", table[i].name);
	}
}

static void test_control(void)
{
	static const struct {
		const char *name;
		u64 perf;
		u64 recorded; /* inhibit bits that are clear */
	} table[] = {
		{ "any", PERF_SAMPLE_BRANCH_ANY, ALL_INHIBIT },
		{ "any_call", PERF_SAMPLE_BRANCH_ANY_CALL,
		  1ull << 33 | 1ull << 34 | 1ull << 40 | 1ull << 41 | 1ull << 44 },
		{ "any_ret", PERF_SAMPLE_BRANCH_ANY_RETURN, 1ull << 35 | 1ull << 44 | 1ull << 45 },
		{ "ind_call", PERF_SAMPLE_BRANCH_IND_CALL, 1ull << 40 | 1ull << 44 },
		{ "call", PERF_SAMPLE_BRANCH_CALL, 1ull << 41 },
		{ "cond", PERF_SAMPLE_BRANCH_COND, 1ull << 37 },
		{ "ind_jmp", PERF_SAMPLE_BRANCH_IND_JUMP, 1ull << 42 | 1ull << 46 },
		{ "call,any_ret", PERF_SAMPLE_BRANCH_CALL | PERF_SAMPLE_BRANCH_ANY_RETURN,
		  1ull << 35 | 1ull << 41 | 1ull << 44 | 1ull << 45 },
	};
	const struct perf_event_attr all_user = { .sample_type = PERF_SAMPLE_BRANCH_STACK,
						  .sample_period = 1,
						  .branch_sample_type = PERF_SAMPLE_BRANCH_ANY | U |
									H,
						  .exclude_kernel = 1 };
	struct ctr_filter filter;

	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		filter = filter_of(table[i].perf | U, &full);

		is_u64(filter.control, (ALL_INHIBIT & ~table[i].recorded) | 1,
		       "%s,u: U, no freeze, other types are inhibited", table[i].name);
		filter = filter_of(table[i].perf | K, &full);
		is_u64(filter.control, (ALL_INHIBIT & ~table[i].recorded) | 2 | 1 << 12,
		       "%s,k: S and LCOFIFRZ", table[i].name);
	}
	is_u64(filter_of(PERF_SAMPLE_BRANCH_ANY | U | K | H, &full).control, 3 | 1 << 12,
	       "u,k,hv: U and S");
	is_u64(filter_of(PERF_SAMPLE_BRANCH_ANY | H, &full).control, 2 | 1 << 12,
	       "hv: a hypervisor is in S-mode");
	is_u64(ctr_filter_init(&filter, &all_user, &full) ? 0 : filter.control, 1,
	       "hv of an event that excludes the kernel: U");
	is_u64(filter_of(PERF_SAMPLE_BRANCH_CALL | U, &bare).control, 1,
	       "inhibit bits that the hart lacks are not written");
	is_u64(filter_of(PERF_SAMPLE_BRANCH_CALL_STACK | U, &full).control, 1 | 1 << 7,
	       "call stack: U and RASEMU");
}

static void test_refused(void)
{
	refused(PERF_SAMPLE_BRANCH_CALL_STACK | U | K, &full, "user mode alone");
	refused(PERF_SAMPLE_BRANCH_CALL_STACK | U, &bare, "RASEMU");
	refused(PERF_SAMPLE_BRANCH_CALL_STACK | PERF_SAMPLE_BRANCH_ANY_CALL | U, &full,
		"no other branch filter");
	refused(PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_ABORT_TX | U, &full, "transactions");
	refused(PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_IN_TX | U, &full, "transactions");
	refused(PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_NO_TX | U, &full, "transactions");
	refused(PERF_SAMPLE_BRANCH_ANY | 1 << 19 | U, &full, "counters of branches");
	refused(PERF_SAMPLE_BRANCH_ANY | UINT64_C(1) << 63 | U, &full, "counters of branches");
	refused(U, &full, "no kind of branch");
	refused(PERF_SAMPLE_BRANCH_TYPE_SAVE | U, &full, "no kind of branch");
	refused(PERF_SAMPLE_BRANCH_ANY, &full, "neither user mode nor the kernel");
	refused(PERF_SAMPLE_BRANCH_CALL | U, &no_type, "neither filter nor record types");
	filter_of(PERF_SAMPLE_BRANCH_ANY | U, &no_type);
}

static struct ctr_record record(u64 from, u64 to, u64 data)
{
	return (struct ctr_record){ from | 1, to, data };
}

static bool keeps(const struct ctr_filter *filter, const struct ctr_record *r)
{
	struct perf_branch_entry entry;
	struct ctr_entries entries = { .entry = &entry, .max = 1 };

	ctr_filter_entries(filter, &full, r, 1, &entries);
	return entries.count;
}

/* A record that the filter keeps. */
static struct perf_branch_entry convert(const struct ctr_filter *filter,
					const struct ctr_caps *caps, struct ctr_record r)
{
	struct perf_branch_entry entry;
	struct ctr_entries entries = { .entry = &entry, .max = 1 };

	memset(&entry, 0xff, sizeof(entry));
	ctr_filter_entries(filter, caps, &r, 1, &entries);
	is_u64(entries.count, 1, "type %u is kept", (unsigned int)(r.data & 15));
	return entry;
}

static void test_entries(void)
{
	struct ctr_filter call = filter_of(PERF_SAMPLE_BRANCH_CALL | U, &bare);
	struct ctr_record records[] = { record(0x1000, 0x2000, 9), record(0x3000, 0x4000, 5),
					record(0x5000, 0x6000, 9) };
	struct perf_branch_entry entry[3] = { { 0 } };
	struct ctr_entries entries = { .entry = entry, .max = 3 };

	ctr_filter_entries(&call, &bare, records, 3, &entries);
	is_u64(entries.count, 2, "of three records the filter keeps two");
	ok(entry[0].from == 0x1000 && entry[1].from == 0x5000 && !entry[2].from,
	   "in their order, without a gap");
	ctr_filter_entries(&call, &bare, records, 0, &entries);
	is_u64(entries.count, 2, "of none, none");
	ctr_filter_entries(&call, &bare, records, 2, &entries);
	ok(entries.count == 3 && !entries.full && entry[2].from == 0x1000, "further ones follow");
	ctr_filter_entries(&call, &bare, records + 1, 2, &entries);
	ok(entries.count == 3 && entries.full, "full: there is a record for one more");
}

/* Cycles of dropped records count for the next newer entry. */
static void test_dropped_cycles(void)
{
	const u64 kernel = 0xffffffff80000000, valid = 1 << 15;
	struct ctr_filter call = filter_of(PERF_SAMPLE_BRANCH_CALL | U, &full);
	struct ctr_record records[] = {
		record(0x5000, 0x6000, 9 | valid | 100 << 16),
		record(0x3000, 0x4000, 5 | valid | 20 << 16),
		record(kernel, 0x3000, 3 | valid | 50 << 16), /* in the kernel */
		record(0x3100, kernel, 1 | valid | 3 << 16),
		record(0x1000, 0x2000, 9 | valid | 7 << 16),
		record(0x1000, 0x2000, 5 | 7 << 16), /* not known */
		record(0x1000, 0x2000, 5 | valid | 7 << 16),
		record(0x1000, 0x2000, 9 | valid | 0xffffull << 16),
		record(0x1000, 0x2000, 5 | valid | 0xffffull << 16),
	};
	struct perf_branch_entry entry[4];
	struct ctr_entries entries = { .entry = entry, .max = 4 };

	for (size_t i = 0; i < ARRAY_SIZE(records); i++)
		ctr_filter_entries(&call, &full, &records[i], 1, &entries);
	is_u64(entries.count, 3, "three calls");
	is_u64(entry[0].cycles, 123, "user mode since the call before");
	is_u64(entry[1].cycles, 0, "a dropped record without cycles: not known");
	is_u64(entry[2].cycles, 65535, "the sum saturates");
}

/* Which filters share a ring, and what it records then. */
static void test_merge(void)
{
	static const struct {
		const char *name;
		u64 one, other;
		bool shares, untyped; /* harts that record no types */
	} table[] = {
		{ "twice the same", PERF_SAMPLE_BRANCH_ANY | U, PERF_SAMPLE_BRANCH_ANY | U, true,
		  true },
		{ "other modes", PERF_SAMPLE_BRANCH_ANY | U, PERF_SAMPLE_BRANCH_ANY | K, true,
		  true },
		{ "other types", PERF_SAMPLE_BRANCH_ANY | U, PERF_SAMPLE_BRANCH_CALL | U, true,
		  false },
		{ "both", PERF_SAMPLE_BRANCH_COND | U, PERF_SAMPLE_BRANCH_CALL | K, true, false },
		{ "call stacks", PERF_SAMPLE_BRANCH_CALL_STACK | U,
		  PERF_SAMPLE_BRANCH_CALL_STACK | U, true, true },
		{ "a call stack", PERF_SAMPLE_BRANCH_CALL_STACK | U, PERF_SAMPLE_BRANCH_ANY | U,
		  false, false },
	};
	struct ctr_caps untyped = full;
	struct ctr_filter none = { 0 };

	untyped.type = false;
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		struct ctr_filter one = filter_of(table[i].one, &full), sum = { 0 };
		struct ctr_filter other = filter_of(table[i].other, &full);

		ok(ctr_filter_shares(&one, &other, &full) == table[i].shares &&
			   ctr_filter_shares(&other, &one, &full) == table[i].shares,
		   "%s: share: %d", table[i].name, table[i].shares);
		ok(ctr_filter_shares(&one, &other, &untyped) == table[i].untyped,
		   "%s: without types: %d", table[i].name, table[i].untyped);
		ok(ctr_filter_shares(&one, &none, &untyped), "an event without ring");
		ctr_filter_merge(&sum, &none, &full);
		ctr_filter_merge(&sum, &one, &full);
		is_hex(sum.control, one.control, "the first filter");
		ctr_filter_merge(&sum, &other, &full);
		is_hex(sum.control & 0x1fff, (one.control | other.control) & 0x1fff,
		       "%s: all modes", table[i].name);
		is_hex(sum.control & ALL_INHIBIT,
		       one.control & other.control & ALL_INHIBIT &
			       ((one.control ^ other.control) & 3 ? ~TRAPS : ~UINT64_C(0)),
		       "%s: types are inhibited that neither wants, without traps between modes",
		       table[i].name);
		is_hex(sum.types, one.types | other.types, "%s: types", table[i].name);
	}
}

static void test_keeps(void)
{
	const u64 user = 0x10000, kernel = 0xffffffff80000000;
	struct ctr_filter call = filter_of(PERF_SAMPLE_BRANCH_CALL | U, &bare);
	struct ctr_filter k = filter_of(PERF_SAMPLE_BRANCH_ANY | K, &full);
	struct ctr_filter uk = filter_of(PERF_SAMPLE_BRANCH_ANY | U | K, &full);
	struct ctr_filter none = filter_of(PERF_SAMPLE_BRANCH_ANY | U, &no_type);
	struct ctr_record r;

	for (unsigned int type = 1; type < 16; type++) {
		r = record(user, user, type);
		is_u64(keeps(&call, &r), type == 9,
		       "type %u, recorded because the hart cannot inhibit it: call", type);
	}
	r = record(user, kernel, 9);
	ok(!keeps(&call, &r), "u: nothing that leads to the kernel");
	r = record(kernel, user, 9);
	ok(!keeps(&call, &r), "u: nothing that comes from the kernel");
	r = record(user, user, 5);
	ok(!keeps(&k, &r), "k: nothing that stays in user mode");
	r = record(0, kernel, 1);
	ok(keeps(&k, &r), "k: a trap whose source is hidden");
	r = record(kernel, 0, 3);
	ok(keeps(&k, &r), "k: a trap return whose target is hidden");
	r = record(user, kernel, 1);
	ok(keeps(&uk, &r), "u,k: both");
	r = record(user, user, 0);
	ok(keeps(&none, &r), "records without type are kept");
}

static void test_convert(void)
{
	static const u8 types[16] = {
		PERF_BR_UNKNOWN, PERF_BR_SYSCALL,  PERF_BR_IRQ,	    PERF_BR_ERET,
		PERF_BR_COND,	 PERF_BR_COND,	   PERF_BR_UNKNOWN, PERF_BR_UNKNOWN,
		PERF_BR_IND_CALL, PERF_BR_CALL,	   PERF_BR_IND,	    PERF_BR_UNCOND,
		PERF_BR_IND_CALL, PERF_BR_RET,	   PERF_BR_IND,	    PERF_BR_UNCOND,
	};
	u64 any = PERF_SAMPLE_BRANCH_ANY | U | K;
	struct ctr_filter save =
		filter_of(any | PERF_SAMPLE_BRANCH_TYPE_SAVE | PERF_SAMPLE_BRANCH_PRIV_SAVE, &full);
	struct ctr_filter plain =
		filter_of(any | PERF_SAMPLE_BRANCH_NO_FLAGS | PERF_SAMPLE_BRANCH_NO_CYCLES, &full);
	struct ctr_filter lacking = filter_of(any, &bare);
	struct perf_branch_entry entry;
	struct ctr_record r;

	for (unsigned int type = 0; type < 16; type++) {
		r = record(0x1000, 0x2000, type);
		entry = convert(&save, &full, r);
		is_u64(entry.type, types[type], "type %u", type);
	}
	r = record(0x1000, 0x2001, 0x10018009);
	entry = convert(&save, &full, r);
	ok(entry.from == 0x1000 && entry.to == 0x2000,
	   "valid and mispredicted bits are no address");
	ok(entry.mispred && !entry.predicted, "MISP 1: mispredicted");
	is_u64(entry.cycles, 4097, "cycles");
	is_u64(entry.priv, PERF_BR_PRIV_USER, "privilege of the target: user");
	ok(!entry.in_tx && !entry.abort && !entry.spec && !entry.new_type && !entry.reserved,
	   "nothing of the former contents is left");
	r = record(0x1000, 0xffffffff80000000, 1);
	entry = convert(&save, &full, r);
	ok(!entry.mispred && entry.predicted, "MISP 0: predicted");
	is_u64(entry.priv, PERF_BR_PRIV_KERNEL, "privilege of the target: kernel");
	r = record(0xffffffff80000000, 0, 3);
	entry = convert(&save, &full, r);
	is_u64(entry.priv, PERF_BR_PRIV_UNKNOWN, "a hidden target has no privilege");
	r = record(0x1000, 0x2001, 0x10018009);
	entry = convert(&plain, &full, r);
	ok(!entry.mispred && !entry.predicted && !entry.cycles && !entry.type && !entry.priv,
	   "no_flags, no_cycles, no type_save, no priv: all are 0");
	entry = convert(&lacking, &bare, r);
	ok(!entry.mispred && !entry.predicted && !entry.cycles,
	   "MISP and CC not implemented: neither predicted nor mispredicted");
}

/* Cycle counts of ctrdata: CC is in bits 31:16, CCV is bit 15. */
static void test_cycles(void)
{
	static const struct {
		u32 cc;
		unsigned int cycles;
	} table[] = {
		{ 0x0000, 0 },	   { 0x0123, 291 },   { 0x0fff, 4095 },
		{ 0x1000, 4096 },  { 0x1fff, 8191 },  { 0x3123, 17548 },
		{ 0x4fff, 65528 }, { 0x5000, 65535 }, { 0xffff, 65535 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		is_u64(ctr_cycles((u64)table[i].cc << 16 | 1 << 15), table[i].cycles, "CC %#06x",
		       table[i].cc);
		is_u64(ctr_cycles((u64)table[i].cc << 16), 0, "CC %#06x without CCV", table[i].cc);
	}
}

/* Bits of the draft 0.1.4 that have other places in 1.0. */
static void test_draft(void)
{
	is_u64(ctr_draft_control(CTR_CTL_U, 0), 1 << 2, "draft: U is bit 2");
	is_u64(ctr_draft_control(CTR_CTL_S, 0), 1 << 1, "draft: S is bit 1");
	is_u64(ctr_draft_control(CTR_CTL_RASEMU, 0), 1 << 10, "draft: RASEMU is bit 10");
	is_u64(ctr_draft_control(CTR_CTL_STE, 0), 1 << 9, "draft: STE is bit 9");
	is_u64(ctr_draft_control(CTR_CTL_LCOFIFRZ, 4), 1 << 12 | 0xf << 16,
	       "draft: depth 256 is 1111 in bits 19:16");
	is_u64(ctr_draft_control(ALL_INHIBIT, 0), ALL_INHIBIT, "draft: inhibit bits are the same");
	is_u64(ctr_draft_control_read(ctr_draft_control(CTR_CTL_OPTIONS | 3, 3)),
	       CTR_CTL_OPTIONS | 3, "draft: there and back");
}

int main(void)
{
	test_recording();
	test_control();
	test_refused();
	test_entries();
	test_dropped_cycles();
	test_merge();
	test_keeps();
	test_convert();
	test_cycles();
	test_draft();
	return done_testing();
}
