/* SPDX-License-Identifier: GPL-2.0-only */
/* a branch to its own next instruction. Taken or not shows in HIST only. */
# flow: start
# flow: on..off
# flow: stop
# outcomes: TNTTN
	.include "trace.S"
main:
	li	t1, 1
	trace_start
on:	.option	push
	.option	norvc
	beq	zero, zero, 1f
1:	beq	t1, zero, 1f
1:	bne	t1, zero, 1f
1:	.option	pop
	li	a0, 0
	c.beqz	a0, 1f
1:	c.bnez	a0, 1f
1:	nop
	trace_stop
off:	j	finish
