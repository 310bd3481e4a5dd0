/* SPDX-License-Identifier: GPL-2.0-only */
/* What a debugger sees: the threads of one process or the harts, their code, files and functions. */
#ifndef NTRACE_TOOL_GDB_TARGET_H
#define NTRACE_TOOL_GDB_TARGET_H

#include "elf_file.h"
#include "history.h"

/** struct target_file - a file that code comes from; @elf is NULL if it is not an ELF file */
struct target_file {
	struct ntrace_object *object;
	char *path;
	struct elf_file *elf;
};

/**
 * struct target_module - a file at a place of the process
 * @file: index in the files of the target
 * @bias: run-time address minus link address
 * @instructions: executed instructions
 */
struct target_module {
	size_t file;
	uint64_t bias;
	uint64_t instructions;
};

/**
 * struct target - what all clients share
 * @history: borrowed
 * @xlen: 32 or 64
 * @process: process of Linux, otherwise harts
 * @pid: the process
 * @thread: its threads, numbers of threads of the history; the debugger's thread ids are in
 *          target_tid()
 * @current: index of the thread that is shown first
 * @exec: index in @module of the program, -1 = unknown
 */
struct target {
	struct history *history;
	unsigned int xlen;
	bool process;
	int32_t pid;
	uint32_t *thread;
	size_t threads;
	size_t current;
	struct target_file *file;
	size_t files, file_room;
	struct target_module *module;
	size_t modules, module_room;
	int64_t exec;
};

/**
 * target_init - choose a process
 * @history: after the survey
 * @tid: a thread of the process; 0 = the process with most instructions
 *
 * Return: EXIT_OK, EXIT_SHOWN if there is no instruction of it, or EXIT_FAILED after an error message.
 */
int target_init(struct target *target, struct history *history, int64_t tid);

/**
 * target_around - the thread for target_init() that executes history.around
 * @wanted: number of times
 *
 * Prefers the process with most instructions, and of its threads that with most.
 * Return: thread id; 0 if no thread has so many calls.
 */
int64_t target_around(const struct history *history, uint64_t wanted);

/** target_nothing - the error message for EXIT_SHOWN of target_init(). Return: EXIT_FAILED */
int target_nothing(int64_t tid);
void target_free(struct target *target);

/** target_set_exec - use another file as the program, or a file where none is known */
int target_set_exec(struct target *target, const char *path, uint64_t bias);

/** target_tid - id of a thread for the debugger, not 0 */
uint64_t target_tid(const struct target *target, size_t index);

/** target_read - code and read-only data at @address. Return: number of bytes, 0 = unknown */
size_t target_read(struct target *target, const struct ntrace_space *space, uint64_t address,
		   uint8_t *data, size_t size);

/**
 * target_read_file - a byte of the program's files
 * @fresh: also of data that the program may have changed, as it was loaded
 */
bool target_read_file(const struct target *target, uint64_t address, bool fresh, uint8_t *byte);

/**
 * target_functions - addresses of the functions with a name
 * @name: a symbol, or its demangled form
 * @address: set to an array, to be freed with free()
 *
 * Return: their number.
 */
size_t target_functions(const struct target *target, const char *name, uint64_t **address);

/** target_place_name - "function+0x12 (object)" of an instruction. Return: @text */
char *target_place_name(const struct target *target, const struct history_place *place, char *text,
			size_t size);

/* A name that begins so is opened by GDB with Host I/O Packets, whatever its sysroot is. */
#define TARGET_READS "target:"

/**
 * target_file_name - the name of a file for the debugger, which target_file_path() knows
 *
 * It is the path, or for a path that no text can have, such as one with a line feed, TARGET_READS with a
 * unique name. Return: name, to be freed with free(); NULL when out of memory.
 */
char *target_file_name(const struct target *target, size_t index);

/**
 * target_file_path - the file that the debugger may read under a name
 *
 * These are the files of the target, and the dynamic linker under the name in the program.
 * Return: path on this machine, NULL = none.
 */
const char *target_file_path(const struct target *target, const char *name);

/** target_interpreter - index in @module of the program's dynamic linker, -1 = it was not executed */
int64_t target_interpreter(const struct target *target);

/** target_float_size - bytes of a floating-point register of the program, 0 = it has none */
unsigned int target_float_size(const struct target *target);

#endif /* NTRACE_TOOL_GDB_TARGET_H */
