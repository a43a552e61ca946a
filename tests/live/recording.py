"""Recordings as the tests look at them."""
import json
import subprocess


class Recording:
    """What `nodescope record` wrote, through its own JSON."""

    def __init__(self, nodescope, path):
        done = subprocess.run([nodescope, "convert", path, "--no-source-maps", "--to", "json", "-o", "-"], capture_output=True, timeout=120)
        if done.returncode != 0:
            raise AssertionError(done.stderr.decode())
        self.profile = json.loads(done.stdout)
        self.frames = self.profile["frames"]
        self._stacks = {}

    def stack(self, index):
        """Its frames, innermost first."""
        if index not in self._stacks:
            frames, at = [], index
            while at:
                frames.append(self.frames[self.profile["stacks"]["frame"][at]])
                at = self.profile["stacks"]["caller"][at]
            self._stacks[index] = frames
        return self._stacks[index]

    def samples(self):
        """(time_ns, pid, tid, thread name, frames) of each sample."""
        samples = self.profile["samples"]
        threads = self.profile["threads"]
        processes = self.profile["processes"]
        for time, stack, thread in zip(samples["time_ns"], samples["stack"], samples["thread"]):
            thread = threads[thread]
            yield time, processes[thread["process"]]["pid"], thread["tid"], thread["name"], self.stack(stack)

    def __len__(self):
        return len(self.profile["samples"]["stack"])


def as_dumped(frames):
    """Frames as `nodescope dump --json` writes them.  Lines are not sure where the thread stands in Maglev's code itself, with
    what is inlined there, whatever the kernel does meanwhile."""
    innermost = next((i for i, f in enumerate(frames) if f["kind"] != "kernel"), 0)
    while innermost < len(frames) and frames[innermost]["kind"] == "js" and frames[innermost].get("inlined"):
        innermost += 1
    unsure = innermost if innermost < len(frames) and frames[innermost].get("tier") == "maglev" else -1
    return [{"sure": i > unsure, "kind": f["kind"], "function": f["function"] or ("(anonymous)" if f["kind"] == "js" else ""),
             "file": f.get("file"), "line": f.get("line"), "column": f.get("column"), "tier": f.get("tier")}
            for i, f in enumerate(frames)]
