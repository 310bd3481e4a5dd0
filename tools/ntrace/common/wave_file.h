/* SPDX-License-Identifier: GPL-2.0-only */
/* Waveform files: VCD as it is, FST through fst2vcd, the converter that comes with GTKWave. */
#ifndef NTRACE_TOOL_WAVE_FILE_H
#define NTRACE_TOOL_WAVE_FILE_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

#include "vcd.h"

/** wave_is_fst - whether these first bytes of a file are those of an FST waveform */
bool wave_is_fst(const unsigned char *bytes, size_t size);

/**
 * wave_read - read a waveform to its end
 * @vcd: reader, with its callbacks
 * @path: VCD or FST file; "-" is standard input, with VCD
 *
 * Return: EXIT_OK, what a callback returned, or EXIT_FAILED after an error message.
 */
int wave_read(struct vcd *vcd, const char *path);

#endif /* NTRACE_TOOL_WAVE_FILE_H */
