#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Sinks without memory. Usage: pins.sh pib | atb
# shellcheck source=selftests/kernel/guest/common.sh
. "$(dirname "$0")/common.sh"
perf=$(<$pmu/type)
case $1 in
pib) kind=pib-sink name='PIB sink' type=0xa attribute=pib_mode value=0xa ;;
atb) kind=atb-bridge name='ATB bridge' type=0xe attribute=atb_id value=0x21 ;;
esac
sink=$(echo /sys/bus/platform/devices/*.trace-"$kind")
base=0x${sink##*/} base=${base%%.*}
# Prints the word of the sink's debugfs line that starts with the argument.
shown() { sed -n "/trace-$kind/s/.* \($1=[^ ]*\).*/\1/p" $debug/components; }

like "debugfs: both paths end there" "funnel -> [0-9a-f]+\.trace-$kind online=1.*funnel -> [0-9a-f]+\.trace-$kind online=1" \
	"$(tr '\n' ' ' <$debug/paths)"
is "$(register "$base")" 0x00000008 "it is left off"
if [ "$1" = pib ]; then
	is "$(cd "$sink" && echo pib_* atb_*)" "pib_calibrate pib_clock_center pib_divider pib_divider_max pib_mode pib_modes atb_*" \
		"attributes: those of a PIB sink"
	is "$(<"$sink/pib_modes") $(<"$sink/pib_mode") $(<"$sink/pib_divider_max")" "0x1420 0x0 0xff" \
		"UART, four bits and sixteen; divider up to 255; off"
	for bad in pib_mode=8 pib_divider=256 pib_clock_center=2 pib_calibrate=x; do
		fails "$bad: refused" 'Invalid argument' bash -c "echo ${bad#*=} >$sink/${bad%=*}"
	done
	echo 3 >"$sink/pib_divider"
	echo 1 >"$sink/pib_clock_center"
else
	is "$(cd "$sink" && echo pib_* atb_*)" "pib_* atb_id" "attributes: that of an ATB bridge"
	for bad in 0x70 0x7f 128; do
		fails "ID $bad: refused" 'Invalid argument' bash -c "echo $bad >$sink/atb_id"
	done
fi
program pins "$type" "$sink/$attribute" "$value" "$perf" step
like "the log tells what to do" "no trace is sent before [0-9a-f]+\.trace-$kind/$attribute is set" "$(said)"
like "the log tells why there is no data" 'sink has no memory: NTRACE_CONFIG_NO_DATA is required' "$(said)"
is "$(shown "$attribute")" "$attribute=$value" "debugfs: the same"
is "$(register "$base")" 0x00000008 "it is off"

# The sink has a fault, which is then removed; register of faults: see
# tools/vsoc/model/fault.h.
broken() { devmem $((base + 0xe00)) 32 "$1"; }
hold /dev/ntrace0
is "$(printf '0x%x' $(($(register "$base") & ~8)))" "$([ "$1" = pib ] && echo 0x301a3 || echo 0x2103)" "enabled, with the attributes"
broken 1
ask stop
is "$answer" ETIMEDOUT "it is never empty: STOP: ETIMEDOUT"
like "the log reports it" "$name does not stop" "$(said)"
ask start
is "$answer" ENODEV "START: ENODEV"
broken 0
is "$(register "$base")" 0x00000008 "it is off"
ask configure
is "$answer" 0 "mended: CONFIGURE"
broken 4
ask start
is "$answer" ETIMEDOUT "it is never enabled: START: ETIMEDOUT"
like "the log reports it" "$name does not start" "$(said)"
broken 0
ask configure
ask start
is "$answer" 0 "mended: CONFIGURE and START"
# Unbinds the sink while it runs: encoders must stop first.
device=${sink##*/}
echo "$device" >$driver/unbind
is "$(register "$base") $(register "$(encoder 0)")" "0x00000008 0x00000008" "unbind while it runs: all is off"
ask stop
is "$answer" ENODEV "STOP: ENODEV"
echo "$device" >$driver/bind
let_go
ok "bind: the devices are back" test -c /dev/ntrace0 -a -c /dev/ntrace1
is "$(<"$sink/$attribute")" 0x0 "and the attribute is to be set again"
done_testing
