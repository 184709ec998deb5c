"""What a frame is: the probe, the sampling, and how samples are put into bytes. NumPy alone."""
from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np

from . import wire


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
    y, z             the same, or None for 0; elements in couplant or on a wedge have z <= 0
    normals          unit vectors of emission, [elements, 3], or None for (0, 0, 1)
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

    @classmethod
    def linear(cls, elements: int, pitch: float, **more) -> Probe:
        """A linear array centred on x = 0, `pitch` metres from element to element."""
        return cls(x=(np.arange(elements) - 0.5 * (elements - 1)) * pitch, **more)


@dataclasses.dataclass(frozen=True, eq=False)
class Acquisition:
    """How frames are sampled: what a sender states once. Seconds and hertz.

    Sample n was taken at `start_time + n / sample_rate - time_offset`; time 0 is the emission of the pulse.

    matrix        "full": frames are [tx, rx, sample]; "half" (each pair i <= j once) and "half_summed" (the instrument added both
                  directions): frames are [pair, sample] in the order (0,0), (0,1) ... (0,N-1), (1,1) ...: see half_matrix()
    events        sparse firings: indices of the elements that fire, one after the other, each once; all elements receive each of
                  them, and frames are [event, rx, sample]. Empty: every element fires, in order
    encoding      "int16", "packed12" (12 bit two's complement, two samples in three bytes) or "float32"
    sample_scale  amplitude of one unit of an integer sample
    """

    probe: Probe
    samples: int
    sample_rate: float
    start_time: float = 0.0
    time_offset: float = 0.0
    matrix: str = "full"
    encoding: str = "int16"
    sample_scale: float = 1.0
    events: Sequence[int] = ()

    def __post_init__(self):
        events = tuple(int(element) for element in self.events)
        if events and (min(events) < 0 or max(events) >= self.elements or len(set(events)) < len(events)):
            raise ValueError(f"events: found {list(events)}; expected elements from 0 to {self.elements - 1}, each once")
        if events and self.matrix != "full":
            raise ValueError(f"events: found them with matrix {self.matrix!r}; expected 'full', of the events that are listed")
        object.__setattr__(self, "events", events)
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
        """Shots of a frame: one for each event, or each element."""
        return len(self.events) or self.elements

    @property
    def frame_shape(self) -> tuple[int, ...]:
        """Shape of a frame as an array of samples: [tx, rx, sample], or [pair, sample] of half matrices."""
        n = self.elements
        return (self.shots, n, self.samples) if self.matrix == "full" else (n * (n + 1) // 2, self.samples)

    @property
    def a_scan_bytes(self) -> int:
        return {"int16": 2 * self.samples, "packed12": (3 * self.samples + 1) // 2, "float32": 4 * self.samples}[self.encoding]

    def shot_a_scans(self, transmit: int) -> int:
        """A-scans in one shot."""
        return self.elements if self.matrix == "full" else self.elements - transmit

    @property
    def frame_bytes(self) -> int:
        return sum(self.shot_a_scans(transmit) for transmit in range(self.shots)) * self.a_scan_bytes

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
        """The bytes of a whole frame, [tx, rx, sample] or [pair, sample]; see encode()."""
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
