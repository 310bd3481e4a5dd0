// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Memory accesses of a verification. Address and width of an access follow from the instruction and
 * the registers before it, and so does the data of a store. What the trace gives is compared with
 * them, and the data of an atomic with the model's memory after it.
 *
 * An element that the trace has never given (addresses, store data) is absent: its lack is no
 * difference. Instructions whose access is not derived here (vectors, push and pop, cache blocks,
 * loads of a hypervisor) are compared with the model's memory only.
 */
#include <string.h>

#include "exec/decode.h"
#include "verifier.h"

/* x0 is 0 in @from and @to of struct tandem_access. */
static unsigned int gpr(unsigned int number)
{
	return number ? GPR + number : 0;
}

void tandem_access_of(uint32_t word, unsigned int xlen, unsigned int flen,
		      struct tandem_access *access)
{
	const struct ntrace_isa isa = { .xlen = (uint8_t)xlen, .compressed = true };
	struct exec_insn insn;

	exec_decode(&isa, flen, word, &insn);
	*access = (struct tandem_access){ .bytes = insn.bytes,
					  .base = gpr(insn.rs1),
					  .offset = insn.imm,
					  .zero_extend = insn.zero_extend };
	switch (insn.kind) {
	case EXEC_LOAD:
		access->kind = TANDEM_ACCESS_LOAD;
		access->to = gpr(insn.rd);
		return;
	case EXEC_LOAD_FLOAT:
		access->kind = TANDEM_ACCESS_LOAD;
		access->to = FPR + insn.rd;
		return;
	case EXEC_STORE:
		access->kind = TANDEM_ACCESS_STORE;
		access->from = gpr(insn.rs2);
		return;
	case EXEC_STORE_FLOAT:
		access->kind = TANDEM_ACCESS_STORE;
		access->from = FPR + insn.rs2;
		return;
	case EXEC_LR:
		access->kind = TANDEM_ACCESS_LR;
		access->to = gpr(insn.rd);
		return;
	case EXEC_SC:
		access->kind = TANDEM_ACCESS_SC;
		access->from = gpr(insn.rs2);
		access->to = gpr(insn.rd);
		return;
	case EXEC_AMO:
	case EXEC_CAS:
		access->kind = TANDEM_ACCESS_AMO;
		access->to = gpr(insn.rd);
		return;
	default:
		break;
	}
	*access = (struct tandem_access){ .kind = TANDEM_ACCESS_NONE };
	/* An illegal instruction traps; one that is not known may access memory, and so may cache blocks. */
	if (insn.kind == EXEC_UNSUPPORTED || insn.kind == EXEC_PUSH || insn.kind == EXEC_POP ||
	    insn.kind == EXEC_BLOCK_ZERO || insn.kind == EXEC_VECTOR_LOAD ||
	    insn.kind == EXEC_VECTOR_STORE || (insn.kind == EXEC_NOP && (word & 0x707f) == 0x200f))
		access->kind = TANDEM_ACCESS_OTHER;
}

static uint64_t low_bytes(uint64_t value, unsigned int bytes)
{
	return bytes < 8 ? value & ((UINT64_C(1) << 8 * bytes) - 1) : value;
}

/* Whether the trace had given a general or floating-point register before the group; 0 is x0. */
static bool was_known(const struct ntrace_tandem_verifier *verifier, unsigned int id)
{
	return !id || verifier->before_known >> (id - GPR) & 1;
}

void tandem_derive_access(struct ntrace_tandem_verifier *verifier)
{
	const struct ntrace_tandem_state *state = &verifier->state;
	struct tandem_access *access = &verifier->access;

	memset(access, 0, sizeof(*access));
	verifier->base_known = verifier->from_known = false;
	if (!(state->has & NTRACE_TANDEM_HAS_INSN))
		return;
	tandem_access_of((uint32_t)state->insn, verifier->config.params.xlen,
			 verifier->config.params.flen, access);
	/* Zcmp: cm.push and cm.pop change sp, c.fsdsp does not. */
	if ((state->insn & 0xe003) == 0xa002 &&
	    (!(state->has & NTRACE_TANDEM_HAS_STORE) || ntrace_tandem_bit(state->changed, GPR + 2)))
		access->kind = TANDEM_ACCESS_OTHER;
	verifier->base_known = was_known(verifier, access->base);
	verifier->from_known = was_known(verifier, access->from);
	verifier->address =
		((access->base ? verifier->before[access->base] : 0) + (uint64_t)access->offset) &
		tandem_xlen_mask(verifier->config.params.xlen);
}

static bool derived(const struct ntrace_tandem_verifier *verifier)
{
	return verifier->access.kind != TANDEM_ACCESS_NONE &&
	       verifier->access.kind != TANDEM_ACCESS_OTHER && verifier->base_known;
}

/* Whether data addresses are physical: in M mode without MPRV, or without translation. */
static bool is_untranslated(const struct ntrace_tandem_verifier *verifier)
{
	uint64_t status = verifier->before[MSTATUS];

	if (!tandem_known(verifier, PRIV))
		return false;
	if (verifier->before[PRIV] == PRIV_M) {
		if (!tandem_known(verifier, MSTATUS))
			return false;
		if (!(status & MSTATUS_MPRV) || (status >> 11 & 3) == PRIV_M)
			return true;
	}
	return tandem_known(verifier, SATP) &&
	       tandem_is_bare(verifier->before, verifier->state.known,
			      verifier->config.params.xlen);
}

/* Return: whether the address of the access is known, by the trace or by derivation */
static bool device_address(const struct ntrace_tandem_verifier *verifier, uint64_t *address)
{
	const struct ntrace_tandem_state *state = &verifier->state;

	if ((state->has & NTRACE_TANDEM_HAS_PADDR) && !is_untranslated(verifier))
		*address = state->paddr;
	else if (derived(verifier))
		*address = verifier->address;
	else if (state->has & NTRACE_TANDEM_HAS_PADDR)
		*address = state->paddr;
	else if (state->has & NTRACE_TANDEM_HAS_EADDR)
		*address = state->eaddr;
	else
		return false;
	return true;
}

bool tandem_is_device(const struct ntrace_tandem_verifier *verifier)
{
	uint64_t address;

	if (!device_address(verifier, &address))
		return false;
	for (size_t i = 0; i < verifier->config.device_count; i++)
		if (address >= verifier->config.devices[i].first &&
		    address <= verifier->config.devices[i].last)
			return true;
	return false;
}

/* ---- bytes in doubt ---- */

static bool overlaps(const struct tandem_doubt *doubt, uint64_t address, unsigned int bytes)
{
	return doubt->bytes && address < doubt->address + doubt->bytes &&
	       doubt->address < address + bytes;
}

static void add_doubt(struct ntrace_tandem_verifier *verifier, uint64_t address)
{
	const struct ntrace_tandem_state *state = &verifier->state;
	struct tandem_doubt *doubt = &verifier->doubts[verifier->next_doubt++ % TANDEM_DOUBTS];

	doubt->address = address;
	doubt->bytes = state->store_bytes;
	for (unsigned int i = 0; i < state->store_bytes; i++)
		doubt->traced[i] = (uint8_t)(state->store >> 8 * i);
}

void tandem_drop_doubts(struct ntrace_tandem_verifier *verifier, uint64_t address,
			unsigned int bytes)
{
	for (unsigned int i = 0; i < TANDEM_DOUBTS; i++)
		if (overlaps(&verifier->doubts[i], address, bytes))
			verifier->doubts[i].bytes = 0;
}

static uint64_t from_bytes(const uint8_t *bytes, unsigned int size)
{
	uint64_t value = 0;

	while (size--)
		value = value << 8 | bytes[size];
	return value;
}

/* The value of the loaded register with these bytes. */
static uint64_t loaded(const struct ntrace_tandem_verifier *verifier, const uint8_t *bytes)
{
	const struct tandem_access *access = &verifier->access;
	uint64_t value = from_bytes(bytes, access->bytes);
	unsigned int width = 8 * access->bytes;

	if (access->to >= FPR)
		return width < 64 && verifier->config.params.flen == 64 ?
			       value | UINT64_MAX << width :
			       value;
	if (!access->zero_extend && width < 64 && value >> (width - 1) & 1)
		value |= UINT64_MAX << width;
	return value & tandem_xlen_mask(verifier->config.params.xlen);
}

int tandem_settle_load(struct ntrace_tandem_verifier *verifier)
{
	const struct ntrace_tandem_model *model = &verifier->config.model;
	const struct tandem_access *access = &verifier->access;
	uint64_t traced = verifier->state.reg[access->to], held = 0;
	uint16_t number = (uint16_t)access->to;
	uint8_t bytes[8];
	bool found = false;
	int error;

	if ((access->kind != TANDEM_ACCESS_LOAD && access->kind != TANDEM_ACCESS_LR) ||
	    !access->to || !derived(verifier) || !model->read_memory || !model->write_memory ||
	    !model->write_registers)
		return 0;
	for (unsigned int i = 0; i < TANDEM_DOUBTS; i++)
		found |= overlaps(&verifier->doubts[i], verifier->address, access->bytes);
	if (!found)
		return 0;
	error = model->read_memory(model->data, verifier->address, bytes, access->bytes);
	if (!error)
		error = model->read_registers(model->data, &number, &held, 1);
	if (error || held == traced)
		return error == NTRACE_ERR_NOMAP ? 0 : error;
	for (unsigned int i = 0; i < TANDEM_DOUBTS; i++)
		for (unsigned int k = 0; k < verifier->doubts[i].bytes; k++)
			if (verifier->doubts[i].address + k - verifier->address < access->bytes)
				bytes[verifier->doubts[i].address + k - verifier->address] =
					verifier->doubts[i].traced[k];
	if (loaded(verifier, bytes) != traced)
		return 0;
	tandem_drop_doubts(verifier, verifier->address, access->bytes);
	error = model->write_memory(model->data, verifier->address, bytes, access->bytes);
	return error ? error : model->write_registers(model->data, &number, &traced, 1);
}

/* ---- comparison ---- */

static int differ(struct ntrace_tandem_verifier *verifier, unsigned int rule, unsigned int kind,
		  uint64_t address, uint64_t seen, uint64_t expected)
{
	struct ntrace_tandem_mismatch mismatch = {
		.kind = kind, .address = address, .seen = seen, .expected = expected
	};

	return tandem_report(verifier, rule, &mismatch);
}

/*
 * Whether the instruction took a trap instead of retiring. A trace without xcause shows it by the
 * pc: an access continues with the next instruction.
 */
static bool took_trap(const struct ntrace_tandem_verifier *verifier)
{
	const struct ntrace_tandem_state *state = &verifier->state;
	uint64_t mask = tandem_xlen_mask(verifier->config.params.xlen);
	uint64_t passed = (state->reg[PC] - verifier->before[PC]) & mask;

	if (verifier->access.kind != TANDEM_ACCESS_NONE &&
	    verifier->access.kind != TANDEM_ACCESS_OTHER && passed != 2 && passed != 4)
		return true;
	return !tandem_is_csr(state) && (ntrace_tandem_bit(state->changed, MCAUSE) ||
					 ntrace_tandem_bit(state->changed, SCAUSE) ||
					 ntrace_tandem_bit(state->changed, 0x242));
}

/* Return: 1 if the instruction stores, 0 if not, -1 if that is not known */
static int stores(const struct ntrace_tandem_verifier *verifier)
{
	const struct tandem_access *access = &verifier->access;

	switch (access->kind) {
	case TANDEM_ACCESS_STORE:
		return 1;
	case TANDEM_ACCESS_AMO:
		/* amocas stores if it finds the value. */
		return (verifier->state.insn >> 27 & 31) == 5 ? -1 : 1;
	case TANDEM_ACCESS_SC:
		if (!access->to || !tandem_known(verifier, access->to))
			return -1;
		return !verifier->state.reg[access->to];
	case TANDEM_ACCESS_OTHER:
		return -1;
	default:
		return 0;
	}
}

/*
 * An element that the group should have. One that the trace never gives for this kind of access is
 * absent, which is known only when it is given for the first time.
 */
static int check_element(struct ntrace_tandem_verifier *verifier, struct tandem_element *element,
			 bool has)
{
	const struct ntrace_tandem_state *state = &verifier->state;
	struct ntrace_tandem_mismatch lack = {
		.kind = NTRACE_TANDEM_DIFFERENT_ACCESS,
		.address = verifier->address,
		.seen = state->has & NTRACE_TANDEM_HAS_STORE ? state->store_bytes : 0,
		.expected = verifier->access.bytes,
	};
	bool first = has && !element->given;

	tandem_locate(verifier, &lack);
	tandem_judge(verifier, NTRACE_TANDEM_RULE_ACCESS_MISSING);
	element->given |= has;
	if (first && element->lacked)
		return tandem_report_located(verifier, NTRACE_TANDEM_RULE_ACCESS_MISSING,
					     &element->lack);
	if (has)
		return 0;
	if (element->given)
		return tandem_report_located(verifier, NTRACE_TANDEM_RULE_ACCESS_MISSING, &lack);
	if (!element->lacked)
		element->lack = lack;
	element->lacked = true;
	return 0;
}

/* What must be there and is not, or the other way. */
static int check_presence(struct ntrace_tandem_verifier *verifier)
{
	const struct ntrace_tandem_state *state = &verifier->state;
	const struct tandem_access *access = &verifier->access;
	unsigned int seen = state->has & NTRACE_TANDEM_HAS_STORE ? state->store_bytes : 0;
	bool address = state->has & (NTRACE_TANDEM_HAS_EADDR | NTRACE_TANDEM_HAS_PADDR);
	int must = stores(verifier), error = 0;

	if (access->kind == TANDEM_ACCESS_OTHER)
		return 0;
	tandem_judge(verifier, NTRACE_TANDEM_RULE_ACCESS_UNEXPECTED);
	if ((seen && !must) || (address && access->kind == TANDEM_ACCESS_NONE))
		return differ(verifier, NTRACE_TANDEM_RULE_ACCESS_UNEXPECTED,
			      NTRACE_TANDEM_DIFFERENT_ACCESS,
			      state->has & NTRACE_TANDEM_HAS_EADDR ? state->eaddr : state->paddr,
			      seen, 0);
	if (access->kind == TANDEM_ACCESS_NONE || (access->kind == TANDEM_ACCESS_SC && must != 1))
		return 0;
	if (must == 1 && access->bytes <= 8)
		error = check_element(verifier, &verifier->data[access->kind], seen);
	/* One report for an access that is missing as a whole. */
	if (!error && !verifier->differs)
		error = check_element(verifier, &verifier->addresses[access->kind],
				      state->has & NTRACE_TANDEM_HAS_EADDR);
	return error;
}

static int check_address(struct ntrace_tandem_verifier *verifier)
{
	const struct ntrace_tandem_state *state = &verifier->state;
	int error = 0;

	if (!derived(verifier))
		return 0;
	if (state->has & NTRACE_TANDEM_HAS_EADDR) {
		tandem_judge(verifier, NTRACE_TANDEM_RULE_ACCESS_ADDRESS);
		if (state->eaddr != verifier->address)
			error = differ(verifier, NTRACE_TANDEM_RULE_ACCESS_ADDRESS,
				       NTRACE_TANDEM_DIFFERENT_ADDRESS, verifier->address,
				       state->eaddr, verifier->address);
	}
	if (!error && (state->has & NTRACE_TANDEM_HAS_PADDR) && is_untranslated(verifier)) {
		tandem_judge(verifier, NTRACE_TANDEM_RULE_ACCESS_PHYSICAL);
		if (state->paddr != verifier->address)
			error = differ(verifier, NTRACE_TANDEM_RULE_ACCESS_PHYSICAL,
				       NTRACE_TANDEM_DIFFERENT_ADDRESS, verifier->address,
				       state->paddr, verifier->address);
	}
	return error;
}

/*
 * What the store should have written: what the model's memory has after it, or the register.
 * @known: receives whether either is known
 */
static int expected_store(struct ntrace_tandem_verifier *verifier, uint64_t address,
			  uint64_t *value, bool *known)
{
	const struct ntrace_tandem_model *model = &verifier->config.model;
	const struct tandem_access *access = &verifier->access;
	unsigned int size = verifier->state.store_bytes;
	uint8_t bytes[8];
	int error = NTRACE_ERR_NOMAP;

	if (model->read_memory && !tandem_is_device(verifier))
		error = model->read_memory(model->data, address, bytes, size);
	*known = !error;
	if (!error)
		*value = from_bytes(bytes, size);
	if (error != NTRACE_ERR_NOMAP)
		return error;
	if ((access->kind == TANDEM_ACCESS_STORE || access->kind == TANDEM_ACCESS_SC) &&
	    verifier->from_known) {
		*value = access->from ? low_bytes(verifier->before[access->from], size) : 0;
		*known = true;
	}
	return 0;
}

/* @same: receives whether width and data of the store are as expected */
static int check_data(struct ntrace_tandem_verifier *verifier, uint64_t address, bool *same)
{
	const struct ntrace_tandem_state *state = &verifier->state;
	const struct tandem_access *access = &verifier->access;
	uint64_t expected = 0;
	bool known = false;
	int error;

	*same = false;
	if (derived(verifier)) {
		tandem_judge(verifier, NTRACE_TANDEM_RULE_ACCESS_WIDTH);
		if (access->bytes != state->store_bytes)
			return differ(verifier, NTRACE_TANDEM_RULE_ACCESS_WIDTH,
				      NTRACE_TANDEM_DIFFERENT_WIDTH, address, state->store_bytes,
				      access->bytes);
	}
	error = expected_store(verifier, address, &expected, &known);
	*same = !error && (!known || expected == state->store);
	if (error || !known)
		return error;
	tandem_judge(verifier, NTRACE_TANDEM_RULE_STORE);
	if (*same)
		return 0;
	return differ(verifier, NTRACE_TANDEM_RULE_STORE, NTRACE_TANDEM_DIFFERENT_STORE, address,
		      state->store, expected);
}

/* A store of an interrupt, of an exception of the fetch, or of an instruction that makes none and traps. */
static int check_trap(struct ntrace_tandem_verifier *verifier)
{
	const struct ntrace_tandem_state *state = &verifier->state;

	if ((state->has & NTRACE_TANDEM_HAS_INSN) && verifier->access.kind != TANDEM_ACCESS_NONE)
		return 0;
	tandem_judge(verifier, NTRACE_TANDEM_RULE_ACCESS_UNEXPECTED);
	if (!(state->has & NTRACE_TANDEM_HAS_STORE))
		return 0;
	return differ(verifier, NTRACE_TANDEM_RULE_ACCESS_UNEXPECTED,
		      NTRACE_TANDEM_DIFFERENT_ACCESS,
		      state->has & NTRACE_TANDEM_HAS_EADDR ? state->eaddr : state->paddr,
		      state->store_bytes, 0);
}

int tandem_check_access(struct ntrace_tandem_verifier *verifier)
{
	const struct ntrace_tandem_state *state = &verifier->state;
	uint64_t given = state->has & NTRACE_TANDEM_HAS_EADDR ? state->eaddr : state->paddr;
	bool has_given = state->has & (NTRACE_TANDEM_HAS_EADDR | NTRACE_TANDEM_HAS_PADDR), same;
	uint64_t address = derived(verifier) ? verifier->address : given;
	int error;

	if (!(state->has & NTRACE_TANDEM_HAS_INSN) || took_trap(verifier))
		return check_trap(verifier);
	error = check_presence(verifier);
	if (!error)
		error = check_address(verifier);
	if (error || !(state->has & NTRACE_TANDEM_HAS_STORE) || !stores(verifier) ||
	    (!derived(verifier) && !has_given))
		return error;
	error = check_data(verifier, address, &same);
	if (!same || (has_given && given != address && (state->has & NTRACE_TANDEM_HAS_EADDR)))
		add_doubt(verifier, has_given ? given : address);
	else
		tandem_drop_doubts(verifier, address, state->store_bytes);
	return error;
}
