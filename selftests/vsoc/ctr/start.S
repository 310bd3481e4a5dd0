/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A load for Control Transfer Records: executes every kind of control transfer, in any mode, and
 * traps frequently. Its handlers read the ring and change it.
 */
	.option arch, rv64gc
	.option norelax

	.set	TEST_FINISHER, 0x100000
	.set	NO_MEMORY, 0x8000000
	.set	FROZEN, 31
	.set	SSIP, 1 << 1
	.set	VSSIP, 1 << 2
	.set	LCOFIP, 1 << 13

	.text
	.globl	_start
_start:
	csrr	t0, mhartid
	bnez	t0, 1f
	la	sp, stack_end
	la	t0, m_handler
	csrw	mtvec, t0
	la	t0, s_handler
	csrw	stvec, t0
	.ifndef	NO_GUESTS
	csrw	0x205, t0		/* vstvec */
	.endif
	.ifdef	ZC
	la	t0, jump_table
	csrw	0x17, t0		/* jvt */
	.endif
	call	main
	li	t0, TEST_FINISHER
	li	t1, 0x5555
	sw	t1, 0(t0)
1:	wfi
	j	1b

/*
 * run(seed, rounds, code, guest): runs @code in the mode given by mstatus or, for a guest, by
 * hstatus, until it executes an instruction that is all ones.
 */
	.globl	run
run:	addi	sp, sp, -112
	sd	ra, 0(sp)
	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11
	sd	s\n, 8 + 8 * \n(sp)
	.endr
	csrw	mscratch, sp
	csrw	mepc, a2
	mv	s2, a0
	mv	s3, a1
	li	a7, 0
	bnez	a3, 1f
	.ifdef	NMI
	csrr	t0, mstatus
	li	t1, 0x1800
	and	t0, t0, t1
	csrw	0x744, t0		/* mnstatus: MPP and MNPP have the same bits */
	csrw	0x741, a2		/* mnepc */
	.word	0x70200073		/* MNRET */
	.endif
	mret
	/* SRET enters the guest: not every emulator lets software write mstatus.MPV. */
1:	csrw	sepc, a2
	sret
run_end:
	/*
	 * Not every emulator lets software clear mstatus.MPV: an MRET from M-mode to M-mode does.
	 */
	li	t0, 0x1800
	csrs	mstatus, t0
	la	t0, 1f
	csrw	mepc, t0
	mret
1:	csrr	sp, mscratch
	ld	ra, 0(sp)
	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11
	ld	s\n, 8 + 8 * \n(sp)
	.endr
	addi	sp, sp, 112
	ret

/*
 * Each handler compares the rings by reading a register, clears FROZEN half of the time, and now
 * and then reads an entry, clears the ring, or moves the write pointer. It makes the interrupts in
 * a7 pending. Each handler uses registers of its own that the load does not use.
 */
	.macro	handler l, a, b, cause, epc, ip, mask
	.balign	4
\l\()_handler:
	csrr	\a, sctrstatus_
	csrr	\b, \cause
	bltz	\b, \l\()_interrupt
	.ifc	\l, m
	li	\a, 2
	bne	\a, \b, 1f
	csrr	\a, mepc
	lw	\a, 0(\a)
	addi	\a, \a, 1
	beqz	\a, run_end
1:
	.endif
	csrr	\a, \epc
	addi	\a, \a, 4
	csrw	\epc, \a
	csrs	\ip, a7
	li	a7, 0
	j	1f
\l\()_interrupt:
	li	\a, \mask
	csrc	\ip, \a
1:	andi	\a, s2, 1
	beqz	\a, 1f
	li	\a, 1
	slli	\a, \a, FROZEN
	csrc	sctrstatus_, \a
1:	srli	\a, s2, 20
	andi	\a, \a, 31
	bnez	\a, 1f
	.word	0x10400073		/* SCTRCLR */
1:	srli	\a, s2, 25
	andi	\a, \a, 15
	bnez	\a, 1f
	srli	\a, s2, 30
	andi	\a, \a, 0xff
	addi	\a, \a, 0x200
	csrw	siselect_, \a
	csrr	\a, sireg_
	csrr	\a, sireg2_
	csrr	\a, sireg3_
	csrr	\a, sireg4_
1:	srli	\a, s2, 38
	andi	\a, \a, 63
	bnez	\a, 1f
	srli	\a, s2, 44
	andi	\a, \a, 0xff
	csrw	sctrstatus_, \a
	addi	\a, \a, 0x200
	csrw	siselect_, \a
	not	\b, s2
	csrw	sireg_, \b
	csrw	sireg2_, \b
	csrw	sireg3_, \b
1:	\l\()ret
	.endm

	/* CSR numbers: a distribution's assembler may not know the names. */
	.set	sctrstatus_, 0x14f
	.set	siselect_, 0x150
	.set	vsiselect_, 0x250
	.set	sireg_, 0x151
	.set	sireg2_, 0x152
	.set	sireg3_, 0x153
	.set	sireg4_, 0x155
	handler	m, t5, t6, mcause, mepc, mip, SSIP | VSSIP | LCOFIP
	handler	s, t3, t4, scause, sepc, sip, SSIP | LCOFIP

	.globl	load
load:	la	sp, load_stack_end
	li	s4, 6364136223846793005
	li	s5, 1442695040888963407
again:	mul	s2, s2, s4
	add	s2, s2, s5
	srli	a0, s2, 59
	slli	a0, a0, 3
	la	a1, actions
	add	a1, a1, a0
	ld	a1, 0(a1)
	jr	a1
next:	addi	s3, s3, -1
	bnez	s3, again
	.word	0xffffffff

direct_call:
	jal	leaf
	j	next
indirect_call:
	la	a1, leaf
	jalr	a1
	j	next
alternate_link:
	jal	t0, leaf_t0
	la	a1, leaf_t0
	jalr	t0, a1
	j	next
	/* Two jumps through a link register that is no call and no return. */
swap:	jal	t0, swapped
	j	next
swapped:
	jalr	ra, t0
recurse:
	srli	a2, s2, 55
	andi	a2, a2, 15
	jal	deep
	j	next
unbalanced:
	/* Returns without calls, and calls without returns. */
	la	ra, 1f
	ret
1:	jal	2f
2:	j	next
	.option	push
	.option	norvc
jumps:	la	a1, 1f
	jalr	a4, 0(a1)
1:	jal	a4, 2f
2:	la	a1, 3f
	jalr	zero, 0(a1)
3:	j	4f
4:	jalr	a4, 0(a4)
	.option	pop
	/* The jump above leads here the first time, and then never to the instruction after 4f. */
	j	next
branches:
	andi	a2, s2, 1
	bnez	a2, 1f
1:	beqz	a2, 2f
	nop
2:	blt	a2, s2, 3f
	nop
3:	srli	a2, s2, 57
1:	addi	a2, a2, -1
	bgtz	a2, 1b
	j	next
compressed:
	la	a1, 1f
	jr	a1
1:	la	a1, leaf
	jalr	a1
	andi	a2, s2, 2
	beqz	a2, 1f
	la	t0, leaf
	jalr	t0
1:	bnez	a2, 1f
	nop
1:	j	next
	.option	push
	.option	norvc
call:	ecall
	j	next
breakpoint:
	ebreak
	j	next
fault:	li	a1, NO_MEMORY
	lw	a1, 0(a1)
	j	next
	.option	pop
pending_s:
	li	a7, SSIP
	j	call
pending_vs:
	li	a7, VSSIP
	j	call
pending_lcofi:
	li	a7, LCOFIP
	j	call
more:
	.ifdef	ZC
	andi	a2, s2, 4
	beqz	a2, 1f
	.half	0xa002			/* CM.JT 0 */
	nop
table_jump:
	.half	0xa082			/* CM.JALT 32 */
	.endif
1:	j	next
table_call:
	.half	0xb842			/* CM.PUSH {ra}, -16 */
	.half	0xbe42			/* CM.POPRET {ra}, 16 */

leaf:	ret
leaf_t0:
	jr	t0
deep:	beqz	a2, leaf
	addi	a2, a2, -1
	addi	sp, sp, -16
	sd	ra, 0(sp)
	jal	deep
	ld	ra, 0(sp)
	addi	sp, sp, 16
	ret

/* Accesses each register, and executes SCTRCLR, whether the mode may do so or not. */
	.globl	access
access:	.option	push
	.option	norvc
	andi	a1, s2, 0xff
	addi	a1, a1, 0x200
	csrw	siselect_, a1
	csrw	vsiselect_, a1
	.irp	csr, 0x14e, 0x14f, 0x15f, 0x24e, 0x34e, 0x150, 0x250, 0x151, 0x152, 0x153, 0x155, 0x156, 0x157
	csrr	a0, \csr
	.endr
	.irp	csr, 0x251, 0x252, 0x253, 0x255, 0x256, 0x257
	csrr	a0, \csr
	.endr
	.irp	csr, 0x14f, 0x151, 0x152, 0x153, 0x155, 0x251, 0x252, 0x253, 0x257, 0x14e, 0x24e
	csrw	\csr, s2
	csrs	\csr, s3
	.endr
	.word	0x10400073
	csrw	siselect_, s2
	csrw	vsiselect_, s2
	addi	s3, s3, -1
	bnez	s3, access
	.word	0xffffffff
	.option	pop

	.data
	.balign	8
actions:
	.dword	direct_call, direct_call, indirect_call, indirect_call
	.dword	alternate_link, alternate_link, swap, swap
	.dword	recurse, recurse, recurse, unbalanced
	.dword	jumps, jumps, branches, branches
	.dword	compressed, compressed, compressed, more
	.dword	call, call, call, call
	.dword	call, breakpoint, breakpoint, fault
	.dword	pending_s, pending_vs, pending_lcofi, call
	.ifdef	ZC
	.balign	64
jump_table:
	.rept	32
	.dword	table_jump
	.endr
	.dword	table_call
	.endif
	.bss
	.balign	16
stack:	.space	8192
stack_end:
load_stack:
	.space	8192
load_stack_end:
