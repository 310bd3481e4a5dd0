// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * The software model of Control Transfer Records: each recording rule of CTR 1.0 by itself.
 * test_ctr_registers.c tests registers, test_ctr_property.c random settings.
 */
#include <ntrace/ctr.h>
#include <tap.h>

#define C(name) NTRACE_CTR_CTL(name)
#define ALL_MODES (C(M) | C(S) | C(U))

enum {
	U = NTRACE_PRIV_U,
	S = NTRACE_PRIV_S,
	M = NTRACE_PRIV_M,
	D = NTRACE_PRIV_D,
	VU = NTRACE_PRIV_VU,
	VS = NTRACE_PRIV_VS
};

static struct ntrace_ctr_model model;
static uint64_t source, target;

static void set(unsigned int csr, uint64_t value)
{
	if (ntrace_ctr_model_write(&model, M, csr, value))
		ok(false, "write of CSR %#x", csr);
}

/* A hart of 1.0 with these registers, 16 entries, and counting cycles. */
static void fresh(uint64_t mctrctl, uint64_t vsctrctl)
{
	struct ntrace_ctr_config config;

	ntrace_ctr_config_init(&config, NTRACE_CTR_RATIFIED);
	if (ntrace_ctr_model_init(&model, &config))
		ok(false, "model of 1.0");
	set(NTRACE_CTR_CSR_MCTRCTL, mctrctl);
	set(NTRACE_CTR_CSR_VSCTRCTL, vsctrctl);
}

/* Makes the next transfer, from and to unused addresses. */
static int go(unsigned int itype, unsigned int from, unsigned int to)
{
	struct ntrace_ctr_transfer transfer = {
		.source = source += 0x10,
		.target = target += 0x10,
		.itype = (uint8_t)itype,
		.from = (uint8_t)from,
		.to = (uint8_t)to,
	};

	return ntrace_ctr_model_transfer(&model, &transfer);
}

static int trap(unsigned int itype, unsigned int from, unsigned int to, uint64_t cause)
{
	struct ntrace_ctr_transfer transfer = {
		.source = source += 0x10,
		.target = target += 0x10,
		.cause = cause,
		.itype = (uint8_t)itype,
		.from = (uint8_t)from,
		.to = (uint8_t)to,
	};

	return ntrace_ctr_model_transfer(&model, &transfer);
}

/* Whether entry 0 is the last transfer, with these parts hidden. */
static bool last_is(unsigned int type, bool hidden_source, bool hidden_target)
{
	struct ntrace_ctr_entry entry = ntrace_ctr_model_entry(&model, 0);

	return entry.source == ((hidden_source ? 0 : source) | 1) &&
	       entry.target == (hidden_target ? 0 : target) && (entry.data & 0xf) == type;
}

static void qualified(void)
{
	fresh(C(S) | C(U), 0);
	ok(go(1, U, S) == NTRACE_CTR_RECORDED && last_is(1, false, false),
	   "recording: trap, both modes enabled: full");
	ok(go(3, S, U) == NTRACE_CTR_RECORDED && last_is(3, false, false),
	   "recording: trap return, both modes enabled: full");
	fresh(C(S), 0);
	ok(go(2, U, S) == NTRACE_CTR_RECORDED && last_is(2, true, false),
	   "recording: trap from a disabled mode: ctrsource.PC = 0");
	ok(go(3, S, U) == NTRACE_CTR_RECORDED && last_is(3, false, true),
	   "recording: trap return to a disabled mode: ctrtarget.PC = 0");
	fresh(C(U), 0);
	ok(go(1, U, S) == NTRACE_CTR_IGNORED, "recording: trap to a disabled mode: not opted in");
	ok(go(3, S, U) == NTRACE_CTR_IGNORED,
	   "recording: trap return from a disabled to an enabled mode: none");
	set(NTRACE_CTR_CSR_SCTRCTL, C(U) | C(STE));
	ok(go(1, U, S) == NTRACE_CTR_RECORDED && last_is(1, false, true),
	   "recording: external trap, opted in: ctrtarget.PC = 0");
	ok(go(3, S, U) == NTRACE_CTR_IGNORED, "recording: no external trap return");
	fresh(C(M), 0);
	ok(go(1, U, S) == NTRACE_CTR_IGNORED && go(3, S, U) == NTRACE_CTR_IGNORED &&
		   go(9, U, U) == NTRACE_CTR_IGNORED,
	   "recording: both modes disabled: none");
	fresh(C(U), 0);
	go(3, S, U);
	go(9, U, U);
	ok(!(ntrace_ctr_model_entry(&model, 1).source & 1),
	   "leak rule: with S off before sret the kernel's address is not in the ring");
}

static void modes(void)
{
	static const struct {
		const char *name;
		unsigned int mode;
		uint64_t mctrctl, vsctrctl;
	} modes[] = { { "M", M, C(M), 0 },
		      { "S", S, C(S), 0 },
		      { "U", U, C(U), 0 },
		      { "VS", VS, 0, C(S) },
		      { "VU", VU, 0, C(U) } };

	for (unsigned int i = 0; i < 5; i++) {
		bool good = true;

		fresh(modes[i].mctrctl, modes[i].vsctrctl);
		for (unsigned int j = 0; j < 5; j++)
			good &= go(11, modes[j].mode, modes[j].mode) == (i == j);
		ok(good, "recording: %s enabled: its transfers and no others", modes[i].name);
	}
}

static void inhibits(void)
{
	static const struct {
		const char *name;
		unsigned int type;
		uint64_t bit;
	} rows[] = { { "EXCINH", 1, C(EXCINH) },	 { "INTRINH", 2, C(INTRINH) },
		     { "TRETINH", 3, C(TRETINH) },	 { "NTBREN", 4, C(NTBREN) },
		     { "TKBRINH", 5, C(TKBRINH) },	 { "INDCALLINH", 8, C(INDCALLINH) },
		     { "DIRCALLINH", 9, C(DIRCALLINH) }, { "INDJMPINH", 10, C(INDJMPINH) },
		     { "DIRJMPINH", 11, C(DIRJMPINH) },	 { "CORSWAPINH", 12, C(CORSWAPINH) },
		     { "RETINH", 13, C(RETINH) },	 { "INDLJMPINH", 14, C(INDLJMPINH) },
		     { "DIRLJMPINH", 15, C(DIRLJMPINH) } };
	unsigned int mask;

	/* Sets all bits but one, then only that one, in a mode and in its guest. */
	for (unsigned int i = 0; i < 13; i++) {
		bool good = true;

		for (unsigned int guest = 0; guest < 2; guest++) {
			unsigned int mode = guest ? VS : S;

			mask = 0;
			fresh(guest ? 0 : C(S) | rows[i].bit, guest ? C(S) | rows[i].bit : 0);
			for (unsigned int j = 0; j < 13; j++)
				mask |= (unsigned int)go(rows[j].type, mode, mode) << rows[j].type;
			good &= mask == ((0xff2eu | (rows[i].type == 4 ? 0x10u : 0)) &
					 (rows[i].type == 4 ? ~0u : ~(1u << rows[i].type)));
		}
		ok(good, "recording: %s alone: type %u is %srecorded, all others as before",
		   rows[i].name, rows[i].type, rows[i].type == 4 ? "" : "not ");
	}
}

static void external(void)
{
	/* External traps of CTR 1.0: the controls that must agree. */
	enum { NEED_M = 1, NEED_S = 2, NEED_VS = 4 };
	static const struct {
		const char *text;
		unsigned int from, to, need;
	} rows[] = {
		{ "U->S: sctrctl.STE", U, S, NEED_S },
		{ "U->M: MTE and STE", U, M, NEED_M | NEED_S },
		{ "S->M: MTE", S, M, NEED_M },
		{ "VU->VS: vsctrctl.STE", VU, VS, NEED_VS },
		{ "VU->HS: sctrctl.STE and vsctrctl.STE", VU, S, NEED_S | NEED_VS },
		{ "VU->M: all three", VU, M, NEED_M | NEED_S | NEED_VS },
		{ "VS->HS: sctrctl.STE", VS, S, NEED_S },
		{ "VS->M: MTE and STE", VS, M, NEED_M | NEED_S },
	};

	for (unsigned int i = 0; i < 8; i++) {
		bool good = true;

		for (unsigned int opted = 0; opted < 16; opted++) {
			uint64_t more = (opted & NEED_M ? C(MTE) : 0) |
					(opted & NEED_S ? C(STE) : 0) | C(EXCINH);
			uint64_t guest = (opted & NEED_VS ? C(STE) : 0) | C(INTRINH);
			uint64_t own = rows[i].from == U || rows[i].from == VU ? C(U) : C(S);
			bool virtual = rows[i].from == VU || rows[i].from == VS;
			bool wanted = !(rows[i].need & ~opted);

			fresh(more | (virtual ? 0 : own), guest | (virtual ? own : 0));
			good &= go(1 + (opted >> 3), rows[i].from, rows[i].to) == wanted;
			good &= !wanted || last_is(1 + (opted >> 3), false, true);
		}
		ok(good, "recording: external trap %s, independent of EXCINH and INTRINH",
		   rows[i].text);
	}
	/* The bits have no effect if the target is enabled. */
	fresh(C(U) | C(S) | C(STE) | C(EXCINH), 0);
	ok(go(1, U, S) == NTRACE_CTR_IGNORED,
	   "recording: EXCINH applies to traps that are not external");
}

static void guests(void)
{
	fresh(C(S) | C(EXCINH) | C(TRETINH), C(S));
	ok(go(1, VS, S) == NTRACE_CTR_RECORDED && go(3, S, VS) == NTRACE_CTR_RECORDED,
	   "V changes: the filters of vsctrctl apply, not those of sctrctl");
	fresh(C(S), C(S) | C(EXCINH) | C(TRETINH));
	ok(go(1, VS, S) == NTRACE_CTR_IGNORED && go(3, S, VS) == NTRACE_CTR_IGNORED,
	   "V changes: the filters of vsctrctl apply");
	fresh(C(M), 0);
	ok(go(2, VU, M) == NTRACE_CTR_RECORDED && last_is(2, true, false),
	   "V changes: each mode is enabled by its own register: VU to M");
	ok(go(3, M, VS) == NTRACE_CTR_RECORDED && last_is(3, false, true),
	   "V changes: M to VS, which is disabled");
	fresh(ALL_MODES | C(RASEMU), C(S));
	ok(go(1, VS, S) == NTRACE_CTR_RECORDED, "V changes: RASEMU of vsctrctl applies");
	fresh(ALL_MODES, C(S) | C(RASEMU));
	ok(go(1, VS, S) == NTRACE_CTR_IGNORED && go(3, S, VS) == NTRACE_CTR_IGNORED,
	   "V changes: RASEMU drops traps and returns");
	ok(go(1, U, S) == NTRACE_CTR_RECORDED, "RASEMU of vsctrctl does not affect the host");
}

static void return_stack(void)
{
	bool dropped = true;

	fresh(ALL_MODES | C(RASEMU) | C(DIRCALLINH) | C(RETINH) | C(CORSWAPINH) | C(STE) | C(MTE),
	      0);
	ok(go(9, S, S) == NTRACE_CTR_RECORDED && last_is(9, false, false) &&
		   go(8, S, S) == NTRACE_CTR_RECORDED && model.status.wrptr == 2,
	   "RASEMU: calls push, filters are ignored");
	ok(go(12, S, S) == NTRACE_CTR_REPLACED && last_is(12, false, false) &&
		   model.status.wrptr == 2 && (ntrace_ctr_model_entry(&model, 1).data & 15) == 9,
	   "RASEMU: a swap overwrites entry 0, WRPTR stays");
	ok(go(13, S, S) == NTRACE_CTR_POPPED && model.status.wrptr == 1 &&
		   (ntrace_ctr_model_entry(&model, 0).data & 15) == 9 &&
		   ntrace_ctr_model_entry(&model, 15).source == source - 0x10,
	   "RASEMU: a return clears V, entry 0 becomes entry depth-1, others move up");
	for (unsigned int type = 1; type < 16; type++)
		if (type != 6 && type != 7 && type != 8 && type != 9 && type != 12 && type != 13)
			dropped &= go(type, S, S) == NTRACE_CTR_IGNORED;
	dropped &= model.status.wrptr == 1;
	ok(dropped, "RASEMU: all other types are dropped");
	fresh(C(U) | C(RASEMU) | C(STE) | C(MTE), 0);
	ok(go(1, U, S) == NTRACE_CTR_IGNORED && go(1, U, M) == NTRACE_CTR_IGNORED,
	   "RASEMU: xTE is ignored");
	ok(go(9, S, S) == NTRACE_CTR_IGNORED && go(13, S, S) == NTRACE_CTR_IGNORED &&
		   go(12, S, S) == NTRACE_CTR_IGNORED && !model.status.wrptr,
	   "RASEMU: modes that are not enabled are not recorded");
	ok(go(13, U, U) == NTRACE_CTR_POPPED && model.status.wrptr == 15,
	   "RASEMU: an extra return wraps");
	for (unsigned int i = 0; i < 20; i++)
		go(9, U, U);
	ok(model.status.wrptr == (15 + 20) % 16 && ntrace_ctr_model_entry(&model, 15).source & 1,
	   "RASEMU: deeper than depth, the outermost calls are lost");
	go(1, U, S);
	trap(1, U, M, 3);
	ok(!model.status.frozen, "RASEMU: no BPFRZ, no freeze");
	set(NTRACE_CTR_CSR_MCTRCTL, C(U) | C(RASEMU) | C(BPFRZ));
	ok(trap(1, U, M, 3) == NTRACE_CTR_FROZE && go(9, U, U) == NTRACE_CTR_IGNORED &&
		   go(13, U, U) == NTRACE_CTR_IGNORED,
	   "RASEMU: a frozen ring does not change");
}

static void freezing(void)
{
	static const struct {
		const char *text;
		unsigned int itype, from, to, cause;
		uint64_t mctrctl, vsctrctl;
		int effect;
	} rows[] = {
		{ "LCOFI to S with LCOFIFRZ", 2, U, S, 13, C(LCOFIFRZ), 0, NTRACE_CTR_FROZE },
		{ "LCOFI to M with LCOFIFRZ", 2, S, M, 13, C(LCOFIFRZ), 0, NTRACE_CTR_FROZE },
		{ "LCOFI without LCOFIFRZ", 2, U, S, 13, C(BPFRZ), C(LCOFIFRZ), 1 },
		{ "LCOFI of a guest to HS: sctrctl decides", 2, VU, S, 13, C(LCOFIFRZ), 0,
		  NTRACE_CTR_FROZE },
		{ "LCOFI of a guest to HS: not vsctrctl", 2, VS, S, 13, 0, C(LCOFIFRZ), 1 },
		{ "virtual LCOFI to VS: vsctrctl decides", 2, VU, VS, 13, 0, C(LCOFIFRZ),
		  NTRACE_CTR_FROZE },
		{ "virtual LCOFI to VS: not sctrctl", 2, VS, VS, 13, C(LCOFIFRZ), 0, 1 },
		{ "another interrupt", 2, U, S, 5, C(LCOFIFRZ) | C(BPFRZ), 0, 1 },
		{ "an interrupt with code 3", 2, U, M, 3, C(LCOFIFRZ) | C(BPFRZ), 0, 1 },
		{ "breakpoint to S with BPFRZ", 1, U, S, 3, C(BPFRZ), 0, NTRACE_CTR_FROZE },
		{ "breakpoint to M with BPFRZ", 1, M, M, 3, C(BPFRZ), 0, NTRACE_CTR_FROZE },
		{ "breakpoint without BPFRZ", 1, U, S, 3, C(LCOFIFRZ), C(BPFRZ), 1 },
		{ "breakpoint to VS: vsctrctl decides", 1, VU, VS, 3, 0, C(BPFRZ),
		  NTRACE_CTR_FROZE },
		{ "breakpoint to VS: not sctrctl", 1, VU, VS, 3, C(BPFRZ), 0, 1 },
		{ "a page fault, code 13", 1, U, S, 13, C(LCOFIFRZ) | C(BPFRZ), 0, 1 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		bool freezes = rows[i].effect == NTRACE_CTR_FROZE;
		bool good;

		fresh(ALL_MODES | rows[i].mctrctl, C(S) | C(U) | rows[i].vsctrctl);
		good = trap(rows[i].itype, rows[i].from, rows[i].to, rows[i].cause) ==
		       rows[i].effect;
		good &= model.status.frozen == freezes;
		good &= !!(ntrace_ctr_model_entry(&model, 0).source & 1) == !freezes;
		ok(good, "freeze: %s: %s", rows[i].text,
		   freezes ? "FROZEN, the trap is not recorded" : "recorded");
	}
	fresh(C(S) | C(LCOFIFRZ), 0);
	go(9, S, S);
	ok(trap(2, M, M, 13) == NTRACE_CTR_FROZE, "freeze: whether the modes are recorded or not");
	ok(go(9, S, S) == NTRACE_CTR_IGNORED && go(1, U, S) == NTRACE_CTR_IGNORED &&
		   trap(2, U, S, 13) == NTRACE_CTR_IGNORED && model.status.wrptr == 1,
	   "freeze: nothing is recorded while FROZEN");
	set(NTRACE_CTR_CSR_SCTRSTATUS, 1);
	ok(go(9, S, S) == NTRACE_CTR_RECORDED && model.status.wrptr == 2,
	   "freeze: goes on when software clears FROZEN");
	set(NTRACE_CTR_CSR_SCTRSTATUS, UINT64_C(0x80000002));
	ok(go(9, S, S) == NTRACE_CTR_IGNORED, "freeze: software may set FROZEN");
}

static void debug_mode(void)
{
	bool none = true;

	fresh(ALL_MODES | C(MTE) | C(STE) | C(BPFRZ), 0);
	none &= go(9, D, D) == NTRACE_CTR_IGNORED;
	none &= trap(1, M, D, 3) == NTRACE_CTR_IGNORED;
	none &= go(1, D, M) == NTRACE_CTR_IGNORED;
	none &= go(3, D, M) == NTRACE_CTR_IGNORED;
	none &= !model.status.wrptr && !model.status.frozen;
	ok(none, "recording: Debug Mode never, nor transitions to or from it; no freeze there");
}

/* ctrdata of the next record after @cycles in @mode. */
static uint64_t data_after(unsigned int mode, uint64_t cycles)
{
	struct ntrace_ctr_transfer transfer = {
		.source = source += 0x10, .cycles = cycles, .itype = 11, .from = (uint8_t)mode
	};

	ntrace_ctr_model_transfer(&model, &transfer);
	return ntrace_ctr_model_entry(&model, 0).data;
}

static void cycle_counts(void)
{
	static const unsigned int csrs[] = { NTRACE_CTR_CSR_MCTRCTL, NTRACE_CTR_CSR_SCTRCTL,
					     NTRACE_CTR_CSR_VSCTRCTL };
	uint64_t value;

	fresh(C(S), 0);
	is_hex(data_after(S, 100), 11, "records: the first record has CCV = 0");
	is_hex(data_after(S, 291), UINT64_C(0x0123800b), "records: then cycles since it");
	ntrace_ctr_model_cycles(&model, S, 4000);
	is_hex(data_after(S, 96), UINT64_C(0x1000800b), "records: also those between transfers");
	ntrace_ctr_model_cycles(&model, U, 4000);
	go(3, U, U);
	is_hex(data_after(S, 5), UINT64_C(0x0005800b), "records: not in modes that are off");
	set(NTRACE_CTR_CSR_SCTRSTATUS, UINT64_C(1) << 31);
	ntrace_ctr_model_cycles(&model, S, 1000);
	set(NTRACE_CTR_CSR_SCTRSTATUS, 0);
	is_hex(data_after(S, 6), UINT64_C(0x0006800b), "records: not while FROZEN");
	for (unsigned int i = 0; i < 3; i++) {
		ntrace_ctr_model_cycles(&model, S, 1000);
		ntrace_ctr_model_read(&model, M, csrs[i], &value);
		set(csrs[i], value);
		is_hex(data_after(S, 7), 11, "recording: CSR %#x written: CCV = 0", csrs[i]);
		is_hex(data_after(S, 7), UINT64_C(0x0007800b), "and once only");
	}
	ntrace_ctr_model_cycles(&model, S, 1000);
	ok(!ntrace_ctr_model_clear(&model, S), "SCTRCLR");
	is_hex(data_after(S, 7), 11, "registers: SCTRCLR clears the cycle counter and CCV");
	data_after(S, 1);
	set(NTRACE_CTR_CSR_SCTRDEPTH, 3);
	is_hex(data_after(S, 8), UINT64_C(0x0008800b), "records: a depth leaves it alone");
	data_after(S, UINT64_MAX);
	ntrace_ctr_model_cycles(&model, S, UINT64_MAX);
	is_hex(data_after(S, UINT64_MAX), UINT64_C(0xffff800b), "records: it saturates");
	set(NTRACE_CTR_CSR_MCTRCTL, C(S) | C(RASEMU));
	for (unsigned int i = 0; i < 3; i++)
		go(9, S, S);
	is_hex(ntrace_ctr_model_entry(&model, 0).data, 9, "recording: RASEMU: CCV = 0");
}

/* A hart with only the mandatory features. */
static void bare(void)
{
	struct ntrace_ctr_transfer transfer = { .itype = 5, .from = S, .mispredicted = true };
	struct ntrace_ctr_config config;

	ntrace_ctr_config_init(&config, NTRACE_CTR_RATIFIED);
	fresh(C(S), 0);
	ntrace_ctr_model_transfer(&model, &transfer);
	is_hex(ntrace_ctr_model_entry(&model, 0).target, 1, "records: MISP");
	config.implemented = NTRACE_CTR_CTL_REQUIRED;
	config.features = 0;
	config.depths = 1;
	ok(!ntrace_ctr_model_init(&model, &config), "a hart with what is required alone");
	set(NTRACE_CTR_CSR_MCTRCTL, UINT64_MAX);
	is_hex(model.mctrctl, ALL_MODES | C(BPFRZ), "registers: what is optional is read-only 0");
	ntrace_ctr_model_transfer(&model, &transfer);
	ntrace_ctr_model_transfer(&model, &transfer);
	ok(ntrace_ctr_model_entry(&model, 0).source == 1 &&
		   !ntrace_ctr_model_entry(&model, 0).target &&
		   !ntrace_ctr_model_entry(&model, 0).data,
	   "records: no MISP, no TYPE, no CC");
}

static void impossible(void)
{
	static const struct {
		unsigned int itype, from, to;
	} rows[] = { { 0, S, S },  { 6, S, S },	  { 7, S, S },	 { 16, S, S },	{ 9, 2, 2 },
		     { 9, 7, 7 },  { 1, S, U },	  { 1, M, S },	 { 1, U, U },	{ 1, S, VS },
		     { 2, U, VS }, { 1, VU, VU }, { 1, U, 2 },	 { 3, S, M },	{ 3, U, U },
		     { 3, VS, S }, { 3, VS, U },  { 3, VU, VU }, { 3, VS, M }, { 3, M, 7 } };
	bool refused = true;

	fresh(ALL_MODES, C(S) | C(U));
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		refused &= go(rows[i].itype, rows[i].from, rows[i].to) == NTRACE_ERR_INVALID;
	ok(refused && !model.status.wrptr, "transfers that no hart makes are refused");
}

/* The ring wraps, at each depth. */
static void rings(void)
{
	for (unsigned int code = 0; code < 5; code++) {
		unsigned int depth = 16u << code;
		uint64_t newest;
		bool good = true;

		fresh(C(S), 0);
		set(NTRACE_CTR_CSR_SCTRDEPTH, code);
		for (unsigned int i = 0; i < depth + 3; i++)
			go(11, S, S);
		newest = source;
		for (unsigned int i = 0; i < depth; i++)
			good &= ntrace_ctr_model_entry(&model, i).source ==
				((newest - i * UINT64_C(0x10)) | 1);
		good &= model.status.wrptr == 3;
		good &= !ntrace_ctr_model_entry(&model, depth).source;
		ok(good, "registers: %u entries, entry 0 the youngest, WRPTR goes round", depth);
	}
}

int main(void)
{
	qualified();
	modes();
	inhibits();
	external();
	guests();
	return_stack();
	freezing();
	debug_mode();
	cycle_counts();
	bare();
	impossible();
	rings();
	return done_testing();
}
