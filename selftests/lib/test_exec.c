// SPDX-License-Identifier: GPL-2.0-only
/*
 * The executor on values of which only a part is known, with random instructions of all opcodes and
 * random words. The same step is made three times: with little known, with more, and with everything.
 *
 * - Sound: what is known of a result is what the full state gives.
 * - Monotone: what is known with little known is known with more.
 * - Full: nothing is unknown if everything is known, except what the header names.
 *
 * That the full results are right is tested against QEMU (tandem/exec.sh).
 */
#include <stdlib.h>

#include <ntrace/exec.h>

#include "tap.h"

enum { LITTLE, MORE, FULL, STATES };

static const char *const names[] = { "little", "more", "everything" };

struct hart {
	struct ntrace_exec *exec;
	unsigned int level;
	uint64_t salt;
	unsigned int stores;
	uint64_t store_address[16];
	struct ntrace_exec_value stored[16];
};

static uint64_t random_state;

static uint64_t random_bits(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

static uint64_t hash(uint64_t value)
{
	value = (value ^ value >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	value = (value ^ value >> 27) * UINT64_C(0x94d049bb133111eb);
	return value ^ value >> 31;
}

/* Known bits of a value at a level: each level has those of the one below it. Often a few are unknown, or many. */
static uint64_t known_at(unsigned int level, uint64_t seed)
{
	uint64_t little = hash(seed), more = little | hash(seed + 1);

	switch (seed & 7) {
	case 0:
	case 1:
		little = more = UINT64_MAX;
		break;
	case 2:
		little = ~(UINT64_C(0xff) << (seed >> 8 & 63));
		more = little | more;
		break;
	case 3:
		little = UINT64_MAX << (seed >> 8 & 63);
		more = little | more;
		break;
	case 4:
		little &= hash(seed + 2) & hash(seed + 3);
		break;
	case 5:
		little = 0;
		break;
	default:
		break;
	}
	return level == FULL ? UINT64_MAX : level == MORE ? more : little;
}

static uint64_t interesting(uint64_t seed)
{
	static const uint64_t values[] = { 0,
					   1,
					   UINT64_MAX,
					   INT64_MAX,
					   (uint64_t)INT64_MIN,
					   UINT32_MAX,
					   0x80000000,
					   0x7fffffff,
					   UINT64_C(0x7ff0000000000000),
					   UINT64_C(0xffffffff7f800000),
					   UINT64_C(0xffffffff00000001),
					   UINT64_C(0x7ff8000000000000) };

	switch (seed & 3) {
	case 0:
		return values[hash(seed) % (sizeof(values) / sizeof(values[0]))];
	case 1:
		return UINT64_C(0xffffffff00000000) | (uint32_t)hash(seed);
	default:
		return hash(seed);
	}
}

static struct ntrace_exec_value value_at(unsigned int level, uint64_t seed)
{
	struct ntrace_exec_value value = { interesting(seed), known_at(level, hash(~seed)) };

	value.bits &= value.known;
	return value;
}

static int read_memory(void *user, uint64_t address, unsigned int bytes,
		       struct ntrace_exec_value *value)
{
	struct hart *hart = user;

	(void)bytes;
	*value = value_at(hart->level, address ^ hart->salt);
	return 0;
}

static int write_memory(void *user, uint64_t address, unsigned int bytes,
			const struct ntrace_exec_value *value)
{
	struct hart *hart = user;

	(void)bytes;
	hart->store_address[hart->stores] = address;
	hart->stored[hart->stores++] = *value;
	return 0;
}

static int read_csr(void *user, unsigned int number, struct ntrace_exec_value *value)
{
	return read_memory(user, number, 8, value);
}

static uint32_t random_insn(void)
{
	static const uint8_t opcodes[] = { 0x03, 0x07, 0x0f, 0x13, 0x17, 0x1b, 0x23, 0x27,
					   0x2f, 0x33, 0x37, 0x3b, 0x43, 0x47, 0x4b, 0x4f,
					   0x53, 0x57, 0x63, 0x67, 0x6f, 0x73 };
	static const uint8_t funct7[] = { 0x00, 0x01, 0x04, 0x05, 0x07, 0x08, 0x09, 0x0c, 0x0d,
					  0x10, 0x11, 0x14, 0x15, 0x20, 0x21, 0x24, 0x28, 0x2c,
					  0x2d, 0x30, 0x34, 0x35, 0x50, 0x51, 0x59, 0x60, 0x61,
					  0x68, 0x69, 0x70, 0x71, 0x78, 0x79 };
	uint64_t random = random_bits();
	uint32_t insn = (uint32_t)random;

	random >>= 32;
	switch (random & 3) {
	case 0:
		return insn;
	case 1:
		return insn & 0xffff;
	case 2:
		insn &= 0x01ffffff;
		insn |= (uint32_t)funct7[(random >> 8) % sizeof(funct7)] << 25;
		if (random >> 16 & 1)
			insn = (insn & ~0x01f00000u) | (uint32_t)(random >> 17 & 7) << 20;
		break;
	default:
		break;
	}
	return (insn & ~0x7fu) | opcodes[(random >> 24) % sizeof(opcodes)];
}

static bool covers(struct ntrace_exec_value more, struct ntrace_exec_value less)
{
	return !(less.known & ~more.known) && !((more.bits ^ less.bits) & less.known) &&
	       !(less.bits & ~less.known);
}

static void set_up(struct hart *hart, uint64_t seed, unsigned int flen)
{
	hart->salt = seed;
	hart->stores = 0;
	for (unsigned int i = 1; i < 32; i++) {
		struct ntrace_exec_value value = value_at(hart->level, hash(seed + i));

		ntrace_exec_set(hart->exec, NTRACE_EXEC_X + i, &value);
	}
	for (unsigned int i = 0; i < 32 && flen; i++) {
		struct ntrace_exec_value value = value_at(hart->level, hash(seed + 32 + i));

		ntrace_exec_set(hart->exec, NTRACE_EXEC_F + i, &value);
	}
	for (unsigned int id = NTRACE_EXEC_FFLAGS; id <= NTRACE_EXEC_FRM; id++) {
		struct ntrace_exec_value value = { hash(seed + id) % 5,
						   known_at(hart->level, hash(seed - id)) };

		ntrace_exec_set(hart->exec, id, &value);
	}
}

/* Return: what is wrong with the second of two results of the same step, NULL = nothing */
static const char *compare(const struct hart *less, const struct hart *more,
			   const struct ntrace_exec_effects *little,
			   const struct ntrace_exec_effects *much, unsigned int flen)
{
	struct ntrace_exec_value a, b;

	for (unsigned int i = 0; i < (flen ? 64 : 32); i++) {
		ntrace_exec_get(less->exec, NTRACE_EXEC_X + i, &a);
		ntrace_exec_get(more->exec, NTRACE_EXEC_X + i, &b);
		if (!covers(b, a))
			return "a register";
	}
	for (unsigned int id = NTRACE_EXEC_FFLAGS; id <= NTRACE_EXEC_FCSR; id++) {
		ntrace_exec_get(less->exec, id, &a);
		ntrace_exec_get(more->exec, id, &b);
		if (!covers(b, a))
			return "fcsr";
	}
	if (little->next_known && (!much->next_known || little->next_pc != much->next_pc))
		return "the next pc";
	if (little->address_known && (!much->address_known || little->address != much->address))
		return "the address";
	if (little->address > much->address || much->span > little->span ||
	    much->address - little->address > little->span - much->span)
		return "where the address may be";
	if (little->written != much->written)
		return "what is written";
	if (!covers(much->value, little->value) && !(much->flags & NTRACE_EXEC_STORES_MAYBE))
		return "the stored value";
	for (unsigned int i = 0; i < less->stores; i++)
		if (i >= more->stores || more->store_address[i] != less->store_address[i] ||
		    !covers(more->stored[i], less->stored[i]))
			return "a store";
	return NULL;
}

static bool may_be_unknown(uint32_t insn, const struct ntrace_exec_effects *effects,
			   const struct hart *hart)
{
	struct ntrace_exec_value frm;

	ntrace_exec_get(hart->exec, NTRACE_EXEC_FRM, &frm);
	return effects->flags & (NTRACE_EXEC_STORES_MAYBE | NTRACE_EXEC_VECTOR) ||
	       /* double precision with RMM */
	       ((insn >> 25 & 3) == 1 && ((insn >> 12 & 7) == 4 || frm.bits == 4));
}

static const char *check_full(const struct hart *hart, uint32_t insn,
			      const struct ntrace_exec_effects *effects, unsigned int xlen,
			      unsigned int flen)
{
	struct ntrace_exec_value value;

	for (unsigned int i = 0; i < 64; i++) {
		uint64_t all = (i < 32 ? xlen : flen) == 64 ? UINT64_MAX : UINT32_MAX;

		if (!(effects->written >> i & 1))
			continue;
		ntrace_exec_get(hart->exec, NTRACE_EXEC_X + i, &value);
		if (value.known != all && !may_be_unknown(insn, effects, hart))
			return "a register is unknown";
	}
	if (!effects->next_known &&
	    !(effects->flags & (NTRACE_EXEC_TRAPS | NTRACE_EXEC_TRAP_RETURN)))
		return "the next pc is unknown";
	return NULL;
}

static void test_random(unsigned int xlen, unsigned int flen, bool push_pop, unsigned int rounds)
{
	struct hart harts[STATES] = { 0 };
	struct ntrace_exec_effects effects[STATES];
	const char *wrong = NULL;
	unsigned int supported = 0, failed = LITTLE;
	uint32_t insn = 0;

	for (unsigned int i = 0; i < STATES; i++) {
		struct ntrace_exec_config config = {
			.size = sizeof(config),
			.isa = { .xlen = (uint8_t)xlen, .compressed = true, .push_pop = push_pop },
			.flen = flen,
			.user = &harts[i],
			.read = read_memory,
			.write = write_memory,
			.read_csr = read_csr,
		};

		harts[i].level = i;
		if (ntrace_exec_new(&harts[i].exec, &config))
			abort();
	}
	for (unsigned int round = 0; round < rounds && !wrong; round++) {
		uint64_t seed = random_bits();
		int results[STATES];

		insn = random_insn();
		for (unsigned int i = 0; i < STATES; i++) {
			set_up(&harts[i], seed, flen);
			results[i] = ntrace_exec_step(harts[i].exec, insn, 0x1000, &effects[i]);
		}
		/* A rounding mode that is reserved is seen only where it is known. */
		if (results[FULL] == NTRACE_ERR_UNSUPPORTED)
			continue;
		supported++;
		for (unsigned int i = LITTLE; i < FULL && !wrong; i++) {
			wrong = results[i] == results[FULL] ? NULL : "the result";
			if (!wrong)
				wrong = compare(&harts[i], &harts[i + 1], &effects[i],
						&effects[i + 1], flen);
			failed = i;
		}
		if (!wrong)
			wrong = check_full(&harts[FULL], insn, &effects[FULL], xlen, flen);
	}
	ok(!wrong, "RV%u, FLEN %u, Zcmp %d: random instructions", xlen, flen, push_pop);
	if (wrong)
		diag("insn 0x%08x, %s known: %s", insn, names[failed], wrong);
	ok(supported > rounds / 3, "a third of them and more are instructions: %u", supported);
	for (unsigned int i = 0; i < STATES; i++)
		ntrace_exec_free(harts[i].exec);
}

static struct ntrace_exec_value after(struct ntrace_exec *exec, uint32_t insn,
				      struct ntrace_exec_value a, struct ntrace_exec_value b)
{
	struct ntrace_exec_effects effects;
	struct ntrace_exec_value value = { 0, 0 };

	ntrace_exec_set(exec, NTRACE_EXEC_X + 11, &a);
	ntrace_exec_set(exec, NTRACE_EXEC_X + 12, &b);
	if (!ntrace_exec_step(exec, insn, 0, &effects))
		ntrace_exec_get(exec, NTRACE_EXEC_X + 10, &value);
	return value;
}

#define ALL UINT64_MAX

/* What must be known, not only may be: a rule that knows nothing would pass the test above. */
static void test_known(void)
{
	static const struct {
		const char *what;
		uint32_t insn;
		struct ntrace_exec_value a, b, expected;
	} rows[] = {
		{ "and with known 0 bits",
		  0x00c5f533,
		  { 0, 0 },
		  { 0xff0f, ALL },
		  { 0, ~UINT64_C(0xff0f) } },
		{ "andi of a known bit", 0x0015f513, { 1, 1 }, { 0, 0 }, { 1, ALL } },
		{ "or with known ones", 0x00c5e533, { 0, 0 }, { 0x0f, ALL }, { 0x0f, 0x0f } },
		{ "xor of a register with itself", 0x00b5c533, { 0, 0 }, { 0, 0 }, { 0, ALL } },
		{ "add below the first unknown bit",
		  0x00c58533,
		  { 0x0001, 0x0f },
		  { 0x0002, 0xff },
		  { 0x0003, 0x0f } },
		{ "add without a carry into known bits",
		  0x00c58533,
		  { 0x1000, ~UINT64_C(0xf) },
		  { 0, ALL },
		  { 0x1000, ~UINT64_C(0xf) } },
		{ "add with a carry into some",
		  0x00c58533,
		  { 0x1000, ~UINT64_C(0x7) },
		  { 0x4, ALL },
		  { 0x1000, ~UINT64_C(0xf) } },
		{ "sub of an index from a pointer",
		  0x40c58533,
		  { 0x1000, ALL },
		  { 0, ~UINT64_C(0x7) },
		  { 0, ~UINT64_C(0x1fff) } },
		{ "slt is 0 or 1", 0x00c5a533, { 0, 0 }, { 0, 0 }, { 0, ~UINT64_C(1) } },
		{ "sltu of numbers that are apart",
		  0x00c5b533,
		  { 0, ~UINT64_C(0xff) },
		  { 0x100, ~UINT64_C(0xff) },
		  { 1, ALL } },
		{ "slt of numbers of which one is negative",
		  0x00c5a533,
		  { UINT64_C(1) << 63, UINT64_C(1) << 63 },
		  { 0, UINT64_C(1) << 63 },
		  { 1, ALL } },
		{ "slli by 4", 0x00459513, { 0x5, 0x0f }, { 0, 0 }, { 0x50, 0xff } },
		{ "sext.w of a known sign",
		  0x0005851b,
		  { 0x80000000, 0x80000000 },
		  { 0, 0 },
		  { UINT64_C(0xffffffff80000000), UINT64_C(0xffffffff80000000) } },
		{ "rev8",
		  0x6b85d513,
		  { 0x12, 0x1f },
		  { 0, 0 },
		  { UINT64_C(0x12) << 56, UINT64_C(0x1f) << 56 } },
		{ "mul of low bits", 0x02c58533, { 3, 0x07 }, { 5, 0x07 }, { 7, 0x07 } },
		{ "mul by 0", 0x02c58533, { 0, 0 }, { 0, ALL }, { 0, ALL } },
		{ "mul of an index by 24",
		  0x02c58533,
		  { 0, ~UINT64_C(0xf) },
		  { 24, ALL },
		  { 0, ~UINT64_C(0x1f8) } },
		{ "remu is below the divisor",
		  0x02c5f533,
		  { 0, 0 },
		  { 64, ALL },
		  { 0, ~UINT64_C(0x3f) } },
		{ "divu of bounds",
		  0x02c5d533,
		  { 0, ~UINT64_C(0xff) },
		  { 16, ALL },
		  { 0, ~UINT64_C(0x0f) } },
		{ "ctz up to the first bit that is set",
		  0x60159513,
		  { 0x80, 0x80 },
		  { 0, 0 },
		  { 0, ~UINT64_C(0x07) } },
		{ "cpop of at most three bits",
		  0x60259513,
		  { 0, ~UINT64_C(0x7) },
		  { 0, 0 },
		  { 0, ~UINT64_C(3) } },
		{ "czero.eqz with a condition that is not 0",
		  0x0ec5d533,
		  { 7, ALL },
		  { 0x100, 0x100 },
		  { 7, ALL } },
		{ "czero.eqz of a small number",
		  0x0ec5d533,
		  { 7, ALL },
		  { 0, 0 },
		  { 0, ~UINT64_C(7) } },
		{ "sh1add", 0x20c5a533, { 0x40, 0x7f }, { 1, ALL }, { 0x81, 0xff } },
	};
	struct ntrace_exec_config config = { .size = sizeof(config), .isa = { .xlen = 64 } };
	struct ntrace_exec *exec;

	if (ntrace_exec_new(&exec, &config))
		abort();
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct ntrace_exec_value value = after(exec, rows[i].insn, rows[i].a, rows[i].b);

		if (!ok(value.bits == rows[i].expected.bits &&
				value.known == rows[i].expected.known,
			"%s", rows[i].what))
			diag("0x%" PRIx64 ", known 0x%" PRIx64, value.bits, value.known);
	}
	ntrace_exec_free(exec);
}

/* What the way of a branch tells of x11 and x12. */
static void test_branches(void)
{
	static const struct {
		const char *what;
		uint32_t insn;
		bool taken;
		struct ntrace_exec_value a, b, expected_a, expected_b;
	} rows[] = {
		{ "beq",
		  0x00c58463,
		  true,
		  { 0x10, 0xf0 },
		  { 0x2, 0x0f },
		  { 0x12, 0xff },
		  { 0x12, 0xff } },
		{ "bne not taken", 0x00c59463, false, { 0, 0 }, { 7, ALL }, { 7, ALL }, { 7, ALL } },
		{ "bne", 0x00c59463, true, { 0, 0 }, { 7, ALL }, { 0, 0 }, { 7, ALL } },
		{ "bltu",
		  0x00c5e463,
		  true,
		  { 0, 0 },
		  { 0x40, ALL },
		  { 0, ~UINT64_C(0x3f) },
		  { 0x40, ALL } },
		{ "bltu not taken",
		  0x00c5e463,
		  false,
		  { 0x40, ALL },
		  { 0, 0 },
		  { 0x40, ALL },
		  { 0, ~UINT64_C(0x7f) } },
		{ "bgeu",
		  0x00c5f463,
		  true,
		  { 0x40, ALL },
		  { 0, 0 },
		  { 0x40, ALL },
		  { 0, ~UINT64_C(0x7f) } },
		{ "bgeu not taken",
		  0x00c5f463,
		  false,
		  { 0, 0 },
		  { 0x100, ALL },
		  { 0, ~UINT64_C(0xff) },
		  { 0x100, ALL } },
		{ "blt", 0x00c5c463, true, { 0, 0 }, { 0x40, ALL }, { 0, 0 }, { 0x40, ALL } },
	};
	struct ntrace_exec_config config = { .size = sizeof(config), .isa = { .xlen = 64 } };
	struct ntrace_exec *exec;

	if (ntrace_exec_new(&exec, &config))
		abort();
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct ntrace_exec_value a, b;

		after(exec, rows[i].insn, rows[i].a, rows[i].b);
		ntrace_exec_arrive(exec, rows[i].insn, 0, rows[i].taken ? 8 : 4);
		ntrace_exec_get(exec, NTRACE_EXEC_X + 11, &a);
		ntrace_exec_get(exec, NTRACE_EXEC_X + 12, &b);
		ok(a.bits == rows[i].expected_a.bits && a.known == rows[i].expected_a.known &&
			   b.bits == rows[i].expected_b.bits && b.known == rows[i].expected_b.known,
		   "%s tells", rows[i].what);
	}
	ntrace_exec_free(exec);
}

static void test_arguments(void)
{
	struct ntrace_exec_config config = { .size = sizeof(config), .isa = { .xlen = 16 } };
	struct ntrace_exec_value value = { 1, UINT64_MAX };
	struct ntrace_exec *exec;

	ok(ntrace_exec_new(&exec, &config) == NTRACE_ERR_INVALID, "XLEN 16");
	config.isa.xlen = 64;
	config.flen = 16;
	ok(ntrace_exec_new(&exec, &config) == NTRACE_ERR_INVALID, "FLEN 16");
	config.flen = 0;
	ok(!ntrace_exec_new(&exec, &config), "no F");
	ok(ntrace_exec_set(exec, 0x300, &value) == NTRACE_ERR_INVALID &&
		   ntrace_exec_get(exec, NTRACE_EXEC_F + 32, &value) == NTRACE_ERR_INVALID,
	   "registers that it does not have");
	ntrace_exec_set(exec, NTRACE_EXEC_X, &value);
	ntrace_exec_get(exec, NTRACE_EXEC_X, &value);
	ok(value.bits == 0 && value.known == UINT64_MAX, "x0 is 0");
	ntrace_exec_free(exec);
	ntrace_exec_free(NULL);
}

int main(void)
{
	const char *seed = getenv("SEED"), *rounds = getenv("ROUNDS");
	unsigned int count = rounds ? (unsigned int)strtoul(rounds, NULL, 0) : 20000;

	random_state = seed ? strtoull(seed, NULL, 0) : 1;
	test_arguments();
	test_known();
	test_branches();
	test_random(64, 64, false, count);
	test_random(64, 64, true, count);
	test_random(32, 64, false, count);
	test_random(32, 32, true, count);
	test_random(64, 0, false, count);
	return done_testing();
}
