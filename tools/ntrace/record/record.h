/* SPDX-License-Identifier: GPL-2.0-only */
/* Parts of `ntrace record`. Functions that fail have complained already. */
#ifndef NTRACE_TOOL_RECORD_H
#define NTRACE_TOOL_RECORD_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <linux/ntrace.h>
#include <linux/perf_event.h>

#include <ntrace/perf.h>
#include <ntrace/recording.h>

#include "common/command.h"

/* ---- harts: sets of Linux CPU numbers ---- */

#define HARTS_MAX 4096

struct hart_set {
	uint64_t bits[HARTS_MAX / 64];
};

static inline bool hart_set_has(const struct hart_set *set, unsigned int hart)
{
	return hart < HARTS_MAX && set->bits[hart / 64] >> hart % 64 & 1;
}

/** harts_online - Return: false if the kernel does not tell */
bool harts_online(struct hart_set *online);

/** hart_set_parse - "0,2-3"; surrounding white space is allowed. Return: false if it is no list */
bool hart_set_parse(struct hart_set *set, const char *text);

/* ---- options ---- */

#define RECORD_DIRECTORY_DEFAULT "ntrace.data"
/* Periodic synchronization limits what a loss costs: every 2^12 messages. */
#define RECORD_SYNC_MAX_DEFAULT 8
/* A snapshot may be small, and is of use from its first synchronization on. */
#define RECORD_SYNC_MAX_SNAPSHOT 5

/* ntrace_config.timestamps until it is known what there is */
#define RECORD_TIMESTAMPS_ANY UINT32_MAX

/* Options that commands which record have in common; each has its own table of those it takes. */
enum {
	OPTION_OUTPUT = 'o',
	OPTION_ALL = 'a',
	OPTION_HARTS = 'C',
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
	OPTION_CONTEXT,
	OPTION_TRIGGER_IN,
	OPTION_TRIGGER_OUT,
	OPTION_DEBUG_TRIGGERS,
	OPTION_ARMED,
	OPTION_COMPRESSION_LEVEL,
	OPTION_RECORD_END,
};

/* No exit status. */
#define RECORD_OPTION_OTHER -1

extern const struct option_spec record_options_table[];

struct id_list {
	pid_t *ids;
	unsigned int count;
};

/**
 * struct record_options - the command line
 * @wanted: mode, synchronization, privileges and sizes; 0 = not said
 * @compress: level of zstd; 0 = not compressed
 * @aux_size: of tasks: bytes of the buffer per hart or thread; 0 = not said
 * @all: all harts
 * @select_harts: the harts of @harts
 * @task: the command and what it starts
 * @pids: processes to trace
 * @tids: threads to trace
 * @per_thread: not what they start
 * @snapshot: only what the buffer holds in the end
 * @strobe_on: microseconds with trace; 0 = always
 * @strobe_off: and without
 * @filter: addresses to trace, in perf's words; NULL = all
 * @filter_files: some of them are in files, and not known before these are mapped
 * @argc: words of the command, 0 = none
 */
struct record_options {
	const struct command *command;
	const char *directory;
	struct ntrace_config wanted;
	unsigned int compress;
	uint64_t aux_size;
	bool sync_given;
	bool quiet;
	bool all;
	bool select_harts;
	bool task;
	bool per_thread;
	bool snapshot;
	uint32_t strobe_on;
	uint32_t strobe_off;
	struct hart_set harts;
	struct id_list pids;
	struct id_list tids;
	char *filter;
	bool filter_files;
	int argc;
	char **argv;
};

/**
 * record_options_read - read the command line
 * @more: takes the options that are @command's own, RECORD_OPTION_OTHER: it is none of them; may be
 *        NULL
 *
 * Return: EXIT_OK, OPTIONS_HELP after the help was printed, else the exit status after a
 * complaint; record_options_free() in all cases.
 */
int record_options_read(struct record_options *options, const struct command *command, int argc,
			char **argv, int (*more)(void *data, struct options *options, int option),
			void *data);
/** record_options_any - there is a command, a process or a thread */
bool record_options_any(const struct record_options *options);
/** record_options_tasks - it was said that tasks are to be traced */
bool record_options_tasks(const struct record_options *options);
void record_options_free(struct record_options *options);
/** record_options_sync - what @config has for sync_mode and sync_max if nothing was asked for */
void record_options_sync(const struct record_options *options, uint32_t sync_modes,
			 uint32_t sync_max, struct ntrace_config *config);
/** record_options_timestamps - replaces RECORD_TIMESTAMPS_ANY by the best of @modes, if there is one */
void record_options_timestamps(uint32_t modes, struct ntrace_config *config);

/** record_filter_take - one more of the addresses that are traced. Return: exit status */
int record_filter_take(struct record_options *options, const char *value);

/**
 * record_filter_find - find a function of a program, a library or the like
 * @path: ELF file
 * @offset: in that file, of the function's first instruction
 *
 * Return: exit status.
 */
int record_filter_find(const char *path, const char *function, uint64_t *offset);

/** record_filter_take_traps - trace handlers only. Return: exit status */
int record_filter_take_traps(struct record_options *options, const char *text);

/** record_trigger_take_in - --trigger-in. Return: exit status */
int record_trigger_take_in(struct record_options *options, const char *text);
/** record_trigger_take_out - --trigger-out. Return: exit status */
int record_trigger_take_out(struct record_options *options, const char *text);
/** record_trigger_check - what does not go together with triggers. Return: exit status */
int record_trigger_check(const struct record_options *options);
/** record_trigger_fits - is it in what an encoder has? @in, @out: bit n = number n is there */
bool record_trigger_fits(const struct ntrace_config *wanted, uint32_t in, uint32_t out, bool debug);

/* ---- files of trace ---- */

/**
 * struct trace_output - see trace_output.c
 * @name: in the directory of the recording
 * @fd: -1: not open
 * @saved: bytes of trace in it
 * @written: bytes of the file: less if it is compressed
 * @frame: bytes of trace in the frame that is not ended
 */
struct trace_output {
	char name[32];
	int fd;
	uint64_t saved;
	uint64_t written;
	uint64_t frame;
	struct ZSTD_CCtx_s *context;
	uint8_t *packed;
	size_t room;
};

/** trace_output_open - aux.@index; @level: of compression, 0 = none. Return: exit status */
int trace_output_open(struct trace_output *output, const char *directory, unsigned int index,
		      unsigned int level);
/** trace_output_write - Return: 0 or errno; nothing may be written after an error */
int trace_output_write(struct trace_output *output, const uint8_t *data, size_t size);
/** trace_output_end - what makes the file whole; not after an error. Return: 0 or errno */
int trace_output_end(struct trace_output *output);
/** trace_output_make_room - on a full disk: the end of the file goes */
void trace_output_make_room(struct trace_output *output);
/** trace_output_close - may be called again. Return: 0 or errno: some file systems tell only here */
int trace_output_close(struct trace_output *output);

/* ---- spool: trace on its way to the file ---- */

struct spool_chunk;

/**
 * struct spool - see spool.c
 * @output: file; borrowed
 * @limit: bytes of memory it may hold
 * @held: bytes it holds
 * @error: errno of the first write that failed; what comes after it is dropped
 */
struct spool {
	struct trace_output *output;
	uint64_t limit;
	uint64_t held;
	int error;
	struct spool_chunk *oldest;
	struct spool_chunk *newest;
};

/** spool_memory - how much memory all spools together should take: a quarter of what is free */
uint64_t spool_memory(void);

void spool_init(struct spool *spool, struct trace_output *output, uint64_t limit);

/** spool_add - Return: 0 or errno: ENOMEM, or that of a write that became necessary */
int spool_add(struct spool *spool, const uint8_t *data, size_t size);

/** spool_flush - write all and free the memory. Return: 0 or errno of the first failed write */
int spool_flush(struct spool *spool);

/* ---- devices ---- */

/**
 * struct device - one /dev/ntraceN: a hart's trace
 * @lost, @loss, @gaps: valid after device_stop()
 * @spool: memory between the data area and the file
 * @output: file; of a leader's follower only the name is of use
 * @notify: eventfd that is written when saving fails
 * @saved: bytes of trace in the file, valid after device_save_finish()
 * @error: errno of the thread that saves the trace; 0 = all is well
 */
struct device {
	char path[32];
	int fd;
	struct trace_output output;
	int notify;
	struct ntrace_info info;
	struct ntrace_config config;
	const struct device *leader; /* has the trace of this one, too: they share a sink */
	const volatile struct ntrace_control *control;
	const uint8_t *data;
	size_t map_size;
	pthread_t thread;
	bool thread_started;
	bool running;
	struct spool spool;
	uint64_t saved;
	uint64_t lost;
	uint32_t loss;
	uint32_t gaps;
	uint64_t start_ns;
	uint64_t stop_ns;
	int error;
};

struct device_list {
	struct device *devices;
	unsigned int count;
};

/**
 * devices_open - open the devices of these harts, check the interface version
 * @harts: NULL = all there are
 *
 * Return: EXIT_OK or EXIT_FAILED; devices_close() in both cases.
 */
int devices_open(struct device_list *list, const struct hart_set *harts);
void devices_close(struct device_list *list);

/** devices_forbidden - there are some, but this user may not open them */
bool devices_forbidden(void);

/** device_configure - configure and map. @wanted holds what was asked for */
int device_configure(struct device *device, const struct ntrace_config *wanted);

/**
 * device_save_to - create the file for the trace
 * @directory: recording; the file is aux.@index in it
 * @level: of compression, 0 = none
 * @memory: bytes of trace that may wait in memory
 */
int device_save_to(struct device *device, const char *directory, unsigned int index,
		   unsigned int level, uint64_t memory);

/** device_start - start the trace and the thread that saves it */
int device_start(struct device *device);

/** device_stop - stop the trace, if it runs, and take over its counters */
int device_stop(struct device *device);

/** device_save_finish - write all that is left to the file. Complains unless @quiet */
int device_save_finish(struct device *device, bool quiet);

/* ---- sideband ---- */

struct sideband;

/**
 * sideband_open - create the file
 * @path: perf.data file to write
 */
int sideband_open(struct sideband **sideband, const char *path);

/** sideband_attr - the event that sideband comes from, of a hart with all that runs on it */
void sideband_attr(struct perf_event_attr *attr);

/** sideband_harts - open and enable one event per CPU that is online */
int sideband_harts(struct sideband *sideband);

/** sideband_event - declare an event whose records will be in a ring */
int sideband_event(struct sideband *sideband, const struct perf_event_attr *attr,
		   const uint64_t *ids, size_t count, const char *name);

/**
 * sideband_ring - map the buffer of an event; what comes there goes to the file
 * @fd: event; it stays open, the caller's, until sideband_close()
 * @size: bytes, a power of two
 *
 * Return: its first page, or NULL and errno.
 */
struct perf_event_mmap_page *sideband_ring(struct sideband *sideband, int fd, size_t size);

/** sideband_look - show all records to @look on their way to the file */
void sideband_look(struct sideband *sideband,
		   void (*look)(void *data, const struct perf_event_header *record), void *data);

/**
 * sideband_kernel - records for what the kernel has already: its text, modules, BPF programs
 * @kallsyms: symbols of the kernel's text; the copy that a recording has is read much faster than
 *            /proc/kallsyms
 */
int sideband_kernel(struct sideband *sideband, const char *kallsyms);

/** sideband_tasks - records for the tasks that are there already; @pid: one process only, 0 = all */
int sideband_tasks(struct sideband *sideband, pid_t pid);

/** sideband_fds - file descriptors to poll. Return: their number */
unsigned int sideband_fds(const struct sideband *sideband, const int **fds);

/** sideband_drain - write what the kernel has reported so far */
int sideband_drain(struct sideband *sideband);

/**
 * sideband_close - drain, write the header, free
 * @sideband: NULL is allowed
 * @argv: the recorded command
 * @lost: records that the kernel could not deliver
 */
int sideband_close(struct sideband *sideband, int argc, char **argv, uint64_t *lost);

/* ---- tasks: traced through perf ---- */

/**
 * struct task_area - AUX area of a hart or of a thread
 * @fd: the event whose buffers they are
 * @id: its id
 * @cpu: hart; -1: a thread's
 * @page: control page
 * @tail: position up to which it was saved
 * @gaps: AUX records that tell of a loss, since the last file was begun
 * @stopped: it was full, the kernel has disabled its events
 */
struct task_area {
	int fd;
	uint64_t id;
	int cpu;
	struct perf_event_mmap_page *page;
	const uint8_t *aux;
	uint64_t size;
	uint64_t tail;
	uint64_t gaps;
	bool stopped;
};

/**
 * struct task_file - aux.N: all that an area ever held, or one snapshot of it
 * @area: index
 * @position: where its first byte was in the area
 */
struct task_file {
	unsigned int area;
	struct trace_output output;
	uint64_t position;
	uint64_t gaps;
};

struct task_event {
	int fd;
	uint64_t id;
	bool trace;		/* of the PMU; else sideband */
	unsigned int area;
};

/**
 * struct tasks - see tasks.c
 * @config: as in effect
 * @before: the encoders are of before the specification, version 0
 * @child: the traced command, 0 if there is none
 * @start_ns: when its exec was recorded
 * @tids: threads that are traced, as far as the sideband was read; negative: have ended
 * @error: errno of the first write that failed
 */
struct tasks {
	const struct record_options *options;
	const char *directory;
	struct sideband *sideband;
	struct ntrace_config config;
	bool before;
	struct hart_set harts;
	struct perf_event_attr attr;
	struct perf_event_attr dummy;
	struct task_area *areas;
	unsigned int area_count;
	struct task_file *files;
	unsigned int file_count;
	struct task_event *events;
	unsigned int event_count;
	char module_version[32];
	pid_t child;
	uint64_t start_ns;
	pid_t *tids;
	size_t tid_count;
	int error;
};

/**
 * tasks_open - open events and buffers, and create files
 * @tasks: zeroed; tasks_close() in all cases, after sideband_close()
 * @sideband: without a ring
 * @child: process that will exec the command, 0 if only the tasks of @options are traced
 */
int tasks_open(struct tasks *tasks, const struct record_options *options, struct sideband *sideband,
	       pid_t child);

/** tasks_enable - start; a command's trace starts by itself at its exec */
void tasks_enable(struct tasks *tasks);

/** tasks_stop - no more trace, at once; tasks_snapshot() would start it again */
void tasks_stop(const struct tasks *tasks);

/** tasks_has - is this thread traced? Reads the sideband if it is not known */
bool tasks_has(struct tasks *tasks, pid_t tid);

/** tasks_drain - save trace and sideband that are there now */
int tasks_drain(struct tasks *tasks);

/** tasks_snapshot - save what the areas hold */
int tasks_snapshot(struct tasks *tasks);

/** tasks_finish - stop and save the rest */
int tasks_finish(struct tasks *tasks);
void tasks_close(struct tasks *tasks);

/** tasks_describe - what the recording says of file @index */
void tasks_describe(const struct tasks *tasks, unsigned int index, struct ntrace_stream *stream);

/** record_params_timestamps - time stamps as configured; @bits and @hz are those of the hardware */
void record_params_timestamps(struct ntrace_params *params, const struct ntrace_config *config,
			      uint32_t bits, uint64_t hz);

/**
 * record_params_version - what the major version of an encoder, trTeImpl's, tells of its messages
 *
 * That of addresses goes by the MMU of this machine.
 */
void record_params_version(struct ntrace_params *params, uint32_t major);

/** record_params_write - the file params; of @list and @tasks one is empty */
int record_params_write(const struct record_options *options, const struct device_list *list,
			const struct tasks *tasks);

/* ---- child ---- */

/**
 * struct child - the recorded command
 * @go: write end of a pipe: a byte lets it run
 * @failed: read end of a pipe: errno of exec, or end of file once it runs
 */
struct child {
	pid_t pid;
	int go;
	int failed;
	bool ended;
	int status;
};

/** command_find - can it be executed at all? Return: EXIT_OK, or 126, 127 as shells do */
int command_find(const char *name);

/** child_fork - the command's process, waiting before exec */
int child_fork(struct child *child, char **argv);

/** child_run - let it go. Return: EXIT_OK, or EXIT_FAILED if exec failed */
int child_run(struct child *child, const char *name);

/** child_ended - Return: true once it has ended; does not wait */
bool child_ended(struct child *child);

/** child_wait - wait for it. Return: its exit status as shells show it */
int child_wait(struct child *child);

/* ---- a recording as a whole ---- */

struct recorder;

/**
 * struct recorder_watch - what a command looks at while the trace runs
 * @open: called when the events of tasks are open, before the kernel is copied; may be NULL
 * @fds: file descriptors that wake it
 * @count: their number
 * @step: called when the trace has started and after each wait, before trace and sideband are
 *        saved; may set *@end. Return: exit status. NULL: nothing is looked at
 */
struct recorder_watch {
	int (*open)(struct recorder *recorder, void *data);
	const int *fds;
	unsigned int count;
	int (*step)(struct recorder *recorder, void *data, bool *end);
	void *data;
};

/**
 * struct recorder - one recording, from RECORDER_INIT
 * @options: the caller's
 * @watch: likewise
 * @limit: seconds after which it ends; 0 = never
 * @brief: neither warnings of what was lost nor a summary
 * @no_summary: warnings alone, no summary
 * @again: the directory is there, with the images of the recording before: they are used
 * @signals: see recorder_signals()
 * @by_tasks: through perf; else harts through /dev/ntraceN
 * @snapshot: set to have the areas saved in this round
 * @interrupted: a signal ended it
 * @all_ended: all traced tasks had ended
 * @seconds: how long it was
 * @saved: bytes of trace
 */
struct recorder {
	struct record_options options;
	struct recorder_watch watch;
	double limit;
	bool brief;
	bool no_summary;
	bool again;
	int signals;
	bool by_tasks;
	bool snapshot;
	bool interrupted;
	bool all_ended;
	double seconds;
	uint64_t saved;
	struct device_list list;
	struct tasks tasks;
	struct child child;
	uint64_t sideband_lost;

	/* private */
	const char *directory;
	struct sideband *sideband;
	struct ntrace_kernel_copy kernel;
	bool made;		/* the directory is there */
	bool traced;		/* and something in it */
	int notify;
};

#define RECORDER_INIT                                                                              \
	{                                                                                          \
		.signals = -1, .notify = -1, .kernel.size = sizeof(struct ntrace_kernel_copy)      \
	}

/**
 * recorder_signals - from now on signals end a recording, instead of the process
 *
 * With options.snapshot, SIGUSR2 asks for one. They stay blocked until recorder_wait().
 */
int recorder_signals(struct recorder *recorder);

/** recorder_run - make the recording. Return: exit status; recorder_wait() in all cases */
int recorder_run(struct recorder *recorder);

/**
 * recorder_wait - wait for the command, if there is one, and let signals come again
 * @error: what recorder_run() returned
 *
 * Return: @error, or the exit status of the command.
 */
int recorder_wait(struct recorder *recorder, int error);

/* ---- the directory ---- */

/**
 * recording_make - make the directory; a recording that has the name becomes NAME.old
 *
 * Anything else of that name is left alone and an error.
 */
int recording_make(const char *directory);

/** recording_discard - remove the files of a recording, for one that came to nothing */
void recording_discard(const char *directory);

/**
 * recording_reserve - set disk space aside for what is written last
 *
 * Until recording_release() neither trace nor sideband can take it.
 * Return: EXIT_OK, or EXIT_FAILED after a complaint.
 */
int recording_reserve(const char *directory);
void recording_release(const char *directory);

#endif /* NTRACE_TOOL_RECORD_H */
