#!/usr/bin/env python3
"""Output files in folders of somebody else, on full disks and beyond limits."""
import os
import pathlib
import resource
import signal
import subprocess

import attack

FOLDED = "main;parse;read 3\nmain;write 2\n"
# Exchanges a file, a link to a file of root, a link to a device and a FIFO, as fast as it can.
RACER = """
import os, sys
path, secret = sys.argv[1:]
def fresh():
    try: os.unlink(path)
    except OSError: pass
def make(what):
    fresh()
    try: what()
    except OSError: pass
print("ready", flush=True)
while True:
    make(lambda: os.symlink(secret, path))
    make(lambda: os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o666)))
    make(lambda: os.symlink("/dev/full", path))
    make(lambda: os.mkfifo(path, 0o666))
"""


class Output(attack.Attack):
    def setUp(self):
        super().setUp()
        self.folded = self.write("in.folded", FOLDED)

    def leftovers(self, *expected):
        return sorted(path.name for path in self.folder.iterdir() if path.name not in ("in.folded", *expected))

    def test_races_in_a_folder_of_somebody_else(self):
        attack.needs_root()
        theirs = self.folder / "theirs"
        theirs.mkdir()
        os.chown(theirs, attack.SOMEBODY, attack.SOMEBODY)
        secret = self.write("secret", "old", 0o600)
        racer = self.start("python3", "-c", RACER, theirs / "out.svg", secret, user=attack.SOMEBODY, group=attack.SOMEBODY)
        self.assertEqual(racer.stdout.readline(), "ready\n")
        for i in range(attack.REPEAT):
            attack.run("flame" if i % 2 else "convert", self.folded, "-o", theirs / "out.svg")
            self.assertEqual(secret.read_text(), "old")
        self.assertEqual(secret.stat().st_mode & 0o777, 0o600)

    def test_links_to_block_devices(self):
        attack.needs_root()
        device = self.folder / "disk"
        try:
            os.mknod(device, 0o600 | 0o060000, os.makedev(7, 250))
        except PermissionError:
            self.skipTest("no devices can be made here")
        link = self.folder / "link.svg"
        link.symlink_to(device)
        for path in (device, link):
            done = attack.run("flame", self.folded, "-o", path)
            self.assertEqual(done.returncode, 1)
            self.assertRegex(done.stderr, "block device")

    def test_a_replaced_file_stays_private(self):
        out = self.write("out.svg", "old", 0o600)
        self.assertEqual(attack.run("flame", self.folded, "-o", out).returncode, 0)
        self.assertEqual(out.stat().st_mode & 0o777, 0o600)

    def test_standard_output_that_is_a_file(self):
        out = self.folder / "out.svg"
        with out.open("w") as file:
            done = subprocess.run([attack.NODESCOPE, "flame", self.folded, "-o", "/dev/stdout"], stdout=file, timeout=60)
        self.assertEqual(done.returncode, 0)
        self.assertTrue(out.read_text().endswith("</svg>\n"))
        self.assertTrue(pathlib.Path("/dev/stdout").is_symlink())

    def test_files_that_may_not_grow(self):
        big = self.write("big.folded", "".join(f"main;function_{i} {i + 1}\n" for i in range(20000)))

        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))

        done = attack.run("flame", big, "--minwidth", "0", "-o", self.folder / "out.svg", preexec_fn=limit)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, "File too large")
        self.assertEqual(self.leftovers("big.folded"), [])

    def test_signals_leave_nothing(self):
        big = self.write("big.folded", "".join(f"main;function_{i} {i + 1}\n" for i in range(60000)))
        for i in range(attack.REPEAT):
            scope = subprocess.Popen([attack.NODESCOPE, "flame", big, "--minwidth", "0", "-o", self.folder / "out.svg"],
                                     stderr=subprocess.DEVNULL)
            attack.wait_until(lambda: self.leftovers("big.folded", "out.svg") or scope.poll() is not None)
            scope.send_signal([signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT][i % 4])
            scope.wait()
            self.assertEqual(self.leftovers("big.folded", "out.svg"), [])

    def test_recordings_check_their_output_first(self):
        for name in ("nodir/x.svg", "nodir/x.nscope", "x.unknown"):
            marker = self.folder / "started"
            done = attack.run("record", "-o", self.folder / name, "--no-open", "--", "touch", marker)
            self.assertNotEqual(done.returncode, 0)
            self.assertFalse(marker.exists(), name)

    def test_a_recording_that_is_removed_is_told(self):
        out = self.folder / "x.nscope"
        done = attack.run("record", "-o", out, "--no-open", "--", "sh", "-c", f"until rm {out} 2>/dev/null; do sleep 0.01; done", cwd=self.folder)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, "removed or replaced.*the recording is in")
        [kept] = self.folder.glob("nodescope-*.nscope")
        self.assertEqual(attack.run("info", kept).returncode, 0)

    def test_a_folder_that_is_removed_is_told(self):
        place = self.folder / "place"
        place.mkdir()
        done = attack.run("record", "-o", place / "x.svg", "--no-open", "--", "rmdir", place, cwd=self.folder)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, "the recording is in")
        self.assertEqual(len(list(self.folder.glob("nodescope-*.nscope"))), 1)


attack.main()
