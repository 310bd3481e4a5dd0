// SPDX-License-Identifier: GPL-2.0-only
/* The guessed state at the begin of a part of a stream, and when it is good enough. */
#include <string.h>

#include <ntrace/parts.h>

#include "tap.h"

static const struct ntrace_wire_sync sync_at = {
	.offset = 100, .length = 8, .address = 0x1000, .time = 0x12, .time_known = true
};

static struct ntrace_params params_of(unsigned int bits, enum ntrace_mode mode)
{
	struct ntrace_params params;

	ntrace_params_init(&params);
	params.timestamp_bits = bits;
	params.mode = mode;
	return params;
}

static struct ntrace_flow_state guess_of(const struct ntrace_params *params,
					 const struct ntrace_flow_state *like)
{
	struct ntrace_flow_state state = { .size = sizeof(state) };

	if (ntrace_part_guess(&state, &sync_at, 1000, params, like))
		memset(&state, 0, sizeof(state));
	return state;
}

static void test_guess(void)
{
	struct ntrace_params params = params_of(8, NTRACE_MODE_HISTORY);
	struct ntrace_flow_state like = { .size = sizeof(like),
					  .time = 0x345,
					  .flags = NTRACE_FLOW_STATE_INFERRED,
					  .credit = 77,
					  .warned_count = 1,
					  .warned = { 0x2000 } };
	struct ntrace_flow_state state = guess_of(&params, NULL);

	ok(state.offset == 1100 && state.address == 0x1000, "position and address");
	ok(state.time == 0x12 && state.flags & NTRACE_FLOW_STATE_TIME, "time");
	ok(state.flags & NTRACE_FLOW_STATE_HISTORY && state.flags & NTRACE_FLOW_STATE_MODE,
	   "HTM from the parameters");
	params = params_of(8, NTRACE_MODE_ANY);
	state = guess_of(&params, NULL);
	ok(!(state.flags & NTRACE_FLOW_STATE_MODE), "mode unknown");
	like.flags |= NTRACE_FLOW_STATE_MODE;
	state = guess_of(&params, &like);
	ok(state.flags & NTRACE_FLOW_STATE_MODE && !(state.flags & NTRACE_FLOW_STATE_HISTORY),
	   "BTM as elsewhere in the stream");
	ok(state.time == 0x412, "time after that of the other place");
	ok(state.flags & NTRACE_FLOW_STATE_INFERRED && state.warned_count == 1 &&
		   state.warned[0] == 0x2000,
	   "warnings of the other place");
	ok(!state.credit, "no credit");
	state.size = 1;
	ok(ntrace_part_guess(&state, &sync_at, 0, &params, NULL) == NTRACE_ERR_INVALID &&
		   ntrace_part_guess(NULL, &sync_at, 0, &params, NULL) == NTRACE_ERR_INVALID,
	   "states of a wrong size are refused");
}

/* Joins a part that began with @guess and would have begun with @truth. */
static int join(const struct ntrace_flow_state *guess, const struct ntrace_flow_state *truth,
		unsigned int matters)
{
	struct ntrace_flow_state end = *guess;

	return ntrace_part_join(guess, truth, &end, matters);
}

static void test_join(void)
{
	const unsigned int all = NTRACE_PART_TIME | NTRACE_PART_CONTEXT;
	const struct ntrace_params params = params_of(8, NTRACE_MODE_BRANCH);
	const struct ntrace_flow_state guess = guess_of(&params, NULL);
	struct ntrace_flow_state truth = guess;

	ok(!join(&guess, &truth, all), "a right guess");
	truth.address++;
	ok(join(&guess, &truth, 0) == NTRACE_ERR_AGAIN, "another address");
	truth = guess;
	truth.flags ^= NTRACE_FLOW_STATE_HISTORY;
	ok(join(&guess, &truth, 0) == NTRACE_ERR_AGAIN, "another mode");
	truth = guess;
	truth.time += 256;
	ok(!join(&guess, &truth, NTRACE_PART_CONTEXT) &&
		   join(&guess, &truth, all) == NTRACE_ERR_AGAIN,
	   "another time, if it matters");
	truth = guess;
	truth.flags ^= NTRACE_FLOW_STATE_TIME;
	ok(!join(&guess, &truth, 0) && join(&guess, &truth, all) == NTRACE_ERR_AGAIN,
	   "no time, if it matters");
	truth = guess;
	truth.context = (struct ntrace_context){ .scontext = 7, .scontext_known = true };
	ok(!join(&guess, &truth, NTRACE_PART_TIME) && join(&guess, &truth, all) == NTRACE_ERR_AGAIN,
	   "another context, if it matters");
	for (unsigned int i = 0; i < 3; i++) {
		struct ntrace_flow_state known = guess;

		known.context = (struct ntrace_context){ .scontext_known = i == 0,
							 .scontext = 7,
							 .hcontext_known = i == 1,
							 .hcontext = 8,
							 .prv_known = i == 2,
							 .prv = 1 };
		truth = known;
		ok(!join(&known, &truth, all), "the same context %u", i);
		truth.context.scontext = 6;
		truth.context.hcontext = 6;
		truth.context.prv = 3;
		ok(join(&known, &truth, all) == NTRACE_ERR_AGAIN, "another context %u", i);
	}
	truth = guess;
	truth.credit = 1000;
	ok(!join(&guess, &truth, all) &&
		   join(&guess, &truth, all | NTRACE_PART_EXCESS) == NTRACE_ERR_AGAIN,
	   "another credit, if it matters");
	ok(join(&truth, &guess, 0) == NTRACE_ERR_AGAIN, "more credit than there is");
	truth = guess;
	truth.flags ^= NTRACE_FLOW_STATE_STAMPED;
	ok(!join(&guess, &truth, all), "where batches are cut never matters");
	truth.size = 1;
	ok(join(&guess, &truth, 0) == NTRACE_ERR_INVALID, "a state of a wrong size is refused");
}

/* Warnings that a flow gives once. */
static void test_warnings(void)
{
	const struct ntrace_params params = params_of(8, NTRACE_MODE_BRANCH);
	struct ntrace_flow_state guess = guess_of(&params, NULL), truth = guess, end = guess;

	truth.flags |= NTRACE_FLOW_STATE_INFERRED;
	ok(ntrace_part_join(&guess, &truth, NULL, 0) == NTRACE_ERR_AGAIN,
	   "earlier warnings, and nothing known of those of the part");
	ok(!ntrace_part_join(&guess, &truth, &end, 0) && end.flags & NTRACE_FLOW_STATE_INFERRED,
	   "the end knows of it");
	end = guess;
	end.flags |= NTRACE_FLOW_STATE_INFERRED;
	ok(ntrace_part_join(&guess, &truth, &end, 0) == NTRACE_ERR_AGAIN,
	   "a warning about inferred returns given twice");
	truth = guess;
	guess.flags |= NTRACE_FLOW_STATE_INFERRED;
	ok(join(&guess, &truth, 0) == NTRACE_ERR_AGAIN, "a warning that nobody has given");
	guess = truth;
	truth.warned_count = 1;
	ok(join(&guess, &truth, 0) == NTRACE_ERR_AGAIN, "a warning about uncertain code");
}

int main(void)
{
	test_guess();
	test_join();
	test_warnings();
	return done_testing();
}
