// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* A stream of a session as a source. */
#include <stdlib.h>

#include "source.h"

struct recorded {
	struct source source;
	struct session_stepper *stepper;
};

static struct session_stepper *stepper_of(const struct source *source)
{
	return ((const struct recorded *)source)->stepper;
}

static int next(struct source *source, bool again, bool *stamped)
{
	return session_stepper_next(stepper_of(source), again, stamped);
}

static uint64_t position(const struct source *source)
{
	return session_stepper_position(stepper_of(source));
}

static const struct ntrace_context *context(const struct source *source)
{
	return session_stepper_context(stepper_of(source));
}

static void *save(struct source *source, size_t *bytes)
{
	return session_stepper_save(stepper_of(source), bytes);
}

static int load(struct source *source, const void *state)
{
	return session_stepper_load(stepper_of(source), state);
}

static void drop(void *state)
{
	session_state_free(state);
}

static void free_source(struct source *source)
{
	session_stepper_free(stepper_of(source));
	free(source);
}

static const struct source_ops recorded_ops = {
	.next = next,
	.position = position,
	.context = context,
	.save = save,
	.load = load,
	.drop = drop,
	.free = free_source,
};

int source_of_session(struct source **source, struct ntrace_session *session, unsigned int stream,
		      const struct ntrace_decode_options *output)
{
	struct recorded *made = calloc(1, sizeof(*made));
	int result;

	if (!made)
		return NTRACE_ERR_NOMEM;
	made->source.ops = &recorded_ops;
	result = session_stepper_new(&made->stepper, session, stream, output);
	if (result) {
		free(made);
		return result;
	}
	made->source.dialect = ntrace_session_stream(session, stream)->params->dialect;
	*source = &made->source;
	return 0;
}
