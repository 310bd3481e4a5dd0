// SPDX-License-Identifier: GPL-2.0-only
/*
 * Makes the memory of sinks as slow as uncached memory: whenever the drain of ntrace.ko reads it,
 * the hart waits for the time that 100 MB/s take. The virtual SoC's memory costs no time of its own.
 */
#include <linux/delay.h>
#include <linux/module.h>
#include <linux/notifier.h>
#include <linux/string.h>
#include <linux/tracepoint.h>

#define SLOW_MEMORY_NS_PER_BYTE 10

/* The tracepoint ntrace_drain, see trace.h of the driver. */
static void slow_memory_drain(void *data, const char *sink, u32 found, u32 bytes, u32 copies)
{
	u64 ns = (u64)bytes * copies * SLOW_MEMORY_NS_PER_BYTE;

	udelay(div_u64(ns, NSEC_PER_USEC));
}

static int slow_memory_module(struct notifier_block *block, unsigned long state, void *data)
{
	const struct tp_module *module = data;
	tracepoint_ptr_t *at;
	struct tracepoint *point;

	for (at = module->mod->tracepoints_ptrs;
	     at < module->mod->tracepoints_ptrs + module->mod->num_tracepoints; at++) {
		point = tracepoint_ptr_deref(at);
		if (strcmp(point->name, "ntrace_drain"))
			continue;
		if (state == MODULE_STATE_COMING)
			tracepoint_probe_register(point, slow_memory_drain, NULL);
		else if (state == MODULE_STATE_GOING)
			tracepoint_probe_unregister(point, slow_memory_drain, NULL);
	}
	return NOTIFY_OK;
}

/* Is called for modules that are there already, too. */
static struct notifier_block slow_memory_block = {
	.notifier_call = slow_memory_module,
};

static int __init slow_memory_init(void)
{
	return register_tracepoint_module_notifier(&slow_memory_block);
}
module_init(slow_memory_init);

/* Calls it once more for each module, with MODULE_STATE_GOING. */
static void __exit slow_memory_exit(void)
{
	unregister_tracepoint_module_notifier(&slow_memory_block);
	tracepoint_synchronize_unregister();
}
module_exit(slow_memory_exit);

MODULE_DESCRIPTION("Slow memory of trace sinks, for tests");
MODULE_LICENSE("GPL");
