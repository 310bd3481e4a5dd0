#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Jumps to another kernel while both harts are traced; that kernel prints the control registers on the console:
# kexec.sh IMAGE
# shellcheck source=selftests/kernel/guest/common.sh
. "$(dirname "$0")/common.sh"
# Works in any topology: counts the blocks that the driver has bound.
mapfile -t blocks < <(sed 's/\..*//' $debug/components)
mkdir -p "$tmp/tree/bin"
cp /usr/bin/busybox "$tmp/tree/bin/busybox"
cat >"$tmp/tree/init" <<END
#!/bin/busybox sh
blocks='${blocks[*]}'
END
cat >>"$tmp/tree/init" <<'END'
bb=/bin/busybox
$bb mkdir -p /dev /proc
$bb mount -t devtmpfs devtmpfs /dev
exec </dev/console >/dev/console 2>&1
for address in $blocks; do
	echo "second kernel: $address $($bb devmem 0x$address 32)"
done
$bb poweroff -f
$bb sleep 60
END
chmod +x "$tmp/tree/init"
(cd "$tmp/tree" && find . | busybox cpio -o -H newc) >"$tmp/initrd" 2>/dev/null

hold /dev/ntrace0
# The first kernel must not see the end of its input before the second one starts.
# shellcheck disable=SC2034
exec {first_in}<&"${HOLD[0]}" {first_out}>&"${HOLD[1]}"
hold /dev/ntrace1 2>/dev/null
is "$(grep -c ' active enabled' $debug/components)" "${#blocks[@]}" "jumps while tracing with all blocks"
# Prepare as an init does that shuts down. If the disk is shut down during a request, that request
# never ends, and the kernel waits for it before it takes a hart offline.
last_words
echo u >/proc/sysrq-trigger
wait_for grep -q ' / ext4 ro' /proc/mounts
"$here/kexec" "$1" "$tmp/initrd"
