# SPDX-License-Identifier: GPL-2.0-only
# Programs that run in the guest: the command, and test programs from selftests/GROUP/guest/*.c as
# build/riscv64/selftests/GROUP/NAME.

R := $(B)/riscv64
RISCV_CC := $(R)/cc
GUEST_TESTS := $(sort $(filter-out %.bpf.c,$(wildcard selftests/*/guest/*.c)))
GUEST_TEST_BINS := $(foreach t,$(GUEST_TESTS),$(R)/selftests/$(word 2,$(subst /, ,$(t)))/$(basename $(notdir $(t))))

# The test scripts are copied next to the programs, so that a guest needs only this directory.
GUEST_SCRIPTS := $(sort $(wildcard selftests/*/guest/*.sh selftests/*/guest/*.py))
GUEST_SCRIPT_COPIES := $(foreach t,$(GUEST_SCRIPTS),$(R)/selftests/$(word 2,$(subst /, ,$(t)))/$(notdir $(t))) $(R)/selftests/jobs.sh

# BPF programs of the tests, beside the programs that load them.
GUEST_BPF := $(sort $(wildcard selftests/*/guest/*.bpf.c))
GUEST_BPF_OBJECTS := $(foreach t,$(GUEST_BPF),$(R)/selftests/$(word 2,$(subst /, ,$(t)))/$(basename $(notdir $(t))).o)

riscv64: $(if $(CMD_SRC),$(R)/ntrace) $(GUEST_TEST_BINS) $(GUEST_BPF_OBJECTS) $(GUEST_SCRIPT_COPIES) ## the command and test programs for the guest in build/riscv64

# A link to the compiler command that tools/setup/cross prints.
$(RISCV_CC): FORCE
	@mkdir -p $(@D)
	@$(SETUP) suite cross $(if $(CMD_SRC),bpf)
	@path=$$(tools/setup/cross) && { [ "$$(readlink $@)" = "$$path" ] || ln -sfn "$$path" $@; }

GUEST_LIBS := -l:libbpf.a $(LIBS)
$(R)/obj/tools/ntrace/ctr/trace_bpf.o: $(BPF_OBJECT)

# Debug information of the guest's command would cost a sixth of its compilation, and nothing reads it.
$(eval $(call compile,$(R)/obj,$(RISCV_CC),$(filter-out -g,$(CFLAGS)) -DNTRACE_BPF=$(BPF_OBJECT)))
$(sort $(patsubst %.c,$(R)/obj/%.o,$(LIB_SRC) $(CMD_SRC))): | $(RISCV_CC)
$(R)/libntrace.a: $(LIB_SRC:%.c=$(R)/obj/%.o)
	$(AR_)rm -f $@ && riscv64-linux-gnu-ar rcs $@ $^
$(R)/ntrace: $(CMD_SRC:%.c=$(R)/obj/%.o) $(R)/libntrace.a
	$(LINK)$(RISCV_CC) $^ -o $@ $(CMD_LIBS) $(GUEST_LIBS)

define guest_test
$(R)/selftests/$(word 2,$(subst /, ,$(1)))/$(basename $(notdir $(1))): $(1) $(R)/libntrace.a | $(RISCV_CC)
	@mkdir -p $$(@D)
	$$(LINK)$(RISCV_CC) $(STD) $(WARN) $$(WERROR) $(INC) -Iselftests/lib -Iselftests/include $$(CFLAGS) -MMD -MP $$(filter %.c %.a,$$^) -o $$@ $$(GUEST_LIBS)
endef
$(foreach t,$(GUEST_TESTS),$(eval $(call guest_test,$(t))))
# Without libraries.
$(R)/selftests/ctr/apart: CFLAGS += -nostdlib -static -no-pie -Wl,-Ttext-segment=0x70000000,--no-relax
$(R)/selftests/ctr/apart: GUEST_LIBS :=

define guest_bpf
$(R)/selftests/$(word 2,$(subst /, ,$(1)))/$(basename $(notdir $(1))).o: $(1) $(wildcard $(1:.bpf.c=.h))
	$$(compile_bpf)
endef
$(foreach t,$(GUEST_BPF),$(eval $(call guest_bpf,$(t))))
$(R)/selftests/ctr/records.bpf.o: selftests/ctr/guest/branches.bpf.c selftests/ctr/guest/branches.h

define guest_script
$(R)/selftests/$(word 2,$(subst /, ,$(1)))/$(notdir $(1)): $(1)
	@mkdir -p $$(@D) && cp -L --preserve=mode --remove-destination $$< $$@
endef
$(foreach t,$(GUEST_SCRIPTS),$(eval $(call guest_script,$(t))))
$(R)/selftests/jobs.sh: selftests/jobs.sh
	@mkdir -p $(@D) && cp --preserve=mode $< $@
.PHONY: riscv64
