/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The registers of Control Transfer Records. All functions access the current hart
 * and must be called with interrupts off.
 */
#ifndef CTR_HW_H
#define CTR_HW_H

#include <asm/csr.h>

#include "ctr_regs.h"

extern bool ctr_draft;

const char *ctr_hw_missing(void);
bool ctr_hw_open_to_guests(void);
void ctr_hw_probe(struct ctr_caps *caps);
void ctr_hw_setup(unsigned int depth_code);
void ctr_hw_control(u64 control);
u64 ctr_hw_control_read(void);
void ctr_hw_clear(void);
void ctr_hw_thaw(void);
u64 ctr_hw_status(void);
unsigned int ctr_hw_read(struct ctr_record *records, unsigned int first, unsigned int max,
			 bool data);
void ctr_hw_restore(u64 status, const struct ctr_record *records, unsigned int count);

/**
 * ctr_hw_freeze() - set FROZEN
 *
 * A single instruction that is not a control transfer, so it is safe while the hart
 * records. Inline, because a call would displace an entry of the ring.
 *
 * Return: whether FROZEN was already set.
 */
static inline bool ctr_hw_freeze(void)
{
	if (ctr_draft)
		return csr_read_set(CTR_DRAFT_CSR_SCTRSTATUS, CTR_DRAFT_STATUS_FROZEN) &
		       CTR_DRAFT_STATUS_FROZEN;
	return csr_read_set(CTR_CSR_SCTRSTATUS, CTR_STATUS_FROZEN) & CTR_STATUS_FROZEN;
}

#endif /* CTR_HW_H */
