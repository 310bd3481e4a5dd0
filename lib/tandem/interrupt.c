// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Interrupts of a verification. No model takes an interrupt on demand, so the verifier takes it in
 * the model's place: the cause comes from the trace, and everything else follows from the model's
 * state before it and the Privileged Architecture. Then the model is compared with the trace, as
 * after an instruction.
 *
 *   may it be taken?   mip, mie, mideleg, mstatus.xIE, priority   (judge_taking)
 *   what does it do?   pc, xepc, xcause, xtval, mstatus, priv     (tandem_take_interrupt)
 *   was one forgotten? pending and enabled, and not taken         (tandem_judge_pending)
 *
 * mip is an input: it is judged if the trace gives it.
 */
#include "verifier.h"

#define MIEH 0x314

/* mstatus.MPV and mstatus.GVA of a hart with the hypervisor extension, bit H of misa. */
#define STATUS_GUEST (UINT64_C(3) << 38)
#define MISA_H (UINT64_C(1) << 7)
#define MISA_S (UINT64_C(1) << 18)

/* Standard causes, which all are below 16: S, VS and M software, timer and external; SGEI; LCOFI. */
#define STANDARD UINT64_C(0xffff)
#define DEFINED UINT64_C(0x3eee)
#define SUPERVISOR UINT64_C(0x222)
#define MACHINE UINT64_C(0x888)
#define SUPERVISOR_SOFTWARE UINT64_C(0x2)

/* What decides about an interrupt, of the model. */
struct control {
	uint64_t pc, priv, status, enabled, delegated, vector, misa;
	bool has_enabled, has_upper;	/* mie, mieh */
};

static int read_one(struct ntrace_tandem_verifier *verifier, unsigned int id, uint64_t *value,
		    bool *has)
{
	const struct ntrace_tandem_model *model = &verifier->config.model;
	uint16_t number = (uint16_t)id;
	int found = tandem_model_has(verifier, id);

	if (has)
		*has = found > 0;
	*value = 0;
	if (found <= 0)
		return found;
	return model->read_registers(model->data, &number, value, 1);
}

static int read_control(struct ntrace_tandem_verifier *verifier, bool machine,
			struct control *control)
{
	uint64_t upper;
	int error = read_one(verifier, PC, &control->pc, NULL);

	if (!error)
		error = read_one(verifier, PRIV, &control->priv, NULL);
	if (!error)
		error = read_one(verifier, MSTATUS, &control->status, NULL);
	if (!error)
		error = read_one(verifier, MIE, &control->enabled, &control->has_enabled);
	if (!error)
		error = read_one(verifier, MIEH, &upper, &control->has_upper);
	if (!error)
		error = read_one(verifier, MIDELEG, &control->delegated, NULL);
	if (!error)
		error = read_one(verifier, MISA, &control->misa, NULL);
	if (!error)
		error = read_one(verifier, machine ? MTVEC : STVEC, &control->vector, NULL);
	return error;
}

/* The interrupts of @pending that the hart takes now, all of the highest privilege that has any. */
static uint64_t deliverable(uint64_t pending, uint64_t delegated, uint64_t priv, uint64_t status)
{
	uint64_t machine = pending & ~delegated, supervisor = pending & delegated;

	if (machine && (priv < PRIV_M || (status >> 3 & 1)))
		return machine;
	if (supervisor && (priv == 0 || (priv == 1 && (status >> 1 & 1))))
		return supervisor;
	return 0;
}

/* The one that is taken first, if the order of all is defined; else -1 */
static int first_of(uint64_t interrupts)
{
	static const uint8_t order[] = { 11, 3, 7, 9, 1, 5, 12, 10, 2, 6, 13 };

	if (interrupts & ~DEFINED)
		return -1;
	for (unsigned int i = 0; i < sizeof(order); i++)
		if (interrupts >> order[i] & 1)
			return order[i];
	return -1;
}

static int break_rule(struct ntrace_tandem_verifier *verifier, unsigned int rule, unsigned int id,
		      uint64_t seen, uint64_t expected)
{
	struct ntrace_tandem_mismatch mismatch = {
		.kind = NTRACE_TANDEM_DIFFERENT_TRAP, .id = id, .seen = seen, .expected = expected
	};

	return tandem_report(verifier, rule, &mismatch);
}

/* Judges @right, and reports the value of register @id, which should differ in @bits, if it is not. */
static int judge(struct ntrace_tandem_verifier *verifier, unsigned int rule, bool right,
		 unsigned int id, uint64_t value, uint64_t bits)
{
	tandem_judge(verifier, rule);
	return right ? 0 : break_rule(verifier, rule, id, value, value ^ bits);
}

/* Whether the interrupt may be taken in this state. */
static int judge_taking(struct ntrace_tandem_verifier *verifier, const struct control *control,
			unsigned int cause_id, uint64_t code)
{
	const struct ntrace_tandem_state *state = &verifier->state;
	/* The other half of mie of RV32 is mieh, if the hart has it: these causes are not judged. */
	unsigned int causes = verifier->config.params.xlen == 32 && !control->has_upper ? 32 : 64;
	bool upper = code >= verifier->config.params.xlen;
	uint64_t bit = upper ? 0 : UINT64_C(1) << code, steady;
	bool machine = cause_id == MCAUSE, pending = tandem_known(verifier, MIP);
	bool delegated = control->delegated & bit;
	bool allowed = machine ? control->priv < PRIV_M || (control->status >> 3 & 1) :
				 control->priv == 0 ||
					 (control->priv == 1 && (control->status >> 1 & 1));
	int first, error;

	error = judge(verifier, NTRACE_TANDEM_RULE_INTERRUPT_CAUSE,
		      code < 16 ? !!(DEFINED & bit) : code < causes, cause_id, state->reg[cause_id],
		      0);
	if (!error && !upper)
		error = judge(verifier, NTRACE_TANDEM_RULE_INTERRUPT_DELEGATION,
			      delegated != machine, MIDELEG, control->delegated, bit);
	if (!error)
		error = judge(verifier, NTRACE_TANDEM_RULE_INTERRUPT_GLOBAL, allowed, MSTATUS,
			      control->status, UINT64_C(1) << (machine ? 3 : 1));
	if (!error && control->has_enabled)
		error = judge(verifier, NTRACE_TANDEM_RULE_INTERRUPT_ENABLE,
			      !bit || (control->enabled & bit), MIE, control->enabled, bit);
	if (error || !pending)
		return error;
	/* Taking it changes no bit of mip. */
	error = judge(verifier, NTRACE_TANDEM_RULE_INTERRUPT_PENDING,
		      !bit || (state->reg[MIP] & bit), MIP, state->reg[MIP], bit);
	if (error || !control->has_enabled || !(state->reg[MIP] & bit))
		return error;
	/* Of those that were pending before it and still are: none may come first. */
	steady = state->reg[MIP] & verifier->before[MIP] & control->enabled;
	steady = deliverable(steady | bit, control->delegated, control->priv, control->status);
	first = first_of(steady);
	tandem_judge(verifier, NTRACE_TANDEM_RULE_INTERRUPT_PRIORITY);
	if (!allowed || delegated == machine || first < 0 || (uint64_t)first == code)
		return 0;
	return break_rule(verifier, NTRACE_TANDEM_RULE_INTERRUPT_PRIORITY, cause_id, code,
			  (uint64_t)first);
}

unsigned int tandem_interrupt_cause(const struct ntrace_tandem_verifier *verifier)
{
	const struct ntrace_tandem_state *state = &verifier->state;
	unsigned int top = verifier->config.params.xlen - 1, id = tandem_trap_cause(state);

	if ((state->has & NTRACE_TANDEM_HAS_INSN) || !id || !ntrace_tandem_bit(state->changed, id))
		return 0;
	return state->reg[id] >> top & 1 ? id : 0;
}

static int write_some(struct ntrace_tandem_verifier *verifier, const uint64_t (*values)[2],
		      size_t count)
{
	const struct ntrace_tandem_model *model = &verifier->config.model;
	uint16_t ids[16];
	uint64_t data[16];
	size_t used = 0;

	if (!model->write_registers)
		return NTRACE_ERR_UNSUPPORTED;
	for (size_t i = 0; i < count; i++) {
		int found = tandem_model_has(verifier, (unsigned int)values[i][0]);

		if (found < 0)
			return found;
		if (!found)
			continue;
		ids[used] = (uint16_t)values[i][0];
		data[used++] = values[i][1];
	}
	return model->write_registers(model->data, ids, data, used);
}

uint64_t tandem_trap_status(uint64_t status, uint64_t priv, bool machine, uint64_t misa,
			    unsigned int xlen)
{
	unsigned int ie = machine ? 3 : 1, pie = machine ? 7 : 5, pp = machine ? 11 : 8;
	uint64_t pp_mask = UINT64_C(3) >> !machine << pp, enabled = status >> ie & 1;

	status &= ~(pp_mask | UINT64_C(1) << pie | UINT64_C(1) << ie);
	status |= enabled << pie | (priv << pp & pp_mask);
	if (machine && (misa & MISA_H) && xlen == 64)
		status &= ~STATUS_GUEST;
	return status;
}

int tandem_take_interrupt(struct ntrace_tandem_verifier *verifier, unsigned int cause_id)
{
	bool machine = cause_id == MCAUSE;
	uint64_t mask = verifier->config.params.xlen == 32 ? UINT32_MAX : UINT64_MAX;
	uint64_t status, target;
	uint64_t cause = verifier->state.reg[cause_id], code = cause & mask >> 1;
	struct control control;
	int error = read_control(verifier, machine, &control);

	if (!error)
		error = judge_taking(verifier, &control, cause_id, code);
	if (error)
		return error;
	status = tandem_trap_status(control.status, control.priv, machine, control.misa,
				    verifier->config.params.xlen);
	target = control.vector & ~UINT64_C(3);
	if ((control.vector & 3) == 1)
		target += 4 * code;
	verifier->interrupt = true;
	verifier->due = verifier->waited = 0;
	verifier->stats.interrupts++;
	return write_some(verifier,
			  (const uint64_t[][2]){
				  { MSTATUS, status & mask },
				  { machine ? MEPC : SEPC, control.pc },
				  { cause_id, cause },
				  { machine ? MTVAL : STVAL, 0 },
				  { machine ? MTINST : 0x64a, 0 },
				  { machine ? MTVAL2 : 0x643, 0 },
				  { PRIV, machine ? PRIV_M : 1 },
				  { PC, target & mask },
			  },
			  8);
}

unsigned int tandem_register_rule(const struct ntrace_tandem_verifier *verifier, unsigned int id)
{
	if (!verifier->interrupt)
		return id == PC	  ? NTRACE_TANDEM_RULE_PC :
		       id == PRIV ? NTRACE_TANDEM_RULE_PRIV :
				    NTRACE_TANDEM_RULE_REGISTER;
	switch (id) {
	case PC:
		return NTRACE_TANDEM_RULE_INTERRUPT_VECTOR;
	case PRIV:
		return NTRACE_TANDEM_RULE_INTERRUPT_PRIV;
	case MSTATUS:
	case SSTATUS:
		return NTRACE_TANDEM_RULE_INTERRUPT_STATUS;
	case MEPC:
	case SEPC:
		return NTRACE_TANDEM_RULE_INTERRUPT_EPC;
	case MTVAL:
	case STVAL:
		return NTRACE_TANDEM_RULE_INTERRUPT_TVAL;
	default:
		return NTRACE_TANDEM_RULE_INTERRUPT_OTHER;
	}
}

/* Whether the Privileged Architecture wants interrupts evaluated right after the instruction. */
static bool evaluates(const struct ntrace_tandem_state *state)
{
	if (!(state->has & NTRACE_TANDEM_HAS_INSN))
		return false;
	if (state->insn == MRET || state->insn == SRET)
		return true;
	if (!tandem_writes_csr(state))
		return false;
	switch (state->insn >> 20) {
	case SSTATUS:
	case SIE:
	case SIP:
	case MSTATUS:
	case MIDELEG:
	case MIE:
	case MIP:
		return true;
	default:
		return false;
	}
}

/* Bits of mip that the instruction may have set itself: those that software can write. */
static uint64_t written_pending(const struct ntrace_tandem_verifier *verifier)
{
	const struct ntrace_tandem_state *state = &verifier->state;
	unsigned int number = state->insn >> 20, source = state->insn >> 15 & 31;
	uint64_t operand = state->insn >> 14 & 1 ? source : verifier->before[GPR + source];

	if ((number != MIP && number != SIP) || (state->insn >> 12 & 3) == 3)
		return 0;
	return operand & (number == SIP ? SUPERVISOR_SOFTWARE : SUPERVISOR);
}

/*
 * The interrupts of @pending, one of which the hart must take now. If mideleg is not known, one of them must be
 * deliverable whether those of S mode are delegated or not; those of M mode are not.
 */
static uint64_t must_take(const struct ntrace_tandem_verifier *verifier, bool known,
			  uint64_t pending)
{
	const uint64_t *reg = verifier->state.reg;
	uint64_t ready, delegated;

	/* Custom interrupts may have other conditions. */
	pending &= reg[MIP] & reg[MIE] & STANDARD;
	if (known)
		return deliverable(pending, reg[MIDELEG], reg[PRIV], reg[MSTATUS]);
	ready = deliverable(pending, 0, reg[PRIV], reg[MSTATUS]);
	if (tandem_known(verifier, MISA) && reg[MISA] && !(reg[MISA] & MISA_S))
		return ready;
	delegated = deliverable(pending, ~MACHINE, reg[PRIV], reg[MSTATUS]);
	return delegated ? ready : 0;
}

int tandem_judge_pending(struct ntrace_tandem_verifier *verifier)
{
	const struct ntrace_tandem_state *state = &verifier->state;
	uint64_t limit = verifier->config.pending_limit, ready, due = verifier->due;
	int error = tandem_model_has(verifier, MIDELEG);
	bool known;

	if (error < 0)
		return error;
	verifier->due = 0;
	known = !error || tandem_known(verifier, MIDELEG);
	if (!tandem_known(verifier, MIP) || !tandem_known(verifier, MIE) ||
	    !tandem_known(verifier, MSTATUS) || !tandem_known(verifier, PRIV) ||
	    !(state->has & NTRACE_TANDEM_HAS_INSN)) {
		verifier->waited = 0;
		return 0;
	}
	error = 0;
	ready = must_take(verifier, known, UINT64_MAX);
	if (due)
		error = break_rule(verifier, NTRACE_TANDEM_RULE_INTERRUPT_IMMEDIATE, MIP,
				   verifier->before[MIP], verifier->before[MIP] & ~due);
	else if (evaluates(state))
		verifier->due = must_take(verifier, known,
					  verifier->before[MIP] | written_pending(verifier));
	/* What no interrupt can break is not judged. */
	if (verifier->due)
		tandem_judge(verifier, NTRACE_TANDEM_RULE_INTERRUPT_IMMEDIATE);
	if (ready)
		tandem_judge(verifier, NTRACE_TANDEM_RULE_INTERRUPT_TAKEN);
	verifier->waited = ready ? verifier->waited + 1 : 0;
	if (!error && !due && limit && verifier->waited == limit + 1)
		error = break_rule(verifier, NTRACE_TANDEM_RULE_INTERRUPT_TAKEN, MIP,
				   state->reg[MIP], state->reg[MIP] & ~ready);
	return error;
}
