// SPDX-License-Identifier: GPL-2.0-only
/*
 * The distance is the number of letters to insert, remove, replace, or swap with the next one. One
 * of four letters may be wrong, and one more. Longer names than LENGTH_MAX are never near: nobody types them.
 */
#include <string.h>

#include "nearest.h"

#define LENGTH_MAX 64

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Row @i of the table has the distances of the first @i letters of @a to each beginning of @b. */
static size_t distance(const char *a, size_t a_length, const char *b, size_t b_length)
{
	size_t rows[3][LENGTH_MAX + 1];
	size_t *before = rows[0], *last = rows[1], *row = rows[2];

	for (size_t j = 0; j <= b_length; j++)
		last[j] = j;
	for (size_t i = 1; i <= a_length; i++) {
		size_t *next = before;

		row[0] = i;
		for (size_t j = 1; j <= b_length; j++) {
			row[j] = least(least(last[j], row[j - 1]) + 1,
				       last[j - 1] + (a[i - 1] != b[j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				row[j] = least(row[j], before[j - 2] + 1);
		}
		before = last;
		last = row;
		row = next;
	}
	return last[b_length];
}

struct nearest nearest_to(const char *wanted, size_t length)
{
	return (struct nearest){ .wanted = wanted, .length = length, .distance = length / 4 + 1 };
}

void nearest_offer(struct nearest *nearest, const char *name)
{
	size_t length = strlen(name), found;

	if (nearest->length < 2 || length > LENGTH_MAX || nearest->length > LENGTH_MAX)
		return;
	/* Each letter that one name has more is a difference. */
	if ((length > nearest->length ? length - nearest->length : nearest->length - length) >
	    nearest->distance)
		return;
	found = distance(nearest->wanted, nearest->length, name, length);
	if (found >= nearest->distance && (nearest->name || found > nearest->distance))
		return;
	nearest->distance = found;
	nearest->name = name;
}
