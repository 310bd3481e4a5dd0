/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Exports of call stacks: added up, in the formats of the tools that draw and list them, and over
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
	NTRACE_EXPORT_PPROF,		/* profile.proto, gzipped: go tool pprof, Pyroscope, Parca */
	NTRACE_EXPORT_SPEEDSCOPE,	/* www.speedscope.app: a profile for each thread */
	NTRACE_EXPORT_STACKS_FORMATS,
};

/** ntrace_export_stacks_name - how people spell a format: "folded", ...; NULL if there is none */
NTRACE_EXPERIMENTAL const char *ntrace_export_stacks_name(unsigned int format);

/**
 * struct ntrace_export_stacks_options - what the stacks do not tell
 * @size: sizeof(struct ntrace_export_stacks_options) of the caller
 * @title: what was recorded; NULL = nobody knows
 * @timestamp_hz: frequency of the time stamps; 0 = unknown: then times are left out
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
 * What was inlined is called "NAME_[i]"; for pprof it stands in the location of the function that it
 * is in. The sum of what is written is the number of executed instructions, exactly. The same counts give
 * the same bytes.
 * Return: 0, NTRACE_ERR_INVALID (format), NTRACE_ERR_NOMEM, NTRACE_ERR_IO (errno is kept).
 */
NTRACE_EXPERIMENTAL int ntrace_export_stacks(FILE *file, struct ntrace_stacks *stacks,
					     unsigned int format,
					     const struct ntrace_export_stacks_options *options);

enum ntrace_export_timeline_format {
	NTRACE_EXPORT_CHROME,		/* Trace Event Format, JSON: chrome://tracing, Perfetto, Speedscope */
	NTRACE_EXPORT_PERFETTO,		/* Perfetto's protocol buffers: track events */
	NTRACE_EXPORT_TIMELINE_FORMATS,
};

/** ntrace_export_timeline_name - how people spell a format: "chrome", ...; NULL if there is none */
NTRACE_EXPERIMENTAL const char *ntrace_export_timeline_name(unsigned int format);

struct ntrace_export_timeline;

/**
 * ntrace_export_timeline_open - frames as they come and go, for each thread on each hart
 * @timeline: the new one; complete after ntrace_export_timeline_close()
 * @file: written to, not flushed
 * @format: enum ntrace_export_timeline_format
 * @session: knows the frequency of time stamps; borrowed
 *
 * Where the trace has time stamps, times are those, in nanoseconds if their frequency is known; the
 * category of each event says whether its time is "exact", "interpolated" between two time stamps,
 * or "outside" of them. Else an instruction of the hart counts as a nanosecond, category
 * "instructions".
 * Return: 0, NTRACE_ERR_INVALID (format), NTRACE_ERR_NOMEM.
 */
NTRACE_EXPERIMENTAL int ntrace_export_timeline_open(struct ntrace_export_timeline **timeline,
						    FILE *file, unsigned int format,
						    const struct ntrace_session *session);

/** ntrace_export_timeline_change - append: struct ntrace_stacks_options.change */
NTRACE_EXPERIMENTAL int ntrace_export_timeline_change(void *timeline,
						      const struct ntrace_stack_change *change);

/**
 * ntrace_export_timeline_close - finish; @timeline is gone in any case
 * @events: how many there are; may be NULL
 *
 * Return: 0, or the first error of all calls (NTRACE_ERR_IO: errno is kept).
 */
NTRACE_EXPERIMENTAL int ntrace_export_timeline_close(struct ntrace_export_timeline *timeline,
						     uint64_t *events);

#ifdef __cplusplus
}
#endif

#endif /* NTRACE_EXPORT_STACKS_H */
