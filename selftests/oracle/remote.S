/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Bare metal program for the tests of exec_log.c and compare.c: hart 1 starts
 * and stops the tracing of hart 0, which loops.
 */
	.option norelax
	.globl _start
_start:
	csrr	t0, mhartid
	li	s0, ENCODER
	bnez	t0, other
loop:	addi	s1, s1, 1
	addi	s2, s2, 1
	andi	t1, s1, 7
	beqz	t1, loop
	addi	s3, s3, 1
	j	loop

other:	li	s1, LOOPS
1:	addi	s1, s1, -1
	bnez	s1, 1b
	li	t0, 7
	sw	t0, 0(s0)
	li	s1, LOOPS
2:	addi	s1, s1, -1
	bnez	s1, 2b
	li	t0, 3
	sw	t0, 0(s0)
	li	s1, LOOPS
3:	addi	s1, s1, -1
	bnez	s1, 3b
	li	t0, 0x5555
	li	t1, 0x100000
	sw	t0, 0(t1)
	j	3b
