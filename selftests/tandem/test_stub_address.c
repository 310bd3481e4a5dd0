// SPDX-License-Identifier: GPL-2.0-only
/* Addresses of GDB stubs: paths of sockets, and hosts with ports. */
#include <errno.h>
#include <string.h>

#include <ntrace/tandem_verify.h>

#include "tap.h"

static struct ntrace_tandem_model model;
static struct ntrace_tandem_gdb *gdb;

int main(void)
{
	char address[300];

	is_u64(ntrace_tandem_gdb_open(&gdb, "/nonexistent/stub", &model), NTRACE_ERR_IO,
	       "no such socket");
	is_u64((uint64_t)errno, ENOENT, "errno says so");
	is_u64(ntrace_tandem_gdb_open(&gdb, "localhost", &model), NTRACE_ERR_INVALID, "no port");
	is_u64(ntrace_tandem_gdb_open(&gdb, "localhost:", &model), NTRACE_ERR_INVALID,
	       "an empty port");
	is_u64(ntrace_tandem_gdb_open(&gdb, "127.0.0.1:no-such-service", &model), NTRACE_ERR_IO,
	       "an unknown port");
	is_u64((uint64_t)errno, EHOSTUNREACH, "errno says so");
	is_u64(ntrace_tandem_gdb_open(&gdb, "127.0.0.1:65536", &model), NTRACE_ERR_INVALID,
	       "a port of 17 bits");
	is_u64(ntrace_tandem_gdb_open(&gdb, "127.0.0.1:18446744073709551617", &model),
	       NTRACE_ERR_INVALID, "a port of 65 bits");
	is_u64(ntrace_tandem_gdb_open(&gdb, "127.0.0.1:-1", &model), NTRACE_ERR_INVALID,
	       "a port below 0");
	is_u64(ntrace_tandem_gdb_open(&gdb, "127.0.0.1:0", &model), NTRACE_ERR_INVALID, "port 0");
	is_u64(ntrace_tandem_gdb_open(&gdb, "[::1:1", &model), NTRACE_ERR_INVALID,
	       "half an address of IPv6");
	errno = 0;
	is_u64(ntrace_tandem_gdb_open(&gdb, "[::1]:1", &model), NTRACE_ERR_IO,
	       "an address of IPv6, where nobody listens");
	ok(errno != EHOSTUNREACH, "it is found");
	/* One byte of the name of a host is that of its end. */
	memset(address, 'x', sizeof(address));
	strcpy(address + 256, ":1");
	is_u64(ntrace_tandem_gdb_open(&gdb, address, &model), NTRACE_ERR_INVALID,
	       "a name of 256 bytes");
	address[150] = '/';
	is_u64(ntrace_tandem_gdb_open(&gdb, address, &model), NTRACE_ERR_INVALID,
	       "a path that is too long");
	/* The path and its terminating 0 must fit into an address. */
	memset(address, 'x', 108);
	memcpy(address, "/nonexistent/", 13);
	address[107] = '\0';
	is_u64(ntrace_tandem_gdb_open(&gdb, address, &model), NTRACE_ERR_IO,
	       "the longest path can be tried");
	strcpy(address + 107, "x");
	is_u64(ntrace_tandem_gdb_open(&gdb, address, &model), NTRACE_ERR_INVALID,
	       "one byte more is too long");
	ntrace_tandem_gdb_close(NULL);
	return done_testing();
}
