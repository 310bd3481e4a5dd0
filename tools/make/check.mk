# SPDX-License-Identifier: GPL-2.0-only
# The test suite. A test is selftests/GROUP/test_*.c, or an executable selftests/GROUP/*.sh or *.py;
# its output is TAP. selftests/run runs a group.

TEST_SRC := $(sort $(wildcard selftests/*/test_*.c))
TEST_BINS := $(TEST_SRC:selftests/%.c=$(B)/selftests/%)
FUZZ_SRC := $(sort $(wildcard selftests/fuzz/fuzz_*.c))
FUZZ_BINS := $(FUZZ_SRC:selftests/fuzz/%.c=$(B)/fuzz/%)
# The same fuzzers with gcc's sanitizers and the objects of the other tests, without libFuzzer.
REPLAY_BINS := $(FUZZ_SRC:selftests/fuzz/%.c=$(B)/replay/%)
FUZZ_TIME ?= 60
# The same tests without sanitizers, for valgrind; all but those that are slow in valgrind or need
# other link flags.
VALGRIND_BINS := $(patsubst selftests/lib/%.c,$(B)/valgrind/%,$(filter-out %_llvm.c %/test_property.c %/test_damage.c %/test_detect.c %/test_detect_big.c %/test_second_decoder.c \
	%/test_ctr_property.c %/test_encode.c %/test_flow_cache.c %/test_nomem.c %/test_nomem_parts.c %/test_nomem_uses.c,$(filter selftests/lib/%,$(TEST_SRC))))
group_bins = $(filter $(B)/selftests/$(1)/%,$(TEST_BINS))

# Readers of the oracle's log: a library for tests, and programs in build/oracle.
ORACLE_ALL := $(filter-out selftests/oracle/exec_log.c,$(sort $(wildcard selftests/oracle/*.c)))
ORACLE_MAIN := $(if $(ORACLE_ALL),$(shell grep -lE '^int main\b' $(ORACLE_ALL)))
ORACLE_SRC := $(filter-out $(ORACLE_MAIN),$(ORACLE_ALL))
ORACLE_BINS := $(ORACLE_MAIN:selftests/oracle/%.c=$(B)/oracle/%)
$(B)/san/liboracle.a: $(ORACLE_SRC:%.c=$(B)/san/obj/%.o)
	$(AR_)rm -f $@ && ar rcs $@ $^
$(ORACLE_BINS): $(B)/oracle/%: $(B)/obj/selftests/oracle/%.o $(ORACLE_SRC:%.c=$(B)/obj/%.o) $(B)/libntrace.a
	@mkdir -p $(@D)
	$(LINK)$(CC) $^ -o $@ $(LIBS)
oracle: $(ORACLE_BINS) plugins ## the witness of the tests: QEMU plugin and what compares its log

# Random programs, their walks, and the options they are traced with.
PROPERTY_SRC := $(sort $(wildcard selftests/property/*.c))
$(addprefix $(B)/selftests/,lib/test_property lib/test_damage lib/test_detect lib/test_second_decoder soak/test_property): $(PROPERTY_SRC:%.c=$(B)/san/obj/%.o)

# Build tests with the sanitizers, so that no test passes by luck.
$(B)/selftests/%: selftests/%.c $(B)/san/liboracle.a $(B)/san/libmodel.a $(B)/san/libntrace.a $(B)/san/obj/.flags
	@mkdir -p $(@D)
	$(LINK)$(CC) $(STD) $(WARN) $(WERROR) $(INC) -Iselftests/lib -Iselftests -O1 -g $(SAN) -MMD -MP -MF $@.d $< $(filter %.o,$^) $(filter %.a,$^) -o $@ $(LIBS)

# These tests link files of the kernel modules into host programs, with headers that replace the
# kernel's.
$(call group_bins,kernel) $(call group_bins,ctr) $(B)/selftests/lib/test_ctr $(B)/valgrind/test_ctr: private INC := -Iselftests/kernel/host $(INC)

# These tests link parts of the command.
$(B)/selftests/tools/test_live_sideband: $(addprefix $(B)/san/obj/tools/ntrace/,record/live_sideband.o common/process_limits.o common/ui.o)
$(B)/selftests/tools/test_record_parts: $(addprefix $(B)/san/obj/tools/ntrace/,$(addsuffix .o,$(addprefix record/,contents contents_program cpus directory features filter options params pmu sideband spool stream_params tasks tids trace_output trigger values) $(addprefix common/,inputs kernel_symbols nearest options process_limits ui)))
$(addprefix $(B)/selftests/tools/,test_live_sideband test_record_parts): private INC := $(CMD_INC) $(INC)

# This test redirects the library's allocations to its own functions, which can fail.
$(filter $(B)/selftests/lib/test_nomem%,$(TEST_BINS)): private LIBS += -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=aligned_alloc,--wrap=strdup,--wrap=strndup,--wrap=asprintf

$(B)/valgrind/%: selftests/lib/%.c $(B)/obj/libntrace.a
	@mkdir -p $(@D)
	$(LINK)$(CC) $(STD) $(WARN) $(WERROR) $(INC) -Iselftests/lib -Iselftests -O1 -g -MMD -MP -MF $@.d $< $(filter %.a,$^) -o $@ $(LIBS)

GROUPS := $(shell sed -n 's/^GROUPS = \[\(.*\)\]$$/\1/p' selftests/run | tr -d '",')

# One run of the package manager instead of one for each group.
check: ## the whole test suite; ends with "N passed, N failed"
	@$(SETUP) check
	+@selftests/run --all
check-quick: ## what needs no guest and is done within two minutes: library, models, command, scripts
	@$(SETUP) runner
	+@selftests/run --quick
check-repeat: ## the whole suite RUNS times in a row (10): each must be green
	@$(SETUP) runner
	+@selftests/run --repeat $(or $(RUNS),10)
format: ## lays out the C sources as check-lint wants them
	@$(SETUP) lint
	@tools/lint/format.py --fix $$(git ls-files -co --exclude-standard '*.c' '*.h' ':!tools/vsoc/qemu')

# build-GROUP makes the files that the tests of a group need; check-GROUP also runs the tests. `make
# check` makes all groups first and then runs all tests from one queue.
check-lint: ## formatting, static analysis, licences, file sizes
check-runner: ## the runner of the tests itself
check-lib: ## the library: unit, conformance and property tests
check-deep: ## fuzzers for some seconds each
check-vsoc: ## the virtual SoC: model, QEMU glue, runner
check-kernel: ## the driver, in the guest
check-ctr: ## branch stacks from CTR, in the guest
check-tandem: ## tandem verification: the trace, its producer, the verifier
check-tools: ## the command, from a running program to its report
check-consumers: ## LLVM, AutoFDO, BOLT and others read what was recorded in the guest
$(GROUPS:%=check-%): check-%: build-%
	@$(SETUP) runner
	@selftests/run $*

build-lint:
	@$(SETUP) base lint
build-runner:
	@$(SETUP) runner
build-lib: lib native $(call group_bins,lib)
	@$(SETUP) test cross
build-deep: lib native $(REPLAY_BINS)
	@$(SETUP) deep test
build-vsoc: vsoc native oracle $(call group_bins,vsoc) $(B)/vsoc/rtl_server
build-kernel: vsoc native oracle $(call group_bins,kernel)
# The tests need firmware that enables CTR, which is newer than the guest's.
build-ctr: vsoc native $(call group_bins,ctr)
	@tools/vsoc/guest/build --suite forky --firmware >/dev/null
build-tandem: native plugins guest $(call group_bins,tandem)
	@$(SETUP) test cross tools rtl
build-tools: vsoc native oracle $(call group_bins,tools) $(B)/vsoc/remote_server $(B)/vsoc/rtl_server
	@$(SETUP) tools
build-consumers: vsoc native oracle
	@$(SETUP) consumers cross
	@selftests/consumers/make_recordings >/dev/null
build-quick-vsoc: $(B)/vsoc/rtl_server
build-quick-%: lib native $(TEST_BINS)
	@$(SETUP) base lint test tools

patches: ## the driver of kernel/ntrace as a series for the kernel, in build/patches
	@kernel/patches/ntrace/generate $(B)/patches/ntrace
check-patches: vsoc patches ## kernel/patches on the newest Debian kernel source: builds and boots it (long; not part of check)
	@$(SETUP) series
	@selftests/run patches

check-abi: lib ## the library's binary interface against the last release (abidiff; not part of check)
	@$(SETUP) abi
	@tools/lint/abi

check-debug-kernel: vsoc debug ## both drivers in a kernel with lockdep, KASAN, kmemleak and others; takes an hour
	@selftests/run debug
check-kernel-static: forky qemu ## sparse, checkpatch and coccicheck over kernel/; dt-validate over the bindings
	@$(SETUP) static
	@selftests/run static

bench: vsoc oracle qemu-stock native ## benchmarks: tables, and build/bench.json
	@$(SETUP) bench
	@selftests/run --bench
fuzz: $(FUZZ_BINS) ## fuzzers, FUZZ_TIME seconds each (60)
	@set -e; for f in $(FUZZ_BINS); do \
		mkdir -p $(B)/fuzz/corpus/$${f##*/}; echo "fuzz: $${f##*/} for $(FUZZ_TIME) s"; \
		$$f -max_total_time=$(FUZZ_TIME) -artifact_prefix=$(B)/fuzz/ -print_final_stats=1 \
			$(B)/fuzz/corpus/$${f##*/} $$(ls -d selftests/fuzz/corpus/$${f##*/} 2>/dev/null); done
soak: vsoc forky native san oracle $(FUZZ_BINS) $(VALGRIND_BINS) $(call group_bins,soak) $(B)/selftests/lib/test_isa_llvm ## long runs that the test suite has no time for
	@$(SETUP) runner test cross deep fuzz tools consumers package
	@selftests/run soak

FUZZ_FLAGS := -O1 -g -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all
fuzz-packages:
	@$(SETUP) fuzz
$(eval $(call compile,$(B)/fuzz/obj,clang,$(FUZZ_FLAGS)))
$(B)/fuzz/libntrace.a: $(LIB_SRC:%.c=$(B)/fuzz/obj/%.o)
	$(AR_)rm -f $@ && ar rcs $@ $^
# Sources of the command that fuzzers link.
command_objects = $(foreach dir,fuzz san,$(patsubst %,$(B)/$(dir)/obj/tools/ntrace/%.o,$(1)))
FUZZ_ASSEMBLE := $(call command_objects,$(addprefix stream/assemble/,assemble fields json_line line) stream/layout stream/message \
	common/process_limits common/output common/ui)
FUZZ_GDB := $(call command_objects,$(addprefix gdb/,branches elf_file files history history_modules monitor packet registers remote replay replay_find target transfer) \
	common/inputs common/process_limits common/moment common/nearest common/options common/place_name common/ui)
FUZZ_VCD := $(call command_objects,common/vcd)
$(B)/fuzz/fuzz_assemble $(B)/replay/fuzz_assemble: $(FUZZ_ASSEMBLE)
$(B)/fuzz/fuzz_gdb $(B)/replay/fuzz_gdb: $(FUZZ_GDB)
$(B)/fuzz/fuzz_vcd $(B)/replay/fuzz_vcd: $(FUZZ_VCD)
$(foreach dir,fuzz san,$(foreach name,assemble gdb vcd,$(B)/$(dir)/obj/selftests/fuzz/fuzz_$(name).o)): private INC := $(CMD_INC) $(INC)
$(FUZZ_BINS): $(B)/fuzz/%: $(B)/fuzz/obj/selftests/fuzz/%.o $(B)/fuzz/libntrace.a
	$(LINK)clang -fsanitize=fuzzer,address,undefined $(filter $(B)/fuzz/%.o,$^) $(filter %.a,$^) -o $@ $(LIBS)
$(REPLAY_BINS): $(B)/replay/%: $(B)/san/obj/selftests/fuzz/%.o $(B)/san/obj/selftests/fuzz/replay.o $(B)/san/libntrace.a
	@mkdir -p $(@D)
	$(LINK)$(CC) $(SAN) $(filter $(B)/san/%.o,$^) $(filter %.a,$^) -o $@ $(LIBS)
$(patsubst %.c,$(B)/fuzz/obj/%.o,$(FUZZ_SRC) $(LIB_SRC)): | fuzz-packages

.PHONY: check check-quick check-repeat $(GROUPS:%=check-%) $(GROUPS:%=build-%) check-abi check-patches check-debug-kernel check-kernel-static \
	bench format fuzz fuzz-packages oracle patches soak
