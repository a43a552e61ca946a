#!/usr/bin/env python3
"""`nodescope record` on real node processes that are never stopped: record_test.py NODESCOPE MAJOR|VERSION..."""
import collections
import fcntl
import json
import os
import pathlib
import pty
import re
import select
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import nodes
import recording
import runner
import truth

NODESCOPE = ""
HERE = pathlib.Path(__file__).resolve().parent

# How much CPU time the program has in each place, however busy the machine is, and how often it is looked at meanwhile.
STAY_SECONDS = 0.03
STAY_AT_MOST = 3
STAY_FREQUENCY = 499

# Called by V8 and not by name: the text that the caller's line holds instead.
CALLED_BY = {"one": "items.map(", "compareItems": "items.sort(", "naturals": "naturals(", "Shape": "new "}


def start(command, script):
    process = subprocess.Popen([*command, str(HERE / script)], stdout=subprocess.PIPE, text=True)
    line = process.stdout.readline()
    if line != "ready\n":
        raise AssertionError(f"{script} said {line!r}")
    return process


def cpu_seconds(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def wait_for_cpu_time(pid, seconds):
    target, limit = cpu_seconds(pid) + seconds, time.monotonic() + STAY_AT_MOST
    while cpu_seconds(pid) < target and time.monotonic() < limit:
        time.sleep(0.005)


def end(process):
    process.kill()
    process.wait()
    for stream in (process.stdin, process.stdout, process.stderr):
        if stream:
            stream.close()


class Recorder:
    """A recorder in the background; the recording once it has ended."""

    def __init__(self, *arguments, output="recording.nscope"):
        self.folder = tempfile.TemporaryDirectory()
        self.path = str(pathlib.Path(self.folder.name) / output)
        self.process = subprocess.Popen([NODESCOPE, "record", *map(str, arguments), "-o", self.path], stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True)

    def wait_until_recording(self):
        """The file is made when sampling has begun."""
        for _ in range(600):
            if os.path.exists(self.path) or self.process.poll() is not None:
                return
            time.sleep(0.02)
        raise AssertionError("the recorder did not begin")

    def interrupt(self):
        self.process.send_signal(signal.SIGINT)

    def finish(self):
        self.out, self.err = self.process.communicate(timeout=120)
        if self.process.returncode != 0:
            raise AssertionError(self.err)
        return recording.Recording(NODESCOPE, self.path)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
            self.process.communicate()
        for stream in (self.process.stdout, self.process.stderr):
            stream.close()
        self.folder.cleanup()


def record(pid, seconds, frequency):
    with Recorder(pid, "-d", seconds, "-F", frequency) as recorder:
        return recorder.finish()


class RecordOf:
    """The tests of one node; a class for each version is made from it."""

    version = ""

    @classmethod
    def setUpClass(cls):
        cls.command = nodes.command_or_skip(cls.version)

    def record_script(self, script, seconds, first_wait=0):
        process = start(self.command, script)
        try:
            time.sleep(first_wait)
            return record(process.pid, seconds, 499)
        finally:
            end(process)

    def test_what_v8_says(self):
        """Every sample taken while the program stays somewhere shows what V8 said about that place."""
        windows = []
        recorder = None
        try:
            for process, expected in truth.stops(self.command):
                if recorder is None:
                    recorder = Recorder(process.pid, "-d", 600, "-F", STAY_FREQUENCY)
                    recorder.wait_until_recording()
                begin = time.monotonic_ns()
                wait_for_cpu_time(process.pid, STAY_SECONDS)
                windows.append((begin, time.monotonic_ns(), expected))
            seen = recorder.finish()
        finally:
            if recorder is not None:
                recorder.__exit__()
        self.assertGreater(len(windows), 100)
        self.compare(windows, sorted(seen.samples(), key=lambda sample: sample[0]))

    def compare(self, windows, samples):
        right, wrong, kinds = 0, [], set()
        at = 0
        for begin, finish, expected in windows:
            while at < len(samples) and samples[at][0] < begin:
                at += 1
            while at < len(samples) and samples[at][0] < finish:
                _, pid, tid, _, frames = samples[at]
                at += 1
                frames = recording.as_dumped(frames)
                if not any(f["function"] == "stay" for f in frames) or (tid == pid) != (expected["thread"] == 0):
                    continue
                problem = truth.difference(expected, frames)
                if problem:
                    wrong.append(f"{expected['kind']} (thread {expected['thread']}): {problem}")
                else:
                    right += 1
                    kinds.add((expected["kind"], expected["thread"] == 0))
        print(f"node {self.version}: {right} of {right + len(wrong)} stacks are what V8 said, in {len(kinds)} places")
        self.assertGreater(len(kinds), 100)
        self.assertLessEqual(len(wrong), 0.005 * (right + len(wrong)), "\n".join(wrong[:20]))
        # A name is right or not there.
        names = [w for w in wrong if "[unknown js]" not in w and "frames instead of" not in w]
        self.assertEqual([w for w in names if not self.is_same_name(w)], [])

    @staticmethod
    def is_same_name(problem):
        match = re.search(r"\('((?:[^'\\]|\\.)*)', .* instead of \('((?:[^'\\]|\\.)*)', ", problem)
        return match and match[1] == match[2]

    def test_busy_process(self):
        source = (HERE / "busy.js").read_text().split("\n")
        process = start(self.command, "busy.js")
        try:
            seen = record(process.pid, 4, 499)
        finally:
            end(process)
        stacks, problems, unknown = 0, [], 0
        for _, _, _, _, frames in seen.samples():
            unknown += any(f["function"] == "[unknown js]" for f in frames)
            own = [f for f in recording.as_dumped(frames) if (f["file"] or "").endswith("busy.js")]
            stacks += bool(own)
            problems += [p for p in (self.call_problem(source, *pair) for pair in zip(own, own[1:])) if p]
        print(f"node {self.version}: {stacks} stacks of busy.js, {len(problems)} impossible calls, {unknown} not complete")
        self.assertGreater(stacks, 100)
        self.assertLessEqual(len(problems), 0.005 * stacks + 1, "\n".join(problems[:20]))
        self.assertLessEqual(unknown, 0.005 * stacks + 1)

    @staticmethod
    def call_problem(source, callee, caller):
        if not caller["line"] or not caller["sure"]:
            return None
        name = callee["function"]
        if CALLED_BY.get(name, name + "(") in source[caller["line"] - 1]:
            return None
        return f"{name} called from line {caller['line']} of {caller['function']} ({caller['tier']})"

    def test_young_closures(self):
        seen = self.record_script("churn.js", 4)
        complete, incomplete = 0, []
        for _, pid, tid, _, frames in seen.samples():
            names = [f["function"] for f in frames if f["kind"] == "js" and (f.get("file") or "").endswith("churn.js")]
            if tid != pid or "leaf" not in names and "[unknown js]" not in names:
                continue
            if names[:5] == ["leaf", "inner", "middle", "outer", "loop"]:
                complete += 1
            else:
                incomplete.append(names)
        print(f"node {self.version}: {complete} of {complete + len(incomplete)} stacks of young closures are complete")
        self.assertGreater(complete, 60)
        self.assertLessEqual(len(incomplete), 0.01 * complete + 1, incomplete[:20])

    def test_hashes(self):
        """Code that keeps the caller's stack pointer below its own, where a copy of the stack does not reach."""
        seen = self.record_script("hashing.js", 2)
        whole, others, callers = 0, collections.Counter(), collections.Counter()
        for _, _, _, thread, frames in seen.samples():
            names = [f["function"] for f in frames]
            if thread == "main" and "hashPassword" in names:
                callers[names[names.index("hashPassword") + 1]] += 1
            block = next((name for name in names if "_block_data_order" in name), None)
            if block is None:
                continue
            below = names[names.index(block) + 1:]
            if below and "hashPassword" in below or thread != "main" and any("Thread" in n or n == "worker" for n in below):
                whole += 1
                self.assertRegex(below[0], "^(SHA512_|sha512_)", below)
            else:
                others[thread, *names] += 1
        print(f"node {self.version}: {whole} of {whole + others.total()} stacks in a hash are whole")
        if whole + others.total() == 0:
            self.skipTest("OpenSSL's functions have no names here")
        self.assertGreater(whole, 50)
        self.assertLessEqual(callers.total() - callers["login"], 0.005 * callers.total(), callers)
        self.assertLessEqual(others.total(), 0.005 * whole + 1, (others.most_common(5), seen.profile["diagnostics"]))

    def test_inlined_functions(self):
        seen = self.record_script("inlined.js", 4, first_wait=1)  # until V8 has optimized it
        count = collections.Counter()
        inlined = 0
        for _, pid, tid, _, frames in seen.samples():
            names = {f["function"] for f in frames}
            inlined += any(f.get("inlined") for f in frames)
            count["light"] += "light" in names
            count["heavy"] += "heavy" in names
        self.assertGreater(inlined, 0.5 * len(seen))
        share = count["heavy"] / (count["heavy"] + count["light"])
        print(f"node {self.version}: heavy() has {share:.3f} of the time, {inlined} of {len(seen)} with inlined functions")
        self.assertAlmostEqual(share, 0.75, delta=0.1)


class RecordAnything(unittest.TestCase):
    """What does not depend on the version of node."""

    @classmethod
    def setUpClass(cls):
        cls.node = nodes.node_or_skip(nodes.NEWEST[22])
        cls.command = [cls.node]

    def test_a_program_that_is_not_node_has_native_frames(self):
        process = subprocess.Popen([sys.executable, "-c", "while True: sum(range(1000))"])
        try:
            seen = record(process.pid, 1, 499)
        finally:
            end(process)
        self.assertGreater(len(seen), 10)
        self.assertTrue(any(f["kind"] == "native" and f["function"] for s in seen.samples() for f in s[4]))

    def test_a_command_and_its_children(self):
        script = f'"{self.node}" "{HERE / "churn.js"}" & sleep 2; kill $!'
        with tempfile.TemporaryDirectory() as folder:
            path = folder + "/x.nscope"
            done = subprocess.run([NODESCOPE, "record", "-F", "499", "-o", path, "--", "sh", "-c", script], capture_output=True,
                                  text=True, timeout=60)
            self.assertEqual(done.returncode, 0, done.stderr)
            seen = recording.Recording(NODESCOPE, path)
        self.assertTrue(any(f["function"] == "leaf" for s in seen.samples() for f in s[4]))

    def test_regular_expressions_have_the_names_that_the_process_noted(self):
        process = start([self.node, "--perf-basic-prof"], "busy.js")
        try:
            seen = record(process.pid, 2, 499)
        finally:
            end(process)
            pathlib.Path(f"/tmp/perf-{process.pid}.map").unlink(missing_ok=True)
        names = {f["function"] for s in seen.samples() for f in s[4] if f["kind"] == "regexp"}
        # V8 may have compiled it once more after the map was read.
        self.assertIn(r"(\w+)\s+(\d+)", names)
        self.assertLessEqual(names, {r"(\w+)\s+(\d+)", "[regexp]"})

    def test_threads_are_named(self):
        process = start(self.command, "busy.js")
        try:
            seen = record(process.pid, 2, 199)
        finally:
            end(process)
        names = {s[3] for s in seen.samples()}
        self.assertIn("main", names)
        self.assertIn("worker", names)

    def test_ctrl_c_finishes_and_writes(self):
        process = start(self.command, "busy.js")
        try:
            with Recorder(process.pid, "-d", 600) as recorder:
                recorder.wait_until_recording()
                time.sleep(1)
                recorder.interrupt()
                seen = recorder.finish()
        finally:
            end(process)
        self.assertGreater(len(seen), 5)
        self.assertIn("samples over", recorder.out)

    def test_the_target_ends(self):
        process = start(self.command, "busy.js")
        try:
            with Recorder(process.pid, "-d", 600) as recorder:
                recorder.wait_until_recording()
                time.sleep(1)
                process.kill()
                process.wait()
                seen = recorder.finish()
        finally:
            end(process)
        self.assertGreater(len(seen), 5)

    def test_a_killed_recorder_leaves_a_file_that_opens(self):
        process = start(self.command, "busy.js")
        try:
            with Recorder(process.pid, "-d", 600) as recorder:
                recorder.wait_until_recording()
                time.sleep(4)
                recorder.process.kill()
                recorder.process.communicate()
                seen = recording.Recording(NODESCOPE, recorder.path)
        finally:
            end(process)
        self.assertGreater(len(seen), 10)

    def test_every_sample_is_accounted_for(self):
        """Samples here and lost are what the kernel's own clock says, also when the reader cannot keep up."""
        process = start(self.command, "busy.js")
        try:
            with tempfile.TemporaryDirectory() as folder:
                path = folder + "/x.nscope"
                before = cpu_seconds(process.pid)
                done = subprocess.run([NODESCOPE, "record", str(process.pid), "-d", "3", "-F", "4999", "-o", path],
                                      capture_output=True, text=True, timeout=60)
                used = cpu_seconds(process.pid) - before
                self.assertEqual(done.returncode, 0, done.stderr)
                seen = recording.Recording(NODESCOPE, path)
        finally:
            end(process)
        taken = len(seen) + seen.profile["lost_samples"]
        # The process ran before and after the recording too, for some tenths of a second.
        self.assertLess(taken, 4999 * used * 1.05)
        self.assertGreater(taken, 4999 * used * 0.6)

    def test_a_recorder_that_was_held_up_tells_what_it_lost_and_when(self):
        process = start(self.command, "busy.js")
        try:
            with tempfile.TemporaryDirectory() as folder:
                path = folder + "/x.nscope"
                before = cpu_seconds(process.pid)
                recorder = subprocess.Popen([NODESCOPE, "record", str(process.pid), "-d", "6", "-F", "999", "-o", path],
                                            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                time.sleep(1.5)
                recorder.send_signal(signal.SIGSTOP)
                time.sleep(3.5)
                recorder.send_signal(signal.SIGCONT)
                self.assertEqual(recorder.wait(timeout=60), 0)
                used = cpu_seconds(process.pid) - before
                seen = recording.Recording(NODESCOPE, path)
        finally:
            end(process)
        self.assertGreater(seen.profile["lost_samples"], 100)
        taken = len(seen) + seen.profile["lost_samples"]
        self.assertLess(taken, 999 * used * 1.05)
        self.assertGreater(taken, 999 * used * 0.6)
        losses = [marker for marker in seen.profile["markers"] if marker["kind"] == "lost"]
        self.assertGreater(max(marker["duration_ns"] for marker in losses), 0.3e9)

    def test_threads_that_come_and_go(self):
        """Threads that come and go while they are sampled belong to the recording."""
        program = ("import threading\ndef work():\n    sum(range(100000))\nprint('ready', flush=True)\n"
                   "while True:\n    threads = [threading.Thread(target=work) for _ in range(20)]\n"
                   "    [t.start() for t in threads]\n    [t.join() for t in threads]\n")
        process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
        try:
            process.stdout.readline()
            seen = record(process.pid, 3, 999)
        finally:
            end(process)
        tids = {s[2] for s in seen.samples()}
        print(f"{len(tids)} threads were sampled")
        self.assertGreater(len(tids), 20)
        # The kernel gives numbers in order: so many threads came and went.
        print(f"of about {max(tids) - min(tids)}")

    def test_the_target_becomes_another_program(self):
        command = f'"{self.node}" -e "const e = Date.now() + 1000; while (Date.now() < e);"; exec "{self.node}" "{HERE / "churn.js"}"'
        with tempfile.TemporaryDirectory() as folder:
            path = folder + "/x.nscope"
            done = subprocess.run([NODESCOPE, "record", "-d", "4", "-F", "499", "-o", path, "--", "sh", "-c", command],
                                  capture_output=True, text=True, timeout=60)
            self.assertEqual(done.returncode, 0, done.stderr)
            seen = recording.Recording(NODESCOPE, path)
        self.assertTrue(any(f["function"] == "leaf" for s in seen.samples() for f in s[4]))

    def test_a_stopped_target_is_no_obstacle(self):
        process = start(self.command, "busy.js")
        try:
            process.send_signal(signal.SIGSTOP)
            seen = record(process.pid, 1, 99)
            self.assertEqual(len(seen), 0)
            process.send_signal(signal.SIGCONT)
            self.assertGreater(len(record(process.pid, 1, 99)), 3)
        finally:
            end(process)

    def test_a_full_disk(self):
        """The recorder goes on, says so, and fails at the end."""
        process = start(self.command, "busy.js")
        try:
            with tempfile.TemporaryDirectory() as folder:
                os.symlink("/dev/full", folder + "/x.nscope")
                done = subprocess.run([NODESCOPE, "record", str(process.pid), "-d", "2", "-o", folder + "/x.nscope"],
                                      capture_output=True, text=True, timeout=60)
            self.assertEqual(done.returncode, 1)
            self.assertRegex(done.stderr, "No space left on device; recording goes on")
            self.assertIsNone(process.poll())
        finally:
            end(process)

    def test_another_user_records_its_own_process(self):
        if os.geteuid() != 0:
            self.skipTest("runs as an ordinary user already")
        nobody = dict(user=65534, group=65534, extra_groups=[])
        with tempfile.TemporaryDirectory() as folder:
            os.chmod(folder, 0o777)
            for source, name in ((NODESCOPE, "nodescope"), (self.node, "node"), (HERE / "busy.js", "busy.js")):
                shutil.copy(source, f"{folder}/{name}")
            process = subprocess.Popen([f"{folder}/node", f"{folder}/busy.js"], stdout=subprocess.PIPE, text=True, **nobody)
            try:
                self.assertEqual(process.stdout.readline(), "ready\n")
                done = subprocess.run([f"{folder}/nodescope", "record", str(process.pid), "-d", "2", "-o", f"{folder}/x.nscope"],
                                      capture_output=True, text=True, timeout=60, cwd=folder, **nobody)
                self.assertEqual(done.returncode, 0, done.stderr)
                seen = recording.Recording(NODESCOPE, f"{folder}/x.nscope")
                other = subprocess.run([f"{folder}/nodescope", "record", "1", "-d", "1", "-o", f"{folder}/y.nscope"],
                                       capture_output=True, text=True, timeout=60, cwd=folder, **nobody)
            finally:
                end(process)
        names = {f["function"] for s in seen.samples() for f in s[4]}
        self.assertTrue({"round", "fibonacci", "sumOfAreas"} <= names, names)
        self.assertEqual(other.returncode, 1)
        self.assertRegex(other.stderr, "perf_event_paranoid")

    def test_another_user_namespace(self):
        process = subprocess.Popen(["unshare", "--user", "--map-root-user", "--fork", self.node, str(HERE / "busy.js")],
                                   stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        inside = None
        try:
            if process.stdout.readline() != "ready\n":
                self.skipTest("no user namespace can be made here")
            inside = int(pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()[0])
            seen = record(inside, 1, 199)
        finally:
            if inside:
                os.kill(inside, signal.SIGKILL)
            end(process)
        self.assertTrue(any(f["function"] == "round" for s in seen.samples() for f in s[4]))

    def test_speedscope_has_names_files_and_lines(self):
        process = start(self.command, "busy.js")
        try:
            with tempfile.TemporaryDirectory() as folder:
                path = folder + "/x.speedscope.json"
                done = subprocess.run([NODESCOPE, "record", str(process.pid), "-d", "2", "-F", "199", "-o", path],
                                      capture_output=True, text=True, timeout=60)
                self.assertEqual(done.returncode, 0, done.stderr)
                frames = json.loads(pathlib.Path(path).read_text())["shared"]["frames"]
        finally:
            end(process)
        source = (HERE / "busy.js").read_text().split("\n")
        calls = [f for f in frames if f["name"] == "round" and f.get("file", "").endswith("busy.js")]
        self.assertGreater(len(calls), 1)
        for frame in calls:
            self.assertRegex(source[frame["line"] - 1], r"\w+\(|\+=", frame)

    def test_a_pid_that_is_used_again(self):
        """A process that has the pid of one that has ended, and runs another Node.js, has its own names."""
        try:
            before = nodes.node_binary(nodes.NEWEST[18])
        except nodes.Unavailable as reason:
            self.skipTest(str(reason))
        program = """
import os, subprocess, sys
def start(pid, command):
    for _ in range(200):
        if pid: open("/proc/sys/kernel/ns_last_pid", "w").write(str(pid - 1))
        child = os.fork()
        if child == 0:
            if pid and os.getpid() != pid: os._exit(77)
            os.execv(command[0], command)
        if pid in (0, child): return child
        os.waitpid(child, 0)
    sys.exit(77)
first = start(0, [sys.argv[1], "-e", "function early() { for (let i = 0; i < 1e6; i++); } const e = Date.now() + 1500; while (Date.now() < e) early();"])
os.waitpid(first, 0)
second = start(first, [sys.argv[2], "-e", "function late() { for (let i = 0; i < 1e6; i++); } const e = Date.now() + 1500; while (Date.now() < e) late();"])
os.waitpid(second, 0)
print(first, second)
"""
        with tempfile.TemporaryDirectory() as folder:
            path = folder + "/x.nscope"
            done = subprocess.run([NODESCOPE, "record", "-F", "499", "-o", path, "--", sys.executable, "-c", program, before,
                                   self.node], capture_output=True, text=True, timeout=60)
            numbers = [line.split() for line in done.stdout.splitlines() if re.fullmatch(r"\d+ \d+", line)]
            if not numbers:
                self.skipTest("a pid cannot be asked for here")
            seen = recording.Recording(NODESCOPE, path)
        first, second = map(int, numbers[0])
        self.assertEqual(first, second)
        names = [f["function"] for s in seen.samples() if s[1] == first for f in s[4] if f["kind"] == "js"]
        self.assertIn("early", names)
        self.assertIn("late", names)
        unknown = sum(name == "[unknown js]" for name in names)
        self.assertLess(unknown, 0.02 * len(names))

    def test_many_targets(self):
        processes = [start(self.command, "idle.js") for _ in range(12)]
        try:
            with Recorder(*[p.pid for p in processes], "-d", 2, "-F", 199) as recorder:
                seen = recorder.finish()
            self.assertEqual({s[1] for s in seen.samples()}, {p.pid for p in processes})
        finally:
            for process in processes:
                end(process)

    def test_top_without_a_terminal(self):
        process = start(self.command, "busy.js")
        try:
            done = subprocess.run([NODESCOPE, "top", str(process.pid), "-n", "2"], capture_output=True, text=True, timeout=60)
        finally:
            end(process)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout.count("nodescope top · Node.js " + nodes.NEWEST[22]), 2)
        self.assertRegex(done.stdout, r"js\s+(turbofan|baseline|interpreted)\s+\w+ .*busy\.js:\d+")

    def test_top_in_a_terminal(self):
        process = start(self.command, "busy.js")
        primary, secondary = pty.openpty()
        try:
            fcntl.ioctl(secondary, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 120, 0, 0))
            before = termios.tcgetattr(secondary)
            top = subprocess.Popen([NODESCOPE, "top", str(process.pid), "--interval", "0.3"], stdin=secondary, stdout=secondary,
                                   stderr=secondary)
            self.wait_for_text(primary, "q quit")
            os.write(primary, b"s/sumOf\n")
            screen = self.wait_for_text(primary, "filter [sumOf]")
            self.assertIn("sort (total)", screen)
            os.write(primary, b"t")
            self.wait_for_text(primary, f"main {process.pid}")
            os.write(primary, b"q")
            self.assertEqual(top.wait(timeout=20), 0)
            self.assertEqual(termios.tcgetattr(secondary), before)
        finally:
            end(process)
            os.close(primary)
            os.close(secondary)

    def wait_for_text(self, terminal, text):
        seen = ""
        limit = time.monotonic() + 20
        while time.monotonic() < limit:
            if select.select([terminal], [], [], 0.1)[0]:
                seen += os.read(terminal, 65536).decode(errors="replace")
            if text in seen:
                return seen
        self.fail(f"{text!r} did not appear in {seen[-2000:]!r}")

    def test_demo(self):
        path = os.pathsep.join([str(pathlib.Path(self.node).parent), os.environ["PATH"]])
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([NODESCOPE, "demo", "--seconds", "6"], cwd=folder, capture_output=True, text=True, timeout=100,
                                  env={**os.environ, "PATH": path, "TMPDIR": folder})
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(sorted(os.listdir(folder)), ["nodescope-demo.nscope", "nodescope-demo.svg"])
            seen = recording.Recording(NODESCOPE, folder + "/nodescope-demo.nscope")
        self.assertIn("aggregateMetrics", done.stdout)
        self.assertIn("handleRequest", done.stdout)
        self.assertEqual(len({s[1] for s in seen.samples()}), 3)

    def test_no_such_process(self):
        done = subprocess.run([NODESCOPE, "record", "999999999", "-o", "/dev/null"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, "there is no process 999999999")


def main():
    global NODESCOPE
    NODESCOPE, versions = sys.argv[1], sys.argv[2:]
    suite = unittest.TestSuite()
    loader = unittest.defaultTestLoader
    for version in versions:
        if version == "any":
            suite.addTests(loader.loadTestsFromTestCase(RecordAnything))
            continue
        version = nodes.version_of(version)
        name = "RecordOfNode_" + re.sub(r"\W", "_", version)
        suite.addTests(loader.loadTestsFromTestCase(type(name, (RecordOf, unittest.TestCase), {"version": version})))
    runner.run(suite)


main()
