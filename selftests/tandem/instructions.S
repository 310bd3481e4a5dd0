/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A bare-metal program for the virt machine that executes every instruction that the executor knows with
 * all pairs of a table of operands: results, accrued exceptions, and memory. For RV64 and RV32. With ZCMP,
 * only push, pop and jumps through a table, whose encodings are those of compressed stores of double precision.
 *
 * What the assembler does not know is given as its word: rd is a0, rs1 a1, rs2 a2.
 */
#if __riscv_xlen == 64
#define LOAD ld
#define STORE sd
#define BYTES 8
#define WORD .dword
#else
#define LOAD lw
#define STORE sw
#define BYTES 4
#define WORD .word
#endif

	.globl _start
	.option norelax
_start:
	la	t0, handler
	csrw	mtvec, t0
	li	t0, 0x2000
	csrs	mstatus, t0
	la	sp, stack
	la	s3, data
	la	s1, values
	la	s4, values_end
	j	begin

	.balign	4
handler:
	j	handler

/* Each pair of values in a1 and a2, for \insn a0, a1, a2. */
.macro pairs insn:vararg
	la	s0, values
10:	LOAD	a1, (s0)
	la	s2, values
11:	LOAD	a2, (s2)
	\insn
	addi	s2, s2, BYTES
	bne	s2, s4, 11b
	addi	s0, s0, BYTES
	bne	s0, s4, 10b
.endm
.macro each insn:vararg
	la	s0, values
10:	LOAD	a1, (s0)
	\insn
	addi	s0, s0, BYTES
	bne	s0, s4, 10b
.endm
.macro words list:vararg
	.irp	word, \list
	pairs	.4byte (\word) | 10 << 7 | 11 << 15 | 12 << 20
	.endr
.endm
.macro words1 list:vararg
	.irp	word, \list
	each	.4byte (\word) | 10 << 7 | 11 << 15
	.endr
.endm
.macro branch insn
	pairs	\insn a1, a2, 12f; addi a0, a0, 1; 12:
.endm
.macro compressed insn
	pairs	mv a0, a1; \insn a0, a2
.endm
.macro compressed1 half
	each	mv a0, a1; .2byte \half | 2 << 7
.endm
.macro atomic insn
	pairs	STORE a1, (s3); \insn a0, a2, (s3); LOAD a3, (s3)
.endm

begin:
#ifndef ZCMP
	.irp	insn, add, sub, sll, slt, sltu, xor, srl, sra, or, and, mul, mulh, mulhsu, mulhu, div, divu, rem, remu
	pairs	\insn a0, a1, a2
	.endr
	/* andn orn xnor min minu max maxu rol ror bclr bext binv bset clmul sh1add sh2add sh3add czero.eqz czero.nez */
	words	0x40007033, 0x40006033, 0x40004033, 0x0a004033, 0x0a005033, 0x0a006033, 0x0a007033, 0x60001033, 0x60005033
	words	0x48001033, 0x48005033, 0x68001033, 0x28001033, 0x0a001033
	words	0x20002033, 0x20004033, 0x20006033, 0x0e005033, 0x0e007033
	/* clz ctz cpop sext.b sext.h orc.b */
	words1	0x60001013, 0x60101013, 0x60201013, 0x60401013, 0x60501013, 0x28705013
	.irp	insn, addi, slti, sltiu, xori, ori, andi
	.irp	imm, -2048, -1, 0, 1, 85, 2047
	each	\insn a0, a1, \imm
	.endr
	.endr
	/* slli srli srai rori bclri bexti binvi bseti */
	.irp	word, 0x1013, 0x5013, 0x40005013, 0x60005013, 0x48001013, 0x48005013, 0x68001013, 0x28001013
	.irp	amount, 0, 1, 7, 8, 31
	words1	\word | \amount << 20
	.endr
#if __riscv_xlen == 64
	.irp	amount, 32, 33, 63
	words1	\word | \amount << 20
	.endr
#endif
	.endr
#if __riscv_xlen == 64
	.irp	insn, addw, subw, sllw, srlw, sraw, mulw, divw, divuw, remw, remuw
	pairs	\insn a0, a1, a2
	.endr
	/* clmulr clmulh; for RV32, QEMU's riscv64 computes them with 64 bits */
	words	0x0a002033, 0x0a003033
	/* rolw rorw add.uw sh1add.uw sh2add.uw sh3add.uw */
	words	0x6000103b, 0x6000503b, 0x0800003b, 0x2000203b, 0x2000403b, 0x2000603b
	/* rev8 zext.h clzw ctzw cpopw */
	words1	0x6b805013, 0x0800403b, 0x6000101b, 0x6010101b, 0x6020101b
	.irp	imm, -2048, -1, 0, 1, 2047
	each	addiw a0, a1, \imm
	.endr
	/* slliw srliw sraiw roriw slli.uw */
	.irp	word, 0x101b, 0x501b, 0x4000501b, 0x6000501b, 0x0800101b
	.irp	amount, 0, 1, 8, 31
	words1	\word | \amount << 20
	.endr
	.endr
	words1	0x0800101b | 45 << 20
#else
	/* rev8 zext.h */
	words1	0x69805013, 0x08004033
#endif
	lui	a0, 0x80000
	lui	a0, 0x7ffff
	auipc	a0, 0xfffff
	auipc	a0, 0x12345
	.irp	insn, beq, bne, blt, bge, bltu, bgeu
	branch	\insn
	.endr

	/* C, Zcb */
	.irp	insn, c.add, c.mv, c.sub, c.xor, c.or, c.and
	compressed \insn
	.endr
#if __riscv_xlen == 64
	compressed c.addw
	compressed c.subw
	each	mv a0, a1; c.addiw a0, -32
	each	mv a0, a1; c.addiw a0, 31
	each	mv a0, a1; c.srli a0, 63
	each	mv a0, a1; c.srai a0, 33
	each	mv a0, a1; c.slli a0, 47
	compressed1 0x9c71	/* c.zext.w */
	each	c.sdsp a1, 24(sp); c.ldsp a0, 24(sp)
	each	mv a0, s3; c.sd a1, 8(a0); c.ld a2, 8(a0)
#else
	c.jal	13f
13:
	fcvt.s.w fa1, s3
	c.fswsp	fa1, 20(sp)
	c.flwsp	fa2, 20(sp)
	mv	a0, s3
	c.fsw	fa1, 64(a0)
	c.flw	fa2, 64(a0)
#endif
	each	mv a0, a1; c.addi a0, -32
	each	mv a0, a1; c.addi a0, 31
	each	mv a0, a1; c.andi a0, -7
	each	mv a0, a1; c.srli a0, 5
	each	mv a0, a1; c.srai a0, 31
	each	mv a0, a1; c.slli a0, 9
	each	c.swsp a1, 36(sp); c.lwsp a0, 36(sp)
	each	mv a0, s3; c.sw a1, 64(a0); c.lw a2, 64(a0)
	each	mv a0, a1; c.beqz a0, 12f; c.li a0, -1; 12:
	each	mv a0, a1; c.bnez a0, 12f; c.li a0, 31; 12:
	c.lui	a0, 0xfffe1
	c.lui	a0, 31
	c.addi16sp sp, -64
	c.addi16sp sp, 64
	c.addi4spn a0, sp, 1020
	/* c.zext.b c.sext.b c.zext.h c.sext.h c.not of a0; c.mul a0, a2 */
	.irp	half, 0x9c61, 0x9c65, 0x9c69, 0x9c6d, 0x9c75
	compressed1 \half
	.endr
	pairs	mv a0, a1; .2byte 0x9c41 | 2 << 7 | 4 << 2
	/* a0 is the base: c.sb a1, c.lbu a2; c.sh a1, c.lhu a2, c.lh a2 */
	each	mv a0, s3; .2byte 0x8800 | 3 << 2 | 2 << 7 | 0x60, 0x8000 | 4 << 2 | 2 << 7 | 0x60
	each	mv a0, s3; .2byte 0x8c00 | 3 << 2 | 2 << 7 | 0x20, 0x8400 | 4 << 2 | 2 << 7 | 0x20, 0x8440 | 4 << 2 | 2 << 7 | 0x20
	la	a0, 12f
	c.jalr	a0
12:	la	a0, 12f
	c.jr	a0
	.balign	4
12:	jal	t0, 12f
	.balign	4
12:	lla	a0, 12f + 1
	jalr	t1, -1(a0)
12:
	/* Memory. */
	.irp	offset, 0, 1, 3, -5
	each	sb a1, \offset(s3); lb a0, \offset(s3); lbu a0, \offset(s3)
	each	sh a1, \offset(s3); lh a0, \offset(s3); lhu a0, \offset(s3)
	each	sw a1, \offset(s3); lw a0, \offset(s3)
#if __riscv_xlen == 64
	each	sd a1, \offset(s3); ld a0, \offset(s3); lwu a0, \offset(s3)
#endif
	.endr
	.irp	insn, amoswap.w, amoadd.w, amoxor.w, amoand.w, amoor.w, amomin.w, amomax.w, amominu.w, amomaxu.w
	atomic	\insn
	.endr
	pairs	sw a1, (s3); lr.w a0, (s3); sc.w a3, a2, (s3); lw a0, (s3)
#if __riscv_xlen == 64
	.irp	insn, amoswap.d, amoadd.d, amoxor.d, amoand.d, amoor.d, amomin.d, amomax.d, amominu.d, amomaxu.d
	atomic	\insn
	.endr
	pairs	sd a1, (s3); lr.d a0, (s3); sc.d a3, a2, (s3); ld a0, (s3)
#endif
	/* amoswap, amoadd, amoxor, amoand, amoor, amomin, amomax, amominu, amomaxu of a byte and of two, at s3 */
	.irp	word, 0x0800002f, 0x0000002f, 0x2000002f, 0x6000002f, 0x4000002f, 0x8000002f, 0xa000002f, 0xc000002f, 0xe000002f
	pairs	STORE a1, (s3); .4byte (\word) | 10 << 7 | 19 << 15 | 12 << 20, (\word) | 10 << 7 | 19 << 15 | 12 << 20 | 1 << 12
	.endr
	/* amocas.b, amocas.h, amocas.w of a0 and s1, which stores if a1 and a2 are the same */
	.irp	width, 0, 1, 2
	pairs	STORE a1, (s3); mv a0, a2; .4byte 0x2800002f | \width << 12 | 10 << 7 | 19 << 15 | 9 << 20
	.endr
#if __riscv_xlen == 64
	pairs	STORE a1, (s3); mv a0, a2; .4byte 0x2800302f | 10 << 7 | 19 << 15 | 9 << 20
#endif
	fence
	fence.i

	/* CSRs. */
	each	csrrw a0, mscratch, a1; csrrs a0, mscratch, s3; csrrc a0, mscratch, a1; csrr a0, mscratch
	csrrwi	a0, mscratch, 21
	csrrsi	a0, mscratch, 10
	csrrci	a0, mscratch, 1
	each	csrrw a0, fcsr, a1; csrrs a0, frm, x0; csrrs a0, fflags, x0
	csrw	fcsr, x0

/* Floating point: fa1 and fa2 are each pair of 64 bits, which are no NaN box in some; a3 receives the flags. */
.macro float_pairs table, insn:vararg
	la	s0, \table
	la	s5, \table\()_end
10:	fld	fa1, (s0)
	la	s2, \table
11:	fld	fa2, (s2)
	\insn
	csrrwi	a3, fflags, 0
	addi	s2, s2, 8
	bne	s2, s5, 11b
	addi	s0, s0, 8
	bne	s0, s5, 10b
.endm
.macro floats table, insn:vararg
	la	s0, \table
	la	s5, \table\()_end
10:	fld	fa1, (s0)
	\insn
	csrrwi	a3, fflags, 0
	addi	s0, s0, 8
	bne	s0, s5, 10b
.endm
	.irp	mode, rne, rtz, rdn, rup, rmm
	.irp	insn, fadd.s, fsub.s, fmul.s, fdiv.s
	float_pairs singles, \insn fa0, fa1, fa2, \mode
	.endr
	.irp	insn, fadd.d, fsub.d, fmul.d, fdiv.d
	float_pairs doubles, \insn fa0, fa1, fa2, \mode
	.endr
	floats	singles, fsqrt.s fa0, fa1, \mode
	floats	doubles, fsqrt.d fa0, fa1, \mode
	/* The third operand is the one before. */
	.irp	insn, fmadd.s, fmsub.s, fnmsub.s, fnmadd.s
	float_pairs singles, \insn fa3, fa1, fa2, fa4, \mode; fmv.d fa4, fa1
	.endr
	.irp	insn, fmadd.d, fmsub.d, fnmsub.d, fnmadd.d
	float_pairs doubles, \insn fa3, fa1, fa2, fa4, \mode; fmv.d fa4, fa2
	.endr
	floats	doubles, fcvt.s.d fa0, fa1, \mode
	floats	singles, fcvt.d.s fa0, fa1
	.irp	insn, fcvt.w.s, fcvt.wu.s
	floats	singles, \insn a0, fa1, \mode
	.endr
	.irp	insn, fcvt.w.d, fcvt.wu.d
	floats	doubles, \insn a0, fa1, \mode
	.endr
	.irp	insn, fcvt.s.w, fcvt.s.wu
	each	\insn fa0, a1, \mode; csrrwi a3, fflags, 0
	.endr
#if __riscv_xlen == 64
	.irp	insn, fcvt.l.s, fcvt.lu.s
	floats	singles, \insn a0, fa1, \mode
	.endr
	.irp	insn, fcvt.l.d, fcvt.lu.d
	floats	doubles, \insn a0, fa1, \mode
	.endr
	.irp	insn, fcvt.s.l, fcvt.s.lu, fcvt.d.l, fcvt.d.lu
	each	\insn fa0, a1, \mode; csrrwi a3, fflags, 0
	.endr
#endif
	.endr
	each	fcvt.d.w fa0, a1; fcvt.d.wu fa0, a1; csrrwi a3, fflags, 0
	/* The dynamic mode. */
	.irp	mode, 0, 1, 2, 3, 4
	fsrmi	\mode
	floats	doubles, fcvt.s.d fa0, fa1
	floats	singles, fadd.s fa0, fa1, fa2
	/* fround.s fround.d froundnx.s froundnx.d of fa1 to fa0 */
	.irp	word, 0x404071d3, 0x424071d3, 0x405071d3, 0x425071d3
	floats	doubles, .4byte (\word & ~0xfff80) | 10 << 7 | 11 << 15 | 7 << 12
	floats	singles, .4byte (\word & ~0xfff80) | 10 << 7 | 11 << 15 | 7 << 12
	.endr
	.endr
	fsrmi	0
	.irp	insn, fsgnj.s, fsgnjn.s, fsgnjx.s, fmin.s, fmax.s
	float_pairs singles, \insn fa0, fa1, fa2
	.endr
	.irp	insn, fsgnj.d, fsgnjn.d, fsgnjx.d, fmin.d, fmax.d
	float_pairs doubles, \insn fa0, fa1, fa2
	.endr
	.irp	insn, feq.s, flt.s, fle.s
	float_pairs singles, \insn a0, fa1, fa2
	.endr
	.irp	insn, feq.d, flt.d, fle.d
	float_pairs doubles, \insn a0, fa1, fa2
	.endr
	floats	singles, fclass.s a0, fa1; fmv.x.w a0, fa1; fsw fa1, 4(s3); flw fa0, 4(s3)
	floats	doubles, fclass.d a0, fa1; fsd fa1, 4(s3); fld fa0, 4(s3); c.fsdsp fa1, 16(sp); c.fldsp fa3, 16(sp)
	floats	doubles, mv a0, s3; c.fsd fa1, 8(a0); c.fld fa3, 8(a0)
	each	fmv.w.x fa0, a1
#if __riscv_xlen == 64
	/* fsh fa1, (s3); flh fa0, (s3); the fsh of QEMU's RV32 faults */
	floats	doubles, .4byte 0x00b99027, 0x00099507
	floats	doubles, fmv.x.d a0, fa1; fmv.d.x fa0, a0
#else
	/* fmvh.x.d a0, fa1; fmvp.d.x fa0, a1, a2 */
	floats	doubles, .4byte 0xe2100053 | 10 << 7 | 11 << 15
	pairs	.4byte 0xb2000053 | 10 << 7 | 11 << 15 | 12 << 20
#endif
	/* fminm fmaxm; fltq fleq */
	.irp	word, 0x28002053, 0x28003053, 0x2a002053, 0x2a003053, 0xa0005053, 0xa0004053, 0xa2005053, 0xa2004053
	float_pairs singles, .4byte (\word) | 10 << 7 | 11 << 15 | 12 << 20
	float_pairs doubles, .4byte (\word) | 10 << 7 | 11 << 15 | 12 << 20
	.endr
	/* fcvtmod.w.d */
	floats	doubles, .4byte 0xc2801053 | 10 << 7 | 11 << 15
	.irp	number, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
	.4byte	0xf0100053 | 10 << 7 | \number << 15, 0xf2100053 | 10 << 7 | \number << 15
	.4byte	0xf0100053 | 10 << 7 | (\number + 16) << 15, 0xf2100053 | 10 << 7 | (\number + 16) << 15
	.endr
#else
	li	ra, 1
	li	s0, 2
	li	s1, 3
	/* cm.push, cm.pop of each list, and each adjustment of the last one */
	.irp	list, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
	.2byte	0xb802 | \list << 4
	addi	s7, s7, 9
	.2byte	0xba02 | \list << 4
	.endr
	.2byte	0xb802 | 15 << 4 | 3 << 2, 0xba02 | 15 << 4 | 3 << 2
	.2byte	0xb802 | 6 << 4 | 1 << 2, 0xba02 | 6 << 4 | 1 << 2
	/* cm.mvsa01 s2, s7; cm.mva01s s0, s1 */
	.2byte	0xac22 | 2 << 7 | 7 << 2, 0xac62 | 0 << 7 | 1 << 2
	/* cm.popret, cm.popretz */
	la	ra, 12f
	.2byte	0xb802 | 8 << 4, 0xbe02 | 8 << 4
	nop
12:	la	ra, 12f
	.2byte	0xb802 | 9 << 4 | 2 << 2, 0xbc02 | 9 << 4 | 2 << 2
	nop
12:	/* cm.jt 1, cm.jalt 32 */
	la	t0, jumps
	csrw	0x017, t0
	.2byte	0xa002 | 1 << 2
	nop
13:	.2byte	0xa002 | 32 << 2
	nop
14:
#endif
	/* The machine ends. */
	li	t0, 0x100000
	li	t1, 0x5555
	sw	t1, 0(t0)
halt:
	j	halt

#ifdef ZCMP
	.balign	64
jumps:
	WORD	0, 13b
	.fill	30 * __riscv_xlen / 8, 1, 0
	WORD	14b
#endif
	.balign	16
values:
	WORD	0, 1, 2, -1, -2, 0x7fffffff, 0x80000000, 0x80000001, 0xffff, 0x8000, 0x80, 0x12345678, 0x00ff00ff, 31
#if __riscv_xlen == 64
	WORD	0x7fffffffffffffff, 0x8000000000000000, 0x8000000000000001, 0xffffffff, 0x100000000, 0x123456789abcdef0, 63
	WORD	0x0020000000000001, 0x7ffffffffffffdff
#endif
values_end:
	.balign	16
singles:
	.word	0, -1, 0x80000000, -1, 0x3f800000, -1, 0xbf800000, -1	/* zeros, 1, -1 */
	.word	0x3f800001, -1, 0x40400000, -1, 0xbe99999a, -1		/* next to 1, 3, -0.3 */
	.word	1, -1, 0x80000001, -1, 0x007fffff, -1, 0x00800000, -1	/* subnormal, the least normal */
	.word	0x00800001, -1, 0x33800000, -1, 0x7f7fffff, -1		/* half an ulp of 1, the largest */
	.word	0x7f800000, -1, 0xff800000, -1, 0x7fc00000, -1, 0x7f800001, -1, 0xffc12345, -1
	.word	0x4f000000, -1, 0xcf000001, -1, 0x5f000000, -1, 0x40200000, -1, 0xc0600000, -1
	.word	0x3f800000, 0, 0x3f800000, 0x7fffffff			/* no boxes */
singles_end:
doubles:
	.dword	0, 0x8000000000000000, 0x3ff0000000000000, 0xbff0000000000000, 0x3ff0000000000001, 0x4008000000000000
	.dword	0xbfd3333333333333, 1, 0x8000000000000001, 0x000fffffffffffff, 0x0010000000000000, 0x0010000000000001
	.dword	0x3ca0000000000000, 0x7fefffffffffffff, 0x7ff0000000000000, 0xfff0000000000000, 0x7ff8000000000000
	.dword	0x7ff0000000000001, 0xfff8000000012345, 0x41dfffffffc00000, 0xc1e0000000200000, 0x43e0000000000000
	.dword	0xc3e0000000000000, 0x43effffffffffff, 0x4004000000000000, 0xc00c000000000000
	/* Around ties, overflow and underflow of single precision. */
	.dword	0x3ff0000010000000, 0x3ff0000030000000, 0x3ff0000010000001, 0x47efffffe0000000, 0x47effffff0000000, 0x47efffffefffffff
	.dword	0x380fffffe0000000, 0x380ffffff0000000, 0x380fffffefffffff, 0x3690000000000000, 0x36a0000000000000, 0x3690000000000001
	.dword	0x380fffffd0000000, 0x41e0000000000000, 0x41f0000000000000, 0x43f0000000000000, 0xc1e0000000000001
doubles_end:
	.balign	16
	.fill	64, 1, 0x5a
data:
	.fill	1024, 1, 0x5a
	.fill	1024, 1, 0
stack:
	.fill	256, 1, 0
