"""What the attacks share: NAME_attack.py NODESCOPE [--node MAJOR] [--repeat N].  N is how often each trick is tried: small in the
default suite, in the hundreds before a release."""
import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "live"))
import nodes
import runner

SOMEBODY = 1234
PATIENCE = 60  # seconds, for what should take a moment


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("nodescope")
    parser.add_argument("--node", default="22")
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--only", default=None, help="the name of one attack")
    given = parser.parse_args()
    given.nodescope = str(pathlib.Path(given.nodescope).resolve())
    return given


OPTIONS = arguments()
NODESCOPE, REPEAT = OPTIONS.nodescope, OPTIONS.repeat


def run(*command, **options):
    options.setdefault("timeout", PATIENCE)
    options.setdefault("capture_output", True)
    return subprocess.run([NODESCOPE, *map(str, command)], text=True, errors="replace", **options)


def wait_until(condition, seconds=PATIENCE):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.005)
    return False


def needs_root():
    if os.geteuid() != 0:
        raise unittest.SkipTest("needs root to be somebody else")


class Attack(unittest.TestCase):
    """Has a folder of its own, where everybody may go, and ends what it starts."""

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.folder.chmod(0o755)
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    @classmethod
    def node(cls):
        """A copy of node where somebody else can run it too; the cache is below a home folder."""
        if not hasattr(Attack, "node_copy"):
            place = pathlib.Path(tempfile.mkdtemp())
            place.chmod(0o755)
            Attack.node_copy = str(shutil.copy(nodes.node_or_skip(nodes.version_of(OPTIONS.node)), place / "node"))
        return Attack.node_copy

    @classmethod
    def tearDownClass(cls):
        if hasattr(Attack, "node_copy"):
            shutil.rmtree(pathlib.Path(Attack.node_copy).parent, ignore_errors=True)
            del Attack.node_copy

    def start(self, *command, **options):
        process = subprocess.Popen([str(part) for part in command], stdout=subprocess.PIPE, text=True, **options)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def start_node(self, script, *flags, user=0, groups=(), **options):
        if user:
            options |= {"user": user, "group": user, "extra_groups": list(groups)}
        process = self.start(self.node(), *flags, script, cwd="/", **options)
        self.assertEqual(process.stdout.readline(), "ready\n")
        return process

    def write(self, name, text, mode=0o644, owner=None):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(mode)
        if owner is not None:
            os.chown(path, owner, owner)
        return path


def main():
    if OPTIONS.only:
        runner.run_module([OPTIONS.only])
    else:
        runner.run_module()
