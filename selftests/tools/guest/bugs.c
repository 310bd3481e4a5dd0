// SPDX-License-Identifier: GPL-2.0-only
/*
 * Ten planted bugs: `bugs NAME` does what a program of that kind does, and dies some million instructions after the
 * wrong store, in noticed(). Its argument is the variable with the wrong value; host/bugs_gdb.py asks a recording of it
 * which function has stored that, and has their names.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOT_INLINE __attribute__((noipa))

static volatile long *none;

/* The program would go on with a wrong value; it dies by a pointer that is none. */
NOT_INLINE static void noticed(const long *wrong)
{
	*none = *wrong;
}

/* What else the program does between the bug and its symptom. */
NOT_INLINE static unsigned long work(unsigned long seed)
{
	static unsigned long table[64];

	for (int i = 0; i < 100000; i++) {
		seed = seed * 6364136223846793005ul + 1442695040888963407ul;
		table[seed >> 58] ^= seed;
	}
	return table[seed >> 58];
}

/* ---- use after free: the node of a list is another object's memory ---- */

struct node {
	long key, value;
	struct node *next;
};

NOT_INLINE static struct node *push(struct node *head, long key)
{
	struct node *node = malloc(sizeof(*node));

	*node = (struct node){ key, 2 * key, head };
	return node;
}

NOT_INLINE static void fill_buffer(long *buffer, long with)
{
	for (int i = 0; i < 3; i++)
		buffer[i] = with + i;
}

static const long *use_after_free(void)
{
	struct node *list = push(push(push(NULL, 1), 2), 3), *second = list->next;

	work(1);
	free(second);
	fill_buffer(malloc(sizeof(struct node)), 77);
	work(2);
	return list->next->key != 2 ? &list->next->value : NULL;
}

/* ---- overflow: a name that is too long ---- */

static struct {
	char name[16];
	long balance;
} account = { "nobody", 1000 };

NOT_INLINE static void set_name(char *to, const char *from)
{
	while ((*to++ = *from++))
		;
}

static const long *overflow(void)
{
	account.balance += 10;
	set_name(account.name, "somebody with a name");
	work(3);
	return account.balance != 1010 ? &account.balance : NULL;
}

/* ---- wild pointer: the index of a table is computed from the wrong base ---- */

static long limits[4] = { 1, 2, 3, 4 };
static long samples[32];

NOT_INLINE static void put_sample(long *where, unsigned int index, long sample)
{
	where[(int)index - 4] = sample;
}

static const long *wild_pointer(void)
{
	long *base = limits + 1;

	for (unsigned int i = 0; i < 32; i++)
		put_sample(samples + 4, i, i);
	put_sample(base, 5, -1);
	work(4);
	return limits[2] != 3 ? &limits[2] : NULL;
}

/* ---- wrong length: words are taken for bytes ---- */

struct message {
	long head;
	int32_t body[4];
	long checksum;
};

NOT_INLINE static void copy_bytes(void *to, const void *from, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		((uint8_t *)to)[i] = ((const uint8_t *)from)[i];
}

static const long *wrong_length(void)
{
	struct message *message = calloc(1, sizeof(*message));
	int32_t source[8] = { 1, 2, 3, 4, 5, 6, 7, 8 };

	message->checksum = 10;
	copy_bytes(message->body, source, sizeof(message->body) / 2);
	work(5);
	copy_bytes(message->body, source, sizeof(message->body) * 3 / 2);
	work(6);
	return message->checksum != 10 ? &message->checksum : NULL;
}

/* ---- race: two threads store without a lock ---- */

static long shared;

NOT_INLINE static void *set_shared(void *value)
{
	shared = (long)value;
	return NULL;
}

static const long *race(void)
{
	pthread_t thread;

	shared = 1;
	if (pthread_create(&thread, NULL, set_shared, (void *)2))
		return NULL;
	pthread_join(thread, NULL);
	work(7);
	return &shared;
}

/* ---- stale cache: a pointer into memory that has moved ---- */

struct vector {
	long *item;
	size_t used, room;
};

NOT_INLINE static long *append(struct vector *vector, long item)
{
	if (vector->used == vector->room) {
		long *larger = malloc(2 * vector->room * sizeof(*larger));

		memcpy(larger, vector->item, vector->used * sizeof(*larger));
		free(vector->item);
		vector->item = larger;
		vector->room *= 2;
	}
	vector->item[vector->used] = item;
	return &vector->item[vector->used++];
}

NOT_INLINE static void count_hit(long *cached)
{
	++*cached;
}

static const long *stale_cache(void)
{
	struct vector vector = { malloc(32), 0, 4 };
	long *cached = append(&vector, 100), *other;

	for (long i = 0; i < 4; i++)
		append(&vector, i);
	other = malloc(32);
	for (long i = 0; i < 4; i++)
		other[i] = 5;
	work(8);
	count_hit(cached);
	work(9);
	for (long i = 0; i < 4; i++)
		if (other[i] != 5)
			return &other[i];
	return NULL;
}

/* ---- integer overflow: a sum of small numbers ---- */

static struct {
	int16_t total;
	int16_t pad[3];
} sums;

NOT_INLINE static void add_item(int16_t item)
{
	sums.total = (int16_t)(sums.total + item);
}

static const long *integer_overflow(void)
{
	for (int i = 0; i < 40; i++)
		add_item(800);
	work(10);
	add_item(800);
	work(11);
	return sums.total < 0 ? (const long *)&sums : NULL;
}

/* ---- double free: a pool gives a block away twice ---- */

struct block {
	struct block *next;
	long owner;
};

static struct block blocks[4], *pool;

NOT_INLINE static void give_back(struct block *block)
{
	block->next = pool;
	pool = block;
}

NOT_INLINE static struct block *take_block(long owner)
{
	struct block *block = pool;

	pool = block->next;
	block->owner = owner;
	return block;
}

static const long *double_free(void)
{
	struct block *first;

	for (int i = 0; i < 4; i++)
		give_back(&blocks[i]);
	first = take_block(1);
	give_back(first);
	give_back(first);
	first = take_block(2);
	work(12);
	take_block(3);
	work(13);
	return first->owner != 2 ? &first->owner : NULL;
}

/* ---- uninitialised: a member has what the memory had before ---- */

struct options {
	long mode, level;
};

NOT_INLINE static void forget_level(struct options *options)
{
	options->mode = 1;
}

NOT_INLINE static void use_memory(struct options *options)
{
	options->level = 1234;
}

static const long *uninitialised(void)
{
	static struct options slot;

	use_memory(&slot);
	work(14);
	forget_level(&slot);
	work(15);
	return slot.level ? &slot.level : NULL;
}

/* ---- off by one: one more element is numbered ---- */

static struct {
	long row[8];
	long guard;
} matrix = { .guard = 99 };

NOT_INLINE static void number_row(long *row, int last)
{
	for (int i = 0; i <= last; i++)
		row[i] = i;
}

static const long *off_by_one(void)
{
	number_row(matrix.row, 7);
	work(16);
	number_row(matrix.row, 8);
	work(17);
	return matrix.guard != 99 ? &matrix.guard : NULL;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		const long *(*run)(void);
	} bugs[] = {
		{ "use_after_free", use_after_free },
		{ "overflow", overflow },
		{ "wild_pointer", wild_pointer },
		{ "wrong_length", wrong_length },
		{ "race", race },
		{ "stale_cache", stale_cache },
		{ "integer_overflow", integer_overflow },
		{ "double_free", double_free },
		{ "uninitialised", uninitialised },
		{ "off_by_one", off_by_one },
	};

	for (size_t i = 0; argc == 2 && i < sizeof(bugs) / sizeof(bugs[0]); i++)
		if (!strcmp(argv[1], bugs[i].name)) {
			const long *wrong = bugs[i].run();

			if (wrong)
				noticed(wrong);
			fprintf(stderr, "bugs: nothing is wrong\n");
			return 1;
		}
	fprintf(stderr, "usage: bugs NAME\n");
	return 2;
}
