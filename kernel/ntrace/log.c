// SPDX-License-Identifier: GPL-2.0-only
/*
 * Messages from under the locks of perf and the scheduler.
 *
 * perf calls a PMU with the context's lock held, and at task switches the run
 * queue's. printk() takes the locks of consoles, below which the terminal's
 * readers are woken, which takes a run queue's: lockdep finds the circle with
 * the first message from there, and sooner or later two harts do. What the
 * kernel has for this, printk_deferred(), is not exported. So the line is made
 * where something is wrong, and printed by an irq_work, without these locks.
 */
#include <linux/device.h>
#include <linux/irq_work.h>
#include <linux/printk.h>
#include <linux/spinlock.h>
#include <linux/stdarg.h>

#include "log.h"

/* Errors come one at a time; those of one event on all harts should not push each other out. */
#define NTRACE_LOG_LINES	32
#define NTRACE_LOG_LENGTH	192

/*
 * @lock: raw, for the callers hold raw spinlocks; nothing is called with it held
 * @head: lines ever made
 * @tail: lines ever printed
 * @lost: lines for which there was no room
 */
static struct {
	raw_spinlock_t lock;
	unsigned int head;
	unsigned int tail;
	unsigned int lost;
	char lines[NTRACE_LOG_LINES][NTRACE_LOG_LENGTH];
} ntrace_log_lines = {
	.lock = __RAW_SPIN_LOCK_UNLOCKED(ntrace_log_lines.lock),
};

/* Takes the oldest line, and how many got lost before. Return: false: there is none. */
static bool ntrace_log_take(char *line, unsigned int *lost)
{
	guard(raw_spinlock_irqsave)(&ntrace_log_lines.lock);
	if (ntrace_log_lines.tail == ntrace_log_lines.head)
		return false;
	strscpy(line, ntrace_log_lines.lines[ntrace_log_lines.tail % NTRACE_LOG_LINES],
		NTRACE_LOG_LENGTH);
	ntrace_log_lines.tail++;
	*lost = ntrace_log_lines.lost;
	ntrace_log_lines.lost = 0;
	return true;
}

static void ntrace_log_print(struct irq_work *work)
{
	char line[NTRACE_LOG_LENGTH];
	unsigned int lost;

	while (ntrace_log_take(line, &lost)) {
		pr_err("%s", line);
		if (lost)
			pr_err("ntrace: %u messages did not fit\n", lost);
	}
}

static DEFINE_IRQ_WORK(ntrace_log_work, ntrace_log_print);

/**
 * ntrace_log() - an error message, from any context
 * @dev: whom it is about; not needed any more when this returns
 * @fmt: with a newline
 */
void ntrace_log(const struct device *dev, const char *fmt, ...)
{
	char *line;
	va_list args;
	int length;

	scoped_guard(raw_spinlock_irqsave, &ntrace_log_lines.lock)
	{
		if (ntrace_log_lines.head - ntrace_log_lines.tail == NTRACE_LOG_LINES) {
			ntrace_log_lines.lost++;
			break;
		}
		line = ntrace_log_lines.lines[ntrace_log_lines.head++ % NTRACE_LOG_LINES];
		/* As dev_err() begins a line, but without keeping the device. */
		length = scnprintf(line, NTRACE_LOG_LENGTH, "%s %s: ", dev_driver_string(dev),
				   dev_name(dev));
		va_start(args, fmt);
		vscnprintf(line + length, NTRACE_LOG_LENGTH - length, fmt, args);
		va_end(args);
	}
	irq_work_queue(&ntrace_log_work);
}

/**
 * ntrace_log_exit() - prints what is left; nobody may call ntrace_log() any more
 */
void ntrace_log_exit(void)
{
	irq_work_sync(&ntrace_log_work);
}
