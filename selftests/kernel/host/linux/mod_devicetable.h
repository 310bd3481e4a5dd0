/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef HOST_LINUX_MOD_DEVICETABLE_H
#define HOST_LINUX_MOD_DEVICETABLE_H

struct of_device_id {
	char compatible[128];
	const void *data;
};

#endif /* HOST_LINUX_MOD_DEVICETABLE_H */
