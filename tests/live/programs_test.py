#!/usr/bin/env python3
"""`nodescope dump` on programs from npm: programs_test.py [--table] NODESCOPE MAJOR|VERSION [PROGRAM...]

Each program stops itself now and then and writes down what V8 says about its stack (own_stack.js).  In the dump of that
moment file, line and column of every frame must be the same, and what is not the same must be marked as not sure."""
import collections
import json
import pathlib
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import nodes
import programs
import runner

ALL = ["tsc", "tsc_in_worker", "eslint", "prettier", "webpack", "rollup", "express", "fastify", "jest", "sqljs"]
STOPS = 25
# Until then most of a program is compiled lazily and interpreted.
FIRST_MS = 2000
GAP_MS = 25

NODESCOPE = ""
TABLE = collections.defaultdict(collections.Counter)


def frames_outside_the_stop(dump):
    """Of the thread that stopped the process, from the caller of own_stack.js's function outwards."""
    for thread in dump["threads"]:
        frames = [f for f in thread["frames"] if f.get("kind") in ("js", "wasm")]
        names = [f["function"] for f in frames]
        if "stopHere" in names:
            return frames[names.index("stopHere") + 1:]
    return None


def compare(truth, dump):
    """("right" | "marked" | "wrong", what differs)."""
    frames = frames_outside_the_stop(dump)
    if frames is None:
        return "wrong", "stopHere is not on the stack"
    wanted = programs.seen_by_v8(truth["frames"])
    seen = [(f.get("file") or "", f.get("line"), f.get("column")) for f in frames]
    if seen == wanted:
        return "right", ""
    at = next((i for i, (a, b) in enumerate(zip(wanted, seen)) if a != b), min(len(wanted), len(seen)))
    text = f"frame {at}: {seen[at:at + 3]} instead of {wanted[at:at + 3]}, {len(seen)} frames instead of {len(wanted)}"
    # From the innermost difference outwards there must be a frame that is doubted before one that is right again.
    is_marked = at < len(frames) and not frames[at]["sure"]
    return ("marked" if is_marked else "wrong"), text


class ProgramsOf:
    version = ""

    @classmethod
    def setUpClass(cls):
        cls.command = nodes.command_or_skip(cls.version)
        try:
            programs.packages()
        except nodes.Unavailable as reason:
            raise unittest.SkipTest(str(reason)) from reason

    def check(self, program):
        counts = collections.Counter()
        problems = []
        with programs.started(self.command, program, FIRST_MS, GAP_MS) as (process, next_stop, go_on):
            while counts["stacks"] < STOPS and (truth := next_stop()):
                done = subprocess.run([NODESCOPE, "dump", str(process.pid), "--json"], capture_output=True, text=True, timeout=120)
                self.assertEqual(done.returncode, 0, done.stderr)
                what, text = compare(truth, json.loads(done.stdout))
                counts["stacks"] += 1
                counts["frames"] += len(truth["frames"])
                counts[what] += 1
                if text:
                    problems.append(f"{what}: {text}")
                go_on()
        TABLE[program] = counts
        self.assertGreater(counts["stacks"], STOPS // 2, f"{program} ended early")
        self.assertEqual(counts["wrong"], 0, problems)
        self.assertLessEqual(counts["marked"], 1, problems)


def print_table(version):
    for program, counts in TABLE.items():
        print(f"{version} {program}: {counts['right']} of {counts['stacks']} stacks right, {counts['marked']} marked, "
              f"{counts['wrong']} wrong, {counts['frames']} frames")


if __name__ == "__main__":
    arguments = sys.argv[1:]
    wants_table = arguments[0] == "--table"
    NODESCOPE, version, *names = arguments[1:] if wants_table else arguments
    tests = {f"test_{name}": (lambda self, name=name: self.check(name)) for name in names or ALL}
    case = type(f"ProgramsOf{version}", (ProgramsOf, unittest.TestCase), {**tests, "version": nodes.version_of(version)})
    try:
        runner.run(unittest.defaultTestLoader.loadTestsFromTestCase(case))
    finally:
        print_table(version)
