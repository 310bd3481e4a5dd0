/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * RISC-V N-Trace driver: what its files share.
 *
 * A component is one page of trace control registers (encoder, funnel,
 * sink). A path is the chain of components from the encoder of one hart to its
 * sink; it exists while all of them are bound, and is what user space sees as
 * /dev/ntraceN. Paths may have their funnels and their sink in common. A capture
 * is one configured use of a path: data area, drain timer, counters.
 *
 * Sharing a sink: each hart has its device, its capture and its data area all
 * the same. Encoders are told apart by SRC, which the driver assigns. Files get
 * all of the sink's trace; they may, as they trace harts. An event of perf gets
 * that of its own hart, dealt out by the drain (split.c). The first capture
 * brings the sink its buffer, the last one takes it. The first start enables it,
 * the last stop flushes it: what a hart has on the way when it alone stops comes
 * later.
 *
 * Locks, outermost first:
 *   ntrace_lock		list of components, coming and going of paths
 *   ntrace_path.lock		the capture of a path, and registers of its encoder
 *   ntrace_ramsink.mutex	who uses a sink and the funnels before it
 *   ntrace_ramsink.users_lock	the same where nothing can sleep (perf)
 *   ntrace_ramsink.lock	drain state; taken in hard interrupt context
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
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/ntrace.h>
#include <linux/ratelimit.h>
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

/* MSEO 10, which no encoder sends. */
#define NTRACE_RESERVED_BYTE	0x02

/* Encoder, funnels, sink. */
#define NTRACE_PATH_MAX		8

#define NTRACE_DATA_SIZE_DEFAULT SZ_16M
#define NTRACE_DATA_SIZE_MAX	SZ_1G
#define NTRACE_SINK_SIZE_DEFAULT SZ_4M
#define NTRACE_SINK_SIZE_DEFAULT_MIN SZ_256K
/* Trace of a shared sink is looked at so much at a time, outside of its ring. */
#define NTRACE_DRAIN_BOUNCE	SZ_4K

/* All of ntrace_config.flags */
#define NTRACE_CONFIG_FLAGS	(NTRACE_CONFIG_NO_DATA | NTRACE_CONFIG_STOP_ON_WRAP | \
				 NTRACE_CONFIG_CONTEXT | NTRACE_CONFIG_ARMED | \
				 NTRACE_CONFIG_DEBUG_TRIGGERS)
/* And of ntrace_config.privilege */
#define NTRACE_PRIVILEGE_ALL	(NTRACE_PRIVILEGE_U | NTRACE_PRIVILEGE_S | NTRACE_PRIVILEGE_M | \
				 NTRACE_PRIVILEGE_VU | NTRACE_PRIVILEGE_VS)

struct ntrace_capture;
struct ntrace_component;
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
 * @sync_messages_min: smallest one when messages are counted
 * @acknowledge: bits of trTeControl that are to be turned round when it is enabled
 * @losses: bits of trTeControl that tell of a loss
 * @failures: those of them after which no trace gets to the sink any more
 * @features: bits of trTeInstFeatures that it takes
 * @privilege: privilege codes that a filter can select, 0 = no filter
 * @context: not 0: it has trTeContext
 * @ranges: address ranges that can be filtered at a time
 * @traps: bit n: filters can select NTRACE_TRAPS_... n
 * @causes: filters can select causes of traps
 * @triggers_in: external trigger inputs, as a bit mask
 * @triggers_out: likewise for outputs
 * @triggers_debug: not 0: it has trTeInstTrigEnable
 * @sources: the sink is shared: what SRC must be for the drain to tell whose it is
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
	u32 sync_messages_min;
	u32 acknowledge;
	u32 losses;
	u32 failures;
	u32 features;
	u32 privilege;
	u32 context;
	u32 ranges;
	u32 traps;
	bool causes;
	u32 triggers_in;
	u32 triggers_out;
	u32 triggers_debug;
	u32 sources;
	u32 src;
	u32 src_bits;
};

/**
 * struct ntrace_timestamp - time stamp unit of an encoder or a funnel
 * @modes: trTsMode values that it takes, as a bit mask; 0 = there is none
 * @offered: those of an encoder that make sense where it is
 * @source: what a funnel has it do: trTsMode
 * @bits: trTsWidth
 * @prescale_max: largest trTsPrescale of the internal modes
 * @hz: counts per second in each mode, before the prescaler, 0 = unknown
 */
struct ntrace_timestamp {
	u32 modes;
	u32 offered;
	u32 source;
	u32 bits;
	u32 prescale_max;
	u64 hz[NTRACE_TIMESTAMPS_MAX];
};

/**
 * struct ntrace_split - where the drain is in the messages of several encoders
 * @skip: the start of the next message is not known
 * @have: bytes in @head
 * @head: start of a message that does not tell its source yet
 * @to: who gets the rest of the message, NULL if nobody
 */
struct ntrace_split {
	bool skip;
	u8 have;
	u8 head[4];
	struct ntrace_capture *to;
};

/**
 * struct ntrace_ramsink - what only a RAM sink has
 * @control: trRamControl without trRamEnable
 * @sram_size: it has memory of its own of that many bytes and is used in that mode;
 *	       @ring is where it is copied to then
 * @granule: bytes that it writes at once
 * @wp: register of its write pointer; bit 0 tells that it has wrapped
 * @memory: bytes of memory that was set aside for it, 0 = any will do
 * @buffer: trace memory, NULL when no capture is configured
 * @dma: its address for the sink
 * @buffer_size: bytes allocated
 * @ring: start of the part that the sink uses; Start may have been trimmed
 * @ring_dma: its address for the sink
 * @ring_size: bytes of that part, a multiple of @granule
 * @mutex: see above
 * @session: who uses it: NULL for files, else the process that opened perf's events
 * @src_bits: width of SRC if it has several encoders, else 0
 * @dealt: each capture is to get what its own encoder sends
 * @users_lock: see above
 * @lock: what follows
 * @feeds: the captures that are fed from it
 * @fault: its write pointer left its buffer
 * @paused: leave the ring alone
 * @drained: position in the ring up to which it has been copied
 * @canary: position in the ring that the canary stands just behind
 * @split: see there
 * @bounce: the ring may be uncached, which is no memory to look at byte by byte
 */
struct ntrace_ramsink {
	u32 control;
	u32 sram_size;
	u32 granule;
	u32 wp;
	u64 memory;
	void *buffer;
	dma_addr_t dma;
	size_t buffer_size;
	u8 *ring;
	dma_addr_t ring_dma;
	u32 ring_size;

	struct mutex mutex; /* see above */
	const struct pid *session;
	u32 src_bits;
	bool dealt;
	raw_spinlock_t users_lock; /* see above */

	raw_spinlock_t lock; /* drain state; raw: taken by a hard timer */
	struct list_head feeds;
	bool fault;
	bool paused;
	u32 drained;
	u32 canary;
	struct ntrace_split split;
	u8 *bounce;
};

/**
 * struct ntrace_portsink - what only a sink without memory has
 * @modes: of a PIB sink: values that trPibMode takes, as a bit mask without 0
 * @divider_max: likewise the largest trPibDivider
 * @id_bits: of an ATB bridge: bits of trAtbBridgeID that can be set; 0 = hard-wired
 * @mode: trPibMode, 0 = nobody has said yet how its pins are wired
 * @divider: trPibDivider
 * @center: 1: trPibClkCenter
 * @calibrate: 1: trPibCalibrate: a pattern is sent instead of trace
 * @id: trAtbBridgeID, 0 = nobody has said yet what the bus is to call it
 *
 * All from @mode on but a hard-wired @id are attributes that users write, while
 * nothing is configured; they change under the mutex of struct ntrace_ramsink.
 */
struct ntrace_portsink {
	u32 modes;
	u32 divider_max;
	u32 id_bits;
	u32 mode;
	u32 divider;
	u32 center;
	u32 calibrate;
	u32 id;
};

/**
 * struct ntrace_layout - what depends on where registers are
 * @identify: find out what a component is and what it can do; it has just been reset
 * @reset: put it into its reset state, active, before it is programmed
 * @program: write a configuration; it is disabled
 * @start_sink: empty its ring and enable it
 * @stop_sink: disable it and wait until all is in memory
 * @halt_sink: disable it, and do not wait
 * @timestamp_extra: bits of trTsControl that say which messages have time
 */
struct ntrace_layout {
	int (*identify)(struct ntrace_component *component);
	int (*reset)(struct ntrace_component *component);
	int (*program)(struct ntrace_component *component, const struct ntrace_config *config);
	int (*start_sink)(struct ntrace_component *component, bool atomic);
	int (*stop_sink)(struct ntrace_component *component, bool atomic);
	void (*halt_sink)(struct ntrace_component *component);
	u32 timestamp_extra;
};

/**
 * struct ntrace_component - one page of trace control registers
 * @node: in the list of all components
 * @dev: its platform device
 * @layout: of its registers
 * @base: its registers
 * @start: physical address of them, for messages
 * @impl: tr??Impl
 * @type: TR_COMP_TYPE_...
 * @held: configured captures that need it
 * @users: captures that have it enabled
 * @programmed: its registers hold what they should
 * @path: the path that begins here, or NULL
 * @sink: of an encoder that has its sink in it; else NULL
 * @timestamp: of an encoder or a funnel
 * @port: of a sink without memory
 * @encoder: if @type is TR_COMP_TYPE_ENCODER
 * @ramsink: of any sink; what has no memory uses only what tells who uses it
 */
struct ntrace_component {
	struct list_head node;
	struct device *dev;
	const struct ntrace_layout *layout;
	void __iomem *base;
	resource_size_t start;
	u32 impl;
	u32 type;
	unsigned int held;
	unsigned int users;
	bool programmed;
	struct ntrace_path *path;
	struct ntrace_component *sink;
	struct ntrace_timestamp timestamp;
	struct ntrace_portsink port;
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
 * @session: see struct ntrace_ramsink
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
 * @context: scontext of the hart is kept for it
 * @overwrite: the oldest bytes of @data are overwritten
 * @running: started and not stopped; under the lock of the path
 * @error: result of the start on the traced hart
 * @tail: bytes consumed from the data area; consumers advance it without a lock
 * @feed: in the list of its sink; with what follows under the lock of that
 * @fault: the sink's write pointer left its buffer, or @failed
 * @failed: the encoder cannot get at its sink any more
 * @overrun: the data area was full; stays until a part of it is free again
 * @ended: the last message of this encoder in a shared sink is complete, and ends a trace
 * @complete: when perf stopped it last, all of its trace was drained
 * @fresh: bytes behind @head that may turn out to be void
 * @dropped: bytes that found no room, likewise
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
	struct pid *session;
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
	bool context;
	bool overwrite;
	bool running;
	int error;
	atomic64_t tail;

	struct list_head feed;
	bool fault;
	bool failed;
	bool overrun;
	bool ended;
	bool complete;
	u32 fresh;
	u32 dropped;
	u64 head;
	u64 gap_head;
	u32 gaps;
	u64 lost;
	u32 loss;
};

/**
 * struct ntrace_path - encoder of one hart, its sink, and what is between
 * @node: in the list of all paths
 * @dev: the character device's device
 * @cdev: /dev/ntraceN, N = @cpu
 * @lock: see above
 * @wait: readers and pollers
 * @hotplug: CPU hotplug instance
 * @cpu: Linux number of the traced hart
 * @gone: a component was unbound or the system goes down: ENODEV from now on
 * @cpu_up: the traced hart is online and stays so while @lock is held
 * @stale: the hart was offline: registers must be written again before a start
 * @holds: its capture is counted in @held of its components
 * @count: number of components
 * @component: from the encoder to the sink
 * @owner: the open file that configured it, or NULL; also NULL while perf has it
 * @capture: its capture, or NULL
 */
struct ntrace_path {
	struct list_head node;
	struct device dev;
	struct cdev cdev;
	struct mutex lock; /* see above */
	wait_queue_head_t wait;
	struct hlist_node hotplug;
	unsigned int cpu;
	bool gone;
	bool cpu_up;
	bool stale;
	bool holds;
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

static inline bool ntrace_component_has_memory(const struct ntrace_component *component)
{
	return component->type == TR_COMP_TYPE_RAM_SINK;
}

/* A path ends here. */
static inline bool ntrace_component_is_sink(const struct ntrace_component *component)
{
	return ntrace_component_has_memory(component) || component->type == TR_COMP_TYPE_PIB_SINK ||
	       component->type == TR_COMP_TYPE_ATB_BRIDGE;
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
extern const struct ntrace_layout ntrace_layout_v1;
int ntrace_component_init(struct ntrace_component *component);
int ntrace_component_reset(struct ntrace_component *component);
int ntrace_component_off(struct ntrace_component *component);
int ntrace_component_wait_enabled(struct ntrace_component *component, bool atomic);
int ntrace_component_wait_disabled(struct ntrace_component *component, bool atomic, u32 *control);
int ntrace_component_refuse(struct ntrace_component *component, const char *why);
int ntrace_registers_quiesce(void __iomem *base);
u32 ntrace_component_warl(struct ntrace_component *component, u32 offset, u32 value);
const char *ntrace_type_name(u32 type);

/* v0.c */
extern const struct ntrace_layout ntrace_layout_v0;

/* log.c */
__printf(2, 3) void ntrace_log(const struct device *dev, const char *fmt, ...);
void ntrace_log_exit(void);

/* For what the callbacks of a PMU and timers find; elsewhere dev_err_ratelimited() will do. */
#define ntrace_err(dev, fmt, ...)						\
do {											\
	static DEFINE_RATELIMIT_STATE(_state, DEFAULT_RATELIMIT_INTERVAL,		\
				      DEFAULT_RATELIMIT_BURST);				\
											\
	if (__ratelimit(&_state))							\
		ntrace_log(dev, fmt, ##__VA_ARGS__);					\
} while (0)

/* context.c */
void ntrace_context_init(void);
void ntrace_context_exit(void);
int ntrace_context_get(void);
void ntrace_context_put(void);
int ntrace_context_start(unsigned int cpu);
void ntrace_context_stop(unsigned int cpu);

/* encoder.c */
int ntrace_encoder_find_hart(struct ntrace_component *component);
int ntrace_encoder_init(struct ntrace_component *component);
int ntrace_encoder_set_source(struct ntrace_component *component, u32 src, u32 src_bits);
int ntrace_encoder_check(const struct ntrace_component *component, struct ntrace_config *config);
int ntrace_encoder_program(struct ntrace_component *component, const struct ntrace_config *config);
int ntrace_encoder_enable(struct ntrace_component *component);
void ntrace_encoder_trace(struct ntrace_component *component);
void ntrace_encoder_pause(struct ntrace_component *component);
void ntrace_encoder_stop(struct ntrace_component *component);

/* funnel.c */
int ntrace_funnel_init(struct ntrace_component *component);
int ntrace_funnel_program(struct ntrace_component *component);
int ntrace_funnel_start(struct ntrace_component *component, bool atomic);
int ntrace_funnel_stop(struct ntrace_component *component, bool atomic);
bool ntrace_funnel_await_empty(const struct ntrace_component *component, u64 deadline);

/* filter.c */
void ntrace_filter_init(struct ntrace_component *component);
int ntrace_filter_check(const struct ntrace_component *component, struct ntrace_config *config);
int ntrace_filter_program(struct ntrace_component *component, const struct ntrace_config *config);

/* timestamp.c */
void ntrace_timestamp_init(struct ntrace_component *component);
void ntrace_timestamp_connect(struct ntrace_component *const *component, unsigned int count);
int ntrace_timestamp_program(struct ntrace_component *component, u32 mode, u32 prescale);
int ntrace_timestamp_check(const struct ntrace_component *component,
			   const struct ntrace_config *config);

/* trigger.c */
void ntrace_trigger_init(struct ntrace_component *component);
bool ntrace_trigger_is_used(const struct ntrace_config *config);
int ntrace_trigger_check(const struct ntrace_component *component,
			 const struct ntrace_config *config);
int ntrace_trigger_program(struct ntrace_component *component, const struct ntrace_config *config);

/* ramsink.c */
void ntrace_ramsink_setup(struct ntrace_component *component);
int ntrace_ramsink_set_width(struct ntrace_component *component, u32 high);
int ntrace_ramsink_find_memory(struct ntrace_component *component);
int ntrace_ramsink_init(struct ntrace_component *component);
size_t ntrace_ramsink_size_max(const struct ntrace_component *component);
bool ntrace_ramsink_is_whole(const struct ntrace_ramsink *sink);
int ntrace_ramsink_alloc(struct ntrace_component *component, size_t size);
void ntrace_ramsink_free(struct ntrace_component *component);
int ntrace_ramsink_program(struct ntrace_component *component, const struct ntrace_config *config);
int ntrace_ramsink_start(struct ntrace_component *component, bool atomic);
int ntrace_ramsink_stop(struct ntrace_component *component, bool atomic);
void ntrace_ramsink_halt(struct ntrace_component *component);
void ntrace_ramsink_fetch(struct ntrace_component *component);
bool ntrace_ramsink_wrapped(const struct ntrace_component *component);
bool ntrace_ramsink_position(const struct ntrace_component *component, u32 *position);

/* portsink.c */
extern const struct attribute_group *ntrace_portsink_groups[];
int ntrace_portsink_init(struct ntrace_component *component);
int ntrace_portsink_program(struct ntrace_component *component);
int ntrace_portsink_start(struct ntrace_component *component, bool atomic);
int ntrace_portsink_stop(struct ntrace_component *component, bool atomic);
void ntrace_portsink_halt(struct ntrace_component *component);

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
int ntrace_topology_each_component(int (*call)(struct ntrace_component *component, void *data),
				   void *data);
int ntrace_topology_each_path(int (*call)(struct ntrace_path *path, void *data), void *data);

/* path.c */
int ntrace_path_may_join(struct ntrace_path *path, const struct ntrace_capture *capture,
			 const struct ntrace_config *config);
int ntrace_path_attach(struct ntrace_path *path, struct ntrace_capture *capture);
void ntrace_path_detach(struct ntrace_path *path, struct ntrace_capture *capture);
int ntrace_path_program(struct ntrace_path *path, const struct ntrace_config *config);
int ntrace_path_enable(struct ntrace_path *path);
int ntrace_path_disable(struct ntrace_capture *capture, u32 control);
int ntrace_path_enable_atomic(struct ntrace_path *path);
int ntrace_path_disable_atomic(struct ntrace_capture *capture, u32 control);

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
void ntrace_drain_begin(struct ntrace_component *component);
void ntrace_drain_flush(struct ntrace_capture *capture);
void ntrace_drain_end(struct ntrace_capture *capture, u32 control, bool sink_stopped);
void ntrace_drain_into(struct ntrace_capture *capture, void *data, size_t size, u64 head, u64 room,
		       bool overwrite);
u64 ntrace_drain_discard(struct ntrace_capture *capture);
void ntrace_drain_pause(struct ntrace_capture *capture, bool pause);
bool ntrace_drain_await_end(struct ntrace_capture *capture);
ktime_t ntrace_drain_step(struct ntrace_capture *capture);
enum hrtimer_restart ntrace_drain_timer(struct hrtimer *timer);

/* split.c */
void ntrace_split_reset(struct ntrace_ramsink *sink, bool skip);
void ntrace_split_put(struct ntrace_ramsink *sink, const u8 *bytes, u32 count);

/* feed.c */
bool ntrace_feed_is_due(const struct ntrace_capture *capture, u64 bytes);
void ntrace_feed_put(struct ntrace_capture *capture, const u8 *bytes, u32 count);
void ntrace_feed_commit(struct ntrace_capture *capture);
void ntrace_feed_void(struct ntrace_capture *capture);
void ntrace_feed_lapped(struct ntrace_capture *capture, u64 lost);
void ntrace_feed_sink_full(struct ntrace_capture *capture);
void ntrace_feed_encoder(struct ntrace_capture *capture, u32 control);
int ntrace_feed_consume(struct ntrace_capture *capture, u64 tail);
u64 ntrace_feed_readable(struct ntrace_capture *capture, u64 *tail);

/* chardev.c */
int ntrace_chardev_init(void);
void ntrace_chardev_exit(void);
int ntrace_chardev_add(struct ntrace_path *path);
void ntrace_chardev_remove(struct ntrace_path *path);
void ntrace_chardev_setup(struct ntrace_path *path);

/* debug.c */
void ntrace_debug_init(void);
void ntrace_debug_exit(void);

/* perf.c */
int ntrace_perf_init(void);
void ntrace_perf_exit(void);
void ntrace_perf_halt(struct ntrace_path *path);
void ntrace_perf_lose(struct ntrace_path *path);

#endif /* NTRACE_NTRACE_H */
