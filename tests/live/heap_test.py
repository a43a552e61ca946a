#!/usr/bin/env python3
"""`nodescope heap take`, `leak` and `watch` on real processes: heap_test.py NODESCOPE MAJOR|VERSION"""
import collections
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import nodes
import runner

NODESCOPE, VERSION = sys.argv[1], nodes.version_of(sys.argv[2])
PROGRAM = str(pathlib.Path(__file__).resolve().parent / "heap.js")
# Instances; the prototype of a derived class is named after the base class, as in V8's own snapshots.
POPULATION = {"Kept": 3000 + 500 + 1, "Derived": 700 + 100, "OnlyWeak": 0}


class Program:
    def __init__(self, *arguments):
        self.process = subprocess.Popen([nodes.node_or_skip(VERSION), PROGRAM, *arguments], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)
        self.wait_for("ready")
        self.pid = self.process.pid

    def wait_for(self, word):
        line = self.process.stdout.readline().strip()
        if line != word:
            raise AssertionError(f"{line!r} instead of {word!r}")

    def order(self, text, answer):
        self.process.stdin.write(text + "\n")
        self.process.stdin.flush()
        self.wait_for(answer)

    def state(self):
        return pathlib.Path(f"/proc/{self.pid}/stat").read_text().rsplit(")", 1)[1].split()[0]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()


class Snapshot:
    def __init__(self, path):
        content = json.loads(pathlib.Path(path).read_text())
        meta = content["snapshot"]["meta"]
        fields, types = meta["node_fields"], meta["node_types"][0]
        self.strings, flat = content["strings"], content["nodes"]
        width, kind, name = len(fields), fields.index("type"), fields.index("name")
        size = fields.index("self_size")
        self.counts, self.bytes = collections.Counter(), collections.Counter()
        for i in range(0, len(flat), width):
            group = (types[flat[i + kind]], self.strings[flat[i + name]])
            self.counts[group] += 1
            self.bytes[group] += flat[i + size]
        ids = flat[fields.index("id")::width]
        self.ids_are_unique = len(set(ids)) == len(ids)

    def objects(self, name):
        return self.counts["object", name]


def run(*arguments):
    return subprocess.run([NODESCOPE, "heap", *arguments], capture_output=True, text=True, timeout=120)


class HeapTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def take(self, program, *options, file="taken.heapsnapshot"):
        done = run("take", str(program.pid), "-o", self.path(file), "--json", *options)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def check_population(self, snapshot):
        for name, count in POPULATION.items():
            # The prototype itself counts as one where nothing is derived.
            self.assertEqual(snapshot.objects(name), count, name)

    def test_a_population_is_counted_as_v8_counts_it(self):
        with Program() as program:
            report = self.take(program)
            program.order(self.path("v8.heapsnapshot"), "written")
        self.assertEqual(report["engine"], "outside")
        self.assertGreater(report["stopped_ms"], 0)
        self.assertEqual([isolate["thread"] for isolate in report["isolates"]], [program.pid])
        ours, v8 = Snapshot(report["file"]), Snapshot(self.path("v8.heapsnapshot"))
        self.check_population(ours)
        self.check_population(v8)
        self.assertTrue(ours.ids_are_unique)
        same = other = 0
        for group in ours.counts.keys() | v8.counts.keys():
            if group[0] not in ("object", "closure", "regexp", "bigint"):
                continue
            if (ours.counts[group], ours.bytes[group]) == (v8.counts[group], v8.bytes[group]):
                same += 1
            else:
                other += 1
        self.assertLess(other, 0.05 * (same + other), f"{same} classes are equal, {other} are not")

    def test_a_busy_program_with_a_worker(self):
        with Program("busy") as program:
            for round in range(8):
                report = self.take(program, file=f"busy{round}.heapsnapshot")
                self.assertEqual(len(report["isolates"]), 2)
                main, worker = [Snapshot(isolate["file"]) for isolate in report["isolates"]]
                self.check_population(main)
                self.assertEqual(worker.objects("InWorker"), 400)
                self.assertEqual(main.objects("InWorker"), 0)
                self.assertNotIn(program.state(), "Tt")
            tid = report["isolates"][1]["thread"]
            alone = self.take(program, "--thread", str(tid), file="worker.heapsnapshot")
            self.assertEqual(Snapshot(alone["file"]).objects("InWorker"), 400)

    def test_redacted(self):
        with Program() as program:
            plain = Snapshot(self.take(program)["file"])
            redacted = Snapshot(self.take(program, "--redact", file="redacted.heapsnapshot")["file"])
        self.assertIn("passwordword", plain.strings)
        self.assertNotIn("passwordword", redacted.strings)
        self.assertFalse([text for text in redacted.strings if text.startswith("text ")])
        self.check_population(redacted)

    def test_killed_in_the_middle(self):
        with Program("busy") as program:
            for delay in range(0, 100, 5):
                taking = subprocess.Popen([NODESCOPE, "heap", "take", str(program.pid), "-o", self.path("killed")],
                                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                time.sleep(delay / 1000)
                taking.send_signal(signal.SIGKILL)
                taking.wait()
                limit = time.monotonic() + 10
                while program.state() in "Tt" and time.monotonic() < limit:
                    time.sleep(0.01)
                self.assertNotIn(program.state(), "Tt")
            program.order("grow", "grown")

    def test_a_leak_is_named(self):
        with Program() as program:
            leak = subprocess.Popen([NODESCOPE, "heap", "leak", str(program.pid), "--every", "1s", "--times", "3", "--json"],
                                    stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            for line in leak.stderr:
                if line.startswith("heap "):
                    program.order("grow", "grown")
            answer = json.loads(leak.stdout.read())
            leak.wait()
            leak.stdout.close()
            leak.stderr.close()
        self.assertEqual(answer["leak"]["name"], "Kept")
        self.assertEqual(answer["leak"]["count_delta"], 800)

    def test_what_memory_is_used_for(self):
        with Program() as program:
            done = run("watch", str(program.pid), "--count", "2", "--every", "200ms", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual(len(rows), 2)
        for row in rows:
            parts = sum(row["heap"].values()) + sum(row[name] for name in row if name.endswith("_bytes") and name != "rss_bytes")
            self.assertEqual(parts, row["rss_bytes"])
            self.assertGreater(row["heap"]["old"], 1 << 20)

    def test_what_is_no_heap(self):
        with subprocess.Popen(["sleep", "60"]) as other:
            try:
                done = run("take", str(other.pid), "-o", self.path("none"))
            finally:
                other.kill()
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("not Node.js", done.stderr)
        self.assertFalse(os.path.exists(self.path("none")))


if __name__ == "__main__":
    sys.argv = sys.argv[:1]
    runner.run_module()
