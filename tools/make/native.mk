# SPDX-License-Identifier: GPL-2.0-only
# The library and the command for this machine. Sources are found by name, so a
# new file needs no change here.

WARN := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes
INC := -Ilib/include -Ilib -Ikernel/include -Ikernel/include/uapi -Itools/vsoc/model
STD := -std=c11 -D_GNU_SOURCE
# Libraries that libntrace needs: those with a pkg-config file, and the others.
LIB_MODULES := libdw libelf liblzma libzstd zlib
LIB_OTHERS := -ldl -pthread -lm
LIBS := -ldw -lelf -llzma -lzstd -lz $(LIB_OTHERS)
# What the command needs besides: the terminal of ntrace browse.
CMD_LIBS := -lncursesw -ltinfo

LIB_SRC := $(sort $(wildcard lib/*/*.c))
MODEL_SRC := $(sort $(wildcard tools/vsoc/model/*.c))
CMD_SRC := $(sort $(filter-out %.bpf.c,$(wildcard $(addprefix tools/ntrace/,*.c */*.c */*/*.c))))

# compile DIR COMPILER FLAGS: rules for objects of one kind below DIR.
define compile
$(1)/%.o: %.c $(1)/.flags | host-packages
	@mkdir -p $$(@D)
	$$(if $$(V),,@echo "  CC      $$@")
	$$(if $$(V),,@)$(2) $(STD) $(WARN) $$(WERROR) $$(INC) $(3) -MMD -MP -c $$< -o $$@
# A change of flags or compiler rebuilds the objects. -Werror is not among these flags, so `make
# install` after `make check` compiles nothing.
$(1)/.flags: FORCE
	@mkdir -p $$(@D)
	@echo '$(2) $(STD) $(WARN) $(INC) $(3)' | cmp -s - $$@ || echo '$(2) $(STD) $(WARN) $(INC) $(3)' >$$@
endef
LINK = $(if $(V),,@echo "  LINK    $@";)
AR_ = $(if $(V),,@echo "  AR      $@";)

CC := $(if $(filter default undefined,$(origin CC)),gcc,$(CC))
SAN := -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
# One kind of objects for libntrace.a and libntrace.so: with hidden names, -fPIC costs no instruction
# that the limits of selftests/lib/fast_paths.sh would notice.
$(eval $(call compile,$(B)/obj,$(CC),$(CFLAGS) -fPIC -fvisibility=hidden))
$(eval $(call compile,$(B)/san/obj,$(CC),-O1 -g $(SAN)))

LIB_MAP := $(wildcard lib/libntrace.map)
SOVERSION := 0

native: lib $(if $(CMD_SRC),$(B)/ntrace)
lib: $(B)/libntrace.a $(if $(LIB_SRC),$(B)/libntrace.so $(B)/libntrace-uninstalled.pc) ## build/libntrace.a and build/libntrace.so alone

# Make the archive anew: `ar` would keep the object of a removed source.
$(B)/obj/libntrace.a: $(LIB_SRC:%.c=$(B)/obj/%.o)
	$(AR_)rm -f $@ && ar rcs $@ $^
# Internal global names get a prefix, so that they do not collide with a program's. Linking
# everything into one object with local symbols would work too, but would pull the whole library
# into every program.
$(B)/libntrace.a: $(B)/obj/libntrace.a
	$(AR_)nm -g --defined-only $< | awk 'NF == 3 && $$3 !~ /^ntrace_/ { print $$3, "ntrace_internal_" $$3 }' | \
		sort -u >$(B)/obj/internal.syms && objcopy --redefine-syms=$(B)/obj/internal.syms $< $@
$(B)/libmodel.a: $(MODEL_SRC:%.c=$(B)/obj/%.o)
	$(AR_)rm -f $@ && ar rcs $@ $^
$(B)/san/libntrace.a: $(LIB_SRC:%.c=$(B)/san/obj/%.o)
	$(AR_)rm -f $@ && ar rcs $@ $^
$(B)/san/libmodel.a: $(MODEL_SRC:%.c=$(B)/san/obj/%.o)
	$(AR_)rm -f $@ && ar rcs $@ $^
$(B)/libntrace.so.$(SOVERSION): $(LIB_SRC:%.c=$(B)/obj/%.o) $(LIB_MAP)
	$(LINK)$(CC) $(LDFLAGS) -shared -Wl,-soname,$(@F) -Wl,--no-undefined $(LIB_MAP:%=-Wl,--version-script=%) \
		$(filter %.o,$^) -o $@ $(LIBS)
$(B)/libntrace.so: $(B)/libntrace.so.$(SOVERSION)
	@ln -sf $(<F) $@
# Link the library statically: the command works from the build directory and after an installation.
$(B)/ntrace: $(CMD_SRC:%.c=$(B)/obj/%.o) $(B)/libntrace.a
	$(LINK)$(CC) $(LDFLAGS) $(filter %.o %.a,$^) -o $@ $(CMD_LIBS) $(LIBS)
$(B)/san/ntrace: $(CMD_SRC:%.c=$(B)/san/obj/%.o) $(B)/san/libntrace.a
	$(LINK)$(CC) $(LDFLAGS) $(SAN) $^ -o $@ $(CMD_LIBS) $(LIBS)

# The command embeds the page of ntrace report --html.
$(addsuffix /tools/ntrace/report/html/page.o,$(B)/obj $(B)/san/obj $(B)/riscv64/obj): $(wildcard $(addprefix tools/ntrace/report/html/*.,html css js))

# Sources of the command include headers of its other directories as "common/ui.h".
CMD_INC := -Itools/ntrace
$(addsuffix /tools/ntrace/%.o,$(B)/obj $(B)/san/obj $(B)/fuzz/obj $(B)/riscv64/obj): private INC := $(CMD_INC) $(INC)

# ntrace ctr trace needs libbpf, and clang for the BPF programs that it embeds. BPF= builds without; then it
# says so. So does the command with the sanitizers.
ifeq ($(origin BPF),undefined)
BPF := $(shell command -v clang >/dev/null && echo '#include <bpf/libbpf.h>' | $(CC) $(CFLAGS) -fsyntax-only -x c - 2>/dev/null && echo yes)
endif
BPF_OBJECT := $(B)/bpf/trace.bpf.o
define compile_bpf
	@$(SETUP) bpf
	@mkdir -p $(@D)
	$(if $(V),,@echo "  BPF     $@";)clang -target bpf -mcpu=v3 -O2 -g -Wall -Wextra $(WERROR) \
		-I/usr/include/$$($(CC) -print-multiarch) $(CMD_INC) -c $< -o $@
endef
$(B)/bpf/%.bpf.o: tools/ntrace/ctr/bpf/%.bpf.c tools/ntrace/ctr/%.h
	$(compile_bpf)
CTR_OBJECTS := $(patsubst %.c,$(B)/obj/%.o,$(filter tools/ntrace/ctr/%,$(CMD_SRC)))
ifneq ($(BPF),)
$(B)/ntrace: CMD_LIBS += -lbpf
$(CTR_OBJECTS): private INC := $(CMD_INC) $(INC) -DNTRACE_BPF=$(BPF_OBJECT)
$(B)/obj/tools/ntrace/ctr/trace_bpf.o: $(BPF_OBJECT)
endif
$(CTR_OBJECTS) $(B)/ntrace: $(B)/obj/.bpf
$(B)/obj/.bpf: FORCE
	@mkdir -p $(@D)
	@echo '$(BPF)' | cmp -s - $@ || echo '$(BPF)' >$@

san: $(if $(CMD_SRC),$(B)/san/ntrace,$(B)/san/libntrace.a) ## library and command with address and undefined-behaviour sanitizers in build/san

# Runs once per make, before any compilation.
host-packages:
	@CC='$(CC)' CFLAGS='$(CFLAGS)' $(SETUP) $(NEEDS)

-include $(shell find $(B) -type f -name '*.d' 2>/dev/null)
FORCE:
.PHONY: native lib san host-packages FORCE
