// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Folded stacks: a line "thread;outermost;...;innermost COUNT" for each stack, which flamegraph.pl,
 * inferno and Speedscope read.
 */
#include <inttypes.h>

#include "line_text.h"
#include "stacks.h"

int put_folded(const struct stacks_export *export)
{
	const struct ntrace_stack_node *node;
	uint32_t depth;
	size_t i;

	for (i = 0; i < export->node_count; i++) {
		node = &export->nodes[i];
		export->path[node->depth] = node->function;
		if (!node->instructions)
			continue;
		for (depth = 1; depth <= node->depth; depth++) {
			put_line_text(export->file, export->names[export->path[depth]], ';', ':');
			putc(depth < node->depth ? ';' : ' ', export->file);
		}
		fprintf(export->file, "%" PRIu64 "\n", node->instructions);
	}
	return 0;
}
