# SPDX-License-Identifier: GPL-2.0-only
# `make help` lists the targets. Everything built is below build/; what is
# fetched or takes long is kept in ${XDG_CACHE_HOME:-~/.cache}/ntrace.

SHELL := /bin/bash
.DELETE_ON_ERROR:
.SUFFIXES:
MAKEFLAGS += --no-builtin-rules

# Downloads and builds overlap. `make -j1` is for those who want them one by one.
ifeq ($(filter -j% --jobs%,$(MAKEFLAGS)),)
MAKEFLAGS += -j$(shell nproc)
endif

B := build
CFLAGS ?= -O2 -g
WERROR ?= -Werror
SETUP := tools/setup/host-packages
# Groups of host packages that the goals of this run need.
NEEDS := base

all: native riscv64 ## everything but the virtual SoC: library, command, riscv64 build for the guest

include tools/make/native.mk
include tools/make/riscv64.mk
include tools/make/vsoc.mk
include tools/make/check.mk
include tools/make/install.mk

clean: ## removes build/
	rm -rf $(B)

distclean: clean ## the same; the cache outside the tree stays

cache-clean: ## removes the cache as well: the next build fetches and builds it all again
	rm -rf "$${XDG_CACHE_HOME:-$$HOME/.cache}/ntrace"

help: ## this list
	@awk -F ':[^#]*## ' '/^[a-z][a-z0-9-]*:.*## / { printf "  %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: all clean distclean cache-clean help
