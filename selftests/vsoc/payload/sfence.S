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
	.include "paging.S"

	.set	SMALL, 0xc0000000
	.set	LARGE, 0xc0200000

main:
	open_memory
	la	t0, back
	csrw	mtvec, t0
	map	root, 2, _start, VALID_EXECUTABLE
	map	root, 3, middle, TABLE
	map	middle, 0, leaves, TABLE
	map	middle, 1, _start, VALID_EXECUTABLE
	map	leaves, 0, one, VALID_EXECUTABLE
	enter	root
	sfence.vma
	enter_supervisor

supervisor:
	visit	SMALL, first
	map	leaves, 0, two, VALID_EXECUTABLE
	sfence.vma s2
	visit	SMALL, second

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
