"""Live control: what a running server may be told to do differently."""
from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Mapping

import zmq

from ._messages import messages, parse
from ._sockets import connect, make_socket, tcp_endpoint
from .errors import EchoformError, Rejected, TimedOut
from .wire import shown

_REPLY_LIMIT = 1 << 20  # bytes
_OUTCOMES = {number: name for name, number in messages.enumeration("ControlOutcome").items()}


class Conflict(Rejected):
    """The settings have another revision than expected: somebody else has changed them. Nothing was changed."""


def value_of(text: str):
    """A setting's value as Python has it: numbers, lists, True and False, text; None for "nothing is set"."""
    if not text:
        return None
    try:
        return json.loads(text)
    except ValueError:
        return text


def text_of(value) -> str:
    """The reverse: as a configuration file has it. NumPy's numbers and arrays too."""
    if value is None:
        return ""
    if hasattr(value, "tolist"):
        value = value.tolist()
    return value if isinstance(value, str) else json.dumps(list(value) if isinstance(value, tuple) else value)


@dataclasses.dataclass(frozen=True)
class Setting:
    """A key that may change while frames run."""

    key: str  # "grid.x"
    value: object  # number, list, bool, text; None where nothing is set
    in_use: object  # what images are made with, once a stream has shown it, where that is not the value itself
    file_value: object  # what the server started with, and reset goes back to
    type: str  # "number", "two numbers" ...
    words: tuple[str, ...]  # the values that it takes, where it takes one of a few words
    unit: str
    range: str
    low: float | None
    high: float | None
    default_value: str
    help: str
    effect: str  # "input", "display": at once; "instrument": it is told first; "imaging": delay tables are made anew first

    @classmethod
    def _of(cls, message) -> Setting:
        return cls(message.key, value_of(message.value), value_of(message.in_use), value_of(message.file_value), message.type,
                   tuple(message.words), message.unit, message.range, message.low if message.HasField("low") else None,
                   message.high if message.HasField("high") else None, message.default_value, message.help, message.effect)


class Control:
    """Reads and changes the settings of a running server.

        with Control() as control:
            print(control["grid.pixels"])
            control["output.dynamic_range_db"] = 30
            control.set({"grid.x": [-0.01, 0.01], "grid.z": [0.005, 0.025]})  # together or not at all
            control.reset()

    endpoint   the server's `[server] control`
    timeout    seconds to wait for an answer, then TimedOut. A change that was on its way may have been made all the same.
    server_key, client_key   files of CURVE keys: see ImageSubscriber
    Changes apply from the next frame on. Raises Rejected with the server's reason when it refuses (nothing has changed then), Conflict
    when somebody else was faster, EchoformError when the server could not. One thread at a time.
    """

    def __init__(self, endpoint: str = "tcp://127.0.0.1:17182", *, timeout: float = 10.0, server_key: str | os.PathLike | None = None,
                 client_key: str | os.PathLike | None = None):
        self.timeout = timeout
        self.revision = 0  # of the settings, after the last answer
        self.streaming = False  # whether a stream was there
        self.server = ""  # name and version
        self.acquisition = ""  # what the frames of the stream are, once there is one
        self.warnings = ()  # what of the settings in force is doubtful, or will disappoint, a line each
        self._where = endpoint, server_key, client_key
        self._socket = self._open()

    def settings(self, *keys: str) -> dict[str, Setting]:
        """These settings by key, or all."""
        reply = self._ask(messages.ControlRequest(action="get", keys=keys))
        return {setting.key: Setting._of(setting) for setting in reply.settings}

    def get(self, key: str):
        """The value of a setting, or what is in use where nothing is set."""
        setting = self.settings(key)[key]
        return setting.in_use if setting.value is None else setting.value

    def set(self, changes: Mapping[str, object], *, expected_revision: int | None = None) -> int:
        """Changes settings, all or none; returns the new revision. None as a value: as if the file did not set the key. With
        `expected_revision` only if nobody has changed any since."""
        request = messages.ControlRequest(action="set", expected_revision=expected_revision or 0)
        for key, value in changes.items():
            request.changes.add(key=key, value=text_of(value))
        return self._ask(request).revision

    def reset(self, *keys: str) -> int:
        """Back to what the server started with: these settings, or all. Returns the new revision."""
        return self._ask(messages.ControlRequest(action="reset", keys=keys)).revision

    def status(self) -> tuple[str, ...]:
        """What sinks of images tell of themselves, a line each. Rejected where none has any."""
        return tuple(self._ask(messages.ControlRequest(action="status")).sinks)

    def __getitem__(self, key: str):
        return self.get(key)

    def __setitem__(self, key: str, value) -> None:
        self.set({key: value})

    def close(self) -> None:
        self._socket.close()

    def __enter__(self) -> Control:
        return self

    def __exit__(self, *_) -> None:
        self.close()

    def _open(self) -> zmq.Socket:
        endpoint, server_key, client_key = self._where
        socket = make_socket(zmq.REQ)
        socket.maxmsgsize = _REPLY_LIMIT
        connect(socket, endpoint, server_key, client_key)
        return socket

    def _ask(self, request):
        milliseconds = max(1, round(1e3 * self.timeout))
        self._socket.rcvtimeo = self._socket.sndtimeo = milliseconds
        try:
            self._socket.send(request.SerializeToString())
            parts = self._socket.recv_multipart()
        except zmq.Again:
            # A socket that waits for an answer takes no other request.
            self._socket.close()
            self._socket = self._open()
            raise TimedOut(f"{tcp_endpoint(self._where[0])}: the server did not answer within {self.timeout:g} s") from None
        except BaseException:
            self._socket.close()
            self._socket = self._open()
            raise
        reply = parse(messages.ControlReply, b"".join(parts))
        self.revision, self.streaming, self.server = reply.revision, reply.streaming, reply.server or self.server
        self.acquisition, self.warnings = reply.acquisition, tuple(reply.warnings)
        outcome = _OUTCOMES.get(reply.outcome, "")
        if outcome == "DONE":
            return reply
        reason = shown(reply.reason) or f"outcome {reply.outcome} without a reason"
        raise {"REFUSED": Rejected, "CONFLICT": Conflict}.get(outcome, EchoformError)(reason)
