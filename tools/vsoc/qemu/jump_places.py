# SPDX-License-Identifier: GPL-2.0-or-later
"""Faster indirect jumps, in the form of PLACES of `apply`.

Each indirect jump, and each jump that leaves its page, calls helper_lookup_tb_ptr(): 230 million
times in a guest that starts programs and runs awk. It looks the code up in a table of the hart (the
jump cache), and where that fails in the table of all code, which takes ten times as long.

- In QEMU 10.0 the code of one page can use 64 of the jump cache's 4,096 entries only, so that the
  flush of a page clears these and no others. In that guest 21 million lookups failed, three of four
  because another jump had taken the entry. Here all entries are open to all code, there are twice as
  many, and the hart remembers in which pages it found code: the flush of a page without code, as
  most are, clears nothing, and any other clears the whole table. Less than 8 million lookups fail.
- After a change of the address space nothing is in the jump cache, and a guest that starts programs
  changes it all the time: most lookups that still fail are of that kind. A second table of the hart
  knows code by its place in memory, which does not change with the address space. Where the memory of
  code is used again, the table is cleared.
- Code that is invalidated leaves the jump caches alone, which were all cleared for it: a lookup compares
  cflags, and invalid code has others.
- cpu_get_tb_cpu_state() works out flags from a dozen fields each time. Here it compares the few that
  they depend on in a hart without vectors, pointer masking, CFI and virtualisation.
"""

from places import literal

PAGE_HASH = """/* Only the bottom TB_JMP_PAGE_BITS of the jump cache hash bits vary for
   addresses on the same page.  The top bits are the same.  This allows
   TLB invalidation to quickly clear a subset of the hash table.  */
#define TB_JMP_PAGE_BITS (TB_JMP_CACHE_BITS / 2)
#define TB_JMP_PAGE_SIZE (1 << TB_JMP_PAGE_BITS)
#define TB_JMP_ADDR_MASK (TB_JMP_PAGE_SIZE - 1)
#define TB_JMP_PAGE_MASK (TB_JMP_CACHE_SIZE - TB_JMP_PAGE_SIZE)

static inline unsigned int tb_jmp_cache_hash_page(vaddr pc)
{
    vaddr tmp;
    tmp = pc ^ (pc >> (TARGET_PAGE_BITS - TB_JMP_PAGE_BITS));
    return (tmp >> (TARGET_PAGE_BITS - TB_JMP_PAGE_BITS)) & TB_JMP_PAGE_MASK;
}

static inline unsigned int tb_jmp_cache_hash_func(vaddr pc)
{
    vaddr tmp;
    tmp = pc ^ (pc >> (TARGET_PAGE_BITS - TB_JMP_PAGE_BITS));
    return (((tmp >> (TARGET_PAGE_BITS - TB_JMP_PAGE_BITS)) & TB_JMP_PAGE_MASK)
           | (tmp & TB_JMP_ADDR_MASK));
}

"""

HASH = """/*
 * Of CPUJumpCache.pages and of the table, the first half is for the lower half
 * of the addresses, those with bit 63 clear.
 */
static inline unsigned int tb_jmp_half_hash(vaddr value, vaddr pc, unsigned bits)
{
    return ((value ^ (value >> (bits - 1))) & ((1 << (bits - 1)) - 1)) |
           (unsigned int)(pc >> 63) << (bits - 1);
}

static inline unsigned int tb_jmp_cache_hash_page(vaddr pc)
{
    return tb_jmp_half_hash(pc >> TARGET_PAGE_BITS, pc, TB_JMP_PAGES_BITS);
}

/* No instruction has an odd address. */
static inline unsigned int tb_jmp_cache_hash_func(vaddr pc)
{
    return tb_jmp_half_hash(pc >> 1, pc, TB_JMP_CACHE_BITS);
}

"""

CLEAR_PAGE = """static void tb_jmp_cache_clear_page(CPUState *cpu, vaddr page_addr)
{
    CPUJumpCache *jc = cpu->tb_jmp_cache;
    int i, i0;

    if (unlikely(!jc)) {
        return;
    }

    i0 = tb_jmp_cache_hash_page(page_addr);
    for (i = 0; i < TB_JMP_PAGE_SIZE; i++) {
        qatomic_set(&jc->array[i0 + i].tb, NULL);
    }
}

"""

CLEAR = """/*
 * The thread of the CPU calls these. Another thread that clears the table, as
 * it invalidates code, leaves the pages alone: a bit too many is harmless.
 */
static void tb_jmp_cache_clear(CPUState *cpu)
{
    CPUJumpCache *jc = cpu->tb_jmp_cache;

    tcg_flush_jmp_cache(cpu);
    if (likely(jc)) {
        bitmap_zero(jc->pages, 1 << TB_JMP_PAGES_BITS);
    }
}

static void tb_jmp_cache_clear_lower(CPUState *cpu)
{
    CPUJumpCache *jc = cpu->tb_jmp_cache;

    if (unlikely(!jc)) {
        return;
    }
    for (int i = 0; i < TB_JMP_CACHE_SIZE / 2; i++) {
        qatomic_set(&jc->array[i].tb, NULL);
    }
    bitmap_zero(jc->pages, 1 << (TB_JMP_PAGES_BITS - 1));
}

static void tb_jmp_cache_clear_page(CPUState *cpu, vaddr page_addr)
{
    CPUJumpCache *jc = cpu->tb_jmp_cache;

    if (likely(jc) && test_bit(tb_jmp_cache_hash_page(page_addr), jc->pages)) {
        tb_jmp_cache_clear(cpu);
    }
}

"""

LOOKUP = """    h = tb_hash_func(phys_pc, (cflags & CF_PCREL ? 0 : pc),
                     flags, cs_base, cflags);
    return qht_lookup_custom(&tb_ctx.htable, &desc, h, tb_lookup_cmp);
"""

PLACE_LOOKUP = """    place = ((phys_pc >> 1) ^ (phys_pc >> (1 + TB_PLACES_BITS))) &
            (TB_PLACES - 1);
    tb = jc->places[place].tb;
    if (tb && jc->places[place].start == phys_pc && tb->cs_base == cs_base &&
        tb->flags == flags && tb_cflags(tb) == cflags) {
        return tb;
    }
    h = tb_hash_func(phys_pc, (cflags & CF_PCREL ? 0 : pc),
                     flags, cs_base, cflags);
    tb = qht_lookup_custom(&tb_ctx.htable, &desc, h, tb_lookup_cmp);
    /* Of code in two pages, the place of the second one would have to agree. */
    if (tb && (cflags & CF_PCREL) && tb_page_addr1(tb) == -1) {
        jc->places[place].tb = tb;
        jc->places[place].start = phys_pc;
    }
    return tb;
"""

INVALIDATE = """    if (tb_cflags(tb) & CF_PCREL) {
        /* A TB may be at any virtual address */
        CPU_FOREACH(cpu) {
            tcg_flush_jmp_cache(cpu);
        }
    } else {
"""

FLUSH = """    CPU_FOREACH(cpu) {
        tcg_flush_jmp_cache(cpu);
    }

    qht_reset_size("""

PLACE_FLUSH = """    CPU_FOREACH(cpu) {
        tcg_flush_jmp_cache(cpu);
        if (likely(cpu->tb_jmp_cache)) {
            memset(cpu->tb_jmp_cache->places, 0,
                   sizeof(cpu->tb_jmp_cache->places));
        }
    }

    qht_reset_size("""

STATE = """void cpu_get_tb_cpu_state(CPURISCVState *env, vaddr *pc,
                          uint64_t *cs_base, uint32_t *pflags)
{
    RISCVCPU *cpu = env_archcpu(env);
    RISCVExtStatus fs, vs;
    uint32_t flags = 0;
    bool pm_signext = riscv_cpu_virt_mem_enabled(env);

"""

SHORT_STATE = """static uint32_t riscv_tb_flags(CPURISCVState *env);

void cpu_get_tb_cpu_state(CPURISCVState *env, vaddr *pc,
                          uint64_t *cs_base, uint32_t *pflags)
{
"""

FLAGS = """
    if (cpu->cfg.ext_zve32x) {
        /*
         * If env->vl equals to VLMAX,"""

# The rest of cpu_get_tb_cpu_state() becomes riscv_tb_flags(). Where nothing was kept yet,
# tb_flags_of.xl is 0, which is no XL.
KEPT_FLAGS = """
    if (likely(env->tb_flags_of.mstatus == env->mstatus &&
               env->tb_flags_of.satp == env->satp &&
               env->tb_flags_of.priv == env->priv &&
               env->tb_flags_of.misa_ext == env->misa_ext &&
               env->tb_flags_of.xl == env->xl &&
               env->tb_flags_of.itrigger == env->itrigger_enabled &&
               !env->virt_enabled)) {
        *pflags = env->tb_flags;
    } else {
        *pflags = riscv_tb_flags(env);
    }
}

static __attribute__((noinline)) uint32_t riscv_tb_flags(CPURISCVState *env)
{
    RISCVCPU *cpu = env_archcpu(env);
    RISCVExtStatus fs, vs;
    uint32_t flags = 0;
    bool pm_signext = riscv_cpu_virt_mem_enabled(env);
"""

END = "    *pflags = flags;\n}\n"

KEEP_FLAGS = """    if (!cpu->cfg.ext_zve32x && !cpu->cfg.ext_zicfilp &&
        !cpu->cfg.ext_zicfiss && !cpu->cfg.ext_smmpm && !cpu->cfg.ext_smnpm &&
        !cpu->cfg.ext_ssnpm && riscv_has_ext(env, RVF) &&
        !env->virt_enabled && !(env->mstatus & MSTATUS_MPRV)) {
        env->tb_flags_of.mstatus = env->mstatus;
        env->tb_flags_of.satp = env->satp;
        env->tb_flags_of.priv = env->priv;
        env->tb_flags_of.misa_ext = env->misa_ext;
        env->tb_flags_of.xl = env->xl;
        env->tb_flags_of.itrigger = env->itrigger_enabled;
        env->tb_flags = flags;
    }
    return flags;
}
"""

PLACES = [
    ("accel/tcg/tb-jmp-cache.h", "#define TB_JMP_CACHE_BITS 12\n",
     "#define TB_JMP_CACHE_BITS 13\n#define TB_JMP_PAGES_BITS 15\n"
     "#define TB_PLACES_BITS 13\n#define TB_PLACES (1 << TB_PLACES_BITS)\n"),
    ("accel/tcg/tb-jmp-cache.h", '#include "qemu/rcu.h"\n', '#include "qemu/bitops.h"\n{}'),
    ("accel/tcg/tb-jmp-cache.h", "    } array[TB_JMP_CACHE_SIZE];\n",
     "{}    /* Of the pages with code in the table, at least. */\n"
     "    unsigned long pages[BITS_TO_LONGS(1 << TB_JMP_PAGES_BITS)];\n"
     "    /* By the address in memory; only the CPU's thread uses it. */\n"
     "    struct {{\n"
     "        TranslationBlock *tb;\n"
     "        tb_page_addr_t start;\n"
     "    }} places[TB_PLACES];\n"),
    ("accel/tcg/tb-hash.h", PAGE_HASH, literal(HASH)),
    ("accel/tcg/cpu-exec.c", "static inline TranslationBlock *tb_lookup(",
     "static QEMU_ALWAYS_INLINE TranslationBlock *tb_lookup("),
    ("accel/tcg/cpu-exec.c", "    jc->array[hash].pc = pc;\n",
     "    set_bit(tb_jmp_cache_hash_page(pc), jc->pages);\n{}"),
    ("accel/tcg/cpu-exec.c", "                jc->array[h].pc = pc;\n",
     "                set_bit(tb_jmp_cache_hash_page(pc), jc->pages);\n{}"),
    ("accel/tcg/cpu-exec.c", "    tb_page_addr_t phys_pc;\n    struct tb_desc desc;\n    uint32_t h;\n",
     "    CPUJumpCache *jc = cpu->tb_jmp_cache;\n    tb_page_addr_t phys_pc;\n    struct tb_desc desc;\n"
     "    TranslationBlock *tb;\n    uint32_t h, place;\n"),
    ("accel/tcg/cpu-exec.c", LOOKUP, literal(PLACE_LOOKUP)),
    ("accel/tcg/tb-maint.c", FLUSH, literal(PLACE_FLUSH)),
    ("accel/tcg/tb-maint.c", INVALIDATE,
     "    /* CF_PCREL: it may be at any address; no lookup accepts CF_INVALID. */\n"
     "    if (!(tb_cflags(tb) & CF_PCREL)) {{\n"),
    ("accel/tcg/cputlb.c", '#include "qemu/atomic128.h"\n', '{}#include "qemu/bitmap.h"\n'),
    ("accel/tcg/cputlb.c", CLEAR_PAGE, literal(CLEAR)),
    ("accel/tcg/cputlb.c", "    tcg_flush_jmp_cache(cpu);\n\n    if (to_clean == ALL_MMUIDX_BITS) {\n",
     "    if (data.host_int & FLUSH_LOWER) {{\n"
     "        tb_jmp_cache_clear_lower(cpu);\n"
     "    }} else {{\n"
     "        tb_jmp_cache_clear(cpu);\n"
     "    }}\n"
     "\n"
     "    if (to_clean == ALL_MMUIDX_BITS) {{\n"),
    ("accel/tcg/cputlb.c", "#define ALL_MMUIDX_BITS ((1 << NB_MMU_MODES) - 1)\n",
     "{}/* Beside the MMU indexes: forget only jumps to the lower half of the addresses. */\n"
     "#define FLUSH_LOWER (1 << NB_MMU_MODES)\n"),
    ("accel/tcg/cputlb.c", "void tlb_flush(CPUState *cpu)\n",
     "void tlb_flush_lower_except(CPUState *cpu, uint16_t idxmap)\n"
     "{{\n"
     "    int flush = (ALL_MMUIDX_BITS & ~idxmap) | FLUSH_LOWER;\n"
     "\n"
     "    assert_cpu_is_self(cpu);\n"
     "    tlb_flush_by_mmuidx_async_work(cpu, RUN_ON_CPU_HOST_INT(flush));\n"
     "}}\n\n{}"),
    ("include/exec/cputlb.h", "/**\n * tlb_flush_by_mmuidx:\n",
     "/**\n"
     " * tlb_flush_lower_except:\n"
     " * @cpu: CPU whose TLB should be flushed\n"
     " * @idxmap: bitmap of MMU indexes to keep, with code in the upper half of the\n"
     " *          addresses only\n"
     " */\n"
     "void tlb_flush_lower_except(CPUState *cpu, uint16_t idxmap);\n\n{}"),
    ("accel/tcg/cputlb.c", "        tcg_flush_jmp_cache(cpu);\n        return;\n",
     "        tb_jmp_cache_clear(cpu);\n        return;\n"),
    ("target/riscv/cpu.h", "    bool itrigger_enabled;\n",
     "{}\n"
     "    /* Flags of the code to execute, and the state that they belong to. */\n"
     "    struct {{\n"
     "        uint64_t mstatus;\n"
     "        target_ulong satp, priv;\n"
     "        uint32_t misa_ext, xl;\n"
     "        bool itrigger;\n"
     "    }} tb_flags_of;\n"
     "    uint32_t tb_flags;\n"),
    ("target/riscv/cpu_helper.c", STATE, literal(SHORT_STATE)),
    ("target/riscv/cpu_helper.c", FLAGS, literal(KEPT_FLAGS) + "{}"),
    ("target/riscv/cpu_helper.c", END, literal(KEEP_FLAGS)),
]
