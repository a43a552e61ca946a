#!/usr/bin/env python3
"""What each function has by itself in nanoseconds, straight from the JSON:  sums.py FILE > expected
A sample lasts until the next one, the last one as long as the others on average."""
import collections
import json
import sys

profile = json.load(open(sys.argv[1], encoding="utf-8"))
samples = sorted(profile["samples"], key=lambda sample: int(sample["elapsed_since_start_ns"]))
times = [int(sample["elapsed_since_start_ns"]) for sample in samples]
times.append(times[-1] + (times[-1] - times[0]) // (len(times) - 1))
sums = collections.Counter()
for i, sample in enumerate(samples):
    frame = profile["frames"][profile["stacks"][sample["stack_id"]][0]]
    sums[f"{frame['function']} {frame.get('abs_path', '')}:{frame.get('lineno', 0)}"] += times[i + 1] - times[i]
for name, weight in sorted(sums.items()):
    print(weight, name)
