// SPDX-License-Identifier: GPL-2.0-only
/* Statistics as tables and as JSON. */
#include <inttypes.h>
#include <stdio.h>

#include "common/ui.h"
#include "statistics.h"

#define SOURCES (1u << NTRACE_SRC_BITS_MAX)

static double percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

static double per_instruction(const struct statistics *statistics, uint64_t bytes)
{
	return statistics->instructions ? 8.0 * (double)bytes / (double)statistics->instructions :
					  0;
}

static uint64_t lost_bytes(const struct statistics *statistics)
{
	return statistics->skipped + statistics->cut + statistics->undecodable;
}

static void line(struct output *output, const char *name, uint64_t value)
{
	char number[UI_NUMBER_SIZE];

	output_printf(output, "%-24s %18s\n", name, ui_number(number, value));
}

static void types_text(const struct statistics *statistics, struct output *output)
{
	char messages[UI_NUMBER_SIZE], bytes[UI_NUMBER_SIZE];
	unsigned int i;

	output_printf(output, "\n%-5s %-22s %14s %16s %7s%s\n", "TCODE", "message", "count",
		      "bytes", "share", statistics->decodable ? "  bits/insn" : "");
	for (i = 0; i < 64; i++) {
		if (!statistics->type_messages[i])
			continue;
		output_printf(output, "%5u %-22s %14s %16s %6.2f%%", i,
			      ntrace_tcode_dialect_name(i, statistics->params.dialect),
			      ui_number(messages, statistics->type_messages[i]),
			      ui_number(bytes, statistics->type_bytes[i]),
			      percent(statistics->type_bytes[i], statistics->bytes));
		if (statistics->decodable)
			output_printf(output, " %10.4f",
				      per_instruction(statistics, statistics->type_bytes[i]));
		output_char(output, '\n');
	}
}

static void bits_line(const struct statistics *statistics, struct output *output, const char *name,
		      uint64_t bits)
{
	char number[UI_NUMBER_SIZE];

	if (bits)
		output_printf(output, "%-28s %18s %6.2f%%\n", name, ui_number(number, bits),
			      percent(bits, 8 * statistics->bytes));
}

static void fields_text(const struct statistics *statistics, struct output *output)
{
	unsigned int i;

	output_printf(output, "\n%-28s %18s %7s\n", "where the bits go", "bits", "share");
	bits_line(statistics, output, "MSEO (framing)", 2 * statistics->message_bytes);
	bits_line(statistics, output, "TCODE", statistics->tcode_bits);
	for (i = 0; i < NTRACE_FIELD_COUNT; i++)
		bits_line(statistics, output, ntrace_field_name(i), statistics->payload_bits[i]);
	bits_line(statistics, output, "padding", statistics->padding_bits);
	bits_line(statistics, output, "not understood", statistics->other_bits);
	bits_line(statistics, output, "idle bytes", 8 * statistics->idles);
	bits_line(statistics, output, "no message", 8 * (statistics->skipped + statistics->cut));
}

static void distance_text(struct output *output, const char *name,
			  const struct histogram *histogram)
{
	char min[UI_NUMBER_SIZE], median[UI_NUMBER_SIZE], p95[UI_NUMBER_SIZE], max[UI_NUMBER_SIZE];

	output_printf(output, "%-14s %14s %14s %14s %14s\n", name, ui_number(min, histogram->min),
		      ui_number(median, histogram_quantile(histogram, 50)),
		      ui_number(p95, histogram_quantile(histogram, 95)),
		      ui_number(max, histogram->max));
}

/* A table of the values of a field, if there are any. */
static void values_text(const struct statistics *statistics, struct output *output,
			const char *heading, enum ntrace_field field, const uint64_t counts[16])
{
	char number[UI_NUMBER_SIZE];
	unsigned int i;

	for (i = 0; i < 16; i++) {
		if (!counts[i])
			continue;
		if (heading)
			output_printf(output, "\n%-24s %18s\n", heading, "count");
		heading = NULL;
		output_printf(output, "%2u %-21s %18s\n", i,
			      ntrace_value_name(field, i, statistics->params.dialect),
			      ui_number(number, counts[i]));
	}
}

static void syncs_text(const struct statistics *statistics, struct output *output)
{
	char number[UI_NUMBER_SIZE];
	unsigned int i;

	output_printf(output, "\n%-24s %18s\n", "synchronization", "count");
	for (i = 0; i < 16; i++)
		if (statistics->syncs[i])
			output_printf(output, "%2u %-21s %18s\n", i,
				      ntrace_value_name(NTRACE_FIELD_SYNC, i,
							statistics->params.dialect),
				      ui_number(number, statistics->syncs[i]));
	if (!statistics->sync_messages.count)
		return;
	output_printf(output, "\n%-14s %14s %14s %14s %14s\n", "sync distance", "min", "median",
		      "p95", "max");
	distance_text(output, "messages", &statistics->sync_messages);
	distance_text(output, "bytes", &statistics->sync_bytes);
	if (statistics->decodable && statistics->sync_instructions.count)
		distance_text(output, "instructions", &statistics->sync_instructions);
}

static void loss_text(const struct statistics *statistics, struct output *output)
{
	output_text(output, "\nloss\n");
	line(output, "Error messages", statistics->error_messages);
	line(output, "reserved MSEO codes", statistics->wire_errors);
	line(output, "bytes of no message", statistics->skipped);
	line(output, "bytes cut off at the end", statistics->cut);
	line(output, "bytes up to a sync", statistics->undecodable);
	if (statistics->missing)
		line(output, "gaps in the frames", statistics->missing);
	if (statistics->decodable) {
		line(output, "gaps", statistics->gaps);
		line(output, "errors in the flow", statistics->flow_errors);
		line(output, "times in unknown code", statistics->unreadable);
	}
	output_printf(output, "%-24s %17.2f%%\n", "share of bytes lost",
		      percent(lost_bytes(statistics), statistics->bytes));
}

static double seconds(const struct statistics *statistics)
{
	return (double)(statistics->last_time - statistics->first_time) /
	       (double)statistics->params.timestamp_hz;
}

static void times_text(const struct statistics *statistics, struct output *output)
{
	if (!statistics->timed_messages)
		return;
	output_text(output, "\ntime stamps\n");
	line(output, "messages with TSTAMP", statistics->timed_messages);
	if (!statistics->timed)
		return;
	line(output, "first absolute one", statistics->first_time);
	line(output, "last absolute one", statistics->last_time);
	if (statistics->params.timestamp_hz)
		output_printf(output, "%-24s %18.6f\n", "seconds between", seconds(statistics));
}

static void sources_text(const struct statistics *statistics, struct output *output)
{
	char messages[UI_NUMBER_SIZE], bytes[UI_NUMBER_SIZE], instructions[UI_NUMBER_SIZE];
	unsigned int i;

	if (!statistics->params.src_bits)
		return;
	output_printf(output, "\n%4s %14s %16s %9s %7s%s\n", "SRC", "messages", "bytes", "syncs",
		      "Errors", statistics->decodable ? "       instructions     gaps" : "");
	for (i = 0; i < SOURCES; i++) {
		const struct source_statistics *source = statistics->source[i];

		if (!source)
			continue;
		output_printf(output, "%4u %14s %16s %9" PRIu64 " %7" PRIu64, i,
			      ui_number(messages, source->messages),
			      ui_number(bytes, source->bytes), source->syncs,
			      source->error_messages);
		if (statistics->decodable)
			output_printf(output, " %18s %8" PRIu64,
				      ui_number(instructions, source->instructions), source->gaps);
		output_char(output, '\n');
	}
}

void statistics_text(const struct statistics *statistics, struct output *output)
{
	line(output, "bytes", statistics->bytes);
	line(output, "messages", statistics->messages);
	line(output, "idle bytes", statistics->idles);
	if (statistics->decodable) {
		line(output, "instructions", statistics->instructions);
		if (statistics->instructions)
			output_printf(output, "%-24s %18.4f\n", "bits per instruction",
				      per_instruction(statistics, statistics->bytes));
	}
	types_text(statistics, output);
	fields_text(statistics, output);
	values_text(statistics, output, "trace ends", NTRACE_FIELD_EVCODE, statistics->ends);
	values_text(statistics, output, "InCircuitTrace", NTRACE_FIELD_CKSRC, statistics->circuits);
	syncs_text(statistics, output);
	loss_text(statistics, output);
	times_text(statistics, output);
	sources_text(statistics, output);
}

static void member(struct output *output, const char *name, uint64_t value)
{
	output_printf(output, ",\"%s\":%" PRIu64, name, value);
}

static void types_json(const struct statistics *statistics, struct output *output)
{
	const char *separator = "";
	unsigned int i;

	output_text(output, ",\"types\":[");
	for (i = 0; i < 64; i++) {
		if (!statistics->type_messages[i])
			continue;
		output_printf(output,
			      "%s{\"tcode\":%u,\"name\":\"%s\",\"messages\":%" PRIu64
			      ",\"bytes\":%" PRIu64,
			      separator, i,
			      ntrace_tcode_dialect_name(i, statistics->params.dialect),
			      statistics->type_messages[i], statistics->type_bytes[i]);
		if (statistics->instructions)
			output_printf(output, ",\"bits_per_instruction\":%.6f",
				      per_instruction(statistics, statistics->type_bytes[i]));
		output_char(output, '}');
		separator = ",";
	}
	output_char(output, ']');
}

static void fields_json(const struct statistics *statistics, struct output *output)
{
	unsigned int i;

	output_printf(output, ",\"bits\":{\"MSEO\":%" PRIu64, 2 * statistics->message_bytes);
	member(output, "TCODE", statistics->tcode_bits);
	for (i = 0; i < NTRACE_FIELD_COUNT; i++)
		if (statistics->payload_bits[i])
			member(output, ntrace_field_name(i), statistics->payload_bits[i]);
	member(output, "padding", statistics->padding_bits);
	member(output, "other", statistics->other_bits);
	member(output, "idle", 8 * statistics->idles);
	member(output, "no_message", 8 * (statistics->skipped + statistics->cut));
	output_char(output, '}');
}

static void distance_json(struct output *output, const char *separator, const char *name,
			  const struct histogram *histogram)
{
	output_printf(output,
		      "%s\"%s\":{\"count\":%" PRIu64 ",\"min\":%" PRIu64 ",\"median\":%" PRIu64
		      ",\"p95\":%" PRIu64 ",\"max\":%" PRIu64 "}",
		      separator, name, histogram->count, histogram->min,
		      histogram_quantile(histogram, 50), histogram_quantile(histogram, 95),
		      histogram->max);
}

static void values_json(struct output *output, const char *name, const uint64_t counts[16])
{
	const char *separator = "";
	unsigned int i;

	output_printf(output, ",\"%s\":{", name);
	for (i = 0; i < 16; i++) {
		if (!counts[i])
			continue;
		output_printf(output, "%s\"%u\":%" PRIu64, separator, i, counts[i]);
		separator = ",";
	}
	output_char(output, '}');
}

static void syncs_json(const struct statistics *statistics, struct output *output)
{
	values_json(output, "syncs", statistics->syncs);
	values_json(output, "ends", statistics->ends);
	values_json(output, "circuits", statistics->circuits);
	output_text(output, ",\"sync_distance\":{");
	distance_json(output, "", "messages", &statistics->sync_messages);
	distance_json(output, ",", "bytes", &statistics->sync_bytes);
	if (statistics->decodable)
		distance_json(output, ",", "instructions", &statistics->sync_instructions);
	output_char(output, '}');
}

static void loss_json(const struct statistics *statistics, struct output *output)
{
	output_printf(output, ",\"loss\":{\"error_messages\":%" PRIu64, statistics->error_messages);
	member(output, "reserved_mseo", statistics->wire_errors);
	member(output, "skipped_bytes", statistics->skipped);
	member(output, "cut_bytes", statistics->cut);
	member(output, "undecodable_bytes", statistics->undecodable);
	if (statistics->missing)
		member(output, "frame_gaps", statistics->missing);
	if (statistics->decodable) {
		member(output, "gaps", statistics->gaps);
		member(output, "flow_errors", statistics->flow_errors);
		member(output, "unreadable", statistics->unreadable);
	}
	output_printf(output, ",\"share\":%.6f}",
		      percent(lost_bytes(statistics), statistics->bytes) / 100);
}

static void sources_json(const struct statistics *statistics, struct output *output)
{
	const char *separator = "";
	unsigned int i;

	output_text(output, ",\"sources\":[");
	for (i = 0; i < SOURCES && statistics->params.src_bits; i++) {
		const struct source_statistics *source = statistics->source[i];

		if (!source)
			continue;
		output_printf(output,
			      "%s{\"src\":%u,\"messages\":%" PRIu64 ",\"bytes\":%" PRIu64
			      ",\"syncs\":%" PRIu64 ",\"error_messages\":%" PRIu64,
			      separator, i, source->messages, source->bytes, source->syncs,
			      source->error_messages);
		if (statistics->decodable) {
			member(output, "instructions", source->instructions);
			member(output, "gaps", source->gaps);
		}
		output_char(output, '}');
		separator = ",";
	}
	output_char(output, ']');
}

void statistics_json(const struct statistics *statistics, struct output *output, int stream)
{
	output_char(output, '{');
	if (stream >= 0)
		output_printf(output, "\"stream\":%d,", stream);
	output_printf(output, "\"bytes\":%" PRIu64, statistics->bytes);
	member(output, "messages", statistics->messages);
	member(output, "message_bytes", statistics->message_bytes);
	member(output, "idle_bytes", statistics->idles);
	if (statistics->decodable)
		member(output, "instructions", statistics->instructions);
	if (statistics->instructions)
		output_printf(output, ",\"bits_per_instruction\":%.6f",
			      per_instruction(statistics, statistics->bytes));
	types_json(statistics, output);
	fields_json(statistics, output);
	syncs_json(statistics, output);
	loss_json(statistics, output);
	output_printf(output, ",\"timestamps\":{\"messages\":%" PRIu64, statistics->timed_messages);
	if (statistics->timed) {
		/* Many JSON readers lose precision above 2^53. */
		output_printf(output, ",\"first\":\"0x%" PRIx64 "\",\"last\":\"0x%" PRIx64 "\"",
			      statistics->first_time, statistics->last_time);
		if (statistics->params.timestamp_hz)
			output_printf(output, ",\"seconds\":%.9f", seconds(statistics));
	}
	output_char(output, '}');
	sources_json(statistics, output);
	output_text(output, "}\n");
}
