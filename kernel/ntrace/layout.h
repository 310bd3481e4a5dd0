/* SPDX-License-Identifier: GPL-2.0-only */
/* The register layouts that the driver knows. */
#ifndef NTRACE_LAYOUT_H
#define NTRACE_LAYOUT_H

struct ntrace_layout;

/* v0.c: pre-ratification SiFive encoders and funnels, which no register tells apart */
extern const struct ntrace_layout ntrace_layout_v0;
extern const struct ntrace_layout ntrace_layout_v0_funnel;
/* v1.c: Trace Control Interface 1.0 */
extern const struct ntrace_layout ntrace_layout_v1;
/* armfunnel.c, tmc.c: CoreSight components of Arm */
extern const struct ntrace_layout ntrace_layout_armfunnel;
extern const struct ntrace_layout ntrace_layout_tmc;

#endif /* NTRACE_LAYOUT_H */
