// SPDX-License-Identifier: GPL-2.0-only
/*
 * CoreSight components of Arm. What all have in common: the lock, and claim tags, by which a
 * debugger and software on this machine agree who uses a component (CoreSight Architecture, "Claim
 * tags").
 *
 * The dynamic funnel has several ATB inputs and one output. It may switch between inputs inside a
 * message; the ID that the bridge before an input gives its trace tells them apart. It has one
 * register of interest, and neither a reset nor a sign that it is empty: a flush of the sink takes
 * the rest of the trace out of it.
 *
 * The Trace Memory Controller (SoC-400 and later) is a FIFO in the middle of a path (ETF), or a
 * sink that writes to system memory (ETR).
 *
 * The ETR writes frames of a formatter, see split.c. The formatter holds back a frame until it is
 * full, and the components before it hold back some bytes. A flush takes all of that to memory and
 * completes the last frame with ID 0. So the ETR is flushed while the components before it are
 * still enabled, and stops at the end of the flush.
 *
 * The ETR has no interrupt here, and no count of rounds; the drain reads its memory while it runs,
 * as that of a RAM sink. It may have several bursts of writes in flight after the write pointer has
 * moved: a granule of the ring is one burst.
 */
#include <linux/bitfield.h>
#include <linux/device.h>
#include <linux/ktime.h>
#include <linux/processor.h>

#include <ntrace/coresight.h>

#include "component.h"

/* Tags that may say who uses a component; others have no agreed meaning. */
#define NTRACE_CLAIM_TAGS	(CS_CLAIM_EXTERNAL | CS_CLAIM_SELF_HOSTED)

/* An input is served for at least this many transfers, plus one, so that switches are rare. */
#define NTRACE_FUNNEL_HOLD	7

/* Transfers in a burst, see TMC_AXICTL. */
#define NTRACE_TMC_BURST	16

/* Frames, and flushes when an input or a trigger asks for one; a trigger marks the trace. */
#define NTRACE_TMC_FFCR_ETR	(TMC_FFCR_ENABLE_FORMATTING | TMC_FFCR_ENABLE_TRIGGERS | \
				 TMC_FFCR_FLUSH_ON_FLUSH_IN | TMC_FFCR_FLUSH_ON_TRIGGER | \
				 TMC_FFCR_TRIGGER_ON_TRIGGER_IN)
#define NTRACE_TMC_FFCR_ETF	(TMC_FFCR_ENABLE_FORMATTING | TMC_FFCR_ENABLE_TRIGGERS)

/* Lets a component accept writes; without a lock nothing happens. */
static void ntrace_coresight_unlock(struct ntrace_component *component)
{
	ntrace_write(component, CS_LAR, CS_LAR_UNLOCK);
}

/* Tells whether a debugger has claimed a component. */
static bool ntrace_coresight_is_external(const struct ntrace_component *component)
{
	return ntrace_read(component, CS_CLAIMCLR) & CS_CLAIM_EXTERNAL;
}

/*
 * Unlocks a component and sets the tag of self-hosted use. A tag that was set before is that of an
 * earlier kernel. A debugger may set its tag at the same time, so the tags are read again.
 * Return: 0, or -EBUSY if a debugger has claimed the component.
 */
static int ntrace_coresight_claim(struct ntrace_component *component)
{
	u32 tags;

	ntrace_coresight_unlock(component);
	if (!ntrace_coresight_is_external(component)) {
		ntrace_write(component, CS_CLAIMSET, CS_CLAIM_SELF_HOSTED);
		if (!ntrace_coresight_is_external(component))
			return 0;
	}
	tags = ntrace_read(component, CS_CLAIMCLR);
	ntrace_write(component, CS_CLAIMCLR, CS_CLAIM_SELF_HOSTED);
	dev_err_ratelimited(component->dev, "a debugger uses it (claim tags 0x%x)\n",
			    tags & NTRACE_CLAIM_TAGS);
	return -EBUSY;
}

/* Undoes ntrace_coresight_claim(). */
static void ntrace_coresight_release(struct ntrace_component *component)
{
	ntrace_write(component, CS_CLAIMCLR, CS_CLAIM_SELF_HOSTED);
	ntrace_write(component, CS_LAR, 0);
}

/* ---- funnel ---- */

static int ntrace_armfunnel_program(struct ntrace_component *component,
				    const struct ntrace_config *config)
{
	/* All inputs have the same priority. */
	ntrace_write(component, CS_FUNNEL_PRIORITY, 0);
	return 0;
}

/* The inputs of components that the driver does not know stay disabled. */
static int ntrace_armfunnel_start(struct ntrace_component *component, bool atomic)
{
	ntrace_write(component, CS_FUNNEL_CONTROL,
		     FIELD_PREP(CS_FUNNEL_CONTROL_HOLD_MASK, NTRACE_FUNNEL_HOLD) |
			     component->port.inputs);
	return 0;
}

static int ntrace_armfunnel_stop(struct ntrace_component *component, bool atomic)
{
	ntrace_write(component, CS_FUNNEL_CONTROL, 0);
	return 0;
}

static const struct ntrace_ops ntrace_armfunnel_ops = {
	.program = ntrace_armfunnel_program,
	.start = ntrace_armfunnel_start,
	.stop = ntrace_armfunnel_stop,
};

static int ntrace_armfunnel_identify(struct ntrace_component *component)
{
	u32 ports = ntrace_graph_ports(component->dev->of_node, "in-ports");

	component->type = TR_COMP_TYPE_FUNNEL;
	component->impl = ntrace_read(component, CS_DEVID);
	component->port.inputs = ports & CS_FUNNEL_CONTROL_PORTS_MASK;
	component->ops = &ntrace_armfunnel_ops;
	component->is_link = true;
	component->merges = true;
	if (!component->port.inputs || ports != component->port.inputs)
		return ntrace_component_refuse(component, "has no usable \"in-ports\"");
	return 0;
}

static int ntrace_armfunnel_reset(struct ntrace_component *component)
{
	int ret = ntrace_coresight_claim(component);

	if (ret)
		return ret;
	component->inactive = false;
	ntrace_write(component, CS_FUNNEL_CONTROL, 0);
	return 0;
}

static bool ntrace_armfunnel_is_running(const struct ntrace_component *component)
{
	return ntrace_read(component, CS_FUNNEL_CONTROL) & CS_FUNNEL_CONTROL_PORTS_MASK;
}

/* The funnel of a debugger is left alone. Return: 0 if the funnel was idle, 1 if it was stopped. */
static int ntrace_armfunnel_quiesce(struct ntrace_component *component)
{
	if (ntrace_coresight_is_external(component) || !ntrace_armfunnel_is_running(component))
		return 0;
	ntrace_coresight_unlock(component);
	ntrace_write(component, CS_FUNNEL_CONTROL, 0);
	return 1;
}

static int ntrace_armfunnel_off(struct ntrace_component *component)
{
	if (component->inactive)
		return 0;
	ntrace_write(component, CS_FUNNEL_CONTROL, 0);
	ntrace_coresight_release(component);
	component->inactive = true;
	return 0;
}

const struct ntrace_layout ntrace_layout_armfunnel = {
	.identify = ntrace_armfunnel_identify,
	.reset = ntrace_armfunnel_reset,
	.quiesce = ntrace_armfunnel_quiesce,
	.is_running = ntrace_armfunnel_is_running,
	.off = ntrace_armfunnel_off,
	.control = CS_FUNNEL_CONTROL,
};

/* ---- Trace Memory Controller ---- */

static const char *ntrace_tmc_name(const struct ntrace_component *component)
{
	return component->is_link ? "ETF" : "ETR";
}

static int ntrace_tmc_await_ready(struct ntrace_component *component, bool atomic)
{
	return ntrace_component_poll(component, TMC_STS, TMC_STS_READY, TMC_STS_READY, atomic,
				     NULL);
}

/* Flushes the components before it and itself, then stops. It stays enabled. */
static int ntrace_tmc_flush_and_stop(struct ntrace_component *component, bool atomic)
{
	u32 control = ntrace_read(component, TMC_FFCR) | TMC_FFCR_STOP_ON_FLUSH;

	ntrace_write(component, TMC_FFCR, control);
	ntrace_write(component, TMC_FFCR, control | TMC_FFCR_FLUSH);
	return ntrace_component_poll(component, TMC_FFCR, TMC_FFCR_FLUSH, 0, atomic, NULL) ?:
		       ntrace_tmc_await_ready(component, atomic);
}

static int ntrace_tmc_disable(struct ntrace_component *component, bool atomic)
{
	ntrace_write(component, TMC_CTL, 0);
	return ntrace_tmc_await_ready(component, atomic);
}

/* Return: 0 if it was idle, 1 if it was stopped, -ETIMEDOUT if it did not stop. */
static int ntrace_tmc_quiesce(struct ntrace_component *component)
{
	int ret, error;

	/* That of a debugger is left alone. */
	if (ntrace_coresight_is_external(component) ||
	    !(ntrace_read(component, TMC_CTL) & TMC_CTL_CAPTURE))
		return 0;
	ntrace_coresight_unlock(component);
	ret = ntrace_tmc_flush_and_stop(component, false);
	error = ntrace_tmc_disable(component, false);
	return ret ?: error ?: 1;
}

static int ntrace_tmc_reset(struct ntrace_component *component)
{
	int ret = ntrace_coresight_claim(component);

	if (ret)
		return ret;
	component->inactive = false;
	ret = ntrace_tmc_disable(component, false);
	if (ret)
		ntrace_err(component->dev, "%s is never ready (status 0x%08x)\n",
			   ntrace_tmc_name(component), ntrace_read(component, TMC_STS));
	return ret;
}

static bool ntrace_tmc_is_running(const struct ntrace_component *component)
{
	return ntrace_read(component, TMC_CTL) & TMC_CTL_CAPTURE ||
	       !(ntrace_read(component, TMC_STS) & TMC_STS_READY);
}

static int ntrace_tmc_off(struct ntrace_component *component)
{
	int stopped, ret;

	if (component->inactive)
		return 0;
	/* Even if it does not flush, switch it off as far as possible. */
	stopped = ntrace_tmc_quiesce(component);
	ret = ntrace_tmc_disable(component, false);
	if (ret) {
		ntrace_err(component->dev, "%s cannot be switched off\n",
			   ntrace_tmc_name(component));
		return ret;
	}
	if (stopped < 0)
		ntrace_err(component->dev, "%s did not stop, disabled\n",
			   ntrace_tmc_name(component));
	/* Its memory is about to be freed. */
	ntrace_write(component, TMC_DBALO, 0);
	ntrace_write(component, TMC_DBAHI, 0);
	ntrace_coresight_release(component);
	component->inactive = true;
	return 0;
}

/* ---- FIFO: ETF ---- */

static int ntrace_etf_program(struct ntrace_component *component,
			      const struct ntrace_config *config)
{
	u32 mode = ntrace_component_warl(component, TMC_MODE, TMC_MODE_HARDWARE_FIFO);

	ntrace_write(component, TMC_BUFWM, 0);
	return mode == TMC_MODE_HARDWARE_FIFO ? 0 : -EOPNOTSUPP;
}

static int ntrace_etf_start(struct ntrace_component *component, bool atomic)
{
	int ret = ntrace_tmc_await_ready(component, atomic);

	if (ret) {
		ntrace_err(component->dev, "ETF does not start (status 0x%08x)\n",
			   ntrace_read(component, TMC_STS));
		return ret;
	}
	ntrace_write(component, TMC_FFCR, NTRACE_TMC_FFCR_ETF);
	ntrace_write(component, TMC_CTL, TMC_CTL_CAPTURE);
	return 0;
}

/* The ETR has taken all trace out of it, and discards the rest of the formatter. */
static int ntrace_etf_stop(struct ntrace_component *component, bool atomic)
{
	int ret = ntrace_tmc_flush_and_stop(component, atomic);
	int error = ntrace_tmc_disable(component, atomic);

	if (ret || error)
		ntrace_err(component->dev, "ETF does not stop (status 0x%08x)\n",
			   ntrace_read(component, TMC_STS));
	return ret ?: error;
}

static const struct ntrace_ops ntrace_etf_ops = {
	.program = ntrace_etf_program,
	.start = ntrace_etf_start,
	.stop = ntrace_etf_stop,
};

/* ---- sink: ETR ---- */

/* A pointer may move between the reads of its halves: if the high half has changed, read again. */
static u64 ntrace_etr_read_pair(const struct ntrace_component *component, u32 low, u32 high)
{
	u32 before = ntrace_read(component, high);
	u32 value = ntrace_read(component, low);
	u32 after = ntrace_read(component, high);

	/* It changes once in a page at most, so the second time is good. */
	if (after != before)
		value = ntrace_read(component, low);
	return value | (u64)after << 32;
}

static u64 ntrace_etr_write_pair(struct ntrace_component *component, u32 low, u32 high, u64 value)
{
	ntrace_write(component, high, upper_32_bits(value));
	ntrace_write(component, low, lower_32_bits(value));
	return ntrace_etr_read_pair(component, low, high);
}

/*
 * Writes the address of the buffer. A sink that writes outside of its buffer corrupts memory
 * silently, so each register is read back.
 *
 * Return: 0, -EOPNOTSUPP, or -EIO if the sink would leave the buffer.
 */
static int ntrace_etr_program(struct ntrace_component *component,
			      const struct ntrace_config *config)
{
	struct ntrace_ramsink *sink = &component->ramsink;
	u32 mode, words;
	u32 access = TMC_AXICTL_PROT_NON_SECURE | TMC_AXICTL_CACHE_MASK | TMC_AXICTL_BURST_MASK;
	u64 start;

	/* A circular buffer never stops. */
	if (config->flags & NTRACE_CONFIG_STOP_ON_WRAP)
		return -EOPNOTSUPP;
	mode = ntrace_component_warl(component, TMC_MODE, TMC_MODE_CIRCULAR);
	words = ntrace_component_warl(component, TMC_RSZ, sink->buffer_size / sizeof(u32));
	access = ntrace_component_warl(component, TMC_AXICTL, access);
	start = ntrace_etr_write_pair(component, TMC_DBALO, TMC_DBAHI, sink->dma);
	/* If the sink took the address for that of a table, it would write to any page. */
	if (mode != TMC_MODE_CIRCULAR || words != sink->buffer_size / sizeof(u32) ||
	    start != sink->dma || access & TMC_AXICTL_SCATTER_GATHER) {
		ntrace_err(component->dev,
			   "buffer %pad + 0x%zx reads back as 0x%llx + 0x%llx, mode %u, AXI 0x%x\n",
			   &sink->dma, sink->buffer_size, start, (u64)words * sizeof(u32), mode,
			   access);
		return -EIO;
	}
	ntrace_ramsink_set_ring(sink, start, start + sink->buffer_size - sink->granule);
	return 0;
}

static bool ntrace_etr_position(const struct ntrace_component *component, u32 *position)
{
	const struct ntrace_ramsink *sink = &component->ramsink;
	u64 rwp = component->tmc.stopped ? component->tmc.rwp :
					   ntrace_etr_read_pair(component, TMC_RWP, TMC_RWPHI);

	if (rwp - sink->ring_dma >= sink->ring_size)
		return false;
	*position = round_down(rwp - sink->ring_dma, TMC_FRAME_BYTES);
	return true;
}

static int ntrace_etr_start(struct ntrace_component *component, bool atomic)
{
	struct ntrace_ramsink *sink = &component->ramsink;
	u32 position;
	int ret;

	ret = ntrace_tmc_await_ready(component, atomic);
	if (ret)
		goto err;
	ntrace_write(component, TMC_FFCR, NTRACE_TMC_FFCR_ETR);
	ntrace_write(component, TMC_TRG, 0);
	if (component->tmc.sets_pointers) {
		ntrace_etr_write_pair(component, TMC_RRP, TMC_RRPHI, sink->ring_dma);
		if (ntrace_etr_write_pair(component, TMC_RWP, TMC_RWPHI, sink->ring_dma) !=
		    sink->ring_dma) {
			ret = -EIO;
			goto err;
		}
		ntrace_write(component, TMC_STS, 0);
	}
	/* The others begin at the start of the buffer when they are enabled. */
	ntrace_write(component, TMC_CTL, TMC_CTL_CAPTURE);
	component->tmc.stopped = false;
	ret = ntrace_etr_position(component, &position) && !position ? 0 : -EIO;
	if (ret)
		ntrace_write(component, TMC_CTL, 0);
err:
	if (ret)
		ntrace_err(component->dev, "ETR does not start (status 0x%08x)\n",
			   ntrace_read(component, TMC_STS));
	return ret;
}

static void ntrace_etr_halt(struct ntrace_component *component)
{
	ntrace_write(component, TMC_CTL, 0);
}

/* A memory error is reported by the drain, by @failures. Return: 0 or -ETIMEDOUT. */
static int ntrace_etr_stop(struct ntrace_component *component, bool atomic)
{
	int ret = ntrace_tmc_flush_and_stop(component, atomic);

	/* Once it is disabled, its pointers are those of the next start. */
	component->tmc.rwp = ntrace_etr_read_pair(component, TMC_RWP, TMC_RWPHI);
	component->tmc.stopped = true;
	ntrace_etr_halt(component);
	if (!ret)
		ret = ntrace_tmc_await_ready(component, atomic);
	if (ret)
		ntrace_err(component->dev, "ETR does not stop (status 0x%08x)\n",
			   ntrace_read(component, TMC_STS));
	return ret;
}

/* Harts that share the sink go on: it does not stop. */
static bool ntrace_etr_flush(struct ntrace_component *component, u64 deadline)
{
	ntrace_write(component, TMC_FFCR, NTRACE_TMC_FFCR_ETR | TMC_FFCR_FLUSH);
	while (ntrace_read(component, TMC_FFCR) & TMC_FFCR_FLUSH) {
		if (ktime_get_mono_fast_ns() >= deadline)
			return false;
		cpu_relax();
	}
	return true;
}

static const struct ntrace_ops ntrace_etr_ops = {
	.program = ntrace_etr_program,
	.start = ntrace_etr_start,
	.stop = ntrace_etr_stop,
	.halt = ntrace_etr_halt,
	.flush = ntrace_etr_flush,
	.position = ntrace_etr_position,
};

static int ntrace_etr_identify(struct ntrace_component *component)
{
	struct ntrace_ramsink *sink = &component->ramsink;
	u32 width = 1U << FIELD_GET(TMC_DEVID_WIDTH_MASK, component->impl);
	u32 part = CS_PART(ntrace_read(component, CS_PIDR(0)), ntrace_read(component, CS_PIDR(1)));
	u32 high;

	component->type = TR_COMP_TYPE_RAM_SINK;
	ntrace_sink_setup(component, &ntrace_etr_ops);
	sink->framed = true;
	sink->wp = TMC_RWP;
	sink->status = TMC_STS;
	sink->failures = TMC_STS_MEM_ERR;
	ntrace_sink_set_granule(sink, max(width * NTRACE_TMC_BURST, TMC_FRAME_BYTES));
	component->tmc.sets_pointers = part == TMC_PART_600_ETR;
	high = ntrace_component_warl(component, TMC_DBAHI, TMC_ADDRESS_HIGH_MASK);
	ntrace_write(component, TMC_DBAHI, 0);
	return ntrace_ramsink_find_memory(component, high & TMC_ADDRESS_HIGH_MASK);
}

static int ntrace_tmc_identify(struct ntrace_component *component)
{
	component->impl = ntrace_read(component, CS_DEVID);
	switch (FIELD_GET(TMC_DEVID_TYPE_MASK, component->impl)) {
	case TMC_DEVID_TYPE_ETF:
		component->type = TR_COMP_TYPE_FUNNEL;
		component->ops = &ntrace_etf_ops;
		component->is_link = true;
		if (!ntrace_graph_is_connected(component->dev->of_node, "out-ports"))
			return ntrace_component_refuse(component, "has no \"out-ports\"");
		return 0;
	case TMC_DEVID_TYPE_ETR:
		return ntrace_etr_identify(component);
	default:
		return ntrace_component_refuse(component, "is no ETF and no ETR");
	}
}

const struct ntrace_layout ntrace_layout_tmc = {
	.identify = ntrace_tmc_identify,
	.reset = ntrace_tmc_reset,
	.quiesce = ntrace_tmc_quiesce,
	.is_running = ntrace_tmc_is_running,
	.off = ntrace_tmc_off,
	.control = TMC_CTL,
};
