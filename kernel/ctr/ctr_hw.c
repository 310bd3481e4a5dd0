// SPDX-License-Identifier: GPL-2.0-only
/*
 * The registers of Control Transfer Records.
 *
 * siselect is shared with the code for interrupt files (AIA), which uses it from
 * interrupts: it is put back after each use, with interrupts off.
 */
#include <linux/irqflags.h>
#include <linux/lockdep.h>

#include <asm/asm-extable.h>
#include <asm/csr.h>
#include <asm/hwcap.h>

#include "ctr_hw.h"

/* The draft 0.1.4 instead of 1.0; set once, before the first access. */
bool ctr_draft;
/* Code of the depth in use; the draft's control register has it. */
static unsigned int ctr_hw_depth_code;

/*
 * Where firmware has not opened CTR to S-mode, the first access is an illegal
 * instruction. With an entry in the exception table that is no oops.
 */
#define ctr_try(insn)                                                                              \
	({                                                                                         \
		unsigned long failed_, value_;                                                     \
		asm volatile("li %0, 1\n1: " insn "\nli %0, 0\n2:\n" _ASM_EXTABLE(1b, 2b)          \
			     : "=&r"(failed_), "=&r"(value_)                                       \
			     :                                                                     \
			     : "memory");                                                          \
		!failed_;                                                                          \
	})
#define ctr_try_csr(csr) ctr_try("csrr %1, " __ASM_STR(csr))

#define ctr_csr_read(csr) (ctr_draft ? csr_read(CTR_DRAFT_##csr) : csr_read(CTR_##csr))

/**
 * ctr_hw_missing() - may S-mode use CTR on this hart?
 *
 * Must have been successful before anything else here is called.
 *
 * Return: NULL, or what cannot be used.
 */
const char *ctr_hw_missing(void)
{
	const char *missing = NULL;
	unsigned long select;

	lockdep_assert_irqs_disabled();
	if (ctr_draft) {
		if (!ctr_try_csr(CTR_DRAFT_CSR_SCTRCONTROL) ||
		    !ctr_try_csr(CTR_DRAFT_CSR_SCTRSTATUS))
			return "sctrcontrol, sctrstatus";
	} else {
		if (!ctr_try_csr(CTR_CSR_SCTRCTL) || !ctr_try_csr(CTR_CSR_SCTRSTATUS) ||
		    !ctr_try_csr(CTR_CSR_SCTRDEPTH))
			return "sctrctl, sctrstatus, sctrdepth";
		if (!ctr_try(".4byte " CTR_INSN_SCTRCLR))
			return "SCTRCLR";
	}
	/* Another bit of mstateen0, CSRIND, is for these. */
	if (!ctr_try_csr(CTR_CSR_SISELECT))
		return "siselect";
	select = csr_swap(CTR_CSR_SISELECT, CTR_SELECT_ENTRY);
	if (!ctr_try_csr(CTR_CSR_SIREG) || !ctr_try_csr(CTR_CSR_SIREG2) ||
	    !ctr_try_csr(CTR_CSR_SIREG3))
		missing = "sireg, sireg2, sireg3";
	csr_write(CTR_CSR_SISELECT, select);
	return missing;
}

static u8 ctr_hw_probe_depths(void)
{
	unsigned int code;
	u8 depths = 0;

	/* From above: a depth that the hart lacks reads as another. 5..7 are never written. */
	for (code = CTR_DEPTH_CODES; code--;) {
		if (ctr_draft) {
			csr_write(CTR_DRAFT_CSR_SCTRCONTROL, ctr_draft_depth(code));
			if ((csr_read(CTR_DRAFT_CSR_SCTRCONTROL) & CTR_DRAFT_CTL_DEPTH) ==
			    ctr_draft_depth(code))
				depths |= BIT(code);
		} else {
			csr_write(CTR_CSR_SCTRDEPTH, code);
			if ((csr_read(CTR_CSR_SCTRDEPTH) & 7) == code)
				depths |= BIT(code);
		}
	}
	return depths;
}

/**
 * ctr_hw_probe() - what this hart can do
 * @caps: result
 *
 * Recording must be off and stays off: U and S are never set. The ring is empty
 * afterwards, its depth is undefined until ctr_hw_setup().
 */
void ctr_hw_probe(struct ctr_caps *caps)
{
	unsigned long select;
	u64 data;

	lockdep_assert_irqs_disabled();
	ctr_hw_control(0);
	caps->depths = ctr_hw_probe_depths();
	ctr_hw_control(CTR_CTL_OPTIONS);
	caps->control = ctr_hw_control_read() & CTR_CTL_OPTIONS;
	ctr_hw_control(0);

	/* Optional parts of a record: what a valid one keeps of all that can be set. */
	select = csr_swap(CTR_CSR_SISELECT, CTR_SELECT_ENTRY);
	csr_write(CTR_CSR_SIREG, CTR_SOURCE_VALID);
	csr_write(CTR_CSR_SIREG2, CTR_TARGET_MISP);
	caps->mispredict = csr_read(CTR_CSR_SIREG2) & CTR_TARGET_MISP;
	csr_write(CTR_CSR_SIREG3, CTR_DATA_CCV | 0xfff0000 | CTR_TYPE_RETURN);
	data = csr_read(CTR_CSR_SIREG3);
	caps->type = (data & CTR_DATA_TYPE) == CTR_TYPE_RETURN;
	caps->cycles = data & CTR_DATA_CCV;
	csr_write(CTR_CSR_SISELECT, select);
	ctr_hw_clear();
}

/**
 * ctr_hw_setup() - not recording, empty, and as deep as all other harts
 * @depth_code: see sctrdepth; a code that the hart takes
 */
void ctr_hw_setup(unsigned int depth_code)
{
	lockdep_assert_irqs_disabled();
	ctr_hw_depth_code = depth_code;
	ctr_hw_control(0);
	if (!ctr_draft)
		csr_write(CTR_CSR_SCTRDEPTH, depth_code);
	/*
	 * A new depth leaves the write pointer and the entries unspecified.
	 * vsctrctl stands in for sctrctl in a guest; KVM does not know it, and
	 * after a reset it may have any value.
	 */
	ctr_hw_clear();
	if (riscv_isa_extension_available(NULL, h)) {
		if (ctr_draft)
			csr_write(CTR_DRAFT_CSR_VSCTRCONTROL, 0);
		else
			csr_write(CTR_CSR_VSCTRCTL, 0);
	}
}

/**
 * ctr_hw_control() - write sctrctl
 * @control: as in 1.0
 *
 * Each write clears the cycle counter, so not without need.
 */
void ctr_hw_control(u64 control)
{
	if (ctr_draft)
		csr_write(CTR_DRAFT_CSR_SCTRCONTROL, ctr_draft_control(control, ctr_hw_depth_code));
	else
		csr_write(CTR_CSR_SCTRCTL, control);
}

/**
 * ctr_hw_control_read() - read sctrctl
 *
 * Return: as in 1.0.
 */
u64 ctr_hw_control_read(void)
{
	if (ctr_draft)
		return ctr_draft_control_read(csr_read(CTR_DRAFT_CSR_SCTRCONTROL));
	return csr_read(CTR_CSR_SCTRCTL);
}

/**
 * ctr_hw_clear() - an empty ring, not frozen
 *
 * Recording of the current mode must be off, or the ring frozen: the hart would
 * write sctrstatus at the same time.
 */
void ctr_hw_clear(void)
{
	if (ctr_draft) {
		csr_set(CTR_DRAFT_CSR_SCTRCONTROL, CTR_DRAFT_CTL_CLR);
		csr_clear(CTR_DRAFT_CSR_SCTRSTATUS, CTR_STATUS_WRPTR | CTR_DRAFT_STATUS_FROZEN);
	} else {
		asm volatile(".4byte " CTR_INSN_SCTRCLR ::: "memory");
		csr_clear(CTR_CSR_SCTRSTATUS, CTR_STATUS_WRPTR | CTR_STATUS_FROZEN);
	}
}

/** ctr_hw_thaw() - clear FROZEN */
void ctr_hw_thaw(void)
{
	if (ctr_draft)
		csr_clear(CTR_DRAFT_CSR_SCTRSTATUS, CTR_DRAFT_STATUS_FROZEN);
	else
		csr_clear(CTR_CSR_SCTRSTATUS, CTR_STATUS_FROZEN);
}

/** ctr_hw_status() - sctrstatus, as it is */
u64 ctr_hw_status(void)
{
	return ctr_csr_read(CSR_SCTRSTATUS);
}

/**
 * ctr_hw_read() - copy the ring, or a part of it
 * @records: result, youngest first
 * @first: where to begin, 0 is the youngest
 * @max: at most so many; not more than the ring has from there on
 *
 * The ring must not change meanwhile: frozen, or the current mode not recorded.
 *
 * Return: number of records.
 */
unsigned int ctr_hw_read(struct ctr_record *records, unsigned int first, unsigned int max)
{
	unsigned long select;
	unsigned int i;

	lockdep_assert_irqs_disabled();
	select = csr_read(CTR_CSR_SISELECT);
	for (i = 0; i < max; i++) {
		csr_write(CTR_CSR_SISELECT, CTR_SELECT_ENTRY + first + i);
		records[i].source = csr_read(CTR_CSR_SIREG);
		/* Valid ones are contiguous, with an emulated stack as well. */
		if (!(records[i].source & CTR_SOURCE_VALID))
			break;
		records[i].target = csr_read(CTR_CSR_SIREG2);
		records[i].data = csr_read(CTR_CSR_SIREG3);
	}
	csr_write(CTR_CSR_SISELECT, select);
	return i;
}

/**
 * ctr_hw_restore() - put back what ctr_hw_read() has read
 * @status: ctr_hw_status() of that time
 * @records: youngest first
 * @count: number of them
 *
 * Recording must be off and the ring be empty. sctrstatus goes first: an entry
 * is found relative to the write pointer.
 */
void ctr_hw_restore(u64 status, const struct ctr_record *records, unsigned int count)
{
	unsigned long select;
	unsigned int i;

	lockdep_assert_irqs_disabled();
	if (ctr_draft)
		csr_write(CTR_DRAFT_CSR_SCTRSTATUS, status);
	else
		csr_write(CTR_CSR_SCTRSTATUS, status);
	select = csr_read(CTR_CSR_SISELECT);
	for (i = 0; i < count; i++) {
		csr_write(CTR_CSR_SISELECT, CTR_SELECT_ENTRY + i);
		csr_write(CTR_CSR_SIREG, records[i].source);
		csr_write(CTR_CSR_SIREG2, records[i].target);
		csr_write(CTR_CSR_SIREG3, records[i].data);
	}
	csr_write(CTR_CSR_SISELECT, select);
}
