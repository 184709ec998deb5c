"""Datasets of HDF5 files, read so that what a file says of their sizes is checked: HDF5 1.10 does not compare what a packed chunk
comes to with the size of a chunk, nor the size of a fill value with that of a number, and hands on the memory behind them.
"""
from __future__ import annotations

import ctypes
import itertools
import os
import zlib

import h5py
import numpy as np
from h5py._objects import phil

from .errors import EchoformError

_LONGEST_NUMBER = 16  # bytes
_MAX_ENCODED = 1 << 20  # bytes of a property list
# HDF5's own, and those registered with The HDF Group that are often met: files need not state the name.
_FILTER_NAMES = {4: "szip", 5: "nbit", 6: "scaleoffset", 305: "LZO", 307: "bzip2", 32000: "LZF", 32001: "Blosc", 32004: "LZ4", 32008: "bitshuffle",
                 32013: "ZFP", 32015: "Zstandard", 32026: "Blosc2"}
_DONT_FILTER_PARTIAL_CHUNKS = 2  # H5D_CHUNK_DONT_FILTER_PARTIAL_CHUNKS


def open_file(path: str) -> h5py.File:
    """For reading; also while another program writes it. HDF5 keeps no chunks: those without filters it reads by their places
    alone then."""
    try:
        return h5py.File(path, "r", libver="latest", swmr=True, rdcc_nbytes=0)
    except (OSError, ValueError):
        return h5py.File(path, "r", rdcc_nbytes=0)


def checked(dataset: h5py.Dataset) -> h5py.Dataset | PackedDataset:
    """The dataset, or what reads its chunks. ValueError for storage that is smaller than the dataset, for numbers whose parts lie
    outside of them, and for filters other than deflate, shuffle and Fletcher32."""
    _require_sound(dataset)
    creation = dataset.id.get_create_plist()
    fill_problem = _fill_problem(dataset, creation)
    if creation.get_layout() != h5py.h5d.CHUNKED:
        stored = dataset.id.get_storage_size()
        if 0 < stored < dataset.size * dataset.id.get_type().get_size():
            raise ValueError(f"{dataset.name}: {stored} bytes stored for {dataset.size} values")
        if stored == 0 and dataset.size > 0 and fill_problem:
            raise ValueError(f"{dataset.name}: no data, and {fill_problem}")
        return dataset
    # HDF5 itself fills what is missing: it may where its fill value is sound.
    return PackedDataset(dataset, fill_problem) if creation.get_nfilters() or fill_problem else dataset


class PackedDataset:
    """What is used of h5py's datasets, of one whose chunks are read here: they go through filters, or HDF5 cannot fill missing ones."""

    def __init__(self, dataset: h5py.Dataset, fill_problem: str = ""):
        self._dataset = dataset
        self._fill_problem = fill_problem
        creation = dataset.id.get_create_plist()
        self._filters: list[tuple[int, int]] = []  # and of shuffling the bytes of a number
        for k in range(creation.get_nfilters()):
            code, _, parameters, name = creation.get_filter(k)
            if code not in (h5py.h5z.FILTER_DEFLATE, h5py.h5z.FILTER_SHUFFLE, h5py.h5z.FILTER_FLETCHER32):
                known = _FILTER_NAMES.get(code) or name.decode("ascii", "replace") or "no name stated"
                raise ValueError(f"{dataset.name}: filter {code} ({known}); deflate, shuffle and Fletcher32 are read (`h5repack -f NONE FILE NEW` "
                                 "makes a copy without filters, with the filter's plug-in where HDF5 has none of its own)")
            self._filters.append((code, parameters[0] if parameters else 0))
        # Whether chunks that the dataset's end cuts go through filters; None: it cannot be asked.
        self._cut_packed = _cut_chunks_are_packed(creation) if self._filters else True
        self._chunk_bytes = int(np.prod(dataset.chunks)) * dataset.id.get_type().get_size()
        user_defined = creation.fill_value_defined() == h5py.h5d.FILL_VALUE_USER_DEFINED
        self._fill_value = dataset.fillvalue if user_defined and not fill_problem and dataset.dtype.kind in "iuf" else 0
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
            part = (slice(low[0] - begin, high[0] - begin), *(slice(a, b) for a, b in zip(low[1:], high[1:])))
            values[part] = self._fill_value if chunk is None else chunk[inside]
        return values if numbers else self._dataset[begin:end]

    def _chunk(self, place: tuple[int, ...]) -> np.ndarray | None:
        """None where it is missing."""
        if self._kept is not None and self._kept[0] == place:
            return self._kept[1]
        dataset = self._dataset
        chunk = dataset.id.get_chunk_info_by_coord(place)
        if chunk.byte_offset is None:
            if self._fill_problem:
                self._refuse(place, f"no data, and {self._fill_problem}")
            return None
        # The bytes promised may be more than the file has: h5py takes memory for them first.
        file_bytes = os.fstat(dataset.file.id.get_vfd_handle()).st_size
        if chunk.size > file_bytes:
            self._refuse(place, f"{chunk.size} packed bytes in a file of {file_bytes} bytes")
        skipped, packed = dataset.id.read_direct_chunk(place)
        if self._filters and any(at + step > size for at, step, size in zip(place, dataset.chunks, dataset.shape)):
            if self._cut_packed is None and chunk.size == self._chunk_bytes:  # of another size it is packed
                self._refuse(place, "a chunk at the end of the data, of which this h5py does not tell whether it is packed")
            if self._cut_packed is False:
                skipped = 0xFFFFFFFF
        data = self._unpacked(bytes(packed), skipped, place)
        values = np.frombuffer(data, dataset.dtype if dataset.dtype.kind in "iuf" else np.uint8)
        self._kept = place, values.reshape(dataset.chunks) if dataset.dtype.kind in "iuf" else values
        return self._kept[1]

    def _refuse(self, place: tuple[int, ...], found: str):
        raise EchoformError(f"{self._dataset.file.filename}: {self._dataset.name}, chunk at {', '.join(map(str, place))}: found {found}; expected chunks of {self._chunk_bytes} bytes")

    def _unpacked(self, data: bytes, skipped: int, place: tuple[int, ...]) -> bytes:
        longest = 2 * self._chunk_bytes + 1024  # between filters
        for k in reversed(range(len(self._filters))):
            code, number_bytes = self._filters[k]
            if skipped >> k & 1:
                continue
            if code == h5py.h5z.FILTER_FLETCHER32:
                if len(data) < 4 or int.from_bytes(data[-4:], "little") not in _checksums(data[:-4]):
                    self._refuse(place, "a wrong checksum")
                data = data[:-4]
            elif code == h5py.h5z.FILTER_DEFLATE:
                inflater = zlib.decompressobj()
                try:
                    data = inflater.decompress(data, longest)
                except zlib.error as error:
                    self._refuse(place, f"damaged deflated data ({error})")
                if not inflater.eof:
                    self._refuse(place, "deflated data without their end")
            elif number_bytes > 1 and len(data) // number_bytes > 1:
                whole = len(data) // number_bytes * number_bytes
                data = np.frombuffer(data[:whole], np.uint8).reshape(number_bytes, -1).T.tobytes() + data[whole:]
        if len(data) != self._chunk_bytes:
            self._refuse(place, f"{len(data)} bytes")
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


def _fill_problem(dataset: h5py.Dataset, creation: h5py.h5p.PropDCID) -> str:
    """What is wrong with the fill value; an empty text where HDF5 may use it: it copies as many bytes as a number has."""
    if creation.fill_value_defined() != h5py.h5d.FILL_VALUE_USER_DEFINED:
        return ""
    expected, stated = dataset.id.get_type().get_size(), _stated_fill_bytes(creation)
    if stated is None:
        return "a fill value whose size this h5py does not tell"
    return "" if stated == expected else f"a fill value of {stated} bytes for numbers of {expected}"


def _stated_fill_bytes(creation: h5py.h5p.PropDCID) -> int | None:
    """How many bytes the file has for a fill value; None where HDF5 does not say. In what H5Pencode writes, the name "fill_value"
    is followed by the times of allocation and of filling, 1 byte each, and the size, 8 bytes, low one first."""
    size = ctypes.c_size_t(0)
    with phil:
        library = _hdf5()
        since_1_12 = getattr(library, "H5Pencode2", None)
        encode = since_1_12 or getattr(library, "H5Pencode", None)
        access = (ctypes.c_int64(0),) if since_1_12 else ()  # H5P_DEFAULT
        if encode is None or encode(ctypes.c_int64(creation.id), None, ctypes.byref(size), *access) < 0 or size.value > _MAX_ENCODED:
            return None
        encoded = ctypes.create_string_buffer(size.value)
        if encode(ctypes.c_int64(creation.id), encoded, ctypes.byref(size), *access) < 0:
            return None
    # The file names filters: a second place that looks like the property's name leaves open which of them is it.
    before, *after = encoded.raw.split(b"fill_value\0")
    return int.from_bytes(after[0][2:10], "little") if len(after) == 1 and len(after[0]) >= 10 else None


def _cut_chunks_are_packed(creation: h5py.h5p.PropDCID) -> bool | None:
    """Of chunks that the dataset's end cuts; None where it cannot be asked."""
    options = ctypes.c_uint(0)
    with phil:
        ask = getattr(_hdf5(), "H5Pget_chunk_opts", None)
        if ask is None or ask(ctypes.c_int64(creation.id), ctypes.byref(options)) < 0:
            return None
    return options.value & _DONT_FILTER_PARTIAL_CHUNKS == 0


def _hdf5() -> ctypes.CDLL | None:
    """The HDF5 library that h5py uses, for what h5py does not hand on: found among what one of its modules is linked to."""
    try:
        return ctypes.PyDLL(h5py.h5p.__file__)
    except OSError:
        return None


def _checksums(data: bytes) -> tuple[int, int]:
    """Fletcher's, as HDF5 writes it, and as it once did, with the bytes of its halves exchanged."""
    words = np.frombuffer(data + b"\0" * (len(data) % 2), ">u2").astype(np.uint64)
    times = np.arange(len(words), 0, -1, dtype=np.uint64) % np.uint64(65535)  # that a word comes into the second sum
    # Sums whose carries come in again at the other end are 0 only where all words are.
    first, second = ((int(total) - 1) % 65535 + 1 if words.any() else 0 for total in (words.sum(), (words * times).sum()))
    value = second << 16 | first
    return value, (value & 0x00FF00FF) << 8 | value >> 8 & 0x00FF00FF
