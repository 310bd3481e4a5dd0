// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Converts lines of text to records of the ingress port. A line that does not follow the format
 * exactly is refused with its number, the column and a reason. The reader collects whole lines, so
 * that the input may be cut anywhere.
 */
#include <string.h>

#include "text.h"

enum {
	STATE_PORT,	/* waiting for the first line */
	STATE_RECORDS,
	STATE_END,	/* after "end" */
	STATE_FAILED,
};

/* A line being parsed. */
struct line_cursor {
	const char *next;
	const char *error;	/* the first error */
};

void ntrace_ingress_reader_init(struct ntrace_ingress_reader *reader)
{
	memset(reader, 0, sizeof(*reader));
}

void ntrace_ingress_reader_feed(struct ntrace_ingress_reader *reader, const char *data, size_t size)
{
	reader->next = data;
	reader->end = size ? data + size : data;
}

static bool refuse(struct line_cursor *at, const char *why)
{
	if (!at->error)
		at->error = why;
	return false;
}

/* Skips @text if it is next. */
static bool skip(struct line_cursor *at, const char *text)
{
	size_t length = strlen(text);

	if (strncmp(at->next, text, length))
		return false;
	at->next += length;
	return true;
}

static int digit_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : 16;
}

static bool digits(struct line_cursor *at, unsigned int base, uint64_t max, uint64_t *value)
{
	const char *start = at->next;
	uint64_t result = 0;

	while (digit_value(*at->next) < (int)base) {
		unsigned int digit = (unsigned int)digit_value(*at->next);

		if (digit > max || result > (max - digit) / base) {
			at->next = start;
			return refuse(at, "the number is too large");
		}
		result = result * base + digit;
		at->next++;
	}
	if (at->next == start)
		return refuse(at, base == 16 ? "expected lower-case hex digits" :
					       "expected a decimal number");
	*value = result;
	return true;
}

static bool read_decimal(struct line_cursor *at, uint64_t max, uint64_t *value)
{
	return digits(at, 10, max, value);
}

static bool read_hex(struct line_cursor *at, uint64_t max, uint64_t *value)
{
	return skip(at, "0x") ? digits(at, 16, max, value) : refuse(at, "expected 0x");
}

/* The greatest value of an unsigned type. */
#define MOST(field) (sizeof(field) == 8 ? UINT64_MAX : (UINT64_C(1) << 8 * (sizeof(field) % 8)) - 1)

static bool read_group(struct line_cursor *at, struct ntrace_ingress_group *group)
{
	uint64_t iaddr, iretire, itype, ilastsize = 0;

	if (!read_hex(at, UINT64_MAX, &iaddr))
		return false;
	if (!skip(at, ",") || !read_decimal(at, UINT32_MAX, &iretire))
		return refuse(at, "expected a group IADDR,IRETIRE,ITYPE[,ILASTSIZE[,s]]");
	if (!skip(at, ",") || !read_decimal(at, 15, &itype))
		return refuse(at, "expected a group IADDR,IRETIRE,ITYPE[,ILASTSIZE[,s]]");
	if (skip(at, ",")) {
		if (!read_decimal(at, 3, &ilastsize))
			return false;
		group->sijump = skip(at, ",s");
	}
	group->iaddr = iaddr;
	group->iretire = (uint32_t)iretire;
	group->itype = (uint8_t)itype;
	group->ilastsize = (uint8_t)ilastsize;
	return true;
}

/* A value of up to 128 bits; @value[0] gets bits 63:0. */
static bool read_data(struct line_cursor *at, uint64_t *value)
{
	const char *start;

	value[0] = 0;
	value[1] = 0;
	if (!skip(at, "0x"))
		return refuse(at, "expected 0x");
	for (start = at->next; digit_value(*at->next) < 16; at->next++) {
		if (value[1] >> 60) {
			at->next = start;
			return refuse(at, "the number is too large");
		}
		value[1] = value[1] << 4 | value[0] >> 60;
		value[0] = value[0] << 4 | (unsigned int)digit_value(*at->next);
	}
	return at->next != start || refuse(at, "expected lower-case hex digits");
}

static bool read_access(struct line_cursor *at, struct ntrace_ingress_access *access)
{
	static const char form[] =
		"expected an access d=DTYPE,DADDR,DSIZE[,sDATA][,lDATA][,iLSBS][,bDBLOCK][,rLRID]";
	uint64_t dtype = 0, dsize = 0, lsbs = 0, dblock = 0, lrid = 0;

	if (!read_decimal(at, 15, &dtype))
		return false;
	if (!skip(at, ",") || !read_hex(at, UINT64_MAX, &access->daddr) || !skip(at, ",") ||
	    !read_decimal(at, 7, &dsize))
		return refuse(at, form);
	if (skip(at, ",s") && !read_data(at, access->store))
		return false;
	if (skip(at, ",l") && !read_data(at, access->load))
		return false;
	if (skip(at, ",i") && !read_hex(at, UINT16_MAX, &lsbs))
		return false;
	if (skip(at, ",b") && !read_decimal(at, NTRACE_INGRESS_GROUPS_MAX - 1, &dblock))
		return false;
	access->request = skip(at, ",r");
	if (access->request && !read_decimal(at, UINT8_MAX, &lrid))
		return false;
	access->dtype = (uint8_t)dtype;
	access->dsize = (uint8_t)dsize;
	access->iaddr_lsbs = (uint16_t)lsbs;
	access->dblock = (uint8_t)dblock;
	access->lrid = (uint8_t)lrid;
	return true;
}

static bool read_response(struct line_cursor *at, struct ntrace_ingress_response *response)
{
	uint64_t lresp = 0, lid = 0;

	if (!read_decimal(at, 3, &lresp))
		return false;
	if (!skip(at, ",") || !read_decimal(at, UINT8_MAX, &lid))
		return refuse(at, "expected a response r=LRESP,LID[,LDATA]");
	if (skip(at, ",") && !read_data(at, response->load))
		return false;
	response->lresp = (uint8_t)lresp;
	response->lid = (uint8_t)lid;
	return true;
}

/* Groups, data accesses and responses, in this order. */
static bool read_replicated(const struct ntrace_ingress_reader *reader, struct line_cursor *at,
			    struct ntrace_ingress_cycle *cycle)
{
	unsigned int ports = reader->port.data ? reader->port.accesses : 0;

	while (skip(at, " ")) {
		if (!strncmp(at->next, "0x", 2) && !cycle->accesses && !cycle->responses) {
			if (cycle->groups == reader->port.groups)
				return refuse(at, "more groups than the port has");
			if (!read_group(at, &cycle->group[cycle->groups++]))
				return false;
		} else if (ports && !cycle->responses && skip(at, "d=")) {
			if (cycle->accesses == ports)
				return refuse(at, "more data accesses than the port has");
			if (!read_access(at, &cycle->access[cycle->accesses++]))
				return false;
		} else if (reader->port.data == NTRACE_INGRESS_DATA_SPLIT && skip(at, "r=")) {
			if (cycle->responses == ports)
				return refuse(at, "more responses than the port has");
			if (!read_response(at, &cycle->response[cycle->responses++]))
				return false;
		} else {
			return refuse(at, "unknown or misplaced word in a cycle");
		}
	}
	return true;
}

/* Reads the word if it is next; false for an invalid value. */
#define DECIMAL(field, value) read_decimal(at, MOST(cycle->field), value)
#define HEX(field, value)     read_hex(at, MOST(cycle->field), value)
#define BIT(field, value)     read_decimal(at, 1, value)
#define TAKE(field, base)                                                                          \
	if (skip(at, " " #field "=")) {                                                            \
		if (!base(field, &value))                                                          \
			return false;                                                              \
		cycle->field = value;                                                              \
	}
#define FLAG(field) cycle->field = skip(at, " " #field);

/* The words of a cycle in order. */
static bool read_words(struct line_cursor *at, struct ntrace_ingress_cycle *cycle)
{
	uint64_t value = 0;

	NTRACE_INGRESS_WORDS(TAKE, TAKE, FLAG)
	return true;
}

static bool read_cycle(const struct ntrace_ingress_reader *reader, struct line_cursor *at,
		       struct ntrace_ingress_cycle *cycle)
{
	const struct ntrace_ingress_cycle *last = &reader->last;
	const char *reason;

	memset(cycle, 0, sizeof(*cycle));
#define KEEP(field, base) cycle->field = last->field;
#define DROP(...)
	NTRACE_INGRESS_WORDS(KEEP, DROP, DROP)
#undef KEEP
#undef DROP
	if (!read_words(at, cycle) || !read_replicated(reader, at, cycle))
		return false;
	if (reader->lenient)
		return true;
	reason = ntrace_ingress_check(&reader->port, cycle);
	return reason ? refuse(at, reason) : true;
}

/* The data interface: in the first line of a file of version 2 or 3. */
static bool read_data_port(struct line_cursor *at, struct ntrace_ingress_port *port)
{
	uint64_t retires = 0, accesses = 0, dtype = 0, lsbs = 0, lrid = 0;

	if (!skip(at, " data="))
		return refuse(at, "expected data=unified or data=split");
	if (skip(at, "split"))
		port->data = NTRACE_INGRESS_DATA_SPLIT;
	else if (skip(at, "unified"))
		port->data = NTRACE_INGRESS_DATA_UNIFIED;
	else
		return refuse(at, "expected data=unified or data=split");
	if (!skip(at, " retires=") || !read_decimal(at, UINT16_MAX, &retires) ||
	    !skip(at, " accesses=") || !read_decimal(at, NTRACE_INGRESS_ACCESSES_MAX, &accesses) ||
	    !skip(at, " dtype=") || !read_decimal(at, 4, &dtype) || !skip(at, " lsbs=") ||
	    !read_decimal(at, 16, &lsbs))
		return refuse(at, "expected retires=, accesses=, dtype= and lsbs=");
	if (skip(at, " lrid=") && !read_decimal(at, NTRACE_INGRESS_LRID_BITS_MAX, &lrid))
		return false;
	port->retires = (uint16_t)retires;
	port->accesses = (uint8_t)accesses;
	port->dtype_bits = (uint8_t)dtype;
	port->iaddr_lsbs_bits = (uint8_t)lsbs;
	port->lrid_bits = (uint8_t)lrid;
	return true;
}

/* Properties that a port may state: the end of the first line of a file of version 3. */
static bool read_properties(struct line_cursor *at, struct ntrace_ingress_port *port)
{
	uint64_t value = 0;

	if (!port->data && skip(at, " retires=")) {
		if (!read_decimal(at, UINT16_MAX, &value))
			return false;
		port->retires = (uint16_t)value;
	}
	if (skip(at, " hart=") && !read_decimal(at, UINT64_MAX, &port->hart))
		return false;
#define WIDTH(field, most)                                                                         \
	if (skip(at, " " #field "=")) {                                                            \
		if (!read_decimal(at, most, &value))                                               \
			return false;                                                              \
		port->field##_bits = (uint8_t)value;                                               \
	}
	NTRACE_INGRESS_WIDTHS(WIDTH)
#undef WIDTH
	return true;
}

static bool read_port(struct line_cursor *at, struct ntrace_ingress_port *port)
{
	uint64_t version = 0, xlen, itype, groups;
	const char *reason;

	if (!skip(at, "ntrace-ingress "))
		return refuse(at, "not an ingress file: it does not begin with 'ntrace-ingress'");
	for (unsigned int i = 1; i <= 3 && !version; i++) {
		const char text[] = { (char)('0' + i), ' ', '\0' };

		version = skip(at, text) ? i : 0;
	}
	if (!version)
		return refuse(at, "the supported versions of the format are 1, 2 and 3");
	if (!skip(at, "xlen=") || !read_decimal(at, 64, &xlen) || !skip(at, " itype=") ||
	    !read_decimal(at, 4, &itype) || !skip(at, " groups=") ||
	    !read_decimal(at, NTRACE_INGRESS_GROUPS_MAX, &groups))
		return refuse(at, "expected xlen=, itype=, groups= and port=");
	port->xlen = (unsigned int)xlen;
	port->itype_bits = (unsigned int)itype;
	port->groups = (unsigned int)groups;
	port->single = skip(at, " port=single");
	if (!port->single && !skip(at, " port=block"))
		return refuse(at, "expected port=block or port=single");
	if ((version == 2 || (version == 3 && !strncmp(at->next, " data=", 6))) &&
	    !read_data_port(at, port))
		return false;
	if (version == 3 && !read_properties(at, port))
		return false;
	reason = ntrace_ingress_port_refusal(port);
	return reason ? refuse(at, reason) : true;
}

static bool read_record(const struct ntrace_ingress_reader *reader, struct line_cursor *at,
			struct ntrace_ingress_record *record)
{
	uint64_t value = 0;

	record->value = 0;
	if (skip(at, "c")) {
		record->type = NTRACE_INGRESS_CYCLE;
		return read_cycle(reader, at, &record->cycle);
	}
	if (skip(at, "overrun")) {
		record->type = NTRACE_INGRESS_OVERRUN;
		return true;
	}
	if (skip(at, "start "))
		record->type = NTRACE_INGRESS_START;
	else if (skip(at, "stop "))
		record->type = NTRACE_INGRESS_STOP;
	else
		return refuse(at, "expected c, start, stop, overrun or end");
	if (!read_decimal(at, 15, &value))
		return false;
	record->value = (unsigned int)value;
	return true;
}

static int fail(struct ntrace_ingress_reader *reader, const char *why, size_t column)
{
	reader->state = STATE_FAILED;
	reader->error = why;
	reader->column = (unsigned int)column + 1;
	return NTRACE_ERR_FORMAT;
}

/*
 * Parses the line in text. Return: 0: a record; 1: no record, continue; negative: as
 * ntrace_ingress_reader_next().
 */
static int read_line(struct ntrace_ingress_reader *reader, struct ntrace_ingress_record *record)
{
	struct line_cursor at = { .next = reader->text };
	bool is_record = false;

	if (reader->state == STATE_END)
		return fail(reader, "unexpected text after 'end'", 0);
	if (strlen(reader->text) != reader->held)
		return fail(reader, "unexpected 0 byte", strlen(reader->text));
	if (reader->text[0] == '#')
		return 1;
	if (reader->state == STATE_PORT) {
		if (read_port(&at, &reader->port))
			reader->state = STATE_RECORDS;
	} else if (skip(&at, "end")) {
		reader->state = STATE_END;
	} else {
		is_record = read_record(reader, &at, record);
	}
	if (!at.error && *at.next)
		refuse(&at, "unexpected text at the end of the line");
	if (at.error)
		return fail(reader, at.error, (size_t)(at.next - reader->text));
	if (!is_record)
		return 1;
	if (record->type == NTRACE_INGRESS_CYCLE)
		memcpy(&reader->last, &record->cycle, offsetof(struct ntrace_ingress_cycle, group));
	return 0;
}

int ntrace_ingress_reader_next(struct ntrace_ingress_reader *reader,
			       struct ntrace_ingress_record *record)
{
	if (reader->state == STATE_FAILED)
		return NTRACE_ERR_FORMAT;
	while (reader->next != reader->end) {
		size_t left = (size_t)(reader->end - reader->next);
		const char *newline = memchr(reader->next, '\n', left);
		size_t length = newline ? (size_t)(newline - reader->next) : left;
		int result;

		if (!reader->held) {
			reader->line++;
			reader->offset = reader->position;
		}
		if (reader->held + length >= sizeof(reader->text))
			return fail(reader, "a line has more than 2047 bytes", 0);
		memcpy(reader->text + reader->held, reader->next, length);
		reader->held += (unsigned int)length;
		reader->text[reader->held] = '\0';
		reader->next += length + (newline != NULL);
		reader->position += length + (newline != NULL);
		if (!newline)
			break;
		result = read_line(reader, record);
		reader->held = 0;
		if (result <= 0)
			return result;
	}
	return reader->state == STATE_END && !reader->held ? NTRACE_ERR_EOS : NTRACE_ERR_AGAIN;
}
