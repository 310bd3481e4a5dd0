/* SPDX-License-Identifier: GPL-2.0-only */
/* Ownership messages report scontext. */
# only: one instruction per block
# only: blocks
# flow: start
# flow: on..off
# flow: stop
# contexts: 0x22e 0x44e 0x1fffffffee
# value: illegal 0
	.include "trace.S"
	.set	scontext, 0x5a8
main:
	li	t0, 1 | MODE << 4
	sw	t0, 0(s0)
	li	t0, 0x203 | MODE << 4
	sw	t0, 0(s0)
	li	t0, 0x11
	csrw	scontext, t0
	li	t0, 0x207 | MODE << 4
	sw	t0, 0(s0)
on:	nop
	li	t0, 0x22
	csrw	scontext, t0
	nop
	li	t0, -1
	csrrw	t1, scontext, t0
	nop
	csrr	t2, scontext
	li	t0, 0x203 | MODE << 4
	sw	t0, 0(s0)
off:	addi	t1, t1, -0x22
	not	t2, t2
	slli	t2, t2, 32
	or	t1, t1, t2
	la	t0, illegal
	sd	t1, 0(t0)
	j	finish
	.data
	.balign	8
illegal: .dword	-1
	.text
