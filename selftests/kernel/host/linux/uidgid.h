/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef HOST_LINUX_UIDGID_H
#define HOST_LINUX_UIDGID_H

typedef unsigned int kuid_t;
typedef unsigned int kgid_t;
#define uid_eq(a, b) ((a) == (b))
#define gid_eq(a, b) ((a) == (b))

#endif /* HOST_LINUX_UIDGID_H */
