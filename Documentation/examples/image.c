/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Images: what stands at an address of a program. image ELF ADDRESS... */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <ntrace/image.h>

static void tell(const struct ntrace_space *space, uint64_t address)
{
	struct ntrace_location location;
	const uint8_t *bytes;
	size_t available;

	if (ntrace_space_read(space, address, &bytes, &available) || available < 2) {
		printf("0x%" PRIx64 ": nothing is known there\n", address);
		return;
	}
	ntrace_space_locate(space, address, &location);
	printf("0x%" PRIx64 ": %02x%02x, %s+0x%" PRIx64 "\n", address, bytes[1], bytes[0],
	       location.symbol ? location.symbol : "?",
	       location.link_address - location.symbol_start);
}

int main(int argc, char **argv)
{
	struct ntrace_object *object;
	struct ntrace_space *space;
	int error;

	if (argc < 2)
		return 2;
	error = ntrace_object_open_elf(&object, argv[1]);
	if (error || ntrace_space_new(&space, "program", NULL)) {
		fprintf(stderr, "%s: %s\n", argv[1], ntrace_strerror(error));
		return 1;
	}
	error = ntrace_space_map_linked(space, object, 0);
	for (int i = 2; i < argc && !error; i++)
		tell(space, strtoull(argv[i], NULL, 0));
	ntrace_object_put(object);
	ntrace_space_put(space);
	return error ? 1 : 0;
}
