"""Simulated frames, for examples and tests: point scatterers, straight rays, no losses."""
from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from .acquisition import Acquisition


def point_scatterers(acquisition: Acquisition, places: Iterable[tuple[float, ...]], velocity: float, *, amplitude: float = 1.0,
                     noise: float = 0.0, seed: int = 0) -> np.ndarray:
    """float64 [tx, rx, sample] of an array in contact with a part that holds point scatterers; of an acquisition with events or
    positions a frame of it, each A-scan the sum of the echoes of all elements that fire. Half matrices are made of [tx, rx, sample].

    places       (x, z) or (x, y, z) of each scatterer, metres
    velocity     m/s
    amplitude    of each echo: Gaussian pulses of the probe's centre frequency, their peak at the travel time
    noise        standard deviation of the noise that is added; `seed` makes it the same each time
    """
    probe = acquisition.probe
    if probe.centre_frequency <= 0:
        raise ValueError("probe centre_frequency: found 0; expected more, which the pulses need")
    sigma = 0.4 / probe.centre_frequency
    centres = [pose.place(probe)[0] for pose in acquisition.positions] or [probe.centres]
    legs_of = [[np.linalg.norm(of_probe - (place[0], place[1] if len(place) > 2 else 0.0, place[-1]), axis=1) / velocity
                for place in places] for of_probe in centres]
    times = acquisition.times

    def shot(firings, receivers, legs):
        a_scans = np.zeros((len(receivers), len(times)))
        for element, delay, weight in zip(*firings):
            for leg in legs:
                u = times - delay - (leg[element] + leg[receivers])[:, None]
                a_scans += weight * np.exp(-0.5 * (u / sigma) ** 2) * np.cos(2 * np.pi * probe.centre_frequency * u)
        return a_scans

    if acquisition.events or acquisition.positions:
        shots = [shot(acquisition.firings(event), acquisition.receivers(event), legs_of[event * len(legs_of) // acquisition.shots])
                 for event in range(acquisition.shots)]
        frame = np.concatenate(shots).reshape(acquisition.frame_shape)
    else:
        everybody = np.arange(acquisition.elements)
        frame = np.stack([shot(((element,), (0.0,), (1.0,)), everybody, legs_of[0]) for element in everybody])
    frame *= amplitude
    if noise > 0:
        frame += np.random.default_rng(seed).normal(0.0, noise, frame.shape)
    return frame
