// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>

#include "pieces.h"

static bool same(const struct piece_insn *decoded, uint64_t address, uint8_t size)
{
	return decoded->address == address && decoded->size == size;
}

/*
 * The failure function of Knuth, Morris and Pratt: after a mismatch at n, how many instructions
 * still match.
 */
static uint32_t *make_borders(const struct piece_insn *insns, uint32_t count)
{
	uint32_t *border = malloc((count + 1ull) * sizeof(*border)), k = 0;

	if (!border)
		return NULL;
	border[0] = border[1] = 0;
	for (uint32_t i = 1; i < count; i++) {
		while (k && !same(&insns[k], insns[i].address, insns[i].size))
			k = border[k];
		if (same(&insns[k], insns[i].address, insns[i].size))
			k++;
		border[i + 1] = k;
	}
	return border;
}

/*
 * Checks that trace and log have the same traps in the last @count instructions. As in match.c,
 * there is nothing to check after a privilege that is not traced.
 */
static const char *check_traps(const struct pieces *pieces, const struct oracle_insn *window,
			       const bool *left, uint32_t count)
{
	for (uint32_t i = 1; i < count; i++) {
		uint32_t at = (uint32_t)((pieces->read - count + i) % pieces->count);
		const struct piece_insn *decoded = &pieces->insns[i];
		const struct oracle_insn *logged = &window[at];

		if (left[at])
			continue;
		if (!decoded->trap != !logged->trap)
			return decoded->trap ? "the trace has a trap where the hart took none" :
					       "the hart took a trap that the trace does not have";
		if (decoded->trap && decoded->trap != 2 &&
		    (decoded->trap == 4) != logged->interrupt)
			return "interrupt and exception are mixed up";
	}
	return NULL;
}

static void count_traps(struct pieces *pieces, const struct oracle_insn *window, const bool *left,
			uint32_t count)
{
	struct match *match = pieces->match;

	for (uint32_t i = 1; i < count; i++) {
		uint32_t at = (uint32_t)((pieces->read - count + i) % pieces->count);
		const struct oracle_insn *logged = &window[at];

		if (left[at] || !pieces->insns[i].trap)
			continue;
		match->traps++;
		match->interrupts += logged->interrupt;
		match->causes[logged->interrupt][logged->cause % 32]++;
	}
}

static int differ(struct pieces *pieces, const char *why)
{
	struct match *match = pieces->match;

	match->why = why;
	for (uint32_t i = 0; i < pieces->count && i <= MATCH_CONTEXT; i++)
		match->wrong[match->wrong_count++] =
			(struct match_place){ pieces->insns[i].address, pieces->insns[i].size };
	return 1;
}

/* State of a search; window holds as many of the log's last instructions as the piece has. */
struct search {
	uint32_t *border;
	struct oracle_insn *window;
	bool *left;
	uint64_t end;		/* first position after the match; 0 = none */
	uint32_t agree;		/* instructions of the piece that the log ends with */
	const char *why;
};

/* A place with the same addresses and other traps is an earlier turn of the same code: the search goes on. */
static void look(struct pieces *pieces, struct search *search, bool last)
{
	struct match *match = pieces->match;
	struct oracle_insn insn;
	const char *why;
	uint32_t k = 0;
	/* At least one instruction is missing between two pieces; before the first, none may be. */
	bool missing = !match->compared;
	int result;

	while ((result = match_next(match, &insn)) == 1) {
		/*
		 * Nor may be one where the hart was in a privilege that is not traced: the trace
		 * stopped and started again there, and a loss between the two takes no instruction.
		 */
		if (!missing && !match->left_mask) {
			missing = true;
			pieces->read++;
			continue;
		}
		missing = true;
		search->window[pieces->read % pieces->count] = insn;
		search->left[pieces->read % pieces->count] = match->left_mask;
		match->left_mask = false;
		pieces->read++;
		while (k && !same(&pieces->insns[k], insn.address, insn.size))
			k = search->border[k];
		if (same(&pieces->insns[k], insn.address, insn.size))
			k++;
		if (k < pieces->count)
			continue;
		why = check_traps(pieces, search->window, search->left, k);
		if (!search->end)
			search->why = why;
		if (!why) {
			search->end = pieces->read;
			count_traps(pieces, search->window, search->left, k);
			if (!last)
				return;
		}
		k = search->border[k];
	}
	search->agree = k;
	if (result < 0)
		search->why = match->log->error;
	else if (!match->log->closed)
		search->why = "the log ends before the encoder was stopped";
}

/* The last piece must end where the log ends, with the exceptions that match.h allows for stops. */
static void judge_end(struct pieces *pieces, struct search *search)
{
	struct match *match = pieces->match;
	uint64_t left = pieces->read - search->end;
	bool remote = match->log->remote_stop;

	if (search->end && left <= (remote ? MATCH_END_MAX : 1)) {
		match->tail_log = (unsigned int)left;
		return;
	}
	if (remote && search->agree && pieces->count - search->agree <= MATCH_END_MAX) {
		search->end = pieces->read + pieces->count - search->agree;
		search->why = check_traps(pieces, search->window, search->left, search->agree);
		if (!search->why)
			count_traps(pieces, search->window, search->left, search->agree);
		match->tail_decoded = pieces->count - search->agree;
		return;
	}
	if (search->end)
		search->why = "the trace ends where the hart went on";
}

/* Finds the first match of the piece after the previous piece; if @last, the last match. */
static int place(struct pieces *pieces, bool last)
{
	struct search search = { .border = make_borders(pieces->insns, pieces->count),
				 .window = calloc(pieces->count, sizeof(*search.window)),
				 .left = calloc(pieces->count, sizeof(*search.left)) };
	struct match *match = pieces->match;
	uint64_t before = pieces->read, start = before;
	int result = 0;

	if (!search.border || !search.window || !search.left) {
		result = differ(pieces, "out of memory");
	} else {
		look(pieces, &search, last);
		if (last && !search.why)
			judge_end(pieces, &search);
		start = search.end - pieces->count;
		if (search.why)
			result = differ(pieces, search.why);
		else if (!search.end)
			result = differ(pieces, "what is decoded after a loss is not in the log");
	}
	if (!result) {
		match->compared += pieces->count;
		pieces->left_out += start - before;
		if (pieces->count > pieces->longest) {
			pieces->longest = pieces->count;
			pieces->longest_at = start + match->compared_before_losses;
		}
	}
	free(search.border);
	free(search.window);
	free(search.left);
	pieces->count = 0;
	pieces->trap = 0;
	return result;
}

int pieces_loss(struct pieces *pieces)
{
	if (!pieces->losses++) {
		match_settle(pieces->match);
		pieces->match->compared_before_losses = pieces->match->compared;
		return pieces->match->why != NULL;
	}
	return pieces->count ? place(pieces, false) : 0;
}

void pieces_trap(struct pieces *pieces, unsigned int btype)
{
	pieces->trap = (uint8_t)(btype + 1);
}

int pieces_insn(struct pieces *pieces, uint64_t address, unsigned int size)
{
	struct piece_insn *more;

	if (pieces->count == pieces->room) {
		pieces->room = pieces->room ? 2 * pieces->room : 1u << 16;
		more = realloc(pieces->insns, pieces->room * sizeof(*more));
		if (!more)
			return differ(pieces, "out of memory");
		pieces->insns = more;
	}
	pieces->insns[pieces->count++] =
		(struct piece_insn){ address, (uint8_t)size, pieces->trap };
	pieces->trap = 0;
	return 0;
}

int pieces_end(struct pieces *pieces)
{
	int result = 0;

	/* A recording may end with a loss. */
	if (!pieces->match->why && pieces->count)
		result = place(pieces, true);
	free(pieces->insns);
	pieces->insns = NULL;
	return result || pieces->match->why ? 1 : 0;
}
