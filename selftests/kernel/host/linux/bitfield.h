/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef HOST_LINUX_BITFIELD_H
#define HOST_LINUX_BITFIELD_H

#define FIELD_GET(mask, value) (((value) & (mask)) / ((mask) & -(mask)))
#define FIELD_PREP(mask, value) (((mask) & -(mask)) * (value))
#define FIELD_MAX(mask) ((mask) / ((mask) & -(mask)))

#endif /* HOST_LINUX_BITFIELD_H */
