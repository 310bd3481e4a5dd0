// SPDX-License-Identifier: GPL-2.0-only
/*
 * Error messages from code that holds locks of perf or the scheduler.
 *
 * perf calls a PMU with the lock of its context held, at task switches also with the lock of the
 * run queue. printk() takes the locks of consoles, under which a terminal wakes its readers, which
 * takes the lock of a run queue. lockdep reports this circle with the first message, and two harts
 * can deadlock. The kernel's answer, printk_deferred(), is not exported to modules. So
 * ntrace_log() formats the line, and an irq_work prints it without these locks.
 */
#include <linux/device.h>
#include <linux/irq_work.h>
#include <linux/printk.h>
#include <linux/stdarg.h>

#include "component.h"

/* Enough for one event that fails on all harts at the same time. */
#define NTRACE_LOG_LINES	32
#define NTRACE_LOG_LENGTH	192

/*
 * @lock: raw, because callers hold raw spinlocks; a leaf in the order of the locks
 * @head: number of lines formatted
 * @tail: number of lines printed
 * @lost: number of lines that found no room
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

/* Takes the oldest line and the number of lines lost before it. Return: false if there is none. */
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
			pr_err("ntrace: %u messages lost\n", lost);
	}
}

static DEFINE_IRQ_WORK(ntrace_log_work, ntrace_log_print);

/**
 * ntrace_log() - log an error from any context
 * @dev: subject of the message; not used after the return
 * @fmt: format, with a newline
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
		/* The prefix of dev_err(), without a reference to the device. */
		length = scnprintf(line, NTRACE_LOG_LENGTH, "%s %s: ", dev_driver_string(dev),
				   dev_name(dev));
		va_start(args, fmt);
		vscnprintf(line + length, NTRACE_LOG_LENGTH - length, fmt, args);
		va_end(args);
	}
	irq_work_queue(&ntrace_log_work);
}

/* Prints the remaining lines; ntrace_log() must not be called any more. */
void ntrace_log_exit(void)
{
	irq_work_sync(&ntrace_log_work);
}
