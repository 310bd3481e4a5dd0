/* SPDX-License-Identifier: GPL-2.0-only */
/* Debug files, source files, and messages about code without source lines. */
#ifndef NTRACE_TOOL_COMMON_DEBUG_INFO_H
#define NTRACE_TOOL_COMMON_DEBUG_INFO_H

#include <stdbool.h>
#include <stddef.h>
#include <time.h>

#include <ntrace/coverage.h>
#include <ntrace/session.h>
#include <ntrace/stacks.h>

/**
 * struct coverage_options - objects to look at, and where their files are
 * @object: look at this object only; NULL = all executed objects
 * @roots: see files_roots()
 * @note: called with a sentence for each object without lines or functions; the text is borrowed
 * @data: passed to @note
 */
struct coverage_options {
	struct ntrace_object *object;
	const char *const *roots;
	void (*note)(void *data, const char *text);
	void *data;
};

#define FILES_ROOTS 3

/**
 * files_roots - where files of the recorded machine are searched, in this order
 * @session: NULL = there is no recording
 * @sysroot: without a recording: searched before this machine; may be NULL
 * @room: FILES_ROOTS entries, valid as long as the result is used
 *
 * Return: array that ends with NULL: directories, "" = "/".
 */
const char *const *files_roots(const struct ntrace_session *session, const char *sysroot,
			       const char **room);

/**
 * debug_directories - directories of debug files, for ntrace_lines_open()
 * @roots: see files_roots(); NULL = this machine
 *
 * Return: array that ends with NULL, to be freed with debug_directories_free(); NULL when out of
 * memory.
 */
char **debug_directories(const char *const *roots);
void debug_directories_free(char **directories);

/* A source file that is larger is not read: generated ones have some 10 MiB. */
#define SOURCE_MAX (32u << 20)
#define SOURCE_TOO_LARGE "the source file is larger than 32 MiB: it is not read"

/**
 * read_source - read a source file by the path in the debug information
 * @roots: see files_roots(); NULL = this machine
 * @most: read no file with more bytes
 * @size: set to the number of bytes; a zero byte follows them
 *
 * Links of another machine stay below its root.
 *
 * @changed: set to the time of the last change; may be NULL
 *
 * Return: the bytes, to be freed; NULL if there is no such regular file, if it is larger (errno EFBIG), or when
 * out of memory.
 */
char *read_source(const char *path, const char *const *roots, size_t most, size_t *size,
		  time_t *changed);

/**
 * source_is_newer - whether a source was changed after its program was made
 * @changed: see read_source()
 *
 * As debuggers say: nothing in a program tells which text its source had.
 */
bool source_is_newer(const struct ntrace_object *program, time_t changed);
#define SOURCE_NEWER "is newer than the program"
#define SOURCE_NEWER_NOTE SOURCE_NEWER ": its lines may be others than those it was compiled from"

/**
 * struct source_lines - the lines of a source file; @count is 0 if it cannot be read
 * @too_large: because of SOURCE_MAX
 * @changed: when the file was changed last
 * @text: private
 */
struct source_lines {
	char **lines;
	size_t count;
	bool too_large;
	time_t changed;
	char *text;
};

/** source_lines_read - read a source file, see read_source(); free it with source_lines_free() */
void source_lines_read(struct source_lines *source, const char *path, const char *const *roots);
void source_lines_free(struct source_lines *source);

/**
 * name_source - name an input of the command that is read later: read_source() does it too late if output comes before it
 * @path: as for read_source()
 * @roots: likewise
 */
void name_source(const char *path, const char *const *roots);

/** debug_is_absent - whether a file of counts names the object, and it was not found on this machine */
bool debug_is_absent(const struct ntrace_object *object);
#define DEBUG_ABSENT                                                                     \
	"the file is not here, or is another one: --sysroot DIR says where the files of its machine are (of " \
	"an archived recording: RECORDING/archive; of programs that the recorder copied: RECORDING)"

/**
 * debug_missing - a sentence about debug information of an object that was not read
 *
 * Return: string to be freed, NULL if nothing is missing.
 */
char *debug_missing(const struct ntrace_object *object);

/** debug_warn_missing - warn of each object of call stacks for which there is such a sentence */
void debug_warn_missing(struct ntrace_stacks *stacks);

/**
 * coverage_make - make the coverage of a profile that has ended
 * @coverage: set to the new coverage, also ended; may be empty
 *
 * Return: 0 or enum ntrace_error.
 */
int coverage_make(struct ntrace_coverage **coverage, struct ntrace_profile *profile,
		  const struct coverage_options *options);

#endif /* NTRACE_TOOL_COMMON_DEBUG_INFO_H */
