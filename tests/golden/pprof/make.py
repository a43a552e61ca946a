#!/usr/bin/env python3
"""Writes the cases "node" and "odd" from pprof's profile.proto, with a protobuf encoder of a few lines.

The expected texts are written out by hand below.
"""
import gzip
import pathlib


def varint(n):
    n &= (1 << 64) - 1
    out = bytearray()
    while n >= 0x80:
        out.append(n & 0x7F | 0x80)
        n >>= 7
    return bytes(out) + bytes([n])


def num(field, value):
    return varint(field << 3) + varint(value)


def part(field, content):
    return varint(field << 3 | 2) + varint(len(content)) + content


def packed(field, values):
    return part(field, b"".join(map(varint, values)))


class Strings:
    def __init__(self):
        self.all = [""]

    def __call__(self, text):
        if text not in self.all:
            self.all.append(text)
        return self.all.index(text)

    def encode(self):
        return b"".join(part(6, s.encode()) for s in self.all)


def value_type(field, kind, unit):
    return part(field, num(1, kind) + num(2, unit))


def function(number, name, system_name, file, start=0):
    return part(5, num(1, number) + num(2, name) + num(3, system_name) + num(4, file) + num(5, start))


def location(number, lines, mapping=0, address=0):
    head = num(1, number) + (num(2, mapping) if mapping else b"") + (num(3, address) if address else b"")
    return part(4, head + b"".join(part(4, num(1, f) + num(2, l) + (num(3, c) if c else b"")) for f, l, c in lines))


def text_label(key, value):
    return part(3, num(1, key) + num(2, value))


def num_label(key, value, unit=0):
    return part(3, num(1, key) + num(3, value) + (num(4, unit) if unit else b""))


def case(name, content, expected):
    folder = pathlib.Path(__file__).parent / name
    (folder / "input").write_bytes(content)
    (folder / "expected").write_text(expected)


def node():
    """As Datadog's pprof-nodejs writes wall profiles: no mappings, scripts as file names, labels for thread and time."""
    s = Strings()
    start = 1_700_000_000_000_000_000
    labels = text_label(s("thread name"), s("Main Event Loop")) + text_label(s("thread id"), s("0")) + \
        text_label(s("os thread id"), s("4711")) + text_label(s("span id"), s("99"))
    out = value_type(1, s("sample"), s("count")) + value_type(1, s("wall"), s("nanoseconds"))
    for stack, values, time in (([3, 2, 1], [1, 10_000_000], 5_000_000), ([2, 1], [1, 10_101_010], 15_000_001),
                                ([4], [2, 20_000_000], 40_000_000)):
        out += part(2, packed(1, stack) + packed(2, values) + labels + num_label(s("end_timestamp_ns"), start + time))
    out += location(1, [(1, 0, 0)]) + location(2, [(2, 42, 0)]) + location(3, [(3, 7, 0)]) + location(4, [(4, 0, 0)])
    out += function(1, s("(anonymous)"), s("(anonymous)"), s("node:internal/timers"), 500)
    out += function(2, s("handler"), s("handler"), s("file:///app/server.mjs"))
    out += function(3, s("JSON.parse"), s("JSON.parse"), 0)
    out += function(4, s("(garbage collector)"), s("(garbage collector)"), 0)
    out += num(9, start) + num(10, 60_000_000_000) + value_type(11, s("wall"), s("nanoseconds")) + num(12, 10_000_000)
    timers = "(anonymous)|node:internal/timers:500:0||js|"
    handler = "handler|file:///app/server.mjs:42:0||js|"
    lines = ["lost 0"]
    for time, frames, values in ((5_000_000, [timers, handler, "JSON.parse|:7:0||unknown|"], (1, 10_000_000)),
                                 (15_000_001, [timers, handler], (1, 10_101_010)),
                                 (40_000_000, ["(garbage collector)|:0:0||gc|"], (2, 20_000_000))):
        for kind, value in zip(("sample samples", "wall nanoseconds"), values):
            lines.append(f"sample {time} 0()/4711(Main Event Loop) cpu -1 {kind} {value}: " + " ".join(frames))
    return gzip.compress(out + s.encode(), mtime=0), "\n".join(sorted(lines)) + "\n"


def odd():
    """All that is allowed but seldom, and some that is not: see the comments."""
    s = Strings()
    out = s.encode()[:0]
    # A type that is shown by default though it is not the last; units that must be scaled; one that is not known.
    out += value_type(1, s("delay"), s("milliseconds")) + value_type(1, s("space"), s("kb"))
    out += value_type(1, s("energy"), s("joules"))
    out += num(14, s("delay"))
    # Numbers that are not packed; a location id that is an address; inlined functions; a mapping with a build id.
    out += part(2, num(1, 0xFFFF0000) + num(1, 7) + num(2, 3) + num(2, 2) + num(2, 1) +
                num_label(s("pid"), 12) + num_label(s("tid"), -3) + text_label(s("comm"), s("worker")) +
                num_label(s("cpu"), 0) + num_label(s("timestamp"), 5, s("microseconds")))
    # A location that does not exist, a function that does not exist, a location without lines, a negative value.
    out += part(2, packed(1, [1234, 8, 9]) + packed(2, [1, -5, 0]))
    # Too few values and too many.
    out += part(2, packed(1, [7]) + packed(2, [4]))
    out += part(2, packed(1, [7]) + packed(2, [0, 0, 6, 9]))
    # Nothing counted; no stack.
    out += part(2, packed(2, [0, 0, 0]))
    out += location(7, [(1, 3, 9)], 1, 0x400010)
    out += location(0xFFFF0000, [(2, 11, 5), (3, 12, 0), (4, 13, 0)], 1)
    out += location(8, [(99, 1, 0)], 77)
    out += location(9, [], 1)
    # A second location 7, which does not count.
    out += location(7, [(2, 1, 1)])
    out += function(1, s("main"), s("JS:*main /app/a.js:3:9"), s("/app/a.js"))
    out += function(2, s("deep"), s("_Z4deepv"), s("a.cc")) + function(3, s("middle"), s("_Z6middlev"), s("a.cc"))
    out += function(4, 0, s("outer"), 0, 10)
    out += part(3, num(1, 1) + num(2, 0x400000) + num(3, 0x500000) + num(4, 0x1000) + num(5, s("/bin/a")) +
                num(6, s("c0ffee")) + num(7, 1))
    out += num(7, s("drop.*")) + packed(13, [s("free text"), s("host: db-1"), s("more text")])
    # Fields of a later version.
    out += num(40, 1) + part(41, b"future")
    main = "main|/app/a.js:3:9|/bin/a|js|turbofan"
    where = "12(worker)/-3() cpu 0"
    stack = f"{main} outer|:13:0|/bin/a|native| middle|a.cc:12:0|/bin/a|native||inlined deep|a.cc:11:5|/bin/a|native||inlined"
    lines = ["lost 0", "mapping 12 400000-500000+1000 /bin/a c0ffee",
             f"sample 5000 {where} delay nanoseconds 3000000: {stack}", f"sample 5000 {where} space bytes 2048: {stack}",
             f"sample 5000 {where} energy count 1: {stack}",
             "sample 0 0()/0() cpu -1 delay nanoseconds 1000000: |:0:0|/bin/a|unknown| |:1:0||unknown| |:0:0||unknown|",
             f"sample 0 0()/0() cpu -1 delay nanoseconds 4000000: {main}",
             f"sample 0 0()/0() cpu -1 energy count 6: {main}", "sample 0 0()/0() cpu -1 delay nanoseconds 0:"]
    return out + s.encode(), "\n".join(sorted(lines)) + "\n"


case("node", *node())
case("odd", *odd())
