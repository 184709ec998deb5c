"""Readers of .nrrd and .vti that share nothing with the writers, for the tests: by the formats' definitions, with VTK, with teem.

    read_volume.py READER MANIFEST

The manifest is JSON: [{"file", "array", "shape", "origin", "spacing", "places", "units", "texts": {name: text}}]; `array` is an .npy file
of the same values in C order, of `shape` [z, y, x], origin and spacing are along x, y and z, and `places` says whether the axes are places
in the part, which .nrrd has in the coordinates of medical viewers. Leaves with code 1 where a file says something else.
"""
import json
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import numpy as np


# Right, anterior and superior are -x, y and -z.
RAS = np.array([-1.0, 1.0, -1.0])


class Volume:
    """What a reader found: values [z, y, x], millimetres of the first voxel, and of the steps along x, y and z, a row each; space, units and
    texts are None where the reader does not tell."""

    def __init__(self, values, origin, steps, space=None, units=None, texts=None):
        self.values, self.origin, self.steps, self.space, self.units, self.texts = values, np.array(origin), np.array(steps), space, units, texts


def _nrrd_header(data: bytes):
    head, _, rest = data.partition(b"\n\n")
    lines = head.decode().split("\n")
    assert lines[0] == "NRRD0004", lines[0]
    fields, keys = {}, {}
    for line in lines[1:]:
        if line.startswith("#"):
            continue
        if ":=" in line and (": " not in line or line.index(":=") < line.index(": ")):
            key, value = line.split(":=", 1)
            keys[key] = re.sub(r"\\(n|\\)", lambda match: {"n": "\n", "\\": "\\"}[match[1]], value)
        else:
            key, value = line.split(": ", 1)
            assert key not in fields, f"{key} twice"
            fields[key] = value
    return fields, keys, rest


def _vectors(text: str):
    return [tuple(map(float, vector.split(","))) for vector in re.findall(r"\(([^)]*)\)", text)]


def read_nrrd(path: Path) -> Volume:
    fields, keys, data = _nrrd_header(path.read_bytes())
    assert (fields["type"], fields["endian"], fields["encoding"]) == ("float", "little", "raw"), fields
    sizes = [int(size) for size in fields["sizes"].split()]
    kinds = fields["kinds"].split()
    assert len(sizes) == len(kinds) == int(fields["dimension"]), fields
    directions = _vectors(fields["space directions"])
    assert len(directions) == 3, directions
    assert fields.get("space") == "right-anterior-superior" or fields["space dimension"] == "3", fields
    if kinds[0] == "complex":
        assert sizes[0] == 2 and fields["space directions"].startswith("none "), fields
        values = np.frombuffer(data, "<c8").reshape(sizes[:0:-1])
    else:
        values = np.frombuffer(data, "<f4").reshape(sizes[::-1])
    assert kinds[-3:] == ["domain"] * 3, kinds
    units = re.findall(r'"([^"]*)"', fields["space units"])
    return Volume(values, _vectors(fields["space origin"])[0], directions, fields.get("space", ""), units, keys)


def read_vti(path: Path) -> Volume:
    head, mark, rest = path.read_bytes().partition(b'<AppendedData encoding="raw">\n   _')
    assert mark, "no appended data"
    size, = struct.unpack("<Q", rest[:8])
    data, end = rest[8:8 + size], rest[8 + size:]
    assert end.split() == [b"</AppendedData>", b"</VTKFile>"], end[:80]
    root = ElementTree.fromstring(head.decode() + "</VTKFile>")
    assert (root.get("type"), root.get("byte_order"), root.get("header_type")) == ("ImageData", "LittleEndian", "UInt64")
    image = root.find("ImageData")
    extent = [int(number) for number in image.get("WholeExtent").split()]
    piece = image.find("Piece")
    assert piece.get("Extent") == image.get("WholeExtent") and extent[::2] == [0, 0, 0]
    array, = piece.find("PointData")
    assert array.get("Name") == piece.find("PointData").get("Scalars") and array.get("type") == "Float32"
    components = int(array.get("NumberOfComponents", 1))
    values = np.frombuffer(data, "<f4" if components == 1 else "<c8").reshape([last + 1 for last in extent[:0:-2]])
    texts = {text.get("Name"): bytes(int(code) & 255 for code in text.text.split()).decode().removesuffix("\0")
             for text in image.find("FieldData")} | {"field": array.get("Name")}
    return Volume(values, [float(number) for number in image.get("Origin").split()],
                  np.diag([float(number) for number in image.get("Spacing").split()]), texts=texts)


def read_with_vtk(path: Path) -> Volume:
    from vtkmodules.util.numpy_support import vtk_to_numpy
    from vtkmodules.vtkIOImage import vtkNrrdReader
    from vtkmodules.vtkIOXML import vtkXMLImageDataReader

    nrrd = path.suffix == ".nrrd"
    reader = vtkNrrdReader() if nrrd else vtkXMLImageDataReader()
    assert reader.CanReadFile(str(path)), "VTK does not know the file"
    reader.SetFileName(str(path))
    reader.Update()
    image = reader.GetOutput()
    array = image.GetPointData().GetScalars()
    values = vtk_to_numpy(array)
    if array.GetNumberOfComponents() == 2:
        values = values.copy().view(np.complex64)
    texts = None
    if not nrrd:
        names = [image.GetFieldData().GetAbstractArray(k).GetName() for k in range(image.GetFieldData().GetNumberOfArrays())]
        texts = {name: image.GetFieldData().GetAbstractArray(name).GetValue(0) for name in names} | {"field": array.GetName()}
        matrix = image.GetDirectionMatrix()
        assert all(matrix.GetElement(i, j) == (i == j) for i in range(3) for j in range(3))
    # Of a NRRD VTK knows the place and the distances of voxels, not their directions.
    return Volume(values.reshape(image.GetDimensions()[::-1]), image.GetOrigin(), None if nrrd else np.diag(image.GetSpacing()), texts=texts)


def teem() -> str | None:
    """The program `unu` of teem, as Debian calls it or as teem does."""
    return shutil.which("teem-unu") or shutil.which("unu")


def read_with_teem(path: Path) -> Volume:
    """teem reads the file and writes what it understood: numbers as text, so that no bytes of ours are passed on."""
    with tempfile.TemporaryDirectory() as folder:
        written = Path(folder) / "teem.nrrd"
        subprocess.run([teem(), "save", "-f", "nrrd", "-e", "ascii", "-i", path, "-o", written], check=True)
        fields, keys, data = _nrrd_header(written.read_bytes())
    sizes = [int(size) for size in fields["sizes"].split()]
    values = np.array(data.decode().split(), np.float32)
    values = values.view(np.complex64).reshape(sizes[:0:-1]) if len(sizes) == 4 else values.reshape(sizes[::-1])
    assert fields["kinds"].split() == ["complex"] * (len(sizes) - 3) + ["domain"] * 3, fields
    return Volume(values, _vectors(fields["space origin"])[0], _vectors(fields["space directions"]), fields.get("space", ""),
                  re.findall(r'"([^"]*)"', fields["space units"]), keys)


def check(reader: str, expected: dict) -> None:
    path = Path(expected["file"])
    read = {"plain": read_nrrd if path.suffix == ".nrrd" else read_vti, "vtk": read_with_vtk, "teem": read_with_teem}[reader]
    volume = read(path)
    values = np.load(expected["array"]).reshape(expected["shape"])
    assert volume.values.dtype == values.dtype and volume.values.shape == values.shape, (volume.values.dtype, volume.values.shape)
    if reader == "teem":
        # teem prints nine digits or fewer, of which float32 needs all.
        np.testing.assert_allclose(volume.values, values, rtol=6e-8)
    else:
        assert volume.values.tobytes() == values.tobytes(), "values differ"
    # Doubles, some of which were multiplied by 1000: a few units in the last place.
    turn = RAS if path.suffix == ".nrrd" and expected["places"] else np.ones(3)
    np.testing.assert_allclose(volume.origin, turn * expected["origin"], rtol=1e-14, atol=1e-14)
    if volume.space is not None:
        assert volume.space == ("right-anterior-superior" if expected["places"] else ""), volume.space
    if volume.steps.ndim == 2:
        np.testing.assert_allclose(volume.steps, np.diag(turn * expected["spacing"]), rtol=1e-14)
    if volume.units is not None:
        assert volume.units == expected["units"], volume.units
    for name, text in expected["texts"].items():
        assert volume.texts is None or volume.texts.get(name) == text, (name, volume.texts)


def main() -> None:
    reader, manifest = sys.argv[1:]
    for expected in json.loads(Path(manifest).read_text()):
        if reader == "vtk" and expected["file"].endswith(".nrrd") and expected["texts"]["field"] == "envelope":
            if expected["shape"][2] <= 9:
                continue  # VTK takes the first axis of such a NRRD for components, "a guess" as its source says
        try:
            check(reader, expected)
        except Exception as fault:
            sys.exit(f"{expected['file']}: {type(fault).__name__} {fault}")


if __name__ == "__main__":
    main()
