// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Rules of the ingress port that concern several cycles (E-Trace, chapter 4). */
#include <string.h>

#include <ntrace/ingress_check.h>

#include "rules.h"

/* A load of a split port. What was in flight before the first record is not known. */
enum load_state {
	LOAD_UNKNOWN,
	LOAD_NONE,
	LOAD_IN_FLIGHT,
};

static const struct ntrace_ingress_rule rules[] = {
#define RULE(name, id, severity, section, text)                                                    \
	[INGRESS_##name - 1] = { id, section, NTRACE_INGRESS_##severity, text },
	INGRESS_RULES(RULE)
#undef RULE
};

const struct ntrace_ingress_rule *ntrace_ingress_rules(size_t *count)
{
	*count = sizeof(rules) / sizeof(rules[0]);
	return rules;
}

/* Where the current finding is, and its numbers. */
struct spot {
	struct ntrace_ingress_checker *checker;
	unsigned int place;
	unsigned int index;
};

static void report(const struct spot *spot, enum ingress_rule rule,
		   const struct ntrace_ingress_finding *numbers)
{
	struct ntrace_ingress_checker *checker = spot->checker;
	struct ntrace_ingress_finding finding = { .values = 0 };

	if (!rule || checker->result)
		return;
	if (numbers)
		finding = *numbers;
	finding.rule = &rules[rule - 1];
	finding.cycle = checker->now;
	finding.place = spot->place;
	finding.index = spot->index;
	checker->result = checker->finding(checker->data, &finding);
}

static void report_addresses(const struct spot *spot, enum ingress_rule rule, uint64_t value,
			     uint64_t expected)
{
	const struct ntrace_ingress_finding numbers = {
		.value = value,
		.expected = expected,
		.values = 2,
		.hexadecimal = true,
	};

	report(spot, rule, &numbers);
}

static void report_address(const struct spot *spot, enum ingress_rule rule, uint64_t value)
{
	const struct ntrace_ingress_finding numbers = {
		.value = value,
		.values = 1,
		.hexadecimal = true,
	};

	report(spot, rule, &numbers);
}

static void report_number(const struct spot *spot, enum ingress_rule rule, uint64_t value)
{
	const struct ntrace_ingress_finding numbers = { .value = value, .values = 1 };

	report(spot, rule, &numbers);
}

/* Neither the next instruction nor its privilege is known. */
static void forget_flow(struct ntrace_ingress_checker *checker)
{
	checker->next_known = false;
	checker->last_may_repeat = false;
	checker->priv_known = false;
	checker->last_itype = NTRACE_ITYPE_NONE;
	checker->trap_itype = 0;
	checker->trap_repeated = false;
	ingress_program_forget(checker);
}

int ntrace_ingress_checker_init(
	struct ntrace_ingress_checker *checker, const struct ntrace_ingress_port *port,
	int (*finding)(void *data, const struct ntrace_ingress_finding *finding), void *data)
{
	if (ntrace_ingress_port_refusal(port))
		return NTRACE_ERR_INVALID;
	memset(checker, 0, sizeof(*checker));
	checker->port = *port;
	checker->finding = finding;
	checker->data = data;
	return 0;
}

/* How much a privilege may do. A trap does not lower it, and a trap return does not raise it. */
static int rank(unsigned int priv)
{
	static const int ranks[8] = {
		[NTRACE_PRIV_U] = 0,  [NTRACE_PRIV_VU] = 0, [NTRACE_PRIV_VS] = 1,
		[NTRACE_PRIV_S] = 2,  [NTRACE_PRIV_M] = 3,  [NTRACE_PRIV_D] = 4,
	};

	return ranks[priv & 7];
}

static void check_priv(const struct spot *spot, unsigned int priv)
{
	struct ntrace_ingress_checker *checker = spot->checker;
	bool known = checker->priv_known;
	unsigned int before = checker->priv;

	checker->priv_known = true;
	checker->priv = (uint8_t)priv;
	/* Debug Mode begins and ends anywhere. */
	if (known && (before == NTRACE_PRIV_D) != (priv == NTRACE_PRIV_D))
		checker->next_known = false;
	if (!known || before == priv || before == NTRACE_PRIV_D || priv == NTRACE_PRIV_D)
		return;
	if (ingress_is_trap(checker->last_itype)) {
		if (rank(priv) < rank(before))
			report_number(spot, INGRESS_TRAP_PRIV, priv);
	} else if (checker->last_itype == NTRACE_ITYPE_TRAP_RETURN) {
		if (rank(priv) > rank(before))
			report_number(spot, INGRESS_RETURN_PRIV, priv);
	} else {
		report_number(spot, INGRESS_PRIV_CHANGE, priv);
	}
}

/* Whether an access of the cycle belongs to a group. */
static bool has_access(const struct ntrace_ingress_cycle *cycle, unsigned int group)
{
	for (unsigned int i = 0; i < cycle->accesses; i++)
		if (cycle->access[i].dblock == group)
			return true;
	return false;
}

/*
 * A push or pop of Zcmp is reported once for each access, at the same address. If an access faults,
 * the exception has this address as well.
 */
static bool is_repeat(const struct ntrace_ingress_checker *checker,
		      const struct ntrace_ingress_cycle *cycle, unsigned int group)
{
	return checker->last_may_repeat && cycle->group[group].iaddr == checker->last_insn &&
	       (!cycle->group[group].iretire || has_access(cycle, group));
}

static void check_start(const struct spot *spot, const struct ntrace_ingress_cycle *cycle,
			unsigned int i)
{
	const struct ntrace_ingress_group *group = &cycle->group[i];
	const struct ntrace_ingress_checker *checker = spot->checker;

	if (!checker->next_known || group->iaddr == checker->next || is_repeat(checker, cycle, i))
		return;
	if (group->iretire)
		report_addresses(spot, INGRESS_CONTIGUOUS, group->iaddr, checker->next);
	else if (group->itype == NTRACE_ITYPE_EXCEPTION)
		report_addresses(spot, INGRESS_FAULT_ADDRESS, group->iaddr, checker->next);
}

static void check_trap(const struct spot *spot, const struct ntrace_ingress_cycle *cycle,
		       unsigned int itype)
{
	/* Environment calls, by the privilege that makes them. */
	static const uint8_t causes[8] = {
		[NTRACE_PRIV_U] = 8,   [NTRACE_PRIV_VU] = 8,  [NTRACE_PRIV_S] = 9,
		[NTRACE_PRIV_VS] = 10, [NTRACE_PRIV_M] = 11,
	};
	unsigned int call = causes[cycle->priv & 7];

	if (itype == NTRACE_ITYPE_EXCEPTION && cycle->cause >= 8 && cycle->cause <= 11 && call &&
	    cycle->cause != call)
		report_number(spot, INGRESS_ECALL_PRIV, cycle->cause);
	if (itype == NTRACE_ITYPE_TRAP_RETURN &&
	    (cycle->priv == NTRACE_PRIV_U || cycle->priv == NTRACE_PRIV_VU))
		report(spot, INGRESS_RETURN_USER, NULL);
}

/*
 * A hart that took an interrupt has disabled it: its handler must retire something first. An exception
 * may repeat itself at the first instruction of its handler, whose address all of them have.
 */
static void check_repeated(const struct spot *spot, const struct ntrace_ingress_cycle *cycle,
			   const struct ntrace_ingress_group *group)
{
	struct ntrace_ingress_checker *checker = spot->checker;
	bool exception = group->itype == NTRACE_ITYPE_EXCEPTION;
	bool repeated = ingress_is_trap(group->itype) && !group->iretire &&
			group->itype == checker->trap_itype && cycle->cause == checker->trap_cause;

	/* A port that does not tell the cause has 0. */
	if ((repeated && !exception && cycle->cause) ||
	    (checker->trap_repeated && group->iaddr != checker->trap_iaddr))
		report_number(spot, INGRESS_TRAP_TWICE, checker->trap_cause);
	checker->trap_repeated = repeated && exception && group->iaddr == checker->trap_iaddr &&
				 cycle->priv == checker->trap_priv;
}

/* After a trap, a handler begins: not the instruction that would have followed without it. */
static void check_handler(const struct spot *spot, const struct ntrace_ingress_cycle *cycle,
			  const struct ntrace_ingress_group *group)
{
	struct ntrace_ingress_checker *checker = spot->checker;

	/* An interrupt need not tell where it is taken. */
	if (checker->trap_itype && group->iretire && group->iaddr == checker->next &&
	    (checker->trap_itype == NTRACE_ITYPE_EXCEPTION || checker->trap_retired))
		report_address(spot, INGRESS_TRAP_CONTINUES, group->iaddr);
	checker->trap_itype = ingress_is_trap(group->itype) ? group->itype : 0;
	checker->trap_retired = group->iretire;
	checker->trap_priv = cycle->priv;
	checker->trap_cause = cycle->cause;
	checker->trap_iaddr = group->iaddr;
}

/* Return: whether the itype of the group tells where it continues */
static bool check_program(const struct spot *spot, const struct ntrace_ingress_cycle *cycle,
			  unsigned int i)
{
	struct ntrace_ingress_checker *checker = spot->checker;
	uint64_t value = 0, expected = 0, iaddr = cycle->group[i].iaddr;
	enum ingress_rule rule;

	if (!checker->fetch)
		return true;
	/* An interrupt need not tell where it is taken. */
	if ((cycle->group[i].iretire || cycle->group[i].itype == NTRACE_ITYPE_EXCEPTION) &&
	    !ingress_program_start(checker, iaddr, &expected))
		report_addresses(spot, INGRESS_INSN_TARGET, iaddr, expected);
	rule = ingress_program_group(checker, cycle, i, &value, &expected);
	switch (rule) {
	case INGRESS_INSN_SIZE:
	case INGRESS_INSN_ITYPE: {
		const struct ntrace_ingress_finding numbers = { .value = value,
								.expected = expected,
								.values = 2 };

		report(spot, rule, &numbers);
		break;
	}
	case INGRESS_INSN_CAUSE:
		report_number(spot, rule, value);
		break;
	default:
		report_address(spot, rule, value);
		break;
	}
	return rule != INGRESS_INSN_ITYPE;
}

/* Where execution continues after a group. */
static void follow(struct ntrace_ingress_checker *checker, const struct ntrace_ingress_cycle *cycle,
		   unsigned int i)
{
	const struct ntrace_ingress_group *group = &cycle->group[i];
	uint32_t parcels = ingress_parcels(&checker->port, group);
	uint32_t last = 1u << (group->ilastsize & 3);
	uint64_t next = group->iaddr + UINT64_C(2) * parcels;

	next &= ingress_iaddr_mask(&checker->port);
	checker->last_itype = group->itype;
	/* A 3-bit port has no itype for direct jumps. */
	checker->next_known = group->itype == NTRACE_ITYPE_BRANCH_NOT_TAKEN ||
			      (group->itype == NTRACE_ITYPE_NONE && checker->port.itype_bits == 4);
	checker->next = next;
	checker->last_insn = next - UINT64_C(2) * last;
	checker->last_may_repeat = checker->port.data && group->itype == NTRACE_ITYPE_NONE &&
				   last == 1 && has_access(cycle, i);
	if (!group->iretire)
		return;
	checker->blocks++;
	checker->parcels += parcels;
}

static void check_groups(struct ntrace_ingress_checker *checker,
			 const struct ntrace_ingress_cycle *cycle)
{
	uint64_t least = 0;

	checker->has_cause |= checker->port.cause_bits || cycle->cause;
	for (unsigned int i = 0; i < cycle->groups; i++) {
		const struct ntrace_ingress_group *group = &cycle->group[i];
		const struct spot spot = { checker, NTRACE_INGRESS_PLACE_GROUP, i };
		uint32_t parcels = ingress_parcels(&checker->port, group);
		uint32_t last = 1u << (group->ilastsize & 3);
		bool known;

		report(&spot, ingress_check_group(&checker->port, cycle, i), NULL);
		if (!group->iretire && !ingress_is_trap(group->itype))
			continue;
		check_priv(&spot, cycle->priv);
		check_start(&spot, cycle, i);
		check_trap(&spot, cycle, group->itype);
		check_repeated(&spot, cycle, group);
		check_handler(&spot, cycle, group);
		known = check_program(&spot, cycle, i);
		follow(checker, cycle, i);
		checker->next_known &= known;
		/* No instruction has more than four parcels. */
		if (group->iretire)
			least += 1 + (parcels > last ? (parcels - last + 3) / 4 : 0);
	}
	if (checker->port.retires && least > checker->port.retires) {
		const struct spot spot = { checker, NTRACE_INGRESS_PLACE_CYCLE, 0 };

		report_number(&spot, INGRESS_RETIRES, least);
	}
}

static void request(const struct spot *spot, const struct ntrace_ingress_access *access)
{
	struct ntrace_ingress_checker *checker = spot->checker;
	struct ntrace_ingress_load *load = &checker->load[access->lrid];

	if (load->state == LOAD_IN_FLIGHT)
		report_number(spot, INGRESS_LRID_REUSED, access->lrid);
	else
		checker->in_flight++;
	load->state = LOAD_IN_FLIGHT;
	load->dsize = access->dsize;
	load->cycle = checker->now;
	if (checker->in_flight > checker->in_flight_most)
		checker->in_flight_most = checker->in_flight;
}

static bool is_wider(const struct ntrace_ingress_response *response, unsigned int dsize)
{
	if (dsize >= 4)
		return false;
	return response->load[1] || (dsize < 3 && response->load[0] >> (8u << dsize));
}

static void respond(const struct spot *spot, const struct ntrace_ingress_response *response)
{
	struct ntrace_ingress_checker *checker = spot->checker;
	struct ntrace_ingress_load *load = &checker->load[response->lid];

	if (load->state == LOAD_NONE)
		report_number(spot, INGRESS_LID_UNKNOWN, response->lid);
	if (load->state == LOAD_IN_FLIGHT) {
		checker->in_flight--;
		if (response->lresp == NTRACE_LRESP_OKAY && is_wider(response, load->dsize))
			report_number(spot, INGRESS_RESPONSE_WIDTH, response->lid);
	}
	load->state = LOAD_NONE;
}

#define MHARTID 0xf14

/* A port may state its hart. On a split port, the value comes with the response, or later. */
static void check_hart(const struct spot *spot, const struct ntrace_ingress_access *access)
{
	const struct ntrace_ingress_port *port = &spot->checker->port;

	if (port->hart && access->daddr == MHARTID && port->data == NTRACE_INGRESS_DATA_UNIFIED &&
	    access->load[0] != port->hart)
		report_number(spot, INGRESS_HART, access->load[0]);
}

static void check_size(const struct spot *spot, const struct ntrace_ingress_access *access)
{
	uint64_t size = UINT64_C(1) << (access->dsize & 7);

	if (NTRACE_DTYPES_CSRS >> (access->dtype & 31) & 1) {
		if (size * 8 != spot->checker->port.xlen)
			report_number(spot, INGRESS_CSR_SIZE, access->dsize);
		check_hart(spot, access);
		return;
	}
	if (!(NTRACE_DTYPES_ATOMICS >> (access->dtype & 31) & 1))
		return;
	if (size < 4)
		report_number(spot, INGRESS_ATOMIC_SIZE, access->dsize);
	if (access->daddr & (size - 1))
		report_address(spot, INGRESS_MISALIGNED, access->daddr);
}

static bool requests(const struct ntrace_ingress_cycle *cycle, unsigned int lrid)
{
	for (unsigned int i = 0; i < cycle->accesses; i++)
		if (cycle->access[i].request && cycle->access[i].lrid == lrid)
			return true;
	return false;
}

static void check_data(struct ntrace_ingress_checker *checker,
		       const struct ntrace_ingress_cycle *cycle)
{
	struct spot spot = { .checker = checker };
	enum { DONE, LATER, UNSURE } when[NTRACE_INGRESS_ACCESSES_MAX] = { DONE };

	/*
	 * A load may be answered in the cycle in which it retires, and an id may be used again in the
	 * cycle of its response. So responses to loads of earlier cycles come first.
	 */
	spot.place = NTRACE_INGRESS_PLACE_RESPONSE;
	for (spot.index = 0; spot.index < cycle->responses; spot.index++) {
		const struct ntrace_ingress_response *response = &cycle->response[spot.index];

		report(&spot, ingress_check_response(&checker->port, cycle, spot.index), NULL);
		if (checker->load[response->lid].state == LOAD_NONE)
			when[spot.index] = LATER;
		else if (checker->load[response->lid].state == LOAD_UNKNOWN &&
			 requests(cycle, response->lid))
			when[spot.index] = UNSURE;
		else
			respond(&spot, response);
	}
	spot.place = NTRACE_INGRESS_PLACE_ACCESS;
	for (spot.index = 0; spot.index < cycle->accesses; spot.index++) {
		const struct ntrace_ingress_access *access = &cycle->access[spot.index];

		checker->accesses++;
		report(&spot, ingress_check_access(&checker->port, cycle, spot.index), NULL);
		check_size(&spot, access);
		if (access->request)
			request(&spot, access);
	}
	spot.place = NTRACE_INGRESS_PLACE_RESPONSE;
	for (spot.index = 0; spot.index < cycle->responses; spot.index++) {
		const struct ntrace_ingress_response *response = &cycle->response[spot.index];

		if (when[spot.index] != DONE)
			respond(&spot, response);
		/* It may have been the response to a load before the first record. */
		if (when[spot.index] == UNSURE)
			checker->load[response->lid].state = LOAD_UNKNOWN;
	}
}

/* What was in flight stays unanswered. */
static void drop_loads(struct ntrace_ingress_checker *checker, unsigned int state)
{
	const struct spot spot = { checker, NTRACE_INGRESS_PLACE_CYCLE, 0 };

	for (unsigned int i = 0; i < 1u << NTRACE_INGRESS_LRID_BITS_MAX; i++) {
		if (checker->load[i].state == LOAD_IN_FLIGHT && state == LOAD_NONE)
			report_number(&spot, INGRESS_UNANSWERED, i);
		checker->load[i].state = (uint8_t)state;
	}
	checker->in_flight = 0;
}

static void check_cycle(struct ntrace_ingress_checker *checker,
			const struct ntrace_ingress_cycle *cycle)
{
	const struct spot spot = { checker, NTRACE_INGRESS_PLACE_CYCLE, 0 };

	report(&spot, ingress_check_signals(&checker->port, cycle), NULL);
	report(&spot, ingress_check_counts(&checker->port, cycle), NULL);
	if (cycle->reset) {
		drop_loads(checker, LOAD_NONE);
		checker->time_known = false;
	}
	if (checker->time_known && cycle->time < checker->time) {
		const struct ntrace_ingress_finding numbers = {
			.value = cycle->time,
			.expected = checker->time,
			.values = 2,
		};

		report(&spot, INGRESS_TIME, &numbers);
	}
	checker->time = cycle->time;
	checker->time_known = !cycle->reset;
	if (cycle->halted || cycle->reset)
		forget_flow(checker);
	check_groups(checker, cycle);
	check_data(checker, cycle);
	if (cycle->halted || cycle->reset)
		forget_flow(checker);
}

int ntrace_ingress_checker_record(struct ntrace_ingress_checker *checker,
				  const struct ntrace_ingress_record *record)
{
	struct ntrace_ingress_cycle cycle;

	if (checker->result)
		return checker->result;
	switch (record->type) {
	case NTRACE_INGRESS_CYCLE:
		checker->now = checker->cycles + record->cycle.idle;
		checker->cycles = checker->now + 1;
		cycle = record->cycle;
		/* More than a cycle can hold is a finding, and the rest is not there. */
		if (cycle.groups > NTRACE_INGRESS_GROUPS_MAX)
			cycle.groups = NTRACE_INGRESS_GROUPS_MAX;
		if (cycle.accesses > NTRACE_INGRESS_ACCESSES_MAX)
			cycle.accesses = NTRACE_INGRESS_ACCESSES_MAX;
		if (cycle.responses > NTRACE_INGRESS_ACCESSES_MAX)
			cycle.responses = NTRACE_INGRESS_ACCESSES_MAX;
		check_cycle(checker, &cycle);
		return checker->result;
	case NTRACE_INGRESS_START:
	case NTRACE_INGRESS_STOP:
		return 0;
	case NTRACE_INGRESS_OVERRUN:
		forget_flow(checker);
		drop_loads(checker, LOAD_UNKNOWN);
		return 0;
	default:
		return NTRACE_ERR_INVALID;
	}
}

int ntrace_ingress_checker_end(struct ntrace_ingress_checker *checker)
{
	drop_loads(checker, LOAD_NONE);
	return checker->result;
}
