/* SPDX-License-Identifier: GPL-2.0-only */
/* What the conversions to a tandem trace share: groups are written one instruction late. */
#ifndef NTRACE_TOOL_TANDEM_CONVERT_H
#define NTRACE_TOOL_TANDEM_CONVERT_H

#include "common/output_file.h"
#include "tandem.h"

/* Instructions whose bits a QEMU log contains, by pc. */
#define CODE_SLOTS (1u << 20)

struct code {
	uint64_t pc;
	uint32_t bits;
	uint8_t bytes;
};

/**
 * struct convert - a conversion
 * @line: lines of the log so far
 * @groups: groups written
 * @unknown: of these, without an instruction
 * @problems: violations of RVFI
 * @held: there is an instruction whose group is not written yet: its pc, bits, privilege and effects
 * @refused: a field cannot be written with the parameters of the trace
 */
struct convert {
	const struct tandem_options *options;
	struct output_file file;
	uint64_t line, groups, unknown, problems;
	bool held;
	uint64_t pc;
	uint32_t insn;
	unsigned int insn_bytes, priv;
	struct ntrace_tandem_field fields[160];
	unsigned int count;
	bool refused;
	/* of a QEMU log */
	struct code *code;
	uint64_t states, next;
	bool known[NTRACE_TANDEM_STATE_REGISTERS];
	uint64_t value[NTRACE_TANDEM_STATE_REGISTERS];
};

/** convert_field - write a field */
void convert_field(struct convert *convert, const struct ntrace_tandem_field *field);

/** convert_put - write a field of this type */
void convert_put(struct convert *convert, unsigned int type, unsigned int id, uint64_t value);

/** convert_add - add an effect to the held instruction */
void convert_add(struct convert *convert, unsigned int type, unsigned int id, uint64_t value);

/** convert_start - begin the group of the state before the first instruction, at @pc */
void convert_start(struct convert *convert, uint64_t pc);

/** convert_finish - write the held instruction, if any; @next: pc after it, if @known */
void convert_finish(struct convert *convert, bool known, uint64_t next);

/**
 * convert_ingress - convert a recording of a trace ingress port
 *
 * Return: EXIT_OK, or EXIT_FAILED after an error message
 */
int convert_ingress(struct convert *convert);

/**
 * convert_rvfi - convert what a core reports as retired
 *
 * Return: EXIT_OK, or EXIT_FAILED after an error message
 */
int convert_rvfi(struct convert *convert);

#endif /* NTRACE_TOOL_TANDEM_CONVERT_H */
