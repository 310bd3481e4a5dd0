/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What every payload needs: the trace blocks of hart 0, a trap handler, the way
 * out. A payload defines `main` and runs on hart 0 in M-mode with s0 = encoder
 * and s1 = RAM sink of hart 0. Comments that begin with "# flow" in a payload
 * say what the trace must show; block_hook.py explains them.
 */
	.option arch, rv64gc
	.option norelax

	.set	ENCODER, 0x6000000
	.set	RAM_SINK, 0x6040000
	.set	CLINT, 0x2000000
	.set	TEST_FINISHER, 0x100000
	.set	BUFFER_SIZE, 0x1000000
	.set	FILTERS_OFF, 0

/* InstTracing 0 -> 1; the first traced instruction is the next one */
	.macro	trace_start
	li	t0, 7 | MODE << 4
	sw	t0, 0(s0)
	.endm

/* InstTracing 1 -> 0; the store is the last traced instruction */
	.macro	trace_stop
	li	t0, 3 | MODE << 4
	sw	t0, 0(s0)
	.endm

	.text
	.globl	_start
_start:
	csrr	t0, mhartid
	la	sp, stacks
	addi	t1, t0, 1
	slli	t1, t1, 12
	add	sp, sp, t1
	li	s0, ENCODER
	li	s1, RAM_SINK
	la	t1, handler
	csrw	mtvec, t1
	bnez	t0, 1f

	li	t0, 1
	sw	t0, 0(s1)
	sw	t0, 0(s0)
	la	t1, buffer
	sw	t1, 0x10(s1)
	sw	t1, 0x20(s1)
	li	t2, BUFFER_SIZE - 64
	add	t2, t2, t1
	sw	t2, 0x18(s1)
	li	t0, 0x13
	sw	t0, 0(s1)
	li	t0, 3 | MODE << 4
	sw	t0, 0(s0)
	j	main

1:	la	t0, other_hart_entry
	ld	t0, 0(t0)
	beqz	t0, 2f
	jr	t0
2:	wfi
	j	2b

/* Drains in the order that the specification requires, and powers off. */
	.globl	finish
finish:
	csrw	mie, zero
	li	t0, 1 | MODE << 4
	sw	t0, 0(s0)
1:	lw	t0, 0(s0)
	andi	t0, t0, 8
	beqz	t0, 1b
	li	t0, 0x11
	sw	t0, 0(s1)
1:	lw	t0, 0(s1)
	andi	t0, t0, 8
	beqz	t0, 1b
	lwu	t0, 0x20(s1)
	la	t1, write_pointer
	sd	t0, 0(t1)
	li	t0, TEST_FINISHER
	li	t1, 0x5555
	sw	t1, 0(t0)
1:	j	1b

/*
 * Exceptions: continue after the instruction, which is 4 bytes long.
 * Interrupts: clear both sources and continue. Uses t5 and t6.
 */
	.balign	4
handler:
	csrr	t6, mcause
	bltz	t6, interrupt
handler_exception:
	csrr	t6, mepc
	addi	t6, t6, 4
	csrw	mepc, t6
	mret
handler_end:
interrupt:
	li	t6, CLINT
	sw	zero, 0(t6)
	li	t5, 0x4000
	add	t6, t6, t5
	li	t5, -1
	sd	t5, 0(t6)
	mret
interrupt_end:

	.data
	.balign	16
	.globl	write_pointer
write_pointer:
	.dword	0
	.weak	other_hart
other_hart_entry:
	.dword	other_hart
	.bss
	.balign	4096
stacks:	.space	4 * 4096
	.balign	4096
	.globl	buffer
buffer:	.space	BUFFER_SIZE
	.text
