/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The trace blocks of the virt machine: creation, device tree, log of events. */
#include "qemu/osdep.h"
#include "qapi/error.h"
#include "qemu/error-report.h"
#include "qemu/timer.h"
#include "qemu/units.h"
#include "qapi/util.h"
#include "qapi/visitor.h"
#include "hw/qdev-properties.h"
#include "exec/address-spaces.h"
#include "hw/riscv/virt.h"
#include "system/device_tree.h"
#include "cpu.h"
#include "ntrace.h"
#include "topology.h"
#include "ntrace/trace_control.h"

QEMU_BUILD_BUG_ON(NTRACE_ENCODER_BASE + TOPOLOGY_HARTS_MAX * TR_COMPONENT_SIZE >
                  NTRACE_RAM_SINK_BASE);
QEMU_BUILD_BUG_ON(NTRACE_RAM_SINK_BASE + TOPOLOGY_HARTS_MAX * TR_COMPONENT_SIZE >
                  NTRACE_FUNNEL_BASE);
QEMU_BUILD_BUG_ON(NTRACE_FUNNEL_BASE + TOPOLOGY_HARTS_MAX * TR_COMPONENT_SIZE >
                  NTRACE_PIB_SINK_BASE);
QEMU_BUILD_BUG_ON(NTRACE_ATB_BRIDGE_BASE + TOPOLOGY_K3_MAX * TR_COMPONENT_SIZE >
                  NTRACE_ARM_FUNNEL_BASE);

#define V0_SINK_BYTES 8

#define CLOCK_PATH "/trace-apb-clock"
/* The reset controller of managed encoders: bit n is 0 while encoder n is reset. */
#define RESET_BASE 0x60f0000u
#define RESET_NODE "/soc/trace-reset@60f0000"
#define CLOCK_NODE "/trace-clock"
#define IDLE_NODE "/cpus/idle-states/cpu-lost"
#define IDLE_NON_RETENTIVE 0x80000000u /* SBI HSM, default suspend type */

/*
 * In DRAM, above the images that the machine loads and below the device tree at
 * the end.
 */
#define MEMORY_BASE 0xb0000000u
#define MEMORY_MAX (128 * MiB)

/*
 * Names and base address of each enum topology_kind, and what it is compatible
 * with: in SiFive's blocks of version 0, and in a K3. The others have one name
 * for all kinds.
 */
static const struct {
    const char *type;
    const char *node;
    hwaddr base;
    const char *v0;
    const char *k3;
} kinds[] = {
    [TOPOLOGY_ENCODER] = { TYPE_NTRACE_ENCODER, "trace-encoder",
                           NTRACE_ENCODER_BASE, "sifive,trace-encoder0",
                           "riscv,trace-encoder" },
    [TOPOLOGY_FUNNEL] = { TYPE_NTRACE_FUNNEL, "trace-funnel",
                          NTRACE_FUNNEL_BASE, "sifive,trace-funnel0",
                          "riscv,trace-funnel" },
    [TOPOLOGY_RAM_SINK] = { TYPE_NTRACE_RAM_SINK, "trace-ram-sink",
                            NTRACE_RAM_SINK_BASE },
    [TOPOLOGY_PIB_SINK] = { TYPE_NTRACE_PIB_SINK, "trace-pib-sink",
                            NTRACE_PIB_SINK_BASE },
    [TOPOLOGY_ATB_BRIDGE] = { TYPE_NTRACE_ATB_BRIDGE, "trace-atb-bridge",
                              NTRACE_ATB_BRIDGE_BASE, NULL,
                              "riscv,trace-atbbridge" },
    [TOPOLOGY_ARM_FUNNEL] = { TYPE_NTRACE_ARM_FUNNEL, "funnel",
                              NTRACE_ARM_FUNNEL_BASE, NULL,
                              "arm,coresight-dynamic-funnel" },
    [TOPOLOGY_ETF] = { TYPE_NTRACE_ETF, "etf", NTRACE_ETF_BASE, NULL,
                       "arm,coresight-tmc" },
    [TOPOLOGY_ETR] = { TYPE_NTRACE_ETR, "etr", NTRACE_ETR_BASE, NULL,
                       "arm,coresight-tmc" },
};

static char *remote_name; /* there is one machine */

uint32_t ntrace_faults(const char *text, uint32_t index, Error **errp)
{
    uint32_t mask;

    if (!fault_parse(text, index, &mask)) {
        error_setg(errp, "fault=%s: no such fault", text);
    }
    return mask;
}

char *ntrace_choice(const char *text, uint32_t index)
{
    g_auto(GStrv) parts = g_strsplit(text ? text : "", "+", 0);
    char *value = NULL;
    unsigned int i;

    for (i = 0; parts[i]; i++) {
        char *at = strchr(parts[i], '@');

        if (at) {
            *at = '\0';
        }
        if (!at || g_ascii_strtoull(at + 1, NULL, 0) == index) {
            g_free(value);
            value = g_strdup(parts[i]);
        }
    }
    return value;
}

bool ntrace_chosen(const char *name, const char *text, uint32_t index,
                   bool *chosen, Error **errp)
{
    g_autofree char *value = ntrace_choice(text, index);

    return !value || qapi_bool_parse(name, value, chosen, errp);
}

FILE *ntrace_log_open(const char *name, Error **errp)
{
    FILE *log = fopen(name, "a");

    if (!log) {
        error_setg_file_open(errp, errno, name);
    }
    return log;
}

/* Each call appends one short line, so that components may share a file. */
void ntrace_log(FILE *log, const char *component, uint32_t index,
                const char *event, uint32_t value)
{
    if (log) {
        fprintf(log, "%s%u %s 0x%08x\n", component, index, event, value);
        fflush(log);
    }
}

bool ntrace_wanted(MachineState *machine)
{
    return RISCV_VIRT_MACHINE(machine)->ntrace;
}

static void make_topology(struct topology *topology, MachineState *machine)
{
    const char *name = RISCV_VIRT_MACHINE(machine)->ntrace_topology;
    const char *reason;
    static struct topology remote;
    bool v0 = !g_strcmp0(RISCV_VIRT_MACHINE(machine)->ntrace, "v0");

    if (remote_name) {
        if (!ntrace_is_remote()) {
            ntrace_remote_connect(remote_name, machine->smp.cpus, &remote);
        }
        *topology = remote;
        return;
    }
    if (!name) {
        name = "direct";
    }
    reason = topology_make(topology, name, machine->smp.cpus);
    if (reason) {
        error_report("ntrace-topology=%s: %s", name, reason);
        exit(1);
    }
    if (v0 && !topology->v0 && strcmp(name, "direct")) {
        error_report("ntrace=v0: there are only the topologies direct and "
                     "p550");
        exit(1);
    }
    topology->v0 |= v0;
}

static hwaddr address_of(const struct topology_node *node)
{
    return node->base ? node->base :
                        kinds[node->kind].base +
                        node->index * TR_COMPONENT_SIZE;
}

static struct trace_port input_of(const struct topology_node *node,
                                  DeviceState *dev, unsigned int input)
{
    switch (node->kind) {
    case TOPOLOGY_FUNNEL:
        return ntrace_funnel_port(NTRACE_FUNNEL(dev), input);
    case TOPOLOGY_RAM_SINK:
        return ntrace_ram_sink_port(NTRACE_RAM_SINK(dev));
    case TOPOLOGY_ARM_FUNNEL:
        return ntrace_arm_funnel_port(NTRACE_ARM_FUNNEL(dev), input);
    case TOPOLOGY_ETF:
    case TOPOLOGY_ETR:
        return ntrace_tmc_port(NTRACE_TMC(dev));
    default:
        return ntrace_port_sink_port(NTRACE_PORT_SINK(dev));
    }
}

/* The first node that a node sends to. */
static unsigned int next_of(const struct topology *topology, unsigned int node)
{
    unsigned int i = 0;

    while (topology->edge[i].from != node) {
        i++;
    }
    return topology->edge[i].to;
}

/* The funnel that gives the time to what sends to a node, or NULL. */
static NTraceFunnel *clock_of(const struct topology *topology,
                              unsigned int node, DeviceState **dev)
{
    if (topology->node[node].kind == TOPOLOGY_ATB_BRIDGE &&
        topology->node[node].outputs) {
        node = next_of(topology, node);
    }
    return topology->node[node].kind == TOPOLOGY_FUNNEL ?
           NTRACE_FUNNEL(dev[node]) : NULL;
}

static void wire_encoder(NTraceEncoder *encoder, unsigned int output,
                         struct trace_port port, NTraceFunnel *clock)
{
    encoder->out[output] = port;
    if (!output) {
        encoder->clock = clock;
    }
    encoder->outs = MAX(encoder->outs, output + 1);
}

static void wire(const struct topology *topology,
                 const struct topology_edge *edge, DeviceState **dev)
{
    struct trace_port port = input_of(&topology->node[edge->to],
                                      dev[edge->to], edge->input);
    NTraceFunnel *clock = clock_of(topology, edge->to, dev);
    DeviceState *from = dev[edge->from];

    switch (topology->node[edge->from].kind) {
    case TOPOLOGY_ENCODER:
        wire_encoder(NTRACE_ENCODER(from), edge->output, port, clock);
        if (topology->node[edge->to].kind == TOPOLOGY_ATB_BRIDGE) {
            NTRACE_ENCODER(from)->bridge = NTRACE_PORT_SINK(dev[edge->to]);
        }
        break;
    case TOPOLOGY_FUNNEL:
        if (topology->node[edge->to].kind == TOPOLOGY_RAM_SINK) {
            NTRACE_RAM_SINK(dev[edge->to])->gate = NTRACE_FUNNEL(from);
        }
        NTRACE_FUNNEL(from)->out = port;
        NTRACE_FUNNEL(from)->clock = clock;
        break;
    case TOPOLOGY_ATB_BRIDGE:
        NTRACE_PORT_SINK(from)->out = port;
        break;
    case TOPOLOGY_ARM_FUNNEL:
        NTRACE_ARM_FUNNEL(from)->out = port;
        break;
    case TOPOLOGY_ETF:
        NTRACE_TMC(from)->out = port;
        break;
    default:
        g_assert_not_reached();
    }
}

/*
 * Names the device under /machine, where tests can change its properties at run
 * time.
 */
static DeviceState *create(MachineState *machine,
                           const struct topology *topology,
                           const struct topology_node *node)
{
    bool v0 = topology->v0;
    const char *type = kinds[node->kind].type;
    DeviceState *dev = qdev_new(type);
    g_autofree char *name = g_strdup_printf("%s%u", type, node->index);

    object_property_add_child(OBJECT(machine), name, OBJECT(dev));
    qdev_prop_set_uint32(dev, "index", node->index);
    if (node->kind == TOPOLOGY_ENCODER) {
        object_property_set_link(OBJECT(dev), "cpu",
                                 OBJECT(qemu_get_cpu(node->index)),
                                 &error_fatal);
    }
    if (node->kind == TOPOLOGY_FUNNEL) {
        NTRACE_FUNNEL(dev)->inputs = node->inputs;
        NTRACE_FUNNEL(dev)->v0 = v0;
    }
    if (node->kind == TOPOLOGY_ENCODER) {
        NTRACE_ENCODER(dev)->v0 = v0;
        NTRACE_ENCODER(dev)->k3 = topology->k3;
    }
    if (node->kind == TOPOLOGY_ARM_FUNNEL) {
        NTRACE_ARM_FUNNEL(dev)->inputs = node->inputs;
    }
    if (v0 && node->kind == TOPOLOGY_RAM_SINK) {
        NTRACE_RAM_SINK(dev)->granule = V0_SINK_BYTES;
    }
    return dev;
}

/* Creates a v0 page for an encoder or a funnel, and the sink that follows. */
static void create_v0(const struct topology *topology, unsigned int node,
                      DeviceState **dev)
{
    unsigned int next = next_of(topology, node);
    DeviceState *v0 = qdev_new(TYPE_NTRACE_V0);

    if (topology->node[node].kind == TOPOLOGY_ENCODER) {
        NTRACE_V0(v0)->encoder = NTRACE_ENCODER(dev[node]);
    } else {
        NTRACE_V0(v0)->funnel = NTRACE_FUNNEL(dev[node]);
    }
    if (topology->node[next].kind == TOPOLOGY_RAM_SINK) {
        NTRACE_V0(v0)->sink = NTRACE_RAM_SINK(dev[next]);
    }
    sysbus_realize_and_unref(SYS_BUS_DEVICE(v0), &error_fatal);
    sysbus_mmio_map(SYS_BUS_DEVICE(v0), 0, address_of(&topology->node[node]));
}

/*
 * A flush of a TMC empties all that is before it. There is one path to it, so
 * these are the nodes after it, except that encoders hold no bytes.
 */
static void add_upstream(const struct topology *topology, unsigned int node,
                         DeviceState **dev)
{
    unsigned int i;

    if (topology->node[node].kind != TOPOLOGY_ETF &&
        topology->node[node].kind != TOPOLOGY_ETR) {
        return;
    }
    for (i = topology->nodes - 1; i > node; i--) {
        if (topology->node[i].kind != TOPOLOGY_ENCODER) {
            ntrace_tmc_add_upstream(NTRACE_TMC(dev[node]), dev[i]);
        }
    }
}

/* Encoder @index; NULL: there is none, or it is in another process. */
static const NTraceEncoder *encoder_of(MachineState *machine,
                                       unsigned int index)
{
    g_autofree char *name = g_strdup_printf(TYPE_NTRACE_ENCODER "%u", index);
    Object *encoder = object_resolve_path_component(OBJECT(machine), name);

    return encoder ? NTRACE_ENCODER(encoder) : NULL;
}

static bool is_managed(MachineState *machine)
{
    const NTraceEncoder *encoder = encoder_of(machine, 0);

    return encoder && encoder->managed;
}

/* Whether idle harts lose something. */
static bool sleep_loses(MachineState *machine)
{
    const NTraceEncoder *encoder;
    unsigned int i;

    for (i = 0; (encoder = encoder_of(machine, i)); i++) {
        if (encoder->te.parameters.sleep_loses) {
            return true;
        }
    }
    return false;
}

/* Memory is enough: the lines reset nothing. */
static void create_resets(void)
{
    MemoryRegion *resets = g_new0(MemoryRegion, 1);

    memory_region_init_ram(resets, NULL, "ntrace-resets", TR_COMPONENT_SIZE,
                           &error_fatal);
    memory_region_add_subregion(get_system_memory(), RESET_BASE, resets);
}

void ntrace_create(MachineState *machine)
{
    g_autofree struct topology *topology = g_new(struct topology, 1);
    DeviceState *dev[TOPOLOGY_NODES_MAX];
    unsigned int i, e;

    make_topology(topology, machine);
    if (remote_name) {
        ntrace_remote_create(machine, topology);
        return;
    }
    for (i = 0; i < topology->nodes; i++) {
        dev[i] = create(machine, topology, &topology->node[i]);
        for (e = 0; e < topology->edges; e++) {
            if (topology->edge[e].from == i) {
                wire(topology, &topology->edge[e], dev);
            }
        }
        sysbus_realize_and_unref(SYS_BUS_DEVICE(dev[i]), &error_fatal);
        if (!topology->v0) {
            sysbus_mmio_map(SYS_BUS_DEVICE(dev[i]), 0,
                            address_of(&topology->node[i]));
        } else if (topology->node[i].kind != TOPOLOGY_RAM_SINK) {
            create_v0(topology, i, dev);
        }
    }
    for (i = 0; i < topology->nodes; i++) {
        add_upstream(topology, i, dev);
    }
    if (is_managed(machine)) {
        create_resets();
    }
    ntrace_variant_report(topology, dev);
}

static char *node_path(const struct topology_node *node)
{
    return g_strdup_printf("/soc/%s@%" HWADDR_PRIx, kinds[node->kind].node,
                           address_of(node));
}

/* Reserves memory for the sinks. Return: its phandle, 0 if there is none. */
static uint32_t add_memory(MachineState *machine, uint32_t *phandle)
{
    uint64_t size = RISCV_VIRT_MACHINE(machine)->ntrace_memory;
    g_autofree char *path = g_strdup_printf("/reserved-memory/trace@%x",
                                            MEMORY_BASE);
    uint32_t self = *phandle;

    if (!size) {
        return 0;
    }
    (*phandle)++;
    qemu_fdt_add_subnode(machine->fdt, "/reserved-memory");
    qemu_fdt_setprop_cell(machine->fdt, "/reserved-memory", "#address-cells",
                          2);
    qemu_fdt_setprop_cell(machine->fdt, "/reserved-memory", "#size-cells", 2);
    qemu_fdt_setprop(machine->fdt, "/reserved-memory", "ranges", NULL, 0);
    qemu_fdt_add_subnode(machine->fdt, path);
    qemu_fdt_setprop_string(machine->fdt, path, "compatible",
                            "shared-dma-pool");
    qemu_fdt_setprop_sized_cells(machine->fdt, path, "reg",
                                 2, (uint64_t)MEMORY_BASE, 2, size);
    qemu_fdt_setprop(machine->fdt, path, "no-map", NULL, 0);
    qemu_fdt_setprop_cell(machine->fdt, path, "phandle", self);
    return self;
}

/* Adds the clock of Arm's components. Return: its phandle */
static uint32_t add_clock(void *fdt, uint32_t *phandle)
{
    uint32_t self = (*phandle)++;

    qemu_fdt_add_subnode(fdt, CLOCK_PATH);
    qemu_fdt_setprop_string(fdt, CLOCK_PATH, "compatible", "fixed-clock");
    qemu_fdt_setprop_cell(fdt, CLOCK_PATH, "#clock-cells", 0);
    qemu_fdt_setprop_cell(fdt, CLOCK_PATH, "clock-frequency", 14000000);
    qemu_fdt_setprop_cell(fdt, CLOCK_PATH, "phandle", self);
    return self;
}

static void set_compatible(void *fdt, const char *path,
                           const struct topology *topology,
                           enum topology_kind kind)
{
    static const char *const generic[] = {
        "qemu,trace-component", "riscv,trace-component",
    };
    const char *arm[] = { kinds[kind].k3, "arm,primecell" };

    if (topology->v0) {
        qemu_fdt_setprop_string(fdt, path, "compatible", kinds[kind].v0);
    } else if (topology_is_arm(kind)) {
        qemu_fdt_setprop_string_array(fdt, path, "compatible", (char **)arm,
                                      ARRAY_SIZE(arm));
    } else if (topology->k3) {
        qemu_fdt_setprop_string(fdt, path, "compatible", kinds[kind].k3);
    } else {
        qemu_fdt_setprop_string_array(fdt, path, "compatible",
                                      (char **)generic, ARRAY_SIZE(generic));
    }
}

static void add_component(void *fdt, const struct topology *topology,
                          const struct topology_node *node, uint32_t memory,
                          uint32_t clock)
{
    g_autofree char *path = node_path(node);

    qemu_fdt_add_subnode(fdt, path);
    set_compatible(fdt, path, topology, node->kind);
    qemu_fdt_setprop_sized_cells(fdt, path, "reg", 2, address_of(node), 2,
                                 (uint64_t)TR_COMPONENT_SIZE);
    /*
     * Adds the properties of a timestamp unit: internal system time is virtual
     * nanoseconds.
     */
    if (node->kind == TOPOLOGY_ENCODER || node->kind == TOPOLOGY_FUNNEL) {
        qemu_fdt_setprop_cell(fdt, path, "clock-frequency",
                              NANOSECONDS_PER_SECOND);
    }
    if (topology->k3 && node->kind == TOPOLOGY_FUNNEL) {
        qemu_fdt_setprop(fdt, path, "riscv,timestamp-present", NULL, 0);
    }
    if (memory) {
        qemu_fdt_setprop_cell(fdt, path, "memory-region", memory);
    }
    if (topology_is_arm(node->kind)) {
        qemu_fdt_setprop_cell(fdt, path, "clocks", clock);
        qemu_fdt_setprop_string(fdt, path, "clock-names", "apb_pclk");
    }
    if (node->kind == TOPOLOGY_ETR) {
        qemu_fdt_setprop(fdt, path, "arm,scatter-gather", NULL, 0);
    }
    if (node->kind == TOPOLOGY_ENCODER ||
        (topology->k3 && node->kind == TOPOLOGY_ATB_BRIDGE)) {
        g_autofree char *cpu = g_strdup_printf("/cpus/cpu@%u", node->index);

        qemu_fdt_setprop_cell(fdt, path, "cpus",
                              qemu_fdt_get_phandle(fdt, cpu));
    }
}

/* States the granule of a RAM sink, if the sink names a property for it. */
static void add_granule(MachineState *machine, const struct topology_node *node)
{
    g_autofree char *path = node_path(node);
    g_autofree char *name = g_strdup_printf(TYPE_NTRACE_RAM_SINK "%u",
                                            node->index);
    NTraceRamSink *sink = NTRACE_RAM_SINK(
        object_resolve_path_component(OBJECT(machine), name));
    g_autofree char *property = ntrace_choice(sink->granule_property,
                                              node->index);

    if (property) {
        qemu_fdt_setprop_cell(machine->fdt, path, property, sink->granule);
    }
}

/* Adds an idle state of the harts that loses the state of the hart. */
static void add_idle_state(MachineState *machine, uint32_t *phandle)
{
    void *fdt = machine->fdt;
    uint32_t state = (*phandle)++;
    unsigned int i;

    qemu_fdt_add_subnode(fdt, "/cpus/idle-states");
    qemu_fdt_add_subnode(fdt, IDLE_NODE);
    qemu_fdt_setprop_string(fdt, IDLE_NODE, "compatible", "riscv,idle-state");
    qemu_fdt_setprop_cell(fdt, IDLE_NODE, "riscv,sbi-suspend-param",
                          IDLE_NON_RETENTIVE);
    qemu_fdt_setprop_cell(fdt, IDLE_NODE, "entry-latency-us", 1);
    qemu_fdt_setprop_cell(fdt, IDLE_NODE, "exit-latency-us", 1);
    qemu_fdt_setprop_cell(fdt, IDLE_NODE, "min-residency-us", 2);
    qemu_fdt_setprop_cell(fdt, IDLE_NODE, "phandle", state);
    for (i = 0; i < machine->smp.cpus; i++) {
        g_autofree char *cpu = g_strdup_printf("/cpus/cpu@%u", i);

        qemu_fdt_setprop_cell(fdt, cpu, "cpu-idle-states", state);
    }
}

/* Adds the clock and the resets of managed encoders. */
static void add_power(MachineState *machine, const struct topology *topology,
                      uint32_t *phandle)
{
    void *fdt = machine->fdt;
    uint32_t clock = (*phandle)++, reset = (*phandle)++;
    unsigned int i;

    qemu_fdt_add_subnode(fdt, CLOCK_NODE);
    qemu_fdt_setprop_string(fdt, CLOCK_NODE, "compatible", "fixed-clock");
    qemu_fdt_setprop_cell(fdt, CLOCK_NODE, "#clock-cells", 0);
    qemu_fdt_setprop_cell(fdt, CLOCK_NODE, "clock-frequency",
                          NANOSECONDS_PER_SECOND);
    qemu_fdt_setprop_cell(fdt, CLOCK_NODE, "phandle", clock);
    qemu_fdt_add_subnode(fdt, RESET_NODE);
    qemu_fdt_setprop_string(fdt, RESET_NODE, "compatible",
                            "snps,dw-low-reset");
    qemu_fdt_setprop_sized_cells(fdt, RESET_NODE, "reg", 2,
                                 (uint64_t)RESET_BASE, 2,
                                 (uint64_t)TR_COMPONENT_SIZE);
    qemu_fdt_setprop_cell(fdt, RESET_NODE, "#reset-cells", 1);
    qemu_fdt_setprop_cell(fdt, RESET_NODE, "phandle", reset);
    for (i = 0; i < topology->nodes; i++) {
        g_autofree char *path = node_path(&topology->node[i]);

        if (topology->node[i].kind == TOPOLOGY_ENCODER) {
            qemu_fdt_setprop_cell(fdt, path, "clocks", clock);
            qemu_fdt_setprop_cells(fdt, path, "resets", reset,
                                   topology->node[i].index);
        }
    }
}

/*
 * Adds one end of an edge. Ports are numbered if a node has several ports of
 * the same direction.
 */
static void add_endpoint(void *fdt, const struct topology_node *node,
                         const char *ports_name, unsigned int number,
                         bool numbered, uint32_t self, uint32_t remote)
{
    g_autofree char *component = node_path(node);
    g_autofree char *ports = g_strdup_printf("%s/%s", component, ports_name);
    g_autofree char *port = numbered ?
                            g_strdup_printf("%s/port@%x", ports, number) :
                            g_strdup_printf("%s/port", ports);
    g_autofree char *endpoint = g_strdup_printf("%s/endpoint", port);

    qemu_fdt_add_path(fdt, endpoint);
    if (numbered) {
        qemu_fdt_setprop_cell(fdt, ports, "#address-cells", 1);
        qemu_fdt_setprop_cell(fdt, ports, "#size-cells", 0);
        qemu_fdt_setprop_cell(fdt, port, "reg", number);
    }
    qemu_fdt_setprop_cell(fdt, endpoint, "phandle", self);
    qemu_fdt_setprop_cell(fdt, endpoint, "remote-endpoint", remote);
}

/* Pages of version 0 have the registers of the sink that follows. */
static bool has_page(const struct topology *topology, unsigned int node)
{
    return !topology->v0 ||
           topology->node[node].kind != TOPOLOGY_RAM_SINK;
}

static bool writes_memory(const struct topology *topology, unsigned int node)
{
    if (topology->v0) {
        node = next_of(topology, node);
    }
    return topology->node[node].kind == TOPOLOGY_RAM_SINK ||
           topology->node[node].kind == TOPOLOGY_ETR;
}

void ntrace_create_fdt(MachineState *machine, uint32_t *phandle)
{
    g_autofree struct topology *topology = g_new(struct topology, 1);
    uint32_t memory = add_memory(machine, phandle);
    uint32_t clock = 0;
    unsigned int i;

    make_topology(topology, machine);
    if (topology->k3) {
        clock = add_clock(machine->fdt, phandle);
    }
    for (i = 0; i < topology->nodes; i++) {
        if (has_page(topology, i)) {
            add_component(machine->fdt, topology, &topology->node[i],
                          writes_memory(topology, i) ? memory : 0, clock);
            if (topology->node[i].kind == TOPOLOGY_RAM_SINK && !remote_name) {
                add_granule(machine, &topology->node[i]);
            }
        }
    }
    if (is_managed(machine)) {
        add_power(machine, topology, phandle);
    }
    if (sleep_loses(machine)) {
        add_idle_state(machine, phandle);
    }
    for (i = 0; i < topology->edges; i++) {
        const struct topology_edge *edge = &topology->edge[i];
        const struct topology_node *from = &topology->node[edge->from];
        const struct topology_node *to = &topology->node[edge->to];
        uint32_t out, in;

        if (!has_page(topology, edge->to)) {
            continue;
        }
        out = (*phandle)++;
        in = (*phandle)++;
        add_endpoint(machine->fdt, from, "out-ports", edge->output,
                     from->outputs > 1, out, in);
        add_endpoint(machine->fdt, to, "in-ports", edge->input,
                     to->inputs > 1, in, out);
    }
}

static char *get_ntrace(Object *obj, Error **errp)
{
    const char *value = RISCV_VIRT_MACHINE(obj)->ntrace;

    return g_strdup(value ? value : "off");
}

static void set_ntrace(Object *obj, const char *value, Error **errp)
{
    RISCVVirtState *s = RISCV_VIRT_MACHINE(obj);

    if (strcmp(value, "on") && strcmp(value, "off") && strcmp(value, "v0")) {
        error_setg(errp, "ntrace must be on, off or v0");
        return;
    }
    g_free(s->ntrace);
    s->ntrace = strcmp(value, "off") ? g_strdup(value) : NULL;
}

static char *get_topology(Object *obj, Error **errp)
{
    return g_strdup(RISCV_VIRT_MACHINE(obj)->ntrace_topology);
}

static void set_topology(Object *obj, const char *value, Error **errp)
{
    RISCVVirtState *s = RISCV_VIRT_MACHINE(obj);

    g_free(s->ntrace_topology);
    s->ntrace_topology = g_strdup(value);
}

static char *get_remote(Object *obj, Error **errp)
{
    return g_strdup(remote_name);
}

static void set_remote(Object *obj, const char *value, Error **errp)
{
    g_free(remote_name);
    remote_name = g_strdup(value);
}

static void get_memory(Object *obj, Visitor *v, const char *name,
                       void *opaque, Error **errp)
{
    visit_type_size(v, name, &RISCV_VIRT_MACHINE(obj)->ntrace_memory, errp);
}

static void set_memory(Object *obj, Visitor *v, const char *name,
                       void *opaque, Error **errp)
{
    uint64_t size;

    if (!visit_type_size(v, name, &size, errp)) {
        return;
    }
    if (size > MEMORY_MAX || size % (4 * KiB)) {
        error_setg(errp, "ntrace-memory must be pages, %" PRIu64 " at most",
                   (uint64_t)MEMORY_MAX);
        return;
    }
    RISCV_VIRT_MACHINE(obj)->ntrace_memory = size;
}

void ntrace_class_properties(ObjectClass *oc)
{
    object_class_property_add_str(oc, "ntrace", get_ntrace, set_ntrace);
    object_class_property_set_description(oc, "ntrace",
                                          "(TCG only) Set on to have a trace "
                                          "encoder per hart and trace RAM "
                                          "sinks, v0 to have them with "
                                          "SiFive's registers of before the "
                                          "specification");
    object_class_property_add_str(oc, "ntrace-topology", get_topology,
                                  set_topology);
    object_class_property_set_description(oc, "ntrace-topology",
                                          "How they are wired: direct, funnel, "
                                          "chain, pairs, split, pib, atb, p550 "
                                          "or k3");
    ntrace_variant_properties(oc);
    object_class_property_add_str(oc, "ntrace-remote", get_remote, set_remote);
    object_class_property_set_description(oc, "ntrace-remote",
                                          "unix:PATH of a server that has the "
                                          "trace blocks");
    object_class_property_add(oc, "ntrace-memory", "size", get_memory,
                              set_memory, NULL, NULL);
    object_class_property_set_description(oc, "ntrace-memory",
                                          "Memory set aside for trace, a "
                                          "reserved-memory node of the device "
                                          "tree; needs 1.25 GiB of RAM");
}
