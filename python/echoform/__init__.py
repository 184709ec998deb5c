"""Echoform's client for Python: images and telemetry in, frames out, live control. docs/python.md is the guide.

Each name loads what it needs when it is first used: sending wants NumPy alone, subscribing pyzmq and protobuf, recordings h5py.
"""
from __future__ import annotations

import importlib

__version__ = "0.1.0"

_HOMES = {
    "errors": ("EchoformError", "Rejected", "ConnectionFailed", "TimedOut", "MalformedMessage"),
    "acquisition": ("Probe", "Pose", "Acquisition", "half_matrix", "half_summed", "full_matrix", "pack12", "unpack12"),
    "events": ("Element", "PlaneWave", "PointWave", "Law", "Code", "Passive", "plane_wave", "hadamard"),
    "sender": ("FrameSender",),
    "push_sender": ("PushFrameSender",),
    "image": ("Image",),
    "images": ("ImageSubscriber", "SubscriberStatistics"),
    "telemetry": ("Telemetry", "Distribution", "Door", "Figure", "TelemetrySubscriber"),
    "control": ("Control", "Conflict", "Setting"),
    "recordings": ("Recording",),
    "simulation": ("point_scatterers",),
    "server": ("Server",),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}
__all__ = sorted(_HOME_OF)


def __getattr__(name: str):
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f".{_HOME_OF[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__():
    return sorted(set(globals()) | set(__all__))
