#!/usr/bin/env python3
"""`nodescope doctor` on this machine, on binaries and on real processes: doctor_test.py NODESCOPE MAJOR|VERSION..."""
import json
import pathlib
import subprocess
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import nodes
import runner

NODESCOPE, VERSIONS = sys.argv[1], [nodes.version_of(argument) for argument in sys.argv[2:]]
BUSY = pathlib.Path(__file__).resolve().parent / "busy.js"


def run(*arguments):
    return subprocess.run([NODESCOPE, "doctor", *arguments], capture_output=True, text=True, timeout=120)


def wait_until_idle(pid):
    """Until the process has slept for a while: it has come to its event loop."""
    asleep, limit = 0, time.monotonic() + 30
    while asleep < 20 and time.monotonic() < limit:
        state = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
        asleep = asleep + 1 if state == "S" else 0
        time.sleep(0.02)


class DoctorTest(unittest.TestCase):
    def test_the_machine(self):
        done = run("--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        report = json.loads(done.stdout)
        self.assertEqual(report["machine"]["kernel"], pathlib.Path("/proc/sys/kernel/osrelease").read_text().strip())
        self.assertEqual(len(report["checks"]), 7)
        for check in report["checks"]:
            self.assertEqual(check["verdict"] == "yes", check["remedy"] is None, check)
        self.assertIsNone(report["binary"])
        self.assertIsNone(report["self_test"])
        self.assertRegex(run().stdout, "(?m)^(yes|partly|no) +stop and read your own processes")

    def test_binaries(self):
        for version in VERSIONS:
            with self.subTest(version):
                done = run(nodes.node_or_skip(version), "--json")
                self.assertEqual(done.returncode, 0, done.stderr)
                binary = json.loads(done.stdout)["binary"]
                self.assertEqual(binary["node"], version)
                self.assertTrue(binary["known"])
                facts = {fact["name"]: fact for fact in binary["facts"]}
                self.assertEqual(facts["type.Map"]["origin"], "metadata")
                self.assertEqual(facts["Script.line_offset"]["value"], 24)

    def test_a_busy_process(self):
        for version in VERSIONS:
            with self.subTest(version):
                process = subprocess.Popen([nodes.node_or_skip(version), str(BUSY)], stdout=subprocess.PIPE, text=True)
                try:
                    process.stdout.readline()
                    done = run(str(process.pid), "--json")
                    self.assertIsNone(process.poll())
                finally:
                    process.kill()
                    process.wait()
                    process.stdout.close()
                self.assertEqual(done.returncode, 0, done.stderr)
                test = json.loads(done.stdout)["self_test"]
                self.assertEqual(test["stops"], 20)
                self.assertGreater(test["js_frames"], 20)
                # Now and then a stop is in the few instructions in which a frame cannot be told; then it says so.
                self.assertLessEqual(test["unknown_js_frames"], 1 + 0.01 * test["js_frames"], test)
                self.assertEqual(test["names"]["verdict"], "doubtful" if test["unknown_js_frames"] else "trusted", test)
                self.assertIn(test["lines"]["verdict"], ("trusted", "doubtful"), test)

    def test_an_idle_process_proves_nothing(self):
        process = subprocess.Popen([nodes.node_or_skip(VERSIONS[0]), "-e", "setInterval(() => {}, 1e6); console.log(1)"],
                                   stdout=subprocess.PIPE)
        try:
            process.stdout.readline()
            wait_until_idle(process.pid)
            done = run(str(process.pid), "--json")
        finally:
            process.kill()
            process.wait()
            process.stdout.close()
        self.assertEqual(json.loads(done.stdout)["self_test"]["names"]["verdict"], "not seen")

    def test_what_is_not_node(self):
        process = subprocess.Popen(["sleep", "60"])
        try:
            done = run(str(process.pid), "--json")
        finally:
            process.kill()
            process.wait()
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, "is not Node.js")
        self.assertRegex(json.loads(done.stdout)["error"], "is not Node.js")
        self.assertEqual(run("/bin/true").returncode, 1)


runner.run_module()
