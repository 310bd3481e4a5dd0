/* SPDX-License-Identifier: GPL-2.0-or-later */
/* RAM sink: registers on the system bus, trace bytes into guest memory. */
#include "qemu/osdep.h"
#include "qapi/error.h"
#include "qemu/cutils.h"
#include "qemu/error-report.h"
#include "qemu/log.h"
#include "qemu/units.h"
#include "hw/qdev-properties.h"
#include "exec/address-spaces.h"
#include "system/runstate.h"
#include "ntrace.h"
#include "ntrace/trace_control.h"

static void unmap(NTraceRamSink *s)
{
    if (s->mapped) {
        address_space_unmap(&address_space_memory, s->mapped, s->mapped_size,
                            true, s->mapped_size);
    }
    s->mapped = NULL;
    s->mapped_size = 0;
    s->unmap_due = false;
}

static void sink_open(void *opaque, uint64_t address, uint64_t size)
{
    NTraceRamSink *s = opaque;
    MemoryRegionSection section;
    hwaddr length = size;

    unmap(s);
    section = memory_region_find(get_system_memory(), address, size);
    if (section.mr && memory_region_is_ram(section.mr)) {
        s->mapped = address_space_map(&address_space_memory, address, &length,
                                      true, MEMTXATTRS_UNSPECIFIED);
        s->mapped_address = address;
        s->mapped_size = s->mapped ? length : 0;
    }
    if (section.mr) {
        memory_region_unref(section.mr);
    }
    if (s->mapped_size < size) {
        qemu_log_mask(LOG_GUEST_ERROR, "ntrace-ram-sink %u: no memory at 0x%"
                      PRIx64 " size 0x%" PRIx64 "\n", s->index, address, size);
    }
}

/*
 * Stop-on-wrap calls this from a hart's thread without the BQL, so the next
 * register access unmaps the buffer.
 */
static void sink_close(void *opaque)
{
    NTraceRamSink *s = opaque;

    s->unmap_due = true;
}

/*
 * A sink that misses Limit overwrites memory as the hardware would. Only RAM:
 * a device would need the BQL, whose owner may wait for the lock of the sink.
 */
static void write_outside(uint64_t address, const uint8_t *data, size_t size)
{
    MemoryRegionSection section = memory_region_find(get_system_memory(),
                                                     address, size);

    if (!section.mr) {
        return;
    }
    if (memory_region_is_ram(section.mr)) {
        address_space_write(&address_space_memory, address,
                            MEMTXATTRS_UNSPECIFIED, data,
                            int128_get64(section.size));
    }
    memory_region_unref(section.mr);
}

static void sink_write_memory(void *opaque, uint64_t address,
                              const uint8_t *data, size_t size)
{
    NTraceRamSink *s = opaque;
    uint64_t offset = address - s->mapped_address;

    if (!s->mapped || offset + size > s->mapped_size) {
        write_outside(address, data, size);
        return;
    }
    memcpy(s->mapped + offset, data, size);
}

static const struct ram_sink_ops sink_ops = {
    .open = sink_open,
    .close = sink_close,
    .write_memory = sink_write_memory,
};

static bool port_put(void *opaque, unsigned int input, uint8_t id,
                     const uint8_t *data, size_t size)
{
    NTraceRamSink *s = opaque;
    bool taken;

    qemu_spin_lock(&s->lock);
    taken = ram_sink_put(&s->sink, data, size);
    qemu_spin_unlock(&s->lock);
    return taken;
}

static bool port_ready(void *opaque, unsigned int input)
{
    NTraceRamSink *s = opaque;
    bool enable;

    qemu_spin_lock(&s->lock);
    enable = s->sink.enable;
    qemu_spin_unlock(&s->lock);
    return enable;
}

struct trace_port ntrace_ram_sink_port(NTraceRamSink *s)
{
    return (struct trace_port) { port_put, port_ready, s, 0 };
}

/* Reports bytes outside the buffer; tools/vsoc/run fails on such a line. */
static void report_outside(NTraceRamSink *s, uint64_t outside)
{
    if (outside != s->reported) {
        error_report("ntrace-ram-sink %u: %" PRIu64 " bytes written outside "
                     "the buffer", s->index, outside);
    }
    s->reported = outside;
}

/* A register without a clock keeps its value. */
static bool is_gated(const NTraceRamSink *s)
{
    return s->gate && s->gate->funnel.parameters.gates &&
           !s->gate->funnel.active;
}

static MemTxResult mmio_read(void *opaque, hwaddr offset, uint64_t *value,
                             unsigned size, MemTxAttrs attrs)
{
    NTraceRamSink *s = opaque;
    bool answers;

    qemu_spin_lock(&s->lock);
    answers = ram_sink_answers(&s->sink, offset);
    if (answers) {
        *value = ram_sink_poll(&s->sink, offset);
    }
    qemu_spin_unlock(&s->lock);
    if (!answers) {
        ntrace_log(s->log, "ram-sink", s->index, "bus-error", offset);
    }
    return answers ? MEMTX_OK : MEMTX_ERROR;
}

static MemTxResult mmio_write(void *opaque, hwaddr offset, uint64_t value,
                              unsigned size, MemTxAttrs attrs)
{
    NTraceRamSink *s = opaque;
    uint32_t old, control;
    uint64_t errors, outside;

    if (is_gated(s)) {
        ntrace_log(s->log, "ram-sink", s->index, "gated", offset);
        return MEMTX_OK;
    }
    qemu_spin_lock(&s->lock);
    if (!ram_sink_answers(&s->sink, offset)) {
        qemu_spin_unlock(&s->lock);
        ntrace_log(s->log, "ram-sink", s->index, "bus-error", offset);
        return MEMTX_ERROR;
    }
    old = ram_sink_read(&s->sink, TR_CONTROL);
    errors = s->sink.software_errors;
    ram_sink_write(&s->sink, offset, value);
    errors = s->sink.software_errors - errors;
    control = ram_sink_read(&s->sink, TR_CONTROL);
    outside = s->sink.outside;
    if (s->unmap_due) {
        unmap(s);
    }
    qemu_spin_unlock(&s->lock);

    /* At once, because a guest without its memory may not get to the end. */
    if (!s->reported) {
        report_outside(s, outside);
    }
    if (control != old) {
        ntrace_log(s->log, "ram-sink", s->index, "control", control);
    }
    if (errors) {
        ntrace_log(s->log, "ram-sink", s->index, "error", offset);
        qemu_log_mask(LOG_GUEST_ERROR, "ntrace-ram-sink %u: write of 0x%"
                      PRIx64 " to 0x%" HWADDR_PRIx " ignored: enabled, not "
                      "empty, not active, or WP outside of the buffer\n",
                      s->index, value, offset);
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
    NTraceRamSink *s = NTRACE_RAM_SINK(obj);

    ntrace_log(s->log, "ram-sink", s->index, "reset",
               ram_sink_read(&s->sink, TR_CONTROL));
    report_outside(s, s->sink.outside);
    ram_sink_power_up(&s->sink);
    s->reported = 0;
    unmap(s);
}

static void write_address(NTraceRamSink *s, hwaddr offset, uint64_t value)
{
    ram_sink_write(&s->sink, offset + 4, value >> 32);
    ram_sink_write(&s->sink, offset, value);
}

static void reset_exit(Object *obj, ResetType type)
{
    NTraceRamSink *s = NTRACE_RAM_SINK(obj);

    if (!s->active_at_reset) {
        return;
    }
    ram_sink_write(&s->sink, TR_CONTROL, TR_CONTROL_ACTIVE);
    write_address(s, TR_RAM_START_LOW, s->reset_start);
    write_address(s, TR_RAM_LIMIT_LOW,
                  s->reset_start + s->reset_size - s->granule);
    write_address(s, TR_RAM_WP_LOW, s->reset_start);
    ram_sink_write(&s->sink, TR_CONTROL, TR_CONTROL_ACTIVE | TR_CONTROL_ENABLE |
                   TR_RAM_CONTROL_MODE_SMEM);
}

static void shutdown_notify(Notifier *notifier, void *data)
{
    NTraceRamSink *s = container_of(notifier, NTraceRamSink, shutdown);

    ntrace_log(s->log, "ram-sink", s->index, "shutdown",
               ram_sink_read(&s->sink, TR_CONTROL));
    report_outside(s, s->sink.outside);
}

static void realize(DeviceState *dev, Error **errp)
{
    ERRP_GUARD();
    NTraceRamSink *s = NTRACE_RAM_SINK(dev);
    g_autofree char *granule = ntrace_choice(s->granule_choice, s->index);
    g_autofree char *cleared = ntrace_choice(s->wrap_cleared, s->index);
    struct ram_sink_parameters parameters = {
        .in_flight = s->in_flight,
        .address_bits = s->address_bits,
        .power_of_two = s->power_of_two,
        .smem = !s->kind || strcmp(s->kind, "sram"),
        .faults = ntrace_faults(s->fault, s->index, errp),
    };

    if (*errp ||
        !ntrace_chosen("granule-hidden", s->granule_hidden, s->index,
                       &parameters.hidden, errp)) {
        return;
    }
    if (!g_strcmp0(cleared, "active")) {
        parameters.wrap_cleared = RAM_SINK_WRAP_BY_ACTIVE;
    } else if (!g_strcmp0(cleared, "power-up")) {
        parameters.wrap_cleared = RAM_SINK_WRAP_BY_POWER_UP;
    } else if (cleared && strcmp(cleared, "wp")) {
        error_setg(errp, "wrap-cleared-by must be wp, active or power-up");
        return;
    }
    if (s->kind && strcmp(s->kind, "sram") && strcmp(s->kind, "smem") &&
        strcmp(s->kind, "both")) {
        error_setg(errp, "kind must be smem, sram or both");
        return;
    }
    if (s->kind && strcmp(s->kind, "smem")) {
        parameters.sram_size = s->sram_size;
    }
    /* Sinks of version 0 have a granule of their own. */
    if (!s->granule &&
        qemu_strtoui(granule ?: "64", NULL, 0, &s->granule) < 0) {
        s->granule = 0;
    }
    parameters.granule = s->granule;
    variant_apply(ntrace_variant(), VARIANT_RAM_SINK, s->index, &parameters);
    s->granule = parameters.granule;
    if (parameters.sram_size > 16 * MiB || parameters.sram_size % 4 ||
        (parameters.sram_size ? parameters.sram_size < 64 :
                                !parameters.smem)) {
        error_setg(errp, "sram-size must be a multiple of 4 in 64..16M");
        return;
    }
    if (parameters.sram_size) {
        parameters.sram = g_malloc0(parameters.sram_size);
    }
    if (s->granule < 4 || s->granule > RAM_SINK_GRANULE_MAX ||
        !is_power_of_2(s->granule)) {
        error_setg(errp, "granule must be a power of two in 4..%u",
                   RAM_SINK_GRANULE_MAX);
        return;
    }
    if (parameters.hidden && parameters.power_of_two) {
        error_setg(errp, "power-of-two reveals a granule, granule-hidden does "
                   "not");
        return;
    }
    if (parameters.start_alignment &
        (parameters.start_alignment - 1)) {
        error_setg(errp, "start-alignment must be 0 or a power of two");
        return;
    }
    if (parameters.in_flight > RAM_SINK_IN_FLIGHT_MAX) {
        error_setg(errp, "in-flight must be at most %u",
                   RAM_SINK_IN_FLIGHT_MAX);
        return;
    }
    if (s->log_name) {
        s->log = ntrace_log_open(s->log_name, errp);
        if (!s->log) {
            return;
        }
    }
    qemu_spin_init(&s->lock);
    ram_sink_init(&s->sink, &parameters, &sink_ops, s);
    memory_region_init_io(&s->mmio, OBJECT(s), &mmio_ops, s,
                          TYPE_NTRACE_RAM_SINK, TR_COMPONENT_SIZE);
    sysbus_init_mmio(SYS_BUS_DEVICE(dev), &s->mmio);
    s->shutdown.notify = shutdown_notify;
    qemu_register_shutdown_notifier(&s->shutdown);
}

static const Property properties[] = {
    DEFINE_PROP_UINT32("index", NTraceRamSink, index, 0),
    /* "smem" (system memory, the default), "sram" (private memory) or "both" */
    DEFINE_PROP_STRING("kind", NTraceRamSink, kind),
    DEFINE_PROP_SIZE32("sram-size", NTraceRamSink, sram_size, 4 * KiB),
    /* Bytes per write, and whether Start, Limit and WP leave out its bits */
    DEFINE_PROP_STRING("granule", NTraceRamSink, granule_choice),
    DEFINE_PROP_STRING("granule-hidden", NTraceRamSink, granule_hidden),
    /* Name of the property with which the device tree states the granule */
    DEFINE_PROP_STRING("granule-property", NTraceRamSink, granule_property),
    /* What clears Wrap: "wp" (a write of it, the default), "active" (0) or "power-up" */
    DEFINE_PROP_STRING("wrap-cleared-by", NTraceRamSink, wrap_cleared),
    /*
     * Number of granules before the write pointer that have not reached memory
     * yet
     */
    DEFINE_PROP_UINT32("in-flight", NTraceRamSink, in_flight, 0),
    DEFINE_PROP_UINT32("address-bits", NTraceRamSink, address_bits, 56),
    DEFINE_PROP_BOOL("power-of-two", NTraceRamSink, power_of_two, false),
    DEFINE_PROP_BOOL("active-at-reset", NTraceRamSink, active_at_reset, false),
    DEFINE_PROP_UINT64("reset-start", NTraceRamSink, reset_start, 0),
    DEFINE_PROP_UINT64("reset-size", NTraceRamSink, reset_size, 64 * KiB),
    /* Faults at power-up, see model/fault.h */
    DEFINE_PROP_STRING("fault", NTraceRamSink, fault),
    DEFINE_PROP_STRING("log", NTraceRamSink, log_name),
};

static void class_init(ObjectClass *klass, void *data)
{
    DeviceClass *dc = DEVICE_CLASS(klass);
    ResettableClass *rc = RESETTABLE_CLASS(klass);

    dc->realize = realize;
    dc->desc = "RISC-V trace RAM sink";
    dc->user_creatable = false;
    device_class_set_props(dc, properties);
    rc->phases.hold = reset_hold;
    rc->phases.exit = reset_exit;
}

static const TypeInfo types[] = {
    {
        .name = TYPE_NTRACE_RAM_SINK,
        .parent = TYPE_SYS_BUS_DEVICE,
        .instance_size = sizeof(NTraceRamSink),
        .class_init = class_init,
    },
};

DEFINE_TYPES(types)
