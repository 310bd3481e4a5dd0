#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Checks the samples of `ntrace record --values` with guest/valued.c, by linux/perf_event.h alone: prints what is wrong.
With --count it prints their number; --user is the recording of a user who may not see memory. Usage:
values.py [--count|--user] RECORDING"""
import collections
import struct
import sys

IP, TID, TIME, CPU, RAW, REGS_USER, STACK_USER, IDENTIFIER = 1 << 0, 1 << 1, 1 << 2, 1 << 7, 1 << 10, 1 << 12, 1 << 13, 1 << 16
MMAP2, SAMPLE = 10, 9
SOFTWARE, TRACEPOINT = 1, 2
BPF_OUTPUT = 10
PC, SP, A0, A1, A2, A7 = 0, 2, 10, 11, 12, 17
READ, GETPPID, CLONE = 63, 173, 220
CALLS = {1: 1000, 2: 500, 3: 300, 4: 200}

Sample = collections.namedtuple("Sample", "time cpu pid tid registers stack exec")
# Memory that a call has written
Content = collections.namedtuple("Content", "time pid tid number result address bytes")


class Recording:
    def __init__(self, path):
        with open(path + "/data", "rb") as file:
            self.data = file.read()
        _, _, self.attr_size, attrs_at, attrs_size, self.at, size = struct.unpack_from("<8s6Q", self.data)
        self.end = self.at + size
        self.stacks, self.contents = {}, set()
        for at in range(attrs_at, attrs_at + attrs_size, self.attr_size):
            kind, _, config, period, sample_type = struct.unpack_from("<IIQQQ", self.data, at)
            registers, stack = struct.unpack_from("<QI", self.data, at + 80)
            ids_at, ids_size = struct.unpack_from("<QQ", self.data, at + self.attr_size - 16)
            ids = [struct.unpack_from("<Q", self.data, id_at)[0] for id_at in range(ids_at, ids_at + ids_size, 8)]
            if (kind, config) == (SOFTWARE, BPF_OUTPUT):
                assert period == 1 and sample_type == IP | TID | TIME | CPU | RAW | IDENTIFIER
                self.contents.update(ids)
            if kind != TRACEPOINT:
                continue
            assert period == 1 and registers == 0xffffffff
            assert sample_type == TID | TIME | CPU | REGS_USER | STACK_USER | IDENTIFIER
            assert stack in (512, 32768)
            self.stacks.update((id, stack) for id in ids)

    def records(self):
        at = self.at
        while at < self.end:
            kind, misc, size = struct.unpack_from("<IHH", self.data, at)
            yield kind, misc, self.data[at:at + size]
            at += size

    def samples(self):
        for kind, _, record in self.records():
            if kind != SAMPLE or struct.unpack_from("<Q", record, 8)[0] in self.contents:
                continue
            identifier, pid, tid, time, cpu, _, abi = struct.unpack_from("<QiiQIIQ", record, 8)
            assert abi == 2, "no registers"
            registers, at = struct.unpack_from("<32Q", record, 48), 48 + 8 * 32
            room, = struct.unpack_from("<Q", record, at)
            length, = struct.unpack_from("<Q", record, at + 8 + room)
            stack, at = record[at + 8:at + 8 + length], at + 16 + room
            assert at == len(record)
            yield Sample(time, cpu, pid, tid, registers, stack, self.stacks[identifier] == 32768)

    def written(self):
        for kind, _, record in self.records():
            if kind != SAMPLE or struct.unpack_from("<Q", record, 8)[0] not in self.contents:
                continue
            _, _, pid, tid, time, _, _, _, magic, length, address, number, result = struct.unpack_from("<QQiiQIIIIIQQq", record, 8)
            assert magic == 0x76434e54 and 0 < length <= len(record) - 84, (magic, length, len(record))
            yield Content(time, pid, tid, number, result, address, record[84:84 + length])

    def mappings(self):
        """Yields (pid, address, size, protection, name)."""
        for kind, _, record in self.records():
            if kind == MMAP2:
                pid, _, address, size = struct.unpack_from("<iiQQ", record, 8)
                protection, = struct.unpack_from("<I", record, 64)
                yield pid, address, size, protection, record[72:record.index(b"\0", 72)]


def words(sample):
    """The arguments of a new program."""
    base = sample.registers[SP]
    count, = struct.unpack_from("<Q", sample.stack)
    for pointer in struct.unpack_from(f"<{count}Q", sample.stack, 8):
        yield sample.stack[pointer - base:sample.stack.index(b"\0", pointer - base)]


def check(path, privileged):
    recording = Recording(path)
    samples = sorted(recording.samples(), key=lambda sample: sample.time)
    calls = collections.defaultdict(list)
    for sample in samples:
        if not sample.exec and sample.registers[A7] == GETPPID:
            calls[sample.registers[A2]].append(sample)
    assert {tag: len(of) for tag, of in calls.items()} == CALLS, {tag: len(of) for tag, of in calls.items()}
    for of in calls.values():
        assert [sample.registers[A1] for sample in of] == list(range(len(of))), "order"
        # The same instruction of the same function, and one thread.
        assert len({(sample.registers[PC], sample.registers[SP], sample.tid) for sample in of}) == 1
        assert 0 < of[0].registers[PC] < 1 << 47 and not of[0].registers[SP] & 15
    program, thread, child, again = (calls[tag][0] for tag in (1, 2, 3, 4))
    assert program.pid == program.tid == thread.pid != thread.tid
    assert child.pid == child.tid == again.pid != program.pid
    assert child.registers[A0] == again.registers[A0] == program.pid, "the result of getppid() in the child"
    assert thread.registers[SP] != program.registers[SP]
    # A fork returns twice.
    clones = [sample for sample in samples if sample.registers[A7] == CLONE and sample.pid in (program.pid, child.pid)]
    assert sorted(sample.registers[A0] for sample in clones if sample.tid != thread.tid)[:1] == [0]
    assert child.pid in [sample.registers[A0] for sample in clones]
    starts = [sample for sample in samples if sample.exec and sample.pid in (program.pid, child.pid)]
    assert [sample.pid for sample in starts] == [program.pid, child.pid], starts
    first, second = (list(words(sample)) for sample in starts)
    assert len(first) == 1 and first[0].endswith(b"/valued"), first
    assert second == [b"valued-again", b"the third word", b"200"], second
    assert all(b"PATH=" in sample.stack and not sample.registers[SP] & 15 for sample in starts)
    # What a call has written comes after its registers, and before those of the next call of the thread.
    written = sorted(recording.written(), key=lambda content: content.time)
    of_thread = collections.defaultdict(list)
    for sample in samples:
        of_thread[sample.tid].append(sample)
    for content in written:
        before = [sample for sample in of_thread[content.tid] if sample.time <= content.time]
        assert not before or (before[-1].registers[A7], before[-1].registers[A0]) == (content.number, content.result % (1 << 64)), content
    if privileged:
        files = [content.bytes for content in written if content.number == READ and content.pid == program.pid]
        assert any(part.startswith(b"\x7fELF") for part in files), "the head of the library that the dynamic linker has read"
        assert any(content.pid == child.pid for content in written), "the child"
    else:
        assert not written
    # The memory that the stack pointer and the data of the program are in: a mapping that is not executable.
    mapped = [mapping for mapping in recording.mappings() if mapping[0] == program.pid]
    assert any(name.endswith(b"/valued") and protection & 7 == 3 for *_, protection, name in mapped), mapped
    assert any(address <= thread.registers[SP] < address + size and protection & 7 == 3
               for _, address, size, protection, _ in mapped), "the stack of the thread"


if __name__ == "__main__":
    if sys.argv[1] == "--count":
        print(sum(1 for kind, _, _ in Recording(sys.argv[2]).records() if kind == SAMPLE))
    else:
        check(sys.argv[-1], sys.argv[1] != "--user")
