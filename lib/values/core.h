/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* A core dump of a process: registers of its threads, and memory. */
#ifndef NTRACE_VALUES_CORE_H
#define NTRACE_VALUES_CORE_H

#include <ntrace/values.h>

/**
 * struct core_thread - registers of a thread
 * @x: x[0] is pc
 * @floats: @f and @fcsr are known
 */
struct core_thread {
	int32_t tid;
	bool floats;
	uint32_t fcsr;
	uint64_t x[32];
	uint64_t f[32];
};

/* Memory from @first to @last, which the file has at @bytes. */
struct core_piece_of_memory {
	uint64_t first;
	uint64_t last;
	const uint8_t *bytes;
	bool writable;
};

/* A mapping of a file, by NT_FILE. */
struct core_mapping {
	uint64_t first;
	uint64_t last;
	const char *name;
	bool from_start; /* of the file */
};

/**
 * struct ntrace_core - a core file
 * @object: its bytes
 * @piece: in order of their addresses, apart from each other
 * @thread: the one that crashed is the first
 * @pid: -1: the file does not tell
 */
struct ntrace_core {
	struct ntrace_object *object;
	struct core_piece_of_memory *piece;
	size_t pieces;
	struct core_thread *thread;
	size_t threads, thread_room;
	struct core_mapping *mapping;
	size_t mappings;
	int32_t pid;
};

/** core_find_thread - NULL: the core has no registers of it */
const struct core_thread *core_find_thread(const struct ntrace_core *core, int32_t tid);

/** core_memory - up to 8 bytes; those that the file does not have are unknown */
struct ntrace_exec_value core_memory(const struct ntrace_core *core, uint64_t address,
				     unsigned int bytes);

/** core_is_read_only - whether nobody could write there at the end */
bool core_is_read_only(const struct ntrace_core *core, uint64_t address);

/** core_find_mapping - the mapping of a file at an address; NULL: there is none */
const struct core_mapping *core_find_mapping(const struct ntrace_core *core, uint64_t address);

/** core_build_id - the build-id in the memory of a mapping. NULL: it is not there */
const uint8_t *core_build_id(const struct ntrace_core *core, const struct core_mapping *mapping,
			     size_t *size);

#endif
