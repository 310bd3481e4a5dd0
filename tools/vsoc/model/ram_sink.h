/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * RAM sink of the virtual SoC (Trace Control Interface 1.0, trRam registers). This file depends on
 * no emulator. It is not thread safe: the glue holds a lock around each call.
 */
#ifndef VSOC_MODEL_RAM_SINK_H
#define VSOC_MODEL_RAM_SINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bus.h"
#include "fault.h"
#include "warl.h"

#define RAM_SINK_GRANULE_MAX 4096
#define RAM_SINK_IN_FLIGHT_MAX 16

/* Access width of the SRAM in bytes. */
#define RAM_SINK_SRAM_GRANULE 4

/* Each also clears Wrap by what comes after it. */
enum ram_sink_wrap_cleared {
	RAM_SINK_WRAP_BY_WP,		/* a write of WP, as specified */
	RAM_SINK_WRAP_BY_ACTIVE,	/* Active = 0 */
	RAM_SINK_WRAP_BY_POWER_UP,
};

/**
 * struct ram_sink_parameters - what the specification leaves to the implementation
 * @granule: bytes per write to memory, a power of two, 4..RAM_SINK_GRANULE_MAX. Start, Limit and WP
 *           are multiples of it. In SRAM mode the granule is 4
 * @hidden: the granule of SMEM mode does not show: Start, Limit and WP take any multiple of 4. WP
 *          wraps only after a write at Limit exactly; otherwise the sink runs on through memory.
 *          Not with @power_of_two, which would reveal the granule
 * @wrap_cleared: what clears Wrap
 * @address_bits: width of a physical address; higher bits of Start, Limit and WP read 0. With 32 or
 *                less, the High registers read 0
 * @power_of_two: the size of the buffer is trimmed down to a power of two that
 *                divides Start
 * @smem: the sink has SMEM mode, in which trace goes to system memory
 * @sram: memory of SRAM mode, NULL if the sink has no SRAM mode. The caller owns it
 * @sram_size: size of @sram, a multiple of 4; 0 with NULL
 * @data_fixed: trRamData ignores writes
 * @faults: faults at power-up
 * @in_flight: granules that SMEM mode posts, 0..RAM_SINK_IN_FLIGHT_MAX. WP advances when a write is
 *             posted. A granule reaches memory when @in_flight more have been posted, or when the
 *             sink is disabled. Empty is 0 while writes are in flight
 * @bus: how its page answers
 * @reset: registers when Active becomes 1; RANDOM leaves trRamMode at its default
 * @reset_seed: of WARL_RESET_RANDOM
 * @version_minor: minor version in trRamImpl
 * @stop_on_wrap: trRamStopOnWrap
 * @stop_early: granules before the end at which trRamStopOnWrap stops the sink; Wrap stays 0 then
 * @start_alignment: Start is rounded down to a multiple of it, a power of two; 0: of the granule
 *
 * trRamMode is writable if the sink has both modes; a change resets all pointers to 0, and Limit in
 * SRAM mode to the last word. In SRAM mode Start is 0, Limit, WP and RP stay below the size of the
 * SRAM, and RP and trRamData work only while Enable is 0 and Empty is 1. The fields for memory
 * format and alignment sync read 0. A write to Start, Limit or WP while Enable is 1 or Empty is 0
 * has no effect and counts as a software error. Enable stays 0 if WP is not within Start..Limit.
 * The memory of a sink's buffer ends after the write at Limit; the sink counts what it writes
 * elsewhere.
 */
struct ram_sink_parameters {
	unsigned int granule;
	bool hidden;
	enum ram_sink_wrap_cleared wrap_cleared;
	unsigned int address_bits;
	bool power_of_two;
	bool smem;
	uint8_t *sram;
	uint32_t sram_size;
	bool data_fixed;
	uint32_t faults;
	unsigned int in_flight;
	struct bus_parameters bus;
	enum warl_reset reset;
	uint64_t reset_seed;
	uint32_t version_minor;
	enum warl_bit stop_on_wrap;
	uint32_t stop_early;
	uint32_t start_alignment;
};

/* Writes one granule in SMEM mode. */
struct ram_sink_ops {
	/* Enable 0 -> 1: the sink will write memory from @address on */
	void (*open)(void *opaque, uint64_t address, uint64_t size);
	/* Enable 1 -> 0, after the last write */
	void (*close)(void *opaque);
	void (*write_memory)(void *opaque, uint64_t address, const uint8_t *data, size_t size);
};

struct ram_sink {
	struct ram_sink_parameters parameters;
	const struct ram_sink_ops *ops;
	void *opaque;
	struct fault fault;
	struct bus bus;
	uint64_t random;	/* state of the values after WARL_RESET_RANDOM */
	uint64_t stuck;		/* value that FAULT_STUCK_POINTER makes WP read */
	bool active;
	bool enable;
	bool smem;		/* SMEM mode, not SRAM mode */
	bool stop_on_wrap;
	bool wrap;
	uint64_t start;
	uint64_t limit;
	uint64_t wp;
	uint32_t rp;
	uint64_t software_errors;
	uint64_t bytes;		/* bytes accepted since power-up */
	uint64_t dropped;	/* bytes refused since power-up */
	uint64_t outside;	/* bytes written outside of [Start, Limit + granule) since power-up */
	unsigned int fill;
	uint8_t buffer[RAM_SINK_GRANULE_MAX];
	unsigned int posted;	/* granules in flight, oldest first */
	struct {
		uint64_t address;
		uint8_t data[RAM_SINK_GRANULE_MAX];
	} post[RAM_SINK_IN_FLIGHT_MAX];
};

void ram_sink_init(struct ram_sink *sink, const struct ram_sink_parameters *parameters,
		   const struct ram_sink_ops *ops, void *opaque);

/** ram_sink_power_up - set registers to their values after power-up; empties the sink */
void ram_sink_power_up(struct ram_sink *sink);

/* Not const: a read of trRamData advances RP. */
uint32_t ram_sink_read(struct ram_sink *sink, uint32_t offset);
void ram_sink_write(struct ram_sink *sink, uint32_t offset, uint32_t value);

/** ram_sink_answers - whether an access of software is no bus error */
bool ram_sink_answers(const struct ram_sink *sink, uint32_t offset);

/** ram_sink_poll - ram_sink_read() by software, for which time passes */
uint32_t ram_sink_poll(struct ram_sink *sink, uint32_t offset);

/**
 * ram_sink_put - accept trace bytes
 * Return: true if the sink took all of them; it drops the rest of a message that stop-on-wrap cut.
 */
bool ram_sink_put(struct ram_sink *sink, const uint8_t *data, size_t size);

#endif /* VSOC_MODEL_RAM_SINK_H */
