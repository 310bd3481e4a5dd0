/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Bare metal program for the test of exec_log.c. It contains every case in which QEMU calls back
 * for an instruction that does not retire, or retires only later. Each traced instruction has a
 * label, payload.expect has the labels in the order in which the instructions must retire.
 *
 * ENCODER is the page that the plugin takes for the encoder's: any MMIO page
 * that swallows a word at offset 0.
 */
#define UNMAPPED 0x01000000	/* nothing is mapped here: access fault */
#define UART 0x10000000
#define CLINT 0x02000000

	.macro X name
\name:
	.endm
	.option norelax
	.option norvc

	.globl _start
_start:
	csrr	t0, mhartid
	bnez	t0, park
	lla	t0, m_handler
	csrw	mtvec, t0
	li	t0, -1
	csrw	pmpaddr0, t0
	li	t0, 0x1f
	csrw	pmpcfg0, t0
	lla	t0, s_handler
	csrw	stvec, t0
	li	t0, 1 << 8		/* user ecall goes to S */
	csrw	medeleg, t0
	li	s0, ENCODER
	li	s1, UART
	li	s2, UNMAPPED
	lla	s3, word
	li	s5, 0			/* a counter */
	li	s6, 0
	li	s7, 1 << 7		/* mie.MTIE */
	li	s8, CLINT + 0x4000	/* mtimecmp of hart 0 */
	li	s9, CLINT + 0xbff8	/* mtime, 10 MHz */
	li	s10, 100000
	li	s11, 3 << 11		/* mstatus.MPP */
	li	t0, 7
	sw	t0, 0(s0)		/* start: not in the log */
X p0;	li	t1, 3
X p1;	addi	s5, s5, 1
	/* a loop, compressed and full-size instructions */
X p2;	addi	t1, t1, -1
X p3;	bnez	t1, p2
	.option rvc
X p4;	c.li	a0, 4
X p5;	c.nop
	.option norvc
	/* synchronous traps: struck once, and not executed again */
X e0;	ecall
X e1;	ebreak
	.option rvc
X e2;	c.ebreak
	.option norvc
X e3;	csrw	cycle, x0		/* read only: illegal */
X e4;	lw	t0, 0(s2)		/* access fault in the middle of a block */
X e5;	addi	s5, s5, 1
	/* a trap whose handler returns to the instruction itself, which then works */
X e6;	lw	t0, 0(s6)		/* s6 is 0 at first; the handler makes it s3 */
X e7;	addi	s5, s5, 1
	/* MMIO in the middle of a block: QEMU abandons the instruction and runs it again */
X m0;	addi	s5, s5, 1
X m1;	lbu	t0, 5(s1)
X m2;	addi	s5, s5, 1
X m3;	lbu	t0, 5(s1)
X m4;	lbu	t0, 5(s1)
X m5;	addi	s5, s5, 1
	/* an atomic on MMIO cannot be done in parallel: EXCP_ATOMIC, run again */
X am0;	amoor.w	t0, x0, (s0)
X am1;	addi	s5, s5, 1
X am2;	amoadd.w t0, x0, (s3)
X am3;	lr.w	t0, (s3)
X am4;	sc.w	t1, t0, (s3)
	/* a store into the running block */
X c0;	lla	t2, c5
X c2;	lw	t3, 0(t2)
X c3;	sw	t3, 0(t2)
X c4;	fence.i
X c5;	addi	s5, s5, 1
	/* a fetch fault: the jump has retired */
X fe0;	jalr	ra, 0(s2)
X fe1;	addi	s5, s5, 1
	/* an interrupt in a jump to itself: never struck */
X i0;	csrw	mie, s7
X i1;	sd	x0, 0(s8)		/* pending now, but interrupts are off */
X i2;	csrsi	mstatus, 8		/* the interrupt comes after this one */
X i3;	addi	s5, s5, 1
X i4;	ld	t0, 0(s9)		/* mtime */
X i5;	add	t0, t0, s10		/* a moment later */
X i6;	sd	t0, 0(s8)
X i7;	j	i7			/* until the handler moves on */
X i8;	ld	t0, 0(s9)
X i9;	add	t0, t0, s10
X ia;	sd	t0, 0(s8)
X ib;	wfi				/* if the timer interrupt came before wfi, the handler sets
					 * the timer again */
X ic;	csrci	mstatus, 8
	/* U mode and back through S: delegated ecall, illegal xRET */
X u0;	csrc	mstatus, s11		/* MPP = U */
X u1;	lla	t0, u_code
X u3;	csrw	mepc, t0
X u4;	mret
X u_code; addi	s5, s5, 1
X u6;	ecall			/* to S */
X u7;	sret				/* illegal in U: traps to M */
X u8;	lw	t0, 0(s2)		/* fault in U: traps to M */
X u9;	ecall				/* to S, which asks M to come back */
	/* a four-byte instruction that crosses a page boundary */
	.option rvc
X z0;	j	z1
	.balign 4096
	.skip 4094 - 4
X z1;	addi	s5, s5, 1
X z2;	addi	s5, s5, 1
	.option norvc
X q0;	li	t0, 3
X q1;	sw	t0, 0(s0)		/* stop: the last one in the log */
	li	t0, 0x5555		/* power off */
	li	t1, 0x100000
	sw	t0, 0(t1)
park:	wfi
	j	park

	/*
	 * Interrupt: set the timer far ahead, and return to the instruction after i7 if i7 was
	 * interrupted. If ib was not reached, as on a busy host, set the timer twice as far ahead
	 * as before. Breakpoint of 2 bytes: skip 2. Fetch fault: return to ra. Fault at address 0:
	 * set s6 = s3 and retry. From S: return to M at z0. Otherwise: skip 4.
	 */
	.option rvc		/* without this the assembler assumes 4-byte alignment */
	.balign 4
	.option norvc
X m_handler; csrr t5, mcause
X h1;	bltz	t5, h_interrupt
X h2;	li	t4, 1
X h3;	beq	t5, t4, h_fetch
X h4;	csrr	t6, mepc
X h5;	li	t4, 9
X h6;	beq	t5, t4, h_from_s
X h7;	lla	t4, e2
X h9;	beq	t6, t4, h_short
X ha;	bnez	s6, hc
X hb;	lla	t4, e6
X hb2;	beq	t6, t4, h_again
X hc;	addi	t6, t6, 4
X hd;	csrw	mepc, t6
X he;	mret
X h_short; addi	t6, t6, 2
X hs1;	csrw	mepc, t6
X hs2;	mret
X h_again; mv	s6, s3
X hg1;	mret
X h_fetch; csrw	mepc, ra
X hf1;	mret
X h_interrupt; li t4, -1
X hi1;	sd	t4, 0(s8)
X hi2;	lla	t4, i7
X hi4;	csrr	t6, mepc
X hi5;	bne	t6, t4, hw1
X hi6;	addi	t6, t6, 4
X hi7;	csrw	mepc, t6
X hi8;	mret
X hw1;	lla	t4, ib
X hw3;	bne	t6, t4, hi8
X hw4;	slli	s10, s10, 1
X hw5;	ld	t4, 0(s9)
X hw6;	add	t4, t4, s10
X hw7;	sd	t4, 0(s8)
X hw8;	mret
X h_from_s; csrs mstatus, s11		/* MPP = M */
X hm1;	lla	t6, z0
X hm3;	csrw	mepc, t6
X hm4;	mret

	.option rvc		/* without this the assembler assumes 4-byte alignment */
	.balign 4
	.option norvc
X s_handler; csrr t6, sepc
X s1x;	addi	t6, t6, 4
X s2x;	csrw	sepc, t6
X s3x;	lla	t4, z0
X s5x;	beq	t6, t4, s8x
X s6x;	sret
X s8x;	ecall

	.balign 8
word:	.quad	0
