/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A component: one page of trace control registers, and what the driver has probed about it; and
 * the functions for each type of component, by the file that has them.
 */
#ifndef NTRACE_COMPONENT_H
#define NTRACE_COMPONENT_H

#include <linux/device.h>
#include <linux/io.h>
#include <linux/irqflags.h>
#include <linux/list.h>
#include <linux/mod_devicetable.h>
#include <linux/mutex.h>
#include <linux/ntrace.h>
#include <linux/printk.h>
#include <linux/ratelimit.h>
#include <linux/sizes.h>
#include <linux/spinlock.h>
#include <linux/types.h>

#include <ntrace/trace_control.h>

struct attribute_group;
struct clk_bulk_data;
struct device_node;
struct ntrace_component;
struct ntrace_feed;
struct ntrace_path;
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

/*
 * State of a trace encoder.
 *
 * @control: shadow of trTeControl without trTeEnable and trTeInstTracing. The driver never
 *	     reads, modifies and writes the register: triggers change it.
 * @features: supported bits of trTeInstFeatures, and the best trTeInstImplicitReturnMode
 * @stimulus: offset of the register to which the id of the running task is stored for an
 *	      Ownership message; 0: the encoder reads scontext
 * @atid: ID of its trace on an ATB bus, which its bridge adds; 0: there is no bridge on its way
 * @unfinished: trace of a capture that was released may still arrive in a shared sink
 */
struct ntrace_encoder {
	u64 hartid; /* id of the hart that it traces */
	u32 control;
	u32 modes; /* supported values of trTeInstMode, as a bit mask */
	u32 sync_modes; /* supported values of trTeInstSyncMode, as a bit mask */
	u32 sync_max; /* largest supported value of trTeInstSyncMax */
	u32 sync_maxes; /* supported values of it, as a bit mask */
	u32 sync_messages_min; /* smallest supported value of it when messages are counted */
	u32 acknowledge; /* bits of trTeControl to invert in the write that enables the encoder */
	u32 losses; /* bits of trTeControl that report a loss */
	u32 noted; /* those of @losses that were set when the encoder was stopped */
	u32 failures; /* those bits of @losses after which no trace reaches the sink any more */
	u32 features;
	u32 features_on; /* those of NTRACE_FEATURES that are hard-wired to 1 */
	u32 control_on; /* fields of trTeControl, of one bit, that are hard-wired to 1 */
	u32 absent; /* bit n: the encoder lacks optional register n, see encoder.c */
	u32 comparators; /* comparators that exist, as a bit mask */
	u32 stall; /* not 0: the encoder has trTeInstStallEna */
	u32 privilege; /* privilege codes that a filter can select, 0 = no filter */
	bool filters_tried; /* the driver has tried these filters, see perf_trial.c */
	bool filters_work; /* and they work */
	u32 context; /* not 0: the encoder has trTeContext */
	u32 ranges; /* number of address ranges that can be filtered at a time */
	u32 comparator_count; /* number of the first of @comparators that can compare addresses */
	u32 comparisons; /* NTRACE_COMPARE_... */
	u32 traps; /* bit n: filters can select NTRACE_TRAPS_... n */
	bool causes; /* filters can select causes of traps */
	u32 triggers_in; /* external trigger inputs, as a bit mask */
	u32 triggers_out; /* external trigger outputs, as a bit mask */
	u32 triggers_debug; /* not 0: the encoder has trTeInstTrigEnable */
	u32 came; /* trTeSrcID and trTeSrcBits after the reset, or as they are wired */
	u32 src_widths; /* supported values of trTeSrcBits, as a bit mask */
	u32 src_ids; /* bits of trTeSrcID that software can choose */
	u32 src_wired; /* its other bits, if trTeSrcBits is as wide as possible */
	const char *lacks; /* the field for which it cannot share the sink */
	const char *refused; /* why it has no path, as the log says, or NULL */
	bool leaves_out_src; /* it sends no SRC if the sink is not shared */
	u32 sources; /* trTeSrcID and trTeSrcBits to write */
	bool shared; /* they tell the encoders of a shared sink apart */
	u32 stimulus;
	bool stores; /* the configuration asks for these stores */
	u32 atid;
	bool unfinished;
	u32 src; /* trTeSrcID in effect */
	u32 src_bits; /* trTeSrcBits in effect */
};

/*
 * State of the timestamp unit of an encoder or a funnel.
 *
 * @modes: supported values of trTsMode, as a bit mask; 0 = the component has no usable unit
 * @hz: counts per second in each mode, before the prescaler, 0 = unknown
 */
struct ntrace_timestamp {
	bool exists; /* trTsControl may be accessed */
	u32 modes;
	u32 offered; /* those modes of an encoder that are useful on its path */
	u32 source; /* trTsMode that the driver chose for the unit of a funnel */
	u32 bits; /* trTsWidth */
	u32 prescale_max; /* largest trTsPrescale of the internal modes */
	u64 hz[NTRACE_TIMESTAMPS_MAX];
};

/* Position of the drain in the messages of several encoders. */
struct ntrace_split {
	bool skip; /* the start of the next message is unknown */
	u8 have; /* bytes in @head */
	u8 src_bits; /* width of SRC; 0: all messages are those of one encoder */
	u8 atid; /* ID of the encoders on an ATB bus, 0: the sink has no frames */
	u8 head[4]; /* start of a message whose source is not known yet */
	struct ntrace_feed *to; /* data area that gets the rest of the message, or NULL */
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

/*
 * Position of the drain in the frames of a formatter.
 *
 * @run: bytes of each ID that have not been passed on; that of ID 0: bytes of no encoder
 */
struct ntrace_deframe {
	bool known; /* an ID has come since the last gap */
	u8 id; /* the last ID */
	u8 used_count; /* number of IDs in @used */
	u8 used[TR_ATB_ID_MAX + 1]; /* IDs whose runs may hold bytes */
	struct ntrace_deframe_run run[TR_ATB_ID_MAX + 1];
	struct ntrace_split split[TR_ATB_ID_MAX + 1]; /* position in the messages of each ID */
};

/*
 * State of a sink.
 *
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
 * @ring: start of the part that the sink uses; the sink may have trimmed Start.
 * @ring_size: bytes up to the end of the last granule; too many by up to @granule - @least until
 *	       @wrapped
 * @session: user of the sink: NULL for files, else the process that opened perf's events
 * @dealt: each capture gets the messages of its own encoder only; then all captures are those of
 *	   perf without triggers in a trace of the kernel, see ntrace_path_can_deal()
 * @ends: changes when the last trace of a stopped sink was drained, and when the ring begins anew
 * @bounce: copy of a part of the ring. The ring may be uncached memory, which is slow to
 *	    read byte by byte.
 *
 * A sink without memory uses @mutex, @session, @src_bits, @dealt, @users_lock, @lock and
 * @feeds only.
 */
struct ntrace_ramsink {
	u32 control; /* trRamControl without trRamEnable */
	u32 sram_size;
	u32 least;
	u32 granule;
	u32 reach;
	u32 wp;
	bool marked;
	u32 status; /* register offset of @failures */
	u32 failures; /* bits of that register after which no trace reaches memory any more */
	bool framed; /* it writes frames of a CoreSight formatter, see split.c */
	u64 memory; /* bytes of memory reserved for the sink, 0 = the driver allocates any memory */
	void *buffer; /* trace memory, NULL when no capture is configured */
	dma_addr_t dma; /* address of @buffer for the sink */
	size_t buffer_size; /* bytes allocated */
	u8 *ring;
	dma_addr_t ring_dma; /* address of @ring for the sink */
	u32 last; /* position of the last granule, to which Limit points */
	u32 ring_size;

	struct mutex mutex; /* users of the sink, see path.h */
	const struct pid *session;
	u32 src_bits; /* width of SRC if several encoders share the sink, else 0 */
	bool dealt;
	raw_spinlock_t users_lock; /* users where nothing can sleep, see path.h */

	raw_spinlock_t lock; /* drain state; raw: taken by a hard timer */
	struct list_head feeds; /* data areas that are fed from the sink */
	bool full; /* when the driver stopped the sink, it had stopped by itself */
	bool fault; /* the write pointer left the buffer */
	bool wrapped; /* the drain has found that the sink has wrapped since the ring began anew */
	u32 drained; /* position in the ring up to which the drain has copied */
	u32 found; /* bytes that the last slice of the drain found; U32_MAX: it has lapped */
	u32 canary; /* position in the ring just after the canary */
	u32 ends;
	u32 drops; /* how often the rest in a stopped sink was given up, as it was too much */
	struct ntrace_split split; /* position in the messages of several encoders */
	struct ntrace_deframe *frames; /* the same in frames, if @framed */
	u8 *bounce;
};

/* State of a Trace Memory Controller. */
struct ntrace_tmc {
	bool sets_pointers; /* software sets its pointers before each start */
	bool stopped; /* it has stopped */
	u64 rwp; /* then the last value of its write pointer */
};

/*
 * State of a sink without memory, or of a bridge on a path.
 *
 * @inputs: funnel of Arm: connected inputs, as a bit mask; other funnels: not 0 if trFunnelDisInput
 *	    exists
 *
 * The members from @mode to @id, except a hard-wired @id, are attributes that users write while no
 * capture is configured. The mutex of struct ntrace_ramsink protects them.
 */
struct ntrace_portsink {
	u32 modes; /* PIB sink: supported values of trPibMode, as a bit mask without value 0 */
	u32 divider_max; /* PIB sink: largest supported trPibDivider */
	u32 id_bits; /* ATB bridge: writable bits of trAtbBridgeID; 0 = hard-wired */
	u32 mode; /* trPibMode, 0 = the wiring of the pins has not been set */
	u32 divider; /* trPibDivider */
	u32 center; /* 1: trPibClkCenter */
	u32 calibrate; /* 1: trPibCalibrate: the sink sends a pattern instead of trace */
	u32 id; /* trAtbBridgeID, 0 = the source ID on the bus has not been set */
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

/*
 * Operations that depend on the register layout.
 *
 * @identify: probe the type and the features of a component, just after a reset
 * @reset: put a component into its reset state, active, before it is programmed
 * @quiesce: stop a component that is not identified yet; NULL: ntrace_registers_quiesce()
 * @is_running: tell whether the component is enabled; NULL: by tr??Control
 * @off: disable a component, as ntrace_component_off(), which calls it; NULL: by tr??Control
 */
struct ntrace_layout {
	int (*identify)(struct ntrace_component *component);
	int (*reset)(struct ntrace_component *component);
	int (*quiesce)(struct ntrace_component *component);
	bool (*is_running)(const struct ntrace_component *component);
	int (*off)(struct ntrace_component *component);
	u32 control; /* register that tells whether the component is enabled */
	u32 timestamp_extra; /* bits of trTsControl that select the messages with timestamps */
	u32 foreign; /* see struct ntrace_component; for encoders */
};

/*
 * One page of trace control registers.
 *
 * @foreign: bit of tr??Control that says that a debugger owns the component; 0: there is none
 * @inactive: it was found or made inactive, and the driver has not activated it again
 * @of_hart: an encoder or its bridge: it may lose its power with the hart of its path, and answer
 *	     to that hart only
 * @wanted: node of the sink that the user has chosen for an encoder; NULL: the default
 * @encoder: state of an encoder
 * @ramsink: state of a sink
 */
struct ntrace_component {
	struct list_head node; /* in the list of all components */
	struct device *dev; /* platform device */
	const struct ntrace_layout *layout;
	const struct ntrace_ops *ops;
	bool is_link; /* it is between an encoder and a sink */
	void __iomem *base;
	resource_size_t start; /* physical address of the registers, for messages */
	u32 impl; /* tr??Impl */
	u32 type; /* TR_COMP_TYPE_... */
	unsigned int held; /* number of configured captures that need the component */
	unsigned int users; /* number of captures that have the component enabled */
	u32 foreign;
	struct clk_bulk_data *clocks;
	int clock_count; /* number of @clocks */
	bool clocked; /* the clocks are enabled */
	struct reset_control *resets; /* resets, or NULL */
	bool programmed; /* the registers hold the current configuration */
	bool inactive;
	bool woken; /* it is active only because a component after it is being probed */
	bool merges; /* several encoders may send to it: it is a funnel, or a sink with a funnel */
	bool of_hart;
	unsigned int cpu; /* with @of_hart: Linux number of that hart */
	u32 fixed; /* bits that ntrace_component_start() and ntrace_component_halt() set as well */
	struct ntrace_path *path; /* the path that begins here, or NULL */
	struct ntrace_component *sink; /* sink of an encoder that contains its own; else NULL */
	struct device_node *wanted;
	struct ntrace_timestamp timestamp; /* timestamp unit of an encoder or a funnel */
	struct ntrace_portsink port; /* state of a sink without memory, or of a bridge on a path */
	struct ntrace_tmc tmc; /* state of a Trace Memory Controller */
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
int ntrace_component_start(struct ntrace_component *component, bool atomic);
void ntrace_component_halt(struct ntrace_component *component);
int ntrace_component_stop(struct ntrace_component *component, bool atomic);
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

/*
 * Logs an error in callbacks of the PMU and in timers. perf calls a PMU with the lock of its
 * context held, at task switches also with that of the run queue. Consoles wake their readers,
 * which takes the lock of a run queue: printk() may deadlock. LOGLEVEL_SCHED leaves consoles to an
 * interrupt, as printk_deferred() does, which is not exported. Other code uses
 * dev_err_ratelimited().
 */
#define ntrace_err(_dev, fmt, ...)						\
do {											\
	static DEFINE_RATELIMIT_STATE(_state, DEFAULT_RATELIMIT_INTERVAL,		\
				      DEFAULT_RATELIMIT_BURST);				\
	const struct device *_subject = (_dev);						\
											\
	if (__ratelimit(&_state))							\
		dev_printk_emit(LOGLEVEL_SCHED, _subject, KERN_ERR "%s %s: " fmt,	\
				dev_driver_string(_subject), dev_name(_subject),	\
				##__VA_ARGS__);						\
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

/* timestamp.c */
void ntrace_timestamp_init(struct ntrace_component *component);
void ntrace_timestamp_connect(struct ntrace_component *const *component, unsigned int count);
int ntrace_timestamp_program(struct ntrace_component *component, u32 mode, u32 prescale);
int ntrace_timestamp_check(const struct ntrace_component *component,
			   const struct ntrace_config *config);

/* filter.c */
void ntrace_trigger_init(struct ntrace_component *component);
bool ntrace_trigger_is_used(const struct ntrace_config *config);
int ntrace_trigger_check(const struct ntrace_component *component,
			 const struct ntrace_config *config);
int ntrace_trigger_program(struct ntrace_component *component, const struct ntrace_config *config);
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
int ntrace_ramsink_find_memory(struct ntrace_component *component, u32 high);
int ntrace_ramsink_find_granule(struct ntrace_component *component, u32 limit);
int ntrace_ramsink_accept(struct ntrace_component *component, u64 start, u64 limit, u64 wp);
void ntrace_ramsink_set_ring(struct ntrace_ramsink *sink, u64 start, u64 limit);
int ntrace_ramsink_init(struct ntrace_component *component);
size_t ntrace_ramsink_size_max(const struct ntrace_component *component);
bool ntrace_ramsink_is_whole(const struct ntrace_ramsink *sink);
int ntrace_ramsink_alloc(struct ntrace_component *component, size_t size);
void ntrace_ramsink_free(struct ntrace_component *component);
void ntrace_ramsink_note_full(struct ntrace_component *component);
int ntrace_ramsink_stop(struct ntrace_component *component, bool atomic);
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
