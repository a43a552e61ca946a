#!/usr/bin/env python3
"""A perf.data of a live process and our own recording of it at the same time: same_names_test.py NODESCOPE MAJOR

Both name the same native functions the same way: those of a program whose symbols are in a separate debug file, those that a
signal interrupts, those of node and of the kernel."""
import collections
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import nodes
import runner
import perf_script_truth as truth

NODESCOPE = ""
MAJOR = 22
SECONDS = "2"
# What has this share of the samples on one side is there on the other.
COMMON = 0.03

PROGRAM = r"""
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <unistd.h>

volatile long sink;

__attribute__((noinline)) static void count_down(long n) { while (n-- > 0) sink += n; }
__attribute__((noinline)) static void parse_request(void) { count_down(20000); sink++; }
__attribute__((noinline)) static void read_something(void) {
  char bytes[4096];
  FILE *file = fopen("/proc/self/stat", "r");
  if (file == NULL) return;
  sink += (long)fread(bytes, 1, sizeof bytes, file);
  fclose(file);
}
static int by_value(const void *a, const void *b) { count_down(20); return *(const int *)a - *(const int *)b; }
__attribute__((noinline)) static void sort_values(void) {
  int values[256];
  for (int i = 0; i < 256; i++) values[i] = (i * 7919) % 256;
  qsort(values, 256, sizeof *values, by_value);
}
__attribute__((noinline)) static void on_timer(int number) { count_down(1500000 + number); sink++; }
__attribute__((noinline)) static void serve(void) { parse_request(); sort_values(); read_something(); sink++; }

int main(void) {
  struct itimerval every = {{0, 5000}, {0, 5000}};
  signal(SIGPROF, on_timer);
  setitimer(ITIMER_PROF, &every, NULL);
  printf("ready\n");
  fflush(stdout);
  for (;;) serve();
}
"""


def run(*command):
    subprocess.run([str(part) for part in command], check=True, capture_output=True)


def build_program(folder):
    """Its functions are static and it is stripped: only the debug file beside it has their names."""
    source, program, debug = folder / "served.c", folder / "served", folder / ".debug" / "served.debug"
    source.write_text(PROGRAM)
    debug.parent.mkdir()
    run("cc", "-O1", "-g", "-Wl,--build-id", source, "-o", program)
    run("objcopy", "--only-keep-debug", program, debug)
    run("strip", "--strip-all", program)
    run("objcopy", f"--add-gnu-debuglink={debug}", program)
    return program


class Recordings:
    """The same two seconds, by perf and by us."""

    def __init__(self, pid, folder):
        perf_data, ours = folder / "perf.data", folder / "ours.nscope"
        perf = subprocess.Popen(["perf", "record", "-q", "-F", "499", "--call-graph", "dwarf,32768", "-p", str(pid),
                                 "-o", str(perf_data), "--", "sleep", SECONDS], stderr=subprocess.PIPE, text=True)
        done = subprocess.run([NODESCOPE, "record", str(pid), "-F", "499", "-d", SECONDS, "--no-open", "-o", str(ours)],
                              capture_output=True, text=True, timeout=120)
        message = perf.communicate(timeout=120)[1]
        if done.returncode != 0:
            raise AssertionError(done.stderr)
        if not perf_data.exists() or perf_data.stat().st_size == 0:
            raise unittest.SkipTest(f"perf cannot record here: {message.strip()[-300:]}")
        self.theirs = truth.convert(NODESCOPE, perf_data)
        self.ours = truth.convert(NODESCOPE, ours)


def shares(profile, kinds):
    """Function -> share of the samples whose stacks hold it."""
    counts = collections.Counter()
    for i in range(len(profile)):
        stack = profile.stack(profile.stacks[i])
        counts.update({frame.function for frame in stack if frame.kind in kinds and frame.function})
    return {name: count / max(1, len(profile)) for name, count in counts.items()}


def chains(profile, names):
    """Stacks of the user's part, only of these functions."""
    return {tuple(frame.function for frame in profile.stack(stack) if frame.function in names)
            for stack in set(profile.stacks)}


class SameNames(unittest.TestCase):
    def setUp(self):
        for tool in ("perf", "cc", "objcopy"):
            if shutil.which(tool) is None:
                self.skipTest(f"there is no {tool} here")
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def start(self, *command):
        process = subprocess.Popen([str(part) for part in command], cwd=self.folder, stdout=subprocess.PIPE, text=True)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        self.assertEqual(process.stdout.readline(), "ready\n")
        return process.pid

    def check_same(self, recordings, kinds):
        ours, theirs = shares(recordings.ours, kinds), shares(recordings.theirs, kinds)
        common = {name for names in (ours, theirs) for name, share in names.items() if share > COMMON}
        missing = {name: (ours.get(name), theirs.get(name)) for name in common if name not in ours or name not in theirs}
        self.assertEqual(missing, {})
        return common

    def test_debug_file(self):
        recordings = Recordings(self.start(build_program(self.folder)), self.folder)
        common = self.check_same(recordings, ("native", "kernel"))
        own = {"count_down", "parse_request", "sort_values", "by_value", "serve", "main", "on_timer"}
        self.assertLessEqual(own, common)
        # The signal's frame is named by its first instruction, which no call is before.
        for profile in (recordings.ours, recordings.theirs):
            self.assertIn(("count_down", "on_timer"), {chain[:2] for chain in chains(profile, own)})
            self.assertIn(("count_down", "parse_request", "serve", "main"), chains(profile, own))
            restorer = [frame.function for frame in callers_of(profile, "on_timer")]
            self.assertTrue(restorer)
        self.assertEqual({frame.function for frame in callers_of(recordings.ours, "on_timer")},
                         {frame.function for frame in callers_of(recordings.theirs, "on_timer")})

    def test_node(self):
        try:
            node = nodes.node_binary(nodes.NEWEST[MAJOR])
        except nodes.Unavailable as reason:
            self.skipTest(str(reason))
        script = self.folder / "work.js"
        script.write_text("""
            const values = Array.from({ length: 20000 }, (_, i) => ({ i, text: 'x'.repeat(i % 50) }));
            function turn() { JSON.parse(JSON.stringify(values)); values.sort((a, b) => a.i - b.i); setImmediate(turn); }
            console.log('ready');
            turn();""")
        recordings = Recordings(self.start(node, "--perf-basic-prof", script), self.folder)
        common = self.check_same(recordings, ("native", "gc", "kernel"))
        self.assertGreater(len(common), 10)
        print(f"{len(common)} functions have the same names")


def callers_of(profile, function):
    frames = []
    for stack in set(profile.stacks):
        chain = profile.stack(stack)
        frames += [chain[i + 1] for i in range(len(chain) - 1) if chain[i].function == function]
    return frames


def main():
    global NODESCOPE, MAJOR
    NODESCOPE, MAJOR = sys.argv[1], int(sys.argv[2])
    runner.run(unittest.defaultTestLoader.loadTestsFromTestCase(SameNames))


main()
