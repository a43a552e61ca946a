#!/usr/bin/env python3
"""A process that nodescope stops goes on, whatever its threads do and whoever kills nodescope at whatever moment."""
import json
import os
import pathlib
import random
import signal
import subprocess
import time
import unittest

import attack

# Has a thread in uninterruptible sleep: between vfork and exec of a child that does not call exec.
STUCK = r"""
#define _GNU_SOURCE
#include <pthread.h>
#include <unistd.h>
static void* stuck(void* unused) {
  if (vfork() == 0) for (;;) pause();
  return unused;
}
__attribute__((constructor)) static void begin(void) {
  unsetenv("LD_PRELOAD");
  pthread_t thread;
  pthread_create(&thread, 0, stuck, 0);
}
"""
BEAT = """
const shared = require('fs').openSync(process.argv[2], 'w');
let beat = 0;
console.log('ready');
setInterval(() => { require('fs').writeSync(shared, String(++beat).padStart(12), 0); }, 2);
"""


class Stop(attack.Attack):
    def setUp(self):
        super().setUp()
        self.script = self.write("beat.js", BEAT)
        self.beat = self.folder / "beat"

    def beats(self):
        return int(self.beat.read_text() or 0)

    def start_target(self, **options):
        process = self.start(self.node(), self.script, self.beat, **options)
        self.assertEqual(process.stdout.readline(), "ready\n")
        self.assertTrue(self.goes_on())
        return process

    def goes_on(self, seconds=attack.PATIENCE):
        before = self.beats()
        return attack.wait_until(lambda: self.beats() > before + 1, seconds)

    def is_free(self, pid):
        status = pathlib.Path(f"/proc/{pid}/status").read_text()
        return "TracerPid:\t0\n" in status and "State:\tT" not in status and "State:\tt" not in status

    def start_stuck(self):
        source = self.write("stuck.c", "#include <stdlib.h>\n" + STUCK)
        library = self.folder / "stuck.so"
        subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source, "-lpthread"], check=True)
        process = self.start_target(env=os.environ | {"LD_PRELOAD": str(library)})
        child = lambda: subprocess.run(["pgrep", "-P", str(process.pid)], capture_output=True, text=True).stdout.split()
        self.assertTrue(attack.wait_until(child))
        self.addCleanup(os.kill, int(child()[0]), signal.SIGKILL)
        return process

    def test_a_thread_in_uninterruptible_sleep(self):
        process = self.start_stuck()
        for _ in range(max(attack.REPEAT // 5, 2)):
            done = attack.run("dump", process.pid, "--json", "--stop-timeout", "20")
            self.assertEqual(done.returncode, 0, done.stderr)
            dump = json.loads(done.stdout)
            self.assertEqual([t["stopped"] for t in dump["threads"]].count(False), 1)
            self.assertTrue(any(f["function"] for t in dump["threads"] for f in t["frames"]))
            self.assertTrue(self.goes_on())
        done = attack.run("doctor", process.pid)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(self.goes_on())
        self.assertTrue(attack.wait_until(lambda: self.is_free(process.pid)))

    def kill_at_any_moment(self, process, *command):
        """The number of times that it did not go on."""
        bad = 0
        signals = [signal.SIGKILL, signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGTSTP, signal.SIGSTOP]
        for i in range(attack.REPEAT):
            number = signals[i % len(signals)]
            scope = subprocess.Popen([attack.NODESCOPE, *command], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                     start_new_session=True)
            time.sleep(random.uniform(0, 0.35))
            try:
                os.kill(scope.pid, number)
            except ProcessLookupError:
                pass
            if not self.goes_on():
                bad += 1
            scope.kill()
            scope.wait()
            if not attack.wait_until(lambda: self.is_free(process.pid)):
                bad += 1
        return bad

    def test_kills_at_any_moment(self):
        process = self.start_target()
        self.assertEqual(self.kill_at_any_moment(process, "dump", str(process.pid)), 0)

    def test_kills_at_any_moment_with_a_stuck_thread(self):
        process = self.start_stuck()
        self.assertEqual(self.kill_at_any_moment(process, "dump", str(process.pid), "--stop-timeout", "200"), 0)

    def test_doctor_leaves_nobody_behind(self):
        before = set(self.own_programs())
        for _ in range(attack.REPEAT):
            scope = subprocess.Popen([attack.NODESCOPE, "doctor"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(random.uniform(0, 0.02))
            scope.send_signal(signal.SIGTERM)
            scope.wait()
        self.assertTrue(attack.wait_until(lambda: set(self.own_programs()) <= before, 10))

    @staticmethod
    def own_programs():
        """Processes that run this file of nodescope."""
        for entry in pathlib.Path("/proc").iterdir():
            try:
                if entry.name.isdigit() and os.readlink(entry / "exe") == attack.NODESCOPE:
                    yield entry.name
            except OSError:
                pass


attack.main()
