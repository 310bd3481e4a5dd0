// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <ntrace/trace_control.h>

#include "bus.h"
#include "fault.h"

#define HANDSHAKE (TR_CONTROL_ACTIVE | TR_CONTROL_ENABLE | TR_CONTROL_EMPTY)

bool bus_answers(const struct bus_parameters *parameters, uint32_t offset, bool exists, bool active,
		 bool own)
{
	if (offset >= FAULT_REGISTER)
		return true;
	if (parameters->own_hart && !own)
		return false;
	if (offset == TR_CONTROL)
		return true;
	return !(parameters->inactive_fails && !active) && !(parameters->holes_fail && !exists);
}

uint32_t bus_control(struct bus *bus, const struct bus_parameters *parameters, uint32_t value)
{
	if (!((value ^ bus->shown) & HANDSHAKE)) {
		bus->left = 0;
		return value;
	}
	if (!bus->left)
		bus->left = parameters->polls + 1;
	if (!--bus->left)
		bus->shown = value & HANDSHAKE;
	return (value & ~HANDSHAKE) | bus->shown;
}
