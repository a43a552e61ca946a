#!/usr/bin/env python3
"""The release is one file that runs anywhere, and installs what a user expects.

  release_test.py RELEASE_BUILD_DIR
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

BUILD = pathlib.Path(sys.argv[1]).resolve()
PROGRAM = BUILD / "nodescope"


class ReleaseTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = pathlib.Path(self.folder.name)

    def in_empty_root(self, *arguments, stdin):
        shutil.copy(PROGRAM, self.path / "nodescope")
        enter = ["chroot"] if os.geteuid() == 0 else ["unshare", "--user", "--map-root-user", "chroot"]
        return subprocess.run([*enter, self.path, "/nodescope", *arguments], input=stdin, capture_output=True, timeout=60)

    def test_runs_in_a_root_that_holds_nothing_else(self):
        done = self.in_empty_root("report", "--json", stdin=b"main;read 3\n")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(b'"name":"read"', done.stdout)
        done = self.in_empty_root("flame", "-o", "/out.svg", stdin=b"main;read 3\n")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue((self.path / "out.svg").read_text().rstrip().endswith("</svg>"))

    def test_is_small(self):
        self.assertLess(PROGRAM.stat().st_size, 25 * 1024 * 1024)

    def test_installs_program_man_page_and_completion(self):
        subprocess.run(["cmake", "--install", BUILD, "--prefix", self.path], check=True, stdout=subprocess.DEVNULL)
        installed = {str(file.relative_to(self.path)) for file in self.path.rglob("*") if file.is_file()}
        self.assertEqual(installed, {
            "bin/nodescope", "share/man/man1/nodescope.1", "share/bash-completion/completions/nodescope",
            "share/zsh/site-functions/_nodescope", "share/fish/vendor_completions.d/nodescope.fish",
            *(f"share/doc/nodescope/{name}" for name in (
                "README.md", "CHANGELOG.md", "copyright", "THIRD-PARTY-NOTICES", "nodescope.spdx.json"))})


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
