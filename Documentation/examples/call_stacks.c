/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Stacks: the call stacks of all threads, as text for flame graphs. call_stacks RECORDING */
#include <stdio.h>

#include <ntrace/export_stacks.h>

int main(int argc, char **argv)
{
	struct ntrace_stacks_options all = { .size = sizeof(all), .merge_threads = true };
	struct ntrace_decode_options options = { .size = sizeof(options),
						 .stream = NTRACE_ALL_STREAMS,
						 .needs = NTRACE_NEEDS_TURNS | NTRACE_NEEDS_RUNS,
						 .event = ntrace_stacks_event,
						 .segment = ntrace_stacks_segment };
	struct ntrace_session *session;
	struct ntrace_stacks *stacks;

	if (argc != 2 || ntrace_session_open(&session, argv[1], NULL) ||
	    ntrace_stacks_new(&stacks, &all))
		return 1;
	options.data = stacks;
	if (ntrace_session_decode(session, &options) || ntrace_stacks_end(stacks) ||
	    ntrace_export_stacks(stdout, stacks, NTRACE_EXPORT_FOLDED, NULL))
		return 1;
	ntrace_stacks_free(stacks);
	ntrace_session_close(session);
}
