# SPDX-License-Identifier: GPL-2.0-only
# Installation, with the variables of the GNU standards; DESTDIR precedes all of them. `make
# install` and `make uninstall` need the same values.

PREFIX ?= /usr/local
prefix ?= $(PREFIX)
exec_prefix ?= $(prefix)
bindir ?= $(exec_prefix)/bin
libdir ?= $(exec_prefix)/lib
includedir ?= $(prefix)/include
datarootdir ?= $(prefix)/share
mandir ?= $(datarootdir)/man
pkgconfigdir ?= $(libdir)/pkgconfig
bashcompletiondir ?= $(datarootdir)/bash-completion/completions
udevrulesdir ?= $(prefix)/lib/udev/rules.d
systemdunitdir ?= $(prefix)/lib/systemd/system
# Directory where Python looks below this prefix; Debian has other directories.
pythondir ?= $(prefix)/lib/python3$(if $(wildcard /etc/debian_version),$(if \
	$(filter-out /usr,$(prefix)),.$(PYTHON_MINOR))/dist-packages,.$(PYTHON_MINOR)/site-packages)
PYTHON_MINOR = $(shell python3 -c 'import sys; print(sys.version_info[1])')
# DKMS looks only here.
dkmsdir ?= /usr/src/ntrace-$(VERSION)
INSTALL ?= install
INSTALL_DATA ?= $(INSTALL) -m 644

VERSION := $(shell sed -n 's/^.define NTRACE_VERSION "\(.*\)"$$/\1/p' lib/include/ntrace/version.h)
HEADERS := $(sort $(wildcard lib/include/ntrace/*.h))
PYTHON := $(sort $(wildcard lib/python/ntrace/*.py)) lib/python/ntrace/py.typed
MAN_PAGES := $(sort $(wildcard Documentation/man/*.1))
D = $(DESTDIR)
# Prefix in libntrace.pc, relative to the file's own directory so that the installed tree can be
# moved.
space := $(subst ,, )
pcprefix = $(if $(filter $(prefix)/%,$(pkgconfigdir)),$${pcfiledir}/$(subst $(space),/,$(patsubst \
	%,..,$(subst /, ,$(pkgconfigdir:$(prefix)/%=%)))),$(prefix))

html: ## documentation, manual pages and the reference of the API as HTML: build/html/index.html
	@$(SETUP) html suite
	@tools/html
.PHONY: html

# $(call write_pc,PREFIX,LIBDIR,INCLUDEDIR)
define write_pc
@mkdir -p $(@D)
@sed -e 's#@prefix@#$1#; s#@libdir@#$2#; s#@includedir@#$3#; s#@version@#$(VERSION)#' \
	-e 's#@requires@#$(LIB_MODULES)#; s#@private@#$(LIB_OTHERS)#' $< >$@
endef
$(B)/libntrace.pc: lib/libntrace.pc.in lib/include/ntrace/version.h FORCE
	$(call write_pc,$(pcprefix),$(libdir:$(prefix)/%=$${prefix}/%),$(includedir:$(prefix)/%=$${prefix}/%))
# pkg-config prefers this name: PKG_CONFIG_PATH=build is enough for programs that use the build.
$(B)/libntrace-uninstalled.pc: lib/libntrace.pc.in lib/include/ntrace/version.h tools/make/install.mk
	$(call write_pc,$${pcfiledir}/..,$${pcfiledir},$${prefix}/lib/include)

# The compiled BPF programs are embedded in the command, if it has them.
install: install-lib install-command $(if $(shell command -v python3),install-python) ## installs library, headers, command, manual pages, Python module; PREFIX=/usr/local DESTDIR=

install-lib: lib $(B)/libntrace.pc
	$(INSTALL) -d $(D)$(libdir) $(D)$(includedir)/ntrace $(D)$(pkgconfigdir)
	$(INSTALL_DATA) $(B)/libntrace.so.$(SOVERSION) $(D)$(libdir)/libntrace.so.$(VERSION)
	ln -sf libntrace.so.$(VERSION) $(D)$(libdir)/libntrace.so.$(SOVERSION)
	ln -sf libntrace.so.$(SOVERSION) $(D)$(libdir)/libntrace.so
	$(INSTALL_DATA) $(B)/libntrace.a $(D)$(libdir)/
	$(INSTALL_DATA) $(HEADERS) $(D)$(includedir)/ntrace/
	$(INSTALL_DATA) $(B)/libntrace.pc $(D)$(pkgconfigdir)/

install-command: native
	$(INSTALL) -d $(D)$(bindir) $(D)$(mandir)/man1 $(D)$(bashcompletiondir) $(D)$(udevrulesdir) $(D)$(systemdunitdir)
	$(INSTALL) $(B)/ntrace $(D)$(bindir)/
	$(INSTALL_DATA) $(MAN_PAGES) $(D)$(mandir)/man1/
	$(INSTALL_DATA) tools/install/completion.bash $(D)$(bashcompletiondir)/ntrace
	$(INSTALL_DATA) tools/install/60-ntrace.rules $(D)$(udevrulesdir)/
	sed 's#/usr/bin/#$(bindir)/#' tools/install/ntrace-collect.service >$(D)$(systemdunitdir)/ntrace-collect.service
	chmod 644 $(D)$(systemdunitdir)/ntrace-collect.service

# Tests for a machine with hardware, built for RISC-V: COLLECTION:GROUP. The makefiles of the groups would build them in
# a kernel tree, too.
SELFTESTS := ntrace:kernel riscv_ctr:ctr ntrace_tools:tools
selftestsdir ?= $(exec_prefix)/libexec/ntrace-selftests
SELFTESTS_CC = $(if $(filter riscv64,$(shell uname -m)),$(CC),$(CURDIR)/$(RISCV_CC))
install-selftests: $(if $(filter riscv64,$(shell uname -m)),host-packages,$(RISCV_CC)) ## tests of drivers and command for a machine with hardware: PREFIX/libexec/ntrace-selftests
	@$(SETUP) bpf
	$(INSTALL) -d $(D)$(selftestsdir)
	$(INSTALL) selftests/run_kselftest.sh $(D)$(selftestsdir)/
	@for pair in $(SELFTESTS); do \
		$(MAKE) -C selftests/$${pair#*:}/guest -I $(CURDIR)/selftests/include CC='$(SELFTESTS_CC)' \
			OUTPUT=$(CURDIR)/$(B)/selftests-installed/$${pair#*:} KHDR_INCLUDES=-I$(CURDIR)/kernel/include/uapi \
			BPF_CFLAGS=-I/usr/include/$$($(CC) -print-multiarch) \
			INSTALL_PATH='$(abspath $(D)$(selftestsdir))'/$${pair%:*} install || exit; \
	done
.PHONY: install-selftests

install-python:
	$(INSTALL) -d $(D)$(pythondir)/ntrace
	$(INSTALL_DATA) $(PYTHON) $(D)$(pythondir)/ntrace/

uninstall: ## removes what `make install` and `make install-selftests` with the same variables install
	rm -f $(addprefix $(D)$(libdir)/,libntrace.a libntrace.so libntrace.so.$(SOVERSION) libntrace.so.$(VERSION)) \
		$(D)$(pkgconfigdir)/libntrace.pc $(addprefix $(D)$(includedir)/ntrace/,$(notdir $(HEADERS))) \
		$(D)$(bindir)/ntrace $(addprefix $(D)$(mandir)/man1/,$(notdir $(MAN_PAGES))) \
		$(D)$(bashcompletiondir)/ntrace $(D)$(udevrulesdir)/60-ntrace.rules \
		$(D)$(systemdunitdir)/ntrace-collect.service \
		$(addprefix $(D)$(pythondir)/ntrace/,$(notdir $(PYTHON)))
	rm -rf $(D)$(pythondir)/ntrace/__pycache__ $(D)$(selftestsdir)
	rmdir $(D)$(includedir)/ntrace $(D)$(pythondir)/ntrace 2>/dev/null || true

# For the kernel of this machine run: dkms install ntrace/VERSION
install-dkms: ## installs the sources of the kernel modules for DKMS, in /usr/src
	$(INSTALL) -d $(D)$(dkmsdir)
	cp -r kernel/Kbuild kernel/ntrace kernel/ctr kernel/include $(D)$(dkmsdir)/
	sed 's/#MODULE_VERSION#/$(VERSION)/' kernel/dkms.conf >$(D)$(dkmsdir)/dkms.conf

dist: ## the source of the last commit as build/ntrace-VERSION.tar.xz; DIST=DIR for another place
	@tools/setup/dist $(DIST)

deb: ## Debian packages of that tarball for this machine's architecture, and their source package, in build/deb
	@tools/setup/deb $(OUT)

.PHONY: install-dkms dist deb install install-lib install-command install-python uninstall
