/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Register layout of the Arm CoreSight components that trace of a SpacemiT K3 passes through: the
 * trace funnel and the Trace Memory Controller (TMC) of CoreSight SoC-400 (ARM 100536), and the
 * registers that all CoreSight components have (ARM IHI 0029). See trace_control.h for the rules of
 * this file and for the RISC-V components.
 */
#ifndef NTRACE_CORESIGHT_H
#define NTRACE_CORESIGHT_H

/* Common to every component */
#define CS_CLAIMSET			0xfa0	/* write: sets bits; read: bits that exist */
#define CS_CLAIMCLR			0xfa4	/* write: clears bits; read: bits that are set */
#define CS_CLAIM_EXTERNAL		0x00000001u	/* a debugger uses the component */
#define CS_CLAIM_SELF_HOSTED		0x00000002u	/* software on this machine does */
#define CS_LAR				0xfb0
#define CS_LAR_UNLOCK			0xc5acce55u
#define CS_LSR				0xfb4
#define CS_LSR_IMPLEMENTED		0x00000001u
#define CS_LSR_LOCKED			0x00000002u
#define CS_AUTHSTATUS			0xfb8
#define CS_AUTHSTATUS_NSID_MASK		0x00000003u
#define CS_AUTHSTATUS_NSID_ENABLED	0x00000003u	/* non-secure accesses are allowed */
#define CS_DEVID			0xfc8
#define CS_DEVTYPE			0xfcc
#define CS_DEVTYPE_TRACE_SINK		0x21	/* buffer */
#define CS_DEVTYPE_TRACE_FUNNEL		0x12
#define CS_DEVTYPE_TRACE_FIFO		0x32
#define CS_PIDR4			0xfd0
#define CS_PIDR0			0xfe0
#define CS_PIDR(n)			((n) < 4 ? CS_PIDR0 + 4 * (n) : CS_PIDR4 + 4 * ((n) - 4))
#define CS_CIDR(n)			(0xff0 + 4 * (n))
#define CS_PART(pidr0, pidr1)		(((pidr0) & 0xff) | ((pidr1) & 0xf) << 8)

/* Trace funnel */
#define CS_FUNNEL_CONTROL		0x000
#define CS_FUNNEL_CONTROL_PORTS_MASK	0x000000ffu	/* bit n: port n is enabled */
#define CS_FUNNEL_CONTROL_HOLD_MASK	0x00000f00u	/* hold time: n + 1 transfers */
#define CS_FUNNEL_CONTROL_HOLD_SHIFT	8
#define CS_FUNNEL_PRIORITY		0x004
#define CS_FUNNEL_PRIORITY_MASK		0x00ffffffu
#define CS_FUNNEL_PORTS_MAX		8
#define CS_FUNNEL_DEVID_PORTS_MASK	0x0000000fu

/* Trace Memory Controller: ETF and ETR */
#define TMC_RSZ				0x004	/* words of 32 bits */
#define TMC_STS				0x00c
#define TMC_STS_FULL			0x00000001u
#define TMC_STS_TRIGGERED		0x00000002u
#define TMC_STS_READY			0x00000004u
#define TMC_STS_FT_EMPTY		0x00000008u
#define TMC_STS_EMPTY			0x00000010u
#define TMC_STS_MEM_ERR			0x00000020u
#define TMC_RRD				0x010
#define TMC_RRD_NONE			0xffffffffu	/* nothing to read */
#define TMC_RRP				0x014
#define TMC_RWP				0x018
#define TMC_TRG				0x01c
#define TMC_CTL				0x020
#define TMC_CTL_CAPTURE			0x00000001u
#define TMC_RWD				0x024
#define TMC_MODE			0x028
#define TMC_MODE_CIRCULAR		0
#define TMC_MODE_SOFTWARE_FIFO		1
#define TMC_MODE_HARDWARE_FIFO		2
#define TMC_MODE_MASK			0x00000003u
#define TMC_LBUFLEVEL			0x02c
#define TMC_CBUFLEVEL			0x030
#define TMC_BUFWM			0x034
#define TMC_RRPHI			0x038
#define TMC_RWPHI			0x03c
#define TMC_AXICTL			0x110
#define TMC_AXICTL_PROT_MASK		0x00000003u
#define TMC_AXICTL_PROT_NON_SECURE	0x00000002u
#define TMC_AXICTL_CACHE_MASK		0x0000003cu
#define TMC_AXICTL_CACHE_SHIFT		2
#define TMC_AXICTL_SCATTER_GATHER	0x00000080u
#define TMC_AXICTL_BURST_MASK		0x00000f00u
#define TMC_AXICTL_BURST_SHIFT		8
#define TMC_AXICTL_MASK			0x00000fbfu	/* all fields */
#define TMC_DBALO			0x118
#define TMC_DBAHI			0x11c
#define TMC_FFSR			0x300
#define TMC_FFSR_FLUSHING		0x00000001u
#define TMC_FFSR_STOPPED		0x00000002u
#define TMC_FFCR			0x304
#define TMC_FFCR_ENABLE_FORMATTING	0x00000001u
#define TMC_FFCR_ENABLE_TRIGGERS	0x00000002u
#define TMC_FFCR_FLUSH_ON_FLUSH_IN	0x00000010u
#define TMC_FFCR_FLUSH_ON_TRIGGER	0x00000020u
#define TMC_FFCR_FLUSH			0x00000040u	/* reads 1 until the flush has ended */
#define TMC_FFCR_TRIGGER_ON_TRIGGER_IN	0x00000100u
#define TMC_FFCR_TRIGGER_ON_EVENT	0x00000200u
#define TMC_FFCR_TRIGGER_ON_FLUSH	0x00000400u
#define TMC_FFCR_STOP_ON_FLUSH		0x00001000u
#define TMC_FFCR_STOP_ON_TRIGGER	0x00002000u
#define TMC_FFCR_MASK			0x00003773u	/* all fields */

#define TMC_DEVID_TYPE_MASK		0x000000c0u
#define TMC_DEVID_TYPE_SHIFT		6
#define TMC_DEVID_TYPE_ETR		1
#define TMC_DEVID_TYPE_ETF		2
#define TMC_DEVID_WIDTH_MASK		0x00000700u	/* memory interface: 2^(n + 3) bits */
#define TMC_DEVID_WIDTH_SHIFT		8
#define TMC_DEVID_NO_SCATTER_GATHER	0x01000000u

/* Addresses have 40 bits: the High registers have 8. */
#define TMC_ADDRESS_HIGH_MASK		0x000000ffu

#define TMC_FRAME_BYTES			16
#define TMC_FRAME_LAST			15		/* the byte with bits 0 of the even bytes */
/* Four of them in place of a frame: trace is missing. */
#define TMC_FRAME_SYNC_WORD		0x7fffffffu

/* The ETR of CoreSight SoC-600: software sets the pointers before each start. */
#define TMC_PART_600_ETR		0x9e8

/*
 * Scatter-gather: DBA is the address of a table of 32-bit entries. The buffer is the pages in the
 * order of the entries, and begins again after the last one.
 */
#define TMC_SG_TYPE_MASK		0x00000003u
#define TMC_SG_LAST			1	/* the last page */
#define TMC_SG_PAGE			2
#define TMC_SG_TABLE			3	/* the table goes on there */
#define TMC_SG_ADDRESS_MASK		0xfffffff0u	/* bits 39:12 of the address */
#define TMC_SG_ADDRESS(entry)		((uint64_t)((entry) & TMC_SG_ADDRESS_MASK) << 8)
#define TMC_SG_PAGE_BYTES		4096
#define TMC_SG_ENTRIES			1024	/* in a page of the table */
#define TMC_SG_ENTRY(address, type)	((uint32_t)((address) >> 12 << 4) | (type))

#endif /* NTRACE_CORESIGHT_H */
