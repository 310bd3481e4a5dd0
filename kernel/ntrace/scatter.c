// SPDX-License-Identifier: GPL-2.0-only
/*
 * Trace memory in pieces, for an ETR that reads a table of pages. The pieces are large blocks of
 * pages where there are such blocks. For the drain they are one range of virtual addresses.
 *
 * The table has pages of 4 KiB with 1024 entries of 32 bits, each a page of memory. The last entry
 * of a page of the table leads to the next one; after the last page of memory the ETR begins again
 * with the first.
 *
 * The drain reads the memory while the ETR writes it, so both must see the same. If the caches are
 * not coherent, the virtual range is uncached, and the caches are cleaned once.
 */
#include <linux/device.h>
#include <linux/dma-map-ops.h>
#include <linux/dma-mapping.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/vmalloc.h>

#include <ntrace/coresight.h>

#include "component.h"

/**
 * struct ntrace_piece - a block of pages
 * @dma: address for the sink
 * @page: first page
 * @order: number of pages
 * @position: offset in the ring
 */
struct ntrace_piece {
	dma_addr_t dma;
	struct page *page;
	unsigned int order;
	u32 position;
};

/**
 * struct ntrace_scatter - trace memory in pieces
 * @dev: sink
 * @pieces: the blocks; by address once all are allocated
 * @count: number of them
 * @memory: virtual address
 * @table: the table
 * @table_dma: its address for the sink
 * @table_size: bytes of it
 */
struct ntrace_scatter {
	struct device *dev;
	struct ntrace_piece *pieces;
	unsigned int count;
	void *memory;
	__le32 *table;
	dma_addr_t table_dma;
	size_t table_size;
};

/* Allocates the next block, smaller ones if there is no large one. Return: 0 or -ENOMEM. */
static int ntrace_scatter_add(struct ntrace_scatter *scatter, u32 position, size_t left)
{
	struct ntrace_piece *piece = &scatter->pieces[scatter->count];
	unsigned int order = min_t(unsigned int, ilog2(left >> PAGE_SHIFT), MAX_PAGE_ORDER);
	gfp_t flags = GFP_KERNEL | __GFP_ZERO | __GFP_NOWARN;

	piece->position = position;
	for (;; order--) {
		piece->page = alloc_pages(order ? flags | __GFP_NORETRY : flags, order);
		if (piece->page || !order)
			break;
	}
	if (!piece->page)
		return -ENOMEM;
	piece->order = order;
	/* Writes back what the caches have of it. */
	piece->dma =
		dma_map_page(scatter->dev, piece->page, 0, PAGE_SIZE << order, DMA_BIDIRECTIONAL);
	if (dma_mapping_error(scatter->dev, piece->dma)) {
		__free_pages(piece->page, order);
		return -ENOMEM;
	}
	scatter->count++;
	/* The sink does not reach the block, and would write to a copy of it. */
	return piece->dma == PFN_PHYS(page_to_pfn(piece->page)) ? 0 : -ENOMEM;
}

/* Maps all blocks to one range of virtual addresses. */
static int ntrace_scatter_map(struct ntrace_scatter *scatter, size_t size)
{
	pgprot_t protection = dev_is_dma_coherent(scatter->dev) ? PAGE_KERNEL :
								  pgprot_dmacoherent(PAGE_KERNEL);
	unsigned int count = size >> PAGE_SHIFT, i, k, n = 0;
	struct page **pages = kvcalloc(count, sizeof(*pages), GFP_KERNEL);

	if (!pages)
		return -ENOMEM;
	for (i = 0; i < scatter->count; i++)
		for (k = 0; k < 1U << scatter->pieces[i].order; k++)
			pages[n++] = scatter->pieces[i].page + k;
	scatter->memory = vmap(pages, count, VM_MAP, protection);
	kvfree(pages);
	return scatter->memory ? 0 : -ENOMEM;
}

/* Enters all pages of the blocks, in the order of the ring. */
static int ntrace_scatter_enter(struct ntrace_scatter *scatter, size_t size)
{
	u32 total = size / TMC_SG_PAGE_BYTES, links = DIV_ROUND_UP(total, TMC_SG_ENTRIES - 1);
	u32 i, n = 0, entered = 0;
	dma_addr_t dma, end, next;

	scatter->table_size = (size_t)links * TMC_SG_PAGE_BYTES;
	scatter->table = dma_alloc_coherent(scatter->dev, scatter->table_size, &scatter->table_dma,
					    GFP_KERNEL | __GFP_NOWARN);
	if (!scatter->table)
		return -ENOMEM;
	for (i = 0; i < scatter->count; i++) {
		dma = scatter->pieces[i].dma;
		end = dma + (PAGE_SIZE << scatter->pieces[i].order);
		for (; dma < end; dma += TMC_SG_PAGE_BYTES) {
			/* The table is one block: its next page follows. */
			if (n % TMC_SG_ENTRIES == TMC_SG_ENTRIES - 1) {
				next = scatter->table_dma + (n + 1) * sizeof(u32);
				scatter->table[n++] = cpu_to_le32(TMC_SG_ENTRY(next, TMC_SG_TABLE));
			}
			entered++;
			next = TMC_SG_ENTRY(dma, entered == total ? TMC_SG_LAST : TMC_SG_PAGE);
			scatter->table[n++] = cpu_to_le32(next);
		}
	}
	return 0;
}

static int ntrace_scatter_compare(const void *left, const void *right)
{
	const struct ntrace_piece *a = left, *b = right;

	return a->dma < b->dma ? -1 : a->dma > b->dma;
}

static int ntrace_scatter_fill(struct ntrace_scatter *scatter, size_t size)
{
	size_t got = 0;
	int ret;

	while (got < size) {
		ret = ntrace_scatter_add(scatter, got, size - got);
		if (ret)
			return ret;
		got += PAGE_SIZE << scatter->pieces[scatter->count - 1].order;
	}
	ret = ntrace_scatter_map(scatter, size);
	if (!ret)
		ret = ntrace_scatter_enter(scatter, size);
	if (ret)
		return ret;
	sort(scatter->pieces, scatter->count, sizeof(*scatter->pieces), ntrace_scatter_compare,
	     NULL);
	return 0;
}

/**
 * ntrace_scatter_alloc - allocate trace memory in pieces
 * @dev: sink
 * @size: bytes, a power of two of at least a page
 *
 * Return: the memory, zeroed, or NULL.
 */
struct ntrace_scatter *ntrace_scatter_alloc(struct device *dev, size_t size)
{
	struct ntrace_scatter *scatter = kzalloc(sizeof(*scatter), GFP_KERNEL);

	if (!scatter)
		return NULL;
	scatter->dev = dev;
	scatter->pieces = kvcalloc(size >> PAGE_SHIFT, sizeof(*scatter->pieces), GFP_KERNEL);
	if (scatter->pieces && !ntrace_scatter_fill(scatter, size))
		return scatter;
	ntrace_scatter_free(scatter);
	return NULL;
}

/** ntrace_scatter_free - undo ntrace_scatter_alloc(); the sink does not write any more */
void ntrace_scatter_free(struct ntrace_scatter *scatter)
{
	unsigned int i;

	if (scatter->table)
		dma_free_coherent(scatter->dev, scatter->table_size, scatter->table,
				  scatter->table_dma);
	vunmap(scatter->memory);
	for (i = 0; i < scatter->count; i++) {
		dma_unmap_page(scatter->dev, scatter->pieces[i].dma,
			       PAGE_SIZE << scatter->pieces[i].order, DMA_BIDIRECTIONAL);
		__free_pages(scatter->pieces[i].page, scatter->pieces[i].order);
	}
	kvfree(scatter->pieces);
	kfree(scatter);
}

/** ntrace_scatter_memory - the virtual address of the memory */
void *ntrace_scatter_memory(const struct ntrace_scatter *scatter)
{
	return scatter->memory;
}

/** ntrace_scatter_table - the address of the table for the sink */
dma_addr_t ntrace_scatter_table(const struct ntrace_scatter *scatter)
{
	return scatter->table_dma;
}

/**
 * ntrace_scatter_find - find an address of the sink in the memory
 * @scatter: memory
 * @address: address
 * @position: takes its offset in the memory
 *
 * Return: false if it is not in the memory.
 */
bool ntrace_scatter_find(const struct ntrace_scatter *scatter, u64 address, u32 *position)
{
	unsigned int low = 0, high = scatter->count, middle;
	const struct ntrace_piece *piece;

	while (low < high) {
		middle = low + (high - low) / 2;
		piece = &scatter->pieces[middle];
		if (address < piece->dma) {
			high = middle;
		} else if (address - piece->dma >= PAGE_SIZE << piece->order) {
			low = middle + 1;
		} else {
			*position = piece->position + (address - piece->dma);
			return true;
		}
	}
	return false;
}
