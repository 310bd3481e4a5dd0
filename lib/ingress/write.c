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

int ntrace_ingress_writer_init(struct ntrace_ingress_writer *writer,
			       const struct ntrace_ingress_port *port, char *line)
{
	char *out = line;

	if (!ingress_valid_port(port))
		return NTRACE_ERR_INVALID;
	memset(writer, 0, sizeof(*writer));
	writer->port = *port;
	out = put_text(out, "ntrace-ingress 1 xlen=");
	out = DECIMAL(out, port->xlen);
	out = put_text(out, " itype=");
	out = DECIMAL(out, port->itype_bits);
	out = put_text(out, " groups=");
	out = DECIMAL(out, port->groups);
	out = put_text(out, port->single ? " port=single" : " port=block");
	return finish(line, out);
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

static int write_cycle(struct ntrace_ingress_writer *writer,
		       const struct ntrace_ingress_cycle *cycle, char *line)
{
	char *out = put_text(line, "c");

	if (ntrace_ingress_check(&writer->port, cycle))
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
	writer->last = *cycle;
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
