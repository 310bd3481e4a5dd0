// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Text of the library's error codes. */
#include <ntrace/error.h>

const char *ntrace_strerror(int error)
{
	switch (error) {
	case NTRACE_OK:
		return "no error";
	case NTRACE_ERR_INVALID:
		return "invalid argument";
	case NTRACE_ERR_NOMEM:
		return "out of memory";
	case NTRACE_ERR_IO:
		return "input or output failed";
	case NTRACE_ERR_EOS:
		return "end of the stream";
	case NTRACE_ERR_AGAIN:
		return "more input is needed";
	case NTRACE_ERR_FORMAT:
		return "wrong file format";
	case NTRACE_ERR_UNSUPPORTED:
		return "not supported";
	case NTRACE_ERR_NOMAP:
		return "no memory is known at this address";
	case NTRACE_ERR_BADINSN:
		return "no valid instruction";
	case NTRACE_ERR_NOTRISCV:
		return "not a RISC-V file";
	case NTRACE_ERR_TRUNCATED:
		return "ends too early";
	case NTRACE_ERR_BUILDID:
		return "build-id does not match";
	case NTRACE_ERR_NOSPACE:
		return "buffer too small";
	default:
		return error > 0 ? "no error" : "unknown error";
	}
}
