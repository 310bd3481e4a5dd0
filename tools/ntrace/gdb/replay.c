// SPDX-License-Identifier: GPL-2.0-only
/* A hart's execution by its tandem trace, see replay.h. */
#include <stdlib.h>
#include <string.h>

#include <ntrace/values.h>

#include "replay.h"

/* States that are kept; at first one for each INTERVAL groups, and then of twice as many. */
#define KEPT 256
#define INTERVAL 256
#define FIELDS 16

#define SEPC 0x141
#define SATP 0x180
#define VSEPC 0x241
#define VSATP 0x280
#define MSTATUS 0x300
#define MEPC 0x341
#define HGATP 0x680
#define PRIV_M 3
#define MSTATUS_MPRV (UINT64_C(1) << 17)

/* A place, and how it goes on: copies of it are states that are kept. */
struct walk {
	struct ntrace_tandem_reader reader;
	struct ntrace_tandem_field field[FIELDS];
	int at, count;
	uint64_t groups;	/* applied */
	struct ntrace_tandem_state state;
};

struct replay {
	struct ntrace_tandem_params params;
	uint64_t groups;
	struct walk now;
	struct walk *kept[KEPT];	/* [k]: after k * @interval groups */
	size_t keeps;
	uint64_t interval;
	struct ntrace_value_log *memory;	/* at each time what group is told */
	struct ntrace_flow_event flow;
	struct ntrace_cursor_place place;
};

void replay_free(struct replay *replay)
{
	if (!replay)
		return;
	for (size_t i = 0; i < replay->keeps; i++)
		free(replay->kept[i]);
	ntrace_value_log_free(replay->memory);
	free(replay);
}

uint64_t replay_groups(const struct replay *replay)
{
	return replay->groups;
}

const struct ntrace_tandem_params *replay_params(const struct replay *replay)
{
	return &replay->params;
}

/* ---- groups ---- */

/* Applies fields up to one that ends a group. Return: that field; NULL: there is none, see @error */
static const struct ntrace_tandem_field *
next_group(struct walk *walk, bool (*field)(void *user, const struct ntrace_tandem_field *field),
	   void *user, int *error)
{
	const struct ntrace_tandem_field *at;

	for (;;) {
		if (walk->at == walk->count) {
			walk->at = 0;
			walk->count = ntrace_tandem_read(&walk->reader, walk->field, FIELDS);
			if (walk->count <= 0) {
				*error = walk->count;
				walk->count = 0;
				return NULL;
			}
		}
		at = &walk->field[walk->at++];
		if (ntrace_tandem_state_apply(&walk->state, at)) {
			walk->groups++;
			return at;
		}
		if (field && !field(user, at)) {
			*error = NTRACE_ERR_NOMEM;
			return NULL;
		}
	}
}

/* Keeps the place if it is one of those; half of the others make room for it. */
static bool keep(struct replay *replay)
{
	struct walk *copy;

	if (replay->now.groups % replay->interval)
		return true;
	if (replay->keeps == KEPT) {
		for (size_t i = 0; i < KEPT; i += 2) {
			free(replay->kept[i + 1]);
			replay->kept[i / 2] = replay->kept[i];
		}
		replay->keeps = KEPT / 2;
		replay->interval *= 2;
	}
	copy = malloc(sizeof(*copy));
	if (!copy)
		return false;
	*copy = replay->now;
	replay->kept[replay->keeps++] = copy;
	return true;
}

uint64_t replay_part(const struct replay *replay, uint64_t number)
{
	return number - number % replay->interval;
}

static void seek(struct replay *replay, uint64_t number)
{
	uint64_t groups = number + 1, kept = groups / replay->interval;
	int error;

	if (kept >= replay->keeps)
		kept = replay->keeps - 1;
	if (replay->now.groups > groups || replay->now.groups < kept * replay->interval)
		replay->now = *replay->kept[kept];
	while (replay->now.groups < groups && next_group(&replay->now, NULL, NULL, &error))
		;
}

const struct ntrace_tandem_state *replay_state(struct replay *replay, uint64_t number)
{
	seek(replay, number);
	return &replay->now.state;
}

void replay_walk(struct replay *replay, uint64_t from, uint64_t to,
		 bool (*group)(void *user, uint64_t number,
			       const struct ntrace_tandem_state *state),
		 void *user)
{
	for (; from <= to && group(user, from, replay_state(replay, from)); from++)
		;
}

const struct ntrace_cursor_place *replay_place(struct replay *replay, uint64_t number)
{
	const struct ntrace_tandem_state *state = replay_state(replay, number);

	replay->place.address = replay->flow.address = replay->flow.last =
		state->reg[NTRACE_TANDEM_PC];
	replay->place.offset = state->offset;
	return &replay->place;
}

unsigned int replay_store(const struct ntrace_tandem_state *state, uint64_t *address)
{
	if (!(state->has & NTRACE_TANDEM_HAS_STORE) ||
	    !(state->has & (NTRACE_TANDEM_HAS_EADDR | NTRACE_TANDEM_HAS_PADDR)))
		return 0;
	*address = state->has & NTRACE_TANDEM_HAS_EADDR ? state->eaddr : state->paddr;
	return state->store_bytes;
}

/* ---- addresses ---- */

/* Privileged Architecture 1.12, 3.1.6.3 and 4.1.11. @data: of loads and stores */
static uint64_t privilege_of(const struct ntrace_tandem_state *state, bool data)
{
	uint64_t priv = state->reg[NTRACE_TANDEM_PRIV], status = state->reg[MSTATUS];

	/* A program without its kernel has no privilege, and no translation. */
	if (!ntrace_tandem_bit(state->known, NTRACE_TANDEM_PRIV))
		return PRIV_M;
	return data && priv == PRIV_M && (status & MSTATUS_MPRV) ? status >> 11 & 3 : priv;
}

static unsigned int satp_mode(const struct replay *replay, const struct ntrace_tandem_state *state)
{
	return (unsigned int)(state->reg[SATP] >> (replay->params.xlen == 32 ? 31 : 60));
}

/* A guest of a hypervisor cannot be told from its host. */
static bool may_be_guest(const struct ntrace_tandem_state *state)
{
	return state->reg[VSATP] || state->reg[HGATP];
}

static bool is_translated(const struct replay *replay, const struct ntrace_tandem_state *state,
			  bool data)
{
	return privilege_of(state, data) != PRIV_M &&
	       (satp_mode(replay, state) || may_be_guest(state));
}

/* Privileged Architecture 1.12, 4.3.2; Svnapot 5.1. Return: false: not known, or not mapped */
static bool walk_table(const struct replay *replay, const struct ntrace_tandem_state *state,
		       uint64_t number, uint64_t address, uint64_t *physical)
{
	bool narrow = replay->params.xlen == 32;
	unsigned int mode = satp_mode(replay, state), size = narrow ? 4 : 8, bits = narrow ? 10 : 9,
		     level = narrow ? 2 : mode - 5, shift;
	uint64_t table = state->reg[SATP] & (narrow ? 0x3fffff : UINT64_C(0xfffffffffff)), entry;

	if (may_be_guest(state) || (!narrow && (mode < 8 || mode > 10)))
		return false;
	shift = 12 + bits * level;
	if (!narrow && (uint64_t)((int64_t)(address << (64 - shift)) >> (64 - shift)) != address)
		return false;
	while (level--) {
		struct ntrace_exec_value found;

		shift -= bits;
		found = ntrace_value_log_read(
			replay->memory, number,
			(table << 12) + (address >> shift & ((1u << bits) - 1)) * size, size, NULL);
		entry = found.bits;
		if (found.known != UINT64_MAX >> (64 - 8 * size) || !(entry & 1))
			return false;
		table = narrow ? entry >> 10 : entry >> 10 & UINT64_C(0xfffffffffff);
		if (!(entry & 0xe))
			continue;
		if (!narrow && entry >> 63 && !level)
			shift = 16;
		*physical = (table << 12 & ~((UINT64_C(1) << shift) - 1)) |
			    (address & ((UINT64_C(1) << shift) - 1));
		return true;
	}
	return false;
}

struct ntrace_exec_value replay_read(struct replay *replay, uint64_t number, uint64_t address,
				     unsigned int bytes, enum replay_loaded *loaded)
{
	const struct ntrace_tandem_state *state = replay_state(replay, number);
	bool translated = is_translated(replay, state, false);
	uint64_t physical = address;

	*loaded = REPLAY_NOTHING;
	if (translated && !walk_table(replay, state, number, address, &physical))
		return (struct ntrace_exec_value){ 0, 0 };
	if (!ntrace_value_log_forgot(replay->memory, number))
		*loaded = translated ? REPLAY_CODE : REPLAY_ALL;
	return ntrace_value_log_read(replay->memory, number, physical, bytes, NULL);
}

/* ---- survey ---- */

/* @stored: the stores of the group so far are in the memory. */
struct survey {
	struct replay *replay;
	bool stored;
};

static uint8_t mask_of(unsigned int bytes)
{
	return (uint8_t)(0xff >> (8 - bytes));
}

/* Bytes of group @group, which is not below those before. Return: false when out of memory */
static bool note_bytes(struct replay *replay, uint64_t group, uint64_t address, unsigned int bytes,
		       uint64_t bits)
{
	const struct ntrace_exec_value value = { bits, UINT64_MAX };

	return !ntrace_value_log_write(replay->memory, group, address, mask_of(bytes), value);
}

/* The same, but bytes that are known stay as they are. */
static bool note_new_bytes(struct replay *replay, uint64_t group, uint64_t address,
			   unsigned int bytes, uint64_t bits)
{
	for (unsigned int i = 0; i < bytes; i++) {
		const struct ntrace_exec_value old =
			ntrace_value_log_read(replay->memory, group, address + i, 1, NULL);

		if (!old.known && !note_bytes(replay, group, address + i, 1, bits >> 8 * i))
			return false;
	}
	return true;
}

/* Nothing is known after group @group. Return: false when out of memory */
static bool forget_all(struct replay *replay, uint64_t group)
{
	return !ntrace_value_log_change(replay->memory, group, 0, UINT64_MAX, false);
}

/* Physical address of the group's data access. Return: false: not known */
static bool data_address(const struct replay *replay, const struct ntrace_tandem_state *state,
			 uint64_t *address)
{
	*address = state->has & NTRACE_TANDEM_HAS_PADDR ? state->paddr : state->eaddr;
	return state->has & NTRACE_TANDEM_HAS_PADDR ||
	       (state->has & NTRACE_TANDEM_HAS_EADDR && !is_translated(replay, state, true));
}

static bool take_store(struct survey *survey)
{
	struct replay *replay = survey->replay;
	const struct ntrace_tandem_state *state = &replay->now.state;
	uint64_t address;

	survey->stored = true;
	if (!data_address(replay, state, &address))
		return forget_all(replay, replay->now.groups);
	return note_bytes(replay, replay->now.groups, address, state->store_bytes, state->store);
}

/* A group that initialises state may have many stores. */
static bool survey_field(void *user, const struct ntrace_tandem_field *field)
{
	struct survey *survey = user;
	const struct ntrace_tandem_state *state = &survey->replay->now.state;
	uint64_t address;

	if (field->type == NTRACE_TANDEM_REQUEST && field->op == NTRACE_TANDEM_STORE)
		return note_bytes(survey->replay, survey->replay->now.groups, field->address,
				  1u << (field->size & 3), field->value);
	if (field->type == NTRACE_TANDEM_STATE && field->id >= NTRACE_TANDEM_STATE_STORE8 &&
	    field->id <= NTRACE_TANDEM_STATE_STORE64) {
		survey->stored = false;
		if (data_address(survey->replay, state, &address))
			return take_store(survey);
	}
	return true;
}

static bool is_trap(const struct ntrace_tandem_state *state)
{
	/* Instructions that write xepc are not loads or stores. */
	return ntrace_tandem_bit(state->changed, MEPC) || ntrace_tandem_bit(state->changed, SEPC) ||
	       ntrace_tandem_bit(state->changed, VSEPC);
}

/* Bytes that the instruction loads into the register @to; 0: none, or another kind of load. */
static unsigned int load_of(uint64_t insn, unsigned int xlen, unsigned int *to)
{
	unsigned int funct3 = insn >> 13 & 7, quadrant = insn & 3, word = xlen / 8;

	*to = insn >> 7 & 31;
	if (quadrant == 3) {
		funct3 = insn >> 12 & 7;
		if ((insn & 0x7f) == 0x03 && funct3 < 7)
			return 1u << (funct3 & 3);
		/* lr */
		if ((insn & 0x7f) == 0x2f && insn >> 27 == 2)
			return 1u << funct3;
		*to += NTRACE_TANDEM_FPR - NTRACE_TANDEM_GPR;
		return (insn & 0x7f) == 0x07 && funct3 > 0 && funct3 < 4 ? 1u << funct3 : 0;
	}
	if (quadrant == 1)
		return 0;
	if (!quadrant)
		*to = 8 + (insn >> 2 & 7);
	/* Zcb: c.lbu, c.lhu, c.lh */
	if (!quadrant && funct3 == 4)
		return (insn >> 10 & 7) < 2 ? 1u + (insn >> 10 & 1) : 0;
	if (funct3 == 1 || (funct3 == 3 && xlen == 32))
		*to += NTRACE_TANDEM_FPR - NTRACE_TANDEM_GPR;
	return funct3 == 1 ? 8 : funct3 == 2 ? 4 : funct3 == 3 ? word : 0;
}

/* Whether the instruction stores what the trace does not tell. */
static bool is_lost_store(const struct ntrace_tandem_state *state)
{
	uint64_t insn = state->insn;
	unsigned int funct3 = insn >> 12 & 7, to = insn >> 7 & 31;
	bool told = state->has & NTRACE_TANDEM_HAS_STORE;

	if ((insn & 3) != 3) {
		/* cm.push has several, and changes sp; c.fsdsp does not. */
		if ((insn & 0xff03) == 0xb802 &&
		    ntrace_tandem_bit(state->changed, NTRACE_TANDEM_GPR + 2))
			return true;
		funct3 = insn >> 13 & 7;
		return !told && !(insn & 1) &&
		       (funct3 > 4 || ((insn & 3) == 0 && funct3 == 4 && (insn >> 11 & 1)));
	}
	switch (insn & 0x7f) {
	case 0x23:
		return !told;
	case 0x27:
		/* The others are vectors. */
		return !told || funct3 < 1 || funct3 > 4;
	case 0x2f:
		/* lr, and sc that failed */
		return !told && insn >> 27 != 2 &&
		       !(insn >> 27 == 3 && to && state->reg[NTRACE_TANDEM_GPR + to]);
	case 0x0f:
		/* cbo.zero */
		return (insn & 0xfff07fff) == 0x0040200f;
	case 0x73:
		/* hsv */
		return !told && funct3 == 4 && (insn >> 25 & 1);
	default:
		return false;
	}
}

/* What a group tells about memory beyond its stores. */
static bool take_insn(struct replay *replay)
{
	const struct ntrace_tandem_state *state = &replay->now.state;
	uint64_t group = replay->now.groups - 1, address;
	unsigned int bytes, to;

	if (!(state->has & NTRACE_TANDEM_HAS_INSN) || is_trap(state))
		return true;
	if (is_lost_store(state))
		return forget_all(replay, group);
	/* A store may have changed the code since: what it told is more. */
	if (!is_translated(replay, state, false) &&
	    !ntrace_tandem_bit(state->changed, NTRACE_TANDEM_PRIV) &&
	    !ntrace_tandem_bit(state->changed, SATP) &&
	    (state->insn_bytes == 2 || (state->insn & 3) == 3) &&
	    !note_new_bytes(replay, group, state->pc_before, state->insn_bytes, state->insn))
		return false;
	bytes = load_of(state->insn, replay->params.xlen, &to);
	if (!bytes || !to || (state->has & NTRACE_TANDEM_HAS_STORE) ||
	    !ntrace_tandem_bit(state->known, NTRACE_TANDEM_GPR + to) ||
	    !data_address(replay, state, &address))
		return true;
	return note_bytes(replay, group, address, bytes, state->reg[NTRACE_TANDEM_GPR + to]);
}

static int survey(struct replay *replay,
		  bool (*group)(void *user, const struct ntrace_tandem_state *state), void *user)
{
	struct survey at = { .replay = replay, .stored = true };
	int error = 0;

	for (;;) {
		if (!keep(replay))
			return NTRACE_ERR_NOMEM;
		if (!next_group(&replay->now, survey_field, &at, &error))
			break;
		replay->now.groups--;
		if (!at.stored && !take_store(&at))
			return NTRACE_ERR_NOMEM;
		replay->now.groups++;
		at.stored = true;
		if (!take_insn(replay) || !group(user, &replay->now.state))
			return NTRACE_ERR_NOMEM;
	}
	replay->groups = replay->now.groups;
	/* The fields of a group without an end are in that state. */
	replay->now = *replay->kept[0];
	return error;
}

int replay_new(struct replay **made, const struct ntrace_tandem_params *params, const void *data,
	       size_t size, struct ntrace_space *space,
	       bool (*group)(void *user, const struct ntrace_tandem_state *state), void *user)
{
	struct replay *replay = calloc(1, sizeof(*replay));
	int error;

	*made = replay;
	if (!replay)
		return NTRACE_ERR_NOMEM;
	replay->memory = ntrace_value_log_new();
	if (!replay->memory) {
		replay_free(replay);
		*made = NULL;
		return NTRACE_ERR_NOMEM;
	}
	replay->params = *params;
	replay->interval = INTERVAL;
	replay->flow.type = NTRACE_FLOW_BLOCK;
	replay->flow.space = space;
	replay->flow.instructions = replay->place.instructions = 1;
	replay->place.type = NTRACE_FLOW_BLOCK;
	replay->place.flow = &replay->flow;
	replay->place.comm = "";
	replay->place.privilege = NTRACE_CURSOR_NO_PRIVILEGE;
	ntrace_tandem_state_init(&replay->now.state, params);
	error = ntrace_tandem_reader_init(&replay->now.reader, params);
	if (!error) {
		ntrace_tandem_reader_feed(&replay->now.reader, data, size);
		error = survey(replay, group, user);
	}
	if (error && error != NTRACE_ERR_FORMAT) {
		replay_free(replay);
		*made = NULL;
	}
	return error;
}
