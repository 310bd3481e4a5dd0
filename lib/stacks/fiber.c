// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * What the code of functions tells.
 *
 * Functions that change the stack of a thread: swapcontext(), jump_fcontext() of boost.context, gogo() of Go. A trace has
 * no stack pointers, but their code tells: it loads the stack pointer, and jumps.
 *
 *	ld sp, 192(t0)		or: mv sp, a0
 *	ld s0, 240(t0)
 *	...
 *	jr t1
 *
 * Other functions change it by a constant, or set it from the frame pointer or another register that calls preserve.
 */
#include "thread.h"

#define SP 2
#define FUNCTION_MAX 65536 /* bytes of a function that are looked at */

/* Registers that calls do not preserve: t0 to t2, a0 to a7, t3 to t6. */
static bool is_temporary(unsigned int reg)
{
	return (reg >= 5 && reg <= 7) || (reg >= 10 && reg <= 17) || reg >= 28;
}

/* Whether an instruction sets the stack pointer to one that does not depend on the present one. */
static bool loads_sp(const uint8_t *bytes, unsigned int size)
{
	uint32_t code = bytes[0] | (uint32_t)bytes[1] << 8;
	unsigned int rs1, width;

	/* c.mv rd, rs2 */
	if (size == 2)
		return (code & 0xf003) == 0x8002 && (code >> 7 & 31) == SP &&
		       is_temporary(code >> 2 & 31);
	if (size != 4)
		return false;
	code |= (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
	rs1 = code >> 15 & 31;
	width = code >> 12 & 7;
	if ((code >> 7 & 31) != SP)
		return false;
	/* lw, ld; addi rd, rs1, 0 */
	return (code & 0x7f) == 0x03 ?
		       (width == 2 || width == 3) && rs1 != SP :
		       (code & 0x7f) == 0x13 && !width && !(code >> 20) && is_temporary(rs1);
}

static bool look(const struct frame *frame, struct ntrace_space *space,
		 const struct ntrace_isa *isa)
{
	uint64_t end = frame->high - frame->low < FUNCTION_MAX ? frame->high :
								 frame->low + FUNCTION_MAX;
	bool loaded = false;
	struct ntrace_insn insn;
	const uint8_t *bytes;
	size_t size;

	for (uint64_t at = frame->low; at < end; at += insn.size) {
		if (ntrace_space_read(space, at, &bytes, &size) ||
		    ntrace_insn_decode(isa, bytes, size, at, &insn))
			return false;
		if (loaded && (insn.insn_class == NTRACE_INSN_INDIRECT_JUMP ||
			       insn.insn_class == NTRACE_INSN_OTHER_INDIRECT_JUMP))
			return true;
		loaded = insn.insn_class == NTRACE_INSN_PLAIN &&
			 (loaded || loads_sp(bytes, insn.size));
	}
	return false;
}

bool frame_switches(struct ntrace_stacks *stacks, const struct frame *frame,
		    struct ntrace_space *space)
{
	struct tree_function *function = &stacks->tree.functions[frame->function];

	if (!function->looked && space && function->kind == NTRACE_STACK_FUNCTION) {
		function->looked = true;
		function->switches = look(frame, space, &stacks->hart.isa);
	}
	return function->switches;
}

/* Numbers of Linux's system calls that make a thread (include/uapi/asm-generic/unistd.h). */
#define SYS_CLONE 220
#define SYS_CLONE3 435

#define A7 17

/* The number of a system call that an instruction loads: addi a7, zero, number. */
static bool loads_number(const uint8_t *bytes, unsigned int size, unsigned int *number)
{
	uint32_t code = bytes[0] | (uint32_t)bytes[1] << 8;

	if (size != 4)
		return false;
	code |= (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
	*number = code >> 20;
	return (code & 0xfffff) == (A7 << 7 | 0x13);
}

bool frame_forks(const struct ntrace_stacks *stacks, const struct frame *frame,
		 const struct ntrace_space *space, uint64_t ecall)
{
	const struct tree_function *function = &stacks->tree.functions[frame->function];
	/* Of a function without a name only its code says what it calls. */
	const bool named = !function_is_unnamed(function->name);
	unsigned int number = named ? SYS_CLONE : 0, found;
	struct ntrace_insn insn;
	const uint8_t *bytes;
	size_t size;

	if (!function->forks)
		return false;
	for (uint64_t at = frame->low; at < ecall; at += insn.size) {
		if (ntrace_space_read(space, at, &bytes, &size) ||
		    ntrace_insn_decode(&stacks->hart.isa, bytes, size, at, &insn))
			return named;
		if (loads_number(bytes, insn.size, &found))
			number = found;
	}
	return number == SYS_CLONE || number == SYS_CLONE3;
}
