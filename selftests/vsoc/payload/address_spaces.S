/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A write of satp, and a fence of an ASID, keep global translations only. An access to any other page
 * follows the current page table, in both halves of the addresses, for the user and the supervisor.
 */
# check: values
# value: user_a 1
# value: user_b 2
# value: user_fenced 1
# value: upper_user_a 1
# value: upper_user_b 2
# value: global 1
# value: global_kept 1
# value: global_fenced 2
# value: upper_b 2
# value: upper_a 1
# value: upper_fenced 2
# value: lower_b 2
# value: lower_a 1
# value: lower_fenced 2
	.include "trace.S"
	.include "paging.S"

	.set	LOCAL, VALID_EXECUTABLE
	.set	GLOBAL, LOCAL | 0x20		/* G */
	.set	USER, LOCAL | 0x10		/* U */
	.set	USER_PAGE, 0xc0000000
	.set	UPPER_USER_PAGE, 0xffffffff80000000
	.set	LOWER_PAGE, 0xc0001000
	.set	UPPER_PAGE, 0xffffffff80001000
	.set	GLOBAL_PAGE, 0xffffffffc0000000

/* Calls the page of the user at \address: \result gets the number that it returns. */
	.macro	visit_user	address, result
	li	t0, \address
	csrw	sepc, t0
	li	t0, 0x100
	csrc	sstatus, t0
	la	s4, 1f
	sret
	.balign	4
1:	la	t0, \result
	sd	a0, 0(t0)
	.endm

main:
	open_memory
	la	t0, trap
	csrw	mtvec, t0
	map	root_a, 2, _start, GLOBAL
	map	root_a, 3, middle_a, TABLE
	map	root_a, 510, middle_a, TABLE
	map	root_a, 511, middle_g, TABLE
	map	root_b, 2, _start, GLOBAL
	map	root_b, 3, middle_b, TABLE
	map	root_b, 510, middle_b, TABLE
	map	root_b, 511, middle_g, TABLE
	map	middle_a, 0, leaves_a, TABLE
	map	middle_b, 0, leaves_b, TABLE
	map	middle_g, 0, leaves_g, TABLE
	map	leaves_a, 0, user_one, USER
	map	leaves_a, 1, one, LOCAL
	map	leaves_b, 0, user_two, USER
	map	leaves_b, 1, two, LOCAL
	map	leaves_g, 0, one, GLOBAL
	enter	root_a
	sfence.vma
	enter_supervisor

supervisor:
	li	s3, 0
	visit_user USER_PAGE, user_a
	enter	root_b
	visit_user USER_PAGE, user_b
	map	leaves_b, 0, user_one, USER
	sfence.vma zero, s3
	visit_user USER_PAGE, user_fenced

	map	leaves_b, 0, user_two, USER
	enter	root_a
	visit_user UPPER_USER_PAGE, upper_user_a
	enter	root_b
	visit_user UPPER_USER_PAGE, upper_user_b

	enter	root_a
	visit	GLOBAL_PAGE, global
	map	leaves_g, 0, two, GLOBAL
	enter	root_b
	visit	GLOBAL_PAGE, global_kept
	sfence.vma
	visit	GLOBAL_PAGE, global_fenced

	visit	UPPER_PAGE, upper_b
	enter	root_a
	visit	UPPER_PAGE, upper_a
	map	leaves_a, 1, two, LOCAL
	sfence.vma zero, s3
	visit	UPPER_PAGE, upper_fenced
	map	leaves_a, 1, one, LOCAL
	sfence.vma

	enter	root_b
	visit	LOWER_PAGE, lower_b
	enter	root_a
	visit	LOWER_PAGE, lower_a
	map	leaves_a, 1, two, LOCAL
	sfence.vma zero, s3
	visit	LOWER_PAGE, lower_fenced
	ecall

/* The user's ecall returns to the supervisor, at s4; any other trap is the end. */
	.balign	4
trap:
	csrr	t0, mcause
	li	t1, 8
	bne	t0, t1, 2f
	csrw	mepc, s4
	li	t0, 0x800
	csrs	mstatus, t0
	mret
2:	csrw	satp, zero
	j	finish

	.data
	.balign	8
user_a:		.dword	0
user_b:		.dword	0
user_fenced:	.dword	0
upper_user_a:	.dword	0
upper_user_b:	.dword	0
global:		.dword	0
global_kept:	.dword	0
global_fenced:	.dword	0
upper_b:	.dword	0
upper_a:	.dword	0
upper_fenced:	.dword	0
lower_b:	.dword	0
lower_a:	.dword	0
lower_fenced:	.dword	0
	.bss
	.balign	4096
root_a:		.space	4096
root_b:		.space	4096
middle_a:	.space	4096
middle_b:	.space	4096
middle_g:	.space	4096
leaves_a:	.space	4096
leaves_b:	.space	4096
leaves_g:	.space	4096
	.text
	.balign	4096
one:	li	a0, 1
	ret
	.balign	4096
two:	li	a0, 2
	ret
	.balign	4096
user_one:
	li	a0, 1
	ecall
	.balign	4096
user_two:
	li	a0, 2
	ecall
