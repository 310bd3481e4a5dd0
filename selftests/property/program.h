/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Random RISC-V programs and walks through them, for property tests.
 *
 * Nothing here uses the library: instruction encodings, classes (itype) and the semantics of calls
 * and returns are written from the specifications a second time, so that an error in lib/isa or
 * lib/flow does not cancel itself out.
 */
#ifndef SELFTESTS_PROPERTY_PROGRAM_H
#define SELFTESTS_PROPERTY_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ntrace/image.h>

/* Random numbers, reproducible by the seed on every machine. */
struct random {
	uint64_t state;
};

static inline uint64_t random_next(struct random *random)
{
	uint64_t z = random->state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

/* 0..limit-1 */
static inline uint32_t random_below(struct random *random, uint32_t limit)
{
	return (uint32_t)((random_next(random) >> 32) * limit >> 32);
}

/* low..high */
static inline uint32_t random_range(struct random *random, uint32_t low, uint32_t high)
{
	return low + random_below(random, high - low + 1);
}

/* True with probability 1 / @n. */
static inline bool one_in(struct random *random, uint32_t n)
{
	return !random_below(random, n);
}

/* Privileges with the numbers of the ingress port. */
enum privilege {
	PRIVILEGE_U = 0,
	PRIVILEGE_S = 1,
	PRIVILEGE_M = 3,
	PRIVILEGE_VU = 5,
	PRIVILEGE_VS = 6,
};

/**
 * struct shape - kind of program and events of its execution
 * @xlen: 32 or 64
 * @compressed: with C
 * @push_pop: with Zcmp (and C)
 * @table_jumps: with Zcmt (and Zcmp)
 * @well_nested: every return goes to the instruction after its call, in order: no co-routine swap,
 *               no switch of threads
 * @hypervisor: with code in VU and VS
 * @contexts: scontext and hcontext are written
 * @power_sizes: every length is a power of 2, as ilastsize requires on a single-instruction port
 * @accesses: a block ends after each Zcmp instruction, which the port reports once per memory
 *            access (E-Trace, chapter 4)
 * @ecall_retires: rc7: ECALL and EBREAK count as retired
 * @trap_rate: about one trap per this many instructions, 0 = only ECALL
 * @off_rate: about one stop of tracing per this many blocks, 0 = none
 * @overrun_rate: about one loss per this many blocks, 0 = none
 * @trigger_rate: about one notify trigger per this many blocks, 0 = none
 * @steps: instructions to execute
 */
struct shape {
	unsigned int xlen;
	bool compressed;
	bool push_pop;
	bool table_jumps;
	bool well_nested;
	bool hypervisor;
	bool contexts;
	bool power_sizes;
	bool accesses;
	bool ecall_retires;
	uint32_t trap_rate;
	uint32_t off_rate;
	uint32_t overrun_rate;
	uint32_t trigger_rate;
	uint32_t steps;
};

/* Kinds of instructions: rows of the classification table (E-Trace, chapter 4). */
enum kind {
	KIND_PLAIN,
	KIND_UPPER,		/* LUI, C.LUI or AUIPC; begins a sequentially inferable pair */
	KIND_CONTEXT,		/* writes scontext or hcontext */
	KIND_BRANCH,
	KIND_JUMP,
	KIND_CALL,
	KIND_OTHER_JUMP,
	KIND_INDIRECT_JUMP,
	KIND_INDIRECT_CALL,
	KIND_OTHER_INDIRECT_JUMP,
	KIND_RETURN,
	KIND_SWAP,
	KIND_TRAP_RETURN,
	KIND_ENVIRONMENT,	/* ECALL, EBREAK, C.EBREAK */
};

/* How the walk decides a branch. */
enum behaviour {
	BEHAVE_RANDOM,
	BEHAVE_PATTERN,		/* bits of a pattern, repeated */
	BEHAVE_LOOP,		/* taken count times, then not taken */
	BEHAVE_DEPTH,		/* taken at this depth of open calls: guards a recursion */
};

/* The special forms of an instruction. */
enum form {
	FORM_BASE,
	FORM_TABLE,		/* CM.JT, CM.JALT */
	FORM_POPRET,		/* CM.POPRET, CM.POPRETZ */
	FORM_AUIPC,		/* KIND_UPPER: AUIPC, else LUI */
};

#define NOWHERE UINT32_MAX

/**
 * struct insn - one instruction of a program
 * @address: address of the instruction
 * @bits: the encoding, if it does not depend on the fields below
 * @target: index of the target instruction of a direct transfer or a pair
 * @choices: first of choice_count entries in program.choices: possible targets of an indirect
 *           transfer
 * @count: count of BEHAVE_LOOP and BEHAVE_DEPTH; jump table entry of FORM_TABLE
 * @paired: follows the KIND_UPPER that loads its register
 * @size: size in bytes
 */
struct insn {
	uint64_t address;
	uint64_t bits;
	uint32_t target;
	uint32_t choices;
	uint32_t pattern;
	uint16_t choice_count;
	uint16_t count;
	uint8_t kind;
	uint8_t form;
	uint8_t size;
	uint8_t rd;
	uint8_t rs1;
	uint8_t behaviour;
	uint8_t width;
	bool paired;
	bool compressed;
};

#define REGIONS 2
#define FUNCTIONS_MAX 24
#define INSNS_MAX 6000
#define CHOICES_MAX 2000
#define REGION_BYTES 65536
#define TABLE_ENTRIES 256

/**
 * struct function - instructions first..last of a program
 * @region: 0 = program, 1 = handlers and the functions that they call
 * @handler: 0, or the privilege in which it handles traps
 */
struct function {
	uint32_t first;
	uint32_t last;
	uint8_t region;
	uint8_t handler;
};

/* Bytes at an address. */
struct region {
	uint64_t address;
	size_t size;
	uint8_t bytes[REGION_BYTES];
};

struct program {
	struct shape shape;
	struct random random;
	struct insn insn[INSNS_MAX];
	uint32_t insns;
	struct function function[FUNCTIONS_MAX];
	uint32_t functions;
	uint32_t plain_functions;	/* number of ordinary functions; handlers follow them */
	uint32_t choice[CHOICES_MAX];
	uint32_t choices;
	uint32_t table[TABLE_ENTRIES];	/* jump table of Zcmt: indices of instructions */
	uint64_t table_address;
	struct region region[REGIONS];
};

/* Makes a program for @shape. Return: false: an error of the generator, see program_fault. */
bool program_make(struct program *program, const struct shape *shape, uint64_t seed);

/* ISA string of a shape. */
const char *shape_isa(const struct shape *shape);

/* encoding.c: the instruction's encoding, 0 if the target is out of range in this size. */
uint64_t encode_insn(const struct program *program, const struct insn *insn);
/* A random instruction that continues with the next one. */
void random_plain(struct program *program, struct insn *insn);

/* Events of a walk, in order. */
enum step_kind {
	STEP_BLOCK,	/* a block of the ingress port */
	STEP_STOP,	/* tracing stops */
	STEP_START,	/* tracing starts again */
	STEP_OVERRUN,	/* the following events up to the next block are lost */
	STEP_TRIGGER,	/* notify trigger */
};

/* How tracing stops: trTeInstTracing, Debug Mode or reset. */
enum stop_how {
	STOP_DISABLE,
	STOP_HALT,
	STOP_RESET,
};

/**
 * struct step - one event of a walk
 * @address: STEP_BLOCK: first instruction; for an empty block the one that trapped
 * @pcs: first of pc_count entries in walk.pc
 * @parcels: retired parcels of 16 bits
 * @itype: 4-bit code
 * @last_size: bytes of the last instruction
 * @how: STEP_STOP: enum stop_how
 * @accesses: number of memory accesses if the last instruction is Zcmp; else 0
 * @sequential: the indirect jump at the end is sequentially inferable
 * @scontext: context registers while the block is executed
 */
struct step {
	uint64_t address;
	uint64_t scontext;
	uint64_t hcontext;
	uint32_t pcs;
	uint32_t pc_count;
	uint32_t parcels;
	uint8_t kind;
	uint8_t itype;
	uint8_t last_size;
	uint8_t privilege;
	uint8_t how;
	uint8_t accesses;
	bool sequential;
	bool environment;	/* ends in an ECALL or EBREAK that counts as retired */
};

#define PCS_MAX 20000
#define STEPS_MAX 60000
#define THREADS 3
#define FRAMES_MAX 512
#define TRAPS_MAX 6

struct thread {
	uint32_t pc;
	uint8_t privilege;
	uint32_t depth;
	uint32_t frame[FRAMES_MAX];
};

struct trap_frame {
	uint32_t pc;
	uint8_t privilege;
	uint32_t depth;
};

struct walk {
	const struct program *program;
	struct random random;
	struct step step[STEPS_MAX];
	uint32_t steps;
	uint64_t pc[PCS_MAX];
	uint32_t pcs;
	uint32_t traps_taken;
	uint32_t nested;	/* traps taken inside handlers */
	uint32_t deepest;	/* open calls at the same time */
	uint32_t switches;	/* switches of threads */
	/* Position of the hart. */
	struct thread thread[THREADS];
	uint32_t current;
	struct trap_frame trap[TRAPS_MAX];
	uint32_t traps;
	/* The current block so far. */
	struct step block;
	bool retried;		/* the instruction at pc has trapped already */
	bool fresh;		/* just after a trap or a trap return */
	bool off;
	uint32_t lost;		/* number of blocks still to lose */
	uint64_t scontext;
	uint64_t hcontext;
	uint32_t previous;	/* last retired instruction, NOWHERE after a trap */
	uint32_t block_limit;	/* maximum number of instructions in a block */
	/* State of the behaviour of each instruction. */
	uint32_t state[INSNS_MAX];
};

/* Executes shape.steps instructions. */
void walk_program(struct walk *walk, const struct program *program, uint64_t seed);

/* The memory of a program, one reference; NULL = out of memory. */
struct ntrace_space *program_space(const struct program *program, const char *name);

#endif /* SELFTESTS_PROPERTY_PROGRAM_H */
