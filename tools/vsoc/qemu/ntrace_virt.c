/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The trace blocks of the virt machine: creation, device tree, log of events. */
#include "qemu/osdep.h"
#include "qapi/error.h"
#include "qemu/error-report.h"
#include "hw/qdev-properties.h"
#include "system/device_tree.h"
#include "cpu.h"
#include "ntrace.h"
#include "ntrace/trace_control.h"

#define HARTS_MAX ((NTRACE_RAM_SINK_BASE - NTRACE_ENCODER_BASE) / TR_COMPONENT_SIZE)

FILE *ntrace_log_open(const char *name, Error **errp)
{
    FILE *log = fopen(name, "a");

    if (!log) {
        error_setg_file_open(errp, errno, name);
    }
    return log;
}

/* One short line at a time in append mode, so components may share a file. */
void ntrace_log(FILE *log, const char *component, uint32_t index,
                const char *event, uint32_t value)
{
    if (log) {
        fprintf(log, "%s%u %s 0x%08x\n", component, index, event, value);
        fflush(log);
    }
}

static DeviceState *create(const char *type, unsigned int index)
{
    DeviceState *dev = qdev_new(type);

    qdev_prop_set_uint32(dev, "index", index);
    return dev;
}

static void realize_at(DeviceState *dev, hwaddr address)
{
    sysbus_realize_and_unref(SYS_BUS_DEVICE(dev), &error_fatal);
    sysbus_mmio_map(SYS_BUS_DEVICE(dev), 0, address);
}

void ntrace_create(unsigned int harts)
{
    unsigned int i;

    if (harts > HARTS_MAX) {
        error_report("ntrace=on: at most %d harts", HARTS_MAX);
        exit(1);
    }
    for (i = 0; i < harts; i++) {
        DeviceState *sink = create(TYPE_NTRACE_RAM_SINK, i);
        DeviceState *encoder = create(TYPE_NTRACE_ENCODER, i);

        realize_at(sink, NTRACE_RAM_SINK_BASE + i * TR_COMPONENT_SIZE);
        object_property_set_link(OBJECT(encoder), "cpu",
                                 OBJECT(qemu_get_cpu(i)), &error_fatal);
        object_property_set_link(OBJECT(encoder), "sink", OBJECT(sink),
                                 &error_fatal);
        realize_at(encoder, NTRACE_ENCODER_BASE + i * TR_COMPONENT_SIZE);
    }
}

/* A component with one port; returns the path of its endpoint. */
static char *add_component(void *fdt, const char *kind, hwaddr address,
                           const char *ports, uint32_t endpoint)
{
    static const char compatible[] =
        "qemu,trace-component\0riscv,trace-component";
    g_autofree char *node = g_strdup_printf("/soc/%s@%" HWADDR_PRIx, kind,
                                            address);
    g_autofree char *port = g_strdup_printf("%s/%s", node, ports);
    char *path = g_strdup_printf("%s/port/endpoint", port);

    qemu_fdt_add_subnode(fdt, node);
    qemu_fdt_setprop(fdt, node, "compatible", compatible, sizeof(compatible));
    qemu_fdt_setprop_sized_cells(fdt, node, "reg", 2, address, 2,
                                 (uint64_t)TR_COMPONENT_SIZE);
    qemu_fdt_add_path(fdt, path);
    qemu_fdt_setprop_cell(fdt, path, "phandle", endpoint);
    return path;
}

void ntrace_create_fdt(void *fdt, uint32_t *phandle, unsigned int harts)
{
    unsigned int i;

    for (i = 0; i < harts; i++) {
        hwaddr encoder = NTRACE_ENCODER_BASE + i * TR_COMPONENT_SIZE;
        hwaddr sink = NTRACE_RAM_SINK_BASE + i * TR_COMPONENT_SIZE;
        uint32_t out = (*phandle)++;
        uint32_t in = (*phandle)++;
        g_autofree char *cpu = g_strdup_printf("/cpus/cpu@%u", i);
        g_autofree char *node = g_strdup_printf("/soc/trace-encoder@%"
                                                HWADDR_PRIx, encoder);
        g_autofree char *out_path = add_component(fdt, "trace-encoder",
                                                  encoder, "out-ports", out);
        g_autofree char *in_path = add_component(fdt, "trace-ram-sink",
                                                 sink, "in-ports", in);

        qemu_fdt_setprop_cell(fdt, node, "cpus",
                              qemu_fdt_get_phandle(fdt, cpu));
        qemu_fdt_setprop_cell(fdt, out_path, "remote-endpoint", in);
        qemu_fdt_setprop_cell(fdt, in_path, "remote-endpoint", out);
    }
}
