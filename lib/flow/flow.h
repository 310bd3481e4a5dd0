/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Flow: from messages and code to the instructions that a hart executed.
 *
 * A message reports how many 16-bit parcels were executed since the last one (I-CNT), the outcomes
 * of their branches (HIST; in BTM, a message of its own for each taken branch), and the address that
 * the code does not contain. The code has the rest. So a message is a stretch of code that begins
 * where the last one ended, and the flow walks it block by block; a block is the code up to and with
 * the next transfer of control. What a message does depends only on its bytes and on where it
 * begins. So a message that comes there again has the same effect, which is remembered and counted.
 *
 *   bytes of a message ---- ntrace_reader_next() ----> ntrace_flow_message()
 *        | ntrace_flow_count()  ^                            |
 *        v                      | no                         v
 *   count.c: is its effect here known?                  flow.c: which stretch? (struct walk)
 *        | yes                                               |
 *        v                                              walk.c: block after block
 *   effects.c: counts it,       the second time           |  state.c: in which address space?
 *   in order if wanted    <---------------------------    |  blocks.c: reads each block once
 *        |                                            |   |  step.h: where is the next one?
 *        |                                            |   |  fast.c: many, while they are linked
 *        |                                            |   v
 *        |                                            +-- blocks in a batch, other events
 *        v                                                   |
 *   effect or run callback, or blocks again             blocks callback, event callback
 *
 *	place		where the flow stands between two messages: the next block, and those since the last transfer
 *	effect		what a message does at a place: its blocks, the next place, changes of the return stack
 *	lead		of an effect: the blocks from the last transfer to its first block, passed on before it
 *	step, run	one execution of an effect; steps one after the other
 *
 * A receiver of sums gets effects with their times, one that needs the order gets runs, and one that needs every
 * block gets them again from the effects (struct ntrace_flow_config, @effect, @run, @remember).
 *
 * Between two messages the flow is in one phase (enum flow_phase):
 *
 *             SYNC                  its last transfer lacks the target
 *   FLOW_OFF -------> FLOW_AT_PC ------------------------------------> FLOW_UNREACHED
 *       ^             |  |  |  ^ <-------- reported address -----------+
 *       |  trace off  |  |  |  |
 *       +-------------+  |  |  +-- SYNC, or any reported address -- FLOW_UNREADABLE
 *                        |  |                                              ^
 *                        |  +------- code is missing, no message ----------+
 *                        |
 *                        +---------- damage, contradiction, lost messages --> FLOW_LOST
 *                                                     (from there only SYNC leads back; from FLOW_OFF,
 *                                                     a message that needs a sync leads there)
 *
 * Then these fields hold back what a message reported:
 *
 *	icnt_pending	parcels of ResourceFull		added to the next I-CNT
 *	debt		parcels walked for HIST alone	the next I-CNT includes them
 *	late		Ownership after icnt_pending	these parcels are of the owner before
 *	select_block	a trap returned			the next block may be in another space
 *	branch		the last branch message		RepeatBranch walks it again
 *	waiting		blocks of the batch		full; another space, time or event
 *	count		effects with their times	flush, end, change of code, full tables
 *
 * A loss drops the return stack and all of these but late, waiting and count; if messages are missing,
 * also late, the owner, the time and the reference of addresses.
 *
 * Invariants:
 * - Each executed block is passed on once: in a batch or an event, or in an effect with a number of
 *   times. Events, batches and runs are in the order of execution; effects are sums.
 * - Nothing is taken back: blocks walked for HIST alone are PROVISIONAL until an I-CNT confirms them.
 * - The blocks of a batch have one space, one instruction set and one time.
 * - Only messages that call nothing back are counted: spaces, owners and times change in the walk.
 * - Failures of the stream are events, not results of functions. One GAP follows each loss.
 * - No message walks more parcels than the bytes so far can encode: PARCELS_PER_BYTE for each (credit).
 * - The return stack is that of the encoder: both are empty after a sync, except for markers that
 *   keep them (N-Trace 1.0, "implicit return").
 * - Effects and ids of blocks mean code as it was read: effects are passed on before it changes.
 * - The fields from phase to batch are all the state between two messages (save.c, resume.c). Links,
 *   callers and effects save time; without them the results are the same.
 */
#ifndef NTRACE_FLOW_INTERNAL_H
#define NTRACE_FLOW_INTERNAL_H

#include <ntrace/flow.h>

/* Maximum number of instructions in one block event. */
#define BLOCK_INSTRUCTIONS_MAX 4096

/*
 * The I-CNT of a message is at most 32 bits wide, more than that of any encoder; N-Trace 1.0 has 22 bits. Time is
 * proportional to the code that is executed, not to the bytes: a loop that waits, of direct jumps and in BTM of
 * branches that are not taken, sends nothing until I-CNT is full, so 8 bytes can stand for 2^32 - 1 jumps. They
 * take as long as so many jumps of any other code. A smaller limit would refuse such loops of encoders with a
 * wide I-CNT, which are in order.
 */
#define ICNT_FIELD_MAX UINT32_MAX

/* Sums of I-CNT above this exceed any history. */
#define ICNT_MAX (UINT64_C(1) << 62)

/*
 * Maximum number of parcels that a byte of the stream can encode: an I-CNT of 32 bits takes 8 bytes, and
 * history is covered by an I-CNT as well. Unused credit of earlier bytes is kept. RepeatBranch alone
 * encodes more: 4 bytes with a B-CNT of 18 bits repeat a message with an I-CNT of 22 bits, the widths of
 * N-Trace 1.0: 2^40 parcels.
 */
#define CREDIT_BITS 29
#define PARCELS_PER_BYTE (UINT64_C(1) << CREDIT_BITS)
#define REPEATED_PER_BYTE (UINT64_C(1) << 38)

/* struct block.price of a block that only the general walk can handle. */
#define NOT_FAST UINT32_MAX

/**
 * struct block - predecoded instructions up to and including a control transfer
 * @form: output form of the block, without flags; next is the address after the block
 * @target: target of a direct transfer, or of an indirect one if @sequential
 * @isa: instruction set of the block
 * @link: last successors, not taken and taken; 0 = none yet. The target of a direct transfer is
 *        known, so that its links are always right; successors of another @isa are not linked.
 *        Other links must be compared with the address
 * @price: parcels, or NOT_FAST for a block that the fast walk cannot handle
 * @context: number of the address space and its version
 * @sequential: a sequentially inferable jump
 * @uncertain: contains uncertain code without a warning so far
 * @watched: starts at a watched address: the batch ends after it
 *
 * The size is one cache line.
 */
struct block {
	struct ntrace_block form;
	uint64_t target;
	const struct ntrace_isa *isa;
	uint32_t link[2];
	uint32_t price;
	uint32_t context : 29;
	bool sequential : 1;
	bool uncertain : 1;
	bool watched : 1;
};

static inline uint32_t block_parcels(const struct block *block)
{
	return block->form.bytes / 2;
}

/* State of an address space from which blocks were read. */
struct context {
	struct ntrace_space *space;	/* referenced, so that its address is not reused */
	uint64_t version;
	uint64_t used;
	uint32_t id;
};

#define CONTEXTS 64

/**
 * struct block_cache - predecoded blocks of all address spaces
 *
 * A block is found by pc and context id; a new version of a space gets a new id, and its old blocks
 * stay unused until the cache is emptied.
 */
struct block_cache {
	struct block *blocks;		/* entry 0 is unused */
	uint32_t block_count;
	uint32_t block_room;
	uint32_t *slots;		/* indices of blocks, 0 = free */
	uint32_t slot_mask;
	uint32_t next_id;
	uint32_t next_block_id;		/* 0: all ids are in use */
	uint32_t first_id;		/* id of block 1 */
	uint64_t clock;
	struct context contexts[CONTEXTS];
};

/* Return addresses (N-Trace 1.0, "implicit return"): a ring that overwrites the oldest one. */
#define STACK_DEPTH 64

struct return_stack {
	uint64_t address[STACK_DEPTH];
	uint32_t caller[STACK_DEPTH];	/* block of the call: a hint, may be stale */
	unsigned int top;
	unsigned int count;
};

/* Unused history bits: @pattern, oldest bit at the top, repeated. */
struct history {
	uint64_t pattern;
	unsigned int width;	/* number of bits in the pattern */
	unsigned int position;	/* pattern bits left in this round */
	uint64_t left;		/* bits left in all rounds */
};

/* The last branch message, without SYNC except in rc7, for RepeatBranch. */
struct branch_record {
	bool valid;
	uint8_t tcode;
	uint8_t btype;
	uint64_t icnt;
	uint64_t hist;
	uint64_t target;
	uint64_t difference;	/* of the target to the reference before it */
};

/*
 * An Ownership message received while counted parcels were still to be walked: those parcels belong
 * to the earlier owner, as encoders were observed to send it.
 */
struct late_owner {
	uint64_t due;		/* takes effect when this many parcels are walked */
	uint64_t process;
	bool whole;		/* no bit of PROCESS was dropped */
	bool whole_context;		/* follows a sync and reports the whole context */
};

/* Encoders send two at a time, for hcontext and scontext; with few bits of I-CNT, many before any code. */
#define LATE_OWNERS 64

/* Ranges of uncertain code with a warning. */
#define WARNED_RANGES NTRACE_FLOW_WARNED_MAX

/* Instruction sets in use; there are not many different ones. */
#define ISAS 16

struct warned_range {
	const struct ntrace_object *object;
	uint64_t link_address;
	uint64_t address;	/* where it was met */
};

/*
 * What is known about the next instruction. Relative messages, which count from an earlier address,
 * walk from FLOW_UNREACHED on.
 */
enum flow_phase {
	FLOW_OFF,	 /* nothing, and no gap was reported: before the first sync, trace off */
	FLOW_LOST,	 /* nothing up to the next sync: messages are missing or contradict the code */
	FLOW_UNREADABLE, /* nothing up to the next reported address: code is missing, no message */
	FLOW_UNREACHED,	 /* it is after a transfer whose target was not reported yet */
	FLOW_AT_PC,	 /* it is at pc */
};

/* A time is that of the end of the first message with blocks that has it. */
enum flow_time {
	TIME_UNKNOWN,
	TIME_NEW,	/* no block has had it yet */
	TIME_OF_BLOCKS,
};

struct ntrace_flow {
	struct ntrace_flow_config config;	/* without params */
	int (*release)(void *data);		/* NULL: the caller keeps nothing */
	struct ntrace_params params;		/* without isa; src_bits 0: takes any SRC */
	struct ntrace_flow_stats stats;
	struct ntrace_isa isa;		/* xlen 0: instruction set of the object */
	struct ntrace_isa default_isa;
	struct ntrace_isa isas[ISAS];	/* those of objects, each once */
	unsigned int isa_count;
	struct block_cache cache;

	struct ntrace_space *space;	/* referenced by the cache */
	uint32_t space_id;		/* context id of space, 0: no space */
	uint64_t space_version;		/* of space, when it was entered */
	uint32_t previous;		/* block whose link leads to the next one, 0: none */
	uint8_t previous_link;

	/* From here to the batch: the state between two messages, see struct flow_state. */
	enum flow_phase phase;
	bool select_block;		/* call select before the next block */
	enum ntrace_mode mode;		/* of the parameters, or of the last message of one mode */
	uint64_t pc;			/* next instruction; else the last known place */
	uint64_t reference;		/* last reported address, from which U-ADDR counts */
	bool reference_known;		/* else only from FLOW_UNREADABLE on */
	uint64_t icnt_pending;		/* sum of ResourceFull RCODE 0 */
	uint64_t debt;			/* parcels walked for history alone */
	uint64_t credit;		/* parcels that the bytes so far can still encode */
	uint64_t walked;		/* parcels walked: for late owners only, so that parcels
					 * are not counted where none may be late */
	uint64_t confirmed;		/* offset of the last message with an I-CNT */
	uint64_t offset;		/* offset of the current message */
	uint64_t time;			/* last timestamp; if not known, base of later ones */
	enum flow_time time_state;
	struct ntrace_context owner;	/* state set by Ownership messages */
	bool owner_context;		/* PROCESS is a context: see enum ntrace_owner */
	bool owner_open;		/* the stream may still decide so, or otherwise */
	bool owner_repeated;		/* Ownership followed the last sync, or may be lost */
	bool owner_due;			/* after a sync, where Ownership reports the whole
					 * context */
	struct late_owner late[LATE_OWNERS];	/* in the order of the stream */
	unsigned int late_count;
	bool inferred_warned;	/* the warning that an inferred return may be wrong was given */
	struct branch_record branch;
	struct return_stack stack;
	int stop;			/* result of the callback, if not 0 */
	struct ntrace_block *batch;	/* waiting blocks; NULL: each block is an event */
	size_t batch_room;
	struct ntrace_block_batch waiting;	/* common values and number of the waiting blocks */
	struct flow_count *count;	/* NULL: effects are not counted */
	int count_error;		/* result of the callback that takes effects */

	struct warned_range warned[WARNED_RANGES];
	unsigned int warned_count;
};

/**
 * struct flow_state - a flow between two messages (save.c)
 * @bytes: the fields of struct ntrace_flow from @phase up to @batch
 * @stats: totals up to there
 * @warned_count: number of entries of @warned
 */
struct flow_state {
	unsigned char
		bytes[offsetof(struct ntrace_flow, batch) - offsetof(struct ntrace_flow, phase)];
	struct ntrace_flow_stats stats;
	unsigned int warned_count;
	struct warned_range warned[];
};

/* save.c: for cursors, which decode parts of a stream again. */
/*
 * The state of a flow without waiting blocks, to be freed with free(). NULL: out of memory. The space
 * of the flow is not part of it.
 */
struct flow_state *flow_save(const struct ntrace_flow *flow);
/* Continues from @state, saved from the same flow, in @space, which may be NULL. */
void flow_load(struct ntrace_flow *flow, const struct flow_state *state,
	       struct ntrace_space *space);
/* The space in which the flow walks; borrowed. */
struct ntrace_space *flow_space(const struct ntrace_flow *flow);

/* blocks.c */
/* Drops all predecoded blocks. */
void flow_forget_blocks(struct ntrace_flow *flow);
int block_cache_init(struct block_cache *cache);
void block_cache_free(struct block_cache *cache);
/* Makes @space (may be NULL) the current one. */
void flow_enter_space(struct ntrace_flow *flow, struct ntrace_space *space);
/* The block at flow->pc; NULL, with *error set, if there is none. Valid until the next call. */
const struct block *flow_block(struct ntrace_flow *flow, enum ntrace_flow_error *error);
/* Index of the predecoded block at @pc; 0: not predecoded. */
uint32_t flow_find_block(const struct ntrace_flow *flow, uint64_t pc, uint32_t context);
/* The predecoded block at flow->pc, linked to the previous one; 0: not predecoded. */
uint32_t flow_known_block(struct ntrace_flow *flow);
/* Decodes one instruction of up to 8 bytes. Return: 0 or NTRACE_ERR_... */
int flow_fetch(const struct ntrace_space *space, const struct ntrace_isa *isa, uint64_t address,
	       uint8_t bytes[8], struct ntrace_insn *insn);
/* Warns of uncertain code in @parcels from @pc. Return: false if the callback stops. */
bool flow_warn_uncertain(struct ntrace_flow *flow, uint64_t pc, uint32_t parcels);
/* Later uncertain code of the range at @address gives no warning. */
void flow_remember_warning(struct ntrace_flow *flow, uint64_t address);

/**
 * struct walk - one stretch to walk, and the known facts about its end
 * @parcels: parcels to walk; if @eager the maximum
 * @history: bits for its branches
 * @eager: ends at the branch that uses the last bit
 * @direct: a last branch without a bit is taken (DirectBranch)
 * @address_known: @address is the target of the last instruction if that target is not inferable
 * @address_decides: @address also decides whether a last branch without a bit was taken
 * @transfer: the last instruction is reported as a transfer (BTYPE 0 and no SYNC)
 * @stop_at_branch: ending after a branch without a bit is no error
 * @walked: result: parcels walked
 * @last_class: result: class of the last instruction
 * @stopped: result: the walk ended after a branch without a bit
 * @without: consecutive blocks that used no history bit
 */
struct walk {
	uint64_t parcels;
	struct history history;
	uint64_t address;
	uint64_t walked;
	bool eager;
	bool direct;
	bool address_known;
	bool address_decides;
	bool transfer;
	bool stop_at_branch;
	bool stopped;
	uint8_t last_class;
	uint32_t without;
};

/*
 * Limit of consecutive blocks without a history bit in an eager walk: no real program reaches it.
 */
#define BLOCKS_WITHOUT_HISTORY (1u << 20)

/* walk.c */
/* Return: false if the callback or a reported error ended the walk. */
bool flow_walk(struct ntrace_flow *flow, struct walk *walk);

/*
 * walk.c: enters the address space of pc, if it is known. A trap, or the end of the trace, may come before the
 * instruction there, when no block has asked for it. Return: false: a callback stops.
 */
bool flow_enter_pc(struct ntrace_flow *flow);

/* fast.c */
/* Blocks in a batch: 8 KB, which fit in the first-level cache together with the caller's data. */
#define BATCH_BLOCKS 256

/*
 * Walks ordinary blocks as far as possible, and the transfer that a message reports. Return: false if
 * the callback stops.
 */
bool flow_walk_fast(struct ntrace_flow *flow, struct walk *walk);
/* Makes room for a block of @isa after the waiting ones. Return: false if the callback stops. */
bool flow_open_batch(struct ntrace_flow *flow, const struct ntrace_isa *isa);
/* Passes the waiting blocks to the callback. Return: false if the callback stops. */
bool flow_close_batch(struct ntrace_flow *flow);

/* flow.c */
/* Passes an event to the callback. Return: false if the callback stops. */
bool flow_emit(struct ntrace_flow *flow, struct ntrace_flow_event *event);
/* Emits an event of @type without further fields. Return: as flow_emit(). */
bool flow_emit_simple(struct ntrace_flow *flow, enum ntrace_flow_type type, uint8_t code,
		      uint64_t address, bool next_known, uint64_t value);
/* Emits a warning; decoding continues. */
bool flow_warn(struct ntrace_flow *flow, enum ntrace_flow_error code, uint64_t address,
	       uint64_t value);
/* Emits an error and a gap; the flow is unknown up to the next sync. Return: always false. */
bool flow_fail(struct ntrace_flow *flow, enum ntrace_flow_error code, uint64_t address,
	       uint64_t value);
/* The result of a function of the flow. If a callback stopped, the rest of the message is lost. */
int flow_result(struct ntrace_flow *flow);
/* effects.c */
/*
 * ntrace_flow_flush() before the code of @space changes, of which no other space is made: effects
 * in other spaces are not passed on.
 */
int flow_flush_space(struct ntrace_flow *flow, const struct ntrace_space *space);

/*
 * The caller keeps runs and spaces after its callbacks have returned, until @release: called with the data of the
 * config before the flow forgets effects or spaces, or the code of a space changes. A nonzero result stops.
 */
void flow_keep_runs(struct ntrace_flow *flow, int (*release)(void *data));
/* state.c */
/* Calls the select callback, if any, for @address. Return: false if the callback stops. */
bool flow_select(struct ntrace_flow *flow, unsigned int reason, uint64_t address);
/* Takes TSTAMP of a message before its other fields are handled. */
void flow_update_time(struct ntrace_flow *flow, const struct ntrace_message *message);
/* A message with SYNC: the context must have followed the one before. See enum ntrace_owner. */
void flow_expect_owner(struct ntrace_flow *flow);

/* Takes an Ownership message with PROCESS. Return: as flow_emit(). */
bool flow_handle_ownership(struct ntrace_flow *flow, const struct ntrace_message *message);
/*
 * Applies late Ownership messages that are due now, or all of them with @all. Return: as
 * flow_emit().
 */
bool flow_apply_owners(struct ntrace_flow *flow, bool all);

/* circuit.c */
/* Takes InCircuitTrace and DataAcquisition of SiFive. Return: as flow_emit(). */
bool flow_handle_circuit(struct ntrace_flow *flow, const struct ntrace_message *message);
/* Whether @message, a ProgTraceSync, samples the PC. */
bool flow_is_sample(const struct ntrace_flow *flow, const struct ntrace_message *message);
/* Tells of the sample. Return: as flow_emit(). */
bool flow_handle_sample(struct ntrace_flow *flow, const struct ntrace_message *message);
/* Records the address of a message that is not walked, as the reference of later ones. */
void flow_track_address(struct ntrace_flow *flow, const struct ntrace_message *message);

/* Parcels up to the next change of owner. */
static inline uint64_t flow_parcels_of_owner(const struct ntrace_flow *flow)
{
	return flow->late_count ? flow->late[0].due - flow->walked : UINT64_MAX;
}

/* Whether blocks are known since the last sync, so that a message says what came after them. */
static inline bool flow_is_synced(const struct ntrace_flow *flow)
{
	return flow->phase >= FLOW_UNREACHED;
}

static inline uint64_t flow_time(const struct ntrace_flow *flow)
{
	return flow->time_state ? flow->time : 0;
}

/* Whether a message with SRC is of the own one. */
static inline bool flow_is_own(const struct ntrace_flow *flow, const struct ntrace_message *message)
{
	return !flow->params.src_bits || message->field[NTRACE_FIELD_SRC] == flow->config.src;
}

/*
 * The parcels that the bytes of a message can encode, with @per_byte. A message built by the caller
 * may have no length: it counts as the longest one.
 */
static inline uint64_t flow_credit_of(const struct ntrace_message *message, uint64_t per_byte)
{
	uint64_t bytes = message->length ? message->length : NTRACE_MESSAGE_BYTES_MAX;

	return (bytes < ICNT_MAX / per_byte ? bytes : ICNT_MAX / per_byte) * per_byte;
}

/* Adds to @credit the parcels that the bytes of a message can encode. */
static inline uint64_t flow_credit_after(uint64_t credit, const struct ntrace_message *message)
{
	credit += flow_credit_of(message, PARCELS_PER_BYTE);
	return credit < ICNT_MAX ? credit : ICNT_MAX;
}

static inline bool flow_is_sync(const struct ntrace_message *message)
{
	return ntrace_message_has(message, NTRACE_FIELD_SYNC);
}

/* Whether the reader lost a field or part of one. */
static inline bool flow_damaged(const struct ntrace_message *message)
{
	return message->flags & (NTRACE_MESSAGE_TRUNCATED | NTRACE_MESSAGE_OVERSIZE);
}

static inline uint64_t flow_wrap(const struct ntrace_flow *flow, uint64_t address)
{
	return flow->params.xlen == 32 ? address & 0xffffffff : address;
}

/* Calls push return addresses: @address, the address after the block @caller. */
static inline void stack_push(struct return_stack *stack, uint64_t address, uint32_t caller)
{
	stack->top = (stack->top + 1) % STACK_DEPTH;
	stack->address[stack->top] = address;
	stack->caller[stack->top] = caller;
	if (stack->count < STACK_DEPTH)
		stack->count++;
}

/* Returns pop return addresses. Return: false if the stack is empty. */
static inline bool stack_pop(struct return_stack *stack, uint64_t *address, uint32_t *caller)
{
	if (!stack->count)
		return false;
	*address = stack->address[stack->top];
	*caller = stack->caller[stack->top];
	stack->top = (stack->top + STACK_DEPTH - 1) % STACK_DEPTH;
	stack->count--;
	return true;
}

/* Any return to a call's return address goes to the same block, so @caller links to it. */
static inline bool flow_links(const struct ntrace_flow *flow, uint32_t caller)
{
	return caller && caller < flow->cache.block_count &&
	       flow->cache.blocks[caller].context == flow->space_id;
}

#endif /* NTRACE_FLOW_INTERNAL_H */
