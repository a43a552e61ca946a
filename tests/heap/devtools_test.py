#!/usr/bin/env python3
"""Every class, every object and every row of the comparison as Chrome DevTools' own engine has them, for snapshots of real processes.

  devtools_test.py PROGRAM MAJOR…      one Node.js for each MAJOR, as tests/live/nodes.py finds them
"""
import collections
import json
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "live"))
import nodes  # noqa: E402

PROGRAM = os.path.abspath(sys.argv[1])
PACKAGE = "chrome-devtools-frontend@1.0.1705227"
CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME", pathlib.Path.home() / ".cache")) / "nodescope"
SKIPPED = 77

# locales.js is made by DevTools' own build and missing in the package.
BUNDLE = """
import {build} from 'esbuild';
await build({
  entryPoints: ['node_modules/chrome-devtools-frontend/front_end/entrypoints/heap_snapshot_worker/heap_snapshot_worker.ts'],
  outfile: process.argv[2], bundle: true, format: 'esm', platform: 'node', logLevel: 'error',
  plugins: [{name: 'locales', setup(build) {
    build.onResolve({filter: /locales\\.js$/}, ({path}) => ({path, namespace: 'locales'}));
    build.onLoad({filter: /.*/, namespace: 'locales'}, () => ({contents:
      'export const LOCALES = ["en-US"], BUNDLED_LOCALES = LOCALES, DEFAULT_LOCALE = "en-US";' +
      'export const REMOTE_FETCH_PATTERN = "", LOCAL_FETCH_PATTERN = "";'}));
  }}],
});
"""


def engine():
    """DevTools' engine as one file; None where it cannot be fetched."""
    file = CACHE / (PACKAGE.replace("@", "-") + ".mjs")
    if file.exists():
        return file
    CACHE.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "package.json").write_text("{}")
        pathlib.Path(folder, "bundle.mjs").write_text(BUNDLE)
        install = ["npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", PACKAGE, "esbuild@0.25.0"]
        if subprocess.run(install, cwd=folder, capture_output=True).returncode != 0:
            return None
        made = pathlib.Path(folder, "engine.mjs")
        subprocess.run(["node", "bundle.mjs", made], cwd=folder, check=True)
        partial = file.with_suffix(f".{os.getpid()}")
        partial.write_bytes(made.read_bytes())
        partial.rename(file)
    return file


def run_json(*command):
    done = subprocess.run([str(part) for part in command], capture_output=True, timeout=600)
    if done.returncode != 0:
        raise AssertionError(f"{command} ended with {done.returncode}: {done.stderr.decode(errors='replace')}")
    return json.loads(done.stdout)


def plain(text):
    """Surrogates without a partner are no text for either side's JSON."""
    return text.encode("utf-8", "replace").decode()


def rows(table):
    return collections.Counter((plain(name), *numbers) for name, *numbers in table)


def compare_summary(oracle, file):
    truth = run_json(*oracle, file)
    ours = run_json(PROGRAM, "heap", "summary", "--json", file)
    for key in ("nodes", "edges", "total_bytes", "statistics"):
        assert ours[key] == truth[key], f"{key}: {ours[key]}, DevTools has {truth[key]}"
    columns = ("name", "count", "shallow_bytes", "retained_bytes", "distance")
    groups = rows([[group[column] for column in columns] for group in ours["groups"]])
    difference = (groups - rows(truth["groups"])) + (rows(truth["groups"]) - groups)
    assert not difference, f"classes: {list(difference)[:5]}"
    objects = run_json(PROGRAM, "heap", "objects", "--json", "*", file)["objects"]
    assert len(objects) == len(truth["objects"])
    for mine, (node, shallow, retained, dominator, distance, name) in zip(objects, truth["objects"]):
        expected = {"id": node, "shallow_bytes": shallow, "retained_bytes": retained, "dominator_id": dominator, "distance": distance}
        assert {key: mine[key] for key in expected} == expected and plain(mine["class"]) == plain(name), f"{mine}: {expected} {name}"
    return len(objects), len(ours["groups"])


def compare_diff(oracle, older, newer):
    truth = rows(run_json(*oracle, older, newer))
    ours = run_json(PROGRAM, "heap", "diff", "--json", older, newer)["groups"]
    columns = ("name", "new", "deleted", "count_delta", "alloc_bytes", "freed_bytes", "shallow_delta_bytes")
    mine = rows([[row[column] for column in columns] for row in ours])
    difference = (mine - truth) + (truth - mine)
    assert not difference, f"comparison: {list(difference)[:5]}"
    return len(ours)


def main():
    file = engine()
    if file is None:
        print(f"skipped: {PACKAGE} cannot be fetched")
        return SKIPPED
    node_of_oracle = nodes.node_binary(nodes.version_of("22"))
    for major in sys.argv[2:]:
        try:
            node = nodes.node_binary(nodes.version_of(major))
        except nodes.Unavailable as reason:
            print(f"skipped: Node.js {major}: {reason}")
            continue
        with tempfile.TemporaryDirectory() as folder:
            older, newer = (pathlib.Path(folder, name + ".heapsnapshot") for name in ("older", "newer"))
            subprocess.run([node, HERE / "awkward.cjs", folder], check=True, timeout=300)
            oracle = [node_of_oracle, HERE / "devtools.mjs", file]
            objects, classes = compare_summary(oracle, older)
            compare_summary(oracle, newer)
            changed = compare_diff(oracle, older, newer)
            print(f"Node.js {major}: {objects} objects of {classes} classes, {changed} rows of the comparison: the same")
    return 0


if __name__ == "__main__":
    sys.exit(main())
