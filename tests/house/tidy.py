#!/usr/bin/env python3
"""clang-tidy over every source file of the product: tidy.py SOURCE_DIR BUILD_DIR [FILE…]

A file that passed is not checked again, in any clone, until it, a header of ours that it includes, the configuration or
clang-tidy changes.  What each file includes is known from the build in BUILD_DIR."""
import concurrent.futures
import hashlib
import os
import pathlib
import subprocess
import sys

ROOT, BUILD = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
TIDY = "clang-tidy-19"


def passed_folder():
    base = os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache"
    folder = pathlib.Path(base) / "nodescope" / "tidy"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def included_files():
    """Source file -> files of ours that it was compiled from."""
    listing = subprocess.run(["ninja", "-C", BUILD, "-t", "deps"], capture_output=True, text=True, check=True).stdout
    included = {}
    for entry in listing.split("\n\n"):
        paths = [(BUILD / line.strip()).resolve() for line in entry.splitlines()[1:]]
        ours = [path for path in paths if path.is_relative_to(ROOT) or path.is_relative_to(BUILD)]
        if ours:  # what is compiled comes first
            included.setdefault(ours[0], set()).update(ours)
    return included


class Checker:
    def __init__(self):
        self.folder = passed_folder()
        self.included = included_files()
        version = subprocess.run([TIDY, "--version"], capture_output=True, check=True).stdout
        self.common = hashlib.sha256(version + (ROOT / ".clang-tidy").read_bytes()).digest()
        self.contents = {}

    def content_hash(self, path):
        if path not in self.contents:
            self.contents[path] = hashlib.sha256(path.read_bytes()).digest()
        return self.contents[path]

    def stamp(self, source):
        """None where the build does not know the file, which is then checked each time."""
        if source not in self.included:
            return None
        state = hashlib.sha256(self.common)
        for path in sorted(self.included[source]):
            state.update(str(path.relative_to(ROOT)).encode() if path.is_relative_to(ROOT) else b"generated")
            state.update(self.content_hash(path) if path.exists() else b"gone")
        return self.folder / state.hexdigest()[:40]

    def check(self, source):
        stamp = self.stamp(source)
        if stamp and stamp.exists():
            return ""
        result = subprocess.run([TIDY, "--quiet", "-p", BUILD, source], capture_output=True, text=True, check=False, cwd=ROOT)
        if result.returncode == 0:
            if stamp:
                stamp.touch()
            return ""
        return result.stdout or result.stderr


def main():
    sources = [pathlib.Path(name).resolve() for name in sys.argv[3:]] or sorted((ROOT / "src").rglob("*.cpp"))
    checker = Checker()
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as workers:
        for problems in workers.map(checker.check, sources):
            if problems:
                failed += 1
                print(problems)
    print(f"{len(sources)} files, {failed} with problems")
    sys.exit(1 if failed else 0)


main()
