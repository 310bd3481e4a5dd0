// SPDX-License-Identifier: GPL-2.0-only
/*
 * The BPF programs of contents.c. They are made here, not compiled, as the table of system calls decides what they do,
 * and they need neither a compiler nor BTF:
 *
 *	sys_exit(regs, result)
 *		if the thread is recorded, and the call did not fail:
 *			if it is a new program: copy and send its stack
 *			for each output of rows[a7]:
 *				copy from user memory, and send, up to CONTENTS_CHUNKS times
 *
 * Offsets are those of struct pt_regs of RISC-V.
 */
#include <string.h>

#include <ntrace/values.h>

#include "contents_program.h"

#define PT_SP 16
#define PT_ORIG_A0 280

/* Scratch memory: sp, gp, ... a7; the head of a sample; its bytes. */
#define SCRATCH_ARGUMENTS 64
#define SCRATCH_RESULT (SCRATCH_ARGUMENTS + 8 * NTRACE_VALUES_BY_RESULT)
#define SCRATCH_ONE (SCRATCH_ARGUMENTS + 8 * NTRACE_VALUES_ONCE)
#define SCRATCH_HEAD 128
#define SCRATCH_BYTES 160
#define HEAD(field) (SCRATCH_HEAD + (int)offsetof(struct ntrace_values_content, field))

/* Of the stack of a new program, like the sample of sched_process_exec */
#define STACK_PAGES 8
#define PAGE	    4096

/* Of RISC-V; the command is compiled for other machines, too. */
#define EXECVE	 221
#define EXECVEAT 281

/* On the stack */
#define KEY -4
#define VALUE -8
#define LENGTH -16
#define CONTEXT -24

#define R(number) BPF_REG_##number

/* Codes leave out parts that are 0, BPF_IMM, and BPF_K with BPF_ADD. */
static size_t emit(struct contents_program *program, unsigned int code, unsigned int dst,
		   unsigned int src, int offset, int immediate)
{
	program->insn[program->count] = (struct bpf_insn){
		.code = (uint8_t)code,
		.dst_reg = dst & 15,
		.src_reg = src & 15,
		.off = (int16_t)offset,
		.imm = immediate,
	};
	return program->count++;
}

static void set(struct contents_program *program, unsigned int dst, int value)
{
	emit(program, BPF_ALU64 | BPF_MOV | BPF_K, dst, 0, 0, value);
}

static void move(struct contents_program *program, unsigned int dst, unsigned int src)
{
	emit(program, BPF_ALU64 | BPF_MOV | BPF_X, dst, src, 0, 0);
}

static void add(struct contents_program *program, unsigned int dst, int value)
{
	emit(program, BPF_ALU64 | BPF_ADD, dst, 0, 0, value);
}

static void load(struct contents_program *program, unsigned int size, unsigned int dst,
		 unsigned int src, int offset)
{
	emit(program, BPF_LDX | BPF_MEM | size, dst, src, offset, 0);
}

static void store(struct contents_program *program, unsigned int size, unsigned int dst, int offset,
		  unsigned int src)
{
	emit(program, BPF_STX | BPF_MEM | size, dst, src, offset, 0);
}

static void load_map(struct contents_program *program, unsigned int dst, int map)
{
	emit(program, BPF_LD | BPF_DW, dst, BPF_PSEUDO_MAP_FD, 0, map);
	emit(program, 0, 0, 0, 0, 0);
}

static void call(struct contents_program *program, int function)
{
	emit(program, BPF_JMP | BPF_CALL, 0, 0, 0, function);
}

/* A jump forward if @dst is to @value as @code says, to where land() is called. */
static size_t jump(struct contents_program *program, unsigned int code, unsigned int dst, int value)
{
	return emit(program, BPF_JMP | code | BPF_K, dst, 0, 0, value);
}

static void land(struct contents_program *program, size_t jump)
{
	program->insn[jump].off = (int16_t)(program->count - jump - 1);
}

/* The same, to the end of the program. */
static void end_if(struct contents_program *program, unsigned int code, unsigned int dst, int value)
{
	program->end[program->ends++] = jump(program, code, dst, value);
}

static void finish(struct contents_program *program, int result)
{
	while (program->ends)
		land(program, program->end[--program->ends]);
	set(program, R(0), result);
	emit(program, BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
}

/* r0 = the element whose key is in @source; ends the program if there is none. */
static void look_up(struct contents_program *program, int map, unsigned int source)
{
	store(program, BPF_W, R(10), KEY, source);
	load_map(program, R(1), map);
	move(program, R(2), R(10));
	add(program, R(2), KEY);
	call(program, BPF_FUNC_map_lookup_elem);
	end_if(program, BPF_JEQ, R(0), 0);
}

static void check_thread(struct contents_program *program, const struct contents_maps *maps)
{
	call(program, BPF_FUNC_get_current_pid_tgid);
	if (maps->tasks >= 0) {
		look_up(program, maps->tasks, R(0));
		return;
	}
	emit(program, BPF_ALU64 | BPF_RSH | BPF_K, R(0), 0, 0, 32);
	end_if(program, BPF_JEQ, R(0), maps->self);
}

/* @size bytes of struct pt_regs, at r6, to scratch memory, at r8 */
static void read_registers(struct contents_program *program, int scratch, int size, int offset)
{
	move(program, R(1), R(8));
	add(program, R(1), scratch);
	set(program, R(2), size);
	move(program, R(3), R(6));
	add(program, R(3), offset);
	call(program, BPF_FUNC_probe_read_kernel);
	end_if(program, BPF_JNE, R(0), 0);
}

/* r2 = argument @field of the output at @output of the row; r1 is kept */
static void load_slot(struct contents_program *program, unsigned int dst, int output)
{
	load(program, BPF_B, dst, R(9), output);
	emit(program, BPF_ALU64 | BPF_AND | BPF_K, dst, 0, 0, 7);
	emit(program, BPF_ALU64 | BPF_LSH | BPF_K, dst, 0, 0, 3);
	emit(program, BPF_ALU64 | BPF_ADD | BPF_X, dst, R(8), 0, 0);
	load(program, BPF_DW, dst, dst, SCRATCH_ARGUMENTS);
}

/* Up to a chunk of the r7 bytes at r6. Return: the jump that is taken if they cannot be read */
static size_t send_chunk(struct contents_program *program, const struct contents_maps *maps)
{
	size_t failed, fits;

	move(program, R(2), R(7));
	fits = jump(program, BPF_JLE, R(2), CONTENTS_CHUNK);
	set(program, R(2), CONTENTS_CHUNK);
	land(program, fits);
	store(program, BPF_DW, R(8), HEAD(address), R(6));
	store(program, BPF_W, R(8), HEAD(length), R(2));
	store(program, BPF_DW, R(10), LENGTH, R(2));
	move(program, R(1), R(8));
	add(program, R(1), SCRATCH_BYTES);
	move(program, R(3), R(6));
	call(program, BPF_FUNC_probe_read_user);
	failed = jump(program, BPF_JNE, R(0), 0);
	load(program, BPF_DW, R(5), R(10), LENGTH);
	emit(program, BPF_ALU64 | BPF_ADD | BPF_X, R(6), R(5), 0, 0);
	emit(program, BPF_ALU64 | BPF_SUB | BPF_X, R(7), R(5), 0, 0);
	add(program, R(5), SCRATCH_BYTES - SCRATCH_HEAD);
	load(program, BPF_DW, R(1), R(10), CONTEXT);
	load_map(program, R(2), maps->rings);
	emit(program, BPF_ALU | BPF_MOV | BPF_K, R(3), 0, 0, -1); /* BPF_F_CURRENT_CPU */
	move(program, R(4), R(8));
	add(program, R(4), SCRATCH_HEAD);
	call(program, BPF_FUNC_perf_event_output);
	return failed;
}

static void send_output(struct contents_program *program, const struct contents_maps *maps,
			unsigned int index, unsigned int known)
{
	const int output = (int)(index * sizeof(((struct contents_row *)0)->output[0]));
	size_t failed[CONTENTS_CHUNKS], done[CONTENTS_CHUNKS], fits, below, above, is_known;

	load(program, BPF_H, R(1), R(9), output + 2);
	end_if(program, BPF_JEQ, R(1), 0);
	load_slot(program, R(6), output);
	load_slot(program, R(7), output + 1);
	emit(program, BPF_ALU64 | BPF_MUL | BPF_X, R(7), R(1), 0, 0);
	fits = jump(program, BPF_JLE, R(7), CONTENTS_CHUNK * CONTENTS_CHUNKS);
	set(program, R(7), CONTENTS_CHUNK * CONTENTS_CHUNKS);
	land(program, fits);
	/* In the sample of the registers. */
	move(program, R(1), R(6));
	load(program, BPF_DW, R(2), R(8), 0);
	emit(program, BPF_ALU64 | BPF_SUB | BPF_X, R(1), R(2), 0, 0);
	above = jump(program, BPF_JGT, R(1), (int)known);
	emit(program, BPF_ALU64 | BPF_ADD | BPF_X, R(1), R(7), 0, 0);
	below = jump(program, BPF_JGT, R(1), (int)known);
	is_known = emit(program, BPF_JMP | BPF_JA, 0, 0, 0, 0);
	land(program, above);
	land(program, below);
	for (unsigned int i = 0; i < CONTENTS_CHUNKS; i++) {
		done[i] = jump(program, BPF_JEQ, R(7), 0);
		failed[i] = send_chunk(program, maps);
	}
	for (unsigned int i = 0; i < CONTENTS_CHUNKS; i++) {
		land(program, done[i]);
		land(program, failed[i]);
	}
	land(program, is_known);
}

/*
 * exec(): the end of the stack is not in the sample of sched_process_exec, as a copy that runs into unmapped memory
 * leaves up to 64 bytes out before it.
 */
static void send_new_stack(struct contents_program *program, const struct contents_maps *maps)
{
	size_t is_execve = jump(program, BPF_JEQ, R(9), EXECVE);
	size_t is_other = jump(program, BPF_JNE, R(9), EXECVEAT);

	land(program, is_execve);
	load(program, BPF_DW, R(6), R(8), 0);
	emit(program, BPF_ALU64 | BPF_AND | BPF_K, R(6), 0, 0, -PAGE);
	for (unsigned int i = 0; i < STACK_PAGES; i++) {
		set(program, R(7), PAGE);
		program->end[program->ends++] = send_chunk(program, maps);
	}
	program->end[program->ends++] = emit(program, BPF_JMP | BPF_JA, 0, 0, 0, 0);
	land(program, is_other);
}

void contents_program_exit(struct contents_program *program, const struct contents_maps *maps,
			   unsigned int known)
{
	memset(program, 0, sizeof(*program));
	store(program, BPF_DW, R(10), CONTEXT, R(1));
	load(program, BPF_DW, R(6), R(1), 0);
	load(program, BPF_DW, R(7), R(1), 8);
	end_if(program, BPF_JSLT, R(7), 0);
	check_thread(program, maps);
	set(program, R(0), 0);
	look_up(program, maps->scratch, R(0));
	move(program, R(8), R(0));
	read_registers(program, 0, SCRATCH_HEAD, PT_SP);
	load(program, BPF_DW, R(9), R(8), SCRATCH_ONE);
	store(program, BPF_DW, R(8), HEAD(number), R(9));
	store(program, BPF_DW, R(8), HEAD(result), R(7));
	emit(program, BPF_ALU64 | BPF_MOV | BPF_K, R(1), 0, 0, (int)NTRACE_VALUES_CONTENT);
	store(program, BPF_W, R(8), HEAD(magic), R(1));
	send_new_stack(program, maps);
	look_up(program, maps->rows, R(9));
	move(program, R(9), R(0));
	load(program, BPF_H, R(1), R(9), 2);
	end_if(program, BPF_JEQ, R(1), 0);
	read_registers(program, SCRATCH_ARGUMENTS, 8, PT_ORIG_A0);
	store(program, BPF_DW, R(8), SCRATCH_RESULT, R(7));
	set(program, R(1), 1);
	store(program, BPF_DW, R(8), SCRATCH_ONE, R(1));
	for (unsigned int i = 0; i < CONTENTS_OUTPUTS; i++)
		send_output(program, maps, i, known);
	finish(program, 0);
}

/* The results of programs at tracepoints of perf are 1: with 0, no event of anybody would get a sample. */

void contents_program_fork(struct contents_program *program, const struct contents_maps *maps,
			   unsigned int parent, unsigned int child)
{
	memset(program, 0, sizeof(*program));
	move(program, R(6), R(1));
	load(program, BPF_W, R(1), R(6), (int)parent);
	look_up(program, maps->tasks, R(1));
	load(program, BPF_W, R(1), R(6), (int)child);
	store(program, BPF_W, R(10), KEY, R(1));
	store(program, BPF_W, R(10), VALUE, R(1));
	load_map(program, R(1), maps->tasks);
	move(program, R(2), R(10));
	add(program, R(2), KEY);
	move(program, R(3), R(10));
	add(program, R(3), VALUE);
	set(program, R(4), BPF_ANY);
	call(program, BPF_FUNC_map_update_elem);
	finish(program, 1);
}

void contents_program_end(struct contents_program *program, const struct contents_maps *maps,
			  unsigned int thread)
{
	memset(program, 0, sizeof(*program));
	load(program, BPF_W, R(1), R(1), (int)thread);
	store(program, BPF_W, R(10), KEY, R(1));
	load_map(program, R(1), maps->tasks);
	move(program, R(2), R(10));
	add(program, R(2), KEY);
	call(program, BPF_FUNC_map_delete_elem);
	finish(program, 1);
}
