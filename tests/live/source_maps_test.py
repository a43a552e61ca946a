#!/usr/bin/env python3
"""Source maps of real compilers and bundlers: source_maps_test.py NODESCOPE MAJOR

A program is built by each of them and says at many places where V8 has each of its frames, and what --enable-source-maps makes
of that.  nodescope gets the former as a .cpuprofile and has to say the latter; the names of functions are those of the source,
which the program says itself.  Then one minified program is recorded in every way there is."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import hashlib
import nodes
import runner

NODESCOPE = ""
MAJOR = 22
HERE = pathlib.Path(__file__).resolve().parent / "source_maps"
PACKAGES = ["typescript@5.4.5", "esbuild@0.28.2", "webpack@5.112.2", "rollup@4.68.3", "terser@5.51.2", "@swc/core@1.16.22",
            "@vercel/ncc@0.45.0"]
BUILDS = ["tsc", "esbuild", "esbuild_minified", "esbuild_inline", "terser", "webpack_development", "webpack_production", "rollup",
          "swc", "ncc"]
OWN = {"serveRequests", "heavyArrow", "accumulate", "hashText", "inDependency"}


def packages():
    def fill(folder):
        (folder / "package.json").write_text('{"private": true}')
        nodes.run(["npm", "install", "--loglevel=error", "--no-audit", "--no-fund", "--ignore-scripts", *PACKAGES], folder)

    versions = hashlib.sha256(" ".join(PACKAGES).encode()).hexdigest()[:12]
    return nodes.into_cache(f"bundlers-{versions}", fill) / "node_modules"


def nodescope(*arguments, check=True):
    done = subprocess.run([NODESCOPE, *map(str, arguments)], capture_output=True, text=True, timeout=120)
    if check and done.returncode != 0:
        raise AssertionError(f"nodescope {' '.join(map(str, arguments))}: {done.stderr}")
    return done


def rows(*arguments):
    """Rows of the report, by function."""
    report = json.loads(nodescope("report", "--json", "--top", "0", *arguments).stdout)
    return {row["function"]: row for row in report["rows"]}


def place_of(line):
    """"/app/a.ts:3:9" of a line of Error().stack."""
    return re.search(r"([^\s(]*:\d+:\d+)\)?$", line).group(1)


class SourceMaps(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        try:
            cls.node = nodes.node_binary(nodes.NEWEST[MAJOR])
            tools = packages()
        except nodes.Unavailable as reason:
            raise unittest.SkipTest(str(reason))
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name).resolve() / "program"
        shutil.copytree(HERE / "src", cls.folder / "src")
        shutil.copytree(HERE / "dep", cls.folder / "node_modules" / "dep")
        done = subprocess.run([cls.node, HERE / "build.mjs", tools, cls.folder], capture_output=True, text=True, timeout=300)
        if done.returncode != 0:
            raise AssertionError(done.stderr)
        cls.profiles = {}

    def said_by_node(self, build):
        """Stacks, innermost frame first: (V8's frame, Node's line) of each, after the name of the function that asked."""
        path = self.folder / f"{build}.stacks"
        subprocess.run([self.node, "--enable-source-maps", "-r", HERE / "probe.cjs", self.folder / "out" / build / "main.js"],
                       env=dict(os.environ, PROBE_OUT=str(path)), check=True, timeout=60)
        for stop in json.loads(path.read_text()):
            # What is built in has no place, and V8's debugger leaves it out.
            lines = [line for line in stop["text"] if re.search(r":\d+:\d+\)?$", line) and not re.match(r" +at async [^(]", line)]
            yield stop["name"], list(zip(stop["frames"], lines))

    def profile_of(self, stops, path):
        """A .cpuprofile with a sample of each stack."""
        table, samples = [{"id": 1, "callFrame": {"functionName": "(root)", "scriptId": "0", "url": "", "lineNumber": -1,
                                                  "columnNumber": -1}, "children": []}], []
        for _, frames in stops:
            parent = table[0]
            for frame, _ in reversed(frames):
                node = {"id": len(table) + 1, "children": [],
                        "callFrame": {"functionName": frame["fn"] or "", "scriptId": "7", "url": frame["file"],
                                      "lineNumber": frame["eline"] - 1, "columnNumber": frame["ecol"] - 1,
                                      "nodescope": {"kind": "js", "line": frame["line"], "column": frame["col"]}}}
                parent["children"].append(node["id"])
                table.append(node)
                parent = node
            samples.append(parent["id"])
        path.write_text(json.dumps({"nodes": table, "startTime": 0, "endTime": 1000 * len(samples), "samples": samples,
                                    "timeDeltas": [1000] * len(samples)}))

    def mapped(self, path, *options):
        """The stacks of a profile, innermost frame first."""
        profile = json.loads(nodescope("convert", path, "--to", "json", *options).stdout)
        stacks = profile["stacks"]
        for stack in profile["samples"]["stack"]:
            frames = []
            while stack:
                frames.append(profile["frames"][stacks["frame"][stack]])
                stack = stacks["caller"][stack]
            yield frames

    def test_places_are_those_of_node_and_names_those_of_the_source(self):
        for build in BUILDS:
            with self.subTest(build):
                stops = list(self.said_by_node(build))
                self.profile_of(stops, self.folder / "probes.cpuprofile")
                compared = 0
                for (name, frames), found in zip(stops, self.mapped(self.folder / "probes.cpuprofile")):
                    own = [(f, line) for f, line in frames if not f["file"].startswith("node:")]
                    places = [f"{f['file']}:{f['line']}:{f['column']}" for f in found if not f["file"].startswith("node:")]
                    self.assertEqual(places, [place_of(line) for _, line in own])
                    compared += len(places)
                    if name and name != "#hidden" and found[0].get("function_line"):
                        self.assertEqual(found[0]["function"].split(".")[-1].split(" ")[-1], name.split(" ")[0])
                self.assertGreater(compared, 40)

    def test_a_file_that_ncc_has_changed_behind_its_map_is_led_to_the_same_places(self):
        places = []
        for build in ("ncc", "ncc_registered"):
            stops = list(self.said_by_node(build))
            self.profile_of(stops, self.folder / "ncc.cpuprofile")
            places.append([[(f["file"], f["line"]) for f in frames if f.get("generated") and f.get("function_line")]
                           for frames in self.mapped(self.folder / "ncc.cpuprofile")])
        self.assertTrue(any(places[0]))
        self.assertEqual([[line for _, line in stack][:1] for stack in places[0]], [[line for _, line in stack][:1] for stack in places[1]])

    def busy(self, build="esbuild_minified"):
        return self.folder / "out" / build / "busy.js"

    def cpuprofile(self, program):
        """As V8 writes it."""
        if program not in self.profiles:
            folder = self.folder / f"profile-{len(self.profiles)}"
            subprocess.run([self.node, "--cpu-prof", "--cpu-prof-dir", folder, program, "1"], check=True, stdout=subprocess.DEVNULL,
                           timeout=120)
            self.profiles[program] = next(folder.iterdir())
        return self.profiles[program]

    def check_everywhere(self, profile, *options):
        """The same names in every output; generated ones nowhere."""
        by_name = rows(profile, *options)
        self.assertTrue(OWN <= set(by_name), by_name.keys())
        for name in OWN - {"inDependency"}:
            self.assertEqual(by_name[name]["file"], str(self.folder / "src" / "busy.ts"))
        for output in ("folded", "svg", "pprof"):
            path = self.folder / f"out.{output}"
            nodescope("convert", profile, "--to", output, "-o", path, *options)
            again = set(rows(path, "--no-source-maps")) if output == "pprof" else path.read_text()
            for name in OWN:
                self.assertIn(name, again, output)
        mine = rows(profile, "--my-code", *options)
        self.assertIn("hashText", mine)
        self.assertNotIn("inDependency", mine)

    def test_a_profile_of_v8(self):
        self.check_everywhere(self.cpuprofile(self.busy()))

    def test_a_recording(self):
        recording = self.folder / "live.nscope"
        done = nodescope("record", "--no-open", "-o", recording, "--", self.node, self.busy(), "2", check=False)
        if done.returncode != 0:
            self.skipTest(done.stderr)
        self.assertRegex(done.stderr, r"hashText \S*busy.ts:15")
        self.check_everywhere(recording)
        written = self.folder / "live.folded"
        nodescope("record", "--no-open", "-o", written, "--", self.node, self.busy(), "1")
        self.assertIn("hashText", written.read_text())
        without = rows(recording, "--no-source-maps")
        self.assertFalse({"hashText", "heavyArrow", "serveRequests"} & set(without))

    def test_a_recording_that_has_its_maps_with_it(self):
        program = self.folder / "moved" / "busy.js"
        program.parent.mkdir()
        for ending in ("", ".map"):
            shutil.copy(f"{self.busy()}{ending}", f"{program}{ending}")
        recording = self.folder / "kept.nscope"
        done = nodescope("record", "--sources", "--no-open", "-o", recording, "--", self.node, program, "2", check=False)
        if done.returncode != 0:
            self.skipTest(done.stderr)
        shutil.rmtree(program.parent)
        self.assertIn("hashText", rows(recording))

    def test_perf_with_a_map_of_v8(self):
        if shutil.which("perf") is None:
            self.skipTest("there is no perf here (Debian: linux-perf)")
        data = self.folder / "perf.data"
        done = subprocess.run(["perf", "record", "-q", "-g", "-F", "199", "-o", data, "--", self.node, "--perf-basic-prof",
                               "--interpreted-frames-native-stack", self.busy(), "2"], cwd=self.folder, stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, text=True, timeout=120)
        if not data.exists() or data.stat().st_size == 0:
            self.skipTest(f"perf cannot record here: {done.stderr.strip()[-300:]}")
        by_name = rows(data)
        self.assertIn("hashText", by_name)
        self.assertEqual(by_name["hashText"]["file"], str(self.folder / "src" / "busy.ts"))
        script = self.folder / "perf.txt"
        with script.open("w") as text:
            subprocess.run(["perf", "script", "-i", data], stdout=text, stderr=subprocess.DEVNULL, check=True, timeout=120)
        self.assertIn("hashText", rows(script))

    def test_maps_in_a_folder_belong_by_debug_id_or_by_content(self):
        deployed = self.folder / "deployed"
        kept = self.folder / "kept"
        for folder in (deployed, kept):
            folder.mkdir()
        text = self.busy().read_text().replace("//# sourceMappingURL=busy.js.map", "").strip()
        (deployed / "busy.js").write_text(text + "\n")
        profile = self.cpuprofile(deployed / "busy.js")
        self.assertNotIn("hashText", rows(profile))
        shutil.copy(self.busy(), kept)
        shutil.copy(f"{self.busy()}.map", kept)
        self.assertIn("hashText", rows(profile, "--source-maps", kept))
        # One of the same name and another content.
        (kept / "busy.js").write_text("other()\n" + text)
        self.assertNotIn("hashText", rows(profile, "--source-maps", kept))
        (kept / "busy.js").unlink()
        (kept / "busy.js.map").unlink()
        build_id = "85314830-023f-4cf1-a267-535f4e37bb17"
        (deployed / "busy.js").write_text(f"{text}\n//# debugId={build_id}\n")
        self.assertNotIn("hashText", rows(profile, "--source-maps", kept))
        with_id = {**json.loads(pathlib.Path(f"{self.busy()}.map").read_text()), "debugId": build_id}
        (kept / "named-otherwise.js.map").write_text(json.dumps(with_id))
        self.assertIn("hashText", rows(profile, "--source-maps", kept))
        failed = nodescope("report", profile, "--source-maps", self.folder / "nowhere", check=False)
        self.assertNotEqual(failed.returncode, 0)
        self.assertIn("nowhere", failed.stderr)

    def test_a_map_that_does_not_fit_is_not_applied(self):
        stale = self.folder / "stale" / "busy.js"
        stale.parent.mkdir()
        shutil.copy(self.busy(), stale)
        shutil.copy(f"{self.busy('esbuild')}.map", f"{stale}.map")
        profile = self.cpuprofile(stale)
        report = nodescope("report", profile)
        self.assertIn("stale", report.stderr)
        self.assertNotIn("hashText", report.stdout)
        self.assertIn("not applied", nodescope("info", profile).stdout)
        # The file was built again after the profile was taken.
        shutil.copy(self.busy("esbuild"), stale)
        report = nodescope("report", profile)
        self.assertIn("has changed", report.stderr)
        self.assertNotIn("hashText", report.stdout)

    def test_a_function_is_the_same_in_two_builds(self):
        done = nodescope("diff", self.cpuprofile(self.busy("esbuild")), self.cpuprofile(self.busy()), "--to", "json")
        functions = {row["function"]: row for row in json.loads(done.stdout)["functions"]}
        for name in ("hashText", "accumulate"):
            self.assertGreater(functions[name]["before_self"], 0)
            self.assertGreater(functions[name]["after_self"], 0)

    def test_info_tells_what_was_mapped(self):
        info = nodescope("info", self.cpuprofile(self.busy())).stdout
        self.assertIn("1 file mapped to sources", info)
        self.assertRegex(info, r"places mapped to sources by \S*busy.js.map")


if __name__ == "__main__":
    NODESCOPE, MAJOR = sys.argv[1], int(sys.argv[2])
    runner.run_module(sys.argv[3:])
