# SPDX-License-Identifier: GPL-2.0-only
# Stands in for tools/testing/selftests/lib.mk of the kernel, where selftests/*/guest are not in a kernel tree: `make
# install-selftests` calls their makefiles with -I selftests/include. The variables are those of the kernel's file
# (Documentation/dev-tools/kselftest.rst there).
#   OUTPUT        directory for what is built (the current one)
#   INSTALL_PATH  directory for programs, scripts and files

here := $(patsubst %/,%,$(dir $(lastword $(MAKEFILE_LIST))))
OUTPUT ?= $(CURDIR)
CFLAGS += -D_GNU_SOURCE -I$(here)/include
TEST_GEN_PROGS := $(addprefix $(OUTPUT)/,$(TEST_GEN_PROGS))
TEST_GEN_FILES := $(addprefix $(OUTPUT)/,$(TEST_GEN_FILES))

all: $(TEST_GEN_PROGS) $(TEST_GEN_FILES)

$(OUTPUT)/%: %.c
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(LDFLAGS) $< -o $@ $(LDLIBS)

# The runner reads kselftest-list.txt: what runs without arguments, in this order.
install: all
	mkdir -p $(INSTALL_PATH)
	cp -L $(TEST_GEN_PROGS) $(TEST_GEN_FILES) $(TEST_PROGS) $(TEST_PROGS_EXTENDED) $(TEST_FILES) $(wildcard config settings) $(INSTALL_PATH)/
	printf '%s\n' $(notdir $(TEST_GEN_PROGS) $(TEST_PROGS)) >$(INSTALL_PATH)/kselftest-list.txt

.DEFAULT_GOAL := all
.PHONY: all install
