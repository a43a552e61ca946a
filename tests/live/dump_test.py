#!/usr/bin/env python3
"""`nodescope dump` on real node processes: dump_test.py NODESCOPE MAJOR|VERSION...

What V8 said about its own stack, at a hundred places on the main thread and in a worker, is what the dump must show.  And
a busy process, stopped anywhere, must show stacks in which every caller's line holds a call of the next function."""
import json
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import nodes
import truth

NODESCOPE = ""
BUSY = pathlib.Path(__file__).resolve().parent / "busy.js"
BUSY_DUMPS = 40

# Called by V8 and not by name: the text that the caller's line holds instead.
CALLED_BY = {"one": "items.map(", "compareItems": "items.sort(", "naturals": "naturals(", "Shape": "new "}


def dump(pid):
    done = subprocess.run([NODESCOPE, "dump", str(pid), "--json"], capture_output=True, text=True, timeout=60)
    if done.returncode != 0:
        raise AssertionError(done.stderr)
    return json.loads(done.stdout)


class DumpOf:
    """The tests of one node; a class for each version is made from it."""

    version = ""

    @classmethod
    def setUpClass(cls):
        cls.node = nodes.node_or_skip(cls.version)

    def check_stacks(self, node, every=1):
        wrong = []
        count = 0
        for process, expected in truth.stops(node):
            if expected["stop"] % every != 0:
                continue
            seen = dump(process.pid)
            self.assertEqual(seen["node"], self.version)
            problem = truth.difference(expected, truth.thread_of(seen, expected))
            count += 1
            if problem:
                wrong.append(f"{expected['kind']} (thread {expected['thread']}): {problem}")
        self.assertGreater(count, 100 // every)
        self.assertEqual(wrong, [])

    def test_what_v8_says(self):
        self.check_stacks(self.node)

    def test_stripped_and_renamed(self):
        if shutil.which("strip") is None:
            self.skipTest("there is no strip here")
        with tempfile.TemporaryDirectory() as folder:
            copy = pathlib.Path(folder) / "my-service"
            shutil.copy(self.node, copy)
            subprocess.run(["strip", str(copy)], check=True)
            self.check_stacks(str(copy), every=6)

    def test_busy_process(self):
        source = BUSY.read_text().split("\n")
        process = subprocess.Popen([self.node, str(BUSY)], stdout=subprocess.PIPE, text=True)
        try:
            self.assertEqual(process.stdout.readline(), "ready\n")
            problems = []
            stacks = 0
            for _ in range(BUSY_DUMPS):
                time.sleep(random.random() * 0.02)
                for thread in dump(process.pid)["threads"]:
                    frames = [f for f in thread["frames"] if (f["file"] or "").endswith("busy.js")]
                    stacks += bool(frames)
                    problems += [p for p in (self.call_problem(source, *pair) for pair in zip(frames, frames[1:])) if p]
                    problems += [str(f) for f in thread["frames"] if f["function"] == "[unknown js]"]
            self.assertGreater(stacks, BUSY_DUMPS)
            self.assertEqual(problems, [])
        finally:
            process.kill()
            process.wait()
            process.stdout.close()

    @staticmethod
    def call_problem(source, callee, caller):
        if caller["line"] is None:
            return None if not caller["sure"] else f"sure of a frame without a line: {caller}"
        name = callee["function"]
        text = CALLED_BY.get(name, name + "(")
        if text in source[caller["line"] - 1] or not caller["sure"]:
            return None
        return f"{name} called from line {caller['line']} of {caller['function']} ({caller['tier']})"


class DumpRefuses(unittest.TestCase):
    def run_dump(self, *arguments):
        return subprocess.run([NODESCOPE, "dump", *arguments], capture_output=True, text=True, timeout=60)

    def test_a_process_that_is_not_node(self):
        process = subprocess.Popen(["sleep", "60"])
        try:
            done = self.run_dump(str(process.pid))
            self.assertEqual(done.returncode, 1)
            self.assertRegex(done.stderr, "is not Node.js")
            self.assertIsNone(process.poll())
        finally:
            process.kill()
            process.wait()

    def test_no_such_process(self):
        done = self.run_dump("999999999")
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, "there is no process 999999999")


def main():
    global NODESCOPE
    NODESCOPE, versions = sys.argv[1], sys.argv[2:]
    suite = unittest.TestSuite()
    loader = unittest.defaultTestLoader
    suite.addTests(loader.loadTestsFromTestCase(DumpRefuses))
    for version in versions:
        version = nodes.version_of(version)
        name = "DumpOfNode_" + re.sub(r"\W", "_", version)
        suite.addTests(loader.loadTestsFromTestCase(type(name, (DumpOf, unittest.TestCase), {"version": version})))
    result = unittest.TextTestRunner(verbosity=2).run(suite)
    for test, reason in result.skipped:
        print(f"SKIPPED {test}: {reason}")
    sys.exit(0 if result.wasSuccessful() else 1)


main()
