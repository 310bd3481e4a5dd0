// SPDX-License-Identifier: GPL-2.0-only
/* Disassembly and source lines of executed objects; each object is read once. */
#include <stdlib.h>
#include <string.h>

#include "common/debug_info.h"
#include "common/disassembly.h"
#include "common/ui.h"
#include "instruction_text.h"

struct object_text {
	struct ntrace_object *object;
	struct disassembly disassembly;
	struct ntrace_units *units;
};

static void read_lines(struct instruction_text *text, struct object_text *made)
{
	char *missing;

	if (!text->directories)
		text->directories = debug_directories(text->roots);
	if (!text->directories ||
	    ntrace_units_open(&made->units, made->object, (const char *const *)text->directories))
		made->units = NULL;
	missing = debug_missing(made->object);
	if (missing)
		warn("%s", missing);
	else if (!made->units)
		warn("%s: no line numbers: compiled without -g, or stripped",
		     ntrace_object_name(made->object));
	free(missing);
}

/* Reads an object at its first use. Return: NULL when out of memory. */
static struct object_text *find(struct instruction_text *text, struct ntrace_object *object)
{
	struct object_text *more, *made;

	if (text->count && text->objects[text->last].object == object)
		return &text->objects[text->last];
	for (size_t i = 0; i < text->count; i++) {
		if (text->objects[i].object == object) {
			text->last = i;
			return &text->objects[i];
		}
	}
	more = reallocarray(text->objects, text->count + 1, sizeof(*more));
	if (!more)
		return NULL;
	text->objects = more;
	made = &more[text->count];
	*made = (struct object_text){ .object = ntrace_object_get(object) };
	text->last = text->count++;
	if (text->disassemble) {
		disassemble(&made->disassembly, ntrace_object_path(object), 0, UINT64_MAX,
			    text->objdump);
		if (!made->disassembly.count)
			warn("%s: cannot be disassembled: is it an ELF file, and is an objdump "
			     "for RISC-V installed?",
			     ntrace_object_name(object));
	}
	if (text->lines)
		read_lines(text, made);
	return made;
}

const char *instruction_text_name(struct instruction_text *text, struct ntrace_object *object,
				  uint64_t address)
{
	const struct object_text *found;

	if (!text->disassemble || !object)
		return NULL;
	found = find(text, object);
	return found ? disassembly_find(&found->disassembly, address) : NULL;
}

const struct ntrace_line *instruction_text_line(struct instruction_text *text,
						struct ntrace_object *object, uint64_t address)
{
	const struct object_text *found;
	const struct ntrace_lines *lines;

	if (!text->lines || !object)
		return NULL;
	found = find(text, object);
	lines = found && found->units ? ntrace_units_lines(found->units, address) : NULL;
	return lines ? ntrace_lines_find(lines, address) : NULL;
}

void instruction_text_free(struct instruction_text *text)
{
	for (size_t i = 0; i < text->count; i++) {
		disassembly_free(&text->objects[i].disassembly);
		ntrace_units_close(text->objects[i].units);
		ntrace_object_put(text->objects[i].object);
	}
	free(text->objects);
	if (text->directories)
		debug_directories_free(text->directories);
	text->objects = NULL;
	text->count = 0;
	text->directories = NULL;
}
