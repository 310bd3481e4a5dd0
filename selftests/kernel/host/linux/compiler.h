/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef HOST_LINUX_COMPILER_H
#define HOST_LINUX_COMPILER_H

#define __same_type(a, b) __builtin_types_compatible_p(__typeof__(a), __typeof__(b))

#endif /* HOST_LINUX_COMPILER_H */
