// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Values of a thread that follow from a core dump: asked for with those of the anchors, and counted. */
#include "infer.h"
#include "struct_size.h"
#include "values.h"

/* What follows from the core, at the first question. Return: 0; 1: nothing; errors */
static int use_core(struct ntrace_values *values)
{
	int error;

	if (!values->core_thread || values->uncored)
		return 1;
	if (values->infer)
		return 0;
	error = infer_new(&values->infer, values, values->core, values->core_thread);
	values->uncored = error;
	return error;
}

/* The place in what follows from the core, which moves the cursor. */
int values_seek_core(struct ntrace_values *values)
{
	int error = use_core(values);

	if (!error)
		error = infer_find(values->infer, &values->mark, values->index, &values->entry);
	values->inferred = !error;
	return error;
}

int values_extend_core(struct ntrace_values *values)
{
	int error = infer_reach(values->infer, UINT64_MAX);

	if (!error)
		error = infer_find(values->infer, &values->mark, values->index, &values->entry);
	values->inferred = error >= 0 && values->entry < values->infer->entries;
	return error;
}

/* In a window that begins earlier more is known. */
int values_read_core(struct ntrace_values *values, uint64_t what, unsigned int bytes,
		     struct ntrace_exec_value *value)
{
	int error = 0;

	do {
		*value = bytes ? infer_memory(values->infer, values->entry, what, bytes) :
				 infer_register(values->infer, values->entry, (unsigned int)what,
						false);
		if (value->known == (bytes ? UINT64_MAX >> (64 - 8 * bytes) : UINT64_MAX))
			return 0;
		error = values_extend_core(values);
	} while (!error);
	return error < 0 ? error : 0;
}

int ntrace_values_likely(struct ntrace_values *values, unsigned int id,
			 struct ntrace_exec_value *value)
{
	int error = 0;

	if (id < NTRACE_EXEC_X || id >= NTRACE_EXEC_F + 32)
		return NTRACE_ERR_INVALID;
	*value = (struct ntrace_exec_value){ 0, 0 };
	if (values->inferred) {
		error = infer_find_likely(values->infer);
		*value = infer_register(values->infer, values->entry, id - NTRACE_EXEC_X, !error);
	}
	return error;
}

/* Whether the block where the cursor is is near enough to the end, and follows from the core. */
void values_find_counted(struct ntrace_values *values)
{
	struct ntrace_cursor_mark here;

	values->inferred = false;
	if (values->survey.instructions - values->number > values->within)
		return;
	ntrace_cursor_save(values->cursor, &here);
	values->inferred = !infer_find(values->infer, &here, 0, &values->entry);
}

int ntrace_values_count_core(struct ntrace_values *values, uint64_t within,
			     struct ntrace_values_core_counts *counts)
{
	struct infer_counts found = { 0 };
	struct ntrace_values_core_counts result = { .size = sizeof(result) };
	int error = use_core(values);

	if (!error)
		error = infer_reach(values->infer, UINT64_MAX);
	/* That there is no more is no error. */
	if (error < 0 || !values->infer || !values->infer->entries)
		return error < 0 ? error : 1;
	error = infer_find_likely(values->infer);
	if (error)
		return error;
	infer_begin_count(values->infer);
	values->within = within;
	values->core_counts = &found;
	error = values_execute_all(values);
	values->core_counts = NULL;
	result.reads = found.reads;
	result.known = found.known;
	result.likely = found.likely;
	result.compared = found.compared;
	result.wrong = found.wrong;
	result.compared_likely = found.compared_likely;
	result.wrong_likely = found.wrong_likely;
	STRUCT_GIVE(counts, &result);
	return error;
}
