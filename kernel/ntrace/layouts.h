/* SPDX-License-Identifier: GPL-2.0-only */
/* The register layout of each compatible string. */
#ifndef NTRACE_LAYOUTS_H
#define NTRACE_LAYOUTS_H

#include <linux/mod_devicetable.h>

extern const struct of_device_id ntrace_layouts[];

#endif /* NTRACE_LAYOUTS_H */
