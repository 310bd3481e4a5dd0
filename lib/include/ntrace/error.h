/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Error codes of libntrace. Every function that can fail returns an int: 0 or
 * a positive status on success, one of these, negative, on failure.
 */
#ifndef NTRACE_ERROR_H
#define NTRACE_ERROR_H

#ifdef __cplusplus
extern "C" {
#endif

/* Marks the exports of libntrace.so; all other symbols are hidden. */
#if defined(__GNUC__)
#define NTRACE_API __attribute__((visibility("default")))
#else
#define NTRACE_API
#endif

/*
 * Marks functions that may change or disappear in any release, with the structs and enums that they
 * take; their symbol version promises nothing. Functions marked NTRACE_API keep working.
 */
#define NTRACE_EXPERIMENTAL NTRACE_API

/*
 * Structs that start with `size` may grow. The caller, or a function named ..._init(), sets `size`
 * to sizeof the struct. Fields missing from the caller's older header get their defaults. Fields of
 * a newer header that the library does not know must be 0, else the function returns
 * NTRACE_ERR_INVALID.
 */

/*
 * A pointer given to a function must not be NULL unless the description of the parameter permits
 * NULL. The data of a callback may be any pointer.
 */

/*
 * Handles: what a function named ..._open() or ..._new() makes is valid until ..._close() or ..._free(), and
 * so is all that it owns; objects and spaces, which have references, until the last ..._put(). These
 * functions allow NULL, and free the handle also if they return an error. A handle must not be used after
 * them, and the library does not check that. ..._end() keeps the handle: it ends the input, after which only
 * results are read, or a stream, after which the next one may follow, as its description says. The Python module checks: a closed handle raises
 * ValueError, and closing it again does nothing.
 */

/*
 * Threads: the library keeps all state that a caller can see in its objects. Different objects may
 * be used by different threads at any time. One object may be used by one thread at a time.
 * Exceptions, which any number of threads may use as long as none changes them:
 * - struct ntrace_object and struct ntrace_space: reading, looking up, ..._get() and ..._put(); but
 *   no object of ntrace_object_from_callback();
 * - struct ntrace_contexts, struct ntrace_lines and struct ntrace_counts once they are complete;
 * - configurations, parameters and all static tables.
 * Documentation/architecture.md gives the reasons.
 */

enum ntrace_error {
	NTRACE_OK = 0,
	NTRACE_ERR_INVALID = -1,	/* invalid argument */
	NTRACE_ERR_NOMEM = -2,		/* out of memory */
	NTRACE_ERR_IO = -3,		/* the operating system refused; errno is kept */
	NTRACE_ERR_EOS = -4,		/* end of the stream: no more data */
	NTRACE_ERR_AGAIN = -5,		/* more input is needed */
	NTRACE_ERR_FORMAT = -6,		/* a file has another format or is damaged */
	NTRACE_ERR_UNSUPPORTED = -7,	/* valid, but not supported */
	NTRACE_ERR_NOMAP = -8,		/* no memory known at an address */
	NTRACE_ERR_BADINSN = -9,	/* bytes that are no instruction of this ISA */
	NTRACE_ERR_NOTRISCV = -10,	/* an ELF file for another architecture */
	NTRACE_ERR_TRUNCATED = -11,	/* a file or message ends too early */
	NTRACE_ERR_BUILDID = -12,	/* a file differs from the traced one */
	NTRACE_ERR_NOSPACE = -13,	/* the caller's buffer is too small */
};

/**
 * ntrace_strerror - English text for an error code
 * @error: one of enum ntrace_error
 *
 * Return: a constant string, never NULL.
 */
NTRACE_API const char *ntrace_strerror(int error);

#ifdef __cplusplus
}
#endif

#endif /* NTRACE_ERROR_H */
