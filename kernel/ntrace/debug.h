/* SPDX-License-Identifier: GPL-2.0-only */
/* Files in debugfs. */
#ifndef NTRACE_DEBUG_H
#define NTRACE_DEBUG_H

void ntrace_debug_init(void);
void ntrace_debug_exit(void);

#endif /* NTRACE_DEBUG_H */
