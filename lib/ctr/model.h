/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* What the files of the model share. */
#ifndef NTRACE_CTR_MODEL_H
#define NTRACE_CTR_MODEL_H

#include <ntrace/ctr.h>

/* The registers' part of a change of xctrctl or of SCTRCLR: the next record has CCV = 0. */
static inline void forget_cycles(struct ntrace_ctr_model *model)
{
	model->cycles = 0;
	model->cycles_valid = false;
}

#endif /* NTRACE_CTR_MODEL_H */
