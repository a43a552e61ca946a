#!/usr/bin/env python3
"""The page's server on real sockets: who is let in, what is refused, what slow and greedy clients can do.

  server_test.py PROGRAM SOURCE_DIR
"""
import base64
import gzip
import html
import json
import os
import pathlib
import pty
import re
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest
from urllib.parse import quote

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / "live"))
import runner

PROGRAM = os.path.abspath(sys.argv[1])
SOURCE = pathlib.Path(sys.argv[2]).resolve()
REQUEST_SECONDS = 10  # what a client has for its request


def cpuprofile(files):
    """A profile with a function in each of these files."""
    nodes = [{"id": 1, "callFrame": {"functionName": "(root)", "scriptId": "0", "url": "", "lineNumber": -1, "columnNumber": -1},
              "children": list(range(2, 2 + len(files)))}]
    for i, file in enumerate(files):
        nodes.append({"id": 2 + i, "callFrame": {"functionName": f"f{i}", "scriptId": str(i), "url": str(file), "lineNumber": 1,
                                                 "columnNumber": 2}})
    samples = list(range(2, 2 + len(files))) * 2
    return json.dumps({"nodes": nodes, "startTime": 0, "endTime": 1000 * len(samples), "samples": samples,
                       "timeDeltas": [1000] * len(samples)})


class View:
    """nodescope view, until stop()."""

    def __init__(self, *arguments, environment=None, stdin=None, program=None, user=None):
        self.process = subprocess.Popen([program or PROGRAM, "view", *map(str, arguments)], user=user, group=user, extra_groups=None if user is None else [], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                        stdin=stdin or subprocess.DEVNULL, text=True,
                                        env={**os.environ, "BROWSER": "", "DISPLAY": "", "WAYLAND_DISPLAY": "", "SUDO_UID": "", **(environment or {})})
        self.address = self.process.stdout.readline().strip()
        match = re.fullmatch(r"http://127\.0\.0\.1:(\d+)/([0-9a-f]{32})/", self.address)
        if not match:
            raise AssertionError(f"no address but {self.address!r}: {self.process.stderr.read()}")
        self.port, self.token = int(match[1]), match[2]

    def stop(self, number=signal.SIGINT):
        if self.process.poll() is None:
            self.process.send_signal(number)
        out, err = self.process.communicate(timeout=20)
        self.said = err
        return self.process.returncode

    def wait_until_said(self, words):
        """The line of its standard error with these words."""
        for line in self.process.stderr:
            if words in line:
                return line
        raise AssertionError(f"it ended without {words!r}")

    def connect(self, timeout=30):
        return socket.create_connection(("127.0.0.1", self.port), timeout=timeout)

    def raw(self, request, timeout=30):
        """Sends bytes and reads until the server closes."""
        with self.connect(timeout) as client:
            try:
                client.sendall(request)
            except (BrokenPipeError, ConnectionResetError):
                pass
            return read_all(client)

    def ask(self, target, method="GET", host=None, headers=()):
        lines = [f"{method} {target} HTTP/1.1", f"Host: {host or f'127.0.0.1:{self.port}'}", "Connection: close", *headers]
        return Reply(self.raw("\r\n".join([*lines, "", ""]).encode()))

    def get(self, rest="", **options):
        return self.ask(f"/{self.token}/{rest}", **options)


def read_all(client):
    parts = []
    try:
        while part := client.recv(1 << 16):
            parts.append(part)
    except ConnectionResetError:
        pass
    return b"".join(parts)


class Reply:
    def __init__(self, data):
        head, _, self.body = data.partition(b"\r\n\r\n")
        lines = head.decode("latin-1").split("\r\n")
        self.status = int(lines[0].split(" ")[1]) if lines[0] else 0
        self.headers = dict(line.lower().split(": ", 1) for line in lines[1:])


class ServerTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.path = pathlib.Path(cls.folder.name)
        cls.path.chmod(0o755)
        cls.source = cls.path / "app.js"
        cls.source.write_text("function f() {}\n//# sourceMappingURL=bundle.map\n")
        (cls.path / "bundle.map").write_text('{"version":3}')
        (cls.path / "secret.js").write_text("secret")
        (cls.path / "link.js").symlink_to(cls.path / "secret.js")
        os.mkfifo(cls.path / "fifo.js")
        (cls.path / "folder.js").mkdir()
        (cls.path / "large.js").write_bytes(b"x" * ((8 << 20) + 1))
        (cls.path / "private.js").write_text("only root reads this")
        (cls.path / "private.js").chmod(0o600)
        (cls.path / "src").mkdir()
        (cls.path / "src/a.ts").write_text("let a: number;")
        (cls.path / "src/link.ts").symlink_to(cls.path / "secret.js")
        (cls.path / "secret.json").write_text("{}")
        (cls.path / ".env").write_text("secret")
        cls.mapped = cls.path / "mapped.js"
        cls.mapped.write_text("function f() {}\n//# sourceMappingURL=mapped.js.map\n")
        (cls.path / "mapped.js.map").write_text(json.dumps({"version": 3, "mappings": "", "sources": [
            "src/a.ts", "src/link.ts", "../../../../../etc/passwd", ".env", "secret.json", "../other/a.ts"]}))
        cls.named = [cls.source, *(cls.path / name for name in ("link.js", "fifo.js", "folder.js", "large.js", "private.js")),
                     "/dev/zero", "/proc/self/environ", "node:fs", f"file://{cls.source}", cls.mapped]
        cls.profile = cls.path / "app.cpuprofile"
        cls.profile.write_text(cpuprofile(cls.named))
        cls.view = View(cls.profile, "--no-open")

    @classmethod
    def tearDownClass(cls):
        code = cls.view.stop()
        cls.folder.cleanup()
        assert code == 0, cls.view.said

    def source_of(self, path):
        return self.view.get(f"source?path={quote(str(path), safe='')}")


class Contract(ServerTest):
    def test_the_page(self):
        reply = self.view.get()
        self.assertEqual(reply.status, 200)
        self.assertEqual(reply.headers["content-type"], "text/html; charset=utf-8")
        self.assertIn(b"<!--nodescope-data-->", reply.body)
        zipped = self.view.get(headers=["Accept-Encoding: gzip, br"])
        self.assertEqual(zipped.headers["content-encoding"], "gzip")
        self.assertEqual(gzip.decompress(zipped.body), reply.body)

    def test_every_answer_has_the_strict_headers(self):
        for reply in (self.view.get(), self.view.get("recordings"), self.view.get("nothing"), self.view.ask("/"),
                      self.view.get(method="POST"), self.view.get(host="evil.org")):
            policy = reply.headers["content-security-policy"]
            self.assertTrue(policy.startswith("default-src 'none'; script-src 'sha256-"), policy)
            self.assertTrue(policy.endswith("; frame-ancestors 'none'"), policy)
            self.assertNotIn("unsafe-inline", policy)
            self.assertNotIn("http", policy)
            for name, value in (("x-content-type-options", "nosniff"), ("referrer-policy", "no-referrer"), ("cache-control", "no-store"),
                                ("cross-origin-opener-policy", "same-origin"), ("cross-origin-resource-policy", "same-origin")):
                self.assertEqual(reply.headers[name], value)
            self.assertNotIn("access-control-allow-origin", reply.headers)

    def test_recordings(self):
        reply = self.view.get("recordings")
        self.assertEqual(reply.headers["content-type"], "application/json")
        listed = json.loads(reply.body)
        self.assertEqual([entry["name"] for entry in listed], ["app.cpuprofile"])
        recording = self.view.get("recordings/0")
        self.assertEqual(recording.headers["content-type"], "application/octet-stream")
        self.assertEqual(len(recording.body), listed[0]["bytes"])
        report = subprocess.run([PROGRAM, "report", "--json", "-"], input=recording.body, capture_output=True, check=True).stdout
        expected = subprocess.run([PROGRAM, "report", "--json", self.profile], capture_output=True, check=True).stdout
        self.assertEqual(json.loads(report), json.loads(expected))
        self.assertEqual(self.view.get("recordings/1").status, 404)

    def test_head_has_the_length_and_no_body(self):
        reply = self.view.get("recordings/0", method="HEAD")
        self.assertEqual((reply.status, reply.body), (200, b""))
        self.assertEqual(int(reply.headers["content-length"]), len(self.view.get("recordings/0").body))

    def test_a_connection_takes_several_requests(self):
        request = f"GET /{self.view.token}/recordings HTTP/1.1\r\nHost: localhost:{self.view.port}\r\n"
        data = self.view.raw((request + "\r\n" + request + "\r\n" + request + "Connection: close\r\n\r\n").encode())
        self.assertEqual(data.count(b"HTTP/1.1 200 OK"), 3)

    def test_without_the_last_slash_it_is_a_redirect(self):
        reply = self.view.ask(f"/{self.view.token}")
        self.assertEqual((reply.status, reply.headers["location"]), (303, f"/{self.view.token}/"))


class Strangers(ServerTest):
    def test_a_wrong_token_is_forbidden(self):
        other = ("0" if self.view.token[0] != "0" else "1") + self.view.token[1:]
        for target in ("/", "/recordings", f"/{other}/", f"/{other}/recordings/0", f"/{self.view.token[:-1]}/", f"/{self.view.token.upper()}x/",
                       f"/x/../{self.view.token}/", f"//{self.view.token}/", "/favicon.ico"):
            self.assertEqual(self.view.ask(target).status, 403, target)

    def test_a_foreign_host_is_forbidden(self):
        port = self.view.port
        self.assertEqual(self.view.get(host=f"localhost:{port}").status, 200)
        for host in ("evil.org", f"evil.org:{port}", "127.0.0.1", f"127.0.0.1:{port + 1}", f"[::1]:{port}", f"127.0.0.1:{port}.evil.org"):
            self.assertEqual(self.view.get(host=host).status, 403, host)
        two = f"GET /{self.view.token}/ HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nHost: evil.org\r\nConnection: close\r\n\r\n"
        self.assertIn(Reply(self.view.raw(two.encode())).status, (400, 403))
        none = f"GET /{self.view.token}/ HTTP/1.0\r\n\r\n"
        self.assertEqual(Reply(self.view.raw(none.encode())).status, 403)

    def test_a_foreign_origin_is_forbidden(self):
        own = f"http://127.0.0.1:{self.view.port}"
        self.assertEqual(self.view.get("recordings", headers=[f"Origin: {own}"]).status, 200)
        for origins in (["http://evil.org"], ["null"], [own + ".evil.org"], [own.replace("http", "https")], [own, "http://evil.org"]):
            self.assertEqual(self.view.get("recordings", headers=[f"Origin: {o}" for o in origins]).status, 403, origins)

    def test_other_methods_are_refused(self):
        for method in ("POST", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE"):
            reply = self.view.get(method=method)
            self.assertEqual((reply.status, reply.headers["allow"]), (405, "get, head"), method)

    def test_path_escapes_lead_nowhere(self):
        for rest in ("../", "..%2f..%2fetc%2fpasswd", "%2e%2e/%2e%2e/etc/passwd", "recordings/../../etc/passwd", "/etc/passwd", "//", "recordings//0",
                     "recordings/-1", "recordings/00", "recordings/99999999999999999999", "source", "\\..\\..\\x"):
            self.assertEqual(self.view.get(rest).status, 404, rest)

    def test_an_absolute_address_is_no_path(self):
        self.assertEqual(self.view.ask(self.view.address).status, 400)
        self.assertEqual(self.view.ask("http://evil.org/").status, 400)
        self.assertEqual(self.view.ask("*", method="OPTIONS").status, 400)

    def test_nonsense_is_a_bad_request(self):
        for data in (b"\x16\x03\x01\x02\x00\x01\x00\r\n\r\n", b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"\0" * 100 + b"\r\n\r\n",
                     b"GET / HTTP/1.1\r\nHost 127.0.0.1\r\n\r\n", b"GET / HTTP/1.1\r\nContent-Length: -1\r\n\r\n"):
            self.assertEqual(Reply(self.view.raw(data)).status, 400, data)
        self.assertEqual(self.view.get().status, 200)


class Greed(ServerTest):
    def test_a_body_is_refused_without_being_read(self):
        head = f"POST /{self.view.token}/ HTTP/1.1\r\nHost: 127.0.0.1:{self.view.port}\r\n"
        for length in ("Content-Length: 5\r\n\r\nhello", "Content-Length: 99999999999\r\n\r\n" + "x" * 100_000,
                       "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"):
            self.assertEqual(Reply(self.view.raw((head + length).encode())).status, 413, length[:40])
        get = f"GET /{self.view.token}/ HTTP/1.1\r\nHost: 127.0.0.1:{self.view.port}\r\nContent-Length: 3\r\n\r\nabc"
        self.assertEqual(Reply(self.view.raw(get.encode())).status, 413)

    def test_a_large_header_is_refused(self):
        for headers in ([f"X: {'x' * 20_000}"], [f"X-{i}: {i}" for i in range(2000)]):
            self.assertEqual(self.view.get(headers=headers).status, 431)
        self.assertEqual(self.view.get("x" * 20_000).status, 431)

    def test_memory_stays_small(self):
        def resident():
            text = pathlib.Path(f"/proc/{self.view.process.pid}/status").read_text()
            return int(re.search(r"VmRSS:\s+(\d+)", text)[1])

        before = resident()
        for _ in range(300):
            self.view.get("x" * 20_000)
        self.assertLess(resident() - before, 64 << 10)

    def test_two_hundred_silent_connections_keep_nobody_out(self):
        clients = [self.view.connect() for _ in range(200)]
        try:
            begin = time.monotonic()
            self.assertEqual(self.view.get("recordings/0").status, 200)
            self.assertLess(time.monotonic() - begin, 20)
            descriptors = len(os.listdir(f"/proc/{self.view.process.pid}/fd"))
            self.assertLess(descriptors, 64 + 20)
        finally:
            for client in clients:
                client.close()

    def test_two_hundred_clients_that_were_refused_keep_nobody_out(self):
        clients = [self.view.connect() for _ in range(200)]
        try:
            for client in clients:
                try:
                    client.sendall(b"GET / HTTP/1.1\r\nHost: evil.org\r\n\r\n")
                except OSError:
                    pass
            self.assertEqual(self.view.get("recordings/0").status, 200)
        finally:
            for client in clients:
                client.close()

    def test_a_request_must_arrive_in_ten_seconds_however_it_trickles(self):
        with self.view.connect() as silent, self.view.connect() as slow:
            begin = time.monotonic()
            slow.settimeout(0.5)
            request = f"GET /{self.view.token}/ HTTP/1.1\r\nHost: 127.0.0.1:{self.view.port}\r\n".encode() + b"X: " + b"y" * 1000
            closed = None
            for i in range(60):
                try:
                    slow.sendall(request[i:i + 1])
                    if slow.recv(1) == b"":
                        closed = time.monotonic() - begin
                        break
                except TimeoutError:
                    continue
                except OSError:
                    closed = time.monotonic() - begin
                    break
                self.assertEqual(self.view.get("recordings").status, 200)
            self.assertIsNotNone(closed, "a trickling client was not cut off")
            self.assertGreater(closed, REQUEST_SECONDS - 2)
            self.assertLess(closed, REQUEST_SECONDS + 8)
            silent.settimeout(REQUEST_SECONDS)
            self.assertEqual(silent.recv(1), b"")


class Sources(ServerTest):
    def test_a_file_that_a_frame_names_is_given(self):
        for name in (self.source, f"file://{self.source}"):
            reply = self.source_of(name)
            self.assertEqual((reply.status, reply.body), (200, self.source.read_bytes()), name)
            self.assertEqual(reply.headers["content-type"], "text/plain; charset=utf-8")
        self.assertEqual(self.source_of(self.path / "bundle.map").body, b'{"version":3}')

    def original_of(self, path, generated):
        return self.view.get(f"source?path={quote(str(path), safe='')}&of={quote(str(generated), safe='')}")

    def test_what_a_source_map_leads_to_is_given(self):
        self.assertEqual(self.original_of(self.path / "src/a.ts", self.mapped).body, b"let a: number;")
        self.assertEqual(self.source_of(self.path / "src/a.ts").status, 403)
        # The map names these too.
        for path in ("/etc/passwd", self.path / ".env", self.path / "secret.json", self.path.parent / "other/a.ts"):
            self.assertEqual(self.original_of(path, self.mapped).status, 403, path)
        self.assertEqual(self.original_of(self.path / "src/link.ts", self.mapped).status, 404)
        for generated in (self.source, self.path / "secret.js", "/etc/passwd", "node:fs"):
            self.assertEqual(self.original_of(self.path / "src/a.ts", generated).status, 403, generated)
        for query in ("path=/x&of=", "path=/x&of=/y&of=/z", "of=/y&path=/x", "path=/x&to=/y", "path=/x&", "path=/x&of=%00"):
            self.assertEqual(self.view.get(f"source?{query}").status, 400, query)

    def test_a_file_that_no_frame_names_is_forbidden(self):
        for path in (self.path / "secret.js", "/etc/passwd", "/etc/hostname", f"{self.path}/./app.js", f"{self.path}//app.js",
                     f"{self.path}/folder.js/../app.js", f"{self.path}/../{self.path.name}/app.js", "app.js", "", " "):
            self.assertIn(self.source_of(path).status, (403,) if path else (400,), path)
        for query in ("path=%00", "path=%zz", "path=/x&path=/y", "Path=/x", ""):
            self.assertEqual(self.view.get(f"source?{query}").status, 400, query)

    def test_what_is_not_a_plain_small_file_is_not_at_hand(self):
        for path in self.named[1:5] + self.named[6:9]:
            self.assertEqual(self.source_of(path).status, 404, path)

    @unittest.skipUnless(os.geteuid() == 0, "only root has something to give up")
    def test_root_gives_up_its_rights(self):
        status = pathlib.Path(f"/proc/{self.view.process.pid}/status").read_text()
        self.assertRegex(status, r"Uid:\t65534\t65534\t65534\t65534\n")
        self.assertRegex(status, r"CapEff:\t0+\n")
        self.assertEqual(self.source_of(self.path / "private.js").status, 404)

    def test_a_containers_files_are_not_those_of_this_machine(self):
        recording = self.path / "container.json"
        profile = json.loads(subprocess.run([PROGRAM, "convert", self.profile, "--to", "json"], capture_output=True, check=True).stdout)
        profile["facts"]["container"] = "0123456789ab"
        recording.write_text(json.dumps(profile))
        view = View(recording, "--no-open")
        self.assertEqual(view.get(f"source?path={quote(str(self.source), safe='')}").status, 403)
        self.assertEqual(view.stop(), 0)


class Process(ServerTest):
    def test_it_listens_on_loopback_only(self):
        inodes = {os.readlink(f"/proc/{self.view.process.pid}/fd/{fd}") for fd in os.listdir(f"/proc/{self.view.process.pid}/fd")}
        listening = []
        for table in ("tcp", "tcp6", "udp", "udp6"):
            path = pathlib.Path(f"/proc/net/{table}")
            for line in path.read_text().splitlines()[1:] if path.exists() else []:
                fields = line.split()
                if f"socket:[{fields[9]}]" in inodes and fields[3] in ("0A", "07"):
                    listening.append((table, fields[1]))
        self.assertEqual(listening, [("tcp", f"0100007F:{self.view.port:04X}")])

    def test_ctrl_c_and_term_end_it_with_0(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            view = View(self.profile, "--no-open")
            with view.connect():  # one that says nothing
                self.assertEqual(view.stop(number), 0)
            self.assertIn("Ctrl-C", view.said)

    def test_each_server_has_another_token(self):
        other = View(self.profile, "--no-open")
        self.assertNotEqual(other.token, self.view.token)
        self.assertEqual(other.ask(f"/{self.view.token}/").status, 403)
        other.stop()

    def test_a_port_can_be_chosen_but_not_taken(self):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        view = View(self.profile, "--no-open", "--port", port)
        self.assertEqual(view.port, port)
        second = subprocess.run([PROGRAM, "view", self.profile, "--port", str(port)], capture_output=True, text=True, timeout=60)
        self.assertEqual(second.returncode, 1)
        self.assertIn("Address already in use", second.stderr)
        view.stop()
        for wrong in ("0", "65536", "x"):
            done = subprocess.run([PROGRAM, "view", self.profile, "--port", wrong], capture_output=True, timeout=60)
            self.assertEqual(done.returncode, 2, wrong)

    def test_on_a_remote_machine_it_tells_how_to_get_there(self):
        view = View(self.profile, environment={"SSH_CONNECTION": "10.0.0.1 1 10.0.0.2 22"})
        view.stop()
        self.assertIn(f"ssh -N -L {view.port}:127.0.0.1:{view.port} ", view.said)

    def test_a_session_by_ssh_is_known_though_sudo_removes_what_tells_it(self):
        shell = shutil.copy("/bin/sh", self.path / "sshd")
        with subprocess.Popen([shell, "-c", f"'{PROGRAM}' view '{self.profile}'; true"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              env={"PATH": os.environ["PATH"], "DISPLAY": "localhost:10.0"}, start_new_session=True) as process:
            port = re.match(r"http://127\.0\.0\.1:(\d+)/", process.stdout.readline()).group(1)
            hint = "".join(process.stderr.readline() for _ in range(3))
            os.killpg(process.pid, signal.SIGTERM)
        self.assertIn(f"ssh -N -L {port}:127.0.0.1:{port} ", hint)

    def test_a_browser_that_fails_is_told(self):
        if os.geteuid() == 0:
            self.path.chmod(0o777)
        view = View(self.profile, environment={"BROWSER": "false --window", "SUDO_UID": "12345", "SUDO_GID": "12345"})
        said = view.wait_until_said("No browser")
        self.assertEqual(view.stop(), 0)
        self.assertIn("No browser has opened: false ended with code 1. Open the address above", said)

    def browser(self, name):
        """A program that writes down its address and who it is."""
        out = self.path / f"{name}.out"
        program = self.path / name
        program.write_text(f"#!/bin/sh\n{{ echo \"$1\"; id -u; }} > {out}.part; mv {out}.part {out}\n")
        program.chmod(0o755)
        return program, out

    @unittest.skipUnless(os.geteuid() == 0, "needs root")
    def test_root_starts_no_browser_but_the_sudo_user_does(self):
        program, out = self.browser("browser")
        self.path.chmod(0o777)
        view = View(self.profile, environment={"BROWSER": str(program)})
        time.sleep(0.5)
        view.stop()
        self.assertFalse(out.exists())
        view = View(self.profile, environment={"BROWSER": str(program), "SUDO_UID": "12345", "SUDO_GID": "12345", "SUDO_USER": "someone"})
        address, user = self.wait_for(out)
        self.assertEqual(user, "12345")
        self.check_opening(view, address)
        self.assertEqual(view.stop(), 0)

    def record_in_terminal(self, *arguments):
        """nodescope record on a terminal, with a browser: (process, terminal's end, what the browser would write)."""
        program, out = self.browser("recording-browser")
        out.unlink(missing_ok=True)
        self.path.chmod(0o777)
        environment = {**os.environ, "BROWSER": str(program), "SUDO_UID": "12345", "SUDO_GID": "12345"}
        terminal, other = pty.openpty()
        command = [PROGRAM, "record", "-o", self.path / "live.nscope", *arguments, "--", "sh", "-c", "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done"]
        process = subprocess.Popen(command, stdin=other, stdout=other, stderr=other, env=environment, start_new_session=True)
        os.close(other)
        return process, terminal, out

    def read_terminal(self, terminal, until=None, seconds=60):
        text = ""
        end = time.monotonic() + seconds
        while time.monotonic() < end and not (until and re.search(until, text)):
            if not select.select([terminal], [], [], 0.2)[0]:
                continue
            try:
                text += os.read(terminal, 65536).decode(errors="replace")
            except OSError:
                break
        return text

    def test_record_ends_with_the_page_on_a_terminal_with_a_browser(self):
        process, terminal, out = self.record_in_terminal()
        text = self.read_terminal(terminal, until=r"http://127\.0\.0\.1:\d+/[0-9a-f]{32}/|not permitted|not allowed|Permission")
        if "http://" not in text:
            process.wait(timeout=60)
            self.skipTest("this user may not record: " + text)
        self.wait_for(out)
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(timeout=20), 0)
        process, terminal, out = self.record_in_terminal("--no-open")
        self.assertIn("nodescope view ", self.read_terminal(terminal))
        self.assertEqual(process.wait(timeout=20), 0)
        self.assertFalse(out.exists())

    def test_the_browser_opens_by_a_key_that_holds_once(self):
        program, out = self.browser("own-browser")
        user = None
        if os.geteuid() == 0:  # as an ordinary user, who may read neither our folder nor this program
            user = 12345
            self.path.chmod(0o777)
        copy = shutil.copy(PROGRAM, self.path / "nodescope")
        view = View(self.profile, environment={"BROWSER": str(program)}, program=copy, user=user)
        self.check_opening(view, self.wait_for(out)[0])
        view.stop()

    def wait_for(self, out):
        for _ in range(100):
            if out.exists():
                return out.read_text().split()
            time.sleep(0.1)
        self.fail("no browser was started")

    def check_opening(self, view, address):
        self.assertNotIn(view.token, address)
        key = "/" + address.split("/")[3] + "/"
        self.assertEqual(view.ask(key + "recordings").status, 403)
        first = view.ask(key)
        self.assertEqual((first.status, first.headers["location"]), (303, f"/{view.token}/"))
        self.assertEqual(view.ask(key).status, 403)


class Inputs(ServerTest):
    def served(self, *arguments, **options):
        view = View(*arguments, "--no-open", **options)
        names = [entry["name"] for entry in json.loads(view.get("recordings").body)]
        recordings = [view.get(f"recordings/{i}").body for i in range(len(names))]
        self.assertEqual(view.stop(), 0)
        return names, recordings

    def report(self, recording, *arguments):
        return json.loads(subprocess.run([PROGRAM, "report", "--json", "-", *arguments], input=recording, capture_output=True, check=True).stdout)

    def test_a_recording_is_served_as_it_is_also_when_it_is_cut(self):
        whole = self.path / "whole.nscope"
        subprocess.run([PROGRAM, "convert", self.profile, "-o", whole], check=True)
        cut = self.path / "cut.nscope"
        cut.write_bytes(whole.read_bytes()[:-10])
        names, recordings = self.served(whole, cut)
        self.assertEqual(names, ["whole.nscope", "cut.nscope"])
        self.assertEqual(recordings, [whole.read_bytes(), cut.read_bytes()])

    def test_files_of_the_same_name_are_told_apart(self):
        for folder in ("before", "after"):
            (self.path / folder).mkdir()
            (self.path / folder / "a.folded").write_text("main;f 1\n")
        paths = [str(self.path / folder / "a.folded") for folder in ("before", "after")]
        self.assertEqual(self.served(*paths)[0], paths)

    def test_standard_input_and_filters(self):
        folded = self.path / "x.folded"
        folded.write_text("main;f 3\nmain;g 4\n")
        with open(folded) as stdin:
            names, (recording,) = self.served("--match", "g", stdin=stdin)
        self.assertEqual(names, ["standard input"])
        text = subprocess.run([PROGRAM, "convert", "-", "--to", "folded"], input=recording, capture_output=True, check=True).stdout
        self.assertEqual(text, b"main;g 4\n")

    def test_what_cannot_be_read_is_an_error(self):
        bad = self.path / "bad.nscope"
        bad.write_bytes(b"NSCOPE\r\n\x1a\n" + b"\0" * 50)
        for path in (bad, self.path / "gone", "/dev/null"):
            done = subprocess.run([PROGRAM, "view", path, "--no-open"], capture_output=True, text=True, timeout=60)
            self.assertEqual(done.returncode, 1, path)
            self.assertTrue(done.stderr.startswith("nodescope: "), done.stderr)

    def test_one_file_holds_everything(self):
        name = '"><script>alert(1)</script>&.cpuprofile'
        hostile = self.path / name.replace("/", "_")
        hostile.write_text(cpuprofile(["/app/a.js"]))
        report = self.path / "report.html"
        subprocess.run([PROGRAM, "view", hostile, self.profile, "-o", report], check=True)
        text = report.read_text()
        self.assertNotIn("<!--nodescope-data-->", text)
        self.assertNotIn("<script>alert", text)
        found = re.findall(r'<script type="application/octet-stream;base64" data-name="([^"<>]*)">([A-Za-z0-9+/=]*)</script>', text)
        self.assertEqual([html.unescape(entry[0]) for entry in found], [hostile.name, "app.cpuprofile"])
        recording = base64.b64decode(found[1][1], validate=True)
        self.assertEqual(self.report(recording), json.loads(
            subprocess.run([PROGRAM, "report", "--json", self.profile], capture_output=True, check=True).stdout))

    def test_convert_writes_it_too(self):
        report = self.path / "converted.html"
        subprocess.run([PROGRAM, "convert", self.profile, "-o", report], check=True)
        self.assertIn('data-name="app.cpuprofile"', report.read_text())


if __name__ == "__main__":
    runner.run_module(sys.argv[3:])
