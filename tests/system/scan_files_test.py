"""Scans from recordings: frames of a probe that moves, recorded with their encoder counts, become one image; a point is where it is, pixels that
nothing has covered are NaN, and what cannot be is one line."""
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

try:
    import numpy
except ImportError as error:
    print(f"SKIPPED: {error}")
    sys.exit(77)

PROGRAM = sys.argv[1]
X, Z = numpy.linspace(-4, 36, 161), numpy.linspace(6, 14, 33)  # mm
POINT = (21.0, 10.0)
CONFIG = f"""
[material]
longitudinal_velocity = 6320.0
[grid]
x = [{X[0] / 1e3}, {X[-1] / 1e3}]
z = [{Z[0] / 1e3}, {Z[-1] / 1e3}]
pixels = [{X.size}, {Z.size}]
[imaging]
backend = "cpu"
"""
SCAN = """
[scan]
path = "line"
encoder_step = 1e-3
coverage = 3e-3
"""
SIMULATOR = f"""
[simulator]
elements = 8
pitch = 0.6e-3
samples = 256
noise_rms = 0.0
points = [[{POINT[0] / 1e3}, {POINT[1] / 1e3}, 1.0]]
"""
ENCODER = """
encoder_first = 0
encoder_last = 30
encoder_step = 1
"""


class ScanFiles(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name)

    def config(self, text, name="scan.toml"):
        path = self.path / name
        path.write_text(text)
        return path

    def recording(self, frames, source):
        file = self.path / "frames.mfmc"
        config = self.config(CONFIG + SCAN + source, "source.toml")
        recorder = subprocess.Popen([PROGRAM, "--log-level", "warning", "record", "--listen", "127.0.0.1:0", "--output", file, "--frames", str(frames)],
                                    stdout=subprocess.PIPE, text=True)
        for cleanup in (recorder.stdout.close, recorder.wait, recorder.kill):
            self.addCleanup(cleanup)
        port = re.search(r":(\d+)$", recorder.stdout.readline().strip())[1]
        subprocess.run([PROGRAM, "--log-level", "warning", "simulate", "--connect", f"127.0.0.1:{port}", "--config", config, "--frames", str(frames),
                        "--rate", "max"], check=True, stdout=subprocess.DEVNULL, timeout=120)
        self.assertEqual(recorder.wait(60), 0)
        return file

    def image(self, recording, config, *options):
        return subprocess.run([PROGRAM, "image", recording, "--config", config, "--output", self.path / "image.npy", *options],
                              capture_output=True, text=True, timeout=240)

    def values(self, done):
        self.assertEqual(done.returncode, 0, done.stderr)
        return numpy.load(self.path / "image.npy")

    def check_point(self, values):
        z, x = numpy.unravel_index(numpy.nanargmax(numpy.abs(values)), values.shape)
        self.assertLessEqual(numpy.hypot(X[x] - POINT[0], Z[z] - POINT[1]), 6.32 / 5 / 4)

    def test_one_image_of_all_positions(self):
        recording = self.recording(40, SIMULATOR + ENCODER)  # to 30 and some way back
        self.check_point(self.values(self.image(recording, self.config(CONFIG + SCAN))))
        coherent = self.config(CONFIG + SCAN + 'composition = "coherent"\n')
        done = self.image(recording, coherent, "--field", "analytic")
        values = self.values(done)
        self.assertIn("31 cells, 9 frames repeated", done.stderr)
        self.assertEqual(values.dtype, numpy.complex64)
        self.check_point(values)
        # Frames 3 to 5 cover 0 mm to 8 mm.
        values = self.values(self.image(recording, coherent, "--from", "3", "--to", "5"))
        covered = (X > -1e-9) & (X < 8 + 1e-9)
        self.assertTrue(numpy.isnan(values[:, ~covered]).all())
        self.assertTrue(numpy.isfinite(values[:, covered]).all())

    def test_a_coherent_scan_is_the_mean_of_its_positions(self):
        recording = self.recording(6, SIMULATOR + ENCODER)
        whole = self.config(CONFIG + SCAN.replace("coverage = 3e-3", 'composition = "coherent"'))
        together = self.values(self.image(recording, whole, "--field", "analytic"))
        mean = numpy.zeros_like(together, numpy.complex128)
        for frame in range(6):
            # Where the probe was then, said by hand.
            placed = self.config(CONFIG + f"[probe]\nx = {frame}e-3\n", "placed.toml")
            mean += self.values(self.image(recording, placed, "--field", "analytic", "--frame", str(frame))) / 6
        # Sums of floats in another order.
        self.assertLess(numpy.linalg.norm(together - mean), 1e-5 * numpy.linalg.norm(mean))

    def test_plan_is_of_one_position(self):
        planned = subprocess.run([PROGRAM, "plan", "--config", self.config(CONFIG + SCAN + SIMULATOR + ENCODER), "--json", self.path / "plan.json"],
                                 capture_output=True, text=True, timeout=120)
        self.assertEqual(planned.returncode, 0, planned.stderr)
        # 3 mm to either side of 16 mm, the middle of the grid, every 0.25 mm.
        self.assertRegex(planned.stdout, r"(?m)^scan .* covers 25 x 33 of the scan's 161 x 33 pixels; cells of 1 mm, 1 mm a count$")
        self.assertRegex(planned.stdout, r"(?m)^images .* new positions/s here")
        self.assertEqual(json.loads((self.path / "plan.json").read_text())["scan"]["pixels_of_a_position"], 25 * 33)

    def test_what_cannot_be(self):
        recording = self.recording(2, SIMULATOR)
        done = self.image(recording, self.config(CONFIG + SCAN))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("2 frames state no encoder count", done.stderr)
        self.assertTrue(numpy.isnan(numpy.load(self.path / "image.npy")).all())
        (self.path / "image.npy").unlink()
        served = subprocess.run([PROGRAM, "serve", "--config", self.config(CONFIG + SCAN + "sign = 0.5\n")], capture_output=True, text=True, timeout=60)
        self.assertEqual(served.returncode, 2, served.stderr)
        self.assertIn("[scan] sign: found 0.5; expected 1 or -1", served.stderr)
        for text, options, expected in (
                (CONFIG + SCAN, ("--field", "analytic"), '[scan] composition: found "maximum" for a complex image; expected "coherent"'),
                (CONFIG + SCAN, ("--by-groups",), "--by-groups: found a scan ([scan] path); expected frames that are images of their own"),
                (CONFIG + SCAN + "direction = [0.0, 0.0, 0.0]\n", (), "[scan] direction: found [0, 0, 0]; expected a direction"),
                (CONFIG + SCAN + "step = 0.0\n", (), "[scan] step"),
                (CONFIG + SCAN + "[display]\npixels = [10, 10]\n", (), "[display]: found a grid of its own for a scan"),
                (CONFIG.replace("z = ", "# "), (), None),
                (CONFIG.replace("z = ", "# ") + SCAN, (), "[grid] z: found none; expected [first, last] in m"),
                (CONFIG + SCAN.replace('"line"', '"circle"') + "centre = [0.0, 0.0, 0.0]\n", (), "[scan] centre: found an axis through the middle of")):
            with self.subTest(expected):
                done = self.image(recording, self.config(text), *options)
                if expected is None:
                    self.assertEqual(done.returncode, 0, done.stderr)
                    (self.path / "image.npy").unlink()
                    continue
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertIn(expected, done.stderr)
                self.assertFalse((self.path / "image.npy").exists())


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
