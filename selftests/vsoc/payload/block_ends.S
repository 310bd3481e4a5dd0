/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * blocks that end without a transfer. Full ones, at a page, after CSR accesses and FENCE.I, and one
 * over two pages.
 */
# flow: start
# flow: on..apart
# flow: page..apart2
# flow: loop..loop_end x40
# flow: loop_end..off
# flow: stop
	.include "trace.S"
main:
	li	t4, 40
	trace_start
on:	.rept	700
	nop
	.endr
	csrr	t3, mcycle
	csrw	mscratch, t3
	fence.i
	nop
	sfence.vma
	nop
	j	page
apart:
	.balign	4096
	.space	4096 - 10
page:	nop
	nop
	c.nop
	c.nop
	c.nop
	.option	push
	.option	norvc
	addi	t3, zero, 1
	.option	pop
	nop
	j	loop
apart2:
	.balign	4096
	.space	4092
	c.nop
loop:	.option	push
	.option	norvc
	addi	t3, t3, 1
	addi	t4, t4, -1
	bnez	t4, loop
	.option	pop
loop_end:
	nop
	trace_stop
off:	j	finish
