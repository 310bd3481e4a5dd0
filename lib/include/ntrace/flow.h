/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Flow: from messages and images to the instructions that the hart executed (N-Trace 1.0
 * "decoding"). BTM and HTM share one walker.
 *
 * A flow decodes one SRC. The caller reads messages and feeds them one by one; the flow reads the code
 * from an address space that the caller chooses (select). It passes events to the caller's callback
 * in order: blocks (contiguous instructions, ending at every control-transfer instruction, taken or
 * not, at a trap, or where the trace ends a block), and all other events: synchronization, traps,
 * trace off, gaps, errors. Blocks also come in batches, and those of messages that ntrace_flow_count()
 * found known as effects: sums of their executions.
 *
 * A flow never gives up: an error is an event, followed by a gap and, from the next synchronizing
 * message on, by blocks again. Memory is bounded on any input.
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
	NTRACE_FLOW_SYNC,	/* a message with SYNC: address, code = SYNC. space is the
				 * address space from here on */
	NTRACE_FLOW_TRAP,	/* exception or interrupt: address = handler, code = BTYPE, value
				 * = the next instruction, which did not retire, if next_known */
	NTRACE_FLOW_TRACE_OFF,	/* ProgTraceCorrelation: address = the next instruction, if
				 * next_known, code = EVCODE. Not a loss */
	NTRACE_FLOW_OWNERSHIP,	/* value = PROCESS, context includes this message; address = next
				 * instruction, if next_known */
	NTRACE_FLOW_ERROR,	/* a contradiction: code = enum ntrace_flow_error, address =
				 * current place of the walk, if next_known; value = offset of
				 * the last message whose I-CNT confirmed the walk, unless the
				 * error code defines another value */
	NTRACE_FLOW_GAP,	/* flow is unknown from here to the next SYNC, or, if only memory
				 * was unreadable, to the next reported address; once per loss.
				 * The end of a TRACE_OFF is no gap. address = last known place,
				 * if next_known */
	NTRACE_FLOW_WARNING,	/* code = enum ntrace_flow_error, address as for ERROR. Decoding
				 * continues */
	NTRACE_FLOW_CIRCUIT,	/* InCircuitTrace of SiFive: code = CKSRC, etype = CKDF; address
				 * = the reported address, if next_known; value: see
				 * ntrace_flow_circuit_value(). A sync that samples the PC is told
				 * like InCircuitTrace that does. Decoding continues */
	NTRACE_FLOW_DATA,	/* DataAcquisition, with SiFive's a store to a stimulus register:
				 * address = IDTAG, value = DQDATA. Decoding continues */
};

enum ntrace_flow_error {
	NTRACE_FLOW_ERROR_NONE,
	NTRACE_FLOW_ERROR_WIRE,		/* reserved MSEO code */
	NTRACE_FLOW_ERROR_MESSAGE,	/* a mandatory field is missing or has a reserved value */
	NTRACE_FLOW_ERROR_LOST,		/* Error message of the encoder: value = ECODE, etype =
					 * ETYPE */
	NTRACE_FLOW_ERROR_NOMAP,	/* no memory known at address */
	NTRACE_FLOW_ERROR_BADINSN,	/* no instruction at address */
	NTRACE_FLOW_ERROR_SPLIT,	/* I-CNT ends inside the instruction at address */
	NTRACE_FLOW_ERROR_INDIRECT,	/* an uninferable transfer at address inside I-CNT */
	NTRACE_FLOW_ERROR_HISTORY,	/* unused history bits, or HIST is 0 */
	NTRACE_FLOW_ERROR_NO_HISTORY,	/* no HIST bit for the branch at address */
	NTRACE_FLOW_ERROR_ICNT,		/* I-CNT is smaller than the walk for HIST */
	NTRACE_FLOW_ERROR_REPEAT,	/* RepeatBranch without a branch before it */
	NTRACE_FLOW_ERROR_ADDRESS,	/* F-ADDR, in value, contradicts the walk to address */
	NTRACE_FLOW_ERROR_UNCERTAIN,	/* code changed while it was traced (warning) */
	NTRACE_FLOW_ERROR_UNKNOWN,	/* unknown TCODE or RCODE, in value (warning) */
	NTRACE_FLOW_ERROR_CUT,		/* the stream is truncated */
	NTRACE_FLOW_ERROR_ENDLESS,	/* a loop without history or I-CNT */
	NTRACE_FLOW_ERROR_TRANSFER,	/* the message reports a transfer, but the code at
					 * address has none: an error for DirectBranch; else a
					 * warning, since the instruction may be a custom one
					 * (value = target) */
	NTRACE_FLOW_ERROR_INFERRED,	/* a return was inferred although the encoder compares no
					 * whole address (trTeInstImplicitReturnMode 1 and 2), so
					 * the return address may be wrong: once per flow
					 * (warning) */
	NTRACE_FLOW_ERROR_SOURCE,	/* a message of a SRC without a decoder: once per SRC
					 * (warning): value = SRC */
	NTRACE_FLOW_ERROR_EXCESS,	/* a message reports more code than the stream so far can
					 * encode; value = reported amount */
	NTRACE_FLOW_ERROR_TAIL,		/* the stream ends before it reports the target of the
					 * branch at address: value = parcels that retired after
					 * the branch */
	NTRACE_FLOW_ERROR_MISSING,	/* bytes of the stream are missing: ntrace_flow_break() */
	NTRACE_FLOW_ERROR_TABLE,	/* the target of the CM.JT or CM.JALT at address: its jump
					 * table is not known, or not in memory */
	NTRACE_FLOW_ERROR_COUNT,
};

/**
 * struct ntrace_flow_event - one event
 * @type: enum ntrace_flow_type
 * @code: see enum ntrace_flow_type
 * @insn_class: BLOCK: enum ntrace_insn_class of the last instruction
 * @taken: BLOCK: the last instruction transferred control
 * @interrupted: BLOCK: ended by a trap, trace off or sync, not by a transfer; next is the
 *               instruction that would have followed
 * @provisional: BLOCK: walked by HIST only so far; the next I-CNT must confirm it
 * @last_size: BLOCK: bytes of the last instruction
 * @etype: ERROR with NTRACE_FLOW_ERROR_LOST: ETYPE; CIRCUIT: CKDF
 * @dialect: enum ntrace_dialect of the stream; defines the meaning of codes
 * @time_known: @time is a time of the hart
 * @reserved: 0
 * @src: SRC of the messages; 0 if they have none, or any
 * @reserved16: 0
 * @instructions: BLOCK: number of instructions
 * @address: BLOCK: first instruction; others: see enum ntrace_flow_type
 * @last: BLOCK: address of the last instruction
 * @next: BLOCK: target or next instruction; only valid if next_known
 * @next_known: false if a later event or no event supplies the target
 * @value: see enum ntrace_flow_type
 * @offset: position in the stream of the message that caused the event; of Ownership that takes effect
 *          after code that is not known yet, the message that reports this code
 * @time: timestamp of that message, or else the last earlier timestamp, in ticks of
 *        params.timestamp_hz, extended so that it does not wrap at params.timestamp_bits (N-Trace
 *        1.0, "timestamps")
 * @context: state of the hart by Ownership messages; borrowed, never NULL
 * @space: space used for decoding; borrowed
 * @isa: BLOCK: instruction set used for decoding; borrowed
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

/**
 * typedef ntrace_flow_callback - receives the events of a flow
 * @data: the data of struct ntrace_flow_config
 * @event: the event; borrowed during the call
 *
 * After a nonzero result the rest of the message is lost: if more messages follow, the flow resumes
 * at the next sync.
 *
 * Return: 0 to continue; any other value stops decoding, and ntrace_flow_message() returns it.
 */
typedef int ntrace_flow_callback(void *data, const struct ntrace_flow_event *event);

/**
 * enum ntrace_block_flag - bits of struct ntrace_block.flags, as in struct ntrace_flow_event
 * @NTRACE_BLOCK_TAKEN: the last instruction transferred control
 * @NTRACE_BLOCK_INTERRUPTED: ended by a trap, trace off or sync, not by a transfer
 * @NTRACE_BLOCK_PROVISIONAL: walked by HIST only so far; the next I-CNT must confirm it
 * @NTRACE_BLOCK_NEXT_KNOWN: the next address is valid
 */
enum ntrace_block_flag {
	NTRACE_BLOCK_TAKEN = 1,
	NTRACE_BLOCK_INTERRUPTED = 2,
	NTRACE_BLOCK_PROVISIONAL = 4,
	NTRACE_BLOCK_NEXT_KNOWN = 8,
};

/**
 * struct ntrace_block - one executed block, short form
 * @address: first instruction
 * @next: target or next instruction; only valid with NTRACE_BLOCK_NEXT_KNOWN
 * @instructions: number of instructions
 * @bytes: their size
 * @id: identifies the code: within a flow, equal ids mean the same instructions at the same
 *      address, so that a caller can cache data by id. 0 = no id: only a part of a block was
 *      executed, or all 2^32 - 1 ids are in use. Ids are small numbers assigned in ascending order
 * @insn_class: enum ntrace_insn_class of the last instruction
 * @last_size: bytes of the last instruction
 * @flags: enum ntrace_block_flag
 * @reserved: 0
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
 * struct ntrace_block_batch - blocks executed one after the other
 * @blocks: in order; borrowed during the call
 * @count: number of blocks, not 0
 * @space: space of all the blocks; borrowed
 * @isa: instruction set of all the blocks; borrowed
 * @offset: position in the stream of the first block's message
 * @time: as in struct ntrace_flow_event, the same for all blocks
 * @time_known: @time is a time of the hart
 * @watched: the last block starts at a watched address, see struct ntrace_flow_config
 * @reserved: 0
 * @src: as in struct ntrace_flow_event
 */
struct ntrace_block_batch {
	const struct ntrace_block *blocks;
	size_t count;
	struct ntrace_space *space;
	const struct ntrace_isa *isa;
	uint64_t offset;
	uint64_t time;
	bool time_known;
	bool watched;
	uint8_t reserved[4];
	uint16_t src;
};

/**
 * typedef ntrace_flow_blocks - receives blocks in batches
 * @data: the data of struct ntrace_flow_config
 * @batch: the blocks; borrowed during the call
 *
 * Return: as ntrace_flow_callback.
 */
typedef int ntrace_flow_blocks(void *data, const struct ntrace_block_batch *batch);

/**
 * struct ntrace_flow_effect - blocks that were executed a number of times
 * @batch: the blocks; borrowed during the call. time is not known, offset is that of a later message
 * @lead: number of blocks at the start of @batch that are not counted here: they led to the other
 *        blocks, or if there are no others to the next block. The first one transferred control;
 *        the others are the straight run from its target on. 0: a trap led to the blocks
 * @times: number of executions of the blocks after @lead; 0: there are none
 *
 * The executions are those since the last effect with the same blocks, in any order. An effect
 * with @times 0 is in order with batches and events: the next block follows those of @lead, which
 * have been counted.
 */
struct ntrace_flow_effect {
	const struct ntrace_block_batch *batch;
	size_t lead;
	uint64_t times;
};

/**
 * typedef ntrace_flow_effects - receives effects
 * @data: the data of struct ntrace_flow_config
 * @effect: the effect; borrowed during the call
 *
 * Return: 0 to continue; any other value stops decoding: the function of the flow returns it.
 */
typedef int ntrace_flow_effects(void *data, const struct ntrace_flow_effect *effect);

struct ntrace_flow_run;

/**
 * typedef ntrace_flow_runs - receives the order of counted messages; see <ntrace/runs.h>
 * @data: the data of struct ntrace_flow_config
 * @run: the run; borrowed during the call
 *
 * Return: as ntrace_flow_effects.
 */
typedef int ntrace_flow_runs(void *data, const struct ntrace_flow_run *run);

/**
 * typedef ntrace_flow_select - chooses the address space for the next address to walk
 * @data: the data of struct ntrace_flow_config
 * @reason: NTRACE_FLOW_SYNC, NTRACE_FLOW_TRAP, NTRACE_FLOW_OWNERSHIP or NTRACE_FLOW_BLOCK (a block
 *          at @address is about to be walked after a trap return or in unmapped memory)
 * @address: the next address
 * @space: NULL before the call; to be set to a space that is borrowed until the next call, NULL =
 *         none
 *
 * Called at every sync, trap, trap return and Ownership and at every block that starts outside the
 * current space's mappings, so that a session can follow processes; must be fast.
 * ntrace_flow_context() gives the state set by Ownership messages.
 *
 * Return: as ntrace_flow_callback: not 0 stops.
 */
typedef int ntrace_flow_select(void *data, unsigned int reason, uint64_t address,
			       struct ntrace_space **space);

struct ntrace_flow;

/**
 * struct ntrace_flow_config - configuration of a flow
 * @size: sizeof(struct ntrace_flow_config) of the caller
 * @params: stream parameters, copied; NULL: those of ntrace_params_init()
 * @src: the flow takes only messages with this SRC (if @params has src_bits)
 * @event: called for every event
 * @select: chooses address spaces; may be NULL
 * @contexts: without @select: the registry that Ownership messages choose from; contexts without an
 *            entry use @space. Borrowed for the life of the flow; NULL: always @space
 * @space: initial space; referenced by the flow
 * @data: passed to the callbacks
 * @blocks: receives the blocks in batches, which is faster; @event then receives all events but
 *          BLOCK. May be NULL. A batch is delivered when it has 256 blocks, before the space or the
 *          instruction set changes, before any other event, at a message other than a branch,
 *          RepeatBranch or ResourceFull without timestamp, after the first message with blocks of a
 *          new time, after a block that starts at a watched address, and by ntrace_flow_flush() and
 *          ntrace_flow_end(). So the order of all events is kept. The caller must not change
 *          mappings while blocks wait
 * @watch: addresses to watch, with @blocks: a batch ends after a block that starts at one of them.
 *         Borrowed for the life of the flow; they cost nothing for other blocks. A callback may
 *         change them: new ones are watched from the first time that code there is read
 * @watch_count: number of addresses in @watch
 * @effect: receives what ntrace_flow_count() counts; needs @blocks. May be NULL
 * @run: receives the same in order, before any other callback; needs @blocks. May be NULL
 * @borders: with @run: addresses at which another privilege begins, ascending. No run contains blocks
 *           from both sides of one. Borrowed for the life of the flow
 * @border_count: number of addresses in @borders
 * @remember: with @blocks and without @effect and @run: ntrace_flow_count() takes the messages that it
 *            knows, and their blocks come in batches, too, in order. A batch then has more than 256
 *            blocks if one message has
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
	const uint64_t *watch;
	size_t watch_count;
	ntrace_flow_effects *effect;
	ntrace_flow_runs *run;
	const uint64_t *borders;
	size_t border_count;
	bool remember;
};

/**
 * struct ntrace_flow_stats - totals so far
 * @messages: messages of the SRC
 * @blocks: blocks walked, those in waiting batches included
 * @instructions: instructions of these blocks
 * @syncs: NTRACE_FLOW_SYNC events
 * @traps: NTRACE_FLOW_TRAP events
 * @gaps: NTRACE_FLOW_GAP events
 * @errors: NTRACE_FLOW_ERROR events
 * @warnings: NTRACE_FLOW_WARNING events
 */
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
 * Return: 0, NTRACE_ERR_INVALID (no event callback, parameters out of range, ISA string wrong) or
 * NTRACE_ERR_NOMEM.
 */
NTRACE_API int ntrace_flow_new(struct ntrace_flow **flow, const struct ntrace_flow_config *config);

/**
 * ntrace_flow_free - free a flow and release its space; waiting blocks are not delivered
 * @flow: flow made by ntrace_flow_new(); NULL is allowed
 */
NTRACE_API void ntrace_flow_free(struct ntrace_flow *flow);

/**
 * ntrace_flow_message - decode one message
 * @flow: flow made by ntrace_flow_new()
 * @message: the next message of the stream; messages of another SRC are ignored
 *
 * The time is proportional to the code that the message reports, which is passed to the callback
 * on the way: a callback that stops bounds it further. No message of an encoder reports more than
 * the limits: together with all earlier messages 2^29 parcels for each byte of the stream (I-CNT of
 * 32 bits in 8 bytes), RepeatBranch 2^38 parcels for each of its own bytes (B-CNT of 18 bits and
 * I-CNT of 22 bits for 4 bytes), and 2^24 repetitions. A message with length 0 counts as 64 bytes.
 * A message over a limit gives NTRACE_FLOW_ERROR_EXCESS, and the excess is not walked.
 *
 * Return: 0, the callback's result if not 0, or NTRACE_ERR_NOMEM (the rest of the message is lost
 * then too). Errors of the stream are events, never return values.
 */
NTRACE_API int ntrace_flow_message(struct ntrace_flow *flow, const struct ntrace_message *message);

/**
 * ntrace_flow_count - count the next messages of a chunk
 * @flow: flow made by ntrace_flow_new() with a callback for effects or runs, or with remember
 * @reader: a reader with a chunk; reads the stream of @flow with the same parameters
 *
 * Takes messages from @reader as long as the flow knows their effects: what it does when the same
 * message comes again at the same place. They are not walked; the effect callback receives the sums
 * later: before code changes, when memory is needed for other effects, and by ntrace_flow_flush()
 * and ntrace_flow_end(). Call it before each ntrace_reader_next(), and pass the message read then to
 * ntrace_flow_message(), which remembers its effect. Memory is bounded.
 *
 * All blocks are counted exactly once, either as blocks or in an effect. Messages with a timestamp
 * are never counted. With remember, all come as blocks.
 *
 * Return: 0 or what a callback returned, which stops decoding as for ntrace_flow_message(). A callback
 * that another function of the flow calls returns its result through that function.
 */
NTRACE_EXPERIMENTAL int ntrace_flow_count(struct ntrace_flow *flow, struct ntrace_reader *reader);

/**
 * ntrace_flow_wire_error - report a reserved MSEO code found by the reader: error, gap, resync
 * @flow: flow made by ntrace_flow_new()
 * @offset: position of the code in the stream: offset of the reader's NTRACE_WIRE_ERROR
 *
 * Return: as ntrace_flow_message().
 */
NTRACE_API int ntrace_flow_wire_error(struct ntrace_flow *flow, uint64_t offset);

/**
 * ntrace_flow_break - report missing bytes of the stream: error, gap, resync
 * @flow: flow made by ntrace_flow_new()
 * @offset: position in the stream at which the bytes are missing
 *
 * Call it together with ntrace_reader_break().
 *
 * Return: as ntrace_flow_message().
 */
NTRACE_API int ntrace_flow_break(struct ntrace_flow *flow, uint64_t offset);

/**
 * ntrace_flow_end - no more input
 * @flow: flow made by ntrace_flow_new()
 * @pending: number of missing or unused bytes: ntrace_reader_pending() of the reader, plus bytes
 *           that the caller knows to follow the last message
 *
 * Reports a block in progress, and if @pending is not 0 NTRACE_FLOW_ERROR_CUT.
 *
 * Return: as ntrace_flow_message().
 */
NTRACE_API int ntrace_flow_end(struct ntrace_flow *flow, uint64_t pending);

/**
 * ntrace_flow_flush - pass the waiting blocks to the blocks callback
 * @flow: flow made by ntrace_flow_new()
 *
 * Call it before changing mappings of a space, and to receive blocks and effects before more
 * messages arrive.
 *
 * Return: 0 or what the callback returned: as for ntrace_flow_message().
 */
NTRACE_API int ntrace_flow_flush(struct ntrace_flow *flow);

/**
 * ntrace_flow_get_stats - copy the totals, waiting blocks included
 * @flow: flow made by ntrace_flow_new()
 * @stats: filled in
 */
NTRACE_API void ntrace_flow_get_stats(const struct ntrace_flow *flow,
				      struct ntrace_flow_stats *stats);

/**
 * ntrace_flow_separate - the next block does not continue the earlier ones
 * @flow: flow made by ntrace_flow_new()
 *
 * Call it within the callback for blocks or for an event after which the caller attributes blocks to
 * another thread. Then ntrace_flow_count() counts nothing before the next transfer of control, and
 * no effect has a lead from before.
 */
NTRACE_EXPERIMENTAL void ntrace_flow_separate(struct ntrace_flow *flow);

/**
 * ntrace_flow_context - the known state of the hart
 * @flow: flow made by ntrace_flow_new()
 *
 * The state set by Ownership messages up to the current position; after a loss the state is unknown
 * (N-Trace 1.0, Ownership).
 *
 * Return: owned by the flow; changes with later messages.
 */
NTRACE_API const struct ntrace_context *ntrace_flow_context(const struct ntrace_flow *flow);

/* More ranges of uncertain code than this have no single warning each. */
#define NTRACE_FLOW_WARNED_MAX 256

/**
 * enum ntrace_flow_state_flag - bits of struct ntrace_flow_state.flags
 * @NTRACE_FLOW_STATE_TIME: the time is known
 * @NTRACE_FLOW_STATE_STAMPED: no block has had this time yet
 * @NTRACE_FLOW_STATE_INFERRED: the warning NTRACE_FLOW_ERROR_INFERRED was given
 * @NTRACE_FLOW_STATE_HISTORY: the last message of one mode was of HTM
 * @NTRACE_FLOW_STATE_MODE: a message has shown the mode
 * @NTRACE_FLOW_STATE_OWNER_DUE: an Ownership message that follows reports the whole context
 * @NTRACE_FLOW_STATE_OWNER_CONTEXT: PROCESS is a context, as NTRACE_OWNER_CONTEXT
 * @NTRACE_FLOW_STATE_OWNER_OPEN: an Ownership message may change that
 */
enum ntrace_flow_state_flag {
	NTRACE_FLOW_STATE_TIME = 1,
	NTRACE_FLOW_STATE_STAMPED = 2,
	NTRACE_FLOW_STATE_INFERRED = 4,
	NTRACE_FLOW_STATE_HISTORY = 8,
	NTRACE_FLOW_STATE_MODE = 16,
	NTRACE_FLOW_STATE_OWNER_DUE = 32,
	NTRACE_FLOW_STATE_OWNER_CONTEXT = 64,
	NTRACE_FLOW_STATE_OWNER_OPEN = 128,
};

/**
 * struct ntrace_flow_state - what a flow knows directly after a message with SYNC
 * @size: sizeof(struct ntrace_flow_state) of the caller
 * @offset: position of the message in the stream
 * @address: the next instruction
 * @time: last timestamp, if known; else base of later ones
 * @credit: parcels that the bytes so far can still encode, see ntrace_flow_message()
 * @flags: enum ntrace_flow_state_flag
 * @warned_count: number of entries in @warned
 * @context: state set by Ownership messages
 * @warned: an address in each range of uncertain code whose warning was given
 */
struct ntrace_flow_state {
	size_t size;
	uint64_t offset;
	uint64_t address;
	uint64_t time;
	uint64_t credit;
	uint32_t flags;
	uint32_t warned_count;
	struct ntrace_context context;
	uint64_t warned[NTRACE_FLOW_WARNED_MAX];
};

/**
 * ntrace_flow_get_state - the state of a flow directly after a message with SYNC
 * @flow: flow made by ntrace_flow_new()
 * @state: with @size set by the caller; filled in if the result is 0
 *
 * Call it between two messages, after ntrace_flow_flush().
 *
 * Return: 0, NTRACE_ERR_AGAIN (the state is not small here: the last message has no SYNC, the return
 * stack is kept at a marker, or the flow is lost), NTRACE_ERR_INVALID.
 */
NTRACE_EXPERIMENTAL int ntrace_flow_get_state(const struct ntrace_flow *flow,
					      struct ntrace_flow_state *state);

/**
 * ntrace_flow_set_state - let a new flow continue where another one was
 * @flow: flow made by ntrace_flow_new() with the configuration of the other flow, without messages
 *        so far
 * @state: state of the other flow; copied
 * @space: space of the other flow at that place, or an equal one; NULL = none. Referenced
 *
 * The messages after the one at @state.offset then give the events that the other flow had for
 * them. Statistics begin with 0, and ids of blocks differ.
 *
 * Return: 0, NTRACE_ERR_INVALID.
 */
NTRACE_EXPERIMENTAL int ntrace_flow_set_state(struct ntrace_flow *flow,
					      const struct ntrace_flow_state *state,
					      struct ntrace_space *space);

/**
 * ntrace_flow_describe - describe an event in one line of text
 * @event: an event, within its callback
 * @text: room for @size bytes, written as snprintf() does, always 0-terminated if @size is not 0
 * @size: bytes of @text
 *
 * Names the event, its reason, offset, SRC, address with image and symbol (or the name of an
 * unknown range), address space, context and time.
 *
 * Return: length of the whole text.
 */
NTRACE_API int ntrace_flow_describe(const struct ntrace_flow_event *event, char *text, size_t size);

/**
 * ntrace_flow_tail_instructions - instructions retired after the end of the flow
 * @event: an ERROR with NTRACE_FLOW_ERROR_TAIL
 *
 * Return: a lower bound, since the longest instruction has two parcels.
 */
static inline uint64_t ntrace_flow_tail_instructions(const struct ntrace_flow_event *event)
{
	return event->value / 2 + event->value % 2;
}

/* Meaning of the value of an NTRACE_FLOW_CIRCUIT event. */
enum ntrace_circuit_value {
	NTRACE_CIRCUIT_NONE,		/* no value */
	NTRACE_CIRCUIT_CONTROL,		/* control word of the encoder */
	NTRACE_CIRCUIT_COUNTERS,	/* 16-bit counters, the first in the lowest bits;
					 * counters above bit 63 are left out of the event, with
					 * a warning */
	NTRACE_CIRCUIT_DESTINATION,	/* target of the call at address, if next_known */
	NTRACE_CIRCUIT_TRIGGER,		/* id of the trigger */
	NTRACE_CIRCUIT_DATA,		/* CKDATA1 of an unknown CKSRC */
};

/**
 * ntrace_flow_circuit_value - meaning of the value of an event
 * @event: an NTRACE_FLOW_CIRCUIT event
 *
 * The meanings are taken from captures of SiFive version 0 encoders.
 *
 * Return: enum ntrace_circuit_value.
 */
NTRACE_API unsigned int ntrace_flow_circuit_value(const struct ntrace_flow_event *event);

/**
 * ntrace_flow_data_bytes - the stored bytes, in the program's memory order
 * @event: an NTRACE_FLOW_DATA event
 * @bytes: room for 4 bytes
 *
 * The low two bits of IDTAG are the width of the store: 0 = 4 bytes, 2 = 2, 3 = 1, as captures of
 * the P550 show. IDTAG / 4 is the number of the stimulus register.
 *
 * Return: bytes, lowest first; 0 if IDTAG or DQDATA does not describe such a store.
 */
NTRACE_API unsigned int ntrace_flow_data_bytes(const struct ntrace_flow_event *event,
					       uint8_t bytes[4]);

/**
 * ntrace_flow_error_text - an English phrase for an error
 * @error: enum ntrace_flow_error
 *
 * Return: static string, "?" for any other value.
 */
NTRACE_API const char *ntrace_flow_error_text(unsigned int error);

/**
 * ntrace_flow_type_name - name of a type of events
 * @type: enum ntrace_flow_type
 *
 * Return: "block", "sync" and so on, "?" for any other value; a static string.
 */
NTRACE_API const char *ntrace_flow_type_name(unsigned int type);

/**
 * ntrace_flow_instructions - call @callback for each instruction of a block
 * @event: a block event
 * @callback: called with address and instruction; a nonzero result stops
 * @data: passed to @callback
 *
 * Call it from the event's callback, or later as long as the event's space is unchanged.
 *
 * Return: 0, what @callback returned, NTRACE_ERR_INVALID if @event is no block, or
 * NTRACE_ERR_NOMAP.
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
 * @callback: called with address and instruction; a nonzero result stops
 * @data: passed to @callback
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
 * @demux: the new demux, to be freed with ntrace_demux_free()
 * @config: configuration of the flows, except src; copied. Each event carries its src. The event
 *          callback also receives warnings with NTRACE_FLOW_ERROR_SOURCE
 * @limit: maximum number of flows, not 0. Each further SRC gives one warning and is ignored, so
 *         that a damaged stream cannot create thousands of flows
 *
 * Keeps separate state for each SRC (N-Trace 1.0, Ownership). The demux creates the flow of a SRC
 * at its first message; ntrace_demux_add() creates it earlier.
 *
 * Return: 0, NTRACE_ERR_INVALID (as ntrace_flow_new()), NTRACE_ERR_NOMEM.
 */
NTRACE_API int ntrace_demux_new(struct ntrace_demux **demux,
				const struct ntrace_flow_config *config, unsigned int limit);

/**
 * ntrace_demux_free - free a demux and all its flows
 * @demux: demux made by ntrace_demux_new(); NULL is allowed
 */
NTRACE_API void ntrace_demux_free(struct ntrace_demux *demux);

/**
 * ntrace_demux_add - create the flow of one SRC
 * @demux: demux made by ntrace_demux_new()
 * @src: its SRC
 * @config: configuration, copied, src is ignored; NULL = the configuration of the other flows
 *
 * Return: 0, NTRACE_ERR_INVALID (@src is too large or already exists, other src_bits),
 * NTRACE_ERR_NOSPACE (@limit flows exist), NTRACE_ERR_NOMEM.
 */
NTRACE_API int ntrace_demux_add(struct ntrace_demux *demux, unsigned int src,
				const struct ntrace_flow_config *config);

/**
 * ntrace_demux_flow - the flow of one SRC
 * @demux: demux made by ntrace_demux_new()
 * @src: the SRC; 0 if the messages have none
 *
 * Return: flow owned by the demux; NULL if there is none.
 */
NTRACE_API struct ntrace_flow *ntrace_demux_flow(const struct ntrace_demux *demux,
						 unsigned int src);

/**
 * ntrace_demux_message - pass a message to the flow of its SRC
 * @demux: demux made by ntrace_demux_new()
 * @message: the next message of the stream
 *
 * A message too short for a SRC goes to all flows, as an error in each.
 *
 * Return: as ntrace_flow_message(); also an error of ntrace_demux_add(), except NTRACE_ERR_NOSPACE.
 */
NTRACE_API int ntrace_demux_message(struct ntrace_demux *demux,
				    const struct ntrace_message *message);

/**
 * ntrace_demux_wire_error - ntrace_flow_wire_error() for each flow
 * @demux: demux made by ntrace_demux_new()
 * @offset: as for ntrace_flow_wire_error()
 *
 * Any of the flows may have lost a message.
 *
 * Return: as ntrace_flow_message(); a nonzero result of a flow leaves out the flows after it.
 */
NTRACE_API int ntrace_demux_wire_error(struct ntrace_demux *demux, uint64_t offset);

/**
 * ntrace_demux_break - ntrace_flow_break() for each flow
 * @demux: demux made by ntrace_demux_new()
 * @offset: as for ntrace_flow_break()
 *
 * Any of the flows may have lost bytes.
 *
 * Return: as ntrace_flow_message(); a nonzero result of a flow leaves out the flows after it.
 */
NTRACE_API int ntrace_demux_break(struct ntrace_demux *demux, uint64_t offset);

/**
 * ntrace_demux_flush - ntrace_flow_flush() for each flow
 * @demux: demux made by ntrace_demux_new()
 *
 * Return: as ntrace_flow_message(); a nonzero result of a flow leaves out the flows after it.
 */
NTRACE_API int ntrace_demux_flush(struct ntrace_demux *demux);

/**
 * ntrace_demux_end - ntrace_flow_end() for each flow
 * @demux: demux made by ntrace_demux_new()
 * @pending: as for ntrace_flow_end(); passed to each flow
 *
 * Return: as ntrace_flow_message(); a nonzero result of a flow leaves out the flows after it.
 */
NTRACE_API int ntrace_demux_end(struct ntrace_demux *demux, uint64_t pending);

#ifdef __cplusplus
}
#endif

#endif /* NTRACE_FLOW_H */
