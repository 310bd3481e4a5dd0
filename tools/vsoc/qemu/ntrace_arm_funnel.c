/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Arm CoreSight funnel: registers on the system bus, trace from several ATBs to one port. */
#include "qemu/osdep.h"
#include "qapi/error.h"
#include "qemu/log.h"
#include "hw/qdev-properties.h"
#include "system/runstate.h"
#include "ntrace.h"
#include "ntrace/trace_control.h"

static bool port_put(void *opaque, unsigned int input, uint8_t id,
                     const uint8_t *data, size_t size)
{
    NTraceArmFunnel *s = opaque;
    bool taken;

    qemu_spin_lock(&s->lock);
    taken = arm_funnel_put(&s->funnel, input, id, data, size);
    qemu_spin_unlock(&s->lock);
    return taken;
}

static bool port_ready(void *opaque, unsigned int input)
{
    NTraceArmFunnel *s = opaque;
    bool ready;

    qemu_spin_lock(&s->lock);
    ready = arm_funnel_ready(&s->funnel, input);
    qemu_spin_unlock(&s->lock);
    return ready;
}

struct trace_port ntrace_arm_funnel_port(NTraceArmFunnel *s, unsigned int input)
{
    return (struct trace_port) { port_put, port_ready, s, input };
}

void ntrace_arm_funnel_flush(NTraceArmFunnel *s)
{
    qemu_spin_lock(&s->lock);
    arm_funnel_flush(&s->funnel);
    qemu_spin_unlock(&s->lock);
}

static uint64_t mmio_read(void *opaque, hwaddr offset, unsigned size)
{
    NTraceArmFunnel *s = opaque;
    uint32_t value;

    qemu_spin_lock(&s->lock);
    value = arm_funnel_read(&s->funnel, offset);
    qemu_spin_unlock(&s->lock);
    return value;
}

static void mmio_write(void *opaque, hwaddr offset, uint64_t value,
                       unsigned size)
{
    NTraceArmFunnel *s = opaque;
    uint32_t old, control;
    uint64_t errors;

    qemu_spin_lock(&s->lock);
    old = s->funnel.control;
    errors = s->funnel.software_errors;
    arm_funnel_write(&s->funnel, offset, value);
    errors = s->funnel.software_errors - errors;
    control = s->funnel.control;
    qemu_spin_unlock(&s->lock);

    if (control != old) {
        ntrace_log(s->log, "arm-funnel", s->index, "control", control);
    }
    if (errors) {
        ntrace_log(s->log, "arm-funnel", s->index, "error", offset);
        qemu_log_mask(LOG_GUEST_ERROR, "ntrace-arm-funnel %u: write of 0x%"
                      PRIx64 " to 0x%" HWADDR_PRIx " ignored: locked\n",
                      s->index, value, offset);
    }
}

static const MemoryRegionOps mmio_ops = {
    .read = mmio_read,
    .write = mmio_write,
    .endianness = DEVICE_LITTLE_ENDIAN,
    .valid = { .min_access_size = 4, .max_access_size = 4 },
};

/* No hart runs during a reset. */
static void reset_hold(Object *obj, ResetType type)
{
    NTraceArmFunnel *s = NTRACE_ARM_FUNNEL(obj);

    ntrace_log(s->log, "arm-funnel", s->index, "reset", s->funnel.control);
    arm_funnel_power_up(&s->funnel);
}

static void shutdown_notify(Notifier *notifier, void *data)
{
    NTraceArmFunnel *s = container_of(notifier, NTraceArmFunnel, shutdown);

    ntrace_log(s->log, "arm-funnel", s->index, "shutdown", s->funnel.control);
}

static void realize(DeviceState *dev, Error **errp)
{
    NTraceArmFunnel *s = NTRACE_ARM_FUNNEL(dev);
    struct arm_funnel_parameters parameters = { .inputs = s->inputs };

    if (s->log_name) {
        s->log = ntrace_log_open(s->log_name, errp);
        if (!s->log) {
            return;
        }
    }
    qemu_spin_init(&s->lock);
    arm_funnel_init(&s->funnel, &parameters, &s->out);
    memory_region_init_io(&s->mmio, OBJECT(s), &mmio_ops, s,
                          TYPE_NTRACE_ARM_FUNNEL, TR_COMPONENT_SIZE);
    sysbus_init_mmio(SYS_BUS_DEVICE(dev), &s->mmio);
    s->shutdown.notify = shutdown_notify;
    qemu_register_shutdown_notifier(&s->shutdown);
}

static const Property properties[] = {
    DEFINE_PROP_UINT32("index", NTraceArmFunnel, index, 0),
    DEFINE_PROP_STRING("log", NTraceArmFunnel, log_name),
};

static void class_init(ObjectClass *klass, void *data)
{
    DeviceClass *dc = DEVICE_CLASS(klass);
    ResettableClass *rc = RESETTABLE_CLASS(klass);

    dc->realize = realize;
    dc->desc = "Arm CoreSight trace funnel";
    dc->user_creatable = false;
    device_class_set_props(dc, properties);
    rc->phases.hold = reset_hold;
}

static const TypeInfo types[] = {
    {
        .name = TYPE_NTRACE_ARM_FUNNEL,
        .parent = TYPE_SYS_BUS_DEVICE,
        .instance_size = sizeof(NTraceArmFunnel),
        .class_init = class_init,
    },
};

DEFINE_TYPES(types)
