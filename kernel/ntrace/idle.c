// SPDX-License-Identifier: GPL-2.0-only
/*
 * Idle states of a hart that lose the registers of its encoder.
 *
 * The kernel announces such a state on the hart itself, with interrupts off: nothing else on this
 * hart touches the encoder meanwhile. The encoder is stopped before, so that it sends what it has.
 * Afterwards its registers are written again, and tracing continues after a gap. States that keep
 * all registers are not announced.
 */
#include <linux/cpu_pm.h>
#include <linux/mutex.h>
#include <linux/notifier.h>
#include <linux/percpu.h>

#include "component.h"
#include "drain.h"
#include "encoder.h"
#include "idle.h"
#include "log.h"
#include "path.h"

/**
 * struct ntrace_idle - the running capture of a hart
 * @capture: capture, or NULL; changed on the hart, or while it is offline
 * @stopped: the hart is entering or leaving an idle state, and the encoder is stopped
 * @tracing: trTeInstTracing before that
 * @control: trTeControl after that
 */
struct ntrace_idle {
	struct ntrace_capture *capture;
	bool stopped;
	bool tracing;
	u32 control;
};

static DEFINE_PER_CPU(struct ntrace_idle, ntrace_idle_harts);
/* Number of configured captures, while which the notifier is registered. */
static DEFINE_MUTEX(ntrace_idle_mutex);
static unsigned int ntrace_idle_users;

static void ntrace_idle_enter(struct ntrace_idle *idle)
{
	struct ntrace_feed *feed = &idle->capture->feed;
	struct ntrace_component *encoder = feed->encoder;
	u32 control = ntrace_read(encoder, TR_TE_CONTROL);

	if (feed->fault || control & encoder->foreign)
		return;
	idle->tracing = control & TR_TE_CONTROL_INST_TRACING;
	ntrace_encoder_stop(encoder);
	/* What it does not send in time is lost, with its registers. The gap covers that. */
	ntrace_component_wait_disabled(encoder, true, &idle->control);
	idle->stopped = true;
}

static int ntrace_idle_restore(const struct ntrace_idle *idle)
{
	struct ntrace_capture *capture = idle->capture;
	struct ntrace_component *encoder = capture->feed.encoder;
	int ret;

	ret = ntrace_component_wake(encoder);
	if (ret)
		return ret;
	ret = capture->client ? capture->client->restore(capture->path) :
				encoder->layout->program(encoder, &capture->config);
	if (!ret)
		ret = ntrace_encoder_enable(encoder);
	if (!ret && idle->tracing)
		ntrace_encoder_trace(encoder);
	return ret;
}

static void ntrace_idle_leave(struct ntrace_idle *idle)
{
	struct ntrace_feed *feed = &idle->capture->feed;
	int ret;

	if (!idle->stopped)
		return;
	idle->stopped = false;
	/* Before the encoder traces: the gap is not in its trace. */
	ntrace_drain_break(feed, idle->control);
	ret = ntrace_idle_restore(idle);
	if (!ret)
		return;
	ntrace_err(feed->encoder->dev, "does not trace after an idle state, stopped: %d\n", ret);
	ntrace_drain_fail(feed);
}

static int ntrace_idle_notify(struct notifier_block *block, unsigned long event, void *data)
{
	struct ntrace_idle *idle = this_cpu_ptr(&ntrace_idle_harts);

	if (!idle->capture)
		return NOTIFY_OK;
	if (event == CPU_PM_ENTER)
		ntrace_idle_enter(idle);
	else if (event == CPU_PM_EXIT || event == CPU_PM_ENTER_FAILED)
		ntrace_idle_leave(idle);
	return NOTIFY_OK;
}

static struct notifier_block ntrace_idle_block = {
	.notifier_call = ntrace_idle_notify,
};

/**
 * ntrace_idle_get - a capture is configured
 *
 * Return: 0 or a negative error.
 */
int ntrace_idle_get(void)
{
	int ret = 0;

	guard(mutex)(&ntrace_idle_mutex);
	if (!ntrace_idle_users)
		ret = cpu_pm_register_notifier(&ntrace_idle_block);
	if (!ret)
		ntrace_idle_users++;
	return ret;
}

/** ntrace_idle_put - undo ntrace_idle_get() */
void ntrace_idle_put(void)
{
	guard(mutex)(&ntrace_idle_mutex);
	if (!--ntrace_idle_users)
		cpu_pm_unregister_notifier(&ntrace_idle_block);
}

/**
 * ntrace_idle_begin - the encoder of a capture is enabled
 * @capture: capture; called on its hart with interrupts off
 */
void ntrace_idle_begin(struct ntrace_capture *capture)
{
	struct ntrace_idle *idle = this_cpu_ptr(&ntrace_idle_harts);

	idle->stopped = false;
	idle->capture = capture;
}

/**
 * ntrace_idle_end - the encoder of a capture is about to be disabled
 * @capture: capture; called on its hart with interrupts off, or while that is offline
 */
void ntrace_idle_end(const struct ntrace_capture *capture)
{
	per_cpu_ptr(&ntrace_idle_harts, capture->path->cpu)->capture = NULL;
}
