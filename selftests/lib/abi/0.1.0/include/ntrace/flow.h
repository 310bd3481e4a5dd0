/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Flow: from messages and images to what the hart executed (N-Trace 1.0
 * "decoding"). One walker for BTM and HTM.
 *
 * A flow decodes one SRC. It pushes events to the caller's callback in order:
 * blocks (contiguous instructions, ending at every control-transfer
 * instruction, taken or not, at a trap, or where the trace says so), and
 * everything that is no block: synchronization, traps, trace off, gaps, errors.
 * It never gives up: an error is an event, followed by a gap and, at the next
 * synchronizing message, by blocks again. Memory is bounded on any input.
 */
#ifndef NTRACE_FLOW_H
#define NTRACE_FLOW_H

#include <ntrace/context.h>
#include <ntrace/image.h>
#include <ntrace/wire.h>

#ifdef __cplusplus
extern "C" {
#endif

enum ntrace_flow_type {
	NTRACE_FLOW_BLOCK,	/* instructions were executed */
	NTRACE_FLOW_SYNC,	/* a message with SYNC: address, code = SYNC. space is the one that
				 * the flow goes on in */
	NTRACE_FLOW_TRAP,	/* exception or interrupt: address = handler, code = BTYPE, value =
				 * instruction that was next and did not retire, if next_known */
	NTRACE_FLOW_TRACE_OFF,	/* ProgTraceCorrelation: address = instruction that was next, if
				 * next_known, code = EVCODE. Not a loss */
	NTRACE_FLOW_OWNERSHIP,	/* value = PROCESS, context is what is known with it; address = next
				 * instruction, if next_known */
	NTRACE_FLOW_ERROR,	/* something does not fit: code = enum ntrace_flow_error, address =
				 * where the walk was, if next_known; value = offset of the last message whose
				 * I-CNT confirmed the walk, unless the code says otherwise */
	NTRACE_FLOW_GAP,	/* flow is unknown from here to the next SYNC, or, if only memory could
				 * not be read, to the next reported address; once per loss, the end
				 * of a TRACE_OFF is none. address = last known place, if next_known */
	NTRACE_FLOW_WARNING,	/* flow goes on: code = enum ntrace_flow_error, address as for ERROR */
	NTRACE_FLOW_CIRCUIT,	/* InCircuitTrace of SiFive: code = CKSRC, etype = CKDF; address = what
				 * the message reports, if next_known; value = see
				 * ntrace_flow_circuit_value(). Flow goes on */
	NTRACE_FLOW_DATA,	/* DataAcquisition of SiFive, a store to a stimulus register: address =
				 * IDTAG, value = DQDATA. Flow goes on */
};

enum ntrace_flow_error {
	NTRACE_FLOW_ERROR_NONE,
	NTRACE_FLOW_ERROR_WIRE,		/* reserved MSEO code */
	NTRACE_FLOW_ERROR_MESSAGE,	/* a mandatory field is missing or has a reserved value */
	NTRACE_FLOW_ERROR_LOST,		/* Error message of the encoder: value = ECODE, etype = ETYPE */
	NTRACE_FLOW_ERROR_NOMAP,	/* no memory known at address */
	NTRACE_FLOW_ERROR_BADINSN,	/* no instruction at address */
	NTRACE_FLOW_ERROR_SPLIT,	/* I-CNT ends inside the instruction at address */
	NTRACE_FLOW_ERROR_INDIRECT,	/* an uninferable transfer at address inside I-CNT */
	NTRACE_FLOW_ERROR_HISTORY,	/* history bits are left over, or HIST is 0 */
	NTRACE_FLOW_ERROR_NO_HISTORY,	/* no HIST bit says where the branch at address went */
	NTRACE_FLOW_ERROR_ICNT,		/* I-CNT is smaller than what was walked for HIST */
	NTRACE_FLOW_ERROR_REPEAT,	/* RepeatBranch without a branch before it */
	NTRACE_FLOW_ERROR_ADDRESS,	/* F-ADDR, in value, contradicts the walk to address */
	NTRACE_FLOW_ERROR_UNCERTAIN,	/* code that changed while it was traced (warning) */
	NTRACE_FLOW_ERROR_UNKNOWN,	/* unknown TCODE or RCODE (warning): value = it */
	NTRACE_FLOW_ERROR_CUT,		/* the stream is cut off */
	NTRACE_FLOW_ERROR_ENDLESS,	/* a loop without history or I-CNT */
	NTRACE_FLOW_ERROR_TRANSFER,	/* a transfer is reported where the code at address has none:
					 * an error for DirectBranch; else a warning, as it may be a
					 * custom instruction (value = where it went) */
	NTRACE_FLOW_ERROR_INFERRED,	/* a return was inferred although the encoder compares no whole
					 * address (trTeInstImplicitReturnMode 1 and 2), so that it may be
					 * wrong: once in a flow (warning) */
	NTRACE_FLOW_ERROR_SOURCE,	/* a message of a SRC that nobody decodes: once for each
					 * (warning): value = SRC */
	NTRACE_FLOW_ERROR_EXCESS,	/* a message tells of more code than the stream so far can
					 * stand for; value = what it says */
	NTRACE_FLOW_ERROR_TAIL,		/* the stream ends before it tells where the branch at
					 * address went: value = parcels that retired behind it */
	NTRACE_FLOW_ERROR_MISSING,	/* bytes of the stream are missing: ntrace_flow_break() */
	NTRACE_FLOW_ERROR_COUNT,
};

/**
 * struct ntrace_flow_event - one event
 * @type: enum ntrace_flow_type
 * @code: see the types
 * @insn_class: BLOCK: enum ntrace_insn_class of the last instruction
 * @taken: BLOCK: the last instruction transferred control
 * @interrupted: BLOCK: ended by a trap, trace off or sync, not by a transfer; next is the
 *               instruction that would have followed
 * @provisional: BLOCK: walked by HIST only so far; the next I-CNT confirms it
 * @last_size: BLOCK: bytes of the last instruction
 * @etype: ERROR with NTRACE_FLOW_ERROR_LOST: ETYPE; CIRCUIT: CKDF
 * @dialect: enum ntrace_dialect of the stream, which says what codes mean
 * @time_known: @time is that of the hart
 * @src: SRC of the messages, 0 where they have none
 * @instructions: BLOCK: number of instructions
 * @address: BLOCK: first instruction; others: see the types
 * @last: BLOCK: address of the last instruction
 * @next: BLOCK: where control went; only valid if next_known
 * @next_known: false where the target comes with a later event or never
 * @value: see the types
 * @offset: position in the stream of the message it comes from
 * @time: time stamp of that message, or of the last one before it that had one, in
 *        ticks of params.timestamp_hz and not wrapping round at params.timestamp_bits
 *        (N-Trace 1.0, "timestamps")
 * @context: what Ownership messages told of the hart; borrowed, never NULL
 * @space: space it was decoded against; borrowed
 * @isa: BLOCK: instruction set it was decoded with; borrowed
 *
 * A block is cut after 4096 instructions without a transfer.
 */
struct ntrace_flow_event {
	uint8_t type;
	uint8_t code;
	uint8_t insn_class;
	bool taken;
	bool interrupted;
	bool provisional;
	bool next_known;
	uint8_t last_size;
	uint8_t etype;
	uint8_t dialect;
	bool time_known;
	uint8_t reserved;
	uint16_t src;
	uint16_t reserved16;
	uint32_t instructions;
	uint64_t address;
	uint64_t last;
	uint64_t next;
	uint64_t value;
	uint64_t offset;
	uint64_t time;
	const struct ntrace_context *context;
	struct ntrace_space *space;
	const struct ntrace_isa *isa;
};

/*
 * Return of a callback: 0 = go on, anything else stops and is returned by
 * ntrace_flow_message(). What was left of the message is lost then: if more
 * messages follow, the flow begins again at the next sync.
 */
typedef int ntrace_flow_callback(void *data, const struct ntrace_flow_event *event);

/** enum ntrace_block_flag - bits of struct ntrace_block.flags, as in struct ntrace_flow_event */
enum ntrace_block_flag {
	NTRACE_BLOCK_TAKEN = 1,
	NTRACE_BLOCK_INTERRUPTED = 2,
	NTRACE_BLOCK_PROVISIONAL = 4,
	NTRACE_BLOCK_NEXT_KNOWN = 8,
};

/**
 * struct ntrace_block - one executed block, in short
 * @address: first instruction
 * @next: where control went; only valid with NTRACE_BLOCK_NEXT_KNOWN
 * @instructions: number of instructions
 * @bytes: their size
 * @id: of the code: the same number in the same flow is the same instructions at the same
 *      address, for what a caller keeps of them; 0 = none, if only a part of such a block was
 *      executed, or (after 2^32 - 1 of them) the numbers are used up. Small at first, growing
 * @insn_class: enum ntrace_insn_class of the last instruction
 * @last_size: bytes of the last instruction
 * @flags: enum ntrace_block_flag
 */
struct ntrace_block {
	uint64_t address;
	uint64_t next;
	uint32_t instructions;
	uint32_t bytes;
	uint32_t id;
	uint8_t insn_class;
	uint8_t last_size;
	uint8_t flags;
	uint8_t reserved;
};

/**
 * struct ntrace_block_batch - blocks that were executed one after the other
 * @blocks: in order; borrowed for the time of the call
 * @count: of them, not 0
 * @space: space they were all decoded against; borrowed
 * @isa: instruction set they were all decoded with; borrowed
 * @offset: position in the stream of the message that the first of them comes from
 * @time: as in struct ntrace_flow_event, the same for all
 * @time_known: @time is that of the hart
 * @src: SRC of the messages, 0 where they have none
 */
struct ntrace_block_batch {
	const struct ntrace_block *blocks;
	size_t count;
	struct ntrace_space *space;
	const struct ntrace_isa *isa;
	uint64_t offset;
	uint64_t time;
	bool time_known;
	uint8_t reserved[5];
	uint16_t src;
};

/* Return: as ntrace_flow_callback. */
typedef int ntrace_flow_blocks(void *data, const struct ntrace_block_batch *batch);

/**
 * Chooses the address space for an address about to be walked. Called at every
 * sync, trap, trap return, Ownership and at every block start that leaves the
 * present space's mappings, so that a session can follow processes; must not be
 * slow. ntrace_flow_context() says what Ownership messages told.
 * @reason: NTRACE_FLOW_SYNC, NTRACE_FLOW_TRAP, NTRACE_FLOW_OWNERSHIP or
 * NTRACE_FLOW_BLOCK (a block at @address is about to be walked after a trap return
 * or in unmapped memory)
 * @space: NULL before the call; a space that is borrowed until the next call, NULL = none
 * Return: as ntrace_flow_callback: not 0 stops.
 */
typedef int ntrace_flow_select(void *data, unsigned int reason, uint64_t address,
			       struct ntrace_space **space);

struct ntrace_flow;

/**
 * struct ntrace_flow_config - how to decode
 * @size: sizeof(struct ntrace_flow_config) of the caller
 * @params: stream parameters
 * @params: stream parameters, copied; NULL: those of ntrace_params_init()
 * @src: only messages with this SRC are taken (if @params has src_bits)
 * @event: called for every event
 * @select: chooses address spaces; may be NULL
 * @contexts: without @select: the registry that Ownership messages choose from; @space
 *            where it has none for a context. Borrowed for the life of the flow; NULL:
 *            @space is used always
 * @space: initial space; referenced by the flow
 * @data: passed to the callbacks
 * @blocks: gets the blocks, many at a time, which is faster; @event then gets all events
 *          but BLOCK. May be NULL. Blocks wait until there are 256 of them, space or
 *          instruction set changes, another event or a message other than a branch,
 *          RepeatBranch or ResourceFull without time stamp comes, or ntrace_flow_flush() or
 *          ntrace_flow_end() is called: the order of all events is kept, and mappings
 *          must not be changed while blocks wait
 */
struct ntrace_flow_config {
	size_t size;
	const struct ntrace_params *params;
	unsigned int src;
	ntrace_flow_callback *event;
	ntrace_flow_select *select;
	const struct ntrace_contexts *contexts;
	struct ntrace_space *space;
	void *data;
	ntrace_flow_blocks *blocks;
};

/** struct ntrace_flow_stats - totals so far */
struct ntrace_flow_stats {
	uint64_t messages;
	uint64_t blocks;
	uint64_t instructions;
	uint64_t syncs;
	uint64_t traps;
	uint64_t gaps;
	uint64_t errors;
	uint64_t warnings;
};

/**
 * ntrace_flow_new - a decoder of one SRC
 * @flow: the new flow, to be freed with ntrace_flow_free()
 * @config: copied
 *
 * Return: 0, NTRACE_ERR_INVALID (no event callback, parameters out of range, ISA
 * string wrong) or NTRACE_ERR_NOMEM.
 */
NTRACE_API int ntrace_flow_new(struct ntrace_flow **flow, const struct ntrace_flow_config *config);
NTRACE_API void ntrace_flow_free(struct ntrace_flow *flow);

/**
 * ntrace_flow_message - walk one message
 *
 * Takes time in proportion to what the message says was executed: at most 2^30
 * parcels, 2^20 repetitions, and, with all messages before it, 2^20 parcels for each byte
 * of the stream (a message with length 0 counts as 64 bytes). More is
 * NTRACE_FLOW_ERROR_EXCESS, and nothing of the excess is walked.
 *
 * Return: 0, what the callback returned if it was not 0, or NTRACE_ERR_NOMEM (what
 * was left of the message is lost then too). Errors of the stream are events, never
 * return values.
 */
NTRACE_API int ntrace_flow_message(struct ntrace_flow *flow, const struct ntrace_message *message);

/** ntrace_flow_wire_error - the reader met a reserved code at @offset: error, gap, resync */
NTRACE_API int ntrace_flow_wire_error(struct ntrace_flow *flow, uint64_t offset);

/**
 * ntrace_flow_break - bytes of the stream are missing at @offset: error, gap, resync
 *
 * For what ntrace_reader_break() is told, too. Return: as ntrace_flow_message().
 */
NTRACE_API int ntrace_flow_break(struct ntrace_flow *flow, uint64_t offset);

/**
 * ntrace_flow_end - no more input
 * @pending: bytes that are missing or left over: ntrace_reader_pending() of the reader;
 *           likewise what the caller knows to have come behind the last message
 *
 * Reports a block in progress, and if @pending is not 0 NTRACE_FLOW_ERROR_CUT.
 */
NTRACE_API int ntrace_flow_end(struct ntrace_flow *flow, uint64_t pending);

/**
 * ntrace_flow_flush - give the blocks that wait to the blocks callback
 *
 * To be called before mappings of a space are changed, and when blocks are wanted
 * though no more messages are there yet.
 * Return: 0 or what the callback returned: as for ntrace_flow_message().
 */
NTRACE_API int ntrace_flow_flush(struct ntrace_flow *flow);

/** ntrace_flow_get_stats - copy the totals, with blocks that wait */
NTRACE_API void ntrace_flow_get_stats(const struct ntrace_flow *flow,
				      struct ntrace_flow_stats *stats);

/**
 * ntrace_flow_context - what is known of the state of the hart
 *
 * As Ownership messages told it up to the present decode position; nothing is
 * known after a loss (N-Trace 1.0, Ownership).
 * Return: owned by the flow; changes with later messages.
 */
NTRACE_API const struct ntrace_context *ntrace_flow_context(const struct ntrace_flow *flow);

/**
 * ntrace_flow_describe - all that is to be said of an event, as one line of text
 * @event: an event, within its callback
 * @text: written as snprintf() does, always 0-terminated if @size is not 0
 * @size: bytes of @text
 *
 * What, why, offset, SRC, address with image and symbol (or the name of the range
 * that nothing is known of), address space, context, time.
 * Return: length of the whole text.
 */
NTRACE_API int ntrace_flow_describe(const struct ntrace_flow_event *event, char *text, size_t size);

/**
 * ntrace_flow_tail_instructions - what retired behind the end of the flow
 * @event: an ERROR with NTRACE_FLOW_ERROR_TAIL
 *
 * Return: instructions at least, as the longest one has two parcels.
 */
static inline uint64_t ntrace_flow_tail_instructions(const struct ntrace_flow_event *event)
{
	return event->value / 2 + event->value % 2;
}

/* What the value of an NTRACE_FLOW_CIRCUIT event is. */
enum ntrace_circuit_value {
	NTRACE_CIRCUIT_NONE,		/* there is none */
	NTRACE_CIRCUIT_CONTROL,		/* control word of the encoder */
	NTRACE_CIRCUIT_COUNTERS,	/* counters of 16 bits, the first in the lowest bits; those
					 * above 64 bits are not in the event, and warned of */
	NTRACE_CIRCUIT_DESTINATION,	/* address that the call at address went to, if next_known */
	NTRACE_CIRCUIT_TRIGGER,		/* id of the trigger */
	NTRACE_CIRCUIT_DATA,		/* CKDATA1 of a CKSRC whose meaning is not known */
};

/**
 * ntrace_flow_circuit_value - what the value of an event means
 * @event: an NTRACE_FLOW_CIRCUIT event
 *
 * As captures of SiFive version 0 encoders show.
 * Return: enum ntrace_circuit_value.
 */
NTRACE_API unsigned int ntrace_flow_circuit_value(const struct ntrace_flow_event *event);

/**
 * ntrace_flow_data_bytes - what was stored, as the program had it in memory
 * @event: an NTRACE_FLOW_DATA event
 * @bytes: room for 4 bytes
 *
 * The low two bits of IDTAG are the width of the store: 0 = 4 bytes, 2 = 2, 3 = 1, as captures of
 * the P550 show. IDTAG / 4 is the number of the stimulus register.
 * Return: bytes, lowest first; 0 if IDTAG or DQDATA is not that of such a store.
 */
NTRACE_API unsigned int ntrace_flow_data_bytes(const struct ntrace_flow_event *event,
					       uint8_t bytes[4]);

/** ntrace_flow_error_text - an English phrase for enum ntrace_flow_error */
NTRACE_API const char *ntrace_flow_error_text(unsigned int error);

/** ntrace_flow_type_name - "block", "sync", ... */
NTRACE_API const char *ntrace_flow_type_name(unsigned int type);

/**
 * ntrace_flow_instructions - call @callback for each instruction of a block
 * @event: a block event
 * @callback: gets address and instruction; not 0 stops
 * @data: for @callback
 *
 * To be called from within the event's callback, or as long as its space has
 * not changed since.
 * Return: 0, what @callback returned, NTRACE_ERR_INVALID if @event is no block,
 * or NTRACE_ERR_NOMAP.
 */
NTRACE_API int ntrace_flow_instructions(const struct ntrace_flow_event *event,
					int (*callback)(void *data, uint64_t address,
							const uint8_t *bytes,
							const struct ntrace_insn *insn),
					void *data);

/**
 * ntrace_block_instructions - call @callback for each instruction of a block of a batch
 * @batch: a batch, within its callback
 * @block: one of its blocks
 * @callback: gets address and instruction; not 0 stops
 * @data: for @callback
 *
 * Return: 0, what @callback returned, or NTRACE_ERR_NOMAP.
 */
NTRACE_API int
ntrace_block_instructions(const struct ntrace_block_batch *batch, const struct ntrace_block *block,
			  int (*callback)(void *data, uint64_t address, const uint8_t *bytes,
					  const struct ntrace_insn *insn),
			  void *data);

struct ntrace_demux;

/**
 * ntrace_demux_new - a decoder of all harts of one stream
 * @demux: the new one, to be freed with ntrace_demux_free()
 * @config: of the flows but for src, copied; events say their src. Its event
 *          callback also gets the warnings of NTRACE_FLOW_ERROR_SOURCE
 * @limit: flows at most, not 0; more harts than that are warned of once each and
 *         passed over, so that a damaged stream cannot make thousands
 *
 * Keeps the state of each SRC apart (N-Trace 1.0, Ownership). A flow is made for each SRC
 * that shows up, or before with ntrace_demux_add().
 * Return: 0, NTRACE_ERR_INVALID (as ntrace_flow_new()), NTRACE_ERR_NOMEM.
 */
NTRACE_API int ntrace_demux_new(struct ntrace_demux **demux,
				const struct ntrace_flow_config *config, unsigned int limit);

/** ntrace_demux_free - frees the flows too; NULL is allowed */
NTRACE_API void ntrace_demux_free(struct ntrace_demux *demux);

/**
 * ntrace_demux_add - the flow of one SRC
 * @demux: a demux
 * @src: its SRC
 * @config: how to decode it, copied, its src is not looked at; NULL = as the others
 *
 * Return: 0, NTRACE_ERR_INVALID (@src is too large or there already, other src_bits),
 * NTRACE_ERR_NOSPACE (@limit flows are there), NTRACE_ERR_NOMEM.
 */
NTRACE_API int ntrace_demux_add(struct ntrace_demux *demux, unsigned int src,
				const struct ntrace_flow_config *config);

/** ntrace_demux_flow - the flow of @src, owned by the demux; NULL if there is none */
NTRACE_API struct ntrace_flow *ntrace_demux_flow(const struct ntrace_demux *demux,
						 unsigned int src);

/**
 * ntrace_demux_message - give a message to the flow it is for
 *
 * One that is too short for a SRC goes to all, as an error of each.
 * Return: as ntrace_flow_message().
 */
NTRACE_API int ntrace_demux_message(struct ntrace_demux *demux,
				    const struct ntrace_message *message);

/** ntrace_demux_wire_error - ntrace_flow_wire_error() for each: anybody's message may be lost */
NTRACE_API int ntrace_demux_wire_error(struct ntrace_demux *demux, uint64_t offset);

/** ntrace_demux_break - ntrace_flow_break() for each: the missing bytes may be anybody's */
NTRACE_API int ntrace_demux_break(struct ntrace_demux *demux, uint64_t offset);

/** ntrace_demux_flush - ntrace_flow_flush() for each */
NTRACE_API int ntrace_demux_flush(struct ntrace_demux *demux);

/** ntrace_demux_end - ntrace_flow_end() for each */
NTRACE_API int ntrace_demux_end(struct ntrace_demux *demux, uint64_t pending);

#ifdef __cplusplus
}
#endif

#endif /* NTRACE_FLOW_H */
