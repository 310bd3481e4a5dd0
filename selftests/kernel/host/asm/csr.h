/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef HOST_ASM_CSR_H
#define HOST_ASM_CSR_H

/* The test simulates the hart. */
unsigned long csr_read_set(unsigned int csr, unsigned long bits);

#endif /* HOST_ASM_CSR_H */
