/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A hart waits with a counter shortly before its overflow. Each round leaves the counter a few
 * instructions more when it begins to wait for its timer, 5 ms away. The counter must not count
 * meanwhile, and must overflow within 64 instructions after.
 */
	.option arch, rv64gc
	.option norelax

	.set	MTIME, 0x200bff8
	.set	MTIMECMP, 0x2004000
	.set	TICKS, 50000		/* 5 ms at 10 MHz */
	.set	TEST_FINISHER, 0x100000
	.set	PASS, 0x5555
	.set	FAIL, 0x3333
	.set	CYCLES, 1		/* event of the virtual SoC; LCOFI: no inhibited mode */
	.set	MHPMEVENT_OF_BIT, 63
	.set	MIP_LCOFIP, 1 << 13
	.set	MIE_MTIE, 1 << 7
	.set	ROUNDS, 60

	.text
	.globl	_start
_start:
	csrr	t0, mhartid
	bnez	t0, busy
	li	s0, MTIME
	li	s1, MTIMECMP
	li	s2, 0			/* round */
	li	t0, MIE_MTIE
	csrw	mie, t0			/* wakes the hart; mstatus.MIE stays 0 */
	csrw	mcountinhibit, zero
	li	s3, 0			/* rounds in which the counter waited with the hart */
round:
	ld	t0, 0(s0)
	li	t1, TICKS
	add	s4, t0, t1
	sd	s4, 0(s1)
	csrw	mhpmevent3, zero
	li	t0, MIP_LCOFIP
	csrc	mip, t0
	neg	t0, s2
	addi	t0, t0, -2
	li	t1, CYCLES
	csrw	mhpmevent3, t1
	csrw	mhpmcounter3, t0
	wfi
	csrr	t2, mhpmcounter3
	csrr	t3, mhpmevent3
	/* The timer has expired: the hart has waited. */
	ld	t0, 0(s0)
	bltu	t0, s4, fail
	li	t0, -1
	sd	t0, 0(s1)
	bgez	t2, 1f			/* overflowed on the way to the wait */
	addi	s3, s3, 1
1:
	.rept	64
	nop
	.endr
	csrr	t3, mhpmevent3
	bgez	t3, fail		/* no OF */
	csrr	t3, mip
	li	t0, MIP_LCOFIP
	and	t3, t3, t0
	beqz	t3, fail
	addi	s2, s2, 1
	li	t0, ROUNDS
	bltu	s2, t0, round
	/* Most rounds must have been of the kind that matters. */
	li	t0, ROUNDS / 2
	bltu	s3, t0, fail
	li	t1, PASS
	j	finish
fail:
	slli	t1, s2, 16
	li	t0, FAIL
	or	t1, t1, t0
finish:
	li	t0, TEST_FINISHER
	sw	t1, 0(t0)
	j	.
	/* Other harts advance the clock. */
busy:
	addi	t1, t1, 1
	xor	t2, t2, t1
	j	busy
