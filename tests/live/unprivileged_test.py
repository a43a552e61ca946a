#!/usr/bin/env python3
"""An ordinary user and his own process: unprivileged_test.py NODESCOPE MAJOR"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import nodes
import runner

NODESCOPE, VERSION = sys.argv[1], nodes.version_of(sys.argv[2])
NOBODY = 65534
PROGRAM = "function spin(word) { console.log('ready'); for (;;); } spin('mine');"


def as_nobody(command):
    return ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", "--no-new-privs", *command] if os.geteuid() == 0 else command


class UnprivilegedTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if os.geteuid() == 0 and shutil.which("setpriv") is None:
            raise unittest.SkipTest("root, and there is no setpriv here to be somebody else")
        node = nodes.node_or_skip(VERSION)
        # Where everybody may go; the cache is below a home folder.
        cls.folder = pathlib.Path(tempfile.mkdtemp())
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        cls.folder.chmod(0o755)
        cls.node = str(shutil.copy(node, cls.folder / "node"))
        cls.nodescope = str(shutil.copy(NODESCOPE, cls.folder / "nodescope"))
        (cls.folder / "mine.js").write_text(PROGRAM)

    def start(self, command):
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd="/")
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        self.assertEqual(process.stdout.readline(), "ready\n")
        return process

    def run_scope(self, *arguments):
        return subprocess.run(as_nobody([self.nodescope, *arguments]), capture_output=True, text=True, timeout=60, cwd="/")

    def test_own_process(self):
        process = self.start(as_nobody([self.node, str(self.folder / "mine.js")]))
        done = self.run_scope("ps", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        [mine] = [p for p in json.loads(done.stdout) if p["pid"] == process.pid]
        self.assertEqual((mine["node"], mine["script"], mine["readable"]), (VERSION, str(self.folder / "mine.js"), True))
        done = self.run_scope("dump", str(process.pid), "--json", "--args")
        scope = pathlib.Path("/proc/sys/kernel/yama/ptrace_scope")
        if done.returncode != 0 and scope.exists() and scope.read_text().strip() != "0":
            self.skipTest(f"kernel.yama.ptrace_scope forbids it here: {done.stderr}")
        self.assertEqual(done.returncode, 0, done.stderr)
        frames = [f for t in json.loads(done.stdout)["threads"] for f in t["frames"]]
        [spin] = [f for f in frames if f["function"] == "spin"]
        self.assertEqual((spin["file"], spin["line"]), (str(self.folder / "mine.js"), 1))
        self.assertEqual(spin["arguments"], ['"mine"'])

    def test_somebody_elses_process(self):
        if os.geteuid() != 0:
            self.skipTest("needs root to start a process of somebody else")
        process = self.start([self.node, str(self.folder / "mine.js")])
        done = self.run_scope("dump", str(process.pid))
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, "may not be looked at.*Permission denied.*root.*CAP_SYS_PTRACE")
        done = self.run_scope("record", str(process.pid), "-o", "/dev/null")
        self.assertEqual(done.returncode, 1)
        # To set what is set already does not help.
        paranoid = int(pathlib.Path("/proc/sys/kernel/perf_event_paranoid").read_text())
        self.assertRegex(done.stderr, "which is enough" if paranoid <= 2 else "after 'sysctl kernel.perf_event_paranoid=2'")
        everybody = {p["pid"]: p for p in json.loads(self.run_scope("ps", "--json", "--all").stdout)}
        self.assertEqual((everybody[process.pid]["readable"], everybody[process.pid]["node"]), (False, None))
        self.assertRegex(self.run_scope("ps").stdout, "Could not be looked at")

    def test_doctor_says_what_helps(self):
        report = json.loads(self.run_scope("doctor", "--json").stdout)
        [other] = [c for c in report["checks"] if c["what"] == "stop and read processes of other users"]
        self.assertEqual(other["verdict"], "no")
        self.assertRegex(other["remedy"], "root")


runner.run_module()
