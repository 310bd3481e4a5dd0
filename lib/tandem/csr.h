/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* CSRs, ecall and trap returns of the privileged specification, for the verification and QEMU's plugins. */
#ifndef NTRACE_TANDEM_CSR_H
#define NTRACE_TANDEM_CSR_H

enum {
	FFLAGS = 0x001,
	FRM = 0x002,
	FCSR = 0x003,
	SSTATUS = 0x100,
	SIE = 0x104,
	STVEC = 0x105,
	SEPC = 0x141,
	SCAUSE = 0x142,
	STVAL = 0x143,
	SIP = 0x144,
	SATP = 0x180,
	VSATP = 0x280,
	MSTATUS = 0x300,
	MISA = 0x301,
	MIDELEG = 0x303,
	MIE = 0x304,
	MTVEC = 0x305,
	MEPC = 0x341,
	MCAUSE = 0x342,
	MTVAL = 0x343,
	MIP = 0x344,
	MTINST = 0x34a,
	MTVAL2 = 0x34b,
	HSTATUS = 0x600,
	HTVAL = 0x643,
	HTINST = 0x64a,
	HGATP = 0x680,
};

#define ECALL 0x00000073
#define SRET 0x10200073
#define MRET 0x30200073

#endif /* NTRACE_TANDEM_CSR_H */
