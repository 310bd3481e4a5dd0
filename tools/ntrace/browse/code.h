/* SPDX-License-Identifier: GPL-2.0-only */
/* Text of places of a trace: instructions, source lines, names. */
#ifndef NTRACE_TOOL_BROWSE_CODE_H
#define NTRACE_TOOL_BROWSE_CODE_H

#include <ntrace/cursor.h>
#include <ntrace/lines.h>

#include "common/debug_info.h"

/* Functions whose disassembly is kept. */
#define CODE_FUNCTIONS 128

struct code_object;
struct code_function;

/**
 * struct code - options, and what was read so far
 * @objdump: see disassemble(); may be NULL
 * @roots: see files_roots()
 * @digits: hexadecimal digits of addresses
 *
 * The other fields are private.
 */
struct code {
	const char *objdump;
	const char *const *roots;
	unsigned int digits;
	struct code_object *objects;
	size_t object_count;
	struct code_function *functions;	/* CODE_FUNCTIONS */
	size_t next_function;
	char *source_name;
	struct source_lines source;
	char **directories;
};

void code_free(struct code *code);

/**
 * code_line - source line of an instruction
 * @place: a block, or one of its instructions
 *
 * Return: owned by @code; NULL if none is known. Its line may be 0, see struct ntrace_line.
 */
const struct ntrace_line *code_line(struct code *code, const struct ntrace_cursor_place *place);

/** code_source - a source file; valid until the next call. Never NULL */
const struct source_lines *code_source(struct code *code, const char *name);

/** code_source_is_newer - whether that file was changed after the program at @place was made */
bool code_source_is_newer(const struct code *code, const struct ntrace_cursor_place *place);

/**
 * code_text - a place as `ntrace decode --level instruction --disassemble` prints it, without owner and time
 *
 * An object is disassembled function by function, when it is needed. Return: @text
 */
char *code_text(struct code *code, const struct ntrace_cursor_place *place, char *text,
		size_t size);

/** code_name - "function+0x12 (object)", demangled. Return: @text */
char *code_name(const struct ntrace_cursor_place *place, char *text, size_t size);

#endif /* NTRACE_TOOL_BROWSE_CODE_H */
