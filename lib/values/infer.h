/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Values that follow from a core dump at the end of a thread: infer.c. */
#ifndef NTRACE_VALUES_INFER_H
#define NTRACE_VALUES_INFER_H

#include "anchors.h"
#include "core.h"
#include "exec/decode.h"

/* Registers: 0 to 31 x0 to x31, 32 to 63 f0 to f31. */
#define INFER_REGISTERS 64
/* Entries between two places where the values of all registers are kept. */
#define INFER_POST 4096

/* In @flags of struct infer_entry. */
#define INFER_STOP    0x01u /* of the kernel, not an instruction */
#define INFER_REMADE  0x02u /* INFER_STOP: the call is made again */
#define INFER_ARRIVES 0x04u /* @address is that of the next instruction */
#define INFER_LOADS   0x08u
#define INFER_STORES  0x10u /* to @bytes at @address, if INFER_SOMEWHERE is not set as well */
#define INFER_SOMEWHERE 0x20u /* the access is in @bytes + @span bytes from @address on; with @bytes 0 anywhere */
#define INFER_MAYBE   0x40u /* INFER_STORES: or not */

/**
 * struct infer_entry - an instruction of user code, or a stop
 * @pc: its address
 * @address: of what it accesses, as far as that is known now
 * @insn: index of the decoded instruction
 * @value: index of the first value that it writes
 */
struct infer_entry {
	uint64_t pc;
	uint64_t address;
	uint32_t insn;
	uint32_t value;
	uint32_t span;
	uint16_t bytes;
	uint8_t flags;
};

/* The register with a value; @before: the value that it had until then. */
struct infer_link {
	uint32_t before;
	uint8_t reg;
	bool contradicted;
};

/* A store to an unknown address; its value may be known. @time: of the log that struct infer names */
struct infer_stray {
	uint64_t time;
	struct ntrace_exec_value value;
	unsigned int bytes;
};

struct infer_block {
	struct ntrace_cursor_mark mark;
	uint64_t number;
	uint32_t first;
};

/**
 * struct infer - what follows from a core dump
 * @value: of each write of a register one, which is likely; the first 64 are those at the begin
 * @certain: the same as far as they are certain; @value, if what is likely is not asked for
 * @link: of each value
 * @now: the entry that is executed; @current: values of the registers before it, or after it while it is
 * @last: values of the registers at the end
 * @post: @current before each entry that is a multiple of INFER_POST
 * @forward, @backward: memory that is known by what was executed before, and later. Times of @backward go back from the end
 * @stray: of @backward, in order of their times; with @likely, of the log that is being made
 * @protected_since: the first entry from which on no mapping has changed; @remapped: as far as it is read
 * @distrusted: its @shared: memory that others may write
 * @uncertain: they may write all memory
 * @guess: with @likely: the address that an entry has accessed the time before, UINT64_MAX: not known
 * @likely: stores to unknown addresses are taken for stores elsewhere, and nobody else for a writer
 */
struct infer {
	struct ntrace_values *values;
	const struct ntrace_core *core;
	const struct core_thread *thread;
	struct infer_entry *entry;
	size_t entries, entry_room;
	struct infer_block *block;
	size_t blocks, block_room;
	struct exec_insn *insn;
	size_t insns, insn_room;
	uint32_t *slot;
	size_t slots;
	struct ntrace_exec_value *value, *certain;
	size_t value_room;
	struct infer_link *link;
	size_t links, link_room;
	uint32_t (*post)[INFER_REGISTERS];
	size_t posts, post_room;
	struct ntrace_exec *exec;
	struct ntrace_value_log *forward, *backward, *constants;
	struct infer_stray *stray;
	size_t strays, stray_room;
	struct anchors distrusted;
	uint64_t *guess;
	uint32_t current[INFER_REGISTERS], last[INFER_REGISTERS];
	size_t now, counted, protected_since, remapped;
	uint64_t learned, brk, window, begin_number;
	bool uncertain, distrusts, likely, contradicted, changes_rounding, whole, shrunk;
	int error;
};

/** infer_new - for a thread whose stops are known. Return: 0, 1: the core is of no use here, errors */
int infer_new(struct infer **infer, struct ntrace_values *values, const struct ntrace_core *core,
	      const struct core_thread *thread);
void infer_free(struct infer *infer);

/** infer_find - the entry of an instruction. Return: 0; 1: it is too far from the end; errors */
int infer_find(struct infer *infer, const struct ntrace_cursor_mark *mark, uint32_t index,
	       size_t *entry);

/** infer_register - a register before an entry, by the number of struct infer_link; @likely: or what is likely */
struct ntrace_exec_value infer_register(const struct infer *infer, size_t entry, unsigned int reg,
					bool likely);

/** infer_memory - memory before an entry, up to the next multiple of 8 */
struct ntrace_exec_value infer_memory(const struct infer *infer, size_t entry, uint64_t address,
				      unsigned int bytes);

/** infer_writer - the number of the instruction that wrote a register before an entry. Return: false: it is not known */
bool infer_writer(const struct infer *infer, size_t entry, unsigned int reg, uint64_t *number,
		  uint64_t *pc);

/** infer_reach - make the window larger. Return: 0; 1: it cannot be; errors */
int infer_reach(struct infer *infer, uint64_t instructions);

/** infer_find_change - as ntrace_values_find_change(), seen from an entry */
int infer_find_change(const struct infer *infer, size_t entry, bool back, bool here, uint64_t first,
		      uint64_t last, struct ntrace_cursor_mark *mark, uint32_t *index);

/* Registers that instructions read: as struct ntrace_values_core_counts. */
struct infer_counts {
	uint64_t reads, known, likely, compared, wrong, compared_likely, wrong_likely;
};

/** infer_count - count the registers @reads before an entry, and compare them with @witness */
void infer_count(struct infer *infer, size_t entry, uint64_t reads,
		 const struct ntrace_exec *witness, struct infer_counts *counts);

/** infer_begin_count - before the first of such calls, which go on in order of the entries */
void infer_begin_count(struct infer *infer);

/* ---- for the parts of it ---- */

static inline unsigned int infer_register_id(unsigned int reg)
{
	return reg < 32 ? NTRACE_EXEC_X + reg : NTRACE_EXEC_F + reg - 32;
}

/** infer_values_end - the first value that entries after this one write */
static inline uint32_t infer_values_end(const struct infer *infer, size_t entry)
{
	return entry + 1 < infer->entries ? infer->entry[entry + 1].value : (uint32_t)infer->links;
}

/** infer_add_value - a register is written. Return: the number of the value */
uint32_t infer_add_value(struct infer *infer, unsigned int reg);

/** infer_new_exec - an executor of which the memory is that of the window. Return: 0 or NTRACE_ERR_NOMEM */
int infer_new_exec(struct infer *infer);

/** infer_new_log - @whole: with all times, else only the last one */
int infer_new_log(struct ntrace_value_log **log, bool whole);

/** infer_begin - set the registers to those at the begin of the window */
void infer_begin(struct infer *infer);

/** infer_execute - execute the instruction infer->now. @made: its values exist already */
void infer_execute(struct infer *infer, bool made);

/** infer_pass_stop - a system call, whose result is a value */
void infer_pass_stop(struct infer *infer, bool backward, uint32_t result);

/** infer_pass_forward, infer_pass_backward - pass the window once. Return: 0 or errors */
int infer_pass_forward(struct infer *infer);
int infer_pass_backward(struct infer *infer);

/** infer_repeat - pass it until nothing is added. Return: 0 or errors */
int infer_repeat(struct infer *infer);

/** infer_find_likely - @value becomes what is likely, @certain what was found before. Return: 0 or errors */
int infer_find_likely(struct infer *infer);

/** infer_time - time of the state before an entry in a log */
uint64_t infer_time(const struct infer *infer, size_t entry, bool backward);

/** infer_read_at - memory that a log and files have, with the core at its end */
struct ntrace_exec_value infer_read_at(const struct infer *infer, bool backward, uint64_t time,
				       uint64_t address, unsigned int bytes);

/** infer_learn - a value is known to have these bits */
void infer_learn(struct infer *infer, uint32_t value, struct ntrace_exec_value known);

/** infer_backward - pass the entry infer->now backwards, with the values that it wrote from @first to before @end */
void infer_backward(struct infer *infer, uint32_t first, uint32_t end);

/** infer_read - bytes of memory at infer->now, in the direction of a log */
struct ntrace_exec_value infer_read(struct infer *infer, bool backward, uint64_t address,
				    unsigned int bytes);

/** infer_write - bytes of memory at infer->now */
void infer_write(struct infer *infer, bool backward, uint64_t address, unsigned int bytes,
		 struct ntrace_exec_value value);

/** infer_stray - note a store to an unknown address; forwards, only the search for likely values does so */
void infer_stray(struct infer *infer, bool backward, struct ntrace_exec_value value,
		 unsigned int bytes);

/** infer_forget - bytes of memory may have changed at infer->now; all of it if @last - @first is too much */
void infer_forget(struct infer *infer, bool backward, uint64_t first, uint64_t last);

#endif
