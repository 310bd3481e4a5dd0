/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Arm CoreSight Trace Memory Controller, as ETF or ETR: registers on the system bus, trace bytes to
 * a port or into guest memory.
 */
#include "qemu/osdep.h"
#include "qapi/error.h"
#include "qemu/log.h"
#include "qemu/units.h"
#include "hw/qdev-properties.h"
#include "exec/address-spaces.h"
#include "system/runstate.h"
#include "ntrace.h"
#include "ntrace/trace_control.h"

static const char *name_of(const NTraceTmc *s)
{
    return s->type == TMC_DEVID_TYPE_ETR ? "etr" : "etf";
}

/*
 * Finds the RAM with the buffer, or with the table of pages, which then are in
 * the same RAM. Trace is written by the threads of harts, without the BQL, at
 * any address of the table, so there is nothing to map for each capture.
 */
static void tmc_open(void *opaque, uint64_t address)
{
    NTraceTmc *s = opaque;
    MemoryRegionSection section;

    s->ram = NULL;
    section = memory_region_find(get_system_memory(), address, 1);
    if (section.mr && memory_region_is_ram(section.mr)) {
        s->ram = memory_region_get_ram_ptr(section.mr);
        s->ram_address = section.offset_within_address_space -
                         section.offset_within_region;
        s->ram_size = memory_region_size(section.mr);
    }
    if (section.mr) {
        memory_region_unref(section.mr);
    }
}

static uint8_t *at(NTraceTmc *s, uint64_t address, size_t size)
{
    uint64_t offset = address - s->ram_address;

    if (!s->ram || address < s->ram_address || offset + size > s->ram_size) {
        return NULL;
    }
    return s->ram + offset;
}

static bool tmc_read_memory(void *opaque, uint64_t address, uint8_t *data,
                            size_t size)
{
    const uint8_t *memory = at(opaque, address, size);

    if (memory) {
        memcpy(data, memory, size);
    }
    return memory;
}

static bool tmc_write_memory(void *opaque, uint64_t address,
                             const uint8_t *data, size_t size)
{
    uint8_t *memory = at(opaque, address, size);

    if (memory) {
        memcpy(memory, data, size);
    }
    return memory;
}

static const struct tmc_ops tmc_ops = {
    .open = tmc_open,
    .read_memory = tmc_read_memory,
    .write_memory = tmc_write_memory,
};

static bool port_put(void *opaque, unsigned int input, uint8_t id,
                     const uint8_t *data, size_t size)
{
    NTraceTmc *s = opaque;
    bool taken;

    qemu_spin_lock(&s->lock);
    taken = tmc_put(&s->tmc, id, data, size);
    qemu_spin_unlock(&s->lock);
    return taken;
}

static bool port_ready(void *opaque, unsigned int input)
{
    NTraceTmc *s = opaque;
    bool ready;

    qemu_spin_lock(&s->lock);
    ready = tmc_ready(&s->tmc);
    qemu_spin_unlock(&s->lock);
    return ready;
}

struct trace_port ntrace_tmc_port(NTraceTmc *s)
{
    return (struct trace_port) { port_put, port_ready, s, 0 };
}

void ntrace_tmc_add_upstream(NTraceTmc *s, DeviceState *dev)
{
    g_ptr_array_add(s->upstream, dev);
}

/*
 * Locks are taken from encoder to sink, so this runs without the lock of the
 * TMC. An ETF holds nothing.
 */
static void flush_upstream(NTraceTmc *s)
{
    unsigned int i;

    for (i = 0; i < s->upstream->len; i++) {
        Object *obj = g_ptr_array_index(s->upstream, i);

        if (object_dynamic_cast(obj, TYPE_NTRACE_PORT_SINK)) {
            ntrace_port_sink_flush(NTRACE_PORT_SINK(obj));
        } else if (object_dynamic_cast(obj, TYPE_NTRACE_FUNNEL)) {
            ntrace_funnel_flush(NTRACE_FUNNEL(obj));
        } else if (object_dynamic_cast(obj, TYPE_NTRACE_ARM_FUNNEL)) {
            ntrace_arm_funnel_flush(NTRACE_ARM_FUNNEL(obj));
        }
    }
}

static uint64_t mmio_read(void *opaque, hwaddr offset, unsigned size)
{
    NTraceTmc *s = opaque;
    uint32_t value;

    qemu_spin_lock(&s->lock);
    value = tmc_read(&s->tmc, offset);
    /*
     * The model has no clock. Each poll of a register that tells the progress
     * of a flush or a stop lets time pass.
     */
    if (offset == TMC_STS || offset == TMC_FFSR || offset == TMC_FFCR) {
        tmc_advance(&s->tmc);
    }
    qemu_spin_unlock(&s->lock);
    return value;
}

static void mmio_write(void *opaque, hwaddr offset, uint64_t value,
                       unsigned size)
{
    NTraceTmc *s = opaque;
    uint64_t errors, bytes, dropped;
    uint32_t old, control;
    bool flush;

    qemu_spin_lock(&s->lock);
    old = tmc_read(&s->tmc, TMC_CTL);
    errors = s->tmc.software_errors;
    flush = s->tmc.flushing;
    tmc_write(&s->tmc, offset, value);
    flush = s->tmc.flushing && !flush;
    errors = s->tmc.software_errors - errors;
    control = tmc_read(&s->tmc, TMC_CTL);
    bytes = s->tmc.bytes;
    dropped = s->tmc.dropped;
    qemu_spin_unlock(&s->lock);

    if (flush) {
        flush_upstream(s);
    }
    if (control != old) {
        ntrace_log(s->log, name_of(s), s->index, "control", control);
    }
    if (old && !control) {
        ntrace_log(s->log, name_of(s), s->index, "bytes", bytes);
        ntrace_log(s->log, name_of(s), s->index, "dropped", dropped);
    }
    if (errors) {
        ntrace_log(s->log, name_of(s), s->index, "error", offset);
        qemu_log_mask(LOG_GUEST_ERROR, "%s %u: write of 0x%" PRIx64 " to 0x%"
                      HWADDR_PRIx ": locked, captures, or the settings are "
                      "wrong\n", name_of(s), s->index, value, offset);
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
    NTraceTmc *s = NTRACE_TMC(obj);

    ntrace_log(s->log, name_of(s), s->index, "reset",
               tmc_read(&s->tmc, TMC_CTL));
    tmc_power_up(&s->tmc);
}

static void shutdown_notify(Notifier *notifier, void *data)
{
    NTraceTmc *s = container_of(notifier, NTraceTmc, shutdown);

    ntrace_log(s->log, name_of(s), s->index, "shutdown",
               tmc_read(&s->tmc, TMC_CTL));
}

static void realize(DeviceState *dev, Error **errp)
{
    ERRP_GUARD();
    NTraceTmc *s = NTRACE_TMC(dev);
    struct tmc_parameters parameters = {
        .type = s->type,
        .ram_size = s->fifo_size,
        .faults = ntrace_faults(s->fault, s->index, errp),
    };

    if (*errp) {
        return;
    }
    if (s->log_name) {
        s->log = ntrace_log_open(s->log_name, errp);
        if (!s->log) {
            return;
        }
    }
    qemu_spin_init(&s->lock);
    tmc_init(&s->tmc, &parameters, &tmc_ops, s, &s->out);
    memory_region_init_io(&s->mmio, OBJECT(s), &mmio_ops, s, name_of(s),
                          TR_COMPONENT_SIZE);
    sysbus_init_mmio(SYS_BUS_DEVICE(dev), &s->mmio);
    s->shutdown.notify = shutdown_notify;
    qemu_register_shutdown_notifier(&s->shutdown);
}

static const Property properties[] = {
    DEFINE_PROP_UINT32("index", NTraceTmc, index, 0),
    /* Faults at power-up, see model/fault.h */
    DEFINE_PROP_STRING("fault", NTraceTmc, fault),
    DEFINE_PROP_STRING("log", NTraceTmc, log_name),
};

/* Size of the RAM, which RSZ tells */
static const Property etf_properties[] = {
    DEFINE_PROP_SIZE32("fifo-size", NTraceTmc, fifo_size, 16 * KiB),
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

static void etf_class_init(ObjectClass *klass, void *data)
{
    DEVICE_CLASS(klass)->desc = "Arm CoreSight ETF";
    device_class_set_props(DEVICE_CLASS(klass), etf_properties);
}

static void etr_class_init(ObjectClass *klass, void *data)
{
    DEVICE_CLASS(klass)->desc = "Arm CoreSight ETR";
}

static void init(Object *obj)
{
    NTRACE_TMC(obj)->upstream = g_ptr_array_new();
}

static void etf_init(Object *obj)
{
    NTRACE_TMC(obj)->type = TMC_DEVID_TYPE_ETF;
}

static void etr_init(Object *obj)
{
    NTRACE_TMC(obj)->type = TMC_DEVID_TYPE_ETR;
}

static const TypeInfo types[] = {
    {
        .name = TYPE_NTRACE_TMC,
        .parent = TYPE_SYS_BUS_DEVICE,
        .instance_size = sizeof(NTraceTmc),
        .instance_init = init,
        .class_init = class_init,
        .abstract = true,
    },
    {
        .name = TYPE_NTRACE_ETF,
        .parent = TYPE_NTRACE_TMC,
        .class_init = etf_class_init,
        .instance_init = etf_init,
    },
    {
        .name = TYPE_NTRACE_ETR,
        .parent = TYPE_NTRACE_TMC,
        .class_init = etr_class_init,
        .instance_init = etr_init,
    },
};

DEFINE_TYPES(types)
