/* SPDX-License-Identifier: GPL-2.0-only */
/* From a walk to a stream: the encoder, configured by a row of options. */
#ifndef SELFTESTS_PROPERTY_DRIVE_H
#define SELFTESTS_PROPERTY_DRIVE_H

#include <ntrace/encode.h>
#include <ntrace/ingress.h>

#include "options.h"

#define STREAM_MAX (1 << 21)
#define RECORDING_MAX (1 << 23)
#define STAMPS_MAX (1 << 18)

/* Time when a message was made: time, or before if a trigger of the previous cycle caused it. */
struct stamp {
	uint64_t offset;
	uint64_t time;
	uint64_t before;
};

/**
 * struct drive - one run of the encoder
 * @ctype: kind of report for changes of the context
 * @port: see FACTOR_PORT
 * @text: description of the error, if any
 */
struct drive {
	struct ntrace_params params;
	struct ntrace_encoder_config config;	/* config.params points to params */
	struct ntrace_encoder encoder;
	struct random random;
	int port;
	unsigned int ctype;
	bool by_trigger;	/* off and on by trigger pulses */
	uint8_t held;		/* STOP_HALT or STOP_RESET: no instruction retires */
	uint8_t stream[STREAM_MAX];
	size_t size;
	struct stamp stamp[STAMPS_MAX];
	size_t stamps;
	uint64_t time;
	uint64_t now;		/* last time passed to the encoder */
	uint64_t before;	/* and the time before that */
	uint64_t scontext;
	uint64_t hcontext;
	struct ntrace_ingress_cycle cycle;
	bool marker;
	bool trace_on;
	struct ntrace_ingress_writer writer;
	char recording[RECORDING_MAX];	/* with cycles: the port's input as a file */
	size_t recorded;
	char text[200];
};

/* The program for a row. */
void row_shape(const struct row *row, struct shape *shape, struct random *random);
/*
 * The encoder's configuration for a row, which points to @params; @program, used for address
 * ranges, may be NULL.
 */
void row_config(const struct row *row, const struct program *program,
		struct ntrace_encoder_config *config, struct ntrace_params *params);

/* Converts a walk to steps of single instructions, the view of a single-instruction port. */
void walk_to_single_steps(struct walk *walk);

/* Encodes the walk. Return: false, with drive.text, if the encoder refuses an input. */
bool drive_walk(struct drive *drive, const struct row *row, const struct program *program,
		const struct walk *walk, uint64_t seed);

/* replay.c */
bool record_begin(struct drive *drive);
bool record(struct drive *drive, enum ntrace_ingress_record_type type, unsigned int value);
/* Replays the recorded input to another encoder. Return: whether it makes the same bytes. */
bool replay(struct drive *drive);

#endif /* SELFTESTS_PROPERTY_DRIVE_H */
