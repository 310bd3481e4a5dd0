/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Register layout of the RISC-V Trace Control Interface 1.0.
 *
 * Shared by the kernel driver and by the register model of the virtual SoC, so
 * that there is one place where an offset or a bit can be wrong. Plain integer
 * constants only: the file is included by kernel code, by C11 user space and by
 * QEMU glue. Names are those of the specification, in capitals; a field is
 * given as a mask (..._MASK) and a shift (..._SHIFT) or as a single-bit mask.
 *
 * All components: one 4 KiB page of 32-bit little-endian registers, accessed
 * with 32-bit loads and stores only.
 */
#ifndef NTRACE_TRACE_CONTROL_H
#define NTRACE_TRACE_CONTROL_H

#define TR_COMPONENT_SIZE		0x1000

/* Common to every component: tr??Control and tr??Impl */
#define TR_CONTROL			0x000
#define TR_CONTROL_ACTIVE		0x00000001u
#define TR_CONTROL_ENABLE		0x00000002u
#define TR_CONTROL_EMPTY		0x00000008u

#define TR_IMPL				0x004
#define TR_IMPL_VER_MAJOR_MASK		0x0000000fu
#define TR_IMPL_VER_MAJOR_SHIFT		0
#define TR_IMPL_VER_MINOR_MASK		0x000000f0u
#define TR_IMPL_VER_MINOR_SHIFT		4
#define TR_IMPL_COMP_TYPE_MASK		0x00000f00u
#define TR_IMPL_COMP_TYPE_SHIFT		8
#define TR_IMPL_VENDOR_MASK		0xff000000u
#define TR_IMPL_VENDOR_SHIFT		24

#define TR_COMP_TYPE_ENCODER		0x1
#define TR_COMP_TYPE_FUNNEL		0x8
#define TR_COMP_TYPE_RAM_SINK		0x9
#define TR_COMP_TYPE_PIB_SINK		0xa
#define TR_COMP_TYPE_ATB_BRIDGE		0xe

#define TR_VER_MAJOR			1
#define TR_VER_MINOR			0
#define TR_VER_MINOR_EXPERIMENTAL	15

/* Trace encoder, trTe... */
#define TR_TE_CONTROL			0x000
#define TR_TE_CONTROL_INST_TRACING	0x00000004u
#define TR_TE_CONTROL_INST_MODE_MASK	0x00000070u
#define TR_TE_CONTROL_INST_MODE_SHIFT	4
#define TR_TE_CONTROL_CONTEXT		0x00000200u
#define TR_TE_CONTROL_INST_TRIG_ENABLE	0x00000800u
#define TR_TE_CONTROL_INST_STALL_OR_OVERFLOW 0x00001000u /* RW1C */
#define TR_TE_CONTROL_INST_STALL_ENA	0x00002000u
#define TR_TE_CONTROL_INHIBIT_SRC	0x00008000u
#define TR_TE_CONTROL_INST_SYNC_MODE_MASK 0x00030000u
#define TR_TE_CONTROL_INST_SYNC_MODE_SHIFT 16
#define TR_TE_CONTROL_INST_SYNC_MAX_MASK 0x00f00000u
#define TR_TE_CONTROL_INST_SYNC_MAX_SHIFT 20
#define TR_TE_CONTROL_FORMAT_MASK	0x07000000u
#define TR_TE_CONTROL_FORMAT_SHIFT	24
/*
 * trTeDisSelfHosted, read-only for software of the hart: a debugger owns the encoder. Newer than
 * version 1.0, where bits 31:27 are reserved and read 0; the drafts may still move the bit.
 */
#define TR_TE_CONTROL_DIS_SELF_HOSTED	0x80000000u

#define TR_TE_INST_MODE_NONE		0
#define TR_TE_INST_MODE_BTM		3
#define TR_TE_INST_MODE_HTM		6

#define TR_TE_SYNC_MODE_OFF		0
#define TR_TE_SYNC_MODE_MESSAGES	1
#define TR_TE_SYNC_MODE_CYCLES		2
#define TR_TE_SYNC_MODE_PARCELS		3
/* The interval is 2^(trTeInstSyncMax + 4) messages, hart cycles or parcels. */
#define TR_TE_SYNC_MAX_BIAS		4

#define TR_TE_FORMAT_ETRACE		0
#define TR_TE_FORMAT_NTRACE		1

#define TR_TE_IMPL			0x004
#define TR_TE_IMPL_PROTOCOL_MAJOR_MASK	0x000f0000u
#define TR_TE_IMPL_PROTOCOL_MAJOR_SHIFT	16
#define TR_TE_IMPL_PROTOCOL_MINOR_MASK	0x00f00000u
#define TR_TE_IMPL_PROTOCOL_MINOR_SHIFT	20
#define TR_TE_PROTOCOL_MAJOR_NTRACE	1

#define TR_TE_INST_FEATURES		0x008
#define TR_TE_FEATURE_NO_ADDR_DIFF	0x00000001u
#define TR_TE_FEATURE_NO_TRAP_ADDR	0x00000002u
#define TR_TE_FEATURE_SEQUENTIAL_JUMP	0x00000004u
#define TR_TE_FEATURE_IMPLICIT_RETURN	0x00000008u
#define TR_TE_FEATURE_BRANCH_PREDICTION	0x00000010u
#define TR_TE_FEATURE_JUMP_TARGET_CACHE	0x00000020u
#define TR_TE_FEATURE_IMPLICIT_RETURN_MODE_MASK 0x000000c0u
#define TR_TE_FEATURE_IMPLICIT_RETURN_MODE_SHIFT 6
#define TR_TE_IMPLICIT_RETURN_COMPARED 3u /* with the whole address */
#define TR_TE_FEATURE_REPEATED_HISTORY	0x00000100u
#define TR_TE_FEATURE_ALL_JUMPS		0x00000200u
#define TR_TE_FEATURE_EXTEND_ADDR_MSB	0x00000400u
#define TR_TE_FEATURE_SRC_ID_MASK	0x0fff0000u
#define TR_TE_FEATURE_SRC_ID_SHIFT	16
#define TR_TE_FEATURE_SRC_BITS_MASK	0xf0000000u
#define TR_TE_FEATURE_SRC_BITS_SHIFT	28

#define TR_TE_INST_FILTERS		0x00c	/* bit i selects filter i; 0 = trace all */
#define TR_TE_DATA_CONTROL		0x010
#define TR_TE_DATA_FILTERS		0x01c

#define TR_TS_CONTROL			0x040
#define TR_TS_CONTROL_ACTIVE		0x00000001u
#define TR_TS_CONTROL_COUNT		0x00000002u
#define TR_TS_CONTROL_RESET		0x00000004u
#define TR_TS_CONTROL_RUN_IN_DEBUG	0x00000008u
#define TR_TS_CONTROL_MODE_MASK		0x00000070u
#define TR_TS_CONTROL_MODE_SHIFT	4
#define TR_TS_CONTROL_PRESCALE_MASK	0x00000300u	/* divide by 4^n */
#define TR_TS_CONTROL_PRESCALE_SHIFT	8
#define TR_TS_CONTROL_ENABLE		0x00008000u	/* encoder: in messages */
#define TR_TS_CONTROL_WIDTH_MASK	0x3f000000u
#define TR_TS_CONTROL_WIDTH_SHIFT	24
#define TR_TS_MODE_NONE			0
#define TR_TS_MODE_EXTERNAL		1
#define TR_TS_MODE_SYSTEM		2
#define TR_TS_MODE_CORE			3
#define TR_TS_MODE_SHARED		4
#define TR_TS_COUNTER_LOW		0x048
#define TR_TS_COUNTER_HIGH		0x04c

#define TR_TE_TRIG_DBG_CONTROL		0x050
#define TR_TE_TRIG_EXT_IN_CONTROL	0x054
#define TR_TE_TRIG_EXT_OUT_CONTROL	0x058
#define TR_TE_TRIG_EXT_MAX		8	/* of each, a nibble per input or output */
#define TR_TE_TRIG_EXT(control, n)	((control) >> 4 * (n) & 0xf)
#define TR_TE_TRIG_ACTION_NONE		0
#define TR_TE_TRIG_ACTION_ON		2
#define TR_TE_TRIG_ACTION_OFF		3
#define TR_TE_TRIG_ACTION_NOTIFY	4
#define TR_TE_TRIG_OUT_ON		0x1	/* InstTracing 0 -> 1 */
#define TR_TE_TRIG_OUT_OFF		0x2	/* InstTracing 1 -> 0 */

#define TR_TE_FILTER_BASE		0x400
#define TR_TE_FILTER_STRIDE		0x020
#define TR_TE_FILTER_MAX		16
#define TR_TE_FILTER_CONTROL(i)		(TR_TE_FILTER_BASE + (i) * TR_TE_FILTER_STRIDE)
#define TR_TE_FILTER_MATCH_INST(i)	(TR_TE_FILTER_CONTROL(i) + 0x04)
#define TR_TE_FILTER_CONTROL_ENABLE	0x00000001u
#define TR_TE_FILTER_CONTROL_MATCH_PRIVILEGE 0x00000002u
#define TR_TE_FILTER_CONTROL_MATCH_ECAUSE 0x00000004u
#define TR_TE_FILTER_CONTROL_MATCH_INTERRUPT 0x00000008u
/* Of the three comparators that a filter may ask: n is 0..2 */
#define TR_TE_FILTER_CONTROL_MATCH_COMP(n) (0x00000010u << 4 * (n))
#define TR_TE_FILTER_CONTROL_MATCH_COMPS 0x00001110u
#define TR_TE_FILTER_COMP_SHIFT(n)	(5 + 4 * (n))
#define TR_TE_FILTER_COMP(control, n)	((control) >> TR_TE_FILTER_COMP_SHIFT(n) & 7)
#define TR_TE_FILTER_MATCH_INST_PRIV_MASK 0x000000ffu	/* bit n: privilege code n */
#define TR_TE_FILTER_MATCH_INST_INTERRUPT 0x00000100u	/* 1: interrupts, 0: exceptions */
#define TR_TE_FILTER_ECAUSE_LOW(i)	(TR_TE_FILTER_CONTROL(i) + 0x08)
#define TR_TE_FILTER_ECAUSE_HIGH(i)	(TR_TE_FILTER_CONTROL(i) + 0x0c)

#define TR_TE_COMPARATOR_BASE		0x600
#define TR_TE_COMPARATOR_STRIDE		0x020
#define TR_TE_COMPARATOR_MAX		8
#define TR_TE_COMP_CONTROL(j)		(TR_TE_COMPARATOR_BASE + (j) * TR_TE_COMPARATOR_STRIDE)
#define TR_TE_COMP_P_MATCH_LOW(j)	(TR_TE_COMP_CONTROL(j) + 0x10)
#define TR_TE_COMP_P_MATCH_HIGH(j)	(TR_TE_COMP_CONTROL(j) + 0x14)
#define TR_TE_COMP_S_MATCH_LOW(j)	(TR_TE_COMP_CONTROL(j) + 0x18)
#define TR_TE_COMP_S_MATCH_HIGH(j)	(TR_TE_COMP_CONTROL(j) + 0x1c)
#define TR_TE_COMP_CONTROL_MASK		0x0000f77fu	/* all fields */
#define TR_TE_COMP_P_INPUT_MASK		0x00000003u
#define TR_TE_COMP_P_INPUT(control)	((control) & 3)
#define TR_TE_COMP_S_INPUT_MASK		0x0000000cu
#define TR_TE_COMP_S_INPUT_SHIFT	2
#define TR_TE_COMP_S_INPUT(control)	((control) >> TR_TE_COMP_S_INPUT_SHIFT & 3)
#define TR_TE_COMP_P_FUNCTION_SHIFT	4
#define TR_TE_COMP_P_FUNCTION(control)	((control) >> TR_TE_COMP_P_FUNCTION_SHIFT & 7)
#define TR_TE_COMP_S_FUNCTION_SHIFT	8
#define TR_TE_COMP_S_FUNCTION(control)	((control) >> TR_TE_COMP_S_FUNCTION_SHIFT & 7)
#define TR_TE_COMP_MODE_SHIFT		12
#define TR_TE_COMP_MODE(control)	((control) >> TR_TE_COMP_MODE_SHIFT & 3)
#define TR_TE_COMP_P_NOTIFY		0x00004000u
#define TR_TE_COMP_S_NOTIFY		0x00008000u
#define TR_TE_COMP_NOTIFY_MASK		0x0000c000u

#define TR_TE_COMP_INPUT_IADDR		0
#define TR_TE_COMP_INPUT_CONTEXT	1
#define TR_TE_COMP_INPUT_TVAL		2
#define TR_TE_COMP_INPUT_DADDR		3
#define TR_TE_COMP_FUNCTION_EQ		0
#define TR_TE_COMP_FUNCTION_NE		1
#define TR_TE_COMP_FUNCTION_LT		2
#define TR_TE_COMP_FUNCTION_LE		3
#define TR_TE_COMP_FUNCTION_GT		4
#define TR_TE_COMP_FUNCTION_GE		5
#define TR_TE_COMP_FUNCTION_FALSE	6	/* of S: true, and a mask for P */
#define TR_TE_COMP_FUNCTION_TRUE	7
#define TR_TE_COMP_MODE_P		0
#define TR_TE_COMP_MODE_AND		1	/* P and S: an address range */
#define TR_TE_COMP_MODE_NAND		2
#define TR_TE_COMP_MODE_LATCH		3	/* from P up to S, both included */

/* Privilege codes of the ingress port, which are the bit numbers of the filter's mask. */
#define TR_PRIV_U			0
#define TR_PRIV_S			1
#define TR_PRIV_M			3
#define TR_PRIV_D			4
#define TR_PRIV_VU			5
#define TR_PRIV_VS			6

/* Trace funnel, trFunnel... */
#define TR_FUNNEL_CONTROL		0x000
#define TR_FUNNEL_IMPL			0x004
#define TR_FUNNEL_DIS_INPUT		0x008

/* Trace RAM sink, trRam... */
#define TR_RAM_CONTROL			0x000
#define TR_RAM_CONTROL_MODE_SMEM	0x00000010u	/* 0: SRAM, 1: system memory */
#define TR_RAM_CONTROL_STOP_ON_WRAP	0x00000100u
#define TR_RAM_CONTROL_MEM_FORMAT_MASK	0x00000600u
#define TR_RAM_CONTROL_MEM_FORMAT_SHIFT	9
#define TR_RAM_CONTROL_ASYNC_FREQ_MASK	0x00007000u
#define TR_RAM_CONTROL_ASYNC_FREQ_SHIFT	12

#define TR_RAM_IMPL			0x004
#define TR_RAM_IMPL_HAS_SRAM		0x00001000u
#define TR_RAM_IMPL_HAS_SMEM		0x00002000u

#define TR_RAM_START_LOW		0x010
#define TR_RAM_START_HIGH		0x014
#define TR_RAM_LIMIT_LOW		0x018	/* address of the last granule, inclusive */
#define TR_RAM_LIMIT_HIGH		0x01c
#define TR_RAM_WP_LOW			0x020
#define TR_RAM_WP_LOW_WRAP		0x00000001u
#define TR_RAM_WP_HIGH			0x024
#define TR_RAM_RP_LOW			0x028
#define TR_RAM_RP_HIGH			0x02c
#define TR_RAM_DATA			0x040

/* PIB sink, trPib...: trace goes out on pins */
#define TR_PIB_CONTROL			0x000
#define TR_PIB_CONTROL_MODE_MASK	0x000000f0u
#define TR_PIB_CONTROL_MODE_SHIFT	4
#define TR_PIB_CONTROL_CLK_CENTER	0x00000100u
#define TR_PIB_CONTROL_CALIBRATE	0x00000200u
#define TR_PIB_CONTROL_ASYNC_FREQ_MASK	0x00007000u
#define TR_PIB_CONTROL_DIVIDER_MASK	0xffff0000u	/* clock / (n + 1) */
#define TR_PIB_CONTROL_DIVIDER_SHIFT	16

#define TR_PIB_MODE_OFF			0
#define TR_PIB_MODE_MANCHESTER		4	/* single wire */
#define TR_PIB_MODE_UART		5	/* single wire */
#define TR_PIB_MODE_PARALLEL_1		8
#define TR_PIB_MODE_PARALLEL_2		9
#define TR_PIB_MODE_PARALLEL_4		10
#define TR_PIB_MODE_PARALLEL_8		11
#define TR_PIB_MODE_PARALLEL_16		12

/* ATB bridge, trAtbBridge...: trace goes to a CoreSight trace bus */
#define TR_ATB_CONTROL			0x000
#define TR_ATB_CONTROL_ID_MASK		0x00007f00u
#define TR_ATB_CONTROL_ID_SHIFT		8
/* Behind these ATB has none for sources: 0 and 0x70 to 0x7f are reserved. */
#define TR_ATB_ID_MIN			0x01
#define TR_ATB_ID_MAX			0x6f

/*
 * SiFive's trace encoders and funnels from before the ratified specification (version
 * 0): one page has an encoder or a funnel, and its way to memory. Active, Enable,
 * Empty and tracing are where they are in trTeControl. A funnel has neither tracing,
 * mode and format nor the fields of Impl that name a hart or SRC: no register tells it
 * from an encoder.
 */
#define V0_CONTROL			0x00
#define V0_CONTROL_ACTIVE		0x00000001u
#define V0_CONTROL_ENABLE		0x00000002u
#define V0_CONTROL_TRACING		0x00000004u
#define V0_CONTROL_EMPTY		0x00000008u
#define V0_CONTROL_MODE_MASK		0x00000070u
#define V0_CONTROL_MODE_SHIFT		4	/* 0 none, 6 HTM, 7 HTM with optimisations */
#define V0_CONTROL_ITC_MASK		0x00000180u
#define V0_CONTROL_ITC_STORES		0x00000080u	/* stores to itcStimulus */
#define V0_CONTROL_ITC_OWNERSHIP	0x00000100u	/* [15], [31]: Ownership */
#define V0_CONTROL_STALL_OR_OVERFLOW	0x00001000u	/* cleared by writing 0 */
#define V0_CONTROL_STALL_ENA		0x00002000u
#define V0_CONTROL_STOP_ON_WRAP		0x00004000u
#define V0_CONTROL_INHIBIT_SRC		0x00008000u
#define V0_SYNC_MAX_OFF			15
#define V0_CONTROL_SYNC_MAX_BTM_MASK	0x000f0000u
#define V0_CONTROL_SYNC_MAX_BTM_SHIFT	16	/* 2^(n+5) messages, 15: off */
#define V0_CONTROL_SYNC_MAX_INST_MASK	0x00f00000u
#define V0_CONTROL_SYNC_MAX_INST_SHIFT	20	/* 2^(n+5) bytes, 15: off */
#define V0_CONTROL_FORMAT		0x01000000u	/* reads 1 */
#define V0_CONTROL_SINK_ERROR		0x08000000u	/* cleared by writing 1 */
#define V0_CONTROL_SINK_MASK		0xf0000000u
#define V0_CONTROL_SINK_SHIFT		28
#define V0_SINK_SBA			7	/* system memory */
#define V0_SINK_FUNNEL			8

#define V0_IMPL				0x04
#define V0_IMPL_HAS_SBA			0x00000080u
#define V0_IMPL_HAS_FUNNEL		0x00000100u
#define V0_IMPL_SINK_BYTES_SHIFT	16	/* 4 << n */
#define V0_IMPL_SRC_ID_MASK		0x00f00000u
#define V0_IMPL_SRC_ID_SHIFT		20
#define V0_IMPL_SRC_BITS_MASK		0x07000000u
#define V0_IMPL_SRC_BITS_SHIFT		24
#define V0_IMPL_HART_SHIFT		28

#define V0_SINK_BASE			0x10
#define V0_SINK_BASE_HIGH		0x14	/* of Limit and WP as well */
#define V0_SINK_LIMIT			0x18
#define V0_SINK_WP			0x1c	/* bit 0: wrapped */
#define V0_TS_CONTROL			0x40	/* as trTsControl, but Width has 8 bits */
#define V0_TS_CONTROL_BRANCH_MASK	0x00030000u	/* messages with time: 3: all kinds */
#define V0_TS_CONTROL_ITC		0x00040000u	/* itcStimulus has the time */
#define V0_TS_CONTROL_OWNERSHIP		0x00080000u	/* Ownership has the time */
#define V0_TS_LOWER			0x44
#define V0_TS_UPPER			0x48

#define V0_ITC_TRACE_ENABLE		0x60	/* bit i: itcStimulus[i] is traced */
#define V0_ITC_TRIG_ENABLE		0x64
#define V0_ITC_STIMULUS(i)		(0x80 + 4 * (i))
#define V0_ITC_STIMULUS_MAX		31

#define V0_SRC_BITS			2

#endif /* NTRACE_TRACE_CONTROL_H */
