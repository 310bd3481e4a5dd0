// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "ctr_check.h"

/* Print this many differences in full, and only count the rest. */
#define TOLD_MAX 20

/* Bits of xiselect that the emulator keeps; xiselect is a register of Sscsrind, not of CTR. */
#define SELECT_MASK 0xfff

static uint64_t model_get(const struct ctr_check *check, unsigned int csr)
{
	uint64_t value = 0;

	ntrace_ctr_model_read(&check->model, NTRACE_PRIV_M, csr, &value);
	return value;
}

static void model_set(struct ctr_check *check, unsigned int csr, uint64_t value)
{
	ntrace_ctr_model_write(&check->model, NTRACE_PRIV_M, csr, value);
}

/* Changes entry 0 of the model, and leaves siselect as it was. */
static void mutate(struct ctr_check *check)
{
	uint64_t select = model_get(check, NTRACE_CTR_CSR_SISELECT);

	model_set(check, NTRACE_CTR_CSR_SISELECT, NTRACE_CTR_SELECT);
	model_set(check, NTRACE_CTR_CSR_SIREG + 1,
		  model_get(check, NTRACE_CTR_CSR_SIREG + 1) ^ 0x10);
	model_set(check, NTRACE_CTR_CSR_SISELECT, select);
	check->mutate = 0;
}

static void adopt(struct ctr_check *check, const struct ctr_state *state)
{
	uint64_t select = model_get(check, NTRACE_CTR_CSR_SISELECT);

	model_set(check, NTRACE_CTR_CSR_MCTRCTL, state->mctrctl);
	model_set(check, NTRACE_CTR_CSR_VSCTRCTL, state->vsctrctl);
	ntrace_ctr_model_clear(&check->model, NTRACE_PRIV_M);
	model_set(check, NTRACE_CTR_CSR_SCTRDEPTH, state->depth);
	model_set(check, NTRACE_CTR_CSR_SCTRSTATUS, state->status);
	for (unsigned int i = 0; i < check->model.depth; i++) {
		unsigned int slot =
			ntrace_ctr_physical(check->model.status.wrptr, i, check->model.depth);

		model_set(check, NTRACE_CTR_CSR_SISELECT, NTRACE_CTR_SELECT + i);
		model_set(check, NTRACE_CTR_CSR_SIREG, state->source[slot]);
		model_set(check, NTRACE_CTR_CSR_SIREG + 1, state->target[slot]);
		model_set(check, NTRACE_CTR_CSR_SIREG + 2, state->data[slot]);
	}
	model_set(check, NTRACE_CTR_CSR_SISELECT, select);
	check->fresh = 0;
	check->changed = true;
}

static void different(struct ctr_check *check, const char *what, unsigned int number, uint64_t has,
		      uint64_t wants)
{
	char line[CTR_CHECK_LINE_MAX];

	if (check->differences++ >= TOLD_MAX)
		return;
	snprintf(line, sizeof(line),
		 "difference pc 0x%" PRIx64 " %s %u emulator 0x%" PRIx64 " model 0x%" PRIx64
		 " mctrctl 0x%" PRIx64 " vsctrctl 0x%" PRIx64 " depth %u wrptr %u frozen %d",
		 check->pc, what, number, has, wants, check->model.mctrctl, check->model.vsctrctl,
		 check->model.depth, check->model.status.wrptr, check->model.status.frozen);
	check->ops->say(check->opaque, line);
}

/*
 * Return: a text and its values if the two differ.
 *
 * All of the state within the depth is compared. Where the specification leaves a choice, both
 * sides made the same one: neither implements cycle counts and mispredictions; a larger depth shows
 * the old contents of the slots; a smaller depth cuts WRPTR.
 */
static const char *find_difference(const struct ctr_check *check, const struct ctr_state *state,
				   unsigned int *number, uint64_t *has, uint64_t *wants)
{
	const struct ntrace_ctr_model *model = &check->model;
	const struct {
		const char *name;
		uint64_t has, wants;
	} registers[] = {
		{ "mctrctl", state->mctrctl, model_get(check, NTRACE_CTR_CSR_MCTRCTL) },
		{ "vsctrctl", state->vsctrctl, model->vsctrctl },
		{ "sctrdepth", state->depth, model_get(check, NTRACE_CTR_CSR_SCTRDEPTH) },
		{ "sctrstatus", state->status, model_get(check, NTRACE_CTR_CSR_SCTRSTATUS) },
	};

	*number = 0;
	for (unsigned int i = 0; i < sizeof(registers) / sizeof(registers[0]); i++) {
		*has = registers[i].has;
		*wants = registers[i].wants;
		if (*has != *wants)
			return registers[i].name;
	}
	for (unsigned int i = 0; i < (check->changed ? model->depth : 1); i++) {
		unsigned int slot = ntrace_ctr_physical(model->status.wrptr, i, model->depth);
		const struct ntrace_ctr_entry *entry = &model->ring[slot];

		*number = i;
		*has = state->source[slot];
		*wants = entry->source;
		if (*has != *wants)
			return "ctrsource";
		*has = state->target[slot];
		*wants = entry->target;
		if (*has != *wants)
			return "ctrtarget";
		*has = state->data[slot];
		*wants = entry->data;
		if (*has != *wants)
			return "ctrdata";
	}
	return NULL;
}

static void compare(struct ctr_check *check)
{
	struct ctr_state state;
	unsigned int number;
	uint64_t has, wants;
	const char *what;

	if (!check->ops->observe)
		return;
	check->ops->observe(check->opaque, &state);
	ntrace_ctr_model_stateen(&check->model, state.mstateen0, state.hstateen0);
	if (check->mutate && check->fresh &&
	    check->feed.effects[NTRACE_CTR_RECORDED] >= check->mutate)
		mutate(check);
	check->comparisons += check->changed;
	check->entries += check->fresh < check->model.depth ? check->fresh : check->model.depth;
	check->fresh = 0;
	what = find_difference(check, &state, &number, &has, &wants);
	check->changed = false;
	if (what) {
		different(check, what, number, has, wants);
		adopt(check, &state);
	}
}

int ctr_check_init(struct ctr_check *check, const struct ntrace_ctr_config *config,
		   const struct ctr_check_ops *ops, void *opaque, uint64_t mutate_at)
{
	struct ntrace_ingress_port port = { .xlen = 64, .itype_bits = 4, .groups = 1 };

	*check = (struct ctr_check){ .ops = ops, .opaque = opaque, .mutate = mutate_at };
	if (ntrace_ctr_model_init(&check->model, config))
		return NTRACE_ERR_INVALID;
	port.xlen = check->model.config.xlen;
	return ntrace_ctr_ingress_init(&check->feed, &check->model, &port);
}

void ctr_check_reset(struct ctr_check *check)
{
	const struct ntrace_ctr_config config = check->model.config;
	struct ctr_state state;

	/* A transfer that waits for its target never gets one after a reset. */
	check->feed.has_waiting = false;
	check->feed.has_next = false;
	if (!check->ops->observe) {
		ntrace_ctr_model_init(&check->model, &config);
		return;
	}
	check->ops->observe(check->opaque, &state);
	model_set(check, NTRACE_CTR_CSR_SISELECT, state.siselect);
	model_set(check, NTRACE_CTR_CSR_VSISELECT, state.vsiselect);
	adopt(check, &state);
}

/* Runs after each call of the feed: counts what the transfer did to the ring. */
static void fed(struct ctr_check *check, int error, const uint64_t *before)
{
	const uint64_t *effects = check->feed.effects;

	if (error)
		different(check, "refused", (unsigned int)-error, 0, 0);
	check->changed |= memcmp(effects + 1, before + 1, sizeof(check->feed.effects) - 8) != 0;
	if (effects[NTRACE_CTR_RECORDED] != before[NTRACE_CTR_RECORDED]) {
		check->fresh++;
	} else if (effects[NTRACE_CTR_REPLACED] != before[NTRACE_CTR_REPLACED]) {
		if (!check->fresh)
			check->fresh = 1;
	} else if (effects[NTRACE_CTR_POPPED] != before[NTRACE_CTR_POPPED]) {
		if (check->fresh)
			check->fresh--;
	} else if (effects[NTRACE_CTR_FROZE] != before[NTRACE_CTR_FROZE]) {
		compare(check);
	}
}

void ctr_check_goes_on(struct ctr_check *check, uint64_t pc, unsigned int priv)
{
	uint64_t before[NTRACE_CTR_EFFECTS];
	int error;

	check->pc = pc;
	if (!check->feed.has_waiting)
		return;
	memcpy(before, check->feed.effects, sizeof(before));
	error = ntrace_ctr_ingress_target(&check->feed, pc, priv);
	fed(check, error, before);
}

void ctr_check_retire(struct ctr_check *check, const struct ntrace_ingress *block, uint64_t cause)
{
	uint64_t before[NTRACE_CTR_EFFECTS];
	int error;

	/* If a trap hit another trap's handler, this block now shows where the first trap went. */
	ctr_check_goes_on(check, block->iaddr, block->priv);
	memcpy(before, check->feed.effects, sizeof(before));
	error = ntrace_ctr_ingress_block(&check->feed, block, cause, 0);
	fed(check, error, before);
}

/* Registers of CTR, and those of Sscsrind through which entries are accessed. */
static bool is_ours(unsigned int csr)
{
	unsigned int offset = csr & 0xff;

	if (csr >> 8 < 1 || csr >> 8 > 3)
		return false;
	return (offset >= 0x4e && offset <= 0x57) || offset == 0x5f;
}

void ctr_check_before(struct ctr_check *check, unsigned int csr)
{
	if (!csr || is_ours(csr))
		compare(check);
}

/* True if an access through sireg and its aliases selects something other than an entry. */
static bool selects_other(const struct ctr_check *check, const struct ctr_access *access)
{
	bool guest = access->csr >> 8 == 2 || access->priv == NTRACE_PRIV_VS;
	unsigned int offset = access->csr & 0xff;
	uint64_t select;

	if (offset < 0x51 || offset > 0x57)
		return false;
	select = model_get(check, guest ? NTRACE_CTR_CSR_VSISELECT : NTRACE_CTR_CSR_SISELECT);
	return select - NTRACE_CTR_SELECT >= NTRACE_CTR_ENTRIES_MAX;
}

static bool is_select(const struct ctr_access *access)
{
	return access->csr == NTRACE_CTR_CSR_SISELECT || access->csr == NTRACE_CTR_CSR_VSISELECT;
}

void ctr_check_access(struct ctr_check *check, const struct ctr_access *access)
{
	uint64_t mask = access->mask;
	uint64_t old;
	int result;

	if (!is_ours(access->csr) || selects_other(check, access))
		return;
	result = ntrace_ctr_model_read(&check->model, access->priv, access->csr, &old);
	/* another CSR */
	if (result < 0)
		return;
	check->accesses++;
	if (result != access->result) {
		different(check, "trap at CSR", access->csr, (uint64_t)access->result,
			  (uint64_t)result);
		return;
	}
	if (result)
		return;
	if (access->has_value && access->value != old)
		different(check, "value of CSR", access->csr, access->value, old);
	if (is_select(access))
		mask &= SELECT_MASK;
	else if (mask)
		check->changed = true;
	if (mask)
		ntrace_ctr_model_write(&check->model, access->priv, access->csr,
				       (old & ~mask) | (access->new_value & mask));
}

bool ctr_check_execute(struct ctr_check *check, struct ctr_access *access)
{
	uint64_t old, value;
	int result = ntrace_ctr_model_read(&check->model, access->priv, access->csr, &old);

	if (result < 0)
		return false;
	access->result = result;
	check->accesses++;
	if (result)
		return true;
	access->value = old;
	value = (old & ~access->mask) | (access->new_value & access->mask);
	if (access->mask)
		ntrace_ctr_model_write(&check->model, access->priv, access->csr, value);
	return true;
}

void ctr_check_clear(struct ctr_check *check, unsigned int priv)
{
	int result;

	result = ntrace_ctr_model_clear(&check->model, priv);
	check->changed = true;
	check->accesses++;
	if (result)
		different(check, "SCTRCLR", priv, 0, (uint64_t)result);
}

void ctr_check_lost(struct ctr_check *check)
{
	different(check, "lost", 0, 0, 0);
}

void ctr_check_summary(const struct ctr_check *check, char *line)
{
	const uint64_t *effects = check->feed.effects;
	uint64_t transfers = 0;

	for (unsigned int i = 0; i < NTRACE_CTR_EFFECTS; i++)
		transfers += effects[i];
	snprintf(line, CTR_CHECK_LINE_MAX,
		 "transfers %" PRIu64 " recorded %" PRIu64 " replaced %" PRIu64 " popped %" PRIu64
		 " froze %" PRIu64 " entries %" PRIu64 " comparisons %" PRIu64 " accesses %" PRIu64
		 " differences %" PRIu64,
		 transfers, effects[NTRACE_CTR_RECORDED], effects[NTRACE_CTR_REPLACED],
		 effects[NTRACE_CTR_POPPED], effects[NTRACE_CTR_FROZE], check->entries,
		 check->comparisons, check->accesses, check->differences);
}
