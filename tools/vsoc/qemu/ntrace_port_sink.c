/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * PIB sink and ATB bridge: registers on the system bus, trace bytes into a file or to the next
 * component.
 */
#include "qemu/osdep.h"
#include "qapi/error.h"
#include "qemu/log.h"
#include "hw/qdev-properties.h"
#include "system/runstate.h"
#include "ntrace.h"
#include "ntrace/trace_control.h"

static const char *name_of(const NTracePortSink *s)
{
    return s->type == TR_COMP_TYPE_PIB_SINK ? "pib-sink" : "atb-bridge";
}

/*
 * Passes bytes on, or writes them in the order in which they would leave the
 * chip.
 */
static bool sink_send(void *opaque, uint8_t id, const uint8_t *data,
                      size_t size)
{
    NTracePortSink *s = opaque;

    if (s->out.put) {
        return trace_port_put(&s->out, id, data, size);
    }
    if (s->output) {
        fwrite(data, 1, size, s->output);
    }
    return true;
}

static bool sink_ready(void *opaque)
{
    NTracePortSink *s = opaque;

    return !s->out.put || trace_port_ready(&s->out);
}

static const struct port_sink_ops sink_ops = { sink_send, sink_ready };

static bool port_put(void *opaque, unsigned int input, uint8_t id,
                     const uint8_t *data, size_t size)
{
    NTracePortSink *s = opaque;
    bool taken;

    qemu_spin_lock(&s->lock);
    taken = port_sink_put(&s->sink, data, size);
    qemu_spin_unlock(&s->lock);
    return taken;
}

static bool port_ready(void *opaque, unsigned int input)
{
    NTracePortSink *s = opaque;
    bool ready;

    qemu_spin_lock(&s->lock);
    ready = port_sink_ready(&s->sink);
    qemu_spin_unlock(&s->lock);
    return ready;
}

struct trace_port ntrace_port_sink_port(NTracePortSink *s)
{
    return (struct trace_port) { port_put, port_ready, s, 0 };
}

void ntrace_port_sink_flush(NTracePortSink *s)
{
    qemu_spin_lock(&s->lock);
    port_sink_flush(&s->sink);
    qemu_spin_unlock(&s->lock);
}

void ntrace_port_sink_lose(NTracePortSink *s)
{
    qemu_spin_lock(&s->lock);
    port_sink_power_up(&s->sink);
    qemu_spin_unlock(&s->lock);
}

static uint64_t mmio_read(void *opaque, hwaddr offset, unsigned size)
{
    NTracePortSink *s = opaque;
    uint32_t value;

    qemu_spin_lock(&s->lock);
    value = port_sink_read(&s->sink, offset);
    qemu_spin_unlock(&s->lock);
    return value;
}

static void mmio_write(void *opaque, hwaddr offset, uint64_t value,
                       unsigned size)
{
    NTracePortSink *s = opaque;
    uint32_t old, control;
    uint64_t errors, bytes;

    qemu_spin_lock(&s->lock);
    old = port_sink_read(&s->sink, TR_CONTROL);
    errors = s->sink.software_errors;
    port_sink_write(&s->sink, offset, value);
    errors = s->sink.software_errors - errors;
    bytes = s->sink.bytes;
    control = port_sink_read(&s->sink, TR_CONTROL);
    qemu_spin_unlock(&s->lock);

    if (control != old) {
        ntrace_log(s->log, name_of(s), s->index, "control", control);
    }
    if ((old & ~control) & TR_CONTROL_ENABLE) {
        ntrace_log(s->log, name_of(s), s->index, "bytes", bytes);
        if (s->output) {
            fflush(s->output);
        }
    }
    if (errors) {
        ntrace_log(s->log, name_of(s), s->index, "error", offset);
        qemu_log_mask(LOG_GUEST_ERROR, "%s %u: write of 0x%" PRIx64 " to 0x%"
                      HWADDR_PRIx " ignored: enabled, not empty or not "
                      "active\n", name_of(s), s->index, value, offset);
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
    NTracePortSink *s = NTRACE_PORT_SINK(obj);

    ntrace_log(s->log, name_of(s), s->index, "reset",
               port_sink_read(&s->sink, TR_CONTROL));
    port_sink_power_up(&s->sink);
}

static void shutdown_notify(Notifier *notifier, void *data)
{
    NTracePortSink *s = container_of(notifier, NTracePortSink, shutdown);

    ntrace_log(s->log, name_of(s), s->index, "shutdown",
               port_sink_read(&s->sink, TR_CONTROL));
    if (s->output) {
        fflush(s->output);
    }
}

static void realize(DeviceState *dev, Error **errp)
{
    ERRP_GUARD();
    NTracePortSink *s = NTRACE_PORT_SINK(dev);
    struct port_sink_parameters parameters = {
        .type = s->type,
        .modes = s->modes & ~1u,
        .divider_max = s->divider_max,
        .id = s->id,
        .faults = ntrace_faults(s->fault, s->index, errp),
    };

    if (*errp) {
        return;
    }
    if (s->modes > 0xffff || s->divider_max > 0xffff || s->id > 0x7f) {
        error_setg(errp, "modes and divider-max must be 0..0xffff, id 0..0x7f");
        return;
    }
    if (s->output_name) {
        s->output = ntrace_log_open(s->output_name, errp);
    }
    if (!*errp && s->log_name) {
        s->log = ntrace_log_open(s->log_name, errp);
    }
    if (*errp) {
        return;
    }
    qemu_spin_init(&s->lock);
    port_sink_init(&s->sink, &parameters, &sink_ops, s);
    memory_region_init_io(&s->mmio, OBJECT(s), &mmio_ops, s, name_of(s),
                          TR_COMPONENT_SIZE);
    sysbus_init_mmio(SYS_BUS_DEVICE(dev), &s->mmio);
    s->shutdown.notify = shutdown_notify;
    qemu_register_shutdown_notifier(&s->shutdown);
}

static const Property properties[] = {
    DEFINE_PROP_UINT32("index", NTracePortSink, index, 0),
    /* File for the bytes that leave the sink */
    DEFINE_PROP_STRING("output", NTracePortSink, output_name),
    /* Faults at power-up, see model/fault.h */
    DEFINE_PROP_STRING("fault", NTracePortSink, fault),
    DEFINE_PROP_STRING("log", NTracePortSink, log_name),
};

/* For PIB sink and ATB bridge; bit n of modes: trPibMode accepts n */
static const Property pib_properties[] = {
    DEFINE_PROP_UINT32("modes", NTracePortSink, modes,
                       1 << TR_PIB_MODE_UART | 1 << TR_PIB_MODE_PARALLEL_4 |
                       1 << TR_PIB_MODE_PARALLEL_16),
    DEFINE_PROP_UINT32("divider-max", NTracePortSink, divider_max, 0xff),
};

/* If not 0, trAtbBridgeID is hard-wired to this value. */
static const Property atb_properties[] = {
    DEFINE_PROP_UINT32("id", NTracePortSink, id, 0),
};

static void class_init(ObjectClass *klass, void *data)
{
    DeviceClass *dc = DEVICE_CLASS(klass);
    ResettableClass *rc = RESETTABLE_CLASS(klass);

    dc->realize = realize;
    dc->user_creatable = false;
    device_class_set_props(dc, properties);
    rc->phases.hold = reset_hold;
}

static void pib_class_init(ObjectClass *klass, void *data)
{
    DEVICE_CLASS(klass)->desc = "RISC-V trace PIB sink";
    device_class_set_props(DEVICE_CLASS(klass), pib_properties);
}

static void atb_class_init(ObjectClass *klass, void *data)
{
    DEVICE_CLASS(klass)->desc = "RISC-V trace ATB bridge";
    device_class_set_props(DEVICE_CLASS(klass), atb_properties);
}

static void pib_init(Object *obj)
{
    NTRACE_PORT_SINK(obj)->type = TR_COMP_TYPE_PIB_SINK;
}

static void atb_init(Object *obj)
{
    NTRACE_PORT_SINK(obj)->type = TR_COMP_TYPE_ATB_BRIDGE;
}

static const TypeInfo types[] = {
    {
        .name = TYPE_NTRACE_PORT_SINK,
        .parent = TYPE_SYS_BUS_DEVICE,
        .instance_size = sizeof(NTracePortSink),
        .class_init = class_init,
        .abstract = true,
    },
    {
        .name = TYPE_NTRACE_PIB_SINK,
        .parent = TYPE_NTRACE_PORT_SINK,
        .class_init = pib_class_init,
        .instance_init = pib_init,
    },
    {
        .name = TYPE_NTRACE_ATB_BRIDGE,
        .parent = TYPE_NTRACE_PORT_SINK,
        .class_init = atb_class_init,
        .instance_init = atb_init,
    },
};

DEFINE_TYPES(types)
