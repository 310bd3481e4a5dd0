// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Lines of one compilation unit at a time. Reading all units of a kernel or browser takes minutes,
 * and only few of them are executed.
 */
#include <stdlib.h>
#include <string.h>

#include "bisect.h"
#include "grow.h"
#include "lines.h"
#include "object.h"

/* @lines: NULL before the unit is read, and if it has no lines */
struct unit {
	struct debug_unit debug;
	struct ntrace_lines *lines;
	bool was_read;
};

struct unit_range {
	uint64_t start;
	uint64_t end;
	uint32_t unit;
};

struct ntrace_units {
	struct ntrace_object *object;
	struct debug_info info;
	struct unit *units;
	size_t count;
	size_t room;
	struct unit_range *ranges;
	size_t range_count;
	size_t range_room;
};

static int add_ranges(struct ntrace_units *units, struct debug_unit *unit)
{
	Dwarf_Addr base, start, end;
	ptrdiff_t offset = 0;
	int error = 0;

	while (!error && (offset = dwarf_ranges(&unit->die, offset, &base, &start, &end)) > 0) {
		if (start >= end || !object_is_code(units->object, start, end, true))
			continue;
		error = grow((void **)&units->ranges, units->range_count, &units->range_room,
			     sizeof(*units->ranges));
		if (!error)
			units->ranges[units->range_count++] =
				(struct unit_range){ start, end, (uint32_t)units->count };
	}
	if (offset < 0)
		debug_info_note_unread(units->object, "ranges of addresses");
	return error;
}

static int add_unit(struct ntrace_units *units, struct debug_unit *unit)
{
	size_t before = units->range_count;
	int error = add_ranges(units, unit);

	/* For example units that only exist to be imported. */
	if (error || units->range_count == before)
		return error;
	error = grow((void **)&units->units, units->count, &units->room, sizeof(*units->units));
	if (!error)
		units->units[units->count++] = (struct unit){ .debug = *unit };
	return error;
}

static int compare_ranges(const void *left, const void *right)
{
	const struct unit_range *a = left, *b = right;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return a->unit < b->unit ? -1 : a->unit > b->unit;
}

static int find_units(struct ntrace_units *units)
{
	struct debug_unit unit = { 0 };
	int error = debug_info_open(&units->info, units->object);

	while (!error) {
		error = debug_info_next(&units->info, &unit);
		if (!error)
			error = add_unit(units, &unit);
	}
	if (error != DEBUG_INFO_END)
		return error;
	if (!units->range_count)
		return NTRACE_ERR_UNSUPPORTED;
	qsort(units->ranges, units->range_count, sizeof(*units->ranges), compare_ranges);
	return 0;
}

int ntrace_units_open(struct ntrace_units **units, struct ntrace_object *object,
		      const char *const *directories)
{
	struct ntrace_units *made;
	int error = lines_find_debug_file(object, directories);

	if (error)
		return error;
	made = calloc(1, sizeof(*made));
	if (!made)
		return NTRACE_ERR_NOMEM;
	made->object = ntrace_object_get(object);
	error = find_units(made);
	if (error) {
		ntrace_units_close(made);
		return error;
	}
	*units = made;
	return 0;
}

void ntrace_units_close(struct ntrace_units *units)
{
	size_t i;

	if (!units)
		return;
	for (i = 0; i < units->count; i++)
		ntrace_lines_close(units->units[i].lines);
	debug_info_close(&units->info);
	free(units->units);
	free(units->ranges);
	ntrace_object_put(units->object);
	free(units);
}

static struct ntrace_lines *read_unit(const struct ntrace_units *units, struct unit *unit)
{
	struct ntrace_lines *made = calloc(1, sizeof(*made));
	int error = made ? 0 : NTRACE_ERR_NOMEM;

	if (made)
		made->object = ntrace_object_get(units->object);
	if (!error)
		error = lines_read_unit(made, &unit->debug);
	if (!error)
		error = lines_settle(made);
	if (!error)
		return made;
	ntrace_lines_close(made);
	return NULL;
}

const struct ntrace_lines *ntrace_units_lines(struct ntrace_units *units, uint64_t address)
{
	size_t low = 0;
	struct unit *unit;

	BISECT(low, units->range_count, middle, units->ranges[middle].start <= address);
	if (!low || address >= units->ranges[low - 1].end)
		return NULL;
	/* Several units may begin at 0, of which the linker dropped all but one. */
	do {
		unit = &units->units[units->ranges[low - 1].unit];
		if (!unit->was_read)
			unit->lines = read_unit(units, unit);
		unit->was_read = true;
		if (unit->lines && ntrace_lines_find(unit->lines, address))
			break;
	} while (--low && !units->ranges[low - 1].start && address < units->ranges[low - 1].end);
	return unit->lines;
}
