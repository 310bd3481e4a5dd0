// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Random transfers and random writes of registers: the model against an oracle written only from
 * the tables of CTR 1.0. The oracle has no ring: its entries are a list in logical order, which
 * moves as a whole, its rules are rows of tables, and cycles are a log.
 *
 *	test_ctr_property [SEED [TRANSFERS]]
 */
#include <ntrace/ctr.h>
#include <stdlib.h>
#include <tap.h>

enum {
	U = NTRACE_PRIV_U,
	S = NTRACE_PRIV_S,
	M = NTRACE_PRIV_M,
	D = NTRACE_PRIV_D,
	VU = NTRACE_PRIV_VU,
	VS = NTRACE_PRIV_VS,
	ANY = 99
};

/* ---- the oracle ---- */

#define LOG_MAX 4096

static struct oracle {
	struct ntrace_ctr_entry list[256];	/* youngest first */
	int depth;
	int wrptr;
	bool frozen;
	uint64_t mctrctl, vsctrctl;
	bool ccv;
	/* cycles since the last record or clear: one item per stretch of time */
	struct {
		uint64_t cycles;
		bool active;
	} log[LOG_MAX];
	int logged;
	struct ntrace_ctr_config config;
} oracle;

static bool bit(uint64_t value, int number)
{
	return value >> number & 1;
}

/* Enable bit of each mode: register and bit number. */
static bool mode_on(int mode)
{
	static const struct {
		int mode, number;
		bool guest;
	} rows[] = {
		{ U, 0, false }, { S, 1, false }, { M, 2, false }, { VU, 0, true }, { VS, 1, true }
	};

	for (size_t i = 0; i < 5; i++)
		if (rows[i].mode == mode)
			return bit(rows[i].guest ? oracle.vsctrctl : oracle.mctrctl,
				   rows[i].number);
	return false;
}

/* External traps: source, target, and the required xTE bits. */
static bool external_allowed(int from, int to)
{
	static const struct {
		int from, to;
		bool mte, ste, vste;
	} rows[] = { { U, S, 0, 1, 0 },	 { U, M, 1, 1, 0 },  { S, M, 1, 0, 0 },
		     { VU, VS, 0, 0, 1 }, { VU, S, 0, 1, 1 }, { VU, M, 1, 1, 1 },
		     { VS, S, 0, 1, 0 },  { VS, M, 1, 1, 0 } };

	for (size_t i = 0; i < 8; i++)
		if (rows[i].from == from && rows[i].to == to)
			return (!rows[i].mte || bit(oracle.mctrctl, 9)) &&
			       (!rows[i].ste || bit(oracle.mctrctl, 8)) &&
			       (!rows[i].vste || bit(oracle.vsctrctl, 8));
	return false;
}

/* Bit of each type in CTR 1.0; -1: none. The bit of type 4 has the opposite meaning. */
static bool type_wanted(uint64_t control, int type)
{
	static const int numbers[16] = { -1, 33, 34, 35, 36, 37, -1, -1,
					 40, 41, 42, 43, 44, 45, 46, 47 };

	return type == 4 ? bit(control, 36) : !bit(control, numbers[type]);
}

static void oracle_time(int mode, uint64_t cycles)
{
	if (oracle.logged == LOG_MAX) {
		fprintf(stderr, "the log of the oracle is full\n");
		exit(1);
	}
	oracle.log[oracle.logged].cycles = cycles;
	oracle.log[oracle.logged++].active = !oracle.frozen && mode_on(mode);
}

/* Largest representable count of at most n, found by trying all candidates. */
static uint64_t compressed(uint64_t n, int bits)
{
	uint64_t best = 0;

	for (uint64_t cce = 0; cce < 1u << bits; cce++) {
		uint64_t step = cce ? UINT64_C(1) << (cce - 1) : 1;
		uint64_t low = cce ? 4096 * step : 0;
		uint64_t ccm = n < low ? 0 : (n - low) / step;

		if (n < low)
			break;
		best = cce << 12 | (ccm > 4095 ? 4095 : ccm);
	}
	return best;
}

static struct ntrace_ctr_entry oracle_entry(const struct ntrace_ctr_transfer *t, bool hide_source,
					    bool hide_target, bool stack)
{
	struct ntrace_ctr_entry entry = { (hide_source ? 0 : t->source) + 1,
					  hide_target ? 0 : t->target, 0 };
	uint64_t cycles = 0;

	for (int i = 0; i < oracle.logged; i++)
		if (oracle.log[i].active)
			cycles += oracle.log[i].cycles;
	if (oracle.config.features & NTRACE_CTR_HAS_MISPREDICT && t->mispredicted)
		entry.target++;
	if (oracle.config.features & NTRACE_CTR_HAS_TYPE)
		entry.data += t->itype;
	if (oracle.config.features & NTRACE_CTR_HAS_CYCLES && oracle.ccv && !stack)
		entry.data += 0x8000 + (compressed(cycles, (int)oracle.config.cce_bits) << 16);
	oracle.logged = 0;
	oracle.ccv = true;
	return entry;
}

/* Adds a record: all entries become older. */
static void oracle_push(struct ntrace_ctr_entry entry)
{
	memmove(oracle.list + 1, oracle.list, (size_t)(oracle.depth - 1) * sizeof(entry));
	oracle.list[0] = entry;
	if (++oracle.wrptr == oracle.depth)
		oracle.wrptr = 0;
}

/* All entries become younger; the former entry 0 is now the oldest. */
static void oracle_turn_back(void)
{
	struct ntrace_ctr_entry first = oracle.list[0];

	memmove(oracle.list, oracle.list + 1, (size_t)(oracle.depth - 1) * sizeof(first));
	oracle.list[oracle.depth - 1] = first;
	if (--oracle.wrptr < 0)
		oracle.wrptr = oracle.depth - 1;
}

static int oracle_stack(const struct ntrace_ctr_transfer *t)
{
	if (!mode_on(t->from))
		return NTRACE_CTR_IGNORED;
	if (t->itype == 8 || t->itype == 9) {
		oracle_push(oracle_entry(t, false, false, true));
		return NTRACE_CTR_RECORDED;
	}
	if (t->itype == 12) {
		oracle.list[0] = oracle_entry(t, false, false, true);
		return NTRACE_CTR_REPLACED;
	}
	if (t->itype == 13) {
		oracle.list[0].source &= ~UINT64_C(1);
		oracle_turn_back();
		return NTRACE_CTR_POPPED;
	}
	return NTRACE_CTR_IGNORED;
}

static int oracle_transfer(const struct ntrace_ctr_transfer *t)
{
	/* The transfer table of CTR 1.0: kind, source on, target on; result. */
	enum { NONE, FULL, NO_SOURCE, NO_TARGET, EXTERNAL };
	static const struct {
		int kind, source, target, result;
	} rows[] = { { 'T', 1, 1, FULL }, { 'T', 0, 1, NO_SOURCE }, { 'T', 1, 0, EXTERNAL },
		     { 'R', 1, 1, FULL }, { 'R', 1, 0, NO_TARGET }, { 'R', 0, 1, NONE },
		     { 'J', 1, 1, FULL }, { ANY, 0, 0, NONE } };
	int kind = t->itype <= 2 ? 'T' : t->itype == 3 ? 'R' : 'J';
	int to = kind == 'J' ? t->from : t->to;
	bool guest = t->from == VU || t->from == VS || to == VU || to == VS;
	uint64_t control = guest ? oracle.vsctrctl : oracle.mctrctl;
	uint64_t taker = to == VS ? oracle.vsctrctl : oracle.mctrctl;
	int result = NONE;

	oracle_time(t->from, t->cycles);
	if (oracle.frozen || t->from == D || to == D)
		return NTRACE_CTR_IGNORED;
	if ((t->itype == 2 && t->cause == 13 && bit(taker, 12)) ||
	    (t->itype == 1 && t->cause == 3 && bit(taker, 11))) {
		oracle.frozen = true;
		return NTRACE_CTR_FROZE;
	}
	if (bit(control, 7))
		return oracle_stack(t);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if ((rows[i].kind == kind || rows[i].kind == ANY) &&
		    rows[i].source == mode_on(t->from) && rows[i].target == mode_on(to))
			result = rows[i].result;
	if (result == EXTERNAL ? !external_allowed(t->from, to) :
				 result == NONE || !type_wanted(control, t->itype))
		return NTRACE_CTR_IGNORED;
	oracle_push(oracle_entry(t, result == NO_SOURCE, result == NO_TARGET || result == EXTERNAL,
				 false));
	return NTRACE_CTR_RECORDED;
}

static void oracle_forget(void)
{
	oracle.logged = 0;
	oracle.ccv = false;
}

static void oracle_clear(void)
{
	memset(oracle.list, 0, sizeof(oracle.list));
	oracle_forget();
}

static void oracle_status(int wrptr, bool frozen)
{
	oracle.frozen = frozen;
	while (oracle.wrptr != wrptr)
		oracle_turn_back();
}

/* ---- oracle and model ---- */

static struct ntrace_ctr_model model;
static uint64_t state, transfers, effects[5], entries;
static const char *what;

static uint64_t draw(uint64_t limit)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (state >> 11) % limit;
}

static bool differs(const char *where)
{
	if (!what)
		what = where;
	return false;
}

static void set(unsigned int priv, unsigned int csr, uint64_t value)
{
	if (ntrace_ctr_model_write(&model, priv, csr, value))
		differs("a write is refused");
}

static uint64_t get(unsigned int csr)
{
	uint64_t value = 0;

	if (ntrace_ctr_model_read(&model, S, csr, &value))
		differs("a read is refused");
	return value;
}

/* Compares the whole ring through the registers. */
static bool same_ring(void)
{
	if (get(0x14f) != ((uint64_t)oracle.frozen << 31 | (unsigned int)oracle.wrptr))
		return differs("sctrstatus");
	for (int i = 0; i < oracle.depth; i++) {
		set(S, 0x150, 0x200 + (unsigned int)i);
		if (get(0x151) != oracle.list[i].source)
			return differs("ctrsource");
		if (get(0x152) != oracle.list[i].target)
			return differs("ctrtarget");
		if (get(0x153) != oracle.list[i].data)
			return differs("ctrdata");
		entries++;
	}
	return true;
}

/* A transfer that is possible from the current mode. */
static struct ntrace_ctr_transfer random_transfer(int *mode)
{
	static const uint8_t jumps[] = { 4, 5, 8, 9, 9, 10, 11, 12, 13, 13, 14, 15 };
	static const uint8_t up[5][4] = {
		{ U, S, M, S }, { S, S, M, M }, { M, M, M, M }, { VU, VS, S, M }, { VS, VS, S, M }
	};
	static const uint8_t down[5][5] = { { U, U, U, U, U },
					    { S, U, VS, VU, S },
					    { M, U, S, VS, VU },
					    { VU, VU, VU, VU, VU },
					    { VS, VU, VS, VU, VU } };
	static const uint8_t modes[] = { U, S, M, VU, VS };
	struct ntrace_ctr_transfer t = {
		.source = (draw(2) ? UINT64_C(0xffffffff80000000) : 0x10000) + 2 * draw(0x10000),
		.target = 0x20000 + 2 * draw(0x10000),
		.cycles = draw(UINT64_C(1) << draw(30)),
		.mispredicted = draw(8) == 0,
		.from = (uint8_t)*mode,
	};
	int index = 0;

	while (modes[index] != *mode)
		index++;
	if (draw(100) < 70) {
		t.itype = jumps[draw(sizeof(jumps))];
		t.to = t.from;
		return t;
	}
	if (draw(2) && *mode != U && *mode != VU) {
		t.itype = 3;
		t.to = down[index][draw(5)];
	} else {
		t.itype = (uint8_t)(1 + draw(2));
		t.to = *mode == U ? up[index][1 + draw(3)] :
		       *mode == VU ? up[index][1 + draw(3)] :
				     up[index][draw(4)];
		t.cause = draw(8) ? draw(16) : draw(2) ? 3 : 13;
	}
	*mode = t.to;
	return t;
}

/* Software writes a register. @keep are fields under test. */
static void random_write(uint64_t keep)
{
	uint64_t value = (draw(2) ? draw(UINT64_C(1) << 48) & draw(UINT64_C(1) << 48) : keep) | 7;
	int entry = (int)draw((uint64_t)oracle.depth), wrptr = (int)draw((uint64_t)oracle.depth);
	bool frozen = draw(8) == 0;
	unsigned int code;

	switch (draw(8)) {
	case 0:
		set(M, 0x34e, value);
		oracle.mctrctl = value & UINT64_C(0xff3e00001b87) & oracle.config.implemented;
		oracle_forget();
		break;
	case 1:
		set(S, 0x14e, value);
		oracle.mctrctl = (oracle.mctrctl & 0x204) |
				 (value & UINT64_C(0xff3e00001983) & oracle.config.implemented);
		oracle_forget();
		break;
	case 2:
	case 3:
		/* The guest's name is sctrctl. */
		if (draw(2))
			set(VS, 0x14e, value);
		else
			set(S, 0x24e, value);
		oracle.vsctrctl = value & UINT64_C(0xff3e00001983) & oracle.config.implemented;
		oracle_forget();
		break;
	case 4:
		if (ntrace_ctr_model_clear(&model, S))
			differs("SCTRCLR is refused");
		oracle_clear();
		break;
	case 5:
		set(S, 0x14f, (uint64_t)frozen << 31 | (unsigned int)wrptr);
		oracle_status(wrptr, frozen);
		break;
	case 6:
		set(VS, 0x150, 0x200 + (unsigned int)entry);
		set(VS, 0x151, value);
		oracle.list[entry].source = value;
		break;
	default:
		/*
		 * The content after raising the depth is unspecified, so clear it, as software must
		 * do.
		 */
		code = (unsigned int)draw(5);
		set(S, 0x15f, code);
		ntrace_ctr_model_clear(&model, M);
		set(S, 0x14f, 0);
		oracle.depth = 16 << code;
		oracle.wrptr = 0;
		oracle.frozen = false;
		oracle_clear();
		break;
	}
}

/* Runs one setting: both sides from reset, then transfers; writes every @meddle of them. */
static bool run(uint64_t mctrctl, uint64_t vsctrctl, unsigned int code, uint64_t count, int meddle)
{
	int mode = M;

	memset(&oracle, 0, sizeof(oracle));
	ntrace_ctr_config_init(&oracle.config, NTRACE_CTR_RATIFIED);
	oracle.config.cce_bits = (unsigned int)draw(5);
	oracle.config.features = (unsigned int)draw(8);
	if (draw(4) == 0) /* hardware with fewer filters */
		oracle.config.implemented &= ~(UINT64_C(1) << (33 + draw(15)));
	if (ntrace_ctr_model_init(&model, &oracle.config))
		return differs("init");
	oracle.depth = 16 << code;
	oracle.mctrctl = mctrctl & oracle.config.implemented;
	oracle.vsctrctl = vsctrctl & oracle.config.implemented & ~UINT64_C(0x204);
	set(S, 0x15f, code);
	set(M, 0x34e, mctrctl);
	set(S, 0x24e, vsctrctl);
	for (uint64_t i = 0; i < count && !what; i++) {
		struct ntrace_ctr_transfer t = random_transfer(&mode);
		int expected = oracle_transfer(&t);

		transfers++;
		effects[expected]++;
		if (ntrace_ctr_model_transfer(&model, &t) != expected)
			return differs("effect of a transfer");
		if (expected == NTRACE_CTR_FROZE || draw(128) == 0)
			same_ring();
		/* Software eventually clears FROZEN. */
		if (oracle.frozen && draw(20) == 0) {
			set(S, 0x14f, (unsigned int)oracle.wrptr);
			oracle.frozen = false;
		}
		if (oracle.logged > LOG_MAX - 10 || (meddle && draw((uint64_t)meddle) == 0)) {
			same_ring();
			random_write(mctrctl);
		}
		/* The log must be emptied. */
		if (oracle.logged > LOG_MAX - 10) {
			set(M, 0x34e, oracle.mctrctl);
			oracle_forget();
		}
	}
	return !what && same_ring();
}

static const struct {
	const char *name;
	int number;
} bits[] = { { "RASEMU", 7 },	   { "STE", 8 },	{ "MTE", 9 },	      { "BPFRZ", 11 },
	     { "LCOFIFRZ", 12 },   { "EXCINH", 33 },	{ "INTRINH", 34 },    { "TRETINH", 35 },
	     { "NTBREN", 36 },	   { "TKBRINH", 37 },	{ "INDCALLINH", 40 }, { "DIRCALLINH", 41 },
	     { "INDJMPINH", 42 },  { "DIRJMPINH", 43 }, { "CORSWAPINH", 44 }, { "RETINH", 45 },
	     { "INDLJMPINH", 46 }, { "DIRLJMPINH", 47 } };

int main(int argc, char **argv)
{
	uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 0) : 1;
	uint64_t count = argc > 2 ? strtoull(argv[2], NULL, 0) : 2000;
	unsigned int failed = 0;

	state = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
	for (size_t i = 0; i < sizeof(bits) / sizeof(bits[0]); i++) {
		uint64_t value = UINT64_C(1) << bits[i].number;

		for (unsigned int code = 0; code < 5 && !what; code++) {
			/* Each mode on or off, with the bit in the host, in the guest, or both. */
			uint64_t on = draw(8), guest = draw(4);

			run(value | 7, 3, code, count, 0);
			run(7, value | 3, code, count, 0);
			run(value | on, value | guest, code, count, 0);
		}
		ok(!what, "recording: %s alone, at all depths", bits[i].name);
		if (what)
			diag("%s", what);
		what = NULL;
	}
	for (unsigned int modes = 0; modes < 32; modes++)
		failed += !run((modes & 7) | 0x300, (modes >> 3) | 0x100, modes % 5, count, 0);
	ok(!failed, "recording: every set of modes, external traps opted in");
	if (what)
		diag("%s", what);
	for (unsigned int i = 0; i < 300 && !what; i++) {
		/* Half of the bits, or a few. */
		uint64_t all = UINT64_C(0xff3e00001b87), value = 0, guest = 0;

		for (int number = 0; number < 48; number++) {
			value |= (draw(4) < 1 + i % 2) * (all & UINT64_C(1) << number);
			guest |= (draw(4) < 1 + i % 2) * (all & UINT64_C(1) << number);
		}
		if (i % 3)
			value &= ~UINT64_C(0x80);
		if (i % 3 == 1)
			guest &= ~UINT64_C(0x80);
		if (!run(value, guest, i % 5, count, i % 4 ? 60 : 0))
			diag("setting %u: mctrctl %#" PRIx64 ", vsctrctl %#" PRIx64, i, value,
			     guest);
	}
	ok(!what, "recording: 300 random settings, registers written in between");
	if (what)
		diag("%s after %" PRIu64 " transfers", what, transfers);
	ok(effects[0] && effects[1] > transfers / 10 && effects[2] && effects[3] && effects[4],
	   "every possible effect of a transfer occurred");
	diag("seed %" PRIu64 ": %" PRIu64 " transfers: %" PRIu64 " recorded, %" PRIu64
	     " replaced, %" PRIu64 " popped, %" PRIu64 " froze; %" PRIu64 " entries compared",
	     seed, transfers, effects[1], effects[2], effects[3], effects[4], entries);
	return done_testing();
}
