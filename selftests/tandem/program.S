/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A bare-metal program for the virt machine that has every kind of effect which a tandem trace
 * describes: integer and floating-point instructions, compressed ones, loads and stores of all
 * sizes, lr and sc, AMOs, CSR accesses, exceptions, timer interrupts, and three privileges. ROUNDS
 * rounds; then it powers the machine off. For RV64 and RV32.
 */
#if __riscv_xlen == 64
#define ONLY_64(...) __VA_ARGS__
#define LOAD ld
#define STORE sd
#else
#define ONLY_64(...)
#define LOAD lw
#define STORE sw
#endif
#define CLINT 0x2000000
#define MTIMECMP (CLINT + 0x4000)
#define MTIME (CLINT + 0xbff8)
#define FINISHER 0x100000
#ifndef ROUNDS
#define ROUNDS 10
#endif

	.globl _start
	.option norelax
_start:
	la	sp, stack
	la	t0, handler
	csrw	mtvec, t0
	la	t0, data
	csrw	mscratch, t0
	/* All memory for S and U. */
	li	t0, -1
	csrw	pmpaddr0, t0
	li	t0, 0x1f
	csrw	pmpcfg0, t0
	/* FS = initial; ecall from U goes to S. */
	li	t0, 0x2000
	csrs	mstatus, t0
	li	t0, 1 << 8
	csrw	medeleg, t0
	la	t0, s_handler
	csrw	stvec, t0
	li	s11, ROUNDS
round:
	la	s0, data
	/* integer and compressed */
#if __riscv_xlen == 64
	li	a0, 0x123456789abcdef
#else
	li	a0, 0x12345678
#endif
	mv	a1, s11
	add	a2, a0, a1
	c.sub	a0, a1
	mul	a3, a2, a1
	mulh	a4, a2, a0
	div	a5, a2, a1
	remu	a6, a2, a1
	ONLY_64(sraiw	a7, a2, 3)
	slti	t1, a2, 5
	auipc	t2, 1
	lui	t3, 0x12345
	xori	t4, t3, -1
	c.addi	sp, -16
	c.swsp	a0, 4(sp)
	c.lwsp	a1, 4(sp)
	ONLY_64(c.sdsp	a0, 0(sp))
	ONLY_64(c.ldsp	a1, 0(sp))
	c.addi	sp, 16
	/* all sizes */
	sb	a2, 1(s0)
	sh	a2, 2(s0)
	sw	a2, 4(s0)
	ONLY_64(sd	a2, 8(s0))
	lb	t0, 1(s0)
	lbu	t0, 1(s0)
	lh	t0, 2(s0)
	lhu	t0, 2(s0)
	lw	t0, 4(s0)
	ONLY_64(lwu	t0, 4(s0))
	ONLY_64(ld	t0, 8(s0))
	/* atomics */
	addi	s1, s0, 16
	lr.w	t0, (s1)
	addi	t0, t0, 1
	sc.w	t1, t0, (s1)
	sc.w	t1, t0, (s1)
	ONLY_64(lr.d	t0, (s1))
	ONLY_64(sc.d	t1, a2, (s1))
	amoswap.w	t2, a0, (s1)
#if __riscv_xlen == 64
	amoadd.d	t2, a1, (s1)
#else
	amoadd.w	t2, a1, (s1)
#endif
	amoxor.w	t2, a1, (s1)
#if __riscv_xlen == 64
	amoand.d	t2, a2, (s1)
#else
	amoand.w	t2, a2, (s1)
#endif
	amoor.w	t2, a3, (s1)
	amomin.w	t2, a4, (s1)
#if __riscv_xlen == 64
	amomaxu.d	t2, a5, (s1)
#else
	amomaxu.w	t2, a5, (s1)
#endif
	/* floating point */
#if __riscv_xlen == 64
	fcvt.s.l	fa0, a1
	fcvt.d.l	fa1, a2
#else
	fcvt.s.w	fa0, a1
	fcvt.d.w	fa1, a2
	c.fsw	fa0, 44(s0)
	c.flw	fa0, 44(s0)
#endif
	fadd.s	fa2, fa0, fa0
	fmul.d	fa3, fa1, fa1
	fmadd.d	fa4, fa1, fa3, fa3
	fdiv.s	fa5, fa0, fa2
	fsqrt.d	fa6, fa3
	feq.d	t0, fa6, fa1
	ONLY_64(fmv.x.d	t1, fa4)
	fmv.x.w	t1, fa4
	fsd	fa4, 24(s0)
	fld	fa7, 24(s0)
	c.fsd	fa4, 32(s0)
	c.fld	fa3, 32(s0)
	fsw	fa2, 40(s0)
	flw	ft0, 40(s0)
	fcvt.w.d	t2, fa4, rtz
	csrrwi	t0, fflags, 0
	csrr	t1, fcsr
	/* CSRs */
	csrrw	t0, mscratch, a2
	csrrsi	t1, mscratch, 5
	csrrc	t2, mscratch, a1
	csrr	t3, mhartid
	csrrs	t4, mie, zero
	csrr	t5, cycle
	csrr	t6, minstret
	/* branches and jumps */
	li	t0, 3
1:	c.addi	t0, -1
	bnez	t0, 1b
	jal	ra, function
	la	t1, function
	jalr	ra, t1
	j	2f
	ebreak
2:
	/* exceptions */
	ecall
	.word	0xffffffff
	.half	0
	.balign	4
	li	t1, 0x10
	LOAD	t0, 0(t1)
	STORE	t0, 0(t1)
	csrr	t0, 0x7a0 + 0x1f
	/* a fetch, after the jump has retired */
	jalr	ra, 0(t1)
	/* device */
	li	t1, MTIME
	LOAD	t0, 0(t1)
	/* timer interrupt, in a loop that waits for it */
	li	t2, MTIMECMP
	addi	t0, t0, 2
#if __riscv_xlen == 32
	sw	zero, 4(t2)
#endif
	STORE	t0, 0(t2)
	li	t0, 1 << 7
	csrs	mie, t0
	li	s2, 0
	csrsi	mstatus, 8
3:	addi	s3, s3, 1
	beqz	s2, 3b
	csrci	mstatus, 8
	/* U, which calls S, which calls M */
	la	t0, user
	csrw	mepc, t0
	li	t0, 0x1800
	csrc	mstatus, t0
	mret
back:
	addi	s11, s11, -1
	bnez	s11, round
	li	t0, FINISHER
	li	t1, 0x5555
	sw	t1, 0(t0)
halt:
	j	halt

function:
	c.addi	a0, 1
	ret

user:
	addi	a0, a0, 7
	fadd.d	fa0, fa1, fa1
	ecall
	j	.

	.balign	4
s_handler:
	csrr	t3, scause
	csrr	t4, sepc
	csrrw	t5, sscratch, a0
	csrr	t6, sstatus
	ecall
	j	.

	.balign	4
handler:
	csrrw	t6, mscratch, t6
	csrr	t5, mcause
	bltz	t5, timer
	li	t6, 9
	beq	t5, t6, from_s
	li	t6, 1
	beq	t5, t6, from_fetch
	csrr	t5, mepc
	lhu	t6, 0(t5)
	andi	t6, t6, 3
	addi	t6, t6, -3
	addi	t5, t5, 2
	bnez	t6, 1f
	addi	t5, t5, 2
1:	csrw	mepc, t5
	csrrw	t6, mscratch, t6
	mret
timer:
	li	t5, MTIMECMP
	li	t6, -1
#if __riscv_xlen == 32
	sw	t6, 4(t5)
#endif
	STORE	t6, 0(t5)
	li	s2, 1
	csrrw	t6, mscratch, t6
	mret
from_fetch:
	csrw	mepc, ra
	csrrw	t6, mscratch, t6
	mret
from_s:
	la	t5, back
	csrw	mepc, t5
	li	t5, 0x1800
	csrs	mstatus, t5
	csrrw	t6, mscratch, t6
	mret

	.balign	16
data:
	.fill	64, 1, 0x5a
	.fill	1024, 1, 0
stack:
