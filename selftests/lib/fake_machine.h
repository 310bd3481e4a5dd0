/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A simulated traced machine for tests of recordings and sessions: kernel text with a handful of
 * functions, its kcore and kallsyms, and a hart that runs loops in user space and takes interrupts.
 * The encoder gets its execution block by block.
 */
#ifndef SELFTESTS_FAKE_MACHINE_H
#define SELFTESTS_FAKE_MACHINE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ntrace/encode.h>

#include "sideband/core.h"

#define KERNEL_TEXT UINT64_C(0xffffffff80002000)
#define KERNEL_SIZE 0x3000
/* trap_entry: two indirect calls, then return */
#define TRAP_ENTRY (KERNEL_TEXT + 0x100)
#define SWITCH_TO (KERNEL_TEXT + 0x200)
#define BEGIN_NEW_EXEC (KERNEL_TEXT + 0x300)
#define NOTHING (KERNEL_TEXT + 0x400)
#define KERNEL_LOOP (KERNEL_TEXT + 0x500) /* code of idle and kernel threads */
#define MODULE_TEXT UINT64_C(0xffffffff01000000)

static uint8_t fake_text[KERNEL_SIZE];
static uint8_t fake_module[0x2000];

__attribute__((unused)) static void put_parcel(uint64_t address, uint16_t parcel)
{
	memcpy(fake_text + (address - KERNEL_TEXT), &parcel, 2);
}

__attribute__((unused)) static void make_kernel_text(void)
{
	uint64_t address;
	size_t i;

	for (address = KERNEL_TEXT; address < KERNEL_TEXT + KERNEL_SIZE; address += 2)
		put_parcel(address, 0x0001); /* c.nop */
	put_parcel(TRAP_ENTRY, 0x9282); /* c.jalr t0 */
	put_parcel(TRAP_ENTRY + 2, 0x9282);
	put_parcel(TRAP_ENTRY + 4, 0x0073); /* sret */
	put_parcel(TRAP_ENTRY + 6, 0x1020);
	put_parcel(SWITCH_TO, 0x8082); /* ret */
	put_parcel(BEGIN_NEW_EXEC, 0x8082);
	put_parcel(NOTHING, 0x8082);
	put_parcel(KERNEL_LOOP + 4, 0xbff5); /* c.j back by 4 */
	for (i = 0; i < sizeof(fake_module); i += 2)
		memcpy(fake_module + i, "\x01\x00", 2);
	memset(fake_module + 0x1800, 0, sizeof(fake_module) - 0x1800);
}

__attribute__((unused)) static int write_kcore(const char *path)
{
	struct core_writer *writer;

	if (core_writer_open(&writer, path))
		return -1;
	core_writer_add(writer, MODULE_TEXT, fake_module, sizeof(fake_module));
	core_writer_add(writer, KERNEL_TEXT - 0x1000, fake_text, 0x1000); /* not a text symbol */
	core_writer_add(writer, KERNEL_TEXT, fake_text, KERNEL_SIZE);
	return core_writer_close(writer);
}

__attribute__((unused)) static int write_kallsyms(const char *path, const char *more)
{
	FILE *file = fopen(path, "w");

	if (!file)
		return -1;
	fprintf(file,
		"%016llx T _stext\n%016llx T trap_entry\n%016llx t $x\n%016llx T __switch_to\n",
		(unsigned long long)KERNEL_TEXT, (unsigned long long)TRAP_ENTRY,
		(unsigned long long)TRAP_ENTRY, (unsigned long long)SWITCH_TO);
	fprintf(file, "%016llx T begin_new_exec\n%016llx t nothing\n%016llx D jiffies\n",
		(unsigned long long)BEGIN_NEW_EXEC, (unsigned long long)NOTHING,
		(unsigned long long)KERNEL_TEXT + 0x100000);
	fprintf(file, "%016llx t kernel_loop\n", (unsigned long long)KERNEL_LOOP);
	fprintf(file, "%016llx T _etext\n%016llx t module_work\t[paper]\n%s",
		(unsigned long long)KERNEL_TEXT + KERNEL_SIZE,
		(unsigned long long)MODULE_TEXT + 0x10, more);
	return fclose(file);
}

/* ---- the hart ---- */

struct fake_hart {
	struct ntrace_encoder encoder;
	FILE *file;
	uint64_t bytes;
	uint64_t loop;		/* loop of the task: c.nop, c.nop, c.j back */
	uint64_t ticks;		/* with fake_time_bits */
};

__attribute__((unused)) static void hart_write(void *data, const uint8_t *bytes, size_t size)
{
	struct fake_hart *hart = data;

	fwrite(bytes, 1, size, hart->file);
	hart->bytes += size;
}

/* Take effect at the next start: trTeContext; trTsWidth, 0 = no timestamps. */
static bool fake_context;
static unsigned int fake_time_bits;

__attribute__((unused)) static int hart_start(struct fake_hart *hart, const char *path,
					      uint32_t priv_mask)
{
	struct ntrace_encoder_config config;
	struct ntrace_params given;

	memset(hart, 0, sizeof(*hart));
	hart->file = fopen(path, "w");
	ntrace_encoder_config_init(&config);
	ntrace_params_init(&given);
	given.mode = NTRACE_MODE_HISTORY;
	given.timestamp_bits = fake_time_bits;
	config.params = &given;
	config.timestamps = fake_time_bits ? NTRACE_TIMESTAMPS_ALL : NTRACE_TIMESTAMPS_NONE;
	config.write = hart_write;
	config.write_data = hart;
	config.priv_mask = priv_mask;
	/* Frequent syncs, so that the flow continues soon after unknown code. */
	config.sync_mode = 1;
	config.sync_max = 0;
	config.context = fake_context;
	if (!hart->file || ntrace_encoder_init(&hart->encoder, &config))
		return -1;
	ntrace_encoder_start(&hart->encoder, NTRACE_SYNC_TRACE_ENABLE);
	return 0;
}

__attribute__((unused)) static void hart_block(struct fake_hart *hart, uint64_t address,
					       uint32_t parcels, unsigned int type,
					       unsigned int last_size, unsigned int priv)
{
	struct ntrace_ingress block = {
		.iaddr = address,
		.iretire = parcels,
		.itype = (uint8_t)type,
		.ilastsize = (uint8_t)last_size,
		.priv = (uint8_t)priv,
	};

	hart->ticks += 7;
	if (fake_time_bits)
		ntrace_encoder_time(&hart->encoder, hart->ticks);
	ntrace_encoder_retire(&hart->encoder, &block);
}

static unsigned int loop_priv(const struct fake_hart *hart)
{
	return hart->loop >> 63 ? NTRACE_PRIV_S : NTRACE_PRIV_U;
}

__attribute__((unused)) static void hart_loop(struct fake_hart *hart, unsigned int turns)
{
	while (turns--)
		hart_block(hart, hart->loop, 3, NTRACE_ITYPE_DIRECT_JUMP, 0, loop_priv(hart));
}

/* Interrupt in the loop, the kernel calls two functions and returns to @next. */
__attribute__((unused)) static void hart_trap(struct fake_hart *hart, uint64_t first,
					      uint64_t second, uint64_t next)
{
	hart_block(hart, hart->loop, 0, NTRACE_ITYPE_INTERRUPT, 0, loop_priv(hart));
	hart_block(hart, TRAP_ENTRY, 1, NTRACE_ITYPE_INDIRECT_CALL, 0, NTRACE_PRIV_S);
	hart_block(hart, first, 1, NTRACE_ITYPE_RETURN, 0, NTRACE_PRIV_S);
	hart_block(hart, TRAP_ENTRY + 2, 1, NTRACE_ITYPE_INDIRECT_CALL, 0, NTRACE_PRIV_S);
	hart_block(hart, second, 1, NTRACE_ITYPE_RETURN, 0, NTRACE_PRIV_S);
	hart_block(hart, TRAP_ENTRY + 4, 2, NTRACE_ITYPE_TRAP_RETURN, 1, NTRACE_PRIV_S);
	hart->loop = next;
}

__attribute__((unused)) static uint64_t hart_stop(struct fake_hart *hart)
{
	ntrace_encoder_stop(&hart->encoder, NTRACE_EVCODE_TRACE_DISABLE);
	fclose(hart->file);
	return hart->bytes;
}

#endif
