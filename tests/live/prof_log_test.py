#!/usr/bin/env python3
"""Logs of `node --prof`, fresh ones: the ticks of each JavaScript function are those of that Node's own `--prof-process`.
    prof_log_test.py NODESCOPE VERSION…"""
import collections
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import nodes
import runner

PROGRAM = pathlib.Path(__file__).resolve().parent.parent / "golden" / "v8-log" / "program.js"
NODESCOPE = ""
VERSIONS = []


def ticks_of_node(text):
    """Ticks by function and place, in the collector and in all; tiers are added up."""
    functions = collections.Counter()
    total = int(re.search(r"\((\d+) ticks", text)[1])
    section = ""
    collector = 0
    for line in text.splitlines():
        if found := re.match(r" \[(.*)\]:", line):
            section = found[1]
        elif found := re.match(r"\s+(\d+)\s+[\d.]+%\s+(?:[\d.]+%)?\s+(.*)$", line):
            count, name = int(found[1]), found[2]
            if section == "Summary" and name == "GC":
                collector = count
            script = re.match(r"(?:JS|LazyCompile|Function|Script|Eval): [~^+*']*(.*) (\S+):(\d+):(\d+)$", name)
            if section == "JavaScript" and script:
                function = "(anonymous)" if script[1] == "<anonymous>" else script[1]
                functions[function, script[2], int(script[3])] += count
    return functions, collector, total


def ticks_of_nodescope(report):
    functions = collections.Counter()
    for row in report["rows"]:
        if row["kind"] == "js" and row["self"] and "file" in row:
            functions[row["function"], row["file"], row["line"]] += row["self"]
    return functions, report["causes"]["gc"], report["total"]


class ProfLog(unittest.TestCase):
    def test_has_the_ticks_of_nodes_own_processor(self):
        for version in VERSIONS:
            with self.subTest(node=version), tempfile.TemporaryDirectory() as folder:
                node = str(nodes.node_or_skip(version))
                subprocess.run([node, "--prof", str(PROGRAM)], cwd=folder, check=True, timeout=60)
                (log,) = pathlib.Path(folder).glob("isolate*.log")
                text = subprocess.run([node, "--prof-process", str(log)], cwd=folder, check=True, text=True, timeout=120,
                                      stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
                report = json.loads(subprocess.run([NODESCOPE, "report", str(log), "--json", "--top", "0"], check=True,
                                                   timeout=120, stdout=subprocess.PIPE).stdout)
                functions, collector, total = ticks_of_node(text)
                ours, our_collector, our_total = ticks_of_nodescope(report)
                self.assertEqual(our_total, total)
                self.assertEqual(our_collector, collector)
                self.assertGreater(sum(functions.values()), 0)
                self.assertEqual(ours, functions)


if __name__ == "__main__":
    NODESCOPE, *arguments = sys.argv[1:]
    VERSIONS = [nodes.version_of(argument) for argument in arguments]
    runner.run_module()
