/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Memory of a program in user mode: a copy, from which follows what the kernel wrote. A tandem trace
 * has the stores of instructions, but no others.
 */
#ifndef USER_MEMORY_H
#define USER_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

/* Called for each aligned word of 8 bytes that differs from the copy. */
typedef void (*user_memory_fn)(uint64_t address, uint64_t value);

/* Whether this QEMU shows the memory of the program; to be called first. */
bool user_memory_works(void);

/* Copies all memory; reports the words that can be written and are not 0. */
void user_memory_start(user_memory_fn changed);

/* An instruction stored @size bytes, at most 8. */
void user_memory_store(uint64_t address, uint64_t value, unsigned int size);

/*
 * A system call may have written to memory. @mapped: it may have changed the map, too; memory from
 * @start on, @size bytes, is new.
 */
void user_memory_call(user_memory_fn changed, bool mapped, uint64_t start, uint64_t size);

#endif
