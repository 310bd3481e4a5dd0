// SPDX-License-Identifier: GPL-2.0-only
/*
 * Groups from retirements of RVFI. Each case is a list of retirements, and the fields that they give as
 * text, written by hand: "i" is the instruction 00000013, "pc+" the next pc.
 */
#include <stdarg.h>

#include <ntrace/tandem_rvfi.h>

#include "tap.h"

enum {
	MSTATUS = 0x300,
	MEPC = 0x341,
	MCAUSE = 0x342,
	MIP = 0x344,
	NOP = 0x13,
	ALL = NTRACE_RVFI_HAS_ORDER | NTRACE_RVFI_HAS_NEXT_PC | NTRACE_RVFI_HAS_INTR |
	      NTRACE_RVFI_HAS_MASKS,
};

static struct ntrace_tandem_rvfi *rvfi;
static char seen[8192], problems[1024];

__attribute__((format(printf, 2, 3))) static void append(char *text, const char *format, ...)
{
	size_t used = strlen(text);
	va_list args;

	va_start(args, format);
	vsnprintf(text + used, 4096 - used, format, args);
	va_end(args);
}

static int on_field(void *user, const struct ntrace_tandem_field *field)
{
	char name[NTRACE_TANDEM_NAME_MAX];

	(void)user;
	switch (field->type) {
	case NTRACE_TANDEM_BEGIN:
		append(seen, "[");
		break;
	case NTRACE_TANDEM_END:
		append(seen, "]");
		break;
	case NTRACE_TANDEM_NEXT_PC:
		append(seen, " pc+");
		break;
	case NTRACE_TANDEM_INSN16:
	case NTRACE_TANDEM_INSN32:
		append(seen, field->value == NOP ? " i" : " i%" PRIx64, field->value);
		break;
	case NTRACE_TANDEM_REGISTER:
		append(seen, " %s=%" PRIx64, ntrace_tandem_register_name(field->id, name),
		       field->value);
		break;
	case NTRACE_TANDEM_STATE:
		append(seen, " %s=%" PRIx64, ntrace_tandem_state_name(field->id), field->value);
		break;
	default:
		append(seen, " %s", ntrace_tandem_type_name(field->type));
	}
	return 0;
}

static int on_problem(void *user, const struct ntrace_rvfi_problem *problem)
{
	(void)user;
	append(problems, "%u at %" PRIu64 ": %" PRIx64 " %" PRIx64 ";", problem->kind,
	       problem->order, problem->seen, problem->expected);
	return 0;
}

static void start(void)
{
	struct ntrace_tandem_rvfi_config config = { .size = sizeof(config),
						    .field = on_field,
						    .problem = on_problem };

	ntrace_tandem_params_init(&config.params);
	config.params.xlen = 32;
	config.params.mlen = 32;
	ntrace_tandem_rvfi_free(rvfi);
	is_u64(ntrace_tandem_rvfi_new(&rvfi, &config), 0, "a conversion");
	seen[0] = problems[0] = 0;
}

static struct ntrace_rvfi nop(uint64_t order, uint64_t pc)
{
	return (struct ntrace_rvfi){ .size = sizeof(struct ntrace_rvfi),
				     .has = ALL,
				     .order = order,
				     .insn = NOP,
				     .pc_rdata = pc,
				     .pc_wdata = pc + 4 };
}

static int retire(struct ntrace_rvfi retired)
{
	return ntrace_tandem_rvfi_retire(rvfi, &retired);
}

static void expect(const char *what, const char *fields, const char *wrong)
{
	is_u64(ntrace_tandem_rvfi_end(rvfi), 0, "%s: its end", what);
	is_str(seen, fields, "%s", what);
	is_str(problems, wrong, "%s: problems", what);
}

static void test_order(void)
{
	start();
	retire(nop(7, 0x100));
	retire(nop(9, 0x108));
	retire(nop(10, 0x10c));
	retire(nop(8, 0x104));
	expect("instructions in another order", "[ init pc=100][ pc+ i][ pc+ i][ pc+ i][ pc+ i]",
	       "");
	start();
	retire(nop(7, 0x100));
	retire(nop(8, 0x104));
	retire(nop(7, 0x100));
	retire(nop(10, 0x10c));
	retire(nop(10, 0x10c));
	retire(nop(9, 0x108));
	expect("an order that is repeated", "[ init pc=100][ pc+ i][ pc+ i][ pc+ i][ pc+ i]",
	       "0 at 7: 7 9;0 at 10: a 9;");
	start();
	retire(nop(0, 0x100));
	is_u64(retire(nop(64, 0x200)), 0, "an order 63 ahead");
	is_u64((uint64_t)-retire(nop(66, 0x208)), -NTRACE_ERR_FORMAT, "an order too far ahead");
	is_str(problems, "1 at 66: 42 1;", "which is reported");
	start();
	retire(nop(0, 0x100));
	retire(nop(2, 0x108));
	is_u64((uint64_t)-ntrace_tandem_rvfi_end(rvfi), -NTRACE_ERR_FORMAT, "one that never comes");
}

/* A log that ends with a trap return, whose privilege the next line would tell. */
static void test_last_return(void)
{
	struct ntrace_rvfi one = nop(0, 0x100), two = nop(1, 0x104);

	for (unsigned int has_mode = 0; has_mode < 2; has_mode++) {
		start();
		one.has |= has_mode ? NTRACE_RVFI_HAS_MODE : 0;
		two.has = one.has;
		one.mode = two.mode = has_mode ? 3 : 0;
		two.insn = 0x30200073;
		two.pc_wdata = 0x800;
		retire(one);
		retire(two);
		expect(has_mode ? "mret at the end, with the mode" : "without it",
		       has_mode ? "[ init pc=100 priv=3][ pc+ i]" :
				  "[ init pc=100][ pc+ i][ pc=800 i30200073]",
		       "");
	}
}

static void test_registers(void)
{
	struct ntrace_rvfi one = nop(0, 0x100), two = nop(1, 0x104);

	start();
	one.has |= NTRACE_RVFI_HAS_SOURCES;
	one.rs1_addr = 5;
	one.rs1_rdata = 0x77;
	one.rd_addr = 6;
	one.rd_wdata = UINT64_C(0xffffffff00000001);
	two.has |= NTRACE_RVFI_HAS_SOURCES;
	two.rs1_addr = 5;
	two.rs1_rdata = 0x77;
	two.rs2_addr = 6;
	two.rs2_rdata = 2;
	retire(one);
	ok(strstr(seen, " t6=0][ init t0=77]"),
	   "a register that is read first has that value before");
	seen[0] = 0;
	retire(two);
	expect("rd, and an operand that is not what was written", "[ pc+ i t1=1][ pc+ i]",
	       "3 at 1: 2 1;");
	start();
	one = nop(0, 0x100);
	one.rd_wdata = 4;
	one.insn = UINT64_C(0x1ffff0001);
	one.pc_wdata = 0x200;
	retire(one);
	retire(nop(1, 0x300));
	expect("data of x0, a long instruction, another pc", "[ init pc=100][ pc=300 i1][ pc+ i]",
	       "6 at 0: 1ffff0001 0;4 at 0: 4 0;2 at 1: 300 200;");
}

/* @insn, its masks, and the fields */
static void test_access(const char *what, uint32_t insn, uint32_t rmask, uint32_t wmask,
			bool extamo, const char *fields, const char *wrong)
{
	struct ntrace_rvfi one = nop(0, 0x100), two = nop(1, 0x104);
	char expected[256];

	start();
	one.rd_addr = 5;
	one.rd_wdata = 0x1003;
	two.insn = insn;
	two.mem_addr = 0x1000;
	two.mem_rmask = rmask;
	two.mem_wmask = wmask;
	two.mem_wdata = 0x44332211;
	two.extamo = extamo;
	retire(one);
	retire(two);
	snprintf(expected, sizeof(expected), "[ init pc=100][ pc+ i t0=1003][ pc+ i%x%s]", insn,
		 fields);
	expect(what, expected, wrong);
}

/* sb to @address, with a mask of bit @first */
static void test_alignment(uint64_t address, unsigned int first, uint64_t aligned)
{
	struct ntrace_rvfi one = nop(0, 0x100);
	char wrong[64] = "";

	start();
	one.insn = 0x00628023;
	one.mem_addr = address;
	one.mem_wmask = 1u << first;
	retire(one);
	retire(nop(1, 0x104));
	if (aligned != address)
		snprintf(wrong, sizeof(wrong), "8 at 0: %" PRIx64 " %" PRIx64 ";", address,
			 aligned);
	is_str(problems, wrong, "bit %u of a mask, address %#" PRIx64, first, address);
}

static void test_accesses(void)
{
	test_access("sb in the last byte of a word", 0x00628023, 0, 8, false,
		    " eaddr=1003 store8=44", "");
	test_access("sh with the mask of its bytes", 0x00629023, 0, 3, false,
		    " eaddr=1000 store16=2211", "");
	test_access("lbu that reads one byte", 0x0002c303, 8, 0, false, " eaddr=1003", "");
	test_access("lbu of a core that reads words", 0x0002c303, 0xf, 0, false, " eaddr=1003", "");
	test_access("lbu of another byte", 0x0002c303, 4, 0, false, " eaddr=1002", "");
	test_access("lbu -8(t0), of another word", 0xff82c303, 0xf, 0, false, " eaddr=1000", "");
	test_access("amoadd.w", 0x0062a02f, 0xf, 0xf, false, " eaddr=1000 store32=44332211", "");
	test_access("amoadd.w that tells the operand", 0x0062a02f, 0, 0xf, true, " eaddr=1000", "");
	test_access("a mask with a hole", 0x0062a023, 0, 5, false, "", "5 at 1: 5 0;");
	test_access("a mask of three bytes", 0x0062a023, 0, 7, false, "", "5 at 1: 7 0;");
	for (unsigned int offset = 1; offset < 8; offset++) {
		test_alignment(0x1000 + offset, 0, 0x1000 + offset);
		test_alignment(0x1000, offset, 0x1000);
		/* Of the word around it, or of the doubleword. */
		test_alignment(0x1000 + offset, offset, 0x1000);
		test_alignment(0x1004, offset, offset < 4 ? 0x1004 : 0x1000);
	}
}

/* A CSR that a retirement tells. */
static struct ntrace_rvfi_change csr(uint16_t id, uint64_t rmask, uint64_t rdata, uint64_t wmask,
				     uint64_t wdata)
{
	return (struct ntrace_rvfi_change){ id, rmask, wmask, rdata, wdata };
}

static void test_traps(void)
{
	struct ntrace_rvfi_change told[] = { csr(MEPC, UINT32_MAX, 0x104, 0, 0),
					     csr(MCAUSE, UINT32_MAX, 0x80000007, 0, 0),
					     csr(MIP, UINT32_MAX, 0x80, 0, 0) };
	struct ntrace_rvfi_change written[] = { csr(MEPC, 0, 0, UINT32_MAX, 0x100),
						csr(MCAUSE, 0, 0, UINT32_MAX, 2) };
	struct ntrace_rvfi trap = nop(0, 0x100), next = nop(1, 0x800);

	start();
	trap.trap = true;
	trap.changes = written;
	trap.change_count = 2;
	next.intr = true;
	retire(trap);
	retire(next);
	expect("an exception that its instruction tells",
	       "[ init pc=100][ pc=800 i mepc=100 mcause=2][ pc+ i]", "");
	start();
	trap.changes = NULL;
	trap.change_count = 0;
	next.changes = written;
	next.change_count = 2;
	retire(trap);
	retire(next);
	expect("an exception that the handler's first instruction tells",
	       "[ init pc=100][ pc=800 i mepc=100 mcause=2][ pc+ i]", "");
	start();
	retire(nop(0, 0x100));
	next.changes = told;
	next.change_count = 3;
	retire(next);
	expect("an interrupt",
	       "[ init pc=100][ pc+ i][ pc=800 mepc=104 mcause=80000007 mip=80][ pc+ i]", "");
	start();
	next.has &= ~NTRACE_RVFI_HAS_INTR;
	next.intr = false;
	told[0] = csr(MEPC, 0, 0, UINT32_MAX, 0x104);
	told[1] = csr(MCAUSE, 0, 0, UINT32_MAX, 0x80000007);
	trap = nop(0, 0x100);
	trap.has &= ~NTRACE_RVFI_HAS_NEXT_PC;
	retire(trap);
	retire(next);
	expect("an interrupt of a source without intr and pc_wdata",
	       "[ init pc=100][ pc+ i][ pc=800 mepc=104 mcause=80000007 mip=80]"
	       "[ pc+ i]",
	       "");
	start();
	next.has |= NTRACE_RVFI_HAS_NEXT_PC;
	told[0] = csr(MEPC, UINT32_MAX, 0x104, 0, 0);
	told[1] = csr(MCAUSE, UINT32_MAX, 0x80000007, 0, 0);
	retire(nop(0, 0x100));
	retire(next);
	expect("an interrupt of a source without intr",
	       "[ init pc=100][ pc+ i][ pc=800 mepc=104 mcause=80000007 mip=80]"
	       "[ pc+ i]",
	       "");
	start();
	trap.trap = false;
	retire(trap);
	retire(next);
	expect("an interrupt of a source without intr and pc_wdata, which reads mcause",
	       "[ init pc=100][ pc+ i][ pc=800 mepc=104 mcause=80000007 mip=80]"
	       "[ pc+ i]",
	       "");
	for (unsigned int i = 0; i < 3; i++) {
		static const struct {
			uint32_t insn;
			const char *groups;
		} jumps[] = {
			{ 0x0080006f, "[ init pc=100][ pc=108 i80006f]"
				      "[ pc=800 mepc=108 mcause=80000007 mip=80][ pc+ i]" },
			{ 0x00000463, "[ init pc=100][ pc=108 i463]"
				      "[ pc=800 mepc=108 mcause=80000007 mip=80][ pc+ i]" },
			{ 0x7000006f,
			  "[ init pc=100]"
			  "[ pc=800 i7000006f mepc=108 mcause=80000007 mip=80][ pc+ i]" },
		};

		start();
		trap.insn = jumps[i].insn;
		retire(trap);
		told[0] = csr(MEPC, UINT32_MAX, 0x108, 0, 0);
		retire(next);
		expect("j 108 and beqz x0, 108 before an interrupt, and j 800", jumps[i].groups,
		       "");
	}
	start();
	retire(nop(0, 0x100));
	next = nop(1, 0x800);
	next.intr = true;
	retire(next);
	expect("an interrupt without its cause", "[ init pc=100][ pc+ i][ init pc=800][ pc+ i]",
	       "7 at 1: 0 0;");
	for (unsigned int right = 0; right < 2; right++) {
		start();
		told[0] = csr(MEPC, UINT32_MAX, right ? 0x100 : 0x7c, 0, 0);
		trap = nop(0, 0x100);
		trap.trap = true;
		next = nop(1, 0x104);
		next.changes = told;
		next.change_count = 1;
		retire(trap);
		retire(next);
		expect(right ? "a handler behind the instruction that trapped" :
			       "trap of an instruction that went on",
		       right ? "[ init pc=100][ pc+ i mepc=100][ pc+ i]" :
			       "[ init pc=100][ pc+ i mepc=7c][ pc+ i]",
		       right ? "" : "9 at 0: 7c 100;");
	}
}

static void test_csrs(void)
{
	struct ntrace_rvfi_change part = csr(MSTATUS, 0, 0, 0xff, 0x88);
	struct ntrace_rvfi_change rest = csr(MSTATUS, 0xffffff00, 0x1800, 0, 0);
	struct ntrace_rvfi one = nop(0, 0x100), two = nop(1, 0x104), many = nop(2, 0x108);

	start();
	one.changes = &part;
	one.change_count = 1;
	two.changes = &rest;
	two.change_count = 1;
	retire(one);
	retire(two);
	expect("a CSR is told when all its bits are known",
	       "[ init pc=100][ pc+ i mstatus=1888][ pc+ i]", "");
	many.change_count = NTRACE_RVFI_CHANGES_MAX + 1;
	is_u64((uint64_t)-retire(many), -NTRACE_ERR_INVALID, "too many registers");
	many = nop(2, 0x108);
	many.rd_addr = 32;
	is_u64((uint64_t)-retire(many), -NTRACE_ERR_INVALID, "a register that does not exist");
}

int main(void)
{
	struct ntrace_rvfi last = nop(1, 0x104);

	test_order();
	test_last_return();
	test_registers();
	test_accesses();
	test_traps();
	test_csrs();
	start();
	retire(nop(0, 0x100));
	last.halt = true;
	retire(last);
	is_str(seen, "[ init pc=100][ pc+ i][ pc+ i]", "halt: the last group is complete at once");
	ntrace_tandem_rvfi_free(rvfi);
	ntrace_tandem_rvfi_free(NULL);
	return done_testing();
}
