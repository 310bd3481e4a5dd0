// SPDX-License-Identifier: GPL-2.0-only
/*
 * Trace memory in pieces, for an ETR that reads a table of pages. All pieces have the same size, so
 * the drain finds a position of the ring in them at once. What the drain reads while the ETR writes
 * it is coherent memory, as that of other sinks.
 *
 * The table has pages of 4 KiB with 1024 entries of 32 bits, each a page of memory. The last entry
 * of a page of the table leads to the next one; after the last page of memory the ETR begins again
 * with the first.
 */
#include <linux/dma-mapping.h>
#include <linux/log2.h>
#include <linux/minmax.h>
#include <linux/slab.h>
#include <linux/xarray.h>

#include <ntrace/coresight.h>

#include "component.h"

struct ntrace_piece {
	u8 *memory;
	dma_addr_t dma;
};

/* Trace memory in pieces. */
struct ntrace_scatter {
	struct device *dev; /* sink */
	struct ntrace_piece *pieces; /* the pieces, in the order of the ring */
	unsigned int count; /* number of them */
	unsigned int shift; /* they have 2^@shift bytes, and such addresses */
	struct xarray index; /* the number of the piece at an address >> @shift */
	__le32 *table; /* the table */
	dma_addr_t table_dma; /* its address for the sink */
	size_t table_size; /* bytes of it */
};

static int ntrace_scatter_add(struct ntrace_scatter *scatter)
{
	struct ntrace_piece *piece = &scatter->pieces[scatter->count];

	piece->memory = dma_alloc_coherent(scatter->dev, 1UL << scatter->shift, &piece->dma,
					   GFP_KERNEL | __GFP_NOWARN);
	if (!piece->memory)
		return -ENOMEM;
	return xa_err(xa_store(&scatter->index, piece->dma >> scatter->shift,
			       xa_mk_value(scatter->count++), GFP_KERNEL));
}

/* Enters all pages of the pieces, in the order of the ring. */
static int ntrace_scatter_enter(struct ntrace_scatter *scatter)
{
	u32 each = (1U << scatter->shift) / TMC_SG_PAGE_BYTES, total = scatter->count * each;
	u32 links = DIV_ROUND_UP(total, TMC_SG_ENTRIES - 1), i, n = 0;
	dma_addr_t to;

	scatter->table_size = (size_t)links * TMC_SG_PAGE_BYTES;
	scatter->table = dma_alloc_coherent(scatter->dev, scatter->table_size, &scatter->table_dma,
					    GFP_KERNEL | __GFP_NOWARN);
	if (!scatter->table)
		return -ENOMEM;
	for (i = 0; i < total; i++) {
		/* The table is one block: its next page follows. */
		if (n % TMC_SG_ENTRIES == TMC_SG_ENTRIES - 1) {
			to = scatter->table_dma + (n + 1) * sizeof(u32);
			scatter->table[n++] = cpu_to_le32(TMC_SG_ENTRY(to, TMC_SG_TABLE));
		}
		to = scatter->pieces[i / each].dma + (i % each) * TMC_SG_PAGE_BYTES;
		to = TMC_SG_ENTRY(to, i + 1 == total ? TMC_SG_LAST : TMC_SG_PAGE);
		scatter->table[n++] = cpu_to_le32(to);
	}
	return 0;
}

/*
 * Allocates trace memory in pieces, for a power of two of bytes, at least a page.
 * Return: the memory, zeroed, or NULL.
 */
struct ntrace_scatter *ntrace_scatter_alloc(struct device *dev, size_t size)
{
	struct ntrace_scatter *scatter = kzalloc(sizeof(*scatter), GFP_KERNEL);
	size_t count;
	int ret;

	if (!scatter)
		return NULL;
	scatter->dev = dev;
	scatter->shift = ilog2(min_t(size_t, size, NTRACE_SCATTER_PIECE));
	xa_init(&scatter->index);
	count = size >> scatter->shift;
	scatter->pieces = kvcalloc(count, sizeof(*scatter->pieces), GFP_KERNEL);
	ret = scatter->pieces ? 0 : -ENOMEM;
	while (!ret && scatter->count < count)
		ret = ntrace_scatter_add(scatter);
	if (!ret && !ntrace_scatter_enter(scatter))
		return scatter;
	ntrace_scatter_free(scatter);
	return NULL;
}

/** ntrace_scatter_free - undo ntrace_scatter_alloc(); the sink does not write any more */
void ntrace_scatter_free(struct ntrace_scatter *scatter)
{
	if (scatter->table)
		dma_free_coherent(scatter->dev, scatter->table_size, scatter->table,
				  scatter->table_dma);
	xa_destroy(&scatter->index);
	while (scatter->count--)
		dma_free_coherent(scatter->dev, 1UL << scatter->shift,
				  scatter->pieces[scatter->count].memory,
				  scatter->pieces[scatter->count].dma);
	kvfree(scatter->pieces);
	kfree(scatter);
}

/** ntrace_scatter_at - the memory at a position; NTRACE_SCATTER_PIECE divides where it ends */
u8 *ntrace_scatter_at(const struct ntrace_scatter *scatter, u32 position)
{
	return scatter->pieces[position / NTRACE_SCATTER_PIECE].memory +
	       position % NTRACE_SCATTER_PIECE;
}

/** ntrace_scatter_table - the address of the table for the sink */
dma_addr_t ntrace_scatter_table(const struct ntrace_scatter *scatter)
{
	return scatter->table_dma;
}

/*
 * Finds an address of the sink in the memory, as an offset.
 * Return: false if it is not in the memory.
 */
bool ntrace_scatter_find(const struct ntrace_scatter *scatter, u64 address, u32 *position)
{
	const void *piece = xa_load((struct xarray *)&scatter->index, address >> scatter->shift);

	if (!piece)
		return false;
	*position =
		(xa_to_value(piece) << scatter->shift) + (address & ((1U << scatter->shift) - 1));
	return true;
}
