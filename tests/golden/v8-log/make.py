#!/usr/bin/env python3
"""Makes the cases: for each Node.js given as FOLDER=PATH runs program.js with --prof, keeps a part of the ticks and the code that
they refer to (input), and asks that Node.js for its own --prof-process of it (expected: ticks by function).

  tests/golden/v8-log/make.py node22=/opt/node22/bin/node …"""
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
TICKS = 120


def number(text):
    return int(text, 0)


def addresses(tick):
    fields = tick.split(",")
    found = [number(fields[1]), number(fields[4])]
    previous = found[0]
    for field in fields[6:]:
        if field == "overflow":
            continue
        previous = previous + int(field, 16) if field[0] in "+-" else number(field)
        found.append(previous)
    return found


def code_range(line):
    fields = line.split(",")
    at = 3 if fields[3].startswith("0x") else 4
    return number(fields[at]), number(fields[at]) + number(fields[at + 1])


def shorten(lines):
    """The last ticks and what is needed to understand them."""
    ticks = [i for i, line in enumerate(lines) if line.startswith("tick,")]
    step = max(1, len(ticks) // TICKS)
    kept = set(ticks[::step])
    used = sorted({address for i in kept for address in addresses(lines[i])})

    def is_used(line):
        begin, end = code_range(line)
        return any(begin <= address < end for address in used)

    for i, line in enumerate(lines):
        if line.startswith("code-creation,") and is_used(line):
            kept.add(i)
        if line.startswith(("v8-version", "shared-library,", "profiler,", "code-move,", "code-delete,")):
            kept.add(i)
    return [lines[i] for i in sorted(kept)]


def anonymous(line):
    """No binary of this machine: neither we nor --prof-process know names of native functions then."""
    if line.startswith("shared-library,"):
        path = line.split(",")[1].strip('"')
        return line.replace(path, "/opt/" + pathlib.Path(path).name)
    return line


def expected(text):
    """Ticks of each function that is not native, of all libraries, of nothing known, and in the collector."""
    total = unaccounted = 0
    rows = {}
    section = ""
    for line in text.splitlines():
        if found := re.match(r"Statistical profiling result from .*, \((\d+) ticks, (\d+) unaccounted", line):
            total, unaccounted = int(found[1]), int(found[2])
        elif found := re.match(r" \[(.*)\]:", line):
            section = found[1]
        elif section in ("Shared libraries", "JavaScript", "Summary") and (
                found := re.match(r"\s+(\d+)\s+[\d.]+%\s+(?:[\d.]+%)?\s+(.*)$", line)):
            name = found[2]
            if section == "Shared libraries":
                name = "libraries"
            if section == "Summary":
                if name != "GC":
                    continue
                name = "collector"
            name = re.sub(r"^(JS|LazyCompile|Function|Script|Eval): ", "JS:", name).replace("<anonymous>", "")
            name = re.sub(r"^(\w+): ", r"\1:", name)
            rows[name] = rows.get(name, 0) + int(found[1])
    rows["unknown"] = unaccounted
    assert sum(rows.values()) - rows.get("collector", 0) == total, (rows, total)
    return "".join(f"{count} {name}\n" for name, count in sorted(rows.items()) if count)


def main():
    for argument in sys.argv[1:]:
        name, node = argument.split("=", 1)
        with tempfile.TemporaryDirectory() as folder:
            work = pathlib.Path(folder)
            (work / "program.js").write_bytes((HERE / "program.js").read_bytes())
            subprocess.run([node, "--prof", "program.js"], cwd=work, check=True)
            (log,) = work.glob("isolate*.log")
            lines = log.read_text().replace(str(work), "/srv/app").splitlines()
            lines = [anonymous(line) for line in shorten(lines)]
            (work / "v8.log").write_text("\n".join(lines) + "\n")
            text = subprocess.run([node, "--prof-process", "v8.log"], cwd=work, check=True, text=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
            version = subprocess.run([node, "--version"], check=True, text=True, stdout=subprocess.PIPE).stdout.strip()
            case = HERE / name
            case.mkdir(exist_ok=True)
            (case / "input").write_text((work / "v8.log").read_text())
            (case / "expected").write_text(expected(text))
            (case / "how.txt").write_text(f"make.py of the folder above with Node.js {version}\n")


main()
