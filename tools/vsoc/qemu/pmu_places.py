# SPDX-License-Identifier: GPL-2.0-or-later
"""Changes to QEMU's performance counters, in the form of PLACES of `apply`, so that no overflow
interrupt is lost.

QEMU 10.0 loses overflow interrupts in four ways:
- irq_overflow_left keeps the part of a delay above 2^63 ns. Firmware enables a counter before it
  writes its value. The old value is far from the overflow, and the rest of its delay stays in
  irq_overflow_left. The timer for the new value then defers the overflow by centuries.
- The timer runs in the main loop's thread, the hart in its own. Both change the counts per
  privilege mode, the events and their OF bits, so one change can undo the other.
- The cycle counter counts host ticks, the timer nanoseconds: at 3 GHz the interrupt comes after
  three times the requested cycles. With -icount, it counts the instructions of all harts.
- A table has one counter per event. A second counter of the same event does not count, and a
  counter whose event changes keeps the old event as well.
"""

# One source for both counts. Without -icount, it is the virtual clock, at the 1 GHz that timers
# assume. With -icount, it is the number of instructions that this hart has executed, without those
# of other harts, which advance the same clock. The timer may thus expire early, and then starts
# again.
CLOCK = [
    ("target/riscv/cpu.h", "    target_ulong sscratch;\n    target_ulong mscratch;\n",
     "    /* With -icount: what this hart has executed before, and since when it runs now */\n"
     "    int64_t icount_own;\n"
     "    int64_t icount_entered;\n"
     "    bool icount_running;\n"
     "\n{}"),
    ("target/riscv/pmu.h", "void riscv_pmu_init(RISCVCPU *cpu, Error **errp);\n",
     "{}uint64_t riscv_pmu_ticks(CPURISCVState *env, bool instructions);\n"
     "void riscv_pmu_exec_enter(CPUState *cs);\n"
     "void riscv_pmu_exec_exit(CPUState *cs);\n"),
    ("target/riscv/tcg/tcg-cpu.c", "    .cpu_exec_interrupt = riscv_cpu_exec_interrupt,\n",
     "{}    .cpu_exec_enter = riscv_pmu_exec_enter,\n"
     "    .cpu_exec_exit = riscv_pmu_exec_exit,\n"),
    ("target/riscv/pmu.c", "static int riscv_pmu_incr_ctr_rv32(",
     "void riscv_pmu_exec_enter(CPUState *cs)\n"
     "{{\n"
     "    CPURISCVState *env = cpu_env(cs);\n"
     "\n"
     "    if (icount_enabled()) {{\n"
     "        env->icount_entered = icount_get_raw();\n"
     "        env->icount_running = true;\n"
     "        if (env->pmu_halted) {{\n"
     "            env->pmu_halted = false;\n"
     "            riscv_pmu_look_for_overflow(env);\n"
     "        }}\n"
     "    }}\n"
     "}}\n"
     "\n"
     "void riscv_pmu_exec_exit(CPUState *cs)\n"
     "{{\n"
     "    CPURISCVState *env = cpu_env(cs);\n"
     "\n"
     "    if (icount_enabled()) {{\n"
     "        env->icount_own += icount_get_raw() - env->icount_entered;\n"
     "        env->icount_running = false;\n"
     "    }}\n"
     "}}\n"
     "\n"
     "uint64_t riscv_pmu_ticks(CPURISCVState *env, bool instructions)\n"
     "{{\n"
     "    int64_t own = env->icount_own;\n"
     "\n"
     "    if (!icount_enabled()) {{\n"
     "        return qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL);\n"
     "    }}\n"
     "    if (env->icount_running) {{\n"
     "        own += icount_get_raw() - env->icount_entered;\n"
     "    }}\n"
     "    return instructions ? own : icount_to_ns(own);\n"
     "}}\n"
     "\n{}"),
    ("target/riscv/pmu.c",
     "    if (icount_enabled()) {\n"
     "        current_icount = icount_get_raw();\n"
     "    } else {\n"
     "        current_icount = cpu_get_host_ticks();\n"
     "    }\n",
     "    current_icount = riscv_pmu_ticks(env, true);\n"),
    ("target/riscv/pmu.c",
     "    if (icount_enabled()) {\n"
     "        current_ticks = icount_get();\n"
     "    } else {\n"
     "        current_ticks = cpu_get_host_ticks();\n"
     "    }\n",
     "    current_ticks = riscv_pmu_ticks(env, false);\n"),
    ("target/riscv/csr.c",
     "        if (icount_enabled()) {\n"
     "                curr_val = inst ? icount_get_raw() : icount_get();\n"
     "        } else {\n"
     "            curr_val = cpu_get_host_ticks();\n"
     "        }\n"
     "\n"
     "        goto done;\n",
     "        curr_val = riscv_pmu_ticks(env, inst);\n"
     "        goto done;\n"),
]

# A timer that expires early starts again from the current count, so no remainder has to be kept.
TIMER = [
    ("target/riscv/pmu.c",
     "    if (overflow_delta > INT64_MAX) {\n"
     "        overflow_left = overflow_delta - INT64_MAX;\n"
     "    }\n",
     "    overflow_delta = MIN(overflow_delta, INT64_MAX);\n"),
    ("target/riscv/pmu.c",
     "        overflow_ns = pmu_icount_ticks_to_ns((int64_t)overflow_delta);\n"
     "        overflow_left = pmu_icount_ticks_to_ns(overflow_left) ;\n",
     "        overflow_ns = pmu_icount_ticks_to_ns(overflow_delta);\n"),
    ("target/riscv/pmu.c",
     "    if (overflow_at <= curr_ns)\n"
     "        overflow_at = UINT64_MAX;\n"
     "\n"
     "    if (overflow_at > INT64_MAX) {\n"
     "        overflow_left += overflow_at - INT64_MAX;\n"
     "        counter->irq_overflow_left = overflow_left;\n"
     "        overflow_at = INT64_MAX;\n"
     "    }\n",
     "    overflow_at = MIN(overflow_at, INT64_MAX);\n"),
    ("target/riscv/pmu.c", "    int64_t overflow_ns, overflow_left = 0;\n", "    int64_t overflow_ns;\n"),
    ("target/riscv/pmu.c",
     "     * Compute the leftover and save it so that it can be reprogrammed again\n"
     "     * when timer expires.\n",
     "     * When a timer expires before the overflow, it is set again.\n"),
    ("target/riscv/pmu.c",
     "    PMUCTRState *counter = &env->pmu_ctrs[ctr_idx];\n"
     "\n"
     "    /* No need to setup a timer if LCOFI is disabled when OF is set */\n",
     "\n"
     "    /* No timer if LCOFI is disabled when OF is set */\n"),
    ("target/riscv/pmu.c",
     "    PMUCTRState *counter;\n"
     "    int64_t irq_trigger_at;\n"
     "    uint64_t curr_ctr_val, curr_ctrh_val;\n",
     "    PMUCTRState *counter = &env->pmu_ctrs[ctr_idx];\n"
     "    uint64_t curr_ctr_val, curr_ctrh_val;\n"),
    ("target/riscv/pmu.c",
     "    counter = &env->pmu_ctrs[ctr_idx];\n"
     "    if (counter->irq_overflow_left > 0) {\n"
     "        irq_trigger_at = qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL) +\n"
     "                        counter->irq_overflow_left;\n"
     "        timer_mod_anticipate_ns(cpu->pmu_timer, irq_trigger_at);\n"
     "        counter->irq_overflow_left = 0;\n"
     "        return;\n"
     "    }\n\n",
     "    /* May have overflowed */\n"),
]

# The hart itself updates its counters, between two instructions.
THREAD = [
    ("target/riscv/pmu.c",
     "/* Timer callback for instret and cycle counter overflow */\n"
     "void riscv_pmu_timer_cb(void *priv)\n"
     "{\n"
     "    RISCVCPU *cpu = priv;\n"
     "\n"
     "    /* Timer event was triggered only for these events */\n"
     "    pmu_timer_trigger_irq(cpu, RISCV_PMU_EVENT_HW_CPU_CYCLES);\n"
     "    pmu_timer_trigger_irq(cpu, RISCV_PMU_EVENT_HW_INSTRUCTIONS);\n"
     "}\n",
     "void riscv_pmu_look_for_overflow(CPURISCVState *env)\n"
     "{{\n"
     "    uint32_t ctr_idx;\n"
     "\n"
     "    env->pmu_paused = false;\n"
     "    for (ctr_idx = 3; ctr_idx < RV_MAX_MHPMCOUNTERS; ctr_idx++) {{\n"
     "        pmu_timer_trigger_irq(env_archcpu(env), ctr_idx);\n"
     "    }}\n"
     "}}\n"
     "\n"
     "static void pmu_timer_expired(CPUState *cs, run_on_cpu_data data)\n"
     "{{\n"
     "    riscv_pmu_look_for_overflow(cpu_env(cs));\n"
     "}}\n"
     "\n"
     "/* Timer callback for instret and cycle counter overflow */\n"
     "void riscv_pmu_timer_cb(void *priv)\n"
     "{{\n"
     "    async_run_on_cpu(CPU(priv), pmu_timer_expired, RUN_ON_CPU_NULL);\n"
     "}}\n"),
    ("target/riscv/pmu.c",
     "static void pmu_timer_trigger_irq(RISCVCPU *cpu,\n"
     "                                  enum riscv_pmu_event_idx evt_idx)\n"
     "{\n"
     "    uint32_t ctr_idx;\n",
     "static void pmu_timer_trigger_irq(RISCVCPU *cpu, uint32_t ctr_idx)\n{{\n"),
    ("target/riscv/pmu.c",
     "    if (evt_idx != RISCV_PMU_EVENT_HW_CPU_CYCLES &&\n"
     "        evt_idx != RISCV_PMU_EVENT_HW_INSTRUCTIONS) {\n"
     "        return;\n"
     "    }\n"
     "\n"
     "    ctr_idx = GPOINTER_TO_UINT(g_hash_table_lookup(cpu->pmu_event_ctr_map,\n"
     "                               GUINT_TO_POINTER(evt_idx)));\n"
     "    if (!riscv_pmu_counter_enabled(cpu, ctr_idx)) {\n"
     "        return;\n"
     "    }\n",
     "    if (!riscv_pmu_counter_enabled(cpu, ctr_idx) ||\n"
     "        !(riscv_pmu_ctr_monitor_cycles(env, ctr_idx) ||\n"
     "          riscv_pmu_ctr_monitor_instructions(env, ctr_idx))) {{\n"
     "        return;\n"
     "    }}\n"),
]

# A counter that does not count in the hart's current mode has no timer: close to the overflow, that
# timer would expire all the time. The next change of mode starts the timer. The same holds with
# -icount for a hart that waits: it executes nothing, so its counters stand until it goes on.
PAUSE = [
    ("target/riscv/cpu.h", "    PMUFixedCtrState pmu_fixed_ctrs[2];\n",
     "{}    bool pmu_paused;        /* a counter waits for another mode */\n"
     "    bool pmu_halted;        /* with -icount: a counter waits for its hart to go on */\n"),
    ("target/riscv/pmu.h", "void riscv_pmu_timer_cb(void *priv);\n",
     "{}void riscv_pmu_look_for_overflow(CPURISCVState *env);\n"),
    ("target/riscv/pmu.c",
     "    if (curr_ctr_val >= ctr_val) {\n"
     "        riscv_pmu_setup_timer(env, curr_ctr_val, ctr_idx);\n",
     "    if (curr_ctr_val >= ctr_val) {{\n"
     "        if (pmu_counter_inhibited(env, ctr_idx)) {{\n"
     "            env->pmu_paused = true;\n"
     "        }} else if (icount_enabled() && env_cpu(env)->halted) {{\n"
     "            env->pmu_halted = true;\n"
     "        }} else {{\n"
     "            riscv_pmu_setup_timer(env, curr_ctr_val, ctr_idx);\n"
     "        }}\n"),
    ("target/riscv/pmu.c", "static bool pmu_hpmevent_is_of_set(",
     "static bool pmu_counter_inhibited(CPURISCVState *env, uint32_t ctr_idx)\n"
     "{{\n"
     "    uint64_t event = env->mhpmevent_val[ctr_idx];\n"
     "\n"
     "    if (riscv_cpu_mxl(env) == MXL_RV32) {{\n"
     "        event |= (uint64_t)env->mhpmeventh_val[ctr_idx] << 32;\n"
     "    }}\n"
     "    if (env->priv == PRV_M) {{\n"
     "        return event & MHPMEVENT_BIT_MINH;\n"
     "    }}\n"
     "    if (env->virt_enabled) {{\n"
     "        return event & (env->priv == PRV_S ? MHPMEVENT_BIT_VSINH :\n"
     "                                             MHPMEVENT_BIT_VUINH);\n"
     "    }}\n"
     "    return event & (env->priv == PRV_S ? MHPMEVENT_BIT_SINH :\n"
     "                                         MHPMEVENT_BIT_UINH);\n"
     "}}\n"
     "\n{}"),
    ("target/riscv/cpu_helper.c",
     "            riscv_cpu_update_mip(env, 0, 0);\n        }\n    }\n}\n",
     "            riscv_cpu_update_mip(env, 0, 0);\n        }}\n    }}\n"
     "\n"
     "    if (env->pmu_paused) {{\n"
     "        riscv_pmu_look_for_overflow(env);\n"
     "    }}\n"
     "}}\n"),
]

# The event register of a counter is the only place that says which event it counts.
EVENTS = [
    ("target/riscv/pmu.c",
     "    cpu = env_archcpu(env);\n"
     "    if (!cpu->pmu_event_ctr_map) {\n"
     "        return false;\n"
     "    }\n"
     "\n"
     f"    event_idx = {event};\n"
     "    ctr_idx = GPOINTER_TO_UINT(g_hash_table_lookup(cpu->pmu_event_ctr_map,\n"
     "                               GUINT_TO_POINTER(event_idx)));\n"
     f"{tail}",
     f"    return riscv_pmu_counter_valid(env_archcpu(env), target_ctr) &&\n"
     f"           (uint32_t)env->mhpmevent_val[target_ctr] == {event};\n")
    for event, tail in (
        ("RISCV_PMU_EVENT_HW_INSTRUCTIONS",
         "    if (!ctr_idx) {\n        return false;\n    }\n\n    return target_ctr == ctr_idx ? true : false;\n"),
        ("RISCV_PMU_EVENT_HW_CPU_CYCLES",
         "\n    /* Counter zero is not used for event_ctr_map */\n"
         "    if (!ctr_idx) {\n        return false;\n    }\n\n    return (target_ctr == ctr_idx) ? true : false;\n"),
    )
] + [
    ("target/riscv/pmu.c",
     f"bool riscv_pmu_ctr_monitor_{name}(CPURISCVState *env,{gap}uint32_t target_ctr)\n"
     "{\n    RISCVCPU *cpu;\n    uint32_t event_idx;\n    uint32_t ctr_idx;\n\n",
     f"bool riscv_pmu_ctr_monitor_{name}(CPURISCVState *env,{gap}uint32_t target_ctr)\n{{{{\n")
    for name, gap in (("instructions", "\n" + 40 * " "), ("cycles", " "))
]

PLACES = CLOCK + TIMER + THREAD + PAUSE + EVENTS
