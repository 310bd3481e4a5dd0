// SPDX-License-Identifier: GPL-2.0-only
/*
 * The registers of Control Transfer Records of the current hart.
 *
 * The ring is seen through a window: siselect chooses an entry by its age, and sireg,
 * sireg2 and sireg3 are its parts. A transfer makes all entries one older.
 *
 *   siselect       sireg         sireg2        sireg3
 *   0x200          ctrsource     ctrtarget     ctrdata      the newest
 *   0x201            | valid       | MISP        | type, cycles
 *   ...
 *   0x200 + n                                               not valid: the end
 *
 * Invariants:
 *   - Interrupts are off. siselect is shared with the code for interrupt files (AIA),
 *     which uses it in interrupts: each function restores it.
 *   - Entries are read and written only while the hart adds none: the ring is frozen, or
 *     the current mode is not recorded.
 *   - Values are in the layout of 1.0. Only this file knows the draft.
 */
#include <linux/irqflags.h>
#include <linux/lockdep.h>

#include <asm/asm-extable.h>
#include <asm/csr.h>
#include <asm/hwcap.h>

#include "ctr_hw.h"

/* The hart has the registers of the draft 0.1.4. Set once, before the first access. */
bool ctr_draft;
/* Depth code in use: a field of the draft's control register. */
static unsigned int ctr_hw_depth_code;

/*
 * If the firmware has not enabled CTR for S-mode, the first access is an illegal instruction. The
 * entry in the exception table prevents an oops.
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
 * ctr_hw_missing() - find registers that S-mode may not access on this hart
 *
 * Must have returned NULL before any other function of this file is called.
 *
 * Return: NULL, or the names of inaccessible registers or instructions.
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
	/* These depend on mstateen0.CSRIND, the others on mstateen0.CTR. */
	if (!ctr_try_csr(CTR_CSR_SISELECT))
		return "siselect";
	select = csr_swap(CTR_CSR_SISELECT, CTR_SELECT_ENTRY);
	if (!ctr_try_csr(CTR_CSR_SIREG) || !ctr_try_csr(CTR_CSR_SIREG2) ||
	    !ctr_try_csr(CTR_CSR_SIREG3))
		missing = "sireg, sireg2, sireg3";
	csr_write(CTR_CSR_SISELECT, select);
	return missing;
}

/**
 * ctr_hw_open_to_guests() - find out whether guests can access the ring
 *
 * Guests share the ring with the host. Only hstateen0, which belongs to Smstateen, locks
 * it for them; ctr_hw_setup() and KVM do so. Without it, a guest reads what the hart
 * recorded in the host, and nothing that the driver can do at the entry of a guest
 * prevents a guest from changing the host's records.
 *
 * Return: whether this hart can run guests and has no such lock.
 */
bool ctr_hw_open_to_guests(void)
{
	lockdep_assert_irqs_disabled();
	return riscv_isa_extension_available(NULL, h) && !ctr_try_csr(CSR_HSTATEEN0);
}

static u8 ctr_hw_probe_depths(void)
{
	unsigned int code;
	u8 depths = 0;

	/*
	 * Downwards: an unsupported depth reads back as another one. The codes 5 to 7 are
	 * never written.
	 */
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
 * ctr_hw_probe() - determine the capabilities of this hart
 * @caps: result
 *
 * Recording must be off and stays off: U and S are never set. Afterwards the ring is
 * empty, and its depth is undefined until ctr_hw_setup().
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

	/* Optional parts of a record: set all bits of a valid record, and read them back. */
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
 * ctr_hw_setup() - stop recording, set the common depth, clear the ring
 * @depth_code: code of sctrdepth that the hart supports
 */
void ctr_hw_setup(unsigned int depth_code)
{
	lockdep_assert_irqs_disabled();
	ctr_hw_depth_code = depth_code;
	ctr_hw_control(0);
	if (!ctr_draft)
		csr_write(CTR_CSR_SCTRDEPTH, depth_code);
	/* A new depth leaves the write pointer and the entries unspecified. */
	ctr_hw_clear();
	if (!riscv_isa_extension_available(NULL, h))
		return;
	/*
	 * vsctrctl replaces sctrctl in a guest. KVM does not initialize it, and it
	 * has any value after a reset.
	 */
	if (ctr_draft) {
		csr_write(CTR_DRAFT_CSR_VSCTRCONTROL, 0);
		csr_clear(CSR_HSTATEEN0, CTR_DRAFT_HSTATEEN0_CTR);
	} else {
		csr_write(CTR_CSR_VSCTRCTL, 0);
		csr_clear(CSR_HSTATEEN0, CTR_HSTATEEN0_CTR);
	}
}

/**
 * ctr_hw_control() - write sctrctl
 * @control: value in the layout of 1.0
 *
 * Each write clears the cycle counter: avoid unnecessary ones.
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
 * Return: value in the layout of 1.0.
 */
u64 ctr_hw_control_read(void)
{
	if (ctr_draft)
		return ctr_draft_control_read(csr_read(CTR_DRAFT_CSR_SCTRCONTROL));
	return csr_read(CTR_CSR_SCTRCTL);
}

/**
 * ctr_hw_clear() - clear the ring and FROZEN
 *
 * The current mode must not be recorded, or the ring must be frozen: otherwise the
 * hart writes sctrstatus at the same time.
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

/** ctr_hw_status() - read sctrstatus */
u64 ctr_hw_status(void)
{
	return ctr_csr_read(CSR_SCTRSTATUS);
}

/**
 * ctr_hw_read() - copy the ring, or a part of it
 * @records: result, newest first
 * @first: index of the first record, 0 is the newest
 * @max: maximum number of records; @first + @max must not exceed the depth
 * @data: read ctrdata, which takes a third of the time; otherwise it is 0 in @records
 *
 * The ring must not change meanwhile: it is frozen, or the current mode is not
 * recorded.
 *
 * Return: number of records.
 */
unsigned int ctr_hw_read(struct ctr_record *records, unsigned int first, unsigned int max,
			 bool data)
{
	unsigned long select;
	unsigned int i;

	lockdep_assert_irqs_disabled();
	select = csr_read(CTR_CSR_SISELECT);
	for (i = 0; i < max; i++) {
		csr_write(CTR_CSR_SISELECT, CTR_SELECT_ENTRY + first + i);
		records[i].source = csr_read(CTR_CSR_SIREG);
		/* Valid records are contiguous, with RASEMU as well. */
		if (!(records[i].source & CTR_SOURCE_VALID))
			break;
		records[i].target = csr_read(CTR_CSR_SIREG2);
		records[i].data = data ? csr_read(CTR_CSR_SIREG3) : 0;
	}
	csr_write(CTR_CSR_SISELECT, select);
	return i;
}

/**
 * ctr_hw_restore() - restore records that ctr_hw_read() has read
 * @status: ctr_hw_status() when they were read
 * @records: newest first
 * @count: number of @records
 *
 * Recording must be off and the ring empty. sctrstatus is written first, because
 * entries are addressed relative to the write pointer.
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
