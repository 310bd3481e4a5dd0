/* SPDX-License-Identifier: GPL-2.0-only */
/* /dev/ntraceN. */
#ifndef NTRACE_CHARDEV_H
#define NTRACE_CHARDEV_H

struct ntrace_path_ops;

extern const struct ntrace_path_ops ntrace_chardev_path_ops;
int ntrace_chardev_init(void);
void ntrace_chardev_exit(void);

#endif /* NTRACE_CHARDEV_H */
