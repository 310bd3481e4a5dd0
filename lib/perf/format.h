/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Layout of perf.data files (perf.data-file-format.txt, tools/perf/util/header.h); shared by reader
 * and writer. Little endian, like all supported machines.
 */
#ifndef NTRACE_PERF_FORMAT_H
#define NTRACE_PERF_FORMAT_H

#include <linux/perf_event.h>

#include <ntrace/perf.h>

#define PERF_FILE_MAGIC 0x32454c4946524550ULL /* "PERFILE2" */
#define PERF_FILE_MAGIC_SWAPPED 0x50455246494c4532ULL
#define PERF_PIPE_HEADER_SIZE 16

/* Records of the perf tool. */
enum perf_tool_record {
	PERF_RECORD_HEADER_ATTR = 64,
	PERF_RECORD_HEADER_TRACING_DATA = 66,
	PERF_RECORD_HEADER_BUILD_ID = 67,
	PERF_RECORD_FINISHED_ROUND = 68,
	PERF_RECORD_AUXTRACE = 71,
	PERF_RECORD_HEADER_FEATURE = 80,
	PERF_RECORD_COMPRESSED = 81,
	PERF_RECORD_COMPRESSED2 = 83,
};

/* Feature bits of the header. */
enum perf_feature {
	PERF_FEATURE_TRACING_DATA = 1,
	PERF_FEATURE_BUILD_ID = 2,
	PERF_FEATURE_HOSTNAME = 3,
	PERF_FEATURE_OSRELEASE = 4,
	PERF_FEATURE_VERSION = 5,
	PERF_FEATURE_ARCH = 6,
	PERF_FEATURE_NRCPUS = 7,
	PERF_FEATURE_CMDLINE = 11,
	PERF_FEATURE_EVENT_DESC = 12,
	PERF_FEATURE_BRANCH_STACK = 15,
	PERF_FEATURE_PMU_MAPPINGS = 16,
	PERF_FEATURE_CLOCKID = 23,
	PERF_FEATURE_DIR_FORMAT = 24,
	PERF_FEATURE_COMPRESSED = 27,
	PERF_FEATURES = 256,
};

struct perf_file_section {
	uint64_t offset;
	uint64_t size;
};

struct perf_file_header {
	uint64_t magic;
	uint64_t size;
	uint64_t attr_size;
	struct perf_file_section attrs;
	struct perf_file_section data;
	struct perf_file_section event_types;
	uint64_t features[PERF_FEATURES / 64];
};

/* Strings of the header are padded to this size. */
#define PERF_NAME_ALIGN 64

struct perf_auxtrace_record {
	struct perf_event_header header;
	uint64_t size;
	uint64_t offset;
	uint64_t reference;
	uint32_t index;
	uint32_t tid;
	uint32_t cpu;
	uint32_t reserved;
};

/* For each sideband type, the part of the record before the sample_id trailer. */
struct record_mmap {
	uint32_t pid, tid;
	uint64_t address, length, offset;
};

struct record_mmap2 {
	struct record_mmap mmap;
	union {
		struct {
			uint32_t major, minor;
			uint64_t inode, generation;
		};
		struct { /* with MISC_BIT_14 */
			uint8_t build_id_size;
			uint8_t reserved1;
			uint16_t reserved2;
			uint8_t build_id[20];
		};
	};
	uint32_t prot, flags;
};

/* Of the BUILD_ID table; a path follows. @size: with MISC_BIT_15, else 20 */
struct record_build_id {
	struct perf_event_header header;
	int32_t pid;
	uint8_t build_id[20];
	uint8_t size;
	uint8_t reserved[3];
};

struct record_comm {
	uint32_t pid, tid;
};

struct record_task {
	uint32_t pid, ppid, tid, ptid;
	uint64_t time;
};

struct record_aux {
	uint64_t offset, size, flags;
};

struct record_lost {
	uint64_t id, count;
};

struct record_switch {
	uint32_t pid, tid;
};

struct record_ksymbol {
	uint64_t address;
	uint32_t length;
	uint16_t type, flags;
};

struct record_bpf {
	uint16_t type, flags;
	uint32_t id;
	uint8_t tag[8];
};

struct record_text_poke {
	uint64_t address;
	uint16_t old_length, new_length;
	/* the bytes follow directly, without the padding at the end of the struct */
};
#define RECORD_TEXT_POKE_SIZE 12

#define KSYMBOL_UNREGISTER 1
#define PROT_WRITE_BIT 2
/* Of flags; MAP_SHARED_VALIDATE has it, too. */
#define MAP_SHARED_BIT 1
#define MAP_PRIVATE_BIT 2
#define PROT_EXEC_BIT 4

/* Bits of sample_type that the trailer of a record contains. */
#define TRAILER_BITS                                                                               \
	((uint64_t)PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID |   \
	 PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER)

static inline size_t trailer_size(uint64_t sample_type)
{
	return 8 * (size_t)__builtin_popcountll(sample_type & TRAILER_BITS);
}

/* The linux/perf_event.h of some distributions lacks these definitions. */
#define MISC_BIT_13 (1u << 13)
#define MISC_BIT_14 (1u << 14)
#define MISC_BIT_15 (1u << 15)
#define FORMAT_LOST (1u << 4)	/* PERF_FORMAT_LOST */

#endif
