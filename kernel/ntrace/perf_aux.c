// SPDX-License-Identifier: GPL-2.0-only
/* The PMU "ntrace": AUX areas. */
#include <linux/mm.h>
#include <linux/perf_event.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "perf_parts.h"

/**
 * ntrace_perf_setup_aux - map an AUX area as one block
 * @event: event
 * @pages: its pages
 * @count: number of pages
 * @overwrite: new trace overwrites the oldest
 *
 * Return: the area, or NULL.
 */
void *ntrace_perf_setup_aux(struct perf_event *event, void **pages, int count, bool overwrite)
{
	struct page **list __free(kvfree) = kvmalloc_array(count, sizeof(*list), GFP_KERNEL);
	struct ntrace_perf_aux *aux __free(kfree) = kzalloc(sizeof(*aux), GFP_KERNEL);
	int i;

	if (!list || !aux)
		return NULL;
	for (i = 0; i < count; i++)
		list[i] = virt_to_page(pages[i]);
	aux->pages = vmap(list, count, VM_MAP, PAGE_KERNEL);
	if (!aux->pages)
		return NULL;
	aux->size = (size_t)count << PAGE_SHIFT;
	aux->snapshot = overwrite;
	return_ptr(aux);
}

/** ntrace_perf_free_aux - undo ntrace_perf_setup_aux() */
void ntrace_perf_free_aux(void *data)
{
	struct ntrace_perf_aux *aux = data;

	vunmap(aux->pages);
	kfree(aux);
}
