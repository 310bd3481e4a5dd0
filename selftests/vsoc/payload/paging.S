/* SPDX-License-Identifier: GPL-2.0-only */
/* Memory for the modes below M: access, page tables of Sv39, the way to the label `supervisor`. */
	.set	VALID_EXECUTABLE, 0xcf		/* D, A, X, W, R, V */
	.set	TABLE, 1

/* Opens all memory to all modes. */
	.macro	open_memory
	li	t0, -1
	csrw	pmpaddr0, t0
	li	t0, 0x1f
	csrw	pmpcfg0, t0
	.endm

/* Writes entry \index of \table: \physical is the page, or the next table. */
	.macro	map	table, index, physical, flags
	la	t1, \table
	la	t2, \physical
	srli	t2, t2, 2
	ori	t2, t2, \flags
	li	t3, 8 * \index
	add	t1, t1, t3
	sd	t2, 0(t1)
	.endm

/* Makes \root the table of the address space. */
	.macro	enter	root
	la	t0, \root
	srli	t0, t0, 12
	li	t1, 8 << 60
	or	t0, t0, t1
	csrw	satp, t0
	.endm

/* Leaves M-mode for `supervisor`. */
	.macro	enter_supervisor
	li	t0, 0x1000
	csrc	mstatus, t0
	li	t0, 0x800
	csrs	mstatus, t0
	la	t0, supervisor
	csrw	mepc, t0
	mret
	.endm

/* Calls the page at \address: \result gets the number that it returns. */
	.macro	visit	address, result
	li	s2, \address
	jalr	s2
	la	t0, \result
	sd	a0, 0(t0)
	.endm
