/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef HOST_ASM_CPUFEATURE_H
#define HOST_ASM_CPUFEATURE_H

/* The harts have no extension that the driver asks for. */
#define riscv_isa_extension_available(bitmap, extension) false

#endif /* HOST_ASM_CPUFEATURE_H */
