/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef HOST_LINUX_LIST_H
#define HOST_LINUX_LIST_H

#include <linux/types.h>

#define LIST_HEAD(name) struct list_head name = { &(name), &(name) }
#define hlist_entry(pointer, type, member) container_of(pointer, type, member)

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

static inline void list_add(struct list_head *entry, struct list_head *list)
{
	list_add_tail(entry, list->next);
}

static inline void list_del(struct list_head *entry)
{
	entry->prev->next = entry->next;
	entry->next->prev = entry->prev;
}

static inline void list_del_init(struct list_head *node)
{
	list_del(node);
	INIT_LIST_HEAD(node);
}

static inline bool list_is_singular(const struct list_head *list)
{
	return list->next != list && list->next == list->prev;
}

#define list_for_each_entry(entry, list, member)					\
	for (entry = container_of((list)->next, __typeof__(*entry), member);		\
	     &entry->member != (list);							\
	     entry = container_of(entry->member.next, __typeof__(*entry), member))

#define list_for_each_entry_safe(entry, following, list, member)			\
	for (entry = container_of((list)->next, __typeof__(*entry), member),		\
	    following = container_of(entry->member.next, __typeof__(*entry), member);	\
	     &entry->member != (list);							\
	     entry = following,								\
	    following = container_of(entry->member.next, __typeof__(*entry), member))

#endif /* HOST_LINUX_LIST_H */
