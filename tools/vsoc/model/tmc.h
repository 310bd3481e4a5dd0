/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Trace Memory Controller of Arm CoreSight SoC-400 (ARM 100536): as ETF, a FIFO on the way of the
 * trace; as ETR, the sink that writes it to system memory. This file depends on no emulator. It is
 * not thread safe: the glue holds a lock around each call.
 */
#ifndef VSOC_MODEL_TMC_H
#define VSOC_MODEL_TMC_H

#include <stddef.h>

#include <ntrace/coresight.h>

#include "coresight.h"
#include "fault.h"
#include "formatter.h"
#include "port.h"

/* Calls of tmc_advance() from the end of the last flush to Ready. */
#define TMC_DRAIN 2

/**
 * struct tmc_parameters - what the specification leaves to the implementation
 * @type: TMC_DEVID_TYPE_ETR or TMC_DEVID_TYPE_ETF
 * @ram_size: bytes of the ETF's RAM, which RSZ tells
 * @faults: faults at power-up
 *
 * An ETR has the circular buffer mode, contiguous and scatter-gather, and an ETF the hardware FIFO
 * mode, in which it passes bytes on at once. Any other mode captures nothing and counts as a
 * software error when capture is enabled; so does a buffer that is not made of whole frames, and
 * formatting that is not enabled. Triggers, the watermark and AXI attributes can be written and
 * have no effect. RRD and RWD do not access the buffer.
 *
 * Setting TraceCaptEn sets both pointers to the first address of the buffer and clears Full, Empty
 * and MemErr. RWP moves with each frame and may be read at any time; what is before it is in
 * memory. An incomplete frame waits until it is full or a flush pads it with ID 0. RRP is the
 * oldest frame: RWP once the buffer is full, else the first address.
 *
 * Time passes with each tmc_advance(). A flush that software asks for is a flush of all components
 * that send to the TMC: when @flushing of struct tmc becomes true, the glue makes them send what
 * they hold. The next tmc_advance() then ends the flush; if StopOnFl is set, the TMC stops and is
 * Ready TMC_DRAIN calls later. A TMC that has stopped, or captures nothing, accepts trace and drops it. So is trace
 * of an ID that ATB does not have.
 *
 * Clearing TraceCaptEn without a flush loses the incomplete frame.
 */
struct tmc_parameters {
	uint32_t type;
	uint32_t ram_size;
	uint32_t faults;
};

/* Access to system memory. Return: false if there is none at @address. */
struct tmc_ops {
	/* TraceCaptEn 0 -> 1: the buffer, or the table, is at @address */
	void (*open)(void *opaque, uint64_t address);
	bool (*read_memory)(void *opaque, uint64_t address, uint8_t *data, size_t size);
	bool (*write_memory)(void *opaque, uint64_t address, const uint8_t *data, size_t size);
};

enum tmc_state {
	TMC_DISABLED,
	TMC_RUNNING,
	TMC_STOPPING,	/* drains */
	TMC_STOPPED,
};

struct tmc {
	struct tmc_parameters parameters;
	const struct tmc_ops *ops;	/* of an ETR */
	const struct trace_port *out;	/* of an ETF */
	void *opaque;
	struct coresight coresight;
	struct fault fault;
	enum tmc_state state;
	bool capture;		/* TraceCaptEn */
	bool idle;		/* captures nothing: it was enabled with wrong settings */
	bool flushing;
	unsigned int drain;	/* calls of tmc_advance() until Ready */
	bool full;
	bool written;		/* there is trace in the buffer */
	bool memory_error;
	uint32_t rsz;
	uint32_t trg;
	uint32_t mode;
	uint32_t bufwm;
	uint32_t axictl;
	uint32_t ffcr;
	uint64_t rrp;
	uint64_t rwp;
	uint64_t dba;
	uint64_t end;		/* address after the buffer, or after the page */
	uint64_t entry;		/* scatter-gather: address of the next entry of the table */
	bool last;		/* scatter-gather: the page is the last one */
	uint64_t software_errors;
	uint64_t bytes;		/* bytes accepted since power-up */
	uint64_t dropped;	/* bytes dropped since power-up */
	struct formatter formatter;
};

void tmc_init(struct tmc *tmc, const struct tmc_parameters *parameters, const struct tmc_ops *ops,
	      void *opaque, const struct trace_port *out);

/** tmc_power_up - set registers to their values after power-up; empties the TMC */
void tmc_power_up(struct tmc *tmc);

uint32_t tmc_read(const struct tmc *tmc, uint32_t offset);
void tmc_write(struct tmc *tmc, uint32_t offset, uint32_t value);

/** tmc_advance - time passes: a flush ends, or a stop */
void tmc_advance(struct tmc *tmc);

/**
 * tmc_put - accept bytes with the trace ID @id
 * Return: false if the component after an ETF refused them.
 */
bool tmc_put(struct tmc *tmc, uint8_t id, const uint8_t *data, size_t size);

/** tmc_ready - tell whether tmc_put() would accept bytes */
bool tmc_ready(const struct tmc *tmc);

#endif /* VSOC_MODEL_TMC_H */
