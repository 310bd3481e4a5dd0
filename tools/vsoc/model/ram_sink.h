/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * RAM sink of the virtual SoC (digest trace-control.md section 4).
 * Knows no emulator; not thread safe, the glue holds a lock around each call.
 */
#ifndef VSOC_MODEL_RAM_SINK_H
#define VSOC_MODEL_RAM_SINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fault.h"

#define RAM_SINK_GRANULE_MAX 256
#define RAM_SINK_IN_FLIGHT_MAX 16

/* Bytes that the SRAM reads and writes at once. */
#define RAM_SINK_SRAM_GRANULE 4

/**
 * struct ram_sink_parameters - what the specification leaves to the implementation
 * @granule: bytes of one write to memory, a power of two, 4..RAM_SINK_GRANULE_MAX.
 *           Start, Limit and WP are multiples of it. In SRAM mode it is 4
 * @address_bits: width of a physical address; higher bits of Start, Limit and
 *                WP read 0. 32 and less: the High registers read 0
 * @power_of_two: the size of the buffer is trimmed down to a power of two that
 *                divides Start
 * @smem: there is SMEM mode, in which trace goes to system memory
 * @sram: memory of SRAM mode, NULL without it. The caller owns it
 * @sram_size: its size, a multiple of 4
 * @faults: what is broken at power-up
 * @in_flight: of SMEM mode: writes are posted. WP has moved on, and up to so many
 *             granules before it are not in memory yet: a granule gets there when
 *             as many others have been written, or when the sink is disabled.
 *             0..RAM_SINK_IN_FLIGHT_MAX; Empty is 0 while there are some
 *
 * trRamMode can be written if both are there; a change puts all pointers back to
 * 0, Limit in SRAM mode to the last word. In SRAM mode Start is 0, Limit, WP and
 * RP stay below the size of the SRAM, and RP and trRamData can only be used while
 * Enable is 0 and Empty is 1. No memory format or alignment sync: those fields
 * read 0. Start, Limit and WP written while Enable is 1 or Empty is 0 stay as
 * they are and count as an error of the software. Enable stays 0 if WP is not
 * within Start..Limit.
 */
struct ram_sink_parameters {
	unsigned int granule;
	unsigned int address_bits;
	bool power_of_two;
	bool smem;
	uint8_t *sram;
	uint32_t sram_size;
	uint32_t faults;
	unsigned int in_flight;
};

/* Of SMEM mode. */
struct ram_sink_ops {
	/* Enable 0 -> 1: memory from @address on will be written */
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
	uint64_t stuck;		/* WP as FAULT_STUCK_POINTER shows it */
	bool active;
	bool enable;
	bool smem;		/* mode */
	bool stop_on_wrap;
	bool wrap;
	uint64_t start;
	uint64_t limit;
	uint64_t wp;
	uint32_t rp;
	uint64_t software_errors;
	uint64_t bytes;		/* taken since power-up */
	uint64_t dropped;	/* refused since power-up */
	unsigned int fill;
	uint8_t buffer[RAM_SINK_GRANULE_MAX];
	unsigned int posted;	/* granules on their way, oldest first */
	struct {
		uint64_t address;
		uint8_t data[RAM_SINK_GRANULE_MAX];
	} post[RAM_SINK_IN_FLIGHT_MAX];
};

void ram_sink_init(struct ram_sink *sink, const struct ram_sink_parameters *parameters,
		   const struct ram_sink_ops *ops, void *opaque);

/** ram_sink_power_up - registers after power-up; what is inside is lost */
void ram_sink_power_up(struct ram_sink *sink);

/* Reading trRamData moves RP. */
uint32_t ram_sink_read(struct ram_sink *sink, uint32_t offset);
void ram_sink_write(struct ram_sink *sink, uint32_t offset, uint32_t value);

/**
 * ram_sink_put - trace bytes
 * Return: true if all were taken; the rest of a message that stop-on-wrap cut is dropped.
 */
bool ram_sink_put(struct ram_sink *sink, const uint8_t *data, size_t size);

#endif /* VSOC_MODEL_RAM_SINK_H */
