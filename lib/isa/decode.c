// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Classification of instructions (E-Trace, chapter 4, itype).
 *
 * Only instructions that change control flow have a class of their own. All others are plain,
 * including unknown extensions.
 */
#include <string.h>

#include <ntrace/isa.h>

/* Registers that the calling convention uses for return addresses. */
#define REG_X1 1
#define REG_X5 5

static inline bool is_link(unsigned int reg)
{
	return reg == REG_X1 || reg == REG_X5;
}

/* Bits high..low of @word. */
static inline uint32_t bits(uint32_t word, unsigned int high, unsigned int low)
{
	return word >> low & ((1u << (high - low + 1)) - 1);
}

/* Bit @from of @word, moved to bit @to. */
static inline uint32_t bit(uint32_t word, unsigned int from, unsigned int to)
{
	return (word >> from & 1) << to;
}

static inline uint64_t sign_extend(uint64_t value, unsigned int width)
{
	uint64_t sign = UINT64_C(1) << (width - 1);

	return (value ^ sign) - sign;
}

static inline uint64_t wrap(const struct ntrace_isa *isa, uint64_t value)
{
	return isa->xlen == 32 ? value & 0xffffffff : value;
}

static void set_direct(const struct ntrace_isa *isa, struct ntrace_insn *insn,
		       enum ntrace_insn_class kind, uint64_t target)
{
	insn->insn_class = (uint8_t)kind;
	insn->target = wrap(isa, target);
}

/* Registers named by an encoding: RV32E and RV64E have only half of them. */
static bool exists(const struct ntrace_isa *isa, unsigned int reg)
{
	return reg < 16 || !isa->embedded;
}

/* LUI, C.LUI, AUIPC */
static void set_upper(const struct ntrace_isa *isa, struct ntrace_insn *insn, unsigned int rd,
		      uint64_t value)
{
	insn->upper_rd = (uint8_t)rd;
	insn->value = rd ? wrap(isa, value) : 0;
}

static enum ntrace_insn_class jal_class(unsigned int rd)
{
	if (is_link(rd))
		return NTRACE_INSN_CALL;
	return rd ? NTRACE_INSN_OTHER_JUMP : NTRACE_INSN_JUMP;
}

static enum ntrace_insn_class jalr_class(unsigned int rd, unsigned int rs1)
{
	if (is_link(rd)) {
		if (is_link(rs1) && rd != rs1)
			return NTRACE_INSN_COROUTINE_SWAP;
		return NTRACE_INSN_INDIRECT_CALL;
	}
	if (is_link(rs1))
		return NTRACE_INSN_RETURN;
	return rd ? NTRACE_INSN_OTHER_INDIRECT_JUMP : NTRACE_INSN_INDIRECT_JUMP;
}

static void set_jalr(struct ntrace_insn *insn, unsigned int rd, unsigned int rs1, uint64_t offset)
{
	insn->insn_class = (uint8_t)jalr_class(rd, rs1);
	insn->rs1 = (uint8_t)rs1;
	insn->value = offset;
}

static uint64_t branch_offset(uint32_t word)
{
	return sign_extend(bit(word, 31, 12) | bit(word, 7, 11) | bits(word, 30, 25) << 5 |
				   bits(word, 11, 8) << 1,
			   13);
}

static uint64_t jal_offset(uint32_t word)
{
	return sign_extend(bit(word, 31, 20) | bits(word, 19, 12) << 12 | bit(word, 20, 11) |
				   bits(word, 30, 21) << 1,
			   21);
}

static enum ntrace_insn_class system_class(uint32_t word)
{
	switch (word) {
	case 0x00000073:	/* ECALL */
	case 0x00100073:	/* EBREAK */
		return NTRACE_INSN_TRAP;
	case 0x00200073:	/* URET */
	case 0x10200073:	/* SRET */
	case 0x30200073:	/* MRET */
	case 0x70200073:	/* MNRET */
		return NTRACE_INSN_TRAP_RETURN;
	default:
		return NTRACE_INSN_PLAIN;
	}
}

static void decode32(const struct ntrace_isa *isa, uint32_t word, uint64_t pc,
		     struct ntrace_insn *insn)
{
	unsigned int rd = bits(word, 11, 7), rs1 = bits(word, 19, 15);
	unsigned int funct3 = bits(word, 14, 12);

	switch (word & 0x7f) {
	case 0x17:	/* AUIPC */
		if (exists(isa, rd))
			set_upper(isa, insn, rd, pc + sign_extend(word & 0xfffff000, 32));
		break;
	case 0x37:	/* LUI */
		if (exists(isa, rd))
			set_upper(isa, insn, rd, sign_extend(word & 0xfffff000, 32));
		break;
	case 0x63:	/* BRANCH; 2 and 3 are reserved */
		if (funct3 != 2 && funct3 != 3 && exists(isa, rs1) &&
		    exists(isa, bits(word, 24, 20)))
			set_direct(isa, insn, NTRACE_INSN_BRANCH, pc + branch_offset(word));
		break;
	case 0x67:	/* JALR */
		if (funct3 == 0 && exists(isa, rd) && exists(isa, rs1))
			set_jalr(insn, rd, rs1, sign_extend(bits(word, 31, 20), 12));
		break;
	case 0x6f:	/* JAL */
		if (exists(isa, rd))
			set_direct(isa, insn, jal_class(rd), pc + jal_offset(word));
		break;
	case 0x73:	/* SYSTEM */
		insn->insn_class = (uint8_t)system_class(word);
		break;
	}
}

static uint64_t cj_offset(uint32_t half)
{
	return sign_extend(bit(half, 12, 11) | bit(half, 11, 4) | bits(half, 10, 9) << 8 |
				   bit(half, 8, 10) | bit(half, 7, 6) | bit(half, 6, 7) |
				   bits(half, 5, 3) << 1 | bit(half, 2, 5),
			   12);
}

static uint64_t cb_offset(uint32_t half)
{
	return sign_extend(bit(half, 12, 8) | bits(half, 11, 10) << 3 | bits(half, 6, 5) << 6 |
				   bits(half, 4, 3) << 1 | bit(half, 2, 5),
			   9);
}

static void decode_quadrant1(const struct ntrace_isa *isa, uint32_t half, uint64_t pc,
			     struct ntrace_insn *insn)
{
	unsigned int rd = bits(half, 11, 7);
	uint32_t upper;

	switch (half >> 13) {
	case 1:		/* C.JAL; on RV64 C.ADDIW */
		if (isa->xlen == 32)
			set_direct(isa, insn, NTRACE_INSN_CALL, pc + cj_offset(half));
		break;
	case 3:		/* C.LUI; rd 2 is C.ADDI16SP, immediate 0 is reserved or a C.MOP */
		upper = bit(half, 12, 17) | bits(half, 6, 2) << 12;
		if (rd != 2 && upper && exists(isa, rd))
			set_upper(isa, insn, rd, sign_extend(upper, 18));
		break;
	case 5:		/* C.J */
		set_direct(isa, insn, NTRACE_INSN_JUMP, pc + cj_offset(half));
		break;
	case 6:		/* C.BEQZ */
	case 7:		/* C.BNEZ */
		set_direct(isa, insn, NTRACE_INSN_BRANCH, pc + cb_offset(half));
		break;
	}
}

/*
 * CM.POPRET and CM.POPRETZ (Zcmp): return through ra. Register lists below 4 are reserved; without
 * x16 to x31, lists above {ra, s0-s1} are reserved too.
 */
static void decode_pop_return(const struct ntrace_isa *isa, uint32_t half, struct ntrace_insn *insn)
{
	unsigned int list = bits(half, 7, 4);

	if (list >= 4 && (list <= 6 || !isa->embedded))
		set_jalr(insn, 0, REG_X1, 0);
}

/* CM.JT and CM.JALT (Zcmt); the caller reads the target. */
static void decode_table_jump(uint32_t half, struct ntrace_insn *insn)
{
	insn->table_jump = true;
	insn->table_index = (uint8_t)bits(half, 9, 2);
	insn->insn_class = insn->table_index < 32 ? NTRACE_INSN_JUMP : NTRACE_INSN_CALL;
}

static void decode_quadrant2(const struct ntrace_isa *isa, uint32_t half, struct ntrace_insn *insn)
{
	unsigned int rs1 = bits(half, 11, 7);

	if (half == 0x9002)	/* C.EBREAK */
		insn->insn_class = NTRACE_INSN_TRAP;
	else if ((half & 0xf07f) == 0x8002 && rs1 && exists(isa, rs1))	/* C.JR */
		set_jalr(insn, 0, rs1, 0);
	else if ((half & 0xf07f) == 0x9002 && rs1 && exists(isa, rs1))	/* C.JALR */
		set_jalr(insn, REG_X1, rs1, 0);
	else if ((half & 0xfd03) == 0xbc02 && isa->push_pop)	/* CM.POPRETZ, CM.POPRET */
		decode_pop_return(isa, half, insn);
	else if ((half & 0xfc03) == 0xa002 && isa->table_jumps)	/* else C.FSDSP */
		decode_table_jump(half, insn);
}

/* Length in bytes from the lowest halfword; 0 for the reserved lengths over 64 bits. */
static unsigned int insn_size(uint32_t half)
{
	if ((half & 0x03) != 0x03)
		return 2;
	if ((half & 0x1c) != 0x1c)
		return 4;
	if ((half & 0x3f) == 0x1f)
		return 6;
	if ((half & 0x7f) == 0x3f)
		return 8;
	return 0;
}

int ntrace_insn_decode(const struct ntrace_isa *isa, const uint8_t *bytes, size_t size, uint64_t pc,
		       struct ntrace_insn *insn)
{
	uint32_t half;

	memset(insn, 0, sizeof(*insn));
	insn->xlen = isa->xlen;
	if (size < 2)
		return NTRACE_ERR_TRUNCATED;
	half = bytes[0] | (uint32_t)bytes[1] << 8;
	insn->size = (uint8_t)insn_size(half);
	if (!half || !insn->size || (insn->size == 2 && !isa->compressed))
		return NTRACE_ERR_BADINSN;
	if (size < insn->size)
		return NTRACE_ERR_TRUNCATED;
	if (insn->size == 4)
		decode32(isa, half | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24, pc, insn);
	else if ((half & 3) == 1)
		decode_quadrant1(isa, half, pc, insn);
	else if ((half & 3) == 2)
		decode_quadrant2(isa, half, insn);
	return NTRACE_OK;
}

int ntrace_insn_itype(const struct ntrace_insn *insn, bool taken, unsigned int width)
{
	static const uint8_t types[NTRACE_INSN_CLASS_COUNT] = {
		[NTRACE_INSN_PLAIN] = NTRACE_ITYPE_NONE,
		[NTRACE_INSN_BRANCH] = NTRACE_ITYPE_BRANCH_NOT_TAKEN,
		[NTRACE_INSN_JUMP] = NTRACE_ITYPE_DIRECT_JUMP,
		[NTRACE_INSN_CALL] = NTRACE_ITYPE_DIRECT_CALL,
		[NTRACE_INSN_OTHER_JUMP] = NTRACE_ITYPE_OTHER_DIRECT_JUMP,
		[NTRACE_INSN_INDIRECT_JUMP] = NTRACE_ITYPE_INDIRECT_JUMP,
		[NTRACE_INSN_INDIRECT_CALL] = NTRACE_ITYPE_INDIRECT_CALL,
		[NTRACE_INSN_OTHER_INDIRECT_JUMP] = NTRACE_ITYPE_OTHER_INDIRECT_JUMP,
		[NTRACE_INSN_RETURN] = NTRACE_ITYPE_RETURN,
		[NTRACE_INSN_COROUTINE_SWAP] = NTRACE_ITYPE_COROUTINE_SWAP,
		[NTRACE_INSN_TRAP_RETURN] = NTRACE_ITYPE_TRAP_RETURN,
		[NTRACE_INSN_TRAP] = NTRACE_ITYPE_EXCEPTION,
	};
	int type;

	if ((width != 3 && width != 4) || insn->insn_class >= NTRACE_INSN_CLASS_COUNT)
		return NTRACE_ERR_INVALID;
	type = types[insn->insn_class];
	if (type == NTRACE_ITYPE_BRANCH_NOT_TAKEN && taken)
		return NTRACE_ITYPE_BRANCH_TAKEN;
	if (width == 4 || type < NTRACE_ITYPE_INDIRECT_CALL)
		return type;
	return ntrace_insn_is_uninferable(insn->insn_class) ? NTRACE_ITYPE_INDIRECT_JUMP_3BIT :
							      NTRACE_ITYPE_NONE;
}

bool ntrace_insn_sequential_target(const struct ntrace_insn *prev, const struct ntrace_insn *insn,
				   uint64_t *target)
{
	switch (insn->insn_class) {
	case NTRACE_INSN_INDIRECT_JUMP:
	case NTRACE_INSN_INDIRECT_CALL:
	case NTRACE_INSN_OTHER_INDIRECT_JUMP:
	case NTRACE_INSN_COROUTINE_SWAP:
		break;
	default:
		return false;
	}
	if (!insn->rs1 || prev->upper_rd != insn->rs1)
		return false;
	*target = (prev->value + insn->value) & ~UINT64_C(1);
	if (insn->xlen == 32)
		*target &= 0xffffffff;
	return true;
}

const char *ntrace_insn_class_name(unsigned int insn_class)
{
	static const char *const names[NTRACE_INSN_CLASS_COUNT] = {
		[NTRACE_INSN_PLAIN] = "plain",
		[NTRACE_INSN_BRANCH] = "branch",
		[NTRACE_INSN_JUMP] = "jump",
		[NTRACE_INSN_CALL] = "call",
		[NTRACE_INSN_OTHER_JUMP] = "other jump",
		[NTRACE_INSN_INDIRECT_JUMP] = "indirect jump",
		[NTRACE_INSN_INDIRECT_CALL] = "indirect call",
		[NTRACE_INSN_OTHER_INDIRECT_JUMP] = "other indirect jump",
		[NTRACE_INSN_RETURN] = "return",
		[NTRACE_INSN_COROUTINE_SWAP] = "coroutine swap",
		[NTRACE_INSN_TRAP_RETURN] = "trap return",
		[NTRACE_INSN_TRAP] = "trap",
	};

	return insn_class < NTRACE_INSN_CLASS_COUNT ? names[insn_class] : "?";
}
