/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Session: one recording, and the attribution of its trace to threads.
 *
 * A recording is a perf.data directory: `data` (sideband, as stock perf writes and reads it),
 * `aux.N` (raw trace, one file per sink), `params` (streams and their parameters, see
 * Documentation/trace/recording.md) and `images/` (kernel text at the start and at the end,
 * kallsyms, vdso). The session joins them into address spaces over time. It also opens perf.data files
 * with trace or branch stacks, and raw traces.
 *
 * ntrace_session_decode() decodes each stream (the messages of one hart) with a flow, and passes a receiver
 * segments: code that one thread executed in one privilege, as blocks, or where messages repeat as runs
 * or sums. All other events of the flow come with their thread, too. No other module attributes
 * trace to threads.
 */
#ifndef NTRACE_SESSION_H
#define NTRACE_SESSION_H

#include <string.h>

#include <ntrace/flow.h>
#include <ntrace/perf.h>
#include <ntrace/recording.h>
#include <ntrace/runs.h>

#ifdef __cplusplus
extern "C" {
#endif

struct ntrace_session;

/**
 * struct ntrace_session_options - options for opening a recording
 * @size: sizeof(struct ntrace_session_options) of the caller
 * @sysroot: directory that holds the files of the recorded machine; NULL = the archive of the
 *           recording, or "/" if it has none: ntrace_session_archive().
 *           Debug files of stripped programs are searched in its usr/lib/debug and /usr/lib/debug
 * @firmware: ELF file of the M-mode firmware; NULL = M-mode is opaque
 * @firmware_bias: load address minus link address
 * @note: called with every message for the user (missing file, other build-id, lost records,
 *        truncated trace): one sentence without newline; may be NULL
 * @note_data: passed to @note
 * @params: for a perf.data file with trace: stream parameters in the syntax of
 *          ntrace_params_parse(), which override those of the file; ignored if they cannot be
 *          parsed. NULL = parameters of the file
 * @progress: called by ntrace_session_decode(), never by two threads at a time, after each piece of at most
 *            64 KiB of trace that it read, with the index of the stream and the number of bytes decoded so far, also while
 *            the trace contains no events; a nonzero result stops. May be NULL
 * @progress_data: passed to @progress
 * @live: the recording is about to be made, for ntrace_session_decode_live(): neither its trace files nor
 *        the end of its sideband are missed
 * @code: opens a raw trace: a file of messages, which zstd has compressed if its name ends in ".zst", with
 *        the parameters @params (defaults: ntrace_params_init()). The executed code is mapped in this space;
 *        the session gets its own reference, and nobody may change the space any more. Each SRC becomes a
 *        stream. All code counts as firmware, because a raw trace names no tasks. NULL = a recording
 */
struct ntrace_session_options {
	size_t size;
	const char *sysroot;
	const char *firmware;
	uint64_t firmware_bias;
	void (*note)(void *note_data, const char *text);
	void *note_data;
	const char *params;
	int (*progress)(void *progress_data, unsigned int stream, uint64_t bytes);
	void *progress_data;
	bool live;
	struct ntrace_space *code;
};

/**
 * ntrace_session_open - open a recording
 * @session: the new session, to be freed with ntrace_session_close()
 * @directory: path of a recording, of a perf.data file, or with options->code of a raw trace
 * @options: options; note and progress functions stay in use until ntrace_session_close(); NULL =
 *           defaults
 *
 * If a perf.data file holds trace of another driver (AUXTRACE records of rvtrace or SpacemiT), the
 * session lacks only the kernel's text; its streams are unnamed temporary files in $TMPDIR or /tmp.
 * If the file holds branch stacks, the session has no streams, see ntrace_session_samples().
 *
 * Return: 0, NTRACE_ERR_IO (errno is kept), NTRACE_ERR_FORMAT (not a recording) and NTRACE_ERR_UNSUPPORTED (of a
 * newer version; a link that leads out of the recording; a kernel without openat2(); a raw trace that zstd has
 * compressed, by its name plain), of which the reason goes to options->note, NTRACE_ERR_NOMEM,
 * NTRACE_ERR_INVALID (options that the library does not know; parameters of a raw trace that cannot be parsed).
 */
NTRACE_API int ntrace_session_open(struct ntrace_session **session, const char *directory,
				   const struct ntrace_session_options *options);

/**
 * ntrace_kernel_begin - the address that divides user space from the kernel, as Linux lays them out
 * @xlen: of the machine, 32 or 64
 *
 * RV64 (Sv39, Sv48, Sv57): the kernel has the upper half. RV32: user space, with its libraries and stack at the upper
 * end, ends below 0x9fc00000, and the kernel's mappings of code begin at 0xa0000000.
 *
 * Return: the least address of kernel code.
 */
NTRACE_API uint64_t ntrace_kernel_begin(unsigned int xlen);

/**
 * ntrace_session_roots - where files of the recorded machine are searched
 * @session: made by ntrace_session_open()
 *
 * The given sysroot and then this machine; or only the archive of the recording, so that one from elsewhere
 * shows nothing of this machine; or this machine alone.
 *
 * Return: array that ends with NULL, owned by the session: directories without a final slash, "" = "/".
 */
NTRACE_EXPERIMENTAL const char *const *ntrace_session_roots(const struct ntrace_session *session);

/**
 * ntrace_session_close - free a session with its streams, spaces and temporary files
 * @session: session opened by ntrace_session_open(); NULL is allowed
 */
NTRACE_API void ntrace_session_close(struct ntrace_session *session);

/**
 * ntrace_session_streams - number of streams
 * @session: session opened by ntrace_session_open()
 *
 * Return: number of streams, 0 for a perf.data file with branch stacks.
 */
NTRACE_API unsigned int ntrace_session_streams(const struct ntrace_session *session);

/**
 * ntrace_session_stream - description of a stream
 * @session: session opened by ntrace_session_open()
 * @index: number of the stream, from 0
 *
 * Return: stream owned by the session; NULL if @index is too large.
 */
NTRACE_API const struct ntrace_stream *ntrace_session_stream(const struct ntrace_session *session,
							     unsigned int index);

/**
 * ntrace_session_bytes - how much of the recorded trace of a stream is there
 * @session: session opened by ntrace_session_open()
 * @index: number of the stream, from 0
 *
 * A file that was cut has less than the @bytes of struct ntrace_stream, and one that was left unfinished may have
 * more. Of a compressed file this is known when it has been decoded to its end, and before then it is @bytes.
 *
 * Return: number of bytes, uncompressed; 0 if @index is too large.
 */
NTRACE_EXPERIMENTAL uint64_t ntrace_session_bytes(const struct ntrace_session *session,
						  unsigned int index);

/**
 * struct ntrace_archive_counts - statistics of an archive
 * @files: number of files copied
 * @bytes: total size of the files
 * @missing: programs that do not exist, or differ from the traced ones; a note gives the reason
 */
struct ntrace_archive_counts {
	uint64_t files;
	uint64_t bytes;
	uint64_t missing;
};

/**
 * ntrace_session_archive - copy the mapped programs and their debug files into the recording
 * @session: a session on a machine that has the programs
 * @counts: set to the statistics of the archive, also on error; not NULL
 *
 * Creates the directory "archive" in the recording. Each file keeps its path from the recorded
 * machine below this directory, with its debug file in .debug next to it, and the files that its DWARF refers
 * to (.dwo, .dwp, dwz). From then on the
 * recording is decoded only with these files, on any machine.
 *
 * Until it is complete, the directory is named archive.new. One that a killed process left is replaced.
 *
 * Return: 0, NTRACE_ERR_NOMEM, NTRACE_ERR_IO (errno is kept; EEXIST: the archive exists; EBUSY: another process
 * is making it; ENOENT: every program is missing, and there is no archive).
 */
NTRACE_API int ntrace_session_archive(struct ntrace_session *session,
				      struct ntrace_archive_counts *counts);

/**
 * struct ntrace_origin - the thread that made another one (fork, vfork, clone), or that this one was before exec()
 * @pid: its process
 * @tid: the thread. Exec() in a thread that is not the first of its process makes it the first, with @tid = @pid:
 *       so if the new thread is the first one of the same process, it is the same thread, which goes on
 * @turn: its turn in which it did so, as in struct ntrace_session_event
 * @number: number of threads that it had made before in the recording, see @made of struct ntrace_session_event;
 *          0 for exec()
 */
struct ntrace_origin {
	int32_t pid;
	int32_t tid;
	uint64_t turn;
	uint64_t number;
};

/**
 * enum ntrace_time_unit - unit of a time
 * @NTRACE_TIME_NONE: there is none: the trace has no timestamps, or not yet, or its clock is not known
 * @NTRACE_TIME_NANOSECONDS: CLOCK_MONOTONIC
 * @NTRACE_TIME_TICKS: ticks of the stream, whose frequency is not known
 */
enum ntrace_time_unit {
	NTRACE_TIME_NONE,
	NTRACE_TIME_NANOSECONDS,
	NTRACE_TIME_TICKS,
};

#define NTRACE_TIME_ERROR_SIZE 128

/**
 * ntrace_time_error_text - how well times in nanoseconds are known, in words
 * @time_error: as in struct ntrace_session_event, or the greatest of several
 * @text: room for NTRACE_TIME_ERROR_SIZE characters
 *
 * Return: @text, such as "CLOCK_MONOTONIC, within 12 us".
 */
NTRACE_EXPERIMENTAL const char *ntrace_time_error_text(uint64_t time_error, char *text);

/**
 * struct ntrace_session_event - a flow event and its process
 * @flow: the event
 * @stream: index of the stream
 * @cpu: Linux number of the hart
 * @pid: process on the hart, -1 = unknown, 0 = idle
 * @tid: thread
 * @comm: name of the thread at that time, never NULL
 * @privilege: enum ntrace_priv of the block: VU, VS and M if Ownership messages report them
 *             (N-Trace 1.0, Ownership), else U for user addresses, M for addresses of the firmware,
 *             S for all others. A recording contains no code of guests: their execution is a gap
 * @cut: what is decoded may end within a turn, as a part of a stream and the trace of a CPU do: after the last event
 *       of the stream @turn_end does not tell how long the trace went on
 * @sideband_ns: a time (CLOCK_MONOTONIC) for sorting the event into the sideband: after the records
 *               of the mappings and names used to decode it, before later records of its process.
 *               Not the time of the execution; never less than @sideband_ns of the previous event
 * @turn: number of the scheduling interval of the thread over all CPUs, with NTRACE_NEEDS_TURNS: between
 *        turns n and n + 1 the thread executed nothing. Exec() in another thread than the first of its process divides
 *        an interval, as the thread number changes. 0 = not known
 * @made: with NTRACE_NEEDS_TURNS, number of threads that the thread made in the recording before the turn. It goes
 *        on where the thread number is used again. 0 if @turn is not known
 * @time: the last timestamp, in @time_unit. Times in nanoseconds are of one clock for all streams: they lie
 *        in the turn of the thread, and never go back in a stream
 * @turn_end: NANOSECONDS: the turn of the thread ends before this time, 0 = not known
 * @time_error: NANOSECONDS: bound of the error of @time; UINT32_MAX: not known, as nothing in the recording
 *              relates the counter to CLOCK_MONOTONIC. Differences within a stream are right
 * @time_unit: enum ntrace_time_unit
 * @program: number of the program that the process runs: another one means that it has called exec.
 *           0 = not known
 * @origin: with NTRACE_NEEDS_TURNS, in the first turn of a thread: where it comes from; else NULL. An earlier thread
 *          with the same number has ended
 */
struct ntrace_session_event {
	const struct ntrace_flow_event *flow;
	unsigned int stream;
	unsigned int cpu;
	int32_t pid;
	int32_t tid;
	const char *comm;
	unsigned int privilege;
	bool cut;
	uint64_t sideband_ns;
	uint64_t turn;
	uint64_t program;
	const struct ntrace_origin *origin;
	uint64_t made;
	uint64_t time;
	uint64_t turn_end;
	uint32_t time_error;
	uint32_t time_unit;
};

/**
 * struct ntrace_thread_filter - whose execution is wanted
 * @pid: process; -1 = any
 * @tid: thread; -1 = any
 * @comm: name that the thread has while it executes; NULL = any
 *
 * A process or thread that is not known, -1, passes only where any is wanted.
 */
struct ntrace_thread_filter {
	int32_t pid;
	int32_t tid;
	const char *comm;
};

/**
 * ntrace_thread_filter_passes - whether a thread is wanted
 * @filter: the filter; NULL: all are
 * @pid: process, -1 = unknown
 * @tid: thread, -1 = unknown
 * @comm: its name at this time
 *
 * Return: true if the filter passes it.
 */
static inline bool ntrace_thread_filter_passes(const struct ntrace_thread_filter *filter,
					       int32_t pid, int32_t tid, const char *comm)
{
	return !filter || ((filter->pid < 0 || filter->pid == pid) &&
			   (filter->tid < 0 || filter->tid == tid) &&
			   (!filter->comm || !strcmp(filter->comm, comm)));
}

/**
 * struct ntrace_session_sample - a sample of a perf.data file and its process
 * @sample: the sample
 * @space: mappings of the process at that time, without the kernel; borrowed, valid until the next
 *         sample; NULL = unknown
 * @comm: name of the thread, never NULL
 */
struct ntrace_session_sample {
	const struct ntrace_perf_sample *sample;
	struct ntrace_space *space;
	const char *comm;
};

/**
 * struct ntrace_session_sample_counts - statistics of ntrace_session_samples()
 * @samples: samples with a branch stack, passed to the callback
 * @without: samples without a branch stack
 * @damaged: samples shorter than their event requires
 */
struct ntrace_session_sample_counts {
	uint64_t samples;
	uint64_t without;
	uint64_t damaged;
};

/**
 * ntrace_session_has_samples - whether the session is a perf.data file with branch stacks
 * @session: session opened by ntrace_session_open()
 *
 * Return: true if ntrace_session_samples() has samples.
 */
NTRACE_API bool ntrace_session_has_samples(const struct ntrace_session *session);

/**
 * ntrace_session_samples - all samples with branch stacks, in the order of the file
 * @session: session opened by ntrace_session_open(); may have no samples
 * @callback: called with each sample, which is borrowed during the call; a nonzero result stops
 * @data: passed to @callback
 * @counts: may be NULL
 *
 * Return: 0, what @callback returned, NTRACE_ERR_NOMEM. A truncated file is no error;
 * ntrace_session_open() reported it in a note.
 */
NTRACE_API int ntrace_session_samples(struct ntrace_session *session,
				      int (*callback)(void *data,
						      const struct ntrace_session_sample *sample),
				      void *data, struct ntrace_session_sample_counts *counts);

/**
 * ntrace_session_sideband - the sideband of the recording
 * @session: session opened by ntrace_session_open()
 *
 * Return: file owned by the session; NULL if the recording has none that can be read, which
 * ntrace_session_open() reported in a note.
 */
NTRACE_API const struct ntrace_perf_file *
ntrace_session_sideband(const struct ntrace_session *session);

/**
 * ntrace_session_recording - description of the recording
 * @session: session opened by ntrace_session_open()
 *
 * Return: recording owned by the session.
 */
NTRACE_API const struct ntrace_recording *
ntrace_session_recording(const struct ntrace_session *session);

/**
 * enum ntrace_segment_type - how a segment says what was executed
 * @NTRACE_SEGMENT_BLOCKS: blocks, one after the other
 * @NTRACE_SEGMENT_RUN: the same as numbers of messages that came before: see struct ntrace_flow_run
 * @NTRACE_SEGMENT_SUM: blocks, as often as they were executed: see struct ntrace_flow_effect
 */
enum ntrace_segment_type {
	NTRACE_SEGMENT_BLOCKS,
	NTRACE_SEGMENT_RUN,
	NTRACE_SEGMENT_SUM,
};

/**
 * struct ntrace_segment - code that one thread executed in one privilege
 * @batch: BLOCKS, SUM: the blocks; see struct ntrace_block_batch. Equal ids mean the same code until
 *         the stream ends; other streams have ids of their own
 * @run: RUN: the steps
 * @lead: SUM: so many blocks of @batch lead to the others and are not part of the sum
 * @times: SUM: as in struct ntrace_flow_effect
 * @type: enum ntrace_segment_type
 * @at: where, when and by which thread, as of each of its blocks; @flow is NULL. The time of a SUM
 *      means nothing, and it has no thread if threads are not separate
 */
struct ntrace_segment {
	const struct ntrace_block_batch *batch;
	const struct ntrace_flow_run *run;
	size_t lead;
	uint64_t times;
	unsigned int type;
	struct ntrace_session_event at;
};

/**
 * ntrace_segment_step - the blocks of a step of a RUN
 * @segment: the run, during the call of the callback
 * @index: index of the step
 * @batch: set to the blocks without the lead; valid as for ntrace_flow_run_step()
 * @step: set to a segment of the blocks, which refers to @batch
 */
NTRACE_EXPERIMENTAL void ntrace_segment_step(const struct ntrace_segment *segment, size_t index,
					     struct ntrace_block_batch *batch,
					     struct ntrace_segment *step);

/**
 * ntrace_segment_event - a block of a segment as an event
 * @segment: has blocks
 * @block: one of its blocks
 * @flow: set to the block; @offset is that of the first block of the batch, @context is NULL
 * @event: set to the event, which refers to @flow
 */
NTRACE_EXPERIMENTAL void ntrace_segment_event(const struct ntrace_segment *segment,
					      const struct ntrace_block *block,
					      struct ntrace_flow_event *flow,
					      struct ntrace_session_event *event);

/* Needs of a receiver, which decide how fast it is served. */
#define NTRACE_NEEDS_SUMS (1u << 0)	/* code that repeats comes as SUM, in no order */
#define NTRACE_NEEDS_RUNS (1u << 1)	/* code that repeats comes as RUN */
#define NTRACE_NEEDS_THREADS (1u << 2)	/* a SUM is that of one thread; sums come more often */
#define NTRACE_NEEDS_TURNS (1u << 3)	/* each thread comes in its own order over all CPUs */

/* All streams of a recording. */
#define NTRACE_ALL_STREAMS UINT32_MAX

struct ntrace_session_range;

/**
 * struct ntrace_decode_options - what to decode, and who receives it
 * @size: sizeof(struct ntrace_decode_options) of the caller
 * @stream: index of the only stream to decode, or NTRACE_ALL_STREAMS
 * @needs: mask of NTRACE_NEEDS_...; with neither SUMS nor RUNS all code comes as BLOCKS, in the order of
 *         the stream. With both, code that repeats comes as RUN and as SUM. With a @range, neither
 * @event: called for each event but blocks, in the order of the stream, with the segments; the event is
 *         borrowed during the call; a nonzero result stops
 * @segment: called for each segment, likewise; NULL: each block is an event, which is slower
 * @end: called at the end of each stream; a nonzero result stops. May be NULL
 * @data: passed to the callbacks
 * @range: the part of each stream to decode; NULL = all. With an index of ntrace_session_index() only the
 *         necessary bytes are decoded
 * @stats: the totals of the flows are added to it, with @range those of the events in the part (then
 *         without @messages); may be NULL
 * @wants: selects streams; NULL: all that @stream selects
 * @jobs: number of threads that decode at the same time, with @job_data or NTRACE_NEEDS_TURNS; else one. With
 *        TURNS the callbacks and their order do not depend on it; what is decoded before it can be delivered
 *        takes up to 4 MiB for each stream. With TURNS and a @range, one
 * @job_data: without NTRACE_NEEDS_TURNS: @jobs receivers. Each job has some of the streams, and its callbacks
 *            but @wants get its receiver instead of @data: never two at a time for one job. Which job has a
 *            stream depends on the recording and @jobs only. Spaces and objects may be used by all of them.
 *            NULL: one job
 */
struct ntrace_decode_options {
	size_t size;
	uint32_t stream;
	uint32_t needs;
	int (*event)(void *data, const struct ntrace_session_event *event);
	int (*segment)(void *data, const struct ntrace_segment *segment);
	int (*end)(void *data, unsigned int stream);
	void *data;
	const struct ntrace_session_range *range;
	struct ntrace_flow_stats *stats;
	bool (*wants)(void *data, unsigned int stream);
	unsigned int jobs;
	void *const *job_data;
};

/**
 * ntrace_session_decode - decode streams of a recording
 * @session: session opened by ntrace_session_open()
 * @options: what to decode, and who receives it
 *
 * Streams come one after the other or, with NTRACE_NEEDS_TURNS, piece by piece in turn: then each thread comes
 * in its own order, as the sideband shows it. Callbacks are called by several threads of this process, never by
 * two at a time for one receiver. Each executed block comes exactly once (with SUMS and RUNS once in each form).
 * With one receiver, the order of all calls depends on the recording only. Notes come at the end.
 *
 * With a range, the callbacks get exactly the events and blocks whose messages or times are in the part, in
 * the same order, with the same processes and times; only the boundaries of segments and the ids of blocks
 * may differ. Notes about the trace before the part are left out.
 *
 * Return: 0, the nonzero result of a callback or of the progress function, NTRACE_ERR_INVALID (@options,
 * no such stream), NTRACE_ERR_IO (errno is kept), NTRACE_ERR_FORMAT (compressed trace is damaged),
 * NTRACE_ERR_NOMEM.
 */
NTRACE_API int ntrace_session_decode(struct ntrace_session *session,
				     const struct ntrace_decode_options *options);

#ifdef __cplusplus
}
#endif

#endif /* NTRACE_SESSION_H */
