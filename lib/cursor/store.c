// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* What the cursors of one session, or of one raw stream, share. */
#include <stdlib.h>
#include <string.h>

#include "grow.h"
#include "lane.h"
#include "session/session.h"

static int new_store(struct store **store, struct ntrace_session *session, uint32_t window_items)
{
	unsigned int lanes = ntrace_session_streams(session);
	struct store *made = calloc(1, sizeof(*made));

	if (!made)
		return NTRACE_ERR_NOMEM;
	made->session = session;
	made->lane_count = lanes;
	made->window_items = window_items ? window_items : WINDOW_DEFAULT;
	made->lanes = calloc(lanes, sizeof(*made->lanes));
	if (!made->lanes) {
		free(made);
		return NTRACE_ERR_NOMEM;
	}
	*store = made;
	return 0;
}

static void detach(void *attached)
{
	store_free(attached);
}

int store_of_session(struct store **store, struct ntrace_session *session, uint32_t window_items)
{
	int error;

	*store = session->attached;
	if (*store)
		return 0;
	if (!ntrace_session_streams(session))
		return NTRACE_ERR_INVALID;
	error = new_store(store, session, window_items);
	if (error)
		return error;
	session->attached = *store;
	session->detach = detach;
	return 0;
}

int store_of_bytes(struct store **store, const struct ntrace_cursor_config *config)
{
	struct ntrace_session *session;
	int error = session_of_code(&session, config->params, config->src, config->space);

	if (error)
		return error;
	error = new_store(store, session, config->window);
	if (error) {
		ntrace_session_close(session);
		return error;
	}
	(*store)->raw = true;
	(*store)->bytes = (struct raw_bytes){ .data = config->data,
					      .size = config->data_size,
					      .fd = config->fd,
					      .cut = config->cut };
	return 0;
}

void store_free(struct store *store)
{
	size_t i;

	if (!store)
		return;
	for (i = 0; i < WINDOWS_KEPT; i++)
		window_put(store->windows[i]);
	for (i = 0; i < store->lane_count; i++)
		lane_free(store->lanes[i]);
	snapshots_free(&store->snapshots);
	for (i = 0; i < store->name_count; i++)
		free(store->names[i]);
	free(store->names);
	free(store->threads);
	free(store->order);
	free(store->lanes);
	if (store->raw)
		ntrace_session_close(store->session);
	free(store);
}

int store_lane(struct store *store, unsigned int index, struct lane **lane)
{
	struct lane *made;
	int error;

	if (index >= store->lane_count)
		return NTRACE_ERR_INVALID;
	*lane = store->lanes[index];
	if (*lane)
		return 0;
	error = lane_new(&made, store, index);
	if (error)
		return error;
	error = source_new(&made->source, store->session, index, store->raw ? &store->bytes : NULL,
			   &(struct ntrace_decode_options){ .event = lane_take_event,
							    .segment = lane_take_blocks,
							    .data = made });
	if (error) {
		lane_free(made);
		return error;
	}
	store->lanes[index] = made;
	*lane = made;
	return 0;
}

const char *store_name(struct store *store, const char *name)
{
	char *copy;

	/* A recording has few names, and changes of names are rare. */
	for (size_t i = store->name_count; i--;) {
		if (!strcmp(store->names[i], name))
			return store->names[i];
	}
	if (grow((void **)&store->names, store->name_count, &store->name_room,
		 sizeof(*store->names)))
		return NULL;
	copy = strdup(name);
	if (copy)
		store->names[store->name_count++] = copy;
	return copy;
}

void store_keep(struct store *store, struct window *window)
{
	struct window **oldest = &store->windows[0];

	for (size_t i = 0; i < WINDOWS_KEPT && *oldest; i++) {
		if (!store->windows[i] || store->windows[i]->used < (*oldest)->used)
			oldest = &store->windows[i];
	}
	window_put(*oldest);
	*oldest = window;
	window->used = ++store->clock;
}

struct window *store_find(struct store *store, const struct lane *lane, uint64_t number)
{
	for (size_t i = 0; i < WINDOWS_KEPT; i++) {
		struct window *window = store->windows[i];

		if (window && window->lane == lane && number >= window->first &&
		    number < window_end(window)) {
			window->used = ++store->clock;
			return window;
		}
	}
	return NULL;
}
