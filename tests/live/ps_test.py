#!/usr/bin/env python3
"""`nodescope ps` and the selection of targets, on real processes: ps_test.py NODESCOPE MAJOR|VERSION..."""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import nodes
import runner

NODESCOPE, VERSIONS = sys.argv[1], [nodes.version_of(argument) for argument in sys.argv[2:]]
CLUSTER = pathlib.Path(__file__).resolve().parent / "cluster.js"
STAY = "console.log('ready'); setInterval(() => {}, 1000)"


def run(*arguments):
    return subprocess.run([NODESCOPE, *arguments], capture_output=True, text=True, timeout=120)


def listed():
    done = run("ps", "--json")
    if done.returncode != 0:
        raise AssertionError(done.stderr)
    return {process["pid"]: process for process in json.loads(done.stdout)}


class PsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.node = nodes.node_or_skip(VERSIONS[0])

    def start(self, *command, **options):
        """The process, once it has written its first line."""
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, **options)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        self.first_line = process.stdout.readline()
        return process

    def start_cluster(self):
        master = self.start(self.node, "--no-warnings", str(CLUSTER))
        pids = {"master": [], "worker": [], "child": []}
        for line in [self.first_line] + [master.stdout.readline() for _ in range(3)]:
            one = json.loads(line)
            pids[one["what"]].append(one["pid"])
        self.addCleanup(lambda: [os.kill(pid, 9) for pid in pids["worker"] + pids["child"] if pathlib.Path(f"/proc/{pid}").exists()])
        return pids

    def test_versions(self):
        started = {}
        for version in VERSIONS:
            try:
                node = nodes.node_binary(version)
            except nodes.Unavailable:
                continue
            started[self.start(node, "-e", STAY).pid] = version
        seen = listed()
        self.assertEqual({pid: seen[pid]["node"] for pid in started}, started)
        for pid in started:
            self.assertEqual(seen[pid]["script"], "[eval]")
            self.assertEqual(seen[pid]["nspid"], pid)
            self.assertEqual(seen[pid]["parent"], os.getpid())
            self.assertIsNone(seen[pid]["container"])
            self.assertGreaterEqual(seen[pid]["threads"], 5)
            self.assertGreater(seen[pid]["rss_bytes"], 10_000_000)
            self.assertLess(seen[pid]["uptime_ms"], 120_000)

    def test_what_it_is_counts_and_not_its_name(self):
        with tempfile.TemporaryDirectory() as folder:
            renamed = pathlib.Path(folder) / "my-service"
            shutil.copy(self.node, renamed)
            impostor = pathlib.Path(folder) / "node"
            shutil.copy("/bin/sleep", impostor)
            service = self.start(str(renamed), "-e", STAY)
            other = subprocess.Popen([str(impostor), "60"])
            try:
                seen = listed()
            finally:
                other.kill()
                other.wait()
            self.assertEqual(seen[service.pid]["node"], VERSIONS[0])
            self.assertNotIn(other.pid, seen)

    def test_cluster(self):
        pids = self.start_cluster()
        seen = listed()
        [master] = pids["master"]
        self.assertEqual(seen[master]["role"], "cluster master")
        self.assertEqual(seen[master]["script"], str(CLUSTER))
        for pid in pids["worker"]:
            self.assertEqual((seen[pid]["role"], seen[pid]["parent"]), ("cluster worker", master))
        [child] = pids["child"]
        self.assertEqual((seen[child]["role"], seen[child]["parent"]), ("forked", master))

    def test_title_and_pm2(self):
        titled = self.start(self.node, "-e", "process.title = 'billing service';" + STAY)
        environment = {**os.environ, "pm_id": "3", "name": "shop-api", "pm_exec_path": "/srv/shop/api.js"}
        app = self.start(self.node, "-e", "process.title = 'node /srv/shop/api.js';" + STAY, env=environment)
        seen = listed()
        self.assertEqual((seen[titled.pid]["title"], seen[titled.pid]["script"]), ("billing service", None))
        self.assertEqual(seen[app.pid]["script"], "/srv/shop/api.js")
        self.assertEqual((seen[app.pid]["role"], seen[app.pid]["pm2_name"]), ("pm2 app", "shop-api"))
        text = run("ps").stdout
        self.assertRegex(text, rf"(?m)^ *{titled.pid} .* billing service$")
        self.assertRegex(text, rf"(?m)^ *{app.pid} .* pm2 app .* /srv/shop/api.js \(shop-api\)$")

    def test_dump_by_name(self):
        unique = f"unique title {os.getpid()}"
        process = self.start(self.node, "-e", f"process.title = '{unique}';" + STAY)
        done = run("dump", unique, "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(json.loads(done.stdout)["pid"], process.pid)
        done = run("dump", "-p", str(process.pid), "--json")
        self.assertEqual(json.loads(done.stdout)["pid"], process.pid)

    def test_dump_says_which_ones_match(self):
        pids = self.start_cluster()
        done = run("dump", str(CLUSTER))
        self.assertEqual(done.returncode, 2)
        self.assertRegex(done.stderr, "4 processes match")
        for pid in pids["worker"]:
            self.assertRegex(done.stderr, rf"(?m)^ +{pid}  {CLUSTER}  \(cluster worker\)$")

    def test_dump_of_nothing(self):
        done = run("dump", "no such service anywhere")
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, 'no Node.js process matches "no such service anywhere"')
        self.assertEqual(run("dump").returncode, 2)

    def test_many_processes_of_one_binary(self):
        count = 25
        processes = [subprocess.Popen([self.node, "-e", STAY], stdout=subprocess.PIPE, text=True) for _ in range(count)]
        try:
            for process in processes:
                process.stdout.readline()
            seen = listed()
            self.assertTrue(all(seen[process.pid]["node"] == VERSIONS[0] for process in processes))
        finally:
            for process in processes:
                process.kill()
                process.wait()
                process.stdout.close()


runner.run_module()
