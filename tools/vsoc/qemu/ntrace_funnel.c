/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Funnel: registers on the system bus, trace bytes from several encoders to one port. */
#include "qemu/osdep.h"
#include "qapi/error.h"
#include "qemu/log.h"
#include "hw/qdev-properties.h"
#include "qemu/timer.h"
#include "hw/core/cpu.h"
#include "system/runstate.h"
#include "ntrace.h"
#include "ntrace/trace_control.h"

/*
 * Locks are taken from encoder to sink, so a funnel may flush to the next
 * component while its own lock is held.
 */
static bool port_put(void *opaque, unsigned int input, uint8_t id,
                     const uint8_t *data, size_t size)
{
    NTraceFunnel *s = opaque;
    bool taken;

    qemu_spin_lock(&s->lock);
    taken = funnel_put(&s->funnel, input, id, data, size);
    qemu_spin_unlock(&s->lock);
    return taken;
}

static bool port_ready(void *opaque, unsigned int input)
{
    NTraceFunnel *s = opaque;
    bool ready;

    qemu_spin_lock(&s->lock);
    ready = funnel_ready(&s->funnel, input);
    qemu_spin_unlock(&s->lock);
    return ready;
}

struct trace_port ntrace_funnel_port(NTraceFunnel *s, unsigned int input)
{
    return (struct trace_port) { port_put, port_ready, s, input };
}

void ntrace_funnel_flush(NTraceFunnel *s)
{
    qemu_spin_lock(&s->lock);
    funnel_flush(&s->funnel);
    qemu_spin_unlock(&s->lock);
}

void ntrace_funnel_lose(NTraceFunnel *s)
{
    qemu_spin_lock(&s->lock);
    funnel_power_up(&s->funnel);
    qemu_spin_unlock(&s->lock);
}

/*
 * System time in virtual nanoseconds; with -icount, in instructions of all
 * harts. A hart reads it in the middle of a block, which QEMU forbids unless
 * can_do_io is set. The instruction count then always includes the whole block.
 */
static uint64_t system_time(void)
{
    CPUState *cpu = current_cpu;
    bool can_do_io = cpu && cpu->neg.can_do_io;
    uint64_t now;

    if (cpu) {
        cpu->neg.can_do_io = true;
    }
    now = qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL);
    if (cpu) {
        cpu->neg.can_do_io = can_do_io;
    }
    return now;
}

uint64_t ntrace_time(NTraceFunnel *clock, unsigned int mode)
{
    uint64_t value;

    if (mode != TR_TS_MODE_SHARED) {
        return system_time();
    }
    qemu_spin_lock(&clock->lock);
    value = timestamp_value(&clock->funnel.timestamp);
    qemu_spin_unlock(&clock->lock);
    return value;
}

static uint64_t now(void *opaque, unsigned int mode)
{
    NTraceFunnel *s = opaque;

    return ntrace_time(s->clock, mode);
}

static MemTxResult mmio_read(void *opaque, hwaddr offset, uint64_t *value,
                             unsigned size, MemTxAttrs attrs)
{
    NTraceFunnel *s = opaque;
    bool answers;

    qemu_spin_lock(&s->lock);
    answers = funnel_answers(&s->funnel, offset);
    if (answers) {
        *value = funnel_poll(&s->funnel, offset);
    }
    /*
     * The model has no clock. Each poll of Control lets time pass, so that
     * Empty becomes 1.
     */
    if (offset == TR_FUNNEL_CONTROL) {
        funnel_advance(&s->funnel);
    }
    qemu_spin_unlock(&s->lock);
    if (!answers) {
        ntrace_log(s->log, "funnel", s->index, "bus-error", offset);
    }
    return answers ? MEMTX_OK : MEMTX_ERROR;
}

static MemTxResult mmio_write(void *opaque, hwaddr offset, uint64_t value,
                              unsigned size, MemTxAttrs attrs)
{
    NTraceFunnel *s = opaque;
    uint32_t old, control;
    uint64_t errors;

    qemu_spin_lock(&s->lock);
    if (!funnel_answers(&s->funnel, offset)) {
        qemu_spin_unlock(&s->lock);
        ntrace_log(s->log, "funnel", s->index, "bus-error", offset);
        return MEMTX_ERROR;
    }
    old = funnel_read(&s->funnel, TR_CONTROL);
    errors = s->funnel.software_errors;
    funnel_write(&s->funnel, offset, value);
    errors = s->funnel.software_errors - errors;
    control = funnel_read(&s->funnel, TR_CONTROL);
    qemu_spin_unlock(&s->lock);

    if (control != old) {
        ntrace_log(s->log, "funnel", s->index, "control", control);
    }
    if (errors) {
        ntrace_log(s->log, "funnel", s->index, "error", offset);
        qemu_log_mask(LOG_GUEST_ERROR, "ntrace-funnel %u: write of 0x%" PRIx64
                      " to 0x%" HWADDR_PRIx " ignored: not active\n", s->index,
                      value, offset);
    }
    return MEMTX_OK;
}

static const MemoryRegionOps mmio_ops = {
    .read_with_attrs = mmio_read,
    .write_with_attrs = mmio_write,
    .endianness = DEVICE_LITTLE_ENDIAN,
    .valid = { .min_access_size = 4, .max_access_size = 4 },
};

/* No hart runs during a reset. */
static void reset_hold(Object *obj, ResetType type)
{
    NTraceFunnel *s = NTRACE_FUNNEL(obj);

    ntrace_log(s->log, "funnel", s->index, "reset",
               funnel_read(&s->funnel, TR_CONTROL));
    funnel_power_up(&s->funnel);
}

static void reset_exit(Object *obj, ResetType type)
{
    NTraceFunnel *s = NTRACE_FUNNEL(obj);

    if (s->active_at_reset || s->funnel.parameters.running) {
        funnel_write(&s->funnel, TR_CONTROL, TR_CONTROL_ACTIVE);
        funnel_write(&s->funnel, TR_CONTROL,
                     TR_CONTROL_ACTIVE | TR_CONTROL_ENABLE);
    }
}

static void shutdown_notify(Notifier *notifier, void *data)
{
    NTraceFunnel *s = container_of(notifier, NTraceFunnel, shutdown);

    ntrace_log(s->log, "funnel", s->index, "shutdown",
               funnel_read(&s->funnel, TR_CONTROL));
}

static void realize(DeviceState *dev, Error **errp)
{
    ERRP_GUARD();
    NTraceFunnel *s = NTRACE_FUNNEL(dev);
    struct funnel_parameters parameters = {
        .inputs = s->inputs,
        .buffer = s->buffer,
        .timestamp = {
            .width = ntrace_timestamp_bits(s->timestamp_bits, s->v0),
            .modes = 1u << TR_TS_MODE_SYSTEM |
                     (uint32_t)(s->clock != NULL) << TR_TS_MODE_SHARED,
            .fixed = s->v0,
            .now = now,
            .opaque = s,
        },
        .faults = ntrace_faults(s->fault, s->index, errp),
    };

    if (*errp) {
        return;
    }
    variant_apply(ntrace_variant(), VARIANT_FUNNEL, s->index, &parameters);
    if (parameters.timestamp.width > 63) {
        error_setg(errp, "timestamp-bits must be 0..63");
        return;
    }
    if (parameters.buffer > FUNNEL_BUFFER_MAX) {
        error_setg(errp, "buffer must be 0..%u", FUNNEL_BUFFER_MAX);
        return;
    }
    if (s->log_name) {
        s->log = ntrace_log_open(s->log_name, errp);
        if (!s->log) {
            return;
        }
    }
    qemu_spin_init(&s->lock);
    funnel_init(&s->funnel, &parameters, &s->out);
    memory_region_init_io(&s->mmio, OBJECT(s), &mmio_ops, s,
                          TYPE_NTRACE_FUNNEL, TR_COMPONENT_SIZE);
    sysbus_init_mmio(SYS_BUS_DEVICE(dev), &s->mmio);
    s->shutdown.notify = shutdown_notify;
    qemu_register_shutdown_notifier(&s->shutdown);
}

static const Property properties[] = {
    DEFINE_PROP_UINT32("index", NTraceFunnel, index, 0),
    DEFINE_PROP_UINT32("buffer", NTraceFunnel, buffer, 64),
    DEFINE_PROP_UINT32("timestamp-bits", NTraceFunnel, timestamp_bits,
                       NTRACE_TIMESTAMP_BITS_DEFAULT),
    DEFINE_PROP_BOOL("active-at-reset", NTraceFunnel, active_at_reset, false),
    /* Faults at power-up, see model/fault.h */
    DEFINE_PROP_STRING("fault", NTraceFunnel, fault),
    DEFINE_PROP_STRING("log", NTraceFunnel, log_name),
};

static void class_init(ObjectClass *klass, void *data)
{
    DeviceClass *dc = DEVICE_CLASS(klass);
    ResettableClass *rc = RESETTABLE_CLASS(klass);

    dc->realize = realize;
    dc->desc = "RISC-V trace funnel";
    dc->user_creatable = false;
    device_class_set_props(dc, properties);
    rc->phases.hold = reset_hold;
    rc->phases.exit = reset_exit;
}

static const TypeInfo types[] = {
    {
        .name = TYPE_NTRACE_FUNNEL,
        .parent = TYPE_SYS_BUS_DEVICE,
        .instance_size = sizeof(NTraceFunnel),
        .class_init = class_init,
    },
};

DEFINE_TYPES(types)
