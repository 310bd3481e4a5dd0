/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Names of Rust, read without a library. */
#ifndef NTRACE_IMAGE_DEMANGLE_H
#define NTRACE_IMAGE_DEMANGLE_H

/*
 * The Rust name that @name, a symbol of either mangling, stands for, in memory to be freed.
 * NULL: it is not one, it is longer or nested deeper than names of programs are, or memory is out.
 */
char *demangle_rust(const char *name);

#endif /* NTRACE_IMAGE_DEMANGLE_H */
