// SPDX-License-Identifier: GPL-2.0-only
/*
 * Registers that are views of others (Privileged Architecture, "Supervisor CSRs", and "F" extension):
 * a change of one is seen in the others.
 */
#include <ntrace/tandem.h>

#include "tap.h"

enum {
	FFLAGS = 0x001,
	FRM = 0x002,
	FCSR = 0x003,
	SSTATUS = 0x100,
	SIE = 0x104,
	SIP = 0x144,
	MSTATUS = 0x300,
	MIDELEG = 0x303,
	MIE = 0x304,
	MIP = 0x344,
};

/* Writes are made in order; then @seen has the value. */
static const struct {
	const char *what;
	struct {
		unsigned int id;
		uint64_t value;
	} writes[3];
	unsigned int seen;
	uint64_t value;
} views[] = {
	{ "fcsr shows fflags", { { FCSR, 0xe0 }, { FFLAGS, 0x15 } }, FCSR, 0xf5 },
	{ "fcsr shows frm", { { FCSR, 0x1f }, { FRM, 3 } }, FCSR, 0x7f },
	{ "fflags are in fcsr", { { FCSR, 0xf5 } }, FFLAGS, 0x15 },
	{ "frm is in fcsr", { { FCSR, 0xf5 } }, FRM, 7 },
	{ "mstatus shows sstatus", { { MSTATUS, 0x1808 }, { SSTATUS, 0x122 } }, MSTATUS, 0x192a },
	{ "sstatus has no MIE, MPP", { { MSTATUS, 0x192a } }, SSTATUS, 0x122 },
	{ "sie has what is delegated", { { MIDELEG, 0x222 }, { MIE, 0xaaa } }, SIE, 0x222 },
	{ "mie shows sie", { { MIDELEG, 0x222 }, { MIE, 0xa88 }, { SIE, 0x22 } }, MIE, 0x8aa },
	{ "sip has what is delegated", { { MIDELEG, 0x222 }, { MIP, 0xaaa } }, SIP, 0x222 },
	{ "mip shows sip", { { MIDELEG, 0x222 }, { MIP, 0xa88 }, { SIP, 0x2 } }, MIP, 0x88a },
	{ "sie, delegated later", { { MIE, 0xaaa }, { MIDELEG, 0x20 } }, SIE, 0x20 },
	{ "sip, delegated later", { { MIP, 0xaaa }, { MIDELEG, 0x20 } }, SIP, 0x20 },
};

static struct ntrace_tandem_state state;

static void start(unsigned int xlen)
{
	const struct ntrace_tandem_params params = { .size = sizeof(params), .xlen = xlen };

	ntrace_tandem_state_init(&state, &params);
}

static int apply(unsigned int type, unsigned int id, uint64_t value, unsigned int flags)
{
	const struct ntrace_tandem_field field = { .type = (uint8_t)type,
						   .id = (uint16_t)id,
						   .value = value,
						   .flags = (uint16_t)flags,
						   .offset = 77 };

	return ntrace_tandem_state_apply(&state, &field);
}

static void tell(unsigned int type, unsigned int id, uint64_t value)
{
	is_u64(apply(type, id, value, 0), 0, "field of type %#x ends no group", type);
}

#define END() is_u64(apply(NTRACE_TANDEM_END, 0, 0, 0), 1, "a group ends")

static bool changed(unsigned int id)
{
	return ntrace_tandem_bit(state.changed, id);
}

static bool known(unsigned int id)
{
	return ntrace_tandem_bit(state.known, id);
}

/* Values that a group sets, and those of them that the next group still has. */
static void test_groups(void)
{
	static const struct {
		unsigned int id, has;
	} extra[] = { { NTRACE_TANDEM_STATE_PADDR, NTRACE_TANDEM_HAS_PADDR },
		      { NTRACE_TANDEM_STATE_EADDR, NTRACE_TANDEM_HAS_EADDR },
		      { NTRACE_TANDEM_STATE_STORE8, NTRACE_TANDEM_HAS_STORE },
		      { NTRACE_TANDEM_STATE_STORE16, NTRACE_TANDEM_HAS_STORE },
		      { NTRACE_TANDEM_STATE_STORE32, NTRACE_TANDEM_HAS_STORE },
		      { NTRACE_TANDEM_STATE_STORE64, NTRACE_TANDEM_HAS_STORE },
		      { NTRACE_TANDEM_STATE_MTIME, NTRACE_TANDEM_HAS_MTIME },
		      { NTRACE_TANDEM_STATE_PC, NTRACE_TANDEM_HAS_PC },
		      { NTRACE_TANDEM_STATE_PRIV, 0 },
		      { NTRACE_TANDEM_STATE_PC_PADDR, 0 } };
	const unsigned int a0 = NTRACE_TANDEM_GPR + 10, pc = NTRACE_TANDEM_PC;

	for (size_t i = 0; i < sizeof(extra) / sizeof(extra[0]); i++) {
		start(64);
		tell(NTRACE_TANDEM_BEGIN, 0, 0);
		tell(NTRACE_TANDEM_STATE, extra[i].id, 0x1234);
		END();
		is_hex(state.has, extra[i].has, "additional state %u", extra[i].id);
	}
	start(64);
	tell(NTRACE_TANDEM_STATE, NTRACE_TANDEM_STATE_PADDR, 1);
	tell(NTRACE_TANDEM_STATE, NTRACE_TANDEM_STATE_EADDR, 2);
	tell(NTRACE_TANDEM_STATE, NTRACE_TANDEM_STATE_STORE32, 3);
	tell(NTRACE_TANDEM_STATE, NTRACE_TANDEM_STATE_MTIME, 4);
	tell(NTRACE_TANDEM_STATE, NTRACE_TANDEM_STATE_PRIV, 3);
	ok(state.paddr == 1 && state.eaddr == 2 && state.store == 3 && state.store_bytes == 4 &&
		   state.mtime == 4 && state.reg[NTRACE_TANDEM_PRIV] == 3 &&
		   changed(NTRACE_TANDEM_PRIV),
	   "its values");

	start(64);
	tell(NTRACE_TANDEM_BEGIN, 0, 0);
	is_u64(state.offset, 77, "a group has the offset of its beginning");
	tell(NTRACE_TANDEM_STATE, NTRACE_TANDEM_STATE_PC, 0x1000);
	tell(NTRACE_TANDEM_INSN32, 0, 0x13);
	tell(NTRACE_TANDEM_REGISTER, a0, 5);
	tell(NTRACE_TANDEM_REGISTER, 0x305, 6);
	END();
	ok(state.has == (NTRACE_TANDEM_HAS_PC | NTRACE_TANDEM_HAS_INSN) && state.insn == 0x13 &&
		   state.insn_bytes == 4 && changed(a0) && changed(0x305) && changed(pc),
	   "what it has");
	tell(NTRACE_TANDEM_BEGIN, 0, 0);
	ok(!state.has && !state.insn_bytes && !changed(a0) && !changed(0x305) && !changed(pc) &&
		   state.pc_before == 0x1000 && known(a0) && known(0x305),
	   "the next one begins without it, but the registers are known");
	tell(NTRACE_TANDEM_NEXT_PC, 0, 0);
	tell(NTRACE_TANDEM_INSN16, 0, 0x0001);
	END();
	ok(state.reg[pc] == 0x1002 && state.insn_bytes == 2 && changed(pc) &&
		   state.has == (NTRACE_TANDEM_HAS_PC | NTRACE_TANDEM_HAS_INSN),
	   "the next pc follows the instruction");
	tell(NTRACE_TANDEM_BEGIN, 0, 0);
	tell(NTRACE_TANDEM_INSN32, 0, 0x0001);
	tell(NTRACE_TANDEM_NEXT_PC, 0, 0);
	END();
	ok(state.reg[pc] == 0x1006 && state.insn_bytes == 4, "whose length its opcode tells");
	tell(NTRACE_TANDEM_BEGIN, 0, 0);
	tell(NTRACE_TANDEM_NEXT_PC, 0, 0);
	END();
	ok(state.reg[pc] == 0x1006 && !state.has, "without an instruction there is none");
	tell(NTRACE_TANDEM_BEGIN, 0, 0);
	tell(NTRACE_TANDEM_INSN16, 0, 0x0001);
	END();
	ok(state.reg[pc] == 0x1006 && state.has == NTRACE_TANDEM_HAS_INSN, "nor without its field");
}

/* What is told between two groups. */
static void test_between(void)
{
	const unsigned int a0 = NTRACE_TANDEM_GPR + 10;
	const struct ntrace_tandem_field begin = { .type = NTRACE_TANDEM_BEGIN, .offset = 99 };

	start(64);
	tell(NTRACE_TANDEM_REGISTER, a0, 5);
	is_u64(ntrace_tandem_state_apply(&state, &begin), 1, "a change before the first group");
	ok(changed(a0) && !state.has && state.offset == 77, "is a group of its own");
	tell(NTRACE_TANDEM_INSN32, 0, 0x13);
	ok(!changed(a0) && state.has == NTRACE_TANDEM_HAS_INSN && state.offset == 99,
	   "and not a part of the next one, which has its own offset");
	END();
	tell(NTRACE_TANDEM_RESET, 0, 0);
	is_u64(ntrace_tandem_state_apply(&state, &begin), 1, "a reset between two groups");
	is_hex(state.has, NTRACE_TANDEM_HAS_RESET, "is a group");
	END();
	is_hex(state.has, 0, "the empty group after it has no reset");
	tell(NTRACE_TANDEM_BEGIN, 0, 0);
	END();
}

static void test_fields(void)
{
	const unsigned int a0 = NTRACE_TANDEM_GPR + 10, f0 = NTRACE_TANDEM_FPR;

	start(64);
	tell(NTRACE_TANDEM_REGISTER, NTRACE_TANDEM_GPR, 5);
	ok(!state.reg[NTRACE_TANDEM_GPR] && !changed(NTRACE_TANDEM_GPR) &&
		   !known(NTRACE_TANDEM_GPR),
	   "x0 does not change");
	tell(NTRACE_TANDEM_REGISTER, a0, 0xff0);
	tell(NTRACE_TANDEM_ADD, a0, (uint64_t)-1);
	is_hex(state.reg[a0], 0xfef, "an addition");
	tell(NTRACE_TANDEM_OR, a0, 0x10);
	is_hex(state.reg[a0], 0xfff, "an OR");
	tell(NTRACE_TANDEM_INIT, 0, 0);
	is_hex(state.has, NTRACE_TANDEM_HAS_INIT, "an initialisation");
	tell(NTRACE_TANDEM_RESET, 0, 0);
	ok(state.has & NTRACE_TANDEM_HAS_RESET && !state.reg[a0] && !known(a0),
	   "after a reset no register is known");
	start(32);
	tell(NTRACE_TANDEM_REGISTER, a0, 0);
	tell(NTRACE_TANDEM_ADD, a0, (uint64_t)-1);
	is_hex(state.reg[a0], 0xffffffff, "RV32: sums have 32 bits");
	tell(NTRACE_TANDEM_REGISTER, f0, 0);
	tell(NTRACE_TANDEM_ADD, f0, (uint64_t)-1);
	is_hex(state.reg[f0], UINT64_MAX, "those of floating-point registers 64");
	tell(NTRACE_TANDEM_STATE, NTRACE_TANDEM_STATE_PC, 0xfffffffe);
	END();
	tell(NTRACE_TANDEM_INSN32, 0, 0x13);
	tell(NTRACE_TANDEM_NEXT_PC, 0, 0);
	END();
	is_hex(state.reg[NTRACE_TANDEM_PC], 2, "and pc wraps");
	tell(NTRACE_TANDEM_REGISTER, 0x300, UINT64_C(0x80006122));
	is_hex(state.reg[0x100], 0x80006122, "SD is bit 31 of sstatus");
}

/* Violations of the protocol. */
static void test_problems(void)
{
	start(64);
	is_u64(apply(NTRACE_TANDEM_END, 0, 0, NTRACE_TANDEM_STRAY_END), 0,
	       "an end outside a group ends none");
	is_hex(state.problems, NTRACE_TANDEM_STRAY_END, "it is a violation");
	apply(NTRACE_TANDEM_INSN32, 0, 0x13, NTRACE_TANDEM_OUTSIDE);
	apply(NTRACE_TANDEM_NEXT_PC, 0, 0, NTRACE_TANDEM_OUTSIDE);
	ok(!state.has && state.problems == NTRACE_TANDEM_OUTSIDE,
	   "an instruction outside a group is none");
	is_u64(apply(NTRACE_TANDEM_BEGIN, 0, 0, 0), 1,
	       "the violation is that of a group of its own");
	tell(NTRACE_TANDEM_INSN32, 0, 0x13);
	is_u64(apply(NTRACE_TANDEM_END, 0, 0, NTRACE_TANDEM_PC_TWICE | NTRACE_TANDEM_IMPLIED), 1,
	       "an end with a violation");
	ok(!(state.has & NTRACE_TANDEM_HAS_PC), "a next pc outside a group is none");
	ok(state.problems & NTRACE_TANDEM_PC_TWICE && !(state.problems & NTRACE_TANDEM_IMPLIED),
	   "the group has its violations");
	is_u64(apply(NTRACE_TANDEM_END, 0, 0, NTRACE_TANDEM_STRAY_END), 0, "a stray end");
	is_hex(state.has, NTRACE_TANDEM_HAS_INSN, "leaves the last group as it is");
	tell(NTRACE_TANDEM_BEGIN, 0, 0);
	is_hex(state.problems, 0, "the next group has none");
}

int main(void)
{
	const struct ntrace_tandem_params params = { .size = sizeof(params), .xlen = 64 };
	size_t i, k;

	for (i = 0; i < sizeof(views) / sizeof(views[0]); i++) {
		ntrace_tandem_state_init(&state, &params);
		for (k = 0; k < 3 && views[i].writes[k].id; k++) {
			const struct ntrace_tandem_field field = {
				.type = NTRACE_TANDEM_REGISTER,
				.id = (uint16_t)views[i].writes[k].id,
				.value = views[i].writes[k].value,
			};

			ntrace_tandem_state_apply(&state, &field);
		}
		is_hex(state.reg[views[i].seen], views[i].value, views[i].what);
	}
	test_groups();
	test_between();
	test_fields();
	test_problems();
	return done_testing();
}
