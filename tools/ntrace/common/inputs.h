/* SPDX-License-Identifier: GPL-2.0-only */
/* The inputs of the command, which no output may change: see inputs.c. */
#ifndef NTRACE_TOOL_COMMON_INPUTS_H
#define NTRACE_TOOL_COMMON_INPUTS_H

#include <stdbool.h>
#include <sys/stat.h>

/**
 * output_input - name an input of the command
 * @path: a file, or a recording, whose files are inputs; - is standard input
 *
 * options_next() names operands and the arguments FILE and DIR of options. Ends the command with an error message if
 * standard output or standard error output is the file: neither can be opened anew, and the input would change.
 */
void output_input(const char *path);

/** output_input_directory - name a directory of which each file is an input, also one that is made now */
void output_input_directory(const char *path);

/** output_input_word - output_input() of FILE or FILE@ADDRESS */
void output_input_word(const char *word);

/** output_is_standard - whether @path names standard output: by - or as a descriptor of the process */
bool output_is_standard(const char *path);

/** output_is_input - whether the file @path is an input, or standard input */
bool output_is_input(const char *path);

/** output_is_same - whether two outputs are one file, which need not exist, or both standard output */
bool output_is_same(const char *path, const char *other);

/** output_stream_is - whether a descriptor writes to a regular file */
bool output_stream_is(int fd, const struct stat *file);

/**
 * output_end_before_writing - end the command without writing what it has for standard output or standard error output
 * @fd: the one of both that must not be written; the message goes to the other one, if that is another file
 * @found: the file
 * @why: what is wrong
 */
_Noreturn void output_end_before_writing(int fd, const char *found, const char *why);

#endif /* NTRACE_TOOL_COMMON_INPUTS_H */
