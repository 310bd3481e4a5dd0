// SPDX-License-Identifier: GPL-2.0-only
/* Breakpoints and watchpoints of history.h in a replay: the groups tell both. */
#include "history.h"

static bool stores(const struct ntrace_tandem_state *state, const struct history_search *search,
		   uint64_t *address)
{
	uint64_t at, last;
	unsigned int bytes = replay_store(state, &at);

	last = at + bytes - 1;
	for (size_t i = 0; bytes && i < search->watches; i++)
		if (at <= search->watch[i].last && last >= search->watch[i].first) {
			*address = at > search->watch[i].first ? at : search->watch[i].first;
			return true;
		}
	return false;
}

bool history_stores_in_replay(const struct history *history, const struct history_place *place,
			      bool back, const struct history_search *search, uint64_t *address)
{
	uint64_t group = place->first + !back;

	return search->watches && group && group < replay_groups(history->replay) &&
	       stores(replay_state(history->replay, group), search, address);
}

/* @end: the place where the search began; @found: the last place found, if @hit. */
struct replay_search {
	const struct history_search *search;
	uint64_t end, found;
	bool back, hit;
};

static bool search_group(void *user, uint64_t number, const struct ntrace_tandem_state *state)
{
	struct replay_search *at = user;
	uint64_t address;
	bool stored = at->search->watches && (!at->back || number > at->search->limit) &&
		      stores(state, at->search, &address);

	if (stored || ((!at->back || (number < at->end && number >= at->search->limit)) &&
		       history_has(at->search, state->reg[NTRACE_TANDEM_PC]))) {
		at->found = number - (stored && !at->back);
		at->hit = true;
	}
	return at->back || !at->hit;
}

/* Backwards, the trace is walked part by part, each of them forwards. */
bool history_find_in_replay(const struct history *history, struct history_place *place, bool back,
			    const struct history_search *search)
{
	struct replay_search at = { .search = search, .end = place->first, .back = back };
	uint64_t from = place->first + 1, to = place->first;

	if (!back && from <= search->limit)
		replay_walk(history->replay, from, search->limit, search_group, &at);
	for (; back && !at.hit && to >= search->limit; to = from - 1) {
		from = replay_part(history->replay, to);
		replay_walk(history->replay, from, to, search_group, &at);
		if (!from)
			break;
	}
	place->first = at.hit ? at.found : search->limit;
	return at.hit;
}
