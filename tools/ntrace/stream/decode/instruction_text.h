/* SPDX-License-Identifier: GPL-2.0-only */
/* What an instruction is called, and the line of source that it comes from, for each that is printed. */
#ifndef NTRACE_TOOL_STREAM_DECODE_INSTRUCTION_TEXT_H
#define NTRACE_TOOL_STREAM_DECODE_INSTRUCTION_TEXT_H

#include <ntrace/image.h>
#include <ntrace/lines.h>

/**
 * struct instruction_text - what is asked for, and what is known of the objects so far
 * @disassemble: names of instructions
 * @lines: lines of source
 * @objdump: see disassemble(); may be NULL
 * @sysroot: has debug files; may be NULL
 */
struct instruction_text {
	bool disassemble;
	bool lines;
	const char *objdump;
	const char *sysroot;
	/* private */
	struct object_text *objects;
	size_t count;
	size_t last;
	char **directories;
};

/**
 * instruction_text_name - what the instruction at a link address is called: "addi a0,a0,-1"
 *
 * An object is disassembled as a whole when the first of its instructions is asked for.
 * Return: text, valid until the end; NULL if it is not asked for, or not known.
 */
const char *instruction_text_name(struct instruction_text *text, struct ntrace_object *object,
				  uint64_t address);

/** instruction_text_line - the line of a link address; NULL if it is not asked for, or not known */
const struct ntrace_line *instruction_text_line(struct instruction_text *text,
						struct ntrace_object *object, uint64_t address);

void instruction_text_free(struct instruction_text *text);

#endif /* NTRACE_TOOL_STREAM_DECODE_INSTRUCTION_TEXT_H */
