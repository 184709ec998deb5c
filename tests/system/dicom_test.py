"""Pictures as DICOM secondary captures, by a reader of plain bytes and, where they are there, by DCMTK's own tools: pixels are those of the
figure or of the image, and so are the places that they stand for."""
import re
import shutil
import struct
import subprocess
import sys
import unittest

try:
    import h5py  # noqa: F401
    import numpy
except ImportError as error:
    print(f"SKIPPED: {error}")
    sys.exit(77)

from dicom_elements import read
from program_case import ProgramCase
from uff_maker import PLANE, analytic, geometry, make

WRITTEN = sys.argv[2] == "ON"
SECONDARY_CAPTURE, EXPLICIT = "1.2.840.10008.5.1.4.1.1.7", "1.2.840.10008.1.2.1"
GRID = "[grid]\nx = [-0.003, 0.005]\nz = [0.008, 0.018]\npixels = [41, 101]\n"


def png(path):
    """Height, width and 3, and texts by name. That a figure is the same in both formats is asked in tests/formats/dicom_test.cpp."""
    data, at, texts = path.read_bytes(), 8, {}
    while at < len(data):
        size, name = struct.unpack_from(">I4s", data, at)
        if name == b"IHDR":
            width, height = struct.unpack_from(">II", data, at + 8)
        elif name == b"tEXt":
            key, _, value = data[at + 8:at + 8 + size].decode("latin-1").partition("\0")
            texts[key] = value
        at += 12 + size
    return (height, width, 3), texts


def pixels_of(data):
    rows, columns, samples = (data[0x28, element][1] for element in (0x10, 0x11, 0x02))
    size = rows * columns * samples
    return numpy.frombuffer(data[0x7FE0, 0x10][1][:size], numpy.uint8).reshape((rows, columns, samples) if samples > 1 else (rows, columns))


class Dicom(ProgramCase):
    def setUp(self):
        super().setUp()
        probe = geometry(16)
        waves = [(PLANE, (a, 0.0), 0.0) for a in (-0.1, 0.0, 0.1)]
        data = analytic(waves, numpy.array([1e-3, 0.0, 12e-3]), probe, 1e-6, 1000).real
        make(self.path / "in.uff", numpy.stack([data, 0.5 * data], axis=-1), waves, probe=probe)

    def image(self, more="", *arguments, code=0, grid=GRID):
        (self.path / "config.toml").write_text('[imaging]\nbackend = "cpu"\n[filter]\nkind = "none"\n[output]\ndynamic_range_db = 30\n' + grid + more)
        return self.run_program(code, "image", self.path / "in.uff", "--config", self.path / "config.toml", *arguments)

    @unittest.skipUnless(WRITTEN, "this build has no DCMTK")
    def test_the_figure_and_its_places(self):
        self.image("", "--output", self.path / "x.dcm", "--output", self.path / "x.png")
        meta, data = read(self.path / "x.dcm")
        self.assertEqual((meta[2, 2][1], meta[2, 0x10][1]), (SECONDARY_CAPTURE, EXPLICIT))
        self.assertEqual((data[8, 0x16], data[8, 0x18][1]), (("UI", SECONDARY_CAPTURE), meta[2, 3][1]))
        self.assertEqual((data[0x28, 4][1], data[0x28, 6][1], data[0x28, 0x100][1], data[0x28, 0x101][1], data[0x28, 0x102][1]), ("RGB", 0, 8, 8, 7))
        self.assertEqual((data[8, 0x60][1], data[8, 0x64][1], data[0x28, 0x301][1], data[0x20, 0x4000][1]), ("US", "WSD", "YES", "in.uff, frame 0, LL"))
        shape, texts = png(self.path / "x.png")
        self.assertEqual(pixels_of(data).shape, shape)
        left, top, width, height = map(int, texts["PlotArea"].split())
        x_first, x_last, z_first, z_last = map(float, texts["ExtentMillimetres"].split())
        down, across = map(float, data[0x28, 0x30][1].split("\\"))
        self.assertAlmostEqual(across, (x_last - x_first) / width, delta=1e-6)
        self.assertAlmostEqual(down, (z_last - z_first) / height, delta=1e-6)
        region, = data[0x18, 0x6011][1]
        self.assertEqual([region[0x18, element][1] for element in (0x6018, 0x601A, 0x601C, 0x601E)], [left, top, left + width - 1, top + height - 1])
        self.assertEqual((region[0x18, 0x6024][1], region[0x18, 0x6026][1]), (3, 3), "centimetres")
        self.assertEqual((region[0x18, 0x6020], region[0x18, 0x6022]), (("SL", 0), ("SL", 0)))
        numpy.testing.assert_allclose([region[0x18, element][1] for element in (0x6028, 0x602A, 0x602C, 0x602E)],
                                      [0.1 * (x_first + across / 2), 0.1 * (z_first + down / 2), 0.1 * across, 0.1 * down], rtol=1e-6)

    @unittest.skipUnless(WRITTEN, "this build has no DCMTK")
    def test_the_image_itself_in_grey(self):
        self.image('[dicom]\npicture = "image"\n', "--output", self.path / "x.dcm", "--output", self.path / "x.npy")
        _, data = read(self.path / "x.dcm")
        self.assertEqual((data[0x28, 4][1], data[0x28, 2][1], data[0x28, 0x301][1]), ("MONOCHROME2", 1, "NO"))
        self.assertNotIn((0x28, 6), data)
        self.assertEqual(data[0x28, 0x30][1], "0.1\\0.2")
        values = numpy.load(self.path / "x.npy").astype(float)
        levels = 255 * numpy.clip(1 + 20 * numpy.log10(values / values.max()) / 30, 0, 1)
        self.assertLessEqual(numpy.abs(pixels_of(data) - levels).max(), 0.501)
        region, = data[0x18, 0x6011][1]
        numpy.testing.assert_allclose([region[0x18, element][1] for element in (0x6028, 0x602A, 0x602C, 0x602E)], [-0.3, 0.8, 0.02, 0.01], rtol=1e-9)

    @unittest.skipUnless(WRITTEN, "this build has no DCMTK")
    def test_who_and_what_it_is_of(self):
        stated = dict(name=((0x10, 0x10), "Müller^Jürgen"), id=((0x10, 0x20), "W-17/3"), date=((0x10, 0x30), "20260314"), sex=((0x10, 0x40), "O"),
                      study_uid=((0x20, 0x0D), "1.2.3.40"), study_id=((0x20, 0x10), "S1"), study_description=((8, 0x1030), "weld"),
                      accession_number=((8, 0x50), "A9"), series_description=((8, 0x103E), "TFM"), institution=((8, 0x80), "Here"),
                      operator=((8, 0x1070), "Doe^Jo"), component_manufacturer=((0x14, 0x28), "Mill"), material_grade=((0x14, 0x42), "X5CrNi18-10"))
        self.image("[dicom]\n" + "".join(f'{key} = "{value}"\n' for key, (_, value) in stated.items()), "--output", self.path / "x.dcm")
        _, data = read(self.path / "x.dcm")
        self.assertEqual({key: data[tag][1] for key, (tag, _) in stated.items()}, {key: value for key, (_, value) in stated.items()})
        self.assertEqual(data[8, 5][1], "ISO_IR 192")
        # What nobody states: required ones are there and empty, the study is of this run, of which all files are one series.
        self.image("", "--from", "0", "--to", "1", "--output", self.path / "y.dcm")
        pair = [read(self.path / f"y.{frame}.LL.dcm" if (self.path / f"y.{frame}.LL.dcm").exists() else self.path / f"y.{frame}.dcm")[1] for frame in (0, 1)]
        for data in pair:
            for tag in ((8, 0x50), (8, 0x90), (0x10, 0x10), (0x10, 0x20), (0x10, 0x30), (0x10, 0x40), (0x20, 0x10), (0x20, 0x20)):
                self.assertEqual(data[tag][1], "")
            self.assertNotIn((8, 0x80), data)
            self.assertRegex(data[8, 0x23][1] + data[8, 0x33][1], r"^\d{14}$")
            for tag in ((8, 0x18), (0x20, 0x0D), (0x20, 0x0E)):
                self.assertRegex(data[tag][1], r"^2\.25\.[1-9]\d{1,38}$")
        self.assertEqual([data[0x20, 0x13][1] for data in pair], ["1", "2"])
        for tag, same in (((0x20, 0x0D), True), ((0x20, 0x0E), True), ((8, 0x18), False)):
            self.assertEqual(pair[0][tag] == pair[1][tag], same)

    @unittest.skipUnless(WRITTEN, "this build has no DCMTK")
    def test_volumes(self):
        grid = "[grid]\nx = [-0.002, 0.002]\ny = [-0.001, 0.001]\nz = [0.01, 0.013]\npixels = [9, 3, 13]\n"
        self.image("", "--output", self.path / "v.dcm", "--output", self.path / "v.png", grid=grid)
        _, data = read(self.path / "v.dcm")
        shape, texts = png(self.path / "v.png")
        self.assertEqual(pixels_of(data).shape, shape)
        regions = data[0x18, 0x6011][1]
        places = [list(map(int, value.split())) for key, value in texts.items() if key.startswith("PlotArea")]
        self.assertEqual([[region[0x18, 0x6018][1], region[0x18, 0x601A][1]] for region in regions], [place[:2] for place in places])
        self.assertEqual(len(regions), 6)
        line = self.image('[dicom]\npicture = "image"\n', "--output", self.path / "w.dcm", code=2, grid=grid)
        self.assertIn('w.dcm: found a volume; expected a plane, or its figure ([dicom] picture = "figure")', line)
        self.assertFalse((self.path / "w.dcm").exists())

    @unittest.skipUnless(WRITTEN and shutil.which("dcmdump") and shutil.which("dcm2pnm"), "DCMTK's tools are not here")
    def test_by_the_tools_of_dcmtk(self):
        self.image('[dicom]\nname = "Müller^Jürgen"\n', "--output", self.path / "x.dcm")
        shown = subprocess.run(["dcmdump", "+Un", self.path / "x.dcm"], capture_output=True, text=True, timeout=60)
        self.assertEqual((shown.returncode, shown.stderr), (0, ""))
        self.assertIn("=SecondaryCaptureImageStorage", shown.stdout)
        self.assertRegex(shown.stdout, r"\(0010,0010\) PN \[Müller\^Jürgen\]")
        self.assertRegex(shown.stdout, r"\(0018,6024\) US 3 ")
        self.assertRegex(shown.stdout, r"\(0028,0030\) DS \[[0-9.]+\\[0-9.]+\]")
        subprocess.run(["dcm2pnm", self.path / "x.dcm", self.path / "x.ppm"], check=True, capture_output=True, timeout=60)
        data = (self.path / "x.ppm").read_bytes()
        header = re.match(rb"P6\s+(?:#.*\s+)?(\d+)\s+(\d+)\s+255\s", data)
        drawn = pixels_of(read(self.path / "x.dcm")[1])
        self.assertEqual((int(header[2]), int(header[1])), drawn.shape[:2])
        numpy.testing.assert_array_equal(numpy.frombuffer(data[header.end():], numpy.uint8).reshape(drawn.shape), drawn)
        self.image('[dicom]\npicture = "image"\n', "--output", self.path / "g.dcm")
        subprocess.run(["dcm2pnm", "+Wn", self.path / "g.dcm", self.path / "g.pgm"], capture_output=True, check=True, timeout=60)

    def test_what_is_wrong_is_one_line(self):
        cases = (
            ('date = "2026-03-14"', 'date: found "2026-03-14"; expected a text, YYYYMMDD, or empty'),
            ('date = "20261301"', 'found "20261301"'),
            ('sex = "X"', 'sex: found "X"; expected a text, M, F, O, or empty'),
            ('id = "a\\\\b"', "expected a text, a line of up to 64 characters, without backslashes"),
            (f'study_id = "{"x" * 17}"', "expected a text, a line of up to 16 characters, without backslashes"),
            ('study_uid = "1.02"', 'study_uid: found "1.02"'),
            ('study_uid = "1..2"', 'study_uid: found "1..2"'),
            ('picture = "grey"', "expected one of figure, image"),
        )
        for row, line in cases:
            with self.subTest(row):
                text = self.image(f"[dicom]\n{row}\n", "--output", self.path / "x.npy", code=2)
                self.assertIn(line, text)
                self.assertEqual(text.strip().count("\n"), 0, text)
        self.assertFalse((self.path / "x.npy").exists())

    def test_the_build_says_whether_it_writes_them(self):
        said = self.run_program(0, "info")
        self.assertRegex(said, r"DCMTK +3\.\d" if WRITTEN else r"DCMTK +not in this build \(libdcmtk-dev\)")
        if not WRITTEN:
            line = self.image("", "--output", self.path / "x.dcm", code=2)
            self.assertIn("(DCMTK: not in this build (libdcmtk-dev): no .dcm files)", line)


unittest.main(argv=sys.argv[:1], verbosity=2)
