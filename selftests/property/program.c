// SPDX-License-Identifier: GPL-2.0-only
/*
 * The generator: functions of nested statements, then addresses, then bytes. Calls go to later
 * functions or are guarded by a branch that ends the recursion, so that every walk progresses.
 */
#include <string.h>

#include "program.h"

/* Placeholder in insn.target and choices until all functions exist: a function. */
#define TO_FUNCTION 0x80000000u

struct builder {
	struct program *program;
	struct random *random;
	uint32_t function;	/* the function under construction */
	bool bottom;		/* without a caller: no return, and no tail call if well nested */
	bool full;		/* no room for more instructions */
};

static struct insn *emit(struct builder *builder, enum kind kind)
{
	struct program *program = builder->program;
	struct insn *insn = &program->insn[program->insns];

	/* Reserves room for a statement that has begun. */
	if (program->insns > INSNS_MAX - 200)
		builder->full = true;
	memset(insn, 0, sizeof(*insn));
	insn->kind = (uint8_t)kind;
	insn->size = 4;
	insn->target = NOWHERE;
	program->insns++;
	return insn;
}

static uint32_t here(const struct builder *builder)
{
	return builder->program->insns;
}

/* A register other than the link registers, usable by a jump. */
static uint8_t other_register(struct builder *builder)
{
	return (uint8_t)random_range(builder->random, 6, 31);
}

static uint8_t link_register(struct builder *builder)
{
	return one_in(builder->random, 4) ? 5 : 1;
}

static void may_compress(struct builder *builder, struct insn *insn)
{
	insn->compressed = builder->program->shape.compressed && !one_in(builder->random, 3);
}

static void plain(struct builder *builder, uint32_t most)
{
	for (uint32_t n = random_below(builder->random, most + 1); n--;)
		random_plain(builder->program, emit(builder, KIND_PLAIN));
}

static struct insn *branch(struct builder *builder, enum behaviour behaviour)
{
	static const uint8_t funct3[] = { 0, 1, 4, 5, 6, 7 };
	struct random *random = builder->random;
	struct insn *insn = emit(builder, KIND_BRANCH);

	insn->bits = funct3[random_below(random, 6)];
	insn->rs1 = (uint8_t)random_below(random, 32);
	insn->rd = (uint8_t)random_below(random, 32);
	insn->behaviour = (uint8_t)behaviour;
	insn->width = (uint8_t)random_range(random, 1, 31);
	insn->pattern = (uint32_t)random_next(random);
	if (behaviour == BEHAVE_LOOP)
		insn->count = (uint16_t)(one_in(random, 3) ? random_range(random, 0, 200) :
							     random_range(random, 0, 12));
	else
		insn->count = (uint16_t)random_range(random, 1, one_in(random, 2) ? 100 : 8);
	may_compress(builder, insn);
	return insn;
}

static enum behaviour any_behaviour(struct builder *builder)
{
	return one_in(builder->random, 2) ? BEHAVE_RANDOM : BEHAVE_PATTERN;
}

static struct insn *jump(struct builder *builder)
{
	struct insn *insn;

	if (one_in(builder->random, 6)) {
		insn = emit(builder, KIND_OTHER_JUMP);
		insn->rd = other_register(builder);
		return insn;
	}
	insn = emit(builder, KIND_JUMP);
	may_compress(builder, insn);
	return insn;
}

static void choose(struct builder *builder, struct insn *insn, uint32_t where)
{
	struct program *program = builder->program;

	if (program->choices == CHOICES_MAX)
		return;
	if (!insn->choice_count)
		insn->choices = program->choices;
	program->choice[program->choices++] = where;
	insn->choice_count++;
}

/* A function that the current one may call: a later one, or any function if @guarded. */
static uint32_t callee(struct builder *builder, bool guarded, bool same_region)
{
	struct program *program = builder->program;
	const struct function *self = &program->function[builder->function];
	uint32_t first = guarded ? 1 : builder->function + 1, last = program->plain_functions;

	if (self->handler)
		first = 1;
	/* Region 1 is called only from region 1, or through a register. */
	while (first < last && (same_region || self->region) &&
	       program->function[first].region < self->region)
		first++;
	while (last > first && same_region && program->function[last - 1].region > self->region)
		last--;
	if (first >= last)
		return NOWHERE;
	return TO_FUNCTION | random_range(builder->random, first, last - 1);
}

/* The instructions before the second half of a pair. */
static void upper(struct builder *builder, unsigned int rd)
{
	struct insn *insn = emit(builder, KIND_UPPER);

	insn->rd = (uint8_t)rd;
	insn->form = one_in(builder->random, 2) ? FORM_AUIPC : FORM_BASE;
	insn->compressed = insn->form == FORM_BASE && builder->program->shape.compressed;
}

/* Registers of an indirect transfer of a kind, by the classification table. */
static void registers(struct builder *builder, enum kind kind, uint8_t *rd, uint8_t *rs1)
{
	uint8_t link = link_register(builder);

	*rd = 0;
	*rs1 = other_register(builder);
	switch (kind) {
	case KIND_INDIRECT_CALL:
		*rd = link;
		if (one_in(builder->random, 3))
			*rs1 = link;
		break;
	case KIND_OTHER_INDIRECT_JUMP:
		*rd = other_register(builder);
		break;
	case KIND_RETURN:
		*rs1 = link;
		if (one_in(builder->random, 8))
			*rd = other_register(builder);
		break;
	case KIND_SWAP:
		*rd = link;
		*rs1 = 6 - link;
		break;
	default:
		break;
	}
}

/* An indirect transfer; in a pair it goes to @target. */
static struct insn *indirect(struct builder *builder, enum kind kind, uint32_t target)
{
	struct insn *insn;
	uint8_t rd, rs1;

	registers(builder, kind, &rd, &rs1);
	if (target != NOWHERE) {
		upper(builder, rs1);
	} else if (kind == KIND_SWAP) {
		/* If a LUI of the same register preceded, its value would be the target. */
		insn = emit(builder, KIND_PLAIN);
		insn->bits = 0x00000013;
	}
	insn = emit(builder, kind);
	insn->rd = rd;
	insn->rs1 = rs1;
	insn->paired = target != NOWHERE;
	insn->target = target;
	insn->bits = random_next(builder->random) & 0xffff;
	if (rd < 2)
		may_compress(builder, insn);
	return insn;
}

/* An entry of the jump table from @first on for a function; the table lists functions in turn. */
static uint32_t table_entry(struct program *program, uint32_t where, uint32_t first)
{
	uint32_t entry = where & ~TO_FUNCTION;

	while (entry < first)
		entry += program->functions;
	if (first)
		entry += program->functions * random_below(&program->random, 4);
	return entry;
}

static void call(struct builder *builder, bool guarded)
{
	struct program *program = builder->program;
	struct random *random = builder->random;
	uint32_t direct = callee(builder, guarded, true);
	struct insn *insn;

	if (direct != NOWHERE && one_in(random, 2)) {
		insn = emit(builder, KIND_CALL);
		insn->target = direct;
		insn->rd = link_register(builder);
		insn->compressed = program->shape.compressed && program->shape.xlen == 32 &&
				   insn->rd == 1;
		if (program->shape.table_jumps && one_in(random, 3)) {
			insn->form = FORM_TABLE;
			insn->count = (uint16_t)table_entry(program, direct, 32);
			insn->compressed = true;
		}
		return;
	}
	if (direct != NOWHERE && one_in(random, 3)) {
		indirect(builder, KIND_INDIRECT_CALL, direct);
		return;
	}
	if (callee(builder, guarded, false) == NOWHERE) {
		plain(builder, 3);
		return;
	}
	insn = indirect(builder, KIND_INDIRECT_CALL, NOWHERE);
	for (uint32_t n = random_range(random, 1, 4); n--;)
		choose(builder, insn, callee(builder, guarded, false));
}

static void function_return(struct builder *builder)
{
	struct program *program = builder->program;
	struct random *random = builder->random;
	struct insn *insn;

	if (program->shape.push_pop && one_in(random, 3)) {
		insn = emit(builder, KIND_RETURN);
		insn->form = FORM_POPRET;
		insn->compressed = true;
		insn->bits = (one_in(random, 3) ? 0xbc02u : 0xbe02u) |
			     random_range(random, 4, 15) << 4 | random_below(random, 4) << 2;
		return;
	}
	/* No sequentially inferable jump, although it looks like one: returns never are. */
	if (one_in(random, 6)) {
		insn = emit(builder, KIND_PLAIN);
		insn->bits = 0x37 | 1 << 7 | (random_next(random) & 0xfffff000);
	}
	indirect(builder, KIND_RETURN, NOWHERE);
}

static void tail_call(struct builder *builder)
{
	struct program *program = builder->program;
	struct random *random = builder->random;
	uint32_t target = callee(builder, false, true);
	struct insn *insn;

	if (target == NOWHERE) {
		function_return(builder);
		return;
	}
	if (program->shape.table_jumps && one_in(random, 3)) {
		insn = emit(builder, KIND_JUMP);
		insn->form = FORM_TABLE;
		insn->compressed = true;
		insn->count = (uint16_t)table_entry(program, target, 0);
		insn->target = target;
	} else if (one_in(random, 3)) {
		jump(builder)->target = target;
	} else {
		enum kind kind = one_in(random, 4) ? KIND_OTHER_INDIRECT_JUMP : KIND_INDIRECT_JUMP;

		insn = indirect(builder, kind, one_in(random, 2) ? target : NOWHERE);
		if (insn->target == NOWHERE)
			choose(builder, insn, target);
	}
}

/* The end of a function of any kind. */
static void leave(struct builder *builder)
{
	const struct function *function = &builder->program->function[builder->function];
	static const uint32_t trap_returns[] = { 0x10200073, 0x30200073, 0x00200073, 0x70200073 };

	if (function->handler) {
		struct random *random = builder->random;
		uint32_t which = function->handler == PRIVILEGE_M;

		/* URET and MNRET are rare, because some decoders do not know them. */
		emit(builder, KIND_TRAP_RETURN)->bits =
			trap_returns[one_in(random, 10) ? 2 + which : which];
		return;
	}
	if (one_in(builder->random, 4))
		tail_call(builder);
	else
		function_return(builder);
}

static void statements(struct builder *builder, uint32_t count, unsigned int depth);

static void conditional(struct builder *builder, unsigned int depth)
{
	struct program *program = builder->program;
	uint32_t condition = here(builder);

	branch(builder, any_behaviour(builder));
	statements(builder, random_range(builder->random, 0, 2), depth);
	if (one_in(builder->random, 2)) {
		uint32_t over = here(builder);

		jump(builder);
		program->insn[condition].target = here(builder);
		statements(builder, random_range(builder->random, 0, 2), depth);
		program->insn[over].target = here(builder);
	} else {
		if (one_in(builder->random, 4) && !builder->bottom)
			leave(builder);
		program->insn[condition].target = here(builder);
	}
	plain(builder, 1);
}

static void loop(struct builder *builder, unsigned int depth)
{
	struct program *program = builder->program;
	uint32_t head = here(builder), condition;

	if (one_in(builder->random, 2)) {
		/* do ... while; without a body a branch to itself */
		if (!one_in(builder->random, 4))
			statements(builder, random_range(builder->random, 0, 2), depth);
		branch(builder, BEHAVE_LOOP)->target = head;
		return;
	}
	/* while: a pattern that contains a 1 ends it */
	plain(builder, 2);
	condition = here(builder);
	branch(builder, BEHAVE_PATTERN)->pattern |= 1;
	statements(builder, random_range(builder->random, 0, 2), depth);
	jump(builder)->target = head;
	program->insn[condition].target = here(builder);
}

static void recursion(struct builder *builder)
{
	struct program *program = builder->program;
	uint32_t condition = here(builder);

	branch(builder, BEHAVE_DEPTH);
	plain(builder, 3);
	call(builder, true);
	plain(builder, 1);
	program->insn[condition].target = here(builder);
}

/* An indirect jump to one of several cases, which all continue after the last case. */
static void cases(struct builder *builder, unsigned int depth)
{
	struct program *program = builder->program;
	uint32_t count = random_range(builder->random, 1, 4), dispatch, over[4];
	enum kind kind = one_in(builder->random, 4) ? KIND_OTHER_INDIRECT_JUMP : KIND_INDIRECT_JUMP;
	uint32_t start[4];

	indirect(builder, kind, NOWHERE);
	dispatch = here(builder) - 1;
	for (uint32_t i = 0; i < count; i++) {
		start[i] = here(builder);
		statements(builder, 1, depth);
		over[i] = here(builder);
		jump(builder);
	}
	for (uint32_t i = 0; i < count; i++) {
		program->insn[over[i]].target = here(builder);
		choose(builder, &program->insn[dispatch], start[i]);
	}
	plain(builder, 1);
}

/* Jumps that are pairs, across code that is not executed. */
static void pair(struct builder *builder)
{
	struct program *program = builder->program;
	uint32_t jump_at;

	indirect(builder,
		 one_in(builder->random, 3) ? KIND_OTHER_INDIRECT_JUMP : KIND_INDIRECT_JUMP,
		 here(builder));
	jump_at = here(builder) - 1;
	plain(builder, 4);
	program->insn[jump_at].target = here(builder);
}

static void swap(struct builder *builder)
{
	uint32_t target = callee(builder, false, true);

	if (builder->program->shape.well_nested) {
		pair(builder);
		return;
	}
	indirect(builder, KIND_SWAP, one_in(builder->random, 3) ? target : NOWHERE);
}

static void environment(struct builder *builder)
{
	struct insn *insn = emit(builder, KIND_ENVIRONMENT);

	insn->bits = one_in(builder->random, 2) ? 0x00000073 : 0x00100073;
	if (builder->program->shape.compressed && one_in(builder->random, 2)) {
		insn->bits = 0x9002;
		insn->size = 2;
	}
}

static void context(struct builder *builder)
{
	static const uint32_t writes[] = { 0x5a851073, 0x6a859073 };

	emit(builder, KIND_CONTEXT)->bits = writes[one_in(builder->random, 4)];
}

static void statement(struct builder *builder, unsigned int depth)
{
	const struct shape *shape = &builder->program->shape;
	struct random *random = builder->random;
	const struct function *function = &builder->program->function[builder->function];

	if (shape->contexts && function->handler && one_in(random, 3))
		context(builder);
	switch (random_below(random, depth ? 16 : 10)) {
	case 0:
	case 1:
	case 2:
		plain(builder, 6);
		break;
	case 3:
	case 4:
		call(builder, false);
		break;
	case 5:
		/* Handlers must not make hundreds of calls. */
		if (function->handler)
			call(builder, false);
		else
			recursion(builder);
		break;
	case 6:
		pair(builder);
		break;
	case 7:
		swap(builder);
		break;
	case 8:
		/* Handlers that trap before any other instruction would never make progress. */
		if (shape->trap_rate && !function->region)
			environment(builder);
		break;
	case 9:
		plain(builder, 1);
		break;
	case 10:
	case 11:
	case 12:
		conditional(builder, depth - 1);
		break;
	case 13:
	case 14:
		loop(builder, depth - 1);
		break;
	case 15:
		cases(builder, depth - 1);
		break;
	}
}

static void statements(struct builder *builder, uint32_t count, unsigned int depth)
{
	while (count-- && !builder->full)
		statement(builder, depth);
}

static void make_function(struct program *program, uint32_t index)
{
	struct function *function = &program->function[index];
	struct builder builder = {
		.program = program,
		.random = &program->random,
		.function = index,
		.bottom = program->shape.well_nested && (!index || function->handler),
	};
	struct random *random = &program->random;

	function->first = program->insns;
	if (program->shape.push_pop && one_in(random, 2)) {
		struct insn *insn = emit(&builder, KIND_PLAIN);

		insn->bits = 0xb802 | random_range(random, 4, 15) << 4;	/* cm.push */
		insn->size = 2;
	}
	statements(&builder, random_range(random, 1, function->handler ? 3 : 6), 2);
	if (!index) {
		plain(&builder, 1);
		jump(&builder)->target = function->first;
	} else {
		leave(&builder);
	}
	function->last = program->insns - 1;
}

/* Makes the functions of the program, the functions called by handlers, and the handlers. */
static void plan_functions(struct program *program)
{
	static const uint8_t handlers[] = { PRIVILEGE_S, PRIVILEGE_M,  PRIVILEGE_S,
					    PRIVILEGE_M, PRIVILEGE_VS, PRIVILEGE_VS };
	uint32_t own = random_range(&program->random, 2, 7);
	uint32_t helpers = random_range(&program->random, 1, 3);

	program->plain_functions = own + helpers;
	for (uint32_t i = own; i < program->plain_functions; i++)
		program->function[i].region = 1;
	program->functions = program->plain_functions;
	for (uint32_t i = 0; i < (program->shape.hypervisor ? 6u : 4u); i++) {
		struct function *function = &program->function[program->functions++];

		function->region = 1;
		function->handler = handlers[i];
	}
}

static uint32_t resolve(const struct program *program, uint32_t where)
{
	if (where == NOWHERE || !(where & TO_FUNCTION))
		return where;
	return program->function[where & ~TO_FUNCTION].first;
}

static void resolve_targets(struct program *program)
{
	for (uint32_t i = 0; i < program->choices; i++)
		program->choice[i] = resolve(program, program->choice[i]);
	for (uint32_t i = 0; i < TABLE_ENTRIES; i++)
		program->table[i] = program->function[i % program->functions].first;
	for (uint32_t i = 0; i < program->insns; i++)
		program->insn[i].target = resolve(program, program->insn[i].target);
}

static void place_regions(struct program *program)
{
	static const uint64_t bases[2][5] = {
		{ 0x10000, 0x80000000, 0xc0000000, 0x20010000, 0xfffe0000 },
		{ 0x10000, 0x80000000, 0x3fffb7e00000, 0xffffffff80000000, 0xffffffe000200000 },
	};
	uint32_t first = random_below(&program->random, 5);

	for (unsigned int i = 0; i < REGIONS; i++)
		program->region[i].address =
			bases[program->shape.xlen == 64]
			     [(first + i * random_range(&program->random, 1, 4)) % 5];
}

/* Computes addresses from sizes. Return: false: a region is too small. */
static bool place(struct program *program)
{
	uint64_t at[REGIONS];

	for (unsigned int i = 0; i < REGIONS; i++)
		at[i] = program->region[i].address;
	for (uint32_t f = 0; f < program->functions; f++) {
		const struct function *function = &program->function[f];
		uint64_t *address = &at[function->region];

		/* The gaps must be the same each time. */
		*address += 2 * (f * 7 % 13) + 2 * (f % 2);
		if (!program->shape.compressed)
			*address = (*address + 3) & ~UINT64_C(3);
		for (uint32_t i = function->first; i <= function->last; i++) {
			struct insn *insn = &program->insn[i];

			if (insn->compressed)
				insn->size = 2;
			insn->address = *address;
			*address += insn->size;
		}
	}
	program->table_address = (at[0] + 63) & ~UINT64_C(63);
	at[0] = program->table_address + TABLE_ENTRIES * program->shape.xlen / 8;
	for (unsigned int i = 0; i < REGIONS; i++) {
		program->region[i].size = at[i] - program->region[i].address;
		if (program->region[i].size > REGION_BYTES)
			return false;
	}
	return true;
}

/* Uses longer forms for transfers out of range. Return: false: no form is long enough. */
static bool relax(struct program *program, bool *changed)
{
	for (uint32_t i = 0; i < program->insns; i++) {
		struct insn *insn = &program->insn[i];

		if (encode_insn(program, insn))
			continue;
		*changed = true;
		if (insn->compressed && insn->form == FORM_BASE) {
			insn->compressed = false;
			insn->size = 4;
		} else if (insn->kind == KIND_UPPER && insn->form == FORM_BASE) {
			insn->form = FORM_AUIPC;
		} else {
			return false;
		}
	}
	return true;
}

static void put_bytes(struct region *region, uint64_t address, uint64_t value, unsigned int size)
{
	for (unsigned int i = 0; i < size; i++)
		region->bytes[address - region->address + i] = (uint8_t)(value >> 8 * i);
}

static void write_bytes(struct program *program)
{
	for (uint32_t f = 0; f < program->functions; f++) {
		const struct function *function = &program->function[f];

		for (uint32_t i = function->first; i <= function->last; i++) {
			const struct insn *insn = &program->insn[i];

			put_bytes(&program->region[function->region], insn->address,
				  encode_insn(program, insn), insn->size);
		}
	}
	for (uint32_t i = 0; i < TABLE_ENTRIES; i++)
		put_bytes(&program->region[0], program->table_address + i * program->shape.xlen / 8,
			  program->insn[program->table[i]].address, program->shape.xlen / 8);
}

bool program_make(struct program *program, const struct shape *shape, uint64_t seed)
{
	bool changed = true;

	memset(program, 0, sizeof(*program));
	program->shape = *shape;
	program->random.state = seed;
	plan_functions(program);
	for (uint32_t f = 0; f < program->functions; f++)
		make_function(program, f);
	resolve_targets(program);
	place_regions(program);
	/* Instructions never shrink, so the loop ends. */
	while (changed) {
		changed = false;
		if (!place(program) || !relax(program, &changed))
			return false;
	}
	write_bytes(program);
	return true;
}

const char *shape_isa(const struct shape *shape)
{
	if (shape->table_jumps)
		return shape->xlen == 32 ? "rv32imac_zicsr_zcmp_zcmt" : "rv64imac_zicsr_zcmp_zcmt";
	if (shape->push_pop)
		return shape->xlen == 32 ? "rv32imac_zicsr_zcmp" : "rv64imac_zicsr_zcmp";
	if (shape->compressed)
		return shape->xlen == 32 ? "rv32imac_zicsr" : "rv64gc";
	return shape->xlen == 32 ? "rv32imafd" : "rv64imafd";
}

struct ntrace_space *program_space(const struct program *program, const char *name)
{
	struct ntrace_space *space;

	if (ntrace_space_new(&space, name, NULL))
		return NULL;
	for (unsigned int i = 0; i < REGIONS; i++) {
		const struct region *region = &program->region[i];
		struct ntrace_object *object;

		if (ntrace_object_from_bytes(&object, i ? "handlers" : "program", region->bytes,
					     region->size, region->address))
			continue;
		ntrace_space_map_linked(space, object, 0);
		ntrace_object_put(object);
	}
	return space;
}
