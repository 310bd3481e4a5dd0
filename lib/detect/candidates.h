/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Candidates of one stream. */
#ifndef NTRACE_DETECT_PARTS_CANDIDATES_H
#define NTRACE_DETECT_PARTS_CANDIDATES_H

#include "detect.h"

/* Address settings for each width of SRC. */
#define SETTINGS_MAX (4 + 2 * WIDTHS_MAX)
#define CANDIDATES_MAX ((NTRACE_SRC_BITS_MAX + 1) * SETTINGS_MAX)

/**
 * struct judged - a stream with the score of each width of SRC
 * @score: score by width
 * @best: the width that fits best
 * @share: thousandths of the bytes that are sound messages or idle with @best
 */
struct judged {
	struct detect_stream stream;
	struct detect_score score[NTRACE_SRC_BITS_MAX + 1];
	unsigned int best;
	unsigned int share;
	bool trace;
};

struct candidates {
	unsigned int count;
	struct ntrace_detect_candidate candidate[CANDIDATES_MAX];
};

/**
 * candidates_make - the sets of parameters that fit a stream equally well
 * @candidates: filled in, the simplest candidate first
 *
 * Return: 0 or NTRACE_ERR_...
 */
int candidates_make(const struct ntrace_detect_config *config, const struct judged *judged,
		    struct candidates *candidates);

#endif /* NTRACE_DETECT_PARTS_CANDIDATES_H */
