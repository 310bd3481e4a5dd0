// SPDX-License-Identifier: GPL-2.0-only
/*
 * The model without a simulator, on traces made here: what exec.sh has no program for. Push and pop of
 * RV32, memory that the trace tells once, and a program in user mode.
 */
#include <stdlib.h>

#include <ntrace/tandem_verify.h>

#include "tap.h"

#define X NTRACE_TANDEM_GPR
#define CODE 0x80000000
#define STACK 0x80001000

static struct ntrace_tandem_builtin *builtin;
static struct ntrace_tandem_verifier *verifier;
static struct ntrace_tandem_mismatch found;
static unsigned int mismatches;

static int on_mismatch(void *user, const struct ntrace_tandem_mismatch *mismatch)
{
	(void)user;
	if (!mismatches++)
		found = *mismatch;
	return 0;
}

static int on_group(void *user, const struct ntrace_tandem_state *state)
{
	(void)user;
	ntrace_tandem_builtin_group(builtin, state);
	return 0;
}

static void put(unsigned int type, unsigned int id, uint64_t value)
{
	struct ntrace_tandem_field field = { .type = (uint8_t)type,
					     .id = (uint16_t)id,
					     .value = value };

	if (ntrace_tandem_verifier_field(verifier, &field))
		ok(false, "a field is taken");
}

/* Begins a verification in M mode at CODE, with sp, ra, s0 and a0; no CSRs. */
static void begin(unsigned int xlen, const char *isa_text, bool linux_user)
{
	struct ntrace_tandem_verify_config config;
	struct ntrace_isa isa;

	ntrace_tandem_verify_config_init(&config);
	config.params.xlen = config.params.mlen = xlen;
	config.mismatch = on_mismatch;
	config.group = on_group;
	config.flags = linux_user ? NTRACE_TANDEM_VERIFY_LINUX_USER : 0;
	if (ntrace_isa_parse(&isa, isa_text) ||
	    ntrace_tandem_builtin_new(&builtin, &config.params, &isa, linux_user, &config.model) ||
	    ntrace_tandem_verifier_new(&verifier, &config))
		abort();
	mismatches = 0;
	put(NTRACE_TANDEM_BEGIN, 0, 0);
	put(NTRACE_TANDEM_INIT, 0, 0);
	put(NTRACE_TANDEM_STATE, NTRACE_TANDEM_STATE_PC, CODE);
	if (!linux_user)
		put(NTRACE_TANDEM_STATE, NTRACE_TANDEM_STATE_PRIV, 3);
	put(NTRACE_TANDEM_REGISTER, X + 1, 0x80000100);
	put(NTRACE_TANDEM_REGISTER, X + 2, STACK);
	put(NTRACE_TANDEM_REGISTER, X + 8, 0x1234);
	put(NTRACE_TANDEM_REGISTER, X + 10, 1);
	put(NTRACE_TANDEM_REGISTER, X + 17, 64);
	put(NTRACE_TANDEM_END, 0, 0);
}

static void finish(void)
{
	ntrace_tandem_verifier_free(verifier);
	ntrace_tandem_builtin_free(builtin);
}

/* An instruction; @next: its pc, 0 = the next one; one register that it changes. */
static void insn(uint32_t word, uint64_t next, unsigned int id, uint64_t value)
{
	put(NTRACE_TANDEM_BEGIN, 0, 0);
	if (next)
		put(NTRACE_TANDEM_STATE, NTRACE_TANDEM_STATE_PC, next);
	else
		put(NTRACE_TANDEM_NEXT_PC, 0, 0);
	put((word & 3) == 3 ? NTRACE_TANDEM_INSN32 : NTRACE_TANDEM_INSN16, 0, word);
	if (id)
		put(NTRACE_TANDEM_REGISTER, id, value);
	put(NTRACE_TANDEM_END, 0, 0);
}

static void test_push(void)
{
	begin(32, "rv32imac_zcmp", false);
	insn(0xb852, 0, X + 2, STACK - 16);		/* cm.push {ra, s0}, -16 */
	insn(0x00c12503, 0, X + 10, 0x1234);		/* lw a0, 12(sp): s0 */
	insn(0x00812503, 0, X + 10, 0x80000100);	/* lw a0, 8(sp): ra */
	is_u64(mismatches, 0, "RV32: push stores s0 above ra");
	insn(0x00000413, 0, X + 8, 0);			/* li s0, 0 */
	put(NTRACE_TANDEM_BEGIN, 0, 0);			/* cm.popretz {ra, s0}, 16 */
	put(NTRACE_TANDEM_STATE, NTRACE_TANDEM_STATE_PC, 0x80000100);
	put(NTRACE_TANDEM_INSN16, 0, 0xbc52);
	put(NTRACE_TANDEM_REGISTER, X + 2, STACK);
	put(NTRACE_TANDEM_REGISTER, X + 8, 0x1234);
	put(NTRACE_TANDEM_REGISTER, X + 10, 0);
	put(NTRACE_TANDEM_END, 0, 0);
	is_u64(mismatches, 0, "and popretz loads them, zeroes a0 and returns");
	insn(0xb852, 0, X + 2, STACK - 32);
	ok(mismatches == 1 && found.id == X + 2 && found.expected == STACK - 16,
	   "a wrong sp is found");
	finish();
}

static void test_memory(void)
{
	struct ntrace_tandem_builtin_stats stats;

	begin(64, "rv64gc", false);
	insn(0x00013503, 0, X + 10, 0x1122334455667788);	/* ld a0, 0(sp) */
	insn(0x00414503, 0, X + 10, 0x44);			/* lbu a0, 4(sp) */
	is_u64(mismatches, 0, "a load tells memory, and a later one has the same bytes");
	ntrace_tandem_builtin_stats(builtin, &stats);
	is_u64(stats.memory, 1, "the first one was taken from the trace");
	insn(0x00514503, 0, X + 10, 0x34);			/* lbu a0, 5(sp): 0x33 */
	ok(mismatches == 1 && found.id == X + 10 && found.expected == 0x33,
	   "another value of the same byte is found");
	insn(0x00a50533, 0, X + 10, 0x67);			/* add a0, a0, a0 */
	ok(mismatches == 2, "and so is a wrong sum after it");
	finish();
}

static void test_user(void)
{
	begin(64, "rv64gc", true);
	insn(0x00000073, 0, X + 10, 17);	/* ecall: write() returns 17 */
	insn(0x00150513, 0, X + 10, 18);	/* addi a0, a0, 1 */
	is_u64(mismatches, 0, "a system call's result is the trace's");
	insn(0x0de00893, 0, X + 17, 222);	/* li a7, 222 */
	insn(0x00013503, 0, X + 10, 5);		/* ld a0, 0(sp) */
	insn(0x00000073, 0, X + 10, 0x3fff0000);
	insn(0x00013503, 0, X + 10, 6);
	is_u64(mismatches, 0, "mmap may change any memory");
	finish();
}

int main(void)
{
	struct ntrace_tandem_params params;
	struct ntrace_tandem_model model;
	struct ntrace_isa isa = { .xlen = 32 };

	ntrace_tandem_params_init(&params);
	is_u64((uint64_t)ntrace_tandem_builtin_new(&builtin, &params, &isa, false, &model),
	       (uint64_t)NTRACE_ERR_INVALID, "an instruction set of another XLEN");
	ntrace_tandem_builtin_free(NULL);
	test_push();
	test_memory();
	test_user();
	return done_testing();
}
