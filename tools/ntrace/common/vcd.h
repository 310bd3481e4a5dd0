/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reader of VCD waveforms (IEEE 1364-2005, section 18). Input comes in chunks of any size; memory depends
 * on the tracked signals alone.
 */
#ifndef NTRACE_TOOL_VCD_H
#define NTRACE_TOOL_VCD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Limits; a waveform beyond them is refused. */
#define VCD_ID_MAX	63
#define VCD_PATH_MAX	2047
#define VCD_WORD_MAX	65535
#define VCD_SIGNALS_MAX 512
#define VCD_TABLE	1024

/**
 * struct vcd_signal - a tracked signal
 * @width: bits
 * @now: values before the current time step: '0', '1', 'x' or 'z'; [0] is the least significant bit
 * @next: values after it
 * @rose: bit 0 changed from '0' to '1' in this time step
 * @fell: bit 0 changed from '1' to '0' in this time step
 */
struct vcd_signal {
	unsigned int width;
	char *now;
	char *next;
	bool rose;
	bool fell;
	/* private */
	bool changed;
	char id[VCD_ID_MAX + 1];
};

/**
 * struct vcd - state of a reader
 * @var: called for each variable with bits: its path with dots, width, the lowest index of its range, and
 *       an id for vcd_track(). Return: 0, or a value that ends the reader
 * @step: called at the end of each time step in which a tracked signal changed. Return: as @var
 * @data: for the callbacks
 * @signal: tracked signals
 * @signals: number of tracked signals
 * @time: the current time step
 * @line: number of the current line, from 1
 * @error: description of a violation of the format, or NULL
 */
struct vcd {
	int (*var)(void *data, const char *path, unsigned int width, unsigned int low,
		   const char *id);
	int (*step)(void *data);
	void *data;
	struct vcd_signal signal[VCD_SIGNALS_MAX];
	unsigned int signals;
	uint64_t time;
	uint64_t line;
	const char *error;
	/* private */
	unsigned int state;
	unsigned int words;
	int result;
	bool defined;
	bool stepping;
	unsigned int width;
	bool has_bits;
	size_t path_length;
	size_t value_length;
	size_t word_length;
	char id[VCD_ID_MAX + 1];
	char path[VCD_PATH_MAX + 1];
	char name[VCD_PATH_MAX + 1];
	char word[VCD_WORD_MAX + 1];
	char value[VCD_WORD_MAX + 1];
	uint16_t table[VCD_TABLE];	/* 1 + index of a signal, by the hash of its id */
};

/** vcd_init - begin; the callbacks are set by the caller afterwards */
void vcd_init(struct vcd *vcd);

/**
 * vcd_track - track a variable; only in the callback @var
 *
 * Return: index of its signal, the same for the same id, or -1 without memory or beyond the limits.
 */
int vcd_track(struct vcd *vcd, const char *id, unsigned int width);

/**
 * vcd_feed - read the next chunk
 *
 * Return: 0, the result of a callback, or -1 with @vcd->error.
 */
int vcd_feed(struct vcd *vcd, const char *data, size_t size);

/** vcd_end - end of the file: ends the last time step. Return: as vcd_feed() */
int vcd_end(struct vcd *vcd);

void vcd_free(struct vcd *vcd);

#endif /* NTRACE_TOOL_VCD_H */
