#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Reads counts files as Documentation/trace/counts-file.md describes them, without the library.

  counts_file.py csv FILE                 the traces as 'ntrace export -f csv' prints them
  counts_file.py sum FILE...              the sum of the files, as sorted text
  counts_file.py scale FACTOR FILE TO     writes the file with each count times FACTOR
  counts_file.py many ENTRIES FILES TO    writes TO.1 and so on: files of random entries of three objects
  counts_file.py objects NUMBER TO        writes an entry for each of NUMBER objects, called by another one
  counts_file.py losses FILE...           the losses of each file: lost bytes, traces with more, gaps, unknown files
  counts_file.py lossy LOST MORE GAPS UNKNOWN FILE TO    writes the file with other losses
  counts_file.py sources FILE...          of each file: streams that it counts; parts that it lacks
  counts_file.py version1 FILE TO         writes the file as version 1, without losses
"""
import random
import struct
import sys
import zlib

HEADER, RECORD, ENTRY = struct.Struct("<8sHHI"), struct.Struct("<B3xI"), struct.Struct("<QQQQIBBBx")
OBJECT, CLASS, END = struct.Struct("<BBHQ20s"), struct.Struct("<BB14x"), struct.Struct("<QQQII")
LOSSES, SOURCE = struct.Struct("<QQQQ"), struct.Struct("<16sIIQ")
MANY = (1 << 64) - 1
BLOCK = 1024


def read(path, losses=None, sources=None):
    """Yields (group, entry): group = (object, source object, privilege, label), objects are
    (name or None, build-id, text). Appends losses to the list, if there is one."""
    data = open(path, "rb").read()
    at, groups, entries, saturated, group = HEADER.size, 0, 0, 0, None
    version = HEADER.unpack_from(data)[1]
    assert HEADER.unpack_from(data) == (b"NTRCOUNT", version, ENTRY.size, 0) and version in (1, 2, 3, 4), path
    found, found_sources = (0, 0, 0, version == 1), []
    while True:
        kind, number = RECORD.unpack_from(data, at)
        assert not any(found[:3]) or kind == 3, path
        assert not found_sources or kind > 2, path
        at += RECORD.size
        if kind == 1:
            objects, names, end = [], [], at + number
            for i in range(2):
                size, present, length, text, build_id = OBJECT.unpack_from(data, at + i * OBJECT.size)
                objects.append((present, length, build_id[:size], text))
            privilege, length = CLASS.unpack_from(data, at + 2 * OBJECT.size)
            at += 2 * OBJECT.size + CLASS.size
            for size in (objects[0][1], objects[1][1], length):
                names.append(data[at:at + size].decode())
                at += size
            assert at == end, path
            group = tuple((name if item[0] else None, item[2], item[3]) for name, item in zip(names, objects))
            group += (privilege, names[2])
            groups += 1
        elif kind == 2:
            for _ in range(number):
                entry = ENTRY.unpack_from(data, at)
                at += ENTRY.size
                entries += 1
                saturated += entry[3] == MANY
                yield group, entry
        elif kind == 5:
            assert version == 4 and 0 < number <= BLOCK, path
            for _ in range(number):
                source = SOURCE.unpack_from(data, at)
                assert source[1] <= source[2] and bool(source[1]) == bool(source[2]) and (not found_sources or found_sources[-1][0] < source[0]), path
                found_sources.append(source)
                at += SOURCE.size
        elif kind == 4:
            assert version > 1 and number == LOSSES.size, path
            found = LOSSES.unpack_from(data, at)
            assert any(found), path
            at += LOSSES.size
        else:
            assert kind == 3, path
            totals = END.unpack_from(data, at)
            assert totals[:3] == (groups, entries, saturated), path
            assert totals[3] == zlib.crc32(data[:at + 24]) and at + END.size == len(data), path
            if losses is not None:
                losses.append(tuple(map(int, found)))
            if sources is not None:
                sources.append(found_sources)
            return


def write(path, items, losses=(0, 0, 0, 0), version=4):
    out, groups, saturated, block, last = bytearray(HEADER.pack(b"NTRCOUNT", version, ENTRY.size, 0)), 0, 0, [], None

    def flush():
        if block:
            out.extend(RECORD.pack(2, len(block)) + b"".join(ENTRY.pack(*entry) for entry in block))
            block.clear()

    count = 0
    for group, entry in items:
        if group != last:
            flush()
            names = b"".join((item[0] or "").encode() for item in group[:2]) + group[3].encode()
            body = b"".join(OBJECT.pack(len(item[1]), item[0] is not None, len((item[0] or "").encode()), item[2], item[1])
                            for item in group[:2])
            body += CLASS.pack(group[2], len(group[3].encode())) + names
            out.extend(RECORD.pack(1, len(body)) + body)
            last, groups = group, groups + 1
        block.append(entry)
        count, saturated = count + 1, saturated + (entry[3] == MANY)
        if len(block) == BLOCK:
            flush()
    flush()
    if any(losses):
        out.extend(RECORD.pack(4, LOSSES.size) + LOSSES.pack(*losses))
    out.extend(RECORD.pack(3, 0) + struct.pack("<QQQ", groups, count, saturated))
    out.extend(struct.pack("<II", zlib.crc32(out), 0))
    open(path, "wb").write(out)


def key(group):
    return tuple((item[0] is None, len(item[1]), item[1], "" if item[1] else item[0] or "") for item in group[:2]) + group[2:]


def csv(path):
    def place(item, address):
        name = '"%s"' % item[0].replace('"', '""') if item[0] is not None else ""
        return name + ("," if item[0] is None and not address else ",0x%x" % address)

    sums = {}
    for group, (start, end, source, count, instructions, _, _, taken) in read(path):
        line = (group[0], start, end, group[1], source, instructions, taken)
        sums[line] = min(MANY, sums.get(line, 0) + count)
    print("from_object,from,object,start,end,instructions,taken,count")
    for (run, start, end, origin, source, instructions, taken) in sorted(
            sums, key=lambda k: (k[0][0] is None, k[0][:2], k[1], k[2], k[3][0] is None, k[3][:2], k[4:])):
        print("%s,%s,0x%x,%d,%d,%d" % (place(origin, source), place(run, start), end, instructions, taken,
                                       sums[run, start, end, origin, source, instructions, taken]))


def add(paths):
    sums = {}
    for path in paths:
        for group, entry in read(path):
            at = key(group) + entry[:3] + entry[4:]
            sums[at] = min(MANY, sums.get(at, 0) + entry[3])
    for at in sorted(sums):
        print(at, sums[at])


def many(count, seed, path):
    generator = random.Random(seed)
    objects = [("/bin/%c" % name, bytes([name] * 20), 0x1000) for name in b"abc"] + [("/bin/named", b"", 0), (None, b"", 0)]
    items = {}
    for _ in range(count):
        group = (generator.choice(objects), generator.choice(objects), generator.choice((0, 1)), generator.choice(("", "x")))
        start = generator.randrange(0x1000, 0x1000 + 64 * count, 2)
        entry = (start, start + 8, generator.randrange(0x1000, 0x9000, 2), generator.randrange(1, 1 << 40), 3, 1, 8, 1)
        items[key(group), entry[:3]] = (group, entry)
    write(path, [items[at] for at in sorted(items)])


def main():
    if sys.argv[1] == "csv":
        csv(sys.argv[2])
    elif sys.argv[1] == "sum":
        add(sys.argv[2:])
    elif sys.argv[1] == "scale":
        factor = int(sys.argv[2])
        write(sys.argv[4], [(group, entry[:3] + (min(MANY, entry[3] * factor),) + entry[4:])
                            for group, entry in read(sys.argv[3])])
    elif sys.argv[1] == "objects":
        count = int(sys.argv[2])
        names = [("/o/%06d" % i, b"", 0x1000) for i in range(count)]
        write(sys.argv[3], [((names[i], names[i * 7 % count], 0, ""), (0x1000, 0x1010, 0x900, i + 1, 5, 3, 3, 1)) for i in range(count)])
    elif sys.argv[1] == "losses":
        for path in sys.argv[2:]:
            losses = []
            for _ in read(path, losses):
                pass
            print(*losses[0])
    elif sys.argv[1] == "sources":
        for path in sys.argv[2:]:
            sources = []
            for _ in read(path, None, sources):
                pass
            print(sum(not item[1] for item in sources[0]), *sorted({f"{item[1]}/{item[2]}" for item in sources[0] if item[1]}))
    elif sys.argv[1] == "lossy":
        write(sys.argv[7], list(read(sys.argv[6])), tuple(map(int, sys.argv[2:6])))
    elif sys.argv[1] == "version1":
        write(sys.argv[3], list(read(sys.argv[2])), version=1)
    else:
        for number in range(1, int(sys.argv[3]) + 1):
            many(int(sys.argv[2]), number, f"{sys.argv[4]}.{number}")


main()
