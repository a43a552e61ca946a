"""Cuts what belongs to a recording down to the few entries that its samples need, so that it can be kept."""
import os
import re
import struct
import subprocess
import sys


def sampled(case):
    """(pid, address) of every frame."""
    text = subprocess.run(['perf', 'script', '--no-inline', '-i', case + '/input', '-F', 'pid,ip'],
                          capture_output=True, text=True, check=True).stdout
    pid = None
    for line in text.splitlines():
        if line.startswith('\t'):
            yield pid, int(line.split()[0], 16)
        elif line.strip():
            pid = int(line.split()[0])


def covers(addresses, begin, end):
    return any(begin <= a <= end for a in addresses)


def trim_map(case):
    frames = set(sampled(case))
    for pid in {pid for pid, _ in frames}:
        path = '/tmp/perf-%d.map' % pid
        if not os.path.exists(path):
            continue
        addresses = {a for p, a in frames if p == pid}
        with open(path) as whole, open('%s/perf-%d.map' % (case, pid), 'w') as kept:
            for line in whole:
                begin, size = (int(word, 16) for word in line.split()[:2])
                if covers(addresses, begin, begin + size):
                    kept.write(line)


def trim_dump(case):
    frames = set(sampled(case))
    pid = frames.copy().pop()[0]
    addresses = {a for _, a in frames}
    name = 'jit-%d.dump' % pid
    dump = open(name, 'rb').read()
    kept, waiting = bytearray(dump[:40]), b''
    offset = 40
    while offset < len(dump):
        kind, size, _ = struct.unpack_from('<IIQ', dump, offset)
        record = dump[offset:offset + size]
        if kind == 0:
            _, _, _, begin, code_size = struct.unpack_from('<IIQQQ', record, 16)
            if covers(addresses, begin, begin + code_size):
                kept += (waiting if len(waiting) < 1000 else b'') + record
            waiting = b''
        elif kind in (2, 4):
            waiting += record
        offset += size
    for path in (name, case + '/' + name):
        open(path, 'wb').write(kept)


def trim_images(case):
    for name in set(re.findall(r'jitted-\d+-\d+\.so', open(case + '/expected').read())):
        open(case + '/' + name, 'wb').write(open(name, 'rb').read())


def complete_killed(case):
    data = bytearray(open(case + '/input', 'rb').read())
    offset, size = struct.unpack_from('<QQ', data, 40)
    assert size == 0 and offset < len(data)
    end = offset
    while end + 8 <= len(data):
        record_size = struct.unpack_from('<H', data, end + 6)[0]
        if record_size < 8 or end + record_size > len(data):
            break
        end += record_size
    struct.pack_into('<Q', data, 48, end - offset)
    struct.pack_into('<4Q', data, 72, 0, 0, 0, 0)
    open('perf.whole', 'wb').write(data[:end])


def trim_kallsyms(root):
    names = {'_text', '_stext', '_etext'}
    for case in os.listdir(root):
        path = '%s/%s/expected' % (root, case)
        if os.path.exists(path):
            names |= set(re.findall(r'^\t(\S+) \(\[kernel.kallsyms\]\)$', open(path).read(), re.M))
    with open('/proc/kallsyms') as whole, open(root + '/files/proc/kallsyms', 'w') as kept:
        follows = False
        for line in whole:
            wanted = line.split()[2] in names
            if wanted or follows:
                kept.write(line)
            follows = wanted


{'map': trim_map, 'killed': complete_killed, 'dump': trim_dump, 'images': trim_images, 'kallsyms': trim_kallsyms}[sys.argv[1]](sys.argv[2])
