// SPDX-License-Identifier: GPL-2.0-only
/*
 * The model of CTR with any sequence of register accesses and transfers, and with any ingress file.
 * Checks that registers hold legal values only, that a frozen ring records nothing, that writing
 * back a value just read changes nothing, and that the result for an ingress file does not depend
 * on how it is cut.
 *
 * The first bytes choose the hart. Either operations of OP_BYTES each follow, or text.
 */
#include <stdlib.h>
#include <string.h>

#include <ntrace/ctr.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define OPTION_BYTES 12
#define OP_BYTES 12

static void check(bool good)
{
	if (!good)
		abort();
}

static uint64_t number(const uint8_t *data, size_t size)
{
	uint64_t value = 0;

	while (size--)
		value = value << 8 | data[size];
	return value;
}

/* Return: false if the hart's configuration is invalid. */
static bool begin(struct ntrace_ctr_model *model, const uint8_t *options)
{
	struct ntrace_ctr_config config;
	int result;

	ntrace_ctr_config_init(&config, options[0] & 1 ? NTRACE_CTR_DRAFT : NTRACE_CTR_RATIFIED);
	config.hypervisor = options[0] & 2;
	config.features = options[0] >> 2 & 7;
	config.cce_bits = options[1] & 7;
	config.depths = options[2] & 0x3f;
	config.implemented ^= number(options + 3, 6) & 0xff3f00001b80;
	result = ntrace_ctr_model_init(model, &config);
	check(!result == !ntrace_ctr_config_refusal(&config));
	if (!result)
		ntrace_ctr_model_stateen(
			model, options[9] & 1 ? UINT64_MAX : number(options + 10, 1) << 54,
			options[9] & 2 ? UINT64_MAX : number(options + 11, 1) << 54);
	return !result;
}

static void check_model(const struct ntrace_ctr_model *model)
{
	const uint64_t machine = NTRACE_CTR_CTL(M) | NTRACE_CTR_CTL(MTE);

	check(model->status.wrptr < model->depth);
	check(ntrace_ctr_depth_to_raw(NTRACE_CTR_RATIFIED, model->depth) >= 0);
	check(model->config.depths >> ntrace_ctr_depth_to_raw(NTRACE_CTR_RATIFIED, model->depth) &
	      1);
	check(!(model->mctrctl & ~model->config.implemented));
	check(!(model->vsctrctl & ~(model->config.implemented & ~machine)));
}

/* Checks every decoded entry, and the call stack if the entries are one. */
static void check_ring(const struct ntrace_ctr_model *model)
{
	static struct ntrace_ctr_entry entries[NTRACE_CTR_ENTRIES_MAX];
	static struct ntrace_ctr_frame frames[NTRACE_CTR_ENTRIES_MAX];
	struct ntrace_ctr_record record;
	bool partial;
	int count;

	for (unsigned int i = 0; i < NTRACE_CTR_ENTRIES_MAX; i++) {
		entries[i] = ntrace_ctr_model_entry(model, i);
		ntrace_ctr_record_decode(&entries[i], model->config.features, &record);
		check(record.valid == (entries[i].source & 1));
		check(i < model->depth ||
		      !(entries[i].source | entries[i].target | entries[i].data));
		check(record.cycles <= 134201344 && record.type < 16);
		ntrace_ctr_type_name(record.type);
		if (record.cycles_known)
			check(ntrace_ctr_cycles_encode(record.cycles, 4) == entries[i].data >> 16);
	}
	count = ntrace_ctr_call_stack(entries, model->depth, model->config.features, frames,
				      &partial);
	check(count == NTRACE_ERR_FORMAT || (count >= 0 && (unsigned int)count <= model->depth));
}

/* Writes a register; then, writing back the value read must change nothing. */
static void write_register(struct ntrace_ctr_model *model, unsigned int priv, unsigned int csr,
			   uint64_t value)
{
	static struct ntrace_ctr_model before;
	uint64_t back;
	int result;

	before = *model;
	result = ntrace_ctr_model_write(model, priv, csr, value);
	if (result) {
		check(!memcmp(&before, model, sizeof(before)));
		check(ntrace_ctr_model_read(model, priv, csr, &back) == result);
		return;
	}
	check(!ntrace_ctr_model_read(model, priv, csr, &back));
	before = *model;
	check(!ntrace_ctr_model_write(model, priv, csr, back));
	/* A write of xctrctl resets the cycle counter, like the first write. */
	check(!memcmp(&before, model, sizeof(before)));
}

static void transfer(struct ntrace_ctr_model *model, const uint8_t *op)
{
	struct ntrace_ctr_transfer event = {
		.source = number(op + 3, 4),
		.target = ~number(op + 6, 4),
		.cycles = number(op + 10, 2) << (op[9] & 63),
		.cause = op[8] & 15,
		.itype = op[1] & 31,
		.from = op[2] & 7,
		.to = op[2] >> 3 & 7,
		.mispredicted = op[2] & 64,
	};
	bool frozen = model->status.frozen;
	unsigned int wrptr = model->status.wrptr;
	int result = ntrace_ctr_model_transfer(model, &event);

	check(!frozen || result <= 0);
	check((model->status.frozen != frozen) == (result == NTRACE_CTR_FROZE));
	check((model->status.wrptr != wrptr) ==
	      (result == NTRACE_CTR_RECORDED || result == NTRACE_CTR_POPPED));
}

static void operate(struct ntrace_ctr_model *model, const uint8_t *data, size_t size)
{
	static const uint16_t csrs[] = { 0x14e, 0x14f, 0x150, 0x151, 0x152, 0x153, 0x155, 0x15f,
					 0x24e, 0x250, 0x251, 0x253, 0x34e, 0x350, 0x351, 0x381,
					 0x181, 0x183, 0x281, 0x383, 0x300, 0x154 };

	for (; size >= OP_BYTES; data += OP_BYTES, size -= OP_BYTES) {
		switch (data[0] & 7) {
		case 0:
			write_register(model, data[2] & 7, csrs[data[1] % 22], number(data + 3, 8));
			break;
		case 1:
			write_register(model, data[2] & 7, csrs[data[1] % 22],
				       number(data + 3, 1) | 0x200);
			break;
		case 2:
			ntrace_ctr_model_clear(model, data[2] & 7);
			break;
		default:
			transfer(model, data);
			break;
		}
		check_model(model);
	}
	check_ring(model);
}

/* FNV-1a */
static uint64_t mix(uint64_t hash, const void *data, size_t size)
{
	const uint8_t *bytes = data;

	for (size_t i = 0; i < size; i++)
		hash = (hash ^ bytes[i]) * UINT64_C(0x100000001b3);
	return hash;
}

/* Prints registers, entries, and the result of the run. */
static uint64_t play(const uint8_t *options, const char *text, size_t size, size_t chunk)
{
	static struct ntrace_ingress_reader reader;
	static struct ntrace_ctr_model model;
	struct ntrace_ctr_ingress feed = { .model = NULL };
	struct ntrace_ingress_record record;
	int result = NTRACE_ERR_AGAIN;
	uint64_t hash;

	begin(&model, options);
	ntrace_ctr_model_write(&model, NTRACE_PRIV_M,
			       options[0] & 1 ? NTRACE_CTR_CSR_DRAFT_MCTRCONTROL :
						NTRACE_CTR_CSR_MCTRCTL,
			       number(options + 3, 6) | 7);
	ntrace_ingress_reader_init(&reader);
	/* Any input after the end is an error. */
	for (size_t at = 0; at < size && (result == NTRACE_ERR_AGAIN || result == NTRACE_ERR_EOS);
	     at += chunk) {
		ntrace_ingress_reader_feed(&reader, text + at,
					   size - at < chunk ? size - at : chunk);
		while (!(result = ntrace_ingress_reader_next(&reader, &record))) {
			if (!feed.model)
				result = ntrace_ctr_ingress_init(&feed, &model, &reader.port);
			if (!result)
				result = ntrace_ctr_ingress_play(&feed, &record);
			if (result)
				break;
			check_model(&model);
		}
	}
	check_ring(&model);
	hash = mix(UINT64_C(0xcbf29ce484222325), &result, sizeof(result));
	hash = mix(hash, &feed.dropped, sizeof(feed.dropped));
	hash = mix(hash, model.ring, sizeof(model.ring));
	return mix(hash, &model.status, sizeof(model.status));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct ntrace_ctr_model model;
	const char *text = (const char *)data + OPTION_BYTES;
	struct ntrace_ctr_filter filter;
	uint64_t whole;

	if (size < OPTION_BYTES || !begin(&model, data))
		return 0;
	if (!ntrace_ctr_filter_from_perf(number(data, 3), number(data + 3, 6), data[9], &filter))
		ntrace_ctr_filter_to_perf(filter.control);
	size -= OPTION_BYTES;
	if (data[0] & 128) {
		operate(&model, data + OPTION_BYTES, size);
		return 0;
	}
	whole = play(data, text, size, size + 1);
	check(play(data, text, size, 1) == whole && play(data, text, size, 13) == whole);
	return 0;
}
