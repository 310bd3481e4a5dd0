/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* The time that TSTAMP fields add up to (N-Trace 1.0, "timestamps"). */
#ifndef NTRACE_WIRE_STAMP_H
#define NTRACE_WIRE_STAMP_H

#include <stdbool.h>
#include <stdint.h>

#include <ntrace/wire.h>

/* Extends a timestamp of @bits so that time never runs backwards: @before is an earlier time. */
static inline uint64_t stamp_extend(uint64_t stamp, uint64_t before, unsigned int bits)
{
	uint64_t round, time;

	if (!bits || bits >= 64 || stamp >> bits)
		return stamp;
	round = UINT64_C(1) << bits;
	time = (before & ~(round - 1)) | stamp;
	return time < before ? time + round : time;
}

/* What a TSTAMP without SYNC is. */
static inline enum ntrace_time_delta stamp_delta(const struct ntrace_params *params)
{
	if (params->dialect == NTRACE_DIALECT_SIFIVE_V0 &&
	    params->timestamp_delta == NTRACE_TIME_DELTA_ADD)
		return NTRACE_TIME_DELTA_XOR;
	return params->timestamp_delta;
}

/* Whether the TSTAMP of @message is the whole time. */
static inline bool stamp_is_absolute(const struct ntrace_message *message,
				     const struct ntrace_params *params)
{
	return ntrace_message_time_is_absolute(message) ||
	       params->timestamp_delta == NTRACE_TIME_DELTA_ABSOLUTE;
}

/* TCODE that N-Trace 1.0 leaves to vendors. */
static inline bool stamp_of_vendor(unsigned int tcode)
{
	return tcode >= 56 && tcode <= 62;
}

/*
 * Whether a message of unknown layout may have had a TSTAMP that later ones count from. TSTAMP is one
 * variable field more than the layout has (N-Trace 1.0, "timestamps"), so a vendor's message with a
 * single one has none: that is its content. A reserved TCODE is rather a damaged message.
 */
static inline bool stamp_may_miss(const struct ntrace_message *message)
{
	return message->flags & NTRACE_MESSAGE_UNKNOWN &&
	       (!stamp_of_vendor(message->tcode) ||
		(message->flags & NTRACE_MESSAGE_FIELDS &&
		 !ntrace_message_has(message, NTRACE_FIELD_TSTAMP)));
}

/*
 * Takes the TSTAMP of @message: absolute with a sync, else the difference to the last reported time.
 * @time is that time if @known, else what an absolute one is extended from. @params has the
 * timestamp_delta of stamp_delta(). Return: @time is new.
 */
static inline bool stamp_take(const struct ntrace_message *message,
			      const struct ntrace_params *params, uint64_t *time, bool *known)
{
	uint64_t stamp = message->field[NTRACE_FIELD_TSTAMP];
	unsigned int bits = params->timestamp_bits;

	if (stamp_may_miss(message))
		*known = false;
	if (!ntrace_message_has(message, NTRACE_FIELD_TSTAMP) ||
	    message->flags & (NTRACE_MESSAGE_TRUNCATED | NTRACE_MESSAGE_OVERSIZE))
		return false;
	if (stamp_is_absolute(message, params)) {
		*time = stamp_extend(stamp, *time, bits);
		*known = true;
	} else if (!*known) {
		return false;
	} else if (params->timestamp_delta == NTRACE_TIME_DELTA_XOR) {
		uint64_t last = *time;

		if (bits && bits < 64)
			last &= (UINT64_C(1) << bits) - 1;
		*time = stamp_extend(last ^ stamp, *time, bits);
	} else {
		*time += stamp;
	}
	return true;
}

#endif
