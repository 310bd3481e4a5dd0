// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reports of a verification, in one of three forms: text, JSON, or TAP for continuous integration,
 * where each rule is a test, and one that was never judged is skipped.
 */
#include "report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/disassembly.h"
#include "common/place_name.h"
#include "common/ui.h"

int report_open(struct report *report, const struct tandem_options *options)
{
	int error;

	report->options = options;
	report->passed = calloc(options->last + 1, sizeof(*report->passed));
	if (!report->passed)
		return fail("out of memory");
	if (!options->elf)
		return EXIT_OK;
	error = ntrace_object_open_elf(&report->object, options->elf);
	if (error)
		return fail("%s: %s", options->elf, error_text(error));
	/* Without DWARF, places have no line. */
	if (ntrace_lines_open(&report->lines, report->object, NULL))
		report->lines = NULL;
	return EXIT_OK;
}

void report_close(struct report *report)
{
	ntrace_lines_close(report->lines);
	ntrace_object_put(report->object);
	free(report->passed);
}

void report_group(struct report *report, const struct ntrace_tandem_state *state)
{
	struct report_passed *passed =
		&report->passed[report->groups % (report->options->last + 1)];

	for (unsigned int i = 0; i < report->pending_count; i++) {
		unsigned int id = report->pending[i].id;

		report->reg[id] = report->pending[i].value;
		report->known[id / 64] |= UINT64_C(1) << id % 64;
	}
	report->pending_count = 0;
	*passed = (struct report_passed){
		.group = report->groups++,
		.offset = state->offset,
		.pc = state->has & NTRACE_TANDEM_HAS_INIT ? state->reg[NTRACE_TANDEM_PC] :
							    state->pc_before,
		.insn = state->insn,
		.insn_bytes = state->has & NTRACE_TANDEM_HAS_INSN ? state->insn_bytes : 0,
	};
	for (unsigned int word = 0; word < NTRACE_TANDEM_BITMAP_WORDS; word++)
		for (uint64_t bits = state->changed[word]; bits; bits &= bits - 1) {
			unsigned int id = word * 64 + (unsigned int)__builtin_ctzll(bits);

			if (id != NTRACE_TANDEM_PC)
				report->pending[report->pending_count++] =
					(struct report_change){ (uint16_t)id, state->reg[id] };
		}
	passed->change_count = report->pending_count;
	for (unsigned int i = 0; i < report->pending_count && i < REPORT_CHANGES_MAX; i++)
		passed->changes[i] = report->pending[i];
}

/* ---- text ---- */

/* TAP takes all text as comments. */
static const char *prefix(const struct report *report)
{
	return report->options->tap ? "# " : "";
}

/* Function and source line. */
static void put_place(const struct report *report, uint64_t pc)
{
	const struct ntrace_line *line = report->lines ? ntrace_lines_find(report->lines, pc) :
							 NULL;
	struct ntrace_location location;
	const char *file;

	if (!report->object || ntrace_object_locate(report->object, pc, &location) ||
	    !location.symbol)
		return;
	ui_printf(stdout, "  %s+0x%" PRIx64, location.symbol, pc - location.symbol_start);
	if (!line || !line->line)
		return;
	file = strrchr(line->file, '/');
	ui_printf(stdout, " (%s:%" PRIu32 ")", file ? file + 1 : line->file, line->line);
}

/* The registers that the text of the current group's instruction names, with their values before it. */
static void put_operands(const struct report *report, const char *text)
{
	char word[32], name[NTRACE_TANDEM_NAME_MAX];
	int shown[8];
	unsigned int count = 0, i;
	size_t length;

	/* The mnemonic comes first. */
	text += strcspn(text, " \t");
	for (; *text; text += length ? length : 1) {
		int id;

		length = strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789_");
		if (!length || length >= sizeof(word))
			continue;
		memcpy(word, text, length);
		word[length] = 0;
		id = ntrace_tandem_register_number(word);
		if (id < 0 || id == (int)NTRACE_TANDEM_GPR || id >= (int)NTRACE_TANDEM_PC ||
		    !ntrace_tandem_bit(report->known, (unsigned int)id))
			continue;
		for (i = 0; i < count && shown[i] != id; i++)
			;
		if (i < count || count == sizeof(shown) / sizeof(shown[0]))
			continue;
		shown[count++] = id;
		if (count > 1)
			printf(",");
		else
			printf("%s  before it:", prefix(report));
		printf(" %s=0x%" PRIx64, ntrace_tandem_register_name((unsigned int)id, name),
		       report->reg[id]);
	}
	if (count)
		putchar('\n');
}

/* @operands: the instruction is the current one, whose operands are printed in a line of their own */
static void put_insn(const struct report *report, uint64_t pc, uint64_t insn, unsigned int bytes,
		     bool operands)
{
	struct disassembly disassembly;
	const char *text = NULL;

	if (!bytes) {
		printf("(no instruction)");
		put_place(report, pc);
		if (operands)
			putchar('\n');
		return;
	}
	printf("%0*" PRIx64, (int)(2 * bytes), insn);
	memset(&disassembly, 0, sizeof(disassembly));
	if (report->options->elf) {
		disassemble(&disassembly, report->options->elf, pc, pc + bytes, NULL);
		if (disassembly.count)
			text = disassembly_find(&disassembly, pc);
		ui_printf(stdout, "  %s", text ? text : "(not in the program)");
		put_place(report, pc);
	}
	if (operands) {
		putchar('\n');
		if (text)
			put_operands(report, text);
	}
	disassembly_free(&disassembly);
}

static void put_changes(const struct report_passed *passed)
{
	char name[NTRACE_TANDEM_NAME_MAX];

	for (unsigned int i = 0; i < passed->change_count && i < REPORT_CHANGES_MAX; i++)
		printf("%s %s=0x%" PRIx64, i ? "," : "  ->",
		       ntrace_tandem_register_name(passed->changes[i].id, name),
		       passed->changes[i].value);
	if (passed->change_count > REPORT_CHANGES_MAX)
		printf(", %u more", passed->change_count - REPORT_CHANGES_MAX);
}

static void put_head(struct report *report, const struct ntrace_tandem_mismatch *mismatch)
{
	uint64_t last = report->options->last;
	uint64_t first = report->groups - 1 > last ? report->groups - 1 - last : 0;
	bool current = mismatch->group == report->groups - 1;

	/* What is found later, when other groups have passed, is shown without those before it. */
	for (; current && first < mismatch->group; first++) {
		const struct report_passed *passed = &report->passed[first % (last + 1)];

		printf("%s  before: group %" PRIu64 ", pc 0x%" PRIx64 ": ", prefix(report),
		       passed->group, passed->pc);
		put_insn(report, passed->pc, passed->insn, passed->insn_bytes, false);
		put_changes(passed);
		putchar('\n');
	}
	printf("%sgroup %" PRIu64 " at offset 0x%" PRIx64 ", pc 0x%" PRIx64 ": ", prefix(report),
	       mismatch->group, mismatch->offset, mismatch->pc);
	put_insn(report, mismatch->pc, mismatch->insn, mismatch->insn_bytes, current);
	if (!current)
		putchar('\n');
}

static bool names_register(unsigned int kind)
{
	return kind == NTRACE_TANDEM_DIFFERENT_REGISTER || kind == NTRACE_TANDEM_DIFFERENT_TRAP;
}

static void put_difference(const struct report *report,
			   const struct ntrace_tandem_mismatch *mismatch)
{
	const struct ntrace_tandem_rule_info *rule = ntrace_tandem_rule_info(mismatch->rule);
	char name[NTRACE_TANDEM_NAME_MAX] = "";

	if (mismatch->kind == NTRACE_TANDEM_DIFFERENT_FORMAT) {
		printf("%s  %s\n", prefix(report), ntrace_tandem_problem(mismatch->problems));
		return;
	}
	if (names_register(mismatch->kind))
		printf("%s  %s", prefix(report), ntrace_tandem_register_name(mismatch->id, name));
	else
		printf("%s  %s at 0x%" PRIx64, prefix(report), rule->id, mismatch->address);
	printf(": trace 0x%" PRIx64 ", model 0x%" PRIx64 ": %s (%s)\n", mismatch->seen,
	       mismatch->expected, rule->text, rule->section);
}

/* ---- JSON ---- */

static void put_json(const struct report *report, const struct ntrace_tandem_mismatch *mismatch)
{
	static const char *const kinds[] = { "register", "store",   "instruction", "interrupt",
					     "format",	 "address", "width",	   "access" };
	const struct ntrace_line *line =
		report->lines ? ntrace_lines_find(report->lines, mismatch->pc) : NULL;
	char name[NTRACE_TANDEM_NAME_MAX];

	printf("{\"group\":%" PRIu64 ",\"offset\":%" PRIu64 ",\"pc\":\"0x%" PRIx64 "\"",
	       mismatch->group, mismatch->offset, mismatch->pc);
	if (line && line->line)
		printf(",\"line\":%" PRIu32, line->line);
	if (mismatch->insn_bytes)
		printf(",\"instruction\":\"%0*" PRIx64 "\"", (int)(2 * mismatch->insn_bytes),
		       mismatch->insn);
	printf(",\"kind\":\"%s\",\"rule\":\"%s\"", kinds[mismatch->kind],
	       ntrace_tandem_rule_info(mismatch->rule)->id);
	if (mismatch->kind == NTRACE_TANDEM_DIFFERENT_FORMAT)
		printf(",\"problem\":\"%s\"", ntrace_tandem_problem(mismatch->problems));
	else if (!names_register(mismatch->kind))
		printf(",\"address\":\"0x%" PRIx64 "\"", mismatch->address);
	else
		printf(",\"register\":\"%s\"", ntrace_tandem_register_name(mismatch->id, name));
	printf(",\"trace\":\"0x%" PRIx64 "\",\"model\":\"0x%" PRIx64 "\"}\n", mismatch->seen,
	       mismatch->expected);
}

void report_mismatch(struct report *report, const struct ntrace_tandem_mismatch *mismatch,
		     bool first)
{
	if (report->options->json) {
		put_json(report, mismatch);
		return;
	}
	if (first)
		put_head(report, mismatch);
	put_difference(report, mismatch);
}

/* ---- the end ---- */

/* What the model without a simulator took from the trace. */
static void put_builtin(const struct ntrace_tandem_builtin *builtin, bool json,
			const char *start_of_line)
{
	struct ntrace_tandem_builtin_stats taken;

	ntrace_tandem_builtin_stats(builtin, &taken);
	if (json)
		printf("\"memory\":%" PRIu64 ",\"conditional\":%" PRIu64 ",\"csr\":%" PRIu64
		       ",\"faults\":%" PRIu64 ",\"unsupported\":%" PRIu64 ",\"results\":%" PRIu64
		       ",",
		       taken.memory, taken.conditional, taken.csr, taken.faults, taken.unsupported,
		       taken.results);
	else
		printf("%staken from the trace: %" PRIu64 " loads from memory that was not known, "
		       "%" PRIu64 " outcomes of sc, %" PRIu64 " values of CSRs, %" PRIu64
		       " faults, %" PRIu64 " instructions that are not modelled, %" PRIu64
		       " other results\n",
		       start_of_line, taken.memory, taken.conditional, taken.csr, taken.faults,
		       taken.unsupported, taken.results);
}

static void put_json_totals(const struct ntrace_tandem_verifier *verifier,
			    const struct ntrace_tandem_verify_stats *stats,
			    const struct ntrace_tandem_builtin *builtin)
{
	uint64_t judged, broken;

	printf("{\"groups\":%" PRIu64 ",\"instructions\":%" PRIu64 ",\"interrupts\":%" PRIu64
	       ",\"initialisations\":%" PRIu64 ",\"resets\":%" PRIu64 ",\"calls\":%" PRIu64
	       ",\"chosen\":%" PRIu64 ",\"full\":%" PRIu64 ",\"mismatched\":%" PRIu64
	       ",\"differences\":%" PRIu64 ",",
	       stats->groups, stats->steps, stats->interrupts, stats->initialisations,
	       stats->resets, stats->calls, stats->chosen, stats->full, stats->mismatched,
	       stats->differences);
	if (builtin)
		put_builtin(builtin, true, "");
	printf("\"rules\":{");
	for (unsigned int rule = 0; rule < NTRACE_TANDEM_RULES; rule++) {
		ntrace_tandem_verifier_rule(verifier, rule, &judged, &broken);
		printf("%s\"%s\":{\"judged\":%" PRIu64 ",\"broken\":%" PRIu64 "}", rule ? "," : "",
		       ntrace_tandem_rule_info(rule)->id, judged, broken);
	}
	printf("}}\n");
}

static void put_tap(const struct ntrace_tandem_verifier *verifier)
{
	uint64_t judged, broken;

	for (unsigned int rule = 0; rule < NTRACE_TANDEM_RULES; rule++) {
		const struct ntrace_tandem_rule_info *info = ntrace_tandem_rule_info(rule);

		ntrace_tandem_verifier_rule(verifier, rule, &judged, &broken);
		printf("%sok %u - %s: ", broken ? "not " : "", rule + 1, info->id);
		if (broken)
			printf("broken %" PRIu64 " times, judged %" PRIu64 " times\n", broken,
			       judged);
		else if (judged)
			printf("judged %" PRIu64 " times\n", judged);
		else
			printf("%s # SKIP never judged\n", info->section);
	}
	printf("1..%u\n", (unsigned int)NTRACE_TANDEM_RULES);
}

void report_totals(struct report *report, const struct ntrace_tandem_verifier *verifier,
		   const struct ntrace_tandem_builtin *builtin)
{
	struct ntrace_tandem_verify_stats stats;

	ntrace_tandem_verifier_stats(verifier, &stats);
	if (report->options->json) {
		put_json_totals(verifier, &stats, builtin);
		return;
	}
	printf("%s%" PRIu64 " groups: %" PRIu64 " instructions executed by the model, %" PRIu64
	       " interrupts; %" PRIu64 " results taken from the trace; %" PRIu64 " groups differ\n",
	       prefix(report), stats.groups, stats.steps, stats.interrupts, stats.chosen,
	       stats.mismatched);
	if (builtin)
		put_builtin(builtin, false, prefix(report));
	if (report->options->tap)
		put_tap(verifier);
}
