// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Compares the groups of an ingress port with the program that the core executes (E-Trace, chapter 4):
 * the instructions of a block give its boundaries, its itype and the target of a direct transfer.
 * Each group breaks one rule at most, so that one mistake gives one finding.
 */
#include <string.h>

#include <ntrace/ingress_check.h>

#include "exec/decode.h"
#include "rules.h"

/* Causes of exceptions (Privileged Architecture, mcause). */
enum {
	CAUSE_ILLEGAL = 2,
	CAUSE_ECALL_U = 8,
	CAUSE_ECALL_M = 11,
};

#define ECALL 0x00000073
#define EBREAK 0x00100073
#define C_EBREAK 0x9002
#define MRET 0x30200073

void ntrace_ingress_checker_program(
	struct ntrace_ingress_checker *checker, const struct ntrace_isa *isa,
	int (*fetch)(void *data, uint64_t address, void *bytes, size_t size), void *data)
{
	checker->isa = *isa;
	checker->fetch = fetch;
	checker->fetch_data = data;
}

void ingress_program_forget(struct ntrace_ingress_checker *checker)
{
	checker->target_known = false;
	checker->previous.size = 0;
}

/* Return: bytes of the instruction, 0 if there is no code; @word: up to 32 bits of it */
static unsigned int fetch(const struct ntrace_ingress_checker *checker, uint64_t pc, uint32_t *word,
			  struct ntrace_insn *insn)
{
	const struct ntrace_ingress_port *port = &checker->port;
	uint8_t bytes[8] = { 0 };

	*word = 0;
	/* A narrow iaddr has virtual addresses without their sign extension, or physical ones. */
	if (port->iaddr_bits && port->iaddr_bits < 64 && port->xlen == 64 &&
	    pc >> (port->iaddr_bits - 1) & 1 && checker->fetch(checker->fetch_data, pc, bytes, 2))
		pc |= ~ingress_iaddr_mask(port);
	for (unsigned int size = 0; size < 8; size += 2) {
		if (checker->fetch(checker->fetch_data, pc + size, bytes + size, 2))
			return 0;
		if (size < 4)
			*word |= (uint32_t)(bytes[size] | bytes[size + 1] << 8) << 8 * size;
		if (!ntrace_insn_decode(&checker->isa, bytes, size + 2, pc, insn))
			return insn->size;
		if (!size && (bytes[0] & 3) != 3)
			break;
	}
	/* A reserved encoding has its length, and always traps. */
	memset(insn, 0, sizeof(*insn));
	insn->insn_class = NTRACE_INSN_TRAP;
	insn->size = (bytes[0] & 3) == 3 ? 4 : 2;
	return insn->size;
}

bool ingress_program_start(const struct ntrace_ingress_checker *checker, uint64_t iaddr,
			   uint64_t *expected)
{
	*expected = checker->target & ingress_iaddr_mask(&checker->port);
	return !checker->target_known || iaddr == *expected;
}

/* Whether the instruction at the address of an exception can raise it. */
static bool can_raise(const struct ntrace_ingress_checker *checker, uint64_t cause, uint32_t word,
		      unsigned int size)
{
	bool ecall = size == 4 && word == ECALL;
	bool ebreak = size == 4 ? word == EBREAK : (word & 0xffff) == C_EBREAK;
	struct exec_insn insn;

	if (cause >= CAUSE_ECALL_U && cause <= CAUSE_ECALL_M)
		return ecall;
	if (cause == CAUSE_ILLEGAL && (ecall || ebreak))
		return false;
	/* A port without cause has 0. With C, each target is aligned. */
	if (!cause && !checker->has_cause)
		return true;
	if (!cause && checker->isa.compressed)
		return false;
	/* RV32E lacks registers of instructions of the base. */
	if (size > 4 || (cause == CAUSE_ILLEGAL && checker->isa.embedded))
		return true;
	exec_decode(&checker->isa, 64, word, &insn);
	return exec_can_raise(&insn, cause);
}

/* The exception of a group; its instruction is at @pc. */
static enum ingress_rule check_exception(const struct ntrace_ingress_checker *checker,
					 const struct ntrace_ingress_cycle *cycle, uint64_t pc,
					 uint64_t *value)
{
	struct ntrace_insn insn;
	uint32_t word;
	unsigned int size = fetch(checker, pc, &word, &insn);

	*value = cycle->cause;
	return !size || can_raise(checker, cycle->cause, word, size) ? INGRESS_NO_RULE :
								       INGRESS_INSN_CAUSE;
}

/* Whether the last instruction @insn allows the itype of the group. */
static bool is_itype(const struct ntrace_ingress_checker *checker, const struct ntrace_insn *insn,
		     const struct ntrace_ingress_cycle *cycle, unsigned int i, uint64_t *expected)
{
	unsigned int itype = cycle->group[i].itype;
	bool taken = itype == NTRACE_ITYPE_BRANCH_TAKEN;

	*expected = (uint64_t)ntrace_insn_itype(insn, taken, checker->port.itype_bits);
	if (itype == *expected)
		return true;
	/* A trap after the block, whose last instruction has no type of its own. */
	if (ingress_is_trap(itype))
		return *expected == NTRACE_ITYPE_NONE;
	/* All accesses of a cm.popret but the last one. */
	if (itype == NTRACE_ITYPE_NONE && insn->insn_class == NTRACE_INSN_RETURN && insn->size == 2)
		for (unsigned int k = 0; k < cycle->accesses; k++)
			if (cycle->access[k].dblock == i)
				return true;
	return false;
}

static void follow(struct ntrace_ingress_checker *checker, const struct ntrace_insn *insn,
		   unsigned int itype, bool sijump, uint64_t inferred)
{
	bool direct =
		insn->insn_class == NTRACE_INSN_JUMP || insn->insn_class == NTRACE_INSN_CALL ||
		insn->insn_class == NTRACE_INSN_OTHER_JUMP ||
		(insn->insn_class == NTRACE_INSN_BRANCH && itype == NTRACE_ITYPE_BRANCH_TAKEN);

	checker->target_known = (direct && !insn->table_jump) || sijump;
	checker->target = sijump ? inferred : insn->target;
	checker->previous = *insn;
}

enum ingress_rule ingress_program_group(struct ntrace_ingress_checker *checker,
					const struct ntrace_ingress_cycle *cycle, unsigned int i,
					uint64_t *value, uint64_t *expected)
{
	const struct ntrace_ingress_group *group = &cycle->group[i];
	uint64_t pc = group->iaddr, inferred = 0;
	uint64_t end = pc + UINT64_C(2) * ingress_parcels(&checker->port, group);
	enum ingress_rule rule = INGRESS_NO_RULE;
	struct ntrace_insn insn = { .size = 0 }, previous = checker->previous;
	bool sequential = previous.size && checker->previous_end == pc, sijump;
	uint32_t word = 0;

	ingress_program_forget(checker);
	while (pc < end) {
		unsigned int size;

		if (insn.size) {
			previous = insn;
			sequential = true;
		}
		size = fetch(checker, pc, &word, &insn);
		*value = pc;
		if (!size)
			return INGRESS_NO_CODE;
		pc += size;
		if (pc > end && checker->port.single)
			break;
		if (pc > end)
			return INGRESS_INSN_SPLIT;
		if (insn.insn_class == NTRACE_INSN_TRAP)
			return INGRESS_INSN_TRAPS;
		if (pc < end && !checker->port.single && insn.insn_class != NTRACE_INSN_PLAIN)
			return INGRESS_INSN_INSIDE;
		if (checker->port.single)
			break;
	}
	if (group->iretire) {
		*value = group->ilastsize;
		*expected = insn.size == 2 ? 0 : insn.size == 4 ? 1 : 2;
		if (*value != *expected)
			return INGRESS_INSN_SIZE;
		*value = group->itype;
		if (!is_itype(checker, &insn, cycle, i, expected))
			rule = INGRESS_INSN_ITYPE;
		sequential = sequential &&
			     ntrace_insn_sequential_target(&previous, &insn, &inferred);
		sijump = group->sijump && (NTRACE_SIJUMP_ITYPES >> (group->itype & 15) & 1);
		if (!rule && sijump && !sequential) {
			*value = pc - insn.size;
			rule = INGRESS_INSN_SIJUMP;
		}
		/* In S mode (Privileged Architecture 1.12, 3.3.2); check_trap() judges U mode. */
		if (!rule && word == MRET &&
		    (cycle->priv == NTRACE_PRIV_S || cycle->priv == NTRACE_PRIV_VS)) {
			*value = pc - insn.size;
			rule = INGRESS_RETURN_USER;
		}
		checker->previous_end = pc;
		if (!rule && !ingress_is_trap(group->itype))
			follow(checker, &insn, group->itype, sijump && sequential, inferred);
	}
	if (!rule && group->itype == NTRACE_ITYPE_EXCEPTION)
		rule = check_exception(checker, cycle, group->iretire ? pc : group->iaddr, value);
	return rule;
}
