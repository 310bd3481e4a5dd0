/* SPDX-License-Identifier: GPL-2.0-only */
/* Lists of executed PCs, read as a stream: plain, or a log of QEMU. */
#ifndef NTRACE_TOOL_STREAM_ENCODE_PC_LIST_H
#define NTRACE_TOOL_STREAM_ENCODE_PC_LIST_H

#include <stdbool.h>
#include <stdint.h>

/* Longest line accepted. */
#define PC_LINE_MAX 4096

/**
 * struct pc_list - an open list
 * @line: number of the line last read, from 1
 * @other_lines: log: lines without instructions of this CPU
 */
struct pc_list {
	const char *path;
	bool log;
	unsigned int cpu;
	uint64_t line;
	uint64_t other_lines;
	/* private */
	int file;
	char *data;
	char *next;
	char *end;
	bool last;
	bool held_known;
	bool ours;	/* log: the last block was of this CPU */
	uint64_t held;
};

/**
 * pc_list_open - open a list; "-" is standard input
 * @log: QEMU's -d exec with one-insn-per-tb; else PCs as 0x and hex digits, one a line, perhaps
 *       followed by the kind of instruction as the reference tool's PC sequences have it (",BN4");
 *       blank lines and comments ("#" or "//") are skipped
 * @cpu: log: the CPU whose instructions count
 *
 * Return: EXIT_OK, or EXIT_FAILED after an error message.
 */
int pc_list_open(struct pc_list *list, const char *path, bool log, unsigned int cpu);
void pc_list_close(struct pc_list *list);

/**
 * pc_list_next - the next PC
 * Return: 1; 0 at the end; -1 after an error message with the line number.
 */
int pc_list_next(struct pc_list *list, uint64_t *pc);

#endif /* NTRACE_TOOL_STREAM_ENCODE_PC_LIST_H */
