// SPDX-License-Identifier: GPL-2.0-only
/* The program or library of an export that has one. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "common/command.h"
#include "common/ui.h"
#include "object.h"

/* Digits of a build-id, or of a hash, that tell two apart. */
#define DIGITS 16

static bool is_text(const char *text, const char *wanted, size_t length)
{
	return text && strlen(text) == length && !strncmp(text, wanted, length);
}

/* Whether the first @length bytes of @wanted are a name of the object. */
static bool has_name(const struct ntrace_object *object, const char *wanted, size_t length)
{
	return is_text(ntrace_object_name(object), wanted, length) ||
	       is_text(ntrace_object_short_name(object), wanted, length) ||
	       is_text(ntrace_object_path(object), wanted, length);
}

/* The build-id as digits, of which there is room for @size - 1; without one, the hash of the code. */
static const char *version_text(const struct ntrace_object *object, char *text, size_t size)
{
	size_t bytes;
	const uint8_t *id = ntrace_object_build_id(object, &bytes);

	*text = '\0';
	if (!bytes && ntrace_object_code_hash(object))
		snprintf(text, size, "%016" PRIx64, ntrace_object_code_hash(object));
	for (size_t i = 0; id && i < bytes && 2 * i + 2 < size; i++)
		snprintf(text + 2 * i, 3, "%02x", id[i]);
	return text;
}

static bool is_wanted(const struct ntrace_object *object, const char *binary)
{
	const char *at = strrchr(binary, '@');
	char text[2 * 64 + 1];

	if (has_name(object, binary, strlen(binary)))
		return true;
	return at && at[1] && has_name(object, binary, (size_t)(at - binary)) &&
	       !strncasecmp(version_text(object, text, sizeof(text)), at + 1, strlen(at + 1));
}

/* The objects that @binary names, all if it is NULL, with what tells those of one name apart. */
static void list_objects(const struct ntrace_profile_object *objects, size_t count,
			 const char *binary)
{
	size_t listed = 0, left = 0;

	for (size_t i = 0; i < count; i++) {
		const struct ntrace_object *object = objects[i].object;
		const char *name = ntrace_object_name(object), *path = ntrace_object_path(object);
		char text[DIGITS + 1];
		size_t bytes;

		ntrace_object_build_id(object, &bytes);
		if (binary && !is_wanted(object, binary))
			continue;
		if (listed == 20)
			left++;
		else if (binary && path && !bytes)
			ui_printf(stderr, "  %s\n", path);
		else if (binary && *version_text(object, text, sizeof(text)))
			ui_printf(stderr, "  %s@%s\n", name, text);
		else
			ui_printf(stderr, "  %s\n", name);
		listed += !left;
	}
	if (left)
		fprintf(stderr, "  and %zu more\n", left);
}

struct ntrace_object *export_choose_object(const struct ntrace_profile_object *objects,
					   size_t count, const char *binary, const char *path)
{
	struct ntrace_object *found = NULL;

	if (!binary)
		return objects[0].object;
	for (size_t i = 0; i < count; i++) {
		if (!is_wanted(objects[i].object, binary))
			continue;
		if (found) {
			fail("option --binary: '%s' is ambiguous:", binary);
			list_objects(objects, count, binary);
			return NULL;
		}
		found = objects[i].object;
	}
	if (!found) {
		fail("%s: no code of '%s' was executed; executed objects:", path, binary);
		list_objects(objects, count, NULL);
	}
	return found;
}
