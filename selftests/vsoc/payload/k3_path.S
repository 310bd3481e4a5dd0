/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Hart 0 and hart OTHER trace loops of their own at the same time, with the trace IDs 1 and
 * 1 + 2 * OTHER, through the path of a SpacemiT K3. Hart 0 enables it from sink to source, and stops
 * with a flush, as the vendor's driver does. SCATTER: the buffer is made of pages.
 */
	.option arch, rv64gc
	.option norelax
	.set	ENCODER, 0x6000000
	.set	FUNNEL, 0x6080000
	.set	BRIDGE, 0x60c1000
	.set	ARM_FUNNEL, 0x6100000
	.set	ETF, 0x6101000
	.set	ETR, 0x6102000
	.set	PAGE, 0x1000
	.set	PAGES, 24
	.set	TURNS, 2000

	.macro	store address, value
	li	t0, \address
	li	t1, \value
	sw	t1, 0(t0)
	.endm

	.macro	unlock page
	store	\page + 0xfb0, 0xc5acce55
	.endm

	/* Encoder s0 and bridge s1 of hart \hart; then wait for the other hart, and trace */
	.macro	trace_hart hart, src
	li	s0, ENCODER + \hart * PAGE
	li	s1, BRIDGE + \hart * PAGE
	li	t0, 1
	sw	t0, 0(s1)
	li	t0, 1 | (1 + 2 * \hart) << 8
	sw	t0, 0(s1)
	ori	t0, t0, 2
	sw	t0, 0(s1)
	li	t0, 1
	sw	t0, 0(s0)
	li	t0, 1 | MODE << 4
	sw	t0, 0(s0)
	li	t0, 1 << 28 | \src << 16
	sw	t0, 8(s0)
	li	t0, 3 | MODE << 4
	sw	t0, 0(s0)
	la	t0, there
	li	t1, 1
	amoadd.d t1, t1, (t0)
	li	t2, 2
1:	ld	t1, 0(t0)
	bne	t1, t2, 1b
	li	t0, 7 | MODE << 4
	sw	t0, 0(s0)
on\src:	li	t3, TURNS
	la	t1, jump\src
loop\src:
	addi	t3, t3, -1
	jr	t1
jump\src:
	bnez	t3, loop\src
end\src:
	li	t0, 3 | MODE << 4
	sw	t0, 0(s0)
off\src:
	li	t0, 1 | MODE << 4
	sw	t0, 0(s0)
1:	lw	t0, 0(s0)
	andi	t0, t0, 8
	beqz	t0, 1b
	.endm

	/* Entry at t2 for page number t3, with the type in t4; uses t5 */
	.macro	entry
	slli	t5, t3, 12
	add	t5, t5, s2
	srli	t5, t5, 8
	or	t5, t5, t4
	sw	t5, 0(t2)
	addi	t2, t2, 4
	.endm

	.globl	_start
_start:
	csrr	t0, mhartid
	beqz	t0, main
	li	t1, OTHER
1:	bne	t0, t1, 1b
	/* until hart 0 has enabled the path */
	la	t0, there
1:	ld	t1, 0(t0)
	beqz	t1, 1b
	trace_hart OTHER, 1
	la	t1, over
	li	t0, 1
	fence
	sd	t0, 0(t1)
1:	wfi
	j	1b

main:
	unlock	ETR
	la	s2, buffer
	.if	SCATTER
	/* Pages 5 * n mod 24; after the seventh the table goes on at another place. */
	la	t2, table
	mv	s3, t2
	li	t3, 0
	li	t6, PAGES
1:	li	t4, 2
	addi	t6, t6, -1
	bnez	t6, 2f
	li	t4, 1
2:	entry
	addi	t3, t3, 5
	li	t4, PAGES
	blt	t3, t4, 3f
	sub	t3, t3, t4
3:	li	t4, PAGES - 7
	bne	t6, t4, 4f
	la	t5, table_end
	srli	t4, t5, 8
	ori	t4, t4, 3
	sw	t4, 0(t2)
	mv	t2, t5
4:	bnez	t6, 1b
	store	ETR + 0x110, 0xfbe
	.else
	mv	s3, s2
	store	ETR + 0x110, 0xf3e
	.endif
	store	ETR + 0x004, PAGES * PAGE / 4
	store	ETR + 0x028, 0
	li	t0, ETR
	sw	s3, 0x118(t0)
	sw	zero, 0x11c(t0)
	store	ETR + 0x304, 0x133
	store	ETR + 0x020, 1
	unlock	ETF
	store	ETF + 0x028, 2
	store	ETF + 0x304, 3
	store	ETF + 0x034, 0
	store	ETF + 0x020, 1
	unlock	ARM_FUNNEL
	store	ARM_FUNNEL, 0x700 | 1 | 1 << (OTHER / 4)
	store	FUNNEL, 1
	store	FUNNEL, 3
	store	FUNNEL + OTHER / 4 * PAGE, 1
	store	FUNNEL + OTHER / 4 * PAGE, 3
	trace_hart 0, 0
	la	t0, over
1:	ld	t1, 0(t0)
	beqz	t1, 1b

	store	ETR + 0x304, 0x1133
	store	ETR + 0x304, 0x1173
	li	s0, ETR
1:	lw	t0, 0x304(s0)
	andi	t0, t0, 0x40
	bnez	t0, 1b
1:	lw	t0, 0x00c(s0)
	andi	t0, t0, 4
	beqz	t0, 1b
	lwu	t0, 0x018(s0)
	la	t1, write_pointer
	sd	t0, 0(t1)
	lwu	t0, 0x00c(s0)
	la	t1, status
	sd	t0, 0(t1)
	sw	zero, 0x020(s0)
	store	0x100000, 0x5555
1:	j	1b

	.data
	.balign	8
there:	.dword	0
over:	.dword	0
	.globl	write_pointer
write_pointer: .dword 0
status:	.dword	-1
	.bss
	.balign	PAGE
table:	.space	PAGE
table_end: .space PAGE
	.globl	buffer
buffer:	.space	PAGES * PAGE
	.text
