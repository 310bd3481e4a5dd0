/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Two harts trace loops of their own at the same time, as SRC 0 and 1, through
 * FUNNELS funnels. Hart 0 then stops everything in the order of the
 * specification: encoders, funnels from the leaves up, sink.
 */
	.globl	other_hart
	.include "trace.S"
	.set	FUNNEL, 0x6080000
	.set	TURNS, 2000

	/* Encoder s0 of this hart: SrcBits 1, SrcID \src; Enable, then wait for the other hart */
	.macro	begin src
	li	t0, 1
	sw	t0, 0(s0)
	li	t0, 1 | MODE << 4
	sw	t0, 0(s0)
	li	t0, 1 << 28 | \src << 16
	sw	t0, 8(s0)
	li	t0, 3 | MODE << 4
	sw	t0, 0(s0)
	la	t0, there
	li	t1, 1
	amoadd.d t1, t1, (t0)
	li	t2, 2
1:	ld	t1, 0(t0)
	bne	t1, t2, 1b
	.endm

	/* An indirect jump and a branch per turn */
	.macro	turns src
	trace_start
on\src:	li	t3, TURNS
	la	t1, jump\src
loop\src:
	addi	t3, t3, -1
	jr	t1
jump\src:
	bnez	t3, loop\src
end\src:
	trace_stop
off\src:
	.endm

main:
	li	s2, FUNNEL
	li	s3, FUNNELS
1:	li	t0, 1
	sw	t0, 0(s2)
	li	t0, DISABLED_INPUTS
	sw	t0, 8(s2)
	li	t0, 3
	sw	t0, 0(s2)
	li	t0, 0x1000
	add	s2, s2, t0
	addi	s3, s3, -1
	bnez	s3, 1b
	begin	0
	turns	0
	la	t0, over
1:	ld	t1, 0(t0)
	beqz	t1, 1b
	/* Funnels nearer to the encoders have higher numbers. */
	li	s3, FUNNELS
1:	li	t0, 0x1000
	sub	s2, s2, t0
	li	t0, 1
	sw	t0, 0(s2)
2:	lw	t0, 0(s2)
	andi	t0, t0, 8
	beqz	t0, 2b
	addi	s3, s3, -1
	bnez	s3, 1b
	j	finish

other_hart:
	li	t0, 0x1000
	add	s0, s0, t0
	begin	1
	turns	1
	li	t0, 1 | MODE << 4
	sw	t0, 0(s0)
1:	lw	t0, 0(s0)
	andi	t0, t0, 8
	beqz	t0, 1b
	la	t1, over
	li	t0, 1
	fence
	sd	t0, 0(t1)
1:	wfi
	j	1b
	.data
	.balign	8
there:	.dword	0
over:	.dword	0
	.text
