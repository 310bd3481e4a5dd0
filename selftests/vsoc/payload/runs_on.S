/* SPDX-License-Identifier: GPL-2.0-only */
/* a sink that does not show its width, with a Limit between two writes: the trace runs on through memory. */
# only: htm
# only: blocks
# options: -global ntrace-ram-sink.granule=16+64@0 -global ntrace-ram-sink.granule-hidden=on
# flow: start
# flow: on..loop
# flow: loop..end x200
# flow: end..off
# flow: stop
# value: limit 0x7c
# says: ntrace-ram-sink 0: [1-9][0-9]+ bytes written outside the buffer
	.include "trace.S"
main:
	li	t0, 0x11
	sw	t0, 0(s1)
	la	t1, buffer
	addi	t2, t1, 0x7c
	sw	t2, 0x18(s1)
	lwu	t2, 0x18(s1)
	sub	t2, t2, t1
	la	t1, limit
	sd	t2, 0(t1)
	li	t0, 0x13
	sw	t0, 0(s1)
	trace_start
on:	li	t3, 200
	la	t1, jump
loop:	addi	t3, t3, -1
	jr	t1
jump:	bnez	t3, loop
end:	trace_stop
off:	j	finish
	.data
	.balign	8
limit:	.dword	-1
	.text
