"""A made-up vendor's SDK: what such libraries have in common, and nothing of Echoform. Replace it by the instrument's own."""
import dataclasses
import math
import threading
import time

import numpy as np

VELOCITY = 6320.0  # m/s: longitudinal waves in aluminium
REFLECTOR = (0.003, 0.015)  # x, z in metres: where the image is to show it


@dataclasses.dataclass(frozen=True)
class Settings:
    elements: int  # of a linear array in contact; each fires in turn, all receive
    pitch: float  # m
    frequency: float  # Hz, of the pulse
    samples: int  # of an A-scan
    sample_rate: float  # Hz
    frames_per_second: float  # at which it fires, whoever keeps up
    frames: int = 0  # after which it stops by itself; 0: it goes on


@dataclasses.dataclass(frozen=True)
class Shot:
    """What a callback gets to see, for as long as it runs: the SDK uses its memory again."""

    frame: int  # counts up from 0
    element: int  # that fired
    time: int  # ns since 1970 UTC
    samples: np.ndarray  # int16 [receiver, sample]


class Device:
    """Fires from start() to stop(), and calls `callback` with each shot, on a thread of its own: one that takes long holds the
    instrument up. `late` counts frames that it fired so late that its schedule began anew; `finished` is set once all frames that were
    asked for have been handed over."""

    def __init__(self, settings: Settings, callback):
        self.late = 0
        self.finished = threading.Event()
        self._settings = settings
        self._callback = callback
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._fire, name="sdk", daemon=True)
        x = (np.arange(settings.elements) - 0.5 * (settings.elements - 1)) * settings.pitch
        legs = np.hypot(x - REFLECTOR[0], REFLECTOR[1]) / VELOCITY
        t = np.arange(settings.samples) / settings.sample_rate - (legs[:, None, None] + legs[:, None])
        width = 0.4 / settings.frequency
        self._frame = np.rint(1000.0 * np.exp(-0.5 * (t / width) ** 2) * np.cos(2.0 * math.pi * settings.frequency * t)).astype(np.int16)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """No callback runs any more once it returns."""
        self._stopping.set()
        if self._thread.is_alive():
            self._thread.join()

    def _fire(self) -> None:
        settings = self._settings
        period = 1.0 / settings.frames_per_second
        begin = time.monotonic()
        frame = 0
        while settings.frames == 0 or frame < settings.frames:
            for element, samples in enumerate(self._frame):
                if self._stopping.wait(max(0.0, begin + period * element / settings.elements - time.monotonic())):
                    return
                self._callback(Shot(frame, element, time.time_ns(), samples))
            frame += 1
            begin += period
            if time.monotonic() > begin + period:
                self.late += 1
                begin = time.monotonic()
        self.finished.set()
