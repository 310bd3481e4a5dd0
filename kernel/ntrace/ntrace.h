/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * RISC-V N-Trace driver: what its files share.
 *
 * A component is one page of trace control registers (encoder, RAM sink). A
 * path is the chain of components from the encoder of one hart to its sink; it
 * exists while all of them are bound, and is what user space sees as
 * /dev/ntraceN. A capture is one configured use of a path: buffers, drain
 * timer, counters.
 *
 * Locks, outermost first:
 *   ntrace_lock		list of components, coming and going of paths
 *   ntrace_path.lock		the capture of a path, and its component registers
 *   ntrace_capture.lock	drain state; taken in hard interrupt context
 * User memory is never touched under ntrace_path.lock: mmap() takes it with the
 * mmap lock held.
 */
#ifndef NTRACE_NTRACE_H
#define NTRACE_NTRACE_H

#include <linux/atomic.h>
#include <linux/cdev.h>
#include <linux/device.h>
#include <linux/hrtimer.h>
#include <linux/io.h>
#include <linux/irq_work.h>
#include <linux/kref.h>
#include <linux/mutex.h>
#include <linux/ntrace.h>
#include <linux/sizes.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/wait.h>

#include <ntrace/trace_control.h>

#define NTRACE_VERSION "0.1.0"

/*
 * A component answers within microseconds unless it is powered down or broken;
 * an encoder may have to push out its queue first.
 */
#define NTRACE_POLL_US		20
#define NTRACE_TIMEOUT_US	100000
/* The same with interrupts off on the traced hart. */
#define NTRACE_TIMEOUT_ATOMIC_US 100

/* Encoder, funnels, sink. */
#define NTRACE_PATH_MAX		8

#define NTRACE_DATA_SIZE_DEFAULT SZ_16M
#define NTRACE_DATA_SIZE_MAX	SZ_1G
#define NTRACE_SINK_SIZE_DEFAULT SZ_4M
#define NTRACE_SINK_SIZE_DEFAULT_MIN SZ_256K

struct ntrace_path;

/**
 * struct ntrace_encoder - what only a trace encoder has
 * @cpu: Linux number of the hart it traces
 * @hartid: RISC-V number of that hart
 * @control: shadow of trTeControl without trTeEnable and trTeInstTracing. The
 *	     register is never read, modified and written: triggers change it.
 * @modes: trTeInstMode values that it takes, as a bit mask
 * @sync_modes: likewise for trTeInstSyncMode
 * @sync_max: largest trTeInstSyncMax
 * @features: bits of trTeInstFeatures that it takes
 * @privilege: privilege codes that filter 0 can select, 0 = no filter
 * @src: trTeSrcID in effect
 * @src_bits: trTeSrcBits in effect
 */
struct ntrace_encoder {
	unsigned int cpu;
	u64 hartid;
	u32 control;
	u32 modes;
	u32 sync_modes;
	u32 sync_max;
	u32 features;
	u32 privilege;
	u32 src;
	u32 src_bits;
};

/**
 * struct ntrace_ramsink - what only a RAM sink has
 * @control: trRamControl without trRamEnable
 * @granule: bytes that it writes at once
 * @buffer: trace memory, NULL when no capture is configured
 * @dma: its address for the sink
 * @buffer_size: bytes allocated
 * @ring: start of the part that the sink uses; Start may have been trimmed
 * @ring_dma: its address for the sink
 * @ring_size: bytes of that part, a multiple of @granule
 */
struct ntrace_ramsink {
	u32 control;
	u32 granule;
	void *buffer;
	dma_addr_t dma;
	size_t buffer_size;
	u8 *ring;
	dma_addr_t ring_dma;
	u32 ring_size;
};

/**
 * struct ntrace_component - one page of trace control registers
 * @node: in the list of all components
 * @dev: its platform device
 * @base: its registers
 * @start: physical address of them, for messages
 * @impl: tr??Impl
 * @type: TR_COMP_TYPE_...
 * @path: the path it is part of, or NULL
 * @encoder: if @type is TR_COMP_TYPE_ENCODER
 * @ramsink: if @type is TR_COMP_TYPE_RAM_SINK
 */
struct ntrace_component {
	struct list_head node;
	struct device *dev;
	void __iomem *base;
	resource_size_t start;
	u32 impl;
	u32 type;
	struct ntrace_path *path;
	union {
		struct ntrace_encoder encoder;
		struct ntrace_ramsink ramsink;
	};
};

/**
 * struct ntrace_capture - one configured use of a path
 * @ref: held by the path while it is the current one, by mappings and readers
 * @path: where it runs; valid while it is the current capture of the path
 * @config: as in effect
 * @user: who is charged for @pages
 * @pages: pages charged
 * @control: control page, first page of the area that user space maps
 * @data: data area, behind it
 * @timer: drains the sink, on the traced hart
 * @interval: its period
 * @wake: wakes readers from the timer
 * @read_lock: one read() at a time
 * @sink_size_default: the size of the sink buffer was left to the driver
 * @perf: perf has it: @data is an AUX area, or NULL where trace is only counted
 * @overwrite: the oldest bytes of @data are overwritten
 * @running: started and not stopped; under the lock of the path
 * @error: result of the start on the traced hart
 * @tail: bytes consumed from the data area; consumers advance it without a lock
 * @lock: what follows
 * @fault: the sink's write pointer left its buffer
 * @overrun: the data area was full; stays until a part of it is free again
 * @drained: position in the ring up to which it has been copied
 * @canary: position in the ring that the canary stands just behind
 * @head: bytes put into the data area
 * @gap_head: @head at the last hole
 * @gaps: number of holes
 * @lost: bytes lost
 * @loss: NTRACE_LOSS_...
 */
struct ntrace_capture {
	struct kref ref;
	struct ntrace_path *path;
	struct ntrace_config config;
	struct user_struct *user;
	unsigned long pages;
	struct ntrace_control *control;
	u8 *data;
	struct hrtimer timer;
	ktime_t interval;
	struct irq_work wake;
	struct mutex read_lock; /* serializes read() */
	bool sink_size_default;
	bool perf;
	bool overwrite;
	bool running;
	int error;
	atomic64_t tail;

	raw_spinlock_t lock; /* drain state; raw: taken by a hard timer */
	bool fault;
	bool overrun;
	u32 drained;
	u32 canary;
	u64 head;
	u64 gap_head;
	u32 gaps;
	u64 lost;
	u32 loss;
};

/**
 * struct ntrace_path - encoder of one hart, its sink, and what is between
 * @dev: the character device's device
 * @cdev: /dev/ntraceN, N = @cpu
 * @lock: see above
 * @wait: readers and pollers
 * @hotplug: CPU hotplug instance
 * @cpu: Linux number of the traced hart
 * @gone: a component was unbound or the system goes down: ENODEV from now on
 * @cpu_up: the traced hart is online and stays so while @lock is held
 * @stale: the hart was offline: registers must be written again before a start
 * @count: number of components
 * @component: from the encoder to the sink
 * @owner: the open file that configured it, or NULL; also NULL while perf has it
 * @capture: its capture, or NULL
 */
struct ntrace_path {
	struct device dev;
	struct cdev cdev;
	struct mutex lock; /* see above */
	wait_queue_head_t wait;
	struct hlist_node hotplug;
	unsigned int cpu;
	bool gone;
	bool cpu_up;
	bool stale;
	unsigned int count;
	struct ntrace_component *component[NTRACE_PATH_MAX];
	struct file *owner;
	struct ntrace_capture *capture;
};

static inline struct ntrace_component *ntrace_path_encoder(struct ntrace_path *path)
{
	return path->component[0];
}

static inline struct ntrace_component *ntrace_path_sink(struct ntrace_path *path)
{
	return path->component[path->count - 1];
}

static inline u32 ntrace_read(const struct ntrace_component *component, u32 offset)
{
	return readl(component->base + offset);
}

static inline void ntrace_write(const struct ntrace_component *component, u32 offset, u32 value)
{
	writel(value, component->base + offset);
}

/* component.c */
int ntrace_component_init(struct ntrace_component *component);
int ntrace_component_reset(struct ntrace_component *component);
int ntrace_component_off(struct ntrace_component *component);
int ntrace_component_wait_disabled(struct ntrace_component *component, u32 *control);
int ntrace_component_wait_disabled_atomic(struct ntrace_component *component, u32 *control);
int ntrace_component_refuse(struct ntrace_component *component, const char *why);
int ntrace_registers_quiesce(void __iomem *base);
u32 ntrace_component_warl(struct ntrace_component *component, u32 offset, u32 value);
const char *ntrace_type_name(u32 type);

/* encoder.c */
int ntrace_encoder_init(struct ntrace_component *component);
int ntrace_encoder_check(const struct ntrace_component *component, struct ntrace_config *config);
int ntrace_encoder_program(struct ntrace_component *component, const struct ntrace_config *config);
int ntrace_encoder_enable(struct ntrace_component *component);
void ntrace_encoder_trace(struct ntrace_component *component);
void ntrace_encoder_stop(struct ntrace_component *component);

/* ramsink.c */
int ntrace_ramsink_init(struct ntrace_component *component);
size_t ntrace_ramsink_size_max(void);
int ntrace_ramsink_alloc(struct ntrace_component *component, size_t size);
void ntrace_ramsink_free(struct ntrace_component *component);
int ntrace_ramsink_program(struct ntrace_component *component);
int ntrace_ramsink_start(struct ntrace_component *component);
int ntrace_ramsink_stop(struct ntrace_component *component);
int ntrace_ramsink_start_atomic(struct ntrace_component *component);
int ntrace_ramsink_stop_atomic(struct ntrace_component *component);
bool ntrace_ramsink_position(const struct ntrace_component *component, u32 *position);

/* topology.c */
extern struct mutex ntrace_lock;
int ntrace_topology_init(void);
void ntrace_topology_exit(void);
int ntrace_topology_add(struct ntrace_component *component);
void ntrace_topology_remove(struct ntrace_component *component);
void ntrace_topology_shutdown(struct ntrace_component *component);
void ntrace_topology_suspend(struct ntrace_component *component);
void ntrace_topology_resume(struct ntrace_component *component);
void ntrace_topology_quiesce_upstream(struct ntrace_component *component);
int ntrace_topology_each_path(int (*call)(struct ntrace_path *path, void *data), void *data);

/* capture.c */
struct ntrace_capture *ntrace_capture_alloc(struct ntrace_path *path,
					    const struct ntrace_config *config);
struct ntrace_capture *
ntrace_capture_alloc_perf(struct ntrace_path *path, const struct ntrace_config *config,
			  enum hrtimer_restart (*timer)(struct hrtimer *timer));
void ntrace_capture_get(struct ntrace_capture *capture);
void ntrace_capture_put(struct ntrace_capture *capture);
int ntrace_capture_attach(struct ntrace_path *path, struct ntrace_capture *capture,
			  struct file *owner);
void ntrace_capture_detach(struct ntrace_path *path);
int ntrace_capture_revive(struct ntrace_capture *capture);
int ntrace_capture_start(struct ntrace_capture *capture);
int ntrace_capture_stop(struct ntrace_capture *capture);

/* drain.c */
void ntrace_drain_begin(struct ntrace_capture *capture);
void ntrace_drain_flush(struct ntrace_capture *capture);
void ntrace_drain_end(struct ntrace_capture *capture, u32 control, bool sink_stopped);
void ntrace_drain_into(struct ntrace_capture *capture, void *data, size_t size, u64 head, u64 room,
		       bool overwrite);
void ntrace_drain_discard(struct ntrace_capture *capture);
ktime_t ntrace_drain_step(struct ntrace_capture *capture);
enum hrtimer_restart ntrace_drain_timer(struct hrtimer *timer);
int ntrace_drain_consume(struct ntrace_capture *capture, u64 tail);
u64 ntrace_drain_readable(struct ntrace_capture *capture, u64 *tail);

/* chardev.c */
int ntrace_chardev_init(void);
void ntrace_chardev_exit(void);
int ntrace_chardev_add(struct ntrace_path *path);
void ntrace_chardev_remove(struct ntrace_path *path);
void ntrace_chardev_setup(struct ntrace_path *path);

/* perf.c */
int ntrace_perf_init(void);
void ntrace_perf_exit(void);
void ntrace_perf_halt(struct ntrace_path *path);
void ntrace_perf_lose(struct ntrace_path *path);

#endif /* NTRACE_NTRACE_H */
