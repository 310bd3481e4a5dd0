/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The recorded machine, a term of perf's tools. The sideband records are joined once, when they are
 * read, into programs with their mappings in order of time, names of threads, and the task switches
 * of each CPU. Nothing here depends on trace.
 */
#ifndef NTRACE_SIDEBAND_MACHINE_H
#define NTRACE_SIDEBAND_MACHINE_H

#include <ntrace/image.h>
#include <ntrace/perf.h>

#include "notes.h"

/*
 * A file with an executable mapping; opened at its first use (session/files.c). Its identity is the path
 * with the build-id, else with the inode, if the recording has either. Memory without a file is its own
 * "file" in each mapping: the recorder may have copied it.
 */
struct mapped_file {
	char *path;
	uint8_t build_id[20];
	uint8_t build_id_size;
	uint32_t device_major, device_minor;	/* of @inode */
	uint64_t inode;			/* 0: unknown, or the mapping has a build-id */
	uint64_t inode_generation;
	bool is_memory;
	bool replaced, shared;		/* it was said that its code is not certain: session/follow_code.c */
	int32_t pid;			/* of memory, as address and time of the mapping */
	uint64_t address;
	uint64_t time;
	int32_t writer;			/* a process that could write its code; 0: none, or it was said */
	bool opened;			/* opening was tried; @object is NULL if it failed */
	struct ntrace_object *object;
	struct ntrace_object *
		outside; /* the bytes of @object as code of no segment: session_code(); NULL: not needed */
	struct mapped_file *next;	/* next file with the same hash */
};

/*
 * @file NULL: the memory is not code of a file, and earlier code there is gone.
 * @changed: the process can write it, or could: its code may be another than that of the file
 * @replacing: number of changes of the program, with this one, that may put code in place of other code
 * @inherited: 0, or a process made it that was forked when the program had so many changes: if both share their
 *	memory, it has replaced code that was mapped by one of these; else it is nothing to this program
 */
struct mapping_change {
	uint64_t time;
	uint64_t address;
	uint64_t length;
	uint64_t offset;
	struct mapped_file *file;
	bool changed;
	size_t replacing;
	size_t inherited;
};

struct program_space;

/*
 * One program in one process: from its exec() or fork to the next exec() of that process. A forked
 * program starts with the first @base_count changes of @base.
 */
struct program {
	uint64_t number;		/* unique in the machine, never 0 */
	int32_t pid;
	uint32_t cpu; /* that executed exec(); NTRACE_SIDEBAND_NO_CPU: not known */
	uint64_t start;
	struct program *base;
	size_t base_count;
	unsigned int depth;		/* depth of the chain of bases */
	struct mapping_change *changes;
	size_t count;
	size_t room;
	struct program *next;		/* later program of the process */
	size_t children; /* programs with this @base */
	bool shared;			/* some @changes are @inherited */
	bool moved;			/* it was said that a mapping was moved: session/notes.c */
};

/* Thread @tid began at @time: thread @parent_tid made it. */
struct birth {
	uint64_t time;
	int32_t pid, tid;
	int32_t parent_pid, parent_tid;
};

/* @first: the name with which a thread or a program begins */
struct name_change {
	uint64_t time;
	bool first;
	const char *name;	/* points into the sideband file, or is "[unnamed]" */
};

/*
 * The known facts about one id: as process (programs) and as thread (names).
 * @threads: threads that have begun less those that have ended, besides the leader
 * @ended: time of the end of all its threads; 0: not yet
 */
struct task {
	int32_t id;
	int64_t threads;
	uint64_t ended;
	struct program *first;
	struct program *last;
	struct program **programs;	/* all of them, in the order of their times */
	size_t program_count;
	size_t program_room;
	struct name_change *names;
	size_t name_count;
	size_t name_room;
	struct task *next;	/* next task with the same hash */
};

/*
 * A task switch: @next takes over at @time from @previous.
 * @left, @came: times of the OUT record, before the switch, and of the IN record, after it; 0: not seen
 * @lost: upper bound of the switches missing between the previous one and this one
 */
struct task_switch {
	uint64_t time;
	uint64_t left, came;
	int32_t previous_pid, previous_tid;
	int32_t next_pid, next_tid;
	uint64_t lost;
};

/*
 * Trace of one task, reported by a PERF_RECORD_AUX of @event: bytes of an AUX area recorded between
 * @start and @end. The trace may have begun after @start, and before it, but not before @earliest.
 * @came: its first message comes before this time; 0: not known
 * @left: time of the OUT record of the task, after which the kernel stopped its trace; 0: it went on
 * @came_tid: number of the thread at the begin of the piece: exec may have changed it; 0: that at the end, @tid
 */
struct piece {
	uint64_t event;
	uint64_t offset;
	uint64_t size;
	uint64_t earliest;
	uint64_t came;
	uint64_t start;
	uint64_t left;
	uint64_t end;
	int32_t pid, tid;
	int32_t came_tid;
	uint32_t cpu;
	uint32_t flags;		/* PERF_AUX_FLAG_... */
};

struct cpu_switches {
	struct task_switch *switches;
	size_t count;
	size_t room;
	uint64_t lost;		/* records lost since the last switch */
	uint64_t came;		/* time of the last incoming task */
	int32_t came_pid, came_tid; /* that task */
	uint64_t left;		/* time of the last OUT record */
	uint64_t began;		/* time of the last ITRACE_START record, before the trace */
	uint64_t traced;	/* time of the last AUX record */
};

/* A copy of a name, whose record is not kept. */
struct kept_name {
	struct kept_name *next;
	char text[];
};

#define MACHINE_BUCKETS 4096
#define MACHINE_CPUS_MAX 65536

struct kernel_symbol {
	uint64_t address;
	uint64_t length;
	const char *name;
};

struct machine {
	char *directory;	/* of the recording */
	struct ntrace_perf_file *file;
	struct ntrace_perf_counts counts;
	struct task *tasks[MACHINE_BUCKETS];
	struct mapped_file *files[MACHINE_BUCKETS];
	struct cpu_switches *cpus;
	uint32_t cpu_count;
	struct kernel_symbol *symbols;
	size_t symbol_count;
	size_t symbol_room;
	struct piece *pieces;	/* sorted by the time of their end */
	size_t piece_count;
	size_t piece_room;
	struct birth *births;	/* in order of time; not kept with @growing */
	size_t birth_count;
	size_t birth_room;
	uint64_t programs;	/* number of programs so far */
	uint64_t lost;		/* number of all lost records */
	uint64_t text_pokes;
	/* Records come while the trace is decoded: machine_take(). */
	bool growing;
	uint32_t switches_of; /* with @growing: the only CPU whose switches are kept */
	size_t ended; /* with @growing: tasks that have ended and are not forgotten */
	struct kept_name *kept[MACHINE_BUCKETS];
	bool anonymous_code;	/* executable mappings that show no file, and were not copied */
	bool long_paths;	/* likewise, of a file whose path is too long for a record */
	bool no_cpu;		/* switches without a CPU */
};

/* Reads the file or directory @path. Return: as ntrace_perf_file_open(), or NTRACE_ERR_NOMEM. */
int machine_open(struct machine *machine, const char *path);
void machine_close(struct machine *machine);

/*
 * machine_grow.c: from now on records come by machine_take(). Of switches only those of @cpu are kept.
 * Return: 0 or NTRACE_ERR_NOMEM.
 */
int machine_grow(struct machine *machine, uint32_t cpu);

/* Adds the next record in the order of time; it is copied. Return: 0 or NTRACE_ERR_NOMEM. */
int machine_take(struct machine *machine, const struct ntrace_sideband *record);

/*
 * Forgets tasks that ended before @time, but those with a program for which @uses returns true.
 * @dropped: called before each forgotten program, to drop its spaces.
 */
void machine_forget(struct machine *machine, uint64_t time,
		    bool (*uses)(void *data, const struct program *program),
		    void (*dropped)(void *data, struct program *program), void *data);

/* machine.c, for machine_grow.c */
int machine_record(struct machine *machine, const struct ntrace_sideband *record);
struct task *machine_task(const struct machine *machine, int32_t id);
void machine_free_task(struct task *task);

/* The program that process @pid runs at @time; NULL if none is known. */
struct program *machine_program(const struct machine *machine, int32_t pid, uint64_t time);

/*
 * Programs of a process by their number, from 0, in order of time: for references in files.
 * Return: NULL if there is none.
 */
struct program *machine_program_at(const struct machine *machine, int32_t pid, uint64_t number);
uint64_t machine_program_number(const struct machine *machine, const struct program *program);

/* The next file after @after, NULL = the first one, that has the path of @file and is not @file. */
struct mapped_file *machine_same_path(const struct machine *machine, const struct mapped_file *file,
				      const struct mapped_file *after);

/* The name of thread @tid just before @time; NULL if none is known. */
const char *machine_thread_name(const struct machine *machine, int32_t tid, uint64_t time);

/* The same, of the last name that the thread takes from then on, in the same program. */
const char *machine_last_name(const struct machine *machine, int32_t tid, uint64_t time);

/* Notes about gaps in the sideband. @name: name of its file. */
void machine_tell(const struct machine *machine, const struct notes *notes, const char *name);

/* Whether two mappings of files show the same bytes of the same file at an address. */
static inline bool same_code(const struct mapping_change *a, const struct mapping_change *b)
{
	return a->file == b->file && a->address - a->offset == b->address - b->offset;
}

/* Whether @before and @after may be different code at an address of both. Memory is rather continued than replaced. */
static inline bool replaces_code(const struct mapping_change *before,
				 const struct mapping_change *after)
{
	return before->file && after->file && !same_code(before, after) &&
	       !(before->file->is_memory && after->file->is_memory);
}

/* mappings.c: whether @change may replace code that the first @count changes of @program, and its bases, mapped. */
bool mapping_replaces(const struct program *program, size_t count,
		      const struct mapping_change *change);

/* mappings.c: notes in @change, and in its file, whether the process can write the code, or could. */
void mapping_note_writer(const struct program *program, struct mapping_change *change,
			 const struct ntrace_sideband *record);

/* Number of changes of @program before @time. */
size_t program_changes_before(const struct program *program, uint64_t time);

#endif
