// SPDX-License-Identifier: GPL-2.0-only
/* The order of the driver's steps when a traced hart enters and leaves an idle state. */
#include <tap.h>

#include "../../kernel/ntrace/idle.c"
#include "host/machine.h"

int host_allocations = -1;
unsigned int host_cpu;

static struct notifier_block *block;
static u32 control;
static int wake, program;
static char steps[64];

static void note(const char *step)
{
	snprintf(steps + strlen(steps), sizeof(steps) - strlen(steps), "%s%s", *steps ? " " : "",
		 step);
}

int cpu_pm_register_notifier(struct notifier_block *registered)
{
	block = registered;
	return 0;
}

int cpu_pm_unregister_notifier(struct notifier_block *registered)
{
	block = NULL;
	return 0;
}

u32 readl(const void *address)
{
	return control;
}

void writel(u32 value, void *address)
{
}

int ntrace_component_wake(struct ntrace_component *component)
{
	note("wake");
	return wake;
}

int ntrace_component_wait_disabled(struct ntrace_component *component, bool atomic, u32 *value)
{
	note("wait");
	*value = TR_CONTROL_EMPTY;
	return 0;
}

int ntrace_encoder_enable(struct ntrace_component *component)
{
	note("enable");
	return 0;
}

void ntrace_encoder_trace(struct ntrace_component *component)
{
	note("trace");
}

void ntrace_encoder_stop(struct ntrace_component *component)
{
	note("stop");
}

void ntrace_drain_break(struct ntrace_feed *feed, u32 value)
{
	note("gap");
}

void ntrace_drain_fail(struct ntrace_feed *feed)
{
	note("fail");
	feed->fault = true;
}

static int write_registers(struct ntrace_component *component, const struct ntrace_config *config)
{
	note("program");
	return program;
}

static int perf_restore(struct ntrace_path *path)
{
	note("perf");
	return 0;
}

static void notify(unsigned long event, const char *expected, const char *what)
{
	steps[0] = '\0';
	block->notifier_call(block, event, NULL);
	is_str(steps, expected, "%s", what);
}

int main(void)
{
	static const struct ntrace_layout layout = { .program = write_registers };
	static const struct ntrace_client client = { .restore = perf_restore };
	static struct machine machine;
	struct ntrace_capture *capture = &machine.capture[0];

	machine_init(&machine, 1, 0);
	machine.encoder[0].layout = &layout;
	machine.encoder[0].foreign = TR_TE_CONTROL_DIS_SELF_HOSTED;
	is_u64((u64)ntrace_idle_get(), 0, "a capture is configured");
	is_u64((u64)ntrace_idle_get(), 0, "and another one");
	notify(CPU_PM_ENTER, "", "nothing is traced: idle changes nothing");
	ntrace_idle_begin(capture);
	control = TR_CONTROL_ACTIVE | TR_CONTROL_ENABLE | TR_TE_CONTROL_INST_TRACING;
	notify(CPU_CLUSTER_PM_ENTER, "", "nor does the cluster");
	notify(CPU_PM_ENTER, "stop wait", "idle: the encoder stops");
	notify(CPU_PM_EXIT, "gap wake program enable trace", "and continues after a gap");
	notify(CPU_PM_EXIT, "", "once");
	notify(CPU_PM_ENTER, "stop wait", "idle again");
	notify(CPU_PM_ENTER_FAILED, "gap wake program enable trace", "it fails: the same");
	control &= ~TR_TE_CONTROL_INST_TRACING;
	notify(CPU_PM_ENTER, "stop wait", "a trigger has stopped the trace");
	notify(CPU_PM_EXIT, "gap wake program enable", "it does not continue");
	capture->client = &client;
	notify(CPU_PM_ENTER, "stop wait", "an event of perf");
	notify(CPU_PM_EXIT, "gap wake perf enable", "perf writes its own configuration");
	capture->client = NULL;
	control |= TR_TE_CONTROL_DIS_SELF_HOSTED;
	notify(CPU_PM_ENTER, "", "a debugger has the encoder: nothing is written");
	notify(CPU_PM_EXIT, "", "nor afterwards");
	control &= ~TR_TE_CONTROL_DIS_SELF_HOSTED;
	program = -EOPNOTSUPP;
	notify(CPU_PM_ENTER, "stop wait", "idle");
	notify(CPU_PM_EXIT, "gap wake program fail", "the registers are not accepted: it fails");
	is_u64(machine_logged, 1, "and the log tells");
	notify(CPU_PM_ENTER, "", "it is not touched again");
	capture->feed.fault = false;
	wake = -ETIMEDOUT;
	notify(CPU_PM_ENTER, "stop wait", "idle");
	notify(CPU_PM_EXIT, "gap wake fail", "it does not answer: it fails");
	capture->feed.fault = false;
	notify(CPU_PM_ENTER, "stop wait", "idle");
	ntrace_idle_end(capture);
	notify(CPU_PM_EXIT, "", "the capture has ended meanwhile");
	ntrace_idle_put();
	ok(block, "one capture is released: the notifier stays");
	ntrace_idle_put();
	ok(!block, "the last one is: it goes");
	machine_free(&machine);
	return done_testing();
}
