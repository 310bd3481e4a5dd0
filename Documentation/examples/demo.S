/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The program of the examples:
 *
 *	riscv64-linux-gnu-gcc -march=rv64gc -nostdlib -static -Wl,-Ttext=0x10000 -o demo demo.S
 */
	.globl	_start
	.type	_start, @function
_start:				/* 0x10000 */
	c.li	a0, 3
1:	c.addi	a0, -1
	c.bnez	a0, 1b
	jal	ra, leaf	/* 0x10006 */
	c.j	_start		/* 0x1000a */
	.size	_start, . - _start

	.globl	leaf
	.type	leaf, @function
leaf:				/* 0x1000c */
	ret
	.size	leaf, . - leaf
