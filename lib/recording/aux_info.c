// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * AUXTRACE_INFO of other drivers, as described in Documentation/trace/recording.md, and of perf itself
 * (Documentation/trace/auxtrace-info.md).
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <linux/perf_event.h>

#include "aux_import.h"

/* Header of the record, type of the trace, 4 unused bytes. */
#define INFO_HEAD 16
/* CPU and number of parameters, before the parameters. */
#define HART_HEAD 2
#define HART_PARAMS 5
#define HARTS_MAX NTRACE_RECORDING_STREAMS_MAX

/* perf's enum auxtrace_type: types that are not RISC-V trace. */
static const char *const foreign[] = {
	[1] = "Intel PT",
	[2] = "Intel BTS",
	[3] = "CoreSight ETM",
	[4] = "Arm SPE",
	[5] = "s390 CPU-MF sampling",
	[6] = "HiSilicon PTT",
	[7] = "a log of virtual processors of POWER (VPA DTL)",
};

static uint64_t word(const struct ntrace_perf_record *record, size_t index)
{
	uint64_t value = 0;

	memcpy(&value, record->data + INFO_HEAD + 8 * index, sizeof(value));
	return value;
}

/* A parameter of the hart whose entry is at @at; 0 if the entry is shorter. */
static uint64_t hart_word(const struct ntrace_perf_record *record, size_t at, size_t number)
{
	return number < word(record, at + 1) ? word(record, at + HART_HEAD + number) : 0;
}

/* Values that ntrace_params_parse() takes */
static bool can_be(const struct aux_hart *hart)
{
	return (!hart->xlen || hart->xlen == 32 || hart->xlen == 64) && hart->address_bits < 64 &&
	       hart->return_mode <= 3 && hart->timestamp_bits <= 64;
}

static int take_hart(const struct ntrace_perf_record *record, size_t at, struct aux_hart *hart)
{
	uint64_t params = word(record, at + 1);

	if (params < HART_PARAMS)
		return NTRACE_ERR_FORMAT;
	*hart = (struct aux_hart){
		.cpu = word(record, at),
		.format = hart_word(record, at, 0),
		.context = hart_word(record, at, 1),
		.no_src = hart_word(record, at, 2),
		.src_bits = hart_word(record, at, 3),
		.src = hart_word(record, at, 4),
		.packing = hart_word(record, at, 5),
		/* Parameter 6 is the ID in frames, which the frames themselves tell. */
		.version = hart_word(record, at, 7),
		.xlen = hart_word(record, at, 8),
		.flags = hart_word(record, at, 9),
		.address_bits = hart_word(record, at, 10),
		.return_mode = hart_word(record, at, 11),
		.timestamp_bits = hart_word(record, at, 12),
		.timestamp_hz = hart_word(record, at, 13),
	};
	return hart->src_bits > NTRACE_SRC_BITS_MAX || hart->src >> NTRACE_SRC_BITS_MAX ||
			       hart->cpu >= MACHINE_CPUS_MAX || !can_be(hart) ?
		       NTRACE_ERR_FORMAT :
		       0;
}

/* The number of harts, then each hart with its number of parameters; more words may follow. */
static int take_harts(const struct ntrace_perf_record *record, size_t words, uint64_t count,
		      struct aux_info *info)
{
	uint64_t params;
	size_t at = 1, i;
	int error = 0;

	if (!count || count > HARTS_MAX)
		return NTRACE_ERR_FORMAT;
	info->harts = calloc(count, sizeof(*info->harts));
	if (!info->harts)
		return NTRACE_ERR_NOMEM;
	for (i = 0; i < count && !error; i++) {
		if (words - at < HART_HEAD + HART_PARAMS)
			return NTRACE_ERR_FORMAT;
		params = word(record, at + 1);
		if (params > words - at - HART_HEAD)
			return NTRACE_ERR_FORMAT;
		error = take_hart(record, at, &info->harts[i]);
		at += HART_HEAD + params;
	}
	info->hart_count = i;
	return error;
}

/*
 * The halves of the first word are the type of a PMU and the number of harts. gtrace has the type in the lower
 * one, SpacemiT and older files of ntrace in the upper one. The type is that of an event of the file, and above
 * those that perf gives away itself. If both halves are, the upper one counts: gtrace's word has no harts.
 */
static uint32_t find_type(const struct ntrace_perf_file *file, uint64_t first)
{
	uint32_t lower = 0;
	unsigned int i;

	for (i = 0; i < ntrace_perf_file_events(file); i++) {
		uint32_t type = ntrace_perf_file_attr(file, i)->type;

		if (type >= PERF_TYPE_MAX && type == first >> 32)
			return type;
		if (type >= PERF_TYPE_MAX && type == (uint32_t)first)
			lower = type;
	}
	return lower;
}

int aux_info_read(const struct aux_import *import, const struct ntrace_perf_record *record,
		  struct aux_info *info)
{
	size_t words = record->size < INFO_HEAD ? 0 : (record->size - INFO_HEAD) / 8u;
	uint32_t type = 0, pmu = 0;
	uint64_t first = 0;
	int error = 0;

	if (record->size >= INFO_HEAD)
		memcpy(&type, record->data + 8, sizeof(type));
	if (type < sizeof(foreign) / sizeof(foreign[0]) && foreign[type]) {
		notes_add(import->notes, "%s: the trace is %s, not RISC-V N-Trace", import->name,
			  foreign[type]);
		return NTRACE_ERR_FORMAT;
	}
	if (words) {
		first = word(record, 0);
		pmu = find_type(import->machine->file, first);
		info->pmu = ntrace_perf_file_pmu(import->machine->file, pmu);
	}
	/* A single word is the type of the PMU, and gtrace may append others. */
	if (words == 1 || (words && aux_is_gtrace(info))) {
		info->layout = AUX_RVTRACE;
		return 0;
	}
	if (words)
		error = take_harts(record, words,
				   pmu && pmu != first >> 32 ? first >> 32 : (uint32_t)first, info);
	if (!words || error == NTRACE_ERR_FORMAT) {
		notes_add(import->notes,
			  "%s: AUXTRACE_INFO at offset 0x%" PRIx64 " (type %" PRIu32 ", %zu "
			  "words) matches neither rvtrace and gtrace (1 word) nor SpacemiT (7 "
			  "words for "
			  "each hart)",
			  import->name, record->position, type, words);
		return NTRACE_ERR_FORMAT;
	}
	if (!error)
		info->layout = info->harts->packing == AUX_PACKING_BYTES ? AUX_BYTES : AUX_SPACEMIT;
	return error;
}
