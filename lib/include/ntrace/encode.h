/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Encoder: from the trace ingress port (E-Trace, chapter 4) to N-Trace messages. The library's
 * reference encoder, the model inside the virtual SoC and the generator of test streams all use
 * this encoder.
 *
 * A caller may mix two interfaces: ntrace_encoder_retire() takes one block, with separate functions
 * for the other signals; ntrace_encoder_cycle() takes all signals of a clock cycle.
 *
 * All functions work without allocation and global state; the caller owns the struct.
 */
#ifndef NTRACE_ENCODE_H
#define NTRACE_ENCODE_H

#include <ntrace/ingress.h>
#include <ntrace/params.h>
#include <ntrace/wire.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Messages that carry TSTAMP */
enum ntrace_timestamps {
	NTRACE_TIMESTAMPS_NONE,
	NTRACE_TIMESTAMPS_SYNC,		/* messages with SYNC */
	NTRACE_TIMESTAMPS_BRANCH,	/* also DirectBranch, IndirectBranch[Hist] */
	NTRACE_TIMESTAMPS_ALL,
};

/* Address comparators of a filter. */
#define NTRACE_ENCODER_RANGES_MAX 4

/* Largest depth of the return stack */
#define NTRACE_RETURN_DEPTH_MAX 32

/**
 * struct ntrace_encoder_range - addresses of a comparator: @first <= address <= @last
 * @first: lowest address
 * @last: highest address, at least @first
 */
struct ntrace_encoder_range {
	uint64_t first;
	uint64_t last;
};

/**
 * struct ntrace_encoder_config - the settings of the control registers
 * @size: sizeof(struct ntrace_encoder_config) of the caller
 * @params: src_bits, xlen, extend_address, address_bits, all_jumps, mode (BTM or HTM),
 *          timestamp_bits and timestamp_delta, repeat_message, implicit_return (1..3 = on, with
 *          @implicit_return_depth), keep_stack; dialect matters for
 *          @sync4_for_icnt only. Copied; NULL: those of ntrace_params_init() with mode HTM
 * @src: value of SRC
 * @icnt_bits: width of the I-CNT register; 1..32. ResourceFull RCODE 0 is sent
 *             before it would overflow
 * @hist_bits: number of branches that HIST holds, 1..31
 * @sync_mode: trTeInstSyncMode: 0 off, 1 messages, 2 cycles, 3 parcels
 * @sync_max: trTeInstSyncMax: interval 2^(sync_max + 4)
 * @priv_mask: traced privileges, bit n = enum ntrace_priv n. On leaving the set, the encoder sends
 *             ProgTraceCorrelation EVCODE 4 in place of the trap or jump target, so that it never
 *             sends an address outside the set; on return it sends ProgTraceSync SYNC 5. Bit
 *             NTRACE_PRIV_D is ignored: Debug Mode is never traced and is reported by EVCODE 0 and
 *             SYNC 3
 * @trap_btype: false: BTYPE 2 and 3; true: BTYPE 1 for both
 * @write: takes whole messages, in order; required. The bytes are valid during the call
 * @write_data: passed to @write
 * @itype_bits: 3 or 4, width of itype. A 3-bit port reports direct jumps as 0 (with all_jumps as 5)
 *              and every indirect jump as 6; in the dialect of rc7, ntrace_encoder_retire() takes
 *              itype 7 as a direct jump
 * @single_retire: ntrace_encoder_cycle(): groups are single instructions (SR)
 * @implicit_return_depth: entries of the return stack, 1..32
 * @return_compare_bits: implicit_return 2: number of low address bits compared, 1..63, counted from
 *                       bit 1
 * @repeated_history: trTeInstEnRepeatedHistory: ResourceFull RCODE 2 where RCODE 2 is shorter
 * @hrepeat_bits: width of HREPEAT, 1..18
 * @repeat_branch: RepeatBranch in place of equal branch messages
 * @bcnt_bits: width of B-CNT, 1..18
 * @sequential_jumps: trTeInstEnSequentialJump: no message for a jump with @sijump
 * @sync4_for_icnt: BTM (rc7 dialect: HTM as well): a full I-CNT sends a sync
 *                  message with SYNC 4 in place of ResourceFull
 * @icnt_full: parcels at which I-CNT counts as full, although it could hold
 *             more; 0 = when it would overflow
 * @timestamps: enum ntrace_timestamps; all but NONE need params.timestamp_bits
 * @context: trTeContext: Ownership when privilege or context change and after
 *           every sync message; in the dialect of SiFive's version 0, unless params.owner is
 *           NTRACE_OWNER_CONTEXT, only when ntrace_encoder_context() reports a change, without
 *           privilege
 * @hypervisor: the hart has hcontext: Ownership FORMAT 3 precedes every FORMAT 2
 * @idle_correlations: also send the optional ProgTraceCorrelations (N-Trace 1.0,
 *                     "synchronization"): EVCODE 4 if trace is enabled in code that filters
 *                     exclude, EVCODE 0 if the hart is in or enters Debug Mode while nothing is
 *                     traced, EVCODE 4 if trace is disabled there
 * @fifo_bytes: size of the output queue; 0 = unbounded. At least NTRACE_ENCODER_FIFO_MIN
 * @fifo_drain: bytes that leave the queue in a cycle, 16.16 fixed point; not 0 unless the queue is
 *              unbounded
 * @stall: the hart waits while the queue is full; else messages are lost, and Error and
 *         ProgTraceSync SYNC 7 follow as soon as the queue has room
 * @zc_accesses: the port reports Zcmp instructions once per memory access, as
 *               with data trace (E-Trace, chapter 4); each counts once
 * @range_count: entries of @range; 0 = addresses are not filtered
 * @range: a block is traced if its first instruction is in one of them
 * @empty_fields: as some encoders do, send no bits for a first variable field that is 0 if the fixed
 *                fields fill their last byte, although N-Trace 1.0, "message framing", demands one
 * @empty_history: HTM: IndirectBranchHist[Sync] for each indirect jump; else IndirectBranch[Sync] where
 *                 HIST is empty
 * @unspecified_errors: ECODE of Error is 0, which does not say what was lost
 */
struct ntrace_encoder_config {
	size_t size;
	const struct ntrace_params *params;
	unsigned int src;
	unsigned int icnt_bits;
	unsigned int hist_bits;
	unsigned int sync_mode;
	unsigned int sync_max;
	uint32_t priv_mask;
	bool trap_btype;
	void (*write)(void *write_data, const uint8_t *data, size_t size);
	void *write_data;
	unsigned int itype_bits;
	bool single_retire;
	unsigned int implicit_return_depth;
	unsigned int return_compare_bits;
	bool repeated_history;
	unsigned int hrepeat_bits;
	bool repeat_branch;
	unsigned int bcnt_bits;
	bool sequential_jumps;
	bool sync4_for_icnt;
	uint32_t icnt_full;
	enum ntrace_timestamps timestamps;
	bool context;
	bool hypervisor;
	bool idle_correlations;
	uint32_t fifo_bytes;
	uint32_t fifo_drain;
	bool stall;
	bool zc_accesses;
	unsigned int range_count;
	struct ntrace_encoder_range range[NTRACE_ENCODER_RANGES_MAX];
	bool empty_fields;
	bool empty_history;
	bool unspecified_errors;
};

/* Smallest queue: room for two messages of the greatest length. */
#define NTRACE_ENCODER_FIFO_MIN (2 * NTRACE_MESSAGE_BYTES_MAX)

/* History bits wait until the encoder can choose their shortest encoding. */
#define NTRACE_ENCODER_QUEUE_BITS 1024

/**
 * struct ntrace_encoder - state of an encoder
 * @messages: readable: messages written
 * @bytes: readable: bytes written
 * @dropped: readable: messages for which the queue had no room
 * @stall_cycles: readable: cycles for which the hart was stalled
 *
 * Owned by the caller, set up by ntrace_encoder_init(). Fields not called readable are private.
 *
 * The size of the struct never changes: new fields take their room from the private reserved words.
 */
struct ntrace_encoder {
	uint64_t messages;
	uint64_t bytes;
	uint64_t dropped;
	uint64_t stall_cycles;
	/* private: */
	struct ntrace_encoder_config config;
	struct ntrace_params params;
	uint64_t reference;	/* reference of U-ADDR */
	uint64_t icnt;
	uint64_t icnt_max;	/* greatest value of the register */
	uint64_t icnt_full;	/* value that counts as full, at most icnt_max */
	uint64_t since_sync;	/* messages, cycles or parcels since the last sync */
	uint64_t interval;	/* interval of periodic sync, 0 = none */
	uint64_t address_mask;
	uint64_t sent_mask;	/* address bits that a field holds */
	uint64_t return_mask;	/* address bits that implicit return compares */
	uint32_t options;	/* features that leave the fast path: enum in state.h */
	uint32_t attention;	/* checks due at the next block: enum in state.h */
	uint32_t priv_mask;
	uint32_t hist;
	uint32_t hist_full;	/* HIST is sent at this value */
	uint32_t src;		/* SRC, shifted to its place after TCODE */
	uint16_t itypes;	/* bit n: itype n is valid */
	uint8_t fixed_bits;	/* width of TCODE and SRC together */
	uint8_t pending;	/* event that waits for a target: enum in state.h */
	uint8_t sync;		/* SYNC of the next sync message */
	bool tracing;		/* trTeInstTracing */
	bool synced;		/* the last sync still holds, so that a decoder can follow */
	bool history;		/* HTM */
	bool lost;		/* Error is due before the next sync */
	bool halted;		/* level of the signal */
	bool in_reset;		/* level of the signal */
	bool in_debug;		/* Debug Mode was reported, or needs no report */
	bool off_told;		/* the end of the traced code was reported, or needs no report */
	bool off_due;		/* trace-off trigger; trace-on in the next cycle cancels it */
	bool flushing;		/* tracing ends as soon as the queue is empty */
	bool ownership_lost;
	/* return stack */
	uint8_t stack_top;
	uint8_t stack_count;
	uint64_t popped;
	uint64_t stack[NTRACE_RETURN_DEPTH_MAX];
	/* branch message that RepeatBranch would repeat */
	struct {
		uint64_t icnt;
		uint64_t target;
		uint32_t hist;
		uint32_t count;
		uint8_t tcode;	/* 0: none */
		uint8_t btype;
	} branch;
	/* history not yet sent: a repeated pattern, then bits, oldest in bit 0 of the first word */
	struct {
		uint32_t pattern;	/* oldest bit in bit 0 */
		uint8_t width;		/* 0: no pattern */
		uint8_t position;
		uint32_t count;		/* number of whole repetitions */
		uint32_t queued;
		uint64_t bits[NTRACE_ENCODER_QUEUE_BITS / 64 + 1];
	} queue;
	uint64_t time;
	uint64_t time_sent;
	uint64_t time_mask;
	uint64_t fifo_level;	/* bytes, 48.16 */
	uint64_t scontext;
	uint64_t hcontext;
	uint64_t last_insn;	/* address of the last instruction, with zc_accesses */
	uint8_t last_parcels;	/* its size; 0: it cannot be reported again */
	uint8_t priv;		/* privilege of the last Ownership message, or 0xff */
	uint8_t ctype;		/* ctype of a context change not yet reported */
	uint8_t context_changed;	/* 1 scontext, 2 hcontext */
	uint64_t time_lost;	/* of the first message that was lost: the time of Error */
	uint64_t reserved[62];
};

/**
 * ntrace_encoder_config_init - defaults
 * @config: memory owned by the caller; every field is set. The caller must set write, which is NULL
 *
 * HTM, no SRC, 22-bit I-CNT, 31 history bits, no periodic sync, all privileges, 4-bit itype;
 * options are off, their limits are at the maximum.
 */
NTRACE_API void ntrace_encoder_config_init(struct ntrace_encoder_config *config);

/**
 * ntrace_encoder_refusal - why ntrace_encoder_init() would refuse a configuration
 * @config: the configuration to examine
 *
 * Return: NULL for a valid configuration, else a constant string: a limit out of range, or options
 * that the specification forbids together (such as all_jumps with implicit_return).
 */
NTRACE_API const char *ntrace_encoder_refusal(const struct ntrace_encoder_config *config);

/**
 * ntrace_encoder_init - an encoder with tracing off
 * @encoder: memory owned by the caller; every field is set, to 0 on an error
 * @config: copied, with the parameters that it points to; write_data must stay valid
 *
 * Return: 0 or NTRACE_ERR_INVALID; ntrace_encoder_refusal() says why.
 */
NTRACE_API int ntrace_encoder_init(struct ntrace_encoder *encoder,
				   const struct ntrace_encoder_config *config);

/**
 * ntrace_encoder_start - trTeInstTracing 0 -> 1
 * @encoder: encoder set up by ntrace_encoder_init(); ignored while its tracing is on
 * @sync: SYNC of the ProgTraceSync for the next retired instruction: 1, 3, 5 or 9
 */
NTRACE_API void ntrace_encoder_start(struct ntrace_encoder *encoder, enum ntrace_sync sync);

/**
 * ntrace_encoder_retire - one ingress block
 * @encoder: encoder set up by ntrace_encoder_init()
 * @block: the next block of the hart, in order of execution
 *
 * Ignored while tracing is off.
 *
 * Return: 0, or NTRACE_ERR_INVALID for a block that the port cannot carry (nothing is changed
 * then).
 */
NTRACE_API int ntrace_encoder_retire(struct ntrace_encoder *encoder,
				     const struct ntrace_ingress *block);

/**
 * ntrace_encoder_exclude - retire instructions that the caller's own filter excludes
 * @encoder: encoder set up by ntrace_encoder_init()
 *
 * For filters that @config cannot express. The encoder behaves as for its own filters:
 * ProgTraceCorrelation EVCODE 4 ends the traced code, and the next block starts with ProgTraceSync
 * SYNC 5. Ignored while tracing is off.
 */
NTRACE_API void ntrace_encoder_exclude(struct ntrace_encoder *encoder);

/**
 * ntrace_encoder_stop - trTeInstTracing 1 -> 0
 * @encoder: encoder set up by ntrace_encoder_init(); ignored while its tracing is off
 * @evcode: EVCODE of the ProgTraceCorrelation that reports pending instructions and history
 */
NTRACE_API void ntrace_encoder_stop(struct ntrace_encoder *encoder, enum ntrace_evcode evcode);

/**
 * ntrace_encoder_overrun - retired instructions were not reported to the encoder
 * @encoder: encoder set up by ntrace_encoder_init()
 *
 * Ignored while tracing is off. Pending instructions and history are dropped. The next retired
 * instruction sends Error (ETYPE 0, program trace lost) and ProgTraceSync SYNC 7; a stop before
 * that instruction sends only Error.
 */
NTRACE_API void ntrace_encoder_overrun(struct ntrace_encoder *encoder);

/**
 * ntrace_encoder_time - set the core's time
 * @encoder: encoder set up by ntrace_encoder_init()
 * @time: ticks of the timestamp counter; bits above timestamp_bits are dropped
 */
NTRACE_API void ntrace_encoder_time(struct ntrace_encoder *encoder, uint64_t time);

/**
 * ntrace_encoder_cycles - advance by clock cycles, for periodic sync and the queue
 * @encoder: encoder set up by ntrace_encoder_init()
 * @cycles: number of clock cycles
 */
NTRACE_API void ntrace_encoder_cycles(struct ntrace_encoder *encoder, uint64_t cycles);

/**
 * ntrace_encoder_context - set scontext and hcontext from the next block on
 * @encoder: encoder set up by ntrace_encoder_init()
 * @scontext: value of CSR scontext
 * @hcontext: value of CSR hcontext, sent only with config.hypervisor
 * @ctype: enum ntrace_ctype: the kind of report
 *
 * Without config.context the encoder only stores the values.
 */
NTRACE_API void ntrace_encoder_context(struct ntrace_encoder *encoder, uint64_t scontext,
				       uint64_t hcontext, enum ntrace_ctype ctype);

/**
 * ntrace_encoder_marker - start the next block with a sync message
 * @encoder: encoder set up by ntrace_encoder_init()
 * @sync: NTRACE_SYNC_EXTERNAL_TRIGGER or NTRACE_SYNC_TRACE_EVENT
 *
 * If the next block starts the trace, or is the first after a reset, the encoder sends the SYNC of
 * the start or of the reset instead. Of several markers before one block the last one counts.
 * Ignored while tracing is off.
 */
NTRACE_API void ntrace_encoder_marker(struct ntrace_encoder *encoder, enum ntrace_sync sync);

/**
 * ntrace_encoder_halted - the hart enters or leaves Debug Mode (EVCODE 0, SYNC 3)
 * @encoder: encoder set up by ntrace_encoder_init()
 * @halted: level of the signal: the hart is in Debug Mode
 */
NTRACE_API void ntrace_encoder_halted(struct ntrace_encoder *encoder, bool halted);

/**
 * ntrace_encoder_reset - the hart enters or leaves reset
 * @encoder: encoder set up by ntrace_encoder_init()
 * @reset: level of the signal: the hart is in reset
 *
 * The first block after the reset sends a sync message with SYNC 1, which also reports the
 * instructions retired before the reset.
 */
NTRACE_API void ntrace_encoder_reset(struct ntrace_encoder *encoder, bool reset);

/* Status of ntrace_encoder_cycle(), the stall signal: the next cycles should retire nothing. */
#define NTRACE_ENCODER_STALL 1

/**
 * ntrace_encoder_cycle - all signals of one cycle (E-Trace, chapter 4)
 * @encoder: encoder set up by ntrace_encoder_init()
 * @cycle: the signals; with config.single_retire the groups are instructions
 *
 * Instructions and sideband take effect in their order within the cycle. A trace-off trigger takes
 * effect with the next cycle, unless that cycle has trace-on.
 *
 * Return: 0; NTRACE_ENCODER_STALL if config.stall is set and the queue has no room for a message of
 * the greatest length; NTRACE_ERR_INVALID for signals that the port cannot carry: a reserved itype,
 * priv or ctype, groups not used in order, a trap outside the newest group (nothing is changed
 * then).
 */
NTRACE_API int ntrace_encoder_cycle(struct ntrace_encoder *encoder,
				    const struct ntrace_ingress_cycle *cycle);

/**
 * ntrace_encoder_play - apply a record of an ingress file
 * @encoder: encoder set up by ntrace_encoder_init()
 * @record: a record of a file whose port the configuration describes
 *
 * Return: as ntrace_encoder_cycle(); NTRACE_ERR_INVALID also for an unknown type of record.
 */
NTRACE_API int ntrace_encoder_play(struct ntrace_encoder *encoder,
				   const struct ntrace_ingress_record *record);

#ifdef __cplusplus
}
#endif

#endif /* NTRACE_ENCODE_H */
