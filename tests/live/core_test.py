#!/usr/bin/env python3
"""`nodescope core` on cores made here: core_test.py NODESCOPE MAJOR|VERSION...

A program with a value of every kind waits, aborts or throws; its core, by gdb and by the kernel, must show what the program
knows of itself."""
import json
import os
import pathlib
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import nodes
import runner

NODESCOPE = ""
PROGRAM = pathlib.Path(__file__).resolve().parent / "core_values.js"
LEAK = PROGRAM.with_name("core_leak.js")


def core(*words, commands=None):
    done = subprocess.run([NODESCOPE, "core", *map(str, words)], capture_output=True, text=True, timeout=300,
                          **({"input": commands} if commands else {"stdin": subprocess.DEVNULL}))
    if done.returncode != 0:
        raise AssertionError(done.stderr)
    return done.stdout


def core_json(*words):
    return json.loads(core(*words, "--json"))


def gcore(pid, folder):
    if shutil.which("gcore") is None:
        raise unittest.SkipTest("gcore (gdb) is not installed")
    done = subprocess.run(["gcore", "-o", str(folder / "core"), str(pid)], capture_output=True, text=True, timeout=300)
    path = folder / f"core.{pid}"
    if not path.exists():
        raise unittest.SkipTest(f"gcore made no core: {done.stderr.strip()[-200:]}")
    return path


def crash(command, folder):
    """The core that the kernel writes of a program that ends itself, and what its first line said before."""
    core, lines = kernel_core(command, folder)
    return core, json.loads(lines[0])


def kernel_core(command, folder):
    pattern = pathlib.Path("/proc/sys/kernel/core_pattern").read_text().strip()
    if pattern.startswith("|") or "/" in pattern:
        raise unittest.SkipTest(f"the kernel does not write cores into the folder of a process: core_pattern is {pattern}")
    unlimited = lambda: resource.setrlimit(resource.RLIMIT_CORE, (resource.RLIM_INFINITY,) * 2)
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300, preexec_fn=unlimited)
    except (ValueError, subprocess.SubprocessError) as refused:
        raise unittest.SkipTest(f"the limit of core files may not be raised: {refused}")
    cores = list(folder.glob("core*"))
    if not cores:
        raise unittest.SkipTest("the kernel wrote no core")
    return cores[0], done.stdout.splitlines()


def main_thread(dump):
    return next(thread for thread in dump["threads"] if thread["name"] == "main")


class CoreOf:
    """The tests of one node; a class for each version is made from it."""

    version = ""

    @classmethod
    def setUpClass(cls):
        cls.command = nodes.command_or_skip(cls.version)

    def check_stack(self, dump, truth):
        """Every frame that V8 told is there, in its order, with the same function and place.  The innermost has gone on
        by some lines since."""
        frames = [frame for frame in main_thread(dump)["frames"] if frame["kind"] == "js"]
        told = []
        for line in truth["stack"]:
            match = re.match(r"at (?:(.+?) \()?(.+?):(\d+):(\d+)\)?$", line)
            told.append((match[1] or "", match[2], int(match[3])))
        self.assertIn("innermost", frames[0]["function"])
        self.assertGreater(frames[0]["line"], told[0][2])
        self.assertEqual([(frame["file"], frame["line"]) for frame in frames[1:]], [place[1:] for place in told[1:]])
        for frame, (name, _, _) in zip(frames, told):
            called = name.split(" [as ")[0].split(".")[-1]
            self.assertEqual(frame["function"].split(".")[-1], called)
        return frames

    def check_values(self, where, address):
        values = core_json(*where, "print", address, "--depth", "3")
        self.assertEqual(values["type"], "object")
        seen = values["properties"]
        for name, expected in {
            "undefined": {"type": "undefined"}, "null": {"type": "null"},
            "true": {"type": "boolean", "value": True}, "false": {"type": "boolean", "value": False},
            "smi": {"type": "number", "value": -7}, "double": {"type": "number", "value": 1.5},
            "infinite": {"type": "number", "value": "-Infinity"}, "nan": {"type": "number", "value": "NaN"},
            "bigint": {"type": "bigint", "value": str(-(2 ** 100))}, "small_bigint": {"type": "bigint", "value": "12"},
            "latin1": {"type": "string", "value": "text"}, "wide": {"type": "string", "value": "žluťoučký kůň " * 2},
            "sliced": {"type": "string", "value": ("0123456789" * 10)[5:45]},
            "symbol": {"type": "symbol", "value": "a symbol"},
            "date": {"type": "date", "class": "Date", "value": "2026-11-18T21:43:52.007Z"},
            "regexp": {"type": "regexp", "class": "RegExp", "value": "/a+b/gi"},
            "buffer": {"type": "buffer", "bytes": b"hello buffer".hex(), "byte_length": 12},
            "bytes": {"type": "arraybuffer", "class": "ArrayBuffer", "bytes": "0102ff"},
            "pending": {"type": "promise", "state": "pending"},
            "accessor": {"type": "accessor"}, "7": {"type": "string", "value": "indexed"},
        }.items():
            with self.subTest(value=name):
                self.assertEqual({key: seen[name].get(key) for key in expected}, expected)
        with self.subTest(value="cons"):
            self.assertRegex(seen["cons"]["value"], r"^a long beginning of it \w+ and its end$")
        elements = lambda name: [element.get("value", element["type"]) for element in seen[name]["elements"]]
        self.assertEqual(elements("array"), [1, "two", "hole", 4.5])
        self.assertEqual(elements("doubles"), [0.5, "hole", 2.5])
        self.assertEqual(elements("floats"), [1.5, -2])
        self.assertEqual(seen["many"]["more_elements"], 400)
        self.assertEqual(elements("sparse")[:2], ["hole", "hole"])
        self.assertEqual(seen["sparse"]["more_elements"], 1000001 - 100)
        entries = [(key.get("value"), value.get("value")) for key, value in seen["map"]["entries"]]
        self.assertEqual(entries, [("one", 1), (None, "object")])
        self.assertEqual(seen["map"]["entries"][1][0]["properties"]["held"]["value"], True)
        self.assertEqual([entry["value"] for entry in seen["set"]["entries"]], [1, "two"])
        self.assertEqual([value["value"] for _, value in seen["weakmap"]["entries"]], ["kept by key"])
        self.assertEqual(len(seen["weakset"]["entries"]), 1)
        self.assertEqual(seen["weakref"]["target"]["type"], "object")
        self.assertEqual((seen["resolved"]["state"], seen["resolved"]["result"]["value"]), ("fulfilled", "done"))
        self.assertEqual((seen["rejected"]["state"], seen["rejected"]["result"]["message"]), ("rejected", "out of range"))
        self.assertEqual((seen["error"]["type"], seen["error"]["class"], seen["error"]["message"]),
                         ("error", "TypeError", "wrong type"))
        self.assertIn(f"{PROGRAM}:", seen["error"]["stack"])
        self.assertEqual(seen["proxy"]["type"], "proxy")
        self.assertEqual(seen["proxy"]["target"]["properties"]["target"]["value"], 1)
        # What V8 computes itself is no property of the program's, and keys come in the order in which they were added.
        self.assertEqual((seen["array"]["properties"], seen["closure"]["properties"]), ({}, {}))
        self.assertEqual((seen["closure"]["class"], seen["arrow"]["class"]), ("Function", "Function"))
        self.assertEqual(list(seen["large"]["properties"]), [f"key{i}" for i in range(100)])
        self.assertEqual(seen["large"]["more_properties"], 1900)
        self.assertEqual((seen["view"]["class"], seen["view"]["bytes"]), ("DataView", "02ff"))
        self.assertEqual(elements("own_bytes"), [7, 8])
        self.assertEqual((seen["long_buffer"]["byte_length"], seen["long_buffer"]["more_elements"]), (3000, 3000 - 1024))
        self.assertEqual(seen["methods"]["properties"], {})
        leaky = seen["leaky"]
        self.assertEqual(leaky["class"], "Leaky")
        self.assertEqual({name: value.get("value") for name, value in leaky["properties"].items()},
                         {"base": 1, "#secret": "hidden", "number": 42})
        captured = seen["closure"]["captured"]
        self.assertEqual((seen["closure"]["name"], captured["counter"]["value"], captured["word"]["value"]),
                         ("closure", 42, "kept"))
        self.assertEqual({name: value["value"] for name, value in seen["dictionary"]["properties"].items()},
                         {"key0": 0, "key1": 1, "key2": 2})

    def check_arguments(self, where, frames):
        frame = frames[0]
        self.assertEqual(frame["argument_count"], 3)
        self.assertEqual(frame["arguments"][1:], [f'"{self.mode}"', "3"])
        self.assertIn("Service", frames[1]["receiver"])
        self.check_values(where, frame["argument_addresses"][0])
        self.check_heap(where, frame["argument_addresses"][0])

    def check_heap(self, where, values):
        """One instance of Leaky lives, and the object that has it is on the stack."""
        [isolate] = core_json(*where, "objects", "Leaky")["isolates"]
        leaky = core_json(*where, "print", values)["properties"]["leaky"]["address"]
        self.assertIn(leaky, [instance["address"] for instance in isolate["instances"] if instance["live"]])
        [isolate] = core_json(*where, "objects")["isolates"]
        counts = {row["name"]: row["count"] for row in isolate["objects"] if row["live"]}
        self.assertEqual((counts["Service"], counts["WeakSet"] >= 1), (1, True))
        rows = [row for row in isolate["objects"] if row["name"] == "Leaky" and row["live"]]
        self.assertEqual(rows[0]["properties"], ["base", "#secret", "number"])
        references = core_json(*where, "refs", leaky)
        self.assertEqual((references["way"][0]["edge"], references["way"][0]["address"]), ("property leaky", values))
        [isolate] = core_json(*where, "strings", "^0123456789")["isolates"]
        self.assertIn("0123456789" * 10, [string["value"] for string in isolate["strings"]])
        self.assertIn("Atomics.wait(", core(*where, "source", "innermost"))
        self.assertIn("core_values.js", core(*where, "functions", "innermost"))
        self.check_snapshot(where)
        self.check_commands(where, leaky)

    def check_snapshot(self, where):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "core.heapsnapshot"
            written = core_json(*where, "snapshot", "-o", path)
            self.assertEqual(written["file"], str(path))
            self.assertEqual(path.stat().st_mode & 0o77, 0)
            text = path.read_text()
            self.assertIn('"a long beginning of it', text)
            done = subprocess.run([NODESCOPE, "heap", "objects", "Service", path, "--json"], capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stderr)
            core(*where, "snapshot", "--redact", "-o", path)
            self.assertNotIn("a long beginning of it", path.read_text())

    def check_commands(self, where, leaky):
        """One a line, through a pipe; the first screen comes first."""
        if "--pid" in where:
            return
        told = core(*where, commands=f"objects Leaky\nprint {leaky} --json\n\nquit\nnonsense\n")
        self.assertIn("of process", told.splitlines()[0])
        self.assertIn(leaky, told)
        self.assertIn('"#secret"', told)
        self.assertRaisesRegex(AssertionError, "no command of core", core, *where, commands="nonsense\n")
        handles = core_json(*where, "handles")["handles"]
        self.assertIn("timer", [handle["type"] for handle in handles])
        self.assertIn("active_requests", core_json(*where, "requests")["loops"][0])
        self.assertGreaterEqual(core_json(*where, "awaits")["suspended"], 0)

    def test_core_of_gdb(self):
        self.mode = "wait"
        with tempfile.TemporaryDirectory() as folder:
            process = subprocess.Popen([*self.command, PROGRAM, "wait"], stdout=subprocess.PIPE, text=True)
            try:
                truth = json.loads(process.stdout.readline())
                live = core_json("--pid", process.pid, "bt")
                self.check_arguments(["--pid", process.pid], self.check_stack(live, truth))
                path = gcore(process.pid, pathlib.Path(folder))
            finally:
                process.kill()
                process.wait()
                process.stdout.close()
            dump = core_json(path, "bt")
            self.assertEqual((dump["pid"], dump["node"]), (truth["pid"], truth["version"]))
            self.assertEqual([thread["tid"] for thread in live["threads"]],
                             sorted(thread["tid"] for thread in dump["threads"]))
            self.check_arguments([path], self.check_stack(dump, truth))
            info = core_json(path, "info")
            self.assertEqual((info["pid"], info["exception"]), (truth["pid"], None))
            self.assertEqual(info["command_line"][-2:], [str(PROGRAM), "wait"])
            self.assertIn("PATH=", core(path, "env"))
            self.assertNotEqual(subprocess.run([NODESCOPE, "core", str(path), "--exe", "/bin/true"],
                                               capture_output=True).returncode, 0)

    def test_core_of_our_own(self):
        self.mode = "wait"
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "taken.core"
            process = subprocess.Popen([*self.command, PROGRAM, "wait"], stdout=subprocess.PIPE, text=True)
            try:
                truth = json.loads(process.stdout.readline())
                taken = core_json("take", process.pid, "-o", path)
                status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
                self.assertRegex(status, r"State:\t[SR]")
                self.assertIn("TracerPid:\t0\n", status)
                threads = len(list(pathlib.Path(f"/proc/{process.pid}/task").iterdir()))
            finally:
                process.kill()
                process.wait()
                process.stdout.close()
            self.assertEqual((taken["file"], taken["pid"], taken["unreadable_bytes"]), (str(path), truth["pid"], 0))
            self.assertEqual((taken["threads"], taken["file_bytes"]), (threads, path.stat().st_size))
            self.assertEqual(path.stat().st_mode & 0o77, 0)
            self.assertLess(path.stat().st_blocks * 512, taken["copied_bytes"] + (1 << 20))
            self.check_arguments([path], self.check_stack(core_json(path, "bt"), truth))
            info = core_json(path, "info")
            self.assertEqual((info["signal"], info["cut_bytes"]), (None, 0))
            self.assertEqual(info["command_line"][-2:], [str(PROGRAM), "wait"])
            self.check_other_debugger(path, threads)

    def check_other_debugger(self, path, threads):
        if shutil.which("gdb") is None:
            return
        done = subprocess.run(["gdb", "-nx", "-batch", "-ex", "bt 3", self.command[-1], str(path)],
                              capture_output=True, text=True, timeout=300)
        self.assertEqual(done.stdout.count("[New LWP"), threads, done.stdout)
        self.assertRegex(done.stdout, r"(?m)^#1 .*[A-Za-z_]\w* ?\(", done.stdout)

    def test_core_of_the_kernel_after_out_of_memory(self):
        with tempfile.TemporaryDirectory() as folder:
            path, lines = kernel_core([*self.command, "--max-old-space-size=40", LEAK], pathlib.Path(folder))
            screen = core(path)
            self.assertIn("SIGABRT", screen)
            self.assertRegex(screen, "out of memory")
            self.assertRegex(screen, r"[\d,]+ Session \(.*\), held by .*sessions \(Map\)")
            self.assertRegex(screen, r"ran +\w+ (.*core_leak.js|node:\S+):\d+:\d+")
            [isolate] = core_json(path, "objects")["isolates"]
            first = isolate["objects"][0]
            self.assertEqual((first["name"], first["live"]), ("Session", True))
            self.assertEqual(first["properties"], ["id", "token", "tags"])
            [isolate] = core_json(path, "objects", "SessionStore")["isolates"]
            store = core_json(path, "print", isolate["instances"][0]["address"], "--depth", "2")
            sessions = store["properties"]["sessions"]
            size = len(sessions["entries"]) + sessions.get("more_elements", 0)
            self.assertIn(first["count"] - size, (0, 1))  # one may be on its way into the map
            self.assertGreaterEqual(first["count"], int(lines[-1]))

    def test_core_of_the_kernel_after_abort(self):
        self.mode = "abort"
        with tempfile.TemporaryDirectory() as folder:
            path, truth = crash([*self.command, PROGRAM, "abort"], pathlib.Path(folder))
            self.check_arguments([path], self.check_stack(core_json(path, "bt"), truth))
            info = core_json(path)
            self.assertEqual(info["signal"], "SIGABRT")
            self.assertRegex(info["message"], "abort")
            self.assertEqual(info["cut_bytes"], 0)
            self.assertIn("innermost", info["ran"])
            self.check_compressed(path, pathlib.Path(folder))
            if len(self.command) == 1:
                self.check_without_program(pathlib.Path(folder))
            self.check_cut_off(path, pathlib.Path(folder))

    def check_without_program(self, folder):
        """What the core itself says is there without the program, too."""
        hidden = {**os.environ, "HOME": str(folder / "nowhere")}
        own = folder / "own"
        own.mkdir()
        program = shutil.copy(self.command[-1], own / "program")
        path, _ = crash([program, PROGRAM, "abort"], own)
        os.rename(program, folder / "elsewhere")
        run = lambda *words: subprocess.run([NODESCOPE, "core", str(path), *words], capture_output=True, text=True,
                                            stdin=subprocess.DEVNULL, env=hidden, timeout=300)
        info = json.loads(run("info", "--json").stdout)
        self.assertEqual((info["signal"], info["node"], info["threads"] > 1), ("SIGABRT", None, True))
        self.assertRegex(run().stdout, "cannot be read: .*program was not found; name the program with --exe")
        self.assertIn("was not found", run("bt").stderr)
        self.assertIn("innermost", run("bt", "--exe", str(folder / "elsewhere")).stdout)

    def check_compressed(self, path, folder):
        if shutil.which("zstd") is None:
            return
        subprocess.run(["zstd", "-q", "-1", path, "-o", folder / "small.zst"], check=True, timeout=120)
        self.assertEqual(core_json(folder / "small.zst")["signal"], "SIGABRT")
        if shutil.which("lz4") is not None:
            subprocess.run(["lz4", "-q", "-1", path, folder / "small.lz4"], check=True, timeout=120)
            self.assertEqual(core_json(folder / "small.lz4")["signal"], "SIGABRT")

    def check_cut_off(self, path, folder):
        cut = folder / "cut"
        for share in (0.1, 0.5, 0.9):
            shutil.copyfile(path, cut)
            os.truncate(cut, int(path.stat().st_size * share))
            info = core_json(cut)
            self.assertGreater(info["cut_bytes"], 0)
            self.assertEqual(info["signal"], "SIGABRT")

    def test_core_of_the_kernel_after_an_uncaught_exception(self):
        with tempfile.TemporaryDirectory() as folder:
            path, truth = crash([*self.command, "--abort-on-uncaught-exception", PROGRAM, "throw"], pathlib.Path(folder))
            info = core_json(path)
            self.assertEqual((info["message"], info["exception"]["message"]), ("uncaught exception", "boom"))
            stack = info["exception"]["stack"].splitlines()
            self.assertEqual(stack[0], "Error: boom")
            place = lambda line: re.search(r"\(?([^( ]+):\d+\)?$", line)[1]
            self.assertEqual([place(line) for line in stack[2:]], [place(line) for line in truth["stack"][1:]])


def main():
    global NODESCOPE
    NODESCOPE, versions = os.path.abspath(sys.argv[1]), sys.argv[2:]
    suite = unittest.TestSuite()
    loader = unittest.defaultTestLoader
    for version in versions:
        version = nodes.version_of(version)
        name = "CoreOfNode_" + re.sub(r"\W", "_", version)
        suite.addTests(loader.loadTestsFromTestCase(type(name, (CoreOf, unittest.TestCase), {"version": version})))
    runner.run(suite)


main()
