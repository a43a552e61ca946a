"""Programs of others from npm for the live tests, in a cache outside of the tree, and what V8 says of their stacks."""
import contextlib
import hashlib
import json
import os
import pathlib
import signal
import subprocess
import tempfile

import nodes

FOLDER = pathlib.Path(__file__).resolve().parent
PACKAGES = ["typescript@5.4.5", "@types/node@20.12.7", "webpack@5.91.0", "rollup@3.29.4", "eslint@8.57.0", "prettier@3.2.5",
            "express@4.19.2", "fastify@4.26.2", "jest@29.7.0", "acorn@8.11.3", "sql.js@1.10.3"]


def packages():
    """The folder of the packages."""

    def fill(folder):
        (folder / "package.json").write_text('{"private": true}')
        nodes.run(["npm", "install", "--loglevel=error", "--no-audit", "--no-fund", "--ignore-scripts", *PACKAGES], folder)

    versions = hashlib.sha256(" ".join(PACKAGES).encode()).hexdigest()[:12]
    return nodes.into_cache(f"programs-{versions}", fill) / "node_modules"


def seen_by_v8(frames):
    """Places of JavaScript outside of the function that wrote them down; V8's own functions have none."""
    return [(f["file"], f["line"], f["column"]) for f in frames[1:] if not f["builtin"] and not f["async"]]


@contextlib.contextmanager
def started(command, program, first_ms, gap_ms):
    """The program, a function that gives its next stop, or nothing when it has ended, and one that ends the stop."""
    with tempfile.TemporaryDirectory() as scratch:
        stacks = pathlib.Path(scratch) / "stacks"
        stacks.touch()
        go = pathlib.Path(scratch) / "go"
        go.touch()
        (pathlib.Path(scratch) / "program").mkdir()
        environment = dict(os.environ, NODE_PATH=str(packages()), SCRATCH=str(pathlib.Path(scratch) / "program"),
                           STACKS_FILE=str(stacks), STACKS_GO=str(go), STACKS_FIRST_MS=str(first_ms), STACKS_GAP_MS=str(gap_ms))
        process = subprocess.Popen([*command, "-r", str(FOLDER / "own_stack.js"), str(FOLDER / "programs" / f"{program}.js")],
                                   env=environment, cwd=scratch, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        with stacks.open() as lines:

            def next_stop():
                _, status = os.waitpid(process.pid, os.WUNTRACED)
                if os.WIFSTOPPED(status):
                    return json.loads(lines.readline())
                process.returncode = os.waitstatus_to_exitcode(status)
                return None

            def go_on():
                with go.open("ab") as file:
                    file.write(b".")
                os.kill(process.pid, signal.SIGCONT)

            try:
                yield process, next_stop, go_on
            finally:
                if process.returncode is None:
                    process.kill()
                    process.wait()
