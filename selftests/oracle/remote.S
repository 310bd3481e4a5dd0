/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Bare metal program for the tests of exec_log.c and compare.c: hart 1 starts
 * and stops the tracing of hart 0, which loops and counts its turns in memory.
 * Between steps, hart 1 waits until hart 0 has made TURNS more turns, so the
 * test does not depend on speed.
 */
	.option norelax
	.macro	wait_for_hart_0
	ld	t1, 0(s4)
	li	t2, TURNS
	add	t1, t1, t2
1:	ld	t2, 0(s4)
	bltu	t2, t1, 1b
	.endm
	.globl _start
_start:
	csrr	t0, mhartid
	li	s0, ENCODER
	la	s4, turns
	bnez	t0, other
loop:	addi	s1, s1, 1
	sd	s1, 0(s4)
	andi	t1, s1, 7
	beqz	t1, loop
	addi	s3, s3, 1
	j	loop

other:	wait_for_hart_0
	li	t0, 7
	sw	t0, 0(s0)
	wait_for_hart_0
	li	t0, 3
	sw	t0, 0(s0)
	wait_for_hart_0
	li	t0, 0x5555
	li	t1, 0x100000
	sw	t0, 0(t1)
3:	j	3b

	.data
	.balign	8
turns:	.quad	0
