/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * SFENCE.VMA with an address: the next access finds what the page table says now. For code
 * in a page of 4 KiB, and for data in one of 2 MiB of which another part was accessed.
 */
# check: values
# value: first 1
# value: second 2
# value: third 0x73656c66
# value: fourth 0
	.include "trace.S"

	.set	VALID_EXECUTABLE, 0xcf		/* D, A, X, W, R, V */
	.set	SMALL, 0xc0000000
	.set	LARGE, 0xc0200000

/* Writes entry \index of \table: \physical is the page, or the next table. */
	.macro	map	table, index, physical, flags
	la	t1, \table
	la	t2, \physical
	srli	t2, t2, 2
	ori	t2, t2, \flags
	sd	t2, 8 * \index(t1)
	.endm

main:
	li	t0, -1
	csrw	pmpaddr0, t0
	li	t0, 0x1f
	csrw	pmpcfg0, t0
	la	t0, back
	csrw	mtvec, t0
	map	root, 2, _start, VALID_EXECUTABLE
	map	root, 3, middle, 1
	map	middle, 0, leaves, 1
	map	middle, 1, _start, VALID_EXECUTABLE
	map	leaves, 0, one, VALID_EXECUTABLE
	la	t0, root
	srli	t0, t0, 12
	li	t1, 8 << 60
	or	t0, t0, t1
	csrw	satp, t0
	sfence.vma
	li	t0, 0x1000
	csrc	mstatus, t0
	li	t0, 0x800
	csrs	mstatus, t0
	la	t0, supervisor
	csrw	mepc, t0
	mret

supervisor:
	li	s2, SMALL
	jalr	s2
	la	t0, first
	sd	a0, 0(t0)
	map	leaves, 0, two, VALID_EXECUTABLE
	sfence.vma s2
	jalr	s2
	la	t0, second
	sd	a0, 0(t0)

	li	s2, LARGE
	la	t0, mark
	la	t1, _start
	sub	t0, t0, t1
	add	s3, s2, t0
	lwu	a0, 0(s3)
	la	t0, third
	sd	a0, 0(t0)
	la	t1, middle
	ld	t2, 8(t1)
	li	t3, 0x200000 >> 2
	add	t2, t2, t3
	sd	t2, 8(t1)
	sfence.vma s2
	lwu	a0, 0(s3)
	la	t0, fourth
	sd	a0, 0(t0)
	ecall

	.balign	4
back:
	csrw	satp, zero
	j	finish

	.data
mark:	.word	0x73656c66
	.balign	8
first:	.dword	0
second:	.dword	0
third:	.dword	0
fourth:	.dword	-1
	.bss
	.balign	4096
root:	.space	4096
middle:	.space	4096
leaves:	.space	4096
	.text
	.balign	4096
one:	li	a0, 1
	ret
	.balign	4096
two:	li	a0, 2
	ret
