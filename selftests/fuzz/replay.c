// SPDX-License-Identifier: GPL-2.0-only
/*
 * Runs a fuzzer without libFuzzer: over the files of its corpus, then over inputs derived from them.
 *
 *	NAME RUNS SEED ARTIFACT [DIRECTORY]
 *
 * It is linked with the objects that the other tests use, so `make check` needs no second build of
 * the library by clang. `make fuzz` builds the same fuzzers with libFuzzer, which searches for inputs
 * that reach new code. An input that fails is written to ARTIFACT. The last line of the output is the
 * number of inputs.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sanitizer/common_interface_defs.h>

#define SIZE_LIMIT (64u << 10)
#define GROW 64
#define POOL 64
#ifndef SECONDS
#define SECONDS 60
#endif

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct input {
	uint8_t *data;
	size_t size;
};

static struct input current;
static const char *artifact;
static struct input *corpus;
static size_t corpus_count;
/* Derived inputs, of which others are derived. */
static struct input pool[POOL];
static size_t pool_count;
static uint64_t random_state;

static uint64_t draw(void)
{
	uint64_t z = random_state += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

static size_t below(size_t limit)
{
	return limit ? draw() % limit : 0;
}

/* Async-signal-safe: a failure may happen anywhere. */
static void write_artifact(void)
{
	int fd = open(artifact, O_WRONLY | O_CREAT | O_TRUNC, 0666);

	if (fd < 0 || write(fd, current.data, current.size) != (ssize_t)current.size)
		_exit(2);
	close(fd);
}

static void failed(int number)
{
	static const char late[] = "an input takes too long\n", aborted[] = "aborted\n";

	write_artifact();
	if (number == SIGALRM)
		(void)!write(STDERR_FILENO, late, sizeof(late) - 1);
	else
		(void)!write(STDERR_FILENO, aborted, sizeof(aborted) - 1);
	/* No stack trace: the sanitizer that aborted may have the locks which that would take. */
	_exit(1);
}

static void out_of_memory(void)
{
	perror("replay");
	exit(2);
}

/* The input gets memory of its exact size, so that ASAN sees reads beyond it. */
static void run(const struct input *input)
{
	current.size = input->size;
	current.data = malloc(input->size ? input->size : 1);
	if (!current.data)
		out_of_memory();
	if (input->size)
		memcpy(current.data, input->data, input->size);
	alarm(SECONDS);
	LLVMFuzzerTestOneInput(current.data, current.size);
	alarm(0);
	free(current.data);
}

static void read_file(const char *directory, const char *name)
{
	struct input input = { 0 };
	char path[4096];
	FILE *file;
	long size;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	file = fopen(path, "rb");
	if (!file || fseek(file, 0, SEEK_END) || (size = ftell(file)) < 0) {
		perror(path);
		exit(2);
	}
	rewind(file);
	input.size = (size_t)size;
	input.data = malloc(input.size + 1);
	corpus = realloc(corpus, (corpus_count + 1) * sizeof(*corpus));
	if (!input.data || !corpus)
		out_of_memory();
	if (fread(input.data, 1, input.size, file) != input.size) {
		perror(path);
		exit(2);
	}
	corpus[corpus_count++] = input;
	fclose(file);
}

static int is_file(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

/* In alphabetic order, so that a seed repeats the inputs. */
static void read_corpus(const char *directory)
{
	struct dirent **entries;
	int count = scandir(directory, &entries, is_file, alphasort), i;

	if (count <= 0) {
		fprintf(stderr, "%s: no corpus\n", directory);
		exit(2);
	}
	for (i = 0; i < count; i++) {
		read_file(directory, entries[i]->d_name);
		free(entries[i]);
	}
	free(entries);
}

static const struct input *choose(void)
{
	static const struct input nothing;

	if (pool_count && !below(4))
		return &pool[below(pool_count)];
	return corpus_count ? &corpus[below(corpus_count)] : &nothing;
}

/* Makes room for @count bytes at @at. Return: how many there are */
static size_t insert(struct input *input, size_t at, size_t count)
{
	if (input->size + count > SIZE_LIMIT)
		return 0;
	memmove(input->data + at + count, input->data + at, input->size - at);
	input->size += count;
	return count;
}

static void put_value(struct input *input, size_t at)
{
	static const uint64_t values[] = {
		0,	1,	   0x7f,       0x80,	  0xff,	      0x7fff,
		0xffff, INT32_MAX, UINT32_MAX, INT64_MAX, UINT64_MAX,
	};
	const size_t widths[] = { 1, 2, 4, 8 };
	uint64_t value = values[below(sizeof(values) / sizeof(values[0]))];
	size_t width = widths[below(4)];

	if (at + width <= input->size)
		memcpy(input->data + at, &value, width);
}

static void change(struct input *input)
{
	size_t at = below(input->size), count = 1 + below(GROW), i;
	const struct input *other;

	switch (input->size ? below(8) : 4) {
	case 0:
		input->data[at] ^= (uint8_t)(1u << below(8));
		break;
	case 1:
		input->data[at] = (uint8_t)draw();
		break;
	case 2:
		put_value(input, at);
		break;
	case 3: /* remove a part */
		if (count > input->size - at)
			count = input->size - at;
		memmove(input->data + at, input->data + at + count, input->size - at - count);
		input->size -= count;
		break;
	case 4: /* insert random bytes */
		count = insert(input, at, count);
		for (i = 0; i < count; i++)
			input->data[at + i] = (uint8_t)draw();
		break;
	case 5: /* repeat a part */
		if (count > input->size - at)
			count = input->size - at;
		if (insert(input, at, count))
			memcpy(input->data + at, input->data + at + count, count);
		break;
	case 6: /* insert a part of another input */
		other = choose();
		i = below(other->size);
		if (count > other->size - i)
			count = other->size - i;
		count = insert(input, at, count);
		if (count)
			memcpy(input->data + at, other->data + i, count);
		break;
	case 7: /* cut off the end, rarely */
		if (!below(8))
			input->size = at;
		break;
	}
}

static void derive(void)
{
	static uint8_t bytes[SIZE_LIMIT];
	const struct input *from = choose();
	struct input input = { bytes, from->size < SIZE_LIMIT ? from->size : SIZE_LIMIT }, *kept;
	size_t changes = 1 + below(8);

	if (input.size)
		memcpy(bytes, from->data, input.size);
	while (changes--)
		change(&input);
	run(&input);
	if (!input.size)
		return;
	kept = &pool[pool_count < POOL ? pool_count++ : below(POOL)];
	kept->data = realloc(kept->data, input.size);
	if (!kept->data)
		out_of_memory();
	memcpy(kept->data, bytes, input.size);
	kept->size = input.size;
}

static void free_inputs(struct input *inputs, size_t count)
{
	while (count)
		free(inputs[--count].data);
}

int main(int argc, char **argv)
{
	size_t runs, i;

	if (argc < 4 || argc > 5) {
		fprintf(stderr, "usage: %s RUNS SEED ARTIFACT [DIRECTORY]\n", argv[0]);
		return 2;
	}
	runs = strtoull(argv[1], NULL, 0);
	random_state = strtoull(argv[2], NULL, 0);
	artifact = argv[3];
	if (argc > 4)
		read_corpus(argv[4]);
	__sanitizer_set_death_callback(write_artifact);
	signal(SIGABRT, failed);
	signal(SIGALRM, failed);
	for (i = 0; i < corpus_count; i++)
		run(&corpus[i]);
	for (; i < runs; i++)
		derive();
	free_inputs(corpus, corpus_count);
	free_inputs(pool, pool_count);
	free(corpus);
	printf("%zu\n", i);
	return 0;
}
