/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef HOST_LINUX_DMA_MAPPING_H
#define HOST_LINUX_DMA_MAPPING_H

#include <linux/device.h>

#define DMA_BIT_MASK(n) ((n) == 64 ? ~0ULL : (1ULL << (n)) - 1)

/* Defined by the test, which has its own memory. */
int dma_set_mask_and_coherent(struct device *dev, u64 mask);
void *dma_alloc_coherent(struct device *dev, size_t size, dma_addr_t *dma, gfp_t flags);
void dma_free_coherent(struct device *dev, size_t size, void *memory, dma_addr_t dma);

#endif /* HOST_LINUX_DMA_MAPPING_H */
