#!/usr/bin/env python3
"""Turns the output of `go tool pprof -raw FILE` into the canonical text of our tests: what pprof itself reads.

Usage: go tool pprof -raw input | ./from_raw.py > expected
All frames are taken as native code, the labels thread_name and tid as the thread's; other labels are left out, and
samples that then are equal are added up.
"""
import re
import sys

UNITS = {"count": "count", "nanoseconds": "nanoseconds", "bytes": "bytes"}


def main():
    section, types, samples, locations, mappings = None, [], [], {}, {}
    for line in sys.stdin.read().split("\n"):
        if line in ("Samples:", "Locations", "Mappings"):
            section = line
        elif section == "Samples:" and not types:
            types = [t.removesuffix("[dflt]").split("/") for t in line.split()]
        elif section == "Samples:" and re.match(r" *-?\d", line):
            values, ids = line.split(":")
            samples.append([[int(v) for v in values.split()], [int(i) for i in ids.split()], ""])
        elif section == "Samples:" and line.strip():
            samples[-1][2] += line
        elif section == "Locations" and line.strip():
            head = re.match(r" +(\d+): 0x[0-9a-f]+ (?:M=(\d+) )?(.*)", line)
            if head:
                current = locations[int(head[1])] = {"mapping": int(head[2] or 0), "lines": []}
                line = head[3]
            part = re.match(r" *(.*) (\S+):(\d+):(\d+) s=(\d+)", line)
            if part:
                current["lines"].append((part[1], part[2], int(part[3]) or int(part[5]), int(part[4])))
        elif section == "Mappings" and line.strip():
            number, start, limit, offset, rest = re.match(r"(\d+): 0x(\w+)/0x(\w+)/0x(\w+) (.*)", line).groups()
            words = re.sub(r"(\[(FN|FL|LN|IN)\])+$", "", rest.rstrip()).split(" ")
            mappings[int(number)] = (start, limit, offset, words[0], words[1] if len(words) > 1 else "")

    out, sums = ["lost 0"], {}
    for start, limit, offset, file, build_id in mappings.values():
        if (start, limit, build_id) != ("0", "0", ""):
            out.append(f"mapping 0 {start}-{limit}+{offset} {file} {build_id}")
    for values, ids, labels in samples:
        stack = ""
        for number in reversed(ids):
            location = locations[number]
            module = mappings[location["mapping"]][3] if location["mapping"] else ""
            lines = location["lines"]
            for i, (name, file, row, column) in enumerate(reversed(lines)):
                stack += f" {name}|{file}:{row}:{column}|{module}|native|" + ("|inlined" if i > 0 else "")
            if not lines:
                stack += f" |:0:0|{module}|unknown|"
        thread = re.search(r"\bthread_name:\[(.*?)\]", labels)
        where = f"0()/0({thread[1] if thread else ''})"
        for (kind, unit), value in zip(types, values):
            shown = "samples" if kind == "samples" and unit == "count" else UNITS[unit]
            if value != 0 or (not any(values) and kind == types[-1][0]):
                key = (f"sample 0 {where} cpu -1 {kind} {shown}", stack)
                sums[key] = sums.get(key, 0) + value
    out += [f"{head} {value}:{stack}" for (head, stack), value in sums.items()]
    out.sort()
    print("\n".join(out))


main()
