// SPDX-License-Identifier: GPL-2.0-only
/*
 * Random programs with all options of encoder and stream, decoded twice: by the library, and by a
 * second decoder in Python that was written from the specifications alone. Both must have the same
 * instructions, traps, syncs and Ownership messages, at the same times.
 *
 * This program makes the cases; selftests/oracle/second_compare.py compares them and prints the
 * results.
 */
#include <stdlib.h>
#include <sys/wait.h>

#include "../property/check.h"
#include "tap.h"

#define PROGRAMS 300
#define STEPS 500

static struct cover cover;

/* What take_event() knows of the stream so far. */
struct listing {
	FILE *out;
	bool live;	/* nothing has been lost since the last sync */
};

static int print_pc(void *data, uint64_t address, const uint8_t *bytes,
		    const struct ntrace_insn *insn)
{
	struct listing *listing = data;

	(void)bytes;
	(void)insn;
	fprintf(listing->out, "p %" PRIx64 "\n", address);
	return 0;
}

static void print_event(struct listing *listing, const struct ntrace_flow_event *event)
{
	static const char *const traps[] = { "?", "trap", "exception", "interrupt" };

	switch (event->type) {
	case NTRACE_FLOW_SYNC:
		fputs(listing->live ? "sync" : "start", listing->out);
		break;
	case NTRACE_FLOW_TRAP:
		fputs(traps[event->code & 3], listing->out);
		break;
	case NTRACE_FLOW_TRACE_OFF:
		fputs("stop", listing->out);
		break;
	case NTRACE_FLOW_OWNERSHIP:
		fprintf(listing->out, "owner 0x%" PRIx64, event->value);
		break;
	default:
		fputs(event->code == NTRACE_FLOW_ERROR_LOST ? "lost" :
							      ntrace_flow_error_text(event->code),
		      listing->out);
		break;
	}
	if (event->time_known)
		fprintf(listing->out, " %" PRIu64, event->time);
	fputc('\n', listing->out);
}

static int take_event(void *data, const struct ntrace_flow_event *event)
{
	struct listing *listing = data;

	switch (event->type) {
	case NTRACE_FLOW_BLOCK:
		return ntrace_flow_instructions(event, print_pc, listing);
	case NTRACE_FLOW_WARNING:
	case NTRACE_FLOW_GAP:
		return 0;
	default:
		break;
	}
	print_event(listing, event);
	listing->live = event->type == NTRACE_FLOW_SYNC ||
			(listing->live && event->type != NTRACE_FLOW_TRACE_OFF &&
			 event->type != NTRACE_FLOW_ERROR);
	return 0;
}

static void print_bytes(FILE *out, const uint8_t *bytes, size_t size)
{
	for (size_t i = 0; i < size; i++)
		fprintf(out, "%02x", bytes[i]);
	fputc('\n', out);
}

static bool print_case(FILE *out, const struct subject *subject, const struct row *row)
{
	struct listing listing = { .out = out };
	struct ntrace_flow_config config = {
		.size = sizeof(config),
		.params = &subject->params,
		.src = subject->src,
		.event = take_event,
		.space = subject->space,
		.data = &listing,
	};
	struct ntrace_reader reader;
	struct ntrace_message message;
	struct ntrace_flow *flow;
	char params[256];

	ntrace_params_format(&subject->params, params, sizeof(params));
	fprintf(out, "case %s\nparams %s\nsrc %u\n", row_text(row), params, subject->src);
	for (unsigned int i = 0; i < REGIONS; i++) {
		const struct region *region = &subject->program->region[i];

		fprintf(out, "memory %" PRIx64 " ", region->address);
		print_bytes(out, region->bytes, region->size);
	}
	fputs("stream ", out);
	print_bytes(out, subject->stream, subject->size);
	if (ntrace_flow_new(&flow, &config))
		return false;
	ntrace_reader_init(&reader, &subject->params, true);
	ntrace_reader_feed(&reader, subject->stream, subject->size);
	while (ntrace_reader_next(&reader, &message) >= 0)
		ntrace_flow_message(flow, &message);
	ntrace_flow_end(flow, ntrace_reader_pending(&reader));
	ntrace_flow_free(flow);
	fputs("end\n", out);
	return true;
}

int main(void)
{
	const char *seed_text = getenv("SEED");
	uint64_t seed = seed_text ? strtoull(seed_text, NULL, 0) : 1;
	struct random random = { seed };
	FILE *out = popen("exec python3 selftests/oracle/second_compare.py", "w");
	int status;

	if (!out)
		return 1;
	cover_make(&cover, seed);
	for (uint32_t i = 0; i < PROGRAMS; i++) {
		struct row row = cover.row[i % cover.rows];
		struct subject subject;
		const char *fault;

		if (i >= cover.rows)
			row_draw(&row, &random);
		fault = subject_make(&subject, &row, random_next(&random), STEPS);
		if (fault || !print_case(out, &subject, &row)) {
			printf("Bail out! %s: %s\n", row_text(&row), fault ? fault : "no flow");
			return 1;
		}
		subject_free(&subject);
	}
	status = pclose(out);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
