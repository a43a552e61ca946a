#!/usr/bin/env python3
"""Asynchronous callers on real node processes: async_test.py NODESCOPE MAJOR|VERSION... [--all]

`dump` must show what V8 itself prints after "at async", on the main thread and in a worker: function, file, line and column of
each caller.  At every third of two hundred places, with --all at each.  `record --async` must show them or say that they
are lost."""
import collections
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import nodes
import recording
import runner

NODESCOPE = ""
LOAD = pathlib.Path(__file__).resolve().parent / "async_load.js"
PROGRAM = pathlib.Path(__file__).resolve().parent / "async_stacks.js"

# The asynchronous callers of the functions in async_load.js, innermost first.
CALLERS = {
    "spinUsers": ["async users", "async route", "async server"],
    "spinOrders": ["async Promise.all", "async orders", "async route", "async server"],
    "spinParse": ["async upload", "async route", "async server"],
}
LOST = "[asynchronous callers lost]"

# One stop in two hundred may be between two states of the heap.
TOLERATED = 0.005


def told_by_v8(callers):
    return [(c["combinator"], c["index"]) if "combinator" in c else (c["name"] or "(anonymous)", c["file"], c["line"], c["column"])
            for c in callers]


def told_by_dump(frames):
    return [(f["combinator"], f["index"]) if "combinator" in f else (f["function"], f["file"] or "", f["line"], f["column"])
            for f in frames if f.get("async")]


def stops(command):
    process = subprocess.Popen([*command, str(PROGRAM)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        for line in process.stdout:
            truth = json.loads(line)
            if "end" in truth:
                return
            yield process, truth
            process.stdin.write("\n")
            process.stdin.flush()
        raise AssertionError(f"{PROGRAM.name} ended early with {process.wait()}")
    finally:
        process.kill()
        process.wait()
        process.stdin.close()
        process.stdout.close()


class AsyncOf:
    """The tests of one node; a class for each version is made from it."""

    version = ""
    step = 1  # every how many stops are looked at

    def thread_that_stays(self, pid):
        done = subprocess.run([NODESCOPE, "dump", str(pid), "--json", "--stop-timeout", "1000"], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        found = [t for t in json.loads(done.stdout)["threads"] if any(f.get("function") == "stay" for f in t["frames"])]
        self.assertEqual(len(found), 1)
        return found[0]

    def check(self, *flags):
        command = [*nodes.command_or_skip(self.version), *flags]
        wrong, lost, count, with_callers = [], [], 0, 0
        for process, truth in stops(command):
            if truth["stop"] % self.step:
                continue
            thread = self.thread_that_stays(process.pid)
            count += 1
            lost += [truth["kind"]] * thread["async_lost"]
            expected = told_by_v8(truth["callers"])
            seen = told_by_dump(thread["frames"])
            with_callers += bool(seen)
            # V8 9 stops at Promise.allSettled.
            if self.version.startswith("16") and seen[:len(expected)] == expected:
                continue
            if seen != expected:
                wrong.append(f"{truth['stop']} {truth['kind']} (thread {truth['thread']}): {seen} instead of {expected}")
        print(f"{self.version}: {count - len(wrong)} of {count} stops right, {with_callers} with callers, lost: {lost}")
        self.assertGreater(with_callers, 100 // self.step)
        self.assertLessEqual(len(wrong), TOLERATED * count, "\n".join(wrong[:5]))
        self.assertLessEqual(len(lost), TOLERATED * count)

    def test_what_v8_prints(self):
        self.check()

    def test_recorded_callers(self):
        """Right or marked as lost, never others."""
        command = [*nodes.command_or_skip(self.version), str(LOAD)]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        try:
            self.assertEqual(process.stdout.readline(), "ready\n")
            with tempfile.TemporaryDirectory() as folder:
                path = str(pathlib.Path(folder) / "async.nscope")
                done = subprocess.run([NODESCOPE, "record", str(process.pid), "--async", "-d", "3", "-F", "199", "--no-open", "-o", path],
                                      capture_output=True, text=True, timeout=120)
                self.assertEqual(done.returncode, 0, done.stderr)
                recorded = recording.Recording(NODESCOPE, path)
        finally:
            process.kill()
            process.wait()
            process.stdout.close()
        right, lost, wrong = collections.Counter(), collections.Counter(), []
        for _, _, _, thread, frames in recorded.samples():
            names = [f["function"] for f in frames]
            spun = [name for name in names if name in CALLERS]
            if not spun:
                continue
            self.assertEqual(thread, "main")
            callers = [name for name in names if name.startswith("async ")]
            expected = CALLERS[spun[0]]
            if LOST in names and callers == expected[:len(callers)]:
                lost[spun[0]] += 1
            elif callers == expected:
                right[spun[0]] += 1
            else:
                wrong.append((spun[0], names))
        print(f"{self.version}: right {dict(right)}, lost {dict(lost)}")
        self.assertEqual(wrong[:3], [])
        self.assertGreater(right["spinUsers"], 0)


def main():
    global NODESCOPE
    NODESCOPE = sys.argv[1]
    if "--all" not in sys.argv:
        AsyncOf.step = 3
    suite = unittest.TestSuite()
    for argument in [a for a in sys.argv[2:] if a != "--all"]:
        version = nodes.version_of(argument)
        tested = type(f"AsyncOfNode_{version.replace('.', '_')}", (AsyncOf, unittest.TestCase), {"version": version})
        suite.addTests(unittest.defaultTestLoader.loadTestsFromTestCase(tested))
    runner.run(suite)


main()
