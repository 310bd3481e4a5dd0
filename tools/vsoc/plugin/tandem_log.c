// SPDX-License-Identifier: GPL-2.0-only
/*
 * QEMU TCG plugin: writes the tandem trace of hart 0, from its first instruction on: the effects of
 * each instruction on pc, registers, CSRs, privilege and memory, and each trap with its CSRs.
 *
 *   -plugin tandem_log.so,out=FILE[,max=INSTRUCTIONS]
 *
 * With user-mode emulation, it is the trace of a program without its kernel: what a system call
 * changes in registers are effects of its ecall, and what it wrote to memory follows in a group that
 * initialises state. So does all that a signal changed together with the instruction before it. The
 * trace begins with the memory that the program may write. It is that of the first thread; the
 * child of a fork has none.
 *
 * The stream has xlen 64, mlen 64, flen 64 (include/ntrace/tandem.h); that of a hart of RV32 has xlen
 * 32, and mlen 34 if it has satp, else 32. It begins with a state initialisation of all registers.
 * After max instructions, QEMU is ended.
 *
 * QEMU calls before each instruction, and then shows what the one before has done. GPRs are
 * compared after every instruction, FPRs after those of F and D, CSRs after system instructions and
 * traps; no other instruction writes them. An instruction that is followed by an address to which
 * it cannot lead took a trap, or was interrupted: xepc and xcause tell which. An instruction that is
 * followed by itself without an effect was abandoned by QEMU, to be run again, and is one.
 *
 * Counters, time and registers whose reading has effects are left out. mip is written when it has
 * changed: it decides about interrupts.
 */
#include <fcntl.h>
#include <glib.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <qemu-plugin.h>

#include <ntrace/tandem.h>

#include "tandem/csr.h"
#include "user_memory.h"

QEMU_PLUGIN_EXPORT int qemu_plugin_version = QEMU_PLUGIN_VERSION;

#define BUFFER_SIZE (1 << 20)

enum {
	PC = NTRACE_TANDEM_PC,
	PRIV = NTRACE_TANDEM_PRIV,
	GPR = NTRACE_TANDEM_GPR,
	FPR = NTRACE_TANDEM_FPR,
};

/* A translated instruction. It is never freed: QEMU does not tell when it drops one. */
struct insn {
	uint32_t bits;
	uint8_t length;
	bool first;		/* of its block */
	uint16_t distance;	/* from the start of the block */
	uint64_t vaddr;		/* of user mode, where no two addresses have the same block */
};

static struct qemu_plugin_register *handles[NTRACE_TANDEM_STATE_REGISTERS];
static uint64_t value[NTRACE_TANDEM_STATE_REGISTERS];	/* as written to the trace */
static uint16_t csrs[4096];
static unsigned int csr_count;

/* What the current instruction changed. */
static uint16_t changed[NTRACE_TANDEM_STATE_REGISTERS];
static unsigned int changed_count;

static const struct insn *held;	/* the instruction that began last */
static uint64_t held_pc, block_pc;
static struct {
	bool access, store;
	uint64_t vaddr, paddr, data;
	unsigned int shift;
	bool has_paddr;
} memory;

static char *out;
static FILE *file;
static uint64_t max = UINT64_MAX, instructions, traps, interrupts, reruns, signals;
static bool user_mode;
static uint8_t buffer[BUFFER_SIZE];
static size_t used;
static struct ntrace_tandem_params params;
static uint64_t xlen_mask = UINT64_MAX;

static void flush(void)
{
	if (used && fwrite(buffer, 1, used, file) != used) {
		perror("tandem_log: write");
		exit(1);
	}
	used = 0;
}

static void put_field(const struct ntrace_tandem_field *field)
{
	int length;

	if (used + NTRACE_TANDEM_FIELD_MAX > BUFFER_SIZE)
		flush();
	length = ntrace_tandem_write(&params, field, buffer + used);
	if (length < 0) {
		fprintf(stderr, "tandem_log: a field of type %u cannot be written\n", field->type);
		exit(1);
	}
	used += length;
}

static void put(unsigned int type, unsigned int id, uint64_t data)
{
	struct ntrace_tandem_field field = { .type = type, .id = id, .value = data };

	put_field(&field);
}

/* Return: its bytes, 0 if there is no such register */
static unsigned int read_bytes(unsigned int id, uint64_t *data)
{
	static GByteArray *bytes;

	if (!bytes)
		bytes = g_byte_array_new();
	g_byte_array_set_size(bytes, 0);
	*data = 0;
	if (!handles[id] || qemu_plugin_read_register(handles[id], bytes) <= 0)
		return 0;
	memcpy(data, bytes->data, MIN(bytes->len, sizeof(*data)));
	return bytes->len;
}

/*
 * CSRs of RV32 have 64 bits in QEMU for riscv64. QEMU refuses to read satp in S mode with TVM, where it keeps
 * its value.
 */
static uint64_t read_register(unsigned int id)
{
	uint64_t data;

	if (!read_bytes(id, &data))
		return value[id];
	/* "priv" has V in bit 2. */
	if (id == PRIV)
		return data & 3;
	return id >= FPR && id < FPR + 32 ? data : data & xlen_mask;
}

/* The parameters of the stream are those of the hart. */
static void set_params(void)
{
	uint64_t data;

	if (read_bytes(PC, &data) != 4)
		return;
	params.xlen = 32;
	params.mlen = handles[SATP] ? 34 : 32;
	xlen_mask = UINT32_MAX;
}

static void look(unsigned int id)
{
	uint64_t now = read_register(id);

	if (now == value[id] || !handles[id])
		return;
	value[id] = now;
	changed[changed_count++] = id;
}

/* CSRs that a trap to the current privilege writes: an instruction before it may have written the others. */
static bool is_trap_csr(unsigned int id)
{
	return id == MSTATUS || id == PRIV ||
	       (value[PRIV] == 3 ? (id >= MEPC && id <= MTVAL) || id == MTINST || id == MTVAL2 :
				   (id >= SEPC && id <= STVAL) || id == HSTATUS || id == HTVAL ||
					   id == HTINST);
}

/* Writes changed registers: of the trap, of the instruction, or both. */
static void put_changes(bool insn, bool trap)
{
	for (unsigned int i = 0; i < changed_count; i++) {
		unsigned int id = changed[i];

		if (id == PRIV || !(is_trap_csr(id) ? trap : insn))
			continue;
		put(NTRACE_TANDEM_REGISTER, id, value[id]);
	}
}

static bool has_changed(unsigned int id)
{
	for (unsigned int i = 0; i < changed_count; i++)
		if (changed[i] == id)
			return true;
	return false;
}

static void write_trap(uint64_t priv, uint64_t status)
{
	unsigned int first = priv == 3 ? MEPC : SEPC;

	/* The same value again is an effect, too. */
	for (unsigned int id = first; id < first + 3; id++)
		if (!has_changed(id))
			put(NTRACE_TANDEM_REGISTER, id, value[id]);
	if (priv != value[PRIV] || !has_changed(MSTATUS))
		put(NTRACE_TANDEM_REGISTER, MSTATUS, status);
	put(NTRACE_TANDEM_STATE, NTRACE_TANDEM_STATE_PRIV, priv);
}

static void put_memory(void)
{
	if (!memory.access)
		return;
	put(NTRACE_TANDEM_STATE, NTRACE_TANDEM_STATE_EADDR, memory.vaddr);
	if (memory.has_paddr)
		put(NTRACE_TANDEM_STATE, NTRACE_TANDEM_STATE_PADDR, memory.paddr);
	if (memory.store && memory.shift <= 3)
		put(NTRACE_TANDEM_STATE, NTRACE_TANDEM_STATE_STORE8 + memory.shift, memory.data);
}

/* mip changes at any time. */
static void put_pending(void)
{
	uint64_t now = read_register(MIP);

	if (now != value[MIP])
		put(NTRACE_TANDEM_REGISTER, MIP, now);
	value[MIP] = now;
}

static void put_insn(uint64_t next)
{
	put(NTRACE_TANDEM_BEGIN, 0, 0);
	if (next == ((held_pc + held->length) & xlen_mask))
		put(NTRACE_TANDEM_NEXT_PC, 0, 0);
	else
		put(NTRACE_TANDEM_STATE, NTRACE_TANDEM_STATE_PC, next);
	put(held->length == 2 ? NTRACE_TANDEM_INSN16 : NTRACE_TANDEM_INSN32, 0, held->bits);
	put_pending();
}

static int64_t bits_at(uint32_t word, unsigned int low, unsigned int count, unsigned int to)
{
	return (int64_t)(word >> low & ((1u << count) - 1)) << to;
}

static int64_t sign(int64_t data, unsigned int bits)
{
	return (int64_t)((uint64_t)data << (64 - bits)) >> (64 - bits);
}

/*
 * Zcmp and Zcmt have the encodings of c.fsdsp, which stores: cm.popret and cm.popretz return to the ra that
 * they have loaded, and cm.jt and cm.jalt jump to an entry of the table at jvt.
 */
static uint64_t target_of_table(uint32_t w, uint64_t next)
{
	uint64_t entry = (value[0x017] & ~63ull) + (uint64_t)(w >> 2 & 0xff) * params.xlen / 8;
	static GByteArray *bytes;

	if ((w & 0xfd03) == 0xbc02 && memory.access && !memory.store)
		return read_register(GPR + 1) & ~1ull;
	if ((w & 0xfc03) != 0xa002 || !handles[0x017] || memory.access)
		return next;
	if (!bytes)
		bytes = g_byte_array_new();
	if (qemu_plugin_read_memory_vaddr(entry, bytes, params.xlen / 8))
		memcpy(&next, bytes->data, params.xlen / 8);
	return next & ~1ull;
}

/*
 * The addresses that may follow the instruction if it retires, with the registers before it.
 * Return: how many, 0 for ecall and ebreak; the first is that of straight execution
 */
static unsigned int successors_of(const struct insn *insn, uint64_t pc, uint64_t *next)
{
	uint32_t w = insn->bits;

	next[0] = pc + insn->length;
	if (insn->length == 4) {
		switch (w & 0x7f) {
		case 0x63:
			next[1] = pc + sign(bits_at(w, 8, 4, 1) | bits_at(w, 25, 6, 5) |
						    bits_at(w, 7, 1, 11) | bits_at(w, 31, 1, 12),
					    13);
			return 2;
		case 0x6f:
			next[0] = pc + sign(bits_at(w, 21, 10, 1) | bits_at(w, 20, 1, 11) |
						    bits_at(w, 12, 8, 12) | bits_at(w, 31, 1, 20),
					    21);
			return 1;
		case 0x67:
			next[0] = (value[GPR + (w >> 15 & 31)] + sign(w >> 20, 12)) & ~1ull;
			return 1;
		case 0x73:
			if (w == 0x00000073 || w == 0x00100073)
				return user_mode && !(w >> 20);
			if (w == MRET)
				next[0] = value[MEPC];
			if (w == SRET)
				next[0] = value[SEPC];
			return 1;
		default:
			return 1;
		}
	}
	switch ((w & 3) << 3 | w >> 13) {
	case 1 << 3 | 1: /* c.jal; c.addiw of RV64 */
		if (params.xlen == 64)
			return 1;
		/* fall through */
	case 1 << 3 | 5:
		next[0] = pc + sign(bits_at(w, 3, 3, 1) | bits_at(w, 11, 1, 4) |
					    bits_at(w, 2, 1, 5) | bits_at(w, 7, 1, 6) |
					    bits_at(w, 6, 1, 7) | bits_at(w, 9, 2, 8) |
					    bits_at(w, 8, 1, 10) | bits_at(w, 12, 1, 11),
				    12);
		return 1;
	case 1 << 3 | 6:
	case 1 << 3 | 7:
		next[1] =
			pc + sign(bits_at(w, 3, 2, 1) | bits_at(w, 10, 2, 3) | bits_at(w, 2, 1, 5) |
					  bits_at(w, 5, 2, 6) | bits_at(w, 12, 1, 8),
				  9);
		return 2;
	case 2 << 3 | 4:
		if (w == 0x9002)
			return 0;
		if (!(w >> 2 & 31) && (w >> 7 & 31))
			next[0] = value[GPR + (w >> 7 & 31)] & ~1ull;
		return 1;
	case 2 << 3 | 5:
		next[0] = target_of_table(w, next[0]);
		return 1;
	default:
		return 1;
	}
}

static unsigned int successors(const struct insn *insn, uint64_t pc, uint64_t *next)
{
	unsigned int count = successors_of(insn, pc, next);

	next[0] &= xlen_mask;
	if (count == 2)
		next[1] &= xlen_mask;
	return count;
}

static bool is_system(const struct insn *insn)
{
	return insn->length == 4 && (insn->bits & 0x7f) == 0x73;
}

static bool is_float(const struct insn *insn)
{
	uint32_t w = insn->bits, opcode = w & 0x7f;

	/* c.fld, c.fsd, c.fldsp, c.fsdsp; c.flw, c.fsw, c.flwsp, c.fswsp of RV32 */
	if (insn->length == 2)
		return (w & 3) != 1 && (w >> 13 == 1 || w >> 13 == 5 ||
					(params.xlen == 32 && (w >> 13 == 3 || w >> 13 == 7)));
	return opcode == 0x07 || opcode == 0x27 || opcode == 0x43 || opcode == 0x47 ||
	       opcode == 0x4b || opcode == 0x4f || opcode == 0x53;
}

static void look_at_csrs(void)
{
	for (unsigned int i = 0; i < csr_count; i++)
		look(csrs[i]);
}

/* mstatus: xIE, xPIE and xPP of a privilege, MPRV */
#define STATUS_IE(priv) (1ull << (priv))
#define STATUS_PIE(priv) (1ull << ((priv) + 4))
#define STATUS_PP(priv) ((priv) == 3 ? 3ull << 11 : 1ull << 8)
#define STATUS_MPRV (1ull << 17)

/* What the held instruction found: mstatus, privilege, and its register rs1. */
static uint64_t status_before, priv_before, operand_before;

/*
 * An interrupt came after the held system instruction and hides what it did to mstatus and
 * privilege: both follow from the state before it. Only these and the CSRs of traps are not seen.
 */
static void put_hidden(void)
{
	uint32_t w = held->bits;
	uint64_t status = status_before, operand = operand_before;
	unsigned int csr = w >> 20, to = w == MRET ? 3 : 1, from;

	if (w == MRET || w == SRET) {
		from = to == 3 ? status >> 11 & 3 : status >> 8 & 1;
		status = (status & ~(STATUS_IE(to) | STATUS_PP(to))) | STATUS_PIE(to) |
			 (status & STATUS_PIE(to)) >> 4;
		if (from != 3)
			status &= ~STATUS_MPRV;
		put(NTRACE_TANDEM_REGISTER, MSTATUS, status);
		put(NTRACE_TANDEM_STATE, NTRACE_TANDEM_STATE_PRIV, from);
		return;
	}
	if (!(w >> 12 & 3) || (csr != MSTATUS && csr != SSTATUS))
		return;
	if (w & 0x4000)
		operand = w >> 15 & 31;
	if ((w >> 12 & 3) == 2)
		operand = status | operand;
	else if ((w >> 12 & 3) == 3)
		operand = status & ~operand;
	/* The interrupt left the other bits as they were, and xIE in xPIE. */
	to = value[PRIV] == 3 ? 3 : 1;
	status = value[MSTATUS] & ~(STATUS_IE(to) | STATUS_PIE(to) | STATUS_PP(to));
	status |= (operand & (STATUS_PIE(to) | STATUS_PP(to))) |
		  (value[MSTATUS] & STATUS_PIE(to)) >> 4;
	put(NTRACE_TANDEM_REGISTER, MSTATUS, status);
}

/* An exception in S mode, and an interrupt before the first instruction of its handler. */
static void write_hidden_trap(void)
{
	write_trap(1, (status_before & ~(STATUS_IE(1) | STATUS_PIE(1) | STATUS_PP(1))) |
			      (status_before & STATUS_IE(1)) << 4 | (priv_before & 1) << 8);
	traps++;
}

/* The held instruction trapped, or an interrupt came after it; @pc is that of the handler. */
static void finish_trap(uint64_t pc, bool effects)
{
	unsigned int first = value[PRIV] == 3 ? MEPC : SEPC;
	uint64_t epc = value[first];
	bool interrupt = value[first + 1] >> (params.xlen - 1);

	if (!interrupt && epc == held_pc) {
		traps++;
		put_insn(pc);
		put_memory();
		put_changes(true, true);
		write_trap(value[PRIV], value[MSTATUS]);
		put(NTRACE_TANDEM_END, 0, 0);
		return;
	}
	/* It retired. If it did nothing and the interrupt returns to it, QEMU will run it again. */
	if (epc != held_pc || effects) {
		put_insn(epc);
		put_memory();
		put_changes(true, false);
		if (value[PRIV] == 3 && value[SEPC] == held_pc && epc == (value[STVEC] & ~3ull))
			write_hidden_trap();
		else if (is_system(held))
			put_hidden();
		put(NTRACE_TANDEM_END, 0, 0);
	}
	if (interrupt)
		interrupts++;
	else
		traps++;
	put(NTRACE_TANDEM_BEGIN, 0, 0);
	put(NTRACE_TANDEM_STATE, NTRACE_TANDEM_STATE_PC, pc);
	put_pending();
	put_changes(false, true);
	write_trap(value[PRIV], value[MSTATUS]);
	put(NTRACE_TANDEM_END, 0, 0);
}

/* ---- user mode ---- */

static unsigned int words;	/* in the open group */

static void put_word(uint64_t address, uint64_t data)
{
	struct ntrace_tandem_field field = {
		.type = NTRACE_TANDEM_REQUEST,
		.op = NTRACE_TANDEM_STORE,
		.size = 3,
		.address = address,
		.value = data,
	};

	if (!words++) {
		put(NTRACE_TANDEM_BEGIN, 0, 0);
		put(NTRACE_TANDEM_INIT, 0, 0);
	}
	put_field(&field);
}

static void end_words(void)
{
	if (words)
		put(NTRACE_TANDEM_END, 0, 0);
	words = 0;
}

/* The system call of the held instruction has returned, or a signal came. */
static void finish_call(uint64_t number, uint64_t size)
{
	/* brk, munmap, mremap, mmap, mprotect, madvise */
	bool mapped = number == 214 || number == 215 || number == 216 || number == 222 ||
		      number == 226 || number == 233;
	uint64_t result = value[GPR + 10];
	bool fresh = number == 222 && result < -4096ull;

	user_memory_call(put_word, mapped, fresh ? result : 0, fresh ? size : 0);
	end_words();
}

/* A signal came after the held instruction, or at it. */
static void finish_signal(uint64_t pc)
{
	put(NTRACE_TANDEM_BEGIN, 0, 0);
	put(NTRACE_TANDEM_INIT, 0, 0);
	put(NTRACE_TANDEM_STATE, NTRACE_TANDEM_STATE_PC, pc);
	put_changes(true, true);
	put(NTRACE_TANDEM_END, 0, 0);
	finish_call(0, 0);
}

/* Writes the group of the held instruction; the next one begins at @pc. */
static void finish(uint64_t pc)
{
	uint64_t number = value[GPR + 17], size = value[GPR + 11];
	uint64_t next[2];
	unsigned int count = successors(held, held_pc, next);
	bool trapped = !(count && pc == next[0]) && !(count == 2 && pc == next[1]);
	bool effects, system = is_system(held);

	status_before = value[MSTATUS];
	priv_before = value[PRIV];
	operand_before = value[GPR + (held->bits >> 15 & 31)];
	changed_count = 0;
	for (unsigned int i = 1; i < 32; i++)
		look(GPR + i);
	/* The return from a signal is a system call. */
	if (is_float(held) || (user_mode && (trapped || system))) {
		for (unsigned int i = 0; i < 32; i++)
			look(FPR + i);
		look(0x003);
		look(MSTATUS);
	}
	effects = changed_count || memory.store || count == 2;
	if (system || trapped) {
		look_at_csrs();
		look(PRIV);
	}
	if (trapped && pc == held_pc && !changed_count && !memory.store) {
		reruns++;
		return;
	}
	if (trapped && user_mode && held->bits != 0x73) {
		signals++;
		finish_signal(pc);
		return;
	}
	instructions++;
	if (trapped && !user_mode) {
		finish_trap(pc, effects);
		return;
	}
	put_insn(pc);
	put_memory();
	put_changes(true, true);
	for (unsigned int i = 0; i < changed_count; i++)
		if (changed[i] == PRIV)
			put(NTRACE_TANDEM_STATE, NTRACE_TANDEM_STATE_PRIV, value[PRIV]);
	put(NTRACE_TANDEM_END, 0, 0);
	if (user_mode && held->bits == 0x73)
		finish_call(number, size);
}

/* The state before the first instruction. */
static void put_state(uint64_t pc)
{
	put(NTRACE_TANDEM_BEGIN, 0, 0);
	put(NTRACE_TANDEM_INIT, 0, 0);
	put(NTRACE_TANDEM_STATE, NTRACE_TANDEM_STATE_PC, pc);
	value[PRIV] = read_register(PRIV);
	put(NTRACE_TANDEM_STATE, NTRACE_TANDEM_STATE_PRIV, value[PRIV]);
	for (unsigned int id = 0; id < NTRACE_TANDEM_REGISTERS; id++)
		if (handles[id] && id != GPR) {
			value[id] = read_register(id);
			put(NTRACE_TANDEM_REGISTER, id, value[id]);
		}
	put(NTRACE_TANDEM_END, 0, 0);
	if (user_mode) {
		user_memory_start(put_word);
		end_words();
	}
}

static void finish_file(void)
{
	if (!file)
		return;
	flush();
	if (fclose(file)) {
		perror("tandem_log: close");
		exit(1);
	}
	file = NULL;
	fprintf(stderr,
		"tandem_log: %s: %" PRIu64 " instructions, %" PRIu64 " exceptions, %" PRIu64
		" interrupts, %" PRIu64 " signals, %" PRIu64 " run again; --xlen %u --mlen %u\n",
		out, instructions, traps, interrupts, signals, reruns, params.xlen, params.mlen);
}

static void on_insn(unsigned int vcpu, void *data)
{
	const struct insn *insn = data;
	uint64_t pc;

	if (vcpu || !file)
		return;
	/* pc is current at the start of a block only, and not even there in user mode. */
	if (!held)
		set_params();
	if (insn->first && !user_mode)
		block_pc = read_register(PC);
	pc = user_mode ? insn->vaddr : (block_pc + insn->distance) & xlen_mask;
	if (held)
		finish(pc);
	else
		put_state(pc);
	if (instructions >= max) {
		finish_file();
		exit(0);
	}
	held = insn;
	held_pc = pc;
	memset(&memory, 0, sizeof(memory));
}

static void on_memory(unsigned int vcpu, qemu_plugin_meminfo_t info, uint64_t vaddr, void *data)
{
	struct qemu_plugin_hwaddr *hwaddr;
	qemu_plugin_mem_value got;

	(void)data;
	if (vcpu)
		return;
	hwaddr = qemu_plugin_get_hwaddr(info, vaddr);
	got = qemu_plugin_mem_get_value(info);
	memory.access = true;
	memory.vaddr = vaddr & xlen_mask;
	memory.has_paddr = hwaddr;
	memory.paddr = hwaddr ? qemu_plugin_hwaddr_phys_addr(hwaddr) : 0;
	if (!qemu_plugin_mem_is_store(info))
		return;
	memory.store = true;
	memory.shift = qemu_plugin_mem_size_shift(info);
	switch (got.type) {
	case QEMU_PLUGIN_MEM_VALUE_U8:
		memory.data = got.data.u8;
		break;
	case QEMU_PLUGIN_MEM_VALUE_U16:
		memory.data = got.data.u16;
		break;
	case QEMU_PLUGIN_MEM_VALUE_U32:
		memory.data = got.data.u32;
		break;
	default:
		memory.data = got.data.u64;
		break;
	}
	if (user_mode && held)
		user_memory_store(vaddr, memory.data, MIN(1u << memory.shift, 8));
}

static void on_block(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	size_t count = qemu_plugin_tb_n_insns(tb);
	uint64_t start = qemu_plugin_tb_vaddr(tb);
	struct insn *insns = g_new0(struct insn, count);

	(void)id;
	for (size_t i = 0; i < count; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);

		insns[i].length = qemu_plugin_insn_size(insn);
		qemu_plugin_insn_data(insn, &insns[i].bits, insns[i].length);
		insns[i].first = !i;
		insns[i].vaddr = qemu_plugin_insn_vaddr(insn);
		insns[i].distance = insns[i].vaddr - start;
		qemu_plugin_register_vcpu_insn_exec_cb(insn, on_insn, QEMU_PLUGIN_CB_R_REGS,
						       &insns[i]);
		qemu_plugin_register_vcpu_mem_cb(insn, on_memory, QEMU_PLUGIN_CB_NO_REGS,
						 QEMU_PLUGIN_MEM_RW, NULL);
	}
}

/* Left out: what changes by itself, what has effects when read, views of other CSRs. */
static bool left_out(const char *name)
{
	static const char *const names[] = {
		"cycle",    "time",    "instret",   "mcycle", "minstret", "sip",    "sie",
		"sstatus",  "vsip",    "hip",	    "hvip",   "seed",	  "mtopei", "stopei",
		"vstopei",  "mireg",   "sireg",	    "vsireg", "mtopi",	  "stopi",  "vstopi",
		"fflags",   "frm",     "hgeip",	    "dcsr",   "dpc",	  "cycleh", "timeh",
		"instreth", "mcycleh", "minstreth",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(name, names[i]))
			return true;
	return strstr(name, "hpm") || strstr(name, "mcyclecfg") || strstr(name, "minstretcfg");
}

static void on_vcpu(qemu_plugin_id_t id, unsigned int vcpu)
{
	GArray *list;

	(void)id;
	if (vcpu)
		return;
	list = qemu_plugin_get_registers();
	for (unsigned int i = 0; i < list->len; i++) {
		qemu_plugin_reg_descriptor *reg =
			&g_array_index(list, qemu_plugin_reg_descriptor, i);
		int number = ntrace_tandem_register_number(reg->name);

		if (number < 0 || left_out(reg->name))
			continue;
		handles[number] = reg->handle;
		if (number < 4096 && number != MIP)
			csrs[csr_count++] = number;
	}
	g_array_free(list, true);
	if (!handles[PC] || (!user_mode && (!handles[PRIV] || !handles[MSTATUS]))) {
		fprintf(stderr, "tandem_log: this QEMU does not show pc, priv and mstatus\n");
		exit(1);
	}
}

/* User mode: the trace is that of the parent. */
static void on_fork(void)
{
	file = NULL;
}

static void on_exit_of_qemu(qemu_plugin_id_t id, void *data)
{
	(void)id;
	(void)data;
	finish_file();
}

/* In user mode, the program gets the descriptors that it would get without the plugin. */
static FILE *open_high(const char *path)
{
	int low = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	int high = low < 0 ? -1 : fcntl(low, F_DUPFD_CLOEXEC, 500);

	if (high >= 0)
		close(low);
	return low < 0 ? NULL : fdopen(high < 0 ? low : high, "wb");
}

QEMU_PLUGIN_EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc,
					   char **argv)
{
	user_mode = !info->system_emulation;
	for (int i = 0; i < argc; i++) {
		if (!strncmp(argv[i], "out=", 4)) {
			out = g_strdup(argv[i] + 4);
		} else if (!strncmp(argv[i], "max=", 4)) {
			max = strtoull(argv[i] + 4, NULL, 0);
		} else {
			fprintf(stderr, "tandem_log: unknown option '%s'\n", argv[i]);
			return -1;
		}
	}
	if (!out) {
		fprintf(stderr, "tandem_log: out=FILE is needed\n");
		return -1;
	}
	if (user_mode && !user_memory_works()) {
		fprintf(stderr, "tandem_log: this QEMU does not show memory: make qemu-user\n");
		return -1;
	}
	file = open_high(out);
	if (!file) {
		perror(out);
		return -1;
	}
	/* A process that forks would leave its child a copy of what is not written yet. */
	setvbuf(file, NULL, _IONBF, 0);
	ntrace_tandem_params_init(&params);
	pthread_atfork(NULL, NULL, on_fork);
	qemu_plugin_register_vcpu_init_cb(id, on_vcpu);
	qemu_plugin_register_vcpu_tb_trans_cb(id, on_block);
	qemu_plugin_register_atexit_cb(id, on_exit_of_qemu, NULL);
	return 0;
}
