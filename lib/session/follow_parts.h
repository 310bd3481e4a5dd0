/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Functions shared by the files of the follower. */
#ifndef NTRACE_SESSION_FOLLOW_PARTS_H
#define NTRACE_SESSION_FOLLOW_PARTS_H

#include "follow.h"

/* follow.c */

/*
 * Sets the current task from the places, as far as they agree, and the program from the first known
 * place. Forgets what the places share.
 */
void follower_update_task(struct follower *follower);
/* Tasks are unknown from now on; a note states @why. */
void follower_give_up(struct follower *follower, const char *why);
/* The exec in the present interval or piece is over. */
void follower_enter_next(struct follower *follower);
/* Sets the name of the current task. */
void follower_name(struct follower *follower);
/* Return: 0 or NTRACE_ERR_NOMEM. */
int follower_add_place(struct follower *follower, struct switch_place place);
/* Drops all places but the possible ones, if there are any. */
void follower_keep(struct follower *follower,
		   bool (*is_possible)(const struct follower *follower,
				       const struct switch_place *place, const void *data),
		   const void *data);

/*
 * Task of a scheduling interval: the incoming task of the switch before it, or the outgoing task of
 * the switch that ends it.
 */
void interval_task(const struct follower *follower, const struct switch_place *place, int32_t *pid,
		   int32_t *tid);
/* The thread that ran when the piece began. */
int32_t piece_thread(const struct piece *piece);
uint64_t interval_start(const struct follower *follower, const struct switch_place *place);
uint64_t interval_end(const struct follower *follower, const struct switch_place *place);
/* Number of switches missing before the end of a scheduling interval. */
uint64_t lost_before(const struct follower *follower, size_t interval);
/* The program of a scheduling interval: the first one of its process unless an exec was noticed. */
struct program *interval_program(const struct follower *follower, const struct switch_place *place,
				 int32_t pid);
/* For qsort(): pieces by position. */
int compare_pieces(const void *left, const void *right);
/* Whether the piece is of the AUX area of a stream, and of its file. */
bool follower_has_piece(const struct piece *piece, const struct ntrace_stream *info);

/* follow_code.c */

/* Whether @part is not also @other code; else a note says so. */
bool follower_is_same(struct follower *follower, const struct code_part *part);
/* Restricts @all, which may be empty, to what it shares with @one. Return: false: the code differs. */
bool join_part(struct code_part *all, const struct code_part *one);
/* Whether the hart may be in a scheduling interval whose records are missing. */
bool follower_misses_records(const struct follower *follower);
/* Whether programs begin at @offset of a file. */
bool is_entry(struct follower *follower, struct mapped_file *file, uint64_t offset);
/* Whether @program begins at @address: the entry of a mapped file. */
bool starts_at(struct follower *follower, const struct program *program, uint64_t address);

/* follow_threads.c */

/* Lists the threads of the stream. Return: 0 or NTRACE_ERR_NOMEM. */
int follow_threads_init(struct follower *follower);
void follow_threads_free(struct follower *follower);

/* Any number of switches may have been missed. Return: 0 or NTRACE_ERR_NOMEM. */
int follow_threads_gap(struct follower *follower);

/*
 * The hart is in an interval of thread @tid, the next one or a later one, if records name it. Errors go to the spaces of
 * the follower.
 */
void follow_threads_owner(struct follower *follower, int32_t tid);

/*
 * The mapping of @place at @address, in its scheduling interval or in the first later one that has
 * such a mapping; NULL: none. @at: the place from which on the mapping exists.
 */
const struct mapping_change *follow_threads_mapping(struct follower *follower,
						    const struct switch_place *place,
						    uint64_t address, struct switch_place *at);

/*
 * Restricts @all to the code that @place has around @address in all its scheduling intervals. Return:
 * false: it has different code there.
 */
bool follow_threads_part(struct follower *follower, const struct switch_place *place,
			 uint64_t address, struct code_part *all);

/*
 * Whether the program that @place begins with may not have executed anything before it: its exec is in the thread's last
 * interval before, and was not noticed there. A thread can lose its CPU after exec, before its first instruction.
 */
bool follow_threads_before_entry(const struct follower *follower, const struct switch_place *place,
				 const struct program *program);

/* Whether a later program of @place begins at @address. @at: the place where it begins. */
bool follow_threads_start(struct follower *follower, const struct switch_place *place,
			  uint64_t address, struct switch_place *at);

#endif
