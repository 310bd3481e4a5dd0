/* SPDX-License-Identifier: GPL-2.0-only */
/* Disassembly and source line of each printed instruction. */
#ifndef NTRACE_TOOL_STREAM_DECODE_INSTRUCTION_TEXT_H
#define NTRACE_TOOL_STREAM_DECODE_INSTRUCTION_TEXT_H

#include <ntrace/image.h>
#include <ntrace/lines.h>

/**
 * struct instruction_text - options, and the objects read so far
 * @disassemble: provide disassembly
 * @lines: provide source lines
 * @objdump: see disassemble(); may be NULL
 * @roots: see files_roots()
 */
struct instruction_text {
	bool disassemble;
	bool lines;
	const char *objdump;
	const char *const *roots;
	/* private */
	struct object_text *objects;
	size_t count;
	size_t last;
	char **directories;
};

/**
 * instruction_text_name - disassembly of the instruction at a link address: "addi a0,a0,-1"
 *
 * The first call for an object disassembles all of it.
 * Return: text, valid until instruction_text_free(); NULL without @disassemble or if unknown.
 */
const char *instruction_text_name(struct instruction_text *text, struct ntrace_object *object,
				  uint64_t address);

/** instruction_text_line - source line of a link address; NULL without @lines or if unknown */
const struct ntrace_line *instruction_text_line(struct instruction_text *text,
						struct ntrace_object *object, uint64_t address);

void instruction_text_free(struct instruction_text *text);

#endif /* NTRACE_TOOL_STREAM_DECODE_INSTRUCTION_TEXT_H */
