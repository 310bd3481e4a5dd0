// SPDX-License-Identifier: GPL-2.0-only
/* Reader of VCD waveforms. Words are collected, so that the input may be cut anywhere. */
#include "vcd.h"

#include <stdlib.h>
#include <string.h>

enum {
	STATE_WORD,	/* between the parts below */
	STATE_SKIP,	/* to $end */
	STATE_SCOPE,	/* $scope TYPE NAME $end */
	STATE_VAR,	/* $var TYPE WIDTH ID NAME... $end */
	STATE_VECTOR,	/* the id of a vector */
	STATE_OTHER,	/* the id of a real number or string */
};

void vcd_init(struct vcd *vcd)
{
	memset(vcd, 0, sizeof(*vcd));
	vcd->line = 1;
}

void vcd_free(struct vcd *vcd)
{
	for (unsigned int i = 0; i < vcd->signals; i++)
		free(vcd->signal[i].now);
	vcd->signals = 0;
}

static int refuse(struct vcd *vcd, const char *why)
{
	if (!vcd->error)
		vcd->error = why;
	return -1;
}

static unsigned int hash_id(const char *id)
{
	uint32_t hash = 2166136261u;

	for (; *id; id++)
		hash = (hash ^ (unsigned char)*id) * 16777619u;
	return hash % VCD_TABLE;
}

/* The place of an id in the table: its own or a free one. */
static uint16_t *find(struct vcd *vcd, const char *id)
{
	unsigned int at = hash_id(id);

	/* The table is never full. */
	while (vcd->table[at] && strcmp(vcd->signal[vcd->table[at] - 1].id, id))
		at = (at + 1) % VCD_TABLE;
	return &vcd->table[at];
}

int vcd_track(struct vcd *vcd, const char *id, unsigned int width)
{
	uint16_t *place = find(vcd, id);
	struct vcd_signal *signal;

	if (*place)
		return vcd->signal[*place - 1].width == width ? *place - 1 : -1;
	if (vcd->signals == VCD_SIGNALS_MAX)
		return -1;
	signal = &vcd->signal[vcd->signals];
	signal->now = malloc(2 * (size_t)width);
	if (!signal->now)
		return -1;
	signal->next = signal->now + width;
	signal->width = width;
	memset(signal->now, 'x', 2 * (size_t)width);
	memcpy(signal->id, id, strlen(id) + 1);
	*place = (uint16_t)++vcd->signals;
	return (int)vcd->signals - 1;
}

/* Decimal number of at most @max. */
static bool number(const char *text, uint64_t max, uint64_t *value)
{
	*value = 0;
	if (!*text)
		return false;
	for (; *text; text++) {
		unsigned int digit = (unsigned int)(*text - '0');

		if (digit > 9 || *value > (max - digit) / 10)
			return false;
		*value = *value * 10 + digit;
	}
	return true;
}

static int end_step(struct vcd *vcd)
{
	int result = 0;

	if (vcd->stepping)
		result = vcd->step(vcd->data);
	if (vcd->stepping)
		for (unsigned int i = 0; i < vcd->signals; i++) {
			struct vcd_signal *signal = &vcd->signal[i];

			if (signal->changed)
				memcpy(signal->now, signal->next, signal->width);
			signal->changed = false;
			signal->rose = false;
			signal->fell = false;
		}
	vcd->stepping = false;
	return result;
}

static char bit_value(char c)
{
	switch (c) {
	case '0':
	case '1':
	case 'x':
	case 'z':
		return c;
	case 'X':
	/* Values of VHDL simulators: weak, uninitialized, don't care. */
	case 'u':
	case 'U':
	case 'w':
	case 'W':
	case '-':
		return 'x';
	case 'l':
	case 'L':
		return '0';
	case 'h':
	case 'H':
		return '1';
	case 'Z':
		return 'z';
	default:
		return 0;
	}
}

/* @bits: most significant bit first. A shorter value is extended by 0, or by its x or z. */
static int change(struct vcd *vcd, const char *id, const char *bits, size_t length)
{
	uint16_t place = *find(vcd, id);
	struct vcd_signal *signal;
	char fill, before;

	if (!vcd->defined)
		return refuse(vcd, "a value before $enddefinitions");
	if (!place)
		return 0;
	signal = &vcd->signal[place - 1];
	before = signal->next[0];
	fill = bit_value(bits[0]);
	fill = fill == '1' ? '0' : fill;
	for (unsigned int i = 0; i < signal->width; i++) {
		signal->next[i] = i < length ? bit_value(bits[length - 1 - i]) : fill;
		if (!signal->next[i])
			return refuse(vcd, "a value has a character that is no bit");
	}
	signal->rose |= before == '0' && signal->next[0] == '1';
	signal->fell |= before == '1' && signal->next[0] == '0';
	signal->changed = true;
	vcd->stepping = true;
	return 0;
}

static int push_scope(struct vcd *vcd, const char *name)
{
	size_t length = strlen(name);

	if (vcd->path_length + length + 1 > VCD_PATH_MAX)
		return refuse(vcd, "scopes are nested too deeply");
	memcpy(vcd->path + vcd->path_length, name, length);
	vcd->path_length += length;
	vcd->path[vcd->path_length++] = '.';
	vcd->path[vcd->path_length] = '\0';
	return 0;
}

/* The scope's name has no dot at its end; a dot within an escaped name would end it early. */
static void pop_scope(struct vcd *vcd)
{
	if (vcd->path_length)
		vcd->path_length--;
	while (vcd->path_length && vcd->path[vcd->path_length - 1] != '.')
		vcd->path_length--;
	vcd->path[vcd->path_length] = '\0';
}

/* The lower index of a range "[63:0]" or "[0:63]"; 0 without a range. */
static unsigned int range_low(const char *range)
{
	unsigned long high, low;
	char *end;

	if (*range != '[')
		return 0;
	high = strtoul(range + 1, &end, 10);
	low = *end == ':' ? strtoul(end + 1, &end, 10) : high;
	return (unsigned int)(low < high ? low : high);
}

static int take_scope(struct vcd *vcd, const char *word)
{
	if (!strcmp(word, "$end")) {
		vcd->state = STATE_WORD;
		return vcd->words < 2 ? refuse(vcd, "$scope has no name") : 0;
	}
	return ++vcd->words == 2 ? push_scope(vcd, word) : 0;
}

/* A variable of a scope is complete. The range is a word of its own, or stands with the name. */
static int end_var(struct vcd *vcd)
{
	char *range = strchr(vcd->name, ' ');
	unsigned int low = 0;
	size_t length;

	vcd->state = STATE_WORD;
	if (vcd->words < 4)
		return refuse(vcd, "$var is incomplete");
	if (range) {
		low = range_low(range + 1);
		*range = '\0';
	} else {
		/* "data[7:0]"; "data[3]" is an element of an array. */
		range = strrchr(vcd->name, '[');
		if (range && strchr(range, ':')) {
			low = range_low(range);
			*range = '\0';
		}
	}
	length = strlen(vcd->name);
	if (vcd->path_length + length > VCD_PATH_MAX)
		return refuse(vcd, "scopes are nested too deeply");
	memcpy(vcd->path + vcd->path_length, vcd->name, length + 1);
	if (vcd->has_bits)
		vcd->result = vcd->var(vcd->data, vcd->path, vcd->width, low, vcd->id);
	vcd->path[vcd->path_length] = '\0';
	return vcd->result;
}

static int take_var(struct vcd *vcd, const char *word)
{
	size_t length = strlen(word), used;
	uint64_t width;

	if (!strcmp(word, "$end"))
		return end_var(vcd);
	switch (vcd->words++) {
	case 0:
		vcd->has_bits = strcmp(word, "real") && strcmp(word, "realtime") &&
				strcmp(word, "string") && strcmp(word, "event");
		return 0;
	case 1:
		if (!number(word, VCD_WORD_MAX - 1, &width) || (vcd->has_bits && !width))
			return refuse(vcd,
				      "the width of a variable is not a number from 1 to 65534");
		vcd->width = (unsigned int)width;
		return 0;
	case 2:
		if (length > VCD_ID_MAX)
			return refuse(vcd, "an identifier has more than 63 characters");
		memcpy(vcd->id, word, length + 1);
		vcd->name[0] = '\0';
		return 0;
	default:
		used = strlen(vcd->name);
		if (used + length + 1 > VCD_PATH_MAX)
			return refuse(vcd, "a name has more than 2047 characters");
		if (used)
			vcd->name[used++] = ' ';
		memcpy(vcd->name + used, word, length + 1);
		return 0;
	}
}

static int take_keyword(struct vcd *vcd, const char *word)
{
	vcd->words = 0;
	if (!strcmp(word, "$scope")) {
		vcd->state = STATE_SCOPE;
	} else if (!strcmp(word, "$var")) {
		vcd->state = STATE_VAR;
		if (vcd->defined)
			return refuse(vcd, "$var after $enddefinitions");
	} else if (!strncmp(word, "$dump", 5) || !strcmp(word, "$end")) {
		/* Their values follow as usual. */
		return 0;
	} else {
		if (!strcmp(word, "$upscope"))
			pop_scope(vcd);
		if (!strcmp(word, "$enddefinitions"))
			vcd->defined = true;
		vcd->state = STATE_SKIP;
	}
	return 0;
}

static int take_time(struct vcd *vcd, const char *word)
{
	uint64_t time;
	int result;

	if (!number(word, UINT64_MAX, &time))
		return refuse(vcd, "a time is not a decimal number of 64 bits");
	if (time < vcd->time)
		return refuse(vcd, "the time decreases");
	if (time == vcd->time)
		return 0;
	result = end_step(vcd);
	vcd->time = time;
	return result;
}

static int take_word(struct vcd *vcd, const char *word, size_t length)
{
	switch (vcd->state) {
	case STATE_SKIP:
		if (!strcmp(word, "$end"))
			vcd->state = STATE_WORD;
		return 0;
	case STATE_SCOPE:
		return take_scope(vcd, word);
	case STATE_VAR:
		return take_var(vcd, word);
	case STATE_VECTOR:
		vcd->state = STATE_WORD;
		return change(vcd, word, vcd->value, vcd->value_length);
	case STATE_OTHER:
		vcd->state = STATE_WORD;
		return 0;
	default:
		break;
	}
	switch (word[0]) {
	case '$':
		return take_keyword(vcd, word);
	case '#':
		return take_time(vcd, word + 1);
	case 'b':
	case 'B':
		if (length < 2)
			return refuse(vcd, "a vector without bits");
		vcd->state = STATE_VECTOR;
		vcd->value_length = length - 1;
		memcpy(vcd->value, word + 1, length);
		return 0;
	case 'r':
	case 'R':
	case 's':
	case 'S':
		vcd->state = STATE_OTHER;
		return 0;
	default:
		if (!bit_value(word[0]) || length < 2)
			return refuse(vcd,
				      "not a VCD waveform: expected a value change, #TIME or a "
				      "$keyword");
		return change(vcd, word + 1, word, 1);
	}
}

static int end_word(struct vcd *vcd)
{
	if (!vcd->word_length)
		return 0;
	vcd->word[vcd->word_length] = '\0';
	vcd->result = strlen(vcd->word) == vcd->word_length ?
			      take_word(vcd, vcd->word, vcd->word_length) :
			      refuse(vcd, "unexpected 0 byte");
	vcd->word_length = 0;
	return vcd->result;
}

int vcd_feed(struct vcd *vcd, const char *data, size_t size)
{
	for (size_t i = 0; i < size && !vcd->result; i++) {
		char c = data[i];

		if (c == ' ' || c == '\n' || c == '\t' || c == '\r') {
			end_word(vcd);
			vcd->line += c == '\n' && !vcd->result;
		} else if (vcd->word_length < VCD_WORD_MAX) {
			vcd->word[vcd->word_length++] = c;
		} else if (vcd->state != STATE_SKIP) {
			vcd->result = refuse(vcd, "a word has more than 65535 characters");
		}
	}
	return vcd->result;
}

int vcd_end(struct vcd *vcd)
{
	if (!vcd->result)
		end_word(vcd);
	if (!vcd->result && !vcd->defined)
		vcd->result = refuse(vcd, "the file ends before $enddefinitions");
	if (!vcd->result && vcd->state != STATE_WORD)
		vcd->result = refuse(vcd, "truncated: the file ends within a value or a $keyword");
	if (!vcd->result)
		vcd->result = end_step(vcd);
	return vcd->result;
}
