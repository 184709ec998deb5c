"""Sends frames to a server over ZeroMQ."""
from __future__ import annotations

import os
import secrets
import time

import numpy as np
import zmq

from . import wire
from ._shot_headers import ShotHeaders, count_of, sequence_after, shot_places, stamp
from ._sockets import connect, make_socket, tcp_endpoint
from .acquisition import Acquisition
from .errors import ConnectionFailed, TimedOut


class PushFrameSender:
    """Pushes frames to a server's `[input] zeromq`, for those who have ZeroMQ anyway; FrameSender is the faster and learns more.

        with PushFrameSender(acquisition) as sender:
            for frame in frames:
                sender.send(frame)

    There is no way back: whether the server accepts what comes stands in its log and its telemetry (doors["zeromq"]). Every frame is preceded by the
    Hello, so a server that comes late or again takes the next one. Frames are copied once.

    queued_frames   that may wait here, besides those on their way
    timeout         seconds that send() waits for room, or for a server to be there; None for ever. Then TimedOut, and the frame is
                    left incomplete
    server_key, client_key   files of CURVE keys: see ImageSubscriber
    One thread at a time.
    """

    def __init__(self, acquisition: Acquisition, endpoint: str = "tcp://127.0.0.1:17172", *, token: str = "",
                 name: str = "echoform Python 0.1", queued_frames: int = 2, timeout: float | None = None,
                 server_key: str | os.PathLike | None = None, client_key: str | os.PathLike | None = None):
        if not 1 <= queued_frames <= 64:
            raise ValueError(f"queued_frames: found {queued_frames}; expected 1 to 64")
        self.acquisition = acquisition
        self.frames_sent = 0
        self.timeout = timeout
        self.session = secrets.randbits(63) + 1
        self._endpoint = tcp_endpoint(endpoint)
        self._next_sequence = 0
        sizes, self._slices = shot_places(acquisition)
        self._headers = ShotHeaders(sizes, self.session)
        self._hello = wire.message(wire.HELLO, wire.hello_header(acquisition, session=self.session, sender=name, token=token))
        # Only the end of a context waits for what its sockets still have to send.
        self._context = zmq.Context()
        self._socket = make_socket(zmq.PUSH, heartbeats=False, context=self._context)
        # Frames wait in send(), not for a server that is not there: one that comes late shall not get old ones.
        self._socket.immediate = True
        self._socket.sndhwm = queued_frames * (acquisition.shots + 1)
        try:
            connect(self._socket, endpoint, server_key, client_key)
        except ValueError:
            self._context.term()
            raise

    def send(self, frame: np.ndarray, *, sequence: int | None = None, time_ns: int | None = None, position: int | None = None) -> int:
        """As FrameSender.send()."""
        if self._socket.closed:
            raise ConnectionFailed("this sender is closed")
        payload = self.acquisition.payload(frame)
        position = count_of(position)
        sequence, time_ns = stamp(sequence, self._next_sequence, time_ns)
        deadline = None if self.timeout is None else time.monotonic() + self.timeout
        self._next_sequence = sequence_after(sequence)
        self._push(self._hello, deadline)
        for header, part in zip(self._headers.of_frame(sequence, time_ns, position), self._slices):
            self._push(b"".join((header, payload[part])), deadline)
        self.frames_sent += 1
        return sequence

    def close(self, timeout: float = 5.0) -> None:
        """Says End and waits until everything has left, or for `timeout` seconds: then TimedOut. May be called twice."""
        if self._socket.closed:
            return
        deadline = time.monotonic() + timeout
        try:
            self._push(wire.message(wire.END, wire.end_header(self.session)), deadline)
        except BaseException:
            self.abort()
            raise
        # ZeroMQ does not say whether it gave up: it may take a little longer than what counts as too long here, since its clock
        # goes by whole milliseconds.
        self._socket.close(linger=round(1e3 * max(0.0, deadline - time.monotonic())) + 10)
        self._context.term()
        if time.monotonic() >= deadline:
            raise TimedOut(f"{self._endpoint}: nobody took all of it within {timeout:g} s")

    def abort(self) -> None:
        """Closes at once; what waits is lost."""
        self._socket.close(linger=0)
        self._context.term()

    def __enter__(self) -> PushFrameSender:
        return self

    def __exit__(self, kind, *_) -> None:
        if kind is None:
            self.close()
        else:
            self.abort()

    def _push(self, message: bytes, deadline: float | None) -> None:
        while True:
            try:
                self._socket.send(message, zmq.NOBLOCK, copy=False)
                return
            except zmq.Again:
                left = None if deadline is None else round(1e3 * (deadline - time.monotonic()))
            if left is not None and left <= 0:
                raise TimedOut(f"{self._endpoint}: nobody took the frame in time")
            self._socket.poll(left, zmq.POLLOUT)
