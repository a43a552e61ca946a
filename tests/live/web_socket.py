"""A WebSocket by hand, both sides: what the tests of the inspector engine say to a Node.js, and to nodescope as a strange peer."""
import base64
import contextlib
import hashlib
import json
import os
import socket
import struct
import threading
import urllib.request

GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"


def frame(payload, opcode=1, final=True, mask=None):
    """One frame as bytes."""
    head = bytes([(0x80 if final else 0) | opcode])
    masked = 0x80 if mask is not None else 0
    if len(payload) < 126:
        head += bytes([masked | len(payload)])
    elif len(payload) < 65536:
        head += bytes([masked | 126]) + struct.pack(">H", len(payload))
    else:
        head += bytes([masked | 127]) + struct.pack(">Q", len(payload))
    if mask is None:
        return head + payload
    return head + mask + bytes(byte ^ mask[i % 4] for i, byte in enumerate(payload))


def read_exactly(connection, count):
    data = b""
    while len(data) < count:
        piece = connection.recv(count - len(data))
        if not piece:
            raise ConnectionError("closed")
        data += piece
    return data


def read_frame(connection):
    """(opcode, payload) of one frame."""
    first, second = read_exactly(connection, 2)
    size = second & 0x7F
    if size == 126:
        [size] = struct.unpack(">H", read_exactly(connection, 2))
    elif size == 127:
        [size] = struct.unpack(">Q", read_exactly(connection, 8))
    mask = read_exactly(connection, 4) if second & 0x80 else b"\0\0\0\0"
    return first & 0x0F, bytes(byte ^ mask[i % 4] for i, byte in enumerate(read_exactly(connection, size)))


class Client:
    """A debugger: what DevTools says to a Node.js."""

    def __init__(self, port):
        [target] = json.load(urllib.request.urlopen(f"http://127.0.0.1:{port}/json/list", timeout=30))
        self.connection = socket.create_connection(("127.0.0.1", port), timeout=60)
        key = base64.b64encode(os.urandom(16)).decode()
        self.connection.sendall((f"GET /{target['id']} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                                 f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n").encode())
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            head += read_exactly(self.connection, 1)
        self.last = 0
        self.events = []

    def call(self, method, **params):
        self.last += 1
        text = json.dumps({"id": self.last, "method": method, "params": params})
        self.connection.sendall(frame(text.encode(), mask=b"\1\2\3\4"))
        while True:
            message = self.receive()
            if message.get("id") == self.last:
                return message

    def receive(self):
        text = b""
        while True:
            opcode, payload = read_frame(self.connection)
            if opcode == 8:  # Node.js waits for the answer before it goes on
                self.connection.sendall(frame(payload, opcode=8, mask=b"\1\2\3\4"))
                raise ConnectionError("closed")
            text += payload if opcode in (0, 1) else b""
            try:
                message = json.loads(text)
            except ValueError:
                continue
            if "method" in message:
                self.events.append(message["method"])
            return message

    def wait_for(self, event):
        while event not in self.events:
            self.receive()

    def close(self):
        self.connection.close()


class Peer:
    """Something that listens on a port and answers as it likes: `behaviour(connection, request)` for every connection."""

    def __init__(self, behaviour):
        self.behaviour = behaviour
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.thread = threading.Thread(target=self.serve, daemon=True)
        self.thread.start()

    def serve(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.answer, args=(connection,), daemon=True).start()

    def answer(self, connection):
        with contextlib.suppress(OSError, ConnectionError), connection:
            request = b""
            while not request.endswith(b"\r\n\r\n"):
                request += read_exactly(connection, 1)
            self.behaviour(connection, request)

    def close(self):
        self.listener.close()


def accept(connection, request):
    """Agrees to become a WebSocket."""
    key = [line.split(b":", 1)[1].strip() for line in request.split(b"\r\n") if line.lower().startswith(b"sec-websocket-key:")][0]
    answer = base64.b64encode(hashlib.sha1(key + GUID.encode()).digest())
    connection.sendall(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: " + answer +
                       b"\r\n\r\n")
