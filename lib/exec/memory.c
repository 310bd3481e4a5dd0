// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Instructions that access memory. What an instruction reads is read before it changes anything, so
 * that a fault has no effect. A load from an unknown address is unknown; a store to one is told by its
 * flag, and the caller forgets what it must.
 */
#include "state.h"

struct ntrace_exec_value exec_add_immediate(const struct ntrace_exec *exec,
					    const struct exec_insn *insn, unsigned int number)
{
	const struct exec_insn add = { .operate = exec_add,
				       .rule = EXEC_RULE_ADD,
				       .bits = exec->config.isa.xlen };
	struct ntrace_exec_value imm = { (uint64_t)insn->imm, UINT64_MAX };

	return exec_operate(&add, exec->x[number], imm, false);
}

/* Return: whether the address is known, which is then in @effects */
static bool find_address(const struct ntrace_exec *exec, const struct exec_insn *insn,
			 struct ntrace_exec_effects *effects)
{
	const struct ntrace_exec_value *base = &exec->x[insn->rs1];
	struct ntrace_exec_value address;

	effects->bytes = insn->bytes;
	effects->address_known = base->known == exec->xlen_mask;
	if (effects->address_known) {
		effects->address = (base->bits + (uint64_t)insn->imm) & exec->xlen_mask;
		return true;
	}
	address = exec_add_immediate(exec, insn, insn->rs1);
	effects->address = address.bits & exec->xlen_mask;
	effects->span = exec->xlen_mask & ~address.known;
	return false;
}

static int read_memory(const struct ntrace_exec *exec, uint64_t address, unsigned int bytes,
		       struct ntrace_exec_value *value)
{
	int error = 0;

	*value = (struct ntrace_exec_value){ 0, 0 };
	if (exec->config.read)
		error = exec->config.read(exec->config.user, address, bytes, value);
	value->known &= exec_low_bits(bytes);
	value->bits &= value->known;
	return error;
}

/* The low @bytes bytes of @value. */
static struct ntrace_exec_value cut(struct ntrace_exec_value value, unsigned int bytes)
{
	value.known &= exec_low_bits(bytes);
	value.bits &= value.known;
	return value;
}

static int write_memory(const struct ntrace_exec *exec, uint64_t address, unsigned int bytes,
			const struct ntrace_exec_value *value)
{
	if (!exec->config.write)
		return 0;
	return exec->config.write(exec->config.user, address, bytes, value);
}

static int load(struct ntrace_exec *exec, const struct exec_insn *insn,
		struct ntrace_exec_effects *effects)
{
	struct ntrace_exec_value value = { 0, 0 };
	int error = 0;

	effects->flags |= NTRACE_EXEC_LOADS;
	if (find_address(exec, insn, effects))
		error = read_memory(exec, effects->address, insn->bytes, &value);
	if (error)
		return error;
	if (insn->kind == EXEC_LOAD_FLOAT)
		exec_write_f(exec, effects, insn->rd, value, insn->bytes);
	else
		exec_write_x(exec, effects, insn->rd,
			     exec_extend(value, insn->bytes, insn->zero_extend));
	return 0;
}

static int store(struct ntrace_exec *exec, const struct exec_insn *insn,
		 struct ntrace_exec_effects *effects)
{
	effects->flags |= NTRACE_EXEC_STORES;
	effects->value =
		cut(insn->kind == EXEC_STORE_FLOAT ? exec->f[insn->rs2] : exec->x[insn->rs2],
		    insn->bytes);
	if (!find_address(exec, insn, effects)) {
		effects->flags |= NTRACE_EXEC_STORES_ANYWHERE;
		return 0;
	}
	return write_memory(exec, effects->address, insn->bytes, &effects->value);
}

static int store_conditional(struct ntrace_exec *exec, const struct exec_insn *insn,
			     struct ntrace_exec_effects *effects)
{
	effects->flags |= NTRACE_EXEC_STORES_MAYBE;
	effects->value = cut(exec->x[insn->rs2], insn->bytes);
	if (!find_address(exec, insn, effects))
		effects->flags |= NTRACE_EXEC_STORES_ANYWHERE;
	exec_write_x(exec, effects, insn->rd, (struct ntrace_exec_value){ 0, 0 });
	return 0;
}

static int atomic(struct ntrace_exec *exec, const struct exec_insn *insn,
		  struct ntrace_exec_effects *effects)
{
	struct ntrace_exec_value old = { 0, 0 }, operand = exec->x[insn->rs2];
	bool found = find_address(exec, insn, effects);
	int error = 0;

	effects->flags |= NTRACE_EXEC_LOADS | NTRACE_EXEC_STORES;
	if (found)
		error = read_memory(exec, effects->address, insn->bytes, &old);
	else
		effects->flags |= NTRACE_EXEC_STORES_ANYWHERE;
	if (error)
		return error;
	effects->value = cut(exec_operate(insn, old, operand, false), insn->bytes);
	if (found)
		error = write_memory(exec, effects->address, insn->bytes, &effects->value);
	if (!error)
		exec_write_x(exec, effects, insn->rd, exec_extend(old, insn->bytes, false));
	return error;
}

/* amocas: stores if memory has the value of rd */
static int compare_and_swap(struct ntrace_exec *exec, const struct exec_insn *insn,
			    struct ntrace_exec_effects *effects)
{
	struct ntrace_exec_value old = { 0, 0 }, expected = cut(exec->x[insn->rd], insn->bytes);
	bool found = find_address(exec, insn, effects);
	int error = 0, equal;

	effects->flags |= NTRACE_EXEC_LOADS;
	effects->value = cut(exec->x[insn->rs2], insn->bytes);
	if (found)
		error = read_memory(exec, effects->address, insn->bytes, &old);
	if (error)
		return error;
	equal = exec_branch(0, old, expected, 8u * insn->bytes, false);
	if (equal && !found)
		effects->flags |= NTRACE_EXEC_STORES_ANYWHERE;
	if (equal < 0)
		effects->flags |= NTRACE_EXEC_STORES_MAYBE;
	else if (equal)
		effects->flags |= NTRACE_EXEC_STORES;
	if (equal == 1)
		error = write_memory(exec, effects->address, insn->bytes, &effects->value);
	if (!error)
		exec_write_x(exec, effects, insn->rd, exec_extend(old, insn->bytes, false));
	return error;
}

/* The lowest address of a push or pop, whose registers are below the higher sp, the last one on top. */
static bool find_frame(const struct ntrace_exec *exec, const struct exec_insn *insn,
		       struct ntrace_exec_effects *effects)
{
	unsigned int bytes = (unsigned int)__builtin_popcount(insn->registers) * insn->bytes;
	bool found = find_address(exec, insn, effects);

	effects->bytes = (uint16_t)bytes;
	if (insn->kind == EXEC_PUSH)
		effects->address -= (uint64_t)insn->imm;
	effects->address = (effects->address - bytes) & exec->xlen_mask;
	if (!found) {
		effects->address = 0;
		effects->span = exec->xlen_mask;
	}
	return found;
}

static int push(struct ntrace_exec *exec, const struct exec_insn *insn,
		struct ntrace_exec_effects *effects)
{
	bool found = find_frame(exec, insn, effects);
	uint64_t address = effects->address;
	int error = 0;

	effects->flags |= NTRACE_EXEC_STORES;
	if (!found)
		effects->flags |= NTRACE_EXEC_STORES_ANYWHERE;
	for (uint32_t left = found ? insn->registers : 0; left && !error; left &= left - 1) {
		struct ntrace_exec_value value = exec->x[__builtin_ctz(left)];

		error = write_memory(exec, address, insn->bytes, &value);
		address = (address + insn->bytes) & exec->xlen_mask;
	}
	if (!error)
		exec_write_x(exec, effects, 2, exec_add_immediate(exec, insn, 2));
	return error;
}

static int pop(struct ntrace_exec *exec, const struct exec_insn *insn,
	       struct ntrace_exec_effects *effects)
{
	struct ntrace_exec_value values[32] = { 0 };
	bool found = find_frame(exec, insn, effects);
	uint64_t address = effects->address;

	effects->flags |= NTRACE_EXEC_LOADS;
	for (uint32_t left = found ? insn->registers : 0; left; left &= left - 1) {
		int error = read_memory(exec, address, insn->bytes, &values[__builtin_ctz(left)]);

		if (error)
			return error;
		address = (address + insn->bytes) & exec->xlen_mask;
	}
	exec_write_x(exec, effects, 2, exec_add_immediate(exec, insn, 2));
	for (uint32_t left = insn->registers; left; left &= left - 1)
		exec_write_x(exec, effects, (unsigned int)__builtin_ctz(left),
			     values[__builtin_ctz(left)]);
	if (insn->arg == EXEC_POP_RETURN_ZERO)
		exec_write_x(exec, effects, 10, (struct ntrace_exec_value){ 0, UINT64_MAX });
	if (insn->arg != EXEC_POP_ONLY) {
		effects->next_known = exec->x[1].known == exec->xlen_mask;
		effects->next_pc = exec->x[1].bits & ~UINT64_C(1);
	}
	return 0;
}

/* cbo.zero: a block whose size the encoding does not tell; a vector of unknown length */
static void store_somewhere(struct ntrace_exec_effects *effects)
{
	effects->flags |= NTRACE_EXEC_STORES | NTRACE_EXEC_STORES_ANYWHERE;
}

int exec_step_memory(struct ntrace_exec *exec, const struct exec_insn *insn,
		     struct ntrace_exec_effects *effects)
{
	switch (insn->kind) {
	case EXEC_LOAD:
	case EXEC_LOAD_FLOAT:
	case EXEC_LR:
		return load(exec, insn, effects);
	case EXEC_STORE:
	case EXEC_STORE_FLOAT:
		return store(exec, insn, effects);
	case EXEC_SC:
		return store_conditional(exec, insn, effects);
	case EXEC_AMO:
		return atomic(exec, insn, effects);
	case EXEC_CAS:
		return compare_and_swap(exec, insn, effects);
	case EXEC_PUSH:
		return push(exec, insn, effects);
	case EXEC_POP:
		return pop(exec, insn, effects);
	case EXEC_VECTOR_LOAD:
		effects->flags |= NTRACE_EXEC_LOADS | NTRACE_EXEC_VECTOR;
		return 0;
	case EXEC_VECTOR_STORE:
		effects->flags |= NTRACE_EXEC_VECTOR;
		store_somewhere(effects);
		return 0;
	default:
		store_somewhere(effects);
		return 0;
	}
}
