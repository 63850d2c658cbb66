"""A NATS client in one file of standard Python: connect, subscribe, publish, request; it reconnects for as long as it takes.

The text protocol is a few lines (https://docs.nats.io/reference/reference-protocols/nats-protocol):
    server: INFO {json} | MSG subject sid [reply] size | HMSG subject sid [reply] header-size size | PING | PONG | -ERR 'text'
    client: CONNECT {json} | SUB subject [queue] sid | PUB subject [reply] size | HPUB subject [reply] header-size size | PONG
"""

import json
import queue
import socket
import ssl
import sys
import threading
import time
import uuid
from collections import namedtuple
from urllib.parse import unquote, urlsplit

# `status` is what the server says itself: 503 nobody listens, 404 and 408 no messages, 409 a fetch that ended.
Message = namedtuple("Message", "subject reply headers data status")

SIGNING = """The address may hold user:password@ or token@; NKEYs and credentials files need a client library, for standard Python
cannot sign."""
PING_SECONDS = 20  # how often the server is asked whether it is there; after three times without a word it is not
RETRY_SECONDS = (0.1, 0.2, 0.5, 1, 2)


class NoAnswer(Exception):
    """Nobody answered: no responder, no connection, or not in time. It may be asked again."""


def log(text):
    print(text, file=sys.stderr, flush=True)


def parse_headers(block):
    """`NATS/1.0 503 text`, then `Name: value` lines."""
    first, *lines = block.decode("utf-8", "replace").split("\r\n")
    words = first.split(" ")
    pairs = (line.partition(":") for line in lines if ":" in line)
    return {name: value.strip() for name, _, value in pairs}, int(words[1]) if len(words) > 1 else None


class Nats:
    def __init__(self, url, name, inbox="_INBOX"):
        """`inbox` is where answers go; a user whose permissions name another one than the default gives it."""
        self.url, self.name = urlsplit(url if "://" in url else f"nats://{url}"), name
        self.place = f"{self.url.hostname or '127.0.0.1'}:{self.url.port or 4222}"  # for messages: without user and password
        self.subscriptions, self.next_sid = {}, 1
        self.inbox_prefix, self.answers, self.inbox = inbox, {}, f"{inbox}.{uuid.uuid4().hex}"
        self.lock, self.closed, self.pong = threading.RLock(), threading.Event(), threading.Event()
        self.boxes = []
        self.connect()  # the first connection is made here, so that a wrong address is an error at once
        threading.Thread(target=self.read_forever, daemon=True).start()
        threading.Thread(target=self.ping_forever, daemon=True).start()
        self.subscribe(f"{self.inbox}.*", self.answer)

    # ---- what a service uses ----

    def subscribe(self, subject, on_message, group=None):
        with self.lock:
            sid, self.next_sid = self.next_sid, self.next_sid + 1
            self.subscriptions[sid] = (subject, group, on_message)
            self.send(self.sub_line(sid))

    def publish(self, subject, data=b"", headers=None, reply=None):
        where = f"{subject} {reply}" if reply else subject
        if headers:
            head = b"NATS/1.0\r\n" + b"".join(f"{k}: {v}\r\n".encode() for k, v in headers.items()) + b"\r\n"
            self.send(b"HPUB %s %d %d\r\n%s%s\r\n" % (where.encode(), len(head), len(head) + len(data), head, data))
        else:
            self.send(b"PUB %s %d\r\n%s\r\n" % (where.encode(), len(data), data))

    def request(self, subject, data=b"", headers=None, timeout=5.0):
        """The one answer, or NoAnswer."""
        token, box = uuid.uuid4().hex, queue.Queue()
        self.answers[token] = box
        try:
            self.publish(subject, data, headers, f"{self.inbox}.{token}")
            answer = box.get(timeout=timeout)
        except queue.Empty:
            raise NoAnswer(f"no answer on {subject} within {timeout:g} s") from None
        except OSError as error:
            raise NoAnswer(f"no connection to NATS at {self.place}") from error
        finally:
            del self.answers[token]
        if answer.status == 503:
            raise NoAnswer(f"nobody serves {subject}")
        return answer

    def flush(self):
        """Waits until the server has read everything that was sent before."""
        self.pong.clear()
        self.send(b"PING\r\n")
        if not self.pong.wait(5):
            raise NoAnswer("the NATS server does not answer")

    def mailbox(self):
        """An address of our own, and what arrives there. A fetched message keeps its own subject, so each fetcher needs one."""
        box, address = queue.Queue(), f"{self.inbox_prefix}.{uuid.uuid4().hex}"
        self.boxes.append(box)
        self.subscribe(address, box.put)
        return address, box

    def close(self):
        self.closed.set()
        self.hang_up()

    # ---- the wire ----

    def sub_line(self, sid):
        subject, group, _ = self.subscriptions[sid]
        return f"SUB {subject} {group} {sid}\r\n".encode() if group else f"SUB {subject} {sid}\r\n".encode()

    def send(self, data):
        with self.lock:
            self.socket.sendall(data)

    def answer(self, message):
        box = self.answers.get(message.subject.rsplit(".", 1)[1])
        if box:
            box.put(message)

    def connect(self):
        host, port = self.url.hostname or "127.0.0.1", self.url.port or 4222
        try:
            sock = socket.create_connection((host, port), timeout=5)
        except OSError as error:
            raise ConnectionError(f"no NATS server answers at {self.place}: {error}") from error
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # a small line must not wait for the last one's receipt
        lines = sock.makefile("rb")
        info = json.loads(lines.readline().split(b" ", 1)[1])
        if info.get("tls_required") or self.url.scheme == "tls":
            sock = ssl.create_default_context().wrap_socket(sock, server_hostname=host)
            lines = sock.makefile("rb")
        hello = {"verbose": False, "pedantic": False, "headers": True, "no_responders": True, "protocol": 1}
        hello.update(name=self.name, lang="python", version="1")
        if self.url.password is not None:
            hello.update(user=unquote(self.url.username or ""), **{"pass": unquote(self.url.password)})
        elif self.url.username:
            hello.update(auth_token=unquote(self.url.username))
        sock.sendall(b"CONNECT " + json.dumps(hello).encode() + b"\r\nPING\r\n")
        for line in lines:
            if line.startswith(b"-ERR"):
                hint = "; it wants an NKEY or credentials, which standard Python cannot sign" if "nonce" in info else ""
                raise ConnectionError(f"the NATS server refuses us: {line[4:].decode().strip()}{hint}")
            if line.startswith(b"PONG"):
                break
        else:
            raise ConnectionError("the NATS server hung up")
        sock.settimeout(None)
        with self.lock:
            self.socket, self.lines, self.heard = sock, lines, time.monotonic()
            self.send(b"".join(self.sub_line(sid) for sid in self.subscriptions))

    def hang_up(self):
        try:
            self.socket.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass  # it was gone before
        self.socket.close()

    def ping_forever(self):
        while not self.closed.wait(PING_SECONDS):
            try:
                if time.monotonic() - self.heard > 3 * PING_SECONDS:
                    self.hang_up()
                else:
                    self.send(b"PING\r\n")
            except OSError:
                pass  # the reading thread sees the same failure and connects again

    def read_forever(self):
        while not self.closed.is_set():
            try:
                self.read()
            except (OSError, ValueError) as error:
                if not self.closed.is_set():
                    log(f"the connection to NATS is gone: {error}")
                    self.reconnect()

    def reconnect(self):
        for attempt in range(sys.maxsize):
            if self.closed.wait(RETRY_SECONDS[min(attempt, len(RETRY_SECONDS) - 1)]):
                return
            try:
                self.socket.close()
                self.connect()
                for box in [*self.answers.values(), *self.boxes]:
                    box.put(Message("", None, {}, b"", 503))  # no service listens: the waiting request ends at once
                return log("connected to NATS again")
            except (OSError, ValueError, IndexError):
                continue  # not yet

    def read(self):
        """One line of the server, and the message that follows it."""
        line = self.lines.readline()
        if not line:
            raise ConnectionError("the server closed it")
        self.heard = time.monotonic()
        kind, _, rest = line.decode().strip().partition(" ")
        if kind == "PING":
            self.send(b"PONG\r\n")
        elif kind == "PONG":
            self.pong.set()
        elif kind == "-ERR":
            log(f"NATS says {rest}")
        elif kind in ("MSG", "HMSG"):
            words = rest.split()
            size = int(words[-1])
            head_size = int(words[-2]) if kind == "HMSG" else 0
            body = self.lines.read(size + 2)[:size]
            headers, status = parse_headers(body[:head_size]) if head_size else ({}, None)
            reply = words[2] if len(words) > (4 if kind == "HMSG" else 3) else None
            self.subscriptions[int(words[1])][2](Message(words[0], reply, headers, body[head_size:], status))
