/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Images: what bytes stand at an address, and what they are called.
 *
 * An object is one ELF file, kernel text dump or block of raw bytes; it may be
 * mapped many times. A space is one address space: objects mapped at
 * addresses. Spaces can have a parent (the kernel under every process), which
 * is asked where the space itself has nothing. Both are reference counted;
 * neither is thread safe.
 */
#ifndef NTRACE_IMAGE_H
#define NTRACE_IMAGE_H

#include <ntrace/isa.h>

#ifdef __cplusplus
extern "C" {
#endif

struct ntrace_object;
struct ntrace_space;

#define NTRACE_BUILD_ID_MAX 20

/**
 * ntrace_object_open_elf - an ELF file through libelf
 * @object: the new object, one reference
 * @path: file
 *
 * Return: 0, NTRACE_ERR_IO (errno is kept), NTRACE_ERR_FORMAT (no ELF, damaged),
 * NTRACE_ERR_NOTRISCV, NTRACE_ERR_NOMEM.
 */
NTRACE_API int ntrace_object_open_elf(struct ntrace_object **object, const char *path);

/**
 * ntrace_object_from_bytes - raw memory
 * @object: the new object
 * @name: what reports call it; copied
 * @data: bytes, copied
 * @size: number of bytes
 * @address: address of the first byte; its "link address"
 */
NTRACE_API int ntrace_object_from_bytes(struct ntrace_object **object, const char *name,
					const void *data, size_t size, uint64_t address);

NTRACE_API struct ntrace_object *ntrace_object_get(struct ntrace_object *object);
NTRACE_API void ntrace_object_put(struct ntrace_object *object);

/** ntrace_object_name - the path, or the name given; owned by the object */
NTRACE_API const char *ntrace_object_name(const struct ntrace_object *object);

/** ntrace_object_build_id - @size is set to 0 if there is none */
NTRACE_API const uint8_t *ntrace_object_build_id(const struct ntrace_object *object, size_t *size);

/** ntrace_object_isa - from the ELF header and .riscv.attributes; RV64GC for raw bytes */
NTRACE_API const struct ntrace_isa *ntrace_object_isa(const struct ntrace_object *object);

/**
 * ntrace_object_segment - the @index-th loadable segment that has bytes in the file
 * @address: link address
 * @size: bytes
 * @executable: may be executed
 *
 * Return: 0, or NTRACE_ERR_INVALID if there is none (then all are set to 0).
 */
NTRACE_API int ntrace_object_segment(const struct ntrace_object *object, size_t index,
				     uint64_t *address, uint64_t *size, bool *executable);

/**
 * ntrace_object_add_symbol - name an address range
 * @object: an object
 * @name: copied
 * @address: link address
 * @size: bytes; 0 = up to the next symbol
 *
 * For kallsyms, ksymbol events, JIT code. Return: 0 or NTRACE_ERR_NOMEM.
 */
NTRACE_API int ntrace_object_add_symbol(struct ntrace_object *object, const char *name,
					uint64_t address, uint64_t size);

/**
 * ntrace_object_mark_uncertain - bytes whose content at run time is unknown
 * @object: an object
 * @address: link address of the first byte
 * @size: bytes
 *
 * Flow that walks through the range says so with an event.
 */
NTRACE_API int ntrace_object_mark_uncertain(struct ntrace_object *object, uint64_t address,
					    uint64_t size);

/**
 * struct ntrace_location - what stands at an address of a space
 * @object: object mapped there; borrowed
 * @link_address: address within the object as linked
 * @symbol: function that holds it, NULL if none; borrowed. Local labels (.L*, $x) are never used;
 *          without a symbol table, .eh_frame ranges give "sub_LINKADDRESS" names
 * @symbol_start: link address of the symbol
 * @symbol_size: its size in bytes, 0 if unknown
 * @uncertain: the bytes are marked uncertain
 */
struct ntrace_location {
	struct ntrace_object *object;
	uint64_t link_address;
	const char *symbol;
	uint64_t symbol_start;
	uint64_t symbol_size;
	bool uncertain;
};

/**
 * ntrace_space_new - an empty address space
 * @space: the new space, one reference
 * @name: for messages, e.g. "pid 123 (bzip2)"; copied
 * @parent: asked where @space has nothing; may be NULL; referenced
 */
NTRACE_API int ntrace_space_new(struct ntrace_space **space, const char *name,
				struct ntrace_space *parent);
NTRACE_API struct ntrace_space *ntrace_space_get(struct ntrace_space *space);
NTRACE_API void ntrace_space_put(struct ntrace_space *space);
NTRACE_API const char *ntrace_space_name(const struct ntrace_space *space);

/** ntrace_space_clone - a copy of all mappings (fork), same parent */
NTRACE_API int ntrace_space_clone(struct ntrace_space **copy, const char *name,
				  const struct ntrace_space *space);

/**
 * ntrace_space_map - map part of a file as mmap() does
 * @space: a space
 * @object: object; referenced by the space
 * @address: first address
 * @size: bytes
 * @file_offset: offset of the first byte in the file (PERF_RECORD_MMAP2 pgoff)
 *
 * A later mapping replaces what it overlaps, byte for byte.
 * Return: 0, NTRACE_ERR_INVALID (size 0 or wrapping round), NTRACE_ERR_NOMEM.
 */
NTRACE_API int ntrace_space_map(struct ntrace_space *space, struct ntrace_object *object,
				uint64_t address, uint64_t size, uint64_t file_offset);

/**
 * ntrace_space_map_linked - map every loadable segment at link address + @bias
 *
 * For static programs, firmware, kernel text dumps and raw bytes.
 */
NTRACE_API int ntrace_space_map_linked(struct ntrace_space *space, struct ntrace_object *object,
				       uint64_t bias);

/** ntrace_space_unmap - forget everything in a range */
NTRACE_API void ntrace_space_unmap(struct ntrace_space *space, uint64_t address, uint64_t size);

/**
 * ntrace_space_version - changes with every map and unmap in it or its parents
 *
 * For callers that cache what they read: no other space ever has the same version, even one that
 * takes the memory of a freed one. Symbols and uncertain ranges do not count.
 */
NTRACE_API uint64_t ntrace_space_version(const struct ntrace_space *space);

/**
 * ntrace_space_read - instruction bytes
 * @space: a space
 * @address: where
 * @data: *data points into the object, valid until the mapping or object goes
 * @available: bytes that follow there contiguously
 *
 * Return: 0 or NTRACE_ERR_NOMAP.
 */
NTRACE_API int ntrace_space_read(const struct ntrace_space *space, uint64_t address,
				 const uint8_t **data, size_t *available);

/**
 * ntrace_space_locate - object and symbol at an address
 *
 * Return: 0 or NTRACE_ERR_NOMAP (then @location is zeroed).
 */
NTRACE_API int ntrace_space_locate(const struct ntrace_space *space, uint64_t address,
				   struct ntrace_location *location);

#ifdef __cplusplus
}
#endif

#endif /* NTRACE_IMAGE_H */
