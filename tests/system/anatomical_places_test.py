"""A point at x = -2, z = 20 mm in every output that states coordinates of medical viewers, by readers that share nothing with the writers: at
R = +2, S = -20 mm in .nrrd (teem), live by OpenIGTLink, in .dcm (DCMTK), .h5 (h5py) and in Python; and in the part's own coordinates in
.vti (VTK, where it is there) and .uff (h5py)."""
import re
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

try:
    import h5py
    import numpy

    import echoform
except ImportError as error:
    print(f"SKIPPED: {error}")
    sys.exit(77)

from program_case import ProgramCase

DICOM = sys.argv[2] == "ON"
POINT = (-2.0, 20.0)  # mm, x and z
PLANE_Y = 1.5  # mm: the image lies beside the array
RAS = numpy.array([2.0, PLANE_Y, -20.0])
PIXEL = 0.25  # mm
CONFIG = f"""
[imaging]
backend = "cpu"
threads = 1
[material]
longitudinal_velocity = 6320.0
[filter]
kind = "none"
[grid]
x = [-0.005, 0.004]
y = [{PLANE_Y / 1e3}, {PLANE_Y / 1e3}]
z = [0.017, 0.022]
pixels = [37, 1, 21]
[simulator]
elements = 24
pitch = 0.6e-3
samples = 500
sample_rate = 50e6
cycle_frames = 1
points = [[{POINT[0] / 1e3}, {POINT[1] / 1e3}, 1.0]]
[input]
listen = "127.0.0.1:0"
incomplete_timeout = 60
[server]
images = "127.0.0.1:0"
telemetry = "127.0.0.1:0"
web = "127.0.0.1:0"
control = "127.0.0.1:0"
[openigtlink]
listen = "127.0.0.1:0"
images = "envelope"
"""
UNU = shutil.which("teem-unu") or shutil.which("unu")


class AnatomicalPlaces(ProgramCase):
    def setUp(self):
        super().setUp()
        self.config = self.path / "c.toml"
        self.config.write_text(CONFIG)

    def check(self, place, pixel=PIXEL):
        """That of the strongest pixel: a pixel is between the point and its neighbour at most."""
        numpy.testing.assert_allclose(place, RAS, atol=pixel)

    def image(self, *extensions, more=""):
        recorder = self.start("record", "--listen", "127.0.0.1:0", "--output", self.path / "in.efcap", "--frames", 1)
        place = re.search(r"127\.0\.0\.1:\d+", recorder.stdout.readline())[0]
        self.run_program(0, "--log-level", "warning", "simulate", "--connect", place, "--config", self.config, "--frames", 1)
        self.assertEqual(recorder.wait(60), 0)
        self.config.write_text(CONFIG + more)
        outputs = [text for extension in extensions for text in ("--output", self.path / f"i.{extension}")]
        self.run_program(0, "--log-level", "warning", "image", self.path / "in.efcap", "--config", self.config, *outputs)

    @unittest.skipUnless(UNU, "no program unu of teem (Debian: teem-apps)")
    def test_nrrd_by_teem(self):
        self.image("nrrd")
        with tempfile.TemporaryDirectory() as folder:
            # teem writes what it understood, as text.
            written = Path(folder) / "teem.nrrd"
            subprocess.run([UNU, "save", "-f", "nrrd", "-e", "ascii", "-i", self.path / "i.nrrd", "-o", written], check=True)
            head, _, body = written.read_text().partition("\n\n")
        fields = dict(line.split(": ", 1) for line in head.splitlines()[1:] if ": " in line and not line.startswith("#"))
        vectors = lambda text: numpy.array([[float(part) for part in vector.split(",")] for vector in re.findall(r"\(([^)]*)\)", text)])
        self.assertEqual(fields["space"], "right-anterior-superior")
        sizes = [int(size) for size in fields["sizes"].split()]
        values = numpy.array(body.split(), float).reshape(sizes[::-1])
        index = numpy.unravel_index(values.argmax(), values.shape)[::-1]
        self.check(vectors(fields["space origin"])[0] + index @ vectors(fields["space directions"]))

    def test_hdf5_by_h5py(self):
        self.image("h5", "uff")
        with h5py.File(self.path / "i.h5") as file:
            row, column = numpy.unravel_index(file["image"][:].argmax(), file["image"].shape)
            self.check((file["image"].attrs["ras_of_pixels"] @ [column, 0, row, 1])[:3])
            # The axes stay those of the part.
            numpy.testing.assert_allclose((1e3 * file["x"][column], 1e3 * file["z"][row]), POINT, atol=PIXEL)
        with h5py.File(self.path / "i.uff") as file:
            data = file["beamformed_data"]
            pixels = data["data"][()] if isinstance(data["data"], h5py.Dataset) else data["data/real"][()]
            x, z = (1e3 * data[f"scan/{name}_axis"][()].ravel() for name in ("x", "z"))
            place = numpy.abs(pixels).ravel().argmax()
            numpy.testing.assert_allclose((x[place // z.size], z[place % z.size]), POINT, atol=PIXEL)

    @unittest.skipUnless(DICOM and shutil.which("dcmdump") and shutil.which("dcm2pnm"), "no DCMTK here")
    def test_dicom_by_its_tools(self):
        self.image("dcm", more='[dicom]\npicture = "image"\n')
        shown = subprocess.run(["dcmdump", self.path / "i.dcm"], capture_output=True, text=True, check=True).stdout
        numbers = lambda tag: numpy.array(re.search(rf"\({tag}\) DS \[([^\]]*)\]", shown)[1].split("\\"), float)
        position, orientation, spacing = numbers("0020,0032"), numbers("0020,0037"), numbers("0028,0030")
        self.assertRegex(shown, r"\(0020,0052\) UI \[2\.25\.\d+\]")
        subprocess.run(["dcm2pnm", "+Wn", self.path / "i.dcm", self.path / "i.pgm"], check=True, capture_output=True)
        data = (self.path / "i.pgm").read_bytes()
        header = re.match(rb"P5\s+(?:#.*\s+)?(\d+)\s+(\d+)\s+(\d+)\s", data)
        levels = numpy.frombuffer(data[header.end():], numpy.uint8).reshape(int(header[2]), int(header[1]))
        row, column = numpy.unravel_index(levels.argmax(), levels.shape)
        # Spacing is that of rows, then that of columns (PS3.3 C.7.6.2.1.1).
        left, posterior, superior = position + orientation[:3] * spacing[1] * column + orientation[3:] * spacing[0] * row
        self.check((-left, -posterior, superior))

    @unittest.skipUnless(DICOM and shutil.which("dcmdump"), "no DCMTK here")
    def test_dicom_figures_have_their_place_too(self):
        self.image("dcm", "png")
        shown = subprocess.run(["dcmdump", self.path / "i.dcm"], capture_output=True, text=True, check=True).stdout
        numbers = lambda tag: numpy.array(re.search(rf"\({tag}\) DS \[([^\]]*)\]", shown)[1].split("\\"), float)
        position, orientation, spacing = numbers("0020,0032"), numbers("0020,0037"), numbers("0028,0030")
        text = (self.path / "i.png").read_bytes()
        left, top, width, height = map(int, re.search(rb"tEXtPlotArea\0([0-9 ]*)", text)[1].split())
        first, last, upper, lower = map(float, re.search(rb"tEXtExtentMillimetres\0([-0-9. e]*)", text)[1].split())
        column = left + (POINT[0] - first) / (last - first) * width - 0.5
        row = top + (POINT[1] - upper) / (lower - upper) * height - 0.5
        found = position + orientation[:3] * spacing[1] * column + orientation[3:] * spacing[0] * row
        self.check((-found[0], -found[1], found[2]), pixel=1e-3)

    def test_vti_by_vtk(self):
        try:
            from vtkmodules.vtkIOXML import vtkXMLImageDataReader
        except ImportError:
            self.skipTest("no VTK (Debian: python3-vtk9)")
        self.image("vti")
        reader = vtkXMLImageDataReader()
        reader.SetFileName(str(self.path / "i.vti"))
        reader.Update()
        image, values = reader.GetOutput(), reader.GetOutput().GetPointData().GetScalars()
        place = max(range(values.GetNumberOfTuples()), key=values.GetTuple1)
        numpy.testing.assert_allclose(image.GetPoint(place), (POINT[0], PLANE_Y, POINT[1]), atol=PIXEL)

    def test_live_by_openigtlink_and_in_python(self):
        server = self.start("serve", "--config", self.config)
        doors = {}
        for line in server.stdout:
            if found := re.search(r"^(frames in|images out|OpenIGTLink)\b.*?(127\.0\.0\.1:\d+)", line.strip()):
                doors[found[1]] = found[2]
            if len(doors) == 3:
                break
        self.assertEqual(len(doors), 3, doors)
        host, port = doors["OpenIGTLink"].split(":")
        client = socket.create_connection((host, int(port)), timeout=60)
        self.addCleanup(client.close)
        with echoform.ImageSubscriber("tcp://" + doors["images out"], timeout=60) as images:
            sender = self.start("simulate", "--connect", doors["frames in"], "--config", self.config, "--rate", 10)
            image = next(iter(images))
            row, column = numpy.unravel_index(image.pixels.argmax(), image.pixels.shape)
            self.check((image.ras_of_pixels @ [column, 0, row, 1])[:3])
        stream = client.makefile("rb")
        self.addCleanup(stream.close)
        while True:
            _, kind, _, _, size, _ = struct.unpack(">H12s20sQQQ", stream.read(58))
            body = stream.read(size)
            if kind.rstrip(b"\0") == b"IMAGE":
                break
        head = struct.unpack(">HBBBB3H12f3H3H", body[:72])
        self.assertEqual(head[4], 1, "RAS")
        sizes, matrix = head[5:8], numpy.array(head[8:20], float).reshape(4, 3)
        values = numpy.frombuffer(body[72:], "<f4").reshape(sizes[::-1])
        index = numpy.array(numpy.unravel_index(values.argmax(), values.shape)[::-1])
        # The matrix has the ways from a pixel to the next, and the centre of the image.
        self.check(matrix[3] + (index - 0.5 * (numpy.array(sizes) - 1)) @ matrix[:3])
        for process in (sender, server):
            process.send_signal(signal.SIGINT)
            process.wait(60)


unittest.main(argv=sys.argv[:1], verbosity=2)
