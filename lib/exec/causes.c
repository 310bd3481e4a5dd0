// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* The exceptions that instructions can raise (Privileged Architecture 1.12, 3.1.15). */
#include "decode.h"
#include "integer.h"

bool exec_is_base(const struct exec_insn *insn)
{
	static const exec_operation base[] = { exec_add, exec_sub, exec_slt, exec_sltu, exec_xor,
					       exec_or,	 exec_and, exec_sll, exec_srl,	exec_sra };

	switch (insn->kind) {
	case EXEC_REGISTER:
	case EXEC_IMMEDIATE:
		for (unsigned int i = 0; i < sizeof(base) / sizeof(base[0]); i++)
			if (insn->operate == base[i])
				return true;
		return false;
	case EXEC_UPPER:
	case EXEC_UPPER_PC:
	case EXEC_JUMP:
	case EXEC_JUMP_REGISTER:
	case EXEC_BRANCH:
	case EXEC_LOAD:
	case EXEC_STORE:
		return true;
	default:
		return false;
	}
}

static bool loads(unsigned int kind)
{
	return kind == EXEC_LOAD || kind == EXEC_LOAD_FLOAT || kind == EXEC_LR ||
	       kind == EXEC_POP || kind == EXEC_VECTOR_LOAD || kind == EXEC_NOP ||
	       kind == EXEC_UNSUPPORTED;
}

/* Atomics raise exceptions of stores alone. */
static bool stores(unsigned int kind)
{
	return kind == EXEC_STORE || kind == EXEC_STORE_FLOAT ||
	       (kind >= EXEC_SC && kind <= EXEC_CAS) || kind == EXEC_PUSH ||
	       kind == EXEC_VECTOR_STORE || kind == EXEC_BLOCK_ZERO || kind == EXEC_NOP ||
	       kind == EXEC_UNSUPPORTED;
}

bool exec_can_raise(const struct exec_insn *insn, uint64_t cause)
{
	switch (cause) {
	case 0:
		return insn->kind == EXEC_JUMP || insn->kind == EXEC_JUMP_REGISTER ||
		       insn->kind == EXEC_BRANCH;
	case 2:
		return !exec_is_base(insn) || insn->size != 4;
	case 4:
	case 5:
	case 13:
	case 21:
		return loads(insn->kind);
	case 6:
	case 7:
	case 15:
	case 23:
		return stores(insn->kind);
	case 8:
	case 9:
	case 10:
	case 11:
		return insn->kind == EXEC_TRAP;
	case 22:
		return insn->kind == EXEC_CSR || insn->kind == EXEC_NOP ||
		       insn->kind == EXEC_TRAP_RETURN || insn->kind == EXEC_UNSUPPORTED;
	case 1: /* fetches, triggers, double traps, hardware errors */
	case 3:
	case 12:
	case 16:
	case 18:
	case 19:
	case 20:
		return true;
	default:
		return cause >= 24;
	}
}
