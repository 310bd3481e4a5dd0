/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef HOST_LINUX_NOTIFIER_H
#define HOST_LINUX_NOTIFIER_H

#define NOTIFY_OK 1

struct notifier_block {
	int (*notifier_call)(struct notifier_block *block, unsigned long event, void *data);
};

#endif /* HOST_LINUX_NOTIFIER_H */
