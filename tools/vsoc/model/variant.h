/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Variants: blocks with any properties that the specifications allow. Each choice has a name and a
 * list of values. A seed draws a value for each; the value depends on the seed, the name and, if
 * the blocks of the machine differ, on the index of the block, and on nothing else, so that a new
 * choice changes no other one.
 *
 * A text selects a variant: items joined by "+", each of
 *
 *	SEED			a number: draw
 *	SEED..			draw for each block with the number SEED + its index, so that one machine
 *				has many variants
 *	NAME			draw this choice (and other ones that are named so), not all
 *	NAME=VALUE		for all blocks
 *	NAME@INDEX=VALUE	for one block
 *
 * variant_print() writes the values of a block as such a text, with which a run can be repeated.
 * The members of the parameters describe the choices; variant.c has their values.
 */
#ifndef VSOC_MODEL_VARIANT_H
#define VSOC_MODEL_VARIANT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum variant_block {
	VARIANT_ENCODER,	/* struct trace_encoder_parameters */
	VARIANT_RAM_SINK,	/* struct ram_sink_parameters */
	VARIANT_FUNNEL,		/* struct funnel_parameters */
};

#define VARIANT_ITEMS_MAX 1024
#define VARIANT_ERROR_MAX 160
#define VARIANT_ALL UINT32_MAX

/**
 * struct variant - what a text selects
 * @drawn: there is a seed
 * @each: blocks with the index n have the seed @seed + n
 * @some: only the choices in @wanted are drawn
 * @wanted: bit n: choice n is
 * @item: values of choices, in the order of the text; index VARIANT_ALL: of all blocks
 */
struct variant {
	bool drawn;
	bool each;
	bool some;
	uint64_t seed;
	uint64_t wanted[2];
	unsigned int items;
	struct {
		unsigned int choice;
		uint32_t index;
		uint32_t value;
	} item[VARIANT_ITEMS_MAX];
};

/**
 * variant_parse - read a text; NULL and "" select no variant
 * @error: room for VARIANT_ERROR_MAX bytes; set on an error
 */
bool variant_parse(struct variant *variant, const char *text, char *error);

/**
 * variant_apply - change the parameters of a block to those of the variant
 * @parameters: the parameters that @block names; choices that the variant does not have stay
 *
 * Parameters that exclude each other are made consistent, unless the text gives both.
 */
void variant_apply(const struct variant *variant, enum variant_block block, uint32_t index,
		   void *parameters);

/**
 * variant_print - the choices of a block that the variant makes, as a text
 * @parameters: result of variant_apply()
 * @text: gets it, cut to @size bytes
 * Return: its whole length
 */
size_t variant_print(const struct variant *variant, enum variant_block block, uint32_t index,
		     const void *parameters, char *text, size_t size);

/** variant_name - name of choice @choice, or NULL after the last one */
const char *variant_name(unsigned int choice);

#endif /* VSOC_MODEL_VARIANT_H */
