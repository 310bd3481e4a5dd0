// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Names of PMUs, and the number of CPUs, from the header of perf.data. The types of PMUs differ with each
 * start of a kernel: only a name says which driver has recorded trace. PMU_MAPPINGS has it for each type;
 * files without it name an event after its PMU, e.g. gtrace//u.
 */
#include <stdlib.h>
#include <string.h>

#include "file.h"
#include "grow.h"

/* More than machines have; a damaged file may name any number. */
#define PMUS_MAX 1024

/* The bytes of a feature section that have not been read. */
struct rest {
	const uint8_t *bytes;
	uint64_t size;
};

static const uint8_t *next_bytes(struct rest *rest, uint64_t size)
{
	const uint8_t *bytes = rest->bytes;

	if (size > rest->size)
		return NULL;
	rest->bytes += size;
	rest->size -= size;
	return bytes;
}

static bool read_number(struct rest *rest, uint32_t *number)
{
	const uint8_t *bytes = next_bytes(rest, sizeof(*number));

	if (bytes)
		memcpy(number, bytes, sizeof(*number));
	return bytes;
}

/* A length, then a padded string: @text is not terminated. */
static bool read_string(struct rest *rest, const char **text, size_t *length)
{
	uint32_t padded;

	if (!read_number(rest, &padded))
		return false;
	*text = (const char *)next_bytes(rest, padded);
	*length = *text ? strnlen(*text, padded) : 0;
	return *text;
}

static int add_pmu(struct ntrace_perf_file *file, uint32_t type, const char *name, size_t length)
{
	struct pmu_name made = { .type = type };
	int error;

	if (file->pmu_count == PMUS_MAX)
		return 0;
	error = grow((void **)&file->pmus, file->pmu_count, &file->pmu_room, sizeof(made));
	if (error)
		return error;
	made.name = strndup(name, length);
	if (!made.name)
		return NTRACE_ERR_NOMEM;
	file->pmus[file->pmu_count++] = made;
	return 0;
}

/* A count, then the type and the name of each PMU. */
static int read_mappings(struct ntrace_perf_file *file, struct rest rest)
{
	uint32_t count, type;
	const char *name;
	size_t length;
	int error = 0;

	if (!read_number(&rest, &count))
		return 0;
	while (count-- && !error) {
		if (!read_number(&rest, &type) || !read_string(&rest, &name, &length))
			return 0;
		error = add_pmu(file, type, name, length);
	}
	return error;
}

/* Counts of events and of bytes of an attr, then attr, count of ids, name and ids of each event. */
static int read_events(struct ntrace_perf_file *file, struct rest rest)
{
	uint32_t count, size, ids, type;
	const uint8_t *attr;
	const char *name;
	size_t length, end;
	int error = 0;

	if (!read_number(&rest, &count) || !read_number(&rest, &size) || size < sizeof(type))
		return 0;
	while (count-- && !error) {
		attr = next_bytes(&rest, size);
		if (!attr || !read_number(&rest, &ids) || !read_string(&rest, &name, &length) ||
		    !next_bytes(&rest, 8 * (uint64_t)ids))
			return 0;
		memcpy(&type, attr, sizeof(type));
		for (end = 0; end < length && name[end] != '/'; end++)
			;
		if (end && end < length && !ntrace_perf_file_pmu(file, type))
			error = add_pmu(file, type, name, end);
	}
	return error;
}

int perf_file_read_pmus(struct ntrace_perf_file *file, uint64_t feature, const uint8_t *bytes,
			uint64_t size)
{
	const struct rest rest = { bytes, size };

	if (feature == PERF_FEATURE_NRCPUS && size >= sizeof(file->cpus))
		memcpy(&file->cpus, bytes, sizeof(file->cpus));
	if (feature == PERF_FEATURE_PMU_MAPPINGS)
		return read_mappings(file, rest);
	return feature == PERF_FEATURE_EVENT_DESC ? read_events(file, rest) : 0;
}

void perf_file_free_pmus(struct ntrace_perf_file *file)
{
	while (file->pmu_count)
		free(file->pmus[--file->pmu_count].name);
	free(file->pmus);
}

const char *ntrace_perf_file_pmu(const struct ntrace_perf_file *file, uint32_t type)
{
	size_t i;

	/* PMU_MAPPINGS, which has the names of the kernel, is read after EVENT_DESC, and counts. */
	for (i = file->pmu_count; i--;)
		if (file->pmus[i].type == type)
			return file->pmus[i].name;
	return NULL;
}

uint32_t ntrace_perf_file_cpus(const struct ntrace_perf_file *file)
{
	return file->cpus;
}
