// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Instructions that always trap, so that control returns after them. */
#include "select.h"

unsigned int trapping_size(const struct ntrace_space *space, const struct ntrace_isa *isa,
			   uint64_t address)
{
	struct ntrace_insn insn;
	const uint8_t *bytes;
	size_t size;

	if (!space || ntrace_space_read(space, address, &bytes, &size) ||
	    ntrace_insn_decode(isa, bytes, size, address, &insn))
		return 0;
	return insn.insn_class == NTRACE_INSN_TRAP ? insn.size : 0;
}
