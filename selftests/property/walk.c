// SPDX-License-Identifier: GPL-2.0-only
/*
 * The walk: a possible execution, without a processor. Calls and returns keep a real stack;
 * branches follow their behaviour; indirect transfers go to one of their choices; traps occur at
 * random.
 */
#include <string.h>

#include "program.h"

/* itype of the ingress port, 4 bits (E-Trace, chapter 4). */
enum {
	ITYPE_NONE = 0,
	ITYPE_EXCEPTION = 1,
	ITYPE_INTERRUPT = 2,
	ITYPE_TRAP_RETURN = 3,
	ITYPE_NOT_TAKEN = 4,
	ITYPE_TAKEN = 5,
};

static const uint8_t itypes[] = {
	[KIND_JUMP] = 11,	   [KIND_CALL] = 9,	     [KIND_OTHER_JUMP] = 15,
	[KIND_INDIRECT_JUMP] = 10, [KIND_INDIRECT_CALL] = 8, [KIND_OTHER_INDIRECT_JUMP] = 14,
	[KIND_RETURN] = 13,	   [KIND_SWAP] = 12,	     [KIND_TRAP_RETURN] = ITYPE_TRAP_RETURN,
};

static struct thread *thread(struct walk *walk)
{
	return &walk->thread[walk->current];
}

static struct step *add_step(struct walk *walk, enum step_kind kind)
{
	struct step *step = &walk->step[walk->steps < STEPS_MAX ? walk->steps++ : STEPS_MAX - 1];

	memset(step, 0, sizeof(*step));
	step->kind = (uint8_t)kind;
	return step;
}

static void begin_block(struct walk *walk)
{
	memset(&walk->block, 0, sizeof(walk->block));
	walk->block.pcs = walk->pcs;
	walk->block.privilege = thread(walk)->privilege;
	walk->block.scontext = walk->scontext;
	walk->block.hcontext = walk->hcontext;
	walk->block_limit = one_in(&walk->random, 4) ? 1 : random_range(&walk->random, 1, 40);
}

/* Sometimes an event of the trace happens between two blocks. */
static void between_blocks(struct walk *walk)
{
	const struct shape *shape = &walk->program->shape;

	if (walk->off) {
		if (one_in(&walk->random, 5)) {
			add_step(walk, STEP_START);
			walk->off = false;
		}
		return;
	}
	if (shape->off_rate && one_in(&walk->random, shape->off_rate)) {
		add_step(walk, STEP_STOP)->how = (uint8_t)random_below(&walk->random, 3);
		walk->off = true;
		return;
	}
	if (!walk->lost && shape->overrun_rate && one_in(&walk->random, shape->overrun_rate)) {
		add_step(walk, STEP_OVERRUN);
		walk->lost = random_below(&walk->random, 6);
	}
	if (shape->trigger_rate && one_in(&walk->random, shape->trigger_rate))
		add_step(walk, STEP_TRIGGER);
}

static void end_block(struct walk *walk, unsigned int itype)
{
	bool trap = itype == ITYPE_EXCEPTION || itype == ITYPE_INTERRUPT;
	struct step *step;

	if (!walk->block.parcels && !trap)
		return;
	if (walk->lost) {
		walk->lost--;
		walk->pcs = walk->block.pcs;
	} else {
		step = add_step(walk, STEP_BLOCK);
		*step = walk->block;
		step->itype = (uint8_t)itype;
		if (!step->parcels)
			step->address = walk->program->insn[thread(walk)->pc].address;
		between_blocks(walk);
	}
	begin_block(walk);
}

/* CM.PUSH, CM.POP, CM.POPRETZ, CM.POPRET */
static bool is_zcmp(const struct insn *insn)
{
	return insn->size == 2 && insn->kind != KIND_BRANCH && insn->bits >= 0xb802 &&
	       (insn->bits & 0xf903) == 0xb802;
}

static void retire(struct walk *walk, const struct insn *insn)
{
	struct step *block = &walk->block;

	if (!block->parcels)
		block->address = insn->address;
	block->parcels += insn->size / 2;
	block->last_size = insn->size;
	block->accesses = 0;
	if (walk->program->shape.accesses && is_zcmp(insn))
		block->accesses = (uint8_t)random_range(&walk->random, 2, 5);
	block->pc_count++;
	walk->pc[walk->pcs++] = insn->address;
	walk->previous = (uint32_t)(insn - walk->program->insn);
	walk->retried = false;
	walk->fresh = false;
}

static uint8_t trap_privilege(struct walk *walk, uint8_t from)
{
	static const uint8_t targets[3] = { PRIVILEGE_M, PRIVILEGE_S, PRIVILEGE_VS };

	if (from == PRIVILEGE_M)
		return PRIVILEGE_M;
	return targets[random_below(&walk->random, from >= PRIVILEGE_VU ? 3 : 2)];
}

static uint32_t handler(struct walk *walk, uint8_t privilege)
{
	const struct program *program = walk->program;
	uint32_t f;

	do {
		f = random_range(&walk->random, program->plain_functions, program->functions - 1);
	} while (program->function[f].handler != privilege);
	return program->function[f].first;
}

/* Enters a handler, which will return to instruction @back. */
static void take_trap(struct walk *walk, unsigned int itype, uint32_t back)
{
	struct thread *now = thread(walk);
	struct trap_frame *frame;

	/* At the port, a trap is the end of a block, or an empty block. */
	if (walk->block.parcels && !walk->block.environment && one_in(&walk->random, 2))
		end_block(walk, ITYPE_NONE);
	end_block(walk, itype);
	if (walk->traps == TRAPS_MAX) {
		memmove(walk->trap, walk->trap + 1, sizeof(*walk->trap) * (TRAPS_MAX - 1));
		walk->traps--;
	}
	frame = &walk->trap[walk->traps++];
	frame->pc = back;
	frame->privilege = now->privilege;
	frame->depth = now->depth;
	now->privilege = trap_privilege(walk, now->privilege);
	now->pc = handler(walk, now->privilege);
	walk->block.privilege = now->privilege;
	walk->previous = NOWHERE;
	walk->retried = back != NOWHERE;
	walk->fresh = true;
	walk->traps_taken++;
	walk->nested += walk->traps > 1;
}

static uint32_t any_function(struct walk *walk)
{
	const struct program *program = walk->program;

	return program->function[random_below(&walk->random, program->plain_functions)].first;
}

static void switch_thread(struct walk *walk)
{
	uint32_t before = walk->current;

	walk->current = random_below(&walk->random, THREADS);
	walk->switches += walk->current != before;
}

static void trap_return(struct walk *walk)
{
	struct thread *now = thread(walk);

	if (walk->traps) {
		const struct trap_frame *frame = &walk->trap[--walk->traps];

		now->pc = frame->pc;
		now->privilege = frame->privilege;
		now->depth = frame->depth;
	} else {
		/* Traps nested so deeply that their origin is unknown. */
		now->pc = any_function(walk);
		now->privilege = PRIVILEGE_U;
	}
	if (!walk->traps && !walk->program->shape.well_nested && one_in(&walk->random, 2))
		switch_thread(walk);
	/* An instruction does not trap indefinitely. */
	walk->retried = !one_in(&walk->random, 4);
	walk->fresh = true;
}

static void push(struct walk *walk, uint32_t back)
{
	struct thread *now = thread(walk);

	if (now->depth == FRAMES_MAX) {
		memmove(now->frame, now->frame + 1, sizeof(*now->frame) * (FRAMES_MAX - 1));
		now->depth--;
	}
	now->frame[now->depth++] = back;
	if (now->depth > walk->deepest)
		walk->deepest = now->depth;
}

/* An instruction whose address differs from that of @index, but not in the lowest bits. */
static uint32_t nearly(struct walk *walk, uint32_t index)
{
	const struct program *program = walk->program;
	uint32_t end = program->function[program->plain_functions].first;
	uint64_t address = program->insn[index].address;

	for (unsigned int tries = 0; tries < 100; tries++) {
		uint32_t other = random_below(&walk->random, end);

		if (other != index && !((program->insn[other].address ^ address) & 0xff))
			return other;
	}
	return any_function(walk);
}

/* Returns to the innermost open call; sometimes, if permitted, to another place. */
static uint32_t pop(struct walk *walk)
{
	struct thread *now = thread(walk);
	uint32_t floor = walk->traps ? walk->trap[walk->traps - 1].depth : 0;

	if (now->depth <= floor)
		return any_function(walk);
	if (!walk->program->shape.well_nested && one_in(&walk->random, 12)) {
		if (one_in(&walk->random, 2))
			return nearly(walk, now->frame[--now->depth]);
		now->depth = random_range(&walk->random, floor + 1, now->depth);
	}
	return now->frame[--now->depth];
}

static uint32_t chosen(struct walk *walk, const struct insn *insn)
{
	uint32_t *state = &walk->state[insn - walk->program->insn];

	if (insn->target != NOWHERE)
		return insn->target;
	if (!insn->choice_count)
		return any_function(walk);
	/* Half of these transfers mostly go to their last target. */
	if (!(insn->bits & 1) || one_in(&walk->random, 16))
		*state = random_below(&walk->random, insn->choice_count);
	return walk->program->choice[insn->choices + *state];
}

static bool is_taken(struct walk *walk, const struct insn *insn)
{
	uint32_t *state = &walk->state[insn - walk->program->insn];

	switch (insn->behaviour) {
	case BEHAVE_PATTERN:
		return insn->pattern >> (*state)++ % insn->width & 1;
	case BEHAVE_LOOP:
		if ((*state)++ < insn->count)
			return true;
		*state = 0;
		return false;
	case BEHAVE_DEPTH:
		return thread(walk)->depth >= insn->count;
	default:
		return one_in(&walk->random, 2);
	}
}

/* The transfer at the end of a block. Return: its target. */
static uint32_t transfer(struct walk *walk, const struct insn *insn, uint32_t next)
{
	uint32_t to;

	switch (insn->kind) {
	case KIND_CALL:
		push(walk, next);
		return insn->target;
	case KIND_INDIRECT_CALL:
		push(walk, next);
		return chosen(walk, insn);
	case KIND_INDIRECT_JUMP:
	case KIND_OTHER_INDIRECT_JUMP:
		return chosen(walk, insn);
	case KIND_RETURN:
		return pop(walk);
	case KIND_SWAP:
		to = pop(walk);
		push(walk, next);
		return insn->target != NOWHERE ? insn->target : to;
	default:
		return insn->target;
	}
}

static void write_context(struct walk *walk)
{
	uint64_t value = random_next(&walk->random) & (one_in(&walk->random, 4) ? 0xffffffff : 7);

	if (one_in(&walk->random, 4))
		walk->hcontext = value & 0x3fff;
	else
		walk->scontext = value;
}

static void execute(struct walk *walk)
{
	struct thread *now = thread(walk);
	const struct insn *insn = &walk->program->insn[now->pc];
	uint32_t next = now->pc + 1;
	bool taken;

	walk->block.sequential = insn->paired && walk->previous + 1 == now->pc;
	retire(walk, insn);
	switch (insn->kind) {
	case KIND_CONTEXT:
		write_context(walk);
		now->pc = next;
		end_block(walk, ITYPE_NONE);
		return;
	case KIND_PLAIN:
	case KIND_UPPER:
		now->pc = next;
		if (walk->block.pc_count >= walk->block_limit || walk->block.accesses)
			end_block(walk, ITYPE_NONE);
		return;
	case KIND_BRANCH:
		taken = is_taken(walk, insn);
		now->pc = taken ? insn->target : next;
		end_block(walk, taken ? ITYPE_TAKEN : ITYPE_NOT_TAKEN);
		return;
	case KIND_TRAP_RETURN:
		end_block(walk, ITYPE_TRAP_RETURN);
		trap_return(walk);
		walk->block.privilege = thread(walk)->privilege;
		return;
	default:
		now->pc = transfer(walk, insn, next);
		end_block(walk, itypes[insn->kind]);
		return;
	}
}

static bool traps_now(struct walk *walk)
{
	uint32_t rate = walk->program->shape.trap_rate;

	if (!rate || walk->retried || walk->traps == TRAPS_MAX)
		return false;
	return one_in(&walk->random, walk->fresh ? 10 : rate);
}

static void step(struct walk *walk)
{
	uint32_t pc = thread(walk)->pc;
	const struct insn *insn = &walk->program->insn[pc];

	if (traps_now(walk)) {
		/* A trapped instruction is executed again, a limited number of times. */
		take_trap(walk, one_in(&walk->random, 2) ? ITYPE_EXCEPTION : ITYPE_INTERRUPT, pc);
		walk->retried = !one_in(&walk->random, 3);
	} else if (insn->kind == KIND_ENVIRONMENT) {
		if (walk->program->shape.ecall_retires) {
			retire(walk, insn);
			walk->block.environment = true;
		}
		take_trap(walk, ITYPE_EXCEPTION, pc + 1);
	} else {
		execute(walk);
	}
}

void walk_program(struct walk *walk, const struct program *program, uint64_t seed)
{
	static const uint8_t privileges[2][THREADS] = {
		{ PRIVILEGE_U, PRIVILEGE_S, PRIVILEGE_U },
		{ PRIVILEGE_VU, PRIVILEGE_U, PRIVILEGE_VS },
	};

	memset(walk, 0, sizeof(*walk));
	walk->program = program;
	walk->random.state = seed;
	for (unsigned int i = 0; i < THREADS; i++)
		walk->thread[i].privilege = privileges[program->shape.hypervisor][i];
	walk->previous = NOWHERE;
	begin_block(walk);
	while (walk->pcs < program->shape.steps && walk->pcs < PCS_MAX - 100 &&
	       walk->steps < STEPS_MAX - 10)
		step(walk);
	end_block(walk, ITYPE_NONE);
}
