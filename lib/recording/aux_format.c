// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Who has recorded the trace of a perf.data file, and whether it is N-Trace.
 *
 *   PMU      words of AUXTRACE_INFO   flags 15:8 of AUX                 bytes
 *   gtrace   1 or more                0x0100 E-Trace, 0x0200 N-Trace    plain
 *   rvtrace  1                        none                              plain
 *   rvtrace  1, then 7 for each hart  0 frames, 0x0100 none (SpacemiT)  CoreSight frames, or plain
 *   ntrace   1, then 16 for each hart 0 or 0x0200                       plain
 *
 * The type in AUXTRACE_INFO is the same in all, so the name of the PMU decides, and where the file does not
 * have it, the words and flags do.
 */
#include <inttypes.h>
#include <string.h>

#include "aux_import.h"

bool aux_is_gtrace(const struct aux_info *info)
{
	return info->pmu && !strcmp(info->pmu, "gtrace");
}

bool aux_format_is_read(const struct aux_info *info, const struct piece *piece)
{
	uint32_t format = piece->flags & AUX_FORMAT;

	/* aux_format_check() has seen that all pieces of CoreSight's flags are packed in one way. */
	return !format || format == AUX_FORMAT_NTRACE || info->layout == AUX_SPACEMIT ||
	       info->coresight;
}

struct formats {
	uint64_t pieces;	/* with trace */
	uint64_t none;		/* of these, without a format */
	uint64_t ntrace;
	uint64_t other;		/* SpacemiT's PMU: without frames */
	uint32_t first_other;
};

static struct formats count(const struct machine *machine)
{
	struct formats formats = { 0 };
	size_t i;

	for (i = 0; i < machine->piece_count; i++) {
		uint32_t format = machine->pieces[i].flags & AUX_FORMAT;

		if (!machine->pieces[i].size)
			continue;
		formats.pieces++;
		if (!format) {
			formats.none++;
		} else if (format == AUX_FORMAT_NTRACE) {
			formats.ntrace++;
		} else if (!formats.other++) {
			formats.first_other = format;
		}
	}
	return formats;
}

/* CoreSight's flags: pieces with frames, and pieces without. */
static int check_spacemit(const struct aux_import *import, const struct formats *formats,
			  struct aux_info *info)
{
	if (!formats->other)
		return 0;
	if (formats->other < formats->pieces || formats->first_other != AUX_FORMAT_RAW) {
		notes_add(import->notes,
			  "%s: %" PRIu64 " of %" PRIu64 " AUX records have the format 0x%04" PRIx32
			  ", the others CoreSight frames: cannot read both",
			  import->name, formats->other, formats->pieces, formats->first_other);
		return NTRACE_ERR_FORMAT;
	}
	info->layout = AUX_BYTES;
	info->coresight = true;
	return 0;
}

int aux_format_check(const struct aux_import *import, struct aux_info *info)
{
	const struct formats formats = count(import->machine);
	const char *pmu = info->pmu ? info->pmu : "not named";

	if (info->layout == AUX_SPACEMIT)
		return check_spacemit(import, &formats, info);
	if (formats.other && formats.other == formats.pieces) {
		if (formats.first_other == AUX_FORMAT_ETRACE)
			notes_add(import->notes,
				  "%s: the trace is E-Trace (PMU %s, AUX format 0x0100); ntrace "
				  "decodes N-Trace only",
				  import->name, pmu);
		else
			notes_add(import->notes,
				  "%s: unknown trace format 0x%04" PRIx32 " (PMU %s)", import->name,
				  formats.first_other, pmu);
		return NTRACE_ERR_FORMAT;
	}
	if (formats.none && aux_is_gtrace(info) && !import->params) {
		notes_add(import->notes,
			  "%s: the PMU gtrace does not tell the format of its trace (%" PRIu64
			  " of %" PRIu64 " AUX records); if it is N-Trace, give its parameters: "
			  "--params srcbits=N",
			  import->name, formats.none, formats.pieces);
		return NTRACE_ERR_FORMAT;
	}
	return 0;
}
