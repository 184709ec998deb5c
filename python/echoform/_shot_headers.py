"""What frames are sent as: where their shots lie, and prefix and header of each, in place, with all checksums for the price of one.

From frame to frame only sequence, time and position change, in all shots alike. A CRC is linear over exclusive or, so they change all
checksums of shots of the same length by the same amount.
"""
from __future__ import annotations

import operator
import struct
import time

import numpy as np

from . import wire


def shot_places(acquisition) -> tuple[list[int], list[slice]]:
    """Bytes of each shot, and where they lie in a frame's."""
    sizes = [acquisition.shot_a_scans(transmit) * acquisition.a_scan_bytes for transmit in range(acquisition.shots)]
    return sizes, [slice(end - size, end) for size, end in zip(sizes, np.cumsum(sizes).tolist())]


def stamp(sequence: int | None, following: int, time_ns: int | None) -> tuple[int, int]:
    """What a frame states: `following` and now where nothing is given. ValueError for what does not fit."""
    sequence = following if sequence is None else int(sequence)
    time_ns = time.time_ns() if time_ns is None else int(time_ns)
    if not 0 <= sequence < 1 << 64:
        raise ValueError(f"sequence: found {sequence}; expected 0 to 2^64 - 1")
    if not 0 <= time_ns < 1 << 63:
        raise ValueError(f"time_ns: found {time_ns}; expected 0 to 2^63 - 1")
    return sequence, time_ns


def count_of(position: int | None) -> int | None:
    """An encoder's count as an int. ValueError for what does not fit."""
    if position is None:
        return None
    count = operator.index(position)
    if not -(1 << 63) < count < 1 << 63:
        raise ValueError(f"position: found {count}; expected -2^63 + 1 to 2^63 - 1, or None")
    return count


def sequence_after(sequence: int) -> int:
    """Behind the last number comes 0."""
    return (sequence + 1) % 2**64


class _Group:
    """The shots whose headers have the same length, as rows of one array."""

    def __init__(self, transmits: list[int], payload_bytes: list[int], sequence_bytes: int, time_bytes: int, session: bytes,
                 position_bytes: int):
        rows = []
        for transmit in transmits:
            # With zeros where sequence, time and position will stand.
            header = (b"\x08" + bytes(sequence_bytes) + b"\x10" + wire.varint(transmit)
                      + (b"\x18" + bytes(time_bytes) if time_bytes else b"") + session
                      + (b"\x28" + bytes(position_bytes) if position_bytes else b""))
            rows.append(struct.pack("<4sHHIQ", b"EFRM", 1, wire.SHOT, len(header), payload_bytes[transmit]) + bytes(4) + header)
        self.rows = np.array([list(row) for row in rows], np.uint8)
        self.size = self.rows.shape[1] - 4  # bytes under the checksum
        self.base = np.array([self._checksum(row) for row in rows], np.uint32)
        self.zero = wire.crc32c(bytes(self.size))
        self.sequence = slice(25, 25 + sequence_bytes)
        end = self.rows.shape[1]
        self.position = slice(end - position_bytes, end)
        time_end = end - len(session) - (position_bytes + 1 if position_bytes else 0)
        self.time = slice(time_end - time_bytes, time_end)

    @staticmethod
    def _checksum(row: bytes) -> int:
        return wire.crc32c(row[:20] + row[24:])

    def update(self, sequence: bytes, time: bytes, position: bytes) -> None:
        change = bytearray(self.size + 4)
        for place, stated in ((self.sequence, sequence), (self.time, time), (self.position, position)):
            change[place] = stated
            self.rows[:, place] = np.frombuffer(stated, np.uint8)
        difference = self._checksum(bytes(change)) ^ self.zero
        self.rows[:, 20:24] = (self.base ^ np.uint32(difference)).astype("<u4").view(np.uint8).reshape(-1, 4)


class ShotHeaders:
    """`payload_bytes[i]` is the payload of the shot of transmit i. `session` is stated where messages come without a connection."""

    def __init__(self, payload_bytes: list[int], session: int = 0):
        self._payload_bytes = payload_bytes
        self._session = wire.number(4, session)
        self._layout = None
        self._groups: list[_Group] = []
        self._views: list[memoryview] = []

    def of_frame(self, sequence: int, time_ns: int, position: int | None = None) -> list[memoryview]:
        """One for each transmit, valid until the next call."""
        stated = wire.varint(sequence), wire.varint(time_ns) if time_ns else b"", b"" if position is None else wire.signed(position)
        layout = tuple(map(len, stated))
        if layout != self._layout:
            self._arrange(*layout)
            self._layout = layout
        for group in self._groups:
            group.update(*stated)
        return self._views

    def _arrange(self, sequence_bytes: int, time_bytes: int, position_bytes: int) -> None:
        by_length: dict[int, list[int]] = {}
        for transmit in range(len(self._payload_bytes)):
            by_length.setdefault(len(wire.varint(transmit)), []).append(transmit)
        self._groups = [_Group(transmits, self._payload_bytes, sequence_bytes, time_bytes, self._session, position_bytes)
                        for transmits in by_length.values()]
        self._views = [memoryview(row) for group in self._groups for row in group.rows]
