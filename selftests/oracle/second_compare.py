# SPDX-License-Identifier: GPL-2.0-only
"""Compares the events of libntrace with those of second_decoder.py; prints TAP.

Standard input has cases, each in lines of one word and its value:

    case TEXT               the choice of options, for the report
    params TEXT             as ntrace decode takes them
    src N
    memory ADDRESS HEX      any number
    stream HEX
    ...                     the expected events, "p ADDRESS" or "EVENT [TIME]"
    end
"""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import second_decoder  # noqa: E402
from tap import done, ok  # noqa: E402

BATCH = 100


class Memory:
    def __init__(self):
        self.parts = []

    def add(self, address, text):
        self.parts.append((int(address, 16), bytes.fromhex(text)))

    def read(self, address, size):
        for start, content in self.parts:
            if start <= address and address + size <= start + len(content):
                return int.from_bytes(content[address - start:address - start + size], "little")
        raise KeyError(f"no memory at {address:#x}")


def events_of(case):
    params = second_decoder.parse_params(case["params"])
    src = int(case["src"]) if "srcbits" in params else None
    flow = second_decoder.Flow(case["memory"].read, params, src)
    for i, event in enumerate(flow.run(bytes.fromhex(case["stream"])).events):
        if isinstance(event, int):
            yield f"p {event:x}"
        elif flow.times[i] is None:
            yield event
        else:
            yield f"{event} {flow.times[i]}"


def difference(case):
    """None, or a text. An event of the library need not have a time: it forgets it at a loss."""
    expected, got = case["events"], list(events_of(case))
    for i, (want, have) in enumerate(zip(expected + ["the end"], got + ["the end"])):
        if want not in (have, have.rpartition(" ")[0]):
            return (f"{case['case']}\n{case['params']}\nevent {i}: the library has\n"
                    f"{expected[max(i - 5, 0):i + 3]}, the second decoder\n"
                    f"{got[max(i - 5, 0):i + 3]}")
    return None


def main():
    case, total, failed, instructions = None, 0, [], 0
    for line in sys.stdin:
        key, _, value = line.rstrip("\n").partition(" ")
        if key == "case":
            case = {"case": value, "memory": Memory(), "events": []}
        elif key in ("params", "src", "stream"):
            case[key] = value
        elif key == "memory":
            case["memory"].add(*value.split())
        elif key != "end":
            case["events"].append(line.rstrip("\n"))
        else:
            why = difference(case)
            failed += [why] if why else []
            total += 1
            instructions += sum(event.startswith("p ") for event in case["events"])
            if total % BATCH == 0:
                ok(not failed, f"programs up to {total}: both decoders have the same events",
                   f"{len(failed)} differ", *failed[:3])
                failed = []
    ok(not failed, "the remaining programs", *failed[:3])
    ok(instructions > 100 * total > 0, f"{total} programs, {instructions} instructions")
    done()


if __name__ == "__main__":
    main()
