/* SPDX-License-Identifier: GPL-2.0-only */
/* Traces made by hand, group by group, for tests of the model without a simulator. */
#ifndef NTRACE_SELFTESTS_TANDEM_BUILTIN_TRACE_H
#define NTRACE_SELFTESTS_TANDEM_BUILTIN_TRACE_H

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
static struct ntrace_tandem_mask chosen; /* a register that the trace decides, 0: none */

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

static inline void put(unsigned int type, unsigned int id, uint64_t value)
{
	struct ntrace_tandem_field field = { .type = (uint8_t)type,
					     .id = (uint16_t)id,
					     .value = value };

	if (ntrace_tandem_verifier_field(verifier, &field))
		ok(false, "a field is taken");
}

/* Begins a verification in M mode at CODE, with sp, ra, s0 and a0; no CSRs. */
static inline void begin(unsigned int xlen, const char *isa_text, bool linux_user)
{
	struct ntrace_tandem_verify_config config;
	struct ntrace_isa isa;

	ntrace_tandem_verify_config_init(&config);
	config.params.xlen = config.params.mlen = xlen;
	config.mismatch = on_mismatch;
	if (chosen.id) {
		config.chosen = &chosen;
		config.chosen_count = 1;
	}
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

static inline void finish(void)
{
	ntrace_tandem_verifier_free(verifier);
	ntrace_tandem_builtin_free(builtin);
}

/* An instruction; @next: its pc, 0 = the next one; one register that it changes. */
static inline void insn(uint32_t word, uint64_t next, unsigned int id, uint64_t value)
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

enum { U, S, M = 3 };
#define HANDLER 0x80000800
#define MISA_GC UINT64_C(0x800000000014112d) /* IMAFDC, S, U */
#define MISA_H 0x80
#define FS 0x2000
#define TVM 0x100000
#define TW 0x200000
#define TSR 0x400000

static inline void begin_in(unsigned int priv, uint64_t misa, uint64_t status)
{
	begin(64, "rv64gc", false);
	put(NTRACE_TANDEM_BEGIN, 0, 0);
	put(NTRACE_TANDEM_INIT, 0, 0);
	put(NTRACE_TANDEM_STATE, NTRACE_TANDEM_STATE_PRIV, priv);
	put(NTRACE_TANDEM_REGISTER, 0x300, status);
	put(NTRACE_TANDEM_REGISTER, 0x301, misa);
	put(NTRACE_TANDEM_REGISTER, 0x302, 0);
	put(NTRACE_TANDEM_REGISTER, 0x305, HANDLER);
	put(NTRACE_TANDEM_REGISTER, 0x180, 0);
	put(NTRACE_TANDEM_REGISTER, 0x343, 0);
	put(NTRACE_TANDEM_REGISTER, 0x003, 0);
	put(NTRACE_TANDEM_REGISTER, NTRACE_TANDEM_FPR, 0xffffffff00000000); /* 0.0f */
}

static uint64_t pc_of_exception = CODE;

/* An exception of @word, NULL: of its fetch, to M mode. */
static inline void exception(const uint32_t *word, uint64_t cause, unsigned int priv,
			     uint64_t status, uint64_t value)
{
	put(NTRACE_TANDEM_BEGIN, 0, 0);
	if (word)
		put((*word & 3) == 3 ? NTRACE_TANDEM_INSN32 : NTRACE_TANDEM_INSN16, 0, *word);
	put(NTRACE_TANDEM_STATE, NTRACE_TANDEM_STATE_PC, HANDLER);
	put(NTRACE_TANDEM_STATE, NTRACE_TANDEM_STATE_PRIV, M);
	put(NTRACE_TANDEM_REGISTER, 0x300, (status & ~UINT64_C(0x1888)) | (uint64_t)priv << 11);
	put(NTRACE_TANDEM_REGISTER, 0x341, pc_of_exception);
	put(NTRACE_TANDEM_REGISTER, 0x342, cause);
	put(NTRACE_TANDEM_REGISTER, 0x343, value);
	put(NTRACE_TANDEM_END, 0, 0);
}

#endif /* NTRACE_SELFTESTS_TANDEM_BUILTIN_TRACE_H */
