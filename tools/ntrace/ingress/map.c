// SPDX-License-Identifier: GPL-2.0-only
/* Parses the file that names the signals of a trace ingress port in a waveform. */
#include "map.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/command.h"
#include "common/ui.h"

static const struct {
	const char *name;
	unsigned int bits;
} signals[] = {
#define SIGNAL(name, text, bits) [MAP_##name] = { #text, bits },
	MAP_CYCLE(SIGNAL) MAP_GROUP(SIGNAL) MAP_ACCESS(SIGNAL)
#undef SIGNAL
};

const char *map_signal_name(unsigned int signal)
{
	return signals[signal].name;
}

unsigned int map_signal_bits(const struct map *map, unsigned int signal)
{
	const struct ntrace_ingress_port *port = &map->port;
	unsigned int bits = 0;

	switch (signal) {
	case MAP_PRIV:
		bits = port->priv_bits;
		break;
	case MAP_CTYPE:
		bits = port->ctype_bits;
		break;
	case MAP_CAUSE:
		bits = port->cause_bits;
		break;
	case MAP_IADDR:
		bits = port->iaddr_bits;
		break;
	case MAP_SCONTEXT:
		bits = port->scontext_bits;
		break;
	case MAP_HCONTEXT:
		bits = port->hcontext_bits;
		break;
	case MAP_IMPDEF:
		bits = port->impdef_bits;
		break;
	default:
		break;
	}
	return bits ? bits : signals[signal].bits;
}

/* How many sources a signal has. */
static unsigned int replicas(const struct map *map, unsigned int signal)
{
	if (signal < MAP_IADDR)
		return 1;
	return signal < MAP_DRETIRE ? map->port.groups : map->port.accesses;
}

/* The first line is that of the ingress file. */
static int read_port(struct map *map, const char *text, unsigned int line)
{
	static struct ntrace_ingress_reader reader;
	struct ntrace_ingress_record record;

	ntrace_ingress_reader_init(&reader);
	ntrace_ingress_reader_feed(&reader, text, strlen(text));
	ntrace_ingress_reader_next(&reader, &record);
	if (reader.error)
		return fail("%s: line %u, column %u: %s", map->path, line, reader.column,
			    reader.error);
	map->port = reader.port;
	return EXIT_OK;
}

/* "NAME[HIGH:LOW]" or "NAME[BIT]": the brackets may also belong to the name. */
static void find_slice(struct map_source *source)
{
	char *bracket = strrchr(source->name, '['), *end;
	size_t length = strlen(source->name);

	source->bare = length;
	if (!bracket || bracket == source->name || source->name[length - 1] != ']')
		return;
	source->high = (unsigned int)strtoul(bracket + 1, &end, 10);
	source->low = source->high;
	if (*end == ':')
		source->low = (unsigned int)strtoul(end + 1, &end, 10);
	if (end == source->name + length - 1 && source->high >= source->low)
		source->bare = (size_t)(bracket - source->name);
}

static int read_source(struct map *map, struct map_source *source, const char *text,
		       unsigned int line)
{
	char *end;

	source->given = true;
	source->line = line;
	source->signal = -1;
	source->inverted = *text == '!';
	text += source->inverted;
	source->name = strdup(*text == '=' ? "" : text);
	if (!source->name)
		return fail("out of memory");
	if (*text != '=') {
		find_slice(source);
		return EXIT_OK;
	}
	errno = 0;
	source->value = strtoull(text + 1, &end, 0);
	if (end == text + 1 || *end || errno || text[1] == '-' || source->inverted)
		return fail("%s: line %u: '%s' is not a number", map->path, line, text);
	return EXIT_OK;
}

/* "KEY SOURCE" or "KEY.N SOURCE". */
static int read_line(struct map *map, char *text, unsigned int line)
{
	char *key = strtok(text, " \t"), *where = strtok(NULL, " \t"), *more = strtok(NULL, " \t");
	char *dot = strchr(key, '.');
	unsigned long index = 0;
	unsigned int signal = 0;

	if (!where || more)
		return fail("%s: line %u: expected SIGNAL NAME", map->path, line);
	if (dot) {
		char *end;

		*dot = '\0';
		index = strtoul(dot + 1, &end, 10);
		if (end == dot + 1 || *end || dot[1] < '0' || dot[1] > '9')
			return fail("%s: line %u: '%s' is not the number of a group", map->path,
				    line, dot + 1);
	}
	while (signal < MAP_SIGNALS && strcmp(key, signals[signal].name))
		signal++;
	if (signal == MAP_SIGNALS)
		return fail("%s: line %u: '%s' is not a signal of the port", map->path, line, key);
	if (signal == MAP_IMPDEF && !map->port.impdef_bits)
		return fail("%s: line %u: the first line does not state the width of impdef: add "
			    "impdef=BITS to it",
			    map->path, line);
	if (index >= replicas(map, signal))
		return fail("%s: line %u: the port has no %s.%lu", map->path, line, key, index);
	if (map->source[signal][index].given)
		return fail("%s: line %u: %s.%lu has a line before", map->path, line, key, index);
	return read_source(map, &map->source[signal][index], where, line);
}

/* Signals that every port has. */
static bool is_needed(const struct map *map, unsigned int signal)
{
	bool split = map->port.data == NTRACE_INGRESS_DATA_SPLIT;

	switch (signal) {
	case MAP_CLOCK:
	case MAP_PRIV:
	case MAP_IADDR:
	case MAP_IRETIRE:
	case MAP_ITYPE:
	case MAP_ILASTSIZE:
	case MAP_DRETIRE:
	case MAP_DTYPE:
	case MAP_DADDR:
	case MAP_DSIZE:
		return true;
	case MAP_DATA:
		return !split;
	case MAP_IADDR_LSBS:
		return map->port.iaddr_lsbs_bits;
	case MAP_IMPDEF:
		return map->port.impdef_bits;
	case MAP_DBLOCK:
		return map->port.groups > 1;
	case MAP_LRID:
	case MAP_LRESP:
	case MAP_LID:
	case MAP_SDATA:
	case MAP_LDATA:
		return split;
	default:
		return false;
	}
}

static int check_needs(const struct map *map)
{
	for (unsigned int signal = 0; signal < MAP_SIGNALS; signal++)
		for (unsigned int i = 0; i < replicas(map, signal); i++)
			if (is_needed(map, signal) && !map->source[signal][i].given)
				return fail("%s: no line for %s.%u, which the port has", map->path,
					    signals[signal].name, i);
	if (!*map->source[MAP_CLOCK][0].name)
		return fail("%s: the clock cannot be a constant", map->path);
	return EXIT_OK;
}

static int read_lines(struct map *map, FILE *file)
{
	char text[MAP_NAME_MAX + 64];
	unsigned int line = 0;
	bool has_port = false;
	int error = EXIT_OK;

	while (!error && fgets(text, sizeof(text), file)) {
		size_t length = strcspn(text, "\r\n");

		line++;
		if (!text[length])
			return fail("%s: line %u: too long, or without a newline", map->path, line);
		text[length] = '\0';
		if (!text[strspn(text, " \t")] || text[strspn(text, " \t")] == '#')
			continue;
		if (has_port) {
			error = read_line(map, text, line);
			continue;
		}
		text[length] = '\n';
		text[length + 1] = '\0';
		error = read_port(map, text, line);
		has_port = true;
	}
	if (!error && ferror(file))
		return fail("%s: %s", map->path, strerror(errno));
	if (!error && !has_port)
		return fail("%s: no line 'ntrace-ingress ...' that describes the port", map->path);
	return error;
}

int map_read(struct map *map, const char *path)
{
	FILE *file = fopen(path, "re");
	int error;

	memset(map, 0, sizeof(*map));
	map->path = path;
	if (!file)
		return fail("%s: %s", path, strerror(errno));
	error = read_lines(map, file);
	fclose(file);
	return error ? error : check_needs(map);
}

void map_free(struct map *map)
{
	for (unsigned int signal = 0; signal < MAP_SIGNALS; signal++)
		for (unsigned int i = 0; i < NTRACE_INGRESS_GROUPS_MAX; i++) {
			free(map->source[signal][i].name);
			free(map->source[signal][i].near);
		}
}
