// SPDX-License-Identifier: GPL-2.0-only
/*
 * Control Transfer Records as in the draft 0.1.4, tested by a program on the bare hart. It prints TAP
 * to the serial port. CTR draft 0.1.4 is cited by its section numbers.
 *
 * The trap handler owns t5 and t6: it counts a trap and skips the instruction. An ecall ends run().
 */
#include <stdbool.h>
#include <stdint.h>

#define STRING_(text) #text
#define STRING(text) STRING_(text)
#define READ(csr)                                                                                  \
	({                                                                                         \
		unsigned long value_ = 0;                                                          \
		asm volatile("csrr %0, " STRING(csr) : "+r"(value_)::"memory");                    \
		value_;                                                                            \
	})
#define WRITE(csr, value)                                                                          \
	asm volatile("csrw " STRING(csr) ", %0" ::"r"((unsigned long)(value)) : "memory")
/* An access to memory of the size of a register */
#define LOAD		"	l" WIDTH " "
#define STORE		"	s" WIDTH " "
#if __riscv_xlen == 32
#define WIDTH "w"
#else
#define WIDTH "d"
#endif
#define SET(csr, value)                                                                            \
	asm volatile("csrs " STRING(csr) ", %0" ::"r"((unsigned long)(value)) : "memory")

/* Registers, by number: no assembler knows the names of the draft. */
#define SISELECT	0x150
#define SIREG		0x151
#define SIREG2		0x152
#define SIREG3		0x153
#define SCTRCONTROL	0x181
#define SCTRCONTROLH	0x182
#define SCTRSTATUS	0x183
#define VSCTRCONTROL	0x281
#define MISELECT	0x350
#define MIREG		0x351
#define MIREG2		0x352
#define MIREG3		0x353
#define MCTRCONTROL	0x381
#define MCTRCONTROLH	0x382
#define MCTRSTATUS	0x383

/* Fields of xctrcontrol, and what leaves only direct jumps and traps */
#define CTL_M		(1ull << 0)
#define CTL_S		(1ull << 1)
#define CTL_U		(1ull << 2)
#define CTL_CLR		(1ull << 7)
#define CTL_MTE		(1ull << 8)
#define CTL_STE		(1ull << 9)
#define CTL_RASEMU	(1ull << 10)
#define CTL_BPFRZ	(1ull << 11)
#define CTL_LCOFIFRZ	(1ull << 12)
#define CTL_DEPTH(code) ((unsigned long long)(code) << 16)
#define CTL_ETEN	(1ull << 38)
#define CTL_ALL		0xff7e000f1f07ull
#define JUMPS_ALONE	0xf72600000000ull

#define STATUS_WRPTR	0xffu
#define STATUS_WRAP	(1u << 14)
#define STATUS_FROZEN	(1u << 15)

#define TYPE_EXCEPTION	1
#define TYPE_JUMP	11

#define USER		0ul
#define SUPERVISOR	1ul
#define GUEST		5ul /* VS */

unsigned long trap_count, trap_cause, saved_sp;
static unsigned int tests;

void run_in(unsigned long mstatus, void (*code)(void));
void jumps(unsigned long count);
extern char first_jump[], first_target[], calling[];

asm(".option push\n"
    ".option norelax\n"
    ".option norvc\n"
    ".text\n"
    ".globl _start\n"
    "_start: la sp, stack_end\n"
    "	la t0, handler\n"
    "	csrw mtvec, t0\n"
    "	call main\n"
    "	li t0, 0x100000\n"
    "	li t1, 0x5555\n"
    "	sw t1, 0(t0)\n"
    "1:	j 1b\n"
    ".balign 4\n"
    "handler: csrr t5, mcause\n"
    "	la t6, trap_cause\n" STORE "t5, 0(t6)\n"
    "	la t6, trap_count\n" LOAD "t5, 0(t6)\n"
    "	addi t5, t5, 1\n" STORE "t5, 0(t6)\n"
    "	csrr t5, mcause\n"
    "	addi t5, t5, -8\n"
    "	sltiu t5, t5, 4\n"
    "	bnez t5, run_end\n"
    "	csrr t5, mepc\n"
    "	addi t5, t5, 4\n"
    "	csrw mepc, t5\n"
    "	mret\n"
    ".globl run_in\n"
    "run_in: addi sp, sp, -128\n" STORE "ra, 0(sp)\n"
    ".irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11\n" STORE "s\\n, 8 + 8 * \\n(sp)\n"
    ".endr\n"
    "	la t0, saved_sp\n" STORE "sp, 0(t0)\n"
    "	li t0, 0x1800\n"
    "	csrc mstatus, t0\n"
    "	csrs mstatus, a0\n"
    "	csrw mepc, a1\n"
    "	mret\n"
    "run_end: la t0, saved_sp\n" LOAD "sp, 0(t0)\n" LOAD "ra, 0(sp)\n"
    ".irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11\n" LOAD "s\\n, 8 + 8 * \\n(sp)\n"
    ".endr\n"
    "	addi sp, sp, 128\n"
    "	ret\n"
    ".globl jumps, first_jump, first_target\n"
    "jumps:\n"
    "first_jump: j first_target\n"
    "	nop\n"
    "first_target: addi a0, a0, -1\n"
    "	bnez a0, first_jump\n"
    "	ret\n"
    ".bss\n"
    ".balign 16\n"
    "	.space 8192\n"
    "stack_end:\n"
    ".text\n"
    ".option pop\n");

static void print(const char *text)
{
	while (*text)
		*(volatile uint8_t *)0x10000000 = (uint8_t)*text++;
}

static void print_number(unsigned int value)
{
	if (value >= 10)
		print_number(value / 10);
	print((char[]){ (char)('0' + value % 10), '\0' });
}

static void ok(bool good, const char *text)
{
	print(good ? "ok " : "not ok ");
	print_number(++tests);
	print(" - ");
	print(text);
	print("\n");
}

static void control(unsigned long long value)
{
#if __riscv_xlen == 32
	WRITE(MCTRCONTROLH, value >> 32);
#endif
	WRITE(MCTRCONTROL, value);
}

static unsigned long long controlled(void)
{
	unsigned long long value = READ(MCTRCONTROL);

#if __riscv_xlen == 32
	value |= (unsigned long long)READ(MCTRCONTROLH) << 32;
#endif
	return value;
}

/* Nothing is recorded, the ring is empty; DEPTH code @depth. */
static void begin(unsigned int depth)
{
	control(CTL_CLR | CTL_DEPTH(depth));
}

static unsigned long source(unsigned int entry)
{
	WRITE(MISELECT, 0x200 + entry);
	return READ(MIREG);
}

static unsigned long target(unsigned int entry)
{
	WRITE(MISELECT, 0x200 + entry);
	return READ(MIREG2);
}

static unsigned long type(unsigned int entry)
{
	WRITE(MISELECT, 0x200 + entry);
	return READ(MIREG3) & 0xf;
}

/* Records @count direct jumps of M-mode, and stops. */
static void record(unsigned long long depth, unsigned long count)
{
	control(CTL_M | JUMPS_ALONE | depth);
	jumps(count);
	control(depth);
}

/* ---- the tests ---- */

static void test_registers(void)
{
	static const unsigned char codes[][2] = { { 0, 0 }, { 1, 1 }, { 2, 1 }, { 3, 3 },
						  { 5, 3 }, { 7, 7 }, { 8, 7 }, { 15, 15 } };
	bool right = true;

	control(~0ull & ~CTL_CLR);
	ok(controlled() == CTL_ALL, "2.1: mctrcontrol has its fields, all others are 0");
	ok((READ(SCTRCONTROL) & (CTL_M | CTL_MTE)) == 0, "2.1: sctrcontrol has neither M nor MTE");
	for (unsigned int i = 0; i < sizeof(codes) / 2; i++) {
		control(CTL_DEPTH(codes[i][0]));
		right &= (controlled() >> 16 & 0xf) == codes[i][1];
	}
	ok(right, "2.1: DEPTH is a row of ones, from 0000 to 1111");
	control(CTL_CLR);
	ok(controlled() == 0, "2.1: CLR reads as 0");
#if __riscv_xlen == 32
	WRITE(MCTRCONTROLH, 1u << 6);
	ok(controlled() == CTL_ETEN && READ(SCTRCONTROLH) == 1u << 6,
	   "2.1: RV32: mctrcontrolh and sctrcontrolh are bits 63 to 32");
	WRITE(MCTRCONTROL, CTL_S);
	ok(controlled() == (CTL_ETEN | CTL_S), "2.1: RV32: each half keeps the other one");
#endif
	trap_count = 0;
	READ(0x34e);
	READ(0x14e);
	READ(0x14f);
	READ(0x15f);
	asm volatile(".word 0x10400073");
	ok(trap_count == 5 && trap_cause == 2, "registers of 1.0, and SCTRCLR, are illegal");
}

static void test_records(void)
{
	begin(0);
	record(0, 3);
	ok(READ(MCTRSTATUS) == 3, "2.4: WRPTR counts records");
	ok(source(0) == ((unsigned long)first_jump | 1) && target(0) == (unsigned long)first_target,
	   "3: ctrsource and ctrtarget of a direct jump in M-mode, through miselect");
	ok(type(0) == TYPE_JUMP, "3: its TYPE");
	ok(source(2) & 1 && !(source(3) & 1), "3: three entries are valid");
	WRITE(SISELECT, 0x200);
	ok(READ(SIREG) == source(0) && READ(SIREG2) == target(0),
	   "3: siselect reaches the same ring");
	WRITE(MISELECT, 0x200 + 16);
	WRITE(MIREG, ~0ul);
	ok(READ(MIREG) == 0, "2.1: entries from the depth on are read-only 0");
}

static void test_clear_and_wrap(void)
{
	begin(0);
	record(0, 15);
	ok(READ(MCTRSTATUS) == 15, "2.4: no WRAP before the last entry is written");
	record(0, 1);
	ok(READ(MCTRSTATUS) == STATUS_WRAP, "2.4: WRAP when WRPTR goes from depth - 1 to 0");
	record(0, 5);
	ok(READ(MCTRSTATUS) == (STATUS_WRAP | 5), "2.4: WRAP is sticky");
	SET(MCTRSTATUS, STATUS_FROZEN);
	record(0, 2);
	ok(READ(SCTRSTATUS) == (STATUS_FROZEN | STATUS_WRAP | 5), "2.4: FROZEN stops recording");
	control(0);
	ok(READ(MCTRSTATUS) == (STATUS_FROZEN | STATUS_WRAP | 5),
	   "2.1: without CLR nothing is cleared");
	control(CTL_CLR);
	ok(READ(MCTRSTATUS) == 0, "2.4: CLR clears WRPTR, WRAP and FROZEN");
	ok(source(0) == 0 && source(15) == 0 && target(0) == 0 && type(0) == 0,
	   "2.1: CLR clears the entries");
}

/* Calls that fill the ring, and returns: status after each. The code is its own return address. */
static void test_return_stack(void)
{
	unsigned long calls, first, second;
	const unsigned long on = CTL_M | CTL_RASEMU;

	begin(0);
	asm volatile("csrw " STRING(
			     MCTRCONTROL) ", %3\n"
					  ".option push\n"
					  ".option norvc\n"
					  ".rept 16\n"
					  "jal ra, 1f\n"
					  "1:\n"
					  ".endr\n"
					  "csrr %0, " STRING(
						  MCTRSTATUS) "\n"
							      "la ra, 1f\n"
							      "ret\n"
							      "1: csrr %1, " STRING(
								      MCTRSTATUS) "\n"
										  "la ra, 1f\n"
										  "ret\n"
										  "1: csrr "
										  "%2, " STRING(
											  MCTRSTATUS) "\n"
												      ".option pop\n"
												      "csrw " STRING(
													      MCTRCONTROL) ", zero\n"
		     : "=&r"(calls), "=&r"(first), "=&r"(second)
		     : "r"(on)
		     : "ra", "memory");
	ok(calls == STATUS_WRAP, "2.4: RASEMU: 16 calls wrap");
	ok(first == 15, "2.4: WRAP clears when a return decrements WRPTR from 0");
	ok(second == 14, "2.4: the next return");
	ok(source(13) & 1 && !(source(14) & 1), "4: 14 calls remain");
}

static void test_freeze(void)
{
	begin(0);
	control(CTL_M | JUMPS_ALONE | CTL_BPFRZ);
	trap_count = 0;
	asm volatile(".option push\n.option norvc\nebreak\n.option pop" ::: "memory");
	control(0);
	ok(trap_count == 1 && trap_cause == 3 && READ(MCTRSTATUS) & STATUS_FROZEN,
	   "4: BPFRZ: a breakpoint freezes");
	begin(0);
	control(CTL_M | JUMPS_ALONE);
	asm volatile(".option push\n.option norvc\nebreak\n.option pop" ::: "memory");
	control(0);
	ok(!(READ(MCTRSTATUS) & STATUS_FROZEN), "4: not without BPFRZ");
}

asm(".text\n"
    ".globl calling\n"
    "calling: ecall\n");

/* An ecall of S-mode is a trap to M-mode, which is not recorded itself. */
static void test_external(void)
{
	static const unsigned long long more[] = { 0, CTL_MTE, CTL_ETEN, CTL_ETEN | CTL_MTE };
	unsigned int made[4];

	for (unsigned int i = 0; i < 4; i++) {
		begin(0);
		control(CTL_S | more[i]);
		run_in(SUPERVISOR << 11, (void (*)(void))calling);
		control(0);
		made[i] = READ(MCTRSTATUS) & STATUS_WRPTR;
	}
	ok(!made[0] && !made[1] && !made[2] && made[3] == 1,
	   "4: a trap to a mode that is not enabled needs ETEN and its xTE");
	ok(source(0) == ((unsigned long)calling | 1) && target(0) == 0 && type(0) == TYPE_EXCEPTION,
	   "4: its target is hidden");
}

static void clear_here(void)
{
	SET(SCTRCONTROL, CTL_CLR);
	asm volatile("ecall");
}

static void test_modes(void)
{
	begin(0);
	record(0, 2);
	run_in(SUPERVISOR << 11, clear_here);
	ok(READ(MCTRSTATUS) == 0 && source(0) == 0, "2.1: sctrcontrol.CLR clears");
	record(0, 2);
	trap_count = 0;
	run_in(USER << 11, clear_here);
	ok(READ(MCTRSTATUS) == 2 && trap_count == 2, "2.1: U-mode reaches no register");
}

#if __riscv_xlen == 64
static void test_guest(void)
{
	const unsigned long status = GUEST << 11 & 0x1800;

	begin(0);
	record(0, 2);
	WRITE(VSCTRCONTROL, CTL_CLR);
	ok(READ(MCTRSTATUS) == 2 && source(0), "2.3: vsctrcontrol.CLR with V = 0 clears nothing");
	control(CTL_DEPTH(3));
	WRITE(VSCTRCONTROL, CTL_DEPTH(15));
	ok(READ(VSCTRCONTROL) == CTL_DEPTH(3),
	   "2.3: vsctrcontrol.DEPTH is that of mctrcontrol, read-only");
	control(0);
	run_in(status | 1ul << 39, clear_here);
	ok(READ(MCTRSTATUS) == 0 && source(0) == 0, "2.3: the same register with V = 1 clears");
}
#endif

int main(void)
{
	WRITE(pmpaddr0, ~0ul);
	WRITE(pmpcfg0, 0x1f);
	test_registers();
	test_records();
	test_clear_and_wrap();
	test_return_stack();
	test_freeze();
	test_external();
	test_modes();
#if __riscv_xlen == 64
	test_guest();
#endif
	print("1..");
	print_number(tests);
	print("\n");
	return 0;
}
