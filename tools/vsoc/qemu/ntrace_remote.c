/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The trace components are in another process: remote.h describes the port. A
 * hart has a trace encoder here as well, which only passes blocks on.
 */
#include "qemu/osdep.h"
#include "qemu/cutils.h"
#include "qapi/error.h"
#include "qemu/error-report.h"
#include "qemu/timer.h"
#include <sys/un.h>
#include "exec/address-spaces.h"
#include "system/cpu-timers.h"
#include "system/reset.h"
#include "hw/boards.h"
#include "cpu.h"
#include "ntrace.h"
#include "ntrace/trace_control.h"
#include "remote.h"
#include "topology.h"

#define BLOCKS_MAX 1000 /* between two SYNC messages */

struct remote_hart {
    unsigned int index;
    CPUState *cpu;
    struct trace_encoder te;
    struct hart hart;
    bool active;
    uint64_t context;   /* in the last STATE */
    uint64_t stalled;
};

static struct {
    int fd;
    uint32_t sequence;
    unsigned int itype_bits;
    unsigned int fill;
    struct remote_message queue[BLOCKS_MAX + 8];
    struct remote_message in[256];
    unsigned int have, at;
    unsigned int harts;
    struct remote_hart *hart;
} port = { .fd = -1 };

bool ntrace_is_remote(void)
{
    return port.fd >= 0;
}

static G_NORETURN void fail(const char *what)
{
    error_report("ntrace-remote: %s", what);
    exit(1);
}

static void send_queue(void)
{
    const char *bytes = (const char *)port.queue;
    size_t left = port.fill * sizeof(port.queue[0]);

    if (left && qemu_write_full(port.fd, bytes, left) != left) {
        fail("the server has closed the connection");
    }
    port.fill = 0;
}

static void push(uint32_t op, uint32_t id, uint64_t a, uint64_t b, uint64_t c)
{
    port.queue[port.fill++] = (struct remote_message) {
        cpu_to_le32(op), cpu_to_le32(id), cpu_to_le64(a), cpu_to_le64(b),
        cpu_to_le64(c),
    };
}

static struct remote_message receive(void)
{
    struct remote_message *m;

    if (port.at == port.have) {
        char *to = (char *)port.in;
        size_t size = 0;

        do {
            ssize_t part = read(port.fd, to + size, sizeof(port.in) - size);

            if (part < 0 && errno == EINTR) {
                continue;
            }
            if (part <= 0) {
                fail("the server has closed the connection");
            }
            size += part;
        } while (size % sizeof(port.in[0]));
        port.have = size / sizeof(port.in[0]);
        port.at = 0;
    }
    m = &port.in[port.at++];
    return (struct remote_message) {
        le32_to_cpu(m->op), le32_to_cpu(m->id), le64_to_cpu(m->a),
        le64_to_cpu(m->b), le64_to_cpu(m->c),
    };
}

static struct remote_hart *hart_of(const struct remote_message *m)
{
    if (m->id >= port.harts) {
        error_report("ntrace-remote: message %u for hart %u, which does not "
                     "exist", m->op, m->id);
        exit(1);
    }
    return &port.hart[m->id];
}

/* Runs in the thread of the hart, between two blocks. */
static void activate_work(CPUState *cpu, run_on_cpu_data data)
{
    CPURISCVState *env = cpu_env(cpu);
    struct remote_hart *h = &port.hart[cpu->cpu_index];

    hart_finish(&h->hart, ntrace_pc(env), env->ntrace_mark);
    env->ntrace_mark = HART_MARK_NONE;
    trace_encoder_forward(&h->te, h->active);
    env->ntrace_on = h->active;
    if (h->active) {
        push(REMOTE_STATE, h->index, h->te.context, 0, 0);
        h->context = h->te.context;
    }
}

static void write_memory(const struct remote_message *m)
{
    uint64_t data[2] = { cpu_to_le64(m->b), cpu_to_le64(m->c) };

    if (!m->id || m->id > sizeof(data) ||
        address_space_write(&address_space_memory, m->a,
                            MEMTXATTRS_UNSPECIFIED, data,
                            m->id) != MEMTX_OK) {
        error_report("ntrace-remote: MEM: no %u bytes of memory at 0x%" PRIx64,
                     m->id, m->a);
        exit(1);
    }
}

static void carry_out(const struct remote_message *m)
{
    struct remote_hart *h;

    switch (m->op) {
    case REMOTE_MEM:
        write_memory(m);
        break;
    case REMOTE_ACTIVE:
        h = hart_of(m);
        h->active = m->a;
        async_run_on_cpu(h->cpu, activate_work, RUN_ON_CPU_NULL);
        break;
    case REMOTE_STALL:
        hart_of(m)->stalled += m->a;
        break;
    default:
        error_report("ntrace-remote: message %u is not one of MEM, ACTIVE, "
                     "STALL and the answer", m->op);
        exit(1);
    }
}

static void push_time(void)
{
    push(REMOTE_TIME, 0, ntrace_time(NULL, TR_TS_MODE_SYSTEM), 0, 0);
}

/* Sends a message, and returns the answer. */
static struct remote_message ask(uint32_t op, uint64_t a, uint64_t b,
                                 uint64_t c)
{
    uint32_t answer = op == REMOTE_SYNC ? REMOTE_SYNC : REMOTE_REPLY;
    uint32_t id = ++port.sequence;
    struct remote_message m;

    push_time();
    push(op, id, a, b, c);
    send_queue();
    for (;;) {
        m = receive();
        if (m.op == answer && m.id == id) {
            return m;
        }
        carry_out(&m);
    }
}

/* itype of a port with three bits: the encoder sees no direct jumps. */
static unsigned int narrow(unsigned int itype)
{
    switch (itype) {
    case NTRACE_ITYPE_DIRECT_CALL:
    case NTRACE_ITYPE_DIRECT_JUMP:
    case NTRACE_ITYPE_OTHER_DIRECT_JUMP:
        return NTRACE_ITYPE_NONE;
    default:
        return itype < 8 ? itype : 6;
    }
}

/* A block has retired; a write of scontext ends its block. */
static void forward(void *opaque, const struct ntrace_ingress *block,
                    uint64_t cause, uint64_t context)
{
    struct remote_hart *h = opaque;
    unsigned int itype = port.itype_bits == 3 ? narrow(block->itype) :
                                                block->itype;

    push(REMOTE_BLOCK,
         REMOTE_BLOCK_ID(block->iretire, itype, block->ilastsize, block->priv,
                         h->index),
         block->iaddr, 0, cause);
    if (context != h->context) {
        h->context = context;
        push(REMOTE_STATE, h->index, context, 0, 0);
    }
    if (port.fill >= BLOCKS_MAX) {
        ask(REMOTE_SYNC, 0, 0, 0);
    }
}

static const struct trace_encoder_ops forward_ops = { .forward = forward };

static uint64_t hart_number(void)
{
    return current_cpu ? current_cpu->cpu_index : 0;
}

static MemTxResult page_read(void *opaque, hwaddr offset, uint64_t *value,
                             unsigned size, MemTxAttrs attrs)
{
    const uint64_t *base = opaque;
    struct remote_message m = ask(REMOTE_READ, *base + offset, 0,
                                  hart_number());

    *value = (uint32_t)m.a;
    return m.b ? MEMTX_ERROR : MEMTX_OK;
}

static MemTxResult page_write(void *opaque, hwaddr offset, uint64_t value,
                              unsigned size, MemTxAttrs attrs)
{
    const uint64_t *base = opaque;
    struct remote_message m = ask(REMOTE_WRITE, *base + offset, value,
                                  hart_number());

    return m.b ? MEMTX_ERROR : MEMTX_OK;
}

static const MemoryRegionOps page_ops = {
    .read_with_attrs = page_read,
    .write_with_attrs = page_write,
    .endianness = DEVICE_LITTLE_ENDIAN,
    .valid = { .min_access_size = 4, .max_access_size = 4 },
};

static void complain(void *opaque, uint64_t iaddr, uint32_t block, uint64_t pc)
{
    error_report("ntrace-remote: block 0x%" PRIx64 " (0x%x) left at 0x%" PRIx64
                 ": trace lost, error of the machine", iaddr, block, pc);
}

static void reset(void *opaque)
{
    unsigned int i;

    for (i = 0; i < port.harts; i++) {
        struct remote_hart *h = &port.hart[i];
        CPURISCVState *env = cpu_env(h->cpu);

        trace_encoder_power_up(&h->te);
        h->hart.pending = false;
        h->active = false;
        env->ntrace_on = false;
        env->ntrace_mark = HART_MARK_NONE;
    }
    push(REMOTE_RESET, 0, 0, 0, 0);
    send_queue();
}

void ntrace_remote_create(MachineState *machine,
                          const struct topology *topology)
{
    static const struct trace_encoder_parameters parameters = {
        .xlen = 64,
        .icnt_bits = 22,
        .hist_bits = 31,
        .context_bits = 32,
    };
    unsigned int i;

    port.harts = machine->smp.cpus;
    port.hart = g_new0(struct remote_hart, port.harts);
    for (i = 0; i < port.harts; i++) {
        struct remote_hart *h = &port.hart[i];

        h->index = i;
        h->cpu = qemu_get_cpu(i);
        trace_encoder_init(&h->te, &parameters, &forward_ops, h);
        h->hart.te = &h->te;
        h->hart.complain = complain;
        cpu_env(h->cpu)->ntrace = &h->hart;
    }
    for (i = 0; i < topology->nodes; i++) {
        MemoryRegion *mr = g_new0(MemoryRegion, 1);
        uint64_t *base = g_memdup2(&topology->node[i].base, sizeof(*base));

        memory_region_init_io(mr, NULL, &page_ops, base, "ntrace-remote",
                              TR_COMPONENT_SIZE);
        memory_region_add_subregion(get_system_memory(), *base, mr);
    }
    ntrace_block_insns = REMOTE_BLOCK_INSTRUCTIONS;
    qemu_register_reset(reset, NULL);
}

static bool kind_of(uint32_t type, enum topology_kind *kind)
{
    static const struct {
        uint32_t type;
        enum topology_kind kind;
    } kinds[] = {
        { TR_COMP_TYPE_ENCODER, TOPOLOGY_ENCODER },
        { TR_COMP_TYPE_FUNNEL, TOPOLOGY_FUNNEL },
        { TR_COMP_TYPE_RAM_SINK, TOPOLOGY_RAM_SINK },
        { TR_COMP_TYPE_PIB_SINK, TOPOLOGY_PIB_SINK },
        { TR_COMP_TYPE_ATB_BRIDGE, TOPOLOGY_ATB_BRIDGE },
    };
    unsigned int i;

    for (i = 0; i < ARRAY_SIZE(kinds); i++) {
        if (kinds[i].type == type) {
            *kind = kinds[i].kind;
            return true;
        }
    }
    return false;
}

/* Reads a PAGE message. Return: NULL, or what is wrong with it. */
static const char *add_page(struct topology *topology, unsigned int harts)
{
    struct remote_message m = receive();
    enum topology_kind kind;

    if (m.op != REMOTE_PAGE) {
        return "HELLO announces more PAGE messages";
    }
    if (!kind_of(m.id, &kind)) {
        return "PAGE: id is no component type";
    }
    if (m.a < NTRACE_REMOTE_BASE || m.a >= NTRACE_REMOTE_END ||
        m.a % TR_COMPONENT_SIZE) {
        return "PAGE: the address is not that of a page in "
               "0x6000000..0x6ffffff";
    }
    if (kind == TOPOLOGY_ENCODER && m.b >= harts) {
        return "PAGE: an encoder of a hart that the machine does not have";
    }
    if (m.c != REMOTE_NONE && m.c >= topology->nodes) {
        return "PAGE: the component that it sends to does not come earlier";
    }
    if (kind == TOPOLOGY_ENCODER && m.c == REMOTE_NONE) {
        return "PAGE: an encoder that sends to no component";
    }
    return topology_add(topology, kind, m.b, m.a,
                        m.c == REMOTE_NONE ? TOPOLOGY_NONE : m.c) ?
           NULL : "too many components";
}

void ntrace_remote_connect(const char *name, unsigned int harts,
                           struct topology *topology)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    const char *path, *wrong = NULL;
    struct remote_message m;
    uint64_t i;

    if (!icount_enabled()) {
        fail("needs -icount shift=0");
    }
    if (!strstart(name, "unix:", &path) ||
        strlen(path) >= sizeof(address.sun_path)) {
        fail("the name must be unix:PATH, with less than 108 bytes");
    }
    strcpy(address.sun_path, path);
    port.fd = socket(AF_UNIX, SOCK_STREAM, 0);
    if (port.fd < 0 ||
        connect(port.fd, (struct sockaddr *)&address, sizeof(address)) < 0) {
        error_report("ntrace-remote: %s: %s: the server must run first", path,
                     strerror(errno));
        exit(1);
    }
    m = receive();
    if (m.op != REMOTE_HELLO || m.a != REMOTE_VERSION ||
        (m.b != 3 && m.b != 4)) {
        fail("the server does not begin with HELLO, version 1, and 3 or 4 bits "
             "of itype");
    }
    port.itype_bits = m.b;
    memset(topology, 0, sizeof(*topology));
    for (i = 0; i < m.c && !wrong; i++) {
        wrong = add_page(topology, harts);
    }
    if (wrong) {
        error_report("ntrace-remote: page %" PRIu64 ": %s", i - 1, wrong);
        exit(1);
    }
}
