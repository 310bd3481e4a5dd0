// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Speedscope's own JSON, which www.speedscope.app reads: each frame once, then the stacks of each
 * thread with their instructions. Each stack appears once, in the order of the call tree; the
 * Chrome format, which Speedscope reads too, has the order of time.
 */
#include <inttypes.h>

#include "json_text.h"
#include "stacks.h"

static void put_frames(const struct stacks_export *export)
{
	size_t i;

	fputs("\"shared\":{\"frames\":[", export->file);
	/* Threads and the root, which are no frames, come last. */
	for (i = 0; i < export->function_count && export->functions[i].kind < NTRACE_STACK_TASK;
	     i++) {
		fputs(i ? ",\n{\"name\":" : "\n{\"name\":", export->file);
		put_json_text(export->file, export->names[i]);
		if (export->functions[i].object) {
			fputs(",\"file\":", export->file);
			put_json_text(export->file,
				      ntrace_object_name(export->functions[i].object));
		}
		putc('}', export->file);
	}
	fputs("]},\n", export->file);
}

/*
 * Writes the frames of a node, the outermost first; "[other]", which has no thread, is its own
 * frame.
 */
static void put_stack(const struct stacks_export *export, uint32_t depth)
{
	uint32_t i = depth > 1 ? 2 : 1;

	for (putc('[', export->file); i <= depth; i++)
		fprintf(export->file, "%" PRIu32 "%s", export->path[i], i < depth ? "," : "");
	putc(']', export->file);
}

/* The nodes of a thread are consecutive, from the thread's own node to @end. */
static void put_thread(const struct stacks_export *export, size_t thread, size_t end)
{
	const struct ntrace_stack_node *nodes = export->nodes;
	const char *separator = "";
	size_t i;

	fputs("{\"type\":\"sampled\",\"name\":", export->file);
	put_json_text(export->file, export->names[nodes[thread].function]);
	fprintf(export->file,
		",\"unit\":\"none\",\"startValue\":0,\"endValue\":%" PRIu64 ",\n\"samples\":[",
		nodes[thread].total);
	for (i = thread; i < end; i++) {
		export->path[nodes[i].depth] = nodes[i].function;
		if (!nodes[i].instructions)
			continue;
		fputs(separator, export->file);
		put_stack(export, nodes[i].depth);
		separator = ",\n";
	}
	fputs("],\n\"weights\":[", export->file);
	for (i = thread, separator = ""; i < end; i++) {
		if (!nodes[i].instructions)
			continue;
		fprintf(export->file, "%s%" PRIu64, separator, nodes[i].instructions);
		separator = ",";
	}
	fputs("]}", export->file);
}

int put_speedscope(const struct stacks_export *export)
{
	size_t thread = 1, end;

	fputs("{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\n",
	      export->file);
	put_frames(export);
	fputs("\"profiles\":[", export->file);
	for (; thread < export->node_count; thread = end) {
		end = thread + 1;
		while (end != export->node_count && export->nodes[end].depth > 1)
			end++;
		fputs(thread > 1 ? ",\n" : "\n", export->file);
		put_thread(export, thread, end);
	}
	fputs("],\n\"name\":", export->file);
	put_json_text(export->file, export->title);
	fputs(",\"exporter\":\"ntrace\"}\n", export->file);
	return 0;
}
