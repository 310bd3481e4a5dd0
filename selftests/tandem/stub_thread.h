/* SPDX-License-Identifier: GPL-2.0-only */
/* A GDB stub in a thread, which has three registers, and the client under test. */
#ifndef SELFTESTS_TANDEM_STUB_THREAD_H
#define SELFTESTS_TANDEM_STUB_THREAD_H

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <ntrace/tandem_verify.h>

#include "scratch.h"
#include "tap.h"

#define GPR NTRACE_TANDEM_GPR

static int server;
static uint64_t reg[3] = { 0x1122334455667788, 7, 0x80000000 }; /* a0, priv, pc */
static unsigned int refused;		/* register whose value cannot be written */
static const char *const (*answers)[2]; /* beginning of a request, answer; before all others */
static const char *hang_up;		/* beginning of a request that ends the connection */
static char requests[8192];		/* all requests, each after a space */
static unsigned int acknowledged;	/* "+" from the client */
static bool waits;			/* the client must acknowledge the last answer */
static bool hurried;			/* it has sent a request instead */
static unsigned int naks;		/* requests that are rejected before one is answered */
static const char *flood;		/* is sent before an answer, until the client has enough */
static unsigned int sent;		/* calls of send() by the client */
static int undelayed;			/* TCP_NODELAY of the last one */
static unsigned int damaged;		/* answers with a wrong checksum, before others */
static unsigned int delayed;		/* waits of the client for TCP without TCP_QUICKACK */

/* In place of the C library's: each call of the client is a segment. */
ssize_t send(int fd, const void *bytes, size_t size, int flags)
{
	socklen_t length = sizeof(undelayed);

	sent++;
	if (getsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &undelayed, &length))
		undelayed = 0;
	return sendto(fd, bytes, size, flags, NULL, 0);
}

/* In place of the C library's: the client takes an answer, for which it has waited. */
ssize_t recv(int fd, void *bytes, size_t size, int flags)
{
	int quick = 0;
	socklen_t length = sizeof(quick);

	if (!getsockopt(fd, IPPROTO_TCP, TCP_QUICKACK, &quick, &length))
		delayed += !quick;
	return recvfrom(fd, bytes, size, flags, NULL, NULL);
}

static const char description[] =
	"l<target><reg name=\"a0\" bitsize=\"64\" regnum=\"0\"/>"
	"<reg name=\"priv\" bitsize=\"64\"/><reg name=\"pc\" bitsize=\"64\"/></target>";

static uint64_t little_endian(uint64_t value)
{
	return __builtin_bswap64(value);
}

static bool begins(const char *request, const char *with)
{
	return !strncmp(request, with, strlen(with));
}

static void send_packet(int fd, const char *text, size_t size)
{
	uint8_t sum = 0;
	size_t i;

	for (i = 0; i < size; i++)
		sum = (uint8_t)(sum + text[i]);
	if (damaged) {
		damaged--;
		sum ^= 0x10;
	}
	dprintf(fd, "$%.*s#%02x", (int)size, text, sum);
}

static void answer(int fd, const char *request)
{
	unsigned long long value;
	char text[400] = "";
	unsigned int number;
	size_t i;

	/* Several packets of one answer have a line feed between them. */
	for (i = 0; answers && answers[i][0]; i++)
		if (begins(request, answers[i][0])) {
			const char *packet = answers[i][1];

			for (; strchr(packet, '\n'); packet = strchr(packet, '\n') + 1)
				send_packet(fd, packet, (size_t)(strchr(packet, '\n') - packet));
			send_packet(fd, packet, strlen(packet));
			return;
		}
	if (begins(request, "qSupported"))
		strcpy(text, "PacketSize=1000;qXfer:features:read+");
	else if (begins(request, "QStartNoAckMode"))
		strcpy(text, "OK");
	else if (*request == '?')
		strcpy(text, "S05");
	else if (begins(request, "qXfer:features:read:target.xml:0,"))
		strcpy(text, description);
	else if (sscanf(request, "p%x", &number) == 1 && number < 3)
		sprintf(text, "%016llx", (unsigned long long)little_endian(reg[number]));
	else if (sscanf(request, "P%x=%llx", &number, &value) == 2 && number < 3) {
		strcpy(text, number == refused ? "E14" : "OK");
		if (number != refused)
			reg[number] = little_endian(value);
	}
	send_packet(fd, text, strlen(text));
}

/* The checksum of a request is right. */
static bool sums_up(const char *request, const char *digits)
{
	uint8_t sum = 0;

	for (; *request; request++)
		sum = (uint8_t)(sum + *request);
	return strtoul(digits, NULL, 16) == sum;
}

/* One connection; it ends when the client closes it. */
static void *serve(void *unused)
{
	int fd = accept(server, NULL, NULL);
	char request[400], digits[3] = "", byte;
	size_t size = 0, used = 0;
	bool inside = false;

	requests[0] = '\0';
	acknowledged = 0;
	waits = hurried = false;
	while (fd >= 0 && read(fd, &byte, 1) == 1) {
		if (byte == '+' && !inside) {
			acknowledged++;
			waits = false;
		} else if (byte == '-' && !inside) {
			waits = true;
			answer(fd, request);
		} else if (byte == '$') {
			size = 0;
			inside = true;
		} else if (byte == '#') {
			inside = false;
			request[size] = '\0';
			if (read(fd, digits, 1) != 1 || read(fd, digits + 1, 1) != 1 ||
			    !sums_up(request, digits) || (hang_up && begins(request, hang_up)))
				break;
			if (naks && naks--) {
				dprintf(fd, "-");
				continue;
			}
			while (flood && write(fd, flood, strlen(flood)) > 0)
				;
			hurried |= waits;
			waits = true;
			if (used + size + 2 < sizeof(requests))
				used += (size_t)sprintf(requests + used, " %s", request);
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

	unlink(path);
	snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	server = socket(AF_UNIX, SOCK_STREAM, 0);
	return server >= 0 && !bind(server, (struct sockaddr *)&address, sizeof(address)) &&
	       !listen(server, 1);
}

/* ---- a connection ---- */

static struct ntrace_tandem_model model;
static struct ntrace_tandem_gdb *gdb;
static pthread_t thread;

static int connects(const char *const (*script)[2])
{
	answers = script;
	gdb = NULL;
	if (!listens(in("stub")) || pthread_create(&thread, NULL, serve, NULL))
		return NTRACE_ERR_NOMEM;
	return ntrace_tandem_gdb_open(&gdb, in("stub"), &model);
}

static void disconnects(void)
{
	ntrace_tandem_gdb_close(gdb);
	pthread_join(thread, NULL);
	close(server);
	answers = NULL;
	hang_up = NULL;
}

/* Parts of descriptions */
#define XML(number) "qXfer:features:read:target.xml:" number ","
#define REG(name, more) "<reg name=\"" name "\" bitsize=\"64\"" more "/>"

#endif /* SELFTESTS_TANDEM_STUB_THREAD_H */
