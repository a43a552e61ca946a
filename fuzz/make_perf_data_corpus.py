"""Makes the seeds of perf_data_fuzz, perf_map_fuzz and jitdump_fuzz from tests/golden/perf-data."""
import glob
import os

ROOT = os.path.dirname(os.path.abspath(__file__))
GOLDEN = os.path.join(ROOT, '../tests/golden/perf-data')
SEPARATOR = b'\nNODESCOPE-FILE\n'
CASES = ['dwarf', 'every-field', 'fp', 'group', 'javascript', 'killed', 'two-events', 'zstd-pipe']


def read(path):
    return open(path, 'rb').read()


def first(pattern):
    found = glob.glob(pattern)
    return read(found[0]) if found else b''


def write(corpus, name, content):
    folder = os.path.join(ROOT, 'corpus', corpus)
    os.makedirs(folder, exist_ok=True)
    open(os.path.join(folder, name), 'wb').write(content)


for case in CASES:
    folder = os.path.join(GOLDEN, case)
    program = 'spin-nofp' if case == 'dwarf' else 'spin'
    files = [first(folder + '/*.map'), first(folder + '/*.dump'), read(GOLDEN + '/files/proc/kallsyms'),
             read(GOLDEN + '/files/sys/kernel/notes'),
             read(GOLDEN + '/files/srv/app/' + program)]
    write('perf_data', case, read(folder + '/input') + b''.join(SEPARATOR + file for file in files))
write('perf_map', 'javascript', first(GOLDEN + '/javascript/*.map'))
write('perf_map', 'overlapping', b'1000 100 old\n1080 100 newer\n0x10c0 0x10 newest\n0 3 zero\n1000 10 re used\n')
write('jitdump', 'javascript', first(GOLDEN + '/jitdump/*.dump'))
