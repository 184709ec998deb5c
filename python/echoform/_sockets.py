"""What the ZeroMQ sockets of this package have in common."""
from __future__ import annotations

import os
import threading
import time
import weakref

import zmq
import zmq.auth

from .errors import TimedOut


def tcp_endpoint(endpoint: str) -> str:
    """"HOST:PORT" or "tcp://HOST:PORT" as ZeroMQ writes it."""
    return endpoint if "://" in endpoint else f"tcp://{endpoint}"


def stream_prefix(stream: str) -> bytes:
    """What every message of `stream` begins with: field 1, length, name. A subscription to it selects the stream."""
    name = stream.encode()
    if len(name) > 127:
        raise ValueError(f"stream: found a name of {len(name)} bytes; expected at most 127")
    return bytes([0x0A, len(name)]) + name


def make_socket(kind: int, heartbeats: bool = True, context: zmq.Context | None = None) -> zmq.Socket:
    """Does not wait at close, notices peers that fall silent, takes IPv6. Without heartbeats, which would wait behind what is held
    back, TCP tells that a peer has gone. Of the process's context where no other is given."""
    socket = (context or zmq.Context.instance()).socket(kind)
    socket.linger = 0
    socket.ipv6 = True
    if heartbeats:
        socket.heartbeat_ivl = 5000
        socket.heartbeat_timeout = 15000
    else:
        socket.tcp_keepalive = 1
        socket.tcp_keepalive_idle = 10
        socket.tcp_keepalive_intvl = 5
        socket.tcp_keepalive_cnt = 3
    socket.handshake_ivl = 5000
    socket.reconnect_ivl = 100
    socket.reconnect_ivl_max = 5000
    return socket


def _load_keys(file: str | os.PathLike, name: str) -> tuple[bytes, bytes | None]:
    """(public, secret or None) of a file that `echoform keygen` wrote."""
    try:
        return zmq.auth.load_certificate(os.fspath(file))
    except (OSError, ValueError) as error:
        raise ValueError(f"{name}: {error}") from None


def connect(socket: zmq.Socket, endpoint: str, server_key=None, client_key=None) -> None:
    """Connects, with CURVE where `server_key` is given. ValueError for what is no endpoint or holds no key; closes the socket
    then."""
    try:
        if server_key is not None:
            public, secret = zmq.curve_keypair() if client_key is None else _load_keys(client_key, "client_key")
            if secret is None:
                raise ValueError(f"client_key: {os.fspath(client_key)} holds no secret key; expected PREFIX.secret")
            socket.curve_publickey, socket.curve_secretkey = public, secret
            socket.curve_serverkey = _load_keys(server_key, "server_key")[0]
        elif client_key is not None:
            raise ValueError("client_key: found it without server_key; expected both")
        socket.connect(tcp_endpoint(endpoint))
    except zmq.ZMQError as error:
        socket.close()
        raise ValueError(f'endpoint: found "{endpoint}"; expected tcp://HOST:PORT ({error})') from None
    except ValueError:
        socket.close()
        raise


class _Newest:
    """Reads a SUB socket without pause, on a thread of its own, and keeps the newest message. ZMQ_CONFLATE does the same, and ends the
    process where a publisher sends a message of several parts."""

    def __init__(self, socket: zmq.Socket):
        self._socket = socket  # the thread's from here on
        self._changed = threading.Condition()
        self._frame: zmq.Frame | None = None
        self._dropped = 0
        self._wake, self._woken = os.pipe()
        self._thread = threading.Thread(target=self._read, name="echoform-newest", daemon=True)
        self._thread.start()

    def receive(self, timeout: float | None) -> zmq.Frame | None:
        with self._changed:
            if not self._changed.wait_for(lambda: self._frame is not None, timeout):
                return None
            frame, self._frame = self._frame, None
            return frame

    @property
    def dropped(self) -> int:
        with self._changed:
            return self._dropped

    def stop(self) -> None:
        if self._thread.is_alive():
            os.write(self._woken, b"x")
            self._thread.join()
        if self._wake >= 0:
            os.close(self._wake)
            os.close(self._woken)
            self._wake = -1
        self._socket.close()

    def _read(self) -> None:
        poller = zmq.Poller()
        poller.register(self._wake, zmq.POLLIN)
        poller.register(self._socket, zmq.POLLIN)
        while True:
            try:
                if self._wake in dict(poller.poll()):
                    return
                frame = self._socket.recv(zmq.NOBLOCK, copy=False)
                several = _skip_other_parts(self._socket, frame)
            except zmq.Again:
                continue
            except zmq.ZMQError:  # its context has ended
                return
            with self._changed:
                if several:
                    self._dropped += 1
                else:
                    self._frame = frame
                    self._changed.notify()


def _skip_other_parts(socket: zmq.Socket, frame: zmq.Frame) -> bool:
    """Whether the message that begins with `frame` has others, which are read too: none of ours has."""
    if not frame.more:
        return False
    while socket.recv(copy=False).more:
        pass
    return True


class Subscription:
    """A SUB socket of a publisher that may be anybody, and messages of it within a time. Each has one part: what has several is
    dropped, and counted."""

    def __init__(self, endpoint: str, prefix: bytes, *, latest_only: bool, maximum_bytes: int, queue: int, server_key=None,
                 client_key=None):
        self.endpoint = tcp_endpoint(endpoint)
        # Left unread, its queue is full, a publisher's signs of life go unread, and libzmq 4.3.4 ends the program at the time-out.
        self._socket = make_socket(zmq.SUB, heartbeats=False)
        self._socket.rcvhwm = queue
        self._socket.maxmsgsize = maximum_bytes
        self._socket.subscribe(prefix)
        connect(self._socket, endpoint, server_key, client_key)
        self._wait = None
        self._dropped = 0
        self._newest = _Newest(self._socket) if latest_only else None
        # Whoever forgets close() does not leave the thread behind.
        self._end = weakref.finalize(self, self._newest.stop if self._newest else self._socket.close)

    def messages(self, timeout: float | None, what: str):
        """Yields messages, each a zmq.Frame, while they come within `timeout` seconds in all (None waits for ever), and None after
        each that was dropped; then raises TimedOut. A flood of messages that nobody wants does not hold the caller longer either."""
        deadline = None if timeout is None else time.monotonic() + timeout
        while True:
            left = None if deadline is None else max(0.0, deadline - time.monotonic())
            before = self._dropped
            frame = self._newest.receive(left) if self._newest else self._receive(left)
            if self._newest:
                self._dropped = self._newest.dropped
            for _ in range(self._dropped - before):
                yield None
            if frame is not None:
                yield frame
            elif self._dropped == before:
                break
            if deadline is not None and time.monotonic() > deadline:
                break
        raise TimedOut(f"{self.endpoint}: {what} within {timeout:g} s")

    def _receive(self, timeout: float | None) -> zmq.Frame | None:
        left = -1 if timeout is None else round(1e3 * timeout)
        if left != self._wait:
            self._socket.rcvtimeo = left
            self._wait = left
        try:
            frame = self._socket.recv(copy=False)
        except zmq.Again:
            return None
        if _skip_other_parts(self._socket, frame):
            self._dropped += 1
            return None
        return frame

    def close(self) -> None:
        self._end()
