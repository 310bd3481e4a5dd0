// SPDX-License-Identifier: GPL-2.0-only
/*
 * Damaged streams: cut, joined out of order, with bytes changed, missing or inserted. The decoder
 * must not crash, must terminate, and must be right from the first undamaged SYNC after the damage
 * (see selftests/property/damage.c).
 */
#include <stdlib.h>

#include "../property/damage.h"
#include "tap.h"

#define SHORT_STREAMS 50
#define SHORT_LEAST 100	/* bytes */
#define SHORT_MOST 500
#define LONG_STREAMS 24
#define LONG_LEAST 1500	/* bytes */
#define LONG_MOST 8000
#define MUTANTS 4	/* for each kind and each long stream */
#define PIECES_MAX 12

static struct random source;
static uint64_t seed;

/* Appends bytes @from to @to of the whole stream. */
static void keep(struct damaged *damaged, const struct subject *subject, size_t from, size_t to)
{
	for (size_t i = from; i < to && damaged->size < damaged->room; i++) {
		damaged->origin[damaged->size] = (int32_t)i;
		damaged->bytes[damaged->size++] = subject->stream[i];
	}
}

static void add(struct damaged *damaged, uint8_t byte)
{
	if (damaged->size == damaged->room)
		return;
	damaged->origin[damaged->size] = -1;
	damaged->bytes[damaged->size++] = byte;
}

/* @count positions in ascending order; the last one is the end. */
static void choose_places(const struct subject *subject, size_t *place, unsigned int count)
{
	for (unsigned int i = 0; i + 1 < count; i++)
		place[i] = random_below(&source, (uint32_t)subject->size);
	for (unsigned int i = 1; i + 1 < count; i++) {
		for (unsigned int k = i; k && place[k - 1] > place[k]; k--) {
			size_t swap = place[k];

			place[k] = place[k - 1];
			place[k - 1] = swap;
		}
	}
	place[count - 1] = subject->size;
}

static void cut(struct damaged *damaged, const struct subject *subject)
{
	size_t place[3];

	choose_places(subject, place, 3);
	keep(damaged, subject, place[0], place[1]);
	damaged->aligned = false;
}

static void join(struct damaged *damaged, const struct subject *subject)
{
	unsigned int pieces = random_range(&source, 2, PIECES_MAX), order[PIECES_MAX];
	size_t place[PIECES_MAX];

	choose_places(subject, place, pieces);
	for (unsigned int i = 0; i < pieces; i++) {
		unsigned int k = random_below(&source, i + 1);

		order[i] = order[k];
		order[k] = i;
	}
	for (unsigned int i = 0; i < pieces; i++)
		keep(damaged, subject, order[i] ? place[order[i] - 1] : 0, place[order[i]]);
	damaged->aligned = one_in(&source, 2);
}

static void flip(struct damaged *damaged, const struct subject *subject)
{
	keep(damaged, subject, 0, subject->size);
	for (unsigned int i = random_range(&source, 1, 8); i; i--) {
		uint32_t at = random_below(&source, (uint32_t)subject->size);

		damaged->bytes[at] ^= 1u << random_below(&source, 8);
		damaged->origin[at] = -1;
	}
}

static void drop(struct damaged *damaged, const struct subject *subject)
{
	unsigned int pieces = random_range(&source, 2, 5);
	size_t place[5], from = 0;

	choose_places(subject, place, pieces);
	for (unsigned int i = 0; i < pieces; i++) {
		if (from < place[i])
			keep(damaged, subject, from, place[i]);
		from = place[i] + random_range(&source, 1, 20);
	}
}

static void insert(struct damaged *damaged, const struct subject *subject)
{
	unsigned int pieces = random_range(&source, 2, 5);
	size_t place[5], from = 0;

	choose_places(subject, place, pieces);
	for (unsigned int i = 0; i < pieces; i++) {
		for (unsigned int n = random_below(&source, 20); i && n; n--)
			add(damaged, (uint8_t)random_next(&source));
		keep(damaged, subject, from, place[i]);
		from = place[i];
	}
}

static void swap(struct damaged *damaged, const struct subject *subject)
{
	size_t place[5];

	choose_places(subject, place, 5);
	keep(damaged, subject, 0, place[0]);
	keep(damaged, subject, place[2], place[3]);
	keep(damaged, subject, place[1], place[2]);
	keep(damaged, subject, place[0], place[1]);
	keep(damaged, subject, place[3], place[4]);
}

static void fill(struct damaged *damaged, const struct subject *subject, uint8_t byte)
{
	keep(damaged, subject, 0, subject->size);
	for (unsigned int i = random_range(&source, 1, 4); i; i--) {
		uint32_t at = random_below(&source, (uint32_t)subject->size);

		for (unsigned int n = random_range(&source, 1, 100); n && at < subject->size; n--) {
			damaged->bytes[at] = byte;
			damaged->origin[at++] = -1;
		}
	}
}

static void fill_zero(struct damaged *damaged, const struct subject *subject)
{
	fill(damaged, subject, 0);
}

static void fill_idle(struct damaged *damaged, const struct subject *subject)
{
	fill(damaged, subject, 0xff);
}

static const struct {
	const char *name;
	void (*damage)(struct damaged *damaged, const struct subject *subject);
} kinds[] = {
	{ "cut at both ends", cut },	   { "joined out of order", join },
	{ "with bits flipped", flip },	   { "with bytes dropped", drop },
	{ "with bytes inserted", insert }, { "with runs swapped", swap },
	{ "with zeros in it", fill_zero }, { "with idles in it", fill_idle },
};

#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

/* A stream of @low to @high bytes with random options and frequent periodic syncs. */
static struct reference *make_subject(struct subject *subject, uint32_t low, uint32_t high)
{
	uint32_t bytes = low + high;
	const char *fault = NULL;
	uint64_t state = 0;
	struct row row;

	for (unsigned int tries = 0; tries < 200; tries++) {
		struct reference *reference;

		state = source.state;
		row_draw(&row, &source);
		row.level[FACTOR_SYNC_MODE] = (uint8_t)random_range(&source, 1, 3);
		row.level[FACTOR_SYNC_MAX] = high > 1000 && one_in(&source, 2);
		/* Short messages report one instruction, longer ones ten. */
		fault = subject_make(subject, &row, random_next(&source),
				     bytes * random_range(&source, 1, 5) / 2);
		if (fault)
			break;
		if (subject->size >= low && subject->size <= high) {
			reference = reference_make(subject, &fault);
			if (reference)
				return reference;
			break;
		}
		subject_free(subject);
	}
	diag("state %" PRIu64 ": %s: %s", state, row_text(&row),
	     fault ? fault : "no stream of this length");
	subject_free(subject);
	return NULL;
}

static bool make_room(struct damaged *damaged, size_t size)
{
	damaged->room = size;
	damaged->bytes = malloc(size);
	damaged->origin = malloc(size * sizeof(*damaged->origin));
	return damaged->bytes && damaged->origin;
}

static void free_room(struct damaged *damaged)
{
	free(damaged->bytes);
	free(damaged->origin);
}

static void print_recovery(const char *what, const struct recovery *recovery)
{
	diag("%s: %" PRIu64 " streams, %" PRIu64 " of %" PRIu64
	     " instructions recovered (%.1f %%); %" PRIu64 " losses, %" PRIu64
	     " that nothing tells of; %" PRIu64 " messages stopped",
	     what, recovery->streams, recovery->recovered, recovery->instructions,
	     100.0 * (double)recovery->recovered / (double)(recovery->instructions + 1),
	     recovery->losses, recovery->silent, recovery->stopped);
}

static bool good(const char *fault, const char *what, unsigned int stream, size_t number)
{
	if (fault)
		diag("stream %u %s, %zu: %s; again: SEED=%" PRIu64 " make check-lib TEST=damage",
		     stream, what, number, fault, seed);
	return !fault;
}

/* Every prefix, and every suffix as at the start of a wrapped buffer. */
static void cut_everywhere(struct damaged *damaged, const struct reference *reference,
			   const struct subject *subject, unsigned int stream,
			   struct recovery recovery[2], unsigned int failures[2])
{
	for (size_t at = 0; at <= subject->size && failures[0] < 3; at++) {
		damaged->size = 0;
		damaged->aligned = damaged->whole_start = true;
		keep(damaged, subject, 0, at);
		failures[0] += !good(follow(reference, damaged, subject->size, &recovery[0]),
				     "up to byte", stream, at);
	}
	for (size_t at = 0; at <= subject->size && failures[1] < 3; at++) {
		damaged->size = 0;
		damaged->aligned = damaged->whole_start = false;
		keep(damaged, subject, at, subject->size);
		failures[1] += !good(follow(reference, damaged, 1 + at % 30, &recovery[1]),
				     "from byte", stream, at);
	}
}

static void check_cuts(void)
{
	struct recovery recovery[2] = { 0 };
	unsigned int failures[2] = { 0 }, streams = 0;
	struct damaged damaged = { 0 };
	uint64_t bytes = 0;

	while (make_room(&damaged, 600) && streams < SHORT_STREAMS) {
		struct subject subject;
		struct reference *reference = make_subject(&subject, SHORT_LEAST, SHORT_MOST);

		if (!reference)
			break;
		bytes += subject.size;
		cut_everywhere(&damaged, reference, &subject, streams++, recovery, failures);
		reference_free(reference);
		subject_free(&subject);
		free_room(&damaged);
	}
	free_room(&damaged);
	diag("%u short streams, %" PRIu64 " bytes", streams, bytes);
	print_recovery("prefixes", &recovery[0]);
	print_recovery("suffixes", &recovery[1]);
	is_u64(streams, SHORT_STREAMS, "short streams");
	ok(!failures[0], "framing: a stream cut at any byte is decoded correctly up to the cut");
	ok(!failures[1],
	   "synchronization: a stream that begins at any byte is decoded correctly from a sync on");
	ok(recovery[0].recovered && recovery[1].recovered, "a part of each stream is recovered");
}

static void check_kinds(void)
{
	struct recovery recovery[KINDS] = { 0 };
	unsigned int failures[KINDS] = { 0 }, streams = 0;
	uint64_t bytes = 0;

	while (streams < LONG_STREAMS) {
		struct damaged damaged = { 0 };
		struct subject subject;
		struct reference *reference = make_subject(&subject, LONG_LEAST, LONG_MOST);

		if (!reference || !make_room(&damaged, subject.size + 100))
			break;
		bytes += subject.size;
		for (unsigned int n = 0; n < MUTANTS * KINDS; n++) {
			unsigned int kind = n % KINDS;
			size_t chunk = random_range(&source, 1, 5000);

			damaged.size = 0;
			damaged.aligned = true;
			kinds[kind].damage(&damaged, &subject);
			failures[kind] += !good(follow(reference, &damaged, chunk, &recovery[kind]),
						kinds[kind].name, streams, n);
		}
		streams++;
		free_room(&damaged);
		reference_free(reference);
		subject_free(&subject);
	}
	diag("%u long streams, %" PRIu64 " bytes", streams, bytes);
	is_u64(streams, LONG_STREAMS, "long streams");
	for (unsigned int kind = 0; kind < KINDS; kind++) {
		print_recovery(kinds[kind].name, &recovery[kind]);
		ok(!failures[kind],
		   "synchronization: streams %s are decoded correctly from a sync on",
		   kinds[kind].name);
		ok(recovery[kind].recovered, "a part of streams %s is recovered", kinds[kind].name);
	}
}

/* States of the random numbers before streams of which the decoder, or a count of it, was wrong once. */
static const struct found {
	uint64_t state;
	unsigned int least, most; /* bytes of the stream */
} found[] = {
	/* a message that ends within SRC, which was skipped as one of another hart */
	{ UINT64_C(14016478058602888633), LONG_LEAST, LONG_MOST },
	/* likewise, if only its first part ends there */
	{ UINT64_C(16987481636427674600), SHORT_LEAST, SHORT_MOST },
	/* statistics of call stacks, counted in handlers of handlers */
	{ UINT64_C(18248050261853331783), LONG_LEAST, LONG_MOST },
	/* the state of the hart with batches, which changed before the batch was passed on */
	{ UINT64_C(7498172627033907994), LONG_LEAST, LONG_MOST },
};

static void check_found(void)
{
	for (const struct found *at = found; at < found + sizeof(found) / sizeof(*found); at++) {
		struct reference *reference;
		struct subject subject;

		source.state = at->state;
		reference = make_subject(&subject, at->least, at->most);
		ok(reference, "the stream of state %" PRIu64, at->state);
		if (!reference)
			continue;
		reference_free(reference);
		subject_free(&subject);
	}
}

int main(void)
{
	const char *text = getenv("SEED");

	seed = text && *text ? strtoull(text, NULL, 0) : 1;
	source.state = seed;
	diag("SEED=%" PRIu64, seed);
	check_cuts();
	check_kinds();
	check_found();
	return done_testing();
}
