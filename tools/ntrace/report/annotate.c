// SPDX-License-Identifier: GPL-2.0-only
/* A function, instruction by instruction, with its source. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <ntrace/counts.h>
#include <ntrace/functions.h>
#include <ntrace/lines.h>

#include "annotate.h"
#include "common/command.h"
#include "common/debug_info.h"
#include "common/disassembly.h"
#include "common/nearest.h"
#include "common/ui.h"

/* Suggest at most this many similar names. */
#define OFFERED_MAX 10
/* A function without a size ends at the next symbol, but is not longer than this. */
#define FUNCTION_MAX (1u << 20)

struct annotation {
	const struct annotate_options *options;
	struct output *output;
	struct ntrace_counts *counts;
	const struct ntrace_lines *lines;	/* NULL: none */
	uint64_t bias;			/* address in memory minus address in the lines */
	struct ntrace_units *units;
	char *missing;			/* what of the lines was not read, NULL: nothing */
	struct kernel_debug kernel;
	struct disassembly disassembly;
	const struct ntrace_object *program;
	const char *file;		/* its lines are in @source */
	struct source_lines source;
	const struct ntrace_line *line;	/* shown last */
	uint32_t scope;
	uint64_t instructions;
	uint64_t most;
};

static void put_demangled(struct output *output, const char *name)
{
	char *text = ntrace_demangle(name);

	output_name(output, text ? text : name);
	free(text);
}

/* Source has tabs, and maybe other control characters. */
static void put_source_line(struct output *output, const char *line)
{
	size_t length;

	for (;; line += length + 1) {
		length = strcspn(line, "\t");
		output_printf(output, "%.*s", (int)length, line);
		if (!line[length])
			return;
		output_char(output, '\t');
	}
}

static void note_changed(const struct annotation *annotation)
{
	if (!annotation->source.count ||
	    !source_is_newer(annotation->program, annotation->source.changed))
		return;
	output_text(annotation->output, "note: ");
	output_name(annotation->output, annotation->file);
	output_text(annotation->output, " " SOURCE_NEWER_NOTE "\n");
}

/* "calculator.c:36  if (...)", followed by the place where it was inlined. */
static void put_source(struct annotation *annotation, const struct ntrace_line *line,
		       uint32_t scope)
{
	struct source_lines *source = &annotation->source;
	struct output *output = annotation->output;
	const struct ntrace_scope *scopes;
	const char *slash = strrchr(line->file, '/');
	size_t count;

	if (annotation->file != line->file) {
		source_lines_free(source);
		source_lines_read(source, line->file, annotation->options->roots);
		annotation->file = line->file;
		note_changed(annotation);
	}
	output_text(output, ui_style_on(annotation->options->colours, UI_HEADING));
	output_printf(output, "%.200s:", slash ? slash + 1 : line->file);
	if (line->line)
		output_decimal(output, line->line, 0);
	else
		output_char(output, '?');
	output_text(output, ui_style_off(annotation->options->colours, UI_HEADING));
	if (!line->line) {
		output_text(output, "  made by the compiler for no line");
	} else if (line->line <= source->count) {
		output_text(output, "  ");
		put_source_line(output, source->lines[line->line - 1]);
	} else if (source->too_large) {
		output_text(output, "  " SOURCE_TOO_LARGE);
	}
	scopes = ntrace_lines_scopes(annotation->lines, &count);
	for (; scope < count && scopes[scope].inlined; scope = scopes[scope].parent) {
		output_text(output, "  [");
		put_demangled(output, scopes[scope].name);
		output_printf(output, " inlined, line %" PRIu32 "]", scopes[scope].call_line);
	}
	output_char(output, '\n');
}

static void put_bytes(struct output *output, const uint8_t *bytes, unsigned int size)
{
	/* Prints the instruction as parcels, like objdump. */
	while (size) {
		size -= 2;
		output_hex(output, (uint64_t)bytes[size] | (uint64_t)bytes[size + 1] << 8, 4);
	}
}

static int put_instruction(void *data, uint64_t address, const uint8_t *bytes,
			   const struct ntrace_insn *insn, uint64_t executed)
{
	struct annotation *annotation = data;
	uint64_t linked = address - annotation->bias;
	const struct ntrace_line *line =
		annotation->lines ? ntrace_lines_find(annotation->lines, linked) : NULL;
	uint32_t scope = line ? ntrace_lines_scope(annotation->lines, linked) : NTRACE_NO_SCOPE;
	const char *text = disassembly_find(&annotation->disassembly, address);
	struct output *output = annotation->output;
	char number[UI_NUMBER_SIZE];

	if (line && line->file &&
	    (!annotation->line || annotation->line->file != line->file ||
	     annotation->line->line != line->line || annotation->scope != scope)) {
		put_source(annotation, line, scope);
		annotation->line = line;
		annotation->scope = scope;
	}
	output_printf(output, "%16s  ", executed ? ui_number(number, executed) : "");
	if (insn->insn_class == NTRACE_INSN_PLAIN || !executed)
		output_printf(output, "%13s", "");
	else
		output_printf(output, "%13s",
			      ui_number(number, ntrace_counts_taken(annotation->counts, address)));
	output_printf(output, "  %8" PRIx64 ":  ", address);
	if (text)
		output_name(output, text);
	else
		put_bytes(output, bytes, insn->size);
	output_char(output, '\n');
	return 0;
}

static int add_up(void *data, uint64_t address, const uint8_t *bytes,
		  const struct ntrace_insn *insn, uint64_t executed)
{
	struct annotation *annotation = data;

	(void)address, (void)bytes, (void)insn;
	annotation->instructions += executed;
	if (annotation->most < executed)
		annotation->most = executed;
	return 0;
}

/* End of the symbol that starts at @at. */
static uint64_t end_of(const struct ntrace_space *space, const struct ntrace_location *at)
{
	struct ntrace_location next;
	uint64_t end = at->symbol_start + 2;

	if (at->symbol_size)
		return at->symbol_start + at->symbol_size;
	while (end - at->symbol_start < FUNCTION_MAX && !ntrace_space_locate(space, end, &next) &&
	       next.symbol_start == at->symbol_start)
		end += 2;
	return end;
}

/* The lines of a function, from its object or the kernel's debug files. Return: 0 or enum ntrace_error */
static int find_lines(struct annotation *annotation, struct ntrace_object *object,
		      const struct ntrace_space *space, const struct ntrace_location *at)
{
	const struct annotate_options *options = annotation->options;
	char **directories = debug_directories(options->roots);
	struct ntrace_units *units = NULL;

	if (!directories)
		return NTRACE_ERR_NOMEM;
	if (!strcmp(ntrace_object_short_name(object), "[kernel]")) {
		if (kernel_debug_open(&annotation->kernel, &options->kernel, space, at->symbol,
				      at->symbol_start))
			units = annotation->kernel.units;
		annotation->bias = annotation->kernel.bias;
	} else if (!ntrace_units_open(&annotation->units, object,
				      (const char *const *)directories)) {
		units = annotation->units;
	}
	annotation->missing = debug_missing(object);
	debug_directories_free(directories);
	if (units)
		annotation->lines = ntrace_units_lines(units, at->symbol_start - annotation->bias);
	return 0;
}

/* Names the sources of instructions from @start to @end, which are inputs, before there is output. */
static void name_sources(const struct annotation *annotation, uint64_t start, uint64_t end)
{
	const struct ntrace_line *lines;
	const char *named = NULL;
	size_t count = 0, i;

	lines = annotation->lines ? ntrace_lines_all(annotation->lines, &count) : NULL;
	for (i = 0; i < count && lines[i].start < end - annotation->bias; i++) {
		if (lines[i].end <= start - annotation->bias || lines[i].file == named)
			continue;
		named = lines[i].file;
		name_source(named, annotation->options->roots);
	}
}

static void put_lines_note(const struct annotation *annotation)
{
	if (annotation->kernel.said[0])
		output_printf(annotation->output, "note: %s\n", annotation->kernel.said);
	if (annotation->missing)
		output_printf(annotation->output, "note: %s\n", annotation->missing);
	else if (!annotation->lines && (!annotation->kernel.said[0] || annotation->kernel.units))
		output_text(annotation->output,
			    "note: it has no line numbers: no source can be shown\n");
}

/* Return: 0 or enum ntrace_error */
static int put_function(struct annotation *annotation, const struct ntrace_object *object,
			const struct ntrace_location *at, uint64_t end)
{
	uint64_t start = at->symbol_start;
	char number[UI_NUMBER_SIZE], other[UI_NUMBER_SIZE];
	struct output *output = annotation->output;
	int error;

	annotation->program = object;
	disassemble(&annotation->disassembly, ntrace_object_path(object), start, end,
		    annotation->options->objdump);
	ntrace_counts_walk(annotation->counts, start, end, add_up, annotation);
	put_demangled(output, at->symbol);
	output_text(output, " of ");
	output_name(output, ntrace_object_name(object));
	output_printf(output, ": entered %s times, %s instructions\n",
		      ui_number(number, ntrace_counts_executed(annotation->counts, start)),
		      ui_number(other, annotation->instructions));
	put_lines_note(annotation);
	if (!annotation->disassembly.count)
		output_text(output, "note: no objdump that can read it: bytes are shown\n");
	output_printf(output, "%16s  %13s  %8s\n", "executed", "taken", "address");
	error = ntrace_counts_walk(annotation->counts, start, end, put_instruction, annotation);
	output_char(output, '\n');
	disassembly_free(&annotation->disassembly);
	source_lines_free(&annotation->source);
	return error;
}

/* Without an output: names the sources only. */
static int annotate_function(struct ntrace_profile *profile, struct ntrace_object *object,
			     const struct ntrace_space *space, const struct ntrace_location *at,
			     struct annotation *annotation)
{
	uint64_t end = end_of(space, at);
	int error = ntrace_counts_new(&annotation->counts, profile, object);

	if (!error)
		error = find_lines(annotation, object, space, at);
	if (error) {
		ntrace_counts_free(annotation->counts);
		return fail("out of memory");
	}
	if (annotation->output)
		error = put_function(annotation, object, at, end);
	else
		name_sources(annotation, at->symbol_start, end);
	ntrace_units_close(annotation->units);
	free(annotation->missing);
	kernel_debug_close(&annotation->kernel);
	ntrace_counts_free(annotation->counts);
	return error == NTRACE_ERR_NOMAP ? fail("%s: the code of %s is missing",
						ntrace_object_name(object), at->symbol) :
					   EXIT_OK;
}

/* Names the nearest function, and lists those whose names contain the given name. */
static int not_there(struct ntrace_profile *profile, const char *name)
{
	const struct ntrace_profile_function *functions;
	const struct ntrace_profile_trace *traces;
	struct nearest nearest = nearest_to(name, strlen(name));
	struct ntrace_location at;
	char last[256] = "";
	size_t count, offered = 0, i;

	functions = ntrace_profile_functions(profile, NTRACE_PROFILE_BY_INSTRUCTIONS, &count);
	for (i = 0; functions && i < count; i++)
		if (functions[i].name)
			nearest_offer(&nearest, functions[i].demangled);
	if (nearest.name)
		fail("no function '%s' was executed: did you mean '%s'?", name, nearest.name);
	else
		fail("no function '%s' was executed: 'ntrace report' lists those that were, and "
		     "--callers shows inlined ones",
		     name);
	traces = ntrace_profile_traces(profile, &count);
	for (i = 0; i < count && offered < OFFERED_MAX; i++) {
		struct ntrace_space *space;

		if (!traces[i].object ||
		    (i && traces[i].object == traces[i - 1].object &&
		     traces[i].start == traces[i - 1].start) ||
		    ntrace_space_new(&space, "", NULL))
			continue;
		if (!ntrace_space_map_linked(space, traces[i].object, 0) &&
		    !ntrace_space_locate(space, traces[i].start, &at) && at.symbol &&
		    strcasestr(at.symbol, name) && strcmp(at.symbol, last) != 0) {
			ui_printf(stderr, "  %s of %s\n", at.symbol,
				  ntrace_object_short_name(traces[i].object));
			snprintf(last, sizeof(last), "%s", at.symbol);
			offered++;
		}
		ntrace_space_put(space);
	}
	return EXIT_FAILED;
}

/* Functions of that name in one object: each is shown once. */
static int annotate_object(struct ntrace_profile *profile, struct ntrace_object *object,
			   const struct annotate_options *options, struct output *output,
			   size_t *shown)
{
	const struct ntrace_profile_trace *traces;
	struct ntrace_space *space;
	struct ntrace_location at;
	uint64_t last = UINT64_MAX;
	size_t count, i;
	int error;

	if (ntrace_space_new(&space, "", NULL))
		return fail("out of memory");
	error = ntrace_space_map_linked(space, object, 0) ? fail("out of memory") : EXIT_OK;
	traces = ntrace_profile_traces(profile, &count);
	for (i = 0; i < count && !error; i++) {
		struct annotation annotation = { .options = options, .output = output };

		/* Sorted by address. */
		if (traces[i].object != object || !traces[i].instructions ||
		    ntrace_space_locate(space, traces[i].start, &at) || !at.symbol ||
		    at.symbol_start == last)
			continue;
		last = at.symbol_start;
		/* All parts of the function, or one of them by its own name. */
		if (!ntrace_object_function_matches(object, at.function_start, options->function) &&
		    !ntrace_object_function_matches(object, at.symbol_start, options->function))
			continue;
		++*shown;
		error = annotate_function(profile, object, space, &at, &annotation);
	}
	ntrace_space_put(space);
	return error;
}

/* @output: NULL: names the sources only. @shown: number of functions */
static int annotate_objects(struct ntrace_profile *profile, const struct annotate_options *options,
			    struct output *output, size_t *shown)
{
	const struct ntrace_profile_object *objects;
	int error = EXIT_OK;
	size_t count;

	*shown = 0;
	objects = ntrace_profile_objects(profile, &count);
	for (size_t i = 0; i < count && !error; i++)
		if (objects[i].instructions)
			error = annotate_object(profile, objects[i].object, options, output, shown);
	return error;
}

int annotate(struct ntrace_profile *profile, const struct annotate_options *options,
	     struct output *output)
{
	size_t shown;
	/* The sources of all functions are inputs, which the output of the first one must not change. */
	int error = annotate_objects(profile, options, NULL, &shown);

	if (!error && !shown)
		return not_there(profile, options->function);
	return error ? error : annotate_objects(profile, options, output, &shown);
}
