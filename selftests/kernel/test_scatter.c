// SPDX-License-Identifier: GPL-2.0-only
/*
 * Trace memory in pieces: the test reads the table as an ETR does, and compares the order of its
 * pages with that of the positions in the ring. Coherent memory is found at random addresses.
 */
#include <tap.h>

#include <linux/kernel.h>

#define PAGES (1u << 14)
#define BASE 0x100000000ull

typedef u32 __le32;
#define cpu_to_le32(value) (value)
#define ilog2(n) (63 - __builtin_clzll(n))
#define kvcalloc(count, size, flags) kzalloc((size_t)(count) * (size), flags)

#include "../../kernel/ntrace/scatter.c"
#include "host/machine.h"

int host_allocations = -1;

/* The page at an address: the memory of the block that begins there; or it is in use. */
static struct {
	void *memory;
	bool used;
} all[PAGES];
static unsigned int blocks;

void *dma_alloc_coherent(struct device *dev, size_t size, dma_addr_t *dma, gfp_t flags)
{
	unsigned int pages = 1, used, page, i;
	void *memory;

	while (pages * 4096 < size)
		pages *= 2;
	for (unsigned int try = 0; try < 1000; try++) {
		page = (unsigned int)random_below(PAGES / pages) * pages;
		for (i = used = 0; i < pages; i++)
			used |= all[page + i].used;
		if (used)
			continue;
		memory = kzalloc(size, flags);
		if (!memory)
			return NULL;
		for (i = 0; i < pages; i++)
			all[page + i].used = true;
		all[page].memory = memory;
		*dma = BASE + page * 4096ull;
		blocks++;
		return memory;
	}
	return NULL;
}

void dma_free_coherent(struct device *dev, size_t size, void *memory, dma_addr_t dma)
{
	for (u64 at = dma; at < dma + size; at += 4096)
		all[(at - BASE) / 4096].used = false;
	all[(dma - BASE) / 4096].memory = NULL;
	free(memory);
	blocks--;
}

/* The memory at an address of the sink, as the sink sees it. */
static u8 *seen(u64 address)
{
	unsigned int page = (unsigned int)((address - BASE) / 4096), first = page;

	while (!all[first].memory)
		first--;
	return (u8 *)all[first].memory + (page - first) * 4096 + address % 4096;
}

/* Follows the table as an ETR does. Return: whether its pages are those of the ring, in order. */
static bool is_ring(const struct ntrace_scatter *scatter, unsigned int pages)
{
	u64 at = ntrace_scatter_table(scatter);

	for (unsigned int i = 0; i < pages;) {
		u32 entry = *(u32 *)seen(at);
		u64 address = (u64)(entry >> 4) << 12;
		u32 position;

		if ((at & 0xfff) == 0xffc) {
			if ((entry & 3) != 3 || address & 0xfff)
				return false;
			at = address;
			continue;
		}
		if ((entry & 3) != (i + 1 == pages ? 1 : 2) ||
		    seen(address) != ntrace_scatter_at(scatter, i * 4096))
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

static void test_size(size_t size)
{
	unsigned int pages = (unsigned int)(size / 4096), strange = 0;
	struct ntrace_scatter *scatter;
	struct device dev = { 0 };
	u32 position;

	scatter = ntrace_scatter_alloc(&dev, size);
	ok(scatter && blocks == 1 + DIV_ROUND_UP(size, SZ_32K), "%zu KiB in pieces of 32 KiB",
	   size / 1024);
	ok(is_ring(scatter, pages), "the table has its pages in this order, the last one marked");
	for (unsigned int i = 0; i < PAGES; i++)
		strange += !all[i].used &&
			   ntrace_scatter_find(scatter, BASE + i * 4096ull, &position);
	ok(!strange && !ntrace_scatter_find(scatter, BASE - 1, &position) &&
		   !ntrace_scatter_find(scatter, U64_MAX, &position) &&
		   !ntrace_scatter_find(scatter, 0, &position),
	   "no other address is in it");
	ntrace_scatter_free(scatter);
	ok(!blocks, "all is freed");
}

int main(void)
{
	struct device dev = { 0 };
	struct ntrace_scatter *scatter;

	random_begin(random_seed(1), 0);
	for (size_t size = 4096; size <= 16 << 20; size *= 4)
		test_size(size);
	test_size(32 << 10);
	for (int i = 0; i <= 7; i++) {
		host_allocations = i;
		scatter = ntrace_scatter_alloc(&dev, 2 * SZ_32K);
		ok(!scatter == (i < 7) && !blocks == !scatter, "%d allocations succeed: %s", i,
		   scatter ? "enough" : "nothing is left");
	}
	ntrace_scatter_free(scatter);
	host_allocations = -1;
	ok(!ntrace_scatter_alloc(&dev, (size_t)PAGES * 2 * 4096) && !blocks,
	   "more than there is: nothing is left");
	return done_testing();
}
