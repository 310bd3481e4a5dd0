// SPDX-License-Identifier: GPL-2.0-only
/*
 * The rules of the verifier, one at a time: what it writes to the model, what it compares, and what it
 * reports. verify.sh has a real model.
 */
#include "fake_model.h"

/* ---- configuration ---- */

static void test_config(void)
{
	struct ntrace_tandem_verifier *made = NULL;

	defaults();
	ok(config.full_interval == 1000 && config.params.xlen == 64 && config.chosen_count,
	   "defaults: all registers each 1000 groups, RV64, non-deterministic state");
	config.mismatch = NULL;
	is_u64(ntrace_tandem_verifier_new(&made, &config), NTRACE_ERR_INVALID, "no mismatch()");
	defaults();
	config.model.step = NULL;
	is_u64(ntrace_tandem_verifier_new(&made, &config), NTRACE_ERR_INVALID, "no step()");
	defaults();
	config.model.read_registers = NULL;
	is_u64(ntrace_tandem_verifier_new(&made, &config), NTRACE_ERR_INVALID,
	       "no read_registers()");
	defaults();
	config.params.xlen = 48;
	is_u64(ntrace_tandem_verifier_new(&made, &config), NTRACE_ERR_INVALID, "48 bits");
	defaults();
	config.model.xlen = 32;
	is_u64(ntrace_tandem_verifier_new(&made, &config), NTRACE_ERR_INVALID,
	       "a model of 32 bits for a trace of 64");
	defaults();
	config.size = 0;
	is_u64(ntrace_tandem_verifier_new(&made, &config), NTRACE_ERR_INVALID, "a size of 0");
	ok(!made, "none of them is made");
}

/* Bits that are never compared. */
static void test_chosen_bits(void)
{
	static const struct {
		unsigned int id;
		const char *name;
	} ids[] = {
		{ MIP, "mip" },
		{ 0x144, "sip" },
		{ 0xb00, "mcycle" },
		{ 0xb02, "minstret" },
		{ CYCLE, "cycle" },
		{ 0xc01, "time" },
		{ 0xc02, "instret" },
		{ 0xb80, "mcycleh" },
		{ 0xb82, "minstreth" },
		{ 0xc80, "cycleh" },
		{ 0xc81, "timeh" },
		{ 0xc82, "instreth" },
		{ 0xb03, "mhpmcounter3" },
		{ 0xb1f, "mhpmcounter31" },
		{ 0xb9f, "mhpmcounter31h" },
		{ 0xc1f, "hpmcounter31" },
		{ 0xc83, "hpmcounter3h" },
	};
	static const struct ntrace_tandem_mask masks[] = { { MSCRATCH, 0xf0 }, { 0x2000, 1 } };
	static const uint16_t absent[] = { MEPC, 0x2000 };

	start();
	for (unsigned int i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
		begin_insn(NOP);
		set(ids[i].id, 100 + i);
		also(ids[i].id, 7);
		end();
		is_u64(mismatches, 0, "%s is not compared by default", ids[i].name);
		is_u64(model.at_step[ids[i].id], 100 + i, "it is written before the step");
	}
	begin_insn(NOP);
	set(0x323, 1);
	end();
	is_u64(mismatches, 1, "mhpmevent3 is compared");
	begin_insn(0x34451073); /* csrw mip, a0 */
	set(MIP, 0x55);
	end();
	ok(model.at_step[MIP] != 0x55, "an instruction that writes the CSR does so in the model");

	defaults();
	config.chosen = masks;
	config.chosen_count = 2;
	config.absent = absent;
	config.absent_count = 2;
	restart();
	begin_insn(NOP);
	set(MSCRATCH, 0xa5);
	also(MSCRATCH, 0x55);
	end();
	is_u64(mismatches, 0, "bits of a mask are not compared");
	begin_insn(NOP);
	set(MSCRATCH, 0xa5);
	also(MSCRATCH, 0xa4);
	end();
	is_u64(mismatches, 1, "other bits are");
	begin_insn(NOP);
	model.watched = MEPC;
	set(MEPC, 0x1234);
	end();
	is_u64(mismatches, 0, "a register that the trace leaves out is not compared");
	init(MEPC, 0x1234);
	is_u64(model.writes, 0, "nor written");
	init(MSCRATCH, 1);
	is_u64(model.reg[MSCRATCH], 1, "others are");
	begin_insn(NOP);
	model.watched = GPR;
	set(GPR, 0);
	end();
	is_u64(mismatches + model.writes + model.reads, 0, "x0 is neither compared nor written");
	begin_insn(NOP);
	set(GPR, 5);
	end();
	ok(mismatches == 1 && found[0].id == GPR && found[0].seen == 5 && !found[0].expected,
	   "x0 = 5 is a difference");
	begin_insn(NOP);
	end();
	is_u64(mismatches, 0, "of this group only");
}

/* ---- what the trace decides ---- */

static const struct ntrace_tandem_range devices[] = { { 0x1000, 0x1fff }, { 0x9000, 0x9003 } };

/* A group with this instruction, which writes 5 to @id in the trace and 6 in the model. */
static void differs(const char *what, uint64_t insn, unsigned int address_id, uint64_t address,
		    unsigned int id, bool from_trace)
{
	init(A1, address);
	begin_insn(insn);
	if (address_id)
		put(NTRACE_TANDEM_STATE, address_id, address);
	set(id, 5);
	also(id, 6);
	end();
	is_u64(mismatches, !from_trace, "%s is %s", what,
	       from_trace ? "taken from the trace" : "compared");
	is_u64(model.reg[id], 5, "%s: the model has the value of the trace then", what);
}

static void test_destinations(void)
{
	enum { PADDR = NTRACE_TANDEM_STATE_PADDR, EADDR = NTRACE_TANDEM_STATE_EADDR };

	defaults();
	config.devices = devices;
	config.device_count = 2;
	restart();
	differs("csrr a0, cycle", 0xc0002573, 0, 0, A0, true);
	differs("csrr a0, mip", 0x34402573, 0, 0, A0, true);
	differs("csrr a0, mscratch", 0x34002573, 0, 0, A0, false);
	is_u64(stats.chosen, 2, "results from the trace are counted");
	differs("another register of csrr a0, cycle", 0xc0002573, 0, 0, A1, false);
	differs("csrr zero, cycle", 0xc0002073, 0, 0, A0, false);
	differs("ld a0 of a device", 0x0005b503, EADDR, 0x1000, A0, true);
	differs("ld a0 of the last byte", 0x0005b503, EADDR, 0x1fff, A0, true);
	differs("ld a0 beyond the device", 0x0005b503, EADDR, 0x2000, A0, false);
	differs("ld a0 before the device", 0x0005b503, EADDR, 0xfff, A0, false);
	differs("ld a0 of the second device", 0x0005b503, EADDR, 0x9003, A0, true);
	restart();
	differs("ld a0 at a physical address", 0x0005b503, PADDR, 0x1000, A0, true);
	differs("ld a0 without an address", 0x0005b503, 0, 0, A0, false);
	restart();
	differs("amoadd.d a0", 0x00c5b52f, EADDR, 0x1000, A0, true);
	differs("addi a0", 0x00158513, 0, 0x1000, A0, false);
	differs("fld fa0", 0x0005b507, EADDR, 0x1000, FPR + 10, true);
	differs("c.lw a0", 0x4188, EADDR, 0x1000, A0, true);
	differs("c.ld a0", 0x6188, EADDR, 0x1000, A0, true);
	differs("c.ld s0", 0x6180, EADDR, 0x1000, GPR + 8, true);
	differs("c.lwsp a0", 0x4502, EADDR, 0x1000, A0, true);
	differs("c.ldsp a0", 0x6502, EADDR, 0x1000, A0, true);
	differs("c.ldsp t6", 0x6f82, EADDR, 0x1000, GPR + 31, true);
	differs("c.mv a0", 0x852e, 0, 0x1000, A0, false);
	differs("Zcb c.lbu a0", 0x8188, EADDR, 0x1000, A0, true);
	differs("Zcb c.lhu a0", 0x8588, EADDR, 0x1000, A0, true);
	differs("Zcb c.lh a0", 0x85c8, EADDR, 0x1000, A0, true);
	differs("c.fld fa0", 0x2188, EADDR, 0x1000, FPR + 10, true);
	differs("c.fldsp fa0", 0x2502, EADDR, 0x1000, FPR + 10, true);
	differs("lbu a0", 0x0005c503, EADDR, 0x1000, A0, true);
	restart();
	differs("lbu a0, whose address the trace leaves out", 0x0005c503, 0, 0x1000, A0, true);
	defaults();
	config.params.xlen = config.params.mlen = 32;
	config.devices = devices;
	config.device_count = 2;
	restart();
	differs("RV32: c.flw fa0", 0x6188, EADDR, 0x1000, FPR + 10, true);
	differs("RV32: c.flwsp fa0", 0x6502, EADDR, 0x1000, FPR + 10, true);
	defaults();
	config.devices = devices;
	config.device_count = 2;
	restart();
	/* The physical address tells whether it is a device. */
	begin_insn(0x0005b503);
	put(NTRACE_TANDEM_STATE, EADDR, 0x1000);
	put(NTRACE_TANDEM_STATE, PADDR, 0x5000);
	set(A0, 5);
	also(A0, 6);
	end();
	is_u64(mismatches, 1, "a virtual address of a device is none if the physical one is known");
}

/* ---- memory ---- */

static void stores(unsigned int log2, uint64_t address, uint64_t seen, uint64_t in_model)
{
	begin_insn(0x00a58023 | (uint64_t)log2 << 12);
	put(NTRACE_TANDEM_STATE, NTRACE_TANDEM_STATE_EADDR, address);
	put(NTRACE_TANDEM_STATE, NTRACE_TANDEM_STATE_STORE8 + log2, seen);
	memset(model.memory + 128, 0xee, 128);
	memcpy(model.memory + 128, &in_model, 1u << log2);
	end();
}

static void test_stores(void)
{
	static const uint64_t values[] = { 0x85, 0x8765, 0x87654321, 0x8877665544332211 };
	uint64_t now;

	start();
	for (unsigned int i = 0; i < 4; i++) {
		stores(i, DATA, values[i], values[i]);
		is_u64(mismatches, 0, "a store of %u bytes is right", 1 << i);
		stores(i, DATA, values[i], values[i] ^ 1);
		ok(mismatches == 1 && found[0].kind == NTRACE_TANDEM_DIFFERENT_STORE &&
			   found[0].address == DATA && found[0].seen == values[i] &&
			   found[0].expected == (values[i] ^ 1),
		   "a wrong one is reported with address, data and memory");
		now = 0;
		memcpy(&now, model.memory + 128, 1u << i);
		is_hex(now, values[i] ^ 1, "the model's memory stays as it is");
	}
	stores(3, 0x4000, 1, 2);
	is_u64(mismatches + (unsigned int)result, 0, "memory that the model lacks is not compared");
	start();
	begin_insn(0x00a5b023);
	put(NTRACE_TANDEM_STATE, NTRACE_TANDEM_STATE_PADDR, DATA);
	put(NTRACE_TANDEM_STATE, NTRACE_TANDEM_STATE_STORE64, 1);
	end();
	ok(mismatches == 1 && found[0].address == DATA, "a physical address alone is used");
	start();
	begin_insn(0x00a58023);
	put(NTRACE_TANDEM_STATE, NTRACE_TANDEM_STATE_STORE8, 1);
	end();
	is_u64(mismatches, 0, "a store without an address is not compared");
	start();
	begin_insn(0x00a5b023);
	put(NTRACE_TANDEM_STATE, NTRACE_TANDEM_STATE_EADDR, DATA);
	end();
	is_u64(mismatches, 0, "nor is an access in a trace without store data");
	config.model.write_memory = NULL;
	restart();
	stores(3, DATA, 1, 2);
	ok(mismatches == 1 && !result, "without write_memory() the difference is reported only");
	config.model.read_memory = NULL;
	restart();
	stores(3, DATA, 1, 2);
	is_u64(mismatches, 0, "without read_memory() stores are not compared");
	defaults();
	config.devices = devices;
	config.device_count = 1;
	restart();
	begin_insn(0x00a5b023);
	put(NTRACE_TANDEM_STATE, NTRACE_TANDEM_STATE_EADDR, DATA);
	put(NTRACE_TANDEM_STATE, NTRACE_TANDEM_STATE_PADDR, 0x1000);
	put(NTRACE_TANDEM_STATE, NTRACE_TANDEM_STATE_STORE8, 1);
	end();
	is_u64(mismatches, 0, "nor are stores to a device");
}

static void test_insns(void)
{
	start();
	begin_insn(NOP);
	model.memory[3] = 0x80;
	end();
	ok(mismatches == 1 && found[0].kind == NTRACE_TANDEM_DIFFERENT_INSN &&
		   found[0].address == CODE && found[0].seen == NOP &&
		   found[0].expected == (NOP | 0x80000000),
	   "another instruction in the model's memory");
	ok(found[0].pc == CODE && found[0].insn == NOP && found[0].insn_bytes == 4 &&
		   found[0].group == stats.groups - 1 && found[0].offset == offset - 4,
	   "is reported with group, offset, pc and instruction");
	begin_insn(0x0001);
	model.memory[2] = 0x80;
	end();
	is_u64(mismatches, 0, "only the bytes of the instruction are compared");
	begin_insn(0x0001);
	model.memory[1] = 0x80;
	end();
	ok(mismatches == 1 && found[0].insn_bytes == 2, "both bytes of a short one");
	begin_insn(NOP);
	model.memory_error = NTRACE_ERR_NOMAP;
	end();
	is_u64(mismatches + (unsigned int)result, 0, "code that the model lacks is not compared");
	begin_insn(NOP);
	model.memory_error = NTRACE_ERR_IO;
	end();
	is_u64(result, NTRACE_ERR_IO, "another error ends the verification");
	model.memory_error = 0;
	config.model.read_memory = NULL;
	restart();
	begin_insn(NOP);
	model.memory[3] = 0x80;
	end();
	is_u64(mismatches, 0, "without read_memory() instructions are not compared");
}

/* Memory that a debugger or loader writes. */
static void test_loader(void)
{
	struct ntrace_tandem_field field = { .type = NTRACE_TANDEM_REQUEST,
					     .op = NTRACE_TANDEM_STORE,
					     .size = 1,
					     .address = DATA,
					     .value = 0x1234 };

	start();
	begin();
	put(NTRACE_TANDEM_INIT, 0, 0);
	is_u64(ntrace_tandem_verifier_field(verifier, &field), 0, "two bytes of a loader");
	ok(model.memory[128] == 0x34 && model.memory[129] == 0x12 && !model.memory[130],
	   "are written to the model at once");
	field.address = 0x4000;
	is_u64(ntrace_tandem_verifier_field(verifier, &field), 0, "unless it has no memory there");
	field.address = DATA;
	field.value = 0x5678;
	model.store_error = NTRACE_ERR_IO;
	is_u64(ntrace_tandem_verifier_field(verifier, &field), NTRACE_ERR_IO,
	       "another error ends the verification");
	model.store_error = 0;
	field.op = NTRACE_TANDEM_LOAD;
	is_u64(ntrace_tandem_verifier_field(verifier, &field), 0, "a load of a loader");
	end();
	begin();
	field.op = NTRACE_TANDEM_STORE;
	ntrace_tandem_verifier_field(verifier, &field);
	end();
	is_hex(model.memory[128], 0x34, "neither a load nor the hart's own request writes");
	begin();
	ntrace_tandem_verifier_field(verifier, &field);
	put(NTRACE_TANDEM_INIT, 0, 0);
	end();
	is_hex(model.memory[128], 0x78, "a store before the INIT of its group is a loader's, too");
	config.model.write_memory = NULL;
	restart();
	begin();
	put(NTRACE_TANDEM_INIT, 0, 0);
	is_u64(ntrace_tandem_verifier_field(verifier, &field), 0, "a model without write_memory()");
	end();
}

/* ---- interrupts ---- */

/* An interrupt at CODE with one register wrong; @wrong: NONE for none. */
static void interrupt(bool machine, unsigned int wrong, unsigned int mode, uint64_t code)
{
	uint64_t top = UINT64_C(1) << (config.params.xlen - 1);
	uint64_t vector = machine ? 0x1000 : 0x2000;

	restart();
	init(PC, CODE);
	init(PRIV, 1);
	init(MTVEC, 0x1000 | mode);
	init(STVEC, 0x2000 | mode);
	init(MIE, UINT64_C(1) << code);
	init(MIDELEG, machine ? 0 : UINT64_C(1) << code);
	/* MIE, SIE set, MPIE, SPIE clear, MPP = 3, SPP = 0 */
	init(MSTATUS, 0x180a);
	begin();
	set(machine ? MCAUSE : SCAUSE, top | code);
	set(PC, vector + (mode == 1 ? 4 * code : 0) + (wrong == PC) * 4);
	set(machine ? MEPC : SEPC, CODE + (wrong == MEPC) * 4);
	set(MSTATUS, (machine ? 0x0882 : 0x1928) ^ (wrong == MSTATUS ? 0x80 : 0));
	set(PRIV, (machine ? 3 : 1) ^ (wrong == PRIV) * 2);
	end();
}

static void test_interrupts(void)
{
	static const unsigned int wrong[] = { PC, MEPC, MSTATUS, PRIV };

	defaults();
	for (unsigned int xlen = 64; xlen >= 32; xlen -= 32) {
		config.params.xlen = config.params.mlen = xlen;
		for (unsigned int machine = 0; machine < 2; machine++) {
			interrupt(machine, NONE, 0, 7);
			ok(!mismatches && !result, "RV%u: an interrupt to %s mode", xlen,
			   machine ? "M" : "S");
			ok(stats.interrupts == 1 && !stats.steps && !model.steps,
			   "no instruction is executed");
			ok(model.reg[machine ? MCAUSE : SCAUSE] << 1 &&
				   model.reg[PC] == (machine ? 0x1000 : 0x2000),
			   "its state is written to the model");
			interrupt(machine, NONE, 1, 7);
			is_u64(mismatches, 0, "a vectored one");
			for (unsigned int i = 0; i < 4; i++) {
				unsigned int id = wrong[i] == MEPC && !machine ? SEPC : wrong[i];

				interrupt(machine, wrong[i], 0, 5);
				ok(mismatches == 1 && found[0].id == id &&
					   found[0].kind == NTRACE_TANDEM_DIFFERENT_TRAP,
				   "a wrong register %x breaks the rules", id);
				is_hex(found[0].seen ^ found[0].expected,
				       id == MSTATUS ? 0x80 :
				       id == PRIV    ? 2 :
						       4,
				       "it is reported with both values");
			}
		}
	}
	start();
	init(PC, CODE);
	model.reg[MTVEC] = 0x3001;
	model.reg[MIE] = 0x80;
	model.reg[MSTATUS] = 0x8;
	begin();
	set(MCAUSE, UINT64_C(1) << 63 | 7);
	set(PC, 0x301c);
	end();
	ok(!mismatches && stats.interrupts == 1, "what the trace does not tell is the model's");
	ok(model.reg[MSTATUS] == 0x80 && model.reg[PRIV] == 3 && model.reg[MEPC] == CODE,
	   "the model takes the interrupt: mstatus, privilege and mepc are right");
	/* Exceptions are executed. */
	begin_insn(0x00000073);
	set(MCAUSE, 11);
	also(MCAUSE, 11);
	end();
	is_u64(stats.interrupts, 1, "an exception is no interrupt");
	init(PC, CODE);
	begin();
	set(PC, 0x3000);
	set(MCAUSE, 11);
	end();
	ok(stats.interrupts == 1 && model.steps == 2, "nor one without an instruction");
}

/* ---- other groups ---- */

static void test_wfi(void)
{
	start();
	begin_insn(0x10500073);
	end();
	ok(model.steps == 1 && !mismatches, "a model whose wfi returns executes it");
	config.model.flags = NTRACE_TANDEM_MODEL_WFI_BLOCKS;
	restart();
	begin_insn(0x10500073);
	end();
	ok(!model.steps && stats.steps == 1, "one whose wfi waits does not");
	is_hex(model.reg[PC], CODE + 4, "it continues after it");
	begin_insn(NOP);
	end();
	is_u64(model.steps, 1, "other instructions are executed");
	init(PC, CODE);
	memcpy(model.memory, "\x73\0\x50\x10", 4);
	model.after[0][1] = 0x1000;
	begin();
	set(PC, 0x1000);
	put(NTRACE_TANDEM_INSN32, 0, 0x10500073);
	end();
	ok(model.steps == 2 && !mismatches, "a wfi that traps is executed");
}

static void test_reset(void)
{
	start();
	init(A0, 5);
	begin();
	put(NTRACE_TANDEM_RESET, 0, 0);
	set(PC, 0x1000);
	end();
	ok(model.resets == 1 && stats.resets == 1 && !result, "a reset resets the model");
	is_hex(model.reg[PC], 0x1000, "what the trace tells is written");
	begin_insn(NOP);
	also(A0, 77);
	end();
	is_u64(mismatches, 0, "registers from before the reset are unknown");
	begin();
	model.reset_error = NTRACE_ERR_IO;
	put(NTRACE_TANDEM_RESET, 0, 0);
	end();
	is_u64(result, NTRACE_ERR_IO, "an error of reset() ends the verification");
	config.model.reset = NULL;
	restart();
	model.reg[MSTATUS] = 0x2000a;
	begin();
	put(NTRACE_TANDEM_RESET, 0, 0);
	set(PC, 0x1000);
	end();
	ok(!result && model.reg[PC] == 0x1000, "a model without reset()");
	ok(model.reg[PRIV] == 3 && model.reg[MSTATUS] == 2, "gets M mode, MIE and MPRV 0");
	begin();
	set(A0, 3);
	end();
	ok(stats.initialisations == 1 && model.reg[A0] == 3,
	   "a change without an instruction is an initialisation");
	/* What the trace tells of it. */
	start();
	for (unsigned int i = 0; i < 4; i++) {
		begin();
		put(NTRACE_TANDEM_RESET, 0, 0);
		set(PRIV, i == 1 ? 0 : 3);
		set(MSTATUS, i == 2 ? 0xa00000008 : i == 3 ? 0xa00020000 : 0xa00000000);
		end();
		is_u64(mismatches, i > 0, "reset %u is %s", i, i ? "a difference" : "right");
	}
	/* Between two groups. */
	start();
	begin_insn(NOP);
	end();
	put(NTRACE_TANDEM_RESET, 0, 0);
	set(PC, CODE);
	begin();
	put(NTRACE_TANDEM_NEXT_PC, 0, 0);
	put(NTRACE_TANDEM_INSN32, 0, NOP);
	model.after[0][1] = CODE + 8;
	end();
	ok(model.resets == 1 && model.steps == 2 && mismatches == 1 && found[0].id == PC,
	   "a reset between two groups does not hide the next instruction");
}

/* Which registers are compared after an instruction. */
static void test_compared(void)
{
	static const struct {
		const char *what;
		uint64_t insn;
		bool floats, fcsr, csrs;
	} cases[] = {
		{ "addi", NOP, false, false, false },
		{ "fld", 0x0005b507, true, true, false },
		{ "fsd", 0x00a5b027, true, true, false },
		{ "fmadd.d", 0x00000043, true, true, false },
		{ "fmsub.d", 0x00000047, true, true, false },
		{ "fnmsub.d", 0x0000004b, true, true, false },
		{ "fnmadd.d", 0x0000004f, true, true, false },
		{ "fadd.d", 0x00000053, true, true, false },
		{ "c.fld", 0x2188, true, true, false },
		{ "c.fsd", 0xa188, true, true, false },
		{ "c.fldsp", 0x2502, true, true, false },
		{ "c.fsdsp", 0xa02a, true, true, false },
		{ "c.addiw", 0x2505, false, false, false },
		{ "c.lw", 0x4188, false, false, false },
		{ "csrr", 0x34002573, false, true, true },
		{ "mret", 0x30200073, false, true, true },
	};

	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const unsigned int ids[] = {
			GPR + 1, GPR + 31, PRIV, FPR, FPR + 31, FCSR, MSCRATCH
		};
		/* The privilege after mret is compared with the next group: faults.py. */
		const bool want[] = { true,
				      true,
				      cases[i].insn != 0x30200073,
				      cases[i].floats,
				      cases[i].floats,
				      cases[i].fcsr,
				      cases[i].csrs };

		for (unsigned int k = 0; k < 7; k++) {
			start();
			init(ids[k], 1);
			begin_insn(cases[i].insn);
			also(ids[k], 2);
			end();
			is_u64(mismatches, want[k], "%s: register %x is%s compared", cases[i].what,
			       ids[k], want[k] ? "" : " not");
		}
	}
	defaults();
	config.full_interval = 3;
	restart();
	init(MSCRATCH, 1);
	init(FPR, 1);
	for (unsigned int i = 1; i <= 6; i++) {
		begin_insn(NOP);
		also(MSCRATCH, 2);
		also(FPR, 2);
		end();
		is_u64(mismatches, i % 3 ? 0 : 2, "instruction %u, all registers each third time",
		       i);
	}
	ok(stats.full == 2 && stats.steps == 6, "two comparisons of all registers");
	config.full_interval = 0;
	restart();
	init(MSCRATCH, 1);
	begin_insn(NOP);
	also(MSCRATCH, 2);
	end();
	ok(!mismatches && !stats.full, "an interval of 0: never");
	start();
	init(MSCRATCH, 1);
	begin_insn(NOP);
	set(PRIV, 3);
	also(PRIV, 3);
	also(MSCRATCH, 2);
	end();
	is_u64(mismatches, 1, "after a change of privilege all CSRs are compared");
	begin_insn(NOP);
	model.watched = A0;
	set(A0, 1);
	also(A0, 1);
	end();
	is_u64(model.reads, 1, "a register is compared once");
	/* A group without an instruction, after one that reads a counter. */
	start();
	init(MSCRATCH, 1);
	begin_insn(0xc0002573);
	end();
	begin();
	set(PC, 0x3000);
	set(A0, 5);
	memset(model.after, 0, sizeof(model.after));
	model.after[0][0] = PC;
	model.after[0][1] = 0x3000;
	also(A0, 6);
	also(MSCRATCH, 2);
	model.memory[4] = 0x80;
	end();
	ok(mismatches == 2 && found[0].id == A0 && found[1].id == MSCRATCH,
	   "without an instruction, nothing is taken from the trace, and all CSRs are compared");
}

/* The pc that was found wrong; 0: none */
static uint64_t find_wrong_pc(void)
{
	for (unsigned int i = 0; i < mismatches; i++)
		if (found[i].id == PC)
			return found[i].seen;
	return 0;
}

/* An instruction whose next pc the trace leaves out. */
static void test_left_out(void)
{
	for (unsigned int interrupt = 0; interrupt < 2; interrupt++) {
		start();
		init(MTVEC, 0x2000);
		begin();
		set(PC, CODE);
		put(NTRACE_TANDEM_INIT, 0, 0);
		end();
		begin();
		put(NTRACE_TANDEM_INSN32, 0, NOP);
		memcpy(model.memory, "\x13\0\0", 4);
		model.after[0][0] = PC;
		model.after[0][1] = CODE + 4;
		end();
		begin();
		if (interrupt) {
			set(PC, 0x2000);
			set(MCAUSE, UINT64_C(1) << 63 | 7);
		} else {
			set(PC, CODE + 8);
			put(NTRACE_TANDEM_INSN32, 0, NOP);
			model.after[0][1] = CODE + 8;
		}
		end();
		is_u64(find_wrong_pc(), interrupt ? 0 : CODE, "no next pc before an %s",
		       interrupt ? "interrupt" : "instruction: a difference");
	}
}

/* After a difference the model has the state of the trace. */
static void test_recovery(void)
{
	start();
	init(MSCRATCH, 1);
	begin_insn(NOP);
	set(A0, 5);
	also(A0, 6);
	also(MSCRATCH, 2);
	end();
	ok(mismatches == 1 && found[0].id == A0 && found[0].seen == 5 && found[0].expected == 6 &&
		   found[0].kind == NTRACE_TANDEM_DIFFERENT_REGISTER,
	   "a difference");
	ok(model.reg[A0] == 5 && model.reg[MSCRATCH] == 1, "all registers are put right");
	begin_insn(NOP);
	set(A0, 5);
	set(A1, 7);
	end();
	ok(mismatches == 1 && stats.mismatched == 2 && stats.differences == 2, "differences");
	begin_insn(NOP);
	set(A0, 8);
	set(A1, 9);
	end();
	ok(mismatches == 2 && stats.mismatched == 3 && stats.differences == 4,
	   "groups with differences are counted once");
	is_u64(groups, stats.groups, "group() is called for each group");
	config.model.write_registers = NULL;
	restart();
	begin();
	put(NTRACE_TANDEM_NEXT_PC, 0, 0);
	put(NTRACE_TANDEM_INSN32, 0, 0xc0002573);
	model.after[0][0] = PC;
	model.after[0][1] = 4;
	set(CYCLE, 4);
	set(A0, 0);
	end();
	ok(!result && !mismatches, "a model that cannot be written goes on without a difference");
	is_u64(stats.chosen, 1, "and takes a result from the trace");
	begin();
	set(A0, 1);
	put(NTRACE_TANDEM_NEXT_PC, 0, 0);
	put(NTRACE_TANDEM_INSN32, 0, NOP);
	model.after[0][1] = 8;
	end();
	ok(mismatches == 1 && result == NTRACE_ERR_UNSUPPORTED, "until the first one");
}

static void test_results(void)
{
	start();
	begin_insn(NOP);
	set(A0, 5);
	verdict = 42;
	end();
	is_u64(result, 42, "mismatch() ends the verification");
	verdict = 0;
	begin_insn(NOP);
	set(A0, 6);
	set(A1, 6);
	verdict = 43;
	end();
	ok(result == 43 && mismatches == 1, "at the first difference");
	verdict = 0;
	begin_insn(NOP);
	group_verdict = 44;
	model.steps = 0;
	end();
	ok(result == 44 && !model.steps, "group() ends it before the step");
	group_verdict = 0;
	begin_insn(NOP);
	model.step_error = NTRACE_ERR_EOS;
	end();
	is_u64(result, NTRACE_ERR_EOS, "an error of step() ends it");
	model.step_error = 0;
	begin_insn(NOP);
	model.read_error = NTRACE_ERR_IO;
	end();
	is_u64(result, NTRACE_ERR_IO, "an error of read_registers() ends it");
	model.read_error = 0;
	begin();
	model.write_error = NTRACE_ERR_IO;
	put(NTRACE_TANDEM_INIT, 0, 0);
	set(A0, 1);
	end();
	is_u64(result, NTRACE_ERR_IO, "an error of write_registers() ends it");
	start();
	model.lacks = A1;
	init(A1, 4);
	is_u64(result, 0, "a register that the model lacks is not written");
	begin_insn(NOP);
	set(A1, 5);
	set(A0, 5);
	end();
	ok(mismatches == 1 && found[0].id == A0, "nor compared");
	start();
	model.read_error = NTRACE_ERR_IO;
	init(A1, 4);
	is_u64(result, NTRACE_ERR_IO, "another error is no missing register");
	start();
	begin();
	put(NTRACE_TANDEM_NEXT_PC, 0, 0);
	ntrace_tandem_verifier_field(
		verifier, &(struct ntrace_tandem_field){ .type = NTRACE_TANDEM_END,
							 .flags = NTRACE_TANDEM_PC_ALONE });
	ok(mismatches == 1 && found[0].kind == NTRACE_TANDEM_DIFFERENT_FORMAT &&
		   found[0].problems == NTRACE_TANDEM_PC_ALONE && !found[0].insn_bytes,
	   "a group that violates the protocol is reported");
}

int main(void)
{
	test_config();
	test_chosen_bits();
	test_destinations();
	test_stores();
	test_insns();
	test_loader();
	test_interrupts();
	test_wfi();
	test_reset();
	test_compared();
	test_left_out();
	test_recovery();
	test_results();
	ntrace_tandem_verifier_free(verifier);
	return done_testing();
}
