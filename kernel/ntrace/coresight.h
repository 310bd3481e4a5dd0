/* SPDX-License-Identifier: GPL-2.0-only */
/* What all CoreSight components of Arm have in common. */
#ifndef NTRACE_CORESIGHT_DRIVER_H
#define NTRACE_CORESIGHT_DRIVER_H

#include <linux/types.h>

#include <ntrace/coresight.h>

struct ntrace_component;

void ntrace_coresight_unlock(void __iomem *base);
bool ntrace_coresight_is_external(void __iomem *base);
int ntrace_coresight_claim(struct ntrace_component *component);
void ntrace_coresight_release(struct ntrace_component *component);

#endif /* NTRACE_CORESIGHT_DRIVER_H */
