# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# Sourced by tests and benchmarks that start a model with a GDB stub.

# stub_ready SOCKET MODEL: waits until something listens at a Unix socket, or the process MODEL has ended. QEMU makes the file
# before it listens, and a connection between the two is refused; the kernel's flag of a listening socket is __SO_ACCEPTCON.
stub_ready() {
	until grep -q " 00010000 .* $1\$" /proc/net/unix || ! kill -0 "$2" 2>/dev/null; do sleep 0.05; done
}
