/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One page with the registers of a SiFive v0 encoder or funnel, as a front end
 * to an encoder or a funnel, and a sink, that are not mapped themselves.
 */
#include "qemu/osdep.h"
#include "ntrace.h"
#include "ntrace/trace_control.h"

static const MemoryRegion *part_of(NTraceV0 *s, enum v0_part part)
{
    if (part == V0_RAM_SINK) {
        return &s->sink->mmio;
    }
    return s->encoder ? &s->encoder->mmio : &s->funnel->mmio;
}

static uint32_t part_read(void *opaque, enum v0_part part, uint32_t offset)
{
    const MemoryRegion *mr = part_of(opaque, part);
    uint64_t value = 0;

    mr->ops->read_with_attrs(mr->opaque, offset, &value, 4,
                             MEMTXATTRS_UNSPECIFIED);
    return value;
}

static void part_write(void *opaque, enum v0_part part, uint32_t offset,
                       uint32_t value)
{
    const MemoryRegion *mr = part_of(opaque, part);

    mr->ops->write_with_attrs(mr->opaque, offset, value, 4,
                              MEMTXATTRS_UNSPECIFIED);
}

static void own(void *opaque, uint32_t id)
{
    NTraceV0 *s = opaque;

    ntrace_encoder_own(s->encoder, id);
}

static const struct v0_ops v0_ops = { part_read, part_write, own };

static uint64_t mmio_read(void *opaque, hwaddr offset, unsigned size)
{
    NTraceV0 *s = opaque;

    return v0_page_read(&s->page, offset);
}

static void mmio_write(void *opaque, hwaddr offset, uint64_t value,
                       unsigned size)
{
    NTraceV0 *s = opaque;

    v0_page_write(&s->page, offset, value);
}

static const MemoryRegionOps mmio_ops = {
    .read = mmio_read,
    .write = mmio_write,
    .endianness = DEVICE_LITTLE_ENDIAN,
    .valid = { .min_access_size = 4, .max_access_size = 4 },
};

static void reset_hold(Object *obj, ResetType type)
{
    v0_page_power_up(&NTRACE_V0(obj)->page);
}

static void realize(DeviceState *dev, Error **errp)
{
    NTraceV0 *s = NTRACE_V0(dev);

    s->page.ops = &v0_ops;
    s->page.opaque = s;
    if (!s->encoder) {
        s->page.kind = V0_FUNNEL_AND_SINK;
    } else {
        s->page.kind = s->sink ? V0_ENCODER_AND_SINK : V0_ENCODER;
        s->page.hart = s->encoder->index;
    }
    s->page.sink_bytes = s->sink ? s->sink->granule : 4;
    memory_region_init_io(&s->mmio, OBJECT(s), &mmio_ops, s, TYPE_NTRACE_V0,
                          TR_COMPONENT_SIZE);
    sysbus_init_mmio(SYS_BUS_DEVICE(dev), &s->mmio);
}

static void class_init(ObjectClass *klass, void *data)
{
    DeviceClass *dc = DEVICE_CLASS(klass);
    ResettableClass *rc = RESETTABLE_CLASS(klass);

    dc->realize = realize;
    dc->desc = "SiFive v0 trace encoder or funnel";
    dc->user_creatable = false;
    rc->phases.hold = reset_hold;
}

static const TypeInfo types[] = {
    {
        .name = TYPE_NTRACE_V0,
        .parent = TYPE_SYS_BUS_DEVICE,
        .instance_size = sizeof(NTraceV0),
        .class_init = class_init,
    },
};

DEFINE_TYPES(types)
