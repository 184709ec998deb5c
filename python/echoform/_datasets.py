"""Datasets of HDF5 files, read so that what a file says of their sizes is checked: HDF5 1.10 does not compare what a packed chunk
comes to with the size of a chunk, and hands on the memory behind it.
"""
from __future__ import annotations

import itertools
import zlib

import h5py
import numpy as np

from .errors import EchoformError

_LONGEST_NUMBER = 16  # bytes


def open_file(path: str) -> h5py.File:
    """For reading; also while another program writes it. HDF5 keeps no chunks: those without filters it reads by their places
    alone then."""
    try:
        return h5py.File(path, "r", libver="latest", swmr=True, rdcc_nbytes=0)
    except (OSError, ValueError):
        return h5py.File(path, "r", rdcc_nbytes=0)


def checked(dataset: h5py.Dataset) -> h5py.Dataset | PackedDataset:
    """The dataset, or what reads its packed chunks. ValueError for storage that is smaller than the dataset, for numbers whose
    parts lie outside of them, and for filters other than deflate, shuffle and Fletcher32."""
    _require_sound(dataset)
    creation = dataset.id.get_create_plist()
    if creation.get_layout() != h5py.h5d.CHUNKED:
        stored = dataset.id.get_storage_size()
        if 0 < stored < dataset.size * dataset.id.get_type().get_size():
            raise ValueError(f"{dataset.name}: {stored} bytes stored for {dataset.size} values")
        return dataset
    return PackedDataset(dataset) if creation.get_nfilters() else dataset


class PackedDataset:
    """What is used of h5py's datasets, of one whose chunks go through filters."""

    def __init__(self, dataset: h5py.Dataset):
        self._dataset = dataset
        creation = dataset.id.get_create_plist()
        self._filters: list[tuple[int, int]] = []  # and of shuffling the bytes of a number
        for k in range(creation.get_nfilters()):
            code, _, parameters, name = creation.get_filter(k)
            if code not in (h5py.h5z.FILTER_DEFLATE, h5py.h5z.FILTER_SHUFFLE, h5py.h5z.FILTER_FLETCHER32):
                raise ValueError(f"{dataset.name}: filter {code} ({name.decode('ascii', 'replace')}); deflate, shuffle and Fletcher32 are read "
                                 "(`h5repack -f NONE` unpacks a file)")
            self._filters.append((code, parameters[0] if parameters else 0))
        self._chunk_bytes = int(np.prod(dataset.chunks)) * dataset.id.get_type().get_size()
        self._kept: tuple[tuple[int, ...], np.ndarray] | None = None  # the latest chunk

    def __getattr__(self, name: str):
        return getattr(self._dataset, name)

    def __len__(self) -> int:
        return len(self._dataset)

    def __iter__(self):
        return (self[k] for k in range(len(self)))

    def __array__(self, dtype=None, copy=None) -> np.ndarray:
        values = self[()]
        return values if dtype is None else values.astype(dtype)

    def __getitem__(self, key):
        key = key if isinstance(key, tuple) else (key,)
        first, rest = (key[0], key[1:]) if key and key[0] is not Ellipsis else (slice(None), key)
        rows = len(self._dataset)
        if isinstance(first, slice):
            begin, end, step = first.indices(rows)
            values = self._rows(begin, max(begin, end))[:: step] if step > 0 else self._rows(0, rows)[first]
            return values[(slice(None), *rest)]
        index = int(first) + (rows if first < 0 else 0)
        if not 0 <= index < rows:
            raise IndexError(f"{self._dataset.name}: row {index} of {rows}")
        return self._rows(index, index + 1)[(0, *rest)]

    def _rows(self, begin: int, end: int) -> np.ndarray:
        """Values of rows along axis 0, of which chunks are unpacked here."""
        shape = (end - begin, *self._dataset.shape[1:])
        sizes = self._dataset.chunks
        # References are not numbers: once all chunks are known to be whole, HDF5 may read them.
        numbers = self._dataset.dtype.kind in "iuf"
        values = np.empty(shape, self._dataset.dtype if numbers else np.uint8)
        first = begin // sizes[0] * sizes[0]
        for place in itertools.product(range(first, end, sizes[0]), *(range(0, size, step) for size, step in zip(shape[1:], sizes[1:]))):
            chunk = self._chunk(place)
            if not numbers:
                continue
            low = [max(begin, place[0]), *place[1:]]
            high = [min(end, place[0] + sizes[0]), *(min(size, at + step) for size, at, step in zip(shape[1:], place[1:], sizes[1:]))]
            inside = tuple(slice(a - at, b - at) for a, b, at in zip(low, high, place))
            values[(slice(low[0] - begin, high[0] - begin), *(slice(a, b) for a, b in zip(low[1:], high[1:])))] = chunk[inside]
        return values if numbers else self._dataset[begin:end]

    def _chunk(self, place: tuple[int, ...]) -> np.ndarray:
        if self._kept is None or self._kept[0] != place:
            dataset = self._dataset
            if dataset.id.get_chunk_info_by_coord(place).byte_offset is None:
                values = np.full(dataset.chunks, dataset.fillvalue if dataset.dtype.kind in "iuf" else 0, dataset.dtype)
            else:
                skipped, packed = dataset.id.read_direct_chunk(place)
                data = self._unpacked(bytes(packed), skipped, place)
                values = np.frombuffer(data, dataset.dtype if dataset.dtype.kind in "iuf" else np.uint8)
                values = values.reshape(dataset.chunks) if dataset.dtype.kind in "iuf" else values
            self._kept = place, values
        return self._kept[1]

    def _unpacked(self, data: bytes, skipped: int, place: tuple[int, ...]) -> bytes:
        def refuse(found: str):
            raise EchoformError(f"{self._dataset.file.filename}: {self._dataset.name}, chunk at {', '.join(map(str, place))}: found {found}; expected chunks of {self._chunk_bytes} bytes")

        longest = 2 * self._chunk_bytes + 1024  # between filters
        for k in reversed(range(len(self._filters))):
            code, number_bytes = self._filters[k]
            if skipped >> k & 1:
                continue
            if code == h5py.h5z.FILTER_FLETCHER32:
                if len(data) < 4 or int.from_bytes(data[-4:], "little") not in _checksums(data[:-4]):
                    refuse("a wrong checksum")
                data = data[:-4]
            elif code == h5py.h5z.FILTER_DEFLATE:
                inflater = zlib.decompressobj()
                try:
                    data = inflater.decompress(data, longest)
                except zlib.error as error:
                    refuse(f"damaged deflated data ({error})")
                if not inflater.eof:
                    refuse("deflated data without their end")
            elif number_bytes > 1 and len(data) // number_bytes > 1:
                whole = len(data) // number_bytes * number_bytes
                data = np.frombuffer(data[:whole], np.uint8).reshape(number_bytes, -1).T.tobytes() + data[whole:]
        if len(data) != self._chunk_bytes:
            refuse(f"{len(data)} bytes")
        return data


def _require_sound(dataset: h5py.Dataset) -> None:
    """The bits of a number's parts lie within it: HDF5 takes them from wherever the file says that they are."""
    kind = dataset.id.get_type()
    if not isinstance(kind, (h5py.h5t.TypeIntegerID, h5py.h5t.TypeFloatID)):
        return
    bits = 8 * kind.get_size()
    parts = [(kind.get_offset(), kind.get_precision())]
    if isinstance(kind, h5py.h5t.TypeFloatID):
        sign, exponent, exponent_bits, mantissa, mantissa_bits = kind.get_fields()
        parts += [(sign, 1), (exponent, exponent_bits), (mantissa, mantissa_bits)]
    if bits > 8 * _LONGEST_NUMBER or any(at < 0 or size < 1 or at + size > bits for at, size in parts):
        raise ValueError(f"{dataset.name}: numbers whose bit fields exceed their size")


def _checksums(data: bytes) -> tuple[int, int]:
    """Fletcher's, as HDF5 writes it, and as it once did, with the bytes of its halves exchanged."""
    words = np.frombuffer(data + b"\0" * (len(data) % 2), ">u2").astype(np.uint64)
    times = np.arange(len(words), 0, -1, dtype=np.uint64) % np.uint64(65535)  # that a word comes into the second sum
    # Sums whose carries come in again at the other end are 0 only where all words are.
    first, second = ((int(total) - 1) % 65535 + 1 if words.any() else 0 for total in (words.sum(), (words * times).sum()))
    value = second << 16 | first
    return value, (value & 0x00FF00FF) << 8 | value >> 8 & 0x00FF00FF
