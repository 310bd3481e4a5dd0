// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Memory of a thread's process: what its stores have written since the window began, mappings of zeros,
 * and what programs cannot change of the files that have code.
 */
#include <string.h>

#include "bisect.h"
#include "exec/integer.h"
#include "grow.h"
#include "image/object.h"
#include "syscalls.h"
#include "values.h"

#define PAGE UINT64_C(4096)
#define RANGES 2048u

/* What the last change of mappings before the place has made of an address; NULL: nothing is known. */
static const struct values_range *range_at(const struct ntrace_values *values, uint64_t address)
{
	bool reset = false;

	for (size_t i = values->ranges; i--;) {
		const struct values_range *range = &values->range[i];

		if (range->number > values->number)
			continue;
		reset |= range->reset;
		if (address >= range->first && address <= range->last &&
		    (!reset || range->content == SYSCALL_VOLATILE))
			return range;
	}
	return NULL;
}

/*
 * Ranges are sought one by one, so there is a limit. Beyond it nothing but the log tells of memory, and
 * if there are too many volatile ones, nothing does.
 */
int values_add_range(struct ntrace_values *values, const struct values_range *range)
{
	struct values_range added = *range;
	bool is_volatile = range->content == SYSCALL_VOLATILE;

	if (!values->logs || (values->ranges > RANGES && !is_volatile))
		return 0;
	if (values->ranges >= 2 * RANGES) {
		values->anchors.uncertain = true;
		return 0;
	}
	if (values->ranges == RANGES) {
		if (!is_volatile)
			added.content = SYSCALL_UNKNOWN;
		added.reset = true;
	}
	if (grow((void **)&values->range, values->ranges, &values->range_room,
		 sizeof(*values->range)))
		return NTRACE_ERR_NOMEM;
	values->range[values->ranges++] = added;
	values->volatiles |= is_volatile;
	return 0;
}

bool values_file_constant(const struct ntrace_values *values, uint64_t address, uint8_t *byte)
{
	struct ntrace_location location;
	const uint8_t *data;
	size_t available;

	for (size_t i = 0; i < values->modules; i++) {
		const struct values_module *module = &values->module[i];

		if (!object_constant_byte(module->object, address - module->bias, byte))
			continue;
		/* The file is still there. */
		if (values->space && !ntrace_space_locate(values->space, module->code, &location) &&
		    location.object == module->object)
			return true;
	}
	if (!values->space || ntrace_space_read(values->space, address, &data, &available) ||
	    !available)
		return false;
	/* Without a record of each mapping, data of the program may have taken the place of its code. */
	if (!ntrace_space_locate(values->space, address, &location) && location.object &&
	    location.object->segment_count)
		return object_constant_byte(location.object, location.link_address, byte);
	*byte = *data;
	return true;
}

static struct ntrace_exec_value read_word(const struct ntrace_values *values, uint64_t address,
					  unsigned int bytes)
{
	struct ntrace_exec_value value = { 0, 0 };
	bool trusts = values_trusts(values);
	uint8_t told = 0, byte = 0;

	if (trusts)
		value = ntrace_value_log_read(values->log, values_time(values), address, bytes,
					      &told);
	if (value.known == exec_low_bits(bytes) && !values->anchors.shares && !values->volatiles)
		return value;
	for (unsigned int i = 0; i < bytes; i++) {
		uint64_t all = UINT64_C(0xff) << 8 * i;
		const struct values_range *range;

		if (told >> i & 1 && !(value.known & all))
			continue;
		range = range_at(values, address + i);
		if (anchors_shares(&values->anchors, address + i, address + i) ||
		    (range && range->content == SYSCALL_VOLATILE)) {
			value.known &= ~all;
			continue;
		}
		if (told >> i & 1)
			continue;
		if (range && range->content == SYSCALL_ZERO && trusts) {
			value.known |= all;
		} else if (range && range->content == SYSCALL_FILE && trusts) {
			value.known |= all;
			value.bits |= (uint64_t)values_file_byte(range, address + i) << 8 * i;
		} else if (!range && values_file_constant(values, address + i, &byte)) {
			value.known |= all;
			value.bits |= (uint64_t)byte << 8 * i;
		}
	}
	value.bits &= value.known;
	return value;
}

int values_read_memory(void *user, uint64_t address, unsigned int bytes,
		       struct ntrace_exec_value *value)
{
	const struct ntrace_values *values = user;
	unsigned int first = 8 - (address & 7);
	struct ntrace_exec_value high;

	if (first >= bytes) {
		*value = read_word(values, address, bytes);
		return 0;
	}
	*value = read_word(values, address, first);
	high = read_word(values, address + first, bytes - first);
	value->bits |= high.bits << 8 * first;
	value->known |= high.known << 8 * first;
	return 0;
}

int values_write_memory(void *user, uint64_t address, unsigned int bytes,
			const struct ntrace_exec_value *value)
{
	struct ntrace_values *values = user;

	if (!values->logs)
		return 0;
	return ntrace_value_log_write(values->log, values_time(values) + 1, address,
				      (uint8_t)((1u << bytes) - 1), *value);
}

/* Up to so many bytes each word is told; of more, the range. */
#define TOLD_BYTES 4096

int values_forget_range(struct ntrace_values *values, uint64_t time, uint64_t first, uint64_t last)
{
	const struct ntrace_exec_value unknown = { 0, 0 };
	int error = 0;

	if (!values->logs || last - first >= TOLD_BYTES)
		return values->logs ?
			       ntrace_value_log_change(values->log, time, first, last, false) :
			       0;
	for (uint64_t at = first; !error; at += 8) {
		uint8_t mask = last - at < 7 ? (uint8_t)((2u << (last - at)) - 1) : 0xff;

		error = ntrace_value_log_write(values->log, time, at, mask, unknown);
		if (last - at < 8)
			break;
	}
	return error;
}

/* All of memory. Mappings of zeros are no longer known to be so. */
int values_forget_memory(struct ntrace_values *values, uint64_t time)
{
	values->brk = 0;
	/* An empty range: nothing is at its first address. */
	if (values->ranges && !values->range[values->ranges - 1].reset &&
	    values_add_range(values, &(struct values_range){ .number = values->number,
							     .first = 1,
							     .content = SYSCALL_UNKNOWN,
							     .reset = true }))
		return NTRACE_ERR_NOMEM;
	return values->logs ? ntrace_value_log_change(values->log, time, 0, UINT64_MAX, false) : 0;
}

int values_change_range(void *user, uint64_t first, uint64_t last, enum syscall_content content)
{
	struct ntrace_values *values = user;
	const struct values_range range = {
		.number = values->number,
		.first = first,
		.last = last,
		/* Of a file, that is told by values_map_file(). */
		.content = content == SYSCALL_FILE ? SYSCALL_UNKNOWN : content,
	};

	if (!values->logs)
		return 0;
	if (content == SYSCALL_UNKNOWN && last - first < TOLD_BYTES)
		return values_forget_range(values, 2 * values->number, first, last);
	if (values_add_range(values, &range))
		return NTRACE_ERR_NOMEM;
	return ntrace_value_log_change(values->log, 2 * values->number, first, last,
				       content == SYSCALL_ZERO);
}

int values_change_brk(struct ntrace_values *values, uint64_t end)
{
	uint64_t before = values->brk, page;

	values->brk = end;
	if (!before || end == before)
		return 0;
	if (end < before)
		return values_change_range(values, end, before - 1, SYSCALL_UNKNOWN);
	/* The page of the former end stays, with what is behind that end. */
	page = (before + PAGE - 1) & ~(PAGE - 1);
	end = (end + PAGE - 1) & ~(PAGE - 1);
	return page < end ? values_change_range(values, page, end - 1, SYSCALL_ZERO) : 0;
}
