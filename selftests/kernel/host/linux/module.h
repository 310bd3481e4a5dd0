/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef HOST_LINUX_MODULE_H
#define HOST_LINUX_MODULE_H

struct module;
#define THIS_MODULE ((struct module *)0)
#define MODULE_DEVICE_TABLE(type, table) struct module

#endif /* HOST_LINUX_MODULE_H */
