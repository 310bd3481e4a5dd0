// SPDX-License-Identifier: GPL-2.0-only
/*
 * The property: for every program and every choice of options, the decoded instructions are the
 * executed ones.
 */
#include <stdlib.h>

#include "../lib/tap.h"
#include "check.h"
#include "drive.h"

#define BATCH 250

static struct cover cover;

static uint64_t from_environment(const char *name, uint64_t otherwise)
{
	const char *text = getenv(name);

	return text && *text ? strtoull(text, NULL, 0) : otherwise;
}

/* Rows of the cover in turn, each time with other programs, and the same number of random rows. */
static void choose_row(uint64_t index, uint64_t seed, struct row *row)
{
	struct random random = { seed };

	if (index < cover.rows || index % 2)
		*row = cover.row[(index < cover.rows ? index : index / 2) % cover.rows];
	else
		row_draw(row, &random);
}

static uint64_t program_seed(uint64_t seed, uint64_t index)
{
	struct random random = { seed + index * UINT64_C(0x9e3779b97f4a7c15) };

	return random_next(&random);
}

/* Return: false if it failed, with a report. */
static bool run_one(uint64_t seed, uint64_t index, const char *reproduce, struct tally *tally)
{
	uint64_t own = program_seed(seed, index);
	const char *fault;
	struct row row;

	choose_row(index, own, &row);
	fault = check_program(&row, own, MUTATE_NOTHING, tally);
	if (!fault)
		return true;
	diag("program %" PRIu64 ": %s", index, row_text(&row));
	diag("%s", fault);
	diag("again: SEED=%" PRIu64 " ONLY=%" PRIu64 " %s", seed, index, reproduce);
	return false;
}

static void run_all(uint64_t seed, uint64_t count, const char *reproduce, struct tally *tally)
{
	unsigned int failures = 0;

	for (uint64_t first = 0; first < count && failures < 5; first += BATCH) {
		uint64_t last = first + BATCH < count ? first + BATCH : count;
		unsigned int before = failures;

		for (uint64_t i = first; i < last && failures < 5; i++)
			failures += !run_one(seed, i, reproduce, tally);
		ok(failures == before, "programs %" PRIu64 " to %" PRIu64 ": decoded as executed",
		   first, last - 1);
	}
}

/* Levels encoded in @choice, a number in base LEVELS_MAX. */
static bool excluded_levels(const struct exclusion *exclusion, unsigned int choice, struct row *row)
{
	memset(row, 0, sizeof(*row));
	for (unsigned int i = 0; i < 3; i++, choice /= LEVELS_MAX) {
		unsigned int level = choice % LEVELS_MAX;

		if (!exclusion->side[i].levels) {
			if (level)
				return false;
			continue;
		}
		if (level >= factor_levels(exclusion->side[i].factor) ||
		    !(exclusion->side[i].levels >> level & 1))
			return false;
		row->level[exclusion->side[i].factor] = (uint8_t)level;
	}
	return true;
}

/* The encoder must refuse options that the specification excludes, with a reason. */
static void check_exclusions(void)
{
	for (unsigned int i = 0; i < exclusion_count; i++) {
		unsigned int choices = LEVELS_MAX * LEVELS_MAX * LEVELS_MAX;

		for (unsigned int choice = 0; choice < choices && exclusions[i].refused; choice++) {
			struct ntrace_encoder_config config;
			struct ntrace_params params;
			struct ntrace_encoder encoder;
			const char *reason;
			struct row row;

			if (!excluded_levels(&exclusions[i], choice, &row))
				continue;
			row_config(&row, NULL, &config, &params);
			reason = ntrace_encoder_refusal(&config);
			ok(reason && ntrace_encoder_init(&encoder, &config) == NTRACE_ERR_INVALID,
			   "refused, %s: %s", reason ? reason : "(no reason)", row_text(&row));
		}
	}
}

/* A comparison without findings proves something only if it can detect errors. */
static void check_mutations(uint64_t seed)
{
	static const char *const names[] = { "", "another PC", "one record less",
					     "a damaged stream" };
	struct tally tally = { 0 };

	for (enum mutation mutation = MUTATE_PC; mutation <= MUTATE_STREAM; mutation++) {
		unsigned int found = 0;

		for (unsigned int i = 0; i < 20; i++) {
			/* The first level of each factor, without losses. */
			struct row row = { 0 };

			row.level[FACTOR_MODE] = i & 1;
			row.level[FACTOR_ISA] = 1;
			found += check_program(&row, seed + i, mutation, &tally) != NULL;
		}
		is_u64(found, 20, "the comparison notices %s", names[mutation]);
	}
}

/* Each feature must have occurred, else the test proves nothing about it. */
static void check_tally(const struct tally *tally)
{
	static const uint8_t tcodes[] = {
		NTRACE_TCODE_OWNERSHIP,
		NTRACE_TCODE_DIRECT_BRANCH,
		NTRACE_TCODE_INDIRECT_BRANCH,
		NTRACE_TCODE_ERROR,
		NTRACE_TCODE_PROG_TRACE_SYNC,
		NTRACE_TCODE_DIRECT_BRANCH_SYNC,
		NTRACE_TCODE_INDIRECT_BRANCH_SYNC,
		NTRACE_TCODE_RESOURCE_FULL,
		NTRACE_TCODE_INDIRECT_BRANCH_HIST,
		NTRACE_TCODE_INDIRECT_BRANCH_HIST_SYNC,
		NTRACE_TCODE_REPEAT_BRANCH,
		NTRACE_TCODE_PROG_TRACE_CORRELATION,
	};
	static const uint8_t syncs[] = { 0, 1, 2, 3, 4, 5, 6, 7, 9 };

	diag("%" PRIu64 " programs, %" PRIu64 " instructions, %" PRIu64 " traps, %" PRIu64
	     " bytes in %" PRIu64 " messages",
	     tally->programs, tally->instructions, tally->traps, tally->bytes, tally->messages);
	diag("%" PRIu64 " traps in handlers, %" PRIu64
	     " switches of threads, %u calls open at once",
	     tally->nested, tally->switches, tally->deepest);
	ok(tally->deepest > 64, "recursion deeper than any return stack");
	ok(tally->nested && tally->switches, "traps in handlers and switches of threads");
	diag("%" PRIu64 " instructions lost to overruns, %" PRIu64 " returns and %" PRIu64
	     " sequential jumps without a message",
	     tally->lost, tally->spared[0], tally->spared[1]);
	for (unsigned int i = 0; i < sizeof(tcodes); i++)
		ok(tally->tcodes[tcodes[i]] > 0, "%s occurs", ntrace_tcode_name(tcodes[i]));
	for (unsigned int i = 0; i < sizeof(syncs); i++)
		ok(tally->syncs[syncs[i]] > 0, "SYNC %u occurs", syncs[i]);
	for (unsigned int rcode = 0; rcode < 3; rcode++)
		ok(tally->rcodes[rcode] > 0, "RCODE %u occurs", rcode);
	for (unsigned int kind = KIND_PLAIN; kind <= KIND_ENVIRONMENT; kind++)
		ok(tally->kinds[kind] > 0, "instructions of kind %u occur", kind);
	ok(tally->table_jumps > 0, "CM.JT and CM.JALT occur");
	ok(tally->spared[0] > 0, "implicit returns occur");
	ok(tally->spared[1] > 0, "sequentially inferable jumps occur");
	diag("%" PRIu64 " blocks with time, %" PRIu64 " of M-mode, %" PRIu64 " and %" PRIu64
	     " of two address spaces",
	     tally->timed, tally->chosen[0], tally->chosen[1], tally->chosen[2]);
	ok(tally->timed && tally->chosen[0] && tally->chosen[1] && tally->chosen[2],
	   "blocks with time, in each address space");
	ok(tally->inferred && tally->uninferred,
	   "modes 1 and 2: %" PRIu64 " programs warned of, %" PRIu64
	   " without a reason for a warning",
	   tally->inferred, tally->uninferred);
	ok(tally->harts > 0, "%" PRIu64 " programs in a stream with other harts", tally->harts);
	ok(tally->parts.joined > tally->parts.again / 4,
	   "parts of streams give the same events: %" PRIu64 " began with a right guess, %" PRIu64
	   " were decoded again",
	   tally->parts.joined, tally->parts.again);
	ok(tally->counted > 0, "%" PRIu64 " bytes counted, with the profile of a walk",
	   tally->counted);
	ok(tally->holes > 0, "%" PRIu64 " programs with holes in memory", tally->holes);
}

int property_main(const char *reproduce, uint64_t count)
{
	uint64_t seed = from_environment("SEED", 1), only = from_environment("ONLY", UINT64_MAX);
	struct tally tally = { 0 };

	count = from_environment("COUNT", count);
	cover_make(&cover, seed);
	if (only != UINT64_MAX) {
		ok(run_one(seed, only, reproduce, &tally), "program %" PRIu64, only);
		return done_testing();
	}
	diag("SEED=%" PRIu64 ", %" PRIu64 " programs; %u pairs of options in %u rows", seed, count,
	     cover.pairs, cover.rows);
	ok(!cover.missing, "every permitted pair of options is in a row");
	ok(count >= cover.rows, "as many programs as rows");
	check_exclusions();
	check_mutations(seed);
	run_all(seed, count, reproduce, &tally);
	check_tally(&tally);
	return done_testing();
}
