// SPDX-License-Identifier: GPL-2.0-only
/*
 * Passes any bytes as an ingress file to encoders of all kinds: checks that the records do not
 * depend on how the input is cut, that they are the same after writing and reading them again, and
 * that the message table has every output message. A lenient reader and the checker get the same
 * bytes: it finds whatever the strict reader refuses.
 *
 * The first bytes choose the encoder.
 */
#include <stdlib.h>
#include <string.h>

#include <ntrace/encode.h>
#include <ntrace/ingress_check.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define OPTION_BYTES 12

/* FNV-1a over all output. */
static uint64_t mix(uint64_t hash, const void *data, size_t size)
{
	const uint8_t *bytes = data;

	for (size_t i = 0; i < size; i++)
		hash = (hash ^ bytes[i]) * UINT64_C(0x100000001b3);
	return hash;
}

struct sink {
	struct ntrace_params params;
	uint64_t bytes;
};

static void check_message(void *data, const uint8_t *bytes, size_t size)
{
	uint8_t again[NTRACE_MESSAGE_BYTES_MAX];
	struct sink *sink = data;
	struct ntrace_message message;
	struct ntrace_reader reader;

	ntrace_reader_init(&reader, &sink->params, true);
	ntrace_reader_feed(&reader, bytes, size);
	if (ntrace_reader_next(&reader, &message) != NTRACE_WIRE_MESSAGE || message.flags ||
	    message.length != size ||
	    ntrace_message_write(&message, &sink->params, again) != (int)size ||
	    memcmp(again, bytes, size))
		abort();
	sink->bytes += size;
}

static void configure(struct ntrace_encoder_config *config, struct ntrace_params *params,
		      const uint8_t *options)
{
	ntrace_encoder_config_init(config);
	ntrace_params_init(params);
	config->params = params;
	params->mode = options[0] & 1 ? NTRACE_MODE_BRANCH : NTRACE_MODE_HISTORY;
	params->extend_address = options[0] & 2;
	params->all_jumps = options[0] & 4;
	params->timestamp_delta = options[0] & 8 ? NTRACE_TIME_DELTA_XOR : 0;
	params->keep_stack = options[0] & 16;
	params->dialect = options[0] & 32 ? NTRACE_DIALECT_RC7 : NTRACE_DIALECT_RATIFIED;
	config->repeat_branch = options[0] & 64;
	config->repeated_history = options[0] & 128;
	params->src_bits = options[1] % 13;
	params->timestamp_bits = options[2] % 65;
	config->timestamps = (enum ntrace_timestamps)(options[1] >> 6);
	params->implicit_return = options[3] & 3;
	config->implicit_return_depth = 1 + (options[3] >> 3);
	/* A block of 65,535 parcels makes 2^(16 - icnt_bits) messages. */
	config->icnt_bits = 6 + options[4] % 27;
	config->icnt_full = options[4] >> 6;
	config->hist_bits = 1 + options[5] % 31;
	config->sync_mode = options[5] >> 6;
	config->sync_max = options[6] & 3;
	config->sequential_jumps = options[6] & 4;
	config->sync4_for_icnt = options[6] & 8;
	config->context = options[6] & 16;
	config->hypervisor = options[6] & 32;
	config->idle_correlations = options[6] & 64;
	config->zc_accesses = options[6] & 128;
	config->hrepeat_bits = 1 + options[7] % 18;
	config->bcnt_bits = 1 + options[8] % 18;
	config->return_compare_bits = 1 + options[9] % 63;
	config->fifo_bytes = options[10] & 1 ? NTRACE_ENCODER_FIFO_MIN + options[10] : 0;
	config->fifo_drain = options[11] << 10;
	config->stall = options[10] & 2;
	config->trap_btype = options[10] & 4;
	config->range_count = options[10] >> 3 & 1;
	config->range[0].last = UINT64_C(0x80000100);
}

/* Writes a record as a line, and reads it again. */
static void write_again(struct ntrace_ingress_writer *writer,
			const struct ntrace_ingress_record *record)
{
	char line[NTRACE_INGRESS_LINE_MAX], first[NTRACE_INGRESS_LINE_MAX];
	struct ntrace_ingress_record back;
	static struct ntrace_ingress_reader reader;
	struct ntrace_ingress_writer start;
	int length;

	/* A new writer has no previous record, so the line has every level that is not 0. */
	length = ntrace_ingress_writer_init(&start, &writer->port, first);
	start.lenient = writer->lenient;
	ntrace_ingress_reader_init(&reader);
	reader.lenient = writer->lenient;
	ntrace_ingress_reader_feed(&reader, first, (size_t)length);
	if (ntrace_ingress_reader_next(&reader, &back) != NTRACE_ERR_AGAIN)
		abort();
	length = ntrace_ingress_write(&start, record, line);
	if (length < 0 || length > NTRACE_INGRESS_LINE_MAX)
		abort();
	ntrace_ingress_reader_feed(&reader, line, (size_t)length);
	memset(&back, 0, sizeof(back));
	if (ntrace_ingress_reader_next(&reader, &back) || back.type != record->type ||
	    back.value != record->value ||
	    (record->type == NTRACE_INGRESS_CYCLE &&
	     memcmp(&back.cycle, &record->cycle, sizeof(back.cycle))))
		abort();
}

static uint64_t read_all(const uint8_t *options, const char *text, size_t size, size_t chunk)
{
	static struct ntrace_ingress_reader reader;
	static struct ntrace_encoder encoder;
	struct ntrace_ingress_writer writer;
	struct ntrace_encoder_config config;
	struct ntrace_params params;
	struct ntrace_ingress_record record;
	uint64_t hash = UINT64_C(0xcbf29ce484222325);
	struct sink sink = { .bytes = 0 };
	bool begun = false, encodes = false;
	int result = NTRACE_ERR_AGAIN;

	configure(&config, &params, options);
	config.write = check_message;
	config.write_data = &sink;
	memset(&record, 0, sizeof(record));
	ntrace_ingress_reader_init(&reader);
	for (size_t at = 0; at < size; at += chunk) {
		ntrace_ingress_reader_feed(&reader, text + at,
					   size - at < chunk ? size - at : chunk);
		while (!(result = ntrace_ingress_reader_next(&reader, &record))) {
			if (!begun) {
				params.xlen = reader.port.xlen;
				config.itype_bits = reader.port.itype_bits;
				config.single_retire = reader.port.single;
				sink.params = params;
				encodes = !ntrace_encoder_init(&encoder, &config);
				writer.port = reader.port;
				writer.lenient = false;
				begun = true;
			}
			hash = mix(hash, &record.type, sizeof(record.type));
			if (record.type == NTRACE_INGRESS_CYCLE)
				hash = mix(hash, &record.cycle, sizeof(record.cycle));
			write_again(&writer, &record);
			if (encodes && ntrace_encoder_play(&encoder, &record) < 0)
				abort();
		}
	}
	if (encodes)
		ntrace_encoder_stop(&encoder, NTRACE_EVCODE_TRACE_DISABLE);
	hash = mix(hash, &sink.bytes, sizeof(sink.bytes));
	hash = mix(hash, &result, sizeof(result));
	return mix(hash, &reader.line, sizeof(reader.line));
}

static int count_finding(void *data, const struct ntrace_ingress_finding *finding)
{
	unsigned int *count = data;

	if (!finding->rule->id || finding->index >= NTRACE_INGRESS_GROUPS_MAX)
		abort();
	++*count;
	return 0;
}

static void check_places(const struct ntrace_ingress_port *port,
			 const struct ntrace_ingress_cycle *cycle)
{
	struct ntrace_data_filter filter;
	uint64_t first, last;

	ntrace_data_filter_init(&filter);
	for (unsigned int i = 0; i < cycle->accesses; i++) {
		bool placed = ntrace_ingress_access_iaddr(port, cycle, i, &first, &last);

		if (!ntrace_data_filter_match(&filter, port, cycle, i))
			abort();
		filter.iaddr_first = placed ? first : 1;
		filter.iaddr_last = placed ? last : 0;
		if (ntrace_data_filter_match(&filter, port, cycle, i) != placed)
			abort();
		ntrace_data_filter_init(&filter);
	}
}

/* The same bytes to a lenient reader and the checker. */
static void read_leniently(const char *text, size_t size)
{
	static struct ntrace_ingress_reader reader;
	static struct ntrace_ingress_checker checker;
	struct ntrace_ingress_writer writer = { .lenient = true };
	struct ntrace_ingress_record record;
	unsigned int findings = 0, before;
	bool begun = false;

	memset(&record, 0, sizeof(record));
	ntrace_ingress_reader_init(&reader);
	reader.lenient = true;
	ntrace_ingress_reader_feed(&reader, text, size);
	while (!ntrace_ingress_reader_next(&reader, &record)) {
		if (!begun &&
		    ntrace_ingress_checker_init(&checker, &reader.port, count_finding, &findings))
			abort();
		begun = true;
		before = findings;
		if (ntrace_ingress_checker_record(&checker, &record))
			abort();
		/* The checker finds all that the strict reader refuses. */
		if (record.type == NTRACE_INGRESS_CYCLE) {
			if (ntrace_ingress_check(&reader.port, &record.cycle) && before == findings)
				abort();
			check_places(&reader.port, &record.cycle);
		}
		writer.port = reader.port;
		write_again(&writer, &record);
	}
	if (begun && ntrace_ingress_checker_end(&checker))
		abort();
	if (checker.in_flight)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data + OPTION_BYTES;
	uint64_t whole;

	if (size < OPTION_BYTES)
		return 0;
	size -= OPTION_BYTES;
	whole = read_all(data, text, size, size + 1);
	if (read_all(data, text, size, 1) != whole || read_all(data, text, size, 13) != whole)
		abort();
	read_leniently(text, size);
	return 0;
}
