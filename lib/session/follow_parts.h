/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* What follow.c and follow_threads.c share. */
#ifndef NTRACE_SESSION_FOLLOW_PARTS_H
#define NTRACE_SESSION_FOLLOW_PARTS_H

#include "follow.h"

/* Return: 0 or NTRACE_ERR_NOMEM. */
int follower_add_place(struct follower *follower, struct switch_place place);

/* Task of a stint: who came with the switch before it, or who goes with the one that ends it. */
void stint_task(const struct follower *follower, const struct switch_place *place, int32_t *pid,
		int32_t *tid);
uint64_t stint_start(const struct follower *follower, const struct switch_place *place);
uint64_t stint_end(const struct follower *follower, const struct switch_place *place);
/* Switches that are missing before the end of a stint. */
uint64_t lost_before(const struct follower *follower, size_t stint);
/* The program of a stint: the first one of its process, as long as no exec was noticed. */
struct program *stint_program(const struct follower *follower, const struct switch_place *place,
			      int32_t pid);
/* Two mappings show the same bytes of the same file at an address. */
bool same_code(const struct mapping_change *a, const struct mapping_change *b);
/* @program begins at @address: there is the entry of a file that it has mapped. */
bool starts_at(struct follower *follower, const struct program *program, uint64_t address);

/* follow_threads.c */

/* Lists the threads of the stream. Return: 0 or NTRACE_ERR_NOMEM. */
int follow_threads_init(struct follower *follower);
void follow_threads_free(struct follower *follower);

/* Any number of switches went by. Return: 0 or NTRACE_ERR_NOMEM. */
int follow_threads_gap(struct follower *follower);

/*
 * What @place has at @address, in its stint or in the first one from where on it has; NULL: never.
 * @at: the place from where on.
 */
const struct mapping_change *follow_threads_mapping(struct follower *follower,
						    const struct switch_place *place,
						    uint64_t address, struct switch_place *at);

/* Has @place the same code at @address in all its stints, from the one of @mapping on? */
bool follow_threads_agree(struct follower *follower, const struct switch_place *place,
			  const struct mapping_change *mapping, uint64_t address);

/* Does a later program of @place begin at @address? @at: the place where it does. */
bool follow_threads_start(struct follower *follower, const struct switch_place *place,
			  uint64_t address, struct switch_place *at);

#endif
