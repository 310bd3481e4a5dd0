// SPDX-License-Identifier: GPL-2.0-only
/*
 * Runs a statically linked Linux program of Debian on the virt machine without Linux: a monitor in
 * machine mode. The program runs in user mode with virtual memory (Sv39). The monitor serves its
 * system calls, its page faults and a timer, so that a trace has all effects of each of them.
 *
 * The program and a file that it can open as "/input" are linked into the monitor (PROGRAM, INPUT).
 * COMMANDS is a list of command lines, each with a terminating NULL; they run one after another.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef uint64_t u64;
typedef uint8_t u8;

#define CLINT 0x2000000ul
#define MTIMECMP (CLINT + 0x4000)
#define MTIME (CLINT + 0xbff8)
#define UART 0x10000000ul
#define FINISHER 0x100000ul
#define TICKS 2000 /* between two timer interrupts, 10 MHz */

#define PAGE 4096ul
#define POOL 0x84000000ul /* free pages up to the end of memory */
#define POOL_END 0x90000000ul
#define STACK_TOP 0x3ffffff000ul
#define STACK_SIZE 0x800000ul
#define MMAP_BASE 0x2000000000ul

#define PTE_V 0x01u
#define PTE_R 0x02u
#define PTE_W 0x04u
#define PTE_X 0x08u
#define PTE_U 0x10u
#define PTE_AD 0xc0u

#define BADF (-9l)
#define NOMEM (-12l)
#define NOENT (-2l)
#define NOTTY (-25l)
#define NOSYS (-38l)
#define INVAL (-22l)

enum { RA = 1, SP = 2, A0 = 10, A7 = 17 };

struct frame {
	u64 pc;
	u64 x[32]; /* x[0] is not used */
};

struct elf_header {
	u8 ident[16];
	uint16_t type, machine;
	uint32_t version;
	u64 entry, phoff, shoff;
	uint32_t flags;
	uint16_t ehsize, phentsize, phnum, shentsize, shnum, shstrndx;
};

struct segment {
	uint32_t type, flags;
	u64 offset, vaddr, paddr, filesz, memsz, align;
};

extern const u8 program[], input[], input_end[];
extern void trap_entry(void);
extern void resume(struct frame *frame) __attribute__((noreturn));

__asm__(".section .init\n"
	".globl _start\n"
	/* An interrupt is pending when csrsi enables it. */
	"_start:\n"
	"	la	sp, stack_end\n"
	"	la	t0, 1f\n"
	"	csrw	mtvec, t0\n"
	"	li	t0, 1 << 7\n"
	"	csrw	mie, t0\n"
	"	li	t0, 0x2004000\n"
	"	sd	zero, 0(t0)\n"
	"	csrsi	mstatus, 8\n"
	"	csrci	mstatus, 8\n"
	"	j	start\n"
	"	.balign 4\n"
	"1:	li	t1, -1\n"
	"	sd	t1, 0(t0)\n"
	"	mret\n"
	".text\n"
	".balign 4\n"
	".globl trap_entry, resume\n"
	"trap_entry:\n"
	"	csrrw	sp, mscratch, sp\n"
	"	sd	x1, 16(sp)\n"
	"	.irp	n, "
	"3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31\n"
	"	sd	x\\n, 8 + 8 * \\n(sp)\n"
	"	.endr\n"
	"	csrr	t0, mscratch\n"
	"	sd	t0, 24(sp)\n"
	"	csrr	t0, mepc\n"
	"	sd	t0, 0(sp)\n"
	"	mv	a0, sp\n"
	"	la	sp, stack_end\n"
	"	j	trap\n"
	"resume:\n"
	"	csrw	mscratch, a0\n"
	"	ld	t0, 0(a0)\n"
	"	csrw	mepc, t0\n"
	"	.irp	n, "
	"1,2,3,4,5,6,7,8,9,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31\n"
	"	ld	x\\n, 8 + 8 * \\n(a0)\n"
	"	.endr\n"
	"	ld	x10, 88(a0)\n"
	"	mret\n"
	".section .rodata\n"
	".balign 4096\n"
	"program:	.incbin \"" PROGRAM "\"\n"
	".balign 4096\n"
	"input:	.incbin \"" INPUT "\"\n"
	"input_end:\n"
	".bss\n"
	".balign 16\n"
	".skip 16384\n"
	"stack_end:\n"
	".text\n");

static const char *const commands[] = { COMMANDS NULL };
static const char *const *command = commands;

static struct frame frame;
static u64 pool = POOL;
static u64 *root;
static u64 brk_start, brk_end, mmap_end;
static struct {
	bool open;
	u64 at;
} files[8];

#define csr_write(name, value) __asm__ volatile("csrw " #name ", %0" ::"r"((u64)(value)))
#define csr_set(name, value) __asm__ volatile("csrs " #name ", %0" ::"r"((u64)(value)))
#define csr_read(name)                                                                             \
	({                                                                                         \
		u64 read_value;                                                                    \
		__asm__ volatile("csrr %0, " #name : "=r"(read_value));                            \
		read_value;                                                                        \
	})

void *memcpy(void *to, const void *from, size_t size)
{
	u8 *t = to;
	const u8 *f = from;

	for (; size >= 8 && !(((u64)t | (u64)f) & 7); size -= 8, t += 8, f += 8)
		*(u64 *)t = *(const u64 *)f;
	while (size--)
		*t++ = *f++;
	return to;
}

void *memset(void *to, int value, size_t size)
{
	for (u8 *t = to; size--;)
		*t++ = (u8)value;
	return to;
}

static void put(const char *text)
{
	while (*text)
		*(volatile u8 *)UART = *text++;
}

static void put_number(u64 value)
{
	if (value >= 10)
		put_number(value / 10);
	*(volatile u8 *)UART = '0' + value % 10;
}

static void power_off(void)
{
	csr_write(mie, 0);
	*(volatile uint32_t *)FINISHER = 0x5555;
	/* The machine ends at some time after this store: nothing follows. */
	for (;;)
		__asm__ volatile("wfi");
}

static void die(const char *text, u64 value)
{
	put("monitor: ");
	put(text);
	put(" ");
	put_number(value);
	put("\n");
	power_off();
}

/* ---- memory ---- */

static u64 new_page(void)
{
	pool += PAGE;
	if (pool > POOL_END)
		die("out of memory", 0);
	return pool - PAGE;
}

/* The entry of a page; makes the tables on the way. */
static u64 *entry(u64 address)
{
	u64 *table = root;

	for (unsigned int shift = 30; shift > 12; shift -= 9) {
		u64 *pte = &table[address >> shift & 511];

		if (!*pte)
			*pte = new_page() >> 2 | PTE_V;
		table = (u64 *)(*pte >> 10 << 12);
	}
	return &table[address >> 12 & 511];
}

static void map(u64 address, u64 page, unsigned int rights)
{
	*entry(address) = page >> 2 | rights | PTE_U | PTE_AD | PTE_V;
}

static bool is_lazy(u64 address)
{
	return (address >= brk_start && address < brk_end) ||
	       (address >= MMAP_BASE && address < mmap_end) ||
	       (address >= STACK_TOP - STACK_SIZE && address < STACK_TOP);
}

/* Memory of the program, in the monitor's view; NULL: it has none there. */
static void *user(u64 address)
{
	u64 *pte = entry(address);

	if (!*pte) {
		if (!is_lazy(address))
			return NULL;
		map(address, new_page(), PTE_R | PTE_W);
	}
	return (void *)((*pte >> 10 << 12) + address % PAGE);
}

static void copy_to_user(u64 to, const void *from, u64 size)
{
	while (size) {
		u64 part = PAGE - to % PAGE;
		void *at = user(to);

		if (!at)
			die("no memory at", to);
		if (part > size)
			part = size;
		memcpy(at, from, part);
		to += part;
		from = (const u8 *)from + part;
		size -= part;
	}
}

static void load(u64 address, const struct segment *segment)
{
	u64 end = segment->vaddr + segment->memsz;
	u64 in_file = segment->vaddr + segment->filesz;
	u64 base = (u64)program + segment->offset - segment->vaddr;

	for (; address < end; address += PAGE) {
		u64 page;

		/* Text is mapped where it is. */
		if (!(segment->flags & 2)) {
			map(address, base + address, PTE_R | (segment->flags & 1 ? PTE_X : 0));
			continue;
		}
		page = new_page();
		map(address, page, PTE_R | PTE_W);
		if (address < in_file)
			memcpy((void *)page, (void *)(base + address),
			       in_file - address < PAGE ? in_file - address : PAGE);
	}
	if (end > brk_start)
		brk_start = (end + 2 * PAGE - 1) & -PAGE;
}

static u64 put_string(u64 *sp, const char *text)
{
	u64 size = 1;

	while (text[size - 1])
		size++;
	*sp -= size;
	copy_to_user(*sp, text, size);
	return *sp;
}

/* The stack as Linux sets it up, with one variable in the environment. */
static void make_stack(const struct elf_header *elf)
{
	u64 words[64], sp = STACK_TOP - 16, count = 0, strings[16], argc = 0, random;
	static const u64 random_bytes[2] = { 0x0123456789abcdef, 0xfedcba9876543210 };

	sp -= sizeof(random_bytes);
	random = sp;
	copy_to_user(sp, random_bytes, sizeof(random_bytes));
	for (; *command; command++)
		strings[argc++] = put_string(&sp, *command);
	command++;
	words[count++] = argc;
	for (u64 i = 0; i < argc; i++)
		words[count++] = strings[i];
	words[count++] = 0;
	words[count++] = put_string(&sp, "LC_ALL=C");
	words[count++] = 0;
	const u64 auxv[][2] = {
		{ 3, 0x10000 + elf->phoff },
		{ 4, elf->phentsize },
		{ 5, elf->phnum },
		{ 6, PAGE },
		{ 9, elf->entry },
		{ 11, 0 },
		{ 12, 0 },
		{ 13, 0 },
		{ 14, 0 },
		{ 16, 0x112d },
		{ 17, 100 },
		{ 23, 0 },
		{ 25, random },
		{ 31, strings[0] },
		{ 0, 0 },
	};
	memcpy(&words[count], auxv, sizeof(auxv));
	count += sizeof(auxv) / sizeof(u64);
	sp = (sp - 8 * count) & -16ul;
	copy_to_user(sp, words, 8 * count);
	frame.x[SP] = sp;
}

static void __attribute__((noreturn)) run(void)
{
	const struct elf_header *elf = (const void *)program;

	if (!*command)
		power_off();
	memset(&frame, 0, sizeof(frame));
	memset(files, 0, sizeof(files));
	for (unsigned int i = 0; i < 3; i++)
		files[i].open = true;
	root = (u64 *)new_page();
	brk_start = 0;
	mmap_end = MMAP_BASE;
	for (unsigned int i = 0; i < elf->phnum; i++) {
		const struct segment *segment = (const void *)(program + elf->phoff + i * 56);

		if (segment->type == 1)
			load(segment->vaddr & -PAGE, segment);
	}
	brk_end = brk_start;
	make_stack(elf);
	frame.pc = elf->entry;
	csr_write(satp, 8ul << 60 | (u64)root >> 12);
	__asm__ volatile("sfence.vma" ::: "memory");
	csr_write(fcsr, 0);
	resume(&frame);
}

/* ---- system calls ---- */

static long write_bytes(u64 fd, u64 address, u64 size)
{
	if (fd != 1 && fd != 2)
		return BADF;
	for (u64 i = 0; i < size; i++) {
		const u8 *at = user(address + i);

		if (!at)
			return -14;
		*(volatile u8 *)UART = *at;
	}
	return size;
}

static long write_vector(u64 fd, u64 vector, u64 count)
{
	long sum = 0, done;

	for (u64 i = 0; i < count; i++) {
		const u64 *part = user(vector + 16 * i);

		done = write_bytes(fd, part[0], part[1]);
		if (done < 0)
			return done;
		sum += done;
	}
	return sum;
}

static bool is_file(u64 fd)
{
	return fd < sizeof(files) / sizeof(files[0]) && files[fd].open;
}

static long read_bytes(u64 fd, u64 address, u64 size)
{
	u64 left = input_end - input;

	if (!is_file(fd) || fd < 3)
		return fd < 3 ? 0 : BADF;
	left -= files[fd].at;
	if (size > left)
		size = left;
	copy_to_user(address, input + files[fd].at, size);
	files[fd].at += size;
	return size;
}

static long seek(u64 fd, long to, u64 whence)
{
	if (!is_file(fd) || fd < 3)
		return -29;
	if (whence == 1)
		to += files[fd].at;
	if (whence == 2)
		to += input_end - input;
	files[fd].at = to;
	return to;
}

static long open(u64 address)
{
	static const char name[] = "/input";
	const char *text = user(address);

	for (unsigned int i = 0; i < sizeof(name); i++)
		if (!text || text[i] != name[i])
			return NOENT;
	for (unsigned int fd = 3; fd < sizeof(files) / sizeof(files[0]); fd++)
		if (!files[fd].open) {
			files[fd].open = true;
			files[fd].at = 0;
			return fd;
		}
	return -24;
}

/* struct stat: mode, size, block size; pipes are neither files nor terminals. */
static long status(u64 fd, u64 address)
{
	u64 words[16] = { 0 };

	if (!is_file(fd))
		return BADF;
	words[2] = 1ul << 32 | (fd < 3 ? 0010644 : 0100644);
	words[6] = fd < 3 ? 0 : input_end - input;
	words[7] = PAGE;
	copy_to_user(address, words, sizeof(words));
	return 0;
}

static long map_memory(u64 address, u64 size, u64 flags)
{
	u64 start = mmap_end;

	/* MAP_ANONYMOUS, not MAP_FIXED */
	if ((flags & 0x30) != 0x20 || !size)
		return INVAL;
	(void)address;
	mmap_end += (size + PAGE - 1) & -PAGE;
	return mmap_end > MMAP_BASE + 0x40000000 ? NOMEM : (long)start;
}

static long unmap(u64 address, u64 size)
{
	for (; size >= PAGE; address += PAGE, size -= PAGE)
		*entry(address) = 0;
	__asm__ volatile("sfence.vma" ::: "memory");
	return 0;
}

static long set_break(u64 to)
{
	if (to >= brk_start && to < brk_start + 0x8000000)
		brk_end = to;
	return brk_end;
}

static long get_time(u64 address)
{
	u64 ticks = *(volatile u64 *)MTIME, words[2] = { ticks / 10000000, ticks % 10000000 * 100 };

	copy_to_user(address, words, sizeof(words));
	return 0;
}

static long name_of_system(u64 address)
{
	static const char names[6][65] = { "Linux", "monitor", "6.12.0", "#1", "riscv64", "" };

	copy_to_user(address, names, sizeof(names));
	return 0;
}

static long random_bytes(u64 address, u64 size)
{
	static u64 state = 0x9e3779b97f4a7c15;

	for (u64 i = 0; i < size; i++) {
		u8 byte;

		state ^= state << 13;
		state ^= state >> 7;
		state ^= state << 17;
		byte = (u8)state;
		copy_to_user(address + i, &byte, 1);
	}
	return size;
}

static long call(u64 number, const u64 *a)
{
	switch (number) {
	case 29: /* ioctl */
		return NOTTY;
	case 56: /* openat */
		return open(a[1]);
	case 57: /* close */
		if (!is_file(a[0]))
			return BADF;
		files[a[0]].open = false;
		return 0;
	case 62: /* lseek */
		return seek(a[0], a[1], a[2]);
	case 63: /* read */
		return read_bytes(a[0], a[1], a[2]);
	case 64: /* write */
		return write_bytes(a[0], a[1], a[2]);
	case 66: /* writev */
		return write_vector(a[0], a[1], a[2]);
	case 78: /* readlinkat */
		return NOENT;
	case 79: /* newfstatat, of a descriptor */
		return a[3] & 0x1000 ? status(a[0], a[2]) : NOENT;
	case 80: /* fstat */
		return status(a[0], a[1]);
	case 93: /* exit */
	case 94: /* exit_group */
		if (a[0])
			die("the program ended with", a[0]);
		run();
	case 96: /* set_tid_address */
	case 172: /* getpid */
	case 178: /* gettid */
		return 1;
	case 99: /* set_robust_list */
	case 134: /* rt_sigaction */
	case 135: /* rt_sigprocmask */
	case 167: /* prctl */
	case 174: /* getuid, geteuid, getgid, getegid */
	case 175:
	case 176:
	case 177:
	case 226: /* mprotect */
	case 233: /* madvise */
		return 0;
	case 113: /* clock_gettime */
		return get_time(a[1]);
	case 160: /* uname */
		return name_of_system(a[0]);
	case 214: /* brk */
		return set_break(a[0]);
	case 215: /* munmap */
		return unmap(a[0], a[1]);
	case 216: /* mremap */
		return NOMEM;
	case 222: /* mmap */
		return map_memory(a[0], a[1], a[3]);
	case 261: /* prlimit64 */
		if (a[3]) {
			const u64 limits[2] = { STACK_SIZE, -1ul };

			copy_to_user(a[3], limits, sizeof(limits));
		}
		return 0;
	case 278: /* getrandom */
		return random_bytes(a[0], a[1]);
	case 258: /* riscv_hwprobe */
	case 291: /* statx */
	case 293: /* rseq */
		return NOSYS;
	default:
		die("no such system call:", number);
		return NOSYS;
	}
}

/* ---- traps ---- */

void trap(void)
{
	u64 cause = csr_read(mcause), address = csr_read(mtval);

	if (cause == (1ul << 63 | 7)) {
		*(volatile u64 *)MTIMECMP = *(volatile u64 *)MTIME + TICKS;
	} else if (cause == 8) {
		frame.x[A0] = call(frame.x[A7], &frame.x[A0]);
		frame.pc += 4;
	} else if ((cause == 13 || cause == 15) && is_lazy(address) && !*entry(address)) {
		map(address, new_page(), PTE_R | PTE_W);
		__asm__ volatile("sfence.vma %0" ::"r"(address) : "memory");
	} else {
		put("monitor: mtval ");
		put_number(address);
		put(" mepc ");
		put_number(frame.pc);
		put("\n");
		die("unexpected trap", cause);
	}
	resume(&frame);
}

void start(void)
{
	csr_write(mtvec, (u64)trap_entry);
	csr_write(pmpaddr0, -1ul);
	csr_write(pmpcfg0, 0x1f);
	/* FS: initial; traps return to user mode. */
	csr_write(mstatus, 0x2000);
	*(volatile u64 *)MTIMECMP = *(volatile u64 *)MTIME + TICKS;
	csr_write(mie, 1 << 7);
	run();
}
