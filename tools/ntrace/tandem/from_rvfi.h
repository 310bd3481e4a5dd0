/* SPDX-License-Identifier: GPL-2.0-only */
/* What the sources of retired instructions share: waveforms with RVFI, and text logs of cores. */
#ifndef NTRACE_TOOL_TANDEM_FROM_RVFI_H
#define NTRACE_TOOL_TANDEM_FROM_RVFI_H

#include <ntrace/tandem_rvfi.h>

#include "convert.h"

/*
 * The signals of RVFI with a value of at most 64 bits; those of CSRs have names of their own.
 *
 *  SIGNAL(NAME, name, qualifier): without the qualifier, nobody needs the value
 */
/* clang-format off */
#define RVFI_SIGNALS(SIGNAL)								\
	SIGNAL(VALID, valid, VALID) SIGNAL(ORDER, order, VALID) SIGNAL(INSN, insn, VALID)	\
	SIGNAL(TRAP, trap, VALID) SIGNAL(HALT, halt, VALID) SIGNAL(INTR, intr, VALID)		\
	SIGNAL(MODE, mode, VALID)								\
	SIGNAL(RS1_ADDR, rs1_addr, VALID) SIGNAL(RS2_ADDR, rs2_addr, VALID)			\
	SIGNAL(RS1_RDATA, rs1_rdata, RS1_ADDR) SIGNAL(RS2_RDATA, rs2_rdata, RS2_ADDR)		\
	SIGNAL(RD_ADDR, rd_addr, VALID) SIGNAL(RD_WDATA, rd_wdata, RD_ADDR)			\
	SIGNAL(FRD_WVALID, frd_wvalid, VALID) SIGNAL(FRD_ADDR, frd_addr, FRD_WVALID)		\
	SIGNAL(FRD_WDATA, frd_wdata, FRD_WVALID)						\
	SIGNAL(PC_RDATA, pc_rdata, VALID) SIGNAL(PC_WDATA, pc_wdata, VALID)			\
	SIGNAL(MEM_RMASK, mem_rmask, VALID) SIGNAL(MEM_WMASK, mem_wmask, VALID)			\
	SIGNAL(MEM_ADDR, mem_addr, VALID) SIGNAL(MEM_RDATA, mem_rdata, MEM_RMASK)		\
	SIGNAL(MEM_WDATA, mem_wdata, MEM_WMASK) SIGNAL(MEM_EXTAMO, mem_extamo, VALID)
/* clang-format on */

enum rvfi_signal {
#define SIGNAL(name, ...) RVFI_##name,
	RVFI_SIGNALS(SIGNAL)
#undef SIGNAL
		RVFI_SIGNAL_COUNT,
};

/**
 * struct rvfi_bits - the value of a signal
 * @value: its bits, 0 for those that are x or z
 * @unknown: the bits that are x or z
 */
struct rvfi_bits {
	uint64_t value;
	uint64_t unknown;
};

/* Parts of a CSR. */
enum rvfi_part { RVFI_RMASK, RVFI_WMASK, RVFI_RDATA, RVFI_WDATA, RVFI_PARTS };

/**
 * struct rvfi_name - a signal, by its name
 * @csr: it is a part of a CSR
 * @id: enum rvfi_signal, or the register number of the CSR
 * @part: enum rvfi_part
 */
struct rvfi_name {
	bool csr;
	unsigned int id;
	unsigned int part;
};

/** rvfi_find - find a signal by its name without "rvfi_". Return: false for an unknown one */
bool rvfi_find(const char *name, struct rvfi_name *found);

/** rvfi_signal_name - name without "rvfi_" */
const char *rvfi_signal_name(unsigned int signal);

/**
 * struct retiring - the conversion of retired instructions
 * @next: the instruction that is being read
 * @changes: its registers
 * @place: "line" or "time", and @at its number, for messages
 * @channel: of a waveform
 * @problems: violations of RVFI
 * @unknown: results with an x or z from what the program has never written, and @unknown_at the place of the first
 * @init: the group of the trace tells the state before the first instruction
 * @ended: --limit is reached
 * @open: a line has begun an instruction of RVVI-TEXT
 * @mode: privilege of the last instruction, for logs that do not tell it for those that trapped
 * @last_insn: the last instruction, for the same
 */
struct retiring {
	struct convert *convert;
	struct ntrace_tandem_rvfi *rvfi;
	struct ntrace_rvfi next;
	struct ntrace_rvfi_change changes[NTRACE_RVFI_CHANGES_MAX];
	const char *place;
	uint64_t at;
	unsigned int channel;
	uint64_t problems;
	uint64_t unknown, unknown_at;
	bool init, ended, open;
	uint8_t mode;
	uint64_t last_insn;
};

/** retiring_clear - begin the next instruction */
void retiring_clear(struct retiring *retiring);

/** retiring_change - the change of a register in the next instruction. Return: NULL if it is full */
struct ntrace_rvfi_change *retiring_change(struct retiring *retiring, unsigned int id);

/** retiring_set - set a signal of the next instruction. Return: EXIT_OK, or EXIT_FAILED after a message */
int retiring_set(struct retiring *retiring, const struct rvfi_name *name, uint64_t value);

/**
 * retiring_set_all - set the signals of the next instruction, except those of CSRs
 * @all: values by enum rvfi_signal
 * @has: which of them the source has
 *
 * A value without a meaning may be unknown: data of x0, the address of an access that is not made. Registers and memory
 * that the program has never written may be unknown in a simulation, and what it makes of them; their bits are 0.
 *
 * Return: EXIT_OK, or EXIT_FAILED after a message.
 */
int retiring_set_all(struct retiring *retiring, const struct rvfi_bits *all, const bool *has);

/** retiring_unknown - error message: a signal has an x or z. Return: EXIT_FAILED */
int retiring_unknown(const struct retiring *retiring, const char *name, const char *why);

/** retiring_put - the next instruction is complete. Return: EXIT_OK, or EXIT_FAILED after a message */
int retiring_put(struct retiring *retiring);

/** retiring_fail - error message with the place. Return: EXIT_FAILED */
__attribute__((format(printf, 2, 3))) int retiring_fail(const struct retiring *retiring,
							const char *format, ...);

/** convert_rvfi_wave - read a waveform. Return: EXIT_OK, or EXIT_FAILED after a message */
int convert_rvfi_wave(struct retiring *retiring);

/** retire_line - read a line of a text log. Return: EXIT_OK, or EXIT_FAILED after a message */
typedef int retire_line(struct retiring *retiring, char *line);
retire_line retire_rvfi_line, retire_rvvi_line, retire_ibex_line, retire_cva6_line;

#endif /* NTRACE_TOOL_TANDEM_FROM_RVFI_H */
