# SPDX-License-Identifier: GPL-2.0-only
"""Makes one mistake in each of many copies of an ingress file, and checks as TAP that it is found in its line.

ingress_mistakes.py NTRACE PROGRAM FILE SEED

PROGRAM.bin has the code of PROGRAM from 0x80000000 on, all of it instructions of 4 bytes.
"""

import pathlib
import random
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from tap import done, ok  # noqa: E402

GROUP = re.compile(r" (0x[0-9a-f]+),([0-9]+),([0-9]+)(?:,([0-9]+))?(,s)?(?= |$)")
TRAPS = (1, 2)
ntrace, program, path, seed = sys.argv[1:]
lines = open(path).read().splitlines()
code = pathlib.Path(program + ".bin").read_bytes()
draw = random.Random(int(seed))


class Group:
    def __init__(self, number, match):
        self.number, self.span = number, match.span()
        self.iaddr, self.iretire, self.itype = int(match[1], 16), int(match[2]), int(match[3])
        self.last, self.sijump = int(match[4] or 0), bool(match[5])

    def text(self):
        text = f" {self.iaddr:#x},{self.iretire},{self.itype}"
        if self.last or self.sijump:
            text += f",{self.last}"
        return text + (",s" if self.sijump else "")


groups = [Group(number, match) for number, line in enumerate(lines) if line.startswith("c ")
          for match in GROUP.finditer(line)]
for before, group in zip(groups, groups[1:]):
    group.before = before
groups[0].before = None


def itype(to):
    def change(group):
        group.itype = to
    return change


def last(group):
    group.last ^= 1


def longer(group):
    group.iretire += 1


def moved(step):
    def change(group):
        group.iaddr += step
    return change


def sijump(group):
    group.sijump = True


def ends_in(*itypes):
    return lambda g: g.iretire and g.itype in itypes


def after(*itypes):
    return lambda g: g.iretire and g.before and g.before.itype in itypes


def is_uninferable(group):
    """Whether the group ends in an indirect jump whose register is not that of an auipc or lui right before it."""
    before = group.iaddr + 2 * group.iretire - 8 - 0x80000000
    return ends_in(8, 10, 14)(group) and code[before] & 0x7f not in (0x17, 0x37)


# What is wrong, the groups that it suits, how, and the rules that may find it.
MISTAKES = [(f"itype {a} as {b}", ends_in(a), itype(b), "insn-itype")
            for a, others in {0: (4, 5, 8, 9, 11, 13, 3), 3: (0, 13), 4: (0, 11), 5: (0, 11), 8: (15, 10, 12), 9: (15, 8, 0),
                              10: (8, 14, 13), 11: (9, 15, 0), 12: (8, 13), 13: (14, 10, 12), 14: (8, 10), 15: (9, 11)}.items()
            for b in others]
MISTAKES += [
    ("ilastsize", ends_in(0), last, "insn-size block-short"),
    ("ilastsize of a branch", ends_in(4, 5), last, "insn-size block-short"),
    ("ilastsize of a call", ends_in(8, 9), last, "insn-size block-short"),
    ("iretire of a branch", ends_in(4, 5), longer, "insn-split insn-inside insn-itype insn-size insn-traps no-code"),
    ("iretire of a call", ends_in(8, 9), longer, "insn-split insn-inside insn-itype insn-size insn-traps no-code"),
    ("a taken branch to another target", after(5), moved(2), "insn-target"),
    ("a call to another target", after(9), moved(-2), "insn-target"),
    ("a jump to another target", after(11), moved(4), "insn-target"),
    ("another address after a branch not taken", after(4), moved(2), "not-contiguous"),
    ("sijump of an indirect jump", is_uninferable, sijump, "insn-sijump"),
]

for name, suits, change, rules in MISTAKES:
    candidates = [g for g in groups[:-3] if suits(g)]
    if not candidates:
        ok(False, f"{name}: the file has such a group")
        continue
    group = draw.choice(candidates)
    copy = Group(group.number, GROUP.search(lines[group.number], group.span[0]))
    change(copy)
    line = lines[group.number]
    changed = lines[:]
    changed[group.number] = line[:group.span[0]] + copy.text() + line[group.span[1]:]
    run = subprocess.run([ntrace, "ingress", "check", "--elf", program, "-"], input="\n".join(changed) + "\n",
                         capture_output=True, text=True, check=False)
    first = run.stdout.splitlines()[0]
    found = re.match(r"line ([0-9]+), .*: (?:error|warning) ([a-z-]+):", first)
    ok(found and int(found[1]) == group.number + 1 and found[2] in rules.split(), f"{name}: found in its line",
       f"line {group.number + 1}: {line}", f"as {changed[group.number]}", *run.stdout.splitlines()[:3], run.stderr)
ok(len(MISTAKES) >= 40, f"{len(MISTAKES)} mistakes")
done()
