/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Decoding parts of a stream at the same time.
 *
 * A part begins after a message with SYNC, where a flow knows little (struct ntrace_flow_state), and
 * ends with the next such message that was chosen, inclusive. Nearly all of the state at its begin
 * can be guessed, so that all parts can be decoded at once, each by a flow of its own, in any
 * thread. Afterwards the parts are joined in their order: where the guess was right for what the part
 * contains, its results are those of one flow for the whole stream. Otherwise the part is decoded
 * again, from the state at the end of the part before.
 */
#ifndef NTRACE_PARTS_H
#define NTRACE_PARTS_H

#include <ntrace/flow.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * enum ntrace_part_matter - bits of the facts that a part depends on
 * @NTRACE_PART_TIME: the times of its events, or code that changes over time
 * @NTRACE_PART_CONTEXT: the state set by Ownership messages: spaces are chosen by it, or events used
 * @NTRACE_PART_EXCESS: it had an error NTRACE_FLOW_ERROR_EXCESS, which depends on all bytes so far
 */
enum ntrace_part_matter {
	NTRACE_PART_TIME = 1,
	NTRACE_PART_CONTEXT = 2,
	NTRACE_PART_EXCESS = 4,
};

/**
 * ntrace_part_guess - the probable state of a flow directly after a message with SYNC
 * @state: with @size set by the caller; filled in
 * @sync: the message, see ntrace_wire_sync_next()
 * @offset: position of the first byte of the data in which @sync was found
 * @params: parameters of the stream
 * @like: the state at another message of the stream, best at an earlier one; NULL: none is known
 *
 * Return: 0, NTRACE_ERR_INVALID.
 */
NTRACE_EXPERIMENTAL int ntrace_part_guess(struct ntrace_flow_state *state,
					  const struct ntrace_wire_sync *sync, uint64_t offset,
					  const struct ntrace_params *params,
					  const struct ntrace_flow_state *like);

/**
 * ntrace_part_join - whether a part was decoded as one flow would have done
 * @guess: the state with which the part began
 * @truth: the state at the end of the part before
 * @end: the state at the end of the part, set to that of one flow if the result is 0; NULL: not known,
 *       as at the end of the stream
 * @matters: enum ntrace_part_matter: what the part depends on
 *
 * Batches of blocks may have been cut at other places.
 *
 * Return: 0, NTRACE_ERR_AGAIN (decode the part again from @truth), NTRACE_ERR_INVALID.
 */
NTRACE_EXPERIMENTAL int ntrace_part_join(const struct ntrace_flow_state *guess,
					 const struct ntrace_flow_state *truth,
					 struct ntrace_flow_state *end, unsigned int matters);

#ifdef __cplusplus
}
#endif

#endif /* NTRACE_PARTS_H */
