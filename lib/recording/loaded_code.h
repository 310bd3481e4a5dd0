/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Which modules and BPF programs the running kernel has loaded. */
#ifndef NTRACE_RECORDING_LOADED_CODE_H
#define NTRACE_RECORDING_LOADED_CODE_H

#include <stdint.h>

/*
 * A number that changes with names, sizes and addresses of modules and with the
 * identifiers of BPF programs; 0 if they cannot be learned. Trampolines and
 * probes do not change it.
 */
uint64_t loaded_code_state(void);

#endif
