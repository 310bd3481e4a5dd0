/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef HOST_LINUX_VMALLOC_H
#define HOST_LINUX_VMALLOC_H

struct vm_area_struct;

int remap_vmalloc_range(struct vm_area_struct *vma, void *memory, unsigned long first);

/* The pages are contiguous already. */
struct page;
#define VM_MAP 0
#define PAGE_KERNEL 0
#define virt_to_page(address) ((struct page *)(address))
#define vmap(pages, count, flags, protection) ((void *)(pages)[0])
#define vunmap(address) ((void)(address))

#endif /* HOST_LINUX_VMALLOC_H */
