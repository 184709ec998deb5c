"""What a frame is: the probe, the sampling, and how samples are put into bytes. NumPy alone."""
from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np

from . import wire
from .events import Element, Passive, as_event


def _list_of(values, name: str, count: int | None = None) -> np.ndarray:
    array = np.array(values, dtype=np.float64, ndmin=1)
    if array.ndim != 1 or (count is not None and len(array) != count):
        raise ValueError(f"probe {name}: found shape {array.shape}; expected {'[elements]' if count is None else (count,)}")
    if not np.isfinite(array).all():
        raise ValueError(f"probe {name}: found a number that is not finite")
    return array


@dataclasses.dataclass(frozen=True, eq=False)
class Probe:
    """An array probe. Metres and hertz; x along the array, z into the part, y across; z = 0 is the inspected surface.

    x                element centres, [elements], 1 to 1,024 of them
    y, z             the same, or None for 0; elements in couplant or on a wedge have z <= 0, detectors of Passive events stand anywhere
    normals          unit vectors of emission, [elements, 3], or None for (0, 0, 1); of detectors where they face, anywhere
    element_width    along x; 0 unknown
    element_length   along y; 0 unknown
    centre_frequency, bandwidth (-6 dB)   0 unknown
    dead_elements    indices from 0 of elements that do not work; their samples count as zero
    """

    x: np.ndarray
    y: np.ndarray | None = None
    z: np.ndarray | None = None
    normals: np.ndarray | None = None
    element_width: float = 0.0
    element_length: float = 0.0
    centre_frequency: float = 0.0
    bandwidth: float = 0.0
    dead_elements: Sequence[int] = ()

    def __post_init__(self):
        object.__setattr__(self, "x", _list_of(self.x, "x"))
        count = len(self.x)
        if not 1 <= count <= 1024:
            raise ValueError(f"probe x: found {count} elements; expected 1 to 1024")
        for name in ("y", "z"):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, _list_of(getattr(self, name), name, count))
        if self.normals is not None:
            normals = np.array(self.normals, dtype=np.float64)
            if normals.shape != (count, 3):
                raise ValueError(f"probe normals: found shape {normals.shape}; expected {(count, 3)}")
            object.__setattr__(self, "normals", normals)
        dead = tuple(sorted({int(element) for element in self.dead_elements}))
        if dead and not 0 <= dead[0] <= dead[-1] < count:
            raise ValueError(f"probe dead_elements: found {list(dead)}; expected indices from 0 to {count - 1}")
        object.__setattr__(self, "dead_elements", dead)

    @property
    def centres(self) -> np.ndarray:
        """[element, 3] as x, y, z."""
        zeros = np.zeros(len(self.x))
        return np.stack([self.x, zeros if self.y is None else self.y, zeros if self.z is None else self.z], axis=1)

    def frame(self) -> tuple[np.ndarray, np.ndarray]:
        """Origin and axes [3, 3] (rows x, y, z) of the frame that goes with the probe, in which transmit events are stated: the mean
        of the centres, z the mean of the normals, x as far as it is perpendicular to that. Of a linear array in contact that is
        centred on x = 0 it is the global frame."""
        z = np.array([0.0, 0.0, 1.0]) if self.normals is None else self.normals.mean(axis=0)
        z = z / np.linalg.norm(z)
        x = np.array([1.0, 0.0, 0.0]) - z[0] * z
        x = x / np.linalg.norm(x)
        return self.centres.mean(axis=0), np.array([x, np.cross(z, x), z])

    def in_frame(self, places: np.ndarray) -> np.ndarray:
        """Global places [..., 3] in the probe's frame."""
        origin, axes = self.frame()
        return (places - origin) @ axes.T

    @classmethod
    def linear(cls, elements: int, pitch: float, **more) -> Probe:
        """A linear array centred on x = 0, `pitch` metres from element to element."""
        return cls(x=(np.arange(elements) - 0.5 * (elements - 1)) * pitch, **more)

    @classmethod
    def matrix(cls, columns: int, rows: int, pitch: float, row_pitch: float | None = None, **more) -> Probe:
        """A matrix array centred on x = y = 0: `rows` along y, `row_pitch` (`pitch` where it is None) metres from row to row, each of
        `columns` elements along x. Element row * columns + column."""
        across = pitch if row_pitch is None else row_pitch
        x = (np.arange(columns) - 0.5 * (columns - 1)) * pitch
        y = (np.arange(rows) - 0.5 * (rows - 1)) * across
        return cls(x=np.tile(x, rows), y=np.repeat(y, columns), **more)


@dataclasses.dataclass(frozen=True)
class Pose:
    """A position of the probe: where the origin of its coordinates lies in the part (x, y, z in metres), and which way its x and y
    axes point there, unit vectors at a right angle. Its z is x cross y."""

    origin: Sequence[float]
    x: Sequence[float] = (1.0, 0.0, 0.0)
    y: Sequence[float] = (0.0, 1.0, 0.0)

    def __post_init__(self):
        for name in ("origin", "x", "y"):
            values = tuple(float(value) for value in getattr(self, name))
            if len(values) != 3 or not np.isfinite(values).all():
                raise ValueError(f"{name}: found {values}; expected three finite numbers")
            object.__setattr__(self, name, values)
        lengths = np.linalg.norm(self.x), np.linalg.norm(self.y)
        if max(abs(lengths[0] - 1.0), abs(lengths[1] - 1.0), abs(np.dot(self.x, self.y))) > 1e-3:
            raise ValueError(f"directions: found x = {self.x}, y = {self.y}; expected unit vectors at a right angle")

    def place(self, probe: Probe) -> tuple[np.ndarray, np.ndarray]:
        """Centres and normals [element, 3] of the probe there, in the part's coordinates."""
        axes = np.array([self.x, self.y, np.cross(self.x, self.y)])
        normals = np.tile([0.0, 0.0, 1.0], (len(probe.x), 1)) if probe.normals is None else probe.normals
        return probe.centres @ axes + np.array(self.origin), normals @ axes

    def encode(self) -> bytes:
        """As it is sent."""
        return wire.pose(self.origin, self.x, self.y)


@dataclasses.dataclass(frozen=True, eq=False)
class Acquisition:
    """How frames are sampled: what a sender states once. Seconds and hertz.

    Sample n was taken at `start_time + n / sample_rate - time_offset`; time 0 is the emission of the pulse, or the t = 0 from which
    the delays of a transmit event count.

    matrix        "full": frames are [tx, rx, sample]; "half" (each pair i <= j once) and "half_summed" (the instrument added both
                  directions): frames are [pair, sample] in the order (0,0), (0,1) ... (0,N-1), (1,1) ...: see half_matrix()
    events        who fires in each shot, where it is not every element alone and in order: indices of elements that fire alone, each
                  once (sparse firings), or Element, PlaneWave (plane_wave()), PointWave, Law, Code (hadamard()) and Passive. Frames are
                  [event, rx, sample], of events with different numbers of receivers [A-scan, sample], one event behind the other
    positions     of the probe within one frame, Pose or places (x, y, z): all events, or all elements in turn, are fired at each of them,
                  one position after the other, so that shot p * E + e is event e of E at position p. The probe's coordinates are then
                  its own, which each position puts into the part. None: the probe stands where its coordinates say
    encoding      "int16", "packed12" (12 bit two's complement, two samples in three bytes) or "float32"
    sample_scale  amplitude of one unit of an integer sample
    pulse_repetition  transmit events a second within a frame, evenly, by which flow is found; 0 unknown
    """

    probe: Probe
    samples: int
    sample_rate: float
    start_time: float = 0.0
    time_offset: float = 0.0
    matrix: str = "full"
    encoding: str = "int16"
    sample_scale: float = 1.0
    events: Sequence = ()
    positions: Sequence = ()
    pulse_repetition: float = 0.0

    def __post_init__(self):
        if self.pulse_repetition and not 1e-3 <= self.pulse_repetition <= 1e6:
            raise ValueError(f"pulse_repetition: found {self.pulse_repetition} Hz; expected 0 (unknown), or 0.001 to 1e6")
        passive = [isinstance(event, Passive) for event in self.events]
        if any(passive) and not all(passive):
            raise ValueError(f"event {passive.index(True)}: found a passive event beside others; expected passive events alone, or none")
        positions = []
        for place, pose in enumerate(self.positions):
            try:
                positions.append(pose if isinstance(pose, Pose) else Pose(pose))
                if not any(passive) and positions[-1].place(self.probe)[1][:, 2].min() <= 0.0:
                    raise ValueError("found the probe upside down; expected emission into the part (+z)")
            except ValueError as error:
                raise ValueError(f"position {place}: {error}") from None
        if len(positions) > 256:
            raise ValueError(f"positions: found {len(positions)}; expected at most 256")
        if positions and self.matrix != "full":
            raise ValueError(f"positions: found them with matrix {self.matrix!r}; expected 'full'")
        object.__setattr__(self, "positions", tuple(positions))
        events = []
        for place, event in enumerate(self.events):
            try:
                checked = as_event(event).check(self.probe)
            except ValueError as error:
                raise ValueError(f"event {place}: {error}") from None
            events.append(checked if hasattr(event, "firings") else checked.element)  # a number stays a number
        alone = [as_event(event).element for event in events if isinstance(as_event(event), Element)]
        if len(set(alone)) < len(alone):
            raise ValueError(f"events: found elements {alone} alone; expected each once")
        shots = (len(events) or len(positions) and self.elements) * max(1, len(positions))
        if shots > 4096:
            raise ValueError(f"events: found {shots}; expected at most 4096" + (", of all positions" if positions else ""))
        if events and self.matrix != "full":
            raise ValueError(f"events: found them with matrix {self.matrix!r}; expected 'full', of the events that are listed")
        object.__setattr__(self, "events", tuple(events))
        first = [0 if self.matrix == "full" else element for element in range(self.elements)]
        counts = [len(as_event(event).receivers) or self.elements for event in events] or [self.elements - of for of in first]
        object.__setattr__(self, "_a_scans", tuple(counts * max(1, len(positions))))
        for name, known in (("matrix", wire.MATRIX), ("encoding", wire.ENCODING)):
            if getattr(self, name) not in known:
                raise ValueError(f"{name}: found {getattr(self, name)!r}; expected one of {', '.join(known)}")
        if not 2 <= self.samples <= 1 << 20:
            raise ValueError(f"samples: found {self.samples}; expected 2 to 1048576")
        if not 0.0 < self.sample_rate <= 1e12:
            raise ValueError(f"sample_rate: found {self.sample_rate}; expected more than 0, up to 1e12 Hz")

    @property
    def elements(self) -> int:
        return len(self.probe.x)

    @property
    def shots(self) -> int:
        """Shots of a frame: one for each event, or each element, at each position."""
        return len(self._a_scans)

    @property
    def frame_shape(self) -> tuple[int, ...]:
        """Shape of a frame as an array of samples: [tx, rx, sample] (of positions: [shot, rx, sample]), [pair, sample] of half matrices, or [A-scan, sample] of events
        with different numbers of receivers."""
        counts = self._a_scans
        alike = self.matrix == "full" and counts.count(counts[0]) == len(counts)
        return (len(counts), counts[0], self.samples) if alike else (sum(counts), self.samples)

    @property
    def encoded_events(self) -> list[bytes]:
        """Each as it is sent (wire.py)."""
        if not self.positions:
            return [as_event(event).encode() for event in self.events]
        fired = [as_event(event).encode() for event in self.events or range(self.elements)]
        return [wire.at_position(event, position) for position in range(len(self.positions)) for event in fired]

    def event(self, transmit: int):
        """What is fired in a shot."""
        events = self.events or range(self.elements)
        return as_event(events[transmit % len(events)])

    def position(self, transmit: int) -> Pose | None:
        """Where the probe stands in a shot; None where no positions are stated."""
        return self.positions[transmit // len(self.events or range(self.elements))] if self.positions else None

    def receivers(self, transmit: int) -> np.ndarray:
        """Indices of the elements that record a shot, in the order of its A-scans."""
        listed = self.event(transmit).receivers
        return np.array(listed, int) if listed else np.arange(0 if self.matrix == "full" else transmit, self.elements)

    def firings(self, transmit: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """What an instrument does in a shot: indices of the elements that fire, seconds after t = 0 at which each does, and weights.
        Dead ones are among them."""
        return self.event(transmit).firings(self.probe)

    @property
    def a_scan_bytes(self) -> int:
        return {"int16": 2 * self.samples, "packed12": (3 * self.samples + 1) // 2, "float32": 4 * self.samples}[self.encoding]

    def shot_a_scans(self, transmit: int) -> int:
        """A-scans in one shot."""
        return self._a_scans[transmit]

    @property
    def frame_bytes(self) -> int:
        return sum(self._a_scans) * self.a_scan_bytes

    @property
    def times(self) -> np.ndarray:
        """Seconds after the emission, of each sample."""
        return self.start_time + np.arange(self.samples) / self.sample_rate - self.time_offset

    def encode(self, samples: np.ndarray) -> np.ndarray:
        """Samples [..., sample] as bytes [..., a_scan_bytes], without a copy where they are stored as they are sent.

        int16: integers that int16 holds whatever they are. packed12: such integers between -2048 and 2047, or uint8 that
        are packed already. float32: any real numbers. ValueError for anything else, so that nothing is cut off silently.
        """
        samples = np.asarray(samples)
        if self.encoding == "packed12" and samples.dtype == np.uint8 and samples.shape[-1] == self.a_scan_bytes:
            return np.ascontiguousarray(samples)
        if samples.ndim < 1 or samples.shape[-1] != self.samples:
            raise ValueError(f"samples: found shape {samples.shape}; expected {self.samples} samples along the last axis")
        if self.encoding == "float32":
            if samples.dtype.kind not in "iuf":
                raise ValueError(f"samples: found {samples.dtype}; expected real numbers")
            return np.ascontiguousarray(samples, "<f4").view(np.uint8)
        if not np.can_cast(samples.dtype, np.int16):
            raise ValueError(f"samples: found {samples.dtype}; expected int16 (numpy.rint(samples).astype('int16') rounds)")
        if self.encoding == "packed12":
            return pack12(samples)
        return np.ascontiguousarray(samples, "<i2").view(np.uint8)

    def payload(self, frame: np.ndarray) -> memoryview:
        """The bytes of a whole frame, of frame_shape; see encode()."""
        frame = np.asarray(frame)
        shape = self.frame_shape
        packed = self.encoding == "packed12" and frame.dtype == np.uint8
        if frame.shape != (shape[:-1] + (self.a_scan_bytes,) if packed else shape):
            hint = "; half_matrix() makes it of [tx, rx, sample]" if self.matrix != "full" and frame.ndim == 3 else ""
            raise ValueError(f"frame: found shape {frame.shape}; expected {shape}{hint}")
        return memoryview(self.encode(frame).reshape(-1))


def half_matrix(frame: np.ndarray) -> np.ndarray:
    """[tx, rx, sample] -> [pair, sample]: the pairs i <= j."""
    return frame[np.triu_indices(frame.shape[0])]


def half_summed(frame: np.ndarray) -> np.ndarray:
    """[tx, rx, sample] -> [pair, sample]: s_ij + s_ji for i < j, s_ii on the diagonal. Integers are summed in 32 bits."""
    wide = frame.astype(np.int32) if frame.dtype.kind in "iu" else frame
    i, j = np.triu_indices(frame.shape[0])
    return wide[i, j] + np.where((i == j)[:, None], 0, wide[j, i])


def full_matrix(frame: np.ndarray) -> np.ndarray:
    """[pair, sample] -> [tx, rx, sample] by reciprocity: s_ji is taken to be s_ij."""
    elements = int(np.sqrt(2 * frame.shape[0]))
    if elements * (elements + 1) // 2 != frame.shape[0]:
        raise ValueError(f"frame: found {frame.shape[0]} pairs; expected N (N + 1) / 2 of them")
    i, j = np.triu_indices(elements)
    full = np.empty((elements, elements, frame.shape[1]), frame.dtype)
    full[i, j] = frame
    full[j, i] = frame
    return full


def pack12(samples: np.ndarray) -> np.ndarray:
    """Integers [..., sample] between -2048 and 2047 as PACKED12, uint8 [..., (3 samples + 1) / 2]. ValueError beyond."""
    samples = np.asarray(samples, np.int16)
    if samples.size and not -2048 <= samples.min() <= samples.max() <= 2047:
        raise ValueError(f"samples: found {samples.min()} to {samples.max()}; 12 bits hold -2048 to 2047")
    values = samples.view(np.uint16) & 0xFFF
    count = values.shape[-1]
    packed = np.empty((*values.shape[:-1], (3 * count + 1) // 2), np.uint8)
    first, second = values[..., 0::2], values[..., 1::2]
    packed[..., 0::3] = first & 0xFF
    packed[..., 1::3] = first >> 8
    packed[..., 1::3][..., :count // 2] |= ((second & 0xF) << 4).astype(np.uint8)
    packed[..., 2::3] = second >> 4
    return packed


def unpack12(packed: np.ndarray, samples: int) -> np.ndarray:
    """PACKED12 bytes [..., (3 samples + 1) / 2] as int16 [..., samples]."""
    packed = np.asarray(packed, np.uint8)
    if packed.shape[-1] != (3 * samples + 1) // 2:
        raise ValueError(f"packed samples: found {packed.shape[-1]} bytes; expected {(3 * samples + 1) // 2} for {samples} samples")
    wide = packed.astype(np.uint16)
    out = np.empty((*packed.shape[:-1], samples), np.uint16)
    middle = wide[..., 1::3]
    out[..., 0::2] = wide[..., 0::3] | (middle & 0xF) << 8
    out[..., 1::2] = (middle >> 4)[..., :samples // 2] | wide[..., 2::3] << 4
    return (out << 4).view(np.int16) >> 4
