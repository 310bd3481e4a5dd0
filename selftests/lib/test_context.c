// SPDX-License-Identifier: GPL-2.0-only
/*
 * Spaces chosen by Ownership messages (N-Trace 1.0, Ownership): the rules one by one, then random
 * registries against a model that sorts by the rules.
 */
#include <ntrace/context.h>

#include "tap.h"

#define SPACES 8

enum { U = 0, S = 1, M = 3 };

static struct ntrace_space *spaces[SPACES];

static struct ntrace_context host(unsigned int prv, uint64_t scontext)
{
	return (struct ntrace_context){
		.prv = (uint8_t)prv, .prv_known = true, .scontext = scontext, .scontext_known = true
	};
}

static struct ntrace_context guest(unsigned int prv, uint64_t hcontext, uint64_t scontext)
{
	struct ntrace_context context = host(prv, scontext);

	context.v = true;
	context.hcontext = hcontext;
	context.hcontext_known = true;
	return context;
}

static int add(struct ntrace_contexts *contexts, unsigned int space,
	       struct ntrace_context_match match)
{
	match.size = sizeof(match);
	return ntrace_contexts_add(contexts, spaces[space], &match);
}

#define ADD(contexts, space, ...)                                                           \
	is_u64(add(contexts, space, (struct ntrace_context_match){ __VA_ARGS__ }), 0, "adds " \
	       #__VA_ARGS__)

static void is_space(const struct ntrace_contexts *contexts, struct ntrace_context context,
		     int expected, const char *what)
{
	struct ntrace_space *got = ntrace_contexts_find(contexts, &context);

	ok(got == (expected < 0 ? NULL : spaces[expected]), "%s", what);
}

static void test_rules(void)
{
	struct ntrace_contexts *contexts;
	struct ntrace_context unknown = { 0 };

	ntrace_contexts_new(&contexts);
	is_space(contexts, host(U, 1), -1, "an empty registry has nothing");
	ADD(contexts, 0, .v = false);
	is_space(contexts, host(M, 1), 0, "a match without masks: any context of the host");
	is_space(contexts, unknown, 0, "also an unknown context");
	is_space(contexts, guest(U, 0, 1), -1, "Ownership, V: a guest is never in the host's");
	ADD(contexts, 1, .scontext = 7, .scontext_mask = UINT64_MAX);
	is_space(contexts, host(U, 7), 1, "the more specific match wins");
	is_space(contexts, host(U, 6), 0, "another scontext");
	is_space(contexts, unknown, 0, "an unknown scontext matches no value");
	is_space(contexts, host(M, 7), 0, "M-mode has no contexts");
	ADD(contexts, 2, .prv = M, .prv_mask = 3);
	is_space(contexts, host(M, 7), 2, "firmware by privilege");
	is_space(contexts, host(S, 7), 1, "a match of M-mode does not match S-mode");
	ADD(contexts, 3, .scontext = 7, .scontext_mask = UINT64_MAX);
	is_space(contexts, host(U, 7), 3, "of two equal matches the later one wins");
	ADD(contexts, 4, .v = true, .hcontext = 2, .hcontext_mask = 0xff);
	is_space(contexts, guest(S, 2, 7), 4, "a guest by hcontext");
	is_space(contexts, guest(S, 0x102, 7), 4, "bits outside the mask do not matter");
	is_space(contexts, guest(S, 3, 7), -1, "another guest has no space");
	ADD(contexts, 5, .v = true, .hcontext = 2, .hcontext_mask = 0xff, .scontext = 7,
	    .scontext_mask = UINT64_MAX);
	is_space(contexts, guest(U, 2, 7), 5, "a process of the guest");
	is_space(contexts, guest(U, 2, 8), 4, "another one");
	is_space(contexts, host(U, 7), 3, "the host's scontext 7 is another process");
	ADD(contexts, 6, .scontext = 9, .scontext_mask = UINT64_MAX, .prv_mask = 2);
	is_space(contexts, host(S, 9), 6, "prv 0 under mask 2: S-mode");
	is_space(contexts, host(U, 9), 6, "and U-mode");
	is_space(contexts, host(M, 9), 2, "not M-mode");
	is_u64(ntrace_contexts_version(contexts), 7, "each addition changes the version");
	ntrace_contexts_free(contexts);
	ntrace_contexts_free(NULL);
}

static void test_refused(void)
{
	struct ntrace_context_match match = { .size = 0 };
	struct ntrace_contexts *contexts;

	ntrace_contexts_new(&contexts);
	is_u64(ntrace_contexts_add(contexts, spaces[0], &match), NTRACE_ERR_INVALID, "no size");
	is_u64(add(contexts, 0, (struct ntrace_context_match){ .scontext = 1 }), NTRACE_ERR_INVALID,
	       "a value outside its mask could never match");
	is_u64(add(contexts, 0, (struct ntrace_context_match){ .hcontext = 3, .hcontext_mask = 1 }),
	       NTRACE_ERR_INVALID, "a value outside the mask of hcontext");
	is_u64(add(contexts, 0, (struct ntrace_context_match){ .prv_mask = 4 }), NTRACE_ERR_INVALID,
	       "privilege has two bits");
	is_u64(add(contexts, 0,
		   (struct ntrace_context_match){ .v = true, .prv = M, .prv_mask = 3 }),
	       NTRACE_ERR_INVALID, "Ownership: V with M-mode does not exist");
	is_u64(ntrace_contexts_version(contexts), 0, "nothing was added");
	ntrace_contexts_free(contexts);
}

static uint64_t random_state = 0x853c49e6748fea9b;

static unsigned int random_below(unsigned int limit)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (unsigned int)((random_state >> 20) % limit);
}

static struct ntrace_context_match random_match(void)
{
	struct ntrace_context_match match = {
		.scontext_mask = random_below(3) ? random_below(4) : 0,
		.hcontext_mask = random_below(3) ? random_below(4) : 0,
		.prv_mask = (uint8_t)random_below(4),
		.v = random_below(2),
	};

	match.scontext = random_below(4) & match.scontext_mask;
	match.hcontext = random_below(4) & match.hcontext_mask;
	match.prv = (uint8_t)(random_below(2) & match.prv_mask);
	return match;
}

/* Compares one bit of a mask after another, independently of the library's code. */
static int score(const struct ntrace_context_match *match, const struct ntrace_context *context)
{
	int bits = 0;

	for (unsigned int bit = 0; bit < 2; bit++) {
		if (match->scontext_mask >> bit & 1) {
			if (!context->scontext_known ||
			    (match->scontext ^ context->scontext) >> bit & 1)
				return -1;
			bits++;
		}
		if (match->hcontext_mask >> bit & 1) {
			if (!context->hcontext_known ||
			    (match->hcontext ^ context->hcontext) >> bit & 1)
				return -1;
			bits++;
		}
		if (match->prv_mask >> bit & 1) {
			if ((match->prv ^ context->prv) >> bit & 1)
				return -1;
			bits++;
		}
	}
	if (context->v != match->v)
		return -1;
	if (context->prv == M && !match->prv_mask && bits)
		return -1;
	return bits;
}

static void test_random(void)
{
	unsigned int wrong = 0, found = 0;

	for (unsigned int round = 0; round < 2000; round++) {
		struct ntrace_context_match match[SPACES];
		struct ntrace_contexts *contexts;
		unsigned int count = random_below(SPACES + 1);

		ntrace_contexts_new(&contexts);
		for (unsigned int i = 0; i < count; i++) {
			match[i] = random_match();
			add(contexts, i, match[i]);
		}
		for (unsigned int i = 0; i < 32; i++) {
			static const uint8_t privileges[] = { U, S, M };
			struct ntrace_context context = guest(privileges[random_below(3)],
							      random_below(8), random_below(8));
			int best = -1, best_bits = -1;

			context.v = context.prv != M && random_below(2);
			context.scontext_known = random_below(4);
			context.hcontext_known = random_below(4);
			for (unsigned int j = 0; j < count; j++) {
				int bits = score(&match[j], &context);

				if (bits >= 0 && bits >= best_bits) {
					best = (int)j;
					best_bits = bits;
				}
			}
			found += best >= 0;
			if (ntrace_contexts_find(contexts, &context) !=
			    (best < 0 ? NULL : spaces[best]))
				wrong++;
		}
		ntrace_contexts_free(contexts);
	}
	ok(found > 10000, "random registries: %u of 64000 contexts have a space", found);
	is_u64(wrong, 0, "every space is that of the model");
}

int main(void)
{
	for (unsigned int i = 0; i < SPACES; i++)
		ntrace_space_new(&spaces[i], "space", NULL);
	test_rules();
	test_refused();
	test_random();
	for (unsigned int i = 0; i < SPACES; i++)
		ntrace_space_put(spaces[i]);
	return done_testing();
}
