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
 * Of a core file (ET_CORE) that ends too early there is as much as there is.
 * Return: 0, NTRACE_ERR_IO (errno is kept), NTRACE_ERR_FORMAT (no ELF, damaged),
 * NTRACE_ERR_TRUNCATED (segments or section headers are missing at its end),
 * NTRACE_ERR_NOTRISCV, NTRACE_ERR_NOMEM.
 */
NTRACE_API int ntrace_object_open_elf(struct ntrace_object **object, const char *path);

/**
 * ntrace_object_open_elf_memory - an ELF file that is in memory, such as the vDSO
 * @object: the new object, one reference
 * @name: what reports call it; copied
 * @data: bytes of the file, copied
 * @size: number of bytes
 *
 * Return: as ntrace_object_open_elf(), without NTRACE_ERR_IO.
 */
NTRACE_API int ntrace_object_open_elf_memory(struct ntrace_object **object, const char *name,
					     const void *data, size_t size);

/**
 * struct ntrace_section_address - where a section of a module was loaded
 * @name: ".text", ...: a file name in /sys/module/MODULE/sections
 * @address: its content
 */
struct ntrace_section_address {
	const char *name;
	uint64_t address;
};

/**
 * ntrace_object_open_module - a relocatable ELF file such as a kernel module
 * @object: the new object, one reference
 * @path: file (.ko, .o)
 * @sections: where its sections are; those not listed are not there
 * @count: number of @sections
 *
 * Each listed section with bytes becomes a segment, link addresses are those given. Direct control
 * transfers between listed sections are relocated, all other bytes that the loader would have
 * changed are marked uncertain: flow should read the text of the recording where there is one.
 *
 * Return: as ntrace_object_open_elf(), NTRACE_ERR_FORMAT also for a file that is not relocatable,
 * NTRACE_ERR_INVALID for sections that wrap round.
 */
NTRACE_API int ntrace_object_open_module(struct ntrace_object **object, const char *path,
					 const struct ntrace_section_address *sections,
					 size_t count);

/**
 * ntrace_object_add_debug_file - take symbols from the separate debug file of an ELF file
 * @object: an object made from an ELF file
 * @directories: directories of debug files, the last one followed by NULL; NULL = /usr/lib/debug
 *
 * Looks for DIRECTORY/.build-id/NN/REST.debug, then for the name in .gnu_debuglink beside the file,
 * in .debug beside it and in DIRECTORY/PATH, with the right check sum. A file of another build-id
 * is never taken.
 *
 * Return: 0, NTRACE_ERR_IO with errno ENOENT if there is none, NTRACE_ERR_BUILDID if the only ones
 * there belong to another build, else as ntrace_object_open_elf() for the file found.
 */
NTRACE_API int ntrace_object_add_debug_file(struct ntrace_object *object,
					    const char *const *directories);

/**
 * ntrace_object_debug_name - path of the debug file that ntrace_object_add_debug_file() found
 *
 * Return: text owned by the object, NULL if it has none.
 */
NTRACE_API const char *ntrace_object_debug_name(const struct ntrace_object *object);

/**
 * typedef ntrace_object_read_fn - reads memory for an object
 * @data: that of ntrace_object_from_callback()
 * @address: first byte
 * @buffer: where to
 * @size: bytes; all or nothing
 *
 * Must not call into the object. Return: 0, else the bytes cannot be read.
 */
typedef int (*ntrace_object_read_fn)(void *data, uint64_t address, void *buffer, size_t size);

/**
 * ntrace_object_from_callback - memory that is read when it is needed
 * @object: the new object, one reference
 * @name: what reports call it; copied
 * @address: address of the first byte; its "link address"
 * @size: number of bytes
 * @read: reads some of them
 * @data: for @read
 *
 * Bytes are kept in a cache of 256 KiB by pages. Where a page cannot be read, smaller parts down to
 * one byte are tried, so that only what is unreadable is NTRACE_ERR_NOMAP.
 *
 * Return: 0, NTRACE_ERR_INVALID (size 0 or wrapping round), NTRACE_ERR_NOMEM.
 */
NTRACE_API int ntrace_object_from_callback(struct ntrace_object **object, const char *name,
					   uint64_t address, uint64_t size,
					   ntrace_object_read_fn read, void *data);

/**
 * ntrace_object_jump_table - base of the jump vector table (Zcmt)
 * @object: an object
 * @address: link address: the symbol __jvt_base$ of the ELF file
 *
 * Return: 0 or NTRACE_ERR_NOMAP if the object has none (then 0 is stored).
 */
NTRACE_API int ntrace_object_jump_table(const struct ntrace_object *object, uint64_t *address);

/**
 * ntrace_object_entry - where a program begins
 * @object: an object
 * @address: link address of the first instruction: e_entry of the ELF file
 * @offset: in bytes, where the file has it
 *
 * Return: 0 or NTRACE_ERR_NOMAP if the object has none (then 0 is stored).
 */
NTRACE_API int ntrace_object_entry(const struct ntrace_object *object, uint64_t *address,
				   uint64_t *offset);

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

/**
 * ntrace_object_short_name - file name without directories, "[kernel]" for copies of its text
 *
 * Return: text owned by the object.
 */
NTRACE_API const char *ntrace_object_short_name(const struct ntrace_object *object);

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
 * ntrace_object_file_offset - where in its file the byte at a link address stands
 *
 * Return: 0, or NTRACE_ERR_NOMAP if no segment has it (then 0 is stored).
 */
NTRACE_API int ntrace_object_file_offset(const struct ntrace_object *object, uint64_t address,
					 uint64_t *offset);

/**
 * ntrace_object_function - the functions of an object one by one, in no order
 * @object: an object
 * @index: from 0 on
 * @address: link address
 *
 * Those of its symbol tables, also where another one stands for the same address.
 * Return: the name, owned by the object; "" for a symbol that is no function; NULL behind the last.
 */
NTRACE_API const char *ntrace_object_function(const struct ntrace_object *object, size_t index,
					      uint64_t *address);

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
 * ntrace_demangle - the name of a symbol as a programmer wrote it: C++ and Rust
 * @name: of the symbol
 *
 * Return: the name, or a copy of @name if it is not mangled, to be freed; NULL when out of memory.
 */
NTRACE_API char *ntrace_demangle(const char *name);

/**
 * ntrace_demangles_cxx - can names of C++ be demangled?
 *
 * That takes the C++ library of the machine, libstdc++.so.6 or libc++abi.so.1. Without it
 * ntrace_demangle() returns copies of C++ names; names of Rust need no library.
 */
NTRACE_API bool ntrace_demangles_cxx(void);

/**
 * ntrace_symbol_stem - compilers split functions: "f.cold" is the part of "f" that seldom runs
 * @name: of the symbol
 *
 * A jump from one part to another is no call, and exceptions are caught in either.
 * Return: how many characters at the beginning of @name are the name of the whole function.
 */
NTRACE_API size_t ntrace_symbol_stem(const char *name);

/**
 * struct ntrace_location - what stands at an address of a space
 * @object: object mapped there; borrowed
 * @link_address: address within the object as linked
 * @symbol: function that holds it, NULL if none; borrowed. Local labels (.L*, $x) are never used;
 *          without a symbol table, .eh_frame ranges give "sub_LINKADDRESS" names
 * @symbol_start: link address of the symbol
 * @symbol_size: its size in bytes, 0 if unknown
 * @uncertain: the bytes are marked uncertain
 * @name: where nothing is mapped: what ntrace_space_name_range() calls it, NULL if nothing;
 *        borrowed from the space
 */
struct ntrace_location {
	struct ntrace_object *object;
	uint64_t link_address;
	const char *symbol;
	uint64_t symbol_start;
	uint64_t symbol_size;
	bool uncertain;
	const char *name;
};

/**
 * ntrace_object_locate - what stands at a link address of an object
 * @object: an object
 * @address: link address
 * @location: filled in; without a symbol if no segment of @object holds @address
 *
 * Return: 0 or NTRACE_ERR_NOMAP.
 */
NTRACE_EXPERIMENTAL int ntrace_object_locate(struct ntrace_object *object, uint64_t address,
					     struct ntrace_location *location);

/**
 * ntrace_location_same_function - whether two places are in the same function of the same object
 *
 * The parts of a function that the compiler split, see ntrace_symbol_stem(), are one function. Code
 * of an object without a symbol counts as one function.
 */
NTRACE_EXPERIMENTAL bool ntrace_location_same_function(const struct ntrace_location *a,
						       const struct ntrace_location *b);

/**
 * ntrace_symbol_matches - whether a name that a user typed means a symbol
 * @symbol: the symbol
 * @name: the symbol, or its demangled form with or without parameters or kernel module
 */
NTRACE_EXPERIMENTAL bool ntrace_symbol_matches(const char *symbol, const char *name);

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

/**
 * ntrace_space_map_at_time - ntrace_space_map() that takes effect at a time
 * @space: a space
 * @object: object; referenced by the space
 * @address: first address
 * @size: bytes
 * @file_offset: offset of the first byte in the file
 * @from_time: first time at which it holds, in the unit of ntrace_space_advance()
 *
 * For code that changes while it is traced. Queued until ntrace_space_advance() reaches @from_time;
 * of two for the same time the one queued later counts. A clone takes what is queued along.
 *
 * Return: as ntrace_space_map(); NTRACE_ERR_INVALID also for a time that has been passed.
 */
NTRACE_API int ntrace_space_map_at_time(struct ntrace_space *space, struct ntrace_object *object,
					uint64_t address, uint64_t size, uint64_t file_offset,
					uint64_t from_time);

/**
 * ntrace_space_advance - go to a time: apply what is queued up to it, in order of time
 * @space: a space; its parents have their own time
 * @time: not below that of the last call
 *
 * Changes the version if anything was applied. Return: 0, NTRACE_ERR_INVALID for going back,
 * NTRACE_ERR_NOMEM (then what was not applied stays queued).
 */
NTRACE_API int ntrace_space_advance(struct ntrace_space *space, uint64_t time);

/**
 * ntrace_space_name_range - say what stands in a range of which the bytes are not known
 * @space: a space
 * @address: first address
 * @size: bytes
 * @name: such as "firmware (M-mode) not given"; copied
 *
 * ntrace_space_locate() gives the name where nothing is mapped. A later name replaces what it
 * overlaps. Return: 0, NTRACE_ERR_INVALID (size 0 or wrapping round), NTRACE_ERR_NOMEM.
 */
NTRACE_API int ntrace_space_name_range(struct ntrace_space *space, uint64_t address, uint64_t size,
				       const char *name);

/**
 * ntrace_space_unmap - forget everything in a range
 *
 * Return: 0 or NTRACE_ERR_NOMEM, with the space unchanged.
 */
NTRACE_API int ntrace_space_unmap(struct ntrace_space *space, uint64_t address, uint64_t size);

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
 * @data: *data points into the object, valid until the mapping or object goes; for an object made
 *        by ntrace_object_from_callback() only until the next call that reads from it
 * @available: bytes that follow there contiguously
 *
 * Return: 0 or NTRACE_ERR_NOMAP.
 */
NTRACE_API int ntrace_space_read(const struct ntrace_space *space, uint64_t address,
				 const uint8_t **data, size_t *available);

/**
 * ntrace_space_locate - object and symbol at an address
 *
 * Return: 0 or NTRACE_ERR_NOMAP (then @location is zeroed but for its name).
 */
NTRACE_API int ntrace_space_locate(const struct ntrace_space *space, uint64_t address,
				   struct ntrace_location *location);

struct ntrace_locator;

/** ntrace_locator_new - a cache for lookups, NULL when out of memory */
NTRACE_API struct ntrace_locator *ntrace_locator_new(void);
NTRACE_API void ntrace_locator_free(struct ntrace_locator *locator);

/**
 * ntrace_locator_find - ntrace_space_locate() with a memory
 * @locator: a locator
 * @space: may be NULL
 * @address: where
 *
 * Return: never NULL; its object is NULL where nothing is known (then it has no name either).
 * Valid until the next call for the same locator.
 */
NTRACE_API const struct ntrace_location *
ntrace_locator_find(struct ntrace_locator *locator, struct ntrace_space *space, uint64_t address);

/**
 * ntrace_locator_generation - changes whenever what was found before may be wrong now
 *
 * For callers that keep what they made of a location. Call ntrace_locator_find() first.
 */
NTRACE_API uint64_t ntrace_locator_generation(const struct ntrace_locator *locator);

/**
 * ntrace_space_table_target - where a CM.JT or CM.JALT goes
 * @space: a space
 * @insn: instruction with table_jump set
 * @pc: its address in the space
 * @jvt: address of the jump vector table in the space (CSR jvt without mode bits); NULL = what the
 *       object at @pc says, see ntrace_object_jump_table()
 * @target: the target
 *
 * Reads an entry of XLEN bits at table + index * XLEN / 8 (Zcmt); its lowest
 * bit is ignored, as the hart does.
 *
 * Return: 0, NTRACE_ERR_INVALID (no such instruction), NTRACE_ERR_NOMAP with the address that
 * could not be read in @target: that of the entry, or @pc if no table is known.
 */
NTRACE_API int ntrace_space_table_target(const struct ntrace_space *space,
					 const struct ntrace_insn *insn, uint64_t pc,
					 const uint64_t *jvt, uint64_t *target);

#ifdef __cplusplus
}
#endif

#endif /* NTRACE_IMAGE_H */
