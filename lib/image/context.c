// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Which address space belongs to a context (N-Trace 1.0, Ownership). */
#include <stdlib.h>

#include <ntrace/context.h>

#include "struct_size.h"

#define PRIVILEGE_M 3
#define PRIVILEGE_MASK 3

struct context_rule {
	struct ntrace_context_match match;
	struct ntrace_space *space;
	unsigned int bits;	/* number of bits that it compares */
};

struct ntrace_contexts {
	struct context_rule *rules;
	size_t count;
	size_t room;
};

int ntrace_contexts_new(struct ntrace_contexts **contexts)
{
	*contexts = calloc(1, sizeof(**contexts));
	return *contexts ? 0 : NTRACE_ERR_NOMEM;
}

void ntrace_contexts_free(struct ntrace_contexts *contexts)
{
	size_t i;

	if (!contexts)
		return;
	for (i = 0; i < contexts->count; i++)
		ntrace_space_put(contexts->rules[i].space);
	free(contexts->rules);
	free(contexts);
}

static unsigned int count_bits(uint64_t mask)
{
	unsigned int count = 0;

	for (; mask; mask &= mask - 1)
		count++;
	return count;
}

static bool makes_sense(const struct ntrace_context_match *match)
{
	if (match->prv_mask & ~PRIVILEGE_MASK || match->prv & ~match->prv_mask ||
	    match->scontext & ~match->scontext_mask || match->hcontext & ~match->hcontext_mask)
		return false;
	return !match->v || (match->prv_mask & match->prv) != PRIVILEGE_M;
}

int ntrace_contexts_add(struct ntrace_contexts *contexts, struct ntrace_space *space,
			const struct ntrace_context_match *match)
{
	struct ntrace_context_match full = { 0 };

	if (!space || STRUCT_TAKE(&full, match) || !makes_sense(&full))
		return NTRACE_ERR_INVALID;
	match = &full;
	if (contexts->count == contexts->room) {
		size_t room = contexts->room ? 2 * contexts->room : 16;
		struct context_rule *rules = realloc(contexts->rules, room * sizeof(*rules));

		if (!rules)
			return NTRACE_ERR_NOMEM;
		contexts->rules = rules;
		contexts->room = room;
	}
	contexts->rules[contexts->count++] = (struct context_rule){
		.match = *match,
		.space = ntrace_space_get(space),
		.bits = count_bits(match->scontext_mask) + count_bits(match->hcontext_mask) +
			count_bits(match->prv_mask),
	};
	return 0;
}

static bool matches(const struct ntrace_context_match *match, const struct ntrace_context *context)
{
	bool by_context = match->scontext_mask || match->hcontext_mask;

	if (match->v != (context->prv_known && context->v))
		return false;
	if (match->prv_mask &&
	    (!context->prv_known || (context->prv & match->prv_mask) != match->prv))
		return false;
	if (by_context && !match->prv_mask && context->prv_known && context->prv == PRIVILEGE_M)
		return false;
	if (match->scontext_mask && (!context->scontext_known ||
				     (context->scontext & match->scontext_mask) != match->scontext))
		return false;
	return !match->hcontext_mask ||
	       (context->hcontext_known &&
		(context->hcontext & match->hcontext_mask) == match->hcontext);
}

struct ntrace_space *ntrace_contexts_find(const struct ntrace_contexts *contexts,
					  const struct ntrace_context *context)
{
	const struct context_rule *best = NULL;
	size_t i;

	for (i = 0; i < contexts->count; i++) {
		const struct context_rule *rule = &contexts->rules[i];

		if ((!best || rule->bits >= best->bits) && matches(&rule->match, context))
			best = rule;
	}
	return best ? best->space : NULL;
}

uint64_t ntrace_contexts_version(const struct ntrace_contexts *contexts)
{
	return contexts->count;
}
