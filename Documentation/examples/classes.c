/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Instruction classes: what an encoding does to the flow. classes ISA ADDRESS HEX... */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <ntrace/isa.h>

int main(int argc, char **argv)
{
	struct ntrace_isa isa;
	uint64_t address;

	if (argc < 4 || ntrace_isa_parse(&isa, argv[1]))
		return 2;
	address = strtoull(argv[2], NULL, 0);
	for (int i = 3; i < argc; i++) {
		uint64_t bits = strtoull(argv[i], NULL, 16);
		struct ntrace_insn insn;
		uint8_t bytes[8];
		int error;

		for (unsigned int k = 0; k < 8; k++)
			bytes[k] = (uint8_t)(bits >> 8 * k);
		error = ntrace_insn_decode(&isa, bytes, sizeof(bytes), address, &insn);
		if (error) {
			printf("0x%" PRIx64 ": %s\n", address, ntrace_strerror(error));
			return 1;
		}
		printf("0x%" PRIx64 ": %u bytes, %s, itype %d", address, insn.size,
		       ntrace_insn_class_name(insn.insn_class), ntrace_insn_itype(&insn, true, 4));
		if (insn.target)
			printf(", to 0x%" PRIx64, insn.target);
		printf("\n");
		address += insn.size;
	}
	return 0;
}
