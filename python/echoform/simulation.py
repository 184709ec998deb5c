"""Simulated frames, for examples and tests: point scatterers, straight rays, no losses."""
from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from .acquisition import Acquisition


def point_scatterers(acquisition: Acquisition, places: Iterable[tuple[float, float]], velocity: float, *, amplitude: float = 1.0,
                     noise: float = 0.0, seed: int = 0) -> np.ndarray:
    """float64 [tx, rx, sample] of an array in contact with a part that holds point scatterers.

    places       (x, z) of each scatterer, metres
    velocity     m/s
    amplitude    of each echo: Gaussian pulses of the probe's centre frequency, their peak at the travel time
    noise        standard deviation of the noise that is added; `seed` makes it the same each time
    """
    probe = acquisition.probe
    if probe.centre_frequency <= 0:
        raise ValueError("probe centre_frequency: found 0; expected more, which the pulses need")
    z = np.zeros(len(probe.x)) if probe.z is None else probe.z
    sigma = 0.4 / probe.centre_frequency
    frame = np.zeros((acquisition.elements, acquisition.elements, acquisition.samples))
    times = acquisition.start_time + np.arange(acquisition.samples) / acquisition.sample_rate - acquisition.time_offset
    for place_x, place_z in places:
        leg = np.hypot(probe.x - place_x, z - place_z) / velocity
        u = times - (leg[:, None] + leg[None, :])[:, :, None]
        frame += amplitude * np.exp(-0.5 * (u / sigma) ** 2) * np.cos(2 * np.pi * probe.centre_frequency * u)
    if noise > 0:
        frame += np.random.default_rng(seed).normal(0.0, noise, frame.shape)
    return frame
