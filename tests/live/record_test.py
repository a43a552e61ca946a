#!/usr/bin/env python3
"""`nodescope record` on real node processes that are never stopped: record_test.py NODESCOPE MAJOR|VERSION..."""
import collections
import fcntl
import itertools
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

# What the functions of regexps.js run.
PATTERNS = {
    "testSlow": "(a+)+$",
    "replaceWords": r"(\w+)\s(\d+)",
    "splitFields": r"[,;]\s*",
    "matchPairs": "([a-z]+)=([^&]*)",
    "execLiteral": r"^x(y|z)*\d{3,}",
    "execWide": r"(ä|ö|\u4e2d)+x",
    "searchText": "q[^u]",
}


# What those functions of names.js call.
NAMED_AT_RUN_TIME = {"callFoo": "foo", "callBar": "bar", "callSymbol": "[by symbol]", "callOdd": "odd name", "callKeyed": "keyed",
                     "callGiven": "given"}


def start(command, script, folder=None):
    process = subprocess.Popen([*command, str(HERE / script)], stdout=subprocess.PIPE, text=True, cwd=folder)
    line = process.stdout.readline()
    if line != "ready\n":
        raise AssertionError(f"{script} said {line!r}")
    return process


def cpu_seconds(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def wait_for_cpu_time(pid, seconds, at_most=STAY_AT_MOST):
    target, limit = cpu_seconds(pid) + seconds, time.monotonic() + at_most
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
        for _ in range(3000):
            if os.path.exists(self.path) and os.path.getsize(self.path) > 0 or self.process.poll() is not None:
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


def record_with(*arguments):
    with Recorder(*arguments) as recorder:
        return recorder.finish()


def record(pid, seconds, frequency):
    """Until the process has used so much of the CPU, so that a busy machine gives as many samples as an idle one."""
    with Recorder(pid, "-d", 600, "-F", frequency) as recorder:
        recorder.wait_until_recording()
        wait_for_cpu_time(pid, seconds, at_most=90)
        recorder.interrupt()
        return recorder.finish()


class RecordOf:
    """The tests of one node; a class for each version is made from it."""

    version = ""

    @classmethod
    def setUpClass(cls):
        cls.command = nodes.command_or_skip(cls.version)

    def record_script(self, script, seconds, first_wait=0, frequency=499):
        process = start(self.command, script)
        try:
            wait_for_cpu_time(process.pid, first_wait, at_most=30)
            return record(process.pid, seconds, frequency)
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
        self.check_busy_process()

    def test_busy_process_in_baseline_code(self):
        """Most of its calls are in code that has its frame made by a builtin."""
        self.check_busy_process("--always-sparkplug", "--no-opt")

    def check_busy_process(self, *flags):
        source = (HERE / "busy.js").read_text().split("\n")
        process = start([*self.command, *flags], "busy.js")
        try:
            seen = record(process.pid, 4, 499)
        finally:
            end(process)
        stacks, problems, unknown = 0, [], 0
        for _, _, _, _, frames in seen.samples():
            unknown += any(f["function"] == "[unknown js]" for f in frames)
            # What stands between two functions and is not told may have been called by one and call the other.
            own = [f for f in recording.as_dumped(frames)
                   if (f["file"] or "").endswith("busy.js") or f["function"] == "[unknown js]"]
            stacks += any(f["file"] for f in own)
            problems += [p for p in (self.call_problem(source, *pair) for pair in zip(own, own[1:])) if p]
            # A function without a file is not among them; the outermost is the loop, or the script that calls it first.
            if own and own[-1]["function"] not in ("loop", "(anonymous)", "[unknown js]"):
                problems.append(f"{own[-1]['function']} is the outermost of {[f['function'] for f in frames]}")
        print(f"node {self.version}: {stacks} stacks of busy.js, {len(problems)} impossible calls, {unknown} not complete")
        self.assertGreater(stacks, 100)
        self.assertLessEqual(len(problems), 0.005 * stacks + 1, "\n".join(problems[:20]))
        self.assertLessEqual(unknown, 0.005 * stacks + 1)

    @staticmethod
    def call_problem(source, callee, caller):
        name = callee["function"]
        if not caller["line"] or not caller["sure"] or name == "[unknown js]":
            return None
        if CALLED_BY.get(name, name + "(") in source[caller["line"] - 1]:
            return None
        return f"{name} called from line {caller['line']} of {caller['function']} ({caller['tier']})"

    def test_young_closures(self):
        self.check_young_closures(self.record_script("churn.js", 4))

    def test_young_closures_at_the_default_rate(self):
        """The memory of a process that is not young is looked at less often then."""
        one_look = 8
        self.check_young_closures(self.record_script("churn.js", 10, first_wait=3, frequency=99), spared=one_look)

    def check_young_closures(self, seen, spared=1):
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
        self.assertLessEqual(len(incomplete), 0.01 * complete + spared, incomplete[:20])

    def test_names_that_functions_got_at_run_time(self):
        """A function that is made many times, with several names, has the right one or none; one that stays has its own."""
        seen = self.record_script("names.js", 4, first_wait=1)
        named, nameless = collections.Counter(), collections.Counter()
        for _, _, _, _, frames in seen.samples():
            for callee, caller in itertools.pairwise(f["function"] for f in frames if (f.get("file") or "").endswith("names.js")):
                if caller not in NAMED_AT_RUN_TIME or callee == "make":
                    continue
                if callee:
                    self.assertEqual(callee, NAMED_AT_RUN_TIME[caller], caller)
                    named[caller] += 1
                else:
                    nameless[caller] += 1
        print(f"node {self.version}: {dict(named)} named, {dict(nameless)} not")
        for caller in ("callSymbol", "callOdd", "callKeyed", "callGiven"):
            self.assertGreater(named[caller], 10)
            self.assertLessEqual(nameless[caller], 0.05 * named[caller] + 1, caller)
        self.assertGreater(sum((named + nameless)[caller] for caller in ("callFoo", "callBar")), 10)

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

    def test_threads_have_the_names_that_dump_shows(self):
        process = start(self.command, "threads.js")
        try:
            recorded = {s[2]: s[3] for s in record(process.pid, 3, 199).samples()}
            done = subprocess.run([NODESCOPE, "dump", str(process.pid), "--json", "--stop-timeout", "1000"], capture_output=True, text=True, timeout=60)
            self.assertEqual(done.returncode, 0, done.stderr)
            dumped = {thread["tid"]: thread["name"] for thread in json.loads(done.stdout)["threads"]}
            own_names = {int(task.name): (task / "comm").read_text().strip() for task in pathlib.Path(f"/proc/{process.pid}/task").iterdir()}
        finally:
            end(process)
        self.assertEqual(recorded, {tid: dumped[tid] for tid in recorded})
        if not nodes.is_official(self.version):
            return  # a stripped one does not tell what its threads are for
        # Since Node 24 a thread has the name that its worker was given.
        given = "resize-images" if "resize-images" in own_names.values() else "worker"
        self.assertEqual(given == "resize-images", int(self.version.split(".")[0]) >= 24)
        self.assertLessEqual({"libuv pool", "worker", given}, set(recorded.values()))
        self.assertEqual(dumped[process.pid], "main")
        self.assertLessEqual({"libuv pool", "worker", given, "v8 platform", "v8 delayed tasks"}, set(dumped.values()))

    def test_regular_expressions(self):
        """Named by their patterns, which the one function that uses each tells, without a map from the process."""
        seen = self.record_script("regexps.js", 4, first_wait=0.5)
        named, nameless = collections.Counter(), 0
        for sample in seen.samples():
            for pattern in [f["function"] for f in sample[4] if f["kind"] == "regexp"]:
                [user] = [f["function"] for f in sample[4] if f["function"] in PATTERNS] or [None]
                if pattern == "[regexp]":
                    nameless += 1
                elif user:
                    self.assertEqual(pattern, PATTERNS[user])
                    named[user] += 1
        self.assertEqual(set(named), set(PATTERNS), named)
        self.assertLessEqual(nameless, 0.02 * named.total(), named)


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
        script = f'"{self.node}" "{HERE / "busy.js"}" 1 & wait $!'
        with tempfile.TemporaryDirectory() as folder:
            path = folder + "/x.nscope"
            done = subprocess.run([NODESCOPE, "record", "-F", "499", "-o", path, "--", "sh", "-c", script], capture_output=True,
                                  text=True, timeout=60)
            self.assertEqual(done.returncode, 0, done.stderr)
            seen = recording.Recording(NODESCOPE, path)
        self.assertTrue(any(f["function"] == "round" for s in seen.samples() for f in s[4]))

    def test_a_process_for_as_long_as_a_command_runs(self):
        """`-p PID -- sleep 10`, as with perf; the command is recorded too."""
        process = start(self.command, "busy.js")
        program = "import os, time\nprint(os.getpid(), flush=True)\nwhile time.process_time() < 1: pass"
        try:
            with tempfile.TemporaryDirectory() as folder:
                path = folder + "/x.nscope"
                done = subprocess.run([NODESCOPE, "record", "-p", str(process.pid), "-F", "199", "-o", path, "--", sys.executable, "-c",
                                       program], capture_output=True, text=True, timeout=60)
                self.assertEqual(done.returncode, 0, done.stderr)
                seen = recording.Recording(NODESCOPE, path)
        finally:
            end(process)
        command = int(done.stdout.split("\n", 1)[0])
        self.assertEqual({s[1] for s in seen.samples()}, {process.pid, command})
        self.assertTrue(any(f["function"] == "round" for s in seen.samples() for f in s[4]))

    def test_the_exit_code_is_that_of_the_command(self):
        for script, code in (("exit 3", 3), ("kill -9 $$", 128 + signal.SIGKILL), ("exit 0", 0)):
            with self.subTest(script), tempfile.TemporaryDirectory() as folder:
                path = folder + "/x.nscope"
                done = subprocess.run([NODESCOPE, "record", "-o", path, "--", "sh", "-c", script], capture_output=True, text=True, timeout=60)
                self.assertEqual(done.returncode, code, done.stderr)
                recording.Recording(NODESCOPE, path)

    def test_standard_output_is_the_command_s(self):
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([NODESCOPE, "record", "-o", folder + "/x.nscope", "--", "echo", "{}"], capture_output=True, text=True, timeout=60)
            self.assertEqual((done.returncode, done.stdout), (0, "{}\n"), done.stderr)
            self.assertIn("samples", done.stderr.lower())
            for command, code in (("/no/such/command", 127), ("/etc/passwd", 126)):
                done = subprocess.run([NODESCOPE, "record", "-o", folder + "/y.nscope", "--", command], capture_output=True, text=True, timeout=60)
                self.assertEqual((done.returncode, done.stdout), (code, ""), done.stderr)

    def test_a_command_that_is_ended_by_ctrl_c_has_not_failed(self):
        with tempfile.TemporaryDirectory() as folder:
            path = folder + "/x.nscope"
            # The terminal sends it to both.
            recorder = subprocess.Popen([NODESCOPE, "record", "-o", path, "--", "sleep", "60"], stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL, start_new_session=True)
            try:
                for _ in range(600):
                    if os.path.exists(path) and os.path.getsize(path) > 0:  # it listens to signals since then
                        break
                    time.sleep(0.02)
                os.killpg(recorder.pid, signal.SIGINT)
                self.assertEqual(recorder.wait(timeout=30), 0)
            finally:
                end(recorder)

    def test_targets_by_the_whole_path_and_by_the_programs_name(self):
        with tempfile.TemporaryDirectory() as folder:
            shutil.copy(HERE / "idle.js", folder)
            program = shutil.copy(self.node, f"{folder}/my-service-{os.getpid()}")
            process = subprocess.Popen([program, "./idle.js"], stdout=subprocess.PIPE, text=True, cwd=folder)
            try:
                process.stdout.readline()
                for target in (f"{folder}/idle.js", os.path.basename(program)):
                    done = subprocess.run([NODESCOPE, "dump", target, "--json", "--stop-timeout", "1000"], capture_output=True, text=True, timeout=60)
                    self.assertEqual(done.returncode, 0, done.stderr)
                    self.assertEqual(json.loads(done.stdout)["pid"], process.pid)
            finally:
                end(process)

    def test_a_process_twice_by_its_pid_and_as_a_tree(self):
        process = start(self.command, "busy.js")
        try:
            seen = record_with("-p", process.pid, "--tree", process.pid, "-d", 1)
        finally:
            end(process)
        self.assertEqual({s[1] for s in seen.samples()}, {process.pid})

    def test_sources_where_there_is_no_room_for_them(self):
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([NODESCOPE, "record", "--sources", "-o", folder + "/x.svg", "--", "true"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stderr, "--sources does nothing here")

    def test_webassembly_has_the_names_that_the_process_noted(self):
        for option in ("--perf-basic-prof", "--perf-prof"):
            with self.subTest(option), tempfile.TemporaryDirectory() as folder:
                # V8 writes a jitdump in pieces: what it compiles once more, later, may never get there.
                process = start([self.node, option, "--liftoff-only"], "wasm.js", folder)
                try:
                    seen = record(process.pid, 2, 499)
                finally:
                    end(process)
                    pathlib.Path(f"/tmp/perf-{process.pid}.map").unlink(missing_ok=True)
                stacks = [[f["function"] for f in s[4]] for s in seen.samples() if any(f["kind"] == "wasm" for f in s[4])]
                self.assertGreater(len(stacks), 100)
                # Calls lead through a table of jumps, of which no map tells.
                named = [s for s in stacks if "fib" in s and "[wasm]" not in s[1:]]
                self.assertGreater(len(named), 0.99 * len(stacks))

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
                wait_for_cpu_time(process.pid, 0.5, at_most=30)
                recorder.interrupt()
                seen = recorder.finish()
        finally:
            end(process)
        self.assertGreater(len(seen), 5)
        self.assertIn("samples over", recorder.err)

    def test_the_target_ends(self):
        process = start(self.command, "busy.js")
        try:
            with Recorder(process.pid, "-d", 600) as recorder:
                recorder.wait_until_recording()
                wait_for_cpu_time(process.pid, 0.5, at_most=30)
                process.kill()
                process.wait()
                seen = recorder.finish()
        finally:
            end(process)
        self.assertGreater(len(seen), 5)
        self.assertRegex(recorder.err, rf"Process {process.pid} ended after \d+\.\d s of 600 s")

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
            around = cpu_seconds(process.pid)
            with Recorder(process.pid, "-d", 600, "-F", 4999) as recorder:
                recorder.wait_until_recording()
                within = cpu_seconds(process.pid)
                wait_for_cpu_time(process.pid, 4, at_most=60)
                within = cpu_seconds(process.pid) - within
                recorder.interrupt()
                seen = recorder.finish()
            around = cpu_seconds(process.pid) - around
        finally:
            end(process)
        self.check_account(seen, 4999, within, around)

    def test_a_recorder_that_was_held_up_tells_what_it_lost_and_when(self):
        process = start(self.command, "busy.js")
        try:
            around = cpu_seconds(process.pid)
            with Recorder(process.pid, "-d", 600, "-F", 999) as recorder:
                recorder.wait_until_recording()
                within = cpu_seconds(process.pid)
                wait_for_cpu_time(process.pid, 1)
                recorder.process.send_signal(signal.SIGSTOP)
                wait_for_cpu_time(process.pid, 6, at_most=60)
                recorder.process.send_signal(signal.SIGCONT)
                wait_for_cpu_time(process.pid, 1, at_most=60)
                within = cpu_seconds(process.pid) - within
                recorder.interrupt()
                seen = recorder.finish()
            around = cpu_seconds(process.pid) - around
        finally:
            end(process)
        self.check_account(seen, 999, within, around)
        self.assertGreater(seen.profile["lost_samples"], 100)
        losses = [marker for marker in seen.profile["markers"] if marker["kind"] == "lost"]
        self.assertGreater(max(marker["duration_ns"] for marker in losses), 0.3e9)

    def check_account(self, seen, frequency, within, around):
        """`within`, `around`: the CPU seconds that the process used in a time inside of the recording, and in one around it."""
        taken = len(seen) + seen.profile["lost_samples"]
        print(f"{taken / frequency:.2f} s in samples, {within:.2f} to {around:.2f} used")
        self.assertGreater(taken, frequency * within * 0.8)
        self.assertLess(taken, frequency * around * 1.05)

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
        command = f'"{self.node}" -e "const e = Date.now() + 1000; while (Date.now() < e);"; exec "{self.node}" "{HERE / "busy.js"}" 1'
        with tempfile.TemporaryDirectory() as folder:
            path = folder + "/x.nscope"
            done = subprocess.run([NODESCOPE, "record", "-F", "499", "-o", path, "--", "sh", "-c", command],
                                  capture_output=True, text=True, timeout=60)
            self.assertEqual(done.returncode, 0, done.stderr)
            seen = recording.Recording(NODESCOPE, path)
        self.assertTrue(any(f["function"] == "round" for s in seen.samples() for f in s[4]))

    def test_a_stopped_target_is_no_obstacle(self):
        process = start(self.command, "busy.js")
        try:
            process.send_signal(signal.SIGSTOP)
            with Recorder(process.pid, "-d", 1) as recorder:
                self.assertEqual(len(recorder.finish()), 0)
            self.assertIn(f"No samples: process {process.pid} is stopped, by a signal or a debugger; 'nodescope dump", recorder.err)
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
                done = subprocess.run([f"{folder}/nodescope", "record", str(process.pid), "-d", "2", "-F", "499", "-o", f"{folder}/x.nscope"],
                                      capture_output=True, text=True, timeout=60, cwd=folder, **nobody)
                self.assertEqual(done.returncode, 0, done.stderr)
                seen = recording.Recording(NODESCOPE, f"{folder}/x.nscope")
                other = subprocess.run([f"{folder}/nodescope", "record", "1", "-d", "1", "-o", f"{folder}/y.nscope"],
                                       capture_output=True, text=True, timeout=60, cwd=folder, **nobody)
            finally:
                end(process)
        names = {f["function"] for s in seen.samples() for f in s[4]}
        self.assertLessEqual({"loop", "round"}, names)
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
                written = json.loads(pathlib.Path(path).read_text())
        finally:
            end(process)
        frames = written["shared"]["frames"]
        source = (HERE / "busy.js").read_text().split("\n")
        first = source.index("function round() {") + 1
        last = source.index("}", first) + 1
        rounds = [f for f in frames if f["name"] == "round" and f.get("file", "").endswith("busy.js")]
        self.assertGreater(len(rounds), 1)
        for frame in rounds:
            self.assertTrue(first <= frame["line"] <= last, frame)
        stacks = {tuple(stack) for profile in written["profiles"] for stack in profile["samples"]}
        calls = {pair for stack in stacks for pair in itertools.pairwise(stack)}
        checked = 0
        for caller, callee in ((frames[a], frames[b]) for a, b in calls):
            if caller in rounds and callee.get("file") == caller["file"]:
                self.assertIn(callee["name"] + "(", source[caller["line"] - 1], (caller, callee))
                checked += 1
        self.assertGreater(checked, 3)

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
first = start(0, [sys.argv[1], "-e", "function early() { for (let i = 0; i < 1e6; i++); } while (process.cpuUsage().user < 1e6) early(); setTimeout(() => {}, 1000);"])
os.waitpid(first, 0)
second = start(first, [sys.argv[2], "-e", "function late() { for (let i = 0; i < 1e6; i++); } while (process.cpuUsage().user < 1e6) late(); setTimeout(() => {}, 1000);"])
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
        process = start(self.command, "inlined.js")
        try:
            done = subprocess.run([NODESCOPE, "top", str(process.pid), "-n", "2"], capture_output=True, text=True, timeout=60)
        finally:
            end(process)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout.count("nodescope top · Node.js " + nodes.NEWEST[22]), 2)
        self.assertRegex(done.stdout, r"js\s+(turbofan|maglev|baseline|interpreted)\s+\w+ .*inlined\.js:\d+")

    def test_the_first_table_of_top_is_full(self):
        process = start(self.command, "inlined.js")
        try:
            done = subprocess.run([NODESCOPE, "top", str(process.pid), "-n", "1", "--interval", "2"], capture_output=True, text=True, timeout=60)
        finally:
            end(process)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"js\s+(turbofan|maglev|baseline|interpreted)\s+\w+ .*inlined\.js:\d+")

    def test_top_says_that_the_process_has_ended(self):
        process = start(self.command, "inlined.js")
        top = subprocess.Popen([NODESCOPE, "top", str(process.pid), "--interval", "0.5"], stdout=subprocess.PIPE, text=True)
        try:
            self.assertTrue(any("inlined.js" in line for line in top.stdout))
            process.kill()
            process.wait()
            shown = top.stdout.read()
            self.assertEqual(top.wait(timeout=20), 0)
        finally:
            end(process)
            end(top)
        self.assertEqual(shown.rstrip().rsplit("\n", 1)[1], "The process has ended: this is what it did last")
        self.assertRegex(shown[shown.rindex("nodescope top"):], r"inlined\.js:\d+")

    def test_top_leaves_its_last_table_in_the_terminal(self):
        process = start(self.command, "inlined.js")
        primary, secondary = pty.openpty()
        try:
            fcntl.ioctl(secondary, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 120, 0, 0))
            top = subprocess.Popen([NODESCOPE, "top", str(process.pid), "--interval", "0.5"], stdin=secondary, stdout=secondary,
                                   stderr=secondary)
            self.wait_for_text(primary, "inlined.js")
            process.kill()
            process.wait()
            shown = self.wait_for_text(primary, "The process has ended")
            self.assertIn("inlined.js", shown[shown.rindex("\033[?1049l"):])
            self.assertEqual(top.wait(timeout=20), 0)
        finally:
            end(process)
            os.close(primary)
            os.close(secondary)

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
            done = subprocess.run([NODESCOPE, "demo", "--seconds", "10"], cwd=folder, capture_output=True, text=True, timeout=100,
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
