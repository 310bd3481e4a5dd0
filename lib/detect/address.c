// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * How well address settings fit (N-Trace 1.0, "addresses"). All addresses are reconstructed, and
 * addresses that no hart reports are counted. Code is compact: settings that scatter it over memory
 * are worse.
 */
#include <stdlib.h>

#include "detect.h"

/* Evidence against a setting, by kind. */
#define COST_MISPLACED 12
#define COST_OUTSIDE 16
#define COST_REGION 2
#define COST_EXTENDED 3
#define COST_NARROW 4

#define ADDRESSES_MANY 100
#define REGION_BITS 24
#define REGIONS_MAX 4096
/*
 * A run of ones at the top of an address suggests a truncated sign. User addresses of Sv39, Sv48
 * and Sv57 can end in such a run, so there it is no proof; neither is a short run.
 */
#define SIGN_RUN 8
#define SIGN_RUN_PROOF 16
#define SIGN_RUN_LAST_BYTE 6
#define COST_SIGN_CUT 2
#define SHORT_SIGN_BYTES 2
/* Maximum number of addresses looked up in the programs. */
#define LOOKUPS_MAX 65536

/* The address that U-ADDR is relative to. */
struct reference {
	uint64_t address;
	uint32_t known;		/* the stretch between wire errors in which it is known */
};

struct address_survey {
	const struct ntrace_params *params;
	struct ntrace_space *space;
	struct detect_addresses *result;
	uint32_t stretch;
	uint64_t region[REGIONS_MAX];	/* region + 1; 0 = free */
	unsigned int regions;
	bool sign_cut;
	uint32_t widths[65];	/* number of fields by width */
	struct reference reference[];	/* by SRC */
};

static unsigned int width(uint64_t value)
{
	return value ? 64 - (unsigned int)__builtin_clzll(value) : 0;
}

/* Number of consecutive ones from the top one down. */
static unsigned int ones_run(uint64_t value)
{
	unsigned int bits = width(value), run = 0;

	while (run < bits && value >> (bits - 1 - run) & 1)
		run++;
	return run;
}

static bool is_full(const struct ntrace_message *message)
{
	return ntrace_message_has(message, NTRACE_FIELD_FADDR);
}

enum sign_cut {
	SIGN_WHOLE,
	SIGN_CUT_PERHAPS,
	SIGN_CUT,
};

/* Whether the encoder left out copies of a sign that these settings do not restore. */
static enum sign_cut sign_cut(const struct ntrace_message *message, uint64_t address)
{
	unsigned int bits = width(address), run = ones_run(address);
	bool user = bits == 38 || bits == 47 || bits == 56;

	if (bits >= 36 && bits < 63 && run >= SIGN_RUN)
		return run >= SIGN_RUN_PROOF && !user ? SIGN_CUT : SIGN_CUT_PERHAPS;
	if (is_full(message) && message->address_msb && bits >= 30 && bits < 63 &&
	    run >= SIGN_RUN_LAST_BYTE)
		return SIGN_CUT_PERHAPS;
	return SIGN_WHOLE;
}

static bool is_canonical(uint64_t address)
{
	uint64_t top = address >> 56;

	return !top || top == 0xff;
}

static unsigned int address_width(const struct ntrace_params *params)
{
	unsigned int bits = params->xlen - 1;

	return params->address_bits && params->address_bits < bits ? params->address_bits : bits;
}

/*
 * With trTeInstExtendAddrMSB a set top bit is a sign. A field this short would jump from the first
 * bytes of memory to the last ones, or back.
 */
static bool is_short_sign(const struct ntrace_params *params, const struct ntrace_message *message)
{
	return params->extend_address && message->address_msb &&
	       message->address_bytes <= SHORT_SIGN_BYTES;
}

/* Bytes that an encoder with these settings needs for a field (N-Trace 1.0, "addresses"). */
static unsigned int bytes_needed(const struct ntrace_params *params, uint64_t field,
				 unsigned int bytes)
{
	unsigned int bits = address_width(params);
	uint64_t mask = UINT64_MAX >> (64 - bits), lead;

	if (!params->extend_address)
		return field & mask ? (width(field & mask) + 5) / 6 : 1;
	if (6 * bytes < bits && field >> (6 * bytes - 1) & 1)
		field |= UINT64_MAX << 6 * bytes;
	/* Bits that differ from the sign, and one more that equals the sign. */
	lead = (field >> (bits - 1) & 1 ? ~field : field) & mask;
	return (width(lead) + 6) / 6;
}

static void note_padding(struct address_survey *walk, const struct ntrace_message *message,
			 uint64_t field)
{
	const struct ntrace_params *params = walk->params;

	if (message->address_bytes == bytes_needed(params, field, message->address_bytes))
		return;
	if (params->extend_address && message->address_msb)
		walk->result->copies++;
	else
		walk->result->padded++;
}

/* @field: as sent, @address: reconstructed with these settings. */
static bool is_misplaced(const struct ntrace_params *params, const struct ntrace_message *message,
			 uint64_t field, uint64_t address)
{
	if (width(field) > address_width(params))
		return true;
	return is_short_sign(params, message) || (params->xlen == 64 && !is_canonical(address));
}

/* The programs give better evidence of where addresses are. */
static void note_sign(struct address_survey *walk, const struct ntrace_message *message,
		      uint64_t address)
{
	const struct ntrace_params *params = walk->params;
	enum sign_cut cut;

	if (walk->space || params->extend_address || params->address_bits || params->xlen == 32)
		return;
	cut = sign_cut(message, address);
	walk->result->misplaced += cut == SIGN_CUT;
	walk->sign_cut |= cut == SIGN_CUT_PERHAPS;
}

static void note_region(struct address_survey *walk, uint64_t address)
{
	uint64_t key = (address >> REGION_BITS) + 1;
	uint32_t slot = (uint32_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 52);

	while (walk->region[slot] && walk->region[slot] != key)
		slot = (slot + 1) % REGIONS_MAX;
	if (walk->region[slot] || walk->regions >= REGIONS_MAX / 2)
		return;
	walk->region[slot] = key;
	walk->regions++;
}

static void take_address(struct address_survey *walk, const struct ntrace_message *message)
{
	struct reference *reference = &walk->reference[message->field[NTRACE_FIELD_SRC]];
	uint64_t field = message->field[is_full(message) ? NTRACE_FIELD_FADDR : NTRACE_FIELD_UADDR];
	struct detect_addresses *result = walk->result;
	const uint8_t *code;
	uint64_t address;
	size_t available;

	walk->widths[width(field)]++;
	if (!is_full(message) && reference->known != walk->stretch)
		return;
	address = ntrace_message_address(message, walk->params, reference->address);
	reference->address = address;
	reference->known = walk->stretch;
	result->addresses++;
	result->hash = (result->hash ^ address) * UINT64_C(0x100000001b3);
	result->wide |= address >> 32 != 0;
	if (is_misplaced(walk->params, message, field, address))
		result->misplaced++;
	else
		note_padding(walk, message, field);
	note_sign(walk, message, address);
	note_region(walk, address);
	if (walk->space && result->addresses <= LOOKUPS_MAX &&
	    ntrace_space_read(walk->space, address, &code, &available))
		result->outside++;
}

/* One field among many may be damaged, so that it does not count. */
static void set_widths(const struct address_survey *walk, struct detect_addresses *addresses)
{
	const uint32_t *widths = walk->widths;
	uint32_t least = addresses->addresses >= ADDRESSES_MANY ? 2 : 1;
	uint64_t listed = 0;

	for (unsigned int bits = 33; bits < 63; bits++) {
		if (widths[bits] < least)
			continue;
		if (widths[bits] >= widths[addresses->usual] || !addresses->usual)
			addresses->usual = bits;
		addresses->widest = bits;
	}
	for (unsigned int i = 0; i < WIDTHS_MAX; i++) {
		unsigned int most = 0;

		for (unsigned int bits = 33; bits < 63; bits++) {
			if (!(listed >> bits & 1) && widths[bits] &&
			    (!most || widths[bits] >= widths[most]))
				most = bits;
		}
		listed |= UINT64_C(1) << most;
		addresses->widths[i] = most;
	}
}

void detect_misplace(struct detect_addresses *addresses, uint64_t fields)
{
	addresses->misplaced += fields;
	addresses->form += fields * COST_MISPLACED;
	addresses->cost += fields * COST_MISPLACED;
}

int detect_addresses(const uint8_t *data, size_t size, const struct ntrace_params *params,
		     struct ntrace_space *space, struct detect_addresses *addresses)
{
	struct address_survey *walk = calloc(1, sizeof(*walk) + ((size_t)1 << params->src_bits) *
									sizeof(walk->reference[0]));
	struct ntrace_message message;
	struct ntrace_reader reader;
	int event;

	if (!walk)
		return NTRACE_ERR_NOMEM;
	*addresses = (struct detect_addresses){ 0 };
	walk->stretch = 1;
	walk->params = params;
	walk->space = space;
	walk->result = addresses;
	ntrace_reader_init(&reader, params, true);
	ntrace_reader_feed(&reader, data, size < SCORED_BYTES ? size : SCORED_BYTES);
	while ((event = ntrace_reader_next(&reader, &message)) >= 0) {
		if (event == NTRACE_WIRE_MESSAGE && !message.flags &&
		    (is_full(&message) || ntrace_message_has(&message, NTRACE_FIELD_UADDR)))
			take_address(walk, &message);
		else if (event == NTRACE_WIRE_ERROR)
			walk->stretch++;
	}
	set_widths(walk, addresses);
	addresses->form = addresses->misplaced * COST_MISPLACED + walk->regions * COST_REGION +
			  (walk->sign_cut ? COST_SIGN_CUT : 0) +
			  (params->extend_address ? COST_EXTENDED : 0) +
			  (params->address_bits ? COST_NARROW : 0);
	addresses->cost = addresses->form + addresses->outside * COST_OUTSIDE;
	free(walk);
	return NTRACE_OK;
}
