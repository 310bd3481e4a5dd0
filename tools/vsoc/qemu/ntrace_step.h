/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Additions to QEMU's plugin interface, for plugins that are the model of a
 * tandem verification. To be included after qemu-plugin.h; step_places.py has
 * the implementation.
 */
#ifndef NTRACE_STEP_H
#define NTRACE_STEP_H

/*
 * Called before each instruction, between two blocks of one instruction, where
 * all state of the hart may be read and written, pc included. An instruction
 * whose fetch raises an exception is one, too. Set before the first vCPU runs.
 * No interrupts are taken then, as when GDB steps.
 */
void ntrace_step_set_cb(void (*cb)(unsigned int vcpu_index));

/*
 * Write a register and memory of the current vCPU, as in later versions of
 * QEMU. They return the bytes written, 0 on failure, and whether all of the
 * memory was written.
 */
int ntrace_step_write_register(struct qemu_plugin_register *handle,
                               GByteArray *data);
bool ntrace_step_write_memory(uint64_t address, GByteArray *data);

#endif
