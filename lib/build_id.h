/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Build-ids in ELF notes, for the whole library. */
#ifndef NTRACE_BUILD_ID_H
#define NTRACE_BUILD_ID_H

#include <elf.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

/* Of longer ones these are the first bytes, as perf records them: perf.data has no room for more. */
#define BUILD_ID_ROOM 20

/* Program headers and notes of a file that are looked at. */
#define BUILD_ID_HEADERS 64
#define BUILD_ID_NOTES 4096

/* Return: the build-id in @size bytes of notes, of *@id_size bytes; NULL: there is none, *@id_size is 0 */
static inline const uint8_t *build_id_in_notes(const uint8_t *notes, size_t size,
					       uint64_t alignment, size_t *id_size)
{
	size_t mask = alignment == 8 ? 7 : 3;

	*id_size = 0;
	while (size >= sizeof(Elf32_Nhdr)) {
		Elf32_Nhdr note;
		size_t description_at, next;

		memcpy(&note, notes, sizeof(note));
		if (note.n_namesz > size || note.n_descsz > size)
			return NULL;
		description_at = (sizeof(note) + note.n_namesz + mask) & ~mask;
		if (description_at > size || note.n_descsz > size - description_at)
			return NULL;
		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
		    !memcmp(notes + sizeof(note), "GNU", 4) && note.n_descsz) {
			*id_size = note.n_descsz;
			return notes + description_at;
		}
		next = (description_at + note.n_descsz + mask) & ~mask;
		if (next > size)
			return NULL;
		notes += next;
		size -= next;
	}
	return NULL;
}

/* Return: number of bytes that are copied to @build_id */
static inline size_t build_id_keep(const uint8_t *id, size_t size, uint8_t *build_id)
{
	size = size < BUILD_ID_ROOM ? size : BUILD_ID_ROOM;
	if (size)
		memcpy(build_id, id, size);
	return size;
}

/* The same of the PT_NOTE segments of a little-endian ELF file, without reading the rest of it. */
static inline size_t build_id_of_file(int fd, uint8_t *build_id)
{
	Elf64_Ehdr wide = { 0 };
	Elf32_Ehdr narrow;
	uint64_t headers_at;
	size_t entry, count, i;
	uint8_t notes[BUILD_ID_NOTES];

	if (pread(fd, &wide, sizeof(wide), 0) < (ssize_t)sizeof(narrow) ||
	    memcmp(wide.e_ident, ELFMAG, SELFMAG) || wide.e_ident[EI_DATA] != ELFDATA2LSB)
		return 0;
	memcpy(&narrow, &wide, sizeof(narrow));
	if (wide.e_ident[EI_CLASS] == ELFCLASS64) {
		headers_at = wide.e_phoff;
		entry = sizeof(Elf64_Phdr);
		count = wide.e_phnum;
	} else {
		headers_at = narrow.e_phoff;
		entry = sizeof(Elf32_Phdr);
		count = narrow.e_phnum;
	}
	for (i = 0; i < count && i < BUILD_ID_HEADERS; i++) {
		Elf64_Phdr header = { 0 };
		Elf32_Phdr small;
		ssize_t got;
		const uint8_t *id;
		size_t size;

		if (pread(fd, &header, entry, (off_t)(headers_at + i * entry)) != (ssize_t)entry)
			return 0;
		if (entry == sizeof(small)) {
			memcpy(&small, &header, sizeof(small));
			header.p_type = small.p_type;
			header.p_offset = small.p_offset;
			header.p_filesz = small.p_filesz;
			header.p_align = small.p_align;
		}
		if (header.p_type != PT_NOTE)
			continue;
		got = pread(fd, notes,
			    header.p_filesz < sizeof(notes) ? (size_t)header.p_filesz :
							      sizeof(notes),
			    (off_t)header.p_offset);
		id = got <= 0 ? NULL : build_id_in_notes(notes, (size_t)got, header.p_align, &size);
		if (id)
			return build_id_keep(id, size, build_id);
	}
	return 0;
}

#endif
