/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Trace encoder: registers on the system bus, start and stop on the hart's thread. */
#include "qemu/osdep.h"
#include "qapi/error.h"
#include "qemu/error-report.h"
#include "qemu/log.h"
#include "qemu/timer.h"
#include "hw/qdev-properties.h"
#include "system/runstate.h"
#include "cpu.h"
#include "ntrace.h"
#include "ntrace/trace_control.h"

/* A hart that is off for so long has lost its power. */
#define POWER_NS (100 * SCALE_US)

struct work {
    NTraceEncoder *s;
    struct trace_encoder_setup setup;
};

/* Runs in the thread of the hart, between two blocks, with the BQL held. */
static void apply_work(CPUState *cpu, run_on_cpu_data data)
{
    CPURISCVState *env = cpu_env(cpu);
    struct work *work = data.host_ptr;

    env->ntrace_on = hart_apply(&work->s->hart, &work->setup, ntrace_pc(env),
                                env->ntrace_mark);
    env->ntrace_mark = HART_MARK_NONE;
    g_free(work);
}

static void deliver(void *opaque, const struct trace_encoder_setup *setup)
{
    struct work *work = g_new(struct work, 1);

    work->s = opaque;
    work->setup = *setup;
    /*
     * async_run_on_cpu() kicks the hart, which leaves its block chain before
     * the next block. If the hart wrote the register itself, that is directly
     * after the store.
     */
    async_run_on_cpu(work->s->cpu, apply_work, RUN_ON_CPU_HOST_PTR(work));
}

static void own_work(CPUState *cpu, run_on_cpu_data data)
{
    trace_encoder_context(cpu_env(cpu)->ntrace->te, data.host_ulong);
}

void ntrace_encoder_own(NTraceEncoder *s, uint32_t id)
{
    if (s->cpu == current_cpu) {
        trace_encoder_context(&s->te, id);
    } else {
        async_run_on_cpu(s->cpu, own_work, RUN_ON_CPU_HOST_ULONG(id));
    }
}

/* Sends a message to all outputs; it counts as lost if one of them loses it. */
static bool put(void *opaque, const uint8_t *data, size_t size)
{
    NTraceEncoder *s = opaque;
    bool taken = true;
    unsigned int i;

    for (i = 0; i < s->outs; i++) {
        taken &= trace_port_put(&s->out[i], 0, data, size);
    }
    return taken;
}

static bool ready(void *opaque)
{
    NTraceEncoder *s = opaque;
    unsigned int i;

    for (i = 0; i < s->outs; i++) {
        if (!trace_port_ready(&s->out[i])) {
            return false;
        }
    }
    return true;
}

static uint64_t time_now(void *opaque, unsigned int mode)
{
    NTraceEncoder *s = opaque;

    return ntrace_time(s->clock, mode);
}

static const struct trace_encoder_ops encoder_ops = {
    .deliver = deliver,
    .write = put,
    .ready = ready,
    .time = time_now,
};

static void complain(void *opaque, uint64_t iaddr, uint32_t block, uint64_t pc)
{
    NTraceEncoder *s = opaque;

    if (s->hart.errors == 1) {
        error_report("ntrace-encoder %u: block 0x%" PRIx64 " (0x%x) left at 0x%"
                     PRIx64 ": trace lost, model error", s->index, iaddr,
                     block, pc);
    }
}

/*
 * A stopped hart waits in M-mode of the firmware, as does a hart in an idle
 * state that only the firmware ends.
 */
static bool is_off(const NTraceEncoder *s)
{
    return s->cpu->halted && cpu_env(s->cpu)->priv == PRV_M;
}

static void check_power(NTraceEncoder *s, hwaddr offset)
{
    if (current_cpu && s->cpu != current_cpu && is_off(s)) {
        trace_encoder_unpowered(&s->te, offset);
        ntrace_log(s->log, "encoder", s->index, "unpowered", offset);
    }
}

/* A debugger or a test of the machine has no hart, and may access all pages. */
static bool answers(const NTraceEncoder *s, hwaddr offset)
{
    return trace_encoder_answers(&s->te, offset,
                                 !current_cpu || s->cpu == current_cpu);
}

static MemTxResult mmio_read(void *opaque, hwaddr offset, uint64_t *value,
                             unsigned size, MemTxAttrs attrs)
{
    NTraceEncoder *s = opaque;

    check_power(s, offset);
    if (!answers(s, offset)) {
        ntrace_log(s->log, "encoder", s->index, "bus-error", offset);
        return MEMTX_ERROR;
    }
    *value = trace_encoder_poll(&s->te, offset);
    return MEMTX_OK;
}

static MemTxResult mmio_write(void *opaque, hwaddr offset, uint64_t value,
                              unsigned size, MemTxAttrs attrs)
{
    NTraceEncoder *s = opaque;
    uint32_t old = trace_encoder_read(&s->te, TR_CONTROL);
    uint64_t errors = s->te.software_errors;
    uint32_t control;

    check_power(s, offset);
    if (!answers(s, offset)) {
        ntrace_log(s->log, "encoder", s->index, "bus-error", offset);
        return MEMTX_ERROR;
    }
    trace_encoder_write(&s->te, offset, value);
    control = trace_encoder_read(&s->te, TR_CONTROL);
    if (control != old) {
        ntrace_log(s->log, "encoder", s->index, "control", control);
    }
    if (s->te.software_errors != errors) {
        ntrace_log(s->log, "encoder", s->index, "error", offset);
        qemu_log_mask(LOG_GUEST_ERROR, "ntrace-encoder %u: write of 0x%" PRIx64
                      " to 0x%" HWADDR_PRIx " ignored while enabled or not "
                      "active\n", s->index, value, offset);
    }
    return MEMTX_OK;
}

static const MemoryRegionOps mmio_ops = {
    .read_with_attrs = mmio_read,
    .write_with_attrs = mmio_write,
    .endianness = DEVICE_LITTLE_ENDIAN,
    .valid = { .min_access_size = 4, .max_access_size = 4 },
};

/* The hart does not run. */
static void lose_registers(NTraceEncoder *s)
{
    CPURISCVState *env = cpu_env(s->cpu);

    trace_encoder_power_up(&s->te);
    s->hart.pending = false;
    env->ntrace_on = s->hart.ctr;
    env->ntrace_mark = HART_MARK_NONE;
}

static bool all_are_off(const NTraceFunnel *funnel)
{
    CPUState *cpu;

    CPU_FOREACH(cpu) {
        const NTraceEncoder *s = cpu_env(cpu)->ntrace->opaque;

        if (s->clock == funnel && !is_off(s)) {
            return false;
        }
    }
    return true;
}

/* An encoder that loses its registers with the power of its hart. */
static void look_at_power(void *opaque)
{
    NTraceEncoder *s = opaque;
    uint64_t context = s->te.context;
    uint32_t unpowered = s->te.unpowered;
    unsigned int loses = s->te.parameters.sleep_loses;

    if (is_off(s)) {
        lose_registers(s);
        /* A register of the hart, and a count for tests */
        s->te.context = context;
        s->te.unpowered = unpowered;
        if (loses >= SLEEP_LOSES_BRIDGE && s->bridge) {
            ntrace_port_sink_lose(s->bridge);
        }
        if (loses >= SLEEP_LOSES_FUNNEL && s->clock && all_are_off(s->clock)) {
            ntrace_funnel_lose(s->clock);
        }
    }
    timer_mod(s->power, qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL) + POWER_NS);
}

static void reset_hold(Object *obj, ResetType type)
{
    NTraceEncoder *s = NTRACE_ENCODER(obj);

    ntrace_log(s->log, "encoder", s->index, "reset",
               trace_encoder_read(&s->te, TR_CONTROL));
    lose_registers(s);
    if (s->te.parameters.sleep_loses) {
        timer_mod(s->power, POWER_NS);
    }
    ntrace_ctr_reset(s);
}

static void reset_exit(Object *obj, ResetType type)
{
    NTraceEncoder *s = NTRACE_ENCODER(obj);
    uint32_t control = TR_CONTROL_ACTIVE |
                       TR_TE_INST_MODE_HTM << TR_TE_CONTROL_INST_MODE_SHIFT;

    if (s->active_at_reset || s->te.parameters.running) {
        trace_encoder_write(&s->te, TR_CONTROL, TR_CONTROL_ACTIVE);
        trace_encoder_write(&s->te, TR_CONTROL, control | TR_CONTROL_ENABLE |
                            TR_TE_CONTROL_INST_TRACING);
    }
}

static void shutdown_notify(Notifier *notifier, void *data)
{
    NTraceEncoder *s = container_of(notifier, NTraceEncoder, shutdown);

    ntrace_log(s->log, "encoder", s->index, "shutdown",
               trace_encoder_read(&s->te, TR_CONTROL));
    if (s->bandwidth) {
        ntrace_log(s->log, "encoder", s->index, "lost", s->te.lost);
        ntrace_log(s->log, "encoder", s->index, "stalled", s->te.stalled);
    }
    ntrace_ctr_shutdown(s);
}

static enum ntrace_timestamps timestamps(const char *name, Error **errp)
{
    static const char *const names[] = {
        [NTRACE_TIMESTAMPS_SYNC] = "sync",
        [NTRACE_TIMESTAMPS_BRANCH] = "branch",
        [NTRACE_TIMESTAMPS_ALL] = "all",
    };
    unsigned int i;

    for (i = 0; i < ARRAY_SIZE(names); i++) {
        if (names[i] && !g_strcmp0(name ? name : "branch", names[i])) {
            return i;
        }
    }
    error_setg(errp, "timestamps must be sync, branch or all");
    return NTRACE_TIMESTAMPS_NONE;
}

static uint32_t src_bits_max(const NTraceEncoder *s)
{
    if (s->src_bits_max != NTRACE_SRC_BITS_DEFAULT) {
        return s->src_bits_max;
    }
    return s->k3 ? 12 : 4;
}

static void realize(DeviceState *dev, Error **errp)
{
    ERRP_GUARD();
    NTraceEncoder *s = NTRACE_ENCODER(dev);
    struct trace_encoder_parameters parameters = {
        .src_bits_max = MIN(src_bits_max(s), NTRACE_SRC_BITS_MAX),
        .icnt_bits = s->icnt_bits,
        .hist_bits = s->hist_bits,
        .xlen = riscv_cpu_mxl(cpu_env(s->cpu)) == MXL_RV32 ? 32 : 64,
        .v0 = s->v0,
        .implicit_return = s->implicit_return,
        .repeated_history = s->repeated_history,
        .filters = s->filters,
        .comparators = s->comparators,
        .triggers = MIN(s->triggers, TR_TE_TRIG_EXT_MAX),
        .context_bits = s->scontext_bits,
        .context_closed = s->scontext_closed,
        .timestamp_bits = ntrace_timestamp_bits(s->timestamp_bits, s->v0),
        .timestamp_shared = s->clock,
        .timestamps = timestamps(s->timestamps, errp),
        .fifo = s->bandwidth ? s->fifo : 0,
        .bandwidth = s->bandwidth,
        .fault_drop = s->fault_drop,
        .faults = ntrace_faults(s->fault, s->index, errp),
        .index = s->index,
    };

    if (*errp) {
        return;
    }
    variant_apply(ntrace_variant(), VARIANT_ENCODER, s->index, &parameters);
    if (s->icnt_bits < 1 || s->icnt_bits > 32 ||
        s->hist_bits < 1 || s->hist_bits > 31) {
        error_setg(errp, "icnt-bits must be 1..32 and hist-bits 1..31");
        return;
    }
    if (parameters.filters < 1 || parameters.filters > TR_TE_FILTER_MAX ||
        parameters.comparators > TR_TE_COMPARATOR_MAX ||
        parameters.context_bits > 64 || parameters.timestamp_bits > 63) {
        error_setg(errp, "filters must be 1..%d, comparators 0..%d, "
                   "scontext-bits 0..64 and timestamp-bits 0..63",
                   TR_TE_FILTER_MAX, TR_TE_COMPARATOR_MAX);
        return;
    }
    if (parameters.implicit_return > 3 ||
        parameters.src_bits_max > NTRACE_SRC_BITS_MAX ||
        parameters.src_bits_min > parameters.src_bits_max ||
        parameters.src_bits_zero > parameters.src_bits_max ||
        parameters.triggers > TR_TE_TRIG_EXT_MAX) {
        error_setg(errp, "implicit-return must be 0..3, src-bits-max 0..%d, "
                   "src-bits-min and src-bits-zero at most that, and triggers "
                   "0..%d", NTRACE_SRC_BITS_MAX, TR_TE_TRIG_EXT_MAX);
        return;
    }
    if (s->bandwidth && s->fifo < NTRACE_ENCODER_FIFO_MIN) {
        error_setg(errp, "fifo must be at least %d", NTRACE_ENCODER_FIFO_MIN);
        return;
    }
    if (s->log_name) {
        s->log = ntrace_log_open(s->log_name, errp);
        if (!s->log) {
            return;
        }
    }
    trace_encoder_init(&s->te, &parameters, &encoder_ops, s);
    s->power = timer_new_ns(QEMU_CLOCK_VIRTUAL, look_at_power, s);
    s->hart.te = &s->te;
    s->hart.complain = complain;
    s->hart.opaque = s;
    if (!ntrace_ctr_realize(s, errp)) {
        return;
    }
    cpu_env(s->cpu)->ntrace = &s->hart;

    memory_region_init_io(&s->mmio, OBJECT(s), &mmio_ops, s,
                          TYPE_NTRACE_ENCODER, TR_COMPONENT_SIZE);
    sysbus_init_mmio(SYS_BUS_DEVICE(dev), &s->mmio);
    s->shutdown.notify = shutdown_notify;
    qemu_register_shutdown_notifier(&s->shutdown);
}

static const Property properties[] = {
    DEFINE_PROP_UINT32("index", NTraceEncoder, index, 0),
    DEFINE_PROP_LINK("cpu", NTraceEncoder, cpu, TYPE_CPU, CPUState *),
    DEFINE_PROP_UINT32("src-bits-max", NTraceEncoder, src_bits_max,
                       NTRACE_SRC_BITS_DEFAULT),
    DEFINE_PROP_UINT32("icnt-bits", NTraceEncoder, icnt_bits, 22),
    DEFINE_PROP_UINT32("hist-bits", NTraceEncoder, hist_bits, 31),
    /* trTeInstImplicitReturnMode, 0: no EnImplicitReturn */
    DEFINE_PROP_UINT32("implicit-return", NTraceEncoder, implicit_return, 3),
    DEFINE_PROP_BOOL("repeated-history", NTraceEncoder, repeated_history,
                     true),
    DEFINE_PROP_UINT32("filters", NTraceEncoder, filters, 4),
    DEFINE_PROP_UINT32("comparators", NTraceEncoder, comparators, 4),
    /*
     * Number of external trigger inputs, and of outputs;
     * TRACE_ENCODER_TRIGGER_IN pulses inputs.
     */
    DEFINE_PROP_UINT32("triggers", NTraceEncoder, triggers, 2),
    DEFINE_PROP_UINT32("scontext-bits", NTraceEncoder, scontext_bits, 32),
    /* Act as if firmware had cleared mstateen0.HSCONTXT. */
    DEFINE_PROP_BOOL("scontext-closed", NTraceEncoder, scontext_closed, false),
    DEFINE_PROP_UINT32("timestamp-bits", NTraceEncoder, timestamp_bits,
                       NTRACE_TIMESTAMP_BITS_DEFAULT),
    /*
     * Messages with a TSTAMP field: "sync", "branch" (the default: sync and
     * branch) or "all"
     */
    DEFINE_PROP_STRING("timestamps", NTraceEncoder, timestamps),
    DEFINE_PROP_BOOL("active-at-reset", NTraceEncoder, active_at_reset, false),
    /* The device tree says that the encoders have a clock and resets. */
    DEFINE_PROP_BOOL("managed", NTraceEncoder, managed, false),
    /*
     * bandwidth: bytes that leave the encoder while its hart retires 1,000
     * parcels (2 KB) of instructions; 0 = unlimited. fifo: bytes that the queue
     * holds.
     */
    DEFINE_PROP_UINT32("bandwidth", NTraceEncoder, bandwidth, 0),
    DEFINE_PROP_UINT32("fifo", NTraceEncoder, fifo, 256),
    /* Faults at power-up, see model/fault.h */
    DEFINE_PROP_STRING("fault", NTraceEncoder, fault),
    DEFINE_PROP_UINT32("fault-drop", NTraceEncoder, fault_drop, 4096),
    DEFINE_PROP_STRING("log", NTraceEncoder, log_name),
    /*
     * Check the CTR of all harts: the file gets the differences and, at the
     * end, the counts.
     */
    DEFINE_PROP_STRING("ctr-check", NTraceEncoder, ctr_check_name),
    /*
     * Falsify record number N of each model, or the next one after it; the
     * check must find it.
     */
    DEFINE_PROP_UINT64("ctr-check-mutate", NTraceEncoder, ctr_check_mutate, 0),
    /*
     * Depths that sctrdepth accepts, per hart: "16+64:256"; an empty part means
     * all.
     */
    DEFINE_PROP_STRING("ctr-depths", NTraceEncoder, ctr_depths),
    /* Fields of xctrctl besides the mandatory ones, per hart: "0:0xff00". */
    DEFINE_PROP_STRING("ctr-control", NTraceEncoder, ctr_control),
    /* Records have cycles and mispredictions, see ntrace_helper.h. */
    DEFINE_PROP_BOOL("ctr-details", NTraceEncoder, ctr_details, false),
    /* Harts without Smctr have the registers of the draft 0.1.4 of CTR. */
    DEFINE_PROP_BOOL("ctr-draft", NTraceEncoder, ctr_draft, false),
};

static void class_init(ObjectClass *klass, void *data)
{
    DeviceClass *dc = DEVICE_CLASS(klass);
    ResettableClass *rc = RESETTABLE_CLASS(klass);

    dc->realize = realize;
    dc->desc = "RISC-V N-Trace encoder";
    dc->user_creatable = false;
    device_class_set_props(dc, properties);
    rc->phases.hold = reset_hold;
    rc->phases.exit = reset_exit;
}

static const TypeInfo types[] = {
    {
        .name = TYPE_NTRACE_ENCODER,
        .parent = TYPE_SYS_BUS_DEVICE,
        .instance_size = sizeof(NTraceEncoder),
        .class_init = class_init,
    },
};

DEFINE_TYPES(types)
