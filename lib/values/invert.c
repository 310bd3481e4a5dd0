// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Instructions backwards: what the result of one tells of its operands, and of memory. A rule holds whatever is not
 * known, as those of the executor do.
 */
#include "exec/integer.h"
#include "infer.h"

#define F0 32
#define ALL UINT64_MAX

static struct ntrace_exec_value add(struct ntrace_exec_value a, struct ntrace_exec_value b)
{
	static const struct exec_insn insn = { .operate = exec_add,
					       .rule = EXEC_RULE_ADD,
					       .bits = 64 };

	return exec_operate(&insn, a, b, false);
}

static struct ntrace_exec_value subtract(struct ntrace_exec_value a, struct ntrace_exec_value b)
{
	static const struct exec_insn insn = { .operate = exec_sub,
					       .rule = EXEC_RULE_SUBTRACT,
					       .bits = 64 };

	return exec_operate(&insn, a, b, false);
}

static struct ntrace_exec_value only(struct ntrace_exec_value value, uint64_t bits)
{
	return (struct ntrace_exec_value){ value.bits & bits, value.known & bits };
}

/* ---- operations ---- */

/* What is known of both operands, of which the second may be a number. */
struct operands {
	struct ntrace_exec_value a, b;
};

static struct operands invert_sum(const struct exec_insn *insn, struct operands of,
				  struct ntrace_exec_value result)
{
	uint64_t bits = insn->bits == 32 ? UINT32_MAX : ALL;
	struct operands found;

	if (insn->operate == exec_add)
		found = (struct operands){ subtract(result, of.b), subtract(result, of.a) };
	else
		found = (struct operands){ add(result, of.b), subtract(of.a, result) };
	return (struct operands){ only(found.a, bits), only(found.b, bits) };
}

/* Where the other operand leaves the bit of this one as it is, or the result tells both. */
static struct ntrace_exec_value invert_bits(const struct exec_insn *insn,
					    struct ntrace_exec_value other,
					    struct ntrace_exec_value result)
{
	uint64_t known;

	if (insn->operate == exec_xor) {
		known = result.known & other.known;
		return (struct ntrace_exec_value){ (result.bits ^ other.bits) & known, known };
	}
	if (insn->operate == exec_and)
		known = result.known & ((other.known & other.bits) | result.bits);
	else
		known = result.known & ((other.known & ~other.bits) | ~result.bits);
	return only(result, known);
}

/* By a number of places that is known. */
static struct ntrace_exec_value invert_shift(const struct exec_insn *insn, uint64_t by,
					     struct ntrace_exec_value result)
{
	unsigned int width = insn->bits == 32 ? 32 : 64, places = (unsigned int)by & (width - 1);
	uint64_t all = width == 32 ? UINT32_MAX : ALL;

	result = only(result, all);
	if (insn->operate == exec_sll)
		return (struct ntrace_exec_value){ result.bits >> places, result.known >> places };
	return only((struct ntrace_exec_value){ result.bits << places, result.known << places },
		    all);
}

static struct operands invert_scaled(const struct exec_insn *insn, struct operands of,
				     struct ntrace_exec_value result)
{
	const struct ntrace_exec_value zero = { 0, ALL };
	unsigned int places = insn->arg & 7;
	struct ntrace_exec_value rest = subtract(result, of.b);
	struct operands found = { .a = { rest.bits >> places, rest.known >> places } };

	found.a = only(found.a, insn->arg & 8 ? UINT32_MAX : ALL >> places);
	if (of.a.known == ALL)
		found.b = subtract(result, exec_operate(insn, of.a, zero, false));
	return found;
}

static struct operands invert_operation(const struct exec_insn *insn, struct operands of,
					struct ntrace_exec_value result)
{
	struct operands found = { { 0, 0 }, { 0, 0 } };
	bool is_zero = result.known == ALL && !result.bits;
	bool is_one = result.known == ALL && result.bits == 1;

	if (insn->rule == EXEC_RULE_ADD_SCALED)
		return invert_scaled(insn, of, result);
	if (insn->operate == exec_add || insn->operate == exec_sub)
		return invert_sum(insn, of, result);
	if (insn->operate == exec_xor || insn->operate == exec_and || insn->operate == exec_or)
		return (struct operands){ invert_bits(insn, of.b, result),
					  invert_bits(insn, of.a, result) };
	if (insn->operate == exec_sll || insn->operate == exec_srl || insn->operate == exec_sra) {
		if (of.b.known == ALL)
			found.a = invert_shift(insn, of.b.bits, result);
	} else if (insn->operate == exec_sltu) {
		/* Whether a value is 0: x < 1, or 0 < x. */
		if (is_one && of.b.known == ALL && of.b.bits == 1)
			found.a.known = ALL;
		if (is_zero && of.a.known == ALL && !of.a.bits)
			found.b.known = ALL;
	} else if (insn->operate == exec_sext_b) {
		found.a = only(result, 0xff);
	} else if (insn->operate == exec_sext_h || insn->operate == exec_zext_h) {
		found.a = only(result, 0xffff);
	}
	return found;
}

/* ---- instructions ---- */

static struct ntrace_exec_value source(const struct infer *infer, unsigned int reg)
{
	return infer->value[infer->current[reg]];
}

static void learn_source(struct infer *infer, unsigned int reg, struct ntrace_exec_value known)
{
	if (reg)
		infer_learn(infer, infer->current[reg], known);
}

static void invert_integer(struct infer *infer, const struct exec_insn *insn,
			   struct ntrace_exec_value result)
{
	bool immediate = insn->kind == EXEC_IMMEDIATE;
	struct operands of = { source(infer, insn->rs1), { (uint64_t)(int64_t)insn->imm, ALL } },
			found;

	if (!immediate)
		of.b = source(infer, insn->rs2);
	/* x + x and its kind. */
	if (!immediate && insn->rs1 == insn->rs2)
		return;
	found = invert_operation(insn, of, result);
	learn_source(infer, insn->rs1, found.a);
	if (!immediate)
		learn_source(infer, insn->rs2, found.b);
}

/* Moves of 64 bits. */
static void invert_float(struct infer *infer, const struct exec_insn *insn,
			 struct ntrace_exec_value result)
{
	if (insn->bytes != 8)
		return;
	if (insn->arg == EXEC_FMV_TO_X || (insn->arg == EXEC_FSGNJ && insn->rs1 == insn->rs2))
		infer_learn(infer, infer->current[F0 + insn->rs1], result);
	else if (insn->arg == EXEC_FMV_FROM_X)
		learn_source(infer, insn->rs1, result);
}

static void join_bits(struct ntrace_exec_value *value, struct ntrace_exec_value other)
{
	value->bits |= other.bits & ~value->known;
	value->known |= other.known;
}

/* The same bytes are in memory and in a register. */
static void join_memory(struct infer *infer, uint32_t value, const struct exec_insn *insn,
			uint64_t address)
{
	struct ntrace_exec_value memory = infer_read(infer, true, address, insn->bytes);
	struct ntrace_exec_value own = only(infer->value[value], exec_low_bits(insn->bytes));
	uint64_t known = memory.known;

	if (insn->kind == EXEC_LOAD || insn->kind == EXEC_LR)
		infer_learn(infer, value, exec_extend(memory, insn->bytes, insn->zero_extend));
	else if (insn->kind == EXEC_STORE || insn->bytes == 8)
		infer_learn(infer, value, memory);
	join_bits(&memory, own);
	if (memory.known != known)
		infer_write(infer, true, address, insn->bytes, memory);
}

static bool is_load(const struct exec_insn *insn)
{
	return insn->kind == EXEC_LOAD || insn->kind == EXEC_LR ||
	       (insn->kind == EXEC_LOAD_FLOAT && insn->bytes == 8);
}

static void pass_memory(struct infer *infer, const struct infer_entry *entry,
			const struct exec_insn *insn, uint32_t first, uint32_t end)
{
	bool somewhere = entry->flags & INFER_SOMEWHERE;

	if (entry->flags & INFER_LOADS && !somewhere && is_load(insn) && first < end)
		join_memory(infer, first, insn, entry->address);
	if (!(entry->flags & INFER_STORES))
		return;
	if (!somewhere && !(entry->flags & INFER_MAYBE)) {
		if (insn->kind == EXEC_STORE && insn->rs2)
			join_memory(infer, infer->current[insn->rs2], insn, entry->address);
		else if (insn->kind == EXEC_STORE_FLOAT && insn->bytes == 8)
			join_memory(infer, infer->current[F0 + insn->rs2], insn, entry->address);
	}
	if (!entry->bytes && (infer->likely || insn->kind == EXEC_STORE))
		infer_stray(infer, true, only(source(infer, insn->rs2), exec_low_bits(insn->bytes)),
			    insn->bytes);
	else if (!entry->bytes)
		infer_forget(infer, true, 0, UINT64_MAX);
	else if (entry->bytes)
		infer_forget(infer, true, entry->address,
			     entry->address + entry->span + entry->bytes - 1);
}

/* Operands of a branch that are equal, or are not different. */
static void pass_branch(struct infer *infer, const struct infer_entry *entry,
			const struct exec_insn *insn)
{
	bool taken = entry->address == entry->pc + (uint64_t)(int64_t)insn->imm;

	if (insn->arg > 1 || insn->imm == insn->size || taken != !insn->arg)
		return;
	learn_source(infer, insn->rs1, source(infer, insn->rs2));
	learn_source(infer, insn->rs2, source(infer, insn->rs1));
}

void infer_backward(struct infer *infer, uint32_t first, uint32_t end)
{
	const struct infer_entry *entry = &infer->entry[infer->now];
	const struct exec_insn *insn = &infer->insn[entry->insn];

	if (entry->flags & (INFER_LOADS | INFER_STORES))
		pass_memory(infer, entry, insn, first, end);
	else if (insn->kind == EXEC_BRANCH && entry->flags & INFER_ARRIVES)
		pass_branch(infer, entry, insn);
	else if (first == end)
		return;
	else if (insn->kind == EXEC_REGISTER || insn->kind == EXEC_IMMEDIATE)
		invert_integer(infer, insn, infer->value[first]);
	else if (insn->kind == EXEC_FLOAT)
		invert_float(infer, insn, infer->value[first]);
}
