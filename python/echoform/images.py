"""Live images."""
from __future__ import annotations

import dataclasses
import datetime
import math
import os
import time
from collections.abc import Iterator

import numpy as np

from ._messages import messages, parse
from ._sockets import Subscription, stream_prefix
from .errors import MalformedMessage

_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
_HEAD_LIMIT = 64 * 1024  # bytes of a message before its pixels
_PIXELS_TAG = b"\xa2\x06"  # field 100, length-delimited
_TYPES = {messages.enumeration("PixelEncoding")["ENVELOPE_FLOAT32"]: np.dtype("<f4"),
          messages.enumeration("PixelEncoding")["DISPLAY_UINT8"]: np.dtype("u1")}


def time_of(nanoseconds: int) -> datetime.datetime | None:
    """Nanoseconds since 1970-01-01 UTC as a datetime, to the microsecond; None for 0, which is unknown."""
    return _EPOCH + datetime.timedelta(microseconds=nanoseconds // 1000) if nanoseconds else None


def _pixels_places(head: bytes, size: int) -> Iterator[tuple[int, int]]:
    """Where the field of pixels may begin, and its bytes: a tag and a length that reaches just to the end of the message."""
    at = head.find(_PIXELS_TAG)
    while at >= 0:
        length, place, shift = 0, at + 2, 0
        while place < len(head) and shift < 35:
            byte = head[place]
            place += 1
            length |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                if place + length == size:
                    yield at, place
                break
        at = head.find(_PIXELS_TAG, at + 1)


def _split(buffer: memoryview):
    """The parsed head of a message, and where its pixels begin: they are last and stay where they are. MalformedMessage."""
    head = bytes(buffer[:_HEAD_LIMIT])
    for end, begin in _pixels_places(head, len(buffer)):
        try:
            return parse(messages.Image, head[:end]), begin
        except MalformedMessage:
            continue  # bytes of the head that look like the beginning of the pixels
    raise MalformedMessage("not an Image message")


def _check_axis(axis, name: str) -> int:
    count = axis.count
    if count == 0:
        raise MalformedMessage(f"axis {name} has no pixels")
    ordered = axis.first <= axis.last if count == 1 else axis.first < axis.last
    if not ordered or not math.isfinite(axis.first) or not math.isfinite(axis.last):
        raise MalformedMessage(f"axis {name} runs from {axis.first} to {axis.last}")
    return count


class Image:
    """One image, with its axes and what the server says of it. Made of a message; MalformedMessage if that contradicts itself.

    pixels           [z, x] ([z, y, x] of volumes), read-only: float32 envelopes (linear amplitude), or uint8 of display streams
                     (0 to 255 over dynamic_range_db below the reference). A view of the message, without a copy, which need
                     not be aligned as numbers are: `image.pixels.copy()` is, for much arithmetic on one image.
    stream, view     names: "echoform", "LL"
    sequence         of the frame, as its sender counts
    latency          seconds from the frame's last byte to publication
    dynamic_range_db, gain_db, reference   of the display; `reference` is the envelope that it shows as 0 dB
    published        images since the stream opened, this one included
    clipped_samples, invalid_samples       of this frame: saturated; NaN or infinite, taken as 0
    """

    __slots__ = ("_head", "pixels", "stream", "view", "sequence")

    def __init__(self, message):
        buffer = memoryview(message).cast("B") if not isinstance(message, memoryview) else message
        head, begin = _split(buffer)
        shape = [_check_axis(head.z, "z"), _check_axis(head.x, "x")]
        if head.HasField("y"):
            shape.insert(1, _check_axis(head.y, "y"))
        kind = _TYPES.get(head.encoding)
        if kind is None:
            raise MalformedMessage(f"unknown pixel encoding {head.encoding}")
        if not head.stream:
            raise MalformedMessage("no stream name")
        if math.prod(shape) * kind.itemsize != len(buffer) - begin:
            raise MalformedMessage(f"{len(buffer) - begin} bytes of pixels where the geometry says {math.prod(shape) * kind.itemsize}")
        pixels = np.frombuffer(buffer, kind, offset=begin).reshape(shape)
        pixels.flags.writeable = False
        self._head = head
        self.pixels = pixels
        self.stream: str = head.stream
        self.view: str = head.view
        self.sequence: int = head.sequence

    # ---- geometry

    @property
    def x(self) -> np.ndarray:
        """Pixel centres along the array, metres."""
        return _axis(self._head.x)

    @property
    def z(self) -> np.ndarray:
        """Pixel centres into the part, metres."""
        return _axis(self._head.z)

    @property
    def y(self) -> np.ndarray | None:
        """Pixel centres across the array, metres, of volumes; None of images."""
        return _axis(self._head.y) if self._head.HasField("y") else None

    @property
    def extent(self) -> tuple[float, float, float, float]:
        """(left, right, bottom, top) in millimetres, edges of pixels, for matplotlib's imshow with z downwards."""
        x, z = self._head.x, self._head.z
        steps = [1e3 * (axis.last - axis.first) / (axis.count - 1) for axis in (x, z) if axis.count > 1]
        dx = steps[0] if x.count > 1 else steps[-1] if steps else 1.0
        dz = steps[-1] if z.count > 1 else dx
        return (1e3 * x.first - dx / 2, 1e3 * x.last + dx / 2, 1e3 * z.last + dz / 2, 1e3 * z.first - dz / 2)

    def decibels(self, reference: float | None = None) -> np.ndarray:
        """float32 dB, a new array of the shape of pixels. 0 dB is `reference`, by default what the server shows as 0 dB, or else
        the largest pixel. Envelopes of 0 are -inf. Display images come as they are shown: from -dynamic_range_db to 0."""
        if self.pixels.dtype == np.uint8:
            return (self.pixels.astype(np.float32) / np.float32(255) - np.float32(1)) * np.float32(self.dynamic_range_db)
        values = self.pixels.astype(np.float32)  # aligned too
        reference = float(reference or self.reference or values.max())
        with np.errstate(divide="ignore", invalid="ignore"):
            np.log10(values, out=values)
        values *= np.float32(20)
        if reference > 0:
            values -= np.float32(20 * math.log10(reference))
        return values

    # ---- times and counters

    @property
    def acquisition_time_ns(self) -> int:
        """As the sender stated it: nanoseconds since 1970-01-01 UTC; 0 unknown."""
        return self._head.acquisition_time

    @property
    def acquisition_time(self) -> datetime.datetime | None:
        return time_of(self._head.acquisition_time)

    @property
    def publish_time_ns(self) -> int:
        """By the server's clock: nanoseconds since 1970-01-01 UTC."""
        return self._head.publish_time

    @property
    def publish_time(self) -> datetime.datetime | None:
        return time_of(self._head.publish_time)

    @property
    def latency(self) -> float:
        return 1e-9 * self._head.latency

    @property
    def stages(self) -> dict[str, float]:
        """What each stage took for this frame, seconds."""
        return {stage.stage: 1e-9 * stage.nanoseconds for stage in self._head.stages}

    @property
    def drops(self) -> dict[str, int]:
        """Frames dropped since the stream opened, by reason; reasons that never occurred are absent."""
        return {drop.reason: drop.frames for drop in self._head.drops}

    @property
    def dynamic_range_db(self) -> float:
        return self._head.dynamic_range_db

    @property
    def gain_db(self) -> float:
        return self._head.gain_db

    @property
    def reference(self) -> float:
        return self._head.reference

    @property
    def published(self) -> int:
        return self._head.published

    @property
    def clipped_samples(self) -> int:
        return self._head.clipped_samples

    @property
    def invalid_samples(self) -> int:
        return self._head.invalid_samples

    def __array__(self, dtype=None, copy=None):
        if copy or (dtype is not None and dtype != self.pixels.dtype):
            return np.array(self.pixels, dtype)
        return self.pixels

    def __repr__(self) -> str:
        shape = "x".join(map(str, self.pixels.shape))
        return f"<Image {self.stream} {self.view} sequence {self.sequence}: {shape} {self.pixels.dtype}>"


def _axis(axis) -> np.ndarray:
    return np.linspace(axis.first, axis.last, axis.count)


@dataclasses.dataclass(frozen=True)
class SubscriberStatistics:
    """What an ImageSubscriber has seen."""

    messages: int  # all that came
    malformed: int  # skipped: not an image, or one that contradicts itself
    images: int  # messages - malformed
    sequences: int  # distinct sequences among the images
    gaps: int  # sequences that were passed over
    restarts: int  # the sequence went back: the source began anew
    bytes: int
    seconds: float  # from the first image to the last
    images_per_second: float  # (sequences - 1) / seconds; 0 before the second


class ImageSubscriber:
    """Images of one stream, as they are published.

        with ImageSubscriber() as images:
            for image in images:
                show(image.pixels)

    endpoint       the server's `[server] images`: "tcp://HOST:PORT" or "HOST:PORT"
    stream         the stream's exact name: the server's name ("echoform"; with several views "echoform/LL"), or with ".display"
                   the 8-bit image; "" for every stream
    latest_only    whoever reads slowly gets the newest image instead of every one; what it skips counts as gaps
    timeout        seconds to wait for an image, None for ever. Iteration raises TimedOut when it has passed.
    queue          images that wait here at most while nobody reads; the server drops what does not fit, and it counts as gaps
    maximum_bytes  a publisher that sends a longer message is disconnected for good
    server_key, client_key   files of CURVE keys: the server's PREFIX.public and one's own PREFIX.secret, as `echoform keygen` writes
                   them; without client_key a key of the moment, which a server that lists its clients refuses
    It does not matter whether the server is there yet, or goes and comes back. A message that is not a sound image is skipped and
    counted; `last_fault` says what was wrong. One thread at a time.
    """

    def __init__(self, endpoint: str = "tcp://127.0.0.1:17180", stream: str = "echoform", *, latest_only: bool = False,
                 timeout: float | None = None, queue: int = 16, maximum_bytes: int = 256 << 20,
                 server_key: str | os.PathLike | None = None, client_key: str | os.PathLike | None = None):
        self.stream = stream
        self.timeout = timeout
        self.last_fault = ""
        self._messages = self._malformed = self._images = self._sequences = self._gaps = self._restarts = self._bytes = 0
        self._first = self._last = 0.0
        self._sequence = 0
        self._socket = Subscription(endpoint, stream_prefix(stream) if stream else b"", latest_only=latest_only,
                                    maximum_bytes=maximum_bytes, queue=queue, server_key=server_key, client_key=client_key)

    def receive(self, timeout: float | None = -1.0) -> Image:
        """The next image. Waits at most `timeout` seconds (None for ever; the subscriber's own if it is left out), then raises
        TimedOut."""
        timeout = self.timeout if timeout is not None and timeout < 0 else timeout
        for frame in self._socket.messages(timeout, f"no image of stream {self.stream or '(any)'}"):
            self._messages += 1
            try:
                if frame.more:
                    raise MalformedMessage("more than one part")
                image = Image(frame.buffer)
            except MalformedMessage as fault:
                self._malformed += 1
                self.last_fault = str(fault)
                continue
            self._count(image.sequence, len(frame))
            return image
        raise AssertionError("messages() ends by an exception")

    def __iter__(self) -> Iterator[Image]:
        while True:
            yield self.receive()

    @property
    def statistics(self) -> SubscriberStatistics:
        seconds = self._last - self._first
        rate = (self._sequences - 1) / seconds if self._sequences > 1 and seconds > 0 else 0.0
        return SubscriberStatistics(self._messages, self._malformed, self._images, self._sequences, self._gaps, self._restarts,
                                    self._bytes, seconds, rate)

    @property
    def images(self) -> int:
        """Images that came."""
        return self._images

    @property
    def gaps(self) -> int:
        """Sequences that were passed over: images that the server never made, or that did not come here."""
        return self._gaps

    def close(self) -> None:
        self._socket.close()

    def __enter__(self) -> ImageSubscriber:
        return self

    def __exit__(self, *_) -> None:
        self.close()

    def _count(self, sequence: int, size: int) -> None:
        self._last = time.monotonic()
        if self._images == 0:
            self._first = self._last
        self._images += 1
        self._bytes += size
        if self._sequences and sequence == self._sequence:  # another stream's image of the same frame
            return
        if self._sequences:
            if sequence < self._sequence:
                self._restarts += 1
            else:
                self._gaps += sequence - self._sequence - 1
        self._sequences += 1
        self._sequence = sequence
