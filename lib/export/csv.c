// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * All traces as comma-separated values, for spreadsheets and scripts: the first line names the
 * columns.
 */
#include <inttypes.h>
#include <stdlib.h>

#include <ntrace/text.h>

#include "counts.h"

static void put_csv_text(FILE *file, const char *text)
{
	char *room;

	putc('"', file);
	for (text = ntrace_text_clean(text, &room); *text; text++) {
		if (*text == '"')
			putc('"', file);
		putc(*text, file);
	}
	free(room);
	putc('"', file);
}

static void put_csv_place(FILE *file, const struct ntrace_object *object, uint64_t address)
{
	if (object)
		put_csv_text(file, ntrace_object_name(object));
	if (object || address)
		fprintf(file, ",0x%" PRIx64, address);
	else
		putc(',', file);
}

int put_csv(const struct counts_export *export)
{
	const struct ntrace_profile_trace *trace;
	size_t i;

	fputs("from_object,from,object,start,end,instructions,taken,count\n", export->file);
	for (i = 0; i < export->count; i++) {
		trace = &export->traces[i];
		if (!is_of_object(export, trace))
			continue;
		put_csv_place(export->file, trace->from_object, trace->from);
		putc(',', export->file);
		put_csv_place(export->file, trace->object, trace->start);
		fprintf(export->file, ",0x%" PRIx64 ",%" PRIu32 ",%d,%" PRIu64 "\n", trace->end,
			trace->instructions, trace->taken, trace->count);
	}
	return 0;
}
