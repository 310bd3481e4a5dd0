# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# Jumps into another kernel while both harts are traced; that one says on the
# console what the control registers hold. Runs in the guest.
# shellcheck source=selftests/kernel/guest/common.sh
. /root/kernel/common.sh
# Whatever the topology: as many blocks as the driver has.
blocks=()
for block in /sys/bus/platform/drivers/ntrace/*.trace-*; do
	name=${block##*/}
	blocks+=("${name%%.*}")
done
mkdir -p /root/tree/bin
cp /usr/bin/busybox /root/tree/bin/busybox
cat >/root/tree/init <<END
#!/bin/busybox sh
blocks='${blocks[*]}'
END
cat >>/root/tree/init <<'END'
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
chmod +x /root/tree/init
(cd /root/tree && find . | busybox cpio -o -H newc) >/root/initrd 2>/dev/null

hold /dev/ntrace0
# The first one must not see the end of its input when the second one comes.
# shellcheck disable=SC2034
exec {first_in}<&"${HOLD[0]}" {first_out}>&"${HOLD[1]}"
hold /dev/ntrace1 2>/dev/null
mount -t debugfs none /sys/kernel/debug 2>/dev/null
echo "tracing with $(grep -c ' active enabled' /sys/kernel/debug/ntrace/components) of ${#blocks[@]} blocks"
# As an init that goes down would: a request under way when the disk is shut down
# never ends, and the kernel waits for it before it takes a hart down.
sync
echo u >/proc/sysrq-trigger
for ((i = 0; i < 50; i++)); do
	grep -q ' / ext4 ro' /proc/mounts && break
	sleep 0.1
done
"$here/kexec" /root/vmlinux /root/initrd
