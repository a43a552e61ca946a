#!/usr/bin/env python3
"""`nodescope loop` and the turns in recordings on real node processes: loop_test.py NODESCOPE MAJOR|VERSION..."""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import nodes
import runner

NODESCOPE = ""
HERE = pathlib.Path(__file__).resolve().parent

# What a duration may differ from what the program measured itself, or 3 % of it; and what the account says to be in doubt.
TOLERANCE_MS = 5
ENOUGH_SAMPLES = 8
BLOCKS = ["blockShort", "blockMiddle", "blockLong"]


def counts_turns(node):
    """Whether libuv counts turns: since 1.45."""
    text = subprocess.run([*node, "-p", "process.versions.uv"], capture_output=True, text=True, check=True).stdout
    return tuple(int(part) for part in text.split(".")[:2]) >= (1, 45)


class Program:
    """A program that waits to begin."""

    def __init__(self, node, *arguments, file="blocks.js"):
        self.process = subprocess.Popen([*node, str(HERE / file), *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout.readline() == "ready\n"
        self.pid = self.process.pid

    def go(self):
        self.process.stdin.write("go\n")
        self.process.stdin.flush()

    def truth(self):
        return json.loads(self.process.stdout.readline())

    def end(self):
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()


class LoopTest(unittest.TestCase):
    def program(self, node, *arguments, **options):
        program = Program(node, *arguments, **options)
        self.addCleanup(program.end)
        return program

    def attach(self, program, *arguments):
        """`loop --json`, which has found the loops of the program, and what it printed until then."""
        loop = subprocess.Popen([NODESCOPE, "loop", str(program.pid), "--json", *arguments], stdout=subprocess.PIPE, text=True)
        lines = []
        while not any(line["type"] == "tick" for line in lines):
            lines.append(json.loads(loop.stdout.readline()))
        return loop, lines

    def watch(self, program, *arguments):
        """The objects that `loop --json` printed while the program ran, and its exit code."""
        loop, lines = self.attach(program, *arguments)
        program.go()
        truth = program.truth()
        program.end()
        output, _ = loop.communicate(timeout=120)
        return truth, lines + [json.loads(line) for line in output.splitlines()], loop.returncode

    def lines_of(self, version, work, *arguments):
        """The same of a program that ends by itself, or does not come back."""
        program = self.program(nodes.command_or_skip(version), work, file="blocks_at_ends.js")
        loop, lines = self.attach(program, *arguments)
        program.go()
        output, _ = loop.communicate(timeout=120)
        return lines + [json.loads(line) for line in output.splitlines()]

    def check(self, truth, stalls):
        """Each block is a stall of the right length and function, and there is no other."""
        left = list(stalls)
        for block in truth:
            true_ms = (block["end"] - block["begin"]) / 1e6
            found = [stall for stall in left if stall["thread"] == block["thread"]
                     and stall["start_ns"] < block["end"] and stall["start_ns"] + stall["duration_ms"] * 1e6 > block["begin"]]
            self.assertEqual(len(found), 1, (block, stalls))
            left.remove(found[0])
            allowed = max(TOLERANCE_MS, 0.03 * true_ms) + found[0]["slack_ms"]
            self.assertLess(abs(found[0]["duration_ms"] - true_ms), allowed, (block, found))
            # On a machine that has no CPU for it a stall has few samples, or none.
            if found[0]["samples"] < ENOUGH_SAMPLES:
                continue
            names = [frame["function"] for frame in found[0]["frames"]]
            self.assertIn(block["name"], names, found)
            self.assertIn(found[0]["function"], ("spin", block["name"]))
            self.assertEqual(found[0]["phase"], "timers")
        return left

    def test_finds_blocks_of_known_lengths(self):
        for version in VERSIONS:
            with self.subTest(node=version):
                node = nodes.command_or_skip(version)
                program = self.program(node)
                truth, lines, code = self.watch(program, "--threshold", "40ms")
                self.assertEqual([block["name"] for block in truth], BLOCKS)
                stalls = [line for line in lines if line["type"] == "stall"]
                others = self.check(truth, stalls)
                # A machine that has no CPU for it blocks a loop too; that is not the program's.
                for other in others:
                    self.assertGreater(other["runnable_ms"], other["duration_ms"] / 2, other)
                self.assertEqual(code, 3)
                ticks = [line for line in lines if line["type"] == "tick"]
                self.assertTrue(all(0 <= tick["utilisation"] <= 1 for tick in ticks), ticks)
                self.assertTrue(all((tick["ticks"] is not None) == counts_turns(node) for tick in ticks), ticks)
                self.assertGreater(max(tick["max_ms"] for tick in ticks), 900)

    def test_a_stall_of_a_worker_is_the_workers(self):
        for version in VERSIONS:
            with self.subTest(node=version):
                program = self.program(nodes.command_or_skip(version), "worker")
                truth, lines, _ = self.watch(program, "--threshold", "40ms")
                self.assertEqual(sum(block["thread"] == "worker" for block in truth), 1)
                stalls = [line for line in lines if line["type"] == "stall"]
                for other in self.check(truth, stalls):
                    self.assertGreater(other["runnable_ms"], other["duration_ms"] / 2, other)
                self.assertEqual(len({stall["tid"] for stall in stalls if stall["thread"] == "worker"}), 1)

    def test_a_turn_that_the_process_ends_in_is_a_stall(self):
        for version in VERSIONS:
            with self.subTest(node=version):
                stalls = [line for line in self.lines_of(version, "exit") if line["type"] == "stall"]
                self.assertEqual(len(stalls), 1)
                self.assertGreater(stalls[0]["duration_ms"], 390)
                self.assertNotIn("lasts", stalls[0])

    def test_a_turn_that_does_not_end_is_a_stall(self):
        for version in VERSIONS:
            with self.subTest(node=version):
                stalls = [line for line in self.lines_of(version, "forever", "-d", "4") if line["type"] == "stall"]
                self.assertTrue(stalls[-1]["lasts"])
                self.assertGreater(stalls[-1]["duration_ms"], 1000)
                self.assertIn("blockForever", [frame["function"] for frame in stalls[-1]["frames"]])

    def test_collections_have_their_function(self):
        for version in VERSIONS:
            with self.subTest(node=version):
                collections = [line for line in self.lines_of(version, "collect") if line["type"] == "gc"]
                if not any(line["measured"] for line in collections):
                    self.skipTest("collections are not measured here: not root, or no symbols")
                rows = [line for line in collections if line["function"] == "buildRows"]
                # Some of its frames are of callbacks within it.
                within = [line for line in collections if "buildRows" in [frame["function"] for frame in line["frames"]]]
                self.assertGreater(len(within), 3, collections)
                self.assertGreaterEqual(len(within), len(rows))
                self.assertTrue({line["kind"] for line in within} >= {"scavenge"}, within)

    def test_a_full_pool_is_named(self):
        for version in VERSIONS:
            with self.subTest(node=version):
                program = self.program(nodes.command_or_skip(version), file="pool.js")
                truth, lines, _ = self.watch(program, "--threshold", "20ms")
                full = [line for line in lines if line["type"] == "pool"]
                if not full and not nodes.is_official(version):
                    self.skipTest("this build has no symbols of libuv's pool")
                self.assertEqual({line["work"] for line in full}, {"crypto.pbkdf2"}, full)
                self.assertEqual({line["threads"] for line in full}, {4})
                self.assertLessEqual(max(line["queued"] for line in full), 20)
                self.assertLess(sum(line["duration_ms"] for line in full), truth["hashes"])
                # All but the last hashes of each thread have others behind them.
                self.assertGreater(sum(line["duration_ms"] for line in full), truth["hashes"] / 3)

    def test_a_recording_has_the_turns(self):
        version = VERSIONS[-1]
        program = self.program(nodes.command_or_skip(version))
        with tempfile.TemporaryDirectory() as folder:
            path = f"{folder}/a.nscope"
            recorder = subprocess.Popen([NODESCOPE, "record", str(program.pid), "-d", "60", "-F", "499", "--no-open", "-o", path],
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            while not pathlib.Path(path).exists() or pathlib.Path(path).stat().st_size < 100:
                self.assertIsNone(recorder.poll())
            program.go()
            truth = program.truth()
            program.end()
            recorder.wait()
            report = json.loads(subprocess.run([NODESCOPE, "report", path, "--stalls", "--json", "--at-least", "40ms"],
                                               capture_output=True, text=True, check=True).stdout)
        self.assertTrue(report["measured"])
        self.assertNotIn("may", report["sentence"])
        for block in truth:
            true_ms = (block["end"] - block["begin"]) / 1e6
            found = [stall for stall in report["stalls"] if not stall["estimated"] and stall["name"] in ("spin", block["name"])
                     and abs((stall["to_ns"] - stall["from_ns"]) / 1e6 - true_ms) < max(2 * TOLERANCE_MS, 0.03 * true_ms)]
            self.assertTrue(found, (block, report))


if __name__ == "__main__":
    NODESCOPE, *arguments = sys.argv[1:]
    VERSIONS = [nodes.version_of(argument) for argument in arguments]
    runner.run_module()
