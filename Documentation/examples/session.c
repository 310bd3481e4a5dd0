/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Session: how many instructions each function executed. session RECORDING */
#include <inttypes.h>
#include <stdio.h>

#include <ntrace/session.h>

static void note(void *data, const char *text)
{
	(void)data;
	fprintf(stderr, "note: %s\n", text);
}

static int print(void *data, const struct ntrace_session_event *event)
{
	const struct ntrace_flow_event *flow = event->flow;
	struct ntrace_location location;

	(void)data;
	if (flow->type != NTRACE_FLOW_BLOCK)
		return 0;
	ntrace_space_locate(flow->space, flow->address, &location);
	printf("cpu %u, %s (%d): %u instructions in %s\n", event->cpu, event->comm, event->pid,
	       flow->instructions, location.symbol ? location.symbol : "?");
	return 0;
}

int main(int argc, char **argv)
{
	struct ntrace_session_options options = { .size = sizeof(options), .note = note };
	struct ntrace_flow_stats stats = { 0 };
	struct ntrace_decode_options decoding = {
		.size = sizeof(decoding),
		.stream = NTRACE_ALL_STREAMS,
		.event = print,
		.stats = &stats,
	};
	struct ntrace_session *session;
	int error;

	if (argc != 2)
		return 2;
	error = ntrace_session_open(&session, argv[1], &options);
	if (error) {
		fprintf(stderr, "%s: %s\n", argv[1], ntrace_strerror(error));
		return 1;
	}
	error = ntrace_session_decode(session, &decoding);
	printf("%" PRIu64 " instructions in all\n", stats.instructions);
	ntrace_session_close(session);
	return error ? 1 : 0;
}
