// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Values and order of groups and entries of counts files. */
#include <string.h>

#include "compare.h"
#include "format.h"

/* Unknown code comes last. An object with a build-id comes after those without. */
const char *counts_check_source(const struct ntrace_counts_source *source)
{
	if (source->part ? source->part <= source->parts : !source->parts)
		return NULL;
	return "the part of a source does not exist";
}

int counts_compare_objects(const struct ntrace_counts_object *a,
			   const struct ntrace_counts_object *b)
{
	int order;

	if (!a->name || !b->name)
		return !a->name - !b->name;
	if (a->build_id_size != b->build_id_size)
		return compare_numbers(a->build_id_size, b->build_id_size);
	if (a->build_id_size)
		return memcmp(a->build_id, b->build_id, a->build_id_size);
	order = strcmp(a->name, b->name);
	return order ? order : compare_numbers(a->contents, b->contents);
}

int counts_compare_entries(const struct ntrace_counts_entry *a, const struct ntrace_counts_entry *b)
{
	int order = compare_numbers(a->start, b->start);

	if (!order)
		order = compare_numbers(a->end, b->end);
	if (!order)
		order = compare_numbers(a->from, b->from);
	if (!order)
		order = compare_numbers(a->instructions, b->instructions);
	if (!order)
		order = a->from_class - b->from_class;
	if (!order)
		order = a->end_class - b->end_class;
	return order ? order : a->taken - b->taken;
}

int ntrace_counts_compare(const struct ntrace_counts_group *a_group,
			  const struct ntrace_counts_entry *a,
			  const struct ntrace_counts_group *b_group,
			  const struct ntrace_counts_entry *b)
{
	int order = counts_compare_objects(&a_group->object, &b_group->object);

	if (!order)
		order = counts_compare_objects(&a_group->from_object, &b_group->from_object);
	if (!order)
		order = compare_numbers(a_group->privilege, b_group->privilege);
	if (!order)
		order = strcmp(a_group->label, b_group->label);
	return order || !a || !b ? order : counts_compare_entries(a, b);
}

static const char *check_object(const struct ntrace_counts_object *object)
{
	if (!object->name)
		return object->build_id_size || object->text || object->contents ?
			       "an unknown object has a build-id or an address" :
			       NULL;
	if (!*object->name)
		return "an object has an empty name";
	if (strlen(object->name) > NTRACE_COUNTS_NAME_MAX)
		return "the name of an object is too long";
	if (object->build_id_size > NTRACE_BUILD_ID_MAX)
		return "a build-id is too long";
	if (object->build_id_size && object->contents)
		return "an object has both a build-id and a hash";
	return NULL;
}

const char *counts_check_group(const struct ntrace_counts_group *group)
{
	const char *reason = check_object(&group->object);

	if (!reason)
		reason = check_object(&group->from_object);
	if (reason)
		return reason;
	if (group->privilege > NTRACE_PRIV_VS)
		return "the privilege does not exist";
	if (strlen(group->label) > NTRACE_COUNTS_LABEL_MAX)
		return "the label is too long";
	return NULL;
}

const char *counts_check_entry(const struct ntrace_counts_group *group,
			       const struct ntrace_counts_entry *entry)
{
	if (!entry->count)
		return "a count is 0";
	if (entry->end < entry->start)
		return "a run ends before it begins";
	if (!entry->instructions && entry->end != entry->start)
		return "a run without instructions has a length";
	if (entry->from_class >= NTRACE_INSN_CLASS_COUNT ||
	    entry->end_class >= NTRACE_INSN_CLASS_COUNT)
		return "the class of an instruction does not exist";
	if (entry->reserved || group->reserved)
		return "reserved bytes are not 0";
	return NULL;
}

static void copy_object(struct ntrace_counts_object *copy, char *name, uint8_t *build_id,
			const struct ntrace_counts_object *object)
{
	*copy = *object;
	copy->build_id = build_id;
	if (object->build_id_size)
		memcpy(build_id, object->build_id, object->build_id_size);
	if (object->name) {
		memcpy(name, object->name, strlen(object->name) + 1);
		copy->name = name;
	}
}

void counts_copy_group(struct ntrace_counts_group *copy, struct counts_texts *texts,
		       const struct ntrace_counts_group *group)
{
	copy->privilege = group->privilege;
	copy->reserved = 0;
	copy_object(&copy->object, texts->name, texts->build_id, &group->object);
	copy_object(&copy->from_object, texts->from_name, texts->from_build_id,
		    &group->from_object);
	memcpy(texts->label, group->label, strlen(group->label) + 1);
	copy->label = texts->label;
}
