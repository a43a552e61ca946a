#!/usr/bin/env python3
"""Writes the golden recordings from the specification in docs/formats.md, without any code of nodescope.

Each case is a list of chunks and the profile that they mean; `expected` is that profile, worked out here from the same
lists, in the canonical text of the tests.  Needs the zstd program for the case "zstd".
"""
import pathlib
import struct
import subprocess
import zlib

KINDS = ["unknown", "js", "native", "kernel", "builtin", "gc", "regexp", "wasm"]
TIERS = ["", "interpreted", "baseline", "maglev", "turbofan"]
UNITS = ["samples", "nanoseconds", "bytes", "count"]


def varint(n):
    n &= (1 << 64) - 1
    out = bytearray()
    while n >= 0x80:
        out.append(n & 0x7F | 0x80)
        n >>= 7
    out.append(n)
    return bytes(out)


def svarint(n):
    return varint(n * 2 if n >= 0 else -n * 2 - 1)


def text(s):
    return varint(len(s)) + s


def deltas(values):
    out, last = b"", 0
    for v in values:
        out += svarint(v - last)
        last = v
    return out


def section(number, content):
    return bytes([number]) + text(content)


def strings(first, values):
    return section(1, varint(first) + varint(len(values)) + b"".join(varint(len(v)) for v in values) + b"".join(values))


def frames(first, rows):  # (function, file, module, line, column, kind, tier, inlined)
    column = lambda i: [r[i] for r in rows]
    flags = bytes(r[5] | r[6] << 4 | r[7] << 7 for r in rows)
    return section(2, varint(first) + varint(len(rows)) + deltas(column(0)) + deltas(column(1)) + deltas(column(2)) +
                   b"".join(map(varint, column(3))) + b"".join(map(varint, column(4))) + flags)


def stacks(first, rows):  # (frame, caller)
    distances = b"".join(varint(first + i - caller) for i, (_, caller) in enumerate(rows))
    return section(3, varint(first) + varint(len(rows)) + deltas([r[0] for r in rows]) + distances)


def events(rows):
    return section(4, b"".join(text(n) + bytes([u]) for n, u in rows))


def processes(first, rows):
    return section(5, varint(first) + varint(len(rows)) + b"".join(svarint(p) + varint(n) for p, n in rows))


def threads(first, rows):
    return section(6, varint(first) + varint(len(rows)) +
                   b"".join(varint(p) + svarint(t) + varint(n) for p, t, n in rows))


def samples(contexts, rows, unit, period, start):  # contexts (thread, cpu + 1, event), rows (context, time, stack, weight)
    lanes = []
    for thread, _, event in contexts:
        if (thread, event) not in lanes:
            lanes.append((thread, event))
    by_lane = [r for lane in lanes for r in rows if (contexts[r[0]][0], contexts[r[0]][2]) == lane]
    lane_of = lambda r: (contexts[r[0]][0], contexts[r[0]][2])

    context_column, last, follows = b"", 0, {}
    for r in rows:
        context_column += varint(0 if follows.get(last, 0) == r[0] else r[0] + 1)
        follows[last] = r[0]
        last = r[0]
    times = stack_column = weights = b""
    lane = None
    for r in by_lane:
        if lane_of(r) != lane:
            lane, time, stack, weight = lane_of(r), start, 0, 0
        assert (r[1] - time) % unit == 0
        times += svarint((r[1] - time) // unit - period)
        stack_column += varint(0 if r[2] == stack else r[2] + 1)
        weights += svarint(r[3] - weight)
        time, stack, weight = r[1], r[2], r[3]
    one_time = len({r[1] for r in rows}) == 1
    one_weight = len({r[3] for r in rows}) == 1
    out = varint(len(rows)) + varint(len(contexts)) + b"".join(varint(v) for c in contexts for v in c)
    out += bytes([one_time * 1 + one_weight * 2])
    out += b"" if one_time else varint(unit) + svarint(period)
    out += varint(rows[0][3]) if one_weight else b""
    out += text(context_column if len(contexts) > 1 else b"") + text(b"" if one_time else times)
    out += text(stack_column) + text(b"" if one_weight else weights)
    return section(12, out)


def file_header():
    head = b"NSCOPE\r\n\x1a\n" + bytes([1, 0]) + struct.pack("<I", 0)
    return head + struct.pack("<I", zlib.crc32(head))


def chunk(kind, sequence, tables, before, times, payload, compress=False):
    stored = subprocess.run(["zstd", "-q", "-c"], input=payload, stdout=subprocess.PIPE, check=True).stdout \
        if compress else payload
    head = b"\xf5NSchunk" + bytes([1, kind, 1 if compress else 0, 0])
    head += struct.pack("<IIIQqqIII", sequence, tables, len(times), before, min(times, default=0), max(times, default=0),
                        len(payload), len(stored), zlib.crc32(stored))
    return head + struct.pack("<I", zlib.crc32(head)) + stored


def expected(samples, rest):
    """samples: (time, pid, process, tid, thread, cpu, event, unit, weight, [frame texts])"""
    lines = [f"sample {t} {pid}({p})/{tid}({n}) cpu {cpu} {e} {UNITS[u]} {w}:" + "".join(" " + f for f in fs)
             for t, pid, p, tid, n, cpu, e, u, w, fs in samples]
    lines += [r for r in rest if r.split(" ")[0] in ("mapping", "marker", "lost")]
    lines.sort()
    lines += [r for r in rest if r.split(" ")[0] not in ("mapping", "marker", "lost")]
    return "".join(line + "\n" for line in lines)


NAMES = [b"main", b"/app/a.js", b"node", b"read", b"[kernel.kallsyms]", b"libuv", b"Scavenge", b"build"]
MAIN = "main|/app/a.js:3:9||js|turbofan|inlined"
READ = "read|:0:0|[kernel.kallsyms]|kernel|"
UNKNOWN = "|:0:0||unknown|"


def data_chunks(compress):
    first = strings(1, NAMES)
    first += frames(0, [(1, 2, 0, 3, 9, 1, 4, 1), (4, 0, 5, 0, 0, 3, 0, 0)])
    first += stacks(1, [(0, 0), (1, 1), (1, 2)])  # main; main read; main read read
    first += events([(b"cpu", 1), (b"faults", 3)])
    first += processes(1, [(100, 3)])
    first += threads(1, [(1, 100, 3), (1, -5, 6)])
    first += section(7, varint(1) + varint(0x400000) + varint(0x500000) + varint(4096) + varint(2) + varint(8))
    first += section(8, svarint(-3) + svarint(7) + varint(2) + bytes([0]) + varint(7))
    first += section(9, text(b"command") + text(b"node a.js"))
    first += section(10, bytes([1]) + varint(2) + text(b"doubt") + text(b"example"))
    first += section(11, varint(5) + svarint(-1))
    contexts = [(1, 0, 0), (2, 3, 0), (1, 2, 0), (1, 0, 1)]
    rows = [(0, 1000, 1, 10), (1, 1500, 2, 10), (2, 2000, 1, 10), (1, 2500, 2, 11), (0, 3000, 3, 10), (3, 500, 0, 1)]
    first += samples(contexts, rows, 500, 2, 500)

    second = strings(1, [b"other"]) + frames(0, [(1, 0, 0, 0, 0, 2, 0, 0)]) + stacks(1, [(0, 0)])
    second += events([(b"cpu", 1)])
    second += section(99, b"from the future")
    second += samples([(0, 0, 0)], [(0, 9000, 1, 4), (0, 9000, 1, 4)], 1, 0, 9000)

    third = events([(b"cpu", 1)]) + samples([(0, 0, 0)], [(0, 9001, 1, 4), (0, 9000, 0, 4)], 1, 0, 9000)
    chunks = [
        chunk(1, 0, 0, 0, [r[1] for r in rows], first, compress),
        chunk(1, 1, 1, 6, [9000, 9000], second, compress),
        chunk(1, 2, 1, 8, [9001, 9000], third, False),
        chunk(2, 3, 1, 10, [], b""),
    ]
    node = lambda time, cpu, frames, weight=10, event="cpu", unit=1: (
        time, 100, "node", 100, "node", cpu, event, unit, weight, frames)
    uv = lambda time, weight: (time, 100, "node", -5, "libuv", 2, "cpu", 1, weight, [MAIN, READ])
    nobody = lambda time, frames: (time, 0, "", 0, "", -1, "cpu", 1, 4, frames)
    other = "other|:0:0||native|"
    shown = [
        [node(1000, -1, [MAIN]), uv(1500, 10), node(2000, 1, [MAIN]), uv(2500, 11), node(3000, -1, [MAIN, READ, READ]),
         node(500, -1, [], 1, "faults", 3)],
        [nobody(9000, [other]), nobody(9000, [other])],
        [nobody(9001, [other]), nobody(9000, [])],
    ]
    return chunks, shown


FACTS = ["mapping 100 400000-500000+1000 /app/a.js build", "marker -3+7 100(node)/-5(libuv) 0 Scavenge"]
THREADS = ["process 0 ", "process 100 node", "thread 0 ", "thread 100 node", "thread -5 libuv"]


def case(name, file, text):
    folder = pathlib.Path(__file__).parent / name
    folder.mkdir(exist_ok=True)
    (folder / "input").write_bytes(file)
    (folder / "expected").write_text(text)


def main():
    rest = FACTS + ["lost 5", "fact command=node a.js", "diagnostic doubt 1 x2 example",
                    "diagnostic sections that this version does not know 0 x1 "] + THREADS
    rest += ["event cpu nanoseconds", "event faults count", "clock -1"]
    for compress in (False, True):
        chunks, shown = data_chunks(compress)
        case("zstd" if compress else "plain", file_header() + b"".join(chunks), expected(sum(shown, []), rest))

    # The second chunk, at which tables began, is gone, so the third does not know its stacks; the end is cut.
    chunks, shown = data_chunks(False)
    lost = [(9001, 0, "", 0, "", -1, "cpu", 1, 4, [UNKNOWN]), (9000, 0, "", 0, "", -1, "cpu", 1, 4, [])]
    rest = FACTS + ["lost 7", "fact command=node a.js", "diagnostic doubt 1 x2 example",
                    f"diagnostic chunks are missing 2 x1 byte {20 + len(chunks[0])}",
                    "diagnostic samples whose stack was lost with a damaged chunk 1 x1 ",
                    f"diagnostic recording ends in the middle of a chunk 1 x1 byte {20 + len(chunks[0] + chunks[2])}",
                    "diagnostic recording was not finished 1 x1 it has no end mark"] + THREADS
    rest += ["event cpu nanoseconds", "event faults count", "clock -1"]
    case("damaged", file_header() + chunks[0] + chunks[2] + chunks[3][:40], expected(shown[0] + lost, rest))


main()
