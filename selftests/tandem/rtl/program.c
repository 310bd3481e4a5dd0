// SPDX-License-Identifier: GPL-2.0-only
// The program of the core: M mode sets up the traps and runs the work in U mode, where it calls, traps and is interrupted.
typedef unsigned int word;

static signed char text[64];
static short halves[32];
static word words[32], count[3];
static volatile word *const timer = (word *)0x2000000, *const finisher = (word *)0x100000;

__asm__(".section .init\n"
	".globl _start\n"
	"_start: la sp, stack\n"
	"	la t0, vector\n"
	"	csrw mtvec, t0\n"
	"	csrw mscratch, sp\n"
	"	li t0, 0x80\n"
	"	csrs mie, t0\n"
	"	li t0, 0x1880\n"
	"	csrw mstatus, t0\n"
	"	li t0, 0x1800\n"
	"	csrc mstatus, t0\n"
	"	la t0, work\n"
	"	csrw mepc, t0\n"
	"	addi sp, sp, -1024\n"
	"	mret\n"
	".balign 4\n"
	"vector: csrrw sp, mscratch, sp\n"
	"	addi sp, sp, -64\n"
	"	sw ra, 0(sp)\n	sw t0, 4(sp)\n	sw t1, 8(sp)\n	sw t2, 12(sp)\n"
	"	sw a0, 16(sp)\n	sw a1, 20(sp)\n	sw a2, 24(sp)\n	sw a3, 28(sp)\n"
	"	sw a4, 32(sp)\n	sw a5, 36(sp)\n	sw a6, 40(sp)\n	sw a7, 44(sp)\n"
	"	sw t3, 48(sp)\n	sw t4, 52(sp)\n	sw t5, 56(sp)\n	sw t6, 60(sp)\n"
	"	csrr a0, mcause\n	csrr a1, mepc\n	csrr a2, mtval\n	csrr a3, mip\n"
	"	call trapped\n"
	"	csrw mepc, a0\n"
	"	lw ra, 0(sp)\n	lw t0, 4(sp)\n	lw t1, 8(sp)\n	lw t2, 12(sp)\n"
	"	lw a0, 16(sp)\n	lw a1, 20(sp)\n	lw a2, 24(sp)\n	lw a3, 28(sp)\n"
	"	lw a4, 32(sp)\n	lw a5, 36(sp)\n	lw a6, 40(sp)\n	lw a7, 44(sp)\n"
	"	lw t3, 48(sp)\n	lw t4, 52(sp)\n	lw t5, 56(sp)\n	lw t6, 60(sp)\n"
	"	addi sp, sp, 64\n"
	"	csrrw sp, mscratch, sp\n"
	"	mret\n"
	".bss\n"
	".balign 16\n"
	"	.space 4096\n"
	"stack:\n"
	".text\n");

word trapped(word cause, word epc, word tval, word pending)
{
	if (cause >> 31) {
		count[0]++;
		*timer = 0;
		return epc;
	}
	count[cause == 8 ? 1 : 2] += tval | pending;
	return epc + 4;
}

static void swap(word *a, word *b)
{
	word old = *a;

	*a = *b;
	*b = old;
}

static __attribute__((noinline)) int add(const signed char *from)
{
	int sum = 0;

	for (int i = 0; i < 32; i++)
		sum += from[i];
	return sum;
}

void work(void)
{
	word seed = 0x2545f491, sum = 0;

	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < 32; i++) {
			seed ^= seed << 13;
			seed ^= seed >> 17;
			seed ^= seed << 5;
			words[i] = seed;
			halves[i] = (short)(seed >> 8);
			text[i] = (signed char)seed;
			sum += (word)halves[i];
		}
		for (int i = 1; i < 32; i++)
			for (int k = i; k && words[k - 1] > words[k]; k--)
				swap(&words[k - 1], &words[k]);
		sum += (word)add(text);
		for (int i = 0; i < 32; i++)
			sum = (sum << 3 | sum >> 29) + (words[i] ^ (word)((int)words[i] >> 7));
		__asm__ volatile("ecall");
		__asm__ volatile(".word 0xffffffff");
	}
	words[0] = sum;
	*finisher = 0x5555;
	for (;;)
		;
}
