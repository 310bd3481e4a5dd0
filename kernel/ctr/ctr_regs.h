/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Control Transfer Records: registers and records of the ratified Smctr/Ssctr
 * 1.0, and of the draft 0.1.4, which has the same functions in other registers and
 * bits.
 *
 * The driver uses the layout of 1.0. ctr_hw.c converts values of the draft with the
 * functions below.
 */
#ifndef CTR_REGS_H
#define CTR_REGS_H

#include "compat.h"

/* CSR numbers. asm/csr.h has only siselect and sireg. */
#define CTR_CSR_SCTRCTL		0x14e
#define CTR_CSR_SCTRSTATUS	0x14f
#define CTR_CSR_SISELECT	0x150
#define CTR_CSR_SIREG		0x151
#define CTR_CSR_SIREG2		0x152
#define CTR_CSR_SIREG3		0x153
#define CTR_CSR_SCTRDEPTH	0x15f
#define CTR_CSR_VSCTRCTL	0x24e

#define CTR_DRAFT_CSR_SCTRCONTROL 0x181
#define CTR_DRAFT_CSR_SCTRSTATUS 0x183
#define CTR_DRAFT_CSR_VSCTRCONTROL 0x281

/* siselect of logical entry 0, the newest. */
#define CTR_SELECT_ENTRY	0x200

/* sctrctl */
#define CTR_CTL_U		BIT_ULL(0)
#define CTR_CTL_S		BIT_ULL(1)
#define CTR_CTL_RASEMU		BIT_ULL(7)
#define CTR_CTL_STE		BIT_ULL(8)
#define CTR_CTL_BPFRZ		BIT_ULL(11)
#define CTR_CTL_LCOFIFRZ	BIT_ULL(12)
#define CTR_CTL_EXCINH		BIT_ULL(33)
#define CTR_CTL_INTRINH		BIT_ULL(34)
#define CTR_CTL_TRETINH		BIT_ULL(35)
#define CTR_CTL_NTBREN		BIT_ULL(36)
#define CTR_CTL_TKBRINH		BIT_ULL(37)
#define CTR_CTL_INDCALLINH	BIT_ULL(40)
#define CTR_CTL_DIRCALLINH	BIT_ULL(41)
#define CTR_CTL_INDJMPINH	BIT_ULL(42)
#define CTR_CTL_DIRJMPINH	BIT_ULL(43)
#define CTR_CTL_CORSWAPINH	BIT_ULL(44)
#define CTR_CTL_RETINH		BIT_ULL(45)
#define CTR_CTL_INDLJMPINH	BIT_ULL(46)
#define CTR_CTL_DIRLJMPINH	BIT_ULL(47)

#define CTR_CTL_INHIBIT                                                                            \
	(CTR_CTL_EXCINH | CTR_CTL_INTRINH | CTR_CTL_TRETINH | CTR_CTL_TKBRINH |                    \
	 CTR_CTL_INDCALLINH | CTR_CTL_DIRCALLINH | CTR_CTL_INDJMPINH | CTR_CTL_DIRJMPINH |         \
	 CTR_CTL_CORSWAPINH | CTR_CTL_RETINH | CTR_CTL_INDLJMPINH | CTR_CTL_DIRLJMPINH)
/* Optional bits: all except the recorded modes. */
#define CTR_CTL_OPTIONS                                                                            \
	(CTR_CTL_INHIBIT | CTR_CTL_NTBREN | CTR_CTL_RASEMU | CTR_CTL_STE | CTR_CTL_BPFRZ |         \
	 CTR_CTL_LCOFIFRZ)

/* A call stack. User mode only, because the kernel's calls would use the same stack. */
#define CTR_CTL_STACK		(CTR_CTL_U | CTR_CTL_RASEMU)

/* sctrstatus */
#define CTR_STATUS_WRPTR	0xffULL
#define CTR_STATUS_FROZEN	BIT_ULL(31)

/* sctrdepth: 16 << code entries; the codes 5 to 7 are reserved or not listed. */
#define CTR_DEPTH_CODES		5
#define CTR_ENTRIES_MAX		256

/* hstateen0: guests may access CTR */
#define CTR_HSTATEEN0_CTR	BIT_ULL(54)

/* The instruction SCTRCLR, encoded for assemblers without Ssctr. */
#define CTR_INSN_SCTRCLR	"0x10400073"

/* ctrsource, ctrtarget, ctrdata */
#define CTR_SOURCE_VALID	BIT_ULL(0)
#define CTR_TARGET_MISP		BIT_ULL(0)
#define CTR_DATA_TYPE		0xfULL
#define CTR_DATA_CCV		BIT_ULL(15)

enum ctr_type {
	CTR_TYPE_NONE = 0,
	CTR_TYPE_EXCEPTION = 1,
	CTR_TYPE_INTERRUPT = 2,
	CTR_TYPE_TRAP_RETURN = 3,
	CTR_TYPE_NOT_TAKEN = 4,
	CTR_TYPE_TAKEN = 5,
	CTR_TYPE_INDIRECT_CALL = 8,
	CTR_TYPE_DIRECT_CALL = 9,
	CTR_TYPE_INDIRECT_JUMP = 10,
	CTR_TYPE_DIRECT_JUMP = 11,
	CTR_TYPE_SWAP = 12,
	CTR_TYPE_RETURN = 13,
	CTR_TYPE_OTHER_INDIRECT_JUMP = 14,
	CTR_TYPE_OTHER_DIRECT_JUMP = 15,
};

/**
 * struct ctr_record - one entry of the ring, in the format of the registers
 * @source: ctrsource: PC of the transfer, valid bit
 * @target: ctrtarget: target of the transfer, mispredicted bit
 * @data: ctrdata: type, cycles
 */
struct ctr_record {
	u64 source;
	u64 target;
	u64 data;
};

/**
 * struct ctr_caps - capabilities of a hart, or of all harts in common
 * @control: implemented bits of sctrctl, a subset of CTR_CTL_OPTIONS
 * @depths: supported sctrdepth codes, as a bit mask
 * @mispredict: ctrtarget.MISP is implemented
 * @type: ctrdata.TYPE is implemented
 * @cycles: ctrdata.CC is implemented
 */
struct ctr_caps {
	u64 control;
	u8 depths;
	bool mispredict;
	bool type;
	bool cycles;
};

/*
 * The draft. In sctrcontrol, modes, RASEMU and external traps have other bits than in
 * sctrctl, and a field has the depth: 0000 for 16 entries, 1111 for 256. Setting CLR
 * clears the ring. FROZEN and hstateen0.CTR are other bits.
 */
#define CTR_DRAFT_CTL_S		BIT_ULL(1)
#define CTR_DRAFT_CTL_U		BIT_ULL(2)
#define CTR_DRAFT_CTL_CLR	BIT_ULL(7)
#define CTR_DRAFT_CTL_STE	BIT_ULL(9)
#define CTR_DRAFT_CTL_RASEMU	BIT_ULL(10)
#define CTR_DRAFT_CTL_DEPTH_SHIFT 16
#define CTR_DRAFT_CTL_DEPTH	(0xfULL << CTR_DRAFT_CTL_DEPTH_SHIFT)
#define CTR_DRAFT_STATUS_FROZEN	BIT_ULL(15)
#define CTR_DRAFT_HSTATEEN0_CTR	BIT_ULL(55)

static inline u64 ctr_draft_depth(unsigned int code)
{
	return (BIT_ULL(code) - 1) << CTR_DRAFT_CTL_DEPTH_SHIFT;
}

static inline u64 ctr_draft_control(u64 control, unsigned int depth_code)
{
	u64 draft = control & ~(CTR_CTL_U | CTR_CTL_S | CTR_CTL_RASEMU | CTR_CTL_STE);

	return draft | ctr_draft_depth(depth_code) | (control & CTR_CTL_U ? CTR_DRAFT_CTL_U : 0) |
	       (control & CTR_CTL_S ? CTR_DRAFT_CTL_S : 0) |
	       (control & CTR_CTL_RASEMU ? CTR_DRAFT_CTL_RASEMU : 0) |
	       (control & CTR_CTL_STE ? CTR_DRAFT_CTL_STE : 0);
}

static inline u64 ctr_draft_control_read(u64 draft)
{
	u64 control = draft & (CTR_CTL_OPTIONS & ~(CTR_CTL_RASEMU | CTR_CTL_STE));

	return control | (draft & CTR_DRAFT_CTL_U ? CTR_CTL_U : 0) |
	       (draft & CTR_DRAFT_CTL_S ? CTR_CTL_S : 0) |
	       (draft & CTR_DRAFT_CTL_RASEMU ? CTR_CTL_RASEMU : 0) |
	       (draft & CTR_DRAFT_CTL_STE ? CTR_CTL_STE : 0);
}

#endif /* CTR_REGS_H */
