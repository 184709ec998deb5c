"""A simulated array behind a server of us_lab4a's protocol, as a process of its own, connected to by `record`: the image shows the
reflector where it is."""
import re
import sys
import unittest

try:
    import numpy
except ImportError as error:
    print(f"SKIPPED: {error}")
    sys.exit(77)

from program_case import ProgramCase

X, Z = 0.003, 0.012
SETUP = ('[material]\nlongitudinal_velocity = 6320.0\n[grid]\nx = [-0.008, 0.008]\nz = [0.006, 0.018]\npixels = [161, 121]\n'
         '[imaging]\nbackend = "cpu"\nthreads = 1\n'
         f'[simulator]\nelements = 16\npoints = [[{X}, {Z}, 1.0]]\nholes = []\ncycle_frames = 1\n'
         '[input]\nlisten = "127.0.0.1:0"\n')
ARRAY = '[input.us_lab4a]\nconnect = "{place}"\nelements = 16\npitch = 0.6e-3\nacquisition_time = 10e-6\n{more}\n'


class UsLab4a(ProgramCase):
    def config(self, name, text):
        file = self.path / name
        file.write_text(text)
        return file

    def test_the_point_is_where_it_is(self):
        array = self.start("instrument", "us_lab4a", "--listen", "[::1]:0", "--config", self.config("array.toml", SETUP))
        line = array.stdout.readline()
        self.assertRegex(line, r"listens at \[::1\]:\d+\n")
        for name, more in (("full", ""), ("some", "fire = [0, 5, 10, 15]")):
            config = self.config(f"{name}.toml", SETUP + ARRAY.format(place=re.search(r"\[::1\]:\d+", line)[0], more=more))
            file = self.path / f"{name}.mfmc"
            output = self.run_program(0, "record", "--output", file, "--frames", 2, "--config", config)
            self.assertIn("us_lab4a    us_lab4a [::1]:", output)
            self.assertIn("wrote 2 frames", output)
            self.run_program(0, "image", file, "--config", config, "--output", self.path / "image.npy")
            pixels = numpy.load(self.path / "image.npy")
            k, i = numpy.unravel_index(numpy.argmax(pixels), pixels.shape)
            # A wavelength is 1.3 mm; pixels are 0.1 mm apart.
            self.assertAlmostEqual(-0.008 + 0.0001 * i, X, delta=0.0003)
            self.assertAlmostEqual(0.006 + 0.0001 * k, Z, delta=0.0003)

    def test_what_cannot_be_is_named(self):
        for more, text in (("fire = [16]", "[input.us_lab4a]"), ("gains = 3", "the unknown key gains in [input.us_lab4a]"),
                           ("pulses = 0", "[input.us_lab4a] pulses: found 0; expected an integer, 1 to 100")):
            config = self.config("bad.toml", SETUP + ARRAY.format(place="127.0.0.1:9", more=more))
            self.assertIn(text, self.run_program(2, "serve", "--config", config))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
