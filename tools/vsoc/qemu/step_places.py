# SPDX-License-Identifier: GPL-2.0-or-later
"""Additions to QEMU's plugin interface, in the form of PLACES of `apply`: ntrace_step.h describes them.

The headers of QEMU stay as they are, so that few files are compiled again.
"""

from places import literal

CALLED = """            if (unlikely(ntrace_step_cb) && !ntrace_step_begun) {
                ntrace_step_cb(cpu->cpu_index);
            }
            ntrace_step_begun = true;

"""

DEFINED = """
/* gdbstub/gdbstub.c */
int gdb_write_register(CPUState *cpu, uint8_t *mem_buf, int reg);

int ntrace_step_write_register(struct qemu_plugin_register *handle,
                               GByteArray *data)
{
    return gdb_write_register(current_cpu, data->data,
                              GPOINTER_TO_INT(handle) - 1);
}

bool ntrace_step_write_memory(uint64_t address, GByteArray *data)
{
    return cpu_memory_rw_debug(current_cpu, address, data->data, data->len,
                               true) >= 0;
}

/* For accel/tcg/cpu-exec.c */
void (*ntrace_step_cb)(unsigned int vcpu_index);

void ntrace_step_set_cb(void (*cb)(unsigned int vcpu_index))
{
    ntrace_step_cb = cb;
}
"""

PLACES = [
    ("gdbstub/gdbstub.c", "static int gdb_write_register(CPUState *cpu,",
     "int gdb_write_register(CPUState *cpu, uint8_t *mem_buf, int reg);\n"
     "int gdb_write_register(CPUState *cpu,"),
    ("plugins/api.c", '#include "plugin.h"\n\n/* Uninstall and Reset handlers */\n',
     '#include "plugin.h"\n#include "hw/riscv/ntrace/ntrace_step.h"\n\n/* Uninstall and Reset handlers */\n'),
    ("plugins/api.c",
     "    return gdb_read_register(current_cpu, buf, GPOINTER_TO_INT(reg) - 1);\n}\n", "{}" + literal(DEFINED)),
    ("scripts/qemu-plugin-symbols.py", "    syms.sort()\n",
     "    syms += ['ntrace_step_set_cb', 'ntrace_step_write_memory', 'ntrace_step_write_register']\n"
     "    expected += 3\n{}"),
    ("accel/tcg/cpu-exec.c", '#include "internal-target.h"\n',
     "{}\n"
     "/* plugins/api.c: called before each instruction of a model */\n"
     "extern void (*ntrace_step_cb)(unsigned int vcpu_index);\n"
     "/* It was called, and the instruction was not executed since. */\n"
     "static __thread bool ntrace_step_begun;\n"),
    ("accel/tcg/cpu-exec.c",
     "#if defined(CONFIG_USER_ONLY)\n    /*\n     * If user mode only, we simulate a fake exception",
     "    ntrace_step_begun = false;\n{}"),
    ("accel/tcg/cpu-exec.c", "        if (unlikely(cpu->singlestep_enabled & SSTEP_NOIRQ)) {\n",
     "        if (unlikely(ntrace_step_cb ||\n"
     "                     cpu->singlestep_enabled & SSTEP_NOIRQ)) {{\n"),
    ("accel/tcg/cpu-exec.c", "            cpu_get_tb_cpu_state(cpu_env(cpu), &pc, &cs_base, &flags);\n",
     literal(CALLED) + "{}"),
    ("accel/tcg/cpu-exec.c", "            if (check_for_breakpoints(cpu, pc, &cflags)) {\n",
     "            if (unlikely(ntrace_step_cb)) {{\n"
     "                cflags = (cflags & ~CF_COUNT_MASK) |\n"
     "                         CF_NO_GOTO_TB | CF_NO_GOTO_PTR | 1;\n"
     "            }}\n\n{}"),
    ("accel/tcg/cpu-exec.c", "            cpu_loop_exec_tb(cpu, tb, pc, &last_tb, &tb_exit);\n",
     "            ntrace_step_begun = false;\n{}"
     "            /* A block that somebody asked to leave has executed nothing. */\n"
     "            ntrace_step_begun = tb_exit == TB_EXIT_REQUESTED;\n"),
]
