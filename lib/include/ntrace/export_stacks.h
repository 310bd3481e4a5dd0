/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Exports of call stacks: summed up, in the formats of tools that draw and list stacks, and over
 * time. Names are demangled (C++, Rust).
 */
#ifndef NTRACE_EXPORT_STACKS_H
#define NTRACE_EXPORT_STACKS_H

#include <stdio.h>

#include <ntrace/stacks.h>

#ifdef __cplusplus
extern "C" {
#endif

enum ntrace_export_stacks_format {
	NTRACE_EXPORT_FOLDED,		/* a line "thread;outermost;...;innermost COUNT" for each
					 * stack: flamegraph.pl, inferno, speedscope */
	NTRACE_EXPORT_CALLGRIND,	/* callgrind_annotate, KCachegrind */
	NTRACE_EXPORT_PPROF,		/* profile.proto, gzipped: pprof, Pyroscope, Parca */
	NTRACE_EXPORT_SPEEDSCOPE,	/* www.speedscope.app: one profile per thread */
	NTRACE_EXPORT_STACKS_FORMATS,
};

/**
 * ntrace_export_stacks_name - name of a format on the command line
 * @format: enum ntrace_export_stacks_format
 *
 * Return: "folded" and so on; NULL for any other value; a static string.
 */
NTRACE_EXPERIMENTAL const char *ntrace_export_stacks_name(unsigned int format);

/**
 * struct ntrace_export_stacks_options - facts that the stacks do not contain
 * @size: sizeof(struct ntrace_export_stacks_options) of the caller
 * @title: title of the recording, such as its command; NULL = unknown
 * @timestamp_hz: frequency of the timestamps; 0 = unknown, and times are left out
 */
struct ntrace_export_stacks_options {
	size_t size;
	const char *title;
	uint64_t timestamp_hz;
};

/**
 * ntrace_export_stacks - write call stacks
 * @file: written to, not flushed
 * @stacks: after ntrace_stacks_end()
 * @format: enum ntrace_export_stacks_format
 * @options: may be NULL
 *
 * An inlined function is called "NAME_[i]"; pprof lists it in the location of the containing
 * function. The written values add up to the exact number of executed instructions. The same counts
 * give the same bytes.
 *
 * Return: 0, NTRACE_ERR_INVALID (format), NTRACE_ERR_NOMEM, NTRACE_ERR_IO (errno is kept).
 */
NTRACE_EXPERIMENTAL int ntrace_export_stacks(FILE *file, struct ntrace_stacks *stacks,
					     unsigned int format,
					     const struct ntrace_export_stacks_options *options);

enum ntrace_export_timeline_format {
	NTRACE_EXPORT_CHROME,		/* Trace Event Format, JSON: chrome://tracing, Perfetto */
	NTRACE_EXPORT_PERFETTO,		/* Perfetto's protocol buffers: track events */
	NTRACE_EXPORT_TIMELINE_FORMATS,
};

/**
 * ntrace_export_timeline_name - name of a format on the command line
 * @format: enum ntrace_export_timeline_format
 *
 * Return: "chrome" and so on; NULL for any other value; a static string.
 */
NTRACE_EXPERIMENTAL const char *ntrace_export_timeline_name(unsigned int format);

struct ntrace_export_timeline;

/**
 * ntrace_export_timeline_open - start and end of frames, for each thread on each hart
 * @timeline: the new timeline; complete after ntrace_export_timeline_close()
 * @file: written to until ntrace_export_timeline_close(), not flushed, not closed
 * @format: enum ntrace_export_timeline_format
 * @session: source of the timestamp frequency; borrowed until ntrace_export_timeline_close()
 *
 * If the trace has timestamps, they give the times, in nanoseconds if their frequency is known. The
 * category of each event says whether its time is "exact", "interpolated" between two timestamps,
 * or "outside" of all timestamps. Without timestamps, each instruction of the hart counts as a
 * nanosecond, category "instructions".
 *
 * Return: 0, NTRACE_ERR_INVALID (format), NTRACE_ERR_NOMEM.
 */
NTRACE_EXPERIMENTAL int ntrace_export_timeline_open(struct ntrace_export_timeline **timeline,
						    FILE *file, unsigned int format,
						    const struct ntrace_session *session);

/**
 * ntrace_export_timeline_change - append a change: change of struct ntrace_stacks_options
 * @timeline: a timeline, passed as data of the stacks
 * @change: the change; borrowed during the call
 *
 * Return: 0, or the first error of the timeline: NTRACE_ERR_NOMEM or NTRACE_ERR_IO (errno is kept).
 */
NTRACE_EXPERIMENTAL int ntrace_export_timeline_change(void *timeline,
						      const struct ntrace_stack_change *change);

/**
 * ntrace_export_timeline_close - finish the file and free @timeline, also on error
 * @timeline: a timeline; NULL is allowed
 * @events: set to the number of events; may be NULL
 *
 * Return: 0, or the first error of all calls (NTRACE_ERR_IO: errno is kept).
 */
NTRACE_EXPERIMENTAL int ntrace_export_timeline_close(struct ntrace_export_timeline *timeline,
						     uint64_t *events);

#ifdef __cplusplus
}
#endif

#endif /* NTRACE_EXPORT_STACKS_H */
