// SPDX-License-Identifier: GPL-2.0-only
/*
 * Commits one bug of the kind that its parameter names when it is loaded, so that a test can see
 * the debug kernel report it. Loading fails with ECANCELED afterwards. Some bugs leave permanent
 * damage, so each needs its own boot or must be the last one.
 */
#include <linux/completion.h>
#include <linux/debugobjects.h>
#include <linux/delay.h>
#include <linux/interrupt.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/rculist.h>
#include <linux/refcount.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/spinlock.h>
#include <linux/timer.h>
#include <linux/vmalloc.h>
#include <linux/workqueue.h>

static char *bug = "";
module_param(bug, charp, 0);
MODULE_PARM_DESC(bug, "which bug to commit");

/* Keeps the compiler from seeing the bug. */
static volatile int eight = 8;
static volatile int sixty_five = 65;

static DEFINE_MUTEX(buggy_a);
static DEFINE_MUTEX(buggy_b);
static DEFINE_SPINLOCK(buggy_spin);
/* Raw: an interrupt must not take another lock, which lockdep would report instead. */
static DEFINE_RAW_SPINLOCK(buggy_irq);
static LIST_HEAD(buggy_rcu);

static noinline void buggy_deadlock(void)
{
	mutex_lock(&buggy_a);
	mutex_lock(&buggy_b);
	mutex_unlock(&buggy_b);
	mutex_unlock(&buggy_a);
	mutex_lock(&buggy_b);
	mutex_lock(&buggy_a);
	mutex_unlock(&buggy_a);
	mutex_unlock(&buggy_b);
}

static void buggy_take(void *unused)
{
	raw_spin_lock(&buggy_irq);
	raw_spin_unlock(&buggy_irq);
}

/* An interrupt takes the lock, which is also held with interrupts on. */
static noinline void buggy_irq_unsafe(void)
{
	smp_call_function_single(!get_cpu(), buggy_take, NULL, true);
	put_cpu();
	raw_spin_lock(&buggy_irq);
	raw_spin_unlock(&buggy_irq);
}

static noinline void buggy_sleep(void)
{
	spin_lock(&buggy_spin);
	mutex_lock(&buggy_a);
	mutex_unlock(&buggy_a);
	spin_unlock(&buggy_spin);
}

static noinline void buggy_preempt(void)
{
	pr_info("on CPU %u, perhaps\n", smp_processor_id());
}

static noinline void buggy_rcu_list(void)
{
	struct module *entry;

	list_for_each_entry_rcu(entry, &buggy_rcu, list) pr_info("%p\n", entry);
}

static noinline void buggy_overrun(void)
{
	char *memory = kmalloc(eight, GFP_KERNEL);

	if (memory)
		WRITE_ONCE(memory[eight], 1);
	kfree(memory);
}

static noinline void buggy_use_after_free(void)
{
	int *memory = kzalloc(sizeof(*memory), GFP_KERNEL);

	kfree(memory);
	pr_info("%d\n", READ_ONCE(*memory));
}

static noinline void buggy_double_free(void)
{
	void *memory = kmalloc(eight, GFP_KERNEL);
	void *again = memory;

	OPTIMIZER_HIDE_VAR(again);
	kfree(memory);
	kfree(again);
}

static noinline void buggy_vmalloc(void)
{
	/* The access stays within the page: after the page it would be an oops. */
	char *memory = vmalloc(10 * eight);

	if (memory)
		WRITE_ONCE(memory[11 * eight], 1);
	vfree(memory);
}

static noinline void buggy_leak(void)
{
	void *memory;
	int i;

	/* A pointer to one block may still be in a register or on a stack. */
	for (i = 0; i < 10; i++) {
		memory = kmalloc(1000, GFP_KERNEL);
		OPTIMIZER_HIDE_VAR(memory);
	}
}

static noinline void buggy_shift(void)
{
	pr_info("%d\n", 1 << sixty_five);
}

static noinline void buggy_bounds(void)
{
	static volatile int table[8];

	pr_info("%d\n", table[eight]);
}

static noinline void buggy_refcount(void)
{
	refcount_t count = REFCOUNT_INIT(1);

	if (refcount_dec_and_test(&count))
		refcount_inc(&count);
}

static noinline void buggy_list(void)
{
	LIST_HEAD(head);
	struct list_head entry = { .next = &head, .prev = &head };

	list_del(&entry);
}

static void buggy_nothing(struct timer_list *timer)
{
}

/* Frees memory with a pending timer in it. */
static noinline void buggy_object(void)
{
	struct timer_list *timer = kzalloc(sizeof(*timer), GFP_KERNEL);

	if (!timer)
		return;
	timer_setup(timer, buggy_nothing, 0);
	mod_timer(timer, jiffies + 1000 * HZ);
	kfree(timer);
}

static noinline void buggy_warning(void)
{
	WARN_ON(eight);
}

static const struct {
	const char *name;
	void (*commit)(void);
} buggy_all[] = {
	{ "deadlock", buggy_deadlock },
	{ "irq-unsafe", buggy_irq_unsafe },
	{ "sleep", buggy_sleep },
	{ "preempt", buggy_preempt },
	{ "rcu-list", buggy_rcu_list },
	{ "overrun", buggy_overrun },
	{ "use-after-free", buggy_use_after_free },
	{ "double-free", buggy_double_free },
	{ "vmalloc", buggy_vmalloc },
	{ "leak", buggy_leak },
	{ "shift", buggy_shift },
	{ "bounds", buggy_bounds },
	{ "refcount", buggy_refcount },
	{ "list", buggy_list },
	{ "object", buggy_object },
	{ "warning", buggy_warning },
};

static int __init buggy_init(void)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(buggy_all); i++) {
		if (strcmp(buggy_all[i].name, bug))
			continue;
		pr_info("buggy: %s\n", bug);
		buggy_all[i].commit();
		return -ECANCELED;
	}
	return -EINVAL;
}
module_init(buggy_init);

MODULE_DESCRIPTION("Bugs that a debug kernel must report");
MODULE_LICENSE("GPL");
