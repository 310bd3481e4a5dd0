/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A hart's execution by its tandem trace: every register, and the memory as the hart has seen it.
 *
 * Place N is the state after group N of the trace, counted from 0. A state is kept for every some
 * groups, and the effects of the trace lead from one to the next: a place is at most so many groups
 * away. Each store, and each load that tells something new, is kept with the number of its group, by
 * physical address, so that memory can be read at every place.
 *
 * Nothing is invented. A byte is known if the trace has told it before the place. The page table
 * that translates an address is read in the same memory. After a store of which the trace does not
 * tell all (vectors, push, cache blocks) nothing that was told before it is known.
 */
#ifndef NTRACE_TOOL_GDB_REPLAY_H
#define NTRACE_TOOL_GDB_REPLAY_H

#include <ntrace/cursor.h>
#include <ntrace/tandem.h>

struct replay;

/* With translation, the address may be another program's: its code alone is likely to be the same. */
enum replay_loaded { REPLAY_NOTHING, REPLAY_CODE, REPLAY_ALL };

/**
 * replay_new - read all of a trace
 * @params: valid parameters
 * @data: the trace; borrowed
 * @space: the program for the places, or NULL; borrowed
 * @group: called for each group, with the state after it. Return: false to end with NTRACE_ERR_NOMEM
 *
 * Groups up to damage, or up to the last one that has an end, are the trace.
 * Return: 0, NTRACE_ERR_NOMEM, or NTRACE_ERR_FORMAT if the trace was damaged; then @made is usable, too.
 */
int replay_new(struct replay **made, const struct ntrace_tandem_params *params, const void *data,
	       size_t size, struct ntrace_space *space,
	       bool (*group)(void *user, const struct ntrace_tandem_state *state), void *user);
void replay_free(struct replay *replay);

/** replay_groups - number of places */
uint64_t replay_groups(const struct replay *replay);

const struct ntrace_tandem_params *replay_params(const struct replay *replay);

/** replay_state - the state at a place; valid until the next call */
const struct ntrace_tandem_state *replay_state(struct replay *replay, uint64_t number);

/** replay_place - the same as a place of a cursor: a block of one instruction, which is next */
const struct ntrace_cursor_place *replay_place(struct replay *replay, uint64_t number);

/**
 * replay_store - the store of a group
 * @address: effective address if the trace has it, else physical
 *
 * Return: number of bytes, 0 = it stores nothing.
 */
unsigned int replay_store(const struct ntrace_tandem_state *state, uint64_t *address);

/**
 * replay_walk - go over groups in order
 * @from, @to: the first and the last one
 * @group: called for each, with the state after it. Return: false to end
 */
void replay_walk(struct replay *replay, uint64_t from, uint64_t to,
		 bool (*group)(void *user, uint64_t number,
			       const struct ntrace_tandem_state *state),
		 void *user);

/** replay_part - the first group from which replay_walk() reaches @number without others before it */
uint64_t replay_part(const struct replay *replay, uint64_t number);

/**
 * replay_read - memory at a place, at an address as the hart uses it there
 * @bytes: 1 to 8, none of them behind the next multiple of 8
 * @loaded: set to what of a program has its bytes there as it was loaded, where they are unknown
 */
struct ntrace_exec_value replay_read(struct replay *replay, uint64_t number, uint64_t address,
				     unsigned int bytes, enum replay_loaded *loaded);

#endif /* NTRACE_TOOL_GDB_REPLAY_H */
