"""One live image: its pixels, its axes, and what the server says of it."""
from __future__ import annotations

import datetime
import math
from collections.abc import Iterator

import numpy as np

from ._messages import messages, parse
from .errors import MalformedMessage
from .wire import shown

_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
_USUAL_HEAD, _HEAD_LIMIT = 8192, 64 * 1024  # bytes of a message before its pixels
_PIXELS_TAG = b"\xa2\x06"  # field 100, length-delimited
_TYPES = {messages.enumeration("PixelEncoding")["ENVELOPE_FLOAT32"]: np.dtype("<f4"),
          messages.enumeration("PixelEncoding")["DISPLAY_UINT8"]: np.dtype("u1")}
_SCALES = {number: name.removeprefix("PIXEL_SCALE_").lower() for name, number in messages.enumeration("PixelScale").items()}
_OF_NUMBERS = ("from_zero", "symmetric")


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
    for limit in (_USUAL_HEAD, _HEAD_LIMIT):
        head = bytes(buffer[:limit])
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

    pixels           [z, x] ([z, y, x] of volumes), read-only: float32 envelopes (linear amplitude) or other numbers (`quantity`), or
                     uint8 of display streams (levels: values() has what they stand for). A view of the message, without a copy,
                     which need not be aligned as numbers are: `image.pixels.copy()` is, for much arithmetic on one image.
    stream, view     names: "echoform", "LL"
    sequence         of the frame, as its sender counts
    position         count of the probe's encoder, as the frame's sender stated it; None where there is none
    latency          seconds from the frame's last byte to publication
    dynamic_range_db, gain_db, reference   of the display; `reference` is the value that it shows as 0 dB, or as the upper end of
                     a scale of numbers (`scale`)
    published        images since the stream opened, this one included
    settings_revision   of the settings by which it was made: see Control
    outlines         probe and surfaces as lines, by name
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
        if head.pixel_scale not in _SCALES:
            raise MalformedMessage(f"unknown pixel scale {head.pixel_scale}")
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
        """Pixel centres along the array, metres where `axes` says nothing else."""
        return _axis(self._head.x)

    @property
    def z(self) -> np.ndarray:
        """Pixel centres into the part, likewise."""
        return _axis(self._head.z)

    @property
    def y(self) -> np.ndarray | None:
        """Pixel centres across the array, metres, of volumes; None of images."""
        return _axis(self._head.y) if self._head.HasField("y") else None

    @property
    def axes(self) -> dict[str, tuple[str, str]]:
        """Name and unit of the axes' numbers, by axis: {"x": ("x", "m"), "z": ("z", "m")}, where the method says nothing else."""
        axes = {"x": self._head.x, "z": self._head.z} | ({"y": self._head.y} if self._head.HasField("y") else {})
        return {name: (axis.name or name, axis.unit if axis.HasField("unit") else "m") for name, axis in axes.items()}

    @property
    def quantity(self) -> tuple[str, str]:
        """What pixels are, or what display images show, and the unit, which may be empty: ("amplitude", "")."""
        return self._head.pixel_name or "amplitude", self._head.pixel_unit

    @property
    def scale(self) -> str:
        """How pixels are meant to be shown: in "decibels" of amplitudes, in "power_decibels", as numbers "from_zero" to `reference`, or
        as numbers with a sign on a "symmetric" scale from -reference to reference."""
        return _SCALES[self._head.pixel_scale]

    @property
    def masked(self) -> bool:
        """Whether pixels may have no value: NaN, in display images level 0."""
        return self._head.pixels_masked

    @property
    def scan_places(self) -> int | None:
        """Of a scan, how many of its places have contributed to the image: the same number as before is the same image. None: the frame
        is an image of its own."""
        return self._head.scan_places if self._head.HasField("scan_places") else None

    def values(self) -> np.ndarray:
        """float32, a new array: the numbers that pixels are. Levels of display images are taken back to what they stand for: on a
        scale of numbers to these, in decibels to amplitudes or powers over that of 0 dB. NaN where there is none."""
        if self.pixels.dtype != np.uint8:
            return self.pixels.astype(np.float32)
        if self.scale not in _OF_NUMBERS:
            return np.float32(10) ** (self.decibels() / np.float32(self._decibels_a_decade))
        low = -self.reference if self.scale == "symmetric" else 0.0
        levels = low + (self.reference - low) * (np.arange(256) - 1) / 254
        levels[0] = np.nan
        return levels.astype(np.float32)[self.pixels]

    @property
    def _decibels_a_decade(self) -> int:
        return 10 if self.scale == "power_decibels" else 20

    @property
    def limit(self) -> float | None:
        """Of pixels with a sign: what is beyond -limit to limit wraps round, as velocities beyond that of Nyquist do. None: nothing does."""
        return self._head.pixel_limit or None

    @property
    def positions(self) -> tuple[np.ndarray, np.ndarray]:
        """x and z of every pixel, metres, two float64 arrays of the shape of an image's pixels, also of arrays [line, range]: what
        matplotlib's pcolormesh takes, and what puts velocities of flow over the display image. Of images; of volumes those of any y.
        ValueError where the axes are neither places nor lines and ranges whose place is known."""
        across, down = np.meshgrid(self.x, self.z)
        units = {name: unit for name, (_, unit) in self.axes.items()}
        if not self._head.HasField("lines"):
            if units["x"] != "m" or units["z"] != "m":
                raise ValueError(f"{self.stream}: axes in {units['x']} and {units['z']}, without a place")
            return across, down
        lines = self._head.lines
        if units["z"] == "m":
            return down + across * math.sin(lines.angle), lines.apex_z + across * math.cos(lines.angle)
        return lines.apex_x + (lines.radius + across) * np.sin(down), lines.apex_z + (lines.radius + across) * np.cos(down)

    @property
    def ras_of_pixels(self) -> np.ndarray:
        """float64 [4, 4]: from the numbers of a pixel along x, y and z, and 1, to its place in mm in the coordinates of medical viewers,
        R = -x, A = y, S = -z, and 1. ValueError where the axes are no places along x (or, of a plane across the array, y) and z."""
        axes, head = self.axes, self._head
        along = axes["x"] == ("x", "m") and axes.get("y", ("y", "m")) == ("y", "m")
        across = axes["x"] == ("y", "m") and "y" not in axes
        if axes["z"] != ("z", "m") or not (along or across) or head.HasField("lines"):
            raise ValueError(f"{self.stream}: its pixels are not at places in space")
        grid = [head.x, head.y if head.HasField("y") else None, head.z]
        steps = [(axis.last - axis.first) / (axis.count - 1) if axis and axis.count > 1 else None for axis in grid]
        smallest = min((step for step in steps if step), default=1e-3)
        x, y, z = (step or smallest for step in steps)
        part = np.zeros((4, 4))  # x, y and z in metres
        part[:3, 3] = [axis.first if axis else head.plane_y for axis in grid]
        part[:3, :3] = np.diag([x, y, z])
        if across:
            part[:2] = [[0.0, -y, 0.0, 0.0], [x, 0.0, 0.0, head.x.first]]
        part[3, 3] = 1e-3
        return 1e3 * np.diag([-1.0, 1.0, -1.0, 1.0]) @ part + 0.0  # no zero is -0

    @property
    def extent(self) -> tuple[float, float, float, float]:
        """(left, right, bottom, top), edges of pixels, for matplotlib's imshow with z downwards: in millimetres where the axes are in
        metres, else in their own units."""
        x, z = self._head.x, self._head.z
        scale = 1e3 if {unit for name, (_, unit) in self.axes.items() if name != "y"} == {"m"} else 1.0
        steps = [scale * (axis.last - axis.first) / (axis.count - 1) for axis in (x, z) if axis.count > 1]
        dx = steps[0] if x.count > 1 else steps[-1] if steps else 1.0
        dz = steps[-1] if z.count > 1 else dx
        return (scale * x.first - dx / 2, scale * x.last + dx / 2, scale * z.last + dz / 2, scale * z.first - dz / 2)

    def decibels(self, reference: float | None = None) -> np.ndarray:
        """float32 dB, a new array of the shape of pixels. 0 dB is `reference`, by default what the server shows as 0 dB, or else
        the largest pixel. Envelopes of 0 are -inf; of powers of flow 10 of them are ten times as much. Display images come as they are
        shown: from -dynamic_range_db to 0, NaN where a pixel has no value. ValueError for numbers with a sign, and others that no decibels are of: values() has them."""
        if self.scale in _OF_NUMBERS:
            raise ValueError(f"{self.stream}: {self.quantity[0]} is shown as numbers, not in decibels")
        if self.pixels.dtype == np.uint8:
            levels = (np.arange(256, dtype=np.float32) / np.float32(255) - np.float32(1)) * np.float32(self.dynamic_range_db)
            if self.masked:
                levels[0] = np.nan
            return levels[self.pixels]
        values = self.pixels.astype(np.float32)  # aligned too
        reference = float(reference or self.reference or values.max())
        with np.errstate(divide="ignore", invalid="ignore"):
            np.log10(values, out=values)
        factor = self._decibels_a_decade
        values *= np.float32(factor)
        if reference > 0:
            values -= np.float32(factor * math.log10(reference))
        return values

    # ---- place, times and counters

    @property
    def position(self) -> int | None:
        """Count of the probe's encoder, as the frame's sender stated it; None where there is none."""
        return self._head.position if self._head.HasField("position") else None

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
    def outlines(self) -> dict[str, np.ndarray]:
        """What may be drawn over the image, by name ("probe": element centres, "surface", "backwall"): float32 [point, 2], x and z in
        metres. Lines whose x and z are not as many are left out."""
        return {line.name: np.stack([np.array(line.x, np.float32), np.array(line.z, np.float32)], axis=1)
                for line in self._head.outlines if len(line.x) == len(line.z)}

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
    def settings_revision(self) -> int:
        return self._head.settings_revision

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
        place = "" if self.position is None else f" position {self.position}"
        return f"<Image {shown(self.stream)} {shown(self.view)} sequence {self.sequence}{place}: {shape} {self.pixels.dtype}>"


def _axis(axis) -> np.ndarray:
    return np.linspace(axis.first, axis.last, axis.count)
