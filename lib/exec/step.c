// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* One step of the executor: decodes the instruction, or finds it decoded, and has its effects. */
#include <stdlib.h>
#include <string.h>

#include "state.h"
#include "struct_size.h"

int ntrace_exec_new(struct ntrace_exec **result, const struct ntrace_exec_config *callers)
{
	struct ntrace_exec_config config = { .size = sizeof(config) };
	struct ntrace_exec *exec;

	if (STRUCT_TAKE(&config, callers) || (config.isa.xlen != 32 && config.isa.xlen != 64) ||
	    (config.flen && config.flen != 32 && config.flen != 64))
		return NTRACE_ERR_INVALID;
	exec = calloc(1, sizeof(*exec));
	if (!exec)
		return NTRACE_ERR_NOMEM;
	exec->config = config;
	exec->xlen_mask = config.isa.xlen == 32 ? UINT32_MAX : UINT64_MAX;
	exec->flen_mask = config.flen == 64 ? UINT64_MAX : config.flen ? UINT32_MAX : 0;
	exec->x[0].known = exec->xlen_mask;
	*result = exec;
	return 0;
}

void ntrace_exec_free(struct ntrace_exec *exec)
{
	free(exec);
}

static const struct exec_insn *find_insn(struct ntrace_exec *exec, uint32_t word)
{
	struct exec_insn *insn;

	if ((word & 3) != 3)
		word &= 0xffff;
	insn = &exec->cache[(word * 0x9e3779b1u) >> 21 & (EXEC_CACHE - 1)];
	/* An entry that is not used yet is right for 0, which is illegal. */
	if (insn->word != word)
		exec_decode(&exec->config.isa, exec->config.flen, word, insn);
	return insn;
}

static void branch(struct ntrace_exec *exec, const struct exec_insn *insn, uint64_t pc,
		   struct ntrace_exec_effects *effects)
{
	int taken = exec_branch(insn->arg, exec->x[insn->rs1], exec->x[insn->rs2],
				exec->config.isa.xlen, insn->rs1 == insn->rs2);

	if (taken > 0)
		effects->next_pc = (pc + (uint64_t)insn->imm) & exec->xlen_mask;
	effects->next_known = taken >= 0;
}

static void jump_register(struct ntrace_exec *exec, const struct exec_insn *insn,
			  struct ntrace_exec_effects *effects)
{
	struct ntrace_exec_value link = { effects->next_pc, UINT64_MAX };
	const struct ntrace_exec_value *base = &exec->x[insn->rs1];

	effects->next_known = base->known == exec->xlen_mask;
	effects->next_pc = (base->bits + (uint64_t)insn->imm) & exec->xlen_mask & ~UINT64_C(1);
	exec_write_x(exec, effects, insn->rd, link);
}

/* vset*, vmv.x.s and its kind, vfmv.f.s: a register that is not one of V */
static void vector(struct ntrace_exec *exec, const struct exec_insn *insn,
		   struct ntrace_exec_effects *effects)
{
	unsigned int funct3 = exec_bits(insn->word, 14, 12);
	unsigned int funct6 = exec_bits(insn->word, 31, 26);
	struct ntrace_exec_value unknown = { 0, 0 };

	effects->flags |= NTRACE_EXEC_VECTOR;
	if (funct3 == 7 || (funct3 == 2 && funct6 == 0x10))
		exec_write_x(exec, effects, insn->rd, unknown);
	if (funct3 == 1 && funct6 == 0x10 && exec->flen_mask)
		exec_write_f(exec, effects, insn->rd, unknown, exec->config.flen / 8);
	if (funct3 == 1 || funct3 == 5)
		exec->flags_known &= exec->flags;
}

static void move_pair(struct ntrace_exec *exec, const struct exec_insn *insn,
		      struct ntrace_exec_effects *effects)
{
	struct ntrace_exec_value first = exec->x[insn->arg ? insn->rd : 10];
	struct ntrace_exec_value second = exec->x[insn->arg ? insn->rs3 : 11];

	exec_write_x(exec, effects, insn->arg ? 10 : insn->rd, first);
	exec_write_x(exec, effects, insn->arg ? 11 : insn->rs3, second);
}

int ntrace_exec_step(struct ntrace_exec *exec, uint32_t word, uint64_t pc,
		     struct ntrace_exec_effects *effects)
{
	const struct exec_insn *insn = find_insn(exec, word);
	struct ntrace_exec_value value = { (uint64_t)insn->imm, UINT64_MAX };

	memset(effects, 0, sizeof(*effects));
	effects->size = insn->size;
	effects->next_pc = (pc + insn->size) & exec->xlen_mask;
	effects->next_known = true;
	switch (insn->kind) {
	case EXEC_UNSUPPORTED:
		effects->next_known = false;
		return NTRACE_ERR_UNSUPPORTED;
	case EXEC_NOP:
		return 0;
	case EXEC_REGISTER:
		exec_write_x(exec, effects, insn->rd,
			     exec_operate(insn, exec->x[insn->rs1], exec->x[insn->rs2],
					  insn->rs1 == insn->rs2));
		return 0;
	case EXEC_IMMEDIATE:
		exec_write_x(exec, effects, insn->rd,
			     exec_operate(insn, exec->x[insn->rs1], value, false));
		return 0;
	case EXEC_UPPER_PC:
		value.bits += pc;
		exec_write_x(exec, effects, insn->rd, value);
		return 0;
	case EXEC_UPPER:
		exec_write_x(exec, effects, insn->rd, value);
		return 0;
	case EXEC_JUMP:
		value.bits = effects->next_pc;
		effects->next_pc = (pc + (uint64_t)insn->imm) & exec->xlen_mask;
		exec_write_x(exec, effects, insn->rd, value);
		return 0;
	case EXEC_JUMP_REGISTER:
		jump_register(exec, insn, effects);
		return 0;
	case EXEC_BRANCH:
		branch(exec, insn, pc, effects);
		return 0;
	case EXEC_TRAP:
	case EXEC_TRAP_RETURN:
		effects->flags |= insn->kind == EXEC_TRAP ? NTRACE_EXEC_TRAPS :
							    NTRACE_EXEC_TRAP_RETURN;
		effects->next_known = false;
		return 0;
	case EXEC_CSR:
		return exec_step_csr(exec, insn, effects);
	case EXEC_FLOAT:
		return exec_step_float(exec, insn, effects);
	case EXEC_VECTOR:
		vector(exec, insn, effects);
		return 0;
	case EXEC_MOVE_PAIR:
		move_pair(exec, insn, effects);
		return 0;
	default:
		return exec_step_memory(exec, insn, effects);
	}
}

static uint64_t float_reads(const struct exec_insn *insn)
{
	uint64_t x1 = UINT64_C(1) << insn->rs1, x2 = UINT64_C(1) << insn->rs2;
	uint64_t f1 = x1 << 32, f2 = x2 << 32, f3 = UINT64_C(1) << (32 + insn->rs3);

	switch (insn->arg) {
	case EXEC_FLI:
		return 0;
	case EXEC_FCVT_FROM_INT:
	case EXEC_FMV_FROM_X:
		return x1;
	case EXEC_FMVP_FROM_X:
		return x1 | x2;
	case EXEC_FMADD:
	case EXEC_FMSUB:
	case EXEC_FNMSUB:
	case EXEC_FNMADD:
		return f1 | f2 | f3;
	case EXEC_FSQRT:
	case EXEC_FCLASS:
	case EXEC_FCVT_TO_INT:
	case EXEC_FCVT_FLOAT:
	case EXEC_FROUND:
	case EXEC_FROUNDNX:
	case EXEC_FCVTMOD:
	case EXEC_FMV_TO_X:
	case EXEC_FMVH_TO_X:
		return f1;
	default:
		return f1 | f2;
	}
}

uint64_t ntrace_exec_reads(struct ntrace_exec *exec, uint32_t word)
{
	const struct exec_insn *insn = find_insn(exec, word);
	uint64_t x1 = UINT64_C(1) << insn->rs1, x2 = UINT64_C(1) << insn->rs2, reads = 0;

	switch (insn->kind) {
	case EXEC_REGISTER:
	case EXEC_BRANCH:
	case EXEC_STORE:
	case EXEC_SC:
	case EXEC_AMO:
		reads = x1 | x2;
		break;
	case EXEC_CAS:
		reads = x1 | x2 | UINT64_C(1) << insn->rd;
		break;
	case EXEC_STORE_FLOAT:
		reads = x1 | x2 << 32;
		break;
	case EXEC_IMMEDIATE:
	case EXEC_JUMP_REGISTER:
	case EXEC_LOAD:
	case EXEC_LOAD_FLOAT:
	case EXEC_LR:
	case EXEC_BLOCK_ZERO:
	case EXEC_VECTOR_LOAD:
	case EXEC_VECTOR_STORE:
		reads = x1;
		break;
	case EXEC_CSR:
		/* The immediate forms have a number there. */
		reads = insn->arg < 4 ? x1 : 0;
		break;
	case EXEC_FLOAT:
		reads = float_reads(insn);
		break;
	case EXEC_PUSH:
		reads = insn->registers | UINT64_C(1) << 2;
		break;
	case EXEC_POP:
		reads = UINT64_C(1) << 2;
		break;
	case EXEC_MOVE_PAIR:
		reads = insn->arg ? UINT64_C(1) << insn->rd | UINT64_C(1) << insn->rs3 :
				    UINT64_C(1) << 10 | UINT64_C(1) << 11;
		break;
	default:
		break;
	}
	return reads & ~UINT64_C(1);
}

/* What two values have that are equal. */
static void join(struct ntrace_exec *exec, unsigned int number,
		 const struct ntrace_exec_value *other)
{
	struct ntrace_exec_value *value = &exec->x[number];

	value->bits |= other->bits;
	value->known |= other->known;
	if (!number)
		*value = (struct ntrace_exec_value){ 0, exec->xlen_mask };
}

/* An unsigned value of at most @most: its upper bits are 0. */
static void limit(struct ntrace_exec *exec, unsigned int number, uint64_t most)
{
	if (number)
		exec->x[number].known |= exec_common_bits(0, most) & exec->xlen_mask;
}

static void learn_branch(struct ntrace_exec *exec, const struct exec_insn *insn, bool taken)
{
	const struct ntrace_exec_value *a = &exec->x[insn->rs1], *b = &exec->x[insn->rs2];
	uint64_t most_a = a->bits | (exec->xlen_mask & ~a->known);
	uint64_t most_b = b->bits | (exec->xlen_mask & ~b->known);

	switch (insn->arg) {
	case 0:
	case 1:
		if (taken == !insn->arg) {
			join(exec, insn->rs1, b);
			join(exec, insn->rs2, a);
		}
		break;
	case 6:
	case 7:
		/* a < b, or a >= b */
		if (taken == (insn->arg == 6))
			limit(exec, insn->rs1, most_b - 1);
		else
			limit(exec, insn->rs2, most_a);
		break;
	default:
		break;
	}
}

void ntrace_exec_arrive(struct ntrace_exec *exec, uint32_t word, uint64_t pc, uint64_t next_pc)
{
	const struct exec_insn *insn = find_insn(exec, word);
	struct ntrace_exec_value *base = &exec->x[insn->rs1];

	/* A jump drops bit 0 of the sum. */
	if (insn->kind == EXEC_JUMP_REGISTER && insn->rs1 && insn->rs1 != insn->rd &&
	    base->known != exec->xlen_mask && !(insn->imm & 1)) {
		base->known = (exec->xlen_mask & ~UINT64_C(1)) | (base->known & 1);
		base->bits = ((next_pc - (uint64_t)insn->imm) & base->known & ~UINT64_C(1)) |
			     (base->bits & 1);
	}
	/* A branch to the next instruction tells nothing. */
	if (insn->kind == EXEC_BRANCH && insn->imm != insn->size)
		learn_branch(exec, insn, next_pc == ((pc + (uint64_t)insn->imm) & exec->xlen_mask));
}
