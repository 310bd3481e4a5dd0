/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef HOST_LINUX_LIST_H
#define HOST_LINUX_LIST_H

#include <linux/types.h>

static inline void INIT_LIST_HEAD(struct list_head *list)
{
	list->next = list;
	list->prev = list;
}

static inline void list_add_tail(struct list_head *entry, struct list_head *list)
{
	entry->next = list;
	entry->prev = list->prev;
	list->prev->next = entry;
	list->prev = entry;
}

static inline bool list_is_singular(const struct list_head *list)
{
	return list->next != list && list->next == list->prev;
}

#define list_for_each_entry(entry, list, member)					\
	for (entry = container_of((list)->next, __typeof__(*entry), member);		\
	     &entry->member != (list);							\
	     entry = container_of(entry->member.next, __typeof__(*entry), member))

#endif /* HOST_LINUX_LIST_H */
