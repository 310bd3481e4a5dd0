/* SPDX-License-Identifier: GPL-2.0-only */
/* waiting for an interrupt, taken and not taken. */
# flow: start
# flow: on..raised
# flow: interrupt
# flow: handler..handler_exception
# flow: interrupt..interrupt_end
# flow: raised..off
# flow: stop
	.include "trace.S"
	/* 100 ms: long enough for the hart to be in WFI by then, however busy the host is. */
	.macro	timer_soon
	li	t3, CLINT + 0xbff8
	ld	t4, 0(t3)
	li	t3, 1000000
	add	t4, t4, t3
	li	t3, CLINT + 0x4000
	sd	t4, 0(t3)
	.endm
main:
	li	t3, 0x80
	csrw	mie, t3
	trace_start
on:	timer_soon
	csrsi	mstatus, 8
	nop
	wfi
raised:	nop
	csrci	mstatus, 8
	timer_soon
	nop
	wfi
	nop
	li	t3, CLINT + 0x4000
	li	t4, -1
	sd	t4, 0(t3)
	nop
	trace_stop
off:	j	finish
