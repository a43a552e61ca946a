"""Runs stacks.js and compares what a reader sees from outside with what V8 said from inside."""
import json
import pathlib
import subprocess

PROGRAM = pathlib.Path(__file__).resolve().parent / "stacks.js"


def stops(command):
    """Every stop of the program: (process, what V8 said about its stack).  The program goes on when the caller does."""
    process = subprocess.Popen([*command, str(PROGRAM)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        for line in process.stdout:
            truth = json.loads(line)
            if "end" in truth:
                return
            yield process, truth
            process.stdin.write("\n")
            process.stdin.flush()
        raise AssertionError(f"stacks.js ended early with {process.wait()}")
    finally:
        process.kill()
        process.wait()
        process.stdin.close()
        process.stdout.close()


def expected_frames(truth):
    """Frames of JavaScript: V8's own functions (Array.map) have no place that could be compared."""
    return [(f["name"] or "(anonymous)", f["file"], f["line"], f["column"]) for f in truth["frames"] if not f["builtin"]]


def seen_frames(frames):
    """From stay() outwards: the program may still be about to write down its own stack."""
    names = [f["function"] for f in frames]
    frames = frames[names.index("stay"):] if "stay" in names else frames
    return [(f["function"], f["file"] or "", f["line"], f["column"]) for f in frames if f["kind"] == "js"]


def difference(truth, frames):
    """None when name, file and line of all frames are the same and, except for the innermost, which moves on, the column;
    else what is not."""
    expected = expected_frames(truth)
    seen = seen_frames(frames)
    for depth, (want, have) in enumerate(zip(expected, seen)):
        if want[:3] != have[:3] or (depth > 0 and want[3] != have[3]):
            return f"frame {depth}: {have} instead of {want}"
    if len(expected) != len(seen):
        return f"{len(seen)} frames instead of {len(expected)}: {[f[0] for f in seen]}"
    return None


def thread_of(dump, truth):
    """The frames of the thread that stays: the one with the function stay()."""
    found = [t for t in dump["threads"] if any(f["function"] in ("stay", "record") for f in t["frames"])]
    main = truth["thread"] == 0
    found = [t for t in found if (t["tid"] == dump["pid"]) == main]
    return found[0]["frames"] if len(found) == 1 else []
