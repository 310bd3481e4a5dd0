// SPDX-License-Identifier: GPL-2.0-only
/*
 * Stops the command while its trace is decoded.
 *
 * A process of its own does this, the holder. A frozen control group stays frozen when nobody thaws it,
 * so its end must not depend on the recorder, which may be killed at any time: the holder has a pidfd
 * of the recorder, and thaws the group when that has ended. The end of a pipe would not do: a child that
 * is stopped before its exec has a copy of each file. The recorder does the same for a holder that was
 * killed. If both are killed at the same time, the command stays in the group until it is thawed by
 * hand, or killed.
 */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/command.h"
#include "common/ui.h"
#include "hold.h"
#include "live.h"

/* Between two looks at the data areas while the command is held. */
#define LOOK_MS 1

/* First in struct holder's @pollers. */
enum {
	POLL_SOCKET,
	POLL_RECORDER,
	POLL_DEVICES,
};

/**
 * struct report - last message of the holder
 * @error: errno of what it could not do; 0 = none
 * @left: errno of removing the group; 0 = removed
 */
struct report {
	int error;
	int left;
	uint64_t times;
	uint64_t held_ns;
};

/**
 * struct holder - the process
 * @socket: to the recorder
 * @recorder: pidfd
 * @areas: control pages of the devices with data areas
 * @pollers: the socket, the recorder, and these devices
 * @since_ns: time when the command was stopped; 0: it runs
 */
struct holder {
	const struct cgroup *cgroup;
	int socket;
	int recorder;
	const struct ntrace_control **areas;
	struct pollfd *pollers;
	unsigned int count;
	uint64_t since_ns;
	struct report report;
};

/* ---- the holder ---- */

/*
 * The decoders keep their CPUs busy, and the traced CPUs make trace meanwhile: the holder must run at
 * once when it is woken. It hardly runs at all, so the lowest priority above theirs does no harm. Without
 * permission it runs as they do.
 */
static void be_quick(const struct device_list *list)
{
	const struct sched_param priority = {
		.sched_priority = sched_get_priority_min(SCHED_FIFO),
	};
	cpu_set_t cpus;

	if (live_cpus(list, &cpus))
		sched_setaffinity(0, sizeof(cpus), &cpus);
	sched_setscheduler(0, SCHED_FIFO, &priority);
}

/* Return: 0 or errno. */
static int map_areas(struct holder *holder, const struct device_list *list)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	const struct device *device;
	unsigned int i;
	void *map;

	holder->areas = calloc(list->count, sizeof(*holder->areas));
	holder->pollers = calloc(POLL_DEVICES + list->count, sizeof(*holder->pollers));
	if (!holder->areas || !holder->pollers)
		return ENOMEM;
	holder->pollers[POLL_SOCKET] = (struct pollfd){ .fd = holder->socket, .events = POLLIN };
	holder->pollers[POLL_RECORDER] =
		(struct pollfd){ .fd = holder->recorder, .events = POLLIN };
	for (i = 0; i < list->count; i++) {
		device = &list->devices[i];
		if (device->leader)
			continue;
		/* The driver does not let children inherit mappings, but they may map the file. */
		map = mmap(NULL, page, PROT_READ, MAP_SHARED, device->fd, 0);
		if (map == MAP_FAILED)
			return errno;
		holder->areas[holder->count] = map;
		holder->pollers[POLL_DEVICES + holder->count++] =
			(struct pollfd){ .fd = device->fd, .events = POLLIN };
	}
	return 0;
}

static uint64_t waiting(const struct ntrace_control *control)
{
	/* In this order: a tail that was read first is never ahead of the head. */
	uint64_t tail = __atomic_load_n(&control->tail, __ATOMIC_ACQUIRE);

	return __atomic_load_n(&control->head, __ATOMIC_ACQUIRE) - tail;
}

/* Whether a data area is as full as @limit of its size says. */
static bool any_full(const struct holder *holder, uint64_t (*limit)(uint64_t size))
{
	unsigned int i;

	for (i = 0; i < holder->count; i++)
		if (waiting(holder->areas[i]) >= limit(holder->areas[i]->data_size))
			return true;
	return false;
}

/* Return: 0 or errno. */
static int freeze(struct holder *holder)
{
	int error = cgroup_freeze(holder->cgroup, true);

	holder->since_ns = monotonic_ns();
	holder->report.times++;
	return error;
}

static int thaw(struct holder *holder)
{
	holder->report.held_ns += monotonic_ns() - holder->since_ns;
	holder->since_ns = 0;
	return cgroup_freeze(holder->cgroup, false);
}

/*
 * Waits until a data area is full enough, or, if there is nothing to wait for, for a short time. Return:
 * true if the recorder has closed its end of the socket, or has ended.
 */
static bool wait_for_trace(const struct holder *holder, bool shortly)
{
	struct pollfd *pollers = holder->pollers;
	/* While much trace waits, the devices are ready all the time. */
	int ready = poll(pollers, shortly ? POLL_DEVICES : POLL_DEVICES + holder->count,
			 shortly ? LOOK_MS : -1);

	return ready > 0 && (pollers[POLL_SOCKET].revents || pollers[POLL_RECORDER].revents);
}

/* Until the recorder has ended or is about to. Return: 0 or errno. */
static int watch(struct holder *holder)
{
	bool shortly = false;
	int error = 0;

	while (!error && !wait_for_trace(holder, shortly)) {
		if (!holder->since_ns && any_full(holder, hold_at))
			error = freeze(holder);
		else if (holder->since_ns && !any_full(holder, hold_until))
			error = thaw(holder);
		/* A device that has stopped or failed is ready all the time: pause between two looks. */
		shortly = holder->since_ns || !shortly;
	}
	return error;
}

static void hold_main(struct holder *holder, const struct device_list *list)
{
	struct report *report = &holder->report;

	/* Not killed with the recorder's process group. */
	setsid();
	prctl(PR_SET_NAME, "ntrace-hold");
	be_quick(list);
	report->error = map_areas(holder, list);
	if (!report->error)
		report->error = watch(holder);
	if (holder->since_ns)
		thaw(holder);
	report->left = cgroup_remove(holder->cgroup);
	send(holder->socket, report, sizeof(*report), MSG_NOSIGNAL);
	_exit(EXIT_OK);
}

/* ---- the recorder ---- */

/* Starts the holder. Return: its process id, or -1. */
static pid_t fork_holder(const struct hold *hold, struct holder *holder,
			 const struct device_list *list)
{
	sigset_t all, before;
	pid_t pid;

	/* The terminal signals the holder as well. */
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &before);
	pid = fork();
	if (!pid) {
		close(hold->socket);
		hold_main(holder, list);
	}
	sigprocmask(SIG_SETMASK, &before, NULL);
	return pid;
}

static int start(struct hold *hold, const struct device_list *list)
{
	struct holder holder = { .cgroup = &hold->cgroup };
	int sockets[2], error = EXIT_OK;
	pid_t pid;

	holder.recorder = (int)syscall(SYS_pidfd_open, getpid(), 0);
	if (holder.recorder < 0)
		return fail("--hold: pidfd_open: %s", strerror(errno));
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets)) {
		error = fail("--hold: socketpair: %s", strerror(errno));
		close(holder.recorder);
		return error;
	}
	hold->socket = sockets[0];
	holder.socket = sockets[1];
	pid = fork_holder(hold, &holder, list);
	if (pid > 0)
		hold->pid = pid;
	else
		error = fail("--hold: fork: %s", strerror(errno));
	if (error)
		close(hold->socket);
	close(holder.socket);
	close(holder.recorder);
	return error;
}

int hold_open(struct hold *hold, const struct device_list *list)
{
	cpu_set_t cpus;
	int error;

	/* Decoding makes more trace than it takes: the command would be held forever. */
	if (!live_cpus(list, &cpus))
		return fail("--hold: the decoders need a CPU that is not traced (--cpu)");
	error = cgroup_make(&hold->cgroup);
	if (error)
		return error;
	error = start(hold, list);
	if (!error)
		return EXIT_OK;
	cgroup_remove(&hold->cgroup);
	cgroup_close(&hold->cgroup);
	return error;
}

int hold_add(const struct hold *hold, pid_t pid)
{
	return cgroup_add(&hold->cgroup, pid);
}

/* Waits for the holder's last message and its end, and does what it has not done. Return: exit status. */
static int take_report(struct hold *hold)
{
	struct report report = { 0 };
	ssize_t got;
	int error = EXIT_OK;

	do {
		got = recv(hold->socket, &report, sizeof(report), 0);
	} while (got < 0 && errno == EINTR);
	close(hold->socket);
	if (got != (ssize_t)sizeof(report)) {
		report = (struct report){ .left = cgroup_remove(&hold->cgroup) };
		error = fail("--hold: the process that stops the command was killed: the command "
			     "is no longer stopped");
	}
	if (report.error)
		error = fail("--hold: %s: %s", hold->cgroup.path, strerror(report.error));
	if (report.left)
		warn("%s: %s: not removed", hold->cgroup.path, strerror(report.left));
	hold->times = report.times;
	hold->held_ns = report.held_ns;
	while (waitpid(hold->pid, NULL, 0) < 0 && errno == EINTR)
		;
	hold->pid = 0;
	cgroup_close(&hold->cgroup);
	return error;
}

int hold_check(struct hold *hold)
{
	struct pollfd poller = { .fd = hold->socket, .events = POLLIN };

	if (!hold->pid || poll(&poller, 1, 0) <= 0)
		return EXIT_OK;
	return take_report(hold);
}

int hold_close(struct hold *hold)
{
	if (!hold->pid)
		return EXIT_OK;
	/* The holder sees what it sees when the recorder is killed. */
	shutdown(hold->socket, SHUT_WR);
	return take_report(hold);
}

void hold_say(const struct hold *hold, double seconds)
{
	double held = (double)hold->held_ns / 1e9;

	/* It is held a little longer than the trace runs. */
	if (held > seconds)
		held = seconds;
	if (hold->times)
		say("the command was held %" PRIu64 " times, for %.1f of %.1f s, while its trace "
		    "was decoded",
		    hold->times, held, seconds);
	else
		say("the command was never held: decoding kept up");
}
