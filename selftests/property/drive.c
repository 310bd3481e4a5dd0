// SPDX-License-Identifier: GPL-2.0-only
/* Feeds the encoder's ingress port with a walk, block by block or cycle by cycle. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "drive.h"

void row_shape(const struct row *row, struct shape *shape, struct random *random)
{
	int64_t disturb = row_value(row, FACTOR_DISTURB);

	memset(shape, 0, sizeof(*shape));
	shape->xlen = (unsigned int)row_value(row, FACTOR_XLEN);
	shape->compressed = row_value(row, FACTOR_ISA) > 0;
	shape->push_pop = row_value(row, FACTOR_ISA) > 1;
	shape->table_jumps = row_value(row, FACTOR_ISA) > 2;
	shape->well_nested = row_value(row, FACTOR_WELL_NESTED);
	shape->hypervisor = row_value(row, FACTOR_HYPERVISOR);
	shape->contexts = row_value(row, FACTOR_CONTEXT);
	shape->power_sizes = row_value(row, FACTOR_PORT) < 0;
	shape->accesses = row_value(row, FACTOR_ACCESSES);
	shape->ecall_retires = row_value(row, FACTOR_ECALL_RETIRES);
	shape->trap_rate = (uint32_t)row_value(row, FACTOR_TRAP_RATE);
	shape->off_rate = disturb & 1 ? random_range(random, 30, 300) : 0;
	shape->overrun_rate = disturb & 2 ? random_range(random, 30, 300) : 0;
	shape->trigger_rate = (uint32_t)row_value(row, FACTOR_MARKERS);
	shape->steps = random_range(random, 50, one_in(random, 8) ? 15000 : 3000);
}

static void row_params(const struct row *row, struct ntrace_params *params)
{
	params->xlen = (unsigned int)row_value(row, FACTOR_XLEN);
	params->mode = (enum ntrace_mode)row_value(row, FACTOR_MODE);
	params->dialect = (enum ntrace_dialect)row_value(row, FACTOR_DIALECT);
	params->src_bits = (unsigned int)row_value(row, FACTOR_SRC_BITS);
	params->extend_address = row_value(row, FACTOR_EXTEND_ADDRESS);
	params->address_bits = (unsigned int)row_value(row, FACTOR_ADDRESS_BITS);
	params->all_jumps = row_value(row, FACTOR_ALL_JUMPS);
	params->implicit_return = (unsigned int)row_value(row, FACTOR_IMPLICIT_RETURN);
	params->keep_stack = row_value(row, FACTOR_KEEP_STACK);
	if (row_value(row, FACTOR_TIMESTAMPS))
		params->timestamp_bits = (unsigned int)row_value(row, FACTOR_TIMESTAMP_BITS);
	params->timestamp_delta = (enum ntrace_time_delta)row_value(row, FACTOR_TIMESTAMP_DELTA);
	if (params->dialect == NTRACE_DIALECT_SIFIVE_V0 &&
	    params->timestamp_delta == NTRACE_TIME_DELTA_ADD)
		params->timestamp_delta = NTRACE_TIME_DELTA_XOR;
	params->repeat_message = row_value(row, FACTOR_REPEAT_BRANCH) == 2;
}

static void row_ranges(const struct row *row, const struct program *program,
		       struct ntrace_encoder_config *config)
{
	const struct function *function = program->function;

	config->range_count = (unsigned int)row_value(row, FACTOR_RANGES);
	if (config->range_count == 1) {
		config->range[0].first = program->region[0].address;
		config->range[0].last = program->region[0].address + program->region[0].size - 1;
		return;
	}
	/* Every other function. */
	for (unsigned int i = 0; i < config->range_count; i++) {
		const struct function *this = &function[2 * i % program->functions];

		config->range[i].first = program->insn[this->first].address;
		config->range[i].last = program->insn[this->last].address;
	}
}

void row_config(const struct row *row, const struct program *program,
		struct ntrace_encoder_config *config, struct ntrace_params *params)
{
	ntrace_encoder_config_init(config);
	ntrace_params_init(params);
	row_params(row, params);
	config->params = params;
	config->src = (1u << params->src_bits) * 2 / 3;
	config->icnt_bits = (unsigned int)row_value(row, FACTOR_ICNT_BITS);
	if (row_value(row, FACTOR_ICNT_FULL))
		config->icnt_full = (uint32_t)((UINT64_C(1) << config->icnt_bits) * 3 / 4);
	config->hist_bits = (unsigned int)row_value(row, FACTOR_HIST_BITS);
	config->sync_mode = (unsigned int)row_value(row, FACTOR_SYNC_MODE);
	config->sync_max = (unsigned int)row_value(row, FACTOR_SYNC_MAX);
	config->priv_mask = (uint32_t)row_value(row, FACTOR_FILTER);
	config->trap_btype = row_value(row, FACTOR_TRAP_BTYPE);
	config->itype_bits = (unsigned int)row_value(row, FACTOR_ITYPE_BITS);
	config->single_retire = row_value(row, FACTOR_PORT) < 0;
	config->implicit_return_depth = (unsigned int)row_value(row, FACTOR_RETURN_DEPTH);
	config->return_compare_bits = (unsigned int)row_value(row, FACTOR_COMPARE_BITS);
	config->repeated_history = row_value(row, FACTOR_REPEATED_HISTORY);
	config->hrepeat_bits = (unsigned int)row_value(row, FACTOR_HREPEAT_BITS);
	config->repeat_branch = row_value(row, FACTOR_REPEAT_BRANCH);
	config->bcnt_bits = (unsigned int)row_value(row, FACTOR_BCNT_BITS);
	config->sequential_jumps = row_value(row, FACTOR_SEQUENTIAL);
	config->sync4_for_icnt = row_value(row, FACTOR_SYNC4);
	config->zc_accesses = row_value(row, FACTOR_ACCESSES);
	config->empty_fields = row_value(row, FACTOR_EMPTY_FIELDS);
	config->empty_history = row_value(row, FACTOR_EMPTY_HISTORY);
	config->unspecified_errors = row_value(row, FACTOR_NO_ECODE);
	config->timestamps = (enum ntrace_timestamps)row_value(row, FACTOR_TIMESTAMPS);
	config->context = row_value(row, FACTOR_CONTEXT);
	config->hypervisor = row_value(row, FACTOR_HCONTEXT);
	if (row_value(row, FACTOR_FIFO)) {
		config->fifo_bytes = NTRACE_ENCODER_FIFO_MIN;
		/* A quarter of a byte per cycle, with one block per cycle. */
		config->fifo_drain = 1 << 14;
		config->stall = row_value(row, FACTOR_FIFO) == 2;
	}
	if (program)
		row_ranges(row, program, config);
}

void walk_to_single_steps(struct walk *walk)
{
	static struct step single[STEPS_MAX];
	uint32_t count = 0;

	for (uint32_t i = 0; i < walk->steps; i++) {
		const struct step *step = &walk->step[i];
		uint32_t pieces = step->pc_count ? step->pc_count : 1;

		for (uint32_t k = 0; k < pieces && count < STEPS_MAX; k++) {
			struct step *one = &single[count++];

			*one = *step;
			if (!step->pc_count)
				break;
			one->address = walk->pc[step->pcs + k];
			one->pcs = step->pcs + k;
			one->pc_count = 1;
			if (k + 1 == pieces) {
				one->parcels = step->last_size / 2;
				continue;
			}
			one->last_size = (uint8_t)(walk->pc[one->pcs + 1] - one->address);
			one->parcels = one->last_size / 2;
			one->itype = 0;
			one->accesses = 0;
			one->sequential = false;
		}
	}
	memcpy(walk->step, single, count * sizeof(single[0]));
	walk->steps = count;
}

static void take(void *data, const uint8_t *bytes, size_t size)
{
	struct drive *drive = data;

	if (drive->size + size > STREAM_MAX || drive->stamps == STAMPS_MAX) {
		snprintf(drive->text, sizeof(drive->text), "a stream of more than %zu bytes",
			 drive->size);
		return;
	}
	drive->stamp[drive->stamps].offset = drive->size;
	drive->stamp[drive->stamps].before = drive->before;
	drive->stamp[drive->stamps++].time = drive->now;
	memcpy(drive->stream + drive->size, bytes, size);
	drive->size += size;
}

/* itype in the width of the port (E-Trace, chapter 4). */
static uint8_t port_itype(const struct drive *drive, uint8_t itype)
{
	if (drive->config.itype_bits == 4)
		return itype;
	switch (itype) {
	case 9:
	case 11:
	case 15:
		return drive->params.all_jumps ? 5 : 0;
	case 8:
	case 10:
	case 12:
	case 13:
	case 14:
		return 6;
	default:
		return itype;
	}
}

static uint8_t port_size(const struct step *step)
{
	return step->last_size == 8 ? 2 : step->last_size > 2;
}

/* The context signal; ctype reports a change since the last block. */
static unsigned int context_change(struct drive *drive, const struct step *step)
{
	bool changed = step->scontext != drive->scontext || step->hcontext != drive->hcontext;

	drive->scontext = step->scontext;
	drive->hcontext = step->hcontext;
	return changed ? drive->ctype : NTRACE_CTYPE_NONE;
}

static bool feed_block(struct drive *drive, const struct step *step)
{
	struct ntrace_ingress block = {
		.iaddr = step->address,
		.iretire = step->parcels,
		.itype = port_itype(drive, step->itype),
		.ilastsize = port_size(step),
		.priv = step->privilege,
		.sijump = step->sequential,
	};
	unsigned int ctype = context_change(drive, step);

	ntrace_encoder_cycles(&drive->encoder, 1);
	drive->before = drive->now;
	drive->now = drive->time;
	ntrace_encoder_time(&drive->encoder, drive->time);
	if (drive->config.context)
		ntrace_encoder_context(&drive->encoder, step->scontext, step->hcontext,
				       (enum ntrace_ctype)ctype);
	if (drive->marker)
		ntrace_encoder_marker(&drive->encoder, one_in(&drive->random, 2) ?
							       NTRACE_SYNC_EXTERNAL_TRIGGER :
							       NTRACE_SYNC_TRACE_EVENT);
	drive->marker = false;
	return !ntrace_encoder_retire(&drive->encoder, &block);
}

static bool send_cycle(struct drive *drive)
{
	bool good;

	if (!drive->cycle.groups && !drive->cycle.halted && !drive->cycle.reset)
		return true;
	drive->before = drive->now;
	drive->now = drive->cycle.time;
	good = ntrace_encoder_cycle(&drive->encoder, &drive->cycle) >= 0 &&
	       record(drive, NTRACE_INGRESS_CYCLE, 0);
	memset(&drive->cycle, 0, sizeof(drive->cycle));
	return good;
}

/* Adds a group, in a new cycle if the port's rules require one. */
static bool feed_group(struct drive *drive, const struct step *step)
{
	struct ntrace_ingress_cycle *cycle = &drive->cycle;
	unsigned int ctype = context_change(drive, step), most;
	struct ntrace_ingress_group *group;

	most = random_range(&drive->random, 1,
			    (uint32_t)(drive->port < 0 ? -drive->port : drive->port));
	if (cycle->groups && (cycle->groups >= most || cycle->priv != step->privilege || ctype ||
			      cycle->group[cycle->groups - 1].itype == NTRACE_ITYPE_EXCEPTION ||
			      cycle->group[cycle->groups - 1].itype == NTRACE_ITYPE_INTERRUPT)) {
		if (!send_cycle(drive))
			return false;
	}
	if (!cycle->groups) {
		cycle->idle = random_below(&drive->random, 3);
		cycle->time = drive->time;
		cycle->scontext = step->scontext;
		cycle->hcontext = step->hcontext;
		cycle->priv = step->privilege;
		cycle->ctype = (uint8_t)ctype;
		cycle->trace_on = drive->trace_on;
		drive->trace_on = false;
	} else {
		/* All signals of a cycle are simultaneous. */
		drive->time = cycle->time;
	}
	if (drive->marker && one_in(&drive->random, 2))
		cycle->external = true;
	else if (drive->marker)
		cycle->notify |= 1u << cycle->groups;
	drive->marker = false;
	group = &cycle->group[cycle->groups++];
	group->iaddr = step->address;
	group->iretire = drive->port < 0 ? step->parcels > 0 : step->parcels;
	group->itype = port_itype(drive, step->itype);
	group->ilastsize = port_size(step);
	group->sijump = step->sequential;
	return true;
}

/* Enters or leaves Debug Mode or reset. */
static bool hold(struct drive *drive, uint8_t how, bool on)
{
	drive->held = on ? how : STOP_DISABLE;
	if (!drive->port) {
		if (how == STOP_HALT)
			ntrace_encoder_halted(&drive->encoder, on);
		else
			ntrace_encoder_reset(&drive->encoder, on);
		return true;
	}
	/* A level holds until a cycle changes it; the next cycle with groups will do so. */
	if (!on)
		return true;
	drive->cycle.halted = how == STOP_HALT;
	drive->cycle.reset = how == STOP_RESET;
	drive->cycle.time = drive->now;
	drive->cycle.scontext = drive->scontext;
	drive->cycle.hcontext = drive->hcontext;
	return send_cycle(drive);
}

static bool feed_stop(struct drive *drive, uint8_t how)
{
	static const enum ntrace_evcode evcodes[] = { NTRACE_EVCODE_DEBUG_ENTRY,
						      NTRACE_EVCODE_LOW_POWER,
						      NTRACE_EVCODE_TRACE_DISABLE };

	enum ntrace_evcode evcode = evcodes[random_below(&drive->random, 3)];

	if (how != STOP_DISABLE)
		return send_cycle(drive) && hold(drive, how, true);
	drive->by_trigger = drive->port && drive->cycle.groups && one_in(&drive->random, 2);
	drive->cycle.trace_off = drive->by_trigger;
	if (drive->port && !send_cycle(drive))
		return false;
	if (drive->by_trigger)
		return true;
	ntrace_encoder_stop(&drive->encoder, evcode);
	return record(drive, NTRACE_INGRESS_STOP, evcode);
}

static bool feed_start(struct drive *drive)
{
	static const enum ntrace_sync syncs[] = { NTRACE_SYNC_RESET_EXIT, NTRACE_SYNC_DEBUG_EXIT,
						  NTRACE_SYNC_TRACE_ENABLE,
						  NTRACE_SYNC_POWER_DOWN_EXIT };

	enum ntrace_sync sync = syncs[random_below(&drive->random, 4)];

	if (drive->port && !send_cycle(drive))
		return false;
	if (drive->held)
		return hold(drive, drive->held, false);
	if (drive->by_trigger) {
		drive->trace_on = true;
		return true;
	}
	ntrace_encoder_start(&drive->encoder, sync);
	return record(drive, NTRACE_INGRESS_START, sync);
}

static bool feed_one(struct drive *drive, const struct step *step)
{
	return drive->port ? feed_group(drive, step) : feed_block(drive, step);
}

/* E-Trace, chapter 4: the block, then its last instruction once more for each further access. */
static bool feed_accesses(struct drive *drive, const struct step *step)
{
	struct step part = *step;

	part.itype = NTRACE_ITYPE_NONE;
	if (!feed_one(drive, &part))
		return false;
	part.address = step->address + 2 * (uint64_t)step->parcels - step->last_size;
	part.parcels = step->last_size / 2;
	for (unsigned int i = 1; i < step->accesses; i++) {
		if (i + 1u == step->accesses)
			part.itype = step->itype;
		if (!feed_one(drive, &part))
			return false;
	}
	return true;
}

static bool feed(struct drive *drive, const struct step *step)
{
	switch (step->kind) {
	case STEP_START:
		return feed_start(drive);
	case STEP_STOP:
		return feed_stop(drive, step->how);
	case STEP_OVERRUN:
		if (drive->port && !send_cycle(drive))
			return false;
		ntrace_encoder_overrun(&drive->encoder);
		return record(drive, NTRACE_INGRESS_OVERRUN, 0);
	case STEP_TRIGGER:
		drive->marker = true;
		return true;
	default:
		/* Differences of a narrow counter are unambiguous up to half its range. */
		drive->time +=
			random_below(&drive->random, drive->params.timestamp_bits == 16 ? 3 : 12);
		if (drive->held)
			return true;
		return step->accesses ? feed_accesses(drive, step) : feed_one(drive, step);
	}
}

bool drive_walk(struct drive *drive, const struct row *row, const struct program *program,
		const struct walk *walk, uint64_t seed)
{
	drive->random.state = seed;
	drive->port = (int)row_value(row, FACTOR_PORT);
	drive->ctype = (unsigned int)row_value(row, FACTOR_CTYPE);
	drive->size = drive->stamps = 0;
	drive->text[0] = '\0';
	drive->scontext = drive->hcontext = 0;
	drive->marker = drive->trace_on = drive->by_trigger = false;
	drive->held = STOP_DISABLE;
	memset(&drive->cycle, 0, sizeof(drive->cycle));
	/* Starts near the wrap of the counter. */
	drive->now = drive->before = 0;
	drive->time = (UINT64_C(1) << (row_value(row, FACTOR_TIMESTAMP_BITS) & 63)) -
		      random_below(&drive->random, 5000);
	row_config(row, program, &drive->config, &drive->params);
	drive->config.write = take;
	drive->config.write_data = drive;
	if (ntrace_encoder_init(&drive->encoder, &drive->config)) {
		snprintf(drive->text, sizeof(drive->text), "the encoder refuses the options: %s",
			 ntrace_encoder_refusal(&drive->config));
		return false;
	}
	ntrace_encoder_start(&drive->encoder, NTRACE_SYNC_RESET_EXIT);
	if (!record_begin(drive) || !record(drive, NTRACE_INGRESS_START, NTRACE_SYNC_RESET_EXIT)) {
		snprintf(drive->text, sizeof(drive->text), "the port cannot be recorded");
		return false;
	}
	for (uint32_t i = 0; i < walk->steps; i++) {
		if (feed(drive, &walk->step[i]))
			continue;
		snprintf(drive->text, sizeof(drive->text),
			 "the encoder refuses block %u at 0x%" PRIx64 ", itype %u", i,
			 walk->step[i].address, walk->step[i].itype);
		return false;
	}
	if (drive->port)
		send_cycle(drive);
	ntrace_encoder_stop(&drive->encoder, NTRACE_EVCODE_TRACE_DISABLE);
	record(drive, NTRACE_INGRESS_STOP, NTRACE_EVCODE_TRACE_DISABLE);
	return !drive->text[0] && replay(drive);
}
