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


def core(*words):
    done = subprocess.run([NODESCOPE, "core", *map(str, words)], capture_output=True, text=True, timeout=300)
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
    """The core that the kernel writes of a program that ends itself, and what that said before."""
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
    return cores[0], json.loads(done.stdout.splitlines()[0])


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
            self.check_cut_off(path, pathlib.Path(folder))

    def check_compressed(self, path, folder):
        if shutil.which("zstd") is None:
            return
        subprocess.run(["zstd", "-q", "-1", path, "-o", folder / "small.zst"], check=True, timeout=120)
        self.assertEqual(core_json(folder / "small.zst")["signal"], "SIGABRT")

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
