// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ntrace/trace_control.h>

#include "funnel.h"
#include "ram_sink.h"
#include "trace_encoder.h"
#include "variant.h"

#define VALUES_MAX 16

struct choice {
	const char *name;
	enum variant_block block;
	uint16_t offset;
	uint8_t size;
	uint8_t count;
	uint32_t value[VALUES_MAX];
};

#define COUNT(...) (sizeof((const uint32_t[]){ __VA_ARGS__ }) / sizeof(uint32_t))
#define CHOICE(name, block, type, member, ...)					\
	{ name, block, offsetof(struct type, member),				\
	  sizeof(((struct type *)0)->member), COUNT(__VA_ARGS__), { __VA_ARGS__ } }
#define ENCODER(name, member, ...) \
	CHOICE("encoder." name, VARIANT_ENCODER, trace_encoder_parameters, member, __VA_ARGS__)
#define RAM_SINK(name, member, ...) \
	CHOICE("ram-sink." name, VARIANT_RAM_SINK, ram_sink_parameters, member, __VA_ARGS__)
#define FUNNEL(name, member, ...) \
	CHOICE("funnel." name, VARIANT_FUNNEL, funnel_parameters, member, __VA_ARGS__)

/* enum warl_bit and enum warl_reset */
#define BIT WARL_DEFAULT, WARL_ZERO, WARL_ONE
#define OPTION WARL_ZERO, WARL_ONE, WARL_WRITABLE
#define RESET WARL_RESET_ZERO, WARL_RESET_KEPT, WARL_RESET_RANDOM
#define BOOL false, true
#define POLLS 0, 1, 7, 40

/* Sets of field values are masks: bit n is value n. */
static const struct choice choices[] = {
	/* BTM, HTM or both; the field can be hard-wired */
	ENCODER("inst-modes", inst_modes, 0x49, 0x48, 0x41, 0x40, 0x09, 0x08),
	ENCODER("formats", formats, 0x2, 0x3),
	ENCODER("sync-modes", sync_modes, 0xf, 0xb, 0x2, 0x3, 0x4, 0x5, 0x6, 0x7, 0x8, 0x9, 0xa,
		0xc, 0xd, 0xe),
	ENCODER("sync-maxes", sync_maxes, 0xffff, 0x0001, 0x0008, 0x0040, 0x0400, 0x8000, 0x00ff,
		0xff00, 0x0fc0, 0x5555),
	ENCODER("implicit-return-modes", implicit_return_modes, 0, 0x1, 0x3, 0x5, 0x7, 0x9, 0xf,
		0x2, 0xe),
	ENCODER("implicit-return-mode", implicit_return, 0, 1, 2, 3),
	ENCODER("implicit-return", implicit_return_bit, BIT),
	ENCODER("context", context, BIT),
	ENCODER("trig-enable", trig_enable, BIT),
	ENCODER("stall-ena", stall_ena, BIT),
	ENCODER("inhibit-src", inhibit_src, BIT),
	ENCODER("sequential-jump", sequential_jump, OPTION),
	ENCODER("repeated-history", repeated_history_bit, OPTION),
	ENCODER("all-jumps", all_jumps, OPTION),
	ENCODER("extend-addr", extend_address, OPTION),
	ENCODER("src-bits-max", src_bits_max, 0, 1, 2, 4, 6, 12),
	ENCODER("src-bits-min", src_bits_min, 0, 0, 0, 2, 4, 6, 12),
	ENCODER("src-bits-zero", src_bits_zero, 0, 0, 0, 4, 6),
	ENCODER("src-fixed", src_fixed, BOOL),
	ENCODER("no-filters", no_filters, BOOL),
	ENCODER("filters", filters, 1, 2, 4, 16),
	ENCODER("comparators", comparators, 0, 1, 2, 4, 8),
	ENCODER("triggers", triggers, 0, 1, 2, 8),
	ENCODER("context-bits", context_bits, 0, 16, 32, 64),
	ENCODER("timestamp-bits", timestamp_bits, 0, 24, 40, 48, 63),
	ENCODER("timestamp-modes", timestamp_modes, 0, 0x02, 0x04, 0x08, 0x0c, 0x1e),
	ENCODER("timestamp-prescale-fixed", timestamp_prescale_fixed, BOOL),
	ENCODER("reset", reset, RESET),
	ENCODER("version-minor", version_minor, 0, 0, 1, 15),
	ENCODER("protocol-minor", protocol_minor, 0, 0, 1),
	ENCODER("holes-fail", bus.holes_fail, BOOL),
	ENCODER("inactive-fails", bus.inactive_fails, BOOL),
	ENCODER("own-hart", bus.own_hart, BOOL),
	ENCODER("polls", bus.polls, POLLS),
	ENCODER("running", running, false, false, true),
	/* rarely: all that the driver can do is to refuse it */
	ENCODER("debug-owned", debug_owned, false, false, false, false, false, false, false, false,
		false, false, false, false, false, false, false, true),
	ENCODER("sleep-loses", sleep_loses, SLEEP_LOSES_NOTHING, SLEEP_LOSES_NOTHING,
		SLEEP_LOSES_ENCODER, SLEEP_LOSES_BRIDGE, SLEEP_LOSES_FUNNEL),
	ENCODER("pauses", pauses, 0, 0, 0, 50, 1000),

	/* a sink without memory of its own writes to system memory */
	RAM_SINK("smem", smem, true, true, false),
	RAM_SINK("sram-size", sram_size, 0, 0, 0, 0x400, 0x4000, 0x100000),
	RAM_SINK("data-fixed", data_fixed, BOOL),
	RAM_SINK("granule", granule, 4, 8, 16, 64, 256, 4096),
	RAM_SINK("hidden", hidden, BOOL),
	RAM_SINK("wrap-cleared-by", wrap_cleared, RAM_SINK_WRAP_BY_WP, RAM_SINK_WRAP_BY_ACTIVE,
		 RAM_SINK_WRAP_BY_POWER_UP),
	RAM_SINK("address-bits", address_bits, 32, 34, 40, 56, 64),
	RAM_SINK("power-of-two", power_of_two, BOOL),
	RAM_SINK("start-alignment", start_alignment, 0, 0, 0x100, 0x1000),
	RAM_SINK("in-flight", in_flight, 0, 1),
	/* rarely hard-wired to 1: all that the driver can do is to refuse it */
	RAM_SINK("stop-on-wrap", stop_on_wrap, WARL_DEFAULT, WARL_ZERO, WARL_DEFAULT, WARL_ZERO,
		 WARL_DEFAULT, WARL_ZERO, WARL_ONE),
	RAM_SINK("stop-early", stop_early, 0, 1, 3),
	RAM_SINK("reset", reset, RESET),
	RAM_SINK("version-minor", version_minor, 0, 0, 1, 15),
	RAM_SINK("holes-fail", bus.holes_fail, BOOL),
	RAM_SINK("inactive-fails", bus.inactive_fails, BOOL),
	RAM_SINK("polls", bus.polls, POLLS),

	FUNNEL("buffer", buffer, 0, 64, 1024),
	/* not hard-wired to 1: no trace would pass */
	FUNNEL("dis-input", dis_input, WARL_ZERO, WARL_WRITABLE),
	FUNNEL("empty-fixed", empty_fixed, BOOL),
	FUNNEL("gates", gates, BOOL),
	FUNNEL("timestamp-bits", timestamp.width, 0, 40, 48, 63),
	FUNNEL("reset", reset, RESET),
	FUNNEL("version-minor", version_minor, 0, 0, 1, 15),
	FUNNEL("holes-fail", bus.holes_fail, BOOL),
	FUNNEL("inactive-fails", bus.inactive_fails, BOOL),
	FUNNEL("polls", bus.polls, POLLS),
	FUNNEL("running", running, false, false, true),
};

#define CHOICES (sizeof(choices) / sizeof(choices[0]))

_Static_assert(CHOICES <= 128, "struct variant has a bit for each choice");

const char *variant_name(unsigned int choice)
{
	return choice < CHOICES ? choices[choice].name : NULL;
}

static bool refuse(char *error, const char *what, const char *item, size_t length)
{
	snprintf(error, VARIANT_ERROR_MAX, "%.*s: %s", (int)(length < 80 ? length : 80), item,
		 what);
	return false;
}

static bool find_choice(const char *name, size_t length, unsigned int *found)
{
	for (*found = 0; *found < CHOICES; ++*found)
		if (strlen(choices[*found].name) == length &&
		    !strncmp(choices[*found].name, name, length))
			return true;
	return false;
}

/* Reads a number that ends at @end. */
static bool parse_number(const char *text, const char *end, uint64_t *number)
{
	char *after;

	*number = strtoull(text, &after, 0);
	return *text >= '0' && *text <= '9' && after == end;
}

static bool parse_value(struct variant *variant, const char *item, size_t length, char *error)
{
	const char *end = item + length;
	const char *equals = memchr(item, '=', length);
	const char *at = memchr(item, '@', (size_t)(equals - item));
	uint64_t index = VARIANT_ALL, value;
	unsigned int choice;

	if (!find_choice(item, (size_t)((at ? at : equals) - item), &choice))
		return refuse(error, "no such choice", item, length);
	if (at && (!parse_number(at + 1, equals, &index) || index >= VARIANT_ALL))
		return refuse(error, "the index is not a number", item, length);
	if (!parse_number(equals + 1, end, &value) || value > UINT32_MAX ||
	    (choices[choice].size == 1 && value > 1))
		return refuse(error, "the value is not a number that the choice can have", item,
			      length);
	if (variant->items == VARIANT_ITEMS_MAX)
		return refuse(error, "too many choices", item, length);
	variant->item[variant->items].choice = choice;
	variant->item[variant->items].index = (uint32_t)index;
	variant->item[variant->items++].value = (uint32_t)value;
	return true;
}

static bool parse_item(struct variant *variant, const char *item, size_t length, char *error)
{
	unsigned int choice;

	if (memchr(item, '=', length))
		return parse_value(variant, item, length, error);
	if (*item >= '0' && *item <= '9') {
		variant->each = length > 2 && !strncmp(item + length - 2, "..", 2);
		if (variant->drawn ||
		    !parse_number(item, item + length - (variant->each ? 2 : 0), &variant->seed))
			return refuse(error, "not the only seed, or not a number", item, length);
		variant->drawn = true;
		return true;
	}
	if (!find_choice(item, length, &choice))
		return refuse(error, "no such choice", item, length);
	variant->some = true;
	variant->wanted[choice / 64] |= UINT64_C(1) << choice % 64;
	return true;
}

bool variant_parse(struct variant *variant, const char *text, char *error)
{
	memset(variant, 0, sizeof(*variant));
	while (text && *text) {
		size_t length = strcspn(text, "+");

		if (!parse_item(variant, text, length, error))
			return false;
		text += length + (text[length] == '+');
	}
	if (variant->some && !variant->drawn)
		return refuse(error, "choices without a value need a seed", "seed", 4);
	return true;
}

/* A number of @seed for @name; @index tells blocks apart. */
static uint64_t draw(uint64_t seed, const char *name, uint64_t index)
{
	uint64_t state = seed ^ index << 48;

	for (; *name; name++) {
		state ^= (uint8_t)*name;
		warl_random(&state);
		state *= UINT64_C(0x100000001b3);
	}
	return warl_random(&state);
}

/* Blocks of one kind differ in one of four variants. */
static bool blocks_differ(const struct variant *variant)
{
	return draw(variant->seed, "blocks-differ", 0) % 4 == 0;
}

static bool is_drawn(const struct variant *variant, unsigned int choice)
{
	return variant->drawn &&
	       (!variant->some || variant->wanted[choice / 64] >> choice % 64 & 1);
}

/* The value that the text gives. */
static bool find_item(const struct variant *variant, unsigned int choice, uint32_t index,
		      uint32_t *value)
{
	for (unsigned int i = variant->items; i--;) {
		if (variant->item[i].choice == choice &&
		    (variant->item[i].index == VARIANT_ALL || variant->item[i].index == index)) {
			*value = variant->item[i].value;
			return true;
		}
	}
	return false;
}

static bool choose(const struct variant *variant, unsigned int choice, uint32_t index,
		   uint32_t *value)
{
	const struct choice *c = &choices[choice];
	uint64_t number;

	if (find_item(variant, choice, index, value))
		return true;
	if (!is_drawn(variant, choice))
		return false;
	if (variant->each)
		number = draw(variant->seed + index, c->name, 0);
	else
		number = draw(variant->seed, c->name, blocks_differ(variant) ? index + 1 : 0);
	*value = c->value[number % c->count];
	return true;
}

static void store(void *parameters, const struct choice *choice, uint32_t value)
{
	uint8_t *to = (uint8_t *)parameters + choice->offset;

	if (choice->size == 1)
		*(bool *)to = value;
	else
		memcpy(to, &value, sizeof(value));
}

static uint32_t load(const void *parameters, const struct choice *choice)
{
	const uint8_t *from = (const uint8_t *)parameters + choice->offset;
	uint32_t value;

	if (choice->size == 1)
		return *(const bool *)from;
	memcpy(&value, from, sizeof(value));
	return value;
}

/* What a seed draws apart, and cannot exist together. */
static void settle_encoder(struct trace_encoder_parameters *p)
{
	if (p->src_bits_min > p->src_bits_max)
		p->src_bits_min = p->src_bits_max;
	if (p->src_bits_min || p->src_bits_zero > p->src_bits_max)
		p->src_bits_zero = 0;
	/* A mode that software can choose needs a bit that it can set. */
	if (p->implicit_return_modes > 1 && p->implicit_return_bit == WARL_DEFAULT)
		p->implicit_return_bit = WARL_WRITABLE;
	if (!p->implicit_return && p->implicit_return_modes <= 1)
		p->implicit_return_bit = WARL_ZERO;
	if (p->all_jumps == WARL_ONE && p->implicit_return_bit == WARL_ONE)
		p->all_jumps = WARL_ZERO;
	/* Hard-wired bits of functions that are missing */
	if (!p->context_bits && p->context == WARL_ONE)
		p->context = WARL_ZERO;
	if (!p->triggers && p->trig_enable == WARL_ONE)
		p->trig_enable = WARL_ZERO;
	if (!p->fifo)
		p->stall_ena = WARL_ZERO;
}

static void settle_ram_sink(struct ram_sink_parameters *p)
{
	if (!p->sram_size)
		p->smem = true;
	if (p->hidden)
		p->power_of_two = false;
	if (p->start_alignment < p->granule)
		p->start_alignment = 0;
}

void variant_apply(const struct variant *variant, enum variant_block block, uint32_t index,
		   void *parameters)
{
	uint64_t seed = draw(variant->seed, "reset-seed", index + 1);
	uint32_t value;

	for (unsigned int i = 0; i < CHOICES; i++)
		if (choices[i].block == block && choose(variant, i, index, &value))
			store(parameters, &choices[i], value);
	switch (block) {
	case VARIANT_ENCODER:
		((struct trace_encoder_parameters *)parameters)->reset_seed = seed;
		if (variant->drawn)
			settle_encoder(parameters);
		break;
	case VARIANT_RAM_SINK:
		((struct ram_sink_parameters *)parameters)->reset_seed = seed;
		if (variant->drawn)
			settle_ram_sink(parameters);
		break;
	case VARIANT_FUNNEL:
		((struct funnel_parameters *)parameters)->reset_seed = seed;
		break;
	}
	/* What settle_...() changed is what the text says. */
	for (unsigned int i = 0; i < CHOICES; i++)
		if (choices[i].block == block && find_item(variant, i, index, &value))
			store(parameters, &choices[i], value);
}

size_t variant_print(const struct variant *variant, enum variant_block block, uint32_t index,
		     const void *parameters, char *text, size_t size)
{
	size_t length = 0;
	uint32_t value;

	if (size)
		*text = '\0';
	for (unsigned int i = 0; i < CHOICES; i++) {
		if (choices[i].block != block || !choose(variant, i, index, &value))
			continue;
		length += (size_t)snprintf(length < size ? text + length : NULL,
					   length < size ? size - length : 0,
					   "%s%s@%" PRIu32 "=0x%" PRIx32, length ? "+" : "",
					   choices[i].name, index, load(parameters, &choices[i]));
	}
	return length;
}
