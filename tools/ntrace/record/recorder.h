/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A recording from its first event to its last file. Functions of this room that fail have
 * printed an error message.
 */
#ifndef NTRACE_TOOL_RECORD_RECORDER_H
#define NTRACE_TOOL_RECORD_RECORDER_H

#include <stdbool.h>
#include <stdint.h>

#include <ntrace/recording.h>

#include "child.h"
#include "device.h"
#include "hold.h"
#include "options.h"
#include "sideband.h"
#include "tasks.h"

struct live;
struct recorder;

/**
 * struct recorder_watch - hooks of a command into the recording
 * @open: called when the events of tasks are open, before the kernel is copied; may be NULL
 * @fds: file descriptors that wake the recorder
 * @count: their number
 * @step: called when tracing has started and after each wait, before trace and sideband are
 *        saved; may set *@end. Return: exit status. May be NULL
 */
struct recorder_watch {
	int (*open)(struct recorder *recorder, void *data);
	const int *fds;
	unsigned int count;
	int (*step)(struct recorder *recorder, void *data, bool *end);
	void *data;
};

/**
 * struct recorder - one recording, initialized with RECORDER_INIT
 * @options: set by the caller
 * @watch: set by the caller
 * @live: counts the trace instead of saving it, system-wide only; NULL = make a recording in
 *	options.directory, else in live->directory
 * @limit: seconds after which it ends; 0 = no limit
 * @brief: print neither warnings about losses nor a summary
 * @no_summary: print warnings but no summary
 * @temporary: nobody needs the directory if the recorder is killed: nothing is written ahead
 * @again: the directory exists, with images from the previous recording: reuse them; tasks may have
 *	ended since
 * @signals: see recorder_signals()
 * @by_tasks: per-process tracing through perf; else system-wide through /dev/ntraceN
 * @snapshot: set to save a snapshot in this round
 * @interrupted: a signal ended the recording
 * @all_ended: all traced tasks had ended
 * @hold: with options.hold: how the command is stopped
 * @seconds: duration
 * @saved: bytes of trace
 */
struct recorder {
	struct record_options options;
	struct recorder_watch watch;
	struct live *live;
	double limit;
	bool brief;
	bool no_summary;
	bool temporary;
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
	struct hold hold;
	uint64_t sideband_lost;

	/* private */
	const char *directory;
	struct sideband *sideband;
	struct ntrace_kernel_copy kernel;
	bool made;		/* the directory exists */
	bool kept;		/* an older recording of that name is DIRECTORY.old */
	bool traced;		/* the directory contains trace */
	bool unfiltered;	/* an encoder traces all privileges, which nobody asked for */
	double ahead;		/* time of the last write_ahead() */
	int notify;
};

#define RECORDER_INIT                                                                              \
	{                                                                                          \
		.signals = -1, .notify = -1, .kernel.size = sizeof(struct ntrace_kernel_copy)      \
	}

/**
 * recorder_signals - let signals end the recording instead of the process
 *
 * With options.snapshot, SIGUSR2 requests a snapshot. The signals stay blocked until
 * recorder_wait().
 */
int recorder_signals(struct recorder *recorder);

/**
 * recorder_run - make the recording; call recorder_wait() afterwards
 *
 * Return: exit status; TASKS_ENDED with @again if no task is left, nothing is recorded then
 */
int recorder_run(struct recorder *recorder);

/**
 * recorder_wait - wait for the command, if there is one, and unblock signals
 * @error: result of recorder_run()
 *
 * Return: @error, or the exit status of the command.
 */
int recorder_wait(struct recorder *recorder, int error);

#endif /* NTRACE_TOOL_RECORD_RECORDER_H */
