// SPDX-License-Identifier: GPL-2.0-only
/* The input of the ingress port, written to a file, read again and replayed to a second encoder. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "drive.h"

bool record_begin(struct drive *drive)
{
	struct ntrace_ingress_port port = {
		.xlen = drive->params.xlen,
		.itype_bits = drive->config.itype_bits,
		.single = drive->port < 0,
	};
	int length;

	drive->recorded = 0;
	if (!drive->port)
		return true;
	port.groups = (unsigned int)(drive->port < 0 ? -drive->port : drive->port);
	length = ntrace_ingress_writer_init(&drive->writer, &port, drive->recording);
	drive->recorded = length > 0 ? (size_t)length : 0;
	return length > 0;
}

bool record(struct drive *drive, enum ntrace_ingress_record_type type, unsigned int value)
{
	struct ntrace_ingress_record record = {
		.type = type,
		.value = value,
		.cycle = drive->cycle,
	};
	int length;

	if (!drive->port)
		return true;
	if (drive->recorded > RECORDING_MAX - 2 * NTRACE_INGRESS_LINE_MAX)
		return false;
	length = ntrace_ingress_write(&drive->writer, &record, drive->recording + drive->recorded);
	drive->recorded += length > 0 ? (size_t)length : 0;
	return length > 0;
}

/* Compares the bytes with the output of the first encoder. */
struct second {
	const struct drive *drive;
	size_t size;
	bool differs;
};

static void compare_bytes(void *data, const uint8_t *bytes, size_t size)
{
	struct second *second = data;

	if (second->size + size > second->drive->size ||
	    memcmp(second->drive->stream + second->size, bytes, size))
		second->differs = true;
	second->size += size;
}

/* Reads in chunks of any size. Return: the final result of the reader. */
static int play(struct drive *drive, struct ntrace_encoder *encoder,
		struct ntrace_ingress_reader *reader)
{
	int result = NTRACE_ERR_AGAIN;

	ntrace_ingress_reader_init(reader);
	for (size_t done = 0, chunk; done < drive->recorded && result == NTRACE_ERR_AGAIN;
	     done += chunk) {
		struct ntrace_ingress_record record;

		chunk = random_range(&drive->random, 1, 3000);
		if (chunk > drive->recorded - done)
			chunk = drive->recorded - done;
		ntrace_ingress_reader_feed(reader, drive->recording + done, chunk);
		while (!(result = ntrace_ingress_reader_next(reader, &record))) {
			if (ntrace_encoder_play(encoder, &record) < 0)
				return NTRACE_ERR_INVALID;
		}
	}
	return result;
}

bool replay(struct drive *drive)
{
	static struct ntrace_encoder encoder;
	static struct ntrace_ingress_reader reader;
	struct second second = { .drive = drive };
	struct ntrace_encoder_config config = drive->config;
	int result;

	if (!drive->port)
		return true;
	drive->recorded += (size_t)ntrace_ingress_write_end(&drive->writer,
							    drive->recording + drive->recorded);
	config.write = compare_bytes;
	config.write_data = &second;
	ntrace_encoder_init(&encoder, &config);
	result = play(drive, &encoder, &reader);
	if (result == NTRACE_ERR_EOS && !second.differs && second.size == drive->size)
		return true;
	snprintf(drive->text, sizeof(drive->text),
		 "ingress file: ended with %d (%s) at line %" PRIu64 ", bytes differ around %zu",
		 result, reader.error ? reader.error : "-", reader.line, second.size);
	return false;
}
