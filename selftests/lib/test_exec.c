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

static uint64_t mask_of(uint8_t known)
{
	uint64_t mask = 0;

	for (unsigned int i = 0; i < 8; i++)
		mask |= known >> i & 1 ? UINT64_C(0xff) << 8 * i : 0;
	return mask;
}

/* Known bytes of a value at a level: each level has those of the one below it. */
static uint8_t known_at(unsigned int level, uint64_t seed)
{
	uint8_t little = (uint8_t)(seed & seed >> 8), more = (uint8_t)(little | seed >> 16);

	if (seed >> 24 & 1)
		little = more = 0xff;
	return level == FULL ? 0xff : level == MORE ? more : little;
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

	value.bits &= mask_of(value.known);
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
	uint64_t mask = mask_of(less.known);

	return !(less.known & ~more.known) && !((more.bits ^ less.bits) & mask) &&
	       !(less.bits & ~mask);
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
		uint8_t all = i < 32 ? (xlen == 64 ? 0xff : 0x0f) : flen == 64 ? 0xff : 0x0f;

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

/* What must be known, not only may be: a rule that knows nothing would pass the test above. */
static void test_known(void)
{
	static const struct {
		const char *what;
		uint32_t insn;
		struct ntrace_exec_value a, b, expected;
	} rows[] = {
		{ "and with a known 0 byte", 0x00c5f533, { 0, 0 }, { 0xff00ff, 0xff }, { 0, 0xfa } },
		{ "andi 0xff of a known low byte",
		  0x0ff5f513,
		  { 0x12, 1 },
		  { 0, 0 },
		  { 0x12, 0xff } },
		{ "or with known ones", 0x00c5e533, { 0, 0 }, { 0xff, 0xff }, { 0xff, 0x01 } },
		{ "xor of a register with itself", 0x00b5c533, { 0, 0 }, { 0, 0 }, { 0, 0xff } },
		{ "add below the first unknown byte",
		  0x00c58533,
		  { 0x0001, 0x03 },
		  { 0x0002, 0x83 },
		  { 0x0003, 0x03 } },
		{ "add without a carry into known bytes",
		  0x00c58533,
		  { 0x00010000, 0xfe },
		  { 0, 0xff },
		  { 0x00010000, 0xfe } },
		{ "slt is 0 or 1", 0x00c5a533, { 0, 0 }, { 0, 0 }, { 0, 0xfe } },
		{ "slli by 8", 0x00859513, { 0x34, 0x01 }, { 0, 0 }, { 0x3400, 0x03 } },
		{ "sext.w of four known bytes",
		  0x0005851b,
		  { 0x80000000, 0x0f },
		  { 0, 0 },
		  { UINT64_C(0xffffffff80000000), 0xff } },
		{ "rev8", 0x6b85d513, { 0x12, 0x01 }, { 0, 0 }, { UINT64_C(0x12) << 56, 0x80 } },
		{ "mul of low bytes", 0x02c58533, { 3, 0x01 }, { 5, 0x01 }, { 15, 0x01 } },
		{ "mul by 0", 0x02c58533, { 0, 0 }, { 0, 0xff }, { 0, 0xff } },
		{ "czero.eqz with a condition that is not 0",
		  0x0ec5d533,
		  { 7, 0xff },
		  { 0x100, 0x02 },
		  { 7, 0xff } },
		{ "sh1add", 0x20c5a533, { 0x40, 0x01 }, { 1, 0xff }, { 0x81, 0x01 } },
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
			diag("0x%" PRIx64 ", known 0x%x", value.bits, value.known);
	}
	ntrace_exec_free(exec);
}

static void test_arguments(void)
{
	struct ntrace_exec_config config = { .size = sizeof(config), .isa = { .xlen = 16 } };
	struct ntrace_exec_value value = { 1, 0xff };
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
	ok(value.bits == 0 && value.known == 0xff, "x0 is 0");
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
	test_random(64, 64, false, count);
	test_random(64, 64, true, count);
	test_random(32, 64, false, count);
	test_random(32, 32, true, count);
	test_random(64, 0, false, count);
	return done_testing();
}
