"""What the ZeroMQ sockets of this package have in common."""
from __future__ import annotations

import os
import time

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


class Subscription:
    """A SUB socket, and messages of it within a time."""

    def __init__(self, endpoint: str, prefix: bytes, *, latest_only: bool, maximum_bytes: int, queue: int, server_key=None,
                 client_key=None):
        self.endpoint = tcp_endpoint(endpoint)
        # Left unread, its queue is full, a publisher's signs of life go unread, and libzmq 4.3.4 ends the program at the time-out.
        self._socket = make_socket(zmq.SUB, heartbeats=False)
        if latest_only:
            self._socket.conflate = True
        else:
            self._socket.rcvhwm = queue
        self._socket.maxmsgsize = maximum_bytes
        self._socket.subscribe(prefix)
        connect(self._socket, endpoint, server_key, client_key)
        self._wait = None

    def messages(self, timeout: float | None, what: str):
        """Yields messages, each a zmq.Frame (whose `more` says that others of the same message were skipped), while they come
        within `timeout` seconds in all (None waits for ever); then raises TimedOut. A flood of messages
        that nobody wants does not hold the caller longer either."""
        deadline = None if timeout is None else time.monotonic() + timeout
        left = -1 if timeout is None else max(0, round(1e3 * timeout))
        while True:
            if left != self._wait:
                self._socket.rcvtimeo = left
                self._wait = left
            try:
                frame = self._socket.recv(copy=False)
            except zmq.Again:
                break
            while frame.more and self._socket.rcvmore:  # nothing here has several parts: the first stands for them
                self._socket.recv(copy=False)
            yield frame
            if deadline is not None:
                left = round(1e3 * (deadline - time.monotonic()))
                if left < 0:
                    break
        raise TimedOut(f"{self.endpoint}: {what} within {timeout:g} s")

    def close(self) -> None:
        self._socket.close()
