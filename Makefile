# SPDX-License-Identifier: GPL-2.0-only
# `make help` lists the targets. Everything built is below build/; what is
# fetched or takes long is kept in ${XDG_CACHE_HOME:-~/.cache}/ntrace.
# `make` installs nothing on this machine: `make deps` and the goals of INSTALLING do.

SHELL := /bin/bash
.DELETE_ON_ERROR:
.SUFFIXES:
MAKEFLAGS += --no-builtin-rules

# Downloads and builds overlap. `make -j1` is for those who want them one by one. make 4.3 shows
# the -j of a make that calls this one in the environment only.
ifeq ($(filter -j% --jobs%,$(MAKEFLAGS) $(shell printf %s "$$MAKEFLAGS")),)
MAKEFLAGS += -j$(shell nproc)
endif

B := build
CFLAGS ?= -O2 -g
SETUP := tools/setup/host-packages
# Groups of host packages that the goals of this run need.
NEEDS := base

# These goals install missing Debian packages; all others only name them. The scripts that a
# goal runs see the variable, too.
INSTALLING := deps demo demo-fdo demo-kernel-fdo check check-% bench soak fuzz format
ifneq ($(filter $(INSTALLING),$(MAKECMDGOALS)),)
export NTRACE_INSTALL := 1
endif
# A newer compiler may warn of more: warnings fail the tests, not a user's build.
WERROR ?= $(if $(CI)$(filter check check-%,$(MAKECMDGOALS)),-Werror)
export WERROR

all: native lib ## library and command

# make deps DEPS="GROUP...": groups are listed in tools/setup/host-packages.
deps: ## installs the Debian packages that `make` needs, with apt-get; DEPS=vsoc, DEPS=check for more
	@$(SETUP) $(or $(DEPS),base)

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

.PHONY: all deps clean distclean cache-clean help
