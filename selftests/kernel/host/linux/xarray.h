/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef HOST_LINUX_XARRAY_H
#define HOST_LINUX_XARRAY_H

#include <linux/slab.h>

struct host_entry {
	unsigned long index;
	void *value;
	struct host_entry *next;
};

/* Entries in no order: tests have few. */
struct xarray {
	struct host_entry *entries;
};

static inline void xa_init(struct xarray *xa)
{
	xa->entries = NULL;
}

static inline void *xa_mk_value(unsigned long value)
{
	return (void *)(value << 1 | 1);
}

static inline unsigned long xa_to_value(const void *entry)
{
	return (unsigned long)entry >> 1;
}

/* Return: NULL, or as an error. */
static inline void *xa_store(struct xarray *xa, unsigned long index, void *value, gfp_t flags)
{
	struct host_entry *entry = kzalloc(sizeof(*entry), flags);

	if (!entry)
		return (void *)-1L;
	*entry = (struct host_entry){ index, value, xa->entries };
	xa->entries = entry;
	return NULL;
}

static inline int xa_err(const void *entry)
{
	return entry ? -ENOMEM : 0;
}

static inline void *xa_load(struct xarray *xa, unsigned long index)
{
	struct host_entry *entry = xa->entries;

	while (entry && entry->index != index)
		entry = entry->next;
	return entry ? entry->value : NULL;
}

static inline void xa_destroy(struct xarray *xa)
{
	struct host_entry *next;

	for (; xa->entries; xa->entries = next) {
		next = xa->entries->next;
		free(xa->entries);
	}
}

#endif /* HOST_LINUX_XARRAY_H */
