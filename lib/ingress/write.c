// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Records of the ingress port as lines of text. */
#include <string.h>

#include "text.h"

static char *put_text(char *out, const char *text)
{
	while (*text)
		*out++ = *text++;
	return out;
}

static char *put_digits(char *out, uint64_t value, unsigned int base)
{
	char digits[20];
	unsigned int count = 0;

	do {
		digits[count++] = "0123456789abcdef"[value % base];
		value /= base;
	} while (value);
	while (count)
		*out++ = digits[--count];
	return out;
}

#define DECIMAL(out, value) put_digits(out, value, 10)
#define BIT(out, value)	    DECIMAL(out, value)
#define HEX(out, value)	    put_digits(put_text(out, "0x"), value, 16)

static int finish(char *line, char *out)
{
	*out++ = '\n';
	return (int)(out - line);
}

static char *put_data_port(char *out, const struct ntrace_ingress_port *port)
{
	bool split = port->data == NTRACE_INGRESS_DATA_SPLIT;

	out = put_text(out, split ? " data=split retires=" : " data=unified retires=");
	out = DECIMAL(out, port->retires);
	out = DECIMAL(put_text(out, " accesses="), port->accesses);
	out = DECIMAL(put_text(out, " dtype="), port->dtype_bits);
	out = DECIMAL(put_text(out, " lsbs="), port->iaddr_lsbs_bits);
	return split ? DECIMAL(put_text(out, " lrid="), port->lrid_bits) : out;
}

static char *put_properties(char *out, const struct ntrace_ingress_port *port)
{
	if (!port->data && port->retires)
		out = DECIMAL(put_text(out, " retires="), port->retires);
	if (port->hart)
		out = DECIMAL(put_text(out, " hart="), port->hart);
#define WIDTH(field, most)                                                                         \
	if (port->field##_bits)                                                                    \
		out = DECIMAL(put_text(out, " " #field "="), port->field##_bits);
	NTRACE_INGRESS_WIDTHS(WIDTH)
#undef WIDTH
	return out;
}

/* Whether the first line states a property that versions 1 and 2 do not have. */
static bool has_properties(const struct ntrace_ingress_port *port)
{
	char line[NTRACE_INGRESS_LINE_MAX];

	return put_properties(line, port) != line;
}

int ntrace_ingress_writer_init(struct ntrace_ingress_writer *writer,
			       const struct ntrace_ingress_port *port, char *line)
{
	char *out = line;

	if (ntrace_ingress_port_refusal(port))
		return NTRACE_ERR_INVALID;
	memset(writer, 0, sizeof(*writer));
	writer->port = *port;
	out = DECIMAL(put_text(out, "ntrace-ingress "), has_properties(port) ? 3u :
							port->data	     ? 2u :
									       1u);
	out = DECIMAL(put_text(out, " xlen="), port->xlen);
	out = put_text(out, " itype=");
	out = DECIMAL(out, port->itype_bits);
	out = put_text(out, " groups=");
	out = DECIMAL(out, port->groups);
	out = put_text(out, port->single ? " port=single" : " port=block");
	if (port->data)
		out = put_data_port(out, port);
	return finish(line, put_properties(out, port));
}

static char *put_group(char *out, const struct ntrace_ingress_group *group)
{
	out = HEX(put_text(out, " "), group->iaddr);
	out = DECIMAL(put_text(out, ","), group->iretire);
	out = DECIMAL(put_text(out, ","), group->itype);
	if (group->ilastsize || group->sijump)
		out = DECIMAL(put_text(out, ","), group->ilastsize);
	return group->sijump ? put_text(out, ",s") : out;
}

/* A value of up to 128 bits, or nothing for 0. */
static char *put_data(char *out, const char *before, const uint64_t *value)
{
	if (!value[0] && !value[1])
		return out;
	out = put_text(out, before);
	if (!value[1])
		return HEX(out, value[0]);
	out = HEX(out, value[1]);
	for (unsigned int shift = 64; shift; shift -= 4)
		*out++ = "0123456789abcdef"[value[0] >> (shift - 4) & 15];
	return out;
}

static char *put_access(char *out, const struct ntrace_ingress_access *access)
{
	out = DECIMAL(put_text(out, " d="), access->dtype);
	out = HEX(put_text(out, ","), access->daddr);
	out = DECIMAL(put_text(out, ","), access->dsize);
	out = put_data(out, ",s", access->store);
	out = put_data(out, ",l", access->load);
	if (access->iaddr_lsbs)
		out = HEX(put_text(out, ",i"), access->iaddr_lsbs);
	if (access->dblock)
		out = DECIMAL(put_text(out, ",b"), access->dblock);
	return access->request ? DECIMAL(put_text(out, ",r"), access->lrid) : out;
}

static char *put_response(char *out, const struct ntrace_ingress_response *response)
{
	out = DECIMAL(put_text(out, " r="), response->lresp);
	out = DECIMAL(put_text(out, ","), response->lid);
	return put_data(out, ",", response->load);
}

/* Whether a line can have the signals, even if they break rules of the port. */
static bool expressible(const struct ntrace_ingress_port *port,
			const struct ntrace_ingress_cycle *cycle)
{
	unsigned int accesses = port->data ? port->accesses : 0;

	if (cycle->groups > port->groups || cycle->accesses > accesses ||
	    cycle->responses > (port->data == NTRACE_INGRESS_DATA_SPLIT ? accesses : 0))
		return false;
	for (unsigned int i = 0; i < cycle->groups; i++) {
		const struct ntrace_ingress_group *group = &cycle->group[i];

		if (group->itype > 15 || group->ilastsize > 3 || group->sijump > 1)
			return false;
	}
	for (unsigned int i = 0; i < cycle->accesses; i++) {
		const struct ntrace_ingress_access *access = &cycle->access[i];

		if (access->dtype > 15 || access->dsize > 7 ||
		    access->dblock >= NTRACE_INGRESS_GROUPS_MAX ||
		    (access->lrid && !access->request))
			return false;
	}
	for (unsigned int i = 0; i < cycle->responses; i++)
		if (cycle->response[i].lresp > 3)
			return false;
	return true;
}

static int write_cycle(struct ntrace_ingress_writer *writer,
		       const struct ntrace_ingress_cycle *cycle, char *line)
{
	char *out = put_text(line, "c");

	if (writer->lenient ? !expressible(&writer->port, cycle) :
			      !!ntrace_ingress_check(&writer->port, cycle))
		return NTRACE_ERR_INVALID;
#define LEVEL(field, base)                                                                         \
	if (cycle->field != writer->last.field)                                                    \
		out = base(put_text(out, " " #field "="), cycle->field);
#define VALUE(field, base)                                                                         \
	if (cycle->field)                                                                          \
		out = base(put_text(out, " " #field "="), cycle->field);
#define PULSE(field)                                                                               \
	if (cycle->field)                                                                          \
		out = put_text(out, " " #field);
	NTRACE_INGRESS_WORDS(LEVEL, VALUE, PULSE)
#undef LEVEL
#undef VALUE
#undef PULSE
	for (unsigned int i = 0; i < cycle->groups; i++)
		out = put_group(out, &cycle->group[i]);
	for (unsigned int i = 0; i < cycle->accesses; i++)
		out = put_access(out, &cycle->access[i]);
	for (unsigned int i = 0; i < cycle->responses; i++)
		out = put_response(out, &cycle->response[i]);
	memcpy(&writer->last, cycle, offsetof(struct ntrace_ingress_cycle, group));
	return finish(line, out);
}

int ntrace_ingress_write(struct ntrace_ingress_writer *writer,
			 const struct ntrace_ingress_record *record, char *line)
{
	switch (record->type) {
	case NTRACE_INGRESS_CYCLE:
		return write_cycle(writer, &record->cycle, line);
	case NTRACE_INGRESS_START:
	case NTRACE_INGRESS_STOP:
		if (record->value > 15)
			return NTRACE_ERR_INVALID;
		return finish(line, DECIMAL(put_text(line, record->type == NTRACE_INGRESS_START ?
								   "start " :
								   "stop "),
					    record->value));
	case NTRACE_INGRESS_OVERRUN:
		return finish(line, put_text(line, "overrun"));
	default:
		return NTRACE_ERR_INVALID;
	}
}

int ntrace_ingress_write_end(struct ntrace_ingress_writer *writer, char *line)
{
	(void)writer;
	return finish(line, put_text(line, "end"));
}
