// SPDX-License-Identifier: GPL-2.0-only
/*
 * Bare-metal program for the core of core.v and for QEMU's machine "virt": calls of all kinds, accesses of all
 * sizes, atomics, CSRs and traps.
 */
#define NOINLINE __attribute__((noinline))

typedef unsigned long u64;

asm(".section .init, \"ax\"\n"
    ".globl _start\n"
    "_start: la sp, stack_top\n"
    "	la t0, handler\n"
    "	csrw mtvec, t0\n"
    "	li t0, 0x800\n"
    "	csrw mie, t0\n"
    "	csrsi mstatus, 8\n"
    "	call run\n"
    "	li t0, 0x5555\n"
    "	li t1, 0x100000\n"
    "	sw t0, 0(t1)\n"
    "1:	j 1b\n"
    "	.balign 4\n"
    /* Skips the instruction of an exception; counts traps in mscratch. */
    "handler: addi sp, sp, -32\n"
    "	sd t0, 0(sp)\n"
    "	sd t1, 8(sp)\n"
    "	csrr t0, mcause\n"
    "	bltz t0, 2f\n"
    "	csrr t1, mepc\n"
    "	addi t1, t1, 4\n"
    "	csrw mepc, t1\n"
    "2:	csrr t0, mscratch\n"
    "	addi t0, t0, 1\n"
    "	csrw mscratch, t0\n"
    "	ld t0, 0(sp)\n"
    "	ld t1, 8(sp)\n"
    "	addi sp, sp, 32\n"
    "	mret\n"
    /* Calls and returns through x5, and a swap of co-routines. */
    "swaps: la t0, 3f\n"
    "	jalr t0, t0\n"
    "3:	mv t1, ra\n"
    "	la ra, 5f\n"
    "	jalr t0, ra\n"
    "	mv ra, t1\n"
    "	la t0, 6f\n"
    "	jr t0\n"
    "5:	jr t0\n"
    "6:	la t0, 7f\n"
    "	jalr t3, t0\n"
    "7:	la t4, 8f\n"
    "	jalr t3, t4\n"
    "8:	jal t2, 4f\n"
    "	jal t0, 9f\n"
    "	ret\n"
    "9:	jr t0\n"
    "4:	jr t2\n"
    ".text\n");

extern void swaps(void);
char stack[4096] __attribute__((aligned(16)));
asm(".globl stack_top\n.set stack_top, stack + 4096\n");

static unsigned char bytes[64];
static unsigned short halves[32];
static unsigned int words[40];
static u64 longs[24];

static NOINLINE u64 fibonacci(unsigned int n)
{
	return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

static NOINLINE void sort(unsigned int *v, unsigned int n)
{
	for (unsigned int i = 1; i < n; i++) {
		unsigned int x = v[i], k = i;

		for (; k && v[k - 1] > x; k--)
			v[k] = v[k - 1];
		v[k] = x;
	}
}

static NOINLINE u64 add(u64 a)
{
	return a + 1;
}
static NOINLINE u64 twist(u64 a)
{
	return a << 3 ^ a >> 5;
}
static NOINLINE u64 cut(u64 a)
{
	return a & 0xffff;
}
static u64 (*volatile table[])(u64) = { add, twist, cut, twist };

static NOINLINE void atomics(void)
{
	u64 old;

#define AMO(name, where, value) \
	asm volatile(#name " %0, %2, (%1)" : "=r"(old) : "r"(where), "r"(value) : "memory")
	AMO(amoswap.w, &words[0], 7);
	AMO(amoadd.d, &longs[0], -5L);
	AMO(amoxor.w, &words[1], 0x80000000);
	AMO(amoand.d, &longs[1], 0xff00ff00ff00UL);
	AMO(amoor.w, &words[2], 0x10001);
	AMO(amomin.w, &words[3], -3);
	AMO(amomax.d, &longs[2], -3L);
	AMO(amominu.d, &longs[3], 12L);
	AMO(amomaxu.w, &words[4], -1);
	asm volatile("lr.d %0, (%1)\n\tsc.d %0, %0, (%1)\n\tsc.d %0, %0, (%1)"
		     : "=&r"(old)
		     : "r"(&longs[4])
		     : "memory");
}

void run(void)
{
	u64 value = 12345, sum = 0;

	for (unsigned int i = 0; i < 40; i++) {
		value = table[i & 3](value * 3 + i);
		words[i] = (unsigned int)(value ^ value << 7);
		bytes[i] = (unsigned char)value;
		halves[i & 31] = (unsigned short)value;
		longs[i & 15] ^= value << i;
	}
	sort(words, 40);
	for (unsigned int i = 0; i < 40; i++)
		sum += (signed char)bytes[i] + (short)halves[i & 31] + (int)words[i] +
		       longs[i & 15] + bytes[i] + halves[i & 31] + words[i];
	longs[5] = sum + fibonacci(9);
	atomics();
	swaps();
	asm volatile("ecall");
	asm volatile("ebreak");
	asm volatile(".word 0xffffffff");
	asm volatile("ld zero, 0(%0)" : : "r"(0x20000L));
	asm volatile("sd zero, 0(%0)" : : "r"(0x20000L));
	asm volatile("csrsi mstatus, 0\n\tcsrrci t0, mscratch, 3\n\tcsrrwi t0, mscratch, 9"
		     :
		     :
		     : "t0");
}
