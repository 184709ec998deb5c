"""Recordings in MFMC 2.0, as `echoform record` writes them, as NumPy arrays. Needs h5py."""
from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterator
from typing import Union

import h5py
import numpy as np

from ._datasets import PackedDataset, checked, open_file
from .acquisition import Acquisition, Pose, Probe, full_matrix
from .events import Code, Element, Law, PlaneWave, PointWave
from .errors import EchoformError

_ENCODER_COUNT = "ECHOFORM_ENCODER_COUNT"  # [frame, encoder], raw counts
_PLACED_BY_ENCODER = "ECHOFORM_PLACED_BY_ENCODER"  # each frame has the placement that follows from its count
_NO_POSITION = -(1 << 63)
_PLACEMENTS = ("PROBE_PLACEMENT_INDEX", "PROBE_POSITION", "PROBE_X_DIRECTION", "PROBE_Y_DIRECTION")
_SAMPLE_SCALE = "ECHOFORM_SAMPLE_SCALE"  # amplitude of one count, where it is not 1
_SAME_DELAY = 1e-9  # seconds by which delays may differ from those of the wave that a law is said to make
_UNKNOWN_SIZE = 1e-9  # metres: an element's size that stands for "unknown"

_Form = Union[int, Law, PlaneWave, PointWave, Code]  # of an event, the int being an element's


class Recording:
    """A recording on disk: frames are read when they are asked for.

        with Recording("scan.mfmc") as recording:
            frame = recording[0]                        # [tx, rx, sample], or [pair, sample] of half matrices
            everything = recording.full()               # [frame, tx, rx, sample]
            with FrameSender(recording.acquisition) as sender:
                for number, frame in enumerate(recording):
                    sender.send(frame, position=recording.position(number))

    acquisition    what a FrameSender needs to send the frames again
    samples        the dataset itself, or of packed chunks what reads them, [frame, A-scan, sample], int16 or float32 as in the file; times
                   sample_scale is amplitude. Of a probe that goes to and fro between its positions within a frame A-scans are in the file's
                   order there, and position by position in frames
    velocities     (longitudinal, shear) of the part, m/s; 0 unknown
    recorded       "yyyy-mm-dd HH:MM:SS" in UTC of the first frame, or ""
    positions      counts of the probe's encoder, a masked int64 array [frame]: masked where a frame states none
    pose(frame)    where a scan's probe was: a Pose, that of its own coordinates in the part; None where it is not known or the probe stays
    A file that still grows can be read: refresh() takes in what has come since.
    Waves and codes come back as laws: MFMC states who fires when and how strongly, not of what form that is.
    EchoformError for a file of another structure: probes that move without an encoder, receive laws of several elements, several sequences. `echoform inspect` and
    `echoform image` know those. No other file is ever opened: a recording whose data lie in one (external links, external storage,
    virtual datasets) is an EchoformError that names the dataset.
    """

    def __init__(self, path: str | os.PathLike):
        self.path = os.fspath(path)
        try:
            self._file = open_file(self.path)
        except OSError as error:
            raise EchoformError(f"{self.path}: cannot be read ({error})") from None
        try:
            self._read()
        except (KeyError, ValueError, TypeError, AttributeError, IndexError, OSError, RuntimeError) as error:
            self._file.close()
            raise EchoformError(f"{self.path}: found no recording as echoform writes it ({error}); "
                                "`echoform inspect` may say more") from error

    @property
    def matrix(self) -> str:
        return self.acquisition.matrix

    def __len__(self) -> int:
        return self.samples.shape[0]

    def __getitem__(self, frame: int) -> np.ndarray:
        """One frame, [tx, rx, sample] or [pair, sample]."""
        index = int(frame) + (len(self) if frame < 0 else 0)
        if not 0 <= index < len(self):
            raise IndexError(f"{self.path}: frame {frame} of {len(self)}")
        return self._in_turn(self.samples[index][None])[0].reshape(self.acquisition.frame_shape)

    def __iter__(self) -> Iterator[np.ndarray]:
        return (self[frame] for frame in range(len(self)))

    def full(self, first: int = 0, last: int | None = None) -> np.ndarray:
        """Frames first to last (excluded) as [frame, tx, rx, sample]; of half matrices by reciprocity, s_ji = s_ij. Of sparse
        firings [frame, event, rx, sample]: nothing is made up."""
        frames = self._in_turn(self.samples[first:last])
        if self.matrix == "full":
            return frames.reshape(len(frames), *self.acquisition.frame_shape)
        n, samples = self.acquisition.elements, self.acquisition.samples
        return np.array([full_matrix(frame) for frame in frames], frames.dtype).reshape(len(frames), n, n, samples)

    def _in_turn(self, frames: np.ndarray) -> np.ndarray:
        """A-scans [frame, A-scan, sample] position by position."""
        return frames if self._order is None else frames[:, self._order]

    def pose(self, frame: int) -> Pose | None:
        """Where the probe of a scan was in one frame; None where its count is not stated, and of a probe that stays."""
        if self._places is None or self.position(frame) is None:
            return None
        index, *places = self._places
        row = int(index[int(frame) + (len(self) if frame < 0 else 0), 0]) - 1
        return Pose(*(place[row].reshape(3) for place in places))

    @property
    def positions(self) -> np.ma.MaskedArray:
        counts = np.full(len(self), _NO_POSITION, np.int64)
        if self._counts is not None:
            rows = min(len(self), self._counts.shape[0])
            counts[:rows] = self._counts[:rows, 0]
        return np.ma.masked_equal(counts, _NO_POSITION)

    def position(self, frame: int) -> int | None:
        """Count of the probe's encoder in one frame; None where it states none."""
        index = int(frame) + (len(self) if frame < 0 else 0)
        if not 0 <= index < len(self):
            raise IndexError(f"{self.path}: frame {frame} of {len(self)}")
        if self._counts is None or index >= self._counts.shape[0]:
            return None
        count = int(self._counts[index, 0])
        return None if count == _NO_POSITION else count

    def refresh(self) -> int:
        """The number of frames now, of a file that another program writes."""
        self.samples.refresh()
        if self._counts is not None:
            self._counts.refresh()  # after the samples, which are written last: none of theirs is missing
        for table in self._places or ():
            table.refresh()
        return len(self)

    def close(self) -> None:
        self._file.close()

    def __enter__(self) -> Recording:
        return self

    def __exit__(self, *_) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Recording {self.path}: {len(self)} frames, {self.matrix} matrix of {self.acquisition.elements} elements>"

    def _read(self) -> None:
        sequences = _groups(self._file, "SEQUENCE")
        if len(sequences) != 1:
            raise ValueError(f"{len(sequences)} sequences")
        sequence = sequences[0]
        group = self._file[_dataset(sequence, "PROBE_LIST")[0]]
        probe = _probe(group)
        count = len(probe.x)
        transmit = _laws(self._file, _dataset(sequence, "TRANSMIT_LAW"), probe)
        receive = _receivers(_laws(self._file, _dataset(sequence, "RECEIVE_LAW")))
        self.samples = _dataset(sequence, "MFMC_DATA")
        kind = self.samples.dtype
        if kind not in (np.dtype("int16"), np.dtype("float32")):
            raise ValueError(f"samples of type {kind}")
        self._places = None
        if _PLACED_BY_ENCODER in sequence.attrs:
            self._places = tuple(_dataset(sequence, name) for name in _PLACEMENTS)
            positions, at_each, self._order = [], len(transmit), None
        else:
            positions, at_each, self._order = _positions(sequence, len(transmit))
        if self._order is not None:
            transmit, receive = ([pairs[k] for k in self._order] for pairs in (transmit, receive))
        if any((transmit[k], receive[k]) != (transmit[k % at_each], receive[k % at_each]) for k in range(len(transmit))):
            raise ValueError("other events at one position of the probe than at another")
        matrix, events = _order(transmit[:at_each], receive[:at_each], count)
        if self.samples.ndim != 3 or self.samples.shape[1] != len(transmit):
            raise ValueError(f"samples of shape {self.samples.shape}")
        self._counts = _dataset(sequence, _ENCODER_COUNT) if sequence.id.links.exists(_ENCODER_COUNT.encode()) else None
        if self._counts is not None and (self._counts.ndim != 2 or self._counts.shape[1] == 0 or self._counts.dtype.kind != "i"):
            raise ValueError(f"{_ENCODER_COUNT} of shape {self._counts.shape} and type {self._counts.dtype}")
        self.acquisition = Acquisition(
            probe, self.samples.shape[2], 1.0 / _number(sequence, "TIME_STEP"), start_time=_number(sequence, "START_TIME"), matrix=matrix, events=events, positions=positions,
            encoding="int16" if kind == np.dtype("int16") else "float32", sample_scale=_number(sequence, _SAMPLE_SCALE, 1.0),
            pulse_repetition=_number(sequence, "ECHOFORM_PULSE_REPETITION", 0.0))
        shear, longitudinal = _flat(sequence.attrs["SPECIMEN_VELOCITY"])
        self.velocities = float(longitudinal), float(shear)
        self.recorded = _text(sequence.attrs.get("DATE_AND_TIME", ""))


def _positions(sequence: h5py.Group, a_scans: int) -> tuple[list[Pose], int, np.ndarray | None]:
    """Positions of the probe within a frame, none where it stands in the part's coordinates, how many A-scans are of each, and which A-scans are
    those of the first one, of the second and so on; None where they come in that order."""
    origins, *directions = (_dataset(sequence, name)[()].reshape(-1, 3) for name in _PLACEMENTS[1:])
    if len(origins) == 1:
        if origins.any():
            raise ValueError("a probe that is placed elsewhere")
        return [], a_scans, None
    index = _dataset(sequence, "PROBE_PLACEMENT_INDEX")
    if index.ndim != 2 or index.shape[1] != a_scans or index.shape[0] == 0:
        raise ValueError(f"PROBE_PLACEMENT_INDEX of shape {index.shape}")
    first = index[0].astype(np.int64) - 1
    _, began = np.unique(first, return_index=True)
    placements = first[np.sort(began)]  # in the order in which the probe takes them
    if len(placements) < 2 or any((row != index[0]).any() for row in index):
        raise ValueError("a probe that moves from frame to frame")
    if not 0 <= placements.min() <= placements.max() < len(origins):
        raise ValueError("PROBE_PLACEMENT_INDEX of placements that are not there")
    at_each, rest = divmod(a_scans, len(placements))
    turns = [np.flatnonzero(first == placement) for placement in placements]
    if rest or any(len(turn) != at_each for turn in turns):
        raise ValueError("more A-scans at one position of the probe than at another")
    order = np.concatenate(turns)
    return [Pose(origins[k], directions[0][k], directions[1][k]) for k in placements], at_each, None if (np.diff(order) == 1).all() else order


def _order(transmit: list[_Form], receive: list[int], count: int) -> tuple[str, tuple[_Form | Element, ...]]:
    """Which matrix the A-scans of `count` elements are, and the events where they are none. ValueError where single elements fire
    again and again."""
    pairs = list(zip(transmit, receive))
    for matrix, (i, j) in (("full", np.indices((count, count)).reshape(2, -1)), ("half", np.triu_indices(count))):
        if pairs == list(zip(i.tolist(), j.tolist())):
            return matrix, ()
    # A-scans of one law, until a receiver comes again, are one event.
    events: list[tuple[_Form, dict[int, None]]] = []
    for law, receiver in pairs:
        if not events or events[-1][0] != law or receiver in events[-1][1]:
            events.append((law, {}))
        events[-1][1][receiver] = None
    alone = [law for law, _ in events if isinstance(law, int)]
    if len(set(alone)) < len(alone):
        raise ValueError("neither a full nor a half matrix nor transmit events in the usual order")
    return "full", tuple(_event(law, [] if list(receivers) == list(range(count)) else list(receivers)) for law, receivers in events)


def _event(law: _Form, receivers: list[int]) -> _Form | Element:
    if not isinstance(law, int):
        return dataclasses.replace(law, receivers=tuple(receivers))
    return Element(law, tuple(receivers)) if receivers else law


def _dataset(group: h5py.Group, name: str) -> h5py.Dataset | PackedDataset:
    """What lies in this file, by hard and soft links: h5py itself would open any other file that a link or a dataset names."""
    where = f"{group.name}/{name}"
    found = _inside(group, name.encode(), where, [16])  # as many soft links as HDF5 follows
    if not isinstance(found, h5py.Dataset):
        raise ValueError(f"{where} is no dataset")
    if found.external:
        raise ValueError(f"{where} is external storage in the file {os.fsdecode(found.external[0][0])!r}")
    if found.is_virtual:
        raise ValueError(f"{where} is a virtual dataset of the file {found.virtual_sources()[0].file_name!r}")
    return checked(found)


def _inside(group: h5py.Group, path: bytes, where: str, soft_links: list[int]) -> h5py.Group | h5py.Dataset:
    """The object at the end of a path. Each link is looked at before it is taken, not even asked whether it leads anywhere."""
    if path.startswith(b"/"):
        group = group.file["/"]
    for name in path.split(b"/"):
        if name in (b"", b"."):
            continue
        if not isinstance(group, h5py.Group) or not group.id.links.exists(name):
            raise ValueError(f"{where} is not there")
        kind = group.id.links.get_info(name).type
        if kind == h5py.h5l.TYPE_HARD:
            group = group[name]
        elif kind == h5py.h5l.TYPE_SOFT:
            if soft_links[0] == 0:
                raise ValueError(f"{where} is more than 16 soft links away")
            soft_links[0] -= 1
            group = _inside(group, group.id.links.get_val(name), where, soft_links)
        elif kind == h5py.h5l.TYPE_EXTERNAL:
            file, path = (os.fsdecode(part) for part in group.id.links.get_val(name))
            raise ValueError(f"{where} is an external link to {path} in the file {file!r}")
        else:
            raise ValueError(f"{where} is a link of HDF5's class {kind}")
    return group


def _flat(values) -> np.ndarray:
    return np.asarray(values, np.float64).ravel()


def _text(value) -> str:
    return value.decode("ascii", "replace") if isinstance(value, bytes) else str(value)


def _number(group: h5py.Group, name: str, otherwise: float | None = None) -> float:
    if name not in group.attrs and otherwise is not None:
        return otherwise
    return float(_flat(group.attrs[name])[0])


def _groups(file: h5py.File, kind: str) -> list[h5py.Group]:
    """All groups of a TYPE: names and places are free."""
    found = []

    def visit(_, item):
        if isinstance(item, h5py.Group) and _text(item.attrs.get("TYPE", "")) == kind:
            found.append(item)

    file.visititems(visit)
    return found


def _laws(file: h5py.File, references: h5py.Dataset, probe: Probe | None = None) -> list[_Form]:
    """Of each A-scan: the index, from 0, of the element that the law names alone, or what several do; with a `probe`, of which waves."""
    known: dict[str, _Form] = {}
    laws = []
    for reference in references[()]:
        group = file[reference]
        if group.name not in known:
            known[group.name] = _law(group, probe)
        laws.append(known[group.name])
    return laws


def _law(group: h5py.Group, probe: Probe | None) -> _Form:
    def stated(name: str, otherwise: float) -> np.ndarray:
        values = _flat(_dataset(group, name)[()]) if group.id.links.exists(name.encode()) else np.full(len(elements), otherwise)
        if len(values) != len(elements):
            raise ValueError(f"{group.name}: {len(values)} of {name} for {len(elements)} elements")
        return values

    elements = np.ravel(_dataset(group, "ELEMENT")[()]).astype(int) - 1
    delays, weights = stated("DELAY", 0.0), stated("WEIGHTING", 1.0)
    at_work = weights != 0.0
    elements, delays, weights = elements[at_work], delays[at_work], weights[at_work]
    within = probe is not None and ((elements >= 0) & (elements < len(probe.x))).all()
    form = _stated_form(group, elements, weights, len(probe.x)) if within else None
    if form is not None:
        # What the law itself says counts where it is told to be something else.
        fire, at, with_weight = form.firings(probe)
        if np.array_equal(fire, elements) and np.allclose(at, delays, rtol=0, atol=_SAME_DELAY) and np.allclose(with_weight, weights, rtol=0, atol=1e-6):
            return form
    if len(elements) == 1 and delays[0] == 0.0 and weights[0] == 1.0:
        return int(elements[0])
    return Law(tuple(elements.tolist()), tuple(delays.tolist()) if delays.any() else (), tuple(weights.tolist()) if (weights != 1.0).any() else ())


def _stated_form(group: h5py.Group, elements: np.ndarray, weights: np.ndarray, count: int) -> PlaneWave | PointWave | Code | None:
    """What a law of several elements is meant to make, in attributes beside the format's own."""
    def numbers(name: str, size: int) -> list[float] | None:
        values = _flat(group.attrs[name]) if name in group.attrs else ()
        return values.tolist() if len(values) == size and np.isfinite(values).all() else None

    fire = () if np.array_equal(elements, np.arange(count)) else tuple(elements.tolist())
    if plane := numbers("ECHOFORM_PLANE_WAVE", 3) or numbers("ECHOFORM_PLANE_WAVE", 4):
        x, y, delay, *z = plane
        return PlaneWave(x, y, delay, fire, slowness_z=z[0] if z else 0.0)
    point = numbers("ECHOFORM_POINT_WAVE", 5)
    if point and point[3] > 0:
        x, y, z, velocity, delay = point
        return PointWave(x, z, velocity, y, delay, fire)
    if numbers("ECHOFORM_CODE", 1) and set(weights.tolist()) <= {-1.0, 1.0}:
        signs = np.zeros(count, int)
        signs[elements] = weights
        return Code(tuple(signs.tolist()))
    return None


def _receivers(laws: list[_Form]) -> list[int]:
    for law in laws:
        if not isinstance(law, int):
            raise ValueError(f"receive laws of {len(law.elements)} elements, or with delays or weights")
    return laws


def _probe(group: h5py.Group) -> Probe:
    centres, major, minor = (np.asarray(_dataset(group, name), np.float64)
                             for name in ("ELEMENT_POSITION", "ELEMENT_MAJOR", "ELEMENT_MINOR"))
    normals = np.cross(major, minor)
    # Directions of zero are those of a level probe; all turned alike, as some writers have them, they emit into the part.
    sizes = np.linalg.norm(normals, axis=1)
    stated = sizes > 0
    normals[stated] /= sizes[stated, None]
    normals[~stated] = (0.0, 0.0, 1.0)
    if stated.any() and (normals[stated, 2] < 0).all():
        normals[stated] *= -1.0
    # The half axis nearer to x is half the width.
    wide = abs(major[0, 0]) * np.linalg.norm(minor[0]) >= abs(minor[0, 0]) * np.linalg.norm(major[0])
    width, length = (2 * float(np.linalg.norm(axis[0])) for axis in ((major, minor) if wide else (minor, major)))
    dead = np.ravel(_dataset(group, "DEAD_ELEMENT")[()]) if group.id.links.exists(b"DEAD_ELEMENT") else ()
    return Probe(x=centres[:, 0], y=centres[:, 1], z=centres[:, 2], normals=normals,
                 element_width=width if width > 1.001 * _UNKNOWN_SIZE else 0.0,
                 element_length=length if length > 1.001 * _UNKNOWN_SIZE else 0.0,
                 centre_frequency=_number(group, "CENTRE_FREQUENCY", 0.0), bandwidth=_number(group, "BANDWIDTH", 0.0),
                 dead_elements=np.flatnonzero(dead).tolist())
