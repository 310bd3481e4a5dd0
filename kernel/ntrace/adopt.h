/* SPDX-License-Identifier: GPL-2.0-only */
/* Devices of nodes that the kernel makes no devices of. */
#ifndef NTRACE_ADOPT_H
#define NTRACE_ADOPT_H

struct device;

void ntrace_adopt(struct device *dev);
void ntrace_adopt_exit(void);

#endif /* NTRACE_ADOPT_H */
