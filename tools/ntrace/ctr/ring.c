// SPDX-License-Identifier: GPL-2.0-only
/* Reads and writes rings of Control Transfer Records as text. */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/command.h"
#include "common/ui.h"
#include "ring.h"

/* Longest line of an entry; comments may be longer. */
#define LINE_SIZE 256

/* Parses digits up to a blank or the end, and advances @text. */
static bool number(char **text, int base, uint64_t *value)
{
	char *end;

	while (isblank((unsigned char)**text))
		(*text)++;
	if (!isxdigit((unsigned char)**text))
		return false;
	errno = 0;
	*value = strtoull(*text, &end, base);
	if (errno || (*end && !isspace((unsigned char)*end)))
		return false;
	*text = end;
	return true;
}

/* Parses the line of an entry. Return: NULL, or an error text. */
static const char *take_line(struct ctr_ring *ring, char *line)
{
	struct ntrace_ctr_entry entry;
	uint64_t index;

	if (!number(&line, 10, &index))
		return "no index: INDEX SOURCE TARGET DATA is wanted";
	if (index >= NTRACE_CTR_ENTRIES_MAX)
		return "a ring has at most 256 entries";
	if (!number(&line, 16, &entry.source) || !number(&line, 16, &entry.target) ||
	    !number(&line, 16, &entry.data))
		return "SOURCE TARGET DATA are wanted: hex numbers of 64 bits";
	if (line[strspn(line, " \t\r\n")])
		return "something follows DATA";
	if (ring->present[index])
		return "this entry was there before";
	ring->present[index] = true;
	ring->entry[index] = entry;
	if (index >= ring->entries)
		ring->entries = (unsigned int)index + 1;
	return NULL;
}

static int read_lines(struct ctr_ring *ring, FILE *file)
{
	char line[LINE_SIZE];
	bool starts = true, remark = false;
	uint64_t count = 0;

	while (fgets(line, sizeof(line), file)) {
		bool whole = strchr(line, '\n') || feof(file);
		const char *wrong = NULL;

		count += starts;
		if (starts)
			remark = line[0] == '#' || !line[strspn(line, " \t\r\n")];
		if (!remark)
			wrong = whole ? take_line(ring, line) : "too long";
		if (wrong)
			return fail("%s: line %" PRIu64 ": %s", ring->path, count, wrong);
		starts = whole;
	}
	if (ferror(file))
		return fail("%s: %s", ring->path, strerror(errno));
	return ring->entries ? EXIT_OK : fail("%s: no entry in it", ring->path);
}

int ctr_ring_read(struct ctr_ring *ring, const char *path)
{
	bool input = !strcmp(path, "-");
	FILE *file = input ? stdin : fopen(path, "re");
	int error;

	memset(ring, 0, sizeof(*ring));
	ring->path = input ? "standard input" : path;
	if (!file)
		return fail("%s: %s", path, strerror(errno));
	error = read_lines(ring, file);
	if (!input)
		fclose(file);
	return error;
}

void ctr_ring_write(struct output *output, const struct ntrace_ctr_model *model)
{
	enum ntrace_ctr_layout layout = model->config.layout;

	output_printf(output,
		      "# mctrctl %#" PRIx64 " vsctrctl %#" PRIx64 " depth %u sctrstatus %#" PRIx32
		      "\n",
		      ntrace_ctr_control_to_raw(layout, model->mctrctl),
		      ntrace_ctr_control_to_raw(layout, model->vsctrctl), model->depth,
		      ntrace_ctr_status_to_raw(layout, &model->status));
	for (unsigned int i = 0; i < model->depth; i++) {
		struct ntrace_ctr_entry entry = ntrace_ctr_model_entry(model, i);

		output_printf(output, "%u 0x%" PRIx64 " 0x%" PRIx64 " 0x%" PRIx64 "\n", i,
			      entry.source, entry.target, entry.data);
	}
}
