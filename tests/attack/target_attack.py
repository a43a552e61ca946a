#!/usr/bin/env python3
"""Processes that keep whoever looks at them waiting, or make them read what they should not."""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import time

import attack

BUSY = "console.log('ready'); for (;;);"
# Opens for as long as a file is leased wait up to 45 seconds; this is far below, and far above what a busy machine needs.
SOON = 30


class Target(attack.Attack):
    def start_busy(self, node=None, *flags):
        script = self.write("busy.js", BUSY)
        process = self.start(node or self.node(), *flags, script, cwd="/")
        self.assertEqual(process.stdout.readline(), "ready\n")
        return process

    def test_a_lease_delays_nobody(self):
        with open("/proc/sys/fs/lease-break-time") as patience:
            if int(patience.read()) < 40:
                self.skipTest("leases break sooner here")
        library = self.write("leased.so", "x" * (5 << 20))
        held = self.start("python3", "-c", "import fcntl, mmap, os, signal, sys, time\n"
                          "signal.signal(signal.SIGIO, signal.SIG_IGN)\n"
                          "fd = os.open(sys.argv[1], os.O_RDWR)\n"
                          "mapped = mmap.mmap(fd, 0, flags=mmap.MAP_PRIVATE, prot=mmap.PROT_READ | mmap.PROT_EXEC)\n"
                          "fcntl.fcntl(fd, fcntl.F_SETLEASE, fcntl.F_WRLCK)\n"
                          "print('ready', flush=True)\n"
                          "time.sleep(600)\n", library, stderr=subprocess.DEVNULL)
        if held.stdout.readline() != "ready\n":
            self.skipTest("no lease can be had here on a file that is mapped")
        begin = time.monotonic()
        self.assertEqual(attack.run("ps", "--json").returncode, 0)
        self.assertLess(time.monotonic() - begin, SOON)

    def test_a_file_that_shrinks_ends_no_listing(self):
        good = self.start_busy()
        library = self.folder / "shrinks.so"
        mapper = ("import mmap, sys, time\n"
                  "f = open(sys.argv[1], 'rb')\n"
                  "m = mmap.mmap(f.fileno(), 0, prot=mmap.PROT_READ | mmap.PROT_EXEC)\n"
                  "print('ready', flush=True); time.sleep(600)\n")
        shutil.copy(self.node(), library)
        size = library.stat().st_size
        process = self.start("python3", "-c", mapper, library)
        self.assertEqual(process.stdout.readline(), "ready\n")
        shrinker = self.start("python3", "-c", "import os, sys, time\n"
                              "while True:\n"
                              "    os.truncate(sys.argv[1], 4096); time.sleep(0.002)\n"
                              "    os.truncate(sys.argv[1], int(sys.argv[2])); time.sleep(0.002)\n", library, str(size))
        for _ in range(attack.REPEAT):
            done = attack.run("ps", "--json")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn(good.pid, [p["pid"] for p in json.loads(done.stdout)])
        self.assertIsNone(shrinker.poll())

    def perf_map(self, process):
        path = pathlib.Path(f"/tmp/perf-{process.pid}.map")
        self.addCleanup(path.unlink, missing_ok=True)
        path.unlink(missing_ok=True)
        return path

    def record(self, process, *options):
        out = self.folder / "x.nscope"
        begin = time.monotonic()
        done = attack.run("record", process.pid, "-d", "1", "-F", "199", "-o", out, "--no-open", *options)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertLess(time.monotonic() - begin, SOON)
        self.assertEqual(attack.run("info", out).returncode, 0)

    def regexp(self):
        script = self.write("regexp.js", "console.log('ready'); for (;;) /(a+)+b/.test('aaaaaaaaaaaaaaaaaaaaaaaa');")
        process = self.start(self.node(), script, cwd="/")
        self.assertEqual(process.stdout.readline(), "ready\n")
        return process

    def test_perf_maps_that_are_no_files(self):
        process = self.regexp()
        path = self.perf_map(process)
        secret = self.write("secret", "1000 100000000000 SECRET\n", 0o600)

        def special(mode, device):
            try:
                os.mknod(path, mode, device)
            except PermissionError:
                path.touch()

        tricks = [lambda: os.mkfifo(path), path.mkdir, lambda: path.symlink_to(secret), lambda: path.symlink_to("/dev/zero"),
                  lambda: path.symlink_to(path), lambda: special(0o666 | 0o020000, os.makedev(1, 5)),
                  lambda: special(0o666 | 0o060000, os.makedev(7, 250))]
        for trick in tricks:
            trick()
            self.record(process)
            path.rmdir() if path.is_dir() and not path.is_symlink() else path.unlink()

    def test_perf_maps_that_are_huge(self):
        process = self.regexp()
        path = self.perf_map(process)
        size = min(300, 10 * attack.REPEAT) << 20
        line = "{:x} 10 name_{}_" + "n" * 60 + "\n"
        with path.open("w") as out:
            written = number = 0
            while written < size:
                part = "".join(line.format(i * 16, i) for i in range(number, number + 10000))
                number += 10000
                written += len(part)
                out.write(part)
        self.record(process)
        with path.open("w") as out:
            for _ in range(size >> 20):
                out.write("x" * (1 << 20))
        self.record(process)

    def test_a_map_that_always_changes(self):
        source = self.write("maps.c", r"""
#include <stdio.h>
#include <sys/mman.h>
int main(void) {
  enum { kPages = 30000 };
  char* all = mmap(0, 2L * 4096 * kPages, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  for (long i = 0; i < kPages; ++i) mprotect(all + 8192 * i, 4096, PROT_READ | PROT_EXEC);
  puts("ready");
  fflush(stdout);
  for (long i = 0;; ++i) mprotect(all + 8192 * (i % kPages), 4096, i & 1 ? PROT_READ | PROT_EXEC : PROT_READ);
}
""")
        program = self.folder / "maps"
        subprocess.run(["cc", "-O1", "-o", program, source], check=True)
        process = self.start(program)
        self.assertEqual(process.stdout.readline(), "ready\n")
        self.record(process)
        scope = subprocess.Popen([attack.NODESCOPE, "record", str(process.pid), "-d", "600", "-o", self.folder / "y.nscope", "--no-open"],
                                 stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        attack.wait_until(lambda: (self.folder / "y.nscope").exists())
        time.sleep(1)
        begin = time.monotonic()
        scope.send_signal(signal.SIGINT)
        scope.wait(timeout=attack.PATIENCE)
        self.assertLess(time.monotonic() - begin, SOON)


attack.main()
