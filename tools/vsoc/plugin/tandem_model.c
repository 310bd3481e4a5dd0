// SPDX-License-Identifier: GPL-2.0-only
/*
 * QEMU TCG plugin: makes this QEMU the model of a tandem verification, linked with the verifier.
 *
 *   -plugin tandem_model.so,trace=FILE[,OPTION[=VALUE]...]
 *
 * The options are those of `ntrace tandem verify` without the dashes, and so are output and exit
 * status, with which QEMU ends. A comma in a value is doubled, as everywhere in QEMU's options.
 *
 * The verifier asks the model for one instruction, and QEMU asks the plugin before each one. So the
 * verifier runs on a stack of its own in the thread of hart 0: to execute an instruction, it
 * switches to QEMU's stack, and QEMU's next call switches back. Other harts run free.
 *
 * QEMU's own interrupts stay pending while it is a model. -icount must not be used, because it runs
 * instructions twice that access devices.
 */
#include <glib.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

#include <qemu-plugin.h>

#include "ntrace_step.h"

#include "tandem/tandem.h"

QEMU_PLUGIN_EXPORT int qemu_plugin_version = QEMU_PLUGIN_VERSION;

#define STACK_SIZE (1u << 20)
#define ARGUMENTS_MAX 64

static struct qemu_plugin_register *handles[NTRACE_TANDEM_STATE_REGISTERS];
static GByteArray *bytes;
static ucontext_t qemu, verifier;
static bool started, ended, exiting;
static char *arguments[ARGUMENTS_MAX + 1];
static int argument_count;
static uint64_t xlen_mask = UINT64_MAX;

static int read_registers(void *data, const uint16_t *ids, uint64_t *values, size_t count)
{
	/* QEMU refuses to read satp in S mode with TVM, where it keeps its value. */
	static uint64_t last[NTRACE_TANDEM_STATE_REGISTERS];
	static bool was_read[NTRACE_TANDEM_STATE_REGISTERS];

	(void)data;
	for (size_t i = 0; i < count; i++) {
		uint64_t value = last[ids[i]];

		g_byte_array_set_size(bytes, 0);
		if (handles[ids[i]] && qemu_plugin_read_register(handles[ids[i]], bytes) > 0) {
			memcpy(&value, bytes->data, MIN(bytes->len, sizeof(value)));
			last[ids[i]] = value;
			was_read[ids[i]] = true;
		} else if (!was_read[ids[i]]) {
			return NTRACE_ERR_UNSUPPORTED;
		}
		/* "priv" has V in bit 2; CSRs of RV32 have 64 bits in QEMU for riscv64. */
		if (ids[i] == NTRACE_TANDEM_PRIV)
			value &= 3;
		else if (ids[i] < NTRACE_TANDEM_FPR || ids[i] >= NTRACE_TANDEM_REGISTERS)
			value &= xlen_mask;
		values[i] = value;
	}
	return 0;
}

static int write_registers(void *data, const uint16_t *ids, const uint64_t *values, size_t count)
{
	(void)data;
	for (size_t i = 0; i < count; i++) {
		if (!handles[ids[i]])
			return NTRACE_ERR_UNSUPPORTED;
		g_byte_array_set_size(bytes, 0);
		g_byte_array_append(bytes, (const uint8_t *)&values[i], sizeof(values[i]));
		/* A CSR that is read-only keeps its value; comparing shows whether it is right. */
		ntrace_step_write_register(handles[ids[i]], bytes);
	}
	return 0;
}

static int read_memory(void *data, uint64_t address, void *to, size_t size)
{
	(void)data;
	if (!qemu_plugin_read_memory_vaddr(address, bytes, size))
		return NTRACE_ERR_NOMAP;
	memcpy(to, bytes->data, size);
	return 0;
}

static int write_memory(void *data, uint64_t address, const void *from, size_t size)
{
	(void)data;
	g_byte_array_set_size(bytes, 0);
	g_byte_array_append(bytes, from, (guint)size);
	return ntrace_step_write_memory(address, bytes) ? 0 : NTRACE_ERR_NOMAP;
}

static int step(void *data)
{
	(void)data;
	swapcontext(&verifier, &qemu);
	return exiting ? NTRACE_ERR_EOS : 0;
}

static void run_verifier(void)
{
	struct ntrace_tandem_model model = {
		.size = sizeof(model),
		.read_registers = read_registers,
		.write_registers = write_registers,
		.read_memory = read_memory,
		.write_memory = write_memory,
		.step = step,
		.flags = NTRACE_TANDEM_MODEL_WFI_BLOCKS,
	};
	int status;

	g_byte_array_set_size(bytes, 0);
	qemu_plugin_read_register(handles[NTRACE_TANDEM_PC], bytes);
	model.xlen = 8 * bytes->len;
	if (model.xlen == 32)
		xlen_mask = UINT32_MAX;
	status = tandem_verify_linked(&model, argument_count, arguments);
	fflush(stdout);
	/* Within exit(), which does not begin again. */
	if (exiting)
		_exit(status);
	ended = true;
	exit(status);
}

static void on_step(unsigned int vcpu)
{
	if (vcpu || ended)
		return;
	if (!started) {
		started = true;
		getcontext(&verifier);
		verifier.uc_stack.ss_sp = g_malloc(STACK_SIZE);
		verifier.uc_stack.ss_size = STACK_SIZE;
		makecontext(&verifier, run_verifier, 0);
	}
	swapcontext(&qemu, &verifier);
}

static void on_vcpu(qemu_plugin_id_t id, unsigned int vcpu)
{
	GArray *list;

	(void)id;
	if (vcpu)
		return;
	list = qemu_plugin_get_registers();
	for (unsigned int i = 0; i < list->len; i++) {
		qemu_plugin_reg_descriptor *reg =
			&g_array_index(list, qemu_plugin_reg_descriptor, i);
		int number = ntrace_tandem_register_number(reg->name);

		if (number >= 0)
			handles[number] = reg->handle;
	}
	g_array_free(list, true);
}

/* User mode: the program forked. */
static void on_fork(void)
{
	ended = true;
}

static void on_exit_of_qemu(qemu_plugin_id_t id, void *data)
{
	(void)id;
	(void)data;
	if (ended)
		return;
	exiting = true;
	/* The last group may end QEMU: the verifier, which waits for its step, knows which is the last. */
	if (started)
		swapcontext(&qemu, &verifier);
	fputs("tandem_model: QEMU ended before its first instruction\n", stderr);
	fflush(stdout);
	_exit(EXIT_FAILED);
}

QEMU_PLUGIN_EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc,
					   char **argv)
{
	const char *trace = NULL;

	(void)info;
	arguments[argument_count++] = g_strdup("tandem");
	arguments[argument_count++] = g_strdup("verify");
	for (int i = 0; i < argc && argument_count < ARGUMENTS_MAX; i++) {
		/* The value of an option without one. */
		size_t length = strlen(argv[i]);
		bool flag = length > 3 && !strcmp(argv[i] + length - 3, "=on");

		if (!strncmp(argv[i], "trace=", 6))
			trace = argv[i] + 6;
		else
			arguments[argument_count++] =
				g_strdup_printf("--%.*s", (int)(length - (flag ? 3 : 0)), argv[i]);
	}
	if (!trace) {
		fputs("tandem_model: trace=FILE is needed\n", stderr);
		return -1;
	}
	arguments[argument_count++] = g_strdup(trace);
	bytes = g_byte_array_new();
	pthread_atfork(NULL, NULL, on_fork);
	ntrace_step_set_cb(on_step);
	qemu_plugin_register_vcpu_init_cb(id, on_vcpu);
	qemu_plugin_register_atexit_cb(id, on_exit_of_qemu, NULL);
	return 0;
}
