/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * RISC-V trace blocks of the virt machine: an N-Trace encoder per hart, sinks,
 * and funnels between them (RISC-V Trace Control Interface 1.0), and the Arm
 * CoreSight components that some SoCs have after them. These files
 * are glue only: model/ and lib/ implement the blocks, and do not depend on
 * QEMU.
 */
#ifndef HW_RISCV_NTRACE_H
#define HW_RISCV_NTRACE_H

#include "hw/boards.h"
#include "hw/sysbus.h"
#include "hw/core/cpu.h"
#include "qemu/thread.h"
#include "arm_funnel.h"
#include "funnel.h"
#include "hart.h"
#include "port_sink.h"
#include "ram_sink.h"
#include "tmc.h"
#include "variant.h"
#include "v0_page.h"
#include "ntrace_helper.h"

#define TYPE_NTRACE_ENCODER "ntrace-encoder"
#define TYPE_NTRACE_FUNNEL "ntrace-funnel"
#define TYPE_NTRACE_RAM_SINK "ntrace-ram-sink"
#define TYPE_NTRACE_PORT_SINK "ntrace-port-sink"
#define TYPE_NTRACE_PIB_SINK "ntrace-pib-sink"
#define TYPE_NTRACE_ATB_BRIDGE "ntrace-atb-bridge"
#define TYPE_NTRACE_ARM_FUNNEL "ntrace-arm-funnel"
#define TYPE_NTRACE_TMC "ntrace-tmc"
#define TYPE_NTRACE_ETF "ntrace-etf"
#define TYPE_NTRACE_ETR "ntrace-etr"
#define TYPE_NTRACE_V0 "ntrace-v0"
OBJECT_DECLARE_SIMPLE_TYPE(NTraceEncoder, NTRACE_ENCODER)
OBJECT_DECLARE_SIMPLE_TYPE(NTraceFunnel, NTRACE_FUNNEL)
OBJECT_DECLARE_SIMPLE_TYPE(NTraceRamSink, NTRACE_RAM_SINK)
OBJECT_DECLARE_SIMPLE_TYPE(NTracePortSink, NTRACE_PORT_SINK)
OBJECT_DECLARE_SIMPLE_TYPE(NTraceArmFunnel, NTRACE_ARM_FUNNEL)
OBJECT_DECLARE_SIMPLE_TYPE(NTraceTmc, NTRACE_TMC)
OBJECT_DECLARE_SIMPLE_TYPE(NTraceV0, NTRACE_V0)

/*
 * An unused range in the memory map of the virt machine, with room for 64
 * harts.
 */
#define NTRACE_ENCODER_BASE 0x6000000
#define NTRACE_RAM_SINK_BASE 0x6040000
#define NTRACE_FUNNEL_BASE 0x6080000
#define NTRACE_PIB_SINK_BASE 0x60c0000
#define NTRACE_ATB_BRIDGE_BASE 0x60c1000
#define NTRACE_ARM_FUNNEL_BASE 0x6100000
#define NTRACE_ETF_BASE 0x6101000
#define NTRACE_ETR_BASE 0x6102000

/* Default of the property timestamp-bits: 48; version 0: 40, as in a P550. */
#define NTRACE_TIMESTAMP_BITS_DEFAULT UINT32_MAX

/* Default of the property src-bits-max: 4; in a K3: 12. */
#define NTRACE_SRC_BITS_DEFAULT UINT32_MAX

static inline uint32_t ntrace_timestamp_bits(uint32_t bits, bool v0)
{
    return bits != NTRACE_TIMESTAMP_BITS_DEFAULT ? bits : v0 ? 40 : 48;
}

struct NTraceRamSink {
    SysBusDevice parent_obj;
    MemoryRegion mmio;

    /* Held during each message and each register access. */
    QemuSpin lock;
    struct ram_sink sink;
    uint8_t *mapped;
    uint64_t mapped_address;
    uint64_t mapped_size;
    bool unmap_due;
    const NTraceFunnel *gate;   /* funnel that may gate its clock, or NULL */
    uint64_t reported;          /* bytes outside the buffer, in the last message */

    uint32_t index;
    char *kind;
    uint32_t sram_size;
    uint32_t granule;
    /* Choices of ntrace_choice() */
    char *granule_choice;
    char *granule_hidden;
    char *granule_property;
    char *wrap_cleared;
    uint32_t in_flight;
    uint32_t address_bits;
    bool power_of_two;
    bool active_at_reset;
    uint64_t reset_start;
    uint64_t reset_size;
    char *fault;
    char *log_name;
    FILE *log;
    Notifier shutdown;
};

struct NTracePortSink {
    SysBusDevice parent_obj;
    MemoryRegion mmio;

    /* Held during each message and each register access. */
    QemuSpin lock;
    struct port_sink sink;
    struct trace_port out;      /* of an ATB bridge, or empty */

    uint32_t type;              /* TR_COMP_TYPE_... */
    uint32_t index;
    uint32_t modes;
    uint32_t divider_max;
    uint32_t id;
    char *fault;
    char *output_name;
    FILE *output;
    char *log_name;
    FILE *log;
    Notifier shutdown;
};

struct NTraceFunnel {
    SysBusDevice parent_obj;
    MemoryRegion mmio;

    /* Held during each message and each register access. */
    QemuSpin lock;
    struct funnel funnel;
    struct trace_port out;
    NTraceFunnel *clock;        /* provides the shared time, or NULL */

    /* Set by the machine: number of inputs that DisInput implements. */
    uint32_t inputs;
    bool v0;
    uint32_t index;
    uint32_t buffer;
    uint32_t timestamp_bits;
    bool active_at_reset;
    char *fault;
    char *log_name;
    FILE *log;
    Notifier shutdown;
};

struct NTraceEncoder {
    SysBusDevice parent_obj;
    MemoryRegion mmio;

    struct trace_encoder te;
    struct hart hart;
    CPUState *cpu;
    struct trace_port out[TRACE_PORTS_MAX];
    unsigned int outs;
    NTraceFunnel *clock;        /* provides the shared time, or NULL */
    NTracePortSink *bridge;     /* ATB bridge that it sends to, or NULL */
    QEMUTimer *power;           /* looks whether the hart is off */

    uint32_t index;
    uint32_t src_bits_max;
    uint32_t icnt_bits;
    uint32_t hist_bits;
    uint32_t implicit_return;
    bool repeated_history;
    uint32_t filters;
    uint32_t comparators;
    uint32_t triggers;
    uint32_t scontext_bits;
    bool scontext_closed;
    uint32_t timestamp_bits;
    char *timestamps;
    uint32_t fifo;
    uint32_t bandwidth;
    uint32_t fault_drop;
    bool v0;
    bool k3;
    bool managed;
    bool active_at_reset;
    char *fault;
    char *log_name;
    FILE *log;
    Notifier shutdown;

    /* Control Transfer Records */
    struct ctr_check ctr_check;
    char *ctr_check_name;
    FILE *ctr_log;
    uint64_t ctr_check_mutate;
    char *ctr_depths;
    char *ctr_control;
    bool ctr_details;
    bool ctr_draft;
};

struct NTraceArmFunnel {
    SysBusDevice parent_obj;
    MemoryRegion mmio;

    /* Held during each transfer and each register access. */
    QemuSpin lock;
    struct arm_funnel funnel;
    struct trace_port out;

    uint32_t inputs;            /* set by the machine */
    uint32_t index;
    char *log_name;
    FILE *log;
    Notifier shutdown;
};

struct NTraceTmc {
    SysBusDevice parent_obj;
    MemoryRegion mmio;

    /* Held during each transfer and each register access. */
    QemuSpin lock;
    struct tmc tmc;
    struct trace_port out;      /* of an ETF */
    GPtrArray *upstream;        /* what a flush empties, sources first */
    uint8_t *ram;               /* the guest's, which has the buffer */
    uint64_t ram_address;
    uint64_t ram_size;

    uint32_t type;              /* TMC_DEVID_TYPE_... */
    uint32_t index;
    uint32_t fifo_size;
    char *fault;
    char *log_name;
    FILE *log;
    Notifier shutdown;
};

struct NTraceV0 {
    SysBusDevice parent_obj;
    MemoryRegion mmio;

    struct v0_page page;
    NTraceEncoder *encoder;     /* or */
    NTraceFunnel *funnel;
    NTraceRamSink *sink;        /* NULL if the encoder sends to a funnel */
};

/* Return the input of a component, for a component that sends to it. */
struct trace_port ntrace_ram_sink_port(NTraceRamSink *s);
struct trace_port ntrace_port_sink_port(NTracePortSink *s);
struct trace_port ntrace_funnel_port(NTraceFunnel *s, unsigned int input);
struct trace_port ntrace_arm_funnel_port(NTraceArmFunnel *s,
                                         unsigned int input);
struct trace_port ntrace_tmc_port(NTraceTmc *s);

/* Send all bytes that a component holds, for a flush of the ATB. */
void ntrace_port_sink_flush(NTracePortSink *s);
void ntrace_funnel_flush(NTraceFunnel *s);
/* The block loses its registers with its power. */
void ntrace_port_sink_lose(NTracePortSink *s);
void ntrace_funnel_lose(NTraceFunnel *s);
void ntrace_arm_funnel_flush(NTraceArmFunnel *s);

/* Adds a component that a flush of the TMC empties, after those before it. */
void ntrace_tmc_add_upstream(NTraceTmc *s, DeviceState *dev);

/* Sends an Ownership message of version 0; called with the BQL held. */
void ntrace_encoder_own(NTraceEncoder *s, uint32_t id);

/* Returns the time of an enum TR_TS_MODE; @clock provides the shared time. */
uint64_t ntrace_time(NTraceFunnel *clock, unsigned int mode);

bool ntrace_ctr_realize(NTraceEncoder *s, Error **errp);
void ntrace_ctr_reset(NTraceEncoder *s);
void ntrace_ctr_shutdown(NTraceEncoder *s);

/*
 * The choice for one of several devices of a type. @text: VALUE, or
 * VALUE@INDEX for the device with that index alone; several joined by +, of
 * which the last one that fits counts. Return: a copy of it, or NULL
 */
char *ntrace_choice(const char *text, uint32_t index);
/*
 * The same for the property @name with the values on and off; without a choice
 * leaves @chosen alone. Return: false with @errp set for another value.
 */
bool ntrace_chosen(const char *name, const char *text, uint32_t index,
                   bool *chosen, Error **errp);
uint32_t ntrace_faults(const char *text, uint32_t index, Error **errp);
FILE *ntrace_log_open(const char *name, Error **errp);
void ntrace_log(FILE *log, const char *component, uint32_t index,
                const char *event, uint32_t value);

/*
 * Components in another process, see remote.h. Connecting sets @topology; both
 * end QEMU with a message if the server does something wrong.
 */
#define NTRACE_REMOTE_BASE 0x6000000
#define NTRACE_REMOTE_END 0x7000000
struct topology;
void ntrace_remote_connect(const char *name, unsigned int harts,
                           struct topology *topology);
void ntrace_remote_create(MachineState *machine,
                          const struct topology *topology);
bool ntrace_is_remote(void);

/* What the machine's property ntrace-variant selects */
const struct variant *ntrace_variant(void);
void ntrace_variant_properties(ObjectClass *oc);
/* Prints the choices of all blocks, as a text for the property. */
void ntrace_variant_report(const struct topology *topology, DeviceState **dev);

/* Called by the virt machine. */
void ntrace_class_properties(ObjectClass *oc);
bool ntrace_wanted(MachineState *machine);
void ntrace_create(MachineState *machine);
void ntrace_create_fdt(MachineState *machine, uint32_t *phandle);

#endif
