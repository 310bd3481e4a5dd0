/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* The version of libntrace, shared by library, command, Python module and kernel modules. */
#ifndef NTRACE_VERSION_H
#define NTRACE_VERSION_H

#include <ntrace/error.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Version of this header, as text and as a number for comparisons: 10000 * major + 100 * minor +
 * patch.
 */
#define NTRACE_VERSION "0.1.0"
#define NTRACE_VERSION_NUMBER 100

/**
 * ntrace_version - NTRACE_VERSION of the library in use, which may differ from the header's
 *
 * Return: a constant string.
 */
NTRACE_API const char *ntrace_version(void);

#ifdef __cplusplus
}
#endif

#endif /* NTRACE_VERSION_H */
