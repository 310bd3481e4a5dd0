/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Trace encoder of the virtual SoC: the registers of the Trace Control
 * Interface (digest trace-control.md sections 2 and 8) in front of the
 * library's encoder. Knows no emulator: the glue delivers register accesses and
 * retired blocks, and takes trace bytes.
 *
 * Registers and encoder live in different threads. Registers are accessed under
 * one lock of the glue; the encoder belongs to the thread of its hart. What
 * crosses is a struct trace_encoder_setup, which the glue carries to the hart's
 * thread in order and hands to trace_encoder_apply() there, under the same lock.
 */
#ifndef VSOC_MODEL_TRACE_ENCODER_H
#define VSOC_MODEL_TRACE_ENCODER_H

#include <ntrace/encode.h>

#include "fault.h"
#include "filters.h"
#include "timestamp.h"

/*
 * Vendor registers of the encoder, which stand for the wires of its external
 * triggers. Writing bit n of the first raises input n for a moment. Bit n of the
 * second is set when output n fires, and cleared by writing 1. Writing an action
 * (TR_TE_TRIG_ACTION_...) to the third is what a trigger of the hart's debug module
 * with that action does: the emulator's harts have no such actions.
 */
#define TRACE_ENCODER_TRIGGER_IN 0xe04
#define TRACE_ENCODER_TRIGGER_OUT 0xe08
#define TRACE_ENCODER_TRIGGER_DBG 0xe0c

/*
 * What this implementation has, where the specification leaves it open:
 * InstMode 0, 3 and 6 (1 and 2 land on 3; 4, 5 and 7 on 6); SyncMode 0, 1 and 3
 * (2 lands on 3, there is no clock to count); SyncMax 0..15; InhibitSrc;
 * EnAllJumps, ExtendAddrMSB; SrcBits up to src_bits_max; Context with scontext;
 * InstStallEna where there is a queue; filters, comparators and a timestamp unit
 * as filters.h and timestamp.h say; external triggers, and debug triggers as above, where
 * there are any; trTeTrigDbgControl reads 0. No data trace.
 *
 * The clock of the core is one cycle per parcel (16 bits of instructions) that
 * the hart retires while it is traced. It runs where a queue or core time needs it.
 *
 * Fields that configure are frozen while Enable is 1: a write that would change
 * one leaves it as it is and counts as an error of the software.
 */
struct trace_encoder_parameters {
	unsigned int src_bits_max;
	unsigned int icnt_bits;
	unsigned int hist_bits;
	unsigned int xlen;
	bool v0;			/* the protocol of SiFive's v0 encoders */
	unsigned int filters;		/* 0: one */
	unsigned int comparators;
	unsigned int triggers;		/* external inputs, and as many outputs */
	unsigned int context_bits;	/* of scontext; 0: there is none */
	bool context_closed;		/* to all but M-mode */
	unsigned int timestamp_bits;	/* 0: no timestamp unit */
	bool timestamp_shared;		/* it can take the time of a funnel's */
	enum ntrace_timestamps timestamps; /* the messages that trTsEnable puts time in */
	uint32_t fifo;			/* bytes of the queue of messages, 0 without end */
	uint32_t bandwidth;		/* bytes that leave it in 1,000 cycles */
	uint32_t faults;		/* what is broken at power-up */
	uint32_t fault_drop;		/* bytes between two messages that FAULT_DROP loses */
};

/** struct trace_encoder_setup - what a register write asks of the hart's thread */
struct trace_encoder_setup {
	struct ntrace_encoder_config config;	/* but for params */
	struct ntrace_params params;
	struct filters filters;
	struct timestamp timestamp;
	uint32_t slow;	/* enum trace_encoder_slow */
	uint32_t epoch;
	bool tracing;
	bool discard;	/* stop without a word: the component was reset */
	bool marker;	/* nothing of the above: a trigger leaves a mark */
	enum ntrace_sync mark;	/* this one */
};

/* Why a block is not simply handed to the encoder. */
enum trace_encoder_slow {
	TE_SLOW_DROPPING = 1 << 0,	/* the sink refused bytes */
	TE_SLOW_QUEUE = 1 << 1,		/* the queue is drained by the clock */
	TE_SLOW_TIME = 1 << 2,		/* messages have time stamps */
	TE_SLOW_FILTERS = 1 << 3,	/* each block must be looked at */
	TE_SLOW_CONTEXT = 1 << 4,	/* the next block is the last one of its context */
};

struct trace_encoder_ops {
	/* Carry @setup to the hart's thread; may call trace_encoder_apply() at once. */
	void (*deliver)(void *opaque, const struct trace_encoder_setup *setup);
	/* Trace bytes, in the hart's thread; false: dropped */
	bool (*write)(void *opaque, const uint8_t *data, size_t size);
	/* Would write() take bytes again? */
	bool (*ready)(void *opaque);
	/* Time of TR_TS_MODE_SYSTEM or _SHARED; from any thread */
	uint64_t (*time)(void *opaque, unsigned int mode);
};

struct trace_encoder {
	struct trace_encoder_parameters parameters;
	const struct trace_encoder_ops *ops;
	void *opaque;

	/* under the lock */
	struct fault fault;
	uint32_t control;	/* RW fields except Active and RO ones */
	bool active;
	bool tracing;		/* last setup that was delivered */
	uint32_t features;
	uint32_t trigger_in;	/* trTeTrigExtInControl */
	uint32_t trigger_out;	/* trTeTrigExtOutControl */
	uint32_t fired;		/* outputs, bit n */
	struct filters filters;
	struct timestamp_parameters timestamp_parameters;
	struct timestamp timestamp;
	uint32_t epoch;
	uint32_t in_flight;	/* setups on their way to the hart */
	uint64_t software_errors;

	/* the hart's thread */
	struct ntrace_encoder encoder;
	struct filters filtering;	/* as they were when tracing began */
	struct timestamp clock;		/* the same */
	uint64_t time;			/* what the encoder was told last */
	uint64_t cause;			/* of the trap that is retired next */
	uint64_t context;		/* scontext of the hart */
	uint64_t told_context;		/* what the encoder knows of it */
	bool running;
	uint32_t slow;		/* enum trace_encoder_slow: what trace_encoder_retire() cares for */
	uint64_t drop_next;	/* encoder.bytes at which a message is lost */
	uint64_t lost;		/* messages for which the queue had no room, since power-up */
	uint64_t stalled;	/* cycles that it kept the hart waiting, since power-up */

	/* written by the hart's thread, read and cleared under the lock */
	_Atomic bool overflow;

	/* written by the hart's thread: the core's clock */
	_Atomic uint64_t cycles;

	/* written under the lock, read by the hart's thread: FAULT_DROP */
	_Atomic bool drop;
};

void trace_encoder_init(struct trace_encoder *te, const struct trace_encoder_parameters *parameters,
			const struct trace_encoder_ops *ops, void *opaque);

/** trace_encoder_power_up - registers after power-up; the hart must be at rest */
void trace_encoder_power_up(struct trace_encoder *te);

uint32_t trace_encoder_read(const struct trace_encoder *te, uint32_t offset);
void trace_encoder_write(struct trace_encoder *te, uint32_t offset, uint32_t value);

/**
 * trace_encoder_apply - start or stop, in the hart's thread and under the lock
 * Return: false if @setup is from before a power-up; nothing is done then.
 */
bool trace_encoder_apply(struct trace_encoder *te, const struct trace_encoder_setup *setup);

/** trace_encoder_retire_slowly - slow path of trace_encoder_retire() */
int trace_encoder_retire_slowly(struct trace_encoder *te, const struct ntrace_ingress *block);

/**
 * trace_encoder_context - the hart writes scontext, with the last instruction of
 * a block that is yet to be retired; in the hart's thread
 */
void trace_encoder_context(struct trace_encoder *te, uint64_t context);

/** trace_encoder_lost - the hart retired instructions that cannot be named */
void trace_encoder_lost(struct trace_encoder *te);

/** trace_encoder_retire - one ingress block, in the hart's thread */
static inline int trace_encoder_retire(struct trace_encoder *te, const struct ntrace_ingress *block)
{
	if (__builtin_expect(te->slow, 0))
		return trace_encoder_retire_slowly(te, block);
	return ntrace_encoder_retire(&te->encoder, block);
}

#endif /* VSOC_MODEL_TRACE_ENCODER_H */
