# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# For tests of many recordings: makes small ones of different contents without a guest. Each has two
# threads on two CPUs that execute host/two_tasks.S, the more of it the higher the number.
# shellcheck source=selftests/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/../tap.sh"
# shellcheck disable=SC2034 # for whoever sources this
ntrace=$top/build/ntrace
small_host=$top/selftests/tools/host small_params=tsbits=40,tshz=1000000,mode=htm
export LD_LIBRARY_PATH=$top/build

# small_recordings DIRECTORY COUNT [ADDRESS [XLEN]]: makes DIRECTORY/r1 to rCOUNT, and the program DIRECTORY/two_tasks, linked at ADDRESS
small_recordings() {
	local dir=$1 count=$2 address=${3:-0x10000} xlen=${4:-64} abi=lp64d params i name lines
	params=xlen=$xlen,$small_params
	cp "$small_host/two_tasks.S" "$dir/"
	if [ "$xlen" = 32 ]; then
		abi=ilp32d
		sed -i 's/\bsd\b/sw/; s/\bld\b/lw/' "$dir/two_tasks.S"
	fi
	(cd "$dir" && riscv64-linux-gnu-gcc -march=rv"$xlen"gc -mabi=$abi -nostdlib -static -g -Wl,-Ttext="$address" -Wl,--build-id -Wl,-e,first \
		-o two_tasks "$dir/two_tasks.S") || return
	riscv64-linux-gnu-objdump -d --no-show-raw-insn "$dir/two_tasks" >"$dir/code"
	gcc -std=c11 -DADDRESS="$address" -I "$top/lib/include" "$small_host/two_tasks.c" -L "$top/build" -lntrace -o "$dir/make" || return
	for name in first second; do
		python3 "$small_host/two_tasks.py" run "$dir/code" $name >"$dir/$name.pcs"
	done
	for ((i = 1; i <= count; i++)); do
		for name in first second; do
			lines=$(wc -l <"$dir/$name.pcs")
			head -n $((lines * i / count)) "$dir/$name.pcs" >"$dir/short.pcs"
			"$ntrace" encode --pcs "$dir/short.pcs" --elf "$dir/two_tasks" --mode htm --params "$params" \
				--encoder timestamps=all -o "$dir/$name.nex" || return
		done
		"$dir/make" "$dir/r$i" "$dir/two_tasks" "$(stat -c %s "$dir/first.nex")" "$(stat -c %s "$dir/second.nex")" "$params" || return
		cp "$dir/first.nex" "$dir/r$i/aux.0"
		cp "$dir/second.nex" "$dir/r$i/aux.1"
	done
}
