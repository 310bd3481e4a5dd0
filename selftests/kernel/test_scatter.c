// SPDX-License-Identifier: GPL-2.0-only
/*
 * Trace memory in pieces: the test reads the table as an ETR does, and compares the order of its
 * pages with that of the virtual addresses. Its pages are only numbers; blocks of them are found at
 * random places, large ones seldom.
 */
#include <tap.h>

#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/vmalloc.h>

#define PAGES (1u << 16)
#define BASE 0x100000000ull

typedef u32 __le32;
#define cpu_to_le32(value) (value)
#define ilog2(n) (63 - __builtin_clzll(n))
#define kvcalloc(count, size, flags) kzalloc((size_t)(count) * (size), flags)
#undef vmap
#define vmap(pages, count, flags, protection) take_map(pages, count, protection)

struct page {
	bool used;
};

static struct page all[PAGES];
static struct page *mapped[PAGES];
static unsigned int mapped_count, mapped_uncached, blocks, tables, largest;
static bool coherent, bounced;
static void *table;

static void *take_map(struct page **pages, unsigned int count, int protection);

#include "../../kernel/ntrace/scatter.c"
#include "host/machine.h"

int host_allocations = -1;

static void *take_map(struct page **pages, unsigned int count, int protection)
{
	(memcpy)(mapped, pages, count * sizeof(*pages));
	mapped_count = count;
	mapped_uncached = protection;
	return mapped;
}

static bool is_free(const struct page *page, unsigned int order)
{
	for (unsigned int i = 0; i < 1u << order; i++)
		if (page[i].used)
			return false;
	return true;
}

struct page *alloc_pages(gfp_t flags, unsigned int order)
{
	if (order > largest || (order && !random_below(3)))
		return NULL;
	for (unsigned int try = 0; try < 1000; try++) {
		struct page *page = &all[random_below(PAGES >> order) << order];

		if (!is_free(page, order))
			continue;
		for (unsigned int i = 0; i < 1u << order; i++)
			page[i].used = true;
		blocks++;
		return page;
	}
	return NULL;
}

void __free_pages(struct page *page, unsigned int order)
{
	for (unsigned int i = 0; i < 1u << order; i++)
		page[i].used = false;
	blocks--;
}

u64 page_to_pfn(const struct page *page)
{
	return (BASE >> PAGE_SHIFT) + (u64)(page - all);
}

dma_addr_t dma_map_page(struct device *dev, struct page *page, size_t offset, size_t size,
			int direction)
{
	return PFN_PHYS(page_to_pfn(page)) + (bounced ? 1ull << 40 : 0);
}

void dma_unmap_page(struct device *dev, dma_addr_t dma, size_t size, int direction)
{
}

bool dma_mapping_error(struct device *dev, dma_addr_t dma)
{
	return false;
}

bool dev_is_dma_coherent(struct device *dev)
{
	return coherent;
}

void *dma_alloc_coherent(struct device *dev, size_t size, dma_addr_t *dma, gfp_t flags)
{
	if (!host_allocations)
		return NULL;
	tables++;
	*dma = 0x123456000;
	table = calloc(1, size);
	return table;
}

void dma_free_coherent(struct device *dev, size_t size, void *memory, dma_addr_t dma)
{
	tables--;
	free(memory);
}

/* Follows the table as an ETR does. Return: whether its pages are those of the ring, in order. */
static bool is_ring(const struct ntrace_scatter *scatter, unsigned int pages)
{
	const u32 *entries = table;
	u64 at = ntrace_scatter_table(scatter);

	for (unsigned int i = 0; i < pages;) {
		u32 entry = entries[(at - ntrace_scatter_table(scatter)) / 4];
		u64 address = (u64)(entry >> 4) << 12;
		u32 position;

		if ((at & 0xfff) == 0xffc) {
			if ((entry & 3) != 3 || address & 0xfff)
				return false;
			at = address;
			continue;
		}
		if ((entry & 3) != (i + 1 == pages ? 1 : 2) ||
		    address != PFN_PHYS(page_to_pfn(mapped[i])))
			return false;
		/* The first and last byte of the page, as the write pointer may have them. */
		if (!ntrace_scatter_find(scatter, address, &position) || position != i * 4096 ||
		    !ntrace_scatter_find(scatter, address + 4095, &position) ||
		    position != i * 4096 + 4095)
			return false;
		at += 4;
		i++;
	}
	return true;
}

static void test_size(size_t size, unsigned int order)
{
	unsigned int pages = (unsigned int)(size / 4096), strange = 0;
	struct ntrace_scatter *scatter;
	struct device dev = { 0 };
	u32 position;

	largest = order;
	scatter = ntrace_scatter_alloc(&dev, size);
	ok(scatter && mapped_count == pages && ntrace_scatter_memory(scatter) == mapped,
	   "%zu KiB in blocks of up to %u pages: %u blocks, one virtual range", size / 1024,
	   1u << order, blocks);
	ok(is_ring(scatter, pages), "the table has its pages in this order, the last one marked");
	for (unsigned int i = 0; i < PAGES; i++)
		strange += !all[i].used &&
			   ntrace_scatter_find(scatter, PFN_PHYS(page_to_pfn(&all[i])), &position);
	ok(!strange && !ntrace_scatter_find(scatter, BASE - 1, &position) &&
		   !ntrace_scatter_find(scatter, U64_MAX, &position) &&
		   !ntrace_scatter_find(scatter, 0, &position),
	   "no other address is in it");
	ntrace_scatter_free(scatter);
	ok(!blocks && !tables, "all is freed");
}

int main(void)
{
	struct device dev = { 0 };
	struct ntrace_scatter *scatter;

	random_begin(random_seed(1), 0);
	test_size(4096, 0);
	test_size(1 << 20, 0);
	test_size(1022 * 4096, 3);
	test_size(1023 * 4096, 3);
	test_size(1024 * 4096, 0);
	test_size(64 << 20, 6);
	test_size(64 << 20, 10);
	ok(mapped_uncached, "caches that are not coherent: the range is uncached");
	coherent = true;
	test_size(8 << 20, 10);
	ok(!mapped_uncached, "coherent ones: cached");
	for (int i = 0; i < 4; i++) {
		host_allocations = i;
		scatter = ntrace_scatter_alloc(&dev, 1 << 20);
		ok(!scatter && !blocks && !tables, "allocation %d fails: nothing is left", i);
	}
	host_allocations = -1;
	bounced = true;
	ok(!ntrace_scatter_alloc(&dev, 1 << 20) && !blocks,
	   "pages that the sink does not reach are refused");
	bounced = false;
	ok(!ntrace_scatter_alloc(&dev, (size_t)PAGES * 2 * 4096) && !blocks,
	   "more than there is: nothing is left");
	return done_testing();
}
