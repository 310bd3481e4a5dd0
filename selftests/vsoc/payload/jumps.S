/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * 1,000 turns with an indirect jump and a branch, traced with CONTROL_BITS in
 * trTeControl. Then `status` is the value of trTeInstStallOrOverflow, and
 * `cleared` its value after a 1 was written.
 */
main:
	li	t0, 1 | MODE << 4
	sw	t0, 0(s0)
	li	t0, CONTROL_BITS | 3 | MODE << 4
	sw	t0, 0(s0)
	li	t0, CONTROL_BITS | 7 | MODE << 4
	sw	t0, 0(s0)
on:	li	t3, 1000
	la	t1, jump
loop:	addi	t3, t3, -1
	jr	t1
jump:	bnez	t3, loop
end:	li	t0, CONTROL_BITS | 3 | MODE << 4
	sw	t0, 0(s0)
off:	li	t4, 0x1000
	lw	t0, 0(s0)
	and	t0, t0, t4
	la	t1, status
	sd	t0, 0(t1)
	li	t0, CONTROL_BITS | 0x1003 | MODE << 4
	sw	t0, 0(s0)
	lw	t0, 0(s0)
	and	t0, t0, t4
	sd	t0, 8(t1)
	j	finish
	.data
	.balign	8
status:	.dword	-1
cleared: .dword	-1
	.text
