# SPDX-License-Identifier: GPL-2.0-only
# The virtual SoC: QEMU with the trace blocks, guest image, kernel modules.

KMOD_VARIANT ?=
KMOD_CFLAGS ?=
# The plugin of the tests' oracle, see selftests/oracle/exec_log.c, the one that writes the tandem
# trace of a hart, and the one that verifies it.
PLUGINS := $(B)/plugin/exec_log.so $(B)/plugin/tandem_log.so $(B)/plugin/tandem_model.so

# One call of the package manager instead of three.
ifneq ($(filter qemu vsoc demo,$(MAKECMDGOALS)),)
NEEDS += suite qemu cross
endif

qemu: ## QEMU with the trace blocks; prints its path (build/qemu/qemu-system-riscv64)
	@tools/vsoc/qemu/build
qemu-stock: ## QEMU without them, what benchmarks compare with (build/qemu-stock)
	@tools/vsoc/qemu/build --stock
qemu-user: ## QEMU's user mode with plugins, for tandem traces of Linux programs (build/qemu-user/qemu-riscv64); takes minutes
	@tools/vsoc/user/build
guest: ## kernel, firmware and root file system of the guest (build/guest.env)
	@tools/vsoc/guest/build
modules: ## kernel modules for the guest's kernel in build/kernel (KMOD_VARIANT=name KMOD_CFLAGS=... for another build)
	@tools/setup/kbuild . "$(CURDIR)/$(B)/kernel$(KMOD_VARIANT:%=-%)" "$(KMOD_CFLAGS)"
forky: ## the same with kernel 7.x of Debian forky, for `tools/vsoc/run --kernel forky`; skipped where that cannot be fetched
	@tools/vsoc/guest/second forky
debug: guest ## kernel with debugging options and the modules for it, for `tools/vsoc/run --kernel debug`
	@tools/vsoc/guest/debug
# The model is linked with `ntrace tandem` and the library. They are made before, not at the same time by two makes.
MODEL_PARTS := $(patsubst %.c,$(B)/obj/%.o,$(sort $(wildcard tools/ntrace/tandem/*.c tools/ntrace/common/*.c))) $(B)/libntrace.a
plugins: qemu $(MODEL_PARTS) ## the QEMU plugins: witness of what ran (build/plugin/exec_log.so), tandem trace (tandem_log.so) and its model (tandem_model.so)
	@$(MAKE) --no-print-directory $(PLUGINS)
vsoc: qemu guest modules riscv64 plugins ## all that a run of the virtual SoC needs

$(B)/plugin/%.so: selftests/oracle/%.c selftests/oracle/log.h selftests/oracle/exec_code.h $(B)/qemu/include/qemu-plugin.h
	@mkdir -p $(@D)
	$(LINK)$(CC) -std=gnu11 -Wall -Wextra $(WERROR) -O2 -g -fPIC -shared -fvisibility=hidden \
		-I$(B)/qemu/include $$(pkg-config --cflags glib-2.0) $< -o $@
$(B)/plugin/tandem_log.so: tools/vsoc/plugin/tandem_log.c tools/vsoc/plugin/user_memory.c tools/vsoc/plugin/user_memory.h \
		tools/vsoc/user/ntrace_user.h $(wildcard lib/tandem/*.[ch]) lib/include/ntrace/tandem.h $(B)/qemu/include/qemu-plugin.h
	@mkdir -p $(@D)
	$(LINK)$(CC) -std=gnu11 -Wall -Wextra $(WERROR) -O2 -g -fPIC -shared -fvisibility=hidden -Ilib/include -Ilib \
		-Itools/vsoc/user -I$(B)/qemu/include $$(pkg-config --cflags glib-2.0) $(filter tools/%.c,$^) lib/tandem/names.c lib/tandem/read.c \
		lib/tandem/write.c -o $@

$(B)/plugin/tandem_model.so: tools/vsoc/plugin/tandem_model.c tools/vsoc/qemu/ntrace_step.h $(B)/qemu/include/qemu-plugin.h $(MODEL_PARTS)
	@mkdir -p $(@D)
	$(LINK)$(CC) -std=gnu11 -Wall -Wextra $(WERROR) -O2 -g -fPIC -shared -fvisibility=hidden -Wl,--exclude-libs,ALL -Ilib/include -Ilib \
		-Itools/ntrace -Itools/vsoc/qemu -I$(B)/qemu/include $$(pkg-config --cflags glib-2.0) $(filter %.c %.o %.a,$^) -o $@ \
		$(CMD_LIBS) $(LIBS)

# The example of a server for the co-simulation port.
$(B)/vsoc/remote_server: tools/vsoc/remote_server.c tools/vsoc/remote.h $(B)/libmodel.a $(B)/libntrace.a
	@mkdir -p $(@D)
	$(LINK)$(CC) $(STD) $(WARN) $(WERROR) $(INC) -Itools/vsoc -O2 -g $(filter %.c %.a,$^) -o $@ $(LIBS)

# The trace encoder in Verilog, behind the same port.
RTL := selftests/vsoc/rtl
$(B)/vsoc/rtl_server: $(wildcard $(RTL)/*.v) $(RTL)/server.cc tools/vsoc/remote.h
	@$(SETUP) rtl
	@mkdir -p $(B)/vsoc/rtl
	$(LINK)verilator --cc --exe --build -Wall -Wno-UNUSEDSIGNAL --top-module trace_soc -GHARTS=2 -y $(RTL) --Mdir $(B)/vsoc/rtl \
		-MAKEFLAGS "OPT_FAST=-O2 OPT_GLOBAL=-O1" -CFLAGS "-DHARTS=2 -I$(CURDIR)/tools/vsoc" $(RTL)/trace_soc.v \
		$(CURDIR)/$(RTL)/server.cc -o ../rtl_server >$(B)/vsoc/rtl/log 2>&1 || { cat $(B)/vsoc/rtl/log; exit 1; }

demo-fdo: vsoc native ## profiles Lua on the virtual SoC, builds it again with the profiles, counts what that gains
	@$(SETUP) consumers suite
	@tools/demo-fdo
demo-kernel-fdo: vsoc native patches ## the same with Debian's newest kernel, recorded by /dev/ntrace0; long; KASAN=1: boots the result with the address sanitizer, too
	@$(SETUP) series suite
	@tools/kernel-fdo/demo $(if $(KASAN),--kasan)
# A demo needs neither the test programs nor the shared library. The slowest
# goal comes first.
demo: qemu guest modules $(R)/ntrace $(B)/ntrace ## records a real program on the virtual SoC and prints its profile; TOPOLOGY=p550 or k3: on a board's trace blocks; OPTIONS="...": of ntrace record
	@tools/demo
.PHONY: qemu qemu-stock qemu-user guest modules forky debug plugins vsoc demo demo-fdo demo-kernel-fdo
