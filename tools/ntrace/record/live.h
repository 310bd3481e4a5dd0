/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Counts what CPUs execute while their trace is made (`ntrace record --live`). Functions of this file
 * that fail have printed an error message.
 */
#ifndef NTRACE_TOOL_RECORD_LIVE_H
#define NTRACE_TOOL_RECORD_LIVE_H

#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>

#include <ntrace/counts_file.h>

#include "device.h"
#include "sideband.h"

struct live_sideband;
struct live_stream;

/**
 * struct live - zeroed at first
 * @base: temporary directory; "" = none
 * @directory: in it: the state before the trace, as of a recording
 * @output: the counts file
 * @kernel: name of the kernel's text in the counts
 * @hold: the command is stopped while trace waits
 * @notify: eventfd that is written when a thread fails
 * @decoded: bytes of trace that were decoded
 * @traced: bytes of trace that were made, as far as the driver knows
 * @losses: of them those that were lost, and the gaps found while decoding
 */
struct live {
	const struct command *command;
	char base[256];
	char directory[280];
	const char *output;
	char *kernel;
	struct ntrace_counts_merger *merger;
	struct live_sideband *sideband;
	struct live_stream *streams;
	unsigned int count;
	pthread_mutex_t lock;
	cpu_set_t cpus;
	bool pinned;
	bool hold;
	int notify;
	bool ended;
	uint64_t decoded;
	uint64_t traced;
	struct ntrace_counts_losses losses;
};

/**
 * live_make - check that the file can be written, and make the temporary directory
 * @output: path of the counts file
 *
 * Call live_free() afterwards, also after a failure. Return: exit status.
 */
int live_make(struct live *live, const struct command *command, const char *output);
void live_free(struct live *live);

/**
 * live_open - prepare decoding, when the directory has the state before the trace
 * @list: configured devices
 * @sideband: its records go to the decoders from now on
 */
int live_open(struct live *live, const struct device_list *list, struct sideband *sideband,
	      int notify);

/**
 * live_cpus - choose CPUs for the decoders that are not traced
 *
 * Return: false if there are none; @cpus is not to be used then.
 */
bool live_cpus(const struct device_list *list, cpu_set_t *cpus);

/** live_start - start the threads that decode; the devices are being traced. Return: exit status */
int live_start(struct live *live);

/** live_fd - becomes readable when live_round() is due */
int live_fd(const struct live *live);

/** live_round - give the decoders the sideband up to now. Return: exit status */
int live_round(struct live *live, struct sideband *sideband);

/**
 * live_finish - decode the rest when all devices have stopped
 * @error: exit status so far; if it is not EXIT_OK, the rest is dropped
 *
 * Return: exit status, @error if it is not EXIT_OK.
 */
int live_finish(struct live *live, struct sideband *sideband, int error);

/** live_write - write the counts and print totals, unless @quiet. Return: exit status */
int live_write(struct live *live, double seconds, bool quiet);

#endif /* NTRACE_TOOL_RECORD_LIVE_H */
