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
    """blocks.js, that waits to begin."""

    def __init__(self, node, *arguments):
        self.process = subprocess.Popen([*node, str(HERE / "blocks.js"), *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
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
    def program(self, node, *arguments):
        program = Program(node, *arguments)
        self.addCleanup(program.end)
        return program

    def watch(self, program, *arguments):
        """The objects that `loop --json` printed while the program ran, and its exit code."""
        loop = subprocess.Popen([NODESCOPE, "loop", str(program.pid), "--json", *arguments], stdout=subprocess.PIPE, text=True)
        lines = []
        # Ticks of every loop: they are found.
        while not any(line["type"] == "tick" for line in lines):
            lines.append(json.loads(loop.stdout.readline()))
        program.go()
        truth = program.truth()
        program.end()
        output, _ = loop.communicate(timeout=120)
        return truth, lines + [json.loads(line) for line in output.splitlines()], loop.returncode

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
