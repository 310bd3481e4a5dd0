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

/* Marks what libntrace.so exports; everything else is hidden. */
#if defined(__GNUC__)
#define NTRACE_API __attribute__((visibility("default")))
#else
#define NTRACE_API
#endif

/*
 * Marks functions that may change or go in any release, with the structs and enums that they take:
 * their version of the symbol promises nothing. Everything that NTRACE_API marks keeps working.
 */
#define NTRACE_EXPERIMENTAL NTRACE_API

/*
 * Structs that start with `size` may grow. The caller sets it to sizeof the struct; functions named
 * ..._init() do. Fields that the caller's header does not have yet get their defaults; where it has
 * more than the library knows, those must be 0, else the function returns NTRACE_ERR_INVALID.
 */

/*
 * Threads: the library has no state that a caller could see but in its objects. Different objects
 * may be used by different threads at any time. One object may be used by one thread at a time, but
 * for these, which any number of threads may use as long as none changes them:
 * - struct ntrace_object and struct ntrace_space: reading, looking up, ..._get() and ..._put(). Not
 *   an object of ntrace_object_from_callback(), and not a space whose time is moved;
 * - struct ntrace_contexts, struct ntrace_lines and struct ntrace_counts once they are complete;
 * - configurations, parameters and all static tables.
 * Documentation/architecture.md has the reasons.
 */

enum ntrace_error {
	NTRACE_OK = 0,
	NTRACE_ERR_INVALID = -1,	/* an argument makes no sense */
	NTRACE_ERR_NOMEM = -2,		/* out of memory */
	NTRACE_ERR_IO = -3,		/* the operating system said no; errno is kept */
	NTRACE_ERR_EOS = -4,		/* end of the stream: nothing more to come */
	NTRACE_ERR_AGAIN = -5,		/* more input is needed */
	NTRACE_ERR_FORMAT = -6,		/* a file is not what it claims to be */
	NTRACE_ERR_UNSUPPORTED = -7,	/* valid, but not handled */
	NTRACE_ERR_NOMAP = -8,		/* no memory is known at an address */
	NTRACE_ERR_BADINSN = -9,	/* bytes that are no instruction of this ISA */
	NTRACE_ERR_NOTRISCV = -10,	/* an ELF file for another architecture */
	NTRACE_ERR_TRUNCATED = -11,	/* a file or message ends too early */
	NTRACE_ERR_BUILDID = -12,	/* a file is not the one that was traced */
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
