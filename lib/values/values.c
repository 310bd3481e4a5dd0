// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Executes the path of a thread, from an anchor to a place.
 *
 *	stop            stop                stop            stop
 *	  |-- blocks ---> |---- blocks ----- > |-- blocks ---> |
 *	  anchor 4        anchor 5             no anchor       anchor 6
 *	                  [===== window ======== place ...
 *
 * Stops (survey.c) are where the kernel may have changed the state. A window is what was executed
 * last: the stores in it are in the log, and snapshots of the registers let a place in it be reached
 * again without the log growing. If a value is not known, a window that begins earlier is tried.
 *
 * The times of the log: before instruction n of the thread, 2n + 1; its store, 2n + 2; what the kernel
 * does before it, 2n to forget and 2n + 1 to write.
 */
#include <string.h>

#include "bisect.h"
#include "grow.h"
#include "infer.h"
#include "log.h"
#include "struct_size.h"
#include "values.h"

/* Instructions between two snapshots. */
#define SNAPSHOT 4096
#define REACH (UINT64_C(16) << 20)
/* Windows that are tried begin so many times earlier than the one before. */
#define DEEPER 64
#define FIRST_REACH 4096

/* Of a store to an address that is not certain: if it may be in more bytes, all of memory is forgotten, not each of them. */
#define SPAN UINT64_C(4000)

#define X0 NTRACE_EXEC_X

/* ---- blocks ---- */

/* Goes over a block, from instruction @from up to @until. */
struct block_walk {
	struct ntrace_values *values;
	const struct ntrace_flow_event *flow;
	uint32_t index, from, until;
	uint32_t word; /* the last instruction */
	uint64_t pc;
	struct ntrace_exec_effects effects;
	int error;
};

static void count_reads(struct ntrace_values *values, uint32_t word)
{
	uint64_t reads = ntrace_exec_reads(values->exec, word), reads_of = reads;

	values->counts.reads += (uint64_t)__builtin_popcountll(reads);
	for (; reads; reads &= reads - 1) {
		unsigned int id = (unsigned int)__builtin_ctzll(reads);
		struct ntrace_exec_value value = { 0, 0 };

		ntrace_exec_get(values->exec, id < 32 ? X0 + id : NTRACE_EXEC_F + id - 32, &value);
		values->counts.known += value.known == UINT64_MAX;
	}
	if (values->core_counts && values->inferred)
		infer_count(values->infer, values->entry++, reads_of, values->exec,
			    values->core_counts);
}

/* The bytes may have changed. A branch tells soon whether sc has stored. */
static int store_maybe(struct ntrace_values *values, uint32_t word,
		       const struct ntrace_exec_effects *effects)
{
	if ((word & 0xf800007f) == 0x1800002f && word >> 7 & 31) {
		values->conditional = *effects;
		values->conditional_result = word >> 7 & 31;
	}
	return values_forget_range(values, values_time(values) + 1, effects->address,
				   effects->address + effects->bytes - 1);
}

/* If it is known roughly where, other memory stays known. */
static int store_anywhere(struct ntrace_values *values, const struct ntrace_exec_effects *effects)
{
	uint64_t time = values_time(values) + 1;
	uint64_t last = effects->address + effects->span + effects->bytes - 1;

	if (!effects->bytes || effects->span > SPAN || last < effects->address)
		return values_forget_memory(values, time);
	return values_forget_range(values, time, effects->address, last);
}

static int store_conditional(struct ntrace_values *values)
{
	struct ntrace_exec_value result = { 0, 0 };
	const struct ntrace_exec_effects store = values->conditional;

	values->conditional.bytes = 0;
	ntrace_exec_get(values->exec, X0 + values->conditional_result, &result);
	if (!store.bytes || result.known != UINT64_MAX || result.bits || !values->logs)
		return 0;
	return ntrace_value_log_write(values->log, 2 * values->number, store.address,
				      (uint8_t)((1u << store.bytes) - 1), store.value);
}

/* The last visit ends the walk with the block. */
static void pass_visit(const struct block_walk *walk, uint64_t when, const struct ntrace_insn *insn)
{
	struct ntrace_values *values = walk->values;
	const struct ntrace_values_visit at = {
		.when = when,
		.address = walk->pc,
		.insn_class = insn->insn_class,
		.flow = walk->flow,
		.exec = values->exec,
	};

	if (when != values->next_visit)
		return;
	values->next_visit = values->visit(values->visit_data, &at);
	if (values->next_visit == UINT64_MAX)
		values->limit = 0;
}

static int step(void *data, uint64_t address, const uint8_t *bytes, const struct ntrace_insn *insn)
{
	struct block_walk *walk = data;
	struct ntrace_values *values = walk->values;
	const struct ntrace_exec_effects *effects = &walk->effects;
	int error;

	if (walk->index == walk->until)
		return 1;
	if (walk->index++ < walk->from)
		return 0;
	walk->word = 0;
	walk->pc = address;
	memcpy(&walk->word, bytes, insn->size < 4 ? 2 : 4);
	pass_visit(walk, 2 * values->number, insn);
	if (values->counting)
		count_reads(values, walk->word);
	error = ntrace_exec_step(values->exec, walk->word, address, &walk->effects);
	if (values->origin && effects->written >> values->origin->register_bit & 1)
		*values->origin = (struct values_origin){ values->origin->register_bit, walk->pc,
							  values->number, *effects, NULL };
	/* The result of the last sc is no longer in its register, or its bytes may have been written. */
	if (effects->flags &
		    (NTRACE_EXEC_STORES | NTRACE_EXEC_STORES_MAYBE | NTRACE_EXEC_STORES_ANYWHERE) ||
	    effects->written >> values->conditional_result & 1)
		values->conditional.bytes = 0;
	if (error == NTRACE_ERR_UNSUPPORTED) {
		/* An instruction of a vendor: it may have done anything. */
		error = values_forget_all(values, values_time(values) + 1);
	}
	if (!error && effects->flags & NTRACE_EXEC_STORES_ANYWHERE)
		error = store_anywhere(values, effects);
	else if (!error && effects->flags & NTRACE_EXEC_STORES_MAYBE)
		error = store_maybe(values, walk->word, effects);
	pass_visit(walk, 2 * values->number + 1, insn);
	values->number++;
	walk->error = error;
	return error;
}

/* Compares with the way that the trace tells, and learns from it. */
static int arrive(struct block_walk *walk)
{
	struct ntrace_values *values = walk->values;
	const struct ntrace_flow_event *flow = walk->flow;

	if (flow->interrupted || !flow->next_known || flow->insn_class == NTRACE_INSN_PLAIN)
		return 0;
	if (!walk->effects.next_known) {
		ntrace_exec_arrive(values->exec, walk->word, walk->pc, flow->next);
		return store_conditional(values);
	}
	values->counts.decided++;
	if (walk->effects.next_pc == flow->next)
		return 0;
	values->counts.wrong++;
	return values_forget_all(values, 2 * values->number);
}

/* The file of the code, for its constants. Without memory they are not known. */
void values_note_module(struct ntrace_values *values, const struct ntrace_flow_event *flow)
{
	struct ntrace_location location;

	if (values->space != flow->space) {
		ntrace_space_put(values->space);
		values->space = ntrace_space_get(flow->space);
	}
	if (flow->address - values->near_first <= values->near_last - values->near_first &&
	    values->near_last)
		return;
	if (!flow->space || ntrace_space_locate(flow->space, flow->address, &location) ||
	    !location.object)
		return;
	values->near_first = flow->address & ~UINT64_C(4095);
	values->near_last = values->near_first | 4095;
	for (size_t i = 0; i < values->modules; i++)
		if (values->module[i].object == location.object &&
		    values->module[i].bias == flow->address - location.link_address)
			return;
	if (grow((void **)&values->module, values->modules, &values->module_room,
		 sizeof(*values->module)))
		return;
	values->module[values->modules++] = (struct values_module){
		.object = ntrace_object_get(location.object),
		.bias = flow->address - location.link_address,
		.code = flow->address,
	};
}

/* Executes instructions of the block where the cursor is, from @from up to @until. */
static int execute(struct ntrace_values *values, uint32_t from, uint32_t until)
{
	const struct ntrace_cursor_place *at = ntrace_cursor_place(values->cursor);
	struct block_walk walk = {
		.values = values, .flow = at->flow, .from = from, .until = until
	};
	int error;

	values_note_module(values, at->flow);
	if (values->core_counts)
		values_find_counted(values);
	error = ntrace_flow_instructions(at->flow, step, &walk);
	if (error < 0 || walk.error)
		return walk.error ? walk.error : error;
	return until > from && walk.index == at->instructions ? arrive(&walk) : 0;
}

/* ---- windows ---- */

static void save_snapshot(struct ntrace_values *values, struct snapshot *snapshot)
{
	snapshot->number = values->number;
	snapshot->brk = values->brk;
	ntrace_cursor_save(values->cursor, &snapshot->mark);
	for (unsigned int i = 0; i < 32; i++) {
		ntrace_exec_get(values->exec, X0 + i, &snapshot->value[i]);
		ntrace_exec_get(values->exec, NTRACE_EXEC_F + i, &snapshot->value[32 + i]);
	}
	ntrace_exec_get(values->exec, NTRACE_EXEC_FCSR, &snapshot->value[64]);
}

static void load_snapshot(struct ntrace_values *values, const struct snapshot *snapshot)
{
	values->number = snapshot->number;
	values->brk = snapshot->brk;
	values->conditional.bytes = 0;
	for (unsigned int i = 0; i < 32; i++) {
		ntrace_exec_set(values->exec, X0 + i, &snapshot->value[i]);
		ntrace_exec_set(values->exec, NTRACE_EXEC_F + i, &snapshot->value[32 + i]);
	}
	ntrace_exec_set(values->exec, NTRACE_EXEC_FCSR, &snapshot->value[64]);
}

static int keep_snapshot(struct ntrace_values *values)
{
	if (grow((void **)&values->snapshot, values->snapshots, &values->snapshot_room,
		 sizeof(*values->snapshot)))
		return NTRACE_ERR_NOMEM;
	save_snapshot(values, &values->snapshot[values->snapshots++]);
	return 0;
}

/* The first stop after the place of the cursor, or at it. */
static size_t next_stop(const struct ntrace_values *values, const struct ntrace_cursor_mark *mark)
{
	size_t low = 0;

	BISECT(low, values->survey.stops, at,
	       ntrace_cursor_compare(&values->survey.stop[at].mark, mark) < 0);
	return low;
}

/* The number of the last stop up to a place. */
static uint64_t number_near(const struct ntrace_values *values,
			    const struct ntrace_cursor_mark *mark)
{
	size_t stop = next_stop(values, mark);

	return stop ? values->survey.stop[stop - 1].number : 0;
}

int values_run(struct ntrace_values *values, uint32_t from, const struct ntrace_cursor_mark *mark,
	       uint32_t index)
{
	struct ntrace_cursor_mark here;
	size_t stop;
	int error = 0;

	ntrace_cursor_save(values->cursor, &here);
	stop = next_stop(values, &here);
	if (stop < values->survey.stops &&
	    !ntrace_cursor_compare(&values->survey.stop[stop].mark, &here))
		stop++;
	for (;;) {
		const struct ntrace_cursor_place *at = ntrace_cursor_place(values->cursor);
		int order = mark ? ntrace_cursor_compare(&here, mark) : -1;

		if (order > 0)
			return NTRACE_ERR_INVALID;
		if (values_is_user(at)) {
			if (values->logs && !from && values->snapshots && !values->counting &&
			    values->number - values->snapshot[values->snapshots - 1].number >=
				    SNAPSHOT)
				error = keep_snapshot(values);
			if (!error && !order)
				return execute(values, from, index);
			values->last_mark = here;
			values->last_index = at->instructions;
			if (!error)
				error = execute(values, from, at->instructions);
			from = 0;
		} else if (!order) {
			return NTRACE_ERR_INVALID;
		}
		if (error)
			return error;
		error = ntrace_cursor_next(values->cursor);
		if (error)
			return error;
		ntrace_cursor_save(values->cursor, &here);
		if (stop < values->survey.stops &&
		    !ntrace_cursor_compare(&values->survey.stop[stop].mark, &here)) {
			error = values_pass_stop(values, &values->survey.stop[stop++]);
			if (error)
				return error;
		}
		if (values->number >= values->limit)
			return 0;
	}
}

static void drop_window(struct ntrace_values *values)
{
	ntrace_value_log_free(values->log);
	values->log = NULL;
	values->snapshots = 0;
	values->ranges = 0;
	values->volatiles = false;
	values->brk = 0;
	values->windowed = false;
}

/* Begins a window at a stop, and passes it. */
static int begin_window(struct ntrace_values *values, size_t first)
{
	const struct stop *stop = &values->survey.stop[first];
	int error;

	drop_window(values);
	values->log = ntrace_value_log_new();
	if (!values->log)
		return NTRACE_ERR_NOMEM;
	if (values->counting)
		log_keep_last(values->log);
	values->windowed = true;
	values->window_stop = first;
	values->logs = true;
	values->number = stop->number;
	values_forget_registers(values, X0 + 1, 31);
	values_forget_floats(values);
	error = ntrace_cursor_restore(values->cursor, &stop->mark);
	if (!error)
		error = values_pass_stop(values, stop);
	if (!error)
		error = keep_snapshot(values);
	return error;
}

/* The last stop up to the place that has an anchor, and begins at least @reach instructions before it. */
static bool find_start(const struct ntrace_values *values, uint64_t reach, size_t *found)
{
	size_t at = next_stop(values, &values->mark), best = SIZE_MAX;
	uint64_t end;

	if (at == values->survey.stops ||
	    ntrace_cursor_compare(&values->survey.stop[at].mark, &values->mark) > 0) {
		if (!at)
			return false;
		at--;
	}
	end = values->survey.stop[at].number;
	for (;; at--) {
		const struct stop *stop = &values->survey.stop[at];

		if (best != SIZE_MAX && end - stop->number > values->reach)
			break;
		if (stop->anchor >= 0 && !stop->restarted) {
			best = at;
			if (end - stop->number >= reach)
				break;
		}
		/* Nothing from before is known. */
		if (stop->anchor < 0 && best != SIZE_MAX)
			break;
		if (stop->anchor >= 0 && values->anchors.anchor[stop->anchor].exec)
			break;
		if (!at)
			break;
	}
	*found = best;
	return best != SIZE_MAX;
}

static void end_window(struct ntrace_values *values, int error)
{
	values->end = values->number;
	values->end_mark = values->mark;
	values->end_index = values->index;
	values->logs = false;
	values->at_place = !error;
	values->windowed = !error;
}

/* Reaches the place in a window that begins so many instructions before it. */
static int reach_place(struct ntrace_values *values, uint64_t reach)
{
	size_t first;
	int error;

	if (!find_start(values, reach, &first)) {
		values->exhausted = true;
		return 1;
	}
	if (values->windowed && values->window_stop == first && values->at_place) {
		values->exhausted = true;
		return 0;
	}
	error = begin_window(values, first);
	if (!error)
		error = values_run(values, 0, &values->mark, values->index);
	end_window(values, error);
	return error;
}

size_t values_snapshot_before(const struct ntrace_values *values,
			      const struct ntrace_cursor_mark *mark)
{
	size_t after = 1;

	/* The window begins at the first one. */
	BISECT(after, values->snapshots, at,
	       ntrace_cursor_compare(&values->snapshot[at].mark, mark) <= 0);
	return after - 1;
}

int values_replay(struct ntrace_values *values, size_t snapshot,
		  const struct ntrace_cursor_mark *mark, uint32_t index)
{
	int error;

	load_snapshot(values, &values->snapshot[snapshot]);
	error = ntrace_cursor_restore(values->cursor, &values->snapshot[snapshot].mark);
	return error ? error : values_run(values, 0, mark, index);
}

int values_revisit(struct ntrace_values *values, const struct ntrace_cursor_mark *mark,
		   uint32_t index)
{
	return values_replay(values, values_snapshot_before(values, mark), mark, index);
}

/* Reaches the place by the present window, which may grow. Return: 0; 1: the window does not reach it */
static int use_window(struct ntrace_values *values)
{
	int order, error;

	if (!values->windowed ||
	    ntrace_cursor_compare(&values->snapshot[0].mark, &values->mark) > 0)
		return 1;
	order = ntrace_cursor_compare(&values->mark, &values->end_mark);
	if (order < 0 || (!order && values->index <= values->end_index)) {
		error = values_revisit(values, &values->mark, values->index);
		values->at_place = !error;
		return error;
	}
	if (number_near(values, &values->mark) > values->end + VALUES_GROW)
		return 1;
	error = values_revisit(values, &values->end_mark, values->end_index);
	values->logs = true;
	if (!error)
		error = values_run(values, values->end_index, &values->mark, values->index);
	end_window(values, error);
	return error;
}

int ntrace_values_seek(struct ntrace_values *values, const struct ntrace_cursor_mark *mark,
		       uint32_t index)
{
	const struct ntrace_cursor_place *at;
	int error, inferred;

	values->mark = *mark;
	values->index = index;
	values->exhausted = false;
	values->at_place = false;
	values->inferred = false;
	error = ntrace_cursor_restore(values->cursor, mark);
	at = error ? NULL : ntrace_cursor_place(values->cursor);
	/* That of the block, also if a cursor with steps of instructions has saved it. */
	if (at)
		ntrace_cursor_save(values->cursor, &values->mark);
	if (error < 0)
		return error;
	if (!at || !values_is_user(at) || index >= at->instructions)
		return 1;
	inferred = values_seek_core(values);
	if (inferred < 0)
		return inferred;
	error = use_window(values);
	if (error > 0) {
		values->reached = FIRST_REACH;
		error = reach_place(values, values->reached);
	}
	return error > 0 ? inferred : error;
}

int values_reach_deeper(struct ntrace_values *values)
{
	int error;

	if (!values->at_place || values->exhausted || values->reached >= values->reach) {
		values->exhausted = true;
		return 1;
	}
	values->reached = values->reached > values->reach / DEEPER ? values->reach :
								     values->reached * DEEPER;
	error = reach_place(values, values->reached);
	return error < 0 ? error : values->exhausted;
}

/* Reads @what, as values_read_memory() does, and executes more of the trace until it is known. */
static int read_deeply(struct ntrace_values *values,
		       int (*read)(void *user, uint64_t what, unsigned int bytes,
				   struct ntrace_exec_value *value),
		       uint64_t what, unsigned int bytes, struct ntrace_exec_value *value)
{
	uint64_t all = UINT64_MAX >> (64 - 8 * bytes);
	int error;

	*value = (struct ntrace_exec_value){ 0, 0 };
	while (values->at_place) {
		read(values, what, bytes, value);
		if (!(~value->known & all))
			return 0;
		error = values_reach_deeper(values);
		if (error)
			return error < 0 ? error : 0;
	}
	return 0;
}

static int read_register(void *user, uint64_t id, unsigned int bytes,
			 struct ntrace_exec_value *value)
{
	const struct ntrace_values *values = user;

	(void)bytes;
	return ntrace_exec_get(values->exec, (unsigned int)id, value);
}

/* What one way has found, and what the other one adds. */
static void join_values(struct ntrace_exec_value *value, struct ntrace_exec_value other)
{
	value->bits |= other.bits & ~value->known;
	value->known |= other.known;
}

int ntrace_values_register(struct ntrace_values *values, unsigned int id,
			   struct ntrace_exec_value *value)
{
	struct ntrace_exec_value found = { 0, 0 };
	int error = 0;

	if (ntrace_exec_get(values->exec, id, value))
		return NTRACE_ERR_INVALID;
	if (values->inferred && id >= X0)
		error = values_read_core(values, id - X0, 0, &found);
	*value = (struct ntrace_exec_value){ 0, 0 };
	/* Below are fflags, frm and fcsr. */
	if (!error && found.known != UINT64_MAX)
		error = read_deeply(values, read_register, id, id < X0 ? 1 : 8, value);
	join_values(value, found);
	return error;
}

int ntrace_values_memory(struct ntrace_values *values, uint64_t address, unsigned int bytes,
			 struct ntrace_exec_value *value)
{
	struct ntrace_exec_value found = { 0, 0 };
	int error = 0;

	if (values->inferred)
		error = values_read_core(values, address, bytes, &found);
	*value = (struct ntrace_exec_value){ 0, 0 };
	if (!error && found.known != UINT64_MAX >> (64 - 8 * bytes))
		error = read_deeply(values, values_read_memory, address, bytes, value);
	join_values(value, found);
	return error;
}

/* Executes all of the thread, and counts. */
int values_execute_all(struct ntrace_values *values)
{
	int error = 0;

	values->at_place = false;
	values->inferred = false;
	values->counts = (struct ntrace_values_counts){ .size = sizeof(values->counts) };
	values->counting = true;
	if (values->survey.stops)
		error = begin_window(values, 0);
	if (!error && values->survey.stops)
		error = values_run(values, 0, NULL, 0);
	values->counting = false;
	values->counts.instructions = values->number;
	drop_window(values);
	return error == 1 ? 0 : error;
}

int ntrace_values_count(struct ntrace_values *values, struct ntrace_values_counts *counts)
{
	int error = values_execute_all(values);

	STRUCT_GIVE(counts, &values->counts);
	return error;
}

int ntrace_values_walk(struct ntrace_values *values, uint64_t first,
		       uint64_t (*visit)(void *data, const struct ntrace_values_visit *visit),
		       void *data)
{
	int error;

	values->visit = visit;
	values->visit_data = data;
	values->next_visit = first;
	error = values_execute_all(values);
	values->next_visit = UINT64_MAX;
	values->limit = UINT64_MAX;
	return error;
}

/* ---- a thread ---- */

bool ntrace_values_recorded(const struct ntrace_session *session)
{
	return anchors_event(ntrace_session_sideband(session));
}

void ntrace_values_free(struct ntrace_values *values)
{
	if (!values)
		return;
	drop_window(values);
	infer_free(values->infer);
	ntrace_space_put(values->space);
	for (size_t i = 0; i < values->modules; i++)
		ntrace_object_put(values->module[i].object);
	free(values->module);
	for (size_t i = 0; i < values->files; i++)
		ntrace_object_put(values->file[i]);
	free(values->file);
	free(values->snapshot);
	free(values->range);
	anchors_free(&values->anchors);
	survey_free(&values->survey);
	ntrace_exec_free(values->exec);
	ntrace_cursor_free(values->cursor);
	free(values);
}

static int open_thread(struct ntrace_values *values, const struct ntrace_values_config *config)
{
	struct ntrace_exec_config exec = {
		.size = sizeof(exec),
		.flen = 64,
		.user = values,
		.read = values_read_memory,
		.write = values_write_memory,
	};
	struct ntrace_cursor_config cursor;
	int error = NTRACE_ERR_UNSUPPORTED;

	values->core = config->core;
	if (values->core)
		values->core_thread = core_find_thread(values->core, config->tid);
	if (ntrace_values_recorded(config->session) || values->core_thread)
		error = anchors_read(&values->anchors, config->session, config->pid, config->tid);
	if (error)
		return error;
	ntrace_cursor_config_init(&cursor);
	cursor.step = NTRACE_CURSOR_BLOCKS;
	cursor.session = config->session;
	cursor.pid = config->pid;
	cursor.tid = config->tid;
	error = ntrace_cursor_new(&values->cursor, &cursor);
	if (!error)
		error = survey_thread(&values->survey, values->cursor, &values->anchors);
	if (error)
		return error;
	values->first_program = UINT64_MAX;
	for (size_t i = values->survey.stops; i--;) {
		const struct stop *stop = &values->survey.stop[i];

		if (stop->anchor >= 0 && values->anchors.anchor[stop->anchor].exec)
			values->first_program = stop->number;
	}
	if (values->core_thread && core_refusal(values->core_thread, &values->survey))
		values->uncored = true;
	ntrace_isa_parse(&values->isa, "rv64gc");
	exec.isa = values->isa;
	return ntrace_exec_new(&values->exec, &exec);
}

int ntrace_values_new(struct ntrace_values **result, const struct ntrace_values_config *callers)
{
	struct ntrace_values_config config = { .size = sizeof(config) };
	struct ntrace_values *values;
	int error;

	if (STRUCT_TAKE(&config, callers) || !config.session)
		return NTRACE_ERR_INVALID;
	values = calloc(1, sizeof(*values));
	if (!values)
		return NTRACE_ERR_NOMEM;
	values->session = config.session;
	values->pid = config.pid;
	values->reach = config.reach ? config.reach : REACH;
	values->limit = UINT64_MAX;
	values->next_visit = UINT64_MAX;
	error = open_thread(values, &config);
	if (error) {
		ntrace_values_free(values);
		return error;
	}
	*result = values;
	return 0;
}
