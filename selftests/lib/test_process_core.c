// SPDX-License-Identifier: GPL-2.0-only
/* Core dumps of processes: notes, memory, and files that must be refused. */
#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "scratch.h"
#include "tap.h"
#include "values/core.h"

#define NOTES_AT 0x400
#define DATA_AT	 0x1000
#define PIECE	 32

/* As the kernel writes it: two threads, a mapping of a file, and two pieces of memory, the later one first. */
static struct {
	Elf64_Ehdr header;
	Elf64_Phdr program[4];
	uint8_t notes[2048];
	size_t notes_size;
	uint8_t data[2 * PIECE];
	size_t size;
} made;

static void add_note(uint32_t type, const char *owner, const void *bytes, uint32_t size)
{
	Elf64_Nhdr note = { .n_namesz = (uint32_t)strlen(owner) + 1,
			    .n_descsz = size,
			    .n_type = type };

	memcpy(made.notes + made.notes_size, &note, sizeof(note));
	made.notes_size += sizeof(note);
	memcpy(made.notes + made.notes_size, owner, note.n_namesz);
	made.notes_size += (note.n_namesz + 3) & ~3u;
	memcpy(made.notes + made.notes_size, bytes, size);
	made.notes_size += (size + 3) & ~3u;
}

static void add_thread(int32_t tid)
{
	uint8_t status[376] = { 0 };

	memcpy(status + 32, &tid, sizeof(tid));
	for (uint64_t i = 0; i < 32; i++) {
		uint64_t value = 0x1000u * (uint64_t)tid + i;

		memcpy(status + 112 + 8 * i, &value, sizeof(value));
	}
	add_note(NT_PRSTATUS, "CORE", status, sizeof(status));
}

static void add_files(uint64_t count)
{
	struct {
		uint64_t count, page, first, end, offset;
		char name[8];
	} files = { count, 4096, 0x8000, 0x9000, 0, "/bin/a" };

	add_note(NT_FILE, "CORE", &files, sizeof(files) - 1);
}

static void begin(bool with_notes)
{
	uint8_t info[136] = { 0 }, floats[264] = { 0 };
	int32_t pid = 7;

	memset(&made, 0, sizeof(made));
	made.header = (Elf64_Ehdr){ .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB,
						 EV_CURRENT },
				    .e_type = ET_CORE,
				    .e_machine = EM_RISCV,
				    .e_version = EV_CURRENT,
				    .e_ehsize = sizeof(Elf64_Ehdr),
				    .e_phoff = sizeof(Elf64_Ehdr),
				    .e_phentsize = sizeof(Elf64_Phdr),
				    .e_phnum = 4 };
	memcpy(info + 24, &pid, sizeof(pid));
	floats[8] = 0x55;
	floats[256] = 0xe0;
	if (with_notes) {
		add_thread(7);
		add_note(NT_PRPSINFO, "CORE", info, sizeof(info));
		add_note(NT_PRSTATUS, "LINUX", info, sizeof(info));
		add_files(1);
		add_note(NT_FPREGSET, "CORE", floats, sizeof(floats));
		add_thread(8);
	}
	made.program[0] = (Elf64_Phdr){ .p_type = PT_NOTE, .p_offset = NOTES_AT, .p_align = 4 };
	made.program[1] = (Elf64_Phdr){ .p_type = PT_LOAD,
					.p_flags = PF_R | PF_W,
					.p_offset = DATA_AT + PIECE,
					.p_vaddr = 0x9000,
					.p_filesz = PIECE,
					.p_memsz = 4096 };
	made.program[2] = (Elf64_Phdr){ .p_type = PT_LOAD,
					.p_flags = PF_R,
					.p_offset = DATA_AT,
					.p_vaddr = 0x8000,
					.p_filesz = PIECE,
					.p_memsz = PIECE };
	/* Pages of a file that nobody has written are not in the file. */
	made.program[3] = (Elf64_Phdr){ .p_type = PT_LOAD, .p_vaddr = 0xa000, .p_memsz = 4096 };
	for (unsigned int i = 0; i < sizeof(made.data); i++)
		made.data[i] = (uint8_t)(i + 1);
	made.size = DATA_AT + sizeof(made.data);
}

static int opens(struct ntrace_core **core, const char **reason)
{
	FILE *file = fopen(in("core"), "w");

	if (!file)
		exit(2);
	if (!made.program[0].p_filesz)
		made.program[0].p_filesz = made.notes_size;
	fwrite(&made.header, sizeof(made.header), 1, file);
	fwrite(made.program, sizeof(made.program), 1, file);
	fseek(file, NOTES_AT, SEEK_SET);
	fwrite(made.notes, made.notes_size, 1, file);
	fseek(file, DATA_AT, SEEK_SET);
	fwrite(made.data, sizeof(made.data), 1, file);
	fclose(file);
	run("truncate -s %zu %s", made.size, in("core"));
	return ntrace_core_open(core, in("core"), reason);
}

static void check_refused(int want, const char *words, const char *what)
{
	struct ntrace_core *core = NULL;
	const char *reason = NULL;
	int got = opens(&core, &reason);

	is_u64((uint64_t)got, (uint64_t)want, "%s", what);
	ok(reason && strstr(reason, words), "%s: the reason has '%s'", what, words);
	if (!got)
		ntrace_core_free(core);
}

static void test_contents(void)
{
	struct ntrace_core *core = NULL;
	struct ntrace_exec_value value;
	const char *reason = NULL;

	begin(true);
	is_u64((uint64_t)opens(&core, &reason), 0, "a core dump");
	if (!core)
		return;
	is_u64(core->threads, 2, "two threads");
	is_u64((uint64_t)ntrace_core_tid(core), 7, "the first one is the one that crashed");
	is_u64((uint64_t)core->pid, 7, "of process 7");
	is_u64(core_find_thread(core, 8)->x[31], 0x801f, "the registers of the other one");
	ok(!core_find_thread(core, 9), "there is no third one");
	ok(core->thread[0].floats && !core->thread[1].floats,
	   "floating point belongs to the thread before it");
	is_u64(core->thread[0].f[1], 0x55, "f1");
	is_u64(core->thread[0].fcsr, 0xe0, "fcsr");
	value = core_memory(core, 0x8000 + PIECE - 4, 8);
	is_u64(value.known, UINT32_MAX, "memory that the file does not have is unknown");
	is_u64(value.bits, 0x201f1e1d, "and the rest is known");
	is_u64(core_memory(core, 0x9000, 8).bits, 0x2827262524232221, "the other piece");
	is_u64(core_memory(core, 0xa000, 8).known, 0,
	       "a piece that is not in the file is no zeros");
	is_u64(core_memory(core, UINT64_MAX - 2, 8).known, 0, "the end of all addresses");
	ok(core_is_read_only(core, 0x8000) && !core_is_read_only(core, 0x9000),
	   "what could be written");
	ok(core_find_mapping(core, 0x8fff) && !core_find_mapping(core, 0x9000),
	   "the mapping of a file");
	ntrace_core_free(core);
}

static void test_refused(void)
{
	struct ntrace_core *core;
	const char *reason;

	begin(true);
	made.header.e_machine = EM_X86_64;
	check_refused(NTRACE_ERR_NOTRISCV, "another architecture", "of another machine");
	begin(true);
	made.header.e_type = ET_DYN;
	check_refused(NTRACE_ERR_FORMAT, "not a core dump", "a program");
	begin(false);
	check_refused(NTRACE_ERR_FORMAT, "no registers", "without notes");
	begin(true);
	made.size -= 1;
	check_refused(NTRACE_ERR_TRUNCATED, "cut short", "a core dump that is cut");
	begin(true);
	made.program[1].p_filesz = UINT64_MAX;
	check_refused(NTRACE_ERR_TRUNCATED, "cut short", "a piece of all sizes");
	begin(true);
	made.program[1].p_vaddr = UINT64_MAX - 1;
	check_refused(NTRACE_ERR_FORMAT, "not a core dump", "a piece beyond all addresses");
	begin(true);
	made.program[1].p_vaddr = 0x8001;
	check_refused(NTRACE_ERR_FORMAT, "not a core dump", "pieces at the same addresses");
	begin(true);
	made.notes_size = 0;
	add_thread(7);
	add_files(UINT64_MAX / 8);
	check_refused(NTRACE_ERR_FORMAT, "not a core dump", "more files than a note has room for");
	begin(true);
	made.size = 20;
	check_refused(NTRACE_ERR_FORMAT, "not a core dump", "a header that is cut");
	begin(true);
	made.header.e_ident[EI_CLASS] = ELFCLASS32;
	check_refused(NTRACE_ERR_UNSUPPORTED, "32-bit", "of a 32-bit process");
	mkfifo(in("fifo"), 0600);
	is_u64((uint64_t)ntrace_core_open(&core, in("fifo"), &reason), (uint64_t)NTRACE_ERR_FORMAT,
	       "a FIFO is not waited for");
	errno = 0;
	is_u64((uint64_t)ntrace_core_open(&core, in("none"), &reason), (uint64_t)NTRACE_ERR_IO,
	       "no such file");
	is_u64((uint64_t)errno, ENOENT, "errno says so");
}

/* Each byte of headers and notes, changed: refused or read, and nothing outside of the file. */
static void test_damaged(void)
{
	unsigned int opened = 0;

	for (size_t at = 0; at < NOTES_AT + 1400; at += 3) {
		struct ntrace_core *core = NULL;
		const char *reason;
		uint8_t *bytes;

		begin(true);
		made.program[0].p_filesz = made.notes_size;
		bytes = at < sizeof(made.header) ? (uint8_t *)&made.header + at :
			at < NOTES_AT		 ? (uint8_t *)made.program +
						(at - sizeof(made.header)) % sizeof(made.program) :
					made.notes + (at - NOTES_AT);
		*bytes ^= (uint8_t)(1u << at % 8 | 0x80);
		if (opens(&core, &reason))
			continue;
		core_memory(core, 0x8ffc, 8);
		for (size_t i = 0; i < core->mappings; i++) {
			size_t size;

			core_build_id(core, &core->mapping[i], &size);
		}
		ntrace_core_free(core);
		opened++;
	}
	ok(opened > 100, "damaged files are read, or refused");
}

int main(void)
{
	if (!scratch_make())
		return 2;
	test_contents();
	test_refused();
	test_damaged();
	scratch_remove();
	return done_testing();
}
