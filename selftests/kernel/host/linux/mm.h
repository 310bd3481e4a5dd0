/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef HOST_LINUX_MM_H
#define HOST_LINUX_MM_H

#include <linux/mmzone.h>

#define VM_WRITE 0x2
#define VM_EXEC 0x4
#define VM_MAYWRITE 0x20
#define VM_MAYEXEC 0x40
#define VM_DONTCOPY 0x20000
#define VM_DONTEXPAND 0x40000
#define VM_DONTDUMP 0x4000000

struct vm_area_struct;

struct vm_operations_struct {
	void (*open)(struct vm_area_struct *vma);
	void (*close)(struct vm_area_struct *vma);
};

struct vm_area_struct {
	unsigned long vm_start, vm_end, vm_pgoff, vm_flags;
	void *vm_private_data;
	const struct vm_operations_struct *vm_ops;
};

static inline unsigned long vma_pages(const struct vm_area_struct *vma)
{
	return (vma->vm_end - vma->vm_start) / PAGE_SIZE;
}

static inline void vm_flags_mod(struct vm_area_struct *vma, unsigned long set, unsigned long clear)
{
	vma->vm_flags = (vma->vm_flags | set) & ~clear;
}

#endif /* HOST_LINUX_MM_H */
