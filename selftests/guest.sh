# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# Boots of the virtual SoC that several tests share. A boot takes longer than most
# tests, so tests that need the same machine are jobs of one boot:
#
#   . selftests/guest.sh
#   guest_job driver kernel/driver.sh            queues a job: NAME, then a script or program
#   guest_job security kernel/security.sh ARG    below build/riscv64/selftests, with arguments
#   guest_boot direct --icount --modules         boots a machine and runs the jobs in turn
#
# Each result of a job becomes a result of this test, "NAME: text". A job that does not finish,
# prints no plan or no result, or leaves processes running has failed. A job runs in a new directory
# of the guest; its files are in $results/NAME afterwards, for the part of the test that runs on
# this host.
#
# JOBS_ONLY="NAME..." in the environment runs these jobs alone; host parts ask with
# `guest_ran NAME && ...`. NO_TOOLS=1 leaves the command out of the guest, for jobs that do without.
# shellcheck source=selftests/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/tap.sh"
cd "$top" || exit 1

guest_jobs=()
declare -A guest_status=()

guest_job() {
	local name=$1 program=$2
	shift 2
	[ -z "${JOBS_ONLY:-}" ] || [[ " $JOBS_ONLY " = *" $name "* ]] || return 0
	[ -e "build/riscv64/selftests/$program" ] || { not_ok "$name: build/riscv64/selftests/$program is missing"; return 1; }
	guest_jobs+=("$name $(printf '%q ' "/root/selftests/$program" "$@")")
}

# Is a job of this name queued for the next boot?
guest_queued() { [[ ${guest_jobs[*]} = "$1 "* || ${guest_jobs[*]} = *" $1 /root/"* ]]; }

# A killed guest has handed over nothing.
guest_ran() { [ "${guest_status[$1]:-none}" = 0 ] && [ -d "$guest_results/$1" ]; }

# guest_boot MACHINE OPTION...: the options are those of tools/vsoc/run
guest_boot() {
	local machine=$1 line current='' status=0 ran=" " begun=0 option options=()
	shift
	for option; do
		[ "$option${NO_TOOLS:+ no}" = "--tools no" ] || options+=("$option")
	done
	results=$tmp/$machine/results guest_results=$tmp/$machine/results
	mkdir -p "$results"
	[ "${#guest_jobs[@]}" -gt 0 ] || return 0
	printf '%s\n' "${guest_jobs[@]}" >"$tmp/jobs"
	while IFS= read -r line; do
		case $line in
		'# job '*' begins')
			current=${line#\# job }
			current=${current% begins}
			ran+="$current " begun=$SECONDS
			take_begin
			;;
		'# job '*' ended with '*)
			guest_status[$current]=${line##* }
			take_end "$current" "${line##* }"
			diag "$current: $((SECONDS - begun)) s"
			current=''
			;;
		*) take_line "$current" "$line" ;;
		esac
	done < <(
		tools/vsoc/run --quiet --check-dmesg --timeout 3600 --put build/riscv64/selftests:/root/selftests \
			--put "$tmp/jobs:/root/jobs" --get "/root/results:$tmp/$machine" "${options[@]}" \
			-- bash /root/selftests/jobs.sh /root/jobs 2>"$tmp/$machine/err"
		echo $? >"$tmp/$machine/status"
	)
	status=$(<"$tmp/$machine/status")
	[ -z "$current" ] || not_ok "$current: did not end"
	for line in "${guest_jobs[@]}"; do
		[[ $ran = *" ${line%% *} "* ]] || not_ok "${line%% *}: was not begun"
	done
	guest_jobs=()
	is "$status" 0 "$machine: the guest ended well, with a clean kernel log" || diag "$(tail -n 60 "$tmp/$machine/err")"
}
