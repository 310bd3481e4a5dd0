// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory read by a callback, compared with a model of readable bytes; mappings that overlap,
 * compared with a model; and names of unmapped addresses.
 */
#include <stdlib.h>

#include <ntrace/image.h>

#include "tap.h"

#define BYTES (300 * 4096)

static uint64_t random_state = 0xda942042e4dd58b5;

static unsigned int random_below(unsigned int limit)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (unsigned int)((random_state >> 20) % limit);
}

/* A target: its bytes, which of them are readable, and the number of reads. */
struct target {
	uint64_t base;
	uint64_t size;
	uint8_t bytes[BYTES];
	bool hole[BYTES];
	unsigned int calls;
	bool outside;
};

static int read_target(void *data, uint64_t address, void *buffer, size_t size)
{
	struct target *target = data;
	uint64_t at = address - target->base;
	size_t i;

	target->calls++;
	if (at >= target->size || size > target->size - at) {
		target->outside = true;
		return -1;
	}
	for (i = 0; i < size; i++) {
		if (target->hole[at + i])
			return -1;
		/* Written before a failure: must not be visible. */
		((uint8_t *)buffer)[i] = target->bytes[at + i];
	}
	return 0;
}

static struct target *new_target(uint64_t base, uint64_t size)
{
	struct target *target = calloc(1, sizeof(*target));

	if (!target)
		exit(1);
	target->base = base;
	target->size = size;
	for (size_t i = 0; i < size; i++)
		target->bytes[i] = (uint8_t)random_below(256);
	return target;
}

static bool agrees(const struct ntrace_space *space, const struct target *target, uint64_t at)
{
	const uint8_t *data;
	size_t available;
	int ret = ntrace_space_read(space, target->base + at, &data, &available);

	if (ret)
		return ret == NTRACE_ERR_NOMAP && target->hole[at];
	if (!available || available > target->size - at ||
	    memcmp(data, target->bytes + at, available))
		return false;
	for (size_t i = 0; i < available; i++) {
		if (target->hole[at + i])
			return false;
	}
	return true;
}

static void test_callback(uint64_t base, uint64_t size)
{
	struct target *target = new_target(base, size);
	struct ntrace_object *object;
	struct ntrace_space *space;
	unsigned int wrong = 0;
	uint64_t at;

	is_u64(ntrace_object_from_callback(&object, "target", base, size, read_target, target), 0,
	       "memory at %" PRIx64, base);
	ntrace_space_new(&space, "target", NULL);
	ntrace_space_map_linked(space, object, 0);
	is_u64(target->calls, 0, "no read before the first use");
	for (at = 0; at < size; at++)
		wrong += !agrees(space, target, at);
	is_u64(wrong, 0, "every byte");
	ok(target->calls <= size / 4096 + 2, "read by pages: %u calls", target->calls);
	for (unsigned int i = 0; i < 20; i++) {
		at = random_below((unsigned int)size);
		for (uint64_t hole = at; hole < size && hole < at + 1 + i % 7; hole++)
			target->hole[hole] = true;
	}
	ntrace_space_put(space);
	ntrace_object_put(object);
	/* A new object with gaps; reads in random order, so that pages leave the cache. */
	ntrace_object_from_callback(&object, "holes", base, size, read_target, target);
	ntrace_space_new(&space, "holes", NULL);
	ntrace_space_map_linked(space, object, 0);
	for (unsigned int i = 0; i < 20000; i++)
		wrong += !agrees(space, target, random_below((unsigned int)size));
	for (at = 0; at < size; at++) {
		if (target->hole[at] || (at && target->hole[at - 1]) ||
		    (at + 1 < size && target->hole[at + 1]))
			wrong += !agrees(space, target, at);
	}
	is_u64(wrong, 0, "an unreadable byte is NOMAP, its neighbours are not");
	memset(target->hole, 0, sizeof(target->hole));
	for (at = 0; at < size; at += 61)
		wrong += !agrees(space, target, at);
	is_u64(wrong, 0, "bytes that become readable are read");
	ok(!target->outside, "no read exceeds the object");
	ntrace_space_put(space);
	ntrace_object_put(object);
	free(target);
}

static void test_callback_refused(void)
{
	struct ntrace_object *object;

	is_u64(ntrace_object_from_callback(&object, "x", 0, 0, read_target, NULL),
	       NTRACE_ERR_INVALID, "size 0");
	is_u64(ntrace_object_from_callback(&object, "x", 0x10, UINT64_MAX, read_target, NULL),
	       NTRACE_ERR_INVALID, "wrapping round");
	is_u64(ntrace_object_from_callback(&object, "x", 0, 1, NULL, NULL), NTRACE_ERR_INVALID,
	       "no function");
}

/* ---- overlaps ---- */

#define SPAN 256

static int byte_at(const struct ntrace_space *space, uint64_t address)
{
	const uint8_t *data;
	size_t available;

	return ntrace_space_read(space, address, &data, &available) ? -1 : data[0];
}

static bool shows(const struct ntrace_space *space, const int *model)
{
	for (unsigned int i = 0; i < SPAN; i++) {
		if (byte_at(space, 0x1000 + i) != model[i])
			return false;
	}
	return true;
}

static void test_overlaps(void)
{
	struct ntrace_space *space, *copy;
	struct ntrace_object *object;
	uint8_t bytes[512];
	int model[SPAN];
	unsigned int wrong = 0;

	for (unsigned int i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)i;
	for (unsigned int i = 0; i < SPAN; i++)
		model[i] = -1;
	ntrace_object_from_bytes(&object, "ramp", bytes, sizeof(bytes), 0);
	ntrace_space_new(&space, "overlaps", NULL);
	for (unsigned int i = 0; i < 400; i++) {
		unsigned int at = random_below(SPAN - 40), size = 1 + random_below(40);
		unsigned int value = random_below(256);
		uint64_t version = ntrace_space_version(space);

		wrong += ntrace_space_map(space, object, 0x1000 + at, size, value) != 0;
		wrong += ntrace_space_version(space) == version;
		for (unsigned int k = 0; k < size; k++)
			model[at + k] = (int)((value + k) & 0xff);
		wrong += !shows(space, model);
	}
	is_u64(wrong, 0, "400 mappings replace earlier ones byte for byte");
	ntrace_space_clone(&copy, "copy", space);
	ntrace_space_put(space);
	ok(shows(copy, model), "a clone has them, too");
	is_u64(ntrace_space_map(copy, object, 0x1000, 0, 0), NTRACE_ERR_INVALID, "size 0");
	is_u64(ntrace_space_map(copy, object, UINT64_MAX, 2, 0), NTRACE_ERR_INVALID,
	       "wrapping round");
	ntrace_space_put(copy);
	ntrace_object_put(object);
}

/* ---- names ---- */

int main(void)
{
	test_callback(0x80000000, BYTES);
	test_callback(0x7ffff123, 3 * 4096 + 77);
	test_callback(UINT64_MAX - 9000, 9001);
	test_callback(0x40000ffe, 3);
	test_callback_refused();
	test_overlaps();
	return done_testing();
}
