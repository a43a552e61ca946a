#!/usr/bin/env python3
"""`nodescope awaits` on known populations: awaits_test.py NODESCOPE MAJOR|VERSION..."""
import collections
import json
import os
import pathlib
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import nodes
import runner

NODESCOPE = ""
HERE = pathlib.Path(__file__).resolve().parent
PROGRAM = HERE / "awaits.js"


def text_of(chain):
    def name(place):
        if "combinator" not in place:
            return place["function"]
        return place["combinator"] + ("" if place["index"] is None else f" {place['index']}")

    return " < ".join(name(place) for place in chain["chain"])


class AwaitsOf:
    """The tests of one node; a class for each version is made from it."""

    version = ""

    def awaits(self, pid, *options):
        done = subprocess.run([NODESCOPE, "awaits", str(pid), *options], capture_output=True, text=True, timeout=300)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def check_population(self, count):
        command = [*nodes.command_or_skip(self.version), str(PROGRAM)]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env={**os.environ, "COUNT": str(count)})
        try:
            truth = json.loads(process.stdout.readline())
            seen = json.loads(self.awaits(process.pid, "--json"))
            text = self.awaits(process.pid)
        finally:
            process.kill()
            process.wait()
            process.stdout.close()
        chains = collections.Counter()
        circles = []
        for chain in seen["chains"]:
            if chain.get("circle"):
                circles.append(sorted(text_of(chain).split(" < ")))
            else:
                chains[text_of(chain)] += chain["count"]
        self.assertEqual(dict(chains), truth["chains"])
        self.assertEqual(circles, [sorted(truth["circle"].split(" < "))])
        self.assertEqual(seen["suspended"], truth["suspended"])
        self.assertEqual(seen["resting"], truth["resting"])
        self.assertEqual(seen["diagnostics"], [])
        source = PROGRAM.read_text().split("\n")
        for chain in seen["chains"]:
            for place in chain["chain"]:
                if "combinator" in place:
                    continue
                self.assertEqual(place["file"], str(PROGRAM))
                self.assertRegex(source[place["line"] - 1], r"\bawait\b", place)
                self.assertIn(place["function"].lstrip("#"), source[place["line"] - 1])
        self.assertIn("     750  query (awaits.js:", text.replace(str(PROGRAM.parent) + "/", ""))
        self.assertIn("they wait for each other", text)
        return seen

    def test_known_population(self):
        self.check_population(0)

    def test_hundred_thousand(self):
        seen = self.check_population(50_000)
        print(f"{self.version}: {seen['suspended']} functions, stopped for {seen['stopped_ms']} ms")

    def test_requests_of_the_chains(self):
        command = [*nodes.command_or_skip(self.version), str(HERE / "requests.js")]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        try:
            truth = json.loads(process.stdout.readline())
            seen = self.awaits(process.pid, "--json", "--request-id", "id")
            without = self.awaits(process.pid, "--json")
        finally:
            process.kill()
            process.wait()
            process.stdout.close()
        found = {chain.get("request", ""): [text_of(chain), chain["count"]] for chain in json.loads(seen)["chains"]}
        self.assertEqual(found, truth)
        self.assertNotIn("secret", seen)
        self.assertEqual([chain.get("request") for chain in json.loads(without)["chains"]], [None])


def main():
    global NODESCOPE
    NODESCOPE = sys.argv[1]
    suite = unittest.TestSuite()
    for argument in sys.argv[2:]:
        version = nodes.version_of(argument)
        tested = type(f"AwaitsOfNode_{version.replace('.', '_')}", (AwaitsOf, unittest.TestCase), {"version": version})
        suite.addTests(unittest.defaultTestLoader.loadTestsFromTestCase(tested))
    runner.run(suite)


main()
