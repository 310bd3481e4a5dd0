// SPDX-License-Identifier: GPL-2.0-only
/*
 * ntrace tandem convert --from ingress: a partial tandem trace from the recording of a trace ingress
 * port: pc and instruction, addresses and store data, privilege, and the traps. The program gives
 * the bits of the instructions.
 */
#include <inttypes.h>
#include <string.h>

#include <ntrace/image.h>

#include "common/ingress_file.h"
#include "common/ui.h"
#include "convert.h"

enum {
	SEPC = 0x141,
	MEPC = 0x341,
};

struct from_ingress {
	struct convert *convert;
	struct ntrace_space *space;
	bool started;
	/* A trap whose group is not written yet: the handler is not known. */
	bool trap, interrupt, epc_known;
	uint64_t cause, tval, epc;
	/* Address after the last instruction, unless only the next one tells it. */
	bool straight;
	uint64_t after;
};

/* Privilege of the stream (0, 1, 3); the groups of a hypervisor's guests have those of their level. */
static unsigned int level_of(unsigned int priv)
{
	return priv == NTRACE_PRIV_VU ? 0 : priv == NTRACE_PRIV_VS ? 1 : priv;
}

/* Return: bytes of the instruction at @pc, 0 if the program does not have it */
static unsigned int fetch(const struct from_ingress *from, uint64_t pc, uint32_t *insn)
{
	uint8_t bytes[4];
	unsigned int have = 0, size = 2;

	*insn = 0;
	while (have < size) {
		const uint8_t *data;
		size_t available;

		if (ntrace_space_read(from->space, pc + have, &data, &available))
			return 0;
		for (size_t i = 0; i < available && have < size; i++) {
			bytes[have++] = data[i];
			size = (bytes[0] & 3) == 3 ? 4 : 2;
		}
	}
	for (unsigned int i = 0; i < size; i++)
		*insn |= (uint32_t)bytes[i] << 8 * i;
	return size;
}

/* Writes the group of a trap whose handler is at @pc, if @known. */
static void put_trap(struct from_ingress *from, bool known, uint64_t pc, unsigned int priv)
{
	struct convert *convert = from->convert;
	unsigned int first = priv == 3 ? MEPC : SEPC, bytes;
	uint64_t top = UINT64_C(1) << (convert->options->params.xlen - 1);
	uint32_t insn;

	convert_put(convert, NTRACE_TANDEM_BEGIN, 0, 0);
	if (known)
		convert_put(convert, NTRACE_TANDEM_STATE, NTRACE_TANDEM_STATE_PC, pc);
	bytes = from->interrupt || !from->epc_known ? 0 : fetch(from, from->epc, &insn);
	if (bytes)
		convert_put(convert, bytes == 2 ? NTRACE_TANDEM_INSN16 : NTRACE_TANDEM_INSN32, 0,
			    insn);
	if (from->epc_known)
		convert_put(convert, NTRACE_TANDEM_REGISTER, first, from->epc);
	convert_put(convert, NTRACE_TANDEM_REGISTER, first + 1,
		    from->cause | (from->interrupt ? top : 0));
	convert_put(convert, NTRACE_TANDEM_REGISTER, first + 2, from->tval);
	convert_put(convert, NTRACE_TANDEM_STATE, NTRACE_TANDEM_STATE_PRIV, priv);
	convert_put(convert, NTRACE_TANDEM_END, 0, 0);
	convert->groups++;
	convert->priv = priv;
	from->trap = false;
}

/* Execution goes on at @pc. This completes the groups that are not written yet. */
static void reach(struct from_ingress *from, uint64_t pc, unsigned int priv)
{
	struct convert *convert = from->convert;

	if (!from->started) {
		convert_start(convert, pc);
		convert_put(convert, NTRACE_TANDEM_STATE, NTRACE_TANDEM_STATE_PRIV, priv);
		convert_put(convert, NTRACE_TANDEM_END, 0, 0);
		from->started = true;
		convert->priv = priv;
	}
	if (from->trap) {
		put_trap(from, true, pc, priv);
		return;
	}
	if (convert->held && convert->priv != priv)
		convert_add(convert, NTRACE_TANDEM_STATE, NTRACE_TANDEM_STATE_PRIV, priv);
	convert_finish(convert, true, pc);
	convert->priv = priv;
}

static void add_access(struct convert *convert, const struct ntrace_ingress_access *access)
{
	if (NTRACE_DTYPES_CSRS >> access->dtype & 1 || access->dsize > 3)
		return;
	convert_add(convert, NTRACE_TANDEM_STATE, NTRACE_TANDEM_STATE_EADDR, access->daddr);
	if (access->dtype == NTRACE_DTYPE_STORE)
		convert_add(convert, NTRACE_TANDEM_STATE,
			    NTRACE_TANDEM_STATE_STORE8 + access->dsize, access->store[0]);
}

/* Where the held instruction goes, if it is a taken branch or a direct jump. */
static void find_target(struct from_ingress *from, unsigned int xlen)
{
	const struct ntrace_isa isa = { .xlen = (uint8_t)xlen, .compressed = true };
	uint32_t word = from->convert->insn;
	uint8_t bytes[4];
	struct ntrace_insn insn;

	for (unsigned int i = 0; i < 4; i++)
		bytes[i] = (uint8_t)(word >> 8 * i);
	if (ntrace_insn_decode(&isa, bytes, from->convert->insn_bytes, from->convert->pc, &insn))
		return;
	if (insn.insn_class == NTRACE_INSN_BRANCH ? from->straight : !insn.target)
		return;
	from->after = insn.target;
	from->straight = true;
}

/* The instructions of a group, the last of which is held back. */
static int take_instructions(struct from_ingress *from, const struct ntrace_ingress_port *port,
			     const struct ntrace_ingress_cycle *cycle, unsigned int index)
{
	const struct ntrace_ingress_group *group = &cycle->group[index];
	struct convert *convert = from->convert;
	unsigned int priv = level_of(cycle->priv), bytes;
	uint64_t pc = group->iaddr, first, last;
	uint64_t end = pc + 2 * (uint64_t)(port->single ? 1u << group->ilastsize : group->iretire);
	uint32_t insn;

	for (; pc < end; pc += bytes) {
		bytes = fetch(from, pc, &insn);
		if (!bytes || pc + bytes > end)
			return fail("%s: %s has no instruction of this length at 0x%" PRIx64,
				    convert->options->path, convert->options->elf, pc);
		reach(from, pc, priv);
		convert->held = true;
		convert->pc = pc;
		convert->insn = insn;
		convert->insn_bytes = bytes;
		for (unsigned int i = 0; i < cycle->accesses; i++)
			if (cycle->access[i].dblock == index &&
			    ntrace_ingress_access_iaddr(port, cycle, i, &first, &last) &&
			    first == last && first == pc)
				add_access(convert, &cycle->access[i]);
	}
	from->after = end;
	from->straight = group->itype <= NTRACE_ITYPE_INTERRUPT ||
			 group->itype == NTRACE_ITYPE_BRANCH_NOT_TAKEN;
	find_target(from, port->xlen);
	return EXIT_OK;
}

static void take_trap(struct from_ingress *from, const struct ntrace_ingress_cycle *cycle,
		      const struct ntrace_ingress_group *group)
{
	unsigned int priv = level_of(cycle->priv);
	bool interrupt = group->itype == NTRACE_ITYPE_INTERRUPT;
	/* A port need not tell where an interrupt is taken if no instruction retires with it. */
	uint64_t epc = group->iretire || interrupt ? from->after : group->iaddr;
	bool epc_known = !interrupt || (from->straight && !from->trap);

	if (!from->started && !epc_known)
		return;
	from->straight = false;
	/* This may write the trap before: the fields of this one are set after it. */
	if (epc_known)
		reach(from, epc, priv);
	else if (from->trap)
		put_trap(from, false, 0, priv);
	else
		convert_finish(from->convert, false, 0);
	from->interrupt = interrupt;
	from->epc = epc;
	from->epc_known = epc_known;
	from->trap = true;
	from->cause = cycle->cause;
	from->tval = cycle->tval;
}

static int take(void *data, const struct ntrace_ingress_reader *reader,
		const struct ntrace_ingress_record *record)
{
	struct from_ingress *from = data;
	const struct ntrace_ingress_cycle *cycle = &record->cycle;
	int error = EXIT_OK;

	if (reader->port.xlen != from->convert->options->params.xlen)
		return fail("%s: the port has xlen %u: use --xlen", from->convert->options->path,
			    reader->port.xlen);
	if (record->type == NTRACE_INGRESS_OVERRUN)
		return fail("%s: line %" PRIu64 ": retired instructions are missing",
			    from->convert->options->path, reader->line);
	if (record->type != NTRACE_INGRESS_CYCLE)
		return EXIT_OK;
	for (unsigned int i = 0; i < cycle->groups && !error; i++) {
		const struct ntrace_ingress_group *group = &cycle->group[i];

		if (group->iretire)
			error = take_instructions(from, &reader->port, cycle, i);
		if (!error && (group->itype == NTRACE_ITYPE_EXCEPTION ||
			       group->itype == NTRACE_ITYPE_INTERRUPT))
			take_trap(from, cycle, group);
	}
	if (!error && from->convert->refused)
		error = fail("%s: line %" PRIu64 ": a value does not fit into the trace",
			     from->convert->options->path, reader->line);
	return error;
}

int convert_ingress(struct convert *convert)
{
	struct from_ingress from = { .convert = convert };
	struct ntrace_object *object;
	int error;

	error = ntrace_object_open_elf(&object, convert->options->elf);
	if (error)
		return fail("%s: %s", convert->options->elf, error_text(error));
	error = ntrace_space_new(&from.space, "program", NULL);
	if (!error)
		error = ntrace_space_map_linked(from.space, object, 0);
	error = error ? fail("%s: %s", convert->options->elf, ntrace_strerror(error)) :
			ingress_file_read(convert->options->path, false, take, &from);
	/*
	 * The last one: where execution went on is known only if it jumped nowhere. A trap whose handler
	 * is not reached is left out.
	 */
	if (!error && !from.trap)
		convert_finish(convert, from.straight, from.after);
	ntrace_space_put(from.space);
	ntrace_object_put(object);
	return error;
}
