// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Tandem traces from retirements of the RISC-V Formal Interface.
 *
 * A group gives the state after its instruction. RVFI gives a part of it with the next instruction:
 * its privilege, its address, and the CSRs before it. One instruction is therefore held back. What
 * a trap wrote may stand with the instruction that trapped (wmask, wdata), or with the first one of
 * the handler (rmask and rdata, or wmask although it accesses no CSR).
 *
 *   held            next             groups
 *   insn            insn             insn
 *   insn, trap      insn, intr       insn with xepc, xcause, ...
 *   insn            insn, intr       insn, and an interrupt: no instruction, xepc, xcause, ...
 *
 * A trap right after a trap return has stacked the privilege that the return entered.
 *
 * Values of registers that a retirement gives are kept: they say whether a CSR is known as a whole,
 * and whether an instruction has read what was written before.
 */
#include <stdlib.h>
#include <string.h>

#include <ntrace/tandem_rvfi.h>

#include "exec/decode.h"
#include "struct_size.h"
#include "verifier.h"

#define WINDOW 64
#define FIELDS 256

struct retirement {
	struct ntrace_rvfi rvfi;
	struct ntrace_rvfi_change changes[NTRACE_RVFI_CHANGES_MAX];
};

struct ntrace_tandem_rvfi {
	struct ntrace_tandem_rvfi_config config;
	uint64_t xlen_mask;
	bool started, holding;
	uint64_t next_order;
	struct retirement held;
	struct retirement window[WINDOW];	/* that came early, by order % WINDOW */
	bool waits[WINDOW];
	uint64_t value[REGISTERS];
	uint64_t known[REGISTERS];		/* bits of @value that a retirement has given */
	/* The group that is being made: its registers, each of which is given once. */
	uint64_t given[NTRACE_TANDEM_BITMAP_WORDS];
	struct ntrace_tandem_field fields[FIELDS];
	unsigned int count;
};

int ntrace_tandem_rvfi_new(struct ntrace_tandem_rvfi **result,
			   const struct ntrace_tandem_rvfi_config *callers)
{
	struct ntrace_tandem_rvfi_config config;
	struct ntrace_tandem_rvfi *rvfi;

	memset(&config, 0, sizeof(config));
	if (STRUCT_TAKE(&config, callers) || !config.field ||
	    ntrace_tandem_params_refusal(&config.params))
		return NTRACE_ERR_INVALID;
	rvfi = calloc(1, sizeof(*rvfi));
	if (!rvfi)
		return NTRACE_ERR_NOMEM;
	rvfi->config = config;
	rvfi->xlen_mask = tandem_xlen_mask(config.params.xlen);
	*result = rvfi;
	return 0;
}

void ntrace_tandem_rvfi_free(struct ntrace_tandem_rvfi *rvfi)
{
	free(rvfi);
}

static int report(struct ntrace_tandem_rvfi *rvfi, unsigned int kind, const struct ntrace_rvfi *at,
		  uint64_t seen, uint64_t expected)
{
	static const char *const texts[] = {
		[NTRACE_RVFI_ORDER_REPEATED] = "rvfi_order has a value that came before",
		[NTRACE_RVFI_ORDER_MISSING] = "rvfi_order leaves out an instruction",
		[NTRACE_RVFI_PC] = "rvfi_pc_rdata is not the rvfi_pc_wdata of the instruction "
				   "before, and rvfi_intr is 0",
		[NTRACE_RVFI_SOURCE] = "rvfi_rs1_rdata or rvfi_rs2_rdata is not the value that was "
				       "written to the register",
		[NTRACE_RVFI_ZERO] = "the data of x0 is not 0",
		[NTRACE_RVFI_MASK] = "rvfi_mem_rmask or rvfi_mem_wmask is not one access of 1, 2, "
				     "4 or 8 bytes",
		[NTRACE_RVFI_INSN] = "rvfi_insn has more than 32 bits",
		[NTRACE_RVFI_CAUSE] = "a trap between two instructions, whose mcause or scause is "
				      "not reported: it cannot be verified",
		[NTRACE_RVFI_ADDRESS] = "rvfi_mem_addr is not the address of bit 0 of the masks, "
					"although the first bit of the access is a higher one",
		[NTRACE_RVFI_TRAP] =
			"rvfi_trap is 1, but the next instruction follows, and xepc is "
			"not the address of the instruction",
	};
	struct ntrace_rvfi_problem problem = {
		.kind = kind,
		.order = at->order,
		.pc = at->pc_rdata,
		.seen = seen,
		.expected = expected,
		.text = texts[kind],
	};

	if (!rvfi->config.problem)
		return 0;
	return rvfi->config.problem(rvfi->config.user, &problem);
}

/* ---- the group ---- */

static void add(struct ntrace_tandem_rvfi *rvfi, unsigned int type, unsigned int id, uint64_t value)
{
	/* Registers are given once, and one retirement has at most NTRACE_RVFI_CHANGES_MAX of them. */
	if (rvfi->count < FIELDS)
		rvfi->fields[rvfi->count++] = (struct ntrace_tandem_field){ .type = (uint8_t)type,
									    .id = (uint16_t)id,
									    .value = value };
}

static void add_state(struct ntrace_tandem_rvfi *rvfi, unsigned int id, uint64_t value)
{
	add(rvfi, NTRACE_TANDEM_STATE, id, value);
}

static void begin(struct ntrace_tandem_rvfi *rvfi)
{
	rvfi->count = 0;
	memset(rvfi->given, 0, sizeof(rvfi->given));
	add(rvfi, NTRACE_TANDEM_BEGIN, 0, 0);
}

static int end(struct ntrace_tandem_rvfi *rvfi)
{
	int error = 0;

	add(rvfi, NTRACE_TANDEM_END, 0, 0);
	for (unsigned int i = 0; i < rvfi->count && !error; i++)
		error = rvfi->config.field(rvfi->config.user, &rvfi->fields[i]);
	rvfi->count = 0;
	return error;
}

/* Bits of a register that its value needs: those of fcsr and its parts are few. */
static uint64_t needed_bits(const struct ntrace_tandem_rvfi *rvfi, unsigned int id)
{
	if (id >= FPR && id < PC)
		return rvfi->config.params.flen == 32 ? UINT32_MAX : UINT64_MAX;
	return id == 1 ? 0x1f : id == 2 ? 7 : id == FCSR ? 0xff : rvfi->xlen_mask;
}

/* Adds a register, unless a part of it is not known. A later value replaces an earlier one. */
static void add_register(struct ntrace_tandem_rvfi *rvfi, unsigned int id)
{
	if (needed_bits(rvfi, id) & ~rvfi->known[id])
		return;
	if (ntrace_tandem_bit(rvfi->given, id)) {
		for (unsigned int i = 0; i < rvfi->count; i++)
			if (rvfi->fields[i].type == NTRACE_TANDEM_REGISTER &&
			    rvfi->fields[i].id == id)
				rvfi->fields[i].value = rvfi->value[id];
		return;
	}
	rvfi->given[id / 64] |= UINT64_C(1) << id % 64;
	add(rvfi, NTRACE_TANDEM_REGISTER, id, rvfi->value[id]);
}

static void learn(struct ntrace_tandem_rvfi *rvfi, unsigned int id, uint64_t mask, uint64_t data)
{
	mask &= id >= FPR && id < PC ? UINT64_MAX : rvfi->xlen_mask;
	rvfi->value[id] = (rvfi->value[id] & ~mask) | (data & mask);
	rvfi->known[id] |= mask;
}

/* ---- memory ---- */

/* Return: whether the mask is one access: its first byte and its width */
static bool is_access(uint32_t mask, unsigned int *first, unsigned int *bytes)
{
	*first = (unsigned int)__builtin_ctz(mask);
	*bytes = (unsigned int)__builtin_popcount(mask);
	return mask >> *first == (uint32_t)((UINT64_C(1) << *bytes) - 1) && *bytes <= 8 &&
	       !(*bytes & (*bytes - 1));
}

/*
 * A core gives the address of the access, whose mask begins with bit 0, or that of the aligned word
 * around it, and shifts the mask. One that shifts and does not align gives other bytes.
 * Return: the lowest aligned address whose word has bit @first of the mask
 */
static uint64_t aligned_address(uint64_t address, unsigned int first)
{
	return first ? address & ~(uint64_t)((2u << (31 - __builtin_clz(first))) - 1) : address;
}

/*
 * A core may read more bytes than it needs, which the mask shows. The address is then the one that
 * the instruction should have, if its bytes are among those that were read.
 */
static uint64_t load_address(const struct ntrace_tandem_rvfi *rvfi,
			     const struct tandem_access *access, uint64_t first, unsigned int bytes)
{
	uint64_t base = access->base ? rvfi->value[access->base] : 0;
	uint64_t derived = (base + (uint64_t)access->offset) & rvfi->xlen_mask;

	if (access->base && rvfi->known[access->base] != rvfi->xlen_mask)
		return first;
	return access->bytes < bytes && derived - first <= bytes - access->bytes ? derived : first;
}

static int add_access(struct ntrace_tandem_rvfi *rvfi, const struct ntrace_rvfi *held)
{
	const struct ntrace_tandem_params *params = &rvfi->config.params;
	uint32_t mask = held->mem_wmask ? held->mem_wmask : held->mem_rmask;
	unsigned int first = 0, bytes;
	struct tandem_access access;
	uint64_t address;

	tandem_access_of((uint32_t)held->insn, params->xlen, params->flen, &access);
	bytes = access.bytes;
	if ((held->has & NTRACE_RVFI_HAS_MASKS) && !is_access(mask, &first, &bytes))
		return report(rvfi, NTRACE_RVFI_MASK, held, mask, 0);
	address = aligned_address(held->mem_addr, first);
	if (address != held->mem_addr)
		return report(rvfi, NTRACE_RVFI_ADDRESS, held, held->mem_addr, address);
	address = (held->mem_addr + first) & rvfi->xlen_mask;
	if (!held->mem_wmask)
		address = load_address(rvfi, &access, address, bytes);
	add_state(rvfi, NTRACE_TANDEM_STATE_EADDR, address);
	if (!held->mem_wmask || held->extamo || !bytes || bytes > 8)
		return 0;
	add_state(rvfi, NTRACE_TANDEM_STATE_STORE8 + (unsigned int)__builtin_ctz(bytes),
		  held->mem_wdata >> 8 * first &
			  (bytes < 8 ? (UINT64_C(1) << 8 * bytes) - 1 : UINT64_MAX));
	return 0;
}

/* ---- traps ---- */

/* Registers that a trap to the privilege writes. */
static bool is_of_trap(unsigned int id)
{
	return id == MSTATUS || id == 0x310 || id == SSTATUS || (id >= MEPC && id <= MTVAL) ||
	       (id >= SEPC && id <= STVAL) || id == MTINST || id == MTVAL2;
}

/* Whether the instruction itself may write the register: it names it or its view, or is mret, sret. */
static bool writes_itself(const struct ntrace_rvfi *retired, unsigned int id)
{
	uint32_t insn = (uint32_t)retired->insn, named = insn >> 20;
	bool status = id == MSTATUS || id == SSTATUS;

	if ((insn & 0x7f) != 0x73)
		return false;
	return insn >> 12 & 3 ? named == id || (status && (named == MSTATUS || named == SSTATUS)) :
				status;
}

/* Whether the retirement reports the value that the register had before the instruction. */
static bool gives_before(const struct ntrace_tandem_rvfi *rvfi, const struct retirement *next,
			 const struct ntrace_rvfi_change *change)
{
	uint64_t mask = change->rmask;

	if (is_of_trap(change->id) && !writes_itself(&next->rvfi, change->id))
		mask |= change->wmask;
	return !(needed_bits(rvfi, change->id) & ~mask);
}

/*
 * The change of a retirement that gives a register of the trap before it: MEPC, MCAUSE or MSTATUS,
 * or that of S mode. NULL if it does not give it as it is before its instruction
 */
static const struct ntrace_rvfi_change *find_of_trap(const struct ntrace_tandem_rvfi *rvfi,
						     const struct retirement *next, unsigned int id)
{
	bool to_s = (next->rvfi.has & NTRACE_RVFI_HAS_MODE) && next->rvfi.mode == 1;

	id = to_s ? id - MSTATUS + SSTATUS : id;
	for (size_t i = 0; i < next->rvfi.change_count; i++)
		if (next->changes[i].id == id && gives_before(rvfi, next, &next->changes[i]))
			return &next->changes[i];
	return NULL;
}

static uint64_t value_before(const struct ntrace_rvfi_change *change)
{
	return (change->rdata & change->rmask) | (change->wdata & change->wmask & ~change->rmask);
}

/* Whether a register of the trap has another value than before, which the held instruction did not write. */
static bool has_changed(const struct ntrace_tandem_rvfi *rvfi, const struct retirement *next,
			unsigned int id)
{
	const struct ntrace_rvfi_change *change = find_of_trap(rvfi, next, id);

	return change && rvfi->known[change->id] == rvfi->xlen_mask &&
	       value_before(change) != rvfi->value[change->id] &&
	       !writes_itself(&rvfi->held.rvfi, change->id);
}

/* Whether the next retirement is where the held instruction cannot continue, as far as that is known. */
static bool is_elsewhere(const struct ntrace_tandem_rvfi *rvfi, const struct retirement *next)
{
	const struct ntrace_isa isa = { .xlen = (uint8_t)rvfi->config.params.xlen,
					.compressed = true };
	const struct ntrace_rvfi *held = &rvfi->held.rvfi;
	uint64_t pc = next->rvfi.pc_rdata, target;
	struct exec_insn insn;
	unsigned int from;

	if (held->has & NTRACE_RVFI_HAS_NEXT_PC)
		return (held->pc_wdata ^ pc) & rvfi->xlen_mask;
	exec_decode(&isa, rvfi->config.params.flen, (uint32_t)held->insn, &insn);
	target = held->pc_rdata + insn.size;
	switch (insn.kind) {
	case EXEC_TRAP_RETURN:
	case EXEC_JUMP_REGISTER:
		from = insn.kind == EXEC_JUMP_REGISTER ? GPR + insn.rs1 :
		       held->insn == MRET	       ? MEPC :
							 SEPC;
		if (from != GPR && rvfi->known[from] != rvfi->xlen_mask)
			return false;
		target = (rvfi->value[from] + (uint64_t)insn.imm) & ~UINT64_C(1);
		break;
	case EXEC_JUMP:
	case EXEC_BRANCH:
		if (insn.kind == EXEC_BRANCH && !((target ^ pc) & rvfi->xlen_mask))
			return false;
		target = held->pc_rdata + (uint64_t)insn.imm;
		break;
	default:
		if (!exec_is_sequential(&insn))
			return false;
		break;
	}
	return (target ^ pc) & rvfi->xlen_mask;
}

/* Whether a trap was taken between the held instruction, which retired, and the next one. */
static bool is_between(const struct ntrace_tandem_rvfi *rvfi, const struct retirement *next)
{
	const struct ntrace_rvfi_change *cause;

	if (!rvfi->holding || rvfi->held.rvfi.trap)
		return false;
	if (next->rvfi.has & NTRACE_RVFI_HAS_INTR)
		return next->rvfi.intr;
	/* A source without intr shows the trap by what it wrote, or by a pc that is not the expected one. */
	cause = find_of_trap(rvfi, next, MCAUSE);
	if (!cause || !(value_before(cause) >> (rvfi->config.params.xlen - 1) & 1))
		return false;
	return (cause->wmask & ~cause->rmask) || has_changed(rvfi, next, MCAUSE) ||
	       has_changed(rvfi, next, MEPC) || is_elsewhere(rvfi, next);
}

/*
 * What the next retirement gives of the registers before it.
 * @of_trap: a trap came before it: what it wrote belongs to the group although its value is the old one
 */
static void add_earlier_writes(struct ntrace_tandem_rvfi *rvfi, const struct retirement *next,
			       bool of_trap)
{
	for (size_t i = 0; i < next->rvfi.change_count; i++) {
		const struct ntrace_rvfi_change *change = &next->changes[i];
		uint64_t mask = change->rmask, old = rvfi->value[change->id];
		uint64_t known = rvfi->known[change->id];
		bool trap_register = of_trap && is_of_trap(change->id);

		if (trap_register && !writes_itself(&next->rvfi, change->id))
			mask |= change->wmask;
		learn(rvfi, change->id, mask, value_before(change));
		if (trap_register ?
			    gives_before(rvfi, next, change) :
			    old != rvfi->value[change->id] || known != rvfi->known[change->id])
			add_register(rvfi, change->id);
	}
}

/* ---- groups ---- */

/* What the held instruction wrote. */
static int add_effects(struct ntrace_tandem_rvfi *rvfi)
{
	const struct ntrace_rvfi *held = &rvfi->held.rvfi;
	int error = 0;

	if ((held->insn & 3) == 3)
		add(rvfi, NTRACE_TANDEM_INSN32, 0, held->insn & UINT32_MAX);
	else
		add(rvfi, NTRACE_TANDEM_INSN16, 0, held->insn & UINT16_MAX);
	if (held->insn >> ((held->insn & 3) == 3 ? 32 : 16))
		error = report(rvfi, NTRACE_RVFI_INSN, held, held->insn, 0);
	if (!error && !held->trap && (held->mem_rmask || held->mem_wmask))
		error = add_access(rvfi, held);
	/* The address of the access is derived from the registers before rd is written. */
	if (held->rd_addr) {
		learn(rvfi, GPR + held->rd_addr, rvfi->xlen_mask, held->rd_wdata);
		add_register(rvfi, GPR + held->rd_addr);
	} else if (held->rd_wdata && !error) {
		error = report(rvfi, NTRACE_RVFI_ZERO, held, held->rd_wdata, 0);
	}
	for (size_t i = 0; i < held->change_count; i++) {
		const struct ntrace_rvfi_change *change = &rvfi->held.changes[i];

		if (!change->wmask)
			continue;
		learn(rvfi, change->id, change->wmask, change->wdata);
		add_register(rvfi, change->id);
	}
	return error;
}

static void add_next_pc(struct ntrace_tandem_rvfi *rvfi, uint64_t next)
{
	const struct ntrace_rvfi *held = &rvfi->held.rvfi;
	unsigned int bytes = (held->insn & 3) == 3 ? 4 : 2;

	next &= rvfi->xlen_mask;
	if (next == ((held->pc_rdata + bytes) & rvfi->xlen_mask))
		add(rvfi, NTRACE_TANDEM_NEXT_PC, 0, 0);
	else
		add_state(rvfi, NTRACE_TANDEM_STATE_PC, next);
}

/* A trap between two instructions: an interrupt, or an instruction that trapped and is left out. */
static int write_trap(struct ntrace_tandem_rvfi *rvfi, const struct retirement *next)
{
	bool known = find_of_trap(rvfi, next, MCAUSE);
	int error = 0;

	begin(rvfi);
	if (!known) {
		add(rvfi, NTRACE_TANDEM_INIT, 0, 0);
		error = report(rvfi, NTRACE_RVFI_CAUSE, &next->rvfi, 0, 0);
	}
	add_state(rvfi, NTRACE_TANDEM_STATE_PC, next->rvfi.pc_rdata & rvfi->xlen_mask);
	if (next->rvfi.has & NTRACE_RVFI_HAS_MODE)
		add_state(rvfi, NTRACE_TANDEM_STATE_PRIV, next->rvfi.mode);
	add_earlier_writes(rvfi, next, true);
	return error ? error : end(rvfi);
}

/* The privilege between a trap return and another trap, which has stacked it. */
static void add_stacked_mode(struct ntrace_tandem_rvfi *rvfi, const struct retirement *next)
{
	const struct ntrace_rvfi_change *status = find_of_trap(rvfi, next, MSTATUS);
	uint32_t insn = (uint32_t)rvfi->held.rvfi.insn;
	unsigned int mode;

	if (!(next->rvfi.has & NTRACE_RVFI_HAS_MODE) || !status || (insn != MRET && insn != SRET))
		return;
	mode = value_before(status) >> (next->rvfi.mode == 3 ? 11 : 8) &
	       (next->rvfi.mode == 3 ? 3 : 1);
	if (mode != rvfi->held.rvfi.mode)
		add_state(rvfi, NTRACE_TANDEM_STATE_PRIV, mode);
}

/*
 * The pc after the held instruction: pc_wdata if a trap follows, or what the trap wrote to xepc; else
 * where execution went on.
 */
static void add_pc_after(struct ntrace_tandem_rvfi *rvfi, const struct retirement *next,
			 bool between)
{
	const struct ntrace_rvfi *held = &rvfi->held.rvfi;
	const struct ntrace_rvfi_change *epc = find_of_trap(rvfi, next, MEPC);

	if (!between)
		add_next_pc(rvfi, next->rvfi.pc_rdata);
	else if (held->has & NTRACE_RVFI_HAS_NEXT_PC)
		add_next_pc(rvfi, held->pc_wdata);
	else if (epc)
		add_next_pc(rvfi, value_before(epc));
}

/*
 * A trap writes the address of its instruction to xepc. @next may be a handler behind the instruction, so
 * that only xepc shows that there was no trap.
 */
static int check_trap(struct ntrace_tandem_rvfi *rvfi, const struct retirement *next)
{
	const struct ntrace_rvfi *held = &rvfi->held.rvfi;
	const struct ntrace_rvfi_change *epc = find_of_trap(rvfi, next, MEPC);
	uint64_t mask = rvfi->xlen_mask, after = held->pc_rdata + ((held->insn & 3) == 3 ? 4 : 2);

	if (!held->trap || !epc || ((next->rvfi.pc_rdata ^ after) & mask) ||
	    !((value_before(epc) ^ held->pc_rdata) & mask))
		return 0;
	return report(rvfi, NTRACE_RVFI_TRAP, held, value_before(epc), held->pc_rdata & mask);
}

/* The group of the held instruction, which @next follows. */
static int write_held(struct ntrace_tandem_rvfi *rvfi, const struct retirement *next)
{
	const struct ntrace_rvfi *held = &rvfi->held.rvfi;
	bool between = is_between(rvfi, next), has_next = held->has & NTRACE_RVFI_HAS_NEXT_PC;
	uint64_t expected = held->pc_wdata & rvfi->xlen_mask;
	uint64_t seen = next->rvfi.pc_rdata & rvfi->xlen_mask;
	int error;

	begin(rvfi);
	add_pc_after(rvfi, next, between);
	error = add_effects(rvfi);
	/* What changed without an instruction, such as mip, is known to the trap that follows. */
	if (!between)
		add_earlier_writes(rvfi, next, held->trap);
	if (between)
		add_stacked_mode(rvfi, next);
	else if ((next->rvfi.has & NTRACE_RVFI_HAS_MODE) && held->mode != next->rvfi.mode)
		add_state(rvfi, NTRACE_TANDEM_STATE_PRIV, next->rvfi.mode);
	if (!error)
		error = end(rvfi);
	if (!error && !between && !held->trap && has_next && seen != expected)
		error = report(rvfi, NTRACE_RVFI_PC, &next->rvfi, seen, expected);
	if (!error)
		error = check_trap(rvfi, next);
	return error || !between ? error : write_trap(rvfi, next);
}

/* The state before the first instruction. A source that gives what is read gives all that is used. */
static int write_start(struct ntrace_tandem_rvfi *rvfi, const struct retirement *first)
{
	begin(rvfi);
	add(rvfi, NTRACE_TANDEM_INIT, 0, 0);
	add_state(rvfi, NTRACE_TANDEM_STATE_PC, first->rvfi.pc_rdata & rvfi->xlen_mask);
	if (first->rvfi.has & NTRACE_RVFI_HAS_MODE)
		add_state(rvfi, NTRACE_TANDEM_STATE_PRIV, first->rvfi.mode);
	for (unsigned int id = GPR + 1; id < FPR && (first->rvfi.has & NTRACE_RVFI_HAS_SOURCES);
	     id++)
		add(rvfi, NTRACE_TANDEM_REGISTER, id, 0);
	add_earlier_writes(rvfi, first, false);
	rvfi->started = true;
	return end(rvfi);
}

/* A register that is read must have the value written last; before that, the one it has is given. */
static int add_source(struct ntrace_tandem_rvfi *rvfi, const struct ntrace_rvfi *next,
		      unsigned int number, uint64_t data)
{
	unsigned int id = GPR + number;

	data &= rvfi->xlen_mask;
	if (!number)
		return data ? report(rvfi, NTRACE_RVFI_ZERO, next, data, 0) : 0;
	if (rvfi->known[id])
		return rvfi->value[id] == data ?
			       0 :
			       report(rvfi, NTRACE_RVFI_SOURCE, next, data, rvfi->value[id]);
	learn(rvfi, id, rvfi->xlen_mask, data);
	if (!data)
		return 0;
	begin(rvfi);
	add(rvfi, NTRACE_TANDEM_INIT, 0, 0);
	add_register(rvfi, id);
	return end(rvfi);
}

static void hold(struct retirement *to, const struct ntrace_rvfi *retired,
		 const struct ntrace_rvfi_change *changes)
{
	to->rvfi = *retired;
	for (size_t i = 0; i < retired->change_count; i++)
		to->changes[i] = changes[i];
	to->rvfi.changes = NULL;
}

/* The next retirement in the order of the program. */
static int convert_next(struct ntrace_tandem_rvfi *rvfi, const struct retirement *next)
{
	bool trapped = rvfi->holding && (rvfi->held.rvfi.trap || is_between(rvfi, next));
	int error = 0;

	if (!rvfi->started)
		error = write_start(rvfi, next);
	else if (rvfi->holding)
		error = write_held(rvfi, next);
	if (!error && (next->rvfi.has & NTRACE_RVFI_HAS_SOURCES)) {
		error = add_source(rvfi, &next->rvfi, next->rvfi.rs1_addr, next->rvfi.rs1_rdata);
		if (!error)
			error = add_source(rvfi, &next->rvfi, next->rvfi.rs2_addr,
					   next->rvfi.rs2_rdata);
	}
	rvfi->held = *next;
	rvfi->holding = true;
	/* What the trap wrote is in its group. */
	for (size_t i = 0; i < next->rvfi.change_count && trapped; i++)
		if (is_of_trap(next->changes[i].id) &&
		    !writes_itself(&next->rvfi, next->changes[i].id))
			rvfi->held.changes[i].wmask = 0;
	return error ? error : next->rvfi.halt ? ntrace_tandem_rvfi_end(rvfi) : 0;
}

/* What came early and is next now. */
static int convert_waiting(struct ntrace_tandem_rvfi *rvfi)
{
	int error = 0;

	while (!error && rvfi->waits[rvfi->next_order % WINDOW]) {
		unsigned int slot = rvfi->next_order % WINDOW;

		rvfi->waits[slot] = false;
		rvfi->next_order++;
		error = convert_next(rvfi, &rvfi->window[slot]);
	}
	return error;
}

static int order_missing(struct ntrace_tandem_rvfi *rvfi, const struct ntrace_rvfi *at)
{
	int error = report(rvfi, NTRACE_RVFI_ORDER_MISSING, at, at->order, rvfi->next_order);

	return error ? error : NTRACE_ERR_FORMAT;
}

int ntrace_tandem_rvfi_retire(struct ntrace_tandem_rvfi *rvfi, const struct ntrace_rvfi *retired)
{
	struct ntrace_rvfi own;
	struct retirement next;
	int error;

	memset(&own, 0, sizeof(own));
	if (STRUCT_TAKE(&own, retired) || own.change_count > NTRACE_RVFI_CHANGES_MAX ||
	    own.rd_addr > 31 || own.rs1_addr > 31 || own.rs2_addr > 31 || own.mode > 3)
		return NTRACE_ERR_INVALID;
	for (size_t i = 0; i < own.change_count; i++)
		if (own.changes[i].id >= NTRACE_TANDEM_REGISTERS)
			return NTRACE_ERR_INVALID;
	if (!rvfi->started && !rvfi->next_order)
		rvfi->next_order = own.order;
	if (!(own.has & NTRACE_RVFI_HAS_ORDER))
		own.order = rvfi->next_order;
	if (own.order < rvfi->next_order ||
	    (own.order - rvfi->next_order < WINDOW && rvfi->waits[own.order % WINDOW]))
		return report(rvfi, NTRACE_RVFI_ORDER_REPEATED, &own, own.order, rvfi->next_order);
	if (own.order - rvfi->next_order >= WINDOW)
		return order_missing(rvfi, &own);
	if (own.order != rvfi->next_order) {
		hold(&rvfi->window[own.order % WINDOW], &own, own.changes);
		rvfi->waits[own.order % WINDOW] = true;
		return 0;
	}
	hold(&next, &own, own.changes);
	rvfi->next_order++;
	error = convert_next(rvfi, &next);
	return error ? error : convert_waiting(rvfi);
}

int ntrace_tandem_rvfi_end(struct ntrace_tandem_rvfi *rvfi)
{
	const struct ntrace_rvfi *held = &rvfi->held.rvfi;
	uint32_t insn = (uint32_t)held->insn;
	int error;

	for (unsigned int i = 0; i < WINDOW; i++) {
		unsigned int slot = (unsigned int)((rvfi->next_order + i) % WINDOW);

		if (rvfi->waits[slot])
			return order_missing(rvfi, &rvfi->window[slot].rvfi);
	}
	if (!rvfi->holding || held->trap || !(held->has & NTRACE_RVFI_HAS_NEXT_PC))
		return 0;
	/* Only the next retirement would show the privilege after a trap return. */
	if ((held->has & NTRACE_RVFI_HAS_MODE) && (insn == MRET || insn == SRET))
		return 0;
	rvfi->holding = false;
	begin(rvfi);
	add_next_pc(rvfi, held->pc_wdata);
	error = add_effects(rvfi);
	return error ? error : end(rvfi);
}
