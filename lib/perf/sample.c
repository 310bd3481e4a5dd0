// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Samples of perf.data: PERF_RECORD_SAMPLE of linux/perf_event.h. */
#include <string.h>

#include "file.h"

/* The unread rest of a record. */
struct sample_cursor {
	const uint8_t *at;
	size_t left;
	bool short_of;
};

static uint64_t take(struct sample_cursor *cursor)
{
	uint64_t value;

	if (cursor->left < sizeof(value)) {
		cursor->short_of = true;
		return 0;
	}
	memcpy(&value, cursor->at, sizeof(value));
	cursor->at += sizeof(value);
	cursor->left -= sizeof(value);
	return value;
}

/* Skips @count items of @size bytes. Return: the first of them. */
static const uint8_t *pass(struct sample_cursor *cursor, uint64_t count, size_t size)
{
	const uint8_t *at = cursor->at;

	if (count > cursor->left / size) {
		cursor->short_of = true;
		return NULL;
	}
	cursor->at += count * size;
	cursor->left -= count * size;
	return at;
}

static void pass_counters(struct sample_cursor *cursor, uint64_t format)
{
	uint64_t times = !!(format & PERF_FORMAT_TOTAL_TIME_ENABLED) +
			 !!(format & PERF_FORMAT_TOTAL_TIME_RUNNING);
	uint64_t words = 1 + !!(format & PERF_FORMAT_ID) + !!(format & FORMAT_LOST);

	if (format & PERF_FORMAT_GROUP) {
		uint64_t count = take(cursor);

		pass(cursor, times, 8);
		pass(cursor, count, 8 * words);
	} else {
		pass(cursor, times + words, 8);
	}
}

static void take_branches(struct sample_cursor *cursor, const struct perf_event_attr *attr,
			  struct ntrace_perf_sample *sample)
{
	uint64_t count = take(cursor);

	if (attr->branch_sample_type & PERF_SAMPLE_BRANCH_HW_INDEX)
		take(cursor);
	sample->branches = pass(cursor, count, sizeof(struct perf_branch_entry));
	if (!cursor->short_of) {
		sample->has_branches = true;
		sample->branch_count = (size_t)count;
	}
}

static void read_registers(struct sample_cursor *cursor, const struct perf_event_attr *attr,
			   struct ntrace_perf_sample *sample)
{
	uint64_t abi = take(cursor);
	unsigned int count = (unsigned int)__builtin_popcountll(attr->sample_regs_user);
	const uint8_t *registers = abi == PERF_SAMPLE_REGS_ABI_NONE ? NULL : pass(cursor, count, 8);

	if (attr->sample_regs_user == UINT32_MAX)
		sample->registers = registers;
}

/* The kernel pads the copy to the size that the event asks for, and then says how much it is. */
static void read_stack(struct sample_cursor *cursor, struct ntrace_perf_sample *sample)
{
	uint64_t size = take(cursor), valid;

	if (!size)
		return;
	sample->stack = pass(cursor, size, 1);
	valid = take(cursor);
	sample->stack_size = cursor->short_of || valid > size ? 0 : (size_t)valid;
}

/* The size is 4 bytes, and both together are padded to 8. */
static void read_raw(struct sample_cursor *cursor, struct ntrace_perf_sample *sample)
{
	uint32_t size = 0;
	const uint8_t *at;

	if (cursor->left >= sizeof(size))
		memcpy(&size, cursor->at, sizeof(size));
	at = pass(cursor, (size + sizeof(size) + 7ull) / 8, 8);
	if (cursor->short_of)
		return;
	sample->raw = at + sizeof(size);
	sample->raw_size = size;
}

/* If events differ, the id comes first and identifies the sample's event. */
static const struct perf_event_attr *event_of(const struct ntrace_perf_file *file,
					      const struct sample_cursor *cursor)
{
	uint64_t id;

	if (!file->attr_count)
		return NULL;
	if (file->attr_count == 1 || !(file->attrs[0].sample_type & PERF_SAMPLE_IDENTIFIER) ||
	    cursor->left < sizeof(id))
		return &file->attrs[0];
	memcpy(&id, cursor->at, sizeof(id));
	return perf_file_event(file, id);
}

int ntrace_perf_file_sample(const struct ntrace_perf_file *file,
			    const struct ntrace_perf_record *record,
			    struct ntrace_perf_sample *sample)
{
	struct sample_cursor cursor = { record->data + sizeof(struct perf_event_header),
					record->size - sizeof(struct perf_event_header), false };
	const struct perf_event_attr *attr = event_of(file, &cursor);
	uint64_t type, value;

	*sample = (struct ntrace_perf_sample){ .pid = -1, .tid = -1 };
	if (record->type != PERF_RECORD_SAMPLE || !attr)
		return NTRACE_ERR_UNSUPPORTED;
	type = attr->sample_type;
	sample->event = (unsigned int)(attr - file->attrs);
	sample->kernel = (record->misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL;
	if (type & PERF_SAMPLE_IDENTIFIER)
		take(&cursor);
	if (type & PERF_SAMPLE_IP)
		sample->address = take(&cursor);
	if (type & PERF_SAMPLE_TID) {
		value = take(&cursor);
		sample->pid = (int32_t)value;
		sample->tid = (int32_t)(value >> 32);
	}
	if (type & PERF_SAMPLE_TIME)
		sample->time = take(&cursor);
	pass(&cursor,
	     (uint64_t)__builtin_popcountll(type & (PERF_SAMPLE_ADDR | PERF_SAMPLE_ID |
						    PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU |
						    PERF_SAMPLE_PERIOD)),
	     8);
	if (type & PERF_SAMPLE_READ)
		pass_counters(&cursor, attr->read_format);
	if (type & PERF_SAMPLE_CALLCHAIN)
		pass(&cursor, take(&cursor), 8);
	if (type & PERF_SAMPLE_RAW)
		read_raw(&cursor, sample);
	if (type & PERF_SAMPLE_BRANCH_STACK)
		take_branches(&cursor, attr, sample);
	if (type & PERF_SAMPLE_REGS_USER)
		read_registers(&cursor, attr, sample);
	if (type & PERF_SAMPLE_STACK_USER)
		read_stack(&cursor, sample);
	return cursor.short_of ? NTRACE_ERR_TRUNCATED : 0;
}

void ntrace_perf_sample_branch(const struct ntrace_perf_sample *sample, size_t index,
			       uint64_t *from, uint64_t *to)
{
	struct perf_branch_entry entry = { 0 };

	if (index < sample->branch_count)
		memcpy(&entry, sample->branches + index * sizeof(entry), sizeof(entry));
	*from = entry.from;
	*to = entry.to;
}
