// SPDX-License-Identifier: GPL-2.0-only
/*
 * Exceptions, for stack_load.c: thrown through a frame with a destructor, caught, thrown again, and
 * caught for good. Each frame belongs to another function, so that the target of the unwinding is
 * unambiguous.
 */
#include <stdexcept>
#include <string>

#define NOINLINE __attribute__((noinline, noclone))

namespace {

volatile unsigned long done;

struct guard {
	NOINLINE ~guard() { done = done + 1; }
};

NOINLINE void thrower(unsigned int round)
{
	if (round % 3 == 0)
		throw round;
	if (round % 3 == 1)
		throw std::runtime_error("round " + std::to_string(round));
	done = done + round;
}

NOINLINE void guarded(unsigned int round)
{
	guard first;

	thrower(round);
	done = done + 1;
}

NOINLINE void through(unsigned int round)
{
	guarded(round);
	done = done + 1;
}

NOINLINE void again(unsigned int round)
{
	try {
		through(round);
	} catch (const std::exception &problem) {
		done = done + std::string(problem.what()).size();
		throw;
	}
	done = done + 1;
}

} // namespace

extern "C" unsigned long exceptions(unsigned int round);

extern "C" NOINLINE unsigned long exceptions(unsigned int round)
{
	try {
		again(round);
	} catch (unsigned int number) {
		done = done + number;
	} catch (const std::runtime_error &) {
		guard last;

		done = done + 1;
	}
	return done;
}
