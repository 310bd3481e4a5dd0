/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Check of the ingress port: do the signals of a core obey E-Trace, chapter 4? For designers of
 * cores.
 *
 * ntrace_ingress_check() judges one cycle. This checker also compares cycles with each other: where
 * blocks continue, how the privilege changes, which loads are in flight. After a violation it goes on
 * with the state that the port reports, so that one mistake of a core gives one finding.
 */
#ifndef NTRACE_INGRESS_CHECK_H
#define NTRACE_INGRESS_CHECK_H

#include <ntrace/ingress.h>

#ifdef __cplusplus
extern "C" {
#endif

enum ntrace_ingress_severity {
	NTRACE_INGRESS_WARNING,	/* legal in some cases */
	NTRACE_INGRESS_ERROR,	/* no core may do it */
};

/**
 * struct ntrace_ingress_rule - one rule
 * @id: short name, stable: "not-contiguous"
 * @section: specification and topic: "E-Trace, data interface"
 * @severity: enum ntrace_ingress_severity
 * @text: the violation in a sentence
 */
struct ntrace_ingress_rule {
	const char *id;
	const char *section;
	unsigned int severity;
	const char *text;
};

/**
 * ntrace_ingress_rules - the table of rules
 * @count: set to the number of rules
 *
 * Return: the rules; a static array in the order of the table.
 */
NTRACE_EXPERIMENTAL const struct ntrace_ingress_rule *ntrace_ingress_rules(size_t *count);

/* The signals that a finding is about. */
enum ntrace_ingress_place {
	NTRACE_INGRESS_PLACE_CYCLE,
	NTRACE_INGRESS_PLACE_GROUP,
	NTRACE_INGRESS_PLACE_ACCESS,
	NTRACE_INGRESS_PLACE_RESPONSE,
};

/**
 * struct ntrace_ingress_finding - one violation
 * @rule: the rule
 * @cycle: number of the clock cycle, from 0, idle cycles included
 * @place: enum ntrace_ingress_place
 * @index: number of the group, access or response in the cycle
 * @value: the wrong value, if @values is at least 1
 * @expected: the value that was expected, if @values is 2
 * @values: how many of @value and @expected are valid
 * @hexadecimal: they are addresses
 */
struct ntrace_ingress_finding {
	const struct ntrace_ingress_rule *rule;
	uint64_t cycle;
	unsigned int place;
	unsigned int index;
	uint64_t value;
	uint64_t expected;
	unsigned int values;
	bool hexadecimal;
};

/* A load of a split port. */
struct ntrace_ingress_load {
	uint64_t cycle;
	uint8_t state;
	uint8_t dsize;
};

/**
 * struct ntrace_ingress_checker - state of a checker
 * @cycles: readable: clock cycles checked, idle cycles included
 * @blocks: readable: groups that retired something
 * @parcels: readable: parcels of these groups
 * @accesses: readable: data accesses
 * @in_flight: readable: loads whose response has not come yet
 * @in_flight_most: readable: maximum of @in_flight
 *
 * Owned by the caller, set up by ntrace_ingress_checker_init(); all other fields are private. Needs
 * no heap.
 */
struct ntrace_ingress_checker {
	uint64_t cycles;
	uint64_t blocks;
	uint64_t parcels;
	uint64_t accesses;
	unsigned int in_flight;
	unsigned int in_flight_most;
	/* private: */
	struct ntrace_ingress_port port;
	int (*finding)(void *data, const struct ntrace_ingress_finding *finding);
	void *data;
	int result;
	uint64_t now;
	uint64_t time;
	uint64_t next;
	uint64_t last_insn;
	bool next_known;
	bool last_may_repeat;
	bool priv_known;
	bool time_known;
	uint8_t last_itype;
	uint8_t priv;
	struct ntrace_ingress_load load[1 << NTRACE_INGRESS_LRID_BITS_MAX];
	int (*fetch)(void *data, uint64_t address, void *bytes, size_t size);
	void *fetch_data;
	struct ntrace_isa isa;
	struct ntrace_insn previous;
	uint64_t previous_end;
	uint64_t target;
	bool target_known;
	uint8_t trap_itype;
	uint8_t trap_priv;
	bool trap_retired;
	bool trap_repeated;
	bool has_cause;
	uint64_t trap_cause;
	uint64_t trap_iaddr;
	uint64_t reserved[3];
};

/**
 * ntrace_ingress_checker_init - begin
 * @checker: memory owned by the caller
 * @port: description of the port; copied
 * @finding: called for every violation, in the order of the cycles; a nonzero result stops the
 *           checker
 * @data: for @finding
 *
 * Return: 0, or NTRACE_ERR_INVALID (see ntrace_ingress_port_refusal()).
 */
NTRACE_EXPERIMENTAL int ntrace_ingress_checker_init(
	struct ntrace_ingress_checker *checker, const struct ntrace_ingress_port *port,
	int (*finding)(void *data, const struct ntrace_ingress_finding *finding), void *data);

/**
 * ntrace_ingress_checker_program - check the port against the program that the core executes, too
 * @checker: checker set up by ntrace_ingress_checker_init(), before its first record
 * @isa: instruction set; copied
 * @fetch: read @size bytes of code, 2 or 4, at @address. Return: 0, or an error if there is no code
 * @data: for @fetch
 *
 * Then each group is compared with its instructions: boundaries, ilastsize, itype, the targets of
 * direct transfers, sijump, and the instructions of exceptions.
 */
NTRACE_EXPERIMENTAL void
ntrace_ingress_checker_program(struct ntrace_ingress_checker *checker, const struct ntrace_isa *isa,
			       int (*fetch)(void *data, uint64_t address, void *bytes, size_t size),
			       void *data);

/**
 * ntrace_ingress_checker_record - check the next record
 * @checker: checker set up by ntrace_ingress_checker_init()
 * @record: any record; that of a lenient reader, too
 *
 * After an overrun, a reset or Debug Mode the next address and privilege are not known. The same holds
 * for loads in flight at the beginning and after an overrun.
 *
 * Return: 0, the nonzero result of @finding (and again for every later call), or NTRACE_ERR_INVALID for
 * an unknown type of record.
 */
NTRACE_EXPERIMENTAL int ntrace_ingress_checker_record(struct ntrace_ingress_checker *checker,
						      const struct ntrace_ingress_record *record);

/**
 * ntrace_ingress_checker_end - end the input: reports loads without a response
 * @checker: a checker that gets no more input
 *
 * Return: 0, or the nonzero result of @finding.
 */
NTRACE_EXPERIMENTAL int ntrace_ingress_checker_end(struct ntrace_ingress_checker *checker);

#ifdef __cplusplus
}
#endif

#endif /* NTRACE_INGRESS_CHECK_H */
