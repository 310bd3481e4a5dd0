/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Images: the bytes at an address, and the symbols that name them.
 *
 * An object is one ELF file, kernel text dump or block of raw bytes; it may be mapped many times. A
 * space is one address space: objects mapped at addresses. A space can have a parent (the kernel,
 * for every process), which supplies addresses that the space itself does not map. Both are
 * reference counted; <ntrace/error.h> says which functions several threads may call.
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
 * @path: file; also the name of the object, see ntrace_object_name()
 *
 * A truncated core file (ET_CORE) gives the part that the file contains.
 *
 * The object maps the file until the last reference is gone: the file must not change meanwhile.
 *
 * Return: 0, NTRACE_ERR_IO (errno is kept), NTRACE_ERR_FORMAT (no ELF, damaged),
 * NTRACE_ERR_TRUNCATED (segments or section headers are missing at its end), NTRACE_ERR_NOTRISCV,
 * NTRACE_ERR_NOMEM.
 */
NTRACE_API int ntrace_object_open_elf(struct ntrace_object **object, const char *path);

/**
 * ntrace_object_open_elf_memory - an ELF file in memory, such as the vDSO
 * @object: the new object, one reference
 * @name: name in reports; copied
 * @data: bytes of the file, copied
 * @size: number of bytes; 0 gives NTRACE_ERR_FORMAT
 *
 * Return: as ntrace_object_open_elf(), without NTRACE_ERR_IO.
 */
NTRACE_API int ntrace_object_open_elf_memory(struct ntrace_object **object, const char *name,
					     const void *data, size_t size);

/**
 * struct ntrace_section_address - load address of a section of a module
 * @name: ".text", ...: a file name in /sys/module/MODULE/sections
 * @address: address of its content
 */
struct ntrace_section_address {
	const char *name;
	uint64_t address;
};

/**
 * ntrace_object_open_module - a relocatable ELF file such as a kernel module
 * @object: the new object, one reference
 * @path: file (.ko, .o)
 * @sections: addresses of its sections; sections not listed are not loaded
 * @count: number of @sections
 *
 * Each listed section with bytes becomes a segment at the given address, which is its link address.
 * Direct control transfers between listed sections are relocated; all other bytes that the loader
 * would have changed are marked uncertain. If the recording contains the module's text, use that
 * text instead.
 *
 * Return: as ntrace_object_open_elf(), NTRACE_ERR_FORMAT also for a file that is not relocatable,
 * NTRACE_ERR_INVALID for sections that wrap round.
 */
NTRACE_API int ntrace_object_open_module(struct ntrace_object **object, const char *path,
					 const struct ntrace_section_address *sections,
					 size_t count);

/**
 * ntrace_open_below - open a regular file of another machine
 * @root: directory with the files of that machine; "" = this machine
 * @path: absolute path on that machine; links on the way are followed as there, and stay below @root
 *
 * Return: descriptor to read, NTRACE_ERR_IO (errno is kept; ENOSYS: the kernel has no openat2(), Linux 5.6),
 * NTRACE_ERR_FORMAT: not a regular file.
 */
NTRACE_EXPERIMENTAL int ntrace_open_below(const char *root, const char *path);

/**
 * ntrace_path_below - find a file or a directory of another machine
 * @root: as for ntrace_open_below()
 * @path: as for ntrace_open_below()
 * @found: set to the path on this machine: @root and @path, if that leads to the file from here, too
 * @size: room of @found
 *
 * Return: 0 or NTRACE_ERR_IO, as ntrace_open_below().
 */
NTRACE_EXPERIMENTAL int ntrace_path_below(const char *root, const char *path, char *found,
					  size_t size);

/**
 * ntrace_debug_stays_below - whether a debugger would look for an ELF file's debug information below a directory only
 * @root: directory with the files of another machine
 * @path: ELF file below @root; other files name nothing
 * @reason: set, if not, to a file outside that .gnu_debugaltlink or the name of a .dwo file leads to, a
 *          .gnu_debuglink with directories, or "DWARF that cannot be read"
 * @size: room of @reason
 *
 * Debuggers follow these names as this machine does. Names of files that do not exist lead nowhere.
 *
 * Return: true: nothing outside would be opened. A file that cannot be opened is not opened by a debugger, either.
 */
NTRACE_EXPERIMENTAL bool ntrace_debug_stays_below(const char *root, const char *path, char *reason,
						  size_t size);

/**
 * ntrace_object_add_debug_file - take symbols from the separate debug file of an ELF file
 * @object: an object made from an ELF file
 * @directories: directories of debug files, the last one followed by NULL; NULL = /usr/lib/debug
 *
 * Looks for DIRECTORY/.build-id/NN/REST.debug, then for the name in .gnu_debuglink, with a matching
 * checksum, in the directory of the file, in its .debug directory and in DIRECTORY/PATH, then for
 * DIRECTORY/FILE.debug, DIRECTORY/FILE and .debug/NAME, which need a build-id. For a stripped file it then
 * asks the servers in the environment variable DEBUGINFOD_URLS. A file of another build-id is never taken.
 *
 * Return: 0, NTRACE_ERR_IO with errno ENOENT if no file was found, NTRACE_ERR_BUILDID if all files
 * found belong to another build, else as ntrace_object_open_elf() for the file found.
 */
NTRACE_API int ntrace_object_add_debug_file(struct ntrace_object *object,
					    const char *const *directories);

/**
 * ntrace_object_debug_name - path of the debug file that ntrace_object_add_debug_file() found
 * @object: object of any kind
 *
 * Return: string owned by the object, NULL if it has none.
 */
NTRACE_API const char *ntrace_object_debug_name(const struct ntrace_object *object);

/**
 * ntrace_object_missing_debug - why a part of an object's DWARF was not read
 * @object: object of any kind
 *
 * A program built with -gsplit-dwarf has its functions and inlined functions in .dwo files or in a .dwp
 * file; only lines are in the program. dwz moves what programs share to another file. Older versions of
 * libdw do not read .dwp files, and sections that are compressed with zstd. ntrace_lines_open() and
 * ntrace_units_open() of the object find out.
 *
 * Return: the first reason, such as "a.dwo: not found", owned by the object; NULL if nothing was missing.
 */
NTRACE_API const char *ntrace_object_missing_debug(const struct ntrace_object *object);

/**
 * typedef ntrace_object_read_fn - reads memory for an object
 * @data: the argument of ntrace_object_from_callback()
 * @address: first byte
 * @buffer: destination
 * @size: number of bytes; partial reads are errors
 *
 * Must not call into the object. Return: 0, or any other value if the bytes are unreadable.
 */
typedef int (*ntrace_object_read_fn)(void *data, uint64_t address, void *buffer, size_t size);

/**
 * ntrace_object_from_callback - memory read on demand
 * @object: the new object, one reference
 * @name: name in reports; copied
 * @address: address of the first byte; its "link address"
 * @size: number of bytes
 * @read: reads part of the memory
 * @data: passed to @read
 *
 * The object caches up to 256 KiB in pages. If a page cannot be read, smaller parts down to one
 * byte are tried, so that only unreadable bytes give NTRACE_ERR_NOMAP.
 *
 * Return: 0, NTRACE_ERR_INVALID (size 0 or wrapping round), NTRACE_ERR_NOMEM.
 */
NTRACE_API int ntrace_object_from_callback(struct ntrace_object **object, const char *name,
					   uint64_t address, uint64_t size,
					   ntrace_object_read_fn read, void *data);

/**
 * ntrace_object_jump_table - base of the jump vector table (Zcmt)
 * @object: object of any kind
 * @address: set to a link address: the symbol __jvt_base$ of the ELF file
 *
 * Return: 0 or NTRACE_ERR_NOMAP if the object has none (then 0 is stored).
 */
NTRACE_API int ntrace_object_jump_table(const struct ntrace_object *object, uint64_t *address);

/**
 * ntrace_object_entry - entry point of a program
 * @object: object of any kind
 * @address: set to the link address of the first instruction: e_entry of the ELF file
 * @offset: set to the file offset of that instruction in bytes
 *
 * Return: 0 or NTRACE_ERR_NOMAP if the object has none (then 0 is stored).
 */
NTRACE_API int ntrace_object_entry(const struct ntrace_object *object, uint64_t *address,
				   uint64_t *offset);

/**
 * ntrace_object_from_bytes - raw memory
 * @object: the new object, one reference
 * @name: name in reports; copied
 * @data: bytes, copied
 * @size: number of bytes, not 0
 * @address: address of the first byte; its "link address"
 *
 * Return: 0, NTRACE_ERR_INVALID (size 0 or wrapping round), NTRACE_ERR_NOMEM.
 */
NTRACE_API int ntrace_object_from_bytes(struct ntrace_object **object, const char *name,
					const void *data, size_t size, uint64_t address);

/**
 * ntrace_object_get - take a reference to an object
 * @object: object of any kind; NULL is allowed
 *
 * Any number of threads may take and drop references of one object.
 *
 * Return: @object.
 */
NTRACE_API struct ntrace_object *ntrace_object_get(struct ntrace_object *object);

/**
 * ntrace_object_put - drop a reference to an object; the last one frees it
 * @object: object of any kind; NULL is allowed
 */
NTRACE_API void ntrace_object_put(struct ntrace_object *object);

/**
 * ntrace_object_name - the path that the file had on the recorded machine, or the given name
 * @object: object of any kind
 *
 * A session names its objects as the recording does, wherever their files are now. Files of the recording
 * itself, such as kernel text, have a path in it, which does not begin with a slash.
 *
 * Return: string owned by the object.
 */
NTRACE_API const char *ntrace_object_name(const struct ntrace_object *object);

/**
 * ntrace_object_path - the file that an object was read from
 * @object: object of any kind
 *
 * Return: path on this machine, owned by the object; NULL for an object made of memory.
 */
NTRACE_API const char *ntrace_object_path(const struct ntrace_object *object);

/**
 * ntrace_object_short_name - file name without directories, "[kernel]" for copies of its text
 * @object: object of any kind
 *
 * Return: string owned by the object.
 */
NTRACE_API const char *ntrace_object_short_name(const struct ntrace_object *object);

/**
 * ntrace_object_build_id - build-id of an object
 * @object: object of any kind
 * @size: set to the number of bytes, at most NTRACE_BUILD_ID_MAX; 0 if the object has no build-id
 *
 * Return: the bytes, owned by the object; never NULL.
 */
NTRACE_API const uint8_t *ntrace_object_build_id(const struct ntrace_object *object, size_t *size);

/**
 * ntrace_object_code_hash - hash of the code of an object
 * @object: object of any kind
 *
 * Of the bytes of its executable segments, and where they are: tells files without build-id apart. An object of a
 * counts file whose file is not here has the hash of that file.
 *
 * Return: the hash; 0 for objects that are no files.
 */
NTRACE_EXPERIMENTAL uint64_t ntrace_object_code_hash(const struct ntrace_object *object);

/**
 * ntrace_object_isa - instruction set of an object
 * @object: object of any kind
 *
 * From the ELF header and .riscv.attributes; RV64GC for raw bytes and for memory read on demand.
 *
 * Return: instruction set owned by the object.
 */
NTRACE_API const struct ntrace_isa *ntrace_object_isa(const struct ntrace_object *object);

/**
 * ntrace_object_segment - a loadable segment that has bytes in the file
 * @object: object of any kind
 * @index: number of the segment, from 0
 * @address: set to the link address
 * @size: set to the number of bytes
 * @executable: set to whether the segment may be executed
 *
 * Return: 0, or NTRACE_ERR_INVALID if no such segment exists (then all are set to 0).
 */
NTRACE_API int ntrace_object_segment(const struct ntrace_object *object, size_t index,
				     uint64_t *address, uint64_t *size, bool *executable);

/**
 * ntrace_object_file_offset - file offset of the byte at a link address
 * @object: object of any kind
 * @address: link address
 * @offset: set to the offset in the file in bytes
 *
 * Return: 0, or NTRACE_ERR_NOMAP if no segment contains it (then 0 is stored).
 */
NTRACE_API int ntrace_object_file_offset(const struct ntrace_object *object, uint64_t address,
					 uint64_t *offset);

/**
 * ntrace_object_function - enumerate the functions of an object, in no particular order
 * @object: object of any kind
 * @index: from 0 on
 * @address: set to the link address of the symbol; untouched after the last
 *
 * Lists all functions of the symbol tables, including several at the same address.
 *
 * Return: the name, owned by the object; "" for a symbol that is no function; NULL after the last.
 */
NTRACE_API const char *ntrace_object_function(const struct ntrace_object *object, size_t index,
					      uint64_t *address);

/**
 * ntrace_object_add_symbol - name an address range
 * @object: object of any kind
 * @name: copied
 * @address: link address
 * @size: bytes; 0 = up to the next symbol
 *
 * For kallsyms, ksymbol events, JIT code.
 *
 * Return: 0 or NTRACE_ERR_NOMEM.
 */
NTRACE_API int ntrace_object_add_symbol(struct ntrace_object *object, const char *name,
					uint64_t address, uint64_t size);

/**
 * ntrace_object_mark_uncertain - bytes whose content at run time is unknown
 * @object: object of any kind
 * @address: link address of the first byte
 * @size: number of bytes; 0 marks nothing, a range that wraps round ends at the last address
 *
 * A flow that walks through the range reports an event.
 *
 * Return: 0 or NTRACE_ERR_NOMEM.
 */
NTRACE_API int ntrace_object_mark_uncertain(struct ntrace_object *object, uint64_t address,
					    uint64_t size);

/**
 * ntrace_demangle - the name of a symbol as a programmer wrote it: C++ and Rust
 * @name: name of the symbol
 *
 * "@@VERSION" and what the library adds, such as "@plt", stay behind the name.
 *
 * A symbol of a few hundred bytes may stand for gigabytes of text. If it may exceed 4 MiB, it stays mangled.
 *
 * Return: the name, or a copy of @name if it is not mangled, to be freed with free(); NULL when out
 * of memory.
 */
NTRACE_API char *ntrace_demangle(const char *name);

/**
 * ntrace_demangles_cxx - whether C++ names can be demangled
 *
 * Demangling C++ needs the C++ library of the machine, libstdc++.so.6 or libc++abi.so.1. Without
 * this library ntrace_demangle() returns copies of C++ names; Rust names need no library.
 *
 * Return: true if one of these libraries was found; the search happens once per process.
 */
NTRACE_API bool ntrace_demangles_cxx(void);

/**
 * struct ntrace_location - contents of an address of a space
 * @object: object mapped there; borrowed
 * @link_address: address within the object as linked
 * @symbol: function that contains the address, NULL if none; borrowed. Local labels (.L*, $x) are
 *          never used; without a symbol table, .gnu_debugdata gives the names of functions that are
 *          not exported, and .eh_frame ranges give "sub_LINKADDRESS" names. The resolver of an IFUNC is
 *          "NAME [resolver]", an entry of the PLT "NAME@plt". A function of a stripped file without a
 *          size is "NAME [no size]": what follows it, up to the next symbol or the end of the section,
 *          may belong to another function
 * @symbol_start: link address of the symbol
 * @symbol_size: its size in bytes, 0 if unknown
 * @uncertain: the bytes are marked uncertain
 * @function: name of the function that @symbol is, or is a part of: "f" for "f.cold" and "f.part.0"
 *            if the object has it; NULL without @symbol; borrowed. Clones such as "f.constprop.0" are
 *            functions of their own
 * @function_start: its link address; identifies the function within the object
 */
struct ntrace_location {
	struct ntrace_object *object;
	uint64_t link_address;
	const char *symbol;
	uint64_t symbol_start;
	uint64_t symbol_size;
	bool uncertain;
	const char *function;
	uint64_t function_start;
};

/**
 * ntrace_object_locate - contents of a link address of an object
 * @object: object of any kind
 * @address: link address
 * @location: filled in; without a symbol if no segment of @object holds @address
 *
 * Return: 0 or NTRACE_ERR_NOMAP.
 */
NTRACE_EXPERIMENTAL int ntrace_object_locate(struct ntrace_object *object, uint64_t address,
					     struct ntrace_location *location);

/**
 * ntrace_location_same_function - whether two places are in the same function of the same object
 * @a: a place
 * @b: another place
 *
 * Parts of a function count as one function, see @function of struct ntrace_location. Code of an
 * object without a symbol counts as one function.
 *
 * Return: true if both places are in one function.
 */
NTRACE_EXPERIMENTAL bool ntrace_location_same_function(const struct ntrace_location *a,
						       const struct ntrace_location *b);

/**
 * ntrace_location_is_entry - whether a jump from another function to a place calls a function
 * @location: the place
 *
 * Compilers and BOLT split functions: "f.cold" is the rarely executed part of "f", likewise
 * "f.cold.0", "f.warm" and "f.__part.0". A jump between the parts is no call, and either part may
 * catch exceptions. "f.part.0" is not meant: it has an entry of its own.
 *
 * Return: true at the start of a symbol, unless it is a part that only its function jumps to.
 */
NTRACE_EXPERIMENTAL bool ntrace_location_is_entry(const struct ntrace_location *location);

/**
 * ntrace_symbol_matches - whether a name typed by a user matches a symbol
 * @symbol: the symbol
 * @name: the symbol, or its demangled form with or without parameters, kernel module or version
 *
 * "f" does not match the entry "f@plt" of a PLT, nor the resolver "f [resolver]" of an IFUNC.
 *
 * Return: true if they match; false also when out of memory.
 */
NTRACE_EXPERIMENTAL bool ntrace_symbol_matches(const char *symbol, const char *name);

/**
 * ntrace_object_function_matches - whether a name typed by a user is a name of a function of an object
 * @object: object of any kind
 * @start: link address of the function, e.g. @symbol_start of a location
 * @name: as for ntrace_symbol_matches(); any of the names that the symbol tables have at @start
 *
 * Return: true if it is; false also when out of memory.
 */
NTRACE_EXPERIMENTAL bool ntrace_object_function_matches(struct ntrace_object *object,
							uint64_t start, const char *name);

/**
 * ntrace_space_new - an empty address space
 * @space: the new space, one reference
 * @name: for messages, e.g. "pid 123 (bzip2)"; copied
 * @parent: supplies addresses that @space does not map; may be NULL; referenced
 *
 * Return: 0 or NTRACE_ERR_NOMEM.
 */
NTRACE_API int ntrace_space_new(struct ntrace_space **space, const char *name,
				struct ntrace_space *parent);

/**
 * ntrace_space_get - take a reference to a space
 * @space: space made by ntrace_space_new() or ntrace_space_clone(); NULL is allowed
 *
 * Any number of threads may take and drop references of one space.
 *
 * Return: @space.
 */
NTRACE_API struct ntrace_space *ntrace_space_get(struct ntrace_space *space);

/**
 * ntrace_space_put - drop a reference to a space; the last one frees it and releases its objects
 * and its parent
 * @space: space made by ntrace_space_new() or ntrace_space_clone(); NULL is allowed
 */
NTRACE_API void ntrace_space_put(struct ntrace_space *space);

/**
 * ntrace_space_name - name of a space
 * @space: space made by ntrace_space_new() or ntrace_space_clone()
 *
 * Return: string owned by the space.
 */
NTRACE_API const char *ntrace_space_name(const struct ntrace_space *space);

/**
 * ntrace_space_clone - a copy of all mappings, as fork() makes
 * @copy: the new space, one reference, with the parent of @space
 * @name: for messages; copied
 * @space: the space to copy
 *
 * Return: 0 or NTRACE_ERR_NOMEM.
 */
NTRACE_API int ntrace_space_clone(struct ntrace_space **copy, const char *name,
				  const struct ntrace_space *space);

/**
 * ntrace_space_map - map part of a file as mmap() does
 * @space: space made by ntrace_space_new() or ntrace_space_clone()
 * @object: object; referenced by the space
 * @address: first address
 * @size: bytes
 * @file_offset: offset of the first byte in the file (PERF_RECORD_MMAP2 pgoff)
 *
 * A later mapping replaces earlier ones where they overlap, byte for byte.
 *
 * Return: 0, NTRACE_ERR_INVALID (size 0 or wrapping round), NTRACE_ERR_NOMEM.
 */
NTRACE_API int ntrace_space_map(struct ntrace_space *space, struct ntrace_object *object,
				uint64_t address, uint64_t size, uint64_t file_offset);

/**
 * ntrace_space_map_linked - map every loadable segment at its link address plus a bias
 * @space: space made by ntrace_space_new() or ntrace_space_clone()
 * @object: object; referenced by the space
 * @bias: bytes added to each link address, modulo 2^64
 *
 * For static programs, firmware, kernel text dumps and raw bytes.
 *
 * Return: 0, NTRACE_ERR_INVALID (a segment wraps round), NTRACE_ERR_NOMEM; on an error the earlier
 * segments stay mapped.
 */
NTRACE_API int ntrace_space_map_linked(struct ntrace_space *space, struct ntrace_object *object,
				       uint64_t bias);

/**
 * ntrace_space_unmap - remove all mappings in a range
 * @space: space made by ntrace_space_new() or ntrace_space_clone()
 * @address: first address
 * @size: bytes; 0 removes nothing, a range that wraps round ends at the last address
 *
 * Return: 0 or NTRACE_ERR_NOMEM, with the space unchanged.
 */
NTRACE_API int ntrace_space_unmap(struct ntrace_space *space, uint64_t address, uint64_t size);

/**
 * ntrace_space_version - changes with every map and unmap in the space or its parents
 * @space: space made by ntrace_space_new() or ntrace_space_clone()
 *
 * For callers that cache bytes: no other space ever has the same version, even a space allocated at
 * the address of a freed one. Adding symbols or uncertain ranges does not change the version.
 *
 * Return: a number that only grows.
 */
NTRACE_API uint64_t ntrace_space_version(const struct ntrace_space *space);

/**
 * ntrace_space_read - instruction bytes
 * @space: space made by ntrace_space_new() or ntrace_space_clone()
 * @address: address of the first byte
 * @data: set to a pointer into the object, valid until the mapping or object is removed; for an
 *        object made by ntrace_object_from_callback() only until the next call that reads from it
 * @available: set to the number of bytes that follow there contiguously
 *
 * Return: 0 or NTRACE_ERR_NOMAP.
 */
NTRACE_API int ntrace_space_read(const struct ntrace_space *space, uint64_t address,
				 const uint8_t **data, size_t *available);

/**
 * ntrace_space_locate - object and symbol at an address
 * @space: space made by ntrace_space_new() or ntrace_space_clone()
 * @address: an address of the space
 * @location: filled in, with strings borrowed from object and space
 *
 * Return: 0 or NTRACE_ERR_NOMAP (then @location is zeroed except for its name).
 */
NTRACE_API int ntrace_space_locate(const struct ntrace_space *space, uint64_t address,
				   struct ntrace_location *location);

struct ntrace_locator;

/**
 * ntrace_locator_new - a cache for lookups
 *
 * Return: the new locator, to be freed with ntrace_locator_free(); NULL when out of memory.
 */
NTRACE_API struct ntrace_locator *ntrace_locator_new(void);

/**
 * ntrace_locator_free - free a locator and release the space of its last lookup
 * @locator: locator made by ntrace_locator_new(); NULL is allowed
 */
NTRACE_API void ntrace_locator_free(struct ntrace_locator *locator);

/**
 * ntrace_locator_find - cached ntrace_space_locate()
 * @locator: locator made by ntrace_locator_new()
 * @space: the space; referenced until a lookup in another space; may be NULL
 * @address: an address of the space
 *
 * Return: never NULL; its object is NULL if nothing is known (then it has no name either). Valid
 * until the next call for the same locator.
 */
NTRACE_API const struct ntrace_location *
ntrace_locator_find(struct ntrace_locator *locator, struct ntrace_space *space, uint64_t address);

/**
 * ntrace_space_table_target - target of a CM.JT or CM.JALT
 * @space: space made by ntrace_space_new() or ntrace_space_clone()
 * @insn: instruction with table_jump set
 * @pc: its address in the space
 * @jvt: address of the jump vector table in the space (CSR jvt without mode bits); NULL = the table
 *       of the object at @pc, see ntrace_object_jump_table()
 * @target: the target
 *
 * Reads an entry of XLEN bits at table + index * XLEN / 8 (Zcmt) and ignores its lowest bit, as the
 * hart does.
 *
 * Return: 0, NTRACE_ERR_INVALID (no such instruction), NTRACE_ERR_NOMAP with the address that could
 * not be read in @target: that of the entry, or @pc if no table is known.
 */
NTRACE_API int ntrace_space_table_target(const struct ntrace_space *space,
					 const struct ntrace_insn *insn, uint64_t pc,
					 const uint64_t *jvt, uint64_t *target);

#ifdef __cplusplus
}
#endif

#endif /* NTRACE_IMAGE_H */
