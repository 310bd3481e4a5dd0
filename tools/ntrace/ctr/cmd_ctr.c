// SPDX-License-Identifier: GPL-2.0-only
/* ntrace ctr: shows and compares rings of Control Transfer Records, and runs the model. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/command.h"
#include "common/ingress_file.h"
#include "common/output.h"
#include "common/ui.h"
#include "ring.h"

enum {
	OPTION_JSON = OPTION_LONG,
	OPTION_CALL_STACK,
	OPTION_HAS,
	OPTION_CONTROL,
	OPTION_VS_CONTROL,
	OPTION_DEPTH,
	OPTION_DRAFT,
};

static const struct option_spec options_table[] = {
	{ OPTION_HAS, "has", "LIST",
	  "dump, compare: what the hart records: type, mispredict, cycles, none" },
	{ OPTION_CALL_STACK, "call-stack", NULL, "dump: the calls of a ring recorded with RASEMU" },
	{ OPTION_JSON, "json", NULL, "dump: a JSON object for each entry" },
	{ OPTION_CONTROL, "control", "HEX", "model: mctrctl (default: M, S and U only)" },
	{ OPTION_VS_CONTROL, "vs-control", "HEX", "model: vsctrctl" },
	{ OPTION_DEPTH, "depth", "N", "model: entries: 16, 32, 64, 128 or 256" },
	{ OPTION_DRAFT, "draft", NULL, "model: registers as in the draft v0.1.4" },
	OPTION_HELP,
	OPTION_TABLE_END,
};

/**
 * struct ctr_command - options
 * @given: options given, bit n: OPTION_LONG + n
 * @features: enum ntrace_ctr_feature
 */
struct ctr_command {
	const struct command *command;
	struct output *output;
	unsigned int given;
	unsigned int features;
	uint64_t control;
	uint64_t vs_control;
	unsigned int depth;
};

static bool given(const struct ctr_command *ctr, int option)
{
	return ctr->given >> (option - OPTION_LONG) & 1;
}

/* ---- dump ---- */

/* MISP that is 0 in all entries may not be implemented. */
static unsigned int features_of(const struct ctr_command *ctr, const struct ctr_ring *ring)
{
	unsigned int features = NTRACE_CTR_HAS_TYPE | NTRACE_CTR_HAS_CYCLES;

	if (given(ctr, OPTION_HAS))
		return ctr->features;
	for (unsigned int i = 0; i < ring->entries; i++)
		if (ring->entry[i].source & ring->entry[i].target & NTRACE_CTR_TARGET_MISP)
			features |= NTRACE_CTR_HAS_MISPREDICT;
	return features;
}

static void address(struct output *output, uint64_t value, bool hidden)
{
	if (hidden)
		output_padded(output, "hidden", 18);
	else
		output_printf(output, "0x%016" PRIx64, value);
}

static void dump_text(struct output *output, unsigned int index,
		      const struct ntrace_ctr_record *record)
{
	output_decimal(output, index, 3);
	output_char(output, ' ');
	address(output, record->from, record->from_hidden);
	output_char(output, ' ');
	address(output, record->to, record->to_hidden);
	output_char(output, ' ');
	output_padded(output, ntrace_ctr_type_name(record->type), 19);
	output_char(output, ' ');
	if (record->cycles_known)
		output_printf(output, "%s%9" PRIu32, record->cycles_saturated ? ">=" : "  ",
			      record->cycles);
	else
		output_text(output, "          -");
	output_text(output, !record->mispredict_known ? "  -\n" :
			    record->mispredicted      ? "  mispredicted\n" :
							"  predicted\n");
}

static void dump_json(struct output *output, unsigned int index,
		      const struct ntrace_ctr_record *record)
{
	output_printf(output, "{\"index\":%u", index);
	if (record->from_hidden)
		output_text(output, ",\"from\":null");
	else
		output_printf(output, ",\"from\":\"0x%" PRIx64 "\"", record->from);
	if (record->to_hidden)
		output_text(output, ",\"to\":null");
	else
		output_printf(output, ",\"to\":\"0x%" PRIx64 "\"", record->to);
	output_printf(output, ",\"type\":%u,\"type_name\":\"%s\"", record->type,
		      ntrace_ctr_type_name(record->type));
	if (record->cycles_known)
		output_printf(output, ",\"cycles\":%" PRIu32 ",\"saturated\":%s", record->cycles,
			      record->cycles_saturated ? "true" : "false");
	if (record->mispredict_known)
		output_printf(output, ",\"mispredicted\":%s",
			      record->mispredicted ? "true" : "false");
	output_text(output, "}\n");
}

static int dump_stack(struct output *output, const struct ctr_ring *ring, unsigned int features)
{
	struct ntrace_ctr_frame frames[NTRACE_CTR_ENTRIES_MAX];
	bool partial;
	int count = ntrace_ctr_call_stack(ring->entry, ring->entries, features, frames, &partial);

	if (count < 0)
		return fail("%s: an entry is no call: was it recorded with RASEMU?", ring->path);
	for (int i = 0; i < count; i++)
		output_printf(output, "#%-3d 0x%016" PRIx64 " called at 0x%016" PRIx64 "\n", i,
			      frames[i].function, frames[i].call);
	if (partial)
		output_text(output, "# the ring is full: outer calls may be missing\n");
	return EXIT_OK;
}

static int dump(struct ctr_command *ctr, char **files)
{
	static struct ctr_ring ring;
	unsigned int features;

	if (ctr_ring_read(&ring, files[0]))
		return EXIT_FAILED;
	features = features_of(ctr, &ring);
	if (given(ctr, OPTION_CALL_STACK))
		return dump_stack(ctr->output, &ring, features);
	if (!given(ctr, OPTION_JSON))
		output_text(ctr->output, "#   from               to                 type"
					 "                    cycles  prediction\n");
	for (unsigned int i = 0; i < ring.entries; i++) {
		struct ntrace_ctr_record record;

		ntrace_ctr_record_decode(&ring.entry[i], features, &record);
		if (!record.valid)
			continue;
		if (given(ctr, OPTION_JSON))
			dump_json(ctr->output, i, &record);
		else
			dump_text(ctr->output, i, &record);
	}
	return EXIT_OK;
}

/* ---- compare ---- */

/* Bits of ctrdata that this hart implements. */
static uint64_t data_mask(const struct ntrace_ctr_entry *entry, unsigned int features)
{
	uint64_t mask = features & NTRACE_CTR_HAS_TYPE ? NTRACE_CTR_DATA_TYPE : 0;

	if (!(features & NTRACE_CTR_HAS_CYCLES))
		return mask;
	/* Without CCV, CC has no meaning. */
	return mask | NTRACE_CTR_DATA_CCV |
	       (entry->data & NTRACE_CTR_DATA_CCV ? NTRACE_CTR_DATA_CC : 0);
}

static void show_type(struct output *output, uint64_t data)
{
	output_text(output, ntrace_ctr_type_name(data & NTRACE_CTR_DATA_TYPE));
}

static void show_cycles(struct output *output, uint64_t data)
{
	if (data & NTRACE_CTR_DATA_CCV)
		output_printf(output, "%" PRIu32, ntrace_ctr_cycles_decode((uint16_t)(data >> 16)));
	else
		output_text(output, "unknown");
}

/* Prints how two entries differ. Return: false if they are equal. */
static bool entries_differ(const struct ctr_command *ctr, unsigned int index,
			   const struct ntrace_ctr_entry *a, const struct ntrace_ctr_entry *b)
{
	unsigned int features = given(ctr, OPTION_HAS) ? ctr->features : ~0u;
	uint64_t misp = features & NTRACE_CTR_HAS_MISPREDICT ? NTRACE_CTR_TARGET_MISP : 0;
	uint64_t data = (a->data & data_mask(a, features)) ^ (b->data & data_mask(b, features));
	struct output *output = ctr->output;

	if ((a->source ^ b->source) & NTRACE_CTR_SOURCE_VALID) {
		output_printf(output, "entry %u: valid in %s alone\n", index,
			      a->source & NTRACE_CTR_SOURCE_VALID ? "A" : "B");
	} else if (!(a->source & NTRACE_CTR_SOURCE_VALID)) {
		return false;
	} else if (a->source != b->source) {
		output_printf(output, "entry %u: from 0x%" PRIx64 " in A, 0x%" PRIx64 " in B\n",
			      index, a->source & ~NTRACE_CTR_SOURCE_VALID,
			      b->source & ~NTRACE_CTR_SOURCE_VALID);
	} else if ((a->target ^ b->target) & ~NTRACE_CTR_TARGET_MISP) {
		output_printf(output, "entry %u: to 0x%" PRIx64 " in A, 0x%" PRIx64 " in B\n",
			      index, a->target & ~NTRACE_CTR_TARGET_MISP,
			      b->target & ~NTRACE_CTR_TARGET_MISP);
	} else if ((a->target ^ b->target) & misp) {
		output_printf(output, "entry %u: mispredicted in %s alone\n", index,
			      a->target & NTRACE_CTR_TARGET_MISP ? "A" : "B");
	} else if (data & NTRACE_CTR_DATA_TYPE) {
		output_printf(output, "entry %u: type: ", index);
		show_type(output, a->data);
		output_text(output, " in A, ");
		show_type(output, b->data);
		output_text(output, " in B\n");
	} else if (data) {
		output_printf(output, "entry %u: cycles: ", index);
		show_cycles(output, a->data);
		output_text(output, " in A, ");
		show_cycles(output, b->data);
		output_text(output, " in B\n");
	} else {
		return false;
	}
	return true;
}

/* Exit codes like those of `ntrace check`: 2 if nothing could be compared. */
static int compare(struct ctr_command *ctr, char **files)
{
	static struct ctr_ring a, b;

	if (!strcmp(files[0], "-") && !strcmp(files[1], "-"))
		return usage_error(ctr->command, "standard input can be one of the two only");
	if (ctr_ring_read(&a, files[0]) || ctr_ring_read(&b, files[1]))
		return EXIT_USAGE;
	for (unsigned int i = 0; i < NTRACE_CTR_ENTRIES_MAX; i++) {
		if (a.present[i] != b.present[i]) {
			output_printf(ctr->output, "entry %u: in %s alone\n", i,
				      a.present[i] ? "A" : "B");
			return EXIT_FAILED;
		}
		if (entries_differ(ctr, i, &a.entry[i], &b.entry[i]))
			return EXIT_FAILED;
	}
	output_printf(ctr->output, "%u entries, no difference\n", a.entries);
	return EXIT_OK;
}

/* ---- model ---- */

static int start_model(const struct ctr_command *ctr, struct ntrace_ctr_model *model)
{
	bool draft = given(ctr, OPTION_DRAFT);
	enum ntrace_ctr_layout layout = draft ? NTRACE_CTR_DRAFT : NTRACE_CTR_RATIFIED;
	uint64_t control = ctr->control, depth, implemented;
	struct ntrace_ctr_config config;

	ntrace_ctr_config_init(&config, layout);
	if (!given(ctr, OPTION_CONTROL))
		control = 7;
	depth = (uint64_t)ntrace_ctr_depth_to_raw(layout, ctr->depth);
	implemented = ntrace_ctr_control_to_raw(layout, config.implemented);
	if (control & ~implemented)
		return usage_error(ctr->command,
				   "option --control: %#" PRIx64 " is no field of mctrctl",
				   control & ~implemented);
	implemented &= ~ntrace_ctr_control_to_raw(layout, NTRACE_CTR_CTL(M) | NTRACE_CTR_CTL(MTE));
	if (ctr->vs_control & ~implemented)
		return usage_error(ctr->command,
				   "option --vs-control: %#" PRIx64 " is no field of vsctrctl",
				   ctr->vs_control & ~implemented);
	if (ntrace_ctr_model_init(model, &config))
		return fail("the model cannot be made");
	if (draft)
		control |= depth << NTRACE_CTR_DRAFT_DEPTH_SHIFT;
	else
		ntrace_ctr_model_write(model, NTRACE_PRIV_M, NTRACE_CTR_CSR_SCTRDEPTH, depth);
	ntrace_ctr_model_write(model, NTRACE_PRIV_M,
			       draft ? NTRACE_CTR_CSR_DRAFT_MCTRCONTROL : NTRACE_CTR_CSR_MCTRCTL,
			       control);
	ntrace_ctr_model_write(model, NTRACE_PRIV_M,
			       draft ? NTRACE_CTR_CSR_DRAFT_VSCTRCONTROL : NTRACE_CTR_CSR_VSCTRCTL,
			       ctr->vs_control);
	return EXIT_OK;
}

struct model_run {
	const char *name;
	struct ntrace_ctr_ingress feed;
	struct ntrace_ctr_model model;
};

static int feed_record(void *data, const struct ntrace_ingress_reader *reader,
		       const struct ntrace_ingress_record *record)
{
	struct model_run *run = data;

	if (!run->feed.model && ntrace_ctr_ingress_init(&run->feed, &run->model, &reader->port))
		return fail("%s: a port with 3 bits of itype does not tell calls from jumps",
			    run->name);
	if (ntrace_ctr_ingress_play(&run->feed, record) < 0)
		return fail("%s: line %" PRIu64 ": no hart does that", run->name, reader->line);
	return EXIT_OK;
}

static int run_model(struct ctr_command *ctr, char **files)
{
	static struct model_run run;
	int error = start_model(ctr, &run.model);

	run.name = files[0];
	if (!error)
		error = ingress_file_read(files[0], false, feed_record, &run);
	if (error)
		return error;
	if (run.feed.dropped)
		warn("%s: %" PRIu64 " transfers are missing: their targets are not in the file",
		     files[0], run.feed.dropped);
	ctr_ring_write(ctr->output, &run.model);
	return EXIT_OK;
}

/* ---- options ---- */

/* Options that a verb accepts, bit n: OPTION_LONG + n. */
#define KNOWS(option) (1u << ((option) - OPTION_LONG))
static const struct verb {
	const char *name;
	int files;
	const char *wants;
	unsigned int options;
	int (*run)(struct ctr_command *ctr, char **files);
} verbs[] = {
	{ "dump", 1, "one file", KNOWS(OPTION_JSON) | KNOWS(OPTION_CALL_STACK) | KNOWS(OPTION_HAS),
	  dump },
	{ "compare", 2, "two files", KNOWS(OPTION_HAS), compare },
	{ "model", 1, "one ingress file",
	  KNOWS(OPTION_CONTROL) | KNOWS(OPTION_VS_CONTROL) | KNOWS(OPTION_DEPTH) |
		  KNOWS(OPTION_DRAFT),
	  run_model },
};

static int take_features(struct ctr_command *ctr, const char *list)
{
	static const char *const names[] = { "type", "mispredict", "cycles" };

	ctr->features = 0;
	if (!strcmp(list, "none"))
		return EXIT_OK;
	for (;;) {
		size_t length = strcspn(list, ",");
		unsigned int i = 0;

		while (i < 3 && (strlen(names[i]) != length || strncmp(list, names[i], length)))
			i++;
		if (i == 3)
			return usage_error(
				ctr->command,
				"option --has: '%s' is not a list of type, mispredict, cycles",
				list);
		ctr->features |= 1u << i;
		if (!list[length])
			return EXIT_OK;
		list += length + 1;
	}
}

static int take_hex(const struct ctr_command *ctr, const char *name, const char *text,
		    uint64_t *value)
{
	const char *digits = text + (!strncmp(text, "0x", 2) || !strncmp(text, "0X", 2) ? 2 : 0);
	size_t length = strlen(digits);

	if (!length || length > 16 || strspn(digits, "0123456789abcdefABCDEF") != length)
		return usage_error(ctr->command,
				   "option --%s: '%s' is not a hex number of at most 64 bits", name,
				   text);
	*value = strtoull(digits, NULL, 16);
	return EXIT_OK;
}

static int take_option(struct ctr_command *ctr, struct options *options, int option)
{
	uint64_t number;

	if (option < OPTION_LONG)
		return EXIT_USAGE;
	ctr->given |= KNOWS(option);
	switch (option) {
	case OPTION_HAS:
		return take_features(ctr, options->value);
	case OPTION_CONTROL:
		return take_hex(ctr, "control", options->value, &ctr->control);
	case OPTION_VS_CONTROL:
		return take_hex(ctr, "vs-control", options->value, &ctr->vs_control);
	case OPTION_DEPTH:
		if (!option_number(options, "depth", 0, UINT16_MAX, &number))
			return EXIT_USAGE;
		if (ntrace_ctr_depth_to_raw(NTRACE_CTR_RATIFIED, (unsigned int)number) < 0)
			return usage_error(ctr->command,
					   "option --depth: %" PRIu64
					   " is not one of 16, 32, 64, 128, 256",
					   number);
		ctr->depth = (unsigned int)number;
		return EXIT_OK;
	default:
		return EXIT_OK;
	}
}

static int run_verb(struct ctr_command *ctr, int count, char **words)
{
	const struct verb *verb = NULL;
	unsigned int unknown;

	if (!count)
		return usage_error(ctr->command, "dump, compare, model or trace is needed");
	for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++)
		if (!strcmp(words[0], verbs[i].name))
			verb = &verbs[i];
	if (!verb)
		return usage_error(ctr->command, "'%s' is not one of dump, compare, model, trace",
				   words[0]);
	if (count - 1 != verb->files)
		return usage_error(ctr->command, "%s needs %s", verb->name, verb->wants);
	unknown = ctr->given & ~verb->options;
	for (const struct option_spec *spec = options_table; spec->name; spec++)
		if (spec->id >= OPTION_LONG && unknown & KNOWS(spec->id))
			return usage_error(ctr->command, "--%s is not for %s", spec->name,
					   verb->name);
	if (given(ctr, OPTION_JSON) && given(ctr, OPTION_CALL_STACK))
		return usage_error(ctr->command, "--json and --call-stack exclude each other");
	return verb->run(ctr, words + 1);
}

static int run(const struct command *command, int argc, char **argv)
{
	static struct output output;
	struct ctr_command ctr = { .command = command, .output = &output, .depth = 16 };
	struct options options;
	int option, error;

	/* ctr trace parses its own options. */
	if (argc > 1 && !strcmp(argv[1], "trace"))
		return command_ctr_trace.run(&command_ctr_trace, argc - 1, argv + 1);
	output_init(&output, STDOUT_FILENO);
	options_init(&options, command, argc, argv, true);
	while ((option = options_next(&options)) != OPTIONS_END) {
		if (option == OPTIONS_HELP)
			return EXIT_OK;
		error = take_option(&ctr, &options, option);
		if (error)
			return error;
	}
	return output_finish(&output, run_verb(&ctr, argc - options.index, argv + options.index));
}

const struct command command_ctr = {
	.name = "ctr",
	.summary = "show and compare rings of Control Transfer Records",
	.usage = "dump [OPTIONS] RING | compare [OPTIONS] A B | model [OPTIONS] INGRESS | "
		 "trace [OPTIONS] FUNCTION...",
	.details = "A ring is text, a line for an entry: INDEX SOURCE TARGET DATA, the logical "
		   "index (0 is\n"
		   "the youngest) and ctrsource, ctrtarget and ctrdata in hex; # begins a remark. "
		   "model runs\n"
		   "a software model of CTR over an ingress file and writes its ring. - is "
		   "standard input.\n\n"
		   "trace shows the way to kernel functions: see ntrace ctr trace "
		   "--help.\n\n"
		   "exit status: 0; compare: 1 for a difference, 2 if a ring cannot be read.\n\n"
		   "examples:\n"
		   "  ntrace ctr dump ring.txt\n"
		   "  ntrace ctr dump --call-stack ring.txt\n"
		   "  ntrace ctr compare --has type seen.txt expected.txt\n"
		   "  ntrace ctr model --control 7 --depth 32 a.ingress | ntrace ctr compare "
		   "seen.txt -\n",
	.options = options_table,
	.run = run,
};
