/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Stops the command while its trace is decoded (`ntrace record --live --hold`), so that no trace is
 * lost. Functions of this file that fail have printed an error message.
 */
#ifndef NTRACE_TOOL_RECORD_HOLD_H
#define NTRACE_TOOL_RECORD_HOLD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "cgroup.h"
#include "device.h"

/**
 * struct hold - zeroed at first
 * @cgroup: of the command
 * @pid: process that stops it; 0 = none
 * @socket: to that process
 * @times: number of times that the command was stopped; valid after hold_close()
 * @held_ns: for how long altogether; valid after hold_close()
 */
struct hold {
	struct cgroup cgroup;
	pid_t pid;
	int socket;
	uint64_t times;
	uint64_t held_ns;
};

/** hold_at - the command is stopped when as much of a data area is full. @size: of the data area */
static inline uint64_t hold_at(uint64_t size)
{
	/* The kernel wakes pollers then. */
	return size / 4;
}

/** hold_until - and runs again when less is full */
static inline uint64_t hold_until(uint64_t size)
{
	return size / 8;
}

/**
 * hold_open - make the control group, and the process that will stop it
 * @list: configured devices
 *
 * To be called before this process has threads. Call hold_close() afterwards, also after a failure.
 * Return: exit status.
 */
int hold_open(struct hold *hold, const struct device_list *list);

/**
 * hold_add - put the command into the control group
 *
 * From now on it may be stopped, before its exec as well: the recorder must take the sideband while it
 * waits for the exec, because the decoders need it to go on. Return: exit status.
 */
int hold_add(const struct hold *hold, pid_t pid);

/** hold_check - fail if the process has ended; hold->socket becomes readable then. Return: exit status */
int hold_check(struct hold *hold);

/**
 * hold_close - let the command run, and remove the control group; does nothing if there is none
 *
 * Processes that are still in it go on in the control group of the recorder. Return: exit status.
 */
int hold_close(struct hold *hold);

/** hold_say - print how long the command was held of @seconds */
void hold_say(const struct hold *hold, double seconds);

#endif /* NTRACE_TOOL_RECORD_HOLD_H */
