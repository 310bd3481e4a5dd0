// SPDX-License-Identifier: GPL-2.0-only
/*
 * Registers of a Trace Memory Controller as the driver uses them. The controller of this test works
 * as the CoreSight TMC of SoC-400 is described: a lock, pointers that begin at the buffer when
 * capture is enabled, a flush that ends after some reads, Ready only when it is stopped. It notes
 * what the driver does in the wrong order.
 */
#include <tap.h>

#include <linux/dma-mapping.h>
#include <linux/of_reserved_mem.h>
#include <linux/slab.h>

#include "../../kernel/ntrace/coresight.c"
#include "host/machine.h"
#include "host/platform.h"

static struct machine machine;
static struct ntrace_component *const component = &machine.sink;
static struct ntrace_ramsink *const sink = &machine.sink.ramsink;
static u8 memory[65536];
static bool connected;
static u64 clock_ns;

static struct {
	u32 claims, devid, part;
	bool unlocked, capture, stopped, flushing;
	bool never_ready, never_flushed, loose_pointer;
	unsigned int reads; /* of FFCR, until the flush ends */
	u64 dba, rwp, rrp;
	u64 dba_keeps, rwp_keeps;
	u32 axictl_forced;
	u32 rsz, mode, axictl, ffcr, sts, bufwm;
	unsigned int locked_writes, busy_writes, flushes;
} hw;

static u8 page[TR_COMPONENT_SIZE];

static void finish_flush(void)
{
	hw.flushing = false;
	hw.flushes++;
	hw.rwp += TMC_FRAME_BYTES;
	hw.stopped |= hw.ffcr & TMC_FFCR_STOP_ON_FLUSH;
}

u32 readl(const void *address)
{
	switch ((const u8 *)address - page) {
	case CS_CLAIMCLR:
		return hw.claims;
	case CS_DEVID:
		return hw.devid;
	case CS_PIDR(0):
		return hw.part & 0xff;
	case CS_PIDR(1):
		return hw.part >> 8 | 0xb0;
	case TMC_RSZ:
		return hw.rsz;
	case TMC_STS:
		return hw.sts |
		       (!hw.never_ready && (!hw.capture || hw.stopped) ? TMC_STS_READY : 0);
	case TMC_CTL:
		return hw.capture;
	case TMC_MODE:
		return hw.mode;
	case TMC_AXICTL:
		return hw.axictl;
	case TMC_RWP:
		return (u32)hw.rwp;
	case TMC_RWPHI:
		return (u32)(hw.rwp >> 32);
	case TMC_DBALO:
		return (u32)hw.dba;
	case TMC_DBAHI:
		return (u32)(hw.dba >> 32);
	case TMC_FFCR:
		if (hw.flushing && !hw.never_flushed && !hw.reads--)
			finish_flush();
		return hw.ffcr | (hw.flushing ? TMC_FFCR_FLUSH : 0);
	default:
		return 0;
	}
}

static void set(u64 *value, u32 part, bool high)
{
	*value = high ? (u64)part << 32 | (u32)*value : (*value >> 32) << 32 | part;
}

static void write_pointers(size_t offset, u32 value)
{
	hw.busy_writes += hw.capture;
	switch (offset) {
	case TMC_RSZ:
		hw.rsz = value;
		break;
	case TMC_MODE:
		hw.mode = value;
		break;
	case TMC_AXICTL:
		hw.axictl = value | hw.axictl_forced;
		break;
	case TMC_BUFWM:
		hw.bufwm = value;
		break;
	case TMC_DBALO:
	case TMC_DBAHI:
		set(&hw.dba, value, offset == TMC_DBAHI);
		hw.dba &= hw.dba_keeps;
		break;
	case TMC_RRP:
	case TMC_RRPHI:
		set(&hw.rrp, value, offset == TMC_RRPHI);
		break;
	case TMC_RWP:
	case TMC_RWPHI:
		set(&hw.rwp, value, offset == TMC_RWPHI);
		hw.rwp &= hw.rwp_keeps;
		break;
	case TMC_STS:
		hw.sts = value;
		break;
	}
}

void writel(u32 value, void *address)
{
	size_t offset = (u8 *)address - page;

	if (offset == CS_LAR) {
		hw.unlocked = value == CS_LAR_UNLOCK;
		return;
	}
	if (!hw.unlocked) {
		hw.locked_writes++;
		return;
	}
	switch (offset) {
	case CS_CLAIMSET:
		hw.claims |= value;
		break;
	case CS_CLAIMCLR:
		hw.claims &= ~value;
		break;
	case TMC_CTL:
		if (value && !hw.capture) {
			hw.stopped = false;
			if (!hw.loose_pointer && hw.part != TMC_PART_600_ETR) {
				hw.rwp = hw.rrp = hw.dba;
				hw.sts = 0;
			}
		}
		hw.capture = value;
		break;
	case TMC_FFCR:
		hw.ffcr = value & ~TMC_FFCR_FLUSH;
		hw.flushing = value & TMC_FFCR_FLUSH && hw.capture && !hw.stopped;
		hw.reads = 2;
		break;
	default:
		write_pointers(offset, value);
	}
}

/* Each look at the clock takes a while. */
u64 ktime_get_mono_fast_ns(void)
{
	return clock_ns += 1000;
}

bool ntrace_graph_is_connected(const struct device_node *node, const char *ports_name)
{
	return connected;
}

u32 ntrace_graph_ports(const struct device_node *node, const char *ports_name)
{
	return 0;
}

int ntrace_ramsink_find_memory(struct ntrace_component *etr, u32 high)
{
	platform.mask = high;
	return 0;
}

void ntrace_ramsink_set_ring(struct ntrace_ramsink *etr, u64 start, u64 limit)
{
	etr->ring = etr->buffer;
	etr->ring_dma = start;
	etr->last = (u32)(limit - start);
	etr->ring_size = etr->last + etr->granule;
}

static void fresh(u32 type)
{
	machine_init(&machine, 0, 0);
	(memset)(&hw, 0, sizeof(hw));
	hw.devid = type << TMC_DEVID_TYPE_SHIFT | 3 << TMC_DEVID_WIDTH_SHIFT;
	hw.part = 0x961;
	hw.dba_keeps = (1ull << 40) - 1;
	hw.rwp_keeps = hw.dba_keeps;
	component->base = page;
	component->layout = &ntrace_layout_tmc;
	connected = true;
	machine_logged = 0;
}

/* An ETR with a buffer above 4 GiB, as the memory of a K3 is. */
static void with_buffer(void)
{
	fresh(TMC_DEVID_TYPE_ETR);
	ntrace_tmc_reset(component);
	ntrace_tmc_identify(component);
	sink->buffer = memory;
	sink->buffer_size = sizeof(memory);
	sink->dma = 0x1fff00000;
}

static void test_identify(void)
{
	fresh(TMC_DEVID_TYPE_ETR);
	is_u64(ntrace_tmc_reset(component), 0, "ETR: reset");
	is_u64(ntrace_tmc_identify(component), 0, "identified");
	ok(ntrace_component_has_memory(component) && sink->framed, "it writes frames to memory");
	is_u64(sink->granule, 128, "a granule is a burst of sixteen times 64 bits");
	is_hex(platform.mask, 0xff, "its addresses have 40 bits");
	is_u64(hw.locked_writes, 0, "it was unlocked before");
	fresh(TMC_DEVID_TYPE_ETF);
	ntrace_tmc_reset(component);
	ok(!ntrace_tmc_identify(component) && component->is_link &&
		   !ntrace_component_is_sink(component),
	   "ETF: a component in the middle");
	connected = false;
	is_u64((u64)ntrace_tmc_identify(component), (u64)-EOPNOTSUPP, "refused without a way out");
	fresh(0);
	ntrace_tmc_reset(component);
	is_u64((u64)ntrace_tmc_identify(component), (u64)-EOPNOTSUPP, "an ETB is refused");
}

static void test_claim(void)
{
	fresh(TMC_DEVID_TYPE_ETR);
	hw.claims = CS_CLAIM_EXTERNAL;
	hw.capture = true;
	is_u64(ntrace_tmc_quiesce(component), 0, "found running, of a debugger");
	ok(hw.capture, "it is left alone");
	is_u64((u64)ntrace_tmc_reset(component), (u64)-EBUSY, "reset: EBUSY");
	is_str(machine_log, "a debugger uses it (claim tags 0x1)\n", "and the log says so");
	ok(hw.capture && hw.claims == CS_CLAIM_EXTERNAL, "nothing has changed");
	hw.claims = CS_CLAIM_SELF_HOSTED;
	is_u64(ntrace_tmc_reset(component), 0, "the tag of an earlier kernel is no obstacle");
	is_u64(ntrace_tmc_off(component), 0, "off");
	ok(!hw.claims && !hw.unlocked, "gives the claim back, and locks it");
	hw.claims = CS_CLAIM_EXTERNAL;
	is_u64(ntrace_tmc_off(component), 0, "off again: it is not touched");
}

static void test_quiesce(void)
{
	fresh(TMC_DEVID_TYPE_ETR);
	is_u64(ntrace_tmc_quiesce(component), 0, "idle");
	hw.capture = true;
	/* The polls of this test do not repeat. */
	hw.never_flushed = true;
	is_u64((u64)ntrace_tmc_quiesce(component), (u64)-ETIMEDOUT, "running, and does not flush");
	ok(!hw.capture, "it is disabled all the same");
}

static void test_program(void)
{
	struct ntrace_config config = { .mode = 0 };

	with_buffer();
	is_u64(ntrace_etr_program(component, &config), 0, "programmed");
	is_hex(hw.dba, 0x1fff00000, "the address of the buffer");
	is_u64(hw.rsz, sizeof(memory) / 4, "its size in words");
	is_hex(hw.axictl, 0xf3e, "bursts of 16, not secure, not scattered");
	is_u64(sink->ring_size, sizeof(memory), "the ring is the buffer");
	hw.dba_keeps = U32_MAX;
	is_u64((u64)ntrace_etr_program(component, &config), (u64)-EIO,
	       "an address that does not read back is refused");
	/* An address that the ETR takes for that of a table. */
	hw.dba_keeps = (1ull << 40) - 1;
	hw.axictl_forced = TMC_AXICTL_SCATTER_GATHER;
	is_u64((u64)ntrace_etr_program(component, &config), (u64)-EIO,
	       "a buffer that it takes for a table is refused");
	hw.axictl_forced = 0;
	config.flags = NTRACE_CONFIG_STOP_ON_WRAP;
	is_u64((u64)ntrace_etr_program(component, &config), (u64)-EOPNOTSUPP,
	       "it does not stop when it is full");
	is_u64(hw.locked_writes + hw.busy_writes, 0, "all writes were accepted");
}

static void test_run(u32 part)
{
	struct ntrace_config config = { .mode = 0 };
	u32 position = 1;

	with_buffer();
	hw.part = part;
	ntrace_tmc_identify(component);
	ntrace_etr_program(component, &config);
	hw.rwp = 0x1234;
	hw.sts = TMC_STS_FULL;
	is_u64(ntrace_etr_start(component, true), 0, "part %x: START", part);
	ok(hw.capture && hw.ffcr == 0x133, "it captures, with the formatter");
	ok(ntrace_etr_position(component, &position) && !position, "from the start of the buffer");
	hw.rwp = hw.dba + 0x1008;
	ok(ntrace_etr_position(component, &position) && position == 0x1000,
	   "the position is that of a whole frame");
	hw.rwp = hw.dba + sizeof(memory);
	ok(!ntrace_etr_position(component, &position), "the end is outside");
	hw.rwp = hw.dba - 16;
	ok(!ntrace_etr_position(component, &position), "what is before it as well");
	hw.rwp = 0xfff00000;
	ok(!ntrace_etr_position(component, &position), "and the same address below 4 GiB");
	hw.rwp = hw.dba + 0x1000;
	ok(ntrace_etr_flush(component, clock_ns + 100000) && hw.flushes == 1 && hw.capture &&
		   !hw.stopped,
	   "a flush, and it goes on");
	hw.never_flushed = true;
	ok(!ntrace_etr_flush(component, clock_ns + 100000), "a flush that does not end: gives up");
	hw.flushing = false;
	hw.never_flushed = false;
	/* The polls of this test do not repeat: the flush ends at the first read. */
	hw.stopped = true;
	is_u64(ntrace_etr_stop(component, true), 0, "STOP");
	ok(!hw.capture, "it is disabled");
	hw.rwp = 0;
	ok(ntrace_etr_position(component, &position) && position == 0x1010,
	   "its last position is kept");
	is_u64(ntrace_etr_start(component, true), 0, "START again");
	ok(ntrace_etr_position(component, &position) && !position, "from the start");
	hw.never_flushed = true;
	is_u64((u64)ntrace_etr_stop(component, true), (u64)-ETIMEDOUT,
	       "a flush that does not end: STOP: ETIMEDOUT");
	ok(!hw.capture, "it is disabled all the same");
	is_u64(hw.locked_writes + hw.busy_writes, 0, "all writes were accepted");
	hw.never_ready = true;
	is_u64((u64)ntrace_etr_start(component, true), (u64)-ETIMEDOUT, "never ready: START");
	hw.never_ready = false;
	hw.loose_pointer = true;
	if (part != TMC_PART_600_ETR) {
		hw.rwp = hw.dba + 64;
		is_u64((u64)ntrace_etr_start(component, true), (u64)-EIO,
		       "a pointer that does not begin at the buffer: START: EIO");
		ok(!hw.capture, "it is disabled");
	} else {
		hw.rwp_keeps = U32_MAX;
		is_u64((u64)ntrace_etr_start(component, true), (u64)-EIO,
		       "a pointer that cannot be set: START: EIO");
		ok(!hw.capture, "it was not enabled");
	}
}

static void test_fifo(void)
{
	fresh(TMC_DEVID_TYPE_ETF);
	ntrace_tmc_reset(component);
	ntrace_tmc_identify(component);
	is_u64(component->ops->program(component, NULL), 0, "ETF: programmed");
	is_u64(hw.mode, TMC_MODE_HARDWARE_FIFO, "as a FIFO");
	is_u64(component->ops->start(component, true), 0, "START");
	ok(hw.capture && hw.ffcr == 3, "with the formatter");
	hw.never_flushed = true;
	is_u64((u64)component->ops->stop(component, true), (u64)-ETIMEDOUT,
	       "a flush that does not end: STOP: ETIMEDOUT");
	ok(!hw.capture, "it is disabled all the same");
	hw.never_ready = true;
	is_u64((u64)component->ops->start(component, true), (u64)-ETIMEDOUT, "never ready: START");
	is_str(machine_log, "ntrace device: ETF does not start (status 0x00000000)\n",
	       "and the log says so");
}

int main(void)
{
	test_identify();
	test_claim();
	test_quiesce();
	test_program();
	test_run(0x961);
	test_run(TMC_PART_600_ETR);
	test_fifo();
	return done_testing();
}
