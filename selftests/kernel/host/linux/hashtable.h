/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef HOST_LINUX_HASHTABLE_H
#define HOST_LINUX_HASHTABLE_H

#include <linux/kernel.h>

#define DEFINE_HASHTABLE(name, bits) struct hlist_head name[1 << (bits)]
#define HOST_BUCKET(table, key) (&(table)[(key) / 8 % ARRAY_SIZE(table)])

static inline void hlist_add_head(struct hlist_node *node, struct hlist_head *head)
{
	node->next = head->first;
	node->pprev = &head->first;
	if (node->next)
		node->next->pprev = &node->next;
	head->first = node;
}

static inline void hash_del_rcu(struct hlist_node *node)
{
	*node->pprev = node->next;
	if (node->next)
		node->next->pprev = node->pprev;
}

#define hash_add_rcu(table, node, key) hlist_add_head(node, HOST_BUCKET(table, key))

#define hash_for_each_possible_rcu(table, entry, member, key, held)				\
	for (struct hlist_node *node_ = HOST_BUCKET(table, key)->first;				\
	     node_ && (entry = container_of(node_, __typeof__(*entry), member), true);		\
	     node_ = node_->next)

#define hash_for_each_safe(table, bucket, following, entry, member)				\
	for (bucket = 0; bucket < ARRAY_SIZE(table); bucket++)					\
		for (following = (table)[bucket].first;						\
		     following &&								\
		     (entry = container_of(following, __typeof__(*entry), member),		\
		      following = following->next, true);)

#endif /* HOST_LINUX_HASHTABLE_H */
