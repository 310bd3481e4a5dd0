// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Whether a core dump is of the end of a recording: by its process, the last instruction, and the build-ids of files. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "build_id.h"
#include "infer.h"
#include "values.h"

const char *core_refusal(const struct core_thread *thread, const struct survey *survey)
{
	if (!survey->instructions)
		return "the recording has no user code of it";
	if (survey->lost || !survey->next_known)
		return "the end of its trace is lost";
	if (thread->x[0] == survey->next || (survey->at_call && thread->x[0] == survey->next + 4))
		return NULL;
	return "it goes on elsewhere in the recording";
}

/* A file that the recording has at an address, too, and with another build-id. */
static const char *find_other_build(const struct ntrace_core *core,
				    const struct ntrace_space *space)
{
	for (size_t i = 0; i < core->mappings; i++) {
		const struct core_mapping *mapping = &core->mapping[i];
		struct ntrace_location at = { 0 };
		size_t size, own_size;
		const uint8_t *id = core_build_id(core, mapping, &size), *own;

		for (size_t k = i; id && !at.object && k < core->mappings; k++)
			if (!strcmp(core->mapping[k].name, mapping->name))
				ntrace_space_locate(space, core->mapping[k].first, &at);
		own = at.object ? ntrace_object_build_id(at.object, &own_size) : NULL;
		if (!own || !own_size)
			continue;
		size = size < own_size ? size : own_size;
		if (memcmp(id, own, size < BUILD_ID_ROOM ? size : BUILD_ID_ROOM))
			return mapping->name;
	}
	return NULL;
}

/* The last user code of a thread, where the cursor is then. */
static const struct ntrace_space *find_end(struct ntrace_cursor *cursor)
{
	int error = ntrace_cursor_last(cursor);

	while (!error && !values_is_user(ntrace_cursor_place(cursor)))
		error = ntrace_cursor_prev(cursor);
	return error ? NULL : ntrace_cursor_place(cursor)->flow->space;
}

int ntrace_core_check(const struct ntrace_core *core, struct ntrace_session *session, char *reason,
		      size_t size)
{
	const struct core_thread *thread = &core->thread[0];
	const struct anchors none = { 0 };
	struct ntrace_cursor_config config;
	struct ntrace_cursor *cursor;
	struct survey survey = { 0 };
	const struct ntrace_space *space;
	const char *refusal = NULL;
	int error;

	snprintf(reason, size, "%s", "");
	ntrace_cursor_config_init(&config);
	config.step = NTRACE_CURSOR_BLOCKS;
	config.session = session;
	config.tid = thread->tid;
	if (core->pid >= 0)
		config.pid = core->pid;
	error = ntrace_cursor_new(&cursor, &config);
	if (error)
		return error;
	error = survey_thread(&survey, cursor, &none);
	if (!error)
		refusal = core_refusal(thread, &survey);
	if (refusal)
		snprintf(reason, size,
			 "the core dump is not of this recording: thread %" PRId32
			 " of process %" PRId32 ": %s",
			 thread->tid, core->pid, refusal);
	space = error || refusal ? NULL : find_end(cursor);
	refusal = space ? find_other_build(core, space) : NULL;
	if (refusal)
		snprintf(reason, size,
			 "the core dump is not of this recording: it has another build of %s",
			 refusal);
	survey_free(&survey);
	ntrace_cursor_free(cursor);
	return error ? error : *reason != 0;
}
