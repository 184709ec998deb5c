"""The program of examples/image_recording: its images are those of `echoform image`, to the bit, and it alone decides what is printed."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import numpy

PROGRAM, ECHOFORM = sys.argv[1], os.environ["ECHOFORM_PROGRAM"]
PATIENCE = 300  # seconds; a hang, not a measurement
CONFIG = """
[material]
longitudinal_velocity = 6320.0
shear_velocity = 3130.0
[imaging]
backend = "cpu"
views = ["LL", "TT"]
[grid]
x = [-0.006, 0.006]
z = [0.004, 0.016]
pixels = [61, 61]
[simulator]
elements = 16
samples = 1024
points = [[0.001, 0.010, 1.0]]
"""


class ImageRecording(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.path = pathlib.Path(cls.folder.name)
        cls.config, cls.recording = cls.path / "config.toml", cls.path / "frames.mfmc"
        cls.config.write_text(CONFIG)
        with subprocess.Popen([ECHOFORM, "record", "--listen", "127.0.0.1:0", "--output", cls.recording, "--frames", "2"],
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as recorder:
            port = re.search(r":(\d+)$", recorder.stdout.readline().strip())[1]
            subprocess.run([ECHOFORM, "simulate", "--config", cls.config, "--connect", f"127.0.0.1:{port}", "--rate", "50", "--frames", "2"],
                           check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=PATIENCE)
            assert recorder.wait(timeout=PATIENCE) == 0

    def run_program(self, *arguments):
        return subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, timeout=PATIENCE)

    def test_images_are_those_of_the_command(self):
        done = self.run_program(self.recording, self.config)
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = done.stdout.splitlines()
        self.assertIn("MFMC", lines[0])
        self.assertEqual(len(lines), 1 + 2 * 2, done.stdout)
        subprocess.run([ECHOFORM, "image", self.recording, "--config", self.config, "--from", "0", "--output", self.path / "image.npy"],
                       check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=PATIENCE)
        x, z = numpy.linspace(-6, 6, 61), numpy.linspace(4, 16, 61)
        for line in lines[1:]:
            frame, view, peak, at_x, at_z = re.fullmatch(r"frame (\d), view (\w+): (\S+) at x = (\S+) mm, z = (\S+) mm", line).groups()
            image = numpy.load(self.path / f"image.{frame}.{view}.npy")
            k, i = numpy.unravel_index(numpy.argmax(image), image.shape)
            self.assertEqual(numpy.float32(peak), image.max(), line)
            self.assertAlmostEqual(float(at_x), x[i], places=3)
            self.assertAlmostEqual(float(at_z), z[k], places=3)
        first = re.search(r"frame 0, view LL: \S+ at x = (\S+) mm, z = (\S+) mm", done.stdout)
        self.assertLess(numpy.hypot(float(first[1]) - 1.0, float(first[2]) - 10.0), 0.3, "the point of the simulation")

    def test_what_is_refused_is_one_line_of_the_program(self):
        bad = self.path / "bad.toml"
        # A velocity in km/s, which is doubted, and a grid that it cannot image, which is refused.
        bad.write_text(CONFIG.replace("6320.0", "6.32").replace("3130.0", "3.13").replace("[0.004, 0.016]", "[0.016, 0.004]"))
        done = self.run_program(self.recording, bad)
        self.assertEqual(done.returncode, 2, done.stderr)
        for line in done.stderr.splitlines():
            self.assertRegex(line, r"^(warning|image_recording): ", "nothing but what the program prints itself")
        self.assertEqual(sum(line.startswith("image_recording: ") for line in done.stderr.splitlines()), 1)
        self.assertNotIn("[warning]", done.stdout)

    def test_a_file_that_is_not_there(self):
        done = self.run_program(self.path / "none.mfmc", self.config)
        self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
        self.assertIn("none.mfmc", done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
