/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* What the parts of the built-in model share: its state, and its CSRs and traps. */
#ifndef NTRACE_TANDEM_BUILTIN_H
#define NTRACE_TANDEM_BUILTIN_H

#include "exec/decode.h"
#include "legality.h"
#include "pages.h"
#include "verifier.h"

/* VS, FS, XS: changed by any instruction that may change such a register. */
#define MSTATUS_DIRTY UINT64_C(0x1e600)
#define MSTATUS_LOW UINT64_C(0xa200) /* their low bits */
#define MSTATUS_VS (UINT64_C(3) << 9)
#define MSTATUS_TRAPS (UINT64_C(7) << 20) /* TVM, TW, TSR */

enum { CSRS = 0x1000, TANDEM_EVENTS = 64 };

/* What raised an exception, as far as the model sees it: a hart decides for each such event whether xtval is 0. */
struct tandem_event {
	uint64_t cause;
	uint64_t what;		/* the instruction without its operands */
	uint64_t page;		/* of the address */
	uint64_t context;	/* privilege, what of mstatus makes instructions illegal, ... */
};

struct ntrace_tandem_builtin {
	struct ntrace_exec *exec;
	struct ntrace_tandem_params params;
	struct ntrace_isa isa;
	bool linux_user;
	struct ntrace_tandem_state state; /* of the model: pc, privilege, CSRs and their views */
	const struct ntrace_tandem_state *group; /* the trace after the group */
	uint32_t word; /* the instruction: of memory, else of the group */
	struct exec_insn insn; /* decoded */
	enum tandem_legality legality; /* of the instruction */
	struct tandem_pages pages;
	struct ntrace_tandem_builtin_stats stats;
	uint64_t sure[CSRS]; /* bits of a CSR that the model knows, unless @state knows all of it */
	unsigned int csr; /* written by the instruction, + 1 */
	struct ntrace_exec_value csr_value, csr_before;
	struct tandem_event events[TANDEM_EVENTS]; /* the last ones with an xtval other than 0 */
	unsigned int event_count, next_event;
	uint64_t enabled_once; /* bits of mie that the trace has given as 1 */
	uint64_t least; /* MPP after mret, if misa does not give it; bit 0: known */
	bool unreserved; /* there was an sc or a reset, and no lr after it */
	bool fetches_old; /* the instruction of the group was replaced, and no fence.i executed after that */
	bool gives_stores; /* the trace gives store data */
	bool owes_dirty; /* FS became dirty, and the trace has not given mstatus since then */
	bool gives_dirty; /* the trace shows that an instruction changed FS, VS or XS */
};

/**
 * struct tandem_trap - an exception that the model takes
 * @cause, @value: xcause and xtval
 * @cause_known, @value_known: they follow from the instruction, or the trace gives them
 */
struct tandem_trap {
	uint64_t cause, value;
	bool cause_known, value_known;
};

/* Whether the trace has given the register. */
static inline bool tandem_is_given(const struct ntrace_tandem_builtin *builtin, unsigned int id)
{
	return builtin->group && ntrace_tandem_bit(builtin->group->known, id);
}

/* ---- memory.c ---- */

/** tandem_is_translated - whether data addresses are translated */
bool tandem_is_translated(const struct ntrace_tandem_builtin *builtin);

/**
 * tandem_find_physical - find the physical address of an access, which is the virtual one without translation
 *
 * Return: whether it is known
 */
bool tandem_find_physical(const struct ntrace_tandem_builtin *builtin, uint64_t address,
			  unsigned int bytes, uint64_t *physical);

/**
 * tandem_learn_memory - read memory; what is not known is @traced from now on
 *
 * Return: whether a byte was not known, or NTRACE_ERR_NOMEM
 */
int tandem_learn_memory(struct ntrace_tandem_builtin *builtin, uint64_t physical,
			unsigned int bytes, uint64_t traced, struct ntrace_exec_value *value);

/** tandem_read_data - read() of struct ntrace_exec_config */
int tandem_read_data(void *data, uint64_t address, unsigned int bytes,
		     struct ntrace_exec_value *value);

/** tandem_write_data - write() of struct ntrace_exec_config */
int tandem_write_data(void *data, uint64_t address, unsigned int bytes,
		      const struct ntrace_exec_value *value);

/** tandem_is_pair - whether the instruction is amocas of two registers: .d of RV32, .q of RV64 */
bool tandem_is_pair(const struct ntrace_tandem_builtin *builtin);

/** tandem_swap_pair - execute it */
int tandem_swap_pair(struct ntrace_tandem_builtin *builtin);

/* ---- privileged.c ---- */

/** tandem_read_csr - read_csr() of struct ntrace_exec_config */
int tandem_read_csr(void *data, unsigned int number, struct ntrace_exec_value *value);

/** tandem_write_csr - write_csr() of struct ntrace_exec_config: keeps the value for tandem_finish_csr() */
int tandem_write_csr(void *data, unsigned int number, const struct ntrace_exec_value *value);

/** tandem_finish_csr - write the CSR: what the hart may choose is the trace's */
void tandem_finish_csr(struct ntrace_tandem_builtin *builtin);

/** tandem_learn_csr - a CSR instruction has read the CSR as @value; only some keep their value */
void tandem_learn_csr(struct ntrace_tandem_builtin *builtin, unsigned int number, uint64_t value);

/** tandem_adopt_csr - the bits of a CSR that the model does not know are those that the trace gives */
void tandem_adopt_csr(struct ntrace_tandem_builtin *builtin, unsigned int number);

/** tandem_set_status - write mstatus, of which the bits of @sure are known */
void tandem_set_status(struct ntrace_tandem_builtin *builtin, uint64_t status, uint64_t sure);

/** tandem_set_interrupt_status - write mstatus after the interrupt of the group */
void tandem_set_interrupt_status(struct ntrace_tandem_builtin *builtin, uint64_t status);

/** tandem_forget_trap - a trap may have been taken that the trace does not show */
void tandem_forget_trap(struct ntrace_tandem_builtin *builtin);

/** tandem_learn_interrupt - the group is an interrupt: what enables it, and its vector */
void tandem_learn_interrupt(struct ntrace_tandem_builtin *builtin);

/** tandem_enter_trap - take an exception */
void tandem_enter_trap(struct ntrace_tandem_builtin *builtin, const struct tandem_trap *trap);

/** tandem_return_from_trap - execute mret or sret */
void tandem_return_from_trap(struct ntrace_tandem_builtin *builtin);

#endif /* NTRACE_TANDEM_BUILTIN_H */
