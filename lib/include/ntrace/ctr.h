/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Control Transfer Records (CTR 1.0: Smctr and Ssctr): registers, records, their perf
 * representation, and a software model fed with retired transfers.
 *
 * "1.0" is the ratified specification, "draft" is v0.1.4 of 2023, which places almost every bit
 * elsewhere. The caller states the layout of a ring or hart; the library never guesses it. All
 * functions work without allocation and global state; the caller owns every struct.
 */
#ifndef NTRACE_CTR_H
#define NTRACE_CTR_H

#include <ntrace/ingress.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- registers ---- */

enum ntrace_ctr_layout {
	NTRACE_CTR_RATIFIED,
	NTRACE_CTR_DRAFT,	/* v0.1.4 */
};

/*
 * Fields of mctrctl, sctrctl and vsctrctl in both layouts: name, bit in 1.0, bit in the draft. The
 * library uses the bit positions of 1.0; ntrace_ctr_control_to_raw() and its counterpart translate.
 */
/* clang-format off */
#define NTRACE_CTR_FIELDS(FIELD)	\
	FIELD(U, 0, 2)			\
	FIELD(S, 1, 1)			\
	FIELD(M, 2, 0)			\
	FIELD(RASEMU, 7, 10)		\
	FIELD(STE, 8, 9)		\
	FIELD(MTE, 9, 8)		\
	FIELD(BPFRZ, 11, 11)		\
	FIELD(LCOFIFRZ, 12, 12)		\
	FIELD(EXCINH, 33, 33)		\
	FIELD(INTRINH, 34, 34)		\
	FIELD(TRETINH, 35, 35)		\
	FIELD(NTBREN, 36, 36)		\
	FIELD(TKBRINH, 37, 37)		\
	FIELD(INDCALLINH, 40, 40)	\
	FIELD(DIRCALLINH, 41, 41)	\
	FIELD(INDJMPINH, 42, 42)	\
	FIELD(DIRJMPINH, 43, 43)	\
	FIELD(CORSWAPINH, 44, 44)	\
	FIELD(RETINH, 45, 45)		\
	FIELD(INDLJMPINH, 46, 46)	\
	FIELD(DIRLJMPINH, 47, 47)
/* clang-format on */

#define NTRACE_CTR_BIT_ENUM(name, ratified, draft) NTRACE_CTR_BIT_##name = (ratified),
enum ntrace_ctr_bit { NTRACE_CTR_FIELDS(NTRACE_CTR_BIT_ENUM) };

/**
 * NTRACE_CTR_CTL - mask of a field of xctrctl in 1.0
 * @name: name of the field in NTRACE_CTR_FIELDS, without quotes: NTRACE_CTR_CTL(RASEMU)
 */
#define NTRACE_CTR_CTL(name) (UINT64_C(1) << NTRACE_CTR_BIT_##name)

/* All of them. */
#define NTRACE_CTR_CTL_MASK(name, ratified, draft) | UINT64_C(1) << (ratified)
#define NTRACE_CTR_CTL_ALL (UINT64_C(0) NTRACE_CTR_FIELDS(NTRACE_CTR_CTL_MASK))

/* Fields that every CTR implementation has; LCOFIFRZ is also required with Sscofpmf. */
#define NTRACE_CTR_CTL_REQUIRED                                                                    \
	(NTRACE_CTR_CTL(U) | NTRACE_CTR_CTL(S) | NTRACE_CTR_CTL(M) | NTRACE_CTR_CTL(BPFRZ))

/* Fields of the control registers in the draft only. */
#define NTRACE_CTR_DRAFT_CLR		(UINT64_C(1) << 7)	/* write 1: clears ring and status */
#define NTRACE_CTR_DRAFT_DEPTH_SHIFT	16			/* four bits */
#define NTRACE_CTR_DRAFT_DEPTH		(UINT64_C(0xf) << NTRACE_CTR_DRAFT_DEPTH_SHIFT)
#define NTRACE_CTR_DRAFT_ETEN		(UINT64_C(1) << 38)	/* enables external traps */

/* CSR numbers */
enum ntrace_ctr_csr {
	NTRACE_CTR_CSR_SCTRCTL = 0x14e,
	NTRACE_CTR_CSR_SCTRSTATUS = 0x14f,
	NTRACE_CTR_CSR_SISELECT = 0x150,
	NTRACE_CTR_CSR_SIREG = 0x151,	/* and sireg2, sireg3; sireg4 to 6 are 0x155 to 0x157 */
	NTRACE_CTR_CSR_SCTRDEPTH = 0x15f,
	NTRACE_CTR_CSR_VSCTRCTL = 0x24e,
	NTRACE_CTR_CSR_VSISELECT = 0x250,
	NTRACE_CTR_CSR_VSIREG = 0x251,
	NTRACE_CTR_CSR_MCTRCTL = 0x34e,
	NTRACE_CTR_CSR_DRAFT_SCTRCONTROL = 0x181, /* RV32: bits 63:32 of it are 0x182, and so on */
	NTRACE_CTR_CSR_DRAFT_SCTRSTATUS = 0x183,
	NTRACE_CTR_CSR_DRAFT_VSCTRCONTROL = 0x281,
	NTRACE_CTR_CSR_DRAFT_MISELECT = 0x350,
	NTRACE_CTR_CSR_DRAFT_MIREG = 0x351,
	NTRACE_CTR_CSR_DRAFT_MCTRCONTROL = 0x381,
	NTRACE_CTR_CSR_DRAFT_MCTRSTATUS = 0x383,
};

/* xiselect of logical entry 0; the following values select the next entries */
#define NTRACE_CTR_SELECT 0x200
#define NTRACE_CTR_ENTRIES_MAX 256

/* The instruction SCTRCLR (1.0). */
#define NTRACE_CTR_INSN_SCTRCLR 0x10400073u

/* Bit of mstateen0 and hstateen0 that permits access to CTR, and the bit for xiselect and xireg. */
#define NTRACE_CTR_STATEEN		(UINT64_C(1) << 54)
#define NTRACE_CTR_STATEEN_DRAFT	(UINT64_C(1) << 55)
#define NTRACE_CTR_STATEEN_CSRIND	(UINT64_C(1) << 60)

/* DEPTH codes: the number of entries is 16 << code. */
#define NTRACE_CTR_DEPTH_CODES 5

/**
 * struct ntrace_ctr_status - sctrstatus
 * @wrptr: physical slot of the next record, 0..255
 * @frozen: nothing is recorded
 * @wrapped: draft only: @wrptr has wrapped since the bit was cleared
 * @reserved: 0
 */
struct ntrace_ctr_status {
	uint8_t wrptr;
	bool frozen;
	bool wrapped;
	uint8_t reserved;
};

/**
 * ntrace_ctr_control_to_raw - value of an xctrctl register
 * @layout: register layout
 * @control: NTRACE_CTR_CTL() masks; in the draft NTRACE_CTR_DRAFT_ETEN as well
 *
 * Return: the value for a CSR write; draft: CLR and DEPTH are 0.
 */
NTRACE_API uint64_t ntrace_ctr_control_to_raw(enum ntrace_ctr_layout layout, uint64_t control);

/**
 * ntrace_ctr_control_from_raw - the inverse of ntrace_ctr_control_to_raw()
 * @layout: register layout of @raw
 * @raw: value read from an xctrctl register
 *
 * Return: NTRACE_CTR_CTL() masks, and NTRACE_CTR_DRAFT_ETEN in the draft; all other bits are
 * dropped.
 */
NTRACE_API uint64_t ntrace_ctr_control_from_raw(enum ntrace_ctr_layout layout, uint64_t raw);

/**
 * ntrace_ctr_field_name - name of a field of xctrctl
 * @layout: register layout
 * @bit: bit number in that layout, 0..63
 *
 * Return: a constant string as the specification spells it, or NULL.
 */
NTRACE_API const char *ntrace_ctr_field_name(enum ntrace_ctr_layout layout, unsigned int bit);

/**
 * ntrace_ctr_depth_to_raw - value of the DEPTH field
 * @layout: 1.0: sctrdepth; draft: bits 19:16 of the control registers, not shifted
 * @entries: 16, 32, 64, 128 or 256
 *
 * Return: the code, or NTRACE_ERR_INVALID.
 */
NTRACE_API int ntrace_ctr_depth_to_raw(enum ntrace_ctr_layout layout, unsigned int entries);

/**
 * ntrace_ctr_depth_from_raw - number of entries for a DEPTH code
 * @layout: 1.0: sctrdepth; draft: bits 19:16 of the control registers
 * @raw: the code, shifted to bit 0
 *
 * Return: 16, 32, 64, 128 or 256; 0 for a reserved code.
 */
NTRACE_API unsigned int ntrace_ctr_depth_from_raw(enum ntrace_ctr_layout layout, unsigned int raw);

/**
 * ntrace_ctr_status_to_raw - value of sctrstatus
 * @layout: register layout of the result
 * @status: the fields; wrapped is ignored in 1.0
 *
 * Return: the value for a CSR write.
 */
NTRACE_API uint32_t ntrace_ctr_status_to_raw(enum ntrace_ctr_layout layout,
					     const struct ntrace_ctr_status *status);

/**
 * ntrace_ctr_status_from_raw - decode sctrstatus
 * @layout: register layout of @raw
 * @raw: value read from sctrstatus; other bits are ignored
 * @status: result; every field is set
 */
NTRACE_API void ntrace_ctr_status_from_raw(enum ntrace_ctr_layout layout, uint32_t raw,
					   struct ntrace_ctr_status *status);

/**
 * ntrace_ctr_physical - slot of a logical entry
 * @wrptr: sctrstatus.WRPTR
 * @logical: 0 is the youngest
 * @entries: depth, a power of two
 *
 * Return: physical slot, less than @entries.
 */
static inline unsigned int ntrace_ctr_physical(unsigned int wrptr, unsigned int logical,
					       unsigned int entries)
{
	return (wrptr - logical - 1) & (entries - 1);
}

/**
 * ntrace_ctr_logical - logical entry in a slot
 * @wrptr: sctrstatus.WRPTR
 * @physical: slot, less than @entries
 * @entries: depth, a power of two
 *
 * The formula is that of ntrace_ctr_physical(), which is its own inverse.
 *
 * Return: logical entry, less than @entries; 0 is the youngest.
 */
static inline unsigned int ntrace_ctr_logical(unsigned int wrptr, unsigned int physical,
					      unsigned int entries)
{
	return (wrptr - physical - 1) & (entries - 1);
}

/* ---- records ---- */

/* TYPE of a record: the values of a 4-bit itype (enum ntrace_itype). */
enum ntrace_ctr_type {
	NTRACE_CTR_TYPE_NONE = 0,	/* not used, or the hart does not record types */
	NTRACE_CTR_TYPE_EXCEPTION = 1,
	NTRACE_CTR_TYPE_INTERRUPT = 2,
	NTRACE_CTR_TYPE_TRAP_RETURN = 3,
	NTRACE_CTR_TYPE_BRANCH_NOT_TAKEN = 4,
	NTRACE_CTR_TYPE_BRANCH_TAKEN = 5,
	NTRACE_CTR_TYPE_INDIRECT_CALL = 8,
	NTRACE_CTR_TYPE_DIRECT_CALL = 9,
	NTRACE_CTR_TYPE_INDIRECT_JUMP = 10,
	NTRACE_CTR_TYPE_DIRECT_JUMP = 11,
	NTRACE_CTR_TYPE_COROUTINE_SWAP = 12,
	NTRACE_CTR_TYPE_RETURN = 13,
	NTRACE_CTR_TYPE_OTHER_INDIRECT_JUMP = 14,
	NTRACE_CTR_TYPE_OTHER_DIRECT_JUMP = 15,
};

#define NTRACE_CTR_SOURCE_VALID		UINT64_C(1)
#define NTRACE_CTR_TARGET_MISP		UINT64_C(1)
#define NTRACE_CTR_DATA_TYPE		UINT64_C(0xf)
#define NTRACE_CTR_DATA_CCV		(UINT64_C(1) << 15)
#define NTRACE_CTR_DATA_CC_SHIFT	16
#define NTRACE_CTR_DATA_CC		(UINT64_C(0xffff) << NTRACE_CTR_DATA_CC_SHIFT)

/**
 * struct ntrace_ctr_entry - an entry as the registers hold it
 * @source: ctrsource
 * @target: ctrtarget
 * @data: ctrdata
 */
struct ntrace_ctr_entry {
	uint64_t source;
	uint64_t target;
	uint64_t data;
};

/* Optional parts of a record that a hart may implement. */
enum ntrace_ctr_feature {
	NTRACE_CTR_HAS_TYPE = 1 << 0,
	NTRACE_CTR_HAS_MISPREDICT = 1 << 1,
	NTRACE_CTR_HAS_CYCLES = 1 << 2,
};

/* Half of the address space, by the address alone: CTR does not record privilege. */
enum ntrace_ctr_space {
	NTRACE_CTR_SPACE_UNKNOWN,	/* hidden, or no valid record */
	NTRACE_CTR_SPACE_USER,
	NTRACE_CTR_SPACE_KERNEL,	/* upper half */
};

/**
 * struct ntrace_ctr_record - a decoded entry
 * @from: address of the transferring or trapped instruction; 0 if hidden
 * @to: target; for a branch not taken the next instruction; 0 if hidden
 * @cycles: cycles since the previous record during which CTR was active; 0 unless @cycles_known
 * @type: enum ntrace_ctr_type; 0 without NTRACE_CTR_HAS_TYPE
 * @from_space: enum ntrace_ctr_space of @from
 * @to_space: enum ntrace_ctr_space of @to
 * @valid: the entry holds a record; if false, all other fields are 0
 * @mispredicted: undefined unless @mispredict_known
 * @mispredict_known: the hart implements MISP
 * @cycles_known: CCV is set and the hart implements CC
 * @cycles_saturated: @cycles is the maximum that four bits of CCE can encode
 * @from_hidden: the trap came from a mode that is not enabled
 * @to_hidden: an external trap, or a return to a mode that is not enabled
 * @reserved: 0
 */
struct ntrace_ctr_record {
	uint64_t from;
	uint64_t to;
	uint32_t cycles;
	uint8_t type;
	uint8_t from_space;
	uint8_t to_space;
	bool valid;
	bool mispredicted;
	bool mispredict_known;
	bool cycles_known;
	bool cycles_saturated;
	bool from_hidden;
	bool to_hidden;
	uint8_t reserved[2];
};

/**
 * ntrace_ctr_record_decode - decode an entry
 * @entry: as read through sireg, sireg2 and sireg3
 * @features: enum ntrace_ctr_feature bits that the hart implements
 * @record: result; every field is set
 *
 * Both layouts have the same entries.
 */
NTRACE_API void ntrace_ctr_record_decode(const struct ntrace_ctr_entry *entry,
					 unsigned int features, struct ntrace_ctr_record *record);

/**
 * ntrace_ctr_cycles_decode - cycles encoded in a value of CC
 * @cc: CC[15:0]: CCM in bits 11:0, CCE in bits 15:12
 *
 * The hardware drops low bits: the true count is between the result and 2^(CCE-1)-1 more.
 *
 * Return: number of clock cycles, the lower bound of that range.
 */
NTRACE_API uint32_t ntrace_ctr_cycles_decode(uint16_t cc);

/**
 * ntrace_ctr_cycles_encode - encode a number of cycles as CC
 * @cycles: any number; one that is too large sets all implemented bits
 * @cce_bits: implemented bits of CCE, 0..4 (a larger value counts as 4)
 *
 * Return: value of CC[15:0].
 */
NTRACE_API uint16_t ntrace_ctr_cycles_encode(uint64_t cycles, unsigned int cce_bits);

/**
 * ntrace_ctr_type_name - English name of a TYPE
 * @type: enum ntrace_ctr_type
 *
 * Return: "taken branch" and so on, "reserved" for any other value; a static string, never NULL.
 */
NTRACE_API const char *ntrace_ctr_type_name(unsigned int type);

/**
 * ntrace_ctr_type_from_itype - TYPE of the transfer that ends a block of the ingress port
 * @itype: itype of a port with 4 bits
 *
 * Return: enum ntrace_ctr_type; NTRACE_CTR_TYPE_NONE for itype 0, for reserved values and for 6 and
 * 7, which are too general.
 */
NTRACE_API unsigned int ntrace_ctr_type_from_itype(unsigned int itype);

/**
 * struct ntrace_ctr_frame - one call that has not returned
 * @function: address of the called function
 * @call: address of the call instruction
 */
struct ntrace_ctr_frame {
	uint64_t function;
	uint64_t call;
};

/**
 * ntrace_ctr_call_stack - the calls of a ring recorded with RASEMU
 * @entries: logical order, youngest first
 * @count: number of entries; pass the depth, else @partial is not reliable
 * @features: enum ntrace_ctr_feature
 * @frames: result, innermost first; room for @count
 * @partial: set if outer calls may be missing: the ring is full
 *
 * Return: number of frames. NTRACE_ERR_FORMAT for an entry whose type is neither call nor
 * co-routine swap: the ring was not recorded with RASEMU.
 */
NTRACE_API int ntrace_ctr_call_stack(const struct ntrace_ctr_entry *entries, unsigned int count,
				     unsigned int features, struct ntrace_ctr_frame *frames,
				     bool *partial);

/* ---- perf ---- */

/* perf's branch types (PERF_BR_...). */
enum ntrace_perf_branch {
	NTRACE_PERF_BRANCH_UNKNOWN = 0,
	NTRACE_PERF_BRANCH_COND = 1,
	NTRACE_PERF_BRANCH_UNCOND = 2,
	NTRACE_PERF_BRANCH_IND = 3,
	NTRACE_PERF_BRANCH_CALL = 4,
	NTRACE_PERF_BRANCH_IND_CALL = 5,
	NTRACE_PERF_BRANCH_RET = 6,
	NTRACE_PERF_BRANCH_SYSCALL = 7,
	NTRACE_PERF_BRANCH_ERET = 11,
	NTRACE_PERF_BRANCH_IRQ = 12,
};

/* Bits of perf's branch_sample_type that select branches (PERF_SAMPLE_BRANCH_...). */
#define NTRACE_PERF_SAMPLE_USER		(UINT64_C(1) << 0)
#define NTRACE_PERF_SAMPLE_KERNEL	(UINT64_C(1) << 1)
#define NTRACE_PERF_SAMPLE_HV		(UINT64_C(1) << 2)
#define NTRACE_PERF_SAMPLE_ANY		(UINT64_C(1) << 3)
#define NTRACE_PERF_SAMPLE_ANY_CALL	(UINT64_C(1) << 4)
#define NTRACE_PERF_SAMPLE_ANY_RETURN	(UINT64_C(1) << 5)
#define NTRACE_PERF_SAMPLE_IND_CALL	(UINT64_C(1) << 6)
#define NTRACE_PERF_SAMPLE_COND		(UINT64_C(1) << 10)
#define NTRACE_PERF_SAMPLE_CALL_STACK	(UINT64_C(1) << 11)
#define NTRACE_PERF_SAMPLE_IND_JUMP	(UINT64_C(1) << 12)
#define NTRACE_PERF_SAMPLE_CALL		(UINT64_C(1) << 13)
/* Bits that affect only the output: NO_FLAGS, NO_CYCLES, TYPE_SAVE, HW_INDEX, PRIV_SAVE. */
#define NTRACE_PERF_SAMPLE_REPORT                                                                  \
	(UINT64_C(1) << 14 | UINT64_C(1) << 15 | UINT64_C(1) << 16 | UINT64_C(1) << 17 |           \
	 UINT64_C(1) << 18)

/**
 * ntrace_ctr_perf_type - perf's branch type for a record's TYPE
 * @type: enum ntrace_ctr_type
 *
 * Exceptions give SYSCALL, although only ecall is one: if the code is known,
 * ntrace_ctr_perf_exception() gives the exact type. A co-routine swap, which returns and calls at
 * once, counts as an indirect call.
 *
 * Return: enum ntrace_perf_branch; NTRACE_PERF_BRANCH_UNKNOWN for a reserved type.
 */
NTRACE_API unsigned int ntrace_ctr_perf_type(unsigned int type);

/**
 * ntrace_ctr_perf_exception - perf's branch type for an exception at a known instruction
 * @insn: encoding of the instruction; 16-bit encodings zero-extended
 *
 * Return: NTRACE_PERF_BRANCH_SYSCALL for ecall, else NTRACE_PERF_BRANCH_UNKNOWN.
 */
NTRACE_API unsigned int ntrace_ctr_perf_exception(uint32_t insn);

/**
 * struct ntrace_ctr_filter - which transfers to record
 * @control: sctrctl, NTRACE_CTR_CTL() masks
 * @types: bit n: keep records with TYPE n; narrower than @control if the hart lacks inhibit bits
 * @reserved: 0
 */
struct ntrace_ctr_filter {
	uint64_t control;
	uint32_t types;
	uint32_t reserved;
};

/**
 * ntrace_ctr_filter_from_perf - sctrctl for a branch_sample_type
 * @sample: branch_sample_type, with its privilege levels
 * @implemented: NTRACE_CTR_CTL() masks that the hart implements
 * @features: enum ntrace_ctr_feature
 * @filter: result, untouched on error
 *
 * Return: 0; NTRACE_ERR_INVALID if @sample selects nothing, or the call stack together with
 * anything else; NTRACE_ERR_UNSUPPORTED for requests beyond CTR: transactions, a call stack of the
 * kernel or without RASEMU, types that the hart neither filters nor records.
 */
NTRACE_API int ntrace_ctr_filter_from_perf(uint64_t sample, uint64_t implemented,
					   unsigned int features, struct ntrace_ctr_filter *filter);

/**
 * ntrace_ctr_filter_to_perf - the branch_sample_type that a value of sctrctl records
 * @control: NTRACE_CTR_CTL() masks
 *
 * Return: branch_sample_type with each filter whose types are all recorded, or ANY alone if all
 * types are recorded. perf has no filter for branches not taken.
 */
NTRACE_API uint64_t ntrace_ctr_filter_to_perf(uint64_t control);

/* ---- software model ---- */

/**
 * struct ntrace_ctr_config - features of a hart
 * @size: sizeof(struct ntrace_ctr_config) of the caller
 * @layout: layout of the registers
 * @implemented: fields of xctrctl, NTRACE_CTR_CTL() masks; draft: NTRACE_CTR_DRAFT_ETEN too.
 *               Contains NTRACE_CTR_CTL_REQUIRED, in the draft M alone; all else is read-only 0
 * @depths: bit n: a depth of 16 << n entries; the draft requires contiguous bits
 * @features: enum ntrace_ctr_feature
 * @cce_bits: bits of CCE, 0..4
 * @hypervisor: the hart has VS and VU
 * @xlen: 64, or in the draft 32: then the control registers have a high half, xctrcontrolh
 */
struct ntrace_ctr_config {
	size_t size;
	enum ntrace_ctr_layout layout;
	uint64_t implemented;
	unsigned int depths;
	unsigned int features;
	unsigned int cce_bits;
	bool hypervisor;
	unsigned int xlen;
};

/**
 * struct ntrace_ctr_model - CTR of one hart
 * @status: readable: sctrstatus
 * @mctrctl: readable: NTRACE_CTR_CTL() masks of mctrctl; sctrctl is a view of it
 * @vsctrctl: readable: NTRACE_CTR_CTL() masks of vsctrctl
 * @depth: readable: number of entries
 *
 * Owned by the caller, set up by ntrace_ctr_model_init(). Fields not called readable are private.
 */
struct ntrace_ctr_model {
	/* private: */
	struct ntrace_ctr_config config;
	/* public: */
	struct ntrace_ctr_status status;
	uint64_t mctrctl;
	uint64_t vsctrctl;
	/* private: */
	uint64_t mstateen0;
	uint64_t hstateen0;
	uint64_t select[3];	/* siselect, vsiselect, and miselect of the draft */
	uint64_t cycles;	/* active cycles since the last record */
	/* public: */
	unsigned int depth;
	/* private: */
	bool cycles_valid;	/* the counter has not been cleared since */
	struct ntrace_ctr_entry ring[NTRACE_CTR_ENTRIES_MAX];	/* physical order */
};

/**
 * struct ntrace_ctr_transfer - a control transfer that retired, or a trap
 * @source: address of the instruction; of a trap: epc
 * @target: target; for a branch not taken the next instruction
 * @cycles: clock cycles since the previous transfer, spent in @from
 * @cause: traps: exception or interrupt code, without the interrupt bit
 * @itype: enum ntrace_itype, not 0, 6 or 7
 * @from: enum ntrace_priv before the transfer
 * @to: enum ntrace_priv after the transfer; read only for traps and trap returns
 * @mispredicted: the branch or indirect transfer was mispredicted
 * @reserved: 0
 */
struct ntrace_ctr_transfer {
	uint64_t source;
	uint64_t target;
	uint64_t cycles;
	uint64_t cause;
	uint8_t itype;
	uint8_t from;
	uint8_t to;
	bool mispredicted;
	uint8_t reserved[4];
};

/* Effects of a transfer. */
enum ntrace_ctr_effect {
	NTRACE_CTR_IGNORED = 0,
	NTRACE_CTR_RECORDED = 1,	/* wrote a new entry 0 */
	NTRACE_CTR_REPLACED = 2,	/* RASEMU, swap: overwrote entry 0 */
	NTRACE_CTR_POPPED = 3,		/* RASEMU, return: removed entry 0 */
	NTRACE_CTR_FROZE = 4,		/* set FROZEN */
};

#define NTRACE_CTR_EFFECTS 5

/* Exception raised by a refused access. */
enum ntrace_ctr_exception {
	NTRACE_CTR_ILLEGAL = 1,		/* illegal-instruction exception */
	NTRACE_CTR_VIRTUAL = 2,		/* virtual-instruction exception */
};

/**
 * ntrace_ctr_config_init - set a configuration to a hart with every optional feature
 * @config: memory owned by the caller; every field is set
 * @layout: layout of the registers
 */
NTRACE_EXPERIMENTAL void ntrace_ctr_config_init(struct ntrace_ctr_config *config,
						enum ntrace_ctr_layout layout);

/**
 * ntrace_ctr_config_refusal - why a configuration is invalid
 * @config: the configuration to examine
 *
 * Return: NULL for a valid configuration, else a static English phrase.
 */
NTRACE_EXPERIMENTAL const char *ntrace_ctr_config_refusal(const struct ntrace_ctr_config *config);

/**
 * ntrace_ctr_model_init - CTR after reset: off, empty, smallest depth, access permitted
 * @model: memory owned by the caller; every field is set on success
 * @config: features of the hart; copied
 *
 * Return: 0 or NTRACE_ERR_INVALID; ntrace_ctr_config_refusal() says why.
 */
NTRACE_EXPERIMENTAL int ntrace_ctr_model_init(struct ntrace_ctr_model *model,
					      const struct ntrace_ctr_config *config);

/**
 * ntrace_ctr_model_stateen - set mstateen0 and hstateen0
 * @model: model set up by ntrace_ctr_model_init()
 * @mstateen0: value of mstateen0; the model reads the bits NTRACE_CTR_STATEEN... only
 * @hstateen0: value of hstateen0, likewise
 *
 * They control access from modes below M and do not affect recording.
 */
NTRACE_EXPERIMENTAL void ntrace_ctr_model_stateen(struct ntrace_ctr_model *model,
						  uint64_t mstateen0, uint64_t hstateen0);

/**
 * ntrace_ctr_model_read - read a CSR
 * @model: model set up by ntrace_ctr_model_init()
 * @priv: enum ntrace_priv of the reader; Debug Mode counts as M
 * @csr: CSR number in the model's layout; in VS, sctrctl, siselect and sireg mean the guest's
 *       registers
 * @value: result
 *
 * Return: 0; enum ntrace_ctr_exception; NTRACE_ERR_UNSUPPORTED for accesses outside CTR: another
 * CSR, or xireg while xiselect selects no entry.
 */
NTRACE_EXPERIMENTAL int ntrace_ctr_model_read(const struct ntrace_ctr_model *model,
					      unsigned int priv, unsigned int csr, uint64_t *value);

/**
 * ntrace_ctr_model_write - write a CSR
 * @model: model set up by ntrace_ctr_model_init()
 * @priv: enum ntrace_priv of the writer; Debug Mode counts as M
 * @csr: CSR number, as for ntrace_ctr_model_read()
 * @value: value written
 *
 * Fields take legal values (WARL): fields that the hart lacks stay 0. An unimplemented depth
 * becomes the next smaller implemented one, or else the smallest. When the depth changes, entries
 * stay in their slots and WRPTR is truncated to the new depth.
 *
 * Return: as ntrace_ctr_model_read(); the model is unchanged if not 0.
 */
NTRACE_EXPERIMENTAL int ntrace_ctr_model_write(struct ntrace_ctr_model *model, unsigned int priv,
					       unsigned int csr, uint64_t value);

/**
 * ntrace_ctr_model_clear - execute SCTRCLR
 * @model: model set up by ntrace_ctr_model_init()
 * @priv: enum ntrace_priv that executes the instruction; Debug Mode counts as M
 *
 * Return: 0 or enum ntrace_ctr_exception; NTRACE_CTR_ILLEGAL in the draft, which has no such
 * instruction.
 */
NTRACE_EXPERIMENTAL int ntrace_ctr_model_clear(struct ntrace_ctr_model *model, unsigned int priv);

/**
 * ntrace_ctr_model_cycles - clock cycles pass without a transfer
 * @model: model set up by ntrace_ctr_model_init()
 * @priv: enum ntrace_priv of the hart during these cycles
 * @cycles: number of clock cycles
 *
 * Cycles count only while CTR is active: the mode is enabled and the ring is not frozen.
 */
NTRACE_EXPERIMENTAL void ntrace_ctr_model_cycles(struct ntrace_ctr_model *model, unsigned int priv,
						 uint64_t cycles);

/**
 * ntrace_ctr_model_transfer - retire a transfer
 * @model: model set up by ntrace_ctr_model_init()
 * @transfer: the transfer; its cycles are counted first, as by ntrace_ctr_model_cycles()
 *
 * Transfers from or to Debug Mode are ignored. Records made with RASEMU have CCV = 0.
 *
 * Return: enum ntrace_ctr_effect, or NTRACE_ERR_INVALID for an impossible transfer: a reserved
 * itype or privilege, a trap to a lower privilege, a trap return to a higher one (the model is
 * unchanged then).
 */
NTRACE_EXPERIMENTAL int ntrace_ctr_model_transfer(struct ntrace_ctr_model *model,
						  const struct ntrace_ctr_transfer *transfer);

/**
 * ntrace_ctr_model_entry - read a logical entry without access checks
 * @model: model set up by ntrace_ctr_model_init()
 * @logical: number of the entry, 0 is the youngest
 *
 * Return: copy of the entry; all 0 at and beyond the depth.
 */
NTRACE_EXPERIMENTAL struct ntrace_ctr_entry
ntrace_ctr_model_entry(const struct ntrace_ctr_model *model, unsigned int logical);

/* ---- the model, fed from the ingress port ---- */

/**
 * struct ntrace_ctr_ingress - turns blocks of the ingress port into transfers
 * @dropped: readable: transfers whose target never became known (reset, overrun)
 * @effects: readable: number of transfers by enum ntrace_ctr_effect
 *
 * Owned by the caller, set up by ntrace_ctr_ingress_init(). Fields not called readable are private.
 *
 * The next block supplies the target of a jump, so the last transfer waits for that block;
 * ntrace_ctr_ingress_target() can supply the target earlier.
 */
struct ntrace_ctr_ingress {
	/* private: */
	struct ntrace_ctr_model *model;
	struct ntrace_ingress_port port;
	/* public: */
	uint64_t dropped;
	uint64_t effects[NTRACE_CTR_EFFECTS];
	/* private: */
	struct ntrace_ctr_transfer waiting;
	uint64_t cycles;	/* since the last block */
	uint64_t next;		/* address after the last block */
	bool has_waiting;
	bool has_next;
};

/**
 * ntrace_ctr_ingress_init - begin
 * @feed: memory owned by the caller
 * @model: owned by the caller; must outlive @feed
 * @port: copied
 *
 * Return: 0, or NTRACE_ERR_UNSUPPORTED for a port with 3 bits of itype, which does not distinguish
 * calls and direct jumps.
 */
NTRACE_EXPERIMENTAL int ntrace_ctr_ingress_init(struct ntrace_ctr_ingress *feed,
						struct ntrace_ctr_model *model,
						const struct ntrace_ingress_port *port);

/**
 * ntrace_ctr_ingress_block - one block
 * @feed: feed set up by ntrace_ctr_ingress_init()
 * @block: parcels, also of a single-instruction port
 * @cause: cause code for itype 1 and 2, without the interrupt bit
 * @cycles: clock cycles since the previous block
 *
 * Return: 0 or NTRACE_ERR_INVALID for an impossible block (it changes nothing, but the waiting
 * transfer may have been recorded).
 */
NTRACE_EXPERIMENTAL int ntrace_ctr_ingress_block(struct ntrace_ctr_ingress *feed,
						 const struct ntrace_ingress *block, uint64_t cause,
						 uint64_t cycles);

/**
 * ntrace_ctr_ingress_target - set the target of the waiting transfer
 * @feed: feed set up by ntrace_ctr_ingress_init()
 * @address: target of the waiting transfer
 * @priv: enum ntrace_priv at @address
 *
 * Call it before reading or writing registers on behalf of the instruction at @address.
 *
 * Return: 0, also if no transfer waits, or NTRACE_ERR_INVALID for an impossible transfer.
 */
NTRACE_EXPERIMENTAL int ntrace_ctr_ingress_target(struct ntrace_ctr_ingress *feed, uint64_t address,
						  unsigned int priv);

/**
 * ntrace_ctr_ingress_cycle - all signals of one clock cycle (E-Trace, chapter 4)
 * @feed: feed set up by ntrace_ctr_ingress_init()
 * @cycle: the signals; time, context signals and triggers have no effect
 *
 * Cycles count for the block at their end. The target of a transfer that waits when the hart halts
 * is the address at which the hart leaves Debug Mode.
 *
 * Return: 0, or NTRACE_ERR_INVALID for signals that the port cannot carry or an impossible trap.
 */
NTRACE_EXPERIMENTAL int ntrace_ctr_ingress_cycle(struct ntrace_ctr_ingress *feed,
						 const struct ntrace_ingress_cycle *cycle);

/**
 * ntrace_ctr_ingress_play - apply a record of an ingress file
 * @feed: feed set up by ntrace_ctr_ingress_init()
 * @record: a record of a file whose port equals that of @feed
 *
 * CTR ignores start and stop of the trace.
 *
 * Return: as ntrace_ctr_ingress_cycle(); NTRACE_ERR_INVALID also for an unknown type of record.
 */
NTRACE_EXPERIMENTAL int ntrace_ctr_ingress_play(struct ntrace_ctr_ingress *feed,
						const struct ntrace_ingress_record *record);

#ifdef __cplusplus
}
#endif

#endif /* NTRACE_CTR_H */
