/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Trace encoder of the virtual SoC: the trTe registers of the Trace Control Interface 1.0 as a
 * front end to the library's encoder. This file depends on no emulator: the glue delivers register
 * accesses and retired blocks, and takes trace bytes.
 *
 * Registers and encoder live in different threads. Registers are accessed under one lock of the
 * glue; the encoder belongs to the thread of its hart. A struct trace_encoder_setup crosses between
 * them: the glue carries each one to the hart's thread, in order, and there calls
 * trace_encoder_apply() under the same lock.
 */
#ifndef VSOC_MODEL_TRACE_ENCODER_H
#define VSOC_MODEL_TRACE_ENCODER_H

#include <ntrace/encode.h>

#include "bus.h"
#include "fault.h"
#include "filters.h"
#include "timestamp.h"
#include "warl.h"

/*
 * Vendor registers of the encoder, which stand for the wires of its triggers. Writing bit n of the
 * first pulses external input n. Bit n of the second is set when external output n fires, and
 * cleared by writing 1. Writing an action (TR_TE_TRIG_ACTION_...) to the third acts like a debug
 * trigger of the hart with that action, which the emulated harts do not have.
 */
#define TRACE_ENCODER_TRIGGER_IN 0xe04
#define TRACE_ENCODER_TRIGGER_OUT 0xe08
#define TRACE_ENCODER_TRIGGER_DBG 0xe0c

/*
 * Stands for a debugger: writing 1 sets trTeDisSelfHosted, writing 0 clears it. Meanwhile the
 * encoder ignores what software writes to other registers, and counts it in bits 31:1 of this
 * register. Setting the bit clears the count.
 */
#define TRACE_ENCODER_DEBUGGER 0xe10

/* Number of accesses while the hart was off; a write sets it. Accesses to this register do not count. */
#define TRACE_ENCODER_UNPOWERED 0xe14

/* Blocks whose registers are lost in an idle state of the hart. */
enum trace_encoder_sleep {
	SLEEP_LOSES_NOTHING,
	SLEEP_LOSES_ENCODER,
	SLEEP_LOSES_BRIDGE,	/* and the encoder */
	SLEEP_LOSES_FUNNEL,	/* and both, when all harts of the funnel sleep */
};

/*
 * Options of the specification that this encoder implements by default: InstMode 0, 3 and 6 (1 and 2
 * become 3; 4, 5 and 7 become 6); SyncMode 0, 1 and 3 (2 becomes 3); SyncMax 0..15; InhibitSrc;
 * EnAllJumps, ExtendAddrMSB; EnImplicitReturn, not with EnAllJumps, and EnRepeatedHistory, in HTM,
 * if there are any; SrcBits up to src_bits_max; Context with scontext; InstStallEna if there is a
 * queue; filters, comparators and a timestamp unit as in filters.h and timestamp.h; external
 * triggers if there are any, and then debug triggers as above; trTeTrigDbgControl reads 0. It has
 * no data trace.
 *
 * The core's clock advances one cycle per parcel (16 bits of instructions) that the hart retires
 * while it is traced. It runs only if a queue or a core timestamp needs it.
 *
 * Configuration fields are frozen while Enable is 1: a write that would change one has no effect
 * and counts as a software error.
 *
 * The parameters from @bus on are the choices of variant.h. A field whose set is 0, and a bit that is
 * WARL_DEFAULT, accepts what the list above says. If trTeFormat selects another protocol than N-Trace, the
 * encoder sends nothing.
 */
struct trace_encoder_parameters {
	unsigned int src_bits_max;
	unsigned int icnt_bits;
	unsigned int hist_bits;
	unsigned int xlen;
	unsigned int implicit_return;	/* ImplicitReturnMode: 1..3; 0: none */
	bool repeated_history;
	bool v0;			/* speak the protocol of SiFive's v0 encoders */
	unsigned int filters;		/* number of filters; 0 means 1 */
	bool no_filters;		/* there are none */
	unsigned int comparators;
	unsigned int triggers;		/* number of external inputs, and of external outputs */
	unsigned int context_bits;	/* width of scontext, v0: of the ids that software stores;
					 * 0: there are none */
	bool context_closed;		/* only M-mode may access scontext */
	unsigned int timestamp_bits;	/* 0: no timestamp unit */
	bool timestamp_shared;		/* the unit can share the time of a funnel's unit; v0: it
					 * can do nothing else */
	enum ntrace_timestamps timestamps; /* the messages that trTsEnable puts timestamps in */
	uint32_t fifo;			/* size of the message queue in bytes, 0 = unlimited */
	uint32_t bandwidth;		/* bytes that leave the queue in 1,000 cycles */
	uint32_t faults;		/* faults at power-up */
	uint32_t fault_drop;		/* FAULT_DROP loses one message per this many bytes */
	struct bus_parameters bus;
	enum warl_reset reset;
	uint64_t reset_seed;		/* of WARL_RESET_RANDOM */
	uint32_t version_minor;
	uint32_t protocol_minor;
	uint32_t formats;		/* trTeFormat accepts n: bit n */
	uint32_t inst_modes;		/* likewise trTeInstMode */
	uint32_t sync_modes;
	uint32_t sync_maxes;
	uint32_t implicit_return_modes;	/* 0: the field is read-only, see implicit_return. If it
					 * accepts 0 alone, the mode is implicit_return all the
					 * same; else 0 turns the feature off */
	enum warl_bit context;
	enum warl_bit trig_enable;
	enum warl_bit stall_ena;
	enum warl_bit inhibit_src;
	enum warl_bit sequential_jump;
	enum warl_bit implicit_return_bit;
	enum warl_bit repeated_history_bit;
	enum warl_bit all_jumps;
	enum warl_bit extend_address;
	uint32_t src_bits_min;		/* smaller values of trTeSrcBits become this one */
	uint32_t src_bits_zero;		/* width of SRC that is sent although trTeSrcBits is 0; also
					 * the value of trTeSrcBits after a reset */
	bool src_fixed;			/* trTeSrcID is the low bits of @index */
	uint32_t index;			/* number of the hart */
	uint32_t timestamp_modes;	/* those of trTsMode that exist, if the unit can have them */
	bool timestamp_prescale_fixed;	/* trTsPrescale is 0 */
	bool running;			/* earlier software has left it tracing; for the glue */
	bool debug_owned;		/* a debugger owns it from power-up on */
	unsigned int sleep_loses;	/* enum trace_encoder_sleep; for the glue */
	unsigned int pauses;		/* blocks after which it reports low power, as soon as one ends
					 * like a WFI, and goes on; 0: never */
};

/**
 * struct trace_encoder_setup - the start, stop or mark that a register write asks of the hart's
 * thread
 */
struct trace_encoder_setup {
	struct ntrace_encoder_config config;	/* all but params */
	struct ntrace_params params;
	struct filters filters;
	struct timestamp timestamp;
	uint32_t slow;	/* enum trace_encoder_slow */
	uint32_t epoch;
	bool tracing;
	bool discard;	/* stop without a message: the component was reset */
	bool marker;	/* only leave a mark for a trigger; the other fields are unused */
	enum ntrace_sync mark;	/* SYNC code of the mark */
};

/* Reasons why blocks take the slow path. */
enum trace_encoder_slow {
	TE_SLOW_DROPPING = 1 << 0,	/* the sink refused bytes */
	TE_SLOW_QUEUE = 1 << 1,		/* the queue is drained by the clock */
	TE_SLOW_TIME = 1 << 2,		/* messages carry timestamps */
	TE_SLOW_FILTERS = 1 << 3,	/* filters look at each block */
	TE_SLOW_CONTEXT = 1 << 4,	/* the next block is the last one of the current context */
	TE_SLOW_FORWARD = 1 << 6,	/* another encoder gets them, see trace_encoder_forward() */
	TE_SLOW_CYCLES = 1 << 5,	/* the clock counts for periodic sync */
	TE_SLOW_PAUSES = 1 << 7,	/* the encoder pauses by itself */
};

struct trace_encoder_ops {
	/* Carries @setup to the hart's thread; may call trace_encoder_apply() before it returns. */
	void (*deliver)(void *opaque, const struct trace_encoder_setup *setup);
	/* Takes trace bytes in the hart's thread. Return: false if they were dropped. */
	bool (*write)(void *opaque, const uint8_t *data, size_t size);
	/* Tells whether write() would take bytes. */
	bool (*ready)(void *opaque);
	/* Returns the time of TR_TS_MODE_SYSTEM or _SHARED; called in any thread. */
	uint64_t (*time)(void *opaque, unsigned int mode);
	/* Takes a block for trace_encoder_forward(), and scontext after it. */
	void (*forward)(void *opaque, const struct ntrace_ingress *block, uint64_t cause,
			uint64_t context);
};

struct trace_encoder {
	struct trace_encoder_parameters parameters;
	const struct trace_encoder_ops *ops;
	void *opaque;

	/* accessed under the lock */
	struct fault fault;
	struct bus bus;
	uint64_t random;	/* state of the values after WARL_RESET_RANDOM */
	uint32_t control;	/* RW fields except Active and RO ones */
	bool active;
	bool tracing;		/* tracing, in the last setup delivered */
	uint32_t features;
	uint32_t return_mode;	/* trTeInstImplicitReturnMode */
	uint32_t trigger_in;	/* trTeTrigExtInControl */
	uint32_t trigger_out;	/* trTeTrigExtOutControl */
	uint32_t fired;		/* bit n: external output n has fired */
	bool debugger;		/* trTeDisSelfHosted */
	uint32_t ignored;	/* writes since the debugger took the encoder */
	uint32_t unpowered;	/* accesses while the hart was off */
	struct filters filters;
	struct timestamp_parameters timestamp_parameters;
	struct timestamp timestamp;
	uint32_t epoch;
	uint32_t in_flight;	/* setups delivered and not yet applied */
	uint64_t software_errors;

	/* accessed in the hart's thread */
	struct ntrace_encoder encoder;
	struct filters filtering;	/* copy made when tracing began */
	struct timestamp clock;		/* copy made when tracing began */
	uint64_t time;			/* time last passed to the encoder */
	uint64_t cause;			/* cause of the next trap to retire */
	uint64_t context;		/* current scontext of the hart */
	uint64_t told_context;		/* scontext last passed to the encoder */
	bool running;
	uint32_t slow;		/* enum trace_encoder_slow, for trace_encoder_retire() */
	uint64_t drop_next;	/* encoder.bytes at which FAULT_DROP loses the next message */
	uint64_t lost;		/* messages that did not fit in the queue since power-up */
	uint64_t stalled;	/* cycles for which the queue stalled the hart since power-up */
	unsigned int until_pause; /* blocks until the encoder pauses by itself */
	bool plain;		/* the last block did not end with a jump, a branch or a trap */

	/* written by the hart's thread, read and cleared under the lock */
	_Atomic bool overflow;

	/* written by the hart's thread: the core's clock */
	_Atomic uint64_t cycles;

	/* written under the lock, read by the hart's thread: FAULT_DROP */
	_Atomic bool drop;
};

void trace_encoder_init(struct trace_encoder *te, const struct trace_encoder_parameters *parameters,
			const struct trace_encoder_ops *ops, void *opaque);

/** trace_encoder_power_up - set registers to their values after power-up; the hart must not run */
void trace_encoder_power_up(struct trace_encoder *te);

uint32_t trace_encoder_read(const struct trace_encoder *te, uint32_t offset);
void trace_encoder_write(struct trace_encoder *te, uint32_t offset, uint32_t value);

/**
 * trace_encoder_answers - whether an access of software is no bus error
 * @own: it comes from the encoder's hart
 */
bool trace_encoder_answers(const struct trace_encoder *te, uint32_t offset, bool own);

/** trace_encoder_poll - trace_encoder_read() by software, for which time passes */
uint32_t trace_encoder_poll(struct trace_encoder *te, uint32_t offset);

/** trace_encoder_unpowered - software is about to access a register, and the hart is off */
void trace_encoder_unpowered(struct trace_encoder *te, uint32_t offset);

/**
 * trace_encoder_apply - start or stop, in the hart's thread and under the lock
 * Return: false if @setup is older than the last power-up and was ignored.
 */
bool trace_encoder_apply(struct trace_encoder *te, const struct trace_encoder_setup *setup);

/** trace_encoder_retire_slowly - slow path of trace_encoder_retire() */
int trace_encoder_retire_slowly(struct trace_encoder *te, const struct ntrace_ingress *block);

/**
 * trace_encoder_context - the hart writes scontext (v0: stores an id) in a block that has not
 * retired yet; in the hart's thread
 */
void trace_encoder_context(struct trace_encoder *te, uint64_t context);

/**
 * trace_encoder_forward - begin or end to hand over each block to ops->forward(), in the hart's thread;
 * the registers of such an encoder are not used
 */
void trace_encoder_forward(struct trace_encoder *te, bool on);

/** trace_encoder_lost - the hart retired instructions that the port cannot report */
void trace_encoder_lost(struct trace_encoder *te);

/** trace_encoder_retire - one ingress block has retired, in the hart's thread */
static inline int trace_encoder_retire(struct trace_encoder *te, const struct ntrace_ingress *block)
{
	if (__builtin_expect(te->slow, 0))
		return trace_encoder_retire_slowly(te, block);
	return ntrace_encoder_retire(&te->encoder, block);
}

#endif /* VSOC_MODEL_TRACE_ENCODER_H */
