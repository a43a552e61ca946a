"""Turns what `perf script` prints into what the test compares: a line per sample, and its frames without addresses.

Binaries of the machine that made the recording are not kept, so the test cannot know what perf says about them.
"""
import re
import sys

HEADER = re.compile(r'^\s*(.*?)\s+(-?\d+/-?\d+)\s+(?:(\d+\.\d+):\s+)?(\d+)\s+(\S+):(?:\s+(.*))?$')


KEPT = re.compile(r'\((/srv/app/.*|/tmp/perf-.*|\[kernel.kallsyms\]|\[unknown\])\)$')


def frame(text):
    _, _, rest = text.strip().partition(' ')
    if not KEPT.search(rest):
        rest = '[unknown] ' + rest[rest.rindex(' (') + 1:]
    return '\t' + rest


for line in sys.stdin:
    line = line.rstrip('\n')
    if line.startswith('\t'):
        print(frame(line))
    elif line.strip():
        comm, ids, time, period, event, rest = HEADER.match(line).groups()
        print(comm, ids, time or '0.000000', period, event)
        if rest:
            print(frame(rest))
