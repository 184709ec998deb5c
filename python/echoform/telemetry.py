"""What the server says of itself, once a second."""
from __future__ import annotations

import dataclasses
import datetime
import os
from collections.abc import Iterator

from ._messages import messages, parse
from ._sockets import Subscription, stream_prefix
from .errors import MalformedMessage
from .image import time_of

_LIMIT = 1 << 16  # bytes of a message


@dataclasses.dataclass(frozen=True)
class Distribution:
    """Durations of the last window, in seconds, and how many there were."""

    count: int
    p50: float
    p99: float
    maximum: float
    mean: float


@dataclasses.dataclass(frozen=True)
class Door:
    """A door for frames: "tcp", whose senders count by their connections, or "zeromq", by their sessions."""

    accepted: int  # whose Hello was accepted
    rejected: int  # that were turned away
    timed_out: int  # from which nothing came in time
    lost: int  # accepted, and gone without an End
    open: int  # now
    shots_received: int
    shots_discarded: int  # received and thrown away
    decode_errors: int  # messages that could not be used
    last_rejection: str  # why a sender was turned away last


@dataclasses.dataclass(frozen=True)
class Figure:
    """A number that a sink of images tells of itself."""

    value: float  # in base units
    counts: bool  # a total since the server started; else as it is now
    help: str


@dataclasses.dataclass(frozen=True)
class Telemetry:
    """One message. Counts are totals since the server started, rates are per second over the last window."""

    stream: str
    time_ns: int  # since 1970-01-01 UTC, by the server's clock
    input_rate: float  # frames received per second
    output_rate: float  # frames published per second
    input_bytes_rate: float
    frames_received: int
    frames_published: int
    frames_in_flight: int
    drops: dict[str, int]  # frames by reason
    sequence_gaps: int  # sequences that never arrived
    bytes_received: int
    slots: int
    slots_free: int
    clipped_samples: int
    invalid_samples: int
    viewer_dropped: int  # images that a web viewer did not take before a newer one came
    subscribers: int  # connected for images: subscribers over ZeroMQ and web viewers
    distributions: dict[str, Distribution]  # "frame_latency" (last byte to published), "stage_beamform" ...
    backend: str
    acquisition: str  # one line: elements, samples, matrix, rate; empty before a sender comes
    warnings: tuple[str, ...]  # what of settings and data is doubtful or will disappoint, a line each
    settings_revision: int  # of the settings in force: see Control
    frames_recorded: int  # whose samples are in a file
    frames_not_recorded: dict[str, int]  # that came while recording was asked for and are in no file, by reason
    recording: bool  # frames go to a file now
    log_lines_dropped: int  # lines of its log that standard error did not take
    doors: dict[str, Door]  # for frames, by name
    sinks: dict[str, dict[str, Figure]]  # of images, those that tell figures of themselves, by name: ["recorder"]["bytes_recorded"]
    position: int | None  # of the frame last published: count of the probe's encoder; None where it stated none
    refusals: dict[tuple[str, str], int]  # peers turned away or cut off, by door and reason: ("images", "wrong_key")

    @classmethod
    def parse(cls, message) -> Telemetry:
        """Of a message's bytes. Raises MalformedMessage."""
        if len(message) > _LIMIT:
            raise MalformedMessage(f"a telemetry message of {len(message)} bytes")
        m = parse(messages.Telemetry, bytes(message))
        if not m.stream:
            raise MalformedMessage("no stream name")
        same = {field.name: getattr(m, field.name) for field in dataclasses.fields(cls)
                if field.name not in ("time_ns", "drops", "frames_not_recorded", "distributions", "doors", "sinks", "refusals", "warnings", "position")}
        return cls(**same, position=m.position if m.HasField("position") else None, warnings=tuple(m.warnings), time_ns=m.time, drops={drop.reason: drop.frames for drop in m.drops},
                   frames_not_recorded={drop.reason: drop.frames for drop in m.frames_not_recorded},
                   doors={door.name: Door(*(getattr(door, field.name) for field in dataclasses.fields(Door))) for door in m.doors},
                   sinks={sink.name: {f.name: Figure(f.value, f.counts, f.help) for f in sink.figures} for sink in m.sinks},
                   refusals={(refusal.door, refusal.reason): refusal.peers for refusal in m.refusals},
                   distributions={d.name: Distribution(d.count, 1e-9 * d.p50, 1e-9 * d.p99, 1e-9 * d.maximum, 1e-9 * d.mean)
                                  for d in m.distributions})

    @property
    def time(self) -> datetime.datetime | None:
        return time_of(self.time_ns)

    @property
    def frames_dropped(self) -> int:
        return sum(self.drops.values())

    @property
    def closed(self) -> bool:
        """received = published + dropped + in flight: true of every message."""
        return self.frames_received == self.frames_published + self.frames_dropped + self.frames_in_flight


class TelemetrySubscriber:
    """Telemetry of a server, as it comes.

        with TelemetrySubscriber(timeout=5) as telemetry:
            for report in telemetry:
                print(report.output_rate, report.drops)

    endpoint      the server's `[server] telemetry`
    name          the server's name; "" for any
    latest_only   the newest message instead of every one
    timeout       seconds to wait for a message, None for ever; then TimedOut is raised
    server_key, client_key   files of CURVE keys: see ImageSubscriber
    Messages that are none are skipped and counted in `malformed`. One thread at a time.
    """

    def __init__(self, endpoint: str = "tcp://127.0.0.1:17181", name: str = "", *, latest_only: bool = False,
                 timeout: float | None = None, server_key: str | os.PathLike | None = None,
                 client_key: str | os.PathLike | None = None):
        self.timeout = timeout
        self.malformed = 0
        self._socket = Subscription(endpoint, stream_prefix(name) if name else b"", latest_only=latest_only, maximum_bytes=_LIMIT,
                                    queue=16, server_key=server_key, client_key=client_key)

    def receive(self, timeout: float | None = -1.0) -> Telemetry:
        """The next message. Waits at most `timeout` seconds (None for ever; the subscriber's own if it is left out), then raises
        TimedOut."""
        timeout = self.timeout if timeout is not None and timeout < 0 else timeout
        for frame in self._socket.messages(timeout, "no telemetry"):
            try:
                if frame is None:
                    raise MalformedMessage("more than one part")
                return Telemetry.parse(frame.buffer)
            except MalformedMessage:
                self.malformed += 1
        raise AssertionError("messages() ends by an exception")

    def __iter__(self) -> Iterator[Telemetry]:
        while True:
            yield self.receive()

    def close(self) -> None:
        self._socket.close()

    def __enter__(self) -> TelemetrySubscriber:
        return self

    def __exit__(self, *_) -> None:
        self.close()
