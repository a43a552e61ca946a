#!/usr/bin/env python3
"""Standard streams that fail, are closed or are stopped; names that a terminal would act on; signals."""
import json
import os
import pathlib
import pty
import random
import re
import resource
import signal
import subprocess
import time

import attack

# Whatever a terminal acts on: C0 but tab and line end, DEL, C1, marks of direction.
ACTIVE = re.compile("[\x00-\x08\x0b-\x1f\x7f\x80-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
TRICKS = ["\x1b]0;owned\x07", "\x1b[2J", "\u009b31m", "\u009d0;x\u009c", "\u202egnp.exe", "\u2066a\u2069", "\r\rx", "\x7f", "\x90q", "\u061c\u200f"]


def through_terminal(*command):
    """What a terminal gets."""
    scope, terminal = pty.openpty()
    process = subprocess.Popen([attack.NODESCOPE, *map(str, command)], stdin=subprocess.DEVNULL, stdout=terminal,
                               stderr=subprocess.DEVNULL, close_fds=True)
    os.close(terminal)
    output = b""
    while True:
        try:
            part = os.read(scope, 65536)
        except OSError:
            break
        if not part:
            break
        output += part
    process.wait(timeout=attack.PATIENCE)
    os.close(scope)
    return output.decode("utf-8", "replace").replace("\r\n", "\n")


class Streams(attack.Attack):
    def profile(self):
        frames = [{"functionName": f"f{trick}", "scriptId": "1", "url": f"file:///x{trick}.js", "lineNumber": i, "columnNumber": 1}
                  for i, trick in enumerate(TRICKS)]
        nodes = [{"id": 1, "callFrame": {"functionName": "(root)", "scriptId": "0", "url": "", "lineNumber": -1, "columnNumber": -1},
                  "children": list(range(2, 2 + len(frames)))}]
        nodes += [{"id": i + 2, "callFrame": frame, "hitCount": 1} for i, frame in enumerate(frames)]
        samples = [i + 2 for i in range(len(frames))]
        text = json.dumps({"nodes": nodes, "startTime": 0, "endTime": 1000 * len(samples), "samples": samples,
                           "timeDeltas": [1000] * len(samples)})
        return self.write("tricks.cpuprofile", text)

    def test_names_do_nothing_to_a_terminal(self):
        profile = self.profile()
        script = self.write("perf.txt", "".join(
            f"node{trick} 1/1 1.{i:06}: 1 cpu-clock: \n\t    1234 f{trick} (/x{trick}.so)\n\n" for i, trick in enumerate(TRICKS) if "\r" not in trick))
        for command in (["report", profile], ["info", profile], ["collapse", profile], ["collapse", script], ["report", script],
                        ["convert", profile, "--to", "table", "-o", "-"], ["convert", profile, "--to", "json", "-o", "-"],
                        ["convert", profile, "--to", "folded", "-o", "-"], ["diff", profile, profile], ["report", profile, "--json"],
                        ["info", profile, "--json"], ["collapse", profile, "--all"]):
            shown = through_terminal(*command)
            self.assertGreater(len(shown), 10, command)
            self.assertIsNone(ACTIVE.search(shown), (command, ACTIVE.search(shown)))

    def test_json_has_no_active_characters(self):
        profile = self.profile()
        for command in (["report", profile, "--json"], ["info", profile, "--json"], ["convert", profile, "--to", "json", "-o", "-"],
                        ["convert", profile, "--to", "speedscope", "-o", "-"], ["convert", profile, "--to", "cpuprofile", "-o", "-"]):
            done = attack.run(*command)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIsNone(ACTIVE.search(done.stdout), command)
            json.loads(done.stdout)

    def test_standard_error_that_fails(self):
        damaged = self.write("damaged.folded", "main;b 2\n" * 200 + "nonsense\n")
        with open("/dev/full", "w") as full:
            for command in (["report", damaged], ["flame", "/no/such"], ["nonsense"], ["info", damaged]):
                done = subprocess.run([attack.NODESCOPE, *map(str, command)], stdout=subprocess.DEVNULL, stderr=full, timeout=60)
                self.assertIn(done.returncode, (0, 1, 2), command)

    def test_standard_error_that_is_a_closed_pipe(self):
        reader, writer = os.pipe()
        os.close(reader)
        done = subprocess.run([attack.NODESCOPE, "flame", "/no/such"], stderr=writer, timeout=60)
        os.close(writer)
        self.assertEqual(done.returncode, 1)

    def test_standard_error_that_is_closed(self):
        damaged = self.write("damaged.folded", "main;b 2\n" * 200 + "nonsense\n")
        out = self.folder / "out.html"
        subprocess.run(f"exec '{attack.NODESCOPE}' view '{damaged}' -o '{out}' 2>&-", shell=True, timeout=60)
        self.assertTrue(out.read_text().lower().startswith("<!doctype"))
        self.assertNotIn("nodescope: /", out.read_text())

    def test_standard_output_that_is_full(self):
        with open("/dev/full", "w") as full:
            for command in (["--version"], ["--help"], ["ps"], ["man"]):
                done = subprocess.run([attack.NODESCOPE, *command], stdout=full, stderr=subprocess.DEVNULL, timeout=60)
                self.assertEqual(done.returncode, 1, command)

    def test_a_recorder_that_cannot_say_that_the_disk_is_full(self):
        with open("/dev/full", "w") as full:
            done = subprocess.run([attack.NODESCOPE, "record", "-d", "2", "-o", "/dev/full", "-p", str(os.getpid()), "--no-open"],
                                  stdout=full, stderr=full, timeout=60)
        self.assertIn(done.returncode, (1, 2))

    def test_few_descriptors_are_no_missing_process(self):
        for limit in range(4, 13):
            few = lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))
            for command in (["dump"], ["record", "-d", "1", "--no-open", "-o", self.folder / "x.nscope"]):
                done = attack.run(*command, os.getpid(), preexec_fn=few)
                self.assertNotIn("there is no process", done.stderr, (limit, command))
                self.assertIn(done.returncode, (0, 1), (limit, command))

    def test_nohup_holds(self):
        out = self.folder / "x.nscope"
        ignore = lambda: [signal.signal(number, signal.SIG_IGN) for number in (signal.SIGHUP, signal.SIGINT)]
        scope = subprocess.Popen([attack.NODESCOPE, "record", "-d", "2", "-o", out, "-p", str(os.getpid()), "--no-open"],
                                 stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, preexec_fn=ignore)
        begin = time.monotonic()
        while scope.poll() is None:
            scope.send_signal(signal.SIGHUP)
            scope.send_signal(signal.SIGINT)
            time.sleep(0.05)
        self.assertEqual(scope.returncode, 0, scope.stderr.read())
        self.assertGreater(time.monotonic() - begin, 1.9)
        scope.stderr.close()

    def test_a_held_command_does_not_run_when_its_recorder_ends(self):
        for i in range(attack.REPEAT):
            marker = self.folder / f"ran{i}"
            scope = subprocess.Popen([attack.NODESCOPE, "record", "-o", self.folder / "x.nscope", "--no-open", "--",
                                      "sh", "-c", f"[ -e {self.folder}/late ] && touch {marker}; sleep 0"],
                                     stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
            time.sleep(random.uniform(0, 0.05))
            # Whoever begins after this was not let go by a recorder that lived.
            is_held = not self.has_begun(scope.pid)
            scope.send_signal(signal.SIGSTOP)
            is_held = is_held and not self.has_begun(scope.pid)
            children = self.children(scope.pid)
            (self.folder / "late").touch()
            scope.send_signal([signal.SIGKILL, signal.SIGTERM][i % 2])
            scope.send_signal(signal.SIGCONT)
            scope.wait()
            for child in children:
                attack.wait_until(lambda: not pathlib.Path(f"/proc/{child}").exists(), 10)
            if is_held:
                self.assertFalse(marker.exists())
            (self.folder / "late").unlink()

    @staticmethod
    def children(pid):
        try:
            return pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        except OSError:
            return []

    def has_begun(self, pid):
        """Its child runs the command already."""
        for child in self.children(pid):
            try:
                if os.readlink(f"/proc/{child}/exe") != attack.NODESCOPE:
                    return True
            except OSError:
                return True
        return False


attack.main()
