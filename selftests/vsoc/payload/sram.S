/* SPDX-License-Identifier: GPL-2.0-only */
/* a sink with private memory, read through trRamData. */
# only: htm
# only: blocks
# options: -global ntrace-ram-sink.kind=sram
# flow: start
# flow: on..loop
# flow: loop..end x10
# flow: end..off
# flow: stop
# value: impl 0x1901
	.include "trace.S"
main:
	lwu	t0, 4(s1)
	la	t1, impl
	sd	t0, 0(t1)
	/*
	 * Use all of the SRAM; trace.S has set up the sink for system memory.
	 */
	li	t0, 1
	sw	t0, 0(s1)
	li	t0, -1
	sw	t0, 0x18(s1)
	sw	zero, 0x20(s1)
	li	t0, 3
	sw	t0, 0(s1)
	trace_start
on:	li	t3, 10
	la	t1, jump
loop:	addi	t3, t3, -1
	jr	t1
jump:	bnez	t3, loop
end:	trace_stop
off:	li	t0, 1 | MODE << 4
	sw	t0, 0(s0)
1:	lw	t0, 0(s0)
	andi	t0, t0, 8
	beqz	t0, 1b
	li	t0, 1
	sw	t0, 0(s1)
1:	lw	t0, 0(s1)
	andi	t0, t0, 8
	beqz	t0, 1b
	/* copy the data to the address where the test looks for it */
	lwu	t2, 0x20(s1)
	sw	zero, 0x28(s1)
	la	t3, buffer
	add	t2, t2, t3
1:	lw	t0, 0x40(s1)
	sw	t0, 0(t3)
	addi	t3, t3, 4
	bltu	t3, t2, 1b
	la	t1, write_pointer
	sd	t2, 0(t1)
	li	t0, TEST_FINISHER
	li	t1, 0x5555
	sw	t1, 0(t0)
1:	j	1b
	.data
	.balign	8
impl:	.dword	-1
	.text
