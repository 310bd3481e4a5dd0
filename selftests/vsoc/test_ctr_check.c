// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Tests of the check that compares an emulated hart's Control Transfer Records with the model: its
 * counts, and that it finds each difference.
 */
#include <string.h>

#include "ctr_check.h"
#include "tap.h"

enum { S = NTRACE_PRIV_S, M = NTRACE_PRIV_M, U = NTRACE_PRIV_U };

#define MCTRCTL		NTRACE_CTR_CSR_MCTRCTL
#define SCTRSTATUS	NTRACE_CTR_CSR_SCTRSTATUS

/* The emulator is another model, and the test can falsify each of its parts. */
static struct {
	uint64_t source[256], target[256], data[256];
	uint64_t mctrctl, vsctrctl;
	uint32_t status, depth;
} hart;

static struct ctr_check check;
static unsigned int said;
static char last[CTR_CHECK_LINE_MAX];

static void observe(void *opaque, struct ctr_state *state)
{
	(void)opaque;
	*state = (struct ctr_state){
		.source = hart.source,
		.target = hart.target,
		.data = hart.data,
		.mctrctl = hart.mctrctl,
		.vsctrctl = hart.vsctrctl,
		.mstateen0 = UINT64_MAX,
		.hstateen0 = UINT64_MAX,
		.status = hart.status,
		.depth = hart.depth,
	};
}

static void say(void *opaque, const char *text)
{
	(void)opaque;
	said++;
	snprintf(last, sizeof(last), "%s", text);
}

static const struct ctr_check_ops ops = { .observe = observe, .say = say };

static void fresh(uint64_t mutate)
{
	struct ntrace_ctr_config config;

	ntrace_ctr_config_init(&config, NTRACE_CTR_RATIFIED);
	config.features = NTRACE_CTR_HAS_TYPE;
	memset(&hart, 0, sizeof(hart));
	hart.mctrctl = 7;
	if (ctr_check_init(&check, &config, &ops, NULL, mutate))
		ok(false, "init");
	ctr_check_reset(&check);
	said = 0;
}

/* A jump, in both models. */
static void jump(uint64_t from, uint64_t to)
{
	struct ntrace_ingress block = {
		.iaddr = from, .iretire = 2, .itype = 11, .ilastsize = 1, .priv = M
	};

	ctr_check_retire(&check, &block, 0);
	ctr_check_goes_on(&check, to, M);
	hart.source[hart.status] = from | 1;
	hart.target[hart.status] = to;
	hart.data[hart.status] = 11;
	hart.status = (hart.status + 1) % 16;
}

static void look(void)
{
	struct ctr_access access = {
		.csr = SCTRSTATUS, .priv = M, .has_value = true, .value = hart.status
	};

	ctr_check_before(&check, SCTRSTATUS);
	ctr_check_access(&check, &access);
}

static void counts(void)
{
	fresh(0);
	for (unsigned int i = 0; i < 10; i++)
		jump(0x1000 + 16 * i, 0x1010 + 16 * i);
	is_u64(check.entries, 0, "entries that were not compared do not count");
	look();
	is_u64(check.entries, 10, "ten jumps, ten entries");
	look();
	is_u64(check.entries, 10, "each counts once");
	for (unsigned int i = 0; i < 100; i++)
		jump(0x1000 + 16 * i, 0x1010 + 16 * i);
	look();
	is_u64(check.entries, 26, "nor do those count that were overwritten before");
	is_u64(check.comparisons, 2, "two comparisons: once there was nothing new");
	is_u64(check.differences + said, 0, "no difference");
	ctr_check_before(&check, 0x300);
	is_u64(check.comparisons, 2, "other CSRs do not matter");
	jump(0x5000, 0x6000);
	hart.source[(hart.status + 3) % 16] = 7;
	hart.status = (hart.status + 15) % 16;
	look();
	is_u64(check.differences, 1, "a jump that the emulator has not recorded");
}

/* Falsifies @bits at @where; the check must find it and report it as @what. */
static void falsified(void *where, size_t size, uint64_t bits, const char *what)
{
	uint64_t value = 0;

	fresh(0);
	for (unsigned int i = 0; i < 40; i++)
		jump(0x1000 + 16 * i, 0x1010 + 16 * i);
	memcpy(&value, where, size);
	value ^= bits;
	memcpy(where, &value, size);
	look();
	ok(check.differences == 1 && said == 1 && strstr(last, what), "%s: found and told", what);
	look();
	is_u64(check.differences, 1, "once: the model takes over the emulator's state");
}

static void differences(void)
{
	falsified(&hart.source[3], 8, 1, "ctrsource 4 ");
	falsified(&hart.target[7], 8, UINT64_C(1) << 63, "ctrtarget 0 ");
	falsified(&hart.target[8], 8, 2, "ctrtarget 15 ");
	falsified(&hart.data[0], 8, 2, "ctrdata 7 ");
	falsified(&hart.status, 4, 0x80000000, "sctrstatus");
	falsified(&hart.depth, 4, 1, "sctrdepth");
	falsified(&hart.mctrctl, 8, 0x80, "mctrctl");
	falsified(&hart.vsctrctl, 8, 1, "vsctrctl");

	fresh(0);
	hart.source[16] = 1;
	look();
	is_u64(check.differences, 0, "entries beyond the depth are not compared");
	fresh(5);
	for (unsigned int i = 0; i < 5; i++) {
		jump(0x1000 + 16 * i, 0x1010 + 16 * i);
		look();
	}
	ok(check.differences == 1 && strstr(last, "ctrtarget 0 "), "a falsified model is found");
}

static void accesses(void)
{
	struct ctr_access access = { .csr = SCTRSTATUS, .priv = M, .has_value = true, .value = 1 };

	fresh(0);
	ctr_check_access(&check, &access);
	ok(check.differences == 1 && strstr(last, "value of CSR 335"), "a value that is wrong");
	access = (struct ctr_access){ .csr = SCTRSTATUS, .priv = U };
	ctr_check_access(&check, &access);
	ok(check.differences == 2 && strstr(last, "trap at CSR"), "an access that should trap");
	access = (struct ctr_access){ .csr = MCTRCTL, .priv = M, .result = NTRACE_CTR_ILLEGAL };
	ctr_check_access(&check, &access);
	is_u64(check.differences, 3, "one that should not");
	access = (struct ctr_access){ .csr = MCTRCTL, .priv = M, .mask = 0x80, .new_value = ~0ull };
	ctr_check_access(&check, &access);
	is_u64(check.model.mctrctl, 0x87, "bits that are set are set in the model");
	access = (struct ctr_access){ .csr = NTRACE_CTR_CSR_SIREG, .priv = U };
	ctr_check_access(&check, &access);
	is_u64(check.differences, 3, "what siselect does not select is not CTR's");
	ctr_check_clear(&check, U);
	is_u64(check.differences, 4, "SCTRCLR that should trap");
	ctr_check_lost(&check);
	is_u64(check.differences, 5, "what the trace port cannot tell is a difference");
}

/* The check compares the ring when it freezes. Records that RASEMU removes do not count. */
static void moments(void)
{
	struct ntrace_ingress trap = { .iaddr = 0x2000, .itype = 1, .priv = M };
	struct ntrace_ingress call = {
		.iaddr = 0x3000, .iretire = 2, .itype = 9, .ilastsize = 1, .priv = M
	};
	struct ntrace_ingress back = {
		.iaddr = 0x4000, .iretire = 2, .itype = 13, .ilastsize = 1, .priv = M
	};
	char line[CTR_CHECK_LINE_MAX];

	fresh(0);
	hart.mctrctl = 0x807;
	ctr_check_reset(&check);
	jump(0x1000, 0x2000);
	ctr_check_retire(&check, &trap, 3);
	hart.status |= 0x80000000;
	is_u64(check.comparisons, 0, "the handler of the breakpoint is not reached yet");
	ctr_check_goes_on(&check, 0x9000, M);
	is_u64(check.comparisons, 1, "now the ring is frozen and compared");
	is_u64(check.entries, 1, "with the jump before it");
	is_u64(check.differences, 0, "no difference");

	fresh(0);
	hart.mctrctl = 0x87;
	ctr_check_reset(&check);
	ctr_check_retire(&check, &call, 0);
	ctr_check_goes_on(&check, 0x4000, M);
	ctr_check_retire(&check, &back, 0);
	ctr_check_goes_on(&check, 0x3004, M);
	hart.source[0] = 0x3000;
	hart.target[0] = 0x4000;
	hart.data[0] = 9;
	look();
	is_u64(check.entries, 0, "pushed and popped: no entry");
	ctr_check_summary(&check, line);
	is_str(line,
	       "transfers 2 recorded 1 replaced 0 popped 1 froze 0 entries 0 comparisons 1 "
	       "accesses 1 differences 0",
	       "the line of counts");
}

/* An emulator without records has those of the model. */
static void execution(void)
{
	static const struct ctr_check_ops nothing = { .say = say };
	struct ctr_access access = { .csr = NTRACE_CTR_CSR_DRAFT_MCTRCONTROL, .priv = M };
	struct ntrace_ctr_config config;

	ntrace_ctr_config_init(&config, NTRACE_CTR_DRAFT);
	config.xlen = 32;
	is_u64(ctr_check_init(&check, &config, &nothing, NULL, 0), 0, "a hart with the draft");
	ctr_check_reset(&check);
	said = 0;
	access.mask = UINT32_MAX;
	access.new_value = UINT64_C(0xffffffff00000001);
	ok(ctr_check_execute(&check, &access), "a register of the draft");
	is_u64((uint64_t)access.result, 0, "is accessed");
	jump(0xfffffffe, 0x2000);
	access.mask = 0;
	ctr_check_before(&check, access.csr);
	ok(ctr_check_execute(&check, &access), "and read");
	is_hex(access.value, 1, "its lower half");
	access.csr = NTRACE_CTR_CSR_DRAFT_MCTRSTATUS;
	ok(ctr_check_execute(&check, &access) && access.value == 1, "one record");
	is_hex(ntrace_ctr_model_entry(&check.model, 0).source, 0xffffffff, "with 32 bits");
	access.priv = U;
	ok(ctr_check_execute(&check, &access) && access.result == NTRACE_CTR_ILLEGAL,
	   "U-mode may not");
	access.csr = 0x300;
	ok(!ctr_check_execute(&check, &access), "mstatus is none of CTR");
	ctr_check_reset(&check);
	is_u64(check.model.status.wrptr | check.model.mctrctl, 0, "a reset clears all");
	is_u64(check.comparisons + said, 0, "nothing is compared");
}

int main(void)
{
	counts();
	differences();
	accesses();
	moments();
	execution();
	return done_testing();
}
