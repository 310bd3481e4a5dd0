// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Control Transfer Records: bit positions of the fields, decoded entries, and their perf
 * representation. The expected numbers come from CTR 1.0; the driver's tables and the kernel's
 * header are compared with those of the library.
 */
#include <ntrace/ctr.h>
#include <tap.h>

#include "../../kernel/ctr/ctr_filter.c"

#define ALL_FEATURES (NTRACE_CTR_HAS_TYPE | NTRACE_CTR_HAS_MISPREDICT | NTRACE_CTR_HAS_CYCLES)

/* The register table of CTR 1.0 and of the draft: bit numbers, -1 for none. */
static const struct {
	const char *name;
	int ratified;
	int draft;
} printed[] = {
	{ "U", 0, 2 },
	{ "S", 1, 1 },
	{ "M", 2, 0 },
	{ "RASEMU", 7, 10 },
	{ "CLR", -1, 7 },
	{ "STE", 8, 9 },
	{ "MTE", 9, 8 },
	{ "BPFRZ", 11, 11 },
	{ "LCOFIFRZ", 12, 12 },
	{ "DEPTH", -1, 16 },
	{ "DEPTH", -1, 17 },
	{ "DEPTH", -1, 18 },
	{ "DEPTH", -1, 19 },
	{ "EXCINH", 33, 33 },
	{ "INTRINH", 34, 34 },
	{ "TRETINH", 35, 35 },
	{ "NTBREN", 36, 36 },
	{ "TKBRINH", 37, 37 },
	{ "ETEN", -1, 38 },
	{ "INDCALLINH", 40, 40 },
	{ "DIRCALLINH", 41, 41 },
	{ "INDJMPINH", 42, 42 },
	{ "DIRJMPINH", 43, 43 },
	{ "CORSWAPINH", 44, 44 },
	{ "RETINH", 45, 45 },
	{ "INDLJMPINH", 46, 46 },
	{ "DIRLJMPINH", 47, 47 },
};

static void control_layout(void)
{
	unsigned int named[2] = { 0, 0 };
	bool names = true, places = true;
	uint64_t all = 0;

	for (unsigned int bit = 0; bit < 64; bit++)
		for (unsigned int layout = 0; layout < 2; layout++)
			named[layout] += !!ntrace_ctr_field_name(layout, bit);
	for (size_t i = 0; i < ARRAY_SIZE(printed); i++) {
		int ratified = printed[i].ratified, draft = printed[i].draft;
		const char *name = ntrace_ctr_field_name(NTRACE_CTR_DRAFT, (unsigned int)draft);

		names &= name && !strcmp(name, printed[i].name);
		if (ratified < 0) {
			names &= ntrace_ctr_field_name(NTRACE_CTR_RATIFIED, (unsigned int)draft) ==
					 NULL ||
				 draft == 7;
			continue;
		}
		name = ntrace_ctr_field_name(NTRACE_CTR_RATIFIED, (unsigned int)ratified);
		names &= name && !strcmp(name, printed[i].name);
		all |= UINT64_C(1) << ratified;
		places &= ntrace_ctr_control_to_raw(NTRACE_CTR_DRAFT, UINT64_C(1) << ratified) ==
			  UINT64_C(1) << draft;
		places &= ntrace_ctr_control_from_raw(NTRACE_CTR_DRAFT, UINT64_C(1) << draft) ==
			  UINT64_C(1) << ratified;
		places &= ntrace_ctr_control_to_raw(NTRACE_CTR_RATIFIED, UINT64_C(1) << ratified) ==
			  UINT64_C(1) << ratified;
	}
	ok(names, "registers: names of the fields of xctrctl in both layouts");
	ok(places, "registers: places of the fields of xctrctl in both layouts");
	is_u64(named[0], 21, "registers: 1.0 has 21 bits with a name");
	is_u64(named[1], 27, "registers: the draft has 27 bits with a name");
	is_hex(NTRACE_CTR_CTL_ALL, all, "all fields of 1.0");
	is_hex(ntrace_ctr_control_from_raw(NTRACE_CTR_RATIFIED, UINT64_MAX), all,
	       "bits outside all fields are dropped");
	is_hex(ntrace_ctr_control_from_raw(NTRACE_CTR_DRAFT, UINT64_MAX), all | UINT64_C(1) << 38,
	       "in the draft ETEN is kept too");
	is_hex(ntrace_ctr_control_to_raw(NTRACE_CTR_DRAFT, 1), 4,
	       "registers: U of 1.0 is the draft's bit 2, which is M of 1.0");
}

static void depth_and_status(void)
{
	static const unsigned int draft_codes[] = { 0, 1, 3, 7, 15 };
	struct ntrace_ctr_status status = { .wrptr = 0x5a, .frozen = true, .wrapped = true };
	bool good = true;

	for (unsigned int code = 0; code < 5; code++) {
		good &= ntrace_ctr_depth_to_raw(NTRACE_CTR_RATIFIED, 16u << code) == (int)code;
		good &= ntrace_ctr_depth_from_raw(NTRACE_CTR_RATIFIED, code) == 16u << code;
		good &= ntrace_ctr_depth_to_raw(NTRACE_CTR_DRAFT, 16u << code) ==
			(int)draft_codes[code];
		good &= ntrace_ctr_depth_from_raw(NTRACE_CTR_DRAFT, draft_codes[code]) ==
			16u << code;
	}
	ok(good, "registers: DEPTH codes of 16 to 256 entries in both layouts");
	for (unsigned int code = 5; code < 8; code++)
		good &= !ntrace_ctr_depth_from_raw(NTRACE_CTR_RATIFIED, code);
	good &= !ntrace_ctr_depth_from_raw(NTRACE_CTR_DRAFT, 2);
	good &= ntrace_ctr_depth_to_raw(NTRACE_CTR_RATIFIED, 512) == NTRACE_ERR_INVALID;
	good &= ntrace_ctr_depth_to_raw(NTRACE_CTR_DRAFT, 24) == NTRACE_ERR_INVALID;
	ok(good, "registers: reserved DEPTH codes, depths that do not exist");

	is_hex(ntrace_ctr_status_to_raw(NTRACE_CTR_RATIFIED, &status), 0x8000005a,
	       "registers: sctrstatus, FROZEN is bit 31");
	is_hex(ntrace_ctr_status_to_raw(NTRACE_CTR_DRAFT, &status), 0xc05a,
	       "registers: sctrstatus of the draft, FROZEN bit 15, WRAP bit 14");
	ntrace_ctr_status_from_raw(NTRACE_CTR_RATIFIED, 0x7fffff07, &status);
	ok(status.wrptr == 7 && !status.frozen && !status.wrapped, "sctrstatus, read");
	ntrace_ctr_status_from_raw(NTRACE_CTR_DRAFT, 0xffff4007, &status);
	ok(status.wrptr == 7 && !status.frozen && status.wrapped, "sctrstatus of the draft, read");

	is_u64(ntrace_ctr_physical(0, 0, 16), 15, "registers: entry 0 is in slot WRPTR - 1");
	is_u64(ntrace_ctr_physical(5, 2, 256), 2, "registers: entry 2");
	is_u64(ntrace_ctr_physical(5, 31, 32), 5,
	       "registers: the oldest entry is overwritten next");
	for (unsigned int x = 0; x < 64; x++)
		good &= ntrace_ctr_logical(9, ntrace_ctr_physical(9, x, 64), 64) == x;
	ok(good, "logical to physical and back");
}

static void cycles(void)
{
	static const struct {
		uint16_t cc;
		uint32_t cycles;
	} vectors[] = { { 0x0123, 291 },
			{ 0x1000, 4096 },
			{ 0x1fff, 8191 },
			{ 0x3123, 17548 },
			{ 0xffff, 134201344 } };
	static const uint32_t most[] = { 4095, 8191, 32764, 524224, 134201344 };
	bool good = true;

	for (size_t i = 0; i < ARRAY_SIZE(vectors); i++) {
		is_u64(ntrace_ctr_cycles_decode(vectors[i].cc), vectors[i].cycles,
		       "records: CC %#06x", vectors[i].cc);
		is_hex(ntrace_ctr_cycles_encode(vectors[i].cycles, 4), vectors[i].cc,
		       "records: CC of %u cycles", vectors[i].cycles);
	}
	for (unsigned int bits = 0; bits <= 4; bits++) {
		is_u64(ntrace_ctr_cycles_decode(ntrace_ctr_cycles_encode(UINT64_MAX, bits)),
		       most[bits], "records: the greatest count with %u bits of CCE", bits);
		is_hex(ntrace_ctr_cycles_encode(UINT64_MAX, bits), ((1u << bits) - 1) << 12 | 0xfff,
		       "records: saturated: all %u implemented bits are 1", bits + 12);
		good &= ntrace_ctr_cycles_decode(ntrace_ctr_cycles_encode(most[bits], bits)) ==
			most[bits];
	}
	ok(good, "records: the greatest counts are exact");
	/* The formulas of CTR 1.0, for every exponent and around each power of two. */
	for (uint64_t n = 0; n <= 134217727; n += 1 + n / 64) {
		unsigned int msb = 63 - (unsigned int)__builtin_clzll(n | 1);
		unsigned int cce = n < 4096 ? 0 : msb - 11;
		uint64_t ccm = n < 4096 ? n : n >> (cce - 1) & 0xfff;
		uint16_t cc = ntrace_ctr_cycles_encode(n, 4);
		uint32_t back = ntrace_ctr_cycles_decode(cc);

		good &= cc == (cce << 12 | ccm);
		good &= back <= n && n - back < (cce > 1 ? UINT64_C(1) << (cce - 1) : 1);
	}
	ok(good, "records: CCE = msb(n) - 11, CCM = n[CCE+10 : CCE-1]; never more than n");
	/* The driver has its own function, for 16 bits. */
	for (uint32_t cc = 0; cc < 0x10000; cc++) {
		uint32_t own = ntrace_ctr_cycles_decode((uint16_t)cc);

		good &= ctr_cycles((u64)cc << 16 | CTR_DATA_CCV) == (own < 0xffff ? own : 0xffff);
	}
	ok(good, "perf: the driver decodes every CC as the library does");
}

static struct ntrace_ctr_record decoded(uint64_t source, uint64_t target, uint64_t data,
					unsigned int features)
{
	struct ntrace_ctr_entry entry = { source, target, data };
	struct ntrace_ctr_record record;

	memset(&record, 0xff, sizeof(record));
	ntrace_ctr_record_decode(&entry, features, &record);
	return record;
}

static void records(void)
{
	/* Read from a kernel in QEMU: a return and a call. */
	struct ntrace_ctr_record record = decoded(UINT64_C(0xffffffff01e6b015),
						  UINT64_C(0xffffffff01e73088), 0xd, ALL_FEATURES);

	ok(record.valid && record.from == UINT64_C(0xffffffff01e6b014) &&
		   record.to == UINT64_C(0xffffffff01e73088) &&
		   record.type == NTRACE_CTR_TYPE_RETURN && !record.mispredicted &&
		   record.mispredict_known && !record.cycles_known && !record.cycles &&
		   record.from_space == NTRACE_CTR_SPACE_KERNEL &&
		   record.to_space == NTRACE_CTR_SPACE_KERNEL && !record.from_hidden &&
		   !record.to_hidden,
	   "records: a return in the kernel");
	record = decoded(0x10001, 0x20003, UINT64_C(0x31238005), ALL_FEATURES);
	ok(record.from == 0x10000 && record.to == 0x20002 && record.mispredicted &&
		   record.cycles_known && record.cycles == 17548 && !record.cycles_saturated &&
		   record.type == NTRACE_CTR_TYPE_BRANCH_TAKEN &&
		   record.from_space == NTRACE_CTR_SPACE_USER,
	   "records: a mispredicted branch, with cycles");
	record = decoded(0x10001, 0x20003, UINT64_C(0x31238005), 0);
	ok(record.valid && !record.type && !record.mispredict_known && !record.mispredicted &&
		   !record.cycles_known && !record.cycles && record.to == 0x20002,
	   "records: a hart without TYPE, MISP and CC reports none of them");
	record = decoded(0x10001, 0x20000, UINT64_C(0x31230005), ALL_FEATURES);
	ok(!record.cycles_known && !record.cycles, "records: CC counts only with CCV");
	ok(decoded(1, 2, UINT64_C(0xffff8000), ALL_FEATURES).cycles_saturated,
	   "records: a saturated count");
	record = decoded(1, UINT64_C(0xffffffff80000000), 2, ALL_FEATURES);
	ok(record.from_hidden && !record.to_hidden &&
		   record.from_space == NTRACE_CTR_SPACE_UNKNOWN &&
		   record.to_space == NTRACE_CTR_SPACE_KERNEL,
	   "records: PC 0 in ctrsource: the mode is hidden");
	record = decoded(0x1001, 0, 3, ALL_FEATURES);
	ok(!record.from_hidden && record.to_hidden, "records: PC 0 in ctrtarget");
	record = decoded(0x1000, 0x2001, UINT64_C(0xffff8005), ALL_FEATURES);
	ok(!record.valid && !record.from && !record.to && !record.type && !record.cycles_known &&
		   !record.mispredict_known && !record.from_hidden,
	   "records: V = 0 is no record");
}

static void types(void)
{
	bool identity = true;

	for (unsigned int type = 0; type < 20; type++) {
		bool used = type < 16 && type != 0 && type != 6 && type != 7;

		identity &= ntrace_ctr_type_from_itype(type) == (used ? type : 0);
		identity &= (used || !type) == !!strcmp(ntrace_ctr_type_name(type), "reserved");
	}
	ok(identity, "records: TYPE is the 4-bit itype; 6 and 7 are reserved");
}

/* An entry recorded with RASEMU. */
static struct ntrace_ctr_entry call(uint64_t from, uint64_t to, unsigned int type)
{
	return (struct ntrace_ctr_entry){ from | 1, to, type };
}

static void call_stacks(void)
{
	struct ntrace_ctr_entry entries[16] = { call(0x1010, 0x2000, 9), call(0x500, 0x1000, 8),
						call(0x100, 0x400, 12) };
	struct ntrace_ctr_frame frames[16];
	bool partial;

	is_u64(ntrace_ctr_call_stack(entries, 16, ALL_FEATURES, frames, &partial), 3,
	       "recording: RASEMU, three calls deep");
	ok(!partial && frames[0].function == 0x2000 && frames[0].call == 0x1010 &&
		   frames[2].function == 0x400 && frames[2].call == 0x100,
	   "recording: functions and calls, innermost first");
	entries[1].source &= ~UINT64_C(1);
	is_u64(ntrace_ctr_call_stack(entries, 16, ALL_FEATURES, frames, &partial), 1,
	       "recording: a popped entry ends the stack");
	for (unsigned int i = 0; i < 16; i++)
		entries[i] = call(0x100 + i, 0x200, 9);
	is_u64(ntrace_ctr_call_stack(entries, 16, ALL_FEATURES, frames, &partial), 16,
	       "a full ring");
	ok(partial, "recording: partial if deeper than depth");
	entries[3].data = 13;
	is_u64(ntrace_ctr_call_stack(entries, 16, ALL_FEATURES, frames, &partial),
	       NTRACE_ERR_FORMAT, "a return in the ring: not recorded with RASEMU");
	is_u64(ntrace_ctr_call_stack(entries, 16, 0, frames, &partial), 16,
	       "without TYPE the call stack is unknown");
}

static void perf_types(void)
{
	static const struct ctr_caps caps = { CTR_CTL_OPTIONS, 0x1f, true, true, true };
	static const unsigned int numbers[][2] = {
		{ NTRACE_PERF_BRANCH_UNKNOWN, PERF_BR_UNKNOWN },
		{ NTRACE_PERF_BRANCH_COND, PERF_BR_COND },
		{ NTRACE_PERF_BRANCH_UNCOND, PERF_BR_UNCOND },
		{ NTRACE_PERF_BRANCH_IND, PERF_BR_IND },
		{ NTRACE_PERF_BRANCH_CALL, PERF_BR_CALL },
		{ NTRACE_PERF_BRANCH_IND_CALL, PERF_BR_IND_CALL },
		{ NTRACE_PERF_BRANCH_RET, PERF_BR_RET },
		{ NTRACE_PERF_BRANCH_SYSCALL, PERF_BR_SYSCALL },
		{ NTRACE_PERF_BRANCH_ERET, PERF_BR_ERET },
		{ NTRACE_PERF_BRANCH_IRQ, PERF_BR_IRQ },
	};
	struct ctr_filter filter;
	bool same = true;

	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
		same &= numbers[i][0] == numbers[i][1];
	ok(same, "perf: branch types have the numbers of the kernel's header");
	ok(NTRACE_PERF_SAMPLE_ANY == PERF_SAMPLE_BRANCH_ANY &&
		   NTRACE_PERF_SAMPLE_COND == PERF_SAMPLE_BRANCH_COND &&
		   NTRACE_PERF_SAMPLE_CALL_STACK == PERF_SAMPLE_BRANCH_CALL_STACK &&
		   NTRACE_PERF_SAMPLE_IND_JUMP == PERF_SAMPLE_BRANCH_IND_JUMP &&
		   NTRACE_PERF_SAMPLE_CALL == PERF_SAMPLE_BRANCH_CALL &&
		   NTRACE_PERF_SAMPLE_REPORT == CTR_PERF_REPORT - PERF_SAMPLE_BRANCH_PLM_ALL,
	   "perf: filters have the numbers of the kernel's header");
	ctr_filter_init(&filter,
			host_branches(PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_USER |
				      PERF_SAMPLE_BRANCH_TYPE_SAVE),
			&caps);
	for (unsigned int type = 0; type < 16; type++) {
		struct ctr_record record = { 0x1001, 0x2000, type };
		struct perf_branch_entry entry;
		struct ctr_entries entries = { .entry = &entry, .max = 1 };

		ctr_filter_entries(&filter, &caps, &record, 1, &entries);
		if (entries.count != 1 || entry.type != ntrace_ctr_perf_type(type))
			same = false;
	}
	ok(same, "perf: type of every TYPE as in the driver");
	is_u64(ntrace_ctr_perf_type(16), 0, "no TYPE is above 15");
	is_u64(ntrace_ctr_perf_exception(0x73), NTRACE_PERF_BRANCH_SYSCALL, "perf: ecall");
	is_u64(ntrace_ctr_perf_exception(0x100073), NTRACE_PERF_BRANCH_UNKNOWN,
	       "perf: another exception is no system call");
}

/* Compares one branch_sample_type in the library and in the driver; false if they differ. */
static bool same_filter(uint64_t sample, const struct ctr_caps *caps)
{
	unsigned int features = (caps->type ? NTRACE_CTR_HAS_TYPE : 0);
	struct ntrace_ctr_filter own = { 0, 0, 0 };
	struct ctr_filter theirs;
	/* The driver decides when to freeze: it can do without freezing in user mode. */
	uint64_t mask = ~NTRACE_CTR_CTL(LCOFIFRZ);
	int mine = ntrace_ctr_filter_from_perf(sample, caps->control, features, &own);
	const char *reason = ctr_filter_init(&theirs, host_branches(sample), caps);

	if (mine || reason)
		return mine && reason;
	return (own.control & mask) == (theirs.control & mask) && own.types == theirs.types;
}

static void perf_filters(void)
{
	static const struct ctr_caps hart[] = {
		{ CTR_CTL_OPTIONS, 0x1f, true, true, true },
		{ CTR_CTL_OPTIONS, 0x1f, true, false, true },
		{ CTR_CTL_BPFRZ | CTR_CTL_LCOFIFRZ, 1, false, true, false },
		{ CTR_CTL_BPFRZ, 1, false, false, false },
		{ CTR_CTL_OPTIONS & ~(CTR_CTL_RETINH | CTR_CTL_EXCINH), 1, false, false, false },
		{ CTR_CTL_OPTIONS & ~CTR_CTL_RASEMU, 1, false, true, false },
	};
	uint64_t differs = 0;
	bool round = true;
	unsigned int count = 0;

	for (size_t i = 0; i < ARRAY_SIZE(hart); i++)
		for (uint64_t sample = 0; sample < 1 << 20; sample += 1 + (sample >> 14)) {
			count++;
			if (!same_filter(sample, &hart[i]) && !differs)
				differs = sample | (uint64_t)i << 32;
		}
	is_hex(differs, 0, "perf: sctrctl of %u filters on 6 harts as in the driver", count);
	for (uint64_t sample = 0; sample < 1 << 14; sample++) {
		struct ntrace_ctr_filter filter;
		uint64_t back, wanted = sample & ~NTRACE_PERF_SAMPLE_HV;

		if (ntrace_ctr_filter_from_perf(sample, NTRACE_CTR_CTL_ALL, ALL_FEATURES, &filter))
			continue;
		back = ntrace_ctr_filter_to_perf(filter.control);
		if (sample & NTRACE_PERF_SAMPLE_HV) /* also S-mode */
			wanted |= NTRACE_PERF_SAMPLE_KERNEL;
		/* ANY includes all the others. */
		if (sample & NTRACE_PERF_SAMPLE_ANY)
			wanted &= NTRACE_PERF_SAMPLE_USER | NTRACE_PERF_SAMPLE_KERNEL |
				  NTRACE_PERF_SAMPLE_ANY;
		round &= !(wanted & ~back);
	}
	ok(round, "perf: sctrctl selects the requested branches");
	is_hex(ntrace_ctr_filter_to_perf(NTRACE_CTR_CTL(U) | NTRACE_CTR_CTL(S)),
	       PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_KERNEL,
	       "perf: no inhibit bit is ANY");
	is_hex(ntrace_ctr_filter_to_perf(NTRACE_CTR_CTL(U) | NTRACE_CTR_CTL(RASEMU)),
	       PERF_SAMPLE_BRANCH_CALL_STACK | PERF_SAMPLE_BRANCH_USER, "perf: RASEMU");
}

int main(void)
{
	control_layout();
	depth_and_status();
	cycles();
	records();
	types();
	call_stacks();
	perf_types();
	perf_filters();
	return done_testing();
}
