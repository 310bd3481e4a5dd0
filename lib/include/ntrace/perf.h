/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * perf.data files: a streaming writer whose files stock perf reads, and a reader of "sideband"
 * records, which describe mappings, tasks and context switches. Format:
 * tools/perf/Documentation/perf.data-file-format.txt and linux/perf_event.h of the kernel sources.
 * Depends on neither trace nor images.
 */
#ifndef NTRACE_PERF_H
#define NTRACE_PERF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ntrace/error.h>

#ifdef __cplusplus
extern "C" {
#endif

struct perf_event_attr; /* linux/perf_event.h */

/* Types of struct ntrace_sideband: the values of enum perf_event_type. */
enum ntrace_sideband_type {
	NTRACE_SIDEBAND_MMAP = 1,
	NTRACE_SIDEBAND_LOST = 2,
	NTRACE_SIDEBAND_COMM = 3,
	NTRACE_SIDEBAND_EXIT = 4,
	NTRACE_SIDEBAND_FORK = 7,
	NTRACE_SIDEBAND_MMAP2 = 10,
	NTRACE_SIDEBAND_AUX = 11,
	NTRACE_SIDEBAND_ITRACE_START = 12,
	NTRACE_SIDEBAND_LOST_SAMPLES = 13,
	NTRACE_SIDEBAND_SWITCH = 14,
	NTRACE_SIDEBAND_SWITCH_CPU_WIDE = 15,
	NTRACE_SIDEBAND_KSYMBOL = 17,
	NTRACE_SIDEBAND_BPF_EVENT = 18,
	NTRACE_SIDEBAND_TEXT_POKE = 20,
};

/* ntrace_sideband.cpu of a record without a CPU */
#define NTRACE_SIDEBAND_NO_CPU UINT32_MAX

/**
 * struct ntrace_sideband - one decoded record
 * @type: enum ntrace_sideband_type
 * @misc: misc of the record's header, unchanged (PERF_RECORD_MISC_...)
 * @cpumode_kernel: MMAP, MMAP2: kernel or module text
 * @exec: COMM: exec() changed the name: a new program runs from here on
 * @out: SWITCH, SWITCH_CPU_WIDE: the task leaves the CPU; if false, it enters the CPU
 * @preempt: SWITCH, SWITCH_CPU_WIDE with @out: the task was still runnable
 * @unregister: KSYMBOL: the symbol is removed
 * @executable: MMAP, MMAP2: the memory can be executed
 * @build_id_size: MMAP, MMAP2: bytes of @build_id, 0 = neither the record nor the BUILD_ID table of the
 *                 file has one
 * @cpu: CPU that wrote the record, NTRACE_SIDEBAND_NO_CPU = unknown
 * @time: timestamp in ns of the events' clock; 0 = unknown
 * @pid: process that maps, is named, exits, or is the child of a fork; for switches the task that
 *       leaves (@out) or enters the CPU; AUX, ITRACE_START: the traced process; -1 = the kernel or
 *       a task that no longer exists
 * @tid: thread of @pid
 * @other_pid: FORK, EXIT: parent; SWITCH_CPU_WIDE: the task that enters (@out) or left the CPU
 * @other_tid: likewise
 * @address: MMAP, MMAP2, KSYMBOL, TEXT_POKE: first address
 * @length: MMAP, MMAP2, KSYMBOL, AUX: bytes
 * @offset: MMAP, MMAP2: offset in the file; AUX: position of the first byte in the AUX area, or
 *          after the last byte if @code has PERF_AUX_FLAG_OVERWRITE
 * @count: LOST, LOST_SAMPLES: number of records lost
 * @id: LOST, AUX, ITRACE_START: id of the event; BPF_EVENT: id of the program
 * @code: KSYMBOL: PERF_RECORD_KSYMBOL_TYPE_...; BPF_EVENT: PERF_BPF_EVENT_...; AUX:
 *        PERF_AUX_FLAG_...
 * @old_length: TEXT_POKE: bytes of @old_bytes
 * @new_length: TEXT_POKE: bytes of @new_bytes
 * @name: COMM, MMAP, MMAP2, KSYMBOL: 0-terminated; else "". Points into the file, valid until the
 *        file is closed
 * @build_id: MMAP, MMAP2: the build-id, @build_id_size bytes
 * @old_bytes: TEXT_POKE: code before the change; points into the file
 * @new_bytes: TEXT_POKE: code after the change; points into the file
 * @position: offset of the record in the file: the order of records with the same time
 * @inode: MMAP2 whose record has no build-id: inode of the file, 0 = none or unknown
 * @inode_generation: likewise
 * @device_major: likewise, device of the inode's file system
 * @device_minor: likewise
 * @writable: MMAP2: the memory can be written
 * @shared: MMAP2: others may write it, as it is not private (MAP_SHARED)
 */
struct ntrace_sideband {
	uint32_t type;
	uint16_t misc;
	bool cpumode_kernel;
	bool exec;
	bool out;
	bool preempt;
	bool unregister;
	bool executable;
	uint8_t build_id_size;
	uint32_t cpu;
	uint64_t time;
	int32_t pid;
	int32_t tid;
	int32_t other_pid;
	int32_t other_tid;
	uint64_t address;
	uint64_t length;
	uint64_t offset;
	uint64_t count;
	uint64_t id;
	uint32_t code;
	uint16_t old_length;
	uint16_t new_length;
	const char *name;
	uint8_t build_id[20];
	const uint8_t *old_bytes;
	const uint8_t *new_bytes;
	uint64_t position;
	uint64_t inode;
	uint64_t inode_generation;
	uint32_t device_major;
	uint32_t device_minor;
	bool writable;
	bool shared;
};

/* ---- writer ------------------------------------------------------------- */

struct ntrace_perf_writer;

/**
 * ntrace_perf_writer_open - start a perf.data file
 * @writer: the new writer, to be freed with ntrace_perf_writer_close()
 * @path: file to create (the `data` file of a perf.data directory, or any file); an existing file
 *        is replaced
 *
 * Order of calls: open, ntrace_perf_writer_event() for every event, then records and features in
 * any order, close. The file is complete after close only.
 *
 * Return: 0, NTRACE_ERR_IO (errno is kept), NTRACE_ERR_NOMEM.
 */
NTRACE_API int ntrace_perf_writer_open(struct ntrace_perf_writer **writer, const char *path);

/**
 * ntrace_perf_writer_event - declare an event, before the first record
 * @writer: writer made by ntrace_perf_writer_open()
 * @attr: as given to perf_event_open(); attr->size bytes are copied and stored. Sideband records
 *        need sample_id_all and PERF_SAMPLE_TID|TIME|CPU|IDENTIFIER; the clock of a recording is
 *        use_clockid with CLOCK_MONOTONIC
 * @ids: PERF_EVENT_IOC_ID of each instance (one per CPU); copied
 * @count: number of @ids
 * @name: name of the event in reports, e.g. "dummy:u"; may be NULL
 *
 * Return: 0, NTRACE_ERR_INVALID (records were written already, attr->size is less than 64 or more
 * than 4096, other attr->size than the first event), NTRACE_ERR_NOMEM.
 */
NTRACE_API int ntrace_perf_writer_event(struct ntrace_perf_writer *writer,
					const struct perf_event_attr *attr, const uint64_t *ids,
					size_t count, const char *name);

/**
 * ntrace_perf_writer_records - append records written by the kernel
 * @writer: writer made by ntrace_perf_writer_open()
 * @records: whole records, for instance read from a ring buffer
 * @size: number of bytes; 0 is allowed
 *
 * Return: 0, NTRACE_ERR_INVALID (not a chain of whole records: nothing is written), NTRACE_ERR_IO.
 */
NTRACE_API int ntrace_perf_writer_records(struct ntrace_perf_writer *writer, const void *records,
					  size_t size);

/**
 * ntrace_perf_writer_sideband - build and append a record
 * @writer: writer made by ntrace_perf_writer_open()
 * @sideband: the record; borrowed during the call. The flags add their bits to its misc; its
 *            position is not used
 *
 * For records that the kernel did not write: mappings and names of tasks started earlier. Accepts
 * all types of enum ntrace_sideband_type. The trailer (sample_id) follows the first event's attr.
 *
 * Return: 0, NTRACE_ERR_INVALID (type, or a name that does not fit a record), NTRACE_ERR_IO.
 */
NTRACE_API int ntrace_perf_writer_sideband(struct ntrace_perf_writer *writer,
					   const struct ntrace_sideband *sideband);

/**
 * ntrace_perf_writer_finish_round - mark that every ring buffer was emptied once
 * @writer: writer made by ntrace_perf_writer_open()
 *
 * Lets readers sort in bounded memory: no record written after the next round is older than a
 * record written before this one.
 *
 * Return: 0 or NTRACE_ERR_IO.
 */
NTRACE_API int ntrace_perf_writer_finish_round(struct ntrace_perf_writer *writer);

/**
 * struct ntrace_perf_features - description of the machine in the file's header
 * @size: sizeof(struct ntrace_perf_features) of the caller
 * @hostname: name of the recorded machine; NULL here and below = not stored
 * @release: kernel release, uname -r
 * @version: version of the recording tool
 * @arch: uname -m
 * @cpus_available: 0 = not stored
 * @cpus_online: likewise
 * @argc: number of words of the command line; 0 = not stored
 * @argv: words of the command line
 * @clock_resolution_ns: 0 = not stored
 * @branch_stacks: samples have branch stacks; perf report --branch-history requires this flag
 * @tracepoints: content of the section HEADER_TRACING_DATA; NULL = not stored. perf reads no file with an event of
 *	PERF_TYPE_TRACEPOINT without it
 * @tracepoints_size: bytes
 */
struct ntrace_perf_features {
	size_t size;
	const char *hostname;
	const char *release;
	const char *version;
	const char *arch;
	uint32_t cpus_available;
	uint32_t cpus_online;
	uint32_t argc;
	const char *const *argv;
	uint64_t clock_resolution_ns;
	bool branch_stacks;
	const void *tracepoints;
	size_t tracepoints_size;
};

/**
 * ntrace_perf_writer_features - set the features of the file's header
 * @writer: writer made by ntrace_perf_writer_open()
 * @features: the features; copied with all strings
 *
 * The last call wins.
 *
 * Return: 0, NTRACE_ERR_INVALID (features that the library does not know) or NTRACE_ERR_NOMEM.
 */
NTRACE_API int ntrace_perf_writer_features(struct ntrace_perf_writer *writer,
					   const struct ntrace_perf_features *features);

/**
 * ntrace_perf_writer_build_id - add a file to the BUILD_ID table
 * @writer: writer made by ntrace_perf_writer_open()
 * @kernel: the file is the kernel or a module
 * @path: path of the file, at most 4096 bytes; copied
 * @build_id: the build-id; copied
 * @size: number of bytes of @build_id, 1..20
 *
 * Return: 0, NTRACE_ERR_INVALID (@size or @path out of range), NTRACE_ERR_NOMEM.
 */
NTRACE_API int ntrace_perf_writer_build_id(struct ntrace_perf_writer *writer, bool kernel,
					   const char *path, const uint8_t *build_id, size_t size);

/**
 * ntrace_perf_writer_flush - write everything so far to the file
 * @writer: writer made by ntrace_perf_writer_open()
 *
 * Readers of the file see the events and all records; they take it as unfinished.
 *
 * Return: 0 or NTRACE_ERR_IO (errno is kept).
 */
NTRACE_EXPERIMENTAL int ntrace_perf_writer_flush(struct ntrace_perf_writer *writer);

/**
 * ntrace_perf_writer_close - write features and header, free the writer
 * @writer: writer made by ntrace_perf_writer_open(); freed even on error; NULL is allowed
 *
 * Return: 0, or NTRACE_ERR_IO for the first failed write of all calls (errno is kept).
 */
NTRACE_API int ntrace_perf_writer_close(struct ntrace_perf_writer *writer);

/**
 * ntrace_perf_write_tasks - write records for tasks that already run, from /proc
 * @writer: writer made by ntrace_perf_writer_open(), with an event
 * @proc: mount point of procfs; NULL = "/proc"
 *
 * COMM for every thread, FORK for threads of a process and MMAP2 for executable mappings, as perf
 * record -a synthesizes them (with time 0, before all other records). A mapping has the build-id of the
 * file that is mapped, even if it was replaced or is in a container; else its inode. Call it after the
 * events are open, so that no task is missed. Tasks that end during the call are left out.
 *
 * Return: 0, NTRACE_ERR_IO, NTRACE_ERR_NOMEM.
 */
NTRACE_API int ntrace_perf_write_tasks(struct ntrace_perf_writer *writer, const char *proc);

/**
 * ntrace_perf_write_task - ntrace_perf_write_tasks() for one process
 * @writer: writer made by ntrace_perf_writer_open(), with an event
 * @proc: mount point of procfs; NULL = "/proc"
 * @pid: the process, or one of its threads; nothing is written if it has ended
 *
 * Return: as ntrace_perf_write_tasks().
 */
NTRACE_API int ntrace_perf_write_task(struct ntrace_perf_writer *writer, const char *proc,
				      int32_t pid);

/* ---- reader ------------------------------------------------------------- */

struct ntrace_perf_file;

/**
 * struct ntrace_perf_record - a record in its file format
 * @type: enum perf_event_type or a type of the perf tool (64 and up) or any other number
 * @misc: misc of the header
 * @size: bytes with the header (AUXTRACE: without the trace that follows)
 * @data: header and body; valid until the file is closed
 * @payload: AUXTRACE: the trace after the record; else NULL
 * @payload_size: bytes of @payload
 * @position: offset in the file; for a decompressed record a value beyond the file's end, still in
 *            ascending order
 */
struct ntrace_perf_record {
	uint32_t type;
	uint16_t misc;
	uint16_t size;
	const uint8_t *data;
	const uint8_t *payload;
	uint64_t payload_size;
	uint64_t position;
};

/**
 * ntrace_perf_file_open - a perf.data file, directory, or file made by perf record -o -
 * @file: the new reader, to be freed with ntrace_perf_file_close()
 * @path: file, or a directory that holds a file `data`
 *
 * The file is mapped, not copied. Data that perf record -z compressed is decompressed into memory,
 * up to 4 GiB and 1024 times the size of the file. The reader never trusts sizes in the file.
 *
 * Return: 0, NTRACE_ERR_IO (errno is kept), NTRACE_ERR_FORMAT (not a perf.data file),
 * NTRACE_ERR_UNSUPPORTED (other byte order), NTRACE_ERR_NOMEM.
 */
NTRACE_API int ntrace_perf_file_open(struct ntrace_perf_file **file, const char *path);

/**
 * ntrace_perf_file_close - free a reader and unmap the file
 * @file: reader made by ntrace_perf_file_open(); NULL is allowed
 */
NTRACE_API void ntrace_perf_file_close(struct ntrace_perf_file *file);

/**
 * ntrace_perf_file_events - number of events (attrs)
 * @file: reader made by ntrace_perf_file_open()
 *
 * Return: number of events; 0 in a file without attrs.
 */
NTRACE_API unsigned int ntrace_perf_file_events(const struct ntrace_perf_file *file);

/**
 * ntrace_perf_file_attr - attr of an event, zero-filled if the attr in the file is shorter
 * @file: reader made by ntrace_perf_file_open()
 * @index: number of the event, from 0
 *
 * Return: attr owned by the file; NULL if @index is too large.
 */
NTRACE_API const struct perf_event_attr *ntrace_perf_file_attr(const struct ntrace_perf_file *file,
							       unsigned int index);

/**
 * enum ntrace_perf_feature - strings of the header, for ntrace_perf_file_feature(): the feature
 * numbers of perf
 * @NTRACE_PERF_HOSTNAME: name of the recorded machine
 * @NTRACE_PERF_OSRELEASE: kernel release, uname -r
 * @NTRACE_PERF_VERSION: version of the recording tool
 * @NTRACE_PERF_ARCH: uname -m
 */
enum ntrace_perf_feature {
	NTRACE_PERF_HOSTNAME = 3,
	NTRACE_PERF_OSRELEASE = 4,
	NTRACE_PERF_VERSION = 5,
	NTRACE_PERF_ARCH = 6,
};

/**
 * ntrace_perf_file_feature - string of the header
 * @file: reader made by ntrace_perf_file_open()
 * @feature: enum ntrace_perf_feature
 *
 * Return: string owned by the file; NULL if it is not stored.
 */
NTRACE_API const char *ntrace_perf_file_feature(const struct ntrace_perf_file *file,
						enum ntrace_perf_feature feature);

/**
 * ntrace_perf_file_pmu - name of the PMU with a type
 * @file: reader made by ntrace_perf_file_open()
 * @type: perf_event_attr.type, which each start of a kernel numbers anew
 *
 * Return: name owned by the file; NULL if the file does not tell it.
 */
NTRACE_API const char *ntrace_perf_file_pmu(const struct ntrace_perf_file *file, uint32_t type);

/**
 * ntrace_perf_file_cpus - number of CPUs of the recorded machine
 * @file: reader made by ntrace_perf_file_open()
 *
 * Return: CPUs that the machine may have; 0 if the file does not tell it.
 */
NTRACE_API uint32_t ntrace_perf_file_cpus(const struct ntrace_perf_file *file);

/**
 * ntrace_perf_file_records - all records in the order of the file
 * @file: reader made by ntrace_perf_file_open()
 * @callback: called with each record, which is borrowed during the call; a nonzero result stops
 * @data: passed to @callback
 *
 * For a compressed record, @callback gets the records inside, or the compressed record itself if it
 * cannot be read.
 *
 * Return: 0, what @callback returned, or NTRACE_ERR_TRUNCATED after the last whole record if the
 * data ends inside a record or the file was never closed by its writer.
 */
NTRACE_API int ntrace_perf_file_records(const struct ntrace_perf_file *file,
					int (*callback)(void *data,
							const struct ntrace_perf_record *record),
					void *data);

/**
 * ntrace_perf_file_parse - decode a record
 * @file: the file of @record: its events define the trailer
 * @record: a record of @file; a copy may be decoded after its callback
 * @sideband: filled in if the result is 0
 *
 * Return: 0; NTRACE_ERR_UNSUPPORTED if its type is not in enum ntrace_sideband_type;
 * NTRACE_ERR_TRUNCATED if it is shorter than its type needs.
 */
NTRACE_API int ntrace_perf_file_parse(const struct ntrace_perf_file *file,
				      const struct ntrace_perf_record *record,
				      struct ntrace_sideband *sideband);

/**
 * struct ntrace_perf_sample - a sample: its address and branch stack
 * @address: address of the instruction; 0 = unknown
 * @time: as in struct ntrace_sideband
 * @pid: process, -1 = unknown
 * @tid: thread of @pid
 * @kernel: the sample was taken in the kernel
 * @has_branches: the sample has a branch stack, which may be empty
 * @reserved: 0
 * @branch_count: number of entries, for ntrace_perf_sample_branch()
 * @branches: points into the file
 * @registers: user registers, 8 bytes each, in the order of enum perf_event_riscv_regs: pc, x1 to x31.
 *             Points into the file; NULL unless the sample has all of them
 * @stack: bytes from the user's stack pointer on; points into the file
 * @stack_size: number of bytes at @stack
 * @event: number of its event, for ntrace_perf_file_attr()
 * @raw_size: number of bytes at @raw, with padding
 * @raw: data that the event's source has put into the sample; points into the file
 */
struct ntrace_perf_sample {
	uint64_t address;
	uint64_t time;
	int32_t pid;
	int32_t tid;
	bool kernel;
	bool has_branches;
	uint8_t reserved[6];
	size_t branch_count;
	const uint8_t *branches;
	const uint8_t *registers;
	const uint8_t *stack;
	size_t stack_size;
	unsigned int event;
	uint32_t raw_size;
	const uint8_t *raw;
};

/* Number of registers at ntrace_perf_sample.registers */
#define NTRACE_PERF_REGISTERS 32

/**
 * ntrace_perf_file_sample - decode a sample
 * @file: the file of @record: its events define the layout
 * @record: a record of @file; a copy may be decoded after its callback
 * @sample: filled in; valid until the file is closed
 *
 * Return: 0; NTRACE_ERR_UNSUPPORTED if the record is no sample; NTRACE_ERR_TRUNCATED if it is
 * shorter than its event requires.
 */
NTRACE_API int ntrace_perf_file_sample(const struct ntrace_perf_file *file,
				       const struct ntrace_perf_record *record,
				       struct ntrace_perf_sample *sample);

/**
 * ntrace_perf_sample_branch - source and target of a transfer
 * @sample: a sample with a branch stack
 * @index: number of the entry, 0 is the newest
 * @from: set to the address of the branch; 0 if @index is too large
 * @to: set to the address of the target; 0 if @index is too large
 */
NTRACE_API void ntrace_perf_sample_branch(const struct ntrace_perf_sample *sample, size_t index,
					  uint64_t *from, uint64_t *to);

/* Types of the records that hold trace: ntrace_perf_record.type */
#define NTRACE_PERF_AUXTRACE_INFO 70
#define NTRACE_PERF_AUXTRACE 71

/**
 * struct ntrace_perf_auxtrace - the trace after an AUXTRACE record
 * @offset: position of the trace's first byte in the AUX area
 * @index: number of the AUX area
 * @tid: thread whose events fill the area; -1 = all threads that run on @cpu
 * @cpu: CPU of the area, NTRACE_SIDEBAND_NO_CPU = the area follows @tid across CPUs
 */
struct ntrace_perf_auxtrace {
	uint64_t offset;
	uint32_t index;
	int32_t tid;
	uint32_t cpu;
};

/**
 * ntrace_perf_file_auxtrace - decode an AUXTRACE record
 * @record: a record
 * @auxtrace: filled in if the result is 0
 *
 * Return: 0; NTRACE_ERR_UNSUPPORTED if the record is of another type; NTRACE_ERR_TRUNCATED if it is
 * too short.
 */
NTRACE_API int ntrace_perf_file_auxtrace(const struct ntrace_perf_record *record,
					 struct ntrace_perf_auxtrace *auxtrace);

/**
 * struct ntrace_perf_counts - statistics of ntrace_perf_file_sideband()
 * @sideband: records passed to the callback
 * @others: records of other types
 * @compressed: compressed records that could not be read: damaged, or too long
 * @damaged: records shorter than their type needs
 * @truncated: the data ends inside a record
 */
struct ntrace_perf_counts {
	uint64_t sideband;
	uint64_t others;
	uint64_t compressed;
	uint64_t damaged;
	bool truncated;
};

/**
 * ntrace_perf_file_sideband - all sideband records sorted by time
 * @file: reader made by ntrace_perf_file_open()
 * @callback: a nonzero result stops
 * @data: passed to @callback
 * @counts: may be NULL
 *
 * Records of the same time come in the order of the file.
 *
 * Return: 0, what @callback returned, NTRACE_ERR_NOMEM. A truncated file is no error: see @counts.
 */
NTRACE_API int ntrace_perf_file_sideband(const struct ntrace_perf_file *file,
					 int (*callback)(void *data,
							 const struct ntrace_sideband *sideband),
					 void *data, struct ntrace_perf_counts *counts);

#ifdef __cplusplus
}
#endif

#endif /* NTRACE_PERF_H */
