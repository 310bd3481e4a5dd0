/* SPDX-License-Identifier: GPL-2.0-only */
/* tracing that the other hart starts and stops, while this hart runs and sleeps. */
# options: -smp 2
# check: random_calls
	.globl	other_hart
	.include "trace.S"
	.set	SPANS, 8
/*
 * Calls one of four functions, picked by a generator, and publishes the number of calls. Every 4096
 * calls the hart sleeps until the next span, so that the buffer is large enough however late the
 * other hart is.
 */
main:	li	s2, 1
	li	s3, 6364136223846793005
	li	s4, 1442695040888963407
	li	s5, 0
	la	s6, table
	la	s7, go
	la	s8, spans
	la	s9, iterations
	li	s10, 0
	li	s11, 4095
	li	t0, 8
	csrw	mie, t0
	la	t0, ready
	li	t1, 1
	sd	t1, 0(t0)
call_loop:
	mul	s2, s2, s3
	add	s2, s2, s4
	addi	s5, s5, 1
	srli	t1, s2, 62
	slli	t1, t1, 3
	add	t1, t1, s6
	ld	t1, 0(t1)
	jalr	t1
	sd	s5, 0(s9)
	and	t0, s5, s11
	beqz	t0, 1f
	ld	t0, 0(s7)
	beqz	t0, call_loop
	j	2f
1:	ld	t0, 0(s7)
	bnez	t0, 2f
	ld	t0, 0(s8)
	bne	t0, s10, 3f
	wfi
	j	1b
3:	mv	s10, t0
	li	t0, CLINT
	sw	zero, 0(t0)
	j	call_loop

	/* The hart sleeps here: the other hart must still be able to switch its encoder. */
2:	li	t0, CLINT
	sw	zero, 0(t0)
	la	t0, asleep
	li	t1, 1
	sd	t1, 0(t0)
1:	la	t0, over
	ld	t0, 0(t0)
	bnez	t0, 2f
	wfi
	j	1b
2:	j	finish
f0:	ret
f1:	li	t2, 3
1:	addi	t2, t2, -1
	bnez	t2, 1b
	ret
f2:	nop
	nop
	ret
f3:	mv	t3, ra
	jal	f4
	jr	t3
f4:	ret

	/* The software interrupt of hart 0 is masked by mstatus, but ends WFI. */
	.macro	wake
	li	t2, CLINT
	li	t3, 1
	sw	t3, 0(t2)
	.endm

	.macro	wait_empty
1:	lw	t0, 0(s0)
	andi	t0, t0, 8
	beqz	t0, 1b
	.endm

other_hart:
	la	s7, go
	la	s8, spans
	la	s9, iterations
	la	t0, ready
1:	ld	t1, 0(t0)
	beqz	t1, 1b
	li	s11, SPANS
next_span:
	trace_start
	ld	t1, 0(s9)
	addi	t1, t1, 100
	ld	t0, 0(s8)
	addi	t0, t0, 1
	sd	t0, 0(s8)
	fence
	wake
1:	ld	t0, 0(s9)
	blt	t0, t1, 1b
	/* Wait until the encoder is disabled and empty. */
	trace_stop
	li	t0, 1 | MODE << 4
	sw	t0, 0(s0)
	wait_empty
	li	t0, 3 | MODE << 4
	sw	t0, 0(s0)
	addi	s11, s11, -1
	bnez	s11, next_span

	li	t0, 1
	sd	t0, 0(s7)
	fence
	wake
	la	t1, asleep
1:	ld	t0, 0(t1)
	beqz	t0, 1b
	li	t1, 3000
1:	addi	t1, t1, -1
	bnez	t1, 1b
	/* The same with a hart that is in WFI, or about to enter it. */
	trace_start
	li	t0, 1 | MODE << 4
	sw	t0, 0(s0)
	wait_empty
	la	t1, over
	li	t0, 1
	sd	t0, 0(t1)
	fence
	wake
1:	wfi
	j	1b
	.data
	.balign	8
table:	.dword	f0, f1, f2, f3
iterations: .dword 0
spans:	.dword	0
go:	.dword	0
asleep:	.dword	0
over:	.dword	0
ready:	.dword	0
	.text
