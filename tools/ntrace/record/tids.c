// SPDX-License-Identifier: GPL-2.0-only
/* The threads that are traced, or were until lately. */
#include <stdlib.h>

#include "tids.h"

/* Ended threads are forgotten when the list reaches a multiple of this. */
#define TIDS_KEPT 1024

static size_t find(const struct tid_list *list, pid_t tid)
{
	size_t i;

	for (i = 0; i < list->count && abs(list->tid[i]) != tid; i++)
		;
	return i;
}

static void forget_ended(struct tid_list *list)
{
	size_t i, kept = 0;

	for (i = 0; i < list->count; i++)
		if (list->tid[i] > 0)
			list->tid[kept++] = list->tid[i];
	list->count = kept;
}

bool tid_list_has(const struct tid_list *list, pid_t tid)
{
	return find(list, tid) < list->count;
}

void tid_list_add(struct tid_list *list, pid_t tid)
{
	size_t i = find(list, tid);
	pid_t *tids;

	if (i < list->count) {
		list->tid[i] = tid;
		return;
	}
	if (list->count && !(list->count % TIDS_KEPT))
		forget_ended(list);
	tids = realloc(list->tid, (list->count + 1) * sizeof(*tids));
	if (!tids)
		return;
	list->tid = tids;
	tids[list->count++] = tid;
}

void tid_list_end(struct tid_list *list, pid_t tid)
{
	size_t i = find(list, tid);

	if (i < list->count)
		list->tid[i] = -tid;
}

void tid_list_free(struct tid_list *list)
{
	free(list->tid);
	*list = (struct tid_list){ 0 };
}
