// SPDX-License-Identifier: GPL-2.0-only
/*
 * Damaged ELF files: opened as a file and in memory, as a module, as a core dump, as their own debug file, and with
 * the file that their debug link names; mapped, read, and searched for symbols everywhere. A
 * callback with unreadable ranges reads the same bytes.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <ntrace/image.h>
#include <ntrace/values.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static volatile uint8_t sink;

static void ask(const struct ntrace_space *space, uint64_t address)
{
	struct ntrace_location location;
	struct ntrace_insn insn;
	const uint8_t *bytes;
	size_t available;
	uint64_t target;

	if (!ntrace_space_read(space, address, &bytes, &available)) {
		static const struct ntrace_isa isa = {
			.xlen = 64, .compressed = true, .push_pop = true, .table_jumps = true
		};

		sink = bytes[0] ^ bytes[available - 1];
		if (!ntrace_insn_decode(&isa, bytes, available, address, &insn))
			ntrace_space_table_target(space, &insn, address, NULL, &target);
	}
	if (!ntrace_space_locate(space, address, &location) && location.symbol)
		sink = (uint8_t)location.symbol[0];
}

static void walk(struct ntrace_object *object)
{
	struct ntrace_space *space;
	uint64_t address, start, size;
	bool executable;

	if (ntrace_space_new(&space, "fuzz", NULL))
		return;
	ntrace_space_map_linked(space, object, 0);
	ntrace_space_map(space, object, 0x3f00000000, 0x20000, 0);
	for (address = 0; address < 0x20000; address += 254) {
		ask(space, address);
		ask(space, 0x3f00000000 + address);
	}
	for (size_t i = 0; i < 16 && !ntrace_object_segment(object, i, &start, &size, &executable);
	     i++) {
		ask(space, start);
		ask(space, start + size - 1);
	}
	ask(space, UINT64_MAX);
	ntrace_space_put(space);
}

static void try_module(const char *path)
{
	static const struct ntrace_section_address sections[] = {
		{ ".text", 0x1000 },
		{ ".cold", 0x7ff0 },
		{ ".data", UINT64_MAX - 0xfff },
		{ ".init.text", 0x7fff00000000 },
	};
	struct ntrace_object *object;

	if (!ntrace_object_open_module(&object, path, sections, 4)) {
		walk(object);
		ntrace_object_put(object);
	}
}

/*
 * Creates a directory in which the file is its own debug file, by build-id. The name is constant,
 * so that at most one directory remains in /tmp.
 */
static const char *debug_directory(const uint8_t *data, size_t size,
				   const struct ntrace_object *object)
{
	static char directory[64], path[256];
	const uint8_t *id;
	size_t id_size;
	FILE *file;
	int length;

	if (!directory[0])
		snprintf(directory, sizeof(directory), "/tmp/ntrace-fuzz-%d", (int)getpid());
	id = ntrace_object_build_id(object, &id_size);
	if (id_size < 2)
		return NULL;
	mkdir(directory, 0700);
	snprintf(path, sizeof(path), "%s/.build-id", directory);
	mkdir(path, 0700);
	length = snprintf(path, sizeof(path), "%s/.build-id/%02x", directory, id[0]);
	mkdir(path, 0700);
	path[length++] = '/';
	for (size_t i = 1; i < id_size; i++)
		length += snprintf(path + length, 3, "%02x", id[i]);
	snprintf(path + length, 8, ".debug");
	file = fopen(path, "wb");
	if (!file)
		return NULL;
	fwrite(data, 1, size, file);
	fclose(file);
	return directory;
}

static void remove_directory(const struct ntrace_object *object, const char *directory)
{
	char path[256];
	const uint8_t *id;
	size_t id_size, i;
	int length;

	id = ntrace_object_build_id(object, &id_size);
	length = snprintf(path, sizeof(path), "%s/.build-id/%02x", directory, id[0]);
	for (i = 1; i < id_size; i++)
		length += snprintf(path + length, 4, i == 1 ? "/%02x" : "%02x", id[i]);
	snprintf(path + length, 8, ".debug");
	unlink(path);
	snprintf(path, sizeof(path), "%s/.build-id/%02x", directory, id[0]);
	rmdir(path);
	snprintf(path, sizeof(path), "%s/.build-id", directory);
	rmdir(path);
	rmdir(directory);
}

static void try_debug_file(struct ntrace_object *object, const uint8_t *data, size_t size)
{
	const char *directory = debug_directory(data, size, object);
	const char *const directories[] = { directory ? directory : "/nonexistent", NULL };

	if (!ntrace_object_add_debug_file(object, directories))
		walk(object);
	if (directory)
		remove_directory(object, directory);
}

struct memory {
	const uint8_t *data;
	size_t size;
};

/* Ranges that contain a byte 0x55 cannot be read. */
static int read_memory(void *data, uint64_t address, void *buffer, size_t size)
{
	const struct memory *memory = data;

	if (address < 0x10000 || address - 0x10000 > memory->size ||
	    size > memory->size - (address - 0x10000))
		abort();
	memcpy(buffer, memory->data + (address - 0x10000), size);
	return memchr(buffer, 0x55, size) ? -1 : 0;
}

static void try_callback(const uint8_t *data, size_t size)
{
	struct memory memory = { data, size };
	struct ntrace_object *object;

	if (!ntrace_object_from_callback(&object, "memory", 0x10000, size, read_memory, &memory)) {
		walk(object);
		ntrace_object_put(object);
	}
}

static void try_core(const char *path)
{
	struct ntrace_core *core;
	const char *reason;

	if (!ntrace_core_open(&core, path, &reason))
		ntrace_core_free(core);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ntrace_object *object;
	char path[64];
	int fd = memfd_create("fuzz", MFD_CLOEXEC);

	if (fd < 0)
		return 0;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (write(fd, data, size) == (ssize_t)size) {
		if (!ntrace_object_open_elf(&object, path)) {
			walk(object);
			try_debug_file(object, data, size);
			ntrace_object_put(object);
		}
		try_module(path);
		try_core(path);
	}
	close(fd);
	if (!ntrace_object_open_elf_memory(&object, "memory", data, size)) {
		walk(object);
		ntrace_object_put(object);
	}
	try_callback(data, size);
	return 0;
}
