#!/usr/bin/env python3
"""`--sources` puts into a recording what the process that names a file may read, and nothing that only root should see."""
import os
import pathlib
import subprocess

import attack

SECRET = "TOP-SECRET-" + "0123456789"
# Runs code that says that it is from the files that are given, and calls it all the time.
NAMER = """
const vm = require('vm');
const names = process.argv.slice(2);
const parts = names.map((name, i) => vm.runInThisContext(
  `(function part${i}() { let x = 0; for (let j = 0; j < 3e6; ++j) x = (x * 31 + j) | 0; return x; })`, { filename: name }));
console.log('ready');
for (;;) for (const part of parts) part();
"""


class Sources(attack.Attack):
    def setUp(self):
        attack.needs_root()
        super().setUp()
        self.script = self.write("namer.js", NAMER)

    def start_namer(self, user, *names, groups=()):
        process = self.start(self.node(), self.script, *names, cwd="/", user=user, group=user, extra_groups=list(groups))
        self.assertEqual(process.stdout.readline(), "ready\n")
        return process

    def record(self, *pids, groups=None):
        out = self.folder / "out.nscope"
        options = {} if groups is None else {"extra_groups": groups}
        done = attack.run("record", *pids, "--sources", "-d", "1", "-F", "499", "-o", out, "--no-open", **options)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(out.stat().st_mode & 0o777, 0o600)
        text = attack.run("convert", out, "--to", "json", "-o", "-").stdout
        self.assertIn("part0", text)
        return text

    def check(self, wanted, *names, user=attack.SOMEBODY, with_root=False, groups=(), own_groups=None):
        process = self.start_namer(user, *names, groups=groups)
        pids = [process.pid]
        if with_root:
            pids.append(self.start_namer(0, "/nowhere/else.js").pid)
        for _ in range(max(attack.REPEAT // 5, 1)):
            for order in (pids, pids[::-1]):
                text = self.record(*order, groups=own_groups)
                self.assertEqual(SECRET in text, wanted, names)

    def secret(self, name, mode, owner=0):
        return self.write(name, f"// {SECRET}\nmodule.exports = 1;\n", mode, owner)

    def test_own_file(self):
        self.check(True, self.secret("own.js", 0o600, attack.SOMEBODY))

    def test_file_of_root(self):
        self.check(False, self.secret("root.js", 0o600))

    def test_file_of_root_beside_a_process_of_root(self):
        self.check(False, self.secret("root.js", 0o600), with_root=True)

    def test_folder_of_our_group(self):
        path = self.secret("closed/a.js", 0o644)
        path.parent.chmod(0o750)
        self.check(False, path, own_groups=[0])

    def test_group_of_the_process(self):
        path = self.secret("shared.js", 0o640)
        os.chown(path, 0, 4321)
        self.check(True, path, groups=[4321])
        self.check(False, path)

    def test_link_to_what_is_no_source(self):
        target = self.secret("passwords", 0o600)
        link = self.folder / "x.js"
        link.symlink_to(target)
        self.check(False, link, user=0)

    def test_original_that_is_a_link(self):
        target = self.secret("passwords", 0o600)
        (self.folder / "app").mkdir()
        self.write("app/a.js", "a\n//# sourceMappingURL=a.js.map")
        self.write("app/a.js.map", '{"version":3,"sources":["b.ts"],"mappings":""}')
        (self.folder / "app/b.ts").symlink_to(target)
        self.check(False, self.folder / "app/a.js", user=0)

    def test_what_is_no_file(self):
        fifo = self.folder / "fifo.js"
        os.mkfifo(fifo)
        folder = self.folder / "folder.js"
        folder.mkdir()
        device = self.folder / "device.js"
        try:
            os.mknod(device, 0o666 | 0o020000, os.makedev(1, 9))
        except PermissionError:
            pass
        self.check(False, fifo, folder, device, "/proc/self/environ", "/proc/1/mem", "/dev/zero", user=0)

    def test_ways_around(self):
        secret = self.secret("root.js", 0o600)
        relative = os.path.relpath(secret, "/")
        self.check(False, f"/proc/self/root{secret}", f"/proc/1/root{secret}", f"/{'../' * 20}{relative}", f"file://{secret}",
                   f"/proc/self/cwd/{relative}", str(secret).replace("/", "//"))


attack.main()
