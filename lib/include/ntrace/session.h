/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Session: one recording, and the one place that knows what ran where.
 *
 * A recording is a perf.data directory: `data` (sideband, as stock perf writes
 * and reads it), `aux.N` (raw trace, one file per sink), `params` (streams and
 * their parameters, see Documentation/trace/recording.md) and `images/` (kernel
 * text at the start and at the end, kallsyms, vdso). The session joins them
 * into address spaces over time; nobody else does attribution.
 */
#ifndef NTRACE_SESSION_H
#define NTRACE_SESSION_H

#include <ntrace/flow.h>
#include <ntrace/perf.h>
#include <ntrace/recording.h>

#ifdef __cplusplus
extern "C" {
#endif

struct ntrace_session;

/**
 * struct ntrace_session_options - how to open a recording
 * @size: sizeof(struct ntrace_session_options) of the caller
 * @sysroot: directory that holds the files of the recorded machine; NULL = the archive of the
 *           recording, or "/" if it has none: ntrace_session_archive()
 *           Debug files of stripped ones are looked for in its usr/lib/debug and in /usr/lib/debug
 * @firmware: ELF file of the M-mode firmware; NULL = M-mode is opaque
 * @firmware_bias: where it is loaded minus where it is linked
 * @note: called for everything a user should know (missing file, other
 *        build-id, lost records, trace cut): one sentence without newline; may be NULL
 * @note_data: passed to @note
 * @params: of a perf.data file with trace: stream parameters, as ntrace_params_parse() takes them, on
 *          top of what the file says; what cannot be parsed is not used. NULL = as the file says
 * @progress: called by ntrace_session_decode() after each piece of at most 64 KiB of trace that it
 *            read, with the index of the stream and the number of bytes decoded so far, also while
 *            the trace contains no events; another result than 0 stops. May be NULL
 * @progress_data: passed to @progress
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
};

/**
 * ntrace_session_open - open a recording
 *
 * @directory may be a perf.data file, too. With trace of another driver (AUXTRACE records as rvtrace
 * and SpacemiT have them) it is a session like any other, but without the kernel's text; its streams
 * are files without names, in $TMPDIR or /tmp, that vanish with it. With branch stacks it has no
 * streams, see ntrace_session_samples().
 * Return: 0, NTRACE_ERR_IO, NTRACE_ERR_FORMAT (no recording; the reason goes to
 * options->note), NTRACE_ERR_NOMEM.
 */
NTRACE_API int ntrace_session_open(struct ntrace_session **session, const char *directory,
				   const struct ntrace_session_options *options);
NTRACE_API void ntrace_session_close(struct ntrace_session *session);

NTRACE_API unsigned int ntrace_session_streams(const struct ntrace_session *session);

/** ntrace_session_stream - stream @index, owned by the session; NULL if there is none */
NTRACE_API const struct ntrace_stream *ntrace_session_stream(const struct ntrace_session *session,
							     unsigned int index);

/**
 * struct ntrace_archive_counts - what was archived
 * @files: copied
 * @bytes: of them
 * @missing: programs that are not there, or not those that were traced: a note says why
 */
struct ntrace_archive_counts {
	uint64_t files;
	uint64_t bytes;
	uint64_t missing;
};

/**
 * ntrace_session_archive - copy the programs that were mapped, with their debug files, beside the trace
 * @session: a session, opened where the programs are
 * @counts: what was copied
 *
 * Makes the directory "archive" in the recording, in which each file has the path that it had on
 * the recorded machine, and its debug file stands in .debug beside it. From then on the recording
 * is decoded with these files alone, wherever it is.
 * Return: 0, NTRACE_ERR_NOMEM, NTRACE_ERR_IO (errno is kept; EEXIST: there is an archive).
 */
NTRACE_API int ntrace_session_archive(struct ntrace_session *session,
				      struct ntrace_archive_counts *counts);

/**
 * struct ntrace_session_event - a flow event and who it belongs to
 * @flow: the event
 * @stream: index of the stream
 * @cpu: Linux number of the hart
 * @pid: process on the hart, -1 = unknown, 0 = idle
 * @tid: thread
 * @comm: its name at that time, never NULL
 * @privilege: enum ntrace_priv of the block as far as the stream shows it: VU, VS
 *             and M by Ownership messages (N-Trace 1.0, Ownership), else user addresses are U,
 *             those of the firmware M, others S. There is no code of guests in a recording:
 *             what they execute is a gap
 * @sideband_ns: a time (CLOCK_MONOTONIC) to sort it into the sideband by: behind the records of the
 *               mappings and names that it was decoded with, before later ones of its process. Not
 *               the time when it happened; never less than that of the event before
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
 * struct ntrace_session_sample - a sample of a perf.data file, and who it belongs to
 * @sample: the sample
 * @space: what the process had mapped then, without the kernel; borrowed, valid until the next
 *         sample; NULL = unknown
 * @comm: name of the thread, never NULL
 */
struct ntrace_session_sample {
	const struct ntrace_perf_sample *sample;
	struct ntrace_space *space;
	const char *comm;
};

/**
 * struct ntrace_session_sample_counts - what ntrace_session_samples() met
 * @samples: with a branch stack, handed out
 * @without: samples without one
 * @damaged: samples that are shorter than their event says
 */
struct ntrace_session_sample_counts {
	uint64_t samples;
	uint64_t without;
	uint64_t damaged;
};

/** ntrace_session_has_samples - the session is a perf.data file with branch stacks */
NTRACE_API bool ntrace_session_has_samples(const struct ntrace_session *session);

/**
 * ntrace_session_samples - all samples with branch stacks, in the order of the file
 * @session: one that has samples
 * @callback: not 0 stops
 * @data: for @callback
 * @counts: may be NULL
 *
 * Return: 0, what @callback returned, NTRACE_ERR_NOMEM. A file that is cut is no error: a note said
 * so when it was opened.
 */
NTRACE_API int ntrace_session_samples(struct ntrace_session *session,
				      int (*callback)(void *data,
						      const struct ntrace_session_sample *sample),
				      void *data, struct ntrace_session_sample_counts *counts);

/** ntrace_session_sideband - the sideband of the recording; owned by the session */
NTRACE_API const struct ntrace_perf_file *
ntrace_session_sideband(const struct ntrace_session *session);

/** ntrace_session_recording - what the recording says of itself; owned by the session */
NTRACE_API const struct ntrace_recording *
ntrace_session_recording(const struct ntrace_session *session);

/**
 * ntrace_session_decode - decode one stream from its first byte to its last
 * @session: a session
 * @stream: index
 * @callback: called for every event, in order; not 0 stops
 * @data: for @callback
 * @stats: totals of the flow; may be NULL
 *
 * Return: 0, what @callback or the progress function of the options returned, NTRACE_ERR_IO,
 * NTRACE_ERR_NOMEM.
 */
NTRACE_API int ntrace_session_decode(struct ntrace_session *session, unsigned int stream,
				     int (*callback)(void *data,
						     const struct ntrace_session_event *event),
				     void *data, struct ntrace_flow_stats *stats);

#ifdef __cplusplus
}
#endif

#endif /* NTRACE_SESSION_H */
