# SPDX-License-Identifier: GPL-2.0-only
"""Writes a Form (thread_truth.py) as exports have it, by their formats alone: what thread_outputs.py must read."""
import sqlite3


def number(value):
    out = bytearray()
    while value >= 0x80:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes(out + bytes([value]))


def message(*pairs):
    """A protocol buffer; an item is (number, int or bytes)."""
    out = bytearray()
    for key, value in pairs:
        if isinstance(value, int):
            out += number(key << 3) + number(value)
        else:
            out += number(key << 3 | 2) + number(len(value)) + value
    return bytes(out)


def write_folded(form, path):
    with open(path, "w") as file:
        for (pid, tid), stacks in form.stacks.items():
            for stack, count in stacks.items():
                print(f"name-{pid}/{tid};" + ";".join(stack), count, file=file)


def write_pprof(form, path):
    strings, ids = [b"", b"thread"], {}
    out = b""
    for (pid, tid), stacks in form.stacks.items():
        strings.append(f"[name-{pid}/{tid}]".strip("[]").encode())
        label = message((1, 1), (2, len(strings) - 1))
        for stack, count in stacks.items():
            for name in stack:
                ids.setdefault(name, len(ids) + 1)
            places = b"".join(number(ids[name]) for name in reversed(stack))
            out += message((2, message((1, places), (2, number(count)), (3, label))))
    for name, place in ids.items():
        strings.append(name.encode())
        out += message((5, message((1, place), (2, len(strings) - 1))), (4, message((1, place), (4, message((1, place))))))
    out += b"".join(message((6, text)) for text in strings)
    with open(path, "wb") as file:
        file.write(out)


def write_perfetto(form, path):
    out, names = b"", {}
    for at, ((pid, tid), spans) in enumerate(form.spans.items()):
        track = at + 2
        out += message((1, message((60, message((1, track), (2, f"name {pid}/{tid}".encode()), (5, 1))))))
        edges = sorted([(span.start, 1, i, span) for i, span in enumerate(spans)] +
                       [(span.end, 0, -i, span) for i, span in enumerate(spans)], key=lambda item: item[:3])
        for time, begins, _, span in edges:
            event, more = [(9, 1 if begins else 2), (11, track)], []
            if begins:
                if span.name not in names:
                    names[span.name] = len(names) + 1
                    more = [(12, message((2, message((1, names[span.name]), (2, span.name.encode())))))]
                event.append((10, names[span.name]))
            out += message((1, message((8, time), (11, message(*event)), *more)))
    with open(path, "wb") as file:
        file.write(out)


def write_sqlite(form, path):
    base = sqlite3.connect(path)
    base.execute("CREATE TABLE functions(id INTEGER PRIMARY KEY, name TEXT)")
    base.execute("CREATE TABLE calls(id INTEGER PRIMARY KEY, function INTEGER, parent INTEGER, pid INTEGER, tid INTEGER, start "
                 "INTEGER, end INTEGER, called INTEGER, returned INTEGER, first_instruction INTEGER, end_instruction INTEGER)")
    ids, row = {}, 0
    for (pid, tid), spans in form.spans.items():
        outer = []
        for span in spans:
            if span.name not in ids:
                ids[span.name] = len(ids) + 1
                base.execute("INSERT INTO functions VALUES(?, ?)", (ids[span.name], span.name))
            while outer and outer[-1][1] <= span.start:
                outer.pop()
            row += 1
            base.execute("INSERT INTO calls VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, 0, ?)", (
                row, ids[span.name], outer[-1][0] if outer else None, pid, tid, span.start, span.end, span.called, span.returned,
                span.instructions))
            outer.append((row, span.end))
    base.commit()
    base.close()
