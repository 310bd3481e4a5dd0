/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Profile: the functions of a recording, those with most instructions first. hot_functions RECORDING */
#include <inttypes.h>
#include <stdio.h>

#include <ntrace/functions.h>

int main(int argc, char **argv)
{
	struct ntrace_profile_options parts = { .size = sizeof(parts),
						.parts = NTRACE_PROFILE_FUNCTIONS };
	struct ntrace_decode_options options = {
		.size = sizeof(options),
		.stream = NTRACE_ALL_STREAMS,
		.needs = NTRACE_NEEDS_SUMS,
		.event = ntrace_profile_event,
		.segment = ntrace_profile_segment,
	};
	const struct ntrace_profile_function *f;
	struct ntrace_profile *profile;
	struct ntrace_session *session;
	size_t count;

	if (argc != 2 || ntrace_session_open(&session, argv[1], NULL) ||
	    ntrace_profile_new(&profile, &parts))
		return 1;
	options.data = profile;
	if (ntrace_session_decode(session, &options) || ntrace_profile_end(profile))
		return 1;
	f = ntrace_profile_functions(profile, NTRACE_PROFILE_BY_INSTRUCTIONS, &count);
	for (size_t i = 0; i < count; i++)
		printf("%" PRIu64 " %s\n", f[i].instructions, f[i].name ? f[i].demangled : "?");
	ntrace_profile_free(profile);
	ntrace_session_close(session);
}
