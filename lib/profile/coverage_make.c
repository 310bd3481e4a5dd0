// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* The coverage of a whole profile. */
#include <ntrace/coverage.h>

#include "struct_size.h"

static int add_objects(struct ntrace_coverage *coverage, struct ntrace_profile *profile,
		       const struct ntrace_coverage_options *options)
{
	const struct ntrace_profile_object *objects;
	size_t count, i;
	int error;

	objects = ntrace_profile_objects(profile, &count);
	for (i = 0; i < count; i++) {
		if ((options->object && options->object != objects[i].object) ||
		    !objects[i].instructions)
			continue;
		error = ntrace_coverage_add(coverage, profile, objects[i].object,
					    options->directories);
		if (error == NTRACE_ERR_NOMEM)
			return error;
		if (error && options->without)
			options->without(options->data, &objects[i], error);
	}
	return ntrace_coverage_end(coverage);
}

int ntrace_coverage_make(struct ntrace_coverage **coverage, struct ntrace_profile *profile,
			 const struct ntrace_coverage_options *options)
{
	struct ntrace_coverage_options wanted = { 0 };
	struct ntrace_coverage *made;
	int error;

	if (options && STRUCT_TAKE(&wanted, options))
		return NTRACE_ERR_INVALID;
	made = ntrace_coverage_new();
	if (!made)
		return NTRACE_ERR_NOMEM;
	error = add_objects(made, profile, &wanted);
	if (error)
		ntrace_coverage_free(made);
	else
		*coverage = made;
	return error;
}
