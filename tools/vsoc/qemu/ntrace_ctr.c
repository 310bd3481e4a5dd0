/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Control Transfer Records of a hart: the depths and fields that it implements,
 * the check that compares its records with the library's model, and the draft,
 * whose records are those of the model.
 */
#include "qemu/osdep.h"
#include "qapi/error.h"
#include "qemu/error-report.h"
#include "qemu/cutils.h"
#include "migration/blocker.h"
#include "cpu.h"
#include "ntrace.h"

static void observe(void *opaque, struct ctr_state *state)
{
    NTraceEncoder *s = opaque;
    const CPURISCVState *env = cpu_env(s->cpu);
    bool locks = riscv_cpu_cfg(env)->ext_smstateen;

    *state = (struct ctr_state) {
        .source = env->ctr_src,
        .target = env->ctr_dst,
        .data = env->ctr_data,
        .mctrctl = env->mctrctl,
        .vsctrctl = env->vsctrctl,
        .siselect = env->siselect,
        .vsiselect = env->vsiselect,
        .mstateen0 = locks ? env->mstateen[0] : UINT64_MAX,
        .hstateen0 = locks ? env->hstateen[0] : UINT64_MAX,
        .status = env->sctrstatus,
        .depth = env->sctrdepth,
    };
}

/* Each call appends one short line, so that harts may share a file. */
static void say(void *opaque, const char *text)
{
    NTraceEncoder *s = opaque;

    if (!s->ctr_log) {
        warn_report("ctr-draft hart %u %s", s->index, text);
        return;
    }
    fprintf(s->ctr_log, "ctr-check hart %u %s\n", s->index, text);
    fflush(s->ctr_log);
}

static const struct ctr_check_ops check_ops = {
    .observe = observe,
    .say = say,
};

/* @name: the property that makes it; @ops: what the check needs */
static bool model_realize(NTraceEncoder *s, const char *name,
                          enum ntrace_ctr_layout layout,
                          const struct ctr_check_ops *ops, Error **errp)
{
    const CPURISCVState *env = cpu_env(s->cpu);
    struct ntrace_ctr_config config;
    Error *blocker = NULL;

    /* The trace port has neither cycles nor predictions. */
    if (s->ctr_details) {
        error_setg(errp, "%s: the model has no ctr-details", name);
        return false;
    }
    /*
     * Migration covers neither the model nor the transfers that wait in the
     * trace port.
     */
    error_setg(&blocker, "%s cannot be migrated", name);
    if (migrate_add_blocker(&blocker, errp) < 0) {
        return false;
    }
    ntrace_ctr_config_init(&config, layout);
    config.implemented &= ntrace_ctr_control(env);
    config.depths &= ntrace_ctr_depths(env);
    config.hypervisor = riscv_has_ext(env, RVH);
    config.features = NTRACE_CTR_HAS_TYPE;
    config.cce_bits = 0;
    config.xlen = riscv_cpu_mxl(env) == MXL_RV32 ? 32 : 64;
    if (ctr_check_init(&s->ctr_check, &config, ops, s, s->ctr_check_mutate)) {
        error_setg(errp, "%s: %s", name, ntrace_ctr_config_refusal(&config));
        return false;
    }
    s->hart.ctr = &s->ctr_check;
    return true;
}

static bool check_realize(NTraceEncoder *s, Error **errp)
{
    const CPURISCVState *env = cpu_env(s->cpu);

    if (riscv_cpu_mxl(env) != MXL_RV64 || !riscv_cpu_cfg(env)->ext_smctr) {
        error_setg(errp, "ctr-check: the harts must be RV64 with Smctr");
        return false;
    }
    s->ctr_log = ntrace_log_open(s->ctr_check_name, errp);
    return s->ctr_log && model_realize(s, "ctr-check", NTRACE_CTR_RATIFIED,
                                       &check_ops, errp);
}

static bool draft_realize(NTraceEncoder *s, Error **errp)
{
    static const struct ctr_check_ops ops = { .say = say };
    const RISCVCPUConfig *cfg = riscv_cpu_cfg(cpu_env(s->cpu));

    if (cfg->ext_smctr || cfg->ext_ssctr || s->ctr_check_name) {
        error_setg(errp, "ctr-draft: not with smctr, ssctr or ctr-check");
        return false;
    }
    return model_realize(s, "ctr-draft", NTRACE_CTR_DRAFT, &ops, errp);
}

/* Returns this hart's part of a list "A:B:...", or NULL if there is none. */
static char *own_part(const char *list, unsigned int index)
{
    g_auto(GStrv) parts = list ? g_strsplit(list, ":", -1) : NULL;

    if (!parts || index >= g_strv_length(parts)) {
        return NULL;
    }
    return g_strdup(parts[index]);
}

/* Parses a list of depths such as "16+64". */
static bool parse_depths(const char *text, uint8_t *depths, Error **errp)
{
    g_auto(GStrv) parts = g_strsplit(text, "+", -1);
    unsigned int i;

    *depths = 0;
    for (i = 0; parts[i]; i++) {
        uint64_t entries;
        int code = -1;

        if (!qemu_strtou64(parts[i], NULL, 10, &entries) && entries <= 256) {
            code = ntrace_ctr_depth_to_raw(NTRACE_CTR_RATIFIED, entries);
        }
        if (code < 0) {
            error_setg(errp, "ctr-depths: %s is not 16, 32, 64, 128 or 256",
                       parts[i]);
            return false;
        }
        *depths |= 1 << code;
    }
    return true;
}

bool ntrace_ctr_realize(NTraceEncoder *s, Error **errp)
{
    CPURISCVState *env = cpu_env(s->cpu);
    g_autofree char *depths = own_part(s->ctr_depths, s->index);
    g_autofree char *control = own_part(s->ctr_control, s->index);

    if (depths && !parse_depths(depths, &env->ctr_depths, errp)) {
        return false;
    }
    if (control) {
        if (qemu_strtou64(control, NULL, 0, &env->ctr_control)) {
            error_setg(errp, "ctr-control: %s is no number", control);
            return false;
        }
        env->ctr_control |= NTRACE_CTR_CTL_REQUIRED | NTRACE_CTR_CTL(LCOFIFRZ);
    }
    env->ctr_details = s->ctr_details;
    if (s->ctr_draft) {
        return draft_realize(s, errp);
    }
    return !s->ctr_check_name || check_realize(s, errp);
}

void ntrace_ctr_reset(NTraceEncoder *s)
{
    CPURISCVState *env = cpu_env(s->cpu);

    env->sctrdepth = ctz32(ntrace_ctr_depths(env));
    env->sctrstatus &= SCTRSTATUS_FROZEN | ((16 << env->sctrdepth) - 1);
    if (s->hart.ctr) {
        ctr_check_reset(s->hart.ctr);
    }
}

void ntrace_ctr_shutdown(NTraceEncoder *s)
{
    char line[CTR_CHECK_LINE_MAX];

    if (s->ctr_log) {
        ctr_check_summary(s->hart.ctr, line);
        say(s, line);
    }
}
