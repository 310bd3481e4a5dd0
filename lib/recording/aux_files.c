// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Extracts the trace of AUXTRACE records to unnamed temporary files. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <linux/perf_event.h>

#include "aux_import.h"
#include "output/unfinished.h"
#include "recording.h"

/* MSEO 2 is reserved: the reader reports an error and resumes after the next message end. */
#define BREAK 0x02
#define MESSAGE_END 0x03

FILE *recording_open_nameless(void)
{
	const char *directory = getenv("TMPDIR");

	return unfinished_nameless(directory && *directory ? directory : "/tmp");
}

static int get_file(struct aux_area *area, unsigned int source, struct aux_file **file)
{
	struct aux_file *files;
	size_t i;

	for (i = 0; i < area->file_count; i++) {
		*file = &area->files[i];
		if ((*file)->source == source)
			return 0;
	}
	files = realloc(area->files, (area->file_count + 1) * sizeof(*files));
	if (!files)
		return NTRACE_ERR_NOMEM;
	area->files = files;
	*file = &files[area->file_count];
	**file = (struct aux_file){ .source = source };
	(*file)->at = calloc(area->mark_count + 1, sizeof(*(*file)->at));
	if (!(*file)->at)
		return NTRACE_ERR_NOMEM;
	(*file)->file = recording_open_nameless();
	if (!(*file)->file) {
		free((*file)->at);
		return NTRACE_ERR_IO;
	}
	area->file_count++;
	return 0;
}

static int put_bytes(struct aux_file *file, const void *bytes, size_t size)
{
	if (fwrite(bytes, 1, size, file->file) != size)
		return NTRACE_ERR_IO;
	file->bytes += size;
	return 0;
}

/* Marks missing trace. @whole: a message starts after it; else one may continue there. */
static int put_break(struct aux_area *area, bool whole)
{
	static const uint8_t bytes[] = { BREAK, MESSAGE_END };
	size_t i;
	int error = 0;

	for (i = 0; i < area->file_count && !error; i++)
		error = put_bytes(&area->files[i], bytes, whole ? 2 : 1);
	return error;
}

/* ---- whole sinks ---- */

/*
 * gtrace and rvtrace copy a sink when the event stops: what was written since the last copy, or all of it
 * if the sink has wrapped. The oldest bytes may then be some that the last copies had handed over:
 *
 *     handed over before:   .... a b c d
 *     the whole sink:              c d e f g h	   c d is left out
 *
 * How much was lost between d and e is not known, and no message needs to begin at e.
 */

/* Length of the longest begin of @bytes that is an end of @before. @borders: room for @size numbers. */
static size_t find_overlap(const uint8_t *before, size_t before_size, const uint8_t *bytes,
			   size_t size, uint32_t *borders)
{
	size_t length = 0, i;

	/* Knuth, Morris and Pratt: borders[i] is that of the first i + 1 bytes. */
	borders[0] = 0;
	for (i = 1; i < size; i++) {
		while (length && bytes[i] != bytes[length])
			length = borders[length - 1];
		length += bytes[i] == bytes[length];
		borders[i] = (uint32_t)length;
	}
	length = 0;
	for (i = 0; i < before_size; i++) {
		if (length == size)
			length = borders[length - 1];
		while (length && before[i] != bytes[length])
			length = borders[length - 1];
		length += before[i] == bytes[length];
	}
	return length;
}

/* Reads the last @size bytes before @end of a file. */
static int read_back(const struct aux_file *file, uint64_t end, uint8_t *bytes, size_t size)
{
	ssize_t got = pread(fileno(file->file), bytes, size, (off_t)(end - size));

	return got == (ssize_t)size ? 0 : NTRACE_ERR_IO;
}

/* Takes back what the copy of a sink, from area->ring_at to the end, repeats of the bytes before it. */
static int cut_ring(struct aux_area *area, struct aux_file *file)
{
	size_t size = file->bytes - area->ring_at;
	size_t before_size = area->before_ring < size ? area->before_ring : size, old = 0;
	uint8_t *bytes = malloc(before_size + size + 1);
	uint32_t *borders = malloc((size + 1) * sizeof(*borders));
	int error = bytes && borders ? 0 : NTRACE_ERR_NOMEM;

	if (!error && fflush(file->file))
		error = NTRACE_ERR_IO;
	if (!error)
		error = read_back(file, area->before_ring, bytes, before_size);
	if (!error)
		error = read_back(file, file->bytes, bytes + before_size, size);
	if (!error && size)
		old = find_overlap(bytes, before_size, bytes + before_size, size, borders);
	if (old) {
		file->bytes = area->ring_at;
		if (fseeko(file->file, (off_t)file->bytes, SEEK_SET) ||
		    ftruncate(fileno(file->file), (off_t)file->bytes))
			error = NTRACE_ERR_IO;
		if (!error)
			error = put_bytes(file, bytes + before_size + old, size - old);
		area->old += old;
	}
	free(borders);
	free(bytes);
	return error;
}

/* ---- marks ---- */

static int pass_mark(struct aux_area *area, const struct aux_mark *mark)
{
	int error = 0;
	size_t i;

	/* Only plain bytes, which are one file, have these. */
	if (area->in_ring && area->file_count)
		error = cut_ring(area, area->files);
	area->in_ring = false;
	for (i = 0; i < area->file_count; i++)
		area->files[i].at[area->next_mark] = area->files[i].bytes;
	if (mark->lossy && !error)
		error = put_break(area, true);
	if (mark->ring && area->file_count && !error) {
		area->before_ring = area->files[0].bytes;
		error = put_break(area, false);
		area->ring_at = area->files[0].bytes;
		area->in_ring = true;
	}
	return error;
}

/* Sets the marks up to @position to the current positions of the files. */
static int pass_marks(struct aux_area *area, uint64_t position)
{
	int error = 0;

	for (; area->next_mark < area->mark_count && !error; area->next_mark++) {
		const struct aux_mark *mark = &area->marks[area->next_mark];

		if (mark->position > position)
			break;
		error = pass_mark(area, mark);
	}
	return error;
}

static int put_plain(struct aux_area *area, const uint8_t *bytes, uint64_t size, uint64_t position)
{
	struct aux_file *file;
	int error = get_file(area, 0, &file);

	while (size && !error) {
		uint64_t part = size;

		error = pass_marks(area, position);
		if (!error && area->next_mark < area->mark_count &&
		    area->marks[area->next_mark].position - position < part)
			part = area->marks[area->next_mark].position - position;
		if (!error && (!area->next_mark || !area->marks[area->next_mark - 1].left_out))
			error = put_bytes(file, bytes, part);
		bytes += part;
		position += part;
		size -= part;
	}
	return error;
}

static int put_piece(struct aux_area *area, const struct ntrace_frames_piece *piece)
{
	struct aux_file *file;
	int error = get_file(area, piece->source, &file);

	return error ? error : put_bytes(file, piece->bytes, piece->size);
}

/*
 * After a truncated frame or a barrier, which drivers write over lost trace, a source may continue
 * inside a message.
 */
static int put_hole(struct aux_area *area)
{
	area->holes++;
	return put_break(area, false);
}

static int put_frames(struct aux_area *area, const uint8_t *bytes, uint64_t size)
{
	struct ntrace_frames_piece piece;
	int event, error = 0;

	ntrace_frames_feed(&area->frames, bytes, size);
	while (!error && (event = ntrace_frames_next(&area->frames, &piece)) >= 0) {
		error = pass_marks(area, area->payload + piece.offset);
		if (error)
			break;
		if (event == NTRACE_FRAMES_BYTES)
			error = put_piece(area, &piece);
		else if (event == NTRACE_FRAMES_BARRIER || event == NTRACE_FRAMES_CUT)
			error = put_hole(area);
	}
	return error;
}

/* Missing bytes are marked in the files. */
static int begin_payload(struct aux_area *area, uint64_t offset)
{
	int error = 0;

	if (area->begun && offset > area->end) {
		area->holes++;
		area->lost += offset - area->end;
		error = pass_marks(area, area->end);
		ntrace_frames_break(&area->frames);
		if (!error)
			error = put_break(area, false);
	}
	if (!area->begun)
		area->first = offset;
	/* The frame reader counts from the start of its input. */
	area->payload = offset - area->frames.offset;
	area->begun = true;
	return error;
}

static struct aux_area *find_area(struct aux_areas *areas, uint32_t index)
{
	size_t i;

	for (i = 0; i < areas->count; i++)
		if (areas->items[i].about.index == index)
			return &areas->items[i];
	return NULL;
}

static int put_trace(const struct aux_areas *areas, struct aux_area *area, const uint8_t *bytes,
		     uint64_t size, uint64_t position)
{
	if (areas->info.layout == AUX_SPACEMIT)
		return put_frames(area, bytes, size);
	return put_plain(area, bytes, size, position);
}

/*
 * perf pads the payload of each record, and its size contains the padding. The trace ends where the
 * next payload begins, or where the last AUX record ends: @end is that place.
 */
static int put_held(const struct aux_areas *areas, struct aux_area *area, uint64_t end)
{
	unsigned int size = area->held_size;

	if (end < area->end && area->end - end <= size) {
		size -= (unsigned int)(area->end - end);
		area->end = end;
	}
	area->held_size = 0;
	return size ? put_trace(areas, area, area->held, size, area->end - size) : 0;
}

/* Overlapping bytes are read once. */
static int take_payload(void *data, const struct ntrace_perf_record *record)
{
	struct aux_areas *areas = data;
	struct ntrace_perf_auxtrace about;
	const uint8_t *bytes = record->payload;
	uint64_t size = record->payload_size, twice;
	struct aux_area *area;
	int error;

	if (ntrace_perf_file_auxtrace(record, &about) || !size)
		return 0;
	area = find_area(areas, about.index);
	if (!area)
		return 0;
	twice = area->begun && about.offset < area->end ? area->end - about.offset : 0;
	if (about.offset + size < size || twice >= size) {
		areas->damaged++;
		return 0;
	}
	/* Padding, which put_held() leaves out. */
	if (twice <= area->held_size)
		twice = 0;
	error = put_held(areas, area, about.offset);
	if (!error)
		error = begin_payload(area, about.offset + twice);
	bytes += twice;
	size -= twice;
	area->end = about.offset + twice + size;
	area->held_size = size < AUX_PADDING_MAX ? (unsigned int)size : AUX_PADDING_MAX;
	size -= area->held_size;
	memcpy(area->held, bytes + size, area->held_size);
	return error || !size ? error : put_trace(areas, area, bytes, size, about.offset + twice);
}

static int finish(const struct aux_areas *areas, struct aux_area *area)
{
	uint64_t last = area->mark_count ? area->marks[area->mark_count - 1].position : area->end;
	int error = put_held(areas, area, last);
	size_t i;

	if (!error)
		error = pass_marks(area, UINT64_MAX);
	for (i = 0; i < area->file_count && !error; i++)
		if (fflush(area->files[i].file))
			error = NTRACE_ERR_IO;
	return error;
}

static int compare_marks(const void *left, const void *right)
{
	const struct aux_mark *a = left, *b = right;

	return a->position < b->position ? -1 : a->position > b->position;
}

bool aux_area_has(const struct aux_area *area, const struct piece *piece)
{
	return area->about.cpu == NTRACE_SIDEBAND_NO_CPU ? piece->tid == area->about.tid :
							   piece->cpu == area->about.cpu;
}

/* Adds the marks of a piece. */
static void add_marks(struct aux_area *area, const struct aux_info *info, const struct piece *piece)
{
	static const uint32_t flags[] = { PERF_AUX_FLAG_TRUNCATED, PERF_AUX_FLAG_PARTIAL,
					  PERF_AUX_FLAG_COLLISION };
	bool left_out = piece->size && !aux_format_is_read(info, piece);
	bool ring = info->layout == AUX_RVTRACE && piece->size == AUX_RING_SIZE && !left_out;
	bool lossy = left_out;
	size_t flag;

	for (flag = 0; flag < sizeof(flags) / sizeof(flags[0]); flag++) {
		if (!(piece->flags & flags[flag]))
			continue;
		area->flagged[flag]++;
		lossy = true;
	}
	area->foreign += left_out;
	area->rings += ring;
	area->marks[area->mark_count++] = (struct aux_mark){
		.position = piece->offset,
		.left_out = left_out,
		.ring = ring,
	};
	area->marks[area->mark_count++] = (struct aux_mark){
		.position = piece->offset + piece->size,
		.lossy = lossy,
	};
}

static void leave_out_last(struct aux_area *area)
{
	struct aux_mark *last;

	if (!area->mark_count)
		return;
	last = &area->marks[area->mark_count - 2];
	if (last[0].left_out || last[0].position == last[1].position)
		return;
	last[0].left_out = true;
	last[1].lossy = true;
	area->rings -= last[0].ring;
	last[0].ring = false;
	area->foreign++;
}

static int make_marks(struct aux_area *area, const struct aux_info *info,
		      const struct machine *machine)
{
	size_t kept = 0, i;

	area->marks = calloc(2 * machine->piece_count + 1, sizeof(*area->marks));
	if (!area->marks)
		return NTRACE_ERR_NOMEM;
	for (i = 0; i < machine->piece_count; i++) {
		if (!aux_area_has(area, &machine->pieces[i]))
			continue;
		/* gtrace copies more than there is room for over the piece before. */
		if (machine->pieces[i].flags & PERF_AUX_FLAG_TRUNCATED && aux_is_gtrace(info))
			leave_out_last(area);
		add_marks(area, info, &machine->pieces[i]);
	}
	qsort(area->marks, area->mark_count, sizeof(*area->marks), compare_marks);
	for (i = 1; i < area->mark_count; i++) {
		struct aux_mark *mark = &area->marks[kept];

		if (mark->position == area->marks[i].position) {
			mark->lossy |= area->marks[i].lossy;
			mark->left_out |= area->marks[i].left_out;
			mark->ring |= area->marks[i].ring;
		} else {
			area->marks[++kept] = area->marks[i];
		}
	}
	area->mark_count = area->mark_count ? kept + 1 : 0;
	return 0;
}

int aux_files_write(struct aux_areas *areas)
{
	int error = 0;
	size_t i;

	for (i = 0; i < areas->count && !error; i++) {
		struct aux_area *area = &areas->items[i];

		ntrace_frames_init(&area->frames);
		error = make_marks(area, &areas->info, areas->machine);
	}
	if (!error)
		error = ntrace_perf_file_records(areas->machine->file, take_payload, areas);
	if (error == NTRACE_ERR_TRUNCATED)
		error = 0;
	for (i = 0; i < areas->count && !error; i++)
		error = finish(areas, &areas->items[i]);
	return error;
}
