/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The recorded machine, as perf's tools call it: the sideband records, joined once when they are
 * read: programs with their mappings in order of time, names of threads, and for each CPU the task
 * switches. Nothing here depends on trace.
 */
#ifndef NTRACE_SIDEBAND_MACHINE_H
#define NTRACE_SIDEBAND_MACHINE_H

#include <ntrace/image.h>
#include <ntrace/perf.h>

#include "notes.h"

/* A file that was mapped executable; opened when it is first needed (session/spaces.c). */
struct mapped_file {
	char *path;
	uint8_t build_id[20];
	uint8_t build_id_size;
	bool opened;			/* tried; @object is NULL if in vain */
	struct ntrace_object *object;
	struct mapped_file *next;	/* of the same hash */
};

/* @file NULL: the memory is no file's code; what was there is gone. */
struct mapping_change {
	uint64_t time;
	uint64_t address;
	uint64_t length;
	uint64_t offset;
	struct mapped_file *file;
};

/*
 * One program in one process: from its exec() (or fork) up to the next one of
 * that process. A forked one starts with the first @base_count changes of
 * @base.
 */
struct program {
	int32_t pid;
	uint64_t start;
	struct program *base;
	size_t base_count;
	unsigned int depth;		/* number of bases below each other */
	struct mapping_change *changes;
	size_t count;
	size_t room;
	struct program *next;		/* later one of the process */
	/* For decoding: the space with the first @applied changes (spaces.c). */
	struct ntrace_space *space;
	size_t applied;
	uint64_t last_use;
};

struct name_change {
	uint64_t time;
	bool exec;
	const char *name;	/* points into the sideband file */
};

/* Everything known of one number: as process (programs) and as thread (names). */
struct task {
	int32_t id;
	struct program *first;
	struct program *last;
	struct name_change *names;
	size_t name_count;
	size_t name_room;
	struct task *next;	/* of the same hash */
};

/*
 * A task switch: @next takes over at @time from @previous.
 * @lost: up to so many switches between the one before and this are missing
 */
struct task_switch {
	uint64_t time;
	int32_t previous_pid, previous_tid;
	int32_t next_pid, next_tid;
	uint64_t lost;
	bool confirmed;		/* OUT record seen, IN record too */
};

/*
 * Trace of one task, as a PERF_RECORD_AUX of @event hands it over: bytes of an
 * AUX area that were made between @start and @end; it may have begun later.
 */
struct piece {
	uint64_t event;
	uint64_t offset;
	uint64_t size;
	uint64_t start;
	uint64_t end;
	int32_t pid, tid;
	uint32_t cpu;
	uint32_t flags;		/* PERF_AUX_FLAG_... */
};

struct cpu_switches {
	struct task_switch *switches;
	size_t count;
	size_t room;
	uint64_t lost;		/* records lost since the last switch */
	uint64_t came;		/* last time that a task came */
	uint64_t traced;	/* last time that trace was handed over */
};

#define MACHINE_BUCKETS 4096
#define MACHINE_CPUS_MAX 65536

struct kernel_symbol {
	uint64_t address;
	uint64_t length;
	const char *name;
};

struct machine {
	struct ntrace_perf_file *file;
	struct ntrace_perf_counts counts;
	struct task *tasks[MACHINE_BUCKETS];
	struct mapped_file *files[MACHINE_BUCKETS];
	struct cpu_switches *cpus;
	uint32_t cpu_count;
	struct kernel_symbol *symbols;
	size_t symbol_count;
	size_t symbol_room;
	struct piece *pieces;	/* by the time of their end */
	size_t piece_count;
	size_t piece_room;
	uint64_t lost;		/* all lost records */
	uint64_t text_pokes;
	bool anonymous_code;	/* executable memory that is no file's */
	bool no_cpu;		/* switches that do not tell their CPU */
};

/* Reads @path (file or directory). Return: as ntrace_perf_file_open(), or NTRACE_ERR_NOMEM. */
int machine_open(struct machine *machine, const char *path);
void machine_close(struct machine *machine);

/* The program that process @pid runs at @time; NULL if none is known. */
struct program *machine_program(const struct machine *machine, int32_t pid, uint64_t time);

/* The name of thread @tid just before @time; NULL if none is known. */
const char *machine_thread_name(const struct machine *machine, int32_t tid, uint64_t time);

/* Notes on what the sideband lacks. @name: of the file it is in. */
void machine_tell(const struct machine *machine, const struct notes *notes, const char *name);

/* Number of changes of @program before @time. */
size_t program_changes_before(const struct program *program, uint64_t time);

#endif
