// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Verifies a tandem trace: S is the state that the trace describes, V that of the model.
 *
 * For each group with an instruction: the instruction in V's memory must be the traced one, V gets
 * the non-deterministic state, executes one instruction, and V is compared with S. After a
 * difference all of S is copied to V. access.c has the rules of memory accesses, interrupt.c takes
 * interrupts, chosen.c has what the trace decides.
 */
#include <stdlib.h>
#include <string.h>

#include "grow.h"
#include "struct_size.h"
#include "verifier.h"

#define WFI 0x10500073

/* Linux: numbers of the system calls that change the memory map, which all architectures share that
 * came after them; flags of mmap. */
enum {
	CALL_BRK = 214,
	CALL_MUNMAP = 215,
	CALL_MREMAP = 216,
	CALL_MMAP = 222,
	CALL_MPROTECT = 226,
	CALL_MADVISE = 233,
	PRIVATE_FIXED_ANONYMOUS = 0x32,
	SHARED_OR_PRIVATE = 0x3,
};

void ntrace_tandem_verify_config_init(struct ntrace_tandem_verify_config *config)
{
#define FOUR(first)                                                                          \
	{ (first), UINT64_MAX }, { (first) + 1, UINT64_MAX }, { (first) + 2, UINT64_MAX }, \
	{                                                                                  \
		(first) + 3, UINT64_MAX                                                    \
	}
#define COUNTERS(first)                                                                    \
	FOUR(first), FOUR((first) + 4), FOUR((first) + 8), FOUR((first) + 12),             \
		FOUR((first) + 16), FOUR((first) + 20), FOUR((first) + 24), FOUR((first) + 28)
	/* Counters of M mode, those that other modes see (with time), and the upper halves of RV32 */
	static const struct ntrace_tandem_mask chosen[] = {
		{ MIP, UINT64_MAX }, { SIP, UINT64_MAX }, COUNTERS(0xb00),
		COUNTERS(0xb80),     COUNTERS(0xc00),	  COUNTERS(0xc80),
	};
#undef COUNTERS
#undef FOUR

	memset(config, 0, sizeof(*config));
	config->size = sizeof(*config);
	ntrace_tandem_params_init(&config->params);
	config->full_interval = 1000;
	config->pending_limit = 1000;
	config->chosen = chosen;
	config->chosen_count = sizeof(chosen) / sizeof(chosen[0]);
}

int ntrace_tandem_verifier_new(struct ntrace_tandem_verifier **result,
			       const struct ntrace_tandem_verify_config *callers)
{
	struct ntrace_tandem_verify_config config;
	struct ntrace_tandem_verifier *verifier;
	unsigned int id;
	size_t i;

	ntrace_tandem_verify_config_init(&config);
	if (STRUCT_TAKE(&config, callers) || ntrace_tandem_params_refusal(&config.params) ||
	    !config.model.read_registers || !config.model.step || !config.mismatch ||
	    (config.model.xlen && config.model.xlen != config.params.xlen))
		return NTRACE_ERR_INVALID;
	verifier = calloc(1, sizeof(*verifier));
	if (!verifier)
		return NTRACE_ERR_NOMEM;
	verifier->config = config;
	ntrace_tandem_state_init(&verifier->state, &config.params);
	for (id = 0; id < REGISTERS; id++)
		verifier->compared[id] = UINT64_MAX;
	for (i = 0; i < config.chosen_count; i++)
		if (config.chosen[i].id < REGISTERS)
			verifier->compared[config.chosen[i].id] &= ~config.chosen[i].mask;
	verifier->exists[GPR] = 2;
	*result = verifier;
	return 0;
}

void ntrace_tandem_verifier_free(struct ntrace_tandem_verifier *verifier)
{
	if (verifier)
		free(verifier->requests);
	free(verifier);
}

void ntrace_tandem_verifier_stats(const struct ntrace_tandem_verifier *verifier,
				  struct ntrace_tandem_verify_stats *stats)
{
	*stats = verifier->stats;
}

int ntrace_tandem_verifier_rule(const struct ntrace_tandem_verifier *verifier, unsigned int rule,
				uint64_t *judged, uint64_t *broken)
{
	if (rule >= NTRACE_TANDEM_RULES)
		return NTRACE_ERR_INVALID;
	*judged = verifier->rules[rule].judged;
	*broken = verifier->rules[rule].broken;
	return 0;
}

int tandem_model_has(struct ntrace_tandem_verifier *verifier, unsigned int id)
{
	const struct ntrace_tandem_model *model = &verifier->config.model;
	uint16_t number = (uint16_t)id;
	uint64_t value;
	int error;

	if (!verifier->exists[id]) {
		error = model->read_registers(model->data, &number, &value, 1);
		if (error && error != NTRACE_ERR_UNSUPPORTED)
			return error;
		verifier->exists[id] = error ? 2 : 1;
	}
	return verifier->exists[id] == 1;
}

/* ---- the list of registers ---- */

bool tandem_is_absent(const struct ntrace_tandem_verifier *verifier, unsigned int id)
{
	for (size_t i = 0; i < verifier->config.absent_count; i++)
		if (verifier->config.absent[i] == id)
			return true;
	return false;
}

/* A register that the trace has never given cannot be compared. */
static int list(struct ntrace_tandem_verifier *verifier, unsigned int id)
{
	int found;

	if (!ntrace_tandem_bit(verifier->state.known, id) || tandem_is_absent(verifier, id))
		return 0;
	found = tandem_model_has(verifier, id);
	if (found > 0)
		verifier->ids[verifier->count++] = (uint16_t)id;
	return found < 0 ? found : 0;
}

static int list_range(struct ntrace_tandem_verifier *verifier, unsigned int first,
		      unsigned int last)
{
	int error = 0;

	for (unsigned int id = first; id <= last && !error; id++)
		error = list(verifier, id);
	return error;
}

static bool is_float(uint64_t insn)
{
	unsigned int opcode = insn & 0x7f;

	/* c.fld, c.fsd, c.fldsp, c.fsdsp */
	if ((insn & 3) != 3)
		return (insn & 3) != 1 && ((insn >> 13 & 7) == 1 || (insn >> 13 & 7) == 5);
	return opcode == 0x07 || opcode == 0x27 || opcode == 0x43 || opcode == 0x47 ||
	       opcode == 0x4b || opcode == 0x4f || opcode == 0x53;
}

static bool is_in_list(const struct ntrace_tandem_verifier *verifier, unsigned int id)
{
	for (size_t i = 0; i < verifier->count; i++)
		if (verifier->ids[i] == id)
			return true;
	return false;
}

/* Whether the group took a trap, or returned from one: all CSRs may have changed. */
static bool is_system(const struct ntrace_tandem_state *state)
{
	return !(state->has & NTRACE_TANDEM_HAS_INSN) || (state->insn & 0x7f) == 0x73 ||
	       ntrace_tandem_bit(state->changed, PRIV) ||
	       ntrace_tandem_bit(state->changed, MCAUSE) ||
	       ntrace_tandem_bit(state->changed, SCAUSE);
}

/* Lists what is compared after the group: what it changed, and what it may have changed. */
static int list_compared(struct ntrace_tandem_verifier *verifier, bool all)
{
	const struct ntrace_tandem_state *state = &verifier->state;
	int error;

	verifier->count = 0;
	error = list(verifier, PC);
	if (!error)
		error = list(verifier, PRIV);
	if (!error)
		error = list_range(verifier, GPR + 1, GPR + 31);
	if (!error && (all || is_system(state)))
		error = list_range(verifier, 0, 0xfff);
	else if (!error && is_float(state->insn))
		error = list(verifier, FCSR);
	if (!error && (all || is_float(state->insn)))
		error = list_range(verifier, FPR, FPR + 31);
	for (unsigned int word = 0; word < NTRACE_TANDEM_BITMAP_WORDS && !error; word++)
		for (uint64_t bits = state->changed[word]; bits && !error; bits &= bits - 1) {
			unsigned int id = word * 64 + (unsigned int)__builtin_ctzll(bits);

			if (!is_in_list(verifier, id))
				error = list(verifier, id);
		}
	return error;
}

/* ---- differences ---- */

void tandem_locate(const struct ntrace_tandem_verifier *verifier,
		   struct ntrace_tandem_mismatch *mismatch)
{
	const struct ntrace_tandem_state *state = &verifier->state;

	mismatch->group = verifier->stats.groups ? verifier->stats.groups - 1 : 0;
	mismatch->offset = state->offset;
	mismatch->pc = verifier->before[PC];
	mismatch->insn = state->insn;
	mismatch->insn_bytes = state->has & NTRACE_TANDEM_HAS_INSN ? state->insn_bytes : 0;
}

int tandem_report_located(struct ntrace_tandem_verifier *verifier, unsigned int rule,
			  struct ntrace_tandem_mismatch *mismatch)
{
	mismatch->rule = rule;
	if (!verifier->differs)
		verifier->stats.mismatched++;
	verifier->differs = true;
	verifier->stats.differences++;
	verifier->rules[rule].broken++;
	return verifier->config.mismatch(verifier->config.user, mismatch);
}

int tandem_report(struct ntrace_tandem_verifier *verifier, unsigned int rule,
		  struct ntrace_tandem_mismatch *mismatch)
{
	tandem_locate(verifier, mismatch);
	return tandem_report_located(verifier, rule, mismatch);
}

static int report_register(struct ntrace_tandem_verifier *verifier, unsigned int id, uint64_t seen,
			   uint64_t expected)
{
	struct ntrace_tandem_mismatch mismatch = {
		.kind = verifier->interrupt ? NTRACE_TANDEM_DIFFERENT_TRAP :
					      NTRACE_TANDEM_DIFFERENT_REGISTER,
		.id = id,
		.seen = seen,
		.expected = expected,
	};

	return tandem_report(verifier, tandem_register_rule(verifier, id), &mismatch);
}

static int report_format(struct ntrace_tandem_verifier *verifier, unsigned int problems)
{
	struct ntrace_tandem_mismatch mismatch = { .kind = NTRACE_TANDEM_DIFFERENT_FORMAT,
						   .problems = problems };

	return tandem_report(verifier, NTRACE_TANDEM_RULE_FORMAT, &mismatch);
}

/* Writes registers of S to the model. */
static int write_listed(struct ntrace_tandem_verifier *verifier)
{
	const struct ntrace_tandem_model *model = &verifier->config.model;

	if (!verifier->count)
		return 0;
	if (!model->write_registers)
		return NTRACE_ERR_UNSUPPORTED;
	for (size_t i = 0; i < verifier->count; i++)
		verifier->values[i] = verifier->state.reg[verifier->ids[i]];
	return model->write_registers(model->data, verifier->ids, verifier->values,
				      verifier->count);
}

/* Lists what the group changed and the model has. */
static int list_changed(struct ntrace_tandem_verifier *verifier)
{
	int error = 0;

	verifier->count = 0;
	for (unsigned int word = 0; word < NTRACE_TANDEM_BITMAP_WORDS && !error; word++)
		for (uint64_t bits = verifier->state.changed[word]; bits && !error;
		     bits &= bits - 1)
			error = list(verifier, word * 64 + (unsigned int)__builtin_ctzll(bits));
	return error;
}

/*
 * A trace that does not give what a trap stacks cannot say where a jump right before an interrupt went, nor
 * the privilege that a trap return entered. Without such a trap the lack is reported, with the next group;
 * at once in a trace that gives xepc and mstatus also without a trap.
 */
static bool is_left_out(const struct ntrace_tandem_verifier *verifier, unsigned int id)
{
	const struct ntrace_tandem_state *state = &verifier->state;
	const uint64_t *given = verifier->given_alone;

	if (id == PC)
		return !(state->has & NTRACE_TANDEM_HAS_PC) && !ntrace_tandem_bit(given, MEPC) &&
		       !ntrace_tandem_bit(given, SEPC);
	return id == PRIV && (state->has & NTRACE_TANDEM_HAS_INSN) &&
	       (state->insn == MRET || state->insn == SRET) && !ntrace_tandem_bit(given, MSTATUS) &&
	       !ntrace_tandem_bit(state->changed, PRIV);
}

/* Keeps the difference of a register for the next group. */
static void keep_lack(struct ntrace_tandem_verifier *verifier, unsigned int id, uint64_t expected)
{
	struct ntrace_tandem_mismatch *lack = &verifier->lacks[verifier->lack_count++];

	*lack = (struct ntrace_tandem_mismatch){ .kind = NTRACE_TANDEM_DIFFERENT_REGISTER,
						 .id = id,
						 .seen = verifier->state.reg[id],
						 .expected = expected };
	lack->rule = tandem_register_rule(verifier, id);
	tandem_locate(verifier, lack);
	verifier->state.reg[id] = expected;
}

/* @trap: the group after it is a trap between two instructions */
static int report_lacks(struct ntrace_tandem_verifier *verifier, bool trap)
{
	unsigned int count = verifier->lack_count;
	int error = 0;

	verifier->lack_count = 0;
	for (unsigned int i = 0; i < count && !trap && !error; i++)
		error = tandem_report_located(verifier, verifier->lacks[i].rule,
					      &verifier->lacks[i]);
	return error;
}

/* Reads V and reports what differs; keeps the differing registers in the list. */
static int compare(struct ntrace_tandem_verifier *verifier, bool quiet)
{
	const struct ntrace_tandem_model *model = &verifier->config.model;
	size_t kept = 0;
	int error;

	if (!verifier->count)
		return 0;
	error = model->read_registers(model->data, verifier->ids, verifier->values,
				      verifier->count);
	for (size_t i = 0; i < verifier->count && !error; i++) {
		unsigned int id = verifier->ids[i];
		uint64_t seen = verifier->state.reg[id], expected = verifier->values[i];

		if (!quiet && verifier->compared[id])
			tandem_judge(verifier, tandem_register_rule(verifier, id));
		if (!((seen ^ expected) & verifier->compared[id]))
			continue;
		if (!quiet && is_left_out(verifier, id)) {
			keep_lack(verifier, id, expected);
			continue;
		}
		if (!quiet)
			error = report_register(verifier, id, seen, expected);
		verifier->ids[kept++] = (uint16_t)id;
	}
	verifier->count = kept;
	return error;
}

/* After a difference: all of S is copied to V, as far as it differs. */
static int recover(struct ntrace_tandem_verifier *verifier)
{
	int error = list_compared(verifier, true);

	if (!error)
		error = compare(verifier, true);
	return error ? error : write_listed(verifier);
}

/* ---- memory ---- */

/*
 * The traced instruction must be the one in V's memory. An instruction of 16 bits may be sent with
 * 32, of which only its own are compared.
 */
static int check_insn(struct ntrace_tandem_verifier *verifier)
{
	const struct ntrace_tandem_model *model = &verifier->config.model;
	const struct ntrace_tandem_state *state = &verifier->state;
	struct ntrace_tandem_mismatch mismatch = { .kind = NTRACE_TANDEM_DIFFERENT_INSN };
	unsigned int size = (state->insn & 3) == 3 ? state->insn_bytes : 2;
	uint8_t bytes[4];
	int error;

	if (!model->read_memory)
		return 0;
	mismatch.address = verifier->before[PC];
	error = model->read_memory(model->data, mismatch.address, bytes, size);
	if (error)
		return error == NTRACE_ERR_NOMAP ? 0 : error;
	for (unsigned int i = 0; i < size; i++)
		mismatch.expected |= (uint64_t)bytes[i] << 8 * i;
	mismatch.seen = size == 2 ? state->insn & 0xffff : state->insn;
	tandem_judge(verifier, NTRACE_TANDEM_RULE_INSN);
	return mismatch.seen == mismatch.expected ?
		       0 :
		       tandem_report(verifier, NTRACE_TANDEM_RULE_INSN, &mismatch);
}

/* ---- system calls of a program in user mode ---- */

static bool is_call(const struct ntrace_tandem_verifier *verifier)
{
	return (verifier->config.flags & NTRACE_TANDEM_VERIFY_LINUX_USER) &&
	       (verifier->state.has & NTRACE_TANDEM_HAS_INSN) && verifier->state.insn == ECALL;
}

static int write_arguments(struct ntrace_tandem_verifier *verifier, const uint64_t *values)
{
	/* a0, a3, a4 */
	static const uint16_t ids[3] = { GPR + 10, GPR + 13, GPR + 14 };
	const struct ntrace_tandem_model *model = &verifier->config.model;

	return model->write_registers(model->data, ids, values, 3);
}

/*
 * The model has no files, and other addresses may be free: it maps new memory at the address of the
 * trace, which also has the content. a3 and a4 do not change.
 */
static int map_memory(struct ntrace_tandem_verifier *verifier)
{
	const struct ntrace_tandem_model *model = &verifier->config.model;
	const uint64_t *reg = verifier->state.reg;
	uint64_t flags = (reg[GPR + 13] & ~(uint64_t)SHARED_OR_PRIVATE) | PRIVATE_FIXED_ANONYMOUS;
	int error = write_arguments(verifier, (uint64_t[3]){ reg[GPR + 10], flags, UINT64_MAX });

	if (!error)
		error = model->step(model->data);
	if (error)
		return error;
	return write_arguments(verifier,
			       (uint64_t[3]){ reg[GPR + 10], reg[GPR + 13], reg[GPR + 14] });
}

/* Return: whether the model executes the call, which has not failed */
static bool is_of_memory(const struct ntrace_tandem_verifier *verifier)
{
	uint64_t result = verifier->state.reg[GPR + 10];

	if (result > UINT64_MAX - 4096 ||
	    (verifier->config.params.xlen == 32 && result > UINT32_MAX - 4096))
		return false;
	switch (verifier->state.reg[GPR + 17]) {
	case CALL_BRK:
	case CALL_MUNMAP:
	case CALL_MREMAP:
	case CALL_MMAP:
	case CALL_MPROTECT:
	case CALL_MADVISE:
		return true;
	default:
		return false;
	}
}

static int call(struct ntrace_tandem_verifier *verifier)
{
	const struct ntrace_tandem_model *model = &verifier->config.model;
	int error = check_insn(verifier);

	verifier->stats.calls++;
	if (error)
		return error;
	if (!model->write_registers)
		return NTRACE_ERR_UNSUPPORTED;
	if (!is_of_memory(verifier)) {
		error = list_changed(verifier);
		return error ? error : write_listed(verifier);
	}
	if (verifier->state.reg[GPR + 17] == CALL_MMAP)
		error = map_memory(verifier);
	else
		error = model->step(model->data);
	if (!error)
		error = list_compared(verifier, false);
	return error ? error : compare(verifier, false);
}

/* ---- groups ---- */

/* Executes the instruction of the group in the model. */
static int step(struct ntrace_tandem_verifier *verifier)
{
	const struct ntrace_tandem_model *model = &verifier->config.model;
	const struct ntrace_tandem_state *state = &verifier->state;
	uint64_t interval = verifier->config.full_interval;
	bool full;
	int error = 0;

	if (state->has & NTRACE_TANDEM_HAS_INSN)
		error = check_insn(verifier);
	if (!error)
		error = tandem_write_inputs(verifier);
	if (error)
		return error;
	verifier->stats.steps++;
	/* A wfi that traps waits for nothing. */
	if ((model->flags & NTRACE_TANDEM_MODEL_WFI_BLOCKS) &&
	    (state->has & NTRACE_TANDEM_HAS_INSN) && state->insn == WFI &&
	    state->reg[PC] == state->pc_before + 4) {
		verifier->count = 0;
		error = list(verifier, PC);
		return error ? error : write_listed(verifier);
	}
	tandem_derive_access(verifier);
	error = model->step(model->data);
	if (!error)
		error = tandem_write_results(verifier);
	if (!error)
		error = tandem_settle_load(verifier);
	full = interval && !(verifier->stats.steps % interval);
	verifier->stats.full += full;
	if (!error)
		error = list_compared(verifier, full);
	if (!error)
		error = compare(verifier, false);
	if (!error)
		error = tandem_check_access(verifier);
	return error ? error : tandem_judge_pending(verifier);
}

static int interrupt(struct ntrace_tandem_verifier *verifier, unsigned int cause)
{
	int error = tandem_write_inputs(verifier);

	if (!error)
		error = tandem_take_interrupt(verifier, cause);
	if (!error)
		error = tandem_write_results(verifier);
	if (!error)
		error = list_compared(verifier, false);
	if (!error)
		error = compare(verifier, false);
	return error ? error : tandem_check_access(verifier);
}

/* Memory that a debugger or loader writes. */
static int init_memory(struct ntrace_tandem_verifier *verifier,
		       const struct ntrace_tandem_field *field)
{
	const struct ntrace_tandem_model *model = &verifier->config.model;
	unsigned int size = 1u << field->size;
	uint8_t bytes[8];
	int error;

	if (!model->write_memory)
		return 0;
	for (unsigned int i = 0; i < size; i++)
		bytes[i] = (uint8_t)(field->value >> 8 * i);
	tandem_drop_doubts(verifier, field->address, size);
	error = model->write_memory(model->data, field->address, bytes, size);
	return error == NTRACE_ERR_NOMAP ? 0 : error;
}

/* The order of fields in a group is free: a store may stand before the INIT that makes it one. */
static int keep_store(struct ntrace_tandem_verifier *verifier,
		      const struct ntrace_tandem_field *field)
{
	if (field->op != NTRACE_TANDEM_STORE)
		return 0;
	if (verifier->state.has & NTRACE_TANDEM_HAS_INIT)
		return init_memory(verifier, field);
	if (grow((void **)&verifier->requests, verifier->request_count, &verifier->request_room,
		 sizeof(*verifier->requests)))
		return NTRACE_ERR_NOMEM;
	verifier->requests[verifier->request_count++] = *field;
	return 0;
}

/* A debugger or loader made the change: it is the model's, too. */
static int initialise(struct ntrace_tandem_verifier *verifier)
{
	int error = 0;

	verifier->stats.initialisations++;
	if (verifier->state.has & NTRACE_TANDEM_HAS_INIT)
		for (size_t i = 0; i < verifier->request_count && !error; i++)
			error = init_memory(verifier, &verifier->requests[i]);
	if (!error)
		error = list_changed(verifier);
	return error ? error : write_listed(verifier);
}

/*
 * A model that cannot be reset gets the state that every reset has (Privileged Architecture 1.12,
 * 3.4): M mode, mstatus with MIE and MPRV 0.
 */
static int reset_registers(struct ntrace_tandem_verifier *verifier)
{
	const struct ntrace_tandem_model *model = &verifier->config.model;
	const uint16_t ids[] = { MSTATUS, PRIV };
	uint64_t values[] = { 0, PRIV_M };
	int found = tandem_model_has(verifier, MSTATUS), error;

	if (found > 0)
		found = tandem_model_has(verifier, PRIV);
	if (found <= 0 || !model->write_registers)
		return found < 0 ? found : 0;
	error = model->read_registers(model->data, ids, values, 1);
	values[0] &= ~(MSTATUS_MPRV | MSTATUS_MIE);
	return error ? error : model->write_registers(model->data, ids, values, 2);
}

/* The same state in the trace. */
static int judge_reset(struct ntrace_tandem_verifier *verifier)
{
	const uint64_t *reg = verifier->state.reg, *changed = verifier->state.changed;
	uint64_t status = reg[MSTATUS] & ~(MSTATUS_MPRV | MSTATUS_MIE);
	int error = 0;

	if (ntrace_tandem_bit(changed, PRIV) && reg[PRIV] != PRIV_M)
		error = report_register(verifier, PRIV, reg[PRIV], PRIV_M);
	if (!error && ntrace_tandem_bit(changed, MSTATUS) && reg[MSTATUS] != status)
		error = report_register(verifier, MSTATUS, reg[MSTATUS], status);
	return error;
}

static int reset(struct ntrace_tandem_verifier *verifier)
{
	const struct ntrace_tandem_model *model = &verifier->config.model;
	int error = model->reset ? model->reset(model->data) : reset_registers(verifier);

	verifier->stats.resets++;
	if (!error)
		error = judge_reset(verifier);
	if (!error)
		error = list_changed(verifier);
	return error ? error : write_listed(verifier);
}

/* A CSR that the trace gives at traps only, as an ingress port does: what it does not give now is not known. */
static void forget_csr(struct ntrace_tandem_verifier *verifier, unsigned int id)
{
	struct ntrace_tandem_state *state = &verifier->state;

	if (!ntrace_tandem_bit(verifier->given_alone, id) && !ntrace_tandem_bit(state->changed, id))
		state->known[id / 64] &= ~(UINT64_C(1) << id % 64);
}

/* Forgets CSRs that the group wrote and did not give. @trap: it gives xcause */
static void forget_missing(struct ntrace_tandem_verifier *verifier, bool trap)
{
	struct ntrace_tandem_state *state = &verifier->state;
	unsigned int epc = tandem_trap_cause(state) == MCAUSE ? MEPC : SEPC;

	/* A CSR instruction that does not trap may write xcause itself. */
	trap &= !tandem_is_csr(state) ||
		state->reg[PC] != ((state->pc_before + 4) & state->xlen_mask);
	if (trap) {
		forget_csr(verifier, epc);
		forget_csr(verifier, epc + MTVAL - MEPC);
		return;
	}
	for (unsigned int i = 0; i < 64; i++)
		verifier->given_alone[i] |= state->changed[i];
	if (tandem_writes_csr(state))
		forget_csr(verifier, state->insn >> 20 & 0xfff);
}

/* @between: of what was given between two groups, which no instruction did */
static int end_group(struct ntrace_tandem_verifier *verifier, bool between)
{
	const struct ntrace_tandem_state *state = &verifier->state;
	unsigned int cause = tandem_interrupt_cause(verifier);
	bool trap = ntrace_tandem_bit(state->changed, MCAUSE) ||
		    ntrace_tandem_bit(state->changed, SCAUSE);
	bool init = between || (state->has & NTRACE_TANDEM_HAS_INIT) ||
		    (!trap && !(state->has & (NTRACE_TANDEM_HAS_INSN | NTRACE_TANDEM_HAS_PC)));
	int error = 0;

	verifier->stats.groups++;
	verifier->differs = verifier->interrupt = false;
	if (verifier->config.group)
		error = verifier->config.group(verifier->config.user, state);
	tandem_judge(verifier, NTRACE_TANDEM_RULE_FORMAT);
	if (!error && state->problems)
		error = report_format(verifier, state->problems);
	if (!error && verifier->zero)
		error = report_register(verifier, GPR, verifier->zero, 0);
	if (!error)
		error = report_lacks(verifier, cause || init);
	if (error)
		return error;
	forget_missing(verifier, trap && !init);
	if ((state->has & NTRACE_TANDEM_HAS_RESET) || init)
		verifier->due = 0;
	if (state->has & NTRACE_TANDEM_HAS_RESET)
		error = reset(verifier);
	else if (init)
		error = initialise(verifier);
	else if (cause)
		error = interrupt(verifier, cause);
	else if (is_call(verifier))
		error = call(verifier);
	else
		error = step(verifier);
	if (!error && verifier->differs)
		error = recover(verifier);
	return error;
}

/* What the rules need of S before the group. */
static void begin_group(struct ntrace_tandem_verifier *verifier)
{
	static const uint16_t ids[] = { PC, PRIV, MSTATUS, MIP, MISA, SATP, VSATP, HGATP };
	const struct ntrace_tandem_state *state = &verifier->state;

	for (unsigned int i = 0; i < sizeof(ids) / sizeof(ids[0]); i++)
		verifier->before[ids[i]] = state->reg[ids[i]];
	memcpy(&verifier->before[GPR], &state->reg[GPR], 64 * sizeof(state->reg[0]));
	verifier->before_known = state->known[GPR / 64];
	verifier->request_count = 0;
	verifier->zero = 0;
}

int ntrace_tandem_verifier_field(struct ntrace_tandem_verifier *verifier,
				 const struct ntrace_tandem_field *field)
{
	int error = 0;

	if (field->flags & NTRACE_TANDEM_STRAY_END)
		error = report_format(verifier, NTRACE_TANDEM_STRAY_END);
	else if (ntrace_tandem_state_apply(&verifier->state, field))
		error = end_group(verifier, field->type == NTRACE_TANDEM_BEGIN);
	else if (field->type == NTRACE_TANDEM_REQUEST)
		error = keep_store(verifier, field);
	else if (field->type == NTRACE_TANDEM_REGISTER && field->id == GPR && field->value)
		verifier->zero = field->value;
	if (field->type == NTRACE_TANDEM_BEGIN || field->type == NTRACE_TANDEM_END)
		begin_group(verifier);
	return error;
}
