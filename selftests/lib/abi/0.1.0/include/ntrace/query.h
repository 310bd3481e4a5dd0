/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Query: what a stream says about the next instruction, for programs that walk the code themselves
 * (N-Trace 1.0, "decoding"): emulators, binary translators, profilers with their own decoder of
 * instructions. Needs no image.
 *
 * A trace does not contain the instructions. It says how many 16-bit parcels were executed (I-CNT),
 * and what the code does not tell: outcomes of branches and targets of uninferable transfers. So
 * the caller reports each instruction that it walks over, and asks at branches and transfers:
 *
 *	while (!(got = ntrace_query_left(query, &parcels)) || got == 1) {
 *		if (got == 1) {
 *			ntrace_query_event(query, &event);
 *			// a sync, trap or target: continue at event.address
 *			continue;
 *		}
 *		// the instruction at pc has SIZE bytes
 *		ntrace_query_retire(query, SIZE / 2);
 *		// conditional branch: ntrace_query_branch(); uninferable: ntrace_query_target()
 *	}
 *
 * In BTM a branch is taken if and only if a message ends with it, so its outcome depends on the
 * parcels that the caller reports; a caller with other code than the hart gets wrong outcomes until
 * a contradiction shows. In HTM the outcomes are bits of HIST, and I-CNT confirms them later.
 *
 * The caller keeps the stack of return addresses, if the encoder infers returns (N-Trace 1.0,
 * "implicit return"); a sync empties it.
 */
#ifndef NTRACE_QUERY_H
#define NTRACE_QUERY_H

#include <ntrace/wire.h>

#ifdef __cplusplus
extern "C" {
#endif

struct ntrace_query;

/**
 * enum ntrace_query_type - kinds of events
 * @NTRACE_QUERY_SYNC: a message with SYNC: code = SYNC, btype = BTYPE; execution continues at address
 * @NTRACE_QUERY_TRAP: exception or interrupt: btype = BTYPE, address = handler. The instruction that
 *                     would have been next did not retire
 * @NTRACE_QUERY_TARGET: a transfer to address that the caller has not asked for: a branch whose
 *                       outcome the address decides, or an instruction that the caller does not know
 * @NTRACE_QUERY_TRACE_OFF: ProgTraceCorrelation: code = EVCODE. A sync follows
 * @NTRACE_QUERY_OWNERSHIP: value = PROCESS. Reported where it stands in the stream, which may be
 *                          before the last parcels of the earlier owner
 * @NTRACE_QUERY_LOSS: what follows is unknown up to the next sync: code = enum ntrace_query_loss
 * @NTRACE_QUERY_END: the end of the stream; value = bytes of an unfinished message
 */
enum ntrace_query_type {
	NTRACE_QUERY_SYNC,
	NTRACE_QUERY_TRAP,
	NTRACE_QUERY_TARGET,
	NTRACE_QUERY_TRACE_OFF,
	NTRACE_QUERY_OWNERSHIP,
	NTRACE_QUERY_LOSS,
	NTRACE_QUERY_END,
};

/**
 * enum ntrace_query_loss - reasons of a loss
 * @NTRACE_QUERY_LOSS_WIRE: a reserved MSEO code
 * @NTRACE_QUERY_LOSS_MESSAGE: a message lacks a field, or has a reserved value
 * @NTRACE_QUERY_LOSS_ENCODER: an Error message: value = ECODE
 * @NTRACE_QUERY_LOSS_CODE: the instructions of the caller contradict the stream: I-CNT ends inside an
 *                          instruction, or history bits are unused or missing
 */
enum ntrace_query_loss {
	NTRACE_QUERY_LOSS_WIRE,
	NTRACE_QUERY_LOSS_MESSAGE,
	NTRACE_QUERY_LOSS_ENCODER,
	NTRACE_QUERY_LOSS_CODE,
};

/**
 * struct ntrace_query_event - an event between two instructions
 * @type: enum ntrace_query_type
 * @code: see enum ntrace_query_type
 * @btype: see enum ntrace_query_type
 * @time_known: @time is valid
 * @reserved: 0
 * @address: see enum ntrace_query_type, else 0
 * @value: see enum ntrace_query_type, else 0
 * @offset: position of the message in the stream; of a repeated event: of RepeatBranch
 * @time: the last time reported up to that message, in ticks of the timestamp; unknown before the
 *	first one with SYNC, and after a loss until the next (N-Trace 1.0, "timestamps")
 */
struct ntrace_query_event {
	uint8_t type;
	uint8_t code;
	uint8_t btype;
	bool time_known;
	uint8_t reserved[4];
	uint64_t address;
	uint64_t value;
	uint64_t offset;
	uint64_t time;
};

/**
 * ntrace_query_new - query a stream from its start
 * @query: the new query, to be freed with ntrace_query_free()
 * @params: parameters of the stream, copied; NULL: those of ntrace_params_init()
 * @src: queries only messages of this SRC (if @params has src_bits)
 * @data: the stream; borrowed for the life of the query
 * @size: number of bytes at @data
 *
 * Return: 0, NTRACE_ERR_INVALID (parameters out of range), NTRACE_ERR_NOMEM.
 */
NTRACE_EXPERIMENTAL int ntrace_query_new(struct ntrace_query **query,
					 const struct ntrace_params *params, unsigned int src,
					 const uint8_t *data, size_t size);

/**
 * ntrace_query_free - free a query
 * @query: query made by ntrace_query_new(); NULL is allowed
 */
NTRACE_EXPERIMENTAL void ntrace_query_free(struct ntrace_query *query);

/**
 * ntrace_query_left - whether an event is next, else how far the caller may walk
 * @query: query made by ntrace_query_new()
 * @parcels: set to the number of parcels up to the end of the message; UINT64_MAX if only history
 *           bits limit the walk: up to the branch that uses the last one; 0 with an event
 *
 * Return: 0: the next instruction was executed; 1: an event is next, to be taken with
 * ntrace_query_event(); NTRACE_ERR_EOS: the event NTRACE_QUERY_END was taken.
 */
NTRACE_EXPERIMENTAL int ntrace_query_left(struct ntrace_query *query, uint64_t *parcels);

/**
 * ntrace_query_event - take the next event
 * @query: query made by ntrace_query_new()
 * @event: filled in
 *
 * Return: 0; 1: no event is next; NTRACE_ERR_EOS: as ntrace_query_left().
 */
NTRACE_EXPERIMENTAL int ntrace_query_event(struct ntrace_query *query,
					   struct ntrace_query_event *event);

/**
 * ntrace_query_retire - report that the caller has walked over an instruction
 * @query: a query for which ntrace_query_left() returned 0 since the last instruction
 * @parcels: size of the instruction in units of 16 bits
 *
 * Return: 0; 1: I-CNT ends with this instruction; NTRACE_ERR_FORMAT: I-CNT ends inside it: it was
 * not executed like this, and a loss is next; NTRACE_ERR_INVALID: an event is next, or @parcels is 0.
 */
NTRACE_EXPERIMENTAL int ntrace_query_retire(struct ntrace_query *query, unsigned int parcels);

/**
 * ntrace_query_branch - whether the conditional branch just retired was taken
 * @query: query made by ntrace_query_new()
 * @taken: set if the result is 0
 *
 * Call it once for each conditional branch, directly after ntrace_query_retire(). With all_jumps the
 * encoder also sends a bit for each direct jump and call, which must be taken in the same way.
 *
 * Return: 0; 1: only the address of the next event tells, which is either the target or the next
 * instruction; NTRACE_ERR_FORMAT: HTM has no bit for this branch, and a loss is next.
 */
NTRACE_EXPERIMENTAL int ntrace_query_branch(struct ntrace_query *query, bool *taken);

/**
 * ntrace_query_target - the target of the uninferable transfer just retired
 * @query: query made by ntrace_query_new()
 * @target: set if the result is 0
 *
 * Return: 0; 1: the stream does not report it: the address of the next event, if one is next, or an
 * inferred one, from the caller's stack of return addresses or the preceding instruction.
 */
NTRACE_EXPERIMENTAL int ntrace_query_target(struct ntrace_query *query, uint64_t *target);

#ifdef __cplusplus
}
#endif

#endif /* NTRACE_QUERY_H */
