/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Writing profile.proto, for call stacks and for counts. */
#ifndef NTRACE_EXPORT_PPROF_H
#define NTRACE_EXPORT_PPROF_H

#include <stdio.h>
#include <zlib.h>

#include <ntrace/image.h>

#include "protobuf.h"

/* Field numbers of profile.proto. */
enum {
	PROFILE_SAMPLE_TYPE = 1,
	PROFILE_SAMPLE,
	PROFILE_MAPPING,
	PROFILE_LOCATION,
	PROFILE_FUNCTION,
	PROFILE_STRING,
	PROFILE_COMMENT = 13,
	PROFILE_DEFAULT_TYPE
};
enum { TYPE_TYPE = 1, TYPE_UNIT };
enum { SAMPLE_LOCATION = 1, SAMPLE_VALUE, SAMPLE_LABEL };
enum { LABEL_KEY = 1, LABEL_TEXT };
enum {
	MAPPING_ID = 1,
	MAPPING_START,
	MAPPING_LIMIT,
	MAPPING_FILE = 5,
	MAPPING_BUILD_ID,
	MAPPING_HAS_FUNCTIONS
};
enum { LOCATION_ID = 1, LOCATION_MAPPING, LOCATION_ADDRESS, LOCATION_LINE };
enum { LINE_FUNCTION = 1 };
enum { FUNCTION_ID = 1, FUNCTION_NAME, FUNCTION_SYSTEM_NAME, FUNCTION_FILE };

/*
 * @whole: the profile so far, emptied into @gzip from time to time
 * @part: the next message
 * @inner: a message in it
 * @error: NTRACE_ERR_NOMEM, or 0
 */
struct pprof_file {
	FILE *file;
	struct protobuf whole;
	struct protobuf part;
	struct protobuf inner;
	z_stream gzip;
	int error;
};

/* Return: 0 or NTRACE_ERR_NOMEM; then pprof_end() must not be called. */
int pprof_begin(struct pprof_file *pprof, FILE *file);

/* Completes the file and frees everything. Return: 0 or NTRACE_ERR_NOMEM. */
int pprof_end(struct pprof_file *pprof);

/* Adds @part as a field of the profile, and empties @part. */
void pprof_put(struct pprof_file *pprof, unsigned int field);

/* Adds a string of the table; the first has number 0. */
void pprof_put_text(struct pprof_file *pprof, const char *text);

/* Adds a mapping. @text: number of the string with its name; its build-id is the next one. */
void pprof_put_mapping(struct pprof_file *pprof, uint32_t number,
		       const struct ntrace_object *object, uint64_t text);

/* Adds the two strings of a mapping. */
void pprof_put_object_texts(struct pprof_file *pprof, const struct ntrace_object *object);

#endif
