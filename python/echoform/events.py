"""Transmit events: which elements fire together in a shot, when and how strongly, and which record it. proto/WIRE.md, "Events".

Times are seconds after an event's t = 0, places metres in the probe's frame (`Probe.frame()`), angles radians.
"""
from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence

import numpy as np

from . import wire

_FLAT = 10e-6  # metres: farther from the plane of its frame elements make a curved array


def _elements(values: Sequence[int], probe, what: str = "element") -> tuple[int, ...]:
    count = len(probe.x)
    elements = tuple(int(value) for value in values)
    if elements and (min(elements) < 0 or max(elements) >= count):
        raise ValueError(f"found {what} {min(elements) if min(elements) < 0 else max(elements)}; expected 0 to {count - 1}")
    if len(set(elements)) < len(elements):
        raise ValueError(f"found {what}s {list(elements)}; expected none twice")
    return elements


def _finite(name: str, *values: float) -> None:
    if not all(math.isfinite(value) for value in values):
        raise ValueError(f"{name}: found a number that is not finite")


def _all_or(elements: Sequence[int], probe) -> np.ndarray:
    return np.array(elements, int) if elements else np.arange(len(probe.x))


@dataclasses.dataclass(frozen=True)
class Element:
    """One element fires alone. Without `receivers` a plain number in Acquisition.events says the same."""

    element: int
    receivers: Sequence[int] = ()

    def check(self, probe) -> Element:
        return Element(_elements([self.element], probe)[0], _elements(self.receivers, probe, "receiver"))

    def encode(self) -> bytes:
        return wire.element_event(self.element, self.receivers)

    def firings(self, _probe) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return np.array([self.element]), np.zeros(1), np.ones(1)


@dataclasses.dataclass(frozen=True)
class PlaneWave:
    """Elements fire so that their waves join in a plane one: e at delay + slowness_x x_e + slowness_y y_e + slowness_z z_e.
    plane_wave() makes it of an angle.

    slowness_x, slowness_y   sin(a) cos(b) / velocity and sin(b) / velocity, s/m: a from z towards x, b towards y
    delay                    when it passes the probe's origin; None: the earliest element fires at 0
    elements                 that fire; empty: all
    receivers                that record it, in the order of their A-scans; empty: all
    slowness_z               cos(a) cos(b) / velocity of a curved array, whose delays need it; of a flat one 0
    """

    slowness_x: float
    slowness_y: float = 0.0
    delay: float | None = None
    elements: Sequence[int] = ()
    receivers: Sequence[int] = ()
    slowness_z: float = 0.0

    def check(self, probe) -> PlaneWave:
        _finite("slowness", self.slowness_x, self.slowness_y, self.slowness_z)
        if not 0.0 <= self.slowness_z <= 0.1:
            raise ValueError(f"slowness_z: found {self.slowness_z} s/m; expected cos(angle) / velocity")
        if self.slowness_z == 0.0 and (off := np.abs(probe.in_frame(probe.centres)[:, 2]).max()) > _FLAT:
            raise ValueError(f"slowness_z: found none of an array that is {1e3 * off:.3g} mm off flat; expected cos(angle) / velocity, "
                             "which a curved array's delays need")
        if max(abs(self.slowness_x), abs(self.slowness_y)) > 0.1:
            raise ValueError(f"slowness: found ({self.slowness_x}, {self.slowness_y}) s/m; expected sin(angle) / velocity")
        return _checked_wave(self, probe)

    def encode(self) -> bytes:
        return wire.plane_wave_event(self.slowness_x, self.slowness_y, self.delay, self.elements, self.receivers, self.slowness_z)

    def firings(self, probe) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        elements = _all_or(self.elements, probe)
        places = probe.in_frame(probe.centres[elements])
        return _wave_firings(elements, places @ np.array([self.slowness_x, self.slowness_y, self.slowness_z]), self.delay)


@dataclasses.dataclass(frozen=True)
class PointWave:
    """Elements fire so that their waves join in one that diverges from a virtual source behind them, z <= 0, or converges at a focus
    before them, z > 0.

    x, z, y     the point, metres in the probe's frame
    velocity    m/s, with which the delays are made
    delay       when it passes, or would pass, the probe's origin; None: the earliest element fires at 0
    elements    that fire; empty: all
    receivers   that record it, in the order of their A-scans; empty: all
    """

    x: float
    z: float
    velocity: float
    y: float = 0.0
    delay: float | None = None
    elements: Sequence[int] = ()
    receivers: Sequence[int] = ()

    def check(self, probe) -> PointWave:
        _finite("point", self.x, self.y, self.z, self.velocity)
        if self.velocity <= 0:
            raise ValueError(f"velocity: found {self.velocity} m/s; expected more than 0")
        return _checked_wave(self, probe)

    def encode(self) -> bytes:
        return wire.point_wave_event(self.x, self.y, self.z, self.velocity, self.delay, self.elements, self.receivers)

    def firings(self, probe) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        elements = _all_or(self.elements, probe)
        point = np.array([self.x, self.y, self.z])
        longer = (np.linalg.norm(probe.in_frame(probe.centres[elements]) - point, axis=1) - np.linalg.norm(point)) / self.velocity
        return _wave_firings(elements, -longer if self.z > 0 else longer, self.delay)


@dataclasses.dataclass(frozen=True)
class Law:
    """Elements fire at `delays` (empty: all at 0) with `weights` (empty: all 1), one for each of `elements`. They travel as 32-bit
    floats. Weights of both signs are a row of a code, without delays."""

    elements: Sequence[int]
    delays: Sequence[float] = ()
    weights: Sequence[float] = ()
    receivers: Sequence[int] = ()

    def check(self, probe) -> Law:
        elements = _elements(self.elements, probe)
        if not elements:
            raise ValueError("found a law of no elements; expected at least one")
        values = []
        for name in ("delays", "weights"):
            numbers = tuple(float(np.float32(value)) for value in getattr(self, name))
            if len(numbers) not in (0, len(elements)):
                raise ValueError(f"{name}: found {len(numbers)}; expected none or one for each of {len(elements)} elements")
            _finite(name, *numbers)
            values.append(numbers)
        if 0.0 in values[1]:
            raise ValueError("weights: found 0; expected only elements that fire")
        if any(abs(delay) >= 1.0 for delay in values[0]):
            raise ValueError("delays: found one of 1 s or more; expected seconds")
        return Law(elements, *values, _elements(self.receivers, probe, "receiver"))

    def encode(self) -> bytes:
        return wire.law_event(self.elements, self.delays, self.weights, self.receivers)

    def firings(self, _probe) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        count = len(self.elements)
        return (np.array(self.elements), np.array(self.delays or count * [0.0], float), np.array(self.weights or count * [1.0], float))


@dataclasses.dataclass(frozen=True)
class Code:
    """Elements fire together, as they are (1), inverted (-1) or not at all (0): a row of a code, from all rows of which the server
    decodes the firings of single elements. One sign for each element of the probe."""

    signs: Sequence[int]
    receivers: Sequence[int] = ()

    def check(self, probe) -> Code:
        signs = tuple(int(sign) for sign in self.signs)
        if len(signs) != len(probe.x):
            raise ValueError(f"signs: found {len(signs)}; expected one for each of {len(probe.x)} elements")
        if not set(signs) <= {-1, 0, 1}:
            raise ValueError(f"signs: found {sorted(set(signs))}; expected 1, -1 and 0")
        if not any(signs):
            raise ValueError("signs: found nobody who fires; expected at least one element")
        return Code(signs, _elements(self.receivers, probe, "receiver"))

    def encode(self) -> bytes:
        return wire.code_event(self.signs, self.receivers)

    def firings(self, _probe) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        signs = np.array(self.signs, float)
        elements = np.flatnonzero(signs)
        return elements, np.zeros(len(elements)), signs[elements]


@dataclasses.dataclass(frozen=True)
class Passive:
    """Nobody fires: a pulse of light makes the sound where it is absorbed, and sample times count from it. All events of a frame are
    passive, or none; the elements of the probe then are detectors that stand and face (Probe.normals) anywhere.

    wavelength     of the light, metres (750 nm is 750e-9); 0: not known
    pulse_energy   joules; 0: not known
    receivers      that record it, in the order of their A-scans; empty: all
    """

    wavelength: float = 0.0
    pulse_energy: float = 0.0
    receivers: Sequence[int] = ()

    def check(self, probe) -> Passive:
        if not 0.0 <= self.wavelength <= 1.0:
            raise ValueError(f"wavelength: found {self.wavelength} m; expected 0 (not known) to 1 m (nanometres need 1e-9)")
        if not 0.0 <= self.pulse_energy <= 1e3:
            raise ValueError(f"pulse_energy: found {self.pulse_energy} J; expected 0 (not known) to 1000 J")
        return Passive(float(self.wavelength), float(self.pulse_energy), _elements(self.receivers, probe, "receiver"))

    def encode(self) -> bytes:
        return wire.passive_event(self.wavelength, self.pulse_energy, self.receivers)

    def firings(self, _probe) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return np.zeros(0, int), np.zeros(0), np.zeros(0)


def plane_wave(angle: float, velocity: float, *, across: float = 0.0, curved: bool = False, **more) -> PlaneWave:
    """A plane wave at `angle` (from z towards x, radians) and `across` (towards y) in a medium of `velocity`, m/s: the couplant that
    the elements stand in, or the part with the velocity of the mode that travels there. `curved`: of an array that is not flat,
    such as a convex one. `more`: delay, elements, receivers."""
    if not velocity > 0:
        raise ValueError(f"velocity: found {velocity} m/s; expected more than 0")
    if max(abs(angle), abs(across)) > math.pi / 2:
        raise ValueError(f"angle: found {angle}, {across} rad; expected at most a quarter turn (degrees need math.radians)")
    ahead = math.cos(angle) * math.cos(across) / velocity if curved else 0.0
    return PlaneWave(math.sin(angle) * math.cos(across) / velocity, math.sin(across) / velocity, slowness_z=ahead, **more)


def hadamard(elements: int) -> tuple[Code, ...]:
    """The rows of the Hadamard matrix in Sylvester's order, for a power of two: the events of a frame that has the information of
    Full Matrix Capture, and N times less noise in power."""
    if elements < 1 or elements & (elements - 1):
        raise ValueError(f"elements: found {elements}; expected a power of two")
    return tuple(Code(tuple(-1 if bin(row & element).count("1") % 2 else 1 for element in range(elements))) for row in range(elements))


def as_event(event):
    """An event of what Acquisition.events lists: a number is an element that fires alone."""
    return event if hasattr(event, "firings") else Element(int(event))


def _checked_wave(wave, probe):
    if wave.delay is not None and not abs(wave.delay) < 1.0:
        raise ValueError(f"delay: found {wave.delay} s; expected less than 1 s either way, or None")
    return dataclasses.replace(wave, elements=_elements(wave.elements, probe), receivers=_elements(wave.receivers, probe, "receiver"))


def _wave_firings(elements: np.ndarray, passes: np.ndarray, delay: float | None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return elements, passes + (-passes.min() if delay is None else delay), np.ones(len(elements))
