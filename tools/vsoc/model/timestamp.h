/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Timestamp unit of an encoder or a funnel (Trace Control Interface 1.0, trTs registers). This file
 * depends on no emulator and is not thread safe.
 */
#ifndef VSOC_MODEL_TIMESTAMP_H
#define VSOC_MODEL_TIMESTAMP_H

#include <stdbool.h>
#include <stdint.h>

/**
 * struct timestamp_parameters - what the specification leaves to the implementation
 * @width: bits of the counter, 1..63; 0: no timestamp unit
 * @modes: bit n: trTsMode accepts n; of TR_TS_MODE_EXTERNAL, _SYSTEM, _CORE and _SHARED. Any other
 *         value becomes 0
 * @no_prescale: trTsPrescale is 0
 * @fixed: trTsMode is read-only: the only one of @modes
 * @enable: the unit has trTsEnable, as those of encoders do
 * @now: returns the time of an internal mode, before the prescaler; in shared mode, the counter of
 *       the unit that shares its time; in external mode, the time from outside
 * @opaque: argument of @now
 *
 * The unit has no counting in Debug Mode (the harts have none), and no vendor bits. Prescale, count and reset apply to the internal modes. While trTsActive is 0 all other
 * fields read 0, and a unit in shared mode that uses this unit's time gets 0.
 */
struct timestamp_parameters {
	unsigned int width;
	uint32_t modes;
	bool no_prescale;
	bool fixed;
	bool enable;
	uint64_t (*now)(void *opaque, unsigned int mode);
	void *opaque;
};

struct timestamp {
	const struct timestamp_parameters *parameters;
	uint32_t control;
	uint64_t held;		/* counter when it was last written, not masked to its width */
	uint64_t since;		/* @now at that moment */
};

void timestamp_init(struct timestamp *unit, const struct timestamp_parameters *parameters);

/** timestamp_read - read TR_TS_CONTROL, TR_TS_COUNTER_LOW or TR_TS_COUNTER_HIGH */
uint32_t timestamp_read(const struct timestamp *unit, uint32_t offset);

/** timestamp_write - write TR_TS_CONTROL */
void timestamp_write(struct timestamp *unit, uint32_t value);

/** timestamp_value - return the counter */
uint64_t timestamp_value(const struct timestamp *unit);

/** timestamp_in_messages - tell whether the encoder puts timestamps in its messages */
bool timestamp_in_messages(const struct timestamp *unit);

#endif /* VSOC_MODEL_TIMESTAMP_H */
