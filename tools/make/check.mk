# SPDX-License-Identifier: GPL-2.0-only
# The test suite. A test is selftests/GROUP/test_*.c, or an executable
# selftests/GROUP/*.sh or *.py; it speaks TAP. selftests/run runs a group.

TEST_SRC := $(sort $(wildcard selftests/*/test_*.c))
TEST_BINS := $(TEST_SRC:selftests/%.c=$(B)/selftests/%)
FUZZ_SRC := $(sort $(wildcard selftests/fuzz/fuzz_*.c))
FUZZ_BINS := $(FUZZ_SRC:selftests/fuzz/%.c=$(B)/fuzz/%)
FUZZ_TIME ?= 60
# The same tests without sanitizers, for valgrind; not the few that are slow there.
VALGRIND_BINS := $(patsubst selftests/lib/%.c,$(B)/valgrind/%,$(filter-out %_llvm.c %/test_property.c %/test_damage.c \
	%/test_ctr_property.c %/test_encode.c,$(filter selftests/lib/%,$(TEST_SRC))))
group_bins = $(filter $(B)/selftests/$(1)/%,$(TEST_BINS))

# What reads the witness' log: a library for tests, and programs in build/oracle.
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
$(addprefix $(B)/selftests/,lib/test_property lib/test_damage soak/test_property): $(PROPERTY_SRC:%.c=$(B)/san/obj/%.o)

# With the sanitizers: a test that passes by luck does not pass.
$(B)/selftests/%: selftests/%.c $(B)/san/liboracle.a $(B)/san/libmodel.a $(B)/san/libntrace.a $(B)/san/obj/.flags
	@mkdir -p $(@D)
	$(LINK)$(CC) $(STD) $(WARN) $(INC) -Iselftests/lib -Iselftests -O1 -g $(SAN) -MMD -MP -MF $@.d $< $(filter %.o,$^) $(filter %.a,$^) -o $@ $(LIBS)

$(B)/valgrind/%: selftests/lib/%.c $(B)/libntrace.a
	@mkdir -p $(@D)
	$(LINK)$(CC) $(STD) $(WARN) $(INC) -Iselftests/lib -Iselftests -O1 -g -MMD -MP -MF $@.d $< $(filter %.a,$^) -o $@ $(LIBS)

check: ## the whole test suite; ends with "N passed, N failed"
	+@selftests/run --all
check-lint: ## formatting, static analysis, licences, file sizes
	@$(SETUP) base lint
	@selftests/run lint
format: ## lays out the C sources as check-lint wants them
	@$(SETUP) lint
	@tools/lint/format.py --fix $$(git ls-files -co --exclude-standard '*.c' '*.h' ':!tools/vsoc/qemu')
check-lib: lib native $(call group_bins,lib) ## the library: unit, conformance and property tests
	@$(SETUP) test cross
	@selftests/run lib
check-deep: lib native $(FUZZ_BINS) $(VALGRIND_BINS) ## fuzzers for some seconds each; tests and command under valgrind
	@$(SETUP) deep test
	@selftests/run deep
check-vsoc: vsoc native oracle $(call group_bins,vsoc) ## the virtual SoC: model, QEMU glue, runner
	@selftests/run vsoc
check-kernel: vsoc forky native oracle $(call group_bins,kernel) ## the driver, in the guest
	@selftests/run kernel
check-ctr: vsoc forky native $(call group_bins,ctr) ## branch stacks from CTR, in the guest
	@selftests/run ctr
check-tools: vsoc native oracle $(call group_bins,tools) ## the command, from a running program to its report
	@$(SETUP) package tools
	@selftests/run tools
check-consumers: vsoc native oracle ## LLVM, AutoFDO and BOLT read what was recorded in the guest
	@$(SETUP) consumers cross
	@selftests/run consumers
check-patches: vsoc ## kernel/patches on the newest Debian kernel source: builds and boots it (long; not part of check)
	@$(SETUP) series
	@selftests/run patches

check-debug-kernel: vsoc debug ## both drivers in a kernel with lockdep, KASAN, kmemleak and others; takes an hour
	@selftests/run debug
check-kernel-static: forky qemu ## sparse, checkpatch and coccicheck over kernel/; dt-validate over the bindings
	@$(SETUP) static
	@selftests/run static

bench: vsoc oracle qemu-stock native ## benchmarks: tables, and build/bench.json
	@selftests/run --bench
fuzz: $(FUZZ_BINS) ## fuzzers, FUZZ_TIME seconds each (60)
	@set -e; for f in $(FUZZ_BINS); do \
		mkdir -p $(B)/fuzz/corpus/$${f##*/}; echo "fuzz: $${f##*/} for $(FUZZ_TIME) s"; \
		$$f -max_total_time=$(FUZZ_TIME) -artifact_prefix=$(B)/fuzz/ -print_final_stats=1 \
			$(B)/fuzz/corpus/$${f##*/} $$(ls -d selftests/fuzz/corpus/$${f##*/} 2>/dev/null); done
soak: vsoc forky native oracle $(call group_bins,soak) ## long runs that the test suite has no time for
	@selftests/run soak

FUZZ_FLAGS := -O1 -g -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all
fuzz-packages:
	@$(SETUP) deep
$(eval $(call compile,$(B)/fuzz/obj,clang,$(FUZZ_FLAGS)))
$(B)/fuzz/libntrace.a: $(LIB_SRC:%.c=$(B)/fuzz/obj/%.o)
	$(AR_)rm -f $@ && ar rcs $@ $^
$(FUZZ_BINS): $(B)/fuzz/%: $(B)/fuzz/obj/selftests/fuzz/%.o $(B)/fuzz/libntrace.a
	$(LINK)clang -fsanitize=fuzzer,address,undefined $^ -o $@ $(LIBS)
$(patsubst %.c,$(B)/fuzz/obj/%.o,$(FUZZ_SRC) $(LIB_SRC)): | fuzz-packages

.PHONY: check-debug-kernel check-kernel-static oracle format check check-lint check-lib check-deep check-vsoc check-kernel check-ctr check-tools check-consumers check-patches bench fuzz soak fuzz-packages
