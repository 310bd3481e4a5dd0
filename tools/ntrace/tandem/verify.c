// SPDX-License-Identifier: GPL-2.0-only
/* ntrace tandem verify: compares a trace with a model behind a GDB stub. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/disassembly.h"
#include "common/ui.h"
#include "tandem.h"

/* One of the last groups. */
struct passed {
	uint64_t group, offset, pc, insn;
	unsigned int insn_bytes;
};

struct verify {
	const struct tandem_options *options;
	struct ntrace_tandem_verifier *verifier;
	struct passed *passed;	/* ring of the last groups and the current one */
	uint64_t groups;
	uint64_t mismatched;
	uint64_t shown;		/* group of the last report + 1 */
	bool ended;		/* the model ended in the last group, which it did not complete */
};

static void put_insn(const struct verify *verify, uint64_t pc, uint64_t insn, unsigned int bytes)
{
	struct disassembly disassembly;
	const char *text = NULL;

	if (!bytes) {
		printf("(no instruction)");
		return;
	}
	printf("%0*" PRIx64, (int)(2 * bytes), insn);
	if (!verify->options->elf)
		return;
	memset(&disassembly, 0, sizeof(disassembly));
	disassemble(&disassembly, verify->options->elf, pc, pc + bytes, NULL);
	if (disassembly.count)
		text = disassembly_find(&disassembly, pc);
	printf("  %s", text ? text : "(not in the program)");
	disassembly_free(&disassembly);
}

static void put_head(struct verify *verify, const struct ntrace_tandem_mismatch *mismatch)
{
	uint64_t last = verify->options->last;
	uint64_t first = verify->groups - 1 > last ? verify->groups - 1 - last : 0;

	/* What is found later, when other groups have passed, is shown without those before it. */
	for (; mismatch->group == verify->groups - 1 && first < mismatch->group; first++) {
		const struct passed *passed = &verify->passed[first % (last + 1)];

		printf("  before: group %" PRIu64 ", pc 0x%" PRIx64 ": ", passed->group,
		       passed->pc);
		put_insn(verify, passed->pc, passed->insn, passed->insn_bytes);
		putchar('\n');
	}
	printf("group %" PRIu64 " at offset 0x%" PRIx64 ", pc 0x%" PRIx64 ": ", mismatch->group,
	       mismatch->offset, mismatch->pc);
	put_insn(verify, mismatch->pc, mismatch->insn, mismatch->insn_bytes);
	putchar('\n');
}

static bool names_register(unsigned int kind)
{
	return kind == NTRACE_TANDEM_DIFFERENT_REGISTER || kind == NTRACE_TANDEM_DIFFERENT_TRAP;
}

static void put_difference(const struct ntrace_tandem_mismatch *mismatch)
{
	const struct ntrace_tandem_rule_info *rule = ntrace_tandem_rule_info(mismatch->rule);
	char name[NTRACE_TANDEM_NAME_MAX] = "";

	if (mismatch->kind == NTRACE_TANDEM_DIFFERENT_FORMAT) {
		printf("  %s\n", ntrace_tandem_problem(mismatch->problems));
		return;
	}
	if (names_register(mismatch->kind))
		printf("  %s", ntrace_tandem_register_name(mismatch->id, name));
	else
		printf("  %s at 0x%" PRIx64, rule->id, mismatch->address);
	printf(": trace 0x%" PRIx64 ", model 0x%" PRIx64, mismatch->seen, mismatch->expected);
	if (mismatch->kind == NTRACE_TANDEM_DIFFERENT_TRAP ||
	    mismatch->kind >= NTRACE_TANDEM_DIFFERENT_ADDRESS)
		printf(": %s (%s)", rule->text, rule->section);
	putchar('\n');
}

static void put_json(const struct ntrace_tandem_mismatch *mismatch)
{
	static const char *const kinds[] = { "register", "store",   "instruction", "interrupt",
					     "format",	 "address", "width",	   "access" };
	char name[NTRACE_TANDEM_NAME_MAX];

	printf("{\"group\":%" PRIu64 ",\"offset\":%" PRIu64 ",\"pc\":\"0x%" PRIx64 "\"",
	       mismatch->group, mismatch->offset, mismatch->pc);
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

static int on_mismatch(void *data, const struct ntrace_tandem_mismatch *mismatch)
{
	struct verify *verify = data;

	if (verify->shown != mismatch->group + 1) {
		if (verify->options->mismatches &&
		    verify->mismatched == verify->options->mismatches)
			return TANDEM_ENOUGH;
		verify->mismatched++;
		verify->shown = mismatch->group + 1;
		if (!verify->options->json)
			put_head(verify, mismatch);
	}
	if (verify->options->json)
		put_json(mismatch);
	else
		put_difference(mismatch);
	return 0;
}

static int on_group(void *data, const struct ntrace_tandem_state *state)
{
	struct verify *verify = data;

	verify->passed[verify->groups % (verify->options->last + 1)] = (struct passed){
		.group = verify->groups,
		.offset = state->offset,
		.pc = state->pc_before,
		.insn = state->insn,
		.insn_bytes = state->has & NTRACE_TANDEM_HAS_INSN ? state->insn_bytes : 0,
	};
	verify->groups++;
	return 0;
}

/*
 * The last instruction of a program often ends the model: a store that powers it off. The hart may
 * jump to itself until it loses its power. Return: whether a field can belong to such a jump
 */
static bool waits(const struct ntrace_tandem_field *field)
{
	switch (field->type) {
	case NTRACE_TANDEM_BEGIN:
	case NTRACE_TANDEM_END:
		return true;
	case NTRACE_TANDEM_STATE:
		return field->id == NTRACE_TANDEM_STATE_PC;
	case NTRACE_TANDEM_INSN16:
		return field->value == 0xa001;
	case NTRACE_TANDEM_INSN32:
		return field->value == 0x6f;
	default:
		return false;
	}
}

static int on_field(void *data, const struct ntrace_tandem_field *field)
{
	struct verify *verify = data;
	int result;

	if (verify->ended)
		return waits(field) ? 0 : NTRACE_ERR_EOS;
	result = ntrace_tandem_verifier_field(verify->verifier, field);
	if (result == NTRACE_ERR_EOS) {
		verify->ended = true;
		return 0;
	}
	if (!result && (field->type == NTRACE_TANDEM_END || field->type == NTRACE_TANDEM_BEGIN) &&
	    ((verify->groups && verify->groups == verify->options->limit) ||
	     (verify->mismatched && verify->mismatched == verify->options->mismatches)))
		return TANDEM_ENOUGH;
	return result;
}

static void put_totals(const struct verify *verify)
{
	struct ntrace_tandem_verify_stats stats;

	ntrace_tandem_verifier_stats(verify->verifier, &stats);
	if (verify->options->json)
		printf("{\"groups\":%" PRIu64 ",\"instructions\":%" PRIu64
		       ",\"interrupts\":%" PRIu64 ",\"initialisations\":%" PRIu64
		       ",\"resets\":%" PRIu64 ",\"calls\":%" PRIu64 ",\"chosen\":%" PRIu64
		       ",\"full\":%" PRIu64 ",\"mismatched\":%" PRIu64 ",\"differences\":%" PRIu64
		       "}\n",
		       stats.groups, stats.steps, stats.interrupts, stats.initialisations,
		       stats.resets, stats.calls, stats.chosen, stats.full, stats.mismatched,
		       stats.differences);
	else
		printf("%" PRIu64 " groups: %" PRIu64
		       " instructions executed by the model, %" PRIu64 " interrupts; %" PRIu64
		       " results taken from the trace; %" PRIu64 " groups differ\n",
		       stats.groups, stats.steps, stats.interrupts, stats.chosen, stats.mismatched);
}

/* Text of an error of the model. @gdb: it is a GDB stub; @open: while connecting */
static const char *model_error(int error, bool gdb, bool open)
{
	if (gdb && open && error == NTRACE_ERR_UNSUPPORTED)
		return "the GDB stub does not describe its registers";
	if (gdb && open && error == NTRACE_ERR_NOSPACE)
		return "a file of the GDB stub's target description is larger than 1 MiB";
	if (gdb && error == NTRACE_ERR_FORMAT)
		return open ? "the GDB stub breaks the protocol, or gives a register a bitsize "
			      "of 0, or pc and general registers one that is not XLEN" :
			      "the GDB stub breaks the protocol";
	if (error == NTRACE_ERR_EOS)
		return "it ended, and the trace goes on";
	if (gdb && error == NTRACE_ERR_IO && errno == ETIMEDOUT)
		return "the GDB stub does not answer";
	return error_text(error);
}

static int run_verifier(struct verify *verify, const struct ntrace_tandem_verify_config *config)
{
	int status, result, saved;

	if (ntrace_tandem_verifier_new(&verify->verifier, config))
		return fail("out of memory");
	status = tandem_read_file(verify->options, on_field, verify, &result);
	saved = errno;
	if (status != EXIT_FAILED)
		put_totals(verify);
	ntrace_tandem_verifier_free(verify->verifier);
	errno = saved;
	if (result)
		return fail("%s: the model ended the verification: %s",
			    verify->options->model ? verify->options->path : verify->options->gdb,
			    model_error(result, !verify->options->model, false));
	return !status && verify->mismatched ? EXIT_GAPS : status;
}

int tandem_verify(const struct tandem_options *options)
{
	static struct ntrace_tandem_mask chosen[2 * TANDEM_LIST_MAX];
	struct ntrace_tandem_verify_config config;
	struct verify verify = { .options = options };
	struct ntrace_tandem_gdb *gdb = NULL;
	int error = 0;

	ntrace_tandem_verify_config_init(&config);
	memcpy(chosen, config.chosen, config.chosen_count * sizeof(chosen[0]));
	memcpy(chosen + config.chosen_count, options->chosen,
	       options->chosen_count * sizeof(chosen[0]));
	config.chosen = chosen;
	config.chosen_count += options->chosen_count;
	config.params = options->params;
	config.full_interval = options->full;
	config.pending_limit = options->pending;
	config.absent = options->absent;
	config.absent_count = options->absent_count;
	config.devices = options->devices;
	config.device_count = options->device_count;
	config.mismatch = on_mismatch;
	config.group = on_group;
	config.flags = options->linux_user ? NTRACE_TANDEM_VERIFY_LINUX_USER : 0;
	config.user = &verify;
	if (options->model)
		config.model = *options->model;
	else
		error = ntrace_tandem_gdb_open(&gdb, options->gdb, &config.model);
	if (error)
		return fail("%s: %s", options->gdb, model_error(error, true, true));
	if (config.model.xlen && config.model.xlen != config.params.xlen) {
		ntrace_tandem_gdb_close(gdb);
		return fail("%s: the model's registers have %u bits, and the trace has xlen %u: "
			    "option --xlen",
			    options->model ? options->path : options->gdb, config.model.xlen,
			    config.params.xlen);
	}
	verify.passed = calloc(options->last + 1, sizeof(*verify.passed));
	error = verify.passed ? run_verifier(&verify, &config) : fail("out of memory");
	free(verify.passed);
	ntrace_tandem_gdb_close(gdb);
	return error;
}
