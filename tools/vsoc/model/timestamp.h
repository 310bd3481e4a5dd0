/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Timestamp unit of an encoder or a funnel (digest trace-control.md section 6).
 * Knows no emulator; not thread safe.
 */
#ifndef VSOC_MODEL_TIMESTAMP_H
#define VSOC_MODEL_TIMESTAMP_H

#include <stdbool.h>
#include <stdint.h>

/**
 * struct timestamp_parameters - what the specification leaves to the implementation
 * @width: bits of the counter, 1..63; 0: there is no unit
 * @modes: bit n: trTsMode takes n; of TR_TS_MODE_SYSTEM, _CORE and _SHARED. Others
 *         land on 0
 * @enable: there is trTsEnable, which is for encoders
 * @now: time of the internal modes, without prescaler; of the shared one the
 *       counter of the unit that it comes from
 * @opaque: for @now
 *
 * No external mode, no counting in Debug Mode (there is none), no vendor bits.
 * Prescale, count and reset are those of the internal modes. While trTsActive is
 * 0 everything else reads 0, and a unit that shares this one's time gets 0.
 */
struct timestamp_parameters {
	unsigned int width;
	uint32_t modes;
	bool enable;
	uint64_t (*now)(void *opaque, unsigned int mode);
	void *opaque;
};

struct timestamp {
	const struct timestamp_parameters *parameters;
	uint32_t control;
	uint64_t held;		/* counter when it was last written, not cut to its width */
	uint64_t since;		/* time then */
};

void timestamp_init(struct timestamp *unit, const struct timestamp_parameters *parameters);

/** timestamp_read - one of TR_TS_CONTROL, TR_TS_COUNTER_LOW, TR_TS_COUNTER_HIGH */
uint32_t timestamp_read(const struct timestamp *unit, uint32_t offset);

/** timestamp_write - TR_TS_CONTROL */
void timestamp_write(struct timestamp *unit, uint32_t value);

/** timestamp_value - the counter */
uint64_t timestamp_value(const struct timestamp *unit);

/** timestamp_in_messages - does the encoder put time in its messages? */
bool timestamp_in_messages(const struct timestamp *unit);

#endif /* VSOC_MODEL_TIMESTAMP_H */
