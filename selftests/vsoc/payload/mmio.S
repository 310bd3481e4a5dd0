/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * device accesses in the middle of a block, which the emulator executes again.
 */
# flow: start
# flow: on..loop
# flow: loop..loop_end x20
# flow: loop_end..off
# flow: stop
	.include "trace.S"
main:
	li	t1, CLINT + 0xbff8
	li	t2, RAM_SINK
	li	t4, 20
	trace_start
on:	nop
	addi	t3, zero, 1
	ld	t3, 0(t1)
	addi	t3, zero, 2
	c.nop
	lw	t3, 4(t2)
	lw	t3, 4(t2)
	nop
loop:	ld	t3, 0(t1)
	nop
	lw	t3, 4(t2)
	addi	t4, t4, -1
	lw	t3, 4(t2)
	bnez	t4, loop
loop_end:
	nop
	trace_stop
off:	j	finish
