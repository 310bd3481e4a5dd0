/* SPDX-License-Identifier: GPL-2.0-only */
#define compat_ptr_ioctl NULL
