/* SPDX-License-Identifier: GPL-2.0-only */
/* external triggers switch tracing on and off. */
# only: one instruction per block
# only: instruction counter
# only: blocks
# flow: start
# flow: on..loop
# flow: loop..loop_end x3
# flow: loop_end..off
# flow: stop
# value: fired 3
	.include "trace.S"
main:
	li	t0, 1 | MODE << 4
	sw	t0, 0(s0)
	/* Input 0: on, input 1: off; output 0 fires at on, output 1 at off */
	li	t0, 0x32
	sw	t0, 0x54(s0)
	li	t0, 0x21
	sw	t0, 0x58(s0)
	li	t0, 0x803 | MODE << 4
	sw	t0, 0(s0)
	li	t1, 0xe00
	add	t1, t1, s0
	nop
	li	t0, 1
	sw	t0, 4(t1)
on:	nop
	li	t2, 3
loop:	addi	t2, t2, -1
	bnez	t2, loop
loop_end:
	li	t0, 2
	sw	t0, 4(t1)
off:	nop
	lwu	t0, 8(t1)
	la	t1, fired
	sd	t0, 0(t1)
	j	finish
	.data
	.balign	8
fired:	.dword	-1
	.text
