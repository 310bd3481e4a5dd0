/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Bare metal program for the test of pieces.c: six turns of a loop in U-mode. In the fifth turn alone, a load
 * faults. The handler in M-mode lets it succeed, so all turns have the same addresses in U-mode.
 */
#define UNMAPPED 0x01000000	/* nothing is mapped here: access fault */

	.option norelax
	.option norvc
	.globl _start
_start:
	lla	t0, handler
	csrw	mtvec, t0
	li	t0, -1
	csrw	pmpaddr0, t0
	li	t0, 0x1f
	csrw	pmpcfg0, t0
	li	t0, 3 << 11		/* mstatus.MPP = U */
	csrc	mstatus, t0
	li	s0, ENCODER
	lla	s1, word
	li	s2, UNMAPPED
	li	s3, 5
	li	s4, 6
	lla	t0, turn
	csrw	mepc, t0
	li	t0, 7
	sw	t0, 0(s0)		/* start: not in the log */
	mret

	.globl turn
turn:	addi	s3, s3, -1
	mv	t1, s1
	seqz	t3, s3			/* 1 in the fifth turn */
	sub	t2, s2, s1
	mul	t2, t2, t3
	add	t1, t1, t2
	lw	t0, 0(t1)
	addi	s4, s4, -1
	bnez	s4, turn
	ecall

handler:
	mv	t1, s1
	csrr	t2, mcause
	li	t3, 8			/* ecall of U */
	beq	t2, t3, 1f
	mret
1:	li	t0, 3
	sw	t0, 0(s0)		/* stop */
	li	t0, 0x5555		/* power off */
	li	t1, 0x100000
	sw	t0, 0(t1)
2:	j	2b

	.data
	.balign	8
word:	.quad	0
