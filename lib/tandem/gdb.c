// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * A model behind a GDB remote stub, such as QEMU's or OpenOCD's. The stub's target description
 * numbers the registers. Requests that do not run the hart are sent together, before the first
 * answer is read, because a round trip takes longer than their execution. For the same reason an
 * acknowledgement is sent with the next request: a small segment of its own would hold the request
 * back until the stub's host has confirmed it, which takes 40 ms. In a batch, acknowledgements are
 * sent before the answers: a stub reads its input in order. A damaged batch is repeated one by one.
 */
#include <errno.h>
#include <inttypes.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "verifier.h"

#define PACKET_MAX 16384
#define XML_MAX (1 << 20)
/* A stub that has not completed an answer after so long is taken as dead. */
#define PATIENCE_MS 10000
/* A request that the stub rejects so often is given up. */
#define TRIES_MAX 4
/* Bytes between two answers: acknowledgements, notifications. */
#define NOISE_MAX (1 << 20)
/* Packets of console output before the answer to a step. */
#define OUTPUTS_MAX 10000
/* Registers in one batch: their answers must fit into the buffers of the connection. */
#define BATCH 64
#define NUMBERS_MAX 8192

struct ntrace_tandem_gdb {
	int fd;
	bool tcp, no_acks;
	size_t in_next, in_end;
	size_t out_used;
	int64_t deadline;				/* of the answer, CLOCK_MONOTONIC, ms */
	unsigned int asked;				/* requests without an answer */
	bool damaged;					/* a request or an answer of a batch */
	size_t last_size;				/* of the last request, which is repeated if the stub asks */
	char last[1032];
	int number[NTRACE_TANDEM_STATE_REGISTERS];	/* of the stub, -1 = none */
	uint16_t bytes[NUMBERS_MAX];			/* size of the stub's register */
	uint16_t id[NUMBERS_MAX];			/* ours, + 1 */
	unsigned int numbers;
	char in[65536];
	char out[65536];
	char packet[PACKET_MAX + 1];
};

/* ---- packets ---- */

static int flush(struct ntrace_tandem_gdb *gdb)
{
	size_t at = 0;

	while (at < gdb->out_used) {
		ssize_t sent = send(gdb->fd, gdb->out + at, gdb->out_used - at, MSG_NOSIGNAL);

		if (sent < 0 && errno != EINTR)
			return NTRACE_ERR_IO;
		at += sent > 0 ? (size_t)sent : 0;
	}
	gdb->out_used = 0;
	return 0;
}

/* Makes room for @size more bytes. */
static int reserve(struct ntrace_tandem_gdb *gdb, size_t size)
{
	return gdb->out_used + size > sizeof(gdb->out) ? flush(gdb) : 0;
}

__attribute__((format(printf, 2, 3))) static int put_packet(struct ntrace_tandem_gdb *gdb,
							    const char *format, ...)
{
	char text[1024];
	uint8_t sum = 0;
	va_list args;
	int length, error;

	va_start(args, format);
	length = vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (length < 0 || (size_t)length >= sizeof(text))
		return NTRACE_ERR_INVALID;
	error = reserve(gdb, (size_t)length + 8);
	if (error)
		return error;
	if (gdb->asked++ && !gdb->no_acks)
		gdb->out[gdb->out_used++] = '+';
	for (int i = 0; i < length; i++)
		sum = (uint8_t)(sum + (uint8_t)text[i]);
	gdb->last_size = (size_t)snprintf(gdb->last, sizeof(gdb->last), "$%s#%02x", text, sum);
	memcpy(gdb->out + gdb->out_used, gdb->last, gdb->last_size);
	gdb->out_used += gdb->last_size;
	return 0;
}

/* Sent by the next flush(). Return: @length, or an error */
static int acknowledge(struct ntrace_tandem_gdb *gdb, int length)
{
	int error = reserve(gdb, 1);

	if (error)
		return error;
	gdb->out[gdb->out_used++] = '+';
	return length;
}

static int64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Return: the next byte, or an error */
static int get_byte(struct ntrace_tandem_gdb *gdb)
{
	struct pollfd wait = { .fd = gdb->fd, .events = POLLIN };
	int64_t left;
	ssize_t got;
	int ready, on = 1;

	if (gdb->in_next < gdb->in_end)
		return (uint8_t)gdb->in[gdb->in_next++];
	/* A stub without TCP_NODELAY sends the second answer of a batch once the first is confirmed. */
	if (gdb->tcp)
		setsockopt(gdb->fd, IPPROTO_TCP, TCP_QUICKACK, &on, sizeof(on));
	do {
		left = gdb->deadline - now_ms();
		ready = left > 0 ? poll(&wait, 1, (int)left) : 0;
	} while (ready < 0 && errno == EINTR);
	if (!ready)
		errno = ETIMEDOUT;
	if (ready <= 0)
		return NTRACE_ERR_IO;
	do {
		got = recv(gdb->fd, gdb->in, sizeof(gdb->in), 0);
	} while (got < 0 && errno == EINTR);
	if (!got)
		errno = ECONNRESET;
	if (got <= 0)
		return NTRACE_ERR_IO;
	gdb->in_end = (size_t)got;
	gdb->in_next = 1;
	return (uint8_t)gdb->in[0];
}

/* Sends the last request again: the stub that acknowledges has got it damaged. */
static int repeat(struct ntrace_tandem_gdb *gdb)
{
	int error = reserve(gdb, gdb->last_size);

	if (error)
		return error;
	memcpy(gdb->out + gdb->out_used, gdb->last, gdb->last_size);
	gdb->out_used += gdb->last_size;
	return flush(gdb);
}

/* Finds the start of a packet. Return: 0 or an error */
static int find_packet(struct ntrace_tandem_gdb *gdb)
{
	unsigned int tries = 1;
	int byte, error;

	for (size_t noise = 0; noise < NOISE_MAX; noise++) {
		byte = get_byte(gdb);
		if (byte < 0 || byte == '$')
			return byte < 0 ? byte : 0;
		if (byte != '-' || gdb->no_acks)
			continue;
		/* Only the last request of a batch is kept. */
		gdb->damaged |= gdb->asked > 1;
		if (gdb->asked > 1)
			break;
		if (tries++ == TRIES_MAX)
			break;
		error = repeat(gdb);
		if (error)
			return error;
	}
	return NTRACE_ERR_FORMAT;
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c = (char)(c | 0x20);
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Reads a packet after its '$'; @damaged: its checksum is wrong. Return: its length, or an error */
static int read_packet(struct ntrace_tandem_gdb *gdb, bool *damaged)
{
	size_t length = 0;
	uint8_t sum = 0;
	int byte, high, low;

	while ((byte = get_byte(gdb)) != '#') {
		sum = (uint8_t)(sum + byte);
		if (byte == '}') {
			byte = get_byte(gdb);
			sum = (uint8_t)(sum + byte);
			byte = byte < 0 ? byte : byte ^ 0x20;
		}
		if (byte < 0)
			return byte;
		if (length == PACKET_MAX)
			return NTRACE_ERR_FORMAT;
		gdb->packet[length++] = (char)byte;
	}
	gdb->packet[length] = 0;
	high = get_byte(gdb);
	low = high < 0 ? high : get_byte(gdb);
	if (low < 0)
		return low;
	high = hex_digit((char)high);
	low = hex_digit((char)low);
	*damaged = high < 0 || low < 0 || (high << 4 | low) != sum;
	return (int)length;
}

/*
 * Puts the next packet at gdb->packet, without escapes. A damaged one is asked for again, if the stub
 * waits for acknowledgements and did not get this one in advance. The caller has set the deadline.
 * Return: its length, or an error
 */
static int get_packet_in_time(struct ntrace_tandem_gdb *gdb)
{
	bool damaged = true;
	int length = 0, error;

	for (unsigned int tries = 0; tries < TRIES_MAX; tries++) {
		error = find_packet(gdb);
		length = error ? error : read_packet(gdb, &damaged);
		if (length < 0)
			return length;
		if (!damaged)
			return gdb->no_acks || gdb->asked > 1 ? length : acknowledge(gdb, length);
		gdb->damaged |= gdb->asked > 1;
		if (gdb->no_acks || gdb->asked > 1)
			break;
		error = reserve(gdb, 1);
		if (error)
			return error;
		gdb->out[gdb->out_used++] = '-';
		error = flush(gdb);
		if (error)
			return error;
	}
	return NTRACE_ERR_FORMAT;
}

static int get_packet(struct ntrace_tandem_gdb *gdb)
{
	int length;

	gdb->deadline = now_ms() + PATIENCE_MS;
	length = get_packet_in_time(gdb);
	gdb->asked--;
	return length;
}

static int exchange(struct ntrace_tandem_gdb *gdb, const char *request)
{
	int error = put_packet(gdb, "%s", request);

	if (!error)
		error = flush(gdb);
	return error ? error : get_packet(gdb);
}

/* "E14", or empty for what the stub does not know. */
static bool is_refusal(const struct ntrace_tandem_gdb *gdb, int length)
{
	return !length || (length == 3 && gdb->packet[0] == 'E');
}

/* Return: number of bytes, or -1 for something else than hex digits */
static int from_hex(const char *text, uint8_t *bytes, size_t room)
{
	size_t count = 0;

	for (; text[0] && text[1] && count < room; text += 2) {
		int high = hex_digit(text[0]), low = hex_digit(text[1]);

		/* "xx": the stub does not know the value. */
		if (high < 0 || low < 0)
			return -1;
		bytes[count++] = (uint8_t)(high << 4 | low);
	}
	return (int)count;
}

static uint64_t little_endian(const uint8_t *bytes, size_t size)
{
	uint64_t value = 0;

	while (size--)
		value = value << 8 | bytes[size];
	return value;
}

/* ---- description of the registers ---- */

/* Reads a file of the target description. Return: text to be freed, or NULL with *error */
static char *read_xml(struct ntrace_tandem_gdb *gdb, const char *name, int *error)
{
	char request[256], *text = NULL, *grown;
	size_t used = 0;

	do {
		int length;

		snprintf(request, sizeof(request), "qXfer:features:read:%s:%zx,1000", name, used);
		length = exchange(gdb, request);
		if (length < 1 || (gdb->packet[0] != 'm' && gdb->packet[0] != 'l')) {
			*error = length < 0 ? length : NTRACE_ERR_UNSUPPORTED;
			break;
		}
		if (used + (size_t)length >= XML_MAX) {
			*error = NTRACE_ERR_NOSPACE;
			break;
		}
		grown = realloc(text, used + (size_t)length + 1);
		if (!grown) {
			*error = NTRACE_ERR_NOMEM;
			break;
		}
		text = grown;
		memcpy(text + used, gdb->packet + 1, (size_t)length - 1);
		used += (size_t)length - 1;
		text[used] = 0;
		if (gdb->packet[0] == 'l')
			return text;
		/* A stub that sends nothing would be asked for ever. */
		if (length == 1)
			*error = NTRACE_ERR_FORMAT;
	} while (!*error);
	free(text);
	return NULL;
}

/* Value of an attribute in the tag at @tag. Return: whether it is there */
static bool attribute(const char *tag, const char *name, char *value, size_t size)
{
	const char *end = strchr(tag, '>'), *at = tag, *close;
	size_t length = strlen(name);

	while (end && (at = strstr(at, name)) && at < end) {
		if (at[-1] == ' ' && at[length] == '=' &&
		    (at[length + 1] == '"' || at[length + 1] == '\'')) {
			close = strchr(at + length + 2, at[length + 1]);
			if (!close || (size_t)(close - at) - length - 2 >= size)
				return false;
			memcpy(value, at + length + 2, (size_t)(close - at) - length - 2);
			value[(size_t)(close - at) - length - 2] = 0;
			return true;
		}
		at += length;
	}
	return false;
}

static bool is_general(int id)
{
	return id >= (int)NTRACE_TANDEM_GPR && id < (int)NTRACE_TANDEM_FPR;
}

static bool is_general_or_pc(int id)
{
	return is_general(id) || id == NTRACE_TANDEM_PC;
}

/* Return: 0, or NTRACE_ERR_FORMAT for a register whose size is impossible */
static int describe_registers(struct ntrace_tandem_gdb *gdb, const char *text)
{
	char name[64], number[16], bits[16];
	unsigned long size;

	for (const char *tag = text; (tag = strstr(tag, "<reg ")); tag++) {
		int id;

		if (attribute(tag, "regnum", number, sizeof(number)))
			gdb->numbers = (unsigned int)strtoul(number, NULL, 0);
		if (gdb->numbers >= NUMBERS_MAX)
			return 0;
		if (!attribute(tag, "name", name, sizeof(name)) ||
		    !attribute(tag, "bitsize", bits, sizeof(bits)))
			continue;
		id = ntrace_tandem_register_number(name);
		size = strtoul(bits, NULL, 10) / 8;
		if (size > UINT16_MAX || (id >= 0 && !size) ||
		    (is_general_or_pc(id) && size != 4 && size != 8))
			return NTRACE_ERR_FORMAT;
		gdb->bytes[gdb->numbers] = (uint16_t)size;
		if (id >= 0 && gdb->bytes[gdb->numbers] <= 8) {
			gdb->number[id] = (int)gdb->numbers;
			gdb->id[gdb->numbers] = (uint16_t)(id + 1);
		}
		gdb->numbers++;
	}
	return 0;
}

/* pc and the general registers have the size XLEN. Return: 0 or an error */
static int check_sizes(const struct ntrace_tandem_gdb *gdb)
{
	int pc = gdb->number[NTRACE_TANDEM_PC];

	if (pc < 0)
		return NTRACE_ERR_UNSUPPORTED;
	for (unsigned int id = NTRACE_TANDEM_GPR; id < NTRACE_TANDEM_FPR; id++)
		if (gdb->number[id] >= 0 && gdb->bytes[gdb->number[id]] != gdb->bytes[pc])
			return NTRACE_ERR_FORMAT;
	return 0;
}

/* The description, with the files that it includes (one level, as QEMU and OpenOCD have it). */
static int read_description(struct ntrace_tandem_gdb *gdb)
{
	char name[128], *text, *part;
	int error = 0;

	text = read_xml(gdb, "target.xml", &error);
	if (!text)
		return error;
	error = describe_registers(gdb, text);
	for (const char *tag = text; !error && (tag = strstr(tag, "<xi:include ")); tag++) {
		if (!attribute(tag, "href", name, sizeof(name)))
			continue;
		part = read_xml(gdb, name, &error);
		if (part)
			error = describe_registers(gdb, part);
		free(part);
	}
	free(text);
	return error ? error : check_sizes(gdb);
}

/* ---- the model ---- */

/* Registers to be read; @all: 1 for those that the answer to 'g' must have, 2 once it had them */
struct reading {
	const uint16_t *ids;
	uint64_t *values;
	size_t count;
	uint8_t all[NTRACE_TANDEM_STATE_REGISTERS];
};

/* Answer to 'g': the registers in the order of their numbers. */
static int parse_all_registers(struct ntrace_tandem_gdb *gdb, struct reading *reading)
{
	uint8_t bytes[PACKET_MAX / 2];
	int length = get_packet(gdb), have;
	size_t at = 0;

	if (length < 0)
		return length;
	have = is_refusal(gdb, length) ? -1 : from_hex(gdb->packet, bytes, sizeof(bytes));
	for (unsigned int number = 0; number < gdb->numbers; number++) {
		if (have < 0 || at + gdb->bytes[number] > (size_t)have)
			break;
		for (size_t i = 0; i < reading->count && gdb->id[number]; i++)
			if (reading->all[i] && reading->ids[i] == gdb->id[number] - 1) {
				reading->values[i] = little_endian(bytes + at, gdb->bytes[number]);
				reading->all[i] = 2;
			}
		at += gdb->bytes[number];
	}
	return memchr(reading->all, 1, reading->count) ? NTRACE_ERR_FORMAT : 0;
}

static int parse_register(struct ntrace_tandem_gdb *gdb, unsigned int id, uint64_t *value)
{
	uint8_t bytes[8];
	int length = get_packet(gdb), count;

	if (length < 0)
		return length;
	if (is_refusal(gdb, length))
		return NTRACE_ERR_UNSUPPORTED;
	count = from_hex(gdb->packet, bytes, sizeof(bytes));
	if (count <= 0)
		return NTRACE_ERR_UNSUPPORTED;
	*value = little_endian(bytes, (size_t)count);
	/* QEMU's "priv" has V in bit 2. */
	if (id == NTRACE_TANDEM_PRIV)
		*value &= 3;
	/* A stub of 64 bits may sign-extend the CSRs of a hart of 32. */
	if (id < NTRACE_TANDEM_GPR)
		*value &= tandem_xlen_mask(8u * gdb->bytes[gdb->number[NTRACE_TANDEM_PC]]);
	return 0;
}

/* After a refusal or damage, the other answers of a batch must be read all the same. */
static bool goes_on(const struct ntrace_tandem_gdb *gdb, int error)
{
	return !error || error == NTRACE_ERR_UNSUPPORTED ||
	       (gdb->damaged && error != NTRACE_ERR_IO);
}

/* Registers from @first to before @end, and before them those of 'g', if @all */
static int read_batch(struct ntrace_tandem_gdb *gdb, struct reading *reading, size_t first,
		      size_t end, bool all)
{
	int error = all ? put_packet(gdb, "g") : 0, result;
	size_t i;

	gdb->damaged = false;
	for (i = first; i < end && !error; i++)
		if (!reading->all[i])
			error = put_packet(gdb, "p%x", (unsigned int)gdb->number[reading->ids[i]]);
	if (!error)
		error = flush(gdb);
	if (!error && all)
		error = parse_all_registers(gdb, reading);
	for (i = first; i < end && goes_on(gdb, error); i++)
		if (!reading->all[i]) {
			result = parse_register(gdb, reading->ids[i], &reading->values[i]);
			error = result ? result : error;
		}
	return error;
}

static bool has_numbers(const struct ntrace_tandem_gdb *gdb, const uint16_t *ids, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (gdb->number[ids[i]] < 0)
			return false;
	return true;
}

static int read_registers(void *data, const uint16_t *ids, uint64_t *values, size_t count)
{
	struct ntrace_tandem_gdb *gdb = data;
	struct reading reading = { .ids = ids, .values = values, .count = count };
	size_t first = 0, end, general = 0;
	int error;

	if (!has_numbers(gdb, ids, count))
		return NTRACE_ERR_UNSUPPORTED;
	for (size_t i = 0; i < count; i++)
		general += is_general(ids[i]);
	for (size_t i = 0; i < count && general > 4; i++)
		reading.all[i] = is_general_or_pc(ids[i]);
	do {
		end = first + BATCH < count ? first + BATCH : count;
		error = read_batch(gdb, &reading, first, end, general > 4 && !first);
		first = end;
	} while (!error && first < count);
	if (!gdb->damaged || error == NTRACE_ERR_IO)
		return error;
	for (error = 0, first = 0; first < count && !error; first++)
		error = read_registers(gdb, ids + first, values + first, 1);
	return error;
}

/* Answers "OK". */
static int expect_ok(struct ntrace_tandem_gdb *gdb)
{
	int length = get_packet(gdb);

	if (length < 0)
		return length;
	return strcmp(gdb->packet, "OK") ? NTRACE_ERR_UNSUPPORTED : 0;
}

static int write_registers(void *data, const uint16_t *ids, const uint64_t *values, size_t count)
{
	struct ntrace_tandem_gdb *gdb = data;
	int error = 0, result;
	size_t first = 0, end, i;

	if (!has_numbers(gdb, ids, count))
		return NTRACE_ERR_UNSUPPORTED;
	gdb->damaged = false;
	for (; first < count && !error; first = end) {
		for (end = first; end < count && end < first + BATCH && !error; end++) {
			unsigned int number = (unsigned int)gdb->number[ids[end]];
			char text[17];

			for (i = 0; i < gdb->bytes[number]; i++)
				sprintf(text + 2 * i, "%02x",
					(unsigned int)(values[end] >> 8 * i & 0xff));
			error = put_packet(gdb, "P%x=%s", number, text);
		}
		if (!error)
			error = flush(gdb);
		for (i = first; i < end && goes_on(gdb, error); i++) {
			result = expect_ok(gdb);
			/* A CSR that is read-only keeps its value; comparing shows whether it is right. */
			if (result && result != NTRACE_ERR_UNSUPPORTED)
				error = result;
		}
	}
	if (!gdb->damaged || error == NTRACE_ERR_IO)
		return error;
	for (error = 0, first = 0; first < count && !error; first++)
		error = write_registers(gdb, ids + first, values + first, 1);
	return error;
}

static int read_memory(void *data, uint64_t address, void *bytes, size_t size)
{
	struct ntrace_tandem_gdb *gdb = data;
	char request[64];
	int length;

	snprintf(request, sizeof(request), "m%" PRIx64 ",%zx", address, size);
	length = exchange(gdb, request);
	if (length < 0)
		return length;
	if (is_refusal(gdb, length) || from_hex(gdb->packet, bytes, size) != (int)size)
		return NTRACE_ERR_NOMAP;
	return 0;
}

static int write_memory(void *data, uint64_t address, const void *bytes, size_t size)
{
	struct ntrace_tandem_gdb *gdb = data;
	char text[2 * 64 + 1];
	int error, result;

	for (size_t at = 0; at < size;) {
		size_t part = size - at < 64 ? size - at : 64;

		for (size_t i = 0; i < part; i++)
			sprintf(text + 2 * i, "%02x", ((const uint8_t *)bytes)[at + i]);
		error = put_packet(gdb, "M%" PRIx64 ",%zx:%s", address + at, part, text);
		if (!error)
			error = flush(gdb);
		result = error ? error : expect_ok(gdb);
		if (result)
			return result == NTRACE_ERR_UNSUPPORTED ? NTRACE_ERR_NOMAP : result;
		at += part;
	}
	return 0;
}

static int step(void *data)
{
	struct ntrace_tandem_gdb *gdb = data;
	int length = exchange(gdb, "s");

	/* Console output of the stub may come first. */
	for (unsigned int i = 0; length >= 0 && gdb->packet[0] == 'O' && i < OUTPUTS_MAX; i++)
		length = get_packet_in_time(gdb);
	if (length < 0)
		return length;
	if (gdb->packet[0] == 'W' || gdb->packet[0] == 'X')
		return NTRACE_ERR_EOS;
	return gdb->packet[0] == 'T' || gdb->packet[0] == 'S' ? 0 : NTRACE_ERR_FORMAT;
}

/* ---- connecting ---- */

static int connect_unix(struct ntrace_tandem_gdb *gdb, const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	if (strlen(path) >= sizeof(address.sun_path))
		return NTRACE_ERR_INVALID;
	memcpy(address.sun_path, path, strlen(path) + 1);
	gdb->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (gdb->fd < 0 || connect(gdb->fd, (struct sockaddr *)&address, sizeof(address)))
		return NTRACE_ERR_IO;
	return 0;
}

/* A number from 1 to 65535, which getaddrinfo() would take modulo 65536, or the name of a service. */
static bool is_port(const char *text)
{
	size_t digits = strspn(text, "0123456789");
	unsigned long port = strtoul(text, NULL, 10);

	if (digits && !text[digits])
		return digits <= 5 && port && port <= UINT16_MAX;
	return (*text >= 'a' && *text <= 'z') || (*text >= 'A' && *text <= 'Z');
}

static int connect_tcp(struct ntrace_tandem_gdb *gdb, const char *text)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM }, *list, *each;
	const char *colon = strrchr(text, ':');
	char host[256];
	size_t length;
	int saved, on = 1;

	if (!colon)
		return NTRACE_ERR_INVALID;
	length = (size_t)(colon - text);
	/* An address of IPv6 has colons, and so brackets. */
	if (length > 1 && text[0] == '[' && colon[-1] == ']') {
		text++;
		length -= 2;
	}
	if (length >= sizeof(host) || memchr(text, '[', length) || !is_port(colon + 1))
		return NTRACE_ERR_INVALID;
	memcpy(host, text, length);
	host[length] = 0;
	if (getaddrinfo(host[0] ? host : "localhost", colon + 1, &hints, &list)) {
		errno = EHOSTUNREACH;
		return NTRACE_ERR_IO;
	}
	for (each = list; each; each = each->ai_next) {
		gdb->fd = socket(each->ai_family, each->ai_socktype | SOCK_CLOEXEC,
				 each->ai_protocol);
		if (gdb->fd >= 0 && !connect(gdb->fd, each->ai_addr, each->ai_addrlen))
			break;
		saved = errno;
		if (gdb->fd >= 0)
			close(gdb->fd);
		gdb->fd = -1;
		errno = saved;
	}
	freeaddrinfo(list);
	if (!each)
		return NTRACE_ERR_IO;
	setsockopt(gdb->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	gdb->tcp = true;
	return 0;
}

static int greet(struct ntrace_tandem_gdb *gdb)
{
	int length = exchange(gdb, "qSupported:swbreak+;hwbreak+");

	if (length < 0)
		return length;
	if (!strstr(gdb->packet, "qXfer:features:read+"))
		return NTRACE_ERR_UNSUPPORTED;
	length = exchange(gdb, "QStartNoAckMode");
	if (length < 0)
		return length;
	gdb->no_acks = !strcmp(gdb->packet, "OK");
	length = exchange(gdb, "?");
	return length < 0 ? length : read_description(gdb);
}

int ntrace_tandem_gdb_open(struct ntrace_tandem_gdb **result, const char *address,
			   struct ntrace_tandem_model *model)
{
	struct ntrace_tandem_gdb *gdb = calloc(1, sizeof(*gdb));
	int error, saved;

	if (!gdb)
		return NTRACE_ERR_NOMEM;
	gdb->fd = -1;
	for (unsigned int id = 0; id < NTRACE_TANDEM_STATE_REGISTERS; id++)
		gdb->number[id] = -1;
	error = strchr(address, '/') || !access(address, F_OK) ? connect_unix(gdb, address) :
								 connect_tcp(gdb, address);
	if (!error)
		error = greet(gdb);
	if (error) {
		saved = errno;
		ntrace_tandem_gdb_close(gdb);
		errno = saved;
		return error;
	}
	memset(model, 0, sizeof(*model));
	model->size = sizeof(*model);
	model->data = gdb;
	model->read_registers = read_registers;
	model->write_registers = write_registers;
	model->read_memory = read_memory;
	model->write_memory = write_memory;
	model->step = step;
	model->flags = NTRACE_TANDEM_MODEL_WFI_BLOCKS;
	model->xlen = 8u * gdb->bytes[gdb->number[NTRACE_TANDEM_PC]];
	*result = gdb;
	return 0;
}

void ntrace_tandem_gdb_close(struct ntrace_tandem_gdb *gdb)
{
	if (!gdb)
		return;
	if (gdb->fd >= 0) {
		/* The acknowledgement of the last answer. */
		flush(gdb);
		close(gdb->fd);
	}
	free(gdb);
}
