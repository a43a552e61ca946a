#!/usr/bin/env python3
"""The first line of `heap diff` for programs that leak in known ways, and for some that do not.

  leaks_test.py PROGRAM MAJOR
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "live"))
import nodes  # noqa: E402

PROGRAM = os.path.abspath(sys.argv[1])
MAJOR = sys.argv[2]

# What leaks, and who holds it, as a regular expression.
LEAKS = {
    "map": ("Voucher", r"Ledger\.entries \(Map\)"),
    "listeners": ("closure onTick", r"EventEmitter\._events\.tick \(Array\)"),
    "closures": ("closure", r"handlers \(Array\)"),
    "global_array": ("Job", r"global\.leak \(Array\)"),
    "timers": ("Timeout", r"timerListMap.*\(TimersList\)"),
    "module_cache": ("Session", r"cache \(Object\)"),
    "promises": ("Job", r"waiting \(Array\)"),
    "promise_chain": ("Promise", r"gate \(Promise\)"),
    "async_functions": ("Job", r"gate \(Promise\)"),
    "race": ("Job", r"gate \(Promise\)"),
    "own_timers": ("Poller", r"timerListMap.*\(TimersList\)"),
    "event_target": ("Client", r"EventTarget.*kEvents.*"),
    "several_arrays": ("Job", r"tenants \(Map\)"),
    "tree": ("Branch", r"tree \(Tree\)"),
    "static_field": ("Session", r"Store\.items \(Array\)"),
    "list_front": ("Link", r"head \(Link\)"),
    "list_back": ("Link", r"first \(Link\)"),
    "set": ("Session", r"seen \(Set\)"),
    "buffers": ("Buffered", r"tasks \(Array\)"),
    "weak_values": ("(Job|Session)", r"keys \(Array\)"),
    "plain_objects": (r"\{order, customer\}", r"tasks \(Array\)"),
}
NO_LEAKS = ["limited_cache", "churn", "warm_up", "idle"]


class LeaksTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.node = nodes.node_or_skip(nodes.version_of(MAJOR))
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)

    def diff(self, scenario, *options):
        if not (self.folder / f"{scenario}-3.heapsnapshot").exists():
            subprocess.run([self.node, HERE / "leaks.cjs", scenario, self.folder], check=True, timeout=120)
        files = [self.folder / f"{scenario}-{number}.heapsnapshot" for number in (1, 2, 3)]
        done = subprocess.run([PROGRAM, "heap", "diff", *files, *options], capture_output=True, text=True, timeout=120, check=True)
        for file in files:
            if options:
                file.unlink()
        return done.stdout

    def test_each_leak_has_the_right_first_line(self):
        for scenario, (name, holder) in LEAKS.items():
            with self.subTest(scenario):
                line = self.diff(scenario).splitlines()[0]
                self.assertRegex(line, rf"^{name} \+[\d,]+ \([\d.]+ [KM]B\), held by {holder}.*; steady: \+")
                leak = json.loads(self.diff(scenario, "--json"))["leak"]
                self.assertRegex(leak["name"], f"^{name}$")
                self.assertRegex(leak["holder"], f"^{holder}$")
                self.assertGreaterEqual(leak["count_delta"], 600)
                self.assertGreater(len(leak["path"]), 2)

    def test_an_array_of_numbers_has_no_new_objects(self):
        self.assertRegex(self.diff("numbers").splitlines()[0], r"^samples \(Array\) ← leaks\.cjs grew by [\d.]+ KB$")
        leak = json.loads(self.diff("numbers", "--json"))["leak"]
        self.assertEqual((leak["name"], leak["count_delta"], leak["holder"]), ("Array", 0, "samples (Array)"))

    def test_nothing_leaks_where_nothing_does(self):
        for scenario in NO_LEAKS:
            with self.subTest(scenario):
                self.assertTrue(re.match("Nothing leaks", self.diff(scenario)), scenario)
                self.assertIsNone(json.loads(self.diff(scenario, "--json"))["leak"])

    def test_between_two_snapshots_node_only_loads_its_own_modules(self):
        self.diff("warm_up")
        files = [self.folder / f"warm_up-{number}.heapsnapshot" for number in (1, 2)]
        done = subprocess.run([PROGRAM, "heap", "diff", *files], capture_output=True, text=True, timeout=120, check=True)
        self.assertNotRegex(done.stdout.splitlines()[0], r"BuiltinModule|TokenType|process")

    def test_what_closures_capture_and_who_allocated(self):
        self.diff("closures")
        file = self.folder / "closures-3.heapsnapshot"
        scopes = json.loads(subprocess.run([PROGRAM, "heap", "closures", file, "--json"], capture_output=True, check=True).stdout)["scopes"]
        big = next(scope for scope in scopes if [variable["name"] for variable in scope["variables"]] == ["big"])
        self.assertGreaterEqual(big["count"], 3000)
        self.assertGreaterEqual(big["functions"], 3000)
        without = subprocess.run([PROGRAM, "heap", "allocations", file], capture_output=True, text=True)
        self.assertEqual(without.returncode, 1)
        self.assertIn("while allocations were tracked", without.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
