#!/usr/bin/env python3
"""`nodescope dump` on real node processes: dump_test.py NODESCOPE MAJOR|VERSION...

What V8 said about its own stack, at a hundred places on the main thread and in a worker, is what the dump must show.  And
a busy process, stopped anywhere, must show stacks in which every caller's line holds a call of the next function."""
import json
import os
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
import runner
import truth

NODESCOPE = ""
BUSY = pathlib.Path(__file__).resolve().parent / "busy.js"
STUCK = BUSY.with_name("stuck_addon.c")
ARGUMENTS = BUSY.with_name("arguments.js")
BUSY_DUMPS = 40

# Called by V8 and not by name: the text that the caller's line holds instead.
CALLED_BY = {"one": "items.map(", "compareItems": "items.sort(", "naturals": "naturals(", "Shape": "new "}


def dump(pid, *options):
    done = subprocess.run([NODESCOPE, "dump", str(pid), "--json", "--stop-timeout", "1000", *options], capture_output=True, text=True, timeout=60)
    if done.returncode != 0:
        raise AssertionError(done.stderr)
    seen = json.loads(done.stdout)
    for thread in seen["threads"]:  # asynchronous callers have a test of their own
        thread["frames"] = [f for f in thread["frames"] if not f.get("async")]
    return seen


class DumpOf:
    """The tests of one node; a class for each version is made from it."""

    version = ""

    @classmethod
    def setUpClass(cls):
        cls.command = nodes.command_or_skip(cls.version)
        told = subprocess.run([*cls.command, "-p", "process.versions.node"], capture_output=True, text=True, timeout=60)
        if told.returncode != 0:
            raise unittest.SkipTest(f"{cls.version} does not run here: {told.stderr.strip()[-200:]}")
        cls.node_version = told.stdout.strip()

    def check_stacks(self, command, every=1):
        wrong = []
        count = 0
        for process, expected in truth.stops(command):
            if expected["stop"] % every != 0:
                continue
            seen = dump(process.pid)
            self.assertEqual(seen["node"], self.node_version)
            problem = truth.difference(expected, truth.thread_of(seen, expected))
            count += 1
            if problem:
                wrong.append(f"{expected['kind']} (thread {expected['thread']}): {problem}")
        self.assertGreater(count, 100 // every)
        self.assertEqual(wrong, [])

    def test_what_v8_says(self):
        self.check_stacks(self.command)

    def test_interpreter_with_a_copy_of_its_entry_for_each_function(self):
        self.check_stacks([*self.command, "--interpreted-frames-native-stack"], every=4)

    def test_stripped_and_renamed(self):
        if not nodes.is_official(self.version):
            self.skipTest("comes stripped, or does not run without its libraries beside it")
        if shutil.which("strip") is None:
            self.skipTest("there is no strip here")
        with tempfile.TemporaryDirectory() as folder:
            copy = pathlib.Path(folder) / "my-service"
            shutil.copy(self.command[0], copy)
            subprocess.run(["strip", str(copy)], check=True)
            self.check_stacks([str(copy)], every=6)

    def test_busy_process(self):
        source = BUSY.read_text().split("\n")
        process = subprocess.Popen([*self.command, str(BUSY)], stdout=subprocess.PIPE, text=True)
        try:
            self.assertEqual(process.stdout.readline(), "ready\n")
            problems = []
            unknown = []
            stacks = 0
            callers = []
            for _ in range(BUSY_DUMPS):
                time.sleep(random.random() * 0.02)
                for thread in dump(process.pid)["threads"]:
                    frames = [f for f in thread["frames"] if (f["file"] or "").endswith("busy.js")]
                    stacks += bool(frames)
                    callers += self.callers_in_maglev(thread["frames"])
                    problems += [p for p in (self.call_problem(source, *pair) for pair in zip(frames, frames[1:])) if p]
                    unknown += [thread] * any(f["function"] == "[unknown js]" for f in thread["frames"])
            self.assertGreater(stacks, BUSY_DUMPS)
            self.assertEqual(problems, [])
            # Never a wrong name; that there is none may happen in one of some thousand stacks.
            self.assertLessEqual(len(unknown), 1, unknown)
            self.assertEqual([f for f in callers if not f["sure"]], [])
        finally:
            process.kill()
            process.wait()
            process.stdout.close()

    def test_native_code_that_cannot_be_unwound(self):
        if not nodes.is_official(self.version) or int(self.version.split(".")[0]) < 20:
            self.skipTest("this build does not tell where a thread keeps its isolate")
        if shutil.which("cc") is None:
            self.skipTest("there is no C compiler here")
        with tempfile.TemporaryDirectory() as folder:
            addon = pathlib.Path(folder) / "stuck.node"
            subprocess.run(["cc", "-O1", "-shared", "-fPIC", "-fomit-frame-pointer", "-fno-asynchronous-unwind-tables", "-o",
                            str(addon), str(STUCK)], check=True)
            program = f"function load() {{ process.dlopen({{exports: {{}}}}, '{addon}'); }}\nload();"
            script = pathlib.Path(folder) / "load.js"
            script.write_text(program)
            process = subprocess.Popen([*self.command, str(script)], stdout=subprocess.PIPE, text=True)
            try:
                self.assertEqual(process.stdout.readline(), "ready\n")
                seen = dump(process.pid)
            finally:
                process.kill()
                process.wait()
                process.stdout.close()
        [main] = [thread for thread in seen["threads"] if thread["name"] == "main"]
        places = [(f["function"], f["file"], f["line"]) for f in main["frames"] if f["kind"] == "js"]
        self.assertIn(("load", str(script), 1), places)
        self.assertIn(("(anonymous)", str(script), 2), places)
        self.assertEqual(main["frames"][0]["kind"], "native")
        self.assertTrue(any(d["what"].startswith("native frames are missing") for d in seen["diagnostics"]), seen["diagnostics"])

    def callers_in_maglev(self, frames):
        """Those of Maglev's code that called other JavaScript code: they have a line of their own.  There is doubt where the
        thread stands in that code itself, or in a builtin that it calls without leaving a record."""
        if self.node_version.startswith("22."):  # Maglev of V8 12 keeps no positions, and its records are not read
            return []
        called = [i for i, f in enumerate(frames) if f["kind"] == "js" and not f["inlined"]]
        return [f for f in frames[called[0] + 1:] if f["tier"] == "maglev"] if called else []

    def arguments_seen(self, *command):
        """What the program says about its calls, and the frames of its functions, by name."""
        process = subprocess.Popen([*self.command, *command], stdout=subprocess.PIPE, text=True)
        try:
            expected = json.loads(process.stdout.readline())
            time.sleep(0.05)
            [main] = [t for t in dump(process.pid, "--args")["threads"] if t["name"] == "main"]
        finally:
            process.kill()
            process.wait()
            process.stdout.close()
        return expected, {frame["function"]: frame for frame in main["frames"] if frame["function"] in expected}

    def check_arguments(self, *flags):
        expected, seen = self.arguments_seen(*flags, str(ARGUMENTS))
        self.assertEqual(set(seen), set(expected))
        for name, frame in seen.items():
            if name == "deepest":  # may be in optimized code: it loops
                continue
            self.assertTrue(frame["arguments_sure"], frame)
            self.assertEqual({"receiver": frame["receiver"], "arguments": frame["arguments"]}, expected[name], name)
            self.assertEqual(frame["argument_count"], len(frame["arguments"]))
        return {frame["tier"] for frame in seen.values()}

    def test_arguments(self):
        self.assertIn("interpreter", self.check_arguments())

    def test_arguments_in_baseline_code(self):
        self.assertIn("baseline", self.check_arguments("--always-sparkplug"))

    def test_arguments_in_optimized_code(self):
        expected, seen = self.arguments_seen(str(ARGUMENTS), "hot")
        self.assertEqual(set(seen), set(expected))
        for name, frame in seen.items():
            if "arguments" not in frame:
                self.assertTrue(frame["inlined"], frame)
                continue
            self.assertEqual(frame["arguments_sure"], frame["tier"] in ("interpreter", "baseline"))
            # Optimized code leaves out what its callee would not look at.
            self.assertEqual(frame["arguments"], expected[name]["arguments"][:frame["argument_count"]], name)

    def test_arguments_are_shown_when_asked_for(self):
        _, seen = self.arguments_seen(str(ARGUMENTS))
        self.assertIn("receiver", seen["many"])
        process = subprocess.Popen([*self.command, "-e", "console.log('ready'); for (;;);"], stdout=subprocess.PIPE)
        try:
            process.stdout.readline()
            frames = [frame for thread in dump(process.pid)["threads"] for frame in thread["frames"]]
        finally:
            process.kill()
            process.wait()
            process.stdout.close()
        self.assertFalse(any("receiver" in frame or "arguments" in frame for frame in frames))

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

    def test_a_process_that_has_ended(self):
        process = subprocess.Popen(["true"])
        try:
            os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
            for command in ("dump", "record", "top"):
                done = subprocess.run([NODESCOPE, command, str(process.pid)], capture_output=True, text=True, timeout=60)
                self.assertEqual(done.returncode, 1)
                self.assertRegex(done.stderr, f"process {process.pid} has ended")
        finally:
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
    runner.run(suite)


main()
