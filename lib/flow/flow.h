/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* What the parts of the flow decoder share: blocks.c, walk.c, fast.c, circuit.c, flow.c. */
#ifndef NTRACE_FLOW_INTERNAL_H
#define NTRACE_FLOW_INTERNAL_H

#include <ntrace/flow.h>

/* Longest run of instructions in one block event. */
#define BLOCK_INSTRUCTIONS_MAX 4096

/* struct block.price of a block that only the general walk can walk. */
#define PRICELESS UINT32_MAX

/**
 * struct block - predecoded instructions up to and with a control transfer
 * @form: as the user gets it, but for @flags; @next is the address behind the block
 * @target: of a direct transfer, or of an indirect one if @sequential
 * @isa: instruction set it was decoded with
 * @link: blocks that followed last time, not taken and taken; 0 = none yet. What
 *        control goes on with behind a direct transfer is known, and only that is
 *        linked, if it is of the same @isa; other links are to be compared with
 *        the address
 * @price: parcels, or PRICELESS if it is not for the fast walk
 * @context: number of the address space and its version
 * @sequential: a sequentially inferable jump
 * @uncertain: holds code that is marked uncertain and not yet warned of
 *
 * As long as a cache line.
 */
struct block {
	struct ntrace_block form;
	uint64_t target;
	const struct ntrace_isa *isa;
	uint32_t link[2];
	uint32_t price;
	uint32_t context : 30;
	bool sequential : 1;
	bool uncertain : 1;
};

static inline uint32_t block_parcels(const struct block *block)
{
	return block->form.bytes / 2;
}

/* An address space in the state that blocks were read from. */
struct context {
	struct ntrace_space *space;	/* referenced, so that its address is not used again */
	uint64_t version;
	uint64_t used;
	uint32_t id;
};

#define CONTEXTS 64

/**
 * struct block_cache - predecoded blocks of all address spaces
 *
 * A block is found by pc and context id; a new version of a space gets a new
 * id, which leaves its old blocks behind until the cache is emptied.
 */
struct block_cache {
	struct block *blocks;		/* 0 is not used */
	uint32_t block_count;
	uint32_t block_room;
	uint32_t *slots;		/* indices of blocks, 0 = free */
	uint32_t slot_mask;
	uint32_t next_id;
	uint32_t next_block_id;		/* 0: used up */
	uint64_t clock;
	struct context contexts[CONTEXTS];
};

/* Return addresses (N-Trace 1.0, "implicit return"): a ring that loses the oldest one. */
#define STACK_DEPTH 64

struct return_stack {
	uint64_t address[STACK_DEPTH];
	uint32_t caller[STACK_DEPTH];	/* block of the call: a hint, may be gone */
	unsigned int top;
	unsigned int count;
};

/* History bits not yet used: @pattern, oldest bit at the top, repeated. */
struct history {
	uint64_t pattern;
	unsigned int width;	/* bits of the pattern */
	unsigned int position;	/* bits of it left in this round */
	uint64_t left;		/* bits left in all rounds */
};

/* The last branch message without SYNC, for RepeatBranch. */
struct branch_record {
	bool valid;
	uint8_t tcode;
	uint8_t btype;
	uint64_t icnt;
	uint64_t hist;
	uint64_t target;
};

/*
 * An Ownership message that came while parcels were counted and not yet walked: they
 * belong to the one before it (as encoders were observed to send it).
 */
struct late_owner {
	uint64_t due;		/* takes effect when so many parcels are walked */
	uint64_t process;
	bool whole;		/* none of its bits was dropped */
	bool tells_all;		/* behind a sync */
};

/* Encoders send two, for hcontext and scontext. */
#define LATE_OWNERS 8

/* Ranges of uncertain code that were warned of. */
#define WARNED_RANGES 256

struct warned_range {
	const struct ntrace_object *object;
	uint64_t link_address;
};

struct ntrace_flow {
	struct ntrace_flow_config config;	/* but for params */
	struct ntrace_params params;		/* but for isa */
	struct ntrace_flow_stats stats;
	struct ntrace_isa isa;		/* xlen 0: as the object says */
	struct ntrace_isa default_isa;
	struct block_cache cache;

	struct ntrace_space *space;	/* referenced by the cache */
	uint32_t space_id;		/* its id, 0: no space */
	uint32_t previous;		/* block that links to the next one, 0: none */
	uint8_t previous_link;
	bool select_block;		/* select before the next block is walked */

	bool synced;
	bool in_gap;			/* GAP was reported */
	bool history_mode;		/* HTM: as given, or as the last message of one mode says */
	bool mode_known;		/* given, or a message has said it */
	uint64_t pc;
	bool pc_known;
	uint64_t reference;		/* for U-ADDR */
	bool reference_known;		/* also in a gap that came from unreadable memory */
	bool address_known;		/* reference is the last address, be it not of program flow */
	uint64_t icnt_pending;		/* ResourceFull RCODE 0 */
	uint64_t debt;			/* parcels walked for history alone */
	uint64_t credit;		/* parcels that the bytes so far can still stand for */
	uint64_t walked;		/* parcels, ever */
	uint64_t confirmed;		/* offset of the last message with an I-CNT */
	uint64_t offset;		/* of the message being walked */
	uint64_t time;			/* last time stamp, if time_known; else where to count on from */
	bool time_known;
	bool time_passed;		/* the space has not been told yet */
	bool inferred;			/* a return was, and may be wrong: warned of */
	struct ntrace_context owner;	/* what Ownership said */
	bool owner_due;			/* behind a sync, where Ownership tells all of it */
	struct late_owner late[LATE_OWNERS];	/* in the order of the stream */
	unsigned int late_count;
	uint64_t unknown_tcodes;	/* bit n: TCODE n was warned of */
	uint32_t unknown_rcodes;
	struct branch_record branch;
	struct return_stack stack;
	int stop;			/* what the callback returned, if not 0 */
	struct ntrace_block *batch;	/* blocks that wait; NULL: each is an event */
	struct ntrace_block_batch waiting;	/* what they have in common, and their count */

	struct warned_range warned[WARNED_RANGES];
	unsigned int warned_count;
};

/* blocks.c */
int block_cache_init(struct block_cache *cache);
void block_cache_free(struct block_cache *cache);
/* Makes @space (may be NULL) the present one. */
void flow_enter_space(struct ntrace_flow *flow, struct ntrace_space *space);
/* The block at flow->pc, NULL with *error set if there is none. Valid until the next call. */
const struct block *flow_block(struct ntrace_flow *flow, enum ntrace_flow_error *error);
/* The one at flow->pc if it is predecoded already, linked to the one before; 0: it is not. */
uint32_t flow_known_block(struct ntrace_flow *flow);
/* Decodes one instruction; bytes gets up to 8. Return: 0 or NTRACE_ERR_... */
int flow_fetch(const struct ntrace_space *space, const struct ntrace_isa *isa, uint64_t address,
	       uint8_t bytes[8], struct ntrace_insn *insn);
/* Warns of uncertain code in @parcels from @pc. Return: false if the callback says stop. */
bool flow_warn_uncertain(struct ntrace_flow *flow, uint64_t pc, uint32_t parcels);

/**
 * struct walk - one stretch to walk and what is known about its end
 * @parcels: to walk; if @eager at most
 * @history: bits for its branches
 * @eager: up to the branch that uses the last bit
 * @direct: a last branch without a bit is taken (DirectBranch)
 * @address_known: @address is where the last instruction went if that is not inferable
 * @address_decides: @address also says if a last branch without a bit was taken
 * @transfer: the last instruction is reported as a transfer (BTYPE 0 and no SYNC)
 * @stop_at_branch: to end behind a branch without a bit is no error
 * @walked: result: parcels
 * @last_class: result: class of the last instruction
 * @stopped: result: ended behind a branch without a bit
 * @without: blocks in a row that used no history bit
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

/* Blocks in a row that use no history bit in an eager walk: no program does that. */
#define BLOCKS_WITHOUT_HISTORY (1u << 20)

/* walk.c */
/* Return: false if the callback or an error, which it has reported, ended it. */
bool flow_walk(struct ntrace_flow *flow, struct walk *walk);

/* fast.c */
/* Blocks in a batch: 8 KB, which stay in the first cache with what the caller does. */
#define BATCH_BLOCKS 256

/*
 * Walks as many blocks as nothing special happens in, but never the last one of an
 * I-CNT. Return: false if the callback says stop.
 */
bool flow_walk_fast(struct ntrace_flow *flow, struct walk *walk);
/* Room for a block of @isa behind those that wait. Return: false if the callback says stop. */
bool flow_open_batch(struct ntrace_flow *flow, const struct ntrace_isa *isa);
/* Gives the blocks that wait to the callback. Return: false if that says stop. */
bool flow_close_batch(struct ntrace_flow *flow);

/* flow.c */
/* Gives an event to the callback. Return: false if that says stop. */
bool flow_emit(struct ntrace_flow *flow, struct ntrace_flow_event *event);
/* An event of @type that has no more to say. Return: as flow_emit(). */
bool flow_emit_simple(struct ntrace_flow *flow, enum ntrace_flow_type type, uint8_t code,
		      uint64_t address, bool next_known, uint64_t value);
/* A warning, flow goes on. */
bool flow_warn(struct ntrace_flow *flow, enum ntrace_flow_error code, uint64_t address,
	       uint64_t value);
/* An error: event, gap, no flow up to the next sync. Return: false, always. */
bool flow_fail(struct ntrace_flow *flow, enum ntrace_flow_error code, uint64_t address,
	       uint64_t value);
/* Code that changes: as it is at the present time. Return: false: out of memory. */
bool flow_advance(struct ntrace_flow *flow);
/* Asks for the address space of @address, if the user wants to be asked. Return: false: stop. */
bool flow_select(struct ntrace_flow *flow, unsigned int reason, uint64_t address);

/* state.c */
/* TSTAMP of a message, before anything else of it is looked at. */
void flow_take_time(struct ntrace_flow *flow, const struct ntrace_message *message);
/* An Ownership message with PROCESS. Return: as flow_emit(). */
bool flow_take_ownership(struct ntrace_flow *flow, const struct ntrace_message *message);
/* Those that came early and are due now; with @all whether they are or not. Return: as flow_emit(). */
bool flow_settle_ownership(struct ntrace_flow *flow, bool all);

/* circuit.c */
/* InCircuitTrace and DataAcquisition of SiFive. Return: as flow_emit(). */
bool flow_take_circuit(struct ntrace_flow *flow, const struct ntrace_message *message);
/* The address of a message that is not walked, for relative ones after it. */
void flow_track_address(struct ntrace_flow *flow, const struct ntrace_message *message);

/* Parcels up to the next change of owner. */
static inline uint64_t flow_parcels_of_owner(const struct ntrace_flow *flow)
{
	return flow->late_count ? flow->late[0].due - flow->walked : UINT64_MAX;
}

static inline bool flow_is_sync(const struct ntrace_message *message)
{
	return ntrace_message_has(message, NTRACE_FIELD_SYNC);
}

/* What the message layer found wrong with a message. */
static inline bool flow_damaged(const struct ntrace_message *message)
{
	return message->flags & (NTRACE_MESSAGE_TRUNCATED | NTRACE_MESSAGE_OVERSIZE);
}

static inline uint64_t flow_wrap(const struct ntrace_flow *flow, uint64_t address)
{
	return flow->params.xlen == 32 ? address & 0xffffffff : address;
}

/* Return addresses go on the stack at calls: @address, behind the block @caller. */
static inline void stack_push(struct return_stack *stack, uint64_t address, uint32_t caller)
{
	stack->top = (stack->top + 1) % STACK_DEPTH;
	stack->address[stack->top] = address;
	stack->caller[stack->top] = caller;
	if (stack->count < STACK_DEPTH)
		stack->count++;
}

/* And off at returns. Return: false if there is none. */
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

/* A return goes to the block behind its call, whichever return it is: @caller links to it. */
static inline bool flow_links(const struct ntrace_flow *flow, uint32_t caller)
{
	return caller && caller < flow->cache.block_count &&
	       flow->cache.blocks[caller].context == flow->space_id;
}

#endif /* NTRACE_FLOW_INTERNAL_H */
