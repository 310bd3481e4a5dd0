/* SPDX-License-Identifier: GPL-2.0-only */
/* tracing that its own hart starts and stops, exact to the instruction. */
# flow: start
# flow: on..loop
# flow: loop..loop_end x5
# flow: loop_end..off
# flow: f..f_end
# flow: back..off2
# flow: stop
# flow: start
# flow: on2..off3
# flow: stop
# outcomes: TTTTN
	.include "trace.S"
main:
	trace_start
on:	li	t3, 5
loop:	addi	t3, t3, -1
	bnez	t3, loop
loop_end:
	nop
	jal	f
off:
back:	trace_stop
off2:	nop
	nop
	trace_start
on2:	trace_stop
off3:	nop
	j	finish
f:	nop
	ret
f_end:
