/* SPDX-License-Identifier: GPL-2.0-only */
/* System-wide tracing: the recorder's side of /dev/ntraceN. */
#ifndef NTRACE_TOOL_RECORD_DEVICE_H
#define NTRACE_TOOL_RECORD_DEVICE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <linux/ntrace.h>

#include "cpus.h"
#include "spool.h"

/**
 * struct device - one /dev/ntraceN: the trace of one CPU
 * @output: file; a follower of a @leader uses only the name
 * @notify: eventfd that is written when saving fails
 * @leader: device that shares the sink and delivers this device's trace too, or NULL
 * @live: another thread reads the data area; nothing is saved
 * @spool: memory between the data area and the file
 * @ahead: bytes of trace at device_mark_ahead()
 * @saved: bytes of trace in the file, valid after device_save_finish()
 * @lost, @loss, @gaps: valid after device_save_finish()
 * @error: errno of the thread that saves the trace; 0 = none
 */
struct device {
	char path[32];
	int fd;
	struct trace_output output;
	int notify;
	struct ntrace_info info;
	struct ntrace_config config;
	const struct device *leader;
	const volatile struct ntrace_control *control;
	const uint8_t *data;
	size_t map_size;
	pthread_t thread;
	bool thread_started;
	bool running;
	bool live;
	struct spool spool;
	uint64_t ahead;
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
 * devices_open - open the devices of some CPUs and check the interface version
 * @cpus: NULL = all devices
 *
 * Call devices_close() afterwards, also after a failure. Return: EXIT_OK or EXIT_FAILED.
 */
int devices_open(struct device_list *list, const struct cpu_mask *cpus);
void devices_close(struct device_list *list);

/** device_configure - configure the encoder and map the data area. Return: exit status */
int device_configure(struct device *device, const struct ntrace_config *wanted);

/**
 * device_save_to - create the file for the trace
 * @directory: recording; the file is aux.@index in it
 * @level: zstd level, 0 = do not compress
 * @memory: bytes of trace that may wait in memory
 */
int device_save_to(struct device *device, const char *directory, unsigned int index,
		   unsigned int level, uint64_t memory);

/** device_keep_for_live - save nothing: live.c reads the data area. @index: as in device_save_to() */
void device_keep_for_live(struct device *device, unsigned int index);

/** device_start - start tracing, and the thread that saves the trace */
int device_start(struct device *device);

/** device_mark_ahead - device_write_ahead() ends with the trace that is there now */
void device_mark_ahead(struct device *device);

/**
 * device_write_ahead - write trace that waits in memory, so that it outlives the recorder
 *
 * Writes a bounded amount, and nothing on a disk that is nearly full. Return: 0 or errno
 */
int device_write_ahead(struct device *device);

/** device_stop - stop tracing if it runs */
int device_stop(struct device *device);

/** device_save_finish - write the rest to the file; prints errors unless @quiet */
int device_save_finish(struct device *device, bool quiet);

#endif /* NTRACE_TOOL_RECORD_DEVICE_H */
