"""Recordings in MFMC 2.0, as `echoform record` writes them, as NumPy arrays. Needs h5py."""
from __future__ import annotations

import os
from collections.abc import Iterator

import h5py
import numpy as np

from .acquisition import Acquisition, Probe, full_matrix
from .errors import EchoformError

_SAMPLE_SCALE = "ECHOFORM_SAMPLE_SCALE"  # amplitude of one count, where it is not 1
_UNKNOWN_SIZE = 1e-9  # metres: an element's size that stands for "unknown"


class Recording:
    """A recording on disk: frames are read when they are asked for.

        with Recording("scan.mfmc") as recording:
            frame = recording[0]                        # [tx, rx, sample], or [pair, sample] of half matrices
            everything = recording.full()               # [frame, tx, rx, sample]
            with FrameSender(recording.acquisition) as sender:
                for frame in recording:
                    sender.send(frame)

    acquisition    what a FrameSender needs to send the frames again
    samples        the dataset itself, [frame, A-scan, sample], int16 or float32 as in the file; times sample_scale is amplitude
    velocities     (longitudinal, shear) of the part, m/s; 0 unknown
    recorded       "yyyy-mm-dd HH:MM:SS" in UTC of the first frame, or ""
    A file that still grows can be read: refresh() takes in what has come since.
    EchoformError for a file of another structure: probes that move, focused transmits, several sequences. `echoform inspect` and
    `echoform image` know those. No other file is ever opened: a recording whose data lie in one (external links, external storage,
    virtual datasets) is an EchoformError that names the dataset.
    """

    def __init__(self, path: str | os.PathLike):
        self.path = os.fspath(path)
        try:
            self._file = _open(self.path)
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
        return self.samples[index].reshape(self.acquisition.frame_shape)

    def __iter__(self) -> Iterator[np.ndarray]:
        return (self[frame] for frame in range(len(self)))

    def full(self, first: int = 0, last: int | None = None) -> np.ndarray:
        """Frames first to last (excluded) as [frame, tx, rx, sample]; of half matrices by reciprocity, s_ji = s_ij. Of sparse
        firings [frame, event, rx, sample]: nothing is made up."""
        frames = self.samples[first:last]
        if self.matrix == "full":
            return frames.reshape(len(frames), *self.acquisition.frame_shape)
        n, samples = self.acquisition.elements, self.acquisition.samples
        return np.array([full_matrix(frame) for frame in frames], frames.dtype).reshape(len(frames), n, n, samples)

    def refresh(self) -> int:
        """The number of frames now, of a file that another program writes."""
        self.samples.refresh()
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
        transmit, receive = (_elements_of(self._file, _dataset(sequence, name)) for name in ("TRANSMIT_LAW", "RECEIVE_LAW"))
        group = self._file[_dataset(sequence, "PROBE_LIST")[0]]
        probe = _probe(group)
        count = len(probe.x)
        self.samples = _dataset(sequence, "MFMC_DATA")
        kind = self.samples.dtype
        if kind not in (np.dtype("int16"), np.dtype("float32")):
            raise ValueError(f"samples of type {kind}")
        matrix, events = _order(transmit, receive, count)
        if self.samples.ndim != 3 or self.samples.shape[1] != len(transmit):
            raise ValueError(f"samples of shape {self.samples.shape}")
        position = _flat(_dataset(sequence, "PROBE_POSITION"))
        if position.size != 3 or position.any():
            raise ValueError("a probe that is placed elsewhere or moves")
        self.acquisition = Acquisition(
            probe, self.samples.shape[2], 1.0 / _number(sequence, "TIME_STEP"), start_time=_number(sequence, "START_TIME"), matrix=matrix, events=events,
            encoding="int16" if kind == np.dtype("int16") else "float32", sample_scale=_number(sequence, _SAMPLE_SCALE, 1.0))
        shear, longitudinal = _flat(sequence.attrs["SPECIMEN_VELOCITY"])
        self.velocities = float(longitudinal), float(shear)
        self.recorded = _text(sequence.attrs.get("DATE_AND_TIME", ""))


def _order(transmit: np.ndarray, receive: np.ndarray, count: int) -> tuple[str, tuple[int, ...]]:
    """Which matrix the pairs of `count` elements are, and the elements that fire where not all do. ValueError if none."""
    for matrix, (i, j) in (("full", np.indices((count, count)).reshape(2, -1)), ("half", np.triu_indices(count))):
        if np.array_equal(transmit, i) and np.array_equal(receive, j):
            return matrix, ()
    events = transmit[::count]
    if (np.array_equal(transmit, np.repeat(events, count)) and np.array_equal(receive, np.tile(np.arange(count), len(events)))
            and 0 < len(set(events.tolist())) == len(events) <= count):
        return "full", tuple(events.tolist())
    raise ValueError("neither a full nor a half matrix nor sparse firings in the usual order")


def _open(path: str) -> h5py.File:
    """For reading; also while another program writes it."""
    try:
        return h5py.File(path, "r", libver="latest", swmr=True)
    except (OSError, ValueError):
        return h5py.File(path, "r")


def _dataset(group: h5py.Group, name: str) -> h5py.Dataset:
    """What lies in this file, by hard and soft links: h5py itself would open any other file that a link or a dataset names."""
    where = f"{group.name}/{name}"
    found = _inside(group, name.encode(), where, [16])  # as many soft links as HDF5 follows
    if not isinstance(found, h5py.Dataset):
        raise ValueError(f"{where} is no dataset")
    if found.external:
        raise ValueError(f"{where} is external storage in the file {os.fsdecode(found.external[0][0])!r}")
    if found.is_virtual:
        raise ValueError(f"{where} is a virtual dataset of the file {found.virtual_sources()[0].file_name!r}")
    return found


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


def _elements_of(file: h5py.File, laws: h5py.Dataset) -> np.ndarray:
    """Index, from 0, of the one element of each law."""
    known = {}
    elements = []
    for reference in laws[()]:
        name = file[reference].name
        if name not in known:
            law = np.ravel(_dataset(file[reference], "ELEMENT")[()])
            if len(law) != 1:
                raise ValueError(f"{name}: {len(law)} elements fire together")
            known[name] = int(law[0]) - 1
        elements.append(known[name])
    return np.array(elements)


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
