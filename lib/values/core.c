// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Core dumps of processes, as Linux and gcore write them. Of memory only what is in the file is known: pages of
 * files that nobody has written are left out, and so may be any other.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bisect.h"
#include "build_id.h"
#include "compare.h"
#include "core.h"
#include "grow.h"
#include "image/elf_parts.h"
#include "image/object.h"

/* struct elf_prstatus and struct elf_prpsinfo of a 64-bit Linux */
#define PRSTATUS_TID 32
#define PRSTATUS_REGISTERS 112
#define PRPSINFO_PID 24
#define THREADS (1u << 16)

/* Names that a file has in NT_FILE, whatever it says: count, page size, then three numbers for each. */
#define FILE_NUMBERS 24

static uint64_t number_at(const uint8_t *bytes, size_t index)
{
	uint64_t number;

	memcpy(&number, bytes + index * sizeof(number), sizeof(number));
	return number;
}

/* ---- notes ---- */

static int add_thread(struct ntrace_core *core, const uint8_t *note, size_t size)
{
	struct core_thread *thread;

	if (size < PRSTATUS_REGISTERS + sizeof(thread->x) || core->threads == THREADS)
		return NTRACE_ERR_FORMAT;
	if (grow((void **)&core->thread, core->threads, &core->thread_room, sizeof(*thread)))
		return NTRACE_ERR_NOMEM;
	thread = &core->thread[core->threads++];
	*thread = (struct core_thread){ 0 };
	memcpy(&thread->tid, note + PRSTATUS_TID, sizeof(thread->tid));
	memcpy(thread->x, note + PRSTATUS_REGISTERS, sizeof(thread->x));
	return 0;
}

/* They follow the registers of their thread. */
static int add_floats(struct ntrace_core *core, const uint8_t *note, size_t size)
{
	struct core_thread *thread = core->threads ? &core->thread[core->threads - 1] : NULL;

	if (!thread || size < sizeof(thread->f) + sizeof(thread->fcsr))
		return 0;
	memcpy(thread->f, note, sizeof(thread->f));
	memcpy(&thread->fcsr, note + sizeof(thread->f), sizeof(thread->fcsr));
	thread->floats = true;
	return 0;
}

static int add_mappings(struct ntrace_core *core, const uint8_t *note, size_t size)
{
	uint64_t count = size < 16 ? 0 : number_at(note, 0);
	const char *name, *end = (const char *)note + size;

	if (core->mapping || !count)
		return 0;
	if (count > (size - 16) / FILE_NUMBERS)
		return NTRACE_ERR_FORMAT;
	core->mapping = calloc((size_t)count, sizeof(*core->mapping));
	if (!core->mapping)
		return NTRACE_ERR_NOMEM;
	name = (const char *)note + 16 + count * FILE_NUMBERS;
	for (size_t i = 0; i < count; i++) {
		size_t length = strnlen(name, (size_t)(end - name));
		uint64_t first = number_at(note, 2 + 3 * i), after = number_at(note, 3 + 3 * i);

		if (name + length == end || after <= first)
			return NTRACE_ERR_FORMAT;
		core->mapping[core->mappings++] =
			(struct core_mapping){ .first = first,
					       .last = after - 1,
					       .name = name,
					       .from_start = !number_at(note, 4 + 3 * i) };
		name += length + 1;
	}
	return 0;
}

static int read_note(struct ntrace_core *core, uint32_t type, const uint8_t *note, size_t size)
{
	switch (type) {
	case NT_PRSTATUS:
		return add_thread(core, note, size);
	case NT_FPREGSET:
		return add_floats(core, note, size);
	case NT_FILE:
		return add_mappings(core, note, size);
	case NT_PRPSINFO:
		if (size >= PRPSINFO_PID + sizeof(core->pid))
			memcpy(&core->pid, note + PRPSINFO_PID, sizeof(core->pid));
		return 0;
	default:
		return 0;
	}
}

static int read_notes(struct ntrace_core *core, Elf *elf, const GElf_Phdr *header)
{
	Elf_Data *data = elf_getdata_rawchunk(elf, (int64_t)header->p_offset,
					      (size_t)header->p_filesz, ELF_T_NHDR);
	/* Those of libelf may be a copy, which ends with @elf. */
	const uint8_t *bytes = core->object->bytes + header->p_offset;
	size_t at = 0, next, name, note;
	GElf_Nhdr of;
	int error = 0;

	while (!error && data && (next = gelf_getnote(data, at, &of, &name, &note)) > 0) {
		/* Notes of the kernel for Linux alone have another owner, and the same numbers. */
		if (of.n_namesz == sizeof("CORE") && !memcmp(bytes + name, "CORE", sizeof("CORE")))
			error = read_note(core, of.n_type, bytes + note, of.n_descsz);
		at = next;
	}
	return error;
}

/* ---- memory ---- */

static int compare_pieces(const void *left, const void *right)
{
	const struct core_piece_of_memory *a = left, *b = right;

	return compare_numbers(a->first, b->first);
}

static bool is_in_file(const struct ntrace_core *core, const GElf_Phdr *header)
{
	return header->p_filesz <= core->object->size &&
	       header->p_offset <= core->object->size - header->p_filesz;
}

static int read_segments(struct ntrace_core *core, Elf *elf, const char **reason)
{
	size_t count, room;
	int error = 0;

	if (elf_getphdrnum(elf, &count))
		return NTRACE_ERR_FORMAT;
	room = count;
	core->piece = calloc(room + 1, sizeof(*core->piece));
	if (!core->piece)
		return NTRACE_ERR_NOMEM;
	for (size_t i = 0; !error && i < count; i++) {
		GElf_Phdr header;

		if (!gelf_getphdr(elf, (int)i, &header))
			return NTRACE_ERR_FORMAT;
		if ((header.p_type != PT_LOAD && header.p_type != PT_NOTE) || !header.p_filesz)
			continue;
		if (!is_in_file(core, &header)) {
			*reason = "the core dump is cut short: see ulimit -c";
			return NTRACE_ERR_TRUNCATED;
		}
		if (header.p_type == PT_NOTE)
			error = read_notes(core, elf, &header);
		else if (header.p_vaddr + (header.p_filesz - 1) < header.p_vaddr)
			error = NTRACE_ERR_FORMAT;
		else
			core->piece[core->pieces++] = (struct core_piece_of_memory){
				.first = header.p_vaddr,
				.last = header.p_vaddr + (header.p_filesz - 1),
				.bytes = core->object->bytes + header.p_offset,
				.writable = header.p_flags & PF_W,
			};
	}
	qsort(core->piece, core->pieces, sizeof(*core->piece), compare_pieces);
	for (size_t i = 1; !error && i < core->pieces; i++)
		if (core->piece[i].first <= core->piece[i - 1].last)
			error = NTRACE_ERR_FORMAT;
	return error;
}

static const struct core_piece_of_memory *find_piece(const struct ntrace_core *core,
						     uint64_t address)
{
	size_t low = 0;

	BISECT(low, core->pieces, at, core->piece[at].last < address);
	return low < core->pieces && core->piece[low].first <= address ? &core->piece[low] : NULL;
}

struct ntrace_exec_value core_memory(const struct ntrace_core *core, uint64_t address,
				     unsigned int bytes)
{
	const struct core_piece_of_memory *piece = NULL;
	struct ntrace_exec_value value = { 0, 0 };

	for (unsigned int i = 0; i < bytes; i++) {
		uint64_t at = address + i;

		if (!piece || at < piece->first || at > piece->last)
			piece = find_piece(core, at);
		if (!piece)
			continue;
		value.bits |= (uint64_t)piece->bytes[at - piece->first] << 8 * i;
		value.known |= UINT64_C(0xff) << 8 * i;
	}
	return value;
}

bool core_is_read_only(const struct ntrace_core *core, uint64_t address)
{
	const struct core_piece_of_memory *piece = find_piece(core, address);

	return piece && !piece->writable;
}

/* ---- questions ---- */

const struct core_thread *core_find_thread(const struct ntrace_core *core, int32_t tid)
{
	for (size_t i = 0; i < core->threads; i++)
		if (core->thread[i].tid == tid)
			return &core->thread[i];
	return NULL;
}

const struct core_mapping *core_find_mapping(const struct ntrace_core *core, uint64_t address)
{
	for (size_t i = 0; i < core->mappings; i++)
		if (address >= core->mapping[i].first && address <= core->mapping[i].last)
			return &core->mapping[i];
	return NULL;
}

const uint8_t *core_build_id(const struct ntrace_core *core, const struct core_mapping *mapping,
			     size_t *size)
{
	const struct core_piece_of_memory *piece = find_piece(core, mapping->first);
	uint64_t room = piece ? piece->last - mapping->first + 1 : 0;
	const uint8_t *bytes = piece ? piece->bytes + (mapping->first - piece->first) : NULL;
	Elf64_Ehdr header;

	*size = 0;
	if (room < sizeof(header) || !mapping->from_start)
		return NULL;
	memcpy(&header, bytes, sizeof(header));
	if (memcmp(header.e_ident, ELFMAG, SELFMAG) || header.e_phentsize != sizeof(Elf64_Phdr) ||
	    header.e_phoff > room)
		return NULL;
	for (size_t i = 0; i < header.e_phnum && i < BUILD_ID_HEADERS; i++) {
		uint64_t at = header.e_phoff + i * sizeof(Elf64_Phdr);
		const uint8_t *id;
		Elf64_Phdr program;

		if (sizeof(program) > room || at > room - sizeof(program))
			return NULL;
		memcpy(&program, bytes + at, sizeof(program));
		if (program.p_type != PT_NOTE || program.p_filesz > room ||
		    program.p_offset > room - program.p_filesz)
			continue;
		id = build_id_in_notes(bytes + program.p_offset, (size_t)program.p_filesz,
				       program.p_align, size);
		if (id)
			return id;
	}
	return NULL;
}

int32_t ntrace_core_tid(const struct ntrace_core *core)
{
	return core->thread[0].tid;
}

/* ---- opening ---- */

static int read_core(struct ntrace_core *core, const char **reason)
{
	GElf_Ehdr header;
	Elf *elf;
	int error = elf_begin_object(core->object, &elf, &header);

	if (error == NTRACE_ERR_NOTRISCV)
		*reason = "the core dump is one of another architecture";
	if (error)
		return error;
	if (header.e_type != ET_CORE || header.e_ident[EI_DATA] != ELFDATA2LSB)
		error = NTRACE_ERR_FORMAT;
	else if (header.e_ident[EI_CLASS] != ELFCLASS64) {
		*reason = "the core dump is one of a 32-bit process";
		error = NTRACE_ERR_UNSUPPORTED;
	} else {
		error = read_segments(core, elf, reason);
	}
	elf_end(elf);
	if (!error && !core->threads) {
		*reason = "the core dump has no registers (NT_PRSTATUS)";
		error = NTRACE_ERR_FORMAT;
	}
	return error;
}

void ntrace_core_free(struct ntrace_core *core)
{
	if (!core)
		return;
	ntrace_object_put(core->object);
	free(core->piece);
	free(core->thread);
	free(core->mapping);
	free(core);
}

int ntrace_core_open(struct ntrace_core **result, const char *path, const char **reason)
{
	struct ntrace_core *core = calloc(1, sizeof(*core));
	int error, saved;

	*reason = NULL;
	if (!core)
		return NTRACE_ERR_NOMEM;
	core->pid = -1;
	error = object_new(&core->object, path);
	if (!error)
		error = object_map_file(core->object, path);
	if (!error)
		error = read_core(core, reason);
	if (!error) {
		*result = core;
		return 0;
	}
	if (error == NTRACE_ERR_FORMAT && !*reason)
		*reason = "not a core dump of a process";
	saved = errno;
	ntrace_core_free(core);
	errno = saved;
	return error;
}
