/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Exports: profiles in file formats of other tools.
 */
#ifndef NTRACE_EXPORT_H
#define NTRACE_EXPORT_H

#include <stdio.h>

#include <ntrace/coverage.h>
#include <ntrace/profile.h>
#include <ntrace/sample.h>

#ifdef __cplusplus
extern "C" {
#endif

enum ntrace_export_format {
	NTRACE_EXPORT_AUTOFDO,	/* create_llvm_prof and create_gcov --profiler=text: ranges, no
				 * addresses, branches; link addresses */
	NTRACE_EXPORT_PROFGEN,	/* llvm-profgen --unsymbolized-profile: ranges, branches; addresses
				 * count from ntrace_export_profgen_base() */
	NTRACE_EXPORT_BOLT,	/* perf2bolt -pa of LLVM 21 and later: T (traces), R (traces
				 * after a return), B (branches without a run), F (runs without a
				 * branch) */
	NTRACE_EXPORT_BOLT_BF,	/* perf2bolt -pa of every version: B and F */
	NTRACE_EXPORT_CSV,	/* all traces of all objects, with a line of names first */
	NTRACE_EXPORT_JSON,	/* the same as one JSON array */
	NTRACE_EXPORT_FORMATS,
};

/**
 * struct ntrace_export_counts - summary of an export
 * @traces: number of distinct traces in the export
 * @executed: number of executions of these traces
 */
struct ntrace_export_counts {
	uint64_t traces;
	uint64_t executed;
};

/**
 * ntrace_export_name - name of a format on the command line
 * @format: enum ntrace_export_format
 *
 * Return: "autofdo" and so on; NULL for any other value; a static string.
 */
NTRACE_API const char *ntrace_export_name(unsigned int format);

/**
 * ntrace_export_one_object - whether a format describes only one object
 * @format: enum ntrace_export_format
 *
 * Return: true if ntrace_export_profile() needs an object; false also for any other value.
 */
NTRACE_API bool ntrace_export_one_object(unsigned int format);

/**
 * ntrace_export_profile - write a profile
 * @file: written to, not flushed
 * @profile: a profile that has ended
 * @format: enum ntrace_export_format
 * @object: the object to describe, one of ntrace_profile_objects(); NULL: all, if the format can
 *          describe several
 * @counts: summary; may be NULL
 *
 * The same counts give the same bytes. Values missing from a trace, such as mispredictions, are
 * left out, or 0 where the format requires a number.
 *
 * Return: 0, NTRACE_ERR_INVALID (format, or no object where one is needed), NTRACE_ERR_NOMEM,
 * NTRACE_ERR_IO (errno is kept).
 */
NTRACE_API int ntrace_export_profile(FILE *file, struct ntrace_profile *profile,
				     unsigned int format, const struct ntrace_object *object,
				     struct ntrace_export_counts *counts);

/**
 * ntrace_export_profgen_base - what is subtracted from addresses for llvm-profgen
 * @object: the object to describe
 * @base: set to the base
 *
 * Versions of llvm-profgen derive the base from the first executable segment, up to LLVM 22 as the page of
 * its address, later as its address minus its offset in the file.
 *
 * Return: 0, or NTRACE_ERR_UNSUPPORTED if the two differ; then the base is 0, and llvm-profgen needs the
 * option --use-offset=0.
 */
NTRACE_EXPERIMENTAL int ntrace_export_profgen_base(const struct ntrace_object *object,
						   uint64_t *base);

/**
 * ntrace_export_lcov - lcov's tracefile: lines, branches and functions with counts, for genhtml
 * @file: written to, not flushed
 * @coverage: a coverage that has ended
 *
 * Each conditional branch is a block of two branches: taken and not taken. A comma in a name
 * becomes "_".
 *
 * Return: 0 or NTRACE_ERR_IO (errno is kept).
 */
NTRACE_API int ntrace_export_lcov(FILE *file, const struct ntrace_coverage *coverage);

/**
 * ntrace_export_pprof - profile.proto of counts, gzipped: go tool pprof, Pyroscope, Parca
 * @file: written to, not flushed
 * @profile: a profile that has ended
 * @object: the object to describe; NULL: all
 * @title: comment in the file; NULL = none
 * @counts: summary; may be NULL
 *
 * The profile has no call stacks: a sample is a straight run, with its executed instructions and its
 * executions. ntrace_export_stacks() writes call stacks. Values end at INT64_MAX. The same counts
 * give the same bytes.
 *
 * Return: 0, NTRACE_ERR_NOMEM, NTRACE_ERR_IO (errno is kept).
 */
NTRACE_EXPERIMENTAL int ntrace_export_pprof(FILE *file, struct ntrace_profile *profile,
					    const struct ntrace_object *object, const char *title,
					    struct ntrace_export_counts *counts);

/* Versions of AutoFDO's gcov profile. */
enum {
	NTRACE_EXPORT_GCOV_FIRST = 1,	/* GCC up to 11, and dump_gcov of AutoFDO 0.19 */
	NTRACE_EXPORT_GCOV_GCC12 = 2,	/* GCC 12 to 15 */
	NTRACE_EXPORT_GCOV_LAST = 3,	/* GCC 16 */
};

/**
 * struct ntrace_export_gcov_options - selection and format of a gcov profile
 * @size: sizeof(struct ntrace_export_gcov_options) of the caller
 * @object: the program, one of ntrace_profile_objects()
 * @lines: lines of @object
 * @version: version of the format, see above
 * @reserved: 0
 */
struct ntrace_export_gcov_options {
	size_t size;
	const struct ntrace_object *object;
	const struct ntrace_lines *lines;
	uint32_t version;
	uint32_t reserved;
};

/**
 * struct ntrace_export_gcov_counts - summary of ntrace_export_gcov()
 * @functions: executed functions
 * @positions: counts of lines or parts of lines, in these functions and in code inlined into them
 * @executed: executions of the object's instructions with a line and a function, see
 *            ntrace_counts_walk_executed()
 * @unknown: executions of instructions without a line or function, which the profile omits
 */
struct ntrace_export_gcov_counts {
	uint64_t functions;
	uint64_t positions;
	uint64_t executed;
	uint64_t unknown;
};

/**
 * ntrace_export_gcov - GCC's profile of samples: gcc -fauto-profile
 * @file: written to, not flushed
 * @profile: a profile that has ended
 * @options: selection and format
 * @counts: summary; may be NULL
 *
 * The profile uses the names of functions from DWARF and lines relative to the function, so that it
 * still fits a slightly changed program. The most often executed instruction of a line gives the
 * count of the line; copies of a function add up. Indirect calls list their targets.
 *
 * Return: 0, NTRACE_ERR_INVALID (options), NTRACE_ERR_NOMEM, NTRACE_ERR_IO (errno is kept).
 */
NTRACE_API int ntrace_export_gcov(FILE *file, struct ntrace_profile *profile,
				  const struct ntrace_export_gcov_options *options,
				  struct ntrace_export_gcov_counts *counts);

/**
 * struct ntrace_export_samples_options - contents of a file of samples
 * @size: sizeof(struct ntrace_export_samples_options) of the caller
 * @session: source of the sideband, for ntrace_export_perf_data_open(); the recording of the samples,
 *           or NULL, for ntrace_export_perfscript_open()
 * @object: for ntrace_export_perfscript_open(): the program passed to llvm-profgen
 * @period: number of instructions between samples, for the header of perf.data
 * @user: declare the event of perf.data as one of user code. Omits nothing: privileges of struct
 *        ntrace_sampler_options select the samples
 * @every_branch: for ntrace_export_perf_data_open(): one sample for each transfer, without stacks,
 *                as perf writes branch trace stores
 * @reserved: 0
 */
struct ntrace_export_samples_options {
	size_t size;
	const struct ntrace_session *session;
	struct ntrace_object *object;
	uint64_t period;
	bool user;
	bool every_branch;
	uint8_t reserved[6];
};

struct ntrace_export_samples;

/**
 * ntrace_export_perf_data_open - a perf.data file with branch stacks, for perf and other readers
 * @samples: the new file; complete after ntrace_export_samples_close()
 * @path: path of the file; an existing file is replaced
 * @options: contents of the file; session is required and borrowed during the call
 *
 * The file contains the sideband of the recording. A trace does not record mispredictions or
 * cycles, so the entries are marked neither mispredicted nor predicted.
 *
 * Return: 0, NTRACE_ERR_INVALID (no session, or options that the library does not know),
 * NTRACE_ERR_IO (errno is kept), NTRACE_ERR_NOMEM.
 */
NTRACE_API int ntrace_export_perf_data_open(struct ntrace_export_samples **samples,
					    const char *path,
					    const struct ntrace_export_samples_options *options);

/**
 * ntrace_export_perfscript_open - a text file in the format of perf script -F ip,brstack
 * --show-mmap-events
 * @samples: the new text; complete after ntrace_export_samples_close()
 * @file: where it is written; borrowed until then, when it is flushed and not closed
 * @options: contents of the file; object is required and referenced until the file is closed, and
 *           session is borrowed until then
 *
 * For llvm-profgen --perfscript and one program. Addresses are link addresses, and a single mapping
 * record says so, independent of the mappings of the processes. Samples without any address in the
 * program are left out; addresses outside the program are 1.
 *
 * Return: 0, NTRACE_ERR_INVALID (no file, no object, or options that the library does not know),
 * NTRACE_ERR_UNSUPPORTED (the file name of the program has a control character, which no line can have),
 * NTRACE_ERR_NOMEM.
 */
NTRACE_API int ntrace_export_perfscript_open(struct ntrace_export_samples **samples, FILE *file,
					     const struct ntrace_export_samples_options *options);

/**
 * ntrace_export_sample - append a sample: sample of struct ntrace_sampler_options
 * @samples: a file made by ntrace_export_..._open(), passed as data of the sampler
 * @sample: the sample; borrowed during the call
 *
 * Return: 0 or NTRACE_ERR_IO.
 */
NTRACE_API int ntrace_export_sample(void *samples, const struct ntrace_sample *sample);

/**
 * ntrace_export_branch - append a transfer: branch of struct ntrace_sampler_options
 * @samples: a file made by ntrace_export_..._open(), passed as data of the sampler
 * @branch: the transfer; borrowed during the call
 * @event: as of branch of struct ntrace_sampler_options
 *
 * Return: 0 or NTRACE_ERR_IO; 0 without any effect for text of ntrace_export_perfscript_open() and
 * for a perf.data file without every_branch.
 */
NTRACE_API int ntrace_export_branch(void *samples, const struct ntrace_sample_branch *branch,
				    const struct ntrace_session_event *event);

/**
 * ntrace_export_samples_close - finish a file and free @samples, also on error
 * @samples: a file made by ntrace_export_..._open(); NULL is allowed
 * @counts: number of samples (in traces) and of transfers in them (in executed); may be NULL
 *
 * Return: 0, or the first error of all calls (NTRACE_ERR_IO: errno is kept).
 */
NTRACE_API int ntrace_export_samples_close(struct ntrace_export_samples *samples,
					   struct ntrace_export_counts *counts);

#ifdef __cplusplus
}
#endif

#endif /* NTRACE_EXPORT_H */
