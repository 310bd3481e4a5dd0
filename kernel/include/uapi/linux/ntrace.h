/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * User space interface of /dev/ntraceN: one character device per trace encoder
 * (hart) of a RISC-V N-Trace (Nexus) trace system. N is the Linux number of the
 * CPU. Devices whose encoders share a sink report the same ntrace_info.sink.
 *
 * A device traces a hart, not a task: opening it needs perfmon_capable()
 * (CAP_PERFMON or CAP_SYS_ADMIN), whatever perf_event_paranoid says.
 *
 * Order of calls: open, NTRACE_IOC_INFO, NTRACE_IOC_CONFIGURE, mmap,
 * NTRACE_IOC_START, then poll / copy / NTRACE_IOC_CONSUME in a loop (or
 * read()), NTRACE_IOC_STOP, copy the rest, close. A device has one capture at a
 * time: CONFIGURE of a second open file fails with EBUSY until the first file
 * and its mappings are closed. Captures of devices that share a sink run side by
 * side, and share the sink's buffer.
 *
 * Every struct starts with its own size, set by the caller. The kernel reads
 * the fields that both sides know. It refuses a larger struct with E2BIG if an
 * unknown byte is not 0, and treats the fields that a smaller struct lacks as 0.
 * It writes at most the caller's size and stores there the number of bytes that
 * it knows.
 */
#ifndef _UAPI_LINUX_NTRACE_H
#define _UAPI_LINUX_NTRACE_H

#include <linux/ioctl.h>
#include <linux/types.h>

/* Raised when a field changes its meaning; never for fields added at the end. */
#ifndef NTRACE_ABI_VERSION
#define NTRACE_ABI_VERSION 1
#endif

/* ntrace_config.mode: the values of trTeInstMode. */
#define NTRACE_MODE_BTM 3
#define NTRACE_MODE_HTM 6

/* ntrace_config.privilege, ntrace_info.privilege: bit n = privilege code n of the ingress port. */
#define NTRACE_PRIVILEGE_U (1u << 0)
#define NTRACE_PRIVILEGE_S (1u << 1)
#define NTRACE_PRIVILEGE_M (1u << 3)
#define NTRACE_PRIVILEGE_VU (1u << 5)
#define NTRACE_PRIVILEGE_VS (1u << 6)

/* ntrace_config.sync_mode: the values of trTeInstSyncMode. */
#define NTRACE_SYNC_OFF 0
#define NTRACE_SYNC_MESSAGES 1
#define NTRACE_SYNC_CYCLES 2
#define NTRACE_SYNC_PARCELS 3

/* ntrace_config.timestamps: the values of trTsMode: the source of timestamps. */
#define NTRACE_TIMESTAMPS_OFF 0
#define NTRACE_TIMESTAMPS_EXTERNAL 1
#define NTRACE_TIMESTAMPS_SYSTEM 2 /* counter of the encoder, bus clock */
#define NTRACE_TIMESTAMPS_CORE 3 /* counter of the encoder, hart clock */
#define NTRACE_TIMESTAMPS_SHARED 4 /* counter of the funnel, common to its encoders */
#define NTRACE_TIMESTAMPS_MAX 8

#define NTRACE_PRESCALE_MAX 3

/* ntrace_config.trigger_in: the action of an input, four bits per input. */
#define NTRACE_TRIGGER_NONE 0
#define NTRACE_TRIGGER_ON 2 /* tracing starts */
#define NTRACE_TRIGGER_OFF 3 /* tracing stops */
#define NTRACE_TRIGGER_NOTIFY 4 /* a synchronization message marks the trigger */

/* ntrace_config.trigger_out: when an output fires, four bits per output. */
#define NTRACE_TRIGGER_OUT_ON 1 /* when tracing starts */
#define NTRACE_TRIGGER_OUT_OFF 2 /* when tracing stops */

/* ntrace_config.traps: trace only handlers of traps, from the trap up to its return. */
#define NTRACE_TRAPS_OFF 0
#define NTRACE_TRAPS_EXCEPTIONS 1
#define NTRACE_TRAPS_INTERRUPTS 2

#define NTRACE_RANGES_MAX 8
#define NTRACE_MARKS_MAX 8

/* ntrace_info.comparisons: what comparators can do beside ranges */
#define NTRACE_COMPARE_MARK (1u << 0) /* ntrace_config.marks */
#define NTRACE_COMPARE_FROM_UNTIL (1u << 1) /* NTRACE_CONFIG_FROM, NTRACE_CONFIG_UNTIL */
#define NTRACE_COMPARE_TASK (1u << 2) /* ntrace_config.task */

/* ntrace_info.framing */
#define NTRACE_FRAMING_NONE 0
#define NTRACE_FRAMING_CORESIGHT 1 /* frames of a CoreSight formatter, 16 bytes each */

/**
 * struct ntrace_range - a range of virtual addresses
 * @start: first address
 * @end: last address, inclusive
 */
struct ntrace_range {
	__u64 start;
	__u64 end;
};

/**
 * struct ntrace_info - the hardware of this device (NTRACE_IOC_INFO)
 * @size: size of this structure
 * @abi_version: NTRACE_ABI_VERSION of the kernel module
 * @cpu: Linux number of the hart that the encoder traces
 * @src: trTeSrcID of the encoder as programmed
 * @src_bits: trTeSrcBits as programmed: width of the SRC field, 0 = no field
 * @xlen: 32 or 64
 * @hartid: RISC-V hart id
 * @modes: bit n set: trTeInstMode accepts n (NTRACE_MODE_...)
 * @sync_modes: bit n set: trTeInstSyncMode accepts n (NTRACE_SYNC_...)
 * @sync_max: largest value that trTeInstSyncMax accepts
 * @inst_features: bits of trTeInstFeatures that the encoder accepts; bits 7..6 are the
 *                 trTeInstImplicitReturnMode that NTRACE_FEATURE_IMPLICIT_RETURN has
 * @privilege: privileges that the filter can select; 0 without a filter
 * @encoder_impl: trTeImpl
 * @sink_impl: trRamImpl, trPibImpl or trAtbBridgeImpl; bits 11..8 are the type: 0x9 memory,
 *             0xa pins, 0xe a CoreSight trace bus. Only trace in memory can be read. An ETR of
 *             Arm has no such register: 0x900
 * @granule: bytes per write of the sink, or the most that they can be if that is not known
 * @sink_size_max: largest possible sink buffer in bytes; 0 if trace does not go to
 *                 memory. For a sink with memory of its own (SRAM mode, see
 *                 @sink_impl), the size of that memory, which can be read only while
 *                 the sink is stopped
 * @module_version: version of the module, 0-terminated
 * @sink: number of the sink. Devices with the same number share the sink: each of
 *        them delivers the messages of all harts that are being traced, and @src
 *        identifies the hart
 * @timestamp_modes: bit n set: NTRACE_TIMESTAMPS_... n is supported; 0 = no timestamps
 * @timestamp_bits: width of a timestamp
 * @timestamp_prescale_max: largest ntrace_config.timestamp_prescale
 * @range_max: largest ntrace_config.range_count
 * @timestamp_hz: frequency of each mode with prescale 0, in Hz; 0 = unknown
 * @traps: bit n set: NTRACE_TRAPS_... n is supported
 * @causes: 1: ntrace_config.causes is supported
 * @triggers_in: bit n set: external trigger input n exists
 * @triggers_out: likewise for outputs
 * @triggers_debug: 1: NTRACE_CONFIG_DEBUG_TRIGGERS is supported
 * @stall: 1: NTRACE_CONFIG_STALL is supported
 * @framing: NTRACE_FRAMING_...: packing of the messages in the data area
 * @atid: with NTRACE_FRAMING_CORESIGHT: ID of this hart's messages in the frames. Messages with
 *        this ID that have a SRC field (@src_bits) may be those of other harts
 * @context: NTRACE_CONFIG_CONTEXT: 0 the encoder lacks trTeContext; 1 it has it; 2 it always sends
 *           Ownership messages, whose ids are valid with NTRACE_CONFIG_CONTEXT only
 * @sync_maxes: bit n set: trTeInstSyncMax accepts n
 * @comparators: number of comparators. A capture needs one for each range, for every two marks, for
 *               from and until together, and for the task
 * @comparisons: NTRACE_COMPARE_...
 */
struct ntrace_info {
	__u32 size;
	__u32 abi_version;
	__u32 cpu;
	__u32 src;
	__u32 src_bits;
	__u32 xlen;
	__u64 hartid;
	__u32 modes;
	__u32 sync_modes;
	__u32 sync_max;
	__u32 inst_features;
	__u32 privilege;
	__u32 encoder_impl;
	__u32 sink_impl;
	__u32 granule;
	__u64 sink_size_max;
	char module_version[32];
	__u64 sink;
	__u32 timestamp_modes;
	__u32 timestamp_bits;
	__u32 timestamp_prescale_max;
	__u32 range_max;
	__u64 timestamp_hz[NTRACE_TIMESTAMPS_MAX];
	__u32 traps;
	__u32 causes;
	__u32 triggers_in;
	__u32 triggers_out;
	__u32 triggers_debug;
	__u32 stall;
	__u32 framing;
	__u32 atid;
	__u32 context;
	__u32 sync_maxes;
	__u32 comparators;
	__u32 comparisons;
};

/*
 * ntrace_config.flags: for harts that share a sink. The hart is traced, but user
 * space reads its trace from another device of that sink, so the data area stays
 * empty. The flag is required where trace leaves the machine (see
 * ntrace_info.sink_impl): such a capture has no data area, data_size and sink_size
 * are 0, and read() fails with EOPNOTSUPP.
 */
#define NTRACE_CONFIG_NO_DATA (1u << 0)
/*
 * The sink stops when its buffer is full, so that the buffer holds the first trace
 * rather than the last. The driver drains the buffer at STOP, not before.
 */
#define NTRACE_CONFIG_STOP_ON_WRAP (1u << 1)
/*
 * Ownership messages name the task: scontext holds its thread id in the initial PID
 * namespace. EOPNOTSUPP if the encoder has no trTeContext, or if the hart has no
 * scontext that the kernel may write.
 */
#define NTRACE_CONFIG_CONTEXT (1u << 2)

/* START arms the encoder; a trigger starts tracing, see ntrace_config.trigger_in. */
#define NTRACE_CONFIG_ARMED (1u << 3)

/*
 * Triggers of the hart's debug module (actions trace-on, trace-off, trace-notify)
 * start, stop and mark the trace. Firmware or a debugger sets them. The encoder has
 * one switch for debug triggers and inputs: trigger_in enables both.
 */
#define NTRACE_CONFIG_DEBUG_TRIGGERS (1u << 4)

/*
 * The hart waits while the encoder cannot send (trTeInstStallEna). No trace is lost between hart
 * and encoder, and the hart is slower. EINVAL with STOP_ON_WRAP: the hart would wait for ever.
 */
#define NTRACE_CONFIG_STALL (1u << 5)

/*
 * The hart is traced from the execution of the instruction at ntrace_config.from up to that of the
 * one at ntrace_config.until, both included, each time. Without FROM the first time begins with the
 * capture; without UNTIL it ends with it. An encoder that compares only the first of several
 * instructions at a time traces them all.
 */
#define NTRACE_CONFIG_FROM (1u << 6)
#define NTRACE_CONFIG_UNTIL (1u << 7)

/*
 * ntrace_config.features: bits of trTeInstFeatures. A decoder must know ALL_JUMPS and
 * EXTEND_ADDRESS; it follows the others by the messages.
 */
#define NTRACE_FEATURE_SEQUENTIAL_JUMP (1u << 2) /* none for jumps whose target the code tells */
#define NTRACE_FEATURE_IMPLICIT_RETURN (1u << 3) /* none for returns to the caller */
#define NTRACE_FEATURE_REPEATED_HISTORY (1u << 8) /* one message for equal ones, in HTM */
#define NTRACE_FEATURE_ALL_JUMPS (1u << 9) /* direct jumps as taken branches */
#define NTRACE_FEATURE_EXTEND_ADDRESS (1u << 10) /* the top bit of a short address is repeated */

/**
 * struct ntrace_config - one capture (NTRACE_IOC_CONFIGURE, in and out)
 * @size: size of this structure
 * @mode: NTRACE_MODE_BTM or NTRACE_MODE_HTM; 0 = HTM if supported, else BTM
 * @privilege: NTRACE_PRIVILEGE_... to trace; 0 = user and supervisor. EOPNOTSUPP if
 *             the encoder cannot filter so.
 * @sync_mode: NTRACE_SYNC_...; periodic synchronization
 * @sync_max: interval 2^(sync_max + 4) messages, cycles or parcels. If the encoder lacks it, the
 *            next shorter interval that it has, or else its shortest one
 * @drain_us: longest time between two drains of the sink in microseconds;
 *            0 = the driver chooses it from the size of the sink buffer
 * @sink_size: bytes of the sink buffer (DMA memory); 0 = default
 * @data_size: bytes of the data area that user space maps, a power of two of
 *             at least one page; 0 = default
 * @flags: NTRACE_CONFIG_...
 * @features: NTRACE_FEATURE_...: how the encoder shortens or extends its messages; each must be in
 *            ntrace_info.inst_features
 * @timestamps: NTRACE_TIMESTAMPS_...; the first message after START has the time of
 *              ntrace_control.start_ns
 * @timestamp_prescale: n divides the frequency by 4^n; SYSTEM and CORE only
 * @range_count: number of valid @ranges; 0 = trace all addresses
 * @traps: NTRACE_TRAPS_...; OFF = trace all code
 * @causes: bit n: traps with cause n; 0 = all causes. Only with @traps
 * @ranges: see @range_count
 * @trigger_in: NTRACE_TRIGGER_..., bits 4n + 3..4n for input n
 * @trigger_out: NTRACE_TRIGGER_OUT_..., likewise for outputs
 * @mark_count: number of valid @marks
 * @task: thread id in the initial PID namespace: trace this thread only, with
 *        NTRACE_CONFIG_CONTEXT; 0 = all
 * @marks: each execution of the instruction at such an address sends a synchronization message
 *         (SYNC 6)
 * @from: see NTRACE_CONFIG_FROM
 * @until: see NTRACE_CONFIG_UNTIL
 *
 * An instruction is traced if it satisfies all given conditions: @privilege, one of
 * @ranges, a handler of @traps, between @from and @until, and of @task.
 *
 * On return, all fields hold the values in effect, as read back from the hardware.
 * A mode, privilege or sync setting that the hardware does not accept is an error
 * (EOPNOTSUPP), never a silent change; the kernel log names the field. What is
 * hard-wired is in effect and returned: features, NTRACE_CONFIG_STALL, and
 * synchronization where it cannot be off (the rarest). But implicit return of an
 * encoder that does not compare whole addresses is an error if it is not asked for.
 * Sizes may be rounded up.
 */
struct ntrace_config {
	__u32 size;
	__u32 mode;
	__u32 privilege;
	__u32 sync_mode;
	__u32 sync_max;
	__u32 drain_us;
	__u64 sink_size;
	__u64 data_size;
	__u32 flags;
	__u32 features;
	__u32 timestamps;
	__u32 timestamp_prescale;
	__u32 range_count;
	__u32 traps;
	__u64 causes;
	struct ntrace_range ranges[NTRACE_RANGES_MAX];
	__u32 trigger_in;
	__u32 trigger_out;
	__u32 mark_count;
	__u32 task;
	__u64 marks[NTRACE_MARKS_MAX];
	__u64 from;
	__u64 until;
};

/* ntrace_control.state */
#define NTRACE_STATE_CONFIGURED 0
#define NTRACE_STATE_RUNNING 1
#define NTRACE_STATE_STOPPED 2
#define NTRACE_STATE_DEAD 3 /* a component did not answer in time */

/* ntrace_control.loss: causes of loss since CONFIGURE; 0 = none. */
#define NTRACE_LOSS_LAPPED (1u << 0) /* the sink overtook the drain; @lost is a lower bound */
#define NTRACE_LOSS_DATA_FULL (1u << 1) /* the data area was full; @lost is exact */
#define NTRACE_LOSS_ENCODER (1u << 2) /* the encoder reports it, or no trace arrived */
#define NTRACE_LOSS_SINK_FULL (1u << 3) /* the sink stopped, full; later trace is not counted */
#define NTRACE_LOSS_DEBUGGER (1u << 4) /* a debugger has taken the encoder; the capture is dead */
/* These two are in records of perf only. */
#define NTRACE_LOSS_SWITCH (1u << 5) /* the task was switched out before its trace was copied */
#define NTRACE_LOSS_SHARED (1u << 6) /* the end of a task's trace was held back in a shared sink */

/* Flags of a PERF_RECORD_AUX, in PERF_AUX_FLAG_PMU_FORMAT_TYPE_MASK: N-Trace, as in gtrace. */
#define NTRACE_AUX_FORMAT 0x0200

/* The bits above, 16 to 23, which perf does not use: NTRACE_LOSS_... of the trace of the record. */
#define NTRACE_AUX_LOSS_SHIFT 16

/**
 * struct ntrace_control - first page of the mapping, read-only
 * @abi_version: NTRACE_ABI_VERSION of the kernel module
 * @state: NTRACE_STATE_...
 * @data_offset: offset of the data area in the mapping
 * @data_size: size of the data area in bytes, a power of two
 * @head: bytes that the kernel has stored in the data area since CONFIGURE.
 *        Read it with acquire semantics before the data it covers.
 * @tail: bytes that user space has consumed (NTRACE_IOC_CONSUME, read())
 * @lost: bytes known to be lost; exact unless NTRACE_LOSS_LAPPED is set, then a
 *        lower bound
 * @loss: NTRACE_LOSS_...
 * @gaps: number of gaps in the data area; see @gap_head
 * @gap_head: value of @head at the last gap: bytes before and after the gap do not
 *            belong together
 * @start_ns: CLOCK_MONOTONIC when the encoder was last started, taken on the
 *            traced hart with interrupts off
 * @stop_ns: CLOCK_MONOTONIC when the encoder was stopped, taken likewise; 0 while
 *           running
 *
 * The byte at stream position p is at data_offset + (p & (data_size - 1)). The
 * kernel never overwrites a byte before it has been consumed: when the area is
 * full, trace is dropped, counted in @lost and marked as a gap.
 *
 * The kernel writes one reserved byte 0x02 (MSEO 10, which no encoder can send) at
 * each gap, at @gap_head. A decoder that does not read this page therefore
 * resynchronizes there too. In frames (ntrace_info.framing) it writes 16 bytes: four
 * synchronization words, bytes ff ff ff 7f, after which the next frame begins.
 */
struct ntrace_control {
	__u32 abi_version;
	__u32 state;
	__u64 data_offset;
	__u64 data_size;
	__u64 head;
	__u64 tail;
	__u64 lost;
	__u32 loss;
	__u32 gaps;
	__u64 gap_head;
	__u64 start_ns;
	__u64 stop_ns;
};

/**
 * struct ntrace_consume - NTRACE_IOC_CONSUME
 * @size: size of this structure
 * @reserved: 0
 * @tail: new tail; EINVAL if it is not between the current tail and head
 */
struct ntrace_consume {
	__u32 size;
	__u32 reserved;
	__u64 tail;
};

#define NTRACE_IOC_MAGIC 0xbc
#define NTRACE_IOC_INFO _IOWR(NTRACE_IOC_MAGIC, 0, struct ntrace_info)
#define NTRACE_IOC_CONFIGURE _IOWR(NTRACE_IOC_MAGIC, 1, struct ntrace_config)
#define NTRACE_IOC_START _IO(NTRACE_IOC_MAGIC, 2)
#define NTRACE_IOC_STOP _IO(NTRACE_IOC_MAGIC, 3)
#define NTRACE_IOC_FLUSH _IO(NTRACE_IOC_MAGIC, 4) /* drain now, update head */
#define NTRACE_IOC_CONSUME _IOW(NTRACE_IOC_MAGIC, 5, struct ntrace_consume)

#endif /* _UAPI_LINUX_NTRACE_H */
