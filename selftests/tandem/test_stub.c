// SPDX-License-Identifier: GPL-2.0-only
/*
 * The client of GDB stubs, with a stub in a thread that has three registers. verify.sh has QEMU's.
 */
#include <errno.h>
#include <pthread.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <ntrace/tandem_verify.h>

#include "scratch.h"
#include "tap.h"

#define GPR NTRACE_TANDEM_GPR

static int server;
static uint64_t reg[3] = { 0x1122334455667788, 7, 0x80000000 }; /* a0, priv, pc */
static unsigned int refused; /* register whose value cannot be written */

static const char description[] =
	"l<target><reg name=\"a0\" bitsize=\"64\" regnum=\"0\"/>"
	"<reg name=\"priv\" bitsize=\"64\"/><reg name=\"pc\" bitsize=\"64\"/></target>";

static uint64_t little_endian(uint64_t value)
{
	return __builtin_bswap64(value);
}

static void answer(int fd, const char *request)
{
	unsigned long long value;
	char text[400] = "";
	unsigned int number;
	uint8_t sum = 0;
	size_t i;

	if (!strncmp(request, "qSupported", 10))
		strcpy(text, "PacketSize=1000;qXfer:features:read+");
	else if (!strncmp(request, "QStartNoAckMode", 15))
		strcpy(text, "OK");
	else if (*request == '?')
		strcpy(text, "S05");
	else if (!strncmp(request, "qXfer:features:read:target.xml:0,", 33))
		strcpy(text, description);
	else if (sscanf(request, "p%x", &number) == 1 && number < 3)
		sprintf(text, "%016llx", (unsigned long long)little_endian(reg[number]));
	else if (sscanf(request, "P%x=%llx", &number, &value) == 2 && number < 3) {
		strcpy(text, number == refused ? "E14" : "OK");
		if (number != refused)
			reg[number] = little_endian(value);
	}
	for (i = 0; text[i]; i++)
		sum = (uint8_t)(sum + text[i]);
	dprintf(fd, "$%s#%02x", text, sum);
}

/* One connection; it ends when the client closes it. */
static void *serve(void *unused)
{
	int fd = accept(server, NULL, NULL);
	char request[400], byte;
	size_t size = 0;

	while (fd >= 0 && read(fd, &byte, 1) == 1) {
		if (byte == '$')
			size = 0;
		else if (byte == '#') {
			request[size] = '\0';
			answer(fd, request);
		} else if (size < sizeof(request) - 1)
			request[size++] = byte;
	}
	close(fd);
	return unused;
}

static bool listens(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	server = socket(AF_UNIX, SOCK_STREAM, 0);
	return server >= 0 && !bind(server, (struct sockaddr *)&address, sizeof(address)) &&
	       !listen(server, 1);
}

static void test_registers(void)
{
	const uint16_t ids[] = { GPR + 10, NTRACE_TANDEM_PRIV, NTRACE_TANDEM_PC };
	uint64_t values[3] = { 0 };
	struct ntrace_tandem_model model;
	struct ntrace_tandem_gdb *gdb;
	pthread_t thread;

	if (!ok(listens(in("stub")) && !pthread_create(&thread, NULL, serve, NULL), "a stub"))
		return;
	if (!ok(!ntrace_tandem_gdb_open(&gdb, in("stub"), &model), "connected"))
		return;
	is_u64(model.read_registers(model.data, ids, values, 3), 0, "registers are read");
	is_hex(values[0], 0x1122334455667788, "a0");
	is_hex(values[1], 3, "the privilege, without QEMU's bit of V");
	is_hex(values[2], 0x80000000, "pc");
	values[0] = 0x99;
	values[2] = 0x80000004;
	refused = 1;
	is_u64(model.write_registers(model.data, ids, values, 3), 0, "registers are written");
	ok(reg[0] == 0x99 && reg[1] == 7 && reg[2] == 0x80000004,
	   "those that can be: %" PRIx64 " %" PRIx64 " %" PRIx64, reg[0], reg[1], reg[2]);
	ntrace_tandem_gdb_close(gdb);
	pthread_join(thread, NULL);
	close(server);
}

static void test_addresses(void)
{
	struct ntrace_tandem_model model;
	struct ntrace_tandem_gdb *gdb;
	char address[300];

	is_u64(ntrace_tandem_gdb_open(&gdb, in("none"), &model), NTRACE_ERR_IO, "no such socket");
	is_u64((uint64_t)errno, ENOENT, "errno says so");
	is_u64(ntrace_tandem_gdb_open(&gdb, "localhost", &model), NTRACE_ERR_INVALID, "no port");
	is_u64(ntrace_tandem_gdb_open(&gdb, "localhost:", &model), NTRACE_ERR_INVALID,
	       "an empty port");
	/* One byte of the name of a host is that of its end. */
	memset(address, 'x', sizeof(address));
	strcpy(address + 256, ":1");
	is_u64(ntrace_tandem_gdb_open(&gdb, address, &model), NTRACE_ERR_INVALID,
	       "a name of 256 bytes");
	address[150] = '/';
	is_u64(ntrace_tandem_gdb_open(&gdb, address, &model), NTRACE_ERR_INVALID,
	       "a path that is too long");
}

int main(void)
{
	if (!scratch_make())
		return 1;
	alarm(300);
	test_registers();
	test_addresses();
	scratch_remove();
	return done_testing();
}
