/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Session: one recording, and the attribution of its trace to processes.
 *
 * A recording is a perf.data directory: `data` (sideband, as stock perf writes and reads it),
 * `aux.N` (raw trace, one file per sink), `params` (streams and their parameters, see
 * Documentation/trace/recording.md) and `images/` (kernel text at the start and at the end,
 * kallsyms, vdso). The session joins them into address spaces over time. No other module attributes
 * trace to processes.
 */
#ifndef NTRACE_SESSION_H
#define NTRACE_SESSION_H

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
 * @progress: called by ntrace_session_decode() after each piece of at most 64 KiB of trace that it
 *            read, with the index of the stream and the number of bytes decoded so far, also while
 *            the trace contains no events; a nonzero result stops. May be NULL
 * @progress_data: passed to @progress
 * @live: the recording is about to be made, for ntrace_session_decode_live(): neither its trace files nor
 *        the end of its sideband are missed
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
};

/**
 * ntrace_session_open - open a recording
 * @session: the new session, to be freed with ntrace_session_close()
 * @directory: path of a recording, or of a perf.data file
 * @options: options; note and progress functions stay in use until ntrace_session_close(); NULL =
 *           defaults
 *
 * If a perf.data file holds trace of another driver (AUXTRACE records of rvtrace or SpacemiT), the
 * session lacks only the kernel's text; its streams are unnamed temporary files in $TMPDIR or /tmp.
 * If the file holds branch stacks, the session has no streams, see ntrace_session_samples().
 *
 * Return: 0, NTRACE_ERR_IO (errno is kept), NTRACE_ERR_FORMAT (not a recording; the reason goes to
 * options->note), NTRACE_ERR_NOMEM, NTRACE_ERR_INVALID (options that the library does not know).
 */
NTRACE_API int ntrace_session_open(struct ntrace_session **session, const char *directory,
				   const struct ntrace_session_options *options);

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
 * machine below this directory, with its debug file in .debug next to it. From then on the
 * recording is decoded only with these files, on any machine.
 *
 * Return: 0, NTRACE_ERR_NOMEM, NTRACE_ERR_IO (errno is kept; EEXIST: the archive exists).
 */
NTRACE_API int ntrace_session_archive(struct ntrace_session *session,
				      struct ntrace_archive_counts *counts);

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
 * @sideband_ns: a time (CLOCK_MONOTONIC) for sorting the event into the sideband: after the records
 *               of the mappings and names used to decode it, before later records of its process.
 *               Not the time of the execution; never less than @sideband_ns of the previous event
 */
struct ntrace_session_event {
	const struct ntrace_flow_event *flow;
	unsigned int stream;
	unsigned int cpu;
	int32_t pid;
	int32_t tid;
	const char *comm;
	unsigned int privilege;
	uint64_t sideband_ns;
};

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
 * ntrace_session_decode - decode one stream from its first byte to its last
 * @session: session opened by ntrace_session_open()
 * @stream: index of the stream
 * @callback: called for every event, in order; the event is borrowed during the call; a nonzero
 *            result stops
 * @data: passed to @callback
 * @stats: set to the totals of the flow; may be NULL
 *
 * Return: 0, the nonzero result of @callback or of the progress function, NTRACE_ERR_INVALID (no
 * such stream), NTRACE_ERR_IO (errno is kept), NTRACE_ERR_FORMAT (the compressed trace is damaged),
 * NTRACE_ERR_NOMEM.
 */
NTRACE_API int ntrace_session_decode(struct ntrace_session *session, unsigned int stream,
				     int (*callback)(void *data,
						     const struct ntrace_session_event *event),
				     void *data, struct ntrace_flow_stats *stats);

/**
 * struct ntrace_session_blocks - blocks executed one after the other by one thread
 * @batch: the blocks; see struct ntrace_block_batch. Equal ids mean the same code until the stream
 *         ends; other streams have ids of their own
 * @stream: as in struct ntrace_session_event, likewise all others: the same for all blocks
 * @cpu: Linux number of the hart
 * @pid: process on the hart
 * @tid: thread
 * @comm: name of the thread
 * @privilege: enum ntrace_priv of the blocks
 * @reserved: 0
 * @sideband_ns: a time for sorting the blocks into the sideband
 */
struct ntrace_session_blocks {
	const struct ntrace_block_batch *batch;
	unsigned int stream;
	unsigned int cpu;
	int32_t pid;
	int32_t tid;
	const char *comm;
	unsigned int privilege;
	uint32_t reserved;
	uint64_t sideband_ns;
};

/**
 * ntrace_session_decode_blocks - decode one stream, with the blocks in batches
 * @session: session opened by ntrace_session_open()
 * @stream: index of the stream
 * @callback: called for every event but blocks; otherwise as for ntrace_session_decode()
 * @blocks: called for every batch of blocks, in order with the events; the batch is borrowed during
 *          the call; a nonzero result stops
 * @data: passed to @callback and @blocks
 * @stats: set to the totals of the flow; may be NULL
 *
 * Several times as fast as ntrace_session_decode(), with the same blocks and events in the same
 * order. The blocks of a batch have one thread and one privilege. Messages that come again are
 * remembered, which takes up to some tens of megabytes.
 *
 * Return: as ntrace_session_decode().
 */
NTRACE_EXPERIMENTAL int
ntrace_session_decode_blocks(struct ntrace_session *session, unsigned int stream,
			     int (*callback)(void *data, const struct ntrace_session_event *event),
			     int (*blocks)(void *data, const struct ntrace_session_blocks *blocks),
			     void *data, struct ntrace_flow_stats *stats);

/**
 * struct ntrace_session_effect - blocks executed a number of times by one thread
 * @blocks: the blocks, with those that lead to them; @batch is as in struct ntrace_flow_effect. @pid
 *          and @tid are -1 if threads are not separate
 * @lead: as in struct ntrace_flow_effect
 * @times: as in struct ntrace_flow_effect
 */
struct ntrace_session_effect {
	const struct ntrace_session_blocks *blocks;
	size_t lead;
	uint64_t times;
};

/**
 * struct ntrace_session_run - effects executed one after the other by one thread
 * @run: the effects
 * @stream: as in struct ntrace_session_event, likewise all others: the same for all steps
 * @cpu: Linux number of the hart
 * @pid: process on the hart
 * @tid: thread
 * @comm: name of the thread
 * @privilege: enum ntrace_priv of the blocks
 * @reserved: 0
 * @sideband_ns: a time for sorting the run into the sideband
 */
struct ntrace_session_run {
	const struct ntrace_flow_run *run;
	unsigned int stream;
	unsigned int cpu;
	int32_t pid;
	int32_t tid;
	const char *comm;
	unsigned int privilege;
	uint32_t reserved;
	uint64_t sideband_ns;
};

/**
 * ntrace_session_run_step - the blocks of a step as a batch
 * @run: the run, during the call of the callback
 * @index: index of the step
 * @batch: set to the blocks without the lead; valid as for ntrace_flow_run_step()
 * @blocks: set to the attributes of @run, with @batch
 */
NTRACE_EXPERIMENTAL void ntrace_session_run_step(const struct ntrace_session_run *run, size_t index,
						 struct ntrace_block_batch *batch,
						 struct ntrace_session_blocks *blocks);

/**
 * struct ntrace_session_counting - callbacks of ntrace_session_decode_counts()
 * @size: sizeof(struct ntrace_session_counting) of the caller
 * @event: called for every event but blocks, as for ntrace_session_decode_blocks()
 * @blocks: called for every batch of blocks that are not counted
 * @effect: called for effects: see struct ntrace_flow_effect. A nonzero result stops
 * @data: passed to the callbacks
 * @by_thread: the executions of an effect are those of one thread; effects come more often
 * @run: called for the same as @effect in order, before the other callbacks. May be NULL, and then or
 *       with @effect NULL only one of them is called
 */
struct ntrace_session_counting {
	size_t size;
	int (*event)(void *data, const struct ntrace_session_event *event);
	int (*blocks)(void *data, const struct ntrace_session_blocks *blocks);
	int (*effect)(void *data, const struct ntrace_session_effect *effect);
	void *data;
	bool by_thread;
	int (*run)(void *data, const struct ntrace_session_run *run);
};

/**
 * ntrace_session_decode_counts - decode one stream, and count what repeats
 * @session: session opened by ntrace_session_open()
 * @stream: index of the stream
 * @counting: callbacks; without @effect and @run all messages are walked, which takes less memory than
 *            ntrace_session_decode_blocks()
 * @stats: set to the totals of the flow; may be NULL
 *
 * Messages with a known effect are counted, not walked: see ntrace_flow_count(). Each block is passed
 * exactly once, in a batch or with an effect, and in a run. Effects are for sums that depend neither on
 * the order of messages nor on time; a run has both.
 *
 * Return: as ntrace_session_decode(), NTRACE_ERR_INVALID also for @counting.
 */
NTRACE_EXPERIMENTAL int ntrace_session_decode_counts(struct ntrace_session *session,
						     unsigned int stream,
						     const struct ntrace_session_counting *counting,
						     struct ntrace_flow_stats *stats);

/**
 * ntrace_session_block_event - a block of a batch as an event
 * @blocks: the batch
 * @block: one of its blocks
 * @flow: set to the block; @offset is that of the first block of the batch, @context is NULL
 * @event: set to the event, which refers to @flow
 */
NTRACE_EXPERIMENTAL void ntrace_session_block_event(const struct ntrace_session_blocks *blocks,
						    const struct ntrace_block *block,
						    struct ntrace_flow_event *flow,
						    struct ntrace_session_event *event);

#ifdef __cplusplus
}
#endif

#endif /* NTRACE_SESSION_H */
