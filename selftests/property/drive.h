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

/* When a message was made: at time, or, if a trigger of the cycle before did it, at before. */
struct stamp {
	uint64_t offset;
	uint64_t time;
	uint64_t before;
};

/**
 * struct drive - one run of the encoder
 * @ctype: how changes of the context are reported
 * @port: see FACTOR_PORT
 * @text: what went wrong, if something did
 */
struct drive {
	struct ntrace_params params;
	struct ntrace_encoder_config config;	/* config.params leads to params */
	struct ntrace_encoder encoder;
	struct random random;
	int port;
	unsigned int ctype;
	bool by_trigger;	/* off and on by trigger pulses */
	uint8_t held;		/* STOP_HALT or STOP_RESET: nothing retires */
	uint8_t stream[STREAM_MAX];
	size_t size;
	struct stamp stamp[STAMPS_MAX];
	size_t stamps;
	uint64_t time;
	uint64_t now;		/* last time passed to the encoder */
	uint64_t before;	/* and before that */
	uint64_t scontext;
	uint64_t hcontext;
	struct ntrace_ingress_cycle cycle;
	bool marker;
	bool trace_on;
	struct ntrace_ingress_writer writer;
	char recording[RECORDING_MAX];	/* with cycles: the input of the port, as a file */
	size_t recorded;
	char text[200];
};

/* The program that suits a row. */
void row_shape(const struct row *row, struct shape *shape, struct random *random);
/* The encoder's configuration for a row, which refers to @params; @program, for address ranges, may be NULL. */
void row_config(const struct row *row, const struct program *program,
		struct ntrace_encoder_config *config, struct ntrace_params *params);

/* What happens to be so in steps of single instructions, as a port for those sees them. */
void walk_to_single_steps(struct walk *walk);

/* Encodes. Return: false, with drive.text, if the encoder refuses something. */
bool drive_walk(struct drive *drive, const struct row *row, const struct program *program,
		const struct walk *walk, uint64_t seed);

/* replay.c */
bool record_begin(struct drive *drive);
bool record(struct drive *drive, enum ntrace_ingress_record_type type, unsigned int value);
/* Plays the recording to another encoder. Return: false unless it makes the same bytes. */
bool replay(struct drive *drive);

#endif /* SELFTESTS_PROPERTY_DRIVE_H */
