// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Protocol buffers. */
#include <stdlib.h>
#include <string.h>

#include "output/text.h"
#include "protobuf.h"

#define KIND_VARINT 0
#define KIND_BYTES 2
#define VARINT_MAX 10

void protobuf_free(struct protobuf *to)
{
	free(to->data);
	memset(to, 0, sizeof(*to));
}

/* Return: as protobuf_extend(). */
static uint8_t *grow_room(struct protobuf *to, size_t size)
{
	size_t room = to->room ? to->room : 256;
	uint8_t *data;

	while (room - to->size < size)
		room *= 2;
	if (room != to->room && !to->failed) {
		data = realloc(to->data, room);
		to->failed = !data;
		if (data) {
			to->data = data;
			to->room = room;
		}
	}
	return to->failed ? NULL : to->data + to->size;
}

uint8_t *protobuf_extend(struct protobuf *to, size_t size)
{
	if (to->data && to->room - to->size >= size && !to->failed)
		return to->data + to->size;
	return grow_room(to, size);
}

void protobuf_value(struct protobuf *to, uint64_t value)
{
	uint8_t *data = protobuf_extend(to, VARINT_MAX);

	if (!data)
		return;
	for (; value >= 0x80; value >>= 7)
		*data++ = (uint8_t)(value | 0x80);
	*data++ = (uint8_t)value;
	to->size = (size_t)(data - to->data);
}

void protobuf_number(struct protobuf *to, unsigned int field, uint64_t value)
{
	if (!value)
		return;
	protobuf_value(to, field << 3 | KIND_VARINT);
	protobuf_value(to, value);
}

void protobuf_bytes(struct protobuf *to, unsigned int field, const void *bytes, size_t size)
{
	uint8_t *data;

	protobuf_value(to, field << 3 | KIND_BYTES);
	protobuf_value(to, size);
	data = protobuf_extend(to, size);
	if (!data || !size)
		return;
	memcpy(data, bytes, size);
	to->size += size;
}

void protobuf_text(struct protobuf *to, unsigned int field, const char *text)
{
	const char *clean;
	char *room;

	if (!*text)
		return;
	clean = text_for_programs(text, &room);
	protobuf_bytes(to, field, clean, strlen(clean));
	free(room);
}

void protobuf_message(struct protobuf *to, unsigned int field, struct protobuf *message)
{
	protobuf_bytes(to, field, message->data, message->size);
	to->failed |= message->failed;
	message->size = 0;
}
