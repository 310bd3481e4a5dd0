// SPDX-License-Identifier: GPL-2.0-only
/*
 * The program of the tour: counts the words of a text, and prints the most frequent ones. The text is
 * made here, so that each run is the same. The program needs no C library, so its recording contains
 * no code of others.
 *
 * It is slower than it should be: look for the reason with ntrace before you read hash_word().
 */
#include <stddef.h>
#include <stdint.h>

#define WORDS 6000
#define BUCKETS 256
#define NOINLINE __attribute__((noinline))

struct word {
	const char *text;
	unsigned int length;
	unsigned int count;
	struct word *next;
};

static struct word pool[1024], *buckets[BUCKETS];
static unsigned int used;
static char text[WORDS * 12];

/* System calls of Linux on riscv64. */
enum {
	SYS_EXIT = 93,
	SYS_WRITE = 64,
	SYS_CLONE = 220,
	SYS_WAIT4 = 260,
	SYS_SCHED_SETAFFINITY = 122
};

static long call_kernel(long number, long a, long b, long c, long d)
{
	register long a0 __asm__("a0") = a, a1 __asm__("a1") = b, a2 __asm__("a2") = c;
	register long a3 __asm__("a3") = d, a7 __asm__("a7") = number;

	__asm__ volatile("ecall" : "+r"(a0) : "r"(a1), "r"(a2), "r"(a3), "r"(a7) : "memory");
	return a0;
}

static unsigned int random_below(unsigned int below)
{
	static uint32_t state = 1;

	state = state * 1664525 + 1013904223;
	return (state >> 8) % below;
}

/* Word number n is n in the digits b, a, n, ..., so longer words are rarer. */
static NOINLINE char *write_word(char *to, unsigned int n)
{
	static const char letters[] = "banedikoru";

	do {
		*to++ = letters[n % 10];
		n /= 10;
	} while (n);
	return to;
}

static NOINLINE void make_text(void)
{
	char *to = text;

	for (unsigned int i = 0; i < WORDS; i++) {
		to = write_word(to, random_below(1 + random_below(500)));
		*to++ = ' ';
	}
	*to = '\0';
}

/* The bucket of a word. All words of one length share a bucket: this is the mistake. */
static NOINLINE unsigned int hash_word(const char *word, unsigned int length)
{
	(void)word;
	return length % BUCKETS;
}

static NOINLINE int same_word(const struct word *a, const char *text_of_b, unsigned int length)
{
	if (a->length != length)
		return 0;
	for (unsigned int i = 0; i < length; i++)
		if (a->text[i] != text_of_b[i])
			return 0;
	return 1;
}

static NOINLINE struct word *find_word(const char *word, unsigned int length)
{
	struct word **at = &buckets[hash_word(word, length)];

	for (; *at; at = &(*at)->next)
		if (same_word(*at, word, length))
			return *at;
	*at = &pool[used++];
	**at = (struct word){ .text = word, .length = length };
	return *at;
}

static NOINLINE void count_words(void)
{
	const char *word = text;

	for (const char *at = text; *at; at++) {
		if (*at != ' ')
			continue;
		find_word(word, (unsigned int)(at - word))->count++;
		word = at + 1;
	}
}

static NOINLINE int is_before(const struct word *a, const struct word *b)
{
	return a->count > b->count;
}

static NOINLINE void sort_words(struct word *words, int count)
{
	int low = 0, high = count - 1;
	struct word pivot;

	if (count < 2)
		return;
	pivot = words[count / 2];
	while (low <= high) {
		while (is_before(&words[low], &pivot))
			low++;
		while (is_before(&pivot, &words[high]))
			high--;
		if (low <= high) {
			struct word other = words[low];

			words[low++] = words[high];
			words[high--] = other;
		}
	}
	sort_words(words, high + 1);
	sort_words(words + low, count - low);
}

static void write_text(const char *from, unsigned int length)
{
	call_kernel(SYS_WRITE, 1, (long)from, length, 0);
}

static NOINLINE void print_words(unsigned int count)
{
	for (unsigned int i = 0; i < count; i++) {
		char digits[12], *at = digits + sizeof(digits);

		*--at = '\n';
		for (unsigned int n = pool[i].count; n; n /= 10)
			*--at = (char)('0' + n % 10);
		*--at = ' ';
		write_text(pool[i].text, pool[i].length);
		write_text(at, (unsigned int)(digits + sizeof(digits) - at));
	}
}

/* So that the recording has work on both CPUs, and a thread that moves between them. */
static void move_to(unsigned int cpu)
{
	unsigned long mask = 1ul << cpu;

	call_kernel(SYS_SCHED_SETAFFINITY, 0, sizeof(mask), (long)&mask, 0);
}

static NOINLINE long fork(void)
{
	return call_kernel(SYS_CLONE, 17 /* SIGCHLD */, 0, 0, 0);
}

/* A child sorts and prints, its parent waits for it. */
static NOINLINE int run(void)
{
	long child;

	move_to(0);
	make_text();
	move_to(1);
	count_words();
	child = fork();
	if (child > 0)
		return call_kernel(SYS_WAIT4, child, 0, 0, 0) != child;
	move_to(0);
	sort_words(pool, (int)used);
	print_words(5);
	return 0;
}

void _start(void)
{
	call_kernel(SYS_EXIT, run(), 0, 0, 0);
	__builtin_unreachable();
}
