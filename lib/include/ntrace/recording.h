/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Recordings: the files of a perf.data directory besides `data` and the trace itself. Format:
 * Documentation/trace/recording.md. The recorder uses the writing functions on the traced machine;
 * the session uses the reading functions.
 *
 * Order for a recorder: ntrace_recording_create(); open the sideband events;
 * ntrace_recording_copy_kernel(START) and ntrace_recording_copy_vdso(); ntrace_recording_write() of
 * an unfinished recording; trace into aux.N; ntrace_recording_copy_kernel(END);
 * ntrace_recording_write().
 */
#ifndef NTRACE_RECORDING_H
#define NTRACE_RECORDING_H

#include <sys/types.h>

#include <ntrace/params.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Raised when a key changes its meaning; new keys do not raise it. */
#define NTRACE_RECORDING_VERSION 1

/* A file with more streams than this is not accepted as a recording. */
#define NTRACE_RECORDING_STREAMS_MAX 4096

/* Room for any text of ntrace_stream_losses() */
#define NTRACE_STREAM_LOSSES_SIZE 768

/* ntrace_stream.cpu of a task that was followed from CPU to CPU */
#define NTRACE_STREAM_NO_CPU UINT32_MAX

/**
 * struct ntrace_stream - one aux.N of a recording
 * @file: when writing and in ntrace_recording_read(): name within the directory, "aux.0", or
 *        "aux.0.zst" if it is compressed by zstd; in a session: path
 * @params: stream parameters; owned by the recording or session that was read. When writing, NULL
 *          stands for those of ntrace_params_init()
 * @cpu: Linux number of the hart; NTRACE_STREAM_NO_CPU: the stream follows a task across CPUs
 * @hartid: RISC-V hart id
 * @src: SRC of the hart's messages; NTRACE_SRC_ANY: that of each message, because the kernel has
 *       separated them, as for perf
 * @bytes: bytes of trace in the file, uncompressed
 * @lost: bytes lost while recording
 * @lost_exact: @lost is exact, as it is if nothing was lost; if false, @lost is a lower bound
 * @gaps: number of gaps in the recorded trace
 * @start_ns: CLOCK_MONOTONIC at the start of the trace
 * @stop_ns: likewise at its end; 0 = unknown
 * @event: for a trace recorded through perf: id of the event that owns the AUX area. AUX records in
 *         the sideband assign each piece of trace to a task: records of the CPU, or of this event
 *         if @cpu is NTRACE_STREAM_NO_CPU. 0 = trace of one hart with all tasks that ran on it
 * @position: with @event: position of the first byte of the file in the AUX area
 * @loss: causes of the losses, NTRACE_LOSS_... (linux/ntrace.h); 0 = unknown, or nothing lost
 * @reserved: 0; ntrace_recording_write() refuses anything else
 *
 * The size of the struct never changes, because streams are in an array: new fields take their room
 * from the reserved words, and 0 is their default.
 */
struct ntrace_stream {
	const char *file;
	const struct ntrace_params *params;
	unsigned int cpu;
	uint64_t hartid;
	unsigned int src;
	uint64_t bytes;
	uint64_t lost;
	bool lost_exact;
	uint64_t gaps;
	uint64_t start_ns;
	uint64_t stop_ns;
	uint64_t event;
	uint64_t position;
	uint64_t loss;
	uint64_t reserved[7];
};

/**
 * struct ntrace_recording - the file `params`
 * @size: sizeof(struct ntrace_recording) of the caller
 * @tool: version of the recording tool
 * @module: version of the kernel module; "" = unknown
 * @release: kernel release, uname -r
 * @machine: uname -m
 * @clock: clock of all times: "monotonic"
 * @command: the recorded command, for display; "" = unknown
 * @privilege: traced privileges, NTRACE_PRIVILEGE_... (linux/ntrace.h); 0 = unknown
 * @streams: array of streams
 * @stream_count: number of streams
 * @unfinished: the recorder has not ended, or was killed: @bytes, @lost, @gaps, @loss and @stop_ns of
 *              the streams are unknown
 * @reserved: 0
 *
 * Strings contain no newline. When writing, NULL means "".
 */
struct ntrace_recording {
	size_t size;
	const char *tool;
	const char *module;
	const char *release;
	const char *machine;
	const char *clock;
	const char *command;
	uint32_t privilege;
	unsigned int stream_count;
	const struct ntrace_stream *streams;
	uint32_t unfinished;
	uint32_t reserved;
};

/**
 * ntrace_stream_losses - say what was lost while a stream was recorded
 * @stream: stream, or the sum of several, see ntrace_stream_add_losses()
 * @text: takes a clause without a full stop: CPU, how much was lost, in how many places, why, and
 *        which option of `ntrace record` helps; NULL is allowed if @size is 0
 * @size: bytes of @text; NTRACE_STREAM_LOSSES_SIZE is enough, a longer text is cut
 *
 * Return: length of the whole text; 0 if nothing was lost.
 */
NTRACE_API size_t ntrace_stream_losses(const struct ntrace_stream *stream, char *text, size_t size);

/**
 * ntrace_stream_add_losses - add the losses of a stream to a sum
 * @sum: has the sum; begins as zeroes, with @cpu NTRACE_STREAM_NO_CPU and @lost_exact true
 * @stream: stream to add
 */
NTRACE_API void ntrace_stream_add_losses(struct ntrace_stream *sum,
					 const struct ntrace_stream *stream);

/**
 * ntrace_recording_create - make the directory of a recording
 * @directory: path of a directory that does not exist; its parent does
 *
 * Makes @directory and @directory/images.
 *
 * Return: 0 or NTRACE_ERR_IO (errno is kept: EEXIST if DIRECTORY exists).
 */
NTRACE_API int ntrace_recording_create(const char *directory);

/**
 * ntrace_recording_write - write the file params of a recording
 * @directory: path of the recording
 * @recording: contents of the file; borrowed during the call
 *
 * A repeated call replaces the file atomically.
 *
 * Return: 0, NTRACE_ERR_INVALID (a string with a newline, too many streams), NTRACE_ERR_IO (errno
 * is kept).
 */
NTRACE_API int ntrace_recording_write(const char *directory,
				      const struct ntrace_recording *recording);

/**
 * ntrace_recording_read - read the file params of a recording
 * @recording: allocated; free with ntrace_recording_free()
 * @directory: path of the recording
 * @reason: on NTRACE_ERR_FORMAT and NTRACE_ERR_UNSUPPORTED one sentence without newline that
 *          describes the error and its place; may be NULL
 * @reason_size: bytes at @reason; 0 if @reason is NULL
 *
 * Unknown keys are skipped.
 *
 * Return: 0, NTRACE_ERR_IO (errno is kept), NTRACE_ERR_FORMAT, NTRACE_ERR_UNSUPPORTED (made by a
 * newer version), NTRACE_ERR_NOMEM.
 */
NTRACE_API int ntrace_recording_read(struct ntrace_recording **recording, const char *directory,
				     char *reason, size_t reason_size);

/**
 * ntrace_recording_free - free a recording made by ntrace_recording_read()
 * @recording: a recording with its streams and strings; NULL is allowed
 */
NTRACE_API void ntrace_recording_free(struct ntrace_recording *recording);

enum ntrace_recording_when {
	NTRACE_RECORDING_START,
	NTRACE_RECORDING_END,
};

/**
 * struct ntrace_kernel_copy - source of the kernel text, and statistics of the copy
 * @size: sizeof(struct ntrace_kernel_copy) of the caller
 * @kcore: NULL = "/proc/kcore"
 * @kallsyms: NULL = "/proc/kallsyms"
 * @ranges: out: number of pieces of text written
 * @bytes: out: total size of these pieces in bytes
 * @changed: out, END only: 16-bit parcels that differ from the copy made at START
 * @state: out at START, in at END: fingerprint of the loaded code at START. Pass the same struct to
 *         both calls: END reads the symbols of the running kernel, which takes seconds, only if the
 *         fingerprint has changed. 0 = unknown, END reads the symbols
 */
struct ntrace_kernel_copy {
	size_t size;
	const char *kcore;
	const char *kallsyms;
	uint64_t ranges;
	uint64_t bytes;
	uint64_t changed;
	uint64_t state;
};

/**
 * ntrace_recording_copy_kernel - copy the text of kernel, modules and BPF programs from memory
 * @directory: path of the recording
 * @when: START, once, after the events are open and before the trace starts (opening an event flips
 *        a static key); END, after it stopped
 * @copy: source and statistics; may be NULL
 *
 * START writes images/kernel.start (ELF core file) and images/kallsyms (only text symbols, and one
 * compiler-generated label per page). END writes images/kernel.end, which holds only pages that
 * changed or appeared after START, and images/kallsyms.end if symbols changed. Needs CAP_SYSLOG and
 * CAP_SYS_RAWIO.
 *
 * Return: 0, NTRACE_ERR_IO (errno is kept; EACCES if kallsyms hides addresses), NTRACE_ERR_FORMAT
 * (kcore or kallsyms has another format), NTRACE_ERR_NOMEM, NTRACE_ERR_INVALID (fields in @copy
 * that the library does not know).
 */
NTRACE_API int ntrace_recording_copy_kernel(const char *directory, enum ntrace_recording_when when,
					    struct ntrace_kernel_copy *copy);

/**
 * ntrace_recording_copy_vdso - copy the vDSO of the calling process to images/vdso
 * @directory: path of the recording
 *
 * Return: 0, NTRACE_ERR_NOMAP (the process has no vDSO), NTRACE_ERR_IO (errno is kept).
 */
NTRACE_API int ntrace_recording_copy_vdso(const char *directory);

struct ntrace_keeper;

/**
 * struct ntrace_keeper_options - what to keep, and statistics
 * @size: sizeof(struct ntrace_keeper_options) of the caller
 * @proc: NULL = "/proc"
 * @sample_type: of the events whose records are passed to ntrace_keeper_record(): PERF_SAMPLE_...
 * @file_bytes: largest file or memory to keep; 0 = 64 MiB
 * @all_bytes: of all files and memory together; 0 = 512 MiB
 * @data: keep files of private mappings that are not executed, too
 */
struct ntrace_keeper_options {
	size_t size;
	const char *proc;
	uint64_t sample_type;
	uint64_t file_bytes;
	uint64_t all_bytes;
	bool data;
};

/**
 * struct ntrace_keeper_counts - what was kept
 * @size: sizeof(struct ntrace_keeper_counts) of the caller
 * @files: number of files and pieces of memory
 * @bytes: of these
 * @too_large: number that exceeded a limit: code in them may be unknown later
 * @failed: number that could not be written
 * @error: errno of the first of these
 * @unknown_data: number of data files that were not kept, because they are too large or have changed
 * @gone_memory: number of pieces of memory that their processes had unmapped before they were copied
 * @gone_pid: the process of the first of these
 */
struct ntrace_keeper_counts {
	size_t size;
	uint64_t files;
	uint64_t bytes;
	uint64_t too_large;
	uint64_t failed;
	int error;
	uint64_t unknown_data;
	uint64_t gone_memory;
	int32_t gone_pid;
};

/**
 * ntrace_keeper_open - start to keep code that cannot be found after the recording
 * @keeper: allocated; free with ntrace_keeper_close()
 * @directory: path of the recording
 * @options: may be NULL
 *
 * A mapping names a file by its path and build-id. Later that path may lead nowhere, or to another file.
 * The keeper looks at each mapping while its process runs, and copies to images/files: files that their
 * path does not lead to, because they were removed or replaced, or are in a container or a memfd; files
 * without build-id; and executable memory that shows no file and that the process cannot write. Data files
 * are kept if nobody has changed them since a second before ntrace_keeper_open(), nor does until
 * ntrace_keeper_close(): a private mapping may show either content.
 *
 * Return: 0, NTRACE_ERR_NOMEM, NTRACE_ERR_INVALID (fields in @options that the library does not know).
 */
NTRACE_API int ntrace_keeper_open(struct ntrace_keeper **keeper, const char *directory,
				  const struct ntrace_keeper_options *options);

/**
 * ntrace_keeper_tasks - keep code of processes that already run
 * @keeper: made by ntrace_keeper_open()
 * @pid: the process, or one of its threads; 0 = all
 *
 * Return: 0, NTRACE_ERR_NOMEM, NTRACE_ERR_IO: there is no procfs.
 */
NTRACE_API int ntrace_keeper_tasks(struct ntrace_keeper *keeper, int32_t pid);

/**
 * ntrace_keeper_record - keep code that a record of the kernel announces
 * @keeper: made by ntrace_keeper_open()
 * @record: a record as in the ring buffer of an event; only PERF_RECORD_MMAP2 matters
 * @size: bytes of the record
 *
 * A process that has ended by now is not an error.
 *
 * Return: 0, NTRACE_ERR_NOMEM.
 */
NTRACE_API int ntrace_keeper_record(struct ntrace_keeper *keeper, const void *record, size_t size);

/**
 * ntrace_keeper_close - free a keeper
 * @keeper: made by ntrace_keeper_open(); NULL is allowed
 * @counts: filled in; may be NULL
 *
 * Memory that has changed since it was copied is removed from the recording: it is unknown which code
 * was executed when.
 *
 * Return: 0, NTRACE_ERR_INVALID (@counts has fields that the library does not know).
 */
NTRACE_API int ntrace_keeper_close(struct ntrace_keeper *keeper,
				   struct ntrace_keeper_counts *counts);

/* ZSTD if the name of the file ends in ".zst": a plain trace may begin with any bytes. */
enum ntrace_trace_packing {
	NTRACE_TRACE_PLAIN,
	NTRACE_TRACE_ZSTD,
	NTRACE_TRACE_GUESS, /* detect zstd by the first bytes: a trace cannot begin with them,
			     * since their TCODE is reserved */
};

struct ntrace_trace_file;

/**
 * ntrace_trace_file_open - open a trace file or a pipe for reading
 * @file: allocated; free with ntrace_trace_file_close()
 * @fd: descriptor open for reading; owned by the caller; must stay open until @file is closed
 * @packing: how to find out whether the file is compressed
 *
 * Return: 0, NTRACE_ERR_FORMAT (not a zstd file), NTRACE_ERR_IO (errno is kept), NTRACE_ERR_NOMEM.
 */
NTRACE_API int ntrace_trace_file_open(struct ntrace_trace_file **file, int fd,
				      enum ntrace_trace_packing packing);

/**
 * ntrace_trace_file_unframe - read the bytes of one source of CoreSight frames
 * @file: file opened by ntrace_trace_file_open(), of which nothing was read yet
 * @source: source ID, 1..0x6f: atid of struct ntrace_params
 *
 * Where bytes are missing, ntrace_trace_file_read() returns one byte 0x02, whose MSEO no encoder
 * sends: a message reader reports an error there, and continues after the end of the next message.
 *
 * Return: 0, NTRACE_ERR_INVALID for another source, NTRACE_ERR_NOMEM.
 */
NTRACE_API int ntrace_trace_file_unframe(struct ntrace_trace_file *file, unsigned int source);

/**
 * ntrace_trace_file_limit - read no more of a file than was recorded
 * @file: file opened by ntrace_trace_file_open()
 * @most: bytes of the file, uncompressed, frames included: @bytes of struct ntrace_stream
 *
 * The file ends after @most bytes. A few compressed bytes may stand for more than any disk holds.
 */
NTRACE_EXPERIMENTAL void ntrace_trace_file_limit(struct ntrace_trace_file *file, uint64_t most);

/**
 * ntrace_trace_file_offset - position in the file
 * @file: file opened by ntrace_trace_file_open()
 *
 * Return: number of bytes of the file read so far, uncompressed, frames included; at the end, one more than the
 * limit of ntrace_trace_file_limit() if the file has more.
 */
NTRACE_API uint64_t ntrace_trace_file_offset(const struct ntrace_trace_file *file);

/**
 * ntrace_trace_file_packed - whether the file is compressed
 * @file: file opened by ntrace_trace_file_open()
 *
 * Return: true if its bytes are decompressed while they are read.
 */
NTRACE_API bool ntrace_trace_file_packed(const struct ntrace_trace_file *file);

/**
 * ntrace_trace_file_read - read the next bytes of trace
 * @file: file opened by ntrace_trace_file_open()
 * @buffer: room for @size bytes
 * @size: maximum number of bytes
 *
 * Like read(): returns the available bytes, which may be fewer than @size.
 *
 * Return: number of bytes, 0 at the end, NTRACE_ERR_IO (errno is kept), NTRACE_ERR_FORMAT: the
 * compressed data is damaged; bytes returned by earlier calls are valid.
 */
NTRACE_API ssize_t ntrace_trace_file_read(struct ntrace_trace_file *file, void *buffer,
					  size_t size);

/**
 * ntrace_trace_file_cut - whether the file ends inside a zstd frame
 * @file: a trace file whose end was reached: ntrace_trace_file_read() returned 0
 *
 * All readable bytes have been returned.
 *
 * Return: true if the recorder did not finish the file.
 */
NTRACE_API bool ntrace_trace_file_cut(const struct ntrace_trace_file *file);

/**
 * ntrace_trace_file_close - free a trace file; its descriptor stays open
 * @file: file opened by ntrace_trace_file_open(); NULL is allowed
 */
NTRACE_API void ntrace_trace_file_close(struct ntrace_trace_file *file);

#ifdef __cplusplus
}
#endif

#endif /* NTRACE_RECORDING_H */
