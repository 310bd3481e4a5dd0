// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Decodes instructions for the executor, in this order: push and pop (Zcmp), whose encodings lib/isa
 * shares between extensions; what lib/isa says of control transfers, lui and auipc; the table.
 */
#include <string.h>

#include <ntrace/error.h>

#include "decode.h"

static int32_t sign_extend(uint32_t value, unsigned int width)
{
	return (int32_t)(value << (32 - width)) >> (32 - width);
}

/* s0 to s7, by three bits. */
static uint8_t saved_register(uint32_t number)
{
	return (uint8_t)(number < 2 ? 8 + number : 16 + number);
}

/* cm.push, cm.pop, cm.popretz, cm.popret: list 4 is ra, each further one has one more of s0 to s11. */
static void decode_push(const struct ntrace_isa *isa, uint32_t half, struct exec_insn *insn)
{
	uint32_t list = exec_bits(half, 7, 4), registers = 1u << 1, count = list - 3;
	int32_t adjustment;

	if (list < 4 || (isa->embedded && list > 6))
		return;
	if (list == 15)
		count = 13;	/* s10 comes with s11 */
	for (uint32_t i = 0; i + 1 < count; i++)
		registers |= 1u << (i < 2 ? 8 + i : 16 + i);
	insn->bytes = isa->xlen / 8;
	adjustment = (int32_t)((count * insn->bytes + 15) / 16 * 16 + exec_bits(half, 3, 2) * 16);
	insn->registers = registers;
	insn->rs1 = 2;
	insn->kind = (half & 0xff00) == 0xb800 ? EXEC_PUSH : EXEC_POP;
	insn->imm = adjustment;
	if (insn->kind == EXEC_PUSH)
		insn->imm = -adjustment;
	else if ((half & 0xff00) == 0xbc00)
		insn->arg = EXEC_POP_RETURN_ZERO;
	else if ((half & 0xff00) == 0xbe00)
		insn->arg = EXEC_POP_RETURN;
}

/* Return: whether the encoding is one of Zcmp */
static bool decode_push_pop(const struct ntrace_isa *isa, uint32_t half, struct exec_insn *insn)
{
	if (!isa->push_pop || (half & 0xe003) != 0xa002)
		return false;
	switch (half & 0xff03) {
	case 0xb802:
	case 0xba02:
	case 0xbc02:
	case 0xbe02:
		decode_push(isa, half, insn);
		return true;
	default:
		break;
	}
	if ((half & 0xfc23) != 0xac22)
		return !isa->table_jumps || (half & 0xfc03) != 0xa002;
	/* cm.mvsa01, cm.mva01s */
	insn->rd = saved_register(exec_bits(half, 9, 7));
	insn->rs3 = saved_register(exec_bits(half, 4, 2));
	insn->arg = (uint8_t)exec_bits(half, 6, 6);
	if (insn->arg || insn->rd != insn->rs3)
		insn->kind = EXEC_MOVE_PAIR;
	return true;
}

/* Return: whether lib/isa knows all of the instruction */
static bool decode_transfer(const struct ntrace_insn *info, uint32_t word, struct exec_insn *insn)
{
	switch (info->insn_class) {
	case NTRACE_INSN_BRANCH:
		insn->kind = EXEC_BRANCH;
		insn->imm = (int32_t)info->target;
		insn->rs1 = (uint8_t)exec_bits(word, 19, 15);
		insn->rs2 = (uint8_t)exec_bits(word, 24, 20);
		insn->arg = (uint8_t)exec_bits(word, 14, 12);
		if (info->size == 4)
			return true;
		insn->rs1 = (uint8_t)(8 + exec_bits(word, 9, 7));
		insn->rs2 = 0;
		insn->arg = (uint8_t)exec_bits(word, 13, 13);
		return true;
	case NTRACE_INSN_JUMP:
	case NTRACE_INSN_CALL:
	case NTRACE_INSN_OTHER_JUMP:
		if (info->table_jump)
			return true;
		insn->kind = EXEC_JUMP;
		insn->imm = (int32_t)info->target;
		insn->rd = info->size == 4 ? (uint8_t)exec_bits(word, 11, 7) :
					     info->insn_class == NTRACE_INSN_CALL;
		return true;
	case NTRACE_INSN_INDIRECT_JUMP:
	case NTRACE_INSN_INDIRECT_CALL:
	case NTRACE_INSN_OTHER_INDIRECT_JUMP:
	case NTRACE_INSN_RETURN:
	case NTRACE_INSN_COROUTINE_SWAP:
		insn->kind = EXEC_JUMP_REGISTER;
		insn->imm = (int32_t)info->value;
		insn->rs1 = info->rs1;
		insn->rd = (uint8_t)(info->size == 4 ? exec_bits(word, 11, 7) :
						       exec_bits(word, 12, 12));
		return true;
	case NTRACE_INSN_TRAP:
		insn->kind = EXEC_TRAP;
		return true;
	case NTRACE_INSN_TRAP_RETURN:
		insn->kind = EXEC_TRAP_RETURN;
		return true;
	default:
		break;
	}
	if (!info->upper_rd)
		return false;
	insn->kind = info->size == 4 && (word & 0x7f) == 0x17 ? EXEC_UPPER_PC : EXEC_UPPER;
	insn->imm = (int32_t)info->value;
	insn->rd = info->upper_rd;
	return true;
}

/* What the row's kind needs of the encoding. */
static void decode_operands(uint32_t word, struct exec_insn *insn)
{
	unsigned int funct3 = exec_bits(word, 14, 12);

	insn->imm = sign_extend(exec_bits(word, 31, 20), 12);
	insn->bytes = (uint8_t)(1u << (funct3 & 3));
	switch (insn->kind) {
	case EXEC_IMMEDIATE:
		if (insn->arg == 1 && insn->bits == 32 && (word >> 25 & 1))
			insn->kind = EXEC_UNSUPPORTED;
		if (insn->arg)
			insn->imm = insn->arg == 1 ? (int32_t)exec_bits(word, 25, 20) : 0;
		insn->bytes = 0;
		break;
	case EXEC_LOAD:
		insn->zero_extend = funct3 & 4;
		break;
	case EXEC_STORE:
	case EXEC_STORE_FLOAT:
		insn->imm = sign_extend(exec_bits(word, 31, 25) << 5 | exec_bits(word, 11, 7), 12);
		break;
	case EXEC_LR:
	case EXEC_SC:
	case EXEC_AMO:
	case EXEC_CAS:
		insn->imm = 0;
		break;
	case EXEC_LOAD_FLOAT:
		break;
	case EXEC_FLOAT:
		insn->bytes = word >> 25 & 1 ? 8 : 4;
		break;
	case EXEC_CSR:
		insn->imm &= 0xfff;
		insn->bytes = 0;
		break;
	default:
		insn->bytes = 0;
		break;
	}
}

static void decode_row(uint32_t word, const struct ntrace_isa *isa, unsigned int flen,
		       struct exec_insn *insn)
{
	const struct exec_row *row = exec_find(word, isa->xlen);

	if (!row)
		return;
	insn->kind = row->kind;
	insn->rule = row->rule;
	insn->arg = row->arg;
	insn->operate = row->operate;
	insn->bits = row->bits ? row->bits : isa->xlen;
	insn->rd = (uint8_t)exec_bits(word, 11, 7);
	insn->rs1 = (uint8_t)exec_bits(word, 19, 15);
	insn->rs2 = (uint8_t)exec_bits(word, 24, 20);
	insn->rs3 = (uint8_t)exec_bits(word, 31, 27);
	insn->rm = (uint8_t)exec_bits(word, 14, 12);
	decode_operands(word, insn);
	if ((insn->kind == EXEC_FLOAT || insn->kind == EXEC_LOAD_FLOAT ||
	     insn->kind == EXEC_STORE_FLOAT) &&
	    (insn->bytes * 8u > flen ||
	     (insn->arg == EXEC_FCVT_FLOAT && flen != 64 && insn->kind == EXEC_FLOAT)))
		insn->kind = EXEC_UNSUPPORTED;
}

void exec_decode(const struct ntrace_isa *isa, unsigned int flen, uint32_t word,
		 struct exec_insn *insn)
{
	uint8_t bytes[4] = { (uint8_t)word, (uint8_t)(word >> 8), (uint8_t)(word >> 16),
			     (uint8_t)(word >> 24) };
	struct ntrace_insn info;
	int error = ntrace_insn_decode(isa, bytes, sizeof(bytes), 0, &info);

	memset(insn, 0, sizeof(*insn));
	insn->word = word;
	insn->size = info.size;
	if (error)
		return;
	if (info.size == 2) {
		word &= 0xffff;
		if (decode_push_pop(isa, word, insn))
			return;
	}
	if (info.size > 4 || decode_transfer(&info, word, insn))
		return;
	if (info.size == 2 && (word & 0xe003) == 0x6001 && exec_bits(word, 11, 7) == 0) {
		/* c.lui of x0: a hint */
		insn->kind = EXEC_NOP;
		return;
	}
	if (info.size == 4 && ((word & 0x7f) == 0x37 || (word & 0x7f) == 0x17)) {
		insn->kind = EXEC_NOP;
		return;
	}
	if (info.size == 2)
		word = exec_expand(word, isa->xlen);
	if (word)
		decode_row(word, isa, flen, insn);
	insn->word = info.size == 2 ? insn->word & 0xffff : insn->word;
}

bool exec_is_sequential(const struct exec_insn *insn)
{
	switch (insn->kind) {
	case EXEC_UNSUPPORTED:
	case EXEC_JUMP:
	case EXEC_JUMP_REGISTER:
	case EXEC_BRANCH:
	case EXEC_TRAP:
	case EXEC_TRAP_RETURN:
	case EXEC_POP:
		return false;
	default:
		return true;
	}
}
