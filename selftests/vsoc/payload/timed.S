/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * TS is the timestamp unit, of encoder or funnel, that gets TS_MODE; the
 * encoder's unit gets ENCODER_MODE. 1,000 turns with an indirect jump and a
 * branch.
 */
main:
	li	t0, 1 | MODE << 4
	sw	t0, 0(s0)
	li	t1, TS
	li	t0, 1
	sw	t0, 0(t1)
	sw	t0, 0x40(t1)
	sw	t0, 0x40(s0)
	/* Reset, then run */
	li	t0, TS_MODE << 4 | 7
	sw	t0, 0x40(t1)
	li	t0, ENCODER_MODE << 4 | 0x8003
	sw	t0, 0x40(s0)
	lwu	t0, 0x40(s0)
	la	t2, control
	sd	t0, 0(t2)
	.if	TS != ENCODER
	li	t0, 3
	sw	t0, 0(t1)
	.endif
	li	t0, 3 | MODE << 4
	sw	t0, 0(s0)
	lwu	t0, 0x48(s0)
	la	t1, before
	sd	t0, 0(t1)
	trace_start
	li	t3, 1000
	la	t1, jump
loop:	addi	t3, t3, -1
	jr	t1
jump:	bnez	t3, loop
	trace_stop
	lwu	t0, 0x48(s0)
	la	t1, after
	sd	t0, 0(t1)
	sd	t0, 8(t1)
	.if	TS != ENCODER
	/* messages in the funnel */
	li	t1, TS
	li	t0, 1 | MODE << 4
	sw	t0, 0(s0)
2:	lw	t0, 0(s0)
	andi	t0, t0, 8
	beqz	t0, 2b
	li	t0, 1
	sw	t0, 0(t1)
	.endif
	j	finish
	.data
	.balign	8
control: .dword	-1
before:	.dword	-1
after:	.dword	-1
counter: .dword	-1
	.text
