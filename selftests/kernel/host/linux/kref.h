/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef HOST_LINUX_KREF_H
#define HOST_LINUX_KREF_H

struct kref {
	int count;
};

#endif /* HOST_LINUX_KREF_H */
