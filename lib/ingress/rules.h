/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The rules of the ingress port as one list (E-Trace, chapter 4), and the checks of a single cycle.
 *
 *  RULE(name, id, severity, section, text)
 *
 * ntrace_ingress_check() checks the rules up to INGRESS_RULES_OF_CYCLES; the rest needs earlier cycles
 * or is a warning.
 */
#ifndef NTRACE_INGRESS_RULES_H
#define NTRACE_INGRESS_RULES_H

#include <ntrace/ingress.h>

#define INGRESS_I "E-Trace, instruction interface"
#define INGRESS_D "E-Trace, data interface"
#define INGRESS_P "Privileged Architecture"

/* clang-format off */
#define INGRESS_RULES(RULE)                                                                        \
	RULE(GROUPS, "group-count", ERROR, INGRESS_I, "more groups than the port has")             \
	RULE(NOTIFY, "notify-group", ERROR, INGRESS_I,                                             \
	     "trace notify for a group that does not exist")                                       \
	RULE(CTYPE, "ctype-reserved", ERROR, INGRESS_I, "ctype is above 3")                        \
	RULE(PRIV, "priv-reserved", ERROR, INGRESS_I, "priv is reserved")                          \
	RULE(PRIV_WIDTH, "priv-width", ERROR, INGRESS_I, "priv has more bits than the port's")     \
	RULE(CTYPE_WIDTH, "ctype-width", ERROR, INGRESS_I, "ctype has more bits than the port's")  \
	RULE(CAUSE_WIDTH, "cause-width", ERROR, INGRESS_I, "cause has more bits than the port's")  \
	RULE(CONTEXT_WIDTH, "context-width", ERROR, INGRESS_I,                                     \
	     "context has more bits than the port's")                                              \
	RULE(IMPDEF_WIDTH, "impdef-width", ERROR, INGRESS_I,                                       \
	     "impdef has more bits than the port's")                                               \
	RULE(STOPPED, "stopped-retires", ERROR, INGRESS_I,                                         \
	     "a halted hart, or one in reset, cannot retire instructions")                         \
	RULE(ITYPE, "itype-reserved", ERROR, INGRESS_I, "itype is reserved")                       \
	RULE(LASTSIZE, "ilastsize-range", ERROR, INGRESS_I, "ilastsize is above 2")                \
	RULE(IADDR_ODD, "iaddr-odd", ERROR, INGRESS_I, "iaddr is odd")                             \
	RULE(IADDR_WIDTH, "iaddr-width", ERROR, INGRESS_I, "iaddr has more bits than the port's")   \
	RULE(SIJUMP, "sijump-range", ERROR, INGRESS_I, "sijump is neither 0 nor 1")                \
	RULE(TRAP_ORDER, "trap-not-newest", ERROR, INGRESS_I,                                      \
	     "a trap is not in the newest group")                                                  \
	RULE(EMPTY, "group-empty", ERROR, INGRESS_I,                                               \
	     "a group retires nothing and is not a trap")                                          \
	RULE(SINGLE, "single-many", ERROR, INGRESS_I, "a group has more than one instruction")     \
	RULE(LONG, "block-long", ERROR, INGRESS_I, "a block has more than 65,535 parcels")         \
	RULE(SHORT, "block-short", ERROR, INGRESS_I,                                               \
	     "a block is shorter than its last instruction")                                       \
	RULE(ACCESSES, "access-count", ERROR, INGRESS_D, "more data accesses than the port has")   \
	RULE(DTYPE, "dtype-reserved", ERROR, INGRESS_D, "dtype is reserved")                       \
	RULE(DSIZE, "dsize-range", ERROR, INGRESS_D, "dsize is above 4")                           \
	RULE(DADDR_WIDTH, "daddr-width", ERROR, INGRESS_D, "daddr has more than XLEN bits")        \
	RULE(CSR_NUMBER, "csr-number", ERROR, INGRESS_D,                                           \
	     "daddr of a CSR access is not the number of a CSR")                                   \
	RULE(DATA_KIND, "data-kind", ERROR, INGRESS_D,                                             \
	     "an access has data that its dtype does not have")                                    \
	RULE(DATA_WIDTH, "data-width", ERROR, INGRESS_D, "data has more than 2^dsize bytes")       \
	RULE(LRID_MISSING, "lrid-missing", ERROR, INGRESS_D,                                       \
	     "a load or atomic of a split port has no lrid")                                       \
	RULE(LRID_EXTRA, "lrid-unexpected", ERROR, INGRESS_D,                                      \
	     "an access that has no response has an lrid")                                         \
	RULE(LRID_WIDTH, "lrid-width", ERROR, INGRESS_D, "lrid or lid is wider than the port's")   \
	RULE(DBLOCK, "dblock-unused", ERROR, INGRESS_D,                                            \
	     "a data access belongs to no instruction of its cycle")                               \
	RULE(LSBS, "iaddr-lsbs", ERROR, INGRESS_D,                                                 \
	     "iaddr_lsbs is the place of no instruction of its block")                             \
	RULE(TRANSFER, "access-transfer", ERROR, INGRESS_D,                                        \
	     "a branch, a jump or a trap return makes a data access")                              \
	RULE(RESPONSES, "response-count", ERROR, INGRESS_D, "more responses than the port has")    \
	RULE(LRESP, "lresp-reserved", ERROR, INGRESS_D, "lresp is reserved")                       \
	RULE(LRESP_DATA, "response-data", ERROR, INGRESS_D, "a response with an error has data")   \
	RULE(CONTIGUOUS, "not-contiguous", ERROR, INGRESS_I,                                       \
	     "a block does not start where the block before it continues")                         \
	RULE(FAULT_ADDRESS, "exception-address", ERROR, INGRESS_I,                                 \
	     "iaddr of an exception is not the address of the instruction that was next")          \
	RULE(PRIV_CHANGE, "priv-change", ERROR, INGRESS_I,                                         \
	     "priv changes without a trap, a trap return or Debug Mode")                           \
	RULE(TRAP_PRIV, "trap-priv", ERROR, INGRESS_P, "a trap lowers the privilege")              \
	RULE(RETURN_PRIV, "return-priv", ERROR, INGRESS_P, "a trap return raises the privilege")   \
	RULE(RETURN_USER, "return-user", WARNING, INGRESS_P,                                       \
	     "a trap return retires in a privilege below its own")                                                 \
	RULE(ECALL_PRIV, "ecall-priv", ERROR, INGRESS_P,                                           \
	     "the cause of an environment call belongs to another privilege")                      \
	RULE(RETIRES, "retires", ERROR, INGRESS_I,                                                 \
	     "more instructions retire in a cycle than the port allows")                           \
	RULE(TIME, "time-back", WARNING, INGRESS_I, "the time decreases")                          \
	RULE(CSR_SIZE, "csr-size", WARNING, INGRESS_D, "a CSR access does not have XLEN bits")     \
	RULE(HART, "hart-id", ERROR, INGRESS_D,                                                    \
	     "a read of mhartid has another value than hart= of the first line")                   \
	RULE(ATOMIC_SIZE, "atomic-size", WARNING, INGRESS_D,                                       \
	     "an atomic has fewer than 4 bytes, which needs Zabha")                                \
	RULE(MISALIGNED, "atomic-aligned", WARNING, INGRESS_D,                                     \
	     "the address of an atomic is not aligned")                                            \
	RULE(LRID_REUSED, "lrid-reused", ERROR, INGRESS_D,                                         \
	     "two loads in flight have the same lrid")                                             \
	RULE(LID_UNKNOWN, "lid-unknown", ERROR, INGRESS_D, "a response has the lid of no load in flight") \
	RULE(RESPONSE_WIDTH, "response-width", ERROR, INGRESS_D,                                   \
	     "a response has more data than the load asked for")                                   \
	RULE(UNANSWERED, "load-unanswered", WARNING, INGRESS_D,                                    \
	     "a load has no response until the end or a reset")                                    \
	RULE(TRAP_TWICE, "trap-twice", ERROR, INGRESS_I,                                           \
	     "a trap is reported twice, with no instruction between")                              \
	RULE(TRAP_CONTINUES, "trap-continues", WARNING, INGRESS_I,                                 \
	     "after a trap, execution continues as without it")                                    \
	RULE(NO_CODE, "no-code", WARNING, INGRESS_I, "the program has no code at the address")     \
	RULE(INSN_SPLIT, "insn-split", ERROR, INGRESS_I,                                           \
	     "iretire ends in the middle of an instruction of the program")                        \
	RULE(INSN_SIZE, "insn-size", ERROR, INGRESS_I,                                             \
	     "ilastsize is not the size of the last instruction of the program")                   \
	RULE(INSN_INSIDE, "insn-inside", ERROR, INGRESS_I,                                         \
	     "a block contains a control transfer before its last instruction")                    \
	RULE(INSN_ITYPE, "insn-itype", ERROR, INGRESS_I,                                           \
	     "itype is not that of the last instruction of the program")                           \
	RULE(INSN_TRAPS, "insn-traps", ERROR, INGRESS_I,                                           \
	     "an instruction that always traps retires")                                           \
	RULE(INSN_SIJUMP, "insn-sijump", ERROR, INGRESS_I,                                         \
	     "sijump, and the jump does not follow the instruction that loads its register")       \
	RULE(INSN_TARGET, "insn-target", ERROR, INGRESS_I,                                         \
	     "a direct transfer goes to another address than in the program")                      \
	RULE(INSN_CAUSE, "insn-cause", ERROR, INGRESS_P,                                           \
	     "the instruction of the program cannot raise the exception")
/* clang-format on */

enum ingress_rule {
	INGRESS_NO_RULE,
#define RULE(name, ...) INGRESS_##name,
	INGRESS_RULES(RULE)
#undef RULE
		INGRESS_RULE_END,
	INGRESS_RULES_OF_CYCLES = INGRESS_LRESP_DATA,
};

/* Each returns the first rule that the signals break, or INGRESS_NO_RULE. */
enum ingress_rule ingress_check_signals(const struct ntrace_ingress_port *port,
					const struct ntrace_ingress_cycle *cycle);
enum ingress_rule ingress_check_group(const struct ntrace_ingress_port *port,
				      const struct ntrace_ingress_cycle *cycle, unsigned int i);
enum ingress_rule ingress_check_access(const struct ntrace_ingress_port *port,
				       const struct ntrace_ingress_cycle *cycle, unsigned int i);
enum ingress_rule ingress_check_response(const struct ntrace_ingress_port *port,
					 const struct ntrace_ingress_cycle *cycle, unsigned int i);
enum ingress_rule ingress_check_counts(const struct ntrace_ingress_port *port,
				       const struct ntrace_ingress_cycle *cycle);

struct ntrace_ingress_checker;

/** ingress_program_group - check a group against the program. Return: the rule that it breaks */
enum ingress_rule ingress_program_group(struct ntrace_ingress_checker *checker,
					const struct ntrace_ingress_cycle *cycle, unsigned int i,
					uint64_t *value, uint64_t *expected);

/** ingress_program_start - check where a group starts, after the transfer before it */
bool ingress_program_start(const struct ntrace_ingress_checker *checker, uint64_t iaddr,
			   uint64_t *expected);

/** ingress_program_forget - the next instruction is not known */
void ingress_program_forget(struct ntrace_ingress_checker *checker);

/* The bits of an address that iaddr has. */
static inline uint64_t ingress_iaddr_mask(const struct ntrace_ingress_port *port)
{
	return UINT64_MAX >> (64 - (port->iaddr_bits ? port->iaddr_bits : port->xlen));
}

/* Parcels that a group retires. */
static inline uint32_t ingress_parcels(const struct ntrace_ingress_port *port,
				       const struct ntrace_ingress_group *group)
{
	return port->single && group->iretire ? 1u << (group->ilastsize & 3) : group->iretire;
}

static inline bool ingress_is_trap(unsigned int itype)
{
	return itype == NTRACE_ITYPE_EXCEPTION || itype == NTRACE_ITYPE_INTERRUPT;
}

#endif /* NTRACE_INGRESS_RULES_H */
