// SPDX-License-Identifier: GPL-2.0-only
/* Candidates of ntrace detect. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/ui.h"
#include "detect_print.h"

/* Includes space for an ISA string. */
#define OPTIONS_SIZE 900

/* The given parameters: they are needed again. */
static void known_text(const struct ntrace_params *params, char *text, size_t size)
{
	int at = 0;

	*text = '\0';
	if (params->timestamp_hz)
		at += snprintf(text + at, size - (size_t)at, ",tshz=%" PRIu64,
			       params->timestamp_hz);
	if (params->implicit_return)
		at += snprintf(text + at, size - (size_t)at, ",impret=%u", params->implicit_return);
	if (params->keep_stack)
		at += snprintf(text + at, size - (size_t)at, ",keepstack=1");
	if (params->jvt_known)
		at += snprintf(text + at, size - (size_t)at, ",jvt=0x%" PRIx64, params->jvt);
	if (params->isa)
		snprintf(text + at, size - (size_t)at, ",isa=%.*s", (int)strcspn(params->isa, ","),
			 params->isa);
}

/* "srcbits=2,xlen=32,mode=htm": SRC and XLEN always, others if they differ from the defaults. */
static void params_text(const struct ntrace_params *params, char *text, size_t size)
{
	static const char *const dialects[] = { "ratified", "rc7", "sifive-v0" };
	int at = snprintf(text, size, "srcbits=%u,xlen=%u", params->src_bits, params->xlen);

	if (params->extend_address)
		at += snprintf(text + at, size - (size_t)at, ",extaddr=1");
	if (params->address_bits)
		at += snprintf(text + at, size - (size_t)at, ",addrbits=%u", params->address_bits);
	if (params->all_jumps)
		at += snprintf(text + at, size - (size_t)at, ",alljumps=1");
	if (params->mode != NTRACE_MODE_ANY)
		at += snprintf(text + at, size - (size_t)at, ",mode=%s",
			       params->mode == NTRACE_MODE_BRANCH ? "btm" : "htm");
	if (params->dialect != NTRACE_DIALECT_RATIFIED)
		at += snprintf(text + at, size - (size_t)at, ",dialect=%s",
			       dialects[params->dialect]);
	if (params->timestamp_bits)
		at += snprintf(text + at, size - (size_t)at, ",tsbits=%u", params->timestamp_bits);
	if (params->timestamp_delta)
		at += snprintf(text + at, size - (size_t)at, ",tsdelta=%s",
			       params->timestamp_delta == NTRACE_TIME_DELTA_XOR ? "xor" : "abs");
	if (params->owner != NTRACE_OWNER_ANY)
		at += snprintf(text + at, size - (size_t)at, ",owner=%s",
			       params->owner == NTRACE_OWNER_CONTEXT ? "context" : "stored");
	if (params->repeat_message)
		at += snprintf(text + at, size - (size_t)at, ",repeat=message");
	if (params->vendor_timestamps)
		at += snprintf(text + at, size - (size_t)at, ",vendorts=1");
	known_text(params, text + at, size - (size_t)at);
}

/* The command line options. */
static void options_text(const struct ntrace_detect_candidate *candidate, char *text, size_t size)
{
	char params[OPTIONS_SIZE];

	params_text(&candidate->params, params, sizeof(params));
	if (candidate->packing == NTRACE_DETECT_FRAMES)
		snprintf(text, size, "--framing coresight:0x%02x --params %s", candidate->source,
			 params);
	else
		snprintf(text, size, "%s--params %s",
			 candidate->packing == NTRACE_DETECT_WORDS16 ? "--words16 " : "", params);
}

static void put_open(struct output *output, uint32_t open, const char *format)
{
	static const struct {
		uint32_t bit;
		const char *name;
	} names[] = {
		{ NTRACE_DETECT_OPEN_SRC, "srcbits" },
		{ NTRACE_DETECT_OPEN_XLEN, "xlen" },
		{ NTRACE_DETECT_OPEN_MODE, "mode" },
		{ NTRACE_DETECT_OPEN_DELTA, "tsdelta" },
		{ NTRACE_DETECT_OPEN_JUMPS, "alljumps" },
		{ NTRACE_DETECT_OPEN_DIALECT, "dialect" },
		{ NTRACE_DETECT_OPEN_EXTADDR, "extaddr" },
		{ NTRACE_DETECT_OPEN_ADDRBITS, "addrbits" },
		{ NTRACE_DETECT_OPEN_WRAP, "tsbits" },
		{ NTRACE_DETECT_OPEN_REPEAT, "repeat" },
		{ NTRACE_DETECT_OPEN_VENDOR, "vendorts" },
	};
	const char *between = "";

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (!(open & names[i].bit))
			continue;
		output_text(output, between);
		output_printf(output, format, names[i].name);
		between = format[0] == '"' ? "," : ", ";
	}
}

static void put_count(struct output *output, const char *before, uint64_t count, const char *after)
{
	char number[UI_NUMBER_SIZE];

	output_printf(output, "%s%s %s", before, ui_number(number, count), after);
}

static void put_wrong(struct output *output, const struct ntrace_detect_candidate *candidate)
{
	put_count(output, "    wrong      ", candidate->wire_errors,
		  "places without a valid message");
	put_count(output, ", ", candidate->unknown, "messages unknown");
	put_count(output, ", ", candidate->truncated, "truncated");
	put_count(output, ", ", candidate->extra, "too long");
	put_count(output, ", ", candidate->illegal, "contradictory\n");
}

static void put_figures(struct output *output, const struct ntrace_detect_candidate *candidate)
{
	put_count(output, "    messages   ", candidate->messages, "");
	put_count(output, "with ", candidate->syncs, "syncs");
	put_count(output, ", ", candidate->sources, "SRC");
	put_count(output, ", ", candidate->timestamps, "time stamps");
	put_count(output, "; ", candidate->orphans, "before the first sync\n");
	put_wrong(output, candidate);
	put_count(output, "    addresses  ", candidate->addresses, "");
	put_count(output, "of which ", candidate->misplaced, "are not plausible");
	if (candidate->programs)
		put_count(output, ", ", candidate->outside, "not in the programs");
	output_char(output, '\n');
	if (candidate->programs) {
		put_count(output, "    code       ", candidate->instructions, "instructions");
		put_count(output, ", ", candidate->flow_errors, "contradictions");
		put_count(output, ", ", candidate->gaps, "gaps\n");
	}
	put_count(output, "    rules      ", candidate->check_errors, "errors");
	put_count(output, ", ", candidate->check_warnings, "warnings of ntrace check\n");
	if (!candidate->open)
		return;
	output_text(output, "    not told   ");
	put_open(output, candidate->open, "%s");
	output_char(output, '\n');
}

/* Equally good candidates of the same source are adjacent. */
static bool is_alternative(const struct ntrace_detect_candidate *candidates, uint32_t index)
{
	return index && candidates[index].packing == candidates[index - 1].packing &&
	       candidates[index].source == candidates[index - 1].source;
}

void detect_text(struct output *output, const char *name, bool partial,
		 const struct ntrace_detect_result *result)
{
	char number[UI_NUMBER_SIZE], options[2 * OPTIONS_SIZE];
	bool alternatives = false;

	output_printf(output, "%s: an N-Trace stream; %s%s bytes judged\n", name,
		      partial ? "the first " : "", ui_number(number, result->bytes));
	for (uint32_t i = 0; i < result->count; i++) {
		const struct ntrace_detect_candidate *candidate = &result->candidate[i];

		options_text(candidate, options, sizeof(options));
		output_char(output, '\n');
		output_text(output, options);
		output_printf(output, "%s\n",
			      is_alternative(result->candidate, i) ? "   (fits as well)" :
			      candidate->equal			   ? "" :
								     "   (fits worse)");
		put_figures(output, candidate);
		alternatives |= is_alternative(result->candidate, i);
	}
	if (alternatives && !result->candidate[0].programs)
		output_text(output, "\nSeveral fit equally, the simplest is the first: a program "
				    "(--elf) may decide.\n");
	else if (alternatives)
		output_text(output, "\nSeveral fit equally: the simplest is the first.\n");
}

static void json_number(struct output *output, const char *name, uint64_t value)
{
	output_printf(output, ",\"%s\":%" PRIu64, name, value);
}

static void candidate_json(struct output *output, const struct ntrace_detect_candidate *candidate)
{
	static const char *const packings[] = { "bytes", "words16", "coresight" };
	char params[OPTIONS_SIZE], options[2 * OPTIONS_SIZE];

	params_text(&candidate->params, params, sizeof(params));
	options_text(candidate, options, sizeof(options));
	output_text(output, "{\"options\":");
	output_json(output, options);
	output_text(output, ",\"params\":");
	output_json(output, params);
	output_printf(output, ",\"packing\":\"%s\"", packings[candidate->packing]);
	if (candidate->packing == NTRACE_DETECT_FRAMES)
		json_number(output, "source", candidate->source);
	output_printf(output, ",\"equal\":%s,\"not_told\":[", candidate->equal ? "true" : "false");
	put_open(output, candidate->open, "\"%s\"");
	output_char(output, ']');
	json_number(output, "bytes", candidate->bytes);
	json_number(output, "idle_bytes", candidate->idle);
	json_number(output, "sound_bytes", candidate->sound);
	json_number(output, "messages", candidate->messages);
	json_number(output, "wire_errors", candidate->wire_errors);
	json_number(output, "unknown", candidate->unknown);
	json_number(output, "truncated", candidate->truncated);
	json_number(output, "extra", candidate->extra);
	json_number(output, "contradictory", candidate->illegal);
	json_number(output, "before_sync", candidate->orphans);
	json_number(output, "syncs", candidate->syncs);
	json_number(output, "sources", candidate->sources);
	json_number(output, "timestamps", candidate->timestamps);
	json_number(output, "evidence_against", candidate->cost);
	json_number(output, "addresses", candidate->addresses);
	json_number(output, "addresses_implausible", candidate->misplaced);
	if (candidate->programs) {
		json_number(output, "addresses_outside", candidate->outside);
		json_number(output, "instructions", candidate->instructions);
		json_number(output, "flow_errors", candidate->flow_errors);
		json_number(output, "gaps", candidate->gaps);
	}
	json_number(output, "check_errors", candidate->check_errors);
	json_number(output, "check_warnings", candidate->check_warnings);
	output_char(output, '}');
}

void detect_json(struct output *output, const char *name, uint64_t size,
		 const struct ntrace_detect_result *result)
{
	output_text(output, "{\"file\":");
	output_json(output, name);
	output_printf(output, ",\"bytes\":%" PRIu64 ",\"looks_like\":\"%s\",\"candidates\":[", size,
		      ntrace_detect_kind_text(result->kind));
	for (uint32_t i = 0; i < result->count; i++) {
		if (i)
			output_char(output, ',');
		candidate_json(output, &result->candidate[i]);
	}
	output_text(output, "]}\n");
}
