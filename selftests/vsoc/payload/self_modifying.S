/* SPDX-License-Identifier: GPL-2.0-only */
/* a store into the running block. */
# flow: start
# flow: on..loop
# flow: loop..loop_end x8
# flow: loop_end..off
# flow: stop
	.include "trace.S"
main:
	la	t1, patched
	li	t4, 8
	trace_start
on:	nop
loop:	lw	t3, 0(t1)
	li	t2, 0x00100000
	xor	t3, t3, t2
	sw	t3, 0(t1)
	nop
	.option	push
	.option	norvc
patched:
	addi	a0, zero, 1
	.option	pop
	nop
	addi	t4, t4, -1
	fence.i
	bnez	t4, loop
loop_end:
	nop
	trace_stop
off:	j	finish
