"""The demo as a newcomer runs it: ends by itself, accounts for every frame, shows the reflectors where they truly are."""
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import numpy

PROGRAM = sys.argv[1]
GRID = {"x": (-18e-3, 18e-3), "z": (3e-3, 39e-3), "pixels": 256}


def run_demo(folder, seed, frames_seconds=3):
    snapshot = pathlib.Path(folder) / f"demo_{seed}.npy"
    result = subprocess.run([PROGRAM, "--log-level", "warning", "demo", "--seconds", str(frames_seconds), "--seed", str(seed), "--snapshot",
                             str(snapshot)], capture_output=True, text=True, timeout=120)
    return result, snapshot


def places_of(output):
    pattern = re.compile(r"^  (\S[^\n]*?)\s+x\s+(-?[\d.]+) mm  z\s+(-?[\d.]+) mm(  \(moving\))?$", re.MULTILINE)
    return {name: (1e-3 * float(x), 1e-3 * float(z)) for name, x, z, _ in pattern.findall(output)}


class Demo(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.result, cls.snapshot = run_demo(cls.folder.name, 1)
        cls.other, _ = run_demo(cls.folder.name, 2)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def test_ends_by_itself_and_says_what_it_sustained(self):
        self.assertEqual(self.result.returncode, 0, self.result.stderr)
        self.assertRegex(self.result.stdout.splitlines()[-1], r"^sustained \d+\.\d images/s$")
        self.assertRegex(self.result.stdout, r"http://127\.0\.0\.1:\d+")
        self.assertRegex(self.result.stdout, r"latency, last byte to published: p50 \d+\.\d+ ms, p99 \d+\.\d+ ms")

    def test_every_frame_is_accounted_for(self):
        found = re.search(r"frames received (\d+) = published (\d+) \+ dropped (\d+) \+ in flight (\d+)", self.result.stdout)
        received, published, dropped, in_flight = map(int, found.groups())
        self.assertEqual(received, published + dropped + in_flight)
        self.assertEqual(in_flight, 0)
        self.assertEqual(dropped, 0, "the sender is held back, not cut")
        self.assertGreater(published, 0)
        self.assertIn("drops none", self.result.stdout)

    def test_scatterers_are_within_a_pixel_of_their_true_places(self):
        image = numpy.load(self.snapshot)
        self.assertEqual(image.shape, (GRID["pixels"], GRID["pixels"]))
        self.assertEqual(image.dtype, numpy.float32)
        x = numpy.linspace(*GRID["x"], GRID["pixels"])
        z = numpy.linspace(*GRID["z"], GRID["pixels"])
        places = places_of(self.result.stdout)
        self.assertGreaterEqual(len(places), 5, self.result.stdout)
        for name, (true_x, true_z) in places.items():
            if "hole" in name or "backwall" in name:
                continue  # specular: their extent is not a point's
            with self.subTest(name):
                near = (abs(z - true_z)[:, None] < 1.2e-3) & (abs(x - true_x)[None, :] < 1.2e-3)
                iz, ix = numpy.unravel_index(numpy.argmax(numpy.where(near, image, -1)), image.shape)
                self.assertLessEqual(abs(iz - numpy.argmin(abs(z - true_z))), 1)
                self.assertLessEqual(abs(ix - numpy.argmin(abs(x - true_x))), 1)

    def test_another_seed_moves_a_reflector(self):
        first, second = places_of(self.result.stdout), places_of(self.other.stdout)
        self.assertEqual(first.keys(), second.keys())
        distance = numpy.hypot(*(numpy.array(first["seeded"]) - second["seeded"]))
        self.assertGreater(distance, 0.9e-3)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
