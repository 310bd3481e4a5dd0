/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef HOST_LINUX_VMALLOC_H
#define HOST_LINUX_VMALLOC_H

struct vm_area_struct;

int remap_vmalloc_range(struct vm_area_struct *vma, void *memory, unsigned long first);

#endif /* HOST_LINUX_VMALLOC_H */
