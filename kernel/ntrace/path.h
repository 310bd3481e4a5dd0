/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Paths and captures, and the order of the locks of the driver.
 *
 * A component is one page of trace control registers (encoder, funnel, sink). A path is the
 * chain of components from the encoder of one hart to its sink. A path exists while all of its
 * components are bound; user space sees it as /dev/ntraceN. Paths may share funnels and the
 * sink. A capture is one configured use of a path: data area, drain timer, counters.
 *
 * Functions call down only: selftests/lint/layers has the table of layers,
 * Documentation/architecture.md the picture.
 *
 * Sharing a sink: each hart still has its own device, capture and data area. SRC, which the
 * driver assigns, tells the encoders apart. A file gets all trace of the sink, which is safe
 * because files may trace every hart. An event of perf gets the trace of its own hart only;
 * the drain separates it (split.c). The buffer of the sink lives from the first capture's
 * configuration to the last capture's release. The first start enables the sink, the last
 * stop flushes it, also where an event of perf is scheduled in and out: a sink holds back a part of
 * a granule until it is disabled (Trace Control Interface, trRamEnable), and that part would come
 * with the next event. When a hart stops while others go on, its last trace arrives later.
 *
 * Locks, outermost first, and what they protect:
 *
 *   ntrace_capture.read_lock	one read() at a time
 *   ntrace_lock		lists of components and paths, creation and removal of paths
 *   cpus_read_lock()		a hart stays online or offline
 *   ntrace_path.lock		the capture of a path: to change it
 *   ntrace_ramsink.mutex	buffer of a sink, @held, registers of a path that is not traced
 *   ntrace_ramsink.users_lock	@users in a session of perf
 *   ntrace_ramsink.lock	drain state and feeds; taken in hard interrupt context
 *   ntrace_context_lock	the probe of task switches; taken with no other lock
 *
 * Who may touch what, holding what:
 *
 *				file			event of perf, on its hart with
 *							interrupts off
 *   path->capture		ntrace_path.lock	nothing: it changes by an interrupt there
 *   encoder of a path		ntrace_path.lock	nothing
 *   @users, starting and
 *   stopping links and sinks	ntrace_ramsink.mutex	ntrace_ramsink.users_lock
 *   ring, feeds		ntrace_ramsink.lock	ntrace_ramsink.lock
 *
 * All users of a sink are of one session, files or events, so one of the two locks is enough for
 * @users. There are two because a stop of a file sleeps, up to NTRACE_TIMEOUT_US, and that of an
 * event spins. hotplug calls with its lock held. The driver never touches user memory under
 * ntrace_path.lock: mmap() takes that lock with the mmap lock held.
 */
#ifndef NTRACE_PATH_H
#define NTRACE_PATH_H

#include <linux/cdev.h>
#include <linux/cleanup.h>
#include <linux/device.h>
#include <linux/kref.h>
#include <linux/pm_qos.h>
#include <linux/wait.h>

#include "component.h"
#include "feed.h"

struct file;
struct ntrace_path;
struct workqueue_struct;

/* Most components on a path: encoder, funnels, sink. */
#define NTRACE_PATH_MAX		8

/**
 * struct ntrace_client - a user of captures that controls the hardware itself
 * @timer: drains the sink of a running capture
 * @stop: stop tracing now; the hart goes offline, the system to sleep, or the path is removed
 * @resume: the system is awake again: start what @stop halted, unless user space must do that
 * @lose: the path is being removed; it must not be used any more
 *
 * The path is locked in @stop, @resume and @lose.
 */
struct ntrace_client {
	enum hrtimer_restart (*timer)(struct hrtimer *timer);
	void (*stop)(struct ntrace_path *path);
	void (*resume)(struct ntrace_path *path);
	void (*lose)(struct ntrace_path *path);
};

/*
 * One configured use of a path.
 *
 * @ref: held by the path while this is its current capture, by mappings and by readers
 * @path: path that it uses; valid while it is the current capture of that path
 * @client: perf, whose events control the hardware themselves, and get the trace in AUX areas;
 *	    NULL: an open file, for which capture.c starts and stops the hardware
 * @privileged: number of those events that users with CAP_PERFMON have opened; protected by
 *		ntrace_lock
 */
struct ntrace_capture {
	struct kref ref;
	struct ntrace_path *path;
	struct ntrace_config config; /* configuration in effect */
	const struct ntrace_client *client;
	struct pid *session; /* see struct ntrace_ramsink */
	struct user_struct *user; /* user that is charged for @pages */
	unsigned long pages; /* pages charged */
	struct ntrace_feed feed; /* data area, and the drain of the sink into it */
	struct mutex read_lock; /* serializes read() */
	bool sink_size_default; /* the caller left the size of the sink buffer to the driver */
	unsigned int privileged;
	bool context; /* it keeps scontext of the hart up to date */
	bool running; /* started and not stopped; protected by the lock of the path */
	bool resumes; /* it was running when the system went to sleep */
	int error; /* result of the start on the traced hart */
	bool complete; /* the drain got all trace up to perf's last stop */
};

/*
 * Chain of components from the encoder of one hart to its sink.
 *
 * @gone: a component was unbound or the system shuts down: calls return ENODEV from now on
 * @awake: keeps the hart out of idle states in which its encoder may lose its registers, while
 *	   there is a capture
 * @component: components in order, from the encoder to the sink
 * @owner: open file that configured the path, or NULL; also NULL while perf uses it
 */
struct ntrace_path {
	struct list_head node; /* in the list of all paths */
	struct device dev; /* device of the character device */
	struct cdev cdev; /* /dev/ntraceN, N = @cpu */
	struct mutex lock; /* capture and encoder, see above */
	wait_queue_head_t wait; /* readers and pollers */
	struct hlist_node hotplug; /* CPU hotplug instance */
	unsigned int cpu; /* Linux number of the traced CPU */
	bool gone;
	bool cpu_up; /* the traced CPU is online and stays so while @lock is held */
	bool stale; /* the CPU was offline: the registers must be written again before a start */
	bool asleep; /* its components are suspended */
	struct dev_pm_qos_request awake;
	bool holds; /* the capture is counted in @held of the components */
	unsigned int count; /* number of components */
	struct ntrace_component *component[NTRACE_PATH_MAX];
	struct file *owner;
	struct ntrace_capture *capture; /* current capture, or NULL */
};

static inline struct ntrace_component *ntrace_path_encoder(struct ntrace_path *path)
{
	return path->component[0];
}

static inline struct ntrace_component *ntrace_path_sink(struct ntrace_path *path)
{
	return path->component[path->count - 1];
}

int ntrace_path_may_join(struct ntrace_path *path, const struct ntrace_capture *capture,
			 const struct ntrace_config *config);
int ntrace_path_attach(struct ntrace_path *path, struct ntrace_capture *capture);
void ntrace_path_detach(struct ntrace_path *path, struct ntrace_capture *capture);
void ntrace_path_sleep(struct ntrace_path *path);
void ntrace_path_leave_hart(struct ntrace_path *path);
int ntrace_path_program(struct ntrace_path *path, const struct ntrace_config *config);
int ntrace_path_enable(struct ntrace_path *path);
int ntrace_path_disable(struct ntrace_capture *capture, u32 control);
int ntrace_path_enable_atomic(struct ntrace_path *path);
int ntrace_path_disable_atomic(struct ntrace_capture *capture, u32 control);

/* capture.c */
void ntrace_capture_get(struct ntrace_capture *capture);
void ntrace_capture_put(struct ntrace_capture *capture);
DEFINE_FREE(ntrace_capture, struct ntrace_capture *, ntrace_capture_put(_T))
int ntrace_capture_open(struct ntrace_path *path, const struct ntrace_config *config,
			const struct ntrace_client *client, struct file *owner);
void ntrace_capture_detach(struct ntrace_path *path);
int ntrace_capture_revive(struct ntrace_capture *capture);
int ntrace_capture_start(struct ntrace_capture *capture);
int ntrace_capture_stop(struct ntrace_capture *capture);

/**
 * struct ntrace_path_ops - makes paths visible to user space
 * @add: make the device of a path that is ready for use; put_device() frees the path afterwards,
 *	 also if this fails
 * @remove: remove the device; open files stay
 */
struct ntrace_path_ops {
	int (*add)(struct ntrace_path *path);
	void (*remove)(struct ntrace_path *path);
};

/* topology.c */
extern const struct attribute_group ntrace_topology_group;
extern struct mutex ntrace_lock;
/* All components that were added, and all paths; protected by ntrace_lock. */
extern struct list_head ntrace_components, ntrace_paths;
/* Closed events return their paths here: flush it, without ntrace_lock, for their paths. */
extern struct workqueue_struct *ntrace_release_queue;
int ntrace_topology_init(const struct ntrace_path_ops *ops);
void ntrace_topology_exit(void);
int ntrace_topology_add(struct ntrace_component *component);
void ntrace_topology_remove(struct ntrace_component *component);
void ntrace_topology_shutdown(struct ntrace_component *component);
void ntrace_topology_suspend(struct ntrace_component *component);
void ntrace_topology_resume(struct ntrace_component *component);
void ntrace_topology_evict(const struct ntrace_path *path, const struct pid *session);
struct ntrace_component *ntrace_topology_find(const struct device_node *node);

/* chardev.c */
extern const struct ntrace_path_ops ntrace_chardev_path_ops;
int ntrace_chardev_init(void);
void ntrace_chardev_exit(void);

/* perf.c */
int ntrace_perf_init(void);
void ntrace_perf_exit(void);

/* probe.c */
int ntrace_probe_component(struct ntrace_component *component);
int ntrace_probe_init(void);
void ntrace_probe_exit(void);

/* debug.c */
void ntrace_debug_init(void);
void ntrace_debug_exit(void);

#endif /* NTRACE_PATH_H */
