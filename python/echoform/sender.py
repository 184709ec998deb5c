"""Sends frames to a server over TCP."""
from __future__ import annotations

import concurrent.futures
import contextlib
import secrets
import socket
import time
from collections.abc import Sequence

import numpy as np

from . import wire
from ._shot_headers import ShotHeaders, count_of, sequence_after, shot_places, stamp
from .acquisition import Acquisition
from .errors import ConnectionFailed, EchoformError, Rejected, TimedOut

_BUFFERS_AT_ONCE = 1024  # what the system takes in one call


def parse_host_port(endpoint: str) -> tuple[str, int]:
    """"HOST:PORT", "tcp://HOST:PORT" or "[IPV6]:PORT" as (host, port)."""
    host, colon, port = endpoint.removeprefix("tcp://").rpartition(":")
    if not colon or not host or not port.isascii() or not port.isdigit() or int(port) > 65535:
        raise ValueError(f'endpoint: found "{endpoint}"; expected HOST:PORT')
    return host.removeprefix("[").removesuffix("]"), int(port)


class _Connection:
    """One TCP connection: a Hello, its answer, and bytes."""

    def __init__(self, endpoint: str, timeout: float):
        self._endpoint = endpoint
        try:
            self._socket = socket.create_connection(parse_host_port(endpoint), timeout)
        except OSError as error:
            raise ConnectionFailed(f"{endpoint}: no server answers ({error})") from error
        self._socket.settimeout(None)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def send(self, buffers: Sequence) -> None:
        """All of them, waiting for as long as the server holds the sender back. Raises Rejected if it said why it does not."""
        try:
            for first in range(0, len(buffers), _BUFFERS_AT_ONCE):
                part = buffers[first:first + _BUFFERS_AT_ONCE]
                left = sum(map(len, part))
                while left:
                    sent = self._socket.sendmsg(part)
                    left -= sent
                    if left:  # a signal came in between
                        part = list(part)
                        while sent >= len(part[0]):
                            sent -= len(part.pop(0))
                        part[0] = memoryview(part[0])[sent:]
        except OSError as error:
            self._raise_reason(error)

    def check(self) -> None:
        """Raises if the server has spoken or closed: between Accept and End it does neither unless something is wrong."""
        try:
            self._socket.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT)
        except BlockingIOError:
            return
        except OSError as error:
            self._raise_reason(error)
        self._raise_reason(None)

    def read_accept(self, timeout: float) -> tuple[int, str]:
        kind, header = self._read_answer(timeout)
        if kind == wire.REJECT:
            raise Rejected(*wire.parse_reject(header))
        try:
            return wire.parse_accept(header)
        except ValueError as error:
            raise ConnectionFailed(f"{self._endpoint}: {error}") from error

    def finish(self) -> None:
        self.send([wire.message(wire.END)])
        try:
            self._socket.shutdown(socket.SHUT_WR)
        except OSError as error:
            self._raise_reason(error)

    def await_close(self, timeout: float) -> None:
        """Once the server has read all, it closes. Raises Rejected if it says that it did not take all."""
        try:
            kind, header = self._read_answer(timeout)
        except ConnectionFailed:
            return
        if kind == wire.REJECT:
            raise Rejected(*wire.parse_reject(header))

    def shut_down(self) -> None:
        """Wakes whoever is waiting in send()."""
        try:
            self._socket.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass

    def close(self) -> None:
        self._socket.close()

    def _read_answer(self, timeout: float) -> tuple[int, bytes]:
        deadline = time.monotonic() + timeout
        try:
            prefix = self._read(wire.PREFIX_BYTES, deadline)
            kind, size = wire.parse_answer_prefix(prefix)
            header = self._read(size, deadline)
            wire.check_answer(prefix, header)
            return kind, header
        except ValueError as error:
            raise ConnectionFailed(f"{self._endpoint}: {error}") from error
        except TimeoutError as error:
            raise TimedOut(f"{self._endpoint}: the server did not answer within {timeout:g} s") from error
        except OSError as error:
            raise ConnectionFailed(f"{self._endpoint}: the server closed the connection ({error})") from error
        finally:
            self._socket.settimeout(None)

    def _read(self, size: int, deadline: float) -> bytes:
        data = bytearray()
        while len(data) < size:
            self._socket.settimeout(max(1e-3, deadline - time.monotonic()))
            part = self._socket.recv(size - len(data))
            if not part:
                raise ConnectionResetError("end of the stream")
            data += part
        return bytes(data)

    def _raise_reason(self, error: OSError | None) -> None:
        try:
            kind, header = self._read_answer(1.0)
        except (ConnectionFailed, TimedOut):
            raise ConnectionFailed(f"{self._endpoint}: the server closed the connection ({error or 'end of the stream'})") from error
        if kind == wire.REJECT:
            raise Rejected(*wire.parse_reject(header)) from error
        raise ConnectionFailed(f"{self._endpoint}: the server accepted twice") from error


class FrameSender:
    """Connects, introduces itself, and sends frames.

        acquisition = Acquisition(Probe.linear(32, 0.6e-3, centre_frequency=5e6), samples=1024, sample_rate=40e6)
        with FrameSender(acquisition) as sender:
            for frame in frames:  # int16 [tx, rx, sample]
                sender.send(frame)

    Frames are sent without a copy if they lie in memory as they are sent: C order, of the encoding's type. send() waits while the
    server holds the sender back (its drop policy "block_sender"). At the end of the with-block, close() says End and waits until
    the server has read everything; after an exception it only disconnects.

    connections   TCP connections that share each frame, 1 to 8; more than one pays from some GB/s on
    token         the server's `[input] token`, if it has one
    busy_timeout  how long to ask again, in seconds, where the server says that it is busy: with another sender, one that has
                  ended a moment ago perhaps, whose last frames it still reads
    Raises Rejected with the server's reason, ConnectionFailed, TimedOut; ValueError for wrong arguments. After a failure the
    sender is closed; ValueError leaves it as it was. One thread at a time.
    """

    def __init__(self, acquisition: Acquisition, endpoint: str = "127.0.0.1:17171", *, connections: int = 1, token: str = "",
                 name: str = "echoform Python 0.1", connect_timeout: float = 10.0, accept_timeout: float = 60.0,
                 busy_timeout: float = 5.0):
        if not 1 <= connections <= 8:
            raise ValueError(f"connections: found {connections}; expected 1 to 8")
        parse_host_port(endpoint)
        self.acquisition = acquisition
        self.frames_sent = 0
        self._next_sequence = 0
        sizes, self._slices = shot_places(acquisition)
        self._headers = ShotHeaders(sizes)
        self._connections: list[_Connection] = []
        self._others: concurrent.futures.ThreadPoolExecutor | None = None
        session = secrets.randbits(63) + 1
        hellos = [wire.message(wire.HELLO, wire.hello_header(acquisition, session=session, connection_index=index,
                                                             connection_count=connections, sender=name, token=token))
                  for index in range(connections)]
        deadline = time.monotonic() + busy_timeout
        pause = 0.05
        while not self._connect(endpoint, hellos, connect_timeout, accept_timeout, deadline):
            time.sleep(pause)
            pause = min(2 * pause, 1.0)
        if connections > 1:
            self._others = concurrent.futures.ThreadPoolExecutor(connections - 1, "echoform-sender")

    def _connect(self, endpoint: str, hellos: list[bytes], connect_timeout: float, accept_timeout: float, deadline: float) -> bool:
        """Whether the server took all Hellos; not where it is busy before `deadline`. Without connections afterwards."""
        accepted = []
        try:
            for hello in hellos:
                connection = _Connection(endpoint, connect_timeout)
                self._connections.append(connection)
                connection.send([hello])
            for connection in self._connections:
                frame_bytes, self.server = connection.read_accept(accept_timeout)
                if frame_bytes != self.acquisition.frame_bytes:
                    raise ConnectionFailed(f"{endpoint}: the server expects frames of {frame_bytes} bytes; "
                                           f"these have {self.acquisition.frame_bytes}")
                accepted.append(connection)
            return True
        except Rejected as error:
            if not error.retry or time.monotonic() >= deadline:
                self.abort()
                raise
        except BaseException:
            self.abort()
            raise
        # The server became free between two Hellos. The next attempt must not meet what this one has opened.
        with contextlib.suppress(EchoformError):
            for connection in accepted:
                connection.finish()
                connection.await_close(accept_timeout)
        self.abort()
        return False

    def send(self, frame: np.ndarray, *, sequence: int | None = None, time_ns: int | None = None, position: int | None = None) -> int:
        """Sends a frame of the shape acquisition.frame_shape (Acquisition.encode() says of which types); returns its sequence.

        sequence   counts frames up; by default one more than the last. Numbers left out are counted by the server as gaps
        time_ns    when it was acquired, nanoseconds since 1970-01-01 UTC; by default now, 0 if it is not known
        position   count of the probe's encoder, a whole number of either sign; None: there is no encoder
        """
        payload = self.acquisition.payload(frame)
        position = count_of(position)
        sequence, time_ns = self._stamp(sequence, time_ns)
        headers = self._headers.of_frame(sequence, time_ns, position)
        count = len(self._connections)
        stripes = []
        for index in range(count):
            buffers: list = [None] * (2 * len(headers[index::count]))
            buffers[0::2] = headers[index::count]
            buffers[1::2] = [payload[part] for part in self._slices[index::count]]
            stripes.append(buffers)
        self._send_stripes(stripes)
        self._next_sequence = sequence_after(sequence)
        self.frames_sent += 1
        return sequence

    def send_shot(self, a_scans: np.ndarray, transmit: int, *, sequence: int, time_ns: int | None = None,
                  position: int | None = None) -> None:
        """Sends what one transmit gave, as soon as an instrument has it: [rx, sample] of acquisition.receivers(transmit). `transmit`
        is the element that fired, or the place in `acquisition.events`. A frame is complete with the shots of all elements, or all
        events; sequences must not go back. `position` is the encoder's count when it fired; a frame has that of the lowest `transmit`
        which states one."""
        acquisition = self.acquisition
        if not 0 <= transmit < acquisition.shots:
            raise ValueError(f"transmit: found {transmit}; expected 0 to {acquisition.shots - 1}")
        payload = acquisition.encode(a_scans)
        if payload.shape != (acquisition.shot_a_scans(transmit), acquisition.a_scan_bytes):
            expected = acquisition.shot_a_scans(transmit), acquisition.samples
            raise ValueError(f"a_scans: found shape {np.shape(a_scans)}; expected {expected}")
        position = count_of(position)
        sequence, time_ns = self._stamp(sequence, time_ns)
        header = wire.shot_header(sequence, transmit, time_ns, position=position)
        shot = [wire.message(wire.SHOT, header, payload.nbytes), memoryview(payload.reshape(-1))]
        stripes: list[list] = [[] for _ in self._connections]
        stripes[transmit % len(stripes)] = shot
        self._send_stripes(stripes)
        self._next_sequence = sequence_after(sequence)

    def close(self, timeout: float = 60.0) -> None:
        """Says End and waits until the server has read everything. Raises Rejected if it did not take it. May be called twice."""
        try:
            for connection in self._connections:
                connection.finish()
            for connection in self._connections:
                connection.await_close(timeout)
        finally:
            self.abort()

    def abort(self) -> None:
        """Disconnects at once. The server counts the connection as lost and drops what is incomplete."""
        for connection in self._connections:
            connection.shut_down()
        if self._others is not None:
            self._others.shutdown()
            self._others = None
        for connection in self._connections:
            connection.close()
        self._connections = []

    def __enter__(self) -> FrameSender:
        return self

    def __exit__(self, kind, *_) -> None:
        if kind is None:
            self.close()
        else:
            self.abort()

    def _stamp(self, sequence: int | None, time_ns: int | None) -> tuple[int, int]:
        if not self._connections:
            raise ConnectionFailed("this sender is closed")
        return stamp(sequence, self._next_sequence, time_ns)

    def _send_stripes(self, stripes: list[list]) -> None:
        """What each connection shall send: the first by this thread, others by theirs. If one fails the others could not complete
        the frame, so all end."""
        futures = []
        try:
            for connection in self._connections:
                connection.check()
            if self._others is not None:
                futures = [self._others.submit(connection.send, stripe) for connection, stripe in zip(self._connections[1:], stripes[1:])
                           if stripe]
            if stripes[0]:
                self._connections[0].send(stripes[0])
            for future in concurrent.futures.as_completed(futures):
                future.result()
        except BaseException as error:  # an interruption too: half a frame is on its way
            for connection in self._connections:
                connection.shut_down()
            concurrent.futures.wait(futures)
            self.abort()
            if not isinstance(error, Rejected):
                for future in futures:  # who knows the reason says it
                    if isinstance(future.exception(), Rejected):
                        raise future.exception() from None
            raise
