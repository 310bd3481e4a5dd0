/* SPDX-License-Identifier: GPL-2.0-only */
/* Nothing: the test defines what the assembly does. */
