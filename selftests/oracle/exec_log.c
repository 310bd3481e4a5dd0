// SPDX-License-Identifier: GPL-2.0-only
/*
 * QEMU TCG plugin: logs the instructions that each hart executed while its trace encoder was
 * tracing (format: log.h). Decoded trace is checked against this log, so the plugin shares no code
 * with the encoder model, the library or the hooks in QEMU: it sees instructions through its own
 * callbacks, and start and stop of tracing through its own callback on stores to the encoders'
 * pages.
 *
 *   -plugin exec_log.so,out=PREFIX[,base=0x6000000][,max=BYTES][,stacks=on]
 *           [,threads=PID:TGID:PARENT]
 *
 * writes PREFIX.HART, and PREFIX.messages with readable messages. base is the physical address of
 * hart 0's encoder, the others follow at 4 KiB each; max limits the size of each file; with
 * stacks=on the log records calls, returns and traps, and the stack pointer and task after each.
 * threads= (needs -icount) adds what joins the logs of all harts to the execution of threads: the
 * number of instructions that all harts began before, wherever a hart gets its turn; the values
 * that instructions read from the CSR time; system calls; and pid, tgid and real_parent of a task
 * when it changes, read from its struct task_struct, in which these members have the given
 * offsets. Then sections begin and end on all harts at once, at marks of the guest (mark_of()),
 * instead of with the encoders.
 *
 * To be cheap enough to stay enabled, the plugin uses one callback at the start of each translated
 * block, and an inline store of the instruction's number within the block before each instruction.
 * The callback of a block thus sees how far the previous block came. All instructions begun have
 * retired, except perhaps the last. The last one may have faulted, or QEMU may have abandoned it to
 * run it again, so the plugin holds it back until the next block shows which:
 *
 *  - A plain instruction (no branch, jump, xRET) has one successor: the address after it. If the
 *    next block is elsewhere, a trap was taken. The trap's epc says when: epc = the held
 *    instruction means that it did not retire and is struck; anything else means that it retired
 *    and the trap hit its successor (interrupt, fetch fault).
 *  - A plain instruction followed by itself was abandoned and run again (QEMU
 *    restarts after EXCP_ATOMIC and after stores to the page that the block
 *    is in; for MMIO in the middle of a block the second run is invisible to
 *    plugins): it counts once.
 *  - Branches and jumps never fault (a bad target faults at the target), so
 *    they are never struck, also not when they jump to themselves and an
 *    interrupt gives epc = their own address.
 *  - xRET may be illegal: it is struck if the next block is at a trap vector
 *    and epc is its own address.
 *
 * The cause must agree with that result (an exception strikes the instruction, an interrupt does
 * not, ...). If it does not, the plugin writes ODD, which makes the log unusable. The privilege of
 * an instruction is that of its translated block: QEMU runs a block only in the privilege it was
 * translated for. Its address is not: a block is translated once per physical place and run at
 * every virtual address that maps there (CF_PCREL), so pc is read at the start of each block.
 *
 * Where all harts share one host thread (-icount, thread=single), QEMU 10.0
 * passes the index of the hart that first translated the block, and crashes on
 * inline stores and conditional callbacks (gen_plugin_u64_ptr() overwrites a
 * constant). There the number of the running hart is read from mhartid at each
 * block, and plain callbacks do the rest.
 */
#include <errno.h>
#include <glib.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <qemu-plugin.h>

#include "exec_code.h"
#include "log.h"

QEMU_PLUGIN_EXPORT int qemu_plugin_version = QEMU_PLUGIN_VERSION;

#define HARTS_MAX 16
#define PAGE 0x1000
#define BUFFER_SIZE (1 << 20)
#define TOKEN_MAX 48

/* trTeControl: trTeActive, trTeEnable, trTeInstTracing (Trace Control Interface 1.0) */
#define TE_CONTROL 0x000
#define TE_TRACING 0x7

/*
 * A translated block. The packed instructions in insns hold their distance from the start of the
 * block instead of an address. A block is never freed: QEMU does not tell plugins when it drops
 * one.
 */
struct block {
	uint64_t start;		/* address at translation; only its offset in the page is used */
	uint32_t count;
	uint32_t time_register;	/* into which the last instruction reads the CSR time, or 0 */
	uint32_t insns[];
};

struct hart {
	uint64_t held;		/* last instruction begun, perhaps not retired; 0 = none */
	const struct block *block;	/* current block; NULL = it began before the section */
	uint64_t pc_packed;	/* current block's address, packed */
	uint64_t expect;	/* address after the last logged instruction */
	unsigned int priv;	/* last privilege written to the log */
	unsigned int run;	/* instructions collected for a run token, with stop bit; 1 = none */
	unsigned int run_count;
	bool open;		/* between BEGIN and END */
	bool full;
	unsigned int seen;	/* value of order[] carried out last */
	uint64_t vector[4];	/* trap vector of a privilege, mode bits included */
	uint64_t bytes;
	size_t fill;
	uint8_t *buffer;
	FILE *file;
	uint64_t instructions, traps, struck, restarts, odd;
	uint64_t stack, task;	/* stack pointer and task of the last arrival logged */
	uint64_t identified;	/* task whose identity was logged last */
	unsigned int time_register;	/* of the held instruction */
	bool turned;		/* other harts ran since the last block */
	struct qemu_plugin_register *pc, *tp, *sscratch, *epc[4], *cause[4], *tvec[4];
	struct qemu_plugin_register *x[32];
};

/*
 * Last start or stop of each hart's encoder. Bit 0: tracing; bit 1: stored by another hart; bits
 * above: a count that makes each value unique.
 */
static atomic_uint order[HARTS_MAX];
static atomic_uint sequence;
static struct hart harts[HARTS_MAX];
static struct qemu_plugin_scoreboard *gates;
static qemu_plugin_u64 gate;	/* 1 while the hart's instructions are to be logged */
static qemu_plugin_u64 begun;	/* instructions begun in the current block */
static bool single;		/* one host thread runs all harts */
static unsigned int running;	/* if single: index of the current hart */
static unsigned int begun_single;	/* replaces begun if single */
static bool any_wanted;		/* replaces gate if single */
static struct qemu_plugin_register *hartid, *privilege;	/* the same for all harts */
static char *out;
static uint64_t base = 0x6000000;
static uint64_t limit = UINT64_MAX;
static bool log_stacks;
static bool log_threads;
static uint64_t member[3];	/* offsets of pid, tgid and real_parent in struct task_struct */
static uint64_t total;		/* with log_threads: instructions begun by all harts in all sections */
static FILE *messages;

static void flush(struct hart *hart)
{
	if (hart->fill && fwrite(hart->buffer, 1, hart->fill, hart->file) != hart->fill) {
		perror("exec_log: write");
		exit(1);
	}
	hart->bytes += hart->fill;
	hart->fill = 0;
	fflush(hart->file);
}

static void put(struct hart *hart, uint8_t byte)
{
	hart->buffer[hart->fill++] = byte;
}

static void put_number(struct hart *hart, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		put(hart, value | 0x80);
	put(hart, value);
}

static void put_run(struct hart *hart)
{
	if (hart->run_count)
		put(hart, hart->run);
	hart->run = 1;
	hart->run_count = 0;
}

/* Makes room for any token. Only this function checks the size limit. */
static void reserve(struct hart *hart)
{
	if (hart->fill + TOKEN_MAX > BUFFER_SIZE)
		flush(hart);
	if (hart->bytes + hart->fill > limit && !hart->full) {
		put_run(hart);
		put(hart, ORACLE_FULL);
		hart->full = true;
	}
}

static void put_event(struct hart *hart, enum oracle_token token, uint64_t first, uint64_t second)
{
	reserve(hart);
	put_run(hart);
	put(hart, token);
	put_number(hart, first);
	put_number(hart, second);
}

static uint64_t zigzag(uint64_t distance)
{
	return distance << 1 ^ (uint64_t)((int64_t)distance >> 63);
}

static void put_priv(struct hart *hart, unsigned int priv)
{
	if (priv == hart->priv)
		return;
	put_run(hart);
	put(hart, ORACLE_PRIV + priv);
	hart->priv = priv;
}

/* Writes an instruction that has retired. */
static void commit(struct hart *hart, uint64_t insn)
{
	uint64_t address = insn_address(insn);
	bool long_insn = insn & INSN_LEN4;

	hart->instructions++;
	if (hart->full)
		return;
	reserve(hart);
	put_priv(hart, insn_priv(insn));
	if (address == hart->expect) {
		hart->run = hart->run << 1 | long_insn;
		if (++hart->run_count == ORACLE_RUN_MAX)
			put_run(hart);
	} else {
		put_run(hart);
		put(hart, ORACLE_JUMP + long_insn);
		put_number(hart, zigzag((uint64_t)((int64_t)(address - hart->expect) / 2)));
	}
	hart->expect = address + insn_length(insn);
}

/* Reads a register of the hart that the calling thread runs. */
static uint64_t read_register(struct qemu_plugin_register *handle)
{
	static _Thread_local GByteArray *bytes;
	uint64_t value = 0;

	if (!bytes)
		bytes = g_byte_array_new();
	g_byte_array_set_size(bytes, 0);
	if (qemu_plugin_read_register(handle, bytes) > 0)
		memcpy(&value, bytes->data, MIN(bytes->len, sizeof(value)));
	return value;
}

static void read_vectors(struct hart *hart)
{
	hart->vector[1] = read_register(hart->tvec[1]);
	hart->vector[3] = read_register(hart->tvec[3]);
}

/* True if @address is where trap handlers of privilege @priv start. */
static bool is_vector(const struct hart *hart, unsigned int priv, uint64_t address)
{
	uint64_t offset = address - (hart->vector[priv] & ~3ull);

	if ((hart->vector[priv] & 3) == 1)	/* vectored: four bytes per interrupt */
		return offset < 64 * 4 && offset % 4 == 0;
	return offset == 0 && hart->vector[priv];
}

/* Logs the current task. Linux keeps its pointer in tp, and in sscratch while in user space. */
static void put_task(struct hart *hart)
{
	unsigned int priv = read_register(privilege) & 3;

	reserve(hart);
	put_run(hart);
	put(hart, ORACLE_TASK);
	put_number(hart, priv == 3 ? 0 : read_register(priv ? hart->tp : hart->sscratch));
}

static uint64_t read_member(uint64_t task, unsigned int which, size_t size)
{
	static GByteArray *bytes;
	uint64_t value = 0;

	if (!bytes)
		bytes = g_byte_array_new();
	if (qemu_plugin_read_memory_vaddr(task + member[which], bytes, size))
		memcpy(&value, bytes->data, size);
	return value;
}

static void put_identity(struct hart *hart, uint64_t task)
{
	reserve(hart);
	put(hart, ORACLE_IDENTITY);
	put_number(hart, read_member(task, 0, 4));
	put_number(hart, read_member(task, 1, 4));
	put_number(hart, read_member(task, 2, 8));
	hart->identified = task;
}

/*
 * Logs how control came to @insn, if that changes a stack, and the stack pointer and the task
 * there. @insn has not retired, and perhaps never will.
 */
static void put_arrival(struct hart *hart, uint64_t insn, uint64_t left, bool trapped)
{
	unsigned int priv = insn_priv(insn);
	uint64_t stack, task;
	enum oracle_token token;

	if (trapped)
		token = ORACLE_HANDLER;
	else if (insn_class(left) == TRAP_RETURN)
		token = ORACLE_TRAP_RETURN;
	else if ((left & INSN_INDIRECT) == INSN_INDIRECT && log_threads)
		token = ORACLE_INDIRECT;
	else if ((left & INSN_INDIRECT) && (left & INSN_INDIRECT) != INSN_INDIRECT)
		token = left & INSN_CALL ? ORACLE_CALL : ORACLE_RETURN;
	else
		return;
	if (!log_stacks || hart->full)
		return;
	stack = read_register(hart->x[2]);
	task = priv == 3 ? hart->task : read_register(priv ? hart->tp : hart->sscratch);
	reserve(hart);
	put_priv(hart, priv);
	put_run(hart);
	put(hart, token);
	put_number(hart, zigzag(insn_address(insn) - hart->expect));
	put_number(hart, zigzag(stack - hart->stack));
	put_number(hart, zigzag(task - hart->task));
	hart->stack = stack;
	hart->task = task;
	/* In the first instructions of a handler, tp may still be the user's. */
	if (log_threads && priv == 1 && !trapped && task != hart->identified)
		put_identity(hart, task);
}

static void begin(struct hart *hart, bool remote)
{
	hart->open = true;
	hart->block = NULL;
	hart->held = 0;
	hart->expect = 0;
	hart->priv = 4;		/* no privilege: the first instruction writes its own */
	hart->run = 1;
	hart->run_count = 0;
	hart->stack = 0;
	hart->task = 0;
	hart->identified = 0;
	hart->time_register = 0;
	hart->turned = log_threads;
	read_vectors(hart);
	put_event(hart, ORACLE_BEGIN, atomic_fetch_add(&sequence, 1), remote);
	put_task(hart);
}

static void odd(struct hart *hart, enum oracle_odd kind, uint64_t held, uint64_t insn,
		uint64_t cause, uint64_t epc)
{
	if (hart->odd++ < 20)
		fprintf(messages,
			"hart %td: odd %d: %" PRIx64 " (class %u) then %" PRIx64
			" (priv %u), cause %" PRIx64 ", epc %" PRIx64 "\n",
			hart - harts, kind, insn_address(held), insn_class(held),
			insn_address(insn), insn_priv(insn), cause, epc);
	put_event(hart, ORACLE_ODD, kind, epc);
}

/* A trap to @priv followed the held instruction. Decides whether that instruction retired. */
static void take_trap(struct hart *hart, unsigned int priv, uint64_t insn, uint64_t epc,
		      uint64_t cause)
{
	uint64_t held = hart->held, address = insn_address(held);
	bool interrupt = cause >> 63, struck, fetch;

	cause &= ~(1ull << 63);
	fetch = !interrupt && (cause == 0 || cause == 1 || cause == 12 || cause == 20);
	struck = epc == address && insn_class(held) != TRANSFER;
	if (struck)
		hart->struck++;
	else
		commit(hart, held);
	/* A retired jump led to where the trap came, in the kernel or in user space. */
	if (!struck && insn_class(held) != PLAIN)
		put_arrival(hart, epc >> 1 << 8 | (epc >> 63) << INSN_PRIV_SHIFT, held, false);
	hart->held = 0;
	hart->traps++;
	if (log_threads && !interrupt && cause == 8)	/* a7 and a0 */
		put_event(hart, ORACLE_SYSCALL, read_register(hart->x[17]),
			  read_register(hart->x[10]));
	put_event(hart, ORACLE_TRAP, cause << 1 | interrupt, epc);

	if (priv < insn_priv(held) && insn_class(held) != TRAP_RETURN)
		odd(hart, ORACLE_ODD_PRIVILEGE, held, insn, cause, epc);
	else if (struck && fetch)
		odd(hart, ORACLE_ODD_FETCH_EPC, held, insn, cause, epc);
	else if (!struck && !interrupt && !fetch)
		odd(hart, ORACLE_ODD_EXCEPTION_EPC, held, insn, cause, epc);
	else if (struck && interrupt)
		hart->restarts++;
	else if (!struck && insn_class(held) == PLAIN && epc != address + insn_length(held))
		odd(hart, ORACLE_ODD_INTERRUPT_EPC, held, insn, cause, epc);
}

/* The hart is at @insn, first instruction of a trap handler, and held did not lead there. */
static void trap(struct hart *hart, uint64_t insn)
{
	unsigned int priv = insn_priv(insn);
	uint64_t held = hart->held, epc, cause;

	read_vectors(hart);
	epc = read_register(hart->epc[priv]);
	cause = read_register(hart->cause[priv]);
	if (insn_class(held) == TRAP_RETURN && insn_priv(held) > priv &&
	    read_register(hart->epc[3]) == insn_address(insn)) {
		/* MRET to the handler: a trap interrupted it here, or firmware delegates a trap. */
		commit(hart, held);
		return;
	}
	if (priv == 3 && insn_priv(held) < 3 && is_vector(hart, 1, epc)) {
		/* Two traps in a row: the second hit the S-mode handler's first instruction. */
		take_trap(hart, 1, insn, read_register(hart->epc[1]),
			  read_register(hart->cause[1]));
		hart->traps++;
		put_event(hart, ORACLE_TRAP, cause << 1 | cause >> 63, epc);
		return;
	}
	take_trap(hart, priv, insn, epc, cause);
}

/* Handles the next instruction begun: decides the fate of the held one, then holds @insn. */
static void step(struct hart *hart, uint64_t insn)
{
	uint64_t held = hart->held;
	bool plain = insn_class(held) == PLAIN;

	if (!held || (plain && insn_address(insn) == insn_address(held) + insn_length(held))) {
		if (held)
			commit(hart, held);
	} else if (plain && insn == held) {
		hart->restarts++;
	} else if (is_vector(hart, insn_priv(insn), insn_address(insn))) {
		trap(hart, insn);
	} else {
		if (plain)
			odd(hart, ORACLE_ODD_USER_JUMP, held, insn, 0, 0);
		else if (insn_priv(insn) > insn_priv(held))
			odd(hart, ORACLE_ODD_PRIVILEGE, held, insn, 0, 0);
		commit(hart, held);
	}
	hart->held = insn;
}

/* Returns the number of instructions begun in the current block, and resets it. */
static unsigned int take_begun(unsigned int index)
{
	unsigned int count = begun_single;

	begun_single = 0;
	if (!single) {
		count = qemu_plugin_u64_get(begun, index);
		qemu_plugin_u64_set(begun, index, 0);
	}
	if (log_threads)
		total += count;
	return count;
}

/* Steps through the instructions begun in the current block; the last one stays held. */
static void finish_block(unsigned int index, struct hart *hart)
{
	unsigned int count = take_begun(index);
	const struct block *block = hart->block;

	hart->block = NULL;
	if (!block)
		return;
	hart->time_register = count == block->count ? block->time_register : 0;
	if (!count || count > block->count)
		odd(hart, ORACLE_ODD_BLOCK, hart->held, hart->pc_packed, 0, count);
	else
		for (unsigned int i = 1; i < count; i++)
			step(hart, hart->pc_packed + block->insns[i]);
}

static void end(unsigned int index, struct hart *hart, bool remote)
{
	finish_block(index, hart);
	if (hart->held)
		commit(hart, hart->held);
	hart->held = 0;
	if (!log_threads)
		put_task(hart);
	put_event(hart, ORACLE_END, atomic_fetch_add(&sequence, 1), remote);
	flush(hart);
	hart->open = false;
}

static bool wanted(unsigned int index)
{
	return harts[index].open || (atomic_load_explicit(&order[index], memory_order_relaxed) & 1);
}

static void set_gates(unsigned int index)
{
	if (!single) {
		qemu_plugin_u64_set(gate, index, wanted(index));
		return;
	}
	any_wanted = false;
	for (unsigned int i = 0; i < HARTS_MAX; i++)
		any_wanted |= wanted(i);
}

/* Carries out the last start or stop of the hart's encoder, on the hart's own thread. */
static void obey(unsigned int index, struct hart *hart)
{
	unsigned int now = atomic_load(&order[index]);
	bool remote = now & 2;

	hart->seen = now;
	if (hart->open)
		end(index, hart, remote);
	if (now & 1)
		begin(hart, remote);
	set_gates(index);
}

/* Runs at the start of each block while the hart's gate is open. */
static void on_block(unsigned int index, void *argument)
{
	struct hart *hart = &harts[index];
	const struct block *block = argument;
	uint64_t pc, left, traps = hart->traps, struck = hart->struck;
	unsigned int time_register;

	finish_block(index, hart);
	if (atomic_load_explicit(&order[index], memory_order_relaxed) != hart->seen)
		obey(index, hart);
	if (!hart->open)
		return;
	pc = read_register(hart->pc);
	hart->block = block;
	hart->pc_packed = pc >> 1 << 8;
	if ((pc ^ block->start) & (PAGE - 1))
		odd(hart, ORACLE_ODD_BLOCK, hart->held, hart->pc_packed, 0, pc);
	/* Look at a trap before its handler runs: the handler overwrites the trap registers. */
	left = hart->held;
	time_register = hart->time_register;
	step(hart, hart->pc_packed + block->insns[0]);
	if (time_register && hart->struck == struck)
		put_event(hart, ORACLE_CLOCK, read_register(hart->x[time_register]), 0);
	if (hart->turned)
		put_event(hart, ORACLE_TURN, total, 0);
	hart->turned = false;
	if (left)
		put_arrival(hart, hart->pc_packed + block->insns[0], left, hart->traps != traps);
}

static void on_block_single(unsigned int index, void *argument)
{
	unsigned int now;

	(void)index;
	if (!any_wanted)
		return;
	now = read_register(hartid) % HARTS_MAX;
	/* begun_single counts the last block run, which may be another hart's. */
	if (now != running) {
		finish_block(running, &harts[running]);
		harts[now].turned = log_threads;
	}
	running = now;
	if (wanted(running))
		on_block(running, argument);
}

static void on_insn_single(unsigned int index, void *argument)
{
	(void)index;
	begun_single = (uintptr_t)argument;
}

/*
 * Runs before a mark of the guest. A section ends on all harts now, as one that is idle may never
 * run again, and begins with the next block of each hart.
 */
static void on_mark(unsigned int index, void *argument)
{
	unsigned int now = (uintptr_t)argument == 1;

	(void)index;
	running = read_register(hartid) % HARTS_MAX;
	if (!begun_single)	/* the mark is the first instruction of its block */
		harts[running].block = NULL;
	for (unsigned int i = 0; i < HARTS_MAX; i++) {
		if (!harts[i].buffer || (order[i] & 1) == now)
			continue;
		order[i] = ((order[i] >> 2) + 1) << 2 | (i != running) << 1 | now;
		if (!now && harts[i].open)
			end(i, &harts[i], i != running);
		harts[i].seen = now ? harts[i].seen : order[i];
	}
	set_gates(running);
}

/* Runs after a 32-bit store: a store to trTeControl of an encoder starts or stops tracing. */
static void on_store(unsigned int index, qemu_plugin_meminfo_t info, uint64_t address, void *unused)
{
	struct qemu_plugin_hwaddr *where;
	unsigned int target, old, tracing;
	uint64_t physical;

	(void)unused;
	/* Cheap test first: address translation keeps the offset within a page. */
	if ((address & (PAGE - 1)) != TE_CONTROL)
		return;
	where = qemu_plugin_get_hwaddr(info, address);
	if (!where || !qemu_plugin_hwaddr_is_io(where))
		return;
	physical = qemu_plugin_hwaddr_phys_addr(where);
	if (physical < base || physical - base >= HARTS_MAX * PAGE)
		return;
	target = (physical - base) / PAGE;
	if (!harts[target].buffer)
		return;
	if (single)
		index = running = read_register(hartid) % HARTS_MAX;
	tracing = (qemu_plugin_mem_get_value(info).data.u32 & TE_TRACING) == TE_TRACING;
	old = atomic_load(&order[target]);
	if ((old & 1) == tracing)
		return;
	atomic_store(&order[target], (((old >> 2) + 1) << 2) | (target != index) << 1 | tracing);
	if (target == index)
		obey(index, &harts[index]);
	else if (tracing)
		set_gates(target);
}

static struct qemu_plugin_register *find_register(const GArray *registers, const char *name)
{
	for (guint i = 0; i < registers->len; i++) {
		qemu_plugin_reg_descriptor *entry =
			&g_array_index(registers, qemu_plugin_reg_descriptor, i);

		if (!strcmp(entry->name, name))
			return entry->handle;
	}
	fprintf(stderr, "exec_log: this QEMU shows no register %s\n", name);
	exit(1);
}

static void on_translate(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	/* Translation runs on the hart's thread, in the privilege that the block is for. */
	unsigned int priv = read_register(privilege) & 3;
	size_t count = qemu_plugin_tb_n_insns(tb);
	struct block *block = g_malloc(sizeof(*block) + count * sizeof(block->insns[0]));

	(void)id;
	block->start = qemu_plugin_tb_vaddr(tb);
	block->count = count;
	block->time_register = 0;
	if (single)
		qemu_plugin_register_vcpu_tb_exec_cb(tb, on_block_single, QEMU_PLUGIN_CB_R_REGS,
						     block);
	else
		qemu_plugin_register_vcpu_tb_exec_cond_cb(tb, on_block, QEMU_PLUGIN_CB_R_REGS,
							  QEMU_PLUGIN_COND_NE, gate, 0, block);
	for (size_t i = 0; i < count; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
		uint32_t distance = qemu_plugin_insn_vaddr(insn) - block->start, code = 0;

		qemu_plugin_insn_data(insn, &code, sizeof(code));
		block->insns[i] = distance >> 1 << 8 | INSN_VALID | priv << INSN_PRIV_SHIFT |
				  classify(code) << INSN_CLASS_SHIFT | call_or_return(code) |
				  (qemu_plugin_insn_size(insn) == 4 ? INSN_LEN4 : 0);
		if (i + 1 == count)
			block->time_register = time_register(code);
		if (log_threads && mark_of(code))
			qemu_plugin_register_vcpu_insn_exec_cb(insn, on_mark, QEMU_PLUGIN_CB_R_REGS,
							       (void *)(uintptr_t)mark_of(code));
		if (single)
			qemu_plugin_register_vcpu_insn_exec_cb(
				insn, on_insn_single, QEMU_PLUGIN_CB_NO_REGS, (void *)(i + 1));
		else
			qemu_plugin_register_vcpu_insn_exec_inline_per_vcpu(
				insn, QEMU_PLUGIN_INLINE_STORE_U64, begun, i + 1);
		if (stores_word(code) && !log_threads)
			qemu_plugin_register_vcpu_mem_cb(insn, on_store, QEMU_PLUGIN_CB_R_REGS,
							 QEMU_PLUGIN_MEM_W, NULL);
	}
}

static void on_hart(qemu_plugin_id_t id, unsigned int index)
{
	static GThread *thread;
	struct hart *hart = &harts[index];
	g_autoptr(GArray) registers = qemu_plugin_get_registers();
	g_autofree char *path = g_strdup_printf("%s.%u", out, index);

	(void)id;
	if (index >= HARTS_MAX) {
		fprintf(stderr, "exec_log: more than %d harts\n", HARTS_MAX);
		exit(1);
	}
	if (thread == g_thread_self())
		single = true;
	else if (thread && log_threads) {
		fprintf(stderr, "exec_log: threads= needs all harts in one thread (-icount)\n");
		exit(1);
	}
	thread = g_thread_self();
	privilege = find_register(registers, "priv");
	hartid = find_register(registers, "mhartid");
	hart->pc = find_register(registers, "pc");
	for (int i = 1; i < 32; i++)
		hart->x[i] = find_register(registers, register_names[i]);
	hart->tp = find_register(registers, "tp");
	hart->sscratch = find_register(registers, "sscratch");
	hart->epc[1] = find_register(registers, "sepc");
	hart->epc[3] = find_register(registers, "mepc");
	hart->cause[1] = find_register(registers, "scause");
	hart->cause[3] = find_register(registers, "mcause");
	hart->tvec[1] = find_register(registers, "stvec");
	hart->tvec[3] = find_register(registers, "mtvec");
	hart->file = fopen(path, "wb");
	if (!hart->file) {
		fprintf(stderr, "exec_log: %s: %s\n", path, strerror(errno));
		exit(1);
	}
	hart->buffer = g_malloc(BUFFER_SIZE);
	memcpy(hart->buffer, ORACLE_LOG_MAGIC, ORACLE_LOG_MAGIC_SIZE);
	hart->fill = ORACLE_LOG_MAGIC_SIZE;
	hart->run = 1;
}

/* An open section gets no END: its absence shows the reader that QEMU ended in the section. */
static void on_exit_qemu(qemu_plugin_id_t id, void *unused)
{
	(void)id;
	(void)unused;
	for (unsigned int i = 0; i < HARTS_MAX; i++) {
		struct hart *hart = &harts[i];

		if (!hart->buffer)
			continue;
		put_run(hart);
		flush(hart);
		fprintf(messages,
			"hart %u: %" PRIu64 " instructions, %" PRIu64 " traps, %" PRIu64
			" struck, %" PRIu64 " restarts, %" PRIu64 " odd, %" PRIu64 " bytes\n",
			i, hart->instructions, hart->traps, hart->struck, hart->restarts, hart->odd,
			hart->bytes);
	}
}

QEMU_PLUGIN_EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc,
					   char **argv)
{
	g_autofree char *path = NULL;

	if (!info->system_emulation || strcmp(info->target_name, "riscv64")) {
		fprintf(stderr, "exec_log: for qemu-system-riscv64 only\n");
		return -1;
	}
	for (int i = 0; i < argc; i++) {
		if (g_str_has_prefix(argv[i], "out=")) {
			out = g_strdup(argv[i] + 4);
		} else if (g_str_has_prefix(argv[i], "base=")) {
			base = strtoull(argv[i] + 5, NULL, 0);
		} else if (g_str_has_prefix(argv[i], "max=")) {
			limit = strtoull(argv[i] + 4, NULL, 0);
		} else if (!strcmp(argv[i], "stacks=on")) {
			log_stacks = true;
		} else if (sscanf(argv[i], "threads=%" SCNu64 ":%" SCNu64 ":%" SCNu64, &member[0],
				  &member[1], &member[2]) == 3) {
			log_stacks = true;
			log_threads = true;
		} else {
			fprintf(stderr, "exec_log: unknown option %s\n", argv[i]);
			return -1;
		}
	}
	if (!out) {
		fprintf(stderr, "exec_log: out=PREFIX is missing\n");
		return -1;
	}
	path = g_strdup_printf("%s.messages", out);
	messages = fopen(path, "w");
	if (!messages) {
		fprintf(stderr, "exec_log: %s: %s\n", path, strerror(errno));
		return -1;
	}
	setvbuf(messages, NULL, _IOLBF, 0);
	gates = qemu_plugin_scoreboard_new(sizeof(uint64_t));
	gate = qemu_plugin_scoreboard_u64(gates);
	begun = qemu_plugin_scoreboard_u64(qemu_plugin_scoreboard_new(sizeof(uint64_t)));
	qemu_plugin_register_vcpu_init_cb(id, on_hart);
	qemu_plugin_register_vcpu_tb_trans_cb(id, on_translate);
	qemu_plugin_register_atexit_cb(id, on_exit_qemu, NULL);
	return 0;
}
