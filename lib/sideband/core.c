// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * ELF core files, read without libelf: /proc/kcore reports no size, so libelf cannot map it.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bisect.h"
#include "grow.h"
#include "core.h"
#include "regular.h"

#define PAGE 4096
#define EF_RISCV_RVC_FLOAT_DOUBLE 5

static int compare_pieces(const void *left, const void *right)
{
	const struct core_piece *a = left, *b = right;

	return a->address < b->address ? -1 : a->address > b->address;
}

static int read_pieces(struct core *core, const Elf64_Ehdr *header)
{
	size_t i, kept = 0;

	core->pieces = calloc(header->e_phnum + 1u, sizeof(*core->pieces));
	if (!core->pieces)
		return NTRACE_ERR_NOMEM;
	for (i = 0; i < header->e_phnum; i++) {
		Elf64_Phdr program;

		if (pread(core->fd, &program, sizeof(program),
			  (off_t)(header->e_phoff + i * sizeof(program))) != sizeof(program))
			return NTRACE_ERR_FORMAT;
		if (program.p_type != PT_LOAD || !program.p_filesz ||
		    program.p_vaddr + (program.p_filesz - 1) < program.p_vaddr ||
		    program.p_offset + program.p_filesz < program.p_offset ||
		    program.p_offset + program.p_filesz > INT64_MAX)
			continue;
		core->pieces[core->count++] =
			(struct core_piece){ program.p_vaddr, program.p_filesz, program.p_offset };
	}
	qsort(core->pieces, core->count, sizeof(*core->pieces), compare_pieces);
	for (i = 0; i < core->count; i++) {
		const struct core_piece *last = kept ? &core->pieces[kept - 1] : NULL;

		if (last && core->pieces[i].address - last->address < last->size)
			continue;
		core->pieces[kept++] = core->pieces[i];
	}
	core->count = kept;
	return 0;
}

/* In a truncated file the last piece ends early; a file with wrong sizes is refused. */
static int clip_pieces(struct core *core)
{
	struct stat st;
	uint64_t left;
	size_t i;

	if (fstat(core->fd, &st))
		return NTRACE_ERR_IO;
	left = st.st_size > 0 ? (uint64_t)st.st_size : 0;
	for (i = 0; i < core->count; i++) {
		struct core_piece *piece = &core->pieces[i];

		if (piece->offset >= (uint64_t)st.st_size)
			piece->size = 0;
		else if (piece->size > (uint64_t)st.st_size - piece->offset)
			piece->size = (uint64_t)st.st_size - piece->offset;
		if (!piece->size || piece->size > left)
			return NTRACE_ERR_FORMAT;
		left -= piece->size;
	}
	return 0;
}

int core_open(struct core *core, const char *path, bool memory)
{
	Elf64_Ehdr header;
	struct stat status;
	int error;

	memset(core, 0, sizeof(*core));
	core->fd = -1;
	error = open_regular(path, &core->fd, &status);
	if (error)
		return error;
	if (pread(core->fd, &header, sizeof(header), 0) != sizeof(header) ||
	    memcmp(header.e_ident, ELFMAG, SELFMAG) || header.e_ident[EI_CLASS] != ELFCLASS64 ||
	    header.e_ident[EI_DATA] != ELFDATA2LSB || header.e_type != ET_CORE ||
	    header.e_phentsize != sizeof(Elf64_Phdr) || header.e_phoff > INT32_MAX)
		error = NTRACE_ERR_FORMAT;
	else if (header.e_machine != EM_RISCV)
		error = NTRACE_ERR_NOTRISCV;
	else
		error = read_pieces(core, &header);
	if (!error && !memory)
		error = clip_pieces(core);
	if (error)
		core_close(core);
	return error;
}

void core_close(struct core *core)
{
	int saved = errno;

	if (core->fd >= 0)
		close(core->fd);
	free(core->pieces);
	core->fd = -1;
	core->pieces = NULL;
	core->count = 0;
	errno = saved;
}

/*
 * Return: number of bytes read. An unreadable page of memory is skipped and does not end the read.
 */
static uint64_t read_some(int fd, uint8_t *data, uint64_t size, uint64_t offset)
{
	uint64_t done = 0, got_all = 0;

	while (done < size) {
		ssize_t got = pread(fd, data + done, size - done, (off_t)(offset + done));

		if (got < 0 && errno == EINTR)
			continue;
		if (got == 0)
			break;
		if (got < 0) {
			uint64_t step = PAGE - (offset + done) % PAGE;

			done += step < size - done ? step : size - done;
			continue;
		}
		done += (uint64_t)got;
		got_all += (uint64_t)got;
	}
	return got_all;
}

uint64_t core_read(const struct core *core, uint64_t address, void *data, uint64_t size)
{
	size_t low = 0;
	uint64_t had = 0;

	memset(data, 0, size);
	BISECT(low, core->count, middle,
	       core->pieces[middle].address + (core->pieces[middle].size - 1) < address);
	for (; low < core->count; low++) {
		const struct core_piece *piece = &core->pieces[low];
		uint64_t skip = piece->address > address ? piece->address - address : 0;
		uint64_t inside = piece->address > address ? 0 : address - piece->address;
		uint64_t part = piece->size - inside;

		if (skip >= size)
			break;
		if (part > size - skip)
			part = size - skip;
		had += read_some(core->fd, (uint8_t *)data + skip, part, piece->offset + inside);
	}
	return had;
}

/* ---- writer ---- */

struct core_writer {
	int fd;
	int error;
	Elf64_Phdr *programs;
	size_t count;
	size_t room;
	uint64_t end;
};

static void put(struct core_writer *writer, const void *data, uint64_t size, uint64_t offset)
{
	const uint8_t *bytes = data;

	while (size && !writer->error) {
		ssize_t done = pwrite(writer->fd, bytes, size, (off_t)offset);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0) {
			writer->error = done ? errno : EIO;
			return;
		}
		bytes += done;
		size -= (uint64_t)done;
		offset += (uint64_t)done;
	}
}

int core_writer_open(struct core_writer **writer, const char *path)
{
	struct core_writer *made = calloc(1, sizeof(*made));

	if (!made)
		return NTRACE_ERR_NOMEM;
	made->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (made->fd < 0) {
		free(made);
		return NTRACE_ERR_IO;
	}
	made->end = PAGE; /* the first page holds the ELF header */
	*writer = made;
	return 0;
}

int core_writer_add(struct core_writer *writer, uint64_t address, const void *data, uint64_t size)
{
	Elf64_Phdr *program;

	/* e_phnum has 16 bits, and its greatest value is reserved. */
	if (writer->count == PN_XNUM - 1)
		return NTRACE_ERR_NOSPACE;
	if (grow((void **)&writer->programs, writer->count, &writer->room,
		 sizeof(*writer->programs)))
		return NTRACE_ERR_NOMEM;
	writer->end = (writer->end + PAGE - 1) & ~(uint64_t)(PAGE - 1);
	program = &writer->programs[writer->count++];
	*program = (Elf64_Phdr){
		.p_type = PT_LOAD,
		.p_flags = PF_R | PF_X,
		.p_offset = writer->end,
		.p_vaddr = address,
		.p_filesz = size,
		.p_memsz = size,
		.p_align = PAGE,
	};
	put(writer, data, size, writer->end);
	writer->end += size;
	return writer->error ? NTRACE_ERR_IO : 0;
}

int core_writer_close(struct core_writer *writer)
{
	Elf64_Ehdr header = {
		.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
			     EV_CURRENT },
		.e_type = ET_CORE,
		.e_machine = EM_RISCV,
		.e_version = EV_CURRENT,
		.e_phoff = writer->count ? (writer->end + 7) & ~UINT64_C(7) : 0,
		.e_flags = EF_RISCV_RVC_FLOAT_DOUBLE,
		.e_ehsize = sizeof(header),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = (Elf64_Half)writer->count,
	};
	int error;

	put(writer, &header, sizeof(header), 0);
	put(writer, writer->programs, writer->count * sizeof(*writer->programs), header.e_phoff);
	if (close(writer->fd) && !writer->error)
		writer->error = errno;
	error = writer->error;
	free(writer->programs);
	free(writer);
	errno = error;
	return error ? NTRACE_ERR_IO : 0;
}
