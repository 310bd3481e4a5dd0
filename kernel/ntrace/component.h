/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A component: one page of trace control registers, and what the driver has probed about it; and
 * the functions for each type of component, by the file that has them.
 */
#ifndef NTRACE_COMPONENT_H
#define NTRACE_COMPONENT_H

#include <linux/io.h>
#include <linux/irqflags.h>
#include <linux/list.h>
#include <linux/mod_devicetable.h>
#include <linux/mutex.h>
#include <linux/ntrace.h>
#include <linux/ratelimit.h>
#include <linux/sizes.h>
#include <linux/spinlock.h>
#include <linux/types.h>

#include <ntrace/trace_control.h>

struct attribute_group;
struct clk_bulk_data;
struct device;
struct device_node;
struct ntrace_component;
struct ntrace_feed;
struct ntrace_path;
struct ntrace_scatter;
struct pid;
struct reset_control;

/*
 * A component answers within microseconds unless it is powered down or broken. An encoder may
 * have to send its queue first.
 */
#define NTRACE_POLL_US		20
#define NTRACE_TIMEOUT_US	100000
/* Timeout while interrupts are off on the traced hart. */
#define NTRACE_TIMEOUT_ATOMIC_US 100

/* All bits of ntrace_config.privilege */
#define NTRACE_PRIVILEGE_ALL	(NTRACE_PRIVILEGE_U | NTRACE_PRIVILEGE_S | NTRACE_PRIVILEGE_M | \
				 NTRACE_PRIVILEGE_VU | NTRACE_PRIVILEGE_VS)

/**
 * struct ntrace_encoder - state of a trace encoder
 * @hartid: id of the hart that it traces
 * @control: shadow of trTeControl without trTeEnable and trTeInstTracing. The driver never
 *	     reads, modifies and writes the register: triggers change it.
 * @modes: supported values of trTeInstMode, as a bit mask
 * @sync_modes: supported values of trTeInstSyncMode, as a bit mask
 * @sync_max: largest supported value of trTeInstSyncMax
 * @sync_maxes: supported values of it, as a bit mask
 * @sync_messages_min: smallest supported value of it when messages are counted
 * @acknowledge: bits of trTeControl to invert in the write that enables the encoder
 * @losses: bits of trTeControl that report a loss
 * @noted: those of @losses that were set when the encoder was stopped
 * @failures: those bits of @losses after which no trace reaches the sink any more
 * @features: supported bits of trTeInstFeatures, and the best trTeInstImplicitReturnMode
 * @features_on: those of NTRACE_FEATURES that are hard-wired to 1
 * @control_on: fields of trTeControl, of one bit, that are hard-wired to 1
 * @absent: bit n: the encoder lacks optional register n, see encoder.c
 * @comparators: comparators that exist, as a bit mask
 * @stall: not 0: the encoder has trTeInstStallEna
 * @privilege: privilege codes that a filter can select, 0 = no filter
 * @filters_tried: the driver has tried these filters, see perf_trial.c
 * @filters_work: and they work
 * @context: not 0: the encoder has trTeContext
 * @ranges: number of address ranges that can be filtered at a time
 * @comparator_count: number of the first of @comparators that can compare addresses
 * @comparisons: NTRACE_COMPARE_...
 * @traps: bit n: filters can select NTRACE_TRAPS_... n
 * @causes: filters can select causes of traps
 * @triggers_in: external trigger inputs, as a bit mask
 * @triggers_out: external trigger outputs, as a bit mask
 * @triggers_debug: not 0: the encoder has trTeInstTrigEnable
 * @sources: trTeSrcID and trTeSrcBits to write
 * @shared: they tell the encoders of a shared sink apart
 * @came: trTeSrcID and trTeSrcBits after the reset, or as they are wired
 * @src_widths: supported values of trTeSrcBits, as a bit mask
 * @src_ids: bits of trTeSrcID that software can choose
 * @leaves_out_src: it sends no SRC if the sink is not shared
 * @stimulus: offset of the register to which the id of the running task is stored for an
 *	      Ownership message; 0: the encoder reads scontext
 * @stores: the configuration asks for these stores
 * @atid: ID of its trace on an ATB bus, which its bridge adds; 0: there is no bridge on its way
 * @unfinished: trace of a capture that was released may still arrive in a shared sink
 * @src: trTeSrcID in effect
 * @src_bits: trTeSrcBits in effect
 */
struct ntrace_encoder {
	u64 hartid;
	u32 control;
	u32 modes;
	u32 sync_modes;
	u32 sync_max;
	u32 sync_maxes;
	u32 sync_messages_min;
	u32 acknowledge;
	u32 losses;
	u32 noted;
	u32 failures;
	u32 features;
	u32 features_on;
	u32 control_on;
	u32 absent;
	u32 comparators;
	u32 stall;
	u32 privilege;
	bool filters_tried;
	bool filters_work;
	u32 context;
	u32 ranges;
	u32 comparator_count;
	u32 comparisons;
	u32 traps;
	bool causes;
	u32 triggers_in;
	u32 triggers_out;
	u32 triggers_debug;
	u32 came;
	u32 src_widths;
	u32 src_ids;
	bool leaves_out_src;
	u32 sources;
	bool shared;
	u32 stimulus;
	bool stores;
	u32 atid;
	bool unfinished;
	u32 src;
	u32 src_bits;
};

/**
 * struct ntrace_timestamp - state of the timestamp unit of an encoder or a funnel
 * @exists: trTsControl may be accessed
 * @modes: supported values of trTsMode, as a bit mask; 0 = the component has no usable unit
 * @offered: those modes of an encoder that are useful on its path
 * @source: trTsMode that the driver chose for the unit of a funnel
 * @bits: trTsWidth
 * @prescale_max: largest trTsPrescale of the internal modes
 * @hz: counts per second in each mode, before the prescaler, 0 = unknown
 */
struct ntrace_timestamp {
	bool exists;
	u32 modes;
	u32 offered;
	u32 source;
	u32 bits;
	u32 prescale_max;
	u64 hz[NTRACE_TIMESTAMPS_MAX];
};

/**
 * struct ntrace_split - position of the drain in the messages of several encoders
 * @skip: the start of the next message is unknown
 * @have: bytes in @head
 * @src_bits: width of SRC; 0: all messages are those of one encoder
 * @atid: ID of the encoders on an ATB bus, 0: the sink has no frames
 * @head: start of a message whose source is not known yet
 * @to: data area that gets the rest of the message, or NULL
 */
struct ntrace_split {
	bool skip;
	u8 have;
	u8 src_bits;
	u8 atid;
	u8 head[4];
	struct ntrace_feed *to;
};

/* Bytes of one ID that are passed on at a time. */
#define NTRACE_DEFRAME_RUN	128

/**
 * struct ntrace_deframe_run - consecutive bytes of one ID, in one frame or several
 * @listed: its ID is in @used of struct ntrace_deframe
 * @count: number of bytes
 * @bytes: the bytes, with room for one that is copied in vain
 */
struct ntrace_deframe_run {
	bool listed;
	u32 count;
	u8 bytes[NTRACE_DEFRAME_RUN + 1] __aligned(8);
};

/**
 * struct ntrace_deframe - position of the drain in the frames of a formatter
 * @known: an ID has come since the last gap
 * @id: the last ID
 * @used_count: number of IDs in @used
 * @used: IDs whose runs may hold bytes
 * @run: bytes of each ID that have not been passed on; that of ID 0: bytes of no encoder
 * @split: position in the messages of each ID
 */
struct ntrace_deframe {
	bool known;
	u8 id;
	u8 used_count;
	u8 used[TR_ATB_ID_MAX + 1];
	struct ntrace_deframe_run run[TR_ATB_ID_MAX + 1];
	struct ntrace_split split[TR_ATB_ID_MAX + 1];
};

/**
 * struct ntrace_ramsink - state of a sink
 * @control: trRamControl without trRamEnable
 * @sram_size: bytes of the sink's own memory if the driver uses that (SRAM mode), else 0; the
 *	       driver copies this memory to @ring
 * @least: bytes that one write of the sink has at least, a power of two. @least, @granule and
 *	   @reach are equal if the width of a write is known
 * @granule: bytes that it has at most, a power of two: less and less while the sink runs
 * @reach: the most that any such sink can write at Limit, which lies as far before the end of
 *	   the buffer
 * @wp: register offset of the write pointer, of which bit 0 says that it has wrapped. Writing the
 *	pointer need not clear that bit
 * @marked: SRAM mode: bit 0 of the write pointer tells nothing. The driver has overwritten the last
 *	    word instead
 * @status: register offset of @failures
 * @failures: bits of that register after which no trace reaches memory any more
 * @framed: it writes frames of a CoreSight formatter, see deframe.c
 * @scatters: it can write to memory in pieces
 * @memory: bytes of memory reserved for the sink, 0 = the driver allocates any memory
 * @buffer: trace memory, NULL when no capture is configured
 * @dma: address of @buffer for the sink, or of the table of its pieces
 * @scatter: pieces of @buffer, NULL: it is one block
 * @buffer_size: bytes allocated
 * @ring: start of the part that the sink uses; the sink may have trimmed Start. See ring_at()
 * @ring_dma: address of @ring for the sink
 * @last: position of the last granule, to which Limit points
 * @ring_size: bytes up to the end of that granule; too many by up to @granule - @least until
 *	       @wrapped
 * @mutex: protects the users of the sink, see path.h
 * @session: user of the sink: NULL for files, else the process that opened perf's events
 * @src_bits: width of SRC if several encoders share the sink, else 0
 * @dealt: each capture gets the messages of its own encoder only; then all captures are those of
 *	   perf without triggers in a trace of the kernel, see ntrace_path_can_deal()
 * @users_lock: protects the users where nothing can sleep, see path.h
 * @lock: protects the members below
 * @feeds: data areas that are fed from the sink
 * @full: when the driver stopped the sink, it had stopped by itself
 * @fault: the write pointer left the buffer
 * @wrapped: the drain has found that the sink has wrapped since the ring began anew
 * @drained: position in the ring up to which the drain has copied
 * @found: bytes that the last slice of the drain found; U32_MAX: it has lapped
 * @ends: changes when the last trace of a stopped sink was drained, and when the ring begins anew
 * @drops: how often some of that trace was given up, because it was too much
 * @canary: position in the ring just after the canary
 * @split: position in the messages of several encoders
 * @frames: the same in frames, if @framed
 * @bounce: copy of a part of the ring. The ring may be uncached memory, which is slow to
 *	    read byte by byte.
 *
 * A sink without memory uses @mutex, @session, @src_bits, @dealt, @users_lock, @lock and
 * @feeds only.
 */
struct ntrace_ramsink {
	u32 control;
	u32 sram_size;
	u32 least;
	u32 granule;
	u32 reach;
	u32 wp;
	bool marked;
	u32 status;
	u32 failures;
	bool framed;
	bool scatters;
	u64 memory;
	void *buffer;
	dma_addr_t dma;
	struct ntrace_scatter *scatter;
	size_t buffer_size;
	u8 *ring;
	dma_addr_t ring_dma;
	u32 last;
	u32 ring_size;

	struct mutex mutex; /* users of the sink, see path.h */
	const struct pid *session;
	u32 src_bits;
	bool dealt;
	raw_spinlock_t users_lock; /* users where nothing can sleep, see path.h */

	raw_spinlock_t lock; /* drain state; raw: taken by a hard timer */
	struct list_head feeds;
	bool full;
	bool fault;
	bool wrapped;
	u32 drained;
	u32 found;
	u32 canary;
	u32 ends;
	u32 drops;
	struct ntrace_split split;
	struct ntrace_deframe *frames;
	u8 *bounce;
};

/**
 * struct ntrace_tmc - state of a Trace Memory Controller
 * @sets_pointers: software sets its pointers before each start
 * @stopped: it has stopped
 * @rwp: then the last value of its write pointer
 */
struct ntrace_tmc {
	bool sets_pointers;
	bool stopped;
	u64 rwp;
};

/**
 * struct ntrace_portsink - state of a sink without memory, or of a bridge on a path
 * @modes: PIB sink: supported values of trPibMode, as a bit mask without value 0
 * @divider_max: PIB sink: largest supported trPibDivider
 * @id_bits: ATB bridge: writable bits of trAtbBridgeID; 0 = hard-wired
 * @mode: trPibMode, 0 = the wiring of the pins has not been set
 * @divider: trPibDivider
 * @center: 1: trPibClkCenter
 * @calibrate: 1: trPibCalibrate: the sink sends a pattern instead of trace
 * @id: trAtbBridgeID, 0 = the source ID on the bus has not been set
 * @inputs: funnel of Arm: connected inputs, as a bit mask; other funnels: not 0 if trFunnelDisInput
 *	    exists
 *
 * The members from @mode to @id, except a hard-wired @id, are attributes that users write while no
 * capture is configured. The mutex of struct ntrace_ramsink protects them.
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
	u32 inputs;
};

/**
 * struct ntrace_ops - operations of a component
 * @program: write a configuration; the component is disabled
 * @start: enable it, a sink with an empty ring; the component after it is enabled
 * @stop: disable it and wait until all trace has left it; the components that send to it have
 *	  stopped and are empty
 * @halt: disable a sink without waiting
 * @await_empty: wait until all trace that entered it earlier has left, before a deadline of
 *		 ktime_get_mono_fast_ns(); false: it was never empty. NULL: it cannot tell, only
 *		 a flush empties it, or it holds nothing back
 * @flush: move all trace that a sink and the components before it hold back to memory, before
 *	   a deadline; the sink keeps running. NULL: they hold nothing back
 * @position: write pointer of a sink as an offset in the ring; false: it is not in the ring. NULL:
 *	      @wp of struct ntrace_ramsink
 *
 * Of an encoder, @program only: encoder.c has the rest.
 */
struct ntrace_ops {
	int (*program)(struct ntrace_component *component, const struct ntrace_config *config);
	int (*start)(struct ntrace_component *component, bool atomic);
	int (*stop)(struct ntrace_component *component, bool atomic);
	void (*halt)(struct ntrace_component *component);
	bool (*await_empty)(const struct ntrace_component *component, u64 deadline);
	bool (*flush)(struct ntrace_component *component, u64 deadline);
	bool (*position)(const struct ntrace_component *component, u32 *position);
};

/**
 * struct ntrace_layout - operations that depend on the register layout
 * @identify: probe the type and the features of a component, just after a reset
 * @reset: put a component into its reset state, active, before it is programmed
 * @quiesce: stop a component that is not identified yet; NULL: ntrace_registers_quiesce()
 * @is_running: tell whether the component is enabled; NULL: by tr??Control
 * @off: disable a component, as ntrace_component_off(), which calls it; NULL: by tr??Control
 * @control: register that tells whether the component is enabled
 * @timestamp_extra: bits of trTsControl that select the messages with timestamps
 * @foreign: see struct ntrace_component; for encoders
 */
struct ntrace_layout {
	int (*identify)(struct ntrace_component *component);
	int (*reset)(struct ntrace_component *component);
	int (*quiesce)(struct ntrace_component *component);
	bool (*is_running)(const struct ntrace_component *component);
	int (*off)(struct ntrace_component *component);
	u32 control;
	u32 timestamp_extra;
	u32 foreign;
};

/**
 * struct ntrace_component - one page of trace control registers
 * @node: in the list of all components
 * @dev: platform device
 * @layout: register layout
 * @ops: operations
 * @is_link: it is between an encoder and a sink
 * @base: registers
 * @start: physical address of the registers, for messages
 * @impl: tr??Impl
 * @type: TR_COMP_TYPE_...
 * @held: number of configured captures that need the component
 * @users: number of captures that have the component enabled
 * @foreign: bit of tr??Control that says that a debugger owns the component; 0: there is none
 * @clocks: clocks
 * @clock_count: number of @clocks
 * @clocked: the clocks are enabled
 * @resets: resets, or NULL
 * @programmed: the registers hold the current configuration
 * @inactive: it was found or made inactive, and the driver has not activated it again
 * @woken: it is active only because a component after it is being probed
 * @merges: several encoders may send to it: it is a funnel, or a sink with a funnel
 * @of_hart: an encoder or its bridge: it may lose its power with the hart of its path, and answer
 *	     to that hart only
 * @cpu: with @of_hart: Linux number of that hart
 * @fixed: bits that each write of its control register sets
 * @path: the path that begins here, or NULL
 * @sink: sink of an encoder that contains its own; else NULL
 * @wanted: node of the sink that the user has chosen for an encoder; NULL: the default
 * @timestamp: timestamp unit of an encoder or a funnel
 * @port: state of a sink without memory, or of a bridge on a path
 * @tmc: state of a Trace Memory Controller
 * @encoder: state of an encoder
 * @ramsink: state of a sink
 */
struct ntrace_component {
	struct list_head node;
	struct device *dev;
	const struct ntrace_layout *layout;
	const struct ntrace_ops *ops;
	bool is_link;
	void __iomem *base;
	resource_size_t start;
	u32 impl;
	u32 type;
	unsigned int held;
	unsigned int users;
	u32 foreign;
	struct clk_bulk_data *clocks;
	int clock_count;
	bool clocked;
	struct reset_control *resets;
	bool programmed;
	bool inactive;
	bool woken;
	bool merges;
	bool of_hart;
	unsigned int cpu;
	u32 fixed;
	struct ntrace_path *path;
	struct ntrace_component *sink;
	struct device_node *wanted;
	struct ntrace_timestamp timestamp;
	struct ntrace_portsink port;
	struct ntrace_tmc tmc;
	union {
		struct ntrace_encoder encoder;
		struct ntrace_ramsink ramsink;
	};
};

static inline bool ntrace_component_has_memory(const struct ntrace_component *component)
{
	return component->type == TR_COMP_TYPE_RAM_SINK;
}

/* A path ends at a sink. A bridge is one if it leads to no component that the driver knows. */
static inline bool ntrace_component_is_sink(const struct ntrace_component *component)
{
	return ntrace_component_has_memory(component) || component->type == TR_COMP_TYPE_PIB_SINK ||
	       (component->type == TR_COMP_TYPE_ATB_BRIDGE && !component->is_link);
}

/* @cpu: from ntrace_graph_cpu(). Only components of harts can belong to a debugger. */
static inline void ntrace_component_set_hart(struct ntrace_component *component, int cpu)
{
	if (cpu < 0)
		return;
	component->of_hart = true;
	component->cpu = cpu;
	component->foreign = component->layout->foreign;
}

u32 ntrace_read_there(const struct ntrace_component *component, u32 offset);
void ntrace_write_there(const struct ntrace_component *component, u32 offset, u32 value);

/*
 * Registers of a hart are accessed on that hart. Code that runs with interrupts off is there
 * already, or the hart is offline.
 */
static inline u32 ntrace_read(const struct ntrace_component *component, u32 offset)
{
	if (component->of_hart && !irqs_disabled())
		return ntrace_read_there(component, offset);
	return readl(component->base + offset);
}

static inline void ntrace_write(const struct ntrace_component *component, u32 offset, u32 value)
{
	if (component->of_hart && !irqs_disabled())
		ntrace_write_there(component, offset, value);
	else
		writel(value, component->base + offset);
}

/*
 * Does a debugger own the component? The driver writes nothing to it then. The debugger may take it
 * at any time.
 */
static inline bool ntrace_component_is_foreign(const struct ntrace_component *component)
{
	return component->foreign && ntrace_read(component, TR_CONTROL) & component->foreign;
}

bool ntrace_component_is_running(const struct ntrace_component *component);
int ntrace_component_init(struct ntrace_component *component);
int ntrace_component_activate(struct ntrace_component *component);
int ntrace_component_reset(struct ntrace_component *component);
void ntrace_component_quiesce(struct ntrace_component *component);
int ntrace_component_off(struct ntrace_component *component);
int ntrace_component_poll(const struct ntrace_component *component, u32 offset, u32 mask, u32 want,
			  bool atomic, u32 *value);
int ntrace_component_wait_enabled(struct ntrace_component *component, bool atomic);
int ntrace_component_wait_disabled(struct ntrace_component *component, bool atomic, u32 *control);
int ntrace_component_refuse_foreign(const struct ntrace_component *component);
bool ntrace_component_await_empty(const struct ntrace_component *component, u64 deadline);
bool ntrace_component_has(const struct ntrace_component *component, u32 offset);
int ntrace_component_lacks(const struct ntrace_component *component, const char *field, u64 value);
int ntrace_component_refuse(struct ntrace_component *component, const char *why);
int ntrace_registers_quiesce(struct ntrace_component *component);
u32 ntrace_component_warl(struct ntrace_component *component, u32 offset, u32 value);
const char *ntrace_type_name(u32 type);

/* Register layouts */
extern const struct ntrace_layout ntrace_layout_v0;
extern const struct ntrace_layout ntrace_layout_v0_funnel;
extern const struct ntrace_layout ntrace_layout_armfunnel;
extern const struct ntrace_layout ntrace_layout_tmc;
/* The layout of each compatible string: layouts.c */
extern const struct of_device_id ntrace_layouts[];

/* graph.c: @visit is called for a neighbour; a return value other than 0 ends the walk */
typedef int (*ntrace_visit_t)(struct device_node *neighbour, void *data);
int ntrace_graph_visit(const struct device_node *node, const char *ports_name, ntrace_visit_t visit,
		       void *data);
bool ntrace_graph_is_connected(const struct device_node *node, const char *ports_name);
u32 ntrace_graph_ports(const struct device_node *node, const char *ports_name);
int ntrace_graph_cpu(const struct device_node *node);
bool ntrace_graph_is_of_hart(const struct device_node *node);
bool ntrace_graph_needs_power(const struct device_node *node);
bool ntrace_graph_forks(const struct device_node *node);
struct device_node *ntrace_graph_next_out(const struct device_node *node, u64 from, u64 *number);

/* log.c */
__printf(2, 3) void ntrace_log(const struct device *dev, const char *fmt, ...);
void ntrace_log_exit(void);

/*
 * For callbacks of the PMU and for timers, where printk() may deadlock. Other code uses
 * dev_err_ratelimited().
 */
#define ntrace_err(dev, fmt, ...)						\
do {											\
	static DEFINE_RATELIMIT_STATE(_state, DEFAULT_RATELIMIT_INTERVAL,		\
				      DEFAULT_RATELIMIT_BURST);				\
											\
	if (__ratelimit(&_state))							\
		ntrace_log(dev, fmt, ##__VA_ARGS__);					\
} while (0)

/* power.c */
int ntrace_power_get(struct ntrace_component *component);
void ntrace_power_put(struct ntrace_component *component);
int ntrace_power_init(struct ntrace_component *component);
int ntrace_power_resume(struct device *dev);
int ntrace_power_suspend(struct device *dev);

/* context.c */
void ntrace_context_init(void);
void ntrace_context_exit(void);
int ntrace_context_get(void);
void ntrace_context_put(void);
int ntrace_context_start(unsigned int cpu, bool stored);
void ntrace_context_stop(unsigned int cpu);
void ntrace_context_store_to(unsigned int cpu, void __iomem *stimulus);

/* Bytes of a piece of trace memory: the page allocator has such blocks. */
#define NTRACE_SCATTER_PIECE	SZ_32K

/* scatter.c */
struct ntrace_scatter *ntrace_scatter_alloc(struct device *dev, size_t size);
void ntrace_scatter_free(struct ntrace_scatter *scatter);
u8 *ntrace_scatter_at(const struct ntrace_scatter *scatter, u32 position);
dma_addr_t ntrace_scatter_table(const struct ntrace_scatter *scatter);
bool ntrace_scatter_find(const struct ntrace_scatter *scatter, u64 address, u32 *position);

/* coresight.c */
void ntrace_coresight_unlock(struct ntrace_component *component);
bool ntrace_coresight_is_external(const struct ntrace_component *component);
int ntrace_coresight_claim(struct ntrace_component *component);
void ntrace_coresight_release(struct ntrace_component *component);

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

/* filter.c */
void ntrace_filter_init(struct ntrace_component *component);
int ntrace_filter_check(const struct ntrace_component *component, struct ntrace_config *config);
int ntrace_filter_program(struct ntrace_component *component, const struct ntrace_config *config);

/* encoder.c */
int ntrace_encoder_find_hart(struct ntrace_component *component);
int ntrace_encoder_init(struct ntrace_component *component);
int ntrace_encoder_set_source(struct ntrace_component *component, u32 src, u32 least, u32 width);
int ntrace_encoder_check(const struct ntrace_component *component, struct ntrace_config *config);
int ntrace_encoder_program(struct ntrace_component *component, const struct ntrace_config *config);
int ntrace_encoder_enable(struct ntrace_component *component);
void ntrace_encoder_trace(struct ntrace_component *component);
void ntrace_encoder_pause(struct ntrace_component *component);
void ntrace_encoder_stop(struct ntrace_component *component);

/* funnel.c */
extern const struct ntrace_ops ntrace_funnel_ops;
int ntrace_funnel_init(struct ntrace_component *component);

/* Initializes what all sinks have in common, in a new component. */
static inline void ntrace_sink_setup(struct ntrace_component *component,
				     const struct ntrace_ops *ops)
{
	struct ntrace_ramsink *sink = &component->ramsink;

	component->ops = ops;
	mutex_init(&sink->mutex);
	raw_spin_lock_init(&sink->users_lock);
	raw_spin_lock_init(&sink->lock);
	INIT_LIST_HEAD(&sink->feeds);
	sink->wp = TR_RAM_WP_LOW;
	sink->status = TR_CONTROL;
}

/* The width of one write of the sink is known. */
static inline void ntrace_sink_set_granule(struct ntrace_ramsink *sink, u32 bytes)
{
	sink->least = bytes;
	sink->granule = bytes;
	sink->reach = bytes;
}

/* ramsink.c */
int ntrace_ramsink_set_width(struct ntrace_component *component, u32 high);
int ntrace_ramsink_find_memory(struct ntrace_component *component);
int ntrace_ramsink_find_granule(struct ntrace_component *component, u32 limit);
int ntrace_ramsink_accept(struct ntrace_component *component, u64 start, u64 limit, u64 wp);
void ntrace_ramsink_set_ring(struct ntrace_ramsink *sink, u64 start, u64 limit);
int ntrace_ramsink_init(struct ntrace_component *component);
size_t ntrace_ramsink_size_max(const struct ntrace_component *component);
bool ntrace_ramsink_is_whole(const struct ntrace_ramsink *sink);
int ntrace_ramsink_alloc(struct ntrace_component *component, size_t size);
void ntrace_ramsink_free(struct ntrace_component *component);
void ntrace_ramsink_note_full(struct ntrace_component *component);
void ntrace_ramsink_fetch(struct ntrace_component *component);
bool ntrace_ramsink_wrapped(const struct ntrace_component *component);
bool ntrace_ramsink_measure(struct ntrace_ramsink *sink, bool running);
bool ntrace_ramsink_track(struct ntrace_ramsink *sink, u32 *position, bool running);
bool ntrace_ramsink_is_stuck(const struct ntrace_component *component);
bool ntrace_ramsink_position(const struct ntrace_component *component, u32 *position);

/* portsink.c */
extern const struct attribute_group ntrace_portsink_group;
int ntrace_portsink_init(struct ntrace_component *component);

#endif /* NTRACE_COMPONENT_H */
