# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# Completion of ntrace(1) for bash. Commands, options and their arguments come from the help of the
# typed command, so they are never out of date. This file only lists the values of some arguments.

# _ntrace_table WORD...: prints a line per option of `WORD... --help`: long name, short one or "-",
# name of the argument or "-".
_ntrace_table() {
	"$@" --help 2>/dev/null </dev/null | sed -nE '/^options:/,/^$/{
		s/^ +(-(.), )?--([a-z0-9-]+)( ([^ ]+))?( .*)?$/\3 -\2 -\5/
		T
		s/ -(.) / \1 /
		s/ -([^ ]+)$/ \1/
		p
	}'
}

# _ntrace_commands COMMAND
_ntrace_commands() {
	"$1" --help 2>/dev/null </dev/null | sed -nE '/^commands:/,/^$/s/^  ([a-z]+) .*/\1/p'
}

# _ntrace_formats COMMAND: prints the formats of `ntrace export`.
_ntrace_formats() {
	"$1" export --help 2>/dev/null </dev/null |
		sed -nE '/^formats:/,/^[^ f]|^$/s/^  ([a-z][a-z-]*(, [a-z-]+)*)  .*/\1/p' | tr -d ','
}

# _ntrace_words COMMAND SUBCOMMAND OPTION: prints the words that the argument can be.
_ntrace_words() {
	case $2:$3 in
	dump:framing | decode:framing | gdb:framing | browse:framing | stat:framing | check:framing | split:framing) echo coresight ;;
	decode:level) echo message instruction block branch pc itc ;;
	report:sort) echo self total calls time total-time name object ;;
	top:sort) echo instructions calls ;;
	export:format) _ntrace_formats "$1" ;;
	record:mode | trigger:mode | encode:mode) echo btm htm ;;
	ingress:dtype)
		echo load store csr atomic csr-write csr-set csr-clear swap add and or xor max min store-failure
		;;
	ingress:bytes) echo 1 2 4 8 16 ;;
	record:privilege | top:privilege | count:privilege | collect:privilege | report:privilege | export:privilege | gdb:privilege | browse:privilege | ingress:privilege) echo u s m us usm vu vs ;;
	trigger:privilege) echo u s us ;;
	record:sync | trigger:sync) echo messages: cycles: parcels: off ;;
	record:timestamps | trigger:timestamps) echo any external system core shared ;;
	record:traps) echo exceptions interrupts ;;
	tandem:from) echo rvfi rvvi ibex cva6 spike qemu ingress ;;
	ctr:has) echo type mispredict cycles none ;;
	trigger:signal) echo SEGV ABRT BUS FPE ILL TRAP SYS HUP INT QUIT PIPE ALRM TERM USR1 USR2 KILL ;;
	trace:at) echo entry return both ;;
	esac
}

# _ntrace_argument COMMAND SUBCOMMAND OPTION NAME CURRENT
_ntrace_argument() {
	local words
	words=$(_ntrace_words "$1" "$2" "$3")
	if [ -n "$words" ]; then
		mapfile -t COMPREPLY < <(compgen -W "$words" -- "$5")
		# A key that needs a number is not complete: add no blank.
		[[ ${COMPREPLY[0]-} != *: ]] || compopt -o nospace 2>/dev/null
		return
	fi
	case $4 in
	PID | LIST) [[ $3 != [pt]id ]] || mapfile -t COMPREPLY < <(cd /proc && compgen -G "${5##*[!0-9]}[0-9]*") ;;
	DIR | RECORDING) mapfile -t COMPREPLY < <(compgen -d -- "$5") ;;
	FILE* | ELF* | TRACE | INGRESS | RING) mapfile -t COMPREPLY < <(compgen -f -- "$5") ;;
	esac
}

# _ntrace_takes_argument TABLE WORD: prints long name and argument of the option, fails if
# it takes none.
_ntrace_takes_argument() {
	awk -v word="$2" '
		(word == "--" $1 || $2 != "-" && word == "-" $2) && $3 != "-" { print $1, $3; found = 1 }
		END { exit !found }' <<<"$1"
}

# Prints the index of the word at which the recorded command of `ntrace record` or `trigger` begins,
# or nothing.
_ntrace_recorded() {
	local i table=$1
	for ((i = 2; i < COMP_CWORD; i++)); do
		case ${COMP_WORDS[i]} in
		--) echo $((i + 1)); return ;;
		-*)
			if [ "${COMP_WORDS[i + 1]-}" = = ]; then
				i=$((i + 2))
			elif _ntrace_takes_argument "$table" "${COMP_WORDS[i]}" >/dev/null; then
				i=$((i + 1))
			fi
			;;
		*) echo "$i"; return ;;
		esac
	done
	[ "$i" -eq "$COMP_CWORD" ] && [[ ${COMP_WORDS[i]} != -* ]] && echo "$i"
}

_ntrace() {
	local command=$1 current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}
	local sub=${COMP_WORDS[1]} help=("$1" "${COMP_WORDS[1]}") table found name argument
	COMPREPLY=()
	if [ "$COMP_CWORD" -eq 1 ]; then
		mapfile -t COMPREPLY < <(compgen -W "$(_ntrace_commands "$command") --help --version" -- "$current")
		return
	fi
	# bash splits --level=block into words at the equals sign.
	if [ "$current" = = ]; then
		current=''
	elif [ "$before" = = ]; then
		before=${COMP_WORDS[COMP_CWORD - 2]}
	fi
	if [ "$sub" = ctr ]; then
		if [ "$COMP_CWORD" -eq 2 ] && [[ $current != -* ]]; then
			mapfile -t COMPREPLY < <(compgen -W "dump compare model trace" -- "$current")
			return
		fi
		[ "${COMP_WORDS[2]}" != trace ] || sub=trace help+=(trace)
	fi
	if [ "$sub" = ingress ]; then
		if [ "$COMP_CWORD" -eq 2 ] && [[ $current != -* ]]; then
			mapfile -t COMPREPLY < <(compgen -W "dump check encode import" -- "$current")
			return
		fi
		[ "${COMP_WORDS[2]}" != encode ] || sub=encode help=("$1" encode)
	fi
	table=$(_ntrace_table "${help[@]}")
	if found=$(_ntrace_takes_argument "$table" "$before"); then
		read -r name argument <<<"$found"
		_ntrace_argument "$command" "$sub" "$name" "$argument" "$current"
		return
	fi
	if [ "$sub" = record ] || [ "$sub" = trigger ]; then
		found=$(_ntrace_recorded "$table")
		if [ -n "$found" ]; then
			if declare -F _command_offset >/dev/null; then
				_command_offset "$found"
			elif [ "$found" -eq "$COMP_CWORD" ]; then
				mapfile -t COMPREPLY < <(compgen -c -- "$current")
			else
				mapfile -t COMPREPLY < <(compgen -f -- "$current")
			fi
			return
		fi
	fi
	if [[ $current = -* ]]; then
		mapfile -t COMPREPLY < <(compgen -W "$(awk '{ print "--" $1; if ($2 != "-") print "-" $2 }' <<<"$table")" -- "$current")
	else
		mapfile -t COMPREPLY < <(compgen -f -- "$current")
	fi
}
complete -o filenames -o bashdefault -F _ntrace ntrace
