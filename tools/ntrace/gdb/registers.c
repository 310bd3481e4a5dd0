// SPDX-License-Identifier: GPL-2.0-only
/*
 * Registers and memory: all that a tandem trace tells, or the values of a recording; pc, code and
 * read-only data of other traces.
 */
#include <stdio.h>

#include "remote_parts.h"

/* Numbers in the target description: x0 to x31, pc, f0 to f31, fflags, frm, fcsr, priv. */
#define REGISTER_F0 33
#define REGISTER_FFLAGS 65
#define REGISTER_PRIV 68
#define FFLAGS 1

/* ---- registers ---- */

static void put_bytes(uint64_t value, uint8_t bytes[8])
{
	for (unsigned int i = 0; i < 8; i++)
		bytes[i] = (uint8_t)(value >> 8 * i);
}

void remote_pc_bytes(struct remote *remote, uint8_t bytes[8])
{
	put_bytes(history_pc(remote->target->history, remote_place(remote, remote->current)),
		  bytes);
}

/* The number of a register in a tandem trace. */
static unsigned int tandem_number(unsigned int number)
{
	if (number < REMOTE_PC)
		return NTRACE_TANDEM_GPR + number;
	if (number == REMOTE_PC)
		return NTRACE_TANDEM_PC;
	if (number < REGISTER_FFLAGS)
		return NTRACE_TANDEM_FPR + number - REGISTER_F0;
	return number < REGISTER_PRIV ? FFLAGS + number - REGISTER_FFLAGS : NTRACE_TANDEM_PRIV;
}

static bool is_known(const struct ntrace_tandem_state *state, unsigned int id)
{
	/* fflags and frm are views of fcsr; x0 is 0. */
	return id == NTRACE_TANDEM_GPR || ntrace_tandem_bit(state->known, id) ||
	       ((id == FFLAGS || id == FFLAGS + 1) && ntrace_tandem_bit(state->known, FFLAGS + 2));
}

/* The number of a register in an executor. */
static unsigned int exec_number(unsigned int number)
{
	if (number < REMOTE_PC)
		return NTRACE_EXEC_X + number;
	if (number < REGISTER_FFLAGS)
		return NTRACE_EXEC_F + number - REGISTER_F0;
	return NTRACE_EXEC_FFLAGS + number - REGISTER_FFLAGS;
}

static bool find_recorded(struct remote *remote, const struct history_place *place,
			  unsigned int number, uint8_t bytes[8])
{
	struct ntrace_values *values = history_values(remote->target->history, place);
	struct ntrace_exec_value value;

	if (!values || number >= REGISTER_PRIV ||
	    ntrace_values_register(values, exec_number(number), &value))
		return false;
	put_bytes(value.bits, bytes);
	return value.known == (number >= REGISTER_FFLAGS ? 0xff : UINT64_MAX);
}

static bool find_register(struct remote *remote, unsigned int number, uint8_t bytes[8])
{
	struct history_place *place = remote_place(remote, remote->current);
	struct replay *replay = remote->target->history->replay;
	const struct ntrace_tandem_state *state;
	unsigned int id = tandem_number(number);

	if (number == REMOTE_PC) {
		remote_pc_bytes(remote, bytes);
		return true;
	}
	if (!replay)
		return find_recorded(remote, place, number, bytes);
	state = replay_state(replay, place->first);
	put_bytes(state->reg[id], bytes);
	return is_known(state, id);
}

/* x stands for digits of an unavailable register. */
static void add_register(struct remote *remote, unsigned int number)
{
	unsigned int size = number == REGISTER_PRIV   ? remote->target->xlen / 8 :
			    number >= REGISTER_FFLAGS ? 4 :
			    number >= REGISTER_F0     ? target_float_size(remote->target) :
							remote->target->xlen / 8;
	uint8_t bytes[8];

	if (find_register(remote, number, bytes))
		packet_hex(&remote->packets, bytes, size);
	else
		packet_format(&remote->packets, "%.*s", 2 * size, "xxxxxxxxxxxxxxxx");
}

/* Whether the target description has a register, see transfer.c. */
static bool has_register(const struct remote *remote, uint64_t number)
{
	if (number == REGISTER_PRIV)
		return remote->target->history->replay;
	return number < (target_float_size(remote->target) ? REGISTER_PRIV : REGISTER_F0);
}

void remote_registers(struct remote *remote, char *text)
{
	(void)text;
	for (unsigned int i = 0; i <= REGISTER_PRIV; i++)
		if (has_register(remote, i))
			add_register(remote, i);
}

void remote_register(struct remote *remote, char *text)
{
	const char *at = text;
	uint64_t number;

	if (!remote_hex(&at, &number) || !has_register(remote, number))
		packet_text(&remote->packets, "E01");
	else
		add_register(remote, (unsigned int)number);
}

/* ---- memory ---- */

/* Of a tandem trace: what it has told, else what the program was loaded with. */
static size_t read_replay(struct remote *remote, const struct history_place *place,
			  uint64_t address, uint8_t *data, size_t size)
{
	struct target *target = remote->target;
	uint64_t mask = target->xlen == 32 ? UINT32_MAX : UINT64_MAX;
	size_t done = 0;

	while (done < size) {
		uint64_t at = (address + done) & mask;
		unsigned int bytes = 8 - (at & 7);
		struct ntrace_exec_value value;
		enum replay_loaded loaded;

		if (bytes > size - done)
			bytes = (unsigned int)(size - done);
		value = replay_read(target->history->replay, place->first, at, bytes, &loaded);
		for (unsigned int i = 0; i < bytes; i++, done++) {
			if (value.known >> 8 * i & 1)
				data[done] = (uint8_t)(value.bits >> 8 * i);
			else if (loaded == REPLAY_NOTHING ||
				 !target_read_file(target, at + i, loaded == REPLAY_ALL,
						   &data[done]))
				return done;
		}
	}
	return done;
}

/* Of a recording: what is certain there, else code and constants of the files. */
static size_t read_values(struct remote *remote, const struct history_place *place,
			  uint64_t address, uint8_t *data, size_t size)
{
	struct ntrace_values *values = history_values(remote->target->history, place);
	const struct ntrace_space *space = history_at(remote->target->history, place)->flow->space;
	struct ntrace_exec_value value = { 0, 0 };
	size_t done = 0;

	while (values && done < size) {
		unsigned int bytes = 8 - (unsigned int)((address + done) & 7);

		if (bytes > size - done)
			bytes = (unsigned int)(size - done);
		if (ntrace_values_memory(values, address + done, bytes, &value))
			break;
		for (unsigned int i = 0; i < bytes; i++, done++) {
			if ((value.known >> 8 * i & 0xff) != 0xff)
				return done + target_read(remote->target, space, address + done,
							  data + done, size - done);
			data[done] = (uint8_t)(value.bits >> 8 * i);
		}
	}
	return done + target_read(remote->target, space, address + done, data + done, size - done);
}

void remote_memory(struct remote *remote, char *text)
{
	const struct history_place *place = remote_place(remote, remote->current);
	uint64_t address, size;
	const char *at = text;
	static uint8_t data[PACKET_MAX / 2];
	size_t got;

	if (!remote_hex(&at, &address) || *at++ != ',' || !remote_hex(&at, &size)) {
		packet_text(&remote->packets, "E01");
		return;
	}
	if (size > sizeof(data))
		size = sizeof(data);
	got = remote->target->history->replay ?
		      read_replay(remote, place, address, data, (size_t)size) :
		      read_values(remote, place, address, data, (size_t)size);
	if (!got && size)
		packet_text(&remote->packets, "E14");
	else
		packet_hex(&remote->packets, data, got);
}
