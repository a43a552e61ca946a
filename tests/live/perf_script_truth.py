"""What `perf script` says about a recording, compared with what nodescope makes of the same file: sample by sample and
frame by frame.  perf's text is read by nodescope too, so that both sides name functions, files and lines the same way."""
import bisect
import collections
import json
import re
import subprocess

FIELDS = "comm,pid,tid,time,period,event,ip,sym,symoff,dso"
ADDRESS = re.compile(r"^\s+([0-9a-f]+) ")
# Without call chains the only frame is on the line of the sample: "node 1/1 2.5:  10 cpu-clock:  7f3b main (/bin/x)"
ADDRESS_BEHIND_EVENT = re.compile(r":\s+\d+ \S+:\s+([0-9a-f]+) ")

Frame = collections.namedtuple("Frame", "function file line column kind module")
Sample = collections.namedtuple("Sample", "comm pid tid time_ns weight event")
# `at_start`: the address is the first of the function that perf names.  If it is a return address, the call was before it.
Difference = collections.namedtuple("Difference", "pid address at_start ours theirs count")
Depths = collections.namedtuple("Depths", "sample ours theirs count")
Place = collections.namedtuple("Place", "address at_start")


class Profile:
    """A profile in nodescope's JSON."""

    def __init__(self, text):
        self.data = json.loads(text)
        self.frames = [Frame(f["function"], f.get("file", ""), f.get("line", 0), f.get("column", 0), f["kind"], f.get("module", ""))
                       for f in self.data["frames"]]
        self.stacks = self.data["samples"]["stack"]

    def __len__(self):
        return len(self.stacks)

    def sample(self, i):
        samples = self.data["samples"]
        thread = self.data["threads"][samples["thread"][i]]
        return Sample(thread["name"], self.data["processes"][thread["process"]]["pid"], thread["tid"], samples["time_ns"][i],
                      samples["weight"][i], self.data["events"][samples["event"][i]]["name"])

    def stack(self, i):
        """Frames of stack i, innermost first."""
        frames = []
        while i != 0:
            frames.append(self.frames[self.data["stacks"]["frame"][i]])
            i = self.data["stacks"]["caller"][i]
        return frames


def convert(nodescope, source, text=None):
    done = subprocess.run([nodescope, "convert", str(source), "--to", "json"], input=text, capture_output=True, timeout=600)
    if done.returncode != 0:
        raise AssertionError(done.stderr.decode())
    return Profile(done.stdout)


def perf_script(recording, *options):
    done = subprocess.run(["perf", "script", "-i", str(recording), "--ns", "--no-inline", "-F", FIELDS, *options],
                          capture_output=True, timeout=1800)
    if done.returncode != 0:
        raise AssertionError(done.stderr.decode(errors="replace"))
    return done.stdout


def place_of(match, line):
    return Place(match.group(1), "+0x0 (" in line)


def places_of(script):
    """The places of each sample's frames, innermost first."""
    samples, frames = [], None
    for line in script.decode(errors="replace").split("\n"):
        if not line.strip():
            frames = None
        elif match := ADDRESS_BEHIND_EVENT.search(line):
            samples.append([place_of(match, line)])
        elif frames is None:
            frames = []
            samples.append(frames)
        elif match := ADDRESS.match(line):
            frames.append(place_of(match, line))
    return samples


class PerfMap:
    """A perf-PID.map in which the newest entry that covers an address counts."""

    def __init__(self, path):
        self.entries = []
        with open(path, encoding="utf-8", errors="replace") as lines:
            for line in lines:
                start, size, name = line.rstrip("\n").split(" ", 2)
                self.entries.append((int(start, 16), int(size, 16), name))
        self.order = sorted(range(len(self.entries)), key=lambda i: self.entries[i][0])
        self.starts = [self.entries[i][0] for i in self.order]
        self.longest = max((size for _, size, _ in self.entries), default=0)

    def find(self, address):
        newest = -1
        k = bisect.bisect_right(self.starts, address) - 1
        while k >= 0 and self.starts[k] + self.longest > address:
            start, size, _ = self.entries[self.order[k]]
            if start <= address < start + size:
                newest = max(newest, self.order[k])
            k -= 1
        return self.entries[newest][2] if newest >= 0 else None


class Comparison:
    """Counts, and every distinct difference with how often it came."""

    def __init__(self, nodescope, recording, *perf_options):
        script = perf_script(recording, *perf_options)
        self.places = places_of(script)
        self.theirs = convert(nodescope, "-", script)
        self.ours = convert(nodescope, recording)
        self.samples = min(len(self.ours), len(self.theirs))
        self.headers, self.depths, self.differences = [], [], []
        self.frames = 0
        self.compare_samples()
        self.compare_stacks()

    def compare_samples(self):
        if len(self.ours) != len(self.theirs):
            self.headers.append((len(self.ours), len(self.theirs)))
        for i in range(self.samples):
            if self.ours.sample(i) != self.theirs.sample(i):
                self.headers.append((self.ours.sample(i), self.theirs.sample(i)))

    def compare_stacks(self):
        counts, first = collections.Counter(), {}
        for i in range(self.samples):
            # The same text may stand for different addresses in different places.
            key = (self.ours.stacks[i], self.theirs.stacks[i], tuple(self.places[i]), self.theirs.sample(i).pid)
            counts[key] += 1
            first.setdefault(key, i)
        found = collections.Counter()
        for (our_stack, their_stack, places, pid), count in counts.items():
            ours, theirs = self.ours.stack(our_stack), self.theirs.stack(their_stack)
            self.frames += count * len(theirs)
            if len(ours) != len(theirs):
                self.depths.append(Depths(first[our_stack, their_stack, places, pid], ours, theirs, count))
                continue
            for place, our_frame, their_frame in zip(places, ours, theirs):
                if without_unknown(our_frame) != without_unknown(their_frame):
                    found[pid, *place, our_frame, their_frame] += count
        self.differences = [Difference(*key, count) for key, count in found.most_common()]


def without_unknown(frame):
    """perf prints "[unknown]" for a module that is not known."""
    return frame._replace(module="") if frame.module == "[unknown]" else frame
