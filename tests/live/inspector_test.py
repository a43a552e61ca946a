#!/usr/bin/env python3
"""`nodescope record --engine inspector` on real processes: inspector_test.py NODESCOPE MAJOR|VERSION..."""
import ctypes
import json
import os
import pathlib
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import nodes
import runner
import web_socket
from recording import Recording

NODESCOPE, VERSIONS = sys.argv[1], [nodes.version_of(argument) for argument in sys.argv[2:]]

# So large that V8 does not inline a function that has it; and what does so is called often, because V8 does not know the code of a
# loop that it has optimized while it ran.
LARGE = "n += Math.sqrt(n + 1); " * 150
SPIN = """
'use strict';
const { Worker, isMainThread } = require('worker_threads');
function spinInMain() { let n = 0; for (let i = 0; i < 50; i++) { LARGE } return n; }
function spinInWorker() { let n = 0; for (let i = 0; i < 50; i++) { LARGE } return n; }
const work = isMainThread ? spinInMain : spinInWorker;
setInterval(() => { for (const until = Date.now() + 40; Date.now() < until;) work(); }, 50);
if (isMainThread) { new Worker(__filename); setTimeout(() => console.log('ready'), 300); }
""".replace("LARGE", LARGE)
KEEP = """
const kept = [];
function keepMany() { for (let i = 0; i < 2000; i++) kept.push({ i, text: 'kept ' + i }); if (kept.length > 2e6) kept.length = 0; }
setInterval(keepMany, 5); setTimeout(() => console.log('ready'), 100);
"""

CLUSTER = """
const cluster = require('cluster');
function spinInCluster() { let n = 0; for (let i = 0; i < 50; i++) { LARGE } return n; }
if (cluster.isMaster || cluster.isPrimary) {
  let ready = 0;
  for (let i = 0; i < 4; i++) cluster.fork().on('message', () => { if (++ready === 4) console.log('ready'); });
} else {
  setInterval(() => { for (let i = 0; i < 20; i++) spinInCluster(); }, 20);
  process.send('ready');
}
""".replace("LARGE", LARGE)
WORK = """
function hot(times) { let n = 0; for (let i = 0; i < times; i++) { LARGE } return n; }
function warm(n) { return hot(n) + hot(n); }
function cool(times) { let n = 0; for (let i = 0; i < times; i++) { LARGE } return n; }
function never() { return 1; }
function work() { warm(300); cool(200); }
const opening = setInterval(() => {
  if (!require('inspector').url()) return;
  clearInterval(opening);
  setTimeout(begin, 1500);
}, 20);
function begin() {
  function late(n) { if (n < 0) { never(); } return n * 2; }
  function later(n) { return late(n) + 1; }
  setInterval(() => { for (let i = 0; i < 500; i++) later(i); }, 1);
}
const timer = setInterval(() => { for (let i = 0; i < 20; i++) work(); }, 1);
process.on('SIGTERM', () => process.exit(0));
setTimeout(() => console.log('ready'), 300);
""".replace("LARGE", LARGE)


def refuse_perf():
    """In a child before its exec: what the default seccomp profile of Docker does to perf_event_open."""
    perf_event_open, refused, allowed = 298, 0x00050001, 0x7fff0000  # SECCOMP_RET_ERRNO | EPERM
    code = b"".join(struct.pack("HBBI", *instruction) for instruction in (
        (0x20, 0, 0, 0),                  # the number of the system call
        (0x15, 0, 1, perf_event_open),
        (0x06, 0, 0, refused),
        (0x06, 0, 0, allowed)))
    buffer = ctypes.create_string_buffer(code)
    program = struct.pack("HxxxxxxQ", 4, ctypes.addressof(buffer))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(38, 1, 0, 0, 0) != 0 or libc.prctl(22, 2, ctypes.c_char_p(program), 0, 0) != 0:
        os._exit(99)


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

    def leave_open(self, process):
        """As a recorder that is killed does."""
        recorder = subprocess.Popen([NODESCOPE, "record", "--no-open", "-o", self.path("killed.nscope"), str(process.pid),
                                     "--engine", "inspector", "-d", "60"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.assertIn("opened its inspector", recorder.stderr.readline())
        recorder.send_signal(signal.SIGKILL)
        recorder.communicate()

    def doctor_lists(self):
        report = subprocess.run([NODESCOPE, "doctor", "--json"], capture_output=True, text=True, timeout=60)
        return json.loads(report.stdout)["inspectors_left_open"]

    def children(self, pid):
        return [int(child) for child in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]

    def wait_until(self, holds):
        for _ in range(600):
            if holds():
                return
            time.sleep(0.05)
        self.fail("it never came to be")

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
                self.assertGreater(shares.get("spinInMain", 0), 10)
                self.assertGreater(shares.get("spinInWorker", 0), 10)
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

    def test_processes_with_one_port_are_recorded_at_once(self):
        port = free_port()
        for version in VERSIONS:
            with self.subTest(version):
                first, second = (self.start(version, SPIN, f"--inspect-port={port}", signal_port=False) for _ in range(2))
                _, recording = self.record(str(first.pid), str(second.pid), "--engine", "inspector", "-d", "2")
                times = {process.pid: [] for process in (first, second)}
                for time_ns, pid, _, _, _ in recording.samples():
                    times[pid].append(time_ns)
                # Both at the same time, not one after the other.
                self.assertLess(max(min(each) for each in times.values()), min(max(each) for each in times.values()))
                for process in (first, second):
                    self.assertEqual(listening_ports(process.pid), set())
                # Node.js is where it was: the signal opens the port that the option names.
                first.send_signal(signal.SIGUSR1)
                self.wait_until(lambda: listening_ports(first.pid) == {port})
                first.kill()

    def test_a_cluster(self):
        for option in (None, f"--inspect-port={free_port()}"):
            with self.subTest(option):
                process = self.start(VERSIONS[-1], CLUSTER, *([option] if option else []), signal_port=option is None)
                workers = self.children(process.pid)
                self.assertEqual(len(workers), 4)
                everybody = [process.pid, *workers]
                _, recording = self.record("--tree", str(process.pid), "--engine", "inspector", "-d", "4")
                spinning = {pid for _, pid, _, _, frames in recording.samples() if any(f["function"] == "spinInCluster" for f in frames)}
                self.assertEqual(spinning, set(workers))
                self.assertEqual([listening_ports(pid) for pid in everybody], [set()] * 5)
                # Node.js passes the signal that its primary gets on to the workers.
                done, _ = self.record(str(process.pid), "--engine", "inspector", "-d", "1")
                self.assertEqual([listening_ports(pid) for pid in everybody], [set()] * 5, done.stderr)
                self.assertEqual(self.doctor_lists(), [])

    def test_a_worker_of_a_cluster_that_handles_the_signal(self):
        source = CLUSTER + "if (!(cluster.isMaster || cluster.isPrimary)) process.on('SIGUSR1', () => process.exit(3));"
        process = self.start(VERSIONS[-1], source)
        done, _ = self.record(str(process.pid), "--engine", "inspector", "-d", "1", code=1)
        self.assertIn("would get SIGUSR1 too", done.stderr)
        self.assertEqual(len(self.children(process.pid)), 4)
        self.assertEqual(self.doctor_lists(), [])

    def test_a_port_for_everybody_is_not_opened(self):
        process = self.start(VERSIONS[-1], SPIN, f"--inspect-port=0.0.0.0:{free_port()}", signal_port=False)
        done, _ = self.record(str(process.pid), "--engine", "inspector", "-d", "1", code=1)
        self.assertIn("where other machines could connect", done.stderr)
        self.assertEqual(listening_ports(process.pid), set())

    def test_v8s_own_file(self):
        process = self.start(VERSIONS[-1], SPIN)
        output = self.path("own.cpuprofile")
        done = subprocess.run([NODESCOPE, "record", "--no-open", "-o", output, str(process.pid), "--engine", "inspector", "-d", "1"],
                              capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr)
        names = []
        for file in (output, self.path("own-2.cpuprofile")):
            profile = json.loads(pathlib.Path(file).read_text())
            self.assertEqual(sorted(profile), ["endTime", "nodes", "samples", "startTime", "timeDeltas"])
            names.append({node["callFrame"]["functionName"] for node in profile["nodes"]})
        self.assertIn("spinInMain", names[0])
        self.assertIn("spinInWorker", names[1])
        output = self.path("own.heapprofile")
        process = self.start(VERSIONS[-1], KEEP)
        done = subprocess.run([NODESCOPE, "record", "--no-open", "-o", output, str(process.pid), "--alloc", "-d", "1"],
                              capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(sorted(json.loads(pathlib.Path(output).read_text())), ["head", "samples"])

    def test_coverage(self):
        for version in VERSIONS:
            with self.subTest(version):
                process = self.start(version, WORK)
                output = self.path("ran.json")
                done = subprocess.run([NODESCOPE, "record", str(process.pid), "--coverage", "-d", "4", "-o", output], capture_output=True,
                                      text=True, timeout=120)
                self.assertEqual(done.returncode, 0, done.stderr)
                report = json.loads(pathlib.Path(output).read_text())
                [file] = [f for f in report["files"] if f["file"].startswith(self.folder.name)]
                rows = {row["name"]: row for row in file["functions"]}
                calls = {name: row["calls"] for name, row in rows.items()}
                self.assertGreater(calls["work"], 0)
                self.assertEqual(calls.get("never", 0), 0)
                # Compiled later, so every call is counted: once for each of hot's.
                self.assertTrue(rows["late"]["exact"])
                self.assertEqual(sum(block["count"] for block in rows["late"]["blocks"]), 0)
                self.assertLess(abs(calls["late"] - calls["later"]), 2)
                self.assertEqual([rows[name]["line"] for name in ("hot", "warm", "cool", "work")], [2, 3, 4, 6])
                self.assertEqual(listening_ports(process.pid), set())
                text = subprocess.run([NODESCOPE, "record", str(process.pid), "--coverage", "-d", "1"], capture_output=True, text=True,
                                      timeout=120).stdout
                self.assertRegex(text, r"warm +.*/program\d+\.js:3")

    def test_a_heap_by_v8(self):
        process = self.start(VERSIONS[-1], "class Needle {}; global.kept = new Needle(); console.log('ready'); setInterval(() => {}, 1e6);")
        output = self.path("own.heapsnapshot")
        done = subprocess.run([NODESCOPE, "heap", "take", str(process.pid), "--engine", "inspector", "-o", output, "--json"],
                              capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr)
        told = json.loads(done.stdout)
        self.assertEqual((told["engine"], told["file_bytes"]), ("inspector", os.path.getsize(output)))
        snapshot = json.loads(pathlib.Path(output).read_text())
        self.assertIn("Needle", snapshot["strings"])
        self.assertEqual(listening_ports(process.pid), set())

    def test_the_next_recording_closes_what_a_killed_one_left_open(self):
        process = self.start(VERSIONS[-1], SPIN)
        self.leave_open(process)
        self.assertEqual(self.doctor_lists(), [process.pid])
        other = self.start(VERSIONS[-1], SPIN)
        done, _ = self.record(str(other.pid), "--engine", "inspector", "-d", "1")
        self.assertIn(f"process {process.pid}: a recording that was killed has left its inspector open", done.stderr)
        self.assertEqual(len(listening_ports(process.pid)), 1)
        done, recording = self.record(str(process.pid), "--engine", "inspector", "-d", "1")
        self.assertIn("spinInMain", self.shares(recording))
        self.assertEqual(listening_ports(process.pid), set())
        self.assertEqual(self.doctor_lists(), [])

    def test_one_recorder_at_a_time(self):
        process = self.start(VERSIONS[-1], SPIN)
        recorder = subprocess.Popen([NODESCOPE, "record", "--no-open", "-o", self.path("first.nscope"), str(process.pid), "--engine",
                                     "inspector", "-d", "60"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.assertIn("opened its inspector", recorder.stderr.readline())
        done, _ = self.record(str(process.pid), "--engine", "inspector", "-d", "1", code=1)
        self.assertIn("another nodescope is at work", done.stderr)
        # Ctrl-C writes what there is.
        recorder.send_signal(signal.SIGINT)
        _, text = recorder.communicate(timeout=120)
        self.assertEqual(recorder.returncode, 0, text)
        self.assertIn("spinInMain", self.shares(Recording(NODESCOPE, self.path("first.nscope"))))
        self.assertEqual(listening_ports(process.pid), set())

    def test_one_that_a_debugger_holds(self):
        source = "globalThis.turns = 0; function turn() { turns++; } setInterval(turn, 5); console.log('ready');"
        process = self.start(VERSIONS[-1], source, "--inspect=127.0.0.1:0", signal_port=False)
        [port] = listening_ports(process.pid)
        debugger = web_socket.Client(port)
        self.addCleanup(debugger.close)
        debugger.call("Debugger.enable")
        debugger.call("Debugger.pause")
        debugger.wait_for("Debugger.paused")
        self.record(str(process.pid), "--engine", "inspector", "-d", "1")
        # It is still where its debugger has it, and goes on when that says so.
        self.assertNotIn("Debugger.resumed", debugger.events)
        self.assertNotIn("error", debugger.call("Debugger.resume"))
        debugger.wait_for("Debugger.resumed")
        before = debugger.call("Runtime.evaluate", expression="turns")["result"]["result"]["value"]
        self.wait_until(lambda: debugger.call("Runtime.evaluate", expression="turns")["result"]["result"]["value"] > before)

    def test_the_top_functions_are_v8s(self):
        for version in VERSIONS:
            with self.subTest(version):
                process = self.start(version, WORK, "--cpu-prof", "--cpu-prof-interval=1000", f"--cpu-prof-dir={self.folder.name}",
                                     f"--cpu-prof-name=truth{version}.cpuprofile")
                _, recording = self.record(str(process.pid), "--engine", "inspector", "-d", "3", "-F", "1000")
                _, by_kernel = self.record(str(process.pid), "--engine", "sampling", "-d", "3", "-F", "499")
                process.send_signal(signal.SIGTERM)
                process.wait(timeout=60)
                truth = self.self_shares_of_v8(self.path(f"truth{version}.cpuprofile"))
                for name, shares in (("inspector", self.self_shares(recording)), ("sampling", self.self_shares(by_kernel))):
                    self.assertEqual(max(shares, key=shares.get), max(truth, key=truth.get), (name, shares, truth))
                    for function in ("hot", "cool"):
                        self.assertAlmostEqual(shares.get(function, 0), truth.get(function, 0), delta=0.15, msg=(name, function, shares, truth))

    def self_shares_of_v8(self, path):
        """Of the time that the program's own functions took, by V8's own file."""
        profile = json.loads(pathlib.Path(path).read_text())
        names = {node["id"]: node["callFrame"]["functionName"] for node in profile["nodes"]}
        counts = {}
        for sample, delta in zip(profile["samples"], profile["timeDeltas"]):
            counts[names[sample]] = counts.get(names[sample], 0) + delta
        return self.normal(counts)

    def self_shares(self, recording):
        counts = {}
        for _, _, _, name, frames in recording.samples():
            own = next((f["function"] for f in frames if f["kind"] == "js"), None)
            if own is not None and name == "main":
                counts[own] = counts.get(own, 0) + 1
        return self.normal(counts)

    def normal(self, counts):
        own = {name: count for name, count in counts.items() if name in ("hot", "cool")}
        return {name: count / sum(own.values()) for name, count in own.items()}

    def test_strange_peers(self):
        list_of_targets = json.dumps([{"id": "0f2c-ab", "type": "node"}]).encode()
        answer = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(list_of_targets), list_of_targets)

        def http(text):
            return lambda connection, request: connection.sendall(text)

        def slowly(connection, request):
            for byte in answer[:20]:
                connection.sendall(bytes([byte]))
                time.sleep(0.3)

        def never(connection, request):
            time.sleep(20)

        def large(connection, request):
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100000000\r\n\r\n")
            for _ in range(100):
                connection.sendall(b"[" * 1_000_000)

        def as_socket(talk):
            def behave(connection, request):
                if b"/json/list" in request:
                    return connection.sendall(answer)
                web_socket.accept(connection, request)
                talk(connection)
            return behave

        def send(*pieces):
            def talk(connection):
                web_socket.read_frame(connection)
                for piece in pieces:
                    connection.sendall(piece)
                time.sleep(0.2)
            return talk

        def chatter(connection):
            for _ in range(2_000):
                connection.sendall(web_socket.frame(b'{"method":"NodeWorker.attachedToWorker","params":{"sessionId":"1","workerInfo":{}}}'))

        reply = b'{"id":1,"result":{}}'
        wrong = {
            "garbage": http(b"\xff\x00garbage\r\n\r\n"), "no list": http(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n[]"),
            "another server": http(b"HTTP/1.1 404 Not Found\r\n\r\n"), "slow": slowly, "silent": never, "100 MB": large,
            "closed": lambda connection, request: None,
            "not a WebSocket": lambda connection, request: connection.sendall(answer),
            "garbage frames": as_socket(send(b"\xff" * 1000)),
            "masked": as_socket(send(web_socket.frame(reply, mask=b"abcd"))),
            "no JSON": as_socket(send(web_socket.frame(b"{" * 1000), web_socket.frame(b""), web_socket.frame(b"\xff\xfe", opcode=2))),
            "an error": as_socket(send(web_socket.frame(b'{"id":1,"error":{"message":"no\x1b[2J"}}'))),
            "frame without end": as_socket(send(b"\x81\x7f\x00\x00\x00\x00\x20\x00\x00\x00")),
            "huge frame": as_socket(send(b"\x81\x7f\x7f\xff\xff\xff\xff\xff\xff\xff")),
            "100 MB frame": as_socket(send(web_socket.frame(b" " * 100_000_000))),
            "fragments": as_socket(send(*[web_socket.frame(b"x", opcode=1 if i == 0 else 0, final=False) for i in range(5_000)])),
            "pings": as_socket(send(*[web_socket.frame(b"x" * 125, opcode=9) for _ in range(2_000)])),
            "chatter": as_socket(chatter),
        }
        for name, behaviour in wrong.items():
            with self.subTest(name):
                peer = web_socket.Peer(behaviour)
                done, _ = self.record("--url", f"ws://127.0.0.1:{peer.port}", "-d", "1", code=1)
                self.assertNotIn("\x1b", done.stderr)
                self.assertFalse(os.path.exists(self.path("out.nscope")))
                peer.close()

    def test_where_perf_is_refused(self):
        process = self.start(VERSIONS[-1], SPIN)
        output = self.path("out.nscope")
        command = [NODESCOPE, "record", "--no-open", "-o", output, str(process.pid), "-d", "1"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, preexec_fn=refuse_perf)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("a seccomp filter blocks perf_event_open", done.stderr)
        self.assertIn("recording by V8's inspector instead", done.stderr)
        self.assertIn("spinInMain", self.shares(Recording(NODESCOPE, output)))
        self.assertEqual(listening_ports(process.pid), set())
        done = subprocess.run([*command, "--engine", "sampling"], capture_output=True, text=True, timeout=120, preexec_fn=refuse_perf)
        self.assertEqual(done.returncode, 1)
        self.assertIn("seccomp=unconfined", done.stderr)
        report = subprocess.run([NODESCOPE, "doctor"], capture_output=True, text=True, timeout=60, preexec_fn=refuse_perf).stdout
        self.assertIn("a seccomp filter blocks perf_event_open", report)

    def test_where_the_inspector_is_refused_too(self):
        process = self.start(VERSIONS[-1], "process.on('SIGUSR1', () => process.exit(3));" + SPIN)
        output = self.path("out.nscope")
        command = [NODESCOPE, "record", "--no-open", "-o", output, str(process.pid), "-d", "3"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, preexec_fn=refuse_perf)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("the program handles SIGUSR1 itself", done.stderr)
        self.assertIn("recording by short stops instead", done.stderr)
        shares = self.shares(Recording(NODESCOPE, output))
        self.assertGreater(shares.get("spinInMain", 0), 3)
        self.assertGreater(shares.get("spinInWorker", 0), 3)
        done = subprocess.run([NODESCOPE, "top", str(process.pid), "-n", "2"], capture_output=True, text=True, timeout=120,
                              preexec_fn=refuse_perf)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("a seccomp filter blocks perf_event_open", done.stderr)
        self.assertIn("spinInMain", done.stdout)
        self.assertIsNone(process.poll())

    def test_permission(self):
        if os.geteuid() != 0 or shutil.which("setpriv") is None:
            self.skipTest("needs root and setpriv")
        process = self.start(VERSIONS[-1], SPIN)
        nodescope = shutil.copy(NODESCOPE, self.folder.name)
        os.chmod(self.folder.name, 0o777)
        done = subprocess.run(["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", nodescope, "record", "--no-open", str(process.pid),
                               "--engine", "inspector", "-d", "1"], capture_output=True, text=True, timeout=60, cwd=self.folder.name)
        self.assertEqual(done.returncode, 1)
        self.assertIn("root", done.stderr)
        self.assertEqual(listening_ports(process.pid), set())

    def test_a_port_that_is_taken(self):
        with socket.socket() as other:
            other.bind(("127.0.0.1", 0))
            other.listen()
            process = self.start(VERSIONS[-1], SPIN, f"--inspect-port={other.getsockname()[1]}", signal_port=False)
            done, _ = self.record(str(process.pid), "--engine", "inspector", "-d", "1", code=1)
            self.assertIn("is taken by another program", done.stderr)

    def test_a_target_that_ends(self):
        for how, code in (("process.exit(5)", 5), ("", -signal.SIGKILL)):
            with self.subTest(how):
                process = self.start(VERSIONS[-1], SPIN + f"if (isMainThread) setTimeout(() => {{ {how} }}, 4000);")
                if not how:
                    killer = threading.Timer(4, process.kill)
                    killer.start()
                    self.addCleanup(killer.cancel)
                output = self.path("out.nscope")
                done = subprocess.run([NODESCOPE, "record", "--no-open", "-o", output, str(process.pid), "--engine", "inspector", "-d", "600"],
                                      capture_output=True, text=True, timeout=120)
                # It is not kept from ending, and what V8 has is kept.
                self.assertEqual(process.wait(timeout=60), code)
                self.assertEqual(done.returncode, 0 if code == 5 else 1, done.stderr)
                self.assertEqual(os.path.exists(output), code == 5)
                if code == 5:
                    self.assertIn("spinInMain", self.shares(Recording(NODESCOPE, output)))
                    self.assertIn("its inspector is closed again", done.stderr)
                    os.remove(output)
                else:
                    self.assertIn("it went with the process", done.stderr)
                self.assertEqual(self.doctor_lists(), [])

    def test_doctor_closes_what_a_killed_recorder_left_open(self):
        process = self.start(VERSIONS[-1], SPIN)
        self.leave_open(process)
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
