/* SPDX-License-Identifier: GPL-2.0-only */
/* The file that names the signals of a trace ingress port in a waveform. */
#ifndef NTRACE_TOOL_INGRESS_MAP_H
#define NTRACE_TOOL_INGRESS_MAP_H

#include <ntrace/ingress.h>

/*
 * The signals in three lists: of the cycle, of each group, of each data group.
 *
 *  SIGNAL(NAME, name, bits)
 */
/* clang-format off */
#define MAP_CYCLE(SIGNAL)							\
	SIGNAL(CLOCK, clock, 1) SIGNAL(RESET, reset, 1)				\
	SIGNAL(HALTED, halted, 1) SIGNAL(PRIV, priv, 3) SIGNAL(TIME, time, 64)	\
	SIGNAL(SCONTEXT, scontext, 64) SIGNAL(HCONTEXT, hcontext, 64)		\
	SIGNAL(CTYPE, ctype, 2) SIGNAL(CAUSE, cause, 64) SIGNAL(TVAL, tval, 64)	\
	SIGNAL(TRACE_ON, trace_on, 1) SIGNAL(TRACE_OFF, trace_off, 1)		\
	SIGNAL(EXTERNAL, external, 1) SIGNAL(NOTIFY, notify, 8)		\
	SIGNAL(IMPDEF, impdef, 64)
#define MAP_GROUP(SIGNAL)							\
	SIGNAL(IADDR, iaddr, 64) SIGNAL(IRETIRE, iretire, 32)			\
	SIGNAL(ITYPE, itype, 4) SIGNAL(ILASTSIZE, ilastsize, 2)			\
	SIGNAL(SIJUMP, sijump, 1)
#define MAP_ACCESS(SIGNAL)							\
	SIGNAL(DRETIRE, dretire, 1) SIGNAL(DTYPE, dtype, 4)			\
	SIGNAL(DADDR, daddr, 64) SIGNAL(DSIZE, dsize, 3)			\
	SIGNAL(DATA, data, 256) SIGNAL(IADDR_LSBS, iaddr_lsbs, 16)		\
	SIGNAL(DBLOCK, dblock, 3) SIGNAL(LRID, lrid, 8)				\
	SIGNAL(LRESP, lresp, 2) SIGNAL(LID, lid, 8)				\
	SIGNAL(SDATA, sdata, 128) SIGNAL(LDATA, ldata, 128)
/* clang-format on */

enum map_signal {
#define SIGNAL(name, ...) MAP_##name,
	MAP_CYCLE(SIGNAL) MAP_GROUP(SIGNAL) MAP_ACCESS(SIGNAL)
#undef SIGNAL
		MAP_SIGNALS,
};

#define MAP_NAME_MAX 2047

/**
 * struct map_source - where a signal comes from
 * @name: path in the waveform as given, with its slice; "" for a constant
 * @bare: length of the path without the slice, or of the whole
 * @high, low: bits of the slice, if @bare is shorter than @name
 * @given: the map has a line for it
 * @inverted: 1 and 0 are exchanged
 * @value: the constant
 * @line: line of the map
 * @signal: index of the signal of the reader, -1 = not found yet
 * @shift: lowest bit of the signal
 * @width: number of bits
 * @exact: the whole name was found, not that without the slice
 * @near: the nearest path of the waveform while @signal is -1; NULL: none is near
 * @distance: letters by which the last part of @near differs
 */
struct map_source {
	char *name;
	size_t bare;
	unsigned int high;
	unsigned int low;
	bool given;
	bool inverted;
	uint64_t value;
	unsigned int line;
	int signal;
	unsigned int shift;
	unsigned int width;
	bool exact;
	char *near;
	size_t distance;
};

/**
 * struct map - a parsed map
 * @source: sources of each signal; those of the cycle have one, others one for each (data) group
 */
struct map {
	const char *path;
	struct ntrace_ingress_port port;
	struct map_source source[MAP_SIGNALS][NTRACE_INGRESS_GROUPS_MAX];
};

/**
 * map_read - parse a map
 *
 * Return: EXIT_OK, or EXIT_FAILED after an error message.
 */
int map_read(struct map *map, const char *path);

void map_free(struct map *map);

/** map_signal_name - name of a signal, as in the map */
const char *map_signal_name(unsigned int signal);

/** map_signal_bits - maximum number of bits of its values at the port of the map */
unsigned int map_signal_bits(const struct map *map, unsigned int signal);

#endif /* NTRACE_TOOL_INGRESS_MAP_H */
