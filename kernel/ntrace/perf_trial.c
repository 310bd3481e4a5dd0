// SPDX-License-Identifier: GPL-2.0-only
/*
 * Does the privilege filter of an encoder work? Its registers may read back and filter nothing. So
 * before the first event of a user without CAP_PERFMON, the hart runs the same code of the kernel
 * and of the firmware twice: a filter for supervisor mode must leave trace of it, one for user mode
 * must not. That is done once, when no event is traced on the hart: other events lose nothing.
 *
 * Each call in this code makes a message, because its target is known only when it is executed.
 * The sink may add idle bytes up to the width of a write, which count as trace.
 */
#include <linux/compiler.h>

#include <asm/sbi.h>

#include "path.h"
#include "perf_parts.h"

/* Bytes of messages without any instruction: start, stop, context, time. */
#define NTRACE_TRIAL_SILENCE	64
/* Calls into the firmware, where each takes hundreds of instructions. */
#define NTRACE_TRIAL_FIRMWARE	4

static noinline void ntrace_trial_one(void)
{
	barrier();
}

static noinline void ntrace_trial_other(void)
{
	barrier();
}

static void ntrace_trial_run(u32 calls)
{
	void (*target)(void) = ntrace_trial_one;
	u32 i;

	for (i = 0; i < NTRACE_TRIAL_FIRMWARE; i++)
		sbi_probe_extension(SBI_EXT_BASE);
	/* In no order: a message that repeats may become a count. */
	for (i = 0; i < calls; i++) {
		/* Not known to the compiler: a call through a register. */
		OPTIMIZER_HIDE_VAR(target);
		target();
		target = i * 0x9e3779b9 >> 31 ? ntrace_trial_one : ntrace_trial_other;
	}
}

/* The most bytes that are silence. */
static u32 ntrace_trial_most(const struct ntrace_path *path)
{
	return NTRACE_TRIAL_SILENCE + path->component[path->count - 1]->ramsink.reach;
}

/* Return: bytes of trace, or a negative error. */
static s64 ntrace_trial_trace(struct ntrace_path *path, u32 privilege)
{
	struct ntrace_component *encoder = ntrace_path_encoder(path);
	struct ntrace_config config = { .privilege = privilege };
	struct ntrace_feed *feed = &path->capture->feed;
	u64 before = ntrace_turn_discard(feed, false);
	u32 control = 0;
	int ret, error;

	ret = ntrace_encoder_check(encoder, &config) ?: encoder->ops->program(encoder, &config);
	if (ret)
		return ret;
	feed->kernel = false;
	ret = ntrace_path_enable_atomic(path);
	if (ret)
		return ret;
	ret = ntrace_encoder_enable(encoder);
	if (!ret) {
		ntrace_encoder_trace(encoder);
		ntrace_trial_run(4 * ntrace_trial_most(path));
	}
	ntrace_encoder_stop(encoder);
	error = ntrace_component_wait_disabled(encoder, true, &control);
	ret = ret ?: error;
	error = ntrace_path_disable_atomic(path->capture, control);
	ret = ret ?: error;
	/* What other harts keep in a shared sink may be all of it. */
	if (!ret && !path->capture->complete)
		ret = -EBUSY;
	return ret ?: (s64)(ntrace_turn_discard(feed, false) - before);
}

/*
 * Finds out whether the privilege filter of an encoder works. No event is traced; runs on the hart
 * with interrupts off. The encoder must be programmed again afterwards.
 * Return: 0, -EACCES if the filter does not work, -EBUSY if the trace of other harts is in the
 * way, or an error of the hardware.
 */
int ntrace_perf_trial(struct ntrace_path *path)
{
	struct ntrace_component *encoder = ntrace_path_encoder(path);
	s64 silent, loud;

	silent = ntrace_trial_trace(path, NTRACE_PRIVILEGE_U);
	if (silent < 0)
		return silent;
	loud = ntrace_trial_trace(path, NTRACE_PRIVILEGE_S);
	if (loud < 0)
		return loud;
	encoder->encoder.filters_tried = true;
	encoder->encoder.filters_work = silent <= ntrace_trial_most(path) &&
					loud > 2 * ntrace_trial_most(path);
	if (encoder->encoder.filters_work)
		return 0;
	ntrace_err(encoder->dev,
		   "trTeFilterMatchPrivilege filters nothing (%lld, %lld bytes): not for users\n",
		   silent, loud);
	return -EACCES;
}
