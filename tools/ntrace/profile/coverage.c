// SPDX-License-Identifier: GPL-2.0-only
/* Source lines of what was executed. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/ui.h"
#include "coverage.h"

#define DEBUG_DIRECTORY "/usr/lib/debug"
/* At most so many objects without lines are named. */
#define NOTES_MAX 10

char **debug_directories(const char *sysroot)
{
	char **directories = calloc(3, sizeof(*directories));
	unsigned int count = 0;

	if (!directories)
		return NULL;
	if (sysroot && asprintf(&directories[count++], "%s" DEBUG_DIRECTORY, sysroot) < 0) {
		directories[0] = NULL;
		count = 0;
	}
	directories[count] = strdup(DEBUG_DIRECTORY);
	if (directories[count] && (!sysroot || count))
		return directories;
	debug_directories_free(directories);
	return NULL;
}

void debug_directories_free(char **directories)
{
	char **directory;

	for (directory = directories; directory && *directory; directory++)
		free(*directory);
	free(directories);
}

/* Opening a fifo or a device might block or have side effects. */
static FILE *open_regular(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISREG(st.st_mode) ? fopen(path, "re") : NULL;
}

FILE *open_source(const char *path, const char *sysroot)
{
	FILE *file = open_regular(path);
	char *other;

	if (!file && sysroot && asprintf(&other, "%s%s", sysroot, path) >= 0) {
		file = open_regular(other);
		free(other);
	}
	return file;
}

static void note(const struct coverage_options *options, const char *name, uint64_t instructions,
		 int error)
{
	const char *why = error == NTRACE_ERR_UNSUPPORTED ?
				  "no line numbers (stripped, no debug file, or not an ELF file)" :
				  "its line numbers cannot be read";
	char number[UI_NUMBER_SIZE], text[512];

	snprintf(text, sizeof(text), "%.300s: %s: %s executed instructions have no source", name,
		 why, ui_number(number, instructions));
	options->note(options->data, text);
}

/* Summarizes the objects beyond those that were named. */
static void note_rest(const struct coverage_options *options, size_t count, uint64_t instructions)
{
	char number[UI_NUMBER_SIZE], text[128];

	if (count <= NOTES_MAX)
		return;
	snprintf(text, sizeof(text), "%zu more objects have no line numbers: %s instructions",
		 count - NOTES_MAX, ui_number(number, instructions));
	options->note(options->data, text);
}

static int add_objects(struct ntrace_coverage *coverage, struct ntrace_profile *profile,
		       const struct coverage_options *options, char **directories)
{
	const struct ntrace_profile_object *objects;
	size_t count, without = 0, i;
	uint64_t rest = 0;
	int error;

	objects = ntrace_profile_objects(profile, &count);
	for (i = 0; i < count; i++) {
		if ((options->object && options->object != objects[i].object) ||
		    !objects[i].instructions)
			continue;
		error = ntrace_coverage_add(coverage, profile, objects[i].object,
					    (const char *const *)directories);
		if (error == NTRACE_ERR_NOMEM)
			return error;
		if (error && ++without <= NOTES_MAX)
			note(options, ntrace_object_name(objects[i].object),
			     objects[i].instructions, error);
		else if (error)
			rest += objects[i].instructions;
	}
	note_rest(options, without, rest);
	return ntrace_coverage_end(coverage);
}

int coverage_make(struct ntrace_coverage **coverage, struct ntrace_profile *profile,
		  const struct coverage_options *options)
{
	struct ntrace_coverage *made = ntrace_coverage_new();
	char **directories = debug_directories(options->sysroot);
	int error = NTRACE_ERR_NOMEM;

	if (made && directories)
		error = add_objects(made, profile, options, directories);
	debug_directories_free(directories);
	if (error)
		ntrace_coverage_free(made);
	else
		*coverage = made;
	return error;
}
