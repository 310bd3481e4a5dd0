// SPDX-License-Identifier: GPL-2.0-only
/*
 * An ordinary program for the consumers of branch samples. It compiles expressions to code for a
 * stack machine, runs the code, and counts the results in a hash table that it sorts at the end. It
 * has hot and cold paths, recursion, calls through pointers and calls from the C library.
 * Usage: calculator ROUNDS
 */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef NOINLINE
#define NOINLINE __attribute__((noinline))
#endif
#define SLOTS 256

enum op { PUSH, LOAD, ADD, SUB, MUL, DIV, END };

struct code {
	uint8_t op[64];
	uint64_t value[64];
	unsigned int length;
};

struct slot {
	uint64_t key;
	uint64_t count;
};

static struct slot table[SLOTS];
static uint64_t divided_by_zero;

static NOINLINE void emit(struct code *code, enum op op, uint64_t value)
{
	if (code->length == sizeof(code->op)) {
		fputs("expression too long\n", stderr);
		exit(1);
	}
	code->op[code->length] = op;
	code->value[code->length++] = value;
}

static const char *sum(const char *text, struct code *code);

static NOINLINE const char *factor(const char *text, struct code *code)
{
	uint64_t value = 0;

	if (*text == '(')
		return sum(text + 1, code) + 1;
	if (*text == 'x') {
		emit(code, LOAD, 0);
		return text + 1;
	}
	while (*text >= '0' && *text <= '9')
		value = value * 10 + (*text++ - '0');
	emit(code, PUSH, value);
	return text;
}

static NOINLINE const char *product(const char *text, struct code *code)
{
	text = factor(text, code);
	while (*text == '*' || *text == '/') {
		enum op op = *text == '*' ? MUL : DIV;

		text = factor(text + 1, code);
		emit(code, op, 0);
	}
	return text;
}

static NOINLINE const char *sum(const char *text, struct code *code)
{
	text = product(text, code);
	while (*text == '+' || *text == '-') {
		enum op op = *text == '+' ? ADD : SUB;

		text = product(text + 1, code);
		emit(code, op, 0);
	}
	return text;
}

static NOINLINE uint64_t quotient(uint64_t a, uint64_t b)
{
	if (b)
		return a / b;
	divided_by_zero++;
	return 0;
}

static NOINLINE uint64_t run(const struct code *code, uint64_t x)
{
	uint64_t stack[64];
	unsigned int top = 0, i;

	for (i = 0; i < code->length; i++) {
		switch (code->op[i]) {
		case PUSH:
			stack[top++] = code->value[i];
			break;
		case LOAD:
			stack[top++] = x;
			break;
		case ADD:
			top--;
			stack[top - 1] += stack[top];
			break;
		case SUB:
			top--;
			stack[top - 1] -= stack[top];
			break;
		case MUL:
			top--;
			stack[top - 1] *= stack[top];
			break;
		case DIV:
			top--;
			stack[top - 1] = quotient(stack[top - 1], stack[top]);
			break;
		default:
			return 0;
		}
	}
	return stack[0];
}

static NOINLINE void count(uint64_t key)
{
	unsigned int i = (key * 0x9e3779b97f4a7c15u) >> 56;

	while (table[i].count && table[i].key != key)
		i = (i + 1) % SLOTS;
	table[i].key = key;
	table[i].count++;
}

static int by_count(const void *a, const void *b)
{
	const struct slot *left = a, *right = b;

	if (left->count != right->count)
		return left->count < right->count ? 1 : -1;
	return left->key < right->key ? -1 : left->key > right->key;
}

static uint64_t polynomial(uint64_t x)
{
	static const char text[] = "3*x*x+(x-1)*(x+7)-x/(x-4)";
	struct code code = { .length = 0 };

	sum(text, &code);
	return run(&code, x);
}

static uint64_t identity(uint64_t x)
{
	struct code code = { .length = 0 };

	sum("((x))", &code);
	return run(&code, x);
}

static uint64_t (*const volatile functions[4])(uint64_t) = { polynomial, identity, polynomial,
							     polynomial };

int main(int argc, char **argv)
{
	uint64_t rounds = argc > 1 ? strtoull(argv[1], NULL, 0) : 1000;
	uint64_t random = 88172645463325252u;

	while (rounds--) {
		random ^= random << 13;
		random ^= random >> 7;
		random ^= random << 17;
		count(functions[random >> 62](random >> 32 & 15));
		if (!(rounds & 0x3ff)) {
			qsort(table, SLOTS, sizeof(table[0]), by_count);
			memset(table, 0, sizeof(table));
		}
	}
	printf("%" PRIu64 " divisions by zero\n", divided_by_zero);
	return 0;
}
