// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Names of registers, fields and violations of a tandem stream, and the rules of a verification. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ntrace/tandem_verify.h>

static const char *const gpr_names[32] = {
	"zero", "ra", "sp", "gp", "tp",	 "t0",	"t1", "t2", "s0", "s1", "a0",
	"a1",	"a2", "a3", "a4", "a5",	 "a6",	"a7", "s2", "s3", "s4", "s5",
	"s6",	"s7", "s8", "s9", "s10", "s11", "t3", "t4", "t5", "t6",
};

static const char *const fpr_names[32] = {
	"ft0", "ft1", "ft2", "ft3", "ft4", "ft5", "ft6",  "ft7",  "fs0", "fs1",  "fa0",
	"fa1", "fa2", "fa3", "fa4", "fa5", "fa6", "fa7",  "fs2",  "fs3", "fs4",  "fs5",
	"fs6", "fs7", "fs8", "fs9", "fs10", "fs11", "ft8", "ft9", "ft10", "ft11",
};

static const struct csr_name {
	uint16_t number;
	char name[14];
} csr_names[] = {
	{ 0x001, "fflags" },	    { 0x002, "frm" },
	{ 0x003, "fcsr" },	    { 0x008, "vstart" },
	{ 0x009, "vxsat" },	    { 0x00a, "vxrm" },
	{ 0x00f, "vcsr" },	    { 0x011, "ssp" },
	{ 0x015, "seed" },	    { 0x017, "jvt" },
	{ 0x100, "sstatus" },	    { 0x104, "sie" },
	{ 0x105, "stvec" },	    { 0x106, "scounteren" },
	{ 0x10a, "senvcfg" },	    { 0x114, "sieh" },
	{ 0x120, "scountinhibit" }, { 0x140, "sscratch" },
	{ 0x141, "sepc" },	    { 0x142, "scause" },
	{ 0x143, "stval" },	    { 0x144, "sip" },
	{ 0x14d, "stimecmp" },	    { 0x14e, "sctrctl" },
	{ 0x14f, "sctrstatus" },    { 0x150, "siselect" },
	{ 0x151, "sireg" },	    { 0x152, "sireg2" },
	{ 0x153, "sireg3" },	    { 0x154, "siph" },
	{ 0x155, "sireg4" },	    { 0x156, "sireg5" },
	{ 0x157, "sireg6" },	    { 0x15c, "stopei" },
	{ 0x15d, "stimecmph" },	    { 0x15f, "sctrdepth" },
	{ 0x180, "satp" },	    { 0x200, "vsstatus" },
	{ 0x204, "vsie" },	    { 0x205, "vstvec" },
	{ 0x214, "vsieh" },	    { 0x240, "vsscratch" },
	{ 0x241, "vsepc" },	    { 0x242, "vscause" },
	{ 0x243, "vstval" },	    { 0x244, "vsip" },
	{ 0x24d, "vstimecmp" },	    { 0x24e, "vsctrctl" },
	{ 0x250, "vsiselect" },	    { 0x251, "vsireg" },
	{ 0x252, "vsireg2" },	    { 0x253, "vsireg3" },
	{ 0x254, "vsiph" },	    { 0x255, "vsireg4" },
	{ 0x256, "vsireg5" },	    { 0x257, "vsireg6" },
	{ 0x25c, "vstopei" },	    { 0x25d, "vstimecmph" },
	{ 0x280, "vsatp" },	    { 0x300, "mstatus" },
	{ 0x301, "misa" },	    { 0x302, "medeleg" },
	{ 0x303, "mideleg" },	    { 0x304, "mie" },
	{ 0x305, "mtvec" },	    { 0x306, "mcounteren" },
	{ 0x308, "mvien" },	    { 0x309, "mvip" },
	{ 0x30a, "menvcfg" },	    { 0x310, "mstatush" },
	{ 0x312, "medelegh" },	    { 0x313, "midelegh" },
	{ 0x314, "mieh" },	    { 0x318, "mvienh" },
	{ 0x319, "mviph" },	    { 0x31a, "menvcfgh" },
	{ 0x320, "mcountinhibit" }, { 0x321, "mcyclecfg" },
	{ 0x322, "minstretcfg" },   { 0x340, "mscratch" },
	{ 0x341, "mepc" },	    { 0x342, "mcause" },
	{ 0x343, "mtval" },	    { 0x344, "mip" },
	{ 0x34a, "mtinst" },	    { 0x34b, "mtval2" },
	{ 0x34e, "mctrctl" },	    { 0x350, "miselect" },
	{ 0x351, "mireg" },	    { 0x352, "mireg2" },
	{ 0x353, "mireg3" },	    { 0x354, "miph" },
	{ 0x355, "mireg4" },	    { 0x356, "mireg5" },
	{ 0x357, "mireg6" },	    { 0x35c, "mtopei" },
	{ 0x5a8, "scontext" },	    { 0x600, "hstatus" },
	{ 0x602, "hedeleg" },	    { 0x603, "hideleg" },
	{ 0x604, "hie" },	    { 0x605, "htimedelta" },
	{ 0x606, "hcounteren" },    { 0x607, "hgeie" },
	{ 0x608, "hvien" },	    { 0x609, "hvictl" },
	{ 0x60a, "henvcfg" },	    { 0x612, "hedelegh" },
	{ 0x613, "hidelegh" },	    { 0x615, "htimedeltah" },
	{ 0x618, "hvienh" },	    { 0x61a, "henvcfgh" },
	{ 0x61c, "hstateen0h" },    { 0x61d, "hstateen1h" },
	{ 0x61e, "hstateen2h" },    { 0x61f, "hstateen3h" },
	{ 0x643, "htval" },	    { 0x644, "hip" },
	{ 0x645, "hvip" },	    { 0x646, "hviprio1" },
	{ 0x647, "hviprio2" },	    { 0x64a, "htinst" },
	{ 0x655, "hviph" },	    { 0x656, "hviprio1h" },
	{ 0x657, "hviprio2h" },	    { 0x680, "hgatp" },
	{ 0x6a8, "hcontext" },	    { 0x721, "mcyclecfgh" },
	{ 0x722, "minstretcfgh" },  { 0x740, "mnscratch" },
	{ 0x741, "mnepc" },	    { 0x742, "mncause" },
	{ 0x744, "mnstatus" },	    { 0x747, "mseccfg" },
	{ 0x7a0, "tselect" },	    { 0x7a1, "tdata1" },
	{ 0x7a2, "tdata2" },	    { 0x7a3, "tdata3" },
	{ 0x7a4, "tinfo" },	    { 0x7a8, "mcontext" },
	{ 0x7b0, "dcsr" },	    { 0x7b1, "dpc" },
	{ 0x7b2, "dscratch0" },	    { 0x7b3, "dscratch1" },
	{ 0xb00, "mcycle" },	    { 0xb02, "minstret" },
	{ 0xb80, "mcycleh" },	    { 0xb82, "minstreth" },
	{ 0xc00, "cycle" },	    { 0xc01, "time" },
	{ 0xc02, "instret" },	    { 0xc20, "vl" },
	{ 0xc21, "vtype" },	    { 0xc22, "vlenb" },
	{ 0xc80, "cycleh" },	    { 0xc81, "timeh" },
	{ 0xc82, "instreth" },	    { 0xda0, "scountovf" },
	{ 0xdb0, "stopi" },	    { 0xe12, "hgeip" },
	{ 0xeb0, "vstopi" },	    { 0xf11, "mvendorid" },
	{ 0xf12, "marchid" },	    { 0xf13, "mimpid" },
	{ 0xf14, "mhartid" },	    { 0xf15, "mconfigptr" },
	{ 0xfb0, "mtopi" },
};

/* Families of numbered CSRs. */
static const struct csr_family {
	uint16_t first, last, index;	/* number of @first in the name */
	char name[14];
} csr_families[] = {
	{ 0x323, 0x33f, 3, "mhpmevent" },    { 0x723, 0x73f, 3, "mhpmeventh" },
	{ 0x3a0, 0x3af, 0, "pmpcfg" },	     { 0x3b0, 0x3ef, 0, "pmpaddr" },
	{ 0xb03, 0xb1f, 3, "mhpmcounter" },  { 0xb83, 0xb9f, 3, "mhpmcounterh" },
	{ 0xc03, 0xc1f, 3, "hpmcounter" },   { 0xc83, 0xc9f, 3, "hpmcounterh" },
	{ 0x30c, 0x30f, 0, "mstateen" },     { 0x31c, 0x31f, 0, "mstateenh" },
	{ 0x10c, 0x10f, 0, "sstateen" },     { 0x60c, 0x60f, 0, "hstateen" },
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

const char *ntrace_tandem_register_name(unsigned int id, char *name)
{
	const char *found = NULL;
	size_t i;

	if (id == NTRACE_TANDEM_PC)
		found = "pc";
	else if (id == NTRACE_TANDEM_PRIV)
		found = "priv";
	else if (id >= NTRACE_TANDEM_REGISTERS)
		found = "?";
	else if (id >= NTRACE_TANDEM_FPR)
		found = fpr_names[id - NTRACE_TANDEM_FPR];
	else if (id >= NTRACE_TANDEM_GPR)
		found = gpr_names[id - NTRACE_TANDEM_GPR];
	for (i = 0; i < COUNT(csr_names) && !found; i++)
		if (csr_names[i].number == id)
			found = csr_names[i].name;
	if (found) {
		snprintf(name, NTRACE_TANDEM_NAME_MAX, "%s", found);
		return name;
	}
	for (i = 0; i < COUNT(csr_families); i++)
		if (id >= csr_families[i].first && id <= csr_families[i].last) {
			snprintf(name, NTRACE_TANDEM_NAME_MAX, "%s%u", csr_families[i].name,
				 (id - csr_families[i].first + csr_families[i].index) & 0x7f);
			return name;
		}
	snprintf(name, NTRACE_TANDEM_NAME_MAX, "csr0x%03x", id & 0xfff);
	return name;
}

/* Number of a name that is a decimal number after @letters, from 0 to @last; -1 for another name. */
static int numbered(const char *name, const char *letters, unsigned int last)
{
	size_t length = strlen(letters);
	unsigned long number;
	char *end;

	if (strncmp(name, letters, length) || name[length] < '0' || name[length] > '9')
		return -1;
	number = strtoul(name + length, &end, 10);
	return *end || number > last ? -1 : (int)number;
}

static int csr_number(const char *name)
{
	unsigned long number;
	char *end;
	size_t i;

	if (!strncmp(name, "csr0x", 5)) {
		number = strtoul(name + 5, &end, 16);
		return end == name + 5 || *end || number > 0xfff ? NTRACE_ERR_INVALID : (int)number;
	}
	for (i = 0; i < COUNT(csr_names); i++)
		if (!strcmp(csr_names[i].name, name))
			return csr_names[i].number;
	for (i = 0; i < COUNT(csr_families); i++) {
		const struct csr_family *family = &csr_families[i];
		int found =
			numbered(name, family->name, family->last - family->first + family->index);

		if (found >= family->index)
			return family->first + found - family->index;
	}
	return NTRACE_ERR_INVALID;
}

int ntrace_tandem_register_number(const char *name)
{
	unsigned int i;
	int number;

	if (!strcmp(name, "pc"))
		return NTRACE_TANDEM_PC;
	if (!strcmp(name, "priv"))
		return NTRACE_TANDEM_PRIV;
	if (!strcmp(name, "fp"))
		name = "s0";
	for (i = 0; i < 32; i++) {
		if (!strcmp(gpr_names[i], name))
			return (int)(NTRACE_TANDEM_GPR + i);
		if (!strcmp(fpr_names[i], name))
			return (int)(NTRACE_TANDEM_FPR + i);
	}
	number = numbered(name, "x", 31);
	if (number >= 0)
		return (int)NTRACE_TANDEM_GPR + number;
	number = numbered(name, "f", 31);
	return number >= 0 ? (int)NTRACE_TANDEM_FPR + number : csr_number(name);
}

const char *ntrace_tandem_type_name(unsigned int type)
{
	static const char *const names[] = {
		[NTRACE_TANDEM_BEGIN] = "begin",       [NTRACE_TANDEM_END] = "end",
		[NTRACE_TANDEM_NEXT_PC] = "next-pc",   [NTRACE_TANDEM_REGISTER] = "register",
		[NTRACE_TANDEM_ADD] = "add",	       [NTRACE_TANDEM_OR] = "or",
		[NTRACE_TANDEM_STATE] = "state",       [NTRACE_TANDEM_REQUEST] = "request",
		[NTRACE_TANDEM_RESPONSE] = "response", [NTRACE_TANDEM_RESET] = "reset",
		[NTRACE_TANDEM_INIT] = "init",	       [NTRACE_TANDEM_INSN16] = "insn16",
		[NTRACE_TANDEM_INSN32] = "insn32",
	};

	return type < COUNT(names) ? names[type] : NULL;
}

const char *ntrace_tandem_state_name(unsigned int id)
{
	static const char *const names[] = {
		[NTRACE_TANDEM_STATE_PRIV] = "priv",
		[NTRACE_TANDEM_STATE_PADDR] = "paddr",
		[NTRACE_TANDEM_STATE_EADDR] = "eaddr",
		[NTRACE_TANDEM_STATE_STORE8] = "store8",
		[NTRACE_TANDEM_STATE_STORE16] = "store16",
		[NTRACE_TANDEM_STATE_STORE32] = "store32",
		[NTRACE_TANDEM_STATE_STORE64] = "store64",
		[NTRACE_TANDEM_STATE_MTIME] = "mtime",
		[NTRACE_TANDEM_STATE_PC_PADDR] = "pc-paddr",
		[NTRACE_TANDEM_STATE_PC] = "pc",
	};

	return id < COUNT(names) ? names[id] : NULL;
}

const char *ntrace_tandem_op_name(unsigned int op)
{
	static const char *const names[NTRACE_TANDEM_OPS] = {
		"load", "store", "lr",	"sc",  "swap", "add",  "xor",
		"and",	"or",	 "min", "max", "minu", "maxu", "ifetch",
	};

	return op < NTRACE_TANDEM_OPS ? names[op] : NULL;
}

const char *ntrace_tandem_problem(unsigned int flags)
{
	if (flags & NTRACE_TANDEM_STRAY_END)
		return "end of a group outside a group";
	if (flags & NTRACE_TANDEM_OUTSIDE)
		return "has no meaning outside a group";
	if (flags & NTRACE_TANDEM_INSN_LENGTH)
		return "16-bit instruction whose low bits are those of a longer one";
	if (flags & NTRACE_TANDEM_PC_ALONE)
		return "group with an incremented pc and no instruction";
	if (flags & NTRACE_TANDEM_PC_TWICE)
		return "group with more than one new pc";
	if (flags & NTRACE_TANDEM_INSN_TWICE)
		return "group with more than one instruction";
	if (flags & NTRACE_TANDEM_INIT_MIXED)
		return "group with two of: state initialisation, reset, instruction";
	return NULL;
}

const struct ntrace_tandem_rule_info *ntrace_tandem_rule_info(unsigned int rule)
{
#define PROTOCOL "Trace Protocol Specification"
#define PRIVILEGED "Privileged Architecture 1.12, "
	static const struct ntrace_tandem_rule_info rules[] = {
		[NTRACE_TANDEM_RULE_REGISTER] = { "register", "RISC-V ISA",
						  "a register differs from the model's" },
		[NTRACE_TANDEM_RULE_PC] = { "pc", "RISC-V ISA",
					    "the next pc differs from the model's" },
		[NTRACE_TANDEM_RULE_PRIV] = { "privilege", PRIVILEGED "1.2",
					      "the privilege differs from the model's" },
		[NTRACE_TANDEM_RULE_INSN] = { "instruction", PROTOCOL,
					      "the instruction is not that of the model's memory" },
		[NTRACE_TANDEM_RULE_FORMAT] = { "format", PROTOCOL,
						"the group violates the protocol" },
		[NTRACE_TANDEM_RULE_STORE] = { "store-data", "RISC-V ISA",
					       "the data of a store is wrong" },
		[NTRACE_TANDEM_RULE_ACCESS_ADDRESS] = { "access-address", "RISC-V ISA",
							"the address of an access is wrong" },
		[NTRACE_TANDEM_RULE_ACCESS_PHYSICAL] = { "access-physical", PRIVILEGED "4.1.11",
							 "an address without translation is not "
							 "the physical one" },
		[NTRACE_TANDEM_RULE_ACCESS_WIDTH] = { "access-width", "RISC-V ISA",
						      "a store has another number of bytes" },
		[NTRACE_TANDEM_RULE_ACCESS_MISSING] = { "access-missing", PROTOCOL,
							"the access of an instruction is missing" },
		[NTRACE_TANDEM_RULE_ACCESS_UNEXPECTED] = { "access-unexpected", "RISC-V ISA",
							   "the instruction makes no such access" },
		[NTRACE_TANDEM_RULE_INTERRUPT_CAUSE] = { "interrupt-cause", PRIVILEGED "3.1.15",
							 "the cause of an interrupt is reserved" },
		[NTRACE_TANDEM_RULE_INTERRUPT_DELEGATION] = { "interrupt-delegation",
							      PRIVILEGED "3.1.8",
							      "mideleg sends the interrupt to "
							      "another privilege" },
		[NTRACE_TANDEM_RULE_INTERRUPT_GLOBAL] = { "interrupt-global", PRIVILEGED "3.1.6.1",
							  "an interrupt is taken although mstatus "
							  "and the privilege disable it" },
		[NTRACE_TANDEM_RULE_INTERRUPT_ENABLE] = { "interrupt-enable", PRIVILEGED "3.1.9",
							  "an interrupt is taken although its bit "
							  "of mie is 0" },
		[NTRACE_TANDEM_RULE_INTERRUPT_PENDING] = { "interrupt-pending", PRIVILEGED "3.1.9",
							   "an interrupt is taken although its "
							   "bit of mip is 0" },
		[NTRACE_TANDEM_RULE_INTERRUPT_PRIORITY] = { "interrupt-priority",
							    PRIVILEGED "3.1.9",
							    "another interrupt comes first" },
		[NTRACE_TANDEM_RULE_INTERRUPT_VECTOR] = { "interrupt-vector", PRIVILEGED "3.1.7",
							  "pc is not the vector" },
		[NTRACE_TANDEM_RULE_INTERRUPT_EPC] = { "interrupt-epc", PRIVILEGED "3.1.14",
						       "xepc is not the interrupted pc" },
		[NTRACE_TANDEM_RULE_INTERRUPT_TVAL] = { "interrupt-tval", PRIVILEGED "3.1.16",
							"xtval of an interrupt is not 0" },
		[NTRACE_TANDEM_RULE_INTERRUPT_STATUS] = { "interrupt-status", PRIVILEGED "3.1.6.1",
							  "mstatus does not stack xIE and the "
							  "privilege" },
		[NTRACE_TANDEM_RULE_INTERRUPT_PRIV] = { "interrupt-privilege", PRIVILEGED "3.1.8",
							"the privilege is not that of the "
							"handler" },
		[NTRACE_TANDEM_RULE_INTERRUPT_OTHER] = { "interrupt-other", PRIVILEGED "3.1.6.1",
							 "an interrupt changes another register" },
		[NTRACE_TANDEM_RULE_INTERRUPT_IMMEDIATE] = { "interrupt-immediate",
							     PRIVILEGED "3.1.9",
							     "an interrupt that was pending is "
							     "not taken right after the "
							     "instruction that enabled it" },
		[NTRACE_TANDEM_RULE_INTERRUPT_TAKEN] = { "interrupt-taken", PRIVILEGED "3.1.9",
							 "an interrupt stays pending and enabled, "
							 "and is not taken" },
	};

	return rule < NTRACE_TANDEM_RULES ? &rules[rule] : NULL;
}
