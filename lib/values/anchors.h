/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* What the sideband tells about the values of a thread: registers, and which memory others may write. */
#ifndef NTRACE_VALUES_ANCHORS_H
#define NTRACE_VALUES_ANCHORS_H

#include <ntrace/perf.h>
#include <ntrace/session.h>
#include <ntrace/values.h>

/**
 * struct content - memory where the kernel returned to user code
 * @time: time of the sample, in ns
 * @of: the call, and where the memory is
 * @bytes: in the sideband file
 */
struct content {
	uint64_t time;
	struct ntrace_values_content of;
	const uint8_t *bytes;
};

/**
 * struct anchor - registers of the thread where the kernel returned to user code
 * @time: time of the sample, in ns
 * @registers: pc and x1 to x31, in the sideband file
 * @stack: after exec(): bytes from sp on, in the sideband file
 * @exec: the thread has begun a new program
 * @began: with @exec: time of its first record
 * @content, @contents: memory that the call has written, part of @content of struct anchors
 */
struct anchor {
	uint64_t time;
	const uint8_t *registers;
	const uint8_t *stack;
	size_t stack_size;
	bool exec;
	uint64_t began;
	size_t content, contents;
};

/**
 * struct mapping - private memory of the process
 * @of: the record that tells of it, of a file or "//anon", "[heap]" and so on
 * @last: its last address
 */
struct mapping {
	struct ntrace_sideband of;
	uint64_t last;
};

struct shared_range {
	uint64_t first;
	uint64_t last;
};

/**
 * struct anchors - all of a thread
 * @anchor: in the order of their times
 * @content, @mapping: the same
 * @shared: memory that others may write, at any time of the recording, of any process, since children have it; in order, apart from each other
 * @uncertain: so is all memory that can be written
 * @born: the sideband has the beginning of the thread
 * @inherited: the sideband has all mappings that the process had when it began; else only those since exec()
 */
struct anchors {
	struct anchor *anchor;
	size_t count, room;
	struct shared_range *shared;
	size_t shares, share_room;
	struct content *content;
	size_t contents, content_room;
	struct mapping *mapping;
	size_t mappings, mapping_room;
	bool uncertain;
	bool born;
	bool inherited;
};

/** anchors_read - Return: 0, NTRACE_ERR_UNSUPPORTED: the recording has no sideband, NTRACE_ERR_NOMEM */
int anchors_read(struct anchors *anchors, const struct ntrace_session *session, int32_t pid,
		 int32_t tid);
void anchors_free(struct anchors *anchors);

/** anchors_share - others may write this memory. Return: 0 or NTRACE_ERR_NOMEM */
int anchors_share(struct anchors *anchors, uint64_t first, uint64_t last);

/** anchors_shares - whether they may write all of a range */
bool anchors_shares(const struct anchors *anchors, uint64_t first, uint64_t last);

/** anchor_register - pc with @number 0, else x@number */
uint64_t anchor_register(const struct anchor *anchor, unsigned int number);

/** anchors_content - read the raw data of a sample. Return: false: it is no content */
bool anchors_content(struct content *content, const uint8_t *raw, size_t size);

/**
 * anchors_pair - give each anchor the contents after it, up to the next one
 *
 * A content that is of another call than the anchor before it shows that this order is not that of this recording:
 * then no anchor gets one.
 */
void anchors_pair(struct anchors *anchors);

/** anchors_event - the event of the anchors. Return: false: the recording has none */
bool anchors_event(const struct ntrace_perf_file *file);

#endif
