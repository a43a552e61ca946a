#!/usr/bin/env python3
"""`ps` and `dump` of a node in a real container, with another version than the host's: container_test.py NODESCOPE MAJOR

Needs runc and the right to make containers; where that is missing, every test says why it was left out."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import nodes
import recording
import runner

NODESCOPE, VERSION = pathlib.Path(sys.argv[1]).resolve(), nodes.version_of(sys.argv[2])
NAME = f"nodescope-test-{os.getpid()}"

PROGRAM = """
function spinInside(text) { for (;;) /(a+)+$/.exec(text); }
console.log('ready');
spinInside('a'.repeat(18) + 'b');
"""


def make_root(root, node):
    """A file system with one node and what it is linked to."""
    for folder in ("usr/bin", "tmp", "proc", "sys", "dev", "etc", "app"):
        (root / folder).mkdir(parents=True)
    (root / "tmp").chmod(0o1777)
    shutil.copy(node, root / "usr/bin/node")
    linked = subprocess.run(["ldd", node], capture_output=True, text=True, check=True).stdout
    for library in re.findall(r"(/\S+)", linked):
        (root / library[1:]).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(library, root / library[1:])
    (root / "app/inside.js").write_text(PROGRAM)
    shutil.copy(pathlib.Path(__file__).resolve().parent / "asm.js", root / "app/asm.js")


def write_spec(bundle, arguments):
    subprocess.run(["runc", "spec"], cwd=bundle, check=True, capture_output=True)
    path = bundle / "config.json"
    spec = json.loads(path.read_text())
    spec["process"].update(terminal=False, args=arguments, cwd="/app")
    spec["process"].pop("rlimits", None)
    spec["root"] = {"path": "rootfs", "readonly": False}
    path.write_text(json.dumps(spec))


class Container:
    """A running one; its first line of output has been seen."""

    def __init__(self, folder, name, arguments):
        self.name = name
        self.bundle = folder
        write_spec(folder, arguments)
        self.output = folder / "output"
        with open(self.output, "wb") as output:
            done = subprocess.run(["runc", "run", "--detach", "--pid-file", "pid", name], cwd=folder, stdin=subprocess.DEVNULL,
                                  stdout=output, stderr=subprocess.STDOUT, timeout=60)
        if done.returncode != 0:
            raise unittest.SkipTest(f"runc cannot run a container here: {self.output.read_text().strip()[-300:]}")
        self.pid = int((folder / "pid").read_text())
        for _ in range(200):
            if "ready" in self.output.read_text():
                return
            time.sleep(0.05)
        raise AssertionError(f"the container never was ready: {self.output.read_text()}")

    def remove(self):
        subprocess.run(["runc", "delete", "--force", self.name], capture_output=True, timeout=60)


class ContainerTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if shutil.which("runc") is None:
            raise unittest.SkipTest("there is no runc here")
        if os.geteuid() != 0:
            raise unittest.SkipTest("containers are made by root here")
        cls.node = nodes.node_or_skip(VERSION)

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.root = self.folder / "rootfs"
        make_root(self.root, self.node)

    def start(self, *options, script="/app/inside.js"):
        container = Container(self.folder, f"{NAME}-{self._testMethodName[5:15]}", ["/usr/bin/node", *options, script])
        self.addCleanup(container.remove)
        return container

    def run_json(self, *arguments):
        done = subprocess.run([NODESCOPE, *arguments, "--json"], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def frames(self, dump):
        return [frame for thread in dump["threads"] for frame in thread["frames"] if thread["name"] == "main"]

    def test_ps_and_dump(self):
        container = self.start()
        [process] = [p for p in self.run_json("ps") if p["pid"] == container.pid]
        self.assertEqual(process["nspid"], 1)
        self.assertEqual(process["node"], VERSION)
        self.assertEqual(process["container"], container.name)
        self.assertEqual(process["script"], "/app/inside.js")
        # By pid, by the container's name and by the beginning of it, by its cgroup.
        for target in (str(container.pid), container.name, container.name[:-2], f"/{container.name}", f"container:{container.name}"):
            dump = self.run_json("dump", target)
            self.assertEqual((dump["pid"], dump["node"]), (container.pid, VERSION), target)
            inside = [f for f in self.frames(dump) if f["function"] == "spinInside"]
            self.assertEqual([(f["file"], f["line"]) for f in inside], [("/app/inside.js", 2)], target)
            self.assertEqual([d for d in dump["diagnostics"] if d["what"] == "binary could not be opened"], [])

    def test_record(self):
        container = self.start()
        with tempfile.TemporaryDirectory() as folder:
            path = f"{folder}/inside.nscope"
            done = subprocess.run([NODESCOPE, "record", container.name, "-d", "2", "-F", "199", "--sources", "-o", path], capture_output=True,
                                  text=True, timeout=60)
            self.assertEqual(done.returncode, 0, done.stderr)
            seen = recording.Recording(str(NODESCOPE), path)
        stacks = [s[4] for s in seen.samples() if s[1] == container.pid]
        inside = [s for s in stacks if any((f["function"], f.get("file"), f.get("line")) == ("spinInside", "/app/inside.js", 2) for f in s)]
        self.assertGreater(len(inside), 5, done.stdout)
        self.assertGreater(len(inside), 0.9 * len(stacks))
        self.assertEqual(seen.profile["facts"]["node"], VERSION)
        self.assertEqual(seen.profile["sources"], [{"file": "/app/inside.js", "text": PROGRAM}])
        self.assertTrue(any(f["kind"] == "native" and f["function"].startswith("node::") for f in inside[0]), inside[0])

    def wasm_names(self, container):
        """What WebAssembly's functions are called, once one is on the stack."""
        for _ in range(50):
            dump = self.run_json("dump", str(container.pid))
            names = {f["function"] for f in self.frames(dump) if f["kind"] == "wasm"}
            if names:
                return names
        return set()

    def test_perf_map_inside(self):
        container = self.start("--perf-basic-prof", script="/app/asm.js")
        self.assertTrue((self.root / "tmp/perf-1.map").exists())
        self.assertIn("fib", self.wasm_names(container))

    def test_jitdump_inside(self):
        # V8 writes the file in pieces: what it compiles once more, later, may never get there.
        container = self.start("--perf-prof", "--liftoff-only", script="/app/asm.js")
        self.assertIn("fib", self.wasm_names(container))
        (self.root / "app/jit-1.dump").unlink()
        self.assertNotIn("fib", self.wasm_names(container))

    def names_with_map(self, make):
        """What WebAssembly's functions are called when make() has put something in the place of the map, with a file outside of
        the container that calls all of them "stolen"."""
        container = self.start("--perf-basic-prof", "--liftoff-only", script="/app/asm.js")
        self.wasm_names(container)
        written = self.root / "tmp/perf-1.map"
        stolen = self.folder / "stolen.map"
        stolen.write_text(written.read_text().replace("fib", "stolen"))
        written.unlink()
        make(written, stolen)
        names = self.wasm_names(container)
        self.assertTrue(names)
        return " ".join(names)

    def test_the_map_is_the_one_in_its_place(self):
        self.assertIn("stolen", self.names_with_map(lambda path, stolen: shutil.copy(stolen, path)))

    def test_a_link_out_of_the_container_is_not_followed(self):
        self.assertNotIn("stolen", self.names_with_map(lambda path, stolen: path.symlink_to(stolen)))

    def test_a_link_through_proc_is_not_followed(self):
        link = f"/proc/{os.getpid()}/root"
        self.assertNotIn("stolen", self.names_with_map(lambda path, stolen: path.symlink_to(link + str(stolen))))

    def test_a_map_of_another_user_is_not_trusted(self):
        def make(path, stolen):
            shutil.copy(stolen, path)
            os.chown(path, 65534, 65534)

        self.assertNotIn("stolen", self.names_with_map(make))

    def test_a_pipe_does_not_make_us_wait(self):
        self.assertNotIn("stolen", self.names_with_map(lambda path, stolen: os.mkfifo(path)))


runner.run_module()
