/* SPDX-License-Identifier: GPL-2.0-only */
/* The command line of ntrace record, and of the commands that record. */
#ifndef NTRACE_TOOL_RECORD_OPTIONS_H
#define NTRACE_TOOL_RECORD_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <linux/ntrace.h>

#include "common/command.h"
#include "cpus.h"

#define RECORD_DIRECTORY_DEFAULT "ntrace.data"
#define RECORD_COUNTS_DEFAULT "ntrace.counts"
/* A loss costs the trace up to the next synchronization: every 2^12 messages by default. */
#define RECORD_SYNC_MAX_DEFAULT 8
/* A snapshot can be small; decoding starts at its first synchronization. */
#define RECORD_SYNC_MAX_SNAPSHOT 5

/*
 * With --hold. Also while the command is stopped, the kernel makes trace on its CPU, which waits for the
 * sideband of its time; an eighth of the data area must be more than that, or the command never goes on.
 */
#define RECORD_HOLD_DATA_MIN (1u << 20)

/* ntrace_config.timestamps until the hardware's modes are known */
#define RECORD_TIMESTAMPS_ANY UINT32_MAX

/* Options that recording commands share; each command lists those it accepts in its own table. */
enum {
	OPTION_OUTPUT = 'o',
	OPTION_ALL = 'a',
	OPTION_CPU = 'C',
	OPTION_PID = 'p',
	OPTION_TID = 't',
	OPTION_AUX_SIZE = 'm',
	OPTION_COMPRESS = 'z',
	OPTION_QUIET = 'q',
	OPTION_MODE = OPTION_LONG,
	OPTION_PRIVILEGE,
	OPTION_SINK_SIZE,
	OPTION_DATA_SIZE,
	OPTION_SYNC,
	OPTION_TASK,
	OPTION_PER_THREAD,
	OPTION_SNAPSHOT,
	OPTION_STROBE,
	OPTION_TIMESTAMPS,
	OPTION_FILTER,
	OPTION_TRAPS,
	OPTION_MARK,
	OPTION_FROM,
	OPTION_UNTIL,
	OPTION_ONLY_CONTEXT,
	OPTION_CONTEXT,
	OPTION_TRIGGER_IN,
	OPTION_TRIGGER_OUT,
	OPTION_DEBUG_TRIGGERS,
	OPTION_ARMED,
	OPTION_ENCODER,
	OPTION_COMPRESSION_LEVEL,
	OPTION_LIVE,
	OPTION_HOLD,
	OPTION_VALUES,
	OPTION_RECORD_END,
};

#define RECORD_PRIVILEGE_ALL (NTRACE_PRIVILEGE_U | NTRACE_PRIVILEGE_S | NTRACE_PRIVILEGE_M | \
			      NTRACE_PRIVILEGE_VU | NTRACE_PRIVILEGE_VS)

#define RECORD_WINDOW (NTRACE_CONFIG_FROM | NTRACE_CONFIG_UNTIL)

/* Returned by the @more callback of record_options_read(): not one of its options. */
#define RECORD_OPTION_OTHER -1

extern const struct option_spec record_options_table[];

struct id_list {
	pid_t *ids;
	unsigned int count;
};

/**
 * struct record_options - the command line
 * @wanted: requested mode, synchronization, privileges and sizes; 0 = not given
 * @directory: of the recording; with @live, the counts file
 * @compress: zstd level; 0 = do not compress
 * @live: count while the trace is made, and save counts only
 * @hold: with @live: stop the command while trace waits to be decoded
 * @values: record registers of user space at system calls and at the start of programs
 * @aux_size: per-process tracing: bytes of the AUX area per CPU or thread; 0 = not given
 * @sync_given: --sync was given
 * @all: trace all CPUs
 * @select_cpus: trace the CPUs in @cpus
 * @task: trace the command and its children
 * @pids: processes to trace
 * @tids: threads to trace
 * @per_thread: trace these threads only, not their children
 * @snapshot: keep only the last contents of the buffer
 * @strobe_on: microseconds with tracing on; 0 = always on
 * @strobe_off: microseconds with tracing off
 * @filter: address filter in perf's syntax; NULL = trace all addresses
 * @filter_files: @filter names files, so addresses are known only once they are mapped
 * @argc: number of words of the command in @argv; 0 = no command
 */
struct record_options {
	const struct command *command;
	const char *directory;
	struct ntrace_config wanted;
	unsigned int compress;
	uint64_t aux_size;
	bool sync_given;
	bool live;
	bool hold;
	bool values;
	bool quiet;
	bool all;
	bool select_cpus;
	bool task;
	bool per_thread;
	bool snapshot;
	uint32_t strobe_on;
	uint32_t strobe_off;
	struct cpu_mask cpus;
	struct id_list pids;
	struct id_list tids;
	char *filter;
	bool filter_files;
	int argc;
	char **argv;
};

/**
 * record_options_read - read the command line
 * @more: handles @command's own options and returns RECORD_OPTION_OTHER for all others; may be NULL
 * @data: passed to @more
 *
 * Call record_options_free() afterwards, also after a failure.
 * Return: EXIT_OK, OPTIONS_HELP after printing the help, or an exit status after an error message.
 */
int record_options_read(struct record_options *options, const struct command *command, int argc,
			char **argv, int (*more)(void *data, struct options *options, int option),
			void *data);
void record_options_free(struct record_options *options);

/**
 * record_privilege_check - can an encoder trace these privileges and no others?
 * @wanted: of the option --privilege; 0: not given
 * @filter: those that the filter of the encoder can select; 0: there is none, and all are traced
 *
 * Return: EXIT_OK, or EXIT_FAILED with a message.
 */
int record_privilege_check(uint32_t wanted, uint32_t filter);

/** record_privilege_warn - tell that an encoder without a filter traces more than was asked for */
void record_privilege_warn(void);

/** record_options_any - true if there is a command, a process or a thread */
bool record_options_any(const struct record_options *options);

/**
 * record_options_still_there - drop processes that have ended, for a further recording
 *
 * Return: false if no process is left to trace; true without processes, for CPUs.
 */
bool record_options_still_there(struct record_options *options);

/** record_options_tasks - true if the options ask for per-process tracing */
bool record_options_tasks(const struct record_options *options);

/** record_options_cpus - true if they ask for system-wide tracing, or for what only that has */
bool record_options_cpus(const struct record_options *options);

/**
 * record_options_sync - set @config's default synchronization if --sync was not given
 * @sync_modes: modes of the hardware, a bit mask
 * @sync_max: longest interval of the hardware
 */
void record_options_sync(const struct record_options *options, uint32_t sync_modes,
			 uint32_t sync_max, struct ntrace_config *config);

/** record_options_timestamps - replace RECORD_TIMESTAMPS_ANY by the best of @modes, if there is one */
void record_options_timestamps(uint32_t modes, struct ntrace_config *config);

#endif /* NTRACE_TOOL_RECORD_OPTIONS_H */
