/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Fingerprint of the modules and BPF programs loaded by the running kernel. */
#ifndef NTRACE_RECORDING_LOADED_CODE_H
#define NTRACE_RECORDING_LOADED_CODE_H

#include <stdint.h>

/*
 * A hash of names, sizes and addresses of modules and of the identifiers of BPF programs; 0 if they
 * cannot be read. Trampolines and probes do not change it.
 */
uint64_t loaded_code_state(void);

#endif
