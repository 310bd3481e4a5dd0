# SPDX-License-Identifier: GPL-2.0-only
"""A perf.data file as another driver has it recorded, from a recording of ours.

usage: aux_file.py RECORDING FILE LAYOUT [KEY=VALUE ...]

LAYOUT is rvtrace (v4 of the series: AUXTRACE_INFO of one word, the bytes of the trace as they are),
gtrace (the framework after it: the same, and the header names the PMU, AUX records have the format 0x0200),
spacemit (7 words for each hart, CoreSight formatter frames) or bytes (Documentation/trace/auxtrace-info.md: 16 words
for each hart, the bytes of the trace). The records of the recording's data
are kept; AUXTRACE_INFO, ITRACE_START, AUX and AUXTRACE come to them. All is written here byte by byte,
by what linux/perf_event.h, tools/perf/util/event.h and ARM IHI 0029 say.

  piece=N        bytes of trace in an AUX record (4096)
  task=PID       the events are of this task, on the hart; else the hart's
  cpu=no         and it has one AUX area, wherever it runs
  flags=N:F      the AUX record of piece N has flags F
  formats=F      all AUX records have these flags besides
  empty=F        a last AUX record without bytes has these flags
  pmu=NAME       the header has this name for type 42; mapping=no: as the name of an event
  mapping=no
  cpus=N         of the machine, in the header
  hw=A,B,...     AUX_OUTPUT_HW_ID of these CPUs
  pad=yes        AUXTRACE is padded to 8 bytes with zeros, as perf record does
  hole=N         the bytes of piece N are not in the file
  first=N        the AUX area begins at N, as in a snapshot
  half=lower     spacemit, bytes: the type of the PMU is in the lower half of the first word
  words=A,B,...  the words of AUXTRACE_INFO, instead of those of the layout
  type=N         of AUXTRACE_INFO (8)
  info=no        without AUXTRACE_INFO
  event=N        type of the first event: 42 is the PMU of AUXTRACE_INFO, as perf demands
  trace=no       without AUXTRACE
  arch=NAME      what the header says of the machine
  src=BITS:SRC   spacemit, bytes: SRC field; 0 bits: messages have none
  format=N       spacemit, bytes: of the hart (1)
  params=N       bytes: number of parameters in the record (14), each further one is 99
  param=N:VALUE  bytes: value of a parameter
  other=FILE     spacemit: a second source, interleaved with the first
  raw=yes        spacemit: without frames
  sync=yes       spacemit: words and half-words of synchronization among the frames
  compress=yes   records as perf record -z writes them; 2: as of perf 6.16
  barrier=N      spacemit: a frame that ends N bytes into a piece is written over by a barrier
  areas=N        AUX areas in all; the others are empty
  tail=N         so many bytes are missing at the end of the file
"""
import random
import struct
import subprocess
import sys

AUX, ITRACE_START, AUX_OUTPUT_HW_ID = 11, 12, 21
AUXTRACE_INFO, AUXTRACE, COMPRESSED, COMPRESSED2 = 70, 71, 81, 83
ARCH, NRCPUS, EVENT_DESC, PMU_MAPPINGS, FEATURE_COMPRESSED = 6, 7, 12, 16, 27
PMU = 42
NOBODY = 0xffffffff


def record(kind, body, misc=0):
    return struct.pack("<IHH", kind, misc, 8 + len(body)) + body


def frames(items, draw):
    """Formatter frames of (source, byte) items; draw: random numbers for synchronization, or None."""
    out, now, at = bytearray(), None, 0

    def source(index):
        return items[index][0] if index < len(items) else 0

    def data(index):
        return items[index][1] if index < len(items) else 0
    while at < len(items):
        frame = bytearray(16)
        for even in range(0, 16, 2):
            if source(at) != now:
                # A number, from the next byte on.
                now = source(at)
                frame[even] = now << 1 | 1
            elif even < 14 and source(at + 1) != now:
                # A number, and one byte more of the source before.
                now = source(at + 1)
                frame[even] = now << 1 | 1
                frame[15] |= 1 << even // 2
            else:
                frame[even] = data(at) & 0xfe
                frame[15] |= (data(at) & 1) << even // 2
                at += 1
            if even < 14:
                frame[even + 1] = data(at)
                at += 1
        halves = [frame[even:even + 2] for even in range(0, 16, 2)]
        if draw and not draw.randrange(8):
            halves.insert(draw.randrange(2, 8), b"\xff\x7f")
        if draw and not draw.randrange(8):
            halves.insert(0, b"\xff\xff\xff\x7f")
        out += b"".join(halves)
    return bytes(out)


def compressed(records, kind):
    """Cut where records do not end."""
    out = b""
    for at in range(0, len(records), 501):
        part = subprocess.run(["zstd", "-q", "-c"], input=records[at:at + 501], capture_output=True, check=True).stdout
        if kind == COMPRESSED2:
            part = struct.pack("<Q", len(part)) + part + bytes(-len(part) % 8)
        out += record(kind, part)
    return out


def text(value):
    padded = (value.encode() + b"\0").ljust(64, b"\0")
    return struct.pack("<I", len(padded)) + padded


class Maker:
    def __init__(self, recording, layout, option):
        self.layout, self.option = layout, option
        with open(f"{recording}/data", "rb") as file:
            self.whole = file.read()
        with open(f"{recording}/aux.0", "rb") as file:
            self.trace = file.read()
        with open(f"{recording}/params", encoding="utf-8") as file:
            params = dict(line.rstrip("\n").partition(" ")[::2] for line in file)
        self.start, self.stop = int(params["start_ns"]), int(params["stop_ns"])
        (self.magic, self.size, self.attr_size, self.attrs_at, self.attrs_size, self.data_at,
         self.data_size) = struct.unpack_from("<8s6Q", self.whole)
        self.id, = struct.unpack_from("<Q", self.whole, self.size)
        self.first = int(option.get("first", 0))
        self.task = int(option.get("task", 0))

    def trailer(self, time, cpu=0):
        pid = self.task or NOBODY
        return struct.pack("<IIQIIQ", pid, pid, time, cpu, 0, self.id)

    def info(self):
        if "words" in self.option:
            words = [int(word, 0) for word in self.option["words"].split(",") if word]
        elif self.layout in ("rvtrace", "gtrace"):
            words = [PMU]
        else:
            bits, src = (int(word) for word in self.option.get("src", "0:0").split(":"))
            lower = self.option.get("half") == "lower"
            words = [1 << 32 | PMU if lower else PMU << 32 | 1, 0, 5, int(self.option.get("format", 1)), 1, not bits,
                     bits or 3, src]
            if self.layout == "bytes":
                # Packing, source ID, version + 1, XLEN, flags; the rest is 0.
                values = words[3:] + [1, 0, 2, 64, 0, 0, 0, 0, 0]
                count = int(self.option.get("params", len(values)))
                values = (values + [99] * count)[:count]
                if "param" in self.option:
                    number, value = (int(word, 0) for word in self.option["param"].split(":"))
                    values[number] = value
                words = words[:2] + [count] + values
        return record(AUXTRACE_INFO, struct.pack(f"<II{len(words)}Q", int(self.option.get("type", 8)), 0, *words))

    def pieces(self):
        """What an AUX record hands over, one after the other."""
        step = int(self.option.get("piece", 4096))
        draw = random.Random(1) if self.option.get("sync") else None
        other = b""
        if "other" in self.option:
            with open(self.option["other"], "rb") as file:
                other = file.read()
        for at in range(0, len(self.trace), step):
            part = self.trace[at:at + step]
            if self.layout != "spacemit" or "raw" in self.option:
                yield part
                continue
            items, rest, mix = [], list(other[at:at + step]), random.Random(at)
            for byte in part:
                items.append((0x10, byte))
                while rest and mix.randrange(2):
                    items.append((0x11, rest.pop(0)))
            items += [(0x11, byte) for byte in rest]
            whole = frames(items, draw)
            if "barrier" in self.option:
                end = int(self.option["barrier"])
                whole = whole[:end - 16] + 4 * b"\xff\xff\xff\x7f" + whole[end:]
            yield whole

    def trace_records(self):
        cpu = NOBODY if self.option.get("cpu") == "no" else 0
        hole = int(self.option.get("hole", -1))
        number, flags = (int(word, 0) for word in self.option.get("flags", "-1:0").split(":"))
        offset = self.first
        formats = int(self.option.get("formats", "0x200" if self.layout == "gtrace" else "0"), 0)
        aux, traces = [], []
        pieces = list(self.pieces())
        for i, part in enumerate(pieces):
            aux.append(record(AUX, struct.pack("<QQQ", offset, len(part), flags if i == number else formats) +
                              self.trailer(self.stop - len(pieces) + 1 + i)))
            if i != hole:
                padded = part + bytes(-len(part) % 8) if "pad" in self.option else part
                traces.append(record(AUXTRACE, struct.pack("<QQQIIII", len(padded), offset, 0, 0,
                                                           self.task or NOBODY, cpu, 0)) + padded)
            offset += len(part)
        if "empty" in self.option:
            aux.append(record(AUX, struct.pack("<QQQ", offset, 0, int(self.option["empty"], 0)) + self.trailer(self.stop)))
        for area in range(1, int(self.option.get("areas", 1))):
            traces.append(record(AUXTRACE, struct.pack("<QQQIIII", 0, 0, 0, area, NOBODY, cpu, 0)))
        for cpu in self.option.get("hw", "").split(","):
            if cpu:
                aux.insert(0, record(AUX_OUTPUT_HW_ID, struct.pack("<Q", int(cpu)) + self.trailer(self.start)))
        start = record(ITRACE_START, struct.pack("<II", self.task or NOBODY, self.task or NOBODY) + self.trailer(self.start))
        return start + b"".join(aux), b"".join(traces) if self.option.get("trace") != "no" else b""

    def make(self):
        sideband, traces = self.trace_records()
        sideband = self.whole[self.data_at:self.data_at + self.data_size] + sideband
        features = {}
        if "arch" in self.option:
            features[ARCH] = text(self.option["arch"])
        if "cpus" in self.option:
            features[NRCPUS] = struct.pack("<II", int(self.option["cpus"]), 1)
        name = self.option.get("pmu", "gtrace" if self.layout == "gtrace" else "")
        if name and self.option.get("mapping") != "no":
            features[PMU_MAPPINGS] = struct.pack("<II", 2, 1) + text("software") + struct.pack("<I", PMU) + text(name)
        elif name:
            attr = struct.pack("<II", PMU, 64) + bytes(56)
            features[EVENT_DESC] = struct.pack("<II", 1, len(attr)) + attr + struct.pack("<I", 1) + text(f"{name}//u") + bytes(8)
        if "compress" in self.option:
            sideband = compressed(sideband, COMPRESSED2 if self.option["compress"] == "2" else COMPRESSED)
            features[FEATURE_COMPRESSED] = struct.pack("<5I", 1, 1, 1, 2, 1 << 20)
        data = (self.info() if self.option.get("info") != "no" else b"") + sideband + traces
        bits = sum(1 << number for number in features)
        out = struct.pack("<8s8Q4Q", self.magic, self.size, self.attr_size, self.attrs_at, self.attrs_size,
                          self.data_at, len(data), 0, 0, bits, 0, 0, 0)
        out += self.whole[len(out):self.data_at] + data
        at = len(out) + 16 * len(features)
        for number in sorted(features):
            out += struct.pack("<QQ", at, len(features[number]))
            at += len(features[number])
        for number in sorted(features):
            out += features[number]
        event = self.option.get("event", PMU if name else None)
        if event is not None:
            # And a sample_type with IP, as perf record sets it; no record here has one.
            sample_type, = struct.unpack_from("<Q", out, self.attrs_at + 24)
            out = bytearray(out)
            struct.pack_into("<I", out, self.attrs_at, int(event))
            struct.pack_into("<Q", out, self.attrs_at + 24, sample_type | 1)
        return out[:len(out) - int(self.option.get("tail", 0))]


def main():
    maker = Maker(sys.argv[1], sys.argv[3], dict(word.split("=", 1) for word in sys.argv[4:]))
    with open(sys.argv[2], "wb") as file:
        file.write(maker.make())


main()
