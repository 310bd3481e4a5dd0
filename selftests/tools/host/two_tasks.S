/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The program that two_tasks.py executes: two loops that call the same
 * functions.
 */
	.macro	function name
	.globl	\name
	.type	\name, @function
\name:
	.endm
	.macro	ends name
	.size	\name, . - \name
	.endm

	function first
	li	s0, 2000
1:	jal	ra, work
	jal	ra, leaf
	addi	s0, s0, -1
	bnez	s0, 1b
	nop
	ends	first

	function second
	li	s0, 90
1:	jal	ra, work
	addi	s0, s0, -1
	bnez	s0, 1b
	nop
	ends	second

	function work
	addi	sp, sp, -16
	sd	ra, 8(sp)
	jal	ra, leaf
	jal	ra, leaf
	ld	ra, 8(sp)
	addi	sp, sp, 16
	ret
	ends	work

	function leaf
	nop
	ret
	ends	leaf

	function cold
	ret
	ends	cold
