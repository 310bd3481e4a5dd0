/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The oracle's log: what one hart executed between a start and a stop of its
 * trace encoder, as the QEMU plugin exec_log.c saw it. One file per hart.
 *
 * A file is ORACLE_LOG_MAGIC, then tokens. Numbers are unsigned LEB128, signed
 * ones zigzag. An instruction is known by its address, its length (2 or 4) and
 * the privilege it was executed in.
 *
 *   00xxxxxx..01xxxxxx  1 to 6 instructions, each directly after its predecessor.
 *                       The most significant set bit is a stop bit, each bit below
 *                       is one instruction, the first one topmost:
 *                       0 = 2 bytes, 1 = 4 bytes
 *   JUMP, JUMP + 1      one instruction of 2 or 4 bytes somewhere else: signed
 *                       distance from the end of the predecessor, in units of 2
 *   PRIV + n            what follows is executed in privilege n (0 U, 1 S, 3 M)
 *   TRAP                a trap was taken here. cause * 2 + interrupt, epc.
 *                       Kept for statistics and messages, never compared
 *   BEGIN               tracing started: sequence number over all harts, then
 *                       1 if another hart stored the start. The store of a hart
 *                       that starts itself is not in the log, the one after it is
 *   END                 tracing stopped: same fields. The store of a hart that stops
 *                       itself is the last instruction in the log
 *   TASK                the kernel's task pointer when tracing started or stopped: tp in
 *                       S-mode, sscratch in U-mode, 0 in M-mode
 *   ODD                 the plugin found a sequence that it cannot explain: kind
 *                       (enum oracle_odd), epc. Makes the log unusable
 *   FULL                the size limit was reached, instructions are missing
 *   TURN                with threads=: the hart gets its turn, or logging begins. Number of
 *                       instructions that all harts began before, in all sections; 0
 *   CLOCK               with threads=: the last instruction read this value from the CSR time; 0
 *   SYSCALL             with threads=: the next TRAP is a system call: number, first argument
 *   IDENTITY            with threads=: pid, tgid and real_parent of the task of the last arrival
 *   INDIRECT            with threads=: as CALL, for a jump through another register than ra and t0
 *   CALL, RETURN,       with stacks=on: control came to an address by a call, a return or a
 *   TRAP_RETURN,        return from a trap, or it is the first of the handler of the trap before.
 *   HANDLER             Three signed distances: the address from the end of the predecessor; the
 *                       stack pointer there, and the task, both relative to the last of these
 *                       tokens (0 after BEGIN). The task is tp in S-mode (in the first
 *                       instructions of a handler still the user's tp), sscratch in U-mode, in
 *                       M-mode unchanged. The instruction at the address may be
 *                       missing if a trap came first
 *
 * The first instruction after BEGIN is always a JUMP (predecessor end 0) after
 * a PRIV.
 */
#ifndef ORACLE_LOG_H
#define ORACLE_LOG_H

#define ORACLE_LOG_MAGIC "oracle1\n"
#define ORACLE_LOG_MAGIC_SIZE 8

#define ORACLE_RUN_MAX 6

enum oracle_token {
	ORACLE_JUMP = 0x80,
	ORACLE_PRIV = 0x88,
	ORACLE_TRAP = 0x90,
	ORACLE_BEGIN = 0x91,
	ORACLE_END = 0x92,
	ORACLE_ODD = 0x93,
	ORACLE_FULL = 0x94,
	ORACLE_TASK = 0x95,
	ORACLE_IDENTITY = 0x96,
	ORACLE_CALL = 0x98,
	ORACLE_RETURN = 0x99,
	ORACLE_TRAP_RETURN = 0x9a,
	ORACLE_HANDLER = 0x9b,
	ORACLE_INDIRECT = 0x9c,
	ORACLE_TURN = 0x9d,
	ORACLE_CLOCK = 0x9e,
	ORACLE_SYSCALL = 0x9f,
};

enum oracle_odd {
	ORACLE_ODD_USER_JUMP = 1,	/* plain instruction, then no successor or handler */
	ORACLE_ODD_EXCEPTION_EPC = 2,	/* exception whose epc is not the last instruction */
	ORACLE_ODD_INTERRUPT_EPC = 3,	/* interrupt whose epc is not the address after the last
					 * instruction */
	ORACLE_ODD_FETCH_EPC = 4,	/* fetch fault at the instruction that ran last */
	ORACLE_ODD_PRIVILEGE = 5,	/* privilege rose without a trap */
	ORACLE_ODD_BLOCK = 6,		/* an instruction whose block's address is not known */
};

#endif /* ORACLE_LOG_H */
