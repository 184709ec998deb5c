"""Volumes in every format that the program writes: `image` of a recording of a matrix array, and `view` and Python of the same frames
live. All hold the same values, and their maximum where the simulated point is."""
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(os.environ["ECHOFORM_SOURCE_DIR"])
sys.path.insert(0, str(SOURCE / "tests/formats"))
try:
    import h5py
    import numpy
    from read_volume import read_nrrd, read_vti

    import echoform
except ImportError as error:
    print(f"SKIPPED: {error}")
    sys.exit(77)

PROGRAM = sys.argv[1]
# Three counts and three distances of voxels, mm; the point lies on a voxel.
X, Y, Z = (numpy.linspace(-6, 6, 25), numpy.linspace(-4, 4, 11), numpy.linspace(8, 16, 21))
POINT = (1.5, -0.8, 12.0)
CONFIG = f"""
[material]
longitudinal_velocity = 6320.0
shear_velocity = 3130.0
[grid]
x = [{X[0] / 1e3}, {X[-1] / 1e3}]
y = [{Y[0] / 1e3}, {Y[-1] / 1e3}]
z = [{Z[0] / 1e3}, {Z[-1] / 1e3}]
pixels = [{X.size}, {Y.size}, {Z.size}]
[simulator]
elements = 6
rows = 6
row_pitch = 0.6e-3
pitch = 0.6e-3
samples = 500
points = [[{POINT[0] / 1e3}, {POINT[1] / 1e3}, {POINT[2] / 1e3}, 1.0]]
"""
OPEN = """
[input]
listen = "127.0.0.1:0"
[server]
images = "127.0.0.1:0"
telemetry = "127.0.0.1:0"
web = "127.0.0.1:0"
control = "127.0.0.1:0"
"""


class VolumeFiles(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name)

    def config(self, more=""):
        path = self.path / "volume.toml"
        path.write_text(CONFIG + more)
        return path

    def start(self, *arguments):
        process = subprocess.Popen([PROGRAM, "--log-level", "warning", *map(str, arguments)], stdout=subprocess.PIPE, text=True)
        for cleanup in (process.stdout.close, process.wait, process.kill):
            self.addCleanup(cleanup)
        return process

    def recording(self):
        file = self.path / "volume.mfmc"
        recorder = self.start("record", "--listen", "127.0.0.1:0", "--output", file, "--frames", 1, "--config", self.config())
        port = re.search(r":(\d+)$", recorder.stdout.readline().strip())[1]
        sender = self.start("simulate", "--connect", f"127.0.0.1:{port}", "--config", self.config(), "--frames", 1, "--rate", "max")
        self.assertEqual(sender.wait(60), 0)
        self.assertEqual(recorder.wait(60), 0)
        return file

    def check(self, stem, values):
        """All formats of one volume hold `values`, [z, y, x], at their places."""
        self.assertEqual(values.shape, (Z.size, Y.size, X.size))
        # Coordinates of medical viewers, and those of the part.
        for volume, turn in ((read_nrrd(stem.with_name(stem.name + ".nrrd")), (-1, 1, -1)), (read_vti(stem.with_name(stem.name + ".vti")), (1, 1, 1))):
            self.assertEqual(volume.values.dtype, values.dtype)
            self.assertEqual(volume.values.tobytes(), values.tobytes())
            numpy.testing.assert_allclose(volume.origin, numpy.multiply(turn, (X[0], Y[0], Z[0])), rtol=1e-12)
            numpy.testing.assert_allclose(volume.steps, numpy.diag(numpy.multiply(turn, (X[1] - X[0], Y[1] - Y[0], Z[1] - Z[0]))), rtol=1e-12)
        with h5py.File(stem.with_name(stem.name + ".h5")) as file:
            self.assertEqual(file["image"][:].tobytes(), values.tobytes())
            self.assertEqual(file["image"].attrs["axes"], b"z y x")
            for name, millimetres in (("x", X), ("y", Y), ("z", Z)):
                numpy.testing.assert_allclose(file[name], millimetres / 1e3, atol=1e-15)
        png = stem.with_name(stem.name + ".png").read_bytes()
        self.assertEqual(png[:8], b"\x89PNG\r\n\x1a\n")
        self.assertLess(len(png), 400_000)
        z, y, x = self.maximum(values)
        # As the figure says it, to a tenth of a voxel.
        place = re.search(rb"tEXtMaximum\0([ -~]*) mm", png)[1].decode()
        self.assertEqual(place, f"x = {X[x]:.2f} mm, y = {Y[y]:.2f} mm, z = {Z[z]:.2f}")

    def maximum(self, values):
        """The voxel of the maximum, which is that of the point or a neighbour."""
        z, y, x = numpy.unravel_index(numpy.abs(values).argmax(), values.shape)
        for at, axis, place in ((x, X, POINT[0]), (y, Y, POINT[1]), (z, Z, POINT[2])):
            self.assertAlmostEqual(axis[at], place, delta=1.01 * (axis[1] - axis[0]))
        return z, y, x

    def outputs(self, option, stem="v"):
        return [text for extension in ("npy", "h5", "nrrd", "vti", "png") for text in (option, self.path / f"{stem}.{extension}")]

    def test_of_a_recording(self):
        recording = self.recording()
        for field, dtype in (("envelope", numpy.float32), ("analytic", numpy.complex64)):
            with self.subTest(field):
                image = self.start("image", recording, "--config", self.config(), "--field", field, *self.outputs("--output"))
                self.assertEqual(image.wait(60), 0)
                values = numpy.load(self.path / "v.npy")
                self.assertEqual(values.dtype, dtype)
                self.check(self.path / "v", values)

    def test_of_several_views(self):
        recording = self.recording()
        config = self.config('[imaging]\nviews = ["LL", "TT"]\n')
        image = self.start("image", recording, "--config", config, "--output", self.path / "v.nrrd", "--output", self.path / "v.vti")
        self.assertEqual(image.wait(60), 0)
        for view in ("LL", "TT"):
            nrrd, vti = read_nrrd(self.path / f"v.{view}.nrrd"), read_vti(self.path / f"v.{view}.vti")
            self.assertEqual(nrrd.values.tobytes(), vti.values.tobytes())
            self.assertEqual((nrrd.texts["view"], vti.texts["view"]), (view, view))

    def test_of_a_live_stream(self):
        server = self.start("serve", "--config", self.config(OPEN))
        doors = {}
        for line in server.stdout:
            if found := re.match(r"(frames in|images out)\s+tcp\W+(127\.0\.0\.1:\d+)$", line.strip()):
                doors[found[1]] = found[2]
            if len(doors) == 2:
                break
        self.assertEqual(len(doors), 2, "the server says where it listens")
        images = "tcp://" + doors["images out"]
        view = self.start("view", "--connect", images, "--frames", 1, "--timeout", 60, *self.outputs("--snapshot"))
        display = self.start("view", "--connect", images, "--stream", "echoform.display", "--frames", 1, "--timeout", 60,
                             *self.outputs("--snapshot", "display"))
        sender = self.start("simulate", "--connect", doors["frames in"], "--config", self.config(OPEN), "--rate", 20)
        with echoform.ImageSubscriber(images, "echoform", timeout=60) as subscriber:
            image = next(iter(subscriber))
            self.maximum(image.pixels)
            for axis, millimetres in ((image.x, X), (image.y, Y), (image.z, Z)):
                numpy.testing.assert_allclose(axis, millimetres / 1e3, atol=1e-15)
            # Edges of pixels, in mm, of what imshow shows of a plane of z and x.
            numpy.testing.assert_allclose(image.extent, (-6.25, 6.25, 16.2, 7.8), rtol=1e-12)
        for stem, viewer in (("v", view), ("display", display)):
            self.assertEqual(viewer.wait(60), 0)
            self.check(self.path / stem, numpy.load(self.path / f"{stem}.npy"))
        sender.send_signal(signal.SIGINT)
        self.assertEqual(sender.wait(60), 0)
        server.send_signal(signal.SIGTERM)
        self.assertEqual(server.wait(60), 0)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
