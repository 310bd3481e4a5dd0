/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * interrupts between blocks. The hart raises one itself, so its place is known; then a timer ends a
 * counting loop.
 */
# flow: start
# flow: on..raised
# flow: interrupt
# flow: handler..handler_exception
# flow: interrupt..interrupt_end
# flow: raised..raised2
# flow: interrupt
# flow: handler..handler_exception
# flow: interrupt..interrupt_end
# flow: raised2..loop
# check: interrupted_loop
	.include "trace.S"
main:
	li	t1, CLINT
	li	t2, 1
	li	t3, 8
	csrw	mie, t3
	csrsi	mstatus, 8
	trace_start
on:	nop
	sw	t2, 0(t1)
raised:	nop
	nop
	sw	t2, 0(t1)
raised2:
	beqz	zero, 1f
1:	la	t3, timer
	csrw	mtvec, t3
	li	t3, 0xbff8
	add	t3, t1, t3
	ld	t4, 0(t3)
	li	t5, 2000
	add	t0, t4, t5
	li	t3, 0x4000
	add	t3, t1, t3
	li	t4, -1
	sd	t4, 0(t3)
	li	t4, 0
	li	t5, 0x80
	csrw	mie, t5
	/*
	 * The timer follows the host's time: wait for two turns, after which the loop counts or has
	 * already ended.
	 */
loop:	addi	t4, t4, 1
	sltiu	t5, t4, 3
	neg	t5, t5
	or	t5, t5, t0
	sd	t5, 0(t3)
loop_middle:
	xori	t4, t4, 0
	beqz	zero, loop
loop_end:
	.balign	4
timer:	csrr	t6, mepc
timer_end:
	la	t5, turns
	sd	t4, 0(t5)
	la	t5, where
	sd	t6, 0(t5)
	trace_stop
left_end:
	j	finish
	.data
	.balign	8
turns:	.dword	0
where:	.dword	0
	.text
