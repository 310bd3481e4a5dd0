/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One page with the registers of SiFive's v0 encoder, as a front end to an
 * encoder and a sink that are not mapped themselves.
 */
#include "qemu/osdep.h"
#include "ntrace.h"
#include "ntrace/trace_control.h"

static const MemoryRegion *part_of(NTraceV0 *s, enum v0_part part)
{
    return part == V0_ENCODER ? &s->encoder->mmio : &s->sink->mmio;
}

static uint32_t part_read(void *opaque, enum v0_part part, uint32_t offset)
{
    const MemoryRegion *mr = part_of(opaque, part);

    return mr->ops->read(mr->opaque, offset, 4);
}

static void part_write(void *opaque, enum v0_part part, uint32_t offset,
                       uint32_t value)
{
    const MemoryRegion *mr = part_of(opaque, part);

    mr->ops->write(mr->opaque, offset, value, 4);
}

static const struct v0_ops v0_ops = { part_read, part_write };

static uint64_t mmio_read(void *opaque, hwaddr offset, unsigned size)
{
    NTraceV0 *s = opaque;

    return v0_encoder_read(&s->v0, offset);
}

static void mmio_write(void *opaque, hwaddr offset, uint64_t value,
                       unsigned size)
{
    NTraceV0 *s = opaque;

    v0_encoder_write(&s->v0, offset, value);
}

static const MemoryRegionOps mmio_ops = {
    .read = mmio_read,
    .write = mmio_write,
    .endianness = DEVICE_LITTLE_ENDIAN,
    .valid = { .min_access_size = 4, .max_access_size = 4 },
};

static void reset_hold(Object *obj, ResetType type)
{
    v0_encoder_power_up(&NTRACE_V0(obj)->v0);
}

static void realize(DeviceState *dev, Error **errp)
{
    NTraceV0 *s = NTRACE_V0(dev);

    s->v0.ops = &v0_ops;
    s->v0.opaque = s;
    s->v0.hart = s->encoder->index;
    s->v0.sink_bytes = s->sink->granule;
    memory_region_init_io(&s->mmio, OBJECT(s), &mmio_ops, s, TYPE_NTRACE_V0,
                          TR_COMPONENT_SIZE);
    sysbus_init_mmio(SYS_BUS_DEVICE(dev), &s->mmio);
}

static void class_init(ObjectClass *klass, void *data)
{
    DeviceClass *dc = DEVICE_CLASS(klass);
    ResettableClass *rc = RESETTABLE_CLASS(klass);

    dc->realize = realize;
    dc->desc = "RISC-V trace encoder with SiFive's v0 registers";
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
