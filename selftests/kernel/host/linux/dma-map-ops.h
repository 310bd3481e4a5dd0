/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef HOST_LINUX_DMA_MAP_OPS_H
#define HOST_LINUX_DMA_MAP_OPS_H

#include <linux/dma-mapping.h>

/* Defined by the test, which has its own pages. */
struct page;
struct page *alloc_pages(gfp_t flags, unsigned int order);
void __free_pages(struct page *page, unsigned int order);
dma_addr_t dma_map_page(struct device *dev, struct page *page, size_t offset, size_t size,
			int direction);
void dma_unmap_page(struct device *dev, dma_addr_t dma, size_t size, int direction);
bool dma_mapping_error(struct device *dev, dma_addr_t dma);
bool dev_is_dma_coherent(struct device *dev);
u64 page_to_pfn(const struct page *page);

#define DMA_BIDIRECTIONAL 0
#define PFN_PHYS(pfn) ((pfn) << PAGE_SHIFT)
#define __GFP_ZERO 0
#define __GFP_NORETRY 0
#define pgprot_dmacoherent(protection) 1
typedef int pgprot_t;

#endif /* HOST_LINUX_DMA_MAP_OPS_H */
