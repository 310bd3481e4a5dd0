/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Functions shared by the files of the model. */
#ifndef NTRACE_CTR_MODEL_H
#define NTRACE_CTR_MODEL_H

#include <ntrace/ctr.h>

/* Effect of an xctrctl change or of SCTRCLR: the next record has CCV = 0. */
static inline void forget_cycles(struct ntrace_ctr_model *model)
{
	model->cycles = 0;
	model->cycles_valid = false;
}

#endif /* NTRACE_CTR_MODEL_H */
