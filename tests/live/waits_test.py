#!/usr/bin/env python3
"""`nodescope record --off-cpu` and `--wall` on real node processes: waits_test.py NODESCOPE MAJOR|VERSION..."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import nodes
import runner

NODESCOPE = ""
HERE = pathlib.Path(__file__).resolve().parent

# The innermost frame of what each function waits in.
REASONS = {"waitForLock": ["[waits for a lock]"], "waitForChild": ["[waits for a child]", "[waits for a pipe]"],
           "waitForPipe": ["[waits for a pipe]"]}


class Waits(unittest.TestCase):
    def record(self, version, flag, file="waits.js"):
        """What the program says of its waits, and the folded stacks of the recording with their nanoseconds."""
        command = nodes.command_or_skip(version)
        with tempfile.TemporaryDirectory() as folder:
            fifo, path = f"{folder}/fifo", f"{folder}/a.nscope"
            os.mkfifo(fifo)
            program = subprocess.Popen([*command, str(HERE / file), fifo], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            self.assertEqual(program.stdout.readline(), "ready\n")
            recorder = subprocess.Popen([NODESCOPE, "record", str(program.pid), flag, "-d", "60", "--no-open", "-o", path],
                                        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
            while not pathlib.Path(path).exists() or pathlib.Path(path).stat().st_size < 100:
                if recorder.poll() is not None:
                    program.kill()
                    self.skipTest(recorder.stderr.read())

            def write_late():
                with open(fifo, "w") as pipe:  # returns when it is opened for reading
                    time.sleep(0.3)
                    pipe.write("x")

            writer = threading.Thread(target=write_late, daemon=True)
            writer.start()
            program.stdin.write("go\n")
            program.stdin.flush()
            truth = json.loads(program.stdout.readline())
            if file == "waits.js":
                writer.join()
            program.stdin.close()
            program.wait()
            program.stdout.close()
            recorder.communicate()
            folded = subprocess.run([NODESCOPE, "convert", path, "-o", "-", "--to", "folded"], capture_output=True, text=True, check=True).stdout
        stacks = [line.rpartition(" ") for line in folded.splitlines()]
        return truth, [(stack.split(";"), int(weight)) for stack, _, weight in stacks]

    def check(self, truth, stacks):
        for function, reasons in REASONS.items():
            waited = sum(weight for stack, weight in stacks if stack[-1].split("_[")[0] in reasons
                         and any(function in frame for frame in stack))
            self.assertLess(abs(waited / 1e6 - truth[function]), 0.05 * truth[function] + 5,
                            (function, truth, [(s[-3:], w) for s, w in stacks if any(function in f for f in s)]))

    def test_waits_have_their_cause_and_length(self):
        for version in VERSIONS:
            with self.subTest(node=version):
                truth, stacks = self.record(version, "--off-cpu")
                self.check(truth, stacks)

    def test_work_of_the_pool_stands_below_who_asked_for_it(self):
        if os.geteuid() != 0:
            self.skipTest("probes are for root")
        for version in VERSIONS:
            with self.subTest(node=version):
                truth, stacks = self.record(version, "--wall", "pool.js")

                def spent(*names):
                    return sum(weight for stack, weight in stacks if all(any(name in frame for frame in stack) for name in names)) / 1e6

                hashed = spent("uv__queue_work", "PBKDF2")
                self.assertGreater(hashed, truth["hashes"])  # four threads at once, or ready for it
                self.assertGreater(spent("hashPasswords", "[libuv's pool]", "PBKDF2"), 0.95 * hashed)
                looked_up = spent("lookUp", "[libuv's pool]", "uv__getaddrinfo_work")
                self.assertGreater(looked_up, 0.95 * spent("uv__getaddrinfo_work"))
                self.assertLess(abs(looked_up - truth["lookups"]), 0.05 * truth["lookups"] + 20, truth)

    def test_wall_has_both(self):
        truth, stacks = self.record(VERSIONS[-1], "--wall")
        self.check(truth, stacks)
        # On a CPU, by samples, or ready for one.
        spent = sum(weight for stack, weight in stacks if any("runOnly" in frame for frame in stack)) / 1e6
        self.assertLess(abs(spent - truth["runOnly"]), 0.15 * truth["runOnly"], (spent, truth))
        self.assertTrue(any(not stack[-1].startswith("[") for stack, _ in stacks))


if __name__ == "__main__":
    NODESCOPE, *arguments = sys.argv[1:]
    VERSIONS = [nodes.version_of(argument) for argument in arguments]
    runner.run_module()
