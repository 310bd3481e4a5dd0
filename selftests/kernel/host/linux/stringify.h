/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef HOST_LINUX_STRINGIFY_H
#define HOST_LINUX_STRINGIFY_H

#define __stringify(text) #text

#endif /* HOST_LINUX_STRINGIFY_H */
