// SPDX-License-Identifier: GPL-2.0-only
/* Parts of ELF files. */
#include <fcntl.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "elf_file.h"
#include "history.h"

#ifndef DF_1_PIE
#define DF_1_PIE 0x08000000
#endif

void elf_file_close(struct elf_file *file)
{
	if (!file)
		return;
	if (file->bytes)
		munmap((void *)(uintptr_t)file->bytes, (size_t)file->size);
	free(file->part);
	free(file);
}

static bool add_part(struct elf_file *file, size_t *room, uint64_t address, uint64_t size,
		     uint64_t offset, bool fresh)
{
	/* A damaged header must not lead outside the file or round the address space. */
	if (!size || offset > file->size || size > file->size - offset || address + size < address)
		return true;
	if (!history_grow(&file->part, file->parts, room, sizeof(*file->part)))
		return false;
	file->part[file->parts++] = (struct elf_part){ fresh, address, address + size, offset };
	return true;
}

/* Sections tell more than segments: linkers put read-only and writable data into one segment. */
static bool add_sections(struct elf_file *file, Elf *elf, size_t *room)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;

	while ((section = elf_nextscn(elf, section))) {
		if (!gelf_getshdr(section, &header) || !(header.sh_flags & SHF_ALLOC))
			continue;
		file->sections++;
		if (header.sh_flags & SHF_TLS || header.sh_type == SHT_NOBITS)
			continue;
		if (!add_part(file, room, header.sh_addr, header.sh_size, header.sh_offset,
			      header.sh_flags & SHF_WRITE))
			return false;
	}
	return true;
}

static void take_interpreter(struct elf_file *file, const GElf_Phdr *header)
{
	uint64_t size = header->p_filesz;

	if (header->p_offset > file->size || size > file->size - header->p_offset || !size ||
	    size >= sizeof(file->interpreter))
		return;
	memcpy(file->interpreter, file->bytes + header->p_offset, size);
}

static bool add_segments(struct elf_file *file, Elf *elf, size_t *room, uint64_t headers_at)
{
	bool sections = file->parts != 0;
	size_t count, i;
	GElf_Phdr header;

	if (elf_getphdrnum(elf, &count))
		count = 0;
	file->header_count = count;
	for (i = 0; i < count; i++) {
		if (!gelf_getphdr(elf, (int)i, &header))
			continue;
		if (header.p_type == PT_INTERP)
			take_interpreter(file, &header);
		if (header.p_type == PT_DYNAMIC)
			file->dynamic = header.p_vaddr;
		if (header.p_type != PT_LOAD)
			continue;
		if (headers_at >= header.p_offset && headers_at < header.p_offset + header.p_filesz)
			file->headers = header.p_vaddr + (headers_at - header.p_offset);
		/* Without sections, code cannot be told from data in the same segment. */
		if (!add_part(file, room, header.p_vaddr, header.p_filesz, header.p_offset,
			      header.p_flags & PF_W && (sections || !(header.p_flags & PF_X))))
			return false;
	}
	return true;
}

static bool is_pie(Elf *elf)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	GElf_Dyn entry;
	Elf_Data *data;

	while ((section = elf_nextscn(elf, section))) {
		if (!gelf_getshdr(section, &header) || header.sh_type != SHT_DYNAMIC)
			continue;
		data = elf_getdata(section, NULL);
		for (int i = 0; data && gelf_getdyn(data, i, &entry); i++)
			if (entry.d_tag == DT_FLAGS_1)
				return entry.d_un.d_val & DF_1_PIE;
	}
	return false;
}

static bool read_headers(struct elf_file *file, int fd)
{
	Elf *elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	GElf_Ehdr header;
	size_t room = 0;
	bool good;

	good = elf && elf_kind(elf) == ELF_K_ELF && gelf_getehdr(elf, &header);
	if (good) {
		file->entry = header.e_entry;
		file->header_size = header.e_phentsize;
		file->float_size = header.e_flags & EF_RISCV_FLOAT_ABI_DOUBLE ? 8 :
				   header.e_flags & EF_RISCV_FLOAT_ABI_SINGLE ? 4 :
										0;
		file->program = header.e_type == ET_EXEC ||
				(header.e_type == ET_DYN && is_pie(elf));
		good = add_sections(file, elf, &room) &&
		       add_segments(file, elf, &room, header.e_phoff);
	}
	elf_end(elf);
	return good;
}

struct elf_file *elf_file_open(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct elf_file *file;
	struct stat status;
	void *bytes;

	elf_version(EV_CURRENT);
	if (fd < 0)
		return NULL;
	file = calloc(1, sizeof(*file));
	if (file && !fstat(fd, &status) && S_ISREG(status.st_mode) && status.st_size) {
		bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
		if (bytes != MAP_FAILED) {
			file->bytes = bytes;
			file->size = (uint64_t)status.st_size;
		}
	}
	if (file && (!file->bytes || !read_headers(file, fd))) {
		elf_file_close(file);
		file = NULL;
	}
	close(fd);
	return file;
}

const uint8_t *elf_file_read(const struct elf_file *file, uint64_t address, bool fresh,
			     uint64_t *available)
{
	for (size_t i = 0; i < file->parts; i++) {
		const struct elf_part *part = &file->part[i];

		if (address < part->start || address >= part->end || (part->fresh && !fresh))
			continue;
		*available = part->end - address;
		return file->bytes + part->offset + (address - part->start);
	}
	return NULL;
}
