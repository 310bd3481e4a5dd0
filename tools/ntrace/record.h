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

#include <ntrace/perf.h>
#include <ntrace/recording.h>

/* ---- harts: sets of Linux CPU numbers ---- */

#define HARTS_MAX 4096

struct hart_set {
	uint64_t bits[HARTS_MAX / 64];
};

static inline bool hart_set_has(const struct hart_set *set, unsigned int hart)
{
	return hart < HARTS_MAX && set->bits[hart / 64] >> hart % 64 & 1;
}

/** hart_set_parse - "0,2-3"; surrounding white space is allowed. Return: false if it is no list */
bool hart_set_parse(struct hart_set *set, const char *text);

/* ---- spool: trace on its way to the file ---- */

struct spool_chunk;

/**
 * struct spool - see record_spool.c
 * @limit: bytes of memory it may hold
 * @held: bytes it holds
 * @written: bytes in the file
 * @error: errno of the first write that failed; what comes after it is dropped
 */
struct spool {
	int fd;
	uint64_t limit;
	uint64_t held;
	uint64_t written;
	int error;
	struct spool_chunk *oldest;
	struct spool_chunk *newest;
};

/** spool_memory - how much memory all spools together should take: a quarter of what is free */
uint64_t spool_memory(void);

void spool_init(struct spool *spool, int fd, uint64_t limit);

/** spool_add - Return: 0 or errno: ENOMEM, or that of a write that became necessary */
int spool_add(struct spool *spool, const uint8_t *data, size_t size);

/** spool_flush - write all and free the memory. Return: 0 or errno of the first failed write */
int spool_flush(struct spool *spool);

/* ---- devices ---- */

/**
 * struct device - one /dev/ntraceN: a hart's trace
 * @lost, @loss, @gaps: valid after device_stop()
 * @spool: memory between the data area and the file
 * @saved: bytes of the file, valid after device_save_finish()
 * @error: errno of the thread that saves the trace; 0 = all is well
 */
struct device {
	char path[32];
	char file[32];
	int fd;
	int output;
	int notify;
	struct ntrace_info info;
	struct ntrace_config config;
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

/** device_configure - configure and map. @wanted holds what was asked for */
int device_configure(struct device *device, const struct ntrace_config *wanted);

/**
 * device_save_to - create the file for the trace
 * @directory: recording; the file is aux.@index in it
 * @notify: eventfd that is written when saving fails
 * @memory: bytes of trace that may wait in memory
 */
int device_save_to(struct device *device, const char *directory, unsigned int index, int notify,
		   uint64_t memory);

/** device_start - start the trace and the thread that saves it */
int device_start(struct device *device);

/** device_stop - stop the trace, if it runs, and take over its counters */
int device_stop(struct device *device);

/** device_save_finish - write all that is left to the file. Complains unless @quiet */
int device_save_finish(struct device *device, bool quiet);

/* ---- sideband ---- */

struct sideband;

/**
 * sideband_open - open one event per CPU that is online
 * @path: perf.data file to write
 */
int sideband_open(struct sideband **sideband, const char *path);

/**
 * sideband_system - records for what is there already: tasks, kernel, modules, BPF programs
 * @kallsyms: symbols of the kernel's text; the copy that a recording has is read much faster than
 *            /proc/kallsyms
 */
int sideband_system(struct sideband *sideband, const char *kallsyms);

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

/* ---- the directory ---- */

/**
 * recording_make - make the directory; a recording that has the name becomes NAME.old
 *
 * Anything else of that name is left alone and an error.
 */
int recording_make(const char *directory);

/** recording_discard - remove the files of a recording, for one that came to nothing */
void recording_discard(const char *directory);

#endif /* NTRACE_TOOL_RECORD_H */
