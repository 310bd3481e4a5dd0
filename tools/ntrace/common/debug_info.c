// SPDX-License-Identifier: GPL-2.0-only
/* Debug files, source files, and coverage with messages. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "debug_info.h"
#include "output_file.h"
#include "ui.h"

#define DEBUG_DIRECTORY "/usr/lib/debug"
/* Name at most this many objects without lines. */
#define NOTES_MAX 10

static const char *const this_machine[] = { "", NULL };

const char *const *files_roots(const struct ntrace_session *session, const char *sysroot,
			       const char **room)
{
	if (session)
		return ntrace_session_roots(session);
	if (!sysroot)
		return this_machine;
	room[0] = sysroot;
	room[1] = "";
	room[2] = NULL;
	return room;
}

char **debug_directories(const char *const *roots)
{
	char **directories = calloc(FILES_ROOTS, sizeof(*directories));

	if (!roots)
		roots = this_machine;
	for (unsigned int i = 0; directories && roots[i]; i++) {
		if (asprintf(&directories[i], "%s" DEBUG_DIRECTORY, roots[i]) < 0) {
			directories[i] = NULL;
			debug_directories_free(directories);
			return NULL;
		}
	}
	return directories;
}

void debug_directories_free(char **directories)
{
	char **directory;

	for (directory = directories; directory && *directory; directory++)
		free(*directory);
	free(directories);
}

static int open_source(const char *path, const char *const *roots)
{
	char name[PATH_MAX];
	int fd = -1;

	if (!roots)
		roots = this_machine;
	for (; *roots && fd < 0; roots++) {
		fd = ntrace_open_below(*roots, path);
		/* Below the root, a path need not begin with a slash, and a link leads elsewhere than here. */
		if (fd >= 0 && !ntrace_path_below(*roots, path, name, sizeof(name)))
			output_input(name);
	}
	return fd;
}

void name_source(const char *path, const char *const *roots)
{
	int fd = open_source(path, roots);

	if (fd >= 0)
		close(fd);
}

/* Reads as much as there is, but at most @size bytes: the file may become shorter. */
static bool read_bytes(int fd, char *text, size_t size, size_t *have)
{
	ssize_t got = 1;

	for (*have = 0; *have < size && got; *have += (size_t)got) {
		got = read(fd, text + *have, size - *have);
		if (got < 0)
			return false;
	}
	text[*have] = '\0';
	return true;
}

char *read_source(const char *path, const char *const *roots, size_t most, size_t *size,
		  time_t *changed)
{
	int fd = open_source(path, roots), saved;
	struct stat status;
	char *text = NULL;

	if (fd < 0)
		return NULL;
	if (fstat(fd, &status)) {
		status.st_size = 0;
	} else if ((uint64_t)status.st_size > most) {
		errno = EFBIG;
	} else {
		text = malloc((size_t)status.st_size + 1);
		if (changed)
			*changed = status.st_mtime;
	}
	if (text && !read_bytes(fd, text, (size_t)status.st_size, size)) {
		free(text);
		text = NULL;
	}
	saved = errno;
	close(fd);
	errno = saved;
	return text;
}

bool source_is_newer(const struct ntrace_object *program, time_t changed)
{
	const char *path = ntrace_object_path(program);
	struct stat status;

	return path && !stat(path, &status) && changed > status.st_mtime;
}

void source_lines_read(struct source_lines *source, const char *path, const char *const *roots)
{
	size_t size = 0, count = 0;
	char *at, *end, *text;

	*source = (struct source_lines){ 0 };
	errno = 0;
	text = read_source(path, roots, SOURCE_MAX, &size, &source->changed);
	source->too_large = !text && errno == EFBIG;
	if (!text)
		return;
	source->text = text;
	for (size_t i = 0; i < size; i++)
		count += text[i] == '\n';
	source->lines = calloc(count + 1, sizeof(*source->lines));
	for (at = text; source->lines && at < text + size; at = end + 1) {
		end = memchr(at, '\n', (size_t)(text + size - at));
		if (!end)
			end = text + size;
		*end = '\0';
		source->lines[source->count++] = at;
	}
}

void source_lines_free(struct source_lines *source)
{
	free(source->lines);
	free(source->text);
	*source = (struct source_lines){ 0 };
}

/* Objects without lines: @count of them, the ones that were not named with @rest instructions. */
struct without_lines {
	const struct coverage_options *options;
	size_t count;
	uint64_t rest;
};

bool debug_is_absent(const struct ntrace_object *object)
{
	return !ntrace_object_path(object) && *ntrace_object_name(object) == '/';
}

static void note_object(void *data, const struct ntrace_profile_object *object, int error)
{
	const char *missing = ntrace_object_missing_debug(object->object);
	const char *why = missing			   ? missing :
			  debug_is_absent(object->object)  ? DEBUG_ABSENT :
			  error == NTRACE_ERR_UNSUPPORTED ? "no line numbers (stripped, no debug "
							    "file, or not an ELF file)" :
							    "its line numbers cannot be read";
	struct without_lines *without = data;
	char number[UI_NUMBER_SIZE], text[600];

	if (++without->count > NOTES_MAX) {
		without->rest += object->instructions;
		return;
	}
	snprintf(text, sizeof(text), "%.300s: %s: %s executed instructions have no source",
		 ntrace_object_name(object->object), why, ui_number(number, object->instructions));
	without->options->note(without->options->data, text);
}

/* Summarizes the objects beyond those that were named. */
static void note_rest(const struct without_lines *without)
{
	char number[UI_NUMBER_SIZE], text[128];

	if (without->count <= NOTES_MAX)
		return;
	snprintf(text, sizeof(text), "%zu more objects have no line numbers: %s instructions",
		 without->count - NOTES_MAX, ui_number(number, without->rest));
	without->options->note(without->options->data, text);
}

char *debug_missing(const struct ntrace_object *object)
{
	const char *why = ntrace_object_missing_debug(object);
	char *text;

	if (!why || asprintf(&text,
			     "%s: a part of its debug information was not read (%s): functions, "
			     "inlined functions or lines are not shown",
			     ntrace_object_name(object), why) < 0)
		return NULL;
	return text;
}

void debug_warn_missing(struct ntrace_stacks *stacks)
{
	const struct ntrace_stack_function *functions;
	size_t count, i, before;
	char *text;

	functions = ntrace_stacks_functions(stacks, &count);
	/* Names each object once; the functions of an object need not be together. */
	for (i = 0; i < count; i++) {
		struct ntrace_object *object = functions[i].object;

		if (!object || !ntrace_object_missing_debug(object))
			continue;
		for (before = 0; before < i && functions[before].object != object; before++)
			;
		text = before == i ? debug_missing(object) : NULL;
		if (text)
			warn("%s", text);
		free(text);
	}
}

static void note_missing(struct ntrace_profile *profile, const struct coverage_options *options)
{
	const struct ntrace_profile_object *objects;
	size_t count, i;
	char *text;

	objects = ntrace_profile_objects(profile, &count);
	for (i = 0; i < count; i++) {
		text = debug_missing(objects[i].object);
		if (text)
			options->note(options->data, text);
		free(text);
	}
}

int coverage_make(struct ntrace_coverage **coverage, struct ntrace_profile *profile,
		  const struct coverage_options *options)
{
	struct without_lines without = { .options = options };
	struct ntrace_coverage_options wanted = { .size = sizeof(wanted),
						  .object = options->object,
						  .without = note_object,
						  .data = &without };
	char **directories = debug_directories(options->roots);
	int error;

	if (!directories)
		return NTRACE_ERR_NOMEM;
	wanted.directories = (const char *const *)directories;
	error = ntrace_coverage_make(coverage, profile, &wanted);
	debug_directories_free(directories);
	if (!error)
		note_rest(&without);
	if (!error)
		note_missing(profile, options);
	return error;
}
