// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * CSR instructions, and the registers of floating point: rounding modes, accrued exceptions, NaN boxes.
 */
#include "float.h"
#include "state.h"

/* ---- fflags, frm, fcsr ---- */

static struct ntrace_exec_value float_csr(const struct ntrace_exec *exec, unsigned int number)
{
	struct ntrace_exec_value flags = { exec->flags & exec->flags_known,
					   ~UINT64_C(0x1f) | exec->flags_known };
	struct ntrace_exec_value frm = { exec->frm_known ? exec->frm : 0,
					 exec->frm_known ? UINT64_MAX : ~UINT64_C(7) };

	if (number == NTRACE_EXEC_FFLAGS)
		return flags;
	if (number == NTRACE_EXEC_FRM)
		return frm;
	flags.bits |= frm.bits << 5;
	flags.known &= frm.known << 5 | 0x1f;
	return flags;
}

static void set_float_csr(struct ntrace_exec *exec, unsigned int number,
			  const struct ntrace_exec_value *value)
{
	unsigned int at = number == NTRACE_EXEC_FCSR ? 5 : 0;

	if (number != NTRACE_EXEC_FRM) {
		exec->flags_known = value->known & 0x1f;
		exec->flags = value->bits & exec->flags_known;
	}
	if (number != NTRACE_EXEC_FFLAGS) {
		exec->frm_known = (value->known >> at & 7) == 7;
		exec->frm = exec->frm_known ? value->bits >> at & 7 : 0;
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
		value->known &= 0xff;
	} else {
		return NTRACE_ERR_INVALID;
	}
	return 0;
}

int ntrace_exec_set(struct ntrace_exec *exec, unsigned int id,
		    const struct ntrace_exec_value *value)
{
	struct ntrace_exec_value *target;
	uint64_t mask = exec->flen_mask;

	if (is_float_csr(id)) {
		set_float_csr(exec, id, value);
		return 0;
	}
	if (id >= NTRACE_EXEC_X && id < NTRACE_EXEC_X + 32) {
		target = &exec->x[id - NTRACE_EXEC_X];
		mask = exec->xlen_mask;
	} else if (id >= NTRACE_EXEC_F && id < NTRACE_EXEC_F + 32) {
		target = &exec->f[id - NTRACE_EXEC_F];
	} else {
		return NTRACE_ERR_INVALID;
	}
	if (id == NTRACE_EXEC_X)
		return 0;
	target->known = value->known & mask;
	target->bits = value->bits & target->known;
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
	value->known &= exec->xlen_mask;
	value->bits &= value->known;
	return error;
}

int exec_step_csr(struct ntrace_exec *exec, const struct exec_insn *insn,
		  struct ntrace_exec_effects *effects)
{
	struct exec_insn change = { .operate = exec_swap,
				    .rule = EXEC_RULE_RISING,
				    .bits = exec->config.isa.xlen };
	struct ntrace_exec_value old = { 0, 0 }, source = { insn->rs1, UINT64_MAX };
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
		source.known &= exec->xlen_mask;
		source.bits &= source.known;
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
		value.known |= UINT64_MAX << 8 * bytes;
	}
	value.known &= exec->flen_mask;
	value.bits &= value.known;
	exec->f[number] = value;
	effects->written |= UINT64_C(1) << (32 + number);
}

/* Return: whether the operand is known; one of single precision that is not NaN-boxed is a NaN */
static bool read_f(const struct ntrace_exec *exec, unsigned int number, unsigned int bytes,
		   uint64_t *operand)
{
	const struct ntrace_exec_value *value = &exec->f[number];

	*operand = value->bits;
	if (bytes == 4 && exec->config.flen == 64)
		*operand = value->bits >> 32 == UINT32_MAX ? (uint32_t)value->bits : 0x7fc00000;
	return value->known == exec->flen_mask;
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
		value.known >>= 32;
		exec_write_x(exec, effects, insn->rd, value);
		return true;
	case EXEC_FMV_FROM_X:
		exec_write_f(exec, effects, insn->rd, exec->x[insn->rs1], insn->bytes);
		return true;
	case EXEC_FMVP_FROM_X:
		value = exec->x[insn->rs1];
		value.bits |= other.bits << 32;
		value.known = (value.known & UINT32_MAX) | other.known << 32;
		exec_write_f(exec, effects, insn->rd, value, 8);
		return true;
	case EXEC_FLI:
		value = (struct ntrace_exec_value){ exec_float_immediate(insn->rs1, insn->bytes),
						    UINT64_MAX };
		exec_write_f(exec, effects, insn->rd, value, insn->bytes);
		return true;
	default:
		return false;
	}
}

/* fsgnj: the sign is the last bit; the bits before it are those of the first operand. */
static void inject_sign(struct ntrace_exec *exec, const struct exec_insn *insn,
			struct ntrace_exec_effects *effects)
{
	uint64_t sign = UINT64_C(1) << (8 * insn->bytes - 1), bits, other;
	struct ntrace_exec_value value = exec->f[insn->rs1];
	bool first_known = read_f(exec, insn->rs1, insn->bytes, &bits);
	bool second_known = read_f(exec, insn->rs2, insn->bytes, &other);

	/* Of double precision, no other bit matters for one. */
	if (insn->bytes == 8)
		second_known = exec->f[insn->rs2].known >> 63;
	else if (!first_known)
		value.known = 0;
	if (insn->arg == EXEC_FSGNJN)
		other = ~other;
	if (insn->arg == EXEC_FSGNJX)
		other ^= bits;
	value.bits = (bits & ~sign) | (other & sign);
	if (insn->arg == EXEC_FSGNJX && !(value.known & sign))
		second_known = false;
	value.known = second_known ? value.known | sign : value.known & ~sign;
	exec_write_f(exec, effects, insn->rd, value, insn->bytes);
}

static void write_result(struct ntrace_exec *exec, const struct exec_insn *insn,
			 struct ntrace_exec_effects *effects,
			 const struct exec_float_result *result)
{
	struct ntrace_exec_value value = { 0, 0 };

	if (result->certain)
		value = (struct ntrace_exec_value){ result->bits, UINT64_MAX };
	else if (insn->arg == EXEC_FCLASS)
		value.known = ~UINT64_C(0x3ff);
	else if (insn->arg >= EXEC_FLE && insn->arg <= EXEC_FLTQ)
		value.known = ~UINT64_C(1);
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
		known = !(~exec->x[insn->rs1].known &
			  (insn->rs2 & 2 ? exec->xlen_mask : UINT32_MAX));
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
