// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * The model's registers: writable fields, access rights (CTR 1.0), the draft, and transfers from
 * the ingress port.
 */
#include <ntrace/ctr.h>
#include <tap.h>

#define C(name) NTRACE_CTR_CTL(name)
#define FROZEN UINT64_C(0x80000000)

enum {
	U = NTRACE_PRIV_U,
	S = NTRACE_PRIV_S,
	M = NTRACE_PRIV_M,
	VU = NTRACE_PRIV_VU,
	VS = NTRACE_PRIV_VS
};

static struct ntrace_ctr_model model;
static struct ntrace_ctr_config config;

static void fresh(enum ntrace_ctr_layout layout)
{
	ntrace_ctr_config_init(&config, layout);
	if (ntrace_ctr_model_init(&model, &config))
		ok(false, "model");
}

static uint64_t get(unsigned int priv, unsigned int csr)
{
	uint64_t value = UINT64_C(0xdeadbeef);
	int result = ntrace_ctr_model_read(&model, priv, csr, &value);

	if (result)
		ok(false, "read of CSR %#x: %d", csr, result);
	return value;
}

static void set(unsigned int priv, unsigned int csr, uint64_t value)
{
	int result = ntrace_ctr_model_write(&model, priv, csr, value);

	if (result)
		ok(false, "write of CSR %#x: %d", csr, result);
}

static int go(unsigned int itype, unsigned int from, unsigned int to)
{
	struct ntrace_ctr_transfer transfer = { .source = 0x1000,
						.target = 0x2000,
						.itype = (uint8_t)itype,
						.from = (uint8_t)from,
						.to = (uint8_t)to };

	return ntrace_ctr_model_transfer(&model, &transfer);
}

static void controls(void)
{
	fresh(NTRACE_CTR_RATIFIED);
	set(M, 0x34e, UINT64_MAX);
	/* Bits 0-2, 7-9, 11, 12, 33-37, 40-47. */
	is_hex(get(M, 0x34e), UINT64_C(0xff3e00001b87), "registers: mctrctl written all ones");
	/* Observed in QEMU for sctrctl. */
	is_hex(get(S, 0x14e), UINT64_C(0xff3e00001983), "registers: sctrctl: no M, no MTE");
	set(S, 0x14e, 0);
	is_hex(get(M, 0x34e), 0x204, "registers: written through sctrctl: M and MTE are kept");
	set(M, 0x34e, 0);
	set(S, 0x14e, UINT64_MAX);
	is_hex(get(M, 0x34e), UINT64_C(0xff3e00001983),
	       "registers: M and MTE cannot be set through sctrctl");
	set(S, 0x24e, UINT64_MAX);
	is_hex(get(S, 0x24e), UINT64_C(0xff3e00001983), "registers: vsctrctl");
	set(VS, 0x14e, 0x81);
	is_hex(get(S, 0x24e), 0x81, "registers: sctrctl is vsctrctl where V = 1");
	is_hex(get(VS, 0x14e), 0x81, "and is read back");
	is_hex(get(S, 0x14e), UINT64_C(0xff3e00001983), "the host's sctrctl is separate");
	config.implemented &= ~(C(STE) | C(NTBREN));
	ok(!ntrace_ctr_model_init(&model, &config), "a hart without STE and NTBREN");
	set(S, 0x14e, UINT64_MAX);
	is_hex(get(S, 0x14e), UINT64_C(0xff2e00001883), "registers: unimplemented fields read 0");
}

static void depths(void)
{
	static const struct {
		unsigned int depths;
		uint8_t codes[8]; /* read back after writing 0 to 7 */
	} harts[] = {
		{ 0x1f, { 0, 1, 2, 3, 4, 4, 4, 4 } }, /* as observed in QEMU */
		{ 0x01, { 0, 0, 0, 0, 0, 0, 0, 0 } },
		{ 0x0a, { 1, 1, 1, 3, 3, 3, 3, 3 } }, /* depths need not be contiguous */
		{ 0x10, { 4, 4, 4, 4, 4, 4, 4, 4 } },
	};

	for (unsigned int i = 0; i < 4; i++) {
		bool good = true;

		fresh(NTRACE_CTR_RATIFIED);
		config.depths = harts[i].depths;
		good &= !ntrace_ctr_model_init(&model, &config);
		for (unsigned int code = 0; code < 8; code++) {
			set(S, 0x15f, code);
			good &= get(S, 0x15f) == harts[i].codes[code];
		}
		set(S, 0x15f, UINT64_C(0xfffffff8));
		good &= get(S, 0x15f) == harts[i].codes[0];
		ok(good, "registers: sctrdepth is WARL, depths %#x", harts[i].depths);
	}
	fresh(NTRACE_CTR_RATIFIED);
	set(S, 0x15f, 4);
	set(M, 0x34e, C(S));
	for (unsigned int i = 0; i < 100; i++)
		go(11, S, S);
	is_hex(get(S, 0x14f), 100, "registers: sctrstatus.WRPTR");
	set(S, 0x15f, 1);
	is_hex(get(S, 0x14f), 100 % 32, "registers: WRPTR bits above the depth are read-only 0");
	set(S, 0x14f, UINT64_MAX);
	is_hex(get(S, 0x14f), FROZEN | 31, "registers: sctrstatus written all ones");
	set(S, 0x15f, 4);
	set(S, 0x14f, UINT64_MAX);
	is_hex(get(S, 0x14f), FROZEN | 255, "registers: the same with 256 entries");
}

static void entries(void)
{
	fresh(NTRACE_CTR_RATIFIED);
	set(S, 0x150, 0x200);
	for (unsigned int i = 0; i < 3; i++)
		set(S, 0x151 + i, UINT64_MAX);
	ok(get(S, 0x151) == UINT64_MAX && get(S, 0x152) == UINT64_MAX,
	   "records: ctrsource and ctrtarget");
	is_hex(get(S, 0x153), UINT64_C(0xffff800f), "records: ctrdata: TYPE, CCV, CC");
	ok(!get(S, 0x155) && !get(S, 0x156) && !get(S, 0x157), "records: sireg4 to 6 are 0");
	set(S, 0x155, 1);
	ok(!get(S, 0x155), "records: and read-only");
	for (unsigned int csr = 0x14f; csr <= 0x15a; csr++) {
		bool there = csr >= 0x14f && csr <= 0x157 && csr != 0x154;
		uint64_t value;

		is_u64((uint64_t)ntrace_ctr_model_read(&model, S, csr, &value),
		       (uint64_t)(there ? 0 : NTRACE_ERR_UNSUPPORTED), "records: CSR %#x", csr);
	}
	set(S, 0x250, 0x200);
	ok(get(S, 0x251) == UINT64_MAX && get(VS, 0x151) == UINT64_MAX,
	   "records: vsireg, and sireg of the guest, reach the same storage");
	set(VS, 0x150, 0x20f);
	ok(get(S, 0x250) == 0x20f && get(S, 0x150) == 0x200,
	   "records: siselect of the guest is vsiselect");
	set(S, 0x150, 0x210);
	set(S, 0x151, 1);
	ok(!get(S, 0x151) && !get(S, 0x152) && !get(S, 0x153),
	   "records: entries from the depth on are 0 and read-only");
	set(S, 0x15f, 4);
	ok(!get(S, 0x151), "records: the entries were not written");
	ok(model.ring[15].source == UINT64_MAX, "registers: entry 0 of WRPTR 0 is the last slot");

	/* A handler emulates transfers. */
	fresh(NTRACE_CTR_RATIFIED);
	set(M, 0x34e, C(S) | C(RASEMU));
	go(9, S, S);
	set(S, 0x14e, 0);
	set(S, 0x14f, get(S, 0x14f) + 1);
	set(S, 0x150, 0x200);
	set(S, 0x151, 0x5001);
	ok(get(S, 0x14f) == 2 && model.ring[1].source == 0x5001 && model.ring[0].source == 0x1001,
	   "recording: a transfer emulated: WRPTR++, then entry 0");
	set(S, 0x151, 0x5000);
	set(S, 0x14f, get(S, 0x14f) - 1);
	ok(get(S, 0x151) == 0x1001 && model.ring[1].source == 0x5000,
	   "recording: a RASEMU return emulated: V cleared, then WRPTR--");

	for (unsigned int bits = 0; bits <= 4; bits++) {
		static const uint64_t expected[] = { 0x0fff800f, 0x1fff800f, 0x3fff800f, 0x7fff800f,
						     0xffff800f };

		fresh(NTRACE_CTR_RATIFIED);
		config.cce_bits = bits;
		ntrace_ctr_model_init(&model, &config);
		set(S, 0x150, 0x203);
		set(S, 0x153, UINT64_MAX);
		is_hex(get(S, 0x153), expected[bits], "records: ctrdata with %u bits of CCE", bits);
	}
	config.features = 0;
	ntrace_ctr_model_init(&model, &config);
	set(S, 0x150, 0x200);
	set(S, 0x152, UINT64_MAX);
	set(S, 0x153, UINT64_MAX);
	ok(get(S, 0x152) == ~UINT64_C(1) && !get(S, 0x153),
	   "records: MISP, TYPE and CC are read-only 0 in harts without them");
}

static void clearing(void)
{
	bool empty = true;

	fresh(NTRACE_CTR_RATIFIED);
	set(S, 0x15f, 4);
	set(M, 0x34e, C(S));
	for (unsigned int i = 0; i < 256 + 7; i++)
		go(11, S, S);
	set(S, 0x15f, 0);
	set(S, 0x14f, FROZEN | 5);
	ok(!ntrace_ctr_model_clear(&model, S), "SCTRCLR in S");
	is_hex(get(S, 0x14f), FROZEN | 5, "registers: SCTRCLR does not touch sctrstatus");
	set(S, 0x15f, 4);
	for (unsigned int i = 0; i < 256; i++)
		empty &= !model.ring[i].source && !model.ring[i].target && !model.ring[i].data;
	ok(empty, "registers: and clears all entries at any depth");
}

/* Results of reading, or of SCTRCLR for csr 0, in S, U, VS and VU as digits. */
static unsigned int outcome(unsigned int csr)
{
	static const unsigned int modes[] = { S, U, VS, VU };
	unsigned int digits = 0;
	uint64_t value;

	for (unsigned int i = 0; i < 4; i++)
		digits = digits * 10 +
			 (unsigned int)(csr ? ntrace_ctr_model_read(&model, modes[i], csr, &value) :
					      ntrace_ctr_model_clear(&model, modes[i]));
	return digits;
}

static void access(void)
{
	/* 0 success, 1 illegal, 2 virtual instruction; S, U, VS, VU. */
	static const struct {
		const char *text;
		uint64_t mstateen0, hstateen0;
		unsigned int sctrctl, vsctrctl, depth, status, select, entry, clear;
	} rows[] = {
		{ "all open", UINT64_MAX, UINT64_MAX, 102, 122, 122, 102, 102, 102, 102 },
		{ "mstateen0.CTR 0", ~(UINT64_C(1) << 54), UINT64_MAX, 1111, 1111, 1111, 1111, 102,
		  1111, 1111 },
		{ "mstateen0.CSRIND 0", ~(UINT64_C(1) << 60), UINT64_MAX, 102, 122, 122, 102, 1111,
		  1111, 102 },
		{ "hstateen0.CTR 0", UINT64_MAX, ~(UINT64_C(1) << 54), 122, 122, 122, 122, 102, 122,
		  122 },
		{ "hstateen0.CSRIND 0", UINT64_MAX, ~(UINT64_C(1) << 60), 102, 122, 122, 102, 122,
		  122, 102 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		fresh(NTRACE_CTR_RATIFIED);
		set(S, 0x150, 0x200);
		set(S, 0x250, 0x200);
		ntrace_ctr_model_stateen(&model, rows[i].mstateen0, rows[i].hstateen0);
		is_u64(outcome(0x14e), rows[i].sctrctl, "access control, %s: sctrctl",
		       rows[i].text);
		is_u64(outcome(0x24e), rows[i].vsctrctl, "access control, %s: vsctrctl",
		       rows[i].text);
		is_u64(outcome(0x15f), rows[i].depth, "access control, %s: sctrdepth",
		       rows[i].text);
		is_u64(outcome(0x14f), rows[i].status, "access control, %s: sctrstatus",
		       rows[i].text);
		is_u64(outcome(0x150), rows[i].select, "access control, %s: siselect",
		       rows[i].text);
		is_u64(outcome(0x151), rows[i].entry, "access control, %s: sireg", rows[i].text);
		is_u64(outcome(0), rows[i].clear, "access control, %s: SCTRCLR", rows[i].text);
		is_u64(outcome(0x34e), 1111, "access control, %s: only M can access mctrctl",
		       rows[i].text);
	}
	set(M, 0x34e, C(S));
	ntrace_ctr_model_stateen(&model, 0, 0);
	ok(go(11, S, S) == NTRACE_CTR_RECORDED,
	   "access control: recording continues without access");
	is_hex(get(M, 0x14e), 2, "access control: M always has access");
	config.hypervisor = false;
	ntrace_ctr_model_init(&model, &config);
	is_u64(outcome(0x24e) / 100, 11, "no hypervisor, no vsctrctl");
	is_u64(go(11, VS, VS), NTRACE_ERR_INVALID, "nor VS-mode");
}

static void others(void)
{
	uint64_t value;

	fresh(NTRACE_CTR_RATIFIED);
	is_u64(ntrace_ctr_model_read(&model, M, 0x300, &value), NTRACE_ERR_UNSUPPORTED,
	       "mstatus is no CTR register");
	is_u64(ntrace_ctr_model_read(&model, M, 0x181, &value), NTRACE_ERR_UNSUPPORTED,
	       "registers: the draft's sctrcontrol does not exist in 1.0");
	is_u64(ntrace_ctr_model_read(&model, M, 0x154, &value), NTRACE_ERR_UNSUPPORTED,
	       "0x154 is no sireg");
	set(S, 0x150, 0x30);
	is_u64(ntrace_ctr_model_read(&model, S, 0x151, &value), NTRACE_ERR_UNSUPPORTED,
	       "access control: sireg while siselect selects no CTR entry");
	set(S, 0x150, 0x300);
	is_u64(ntrace_ctr_model_write(&model, S, 0x151, 1), NTRACE_ERR_UNSUPPORTED,
	       "also after the last entry");
	is_hex(get(S, 0x150), 0x300, "siselect takes other values");
}

static void draft(void)
{
	uint64_t value;

	fresh(NTRACE_CTR_DRAFT);
	set(M, 0x381, UINT64_MAX);
	/* Bits 0-2, 8-12, 16-19, 33-38, 40-47; CLR reads 0. */
	is_hex(get(M, 0x381), UINT64_C(0xff7e000f1f07), "draft: mctrcontrol written all ones");
	is_hex(get(S, 0x181), UINT64_C(0xff7e000f1e06), "draft: sctrcontrol: no M, no MTE");
	set(S, 0x281, 0x4);
	is_hex(get(S, 0x281), 0xf0004, "draft: DEPTH of vsctrcontrol is a read-only copy");
	set(M, 0x381, 0x4);
	ok(go(11, U, U) == NTRACE_CTR_RECORDED && go(11, M, M) == NTRACE_CTR_IGNORED,
	   "draft: bit 2 is U");
	is_hex(get(M, 0x383), 1, "draft: mctrstatus");
	set(M, 0x381, 0x30004);
	is_u64(model.depth, 64, "draft: DEPTH 0011 is 64 entries");
	set(M, 0x381, 0x50004);
	is_u64(model.depth, 64, "draft: 0101 is no code and means the next lower one");
	for (unsigned int i = 0; i < 62; i++)
		go(11, U, U);
	is_hex(get(S, 0x183), 63, "draft: sctrstatus before WRPTR wraps");
	go(11, U, U);
	is_hex(get(S, 0x183), 0x4000, "draft: WRAP");
	set(S, 0x183, 0xc003);
	is_hex(get(S, 0x183), 0xc003, "draft: FROZEN is bit 15");
	ok(go(11, U, U) == NTRACE_CTR_IGNORED, "draft: FROZEN stops recording");
	set(S, 0x183, 0);
	go(11, U, U);
	set(S, 0x181, 0x30084);
	ok(get(S, 0x181) == 0x30004 && !model.ring[0].source && !get(S, 0x183),
	   "draft: CLR clears the ring and sctrstatus, and reads 0");
	go(11, U, U);
	set(S, 0x281, 0x80);
	ok(ntrace_ctr_model_entry(&model, 0).source && get(S, 0x183) == 1,
	   "draft: CLR of vsctrcontrol clears nothing with V=0");
	set(VS, 0x181, 0x80);
	ok(!ntrace_ctr_model_entry(&model, 0).source && !get(S, 0x183), "draft: it does with V=1");
	for (unsigned int i = 0; i < 64; i++)
		go(11, U, U);
	set(S, 0x183, get(S, 0x183) | 0x8000);
	is_hex(get(S, 0x183), 0xc000, "draft: WRAP and FROZEN");
	set(M, 0x381, 0x30084);
	is_hex(get(S, 0x183), 0, "draft: CLR clears both");
	set(M, 0x381, 0x404);
	for (unsigned int i = 0; i < 16; i++)
		go(9, U, U);
	is_hex(get(S, 0x183), 0x4000, "draft: 16 calls wrap WRPTR");
	go(13, U, U);
	is_hex(get(S, 0x183), 15, "draft: a return from WRPTR 0 clears WRAP");
	set(M, 0x381, 0x30004);
	set(M, 0x350, 0x200);
	set(M, 0x351, 0x77);
	set(S, 0x150, 0x200);
	is_hex(get(S, 0x151), 0x77, "draft: mireg reaches the entries too");
	is_u64(ntrace_ctr_model_clear(&model, M), NTRACE_CTR_ILLEGAL, "draft: no SCTRCLR");
	is_u64(ntrace_ctr_model_read(&model, M, 0x15f, &value), NTRACE_ERR_UNSUPPORTED,
	       "draft: no sctrdepth");
	set(M, 0x381, 0x4 | 1u << 8);
	ok(go(1, U, M) == NTRACE_CTR_IGNORED, "draft: MTE without ETEN: no external trap");
	set(M, 0x381, 0x4 | UINT64_C(1) << 38);
	ok(go(1, U, M) == NTRACE_CTR_IGNORED, "draft: nor ETEN without MTE");
	set(M, 0x381, 0x4 | 1u << 8 | UINT64_C(1) << 38);
	ok(go(1, U, M) == NTRACE_CTR_RECORDED && !ntrace_ctr_model_entry(&model, 0).target,
	   "draft: ETEN and the target's xTE alone: MTE");
	ok(go(1, U, S) == NTRACE_CTR_IGNORED, "draft: not that of another target");
	ntrace_ctr_model_stateen(&model, UINT64_C(1) << 54, 0);
	is_u64(ntrace_ctr_model_read(&model, S, 0x181, &value), NTRACE_CTR_ILLEGAL,
	       "draft: bit 54 of mstateen0 permits no access");
	ntrace_ctr_model_stateen(&model, UINT64_C(1) << 55, 0);
	is_u64(ntrace_ctr_model_read(&model, S, 0x181, &value), 0, "draft: bit 55 permits access");
}

/* Recording in the draft: other bit positions, nearly the same rules. */
static void draft_records(void)
{
	static const struct {
		unsigned int itype, bit;
	} filters[] = { { 1, 33 }, { 2, 34 },  { 3, 35 },  { 5, 37 },  { 8, 40 },  { 9, 41 },
			{ 10, 42 }, { 11, 43 }, { 12, 44 }, { 13, 45 }, { 14, 46 }, { 15, 47 } };
	struct ntrace_ctr_transfer transfer = {
		.source = 0x1000, .target = 0x2000, .cycles = 17548, .itype = 5, .from = U
	};
	bool good = true;

	fresh(NTRACE_CTR_DRAFT);
	for (size_t i = 0; i < sizeof(filters) / sizeof(filters[0]); i++) {
		set(M, 0x381, 7 | UINT64_C(1) << filters[i].bit);
		good &= go(filters[i].itype, M, M) == NTRACE_CTR_IGNORED;
		set(M, 0x381, 7);
		good &= go(filters[i].itype, M, M) == NTRACE_CTR_RECORDED;
	}
	good &= go(4, M, M) == NTRACE_CTR_IGNORED;
	set(M, 0x381, 7 | UINT64_C(1) << 36);
	ok(good && go(4, M, M) == NTRACE_CTR_RECORDED, "draft: each filter at its bit");
	set(M, 0x381, 0x4 | 1u << 9 | UINT64_C(1) << 38);
	ok(go(1, U, S) == NTRACE_CTR_RECORDED && go(1, U, M) == NTRACE_CTR_IGNORED,
	   "draft: STE is bit 9, where 1.0 has MTE");
	set(M, 0x381, 0x4 | 1u << 10);
	ok(go(9, U, U) == NTRACE_CTR_RECORDED && go(5, U, U) == NTRACE_CTR_IGNORED &&
		   go(13, U, U) == NTRACE_CTR_POPPED,
	   "draft: RASEMU is bit 10");
	set(M, 0x381, 0x4);
	ntrace_ctr_model_transfer(&model, &transfer);
	transfer.mispredicted = true;
	ntrace_ctr_model_transfer(&model, &transfer);
	is_hex(ntrace_ctr_model_entry(&model, 1).data, 5, "draft: the first record has CCV = 0");
	is_hex(ntrace_ctr_model_entry(&model, 0).data, UINT64_C(0x31238005), "draft: cycles");
	is_hex(ntrace_ctr_model_entry(&model, 0).target, 0x2001, "draft: MISP");
	transfer = (struct ntrace_ctr_transfer){ .itype = 2, .cause = 13, .from = U, .to = S };
	set(M, 0x381, 0x4 | 1u << 12);
	ok(ntrace_ctr_model_transfer(&model, &transfer) == NTRACE_CTR_FROZE &&
		   get(S, 0x183) & 1u << 15,
	   "draft: LCOFIFRZ");
	transfer = (struct ntrace_ctr_transfer){ .itype = 1, .cause = 3, .from = U, .to = S };
	set(S, 0x183, 0);
	set(M, 0x381, 0x4 | 1u << 11);
	ok(ntrace_ctr_model_transfer(&model, &transfer) == NTRACE_CTR_FROZE, "draft: BPFRZ");
}

/* The control registers of RV32 have two halves. */
static void draft_32(void)
{
	uint64_t value;

	fresh(NTRACE_CTR_DRAFT);
	is_u64(ntrace_ctr_model_read(&model, M, 0x382, &value), NTRACE_ERR_UNSUPPORTED,
	       "draft: RV64 has no mctrcontrolh");
	ntrace_ctr_config_init(&config, NTRACE_CTR_DRAFT);
	config.xlen = 32;
	is_u64(ntrace_ctr_model_init(&model, &config), 0, "draft: RV32");
	set(M, 0x381, 0x30007);
	set(M, 0x382, 0x2);
	is_hex(get(M, 0x381), 0x30007, "draft: mctrcontrol keeps its value");
	is_hex(get(M, 0x382), 0x2, "draft: mctrcontrolh has EXCINH");
	is_hex(get(S, 0x182), 0x2, "draft: sctrcontrolh, too");
	ok(go(1, U, S) == NTRACE_CTR_IGNORED && go(2, U, S) == NTRACE_CTR_RECORDED,
	   "draft: it inhibits exceptions");
	set(S, 0x181, 0x30006);
	is_hex(get(M, 0x382), 0x2, "draft: a write of the low half leaves the high one");
	is_hex(get(M, 0x381), 0x30007, "draft: sctrcontrol leaves M");
	set(VS, 0x182, 0x4);
	is_hex(get(S, 0x282), 0x4, "draft: vsctrcontrolh");
	ok(get(M, 0x383) == 1 && get(S, 0x183) == 1, "draft: the status has one register");
}

/* Whether a configuration is refused with these words in the reason. */
static void refuse(const char *words)
{
	const char *reason = ntrace_ctr_config_refusal(&config);

	ok(reason && strstr(reason, words) &&
		   ntrace_ctr_model_init(&model, &config) == NTRACE_ERR_INVALID,
	   "refused: %s", words);
	ntrace_ctr_config_init(&config, NTRACE_CTR_RATIFIED);
}

static void refusals(void)
{
	ntrace_ctr_config_init(&config, NTRACE_CTR_RATIFIED);
	config.size = 0;
	refuse("size");
	config.layout = (enum ntrace_ctr_layout)2;
	refuse("layout");
	config.implemented &= ~C(BPFRZ);
	refuse("must be implemented");
	config.xlen = 32;
	refuse("xlen");
	ntrace_ctr_config_init(&config, NTRACE_CTR_DRAFT);
	config.implemented &= ~C(M);
	refuse("M must be implemented");
	ntrace_ctr_config_init(&config, NTRACE_CTR_DRAFT);
	config.implemented = C(M);
	ok(!ntrace_ctr_config_refusal(&config), "a draft hart with M alone");
	ntrace_ctr_config_init(&config, NTRACE_CTR_RATIFIED);
	config.implemented |= NTRACE_CTR_DRAFT_ETEN;
	refuse("not a field");
	config.depths = 0;
	refuse("depths");
	config.depths = 0x20;
	refuse("depths");
	config.cce_bits = 5;
	refuse("CCE");
	ntrace_ctr_config_init(&config, NTRACE_CTR_DRAFT);
	config.depths = 0x0a;
	refuse("contiguous");
	ntrace_ctr_config_init(&config, NTRACE_CTR_DRAFT);
	config.depths = 0x0c;
	ok(!ntrace_ctr_config_refusal(&config), "a draft hart with 64 and 128 entries");
}

int main(void)
{
	controls();
	depths();
	entries();
	clearing();
	access();
	others();
	draft();
	draft_32();
	draft_records();
	refusals();
	return done_testing();
}
