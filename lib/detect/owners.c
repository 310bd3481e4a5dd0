// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * What Ownership of pre-ratification SiFive encoders has: a context, which the encoder repeats
 * directly after each sync (N-Trace 1.0, "synchronization"), or numbers that software stores at any
 * time.
 */
#include "detect.h"
#include "wire/params.h"

/* One Ownership message in this many may be damaged. */
#define OWNERS_DAMAGED 16

void detect_owners(const uint8_t *data, size_t size, struct ntrace_params *params)
{
	/* SRC of the last message, if it had SYNC; else none. */
	uint64_t synced = UINT64_MAX, syncs = 0, repeated = 0, owners = 0, odd = 0;
	struct ntrace_message message;
	struct ntrace_reader reader;
	int event;

	if (!params_owner_open(params))
		return;
	ntrace_reader_init(&reader, params, true);
	ntrace_reader_feed(&reader, data, size);
	while ((event = ntrace_reader_next(&reader, &message)) >= 0) {
		uint64_t process = message.field[NTRACE_FIELD_PROCESS];
		bool after = synced == message.field[NTRACE_FIELD_SRC];

		synced = UINT64_MAX;
		if (event == NTRACE_WIRE_ERROR)
			continue;
		syncs += after;
		if (ntrace_message_has(&message, NTRACE_FIELD_SYNC))
			synced = message.field[NTRACE_FIELD_SRC];
		if (!ntrace_message_has(&message, NTRACE_FIELD_PROCESS))
			continue;
		owners++;
		odd += params_owner_is_odd(process);
		repeated += after && process & 2;
	}
	if (owners)
		params->owner = odd <= owners / OWNERS_DAMAGED && repeated > syncs / 2 ?
					NTRACE_OWNER_CONTEXT :
					NTRACE_OWNER_STORED;
}
