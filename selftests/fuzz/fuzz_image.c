// SPDX-License-Identifier: GPL-2.0-only
/* Damaged ELF files: opened, mapped, read and asked for symbols everywhere. */
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include <ntrace/image.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static volatile uint8_t sink;

static void ask(const struct ntrace_space *space, uint64_t address)
{
	struct ntrace_location location;
	const uint8_t *bytes;
	size_t available;

	if (!ntrace_space_read(space, address, &bytes, &available))
		sink = bytes[0] ^ bytes[available - 1];
	if (!ntrace_space_locate(space, address, &location) && location.symbol)
		sink = (uint8_t)location.symbol[0];
}

static void walk(struct ntrace_object *object)
{
	struct ntrace_space *space;
	uint64_t address;

	if (ntrace_space_new(&space, "fuzz", NULL))
		return;
	ntrace_space_map_linked(space, object, 0);
	ntrace_space_map(space, object, 0x3f00000000, 0x20000, 0);
	for (address = 0; address < 0x20000; address += 62) {
		ask(space, address);
		ask(space, 0x3f00000000 + address);
	}
	ask(space, UINT64_MAX);
	ntrace_space_put(space);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ntrace_object *object;
	char path[64];
	int fd = memfd_create("fuzz", MFD_CLOEXEC);

	if (fd < 0)
		return 0;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (write(fd, data, size) == (ssize_t)size && !ntrace_object_open_elf(&object, path)) {
		walk(object);
		ntrace_object_put(object);
	}
	close(fd);
	return 0;
}
