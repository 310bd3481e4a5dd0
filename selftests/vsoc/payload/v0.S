/* SPDX-License-Identifier: GPL-2.0-only */
/* an encoder with pre-ratification registers. */
# options: -machine ntrace=v0
# only: htm
# only: blocks
# only: instruction counter
# check: v0
# flow0: start
# flow0: on..loop
# flow0: loop..loop_end x100
# flow0: loop_end..off
# flow0: stop
# value: impl 0x02010080
# value: control 0x71ff006b
# value: stopped 0x71ff0069
	.option arch, rv64gc
	.option norelax
	.set	BUFFER_SIZE, 0x10000
	.globl	_start
_start:
	csrr	t0, mhartid
	bnez	t0, .
	li	s0, 0x6000000
	li	t0, 1
	sw	t0, 0(s0)
	lwu	t0, 4(s0)
	la	t1, impl
	sd	t0, 0(t1)
	/* Limit is the address of the last 8-byte word. */
	la	t1, buffer
	sw	t1, 0x10(s0)
	sw	zero, 0x14(s0)
	sw	t1, 0x1c(s0)
	li	t2, BUFFER_SIZE - 8
	add	t2, t2, t1
	sw	t2, 0x18(s0)
	li	t0, 0x70ff0001
	sw	t0, 0(s0)
	li	t0, 0x70ff0003 | 6 << 4
	sw	t0, 0(s0)
	li	t0, 0x70ff0007 | 6 << 4
	sw	t0, 0(s0)
on:	li	t3, 100
	la	t1, jump
loop:	addi	t3, t3, -1
	jr	t1
jump:	bnez	t3, loop
loop_end:
	li	t0, 0x70ff0003 | 6 << 4
	sw	t0, 0(s0)
off:	lwu	t0, 0(s0)
	la	t1, control
	sd	t0, 0(t1)
	li	t0, 0x70ff0001 | 6 << 4
	sw	t0, 0(s0)
1:	lw	t0, 0(s0)
	andi	t0, t0, 8
	beqz	t0, 1b
	lwu	t0, 0(s0)
	sd	t0, 8(t1)
	lwu	t0, 0x1c(s0)
	la	t1, write_pointer
	sd	t0, 0(t1)
	li	t0, 0x100000
	li	t1, 0x5555
	sw	t1, 0(t0)
1:	j	1b
	.data
	.balign	16
	.globl	write_pointer
write_pointer: .dword 0
impl:	.dword	-1
control: .dword	-1
stopped: .dword	-1
	.bss
	.balign	4096
	.globl	buffer
buffer:	.space	BUFFER_SIZE
	.text
