// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* All traces as one JSON array, for jq and scripts. */
#include <inttypes.h>

#include "counts.h"
#include "json_text.h"

static void put_json_object(FILE *file, const char *key, const struct ntrace_object *object)
{
	fprintf(file, "\"%s\":", key);
	if (object)
		put_json_text(file, ntrace_object_name(object));
	else
		fputs("null", file);
}

int put_json(const struct counts_export *export)
{
	const struct ntrace_profile_trace *trace;
	const char *separator = "[";
	size_t i;

	for (i = 0; i < export->count; i++) {
		trace = &export->traces[i];
		if (!is_of_object(export, trace))
			continue;
		fprintf(export->file, "%s\n{", separator);
		put_json_object(export->file, "from_object", trace->from_object);
		fprintf(export->file, ",\"from\":\"0x%" PRIx64 "\",", trace->from);
		put_json_object(export->file, "object", trace->object);
		fprintf(export->file,
			",\"start\":\"0x%" PRIx64 "\",\"end\":\"0x%" PRIx64
			"\",\"instructions\":%" PRIu32 ",\"taken\":%s,\"count\":%" PRIu64 "}",
			trace->start, trace->end, trace->instructions,
			trace->taken ? "true" : "false", trace->count);
		separator = ",";
	}
	fputs(*separator == '[' ? "[]\n" : "\n]\n", export->file);
	return 0;
}
