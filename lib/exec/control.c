// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * CSR instructions, and the registers of floating point: rounding modes, accrued exceptions, NaN boxes.
 */
#include "float.h"
#include "state.h"

/* ---- fflags, frm, fcsr ---- */

static struct ntrace_exec_value float_csr(const struct ntrace_exec *exec, unsigned int number)
{
	bool flags = exec->flags_known == 0x1f;
	struct ntrace_exec_value value = { 0, 0xfe };

	switch (number) {
	case NTRACE_EXEC_FFLAGS:
		if (flags)
			value = (struct ntrace_exec_value){ exec->flags, 0xff };
		break;
	case NTRACE_EXEC_FRM:
		if (exec->frm_known)
			value = (struct ntrace_exec_value){ exec->frm, 0xff };
		break;
	default:
		if (flags && exec->frm_known)
			value = (struct ntrace_exec_value){ exec->flags | exec->frm << 5u, 0xff };
		break;
	}
	return value;
}

static void set_float_csr(struct ntrace_exec *exec, unsigned int number,
			  const struct ntrace_exec_value *value)
{
	bool known = value->known & 1;
	uint8_t bits = known ? (uint8_t)value->bits : 0;

	if (number != NTRACE_EXEC_FRM) {
		exec->flags = bits & 0x1f;
		exec->flags_known = known ? 0x1f : 0;
	}
	if (number != NTRACE_EXEC_FFLAGS) {
		exec->frm = number == NTRACE_EXEC_FCSR ? bits >> 5 : bits & 7;
		exec->frm_known = known;
	}
}

static bool is_float_csr(unsigned int number)
{
	return number >= NTRACE_EXEC_FFLAGS && number <= NTRACE_EXEC_FCSR;
}

int ntrace_exec_get(const struct ntrace_exec *exec, unsigned int id,
		    struct ntrace_exec_value *value)
{
	if (id >= NTRACE_EXEC_X && id < NTRACE_EXEC_X + 32) {
		*value = exec->x[id - NTRACE_EXEC_X];
	} else if (id >= NTRACE_EXEC_F && id < NTRACE_EXEC_F + 32) {
		*value = exec->f[id - NTRACE_EXEC_F];
	} else if (is_float_csr(id)) {
		*value = float_csr(exec, id);
		value->known &= 1;
	} else {
		return NTRACE_ERR_INVALID;
	}
	return 0;
}

int ntrace_exec_set(struct ntrace_exec *exec, unsigned int id,
		    const struct ntrace_exec_value *value)
{
	struct ntrace_exec_value *target;
	uint8_t bytes = exec->f_bytes;

	if (is_float_csr(id)) {
		set_float_csr(exec, id, value);
		return 0;
	}
	if (id >= NTRACE_EXEC_X && id < NTRACE_EXEC_X + 32) {
		target = &exec->x[id - NTRACE_EXEC_X];
		bytes = exec->x_bytes;
	} else if (id >= NTRACE_EXEC_F && id < NTRACE_EXEC_F + 32) {
		target = &exec->f[id - NTRACE_EXEC_F];
	} else {
		return NTRACE_ERR_INVALID;
	}
	if (id == NTRACE_EXEC_X)
		return 0;
	target->known = value->known & bytes;
	target->bits = value->bits & exec_known_bits(target->known);
	return 0;
}

/* ---- csrrw, csrrs, csrrc ---- */

static int read_csr(const struct ntrace_exec *exec, unsigned int number,
		    struct ntrace_exec_value *value)
{
	int error = 0;

	*value = (struct ntrace_exec_value){ 0, 0 };
	if (is_float_csr(number))
		*value = float_csr(exec, number);
	else if (exec->config.read_csr)
		error = exec->config.read_csr(exec->config.user, number, value);
	value->known &= exec->x_bytes;
	value->bits &= exec_known_bits(value->known);
	return error;
}

int exec_step_csr(struct ntrace_exec *exec, const struct exec_insn *insn,
		  struct ntrace_exec_effects *effects)
{
	struct exec_insn change = { .operate = exec_swap,
				    .rule = EXEC_RULE_RISING,
				    .bits = exec->config.isa.xlen };
	struct ntrace_exec_value old = { 0, 0 }, source = { insn->rs1, 0xff };
	unsigned int number = (unsigned int)insn->imm;
	bool swap = (insn->arg & 3) == 1;
	int error = 0;

	if (!(insn->arg & 4))
		source = exec->x[insn->rs1];
	if (!swap || insn->rd)
		error = read_csr(exec, number, &old);
	if (error)
		return error;
	if (swap || insn->rs1) {
		if (!swap)
			change.operate = (insn->arg & 3) == 2 ? exec_or : exec_andn;
		if (change.operate == exec_andn)
			change.rule = EXEC_RULE_FALLING;
		source = exec_operate(&change, old, source, false);
		source.known &= exec->x_bytes;
		source.bits &= exec_known_bits(source.known);
		if (is_float_csr(number))
			set_float_csr(exec, number, &source);
		else if (exec->config.write_csr)
			error = exec->config.write_csr(exec->config.user, number, &source);
	}
	if (!error)
		exec_write_x(exec, effects, insn->rd, old);
	return error;
}

/* ---- floating point ---- */

void exec_write_f(struct ntrace_exec *exec, struct ntrace_exec_effects *effects,
		  unsigned int number, struct ntrace_exec_value value, unsigned int bytes)
{
	if (bytes < 8) {
		value.bits |= UINT64_MAX << 8 * bytes;
		value.known |= (uint8_t)(0xff << bytes);
	}
	value.known &= exec->f_bytes;
	value.bits &= exec_known_bits(value.known);
	exec->f[number] = value;
	effects->written |= UINT64_C(1) << (32 + number);
}

/* Return: whether the operand is known; one of single precision that is not NaN-boxed is a NaN */
static bool read_f(const struct ntrace_exec *exec, unsigned int number, unsigned int bytes,
		   uint64_t *operand)
{
	const struct ntrace_exec_value *value = &exec->f[number];

	*operand = value->bits;
	if (bytes == 4 && exec->f_bytes == 0xff)
		*operand = value->bits >> 32 == UINT32_MAX ? (uint32_t)value->bits : 0x7fc00000;
	return value->known == exec->f_bytes;
}

static bool is_integer_result(unsigned int operation)
{
	return (operation >= EXEC_FLE && operation <= EXEC_FCVT_TO_INT) ||
	       operation == EXEC_FCVTMOD;
}

static bool rounds(unsigned int operation)
{
	return operation <= EXEC_FNMADD ||
	       (operation >= EXEC_FCVT_TO_INT && operation <= EXEC_FROUNDNX);
}

/* Return: whether the instruction only moves bits, and is done */
static bool move(struct ntrace_exec *exec, const struct exec_insn *insn,
		 struct ntrace_exec_effects *effects)
{
	struct ntrace_exec_value value = exec->f[insn->rs1], other = exec->x[insn->rs2];

	switch (insn->arg) {
	case EXEC_FMV_TO_X:
		exec_write_x(exec, effects, insn->rd, exec_extend(value, insn->bytes, false));
		return true;
	case EXEC_FMVH_TO_X:
		value.bits >>= 32;
		value.known >>= 4;
		exec_write_x(exec, effects, insn->rd, value);
		return true;
	case EXEC_FMV_FROM_X:
		exec_write_f(exec, effects, insn->rd, exec->x[insn->rs1], insn->bytes);
		return true;
	case EXEC_FMVP_FROM_X:
		value = exec->x[insn->rs1];
		value.bits |= other.bits << 32;
		value.known |= (uint8_t)(other.known << 4);
		exec_write_f(exec, effects, insn->rd, value, 8);
		return true;
	case EXEC_FLI:
		value = (struct ntrace_exec_value){ exec_float_immediate(insn->rs1, insn->bytes),
						    0xff };
		exec_write_f(exec, effects, insn->rd, value, insn->bytes);
		return true;
	default:
		return false;
	}
}

/* fsgnj: the sign is in the last byte; the bytes before it are those of the first operand. */
static void inject_sign(struct ntrace_exec *exec, const struct exec_insn *insn,
			struct ntrace_exec_effects *effects)
{
	unsigned int last = insn->bytes - 1u;
	uint64_t sign = UINT64_C(1) << (8 * insn->bytes - 1), bits, other;
	struct ntrace_exec_value value = exec->f[insn->rs1];
	bool first_known = read_f(exec, insn->rs1, insn->bytes, &bits);
	bool second_known = read_f(exec, insn->rs2, insn->bytes, &other);

	/* Of double precision, no other byte matters for one. */
	if (insn->bytes == 8)
		second_known = exec->f[insn->rs2].known >> 7;
	else if (!first_known)
		value.known = 0;
	if (insn->arg == EXEC_FSGNJN)
		other = ~other;
	if (insn->arg == EXEC_FSGNJX)
		other ^= bits;
	value.bits = (bits & ~sign) | (other & sign);
	if (!second_known)
		value.known = (uint8_t)(value.known & ~(1u << last));
	exec_write_f(exec, effects, insn->rd, value, insn->bytes);
}

static void write_result(struct ntrace_exec *exec, const struct exec_insn *insn,
			 struct ntrace_exec_effects *effects,
			 const struct exec_float_result *result)
{
	struct ntrace_exec_value value = { 0, 0 };

	if (result->certain)
		value = (struct ntrace_exec_value){ result->bits, 0xff };
	else if (insn->arg == EXEC_FCLASS)
		value.known = 0xfc;
	else if (insn->arg >= EXEC_FLE && insn->arg <= EXEC_FLTQ)
		value.known = 0xfe;
	if (is_integer_result(insn->arg))
		exec_write_x(exec, effects, insn->rd, value);
	else
		exec_write_f(exec, effects, insn->rd, value, insn->bytes);
	if (!result->flags_certain) {
		/* Those that are set stay set. */
		exec->flags_known &= exec->flags;
		return;
	}
	exec->flags |= (uint8_t)result->flags;
	exec->flags_known |= (uint8_t)result->flags;
}

int exec_step_float(struct ntrace_exec *exec, const struct exec_insn *insn,
		    struct ntrace_exec_effects *effects)
{
	unsigned int mode = insn->rm, from = insn->bytes;
	struct exec_float_result result = { 0, 0, false, insn->arg == EXEC_FCLASS };
	bool known, mode_known = true;
	uint64_t operands[3] = { 0 };

	if (!rounds(insn->arg))
		mode = EXEC_RTZ;
	if (mode == EXEC_DYNAMIC) {
		mode = exec->frm;
		mode_known = exec->frm_known;
	}
	if (mode > EXEC_RMM)
		return NTRACE_ERR_UNSUPPORTED;
	if (move(exec, insn, effects))
		return 0;
	if (insn->arg >= EXEC_FSGNJ && insn->arg <= EXEC_FSGNJX) {
		inject_sign(exec, insn, effects);
		return 0;
	}
	if (insn->arg == EXEC_FCVT_FLOAT)
		from = 12 - from;
	if (insn->arg == EXEC_FCVT_FROM_INT) {
		operands[0] = exec->x[insn->rs1].bits;
		known = !(~exec->x[insn->rs1].known & (insn->rs2 & 2 ? exec->x_bytes : 0x0f));
	} else {
		known = read_f(exec, insn->rs1, from, &operands[0]);
	}
	if (insn->arg <= EXEC_FDIV || (insn->arg >= EXEC_FMADD && insn->arg <= EXEC_FLTQ))
		known &= read_f(exec, insn->rs2, from, &operands[1]);
	if (insn->arg >= EXEC_FMADD && insn->arg <= EXEC_FNMADD)
		known &= read_f(exec, insn->rs3, from, &operands[2]);
	if (known && mode_known)
		result = exec_float(insn, operands, mode);
	write_result(exec, insn, effects, &result);
	return 0;
}
