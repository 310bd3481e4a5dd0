#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# What users get of the trace who are not root, with each perf_event_paranoid: what
# they may open, no address of the kernel, nothing of others, no memory of others,
# and no harm by what they write where the kernel reads.
# shellcheck source=selftests/kernel/perf_common.sh
. "$(dirname "$0")/perf_common.sh"
guest_part security

# Addresses of user space have 47 bits at most here; fields of full addresses lack bit 0.
highest() { build/ntrace dump --json "$1" | python3 -c 'import json, sys
messages = [json.loads(line) for line in sys.stdin]
numbers = [int(str(value), 0) for message in messages for value in [*message.get("fields", {}).values(), message.get("address", 0)]]
print(len(messages) > 500, max(numbers) < 1 << 47)'; }
for name in btm htm; do
	is "$(highest "$tmp/traced/$name.nex")" "True True" "$name: no address of the kernel in any field of any message"
done
is "$(highest "$tmp/traced/kernel.nex")" "True False" "with the kernel there is one"

# Two users, each in its own trace and nowhere else.
for user in 65533 65534; do
	executed "$tmp/traced/$user"
	is "steps $count" "$(cat "$tmp/traced/$user/steps")" "user $user: each step is in the trace"
	is "$(head -n 3 "$tmp/wrong")" "" "user $user: and nothing of the other"
done
done_testing
