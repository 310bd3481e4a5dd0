// SPDX-License-Identifier: GPL-2.0-only
/*
 * Runs the load of start.S in all modes under many settings of CTR. It does not check anything; the
 * emulator's check (ctr-check) does. ROUNDS and other macros come from the test.
 */
#include <stdint.h>

enum mode { U, S, M, VU, VS };

/* GUESTS: the hart has the hypervisor extension. */
#define MODES (GUESTS ? 5 : 3)

#define READ(csr)                                                                                  \
	({                                                                                         \
		uint64_t value_;                                                                   \
		asm volatile("csrr %0, %1" : "=r"(value_) : "i"(csr) : "memory");                  \
		value_;                                                                            \
	})
#define WRITE(csr, value) asm volatile("csrw %0, %1" ::"i"(csr), "r"((uint64_t)(value)) : "memory")
#define CLEAR() asm volatile(".word 0x10400073" ::: "memory")

/* CSRs by number: not every assembler knows the names. */
#define SCTRSTATUS	0x14f
#define SISELECT	0x150
#define SIREG		0x151
#define SCTRDEPTH	0x15f
#define VSSTATUS	0x200
#define VSCTRCTL	0x24e
#define MSTATUS		0x300
#define MEDELEG		0x302
#define MIDELEG		0x303
#define MIE		0x304
#define MSTATEEN0	0x30c
#define MCTRCTL		0x34e
#define PMPCFG0		0x3a0
#define PMPADDR0	0x3b0
#define HSTATUS		0x600
#define HEDELEG		0x602
#define HIDELEG		0x603
#define HIE		0x604
#define HSTATEEN0	0x60c

/* Fields of xctrctl */
#define CTL_U		(1ull << 0)
#define CTL_S		(1ull << 1)
#define CTL_M		(1ull << 2)
#define CTL_RASEMU	(1ull << 7)
#define CTL_STE		(1ull << 8)
#define CTL_MTE		(1ull << 9)
#define CTL_BPFRZ	(1ull << 11)
#define CTL_LCOFIFRZ	(1ull << 12)
#define CTL_NTBREN	(1ull << 36)
#define CTL_MODES	(CTL_U | CTL_S | CTL_M)
#define CTL_FILTERS	0xff3e00000000ull
#define CTL_ALL		(CTL_FILTERS | 0x1b87)

/* S-mode can get exceptions 3, 5, 8 to 10 and interrupts 1, 2 and 13. */
#define EXCEPTIONS	0x728
#define INTERRUPTS	0x2006

extern char load[], access[];
void run(uint64_t seed, uint64_t rounds, const char *code, int guest);

static uint64_t state = SEED;

/* xorshift64*; start.S uses another generator. */
static uint64_t random64(void)
{
	state ^= state >> 12;
	state ^= state << 25;
	state ^= state >> 27;
	return state * 2685821657736338717ull;
}

static uint64_t random_below(uint64_t limit)
{
	return random64() % limit;
}

/* Sets the mode that MRET or SRET returns to, and its interrupt enables, at random. */
static void prepare(enum mode mode)
{
	uint64_t privilege = mode == M ? 3 : mode == S;
	uint64_t guest_privilege = mode == VS;
	uint64_t on = random64() & 0xa2;

	WRITE(MSTATUS, privilege << 11 | guest_privilege << 8 | on);
	WRITE(MIE, INTERRUPTS | 4);
	WRITE(MEDELEG, random64() & EXCEPTIONS);
	WRITE(MIDELEG, random64() & INTERRUPTS);
	if (!GUESTS)
		return;
	WRITE(HSTATUS, 1 << 7);		/* SPV */
	WRITE(VSSTATUS, random64() & 0x22);
	WRITE(HIE, 4);
	WRITE(HEDELEG, random64() & EXCEPTIONS);
	/* HS-mode could not clear other interrupts in the same way. */
	WRITE(HIDELEG, 4);
}

/* Reads all entries, as software does, in one of 16 calls. */
static void read_entries(void)
{
	if (random_below(16))
		return;
	for (unsigned int i = 0; i < 256; i++) {
		WRITE(SISELECT, 0x200 + i);
		READ(SIREG);
		READ(SIREG + 1);
		READ(SIREG + 2);
		READ(SIREG + 5);
	}
}

static void try(uint64_t mctrctl, uint64_t vsctrctl, unsigned int depth)
{
	for (unsigned int mode = 0; mode < MODES; mode++) {
		WRITE(MCTRCTL, 0);
		WRITE(SCTRDEPTH, depth);
		/*
		 * Clear in most cases. After a change of depth, the contents of the ring are
		 * implementation-defined: the emulator and the model made the same choice.
		 */
		if (random_below(8))
			CLEAR();
		WRITE(SCTRSTATUS, random_below(4) ? 0 : random64());
		prepare(mode);
		if (GUESTS)
			WRITE(VSCTRCTL, vsctrctl);
		WRITE(MCTRCTL, mctrctl);
		run(random64(), ROUNDS, load, mode >= VU);
		READ(SCTRSTATUS);
		read_entries();
	}
}

static void every_depth(void)
{
	for (unsigned int depth = 0; depth < 8; depth++) {
		try(CTL_MODES, CTL_U | CTL_S, depth);
		try(CTL_MODES | CTL_NTBREN, CTL_U | CTL_S | CTL_NTBREN, depth);
		try(CTL_MODES | CTL_RASEMU, CTL_U | CTL_S | CTL_RASEMU, depth);
	}
}

/* Each filter alone, and all filters but one. */
static void every_filter(void)
{
	for (unsigned int bit = 33; bit < 48; bit++) {
		uint64_t filter = 1ull << bit & CTL_FILTERS;
		uint64_t others = (CTL_FILTERS & ~filter) ^ CTL_NTBREN;

		if (!filter)
			continue;
		try(CTL_MODES | filter, CTL_U | CTL_S | filter, random_below(5));
		try(CTL_MODES | others, CTL_U | CTL_S | others, random_below(5));
	}
}

static void every_freeze(void)
{
	for (unsigned int i = 0; i < 4; i++) {
		uint64_t host = (i & 1 ? CTL_BPFRZ : 0) | (i & 2 ? CTL_LCOFIFRZ : 0);

		try(CTL_MODES | host, CTL_U | CTL_S, random_below(5));
		try(CTL_MODES, CTL_U | CTL_S | host, random_below(5));
		try(CTL_MODES | host, CTL_U | CTL_S | host, random_below(5));
		try(CTL_U | host, CTL_U | host, random_below(5));
	}
}

/* One mode alone, with every combination of the bits that record traps out of it. */
static void external_traps(void)
{
	for (unsigned int i = 0; i < 8; i++) {
		uint64_t host = (i & 1 ? CTL_STE : 0) | (i & 2 ? CTL_MTE : 0);
		uint64_t guest = i & 4 ? CTL_STE : 0;

		try(CTL_U | host, CTL_U | guest, random_below(5));
		try(CTL_S | host, CTL_S | guest, random_below(5));
		try(CTL_U | host | (random64() & CTL_FILTERS),
		    CTL_U | guest | (random64() & CTL_FILTERS), random_below(5));
	}
}

/* Sets mode bits more often than not, and other bits less often. */
static uint64_t random_control(void)
{
	uint64_t control = random64() & random64() & CTL_ALL;

	if (random_below(4))
		control &= ~CTL_RASEMU;
	return control | (random64() | random64()) % 8;
}

/* Writes reserved and unimplemented values, like software that does not know the register. */
static void wild_writes(void)
{
	for (unsigned int i = 0; i < 200; i++) {
		WRITE(MCTRCTL, random64());
		if (GUESTS)
			WRITE(VSCTRCTL, random64());
		WRITE(SCTRSTATUS, random64());
		WRITE(SCTRDEPTH, random64());
		WRITE(SISELECT, 0x200 + random_below(256));
		WRITE(SIREG, random64());
		WRITE(SIREG + 1, random64());
		WRITE(SIREG + 2, random64());
		WRITE(SIREG + 4, random64());
		READ(MCTRCTL);
		READ(SCTRDEPTH);
		READ(SIREG + 1);
		READ(SIREG + 2);
	}
}

/* Tries accesses from each mode, with each lock; LOCKS: the hart has Smstateen. */
static void every_access(void)
{
	for (unsigned int i = 0; i < (LOCKS ? 16 : 1); i++) {
		for (unsigned int mode = 0; mode < MODES; mode++) {
			prepare(mode);
			/* M-mode skips accesses that trap. */
			WRITE(MEDELEG, 0);
			WRITE(MIDELEG, 0);
			if (LOCKS) {
				WRITE(MSTATEEN0, (i & 1ull) << 54 | (i & 2ull) << 59);
				WRITE(HSTATEEN0, (i & 4ull) << 52 | (i & 8ull) << 57);
			}
			run(random64(), 20, access, mode >= VU);
		}
	}
	if (LOCKS) {
		WRITE(MSTATEEN0, ~0ull);
		WRITE(HSTATEEN0, ~0ull);
	}
}

int main(void)
{
	WRITE(PMPADDR0, ~0ull);
	WRITE(PMPCFG0, 0x1f);
	wild_writes();
	every_access();
	every_depth();
	every_filter();
	every_freeze();
	external_traps();
	for (int i = 0; i < SETTINGS; i++)
		try(random_control(), random_control(), random_below(8));
	return 0;
}
