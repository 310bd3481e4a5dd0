// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * A model for the verification that needs no simulator: the executor (lib/exec), memory as far as the
 * trace has given it, and the CSRs.
 *
 * The trace starts with registers, and with no memory. What the model cannot know, it takes from the
 * group that it executes, once: the bytes that a load reads for the first time are memory from then on,
 * and a later load must have the same. It also takes, each time: the outcome of sc, that an access
 * faults, values of CSRs that the hart may choose (WARL), what V does. All else follows from the state
 * before the instruction: results, addresses, targets, traps, trap returns.
 *
 * The model does not translate addresses. Those of the trace (paddr) are taken if it has them.
 */
#include <stdlib.h>
#include <string.h>

#include "builtin.h"
#include "exec/integer.h"

#define FENCE_I 0x100f /* opcode and funct3 */

/* Whether the address of the access may be misaligned; of several registers, or with an unknown one, it may. */
static bool maybe_misaligned(const struct ntrace_tandem_builtin *builtin)
{
	const struct exec_insn *insn = &builtin->insn;
	struct ntrace_exec_value base = { 0, 0 };
	uint64_t low = insn->bytes - 1;

	ntrace_exec_get(builtin->exec, GPR + insn->rs1, &base);
	if (!insn->bytes || insn->registers || (low & ~base.known))
		return true;
	return (base.bits + (uint64_t)insn->imm) & low;
}

/* The target of a jump or branch. Return: whether it is known */
static bool find_target(const struct ntrace_tandem_builtin *builtin, uint64_t *target)
{
	const struct exec_insn *insn = &builtin->insn;
	struct ntrace_exec_value base = { builtin->state.reg[PC], UINT64_MAX };

	if (insn->kind == EXEC_JUMP_REGISTER)
		ntrace_exec_get(builtin->exec, GPR + insn->rs1, &base);
	*target = (base.bits + (uint64_t)insn->imm) & builtin->state.xlen_mask & ~UINT64_C(1);
	return !(builtin->state.xlen_mask & ~base.known);
}

/* Return: whether a branch is taken, -1 if that is not known */
static int is_taken(const struct ntrace_tandem_builtin *builtin)
{
	const struct exec_insn *insn = &builtin->insn;
	struct ntrace_exec_value a = { 0, 0 }, b = { 0, 0 };

	ntrace_exec_get(builtin->exec, GPR + insn->rs1, &a);
	ntrace_exec_get(builtin->exec, GPR + insn->rs2, &b);
	return exec_branch(insn->arg, a, b, builtin->params.xlen, insn->rs1 == insn->rs2);
}

/* Whether a jump, or a branch that is taken, goes to an address that IALIGN = 32 forbids (unprivileged, 2.5). */
static bool jumps_misaligned(const struct ntrace_tandem_builtin *builtin)
{
	const struct exec_insn *insn = &builtin->insn;
	uint64_t target;

	if (!tandem_lacks_compressed(&builtin->state) || builtin->linux_user)
		return false;
	if (insn->kind == EXEC_BRANCH ? is_taken(builtin) != 1 :
					insn->kind != EXEC_JUMP && insn->kind != EXEC_JUMP_REGISTER)
		return false;
	return find_target(builtin, &target) && (target & 2);
}

static bool can_raise(const struct ntrace_tandem_builtin *builtin, uint64_t cause)
{
	uint64_t target;

	if ((cause == 4 || cause == 6) && !maybe_misaligned(builtin))
		return false;
	if (cause == 0 && ((find_target(builtin, &target) && !(target & 2)) ||
			   (builtin->insn.kind == EXEC_BRANCH && !is_taken(builtin))))
		return false;
	return tandem_can_raise(&builtin->state, &builtin->insn, builtin->legality, cause);
}

/* The cause of a trap of an instruction for which the trace gives one that it cannot raise; 0: none */
static uint64_t likely_cause(const struct ntrace_tandem_builtin *builtin)
{
	bool translated = tandem_is_translated(builtin);

	if (builtin->legality == TANDEM_ILLEGAL)
		return 2;
	if (can_raise(builtin, 7) && can_raise(builtin, 5))
		return builtin->legality == TANDEM_LEGAL ? 0 : 2;
	if (can_raise(builtin, 7))
		return translated ? 15 : 7;
	if (can_raise(builtin, 5))
		return translated ? 13 : 5;
	return builtin->insn.kind == EXEC_CSR && builtin->legality != TANDEM_LEGAL ? 2 : 0;
}

/*
 * Whether the hart has written xtval for the same event before; if @given, it does so now. The model does not
 * see whether protection, a bus or a device raised an access fault: those of one page count as the same event.
 */
static bool gives_value(struct ntrace_tandem_builtin *builtin, uint64_t cause, uint64_t first,
			bool given)
{
	const struct exec_insn *insn = &builtin->insn;
	const uint64_t *reg = builtin->state.reg;
	bool machine = tandem_trap_cause(builtin->group) == MCAUSE;
	struct tandem_event event = { .cause = cause, .context = reg[PRIV] | machine << 2 };

	if (cause == 2 || cause == 22) {
		event.what = insn->size == 2		    ? builtin->word & 0xe003 :
			     (builtin->word & 0x7f) == 0x73 ? builtin->word & 0xfff0707f :
							      builtin->word & 0xfe00707f;
		event.context |= builtin->legality << 3 | !(reg[MSTATUS] & MSTATUS_FS) << 5 |
				 !(reg[MSTATUS] & MSTATUS_VS) << 6 | (reg[MSTATUS] & MSTATUS_TRAPS);
	} else {
		event.what = insn->kind << 16 | insn->size << 8 | insn->bytes;
		event.page = cause == 0 || cause == 3 ? 0 : first >> 12;
		event.context |= !(first & (insn->bytes - 1u)) << 3;
	}
	for (unsigned int i = 0; i < builtin->event_count; i++)
		if (!memcmp(&event, &builtin->events[i], sizeof(event)))
			return true;
	if (given) {
		builtin->events[builtin->next_event++ % TANDEM_EVENTS] = event;
		builtin->event_count += builtin->event_count < TANDEM_EVENTS;
	}
	return given;
}

/*
 * xtval is 0, or the address or instruction that the cause defines; a hart that has written it for an event
 * does so always (Privileged Architecture 1.12, 3.1.16).
 */
static uint64_t trap_value(struct ntrace_tandem_builtin *builtin, uint64_t cause, uint64_t traced)
{
	const struct exec_insn *insn = &builtin->insn;
	struct ntrace_exec_value base = { 0, 0 };
	uint64_t first, last;

	switch (cause) {
	case 0:
		if (!find_target(builtin, &first))
			return traced;
		last = first;
		break;
	case 2:
	case 22:
		first = last = builtin->word & (insn->size == 2 ? 0xffff : UINT32_MAX);
		break;
	case 3:
		/* A trigger may have been that of a data address. */
		if (insn->kind != EXEC_TRAP)
			return traced;
		first = last = builtin->state.reg[PC];
		break;
	case 1:
	case 12:
	case 20:
		first = builtin->state.reg[PC];
		last = first + 3;
		break;
	case 4:
	case 5:
	case 6:
	case 7:
	case 13:
	case 15:
		ntrace_exec_get(builtin->exec, GPR + insn->rs1, &base);
		if (!insn->bytes || insn->registers)
			return traced;
		first = (base.bits + (uint64_t)insn->imm) & builtin->group->xlen_mask;
		last = first + insn->bytes - 1;
		/* An aligned access has one portion, unless it is wider than XLEN. */
		if (!(first & (insn->bytes - 1u)) && insn->bytes <= builtin->params.xlen / 8)
			last = first;
		break;
	default:
		return traced;
	}
	if (gives_value(builtin, cause, first, traced >= first && traced <= last && traced) ||
	    traced)
		return traced >= first && traced <= last ? traced : first;
	return traced;
}

/*
 * Whether the pc of the group is that of a trap, in a trace that does not give causes, or gives only what changed. An instruction that
 * is not known may be a jump.
 */
static bool takes_silent_trap(struct ntrace_tandem_builtin *builtin, uint64_t next,
			      struct tandem_trap *trap)
{
	const struct ntrace_tandem_state *group = builtin->group;
	bool machine = !tandem_is_given(builtin, PRIV) || group->reg[PRIV] == PRIV_M;
	unsigned int epc = machine ? MEPC : SEPC, cause = machine ? MCAUSE : SCAUSE;
	unsigned int value = machine ? MTVAL : STVAL, vector = machine ? MTVEC : STVEC;

	if (!(group->has & NTRACE_TANDEM_HAS_INSN) || !(group->has & NTRACE_TANDEM_HAS_PC) ||
	    builtin->linux_user || group->reg[PC] == next || !exec_is_sequential(&builtin->insn))
		return false;
	if (!tandem_is_given(builtin, MCAUSE) && !tandem_is_given(builtin, SCAUSE))
		return true;
	/* All that it writes had these values before: a handler skipped the instruction before this one. */
	if (!tandem_is_given(builtin, cause) || !tandem_is_given(builtin, epc) ||
	    group->reg[epc] != builtin->state.reg[PC] || !can_raise(builtin, group->reg[cause]) ||
	    (tandem_is_given(builtin, vector) &&
	     group->reg[PC] != (group->reg[vector] & ~UINT64_C(3))))
		return false;
	trap->cause = group->reg[cause];
	trap->cause_known = true;
	trap->value_known = tandem_is_given(builtin, value);
	trap->value = trap_value(builtin, trap->cause, group->reg[value]);
	return true;
}

/*
 * Whether a jump, a branch or a trap return did what it does, although the group gives xcause, which may have
 * kept its value: xepc has another address, or the pc is the target and not that of the handler.
 */
static bool retires_transfer(const struct ntrace_tandem_builtin *builtin, unsigned int cause)
{
	const struct ntrace_tandem_state *group = builtin->group;
	unsigned int epc = cause == MCAUSE ? MEPC : SEPC;
	unsigned int vector = cause == MCAUSE ? MTVEC : STVEC;
	uint64_t target;

	switch (builtin->insn.kind) {
	case EXEC_JUMP:
	case EXEC_JUMP_REGISTER:
	case EXEC_BRANCH:
	case EXEC_TRAP_RETURN:
		break;
	default:
		return false;
	}
	if (!tandem_is_given(builtin, epc))
		return false;
	if (group->reg[epc] != builtin->state.reg[PC])
		return true;
	return builtin->insn.kind != EXEC_TRAP_RETURN && find_target(builtin, &target) &&
	       group->reg[PC] == target && tandem_is_given(builtin, vector) &&
	       target != (group->reg[vector] & ~UINT64_C(3));
}

/* Return: whether the group has a trap that the instruction can take */
static bool takes_trap(struct ntrace_tandem_builtin *builtin, struct tandem_trap *trap)
{
	const struct ntrace_tandem_state *group = builtin->group;
	unsigned int id = tandem_trap_cause(group), value = id == MCAUSE ? MTVAL : STVAL;
	uint64_t next = (builtin->state.reg[PC] + builtin->insn.size) & group->xlen_mask;

	trap->value_known = tandem_is_given(builtin, value);
	if (!id)
		return takes_silent_trap(builtin, next, trap);
	trap->cause = group->reg[id];
	trap->cause_known = tandem_is_given(builtin, id);
	trap->value = group->reg[value];
	if (!(group->has & NTRACE_TANDEM_HAS_INSN)) {
		/* Any other exception comes with its instruction. */
		if (!tandem_can_fetch_raise(&builtin->state, trap->cause))
			trap->cause = tandem_is_translated(builtin) ? 12 : 1;
		trap->value = trap_value(builtin, trap->cause, trap->value);
		return true;
	}
	/* A CSR instruction may write these registers itself. */
	if (group->reg[PC] == next || retires_transfer(builtin, id))
		return false;
	if (!can_raise(builtin, trap->cause))
		trap->cause = likely_cause(builtin);
	if (!trap->cause && !can_raise(builtin, 0))
		return false;
	trap->value = trap_value(builtin, trap->cause, trap->value);
	return true;
}

/* ---- one step ---- */

/* The bits of a register that the model does not know. */
static int fill_register(struct ntrace_tandem_builtin *builtin, unsigned int id)
{
	struct ntrace_exec_value value;
	uint64_t all = exec_low_bits((id >= FPR ? builtin->params.flen : builtin->params.xlen) / 8);

	ntrace_exec_get(builtin->exec, id, &value);
	if (!(~value.known & all) || !tandem_is_given(builtin, id))
		return 0;
	if (builtin->insn.kind != EXEC_SC && builtin->insn.kind != EXEC_VECTOR)
		builtin->stats.results++;
	value.bits |= builtin->group->reg[id] & ~value.known;
	value.known = UINT64_MAX;
	return ntrace_exec_set(builtin->exec, id, &value);
}

static void fill_flags(struct ntrace_tandem_builtin *builtin)
{
	struct ntrace_exec_value value;

	uint64_t given = tandem_is_given(builtin, FCSR) ?
				 0xff :
				 (tandem_is_given(builtin, FFLAGS) ? 0x1fu : 0) |
					 (tandem_is_given(builtin, FRM) ? 0xe0u : 0);

	ntrace_exec_get(builtin->exec, FCSR, &value);
	given &= ~value.known;
	if (given) {
		value.bits |= builtin->group->reg[FCSR] & given;
		value.known |= given;
		ntrace_exec_set(builtin->exec, FCSR, &value);
	}
}

/* All that the group changed becomes the model's. */
static void adopt_group(struct ntrace_tandem_builtin *builtin)
{
	const struct ntrace_tandem_state *group = builtin->group;

	for (unsigned int word = 0; word < NTRACE_TANDEM_BITMAP_WORDS; word++)
		for (uint64_t bits = group->changed[word]; bits; bits &= bits - 1) {
			unsigned int id = word * 64 + (unsigned int)__builtin_ctzll(bits);
			struct ntrace_exec_value value = { group->reg[id], UINT64_MAX };

			if (ntrace_exec_set(builtin->exec, id, &value))
				tandem_state_set(&builtin->state, id, value.bits);
		}
}

/* sc and amocas: whether the store was made is the trace's: by its data or address if it has some, else by rd. */
static int finish_maybe(struct ntrace_tandem_builtin *builtin,
			const struct ntrace_exec_effects *effects)
{
	const unsigned int address = NTRACE_TANDEM_HAS_EADDR | NTRACE_TANDEM_HAS_PADDR;
	bool stored = builtin->group->has & NTRACE_TANDEM_HAS_STORE;
	unsigned int id = GPR + builtin->insn.rd;
	struct ntrace_exec_value result = { 0, UINT64_MAX };

	builtin->stats.conditional++;
	if (builtin->insn.kind == EXEC_SC && tandem_is_given(builtin, id)) {
		/* If it lacks its data, an address is the sign of a store. */
		if ((!builtin->gives_stores || (builtin->group->has & address)) && builtin->insn.rd)
			stored |= !builtin->group->reg[id];
		/* Without a reservation it fails; all other codes of a failure are reserved. */
		stored &= !builtin->unreserved;
		result.bits = !stored;
		ntrace_exec_set(builtin->exec, id, &result);
	}
	builtin->unreserved |= builtin->insn.kind == EXEC_SC;
	if (!stored || !effects->address_known)
		return 0;
	return tandem_write_data(builtin, effects->address, effects->bytes, &effects->value);
}

/*
 * The fields of mstatus that say which registers are in use: a hart may call them dirty at any time, unless
 * they are off. FS is dirty after a write of a register or of fcsr (Privileged Architecture 1.12, 3.1.6.6),
 * if the trace gives mstatus with such instructions, else where it gives mstatus next. XS is the hart's.
 */
static void update_dirty_fields(struct ntrace_tandem_builtin *builtin, bool writes_float)
{
	const struct ntrace_tandem_state *group = builtin->group;
	uint64_t before = builtin->state.reg[MSTATUS], status = before;
	const uint64_t fields[] = { MSTATUS_FS, MSTATUS_VS };

	if (!tandem_is_given(builtin, MSTATUS))
		return;
	builtin->gives_dirty |= ((status ^ group->reg[MSTATUS]) & MSTATUS_DIRTY) != 0;
	status = (status & ~MSTATUS_DIRTY) | (group->reg[MSTATUS] & MSTATUS_DIRTY);
	for (unsigned int i = 0; i < 2; i++)
		if (!(before & fields[i]) || (status & fields[i]) != fields[i])
			status = (status & ~fields[i]) | (before & fields[i]);
	if (writes_float && (status & MSTATUS_FS)) {
		builtin->owes_dirty = !builtin->gives_dirty &&
				      !ntrace_tandem_bit(group->changed, MSTATUS);
		status |= builtin->owes_dirty ? 0 : MSTATUS_FS;
	}
	if (status != builtin->state.reg[MSTATUS])
		tandem_set_status(builtin, status, UINT64_MAX);
}

static int execute(struct ntrace_tandem_builtin *builtin)
{
	const struct ntrace_tandem_state *group = builtin->group;
	const struct exec_insn *insn = &builtin->insn;
	struct ntrace_exec_value flags = { 0, 0 }, flags_before = { 0, 0 };
	struct ntrace_exec_effects effects;
	int error;

	builtin->csr = 0;
	ntrace_exec_get(builtin->exec, FCSR, &flags_before);
	if (insn->kind == EXEC_LR)
		builtin->unreserved = false;
	if ((builtin->word & 0x707f) == FENCE_I)
		tandem_pages_synchronize(&builtin->pages);
	if (tandem_is_pair(builtin)) {
		tandem_state_set(&builtin->state, PC,
				 (builtin->state.reg[PC] + 4) & group->xlen_mask);
		return tandem_swap_pair(builtin);
	}
	error = ntrace_exec_step(builtin->exec, builtin->word, builtin->state.reg[PC], &effects);
	if (error == NTRACE_ERR_UNSUPPORTED) {
		builtin->stats.unsupported++;
		if (group->reg[PC] != ((builtin->state.reg[PC] + insn->size) & group->xlen_mask))
			tandem_forget_trap(builtin);
		adopt_group(builtin);
		return 0;
	}
	if (error)
		return error;
	if (effects.flags & NTRACE_EXEC_STORES_MAYBE)
		error = finish_maybe(builtin, &effects);
	if (effects.flags & NTRACE_EXEC_STORES_ANYWHERE)
		tandem_pages_forget(&builtin->pages);
	if (effects.flags & (NTRACE_EXEC_STORES_ANYWHERE | NTRACE_EXEC_VECTOR))
		builtin->stats.unsupported++;
	for (uint64_t left = effects.written; left; left &= left - 1)
		fill_register(builtin, GPR + (unsigned int)__builtin_ctzll(left));
	fill_flags(builtin);
	ntrace_exec_get(builtin->exec, FCSR, &flags);
	if (insn->kind == EXEC_CSR && !builtin->csr && insn->rd &&
	    tandem_is_given(builtin, GPR + insn->rd))
		tandem_learn_csr(builtin, (unsigned int)insn->imm & 0xfff,
				 group->reg[GPR + insn->rd]);
	if (builtin->csr)
		tandem_finish_csr(builtin);
	else
		update_dirty_fields(builtin,
				    (effects.written >> 32) || ((flags.bits ^ flags_before.bits) &
								flags.known & flags_before.known));
	tandem_state_set(&builtin->state, PC,
			 effects.next_known ? effects.next_pc : group->reg[PC]);
	return error;
}

/* A system call of user mode, whose effects are the trace's; what it does to the memory map is not. */
static void call(struct ntrace_tandem_builtin *builtin)
{
	adopt_group(builtin);
	tandem_state_set(&builtin->state, PC, builtin->group->reg[PC]);
	tandem_pages_forget(&builtin->pages);
}

/*
 * The instruction is that of memory if it is known there, else the traced one, which memory has from then
 * on; or the one that was there before. Return: 0, or NTRACE_ERR_NOMEM
 */
static int fetch(struct ntrace_tandem_builtin *builtin)
{
	uint64_t pc = builtin->state.reg[PC];
	struct ntrace_exec_value value;

	builtin->word = (uint32_t)builtin->group->insn;
	if (tandem_is_translated(builtin) || builtin->fetches_old)
		return 0;
	tandem_pages_read(&builtin->pages, pc, 4, &value);
	if (!(~value.known & 0xffff) && (value.bits & 3) != 3)
		builtin->word = value.bits & 0xffff;
	else if (value.known == UINT32_MAX)
		builtin->word = (uint32_t)value.bits;
	else
		return tandem_learn_memory(builtin, pc, (builtin->word & 3) == 3 ? 4 : 2,
					   builtin->word, &value) < 0 ?
			       NTRACE_ERR_NOMEM :
			       0;
	return 0;
}

/* An exception that the instruction raises, whatever the group gives. */
static void raise_exception(struct ntrace_tandem_builtin *builtin, uint64_t cause)
{
	unsigned int id = tandem_trap_cause(builtin->group) == MCAUSE ? MTVAL : STVAL;
	struct tandem_trap trap = { .cause = cause, .cause_known = true };

	/* xtval of ecall is 0. */
	trap.value_known = builtin->word == ECALL || tandem_is_given(builtin, id);
	if (builtin->word != ECALL)
		trap.value = trap_value(builtin, cause, builtin->group->reg[id]);
	tandem_enter_trap(builtin, &trap);
}

static int step(void *data)
{
	struct ntrace_tandem_builtin *builtin = data;
	const struct ntrace_tandem_state *group = builtin->group;
	struct exec_insn *insn = &builtin->insn;
	struct tandem_trap trap = { 0 };
	bool traps;

	if (!group)
		return NTRACE_ERR_INVALID;
	memset(insn, 0, sizeof(*insn));
	builtin->legality = TANDEM_UNDECIDED;
	if (group->has & NTRACE_TANDEM_HAS_INSN) {
		if (fetch(builtin))
			return NTRACE_ERR_NOMEM;
		exec_decode(&builtin->isa, builtin->params.flen, builtin->word, insn);
		if (!builtin->linux_user)
			builtin->legality =
				tandem_judge_legality(&builtin->state, insn, builtin->word);
	}
	builtin->gives_stores |= !!(group->has & NTRACE_TANDEM_HAS_STORE);
	builtin->fetches_old = false;
	traps = takes_trap(builtin, &trap);
	if (!(group->has & NTRACE_TANDEM_HAS_INSN)) {
		/* An exception of the fetch. */
		builtin->stats.faults++;
		tandem_enter_trap(builtin, &trap);
	} else if (builtin->linux_user && insn->kind == EXEC_TRAP) {
		call(builtin);
	} else if (insn->kind == EXEC_TRAP) {
		raise_exception(builtin, builtin->word == ECALL ? 8 + builtin->state.reg[PRIV] : 3);
	} else if (builtin->legality == TANDEM_ILLEGAL && (!traps || !trap.cause_known)) {
		raise_exception(builtin, 2);
	} else if (traps) {
		builtin->stats.faults += trap.cause != 2 || builtin->legality != TANDEM_ILLEGAL;
		tandem_enter_trap(builtin, &trap);
	} else if (jumps_misaligned(builtin)) {
		raise_exception(builtin, 0);
	} else if (insn->kind == EXEC_TRAP_RETURN &&
		   (builtin->word == MRET || builtin->word == SRET)) {
		tandem_return_from_trap(builtin);
	} else {
		return execute(builtin);
	}
	return 0;
}

/* ---- the model ---- */

/* Only what Privileged Architecture 1.12, 3.4, defines is known after a reset; memory stays. */
static int reset(void *data)
{
	struct ntrace_tandem_builtin *builtin = data;
	struct ntrace_exec_value unknown = { 0, 0 };

	for (unsigned int id = 0; id < 32; id++) {
		ntrace_exec_set(builtin->exec, GPR + id, &unknown);
		ntrace_exec_set(builtin->exec, FPR + id, &unknown);
	}
	ntrace_exec_set(builtin->exec, FCSR, &unknown);
	memset(builtin->sure, 0, sizeof(builtin->sure));
	ntrace_tandem_state_init(&builtin->state, &builtin->params);
	builtin->sure[MSTATUS] = MSTATUS_MIE | MSTATUS_MPRV;
	builtin->unreserved = true;
	tandem_state_set(&builtin->state, PRIV, PRIV_M);
	return 0;
}

static int read_registers(void *data, const uint16_t *ids, uint64_t *values, size_t count)
{
	struct ntrace_tandem_builtin *builtin = data;
	struct ntrace_exec_value value;

	for (size_t i = 0; i < count; i++) {
		if (ids[i] < CSRS)
			tandem_adopt_csr(builtin, ids[i]);
		values[i] = builtin->state.reg[ids[i]];
		if (!ntrace_exec_get(builtin->exec, ids[i], &value))
			values[i] = value.bits;
	}
	return 0;
}

static int write_registers(void *data, const uint16_t *ids, const uint64_t *values, size_t count)
{
	struct ntrace_tandem_builtin *builtin = data;

	for (size_t i = 0; i < count; i++) {
		struct ntrace_exec_value value = { values[i], UINT64_MAX };

		if (ids[i] == MSTATUS && !tandem_is_given(builtin, MSTATUS))
			tandem_set_interrupt_status(builtin, values[i]);
		else if (ntrace_exec_set(builtin->exec, ids[i], &value))
			tandem_state_set(&builtin->state, ids[i], values[i]);
	}
	return 0;
}

static int read_memory(void *data, uint64_t address, void *bytes, size_t size)
{
	struct ntrace_tandem_builtin *builtin = data;
	struct ntrace_exec_value value;
	uint64_t physical;

	if (size > 8 || !tandem_find_physical(builtin, address, (unsigned int)size, &physical))
		return NTRACE_ERR_NOMAP;
	tandem_pages_read(&builtin->pages, physical, (unsigned int)size, &value);
	/* The verifier compares the instruction before the step. */
	if (builtin->fetches_old && address == builtin->state.reg[PC])
		value = (struct ntrace_exec_value){ builtin->group->insn, UINT64_MAX };
	if (exec_low_bits((unsigned int)size) & ~value.known)
		return NTRACE_ERR_NOMAP;
	for (size_t i = 0; i < size; i++)
		((uint8_t *)bytes)[i] = (uint8_t)(value.bits >> 8 * i);
	return 0;
}

static int write_memory(void *data, uint64_t address, const void *bytes, size_t size)
{
	struct ntrace_tandem_builtin *builtin = data;
	struct ntrace_exec_value value = { 0, UINT64_MAX };
	uint64_t physical;

	if (size > 8)
		return NTRACE_ERR_INVALID;
	for (size_t i = 0; i < size; i++)
		value.bits |= (uint64_t)((const uint8_t *)bytes)[i] << 8 * i;
	if (tandem_find_physical(builtin, address, (unsigned int)size, &physical))
		return tandem_pages_write(&builtin->pages, physical, (unsigned int)size, &value);
	tandem_pages_forget(&builtin->pages);
	return 0;
}

int ntrace_tandem_builtin_new(struct ntrace_tandem_builtin **result,
			      const struct ntrace_tandem_params *params,
			      const struct ntrace_isa *isa, bool linux_user,
			      struct ntrace_tandem_model *model)
{
	struct ntrace_exec_config config = {
		.size = sizeof(config),
		.isa = { .xlen = (uint8_t)params->xlen, .compressed = true },
		.flen = params->flen,
		.read = tandem_read_data,
		.write = tandem_write_data,
		.read_csr = tandem_read_csr,
		.write_csr = tandem_write_csr,
	};
	struct ntrace_tandem_builtin *builtin;

	if (ntrace_tandem_params_refusal(params) || (isa && isa->xlen != params->xlen))
		return NTRACE_ERR_INVALID;
	builtin = calloc(1, sizeof(*builtin));
	if (!builtin)
		return NTRACE_ERR_NOMEM;
	if (isa)
		config.isa = *isa;
	config.user = builtin;
	builtin->params = *params;
	builtin->isa = config.isa;
	builtin->linux_user = linux_user;
	ntrace_tandem_state_init(&builtin->state, params);
	if (ntrace_exec_new(&builtin->exec, &config)) {
		free(builtin);
		return NTRACE_ERR_NOMEM;
	}
	*model = (struct ntrace_tandem_model){
		.size = sizeof(*model),
		.data = builtin,
		.read_registers = read_registers,
		.write_registers = write_registers,
		.read_memory = read_memory,
		.write_memory = write_memory,
		.step = step,
		.reset = reset,
		.xlen = params->xlen,
	};
	*result = builtin;
	return 0;
}

void ntrace_tandem_builtin_group(struct ntrace_tandem_builtin *builtin,
				 const struct ntrace_tandem_state *group)
{
	builtin->group = group;
	builtin->fetches_old =
		(group->has & NTRACE_TANDEM_HAS_INSN) && !tandem_is_translated(builtin) &&
		tandem_pages_had(&builtin->pages, builtin->state.reg[PC],
				 (group->insn & 3) == 3 ? 4 : 2, (uint32_t)group->insn);
	if (ntrace_tandem_bit(group->changed, MSTATUS)) {
		if (builtin->owes_dirty && !(group->has & NTRACE_TANDEM_HAS_INIT))
			tandem_set_status(builtin, builtin->state.reg[MSTATUS] | MSTATUS_FS,
					  UINT64_MAX);
		builtin->owes_dirty = false;
	}
	/* A debugger that sets the pc may have taken a trap for the hart. */
	if ((group->has & NTRACE_TANDEM_HAS_INIT) && (group->has & NTRACE_TANDEM_HAS_PC))
		tandem_forget_trap(builtin);
	else if (!(group->has & NTRACE_TANDEM_HAS_INSN))
		tandem_learn_interrupt(builtin);
}

void ntrace_tandem_builtin_stats(const struct ntrace_tandem_builtin *builtin,
				 struct ntrace_tandem_builtin_stats *stats)
{
	*stats = builtin->stats;
}

void ntrace_tandem_builtin_free(struct ntrace_tandem_builtin *builtin)
{
	if (!builtin)
		return;
	tandem_pages_free(&builtin->pages);
	ntrace_exec_free(builtin->exec);
	free(builtin);
}
