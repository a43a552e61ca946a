#!/usr/bin/env python3
"""The packages of a release, each installed and run from the packed file: packages_test.py BUILD_FOLDER"""
import json
import os
import pathlib
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "live"))
import runner

BUILD = pathlib.Path(sys.argv[1]).resolve()


def run(*command, **options):
    return subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=300, **options)


class PackagesTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        done = run("cmake", "--build", BUILD, "--target", "package")
        if done.returncode != 0:
            raise AssertionError(done.stdout[-2000:] + done.stderr[-2000:])
        cls.version = run(BUILD / "nodescope", "--version").stdout.split()[1].split("+")[0]
        cls.expected = run(BUILD / "nodescope", "--version").stdout

    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)

    def package(self, pattern):
        [file] = (BUILD / "packages").glob(pattern)
        return file

    def check_program(self, program):
        """That it is the one that was built, runs alone, and can do something."""
        self.assertEqual(run(program, "--version").stdout, self.expected)
        done = run(program, "report", "-", input="main;parse 3\nmain;read 1\n")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("parse", done.stdout)

    def check_documents(self, folder):
        bill = json.loads((folder / "nodescope.spdx.json").read_text())
        self.assertEqual((bill["spdxVersion"], bill["dataLicense"]), ("SPDX-2.3", "CC0-1.0"))
        names = {package["name"]: package for package in bill["packages"]}
        for component in ("nodescope", "Boost", "fmt", "zlib", "preact", "GNU C Library"):
            self.assertIn(component, names)
            self.assertTrue(names[component]["versionInfo"])
        ids = {package["SPDXID"] for package in bill["packages"]} | {"SPDXRef-DOCUMENT"}
        self.assertEqual(len(ids), len(bill["packages"]) + 1)
        for relation in bill["relationships"]:
            self.assertTrue({relation["spdxElementId"], relation["relatedSpdxElement"]} <= ids)
        notices = (folder / "THIRD-PARTY-NOTICES").read_text()
        for text in ("Boost Software License", "Permission is hereby granted", "GNU"):
            self.assertIn(text, notices)

    def check_installed(self, root):
        self.check_program(root / "bin/nodescope")
        self.check_documents(root / "share/doc/nodescope")
        self.assertIn("Apache License", (root / "share/doc/nodescope/copyright").read_text())
        manual = (root / "share/man/man1/nodescope.1").read_text()
        self.assertIn("nodescope record", manual.replace("\\-", "-"))
        for file in ("bash-completion/completions/nodescope", "zsh/site-functions/_nodescope", "fish/vendor_completions.d/nodescope.fish"):
            self.assertIn("nodescope", (root / "share" / file).read_text())
        completion = root / "share/bash-completion/completions/nodescope"
        self.assertEqual(run("bash", "-n", completion).returncode, 0)

    def test_deb(self):
        if shutil.which("dpkg") is None or os.geteuid() != 0:
            self.skipTest("dpkg installs only as root")
        root = self.folder / "root"
        for folder in ("updates", "info", "triggers"):
            (root / "var/lib/dpkg" / folder).mkdir(parents=True)
        (root / "var/lib/dpkg/status").touch()
        done = run("dpkg", f"--root={root}", "--force-script-chrootless", "--install", self.package("nodescope_*_amd64.deb"))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(f"Version: {self.version}", run("dpkg", f"--root={root}", "--status", "nodescope").stdout)
        self.check_installed(root / "usr")
        self.assertEqual(run("dpkg", f"--root={root}", "--remove", "nodescope").returncode, 0)
        self.assertFalse((root / "usr/bin/nodescope").exists())

    def test_tar(self):
        done = run("tar", "xf", self.package("nodescope-*-linux-x64.tar.gz"), "-C", self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.check_installed(self.folder / f"nodescope-{self.version}-linux-x64")

    def test_npm(self):
        if shutil.which("npm") is None:
            self.skipTest("there is no npm here")
        (self.folder / "package.json").write_text('{"name": "somebody", "version": "1.0.0"}')
        done = run("npm", "install", "--offline", "--no-audit", "--no-fund", self.package("nodescope-linux-x64-*.tgz"),
                   self.package(f"nodescope-{self.version}.tgz"), cwd=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        command = self.folder / "node_modules/.bin/nodescope"
        self.check_program(command)
        self.check_documents(self.folder / "node_modules/@nodescope/linux-x64")
        self.assertTrue((self.folder / "node_modules/@nodescope/linux-x64/bin/nodescope").stat().st_mode & stat.S_IXOTH)
        self.assertEqual(run("npx", "--no", "nodescope", "--", "--version", cwd=self.folder).stdout, self.expected)
        # It ends as the program does.
        self.assertEqual(run(command, "no-such-command").returncode, run(BUILD / "nodescope", "no-such-command").returncode)
        waiting = subprocess.Popen([command, "report", "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        while not pathlib.Path(f"/proc/{waiting.pid}/task/{waiting.pid}/children").read_text().strip():
            self.assertIsNone(waiting.poll())
        waiting.send_signal(signal.SIGTERM)
        waiting.communicate(timeout=60)
        self.assertEqual(waiting.returncode, -signal.SIGTERM)
        # A platform that there is no package for.
        shutil.rmtree(self.folder / "node_modules/@nodescope")
        done = run(command, "--version")
        self.assertEqual(done.returncode, 1)
        self.assertIn("there is no @nodescope/", done.stderr)


if __name__ == "__main__":
    runner.run_module()
