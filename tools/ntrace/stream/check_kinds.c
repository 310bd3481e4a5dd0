// SPDX-License-Identifier: GPL-2.0-only
/* Kinds of findings, in a table whose size does not depend on the trace. */
#include <string.h>

#include "check_kinds.h"

static bool is_same(const struct ntrace_check_finding *a, const struct ntrace_check_finding *b)
{
	return a->rule == b->rule && a->tcode == b->tcode && a->src == b->src &&
	       a->address == b->address;
}

static struct check_kind *slot_of(struct check_kinds *kinds,
				  const struct ntrace_check_finding *finding)
{
	uint64_t key = finding->address ^ (uint64_t)(finding->src + 1) << 40 ^
		       (uint64_t)(finding->tcode + 1) << 52;

	/* By name, not by place in memory: each run shows the same. */
	for (const char *id = finding->rule->id; *id; id++)
		key = (key ^ (uint8_t)*id) * UINT64_C(0x100000001b3);
	key ^= key >> 32;
	return &kinds->kinds[key % CHECK_KINDS];
}

bool check_kinds_take(struct check_kinds *kinds, const struct ntrace_check_finding *finding,
		      struct check_kind *replaced)
{
	struct check_kind *kind = slot_of(kinds, finding);

	memset(replaced, 0, sizeof(*replaced));
	if (kind->first.rule && is_same(&kind->first, finding)) {
		kind->more++;
		kind->last = finding->offset;
		return false;
	}
	*replaced = *kind;
	*kind = (struct check_kind){ .first = *finding };
	return true;
}

bool check_kinds_next(struct check_kinds *kinds, struct check_kind *kind)
{
	struct check_kind *first = NULL;
	unsigned int i;

	for (i = 0; i < CHECK_KINDS; i++) {
		struct check_kind *other = &kinds->kinds[i];

		if (other->first.rule && (!first || other->first.offset < first->first.offset))
			first = other;
	}
	if (!first)
		return false;
	*kind = *first;
	first->first.rule = NULL;
	return true;
}
