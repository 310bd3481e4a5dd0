/* SPDX-License-Identifier: GPL-2.0-only */
/* The choice between several sinks. */
#ifndef NTRACE_CHOICE_H
#define NTRACE_CHOICE_H

struct attribute_group;

extern const struct attribute_group ntrace_choice_group;

#endif /* NTRACE_CHOICE_H */
