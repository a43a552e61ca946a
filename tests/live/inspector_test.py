#!/usr/bin/env python3
"""`nodescope record --engine inspector` on real processes: inspector_test.py NODESCOPE MAJOR|VERSION..."""
import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import nodes
import runner
from recording import Recording

NODESCOPE, VERSIONS = sys.argv[1], [nodes.version_of(argument) for argument in sys.argv[2:]]

SPIN = """
'use strict';
const { Worker, isMainThread } = require('worker_threads');
function spinInMain(until) { let n = 0; while (Date.now() < until) n += Math.sqrt(n + 1); return n; }
function spinInWorker(until) { let n = 0; while (Date.now() < until) n += Math.sqrt(n + 2); return n; }
const work = isMainThread ? spinInMain : spinInWorker;
setInterval(() => work(Date.now() + 40), 50);
if (isMainThread) { new Worker(__filename); setTimeout(() => console.log('ready'), 300); }
"""
KEEP = """
const kept = [];
function keepMany() { for (let i = 0; i < 2000; i++) kept.push({ i, text: 'kept ' + i }); if (kept.length > 2e6) kept.length = 0; }
setInterval(keepMany, 5); setTimeout(() => console.log('ready'), 100);
"""


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def listening_ports(pid):
    """The ports that the process itself listens on, by the kernel's own tables."""
    inodes = set()
    for entry in pathlib.Path(f"/proc/{pid}/fd").iterdir():
        try:
            link = os.readlink(entry)
        except OSError:
            continue
        if link.startswith("socket:["):
            inodes.add(link[8:-1])
    ports = set()
    for table in ("tcp", "tcp6"):
        for line in pathlib.Path(f"/proc/{pid}/net/{table}").read_text().splitlines()[1:]:
            fields = line.split()
            if fields[3] == "0A" and fields[9] in inodes:
                ports.add(int(fields[1].rsplit(":", 1)[1], 16))
    return ports


class InspectorTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def start(self, version, source, *options, ready=True, signal_port=True):
        script = self.path(f"program{len(os.listdir(self.folder.name))}.js")
        pathlib.Path(script).write_text(source)
        port = [f"--inspect-port={free_port()}"] if signal_port else []
        process = subprocess.Popen([nodes.node_or_skip(version), *port, *options, script], stdout=subprocess.PIPE,
                                   stderr=subprocess.DEVNULL, text=True)
        self.addCleanup(self.end, process)
        if ready:
            self.assertEqual(process.stdout.readline().strip(), "ready")
        return process

    def end(self, process):
        if process.poll() is None:
            process.kill()
        process.wait()
        process.stdout.close()

    def record(self, *arguments, code=0):
        output = self.path("out.nscope")
        done = subprocess.run([NODESCOPE, "record", "--no-open", "-o", output, *arguments], capture_output=True, text=True,
                              timeout=120)
        self.assertEqual(done.returncode, code, done.stderr)
        return done, Recording(NODESCOPE, output) if code == 0 else None

    def shares(self, recording):
        """Of each JavaScript function: in how many samples it is."""
        counts = {}
        for _, _, _, _, frames in recording.samples():
            for name in {frame["function"] for frame in frames}:
                counts[name] = counts.get(name, 0) + 1
        return counts

    def test_opens_profiles_and_closes(self):
        for version in VERSIONS:
            with self.subTest(version):
                process = self.start(version, SPIN)
                before = listening_ports(process.pid)
                done, recording = self.record(str(process.pid), "--engine", "inspector", "-d", "2", "-F", "500")
                self.assertIn("its inspector is closed again", done.stderr)
                self.assertEqual(listening_ports(process.pid), before)
                self.assertIsNone(process.poll())
                shares = self.shares(recording)
                self.assertGreater(shares.get("spinInMain", 0), 0.5 * shares.get("spinInWorker", 0))
                self.assertGreater(shares.get("spinInWorker", 0), 0.25 * len(recording) / 2)
                # It can be done again.
                done, recording = self.record(str(process.pid), "--engine", "inspector", "-d", "1")
                self.assertIn("spinInMain", self.shares(recording))
                self.assertEqual(listening_ports(process.pid), before)

    def test_an_open_one_stays_open(self):
        process = self.start(VERSIONS[-1], SPIN, "--inspect=127.0.0.1:0", signal_port=False)
        before = listening_ports(process.pid)
        self.assertEqual(len(before), 1)
        done, recording = self.record(str(process.pid), "--engine", "inspector", "-d", "1")
        self.assertIn("its inspector is open on", done.stderr)
        self.assertIn("spinInMain", self.shares(recording))
        self.assertEqual(listening_ports(process.pid), before)
        # By its address as well, without a process.
        _, recording = self.record("--url", f"ws://127.0.0.1:{before.pop()}", "-d", "1")
        self.assertIn("spinInMain", self.shares(recording))

    def test_allocations(self):
        process = self.start(VERSIONS[-1], KEEP)
        _, recording = self.record(str(process.pid), "--alloc", "-d", "2")
        self.assertIn("keepMany", self.shares(recording))
        self.assertEqual([event["unit"] for event in recording.profile["events"]][:1], ["bytes"])
        self.assertEqual(listening_ports(process.pid), set())

    def test_a_signal_that_is_not_nodes_is_not_sent(self):
        for source, options, reason in (
                ("process.on('SIGUSR1', () => { console.log('hit'); process.exit(3); });", (), "handles SIGUSR1 itself"),
                ("", ("--disable-sigusr1",), "does not handle SIGUSR1")):
            with self.subTest(reason):
                if options and not nodes.NEWEST[26] in VERSIONS:
                    continue
                process = self.start(VERSIONS[-1], source + "setInterval(() => {}, 1e6); console.log('ready');", *options)
                done, _ = self.record(str(process.pid), "--engine", "inspector", "-d", "1", code=1)
                self.assertIn(reason, done.stderr)
                time.sleep(0.2)
                self.assertIsNone(process.poll())

    def test_a_process_that_is_not_node(self):
        process = subprocess.Popen(["sleep", "60"], stdout=subprocess.PIPE)
        self.addCleanup(self.end, process)
        done, _ = self.record(str(process.pid), "--engine", "inspector", "-d", "1", code=1)
        self.assertIn("does not handle SIGUSR1", done.stderr)
        self.assertIsNone(process.poll())

    def test_processes_with_one_port_take_turns(self):
        port = free_port()
        first, second = (self.start(VERSIONS[-1], SPIN, f"--inspect-port={port}", signal_port=False) for _ in range(2))
        _, recording = self.record(str(first.pid), str(second.pid), "--engine", "inspector", "-d", "1")
        self.assertEqual({pid for _, pid, _, _, _ in recording.samples()}, {first.pid, second.pid})
        for process in (first, second):
            self.assertEqual(listening_ports(process.pid), set())

    def test_a_port_that_is_taken(self):
        with socket.socket() as other:
            other.bind(("127.0.0.1", 0))
            other.listen()
            process = self.start(VERSIONS[-1], SPIN, f"--inspect-port={other.getsockname()[1]}", signal_port=False)
            done, _ = self.record(str(process.pid), "--engine", "inspector", "-d", "1", code=1)
            self.assertIn("is taken by another program", done.stderr)

    def test_a_target_that_ends(self):
        process = self.start(VERSIONS[-1], SPIN + "if (isMainThread) setTimeout(() => process.exit(), 1200);")
        begin = time.monotonic()
        output = self.path("out.nscope")
        done = subprocess.run([NODESCOPE, "record", "--no-open", "-o", output, str(process.pid), "--engine", "inspector", "-d", "60"],
                              capture_output=True, text=True, timeout=60)
        self.assertLess(time.monotonic() - begin, 30)
        self.assertIn("connection was closed", done.stderr)

    def test_doctor_closes_what_a_killed_recorder_left_open(self):
        process = self.start(VERSIONS[-1], SPIN)
        recorder = subprocess.Popen([NODESCOPE, "record", "--no-open", "-o", self.path("killed.nscope"), str(process.pid),
                                     "--engine", "inspector", "-d", "60"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.assertIn("opened its inspector", recorder.stderr.readline())
        recorder.send_signal(signal.SIGKILL)
        recorder.communicate()
        self.assertEqual(len(listening_ports(process.pid)), 1)
        report = subprocess.run([NODESCOPE, "doctor"], capture_output=True, text=True, timeout=60).stdout
        self.assertIn(f"process {process.pid}", report)
        self.assertIn("--close-inspectors", report)
        closed = subprocess.run([NODESCOPE, "doctor", "--close-inspectors"], capture_output=True, text=True, timeout=60)
        self.assertEqual(closed.returncode, 0, closed.stderr)
        self.assertEqual(listening_ports(process.pid), set())
        report = subprocess.run([NODESCOPE, "doctor"], capture_output=True, text=True, timeout=60).stdout
        self.assertNotIn(f"process {process.pid}", report)


if __name__ == "__main__":
    runner.run_module()
