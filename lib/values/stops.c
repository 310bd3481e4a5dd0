// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* What happens to registers and memory at a stop: system calls, signal handlers, new programs, losses. */
#include <string.h>

#include "syscalls.h"
#include "values.h"

#define X0 NTRACE_EXEC_X
#define SP 2
#define A0 10
#define A7 17

void values_forget_registers(struct ntrace_values *values, unsigned int from, unsigned int count)
{
	const struct ntrace_exec_value unknown = { 0, 0 };

	for (unsigned int i = 0; i < count; i++)
		ntrace_exec_set(values->exec, from + i, &unknown);
}

void values_forget_floats(struct ntrace_values *values)
{
	values_forget_registers(values, NTRACE_EXEC_F, 32);
	values_forget_registers(values, NTRACE_EXEC_FCSR, 1);
}

int values_forget_all(struct ntrace_values *values, uint64_t time)
{
	values_forget_registers(values, X0 + 1, 31);
	values_forget_floats(values);
	return values_forget_memory(values, time);
}

static struct ntrace_exec_value get_x(const struct ntrace_values *values, unsigned int number)
{
	struct ntrace_exec_value value = { 0, 0 };

	ntrace_exec_get(values->exec, X0 + number, &value);
	return value;
}

static void set_x(struct ntrace_values *values, unsigned int number, uint64_t bits)
{
	const struct ntrace_exec_value value = { bits, UINT64_MAX };

	ntrace_exec_set(values->exec, X0 + number, &value);
}

/* What a call did to memory, whose arguments are in the registers before it. */
static int apply_call(struct ntrace_values *values, const struct anchor *anchor,
		      const struct ntrace_exec_value number)
{
	struct syscall call = { .number = number.bits,
				.result = (int64_t)anchor_register(anchor, A0) };
	int error;

	for (unsigned int i = 0; i < 6; i++) {
		struct ntrace_exec_value argument = get_x(values, A0 + i);

		call.argument[i] = argument.bits;
		if (argument.known == UINT64_MAX)
			call.known |= 1u << i;
		/* The kernel leaves all but a0 as they were. */
		if (i && argument.known != UINT64_MAX) {
			call.argument[i] = anchor_register(anchor, A0 + i);
			call.known |= 1u << i;
		}
	}
	if (call.number == SYSCALL_BRK)
		return values_change_brk(values, (uint64_t)call.result);
	error = syscall_writes(&call, values_change_range, values);
	if (!error && call.number == SYSCALL_MMAP)
		error = values_map_file(values, anchor, (uint64_t)call.result);
	if (!error)
		error = values_read_file(values, anchor, &call);
	return error == 1 ? values_forget_memory(values, 2 * values->number) : error;
}

/* Of what is known, @bits must be true. */
static void count_compared(struct ntrace_values *values, struct ntrace_exec_value value,
			   uint64_t bits)
{
	values->counts.compared += value.known == UINT64_MAX;
	values->counts.wrong += ((value.bits ^ bits) & value.known) != 0;
}

/* The recording has these bytes of memory. */
static int write_bytes(struct ntrace_values *values, uint64_t address, const uint8_t *bytes,
		       size_t size)
{
	int error = 0;

	for (size_t at = 0, count; values->logs && !error && at < size; at += count) {
		struct ntrace_exec_value value = { 0, 0 }, before;

		count = 8 - (address + at) % 8;
		count = count < size - at ? count : size - at;
		memcpy(&value.bits, bytes + at, count);
		value.known = UINT64_MAX >> (64 - 8 * count);
		values_read_memory(values, address + at, (unsigned int)count, &before);
		count_compared(values, before, value.bits);
		error = ntrace_value_log_write(values->log, values_time(values), address + at,
					       (uint8_t)((1u << count) - 1), value);
	}
	return error;
}

static int write_memory(struct ntrace_values *values, const struct anchor *anchor)
{
	int error =
		write_bytes(values, anchor_register(anchor, SP), anchor->stack, anchor->stack_size);

	for (size_t i = 0; !error && i < anchor->contents; i++) {
		const struct content *content = &values->anchors.content[anchor->content + i];

		error = write_bytes(values, content->of.address, content->bytes,
				    content->of.length);
	}
	return error;
}

/* A new program: its registers are those of the anchor, its memory is its files and its stack. */
static int begin_program(struct ntrace_values *values, const struct anchor *anchor)
{
	const struct ntrace_exec_value zero = { 0, UINT64_MAX };
	int error = values_forget_memory(values, 2 * values->number);

	if (!error)
		error = values_begin_mappings(values, anchor);
	for (unsigned int i = 0; i < 32; i++)
		ntrace_exec_set(values->exec, NTRACE_EXEC_F + i, &zero);
	ntrace_exec_set(values->exec, NTRACE_EXEC_FCSR, &zero);
	return error;
}

/* Registers that are known must be those of the anchor. Return: false: they are not */
static bool compare_anchor(struct ntrace_values *values, const struct anchor *anchor)
{
	uint64_t before = values->counts.wrong;

	for (unsigned int i = 1; i < 32; i++) {
		struct ntrace_exec_value value = get_x(values, i);

		if (i != A0)
			count_compared(values, value, anchor_register(anchor, i));
	}
	return values->counts.wrong == before;
}

/* The state after a stop, before the first instruction behind it. */
int values_pass_stop(struct ntrace_values *values, const struct stop *stop)
{
	const struct anchor *anchor = stop->anchor < 0 ? NULL :
							 &values->anchors.anchor[stop->anchor];
	struct ntrace_exec_value number = get_x(values, A7);
	bool same_call = anchor && stop->call && anchor_register(anchor, 0) == stop->call + 4;
	int error = 0;

	values->conditional.bytes = 0;
	values->counts.calls += stop->call != 0;
	values->counts.anchors += anchor != NULL;
	if (stop->restarted) {
		/* The call will be made again, with the same registers. */
		if (anchor_register(anchor, A0) == (uint64_t)-516)
			set_x(values, A7, SYSCALL_RESTART);
		return values_forget_memory(values, 2 * values->number);
	}
	if (!anchor || anchor_register(anchor, 0) != stop->address) {
		return values_forget_all(values, 2 * values->number);
	}
	if (number.known != UINT64_MAX && same_call)
		number = (struct ntrace_exec_value){ anchor_register(anchor, A7), UINT64_MAX };
	if (anchor->exec) {
		error = begin_program(values, anchor);
	} else if (!stop->call || stop->merged || number.known != UINT64_MAX) {
		values_forget_floats(values);
		error = values_forget_memory(values, 2 * values->number);
	} else if (number.bits == SYSCALL_SIGRETURN) {
		values_forget_floats(values);
	} else if (!compare_anchor(values, anchor)) {
		values_forget_floats(values);
		error = values_forget_memory(values, 2 * values->number);
	} else {
		error = apply_call(values, anchor, number);
	}
	for (unsigned int i = 1; i < 32; i++)
		set_x(values, i, anchor_register(anchor, i));
	if (values->origin && (values->origin->register_bit < 32 || anchor->exec))
		values->origin->stop = stop;
	return error ? error : write_memory(values, anchor);
}
