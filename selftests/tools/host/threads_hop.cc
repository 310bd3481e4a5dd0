// SPDX-License-Identifier: GPL-2.0-only
/*
 * A thread that changes its CPU deep in calls: inner calls leaf three times and outer once. Compiled with sibling calls,
 * inner and outer end with a jump to their last leaf, whose caller is then theirs. Two threads of C++ have functions with
 * long names.
 */
#include <cstdio>
#include <functional>
#include <map>
#include <sched.h>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#define ALONE __attribute__((noinline))

template <class... T> struct very_long_template_name_for_testing_layout {
	template <class U>
	ALONE int an_operation_with_a_long_name(std::map<std::string, std::vector<U>> &m, int n)
	{
		int sum = 0;

		for (int i = 0; i < n; i++) {
			m["key" + std::to_string(i % 50)].push_back(U(i));
			sum += m.size();
		}
		return sum;
	}
};

ALONE static void leaf(volatile int *x, int n)
{
	for (int i = 0; i < n; i++)
		*x += i;
}

ALONE static void migrate(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

ALONE static void inner(volatile int *x)
{
	leaf(x, 20000);
	migrate(0);
	leaf(x, 20000);
	migrate(1);
	leaf(x, 20000);
}

ALONE static void outer(volatile int *x)
{
	migrate(1);
	inner(x);
	leaf(x, 1000);
}

static void run()
{
	using value = std::variant<int, double, std::string>;
	std::map<std::string, std::vector<value>> m;
	very_long_template_name_for_testing_layout<std::map<std::string, std::vector<value>>,
						   std::function<int(std::string const &, double)>>
		v;

	printf("%d\n", v.an_operation_with_a_long_name(m, 300));
}

int main()
{
	volatile int x = 0;
	std::vector<std::thread> threads;

	outer(&x);
	for (int k = 0; k < 2; k++)
		threads.emplace_back(run);
	for (auto &thread : threads)
		thread.join();
	return 0;
}
