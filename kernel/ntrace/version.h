/* SPDX-License-Identifier: GPL-2.0-only */
/* The version of the module. */
#ifndef NTRACE_VERSION_H
#define NTRACE_VERSION_H

#define NTRACE_VERSION "0.1.0"

#endif /* NTRACE_VERSION_H */
