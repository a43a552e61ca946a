#!/usr/bin/env python3
"""perf.data as nodescope reads it against `perf script`: perf_data_test.py NODESCOPE MAJOR

Records a busy node with the perf of this machine and compares every sample (thread, time, period, event) and every frame
(function, file, line, kind, module).  Names may differ in two cases.  V8 moves code, perf-PID.map has several entries for an
address then, and the newest counts, which perf does not always take.  And where a call is the last instruction of a function,
perf names the function behind it.  Where the kernel took a number that is no address for a return address (one sample in many
thousand), perf prints no frame at all, and we those that are inside of it.

Copied stacks are followed further than perf follows them, and perf leaves frames out: see test_copied_stacks."""
import collections
import os
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
MAJOR = 20
BUSY = pathlib.Path(__file__).resolve().parent / "busy.js"
CPU_SECONDS = 2


def record(node, folder, *options):
    """perf.data of a busy node."""
    path = pathlib.Path(folder) / "perf.data"
    # It ends by its CPU time, so that a busy machine gives as many samples as an idle one.
    command = ["perf", "record", "-q", "-F", "499", "-o", str(path), *options, "--",
               node, "--perf-basic-prof", str(BUSY), str(CPU_SECONDS)]
    # V8 leaves its log where it was started.
    done = subprocess.run(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, timeout=300)
    if not path.exists() or path.stat().st_size == 0:
        raise unittest.SkipTest(f"perf cannot record here: {done.stderr.strip()[-300:]}")
    return path


class PerfData(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if shutil.which("perf") is None:
            raise unittest.SkipTest("there is no perf here (Debian: linux-perf)")
        try:
            cls.node = nodes.node_binary(nodes.NEWEST[MAJOR])
        except nodes.Unavailable as reason:
            raise unittest.SkipTest(str(reason))

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def compare(self, *options):
        comparison = truth.Comparison(NODESCOPE, record(self.node, self.folder, *options))
        self.maps = {}
        for pid in {comparison.ours.sample(i).pid for i in range(comparison.samples)}:
            path = pathlib.Path(f"/tmp/perf-{pid}.map")
            if path.exists():
                self.maps[pid] = truth.PerfMap(path)
                self.addCleanup(os.unlink, path)
        return comparison

    def newest_names(self, differences):
        """For each difference the frames of the map's newest entry at its address and before it, where a call is."""
        text = ""
        for number, difference in enumerate(differences):
            for address in (int(difference.address, 16), int(difference.address, 16) - 1):
                name = self.maps[difference.pid].find(address) or "[unknown]"
                text += f"x 1/1 {number}.0: 1 cycles:\n\t{address:x} {name} ({difference.theirs.module})\n\n"
        profile = truth.convert(NODESCOPE, "-", text.encode())
        frames = [profile.stack(stack)[0] for stack in profile.stacks]
        return [frames[i:i + 2] for i in range(0, len(frames), 2)]

    def check(self, comparison):
        self.assertGreater(comparison.samples, 100)
        self.assertEqual(comparison.headers[:5], [])
        self.assertLess(sum(d.count for d in comparison.depths if not d.theirs), 0.01 * comparison.samples)
        self.assertEqual([d for d in comparison.depths if d.theirs][:5], [])
        generated = [d for d in comparison.differences if d.ours.module == d.theirs.module == f"/tmp/perf-{d.pid}.map"]
        behind_call = [d for d in comparison.differences if d.at_start and d.ours.module == d.theirs.module]
        self.assertEqual([d for d in comparison.differences if d not in generated and d not in behind_call][:5], [])
        wrong = [d for d, newest in zip(generated, self.newest_names(generated)) if d.ours not in newest] if generated else []
        self.assertLess(sum(d.count for d in behind_call), comparison.frames / 50)
        self.assertEqual(wrong[:5], [])
        differing = sum(d.count for d in generated)
        print(f"{comparison.samples} samples, {comparison.frames} frames; {differing} where perf does not take the newest entry, "
              f"{sum(d.count for d in behind_call)} where it names the function behind a call")

    def test_frame_pointers(self):
        self.check(self.compare("-g"))

    def test_copied_stacks(self):
        """perf has no frame that we do not have, in the same order.  It leaves out: what is outside of JavaScript; and where it
        has no unwind rules (V8's code, and libraries whose debug file it takes, which has none) the callers up to the one that
        the frame pointer leads to, which is not the next if the function has not made a frame.  Where the copy of the stack ends
        it adds an address that is all ones."""
        comparison = self.compare("--call-graph", "dwarf,16384")
        self.assertGreater(comparison.samples, 100)
        self.assertEqual(comparison.headers[:5], [])
        kinds = collections.Counter()
        for i in range(comparison.samples):
            ours = [truth.without_unknown(frame) for frame in comparison.ours.stack(comparison.ours.stacks[i])]
            theirs = [truth.without_unknown(frame) for frame in comparison.theirs.stack(comparison.theirs.stacks[i])]
            if comparison.places[i][-1].address == "f" * 16:
                theirs.pop()
            rest = iter(ours)
            # A function that a deoptimization returns to stands on the stack by its first byte, which perf takes for what is before.
            self.assertTrue(all(frame in rest for frame in theirs if frame.function), (ours, theirs))
            kinds["the same" if ours == theirs else "less" if ours[:len(theirs)] == theirs else "with gaps"] += 1
        self.assertLess(kinds["with gaps"], comparison.samples / 4)
        print(f"{comparison.samples} samples; perf has {dict(kinds)}")

    def test_no_call_chains(self):
        self.check(self.compare())


def main():
    global NODESCOPE, MAJOR
    NODESCOPE, MAJOR = sys.argv[1], int(sys.argv[2])
    suite = unittest.defaultTestLoader.loadTestsFromTestCase(PerfData)
    runner.run(suite)


main()
